"""Checks that an automaton over streams is private for a multiple of ε, or for none: standard library only.

A state with rate d draws x + mean + Lap(1/(d·ε)), where x is the next input, or 0 if it reads none. If noise
is geometric, Pr(k) is proportional to exp(-d·ε·|k|) on whole numbers, and sums take the place of integrals. A
transition is taken if the sample lies above and below stored values. The probabilities of a way (a sequence
of transitions, with densities where a sample is put out) under streams α and β with |α_k − β_k| ≤ 1 are
compared.

**Private** (`holds`). Fix a way and both streams, and move the k-th sample by s_k in [-1, 1]. If s respects
the order in which the way compares samples, and is 0 where a sample is put out, the way under α becomes the
way under β, and each density falls by a factor of exp(d·ε·|s_k + α_k − β_k|) at most, or exp(d·ε·|s_k|)
where nothing is read. So Pr_α(way) ≤ exp(W·ε)·Pr_β(way) with the sum W of these costs; d·ε comes for
insample' besides. The least W is convex in α − β, so differences ±1 are enough. The document has classes
that cover all ways that are possible, and demands: a class, a set Z of shifts of the stored values, and a
weight. Each link from a demand to the next is checked: from any shifts in Z, and for each difference ±1, a
shift of the new sample within the level keeps the order and leads into the next set; the weight falls by
the cost. For each edge and each demand at its end there is a link. So from the end of any way to its
beginning there is a chain of demands, and its first weight bounds W.

**Tables** (`tables`) show the same from the beginning of ways: see `automaton_tables`.

**Not private** (`violated`). Let W be the least Σ d·|s_k − δ_k| over ordered shifts s, with 0 for what is
put out. For τ = 0, 1, 2, ... let a(τ) = ln Pr(way) under the stream τ·δ, for densities too. As τ grows,
a(τ)/τ goes to −ε·W, for every ε: the most likely samples are τ times the best shifts, but for a bounded
distance. Each a(τ) − a(τ+1) is at most ε·W, and their average goes to it. So some come as near to ε·W as one
likes: whatever ε is, no multiple below W is enough. The document has a way with repeated parts and a chain
of samples, each below the next one in every repetition, whose ends want shifts in the wrong order: each
repetition adds to the cost. Outputs tell the way, which is checked; so probabilities of ways are
probabilities of outputs.

**One multiple** (`claim`) is shown to be enough, or to be exceeded by one way. Where one entry differs, all
of this is said about differences with one ±1 and 0 elsewhere (W is convex with W(0) = 0).

**Few values** (`gap`): see `automaton_gaps`. If entries differ by r at most, W(δ) is at most r·W.

**Least multiple** (`least`). A way with differences δ, and two flows along its order: flows between samples
that want 1 and those that want less, and between those that want 0 or more and those that want -1, within
the rates. For every t in (0, 1) the samples with s > t are closed upwards, so that their cut is at least
the first flow; for t in (-1, 0) the second one. The integral over t is the cost.

**Lengths** (`lengths`): tables that bound all ways that read at most n inputs, and ways that need as much.
"""

from __future__ import annotations

if __name__ == "__main__":  # this file alone checks nothing: the folder does
    __import__("runpy").run_path(__import__("os").path.split(__file__)[0] or ".", run_name="__main__")

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import automaton_shapes
from .automaton_examples import example
from .automaton_families import check_family
from .automaton_gaps import Entries, entries_of, gap
from .automaton_least import least_cost
from .automaton_runs import Machine, explore, first_order, machine, outputs_differ
from .automaton_tables import bounded_by_length, bounded_by_tables
from .claims import Report
from .strict import Rejected, check

FORMAT, VERSION = "paramverify-automaton", 1
PARTS = {"proof", "tables", "family", "least", "lengths", "gap"}  # what shows something


def check_document(document: Any, expected: Any = None) -> Report:
    """Checks a document; `expected`, if given, is the automaton of the file in the same form."""
    try:
        check(document, automaton_shapes.AUTOMATON)
        if expected is not None and document["automaton"] != expected:
            raise Rejected("the evidence is about another automaton")
        lines = _check(document)
    except Rejected as error:
        return Report(False, (f"rejected: {error}",))
    return Report(True, tuple(lines), proved=1, status=document["status"])


