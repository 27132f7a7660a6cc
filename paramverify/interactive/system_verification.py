"""From a case of an interactive system to proof, counterexample or unknown, and to its tight budget.

The tight budget of an interactive system: costs from above, an evaluated pair of inputs from below.

The least costs (`step_costs`), or the least unwinding family where costs cannot be compared, bound every
ratio. Two inputs that differ in one data point, and an observation that is possible everywhere, have a ratio
that every budget must allow. Where both are the same function of the parameters, the budget is exact at every
point of the domain. Where ratios have no limit at one point of the domain, there is no budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import RationalFunction, Ring, substitute
from paramverify.algebra.real_roots import RealRoot, univariate
from paramverify.answers import End, Proved, Standing
from paramverify.errors import LimitError
from paramverify.interactive.closures import Closures
from paramverify.interactive.input_enumeration import (
    Enumeration,
    Parameters,
    SystemAtPoint,
    boundary_places,
    simple_places,
)
from paramverify.interactive.probability_bounds import NumberedQuotients, WeightJudge, plain, power
from paramverify.interactive.refutation import (
    InsertionPlace,
    LeakGrowth,
    Reach,
    Refutation,
    TraceSearch,
    at_point,
    evaluated,
    largest,
    probability,
    search,
)
from paramverify.interactive.step_costs import Costs, cheapest
from paramverify.interactive.system_cases import GivenFamily, InteractiveCase, examine
from paramverify.interactive.unwinding_families import (
    Failure,
    Family,
    Pair,
    PairGraph,
    is_all_covered,
    is_unwinding_family,
    largest_family,
    least_budget,
    pair_graph,
)
from paramverify.models.context import Checks
from paramverify.models.systems.transition_systems import System, Weight, as_function, is_zero
from paramverify.portfolio.obligations import Discharged, Proofs, require_point
from paramverify.portfolio.session import Options, Session, unasked
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


BUDGET_POINTS = 4  # points of the domain at which a large ratio is looked for
BUDGET_BOUNDARY = 0.25  # of the time that is left, for points of the boundary and for each of them
BEYOND = 10**300  # no ratio of a short search is so large, but that of an impossible observation
NODES = 20_000  # of such a search


@dataclass(frozen=True, eq=False)
class InteractiveBudget:
    """Bounds on e^ε of the least ε.

    `upper` is proved at every point of the domain, by `proof`. `lower` is the ratio of `leak`, whose right
    side is positive everywhere, or 1, as no ε is negative; all are functions of the parameters. Where right
    sides may be zero, `somewhere` says that `lower` is the ratio at the point `parameters`, a number. `exact`
    says that both bounds are the same, or are at that point. `growth`, or an impossible right side of `leak`
    at `parameters`, or at the irrational point `root`, says that there is no budget: `boundless`.
    """

    closures: Closures
    upper: Weight | None
    proof: Costs | Family | None
    lower: Weight | None
    leak: Refutation | None
    growth: LeakGrowth | None
    boundless: bool
    exact: bool
    parameters: Parameters
    claims: Proofs
    obligations: Proofs
    seconds: float
    somewhere: bool = False
    root: dict[str, RealRoot] = field(default_factory=dict)


def tight_budget(
    case: InteractiveCase,
    options: Options | None = None,
    told: Callable[[InteractiveBudget], None] | None = None,
) -> InteractiveBudget:
    """Returns bounds on the least ε of a case, whatever its own bound is; `told` gets better and better ones.

    Raises:
        ModelError: the probabilities are none at some point of the domain.
        DomainError: the domain is empty.
        LimitError: an obligation stays open, too many pairs, or no point of the domain was found.
    """
    started = time.perf_counter()
    options = options or Options()
    deadline = time.monotonic() + options.seconds
    with in_case(case.path, case.text), Session(options) as session:
        judge = WeightJudge(case.checks, session)
        if nowhere := require_point(session, case):
            raise LimitError(nowhere.detail)
        closures = Closures(case.system, case.checks.positive)
        upper, proof = _upper(closures, judge, plain(case.ratio), time.monotonic() + options.seconds / 2)
        done = Discharged()
        if doubt := done.prove(session, case.checks.obligations):
            raise LimitError(f"the model is in doubt: {doubt.detail}")
        start = _start(case, closures, upper, proof)
        found = _lower(case, judge, start, deadline, told or (lambda found: None))
    return replace(
        found,
        claims=tuple(judge.decided.values()),
        obligations=tuple(done.proved),
        seconds=time.perf_counter() - started,
    )


def _upper(
    closures: Closures, judge: WeightJudge, offered: Weight, deadline: float
) -> tuple[Weight | None, Costs | Family | None]:
    try:
        costs = cheapest(closures, judge, None, deadline=deadline)
    except LimitError:
        return None, None  # the costs may grow for ever, and so would the levels of a family
    if costs.ratio is not None:
        return costs.ratio, costs
    graph = pair_graph(closures, NumberedQuotients(judge, closures.system.weights.one))
    family = least_budget(graph, judge, offered=offered)
    return (None, None) if family is None else (power(family.ratio, family.steps), family)


def _start(
    case: InteractiveCase, closures: Closures, upper: Weight | None, proof: Costs | Family | None
) -> InteractiveBudget:
    """Returns what is known before anything is looked for: no ε is negative."""
    one, ring = case.system.weights.one, case.domain.ring
    return InteractiveBudget(
        closures,
        upper=upper,
        proof=proof,
        lower=one,
        leak=None,
        growth=None,
        boundless=False,
        exact=upper is not None and as_function(upper, ring) == as_function(one, ring),
        parameters={},
        claims=(),
        obligations=(),
        seconds=0.0,
    )


def _lower(
    case: InteractiveCase,
    judge: WeightJudge,
    best: InteractiveBudget,
    deadline: float,
    told: Callable[[InteractiveBudget], None],
) -> InteractiveBudget:
    """Looks for a large ratio at points of the domain, and for one without a limit."""
    upper = best.upper
    for place, until in _places(case, judge, upper is None, deadline):
        told(best)
        if best.exact or time.monotonic() > deadline:
            break
        parameters = place.parameters
        own = WeightJudge(replace(case.checks, domain=replace(case.domain, constraints=()), obligations=[]))
        if place.root:
            impossible = _impossible(case, own, place, until)
            if impossible is not None:
                return _boundless(best, best.closures, impossible, place)
            continue
        ceiling = None if upper is None else value_at_point(upper, case.domain, parameters)
        here = Closures(place.system) if parameters else best.closures
        reach = _reach(case, best.proof, parameters)
        leak = largest(here, own, reach, ceiling, deadline=until)
        if leak.boundless:
            return _boundless(best, here, leak.refutation if leak.growth is None else leak.growth, place)
        if leak.refutation is not None:
            other = _with_leak(best, judge, _everywhere(case, leak.refutation), parameters)
            other = other or _with_leak_here(best, case.domain.ring, leak.refutation, ceiling, parameters)
            best = _better(best, other, judge)
    return best


def _places(
    case: InteractiveCase, judge: WeightJudge, boundary: bool, deadline: float
) -> Iterator[tuple[SystemAtPoint, float]]:
    """Yields points of the domain, each with the time at which its search ends; those of the boundary first.

    Where an upper bound is proved, no observation is impossible with one of two inputs, and no point of the
    boundary is looked at. It has some of the time only: large systems have large ratios elsewhere.
    """

    def share(part: float) -> float:
        now = time.monotonic()
        return now + part * (deadline - now)

    if boundary:
        for place in boundary_places(case, share(BUDGET_BOUNDARY)):
            yield place, share(BUDGET_BOUNDARY)
    for place in simple_places(case, judge.refuted, BUDGET_POINTS + len(judge.refuted)):
        yield place, deadline


def _boundless(
    best: InteractiveBudget, closures: Closures, why: Refutation | LeakGrowth | None, place: SystemAtPoint
) -> InteractiveBudget:
    """Returns that there is no budget, with an impossible observation or a way by which the ratio grows."""
    return replace(
        best,
        closures=closures,
        upper=None,
        proof=None,
        lower=None,
        leak=why if isinstance(why, Refutation) else None,
        growth=why if isinstance(why, LeakGrowth) else None,
        boundless=True,
        parameters=place.parameters,
        root=place.root,
    )


def _impossible(
    case: InteractiveCase, own: WeightJudge, place: SystemAtPoint, deadline: float
) -> Refutation | None:
    """Returns an observation that is impossible with one of two inputs at an irrational point.

    The probabilities are functions of the parameter; only that on the right is zero at the point.
    """
    bound = place.system.weights.of(BEYOND)
    found = search(Closures(place.system), own, bound, deadline=deadline, nodes=NODES).refutation
    if found is None or not is_zero(found.probabilities[1]):
        return None
    leak = _everywhere(case, found)
    (root,) = place.root.values()
    left, right = (univariate(as_function(p, case.domain.ring).numerator) for p in leak.probabilities)
    return leak if left % root.factor and not right % root.factor else None


def _reach(case: InteractiveCase, proof: Costs | Family | None, parameters: Parameters) -> Reach:
    """Returns how much a pair of states may still gain, by the costs of its classes."""
    if not isinstance(proof, Costs):
        return lambda pair: None
    classes, one = proof.partition.classes, case.system.weights.one
    known: dict[Pair, Weight | None] = {}

    def reach(pair: Pair) -> Weight | None:
        if pair not in known:
            left, right = classes.get(pair[0]), classes.get(pair[1])
            cost = None
            if left is not None and right is not None:
                cost = one if left == right else proof.kept.get((left, right))
            if cost is not None and parameters:
                cost = value_at_point(cost, case.domain, parameters)
            known[pair] = cost
        return known[pair]

    return reach


def _everywhere(case: InteractiveCase, leak: Refutation) -> Refutation:
    """Returns the same inputs and observation with their probabilities as functions of the parameters."""
    sides = (probability(case.system, inputs, leak.event) for inputs in (leak.left, leak.right))
    return replace(leak, probabilities=(next(sides), next(sides)))


def _with_leak(
    best: InteractiveBudget, judge: WeightJudge, leak: Refutation, parameters: Parameters
) -> InteractiveBudget | None:
    left, right = leak.probabilities
    if not judge.positive(right):
        return None
    lower = left / right
    ring = judge.domain.ring
    exact = best.upper is not None and as_function(lower, ring) == as_function(best.upper, ring)
    return replace(best, lower=lower, leak=leak, exact=exact, parameters=parameters, somewhere=False)


def _with_leak_here(
    best: InteractiveBudget, ring: Ring, leak: Refutation, ceiling: Weight | None, parameters: Parameters
) -> InteractiveBudget:
    """Returns the lower bound at one point; it is exact if an upper bound without parameters is reached."""
    left, right = leak.probabilities
    lower = left / right
    ends = [None if w is None else as_function(w, ring) for w in (lower, ceiling, best.upper)]
    exact = ends[0] == ends[1] == ends[2]
    return replace(best, lower=lower, leak=leak, exact=exact, parameters=parameters, somewhere=True)


def _better(best: InteractiveBudget, other: InteractiveBudget, judge: WeightJudge) -> InteractiveBudget:
    """Returns the one with the larger lower bound.

    Where they cannot be compared it is the new one, unless that is about one point only.
    """
    if other.exact:
        return other
    larger = judge.at_most(best.lower, other.lower) if other.somewhere else True
    return other if larger and not judge.at_most(other.lower, best.lower) else best
