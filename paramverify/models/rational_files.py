"""Rational functions in files, in the form that parametric model checkers write.

    $Parameters: p (0,1); q (0,1)
    $Result: (/ (+ (* p q) (- 3)) (+ (* p q) (- 1)))
    $Well-formed Constraints:
    (<= (+ p (- 1)) 0)
    $Graph-preserving Constraints:
    (not (= q 0))

This is what PROPhESY and Storm exchange ([Dehnert15], [Junges24]). Older files have `!` in place of `$`, or
nothing, no intervals, commas between parameters, infix formulas, and constraints such as `p - 1,<=`, where
the other side is 0. Storm writes infix too, and prefix with infix inside. All of these are read; see
`algebra.rational_texts`. A formula may be spread over lines; of the constraints each starts on a line of its
own. Files of the tool PARAM are not read: they have no names of sections.
"""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain, Interval, parse_interval
from paramverify.algebra.expressions import NAME, WORDS
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.algebra.rational_texts import FormulaReader, ValueCondition
from paramverify.algebra.shared_values import SharedValues
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import InputError, LimitError, located
from paramverify.files import read_file

MAX_BYTES = 10_000_000
MAX_CONSTRAINTS = 1_000
MAX_PARAMETERS = 1_000
UNIT = Interval(Fraction(0), Fraction(1))

PARAMETERS, RESULT = "Parameters", "Result"
CONSTRAINTS = ("Well-formed Constraints", "Graph-preserving Constraints")
_SECTIONS = (PARAMETERS, RESULT, *CONSTRAINTS)
_HEADING = re.compile(r"^[ \t]*[$!]?[ \t]*([A-Za-z][A-Za-z -]*?)[ \t]*:", re.MULTILINE)
_POSTFIX = re.compile(r"(.*),[ \t]*(<=|>=|<|>|==|=|!=)\s*", re.DOTALL)


@dataclass(frozen=True, eq=False)
class RationalFile:
    """A file that was cut into its sections; `parameters` gives an interval where the file gives one.

    `digest` is the SHA-256 of its content. Formulas are read in the ring that they are asked for.
    """

    path: str
    digest: str
    parameters: Mapping[str, Interval | None]
    text: str
    sections: Mapping[str, tuple[int, int]]

    def result(self, ring: Ring) -> RationalFunction:
        """Returns the rational function in lowest terms, in a ring that has the parameters.

        Raises:
            InputError: not a formula, an unknown parameter, or a division by zero.
            LimitError: larger than the bounds of `SharedValues`.
        """
        start, end = self.sections[RESULT]
        with located(file=self.path):
            values = SharedValues(ring)
            try:
                return values[self._formulas(values, start).function(self.text[start:end])]
            except LimitError as error:
                raise self._too_large(error) from None

    def constraints(self, domain: Domain) -> tuple[Constraint, ...]:
        """Returns the constraints of both kinds that do not follow from the box of the domain.

        An inequality `a ≠ b` becomes `(a − b)² > 0`, or what the sign of a − b on the box makes of it.

        Raises:
            InputError: not a comparison, or a denominator whose sign on the box is not proved.
            LimitError: more than `MAX_CONSTRAINTS` lines, or too large.
        """
        found: dict[str, Constraint] = {}
        values = SharedValues(domain.ring)
        with located(file=self.path):
            for number, (start, end) in enumerate(self._lines()):
                if number == MAX_CONSTRAINTS:
                    raise LimitError(f"{self.path}: more than {MAX_CONSTRAINTS:,} constraints")
                try:
                    conditions = self._formulas(values, start).conditions(_compared(self.text[start:end]))
                except LimitError as error:
                    raise self._too_large(error) from None
                with located(key=self._line(start)):
                    for condition in conditions:
                        for constraint in _needed(values, condition, domain):
                            found[constraint.text] = constraint
        return tuple(found.values())

    def _formulas(self, values: SharedValues, offset: int) -> FormulaReader:
        return FormulaReader(values, frozenset(self.parameters), lambda start: self._line(offset + start))

    def _lines(self) -> Iterator[tuple[int, int]]:
        """Yields where each constraint starts and ends; it goes on while brackets are open."""
        for name in CONSTRAINTS:
            if name not in self.sections:
                continue
            start, end = self.sections[name]
            depth, begin = 0, start
            for line in re.finditer(r"[^\n]*(?:\n|\Z)", self.text[start:end]):
                depth += line.group().count("(") - line.group().count(")")
                stop = start + line.end()
                if depth <= 0:
                    if self.text[begin:stop].strip():
                        yield begin + _blanks(self.text[begin:stop]), stop
                    depth, begin = 0, stop
            if self.text[begin:end].strip():
                yield begin + _blanks(self.text[begin:end]), end

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer("\n", self.text))]

    def _line(self, position: int) -> str:
        return f"line {bisect_right(self._starts, position)}"

    def _too_large(self, error: LimitError) -> LimitError:
        return LimitError(f"{self.path}: {error}")