def _check(document: Any) -> list[str]:
    read = machine(document["automaton"])
    claim = document.get("claim")
    if claim is None:
        if {"example", "gap"} & document.keys():
            raise Rejected("an example, and streams of few values, are about one budget")
        return _some_multiple(read, document)[0]
    if Fraction(claim["multiple"]) < 0 or Fraction(claim.get("plus", "0")) < 0:
        raise Rejected("a budget is 0 or more")
    entries = entries_of(claim)
    if read.whole and any(value.denominator > 1 for value in entries.values or ()):
        raise Rejected("noise is geometric, and an entry is not a whole number")
    lines = _claimed(read, document, Fraction(claim["multiple"]), entries)
    if "example" in document:
        if document["status"] != "violated":
            raise Rejected("an example is about a violation")
        budget = Fraction(claim["multiple"]), Fraction(claim.get("plus", "0"))
        lines.append(example(read, document["example"], entries, budget))
    return lines


def _claimed(read: Machine, document: Any, asked: Fraction, entries: Entries) -> list[str]:
    """Checks what is said of one budget: it is enough, or a way costs more, or ways without bound do.

    The claim is asked·ε + plus. All costs are multiplied by the largest difference of an entry. Where a way
    costs more than `asked`, it costs more than both together for large ε.
    """
    one, reach = entries.one, entries.reach
    parts = {"proof", "tables", "family"} & document.keys()
    if not reach:
        if document["status"] != "holds" or PARTS & document.keys():
            raise Rejected("no entry can differ: there is nothing to prove")
        return ["no two values are so near that an entry can differ: private with 0 times epsilon"]
    if document["status"] == "violated" and entries.values is not None:
        if PARTS & document.keys() != {"gap"}:
            raise Rejected("streams of these values exceed the multiple, and there is nothing else")
        outputs_differ(read, explore(read))
        cost = gap(read, document["gap"], entries)
        if cost <= asked:
            raise Rejected("the way does not get likelier than the multiple says")
        steps = len(document["gap"]["steps"])
        return [f"way: {steps} steps: for large epsilon no multiple below {cost} is enough for two streams"]
    if "gap" in document:
        raise Rejected("streams of few values are for a violation by these")
    if document["status"] == "violated" and (one or not parts):
        if PARTS & document.keys() != {"least"}:
            raise Rejected("one way exceeds the multiple, and there is nothing else")
        outputs_differ(read, explore(read))
        cost = least_cost(read, document["least"], one) * reach
        if cost <= asked:
            raise Rejected("the way does not cost more than the multiple")
        return [f"way: {len(document['least']['steps'])} steps: no multiple below {cost} is enough"]
    if one:
        if PARTS & document.keys():
            raise Rejected("where one entry differs, the automaton alone has the bound")
        bound = _of_one_entry(read) * reach
        lines = [f"one entry differs: private with {bound} times epsilon, for every length"]
    else:
        lines, bound = _some_multiple(read, document, entries.values is not None)
        if reach != 1:
            bound *= reach
            lines.append(f"entries differ by {reach} at most: all of this is multiplied by {reach}")
    if document["status"] == "holds" and bound > asked:
        raise Rejected("the multiple that is shown is larger than the claimed one")
    return lines


def _of_one_entry(read: Machine) -> Fraction:
    """Returns what one entry costs at most: without shifts its rate, or 0 where its sample is not used.

    Nothing is moved. So the density of the sample of the entry that differs falls by exp(d·ε) at most, and
    that of insample' by exp(d'·ε). A sample that is not compared, not stored for later and not put out is
    moved alone, for nothing.
    """
    bound = Fraction(0)
    for order in explore(read):
        for number, after in read.following(order):
            step = read.steps[number]
            state = read.states[step.source]
            used = step.above | step.below | (step.stored & after.known) or step.output == "insample"
            if state.reads:
                bound = max(bound, (state.rate if used else Fraction(0)) + read.second_cost(step))
    return bound


