"""Privacy budgets: ε, or the ratio bound e^ε, exact; and logarithms of exact ratios.

`epsilon = 1.372` bounds the ratio by exp(343/250), `epsilon = "4*ln(2)"` by exactly 16, and
`epsilon = "-ln(alpha)"` by 1/alpha. `ratio = "1/alpha"` gives the bound itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite, nextafter

from paramverify.algebra import exact_numbers as values
from paramverify.algebra.expressions import (
    MAX_EXPONENT,
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    evaluate,
)
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.algebra.rationals import at_least, at_most, decimal_text, raised, rounded
from paramverify.algebra.real_roots import RealRoot
from paramverify.algebra.reals import Real

BITS = 80  # of the relative precision of a logarithm


@dataclass(frozen=True)
class Epsilon:
    """A budget ε with low ≤ ε ≤ high; None where nothing is known on that side.

    With `sharp`, ε is one number that is known: low = ε = high, or high − low ≤ |ε|/2^80 and ε is irrational.
    """

    low: Fraction | None
    high: Fraction | None
    sharp: bool = True

    @staticmethod
    def of(ratio: Fraction | RealRoot | Real) -> Epsilon:
        """Returns the logarithm of a positive number.

        Raises:
            LimitError: it is too near to 0.
        """
        simple = ratio if isinstance(ratio, Fraction) else values.simplest(ratio)
        return Epsilon(*values.precise(values.logarithm(simple), BITS))

    @staticmethod
    def between(lower: Fraction, upper: Fraction | None) -> Epsilon:
        """Returns what is known of the logarithm of a number between two ends."""
        if lower == upper:
            return Epsilon.of(lower)
        low = Epsilon.of(lower).low if lower > 0 else None
        return Epsilon(low, None if upper is None else Epsilon.of(upper).high, False)

    def per(self, distance: Fraction) -> Epsilon:
        """Returns the budget for one unit of a positive distance."""
        low, high = (None if end is None else end / distance for end in (self.low, self.high))
        return Epsilon(low, high, self.sharp)

    def negative(self) -> Epsilon:
        """Returns −ε."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Epsilon(low, high, self.sharp)

    def told(self, digits: int = 9, up: bool = True) -> str:
        """Returns it behind its relation: `= 1/2` as a decimal, `≈ 0.693147181`, `between 0 and 0.1`.

        It is rounded `up`, as a budget that is smaller would not be enough, or else to the nearest number.
        """
        if self.low is not None and self.low == self.high:
            told = (raised if up else rounded)(self.low, digits)
            return told if told.startswith("≈") else f"= {told}"
        if self.sharp and self.low is not None and self.high is not None:
            return f"≈ {(at_most if up else decimal_text)(self.high, digits)}"
        if self.high is None:
            return "unknown" if self.low is None else f"at least {at_least(self.low, digits)}"
        most = at_most(self.high, digits)
        return f"at most {most}" if self.low is None else f"between {at_least(self.low, digits)} and {most}"

    def number(self) -> float | str:
        """Returns a float next to ε that is not below it, or a text where it is too small, as JSON data."""
        if self.high is None:
            return "unknown"
        return at_most(self.high, 17) if self.high and not float(self.high) else outward(self.high, inf)

    def bounds(self) -> list[float | str]:
        """Returns floats between which ε lies, as JSON data."""
        low = "unknown" if self.low is None else outward(self.low, -inf)
        return [low, "unknown" if self.high is None else outward(self.high, inf)]


def outward(end: Fraction, towards: float) -> float:
    """Returns the float nearest to a number that does not lie inside of it, seen towards −∞ or ∞.

    Neither does its shortest text, as cases read decimals from their text.
    """
    near, sign = float(end), 1 if towards > 0 else -1
    while isfinite(near) and sign * end > min(sign * Fraction(near), sign * Fraction(repr(near))):
        near = nextafter(near, towards)
    return near


Evaluator = Callable[[Expression], RationalFunction]


@dataclass(frozen=True)
class WrittenEpsilon:
    """ε as `rational + Σ coefficient · ln(expression)`, with the user's text."""

    text: str
    rational: Fraction
    logarithms: tuple[tuple[int, Expression], ...] = ()
    multiples: tuple[tuple[str, Fraction], ...] = ()  # of parameters of the domain (0, ∞)

    def ratio(self, ring: Ring, function: Evaluator) -> RationalFunction:
        """Returns e^ε as a rational function of the ring; `function` evaluates the arguments of ln."""
        result = RationalFunction.of(ring.number(1))
        for name, factor in (("", self.rational), *self.multiples):
            result = result * ring.exponential(factor, name)
        for coefficient, argument in self.logarithms:
            result = result * function(argument) ** coefficient
        return result


