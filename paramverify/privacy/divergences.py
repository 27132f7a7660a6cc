"""`[privacy]` with a measure that compares all outputs together: `renyi`, `chi_squared`, `kl` and others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction

from paramverify.algebra.expressions import Expression
from paramverify.divergences import (
    Event,
    Measure,
    registry,
)
from paramverify.divergences.one_by_one import PROBABILITIES
from paramverify.errors import CaseError, InputError
from paramverify.models.context import Checks
from paramverify.privacy import bounds
from paramverify.privacy.secrets import ComparedPairs
from paramverify.tables import Table


def read_measure(privacy: Table, checks: Checks, distances: Collection[Fraction] = ()) -> tuple[Measure, str]:
    """Reads the divergence of a case and its bound in words; see `bounds.read_measure` for epsilon and ratio.

    Raises:
        CaseError: two measures, or a mistake in the table.
    """
    known = registry.names()
    given = [name for name in privacy.data if name in known]
    for name in known:
        privacy.get(name)  # all are known keys, also where another one is wrong
    if not given:
        return bounds.read_measure(privacy, checks, distances)
    name = given[0]
    both = [n for n in privacy.data if n in registry.measures()]
    if len(both) > 1:
        for other in registry.RATIO:
            privacy.get(other)
        reason = f"a case has one measure of privacy, and here are {both[0]} and {both[1]}"
        raise CaseError(reason, key=both[1], mend="delete one")
    if distances:
        reason = f"[neighbours] gives a distance, and {name} is one bound for all pairs"
        raise CaseError(f"{reason}: leave the distance out", key=name)
    return registry.kinds()[name].read(privacy, checks)


def epsilons(privacy: Table, known: Mapping[str, Fraction]) -> Iterator[Expression]:
    """Yields the logarithm of the bound of the claims, where the case gives it as an epsilon."""
    with suppress(InputError):  # told where the bound is read
        if "epsilon" in privacy:
            yield privacy.expression("epsilon", known)
    for name in registry.OURS:
        yield from registry.OURS[name].epsilons(privacy)


def check(measure: Measure, privacy: Table, compared: ComparedPairs, lengths: tuple[int, ...]) -> None:
    """Checks that the outputs of a case can be summed, where its measure needs that.

    Raises:
        CaseError: the outputs are chosen in part by an adversary, neighbours are too many to form, the
            lengths are all, or sequences are left out.
    """
    if measure.event is Event.OUTPUT:
        if compared.hmm.densities and "one_sided" in privacy.data:
            # a limit that is zero under one secret may be one of outputs that are possible under both
            raise CaseError(f"one_sided needs {PROBABILITIES}", key="one_sided")
        return
    if compared.hmm.densities:
        raise CaseError(f"{measure.key} needs {PROBABILITIES}", key=measure.key)
    if measure.event is Event.SET:
        bounds.check_sets(privacy, compared.hmm.chosen, compared.stands_for is not None, lengths)
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
