"""What the second reader finds in a case at one point, in words: standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import gcd, lcm
from pathlib import Path

from ..kernel.rounded_constants import exp_bounds
from ..kernel.strict_reading import UnreadCase
from .second_numbers import Finer
from .second_reader import PointProbabilities, SecondReader

MOST_STEPS = 50  # of the steps of exponentials that are tried
EVERY_LENGTH = (1, 2)  # that are shown of a case about every length


def lines(content: str, folder: Path, given: Mapping[str, str]) -> list[str]:
    """Returns how likely each sequence is under each secret, at a point that is given or chosen.

    Raises:
        Unread: this reader does not know what is in the case. ValueError: a mistake in it, or in the point.
    """
    reader = SecondReader(content, None, folder)
    for _ in range(MOST_STEPS):
        low = exp_bounds(reader.exponent, 200)[0] if reader.exponent else Fraction(1)
        base = Fraction(round(low * 10**60), 10**60)
        try:
            point, found = _found(reader, base, given)
        except Finer as error:
            if error.name:
                reader.refine(error.name, error.exponent)
                continue
            known, other = reader.exponent or Fraction(0), abs(error.exponent)
            bottom = lcm(known.denominator, other.denominator)
            reader.exponent = Fraction(gcd(int(known * bottom), int(other * bottom)), bottom)
            continue
        where = ", ".join(f"{name} = {value}" for name, value in point.items())
        told = [f"at {where}" if where else "without parameters"]
        if reader.exponent:
            told.append(f"with 60 digits of exp({reader.exponent})")
        for secret, words in found.words.items():
            told.append(f"{secret}: impossible" if words is None else f"{secret}:")
            told += [f"  {', '.join(w)}: {_shown(p)}" for w, p in sorted((words or {}).items())]
        return told
    raise UnreadCase("the exponents of a parameter have too small a common divisor")


def _found(
    reader: SecondReader, base: Fraction, given: Mapping[str, str]
) -> tuple[dict[str, Fraction], PointProbabilities]:
    if given:
        point = {name: Fraction(text) for name, text in given.items()}
        if not reader.has(point, base):
            names = ", ".join(reader.intervals) or "none"
            raise ValueError(f"this point is not in the domain, whose parameters are {names}")
    else:
        points = reader.points(base, 1)
        if not points:
            raise UnreadCase("no point of the domain was found")
        point = points[0]
    return point, reader.masses(point, base, reader.lengths or EVERY_LENGTH)


def _shown(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 40 and value.denominator == 1 else f"{text[:200]} ≈ {float(value):.6g}"
