"""Programs that read a stream: what comes before the loop over it, the loop, and the values of an entry."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.errors import ProgramError
from paramverify.models.programs.program_reading import STREAM, VALUES
from paramverify.models.programs.program_syntax import (
    Apply,
    Assign,
    For,
    If,
    Items,
    Jump,
    Literal,
    Node,
    Place,
    Program,
    Return,
    Statement,
    Variable,
    every_node,
    every_statement,
    nodes_of,
)
from paramverify.models.programs.static_analysis import check_sharing
from paramverify.models.ranges import check_number, values_of

REAL = "real"
NO_INPUTS = (
    "a program over a stream must not have [mechanism.inputs], because "
    "stream(values=...) describes its entries"
)
VERIFY = "use `paramverify verify` to decide it, or `paramverify budget` to find its least budget"
UNBOUNDED = ("laplace", "exponential", "gauss")  # noise with a density


@dataclass(frozen=True)
class Stream:
    """A program over a stream: its first statements, and what it does with each entry, called `name`.

    `values` are those of an entry; None means any number.
    """

    program: Program
    setup: tuple[Statement, ...]
    name: str
    values: tuple[Fraction | str, ...] | None
    body: tuple[Statement, ...]
    place: Place


def reads_stream(program: Program) -> bool:
    """Tells whether a program has a loop over a stream."""
    return any(map(_over_stream, program.body))


def is_continuous(program: Program) -> bool:
    """Tells whether a program draws noise that has a density."""
    blocks = (program.body, *(function.body for function in program.functions.values()))
    nodes = (
        inner
        for block in blocks
        for statement in every_statement(block)
        for node in nodes_of(statement)
        for inner in every_node(node)
    )
    return any(isinstance(node, Apply) and node.operator in UNBOUNDED for node in nodes)


def stream_of(program: Program) -> Stream:
    """Returns a program that has a loop over a stream, taken apart.

    Raises:
        ProgramError: something comes after the loop, values that are none, a changed list with two names.
    """
    number = next(k for k, statement in enumerate(program.body) if _over_stream(statement))
    loop = program.body[number]
    assert isinstance(loop, For)
    if number + 1 < len(program.body):
        reason = (
            "a stream never ends, so the program must not continue after its loop; move this "
            "into the loop, before stop"
        )
        raise ProgramError(reason, program.text, *program.body[number + 1].place)
    check_sharing(program, ())  # of the whole: a list that is made before the loop may be changed in it
    setup = program.body[:number]
    for statement in setup:
        if isinstance(statement, (Jump, Return)):
            raise ProgramError("the program ends before it reads its stream", program.text, *statement.place)
    assert isinstance(loop.values, Apply)
    values = _values(program, loop.values.arguments[0])
    return Stream(program, setup, loop.names[0], values, body=_all(loop.body), place=loop.place)


def _over_stream(statement: Statement) -> bool:
    values = statement.values if isinstance(statement, For) else None
    return isinstance(values, Apply) and values.operator == STREAM


def check_bare_stream(program: Program, known: Collection[str]) -> None:
    """Checks that no loop runs over the word `stream` alone, where nothing has this name.

    Raises:
        ProgramError: one does.
    """
    blocks = (program.body, *(function.body for function in program.functions.values()))
    loops = [s for block in blocks for s in every_statement(block) if isinstance(s, (For, Assign))]
    own = {name for s in loops for name in s.names} | {
        name for function in program.functions.values() for name in function.parameters
    }
    for loop in loops:
        values = loop.values if isinstance(loop, For) else None
        if isinstance(values, Variable) and values.name == STREAM and STREAM not in own | set(known):
            raise ProgramError(VALUES, program.text, *values.place)


def _ending(statement: Statement) -> Statement:
    """Returns a statement of the loop over the stream in which `break` is `stop`: nothing comes after it."""
    match statement:
        case Jump("break", place):
            return Jump("stop", place)
        case If(_, then, otherwise):
            return replace(statement, then=_all(then), otherwise=_all(otherwise))
    return statement


def _all(block: tuple[Statement, ...]) -> tuple[Statement, ...]:
    return tuple(map(_ending, block))


def _values(program: Program, node: Node) -> tuple[Fraction | str, ...] | None:
    told = node.value if isinstance(node, Literal) else None
    if told == REAL:
        return None
    found: tuple[Fraction | str, ...] = ()
    if isinstance(node, Items):
        entries = [_entry(item) for item in node.items]
        found = () if None in entries else tuple(e for e in entries if e is not None)
        check_number(len(entries))
    elif isinstance(told, str):
        found = values_of(told) or ()
    if not found or len(set(found)) < len(found):
        reason = (
            'the values of a stream must be "real", a range such as "-1..1", or a list of different values'
        )
        raise ProgramError(reason, program.text, *node.place)
    return found


def _entry(node: Node) -> Fraction | str | None:
    match node:
        case Literal(value) if not isinstance(value, bool):
            return value
        case Apply("neg", (Literal(Fraction() as value),)):
            return -value
        case Apply("/", (above, Literal(Fraction() as below))) if below:
            number = _entry(above)
            return number / below if isinstance(number, Fraction) else None
    return None
