"""How `[privacy]` bounds the divergences of this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from paramverify.algebra.expressions import Expression
from paramverify.algebra.polynomials import RationalFunction
from paramverify.divergences.forms import Average
from paramverify.divergences.hockey_stick import HockeyStick
from paramverify.divergences.kl import KLDivergence
from paramverify.divergences.max_divergence import MaxDivergence
from paramverify.divergences.reading import (
    DivergenceKind,
    ExpressionChecks,
    Stated,
    in_words,
    read_average,
    read_bound,
    read_probability,
    times,
)
from paramverify.divergences.renyi import Renyi
from paramverify.divergences.zero_concentrated import ZeroConcentrated
from paramverify.errors import CaseError, InputError, located
from paramverify.tables import EXPRESSION, Either, Key, Section, Table, exactly_one, one_of, whole

MAX_ORDER = 100
INFINITE = "oo"
RENYI_TABLE = Section(
    "[privacy] renyi",
    "The Renyi divergence of an order, and its bound.",
    (
        Key(
            "order",
            Either((whole(2, MAX_ORDER), one_of(INFINITE))),
            "The order: a whole number of at least 2, or infinity, which is pure privacy.",
            needed=True,
        ),
        Key("epsilon", EXPRESSION, 'The bound of the divergence, such as 1/2 or "ln(2)".'),
        Key("ratio", EXPRESSION, "The bound e^epsilon itself."),
    ),
    rules=(exactly_one("epsilon", "ratio"),),
)


def _renyi(privacy: Table, checks: ExpressionChecks) -> Stated:
    """Reads an order, and the bound ε or e^ε of the divergence."""
    with privacy.within("renyi") as table:
        order = _order(table.need("order"))
        name = table.either("epsilon", "ratio", 'epsilon = "ln(2)", for example')
        expression = table.expression(name)
        table.close()
        pure, words = read_bound(expression, name, checks, order - 1 if order else 1)
        words = f"renyi of order {order or INFINITE}, {words}"
        return (Renyi(pure.ratio, order) if order else pure), words


def _order(value: Any) -> int | None:
    """Returns a whole order of at least 2, or None for infinity.

    Raises:
        CaseError: anything else.
    """
    with located(key="order"):
        if value == INFINITE:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            if 2 <= value <= MAX_ORDER:
                return value
            if value == 1:
                raise CaseError("the order must be at least 2; for the Kullback-Leibler divergence, write kl")
            if value < 1:
                raise CaseError(f"the order must be above 1, but it is {value}")
            raise CaseError(f"the order must be at most {MAX_ORDER}, or infinity", mend=f'write "{INFINITE}"')
        reason = f'the order must be a whole number from 2 to {MAX_ORDER}, or "{INFINITE}"'
        raise CaseError(f"{reason}; for all orders above 1, use zcdp")


def _epsilons(privacy: Table) -> Iterator[Expression]:
    """Yields the logarithm of the bound of a sum, where a Rényi divergence has an epsilon."""
    renyi = privacy.get("renyi")
    if isinstance(renyi, dict) and "epsilon" in renyi:
        order = renyi.get("order")
        with suppress(InputError):  # told where the bound is read
            own = Table(renyi).expression("epsilon")
            yield times(own, order - 1 if isinstance(order, int) and order > 1 else 1)


def _total_variation(privacy: Table, checks: ExpressionChecks) -> Stated:
    name = "total_variation"
    words = in_words(name, privacy.expression(name), checks)
    delta = read_probability(privacy.expression(name), checks, name)
    one = RationalFunction.of(checks.ring.number(1))
    return (HockeyStick(one, delta, name) if delta.numerator else MaxDivergence(one)), words


def _average(divergence: type[Average], text: str) -> DivergenceKind:
    name = divergence.key

    def read(privacy: Table, checks: ExpressionChecks) -> Stated:
        expression = privacy.expression(name)
        words = in_words(name, expression, checks)
        return read_average(divergence, expression), words

    return DivergenceKind(Key(name, EXPRESSION, text), read)


RENYI = DivergenceKind(Key("renyi", RENYI_TABLE), _renyi, _epsilons)
TOTAL_VARIATION = DivergenceKind(
    Key("total_variation", EXPRESSION, "The bound of the total variation distance, from 0 to 1."),
    _total_variation,
)
KL = _average(KLDivergence, "The bound of the Kullback-Leibler divergence: a number above 0.")
ZCDP = _average(ZeroConcentrated, "The rho of zero-concentrated privacy: a number above 0.")
