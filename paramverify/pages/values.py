"""What the page computes with: polynomials as lists of integers, for exact evaluation at any point.

The numbers are texts, because JavaScript reads the numbers of JSON as floats. `[["3", 2, 0], ["-1", 0, 1]]`
is 3·x² − y over the variables of the ring. A function is `[numerator, denominator]` in lowest terms. All of
it has integer coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, RationalFunction, primitive
from paramverify.claims import show_sequence
from paramverify.encodings.sequences import forward_sums
from paramverify.errors import LimitError
from paramverify.models.model import AnyModel, Model, of_privacy
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.reports.formulas import integral

MOST_ROWS = 1_000  # comparisons of two probabilities that a page evaluates
MOST_TERMS = 60_000  # terms of all polynomials of a case
BITS = 256  # of the enclosure of exp(g)

Terms = list[list[str | int]]


def terms(polynomial: Polynomial) -> Terms:
    """Returns a polynomial with integer coefficients as JSON data."""
    return [[str(c.p), *map(int, m)] for m, c in polynomial.to_dict().items()]


@dataclass
class PageFunctions:
    """The rational functions of a page, each once; `add` returns the number of one."""

    listed: list[list[Terms]] = field(default_factory=list)
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    size: int = 0

    def add(self, function: RationalFunction) -> int:
        """Returns the number of a function, which is new or known.

        Raises:
            LimitError: more than `MOST_TERMS` terms in all.
        """
        key = (str(function.numerator), str(function.denominator))
        if key not in self.numbers:
            self.numbers[key] = len(self.listed)
            top, bottom = integral(function)
            self.size += len(top) + len(bottom)
            if self.size > MOST_TERMS:
                raise LimitError(f"the formulas have more than {MOST_TERMS:,} terms")
            self.listed.append([terms(top), terms(bottom)])
        return self.numbers[key]


def values(model: AnyModel) -> dict[str, Any]:
    """Returns the domain of a model and all that it compares, as JSON data.

    Raises:
        LimitError: more than `MOST_ROWS` comparisons, or too many terms; sequences of every length.
    """
    functions = PageFunctions()
    if model.comparisons:
        compared = _stated(model, functions)
    else:
        compared = _pairs(of_privacy(model, "values", tied=True, densities=True), functions)
    return {**domain_data(model.domain), **compared, "functions": functions.listed}


def domain_data(domain: Domain) -> dict[str, Any]:
    """Returns the variables, the box and the constraints."""
    ring = domain.ring
    box = [{"name": n, **_interval(domain.box[n])} for n in ring.parameters]
    found: dict[str, Any] = {
        "box": box,
        "constraints": [
            {"terms": terms(primitive(c.polynomial)[1]), "strict": c.strict, "text": c.text}
            for c in domain.constraints
        ],
        "meanings": {u.variable: u.meaning for u in ring.unbounded},
    }
    if domain.constant:
        low, high = domain.constant.enclosure(BITS)
        about = {"name": GENERATOR, "meaning": f"exp({domain.constant.exponent})"}
        found["generator"] = about | {"low": str(low), "high": str(high)}
    return found


def _interval(interval: Interval) -> dict[str, Any]:
    return {
        "low": str(interval.lower),
        "high": str(interval.upper),
        "lowClosed": interval.lower_closed,
        "highClosed": interval.upper_closed,
    }


def _stated(model: AnyModel, functions: PageFunctions) -> dict[str, Any]:
    return {
        "stated": [
            {
                "text": c.text,
                "left": functions.add(c.left),
                "relation": c.relation,
                "right": functions.add(c.right),
            }
            for c in model.comparisons
        ]
    }


def _pairs(model: Model, functions: PageFunctions) -> dict[str, Any]:
    """Returns the secret pairs with their bounds, and for each sequence its two probabilities."""
    if not model.lengths:
        raise LimitError("the case is about sequences of every length")
    sums: dict[int, Mapping[tuple[int, ...], Polynomial]] = {}
    pairs: list[dict[str, Any]] = []
    rows: list[list[Any]] = []
    for pair in model.pairs:
        pairs.append(_pair(model, pair, functions))
        for word, left, right in _compared(model, pair, sums):
            rows.append([len(pairs) - 1, word, functions.add(left), functions.add(right)])
            if len(rows) > MOST_ROWS:
                raise LimitError(f"there are more than {MOST_ROWS} comparisons of two probabilities")
    return {"pairs": pairs, "rows": rows}


def _pair(model: Model, pair: SecretPair, functions: PageFunctions) -> dict[str, Any]:
    bound = model.ratio_bound(pair.distance).ratio
    return {
        "left": pair.left,
        "right": pair.right,
        "masses": [terms(primitive(start.mass)[1]) for start in (pair.pi, pair.tau)],
        "bound": functions.add(bound),
    }


def _compared(
    model: Model, pair: SecretPair, sums: dict[int, Mapping[tuple[int, ...], Polynomial]]
) -> Iterator[tuple[str, RationalFunction, RationalFunction]]:
    """Yields (output, Pr(output | left), Pr(output | right)) for all that is possible under one of both."""
    sides = (pair.pi, pair.tau)
    for start in sides:
        if id(start) not in sums:
            sums[id(start)] = forward_sums(model, start)
    left, right = (sums[id(start)] for start in sides)
    for word in dict.fromkeys([*left, *right]):
        named = show_sequence(model.hmm.observations[o] for o in word)
        yield named, _probability(model, pair.pi, left, word), _probability(model, pair.tau, right, word)


def _probability(
    model: Model,
    start: InitialDistribution,
    sums: Mapping[tuple[int, ...], Polynomial],
    word: tuple[int, ...],
) -> RationalFunction:
    total = sums.get(word, start.mass * 0)
    return RationalFunction.of(total, start.mass * model.hmm.denominator ** len(word))
