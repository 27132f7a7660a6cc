"""Markov chains and decision processes from PRISM files.

The checked text, and the model that Storm builds of it.

Whole numbers of PRISM files, where Storm takes what PRISM refuses.

In PRISM `/` gives a real number, which no whole-number variable, bound or constant may get; Storm takes 3/2
for 1 or for 3/2, as it stands in the file. PRISM refuses a range without the initial value; Storm keeps some
of its bits. Values out of range that updates give are refused while Storm explores.

PRISM files as Storm gets them: checked text, values of constants, and conditions that are asked for.

Storm reads most of PRISM's language ([Kwiatkowska11], [Hensel22]). Where it sets the brackets of an
expression otherwise, the file is refused: Storm would build another model without a word. Rewards are left
out, and with them the constants that nothing else needs.

The matrix of a model that Storm built, as arrays.

Each entry that Storm hands to Python costs more than Storm needs to find it. So Storm writes the model to a
file, in its own format ([Hensel22]), and this file is read in large pieces: a line such as `\t\t3 : 1/2` is a
transition, and `\taction ...` starts a choice. The numbers of both are compared with the matrix.

What Storm builds from a PRISM file, as arrays that go through a pipe.

`build` runs in a process of its own (`processes.storm_build`), for one call into Storm may take hours. Its
answer is a line of JSON, and after it the arrays that the line lists, byte by byte. Names of states are not
made: the values of the variables say the same, in a few bytes for each state.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, TypeAlias

from flint import fmpq

from paramverify.algebra.expressions import evaluate, parse
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import (
    CaseError,
    ExpressionError,
    InputError,
    LimitError,
    ModelError,
    UnsupportedError,
    located,
)
from paramverify.files import read_file
from paramverify.models.chains.chain_tables import Choices, assemble
from paramverify.models.chains.markov_chains import (
    ANY,
    Chain,
    FlatRows,
    Names,
    Row,
    States,
    Value,
    is_zero,
    uniform,
)
from paramverify.models.context import Checks
from paramverify.spelling import nearest

_REAL_INSIDE = ("FLOOR", "CEIL")
_UNRANGED = re.compile(r":\s*int\b")


def check_whole_numbers(content: Any, text: str) -> None:
    """Refuses a division where a program needs a whole number.

    Raises:
        InputError: with the place and the expression.
    """
    for place, expression in _whole(content, text):
        if expression.has_integer_type() and _divides(expression):
            raise InputError(
                f"{place} is a whole number, but PRISM takes a quotient for a real number: {expression}",
                mend="write floor(...) or ceil(...) around the quotient",
            )


def check_ranges(content: Any, text: str) -> None:
    """Refuses variables whose range does not have their initial value; all constants have values.

    Raises:
        InputError: with the variable, its range and the value.
    """
    for variable in _ranged(content.substitute_constants(), text):
        low, high = map(_number, _bounds(variable))
        first = _number(variable.initial_value_expression)
        if first is not None and ((low is not None and first < low) or (high is not None and first > high)):
            raise InputError(
                f"the initial value {first} of the variable {variable.name!r} lies outside its "
                f"range {low}..{high}",
                key=str(variable.name),
            )


def _ranged(content: Any, text: str) -> Iterator[Any]:
    """Yields variables with bounds and an initial value; Storm crashes where a missing one is read."""
    if content.has_initial_states_expression or _UNRANGED.search(text):
        return
    yield from content.global_integer_variables
    for module in content.modules:
        yield from module.integer_variables


def _bounds(variable: Any) -> tuple[Any, Any]:
    return variable.lower_bound_expression, variable.upper_bound_expression


def _number(expression: Any) -> int | None:
    """Returns the value of an expression, None where there is none."""
    if not expression.has_integer_type() or expression.contains_variables():
        return None
    return int(expression.evaluate_as_int())


def _whole(content: Any, text: str) -> Iterator[tuple[str, Any]]:
    """Yields what a program gives to whole-number constants, bounds and variables."""
    for constant in content.constants:
        if constant.defined and str(constant.type) == "int":
            yield f"the constant {constant.name!r}", constant.definition
    for variable in _ranged(content, text):
        for expression in (*_bounds(variable), variable.initial_value_expression):
            yield f"each bound and value of the variable {variable.name!r}", expression
    for module in content.modules:
        for command in module.commands:
            for update in command.updates:
                for assignment in update.assignments:
                    if assignment.variable.has_integer_type():
                        yield f"the variable {assignment.variable.name!r}", assignment.expression


def _divides(expression: Any) -> bool:
    """Tells whether PRISM takes a whole-number expression of Storm's for a real number."""
    pending = [expression]
    while pending:
        found = pending.pop()
        if not found.is_function_application:
            continue
        operator = str(found.operator).removeprefix("OperatorType.")
        if operator == "DIVIDE":
            return True
        if operator not in _REAL_INSIDE:
            first = 1 if operator == "ITE" else 0
            pending.extend(found.get_operand(place) for place in range(first, found.arity))
    return False


