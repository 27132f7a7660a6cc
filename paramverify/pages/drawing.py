"""The frames of the interactive pictures, and what they show at first, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, log, log10

from paramverify.algebra.rationals import nearest
from paramverify.pages.blanks import COLUMNS, ROWS, Blank
from paramverify.pages.markup import Element, Part, h
from paramverify.reports.pictures.ratio_curves import Curve
from paramverify.synthesis.maps import Cell, RegionMap, Status

Words = Callable[[Status], str]

LEFT, TOP, WIDE, TALL = 64, 12, 384, 330  # the plane of a map, in units of the picture
BELOW = 52  # room for ticks and the name of an axis
STRIP, GAP = 26, 14  # height of the line of intervals, and its distance from the curve
HIGH = 190  # height of the curve
QUARTERS = [Fraction(k, 4) for k in range(5)]
SHOWN = (Status.SAFE, Status.VIOLATING, Status.UNDECIDED)
MOST_OVER = 3  # times the usual bound, above which a curve is cut off
MOST_BOUNDS = 0.9  # share of the bounds that are not above the usual one
WIDE_RANGE = 15  # of ratios, which are drawn by their logarithms then
LONGEST_TICK = 9  # characters


def plane_picture(
    mapped: RegionMap, cells: Sequence[Cell], at: Mapping[str, Fraction], words: Words, blank: Blank
) -> Element:
    """Returns the picture of the first two parameters of a map; the others have the values `at`.

    What is outside of the domain is blank.
    """
    boxes = [_scale(box) for box in mapped.box[:2]]
    visible = [
        cell
        for cell in cells
        if all(low <= value <= high for value, (low, high) in zip(at.values(), cell.box[2:], strict=True))
    ]
    paths = [
        h("path", d=_rectangles((c for c in visible if c.status is s), boxes), class_=f"region {s}")
        for s in SHOWN
    ]
    paths.append(h("path", d=_blocks(blank), class_="blank"))
    names = mapped.parameters[:2]
    frame = h("rect", x=LEFT, y=TOP, width=WIDE, height=TALL, class_="frame")
    axes = [_across(mapped.box[0], names[0], TOP + TALL), _upright(mapped.box[1], names[1])]
    told = f"Map over {names[0]} (across) and {names[1]} (upwards): {_legend_text(words)}."
    parts: list[Part] = [h("title", told), paths, frame, axes, _marks(TALL)]
    picture = h("svg", parts, viewBox=f"0 0 {LEFT + WIDE + 14} {TOP + TALL + BELOW}", role="img")
    label = f"Map over {names[0]} and {names[1]}. The arrow keys move the point, with Shift further."
    return _figure(picture, label, _legend(words))


@dataclass(frozen=True)
class LineStretch:
    """Part of a line between two places, which are rounded where they are irrational; or one place."""

    status: Status
    low: Fraction
    high: Fraction


def line_picture(
    name: str,
    box: tuple[Fraction, Fraction],
    stretches: Sequence[LineStretch],
    curve: Curve | None,
    words: Words,
) -> Element:
    """Returns the picture of the values of one parameter, below the curve of the largest ratio."""
    across = _scale(box)
    top = TOP + (HIGH + GAP if curve else 0)
    pieces, marks = [], []
    for stretch in stretches:
        low, high = (LEFT + WIDE * across(nearest(end)) for end in (stretch.low, stretch.high))
        if stretch.low == stretch.high:
            shape = h("line", x1=_text(low), x2=_text(low), y1=top - 4, y2=top + STRIP + 4)
            marks.append(shape)
        else:
            shape = h("rect", x=_text(low), y=top, width=_text(high - low), height=STRIP)
            pieces.append(shape)
        shape.set("class", f"{'single' if shape in marks else 'region'} {stretch.status}")
    pieces += marks
    drawn = _curve(curve, box) if curve else None
    frame = h("rect", x=LEFT, y=top, width=WIDE, height=STRIP, class_="frame")
    told = f"Line of the values of {name}: {_legend_text(words)}."
    height = top + STRIP - TOP
    parts = [h("title", told), drawn, pieces, frame, _across(box, name, top + STRIP)]
    box_text = f"0 0 {LEFT + WIDE + 14} {top + STRIP + BELOW}"
    picture = h("svg", parts, _marks(height), viewBox=box_text, role="img")
    label = f"Values of {name}. The arrow keys move the point, with Shift further."
    note = None
    if curve:
        note = (
            f"The curve is the {curve.label} over {curve.over}, drawn from rounded values; "
            f"the dashed line is the {curve.bound_label}."
        )
    return _figure(picture, label, _legend(words), note)


def frame_of(kind: str, has_curve: bool = False) -> dict[str, int]:
    """Returns where the plane of a map lies in its picture, or the line of intervals (`strip`)."""
    top = TOP + (HIGH + GAP if has_curve else 0)
    place = {"left": LEFT, "top": TOP, "width": WIDE}
    return {**place, "height": TALL} if kind == "plane" else {**place, "strip": top + STRIP // 2}


def _figure(picture: Element, label: str, *below: Part) -> Element:
    frame = h("div", picture, class_="picture", tabindex=0, role="group", aria_label=label)
    return h("figure", frame, h("figcaption", below), class_="interactive")


def _legend(words: Words) -> Element:
    entries = [
        h("span", h("span", class_=f"swatch {s}", aria_hidden="true"), words(s), class_="entry")
        for s in SHOWN
    ]
    return h("span", entries, class_="legend")


def _legend_text(words: Words) -> str:
    return ", ".join(words(s) for s in SHOWN)


def _marks(height: int) -> Element:
    """Returns the marks of the point and of its cell, which the script puts in their places."""
    lines = [
        h("line", x1=LEFT, x2=LEFT, y1=TOP, y2=TOP + height, class_="cross upright"),
        h("line", x1=LEFT, x2=LEFT + WIDE, y1=TOP, y2=TOP, class_="cross level"),
    ]
    cell = h("rect", x=LEFT, y=TOP, width=0, height=0, class_="cell")
    dot = h("circle", cx=LEFT, cy=TOP, r=5, class_="dot")
    return h("g", cell, lines, dot, class_="marks")


def patterns() -> Element:
    """Returns the hatching for all pictures of a page, by which regions differ without their colours, too."""
    stripe = h("path", d="M-2 2l4 -4M0 8l8 -8M6 10l4 -4", class_="stripe")
    under = h("rect", width=8, height=8, class_="under-violating")
    hatch = h("pattern", under, stripe, id="hatch", width=8, height=8, patternUnits="userSpaceOnUse")
    bar = h("path", d="M3 0v6", class_="bar")
    below = h("rect", width=6, height=6, class_="under-undecided")
    bars = h("pattern", below, bar, id="bars", width=6, height=6, patternUnits="userSpaceOnUse")
    return h("svg", h("defs", hatch, bars), class_="patterns", aria_hidden="true", width=0, height=0)


def _scale(box: tuple[Fraction, Fraction]) -> Callable[[float], float]:
    low, high = nearest(box[0]), nearest(box[1])
    width = high - low or 1.0
    return lambda value: (value - low) / width


def _rectangles(cells: Iterable[Cell], scales: Sequence[Callable[[float], float]]) -> str:
    """Returns the boxes of cells as one path."""
    parts = []
    for cell in cells:
        (left, right), (low, high) = (
            tuple(scale(nearest(end)) for end in side)
            for scale, side in zip(scales, cell.box[:2], strict=True)
        )
        x, y = LEFT + WIDE * left, TOP + TALL * (1 - high)
        across, down = _text(WIDE * (right - left)), _text(TALL * (high - low))
        parts.append(f"M{_text(x)} {_text(y)}h{across}v{down}h-{across}z")
    return "".join(parts)


def _blocks(blank: Blank) -> str:
    """Returns the blocks outside of the domain as one path."""
    tall, parts = TALL / ROWS, []
    for row, column, count in blank.runs:
        x, across = LEFT + WIDE * column / COLUMNS, _text(WIDE * count / COLUMNS)
        parts.append(f"M{_text(x)} {_text(TOP + row * tall)}h{across}v{_text(tall)}h-{across}z")
    return "".join(parts)


def _text(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _across(box: tuple[Fraction, Fraction], name: str, y: int) -> Element:
    ticks = []
    for share in QUARTERS:
        x = _text(LEFT + WIDE * float(share))
        ticks.append(h("path", d=f"M{x} {y}v5", class_="tick"))
        ticks.append(h("text", _tick(box, share), x=x, y=y + 19, class_="across"))
    title = h("text", name, x=LEFT + WIDE // 2, y=y + 42, class_="across axis")
    return h("g", ticks, title)


def _upright(box: tuple[Fraction, Fraction], name: str) -> Element:
    ticks = []
    for share in QUARTERS:
        y = _text(TOP + TALL * (1 - float(share)))
        ticks.append(h("path", d=f"M{LEFT} {y}h-5", class_="tick"))
        ticks.append(h("text", _tick(box, share), x=LEFT - 9, y=y, class_="upright"))
    middle = TOP + TALL // 2
    title = h("text", name, x=14, y=middle, transform=f"rotate(-90 14 {middle})", class_="across axis")
    return h("g", ticks, title)


def _tick(box: tuple[Fraction, Fraction], share: Fraction) -> str:
    """Returns the exact value of a tick, or nothing where it is too long."""
    value = str(box[0] + (box[1] - box[0]) * share)
    return value if len(value) <= LONGEST_TICK else ""


@dataclass(frozen=True)
class _Height:
    """The vertical axis of a curve: from `low` to `high`, by logarithms where that is needed to see it."""

    low: float
    high: float
    by_logarithm: bool

    @staticmethod
    def of(points: Sequence[tuple[float, float, float]]) -> _Height:
        """Returns an axis for (place, value, bound), cut off far above most of the bounds."""
        values = [v for _, v, _ in points if isfinite(v)]
        bounds = sorted(b for _, _, b in points if isfinite(b))
        usual = bounds[int(MOST_BOUNDS * (len(bounds) - 1))] if bounds else 1.0
        high = min(max([*values, *bounds], default=1.0), MOST_OVER * usual)
        low = 1.0 if min([*values, *bounds], default=0.0) >= 1 and high > 1 else 0.0
        return _Height(low, high * 1.06, low > 0 and high > WIDE_RANGE)

    def share(self, value: float) -> float:
        """Returns how far up a value stands, from 0 to 1."""
        if self.by_logarithm:
            return log(value / self.low) / log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[Fraction]:
        """Returns about five round numbers."""
        if not self.by_logarithm:
            return _nice(self.low, self.high)
        most = int(log10(self.high))
        step = -(-most // 5)
        return [Fraction(10) ** k for k in range(0, most + 1, max(1, step))]


def _curve(curve: Curve, box: tuple[Fraction, Fraction]) -> Element:
    """Returns the curve and its bound, with ticks on the left."""
    points = curve.sample(box)
    height, across = _Height.of(points), _scale(box)

    def upwards(y: float) -> str:
        return _text(TOP + HIGH * (1 - height.share(y)))

    def path(values: Iterable[tuple[float, float]]) -> str:
        found, pen = "", False
        for x, y in values:
            inside = isfinite(y) and height.low <= y <= height.high
            found += f"{'L' if pen else 'M'}{_text(LEFT + WIDE * across(x))} {upwards(y)}" if inside else ""
            pen = inside
        return found

    ticks: list[Element] = []
    for value in height.ticks():
        y = upwards(float(value))
        ticks.append(h("path", d=f"M{LEFT} {y}h-5", class_="tick"))
        ticks.append(h("path", d=f"M{LEFT} {y}h{WIDE}", class_="grid"))
        ticks.append(h("text", f"{float(value):g}", x=LEFT - 9, y=y, class_="upright"))
    middle = TOP + HIGH // 2
    turned = f"rotate(-90 12 {middle})"
    title = h("text", curve.label, x=12, y=middle, transform=turned, class_="across axis")
    frame = h("rect", x=LEFT, y=TOP, width=WIDE, height=HIGH, class_="frame")
    bound = h("path", d=path((x, b) for x, _, b in points), class_="bound")
    line = h("path", d=path((x, v) for x, v, _ in points), class_="curve")
    return h("g", [ticks, frame, bound, line, title])


def _nice(low: float, high: float) -> list[Fraction]:
    """Returns about five round numbers of an interval."""
    step = Fraction(1)
    while (high - low) / step > 6:
        step *= 10
    while (high - low) / step < 2:
        step /= 10
    step = next(s for s in (step / 10, step / 5, step / 2, step, 2 * step, 5 * step) if (high - low) / s <= 6)
    first = -(-Fraction(low) // step) * step
    return [first + k * step for k in range(7) if low <= first + k * step <= high]
