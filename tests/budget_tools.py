"""Random small cases on full and on thin domains, with an oracle of fractions that shares nothing with the package."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

Values = Callable[[Fraction, Fraction], Fraction]
Where = Callable[[Fraction, Fraction], bool]

STEPS = sorted(
    {Fraction(k, 12) for k in range(13)}
    | {Fraction(k, 7) for k in range(1, 7)}
    | {Fraction(1, 10**4), Fraction(9_999, 10**4), Fraction(1, 10**7)}
)

# Texts that the case file gets, and the same as functions; all of them are in [0, 1] on the unit square.
TERMS: list[tuple[str, Values]] = [
    ("p", lambda p, q: p),
    ("q", lambda p, q: q),
    ("1-p", lambda p, q: 1 - p),
    ("p*q", lambda p, q: p * q),
    ("p*q**2", lambda p, q: p * q * q),
    ("p**2", lambda p, q: p * p),
    ("(p-q)**2", lambda p, q: (p - q) ** 2),
    ("(p-q)**2/5", lambda p, q: (p - q) ** 2 / 5),
    ("p/5", lambda p, q: p / 5),
    ("p*(1-q)", lambda p, q: p * (1 - q)),
    ("(p+q)/2", lambda p, q: (p + q) / 2),
    ("q*(1-q)", lambda p, q: q * (1 - q)),
    ("1/3", lambda p, q: Fraction(1, 3)),
    ("1/2", lambda p, q: Fraction(1, 2)),
    ("(1+p)/4", lambda p, q: (1 + p) / 4),
    ("(2*p-1)**2", lambda p, q: (2 * p - 1) ** 2),
]


@dataclass(frozen=True)
class Space:
    """A parameter domain as text and as a function that tells whether a point is in it."""

    p: str
    q: str
    constraints: tuple[str, ...]
    has: Where

    def points(self) -> list[tuple[Fraction, Fraction]]:
        """Returns rational points of the domain, many on thin ones too."""
        found = {(p, q) for p in STEPS for q in STEPS}
        for p in STEPS:
            found |= {(p, p), (p, 1 - p), (p, p * p), (1 - p, p), (p, 2 * p), (p, Fraction(1, 2))}
            found |= {(p, 1 / (4 * p))} if p else set()
            found |= {(Fraction(1, 3), p), (Fraction(2, 3), p)}
        return [(p, q) for p, q in found if 0 <= p <= 1 and 0 <= q <= 1 and self.has(p, q)]


SPACES = [
    Space("[0, 1]", "[0, 1]", (), lambda p, q: True),
    Space("(0, 1)", "(0, 1)", (), lambda p, q: 0 < p < 1 and 0 < q < 1),
    Space("(0, 1]", "[0, 1)", (), lambda p, q: p > 0 and q < 1),
    Space("[1/4, 3/4]", "(0, 1)", (), lambda p, q: 1 <= 4 * p <= 3 and 0 < q < 1),
    Space("0", "[0, 1]", (), lambda p, q: p == 0),
    Space("1/2", "(0, 1)", (), lambda p, q: 2 * p == 1 and 0 < q < 1),
    Space("1", "1/2", (), lambda p, q: p == 1 and 2 * q == 1),
    Space("[0, 1]", "[0, 1]", ("p == q",), lambda p, q: p == q),
    Space("(0, 1)", "(0, 1]", ("p + q == 1",), lambda p, q: p + q == 1 and 0 < p < 1),
    Space("[0, 1]", "[0, 1]", ("2*p == q",), lambda p, q: 2 * p == q),
    Space("[0, 1]", "[0, 1]", ("(p - q)**2 == 0",), lambda p, q: p == q),
    Space("[0, 1]", "[0, 1]", ("p*(1-p) == 0",), lambda p, q: p in (0, 1)),
    Space("[0, 1]", "1/2", ("(3*p-1)*(3*p-2) == 0",), lambda p, q: 3 * p in (1, 2) and 2 * q == 1),
    Space("[0, 1]", "[0, 1]", ("p*q == 0",), lambda p, q: p * q == 0),
    Space("[0, 1]", "[0, 1]", ("p**2 == q",), lambda p, q: p * p == q),
    Space("[0, 1]", "[0, 1]", ("p + q <= 1",), lambda p, q: p + q <= 1),
    Space(
        "[0, 1]", "(0, 1)", ("p*p <= p/2", "p*p >= p/2"), lambda p, q: p in (0, Fraction(1, 2)) and 0 < q < 1
    ),
    Space("[0, 1]", "[0, 1]", ("p*q == 1/4",), lambda p, q: 4 * p * q == 1),
    Space("[0, 1]", "[0, 1]", ("p <= q", "q <= p"), lambda p, q: p == q),
]


@dataclass(frozen=True)
class Sample:
    """A case file, and what it means: masses of three values of A, and the probability of x given each."""

    text: str
    space: Space
    masses: tuple[Values, Values, Values]
    emits: tuple[Values, Values, Values]
    secrets: Mapping[str, tuple[int, ...]]

    def ratio(
        self, left: str, right: str, output: str, at: tuple[Fraction, Fraction]
    ) -> Fraction | None | str:
        """Returns the ratio at a point; None where it is undefined, "infinity" where only the left is possible."""
        sides = []
        for name in (left, right):
            weights = [(self.masses[k](*at), self.emits[k](*at)) for k in self.secrets[name]]
            mass = sum(m for m, _ in weights)
            if mass == 0:
                return None
            total = sum(m * (e if output == "x" else 1 - e) for m, e in weights)
            sides.append(Fraction(total) / mass)
        if sides[1] == 0:
            return "infinity" if sides[0] else None
        return sides[0] / sides[1]

    def ratios(self) -> dict[tuple[str, str, str, tuple[Fraction, Fraction]], Fraction | str]:
        """Returns the ratio of every direction and output at every sample point where it is defined."""
        found = {}
        one, other = self.secrets
        for at in self.space.points():
            for left, right in ((one, other), (other, one)):
                for output in ("x", "y"):
                    value = self.ratio(left, right, output, at)
                    if value is not None:
                        found[left, right, output, at] = value
        return found


def random_sample(seed: int) -> Sample:
    """Returns a random case: A has three values with polynomial masses, and each value its own outputs."""
    chance = random.Random(seed)
    space = chance.choice(SPACES)
    first, second = chance.choice(TERMS), chance.choice(TERMS)
    emits = [chance.choice(TERMS) for _ in range(3)]
    masses: tuple[Values, Values, Values] = (
        lambda p, q: first[1](p, q) / 2,
        lambda p, q: second[1](p, q) / 2,
        lambda p, q: 1 - first[1](p, q) / 2 - second[1](p, q) / 2,
    )
    secrets = chance.choice(
        [
            {"zero": ("A == 0", (0,)), "one": ("A == 1", (1,))},
            {"zero": ("A == 0", (0,)), "more": ("A >= 1", (1, 2))},
            {"low": ("A <= 1", (0, 1)), "two": ("A == 2", (2,))},
        ]
    )
    third = f"1-({first[0]})/2-({second[0]})/2"
    rows = "\n".join(f'{k} = {{ x = "{e}", y = "1-({e})" }}' for k, (e, _) in enumerate(emits))
    constraints = (
        f"constraints = [{', '.join(repr(c) for c in space.constraints)}]" if space.constraints else ""
    )
    written = "\n".join(f'{name} = "{condition}"' for name, (condition, _) in secrets.items())
    text = f"""
[parameters]
p = "{space.p}"
q = "{space.q}"
{constraints}
[prior]
A = {{ 0 = "({first[0]})/2", 1 = "({second[0]})/2", 2 = "{third}" }}
[mechanism]
kind = "hmm"
states = ["0", "1", "2"]
observations = ["x", "y"]
start = "A"
[mechanism.emissions]
{rows}
[secrets]
{written}
pairs = [{list(secrets)!r}]
[privacy]
ratio = 3
"""
    e0, e1, e2 = (e for _, e in emits)
    meant = {name: states for name, (_, states) in secrets.items()}
    return Sample(text, space, masses, (e0, e1, e2), meant)
