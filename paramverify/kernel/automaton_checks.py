"""Checks which multiples of ε are enough for an automaton over streams: a claimed one, some, or none.

The terms are explained in `automaton_runs`, and the parts of a document in the modules that check them.
Tables and ways are about differences of 1; all that is said of them is multiplied by the largest difference r
of an entry, because W(δ) is at most r·W.

proof, tables  A multiple is enough for every length: demands or tables bound the cost of all ways.
family         No multiple is enough.
least          Less than the cost of one way is not enough.
gap            The same of two streams of few values. Beside them a way is about entries of any numbers.
lengths        What is enough for streams of n inputs: tables bound all ways that read at most n, or it is
               enough for every length. Each length may have a way or a gap.

With a `claim`, the status says whether its multiple is enough (`holds`) or one way, a gap, or a family
exceeds it (`violated`). If one entry differs, the automaton alone has the bound for every length. Without a
claim, the status says whether some multiple is enough.

With the status `bounds`, the document says which streams are compared (`streams`), with the same parts. It
claims no multiple: the report says what is shown of the least one. For entries of few values a gap shows that
less is not enough, and a way shows nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .automaton_costs import bounded_by_length, bounded_by_tables, classes_of, covered, least_cost, proved
from .automaton_runs import Machine, explore, machine, outputs_differ
from .automaton_ways import ANY, StreamEntries, check_family, entries_of, example, gap
from .evidence_shapes import BOUNDS
from .ledger import Evidence, KernelReport, Statement
from .strict_reading import Rejected

# --- lengths ----------------------------------------------------------------------------------------


def lengths(
    read: Machine, document: Any, entries: StreamEntries, bound: Fraction | None, whom: str = ""
) -> list[str]:
    """Returns what is shown of streams of single lengths; ways are about entries of `whom`.

    `bound` is a multiple that is enough for every length and differences of 1, if one is shown.
    """
    if "lengths" not in document:
        return []
    data = document["lengths"]
    edges, following = classes_of(read, data)
    covered(read, data["classes"], following)
    multiples = bounded_by_length(read, data, edges, bound, entries.one)
    return [
        _length(read, budget, entries, multiples[budget["length"]] * entries.reach, whom)
        for budget in data["budgets"]
    ]


def _length(read: Machine, budget: Any, entries: StreamEntries, enough: Fraction, whom: str) -> str:
    length = budget["length"]
    line = f"length {length}: {enough} times epsilon is enough"
    if "least" in budget and "gap" in budget:
        raise Rejected("a way is about entries of any numbers, and a gap about few values")
    for name in {"least", "gap"} & budget.keys():
        steps = budget[name]["steps"]
        if not all(0 <= number < len(read.steps) for number in steps):
            raise Rejected("a way has a transition that is not there")
        if read.entries(steps) > length:
            raise Rejected(f"a way needs more than {length} inputs")
    if "gap" in budget:
        return f"{line}; {widest(read, budget['gap'], entries, enough)}"
    if "least" not in budget:
        return line
    if entries.values is not None:
        raise Rejected("a way shows nothing of entries of few values")
    outputs_differ(read, explore(read))
    cost = least_cost(read, budget["least"], entries.one) * entries.reach
    if cost > enough:
        raise Rejected(f"a way costs more than the budget of length {length}")
    return line + (", and no less is" if cost == enough else f", and no less than {cost} is") + whom


def widest(read: Machine, data: Any, entries: StreamEntries, enough: Fraction | None) -> str:
    """Checks a gap, and returns what is shown; `enough` is a multiple that is enough, if one is known."""
    if entries.values is None:
        raise Rejected("a gap is about entries of few values")
    outputs_differ(read, explore(read))
    cost = gap(read, data, entries)
    if cost <= 0:
        raise Rejected("a way does not get likelier under the first stream")
    if enough is not None and cost > enough:
        raise Rejected("a gap is wider than the multiple that is enough")
    return f"for large epsilon no multiple below {cost} is enough for two streams"


# --- automata ---------------------------------------------------------------------------------------

PARTS = {"proof", "tables", "family", "least", "lengths", "gap"}  # what shows something


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks what is said of an automaton.

    Raises:
        Rejected: it is not shown.
    """
    status = about.document["status"]
    missing = () if about.named else left(statement)
    said = "budget" if status == BOUNDS else status
    return KernelReport(True, tuple(_shown(statement, status)), 1, status=said, not_compared=missing)


def left(statement: Statement) -> tuple[str, ...]:
    """Returns what a statement about streams does not show alone."""
    if not {"claim", "streams"} & statement.keys():
        return ()
    return (f"the automaton{', the budget' * ('claim' in statement)} and the streams with the file",)


