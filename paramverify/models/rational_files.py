"""Rational functions in files, in the prefix and infix forms that parametric model checkers write.

    $Parameters: p (0,1); q (0,1)
    $Result: (/ (+ (* p q) (- 3)) (+ (* p q) (- 1)))
    $Well-formed Constraints:
    (<= (+ p (- 1)) 0)
    $Graph-preserving Constraints:
    (not (= q 0))

This is what PROPhESY and Storm exchange ([Dehnert15], [Junges24]). Older files have `!` in place of `$`, or
nothing, no intervals, commas between parameters, infix formulas, and constraints such as `p - 1,<=`, where
the other side is 0. Storm writes infix too, and prefix with infix inside. All of these are read; see
`models.rational_files`. A formula may be spread over lines; of the constraints each starts on a line of its
own. Files of the tool PARAM are not read: they have no names of sections.

What is prefix and what is infix in a formula, and where an infix operand of a prefix formula ends.

Storm has written factored results in both forms at once for years: `(/ (* -1 (p) * (q+-1)^2) p*q+-1)`. An
infix operand has no blank outside of brackets, except around `*`.

Rational functions of large expressions, each different subexpression computed once.

Texts that tools write repeat themselves (`(* p p p)` a thousand times over). Here a subexpression is a
number, and an operation on the same numbers gives the number that it gave before.

Reading the formulas that parametric model checkers write: prefix and infix, of any depth and length.

Prefix, as carl and SMT-LIB write it: `(/ (+ (* p q) (- 3)) (+ (* p q) (- 1)))`. Operators are `+ - * /` with
any number of operands, `^` with a whole exponent, comparisons, `not` and `and`. A text is read as prefix if
it starts with a bracket, an operator and a blank, and goes to the end of this bracket.

Infix, as sympy and Storm write it: `(-p**2 + 3*p) / (1 - p)`, with `+ - * /`, `^` or `**` with a whole
exponent, comparisons, `!(...)`, and `&`.

Prefix texts may have infix operands; see `models.rational_files`. One that differs in these forms, `(- p+q)`,
is refused. Both readers keep their own stack, so nesting is limited by the size of the text only.
"""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from math import comb
from pathlib import Path
from typing import NamedTuple, NoReturn

from flint import fmpq, fmpz

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain, Interval, parse_interval
from paramverify.algebra.expressions import MAX_BITS, MAX_DIGITS, MAX_EXPONENT, MAX_POWER, NAME, WORDS
from paramverify.algebra.polynomials import MAX_DEGREE, MAX_TERMS, Polynomial, RationalFunction, Ring
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import InputError, LimitError, located
from paramverify.files import read_file

PLAIN = re.compile(r"[-+]?[^-+*^()<>=!&\s]+(?:(?<=[\d.][eE])[-+]\d+)?")
_PREFIX = re.compile(r"\s*\(\s*(?:[-+*/^=<>]|\*\*|<=|>=|!=|not|and|distinct)\s")
_BRACKET = re.compile(r"[()]")
_GOES_ON = re.compile(r"\s*[-+*/^<>=!&]")
_ADDS = re.compile(r"[()]|(?<=[\w.)])(?<![\d.][eE])[-+]")
_BLANK = re.compile(r"\s+")
_CLOSES = re.compile(r"\s*\)")
_PART = re.compile(r"[()]|[^\s()]+|\s+")
_TIMES = re.compile(r"\s+\*\s+(?=\S)")


def operand_end(text: str, start: int) -> int:
    """Returns where the operand at a place ends: at a blank outside of brackets, or at the bracket around it.

    A blank before or after a lone `*` belongs to the operand: `(p) * (q+1)^2` is one.
    """
    depth, at = 0, start
    while part := _PART.match(text, at):
        word = part.group()
        if word == ")" and depth == 0:
            break
        if word.isspace() and depth == 0:
            times = _TIMES.match(text, at)
            if times is None:
                break
            at = times.end()
            continue
        depth += (word == "(") - (word == ")")
        at = part.end()
    return at


def opens_prefix(text: str, start: int) -> bool:
    """Tells whether a bracket, an operator and a blank come next."""
    return _PREFIX.match(text, start) is not None


def is_prefix(text: str) -> bool:
    """Tells whether a text is prefix: it opens so, and does not go on as in `(- p) * q`, which is infix."""
    depth = 0
    for bracket in _BRACKET.finditer(text) if opens_prefix(text, 0) else ():
        depth += 1 if bracket.group() == "(" else -1
        if depth == 0:
            return _GOES_ON.match(text, bracket.end()) is None
    return opens_prefix(text, 0)


