"""Questions of scripts for programs that eliminate quantifiers: whether assertions have no solution."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from paramverify.algebra.polynomials import variables
from paramverify.errors import InputError, UnsupportedError
from paramverify.formats.quantified_questions import (
    AndCondition,
    NotCondition,
    OrCondition,
    QuantifiedImplication,
    comparison,
    comparisons,
    eliminable,
)
from paramverify.formats.smtlib_scripts import Check, ScriptTerm, folded
from paramverify.scripts.cubes import Reading
from paramverify.scripts.script_decisions import MAX_QUOTIENTS, without_quotients

LONGEST = 60  # characters of a term that is shown


def without_solution(check: Check, free: Sequence[str] = ()) -> tuple[QuantifiedImplication, dict[str, str]]:
    """Returns the question whether the assertions of a check have no solution, and the symbol of each name.

    With all constants bound it is true iff the check is unsatisfiable. With free ones it is a condition on
    them: at each of their values it is true iff no values of the others satisfy the assertions. A quotient
    whose denominator may be zero becomes a variable, and its symbol says which quotient.

    Raises:
        InputError: a free constant that the script does not declare.
        UnsupportedError: a quantifier over all reals, or too many quotients.
        LimitError: too many cases, or too large polynomials.
    """
    for symbol in free:
        if symbol not in check.reals:
            known = ", ".join(check.reals) or "none"
            raise InputError(f"the script declares no real {symbol!r}; it declares: {known}")
    assertions, quotients = without_quotients(check.assertions)
    if len(quotients) > MAX_QUOTIENTS:
        raise UnsupportedError(
            f"more than {MAX_QUOTIENTS} quotients whose denominator may be zero: use a solver that "
            "reads SMT-LIB"
        )
    reading = Reading(assertions)
    cubes = reading.cubes()
    solved = OrCondition(
        tuple(
            AndCondition(tuple(comparison(each.polynomial, each.relation) for each in cube.literals.values()))
            for cube in cubes
        )
    )
    left = [reading.names[symbol] for symbol in free if symbol in reading.names]
    parts = [part.polynomial for part in comparisons(solved)]
    used = {name for part in parts for name in variables(part)}
    bound = [name for name in reading.ring.names if name in used and name not in left]
    told = {q.symbol: _shown(ScriptTerm("/", (q.top, q.bottom))) for q in quotients}
    symbols = {name: told.get(symbol, symbol) for symbol, name in reading.names.items()}
    names = ("v" * length for length in count(1))  # of which the script has none with a number
    letter = next(a for a in names if not any(re.match(rf"\|?{a}\d", symbol) for symbol in check.reals))
    found = QuantifiedImplication(
        reading.ring, tuple(left), eliminable(parts, bound), (), (), (NotCondition(solved),), letter
    )
    return found, {name: symbol for name, symbol in symbols.items() if name in found.names}


def _shown(term: ScriptTerm) -> str:
    """Returns a term as in SMT-LIB, cut where it is long: a part that is shared may stand very often."""
    return folded(term, lambda inner: inner.parts, _word)


def _word(term: ScriptTerm, parts: Sequence[str]) -> str:
    text = f"({' '.join([term.operator, *parts[:LONGEST]])})"
    if not parts:
        text = str(term.operator if term.value is None else term.value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
