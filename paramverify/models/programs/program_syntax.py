"""Programs as data: a small tree of our own, with the places in the text that it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from paramverify.algebra.polynomials import RationalFunction

Constant = Fraction | str | bool


class Place(NamedTuple):
    """A place in a program's text: the line from 1, the column from 0."""

    line: int
    column: int


@dataclass(frozen=True)
class Literal:
    """A number, a label in quotes, True or False."""

    value: Constant
    place: Place


@dataclass(frozen=True)
class Variable:
    """A variable, an input or a parameter."""

    name: str
    place: Place


@dataclass(frozen=True)
class Items:
    """A list that is written out; several values at once, such as those of `return a, b`, are one too."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True)
class Apply:
    """An operator or a function of the language, applied; `index` and `slice` are operators too."""

    operator: str
    arguments: tuple[Node, ...]
    place: Place


@dataclass(frozen=True)
class Choice:
    """`choice({value: probability, ...})`."""

    table: tuple[tuple[Constant, Node], ...]
    place: Place


@dataclass(frozen=True)
class Call:
    """A function of the program, applied."""

    name: str
    arguments: tuple[Node, ...]
    place: Place


@dataclass(frozen=True)
class Ask:
    """Another mechanism of the case, applied."""

    name: str
    arguments: tuple[Node, ...]
    place: Place


Node = Literal | Variable | Items | Apply | Choice | Call | Ask


@dataclass(frozen=True)
class Assign:
    """`name = value`, `name[i][j] = value`, or `a, b = value` with several names."""

    names: tuple[str, ...]
    indices: tuple[Node, ...]
    value: Node
    place: Place


@dataclass(frozen=True)
class If:
    """`if test: ... else: ...`; `part` tells that it is a part of an expression, no statement of the text."""

    test: Node
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    place: Place
    part: bool = False


@dataclass(frozen=True)
class For:
    """`for names in values: ...`."""

    names: tuple[str, ...]
    values: Node
    body: tuple[Statement, ...]
    place: Place


@dataclass(frozen=True)
class While:
    """`while test: ...`."""

    test: Node
    body: tuple[Statement, ...]
    place: Place


@dataclass(frozen=True)
class Jump:
    """`stop`, `break` or `continue`."""

    word: str
    place: Place


@dataclass(frozen=True)
class Output:
    """`output(value)`."""

    value: Node
    place: Place


@dataclass(frozen=True)
class Return:
    """`return value`: of a function its value, of the program the last output."""

    value: Node
    place: Place


Statement = Assign | If | For | While | Jump | Output | Return


@dataclass(frozen=True)
class Function:
    """A function that the program defines."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]
    place: Place


@dataclass(frozen=True)
class Program:
    """A program: its text, its functions, what it does, and the mechanisms that it may call."""

    text: str
    functions: dict[str, Function]
    body: tuple[Statement, ...]
    calls: Mapping[str, Callee] = field(default_factory=dict)

    @property
    def tells(self) -> bool:
        """Whether it has `output(...)`: called, it then gives the list of all that it told."""
        return any(isinstance(s, Output) for s in every_statement(self.body))


Number = Fraction | float
Row = Sequence[tuple[Constant, RationalFunction]]  # values with their probabilities


@dataclass(frozen=True, eq=False)
class CalledProgram:
    """A program that others call, the names of its inputs, and its key in the case."""

    program: Program
    inputs: tuple[str, ...]
    key: str


@dataclass(frozen=True, eq=False)
class CalledRow:
    """A mechanism of the library that programs call by a name: what it gives for answers, and how likely.

    It takes `count` answers, and `at` gives the same where parameters are numbers. Both may raise an
    InputError: these are no answers that it takes. `known` are the values that it may give, None where that
    is not known before.
    """

    name: str
    row: Callable[[tuple[Constant, ...]], Row]
    at: Callable[[tuple[Constant, ...], Mapping[str, Number]], Sequence[tuple[Constant, Number]]]
    count: int
    known: tuple[Constant, ...] | None
    key: str


Callee = CalledProgram | CalledRow


def every_node(node: Node) -> Iterator[Node]:
    """Yields an expression and all that stand in it."""
    stack: list[Node] = [node]
    while stack:
        found = stack.pop()
        yield found
        if isinstance(found, (Apply, Call, Ask)):
            stack.extend(found.arguments)
        elif isinstance(found, Items):
            stack.extend(found.items)
        elif isinstance(found, Choice):
            stack.extend(p for _, p in found.table)


def nodes_of(statement: Statement) -> tuple[Node, ...]:
    """Returns the expressions of a statement, without those of the blocks inside."""
    match statement:
        case Assign():
            return (*statement.indices, statement.value)
        case If() | While():
            return (statement.test,)
        case For():
            return (statement.values,)
        case Output() | Return():
            return (statement.value,)
        case Jump():
            return ()


def inner_blocks(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Returns the blocks inside a statement."""
    if isinstance(statement, If):
        return statement.then, statement.otherwise
    if isinstance(statement, (For, While)):
        return (statement.body,)
    return ()


def every_statement(body: Sequence[Statement]) -> Iterator[Statement]:
    """Yields the statements of a block and of all blocks inside."""
    for statement in body:
        yield statement
        for block in inner_blocks(statement):
            yield from every_statement(block)
