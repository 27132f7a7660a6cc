"""What is sampled: experiments, and samplers that say how often each output came.

Drawing from many finite distributions at once, with a proved bound on what rounding changes.

A distribution with probabilities p_1..p_k becomes the thresholds t_i = p_1 + ... + p_i, computed exactly and
then rounded to multiples of 2^-64. With U uniform on the multiples of 2^-64 in [0, 1), the entry i with
t_{i-1} <= U < t_i is drawn (inverse of the distribution function).

Rounding. Let V = U + W with W uniform on [0, 2^-64), so that V is uniform on [0, 1); with exact thresholds V
would draw exactly. U and the rounded thresholds draw another entry than V and the exact ones only if V lies
between an exact threshold and its rounding, which are at most 2^-64 apart, and there are k - 1 thresholds.
So one draw has total variation distance at most (k - 1)·2^-64 from the exact distribution, and n draws of at
most k entries together at most n·(k - 1)·2^-64: below 10^-11 for ten million draws of ten entries. Every
p-value and confidence below is exact up to this. Entries of probability zero are never drawn.

Samplers: from a random generator and a number of runs to how often each output came.

An output is a tuple of labels, one for each observation of the sequence. Samplers are plain data that another
process can be given.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from paramverify.algebra.domains import check_names, contains, in_words
from paramverify.algebra.reals import Real
from paramverify.errors import InputError, LimitError, ModelError
from paramverify.evidence.divergence_witnesses import directed
from paramverify.models.context import sample_points
from paramverify.models.mechanisms.above_threshold import choice
from paramverify.models.model import Model
from paramverify.models.model_evaluation import Numbers
from paramverify.models.neighbourhoods import pattern_pairs, patterned
from paramverify.models.priors import SecretPair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BITS = 64
WIDTH = 256  # bits of the enclosures of irrational probabilities: far below 2^-64 wide


@dataclass(frozen=True, eq=False)
class Draws:
    """Rows of thresholds one after another: row r has the entries offsets[r] .. offsets[r + 1] - 1.

    `thresholds[i]` is 2^64 times the rounded sum of the probabilities of the row up to entry i; the last one
    of each row is not used.
    """

    offsets: NDArray[np.int64]
    thresholds: NDArray[np.uint64]

    @staticmethod
    def of(rows: Sequence[Sequence[Real | Fraction]]) -> Draws:
        """Returns the rows with the given exact probabilities, each of which must sum to one.

        Entries of probability zero must have been left out.
        """
        import numpy as np

        offsets = np.cumsum([0, *(len(row) for row in rows)])
        found: list[int] = []
        for row in rows:
            total: Fraction = Fraction(0)
            for probability in row:
                total += _rational(probability)
                found.append(min(round(total * 2**BITS), 2**BITS - 1))
        return Draws(offsets.astype(np.int64), np.array(found, dtype=np.uint64))

    def document(self) -> dict[str, Any]:
        """Returns the rows as JSON data."""
        return {"offsets": self.offsets.tolist(), "thresholds": self.thresholds.tolist()}

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> Draws:
        """Returns the rows that `document` wrote."""
        import numpy as np

        return Draws(
            np.array(document["offsets"], dtype=np.int64), np.array(document["thresholds"], dtype=np.uint64)
        )

    def entries(self, rng: np.random.Generator, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns for each given row the number of an entry drawn from it, counted over all rows."""
        import numpy as np

        uniform = bits(rng, len(rows))
        low = self.offsets[rows]
        high = self.offsets[rows + 1] - 1
        longest = int((high - low).max(initial=0))
        for _ in range(longest.bit_length()):
            middle = (low + high) // 2
            beyond = (low < high) & (uniform >= self.thresholds[middle])
            high = np.where(beyond, high, middle)
            low = np.where(beyond, middle + 1, low)
        return low

    def row(self, rng: np.random.Generator, row: int, size: int) -> NDArray[np.int64]:
        """Returns `size` draws from one row, as numbers of entries counted from the start of the row."""
        import numpy as np

        start, end = int(self.offsets[row]), int(self.offsets[row + 1])
        inner = self.thresholds[start : end - 1]
        return np.searchsorted(inner, bits(rng, size), side="right").astype(np.int64)


