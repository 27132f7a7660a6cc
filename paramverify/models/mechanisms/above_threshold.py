"""`kind = "above_threshold"`: noisy answers are compared with a noisy threshold until one reaches it.

[F] Algorithm 3 (full version Algorithm 4), the sparse vector technique. The threshold gets noise once. Each
answer gets its own noise; the output is ⊥ while the noisy answer is below the noisy threshold, then ⊤,
and the mechanism stops.

The adversary chooses, at every query, what the two neighbouring data sets answer. As in [F], the model joins
two copies of the mechanism, one for each data set, and synchronises them by the observation: `12⊥` says that
the answers were 1 on the left and 2 on the right, and that the output was ⊥. The pair of answers is chosen,
not drawn: a probability is that of the outputs, given the answers.

With `queries`, the answers and the threshold come from one data set under a prior instead: the outputs are ⊥
and ⊤ alone, and after the last answer, or ⊤, the mechanism ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, gathered
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import Drawing, Input, Mechanism, neighbouring_inputs, read_queries
from paramverify.models.noise import MAX_RANGE, NOISE, Noise, Releases, read_noise
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.tables import EXPRESSION, Either, Key, Listed, Section, Table, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLD = (
    "The threshold gets noise once, and each answer gets independent noise. The output "
    "is ⊥ as long as the noisy answer is below the noisy threshold; then it is ⊤, and "
    "the mechanism stops."
)

CHECKED = True  # `read` checks the probabilities
_NUMBER = whole(0, MAX_RANGE)
_THRESHOLDS = Either((_NUMBER, Listed("a list of whole numbers", _NUMBER)))
SECTION = Section(
    "above_threshold",
    "Whether each noisy answer reaches a noisy threshold, until one does.",
    (
        Key(
            "threshold",
            Either((EXPRESSION, Listed("a list of whole numbers", _NUMBER))),
            "The threshold, or a list of thresholds; with `queries` it may be an expression.",
            needed=True,
        ),
        Key("threshold_noise", NOISE, "The noise that is added to the threshold.", needed=True),
        Key("query_noise", NOISE, "The noise that is added to each answer.", needed=True),
        Key(
            "queries",
            Listed("a list of expressions", EXPRESSION, least=1),
            "The answers of one data set, as expressions over the variables of [prior].",
        ),
    ),
    also={
        "if": {"required": ["queries"]},
        "then": {"properties": {"threshold": EXPRESSION.schema()}},
        "else": {"properties": {"threshold": _THRESHOLDS.schema()}},
    },
)

BELOW, ABOVE, END = "⊥", "⊤", "end"
SIDES = ("left", "right")


def choice(observation: str) -> str:
    """Returns the pair of answers, or of entries of streams, that an observation says were chosen."""
    if observation == END:
        return ""
    chosen, between, _ = observation.partition(": ")
    return chosen if between else observation[:-1]


@dataclass(frozen=True, eq=False)
class AboveThreshold:
    """Two synchronised copies; a state is (side, noisy threshold), and one state more after the end."""

    checks: Checks
    thresholds: tuple[int, ...]
    threshold_noise: Noise
    query_noise: Noise
    queries: tuple[Expression, ...] = ()

    @property
    def answers(self) -> tuple[tuple[Value, ...], ...]:
        """The possible values of one answer."""
        return (tuple(Fraction(v) for v in range(self.query_noise.range + 1)),)

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the joined model, and for each threshold its two sides as a pair."""
        pairs = [(int(x), int(y)) for (x,), (y,) in neighbouring_inputs(table, self.answers)]
        same = [(v, v) for v in range(self.query_noise.range + 1)]
        hmm = self._joined(sorted({*same, *pairs, *((k, j) for j, k in pairs)}))
        return hmm, [
            SecretPair(
                f"left answers, threshold {t}",
                f"right answers, threshold {t}",
                self._start(0, t),
                self._start(1, t),
            )
            for t in self.thresholds
        ]

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Not available: the answers are chosen by the adversary, not by a prior."""
        raise CaseError(
            "above_threshold is verified for neighbouring answers; replace [prior] by "
            "[neighbours], or add queries"
        )

    def drawn(self, at_point: Callable[[Noise], Releases]) -> Drawing:
        """Returns the mechanism with its noise at a parameter point."""
        return UntilAbove(at_point(self.threshold_noise), at_point(self.query_noise))

    def _joined(self, joint: Sequence[tuple[int, int]]) -> HMM:
        """Returns the model of both sides, for the given pairs of neighbouring answers."""
        ring = self.checks.ring
        one = RationalFunction.of(ring.number(1))
        zero = RationalFunction.of(ring.number(0))
        noisy = range(self.threshold_noise.top + 1)
        states = [f"{side}, noisy threshold {r}" for side in SIDES for r in noisy] + [END]
        observations = [f"{j}{k}{out}" for j, k in joint for out in (BELOW, ABOVE)] + [END]
        last = len(states) - 1
        rows: list[list[tuple[int, int, RationalFunction]]] = []
        for side in range(len(SIDES)):
            for r in noisy:
                row: list[tuple[int, int, RationalFunction]] = []
                for k, answer in enumerate(pair[side] for pair in joint):
                    lower = sum(self.query_noise.rows[answer][:r], zero)
                    row.append((2 * k, side * len(noisy) + r, lower))
                    row.append((2 * k + 1, last, one - lower))
                rows.append(row)
        rows.append([(len(observations) - 1, last, one)])
        return HMM.build(self.checks, states, observations, rows, chosen=True)

    def _start(self, side: int, threshold: int) -> InitialDistribution:
        row = self.threshold_noise.rows[threshold]
        return InitialDistribution.of({side * len(row) + r: p for r, p in enumerate(row)}, self.checks)


@dataclass(frozen=True, eq=False)
class AnswersOfOne:
    """The mechanism on one data set; an input is the threshold, and then the answers in their order."""

    checks: Checks
    threshold_noise: Noise
    query_noise: Noise
    queries: tuple[Expression, ...]

    @property
    def answers(self) -> tuple[tuple[Value, ...], ...]:
        """The possible values of the threshold and of each answer."""
        thresholds, values = (
            tuple(Fraction(v) for v in range(noise.range + 1))
            for noise in (self.threshold_noise, self.query_noise)
        )
        return (thresholds, *(values for _ in self.queries[1:]))

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the model whose states are the noisy threshold and the answers that are left."""
        lists = {tuple(int(v) for v in given[1:]) for given in inputs}
        rest = {answers[k:] for answers in lists for k in range(len(answers))}
        noisy = range(self.threshold_noise.top + 1)
        states = [(r, left) for left in sorted(rest) for r in noisy]
        place = {state: k for k, state in enumerate(states)}
        one = RationalFunction.of(self.checks.ring.number(1))
        zero = RationalFunction.of(self.checks.ring.number(0))
        rows: list[list[tuple[int, int, RationalFunction]]] = []
        for r, left in states:
            lower = sum(self.query_noise.rows[left[0]][:r], zero)
            following = place.get((r, left[1:]), len(states))
            rows.append([(0, following, lower), (1, len(states), one - lower)])
        rows.append([(2, len(states), one)])
        names = [f"noisy threshold {r}, answers {' '.join(map(str, left))}" for r, left in states]
        hmm = HMM.build(self.checks, [*names, END], [BELOW, ABOVE, END], rows)
        starts = []
        for given in inputs:
            left = tuple(int(v) for v in given[1:])
            row = self.threshold_noise.rows[int(given[0])]
            weights = {place[r, left]: p for r, p in enumerate(row)}
            starts.append(InitialDistribution.of(weights, self.checks))
        return hmm, starts

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Not available: the answers come from a prior."""
        raise CaseError("with [neighbours] the adversary chooses the answers; remove queries")

    def drawn(self, at_point: Callable[[Noise], Releases]) -> Drawing:
        """Returns the mechanism with its noise at a parameter point."""
        return UntilAbove(at_point(self.threshold_noise), at_point(self.query_noise))


@dataclass(frozen=True, eq=False)
class UntilAbove:
    """Draws the noise: ⊥ for each noisy answer below the noisy threshold, then ⊤, then nothing more.

    The input starts with the threshold. Outputs are sequences of one symbol for each answer, filled up with
    `end`.
    """

    threshold_noise: Releases
    query_noise: Releases

    def __call__(self, rng: np.random.Generator, given: tuple[Any, ...], size: int) -> NDArray[np.str_]:
        """Returns `size` output sequences."""
        import numpy as np

        threshold = self.threshold_noise.released(rng, int(given[0]), size)
        length = len(given) - 1
        stop = np.full(size, length)
        for k, answer in enumerate(given[1:]):
            noisy = self.query_noise.released(rng, int(answer), size)
            stop[(stop == length) & (noisy >= threshold)] = k
        words = [[BELOW] * k + [ABOVE] + [END] * (length - k - 1) for k in range(length)]
        outputs: NDArray[np.str_] = np.array([*words, [BELOW] * length])[stop]
        return outputs


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `threshold` (a number, or a list of them), `threshold_noise` and `query_noise`.

    With `queries`, a list of expressions for the first answers, the threshold may be an expression too.
    """
    with gathered() as each:
        with each:
            threshold_noise = read_noise(table, "threshold_noise", checks)
        with each:
            query_noise = read_noise(table, "query_noise", checks)
        for name in ("queries", "threshold"):
            table.get(name)
        with each:
            table.close()
    if threshold_noise.truncated or query_noise.truncated:
        checks.notes.append(
            "the noise is truncated before the mechanism compares answers with the threshold; the textbook's "
            "sparse vector technique with unbounded noise has a budget that holds for every length, but this "
            "variant may not"
        )
    if "queries" in table:
        answers, _ = read_queries(table)
        if not answers:
            raise CaseError("a list of expressions is needed here", key="queries")
        return AnswersOfOne(checks, threshold_noise, query_noise, (table.expression("threshold"), *answers))
    if query_noise.range > 9:
        raise CaseError("above_threshold does not support answers above 9", key="query_noise.range")
    listed = table.need("threshold")
    thresholds = tuple(listed if isinstance(listed, list) else [listed])
    for threshold in thresholds:
        if type(threshold) is not int or not 0 <= threshold <= threshold_noise.range:
            reason = f"the threshold must be a whole number from 0 to {threshold_noise.range}"
            raise CaseError(reason, key="threshold")
    return AboveThreshold(checks, thresholds, threshold_noise, query_noise)
