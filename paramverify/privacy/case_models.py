"""The model of what a case compares: with formulas, or with probabilities that are enclosed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.expressions import Expression
from paramverify.algebra.polynomials import OUTPUTS, SLACKS, exponents, meanings
from paramverify.divergences import Measure
from paramverify.errors import CaseError, ExpressionError, InputError, UnsupportedError, located
from paramverify.files import read_file
from paramverify.models.context import Checks, check_domain
from paramverify.models.definitions import unused
from paramverify.models.enclosed_models import EnclosedModel, EnclosedTable, bounded, check_numbers
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import files_of, tables_of
from paramverify.models.model import Model, without_one_sided
from paramverify.models.neighbourhoods import NAME
from paramverify.models.parameters import fixed_values, unbounded_names
from paramverify.privacy import privacy_table
from paramverify.privacy.privacy_table import check_fits
from paramverify.privacy.secrets import ComparedPairs, possible
from paramverify.tables import MAX_BYTES, Table, all_expressions

# --- the exponents of exp in a case, which say of what numbers all others are powers ----------------


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
    for epsilon in privacy_table.epsilons(privacy, one) if privacy else ():
        with suppress(InputError):  # told where the bound is read
            budget = read_epsilon(epsilon, names, fixed_values(top))
            if privacy and "epsilon" in privacy:
                check_fits(budget, used[""])
            used[""].append(budget.rational)
            for name, factor in budget.multiples:
                used[name].append(factor)
    return used


# --- the model of what a case compares: with formulas, or with probabilities that are enclosed ------

Bound = tuple[Measure, str, tuple[int, ...], bool]
"""The measure with its bound, the bound in words, the lengths, and `one_sided`."""


def model_of(checks: Checks, compared: ComparedPairs, bound: Bound) -> Model | EnclosedModel:
    """Returns the model of a comparison.

    Raises:
        InputError: what is asked for does not go together.
    """
    if isinstance(compared.hmm, HMM):
        return _formal(checks, compared, compared.hmm, bound)
    return _enclosed(checks, compared, compared.hmm, bound)


def _enclosed(checks: Checks, compared: ComparedPairs, table: EnclosedTable, bound: Bound) -> EnclosedModel:
    """Returns the model of a mechanism whose probabilities are enclosed.

    Raises:
        InputError: a measure that needs formulas, sequences, or a parameter without a value.
    """
    measure, _, lengths, one_sided = bound
    with located(key="privacy"):
        for name, given in (("length", lengths != (1,)), ("one_sided", one_sided)):
            if given:
                raise CaseError("a program with gauss or discrete_gaussian has one output", key=name)
    check_numbers(checks)
    return EnclosedModel(
        checks.domain,
        table=table,
        pairs=tuple(compared.pairs),
        measure=bounded(measure),
        obligations=tuple(checks.obligations),
        notes=tuple(dict.fromkeys([*compared.notes, *checks.notes, *unused(checks.definitions)])),
        maybe_empty=check_domain(checks.domain),
    )


def _formal(checks: Checks, compared: ComparedPairs, hmm: HMM, bound: Bound) -> Model:
    """Returns the model of a mechanism whose probabilities are formulas."""
    measure, _, lengths, one_sided = bound
    privacy_table.check_ties(measure, lengths, one_sided, checks.ring)
    if hmm.spreads and lengths != (1,):
        reason = "a variable stands for a number that is output, and only one output is compared"
        raise UnsupportedError(f"{reason}: sequences of such outputs are not covered", key="privacy.length")
    doubtful, excluded = possible(compared.pairs, checks.domain)
    notes = [*compared.notes, *excluded, *meanings(checks.ring.unbounded), *checks.notes]
    notes += unused(checks.definitions)
    model = Model(
        domain=checks.domain,
        hmm=hmm,
        pairs=tuple(compared.pairs),
        measure=measure,
        lengths=lengths,
        obligations=tuple(checks.obligations),
        notes=tuple(dict.fromkeys(notes)),
        maybe_empty=check_domain(checks.domain),
        stands_for=compared.stands_for,
        maybe_impossible=tuple(doubtful),
    )
    if one_sided:
        with located(key="privacy"), located(key="one_sided"):
            model = without_one_sided(model)
    return model


# --- reads the files that `[mechanism]` of a case names, such as that of a program ------------------


def read_mechanism_files(top: Table, folder: Path, digest: str, checks: Checks) -> str:
    """Gives the checks the texts of all files by their keys, and returns the digest of all together.

    `digest` is that of the case file alone.

    Raises:
        CaseError: a file that cannot be read, or that is not UTF-8.
    """
    parts = [digest]
    with top.within("mechanism") as made:
        for start, data in tables_of(made.data):
            kind, table = data.get("kind"), Table(data)
            with located(key=start):
                for name in files_of(kind) if isinstance(kind, str) else ():
                    if name in table:
                        text, own = _read(folder, table.path(name), name)
                        checks.files[f"{start}.{name}" if start else name] = text
                        parts.append(own)
    return digest if len(parts) == 1 else hashlib.sha256(" ".join(parts).encode()).hexdigest()


def _read(folder: Path, path: str, key: str) -> tuple[str, str]:
    """Returns the text of a file, and its digest."""
    try:
        content = read_file(folder / path, MAX_BYTES, "a program", CaseError)
    except CaseError as error:
        raise CaseError(f"{path}: {error.reason}", key=key) from None
    try:
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        raise CaseError(f"not UTF-8 text (byte {error.start})", key=key) from None
