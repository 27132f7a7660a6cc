"""Checks which multiples of ε are enough for an automaton over streams: a claimed one, some, or none.

The terms are explained in `automaton_runs`, and the parts of a document in the modules that check them.
Tables and ways are about differences of 1; all that is said of them is multiplied by the largest difference r
of an entry, because W(δ) is at most r·W.

proof, tables  A multiple is enough for every length: demands or tables bound the cost of all ways. If one
               entry differs, the automaton alone has such a multiple.
family         No multiple is enough.
least          Less than the cost of one way is not enough.
gap            The same of two streams of few values. Beside them a way is about entries of any numbers, and
               so is a family.
lengths        What is enough for streams of n inputs: tables bound all ways that read at most n, or it is
               enough for every length. Each length may have a way or a gap.

With a `claim`, the status says whether its multiple is enough (`holds`) or one way, a gap, or a family
exceeds it (`violated`). Without a claim, it says whether some multiple is enough. With the status `bounds`,
the document says which streams are compared (`streams`), and claims no multiple. In any case the report says
what is shown of the least one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .automaton_costs import bounded_by_length, bounded_by_tables, covered, least_cost, proved
from .automaton_runs import Machine, explore, machine, outputs_differ
from .automaton_ways import ANY, StreamEntries, check_family, entries_of, example, gap
from .evidence_shapes import BOUNDS, HOLDS, VIOLATED
from .ledger import Evidence, KernelReport, Statement
from .strict_reading import Rejected

MULTIPLES = {"proof", "tables", "family"}  # say which multiple is enough for every length, if any
PARTS = MULTIPLES | {"least", "gap", "lengths"}


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
    claim, streams = statement.get("claim"), statement.get("streams")
    if (status == BOUNDS) is not (streams is not None) or (streams and claim):
        raise Rejected("evidence about a budget, and only such evidence, must say which streams are compared")
    if "example" in statement and (status != VIOLATED or not claim):
        raise Rejected("an example is only allowed in evidence that a budget is violated")
    entries = entries_of(claim or streams or {})
    if read.whole and any(value.denominator > 1 for value in entries.values or ()):
        raise Rejected("noise is geometric, but an entry is not a whole number")
    asked, plus = (Fraction((claim or {}).get(name, "0")) for name in ("multiple", "plus"))
    if min(asked, plus) < 0:
        raise Rejected("a budget must be at least 0")
    lines, enough, cost = _parts(read, statement, entries, status)
    if status == HOLDS and (enough is None or (claim and enough > asked)):
        raise Rejected("the multiple that is shown is missing, or larger than the claimed one")
    # A way that costs more than `asked` costs more than asked·ε + plus for large ε.
    if status == VIOLATED and "family" not in statement and not (claim and cost > asked):
        raise Rejected("no way costs more than the multiple, and costs do not grow without limit")
    if streams or entries != ANY:
        lines = [entries.told, *lines]
    if "example" in statement:
        lines.append(example(read, statement["example"], entries, (asked, plus)))
    return lines


def _parts(
    read: Machine, statement: Statement, entries: StreamEntries, status: str
) -> tuple[list[str], Fraction | None, Fraction]:
    """Returns what the parts show in words; a multiple that is enough for every length; what some way costs.

    Raises:
        Rejected: they do not show it, or are about other streams.
    """
    parts, few = PARTS & statement.keys(), entries.values is not None
    if len(MULTIPLES & parts) > 1 or (entries.one and MULTIPLES & parts) or (parts and not entries.reach):
        raise Rejected("a multiple must be shown once; if at most one entry differs, by the automaton alone")
    if ("gap" in parts and not few) or ("family" in parts and few):
        raise Rejected("a gap requires entries of few values, and a family entries of any numbers")
    if status == VIOLATED and "family" not in parts and len(parts) > 1:
        raise Rejected("only one way may exceed the multiple, and nothing else may be shown")
    lines, enough, cost = [], None, Fraction(0)
    if not entries.reach:
        enough, what = entries.reach, "no two values are so near that an entry can differ"
    elif entries.one:
        enough, what = _of_one_entry(read), "one entry differs"
    elif "family" in parts:
        outputs_differ(read)
        gain, period = check_family(read, statement["family"])
        each = "each repetition costs" if period == 1 else f"each {period} repetitions cost"
        lines.append(f"family: {each} {gain * entries.reach} times epsilon more: no multiple is enough")
    elif parts & MULTIPLES:
        enough, what = _bound(read, statement)
    if enough is not None:
        enough *= entries.reach
        lines.append(f"{what}: {enough} times epsilon is enough, for every length")
    if "least" in parts:
        if enough is None and (status != VIOLATED or "family" in parts):
            raise Rejected("a way that needs a multiple is listed beside a proof that a multiple is enough")
        needed = _needed(read, "least", statement, entries, enough)
        lines.append(f"way: {len(statement['least']['steps'])} steps: no multiple below {needed} is enough")
        lines[-1] += _of_any(entries)
        cost = cost if few else needed
    if "gap" in parts:
        cost = _needed(read, "gap", statement, entries, enough)
        lines.append(f"way: {len(statement['gap']['steps'])} steps: {_for_two(cost)}")
    if "lengths" in parts:
        lines += _lengths(read, statement["lengths"], entries, enough)
    if not lines:
        raise Rejected("the evidence shows nothing about a budget")
    return lines, enough, cost


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


def _bound(read: Machine, statement: Statement) -> tuple[Fraction, str]:
    """Returns a multiple that is enough for every length, for differences of 1, and what shows it."""
    if "tables" in statement:
        tables = statement["tables"]
        return bounded_by_tables(read, tables, covered(read, tables)), f"tables: {len(tables['tables'])}"
    return proved(read, statement["proof"]), f"demands: {len(statement['proof']['demands'])}"


def _needed(read: Machine, name: str, part: Any, entries: StreamEntries, enough: Fraction | None) -> Fraction:
    """Returns a number below which no multiple is enough, by a way or a gap; `enough` is one that is."""
    outputs_differ(read)
    if name == "gap":
        cost = gap(read, part["gap"], entries)
    else:
        cost = least_cost(read, part["least"], entries.one) * entries.reach
    if enough is not None and cost > enough:
        raise Rejected("a way costs more than the multiple that is said to be enough")
    return cost


def _of_any(entries: StreamEntries) -> str:
    return "" if entries.values is None else " for entries of any numbers"


def _for_two(cost: Fraction) -> str:
    return f"for large epsilon no multiple below {cost} is enough for two streams"


def _lengths(read: Machine, data: Any, entries: StreamEntries, bound: Fraction | None) -> list[str]:
    """Returns what is shown of streams of single lengths; `bound` is enough for every length, if there."""
    known = None if bound is None else bound / entries.reach
    stated = bounded_by_length(read, data, covered(read, data), known, entries.one)
    return [
        _length(read, budget, entries, stated[budget["length"]] * entries.reach) for budget in data["budgets"]
    ]


def _length(read: Machine, budget: Any, entries: StreamEntries, enough: Fraction) -> str:
    line = f"length {budget['length']}: {enough} times epsilon is enough"
    if "least" in budget:
        cost = _needed(read, "least", budget, entries, enough)
        line += ", and no less is" if cost == enough else f", and no less than {cost} is"
        line += _of_any(entries)
    if "gap" in budget:
        if entries.values is None:
            raise Rejected("a gap is only allowed for entries with few values")
        line += f"; {_for_two(_needed(read, 'gap', budget, entries, enough))}"
    for name in {"least", "gap"} & budget.keys():
        if read.entries(budget[name]["steps"]) > budget["length"]:
            raise Rejected(f"a way needs more than {budget['length']} inputs")
    return line
