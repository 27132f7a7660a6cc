"""What is said of an automaton over streams, in words and as JSON data."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify import printable
from paramverify.answers import Standing
from paramverify.automata import evidence
from paramverify.automata.automaton import GEOMETRIC, SAMPLE, SECOND, Automaton
from paramverify.automata.examples import MOST_STEPS, WIDTH, Example, Looked
from paramverify.automata.orders import Graph
from paramverify.automata.programs import OTHER, WAY, numbers_put_out, released
from paramverify.automata.verification import AutomatonReport, never_taken
from paramverify.automata.violations import ViolationFamily
from paramverify.checker.strict import counted
from paramverify.reports import documents
from paramverify.reports.text import witness_lines
from paramverify.spelling import one_off

FOR_WHOM = "for every epsilon > 0, streams of every length, and inputs that differ by at most 1 each"
READS_NOTHING = "no state reads an entry, so streams make no difference"
EPSILON = "epsilon"
SHOWN_STREAM = 30  # entries in words
SHOWN_NEVER = 5  # transitions
SHOWN_STEPS = 12  # of a way in words
TOO_LARGE = "examples were left out, because their exponents, or their formulas, would be too large"
SHOWN = Fraction(2)  # the multiple for which a number of repetitions is told


def lines(report: AutomatonReport) -> list[str]:
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
    told += [f"  Note: no run comes to {_without_entry(others)}."] if others else []
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
        return ["  It is the least one: there is none below 0."]
    if report.tight and report.way is not None:
        steps = counted(len(report.way.steps), "step")
        return [f"  It is the least one: a way with {steps} needs it, for every epsilon."]
    if report.way is not None:
        steps = counted(len(report.way.steps), "step")
        return [f"  A multiple below {report.least} is not enough: a way with {steps} needs it."]
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
    told = f"  Note: the transitions {named} of {state} put out"
    if steps[0].output in (SAMPLE, SECOND):
        return [f"{told} numbers. Outputs do not tell the way, so no lower bound is known."]
    return [
        f"{told} the same word, {printable.name(steps[0].output)}. Outputs do not tell the way, "
        "so no lower bound is known.",
        "  Give one of them another word, if an observer can tell them apart.",
    ]


def document(report: AutomatonReport) -> dict[str, Any]:
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
        told["family"] = evidence.family(report.family)
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
        return f"no example was found before the time was over{tried}"
    if not looked.pairs and looked.too_large:
        return "no example was evaluated"
    if not looked.pairs and looked.ways:
        return "no example was found: the streams that make such a way likely have other values"
    if not looked.pairs:
        return f"no example was looked for: the ways that cost so much have more than {MOST_STEPS} steps"
    return f"no example was found, and nothing is left to try ({_tried(looked)})"


def _tried(looked: Looked) -> str:
    undecided = f", {looked.undecided} undecided" if looked.undecided else ""
    return f"{counted(looked.pairs, 'pair')} of streams on {counted(looked.ways, 'way')}{undecided}"


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
        return [*told, "  A way that costs more is known.", f"  {sentence(no_example(looked))}"]
    return told + example_lines(report.automaton, looked.example)


def example_lines(automaton: Automaton, example: Example) -> list[str]:
    """Returns a way, two streams, and both probabilities at an epsilon."""
    repeated = f", {counted(example.repetitions, 'repetition')}" if example.repetitions else ""
    told = [f"  Way: {way_text(automaton, example.way.steps)}{repeated}"]
    told.append(f"  Streams: {stream(example.streams.first)}")
    told.append(f"      and: {stream(example.streams.second)}")
    if released(automaton, example.way.steps):
        told.append(f"  {between(automaton)}")
    return told + [f"  {_of_way(line)}" for line in witness_lines(example.witness)]


def _of_way(line: str) -> str:
    """Returns a line of a witness whose output is that a run takes the way, or that it does not."""
    for words in (
        (f"output {WAY} is", "this way is"),
        (f"output {OTHER} is", "every output but this way is"),
    ):
        line = line.replace(*words)
    return line.replace(f"Pr({OTHER} |", "Pr(every output but this way |").replace(
        f"Pr({WAY} |", "Pr(this way |"
    )


def between(automaton: Automaton) -> str:
    """Returns which numbers are put out on a way of an example."""
    if automaton.noise == GEOMETRIC:
        return "Numbers that are put out are the smallest whole numbers, from 0 on, that the guards allow."
    return f"Numbers that are put out lie between -{WIDTH} and {WIDTH}."


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
    told |= {"streams": streams, "witness": documents.witness(example.witness)}
    return told | put_out(automaton, example.way.steps)


def put_out(automaton: Automaton, steps: Sequence[int]) -> dict[str, Any]:
    """Returns which numbers are put out on a way of an example, as JSON data; nothing if none are."""
    if not released(automaton, steps):
        return {}
    if automaton.noise == GEOMETRIC:
        return {"numbers": numbers_put_out(automaton, steps)}
    return {"between": [str(-WIDTH), str(WIDTH)]}


def evidence_document(report: AutomatonReport, path: Path, content: bytes) -> dict[str, Any]:
    """Returns the evidence for a verdict, private or not private, for `paramverify check`."""
    standing = report.standing
    told = evidence.frame(report.automaton, standing.value, path.name, hashlib.sha256(content).hexdigest())
    return told | proof_parts(report, standing)


def proof_parts(report: AutomatonReport, standing: Standing) -> dict[str, Any]:
    """Returns what shows a verdict: a proof, a family of ways, or one way that costs more than a multiple."""
    told: dict[str, Any] = {}
    if report.multiple is not None and standing is Standing.HOLDS:
        if report.tables:
            told["tables"] = evidence.tables(report.graph, report.tables, report.multiple)
        else:
            told["proof"] = evidence.proof(report.demands, list(report.weight), report.multiple)
    if report.multiple is not None and report.way is not None:
        told["least"] = evidence.least(report.way)
    if report.multiple is None and report.family is not None:
        told["family"] = evidence.family(report.family)
    return told
