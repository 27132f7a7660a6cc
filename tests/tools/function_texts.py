"""Random functions as source texts: well-typed, with few outcomes, and with most constructs of Python.

Decimal numbers in them are exact in binary if anything but a draw is compared with them, so that floats of
CPython and exact numbers agree.
"""

# ruff: noqa: E501 - the texts of statements have long lines

from __future__ import annotations

import random
import re
from collections.abc import Callable

from construct_rows import PREAMBLE

MOST_OUTCOMES = 60  # of one function
MARK = re.compile(r"\x01(\w+),(\d+)\x02")


class Writer:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        self.known: dict[str, list[str]] = {}  # names by type
        self.bound: list[tuple[str, str]] = []  # by the statement that is written now
        self.count = 0
        self.outcomes = 1
        self.repeats = 1  # of the statement that is written
        self.in_loop = 0
        self.rng = False

    # --- expressions that are written later --------------------------------------------------------------

    # Options are texts with marks for their parts, such as `\x01int,2\x02`. Only those of the option that was
    # taken are replaced by random expressions, in `expanded`, so that no others spend the outcomes.

    def an_int(self, depth: int = 2) -> str:
        return f"\x01int,{depth}\x02"

    def a_float(self, depth: int = 2) -> str:
        return f"\x01float,{depth}\x02"

    def a_bool(self, depth: int = 2) -> str:
        return f"\x01bool,{depth}\x02"

    def a_list(self, depth: int = 2) -> str:
        return f"\x01list,{depth}\x02"

    def a_set(self, depth: int = 1) -> str:
        return f"\x01set,{depth}\x02"

    def a_dict(self, depth: int = 1) -> str:
        return f"\x01dict,{depth}\x02"

    def a_text(self, depth: int = 1) -> str:
        return f"\x01text,{depth}\x02"

    def an_array(self, depth: int = 1) -> str:
        return f"\x01array,{depth}\x02"

    def a_row(self, depth: int = 1) -> str:
        return f"\x01row,{depth}\x02"

    def labels(self) -> str:
        return "\x01labels,1\x02"

    def expanded(self, text: str) -> str:
        while (found := MARK.search(text)) is not None:
            kind, depth = found.groups()
            made = getattr(self, f"make_{kind}")(int(depth))
            text = text[: found.start()] + made + text[found.end() :]
        return text

    # --- small steps ---------------------------------------------------------------------------------

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def name(self, kind: str) -> str:
        self.count += 1
        made = f"{self.pick('a', 'b', 'value', 'item', 'out')}{self.count}"
        self.bound.append((kind, made))
        return made

    def line(self, text: str) -> None:
        self.lines += ["    " * self.depth + part for part in self.expanded(text).split("\n")]
        for kind, name in self.bound:
            self.known.setdefault(kind, []).append(name)
        self.bound = []

    def may_draw(self, outcomes: int) -> bool:
        total = self.outcomes * outcomes**self.repeats
        if total > MOST_OUTCOMES:
            return False
        self.outcomes = total
        return True

    def can_draw(self, outcomes: int) -> bool:
        return bool(self.outcomes * outcomes**self.repeats <= MOST_OUTCOMES)

    def make_draw(self, outcomes: int) -> str:
        self.may_draw(outcomes)
        return ""

    def small(self) -> str:
        return str(self.random.randint(-4, 9))

    def var(self, kind: str) -> str | None:
        names = self.known.get(kind)
        return self.random.choice(names) if names else None

    def block(self, write: Callable[[], None]) -> None:
        """Writes a block, whose names are not known after it."""
        known = {kind: list(names) for kind, names in self.known.items()}
        self.depth += 1
        start = len(self.lines)
        write()
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1
        self.known = known

    # --- draws ---------------------------------------------------------------------------------------

    def share(self) -> str:
        """Returns a probability."""
        n = self.random.randint(2, 9)
        options = [f"{self.random.randint(1, n)} / {n}", "0.3", "0.125", "0.75", ".9", "1 / 3", "2 / 7"]
        if self.random.random() < 0.3 and self.known.get("int"):
            options = [f"(1 + abs({self.an_int(0)}) % {n}) / {n + 2}"]
        return self.random.choice(options)

    def drawn_int(self) -> str | None:
        """Returns a drawn whole number, if there may be one."""
        n = self.random.randint(2, 4)
        if not self.may_draw(n):
            return None
        if n == 4 and self.random.random() < 0.5:
            return self.pick("random.getrandbits(2)", "secrets.randbits(2)", "random.getrandbits(2)")
        weights = [self.random.randint(1, 5) for _ in range(n)]
        values = [self.random.randint(-3, 9) for _ in range(n)]
        shares = ", ".join(f"{w} / {sum(weights)}" for w in weights)
        options = [
            f"random.randint(-1, {n - 2})",
            f"random.randrange({n})",
            f"random.randrange(1, {3 * n}, 3)",
            f"random.randrange({n}, 0, -1)",
            f"random.choice({values})",
            f"random.choice(range({n}))",
            f"random.choice({tuple(values)})",
            f"random.choices({values}, weights={weights})[0]",
            f"random.choices(population={values}, cum_weights={[sum(weights[: k + 1]) for k in range(n)]}, k=1)[-1]",
            f"random.choices({values}, [{shares}])[0]",
            f"random.sample(range({n}), 1)[0]",
            f"random.sample({values}, k=1).pop()",
            f"secrets.randbelow({n})",
            f"secrets.choice({values})",
            f"int(random.random() * {n})",
            f"math.floor(random.random() * {n})",
            f"math.ceil({n} * random.random())",
            f"round(random.random() * {n - 1})",
            f"int(random.uniform(-{n - 1}, 1))",
            f"np.random.randint({n})",
            f"np.random.randint(1, {n + 1})",
            f"int(np.random.choice({n}))",
            f"int(np.random.choice({values}, p=[{shares}]))",
            f"int(np.random.permutation({n - 1 if n == 4 else 2})[0])",
            f"int(np.random.binomial({n - 1}, {self.share()}))",
            f"random.SystemRandom().randint(0, {n - 1})",
            f"bisect.bisect([1, 2, 4], random.randrange({n}))",
            f"drawn_until({n - 1})",
            f"random.Random().randrange({n})",
            f"np.random.default_rng().integers({n})",
            f"int(np.random.RandomState().randint({n}))",
            f"secrets.SystemRandom().randint(1, {n})",
            f"int(np.random.choice({n}, size=1, replace=False)[0])",
            f"int(np.random.choice({n}, p=np.array({weights}) / {sum(weights)}))",
            f"int(np.random.randint(0, {n}, size=1)[0])",
            f"{values}[int(random.random() * {n})]",
            f"random.choice(sorted({{'a', 'b', 'c', 'd'}})[:{n}]).count('a')",
            f"bisect.bisect(list(itertools.accumulate([{shares}]))[:-1], random.random())",
            f"int(np.searchsorted(np.cumsum([1 / {n}] * {n})[:-1], random.random()))"
            if n in (2, 4)
            else "int(np.argmax(np.array([1, 2, 3]) > random.random() * 3))",
            f"int(np.random.rand(1)[0] * {n})",
            f"min({n - 1}, math.floor(random.uniform(0, {n})))",
            f"{{k: {n} * k for k in range({n})}}[random.randrange({n})]",
            f"next(k for k in itertools.count() if k >= {n - 2} or random.random() < {self.share()})",
            f"sum(random.random() < {self.share()} for _ in range({1 if n < 4 else 2}))",
            f"len([k for k in range({1 if n < 4 else 2}) if flipped({self.share()})])",
        ]
        if self.rng:
            options += [
                f"int(rng.integers({n}))",
                f"rng.integers(1, {n}, endpoint=True)",
                f"rng.choice({values})",
                f"int(rng.choice({n}, p=[{shares}]))",
                f"int(rng.random() * {n})",
                f"int(rng.binomial({n - 1}, 1 / 3))",
                f"rng.choice({values}, size=1, replace=False)[0]",
            ]
        return self.random.choice(options)

    def drawn_bool(self) -> str | None:
        if not self.may_draw(2):
            return None
        share = self.share()
        options = [
            f"random.random() < {share}",
            f"random.random() > {share}",
            f"{share} <= random.random()",
            f"random.random() * 2 >= {share}",
            f"1 - random.random() <= {share}",
            f"random.uniform(0, 3) < {share}",
            f"np.random.rand() < {share}",
            f"np.random.random() < {share}",
            f"np.random.uniform() < {share}",
            f"not random.random() < {share}",
            "bool(random.getrandbits(1))",
            "random.choice([True, False])",
            f"bool(np.random.binomial(1, {share}))",
            f"flipped({share})",
            "flipped()",
            f"apply(flipped, p={share})",
            f"apply(lambda p: random.random() < p, {share})",
        ]
        if self.rng:
            options += [f"rng.random() < {share}", "bool(rng.integers(2))", "rng.uniform(1, 2) < 1.25"]
        return f"({self.random.choice(options)})"

    # --- expressions ---------------------------------------------------------------------------------

    def make_int(self, depth: int) -> str:
        if self.random.random() < 0.3:
            found = self.drawn_int()
            if found:
                return found
        if depth <= 0 or self.random.random() < 0.2:
            return self.var("int") or self.small()
        a, b = self.an_int(depth - 1), self.an_int(depth - 1)
        options = [
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} % 11 * ({b} % 5))",
            f"({a} // {self.pick('2', '3', '-2', '-5')})",
            f"({a} % {self.pick('2', '3', '-3', '7')})",
            f"({a} & {b})",
            f"({a} | {b})",
            f"({a} ^ {b})",
            f"(~{a})",
            f"-{self.atom(a)}",
            f"({a} << ({b}) % 3)",
            f"({a} >> ({b}) % 3)",
            f"({a} % 5) ** 2",
            f"abs({a})",
            f"max({a}, {b})",
            f"min({a}, {b}, key=lambda v: -v)",
            f"min({a}, {b})",
            f"divmod({a}, {self.pick('3', '-4')})[{self.pick('0', '1', '-1')}]",
            f"({a} if {self.a_bool(depth - 1)} else {b})",
            f"({a} or {b})",
            f"({a} and {b})",
            f"int({self.a_bool(depth - 1)})",
            f"({self.a_bool(depth - 1)} + {a})",
            f"int({self.a_float(depth - 1)})",
            f"round({self.a_float(depth - 1)})",
            f"math.floor({self.a_float(depth - 1)})",
            f"math.ceil({self.a_float(depth - 1)})",
            f"len({self.a_list(depth - 1)})",
            f"sum({self.a_list(depth - 1)})",
            f"sum({self.a_list(depth - 1)}, {a})",
            f"max({self.a_list(depth - 1)}, default={b})",
            f"{self.a_list(depth - 1)}.count({a})",
            f"{self.a_list(depth - 1)}[{self.pick('0', '-1', '1')}]",
            f"len({self.a_set(depth - 1)})",
            f"{self.a_dict(depth - 1)}.get({a}, {b})",
            f"len({self.a_text(depth - 1)})",
            f"ord(({self.a_text(depth - 1)} + 'z')[0])",
            f"scaled({a}, {b})",
            f"scaled({a}, *[{b}, {self.small()}], c={self.small()})",
            f"scaled(b={a}, a={b}, **{{'w': {self.small()}}})",
            f"factorial({a} % 5)",
            f"adder({a})({b})",
            f"lifted({a}, by={self.small()})",
            f"apply(max, {a}, {b})",
            f"(lambda v, w={b}: v * 2 - w)({a})",
            f"Point({a}).total",
            f"Point(y={a}, x={b}).moved(by=2).x",
            f"Pair({a}, {b}).{self.pick('left', 'right')}",
            f"Pair({a}, right={b})._replace(left={self.small()})[0]",
            f"Counter({a}, 1, 2, k={b}).value",
            f"Counter({a})({b}, twice={self.a_bool(0)})",
            f"Fast({a})({b})",
            f"(Counter({a}) + {b}).value",
            f"max(Counter({a}), Counter({b})).value",
            f"{self.pick('Counter', 'Fast')}.step",
            f"Counter.half({a})",
            f"sum(itertools.islice(Counter({a}), 2))",
            f"sum(Counter({a}))",
            f"functools.reduce(lambda v, w: v * 2 + w, {self.a_list(depth - 1)}, {a})",
            f"functools.partial(scaled, {a})({b})",
            f"sum(map(lambda v: v + {a}, {self.a_list(depth - 1)}))",
            f"operator.add({a}, {b})",
            f"operator.itemgetter(1)(({a}, {b}))",
            f"next(iter({self.a_list(depth - 1)}), {a})",
            f"int(np.array({self.a_list(depth - 1)}).sum())",
            f"int(np.clip({a}, -1, 4))",
            f"int(np.maximum({a}, {b}))",
            f"int(np.argmax({self.an_array(depth - 1)}))",
            f"int({self.an_array(depth - 1)}[{self.pick('0', '-1')}])",
            f"{self.an_array(depth - 1)}.{self.pick('max()', 'min()', 'sum()', 'size', 'shape[0]', 'argmin()')}",
            f"int(np.count_nonzero({self.an_array(depth - 1)} > {self.small()}))",
            f"int(np.where({self.an_array(depth - 1)} > {a}, 1, {b})[0])",
            f"Level.HIGH + {a}",
            f"Color({a} % 2 + 1).value",
            f"({a}).bit_length()",
            f"({a} % 7).__add__({b})",
            f"int(str(abs({a})) + '0')",
            f"collections.Counter({self.a_list(depth - 1)}).most_common(1)[0][1]",
            f"sum(a * b for a, b in zip({self.a_list(depth - 1)}, {self.a_list(depth - 1)}))",
            f"math.gcd({a}, {b})",
            f"int((np.array([{a}, 0.5, {b}]) {self.pick('>', '<=', '==')} {self.a_float(depth - 1)}).sum())",
            f"int(np.argmax(np.array([{self.a_float(depth - 1)}, 0.25, {a}])))",
            f"int(np.sum(np.array([0.5, 1.5]) * {a}))",
            f"int(np.round({self.a_float(depth - 1)}))",
            f"int(np.searchsorted([0.5, 1, 4], {self.a_float(depth - 1)}))",
            f"sorted([{a}, {self.a_float(depth - 1)}, {b}]).index({b})",
            f"{{0.5: 1, 2: {a}}}.get({self.a_float(depth - 1)}, {b})",
            f"len({{{self.a_float(depth - 1)}, {a}, {b}}})",
            f"[{self.a_float(depth - 1)}, {a}].index({a})",
            f"round({self.a_float(depth - 1)} * 2) // 2",
            f"{{'a': [{a}], 'b': [{b}, 3]}}[{self.pick(chr(39) + 'a' + chr(39), chr(39) + 'b' + chr(39))}][-1]",
            f"(lambda *v: v[-1])(*{self.a_list(depth - 1)})",
            f"apply(lambda v, **w: v + w['k'], {a}, k={b})",
            f"sum(v if v > 0 else -1 for v in ({a}, {b}))",
            f"next((v for v in {self.a_list(depth - 1)} if v > {self.small()}), {b})",
            f"len(f'{{{self.float_name()}}}')",
            f"int(statistics.median([{a}, {b}, 1]))",
            f"copy.deepcopy([{a}])[0]",
            f"int(Fraction({a}, 3) * 3)",
            f"math.floor(Fraction({a}, 2))",
            f"math.comb(5, {a} % 6)",
            f"int({self.a_row(depth - 1)}.{self.pick('sum()', 'max()', 'min()', 'argmax()', 'argmin()')})",
            f"int(({self.a_row(depth - 1)} {self.pick('>', '<=', '==')} {self.a_float(depth - 1)}).sum())",
            f"len(str({self.a_row(depth - 1)}[0]))",
            f"isinstance({self.a_row(depth - 1)}[-1], {self.pick('int', 'float')}) + {a}",
            f"int(np.array([[1, {a}], [2, 3]]) @ np.array([{b}, 1]) @ np.array([1, 2]))",
            f"int(np.dot([0.5, 2], [{a}, {b}]) * 2)",
            f"int(np.array([100, {a}], dtype=np.{self.pick('int8', 'uint8', 'int16')})[1] + 3)",
            f"int((np.array([100, {a} % 50], dtype=np.int8) * 2)[0])",
            f"int(np.int64({a}) * {b})",
            f"int(np.power({a} % 4, 2)) + len(str(np.power({a} % 4, 2)))",
            f"len(str(np.{self.pick('maximum', 'minimum')}({a}, {self.a_float(depth - 1)})))",
            f"len(str(np.{self.pick('sum', 'max', 'mean', 'min')}([{a}, {self.a_float(depth - 1)}])))",
            f"len({self.labels()})",
            f"{{'a': {a}, 'bc': {b}}}.get(min({self.labels()}, default='a'), 7)",
            f"sum(len(v) for v in sorted({self.labels()}))",
            f"collections.Counter({self.a_text(depth - 1)}).get('a', {b})",
            f"[v for v, _ in sorted([({a}, 0), ({b}, 1), (1, 2)], key=lambda p: p[0] % 2)][0]",
            f"[w for _, w in sorted([({a}, 0), ({b}, 1)], key=lambda p: p[0], reverse=True)][0]",
            f"(lambda k, seen=[]: (seen.append(k), len(seen))[1])({a})",
            f"next(v for v in [{a}, {b}, float('nan'), 3] if v == v)",
            f"int(max({a}, float({self.pick(chr(39) + '-inf' + chr(39), chr(39) + 'nan' + chr(39))})))"
            if self.random.random() < 0.3
            else f"({a} < math.inf) + {b}",
            f"round({a} + 0.5) + round({b} / 2) + round(({a} % 7 + 0.5) / 1)",
            f"len(repr(({a}, {self.a_bool(0)}, 'x', None)))",
            f"(1 + {self.a_bool(depth - 1)}) * {a}",
            f"[{a}, {b}][-{self.a_bool(0)}]",
            f"({a} is None) + (3 if {self.var('option') or 'None'} is not None else {b})",
            f"(({a} and {b}) or 'ab' and {a})",
            f"statistics.mode([{a}, {b}, {a}])",
            f"operator.neg({a}) + operator.itemgetter('k')({{'k': {b}}})",
            f"sum(map(operator.mul, [{a}, 2], [{b}, 3]))",
            f"(*[{a}, {b}], 5)[{self.pick('0', '1', '-1')}]",
            f"int(bool([v for v in [{a}] if v]) and not {self.a_list(0)} or {self.a_bool(0)})",
        ]
        return self.random.choice(options)

    @staticmethod
    def atom(text: str) -> str:
        return f"({text})"

    def make_float(self, depth: int) -> str:
        """Returns an expression whose value has few binary digits."""
        if depth <= 0 or self.random.random() < 0.25:
            return self.var("float") or self.pick("0.5", "1.25", "-2.5", "3.0", "-0.75", "1e2", "2.")
        a, n = self.a_float(depth - 1), self.an_int(depth - 1)
        options = [
            f"({a} + {n})",
            f"({a} * {self.pick('2', '-0.5', '3', '1.5')})",
            f"({a} - {self.a_float(depth - 1)})",
            f"({n} / {self.pick('2', '4', '8', '-2')})",
            f"float({n})",
            f"({a} // {self.pick('1', '2', '0.5', '-1.5')})",
            f"({a} % {self.pick('1', '2', '0.5', '-1.5')})",
            f"abs({a})",
            f"max({a}, {n})",
            f"min({a}, {self.a_float(depth - 1)})",
            f"-{self.atom(a)}",
            f"round({a}, 1) * 0 + {a}",
            f"({a} if {self.a_bool(depth - 1)} else {self.a_float(depth - 1)})",
            f"sum([{a}, {n}, 0.5])",
            f"math.fabs({a})",
            f"math.sqrt({self.pick('4', '2.25', '16')})",
            f"({a} % 4) ** 2",
            f"2.0 ** ({n} % 4)",
            f"2 ** -({n} % 4)",
            f"divmod({a}, 2)[1]",
            "float('1.5')",
            f"float(np.mean([{n}, {n}]))",
            f"float(np.array([{a}, 1.5]).max())",
            f"float((np.array([{n}, 2]) * 0.5).sum())",
            f"float(np.floor({a}))",
        ]
        return self.random.choice(options)

    def make_bool(self, depth: int) -> str:
        if self.random.random() < 0.4:
            found = self.drawn_bool()
            if found:
                return found
        if depth <= 0:
            return self.var("bool") or f"({self.an_int(0)} > {self.small()})"
        a, b = self.an_int(depth - 1), self.an_int(depth - 1)
        options = [
            f"({a} {self.pick('<', '<=', '==', '!=', '>', '>=')} {b})",
            f"({a} < {b} <= {self.small()})",
            f"({self.small()} <= {a} != {b})",
            f"({self.a_float(depth - 1)} {self.pick('<', '==', '>=')} {self.pick(a, self.a_float(depth - 1))})",
            f"(not {self.a_bool(depth - 1)})",
            f"({self.a_bool(depth - 1)} and {self.a_bool(depth - 1)})",
            f"({self.a_bool(depth - 1)} or {self.a_bool(depth - 1)})",
            f"({self.a_bool(depth - 1)} ^ {self.a_bool(depth - 1)})",
            f"({self.a_bool(depth - 1)} & {self.a_bool(depth - 1)})",
            f"bool({a})",
            f"({a} in {self.a_list(depth - 1)})",
            f"({a} not in {self.a_set(depth - 1)})",
            f"({a} in {self.a_dict(depth - 1)})",
            f"any(v > {b} for v in {self.a_list(depth - 1)})",
            f"all([v % 2 for v in {self.a_list(depth - 1)}])",
            f"({self.a_list(depth - 1)} < {self.a_list(depth - 1)})",
            f"({self.a_set(depth - 1)} <= {self.a_set(depth - 1)})",
            f"({self.a_text(depth - 1)} == {self.a_text(depth - 1)})",
            f"({self.a_text(depth - 1)} in {self.a_text(depth - 1)})",
            f"{self.a_text(depth - 1)}.startswith('a')",
            f"isinstance({self.pick(a, self.a_float(depth - 1), self.a_bool(depth - 1))}, {self.pick('int', 'bool', 'float', '(int, float)')})",
            f"(({a}, {b}) == ({b}, {a}))",
            f"(Point({a}) == Point({b}))",
            f"(Counter({a}) == Counter({b}))",
            f"({a} in Counter({b}))",
            f"(Color({a} % 2 + 1) is Color.RED)",
            f"({self.var('option') or 'None'} is None)",
            f"bool(np.any({self.an_array(depth - 1)} == {a}))",
            f"bool(np.all({self.an_array(depth - 1)} > {a}))",
            f"bool({self.an_array(depth - 1)}[0] > {a})",
            f"callable({self.pick('scaled', 'len', '3')})",
            f"hasattr(Point({a}), '{self.pick('x', 'z')}')",
            f"(type({self.pick(a, self.a_float(depth - 1))}) is {self.pick('int', 'float')})",
            f"({self.a_float(depth - 1)}).is_integer()",
            f"math.isclose({self.a_float(depth - 1)}, 0.5)",
            f"({self.a_text(depth - 1)} {self.pick('<', '>=', '!=')} {self.a_text(depth - 1)})",
            f"({self.a_text(depth - 1)} in {self.labels()})",
            f"({self.labels()} {self.pick('<=', '==', '>')} {self.labels()})",
            f"bool(({self.a_row(depth - 1)} > {self.a_float(0)}).{self.pick('all', 'any')}())",
            f"bool(np.isclose({self.a_float(depth - 1)}, {self.a_float(depth - 1)}))",
            f"bool({self.a_row(depth - 1)}[0] == {a})",
            f"(float('nan') {self.pick('==', '<', '!=')} {self.a_float(depth - 1)})",
            f"({a} {self.pick('<', '>')} math.inf)",
        ]
        return self.random.choice(options)

    def make_list(self, depth: int) -> str:
        """Returns a list with an entry at least."""
        if depth <= 0 or self.random.random() < 0.2:
            found = self.var("list")
            return f"(list({found}) or [{self.small()}])" if found else f"[{self.an_int(0)}, {self.small()}]"
        a, b, more = self.an_int(depth - 1), self.an_int(depth - 1), self.a_list(depth - 1)
        n = self.random.randint(1, 3)
        options = [
            f"[{a}, {b}, {self.small()}]",
            f"[*{more}, {a}]",
            f"({more} + [{a}])",
            f"([{a}] * {n})",
            f"[v + {a} for v in {more}]",
            f"([v for v in {more} if v > {self.small()}] or [{b}])",
            f"[v * k for k, v in enumerate({more}, {self.pick('0', '1')})]",
            f"[v for row in [{more}, [{a}]] for v in row]",
            f"sorted({more})",
            f"sorted({more}, key=lambda v: v % 3, reverse={self.pick('True', 'False')})",
            f"sorted({more}, key=abs)",
            f"list(reversed({more}))",
            f"{more}[::-1]",
            f"({more}[{self.pick('1:', ':2', '-2:', '::2', ':-1', '-1:-3:-1')}] or [{a}])",
            f"list(range({n}))",
            f"list(range({a} % 4 + 1, -1, -1))",
            f"list(map(abs, {more}))",
            f"(list(filter(None, {more})) or [{b}])",
            f"list(dict.fromkeys({more}))",
            f"list({self.a_dict(depth - 1)}.{self.pick('keys', 'values')}())",
            f"sorted({self.a_set(depth - 1)} | {{{a}}})",
            f"[p - q for p, q in zip({more}, {more})]",
            f"list(itertools.accumulate({more}))",
            f"list(upto({n}))",
            f"list(chained({n}))",
            f"fresh({a})",
            f"fresh({a}, {more})",
            f"[max(p) for p in itertools.product({more}[:2], [{a}])]",
            f"[f({b}) for f in [lambda v, k=k: v + k for k in range({n})]]",
            f"[f({b}) for f in [lambda v: v + k for k in range({n})]]",
            f"list({self.an_array(depth - 1)}.tolist())",
            f"[int(v) for v in np.{self.pick('cumsum', 'sort', 'abs', 'unique')}({self.an_array(depth - 1)})]",
            f"[int(v) for v in {self.an_array(depth - 1)}]",
            f"[Card(v).rank for v in sorted([Card(w) for w in {more}])]",
            f"list(divmod({a}, 3))",
            f"[int(c) for c in str(abs({a}))]",
            f"list(Pair({a}, {b}))",
            f"list(Counter({a}))",
            f"list(collections.deque({more}, maxlen=2))",
        ]
        if self.can_draw(2):
            options += 2 * [
                f"\x01draw,2\x02random.sample([{a}, {b}], 2)",
                "\x01draw,2\x02[int(v) for v in np.random.permutation(2)]",
                "\x01draw,2\x02[int(v < 0.5) for v in np.random.rand(1)]",
                f"\x01draw,2\x02random.choices([{a}, {b}], k=1)",
                f"\x01draw,2\x02[k for k in range(3) if k != 1 or random.random() < {self.share()}]",
            ]
        return self.random.choice(options)

    def make_set(self, depth: int) -> str:
        found = self.var("set")
        if depth <= 0:
            return found or f"{{{self.an_int(0)}, 2}}"
        more, other = self.a_list(depth - 1), self.a_set(depth - 1)
        return self.pick(
            f"set({more})",
            f"{{v % 4 for v in {more}}}",
            f"({other} {self.pick('|', '&', '-', '^')} set({more}))",
            f"frozenset({more})",
            f"{other}.union({more})",
            f"{{*{more}, {self.small()}}}",
        )

    def make_dict(self, depth: int) -> str:
        """Returns a dictionary with an entry at least."""
        if depth <= 0:
            return self.var("dict") or f"{{{self.small()}: {self.an_int(0)}}}"
        more = self.a_list(depth - 1)
        return self.pick(
            f"{{v: v * v for v in {more}}}",
            f"dict(enumerate({more}))",
            f"dict(zip({more}, {more}[::-1]))",
            f"{{**{self.a_dict(0)}, {self.an_int(0)}: {self.an_int(depth - 1)}}}",
            f"({self.a_dict(0)} | {{1: {self.an_int(depth - 1)}}})",
            f"collections.Counter({more})",
            f"{{k: v for k, v in sorted({self.a_dict(0)}.items(), reverse=True)}}",
            f"collections.defaultdict(int, {self.a_dict(0)})",
        )

    def make_text(self, depth: int) -> str:
        if depth <= 0:
            return self.var("text") or self.pick("'ab'", "'x y'", '"it\'s"', "'Abc'", "'a,b'")
        a, more = self.an_int(depth - 1), self.a_text(depth - 1)
        return self.pick(
            f"f'{{{self.int_name()}}}'",
            f"f'{{{self.int_name()}:+03d}}|{{{self.small()}!r}}'",
            f"f'{{{self.float_name()}:.2f}}'",
            f"str({self.float_name()})",
            f"({more} + str({a}))",
            f"{more}.upper()",
            f"({more} * ({a} % 3))",
            f"{more}[::-1]",
            f"'-'.join(str(v) for v in {self.a_list(depth - 1)})",
            f"{more}.replace('a', 'b')",
            f"'%d/%s' % ({a}, {more})",
            f"'{{}} {{k}}'.format({a}, k={more})",
            f"str({self.a_bool(depth - 1)})",
            f"repr([{a}, 'x'])",
            f"{more}.split(',')[0]",
            f"chr(97 + {a} % 5)",
            f"{more}.zfill(4)",
            f"bin({a})",
            f"Color({a} % 2 + 1).name",
            f"str(Pair({a}, 1))",
            f"str(Point({a}))",
            "\x01draw,2\x02random.choice(['a', 'b'])" if self.can_draw(2) else more,
            "\x01draw,2\x02str(np.random.choice(['u', 'v']))" if self.can_draw(2) else more,
        )

    def make_labels(self, depth: int) -> str:
        """Returns a set of texts."""
        found = self.var("labels")
        if found and self.random.random() < 0.6:
            return found
        return self.pick(
            "{'a', 'bc'}",
            f"set({self.a_text(0)})",
            f"{{{self.a_text(0)}, 'b'}}",
            f"{{str(v) for v in {self.a_list(0)}}}",
            f"({{'a', 'd'}} {self.pick('|', '&', '-', '^')} {{{self.a_text(0)}}})",
            f"frozenset(['q', {self.a_text(0)}])",
        )

    def make_row(self, depth: int) -> str:
        """Returns an array of floats with an entry at least."""
        found = self.var("row")
        if depth <= 0 or self.random.random() < 0.3:
            return found or f"np.array([{self.a_float(0)}, {self.an_int(0)}])"
        more, a, v = self.a_row(depth - 1), self.an_int(depth - 1), self.a_float(depth - 1)
        return self.pick(
            f"np.array([{v}, {a}, 0.5])",
            f"np.zeros({self.pick('2', '3')})",
            f"np.ones(2) * {a}",
            f"np.full(2, {v})",
            f"({more} + {self.pick(a, v, more)})",
            f"({more} * {self.pick('2', '0.5', '-1')})",
            f"({self.an_array(depth - 1)} / 4)",
            f"{self.an_array(depth - 1)}.astype(float)",
            f"np.array({self.a_list(depth - 1)}, dtype=float)",
            f"np.where({more} > {v}, {more}, {a})",
            f"np.clip({more}, {self.pick('-1', '-0.5')}, {self.pick('2', '1.5')})",
            f"np.{self.pick('maximum', 'minimum')}({more}, {a})",
            f"np.{self.pick('cumsum', 'sort', 'abs', 'unique', 'floor', 'round', 'diff')}"
            f"(np.append({more}, {a}))",
            f"np.append({more}, {a})",
            f"np.concatenate([{more}, {self.an_array(depth - 1)}])",
            f"{more}[::-1]",
            f"np.linspace(0, 1, {self.pick('2', '3', '5')})",
            f"np.arange(0, {self.pick('1', '2')}, 0.5)",
            f"np.eye(2)[{a} % 2]",
            f"np.array([[1, 0.5], [{a}, {v}]]) @ np.array([1, {a}])",
            f"np.array([[1, 0.5], [{a}, {v}]]).{self.pick('sum(axis=0)', 'T[0]', 'ravel()')}",
            f"np.repeat({more}, 2)",
        )

    def int_name(self) -> str:
        return self.var("int") or "7"

    def float_name(self) -> str:
        return self.var("float") or "0.25"

    def make_array(self, depth: int) -> str:
        """Returns an array of whole numbers with an entry at least."""
        found = self.var("array")
        if depth <= 0 or self.random.random() < 0.3:
            return found or f"np.array({self.a_list(0)})"
        more, a = self.an_array(depth - 1), self.an_int(depth - 1)
        options = [
            f"np.array({self.a_list(depth - 1)})",
            f"({more} + {a})",
            f"({more} * {self.pick('2', '-1')})",
            f"({more} % 3)",
            f"np.where({more} > {a}, {more}, -1)",
            f"np.clip({more}, -2, {self.pick('3', '4')})",
            f"np.cumsum({more})",
            f"np.arange({a} % 3 + 1)",
            "np.zeros(3, dtype=int)",
            f"np.append({more}, {a})",
            f"np.concatenate([{more}, {more}])",
            f"{more}[::-1]",
            f"np.sort({more})",
            f"abs({more})",
            f"({more} > {a}).astype(int)",
            f"np.full(2, {a})",
            f"np.maximum({more}, {a})",
            f"np.eye(2, dtype=int)[{a} % 2]",
            f"np.array([[1, 2], [3, {a}]]).{self.pick('sum(axis=0)', 'T[0]', 'ravel()', 'sum(axis=1)', 'diagonal()')}",
            f"np.bincount([1, {a} % 3])",
            f"np.repeat({more}, 2)",
        ]
        if self.can_draw(4):
            options += 2 * [
                "\x01draw,4\x02np.random.randint(0, 2, size=2)",
                f"\x01draw,4\x02(np.random.rand(2) < {self.share()}).astype(int)",
                "\x01draw,4\x02np.random.choice([3, 1, 4, 1], size=1)",
                f"\x01draw,4\x02np.where(np.random.random(2) < {self.share()}, 5, 6)",
                "\x01draw,4\x02np.random.binomial(1, 0.5, size=2)",
                "\x01draw,4\x02np.random.permutation(2)",
            ]
        return self.random.choice(options)

    # --- statements ----------------------------------------------------------------------------------

    def statements(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    def assign(self) -> None:
        kind = self.random.choice(
            ["int"] * 5
            + ["bool", "float", "list", "list", "set", "dict", "text", "array", "row", "labels", "option"]
        )
        self.bind(kind)

    def bind(self, kind: str) -> str:
        if kind == "option":
            value = f"{self.an_int(1)} if {self.a_bool(1)} else None"
        else:
            value = f"\x01{kind},{2 if kind in ('int', 'bool', 'float', 'list') else 1}\x02"
        name = self.name(kind)
        note = ": int" if kind == "int" and self.random.random() < 0.1 else ""
        self.line(f"{name}{note} = {value}")
        if kind == "dict" and self.random.random() < 0.5:
            self.line(f"{name}[{self.an_int(0)}] = {self.an_int(1)}")
        return name

    def statement(self) -> None:
        options: list[Callable[[], None]] = [
            *[self.assign] * 6,
            *[self.augmented] * 2,
            *[self.unpack] * 2,
            *[self.branch] * 3,
            *[self.loop] * 3,
            *[self.mutate] * 3,
            self.attempt,
            self.match,
            self.local_function,
            self.generator,
            self.uniform,
            self.objects,
            self.array_change,
            self.row_change,
            self.order,
            self.early,
            self.alias,
        ]
        if self.depth > 3:
            options = [self.assign, self.augmented, self.mutate]
        self.random.choice(options)()

    def augmented(self) -> None:
        name = self.var("int")
        if name is None:
            self.assign()
            return
        op = self.pick("+=", "-=", "|=", "^=", "//= 2 +", "%= 3 +", "&=", "*=")
        value = self.an_int(1) if op[0] not in "/%" else "1"
        self.line(f"{name} {op} {value}" if op != "*=" else f"{name} *= {self.pick('2', '-1', '3')}")

    def unpack(self) -> None:
        form = self.random.randrange(6)
        if form == 0:
            value = f"{self.an_int(1)}, {self.an_int(1)}"
            self.line(f"{self.name('int')}, {self.name('int')} = {value}")
        elif form == 1:
            value = self.a_list(1)
            self.line(f"{self.name('int')}, *{self.name('list')} = {value}")
        elif form == 2:
            value = f"({self.an_int(1)}, {self.a_bool(0)}), {self.an_int(0)}"
            self.line(f"({self.name('int')}, {self.name('bool')}), {self.name('int')} = {value}")
        elif form == 3 and len(self.known.get("int", [])) > 1:
            a, b = self.random.sample(self.known["int"], 2)
            self.line(f"{a}, {b} = {b}, {a}")
        elif form == 4:
            value = f"[*{self.a_list(1)}, {self.an_int(0)}, 1]"
            self.line(f"*{self.name('list')}, {self.name('int')}, {self.name('int')} = {value}")
        else:
            value = self.an_int(1)
            self.line(f"{self.name('int')} = {self.name('int')} = {value}")

    def branch(self) -> None:
        condition = self.a_bool(2)
        if self.random.random() < 0.15:
            value = self.an_int(1)
            condition = f"({self.name('int')} := {value}) > {self.small()}"
        self.line(f"if {condition}:")
        self.block(lambda: self.statements(self.random.randint(1, 2)))
        if self.random.random() < 0.3:
            self.line(f"elif {self.a_bool(1)}:")
            self.block(lambda: self.statements(1))
        if self.random.random() < 0.6:
            self.line("else:")
            self.block(lambda: self.statements(self.random.randint(1, 2)))

    def loop(self) -> None:
        n = self.random.randint(1, 3)
        before = self.repeats
        form = self.random.randrange(8)
        total = None
        if self.random.random() < 0.5:
            total = self.name("int")
            self.line(f"{total} = {self.small()}")
        head, names = "", [("int", self.name("int"))]
        one = names[0][1]
        items = f"{self.a_list(1)}[:{n}]"
        if form == 0:
            head = f"for {one} in range({n}):"
        elif form == 1:
            names.append(("int", self.name("int")))
            head = f"for {one}, {names[1][1]} in enumerate({items}):"
        elif form == 2:
            names.append(("int", self.name("int")))
            head = f"for {one}, {names[1][1]} in zip({items}, {self.a_list(1)}):"
        elif form == 3:
            head = f"for {one} in {self.pick('sorted', 'reversed', 'list', 'tuple')}({items}):"
        elif form == 4:
            names.append(("int", self.name("int")))
            head = f"for {one}, {names[1][1]} in list({self.a_dict(1)}.items())[:{n}]:"
        elif form == 5:
            self.line(f"{one} = 0")
            head = f"while {one} < {n}{self.pick('', f' and {self.an_int(0)} < 50', f' or {one} < 1')}:"
        elif form == 6:
            head = f"for {one} in upto({n}):"
        else:
            head = f"for {one} in {self.an_array(1)}[:{n}].tolist():"
        self.line(head)
        if form == 5:
            self.known["int"].remove(one)  # nothing else changes it, so that the loop ends
        self.repeats = before * n
        self.in_loop += 1

        def body() -> None:
            if form == 5:
                self.line(f"{one} += 1")
            if total and self.random.random() < 0.7:
                self.line(f"{total} = {total} {self.pick('+', '-', '^')} {self.an_int(1)}")
            self.statements(self.random.randint(0 if total else 1, 2))
            if self.random.random() < 0.4:
                self.line(f"if {self.a_bool(1)}:")
                self.block(lambda: self.line(self.pick("break", "continue")))
                if self.random.random() < 0.5 and total:
                    self.line(f"{total} += 1")

        self.block(body)
        self.in_loop -= 1
        self.repeats = before
        for kind, name in names:
            if form not in (0, 5):
                self.known[kind].remove(name)
        if self.random.random() < 0.3:
            self.line("else:")
            self.block(lambda: self.statements(1))

    def mutate(self) -> None:
        kind = self.pick("list", "list", "set", "dict")
        name = self.var(kind) or self.bind(kind)
        a = self.an_int(1)
        if kind == "list":
            name_list = name
            text = self.pick(
                f"{name}.append({a})",
                f"{name}.extend({self.a_list(1)})",
                f"{name}.insert({self.small()}, {a})",
                f"{name}.sort(key=lambda v: -v)",
                f"{name}.reverse()",
                f"{name} += [{a}]",
                f"{name}[:1] = [{a}, 0]",
                f"if {name}:\n    {name}[-1] = {a}",
                f"if {name}:\n    {name}[0] += {a}",
                f"if len({name}) > 1:\n    del {name}[0]",
                f"if {name}:\n    {name}.pop({self.pick('', '0', '-1')})",
                f"if {a} in {name}:\n    {name}.remove({self.small()}) if {self.small()} in {name} else None",
                f"\x01draw,2\x02random.shuffle({name}[:2])" if self.can_draw(2) else f"{name}.append(1)",
                f"{name_list}[:] = [v for v in {name} if v != {self.small()}]",
            )
        elif kind == "set":
            text = self.pick(
                f"{name} = {name} | {{{a}}}",
                f"{name} = set({name}); {name}.add({a})",
                f"{name} = {name} - {{{a}}}",
            )
        else:
            text = self.pick(
                f"{name}[{self.an_int(0)}] = {a}",
                f"{name}.setdefault({self.an_int(0)}, {a})",
                f"{name}.update({{{self.an_int(0)}: {a}}})",
                f"{name}[{a}] = {name}.get({a}, 0) + 1",
                f"if len({name}) > 1:\n    {name}.pop(next(iter({name})))",
            )
        self.line(text)

    def attempt(self) -> None:
        name = self.name("int")
        a = self.an_int(1)
        risky = self.pick(
            f"{name} = 10 // ({a} % 3)",
            f"{name} = 8 % ({a} % 2)",
            f"{name} = {self.a_list(1)}[{a}]",
            f"{name} = {self.a_dict(1)}[{a}]",
            f"{name} = int({self.a_text(1)})",
            f"{name} = {self.a_list(1)}.index({a})",
            f"{name} = next(iter([{self.an_int(0)}][{a} % 2:]))",
            f"{name} = int(1 / ({a} % 2))",
            f"{name}, _ = {self.a_list(1)}",
            f"if {self.a_bool(1)}:\n    raise ValueError('no', {self.small()})\n{name} = {a}",
            f"if {self.a_bool(1)}:\n    raise KeyError({a})\n{name} = {a}",
            f"assert {self.a_bool(1)}, 'bad'\n{name} = 1"
            if self.random.random() < 0.15
            else f"assert True\n{name} = {a}",
            f"{name} = random.choice([][{a} % 2:])"
            if self.random.random() < 0.3
            else f"{name} = math.sqrt(-4 * ({a} % 2))",
            f"{name} = max([][:{a} % 3])",
            f"{name} = (5).__floordiv__({a} % 2)",
            f"{name} = chr({a} - 9)",
            f"{name} = Color({a}).value",
            f"{name} = 1 << ({a} - 2)",
            f"with Counter({a}) as c{name}:\n    {name} = c{name}.value\n    if {self.a_bool(0)}:\n        raise KeyError('k')\n{name} = c{name}.value",
        )
        caught = self.pick(
            "except (ZeroDivisionError, LookupError, ValueError, StopIteration, OverflowError):",
            "except Exception:",
            "except Exception as error:",
            "except (ValueError, KeyError, StopIteration):",
            "except ArithmeticError:",
        )
        handled = f"{name} = {self.small()}"
        if "as error" in caught and self.random.random() < 0.6:
            handled = f"{name} = len(type(error).__name__) + len(error.args)"
        elif self.random.random() < 0.15:
            handled = "raise"
        parts = ["try:", *(f"    {part}" for part in risky.split("\n")), caught, f"    {handled}"]
        if self.random.random() < 0.3:
            parts += ["else:", f"    {name} = {name} + 100"]
        if self.random.random() < 0.3:
            parts += ["finally:", "    pass"]
        self.line("\n".join(parts))

    def match(self) -> None:
        name = self.name("int")
        subject = self.pick(
            self.an_int(1),
            f"({self.an_int(1)}, {self.an_int(1)})",
            self.a_list(1),
            f"Point({self.an_int(1)}, {self.an_int(0)})",
            f"Color({self.an_int(0)} % 2 + 1)",
        )
        self.line(f"{name} = 0")
        self.line(
            f"match {subject}:\n    case 0 | 1:\n        {name} = 1\n    case (0, v) if v > 1:\n        {name} = v\n"
            f"    case [v, *rest] if len(rest) > 1:\n        {name} = v + len(rest)\n    case Point(x=0, y=w):\n"
            f"        {name} = w + 50\n    case Color.RED:\n        {name} = 77\n    case _:\n        {name} = {self.small()}"
        )

    def local_function(self) -> None:
        function, n = self.name("function"), self.name("int")
        form = self.random.randrange(5)
        if form == 0:
            self.line(f"{n} = {self.an_int(1)}")
            self.line(
                f"def {function}(k, by={self.an_int(1)}):\n    nonlocal_value = k + by\n    return nonlocal_value + {n}"
            )
            self.line(f"{n} = {n} + {function}({self.small()}) - {function}(1, by={self.small()})")
        elif form == 1:
            self.line(f"{n} = 0\ndef {function}(by=1):\n    nonlocal {n}\n    {n} += by\n    return {n}")
            self.line(f"{function}()\n{function}({self.an_int(1)})")
        elif form == 2:
            self.line(
                f"{function}s = [lambda: k * {self.small()} for k in range(3)]\n{n} = sum(g() for g in {function}s)"
            )
        elif form == 3:
            self.line(
                f"{function} = lambda *v, **w: len(v) * 10 + sum(w.values())\n{n} = {function}(*{self.a_list(1)}, k={self.an_int(0)})"
            )
        else:
            depth = self.pick("2", "3")
            self.line(
                f"def {function}(k):\n    return {self.an_int(0)} if k <= 0 else {function}(k - 1) + k\n{n} = {function}({depth})"
            )

    def generator(self) -> None:
        source, n = self.name("iterator"), self.name("int")
        made = self.pick(
            f"(v * 2 for v in {self.a_list(1)})",
            f"upto({self.small()} % 3)",
            f"iter({self.a_list(1)})",
            "zip([1, 2], [3])",
            "map(len, [[1], []])",
            "chained(1)",
        )
        self.line(f"{source} = {made}")
        if "zip" in self.lines[-1]:
            self.line(f"{n} = sum(a * b for a, b in {source}) + len(list({source}))")
        else:
            self.line(f"{n} = next({source}, -1) + sum({source}) + sum({source})")

    def uniform(self) -> None:
        if not self.may_draw(3):
            self.assign()
            return
        u, n = self.name("uniform"), self.name("int")
        draw = self.pick(
            "random.random()", "np.random.rand()", "random.uniform(0, 1)", "np.random.uniform(0, 1)"
        )
        if self.rng and self.random.random() < 0.4:
            draw = "rng.random()"
        self.line(f"{u} = {draw}")
        p, q = self.share(), self.share()
        self.line(
            self.pick(
                f"{n} = 0 if {u} < {p} else 1 if {u} < {q} else 2",
                f"{n} = int({u} < {p}) + ({u} > {q})",
                f"{n} = int({u} * 2) + 10 * int({u} * 3)",
                f"{n} = 1 if {p} < {u} <= {q} else 0",
                f"{n} = sum({u} >= c for c in [{p}, {q}])",
                f"{n} = next((k for k, c in enumerate([{p}, {q}]) if {u} <= c), 2)",
                f"{n} = round(3 * {u} - 1)",
                f"{n} = 5 if abs({u} - 0.5) < {self.pick('0.25', '0.125')} else -5",
                f"{n} = int({u} < max({p}, {q}))",
                f"{n} = int(np.searchsorted([0.25, 0.5, 0.75], {u}))",
                f"{n} = bisect.bisect([0.25, 0.5], {u})",
                f"{n} = next(k for k, c in enumerate(itertools.accumulate([0.25, 0.5, 0.25])) if {u} < c)",
                f"{n} = int({u} * 4) % 3 + int(4 * {u}) // 2",
                f"{n} = sorted([{u}, 0.5, 0.75]).index(0.5)",
                f"{n} = [{u} < c for c in ({p}, {q}, 0.5)].count(True)",
                f"{n} = int(-2 * {u}) - math.floor({u} - 0.25)",
                f"{n} = {{True: 1, False: 2}}[{u} < {p}] + (({u} < {q}) is True)",
                f"{n} = (lambda v: int(v < {p}) if v < 0.5 else -int(v > {q}))({u})",
                f"{n} = 0\nwhile {u} < 1 and {n} < 2:\n    {u} *= 2\n    {n} += 1",
                f"{n} = 0\nfor c in (0.25, 0.5, 0.25):\n    {u} -= c\n    if {u} <= 0:\n        break\n    {n} += 1",
            )
        )

    def objects(self) -> None:
        name, n = self.name("object"), self.name("int")
        a = self.an_int(1)
        self.line(
            self.pick(
                f"{name} = Counter({a})\n{name} += {self.small()}\n{name}.value -= 1\n{n} = {name}.value + len({name})",
                f"{name} = Fast({a})\n{name}.extra = {self.small()}\n{n} = {name}.extra + {name}(2)",
                f"{name} = Card({a}, [1])\n{name}.tags.append({self.small()})\n{name}.tags[0] += 1\n{n} = {name}.rank + sum({name}.tags)",
                f"{name} = [Point({a}), Point(1, 1)]\n{n} = sum(p.total for p in {name})",
                f"{name} = Counter.large()\n{n} = {name}.value\nwith {name} as other:\n    {n} += other.value\n{n} += {name}.value",
                f"{name} = {{Point({a}): 1, Point(0): 2}}\n{n} = {name}.get(Point(0), 5)",
                f"{name} = Pair({a}, [])\n{name}.right.append(3)\n{n}, {name}list = {name}\n{n} += {name}list[0]",
                f"{name} = [[0] * 2] * 2\n{name}[0][1] = {a}\n{n} = {name}[1][1]",
                f"{name} = [[0] * 2 for _ in range(2)]\n{name}[0][1] = {a}\n{n} = {name}[1][1] + {name}[0][1]",
                f"{name} = Level({self.pick('0', '2')})\n{n} = {name} + ({name} is Level.LOW)",
            )
        )

    def array_change(self) -> None:
        name = self.var("array") or self.bind("array")
        a = self.an_int(1)
        self.line(
            self.pick(
                f"{name} = {name}.copy()\n{name}[0] = {a}",
                f"{name} = {name} + 0\n{name}[{name} > {self.small()}] = {a}",
                f"{name} = {name} + 0\n{name} += {a}",
                f"{name} = {name}[{name} % 2 == 0]\nif not len({name}):\n    {name} = np.array([{a}])",
                f"{name} = {name} + 0\n{name}[-1] -= {a}",
                f"{name} = np.array(sorted({name}.tolist(), reverse=True))",
                f"\x01draw,2\x02{name} = {name} + 0\nnp.random.shuffle({name}[:2])"
                if self.can_draw(2)
                else f"{name} = -{name}",
            )
        )

    def row_change(self) -> None:
        name = self.bind("row")
        a, v = self.an_int(1), self.a_float(1)
        self.line(
            self.pick(
                f"{name} = {name} + 0\n{name}[0] = {self.pick(a, v, self.a_bool(1))}",
                f"{name} = {name} * 1\n{name}[{name} > {v}] = {a}",
                f"{name} = {name}.copy()\n{name} += {self.pick(a, v)}",
                f"{name} = np.zeros(2)\n{name}[:] = {a}\n{name}[-1] -= {v}",
                f"{name} = np.zeros(2, dtype=int)\n{name}[0] = {v}\n{name}[1] += {a}",
                f"{name} = np.zeros(3)\nfor k, w in enumerate([{a}, {v}]):\n    {name}[k] = w",
                f"same = {name}\nsame[0] = {a}",
                f"view = {name}[:1]\nview[0] = {a}",
                f"{name} = np.zeros(2)\n{name}.fill({a})",
                f"{name} = np.empty(1)\n{name}[0], {name}[-1] = {v}, {a}",
            )
        )

    def order(self) -> None:
        """Writes what shows in which order things are evaluated."""
        seen = self.name("list")
        a, b = self.an_int(1), self.an_int(0)
        note = f"def note_{seen}(v):\n    {seen}.append(v)\n    return v"
        call = f"note_{seen}"
        self.line(f"{seen} = [0]\n{note}")
        n = self.name("int")
        self.line(
            self.pick(
                f"{n} = int({call}(1) < {call}({a}) < {call}({b}))",
                f"{n} = ({call}({a}) and {call}({b})) or {call}(3)",
                f"{n} = {call}({a}) - {call}({b}) * {call}(2)",
                f"{n} = any({call}(v) for v in [0, {a}, {b}]) + all({call}(v) for v in [1, {a}])",
                f"{n}, {seen}[{call}(0)] = {call}({a}), {call}({b})",
                f"{seen}[{call}(0)] += {call}({a})\n{n} = len({seen})",
                f"{n} = scaled({call}({a}), b={call}({b}), **{{'w': {call}(1)}})",
                f"{n} = len({{{call}(1): {call}({a}), {call}(2): {call}({b})}})",
                f"{n} = {call}({a}) if {call}({b}) else {call}(7)",
                f"{n} = max([{call}({a}), {call}({b})], key=lambda v: -abs({call}(v)))",
                f"{n} = [{call}(k) for k in range(3) if {call}(k) != {b}][-1]",
            )
        )

    def early(self) -> None:
        self.line(f"if {self.a_bool(2)}:")
        self.depth += 1
        if self.random.random() < 0.15:
            self.line(
                f"raise {self.pick('ValueError', 'RuntimeError', 'KeyError')}({self.pick(self.an_int(0), repr('stopped'))})"
            )
        else:
            self.line(f"return {self.result()}")
        self.depth -= 1

    def alias(self) -> None:
        name = self.var("list") or self.bind("list")
        other, n = self.name("list"), self.name("bool")
        self.line(
            f"{other} = {self.pick(name, f'list({name})', f'{name}[:]')}\n{name}.append({self.an_int(1)})\n{n} = {other} is {name}"
        )

    def result(self) -> str:
        kinds = ["int"] * 5 + ["bool", "float", "list", "text", "set", "dict", "array", "row", "labels"]

        def one() -> str:
            kind = self.random.choice(kinds)
            found = self.var(kind)
            if found and self.random.random() < 0.7:
                return found
            return f"\x01{kind},1\x02"

        form = self.random.randrange(12)
        kept = ("int", "bool", "float", "list", "text", "set", "dict", "array", "row", "labels", "option")
        names = [n for kind in kept for n in self.known.get(kind, []) if n not in ("x", "y")]
        if form > 8 and len(names) > 1:
            return ", ".join(self.random.sample(names, min(4, len(names))))
        if form < 3:
            return one()
        if form < 5:
            return f"({one()}, {one()})"
        if form == 6:
            return f"[{one()}, {one()}, {self.an_int(0)}]"
        return self.pick(
            f"{{'a': {one()}, 'b': {self.an_int(0)}}}",
            f"Point({self.an_int(1)})",
            f"Pair({one()}, {self.an_int(0)})",
            f"Color({self.an_int(0)} % 2 + 1)",
            f"{self.an_int(1)} / {self.pick('3', '7', '-6')}",
            f"0.1 + {self.an_int(1)}",
            f"({self.var('option') or 'None'}, {self.an_int(0)})",
            f"[{one()} for _ in range(2)]",
            f"(v for v in {self.a_list(1)})",
            f"round({self.a_float(1)}, 1)",
        )


def random_function(seed: int) -> tuple[str, str]:
    """Returns the source of a module with a function f(x, y), and its argument for a generator."""
    writer = Writer(seed)
    writer.rng = writer.random.random() < 0.3
    writer.known = {"int": ["x", "y"]}
    head = f"def f(x, y=2{', *, rng' if writer.rng else ''}):"
    writer.statements(writer.random.randint(2, 6))
    writer.line(f"return {writer.result()}")
    return PREAMBLE + "\n".join([head, *writer.lines]) + "\n", "rng" if writer.rng else ""
