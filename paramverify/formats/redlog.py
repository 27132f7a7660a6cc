"""Questions for Redlog, as a file that REDUCE runs.

The program is that of [DolzmannSturm97]. Parameters are renamed to v1, v2, ..., because REDUCE ignores case
and has names of its own, such as `e`, `i` and `t`. An implication is written as a disjunction, so that
nothing but `all`, `and`, `or` and comparisons is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paramverify.formats.conditions import (
    AndCondition,
    Condition,
    NotCondition,
    OrCondition,
    PolynomialComparison,
    QuantifiedImplication,
    sum_text,
    wrapped,
)

RELATIONS = {"<": "<", "<=": "<=", "=": "=", "!=": "<>", ">=": ">=", ">": ">"}
NEGATED = {"<": ">=", "<=": ">", "=": "!=", "!=": "=", ">=": "<", ">": "<="}
PROCEDURES = ("rlqe", "rlcad")  # equivalent results; rlgqe and rlgcad assume things


def script(question: QuantifiedImplication, title: str = "", procedure: str = PROCEDURES[0]) -> str:
    """Returns what REDUCE reads on standard input; its answer is a formula equivalent to the question.

    The assumptions of a question with free parameters are part of the formula: where they fail it is true.
    """
    renamed = question.renamed()
    given = (*question.assumptions, *question.hypotheses)
    fails = [PolynomialComparison(c.polynomial, NEGATED[c.relation]) for c in given]
    conclusion = (
        question.conclusions[0] if len(question.conclusions) == 1 else AndCondition(question.conclusions)
    )
    matrix = formula(OrCondition((*fails, conclusion)) if fails else conclusion, renamed)
    bound = ",".join(renamed[name] for name in question.bound)
    lines = [
        *(f"% {line}" for line in _comments(title, renamed)),
        "load_package redlog;",
        "rlset r;",
        "off rlverbose; off nat; linelength(2**24)$",
        wrapped(f"phi := all({{{bound}}}, {matrix})$" if bound else f"phi := {matrix}$"),
        f"{procedure} phi;",
        "quit;",
    ]
    return "\n".join(lines) + "\n"


def formula(condition: Condition, renamed: Mapping[str, str]) -> str:
    """Returns a condition in Redlog's language."""
    if isinstance(condition, PolynomialComparison):
        total = sum_text(condition.polynomial, renamed, "*", "**")
        return f"{total} {RELATIONS[condition.relation]} 0"
    if isinstance(condition, NotCondition):
        return f"not ({formula(condition.part, renamed)})"
    if not condition.parts:
        return "0 = 0" if isinstance(condition, AndCondition) else "0 <> 0"
    word = " and " if isinstance(condition, AndCondition) else " or "
    parts = [(formula(part, renamed), isinstance(part, PolynomialComparison)) for part in condition.parts]
    return word.join(text if simple else f"({text})" for text, simple in parts)


def _comments(title: str, renamed: Mapping[str, str]) -> Iterable[str]:
    yield from title.encode("ascii", "replace").decode().splitlines()
    if renamed:
        yield ", ".join(f"{new} is {name}" for name, new in renamed.items())
