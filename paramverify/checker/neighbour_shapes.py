"""The forms of statements that one pair of neighbours has the largest ratio: standard library only."""

from __future__ import annotations

from .strict import Shape, listed, one_of, rational, record, text, whole

_NEIGHBOURS: dict[str, Shape] = {
    "ties": one_of("uniform", "first"),
    "answers": whole,
    "differ": one_of("each", "one"),
    "by": text,
    "left": listed(whole),
    "right": listed(whole),
}
LARGEST = record({"noise": listed(listed(rational)), **_NEIGHBOURS})


def standing(domain: Shape, proof: Shape) -> Shape:
    """Returns the form of a statement for all parameters, with its proofs."""
    return record(
        {
            "domain": domain,
            "noise": listed(listed(text)),
            **_NEIGHBOURS,
            "output": whole,
            "how": one_of("classes", "terms", "ends"),
            "proofs": listed(proof),
        },
        {"own": listed(whole), "others": listed(whole)},
    )


def either(parametric: Shape) -> Shape:
    """Returns the form of a statement about numbers, or for all parameters."""

    def every(value: object) -> None:
        (parametric if isinstance(value, dict) and "domain" in value else LARGEST)(value)

    return every
