"""What is sampled: a secret pair, a length, a parameter point, and what an adversary chooses."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.algebra.points import check_names, contains, in_words
from paramverify.errors import InputError
from paramverify.models.context import sample_points
from paramverify.models.evaluation import Numbers
from paramverify.models.mechanisms.above_threshold import choice
from paramverify.models.model import Model
from paramverify.models.patterns import pattern_pairs, patterned
from paramverify.models.priors import SecretPair

MOST_PAIRS = 64
MOST_POINTS = 12


@dataclass(frozen=True, eq=False)
class Experiment:
    """Two secrets whose outputs are compared, at one parameter point and for sequences of one length.

    `choices` are what an adversary chooses at each step, where the model has such a one (`HMM.chosen`): then
    the probability of an output sequence is that given the choices. `pattern` names the input pattern.
    """

    left: str
    right: str
    point: Mapping[str, Fraction]
    length: int = 1
    choices: tuple[str, ...] = ()
    pattern: str = ""

    def secret(self, side: int) -> str:
        """Returns the secret of the left (0) or right (1) side."""
        return (self.left, self.right)[side]

    def __str__(self) -> str:
        chosen = f", answers {' '.join(self.choices)}" if self.choices else ""
        at = in_words(self.point)
        return f"{self.left!r} against {self.right!r}{chosen}{f', {at}' if at else ''}"


def experiments(
    model: Model,
    length: int,
    points: Sequence[Mapping[str, Fraction]],
    pairs: int = MOST_PAIRS,
) -> list[Experiment]:
    """Returns the experiments on a model: at most `pairs` secret pairs, those with a pattern first.

    Points at which one of the secrets has probability zero are left out. With an adversary the pairs of
    answers are those of the input patterns, one after another.

    Raises:
        InputError: no pair has a positive probability at any of the points.
    """
    found = [
        Experiment(pair.left, pair.right, point=point, length=length, choices=choices, pattern=pattern)
        for point in points
        for numbers in [Numbers(model, point)]
        for pattern, pair, choices in _compared(model, length)[:pairs]
        if all(numbers.mass(start).sign() > 0 for start in (pair.pi, pair.tau))
    ]
    if not found:
        raise InputError("every secret has probability zero at the points that were chosen")
    return found


def _compared(model: Model, length: int) -> list[tuple[str, SecretPair, tuple[str, ...]]]:
    if model.hmm.chosen:
        known = {choice(o) for o in model.hmm.observations} - {""}
        most = max(int(digit) for pair in known for digit in pair)
        chosen = [
            (name, tuple(f"{a}{b}" for a, b in zip(left, right, strict=True)))
            for name, left, right in pattern_pairs(length, most)
        ]
        return [
            (name, pair, choices)
            for pair in model.pairs
            for name, choices in chosen
            if known.issuperset(choices)
        ]
    first = patterned(model.pairs)
    taken = {id(pair) for _, pair in first}
    rest = [("", pair) for pair in model.pairs if id(pair) not in taken]
    return [(name, pair, ()) for name, pair in (*first, *rest)]


def chosen_points(
    model: Model, given: Mapping[str, Fraction], seed: int, most: int = MOST_POINTS
) -> list[dict[str, Fraction]]:
    """Returns points of the domain at which to sample: simple ones, and some drawn with the seed.

    Parameters that are `given` have that value everywhere; if all are, there is one point.

    Raises:
        InputError: an unknown parameter, or no point of the domain with the given values was found.
    """
    names = model.domain.ring.parameters
    check_names(model.domain.ring, given)
    found: dict[tuple[Fraction, ...], dict[str, Fraction]] = {}
    for candidate in sample_points(model.domain):
        point = {n: given.get(n, candidate[n]) for n in names}
        if contains(model.domain, point):
            found.setdefault(tuple(point.values()), point)
    generator = random.Random(seed)
    for _ in range(10 * most):
        point = {}
        for name in names:
            interval = model.domain.box[name]
            share = Fraction(generator.randrange(1, 64), 64)
            drawn = interval.lower + (interval.upper - interval.lower) * share
            point[name] = given.get(name, drawn)
        if contains(model.domain, point):
            found.setdefault(tuple(point.values()), point)
    if not found:
        shown = in_words(given)
        raise InputError(
            f"no point of the domain {model.domain.describe()} was found{shown and f' with {shown}'}"
        )
    listed = list(found.values())
    if len(listed) <= most:
        return listed
    return [listed[0], *generator.sample(listed[1:], most - 1)]


def length_of(model: Model, given: int | None) -> int:
    """Returns the length of the sampled sequences: the given one, else the longest of the case.

    Raises:
        InputError: the case is about every length and none is given.
    """
    if given is not None:
        return given
    if not model.lengths:
        raise InputError("the case is about every length: choose one with --length")
    return max(model.lengths)
