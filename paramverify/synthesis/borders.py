"""Whether a verdict or a budget depends on where the ranges of whole numbers end: larger and smaller ones."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp

from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import rational
from paramverify.algebra.rationals import simplest_between
from paramverify.bounds import AnyBounds
from paramverify.divergences import MaxDivergence, Measure
from paramverify.divergences.registry import measures
from paramverify.errors import InputError, LimitError, TimeLimitError
from paramverify.models.model import is_about
from paramverify.models.neighbourhoods import BY
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.larger_ranges import (
    Larger,
    has_ranges,
    is_made,
    larger_cases,
    lists_bits,
    smaller_cases,
)
from paramverify.privacy.verification import PrivacyReport, Progress, verify
from paramverify.processes.time_limits import alarm, can_ring
from paramverify.synthesis.case_budget import CaseBudget, case_budget
from paramverify.synthesis.maps import Status
from paramverify.synthesis.multiples import (
    LEAST_ITSELF,
    Multiple,
    epsilon_of,
    is_proved,
    is_tight,
    least_multiple,
    quiet,
    times,
    with_bound,
)
from paramverify.synthesis.safe_values import ExactCondition, Intervals, Regions
from paramverify.verdicts import Holds, Verdict, Violated

SHARE, LEAST, MOST = 0.1, 1.0, 2.0  # of the time limit, and seconds: how long other inputs are looked at
MOST_EXPONENT = 700  # of exp as a float
Written = tuple[Mapping[str, object], Mapping[str, object]]
ALL = "the range 0..1 is assumed to contain all possible values, so larger inputs are not checked"
NEAR = Fraction(1, 10**9)  # relative distance of numbers that stand for irrational ones


@dataclass(frozen=True, eq=False)
class Border:
    """What other ranges say of the largest ratio of a case.

    Either a `larger` range has a larger one, or `uncovered` says that the budget is not about larger inputs.
    The ratio of the `smaller` ranges, if any, is smaller. `same` are larger ranges for which the same `bound`
    was proved to be enough. It may be larger than the least bound of the case, which then says nothing about
    that of larger ranges.
    """

    larger: Larger | None = None
    smaller: str = ""
    same: tuple[str, ...] = ()
    bound: str = ""  # as it is written in a case
    uncovered: str = ""


@dataclass(frozen=True)
class Beyond:
    """What is told beside a budget: the least multiple of epsilon that is enough, and of the ranges."""

    multiple: Multiple | None = None
    border: Border | None = None


def verify_beyond(
    case: PrivacyCase, options: Options | None = None, progress: Progress | None = None, near: bool = False
) -> PrivacyReport:
    """Decides a case as `verify` does; if it is private, larger ranges are searched for a violation.

    This takes a tenth of the time limit, two seconds, or about the time of the proof, whichever is least.
    If there is none, but larger ranges have a larger ratio, or the worst pair was not in smaller ones, a note
    says so. Another note has the larger ranges that are private, too. That nothing is found says nothing.
    """
    started, options = time.monotonic(), options or Options()
    found = verify(case, options, progress, near)
    if isinstance(found.verdict, Violated):  # with more neighbours it is one, too
        return replace(found, notes=tuple(note for note in found.notes if note != BY))
    if not isinstance(found.verdict, Holds):
        return found
    found = replace(found, notes=(*found.notes, *([ALL] if lists_bits(case) else ())))
    if not has_ranges(case):
        return found
    if is_made(case):
        return replace(found, notes=(*found.notes, f"the verdict does not cover larger inputs{NOT_MADE}"))
    seconds = _share(options, started, found.seconds)
    if seconds <= 0:
        why = "there was no time" if can_ring() else "only the main thread of Python checks them"
        return replace(found, notes=(*found.notes, f"larger inputs were not checked: {why}"))
    private: list[str] = []
    more, why = "", ""
    try:
        with alarm(seconds, seconds):
            until = time.monotonic() + seconds
            for other, verdict in _decided(larger_cases(case), options, until):
                if isinstance(verdict, Violated):
                    return replace(found, larger=Larger(other.inputs_listed, verdict.witness))
                if isinstance(verdict, Holds):
                    private.append(other.inputs_listed)
            more = _note(case, options, until)
    except TimeLimitError:
        why = _unfinished(seconds)
    except LimitError:
        pass
    known = f"the case is private for {', '.join(private)}, too; " if private else ""
    told = f"{known}the verdict does not cover {'other ' if private else ''}larger inputs{why}"
    return replace(found, notes=(*found.notes, told, *filter(None, [more])))


NOT_MADE = ", for which the program was not made: adopt the function again with more inputs"


def _unfinished(seconds: float) -> str:
    """Returns why larger inputs are not covered after a search of so many seconds, and what to write."""
    return (
        f", because checking them did not end within {seconds:.1f} s. This does not affect the answer for "
        "the listed inputs. If larger inputs exist, extend the range; if none exist, write a list instead of "
        "a range"
    )


def beyond(case: PrivacyCase, found: CaseBudget, options: Options, started: float) -> Beyond:
    """Returns what is told beside the budget of a case, whose search `started` at a monotonic time."""
    seconds = _share(options, started, time.monotonic() - started)
    if seconds <= 0:
        return Beyond()
    multiple = None
    if found.relative is not None and not found.distances and epsilon_of(case):
        multiple = LEAST_ITSELF if is_tight(found.relative) else least_multiple(case, options, seconds)
    return Beyond(multiple, border(case, bounds(case, found, multiple), options, time.monotonic() + seconds))


def border_of(
    case: PrivacyCase, measure: Measure, found: AnyBounds, options: Options, started: float
) -> Border | None:
    """Returns what other ranges say of a least bound, whose search `started` at a monotonic time."""
    seconds = _share(options, started, time.monotonic() - started)
    low, high = _ends(found, measure)
    if high is None or seconds <= 0:
        return None
    name = measure.key if found.name == "divergence" else found.name

    def written(number: Fraction) -> Mapping[str, object]:
        return {name: measure.written(exact(number))}

    less = written(_below(low)) if low > 0 else {}
    bound = written(high if low == high else _above(high))
    return border(case, (bound, less), options, time.monotonic() + seconds)


def _ends(found: AnyBounds, measure: Measure) -> tuple[Fraction, Fraction | None]:
    """Returns numbers below and above a bound as `[privacy]` has it; None above if it is infinite."""
    try:
        low, high = (None if s is None else measure.of_sum(s) for s in (found.low, found.high))
    except OverflowError:  # no float is so large: nothing is looked at
        return Fraction(0), None
    if measure.exact:
        return low or Fraction(0), high
    return _near(float(low or 0)), high and _above(_near(float(high)))


def bounds(case: PrivacyCase, found: CaseBudget, multiple: Multiple | None) -> Written:
    """Returns a bound of `[privacy]` that is enough for a case and one that is not, or nothing for them."""
    if found.distances:
        root = found.distances.epsilon
        if root.high is None or root.low is None or "delta" in case.data["privacy"]:
            return {}, {}
        if max(root.low, root.high) > MOST_EXPONENT:
            return {}, {}
        low, high = (_near(exp(end)) for end in (root.low, root.high))
        return {"ratio": f"({_above(high)})**distance"}, {"ratio": f"({_below(low)})**distance"}
    if multiple:
        fails = {"epsilon": times(multiple.fails, epsilon_of(case))} if multiple.fails else {}
        return {"epsilon": multiple.of(epsilon_of(case))}, fails
    if found.ratio.infinite or found.ratio.high is None:
        return (own_bound(case) if is_proved(found.relative) else {}), {}
    low, high = found.ratio.low, found.ratio.high
    return {"ratio": exact(high if low == high else _above(high))}, {"ratio": exact(_below(low))}


def own_bound(case: PrivacyCase) -> dict[str, object]:
    """Returns the bound of a case as it is written."""
    return {name: case.data["privacy"][name] for name in measures() if name in case.data["privacy"]}


def border(case: PrivacyCase, bound: Written, options: Options, until: float) -> Border | None:
    """Returns what larger and smaller ranges of a case say of its least bound; None where that is nothing."""
    enough, fails = bound
    seconds = until - time.monotonic()
    if not enough or seconds <= 0 or not can_ring() or not has_ranges(case):
        return None
    if is_made(case):
        return Border(bound=_told(enough), uncovered=f"the budget does not cover larger inputs{NOT_MADE}")
    same: list[str] = []
    smaller, searched, why = "", False, ""
    # A bound that is no bound of a case, such as one below a least ratio of 1, says nothing.
    try:
        with alarm(seconds, seconds):
            for other, verdict in _decided(larger_cases(with_bound(case, **enough)), options, until):
                if isinstance(verdict, Violated):
                    return Border(Larger(other.inputs_listed, verdict.witness))
                if isinstance(verdict, Holds):
                    same.append(other.inputs_listed)
            searched = True
            less = with_bound(case, **fails) if fails else None
            for other, verdict in _decided(smaller_cases(less) if less else (), options, until):
                if isinstance(verdict, Holds):
                    smaller = other.inputs_listed
                    break
    except TimeLimitError:
        why = "" if searched else _unfinished(seconds)
    except (LimitError, InputError):
        pass
    uncovered = f"the budget does not cover {'other ' if same else ''}larger inputs{why}"
    return Border(smaller=smaller, same=tuple(same), bound=_told(enough), uncovered=uncovered)


def _told(bound: Mapping[str, object]) -> str:
    """Returns a bound as it is written in a case."""

    def text(value: object) -> str:
        return f"{{ {_told(value)} }}" if isinstance(value, dict) else str(value)

    return ", ".join(f"{name} = {text(value)}" for name, value in bound.items())


def larger_for(
    case: PrivacyCase, found: Intervals | ExactCondition | Regions, session: Session
) -> Larger | None:
    """Returns a violation among larger inputs, at a point for which a session found a case to be private.

    None says nothing.
    """
    options, started = session.options, session.deadline - session.options.seconds
    safe = {} if isinstance(found, ExactCondition) else _some_safe(found)
    seconds = _share(options, started, time.monotonic() - started)
    if not safe or seconds <= 0:
        return None
    with suppress(LimitError, InputError), alarm(seconds, seconds):
        others = (_inside(case, other, safe) for other in larger_cases(case))
        for other, verdict in _decided(filter(None, others), options, time.monotonic() + seconds):
            if isinstance(verdict, Violated):
                return Larger(other.inputs_listed, verdict.witness)
    return None


def _some_safe(found: Intervals | Regions) -> dict[str, Interval]:
    """Returns values for which a case is private: the best ones that are known, or some."""
    if isinstance(found, Regions):
        cells = [cell for cell in found.map.listed if cell.status is Status.SAFE]
        box = max(cells, key=lambda cell: cell.volume).box if cells else ()
        ends = ((low, high) for low, high in box)
        return {n: Interval(*e, True, True) for n, e in zip(found.map.parameters, ends, strict=bool(box))}
    best = found.optimum.value if found.optimum and found.optimum.attained else None
    places = [part.sample for part in found.partition.having(Status.SAFE) if part.sample is not None]
    value = best.lower if best is not None and best.is_rational else next(iter(places), None)
    return {} if value is None else {found.partition.parameter: Interval(value, value, True, True)}


def _inside(case: PrivacyCase, other: PrivacyCase, box: Mapping[str, Interval]) -> PrivacyCase | None:
    """Returns a case of larger inputs for some values of its parameters, if they mean the same in both."""
    own, domain = case.model.domain, other.model.domain
    if own.ring.parameters != domain.ring.parameters or own.ring.unbounded != domain.ring.unbounded:
        return None
    kept = {name: met for name in box if (met := _met(domain.box[name], box[name]))}
    if len(kept) < len(box):
        return None
    return replace(other, model=replace(other.model, domain=replace(domain, box={**domain.box, **kept})))


def _met(one: Interval, other: Interval) -> Interval | None:
    """Returns the values in both intervals, None if there are none."""
    low, high = max(one.lower, other.lower), min(one.upper, other.upper)
    with suppress(InputError):
        return Interval(low, high, low in one and low in other, high in one and high in other)
    return None


def _note(case: PrivacyCase, options: Options, until: float) -> str:
    """Returns that the worst pair of a private case lies on the border of its ranges; else ""."""
    model = case.model
    if not is_about(model, MaxDivergence) or model.every_length:
        return ""
    with Session(quiet(options, until - time.monotonic())) as session:
        found = case_budget(model, session, NEAR)
    multiple = None
    if found.relative and epsilon_of(case):
        multiple = least_multiple(case, options, until - time.monotonic())
    seen = border(case, bounds(case, found, multiple), options, until)
    if seen and seen.larger:
        return f"larger inputs have a larger ratio, such as {seen.larger.over}"
    if seen and seen.smaller and not seen.same:
        return f"the worst pair lies on the border of the inputs: a smaller bound suffices for {seen.smaller}"
    return ""


def _decided(
    cases: Iterable[PrivacyCase], options: Options, until: float
) -> Iterator[tuple[PrivacyCase, Verdict]]:
    """Yields each case with its verdict, in the time that is left; what cannot be read is left out."""
    for case in cases:
        with suppress(InputError):  # they may be no inputs of the program
            yield case, verify(case, quiet(options, max(0.01, until - time.monotonic()))).verdict


def _share(options: Options, started: float, spent: float) -> float:
    """Returns the seconds for other inputs than those of a case whose work began at a monotonic time."""
    left = options.seconds - (time.monotonic() - started)
    return min(left / 2, options.seconds * SHARE, MOST, max(LEAST, spent)) if can_ring() else 0.0


def exact(number: Fraction) -> str:
    """Returns a number of any length as a text."""
    return str(rational(number))


def _near(number: float) -> Fraction:
    """Returns a simple number next to another one, on either side."""
    return Fraction(number).limit_denominator(10**9)


def _above(number: Fraction) -> Fraction:
    """Returns a simple number that is a little larger."""
    return simplest_between(number, number * (1 + NEAR))


def _below(number: Fraction) -> Fraction:
    """Returns a simple number that is a little smaller."""
    return simplest_between(number * (1 - NEAR), number)
