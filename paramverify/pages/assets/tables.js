// Tables whose columns can be sorted: rational keys as numbers, exactly; everything else as words.
const Tables = (() => {
  const words = new Intl.Collator("en", { numeric: true });

  function compare(one, other) {
    const [a, b] = [Exact.parse(one), Exact.parse(other)];
    if (a && b) return Exact.compare(a, b);
    if (a || b) return a ? -1 : 1;
    return words.compare(one, other);
  }

  function start(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, heads, column));
    });
  }

  function sort(table, heads, column) {
    const down = heads[column].getAttribute("aria-sort") === "ascending";
    const key = (row) => {
      const cell = row.cells[column];
      return cell.dataset.key ?? cell.textContent.trim();
    };
    const [body] = table.tBodies;
    const rows = [...body.rows].sort((one, other) => (down ? -1 : 1) * compare(key(one), key(other)));
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  }

  return { start };
})();
