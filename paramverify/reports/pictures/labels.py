"""Where labels below a line stand, so that none covers another and each is led to its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GAP = 0.1  # inches between two labels


@dataclass(frozen=True)
class PlacedLabel:
    """A label for a place, and where it begins and ends, all along the line in one unit."""

    text: str
    place: float
    left: float
    right: float

    @property
    def middle(self) -> float:
        """The middle of the label."""
        return (self.left + self.right) / 2


def width(told: str, points: float) -> float:
    """Returns the width of a text that is set in the font of the style, in inches; mathematics is parsed."""
    import matplotlib
    from matplotlib.textpath import TextPath

    with matplotlib.rc_context({"text.parse_math": True}):
        return float(TextPath((0, 0), told, size=points).get_extents().width) / 72


def fits(widths: Sequence[float], end: float) -> bool:
    """Tells whether labels of these widths fit side by side between 0 and `end`, in inches."""
    return sum(widths) + GAP * (len(widths) - 1) <= end


def spread(wanted: Sequence[tuple[float, str, float]], end: float) -> list[PlacedLabel]:
    """Returns labels from 0 to `end`, in inches, of places in ascending order, with texts and widths.

    Each stands at its place, or as near to it as the others let it, in the order of the places: leaders do
    not cross, and labels do not meet. Where there is no room for all, every second one is left out.
    """
    gap = GAP
    if not fits([w for _, _, w in wanted], end):
        gap = 0.0
        if sum(w for _, _, w in wanted) > end:
            return spread([*wanted[:-1:2], wanted[-1]], end) if len(wanted) > 2 else []
    lefts: list[float] = []
    free = 0.0
    for place, _, wide in wanted:
        lefts.append(max(place - wide / 2, free))
        free = lefts[-1] + wide + gap
    most = end
    for k in reversed(range(len(wanted))):
        lefts[k] = min(lefts[k], most - wanted[k][2])
        most = lefts[k] - gap
    return [
        PlacedLabel(told, place, left, left + wide)
        for (place, told, wide), left in zip(wanted, lefts, strict=True)
    ]
