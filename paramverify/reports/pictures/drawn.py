"""Pictures of what `synthesize` finds, as figures or drawn into axes of someone else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import synthesis as telling
from paramverify.reports.pictures.lines import joined, line_on, stretches_of
from paramverify.reports.pictures.looks import styled
from paramverify.reports.pictures.planes import plane_on
from paramverify.reports.pictures.regions import interval_picture, map_picture
from paramverify.reports.pictures.set_curves import curve_of
from paramverify.reports.roots import closed_form
from paramverify.synthesis.intervals import Partition, Root
from paramverify.synthesis.maps import RegionMap
from paramverify.synthesis.safe_values import ExactCondition, Intervals, Regions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawing = Callable[["Axes | None"], "Figure"]


def drawing_of(case: PrivacyCase, found: Intervals | ExactCondition | Regions) -> Drawing | None:
    """Returns what draws the answer, into axes where they are given; None for a condition."""
    if isinstance(found, Intervals):
        return styled(lambda axes: _intervals(case, found.partition, axes))
    if isinstance(found, Regions):
        return styled(lambda axes: _map(case, found.map, axes))
    return None


def interval_figure(case: PrivacyCase, found: Partition) -> Callable[[], Figure]:
    """Returns the picture of intervals, with the ratio as a curve above it."""
    curve = curve_of(case.model, found.parameter) if isinstance(case.model, Model) else None
    return interval_picture(
        found,
        title=case.title,
        budget=case.budget,
        curve=curve,
        text=_closed(case),
        words=telling.words(case),
    )


def _closed(case: PrivacyCase) -> Callable[[Root], str | None]:
    return lambda root: closed_form(root, case.model.domain.constant)


def _intervals(case: PrivacyCase, found: Partition, axes: Axes | None) -> Figure:
    if axes is None:
        return interval_figure(case, found)()
    line_on(axes, stretches_of(found, _closed(case)), found.parameter)
    return _figure_of(axes)


def _map(case: PrivacyCase, found: RegionMap, axes: Axes | None) -> Figure:
    if axes is None:
        return map_picture(found, title=case.title, budget=case.budget, words=telling.words(case))()
    if len(found.parameters) > 2:
        raise InputError("a map of more than two parameters has several pictures: leave ax out")
    if len(found.parameters) == 1:
        line_on(axes, joined(found), found.parameters[0])
    else:
        plane_on(axes, found)
    return _figure_of(axes)


def _figure_of(axes: Axes) -> Figure:
    from matplotlib.figure import Figure

    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure
