"""What stands in `exp(...)`: numbers, and multiples of parameters of the domain (0, ∞)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.expressions import Expression, Name, Node, Operation, Text, evaluate

OUTPUTS = "(outputs)"  # beside the names of parameters: how many outputs of a claim are variables
SLACKS = "(slacks)"  # and how many variables stand for what is known of such an output by bounds alone
TIE = Fraction(0)  # among the factors of a parameter in `exp(...)`: it also stands beside its exponentials


@dataclass(frozen=True)
class Unbounded:
    """A parameter of the domain (0, ∞), such as eps, used as `variable = exp(−step · name)` in (0, 1).

    Where it is `tied` it may also stand beside its variable, with `name = −ln(variable) / step`.
    """

    name: str
    variable: str
    step: Fraction
    tied: bool = False

    @property
    def meaning(self) -> str:
        """What the variable stands for, such as `exp(-eps/4)`."""
        return f"exp(-{_multiple(self.step, self.name)})"

    def at(self, value: Fraction) -> str:
        """Returns the parameter where the variable has a value in [0, 1]: `4*ln(2)` for 1/2, `oo` for 0."""
        if value in (0, 1):
            return "0" if value else "oo"
        return _multiple(1 / self.step, f"ln({1 / value})")


def _multiple(factor: Fraction, of: str) -> str:
    times = "" if factor.numerator == 1 else f"{factor.numerator}*"
    return f"{times}{of}" + ("" if factor.denominator == 1 else f"/{factor.denominator}")


def meant(unbounded: Sequence[Unbounded], point: Mapping[str, Fraction]) -> dict[str, str]:
    """Returns the parameters of the domain (0, ∞) at a point, in words: `{"eps": "4*ln(2)"}`."""
    return {u.name: u.at(Fraction(point[u.variable])) for u in unbounded if u.variable in point}


def meanings(unbounded: Sequence[Unbounded]) -> list[str]:
    """Returns what the variables of parameters of the domain (0, ∞) stand for, one sentence each."""
    return [f"{u.variable} stands for {u.meaning}" for u in unbounded]


def exponent_of(expression: Expression, node: Operation, names: Collection[str]) -> dict[str, Fraction]:
    """Returns the factors of the names in the argument of an `exp` node, "" for a number; none is zero.

    Raises:
        ExpressionError: the argument is no sum of numbers and multiples of the names.
    """
    found: dict[str, Fraction] = {}
    argument = node.arguments[0]
    if isinstance(argument, Text):
        raise expression.error("exp needs a rational number", node)
    for name, factor in _parts(expression, argument, names).items():
        if factor:
            found[name] = factor
    return found


def _parts(expression: Expression, node: Node, names: Collection[str]) -> dict[str, Fraction]:
    if isinstance(node, Name) and node.name in names:
        return {node.name: Fraction(1)}
    if isinstance(node, Operation) and _has(node, names):
        op, args = node.operator, node.arguments
        if op in ("+", "neg"):
            return _sum([_parts(expression, a, names) for a in args], -1 if op == "neg" else 1)
        if op == "*":
            inner = [a for a in args if _has(a, names)]
            factor = _number(expression, [a for a in args if not _has(a, names)])
            if len(inner) == 1:
                return {name: factor * k for name, k in _parts(expression, inner[0], names).items()}
        if op == "/" and not _has(args[1], names):
            by = _number(expression, args[1:])
            if not by:
                raise expression.error("division by zero", args[1])
            return {name: k / by for name, k in _parts(expression, args[0], names).items()}
        raise expression.error(f"only multiples of {' and '.join(sorted(names))} are covered here", node)
    return {"": _number(expression, [node])}


def _sum(parts: Sequence[dict[str, Fraction]], sign: int) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for part in parts:
        for name, k in part.items():
            found[name] = found.get(name, Fraction(0)) + sign * k
    return found


def _number(expression: Expression, nodes: Sequence[Node]) -> Fraction:
    result = Fraction(1)
    for node in nodes:
        other = next((n for n in Expression(expression.text, node).nodes() if isinstance(n, Name)), None)
        if other:
            what = "exp takes numbers, and multiples of parameters whose domain is (0, oo)"
            raise expression.error(f"{what}; {other.name} is neither", other)
        value = evaluate(Expression(expression.text, node))
        if isinstance(value, str):
            raise expression.error("exp needs a rational number", node)
        result *= Fraction(value)
    return result


def _has(node: Node, names: Collection[str]) -> bool:
    if isinstance(node, Name):
        return node.name in names
    return isinstance(node, Operation) and any(_has(a, names) for a in node.arguments)


def exponents(expressions: Sequence[Expression], names: Collection[str] = ()) -> dict[str, list[Fraction]]:
    """Returns the factors of numbers ("") and of the names in every `exp(...)` of the expressions.

    Raises:
        ExpressionError: an argument that is no sum of numbers and multiples of the names.
    """
    found: dict[str, list[Fraction]] = {"": []}
    for expression in expressions:
        for node in expression.nodes():
            if isinstance(node, Operation) and node.operator == "exp":
                for name, factor in exponent_of(expression, node, names).items():
                    found.setdefault(name, []).append(factor)
    return found
