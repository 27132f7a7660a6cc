"""`[privacy]` with a measure that compares all outputs together: `renyi`, `chi_squared`, `kl` and others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from paramverify.algebra.budgets import summands
from paramverify.algebra.constants import working_precision
from paramverify.algebra.expressions import Expression, Node, Operation, RationalConstant, evaluate
from paramverify.algebra.polynomials import RationalFunction, constant_value, is_constant
from paramverify.errors import CaseError, InputError, located
from paramverify.evidence.divergence_witnesses import bound_of
from paramverify.models.context import Checks
from paramverify.models.measures import PROBABILITIES, Approximate, LossBound, LossKind, Measure, Pure, Renyi
from paramverify.privacy import bounds
from paramverify.privacy.keys import INFINITE, MAX_ORDER, TOGETHER
from paramverify.privacy.secrets import ComparedPairs
from paramverify.tables import Table

SIGN_BITS = 256  # with which the sign of a bound is found


def read_measure(privacy: Table, checks: Checks, distances: Collection[Fraction] = ()) -> tuple[Measure, str]:
    """Reads the measure of a case and its bound in words; see `bounds.read_measure` for epsilon and ratio.

    Raises:
        CaseError: two measures, or a mistake in the table.
    """
    given = [name for name in privacy.data if name in TOGETHER]
    for name in TOGETHER:
        privacy.get(name)  # all are known keys, also where another one is wrong
    if not given:
        return bounds.read_measure(privacy, checks, distances)
    name = given[0]
    both = [n for n in privacy.data if n in (*TOGETHER, "epsilon", "ratio", "delta")]
    if len(both) > 1:
        for other in ("epsilon", "ratio", "delta"):
            privacy.get(other)
        reason = f"a case has one measure of privacy, and here are {both[0]} and {both[1]}"
        raise CaseError(reason, key=both[1], mend="delete one")
    if distances:
        reason = f"[neighbours] gives a distance, and {name} is one bound for all pairs"
        raise CaseError(f"{reason}: leave the distance out", key=name)
    if name == "renyi":
        return _renyi(privacy, checks)
    words = f"{name} = {checks.definitions.told(privacy.expression(name).text)}"
    if name == "chi_squared":
        return _chi_squared(privacy, checks), words
    if name == "total_variation":
        delta = bounds.read_probability(privacy.expression(name), checks, name)
        one = RationalFunction.of(checks.ring.number(1))
        return (Approximate(one, delta, name) if delta.numerator else Pure(one)), words
    return _loss(LossKind(name), privacy.expression(name)), words


def _renyi(privacy: Table, checks: Checks) -> tuple[Measure, str]:
    """Reads an order, and the bound ε or e^ε of the divergence."""
    with privacy.within("renyi") as table:
        order = _order(table.need("order"))
        name = table.either("epsilon", "ratio", 'epsilon = "ln(2)", for example')
        expression = table.expression(name)
        table.close()
        pure, words = bounds.read_bound(expression, name, checks, order - 1 if order else 1)
        words = f"renyi of order {order or INFINITE}, {words}"
        return (Renyi(order, pure.ratio) if order else pure), words


def _order(value: Any) -> int | None:
    """Returns a whole order of at least 2, or None for infinity.

    Raises:
        CaseError: anything else.
    """
    with located(key="order"):
        if value == INFINITE:
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            if 2 <= value <= MAX_ORDER:
                return value
            if value == 1:
                raise CaseError("at order 1 the divergence is that of Kullback and Leibler: write kl")
            if value < 1:
                raise CaseError(f"the order is above 1, and not {value}")
            raise CaseError(f"an order is at most {MAX_ORDER}, or infinity", mend=f'write "{INFINITE}"')
        reason = f'a whole order from 2 to {MAX_ORDER}, or "{INFINITE}", is needed here'
        raise CaseError(f"{reason}; zcdp is about all orders above 1")


def _chi_squared(privacy: Table, checks: Checks) -> Renyi:
    """Reads a bound on Σ P²/Q − 1: that is the Rényi divergence of order 2, with another number."""
    expression = privacy.expression("chi_squared")
    with located(key="chi_squared"):
        value, told = checks.function(expression), checks.definitions.told(expression.text)
        denominator = checks.positive(value.denominator, "the denominator of chi_squared")
        numerator = value.numerator if denominator == value.denominator else -value.numerator
        if is_constant(numerator) and constant_value(numerator) < 0:
            raise CaseError(f"the divergence is at least 0, and {told} is not")
        checks.nonnegative(numerator, "chi_squared")
        return Renyi(2, RationalFunction(numerator + denominator, denominator), "chi_squared")


def _loss(kind: LossKind, expression: Expression) -> LossBound:
    """Reads the bound of a loss: a number above 0, which may have logarithms of numbers.

    Raises:
        CaseError: anything else.
    """
    with located(key=kind.value):
        rational, logarithms = Fraction(0), []
        for factor, node in summands(expression, expression.root, Fraction(1)):
            ln = isinstance(node, Operation) and node.operator == "ln"
            inner = node.arguments[0] if isinstance(node, Operation) and ln else node
            value = evaluate(Expression(expression.text, inner)) if _is_number(inner) else None
            if not isinstance(value, Fraction) or (ln and value <= 0):
                raise CaseError('a number is needed here, such as "1/10" or "ln(2)/4"')
            if ln:
                logarithms.append((factor, value))
            else:
                rational += factor * value
        found = LossBound(kind, rational, tuple(logarithms))
        with working_precision(SIGN_BITS):
            ball = bound_of(found)
            if not ball > 0:
                reason = f"{kind.value} needs a bound above 0, and not {expression.text}"
                raise CaseError(f'{reason}; for equal distributions write total_variation = "0"')
        return found


def _is_number(node: Node) -> bool:
    """Tells whether an expression has neither names nor functions."""
    if isinstance(node, Operation):
        return node.operator not in ("ln", "exp") and all(map(_is_number, node.arguments))
    return isinstance(node, RationalConstant)


def epsilons(privacy: Table, known: Mapping[str, Fraction]) -> Iterator[Expression]:
    """Yields the logarithm of the bound of the claims, where the case gives it as an epsilon."""
    with suppress(InputError):  # told where the bound is read
        if "epsilon" in privacy:
            yield privacy.expression("epsilon", known)
    renyi = privacy.get("renyi")
    if isinstance(renyi, dict) and "epsilon" in renyi:
        order = renyi.get("order")
        with suppress(InputError):
            own = Table(renyi).expression("epsilon")
            yield bounds.times(own, order - 1 if isinstance(order, int) and order > 1 else 1)


def check(measure: Measure, privacy: Table, compared: ComparedPairs, lengths: tuple[int, ...]) -> None:
    """Checks that the outputs of a case can be summed, where its measure needs that.

    Raises:
        CaseError: the outputs are chosen in part by an adversary, neighbours are too many to form, the
            lengths are all, or sequences are left out.
    """
    if compared.hmm.densities and (measure.by_sets or measure.together):
        raise CaseError(f"{measure.key} needs {PROBABILITIES}", key=measure.key)
    if compared.hmm.densities and "one_sided" in privacy.data:
        # a limit that is zero under one secret may be one of outputs that are possible under both
        raise CaseError(f"one_sided needs {PROBABILITIES}", key="one_sided")
    if isinstance(measure, Approximate):
        bounds.check_sets(privacy, compared.hmm.chosen, compared.stands_for is not None, lengths)
    if not isinstance(measure, Renyi | LossBound):
        return
    key = measure.key
    if compared.hmm.chosen:
        reason = "an adversary chooses the answers here while it sees outputs, and divergences are no game"
        raise CaseError(f"{reason}: take epsilon or ratio, or give [prior] and [secrets]", key=key)
    if compared.stands_for:
        reason = "the neighbours are too many to form, and the pair that stands for them is about ratios only"
        raise CaseError(f"{reason}: ask for fewer queries, or take epsilon or ratio", key=key)
    if not lengths:
        reason = f'with {key} the lengths are numbers: write, for example, length = "1..5"'
        raise CaseError(reason, key="length")
    if "one_sided" in privacy.data:
        reason = f"with {key} all outputs count, also those that are impossible under one secret"
        raise CaseError(f"{reason}: leave one_sided out, or take epsilon or ratio", key="one_sided")
