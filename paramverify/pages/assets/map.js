// The picture of a map: the point and its cell, moved by sliders, by a mouse, by keys, or by exact numbers.
const Maps = (() => {
  const STEPS = 100n; // of a slider
  const TONES = { safe: "safe", violating: "violating", undecided: "undecided" };

  function start(section) {
    const source = document.getElementById(`data-${section.id}`);
    if (!source) return;
    const data = Points.read(JSON.parse(source.textContent));
    const map = data.map ? (data.map.kind === "plane" ? new Plane(data, section) : new Line(data, section)) : null;
    new Panel(section, data, map);
  }

  const share = (side, value) => {
    const part = Exact.subtract(value, side.low);
    const whole = Exact.subtract(side.high, side.low);
    return Number((part.n * whole.d * 1000000n) / (part.d * whole.n)) / 1000000;
  };

  const atStep = (side, step) => {
    const whole = Exact.subtract(side.high, side.low);
    return Exact.add(side.low, Exact.multiply(whole, Exact.rational(BigInt(step), STEPS)));
  };

  const stepOf = (side, value) => Math.round(Math.min(1, Math.max(0, share(side, value))) * Number(STEPS));

  // What both kinds of pictures share: where their marks stand.
  class Picture {
    constructor(data, section) {
      this.data = data;
      this.map = data.map;
      this.box = this.map.axes.map((name) => data.box.findIndex((side) => side.name === name));
      this.holder = section.querySelector(".picture");
      this.svg = this.holder.querySelector("svg");
      this.holder.classList.add("live");
    }

    mark(selector, attributes) {
      const found = this.svg.querySelector(selector);
      for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, `${value}`);
    }

    // Returns for which values of the parameters that are not in the picture something is said.
    others(status) {
      const names = this.map.quantified.join(", ");
      if (!names || !["safe", "violating"].includes(status)) return "";
      return status === "safe" ? `, for all values of ${names}` : `, for some values of ${names}`;
    }

    across(value) {
      return this.map.frame.left + this.map.frame.width * share(this.data.box[this.box[0]], value);
    }

    // Returns the step of each axis under the mouse.
    steps(event) {
      const area = this.svg.getBoundingClientRect();
      const scale = this.svg.viewBox.baseVal.width / area.width;
      const { left, top, width, height } = this.map.frame;
      const x = ((event.clientX - area.left) * scale - left) / width;
      const y = height ? 1 - ((event.clientY - area.top) * scale - top) / height : 0;
      return [x, y].map((part) => Math.round(Math.min(1, Math.max(0, part)) * Number(STEPS)));
    }
  }

  class Plane extends Picture {
    constructor(data, section) {
      super(data, section);
      this.grids = this.map.grids.map((grid) => grid.map(Exact.parse));
      this.names = [...this.map.axes, ...this.map.others];
      this.places = this.names.map((name) => data.box.findIndex((side) => side.name === name));
      this.ends = [0, 1].map((k) => this.grids[k].map((end) => (k ? this.upwards(end) : this.across(end))));
      this.slice = null;
      this.cleared = null;
    }

    upwards(value) {
      const { top, height } = this.map.frame;
      return top + height * (1 - share(this.data.box[this.box[1]], value));
    }

    // Returns 2k where a value is entry k of a grid, and 2k + 1 where it is between entries k and k + 1.
    rank(grid, value) {
      let [low, high] = [0, grid.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (Exact.compare(grid[middle], value) < 0) low = middle + 1;
        else high = middle;
      }
      return low < grid.length && Exact.compare(grid[low], value) === 0 ? 2 * low : 2 * low - 1;
    }

    contains(cell, ranks, from = 0) {
      for (let k = from; k < ranks.length; k += 1) {
        if (2 * cell[1 + 2 * k] > ranks[k] || ranks[k] > 2 * cell[2 + 2 * k]) return false;
      }
      return true;
    }

    rectangle(cell) {
      const [x, u] = [1, 2].map((k) => this.ends[0][cell[k]]);
      const [v, y] = [3, 4].map((k) => this.ends[1][cell[k]]);
      return { x, y, width: u - x, height: v - y };
    }

    // Draws the cells that a slice at other values of the sliders meets.
    cut(ranks) {
      const key = ranks.slice(2).join();
      if (this.slice === key || !this.map.others.length) return;
      this.slice = key;
      const paths = {};
      for (const cell of this.map.cells) {
        if (!this.contains(cell, ranks, 2)) continue;
        const { x, y, width, height } = this.rectangle(cell);
        const status = this.map.statuses[cell[0]];
        const path = `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;
        paths[status] = (paths[status] || "") + path;
      }
      for (const status of Object.keys(TONES)) this.mark(`path.region.${status}`, { d: paths[status] || "" });
    }

    // Leaves blank what is outside of the domain in a slice: each block whose middle is.
    clear(point) {
      const constraints = this.map.blank.constraints.map((k) => this.data.constraints[k]);
      const key = this.places.slice(2).map((place) => Exact.text(point[place])).join();
      if (this.cleared === key || !this.map.others.length || !constraints.length) return;
      this.cleared = key;
      const { left, top, width, height } = this.map.frame;
      const { columns, rows } = this.map.blank;
      const sides = this.box.map((place) => this.data.box[place]);
      const middle = (side, k, count) => {
        const whole = Exact.subtract(side.high, side.low);
        return Exact.add(side.low, Exact.multiply(whole, Exact.rational(BigInt(2 * k + 1), BigInt(2 * count))));
      };
      let path = "";
      for (let row = 0; row < rows; row += 1) {
        const upwards = point.with(this.box[1], middle(sides[1], rows - 1 - row, rows));
        for (let column = 0; column < columns; column += 1) {
          const here = upwards.with(this.box[0], middle(sides[0], column, columns));
          if (!Points.broken(this.data, here, constraints)) continue;
          const [x, y] = [left + (column * width) / columns, top + (row * height) / rows];
          path += `M${x.toFixed(2)} ${y.toFixed(2)}h${width / columns}v${height / rows}h${-width / columns}z`;
        }
      }
      this.mark("path.blank", { d: path });
    }

    // Moves the marks to a point; returns what the map says of it.
    show(point) {
      const ranks = this.places.map((place, k) => this.rank(this.grids[k], point[place]));
      this.cut(ranks);
      this.clear(point);
      const [x, y] = [this.across(point[this.box[0]]), this.upwards(point[this.box[1]])];
      this.mark(".upright.cross", { x1: x, x2: x });
      this.mark(".level.cross", { y1: y, y2: y });
      this.mark(".dot", { cx: x, cy: y });
      const found = this.map.cells.filter((cell) => this.contains(cell, ranks)).sort((a, b) => a[0] - b[0])[0];
      this.mark(".cell", found ? this.rectangle(found) : { width: 0, height: 0 });
      return found ? this.told(found) : null;
    }

    told(cell) {
      const status = this.map.statuses[cell[0]];
      const sides = this.names.map((name, k) => {
        const [low, high] = [1, 2].map((end) => Exact.text(this.grids[k][cell[end + 2 * k]]));
        return `${name} in [${low}, ${high}]`;
      });
      const [claim, at] = cell.slice(-2);
      const where = at < 0 ? "" : ` with ${this.map.at[at]}`;
      const why = claim < 0 ? "" : `: ${this.map.claims[claim]}${where}`;
      const place = `${sides.join(", ")}${this.map.within}`;
      if (status === "undecided") return `This cell of the map is undecided as a whole: ${place}.`;
      return `This cell of the map is decided as a whole: ${this.data.about[status]} at every point of the domain with ${place}${this.others(status)}${why}.`;
    }
  }

  class Line extends Picture {
    constructor(data, section) {
      super(data, section);
      this.parts = this.map.parts.map((part) => ({
        ...part, lower: part.lower.map(Exact.parse), upper: part.upper.map(Exact.parse),
      }));
    }

    show(point) {
      const value = point[this.box[0]];
      const x = this.across(value);
      this.mark(".upright.cross", { x1: x, x2: x });
      this.mark(".level.cross", { x2: this.map.frame.left, y1: this.map.frame.strip, y2: this.map.frame.strip });
      this.mark(".dot", { cx: x, cy: this.map.frame.strip });
      const found = this.parts.find((part) => this.contains(part, value));
      if (!found) return null;
      const { name } = this.data.box[this.box[0]];
      return `This part of the line: ${this.data.about[found.status]} for ${name} in ${found.text}${this.others(found.status)}.`;
    }

    // Ends are rationals, or enclosed by two: a value between these belongs to no part that is known here.
    contains(part, value) {
      const [below, above] = [Exact.compare(value, part.lower[1]), Exact.compare(value, part.upper[0])];
      const [isLow, isHigh] = [part.lower, part.upper].map((end) => Exact.compare(end[0], end[1]) === 0);
      return (below > 0 || (below === 0 && isLow && part.closed[0])) &&
        (above < 0 || (above === 0 && isHigh && part.closed[1]));
    }
  }

  // The controls of a point: it is pinned by sliders, numbers, keys and clicks; a mouse over the picture shows
  // another one for a while.
  class Panel {
    constructor(section, data, map) {
      this.data = data;
      this.map = map;
      this.panel = section.querySelector(".panel");
      this.panel.hidden = false;
      this.readout = this.panel.querySelector(".readout");
      this.point = data.box.map((side) => Exact.parse(data.start[side.name]));
      this.controls = data.box.map((side) => ({
        slider: this.panel.querySelector(`[data-slider="${side.name}"]`),
        exact: this.panel.querySelector(`[data-exact="${side.name}"]`),
      }));
      this.controls.forEach((control, k) => control.slider && this.listen(control, k));
      if (map) this.follow(map.holder);
      this.pin(this.point);
    }

    listen({ slider, exact }, k) {
      const side = this.data.box[k];
      slider.addEventListener("input", () => this.pin(this.point.with(k, atStep(side, slider.value))));
      exact.addEventListener("change", () => {
        const value = Exact.parse(exact.value);
        exact.setAttribute("aria-invalid", `${!value}`);
        if (value) this.pin(this.point.with(k, value));
      });
    }

    follow(holder) {
      const under = (event) => this.moved(this.map.steps(event));
      let waiting = 0;
      const later = (work) => {
        cancelAnimationFrame(waiting);
        waiting = requestAnimationFrame(work);
      };
      holder.addEventListener("pointermove", (event) => {
        if (event.pointerType === "mouse") later(() => this.show(under(event)));
      });
      holder.addEventListener("pointerleave", () => later(() => this.show(this.point)));
      holder.addEventListener("click", (event) => this.pin(under(event)));
      holder.addEventListener("keydown", (event) => {
        const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
        const move = moves[event.key];
        if (!move) return;
        event.preventDefault();
        const steps = this.map.box.map((place, k) => {
          const step = stepOf(this.data.box[place], this.point[place]) + move[k] * (event.shiftKey ? 10 : 1);
          return Math.min(Number(STEPS), Math.max(0, step));
        });
        this.pin(this.moved(steps, move));
      });
    }

    // Returns the point with the axes of the picture at some steps; with a move, those only that it changes.
    moved(steps, move = [1, 1]) {
      let point = this.point;
      this.map.box.forEach((place, k) => {
        if (move[k]) point = point.with(place, atStep(this.data.box[place], steps[k]));
      });
      return point;
    }

    pin(point) {
      this.point = point;
      this.controls.forEach(({ slider, exact }, k) => {
        if (!slider) return;
        slider.value = `${stepOf(this.data.box[k], point[k])}`;
        exact.value = Exact.text(point[k]);
        exact.setAttribute("aria-invalid", "false");
        slider.setAttribute("aria-valuetext", exact.value);
      });
      this.show(point);
    }

    show(point) {
      const cell = this.map ? this.map.show(point) : null;
      this.readout.replaceChildren(...Readout.point(this.data, point, cell));
    }
  }

  return { start };
})();
