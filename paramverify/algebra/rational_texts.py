"""Reading the formulas that parametric model checkers write: prefix and infix, of any depth and length.

Prefix, as carl and SMT-LIB write it: `(/ (+ (* p q) (- 3)) (+ (* p q) (- 1)))`. Operators are `+ - * /` with
any number of operands, `^` with a whole exponent, comparisons, `not` and `and`. A text is read as prefix if
it starts with a bracket, an operator and a blank, and goes to the end of this bracket.

Infix, as sympy and Storm write it: `(-p**2 + 3*p) / (1 - p)`, with `+ - * /`, `^` or `**` with a whole
exponent, comparisons, `!(...)`, and `&`.

Prefix texts may have infix operands; see `algebra.operands`. One that differs in these forms, `(- p+q)`, is
refused. Both readers keep their own stack, so nesting is limited by the size of the text only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn

from flint import fmpq, fmpz

from paramverify.algebra.expressions import MAX_DIGITS, MAX_EXPONENT, MAX_POWER
from paramverify.algebra.operands import PLAIN, is_lone_sum, is_prefix, opens_prefix, operand_end
from paramverify.algebra.shared_values import SharedValues
from paramverify.errors import InputError, LimitError

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
            self._refuse("a formula is needed here, not a comparison", 0)
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
            self._refuse("a comparison is needed here", 0)
        return found

    def _read(self, text: str) -> Part:
        if not text.strip():
            self._refuse("empty formula", 0)
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
                self._refuse(f"{word[:_SHOWN]!r} is not one of the parameters ({known})", place.start)
            return self.values.parameter(word)
        return self.values.constant(self._number(place))

    def _number(self, place: WordPlace) -> fmpq:
        word = place.word
        if len(word) > MAX_DIGITS:
            raise LimitError(f"{self.where(place.start)}: a number with more than {MAX_DIGITS:,} digits")
        match = _NUMBER.fullmatch(word)
        if not match:
            self._unexpected(place)
        whole, decimals, power, only, power_of_only = match.groups()
        digits = only if whole is None else decimals
        exponent = int(power or power_of_only or 0)
        if abs(exponent) > MAX_EXPONENT:
            raise LimitError(f"{self.where(place.start)}: an exponent larger than {MAX_EXPONENT:,}")
        scale = exponent - len(digits)
        value = fmpq(fmpz((whole or "") + digits))
        return value * fmpq(10) ** scale

    def _exponent(self, place: WordPlace) -> int:
        if not re.fullmatch(r"[0-9]+", place.word):
            self._refuse("an exponent must be a whole number, without a sign", place.start)
        if len(place.word) > 6 or int(place.word) > MAX_POWER:
            raise LimitError(f"{self.where(place.start)}: an exponent larger than {MAX_POWER:,}")
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
        read._refuse(f"wrong operands for {word}", call.place.start)
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
