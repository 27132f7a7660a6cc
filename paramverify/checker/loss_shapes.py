"""The form of evidence about divergences that are no polynomials, key by key: standard library only."""

from __future__ import annotations

from collections.abc import Mapping

from .strict import (
    Misformed,
    Shape,
    by_type,
    flag,
    listed,
    maybe,
    one_of,
    rational,
    record,
    row,
    shown,
    table,
    text,
    whole,
)

OF_CASE = ("case", "obligations", "points", "outputs")
MEASURE = one_of("kl", "zcdp")
CLAIM: dict[str, Shape] = {
    "total": text,
    "outputs": listed(row(text, text)),
    "origins": listed(row(text, text, whole)),
}
PRODUCT = maybe(row(rational, listed(row(whole, whole))))
_STEPS = {
    "cut": row(one_of("cut"), text, rational),
    "-": row(one_of("-"), whole),
    "+": row(one_of("+"), listed(rational)),
}
BETWEEN = by_type({str: rational, list: row(rational, rational)})


def largest(real: Shape) -> Shape:
    """The outputs that contribute most to a divergence."""
    return listed(record({"output": listed(text), "probabilities": row(real, real)}))


def moment(real: Shape, ratio: Shape, of: str = "order") -> dict[str, Shape]:
    """The sum of an order at a point, or that `of` a "measure" that has none."""
    return {
        "secrets": listed(text),
        "length": whole,
        of: whole if of == "order" else text,
        "moment": ratio,
        "bound": real,
        "exceeds": flag,
        "largest": largest(real),
    }


def compared(one: Shape, together: Mapping[str, Shape], other: Mapping[str, Shape]) -> Shape:
    """The witness of a budget: of one output, or of a sum, which has a `moment`, of an order or a measure."""
    parameters: dict[str, Shape] = {"parameters": table(rational)}
    of_order, of_measure = record({**parameters, **together}), record({**parameters, **other})

    def either(value: object) -> None:
        if not isinstance(value, dict) or "moment" not in value:
            one(value)
        else:
            (of_measure if "measure" in value else of_order)(value)

    return either


def step(value: object) -> None:
    """A step of a tree about a divergence, by its first entry."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, str) or first not in _STEPS:
        raise Misformed(f"not a step of a tree: {shown(value)}")
    _STEPS[first](value)


def losses(about: Mapping[str, Shape], status: Shape, domain: Shape, real: Shape) -> Shape:
    """A document; `about` is what evidence may say of its case, `domain` and `real` are those of all."""
    witness: dict[str, Shape] = {
        "parameters": table(rational),
        "secrets": row(text, text),
        "length": whole,
        "measure": MEASURE,
        "value": by_type({str: one_of("infinity"), list: row(rational, rational)}),
        "bound": BETWEEN,
        "exceeds": flag,
        "largest": largest(real),
    }
    order = {"order": rational}
    budget = record({"kind": MEASURE, "enough": maybe(rational), "witnesses": listed(record(witness, order))})
    return record(
        {
            "format": one_of("paramverify-losses"),
            "version": one_of(1),
            "status": status,
            "measure": MEASURE,
            "bound": row(rational, listed(row(rational, rational))),
            "domain": domain,
            "claims": listed(
                record({**CLAIM, "factors": listed(text), "products": listed(PRODUCT), "tree": listed(step)})
            ),
        },
        {
            **{name: about[name] for name in OF_CASE},
            "witness": record({**witness, "claim": record(CLAIM)}, order),
            "budget": budget,
        },
    )
