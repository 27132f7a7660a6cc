"""The forms of proofs, kind by kind: standard library only."""

from __future__ import annotations

from .by_roots import PRODUCT
from .strict import (
    Shape,
    by_type,
    listed,
    one_of,
    rational,
    record,
    row,
    table,
    tagged,
    tagged_row,
    text,
    whole,
)

SIGN, END = one_of("+", "-"), one_of("lower", "upper")


def proof(value: object) -> None:
    """A proof of any kind; see `checker`."""
    _PROOF(value)


def _kind(required: dict[str, Shape], optional: dict[str, Shape] | None = None) -> Shape:
    return record({"kind": text, **required}, optional)


_FACTOR = record({"factor": text, "multiplicity": whole}, {"sign": SIGN, "proof": proof})
_TOKEN = by_type({str: one_of("+"), dict: proof, list: listed(by_type({str: text, int: whole}))})
_OF: dict[str, Shape] = {"constraint": whole, "proof": proof}
_NEAR: dict[str, Shape] = {"least": rational, "power": whole, "bound": rational}
_CELL = record({"proof": proof}, {"terms": whole, "enclosure": row(rational, rational), **_NEAR})
_SQUARES = listed(row(rational, text))
_SIDE = tagged_row({"low": (text, rational), "high": (text, rational), "constraint": (whole,)})
_TERMS = listed(record({"product": listed(_SIDE), "squares": _SQUARES}))
_PROOF = tagged(
    "kind",
    {
        "constant": _kind({}),
        "fixed": _kind({"variable": text, "proof": proof}),
        "factors": _kind({"constant": rational, "factors": listed(_FACTOR)}),
        "sum": _kind({"parts": listed(record({"polynomial": text, "proof": proof}))}),
        "ends": _kind({"variable": text, "lower": proof, "upper": proof}, {"concave": proof}),
        "monotone": _kind({"variable": text, "end": END, "derivative": proof, "proof": proof}),
        "quadratic": _kind({"variable": text, "leading": proof, "constant": proof, "discriminant": proof}),
        "bernstein": _kind({"tree": listed(_TOKEN)}),
        "convex": _kind({"point": table(text)}, {"minimal": text, "interval": row(rational, rational)}),
        "constraint": _kind({**_OF, "factor": rational}),
        "divide": _kind({**_OF, "factor": text, "cofactor": text, "sign": SIGN}),
        "contradiction": _kind({"constraints": row(whole, whole)}),
        "stretch": _kind({**_OF, "variable": text}),
        "eliminate": _kind({"variable": text, "constraints": row(whole, whole), "proof": proof}),
        "product": _kind({"variable": text, **PRODUCT, "proof": proof}),
        "blowup": _kind({"corner": table(END), "parts": table(proof)}),
        "enclose": _kind({"interval": row(rational, rational), "proof": proof}),
        "exponential": _kind({}),
        "logarithm": _kind({"variable": text, "cuts": listed(rational), "parts": listed(_CELL)}),
        "squares": _kind({"terms": _TERMS}, {"multiplier": _TERMS}),
        "vanish": _kind({**_OF, "squares": _SQUARES}),
        "lemma": _kind({"name": text}),
        "solver": _kind({"solver": text, "version": text}, {"options": table(text), "transcript": text}),
    },
)
