"""What is told about interactive systems: probabilities, inputs and observations in words."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.decimals import rounded
from paramverify.algebra.logarithms import Epsilon
from paramverify.algebra.polynomials import RationalFunction, fraction, in_generator, variables
from paramverify.algebra.reals import Real
from paramverify.interactive.cases import InteractiveCase
from paramverify.models.systems.weights import Weight, as_function, is_number, number_of, text
from paramverify.reports.formulas import formula

LONG = 40  # inputs or outputs that are told in words
DIGITS = 40  # characters of a number that is told exactly


def row(names: Sequence[str], actions: Sequence[int]) -> str:
    """Returns inputs or an observation in words; a very long one is shortened in the middle."""
    words = [names[a] for a in actions]
    if len(words) > LONG:
        half = LONG // 2
        words = [*words[:half], f"... ({len(words) - 2 * half} more) ...", *words[-half:]]
    return ", ".join(words) or "nothing"


def brief(case: InteractiveCase, weight: Weight) -> str:
    """Returns a weight for readers: as `shown`, but a number with very many digits only about."""
    exact = shown(case, weight)
    if not is_number(weight) or len(exact) <= DIGITS:
        return exact
    value = fraction(weight if not isinstance(weight, RationalFunction) else number_of(weight))
    return rounded(Fraction(value.numerator, value.denominator))


def shown(case: InteractiveCase, weight: Weight) -> str:
    """Returns a number or a function; with the constant E a power of it, or else a decimal."""
    if is_number(weight):
        return text(weight)
    function = as_function(weight, case.domain.ring)
    constant = case.domain.constant
    used = {*variables(function.numerator), *variables(function.denominator)}
    if constant is None or used != {GENERATOR}:
        return formula(function, case.domain).factored
    top, bottom = in_generator(function.numerator), in_generator(function.denominator)
    exponent = int(top.degree()) - int(bottom.degree())
    if function == RationalFunction.of(case.domain.ring.variable(GENERATOR)) ** exponent:
        return f"exp({exponent * constant.exponent})"
    value = constant.ball(top, 128) / constant.ball(bottom, 128)
    return f"≈ {float(value.mid()):.6g}"


def epsilon(case: InteractiveCase, ratio: Weight) -> Epsilon | None:
    """Returns ln of a ratio; None for a function of parameters."""
    value = exact(case, ratio)
    return None if value is None else Epsilon.of(value)


def exact(case: InteractiveCase, weight: Weight) -> Real | None:
    """Returns a weight as an exact number; None for a function of parameters."""
    function = as_function(weight, case.domain.ring)
    used = {*variables(function.numerator), *variables(function.denominator)}
    if not used <= {GENERATOR}:
        return None
    top, bottom = in_generator(function.numerator), in_generator(function.denominator)
    constant = case.domain.constant
    negative = constant.sign(bottom) < 0 if constant else bottom[0] < 0
    return Real.of(-top if negative else top, -bottom if negative else bottom, constant)
