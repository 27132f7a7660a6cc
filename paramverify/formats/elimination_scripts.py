"""Quantified questions as files that QEPCAD and Redlog read, and the conditions that QEPCAD answers with.

QEPCAD, the program of [Brown03], has whole numbers, products by juxtaposition, and brackets around whatever
is mixed. Redlog, of [DolzmannSturm97], is a package that REDUCE runs. Parameters are renamed to v1, v2, ...:
QEPCAD refuses names with underscores, and `E` is a quantifier there; REDUCE ignores case and has names of its
own, such as `e`, `i` and `t`. The formulas are those of PySMT; see `solver_formulas`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from textwrap import fill

from flint import fmpz

from paramverify.algebra.polynomials import Polynomial, Ring
from paramverify.formats.quantified_questions import (
    QEPCAD_RELATIONS,
    AndCondition,
    Condition,
    NotCondition,
    OrCondition,
    QuantifiedImplication,
    comparison,
)
from paramverify.formats.solver_formulas import quantified

WIDTH = 100  # of the lines that are written


def wrapped(line: str) -> str:
    """Returns a line that is broken at spaces where it is long."""
    return fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)


TOKEN = re.compile(r"\s*(/\\|\\/|/=|<=|>=|[<>=~\[\]()+^-]|[A-Za-z][A-Za-z0-9]*|\d+)")


def qepcad_script(
    question: QuantifiedImplication, title: str = "", called: Mapping[str, str] | None = None
) -> str:
    """Returns what QEPCAD reads on standard input; its answer is a condition on the free parameters.

    A closed question has the answer TRUE or FALSE. Otherwise the answer is equivalent to the question
    wherever the assumptions hold, and nothing is said elsewhere. A comment has the title, and what the
    variables stand for: names of parameters, or what these are `called`.
    """
    from paramverify.formats.formula_printers import QepcadPrinter

    renamed, asked, printer = question.renamed(), quantified(question), QepcadPrinter()
    key = _described(_key(question, called)).removesuffix("; ")
    formula = printer.walk(asked.question)
    lines = [
        f"[ {_described(title)}{key or 'no parameters'} ]",
        f"({','.join(renamed.values()) or 'v1'})",
        str(len(question.free)),
        # Without quantifiers brackets are needed, and QEPCAD wants at least one variable.
        f"{formula if question.bound else f'[{formula}]' if renamed else f'(A v1)[{formula}]'}.",
    ]
    if asked.assumptions is not None:
        lines.append(f"assume [{printer.walk(asked.assumptions)}]")
    lines.append("finish")
    return "\n".join(wrapped(line) for line in lines) + "\n"


def _described(title: str) -> str:
    plain = re.sub(r"[\[\]]", " ", title.encode("ascii", "replace").decode())
    text = "; ".join(" ".join(line.split()) for line in plain.splitlines())
    return f"{text}; " if text else ""


def read(text: str, ring: Ring, renamed: Mapping[str, str]) -> Condition:
    """Returns the condition that QEPCAD has written.

    Raises:
        ValueError: something else, or a comparison with an indexed root.
    """
    return _QepcadReader(text, ring, {new: name for name, new in renamed.items()}).whole()


class _QepcadReader:
    """A recursive descent over one text."""

    def __init__(self, text: str, ring: Ring, meaning: Mapping[str, str]) -> None:
        self.ring, self.meaning = ring, meaning
        self.tokens: list[str] = []
        position, text = 0, text.rstrip()
        while position < len(text):
            match = TOKEN.match(text, position)
            if not match:
                raise ValueError(f"not a condition: {text[position : position + 40]!r}")
            self.tokens.append(match[1])
            position = match.end()
        self.tokens.append("")
        self.at = 0

    def whole(self) -> Condition:
        result = self._formula()
        if self._next():
            raise ValueError(f"unexpected {self._next()!r}")
        return result

    def _next(self) -> str:
        return self.tokens[self.at]

    def _take(self, wanted: str = "") -> str:
        token = self._next()
        if not token or (wanted and token != wanted):
            raise ValueError(f"{wanted or 'more'} expected instead of {token!r}")
        self.at += 1
        return token

    def _formula(self) -> Condition:
        parts = [self._unit()]
        sign = self._next()
        if sign not in ("/\\", "\\/"):
            return parts[0]
        while self._next() in ("/\\", "\\/"):
            self._take(sign)  # the two are not mixed without brackets
            parts.append(self._unit())
        return AndCondition(tuple(parts)) if sign == "/\\" else OrCondition(tuple(parts))

    def _unit(self) -> Condition:
        token = self._next()
        if token in ("TRUE", "FALSE"):
            self._take()
            return AndCondition() if token == "TRUE" else OrCondition()
        if token == "~":
            self._take()
            return NotCondition(self._unit())
        if token == "[":
            self._take()
            inner = self._formula()
            self._take("]")
            return inner
        left = self._sum()
        relation = self._take()
        meanings = {text: relation for relation, text in QEPCAD_RELATIONS.items()}
        if relation not in meanings:
            raise ValueError(f"a relation expected instead of {relation!r}")
        return comparison(left - self._sum(), meanings[relation])

    def _sum(self) -> Polynomial:
        total = self.ring.number(0)
        sign = self._sign(optional=True)
        while sign:
            total += self._product() * sign
            sign = self._sign()
        return total

    def _sign(self, optional: bool = False) -> int:
        if self._next() in ("+", "-"):
            return 1 if self._take() == "+" else -1
        return int(optional)

    def _product(self) -> Polynomial:
        result = self._power()
        while self._next() == "(" or self._next()[:1].isalnum():
            result *= self._power()
        return result

    def _power(self) -> Polynomial:
        token = self._take()
        if token == "(":
            base = self._sum()
            self._take(")")
        elif token.isdigit():
            base = self.ring.context.constant(fmpz(token))
        elif token in self.meaning:
            base = self.ring.variable(self.meaning[token])
        else:
            raise ValueError(f"a polynomial expected instead of {token!r}")
        if self._next() != "^":
            return base
        self._take()
        exponent = self._take()
        if not exponent.isdigit() or len(exponent) > 6:
            raise ValueError(f"a power expected instead of {exponent!r}")
        return base ** int(exponent)


PROCEDURES = ("rlqe", "rlcad")  # equivalent results; rlgqe and rlgcad assume things, and rlhqe has errors
REDLOG_ANSWER = "answer:"  # stands before the answer, and after all notes of procedures


def redlog_script(
    question: QuantifiedImplication,
    title: str = "",
    procedure: str = PROCEDURES[0],
    called: Mapping[str, str] | None = None,
) -> str:
    """Returns what REDUCE reads on standard input; its answer is a formula equivalent to the question.

    The assumptions of a question with free parameters are part of the formula: where they fail it is true.
    Comments have the title, and what the variables stand for; see `qepcad_script`.
    """
    from paramverify.formats.formula_printers import RedlogPrinter

    formula = RedlogPrinter().walk(quantified(question, assumed=True).question)
    lines = [
        *(f"% {line}" for line in _comments(title, _key(question, called))),
        "load_package redlog;",
        "rlset r;",
        "off rlverbose; off nat; linelength(2**24)$",
        wrapped(f"phi := {formula}$"),
        f"psi := {procedure} phi$",
        f'write "{REDLOG_ANSWER}"$',
        "psi;",
        "quit;",
    ]
    return "\n".join(lines) + "\n"


def _comments(*texts: str) -> Iterable[str]:
    for text in texts:
        yield from text.encode("ascii", "replace").decode().splitlines()


def _key(question: QuantifiedImplication, called: Mapping[str, str] | None) -> str:
    """Returns in one line what each variable of a script stands for."""
    named = {new: (called or {}).get(name, name) for name, new in question.renamed().items()}
    text = ", ".join(f"{new} is {' '.join(name.split())}" for new, name in named.items())
    return text.encode("ascii", "backslashreplace").decode()
