"""Names, numbers and labels of a case file.

What they mean, which are equal, and what to do about unknown ones.

Names and numbers: what a key, a list entry or a label of a case file means. Only this module decides it.

A text is a number only where it is spelt as one: an optional minus, digits without a leading zero, then
perhaps `.digits` or `/digits`, all ASCII. Every other text is a label and means nothing but itself: "00",
"+1", "1_0", "1e3" and " 1" are labels. Two spellings of one number in one set ("1.0" and "1") are an error
that names both, so no name is ever taken for another one because they are equal as numbers.

The states and observations of a model that is written out are labels, also where they look like numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from paramverify import printable
from paramverify.algebra.expressions import (
    NAME,
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    Text,
    Value,
    exact_decimal,
)
from paramverify.errors import CaseError, ExpressionError, FinerError, InputError
from paramverify.tables import Table, is_decimal

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+|/[1-9][0-9]*)?")
MAX_DIGITS = 1_000


def literal(given: object) -> Value:
    """Returns a TOML number as a rational, and a text as it stands.

    Raises:
        CaseError: neither of both, or a number that is infinite or has too many digits.
    """
    if isinstance(given, str) and not is_decimal(given):
        return given
    if isinstance(given, bool) or not isinstance(given, (int, str)):
        raise CaseError("this must be a number or a label")
    if isinstance(given, int) and abs(given) >= 10**MAX_DIGITS:
        raise CaseError("the number has too many digits")
    try:
        return Fraction(given) if isinstance(given, int) else exact_decimal(given)
    except ValueError as error:
        raise CaseError(str(error)) from None


def as_value(given: object) -> Value:
    """Returns the value that a key or list entry names: a rational where it is spelt as one, else a label.

    Raises:
        CaseError: neither a number nor a text.
    """
    value = literal(given)
    if not isinstance(value, str) or not NUMBER.fullmatch(value):
        return value
    if len(value) > MAX_DIGITS:
        raise CaseError("the number has too many digits")
    return Fraction(value)


def distinct(listed: Iterable[object]) -> dict[Value, object]:
    """Returns the values that entries name, in their order, each with its spelling.

    Raises:
        CaseError: two entries name the same value; the message has both as they are spelt.
    """
    found: dict[Value, object] = {}
    for given in listed:
        value = as_value(given)
        if value in found:
            raise CaseError(same(found[value], given))
        found[value] = given
    return found


def same(first: object, second: object) -> str:
    """Returns the message for two entries that name the same value."""
    if spelt(first) == spelt(second):
        return f"{spelt(first)} is listed twice; remove one of them"
    return f"{spelt(first)} and {spelt(second)} are the same value; list it once"


def find(value: Value, known: Sequence[Value]) -> Value:
    """Returns the one of the known values that a value names.

    A text names the label of exactly this spelling, else the number that it is spelt as. A number names this
    number, else the only label that is spelt as it.

    Raises:
        CaseError: none of them, with the nearest; or a number that two labels are spelt as, with both.
    """
    if value in known:
        return value
    if isinstance(value, str):
        number = as_value(value)
        if isinstance(number, Fraction) and number in (v for v in known if not isinstance(v, str)):
            return number
        raise CaseError(f"{value!r} is not a possible value{nearest(value, known)}")
    named = [v for v in known if isinstance(v, str) and as_value(v) == value]
    if len(named) > 1:
        raise CaseError(f"{value} may mean {named[0]!r} or {named[1]!r}: rename one of them")
    if not named:
        raise CaseError(f"{value} is not a possible value{nearest(str(value), known)}")
    return named[0]


def nearest(name: str, known: Collection[Value]) -> str:
    """Returns words about the known value that looks most like a name, or about all if none does."""
    shown = {str(v): repr(v) if isinstance(v, str) else str(v) for v in known}
    near = get_close_matches(name, list(shown), n=1)
    if near:
        return f"; did you mean {shown[near[0]]}?"
    few = list(shown.values())
    return f"; choose from {', '.join(few if len(few) <= 8 else [*few[:7], '...'])}"


def spelt(given: object) -> str:
    """Returns an entry as the user wrote it: a text in quotes, a number without."""
    return repr(given) if isinstance(given, str) and not is_decimal(given) else str(given)


MAX_LENGTH = 100


def read_labels(table: Table, outputs: Sequence[str]) -> tuple[str, ...]:
    """Reads `labels`: what each of these outputs is called. Without the key they keep their names.

    Raises:
        CaseError: an output without a label, a label without an output, or labels that may be confused.
    """
    if "labels" not in table:
        return tuple(outputs)
    with table.within("labels") as given:
        for name in given:
            if name not in outputs:
                raise CaseError(f"there is no output {name!r}{nearest(name, list(outputs))}", key=name)
        missing = [name for name in outputs if name not in given]
        if missing:
            raise CaseError(f'the output {missing[0]} has no label; add {missing[0]} = "..."')
        labels = tuple(_label(given, name) for name in outputs)
        for name, label in zip(outputs, labels, strict=True):
            if label in outputs and label != name:
                raise CaseError(
                    f"the label {label!r} is already the name of another output; choose another label",
                    key=name,
                )
        check_labels(labels)
        return labels


def _label(given: Table, name: str) -> str:
    label = given.get(name)
    if not isinstance(label, str) or is_decimal(label):
        raise CaseError('a label must be in quotes, such as "yes"', key=name)
    return label


def check_labels(labels: Iterable[str]) -> None:
    """Checks that labels can be told apart, from each other and from numbers, by whoever reads them.

    Raises:
        CaseError: two that are spelt alike or look alike, one that is like a number, or one that is not seen.
    """
    known: dict[str, str] = {}
    for label in labels:
        seen = printable.line(label) == label == label.strip()
        if not seen or not 1 <= len(label) <= MAX_LENGTH:
            reason = f"a label must have 1 to {MAX_LENGTH} visible characters, without blanks at either end"
            raise CaseError(f"{reason}; {label!a:.200} does not")
        if is_like_number(label):
            reason = f"the label {label!r} could be mistaken for a number"
            raise CaseError(f'{reason}; write, for example, "n{label}"')
        look = " ".join(unicodedata.normalize("NFKC", label).split())
        if look in known:
            twice = f"the label {label!r} is used twice; choose another one"
            alike = f"the labels {known[look]!a} and {label!a} look alike; rename one of them"
            raise CaseError(twice if known[look] == label else alike)
        known[look] = label


def is_like_number(text: str) -> bool:
    """Tells whether a text may be taken for a number: what any of Python's readers takes for one."""
    plain = unicodedata.normalize("NFKC", text)
    readers = (Fraction, float, lambda word: int(word, 0))
    for read in (*readers, complex) if any(map(str.isdigit, plain)) else readers:  # "j" is a number to Python
        try:
            read(plain)
        except (ValueError, ArithmeticError):
            continue
        return True
    return False


