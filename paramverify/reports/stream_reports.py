"""What is said of automata and cases about streams, and of their least budgets, in words and as JSON data."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from paramverify import printable
from paramverify.algebra.budgets import outward
from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.rationals import at_least, at_most, relation
from paramverify.answers import Standing
from paramverify.automata import automaton_evidence
from paramverify.automata.automaton import GEOMETRIC, SAMPLE, SECOND, Automaton
from paramverify.automata.least_stream_budgets import Budgets
from paramverify.automata.stored_values import Graph
from paramverify.automata.stream_cases import ComparedStreams, StreamCase
from paramverify.automata.stream_costs import Length, OneReport
from paramverify.automata.stream_verdicts import (
    MOST_STEPS,
    WIDTH,
    AutomatonReport,
    Example,
    Looked,
    StreamVerdict,
    never_taken,
)
from paramverify.automata.unbounded_ways import ViolationFamily
from paramverify.automata.way_programs import OTHER, WAY, Gap, LossRange, Streams, numbers_put_out, released
from paramverify.evidence.witnesses import ExactWitness
from paramverify.kernel.evidence_shapes import BOUNDS
from paramverify.kernel.strict_reading import counted
from paramverify.spelling import one_off

FOR_WHOM = "for every epsilon > 0, streams of every length, and inputs that differ by at most 1 each"
READS_NOTHING = "no state reads an entry, so streams make no difference"
EPSILON = "epsilon"
SHOWN_STREAM = 30  # entries in words
SHOWN_NEVER = 5  # transitions
SHOWN_STEPS = 12  # of a way in words
TOO_LARGE = "examples were left out, because their exponents, or their formulas, would be too large"
SHOWN = Fraction(2)  # the multiple for which a number of repetitions is told


def automaton_lines(report: AutomatonReport) -> list[str]:
    """Returns the verdict and what it rests on, line by line."""
    told = [_verdict(report)]
    if report.multiple is not None:
        told += _least(report)
        told.append(f"  {_proof(report)} {size(report.automaton, report.seconds)}")
    elif report.standing is Standing.VIOLATED and report.family is not None:
        told += family_lines(report.automaton, report.family)
        told.append(f"  {counted(len(report.graph.nodes), 'node')} {size(report.automaton, report.seconds)}")
    else:
        told.append(f"  {report.end.value}: {report.reason}.")
    if report.confused:
        told += confused_lines(report.automaton, report.graph, report.confused)
    return [*told, *notes(report.automaton, report.graph)]


def notes(automaton: Automaton, graph: Graph) -> list[str]:
    """Returns that nothing is read, which transitions no run takes, and where runs end."""
    unread = [f"  Note: {READS_NOTHING}."] if reads_nothing(automaton) else []
    return [*unread, *_never(automaton, never_taken(automaton, graph)), *ends_lines(automaton, graph)]


def reads_nothing(automaton: Automaton) -> bool:
    """Tells whether no state reads an entry."""
    return not any(state.reads for state in automaton.states)


def ends_lines(automaton: Automaton, graph: Graph) -> list[str]:
    """Returns where runs end, and which states may be meant by names that have no entry."""
    ends = [state.name for state in graph.ends]
    others = [state.name for state in automaton.ends if state.name not in ends]
    told = [f"  A run ends in: {_without_entry(ends)}."] if ends else []
    told += [f"  Note: no run reaches {_without_entry(others)}."] if others else []
    entered = [state.name for state in automaton.states if state.name not in (*ends, *others)]
    for end in automaton.ends:
        meant = one_off(end.name, entered)
        if meant is not None:
            name = printable.name(end.name)
            told.append(f"  Note: line {end.line} goes to {name}: did you mean {printable.name(meant)}?")
    return told


def _without_entry(names: Sequence[str]) -> str:
    """Returns names of states without an entry; of many the first ones."""
    named = ", ".join(map(printable.name, names[:SHOWN_NEVER]))
    more = f" and {len(names) - SHOWN_NEVER} more" if len(names) > SHOWN_NEVER else ""
    return f"{named}{more} ({'a state' if len(names) == 1 else 'states'} without an entry)"


def _verdict(report: AutomatonReport) -> str:
    word = report.standing.of_case
    if report.multiple is not None:
        return f"{word}: {times(report.multiple)} is enough, {FOR_WHOM}."
    if report.standing is Standing.VIOLATED:
        return f"{word}: no multiple of epsilon is enough for streams of every length, whatever epsilon is."
    return f"{word}."


def times(multiple: Fraction, name: str = EPSILON) -> str:
    """Returns a multiple of epsilon, or of a parameter: `5/4*epsilon`, `epsilon`, `0`."""
    if multiple in (0, 1):
        return name if multiple else "0"
    return f"{multiple}*{name}"


def _least(report: AutomatonReport) -> list[str]:
    if report.tight and report.way is None:
        return ["  It is the least multiple: none is below 0."]
    if report.tight and report.way is not None:
        steps = counted(len(report.way.steps), "step")
        return [f"  It is the least multiple: a path with {steps} needs it, for every epsilon."]
    if report.way is not None:
        steps = counted(len(report.way.steps), "step")
        return [f"  A multiple below {report.least} is not enough: a path with {steps} needs it."]
    return []


def _proof(report: AutomatonReport) -> str:
    if report.tables:
        return f"{counted(len(report.tables), 'table')} of costs"
    return f"{counted(len(report.demands.zones), 'demand')} on stored values"


def size(automaton: Automaton, seconds: float) -> str:
    """Returns how large an automaton is, and how long it took."""
    sizes = (
        counted(len(automaton.states), "state"),
        counted(len(automaton.variables), "variable"),
        counted(len(automaton.transitions), "transition"),
    )
    return f"({', '.join(sizes)}), in {seconds:.2g} s."


def family_lines(
    automaton: Automaton,
    family: ViolationFamily,
    name: str = EPSILON,
    reach: Fraction = Fraction(1),
    of_any: bool = False,
) -> list[str]:
    """Returns the ways whose costs grow, line by line, where entries differ by `reach` at most.

    If `of_any`, entries of the case have few values, and what is told is about any numbers.
    """
    told = [f"  {family.kind[:1].upper()}{family.kind[1:]}:"]
    for part in family.parts:
        often = "again and again" if part.repeated else "once"
        told.append(f"    {often}: {way_text(automaton, part.steps)}")
    each = "each repetition costs" if family.period == 1 else f"{family.period} repetitions cost"
    enough = counted(family.repetitions(SHOWN / reach), "repetition")
    for line in (
        f"{each} {times(family.gain * reach, name)} more.",
        f"with {enough} {times(SHOWN, name)} is not enough, whatever {name} is.",
    ):
        told.append(f"  If entries are any numbers, {line}" if of_any else f"  {line[:1].upper()}{line[1:]}")
    return told


def way_text(automaton: Automaton, steps: Sequence[int]) -> str:
    """Returns the states of a way with the outputs between them; of a long one the ends."""
    names = [printable.name(automaton.states[automaton.transitions[steps[0]].source].name)]
    for number in steps:
        step = automaton.transitions[number]
        output, target = printable.name(step.output), printable.name(automaton.states[step.target].name)
        names.append(f"-{output}-> {target}")
    if len(names) > SHOWN_STEPS:
        half = SHOWN_STEPS // 2
        names = [*names[:half], f"... {len(names) - 2 * half} more ...", *names[-half:]]
    return " ".join(names)


def _never(automaton: Automaton, never: Sequence[int]) -> list[str]:
    """Returns which transitions no run takes; of many the first ones."""
    named = [f"{number} (line {automaton.transitions[number].line})" for number in never[:SHOWN_NEVER]]
    if not named:
        return []
    more = len(never) - len(named)
    words = f"transition{'s' * (len(never) > 1)} {', '.join(named)}{f' and {more} more' if more else ''}"
    return [f"  Note: no run takes {words}."]


def confused_lines(automaton: Automaton, graph: Graph, confused: tuple[int, int]) -> list[str]:
    """Returns which two transitions put out the same, and what to do about it."""
    numbers = [graph.edges[k].transition for k in confused]
    steps = [automaton.transitions[number] for number in numbers]
    state = printable.name(automaton.states[steps[0].source].name)
    named = " and ".join(f"{n} (line {step.line})" for n, step in zip(numbers, steps, strict=True))
    told = f"  Note: the transitions {named} of {state} output"
    if steps[0].output in (SAMPLE, SECOND):
        return [
            f"{told} numbers. So the outputs do not reveal which path the run took, "
            "and no lower bound is known."
        ]
    return [
        f"{told} the same word, {printable.name(steps[0].output)}. "
        "So the outputs do not reveal which path the run took, and no lower bound is known.",
        "  If an observer can distinguish them, give one of them another word.",
    ]


def automaton_document(report: AutomatonReport) -> dict[str, Any]:
    """Returns the verdict as JSON data."""
    standing, automaton = report.standing, report.automaton
    told: dict[str, Any] = {
        "status": standing.value,
        "verdict": standing.of_case,
        "states": len(automaton.states),
        "variables": len(automaton.variables),
        "transitions": len(automaton.transitions),
        "seconds": round(report.seconds, 6),
    }
    if report.multiple is not None:
        told |= {"multiple": str(report.multiple), "multiple_lower": str(report.least), "tight": report.tight}
        told |= {"tables": len(report.tables)} if report.tables else {"demands": len(report.demands.zones)}
        if report.way is not None:
            told["way"] = {"steps": list(report.way.steps), "signs": list(report.way.signs)}
    elif standing is Standing.VIOLATED and report.family is not None:
        told["family"] = automaton_evidence.family(report.family)
    else:
        told |= {"end": report.end.value, "reason": report.reason}
    told["ends"] = [state.name for state in report.graph.ends]
    if report.confused:
        told["confused"] = [report.graph.edges[k].transition for k in report.confused]
    if report.never:
        told["never"] = list(report.never)
    if reads_nothing(automaton):
        told["notes"] = [READS_NOTHING]
    return told


def no_example(looked: Looked | None) -> str:
    """Returns why there is no example, in words: the time was over, or nothing was left to try."""
    left_out = f"; {TOO_LARGE}" if looked is not None and looked.too_large else ""
    return f"{_no_example(looked)}{left_out}"


def _no_example(looked: Looked | None) -> str:
    if looked is None or not looked.complete:
        tried = f" ({_tried(looked)})" if looked is not None and looked.pairs else ""
        return f"no example was found before the time limit{tried}"
    if not looked.pairs and looked.too_large:
        return "no example was evaluated"
    if not looked.pairs and looked.ways:
        return "no example was found: the streams that make such a path likely have other values"
    if not looked.pairs:
        why = f"the paths that cost so much have more than {MOST_STEPS} steps"
        return f"no example was searched for, because {why}"
    return f"no example was found, and nothing is left to try ({_tried(looked)})"


def _tried(looked: Looked) -> str:
    undecided = f", {looked.undecided} undecided" if looked.undecided else ""
    return f"{counted(looked.pairs, 'pair')} of streams on {counted(looked.ways, 'path')}{undecided}"


def sentence(words: str) -> str:
    """Returns a reason as a sentence."""
    return f"{words[:1].upper()}{words[1:]}."


def multiple_lines(report: AutomatonReport, multiple: Fraction, looked: Looked | None) -> list[str]:
    """Returns whether a multiple is enough, with streams and an epsilon at which it is not."""
    standing = report.standing_of(multiple)
    if standing is Standing.HOLDS:
        return [f"{standing.of_case}: {times(multiple)} is enough, {FOR_WHOM}."]
    if standing is Standing.UNKNOWN:
        return [f"{standing.of_case}: whether {times(multiple)} is enough is not known."]
    told = [f"{standing.of_case}: {times(multiple)} is not enough."]
    if looked is None or looked.example is None:
        return [*told, "  A path that costs more is known.", f"  {sentence(no_example(looked))}"]
    return told + example_lines(report.automaton, looked.example)


def example_lines(automaton: Automaton, example: Example) -> list[str]:
    """Returns a way, two streams, and both probabilities at an epsilon."""
    repeated = f", {counted(example.repetitions, 'repetition')}" if example.repetitions else ""
    told = [f"  Path: {way_text(automaton, example.way.steps)}{repeated}"]
    told.append(f"  Streams: {stream(example.streams.first)}")
    told.append(f"      and: {stream(example.streams.second)}")
    if released(automaton, example.way.steps):
        told.append(f"  {between(automaton)}")
    return told + [f"  {_of_way(line)}" for line in example.witness.lines()]


def _of_way(line: str) -> str:
    """Returns a line of a witness whose output is that a run takes the way, or that it does not."""
    for words in (
        (f"output {WAY} is", "this path is"),
        (f"output {OTHER} is", "every output but this path is"),
    ):
        line = line.replace(*words)
    return line.replace(f"Pr({OTHER} |", "Pr(every output but this path |").replace(
        f"Pr({WAY} |", "Pr(this path |"
    )


def between(automaton: Automaton) -> str:
    """Returns which numbers are put out on a way of an example."""
    if automaton.noise == GEOMETRIC:
        return "The output numbers are the smallest whole numbers, from 0 on, that the guards allow."
    return f"The output numbers lie between -{WIDTH} and {WIDTH}."


def stream(values: Sequence[Fraction]) -> str:
    """Returns the numbers of a stream, of a long one the first ones."""
    shown = [str(value) for value in values[:SHOWN_STREAM]]
    return ", ".join([*shown, "..."] if len(values) > SHOWN_STREAM else shown) or "(none)"


def multiple_document(report: AutomatonReport, multiple: Fraction, looked: Looked | None) -> dict[str, Any]:
    """Returns whether a multiple is enough, as JSON data."""
    standing = report.standing_of(multiple)
    told: dict[str, Any] = {
        "multiple": str(multiple),
        "status": standing.value,
        "verdict": standing.of_case,
    }
    if looked is not None and looked.example is not None:
        told["example"] = example_document(report.automaton, looked.example)
    elif standing is Standing.VIOLATED:
        told["reason"] = no_example(looked)
    return told


def example_document(automaton: Automaton, example: Example) -> dict[str, Any]:
    """Returns a way, two streams, and both probabilities at an epsilon, as JSON data."""
    streams = [list(map(str, stream)) for stream in (example.streams.first, example.streams.second)]
    told: dict[str, Any] = {"steps": list(example.way.steps), "repetitions": example.repetitions}
    told |= {"streams": streams, "witness": example.witness.answer()}
    return told | put_out(automaton, example.way.steps)


def put_out(automaton: Automaton, steps: Sequence[int]) -> dict[str, Any]:
    """Returns which numbers are put out on a way of an example, as JSON data; nothing if none are."""
    if not released(automaton, steps):
        return {}
    if automaton.noise == GEOMETRIC:
        return {"numbers": numbers_put_out(automaton, steps)}
    return {"between": [str(-WIDTH), str(WIDTH)]}


def automaton_evidence_document(
    report: AutomatonReport, path: Path, content: bytes, lengths: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Returns the evidence for a verdict, private or not private, for `paramverify check`."""
    digest, status = hashlib.sha256(content).hexdigest(), report.standing.value
    parts = {**proof_parts(report, report.standing), **lengths}
    return automaton_evidence.document(report.automaton, status, path.name, digest, parts)


