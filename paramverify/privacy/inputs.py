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
    StreamMechanism: ("streams", "entry", "entries"),
    AboveThreshold: ("sequences", "answer", "answers"),
}  # what has the values


def inputs_told(
    mechanism: Mechanism | None,
    prior: Prior | None,
    neighbours: bool,
    compared: Collection[str] = (),
    lengths: Sequence[int] = (1,),
) -> str:
    """Returns the inputs that a case lists, such as `q in {0..4}^2, r in {0, 5, 10}`.

    Those are the inputs of the mechanism of which `neighbours` are compared, and otherwise the variables of
    the prior. Of a model by tables only the states in `compared` are inputs; others may stand for outputs.
    The text is empty if a case lists neither: a model that is written out state by state, a claim.
    Streams have the `lengths` of the case.
    """
    if neighbours and mechanism:
        answers: Sequence[Collection[Value]] = mechanism.answers
        if isinstance(mechanism, Explicit):
            answers = [[state for state in values if state in compared] for values in mechanism.answers]
        unnamed = next((_many(*ENTRIES[kind], lengths) for kind in _streams(mechanism)), "inputs")
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


def sequences_told(mechanism: Mechanism | None, neighbours: bool, lengths: Sequence[int]) -> str:
    """Returns which sequences of outputs a verdict is about, such as `all output sequences of length 1 to 5`.

    No lengths stand for every length. The text is empty for single outputs, and where `inputs_told` says it.
    """
    if tuple(lengths) == (1,) or (neighbours and _streams(mechanism)):
        return ""
    return f"all output sequences of {f'length {_ends(lengths)}' if lengths else 'any length'}"


def _streams(mechanism: Mechanism | None) -> list[type]:
    """Returns the kind of `ENTRIES` that a mechanism has, if any."""
    return [kind for kind in ENTRIES if isinstance(mechanism, kind)]


def _many(what: str, one: str, more: str, lengths: Sequence[int]) -> str:
    """Returns of how many entries inputs are, such as `streams of 1 to 3 entries`."""
    if tuple(lengths) == (1,):
        return f"{what} of 1 {one}"
    return f"{what} of {_ends(lengths) if lengths else 'any number of'} {more}"


def _ends(lengths: Sequence[int]) -> str:
    return " to ".join(dict.fromkeys((str(lengths[0]), str(lengths[-1]))))


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