def check_compared_labels(expression: Expression, values: Mapping[str, Collection[Value]]) -> None:
    """Checks that labels are compared only with variables that may take them, and numbers only with variables
    that may be numbers: what is misspelt is never equal.

    Raises:
        ExpressionError: a comparison that no value of the variable can make true.
    """
    for node in expression.nodes():
        if isinstance(node, Operation) and node.operator in ("==", "!="):
            for one, other in (node.arguments, node.arguments[::-1]):
                _check_equal(expression, one, other, values)


def _check_equal(
    expression: Expression, one: Node, other: Node, values: Mapping[str, Collection[Value]]
) -> None:
    if isinstance(one, Text) and isinstance(other, (RationalConstant, Operation)):
        raise expression.error(
            f"a number is compared with the label {one.value!r}, which it never equals", one
        )
    if not isinstance(other, Name) or other.name not in values:
        return
    known = values[other.name]
    numbers = [v for v in known if not isinstance(v, str)]
    if isinstance(one, Text) and one.value not in known:
        number = as_value(one.value) in numbers
        hint = f"; write {one.value} without quotes" if number else nearest(one.value, known)
        raise expression.error(
            f"{other.name} is compared with {one.value!r}, which is not one of its values{hint}", one
        )
    if isinstance(one, Name) and one.name not in values and one.name in known:
        raise expression.error(f"a label must be in quotes: '{one.name}'", one)
    if isinstance(one, (RationalConstant, Operation)) and not numbers:
        raise expression.error(
            f"{other.name} is compared with a number, but its values are labels{nearest('', known)}", one
        )
    only_numbers = isinstance(one, Name) and not any(isinstance(v, str) for v in values.get(one.name, ("",)))
    if isinstance(one, Name) and only_numbers and not numbers:
        raise expression.error(
            f"{one.name} is a number and {other.name} is a label, so they are never equal", one
        )


_PARAMETRIC = ("mechanism", "prior", "privacy", "claim", "define", "system", "states")  # tables


@contextmanager
def explained(data: Mapping[str, Any]) -> Iterator[None]:
    """Tells more of unknown names in the mistakes that pass: a variable, a parameter, or not declared."""
    try:
        yield
    except FinerError:
        raise
    except InputError as error:
        prior, parameters = _names(data, "prior"), _names(data, "parameters")
        for part in error.parts:
            if isinstance(part, ExpressionError) and part.unknown:
                _explain(part, prior, parameters)
        raise


def _names(data: Mapping[str, Any], table: str) -> Collection[str]:
    found = data.get(table)
    return found.keys() - {"constraints"} if isinstance(found, dict) else set()


def _explain(error: ExpressionError, prior: Collection[str], parameters: Collection[str]) -> None:
    name, known = error.unknown, error.known
    place = error.key.partition(".")[0]
    of_variables = place == "secrets" or bool(known and known <= set(prior)) or "quer" in error.key
    shown = ", ".join(sorted(known))
    if of_variables and name in parameters:
        mend = f"the known names are {shown}" if shown else ""
        error.retell(f"{name} is a parameter, but only variables of [prior] are allowed here", mend)
    elif of_variables or error.mend.startswith("did you mean"):
        return
    elif name in prior:
        reason = f"{name} is a variable of [prior], but only parameters are allowed here"
        error.retell(
            reason, "write one mechanism for all values of the variable" if place == "mechanism" else ""
        )
    elif name == "e" and place in _PARAMETRIC:
        mend = 'write exp(1) for Euler\'s number; to declare a parameter, add e = "(0, 1)" below [parameters]'
        error.retell("unknown name 'e'", mend)
    elif place in _PARAMETRIC and NAME.match(name):
        error.retell(
            f"unknown name {name!r}",
            f'to declare a parameter, add {name} = "(0, 1)" below [parameters]; {error.mend}',
        )