def proof_parts(report: AutomatonReport, standing: Standing) -> dict[str, Any]:
    """Returns what shows a verdict: a proof, a family of ways, or one way that costs more than a multiple."""
    told: dict[str, Any] = {}
    if report.multiple is not None and standing is Standing.HOLDS:
        if report.tables:
            told["tables"] = automaton_evidence.tables(report.graph, report.tables, report.multiple)
        else:
            told["proof"] = automaton_evidence.proof(report.demands, list(report.weight), report.multiple)
    if report.multiple is not None and report.way is not None:
        told["least"] = automaton_evidence.least(report.way)
    if report.multiple is None and report.family is not None:
        told["family"] = automaton_evidence.family(report.family)
    return told


DIGITS = 9
LONGEST = 200  # characters of a formula in words


def budget_lines(found: Budgets) -> list[str]:
    """Returns the budgets line by line."""
    told = [f"streams of every length: {_every(found)}."]
    for place, length in enumerate(found.shown):
        told += _length(found, length, found.losses[place] if found.losses else None)
    left = len(found.asked) - len(found.shown)
    if left:
        told.append(f"  {counted(left, 'length')} more: no budget was found within the time limit.")
    if found.report.automaton.late and any(map(found.least, found.shown)):
        told.append(
            "  Note: the program may draw noise or output before it reads an entry. So a path may need the"
        )
        told.append("    next entry, and lower bounds for a length come from paths that read one entry less.")
    if not found.told_apart and not found.all_exact:
        told.append(
            "  Note: the outputs do not reveal which path the run took, so smaller budgets may be enough."
        )
    elif _few(found) and (found.lower or any(map(found.least, found.shown))):
        name = found.compared.name
        which = "smaller multiple" if found.all_exact else "multiple below the lower bound"
        told.append(f"  Note: a {which} fails for large {name}. It may be enough for a small {name},")
        told.append("    because entries have few values.")
        if found.epsilon is not None and (found.multiple is not None or found.shown):
            told.append(
                f"    At {name} = {found.epsilon} these budgets are enough, and smaller ones may be enough."
            )
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
        return f"no bound is known; a budget below {_times(found, found.lower)} is not enough"
    return _between(found, found.lower, found.multiple)


