"""What is said of the least budgets of streams, for each length and for all, in words and as JSON data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from paramverify.algebra.decimals import at_least, at_most, relation
from paramverify.algebra.logarithms import outward
from paramverify.algebra.polynomials import RationalFunction
from paramverify.answers import Standing
from paramverify.automata import evidence
from paramverify.automata.automaton import Automaton
from paramverify.automata.cases import ComparedStreams, StreamCase
from paramverify.automata.chances import LossRange
from paramverify.automata.gaps import Gap
from paramverify.automata.lengths import Length
from paramverify.automata.one_place import OneReport
from paramverify.automata.programs import Streams, released
from paramverify.automata.tight import Budgets
from paramverify.checker.strict import counted
from paramverify.reports.automata import (
    between,
    evidence_document,
    notes,
    proof_parts,
    put_out,
    stream,
    way_text,
)
from paramverify.reports.automata import times as named

DIGITS = 9
LONGEST = 200  # characters of a formula in words


def lines(found: Budgets) -> list[str]:
    """Returns the budgets line by line."""
    told = [f"streams of every length: {_every(found)}."]
    for place, length in enumerate(found.shown):
        told += _length(found, length, found.losses[place] if found.losses else None)
    left = len(found.asked) - len(found.shown)
    if left:
        told.append(f"  {counted(left, 'length')} more: no budget was found in time.")
    if found.report.automaton.late and any(map(found.least, found.shown)):
        told.append("  Note: a turn goes on before it reads its entry. So a way may need the next entry, and")
        told.append("    what is not enough for a length is known from ways that read one entry less.")
    if not found.told_apart and not found.all_exact:
        told.append("  Note: outputs do not tell the way, so smaller budgets may be enough.")
    elif _few(found) and (found.lower or any(map(found.least, found.shown))):
        name = found.compared.name
        which = "smaller multiple" if found.all_exact else "multiple below the lower bound"
        told.append(f"  Note: a {which} fails for large {name}. It may be enough for a small {name},")
        told.append("    because entries have few values.")
        if found.epsilon is not None and (found.multiple is not None or found.shown):
            told.append(f"    At {name} = {found.epsilon} the numbers are enough, and less may be enough.")
    return told


def _few(found: Budgets) -> bool:
    """Tells whether a lower bound is about every ε together: at one ε less may be enough."""
    return found.compared.values is not None


def _every(found: Budgets) -> str:
    if found.standing is Standing.VIOLATED:
        name = found.compared.name
        return f"no multiple of {name} is enough, whatever {name} is"
    if found.multiple is None:
        if not found.lower:
            return "no bound is known"
        if _few(found):
            least, name = _bare(found, found.lower), found.compared.name
            return f"no bound is known; no multiple below {least} is enough for every {name}"
        return f"no bound is known; less than {_times(found, found.lower)} is not enough"
    return _between(found, found.lower, found.multiple)


def _between(found: Budgets, least: Fraction, enough: Fraction) -> str:
    """Returns both bounds in words."""
    most = _times(found, enough)
    if least == enough:
        if enough and _few(found):
            return f"{most}, and no smaller multiple is enough for every {found.compared.name}"
        return f"{most}, and no less is enough"
    low = _bare(found, least) if _few(found) else _times(found, least)
    return f"between {low} and {most}" if least else f"{most} is enough"


def _bare(found: Budgets, multiple: Fraction) -> str:
    return named(multiple, found.compared.name)


def _times(found: Budgets, multiple: Fraction) -> str:
    """Returns a multiple with its number at an ε; for few values this number is only enough."""
    if found.epsilon is None or not multiple:
        return _bare(found, multiple)
    number = multiple * found.epsilon
    if _few(found):
        at = f"{found.compared.name} = {found.epsilon}"
        return f"{_bare(found, multiple)} (at {at}: {at_most(number, DIGITS)} is enough)"
    return f"{_bare(found, multiple)} {relation(number, DIGITS)}"


def _length(found: Budgets, length: Length, loss: LossRange | None) -> list[str]:
    automaton, gap = found.report.automaton, found.gaps.get(length.inputs)
    enough, least = found.enough(length), found.least(length)
    what = _times(found, enough) if found.is_tight(length) else _between(found, least, enough)
    told = [f"  {counted(length.inputs, 'input')}: {what}"]
    steps = _steps(found, length)
    if steps is None:
        return told
    told[0] += f", by {way_text(automaton, steps)}"
    if loss is not None:
        told += _streams(loss.chances.streams)
        if released(automaton, steps):
            told.append(f"    {between(automaton)}")
        told.append(
            f"    The loss is at least {at_least(loss.low, DIGITS)}, with {', '.join(loss.chances.meant)}:"
        )
        first, second = map(_short, loss.chances.both)
        told += [f"    ln of {first}", f"    over {second}"]
    elif gap is not None:
        told += _streams(gap.streams)
    return told


def _streams(given: Streams) -> list[str]:
    return [f"    Streams: {stream(given.first)}; and: {stream(given.second)}"]


def _steps(found: Budgets, length: Length) -> tuple[int, ...] | None:
    """Returns the way that shows that less is not enough for a length, if there is one."""
    gap = found.gaps.get(length.inputs)
    if not found.least(length):
        return None
    return gap.steps if gap is not None else None if length.way is None else length.way.steps


def _short(chance: RationalFunction) -> str:
    """Returns a formula; of a long one what it begins with."""
    told = str(chance)
    if len(told) <= LONGEST:
        return told
    begun = told[:LONGEST].rpartition(" ")[0]
    return f"{begun} ... ({len(told):,} characters: --json has them all)"


def document(found: Budgets) -> dict[str, Any]:
    """Returns the budgets as JSON data."""
    report, compared = found.report, found.compared
    told: dict[str, Any] = {
        "status": found.standing.value,
        "exact": found.complete,
        "multiple": None if found.multiple is None else str(found.multiple),
        "multiple_lower": str(found.lower) if found.told_apart or found.exact else None,
        "infinite": found.standing is Standing.VIOLATED,
        "lengths": [_entry(found, place) for place in range(len(found.shown))],
    }
    if found.epsilon is not None:
        told["epsilon"] = str(found.epsilon)
    if report.confused:
        told["confused"] = [report.graph.edges[k].transition for k in report.confused]
    if compared.values is not None:
        told["values"] = _texts(compared.values)
        if found.gap is not None:
            told["gap"] = _gap(found.gap)
    return told


def _entry(found: Budgets, place: int) -> dict[str, Any]:
    length = found.shown[place]
    told: dict[str, Any] = {
        "inputs": length.inputs,
        "multiple": str(found.enough(length)),
        "multiple_lower": str(found.least(length)) if found.told_apart or found.is_tight(length) else None,
        "tight": found.is_tight(length),
    }
    if length.inputs in found.gaps:
        told["gap"] = _gap(found.gaps[length.inputs])
    elif length.way is not None and found.told_apart and found.compared.values is None:
        told["way"] = {"steps": list(length.way.steps), "signs": list(length.way.signs)}
    loss = found.losses[place] if found.losses else None
    if loss is not None:
        told["loss"] = _loss(found.report.automaton, loss)
    return told


def _gap(gap: Gap) -> dict[str, Any]:
    return {"way": list(gap.steps), "streams": [_texts(gap.streams.first), _texts(gap.streams.second)]}


def _loss(automaton: Automaton, loss: LossRange) -> dict[str, Any]:
    told: dict[str, Any] = {
        "streams": [_texts(loss.chances.streams.first), _texts(loss.chances.streams.second)],
        "probabilities": [str(chance) for chance in loss.chances.both],
        "meaning": list(loss.chances.meant),
        "bounds": [_end(loss.low, float("-inf")), _end(loss.high, float("inf"))],
    }
    return told | put_out(automaton, loss.chances.way.steps)


def _end(number: Fraction, towards: float) -> float | None:
    """Returns the float next to a number, seen towards −∞ or ∞; None if it is too large for one."""
    return outward(number, towards) if number < sys.float_info.max else None


def _texts(values: Sequence[Fraction]) -> list[str]:
    return [str(value) for value in values]


@dataclass(frozen=True, eq=False)
class BudgetSubject:
    """What budgets are asked of: an automaton with its file, or a case about streams."""

    automaton: Automaton
    path: Path
    content: bytes = b""
    case: StreamCase | None = None

    @staticmethod
    def of_case(case: StreamCase) -> BudgetSubject:
        """Returns the automaton of a case."""
        return BudgetSubject(case.automaton, Path(case.path), case=case)

    @property
    def compared(self) -> ComparedStreams:
        """Which streams are compared."""
        return self.case.compared if self.case else ComparedStreams()

    def warnings(self, found: Budgets) -> list[str]:
        """Returns what may be a mistake in the file of an automaton, such as a misspelt state."""
        if self.case is not None and not self.case.in_file:
            return []
        return [line for line in notes(self.automaton, found.report.graph) if "Note:" in line]

    def evidence(self, found: Budgets) -> dict[str, Any] | None:
        """Returns the evidence for `paramverify check`; None if there is none."""
        if self.case is not None:
            return _of_case(found, self.case)
        report = found.report
        assert not isinstance(report, OneReport)  # that is about a case
        if report.standing is not Standing.UNKNOWN:
            told = evidence_document(report, self.path, self.content)
        elif found.shown and found.lengths:
            digest = sha256(self.content).hexdigest()
            told = evidence.frame(self.automaton, evidence.BUDGET, self.path.name, digest)
            told["streams"] = {"differ": "each"}
        else:
            return None
        if found.shown and found.lengths:
            told["lengths"] = evidence.lengths(report.graph, found.lengths, ways=found.told_apart)
        return told


def _of_case(found: Budgets, case: StreamCase) -> dict[str, Any] | None:
    """Returns the evidence of the budgets of a case; None if nothing is shown.

    It says which streams are compared, and claims no multiple of its own: the case has one.
    """
    report, few = found.report, case.values is not None
    told = evidence.frame(case.automaton, evidence.BUDGET, case.title, case.digest)
    told["streams"] = evidence.streams(case)
    if not case.reach:
        return told
    shown: dict[str, Any] = {}
    if isinstance(report, OneReport):
        if report.way is not None and not few:
            shown["least"] = evidence.least(report.way)
    else:
        left_out = {"least", "family"} if few else {"family"} if not found.told_apart else set()
        parts = proof_parts(report, report.standing)
        shown = {name: part for name, part in parts.items() if name not in left_out}
    if found.gap is not None:
        shown["gap"] = evidence.gap(found.gap)
    if found.shown and found.lengths:
        ways = found.told_apart and not few
        shown["lengths"] = evidence.lengths(
            report.graph, found.lengths, one=case.one, ways=ways, gaps=found.gaps
        )
    return told | shown if shown or case.one else None