MAX_BYTES = 10_000_000
MAX_STATEMENT = 20_000  # characters
MAX_DEPTH = 200  # brackets
HIDDEN = "paramverify_condition_"  # how labels start that the file does not have

_UNREAD = re.compile(r'"[^"\n]*"|//[^\n]*|\brewards\b.*?\bendrewards\b', re.DOTALL)
_OPEN = re.compile(r"\b(?:const|prob|rate)\s+(?:(?:int|double|bool)\s+)?([A-Za-z_]\w*)\s*;")
_DEFINED = re.compile(r"\bconst\s+(?:int\s+)?([A-Za-z_]\w*)\s*=\s*([^;]*);")
_QUOTED = re.compile(r'"[^"\n]*"')
_WHOLE = re.compile(r"-?\d+")
_TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|=>|->|<=|>=|!=|\.\.|\S')
_VALUE = re.compile(r"true|false|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:/\d+)?")


@dataclass(frozen=True, eq=False)
class StormProgram:
    """A program of Storm's; `conditions` tell for each asked condition the label that is true where it is."""

    content: Any
    conditions: Mapping[str, str]


def read_text(path: Path) -> str:
    """Returns the text of a PRISM file without comments and rewards, every line in its place.

    Raises:
        InputError: no text, or what Storm's parser would not survive or reads with other brackets than PRISM.
    """
    try:
        content = read_file(path, MAX_BYTES, "a model", CaseError)  # Storm would wait for a pipe
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text (byte {error.start})") from None
    if text.startswith("\ufeff"):
        raise InputError(
            "the file starts with a byte order mark, which Storm cannot read: save the file without one"
        )
    text = _UNREAD.sub(_blank, text)
    for statement in text.split(";"):
        if len(statement) > MAX_STATEMENT and len("".join(statement.split())) > MAX_STATEMENT:
            raise InputError(f"a statement has more than {MAX_STATEMENT:,} characters")
        depth = 0
        for character in statement:
            depth += (character in "([") - (character in ")]")
            if depth > MAX_DEPTH:
                raise InputError(f"brackets are nested more than {MAX_DEPTH} levels deep")
    check_brackets(text)
    return text


def _blank(found: re.Match[str]) -> str:
    word = found.group()
    return word if word.startswith('"') else re.sub(r"[^\n]", " ", word)


def check_brackets(text: str) -> None:
    """Refuses expressions that Storm reads with other brackets than PRISM.

    These are `a => b => c`, which PRISM reads as `a => (b => c)` and Storm as `(a => b) => c`, and `-x^2`,
    which PRISM reads as `(-x)^2` and Storm as `-(x^2)`.

    Raises:
        InputError: with the line.
    """
    line, last = 1, 0
    before = ""  # the token before
    levels: list[_BracketLevel] = [_BracketLevel()]
    for token in _TOKEN.finditer(text):
        line, last = line + text.count("\n", last, token.start()), token.start()
        word, level = token.group(), levels[-1]
        if word in ("(", "["):
            levels.append(_BracketLevel())
        elif word in (")", "]"):
            if len(levels) > 1:
                levels.pop()
        elif word == "=>":
            level.implications += 1
            if level.implications > 1:
                raise InputError(
                    "a => b => c is ambiguous: PRISM reads it as a => (b => c), and Storm as (a => b) => c",
                    key=f"line {line}",
                    mend="add brackets",
                )
            level.minus = False
        elif word == "-" and not _ends_operand(before):
            level.minus = True
        elif word == "^":
            if level.minus:
                raise InputError(
                    "-x^2 is ambiguous: PRISM reads it as (-x)^2, and Storm as -(x^2)",
                    key=f"line {line}",
                    mend="add brackets",
                )
        elif word in (";", ",", ":", "?", "->", "..", "endmodule", "module", "formula", "label", "init"):
            levels[-1] = _BracketLevel()
        elif not _ends_operand(word):
            level.minus = False
        before = word