def is_lone_sum(text: str, start: int) -> bool:
    """Tells whether one operand comes before the bracket closes, and is a sum without brackets around it.

    `(- p+q)` is q - p in infix, and -(p + q) in prefix.
    """
    blank = _BLANK.match(text, start)
    start = blank.end() if blank else start
    if opens_prefix(text, start):
        return False
    end, depth = operand_end(text, start), 0
    for sign in _ADDS.finditer(text, start, end) if _CLOSES.match(text, end) else ():
        if depth == 0 and sign.group() in "+-":
            return True
        depth += (sign.group() == "(") - (sign.group() == ")")
    return False


MAX_WORK = 50_000_000  # products of terms, over the whole expression


class SharedValues:
    """The values of subexpressions, by number.

    Every method raises a LimitError where a result would pass the bounds on terms, degree or work, and a
    ZeroDivisionError where a divisor is zero identically.
    """

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.work = 0
        self._values: list[RationalFunction] = []
        self._numbers: dict[tuple[str | int, ...], int] = {}

    def __getitem__(self, number: int) -> RationalFunction:
        return self._values[number]

    def constant(self, value: fmpq) -> int:
        """Returns the number of a constant."""
        key = ("constant", str(value))
        if key not in self._numbers:
            return self._new(key, RationalFunction.of(self.ring.context.constant(value)))
        return self._numbers[key]

    def parameter(self, name: str) -> int:
        """Returns the number of a parameter of the ring."""
        key = ("parameter", name)
        if key not in self._numbers:
            return self._new(key, RationalFunction.of(self.ring.variable(name)))
        return self._numbers[key]

    def total(self, parts: Sequence[int]) -> int:
        """Returns the sum."""
        return parts[0] if len(parts) == 1 else self._once("+", *parts)

    def product(self, parts: Sequence[int]) -> int:
        """Returns the product."""
        return parts[0] if len(parts) == 1 else self._once("*", *parts)

    def negative(self, part: int) -> int:
        """Returns the negative."""
        return self._once("neg", part)

    def quotient(self, above: int, below: int) -> int:
        """Returns the quotient."""
        return self._once("/", above, below)

    def power(self, base: int, exponent: int) -> int:
        """Returns a power; the exponent is not negative."""
        return base if exponent == 1 else self._once("**", base, exponent)

    def _new(self, key: tuple[str | int, ...], value: RationalFunction) -> int:
        self._values.append(value)
        self._numbers[key] = len(self._values) - 1
        return self._numbers[key]

    def _once(self, word: str, *parts: int) -> int:
        known = self._numbers.get((word, *parts))
        return self._new((word, *parts), self._compute(word, parts)) if known is None else known

    def _compute(self, word: str, parts: Sequence[int]) -> RationalFunction:
        if word == "**":
            return self._power(self[parts[0]], parts[1])
        values = [self[part] for part in parts]
        if word == "neg":
            return -values[0]
        if word == "/":
            if not values[1].numerator:
                raise ZeroDivisionError("division by zero")
            inverse = RationalFunction.of(values[1].denominator, values[1].numerator)
            return self._product([values[0], inverse])
        if word == "*":
            return self._product([self._power(self[part], count) for part, count in Counter(parts).items()])
        return self._sum(values)

    def _sum(self, values: Iterable[RationalFunction]) -> RationalFunction:
        """Adds numerators over the same denominator first; then the few different fractions."""
        groups: dict[str, tuple[Polynomial, list[Polynomial]]] = {}
        for value in values:
            below = value.denominator
            name = "1" if below.is_one() else str(below)
            groups.setdefault(name, (below, []))[1].append(value.numerator)
        fractions = [RationalFunction.of(self._added(above), below) for below, above in groups.values()]
        while len(fractions) > 1:
            pairs = []
            for a, b in zip(fractions[::2], fractions[1::2], strict=False):
                self._allow(a.numerator, b.denominator)
                self._allow(b.numerator, a.denominator)
                self._allow(a.denominator, b.denominator)
                pairs.append(a + b)
            fractions = pairs + fractions[len(pairs) * 2 :]
        return fractions[0]

    def _added(self, parts: list[Polynomial]) -> Polynomial:
        """Adds in pairs, so that a term is copied log n times instead of n times."""
        while len(parts) > 1:
            self._spend(sum(map(len, parts)) // 8)
            pairs = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = pairs + parts[len(pairs) * 2 :]
        return parts[0]

    def _product(self, values: list[RationalFunction]) -> RationalFunction:
        above = self._multiplied([v.numerator for v in values])
        below = self._multiplied([v.denominator for v in values if not v.denominator.is_one()])
        self._allow(above, below)  # what a gcd costs at least
        return RationalFunction.of(above, below)

    def _multiplied(self, parts: list[Polynomial]) -> Polynomial:
        while len(parts) > 1:
            pairs = []
            for a, b in zip(parts[::2], parts[1::2], strict=False):
                self._allow(a, b)
                pairs.append(a * b)
            parts = pairs + parts[len(pairs) * 2 :]
        return parts[0] if parts else self.ring.number(1)

    def _power(self, base: RationalFunction, exponent: int) -> RationalFunction:
        if exponent == 1:
            return base
        for part in (base.numerator, base.denominator):
            terms = len(part)
            bits = max((max(int(c.p).bit_length(), int(c.q).bit_length()) for c in part.coeffs()), default=1)
            degree = max(map(int, part.degrees()), default=0) * exponent
            if degree > MAX_DEGREE or bits * exponent > MAX_BITS:
                raise LimitError("a power is too large to expand")
            if terms > 1:
                expected = comb(terms + exponent - 1, exponent) if exponent <= MAX_EXPONENT else MAX_TERMS + 1
                if expected > MAX_TERMS:
                    raise LimitError("a power is too large to expand")
                self._spend(expected * terms)
        return base**exponent

    def _allow(self, left: Polynomial, right: Polynomial) -> None:
        """Counts the work of a product, and refuses one that is too large."""
        degrees = (int(a) + int(b) for a, b in zip(left.degrees(), right.degrees(), strict=True))
        if max(degrees, default=0) > MAX_DEGREE:
            raise LimitError(f"the degree in one parameter would exceed {MAX_DEGREE:,}")
        self._spend(len(left) * len(right))

    def _spend(self, work: int) -> None:
        self.work += work
        if self.work > MAX_WORK:
            raise LimitError("the formula is too large to expand into a quotient of polynomials")


NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}