def read_epsilon(
    expression: Expression, names: Collection[str] = (), fixed: Mapping[str, Fraction] | None = None
) -> WrittenEpsilon:
    """Splits ε into a rational part, multiples of the named parameters, and whole multiples of logarithms.

    `fixed` gives the values of parameters that are numbers.

    Raises:
        ExpressionError: ε is not of that form, such as `ln(2)/2` (the bound would be a square root).
    """
    rational = Fraction(0)
    logarithms: list[tuple[int, Expression]] = []
    multiples: list[tuple[str, Fraction]] = []
    for factor, node in summands(expression, expression.root, Fraction(1)):
        if isinstance(node, Operation) and node.operator == "ln":
            if factor.denominator != 1:
                raise expression.error(
                    f"the factor of a logarithm must be a whole number, not {factor}, because e^epsilon "
                    "would be a root",
                    node,
                )
            if abs(factor) > MAX_EXPONENT:
                raise expression.error(f"the factor of a logarithm must be at most {MAX_EXPONENT}", node)
            logarithms.append((int(factor), Expression(expression.text, node.arguments[0])))
        elif isinstance(node, RationalConstant):
            rational += factor * node.value
        elif isinstance(node, Name) and fixed and node.name in fixed:
            rational += factor * fixed[node.name]
        elif isinstance(node, Name) and node.name in names:
            multiples.append((node.name, factor))
        else:
            reason = "epsilon must be a sum of numbers and ln(...)"
            if isinstance(node, Name):
                reason = (
                    "epsilon must be a sum of numbers and ln(...); a parameter is allowed only inside ln, "
                    'unless its domain is "(0, oo)"'
                )
            for name in sorted(_names(node) & set(names)):
                reason = (
                    f"epsilon may contain {name} only times a number, and paramverify does not search "
                    "for that number"
                )
                raise expression.error(f'{reason}: try one, such as epsilon = "{name}/2"', node)
            raise expression.error(f"{reason}; for a bound b on e^epsilon, write ln(b)", node)
    if len(logarithms) > 1 or any(abs(factor) > 1 for factor, _ in logarithms):
        for _, argument in logarithms:  # two negative numbers would have a positive product
            value = None if _has_symbol(argument.root) else evaluate(argument)
            if isinstance(value, Fraction) and value <= 0:
                raise expression.error("the argument of ln must be above 0", argument.root)
    return WrittenEpsilon(expression.text, rational, tuple(logarithms), tuple(multiples))


def _names(node: Node) -> set[str]:
    if isinstance(node, Name):
        return {node.name}
    return {n for part in node.arguments for n in _names(part)} if isinstance(node, Operation) else set()


def summands(expression: Expression, node: Node, factor: Fraction) -> list[tuple[Fraction, Node]]:
    """Returns the terms of a linear combination, each with its rational factor.

    Raises:
        ExpressionError: a division by what is no number.
    """
    if isinstance(node, Operation):
        op, args = node.operator, node.arguments
        if op == "+":
            return [term for argument in args for term in summands(expression, argument, factor)]
        if op == "neg":
            return summands(expression, args[0], -factor)
        if op in ("*", "/"):
            scale = factor
            rest: list[Node] = []
            for place, argument in enumerate(args):
                if _has_symbol(argument):
                    rest.append(argument)
                    continue
                value = evaluate(Expression(expression.text, argument))
                divide = op == "/" and place == 1
                if isinstance(value, str) or (divide and value == 0):
                    raise expression.error("a factor must be a number, and a divisor must not be 0", argument)
                scale = scale / value if divide else scale * value
            if not rest:
                return [(Fraction(1), RationalConstant(scale, node.column))]
            if len(rest) == 1 and (op == "*" or rest[0] is args[0]):
                return summands(expression, rest[0], scale)
        if op == "**" and not _has_symbol(node):
            value = evaluate(Expression(expression.text, node))
            if isinstance(value, Fraction):
                return [(factor, RationalConstant(value, node.column))]
    return [(factor, node)]


def _has_symbol(node: Node) -> bool:
    if isinstance(node, Operation):
        return node.operator in ("ln", "exp") or any(map(_has_symbol, node.arguments))
    return isinstance(node, Name)