@dataclass
class _BracketLevel:
    """What stands in one pair of brackets since the last separator."""

    implications: int = 0
    minus: bool = False  # whether the operand that is being read has a sign


def _ends_operand(word: str) -> bool:
    return bool(word) and (word[-1].isalnum() or word[-1] in '_)]"')


def program(
    path: Path, constants: Mapping[str, str], parameters: Sequence[str], asked: Mapping[str, frozenset[str]]
) -> StormProgram:
    """Returns the program of a file with values for its open constants.

    `asked` are conditions on states, each with its names. Those that the variables of the model settle are
    left to the caller; those with formulas or constants of the file become labels.

    Raises:
        InputError: an open constant that is neither given nor a parameter, a value that is none, or Storm's
            complaint.
    """
    text = read_text(path)
    open_constants = _OPEN.findall(text)
    _check_constants(constants, open_constants)
    wanted = frozenset[str]().union(*asked.values())
    unused = [name for name in open_constants if name not in wanted and _count(name, text) == 1]
    text = _OPEN.sub(lambda found: _blank(found) if found[1] in unused else found[0], text)
    missing = [n for n in open_constants if n not in unused and n not in constants and n not in parameters]
    if missing:
        raise _undefined(missing)
    content = _parsed(text)
    check_whole_numbers(content, text)
    labels = _labels(content, asked, frozenset(open_constants) - constants.keys())
    if labels:
        written = (f'label "{label}" = {_written(text)};' for text, label in labels.items())
        content = _parsed("\n".join((text, *written, "")))
    values = {name: value for name, value in constants.items() if name not in unused}
    made = _instantiated(content, values)
    check_ranges(made, text)
    return StormProgram(made, labels)


def whole_constants(path: Path, constants: Mapping[str, str]) -> dict[str, int]:
    """Returns the whole-number constants of a file that its text and the given values tell.

    A definition is arithmetic over numbers and constants before it; others are left out.

    Raises:
        InputError: as `read_text` says.
    """
    text = read_text(path)
    found: dict[str, Fraction] = {}
    for name in _OPEN.findall(text):
        if _WHOLE.fullmatch(constants.get(name, "")):
            found[name] = Fraction(constants[name])
    for name, definition in _DEFINED.findall(text):
        with suppress(ExpressionError):
            value = Fraction(evaluate(parse(definition), found))
            if value.denominator == 1:
                found[name] = value
    return {name: int(value) for name, value in found.items()}


def _count(name: str, text: str) -> int:
    """Returns how often a name stands in a text; what is in quotes is a label, and does not count."""
    return len(re.findall(rf"\b{re.escape(name)}\b", _QUOTED.sub("", text)))


def _undefined(names: Sequence[str]) -> InputError:
    several = len(names) > 1
    told = f"the constants {', '.join(names)} are" if several else f"the constant {names[0]!r} is"
    values = ",".join(f"{name}=..." for name in names)
    return InputError(
        f"{told} not defined: give {'them values' if several else 'it a value'}, "
        "or declare a parameter with a domain",
        key=names[0],
        mend=f'--constant {values}, or --parameter "{names[0]}=(0, 1)"',
    )


def _check_constants(constants: Mapping[str, str], known: Iterable[str]) -> None:
    known = list(known)
    for name, value in constants.items():
        if name not in known:
            near = nearest(name, known)
            others = f"its undefined constants: {', '.join(known) or 'none'}"
            told = f"did you mean {near!r}?" if near else others
            raise InputError(f"the model has no undefined constant {name!r}", key="constants", mend=told)
        if not _VALUE.fullmatch(value):
            raise InputError(
                f"the value {value!r} of the constant {name!r} is not a number",
                key="constants",
                mend="write a number such as 3, 0.5 or 1/3, or true or false",
            )


