"""Programs that put out numbers with noise: random ones, and what their observations have to be.

An observation is a set of outputs. It is right if its weight is the sum of the weights of these, and if the
weights of any two of them have the same ratio under all inputs.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

from program_oracle import Distribution, Oracle, labelled

from paramverify.models.programs.run_states import OutputInterval, Put

Observation = tuple[Hashable, ...]  # as `labelled` gives it, with ranges as they are
Table = list[dict[Observation, Fraction]]  # by input

NOISES = ("geometric(1/4)", "geometric(1/4)", "one_sided_geometric(1/4)")


class NumericMaker:
    """Writes random programs of an array `q` with two entries; the noise has the ratio 1/4, on both sides."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.draws = 0

    def text(self) -> str:
        """Returns a program with one to three draws."""
        r = self.chance
        lines = [f"x = {self.center()} + {self.noise()}"]
        form = r.randrange(6)
        if form == 0:
            lines += [f"y = {self.center()} + {self.noise()}", self.put("x"), self.put("y")]
        elif form == 1:
            lines += [f"y = x + {self.center()} + {self.noise()}", "output(x)", self.put("y")]
        elif form == 2:
            lines += [
                f"if x >= {r.choice(['q[1]', '0', '1'])}:",
                f"    output({self.center()} + {self.noise()})",
                "else:",
                f"    {r.choice(['output(0)', 'output(q[0])', self.put('x'), self.label()])}",
            ]
        elif form == 3:
            lines += [
                f"y = {self.center()} + {self.noise()}",
                f"if x {r.choice(['>=', '>', '<'])} y:",
                f"    {self.label()}",
                "else:",
                f"    output([{self.center()} + {self.noise()}, 1])",
            ]
        elif form == 4:
            lines += [f"if flip(1/{r.randint(2, 5)}):", f"    {self.put('x')}", self.put(self.center())]
        else:
            lines += [
                self.put(f"{r.choice(['max', 'min'])}(x, {r.choice(['0', 'q[1]', '1'])})"),
                self.label(),
            ]
        return "\n".join(lines)

    def noise(self) -> str:
        return self.chance.choice(NOISES)

    def center(self) -> str:
        return self.chance.choice(["q[0]", "q[1]", "0", "q[0] + q[1]", "2 * q[0]", "-q[1]"])

    def label(self) -> str:
        return self.chance.choice(['output("no")', "output(q[0] == q[1])"])

    def put(self, value: str) -> str:
        return self.chance.choice([f"output({value})", f"output({value})", f"output(1 - 2 * ({value}))"])


def tailed(seed: int) -> str:
    """Returns a program whose numbers have two terms far away: maxima, gaps, sums, differences of noise."""
    r = random.Random(seed)
    x, y = r.sample(["q[0]", "q[1]", "q[0] + q[1]", "-q[0]"], 2)
    noise = r.choice(["geometric(1/4)", "one_sided_geometric(1/4)"])
    form = r.randrange(5)
    lines = [f"x = {x} + {noise}", f"y = {y} + geometric(1/16)"]
    if form == 0:
        return "\n".join([*lines, f"output({r.choice(['max', 'min'])}(x, y))"])
    if form == 1:
        return "\n".join(
            [*lines, "if x >= y:", "    output(x - y)", "else:", f"    output({r.choice(['0', 'y - x'])})"]
        )
    if form == 2:
        return "\n".join([*lines, f"output({r.choice(['x + y', 'x - y'])})"])
    if form == 3:
        return "\n".join([*lines, "if x > y:", "    output(x)", "else:", '    output("no")'])
    return "\n".join([*lines, "output(x + y)", f"output({x} + geometric(1/4))"])


def far_from(table: Table, wanted: Sequence[Distribution], window: int) -> str:
    """Returns where the largest ratio of two inputs is not that of outputs in a window, or nothing."""
    for i, j in permutations(range(len(table)), 2):
        told = [_over(p, table[j].get(o, Fraction(0))) for o, p in table[i].items() if p]
        near = {o: p for o, p in wanted[i].items() if all(abs(n) <= window for n in _numbers(o))}
        seen = [_over(p, wanted[j].get(o, Fraction(0))) for o, p in near.items()]
        if max(told) > BEYOND:
            if max(seen) < BEYOND:
                return f"{i} against {j}: the model says impossible, and {max(seen)} was seen"
        elif not Fraction(9, 10) < max(seen) / max(told) < Fraction(1001, 1000):
            return f"{i} against {j}: {max(told)} is told, and {max(seen)} was seen"
    return ""


