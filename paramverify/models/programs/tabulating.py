"""Outputs with numbers that carry noise, as finitely many observations.

The runs with one form of output have a weight that is a function of the coordinates of the output
(`releasing`). Coordinates that are independent under every input are told apart one by one: the cells of a
vector are the products of the cells of its parts (`cells`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.errors import DefectError, SizeError, UnsupportedError
from paramverify.models.programs import pieces as p
from paramverify.models.programs import terms as t
from paramverify.models.programs.cells import WeightedCell, real_points, whole_cells
from paramverify.models.programs.joining import total
from paramverify.models.programs.labels import told
from paramverify.models.programs.measure import Linear, Measure
from paramverify.models.programs.pieces import Pieces
from paramverify.models.programs.releasing import NumberForm, filled, fixed, formed, holes
from paramverify.models.programs.runs import Hole, Outputs, Put, Told, flat, is_density, key
from paramverify.models.programs.terms import Terms
from paramverify.models.programs.values import ProgramState

MAX_CELLS = 20_000  # observations of one form of output


@dataclass(frozen=True, eq=False)
class EndedRuns:
    """Runs that have ended: their output, its numbers with noise, their weight, and their inputs."""

    outputs: Outputs
    released: tuple[Linear, ...]
    measure: Measure
    members: tuple[int, ...]


Row = list[tuple[Outputs, Terms]]  # the observations of one input
Table = list[list[tuple[Outputs, RationalFunction]]]


def without_noise(finished: Mapping[Told, Terms], one: Measure) -> Iterator[EndedRuns]:
    """Yields runs that ended without numbers that carry noise; `one` is a measure of no variables."""
    for (written, agreeing), terms in finished.items():
        yield EndedRuns(written.outputs, (), replace(one, scalar=terms), agreeing.members)


def with_noise(states: Iterable[ProgramState]) -> Iterator[EndedRuns]:
    """Yields runs that ended with numbers that carry noise."""
    for state in states:
        for (written, agreeing), weight in state.runs.items():
            measure = state.measure.weighted(weight)
            yield EndedRuns(written.outputs, state.released, measure, agreeing.members)


def rows_of(ended: Sequence[EndedRuns], count: int) -> list[Row]:
    """Returns the observations of each of so many inputs, with their weights.

    Raises:
        UnsupportedError: outputs that are not covered. SizeError: too many observations.
    """
    rows: list[dict[Hashable, tuple[Outputs, Terms]]] = [{} for _ in range(count)]
    whole = _whole_places(ended)
    forms: dict[Hashable, tuple[Outputs, NumberForm, dict[int, list[Measure]]]] = {}
    shapes: dict[Hashable, Hashable] = {}
    for runs in ended:
        runs = with_points(runs, whole.get(_skeleton(runs.outputs), {}))
        order = holes(runs.outputs)
        if not order:
            what = key(runs.outputs)
            for k in runs.members:
                terms = runs.measure.scalar  # many inputs share it
                if what in rows[k]:
                    terms = t.plus(rows[k][what][1], terms)
                rows[k][what] = runs.outputs, terms
            continue
        outputs = filled(runs.outputs, {n: Hole(k) for k, n in enumerate(order)})
        form, measure = formed([runs.released[n] for n in order], runs.measure)
        what = key(outputs)
        if shapes.setdefault(what, form.shape) != form.shape:
            raise UnsupportedError("numbers with noise of different forms stand at one place of the output")
        _, _, weights = forms.setdefault((what, form), (outputs, form, {}))
        for k in runs.members:
            weights.setdefault(k, []).append(measure)
    for outputs, form, weights in forms.values():
        for k, observation, terms in _observations(outputs, form, {k: total(m) for k, m in weights.items()}):
            if key(observation) in rows[k]:
                raise DefectError(f"two sets of outputs have the same name, {key(observation)}")
            rows[k][key(observation)] = observation, terms
    return [list(row.values()) for row in rows]


def check_sums(rows: Table, ring: Ring) -> Table:
    """Returns the rows; checks that the probabilities of each input sum to 1, identically; densities do not.

    Raises:
        DefectError: they do not.
    """
    if any(is_density(outputs) for row in rows for outputs, _ in row):
        return rows  # a limit that is zero under one input is left out of its row, which then tells of none
    for row in rows:
        total = RationalFunction.of(ring.number(0))
        for _, share in row:
            total = total + share
        if total != RationalFunction.of(ring.number(1)):
            raise DefectError(f"the probabilities of the outputs sum to {total}")
    return rows


def _skeleton(outputs: Outputs) -> Hashable:
    """Returns an output without its numbers: outputs with other ones are never the same."""

    def entry(value: Put) -> Hashable:
        if isinstance(value, tuple):
            return ("list", tuple(map(entry, value)))
        is_number = isinstance(value, (Fraction, Hole))
        return "number" if is_number else key(value)

    return tuple(map(entry, outputs))


def _numbers(outputs: Outputs) -> Iterator[Fraction | Hole]:
    """Yields the numbers of an output in their order."""
    return (v for v in flat(outputs) if isinstance(v, (Fraction, Hole)))


def _whole_places(ended: Iterable[EndedRuns]) -> dict[Hashable, dict[int, Fraction]]:
    """Returns for each skeleton the places of numbers at which any runs have whole noise, with its slope."""
    found: dict[Hashable, dict[int, Fraction]] = {}
    for runs in ended:
        for place, number in enumerate(_numbers(runs.outputs)):
            if isinstance(number, Hole):
                slopes = runs.released[number.number].slopes
                if all(runs.measure.whole[name] for name, _ in slopes):
                    places = found.setdefault(_skeleton(runs.outputs), {})
                    places.setdefault(place, abs(slopes[0][1]))
    return found


def with_points(runs: EndedRuns, slopes: Mapping[int, Fraction]) -> EndedRuns:
    """Returns runs whose plain numbers at some places are noise with one value only.

    So they are compared with the numbers with whole noise that others put out there: these may be the same.
    """
    count = -1
    released, measure = runs.released, runs.measure

    def entry(value: Put) -> Put:
        nonlocal count, released, measure
        if isinstance(value, tuple):
            return tuple(map(entry, value))
        if not isinstance(value, (Fraction, Hole)):
            return value
        count += 1
        if isinstance(value, Hole) or count not in slopes:
            return value
        name = measure.fresh
        measure = fixed(name, measure)
        released = (*released, Linear(((name, slopes[count]),), value))
        return Hole(len(released) - 1)

    outputs = tuple(map(entry, runs.outputs))
    return replace(runs, outputs=outputs, released=released, measure=measure)


def _observations(
    outputs: Outputs, form: NumberForm, weights: Mapping[int, Measure]
) -> Iterator[tuple[int, Outputs, Terms]]:
    """Yields (input, observation, weight) for one form of output; no weight is zero."""
    names = range(1, len(form.whole) + 1)
    groups = _groups(names, weights.values())
    functions = {k: [_Function.of(m, g) for g in groups] for k, m in weights.items()}
    cells: list[list[WeightedCell]] = []
    numbers: list[dict[Hashable, int]] = []
    for number, group in enumerate(groups):
        known = {f[number].text: f[number].pieces for f in functions.values()}
        numbers.append({text: k for k, text in enumerate(known)})
        cells.append(_cells(next(iter(weights.values())), form, list(known.values()), group))
    if prod(map(len, cells)) > MAX_CELLS:
        raise SizeError(f"the numbers that are put out need more than {MAX_CELLS:,} observations")
    places = [k for k, value in enumerate(flat(outputs), start=1) if isinstance(value, Hole)]
    for chosen in product(*cells):
        extents = [e for cell in chosen for e in cell.extents]
        observation = filled(outputs, told(form, extents, places))
        for k, measure in weights.items():
            terms = measure.scalar
            for cell, function, number_of in zip(chosen, functions[k], numbers, strict=True):
                terms = t.product(terms, cell.totals[number_of[function.text]]) if terms else terms
            if terms:
                yield k, observation, _per_unit(terms, form.whole.count(False), measure)


def _per_unit(terms: Terms, count: int, measure: Measure) -> Terms:
    """Returns densities of so many continuous numbers without the factor eps that each of them has."""
    if not count or not measure.bases.unit_name:
        return terms
    return {k._replace(units=k.units - count): c for k, c in terms.items()}


@dataclass(frozen=True, eq=False)
class _Function:
    """The part of a measure that is about some coordinates."""

    pieces: Pieces
    text: Hashable

    @staticmethod
    def of(measure: Measure, group: Sequence[int]) -> _Function:
        pieces, _ = measure.joined(group)
        return _Function(pieces, p.text(pieces))


def _groups(names: Iterable[int], measures: Iterable[Measure]) -> list[tuple[int, ...]]:
    """Returns the coordinates, those together that any measure does not keep apart."""
    groups = [{name} for name in names]
    for measure in measures:
        for factor in measure.factors:
            inside = set(p.names_in(factor))
            touched = [g for g in groups if g & inside]
            if len(touched) > 1:
                groups = [g for g in groups if not g & inside] + [set().union(*touched)]
    return sorted(tuple(sorted(g)) for g in groups)


def _cells(
    measure: Measure, form: NumberForm, functions: Sequence[Pieces], group: tuple[int, ...]
) -> list[WeightedCell]:
    if len(group) > 1:
        reason = "numbers that are put out depend on each other by a comparison, which is not covered"
        raise UnsupportedError(reason)
    (name,) = group
    if form.whole[name - 1]:
        return whole_cells(measure.bases, functions, name)
    return real_points(measure.bases, functions, name, measure.reals)