def _parsed(text: str) -> Any:
    import stormpy

    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.prism"
        file.write_text(text, encoding="utf-8")
        return stormpy.parse_prism_program(str(file))


def _instantiated(content: Any, values: Mapping[str, str]) -> Any:
    import stormpy

    if not values:
        return content
    changed, _ = stormpy.instantiate_constants(content, ",".join(f"{n}={v}" for n, v in values.items()))
    return changed


def _labels(content: Any, asked: Mapping[str, frozenset[str]], parameters: frozenset[str]) -> dict[str, str]:
    """Returns a label for each condition that the variables of the model do not settle."""
    names_of = content.expression_manager.get_variables()
    known = {str(v.name) for v in names_of}
    truths = {str(v.name) for v in names_of if v.has_boolean_type()}
    variables = {str(v.name) for v in content.variables} - {str(c.name) for c in content.constants}
    found: dict[str, str] = {}
    for text, names in asked.items():
        settled = names <= variables or not names <= known
        if not settled and (text not in names or text in truths):
            _check_condition(text, names & parameters)
            found[text] = f"{HIDDEN}{len(found)}"
    return found


def _check_condition(text: str, parameters: frozenset[str]) -> None:
    """Refuses what Storm cannot tell of a state."""
    if parameters:
        raise InputError(
            f"the condition {text} is about the parameter {min(parameters)!r}, but a "
            "condition may only be about states",
            key="condition",
            mend="give the constant a value",
        )
    if re.search(r"\babs\s*\(", text):
        raise InputError(
            f"the condition {text} uses abs together with formulas or constants of the file, "
            "but PRISM has no abs",
            key="condition",
            mend="write max(x, -x) instead",
        )


def _written(condition: str) -> str:
    return f"({condition.replace('==', '=')})"


Numbers: TypeAlias = "array[int]"

PIECE = 1 << 24  # bytes
_ENTRY = re.compile(rb"\t\t(\d+) : ([^\n]+)\n")
_CHOICE = b"\n\taction"


def transitions(model: Any) -> tuple[Numbers, Numbers, Numbers, dict[str, int]]:
    """Returns where the row of each choice begins, targets, values as numbers, and those values.

    Raises:
        LimitError: there was no room for the file.
    """
    import stormpy

    begins, targets, weights = array("q", [0]), array("i"), array("i")
    places: dict[bytes, int] = {}
    options = stormpy.io.DirectEncodingExporterOptions()
    options.allow_placeholders = False
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.drn"
        stormpy.io.export_to_drn(model, str(path), options=options)
        end = 0
        for piece in _pieces(path):
            rows = piece.split(_CHOICE)
            for row in rows[1:]:
                end += row.count(b"\n\t\t")
                begins.append(end)
            found = _ENTRY.findall(piece)
            targets.extend(map(int, [target for target, _ in found]))
            for _, value in found:
                if value not in places:
                    places[value] = len(places)
            weights.extend([places[value] for _, value in found])
    matrix = model.transition_matrix
    if (len(begins) - 1, len(targets), end) != (matrix.nr_rows, matrix.nr_entries, matrix.nr_entries):
        raise LimitError(
            "Storm could not write the whole model to a temporary file: check that the disk for "
            "temporary files has space"
        )
    return begins, targets, weights, {value.decode(): place for value, place in places.items()}


def _pieces(path: Path) -> Iterator[bytes]:
    """Yields the file in pieces of whole lines; all but the first begin at a state."""
    with path.open("rb") as file:
        rest = b""
        while read := file.read(PIECE):
            rest += read
            cut = rest.rfind(b"\nstate ")
            if cut > 0:
                yield rest[: cut + 1]
                rest = rest[cut:]
        yield rest


MAX_STATES = 20_000_000
KINDS = {"ModelType.DTMC": "chain", "ModelType.MDP": "mdp"}
MISTAKES = {kind.__name__: kind for kind in (InputError, CaseError, UnsupportedError)}


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

    `asked` are conditions on states, each with its names (`program`).
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
        raise UnsupportedError(
            f"the file must be a Markov chain (dtmc) or a decision process (mdp), not {model.model_type}"
        )
    if model.nr_states > MAX_STATES:
        raise LimitError(
            f"the model has {model.nr_states:,} states, but at most {MAX_STATES:,} are supported"
        )
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
        labels=_built_labels(model, size),
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


