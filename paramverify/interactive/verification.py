"""From a case of an interactive system to proof, counterexample or unknown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import RationalFunction, substitute
from paramverify.answers import End, Proved, Standing
from paramverify.errors import LimitError
from paramverify.interactive.bounds import WeightJudge, plain, power
from paramverify.interactive.cases import InteractiveCase
from paramverify.interactive.closure import Closures
from paramverify.interactive.costs import Costs, cheapest
from paramverify.interactive.enumeration import Enumeration
from paramverify.interactive.evaluation import at_point
from paramverify.interactive.families import Family, largest_family, least_budget
from paramverify.interactive.given import GivenFamily, examine
from paramverify.interactive.pairs import PairGraph, pair_graph
from paramverify.interactive.places import boundary_places, simple_places
from paramverify.interactive.quotients import NumberedQuotients
from paramverify.interactive.refutation import InsertionPlace, Refutation, TraceSearch, evaluated, search
from paramverify.interactive.unwinding import Failure, Pair, is_all_covered, is_unwinding_family
from paramverify.models.context import Checks
from paramverify.models.systems.system import System
from paramverify.models.systems.weights import Weight, as_function
from paramverify.portfolio.obligations import Discharged, Proofs, require_point
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.unasked import unasked
from paramverify.tables import in_case
from paramverify.verdicts import Holds, Unknown, Violated, status_of

POINTS = 12  # points of the domain at which a refutation is looked for
BOUNDARY = 0.1  # of the time may go into finding points of the boundary

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Noninterference:
    """What was found about a case.

    `family` is an unwinding family within the bound, `costs` the sharper check; either proves the case.
    `failure` says where the family of the case fails, if it does. Where it is violated, `parameters` is the
    point, and `closures` and `bound` are those of that point.
    """

    verdict: Holds | Violated[Refutation] | Unknown
    closures: Closures
    pairs: int
    family: Family | GivenFamily | None
    failure: Failure | None
    costs: Costs | None
    parameters: dict[str, Fraction]
    bound: Weight
    claims: Proofs
    obligations: Proofs
    seconds: float
    unasked: str = ""  # that solvers which were chosen were asked nothing

    @property
    def status(self) -> Standing:
        """The word for the verdict."""
        return status_of(self.verdict)

    @property
    def refutation(self) -> Refutation | None:
        """The witness of a violation."""
        return self.verdict.witness if isinstance(self.verdict, Violated) else None

    @property
    def reason(self) -> str:
        """Why it is unknown."""
        return self.verdict.detail if isinstance(self.verdict, Unknown) else ""


@dataclass(frozen=True, eq=False)
class _PointSystems:
    """A point of the domain, the closures of the system there, and the bound there."""

    parameters: dict[str, Fraction]
    closures: Closures
    bound: Weight


def verify(
    case: InteractiveCase, options: Options | None = None, progress: Progress | None = None
) -> Noninterference:
    """Decides whether the case has ε-differential noninterference at every point of its domain.

    It has if for all inputs w and w' that differ in one inserted data point, and every set S of observable
    traces, Pr(S | w) ≤ e^ε·Pr(S | w') and the other way round ([T]). `Holds` only with an unwinding
    family, or costs, within the bound; `Violated` only with probabilities that were evaluated anew.

    Raises:
        ModelError: the probabilities are none at some point of the domain.
        DomainError: the domain is empty.
        LimitError: too many pairs of states, or no point of the domain was found.
    """
    started = time.perf_counter()
    options = options or Options()
    deadline = time.monotonic() + options.seconds
    told = progress or (lambda what, done, total: None)
    with in_case(case.path, case.text), Session(options) as session:
        judge = WeightJudge(case.checks, session)
        if nowhere := require_point(session, case):
            raise LimitError(nowhere.detail)
        place = _PointSystems({}, Closures(case.system, case.checks.positive), plain(case.ratio))
        told("pairs", 0, 1)
        quotients = NumberedQuotients(judge, case.system.weights.one)
        graph = pair_graph(place.closures, quotients)
        costs = cheapest(place.closures, judge, place.bound, quotients)
        family = _family(case, graph, judge, costs, told)
        failure, family = (family, None) if isinstance(family, Failure) else (None, family)
        done = Discharged()
        verdict: Holds | Violated[Refutation] | Unknown
        if doubt := done.prove(session, case.checks.obligations):
            verdict = Unknown(doubt.end, doubt.detail)
        elif family is not None or costs.ratio is not None:
            made = (decision for _, decision in judge.decided.values())
            verdict = Holds(tuple(decision for decision in made if isinstance(decision.answer, Proved)))
        else:
            verdict, place = _refuted(case, graph, judge, place, deadline)
    return Noninterference(
        verdict=verdict,
        closures=place.closures,
        pairs=len(graph.pairs),
        family=family,
        failure=failure,
        costs=costs,
        parameters=place.parameters,
        bound=place.bound,
        claims=tuple(judge.decided.values()),
        obligations=tuple(done.proved),
        seconds=time.perf_counter() - started,
        unasked=unasked(session, len(judge.decided)),
    )


def _refuted(
    case: InteractiveCase, graph: PairGraph, judge: WeightJudge, everywhere: _PointSystems, deadline: float
) -> tuple[Violated[Refutation] | Unknown, _PointSystems]:
    """Looks for a refutation at points of the domain, then among all inputs in the order of their length.

    Returns it with its place, or what was tried. Points share some of the time, so that one of them cannot
    take it all.
    """
    searches: list[TraceSearch] = []
    started = time.monotonic()
    places = list(_points(case, judge, everywhere.bound, started + BOUNDARY * (deadline - started)))
    share = 0.4 if case.domain.ring.parameters else 0.8
    for number, (parameters, system, bound) in enumerate(places):
        now = time.monotonic()
        until = now + (started + share * (deadline - started) - now) / (len(places) - number)
        tried = _search(system, case.checks, bound, until)
        if tried.refutation:
            return Violated(tried.refutation), _PointSystems(parameters, Closures(system), bound)
        searches.append(tried)
    listed = Enumeration(everywhere.closures, judge, everywhere.bound, deadline)
    for candidate in listed.candidates():
        system = at_point(case.system, case.domain, candidate.parameters)
        bound = value_at_point(everywhere.bound, case.domain, candidate.parameters)
        local = WeightJudge(replace(case.checks, domain=_constant_only(case.domain), obligations=[]))
        inputs, where = (candidate.left, candidate.right), InsertionPlace(candidate.place, candidate.event)
        refutation = evaluated(system, local, bound, inputs, where)
        if refutation:
            return Violated(refutation), _PointSystems(candidate.parameters, Closures(system), bound)
    end = End.TIMEOUT if time.monotonic() > deadline else End.GAVE_UP
    return Unknown(end, _tried(searches, graph, judge, listed)), everywhere


def _family(
    case: InteractiveCase, graph: PairGraph, judge: WeightJudge, costs: Costs, told: Progress
) -> Family | GivenFamily | Failure | None:
    """Returns the family of the case, the largest one of its δ and t, or else the one with the least t·δ.

    A family gives costs that are at most its (e^δ)^t. So without parameters there is none without costs.
    """
    bound = plain(case.ratio)
    if case.given is not None:
        return examine(graph.closures, case.given, judge, bound)
    if case.step is not None and case.steps is not None:
        step, one = plain(case.step), graph.closures.system.weights.one
        if not (judge.at_most(one, step) and judge.at_most(power(step, case.steps), one, bound)):
            return None
        return largest_family(graph.closures, step, case.steps, judge, graph)
    if costs.ratio is None and not case.domain.ring.parameters:
        return None
    least = None if case.domain.ring.parameters else costs.ratio
    return least_budget(graph, judge, bound, lambda done, total: told("families", done, total), least)


def accepted(closures: Closures, family: Family, judge: WeightJudge) -> bool:
    """Tells whether the published checks accept a family."""
    relations = family.relations()

    def within(left: Weight, right: Weight) -> bool:
        return judge.at_most(left, right, family.ratio) and judge.at_most(right, left, family.ratio)

    if is_all_covered(closures, relations[-1]) is not None:
        return False
    return is_unwinding_family(closures, relations, within) is None


def _search(system: System, checks: Checks, bound: Weight, deadline: float) -> TraceSearch:
    closures = Closures(system)
    judge = WeightJudge(replace(checks, domain=_constant_only(checks.domain), obligations=[]))
    one = system.weights.one
    try:
        costs = cheapest(closures, judge, bound)
    except LimitError:
        return search(closures, judge, bound, deadline=deadline)
    classes = costs.partition.classes

    def hopeful(pair: Pair, ratio: Weight) -> bool:
        left, right = classes.get(pair[0]), classes.get(pair[1])
        if left is None or right is None:
            return True
        cost = one if left == right else costs.kept.get((left, right))
        return cost is None or not judge.at_most(ratio * cost, one, bound)

    return search(closures, judge, bound, deadline=deadline, hopeful=hopeful)


def _constant_only(domain: Domain) -> Domain:
    """Returns the domain for comparisons at a point: nothing depends on the parameters any more."""
    return replace(domain, constraints=())


def _points(
    case: InteractiveCase, judge: WeightJudge, bound: Weight, deadline: float
) -> Iterator[tuple[dict[str, Fraction], System, Weight]]:
    """Yields points of the domain, the system there, and the bound there; claims that failed come first."""
    seen: list[dict[str, Fraction]] = []
    simple = simple_places(case, judge.refuted, POINTS)
    for place in chain(simple, boundary_places(case, deadline)):
        if not place.root and place.parameters not in seen:
            seen.append(place.parameters)
            at = value_at_point(bound, case.domain, place.parameters) if place.parameters else bound
            yield place.parameters, place.system, at


def value_at_point(weight: Weight, domain: Domain, point: dict[str, Fraction]) -> Weight:
    """Returns a weight at a point, as a number if it is one there."""
    function = as_function(weight, domain.ring)
    values = {name: point[name] for name in domain.ring.parameters}
    return plain(
        RationalFunction.of(substitute(function.numerator, values), substitute(function.denominator, values))
    )


def _tried(searches: list[TraceSearch], graph: PairGraph, judge: WeightJudge, listed: Enumeration) -> str:
    parts = ["no unwinding family and no costs within the bound were found"]
    if graph.uncovered:
        parts.append(graph.uncovered)
    if judge.open:
        parts.append(f"a comparison stayed open: {judge.open}")
    nodes, depth = sum(s.nodes for s in searches), max((s.depth for s in searches), default=0)
    where = f" at {len(searches)} points" if len(searches) > 1 else ""
    parts.append(f"no violation among {nodes:,} pairs of vectors{where}, up to {depth} inputs and outputs")
    if listed.length >= 0:
        parts.append(f"none found among the inputs of at most {listed.length + 1} points and queries")
    return "; ".join(parts)
