"""Random functions with calls of Python's libraries: hints are followed, and the laws are compared.

    python benchmarks/hints.py [--functions 2000] [--samples 10000] [--first 0]

What is accepted after all hints were followed has a law, by the exact engine. Samples of the function as it
was written, shared by its three inputs, are compared with it; below p = 1e-9 it is rejected. Prints counts.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "tools"))

from library_followed import Stuck, compared, followed, law_of

from paramverify.errors import ParamverifyError

LEAST_P = 1e-9
STYLES = {  # how functions of a library are imported, and called
    "numpy.random.": (
        ("import numpy as np", "np.random.{}"),
        ("import numpy", "numpy.random.{}"),
        ("from numpy import random as draw", "draw.{}"),
        ("import numpy.random as random", "random.{}"),
        ("from numpy.random import {0}", "{}"),
        ("from numpy.random import {0} as {0}_", "{}_"),
    ),
    "Generator.": (
        ("import numpy as np\nrng = np.random.default_rng()", "rng.{}"),
        ("from numpy.random import default_rng\nr = default_rng()", "r.{}"),
    ),
    "random.": (
        ("import random", "random.{}"),
        ("import random as rnd", "rnd.{}"),
        ("from random import {0}", "{}"),
        ("from random import {0} as {0}_", "{}_"),
        ("from random import SystemRandom\ns = SystemRandom()", "s.{}"),
    ),
    "secrets.": (("import secrets", "secrets.{}"), ("from secrets import {0} as secret", "secret")),
    "stats.": (("from scipy import stats", "stats.{}"),),
    "math.": (("import math", "math.{}"), ("from math import {0} as of", "of")),
    "numpy.": (("import numpy as np", "np.{}"), ("from numpy import {0} as np_{0}", "np_{}")),
    "": (("", "{}"),),
}
CHANCES = ("0.3", "1 / 4", "3 / 4", "0.5", "n / 4", "(n + 1) / 5")
SCALES = ("1", "2", "1 / 2", "n + 1")
WHOLE = (  # calls whose value is a whole number
    ("numpy.random.", "randint", ("3", "-1, 2", "0, high=n + 2", "low=1, high=4", "n + 1")),
    ("numpy.random.", "binomial", ("2, {p}", "n, {p}", "n=2, p={p}", "p={p}, n=1")),
    ("numpy.random.", "choice", ("3", "[1, 4]", "[0, 2], p=[0.1, 0.9]", "(5, 6)", "q")),
    ("Generator.", "integers", ("3", "1, 3, endpoint=True", "2, endpoint=True", "-1, high=n + 1", "0, 2, 2")),
    ("Generator.", "binomial", ("2, {p}", "1, p={p}")),
    ("random.", "randint", ("0, 2", "-1, n", "b=3, a=1")),
    ("random.", "randrange", ("3", "1, 4", "0, 7, 3", "n + 1")),
    ("random.", "choice", ("[1, n]", "(2, 3, 3)", "range(3)", "[n]", "[0, 1] + [2]")),
    ("random.", "getrandbits", ("1", "2")),
    ("secrets.", "randbelow", ("3", "n + 1")),
    ("secrets.", "randbits", ("1", "2")),
    ("stats.", "bernoulli.rvs", ("0.3", "0.6, loc=n", "0.5, 1")),
    ("stats.", "binom.rvs", ("2, 0.4", "2, 0.4, loc=1")),
    ("stats.", "randint.rvs", ("0, 3", "low=1, high=3")),
)
UNBOUNDED = (  # whole numbers without an end
    ("numpy.random.", "geometric", ("0.5", "p=0.3", "{p}")),
    ("Generator.", "geometric", ("0.5", "p=0.7")),
    ("stats.", "geom.rvs", ("0.5", "0.3, -1", "0.6, loc=n")),
    ("numpy.random.", "poisson", ("2",)),
)
REAL = (  # real numbers
    *(
        (library, name, arguments)
        for library in ("numpy.random.", "Generator.")
        for name, arguments in (
            ("laplace", ("", "1, {s}", "scale={s}", "n, {s}", "loc=1", "0, 1, 2")),
            ("exponential", ("", "{s}", "scale={s}")),
            ("standard_exponential", ("",)),
            ("normal", ("", "1, 2")),
            ("logistic", ("",)),
        )
    ),
    ("random.", "expovariate", ("1", "2", "lambd={s}")),
    ("random.", "gauss", ("0, 1", "n, 2", "mu=1, sigma=1")),
    ("stats.", "laplace.rvs", ("", "1, {s}", "scale=2", "loc=n")),
    ("stats.", "expon.rvs", ("", "1, 2", "scale=2")),
)
UNIT = (  # uniform on [0, 1)
    *(("numpy.random.", name, ("",)) for name in ("random", "rand", "random_sample")),
    ("numpy.random.", "uniform", ("", "0, 1", "high=1", "0.0, 1.0", "0, 2", "-1, 1")),
    ("Generator.", "random", ("",)),
    ("Generator.", "uniform", ("", "0, 1")),
    ("random.", "random", ("",)),
    ("random.", "uniform", ("0, 1", "0, 1", "0, b=1", "1, 2")),
    ("stats.", "uniform.rvs", ("", "0, 1", "loc=0")),
)
OF_NUMBERS = (  # functions of one number, then of two
    *(("numpy.", name) for name in ("abs", "sign", "floor", "ceil", "round", "rint", "trunc")),
    *(("math.", name) for name in ("floor", "ceil", "trunc", "fabs")),
    *(("", name) for name in ("int", "round", "abs", "float")),
)
OF_TWO = (("numpy.", "maximum"), ("numpy.", "minimum"), ("", "max"), ("", "min"))


class Written:
    """A random function of n, with the imports that it needs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.imports: dict[str, None] = {}
        self.names: list[str] = ["n"]

    def text(self) -> str:
        """Returns the function as a program."""
        body = []
        for name in ("x", "y")[: self.random.randrange(3)]:
            body.append(f"{name} = {self.whole(2)}")
            self.names.append(name)
        if self.random.random() < 0.5:
            body += [
                f"if {self.truth(2)}:",
                f"    output({self.value()})",
                "else:",
                f"    output({self.value()})",
            ]
        else:
            body.append(f"output({self.value()})")
        return "\n".join((*self.imports, *body))

    def call(self, library: str, name: str, arguments: str) -> str:
        """Returns a call in a random style."""
        brought, spelt = self.random.choice(STYLES[library])
        for line in brought.format(name).split("\n"):
            if line:
                self.imports[line] = None
        return f"{spelt.format(name)}({arguments})"

    def drawn(self, table: tuple[tuple[str, str, tuple[str, ...]], ...]) -> str:
        """Returns a random call of a table."""
        library, name, several = self.random.choice(table)
        chosen = self.random.choice(several)
        filled = chosen.format(p=self.random.choice(CHANCES), s=self.random.choice(SCALES))
        return self.call(library, name, filled)

    def value(self) -> str:
        """Returns what is put out."""
        form = self.random.randrange(4)
        if form == 0:
            return f"'a' if {self.truth(1)} else 'b'"
        return self.truth(2) if form == 1 else self.whole(2)

    def whole(self, depth: int) -> str:
        """Returns an expression of finitely many numbers."""
        form = self.random.randrange(9 if depth else 3)
        inner = depth - 1
        if form == 0:
            return self.random.choice((*self.names, "1", "2"))
        if form in (1, 2):
            return self.drawn(WHOLE)
        if form == 3:
            return f"{self.whole(inner)} {self.random.choice('+-')} {self.whole(inner)}"
        if form == 4:
            library, name = self.random.choice(OF_NUMBERS)
            inside = self.random.choice(
                (*self.names, f"{self.random.choice(self.names)} - 3 / 2", self.whole(0))
            )
            return self.call(library, name, inside)
        if form == 5:
            library, name = self.random.choice(OF_TWO)
            return self.call(library, name, f"{self.whole(inner)}, {self.whole(inner)}")
        if form == 6:
            noisy = f"{self.whole(0)} {self.random.choice('+-')} {self.drawn(UNBOUNDED)}"
            low, high = self.random.choice((("-1", "2"), ("0", "3"), ("1", "0")))
            named = self.random.random() < 0.5
            ends = f"a_min={low}, a_max={high}" if named else f"{low}, {high}"
            return self.call("numpy.", "clip", f"{noisy}, {ends}")
        if form == 7:
            return self.call("", "int", self.truth(inner))
        return f"({self.whole(inner)} if {self.truth(inner)} else {self.whole(inner)})"

    def truth(self, depth: int) -> str:
        """Returns an expression that is True or False."""
        form = self.random.randrange(6 if depth else 4)
        p = self.random.choice(CHANCES)
        if form == 0:
            sides = self.drawn(UNIT), p
            sign = self.random.choice(("<", "<", "<", ">=", ">="))
            if self.random.random() < 0.3:
                return f"{sides[1]} {'>' if sign == '<' else '<='} {sides[0]}"
            return f"{sides[0]} {self.random.choice((sign, sign, sign, '<='))} {sides[1]}"
        if form in (1, 2):
            table = self.random.choice((REAL, REAL, UNBOUNDED))
            return f"{self.drawn(table)} {self.random.choice(('>', '<'))} {self.whole(0)}"
        if form == 3:
            return f"{self.whole(0)} {self.random.choice(('>=', '==', '<'))} {self.whole(0)}"
        if form == 4:
            return f"not {self.truth(depth - 1)}"
        return f"({self.truth(depth - 1)} {self.random.choice(('and', 'or'))} {self.truth(depth - 1)})"


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=10_000, help="of each function")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    started, steps = time.perf_counter(), 0
    for seed in range(options.first, options.first + options.functions):
        text = Written(seed).text()
        try:
            read, followed_here = followed(text)
        except Stuck:
            counts["refused without a hint"] += 1
            continue
        try:
            law = law_of(read)
        except ParamverifyError as error:
            counts["read, but not covered"] += 1
            if options.samples < 10:
                print(f"seed {seed}: {error}")
            continue
        steps += followed_here
        try:
            p = compared(text, law, max(1, options.samples // len(law)), seed)
        except (TypeError, ValueError, ArithmeticError) as error:
            counts["raises an error in Python"] += 1
            print(f"seed {seed}: {type(error).__name__}: {error}\n{text}\n---\n{read}\n")
            continue
        counts["accepted"] += 1
        if p < LEAST_P:
            counts["rejected"] += 1
            print(f"REJECTED: seed {seed}, p = {p}\n{text}\n---\n{read}\n{law}\n")
        if counts["accepted"] % 25 == 0:
            spent = time.perf_counter() - started
            print(f"[{seed + 1 - options.first} functions, {spent:.0f} s: {dict(counts)}]", flush=True)
    counts.setdefault("rejected", 0)
    print("| functions | number |\n| --- | --- |")
    for what, number in sorted(counts.items()):
        print(f"| {what} | {number} |")
    print(f"\n{steps} hints followed, {options.samples} samples each, {time.perf_counter() - started:.0f} s")
    sys.exit(counts["rejected"] > 0)


if __name__ == "__main__":
    main()
