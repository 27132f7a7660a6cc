"""The forms of some parts of witnesses: sets of outputs beside places of densities, and irrational points.

Standard library only.
"""

from __future__ import annotations

from .strict import Shape, by_type, flag, listed, names, rational, record, row, table, text

# A number: exact, in E = exp(q) with rationals around it, or rationals around it alone.
_ENDS = record({"lower": rational, "upper": rational}, {"exact": text})
_CHANCE = by_type({str: rational, dict: _ENDS})


def _ratio(value: object) -> None:
    if value != "infinity":
        _CHANCE(value)


OUTPUTS: dict[str, Shape] = {"outputs": names}  # the names of outputs that are sets of numbers
BESIDE: dict[str, Shape] = {
    "densities": flag,
    "within": record(
        {"observations": listed(text), "probabilities": row(_CHANCE, _CHANCE), "ratio": _ratio},
        {"steps": table(rational)},
    ),
}
# A coordinate: rational, or a root of a polynomial in x that is the only one in an interval.
_ROOT = record({"lower": rational, "upper": rational, "root_of": text})
COORDINATES = table(by_type({str: rational, dict: _ROOT}))
_PLACE = {"minimal": text, "interval": row(rational, rational), "coordinates": table(text)}
AT_ALGEBRAIC: dict[str, Shape] = {"algebraic": record(_PLACE)}