BEYOND = Fraction(10**5)  # a ratio that only outputs have that are impossible without a cut


def _over(p: Fraction, q: Fraction) -> Fraction:
    return p / q if q else 2 * BEYOND


def wrong(table: Table, wanted: Sequence[Distribution], window: int, slack: Fraction) -> str:
    """Returns what is wrong with observations, or nothing; outputs beyond the window were not enumerated."""
    names = list(dict.fromkeys(o for row in table for o in row))
    inside: dict[Observation, list[tuple[Hashable, ...]]] = {name: [] for name in names}
    for output in dict.fromkeys(o for row in wanted for o in row):
        held = [name for name in names if _holds(name, output)]
        if len(held) > 1:
            return f"{output} is in {held}"
        if held:
            inside[held[0]].append(output)
        elif any(row.get(output, 0) > slack for row in wanted):
            return f"{output} is in no observation"
    for name, outputs in inside.items():
        shares = [row.get(name, Fraction(0)) for row in table]
        sums = [sum((row.get(o, Fraction(0)) for o in outputs), Fraction(0)) for row in wanted]
        if any(abs(a - b) > slack for a, b in zip(shares, sums, strict=True)):
            return f"{name} has {shares}, and not {sums}"
        near = [o for o in outputs if all(abs(n) <= window for n in _numbers(o))]
        for one, other in pairwise(near):
            for first, second in pairwise(wanted):
                left = first.get(one, 0) * second.get(other, 0)
                right = first.get(other, 0) * second.get(one, 0)
                if abs(left - right) > slack * max(left, right) * 4**window:
                    return f"{one} and {other} have other ratios, and both are in {name}"
    return ""


def named(value: Put) -> Hashable:
    """Returns a part of an observation as data in which True is not 1."""
    if isinstance(value, tuple):
        return ("list", *map(named, value))
    return value if isinstance(value, OutputInterval) else labelled(value)


def _holds(name: Observation, output: tuple[Hashable, ...]) -> bool:
    """Tells whether an output is in a set of outputs."""
    known = {f"o{k}": v for k, v in enumerate(_flat(output), start=1)}
    return len(name) == len(output) and all(_fits(n, o, known) for n, o in zip(name, output, strict=True))


def _fits(name: Hashable, value: Hashable, known: dict[str, Hashable]) -> bool:
    assert isinstance(value, tuple)
    if isinstance(name, tuple) and name[0] == "list":
        listed = value[0] == "list" and len(value) == len(name)
        return listed and all(_fits(n, v, known) for n, v in zip(name[1:], value[1:], strict=True))
    if not isinstance(name, OutputInterval):
        return name == value
    if value[0] != "number":
        return False
    number = sum(known[f"o{k}"] * a for k, a in name.of) if name.of else value[1]
    return (name.low is None or name.low <= number) and (name.high is None or number <= name.high)


def _flat(output: Hashable) -> Iterator[Hashable]:
    """Yields the plain values of an output."""
    assert isinstance(output, tuple)
    if output and output[0] in ("number", "str", "bool"):
        yield output[1]
        return
    for part in output:
        if part != "list":
            yield from _flat(part)


def _numbers(output: tuple[Hashable, ...]) -> list[Fraction]:
    return [v for v in _flat(output) if isinstance(v, Fraction)]


def enumerated(text: str, inputs: Sequence[Sequence[int]], reach: int) -> list[Distribution]:
    """Returns the outputs on each input, by Python itself, with noise cut off at the reach."""
    return [_Rates(Fraction(1, 4), reach).distribution(text, {"q": list(values)}) for values in inputs]


class _Rates(Oracle):
    """Noise with the ratio that the text gives; a float such as 1/16 is exact."""

    def words(self) -> dict[str, Any]:
        def geometric(ratio: float) -> Any:
            a = Fraction(ratio)
            share = (1 - a) / (1 + a)
            return self.pick([(k, share * a ** abs(k)) for k in range(-self.reach, self.reach + 1)])

        def one_sided(ratio: float) -> Any:
            a = Fraction(ratio)
            return self.pick([(k, (1 - a) * a**k) for k in range(self.reach + 1)])

        return {**super().words(), "geometric": geometric, "one_sided_geometric": one_sided}
