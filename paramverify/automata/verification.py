"""Whether an automaton is private for some multiple of ε, for every ε and streams of every length."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.answers import End, Standing
from paramverify.automata.automaton import Automaton
from paramverify.automata.demands import Demands, all_demands, weights
from paramverify.automata.least import costly_way
from paramverify.automata.orders import Graph, explore, same_outputs
from paramverify.automata.searching import Closed, search
from paramverify.automata.violations import ViolationFamily, find_family
from paramverify.automata.ways import Way

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
        reason, end = "no bound of the costs was found, and no ways whose costs grow", End.GAVE_UP
    elif confused:
        reason, end = "the costs of ways have no bound, but outputs do not tell the way", End.GAVE_UP
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
