"""Random cases whose programs call mechanisms, and the same by plain enumeration: Python runs the texts."""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from program_oracle import Distribution, Oracle, _Stopped

Outcomes = list[tuple[Any, Fraction]]
P = Fraction(2, 3)  # of the parameter p at the point
VALUES = (0, 1, 2)


@dataclass(frozen=True)
class Known:
    """A mechanism: its table in a case, how many numbers from 0 to 2 it takes, and what it gives."""

    table: str
    count: int
    outcomes: Callable[[Sequence[int]], Outcomes] | None = None
    source: str = ""  # of a program

    @property
    def text(self) -> str:
        """The table as TOML, with the source of a program."""
        return f'{self.table}\nsource = """\n{self.source}"""' if self.source else self.table


def _response(given: Sequence[int]) -> Outcomes:
    return [(v, P if v == given[0] else (1 - P) / 2) for v in VALUES]


def _geometric(f: int) -> list[Fraction]:
    a = Fraction(1, 3)
    return [a ** abs(o - f) * (1 if o in (0, 2) else 1 - a) / (1 + a) for o in VALUES]


def _largest(given: Sequence[int]) -> Outcomes:
    """The first largest of two noisy answers, counted from 1."""
    first = sum(
        _geometric(given[0])[a] * _geometric(given[1])[b] for a, b in product(VALUES, VALUES) if a >= b
    )
    return [(1, Fraction(first)), (2, 1 - Fraction(first))]


def _told(given: Sequence[int]) -> Outcomes:
    high = {0: Fraction(0), 1: P / 2, 2: P}[max(given)]
    return [("high", high), ("low", 1 - high)]


NOISE = 'noise = { truncated_geometric = "1/3", range = 2 }'
KNOWN = {
    "answer": Known('kind = "randomized_response"\nvalues = [0, 1, 2]\ntruth = "p"', 1, _response),
    "near": Known(
        f'kind = "geometric"\n{NOISE}', 1, lambda given: list(zip(VALUES, _geometric(given[0]), strict=True))
    ),
    "largest": Known(f'kind = "noisy_max"\nqueries = 2\nties = "first"\n{NOISE}', 2, _largest),
    "told": Known(
        'kind = "release"\nquery = "max(a, b)"\n'
        'inputs = { a = { values = "0..2" }, b = { values = "0..2" } }\n'
        'table = { 0 = { low = 1 }, 1 = { low = "1 - p/2", high = "p/2" }, '
        '2 = { low = "1 - p", high = "p" } }',
        2,
        _told,
    ),
    "coin": Known('kind = "program"\ninputs = ["x"]', 1, source="return x if flip(p) else (x + 1) % 3\n"),
    "both": Known(
        'kind = "program"\ninputs = ["x", "y"]',
        2,
        source="def f(k):\n    return coin(k % 3)\nx = f(x + y)\n"
        "if x == 1:\n    return answer(y)\nreturn x\n",
    ),
    "several": Known(
        'kind = "program"\ninputs = ["v", "n"]',
        2,
        source="for k in [v, n]:\n    if answer(k) == 0:\n        stop\n    output(coin(k))\n",
    ),
}


class Asking(Oracle):
    """Runs programs that call the known mechanisms."""

    def __init__(self) -> None:
        super().__init__(P, 0)

    def words(self) -> dict[str, Any]:
        asked = {name: self.asked(name) for name in KNOWN}
        return {**super().words(), "p": P, **asked}

    def asked(self, name: str) -> Callable[..., Any]:
        known = KNOWN[name]
        if known.outcomes is not None:
            outcomes = known.outcomes

            def row(*given: Any) -> Any:
                return self.pick(outcomes([e for v in given for e in (v if isinstance(v, list) else [v])]))

            return row

        def run(*given: Any) -> Any:
            inputs = re.findall(r"\w+", known.table.partition("[")[2])
            body = textwrap.indent(re.sub(r"\bstop\b", "_stop()", known.source), "    ")
            names = {"__builtins__": {}, **self.words()}
            exec(f"def program({', '.join(inputs)}):\n{body}", names)
            outside, self.told = self.told, []
            found = None
            with suppress(_Stopped):
                found = names["program"](*given)
            mine, self.told = self.told, outside
            return [_plain(v) for v in mine] if "output(" in known.source else found

        return run


def _plain(told: Any) -> Any:
    """Returns an output as a value again."""
    kind, *inside = told
    return [_plain(v) for v in inside] if kind == "list" else inside[0]


class Maker:
    """Writes programs of two numbers `q` from 0 to 2 that call the known mechanisms adaptively."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.numbers = ["q[0]", "q[1]"]

    def source(self) -> str:
        """Returns a program."""
        lines = ["n = 0", *self.block(0)]
        return "\n".join([*lines, f"output({self.number()})"]) + "\n"

    def number(self) -> str:
        chosen = self.random.choice([*self.numbers, "0", "2"])
        return self.random.choice([chosen, f"({chosen} + 1) % 3", f"2 - {chosen}"])

    def call(self, name: str) -> str:
        given = [self.number() for _ in range(KNOWN[name].count)]
        if KNOWN[name].outcomes and self.random.random() < 0.5:
            return f"{name}([{', '.join(given)}])"
        return f"{name}({', '.join(given)})"

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(1 if depth else 2):
            self.count += 1
            name, value = self.random.choice(sorted(KNOWN)), f"v{self.count}"
            lines.append(f"{value} = {self.call(name)}")
            if name == "told":
                label = self.random.choice(["low", "high"])
                test = f'{value} == "{label}"'
            elif name == "several":
                lines.append(f"n = len({value})" if self.random.random() < 0.5 else f"output({value})")
                test = f"len({value}) > 1 and {self.call('coin')} == 1"
            else:
                test = f"{value} == {self.random.choice(VALUES)}"
                if name != "largest" or depth:
                    self.numbers.append(f"{value} % 3")
            if depth < 1:
                kept = list(self.numbers)
                inside = self.block(depth + 1)
                self.numbers = kept
                ends = self.random.choice([["stop"], [f"output({self.number()})"], ["n = 1"]])
                lines += [f"if {test}:", *(f"    {line}" for line in (*inside, *ends))]
        return lines


def case_of(source: str, ratio: str = "2") -> str:
    """Returns a case of such a program, as TOML."""
    calls = "\n\n".join(f"[mechanism.calls.{name}]\n{known.text}" for name, known in KNOWN.items())
    return (
        '[parameters]\np = "(1/2, 1)"\n\n[mechanism]\nkind = "program"\n'
        f'source = """\n{source}"""\n\n[mechanism.inputs]\nq = {{ length = 2, values = "0..2" }}\n\n'
        f'{calls}\n\n[neighbours]\ndiffer = "one"\nby = "any"\n\n[privacy]\nratio = "{ratio}"\n'
    )


def enumerated(source: str, given: Sequence[int]) -> Distribution:
    """Returns how likely each output is, by running the program as Python once for each way."""
    return Asking().distribution(source, {"q": list(given)})
