"""Programs by plain enumeration: Python runs the same text once for each outcome of its draws."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring, value_at
from paramverify.models.context import Checks
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import outputs_of
from paramverify.models.programs.run_states import Unread

Distribution = dict[tuple[Hashable, ...], Fraction]


MOST_RUNS = 300_000  # of one program


class _Stopped(Exception):
    pass


class TooManyRunsError(Exception):
    """A program has more outcomes than are enumerated."""


class Oracle:
    """Runs a text as Python, once for each outcome; noise is cut off at `reach`, where its weight is tiny."""

    def __init__(self, alpha: Fraction, reach: int) -> None:
        self.alpha = alpha
        self.reach = reach
        self.script: list[int] = []
        self.place = 0
        self.weight = Fraction(1)
        self.pending: list[list[int]] = []
        self.told: list[Hashable] = []

    def distribution(self, text: str, given: Mapping[str, Any]) -> Distribution:
        """Returns the probability of each sequence of outputs; TooManyRunsError where they are very many."""
        code = compile(re.sub(r"\bstop\b", "_stop()", text), "program", "exec")
        found: Distribution = {}
        self.pending = [[]]
        runs = 0
        while self.pending:
            runs += 1
            if runs > MOST_RUNS:
                raise TooManyRunsError
            self.script = self.pending.pop()
            self.place, self.weight, self.told = 0, Fraction(1), []
            names = {"__builtins__": {}, **self.words(), **{k: _copied(v) for k, v in given.items()}}
            with suppress(_Stopped):
                exec(code, names)
            what = tuple(self.told)
            found[what] = found.get(what, Fraction(0)) + self.weight
        return found

    def words(self) -> dict[str, Any]:
        a, most = self.alpha, self.reach
        share = (1 - a) / (1 + a)
        return {
            **{"len": len, "abs": abs, "min": min, "max": max, "sum": sum, "range": range},
            "clamp": lambda x, low, high: min(max(x, low), high),
            "flip": lambda p: self.pick([(True, Fraction(p)), (False, 1 - Fraction(p))]),
            "uniform": lambda low, high: self.pick(
                [(k, Fraction(1, high - low + 1)) for k in range(low, high + 1)]
            ),
            "choice": lambda table: self.pick([(k, Fraction(p)) for k, p in table.items()]),
            "binomial": lambda n, p: self.pick(
                [(k, math.comb(n, k) * Fraction(p) ** k * (1 - Fraction(p)) ** (n - k)) for k in range(n + 1)]
            ),
            "geometric": lambda _: self.pick([(k, share * a ** abs(k)) for k in range(-most, most + 1)]),
            "one_sided_geometric": lambda _: self.pick([(k, (1 - a) * a**k) for k in range(most + 1)]),
            "output": lambda value: self.told.append(labelled(value)),
            "_stop": self.stop,
            "a": a,
        }

    def stop(self) -> None:
        raise _Stopped

    def pick(self, outcomes: list[tuple[Any, Fraction]]) -> Any:
        outcomes = [o for o in outcomes if o[1]]
        if self.place == len(self.script):
            self.pending += [[*self.script, k] for k in range(1, len(outcomes))]
            self.script = [*self.script, 0]
        value, share = outcomes[self.script[self.place]]
        self.place += 1
        self.weight *= share
        return value


def _copied(value: Any) -> Any:
    return [_copied(v) for v in value] if isinstance(value, (list, tuple)) else value


def labelled(value: Any) -> Hashable:
    """Returns an output as data in which True is not 1, and a list is a list when it is told."""
    if isinstance(value, (list, tuple)):
        return ("list", *map(labelled, value))
    if isinstance(value, (bool, str)):
        return (type(value).__name__, value)
    return ("number", Fraction(value))


def proved(
    text: str, inputs: Sequence[Sequence[int]], point: Mapping[str, Fraction], scalars: Mapping[str, int] = {}
) -> list[Distribution]:
    """Returns what the package says about a program of an array `q`, on each input, at one point."""
    ring = Ring(tuple(point))
    checks = Checks(box_domain(ring, {name: Interval(Fraction(0), Fraction(1)) for name in point}))
    places = tuple(map(Unread, range(len(inputs[0]))))
    rows = outputs_of(
        read_program(text),
        {"q": places, **{k: Fraction(v) for k, v in scalars.items()}},
        [tuple(map(Fraction, given)) for given in inputs],
        checks,
    )
    found: list[Distribution] = []
    for row in rows:
        shares: Distribution = {}
        for outputs, share in row:
            what = tuple(map(labelled, outputs))
            assert what not in shares
            shares[what] = value_at(share.numerator, point) / value_at(share.denominator, point)
        found.append({what: share for what, share in shares.items() if share})
    return found


class Maker:
    """Writes random programs of an array `q` with two entries; `noise` allows unbounded geometric noise."""

    def __init__(self, seed: int, noise: bool) -> None:
        self.random = random.Random(seed)
        self.noise = noise
        self.draws = 0
        self.count = 0
        self.lines: list[str] = []
        self.kinds: dict[str, str] = {"n": "plain"}  # of variables: plain, noisy, list
        self.arrays: list[str] = ["q"]
        self.functions: list[str] = []
        self.in_function = False

    def text(self) -> str:
        """Returns a program."""
        if self.random.random() < 0.5:
            self.function()
        self.lines += ["n = 0"]
        for _ in range(2):
            self.block(0, 0)
        self.lines.append(f"output({self.plain()})")
        return "\n".join(self.lines)

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def of(self, kind: str) -> list[str]:
        return [name for name, known in self.kinds.items() if known == kind]

    def function(self) -> None:
        outside, arrays = self.kinds, self.arrays
        self.kinds, self.arrays, self.in_function = {"x": "plain", "y": "plain"}, [], True
        self.lines.append("def f(x, y):")
        self.block(1, 1)
        self.lines.append(f"    return {self.plain()}")
        self.kinds, self.arrays, self.in_function = outside, arrays, False
        self.functions.append("f")

    def plain(self, depth: int = 0) -> str:
        """Returns an expression without noise."""
        r, c = self.random, self.random.random()
        if c < 0.3:
            return str(r.randint(-2, 3))
        if c < 0.55:
            return r.choice(self.of("plain"))
        if c < 0.62 and self.arrays:
            return f"{r.choice(self.arrays)}[{r.choice([0, 1, -1, -2])}]"
        if depth > 2:
            return "1"
        inner, other = self.plain(depth + 1), self.plain(depth + 1)
        if r.random() < 0.1:
            return f"({inner} if {self.condition(depth + 1)} else {other})"
        if r.random() < 0.1:
            return f"({self.condition(depth + 1)}) * 1"
        forms = [
            *(f"({inner} {word} {other})" for word in ("+", "-", "*", "and", "or")),
            f"({inner} // 2)",
            f"({inner} % 3)",
            f"({inner} % -2)",
            f"max({inner}, {other})",
            f"min([{inner}, {other}])",
            f"abs({inner})",
            f"(-{inner})",
            f"clamp({inner}, -1, 2)",
            f"[{inner}, {other}][{r.choice([0, 1, -1])}]",
        ]
        if self.arrays:
            name = r.choice(self.arrays)
            forms += [f"len({name})", f"sum({name})", f"max({name})", f"sum({name}[1:])", f"len({name}[:-1])"]
        return r.choice(forms)

    def noisy(self, depth: int = 0) -> str:
        """Returns an expression that may have noise."""
        r, names, c = self.random, self.of("noisy"), self.random.random()
        if not names or c < 0.1:
            return self.plain(depth)
        name = r.choice(names)
        if r.random() < 0.5:
            return name
        plain = self.plain(2)
        forms = [f"({name} + {plain})", f"({name} - {plain})", f"(0 - {name})"]
        forms += [f"max({name}, {plain})", f"min({plain}, {name})", f"abs({name})"]
        return r.choice(forms)

    def condition(self, depth: int = 0) -> str:
        r, c = self.random, self.random.random()
        if depth < 2 and c < 0.2:
            return f"({self.condition(depth + 1)} {r.choice(['and', 'or'])} {self.condition(depth + 1)})"
        if depth < 2 and c < 0.26:
            return f"(not {self.condition(depth + 1)})"
        word = r.choice(["<", "<=", ">", ">=", "==", "!="])
        if self.noise and c < 0.8:
            return f"{self.noisy(depth)} {word} {self.noisy(depth)}"
        if c < 0.9:
            return f"{self.plain(depth)} {word} {self.plain(depth)}"
        if c < 0.95:
            return f"0 <= {r.choice(self.of('plain'))} {word} {self.plain(2)}"
        return f"{self.plain(depth)} in [0, {self.plain(depth)}]"

    def draw(self) -> tuple[str, str]:
        r = self.random
        if self.draws >= 3:
            return "plain", self.plain()
        self.draws += 1
        if self.noise and r.random() < 0.8:
            kind = r.choice(["geometric(a)", "geometric(a)", "one_sided_geometric(a)"])
            return "noisy", kind + r.choice(["", f" + {self.plain(2)}"])
        forms = ["uniform(0, 2)", "flip(1/4) * 1", "choice({0: 1/2, 3: 1/4, -1: 1/4})", "binomial(2, 1/4)"]
        return "plain", r.choice(forms)

    def block(self, indent: int, depth: int) -> None:
        kinds, arrays = dict(self.kinds), list(self.arrays)
        for _ in range(self.random.randint(1, 3)):
            self.statement("    " * indent, indent, depth)
        self.kinds = {k: v for k, v in self.kinds.items() if k in kinds}
        self.arrays = [name for name in self.arrays if name in arrays]

    def statement(self, margin: str, indent: int, depth: int) -> None:
        r, c = self.random, self.random.random()
        if c < 0.3:
            kind, value = self.draw()
            name = self.new()
            self.lines.append(f"{margin}{name} = {value}")
            self.kinds[name] = kind
        elif c < 0.42:
            noisy = self.noise and r.random() < 0.5
            name = self.new()
            self.lines.append(f"{margin}{name} = {self.noisy() if noisy else self.plain()}")
            self.kinds[name] = "noisy" if noisy else "plain"
        elif c < 0.56 and depth < 2:
            self.lines.append(f"{margin}if {self.condition()}:")
            self.block(indent + 1, depth + 1)
            if r.random() < 0.6:
                self.lines.append(f"{margin}else:")
                self.block(indent + 1, depth + 1)
        elif c < 0.64 and depth < 2:
            self.loop(margin, indent, depth)
        elif c < 0.76:
            self.listing(margin)
        elif c < 0.82 and self.functions and not self.in_function:
            name = self.new()
            self.lines.append(f"{margin}{name} = f({self.plain()}, {self.plain()})")
            self.kinds[name] = "plain"
        elif c < 0.9 or self.in_function:
            names = self.of("noisy")
            if names and self.noise:
                self.lines.append(f"{margin}{r.choice(names)} = {self.noisy()}")
            else:
                word = r.choice(["=", "+=", "-="])
                self.lines.append(f"{margin}{r.choice(self.of('plain'))} {word} {self.plain()}")
        elif c < 0.92 and indent:
            self.lines.append(f"{margin}stop")
        elif self.noise and r.random() < 0.3:
            self.lines.append(f"{margin}output(clamp({self.noisy()}, -1, 1))")
        else:
            plain, what = self.plain(), r.random()
            value = plain if what < 0.6 else f"[{plain}, 1]" if what < 0.8 else self.condition(1)
            self.lines.append(f"{margin}output({value})")

    def loop(self, margin: str, indent: int, depth: int) -> None:
        r, name, draws = self.random, self.new(), self.draws
        self.draws = 9
        if r.random() < 0.7:
            values = r.choice(["range(2)", "range(2, 0, -1)", "(1, 0)", *self.arrays[:1]])
            self.lines.append(f"{margin}for {name} in {values}:")
        else:
            self.lines += [f"{margin}{name} = 0", f"{margin}while {name} < 2 and {self.condition(1)}:"]
            self.lines.append(f"{margin}    {name} = {name} + 1")
        self.kinds[name] = "loop"  # read by nothing that may change it
        self.block(indent + 1, depth + 1)
        if r.random() < 0.3:
            words = ["break", "continue"] + ["stop"] * (not self.in_function)
            self.lines.append(f"{margin}    if {self.condition()}: {r.choice(words)}")
        self.draws = draws

    def listing(self, margin: str) -> None:
        """Makes a list, makes it longer, or changes an entry."""
        r = self.random
        own = [name for name in self.arrays if name != "q"]
        if not own or r.random() < 0.4:
            name = self.new()
            forms = [f"[{self.plain()}, {self.plain()}]", f"[{self.plain()}] * 2"]
            self.lines.append(f"{margin}{name} = {r.choice(forms)}")
            self.arrays.append(name)
            return
        name = r.choice(own)
        forms = [
            f"{name} = {name} + [{self.plain()}]",
            f"{name}[{r.choice([0, 1, -1])}] = {self.plain()}",
            f"{name}[{r.choice([0, 1, -1])}] += {self.plain()}",
        ]
        self.lines.append(f"{margin}{r.choice(forms)}")


def programs(seed: int, count: int, noise: bool) -> Iterator[tuple[int, str]]:
    """Yields programs with their seeds."""
    for k in range(seed, seed + count):
        yield k, Maker(k, noise).text()
