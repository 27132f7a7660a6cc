"""Rational functions in files of parametric model checkers, for the second reader: in prefix form.

    $Parameters: p (0,1]; q (0,1]
    $Result: (/ (+ (* p q) (- 3)) (+ (* p q) (- 1)))

Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

from ..kernel.strict_reading import UnreadCase

_SECTION = re.compile(
    r"^[$!]?(Parameters|Result|Well-formed Constraints|Graph-preserving Constraints):", re.MULTILINE
)
_TOKEN = re.compile(r"[()]|[^\s()]+")
OTHER_FORM = "a file of a rational function in another form"
_COMPARES = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}


@dataclass(frozen=True)
class FileFunction:
    """A rational function from a file, with the intervals of its parameters and its constraints."""

    box: Mapping[str, str]
    result: Sequence[str]  # tokens in prefix form
    constraints: Sequence[Sequence[str]]

    @staticmethod
    def read(path: Path) -> FileFunction:
        """Reads a file.

        Raises:
            Unread: it has another form.
        """
        _, *parts = _SECTION.split(path.read_text(encoding="utf-8-sig"))
        found = dict(zip(parts[::2], parts[1::2], strict=True))
        box = {}
        for entry in found["Parameters"].split(";"):
            name, _, ends = entry.strip().partition(" ")
            box[name] = ends
        lines = [found.get(f"{kind} Constraints", "") for kind in ("Well-formed", "Graph-preserving")]
        each = [_TOKEN.findall(line) for part in lines for line in part.splitlines() if line.strip()]
        if not all(ends.startswith(("(", "[")) for ends in box.values()):
            raise UnreadCase("a file of a rational function with parameters without intervals")
        return FileFunction(box, _TOKEN.findall(found["Result"]), each)

    def at(self, values: Mapping[str, Any], divisors: list[Fraction] | None = None) -> Fraction:
        """Returns the value at a point."""
        return Fraction(self._value(self.result, values, divisors))

    def allows(self, values: Mapping[str, Any]) -> bool:
        """Tells whether a point satisfies the constraints."""
        return all(self._value(tokens, values, None) for tokens in self.constraints)

    @staticmethod
    def _value(tokens: Sequence[str], values: Mapping[str, Any], divisors: list[Fraction] | None) -> Any:
        stack: list[list[Any]] = [[]]
        for token in tokens:
            if token == "(":
                stack.append([])
            elif token == ")":
                word, *given = stack.pop()
                if isinstance(word, str) != bool(given):
                    raise UnreadCase(OTHER_FORM)
                stack[-1].append(_applied(word, given, divisors) if given else word)
            elif token in values:
                stack[-1].append(values[token])
            elif re.fullmatch(r"-?\d+(/\d+)?", token):
                stack[-1].append(Fraction(token))
            elif token in ("+", "-", "*", "/", "not", *_COMPARES) and not stack[-1]:
                stack[-1].append(token)
            else:
                raise UnreadCase(OTHER_FORM)
        if len(stack) != 1 or len(stack[0]) != 1:
            raise UnreadCase(OTHER_FORM)
        return stack[0][0]


def _applied(word: str, given: Sequence[Any], divisors: list[Fraction] | None) -> Any:
    if word in _COMPARES:
        return all(_COMPARES[word](a, b) for a, b in pairwise(given))
    if word == "not":
        return not given[0]
    if word == "+":
        return sum(given, Fraction(0))
    if word == "*":
        return prod(given, start=Fraction(1))
    if word == "-":
        return given[0] - sum(given[1:], Fraction(0)) if len(given) > 1 else -given[0]
    if divisors is not None:
        divisors += given[1:]
    return given[0] / prod(given[1:], start=Fraction(1))


def files_of(define: dict[str, Any], folder: Path | None) -> dict[str, FileFunction]:
    """Takes the functions in files out of `[define]`."""
    found = {}
    for name in [name for name, given in define.items() if isinstance(given, dict)]:
        if folder is None:
            raise UnreadCase("the file of a function, without the folder of the case")
        found[name] = FileFunction.read(folder / define.pop(name)["file"])
    return found