def bits(rng: np.random.Generator, size: int) -> NDArray[np.uint64]:
    """Returns uniform 64-bit integers."""
    import numpy as np

    drawn: Any = rng.integers(0, 2**BITS, size=size, dtype=np.uint64)
    return np.asarray(drawn, dtype=np.uint64)


def _rational(value: Real | Fraction) -> Fraction:
    """Returns a rational within 2^-200 of the value: the sums of a row are then far nearer than 2^-65."""
    if isinstance(value, Fraction):
        return value
    exact = value.rational
    return exact if exact is not None else value.enclosure(WIDTH)[0]


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
        raise InputError("every secret has probability 0 at the chosen points: choose others with --at")
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
            f"no point{shown and f' with {shown}'} was found in the domain {model.domain.describe()}"
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
        raise InputError("the case covers every length: choose one with --length")
    return max(model.lengths)


Output = tuple[str, ...]
Counts = Counter[Output]

MAX_STATES = 200_000


class Sampler(Protocol):
    """Runs one side of an experiment."""

    def __call__(self, rng: np.random.Generator, size: int) -> Counts:
        """Returns how often each output came in `size` independent runs."""


class Source(Protocol):
    """What is sampled from: a model, or a mechanism in Python."""

    def sampler(self, experiment: Experiment, side: int) -> Sampler:
        """Returns the sampler for the left (0) or right (1) side of an experiment."""


@dataclass(frozen=True, eq=False)
class StepTable:
    """The steps of all states: entry k observes `observations[k]` and moves to `successors[k]`."""

    draws: Draws
    observations: NDArray[np.int64]
    successors: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks through a hidden Markov model: `tables[t]` has the steps at time t."""

    start: Draws
    states: NDArray[np.int64]
    tables: tuple[StepTable, ...]
    names: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Returns all numbers and names as JSON data."""
        different = list({id(table): table for table in self.tables}.values())
        return {
            "start": self.start.document(),
            "states": self.states.tolist(),
            "tables": [
                {
                    "draws": table.draws.document(),
                    "observations": table.observations.tolist(),
                    "successors": table.successors.tolist(),
                }
                for table in different
            ],
            "order": [different.index(table) for table in self.tables],
            "names": list(self.names),
        }

    @staticmethod
    def of(document: Mapping[str, Any]) -> Walks:
        """Returns the walks that `document` wrote."""
        import numpy as np

        tables = [
            StepTable(
                Draws.from_document(table["draws"]),
                np.array(table["observations"], dtype=np.int64),
                np.array(table["successors"], dtype=np.int64),
            )
            for table in document["tables"]
        ]
        return Walks(
            Draws.from_document(document["start"]),
            np.array(document["states"], dtype=np.int64),
            tuple(tables[k] for k in document["order"]),
            tuple(document["names"]),
        )

    def __call__(self, rng: np.random.Generator, size: int) -> Counts:
        """Returns how often each observation sequence came in `size` runs."""
        import numpy as np

        state = self.states[self.start.row(rng, 0, size)]
        known = np.zeros((1, 0), dtype=np.int64)  # the sequences so far, and which of them each run has
        which = np.zeros(size, dtype=np.int64)
        for table in self.tables:
            entries = table.draws.entries(rng, state)
            state = table.successors[entries]
            codes, which = np.unique(
                which * len(self.names) + table.observations[entries], return_inverse=True
            )
            before, last = np.divmod(codes, len(self.names))
            known = np.column_stack([known[before], last])
        counts = np.bincount(which, minlength=len(known))
        return Counter(
            {
                tuple(self.names[o] for o in word): int(n)
                for word, n in zip(known.tolist(), counts, strict=True)
            }
        )


