"""Calls of functions inside expressions become assignments of their own, before the statement.

Functions change nothing but their own variables, and draws are independent. So a call may go before what
stands on its left, if the same runs make it: a branch takes the place of `and`, `or` and `x if c else y`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    every_node,
)

Lifted = tuple[list[Statement], Node]  # what goes before, and the expression that is left


def lifted(body: Sequence[Statement]) -> tuple[Statement, ...]:
    """Returns a block in which each call is the value of an assignment to names, and nothing else."""
    return tuple(new for statement in body for new in _statement(statement))


def _statement(statement: Statement) -> list[Statement]:
    match statement:
        case Assign(_, indices, value, _):
            first, kept = _call(value) if isinstance(value, Call) and not indices else _node(value)
            more, where = _all(indices)
            return [*first, *more, replace(statement, indices=where, value=kept)]
        case If(test, then, otherwise, place):
            first, kept = _node(test)
            return [*first, If(kept, lifted(then), lifted(otherwise), place)]
        case For(names, values, body, place):
            first, kept = _node(values)
            return [*first, For(names, kept, lifted(body), place)]
        case While(test, body, place):
            first, kept = _node(test)
            if not first:
                return [replace(statement, body=lifted(body))]
            leaving = If(kept, (), (Jump("break", place),), place)
            return [While(Literal(True, place), (*first, leaving, *lifted(body)), place)]
        case Output() | Return():
            first, kept = _node(statement.value)
            return [*first, replace(statement, value=kept)]
        case Jump():
            return [statement]


def _has_call(node: Node) -> bool:
    return any(isinstance(inner, Call) for inner in every_node(node))


def _all(nodes: Sequence[Node]) -> tuple[list[Statement], tuple[Node, ...]]:
    found = [_node(node) for node in nodes]
    return [s for first, _ in found for s in first], tuple(kept for _, kept in found)


def _node(node: Node) -> Lifted:
    """Returns an expression without calls, and what goes before it."""
    if not _has_call(node):
        return [], node
    match node:
        case Call():
            first, call = _call(node)
            name = _temporary(node)
            return [*first, Assign((name.name,), (), call, node.place)], name
        case Apply("and" | "or", parts, _):
            return _deciding(node, parts)
        case Apply("if", (test, yes, no), place):
            first, kept = _node(test)
            name = _temporary(node)
            return [*first, If(kept, _given(name, yes), _given(name, no), place, part=True)], name
        case Apply(operator, arguments, place):
            first, given = _all(arguments)
            return first, Apply(operator, given, place)
        case Ask(name, arguments, place):
            first, given = _all(arguments)
            return first, Ask(name, given, place)
        case Items(items, place):
            first, given = _all(items)
            return first, Items(given, place)
        case Choice(table, place):
            first, given = _all([share for _, share in table])
            return first, Choice(tuple(zip((v for v, _ in table), given, strict=True)), place)
    return [], node


def _call(call: Call) -> tuple[list[Statement], Call]:
    first, given = _all(call.arguments)
    return first, replace(call, arguments=given)


def _deciding(node: Apply, parts: Sequence[Node]) -> Lifted:
    """Makes the later parts of `and` and `or` branches: those before decide who comes there."""
    name = _temporary(node)
    plain = max(1, next(k for k, part in enumerate(parts) if _has_call(part)))
    start = parts[0] if plain == 1 else Apply(node.operator, tuple(parts[:plain]), node.place)
    inner: tuple[Statement, ...] = ()
    for before, part in reversed(list(zip(parts[plain - 1 :], parts[plain:], strict=False))):
        block: tuple[Statement, ...] = (*_given(name, part), *inner)
        test = replace(name, place=before.place)
        yes, no = (block, ()) if node.operator == "and" else ((), block)
        inner = (If(test, yes, no, part.place, part=True),)
    return [*_given(name, start), *inner], name


def _given(name: Variable, value: Node) -> tuple[Statement, ...]:
    first, kept = _call(value) if isinstance(value, Call) else _node(value)
    return (*first, Assign((name.name,), (), kept, value.place))


def _temporary(node: Node) -> Variable:
    """Returns a variable that no program can name; one for each place and kind of expression."""
    kind = node.operator if isinstance(node, Apply) else "call"
    return Variable(f"#{kind}:{node.place.line}:{node.place.column}", node.place)
