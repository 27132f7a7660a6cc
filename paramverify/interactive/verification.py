"""From a case of an interactive system to proof, counterexample or unknown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import RationalFunction, substitute
from paramverify.errors import LimitError, located
from paramverify.interactive.bounds import Judge, plain, power
from paramverify.interactive.cases import InteractiveCase
from paramverify.interactive.closure import Closures
from paramverify.interactive.costs import Costs, cheapest
from paramverify.interactive.evaluation import at_point
from paramverify.interactive.families import Family, largest_family, least_budget
from paramverify.interactive.pairs import PairGraph, pair_graph
from paramverify.interactive.refutation import Refutation, Search, search
from paramverify.interactive.unwinding import Pair, is_all_covered, is_unwinding_family
from paramverify.models.context import Checks, sample_points
from paramverify.models.systems.system import System
from paramverify.models.systems.weights import Weight, as_function
from paramverify.portfolio.obligations import Discharged, Proofs, require_point
from paramverify.portfolio.session import Options, Session

POINTS = 12  # points of the domain at which a refutation is looked for

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Report:
    """What was found about a case; `status` is holds, violated or unknown.

    `family` is an unwinding family within the bound, `costs` the sharper check; either proves the case. With
    a `refutation`, `parameters` is where it is one, and `system` and `bound` are those of that point.
    """

    status: str
    closures: Closures
    pairs: int
    family: Family | None
    costs: Costs | None
    refutation: Refutation | None
    parameters: dict[str, Fraction]
    bound: Weight
    claims: Proofs
    obligations: Proofs
    reason: str
    seconds: float


def verify(case: InteractiveCase, options: Options | None = None, progress: Progress | None = None) -> Report:
    """Decides whether the case has ε-differential noninterference at every point of its domain.

    It has if for all inputs w and w' that differ in one inserted data point, and every set S of observable
    traces, Pr(S | w) ≤ e^ε·Pr(S | w') and the other way round ([T]). `holds` only with an unwinding
    family, or costs, within the bound; `violated` only with probabilities that were evaluated anew.

    Raises:
        ModelError: the probabilities are none at some point of the domain.
        DomainError: the domain is empty.
        LimitError: too many pairs of states, or no point of the domain was found.
    """
    started = time.perf_counter()
    options = options or Options()
    deadline = time.monotonic() + options.seconds
    told = progress or (lambda what, done, total: None)
    with located(file=case.path), Session(options) as session:
        judge = Judge(case.checks, session)
        if nowhere := require_point(session, case):
            raise LimitError(nowhere.detail)
        bound = plain(case.ratio)
        closures = Closures(case.system, case.checks.positive)
        told("pairs", 0, 1)
        graph = pair_graph(closures)
        family = _family(case, graph, judge, bound, told)
        costs = cheapest(closures, judge, bound)
        done = Discharged()
        unproved = done.prove(session, case.checks.obligations)
        doubt = unproved.detail if unproved else ""
        proved = family is not None or costs.ratio is not None
        found = None
        where: dict[str, Fraction] = {}
        reason = doubt
        searches: list[Search] = []
        if not proved:
            for parameters, system, at_bound in _points(case, judge, bound):
                tried = _search(system, case.checks, at_bound, deadline)
                searches.append(tried)
                if tried.refutation:
                    found, bound, where = tried.refutation, at_bound, parameters
                    closures = Closures(system)
                    break
                if time.monotonic() > deadline:
                    break
            reason = doubt or (_tried(searches, graph, judge) if found is None else "")
    status = "unknown" if doubt else "holds" if proved else "violated" if found else "unknown"
    return Report(
        status=status,
        closures=closures,
        pairs=len(graph.pairs),
        family=family,
        costs=costs,
        refutation=found,
        parameters=where,
        bound=bound,
        claims=tuple(judge.decided.values()),
        obligations=tuple(done.proved),
        reason=reason,
        seconds=time.perf_counter() - started,
    )


def _family(
    case: InteractiveCase, graph: PairGraph, judge: Judge, bound: Weight, told: Progress
) -> Family | None:
    """Returns the largest family within the bound, of the δ and t of the case or the least of all."""
    if case.step is not None and case.steps is not None:
        step, one = plain(case.step), graph.closures.system.weights.one
        if not (judge.at_most(one, step) and judge.at_most(power(step, case.steps), one, bound)):
            return None
        return largest_family(graph.closures, step, case.steps, judge, graph)
    return least_budget(graph, judge, bound, lambda done, total: told("families", done, total))


def accepted(closures: Closures, family: Family, judge: Judge) -> bool:
    """Tells whether the published checks accept a family."""
    relations = family.relations()

    def within(left: Weight, right: Weight) -> bool:
        return judge.at_most(left, right, family.ratio) and judge.at_most(right, left, family.ratio)

    if is_all_covered(closures, relations[-1]) is not None:
        return False
    return is_unwinding_family(closures, relations, within) is None


def _search(system: System, checks: Checks, bound: Weight, deadline: float) -> Search:
    closures = Closures(system)
    judge = Judge(replace(checks, domain=_constant_only(checks.domain), obligations=[]))
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
    case: InteractiveCase, judge: Judge, bound: Weight
) -> Iterator[tuple[dict[str, Fraction], System, Weight]]:
    """Yields points of the domain, the system there, and the bound there; claims that failed come first."""
    names = case.domain.ring.parameters
    if not names:
        yield {}, case.system, bound
        return
    seen: set[tuple[Fraction, ...]] = set()
    chosen = [dict(point) for point in judge.refuted] + list(islice(sample_points(case.domain), POINTS))
    for point in chosen:
        values = tuple(point[name] for name in names)
        if values in seen:
            continue
        seen.add(values)
        parameters = dict(zip(names, values, strict=True))
        yield parameters, at_point(case.system, case.domain, point), value_at_point(bound, case.domain, point)


def value_at_point(weight: Weight, domain: Domain, point: dict[str, Fraction]) -> Weight:
    """Returns a weight at a point, as a number if it is one there."""
    function = as_function(weight, domain.ring)
    values = {name: point[name] for name in domain.ring.parameters}
    return plain(
        RationalFunction.of(substitute(function.numerator, values), substitute(function.denominator, values))
    )


def _tried(searches: list[Search], graph: PairGraph, judge: Judge) -> str:
    parts = ["no unwinding family and no costs within the bound"]
    if graph.uncovered:
        parts.append(graph.uncovered)
    if judge.open:
        parts.append(f"a comparison stayed open: {judge.open}")
    nodes, depth = sum(s.nodes for s in searches), max((s.depth for s in searches), default=0)
    where = f" at {len(searches)} points" if len(searches) > 1 else ""
    parts.append(f"no violation among {nodes:,} pairs of vectors{where}, up to {depth} inputs and outputs")
    return "; ".join(parts)
