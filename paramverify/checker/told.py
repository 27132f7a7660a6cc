"""Checks that the numbers of a witness agree with each other: standard library, and the checker of claims.

That a case gives these numbers is checked with the case only.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from . import algebraic
from .polynomials import number
from .strict import Misformed
from .values import Value, is_true, rational, read_value

PRIVACY = ("probabilities", "ratio", "bound")
MAX_ORDER = 10_000  # of a Rényi divergence: powers of this are computed
MOMENT = ("secrets", "length", "order", "moment", "bound", "exceeds", "largest")
SUM = ("secrets", "length", "measure", "moment", "bound", "exceeds", "largest")  # of one without an order
INEQUALITY = ("relation", "left", "right", "difference", "fails")
WORDS = ("infinity", "undefined")  # instead of a quotient by zero


def check_numbers(witness: Mapping[str, Any]) -> None:
    """Checks the numbers of a witness of a violation against each other, as far as it has them.

    Raises:
        Rejected: they contradict each other, or do not say that something is violated.
    """
    if "algebraic" in witness:
        algebraic.check_numbers(witness)
        _check_names(witness)
        return
    exponent = number(witness["claim"]["constant"]) if "constant" in witness["claim"] else None
    if exponent is not None and exponent <= 0:
        raise Misformed("not positive", "witness", "claim", "constant")
    if "moment" in witness:
        _check_moment(witness, exponent)
    for names in (_sum_of(witness) if "moment" in witness else PRIVACY, INEQUALITY):
        given = [name for name in names if name in witness]
        if given and given != list(names):
            missing = next(name for name in names if name not in witness)
            raise Misformed(f"the key {missing!r} is missing", "witness")
    if "probabilities" in witness:
        chances = [
            read_value(p, exponent, "probabilities", k) for k, p in enumerate(witness["probabilities"])
        ]
        for k, chance in enumerate(chances):
            if chance.sign() < 0 or chance.minus(rational(1)).sign() > 0:
                raise Misformed("not between 0 and 1", "witness", "probabilities", k)
        _check_ratio(witness, chances[0], chances[1], exponent)
    if "relation" in witness:
        _check_comparison(witness, exponent)
    _check_names(witness)


def _check_names(witness: Mapping[str, Any]) -> None:
    """Checks the names and the counts of a witness, as far as they say something about each other."""
    secrets = witness.get("secrets")
    two = "ratio" in witness
    if secrets is not None and len(secrets) != (2 if two else 1) and "probabilities" in witness:
        raise Misformed(f"not {'two names' if two else 'one name'}", "witness", "secrets")
    if secrets is not None and two and secrets[0] == secrets[1]:
        raise Misformed("twice the same", "witness", "secrets")


def _check_ratio(witness: Mapping[str, Any], left: Value, right: Value, exponent: Fraction | None) -> None:
    told = witness["ratio"]
    if right.sign() == 0:
        if told != ("infinity" if left.sign() else "undefined"):
            raise Misformed("not the quotient of the probabilities", "witness", "ratio")
    elif told in WORDS or read_value(told, exponent, "ratio").by(right).minus(left).top:
        raise Misformed("not the quotient of the probabilities", "witness", "ratio")
    bound = read_value(witness["bound"], exponent, "bound")
    if bound.sign() <= 0:
        raise Misformed("not positive", "witness", "bound")
    if left.minus(bound.by(right)).sign() <= 0 or witness.get("exceeds") is False:
        raise Misformed("the probabilities are within the bound", "witness")


def _sum_of(witness: Mapping[str, Any]) -> tuple[str, ...]:
    return SUM if "measure" in witness and "order" not in witness else MOMENT


def _check_moment(witness: Mapping[str, Any], exponent: Fraction | None) -> None:
    """Checks a sum of p^order/q^(order−1): it is above its bound, and no smaller than its parts.

    That of a measure without an order has no parts that are known here.
    """
    names = _sum_of(witness)
    for name in names:
        if name not in witness:
            raise Misformed(f"the key {name!r} is missing", "witness")
    known = names == MOMENT
    order, endless = witness["order"] if known else 2, witness["moment"] == "infinity"
    if order < 2 or witness["length"] < 1 or witness["moment"] == "undefined":
        raise Misformed("not a sum of an order from 2 on", "witness")
    if order > MAX_ORDER:
        raise Misformed(f"an order above {MAX_ORDER:,}", "witness", "order")
    found = rational(0) if endless else read_value(witness["moment"], exponent, "moment")
    for k, share in enumerate(witness["largest"]):
        p, q = (read_value(v, exponent, "largest", k) for v in share["probabilities"])
        if p.sign() <= 0 or q.sign() < 0 or any(v.minus(rational(1)).sign() > 0 for v in (p, q)):
            raise Misformed("not probabilities", "witness", "largest", k)
        if not known:
            continue
        if endless != (q.sign() == 0):
            raise Misformed(
                "a sum is infinite iff an output is possible on the left only", "witness", "moment"
            )
        if not endless and found.by(_power(q, order - 1)).minus(_power(p, order)).sign() < 0:
            raise Misformed("less than one of its parts", "witness", "moment")
    bound = read_value(witness["bound"], exponent, "bound")
    if bound.sign() <= 0:
        raise Misformed("not positive", "witness", "bound")
    if not witness["largest"]:
        raise Misformed("no output", "witness", "largest")
    if not witness["exceeds"] or not (endless or found.minus(bound).sign() > 0):
        raise Misformed("the sum is within the bound", "witness")


def _power(value: Value, exponent: int) -> Value:
    found = rational(1)
    for _ in range(exponent):
        found = found.by(value)
    return found


def _check_comparison(witness: Mapping[str, Any], exponent: Fraction | None) -> None:
    left, right, difference = (read_value(witness[k], exponent, k) for k in ("left", "right", "difference"))
    if left.minus(right).minus(difference).top:
        raise Misformed("not the left side minus the right side", "witness", "difference")
    sign = difference.sign()
    if is_true(witness["relation"], sign) or not witness["fails"]:
        raise Misformed("the comparison is true for these sides", "witness")
