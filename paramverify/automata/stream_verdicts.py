"""Whether an automaton or a case about streams is private, for every ε and streams of every length, with
examples if not.

Streams whose entries have few values: how much of the budget for any numbers they need.

If an entry differs by `reach` at most, W(δ) ≤ reach·W for all differences, because W(δ) is homogeneous. So
reach·W·ε is enough. That less is not enough shows a gap (`way_programs`). Between both a budget is decided
where the ways are finitely many: each one is a finite program, for all pairs of streams together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.answers import End, Standing
from paramverify.automata.automaton import Automaton
from paramverify.automata.stored_values import (
    Demands,
    Graph,
    all_demands,
    explore,
    may_end,
    same_outputs,
    weights,
)
from paramverify.automata.stream_cases import ComparedStreams, StreamBudget, StreamCase
from paramverify.automata.stream_costs import Length, OneReport, exceeding, verify_one
from paramverify.automata.unbounded_ways import ViolationFamily, costly_way, find_family
from paramverify.automata.way_costs import Closed, Way, cost, search
from paramverify.automata.way_programs import (
    OTHER,
    Gap,
    Streams,
    Widest,
    all_streams,
    near_pairs,
    reads,
    released,
    streams,
    streams_within,
    way_case,
    with_entry,
)
from paramverify.errors import LimitError
from paramverify.evidence.witness import AnyWitness
from paramverify.kernel.strict_reading import counted
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import verify as verify_case
from paramverify.verdicts import Holds, Unknown, Verdict, Violated

MOST_TRIED = 12  # steps that are tried one after another for lighter demands


@dataclass(frozen=True, eq=False)
class AutomatonReport:
    """What was found of an automaton.

    Private: `multiple`·ε is enough, by `demands` with their `weight`, or by `tables` if there are some; and
    no multiple below that of `way` is, where there is one. Not private: the `family`. Otherwise `reason` says
    what is missing. `confused` names two edges with one output, where outputs do not tell the way.
    """

    automaton: Automaton
    graph: Graph
    demands: Demands
    seconds: float
    weight: tuple[Fraction, ...] = ()
    multiple: Fraction | None = None
    way: Way | None = None
    tables: tuple[Closed, ...] = ()
    family: ViolationFamily | None = None
    reason: str = ""
    end: End = End.DECIDED
    confused: tuple[int, int] | None = None

    @property
    def standing(self) -> Standing:
        """Private, not private, or undecided."""
        if self.multiple is not None:
            return Standing.HOLDS
        return Standing.UNKNOWN if self.family is None or self.confused else Standing.VIOLATED

    @property
    def never(self) -> tuple[int, ...]:
        """The transitions that no run takes."""
        return never_taken(self.automaton, self.graph)

    @property
    def least(self) -> Fraction:
        """A number so that no multiple below it is enough."""
        return Fraction(0) if self.way is None else self.way.cost

    def standing_of(self, multiple: Fraction) -> Standing:
        """Tells whether a multiple is enough: private, not private, or undecided."""
        if self.multiple is not None and multiple >= self.multiple:
            return Standing.HOLDS
        grows = self.standing is Standing.VIOLATED
        return Standing.VIOLATED if grows or multiple < self.least else Standing.UNKNOWN

    @property
    def tight(self) -> bool:
        """Whether the multiple is known to be the least one."""
        return self.multiple is not None and self.least == self.multiple


def verify(automaton: Automaton) -> AutomatonReport:
    """Decides whether an automaton is private for some multiple of ε.

    Private means: there is a number D so that for every ε > 0, all streams of one length whose entries differ
    by at most 1 each, and all outputs, the probabilities (or densities) are within a factor of exp(D·ε). If
    it is so for one ε, it is so for every ε.

    Raises:
        InputError: a guard reads what has no value, or two guards are true at once.
        LimitError: the automaton is too large.
    """
    start = time.monotonic()
    graph = explore(automaton)
    demands = all_demands(graph)
    confused = same_outputs(graph)
    weight = None if demands.conflict else weights(demands)
    if weight is not None:
        way = None if confused else costly_way(demands, weight)
        multiple = at_beginning(demands, weight)
        tables: tuple[Closed, ...] = ()
        if multiple and (way is None or way.cost < multiple):
            searched = search(graph, multiple)
            costly = max([w.cost for w in (way, searched.way) if w], default=Fraction(0))
            if searched.way is not None and searched.way.cost == costly and not confused:
                way = searched.way
            demands, weight = _lighter(demands, weight, costly)
            tables, multiple = searched.tables, at_beginning(demands, weight)
            if tables:
                multiple = costly
        seconds = time.monotonic() - start
        return AutomatonReport(
            automaton,
            graph,
            demands,
            seconds,
            weight=tuple(weight),
            multiple=multiple,
            way=way,
            tables=tables,
            confused=confused,
        )
    return _not_private(automaton, graph, demands, start)


def never_taken(automaton: Automaton, graph: Graph) -> tuple[int, ...]:
    """Returns the transitions that no run takes."""
    taken = {edge.transition for edge in graph.edges}
    return tuple(k for k in range(len(automaton.transitions)) if k not in taken)


def at_beginning(demands: Demands, weight: Sequence[Fraction]) -> Fraction:
    """Returns the largest weight of a demand at the beginning: a multiple that is enough."""
    return max(w for (node, _), w in zip(demands.zones, weight, strict=True) if node == 0)


def _lighter(demands: Demands, weight: list[Fraction], least: Fraction) -> tuple[Demands, list[Fraction]]:
    """Returns these demands, or lighter ones in which some steps pay least by themselves.

    Which ones is a matter of luck: all are tried, and of small automata one after another.
    """
    graph = demands.graph
    once = [number for number in range(len(graph.edges)) if not graph.repeats(number)]
    chosen: frozenset[int] = frozenset()
    alone = once if len(once) <= MOST_TRIED else []
    for tried in (frozenset(once), *(frozenset({number}) for number in alone)):
        if at_beginning(demands, weight) <= least:
            break
        other = all_demands(graph, chosen | tried)
        lighter = None if other.conflict else weights(other)
        if lighter is not None and at_beginning(other, lighter) < at_beginning(demands, weight):
            demands, weight, chosen = other, lighter, chosen | tried
    return demands, weight


def _not_private(automaton: Automaton, graph: Graph, demands: Demands, start: float) -> AutomatonReport:
    """Returns the ways whose costs grow, or what is missing to say that there are some."""
    confused = same_outputs(graph)
    family = find_family(graph, demands.conflict)
    reason, end = "", End.DECIDED
    if family is None:
        reason, end = (
            "neither a bound on the costs nor paths with growing costs were found",
            End.GAVE_UP,
        )
    elif confused:
        reason, end = (
            "the costs of paths have no bound, but the outputs do not reveal which path the run took",
            End.GAVE_UP,
        )
    seconds = time.monotonic() - start
    return AutomatonReport(
        automaton,
        graph,
        demands,
        seconds,
        family=family,
        reason=reason,
        end=end,
        confused=confused,
    )


WIDTH = Fraction(1, 8)  # half of the interval in which a released sample lies
TIMES = (0, 2, 8)  # how far away from the means the streams are
REPEATED = (1, 2, 3, 4, 6)  # how often cycles of a way are repeated, where that is enough
MOST_STEPS = 40  # of a way that is evaluated
FOR_ONE = 10.0  # seconds for one way


@dataclass(frozen=True, eq=False)
class Example:
    """A way that is too likely for a budget: with so many repetitions, these streams, and this witness."""

    budget: StreamBudget
    repetitions: int
    way: Way
    streams: Streams
    case: PrivacyCase
    witness: AnyWitness


def worst_signs(automaton: Automaton, family: ViolationFamily, repetitions: int) -> Way:
    """Returns a way of a family with differences that make each repetition cost."""
    steps = family.way(repetitions)
    first, last = (set(places) for places in family.marked(repetitions))
    signs = []
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        sign = -1 if place in first or (place not in last and step.below and not step.above) else 1
        signs.append(sign if automaton.state_of(step).reads else 0)
    return cost(automaton, steps, signs)


def find_example(report: AutomatonReport, multiple: Fraction, options: Options) -> Looked:
    """Looks for streams and an ε at which a multiple is exceeded, as short as they are found in time.

    Every example is a witness of the case of its way (`way_programs.way_case`), evaluated exactly.
    """
    return first_example(report.automaton, candidates(report, multiple), StreamBudget(multiple), options)


@dataclass(frozen=True)
class Entries:
    """The values of an entry (None: any numbers), and the largest difference of one in two streams."""

    values: Collection[Fraction] | None
    reach: Fraction


ANY = Entries(None, Fraction(1))


@dataclass(frozen=True, eq=False)
class Looked:
    """An example, if one was found; so many pairs of streams were evaluated, on so many ways.

    If there are no pairs, these are the ways without streams. Of the pairs some may be `undecided`. So many
    pairs with a way were left out, because they are `too_large` for the engine for programs. `complete` says
    that no pair was left when this ended.
    """

    example: Example | None = None
    pairs: int = 0
    ways: int = 0
    undecided: int = 0
    too_large: int = 0
    complete: bool = False


def first_example(
    automaton: Automaton,
    ways: Iterable[tuple[int, Way]],
    budget: StreamBudget,
    options: Options,
    entries: Entries = ANY,
) -> Looked:
    """Returns the first example on ways with their repetitions, whose streams have only these entries."""
    until = time.monotonic() + options.seconds
    evaluated: set[tuple[tuple[int, ...], Streams]] = set()
    too_large: set[tuple[tuple[int, ...], Streams]] = set()
    looked, undecided, tried = Looked(), 0, 0
    for repetitions, way in ways:
        tried += 1
        for read in _streams(automaton, way, entries):
            given = with_entry(automaton, way.steps, read)
            if (way.steps, given) in evaluated | too_large:
                continue
            left = min(FOR_ONE, until - time.monotonic())
            if left <= 0.1:
                return looked
            case = way_case(automaton, way.steps, [given], budget, WIDTH)
            verdict = None if case is None else _verdict(case, replace(options, seconds=left))
            (too_large if case is None else evaluated).add((way.steps, given))
            undecided += case is not None and (verdict is None or isinstance(verdict, Unknown))
            ways_seen = len({steps for steps, _ in evaluated})
            looked = Looked(None, len(evaluated), ways_seen, undecided, len(too_large))
            if case is None or not isinstance(verdict, Violated) or _is_end(automaton, way, verdict.witness):
                continue
            example = Example(budget, repetitions, way, given, case=case, witness=verdict.witness)
            return replace(looked, example=example)
    return replace(looked, ways=looked.ways or tried, complete=True)


def _is_end(automaton: Automaton, way: Way, witness: AnyWitness) -> bool:
    """Tells whether a witness may be about the end of a run, which is no output."""
    return OTHER in (witness.word or (OTHER,)) and may_end(automaton, way.steps)


def _streams(automaton: Automaton, way: Way, entries: Entries) -> Iterator[Streams]:
    """Yields pairs of streams that make a way likelier under one of them, of these entries only."""
    if entries.values is None:
        yield from (streams(automaton, way, times, entries.reach) for times in TIMES)
        return
    ordered = sorted(entries.values)
    for start in dict.fromkeys((Fraction(0), ordered[0], ordered[-1], ordered[len(ordered) // 2])):
        found = (streams_within(automaton, way, times, (ordered, entries.reach), start) for times in TIMES)
        yield from (given for given in found if given is not None)


def candidates(report: AutomatonReport, multiple: Fraction) -> Iterator[tuple[int, Way]]:
    """Returns ways that cost more than a multiple, the shortest ones first."""
    family = report.family
    if family is None:
        shorter = () if report.way is None else REPEATED
        ways = [costly_way(report.demands, report.weight, often) for often in shorter]
        for way in (*ways, report.way):
            if way is not None and way.cost > multiple and len(way.steps) <= MOST_STEPS:
                yield 0, way
        return
    repetitions = family.period
    while len(family.way(repetitions)) <= MOST_STEPS:
        way = worst_signs(report.automaton, family, repetitions)
        if way.cost > multiple:
            yield repetitions, way
        repetitions += family.period


def _verdict(case: PrivacyCase, options: Options) -> Verdict | None:
    """Returns the verdict on a case; None if it is too large, or there is no time."""
    try:
        return verify_case(case, options).verdict
    except LimitError:
        return None


FOR_GAPS = 5.0  # seconds
MOST_WAYS = 100
MOST_PAIRS = 200  # of streams, on one way


_Look = Callable[[Sequence[int], Iterable[Streams]], None]


def widest_gap(
    compared: ComparedStreams,
    report: AutomatonReport | OneReport,
    seconds: float,
    beyond: Fraction | None = None,
) -> Gap | None:
    """Returns the widest gap that was found between streams of few values.

    Where no multiple is enough for any numbers, the first one `beyond` a budget will do, if that is given.
    """
    if compared.values is None or not compared.reach or report.confused:
        return None
    known = report.multiple
    goal = None if known is None else known * compared.reach
    found = _widest(report.automaton, compared, goal, seconds)
    for look in (found.first, found.look):  # the likely streams of all ways, and then all others
        for way in _ways(report):
            if found.over or (goal is None and beyond is not None and found.size > beyond):
                break
            look(way.steps, _starts(report.automaton, compared, way))
        _look_at(look, report.automaton, all_ways(report.graph) or (), compared)
    return found.best


def widest_gaps(
    graph: Graph, compared: ComparedStreams, lengths: Sequence[Length], seconds: float
) -> dict[int, Gap]:
    """Returns for each length the widest gap on ways that read no more inputs, where one was found.

    The lengths are in their order: what is found for one is known for the next one.
    """
    found: dict[int, Gap] = {}
    automaton, until = graph.automaton, time.monotonic() + seconds
    best: Gap | None = None
    for place, length in enumerate(lengths):
        left = (until - time.monotonic()) / (len(lengths) - place)
        search = _widest(automaton, compared, length.multiple * compared.reach, left)
        search.best = best
        ways = ways_within(graph, length.inputs - automaton.late)
        for look in (search.first, search.look):
            if length.way is not None and not search.over:
                look(length.way.steps, _starts(automaton, compared, length.way))
            _look_at(look, automaton, ways, compared)
        best = search.best
        if best is not None:
            found[length.inputs] = best
    return found


def _widest(automaton: Automaton, compared: ComparedStreams, goal: Fraction | None, seconds: float) -> Widest:
    until = time.monotonic() + min(FOR_GAPS, seconds)
    return Widest(automaton, near_pairs(compared.values or (), compared.reach), compared.one, goal, until)


def _look_at(
    look: _Look, automaton: Automaton, ways: Iterable[tuple[int, ...]], compared: ComparedStreams
) -> None:
    """Tries ways, in the direction in which all entries of one stream are larger."""
    for steps in ways:
        signs = [int(automaton.state_of(automaton.transitions[k]).reads) for k in steps]
        way = Way(steps, tuple(signs), Fraction(0), ({}, {}))
        look(steps, _starts(automaton, compared, way))


def _ways(report: AutomatonReport | OneReport) -> Iterator[Way]:
    """Yields ways that cost."""
    if isinstance(report, OneReport):
        ways = exceeding(report.graph, Fraction(0), MOST_STEPS)
    else:
        ways = candidates(report, Fraction(0))
    for _, way in ways:
        yield way


def _starts(automaton: Automaton, compared: ComparedStreams, way: Way) -> Iterator[Streams]:
    """Yields streams of few values in the direction of the differences of a way."""
    values = compared.values or ()
    for start in dict.fromkeys((Fraction(0), min(values), max(values))):
        for signs in (way.signs, tuple(-sign for sign in way.signs)):
            turned = replace(way, signs=signs)
            found = streams_within(automaton, turned, 0, (values, compared.reach), start)
            if found is not None and not (compared.one and _differing(found) > 1):
                yield found


def _differing(given: Streams) -> int:
    return sum(a != b for a, b in zip(given.first, given.second, strict=True))


def ways_within(graph: Graph, inputs: int) -> list[tuple[int, ...]]:
    """Returns ways that read at most so many inputs, the shortest ones first; not more than `MOST_WAYS`."""
    found: list[tuple[int, tuple[int, ...], int]] = [(0, (), 0)]
    for node, steps, read in found:
        for number in graph.leaving[node]:
            more = read + graph.automaton.state_of(graph.step(number)).reads
            if more <= inputs and len(found) <= MOST_WAYS:
                step = graph.edges[number]
                found.append((step.target, (*steps, step.transition), more))
    return [steps for _, steps, _ in found[1:]]


def all_ways(graph: Graph) -> list[tuple[int, ...]] | None:
    """Returns all ways of an automaton without cycles; None if there are too many, or cycles."""
    if any(map(graph.repeats, range(len(graph.edges)))):
        return None
    waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    for node, steps in waiting:
        for number in graph.leaving[node]:
            edge = graph.edges[number]
            waiting.append((edge.target, (*steps, edge.transition)))
        if len(waiting) > MOST_WAYS:
            return None
    return [steps for _, steps in waiting[1:]]


def decided_by_all(case: StreamCase, graph: Graph, options: Options) -> Standing | None:
    """Decides a case with finitely many ways by the engine for programs; None where that does not.

    Private: for each way and each pair of streams, for every ε.
    """
    ways, until = all_ways(graph), time.monotonic() + options.seconds
    if ways is None or case.values is None or any(released(case.automaton, steps) for steps in ways):
        return None
    pairs = near_pairs(case.values, case.reach)
    for steps in ways:
        given = all_streams(pairs, reads(case.automaton, steps), case.one, MOST_PAIRS)
        if given is None:
            return None
        apart = [streams for streams in given if streams.first != streams.second]
        if apart and not _holds(case, steps, apart, replace(options, seconds=until - time.monotonic())):
            return None
    return Standing.HOLDS


def _holds(case: StreamCase, steps: tuple[int, ...], given: list[Streams], options: Options) -> bool:
    every = way_case(case.automaton, steps, given, case.budget, WIDTH) if options.seconds > 0 else None
    if every is None:
        return False
    try:
        return isinstance(verify_case(every, options).verdict, Holds)
    except LimitError:
        return False


FEW = "no violation was found with these values"
NOTHING = Looked(complete=True)  # there is nothing to look for


@dataclass(frozen=True, eq=False)
class StreamVerdict:
    """What was found of a case: its standing, and an example that exceeds the budget where there is one.

    `known` is a multiple that is enough, None if there is none or none was found. No multiple below `least`
    is enough. Where entries have few values, `gap` shows that. No multiple below `least_of_any` is enough for
    entries that are any numbers.
    """

    case: StreamCase
    standing: Standing
    report: AutomatonReport | OneReport
    example: Example | None
    seconds: float
    reason: str = ""
    gap: Gap | None = None
    by_all: bool = False  # all ways were decided, one by one
    looked: Looked | None = None  # where an example was looked for, to the end

    @property
    def known(self) -> Fraction | None:
        """A multiple that is enough, if one is known."""
        reach, found = self.case.reach, self.report.multiple
        return None if reach and found is None else reach * (found or 0)

    @property
    def least(self) -> Fraction:
        """A number so that no multiple below it is enough."""
        if self.case.values is None:
            return self.least_of_any
        return Fraction(0) if self.gap is None else self.gap.size

    @property
    def least_of_any(self) -> Fraction:
        """A number so that no multiple below it is enough for entries that are any numbers."""
        return self.report.least * self.case.reach

    @property
    def way(self) -> Way | None:
        """The way that needs `least_of_any`."""
        return self.report.way


def decide(
    case: StreamCase, options: Options, found: Callable[[StreamVerdict], None] = lambda _: None
) -> StreamVerdict:
    """Decides a case about streams.

    Private: the probabilities (or densities) of all outputs are within a factor of exp(D·ε + b), for every
    ε > 0 and streams of every length that are neighbours. Not private: as ε grows, some way needs more; and
    where entries have few values, a gap shows it or an example was evaluated exactly. `found` gets a verdict
    as soon as it is known, before an example is looked for.

    Raises:
        InputError: a guard reads what has no value, or two guards are true at once.
        LimitError: the automaton is too large.
    """
    start = time.monotonic()
    report = verify_one(case.automaton) if case.one else verify(case.automaton)
    gap = widest_gap(case.compared, report, options.seconds / 4, case.budget.multiple)
    verdict = StreamVerdict(case, Standing.UNKNOWN, report, None, 0.0, gap=gap)
    verdict = replace(verdict, standing=_standing(verdict), seconds=time.monotonic() - start)
    if verdict.standing is Standing.HOLDS:
        return verdict
    if verdict.standing is Standing.VIOLATED:
        found(verdict)
    left = replace(options, seconds=max(0.0, options.seconds - (time.monotonic() - start)))
    if verdict.standing is Standing.UNKNOWN and case.values is None:
        return verdict
    looked = _example(verdict, left) if _may_exceed(verdict) else NOTHING
    verdict = replace(verdict, looked=looked)
    if looked.example is not None:
        verdict = replace(verdict, standing=Standing.VIOLATED, example=looked.example)
    elif verdict.standing is Standing.UNKNOWN:
        left = replace(options, seconds=max(0.0, options.seconds - (time.monotonic() - start)))
        if decided_by_all(case, report.graph, left) is Standing.HOLDS:
            verdict = replace(verdict, standing=Standing.HOLDS, by_all=True)
        else:
            verdict = replace(verdict, reason=_not_found(verdict, looked))
    return replace(verdict, seconds=time.monotonic() - start)


def _standing(verdict: StreamVerdict) -> Standing:
    """Returns what both bounds say of the budget: for large ε what is added to a multiple does not count."""
    multiple, known = verdict.case.budget.multiple, verdict.known
    if known is not None and multiple >= known:
        return Standing.HOLDS
    grows = isinstance(verdict.report, AutomatonReport) and verdict.report.standing is Standing.VIOLATED
    exceeded = multiple < verdict.least or (grows and verdict.case.values is None)
    return Standing.VIOLATED if exceeded else Standing.UNKNOWN


def _may_exceed(verdict: StreamVerdict) -> bool:
    """Tells whether the budget is not enough for entries that are any numbers."""
    grows = isinstance(verdict.report, AutomatonReport) and verdict.report.standing is Standing.VIOLATED
    return grows or verdict.case.budget.multiple < verdict.least_of_any


def _not_found(verdict: StreamVerdict, looked: Looked) -> str:
    """Returns why streams of few values that exceed the budget are not known."""
    if verdict.report.confused:
        return "no streams were examined, because the outputs do not reveal which path the run took"
    if not _may_exceed(verdict):
        return "no streams were examined, because no path is known that costs more than the budget"
    evaluated = f"{counted(looked.pairs, 'pair')} of streams, on {counted(looked.ways, 'path')}"
    over = "" if looked.complete else " before the time limit"
    return f"{FEW}: {evaluated}, were evaluated exactly{over}"


def _example(verdict: StreamVerdict, options: Options) -> Looked:
    """Looks for an example on ways that cost more than the budget."""
    case, report = verdict.case, verdict.report
    asked = case.budget.multiple / case.reach
    if isinstance(report, OneReport):
        ways = exceeding(report.graph, asked, MOST_STEPS)
    else:
        ways = candidates(report, asked)
    return first_example(case.automaton, ways, case.budget, options, Entries(case.values, case.reach))
