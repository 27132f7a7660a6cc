"""The inputs that a verdict is about, in words: `q in {0..4}^2`.

A verdict about listed inputs holds for these only. Each sentence that states one names them, so that nobody
reads "private" as a statement about inputs that nobody looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction

from paramverify import printable
from paramverify.algebra.expressions import Value
from paramverify.models.mechanisms import Mechanism
from paramverify.models.mechanisms._streams import StreamMechanism
from paramverify.models.mechanisms.above_threshold import AboveThreshold
from paramverify.models.mechanisms.hmm import Explicit
from paramverify.models.priors import Prior
from paramverify.models.relations import shape_of

MOST_VALUES = 8  # of one input that are all named
MOST_NAMES = 6  # of variables with the same values
ENTRIES = {
    StreamMechanism: "streams of entries",
    AboveThreshold: "sequences of answers",
}  # what has the values


def inputs_told(
    mechanism: Mechanism | None, prior: Prior | None, neighbours: bool, compared: Collection[str] = ()
) -> str:
    """Returns the inputs that a case lists, such as `q in {0..4}^2, r in {0, 5, 10}`.

    Those are the inputs of the mechanism of which `neighbours` are compared, and otherwise the variables of
    the prior. Of a model by tables only the states in `compared` are inputs; others may stand for outputs.
    The text is empty if a case lists neither: a model that is written out state by state, a claim.
    """
    if neighbours and mechanism:
        answers: Sequence[Collection[Value]] = mechanism.answers
        if isinstance(mechanism, Explicit):
            answers = [[state for state in values if state in compared] for values in mechanism.answers]
        unnamed = next((name for kind, name in ENTRIES.items() if isinstance(mechanism, kind)), "inputs")
        start, found = 0, []
        for part in shape_of(mechanism, answers):
            end = start + (1 if part.length is None else part.length)
            found.append((part.name or unnamed, power_told(answers[start:end], part.length)))
            start = end
        return _told(found)
    if prior:
        return _told(
            (name, values_told(values)) for name, values in prior.values.items() if name in prior.names
        )
    return ""


def values_told(values: Collection[Value]) -> str:
    """Returns a set of values: `{0..4}` for whole numbers without a gap; of many others the ends."""
    numbers = sorted(value for value in values if not isinstance(value, str))
    whole = len(numbers) == len(values) and all(Fraction(v).denominator == 1 for v in numbers)
    if whole and len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{{{numbers[0]}..{numbers[-1]}}}"
    labels = [value for value in values if isinstance(value, str)]
    named = [*map(str, numbers), *(f"'{printable.name(label)}'" for label in labels)]
    if len(named) > MOST_VALUES:
        return f"{{{', '.join(named[: MOST_VALUES - 1])}, ..., {named[-1]}}} ({len(named):,} values)"
    return f"{{{', '.join(named)}}}"


def power_told(sets: Sequence[Collection[Value]], length: int | None) -> str:
    """Returns the set of an array, or of one value where there is no length."""
    told = [values_told(values) for values in sets]
    if length is None:
        return told[0]
    if len({frozenset(values) for values in sets}) == 1:
        return f"{told[0]}^{length}"
    return " x ".join(told) or f"{{}}^{length}"


def _told(found: Iterable[tuple[str, str]]) -> str:
    """Returns names with their sets; those with the same set come together."""
    grouped: dict[str, list[str]] = {}
    for name, told in found:
        grouped.setdefault(told, []).append(printable.name(name))
    return ", ".join(f"{_listed(names)} in {told}" for told, names in grouped.items())


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:2])}, ..., {names[-1]} ({len(names)} variables)"
    return ", ".join(names)
