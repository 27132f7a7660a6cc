"""Two streams and an ε at which a multiple of ε is exceeded, evaluated exactly by the engine for programs."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.automata.automaton import Automaton
from paramverify.automata.budgets import StreamBudget
from paramverify.automata.evaluating import way_case
from paramverify.automata.least import costly_way
from paramverify.automata.orders import may_end
from paramverify.automata.programs import OTHER, Streams, streams, streams_within, with_entry
from paramverify.automata.verification import AutomatonReport
from paramverify.automata.violations import ViolationFamily
from paramverify.automata.ways import Way, cost
from paramverify.errors import LimitError
from paramverify.evidence.algebraic import AlgebraicWitness
from paramverify.evidence.witnesses import AnyWitness, ExactWitness
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import verify as verify_case
from paramverify.verdicts import Unknown, Verdict, Violated

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

    Every example is a witness of the case of its way (`evaluating.way_case`), evaluated exactly.
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
    seen = witness.observations if isinstance(witness, ExactWitness | AlgebraicWitness) else (OTHER,)
    return OTHER in seen and may_end(automaton, way.steps)


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
