"""What `[privacy]` of a case bounds, for the second reader: standard library only.

A measure that is written in another way is put as a ratio: of an order, the bound of Σ P^order/Q^(order−1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kernel.strict_reading import UnreadCase

NAMES = ("renyi", "chi_squared", "total_variation", "kl", "zcdp")


LOSSES = ("kl", "zcdp")

KEYS = ("epsilon", "ratio", "delta", "length", "one_sided")


def loss_of(privacy: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Returns which divergence that is no polynomial is bounded, if any, and its bound as it is written."""
    return next(((name, privacy[name]) for name in LOSSES if name in privacy), None)


def as_ratio(privacy: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
    """Returns the table with a ratio or an epsilon, and the order of a sum over all outputs, if it has one.

    A case about a divergence that is no polynomial (`loss_of`) has the ratio 1, which says nothing.

    Raises:
        ValueError: two measures, or an order that is none.
        UnreadCase: a measure that is not known here, such as that of a plugin.
    """
    given = [name for name in NAMES if name in privacy]
    other = [name for name in privacy if name not in (*NAMES, *KEYS)]
    if other and not given and not {"ratio", "epsilon"} & privacy.keys():
        raise UnreadCase(f"the measure {other[0]}")
    if not given:
        return dict(privacy), None
    if len(given) > 1 or {"ratio", "epsilon", "delta"} & privacy.keys():
        raise ValueError("a case with two measures")
    rest = {name: value for name, value in privacy.items() if name not in NAMES}
    value = privacy[given[0]]
    if given[0] == "total_variation":
        return {**rest, "ratio": 1, "delta": value}, None
    if given[0] == "chi_squared":
        return {**rest, "ratio": f"1 + ({value})"}, 2
    if given[0] in LOSSES:
        return {**rest, "ratio": 1}, None
    order = value["order"]
    (name,) = value.keys() - {"order"}
    if order == "oo":
        return {**rest, name: value[name]}, None
    if not isinstance(order, int) or order < 2:  # so not True, either
        raise ValueError("an order that is not whole, or below 2")
    times = {"epsilon": f"({order - 1})*({value[name]})", "ratio": f"({value[name]})**({order - 1})"}
    return {**rest, name: times[name]}, order
