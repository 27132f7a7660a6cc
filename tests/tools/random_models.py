"""Random hidden Markov models and brute force over all their sequences, for tests that compare encodings."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

from paramverify.algebra.domains import Domain, Interval, box_domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction, Ring, to_rational_function
from paramverify.divergences import MaxDivergence
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution, SecretPair

OBSERVATIONS = "wxyz"


def random_row(random: Random, size: int) -> list[Fraction]:
    """A distribution with small numbers, zeros included."""
    weights = [random.choice((0, 1, 1, 2, 3, 5)) for _ in range(size)]
    weights[random.randrange(size)] += 1
    return [Fraction(w, sum(weights)) for w in weights]


def random_model(random: Random, length: int, states: int = 5, symbols: int = 4) -> Model:
    """A classical model with at most so many states and observations, and two random priors."""
    states, symbols = random.randint(1, states), random.randint(1, symbols)
    return classical_model(
        [random_row(random, states) for _ in range(states)],
        [random_row(random, symbols) for _ in range(states)],
        random_row(random, states),
        random_row(random, states),
        random.choice((Fraction(3, 2), Fraction(2), Fraction(4))),
        (length,),
    )


def classical_model(
    transitions: list[list[Fraction]],
    emissions: list[list[Fraction]],
    pi: list[Fraction],
    tau: list[Fraction],
    ratio: Fraction,
    lengths: tuple[int, ...],
) -> Model:
    """The model of tables of numbers, with one secret pair."""
    text = [[[str(x) for x in row] for row in table] for table in (transitions, emissions, [pi, tau])]
    return parametric_model({}, text[0], text[1], text[2][0], text[2][1], str(ratio), lengths)


def parametric_model(
    box: dict[str, tuple[Fraction, Fraction]],
    transitions: list[list[str]],
    emissions: list[list[str]],
    pi: list[str],
    tau: list[str],
    ratio: str,
    lengths: tuple[int, ...],
) -> Model:
    """The model of tables of expressions over parameters in closed intervals, with one secret pair."""
    ring = Ring(tuple(box))
    intervals = {name: Interval(low, high, True, True) for name, (low, high) in box.items()}
    checks = Checks(box_domain(ring, intervals) if box else Domain(ring, {}))

    def function(entry: str) -> RationalFunction:
        return to_rational_function(parse(entry), ring)

    def row(values: list[str], names: list[str]) -> dict[str, RationalFunction]:
        return {name: function(v) for name, v in zip(names, values, strict=True)}

    states = [f"s{k}" for k in range(len(pi))]
    symbols = list(OBSERVATIONS[: len(emissions[0])])
    hmm = HMM.from_tables(
        checks,
        {s: row(r, states) for s, r in zip(states, transitions, strict=True)},
        {s: row(r, symbols) for s, r in zip(states, emissions, strict=True)},
        symbols,
    )
    starts = [
        InitialDistribution.of({k: function(v) for k, v in enumerate(values)}, checks) for values in (pi, tau)
    ]
    pair = SecretPair("left", "right", *starts)
    return Model(checks.domain, hmm, (pair,), MaxDivergence(function(ratio)), lengths)


def all_probabilities(model: Model) -> dict[tuple[str, ...], tuple[Fraction, Fraction]]:
    """Both probabilities of every sequence of the model's lengths, by the forward recursion on numbers."""
    hmm, (pair,) = model.hmm, model.pairs
    scale = _number(hmm.denominator)
    found: dict[tuple[str, ...], tuple[Fraction, Fraction]] = {}
    for length in model.lengths:
        for word in product(range(len(hmm.observations)), repeat=length):
            both = []
            for start in (pair.pi, pair.tau):
                weights = {s: _number(w) / _number(start.mass) for s, w in start.weights.items()}
                for observation in word:
                    moved: dict[int, Fraction] = {}
                    for state, weight in weights.items():
                        for step in hmm.steps[state]:
                            if step.observation == observation:
                                part = weight * _number(step.weight) / scale
                                moved[step.successor] = moved.get(step.successor, Fraction(0)) + part
                    weights = moved
                both.append(sum(weights.values(), Fraction(0)))
            found[tuple(hmm.observations[o] for o in word)] = (both[0], both[1])
    return found


def largest_ratio(pairs: list[tuple[Fraction, Fraction]]) -> Fraction | None:
    """The largest ratio of left to right; None for infinity."""
    if any(left and not right for left, right in pairs):
        return None
    return max((left / right for left, right in pairs if right), default=Fraction(0))


def _number(polynomial: object) -> Fraction:
    from paramverify.algebra.polynomials import constant_value

    return constant_value(polynomial)
