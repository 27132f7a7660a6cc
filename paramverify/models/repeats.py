"""A mechanism that answers several times, with fresh noise, about the same hidden input: `times` of a case.

Given the input, the outputs are independent and alike. So all orders of the same outputs are equally likely
under every input, and how often each output is seen is all that they say: each ratio of two sequences is that
of their counts, and a set of sequences that is worst can be made of whole counts. The model is that of one
release of the counts, which is exact for every measure that compares distributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import comb

from paramverify.algebra.polynomials import Polynomial
from paramverify.errors import CaseError, LimitError, ModelError, UnsupportedError
from paramverify.models.hmm import HMM, HmmStep

MAX_TIMES = 1_000
MAX_COUNTS = 20_000  # different counts from one input


def repeated(hmm: HMM, times: int) -> HMM:
    """Returns the model of the counts of so many outputs; its states are those of the model.

    Raises:
        CaseError: an output changes the state, or an adversary chooses. LimitError: too many counts.
        ModelError: two counts would have one name.
    """
    if hmm.chosen or any(step.successor != s for s, row in enumerate(hmm.steps) for step in row):
        reason = "what this mechanism does next depends on what it did before, so it is no repeated release"
        raise CaseError(reason, key="times", mend="give a length in [privacy] instead")
    if hmm.spreads:
        raise UnsupportedError("a variable stands for a number that is put out: such outputs are not counted")
    names = sorted(range(len(hmm.observations)), key=lambda k: hmm.observations[k])
    place = {observation: k for k, observation in enumerate(names)}
    known: dict[str, int] = {}
    meant: dict[str, tuple[tuple[int, int], ...]] = {}
    rows: list[tuple[HmmStep, ...]] = []
    for s, row in enumerate(hmm.steps):
        weights: dict[int, Polynomial] = {}
        for step in row:
            before = weights.get(step.observation)
            weights[step.observation] = before + step.weight if before is not None else step.weight
        if comb(times + len(weights) - 1, times) > MAX_COUNTS:
            raise LimitError(f"{times} outputs of {len(weights)} have more than {MAX_COUNTS:,} counts")
        ordered = dict(sorted(weights.items(), key=lambda item: place[item[0]]))
        listed = []
        for counts, w in _counted(ordered, times, hmm):
            name = _name(hmm, counts)
            if meant.setdefault(name, counts) != counts:  # of one input, or of two
                raise ModelError(
                    "two counts of outputs have one name: rename an output that has a colon in it"
                )
            listed.append((name, w))
        rows.append(tuple(HmmStep(known.setdefault(name, len(known)), s, w) for name, w in listed))
    bottom = hmm.denominator**times
    found = HMM(hmm.ring, hmm.states, tuple(known), tuple(rows), denominator=bottom)
    return replace(found, densities=hmm.densities, inputs=hmm.inputs)


def _counted(
    weights: Mapping[int, Polynomial], times: int, hmm: HMM
) -> Iterator[tuple[tuple[tuple[int, int], ...], Polynomial]]:
    """Yields how often each output is seen, and the weight: multinomial coefficient times powers."""
    level: list[tuple[tuple[tuple[int, int], ...], int, Polynomial]] = [((), times, hmm.ring.number(1))]
    for k, (observation, weight) in enumerate(weights.items()):
        last = k == len(weights) - 1
        powers = [hmm.ring.number(1)]
        for _ in range(times):
            powers.append(powers[-1] * weight)
        level = [
            ((*counts, (observation, n)) if n else counts, left - n, share * powers[n] * comb(left, n))
            for counts, left, share in level
            for n in ((left,) if last else range(left + 1))
        ]
    yield from ((counts, share) for counts, _, share in level)


def _name(hmm: HMM, counts: tuple[tuple[int, int], ...]) -> str:
    """Returns counts as the name of an output: `0:2 1:1`."""
    return " ".join(f"{hmm.observations[observation]}:{n}" for observation, n in counts)
