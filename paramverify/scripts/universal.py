"""Quantifiers of scripts: which assertions say something of all reals, and what they say without it.

An assertion with quantifiers over all reals alone is a sentence where no constant occurs: it is true iff its
negation, which asks for a solution, has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paramverify.errors import UnsupportedError
from paramverify.formats.script_terms import Term, folded

Part = tuple[Term, bool]


def conjuncts(assertions: Sequence[Term]) -> Iterator[Term]:
    """Yields the parts of the assertions that have to be true together."""
    waiting = list(reversed(assertions))
    while waiting:
        term = waiting.pop()
        if term.operator == "and":
            waiting += reversed(term.parts)
        else:
            yield term


def is_universal(term: Term) -> bool:
    """Tells whether a term speaks of all reals, rather than of some or of constants alone.

    Raises:
        UnsupportedError: it does both: its quantifiers alternate.
    """
    kinds = folded((term, True), _below, _kinds)
    if len(kinds) > 1:
        reason = "quantifiers over all reals and over some stand in one assertion"
        raise UnsupportedError(f"{reason}: one block of quantifiers is taken")
    return "forall" in kinds


def has_quantifier(term: Term) -> bool:
    """Tells whether a quantifier stands in a term."""

    def make(part: Term, found: Sequence[bool]) -> bool:
        return part.operator in ("forall", "exists") or any(found)

    return folded(term, lambda t: t.parts, make)


def without_quantifiers(term: Term) -> Term:
    """Returns the term with the bodies of quantifiers in their places."""

    def make(part: Term, parts: Sequence[Term]) -> Term:
        if part.operator in ("forall", "exists"):
            return parts[0]
        return Term(part.operator, tuple(parts), part.value) if parts else part

    return folded(term, lambda t: t.parts, make)


def constants(term: Term) -> set[str]:
    """Returns the declared symbols that occur."""

    def make(part: Term, found: Sequence[frozenset[str]]) -> frozenset[str]:
        own = frozenset([str(part.value)]) if part.operator in ("real", "bool") else frozenset()
        below = own.union(*found)
        return below - set(part.value) if isinstance(part.value, tuple) else below

    found: frozenset[str] = folded(term, lambda t: t.parts, make)
    return set(found)


def _below(part: Part) -> list[Part]:
    term, wanted = part
    match term.operator:
        case "not":
            return [(term.parts[0], not wanted)]
        case "and" | "or" | "forall" | "exists":
            return [(inner, wanted) for inner in term.parts]
    return [(inner, way) for inner in term.parts for way in (True, False)]


def _kinds(part: Part, found: Sequence[frozenset[str]]) -> frozenset[str]:
    term, wanted = part
    own: frozenset[str] = frozenset()
    if term.operator in ("forall", "exists"):
        own = frozenset(["forall" if (term.operator == "forall") == wanted else "exists"])
    return own.union(*found)
