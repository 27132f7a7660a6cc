"""Random small cases on full and on thin domains, and what must be true of their budgets.

The oracle evaluates a case with fractions at many rational points, and shares nothing with the package.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from paramverify.algebra.real_roots import RealRoot
from paramverify.errors import CaseError, ModelError
from paramverify.evidence.witnesses import ExactWitness
from paramverify.models.model import Model
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.quotients import RatioBounds

Values = Callable[[Fraction, Fraction], Fraction]
Where = Callable[[Fraction, Fraction], bool]

STEPS = sorted(
    {Fraction(k, 6) for k in range(7)}
    | {Fraction(1, 4), Fraction(3, 4), Fraction(2, 5), Fraction(3, 5), Fraction(1, 7), Fraction(6, 7)}
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
    ) -> Fraction | str | None:
        """Returns the ratio at a point, "infinity" if only the left is possible; None if undefined."""
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


def _away(term: tuple[str, Values]) -> tuple[str, Values]:
    """Returns a probability that is neither 0 nor 1."""
    text, value = term
    return f"(1+{text})/3", lambda p, q: (1 + value(p, q)) / 3


def random_sample(seed: int) -> Sample:
    """Returns a random case: A has three values with polynomial masses, and each value its own outputs."""
    chance = random.Random(seed)
    space = chance.choice(SPACES)
    first, second = chance.choice(TERMS), chance.choice(TERMS)
    emits = [chance.choice(TERMS) if chance.random() < 0.4 else _away(chance.choice(TERMS)) for _ in range(3)]
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
A = {{ categorical = {{ 0 = "({first[0]})/2", 1 = "({second[0]})/2", 2 = "{third}" }} }}
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


NEAR = Fraction(1, 10**6)


def check_sample(sample: Sample, path: Path, seconds: float = 4.0) -> str:
    """Compares the budget of a random case with the oracle; returns what kind of answer it was."""
    path.write_text(sample.text)
    truth, refused = sample.ratios(), ""
    try:
        model = load(path).model
        assert isinstance(model, Model)
        with Session(Options(seconds=seconds)) as session:
            doubt, _ = discharge(session, model)
            assert doubt is None, doubt
            found = tight_budget(model, session)
    except (CaseError, ModelError) as error:
        refused = str(error)
    if refused:
        assert "probability" in refused
        assert not truth, f"refused, but a ratio exists: {refused}"
        return "refused"
    assert truth, "no point of the domain has both secrets possible, but a budget was found"
    _compare(sample, truth, found)
    if found.infinite:
        return f"infinite {found.attained}"
    return f"{'exact' if found.value is not None else 'bounds'} {found.attained}"


def _compare(sample: Sample, truth: dict[object, Fraction | str], found: RatioBounds) -> None:
    """Asserts that no sampled ratio contradicts a budget, and that its witnesses are what they say."""
    values = set(truth.values())
    for witness in (*found.approached, *([found.witness] if found.witness else [])):
        assert _true_ratio(sample, witness) == _own_ratio(witness)
    if found.infinite:
        _compare_infinite(values, found)
        return
    assert "infinity" not in values, "a sampled ratio is infinite"
    largest = max(Fraction(v) for v in values)
    if found.high is None:
        assert sample.space.constraints == ("p*q == 1/4",), "no upper bound was proved"
    else:
        assert found.proof is not None
        assert max(largest, found.low) <= found.high
    if found.witness is not None:
        assert not found.approached
        reached = _own_ratio(found.witness)
        assert reached == found.low
        assert found.attained is None or reached == found.high
    elif found.value is not None:
        last = _own_ratio(found.approached[-1])
        assert isinstance(last, Fraction)
        assert found.low * (1 - NEAR) <= last <= found.high
    if found.value is not None and found.attained is False:
        assert isinstance(found.value, RealRoot)
        assert not (found.value.is_rational and found.value.lower in values), "it is reached"


def _compare_infinite(values: set[Fraction | str], found: RatioBounds) -> None:
    if found.attained:
        assert found.witness is not None
        assert _own_ratio(found.witness) == "infinity"
        return
    if found.attained is False:
        assert "infinity" not in values, "an infinite ratio is reached"
    last = _own_ratio(found.approached[-1])
    assert last == "infinity" or Fraction(last) > 10**6


def _own_ratio(witness: ExactWitness) -> Fraction | str:
    ratio = witness.ratio
    if ratio is None:
        return "infinity"
    assert ratio.rational is not None
    return ratio.rational


def _true_ratio(sample: Sample, witness: ExactWitness) -> Fraction | str | None:
    at = witness.parameters["p"], witness.parameters["q"]
    assert sample.space.has(*at), "the witness is outside of the domain"
    return sample.ratio(witness.left, witness.right, witness.observations[0], at)
