"""The tight budget of an interactive system: costs from above, an evaluated pair of inputs from below.

The least costs (`costs`), or the least unwinding family where costs cannot be compared, bound every ratio.
Two inputs that differ in one data point, and an observation that is possible everywhere, have a ratio that
every budget must allow. Where both are the same function of the parameters, the budget is exact at every
point of the domain. Where ratios have no limit at one point of the domain, there is no budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from paramverify.algebra.polynomials import Ring
from paramverify.errors import LimitError, located
from paramverify.interactive.bounds import Judge, plain, power
from paramverify.interactive.cases import InteractiveCase
from paramverify.interactive.closure import Closures
from paramverify.interactive.costs import Costs, cheapest
from paramverify.interactive.evaluation import at_point, probability
from paramverify.interactive.families import Family, least_budget
from paramverify.interactive.leaks import Growth, Reach, largest
from paramverify.interactive.pairs import pair_graph
from paramverify.interactive.quotients import Quotients
from paramverify.interactive.refutation import Refutation
from paramverify.interactive.unwinding import Pair
from paramverify.interactive.verification import value_at_point
from paramverify.models.context import sample_points
from paramverify.models.systems.system import System
from paramverify.models.systems.weights import Weight, as_function
from paramverify.portfolio.obligations import Discharged, Proofs, require_point
from paramverify.portfolio.session import Options, Session

POINTS = 4  # points of the domain at which a large ratio is looked for

Parameters = dict[str, Fraction]


@dataclass(frozen=True, eq=False)
class InteractiveBudget:
    """Bounds on e^ε of the least ε.

    `upper` is proved at every point of the domain, by `proof`. `lower` is the ratio of `leak`, whose right
    side is positive everywhere, or 1, as no ε is negative; all are functions of the parameters. Where right
    sides may be zero, `somewhere` says that `lower` is the ratio at the point `parameters`, a number. `exact`
    says that both bounds are the same, or are at that point. `growth`, or an impossible right side of `leak`
    at `parameters`, says that there is no budget: `boundless`.
    """

    closures: Closures
    upper: Weight | None
    proof: Costs | Family | None
    lower: Weight | None
    leak: Refutation | None
    growth: Growth | None
    boundless: bool
    exact: bool
    parameters: Parameters
    claims: Proofs
    obligations: Proofs
    seconds: float
    somewhere: bool = False


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
    with located(file=case.path), Session(options) as session:
        judge = Judge(case.checks, session)
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
    closures: Closures, judge: Judge, offered: Weight, deadline: float
) -> tuple[Weight | None, Costs | Family | None]:
    try:
        costs = cheapest(closures, judge, None, deadline=deadline)
    except LimitError:
        return None, None  # the costs may grow for ever, and so would the levels of a family
    if costs.ratio is not None:
        return costs.ratio, costs
    graph = pair_graph(closures, Quotients(judge, closures.system.weights.one))
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
    judge: Judge,
    best: InteractiveBudget,
    deadline: float,
    told: Callable[[InteractiveBudget], None],
) -> InteractiveBudget:
    """Looks for a large ratio at points of the domain, and for one without a limit."""
    upper = best.upper
    for parameters, system in _places(case):
        told(best)
        if best.exact or time.monotonic() > deadline:
            break
        own = Judge(replace(case.checks, domain=replace(case.domain, constraints=()), obligations=[]))
        ceiling = None if upper is None else value_at_point(upper, case.domain, parameters)
        here = Closures(system) if parameters else best.closures
        reach = _reach(case, best.proof, parameters)
        leak = largest(here, own, reach, ceiling, deadline=deadline)
        if leak.boundless:
            impossible = leak.refutation if leak.growth is None else None
            return replace(
                best,
                closures=here,
                upper=None,
                proof=None,
                lower=None,
                leak=impossible,
                growth=leak.growth,
                boundless=True,
                parameters=parameters,
            )
        if leak.refutation is not None:
            other = _with_leak(best, judge, _everywhere(case, leak.refutation), parameters)
            other = other or _with_leak_here(best, case.domain.ring, leak.refutation, ceiling, parameters)
            best = _better(best, other, judge)
    return best


def _places(case: InteractiveCase) -> Iterator[tuple[Parameters, System]]:
    names = case.domain.ring.parameters
    if not names:
        yield {}, case.system
        return
    for point in islice(sample_points(case.domain), POINTS):
        yield {name: point[name] for name in names}, at_point(case.system, case.domain, point)


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
    best: InteractiveBudget, judge: Judge, leak: Refutation, parameters: Parameters
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


def _better(best: InteractiveBudget, other: InteractiveBudget, judge: Judge) -> InteractiveBudget:
    """Returns the one with the larger lower bound.

    Where they cannot be compared it is the new one, unless that is about one point only.
    """
    if other.exact:
        return other
    larger = judge.at_most(best.lower, other.lower) if other.somewhere else True
    return other if larger and not judge.at_most(other.lower, best.lower) else best
