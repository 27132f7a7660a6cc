// Exact numbers: rationals {n, d} of BigInt in lowest terms with d > 0, and values of the functions of a case.
//
// A value is {top, bottom}: lists of BigInt, the coefficients of two polynomials in E = exp(g), lowest power first.
// Without E both lists have one entry. The sign of the bottom is positive.
const Exact = (() => {
  const abs = (a) => (a < 0n ? -a : a);

  function gcd(a, b) {
    a = abs(a);
    b = abs(b);
    while (b) [a, b] = [b, a % b];
    return a;
  }

  function rational(n, d = 1n) {
    if (d === 0n) throw new RangeError("division by zero");
    const common = gcd(n, d) || 1n;
    const sign = d < 0n ? -1n : 1n;
    return { n: (sign * n) / common, d: (sign * d) / common };
  }

  // Reads `3/7`, `-2` or `0.25`; null for anything else.
  function parse(text) {
    const quotient = /^\s*([+-]?\d+)\s*\/\s*(\d+)\s*$/.exec(text);
    if (quotient) return BigInt(quotient[2]) ? rational(BigInt(quotient[1]), BigInt(quotient[2])) : null;
    const decimal = /^\s*([+-]?)(\d*)(?:\.(\d*))?\s*$/.exec(text);
    if (!decimal || !(decimal[2] || decimal[3])) return null;
    const digits = decimal[3] || "";
    const size = rational(BigInt(decimal[2] + digits), 10n ** BigInt(digits.length));
    return decimal[1] === "-" ? { n: -size.n, d: size.d } : size;
  }

  const add = (a, b) => rational(a.n * b.d + b.n * a.d, a.d * b.d);
  const subtract = (a, b) => rational(a.n * b.d - b.n * a.d, a.d * b.d);
  const multiply = (a, b) => rational(a.n * b.n, a.d * b.d);
  const compare = (a, b) => {
    const difference = a.n * b.d - b.n * a.d;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  };
  const text = (a) => (a.d === 1n ? `${a.n}` : `${a.n}/${a.d}`);
  const isZero = (list) => list.every((c) => c === 0n);

  // Returns a rational rounded to some digits, with an exponent where it is very small or large.
  function decimal(a, digits = 6) {
    if (a.n === 0n) return "0";
    const sign = a.n < 0n ? "-" : "";
    const n = abs(a.n);
    let power = `${n}`.length - `${a.d}`.length;
    const reaches = (p) => (p >= 0 ? n >= a.d * 10n ** BigInt(p) : n * 10n ** BigInt(-p) >= a.d);
    if (!reaches(power)) power -= 1;
    const shift = digits - 1 - power;
    const [top, bottom] = shift >= 0 ? [n * 10n ** BigInt(shift), a.d] : [n, a.d * 10n ** BigInt(-shift)];
    let rounded = top / bottom;
    const rest = 2n * (top % bottom);
    if (rest > bottom || (rest === bottom && rounded % 2n === 1n)) rounded += 1n;
    if (`${rounded}`.length > digits) {
      rounded /= 10n;
      power += 1;
    }
    return sign + placed(`${rounded}`, power, digits);
  }

  function placed(figures, power, digits) {
    const trimmed = figures.replace(/0+$/, "");
    if (power < -4 || power >= digits) {
      const size = `${Math.abs(power)}`.padStart(2, "0");
      const rest = trimmed.length > 1 ? `.${trimmed.slice(1)}` : "";
      return `${trimmed[0]}${rest}e${power < 0 ? "-" : "+"}${size}`;
    }
    if (power < 0) return `0.${"0".repeat(-power - 1)}${trimmed}`;
    const whole = figures.slice(0, power + 1);
    const rest = figures.slice(power + 1).replace(/0+$/, "");
    return rest ? `${whole}.${rest}` : whole;
  }

  // Returns a polynomial at a point as {list, over}: its coefficients by powers of E, divided by `over` > 0.
  function evaluate(terms, point) {
    const count = point.length;
    const degrees = point.map((_, k) => terms.reduce((most, term) => Math.max(most, term[k + 1]), 0));
    const tables = point.map((value, k) => powers(value, degrees[k]));
    let over = 1n;
    point.forEach((value, k) => (over *= value.d ** BigInt(degrees[k])));
    const list = [];
    for (const term of terms) {
      let product = BigInt(term[0]);
      for (let k = 0; k < count; k += 1) product *= tables[k][term[k + 1]];
      const power = term.length > count + 1 ? term[count + 1] : 0;
      while (list.length <= power) list.push(0n);
      list[power] += product;
    }
    return { list: list.length ? list : [0n], over };
  }

  // Returns n^e · d^(degree − e) for e = 0, ..., degree.
  function powers(value, degree) {
    const found = [];
    for (let e = 0; e <= degree; e += 1) found.push(value.n ** BigInt(e) * value.d ** BigInt(degree - e));
    return found;
  }

  function product(a, b) {
    const found = new Array(a.length + b.length - 1).fill(0n);
    a.forEach((x, j) => b.forEach((y, k) => (found[j + k] += x * y)));
    return found;
  }

  function trimmed(list) {
    let size = list.length;
    while (size > 1 && list[size - 1] === 0n) size -= 1;
    return list.slice(0, size);
  }

  // Returns the value top / bottom, its integers without a common divisor; null where the bottom is zero, or
  // where its sign is not known.
  function quotient(top, bottom, generator) {
    const sign = signOf(bottom, generator);
    if (!sign) return null;
    let common = [...top, ...bottom].reduce(gcd, 0n) || 1n;
    if (sign < 0) common = -common;
    const [above, below] = [top, bottom].map((list) => trimmed(list.map((c) => c / common)));
    return { top: isZero(above) ? [0n] : above, bottom: isZero(above) ? [1n] : below };
  }

  function functionAt([top, bottom], point, generator) {
    const [above, below] = [evaluate(top, point), evaluate(bottom, point)];
    return quotient(
      above.list.map((c) => c * below.over),
      below.list.map((c) => c * above.over),
      generator,
    );
  }

  // Returns rationals between which a polynomial in E lies.
  function enclosed(list, generator) {
    if (list.length === 1 || !generator) return [rational(list[0]), rational(list[0])];
    const ends = [generator.low, generator.high].map((end) => powers(end, list.length - 1));
    const low = generator.low.d ** BigInt(list.length - 1);
    const high = generator.high.d ** BigInt(list.length - 1);
    let [least, most] = [rational(0n), rational(0n)];
    list.forEach((c, k) => {
      const [small, large] = [rational(c * ends[0][k], low), rational(c * ends[1][k], high)];
      least = add(least, c < 0n ? large : small);
      most = add(most, c < 0n ? small : large);
    });
    return [least, most];
  }

  // Returns -1, 0 or 1; null where the enclosure of E is too wide to tell.
  function signOf(list, generator) {
    if (isZero(list)) return 0;
    const [low, high] = enclosed(list, generator);
    if (low.n > 0n) return 1;
    return high.n < 0n ? -1 : null;
  }

  const difference = (a, b) => {
    const [left, right] = [product(a.top, b.bottom), product(b.top, a.bottom)];
    const size = Math.max(left.length, right.length);
    return Array.from({ length: size }, (_, k) => (left[k] || 0n) - (right[k] || 0n));
  };

  // Compares two values: -1, 0, 1, or null where it is not known.
  const order = (a, b, generator) => signOf(difference(a, b), generator);
  const times = (a, b, generator) => quotient(product(a.top, b.top), product(a.bottom, b.bottom), generator);
  const over = (a, b, generator) => quotient(product(a.top, b.bottom), product(a.bottom, b.top), generator);

  // Returns a rational near a value: itself, or the middle of an enclosure.
  function near(value, generator) {
    const [top, bottom] = [enclosed(value.top, generator), enclosed(value.bottom, generator)];
    const low = rational(top[0].n * bottom[1].d, top[0].d * bottom[1].n);
    const high = rational(top[1].n * bottom[0].d, top[1].d * bottom[0].n);
    return multiply(add(low, high), rational(1n, 2n));
  }

  // Tells whether a rounded decimal is the value itself.
  function isDecimal(value, rounded) {
    const read = parse(rounded);
    return Boolean(read) && value.top.length === 1 && value.bottom.length === 1 &&
      compare(read, rational(value.top[0], value.bottom[0])) === 0;
  }

  function show(value, name) {
    const [top, bottom] = [value.top, value.bottom].map((list) => sum(list, name));
    if (bottom === "1") return top;
    const many = (shown) => (/[ *]/.test(shown) ? `(${shown})` : shown);
    return `${/ /.test(top) ? `(${top})` : top}/${many(bottom)}`;
  }

  function sum(list, name) {
    const parts = [];
    for (let k = list.length - 1; k >= 0; k -= 1) {
      if (list[k] === 0n) continue;
      const size = abs(list[k]);
      const base = k === 0 ? "" : k === 1 ? name : `${name}^${k}`;
      const term = !base ? `${size}` : size === 1n ? base : `${size}*${base}`;
      const sign = list[k] < 0n ? (parts.length ? " - " : "-") : parts.length ? " + " : "";
      parts.push(sign + term);
    }
    return parts.join("") || "0";
  }

  return {
    add, compare, decimal, evaluate, functionAt, isDecimal, multiply, near, order, over, parse, rational, show, signOf,
    subtract, text, times,
  };
})();
