"""Which variables a program may still read: what nothing reads is forgotten, and its noise summed out.

A cell is a variable, an entry of a list by its number, or the length of a list; what is read without a known
number is the whole list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paramverify.models.programs.syntax import (
    Apply,
    Ask,
    Assign,
    Call,
    Choice,
    For,
    If,
    Items,
    Jump,
    Literal,
    Node,
    Output,
    Return,
    Statement,
    Variable,
    While,
)

WHOLE = -1
LENGTH = -2
Cell = tuple[str, int]
Live = frozenset[Cell]

NOTHING: Live = frozenset()


@dataclass(frozen=True)
class After:
    """What is read after a block, by the way in which it is left."""

    end: Live = NOTHING
    on_break: Live = NOTHING
    on_continue: Live = NOTHING
    on_return: Live = NOTHING


def read_by(node: Node) -> set[Cell]:
    """Returns the cells that an expression may read."""
    found: set[Cell] = set()
    stack: list[Node] = [node]
    while stack:
        inner = stack.pop()
        match inner:
            case Variable():
                found.add((inner.name, WHOLE))
            case Apply("index", (Variable() as base, Literal() as index), _) if _is_number(index):
                found.add((base.name, int(index.value)))
            case Apply("len", (Variable() as base,), _):
                found.add((base.name, LENGTH))
            case Apply() | Call() | Ask():
                stack.extend(inner.arguments)
            case Items():
                stack.extend(inner.items)
            case Choice():
                stack.extend(p for _, p in inner.table)
    return found


def _is_number(literal: Literal) -> bool:
    value = literal.value
    return not isinstance(value, (str, bool)) and value.denominator == 1 and value >= 0


def before(statements: Sequence[Statement], after: After) -> list[Live]:
    """Returns what is read from each statement of a block on, and at its end."""
    found = [after.end]
    for statement in reversed(statements):
        found.append(_before(statement, found[-1], after))
    return found[::-1]


def _before(statement: Statement, end: Live, after: After) -> Live:
    match statement:
        case Assign():
            return _before_assign(statement, end)
        case Output():
            return end | read_by(statement.value)
        case Return():
            return after.on_return | read_by(statement.value)
        case Jump("break", _):
            return after.on_break
        case Jump("continue", _):
            return after.on_continue
        case Jump():
            return NOTHING
        case If():
            inner = After(end, after.on_break, after.on_continue, after.on_return)
            then, other = (before(block, inner)[0] for block in (statement.then, statement.otherwise))
            return then | other | read_by(statement.test)
        case For() | While():
            return before_loop(statement, end, after)


def _before_assign(statement: Assign, end: Live) -> Live:
    read = read_by(statement.value).union(*(read_by(i) for i in statement.indices))
    if not statement.indices:
        return frozenset(c for c in end if c[0] not in statement.names) | read
    (name,) = statement.names
    index = statement.indices[0]
    known = len(statement.indices) == 1 and isinstance(index, Literal) and _is_number(index)
    gone = (name, int(index.value)) if known and isinstance(index, Literal) else None
    return frozenset(c for c in end if c != gone) | read | {(name, LENGTH)}


def before_loop(statement: For | While, end: Live, after: After) -> Live:
    """Returns what is read from the start of a loop on, by all its turns."""
    given = read_by(statement.values if isinstance(statement, For) else statement.test)
    live = end | (given if isinstance(statement, While) else NOTHING)
    while True:
        inner = before(statement.body, After(live, end, live, after.on_return))[0]
        if isinstance(statement, For):
            inner = frozenset(c for c in inner if c[0] not in statement.names)
        more = live | inner
        if more == live:
            return live | given
        live = more


def substituted(statements: Iterable[Statement], values: Mapping[str, Literal]) -> tuple[Statement, ...]:
    """Returns a block with known numbers in the place of variables."""
    return tuple(_in_statement(s, values) for s in statements)


def _in_statement(statement: Statement, values: Mapping[str, Literal]) -> Statement:
    def put(node: Node) -> Node:
        return _in_node(node, values)

    match statement:
        case Assign(names, indices, value, place):
            return Assign(names, tuple(map(put, indices)), put(value), place)
        case If(test, then, otherwise, place, part):
            return If(put(test), substituted(then, values), substituted(otherwise, values), place, part)
        case For(names, given, body, place):
            return For(names, put(given), substituted(body, values), place)
        case While(test, body, place):
            return While(put(test), substituted(body, values), place)
        case Output(value, place):
            return Output(put(value), place)
        case Return(value, place):
            return Return(put(value), place)
        case Jump():
            return statement


def _in_node(node: Node, values: Mapping[str, Literal]) -> Node:
    match node:
        case Variable(name, place):
            return Literal(values[name].value, place) if name in values else node
        case Apply(operator, arguments, place):
            return Apply(operator, tuple(_in_node(a, values) for a in arguments), place)
        case Call(name, arguments, place):
            return Call(name, tuple(_in_node(a, values) for a in arguments), place)
        case Ask(name, arguments, place):
            return Ask(name, tuple(_in_node(a, values) for a in arguments), place)
        case Items(items, place):
            return Items(tuple(_in_node(i, values) for i in items), place)
        case Choice(table, place):
            return Choice(tuple((v, _in_node(p, values)) for v, p in table), place)
        case Literal():
            return node


def assigned_in(statements: Iterable[Statement]) -> set[str]:
    """Returns the variables to which a block assigns, in part or as a whole."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case Assign():
                found.update(statement.names)
            case If():
                found |= assigned_in((*statement.then, *statement.otherwise))
            case For():
                found.update(statement.names)
                found |= assigned_in(statement.body)
            case While():
                found |= assigned_in(statement.body)
            case _:
                pass
    return found
