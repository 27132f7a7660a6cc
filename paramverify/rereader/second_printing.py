"""What the second reader finds in a case at one point, in words: standard library only."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path

from ..kernel.rounded_constants import exp_bounds
from ..kernel.strict_reading import UnreadCase
from .second_definitions import inside
from .second_numbers import Finer
from .second_reader import Point, PointProbabilities, SecondReader

MOST_STEPS = 50  # of the steps of exponentials that are tried
EVERY_LENGTH = (1, 2)  # that are shown of a case about every length
NUMBER = re.compile(r"-?[0-9]{1,400}(/0*[1-9][0-9]{0,400}|\.[0-9]{1,400})?")
CHECKED_TWICE = "`paramverify check EVIDENCE --case CASE` reads claims and systems a second time"
OTHERS = {  # by a table that only such a file has
    "claim": f"this is a case with [claim], which has no outputs; {CHECKED_TWICE}",
    "system": f"this is an interactive system, which has no list of outputs; {CHECKED_TWICE}",
    "component": "this is a file of releases: give the file of one of its cases",
    "formulas": "this is a case with formulas about a model, which has no mechanism",
}


class WrongPoint(ValueError):
    """A point that is not one of the domain, or no point; the message says why."""


def lines(content: str, folder: Path, given: Mapping[str, str]) -> list[str]:
    """Returns how likely each sequence is under each secret, at a point that is given or chosen.

    Raises:
        Unread: this reader does not know what is in the case. ValueError: a mistake in it, or in the point.
    """
    _check_kind(content)
    reader = SecondReader(content, None, folder)
    for _ in range(MOST_STEPS):
        q = reader.exponent or Fraction(0)
        low, _ = exp_bounds(q, 200 + 4 * int(q))  # the rest is below qⁿ/n! ≤ (q·e/n)ⁿ
        base = Fraction(round(low * 10**60), 10**60)
        try:
            point, found = _found(reader, base, given)
        except Finer as error:
            reader.refine(error.name, error.exponent)
            continue
        _check_chances(found, point)
        at = f"at {_at(point)}" if point else "without parameters"
        told = [", ".join((at, *_meanings(reader)))]
        if reader.exponent:
            told.append(f"with 60 digits of exp({reader.exponent})")
        for secret, words in found.words.items():
            told.append(f"{secret}: impossible" if words is None else f"{secret}:")
            told += [f"  {', '.join(w)}: {_shown(p)}" for w, p in sorted((words or {}).items())]
        return told
    raise UnreadCase("the exponents of a parameter have too small a common divisor")


def _check_kind(content: str) -> None:
    """Raises UnreadCase if a file is of a kind that has no list of outputs."""
    if content.lstrip()[:1] == "{":
        raise UnreadCase("this is JSON, not a case file; `paramverify check` reads evidence")
    data = tomllib.loads(content)
    for name, reason in OTHERS.items():
        if name in data and "mechanism" not in data:
            raise UnreadCase(reason)
    table = data.get("mechanism")
    if isinstance(table, dict) and re.search(r"\bin\s+stream\s*\(", str(table.get("source", ""))):
        raise UnreadCase(
            "the program reads a stream, whose outputs are not listed; `paramverify check` reads it"
        )


def _check_chances(found: PointProbabilities, point: Point) -> None:
    """Raises ValueError if a probability is negative."""
    for secret, words in found.words.items():
        for word, chance in (words or {}).items():
            if chance < 0:
                where = f" at {_at(point)}" if point else ""
                raise ValueError(
                    f"the probability of {', '.join(word)} under {secret} is {_exact(chance)}{where}"
                )


def _at(point: Point) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items())


def _meanings(reader: SecondReader) -> list[str]:
    """Returns what each variable stands for that a parameter of the domain (0, ∞) has."""
    told = []
    for name, step in reader.steps.items():
        if step:
            top = name if step.numerator == 1 else f"{step.numerator}*{name}"
            power = top if step.denominator == 1 else f"{top}/{step.denominator}"
            told.append(f"where x_{name} = exp(-{power})")
    return told


def _found(
    reader: SecondReader, base: Fraction, given: Mapping[str, str]
) -> tuple[dict[str, Fraction], PointProbabilities]:
    if given:
        point = _point(reader, base, given)
    else:
        points = reader.points(base, 1)
        if not points:
            raise UnreadCase("no point of the domain was found")
        point = points[0]
    return point, reader.masses(point, base, reader.lengths or EVERY_LENGTH)


def _point(reader: SecondReader, base: Fraction, given: Mapping[str, str]) -> dict[str, Fraction]:
    """Returns the point that is given.

    Raises:
        WrongPoint: it is none of the domain.
    """
    for name in given:
        if name in reader.steps:
            raise WrongPoint(f"give x_{name}, a power of exp(-{name}), instead of {name}")
        if name not in reader.intervals:
            raise WrongPoint(f"there is no parameter {name}")
    missing = _listed(name for name in reader.intervals if name not in given)
    if missing:
        be = "are" if " and " in missing else "is"
        raise WrongPoint(f"{missing} {be} missing: give {_listed(reader.intervals)}")
    for name, text in given.items():
        if not NUMBER.fullmatch(text):
            raise WrongPoint(f"{name} = {text:.40} is not a number such as 1/3 or 0.25")
    point = {name: Fraction(given[name]) for name in reader.intervals}
    for name, (low, high, with_low, with_high) in reader.intervals.items():
        if not inside(point[name], (low, high, with_low, with_high)):
            interval = f"{'[' if with_low else '('}{low}, {high}{']' if with_high else ')'}"
            within = interval if low < high else str(low)
            raise WrongPoint(f"{name} = {given[name]} is not {'in ' * (low < high)}{within}")
    if not reader.has(point, base):
        raise WrongPoint(f"at {_at(point)} a constraint of the domain fails")
    return point


def _listed(names: Iterable[str]) -> str:
    *first, last = [*names] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _exact(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"about {float(value):.6g}"


def _shown(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 and value.denominator == 1 else f"{text[:200]} ≈ {float(value):.6g}"
