"""The legend below a picture of regions, with shares that add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from paramverify.algebra.volumes import VolumeShare
from paramverify.reports.pictures import labels
from paramverify.reports.pictures.looks import LOOKS, paint
from paramverify.reports.synthesis import PRIVACY
from paramverify.reports.text import percent
from paramverify.synthesis.maps import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIGITS = 1
UNITS = 100 * 10**DIGITS
HANDLE, SPACING = 1.8, 1.4  # lengths in letters


def percents(shares: Mapping[str, VolumeShare]) -> dict[str, str]:
    """Returns shares in percent that add up to 100, by largest remainders; ≈ stands where one was rounded.

    What is less than half a unit is told as a bound, and so is its complement: neither does a little become
    nothing, nor almost all become all. Shares whose bounds differ in the digits are told with their bounds.
    """
    if any((s.upper - s.lower) * UNITS > Fraction(1, 2) for s in shares.values()):
        return {status: percent(share, DIGITS) for status, share in shares.items()}
    exact = {status: (share.lower + share.upper) / 2 * UNITS for status, share in shares.items()}
    units = {status: floor(value) for status, value in exact.items()}
    left = max(0, round(sum(exact.values())) - sum(units.values()))
    for status in sorted(exact, key=lambda s: (units[s] - exact[s], s))[:left]:
        units[status] += 1
    return {status: _told(units[status], exact[status], shares[status].exact) for status in shares}


def _told(units: int, value: Fraction, exact: bool) -> str:
    if exact and value == units:
        return f"{Fraction(units, 10**DIGITS)} %" if units % 10**DIGITS == 0 else f"{_decimal(units)} %"
    if units == 0:
        return f"< {_decimal(1)} %"
    return f"> {_decimal(UNITS - 1)} %" if units == UNITS else f"≈ {_decimal(units)} %"


def _decimal(units: int) -> str:
    return f"{units / 10**DIGITS:.{DIGITS}f}"


def legend(
    figure: Figure,
    shares: Mapping[str, VolumeShare],
    lines: Sequence[Any],
    told: bool = True,
    words: Mapping[Status, str] = PRIVACY,
) -> float:
    """Writes a legend below a figure, and returns its height in inches.

    It has the `words` for each status, with their shares if told, and lines, in as many columns as there is
    room for.
    """
    import matplotlib
    from matplotlib.patches import Patch

    known = percents({s: share for s, share in shares.items() if s != "outside"}) if told else {}
    handles: list[Any] = []
    for status, look in LOOKS.items():
        if status in shares:
            label = f"{words.get(Status(status), 'outside the domain')} {known.get(status, '')}".strip()
            handles.append(Patch(label=label, **paint(look)))
    handles += lines
    points: float = matplotlib.rcParams["font.size"] * 5 / 6
    em = points / 72
    widths = [labels.width(h.get_label(), points) + em * (HANDLE + 0.8) for h in handles]
    columns = next(
        (
            n
            for n in range(len(handles), 1, -1)
            if _across(widths, n, SPACING * em) < figure.get_figwidth() - 0.2
        ),
        1,
    )
    made = figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=columns,
        fontsize=points,
        columnspacing=SPACING,
        handlelength=HANDLE,
    )
    for entry in made.get_texts():
        entry.set_parse_math(True)
    return -(-len(handles) // columns) * 1.6 * em + em


def _across(widths: Sequence[float], columns: int, space: float) -> float:
    """Returns the width of a legend with so many columns, which it fills one after the other."""
    least, longer = divmod(len(widths), columns)
    total, start = space * (columns - 1), 0
    for column in range(columns):
        rows = least + (column < longer)
        total += max(widths[start : start + rows])
        start += rows
    return total
