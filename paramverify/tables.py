"""Reading TOML tables strictly: every key has a type, and unknown keys are errors that name the nearest."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.algebra.expressions import NAME, WORDS, Expression, parse
from paramverify.errors import CaseError, located
from paramverify.files import read_file

MAX_BYTES = 1_000_000
MAX_DEPTH = 50  # tables and lists inside each other


class _Decimal(str):
    """A TOML float, kept as its text so that no binary float is ever made."""


def is_decimal(value: object) -> bool:
    """Tells whether a value of `read_toml` is a TOML float, of which the text is kept, and no text."""
    return isinstance(value, _Decimal)


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Reads a TOML file; floats stay text. Returns the data and the SHA-256 digest of the file.

    Raises:
        CaseError: not a readable regular file, larger than `MAX_BYTES`, not UTF-8, or not TOML.
    """
    with located(file=str(path)):
        content = read_file(path, MAX_BYTES, "a case file", CaseError)
        try:
            data = toml_data(content.decode("utf-8-sig"))
            if _depth(data) > MAX_DEPTH:
                raise CaseError(f"tables and lists nested deeper than {MAX_DEPTH}")
            return data, hashlib.sha256(content).hexdigest()
        except UnicodeDecodeError as error:
            raise CaseError(f"not UTF-8 text (byte {error.start})") from None
        except RecursionError:
            raise CaseError(f"tables and lists nested deeper than {MAX_DEPTH}") from None
        except tomllib.TOMLDecodeError as error:
            unquoted = str(error).startswith(("Invalid value", "Expected newline or end of document after a"))
            hint = "; texts and formulas stand in quotes" if unquoted else ""
            raise CaseError(f"not TOML: {error}{hint}") from None
        except ValueError:
            raise CaseError("not TOML: a number has too many digits") from None


def toml_data(text: str) -> dict[str, Any]:
    """Returns the data of a TOML text; floats stay text."""
    return tomllib.loads(text, parse_float=_Decimal)


def _depth(data: object) -> int:
    """Returns how deeply tables and lists are nested; without recursion."""
    depth, level = 0, [data]
    while level:
        lists = [d for d in level if isinstance(d, list)]
        tables = [d for d in level if isinstance(d, dict)]
        level = [value for part in (*lists, *(d.values() for d in tables)) for value in part]
        depth += bool(lists or tables)
    return depth


class Table:
    """One TOML table that is read key by key; `close` complains about keys that nobody asked for."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.asked: set[str] = set()

    def __contains__(self, name: str) -> bool:
        self.asked.add(name)
        return name in self.data

    def __iter__(self) -> Iterator[str]:
        self.asked.update(self.data)
        return iter(self.data)

    def close(self) -> None:
        """Raises a CaseError if the table has a key that was never asked for."""
        for name in self.data:
            if name not in self.asked:
                near = get_close_matches(name, sorted(self.asked), n=1)
                known = ", ".join(sorted(self.asked))
                hint = f"did you mean {near[0]!r}?" if near else f"known here: {known}"
                raise CaseError(f"unknown key; {hint}", key=name)

    def get(self, name: str) -> Any:
        """Returns the raw value, or None."""
        self.asked.add(name)
        return self.data.get(name)

    def need(self, name: str) -> Any:
        """Returns the raw value.

        Raises:
            CaseError: it is missing.
        """
        value = self.get(name)
        if value is None:
            raise CaseError(f"the key {name!r} is missing{self.hint(name)}")
        return value

    def hint(self, *names: str) -> str:
        """Returns words about a key that nobody asked for and that looks like one of the names, if any."""
        for other in sorted(self.data.keys() - self.asked):
            near = get_close_matches(other, names, n=1)
            if near:
                return f"; {other!r} is here: did you mean {near[0]!r}?"
        return ""

    def table(self, name: str) -> Table:
        """Returns a nested table."""
        value = self.need(name)
        if not isinstance(value, dict):
            raise CaseError("a table is needed here", key=name)
        return Table(value)

    @contextmanager
    def within(self, name: str) -> Iterator[Table]:
        """Gives a nested table; errors that are raised inside get its name once."""
        inner = self.table(name)
        with located(key=name):
            yield inner

    def text(self, name: str, default: str | None = None) -> str:
        """Returns a string."""
        value = self.get(name) if default is not None else self.need(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or isinstance(value, _Decimal):
            raise CaseError("text is needed here", key=name)
        return value

    def path(self, name: str) -> str:
        """Returns a string that can name a file."""
        value = self.text(name)
        if not value or "\0" in value:
            raise CaseError(f"not the name of a file: {value!r}", key=name)
        return value

    def choice(self, name: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """Returns one of the given words."""
        value = self.text(name, default)
        if value not in choices:
            known = f'"{choices[0]}"' if len(choices) == 1 else f"one of {', '.join(choices)}"
            raise CaseError(f"must be {known}; not {value!r}", key=name)
        return value

    def integer(self, name: str, least: int, most: int) -> int:
        """Returns a whole number between the two bounds."""
        value = self.need(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise CaseError(f"a whole number from {least} to {most} is needed here", key=name)
        return value

    def expression(self, name: str, known: Mapping[str, Fraction] | None = None) -> Expression:
        """Returns a parsed expression, given as text or as a number; known names stand for their numbers."""
        with located(key=name):
            return as_expression(self.need(name), known)

    def texts(self, name: str) -> list[str]:
        """Returns a list of strings."""
        value = self.need(name)
        if not isinstance(value, list) or not all(isinstance(v, str) and not is_decimal(v) for v in value):
            raise CaseError("a list of texts is needed here", key=name)
        return [str(v) for v in value]


def as_expression(value: object, known: Mapping[str, Fraction] | None = None) -> Expression:
    """Parses a TOML value as an expression: text, a whole number, or a decimal read from its text."""
    if isinstance(value, str):
        return parse(value, known)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**1000:
        return parse(str(value))
    raise CaseError("an expression (text or a number) is needed here")


def check_name(name: str) -> None:
    """Raises a CaseError unless the text can name a parameter or variable."""
    if name in WORDS:
        raise CaseError("this word is reserved in expressions", key=name)
    if not NAME.match(name):
        raise CaseError("a name has letters, digits and _, and starts with a letter", key=name)


def all_expressions(data: object, known: Mapping[str, Fraction] | None = None) -> Iterator[Expression]:
    """Yields every text of nested TOML data that mentions `exp` and parses as an expression."""
    if isinstance(data, dict):
        for value in data.values():
            yield from all_expressions(value, known)
    elif isinstance(data, list):
        for value in data:
            yield from all_expressions(value, known)
    elif isinstance(data, str) and "exp" in data:
        try:
            yield parse(data, known)
        except ValueError:
            return  # not an expression, or a wrong one: reported where the key is read
