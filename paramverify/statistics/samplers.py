"""Samplers: from a random generator and a number of runs to how often each output came.

An output is a tuple of labels, one for each observation of the sequence. Samplers are plain data that another
process can be given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from paramverify.algebra.reals import Real
from paramverify.errors import InputError, LimitError, ModelError
from paramverify.evidence.pairs import directed
from paramverify.models.evaluation import Numbers
from paramverify.models.mechanisms.above_threshold import choice
from paramverify.models.model import Model
from paramverify.statistics.draws import Draws
from paramverify.statistics.experiments import Experiment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
            raise InputError(f"the secret {experiment.secret(side)!r} has probability zero at this point")
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
                raise LimitError(f"more than {MAX_STATES:,} states can be reached")
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