def _between(found: Budgets, least: Fraction, enough: Fraction) -> str:
    """Returns both bounds in words."""
    most = _times(found, enough)
    if least == enough:
        if enough and _few(found):
            return f"{most}, and no smaller multiple is enough for every {found.compared.name}"
        return f"{most}, and no smaller budget is enough"
    low = _bare(found, least) if _few(found) else _times(found, least)
    return f"between {low} and {most}" if least else f"{most} is enough"


def _bare(found: Budgets, multiple: Fraction) -> str:
    return times(multiple, found.compared.name)


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


def budget_document(found: Budgets) -> dict[str, Any]:
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
        lengths: dict[str, Any] = {}
        if found.shown and found.lengths:
            told = automaton_evidence.lengths(report.graph, found.lengths, ways=found.told_apart)
            lengths = {"lengths": told}
        if report.standing is not Standing.UNKNOWN:
            return automaton_evidence_document(report, self.path, self.content, lengths)
        if not lengths:
            return None
        parts, digest = {"streams": {"differ": "each"}, **lengths}, sha256(self.content).hexdigest()
        return automaton_evidence.document(self.automaton, BOUNDS, self.path.name, digest, parts)


def _of_case(found: Budgets, case: StreamCase) -> dict[str, Any] | None:
    """Returns the evidence of the budgets of a case; None if nothing is shown.

    It says which streams are compared, and claims no multiple of its own: the case has one.
    """
    report, few = found.report, case.values is not None
    shown: dict[str, Any] = {}

    def told() -> dict[str, Any]:
        parts = {"streams": automaton_evidence.streams(case), **shown}
        return automaton_evidence.document(case.automaton, BOUNDS, case.title, case.digest, parts)

    if not case.reach:
        return told()
    if isinstance(report, OneReport):
        if report.way is not None and not few:
            shown["least"] = automaton_evidence.least(report.way)
    else:
        left_out = {"least", "family"} if few else {"family"} if not found.told_apart else set()
        parts = proof_parts(report, report.standing)
        shown = {name: part for name, part in parts.items() if name not in left_out}
    if found.gap is not None:
        shown["gap"] = automaton_evidence.gap(found.gap)
    if found.shown and found.lengths:
        ways = found.told_apart and not few
        shown["lengths"] = automaton_evidence.lengths(
            report.graph, found.lengths, one=case.one, ways=ways, gaps=found.gaps
        )
    return told() if shown or case.one else None


