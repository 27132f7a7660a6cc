"""The form of evidence about formulas of dpCTL*: a model, and formulas as trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .strict import (
    Misformed,
    Shape,
    by_type,
    flag,
    listed,
    maybe,
    names,
    one_of,
    rational,
    record,
    row,
    shown,
    table,
    tagged_row,
    text,
    whole,
)

WEIGHT = by_type({str: text, list: row(text, text)})  # a polynomial, or a quotient of two


def natural(value: Any) -> None:
    """A whole number from 0 on."""
    whole(value)
    if value < 0:
        raise Misformed(f"must not be negative: {shown(value)}")


def formula(value: Any) -> None:
    """A formula: its operator, and its parts."""
    _FORMULA(value)


STEPS = by_type({int: natural, dict: record({"more": whole})})  # a number; or that of the family, and more
_FORMULA = tagged_row(
    {
        "true": (),
        "false": (),
        "label": (text,),
        "not": (formula,),
        "and": (listed(formula),),
        "or": (listed(formula),),
        "next": (formula,),
        "until": (formula, formula, STEPS, maybe(STEPS)),
        "release": (formula, formula, STEPS, maybe(STEPS)),
        "P": (one_of("<", "<=", ">", ">="), WEIGHT, formula),
        "D": (WEIGHT, WEIGHT, formula),
    }
)
MODEL = record(
    {
        "states": names,
        "actions": names,
        "scheduled": flag,
        "initial": listed(natural),
        "steps": listed(listed(row(natural, WEIGHT))),
        "rows": listed(listed(natural)),
        "labels": table(listed(natural)),
        "neighbours": listed(row(natural, natural)),
    }
)


def formulas(about: Mapping[str, Shape], status: Shape, domain: Shape, proof: Shape) -> Shape:
    """Returns the form of a document."""
    comparison = record({"polynomial": text, "strict": flag, "proof": proof}, {"negated": text})
    entry = record(
        {"name": text, "text": text, "formula": formula, "status": status},
        {
            "family": record({"first": natural, "last": maybe(natural)}),
            "until": natural,
            "argument": one_of("tail", "equality"),
            "parameters": table(rational),
            "state": natural,
            "index": natural,
            "actions": listed(text),
            "repeated": natural,
            "reason": text,
        },
    )
    return record(
        {
            "format": one_of("paramverify-formulas"),
            "version": one_of(1),
            "status": status,
            "domain": domain,
            "model": MODEL,
            "formulas": listed(entry),
            "claims": listed(comparison),
        },
        {name: about[name] for name in ("case", "points")},
    )
