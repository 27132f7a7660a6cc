"""Terms of scripts, written as a script again: for questions that come of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import fmpz

from paramverify.errors import LimitError
from paramverify.formats.script_terms import Term, folded

MAX_TEXT = 2_000_000  # characters


def written(assertions: Sequence[Term], reals: Sequence[str], booleans: Sequence[str]) -> str:
    """Returns the script that asks for a solution of the assertions, which have no universal quantifier.

    `reals` are all real variables that occur, those of existential quantifiers included: a quantifier that is
    true where its body has a solution is left away.

    Raises:
        LimitError: the text is too long.
    """
    lines = ["(set-logic QF_NRA)"]
    lines += [f"(declare-fun {quoted(name)} () Real)" for name in reals]
    lines += [f"(declare-fun {quoted(name)} () Bool)" for name in booleans]
    lines += [f"(assert {folded(term, lambda t: t.parts, _text)})" for term in assertions]
    return "\n".join([*lines, "(check-sat)", ""])


def quoted(symbol: str) -> str:
    """Returns a symbol as a script may have it; those of quantifiers have a number behind the name."""
    return f"|{symbol.replace('|', '')}|" if " " in symbol or symbol[0] == "|" else symbol


def numeral(value: Fraction) -> str:
    """Returns a rational number as a term."""
    digits = f"{fmpz(abs(value.numerator))}.0"
    text = digits if value.denominator == 1 else f"(/ {digits} {fmpz(value.denominator)}.0)"
    return f"(- {text})" if value < 0 else text


def at(term: Term, values: Mapping[str, Fraction], truths: Mapping[str, bool]) -> Term:
    """Returns the term with numbers and truth values in the places of constants."""

    def make(part: Term, parts: Sequence[Term]) -> Term:
        if part.operator == "real" and part.value in values:
            return Term("number", (), values[str(part.value)])
        if part.operator == "bool" and part.value in truths:
            return Term("true" if truths[str(part.value)] else "false")
        return Term(part.operator, tuple(parts), part.value) if parts else part

    return folded(term, lambda t: t.parts, make)


def _text(term: Term, parts: Sequence[str]) -> str:
    match term.operator:
        case "number":
            assert isinstance(term.value, Fraction)
            return numeral(term.value)
        case "real" | "bool":
            return quoted(str(term.value))
        case "true" | "false":
            return term.operator
        case "forall" | "exists":
            return parts[0]
        case "and" | "or" if len(parts) < 2:
            return parts[0] if parts else ("true" if term.operator == "and" else "false")
        case "+" | "*" if len(parts) < 2:
            return parts[0]
    text = f"({'=' if term.operator == 'iff' else term.operator} {' '.join(parts)})"
    if len(text) > MAX_TEXT:
        raise LimitError("a question is too long to be written")
    return text
