"""Noisy max at scale: the largest ratio without pairs, against the encoding that enumerates them."""

from fractions import Fraction
from random import Random

import pytest
from random_models import random_row

from paramverify.algebra.domains import Domain, Interval, box_domain
from paramverify.algebra.polynomials import RationalFunction, Ring, constant_value
from paramverify.divergences import MaxDivergence
from paramverify.encodings.sequences import candidates
from paramverify.errors import UnsupportedError
from paramverify.evidence.witnesses import evaluate
from paramverify.models.context import Checks
from paramverify.models.mechanisms import compare
from paramverify.models.mechanisms._one_shot import OneShot
from paramverify.models.mechanisms.noisy_max import arg_max
from paramverify.models.model import Model
from paramverify.models.noise import Noise
from paramverify.models.noise.truncated_geometric import truncated_geometric
from paramverify.models.worst_pairs import LargestRatio, largest_ratio
from paramverify.tables import Table

CHECKS = Checks(Domain(Ring(), {}))


def number(value: Fraction | int) -> RationalFunction:
    return RationalFunction.of(CHECKS.ring.number(value))


def half(limit: int = 2) -> Noise:
    return truncated_geometric(number(Fraction(1, 2)), limit, CHECKS)


def mechanism(noise: Noise, n: int, ties: str) -> OneShot:
    values = tuple(Fraction(v) for v in range(noise.range + 1))
    outputs = tuple(str(k + 1) for k in range(n))
    return OneShot(CHECKS, (), (values,) * n, outputs, arg_max(noise, ties, CHECKS))


def enumerated(noise: Noise, n: int, ties: str, differ: str, by: str) -> Fraction | None:
    hmm, pairs = mechanism(noise, n, ties).neighbours(Table({"differ": differ, "by": by}))
    model = Model(CHECKS.domain, hmm, tuple(pairs), MaxDivergence(number(2)))
    found = list(candidates(model))
    if any(c.is_infinite for c in found):
        return None
    return max(constant_value(c.left) / constant_value(c.right) for c in found if c.right)


def check_witness(noise: Noise, n: int, ties: str, differ: str, found: LargestRatio) -> None:
    changed = [k for k, (x, y) in enumerate(zip(found.left, found.right, strict=True)) if x != y]
    assert len(changed) <= (1 if differ == "one" else n)
    left, right = (tuple(Fraction(v) for v in given) for given in (found.left, found.right))
    if left == right:
        return
    hmm, pairs = compare(mechanism(noise, n, ties), [(left, right)])
    witness = evaluate(Model(CHECKS.domain, hmm, tuple(pairs), MaxDivergence(number(1))), found.origin, {})
    assert [p.rational for p in witness.probabilities] == list(found.probabilities)
    assert (witness.ratio.rational if witness.ratio else None) == found.ratio


@pytest.mark.parametrize("ties", ["uniform", "first"])
@pytest.mark.parametrize("differ", ["each", "one"])
@pytest.mark.parametrize("by", ["1", "any"])
@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_all_pairs(ties: str, differ: str, by: str, seed: int) -> None:
    """For random noise, zeros included, the largest ratio is that over all pairs of neighbours."""
    random = Random(seed)
    limit, n = random.choice([(1, 2), (1, 4), (2, 2), (2, 3), (3, 2)])
    noise = Noise([[number(p) for p in random_row(random, limit + 1)] for _ in range(limit + 1)])
    found = largest_ratio(noise, n, ties, differ, None if by == "any" else 1)
    assert found.ratio == enumerated(noise, n, ties, differ, by)
    check_witness(noise, n, ties, differ, found)


@pytest.mark.parametrize(
    ("ties", "n", "ratio"),
    [
        ("uniform", 3, Fraction(24, 7)),
        ("uniform", 5, Fraction(288, 73)),
        ("uniform", 10, Fraction(20155392, 5039105)),
        ("first", 3, Fraction(8)),
        ("first", 10, Fraction(1024)),
        ("first", 12, Fraction(4096)),
    ],
)
def test_tight_ratio_of_noisy_max(ties: str, n: int, ratio: Fraction) -> None:
    """The published cases have the known tight ratios, and larger ones have witnesses that attain theirs."""
    found = largest_ratio(half(), n, ties, "each")
    assert found.ratio == ratio
    check_witness(half(), n, ties, "each", found)


def test_twelve_answers_and_a_wider_range() -> None:
    """Twelve answers, and six values for each of five, are no harder; both have exact witnesses."""
    for noise, n in ((half(), 12), (half(5), 5)):
        found = largest_ratio(noise, n, "uniform", "each")
        assert found.ratio is not None
        assert 2 < found.ratio < 4
        check_witness(noise, n, "uniform", "each", found)


def test_parametric_noise_is_refused() -> None:
    """Noise with a parameter has no largest ratio that is a number."""
    ring = Ring(("alpha",))
    checks = Checks(box_domain(ring, {"alpha": Interval(Fraction(0), Fraction(1))}))
    noise = truncated_geometric(RationalFunction.of(ring.variable("alpha")), 2, checks)
    with pytest.raises(UnsupportedError, match="the noise has parameters"):
        largest_ratio(noise, 3, "uniform", "each")
