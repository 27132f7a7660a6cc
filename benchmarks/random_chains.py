"""Random parametric Markov chains, and the problem that one reaches its target with at most a probability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from paramverify.algebra.domains import Domain, Interval, box_domain
from paramverify.algebra.polynomials import Point, Polynomial, RationalFunction, Ring, rational, value_at
from paramverify.claims import Claim

RING = Ring(("p", "q"))
UNIT = box_domain(RING, dict.fromkeys("pq", Interval(Fraction(0), Fraction(1))))
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
