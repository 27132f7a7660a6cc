"""What `[define]` gives to programs: the definitions that are about the parameters of the case alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from paramverify.algebra.expressions import Expression, Node, Operation, RationalConstant, Text, evaluate
from paramverify.algebra.named import Definitions
from paramverify.algebra.trees import Name
from paramverify.models.programs.columns import Number as Sampled
from paramverify.models.programs.values import Symbol, Value

_FLOATS: dict[str, Callable[..., float]] = {
    "+": lambda *terms: math.fsum(terms),
    "*": lambda *factors: math.prod(factors),
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "exp": math.exp,
    "ln": math.log,
}


def as_values(definitions: Definitions, parameters: Mapping[str, Value]) -> dict[str, Value]:
    """Returns the definitions as values of a program: numbers and labels, or expressions in parameters."""
    numbers = {name: value for name, value in parameters.items() if isinstance(value, Fraction)}
    found: dict[str, Value] = {}
    for name, named in definitions.named.items():
        needed = named.expression.names().keys()
        if needed <= numbers.keys() and _is_rational(named.expression):
            found[name] = evaluate(named.expression, numbers)
        elif needed <= parameters.keys():
            found[name] = Symbol(named.expression.root)
    return found


def as_numbers(definitions: Definitions, values: Mapping[str, Sampled]) -> dict[str, Sampled]:
    """Returns the definitions that are numbers at a point; floats where the point has some, or by `exp`."""
    found: dict[str, Sampled] = {}
    exact = {name: value for name, value in values.items() if isinstance(value, Fraction)}
    for name, named in definitions.named.items():
        needed = named.expression.names().keys()
        if needed <= exact.keys() and _is_rational(named.expression):
            value = evaluate(named.expression, exact)
            if not isinstance(value, str):
                found[name] = Fraction(value)
        elif needed <= values.keys():
            number = _float(named.expression.root, values)
            if number is not None:
                found[name] = number
    return found


def _is_rational(expression: Expression) -> bool:
    return not any(isinstance(n, Operation) and n.operator in ("exp", "ln") for n in expression.nodes())


def _float(node: Node, values: Mapping[str, Sampled]) -> float | None:
    """Returns the value of a number; None of anything else."""
    if isinstance(node, RationalConstant):
        return float(node.value)
    if isinstance(node, Name):
        return float(values[node.name])
    if isinstance(node, Text) or node.operator not in _FLOATS:
        return None
    numbers = [_float(argument, values) for argument in node.arguments]
    return None if None in numbers else _FLOATS[node.operator](*numbers)
