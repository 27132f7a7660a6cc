// Writes what is true at a point as text and tables.
const Readout = (() => {
  const MOST = 12; // outputs that are listed
  const SHORT = 24; // characters of an exact number that stands in one line with its decimal

  function make(tag, parts = [], attributes = {}) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    for (const part of [parts].flat()) element.append(part);
    return element;
  }

  function number(value, generator) {
    if (!value) return make("span", "not defined");
    const exact = Exact.show(value, generator ? generator.name : "E");
    const shown = make("span", [], { class: "exact", "data-value": exact });
    const rounded = Exact.decimal(Exact.near(value, generator));
    const decimal = `${Exact.isDecimal(value, rounded) ? "=" : "≈"} ${rounded}`;
    if (/^-?\d+$/.test(exact)) shown.append(exact);
    else if (exact.length <= SHORT) shown.append(make("span", exact, { class: "digits" }), ` ${decimal}`);
    else shown.append(decimal, make("span", exact, { class: "digits long" }));
    return shown;
  }

  function table(caption, head, rows) {
    const heading = make("tr", head.map((text) => make("th", text, { scope: "col" })));
    const body = rows.map((row) => make("tr", row.map((cell) => make("td", cell))));
    const whole = make("table", [make("thead", heading), make("tbody", body)], { "aria-label": caption });
    const scrolled = make("div", whole, { class: "scroll", role: "region", tabindex: "0", "aria-label": caption });
    return make("figure", [make("figcaption", caption), scrolled], { class: "table" });
  }

  function where(data, point) {
    const told = data.box.map((side, k) => `${side.name} = ${Exact.text(point[k])}`);
    return told.length ? `At ${told.join(", ")}` : "With the numbers of the case";
  }

  function mark(word, tone) {
    return make("span", word, { class: `badge ${tone}` });
  }

  // Returns the parts that tell a point, and what the map says of it.
  function point(data, at, cell) {
    const reason = Points.outside(data, at);
    if (reason) return [make("p", `This point is outside the domain: ${reason}.`)];
    const parts = data.stated ? told(data, at) : leaked(data, at);
    if (cell) parts.splice(1, 0, make("p", cell, { class: "cell-told" }));
    if (data.generator) {
      const meaning = `${data.generator.name} = ${data.generator.meaning}`;
      parts.push(make("p", `In exact numbers ${meaning}.`, { class: "hint" }));
    }
    return parts;
  }

  function told(data, at) {
    const rows = Points.stated(data, at);
    const unknown = rows.some((row) => row.holds === null);
    const failing = rows.some((row) => row.holds === false);
    const status = failing ? "violating" : unknown ? "undecided" : "safe";
    const tone = { violating: "bad", undecided: "open", safe: "good" }[status];
    const word = (row) => (row.holds === null ? "undecided" : row.holds ? "true" : "false");
    return [
      make("p", [mark(data.about[status], tone), ` ${where(data, at)}.`], { class: "at" }),
      table("The comparisons at this point", ["comparison", "left side", "right side", "verdict"],
        rows.map((row) => [
          make("code", `${row.text}`), number(row.left, data.generator), number(row.right, data.generator), word(row),
        ])),
    ];
  }

  function leaked(data, at) {
    const { rows, impossible } = Points.leaks(data, at);
    const notes = impossible.map((pair) =>
      make("p", `One of the secrets ${pair.left} and ${pair.right} has probability 0 here, so they are not compared.`),
    );
    if (!rows.length) {
      const nothing = make("p", [mark(data.about.safe, "good"), ` ${where(data, at)} there is nothing to compare.`]);
      return [nothing, ...notes];
    }
    return [verdict(data, at, rows), listed(data, rows), ...notes];
  }

  function verdict(data, at, rows) {
    const failing = rows.some((row) => row.within === false);
    const unknown = rows.some((row) => row.within === null);
    const status = failing ? "violating" : unknown ? "undecided" : "safe";
    const tone = { violating: "bad", undecided: "open", safe: "good" }[status];
    const worst = rows[0];
    const ratio = worst.ratio === null ? "infinite" : number(worst.ratio, data.generator);
    const side = { violating: "above", undecided: "too close to", safe: "within" }[status];
    const what = new Set(data.rows.map((row) => data.functions[data.pairs[row[0]].bound])).size > 1
      ? "the largest ratio relative to its bound is" : "the largest ratio is";
    return make("p", [
      mark(data.about[status], tone), ` ${where(data, at)} ${what} `, ratio, `, ${side} the bound `,
      number(worst.bound, data.generator), ".",
    ], { class: "at" });
  }

  function listed(data, rows) {
    const several = data.pairs.length > 1;
    const [first] = data.pairs;
    const sides = several ? ["s", "t"] : [first.left, first.right];
    const head = [...(several ? ["s", "t"] : []), "output", ...sides.map((s) => `Pr(output | ${s})`), "ratio", ""];
    const shown = rows.slice(0, MOST).map((row) => [
      ...(several ? [row.pair.left, row.pair.right] : []),
      make("code", row.output),
      number(row.left, data.generator),
      number(row.right, data.generator),
      row.ratio === null ? "infinite" : number(row.ratio, data.generator),
      row.within === null ? "undecided" : row.within ? "within" : "above",
    ]);
    const count = rows.length > MOST ? `, the ${MOST} with the largest ratios of ${rows.length}` : "";
    return table(`What each output leaks here${count}`, head, shown);
  }

  return { point };
})();