_NUMBER = re.compile(r"-?[0-9]+(?:/[0-9]+)?")


def budget(verdict: StreamVerdict, multiple: Fraction | None = None) -> str:
    """Returns a multiple of the parameter, or the budget of the case."""
    return budget_of(verdict.case) if multiple is None else times(multiple, verdict.case.parameter)


def budget_of(case: StreamCase) -> str:
    """Returns the budget of a case: `5/4*eps`, `eps + 1`."""
    told, plus = times(case.budget.multiple, case.parameter), case.budget.plus
    if not plus:
        return told
    return f"{told} + {plus}" if case.budget.multiple else str(plus)


def whom(case: StreamCase) -> str:
    """Returns for which streams a verdict about a case is."""
    by = f" by at most {case.by}" if case.by is not None else ""
    who = f"differ in one entry{',' * bool(by)}{by}" if case.one else f"differ{by or ' by anything'} each"
    if not case.reach:
        who = "are neighbours"
    of = "" if case.values is None else f" with entries in {{{', '.join(map(str, case.values))}}}"
    return f"for every {case.parameter} > 0, and streams of every length{of} that {who}"


def stream_lines(verdict: StreamVerdict) -> list[str]:
    """Returns the verdict and what it rests on, line by line; of a file also what is odd in it."""
    case = verdict.case
    remarks = notes(case.automaton, verdict.report.graph) if case.in_file else []
    return [*_stream_verdict(verdict), *remarks]