_WORD = re.compile(r"[()]|[^\s()]+")
_SYMBOL = re.compile(
    r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])|[A-Za-z_]\w*|\*\*|<=|>=|==|!=|&&|[-+*/^()<>=!&]|\S",
    re.ASCII,
)
_NUMBER = re.compile(r"(\d+)\.?(\d*)(?:[eE]([+-]?\d+))?|\.(\d+)(?:[eE]([+-]?\d+))?", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SHOWN = 40  # characters of an unexpected word


class ValueCondition(NamedTuple):
    """A comparison of two values of one `SharedValues`."""

    relation: str
    left: int
    right: int


Part = int | list[ValueCondition]


class WordPlace(NamedTuple):
    """A word of the text and where it starts."""

    word: str
    start: int


@dataclass(frozen=True)
class FormulaReader:
    """Reads formulas over the given values; `known` are the parameters that may occur.

    `where` turns a position of the text into words for an error, such as `line 12`.
    """

    values: SharedValues
    known: frozenset[str]
    where: Callable[[int], str]

    def function(self, text: str) -> int:
        """Returns the number of the rational function that the text denotes.

        Raises:
            InputError: not a formula, an unknown parameter, or a division by zero; `key` says where.
            LimitError: too large.
        """
        found = self._read(text)
        if isinstance(found, list):
            self._refuse("this must be a formula, not a comparison", 0)
        return found

    def conditions(self, text: str) -> list[ValueCondition]:
        """Returns the comparisons that the text joins; all of them hold iff the text does.

        Raises:
            InputError, LimitError: as for `function`.
        """
        if text.strip() == "true":
            return []
        found = self._read(text)
        if not isinstance(found, list):
            self._refuse("this must be a comparison", 0)
        return found

    def _read(self, text: str) -> Part:
        if not text.strip():
            self._refuse("the formula is empty", 0)
        return _prefix(self, text) if is_prefix(text) else _infix(self, text)

    def _refuse(self, reason: str, start: int) -> NoReturn:
        raise InputError(reason, key=self.where(start))

    def _unexpected(self, place: WordPlace) -> NoReturn:
        self._refuse(f"unexpected {place.word[:_SHOWN]!r}", place.start)

    def _atom(self, place: WordPlace) -> int:
        word = place.word
        if _NAME.fullmatch(word):
            if word not in self.known:
                known = ", ".join(sorted(self.known)) or "none"
                self._refuse(
                    f"{word[:_SHOWN]!r} is not one of the parameters of the file ({known})", place.start
                )
            return self.values.parameter(word)
        return self.values.constant(self._number(place))

    def _number(self, place: WordPlace) -> fmpq:
        word = place.word
        if len(word) > MAX_DIGITS:
            raise LimitError(f"{self.where(place.start)}: a number has more than {MAX_DIGITS:,} digits")
        match = _NUMBER.fullmatch(word)
        if not match:
            self._unexpected(place)
        whole, decimals, power, only, power_of_only = match.groups()
        digits = only if whole is None else decimals
        exponent = int(power or power_of_only or 0)
        if abs(exponent) > MAX_EXPONENT:
            raise LimitError(f"{self.where(place.start)}: an exponent is larger than {MAX_EXPONENT:,}")
        scale = exponent - len(digits)
        value = fmpq(fmpz((whole or "") + digits))
        return value * fmpq(10) ** scale

    def _exponent(self, place: WordPlace) -> int:
        if not re.fullmatch(r"[0-9]+", place.word):
            self._refuse("an exponent must be a whole number, without a sign", place.start)
        if len(place.word) > 6 or int(place.word) > MAX_POWER:
            raise LimitError(f"{self.where(place.start)}: an exponent is larger than {MAX_POWER:,}")
        return int(place.word)

    def _quotient(self, above: int, below: int, start: int) -> int:
        try:
            return self.values.quotient(above, below)
        except ZeroDivisionError:
            self._refuse("division by zero", start)


# --- prefix -----------------------------------------------------------------------------------------


@dataclass
class _Call:
    """An open bracket of a prefix text: its operator, and the operands read so far."""

    place: WordPlace
    parts: list[Part] = field(default_factory=list)


def _prefix(read: FormulaReader, text: str) -> Part:
    stack: list[_Call] = []
    result: Part | None = None
    at = 0
    while match := _WORD.search(text, at):
        place, at = WordPlace(match.group(), match.start()), match.end()
        if result is not None:
            read._unexpected(place)
        powered = bool(stack) and stack[-1].place.word in ("^", "**") and bool(stack[-1].parts)
        if place.word == "(" and (powered or opens_prefix(text, place.start)):
            if powered:
                read._exponent(place)  # refuses it
            operator = _WORD.search(text, at)
            assert operator is not None
            at = operator.end()
            if operator.group() == "-" and is_lone_sum(text, at):
                read._refuse("(- p+q) has two readings: write (- (p+q)) or (-p+q)", operator.start())
            stack.append(_Call(WordPlace(operator.group(), operator.start())))
            continue
        call = stack[-1]  # the text starts with a bracket
        if place.word == ")":
            stack.pop()
            part = _applied(read, call)
            if stack:
                stack[-1].parts.append(part)
            else:
                result = part
        elif powered:
            call.parts.append(read._exponent(place))
        else:
            at = operand_end(text, place.start)
            call.parts.append(_operand(read, call, WordPlace(text[place.start : at], place.start)))
    if result is None:
        read._refuse("a bracket is not closed", stack[-1].place.start if stack else 0)
    return result


def _operand(read: FormulaReader, call: _Call, place: WordPlace) -> Part:
    """Reads an operand without an operator in front: a number, a name, or an infix formula."""
    word = place.word
    if not PLAIN.fullmatch(word):
        return _infix(replace(read, where=lambda start: read.where(place.start + start)), word)
    if word[0] not in "-+":
        return _fraction(read, place)
    if call.place.word == "-":
        read._refuse(f"write (- {word[1:][:_SHOWN]}) for a negative number here", place.start)
    atom = _fraction(read, WordPlace(word[1:], place.start))
    return read.values.negative(atom) if word[0] == "-" else atom


def _fraction(read: FormulaReader, place: WordPlace) -> int:
    """Reads an operand without brackets; `3/4` is one number."""
    above, slash, below = place.word.partition("/")
    if not slash:
        return read._atom(place)
    divisor = read._number(WordPlace(below, place.start))
    if not divisor:
        read._refuse("division by zero", place.start)
    return read.values.constant(read._number(WordPlace(above, place.start)) / divisor)


def _applied(read: FormulaReader, call: _Call) -> Part:
    """Returns what an operator makes of its operands."""
    word, values = call.place.word, read.values
    conditions = [part for part in call.parts if isinstance(part, list)]
    numbers = [part for part in call.parts if isinstance(part, int)]
    if word in ("and", "not"):
        if numbers or not conditions or (word == "not" and [len(c) for c in conditions] != [1]):
            needed = "one comparison" if word == "not" else "comparisons"
            read._refuse(f"{word} needs {needed}", call.place.start)
        if word == "and":
            return [one for part in conditions for one in part]
        return [_negated(conditions[0][0])]
    relation = {"distinct": "!="}.get(word, word)
    if word not in ("+", "-", "*", "/", "^", "**") and relation not in NEGATED:
        read._unexpected(call.place)
    least = {"+": 1, "-": 1, "*": 1}.get(word, 2)
    exactly = relation in NEGATED or word in ("^", "**")
    if conditions or len(numbers) < least or (exactly and len(numbers) != least):
        read._refuse(f"{word} has the wrong operands", call.place.start)
    if relation in NEGATED:
        return [ValueCondition(relation, numbers[0], numbers[1])]
    if word in ("^", "**"):
        return values.power(numbers[0], numbers[1])
    if word == "+":
        return values.total(numbers)
    if word == "*":
        return values.product(numbers)
    first, rest = numbers[0], numbers[1:]
    if word == "-":
        return values.total([first, values.negative(values.total(rest))]) if rest else values.negative(first)
    return read._quotient(first, values.product(rest), call.place.start)


def _negated(condition: ValueCondition) -> ValueCondition:
    return condition._replace(relation=NEGATED[condition.relation])


# --- infix ------------------------------------------------------------------------------------------


@dataclass
class _OpenSum:
    """An open bracket of an infix text, or the text itself: the sum that is being read.

    `above` and `below` are the factors of the current term; `left` and `relation` what stands before a
    comparison sign; `conditions` the comparisons that brackets or `&` have closed.
    """

    start: int
    inverted: bool = False  # `!` stands before the bracket
    terms: list[int] = field(default_factory=list)
    above: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    minus: bool = False
    divide: bool = False  # the last factor is, or the next will be, below
    powered: bool = False  # the last factor has an exponent
    complete: bool = False  # an operator may follow
    left: int | None = None
    relation: str = ""
    conditions: list[ValueCondition] = field(default_factory=list)
    closed: bool = False  # the last thing read was a bracket with a comparison

    def operand(self, value: int) -> None:
        (self.below if self.divide else self.above).append(value)
        self.complete, self.powered = True, False


class _Infix:
    """One pass over an infix text."""

    def __init__(self, read: FormulaReader, text: str) -> None:
        self.read = read
        self.symbols: Iterator[WordPlace] = (WordPlace(m.group(), m.start()) for m in _SYMBOL.finditer(text))
        self.stack = [_OpenSum(0)]
        self.end = WordPlace("the end", len(text.rstrip()))

    def run(self) -> Part:
        for place in self.symbols:
            self.step(place)
        if len(self.stack) > 1:
            self.read._refuse("a bracket is not closed", self.stack[-1].start)
        return self.close(self.stack.pop(), self.end)

    def step(self, place: WordPlace) -> None:
        word, top = place.word, self.stack[-1]
        if word == "(":
            if top.complete or top.closed:
                self.read._unexpected(place)
            self.stack.append(_OpenSum(place.start))
        elif word == "!":
            bracket = next(self.symbols, self.end)
            if top.complete or top.closed or bracket.word != "(":
                self.read._unexpected(place)
            self.stack.append(_OpenSum(place.start, inverted=True))
        elif word == ")":
            self.bracket(place)
        elif word in ("&", "&&"):
            found = self.close(top, place)
            if not isinstance(found, list):
                self.read._unexpected(place)
            self.stack[-1] = _OpenSum(top.start, top.inverted, conditions=found)
        elif word in NEGATED or word == "==":
            if top.relation or not top.complete:
                self.read._unexpected(place)
            top.left, top.relation = self.total(top), "=" if word == "==" else word
            top.complete = False
        else:
            self.arithmetic(place, top)

    def arithmetic(self, place: WordPlace, top: _OpenSum) -> None:
        word = place.word
        if top.closed:
            self.read._unexpected(place)
        if word in ("+", "-"):  # between terms, or the sign of a factor, which is that of its term
            if top.complete:
                self.term(top)
            top.minus ^= word == "-"
            top.complete = False
        elif word in ("*", "/", "^", "**"):
            if not top.complete or (top.powered and word in ("^", "**")):
                self.read._unexpected(place)
            if word in ("*", "/"):
                top.divide, top.complete = word == "/", False
            else:
                exponent = self.read._exponent(next(self.symbols, self.end))
                factors = top.below if top.divide else top.above
                factors[-1] = self.read.values.power(factors[-1], exponent)
                top.powered = True
        elif top.complete:
            self.read._unexpected(place)
        else:
            top.operand(self.read._atom(place))

    def bracket(self, place: WordPlace) -> None:
        if len(self.stack) == 1:
            self.read._unexpected(place)
        inner = self.stack.pop()
        found = self.close(inner, place)
        top = self.stack[-1]
        if isinstance(found, int):
            if inner.inverted:
                self.read._refuse("! needs a comparison", inner.start)
            top.operand(found)
            return
        if inner.inverted:
            if len(found) != 1:
                self.read._refuse("! needs one comparison", inner.start)
            found = [_negated(found[0])]
        if top.terms or top.above or top.below or top.relation or top.minus:
            self.read._unexpected(place)
        top.conditions += found
        top.closed = True

    def close(self, top: _OpenSum, place: WordPlace) -> Part:
        """Returns what a bracket holds once it ends."""
        if top.closed:
            return top.conditions
        if not top.complete:
            self.read._unexpected(place)
        total = self.total(top)
        if top.left is not None:
            return [*top.conditions, ValueCondition(top.relation, top.left, total)]
        if top.conditions:
            self.read._unexpected(place)
        return total

    def term(self, top: _OpenSum) -> None:
        """Ends a product and adds it to the terms."""
        values = self.read.values
        value = values.product(top.above)
        if top.below:
            value = self.read._quotient(value, values.product(top.below), top.start)
        top.terms.append(values.negative(value) if top.minus else value)
        top.above, top.below, top.minus, top.divide = [], [], False, False

    def total(self, top: _OpenSum) -> int:
        """Ends a sum and returns it."""
        self.term(top)
        found = self.read.values.total(top.terms)
        top.terms = []
        return found


def _infix(read: FormulaReader, text: str) -> Part:
    return _Infix(read, text).run()


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
                    raise LimitError(f"{self.path}: there are more than {MAX_CONSTRAINTS:,} constraints")
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
            raise InputError("a file of this format must start with '$Parameters:'", key="line 1")
        sections: dict[str, tuple[int, int]] = {}
        for heading, following in zip(headings, [*headings[1:], None], strict=True):
            word = heading.group(1)
            with located(key=read._line(heading.start(1))):
                if word not in _SECTIONS:
                    near = get_close_matches(word, _SECTIONS, n=1)
                    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(_SECTIONS)}"
                    raise InputError(f"unknown section {word!r}; {hint}")
                if word in sections:
                    raise InputError(f"the section {word!r} occurs twice")
            sections[word] = heading.end(), following.start() if following else len(text)
        for needed in (PARAMETERS, RESULT):
            if needed not in sections:
                raise InputError(f"the section '${needed}:' is missing")
        start, end = sections[PARAMETERS]
        with located(key=read._line(start)):
            parameters = _parameters(text[start:end])
        return replace(read, parameters=parameters, sections=sections)


def _content(path: Path) -> bytes:
    return read_file(path, MAX_BYTES, "a file of this format")


def _parameters(text: str) -> dict[str, Interval | None]:
    found: dict[str, Interval | None] = {}
    for entry in re.split(r"[;,](?![^(\[]*[)\]])", text):
        if not entry.strip():
            continue
        name, _, interval = entry.strip().partition("(" if "(" in entry else "[")
        opening = entry.strip()[len(name) : len(name) + 1]
        name = name.strip()
        if name in WORDS or name == GENERATOR or not NAME.match(name):
            taken = "is reserved in case files" if NAME.match(name) else "is not a valid name"
            raise InputError(f"the parameter {name[:40]!r} {taken}; rename it in the file")
        if name in found:
            raise InputError(f"the parameter {name!r} is listed twice")
        found[name] = parse_interval(opening + interval) if opening else None
        if len(found) > MAX_PARAMETERS:
            raise LimitError(f"there are more than {MAX_PARAMETERS:,} parameters")
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
        raise InputError("a denominator of this constraint may be zero in the domain")
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
