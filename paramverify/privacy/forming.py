"""The model of what a case compares: with formulas, or with probabilities that are enclosed."""

from __future__ import annotations

from paramverify.algebra.polynomials import meanings
from paramverify.divergences import Measure
from paramverify.errors import CaseError, UnsupportedError, located
from paramverify.models.context import Checks, check_domain
from paramverify.models.definitions import unused
from paramverify.models.enclosed_models import EnclosedModel, EnclosedTable, bounded, check_numbers
from paramverify.models.hmm import HMM
from paramverify.models.model import Model, without_one_sided
from paramverify.privacy import bounds
from paramverify.privacy.impossible import possible
from paramverify.privacy.secrets import ComparedPairs

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
    bounds.check_ties(measure, lengths, one_sided, checks.ring)
    if hmm.spreads and lengths != (1,):
        reason = "a variable stands for a number that is put out, and one output is compared"
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