def _stream_verdict(verdict: StreamVerdict) -> list[str]:
    standing, told = verdict.standing, f"epsilon = {budget(verdict)}"
    if standing is Standing.HOLDS:
        return [f"{standing.of_case}: {told}, {whom(verdict.case)}.", *_bounds(verdict), _size(verdict)]
    if standing is Standing.UNKNOWN:
        reason = verdict.reason or _open(verdict)
        left_out = [f"  Note: {TOO_LARGE}."] if verdict.looked and verdict.looked.too_large else []
        found = [f"{standing.of_case}: {told}.", f"  {reason}.", *left_out]
        return [*found, *_bounds(verdict), _size(verdict)]
    found = [f"{standing.of_case}: {told}."]
    example = verdict.example
    if isinstance(verdict.report, AutomatonReport) and verdict.report.family is not None:
        numbers = " of any numbers" if verdict.case.values is not None else ""
        none = f"No multiple of {verdict.case.parameter} is enough for streams of every length"
        found += [f"  {none}{numbers}."]
        named = verdict.case.parameter, verdict.case.reach, verdict.case.values is not None
        found += family_lines(verdict.case.automaton, verdict.report.family, *named)
    if example is not None:
        found += example_lines(verdict.case.automaton, example)
    else:
        known = "A path that costs more is known"
        if not verdict.case.budget.multiple:
            known = f"Whatever the number is, it is exceeded for large {verdict.case.parameter}"
        missing = sentence(no_example(verdict.looked))
        found += [*_stream_gap(verdict), f"  {known}.", f"  {missing}"]
    return [*found, *_bounds(verdict), _size(verdict)]