def _built_labels(model: Any, size: int) -> dict[str, bytes]:
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


INSTALL = "pip install 'paramverify[storm]'"

Builder = Callable[[Request], Built]


def available() -> bool:
    """Tells whether Storm's Python package is there."""
    from importlib.util import find_spec

    return find_spec("stormpy") is not None


def read_prism(
    path: Path,
    checks: Checks,
    constants: Mapping[str, str],
    asked: Mapping[str, frozenset[str]],
    build: Builder,
) -> Chain:
    """Reads a PRISM model; its undefined constants are parameters of the domain, or get values.

    `asked` are conditions on states, each with its names: where they need formulas or constants of the file,
    the model says where they hold. Storm makes the model where `build` lets it.

    Raises:
        UnsupportedError: Storm is not installed, or the model is neither a Markov chain nor a decision
            process. InputError: Storm refuses the file, or an undefined constant has neither a value nor a
            domain. LimitError: Storm met a limit.
    """
    if not available():
        raise UnsupportedError(f"PRISM files need Storm: {INSTALL}")
    with located(file=str(path)):
        names = {text: tuple(sorted(found)) for text, found in asked.items()}
        built = build(Request(str(path.resolve()), constants, tuple(checks.ring.parameters), names))
        return with_conditions(_chain(built, checks), built.conditions)


def with_conditions(chain: Chain, labels: Mapping[str, str]) -> Chain:
    """Returns the model in which hidden labels are conditions."""
    left = {name: where for name, where in chain.labels.items() if name not in labels.values()}
    return replace(chain, labels=left, conditions={text: chain.labels[n] for text, n in labels.items()})


def _chain(built: Built, checks: Checks) -> Chain:
    """Returns the model whose rows are distributions at every point of the domain."""
    values: list[Value] = []
    for text in built.texts:
        if built.parametric:
            values.append(checks.function(parse(text.replace("^", "**"))))
        else:
            values.append(fmpq(*map(int, text.split("/"))))
    _check_rows(built, values, checks)
    names = Names(built.size, built.variables, built.truths)
    labels = {label: States(marks) for label, marks in built.labels.items()}
    if built.kind == "mdp":
        return assemble(
            states=names,
            named=[_choices(built, values, state) for state in range(built.size)],
            initial=built.initial,
            labels=labels,
            variables=built.variables,
            checks=checks,
            truths=built.truths,
        )
    if not built.initial:
        raise ModelError("the model has no initial state")
    alike = uniform(((tuple(enumerate(values)),),), checks.ring)[0][0]
    rows = FlatRows(built.begins, built.targets, built.weights, tuple(value for _, value in alike))
    return Chain(
        states=names,
        actions=(ANY,),
        rows=rows.mapped(lambda value: value),
        initial=built.initial,
        labels=labels,
        variables=built.variables,
        domain=checks.domain,
        obligations=tuple(checks.obligations),
        truths=built.truths,
    )


def _choices(built: Built, values: Sequence[Value], state: int) -> Choices:
    """Returns the choices of a state of a decision process."""
    found: list[tuple[str, Row]] = []
    for choice in range(built.groups[state], built.groups[state + 1]):
        first, last = built.begins[choice], built.begins[choice + 1]
        entries = ((built.targets[k], values[built.weights[k]]) for k in range(first, last))
        row = tuple((target, value) for target, value in entries if not is_zero(value))
        act = built.acts[choice] if built.acts else -1
        found.append((built.actions[act] if act >= 0 else ANY, row))
    return found


def _check_rows(built: Built, values: Sequence[Value], checks: Checks) -> None:
    """Refuses rows that are no distributions; Storm does not check rows with parameters."""
    one = checks.ring.context.constant
    checked: set[bytes] = set()
    first = 0
    for choice, last in enumerate(built.begins[1:]):
        weights = built.weights[first:last]
        same = weights.tobytes()
        if same not in checked:
            checked.add(same)
            state = bisect_right(built.groups, choice) - 1
            row = [(t, values[w]) for t, w in zip(built.targets[first:last], weights, strict=True)]
            entries = {
                str(t): v if isinstance(v, RationalFunction) else RationalFunction.of(one(v)) for t, v in row
            }
            checks.distribution(entries, f"state {state}")
        first = last
