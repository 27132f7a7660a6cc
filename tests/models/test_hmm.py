"""Hidden Markov models against brute force, and the claims that the enumerating encoding makes of them."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import FEW

from paramverify.algebra.domains import Domain, Interval, box_domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction, Ring, to_rational_function, value_at
from paramverify.claims import Origin
from paramverify.divergences import MaxDivergence
from paramverify.encodings.sequences import sequence_claims
from paramverify.errors import ModelError
from paramverify.evidence.witnesses import evaluate
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution, SecretPair

OBSERVATIONS = "xyz"


@st.composite
def distributions(draw: st.DrawFn, size: int) -> list[Fraction]:
    """Rational distributions, zeros included."""
    weights = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any))
    return [Fraction(w, sum(weights)) for w in weights]


@st.composite
def tables(draw: st.DrawFn) -> dict:
    """Transition and emission tables of a small model, and two initial distributions."""
    states = draw(st.integers(1, 4))
    symbols = draw(st.integers(1, 3))
    return {
        "transitions": [draw(distributions(states)) for _ in range(states)],
        "emissions": [draw(distributions(symbols)) for _ in range(states)],
        "pi": draw(distributions(states)),
        "tau": draw(distributions(states)),
        "length": draw(st.integers(1, 4)),
    }


def forward_sum(data: dict, start: list[Fraction], word: tuple[int, ...]) -> Fraction:
    """The sum over all paths, straight from the definition."""
    total = Fraction(0)
    for path in product(range(len(start)), repeat=len(word)):
        weight = start[path[0]]
        for position, (state, symbol) in enumerate(zip(path, word, strict=True)):
            weight *= data["emissions"][state][symbol]
            if position + 1 < len(path):
                weight *= data["transitions"][state][path[position + 1]]
        total += weight
    return total


def model_of(data: dict, ratio: Fraction) -> Model:
    ring = Ring()
    checks = Checks(Domain(ring, {}))

    def row(values: list[Fraction], names: list[str]) -> dict[str, RationalFunction]:
        pairs = zip(names, values, strict=True)
        return {name: RationalFunction.of(ring.number(v)) for name, v in pairs}

    states = [f"s{k}" for k in range(len(data["pi"]))]
    symbols = list(OBSERVATIONS[: len(data["emissions"][0])])
    hmm = HMM.from_tables(
        checks,
        {s: row(r, states) for s, r in zip(states, data["transitions"], strict=True)},
        {s: row(r, symbols) for s, r in zip(states, data["emissions"], strict=True)},
        symbols,
    )

    def start(values: list[Fraction]) -> InitialDistribution:
        return InitialDistribution.of(
            {k: RationalFunction.of(ring.number(v)) for k, v in enumerate(values)}, checks
        )

    pair = SecretPair("left", "right", start(data["pi"]), start(data["tau"]))
    bound = RationalFunction.of(ring.number(ratio))
    return Model(checks.domain, hmm, (pair,), MaxDivergence(bound), (data["length"],))


@pytest.mark.slow
@FEW
@given(tables())
def test_evaluation_equals_the_sum_over_all_paths(data: dict) -> None:
    """The forward recursion gives the probability that the definition gives, for every sequence."""
    model = model_of(data, Fraction(2))
    for word in product(range(len(data["emissions"][0])), repeat=data["length"]):
        names = tuple(OBSERVATIONS[o] for o in word)
        witness = evaluate(model, Origin("left", "right", names), {})
        expected = [forward_sum(data, data[side], word) for side in ("pi", "tau")]
        assert [p.rational for p in witness.probabilities] == expected


@pytest.mark.slow
@FEW
@given(tables(), st.fractions(1, 5, max_denominator=10))
def test_claims_hold_iff_no_sequence_exceeds_the_ratio(data: dict, ratio: Fraction) -> None:
    """The merged claims together say exactly what brute force over all sequences says."""
    model = model_of(data, ratio)
    claims = sequence_claims(model)
    private = all(
        forward_sum(data, data[a], word) <= ratio * forward_sum(data, data[b], word)
        for word in product(range(len(data["emissions"][0])), repeat=data["length"])
        for a, b in (("pi", "tau"), ("tau", "pi"))
    )
    assert all(c.holds_at({}) for c in claims) == private
    if not private:
        assert evaluate(model, claims[0].origins[0], {}).exceeds


@pytest.mark.slow
@FEW
@given(
    st.sampled_from(["p", "1 - p", "p*q", "(p + q)/2", "p**2", "1/(1 + p)", "q/(1 + p*q)"]),
    st.sampled_from(["p", "q", "1 - q", "p*(1 - q)", "1/2", "1/(2 - p)"]),
    st.fractions(Fraction(1, 8), Fraction(7, 8), max_denominator=16),
    st.fractions(Fraction(1, 8), Fraction(7, 8), max_denominator=16),
)
def test_parametric_claims_agree_with_evaluation(move: str, emit: str, p: Fraction, q: Fraction) -> None:
    """A parametric claim is violated at a point iff the model evaluated there exceeds the bound."""
    ring = Ring(("p", "q"))
    unit = Interval(Fraction(0), Fraction(1))
    checks = Checks(box_domain(ring, {"p": unit, "q": unit}))
    one = RationalFunction.of(ring.number(1))
    m, e = (to_rational_function(parse(text), ring) for text in (move, emit))
    hmm = HMM.from_tables(
        checks,
        {"a": {"a": m, "b": one - m}, "b": {"b": one}},
        {"a": {"x": e, "y": one - e}, "b": {"x": one}},
        "xy",
    )
    mixed = InitialDistribution.of({0: m, 1: one}, checks)
    pair = SecretPair("left", "right", InitialDistribution.point(0, ring.number(1)), mixed)
    model = Model(checks.domain, hmm, (pair,), MaxDivergence(RationalFunction.of(ring.number(2))), (3,))
    point = {"p": p, "q": q}
    for claim in sequence_claims(model):
        exceeds = {evaluate(model, origin, point).exceeds for origin in claim.origins}
        assert exceeds == {value_at(claim.polynomial, point) < 0}


def test_from_function_explores_reachable_states() -> None:
    """A step function becomes the model of all states that can be reached."""

    def step(count: object) -> list:
        assert isinstance(count, int)
        if count == 3:
            return [("done", 3, 1)]
        return [("on", count + 1, Fraction(1, 3)), ("off", count, "2/3")]

    hmm = HMM.from_function([0], step)
    assert hmm.states == ("0", "1", "2", "3")
    assert hmm.observations == ("on", "off", "done")
    assert [len(row) for row in hmm.steps] == [2, 2, 2, 1]


def test_from_function_refuses_rows_that_do_not_sum_to_one() -> None:
    """A step function whose probabilities do not sum to one is named with its state and its sum."""
    with pytest.raises(ModelError, match="state 0: the probabilities sum to 1/2 instead of 1"):
        HMM.from_function([0], lambda state: [("x", state, Fraction(1, 2))])


def test_from_function_with_parameters() -> None:
    """Texts over the parameters are probabilities too, and are checked on the domain."""
    ring = Ring(("p",))
    checks = Checks(box_domain(ring, {"p": Interval(Fraction(0), Fraction(1))}))
    hmm = HMM.from_function(["s"], lambda state: [("x", state, "p"), ("y", state, "1 - p")], checks)
    assert [str(step.weight) for step in hmm.steps[0]] == ["p", "-p + 1"]
    with pytest.raises(ModelError, match="negative at p = "):
        HMM.from_function(["s"], lambda state: [("x", state, "2*p"), ("y", state, "1 - 2*p")], checks)