def _stream_gap(verdict: StreamVerdict) -> list[str]:
    """Returns streams of few values between which there is a gap."""
    gap = verdict.gap
    if gap is None:
        return []
    return [
        f"  Path: {way_text(verdict.case.automaton, gap.steps)}",
        f"  Streams: {stream(gap.streams.first)}",
        f"      and: {stream(gap.streams.second)}",
    ]


def _open(verdict: StreamVerdict) -> str:
    if isinstance(verdict.report, AutomatonReport) and verdict.report.reason:
        return verdict.report.reason
    return "whether this budget is enough is not known"


def _bounds(verdict: StreamVerdict) -> list[str]:
    """Returns which multiples are known to be enough, and which not."""
    known, least, told = verdict.known, verdict.least, []
    few = verdict.case.values is not None
    if not verdict.case.reach:
        return ["  The least budget is 0: no two values of an entry are close enough for neighbours."]
    if known is not None and known == least:
        return [f"  The least budget{' for these values' * few} is {budget(verdict, known)}."]
    if known is not None:
        told.append(f"  {budget(verdict, known)} is enough.")
    if least:
        told.append(f"  A budget below {budget(verdict, least)} is not enough{' for these values' * few}.")
    if few and verdict.least_of_any > least:
        of_any = budget(verdict, verdict.least_of_any)
        any_ = f"streams of any numbers that differ by at most {verdict.case.reach} each"
        told.append(f"  A budget below {of_any} is not enough for {any_}.")
    if verdict.by_all:
        told.append("  There are finitely many paths. Each was decided for all streams of these values.")
    if verdict.report.confused:
        told += _confused(verdict)
    return told


def _confused(verdict: StreamVerdict) -> list[str]:
    """Returns that outputs do not tell the way, and what to do about it."""
    report = verdict.report
    assert report.confused is not None
    if verdict.case.in_file:
        return confused_lines(verdict.case.automaton, report.graph, report.confused)
    return [
        "  Note: the outputs do not reveal which path the run took, so no lower bound is known.",
        "  If an observer can distinguish the branches, output a word for every entry, and",
        "  different words in different branches.",
    ]


def _size(verdict: StreamVerdict) -> str:
    return f"  Decided by an automaton {size(verdict.case.automaton, verdict.seconds)}"


