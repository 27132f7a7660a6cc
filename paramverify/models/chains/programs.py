"""PRISM files as Storm gets them: checked text, values of constants, and conditions that are asked for.

Storm reads most of PRISM's language ([Kwiatkowska11], [Hensel22]). Where it sets the brackets of an
expression otherwise, the file is refused: Storm would build another model without a word. Rewards are left
out, and with them the constants that nothing else needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paramverify.algebra.expressions import evaluate, parse
from paramverify.errors import CaseError, ExpressionError, InputError
from paramverify.files import read_file
from paramverify.models.chains.whole_numbers import check_ranges, check_whole_numbers
from paramverify.spelling import nearest

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
        raise InputError("it starts with a byte order mark, which Storm does not read: save it without one")
    text = _UNREAD.sub(_blank, text)
    for statement in text.split(";"):
        if len(statement) > MAX_STATEMENT and len("".join(statement.split())) > MAX_STATEMENT:
            raise InputError(f"a statement with more than {MAX_STATEMENT:,} characters")
        depth = 0
        for character in statement:
            depth += (character in "([") - (character in ")]")
            if depth > MAX_DEPTH:
                raise InputError(f"brackets nested deeper than {MAX_DEPTH}")
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
                    "PRISM reads a => b => c as a => (b => c), and Storm as (a => b) => c",
                    key=f"line {line}",
                    mend="write the brackets",
                )
            level.minus = False
        elif word == "-" and not _ends_operand(before):
            level.minus = True
        elif word == "^":
            if level.minus:
                raise InputError(
                    "PRISM reads -x^2 as (-x)^2, and Storm as -(x^2)",
                    key=f"line {line}",
                    mend="write the brackets",
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
        f"{told} not defined: give {'them values' if several else 'it a value'}, or a domain as a parameter",
        key=names[0],
        mend=f'--constant {values}, or --parameter "{names[0]}=(0, 1)"',
    )


def _check_constants(constants: Mapping[str, str], known: Iterable[str]) -> None:
    known = list(known)
    for name, value in constants.items():
        if name not in known:
            near = nearest(name, known)
            told = f"did you mean {near!r}?" if near else f"it has {', '.join(known) or 'none'}"
            raise InputError(f"the model has no undefined constant {name!r}", key="constants", mend=told)
        if not _VALUE.fullmatch(value):
            raise InputError(
                f"the value {value!r} of the constant {name!r} is no number",
                key="constants",
                mend="write one such as 3, 0.5 or 1/3, or true or false",
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
            f"the condition {text} is about the parameter {min(parameters)!r}, and not about states alone",
            key="condition",
            mend="give the constant a value",
        )
    if re.search(r"\babs\s*\(", text):
        raise InputError(
            f"the condition {text} needs formulas or constants of the file, and PRISM has no abs",
            key="condition",
            mend="write max(x, -x)",
        )


def _written(condition: str) -> str:
    return f"({condition.replace('==', '=')})"
