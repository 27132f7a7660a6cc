"""Region maps until 1 % of the parameter box is undecided: time, cells and shares; and Storm beside them.

    python benchmarks/regions.py [--coverage 1/100] [--storm] [--limit 60]

Problems: claims of cases of this project at other privacy budgets, the probability that a random parametric
Markov chain reaches its target, at most its value at an inner point, and polynomials of degree near (48, 48).
With `--storm`, parametric Markov chains in PRISM's language instead: Storm builds the model, decides regions
by parameter lifting, and computes the rational function that is given to us as a claim. Prints Markdown
tables for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from paramverify.algebra.domains import Domain, Interval, box_domain
from paramverify.algebra.polynomials import Point, Polynomial, RationalFunction, Ring, rational, value_at
from paramverify.claims import Claim
from paramverify.encodings.sequences import sequence_claims
from paramverify.privacy.cases import load
from paramverify.synthesis.maps import Status
from paramverify.synthesis.regions import region_map

ROOT = Path(__file__).parent.parent
RING = Ring(("p", "q"))
UNIT = box_domain(RING, dict.fromkeys("pq", Interval(Fraction(0), Fraction(1))))
CASES = [
    ("noisy-max-independent", 'epsilon = "ln(3/2)"', "pA pB"),
    ("noisy-max-independent", 'epsilon = "ln(7/4)"', "pA pB"),
    ("noisy-max-independent", 'epsilon = "1/2"', "pA pB"),
    ("noisy-max-own-record", 'epsilon = "ln(11/6)"', "pA pB"),
    ("above-threshold-prior-2", 'epsilon = "2*ln(2)"', "p t"),
    ("above-threshold-prior", "ratio = 4", "p q"),
    ("randomized-response-condition", "ratio = 3", "p t"),
    ("survey-fresh", "ratio = 40", "p t"),
]
DEGREES = [(3, 5), (4, 7), (6, 8), (8, 10)]  # the larger of the two degrees of a chain is between these


@dataclass(frozen=True)
class Problem:
    """Claims, and the free parameters of their map."""

    name: str
    claims: Sequence[Claim]
    domain: Domain
    free: tuple[str, ...]


@dataclass(frozen=True)
class Chain:
    """A parametric Markov chain: a state goes to its first successor with its parameter, else to its second.

    The target is state number `len(states)`, the sink the one after it.
    """

    states: tuple[tuple[str, int, int], ...]

    def probability(self) -> RationalFunction:
        """Returns the probability to reach the target from state 0, by eliminating the other states."""
        one = RationalFunction.of(RING.number(1))
        rows: list[dict[int, RationalFunction]] = []
        for name, first, second in self.states:
            x = RationalFunction.of(RING.variable(name))
            row = {first: x}
            row[second] = row[second] + one - x if second in row else one - x
            rows.append(row)
        for gone in range(len(rows) - 1, -1, -1):
            row = rows[gone]
            loop = row.pop(gone, None)
            if loop is not None:
                row = rows[gone] = {k: v / (one - loop) for k, v in row.items()}
            for other in rows[:gone]:
                share = other.pop(gone, None)
                if share is not None:
                    for k, v in row.items():
                        other[k] = other[k] + share * v if k in other else share * v
        return rows[0].get(len(rows), RationalFunction.of(RING.number(0)))

    def prism(self) -> str:
        """Returns the chain in PRISM's language."""
        size = len(self.states)
        lines = [
            "dtmc",
            "const double p;",
            "const double q;",
            "module chain",
            f"  s : [0..{size + 1}] init 0;",
        ]
        for k, (name, first, second) in enumerate(self.states):
            lines.append(f"  [] s={k} -> {name} : (s'={first}) + 1-{name} : (s'={second});")
        lines += [f"  [] s>={size} -> 1 : (s'=s);", "endmodule", f'label "target" = s={size};']
        return "\n".join(lines)


def random_chain(random: Random, size: int) -> Chain:
    """A chain whose states go on to a near state, most of them, or back."""
    states = []
    for k in range(size):
        on = min(k + random.randint(1, 2), size)
        other = random.choice(
            (max(0, k - random.randint(1, 3)), min(k + random.randint(1, 3), size), size + 1)
        )
        first, second = random.sample((on, other), 2) if on != other else (on, size + 1)
        states.append((random.choice("pq"), first, second))
    return Chain(tuple(states))


def at_most(function: RationalFunction, bound: Fraction, inside: Point) -> Polynomial:
    """Returns f, with f ≥ 0 iff the function, whose denominator has one sign, is at most the bound."""
    f = function.denominator * rational(bound) - function.numerator
    return f if value_at(function.denominator, inside) > 0 else -f


