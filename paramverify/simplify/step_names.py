"""The names of the steps of simplification, and how users choose among them."""

from __future__ import annotations

from paramverify.errors import InputError

BUILT_IN = (
    *("fixed", "product", "sign", "empty", "equations", "ideal"),
    *("stretch", "factors", "content", "monotone", "ends"),
)
ASKED_FOR = ("sympy",)  # takes part only where it is named
DEFAULT = "default"  # stands for those of BUILT_IN, in their order
NONE = "none"


def parse_steps(text: str) -> tuple[str, ...] | None:
    """Returns the steps that comma-separated names stand for: None for the default ones alone.

    Raises:
        InputError: a name that is no step, or a step that is named twice.
    """
    names = [name.strip() for name in text.split(",")]
    if names == [DEFAULT]:
        return None
    if names == [NONE]:
        return ()
    known = (*BUILT_IN, *ASKED_FOR)
    chosen: list[str] = []
    for name in names:
        if name not in (DEFAULT, *known):
            raise InputError(
                f"{name!r:.40} is not a step of simplification; the steps are {', '.join(known)}; "
                f"{DEFAULT} means all of them except {', '.join(ASKED_FOR)}, and {NONE} alone means no step"
            )
        chosen += BUILT_IN if name == DEFAULT else [name]
    if len(set(chosen)) < len(chosen):
        raise InputError(f"{text!r:.100} names a step of simplification twice: remove one of them")
    return tuple(chosen)
