"""What D and P compare: pairs of exact or enclosed probabilities, for each state, neighbour and schedule.

On a Markov chain these are path probabilities. On a decision process P speaks of all schedulers, which may
choose by the whole history, so the largest and the smallest probabilities over them are compared: exact
(`extremes`, and `policies` where probabilities are not numbers). D speaks of all query schedulers:

- For a bounded path formula they are words of actions, which are enumerated (`schedules`): exact.
- Otherwise sup over all schedulers on one side and inf on the other are compared ([L] Prop. 2): a sufficient
  condition. If it fails, nothing follows. Then both sides may be equal under every query scheduler
  (`scheduler_equivalence`), or a query scheduler that repeats its actions violates the formula (`periodic`).

Certified enclosures of path probabilities in large Markov chains, where exact numbers grow too long.

The exact probability of a long chain may have thousands of digits, although a comparison needs a few of them.
So large chains are first solved in ball arithmetic ([Johansson17]): every ball contains the exact number that
it stands for, whatever is rounded. The equations, their order, zeros and ones are those of the exact solver
(`reachability`). A comparison that holds for the worst ends of the balls holds for the exact numbers. One
that does not says nothing, and the exact solver is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from flint import arb, fmpq

from paramverify import printable
from paramverify.algebra.constants import lower_bound, upper_bound, working_precision
from paramverify.errors import InputError, SizeError, UnsupportedError
from paramverify.logic.formula_syntax import Formula
from paramverify.logic.path_automata import (
    Node,
    NormalRelease,
    NormalUntil,
    compiled,
    depth,
    flat_product,
    negated,
    probabilities,
    product,
    signatures,
    unbounded,
)
from paramverify.logic.reachability import Guard, solve
from paramverify.logic.scheduler_equivalence import WeightedAutomaton, automaton
from paramverify.logic.schedulers import (
    LONGEST,
    Cut,
    PeriodicWord,
    extremes,
    no_cut,
    periodic,
    policies,
    schedules,
)
from paramverify.logic.storm_probabilities import ltl_probabilities
from paramverify.models.chains.markov_chains import Chain, Value

LARGE = 20_000  # states
BITS = 192


def enclosures(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]
) -> dict[int, tuple[Value, Value]] | None:
    """Returns rational numbers l ≤ Pr ≤ u for each start, of a formula without unbounded R.

    The chain has no parameters. None where a number came too near to zero to divide by it.
    """
    made = flat_product(chain, formula, signatures, starts)
    with working_precision(BITS):
        one, zero = arb(1), fmpq(0)
        known = {node: one if value else zero for node, value in made.known.items()}
        rows = replace(made.rows, values=tuple(map(arb, made.rows.values)))
        values = solve(rows, known, arb(0), one, wanted=set(made.starts.values()))
        found = {state: values[node] for state, node in made.starts.items()}
        if not all(value.is_finite() for value in found.values()):
            return None
        return {state: (_low(value), _high(value)) for state, value in found.items()}


def _low(value: arb) -> fmpq:
    number = lower_bound(value)
    return max(fmpq(0), fmpq(number.numerator, number.denominator))


def _high(value: arb) -> fmpq:
    number = upper_bound(value)
    return min(fmpq(1), fmpq(number.numerator, number.denominator))


ENUMERATED = (
    "the exact method enumerates action sequences, and this path formula needs infinite ones; leave out the "
    "method, or give each U, F, G and R a bound, as in F<=9 a"
)
BOTH = (
    "on decision processes a path formula has either unbounded U and F, or unbounded G and R, and this one "
    "has both; give one of the two kinds bounds, as in G F<=9 a instead of G F a"
)
Leaf = Callable[[Formula], Sequence[bool]]  # where a state formula holds, state by state


class Method(Enum):
    """How the schedulers of a decision process were dealt with; `CHAIN` and `STORM` where there are none."""

    CHAIN = "exact path probabilities"
    STORM = "exact path probabilities, by Storm"
    ENCLOSED = "certified enclosures of path probabilities"
    ALL = "exact, largest and smallest probabilities over all schedulers"
    WORDS = "exact, all query schedulers by their action sequences"
    EXTREMES = "sufficient condition (Prop. 2), largest and smallest probabilities over all schedulers"
    EQUIVALENT = "exact, equal under all query schedulers by equivalence of weighted automata"
    TRIVIAL = "delta is at least 1, and no probability is more"
    PERIODIC = "query schedulers that repeat their actions"

    @property
    def is_sufficient(self) -> bool:
        """Whether a comparison that fails says nothing."""
        return self in (Method.EXTREMES, Method.ENCLOSED)


class SchedulerChoice(StrEnum):
    """How the query schedulers of a decision process are to be dealt with, as a user says it."""

    # enumeration where the path formula is bounded and they are few, else proposition 2 and what decides more
    AUTO = "auto"
    EXACT = "exact"  # enumeration only
    SUFFICIENT = "sufficient"  # proposition 2 only, and query schedulers that always choose one action


@dataclass(frozen=True, eq=False)
class PathProbabilities:
    """Probabilities of one path formula: `upper` and `lower` bounds by state, which agree if exact.

    `actions` tell the schedule, where there is one; the last `repeated` of them go on forever.
    """

    upper: dict[int, Value]
    lower: dict[int, Value]
    method: Method
    actions: tuple[str, ...] = ()
    repeated: int = 0

    @property
    def schedule(self) -> str:
        """The schedule in words; empty where there is none."""
        return in_words(self.actions, self.repeated)


def in_words(actions: Sequence[str], repeated: int) -> str:
    """Returns a query scheduler in words, by its actions, of which the last `repeated` go on forever."""
    if not repeated:
        return f"the actions {' '.join(actions)}" if actions else ""
    again = " ".join(actions[-repeated:])
    if repeated == len(actions) == 1:
        return f"the action {again} in every step"
    if repeated == len(actions):
        return f"the actions {again}, again and again"
    return f"the actions {' '.join(actions)}, then {again} again and again"


@dataclass
class PathEngine:
    """Computes probabilities of path formulas; `leaf` tells where state formulas hold.

    `guard` is called with functions of the parameters that have to be positive on the whole domain, `cut`
    with words about what limits left out.
    """

    chain: Chain
    leaf: Leaf
    guard: Guard | None = None
    choice: SchedulerChoice = SchedulerChoice.AUTO
    cut: Cut = no_cut
    _solved: dict[str, PathProbabilities] = field(default_factory=dict)  # of chains, by path formula

    def of(self, path: Formula, starts: Iterable[int]) -> Iterator[PathProbabilities]:
        """Yields the probabilities for all query schedulers that matter, for D; on a chain one item.

        Raises:
            UnsupportedError: a path formula that no engine here can do.
            SizeError: too large.
        """
        starts = sorted(set(starts))
        known = self._solved.get(str(path))
        if known and all(state in known.upper for state in starts):
            yield known
            return
        node, leaves = self.compile(path)
        if not self.chain.is_decision_process:
            values = self.exact(self.chain, node, leaves, starts)
            general = unbounded(node, NormalUntil) and unbounded(node, NormalRelease)
            solved = PathProbabilities(values, values, Method.STORM if general else Method.CHAIN)
            self._solved[str(path)] = solved
            yield solved
            return
        if depth(node) is not None and self.choice != SchedulerChoice.SUFFICIENT:
            try:
                words = schedules(self.chain, node, self.signatures(leaves), starts)
            except SizeError as error:
                if self.choice == SchedulerChoice.EXACT:
                    raise
                self.cut(f"not all action sequences were enumerated: {error}")
            else:
                for word in words:
                    values = dict(word.values)
                    yield PathProbabilities(values, values, Method.WORDS, word.actions)
                return
        elif self.choice == SchedulerChoice.EXACT:
            raise UnsupportedError(ENUMERATED)
        yield self.extremes(node, leaves, starts, Method.EXTREMES)

    def enclosed(self, path: Formula, starts: Iterable[int]) -> PathProbabilities | None:
        """Returns bounds of the probabilities of a large chain; None where there are none.

        Raises:
            SizeError: too large.
        """
        chain = self.chain
        if chain.is_decision_process or len(chain.states) < LARGE or not chain.numeric:
            return None
        node, leaves = self.compile(path)
        if unbounded(node, NormalUntil) and unbounded(node, NormalRelease):
            return None
        node, turned = _reaching(node)
        found = enclosures(chain, node, self.signatures(leaves), sorted(set(starts)))
        if found is None:
            return None
        if turned:
            found = {state: (chain.one - high, chain.one - low) for state, (low, high) in found.items()}
        lower, upper = ({state: ends[k] for state, ends in found.items()} for k in (0, 1))
        return PathProbabilities(upper, lower, Method.ENCLOSED)

    def extreme(self, path: Formula, starts: Iterable[int], largest: bool) -> Iterator[PathProbabilities]:
        """Yields the probabilities that P compares: bounds that are reached over all schedulers.

        Each item has values that schedulers reach, and at every parameter point the largest (or smallest)
        probability over all schedulers is among those of all items; `upper` (or `lower`) has them.

        Raises:
            UnsupportedError: a path formula that no engine here can do.
            SizeError: too large.
        """
        if not self.chain.is_decision_process:
            yield from self.of(path, starts)
            return
        node, leaves = self.compile(path)
        starts = sorted(set(starts))
        if self.chain.numeric:
            yield self.extremes(node, leaves, starts, Method.ALL, (largest,))
            return
        node, turned = _reaching(node)
        for values in policies(self.chain, node, self.signatures(leaves), starts, self.guard):
            found = {s: self.chain.one - v for s, v in values.items()} if turned else values
            yield PathProbabilities(found, found, Method.ALL)

    def periodic(
        self, path: Formula, starts: Iterable[int], longest: int = LONGEST, more: Iterable[PeriodicWord] = ()
    ) -> Iterator[PathProbabilities]:
        """Yields the probabilities under query schedulers that repeat some actions, short words first.

        Raises:
            UnsupportedError: a path formula with both kinds of unbounded operators.
            SizeError: too large.
        """
        node, leaves = self.compile(path)
        node, turned = _reaching(node)
        made = product(self.chain, node, self.signatures(leaves), sorted(set(starts)))
        for word in periodic(self.chain, made, longest, more, self.cut):
            values = {s: self.chain.one - v if turned else v for s, v in word.values.items()}
            yield PathProbabilities(values, values, Method.PERIODIC, word.actions, word.repeated)

    def automaton(self, path: Formula, starts: Iterable[int]) -> WeightedAutomaton:
        """Returns the weighted automaton that compares the probabilities of two starts; of φ, or of ¬φ.

        Raises:
            UnsupportedError: a path formula with both kinds of unbounded operators.
            SizeError: too large.
        """
        node, leaves = self.compile(path)
        node, _ = _reaching(node)
        return automaton(self.chain, node, self.signatures(leaves), sorted(set(starts)))

    def compile(self, path: Formula) -> tuple[Node, list[Sequence[bool]]]:
        """Returns the positive normal form, and where its leaves hold."""
        numbers: dict[str, int] = {}
        leaves: list[Sequence[bool]] = []

        def number(formula: Formula) -> int:
            text = str(formula)
            if text not in numbers:
                numbers[text] = len(leaves)
                leaves.append(self.leaf(formula))
            return numbers[text]

        return compiled(path, number), leaves

    def signatures(self, leaves: Sequence[Sequence[bool]]) -> list[int]:
        """Returns for each state which leaves hold."""
        return signatures(leaves, len(self.chain.states))

    def exact(
        self, chain: Chain, node: Node, leaves: Sequence[Sequence[bool]], starts: Sequence[int]
    ) -> dict[int, Value]:
        """Returns the path probabilities of a Markov chain."""
        if not unbounded(node, NormalRelease):
            return probabilities(chain, node, self.signatures(leaves), starts, self.guard)
        if not unbounded(node, NormalUntil):
            found = probabilities(chain, negated(node), self.signatures(leaves), starts, self.guard)
            return {state: chain.one - value for state, value in found.items()}
        return ltl_probabilities(chain, node, leaves, starts, self.guard)

    def extremes(
        self,
        node: Node,
        leaves: Sequence[Sequence[bool]],
        starts: Sequence[int],
        method: Method,
        sides: Sequence[bool] = (True, False),
    ) -> PathProbabilities:
        """Returns sup and inf over all schedulers, which are reached; or one of these `sides` alone."""
        at = self.signatures(leaves)
        node, turned = _reaching(node)
        found: dict[bool, dict[int, Value]] = {True: {}, False: {}}
        for largest in sides:
            values = extremes(self.chain, node, at, starts, largest != turned)
            found[largest] = {s: self.chain.one - v for s, v in values.items()} if turned else values
        return PathProbabilities(found[True], found[False], method)


def _reaching(node: Node) -> tuple[Node, bool]:
    """Returns the formula or its negation, whichever has no unbounded R, and whether it is the negation.

    Raises:
        UnsupportedError: neither.
    """
    if not unbounded(node, NormalRelease):
        return node, False
    if not unbounded(node, NormalUntil):
        return negated(node), True
    raise UnsupportedError(BOTH)


def unknown_label(name: str, chain: Chain) -> InputError:
    """Returns the error for a label that the model does not have, with the nearest one that it has."""
    from difflib import get_close_matches

    near = get_close_matches(name, list(chain.labels), n=1)
    known = ", ".join(map(printable.name, sorted(chain.labels))) or "none"
    return InputError(
        f"unknown label {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"choose from {known}")
    )