def _some_multiple(read: Machine, document: Any, few: bool = False) -> tuple[list[str], Fraction]:
    """Checks that some multiple is enough, or none; returns it, and 0 if there is none.

    A way shows that less is not enough for entries of any numbers. Less may be enough for `few` values.
    """
    whom = " for entries of any numbers" if few else ""
    if document["status"] == "violated":
        if {"proof", "tables"} & document.keys() or "family" not in document:
            raise Rejected("a violation has a family, and no proof")
        if "least" in document:
            raise Rejected("no multiple is enough, so none is the least one")
        outputs_differ(read, explore(read))
        gain, period = check_family(read, document["family"])
        each = "each repetition costs" if period == 1 else f"each {period} repetitions cost"
        told = [f"family: {each} {gain} times epsilon more: no multiple of epsilon is enough"]
        return [*told, *_lengths(read, document, whom)], Fraction(0)
    if len({"proof", "tables"} & document.keys()) != 1 or "family" in document:
        raise Rejected("privacy has one proof, and no family")
    if "tables" in document:
        edges, following = _classes(read, document["tables"])
        _covered(read, document["tables"]["classes"], following)
        bound = bounded_by_tables(read, document["tables"], edges)
    else:
        bound = _proved(read, document["proof"])
    kind = "tables" if "tables" in document else "demands"
    count = len(document.get("proof", document.get("tables"))[kind])
    lines = [f"{kind}: {count}: private with {bound} times epsilon, for every length"]
    if "least" in document:
        outputs_differ(read, explore(read))
        cost = least_cost(read, document["least"])
        lines.append(
            f"way: {len(document['least']['steps'])} steps: no multiple below {cost} is enough{whom}"
        )
        if cost > bound:
            raise Rejected("a way costs more than the bound")
    return [*lines, *_lengths(read, document, whom)], bound


def _lengths(read: Machine, document: Any, whom: str) -> list[str]:
    """Returns what is shown of streams of single lengths; ways are about entries of `whom`."""
    if "lengths" not in document:
        return []
    data = document["lengths"]
    edges, following = _classes(read, data)
    _covered(read, data["classes"], following)
    lines = []
    multiples = bounded_by_length(read, data, edges)
    for budget in data["budgets"]:
        length, enough = budget["length"], multiples[budget["length"]]
        line = f"length {length}: {enough} times epsilon is enough"
        if "least" in budget:
            outputs_differ(read, explore(read))
            steps = budget["least"]["steps"]
            if least_cost(read, budget["least"]) != enough:
                raise Rejected(f"a way does not need the budget of length {length}")
            if sum(read.states[read.steps[number].source].reads for number in steps) > length:
                raise Rejected(f"a way reads more than {length} inputs")
            line += f", and no less is{whom}"
        lines.append(line)
    return lines


@dataclass(frozen=True)
class _Demand:
    """A class, bounds and pairs of shifts, and a weight."""

    place: int
    low: dict[int, int]
    high: dict[int, int]
    pairs: frozenset[tuple[int, int]]
    weight: Fraction

    def at_most(self, one: int | tuple[int, ...], other: int | tuple[int, ...]) -> bool:
        """Tells whether one shift is at most another one for all shifts; a number is given as a tuple."""
        most = one[0] if isinstance(one, tuple) else self.high.get(one, 1)
        least = other[0] if isinstance(other, tuple) else self.low.get(other, -1)
        return most <= least or one == other or (one, other) in self.pairs


def _demand(data: Any, variables: int, classes: int) -> _Demand:
    low, high = {}, {}
    for variable, least, most in data["bounds"]:
        if not 0 <= variable < variables or variable in low or not -1 <= least <= most <= 1:
            raise Rejected("a demand has a bound that is none")
        low[variable], high[variable] = least, most
    pairs = frozenset((x, y) for x, y in data["pairs"])
    if any(not 0 <= v < variables for pair in pairs for v in pair):
        raise Rejected("a demand is about a variable that is not there")
    weight = Fraction(data["weight"])
    if not 0 <= data["class"] < classes or weight < 0:
        raise Rejected("a demand has no class, or a negative weight")
    return _Demand(data["class"], low, high, pairs, weight)


def _possible(demand: _Demand) -> bool:
    """Tells whether some shifts are in the set of a demand: the least ones, if any."""
    least = dict(demand.low)
    for _ in range(len({v for pair in demand.pairs for v in pair}) + 1):
        for x, y in demand.pairs:
            least[y] = max(least.get(y, -1), least.get(x, -1))
    ordered = all(least.get(x, -1) <= least.get(y, -1) for x, y in demand.pairs)
    return ordered and all(value <= demand.high.get(v, 1) for v, value in least.items())