def _shown(statement: Statement, status: str) -> list[str]:
    read = machine(statement["automaton"])
    if (status == BOUNDS) is not ("streams" in statement):
        raise Rejected("evidence about a budget says which streams are compared, and no other does")
    if "streams" in statement:
        return _budget(read, statement)
    document = {**statement, "status": status}
    claim = document.get("claim")
    if claim is None:
        if {"example", "gap"} & document.keys():
            raise Rejected("an example, and streams of few values, are about one budget")
        return _some_multiple(read, document)[0]
    if Fraction(claim["multiple"]) < 0 or Fraction(claim.get("plus", "0")) < 0:
        raise Rejected("a budget is 0 or more")
    entries = entries_of(claim)
    _whole(read, entries)
    about = [entries.told] if entries != ANY else []
    lines = about + _claimed(read, document, Fraction(claim["multiple"]), entries)
    if "example" in document:
        if document["status"] != "violated":
            raise Rejected("an example is about a violation")
        budget = Fraction(claim["multiple"]), Fraction(claim.get("plus", "0"))
        lines.append(example(read, document["example"], entries, budget))
    return lines


def _whole(read: Machine, entries: StreamEntries) -> None:
    """Checks that entries are whole numbers where noise is."""
    if read.whole and any(value.denominator > 1 for value in entries.values or ()):
        raise Rejected("noise is geometric, and an entry is not a whole number")


def _claimed(read: Machine, document: Any, asked: Fraction, entries: StreamEntries) -> list[str]:
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
        return [_grows(read, document), *lengths(read, document, ANY, None, whom)], Fraction(0)
    if "family" in document:
        raise Rejected("privacy has one proof, and no family")
    bound, what = _bound(read, document)
    lines = [f"{what}: private with {bound} times epsilon, for every length"]
    if "least" in document:
        lines.append(_needed(read, document["least"], ANY, bound) + whom)
    return [*lines, *lengths(read, document, ANY, bound, whom)], bound


def _grows(read: Machine, document: Any, reach: Fraction = Fraction(1)) -> str:
    """Checks a family of ways, and returns what is shown."""
    outputs_differ(read, explore(read))
    gain, period = check_family(read, document["family"])
    each = "each repetition costs" if period == 1 else f"each {period} repetitions cost"
    return f"family: {each} {gain * reach} times epsilon more: no multiple of epsilon is enough"


def _bound(read: Machine, document: Any) -> tuple[Fraction, str]:
    """Returns a multiple that is enough for every length, for differences of 1, and what shows it."""
    if len({"proof", "tables"} & document.keys()) != 1:
        raise Rejected("privacy has one proof, and no family")
    if "tables" in document:
        edges, following = classes_of(read, document["tables"])
        covered(read, document["tables"]["classes"], following)
        bound = bounded_by_tables(read, document["tables"], edges)
        return bound, f"tables: {len(document['tables']['tables'])}"
    return proved(read, document["proof"]), f"demands: {len(document['proof']['demands'])}"


def _needed(read: Machine, data: Any, entries: StreamEntries, bound: Fraction) -> str:
    """Checks a way that needs a multiple, and returns what is shown; `bound` is one that is enough."""
    outputs_differ(read, explore(read))
    cost = least_cost(read, data, entries.one) * entries.reach
    if cost > bound:
        raise Rejected("a way costs more than the bound")
    return f"way: {len(data['steps'])} steps: no multiple below {cost} is enough"


def _budget(read: Machine, document: Any) -> list[str]:
    """Checks bounds of the least multiple for streams that are told, and returns what is shown.

    For entries of few values a gap shows that less is not enough, and nothing else does.
    """
    entries = entries_of(document["streams"])
    _whole(read, entries)
    parts, about = PARTS & document.keys(), entries.told
    if {"claim", "example"} & document.keys():
        raise Rejected("a budget is told of streams, and claims no other one")
    if not entries.reach:
        if parts:
            raise Rejected("no entry can differ: there is nothing to prove")
        return [about, "no two values are so near that an entry can differ: 0 times epsilon is enough"]
    few = entries.values is not None
    if ("least" in parts and few) or ("gap" in parts and not few):
        raise Rejected("a gap is about entries of few values, and a way about entries of any numbers")
    if not parts and not entries.one:
        raise Rejected("nothing is shown of a budget")
    bound: Fraction | None = None
    lines = [about]
    if entries.one:
        if {"proof", "tables", "family"} & parts:
            raise Rejected("where one entry differs, the automaton alone has the bound")
        bound = _of_one_entry(read)
        lines.append(f"one entry differs: {bound * entries.reach} times epsilon is enough, for every length")
    elif "family" in parts:
        if few or {"proof", "tables", "least"} & parts:
            raise Rejected("ways whose costs grow are about entries of any numbers, and there is no bound")
        lines.append(_grows(read, document, entries.reach))
    elif {"proof", "tables"} & parts:
        bound, what = _bound(read, document)
        lines.append(f"{what}: {bound * entries.reach} times epsilon is enough, for every length")
    if "least" in parts:
        if bound is None:
            raise Rejected("a way that needs a multiple is beside a proof that some is enough")
        lines.append(_needed(read, document["least"], entries, bound * entries.reach))
    if "gap" in parts:
        enough = None if bound is None else bound * entries.reach
        lines.append(widest(read, document["gap"], entries, enough))
    return [*lines, *lengths(read, document, entries, bound)]
