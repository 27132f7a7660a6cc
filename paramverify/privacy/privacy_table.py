"""`[privacy]`: the divergence with its bound, and the lengths of the sequences that it is about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from paramverify.algebra.budgets import WrittenEpsilon
from paramverify.algebra.constants import ExpConstant, generator
from paramverify.algebra.expressions import Expression
from paramverify.algebra.polynomials import (
    Ring,
)
from paramverify.algebra.rationals import at_least, at_most
from paramverify.divergences import (
    DistanceBound,
    Event,
    HockeyStick,
    MaxDivergence,
    Measure,
    SumDivergence,
    registry,
)
from paramverify.divergences.declared import check_declared
from paramverify.divergences.reading import read_bound, read_probability
from paramverify.errors import (
    BesideError,
    CaseError,
    ExpressionError,
    InputError,
    LimitError,
    UnsupportedError,
    located,
)
from paramverify.models.context import Checks
from paramverify.models.model import PROBABILITIES
from paramverify.privacy.keys import LENGTH, MAX_LENGTH
from paramverify.privacy.secrets import ComparedPairs
from paramverify.tables import Table, is_decimal

# --- divergences ------------------------------------------------------------------------------------


OTHER_NAMES = {  # what people call a bound, and how it is written here
    "rho": "zcdp = {}",
    "alpha": "renyi = {{ order = {}, epsilon = ... }}",
    "tv": "total_variation = {}",
}


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
        for other, meant in OTHER_NAMES.items():
            if other in privacy.data:
                privacy.told.add(other)
                raise CaseError(
                    "unknown key", key=other, mend=f"write {meant.format(_toml(privacy.data[other]))}"
                )
        return read_epsilon_or_ratio(privacy, checks, distances)
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
    measure, words = registry.kinds()[name].read(privacy, checks)
    if isinstance(measure, SumDivergence) and registry.foreign(name):
        check_declared(measure)
    return measure, words


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
        check_sets(privacy, compared.hmm.chosen, compared.stands_for is not None, lengths)
        return
    key = measure.key
    if compared.hmm.chosen:
        reason = (
            "an adversary chooses the answers here after seeing outputs, and divergences do not support that"
        )
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


# --- bounds -----------------------------------------------------------------------------------------

BITS, DIGITS = 64, 12  # of rational bounds beside e^ε
DISTANCE = re.compile(r"\bdistance\b")  # in a bound, the distance of two inputs


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) and not is_decimal(value) else str(value)


def _written(privacy: Table, name: str) -> Expression:
    """Returns the bound as it is written; a mend of one that is the other one by its words has its name."""
    other = {"epsilon": "ratio", "ratio": "epsilon"}[name]
    try:
        return privacy.expression(name)
    except ExpressionError as error:
        word = r"(?:epsilon|eps|ε)\s*=|.*(?:bits?|nats?|epsilon)\s*$" if other == "epsilon" else r"ratio\s*="
        if error.mend and re.match(rf"\s*(?:{word})", str(privacy.get(name))):
            error.retell("syntax error", f'write {other} = "{error.mend.removeprefix("write ")}"')
        raise


def read_epsilon_or_ratio(
    privacy: Table, checks: Checks, distances: Collection[Fraction] = ()
) -> tuple[Measure, str]:
    """Reads `epsilon` or `ratio`, and `delta`: the measure, and its bounds in words; the ratio is positive.

    Where the pairs of the case have distances, the bound is one for each of them. A delta of 0 is none.

    Raises:
        CaseError: a bound that is not positive, or below 1 everywhere; a mistake in the table.
    """
    privacy.get("delta")  # a known key, also where the bounds before it are wrong
    name = privacy.either("epsilon", "ratio", 'epsilon = "ln(2)", for example')
    delta = read_probability(privacy.expression("delta"), checks) if "delta" in privacy else None
    if not distances:
        pure, words = read_bound(_written(privacy, name), name, checks)
        if delta is None or not delta.numerator:
            return pure, words
        told = checks.definitions.told(privacy.expression("delta").text)
        return HockeyStick(pure.ratio, delta), f"{words}, delta = {told}"
    if delta is not None and delta.numerator:
        reason = "bounds that depend on a distance have no delta here: leave delta out, or the distance"
        raise CaseError(reason, key="delta")
    if not DISTANCE.search(str(privacy.get(name))):
        reason = "[neighbours] gives a distance, and this bound does not depend on it; write distance here"
        raise CaseError(reason, key=name)
    bounds: dict[Fraction, MaxDivergence] = {}
    for distance in sorted(distances):
        try:
            bounds[distance], words = read_bound(
                privacy.expression(name, {"distance": distance}), name, checks
            )
        except InputError as error:
            whole = distance.denominator == 1
            hint = "" if whole else "; make all distances whole, or write the bound with exp or epsilon"
            error.reason += f" (for the distance {distance}{hint})"
            raise
    return DistanceBound(bounds), words


def check_sets(privacy: Table, compared_chosen: bool, stands_for: bool, lengths: tuple[int, ...]) -> None:
    """Checks that a case with a delta is about sets of outputs that can be summed.

    Raises:
        CaseError: the outputs are chosen in part by an adversary, neighbours are too many to form, the
            lengths are all, or sequences are left out.
    """
    if compared_chosen:
        reason = (
            "an adversary chooses the answers here after seeing outputs, and a delta does not support that"
        )
        raise CaseError(f"{reason}: leave delta out, or give [prior] and [secrets]", key="delta")
    if stands_for:
        reason = "the neighbours are too many to form, and the pair that stands for them is about ratios only"
        raise CaseError(f"{reason}: ask for fewer queries, or leave delta out", key="delta")
    if not lengths:
        reason = 'with a delta the lengths are numbers: write, for example, length = "1..5"'
        raise CaseError(reason, key="length")
    if "one_sided" in privacy.data:
        reason = "with a delta all outputs count, also those that are impossible under one secret"
        raise CaseError(f"{reason}: leave one_sided or delta out", key="one_sided")


def check_distance(privacy: Table, known: Collection[str]) -> None:
    """Checks that a bound that mentions the distance may do so: it is a known name.

    Raises:
        CaseError: `[neighbours]` gives no distance, and no parameter has this name.
    """
    for name in ("epsilon", "ratio"):
        if DISTANCE.search(str(privacy.data.get(name, ""))) and "distance" not in known:
            reason = "give the distance of two inputs in [neighbours], such as distance"
            raise CaseError(f'{reason} = "sum(abs(x[i] - y[i]))"', key=name)


def check_fits(budget: WrittenEpsilon, others: Sequence[Fraction]) -> None:
    """Checks that e^ε of a number ε is a power of what the other exponents of exp need.

    Raises:
        BesideError: it is not, or of too small a number; with rational bounds just below and above e^ε.
    """
    if budget.logarithms or budget.multiples:
        return
    generator(others)
    try:
        generator([*others, budget.rational])
    except LimitError as error:
        ends = ExpConstant(budget.rational).enclosure(BITS)
        below, above = at_least(ends[0], DIGITS), at_most(ends[1], DIGITS)
        ways = f"write ratio = {below}, just below e^epsilon, to prove privacy"
        reason = f"privacy.epsilon: {error}; or {ways}, or {above}, just above, to refute it"
        raise BesideError(reason, (below, above)) from None


def read_one_sided(privacy: Table) -> bool:
    """Reads `one_sided`: whether sequences that are impossible under one secret are ignored."""
    return "one_sided" in privacy and bool(privacy.choice("one_sided"))


def check_ties(measure: Measure, lengths: Sequence[int], one_sided: bool, ring: Ring) -> None:
    """Raises an UnsupportedError if a parameter stands beside its exponential where that is not covered."""
    for tie in ring.tied:
        what = ""
        if measure.event is not Event.OUTPUT:
            what = f"`{measure.key}`"
        elif not lengths or one_sided:
            what = "sequences of every length" if not lengths else "`one_sided`"
        if what:
            beside = f"{tie.name} stands beside {tie.meaning} in this case"
            mend = f'give {tie.name} a number, such as {tie.name} = "1/2" in [parameters]'
            raise UnsupportedError(f"{beside}, and {what} does not cover that: {mend}")


def check_stream(privacy: Table) -> None:
    """Checks that a case about a stream says how many entries are read.

    Raises:
        CaseError: it does not.
    """
    if "length" not in privacy:
        raise CaseError('a stream needs a length: write length = "all", or length = "1..5"', key="length")


def read_lengths(value: object) -> tuple[int, ...]:
    """Reads `length`: a number, a range such as `"1..15"`, or `"all"`, which gives no lengths; 1 by default.

    Raises:
        CaseError: anything else.
    """
    if value is None:
        return (1,)
    with located(key="length"):
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_LENGTH:
            return (value,)
        if value == "all":
            return ()
        match = LENGTH.fullmatch(value) if isinstance(value, str) else None
        if match and 1 <= int(match.group(1)) <= int(match.group(2)) <= MAX_LENGTH:
            return tuple(range(int(match.group(1)), int(match.group(2)) + 1))
        reason = f'a number from 1 to {MAX_LENGTH}, a range such as "1..15", or "all" is needed here'
        raise CaseError(reason)