def _proved(read: Machine, proof: Any) -> Fraction:
    """Returns the multiple that is shown."""
    classes = proof["classes"]
    edges, following = _classes(read, proof)
    _covered(read, classes, following)
    demands = [_demand(data, read.variables, len(classes)) for data in proof["demands"]]
    if {demand.place for demand in demands} != set(range(len(classes))):
        raise Rejected("a class has no demand: a way that ends there is not covered")
    links: set[tuple[int, int]] = set()
    for source, target, edge, level in proof["links"]:
        if not (0 <= source < len(demands) and 0 <= target < len(demands) and 0 <= edge < len(edges)):
            raise Rejected("a link is between demands that are not there")
        _check_link(read, demands[source], demands[target], edges[edge], level)
        links.add((edge, target))
    for number, (_, target, _) in enumerate(edges):
        for k, demand in enumerate(demands):
            if demand.place == target and (number, k) not in links:
                raise Rejected(f"edge {number} has no link to demand {k}")
    first = [demand for demand in demands if demand.place == 0]
    if not all(map(_possible, first)):
        raise Rejected("a demand at the beginning has no shifts")
    bound = Fraction(proof["multiple"])
    if any(demand.weight > bound for demand in first):
        raise Rejected("the multiple is smaller than a weight at the beginning")
    return bound


def _classes(read: Machine, proof: Any) -> tuple[list[tuple[int, ...]], dict[tuple[int, int], int]]:
    """Returns the edges between classes, and where each transition leads from each class."""
    classes = proof["classes"]
    edges = [tuple(edge) for edge in proof["edges"]]
    following: dict[tuple[int, int], int] = {}
    for source, target, number in edges:
        if not (0 <= source < len(classes) and 0 <= target < len(classes) and 0 <= number < len(read.steps)):
            raise Rejected("an edge is between classes that are not there")
        if following.setdefault((source, number), target) != target:
            raise Rejected("a transition leads from one class to two")
    return edges, following


def _covered(read: Machine, classes: list[int], following: dict[tuple[int, int], int]) -> None:
    """Checks that every way that is possible is a way of classes, from class 0."""
    if not classes or classes[0] != 0:
        raise Rejected("class 0 is not one of the first state")
    seen = {(first_order(read), 0)}
    waiting = list(seen)
    for order, place in waiting:
        for number, after in read.following(order):
            target = following.get((place, number))
            if target is None or classes[target] != after.state:
                raise Rejected(f"class {place} has not transition {number}, which is possible")
            if (after, target) not in seen:
                seen.add((after, target))
                waiting.append((after, target))


def _check_link(read: Machine, now: _Demand, later: _Demand, edge: tuple[int, ...], level: int) -> None:
    """Checks that from all shifts of a demand a step leads to the next one, within a level."""
    step = read.steps[edge[2]]
    state = read.states[step.source]
    if now.place != edge[0] or later.place != edge[1]:
        raise Rejected("a link does not follow its edge")
    if not 0 <= level <= (2 if state.reads else 1):
        raise Rejected("a link has a level that is none")
    if now.weight < state.rate * level + read.second_cost(step) + later.weight:
        raise Rejected("a weight does not fall by the cost of a link")
    wanted = 1 if state.reads else 0
    lower: list[int | tuple[int, ...]] = [(-1,), *step.above]
    upper: list[int | tuple[int, ...]] = [(1,), *step.below]
    if step.output == "insample":
        lower, upper = [*lower, (0,)], [*upper, (0,)]
    for variable in later.low:
        ends: tuple[int, int] = (later.low[variable], later.high[variable])
        if variable in step.stored:
            lower, upper = [*lower, (ends[0],)], [*upper, (ends[1],)]
        elif not (now.at_most((ends[0],), variable) and now.at_most(variable, (ends[1],))):
            raise Rejected("a demand does not have the bounds of the next one")
    for x, y in later.pairs:
        if x in step.stored and y not in step.stored:
            upper.append(y)
        elif y in step.stored and x not in step.stored:
            lower.append(x)
        elif x not in step.stored and not now.at_most(x, y):
            raise Rejected("a demand does not have the pairs of the next one")
    free = all(now.at_most(low, high) for low in lower for high in upper)
    within = all(now.at_most(low, (level - wanted,)) for low in lower)
    if not (free and within and all(now.at_most((wanted - level,), high) for high in upper)):
        raise Rejected("a sample cannot be moved within its level")