def stream_document(verdict: StreamVerdict) -> dict[str, Any]:
    """Returns the verdict as JSON data."""
    standing, automaton = verdict.standing, verdict.case.automaton
    told: dict[str, Any] = {
        "status": standing.value,
        "verdict": standing.of_case,
        "budget": budget(verdict),
        "multiple": str(verdict.case.budget.multiple),
        "plus": str(verdict.case.budget.plus),
        "differ": "one" if verdict.case.one else "each",
        "by": "any" if verdict.case.by is None else str(verdict.case.by),
        "states": len(automaton.states),
        "variables": len(automaton.variables),
        "transitions": len(automaton.transitions),
        "enough": None if verdict.known is None else str(verdict.known),
        "least": str(verdict.least),
        "least_of_any": str(verdict.least_of_any),
        "seconds": round(verdict.seconds, 6),
    }
    if standing is Standing.UNKNOWN:
        told["reason"] = verdict.reason or _open(verdict)
    if standing is Standing.VIOLATED and verdict.example is None:
        told["reason"] = no_example(verdict.looked)
    if (
        standing is Standing.VIOLATED
        and isinstance(verdict.report, AutomatonReport)
        and verdict.report.family
    ):
        found = verdict.report.family
        told["family"] = automaton_evidence.family(found) | {"gain": str(found.gain * verdict.case.reach)}
    if verdict.case.values is not None:
        told["values"] = list(map(str, verdict.case.values))
    if verdict.by_all:
        told["all_ways"] = True
    if verdict.gap is not None and verdict.example is None:
        both = verdict.gap.streams.first, verdict.gap.streams.second
        told["gap"] = {"way": list(verdict.gap.steps), "streams": [list(map(str, side)) for side in both]}
    if verdict.case.in_file:
        told["ends"] = [state.name for state in verdict.report.graph.ends]
        if never := never_taken(automaton, verdict.report.graph):
            told["never"] = list(never)
        if reads_nothing(automaton):
            told["notes"] = [READS_NOTHING]
    if verdict.example is not None:
        told["example"] = example_document(automaton, verdict.example)
    return told


def _example(case: StreamCase, found: Example) -> dict[str, Any]:
    """Returns an example as evidence has it: the checker computes its probabilities again."""
    shown, (unbounded, *_) = found.witness.answer(), found.case.model.domain.ring.unbounded
    numbers = [_number(told) for told in shown["probabilities"]]
    streams = [list(map(str, stream)) for stream in (found.streams.first, found.streams.second)]
    if _NUMBER.findall(shown["secrets"][0]) != streams[0]:  # the witness has them the other way round
        streams.reverse()
    told: dict[str, Any] = {
        "steps": list(found.way.steps),
        "streams": streams,
        "at": shown["parameters"][unbounded.variable],
        "step": str(unbounded.step),
        "output": shown["observations"][0],
        "probabilities": numbers,
    }
    return told | put_out(case.automaton, found.way.steps)


def _number(told: Any) -> dict[str, str]:
    """Returns an exact number, or between which two numbers a logarithm lies."""
    return {k: told[k] for k in ("lower", "upper")} if isinstance(told, dict) else {"exact": str(told)}


def stream_evidence_document(verdict: StreamVerdict) -> dict[str, Any] | None:
    """Returns the evidence for `paramverify check`; None if there is none.

    There is none for a case that is undecided, nor for one of few values that is decided by single streams,
    or by all of them: then there is neither a proof for any numbers nor a gap.
    """
    case, report, standing = verdict.case, verdict.report, verdict.standing
    few = case.values is not None
    without = few and standing is Standing.VIOLATED and verdict.least <= case.budget.multiple
    if standing is Standing.UNKNOWN or verdict.by_all or without:
        return None
    parts: dict[str, Any] = {"claim": automaton_evidence.claim(case)}
    if verdict.example is not None and isinstance(verdict.example.witness, ExactWitness):
        parts["example"] = _example(case, verdict.example)
    if few and standing is Standing.VIOLATED and verdict.gap is not None:
        parts["gap"] = automaton_evidence.gap(verdict.gap)
    elif case.reach and isinstance(report, OneReport):
        if standing is Standing.VIOLATED and report.way is not None:
            parts["least"] = automaton_evidence.least(report.way)
    elif case.reach and not isinstance(report, OneReport):
        parts |= proof_parts(report, standing)
    return automaton_evidence.document(case.automaton, standing.value, case.title, case.digest, parts)
