"""Polynomials and rational functions over the parameters of a case, exact, on python-flint; and their
exponentials.

A `Ring` fixes the order of the parameters. Where a case uses `exp(q)`, the ring has one generator more,
`E = exp(g)`, in which every `exp(q)` of the case is a power with a whole exponent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import comb

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly, fmpz

from paramverify.algebra.constants import GENERATOR, ExpConstant
from paramverify.algebra.expressions import (
    MAX_BITS,
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    Text,
    evaluate,
    unknown_name,
)
from paramverify.errors import ExpressionError, FinerError

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
        raise expression.error(
            f"inside exp, only multiples of {' and '.join(sorted(names))} are supported", node
        )
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
            what = "exp supports numbers, and multiples of parameters with the domain (0, oo)"
            raise expression.error(f"{what}, but {other.name} is neither", other)
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


Polynomial = fmpq_mpoly
Point = Mapping[str, Fraction]

MAX_TERMS = 1_000_000  # terms of a polynomial that an expression may create
MAX_DEGREE = 10_000  # degree in one parameter
SPARSE = 40  # terms of a polynomial up to which values are sums of powers
MAX_DENOMINATOR = 2_000  # monomials up to the degrees of the common denominator of a sum of fractions


def rational(value: Fraction | int) -> fmpq:
    """Returns the flint rational equal to a Python rational."""
    return fmpq(value.numerator, value.denominator)


def fraction(value: fmpq | fmpz) -> Fraction:
    """Returns the Python rational equal to a flint rational."""
    number = fmpq(value)
    return Fraction(int(number.p), int(number.q))


@dataclass(frozen=True)
class Ring:
    """The polynomials over the rationals in the named parameters, and in `E` where a constant is given.

    `unbounded` are the parameters of the domain (0, ∞); their variables are among `parameters`. Those that
    are tied are variables of the ring themselves, without an interval: their variables say what they are.
    `outputs` are among `parameters`, too: each says where a number of an output lies between two places.
    """

    parameters: tuple[str, ...] = ()
    constant: ExpConstant | None = None
    unbounded: tuple[Unbounded, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables in their order: the parameters, what is tied to them, then `E` if there is one."""
        names = (*self.parameters, *(u.name for u in self.tied))
        return (*names, GENERATOR) if self.constant else names

    @property
    def tied(self) -> tuple[Unbounded, ...]:
        """The parameters of the domain (0, ∞) that are variables beside their exponentials."""
        return tuple(u for u in self.unbounded if u.tied)

    @cached_property
    def context(self) -> fmpq_mpoly_ctx:
        """The flint context; equal rings share it."""
        return fmpq_mpoly_ctx.get(self.names, Ordering.lex)

    def number(self, value: Fraction | int) -> Polynomial:
        """Returns the constant polynomial."""
        return self.context.constant(rational(value))

    def variable(self, name: str) -> Polynomial:
        """Returns the polynomial that is one variable."""
        return self.context.gen(self.names.index(name))

    def exponential(self, exponent: Fraction, name: str = "") -> RationalFunction:
        """Returns exp(exponent · name), for a parameter of the domain (0, ∞), or exp(exponent).

        Raises:
            FinerError: it is no whole power of the ring's variable for it.
        """
        if not exponent:
            return RationalFunction.of(self.number(1))
        if name:
            known = next(u for u in self.unbounded if u.name == name)
            variable, steps = known.variable, -exponent / known.step
        else:
            variable = GENERATOR
            steps = exponent / self.constant.exponent if self.constant else Fraction(1, 2)
        if steps.denominator != 1:
            raise FinerError(name, exponent)
        return RationalFunction.of(self.variable(variable)) ** int(steps)

    def parse(self, text: str) -> Polynomial:
        """Reads a polynomial back from its canonical text, `str(polynomial)`; for trusted text only."""
        return fmpq_mpoly(text, self.context)

    def from_terms(self, terms: Mapping[tuple[int, ...], Fraction]) -> Polynomial:
        """Returns the polynomial with the given coefficients by exponent vector."""
        return self.context.from_dict({m: rational(c) for m, c in terms.items()})


def key(polynomial: Polynomial) -> str:
    """Returns the canonical text of a polynomial: equal polynomials of one ring have equal keys."""
    return str(polynomial)


def variables(polynomial: Polynomial) -> tuple[str, ...]:
    """Returns the names of the variables that occur, in the order of the ring."""
    names = polynomial.context().names()
    return tuple(str(n) for n, degree in zip(names, polynomial.degrees(), strict=True) if degree > 0)


def is_constant(polynomial: Polynomial) -> bool:
    """Tells whether no variable occurs."""
    return bool(polynomial.is_constant())


def constant_value(polynomial: Polynomial) -> Fraction:
    """Returns the value of a polynomial in which no variable occurs."""
    return fraction(polynomial.leading_coefficient()) if polynomial else Fraction(0)


