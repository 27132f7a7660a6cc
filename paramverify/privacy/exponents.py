"""The exponents of exp in a case, which say of what numbers all others are powers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.expressions import Expression
from paramverify.algebra.polynomials import OUTPUTS, SLACKS, exponents
from paramverify.errors import ExpressionError, InputError
from paramverify.models.neighbourhoods import NAME
from paramverify.models.parameters import fixed_values, unbounded_names
from paramverify.privacy import divergences
from paramverify.privacy.bounds import check_fits
from paramverify.tables import Table, all_expressions


def used_in(
    top: Table,
    finer: Mapping[str, Sequence[Fraction]],
    privacy: Table | None = None,
    defined: Sequence[Expression] = (),
) -> dict[str, list[Fraction]]:
    """Returns the numbers in every `exp` of a case (""), and the factors of its unbounded parameters.

    `finer` are those that no expression of the case shows. `defined` are the expressions of its definitions.

    Raises:
        BesideError: a number for epsilon does not fit the others.
    """
    names = unbounded_names(top)
    away = ("title", "source", "expect", "neighbours", *(["privacy", "define"] if privacy else []))
    words = {k: v for k, v in top.data.items() if k not in away}
    used = {name: [*finer.get(name, ())] for name in ("", OUTPUTS, SLACKS, *names)}
    # Other distances than 1 need whole powers of what 1 needs; else the case is read again.
    neighbours = top.data.get("neighbours")
    one = {NAME: Fraction(1)} if isinstance(neighbours, dict) and NAME in neighbours else {}
    texts = (*all_expressions(words), *all_expressions(privacy.data if privacy else {}, one))
    for expression in (*defined, *texts):
        with suppress(ExpressionError):  # told where its key is read
            for name, factors in exponents([expression], names).items():
                used[name] += factors
    for epsilon in divergences.epsilons(privacy, one) if privacy else ():
        with suppress(InputError):  # told where the bound is read
            budget = read_epsilon(epsilon, names, fixed_values(top))
            if privacy and "epsilon" in privacy:
                check_fits(budget, used[""])
            used[""].append(budget.rational)
            for name, factor in budget.multiples:
                used[name].append(factor)
    return used
