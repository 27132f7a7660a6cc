"""Theorems about programs: the program, what it starts with, and what is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from paramverify.algebra.expressions import Value, parse
from paramverify.algebra.polynomials import value_at
from paramverify.errors import UnsupportedError
from paramverify.models.mechanisms import Input
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import Model
from paramverify.models.programs.program_syntax import Place as Line
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports.theorems.coq_domains import TheoremDomain
from paramverify.reports.theorems.coq_programs import Data, TheoremRuns, Writer, text
from paramverify.reports.theorems.coq_words import ALIKE, NEAR, StatedTheorem, whole_number
from paramverify.reports.theorems.model_theorems import prior_of, secrets_of

Json = Mapping[str, Any]

MAX_COMPARISONS = 5_000  # of outputs of neighbours
START = Line(0, 0)
PROGRAM = (
    "ProgramClaims.v and Privacy.v say what privacy of a program means,\n"
    "    Language.v and Values.v what programs do"
)


def told_program(
    case: PrivacyCase, mechanism: ProgramMechanism, data: Json, model: Model, place: TheoremDomain
) -> StatedTheorem:
    """Returns the theorem about a program with finitely many random choices.

    Raises:
        UnsupportedError: the theories have no words for the program, its inputs, or what is compared.
    """
    if tuple(model.lengths) != (1,) or case.times != 1:
        raise UnsupportedError("the program runs several times")
    if model.hmm.ring.tied:
        raise UnsupportedError("a parameter stands beside its own exponential")
    if mechanism.program.functions:
        raise UnsupportedError("the program defines functions")
    if mechanism.program.calls:
        raise UnsupportedError("the program calls other mechanisms")
    names = [part.name for part in mechanism.places]
    writer = Writer.of(mechanism.program, names, model.hmm.ring, place.words)
    inputs = model.hmm.inputs
    point = place.some_point
    runs = TheoremRuns(writer.variables, lambda node: writer.number_at(node, point))
    _follow(mechanism, model, runs, point)
    writer = replace(writer, rounds=runs.rounds)
    program = (
        "(* What is released: the program of the case. *)",
        f"Definition program : statement := block {writer.block(mechanism.program.body, 1)}%program.",
    )
    if case.neighbours:
        return _neighbours(mechanism, data, model, inputs, program)
    return _secrets(mechanism, data, inputs, place, program)


def _entries(mechanism: ProgramMechanism, given: Sequence[Any]) -> dict[str, Any]:
    """Returns what belongs to each input of a program, in the order of the case."""
    found: dict[str, Any] = {}
    start = 0
    for part in mechanism.places:
        end = start + (part.length or 1)
        found[part.name] = given[start] if part.length is None else tuple(given[start:end])
        start = end
    return found


def _follow(
    mechanism: ProgramMechanism, model: Model, runs: TheoremRuns, point: Mapping[str, Fraction]
) -> None:
    """Follows the program on all inputs, and compares with the model at a point, exactly.

    Raises:
        UnsupportedError: the theories have no words for what happens, or other outputs or probabilities.
    """
    hmm = model.hmm
    mass = value_at(hmm.denominator, point)
    for state, given in enumerate(hmm.inputs):
        memory: dict[str, Data] = _entries(mechanism, [_data(value) for value in given])
        found = runs.outputs(mechanism.program.body, memory)
        for step in hmm.steps[state]:
            output = hmm.observations[step.observation]
            share = value_at(step.weight, point) / mass
            if found.pop(output, None) != share:
                raise UnsupportedError("the theories have other words for its outputs")
        if any(found.values()):
            raise UnsupportedError("the theories have other words for its outputs")


def _data(value: Value) -> Data:
    return value if isinstance(value, str) else whole_number(value)


def _numbers(mechanism: ProgramMechanism, columns: Sequence[set[Value]]) -> list[list[str] | None]:
    """Returns the labels of each input, in the order of their numbers; None: it has numbers."""
    found: list[list[str] | None] = []
    start = 0
    for part in mechanism.places:
        end = start + (part.length or 1)
        values = set().union(*columns[start:end])
        texts = sorted(v for v in values if isinstance(v, str))
        if texts and len(texts) < len(values):
            raise UnsupportedError(f"the input {part.name} has labels and numbers")
        found.append(texts or None)
        start = end
    return found


def _given(
    mechanism: ProgramMechanism, labels: Sequence[Sequence[str] | None], entries: Sequence[str], array: str
) -> str:
    """Returns the values of variables at the start; `entries` are numbers, and `array` tells several."""
    found = []
    start = 0
    for part, texts in zip(mechanism.places, labels, strict=True):
        end = start + (part.length or 1)
        listed = "; ".join(f"{text(t, START)}%string" for t in texts or ())
        several = array.format(start=start, count=end - start, entries="; ".join(entries[start:end]))
        if part.length is None:
            value = f"label_at [{listed}] {entries[start]}" if texts else f"Number {entries[start]}"
        else:
            value = f"labels_of [{listed}] {several}" if texts else f"numbers_of {several}"
        found.append(f"({text(part.name, START)}%string, {value})")
        start = end
    return f"[{'; '.join(found)}]"


def _neighbours(
    mechanism: ProgramMechanism,
    data: Json,
    model: Model,
    inputs: Sequence[Input],
    program: tuple[str, ...],
) -> StatedTheorem:
    """Returns the theorem about neighbouring inputs."""
    labels = _numbers(mechanism, [set(values) for values in mechanism.answers])
    texts = [own for part, own in zip(mechanism.places, labels, strict=True) for _ in range(part.length or 1)]

    def numbers(given: Sequence[Value]) -> tuple[int, ...]:
        pairs = zip(given, texts, strict=True)
        return tuple(own.index(str(v)) if own else whole_number(v) for v, own in pairs)

    pairs = []
    for pair in model.pairs:
        (left,), (right,) = pair.pi.weights, pair.tau.weights
        pairs.append((numbers(inputs[left]), numbers(inputs[right])))
    comparisons = len(pairs) * len(model.hmm.observations)
    if comparisons > MAX_COMPARISONS:
        raise UnsupportedError(f"it has {comparisons:,} comparisons of outputs, too many for Coq")
    columns = [
        [own.index(str(v)) if own else whole_number(v) for v in values]
        for values, own in zip(mechanism.answers, texts, strict=True)
    ]
    entries = [f"(entry_of x {k})" for k in range(len(texts))]
    return StatedTheorem(
        (
            *program,
            "",
            "(* The values with which it starts, for the input x. *)",
            "Definition given (x : world) : memory :=",
            f"  {_given(mechanism, labels, entries, '(part_of x {start} {count})')}.",
            "",
            "(* The inputs that are compared. *)",
            *_pairs(data["neighbours"], columns, pairs),
        ),
        "program_private ({point}) program given ({ratio}) neighbours",
        "program_neighbours_theorem evidence program given neighbours ratio",
        f"no run meets an error, and every output is {NEAR}",
        f"{PROGRAM}.",
    )


def _pairs(
    table: Json, columns: Sequence[Sequence[int]], pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
) -> list[str]:
    """Returns the definition of the pairs: by a condition where it says the same, else one by one."""
    wanted = {frozenset(pair) for pair in pairs}
    places = "; ".join(_listed(column) for column in columns)
    by = str(table.get("by", 1))
    for most in (int(by), None) if by.isdigit() else (None,):
        words = ["at_one_place x y"] * (table.get("differ") == "one")
        words += [f"by_at_most {most} x y"] * (most is not None)
        alike = {
            frozenset((x, y))
            for x, y in product(product(*columns), repeat=2)
            if x != y and _are_near(x, y, most, table.get("differ") == "one")
        }
        if "differ" in table and alike == wanted:
            condition = " && ".join(words) or "anyhow x y"
            return [
                f"Definition neighbours := related_pairs (fun x y => {condition})",
                f"  (every_input [{places}]).",
            ]
    told = ";\n   ".join(f"({_listed(x)}, {_listed(y)})" for x, y in pairs)
    return [f"Definition neighbours : list (world * world) :=\n  [{told}]."]


def _are_near(x: Sequence[int], y: Sequence[int], most: int | None, one: bool) -> bool:
    away = [abs(a - b) for a, b in zip(x, y, strict=True)]
    return (most is None or max(away) <= most) and (not one or sum(map(bool, away)) <= 1)


def _listed(values: Sequence[int]) -> str:
    return f"[{'; '.join(map(str, values))}]"


def _secrets(
    mechanism: ProgramMechanism,
    data: Json,
    inputs: Sequence[Input],
    place: TheoremDomain,
    program: tuple[str, ...],
) -> StatedTheorem:
    """Returns the theorem about secrets under a prior."""
    told = prior_of(data["prior"], place.own)
    count = len(mechanism.queries)
    labels = _numbers(mechanism, [{given[k] for given in inputs} for k in range(count)])
    if any(labels):
        known = [found for found, _ in sorted(told.words.labels.items(), key=lambda item: item[1])]
        labels = [known if own else None for own in labels]
    for query in mechanism.queries:
        parse(query.text)
    entries = [f"({told.words.whole(parse(query.text))})" for query in mechanism.queries]
    return StatedTheorem(
        (
            *told.lines,
            "",
            *program,
            "",
            "(* The values with which it starts, in the world w. *)",
            "Definition given (w : world) : memory :=",
            f"  {_given(mechanism, labels, entries, '[{entries}]')}.",
            "",
            "(* The secrets that are compared. *)",
            *secrets_of(data["secrets"], told.words),
        ),
        "program_pufferfish ({point}) (worlds_of prior) program given ({ratio}) secrets",
        "program_secrets_theorem evidence (worlds_of prior) program given secrets ratio",
        f"no run meets an error, and every output is {ALIKE}",
        f"{PROGRAM},\n    Networks.v what priors are.",
    )