def read_rational_file(path: str | os.PathLike[str]) -> RationalFile:
    """Reads a file into its sections, and its parameters with their intervals.

    Raises:
        InputError: cannot be read, not of this form, or a name or interval that is no good; with the line.
        InputError: larger than `MAX_BYTES`.
    """
    name = str(path)
    with located(file=name):
        content = _content(Path(path))
        try:
            text = content.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8 text (byte {error.start})") from None
        headings = list(_HEADING.finditer(text))
        read = RationalFile(name, hashlib.sha256(content).hexdigest(), {}, text, {})
        if not headings or text[: headings[0].start()].strip():
            raise InputError("a file of this form starts with '$Parameters:'", key="line 1")
        sections: dict[str, tuple[int, int]] = {}
        for heading, following in zip(headings, [*headings[1:], None], strict=True):
            word = heading.group(1)
            with located(key=read._line(heading.start(1))):
                if word not in _SECTIONS:
                    near = get_close_matches(word, _SECTIONS, n=1)
                    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(_SECTIONS)}"
                    raise InputError(f"unknown section {word!r}; {hint}")
                if word in sections:
                    raise InputError(f"a second section {word!r}")
            sections[word] = heading.end(), following.start() if following else len(text)
        for needed in (PARAMETERS, RESULT):
            if needed not in sections:
                raise InputError(f"the section '${needed}:' is missing")
        start, end = sections[PARAMETERS]
        with located(key=read._line(start)):
            parameters = _parameters(text[start:end])
        return replace(read, parameters=parameters, sections=sections)


def _content(path: Path) -> bytes:
    return read_file(path, MAX_BYTES, "a file of this form")


def _parameters(text: str) -> dict[str, Interval | None]:
    found: dict[str, Interval | None] = {}
    for entry in re.split(r"[;,](?![^(\[]*[)\]])", text):
        if not entry.strip():
            continue
        name, _, interval = entry.strip().partition("(" if "(" in entry else "[")
        opening = entry.strip()[len(name) : len(name) + 1]
        name = name.strip()
        if name in WORDS or name == GENERATOR or not NAME.match(name):
            taken = "has a meaning in case files" if NAME.match(name) else "is not a name"
            raise InputError(f"the parameter {name[:40]!r} {taken}; rename it in the file")
        if name in found:
            raise InputError(f"the parameter {name!r} is there twice")
        found[name] = parse_interval(opening + interval) if opening else None
        if len(found) > MAX_PARAMETERS:
            raise LimitError(f"more than {MAX_PARAMETERS:,} parameters")
    return found


def _compared(text: str) -> str:
    """Returns a constraint with both sides; `p - 1,<=` is `p - 1 <= 0`, every character in its place."""
    postfix = _POSTFIX.fullmatch(text)
    return f"{postfix[1]} {postfix[2]} 0" if postfix else text


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip())


def _needed(values: SharedValues, condition: ValueCondition, domain: Domain) -> Iterator[Constraint]:
    """Yields constraints whose conjunction on the box is the condition.

    What holds on the whole box is left out; signs are those that are proved there.
    """
    difference = values[values.total([condition.left, values.negative(condition.right)])]
    below = sign_on(difference.denominator, domain)
    if below not in (Sign.POSITIVE, Sign.NEGATIVE):
        raise InputError("a denominator of this constraint may vanish in the domain")
    f = difference.numerator if below is Sign.POSITIVE else -difference.numerator
    relation = condition.relation
    if relation in ("<", "<="):
        f, relation = -f, {"<": ">", "<=": ">="}[relation]
    sign = sign_on(f, domain)
    text = str(f).replace("^", "**")
    if relation == "=":
        if sign is not Sign.ZERO:
            yield Constraint(f, False, f"{text} >= 0")
            yield Constraint(-f, False, f"{text} <= 0")
    elif relation == "!=":
        if sign not in (Sign.POSITIVE, Sign.NEGATIVE):
            positive = {Sign.NONNEGATIVE: f, Sign.NONPOSITIVE: -f}.get(sign, f * f) if sign else f * f
            yield Constraint(positive, True, f"{text} != 0")
    elif sign is not Sign.POSITIVE and not (relation == ">=" and sign in (Sign.NONNEGATIVE, Sign.ZERO)):
        yield Constraint(f, relation == ">", f"{text} {relation} 0")
