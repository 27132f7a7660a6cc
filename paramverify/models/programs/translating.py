"""Calls of Python's libraries as expressions of the language; see `library.py` for which."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass

Arguments = Mapping[str, ast.expr]

OPTIONS = (  # arguments that make another function, or an array of several values
    *("size", "dtype", "out", "axis", "keepdims", "initial", "where", "random_state", "method"),
    *("decimals", "ndigits", "mod", "cum_weights", "replace", "shuffle"),
)
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.Lt: ast.Gt,
    ast.GtE: ast.LtE,
}


class NoTranslation(Exception):
    """A call has none; the text is the reason, after the name of the function."""


@dataclass(frozen=True)
class ExactFunction:
    """A function with its arguments, as `def` has them, and an expression over them with the same law.

    The expression may depend on the arguments: then it is one over them (a text), or has them in it already.
    """

    arguments: str
    template: str | Callable[[Arguments], str | ast.expr]


@dataclass(frozen=True)
class UniformFunction:
    """A function whose value is real and uniform on [0, 1): translated where it is compared, and only there.

    The arguments have to be numbers that are equal to their defaults, 0 where there is none.
    """

    arguments: str = ""


@dataclass(frozen=True)
class Refused:
    """A function without a translation."""

    reason: str


Entry = ExactFunction | UniformFunction | Refused


def translated(entry: Entry, use: ast.expr, draw: ast.Call | None) -> str:
    """Returns the expression of the language with the law of a call, in parentheses where it may need them.

    Raises:
        NoTranslation: there is none.
    """
    if isinstance(entry, Refused):
        raise NoTranslation(entry.reason)
    if isinstance(entry, UniformFunction):
        return _compared(entry, use, draw)
    if not isinstance(use, ast.Call):
        raise NoTranslation("stands without its arguments: functions are no values in the language")
    given = _bind(entry.arguments, use)
    template = entry.template if isinstance(entry.template, str) else entry.template(given)
    if isinstance(template, ast.expr):
        return _shown(template)
    tree = parsed(template)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for argument, value in given.items():
        if names.count(argument) > 1 and any(isinstance(n, ast.Call) for n in ast.walk(value)):
            raise NoTranslation(f"needs its argument several times: give {ast.unparse(value)} a name first")
    return _shown(_Filled(given).visit(tree))


def _compared(entry: UniformFunction, use: ast.expr, draw: ast.Call | None) -> str:
    """Returns the translation of `u < p` or `u >= p`, in either order."""
    if not isinstance(use, ast.Compare) or draw is None:
        raise NoTranslation(
            "is a real number, and such noise is not in the language; a comparison is: if u is between 0 "
            "and 1 and compared once, u < p is flip(p)"
        )
    kind, p = type(use.ops[0]), use.comparators[0]
    if p is draw:
        kind, p = _FLIPPED.get(kind, kind), use.left
    defaults = _defaults(entry.arguments)
    for argument, value in _bind(entry.arguments, draw).items():
        wanted = number(defaults.get(argument, ast.Constant(0)))
        if not is_none(value) and (wanted is None or number(value) != wanted):
            told = f"and {argument} is {ast.unparse(value)}"
            raise NoTranslation(f"has a translation for one number between 0 and 1, {told}")
    if kind is ast.Lt:
        return f"flip({ast.unparse(p)})"
    if kind is ast.GtE:
        return f"(not flip({ast.unparse(p)}))"
    raise NoTranslation("has a translation in u < p and u >= p only: u may be p itself, and 0")


def _defaults(arguments: str) -> dict[str, ast.expr]:
    spec = _spec(arguments)
    plain = spec.args[len(spec.args) - len(spec.defaults) :]
    found = {a.arg: v for a, v in zip(plain, spec.defaults, strict=True)}
    return found | {a.arg: v for a, v in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if v}


def _spec(arguments: str) -> ast.arguments:
    made = ast.parse(f"lambda {arguments}: 0", mode="eval").body
    assert isinstance(made, ast.Lambda)
    return made.args


def _bind(arguments: str, call: ast.Call) -> dict[str, ast.expr]:
    """Returns the arguments of a call by their names.

    Raises:
        NoTranslation: others than the function has, or one that changes what it returns.
    """
    spec, defaults = _spec(arguments), _defaults(arguments)
    names = [a.arg for a in spec.args]
    known = [*names, *(a.arg for a in spec.kwonlyargs)]
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise NoTranslation("has arguments with a star, which are not in the language")
    pairs = [*zip(names, call.args, strict=False), *((str(k.arg), k.value) for k in call.keywords)]
    given = dict(pairs)
    if len(call.args) > len(names) or len(given) < len(pairs) or not given.keys() <= set(known):
        raise NoTranslation("has no translation with these arguments")
    missing = [n for n in known if n not in given and n not in defaults]
    if missing:
        raise NoTranslation(f"needs {missing[0]}")
    for option in OPTIONS:
        if option in given and not is_none(given[option]):
            raise NoTranslation(f"with the argument {option} has no translation")
    return {n: given.get(n, defaults.get(n, ast.Constant(None))) for n in known}


class _Filled(ast.NodeTransformer):
    """Puts arguments into a template, and leaves out sums with 0 and differences of written numbers."""

    def __init__(self, given: Arguments) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return deepcopy(self.given[node.id]) if node.id in self.given else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        first, second = number(left), number(right)
        if isinstance(node.op, ast.Add) and first == 0:
            return right  # type: ignore[no-any-return]
        if isinstance(node.op, ast.Sub) and isinstance(first, int) and isinstance(second, int):
            return ast.Constant(first - second)
        return ast.BinOp(left, node.op, right)


def parsed(text: str) -> ast.expr:
    """Returns an expression of Python."""
    return ast.parse(text, mode="eval").body


def _shown(tree: ast.expr) -> str:
    text = ast.unparse(tree)
    return text if isinstance(tree, (ast.Call, ast.Name, ast.Subscript, ast.List)) else f"({text})"


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _isnumber(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number(node: ast.expr) -> int | float | None:
    """Returns a number that is written as such, with a sign or not."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inside = number(node.operand)
        return None if inside is None else -inside
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