def chain_problems(count: int) -> Iterator[tuple[Problem, Chain, Fraction]]:
    """Yields random chains with both parameters, degree up to 10 in each, and a bound that is crossed."""
    random = Random(6)
    while count:
        chain = random_chain(random, random.choice((8, 12, 16, 20, 24, 28, 32)))
        function = chain.probability()
        degrees = [
            max(d) for d in zip(function.numerator.degrees(), function.denominator.degrees(), strict=True)
        ]
        low, high = DEGREES[count % len(DEGREES)]
        if not (min(degrees) >= low - 1 and low <= max(degrees) <= high):
            continue
        at = {"p": Fraction(random.randint(3, 7), 10), "q": Fraction(random.randint(3, 7), 10)}
        value = value_at(function.numerator, at) / value_at(function.denominator, at)
        bound = Fraction(round(value * 100), 100)
        if not Fraction(1, 20) <= bound <= Fraction(19, 20):
            continue
        count -= 1
        claim = Claim(at_most(function, bound, at), UNIT)
        yield Problem(f"chain of {len(chain.states)} states", [claim], UNIT, ("p", "q")), chain, bound


def case_problems() -> Iterator[Problem]:
    """Yields the cases at other budgets."""
    with TemporaryDirectory() as folder:
        for name, budget, free in CASES:
            text = (ROOT / "cases" / f"{name}.toml").read_text().split("[expect]")[0].split("[quantify]")[0]
            if "[privacy]" not in text:
                text += "[privacy]\n"
            lines = [
                line for line in text.splitlines() if line.split("=")[0].strip() not in ("epsilon", "ratio")
            ]
            lines.insert(lines.index("[privacy]") + 1, budget)
            path = Path(folder) / "case.toml"
            path.write_text("\n".join(lines))
            model = load(path).model
            yield Problem(f"{name}, {budget}", sequence_claims(model), model.domain, tuple(free.split()))


def high_problems() -> Iterator[Problem]:
    """Yields polynomials of degree near (48, 48)."""
    one, p, q = RING.number(1), RING.variable("p"), RING.variable("q")

    def walk(width: int, steps: int, random: Random | None) -> Polynomial:
        """The probability that a walk is absorbed at the upper end within so many steps."""
        values = [RING.number(0)] * (width - 1) + [one]
        for step in range(steps):
            x = (p, q)[step % 2]
            ends = [(k + 1, k - 1) for k in range(width)]
            if random:
                ends = [(random.randrange(width), random.randrange(width)) for _ in range(width)]
            inner = [x * values[up] + (one - x) * values[down] for up, down in ends[1:-1]]
            values = [values[0], *inner, values[-1]]
        return values[width // 2]

    def problem(name: str, f: Polynomial) -> Problem:
        return Problem(name, [Claim(f, UNIT)], UNIT, ("p", "q"))

    third = RING.number(Fraction(1, 3))
    yield problem("bounded retransmission, 16 packets, 3 tries", (one - (one - p * q) ** 3) ** 16 - third)
    yield problem("gambler, 11 states, 96 steps", walk(11, 96, None) - third)
    yield problem("random walk, 12 states, 96 steps", walk(12, 96, Random(1)) - third)
    yield problem("wavy, dense", _wavy(Random(2), 48))


def _wavy(random: Random, degree: int) -> Polynomial:
    """A dense polynomial of random small coefficients in x − 1/2 and y − 1/2, which crosses zero."""
    terms = {(i, j): Fraction(random.randint(-99, 99)) for i in range(degree + 1) for j in range(degree + 1)}
    dense = RING.from_terms(terms)
    half = RING.number(Fraction(1, 2))
    return dense.compose(RING.variable("p") * 2 - half * 2, RING.variable("q") * 2 - half * 2)


def measured(problem: Problem, coverage: Fraction) -> str:
    """Returns a row of the table."""
    found = region_map(problem.claims, problem.domain, problem.free, coverage)
    degrees = [
        max(int(c.polynomial.degrees()[k]) for c in problem.claims)
        for k, n in enumerate(problem.domain.ring.names)
        if n in problem.free
    ]
    shares = " | ".join(
        f"{float(found.share(s)):.3f}" for s in (Status.SAFE, Status.VIOLATING, Status.UNDECIDED)
    )
    quantified = f", for all {', '.join(found.quantified)}" if found.quantified else ""
    assert found.share(Status.UNDECIDED) <= coverage
    return (
        f"| {problem.name}{quantified} | {tuple(degrees)} | {len(problem.claims)} | {shares} "
        f"| {len(found.cells)} | {found.seconds:.2f} |"
    )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coverage", type=Fraction, default=Fraction(1, 100))
    parser.add_argument("--storm", action="store_true")
    parser.add_argument("--limit", type=float, default=60.0)
    chosen = parser.parse_args()
    if chosen.storm:
        from storm_regions import compare

        compare(chain_problems(6), chosen.coverage, chosen.limit)
        return
    print("| problem | degree | claims | safe | violating | undecided | cells | s |\n" + "| --- " * 8 + "|")
    for problem in [*case_problems(), *(found for found, _, _ in chain_problems(12)), *high_problems()]:
        print(measured(problem, chosen.coverage), flush=True)


if __name__ == "__main__":
    main()
