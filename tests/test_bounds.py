"""Bounds of least bounds: what both ends say, and the search that narrows them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import pytest

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.bounds import INFINITY, AnyBounds, Bounds
from paramverify.portfolio.session import Session
from paramverify.synthesis import every_length_budget
from paramverify.synthesis.quotients import RatioBounds
from paramverify.synthesis.supremum import Functional, supremum

if TYPE_CHECKING:
    from paramverify.models.model import Model


def bounds(lower: object, upper: object) -> AnyBounds:
    """Returns bounds as a subject of another package makes them."""
    return Bounds("ratio", *(None if end is None else ExactNumber(end) for end in (lower, upper)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "known", "low", "high", "text"),
    [
        (bounds(3, 3), 3, 3, 3, "3"),
        (bounds(0, 0), 0, 0, 0, "0"),
        (bounds(2, 3), None, 2, 3, "between 2 and 3"),
        (bounds(2, None), None, 2, None, "at least 2"),
        (Bounds("ratio", ExactNumber(2), INFINITY), None, 2, None, "at least 2"),
        (Bounds("ratio", INFINITY, INFINITY), INFINITY, 0, None, "infinity"),
        (bounds(None, None), None, 0, None, "at least 0"),
    ],
)
def test_what_both_ends_say(
    found: AnyBounds, known: ExactNumber | None, low: int, high: int | None, text: str
) -> None:
    """The least bound is known where both ends are equal, also if it is 0 or infinite."""
    assert found.known == known
    assert (found.low, found.high, str(found)) == (low, high, text)
    assert found.infinite == (known is INFINITY)
    assert found.is_within(Fraction(1, 10)) == (known is not None)
    assert found.infinite or (found.open().low, found.open().high) == (low, None)


class Below(Functional[None, Fraction]):
    """A number that trials are compared with; a refuting point has a value between both."""

    tries = 1

    def __init__(self, number: Fraction, precision: Fraction) -> None:
        self.number, self.precision, self.made = number, precision, list[Fraction]()

    def enough(self, best: Bounds[None, Fraction], bound: Fraction) -> Bounds[None, Fraction]:
        """Proves a bound that is not below the number."""
        self.made.append(bound)
        if bound >= self.number:
            return Bounds("ratio", best.lower, ExactNumber(bound), proof=bound)
        return Bounds("ratio", ExactNumber((bound + self.number) / 2), best.upper, proof=best.proof)

    def is_near(self, best: Bounds[None, Fraction]) -> bool:
        """Tells whether they are near."""
        return best.is_within(self.precision)


def test_the_search_narrows_both_ends() -> None:
    """It goes twice as far until a bound is enough, then between the ends, and never past the supremum."""
    precision = Fraction(1, 10**6)
    with Session() as session:
        for number in (Fraction(1), Fraction(22, 7), Fraction(1000)):
            functional = Below(number, precision)
            found = supremum(functional, session, bounds(1, None), Fraction(2))
            assert found.low <= number <= (found.high or 0) == found.proof
            assert found.is_within(precision)
            assert len(functional.made) < 80


def test_a_supremum_that_is_tried_is_exact() -> None:
    """The lower end itself is tried: where it is the supremum, both ends are equal."""
    with Session() as session:
        found = supremum(Below(Fraction(3), Fraction(1, 10**6)), session, bounds(3, None), Fraction(6))
    assert found.known == 3


def test_ends_take_turns_over_every_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower end that is tried may lead to a larger one, without end: a middle comes between two."""
    trials: list[Fraction] = []
    supremum_of_all = Fraction(2) ** 3 * Fraction(7, 9)

    def enough(search: object, best: RatioBounds, bound: Fraction) -> RatioBounds:
        trials.append(bound)
        assert len(trials) < 60
        own = cast("every_length_budget._EveryLengthSearch", search)
        own.last, own.asked = bound, bound if bound == best.low else own.asked
        if bound >= supremum_of_all:
            return replace(best, upper=ExactNumber(bound))
        own.tried = max(own.tried, bound)
        return replace(best, lower=ExactNumber(supremum_of_all - (supremum_of_all - bound) / 2))

    monkeypatch.setattr(every_length_budget._EveryLengthSearch, "enough", enough)
    with Session() as session:
        model = cast("Model", None)
        search = every_length_budget._EveryLengthSearch(model, model, session, False, Fraction(1, 10**4))
        found = supremum(search, session, RatioBounds("ratio", ExactNumber(0), INFINITY), Fraction(2))
    assert found.low < supremum_of_all <= (found.high or 0)
    assert (found.high or 0) - supremum_of_all < Fraction(1, 100)
    assert len(trials) > 4
