"""The tight budget of an interactive system: costs from above, an evaluated pair of inputs from below.

The least costs (`costs`), or the least unwinding family where costs cannot be compared, bound every ratio.
Two inputs that differ in one data point, and an observation that is possible everywhere, have a ratio that
every budget must allow. Where both are the same function of the parameters, the budget is exact at every
point of the domain. Where ratios have no limit at one point of the domain, there is no budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from paramverify.algebra.polynomials import Ring
from paramverify.algebra.realroots import RealRoot, univariate
from paramverify.errors import LimitError
from paramverify.interactive.bounds import WeightJudge, plain, power
from paramverify.interactive.cases import InteractiveCase
from paramverify.interactive.closure import Closures
from paramverify.interactive.costs import Costs, cheapest
from paramverify.interactive.evaluation import probability
from paramverify.interactive.families import Family, least_budget
from paramverify.interactive.leaks import LeakGrowth, Reach, largest
from paramverify.interactive.pairs import pair_graph
from paramverify.interactive.places import Parameters, SystemAtPoint, boundary_places, simple_places
from paramverify.interactive.quotients import NumberedQuotients
from paramverify.interactive.refutation import Refutation, search
from paramverify.interactive.unwinding import Pair
from paramverify.interactive.verification import value_at_point
from paramverify.models.systems.weights import Weight, as_function, is_zero
from paramverify.portfolio.obligations import Discharged, Proofs, require_point
from paramverify.portfolio.session import Options, Session
from paramverify.tables import in_case

POINTS = 4  # points of the domain at which a large ratio is looked for
BOUNDARY = 0.25  # of the time that is left, for points of the boundary and for each of them
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
        for place in boundary_places(case, share(BOUNDARY)):
            yield place, share(BOUNDARY)
    for place in simple_places(case, judge.refuted, POINTS + len(judge.refuted)):
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
