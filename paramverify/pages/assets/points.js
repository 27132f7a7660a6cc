// What is true at one point of a case: whether it is in the domain, and what each output leaks there.
const Points = (() => {
  // Returns the data of a case with its numbers read.
  function read(data) {
    const box = data.box.map((side) => ({
      ...side,
      low: Exact.parse(side.low),
      high: Exact.parse(side.high),
    }));
    const generator = data.generator && {
      ...data.generator,
      low: Exact.parse(data.generator.low),
      high: Exact.parse(data.generator.high),
    };
    return { ...data, box, generator };
  }

  // Returns why a point is not in the domain; null where it is.
  function outside(data, point) {
    for (const [k, side] of data.box.entries()) {
      const [below, above] = [Exact.compare(point[k], side.low), Exact.compare(point[k], side.high)];
      if (below < 0 || (below === 0 && !side.lowClosed) || above > 0 || (above === 0 && !side.highClosed)) {
        return `${side.name} = ${Exact.text(point[k])} is outside ${interval(side)}`;
      }
    }
    return broken(data, point, data.constraints);
  }

  // Returns which of these constraints does not hold at a point; null where all do.
  function broken(data, point, constraints) {
    for (const condition of constraints) {
      const sign = Exact.signOf(Exact.evaluate(condition.terms, point).list, data.generator);
      if (sign === null) return `it is not known whether ${condition.text}`;
      if (sign < 0 || (sign === 0 && condition.strict)) return `${condition.text} is false`;
    }
    return null;
  }

  const interval = (side) =>
    `${side.lowClosed ? "[" : "("}${Exact.text(side.low)}, ${Exact.text(side.high)}${side.highClosed ? "]" : ")"}`;

  // Returns what each comparison of a claim gives at a point.
  function stated(data, point) {
    return data.stated.map((entry) => {
      const [left, right] = [entry.left, entry.right].map((k) =>
        Exact.functionAt(data.functions[k], point, data.generator),
      );
      const sign = left && right ? Exact.order(left, right, data.generator) : null;
      return { ...entry, left, right, holds: sign === null ? null : related(sign, entry.relation) };
    });
  }

  const related = (sign, relation) =>
    ({ "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0, "==": sign === 0 })[relation];

  // Returns what each output leaks at a point, the largest ratio relative to its bound first, and the pairs of
  // which one secret is impossible there.
  function leaks(data, point) {
    const at = new Map();
    const value = (k) => {
      if (!at.has(k)) at.set(k, Exact.functionAt(data.functions[k], point, data.generator));
      return at.get(k);
    };
    const possible = data.pairs.map((pair) =>
      pair.masses.every((terms) => Exact.signOf(Exact.evaluate(terms, point).list, data.generator) !== 0),
    );
    const rows = [];
    for (const [number, output, left, right] of data.rows) {
      if (possible[number]) {
        const row = leak(data.generator, value(left), value(right), value(data.pairs[number].bound));
        if (row) rows.push({ ...row, output, pair: data.pairs[number] });
      }
    }
    rows.sort((one, other) => worse(one, other, data.generator));
    return { rows, impossible: data.pairs.filter((_, number) => !possible[number]) };
  }

  // Returns both probabilities, their ratio (null for infinity), and whether it is within the bound (null where
  // that is not known); null for an output that is impossible under both.
  function leak(generator, left, right, bound) {
    if (!left || !right || !bound) return { left, right, bound, ratio: undefined, within: null };
    const sign = Exact.order(left, right, generator);
    const [large, small] = sign !== null && sign < 0 ? [right, left] : [left, right];
    if (Exact.signOf(large.top, generator) === 0) return null;
    if (Exact.signOf(small.top, generator) === 0) return { left, right, bound, ratio: null, within: false };
    const order = Exact.order(large, Exact.times(bound, small, generator), generator);
    const within = order === null ? null : order <= 0;
    return { left, right, bound, ratio: Exact.over(large, small, generator), within };
  }

  function worse(one, other, generator) {
    const [first, second] = [one, other].map((row) => row.ratio && Exact.over(row.ratio, row.bound, generator));
    if (!first || !second) return (first ? 1 : 0) - (second ? 1 : 0);
    return -(Exact.order(first, second, generator) || 0);
  }

  return { broken, leaks, outside, read, stated };
})();
