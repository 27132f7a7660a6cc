"""What Storm builds from a PRISM file, as arrays that go through a pipe.

`build` runs in a process of its own (`processes.storm`), for one call into Storm may take hours. Its answer
is a line of JSON, and after it the arrays that the line lists, byte by byte. Names of states are not made:
the values of the variables say the same, in a few bytes for each state.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from paramverify.errors import CaseError, InputError, LimitError, UnsupportedError
from paramverify.models.chains.matrices import transitions
from paramverify.models.chains.programs import program

MAX_STATES = 20_000_000
KINDS = {"ModelType.DTMC": "chain", "ModelType.MDP": "mdp"}
MISTAKES = {kind.__name__: kind for kind in (InputError, CaseError, UnsupportedError)}
Numbers: TypeAlias = "array[int]"


@dataclass(frozen=True, eq=False)
class Built:
    """A Markov chain or decision process.

    State s has the choices `groups[s] <= c < groups[s + 1]`, and choice c the transitions `begins[c] <= k <
    begins[c + 1]`, to `targets[k]` with the value `texts[weights[k]]`. Choice c has the action
    `actions[acts[c]]`, or none where `acts[c]` is negative. `variables` have the value of each state, those
    in `truths` 0 or 1; `labels` have one byte for each state. `conditions` tell for each condition that was
    asked for the label that is true where it is.
    """

    kind: str
    parametric: bool
    groups: Numbers
    begins: Numbers
    targets: Numbers
    weights: Numbers
    texts: tuple[str, ...]
    acts: Numbers
    actions: tuple[str, ...]
    initial: tuple[int, ...]
    labels: Mapping[str, bytes]
    variables: Mapping[str, Numbers]
    truths: frozenset[str]
    conditions: Mapping[str, str]

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.groups) - 1


@dataclass(frozen=True)
class Request:
    """What is to be built: a file of PRISM, values of undefined constants, and those that are parameters.

    `asked` are conditions on states, each with its names (`programs.program`).
    """

    path: str
    constants: Mapping[str, str]
    parameters: tuple[str, ...]
    asked: Mapping[str, tuple[str, ...]]


def silence() -> None:
    """Keeps Storm from writing its complaints to the terminal; its exceptions have them."""
    import stormpy

    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)


def build(request: Request) -> Built:
    """Returns the model that Storm builds from a PRISM file.

    Raises:
        UnsupportedError: it is neither a Markov chain nor a decision process. InputError: Storm refuses the
            file, or an undefined constant has neither a value nor a domain. LimitError: too many states.
    """
    import stormpy

    silence()
    try:
        asked = {text: frozenset(names) for text, names in request.asked.items()}
        read = program(Path(request.path), request.constants, request.parameters, asked)
        options = stormpy.BuilderOptions()
        options.set_build_all_labels()
        options.set_build_state_valuations()
        options.set_exploration_checks()  # values out of range would be others without a word
        options.set_build_choice_labels(str(read.content.model_type) == "PrismModelType.MDP")
        parametric = bool(read.content.has_undefined_constants)
        kind = stormpy.RationalFunction if parametric else stormpy.Rational
        model = stormpy.build_model[kind](read.content, options=options)
    except InputError:
        raise
    except (RuntimeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(f"Storm: {error}") from None
    if str(model.model_type) not in KINDS:
        raise UnsupportedError(f"a Markov chain or decision process is needed, not {model.model_type}")
    if model.nr_states > MAX_STATES:
        raise LimitError(f"{model.nr_states:,} states; at most {MAX_STATES:,} are read")
    return _read(model, parametric, read.conditions)


def _read(model: Any, parametric: bool, conditions: Mapping[str, str]) -> Built:
    kind = KINDS[str(model.model_type)]
    matrix = model.transition_matrix
    size, choices = int(model.nr_states), int(matrix.nr_rows)
    groups = array("q", range(size + 1))
    if kind == "mdp":
        groups = array("q", [matrix.get_row_group_start(state) for state in range(size)])
        groups.append(choices)
    begins, targets, weights, places = transitions(model)
    acts, actions = _actions(model, kind, choices)
    variables, truths = _variables(model, size)
    return Built(
        kind=kind,
        parametric=parametric,
        groups=groups,
        begins=begins,
        targets=targets,
        weights=weights,
        texts=tuple(places),
        acts=acts,
        actions=actions,
        initial=tuple(int(s) for s in model.initial_states),
        labels=_labels(model, size),
        variables=variables,
        truths=truths,
        conditions=conditions,
    )


def _actions(model: Any, kind: str, choices: int) -> tuple[Numbers, tuple[str, ...]]:
    if kind != "mdp" or not model.has_choice_labeling():
        return array("i"), ()
    names: dict[str, int] = {}
    labelling = model.choice_labeling
    acts = array("i", [-1]) * choices
    for choice in range(choices):
        found = sorted(labelling.get_labels_of_choice(choice))
        if found:
            acts[choice] = names.setdefault(str(found[0]), len(names))
    return acts, tuple(names)


def _labels(model: Any, size: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for label in sorted(model.labeling.get_labels()):
        if label not in ("init", "deadlock"):
            marks = bytearray(size)
            for state in model.labeling.get_states(label):
                marks[state] = 1
            found[str(label)] = bytes(marks)
    return found


def _variables(model: Any, size: int) -> tuple[dict[str, Numbers], frozenset[str]]:
    """Returns the whole-number and truth-valued state variables, truth values as 1 and 0."""
    table = model.state_valuations
    found: dict[str, Numbers] = {}
    truths: set[str] = set()
    for variable in table.get_all_variables():
        name = str(variable.name)
        if variable.has_integer_type():
            found[name] = _packed(table.get_int64_values(variable))
        elif variable.has_boolean_type():
            bits = table.get_boolean_values(variable)
            marks = array("b", bytes(size))
            for state in bits:
                marks[state] = 1
            found[name] = marks
            truths.add(name)
    return found, frozenset(truths)


def _packed(values: Any) -> Numbers:
    """Returns whole numbers in the least room that holds them all."""
    low, high = min(values, default=0), max(values, default=0)
    sizes = (("b", 7), ("h", 15), ("i", 31), ("q", 63))
    code = next(code for code, bits in sizes if -(1 << bits) <= low and high < 1 << bits)
    return array(code, values)


# --- the way through the pipe ------------------------------------------------------------------------


def send(built: Built, pipe: BinaryIO) -> None:
    """Writes a model."""
    arrays = [built.groups, built.begins, built.targets, built.weights, built.acts, *built.variables.values()]
    head = {
        "kind": built.kind,
        "parametric": built.parametric,
        "texts": built.texts,
        "actions": built.actions,
        "initial": built.initial,
        "labels": list(built.labels),
        "variables": list(built.variables),
        "truths": sorted(built.truths),
        "conditions": dict(built.conditions),
        "arrays": [(found.typecode, len(found)) for found in arrays],
    }
    pipe.write(json.dumps(head).encode() + b"\n")
    for found in arrays:
        pipe.write(memoryview(found).cast("B"))
    for marks in built.labels.values():
        pipe.write(marks)


def send_mistake(error: Exception, pipe: BinaryIO) -> None:
    """Writes an error in the place of a model."""
    kind = next((name for name, known in MISTAKES.items() if type(error) is known), LimitError.__name__)
    told = {"mistake": kind, "reason": str(error)}
    if isinstance(error, InputError):
        reason = error.reason.removesuffix(f"; {error.mend}") if error.mend else error.reason
        told = {"mistake": kind, "reason": reason, "mend": error.mend, "key": error.key}
    pipe.write(json.dumps(told).encode() + b"\n")


def receive(data: bytearray) -> Built:
    """Returns what `send` wrote.

    Raises:
        InputError, UnsupportedError, LimitError: what `send_mistake` wrote.
    """
    end = data.index(b"\n") + 1
    head = json.loads(bytes(data[:end]))
    if "mistake" in head:
        if head["mistake"] == LimitError.__name__:
            raise LimitError(head["reason"])
        raise MISTAKES[head["mistake"]](head["reason"], key=head["key"], mend=head["mend"])
    rest = memoryview(data)[end:]

    def parts() -> Iterator[Any]:
        place = 0
        for code, length in head["arrays"]:
            found = array(code)
            size = length * found.itemsize
            found.frombytes(rest[place : place + size])
            place += size
            yield found
        for _ in head["labels"]:
            size = head["arrays"][0][1] - 1
            yield bytes(rest[place : place + size])
            place += size

    found = parts()
    groups, begins, targets, weights, acts = (next(found) for _ in range(5))
    return Built(
        kind=head["kind"],
        parametric=head["parametric"],
        groups=groups,
        begins=begins,
        targets=targets,
        weights=weights,
        texts=tuple(head["texts"]),
        acts=acts,
        actions=tuple(head["actions"]),
        initial=tuple(head["initial"]),
        variables={name: next(found) for name in head["variables"]},
        labels={name: next(found) for name in head["labels"]},
        truths=frozenset(head["truths"]),
        conditions=head["conditions"],
    )
