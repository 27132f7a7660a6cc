"""Case files about streams with unbounded noise.

An automaton, or a program that is made into one, and its budget.

[automaton]                          # or [mechanism] with kind = "program", whose text has stream(...)
file = "sparse-vector.dipa"

[parameters]
eps = "(0, oo)"

[neighbours]
differ = "each"                      # or "one"

[privacy]
epsilon = "eps"                      # a multiple of the parameter, and a number if you like
length = "all"
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.algebra.budgets import WrittenEpsilon as Sum
from paramverify.algebra.budgets import read_epsilon
from paramverify.automata.automaton import MAX_BYTES, Automaton, parse_automaton
from paramverify.automata.stream_programs import Unit, Value, translate
from paramverify.errors import CaseError, ExpressionError, InputError, LimitError, located
from paramverify.expectations import EXPECT, SOURCE, TITLE, read_expect
from paramverify.files import read_file
from paramverify.models.mechanisms import read_differ
from paramverify.models.mechanisms._queries import MAX_BY, near_answers
from paramverify.models.parameters import PARAMETERS, fixed_values, unbounded_names
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.stream_loops import NO_INPUTS, is_continuous, reads_stream, stream_of
from paramverify.privacy.keys import PRIVATE
from paramverify.tables import (
    EXPRESSION,
    FILE,
    Key,
    Leaf,
    Section,
    Table,
    as_expression,
    one_of,
    read_document,
    whole,
)

ALL = Leaf('"all"', {"const": "all", "type": "string"}, words=("all",))
AUTOMATON = Section(
    "[automaton]",
    "An automaton over streams.",
    (Key("file", FILE, "The file of the automaton (.dipa), relative to the case file.", needed=True),),
)
NEIGHBOURS = Section(
    "[neighbours]",
    "The pairs of streams that are neighbours.",
    (
        Key("differ", one_of("each", "one"), "Whether each entry may differ, or only one.", needed=True),
        Key("by", whole(0, MAX_BY), "By how much entries differ at most; 1 by default."),
    ),
)
PRIVACY = Section(
    "[privacy]",
    "The claimed bound, for every value of the parameter and streams of every length.",
    (
        Key(
            "epsilon",
            EXPRESSION,
            'A multiple of the parameter, such as "5/4 * eps"; or a number is added.',
            needed=True,
        ),
        Key("length", ALL, "Streams of every length.", needed=True),
    ),
)
STREAM = Section(
    "automaton",
    "A case about an automaton over streams.",
    (
        TITLE,
        SOURCE,
        Key("parameters", PARAMETERS, needed=True),
        Key("automaton", AUTOMATON, needed=True),
        Key("neighbours", NEIGHBOURS, needed=True),
        Key("privacy", PRIVACY, needed=True),
        Key("expect", EXPECT),
    ),
)


@dataclass(frozen=True)
class StreamBudget:
    """`multiple`·ε + `plus`, where both are 0 or more.

    If W·ε is the least budget for each ε, then this one is enough for every ε iff W ≤ multiple: for
    ε > plus/(W − multiple) it is less than W·ε.
    """

    multiple: Fraction
    plus: Fraction = Fraction(0)

    def text(self, name: str) -> str:
        """Returns the budget as an expression of a case file, where ε is called `name`."""
        return f"{self.multiple} * {name}{f' + {self.plus}' if self.plus else ''}"


def read_budget(value: object, parameter: str, constants: Mapping[str, Fraction]) -> StreamBudget:
    """Reads a budget that is linear in the parameter by value: `eps/2 + eps/4`, `c * eps`, `eps + 1`.

    `constants` are the parameters that are numbers.

    Raises:
        InputError: the value is no expression; it is not linear; or it is negative for some ε.
    """
    what = f"a multiple of {parameter} is needed, such as 5/4 * {parameter}, or with a number added to it"
    try:
        expression = as_expression(value, constants)
    except ExpressionError as error:
        power = error.mend and "^" in error.text
        if power and not _is_budget(error.text.replace("^", "**"), parameter, constants):
            error.retell(what)  # the mend is no budget
        raise
    try:
        found = read_epsilon(expression, {parameter})
    except ExpressionError as error:
        error.retell(what)
        raise
    if found.logarithms:
        raise ExpressionError(what, expression.text, 0)
    budget = _linear(found)
    if budget.multiple < 0 or budget.plus < 0:
        raise ExpressionError(f"a budget is 0 or more for every {parameter} > 0", expression.text, 0)
    return budget


def _is_budget(text: str, parameter: str, constants: Mapping[str, Fraction]) -> bool:
    """Tells whether a text is a budget."""
    try:
        read_budget(text, parameter, constants)
    except InputError:
        return False
    return True


def _linear(found: Sum) -> StreamBudget:
    return StreamBudget(sum((factor for _, factor in found.multiples), Fraction(0)), found.rational)


@dataclass(frozen=True)
class ComparedStreams:
    """Which streams are compared, and what ε is called.

    Entries differ by at most `reach` each, or only `one` entry does. `values` are those of an entry, None if
    it is any number.
    """

    one: bool = False
    reach: Fraction = Fraction(1)
    values: tuple[Fraction, ...] | None = None
    name: str = "epsilon"


@dataclass(frozen=True, eq=False)
class StreamCase:
    """A case about streams: its automaton, and its budget, which is linear in the parameter.

    Entries of two streams differ by at most `by` each (None: by anything), or only `one` entry does.
    `values` are those of an entry, None if it is any number.
    """

    path: str
    digest: str
    automaton: Automaton
    parameter: str
    budget: StreamBudget
    one: bool
    values: tuple[Fraction, ...] | None = None
    by: int | None = 1
    in_file: bool = False  # whether the automaton is a file of its own
    title: str = ""
    expect: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reach(self) -> Fraction:
        """The largest difference of one entry in two streams that are neighbours: 0 if all are equal."""
        if self.values is None:
            return Fraction(self.by or 0)
        apart = {abs(a - b) for a in self.values for b in self.values}
        return max(d for d in apart if self.by is None or d <= self.by)

    @property
    def compared(self) -> ComparedStreams:
        """Which streams are compared."""
        return ComparedStreams(self.one, self.reach, self.values, self.parameter)


def about_streams(path: Path) -> bool:
    """Tells whether a file is a case that `load` reads; mistakes are left to whoever reads it then."""
    try:
        document = read_document(path)
        if "automaton" in document.data:
            return True
        text, _ = _program_text(Table(document.data["mechanism"]), path.parent)
        program = read_program(text)
    except (InputError, KeyError, TypeError, AttributeError):
        return False
    return reads_stream(program) and is_continuous(program)


def load(path: Path) -> StreamCase:
    """Reads a case about streams.

    Raises:
        InputError: any mistake, with file, key and reason.
        LimitError: an automaton that is too large.
    """
    document = read_document(path)
    with document.errors():
        try:
            return _read(document.data, document.digest, path)
        except LimitError as error:
            raise LimitError(f"{path}: {error}") from None


def _read(data: Mapping[str, Any], digest: str, path: Path) -> StreamCase:
    top = Table(data, STREAM if "automaton" in data else PRIVATE)
    title, expect = top.text("title", ""), read_expect(top, claimed=False)
    top.text("source", "")
    parameter, constants = _parameters(top)
    budget = _budget(top, parameter, constants)
    with top.within("neighbours") as table:
        others = [name for name in ("related", "pairs", "distance") if name in table.data]
        if others:
            raise CaseError('a stream has differ = "each" or "one" only', key=others[0])
        differ, by = read_differ(table)
        table.close()
    values: tuple[Fraction, ...] | None = None
    if "automaton" in data:
        with top.within("automaton") as table:
            content = _content(path.parent, table.path("file"), "file")
            table.close()
            with located(file=str(path.parent / table.path("file"))):
                automaton = parse_automaton(content.decode("utf-8-sig"))
        parts = [digest, hashlib.sha256(content).hexdigest()]
    else:
        automaton, values, parts = _program(top, path, {parameter: Unit(Fraction(1)), **constants}, digest)
    top.close()
    if values is not None:
        with located(key="neighbours"):
            near_answers([values], differ, by)
    elif not by:
        reason = "entries that are any numbers differ by a whole number at most; write by = 1"
        raise CaseError(reason, key="neighbours.by")
    whole = parts[0] if len(parts) == 1 else hashlib.sha256(" ".join(parts).encode()).hexdigest()
    return StreamCase(
        str(path),
        whole,
        automaton,
        parameter,
        budget,
        one=differ == "one",
        values=values,
        by=by,
        in_file="automaton" in data,
        title=title,
        expect=expect,
    )


def _parameters(top: Table) -> tuple[str, dict[str, Fraction]]:
    """Returns the parameter of the domain (0, ∞), and the parameters that are numbers."""
    names, constants = unbounded_names(top), fixed_values(top)
    with top.within("parameters") as table:
        if len(names) != 1:
            raise CaseError('one parameter of the domain (0, oo) is needed: eps = "(0, oo)"')
        others = [name for name in table if name not in names and name not in constants]
        if others:
            reason = (
                f"only {names[0]} has an interval in a case about streams; every other parameter is a number"
            )
            raise CaseError(reason, key=others[0])
    return names[0], constants


def _budget(top: Table, parameter: str, constants: Mapping[str, Fraction]) -> StreamBudget:
    with top.within("privacy") as table:
        what = "an automaton" if "automaton" in top.data else "a stream with Laplace noise"
        if "delta" in table.data:
            raise CaseError(f"{what} has no delta", mend="leave it out", key="delta")
        if "epsilon" not in table.data:
            raise CaseError(f'the budget is a multiple of {parameter}: write epsilon = "{parameter}"')
        with located(key="epsilon"):
            budget = read_budget(table.get("epsilon"), parameter, constants)
        if table.get("length") != "all":
            raise CaseError(f'{what} is about every length: write length = "all"', key="length")
        table.close()
    return budget


def _program(
    top: Table, path: Path, parameters: Mapping[str, Value], digest: str
) -> tuple[Automaton, tuple[Fraction, ...] | None, list[str]]:
    with top.within("mechanism") as table:
        table.text("kind")
        text, own = _program_text(table, path.parent)
        name = "file" if own else "source"
        table.get(name)
        if "inputs" in table.data:
            raise CaseError(NO_INPUTS, key="inputs")
        table.close()
        with located(key=name):
            stream = stream_of(read_program(text))
            if any(isinstance(v, str) for v in stream.values or ()):
                raise CaseError("entries to which noise is added are numbers")
            values = tuple(v for v in stream.values or () if isinstance(v, Fraction)) or None
            return translate(stream, parameters), values, [digest, own] if own else [digest]


def _program_text(table: Table, folder: Path) -> tuple[str, str]:
    """Returns the text of a program, and the digest of its file if it has one."""
    if "source" in table.data:
        return table.text("source"), ""
    content = _content(folder, table.path("file"), "file")
    return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()


def _content(folder: Path, name: str, key: str) -> bytes:
    try:
        content = read_file(folder / name, MAX_BYTES, "a file of the case", CaseError)
        content.decode("utf-8-sig")
    except (CaseError, UnicodeDecodeError) as error:
        reason = error.reason if isinstance(error, CaseError) else "not UTF-8 text"
        raise CaseError(f"{name}: {reason}", key=key) from None
    return content