def in_generator(polynomial: Polynomial) -> fmpq_poly:
    """Returns a polynomial in which at most the last variable of the ring occurs, as a univariate one."""
    coefficients = {int(m[-1]) if m else 0: c for m, c in polynomial.to_dict().items()}
    return fmpq_poly([coefficients.get(k, fmpq(0)) for k in range(max(coefficients, default=0) + 1)])


def value_at(polynomial: Polynomial, point: Point) -> Fraction:
    """Returns the exact value at a point that gives every variable of the ring."""
    names = [str(n) for n in polynomial.context().names()]
    if len(names) == 1 and len(polynomial) > SPARSE:
        return fraction(in_generator(polynomial)(rational(point[names[0]])))
    try:
        values = [rational(point[n]) for n in names]
    except KeyError:  # what is tied to a variable has no rational value, and matters only where it occurs
        used = variables(polynomial)
        values = [rational(point[n] if n in used else Fraction(0)) for n in names]
    return fraction(polynomial(*values))


def substitute(polynomial: Polynomial, point: Point) -> Polynomial:
    """Returns the polynomial of the same ring with some variables replaced by rationals."""
    return polynomial.subs({name: rational(v) for name, v in point.items()})


def primitive(polynomial: Polynomial) -> tuple[Fraction, Polynomial]:
    """Returns c > 0 and the polynomial with coprime integer coefficients whose product is the argument."""
    if not polynomial:
        return Fraction(1), polynomial
    content = content_of(polynomial)
    return fraction(content), polynomial / content


def content_of(polynomial: Polynomial) -> fmpq:
    """Returns c > 0: a polynomial that is not zero, divided by it, has coprime integer coefficients."""
    if polynomial.is_constant():
        return abs(fmpq(polynomial.leading_coefficient()))
    coefficients = polynomial.coeffs()
    denominator = reduce(lambda a, b: a.lcm(b), (c.q for c in coefficients))
    numerator = reduce(lambda a, b: a.gcd(b), (c.p for c in coefficients))
    # A coefficient p/q in lowest terms: gcd of all p over lcm of all q is the content.
    return fmpq(abs(numerator), denominator)


@dataclass(frozen=True, eq=False)
class RationalFunction:
    """A quotient of coprime polynomials; the denominator is primitive, its leading coefficient positive."""

    numerator: Polynomial
    denominator: Polynomial

    @staticmethod
    def of(numerator: Polynomial, denominator: Polynomial | None = None) -> RationalFunction:
        """Returns the quotient in lowest terms.

        Raises:
            ZeroDivisionError: the denominator is the zero polynomial.
        """
        one = numerator.context().constant(1)
        if denominator is None:
            return RationalFunction(numerator, one)
        if not denominator:
            raise ZeroDivisionError("division by zero")
        if not numerator or denominator.is_one():
            return RationalFunction(numerator, one)
        common = numerator.gcd(denominator)
        numerator, denominator = numerator / common, denominator / common
        content, denominator = primitive(denominator)
        if denominator.leading_coefficient() < 0:
            content, denominator = -content, -denominator
        return RationalFunction(numerator / rational(content), denominator)

    def __add__(self, other: RationalFunction) -> RationalFunction:
        if self.denominator.is_one() and other.denominator.is_one():
            return RationalFunction(self.numerator + other.numerator, self.denominator)
        return RationalFunction.of(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    def __neg__(self) -> RationalFunction:
        return RationalFunction(-self.numerator, self.denominator)

    def __sub__(self, other: RationalFunction) -> RationalFunction:
        return self + (-other)

    def __mul__(self, other: RationalFunction) -> RationalFunction:
        if self.denominator.is_one() and other.denominator.is_one():
            return RationalFunction(self.numerator * other.numerator, self.denominator)
        return RationalFunction.of(self.numerator * other.numerator, self.denominator * other.denominator)

    def __truediv__(self, other: RationalFunction) -> RationalFunction:
        return self * RationalFunction.of(other.denominator, other.numerator)

    def __pow__(self, exponent: int) -> RationalFunction:
        if exponent < 0:
            return RationalFunction.of(self.denominator, self.numerator) ** -exponent
        return RationalFunction(self.numerator**exponent, self.denominator**exponent)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RationalFunction):
            return NotImplemented
        return bool(self.numerator == other.numerator and self.denominator == other.denominator)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        if self.denominator.is_one():
            return str(self.numerator)
        return f"({self.numerator}) / ({self.denominator})"


def common_denominator(functions: Iterable[RationalFunction], ring: Ring) -> Polynomial:
    """Returns the least common multiple of the denominators."""
    result = ring.number(1)
    for function in functions:
        if result != function.denominator:
            result = result * (function.denominator / result.gcd(function.denominator))
    return result