@dataclass(frozen=True, eq=False)
class ModelSource:
    """Samples from a model, by exact probabilities that are rounded as `draws` says."""

    model: Model

    def sampler(self, experiment: Experiment, side: int) -> Walks:
        """Returns the sampler of one side, over the states that can be reached in time.

        Raises:
            InputError: an unknown secret, or one of probability zero at the point.
            ModelError: the tables are no probabilities at the point.
            LimitError: more than `MAX_STATES` states can be reached.
        """
        import numpy as np

        pi, tau = directed(self.model, experiment.left, experiment.right)
        start = (pi, tau)[side]
        numbers = Numbers(self.model, experiment.point)
        if numbers.mass(start).sign() <= 0:
            raise InputError(f"the secret {experiment.secret(side)!r} has probability 0 at this point")
        mass = numbers.value(start.mass)
        weights = {s: numbers.real(numbers.value(w), mass) for s, w in start.weights.items()}
        if any(w.sign() < 0 for w in weights.values()):
            raise ModelError(f"the prior of {experiment.secret(side)!r} is negative at this point")
        weights = {s: w for s, w in weights.items() if w.sign() > 0}
        chosen = experiment.choices or ("",) * experiment.length
        wanted = tuple(dict.fromkeys(chosen))
        steps = _Steps(self.model, numbers)
        reached = list(weights)
        place = {s: k for k, s in enumerate(reached)}
        for state in reached:  # grows while it is read
            for option in wanted:
                for _, successor, _ in steps.of(state, option):
                    if successor not in place:
                        place[successor] = len(reached)
                        reached.append(successor)
            if len(reached) > MAX_STATES:
                raise LimitError(f"the model has more than {MAX_STATES:,} reachable states")
        tables = {option: steps.table(reached, place, option) for option in wanted}
        return Walks(
            Draws.of([list(weights.values())]),
            np.array([place[s] for s in weights], dtype=np.int64),
            tuple(tables[option] for option in chosen),
            self.model.hmm.observations,
        )


class _Steps:
    """The steps of a model at a point, as exact numbers."""

    def __init__(self, model: Model, numbers: Numbers) -> None:
        self.model = model
        self.numbers = numbers
        self.denominator = numbers.value(model.hmm.denominator)
        self.memory: dict[tuple[int, str], list[tuple[int, int, Real]]] = {}

    def of(self, state: int, wanted: str) -> list[tuple[int, int, Real]]:
        """Returns the possible (observation, successor, probability) of a state under a choice."""
        if (state, wanted) in self.memory:
            return self.memory[state, wanted]
        hmm = self.model.hmm
        found: list[tuple[int, int, Real]] = []
        total = self.denominator * 0
        for step in hmm.steps[state]:
            if hmm.chosen and choice(hmm.observations[step.observation]) not in ("", wanted):
                continue
            weight = self.numbers.value(step.weight)
            total += weight
            value = self.numbers.real(weight, self.denominator)
            if value.sign() < 0:
                raise ModelError(
                    f"a probability of the state {hmm.states[state]!r} is negative at this point"
                )
            if value.sign() > 0:
                found.append((step.observation, step.successor, value))
        if total != self.denominator:
            raise InputError(f"{wanted!r} cannot be chosen in the state {hmm.states[state]!r}")
        self.memory[state, wanted] = found
        return found

    def table(self, reached: Sequence[int], place: Mapping[int, int], wanted: str) -> StepTable:
        """Returns the steps of the reached states under a choice, in their order."""
        import numpy as np

        rows = [self.of(state, wanted) for state in reached]
        flat = [entry for row in rows for entry in row]
        return StepTable(
            Draws.of([[p for _, _, p in row] for row in rows]),
            np.array([o for o, _, _ in flat], dtype=np.int64),
            np.array([place[t] for _, t, _ in flat], dtype=np.int64),
        )
