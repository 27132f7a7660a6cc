"""For which values of its parameters a case is private: intervals, a condition, or a region map.

Which of them answers, and how the time is shared among their steps, is decided here: every caller gets the
same answers.

The best value of a design parameter: exact from intervals, with certified bounds from a region map.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import prod
from pathlib import Path

from paramverify.algebra.domains import Domain
from paramverify.algebra.real_roots import rational_root
from paramverify.answers import Open
from paramverify.claims import Claim
from paramverify.divergences import Average
from paramverify.errors import InputError, TimeLimitError, UnsupportedError
from paramverify.evidence.witness import AnyWitness
from paramverify.models.model import Model, is_about, refuse_tied
from paramverify.models.parameters import Sense
from paramverify.portfolio.quantifier_elimination import NOT_ASKED, Elimination, eliminate
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.processes.time_limits import alarm
from paramverify.synthesis.intervals import Partition, Root
from paramverify.synthesis.loss_values import (
    is_close,
    loss_parts,
    map_with_witness,
    mattering,
    own_constraints,
)
from paramverify.synthesis.map_files import CellFile, cell_file
from paramverify.synthesis.maps import Cell, RegionMap, Status, ascending_volume, numbers, symmetric
from paramverify.synthesis.projection import exact_parts
from paramverify.synthesis.questions import (
    axes_of,
    flat_constraint,
    region_claims,
    witness_in_map,
    witness_of,
)
from paramverify.synthesis.regions import MOST_KEPT, SavedMap, region_map
from paramverify.synthesis.spreading import spread_cells
from paramverify.synthesis.vanishing import check_condition, check_map, corrected
from paramverify.tasks.tasks import HERE

EXACTLY = 0.25  # of the time is for exact intervals, if a map may answer in their place
CUTTING = 0.8  # of the time is for cutting; what is open is put together and a witness is found after that
WORKERS = "the workers of the cluster"
DECIDED = (Status.SAFE, Status.VIOLATING, Status.OUTSIDE)


class AnswerForm(Enum):
    """What an answer can be, in the order in which they are tried."""

    INTERVALS = "exact intervals of one parameter"
    CONDITION = "a condition on several parameters"
    MAP = "a region map"


EXACT = frozenset({AnswerForm.INTERVALS, AnswerForm.CONDITION})
SUITABLE = frozenset({AnswerForm.INTERVALS, AnswerForm.MAP})


@dataclass(frozen=True, eq=False)
class Intervals:
    """Exact intervals, with the witnesses of violating parts by their numbers.

    Of `kl` and `zcdp` undecided parts are between them; not `complete` tells that one of these is too wide.
    """

    partition: Partition
    witnesses: Mapping[int, AnyWitness]
    optimum: Optimum | None
    complete: bool = True

    @property
    def possible(self) -> bool:
        """Whether some value may be safe."""
        return any(self.partition.having(status) for status in (Status.SAFE, Status.UNDECIDED))


@dataclass(frozen=True, eq=False)
class ExactCondition:
    """The condition on the parameters under which all claims hold, or why none was found."""

    parameters: tuple[str, ...]
    found: Elimination | Open


@dataclass(frozen=True, eq=False)
class Regions:
    """A region map, and a witness in one of its violating cells.

    `reused` says that all cells come from the file of an earlier run, `complete` that no more than the wanted
    share is undecided. `instead` says why there are no exact intervals, if they were looked for.
    """

    map: RegionMap
    witness: AnyWitness | None
    optimum: Optimum | None
    reused: bool
    complete: bool
    instead: str = ""

    @property
    def possible(self) -> bool:
        """Whether some value may be safe."""
        return any(self.map.shares[status].upper > 0 for status in (Status.SAFE, Status.UNDECIDED))


@dataclass(frozen=True)
class MapOptions:
    """How a region map is made.

    At most the share `coverage` of the domain is left undecided, if the time suffices; without one it depends
    on the number of parameters, see `default_coverage`. `state` is a file that
    keeps the cells. With `fold` symmetric parameters are looked at where they ascend only. `on_shares` hears
    the shares of the box so far, `on_map` that the map is made, before a witness is looked for in it.
    """

    coverage: Fraction | None = None
    state: Path | None = None
    fold: bool = False
    on_shares: Callable[[Mapping[Status, float]], None] = lambda shares: None
    on_map: Callable[[], None] = lambda: None

    def share(self, axes: Sequence[str]) -> Fraction:
        """Returns the share of a map of these parameters that may be left undecided."""
        return self.coverage or default_coverage(len(axes))


def default_coverage(axes: int) -> Fraction:
    """Returns the share that a map of so many parameters leaves undecided: more need many more cells."""
    return Fraction({1: 1, 2: 1, 3: 5}.get(axes, 8), 100)


def safe_values(
    case: PrivacyCase,
    session: Session,
    parameters: Sequence[str] = (),
    forms: Collection[AnswerForm] = SUITABLE,
    options: MapOptions | None = None,
) -> Intervals | ExactCondition | Regions | None:
    """Returns for which values of the parameters all claims hold for all values of the others.

    The answer has the first of the given forms that applies: intervals for one parameter, where projection
    applies to it; a condition; a map. None if none does. What counts about the model is to be checked before.

    Args:
        parameters: those of the answer; see `axes_of` for which they are if none is given.

    Raises:
        InputError: a parameter that does not exist, a domain without interior for a map, or a file of cells
            that is about something else, or that has cells although certificates are required.
        UnsupportedError: strict comparisons.
        TimeLimitError: the time is over; a map is returned as it is then.
    """
    model = case.model
    if is_about(model, Average):
        return _of_losses(case, model, session, (parameters, forms, options or MapOptions()))
    claims = region_claims(case.model)
    axes = axes_of(case, claims, parameters)
    instead = ""
    if AnswerForm.INTERVALS in forms and len(axes) == 1:
        may_be_map = AnswerForm.MAP in forms
        seconds = _left(session) * (EXACTLY if may_be_map else 1)
        try:
            with alarm(seconds, seconds) if may_be_map else nullcontext():
                found = exact_parts(claims, case.model.domain, axes[0], seconds, session.in_time)
            found = corrected(case.model, session, found)
        except UnsupportedError as error:
            instead = f"there are no exact intervals, because {error}"
        except TimeLimitError:
            if not may_be_map:
                raise
            instead = f"exact intervals were not found within {seconds:.2g} s, so the answer is a map"
            instead += "; --exact uses all of the time"
        else:
            return _intervals(case, found, session)
    refuse_tied(case.model, "this form of synthesize")
    if AnswerForm.CONDITION in forms:
        check_condition(case.model)
        if not session.options.may_ask("qepcad"):
            return ExactCondition(axes, NOT_ASKED)
        return ExactCondition(axes, eliminate(claims, axes, case.model.domain, _left(session)))
    if AnswerForm.MAP in forms:
        check_map(case.model, axes)
        made = _regions(case, claims, axes, session, options or MapOptions())
        return replace(made, instead=instead)
    return None


def _of_losses(
    case: PrivacyCase,
    model: Model,
    session: Session,
    asked: tuple[Sequence[str], Collection[AnswerForm], MapOptions],
) -> Intervals | Regions | None:
    """Returns for which values a loss keeps its bound; see `safe_values`."""
    refuse_tied(model, "synthesize")
    parameters, forms, options = asked
    axes = axes_of(case, mattering(model), parameters)
    key = f"privacy.{model.measure.key}"
    if options.state:
        raise InputError(f"--state cannot keep cells of {model.measure.key}: leave --state out", key=key)
    sizes = dict.fromkeys(Status, Fraction(0))
    whole = _size((model.domain.box[n].lower, model.domain.box[n].upper) for n in axes)

    def on_cell(cell: Cell) -> None:
        sizes[cell.status] += cell.volume
        options.on_shares({s: float(v / whole) for s, v in sizes.items() if s in DECIDED})

    if AnswerForm.INTERVALS in forms and len(axes) == 1:
        parts, witnesses, found = loss_parts(model, axes[0], session, on_cell)
        complete = not found.interrupted and is_close(parts)
        best = _optimum(case, found)
        alone = len(own_constraints(model, axes[0])) == len(model.domain.constraints)
        if alone and case.design and case.design.objective == axes[0]:
            best = optimum_near(parts, case.design.sense)
        return Intervals(parts, witnesses, best, complete)
    if AnswerForm.MAP not in forms:
        reason = (
            f"a condition requires polynomials, which {model.measure.key} does not have: use --region "
            "for a map"
        )
        raise InputError(reason, key=key)
    _check_interior(model.domain, axes, session)
    found, witness = map_with_witness(model, axes, session, options.share(axes), on_cell)
    options.on_map()
    return Regions(found, witness, _optimum(case, found), False, _is_complete(found, options.share(axes)))


def _optimum(case: PrivacyCase, found: RegionMap) -> Optimum | None:
    """Returns bounds of the best value of the design parameter, if the map is about it."""
    if not case.design or case.design.objective not in found.parameters:
        return None
    box = case.model.domain.box
    some = [n for n in found.parameters if n not in case.design.parameters and not box[n].is_point]
    best = optimum_of_map(found, case.design.objective, case.design.sense)
    return best and replace(best, some=tuple(some))


def _is_complete(found: RegionMap, coverage: Fraction) -> bool:
    return not found.interrupted and found.share(Status.UNDECIDED) <= coverage


def _left(session: Session) -> float:
    return session.deadline - time.monotonic()


def _intervals(case: PrivacyCase, found: Partition, session: Session) -> Intervals:
    witnesses: dict[int, AnyWitness] = {}
    for number, part in enumerate(found.parts):
        if part.status is Status.VIOLATING:
            witness = witness_of(case.model, session, found, part)
            if witness:
                witnesses[number] = witness
    best = None
    if case.design and case.design.objective == found.parameter:
        best = optimum_of_parts(found, case.design.sense)
    return Intervals(found, witnesses, best)


def _regions(
    case: PrivacyCase, claims: Sequence[Claim], axes: Sequence[str], session: Session, options: MapOptions
) -> Regions:
    _check_interior(case.model.domain, axes, session)
    found, reused = _map(case, claims, axes, session, options)
    options.on_map()
    witness = None if found.stopped else witness_in_map(case.model, session, found)
    return Regions(found, witness, _optimum(case, found), reused, _is_complete(found, options.share(axes)))


def _check_interior(domain: Domain, axes: Sequence[str], session: Session) -> None:
    """Checks that cells of a map may have points of the domain inside.

    Raises:
        InputError: they have none.
    """
    flat = flat_constraint(domain, axes, session)
    if flat:
        reason = f"a map requires a parameter domain with interior, but {flat} leaves none"
        raise InputError(
            f"{reason}: use `verify` to decide the case, or `--witness` to find a violating prior"
        )


def _map(
    case: PrivacyCase, claims: Sequence[Claim], axes: Sequence[str], session: Session, options: MapOptions
) -> tuple[RegionMap, bool]:
    """Returns the map, and whether the state file had all of it."""
    domain = case.model.domain
    whole = _size((domain.box[n].lower, domain.box[n].upper) for n in axes)
    folds = symmetric(claims, domain, axes) if options.fold and not case.design else ()
    classes = numbers(tuple(axes), folds)
    kept = cell_file(options.state, claims, domain, axes, bool(folds)) if options.state else nullcontext()
    with kept as file:
        known = file.known if file else ()
        _believe(session, known, options.state)
        sizes = dict.fromkeys(Status, Fraction(0))
        for cell in known:
            sizes[cell.status] += ascending_volume(cell.box, classes)
        old, new = {cell for cell in known if cell.status is Status.UNDECIDED}, 0

        def on_cell(cell: Cell) -> None:
            nonlocal new
            new += 1
            sizes[cell.status] += ascending_volume(cell.box, classes)
            if file:
                file.keep(cell)
                if cell.status is Status.UNDECIDED and len(old) <= MOST_KEPT:  # else the file alone has all
                    old.add(cell)
            options.on_shares({s: float(v / whole) for s, v in sizes.items() if s in DECIDED})

        seconds = max(0.0, CUTTING * _left(session))
        started = time.monotonic()
        until = time.monotonic() + seconds
        work = HERE if session.options.require_certificates else session.options.executor
        spread = spread_cells(
            claims,
            domain,
            axes,
            options.share(axes),
            executor=work,
            known=known,
            keep=on_cell,
            until=until,
            folds=folds,
        )
        if spread.by_workers:
            session.believe(WORKERS)
        found = spread.map or region_map(
            claims,
            domain,
            axes,
            options.share(axes),
            on_cell=on_cell,
            known=spread.cells,
            session=session,
            seconds=0.0 if spread.ended else max(0.0, until - time.monotonic()),
            folds=folds,
            stored=file.stored if file else None,
        )
        found = replace(found, stopped=found.stopped or spread.stopped, seconds=time.monotonic() - started)
        if file:
            found = _kept(found, file, old)
        return found, bool(known) and not new and not found.interrupted


def _believe(session: Session, known: Sequence[Cell], state: Path | None) -> None:
    """Names the file whose cells are taken as they stand there."""
    count = sum(cell.status in DECIDED for cell in known)
    if count:
        session.believe(f"{count} cell{'s' * (count != 1)} of an earlier run in {state}")


def _kept(found: RegionMap, file: CellFile, old: Collection[Cell]) -> RegionMap:
    """Keeps the undecided cells, but for old ones: how the rest was cut saves time for the next run."""
    every = isinstance(found.cells, SavedMap)
    for cell in found.cells.waiting if isinstance(found.cells, SavedMap) else found.cells:
        if every or (cell.status is Status.UNDECIDED and cell not in old):
            file.keep(cell)
    return replace(found, cells=SavedMap(file.stored, ())) if every else found


def _size(box: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    """Returns the volume of a box."""
    return prod((high - low for low, high in box), start=Fraction(1))


@dataclass(frozen=True, eq=False)
class Optimum:
    """The supremum (or, to be minimised, the infimum) of a parameter over its safe values.

    `value` is that number where it is known exactly, and `attained` tells whether it is a safe value itself.
    Otherwise it lies between `lower` and `upper`; the one of them that safe values reach or approach is None
    where no safe value was found. `some` are parameters that are not for design and are axes of the map: the
    number is about the best values of these, and not about all.
    """

    parameter: str
    sense: Sense
    value: Root | None = None
    attained: bool | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None
    some: tuple[str, ...] = ()


def optimum_of_parts(found: Partition, sense: Sense) -> Optimum | None:
    """Returns the exact optimum of the parameter over the safe parts; None if no value is safe."""
    safe = found.having(Status.SAFE)
    if not safe:
        return None
    best = safe[-1] if sense == Sense.MAXIMISE else safe[0]
    if sense == Sense.MAXIMISE:
        return Optimum(found.parameter, sense, best.upper, best.upper_closed)
    return Optimum(found.parameter, sense, best.lower, best.lower_closed)


def optimum_of_map(found: RegionMap, parameter: str, sense: Sense) -> Optimum | None:
    """Returns certified bounds of the optimum of one parameter over the safe points; None if there are none.

    All points of a safe cell that are in the domain are safe, so they reach or approach its end where the
    whole cell is in the domain, but for a set without volume; all safe points are in cells that are safe or
    undecided.
    """
    axis = found.parameters.index(parameter)
    whole = [c for c in found.cells if c.status is Status.SAFE and found.inside.has(c.box)]
    safe = [c.box[axis] for c in whole]
    possible = [c.box[axis] for c in found.cells if c.status in (Status.SAFE, Status.UNDECIDED)]
    if not possible:
        return None
    if sense == Sense.MAXIMISE:
        reached = max((high for _, high in safe), default=None)
        return _between(parameter, sense, reached, max(high for _, high in possible))
    reached = min((low for low, _ in safe), default=None)
    return _between(parameter, sense, min(low for low, _ in possible), reached)


def optimum_near(found: Partition, sense: Sense) -> Optimum | None:
    """Returns bounds of the optimum over the safe parts, where some are undecided; None if there is neither.

    It is exact where no undecided part is beyond the safe ones: then it is reached or approached.
    """
    possible = [part for part in found.parts if part.status in (Status.SAFE, Status.UNDECIDED)]
    if not possible:
        return None
    safe = found.having(Status.SAFE)
    ends: tuple[Fraction | None, Fraction | None]
    if sense == Sense.MAXIMISE:
        most, reached = possible[-1].upper, safe[-1].upper if safe else None
        ends = (reached.lower if reached else None), most.upper
    else:
        most, reached = possible[0].lower, safe[0].lower if safe else None
        ends = most.lower, (reached.upper if reached else None)
    value = reached if most is reached else None
    return Optimum(found.parameter, sense, value=value, attained=None, lower=ends[0], upper=ends[1])


def _between(parameter: str, sense: Sense, lower: Fraction | None, upper: Fraction | None) -> Optimum:
    value = rational_root(lower) if lower is not None and lower == upper else None
    return Optimum(parameter, sense, value=value, attained=None, lower=lower, upper=upper)
