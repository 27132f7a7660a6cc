"""Numbers whose densities have several terms: each output against numerical integrals and brute force."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from paramverify.algebra.polynomials import Polynomial
from paramverify.claims import Origin
from paramverify.errors import InputError
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.kernel.documents import check_text
from paramverify.models.hmm import ArithmeticSequence
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase, load, read_case
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document
from paramverify.synthesis.case_budget import case_budget
from paramverify.tables import TomlDocument
from paramverify.verdicts import Holds, Violated

CASES = Path(__file__).parents[2] / "cases" / "programs"
GAP = """
T = laplace(2 / eps)
for x in q:
    noisy = x + laplace(4 / eps)
    if noisy >= T:
        output(noisy - T)
        stop
    output("below")
"""
MAXIMUM = "output(max(q[0] + laplace(2 / eps), q[1] + laplace(2 / eps), q[2] + laplace(1 / eps)))"
Density = Callable[[float, Sequence[int], float], float]


def case(source: str, length: int, bound: str, **more: Any) -> PrivacyCase:
    data: dict[str, Any] = {
        "parameters": {"eps": "(0, oo)"},
        "mechanism": {"kind": "program", "source": source},
        "neighbours": {"differ": "each"},
        "privacy": {"epsilon": bound},
        **more,
    }
    data["mechanism"] = {**data["mechanism"], "inputs": {"q": {"length": length, "values": "0..1"}}}
    return read_case(TomlDocument(data, digest="0" * 64, path="case.toml"))


def model_of(read: PrivacyCase) -> Model:
    assert isinstance(read.model, Model)
    return read.model


def tail(rate: float, v: float) -> float:
    """Returns Pr(noise < v) for Laplace noise."""
    return math.exp(rate * v) / 2 if v < 0 else 1 - math.exp(-rate * v) / 2


def density(rate: float, v: float) -> float:
    return rate / 2 * math.exp(-rate * abs(v))


def maximum(eps: float, q: Sequence[int], o: float) -> float:
    """Returns the density of the largest of three noisy answers."""
    rates = [eps / 2, eps / 2, eps]
    parts = [(density(r, o - x), tail(r, o - x)) for r, x in zip(rates, q, strict=True)]
    return sum(
        parts[k][0] * math.prod(below for j, (_, below) in enumerate(parts) if j != k) for k in range(3)
    )


def gap(eps: float, q: Sequence[int], o: float) -> float:
    """Returns the density of the gap of the second answer, the first one below the threshold: an integral."""

    def inside(t: float) -> float:
        return density(eps / 2, t) * tail(eps / 4, t - q[0]) * density(eps / 4, o + t - q[1])

    breaks = sorted({0.0, float(q[0]), q[1] - o})
    far = 120 / eps
    edges = [breaks[0] - far, *breaks, breaks[-1] + far]
    return sum(_simpson(inside, a, b) for a, b in pairwise(edges))


def _simpson(f: Callable[[float], float], low: float, high: float) -> float:
    steps = 800
    h = (high - low) / steps
    middle = sum((4 if k % 2 else 2) * f(low + k * h) for k in range(1, steps))
    return (f(low) + middle + f(high)) * h / 3


def values(polynomial: Polynomial, point: dict[str, float]) -> float:
    names = [str(n) for n in polynomial.context().names()]
    total = 0.0
    for monomial, c in polynomial.to_dict().items():
        powers = (point[n] ** int(m) for n, m in zip(names, monomial, strict=True) if m)
        total += float(Fraction(int(c.p), int(c.q))) * math.prod(powers)
    return total


def place(spread: ArithmeticSequence, x: float, step: float, w: float) -> tuple[float, dict[str, float]]:
    """Returns the output that a point means, and the values of what stands beside x, by their definitions."""
    point = {"x_eps": x, "eps": -math.log(x) / step, spread.variable: w}
    base = values(spread.base.numerator, point) / values(spread.base.denominator, point)
    y = w if spread.length is None else 1 - w * (1 - base)
    t = math.log(y) / math.log(base) * float(spread.length or 1)
    if spread.slack:
        whole = -math.log(base)
        lowest = (whole - (1 - base)) * w * (1 - w) / y
        point[spread.slack] = (w * whole + math.log(y)) / lowest
        assert 0 <= point[spread.slack] <= 1
    return float(spread.anchor) + float(spread.way) * t, point


@pytest.mark.slow
@pytest.mark.parametrize(("source", "length", "oracle"), [(GAP, 2, gap), (MAXIMUM, 3, maximum)])
def test_weights_are_densities_at_the_output_that_is_meant(source: str, length: int, oracle: Density) -> None:
    """The ratio of two weights is that of two densities, wherever the output lies; bounds hold the number."""
    model = model_of(case(source, length, "eps"))
    (unbounded,) = model.domain.ring.unbounded
    names = [name for name in model.hmm.spreads if length == 3 or name.startswith("below")]
    assert names
    slacks = 0
    for name, x, w in product(names, (0.3, 0.9), (0.2, 0.95)):
        ((_, spread),) = model.hmm.spreads[name]
        slacks += bool(spread.slack)
        o, point = place(spread, x, float(unbounded.step), w)
        number = model.hmm.observations.index(name)
        told = [
            sum(values(s.weight, point) for s in row if s.observation == number) for row in model.hmm.steps
        ]
        inputs = [[int(v) for v in state.strip("()").split(",")] for state in model.hmm.states]
        wanted = [oracle(point["eps"], q, o) for q in inputs]
        for a, b in zip(told, wanted, strict=True):
            assert a / told[0] == pytest.approx(b / wanted[0], rel=1e-4)
    assert bool(slacks) == (oracle is gap)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "length", "bound"), [(GAP, 2, "eps"), (MAXIMUM, 3, "2*eps")])
def test_proofs_are_replayed(source: str, length: int, bound: str) -> None:
    """The kernel replays the proofs of a private case; a smaller bound is no longer proved."""
    read = case(source, length, bound)
    report = verify(read, Options())
    assert isinstance(report.verdict, Holds)
    assert check_text(json.dumps(evidence_document(read, report))).accepted
    assert not isinstance(verify(case(source, length, "eps/4"), Options()).verdict, Holds)


@pytest.mark.slow
def test_budgets_are_those_of_all_outputs() -> None:
    """No output on a grid has a larger ratio than the budget, and one comes near it."""
    read = case(GAP, 2, "1/10", parameters={"eps": "1/10"})
    with Session(Options()) as session:
        found = case_budget(model_of(read), session, Fraction(1, 10**6)).ratio
    assert found.proof is not None
    inputs = list(product((0, 1), repeat=2))
    grid = [0.01, 0.3, 0.5, 0.7, 1.01, 3.0, 40.0]
    table = [[gap(0.1, q, o) for q in inputs] for o in grid]
    largest = max(a / b for row in table for a in row for b in row)
    assert largest <= float(found.low) * (1 + 1e-6)
    assert largest >= float(found.low) * (1 - 1e-2)


def geometric_maximum(alpha: Fraction, q: Sequence[int], o: int) -> Fraction:
    """Returns the probability that the largest of three answers with two-sided geometric noise is o."""

    def below(v: int) -> Fraction:  # Pr(noise <= v)
        return 1 - alpha ** (v + 1) / (1 + alpha) if v >= 0 else alpha**-v / (1 + alpha)

    return math.prod((below(o - x) for x in q), start=Fraction(1)) - math.prod(
        (below(o - 1 - x) for x in q), start=Fraction(1)
    )


def test_whole_numbers_are_all_compared() -> None:
    """Each whole number has the ratio of its probabilities, and nothing is said between them."""
    model = model_of(load(str(CASES / "numeric-noisy-max-value-geometric.toml")))
    (name,) = model.hmm.spreads
    ((_, spread),) = model.hmm.spreads[name]
    assert spread.whole
    alpha = Fraction(1, 3)
    origin = Origin("(0, 0, 1)", "(1, 1, 1)", (name,))
    for k in range(4):
        witness = evaluate(model, origin, {"alpha": alpha, spread.variable: alpha**k})
        o = int(spread.anchor) + k
        shares = [geometric_maximum(alpha, q, o) for q in ((0, 0, 1), (1, 1, 1))]
        assert witness.ratio is not None
        assert witness.ratio.rational == shares[0] / shares[1]
        assert witness.meant["o1"] == str(o)
    with pytest.raises(InputError, match="no whole number"):
        evaluate(model, origin, {"alpha": alpha, spread.variable: Fraction(1, 2)})


@pytest.mark.slow
def test_what_is_known_by_bounds_refutes_nothing() -> None:
    """An output with the number beside its exponential has no exact weight; its neighbours have."""
    model = model_of(case(GAP, 2, "eps"))
    name = next(n for n, named in model.hmm.spreads.items() if any(s.slack for _, s in named))
    point = dict.fromkeys(model.domain.ring.parameters, Fraction(1, 2))
    with pytest.raises(InputError, match="bounded only"):
        evaluate(model, Origin("(1, 0)", "(0, 0)", (name,)), point)


@pytest.mark.slow
def test_a_witness_tells_the_output() -> None:
    """A bound below the largest ratio is refuted at an output that is told, with its densities."""
    report = verify(case(MAXIMUM, 3, "3*eps/2", neighbours={"pairs": [[[0, 0, 0], [1, 0, 1]]]}), Options())
    assert isinstance(report.verdict, Holds)
    report = verify(load(str(CASES / "numeric-sparse-vector-value-more-noise.toml")), Options())
    assert isinstance(report.verdict, Violated)
    witness = report.verdict.witness
    assert isinstance(witness, ExactWitness)
    eps = -4 * math.log(witness.parameters["x_eps"])
    assert witness.ratio is not None
    # four answers below and one that is told: each is more likely by exp(eps/4) at the output 0
    assert float(sum(witness.ratio.enclosure()) / 2) == pytest.approx(math.exp(5 * eps / 4))


@pytest.mark.slow
def test_refusals() -> None:
    """Sequences of such outputs, and a parameter with the name of their variable, are refused."""
    with pytest.raises(InputError, match="sequences of such outputs"):
        case(MAXIMUM, 3, "eps", privacy={"epsilon": "eps", "length": 2})
    with pytest.raises(InputError, match="w1 is reserved for the place of an output"):
        case(MAXIMUM, 3, "eps", parameters={"eps": "(0, oo)", "w1": "(0, 1)"})