def to_rational_function(
    expression: Expression,
    ring: Ring,
    definitions: Mapping[str, RationalFunction] | None = None,
) -> RationalFunction:
    """Returns the rational function that an arithmetic expression denotes.

    `definitions` gives names besides the parameters of the ring. `exp(q)` with a rational q is a power of
    the generator.

    Raises:
        ExpressionError: an unknown name, a comparison or label, a division by an expression that is
            identically zero, `exp` of something that is not a rational number, or a result beyond the
            bounds of this module.
    """
    known = {name: RationalFunction.of(ring.variable(name)) for name in ring.parameters}
    try:
        return _Denoted(expression, ring, {**known, **(definitions or {})}).of(expression.root)
    except RecursionError:
        raise ExpressionError("nested too deeply", expression.text, 0) from None


@dataclass(frozen=True)
class _Denoted:
    """The rational functions that the nodes of one expression denote."""

    expression: Expression
    ring: Ring
    known: Mapping[str, RationalFunction]

    def of(self, node: Node) -> RationalFunction:
        if isinstance(node, RationalConstant):
            return RationalFunction.of(self.ring.number(node.value))
        if isinstance(node, Name):
            if node.name in (u.name for u in self.ring.unbounded):
                if node.name not in (u.name for u in self.ring.tied):
                    raise FinerError(node.name, TIE, self.expression.text, node.column)
                return RationalFunction.of(self.ring.variable(node.name))
            if node.name not in self.known:
                raise unknown_name(self.expression, node, node.name, self.known)
            return self.known[node.name]
        if isinstance(node, Operation):
            return self.operation(node)
        raise self.expression.error("a label is not a number", node)

    def operation(self, node: Operation) -> RationalFunction:
        match node.operator:
            case "exp":
                return self.exponential(node)
            case "**":
                exponent = evaluate(Expression(self.expression.text, node.arguments[1]))
                return self.power(node, self.of(node.arguments[0]), int(exponent))
            case "neg":
                return -self.of(node.arguments[0])
            case "/":
                return self.quotient(node, *map(self.of, node.arguments))
            case "+" | "*":
                return self.combined(node, [self.of(argument) for argument in node.arguments])
        reason = f"{node.operator} is not allowed here: expressions of parameters support + - * / ** only"
        raise self.expression.error(reason, node)

    def combined(self, node: Operation, values: Sequence[RationalFunction]) -> RationalFunction:
        """Returns the sum or the product."""
        result = values[0]
        for value in values[1:]:
            if node.operator == "+":
                _check_sum(self.expression, node, result, value)
                result = result + value
            else:
                _check_product(self.expression, node, result, value)
                result = result * value
        return result

    def quotient(
        self, node: Operation, dividend: RationalFunction, divisor: RationalFunction
    ) -> RationalFunction:
        if not divisor.numerator:
            raise self.expression.error("division by zero", node.arguments[1])
        _check_product(self.expression, node, dividend, divisor)
        return dividend / divisor

    def power(self, node: Operation, base: RationalFunction, exponent: int) -> RationalFunction:
        if not base.numerator and exponent < 0:
            raise self.expression.error("division by zero", node)
        for part in (base.numerator, base.denominator):
            _check_power(self.expression, node, part, abs(exponent))
        return base**exponent

    def exponential(self, node: Operation) -> RationalFunction:
        names = [u.name for u in self.ring.unbounded]
        result = RationalFunction.of(self.ring.number(1))
        for name, exponent in exponent_of(self.expression, node, names).items():
            try:
                result = result * self.ring.exponential(exponent, name)
            except FinerError as error:
                raise error.at(self.expression.text, node.column) from None
        return result


def _check_power(expression: Expression, node: Node, base: Polynomial, exponent: int) -> None:
    terms = len(base)
    bits = max((max(int(c.p).bit_length(), int(c.q).bit_length()) for c in base.coeffs()), default=1)
    many = terms > 1 and comb(terms + exponent - 1, exponent) > MAX_TERMS
    if many or bits * exponent > MAX_BITS or max(base.degrees(), default=0) * exponent > MAX_DEGREE:
        raise expression.error("the power is too large to be expanded", node)


def _check_product(
    expression: Expression, node: Node, left: RationalFunction, right: RationalFunction
) -> None:
    sizes = (max(len(f.numerator), len(f.denominator)) for f in (left, right))
    degrees = (max((*f.numerator.degrees(), *f.denominator.degrees()), default=0) for f in (left, right))
    if reduce(lambda a, b: a * b, sizes) > 100 * MAX_TERMS or sum(degrees) > MAX_DEGREE:
        raise expression.error("the product is too large to be expanded", node)


def _check_sum(expression: Expression, node: Node, left: RationalFunction, right: RationalFunction) -> None:
    bottoms = (left.denominator, right.denominator)
    if any(is_constant(bottom) for bottom in bottoms) or bottoms[0] == bottoms[1]:
        return
    size = 1
    for degree in (left.denominator * right.denominator).degrees():
        size *= int(degree) + 1
    if size > MAX_DENOMINATOR:
        raise expression.error("the common denominator of the sum is too large to be expanded", node)
