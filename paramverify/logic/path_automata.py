"""Path formulas in positive normal form, their deterministic automata, and products of these with a model.

The state formulas of a path formula are its leaves; where they hold is found before, so that here a leaf is a
number.

Deterministic automata of path formulas, by progression.

What must hold from the next state on, given what must hold from this one and which labels it has, is again a
formula ([BacchusKabanza00]). It is kept as a disjunction of conjunctions of parts of the formula, in the one
minimal form that a monotone function has, so equal obligations are found equal and there are finitely many of
them.

A path satisfies a formula without unbounded R iff some prefix of it is informative, that is, progression
along it ends in `true`; so the formula's probability is that of reaching `true` ([KupfermanVardi01] section
3, for the negation). A formula without unbounded U is the negation of one like that.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from paramverify.errors import SizeError
from paramverify.logic import formula_syntax
from paramverify.logic.formula_syntax import Formula, is_state
from paramverify.logic.reachability import Guard, solve
from paramverify.models.chains.markov_chains import Chain, FlatRows, Row, Value, flat


@dataclass(frozen=True, slots=True)
class NormalConstant:
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class NormalLiteral:
    """The leaf of this number, or its negation where not `positive`."""

    leaf: int
    positive: bool


@dataclass(frozen=True, slots=True)
class NormalNext:
    """X: the formula holds from the next state on."""

    inner: Node


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class NormalUntil:
    """left U[low, high] right; no high is infinity."""

    left: Node
    right: Node
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class NormalRelease:
    """left R[low, high] right, the dual of U; no high is infinity."""

    left: Node
    right: Node
    low: int
    high: int | None


Node: TypeAlias = NormalConstant | NormalLiteral | NormalNext | And | Or | NormalUntil | NormalRelease


def compiled(formula: Formula, leaf: Callable[[Formula], int], negative: bool = False) -> Node:
    """Returns a path formula (or its negation) in positive normal form; `leaf` numbers state formulas."""
    if isinstance(formula, formula_syntax.Constant):
        return NormalConstant(formula.value != negative)
    if isinstance(formula, formula_syntax.Not):
        return compiled(formula.inner, leaf, not negative)
    if is_state(formula):
        return NormalLiteral(leaf(formula), not negative)
    if isinstance(formula, formula_syntax.Junction):
        parts = tuple(compiled(part, leaf, negative) for part in formula.parts)
        return And(parts) if (formula.operator is formula_syntax.Junctor.AND) != negative else Or(parts)
    if isinstance(formula, formula_syntax.Next):
        return NormalNext(compiled(formula.inner, leaf, negative))
    assert isinstance(formula, formula_syntax.Until)
    left, right = compiled(formula.left, leaf, negative), compiled(formula.right, leaf, negative)
    assert formula.low.name is None
    low, high = formula.low.offset, None if formula.high is None else formula.high.offset
    release = formula.release != negative
    if high is not None and high < low:
        return NormalConstant(release)  # no step is in an empty range, as in small members of a family
    return NormalRelease(left, right, low, high) if release else NormalUntil(left, right, low, high)


def inner(node: Node) -> tuple[Node, ...]:
    """Returns the direct parts of a formula."""
    match node:
        case NormalNext():
            return (node.inner,)
        case And() | Or():
            return node.parts
        case NormalUntil() | NormalRelease():
            return node.left, node.right
    return ()


def negated(node: Node) -> Node:
    """Returns the negation in positive normal form."""
    match node:
        case NormalConstant():
            return NormalConstant(not node.value)
        case NormalLiteral():
            return NormalLiteral(node.leaf, not node.positive)
        case NormalNext():
            return NormalNext(negated(node.inner))
        case And():
            return Or(tuple(map(negated, node.parts)))
        case Or():
            return And(tuple(map(negated, node.parts)))
        case NormalUntil():
            return NormalRelease(negated(node.left), negated(node.right), node.low, node.high)
        case NormalRelease():
            return NormalUntil(negated(node.left), negated(node.right), node.low, node.high)


def with_literals(node: Node, found: Callable[[NormalLiteral], Node]) -> Node:
    """Returns a formula with other formulas in the place of its literals."""
    match node:
        case NormalConstant():
            return node
        case NormalLiteral():
            return found(node)
        case NormalNext():
            return NormalNext(with_literals(node.inner, found))
        case And() | Or():
            return type(node)(tuple(with_literals(part, found) for part in node.parts))
        case NormalUntil() | NormalRelease():
            left, right = with_literals(node.left, found), with_literals(node.right, found)
            return type(node)(left, right, node.low, node.high)


def unbounded(node: Node, kind: type[NormalUntil] | type[NormalRelease]) -> bool:
    """Tells whether an unbounded U (or R) occurs."""
    if isinstance(node, kind) and node.high is None:
        return True
    return any(unbounded(part, kind) for part in inner(node))


def depth(node: Node) -> int | None:
    """Returns after how many states at most the truth of a formula is known; None if it is not bounded."""
    if isinstance(node, (NormalConstant, NormalLiteral)):
        return int(isinstance(node, NormalLiteral))
    own: int | None = 0
    if isinstance(node, (NormalUntil, NormalRelease)):
        own = node.high
    elif isinstance(node, NormalNext):
        own = 1
    found = [depth(part) for part in inner(node)]
    known = [d for d in found if d is not None]
    if own is None or len(known) < len(found):
        return None
    return max(known, default=0) + own


def later(node: NormalUntil | NormalRelease) -> NormalUntil | NormalRelease:
    """Returns U or R as it stands one step later, where its range has not ended."""
    high = None if node.high is None else node.high - 1
    return type(node)(node.left, node.right, max(node.low - 1, 0), high)


Clause: TypeAlias = frozenset[int]  # numbers of parts of the formula, no conjunctions or disjunctions
Goal: TypeAlias = frozenset[Clause]

MAX_CLAUSES = 4_000
MAX_GOALS = 100_000

TRUE: Goal = frozenset({frozenset()})
FALSE: Goal = frozenset()


@dataclass
class Progression:
    """The automaton of one formula; goals are numbered, `TRUE_GOAL` and `FALSE_GOAL` come first."""

    formula: Node
    goals: list[Goal] = field(default_factory=list)
    _numbers: dict[Goal, int] = field(default_factory=dict)
    _steps: dict[tuple[int, int], int] = field(default_factory=dict)
    _parts: list[Node] = field(default_factory=list)
    _places: dict[Node, int] = field(default_factory=dict)
    _stepped: dict[tuple[int, int], Goal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._number(TRUE)
        self._number(FALSE)
        self.start = self._number(self._goal(self.formula))

    def after(self, goal: int, signature: int) -> int:
        """Returns the goal that is left after a state in which the leaves of the signature's bits hold."""
        key = (goal, signature)
        if key not in self._steps:
            found: Goal = FALSE
            for clause in self.goals[goal]:
                made: Goal = TRUE
                for part in clause:
                    made = _both(made, self._part_after(part, signature))
                    if not made:
                        break
                found = _minimal(found | made)
            self._steps[key] = self._number(found)
        return self._steps[key]

    def _number(self, goal: Goal) -> int:
        if goal not in self._numbers:
            if len(self.goals) >= MAX_GOALS:
                raise SizeError(f"the path formula has more than {MAX_GOALS:,} goals")
            self._numbers[goal] = len(self.goals)
            self.goals.append(goal)
        return self._numbers[goal]

    def _goal(self, node: Node) -> Goal:
        """Returns a formula as a goal."""
        match node:
            case NormalConstant():
                return TRUE if node.value else FALSE
            case And():
                return _all(map(self._goal, node.parts))
            case Or():
                return _some(map(self._goal, node.parts))
        return frozenset({frozenset({self._part(node)})})

    def _part(self, node: Node) -> int:
        place = self._places.setdefault(node, len(self._parts))
        if place == len(self._parts):
            self._parts.append(node)
        return place

    def _part_after(self, part: int, signature: int) -> Goal:
        key = (part, signature)
        if key not in self._stepped:
            node = self._parts[part]
            if isinstance(node, (NormalUntil, NormalRelease)):
                self._stepped[key] = self._repeated(node, signature)
            else:
                self._stepped[key] = self._step(node, signature)
        return self._stepped[key]

    def _step(self, node: Node, signature: int) -> Goal:
        """Returns what must hold from the next state on, where a formula must hold from this one."""
        match node:
            case NormalConstant():
                return TRUE if node.value else FALSE
            case NormalLiteral():
                return TRUE if bool(signature >> node.leaf & 1) == node.positive else FALSE
            case NormalNext():
                return self._goal(node.inner)
            case And():
                return _all(self._step(part, signature) for part in node.parts)
            case Or():
                return _some(self._step(part, signature) for part in node.parts)
            case NormalUntil() | NormalRelease():
                return self._part_after(self._part(node), signature)

    def _repeated(self, node: NormalUntil | NormalRelease, signature: int) -> Goal:
        """Returns what is left of U or R: the right side, or else the left side now and the rest later."""
        first = self._step(node.left, signature)
        until = isinstance(node, NormalUntil)
        if node.low > 0:
            rest = self._goal(later(node))
            return _both(first, rest) if until else _minimal(first | rest)
        second = self._step(node.right, signature)
        if node.high == 0:
            return second
        rest = self._goal(later(node))
        if until:
            return _minimal(second | _both(first, rest))
        return _both(second, _minimal(first | rest))


TRUE_GOAL, FALSE_GOAL = 0, 1


def _all(goals: Iterable[Goal]) -> Goal:
    made: Goal = TRUE
    for goal in goals:
        made = _both(made, goal)
    return made


def _some(goals: Iterable[Goal]) -> Goal:
    found: Goal = FALSE
    for goal in goals:
        found = found | goal
    return _minimal(found)


def _both(left: Goal, right: Goal) -> Goal:
    if left == TRUE:
        return right
    if right == TRUE:
        return left
    return _minimal(frozenset(a | b for a in left for b in right))


def _minimal(goal: Goal) -> Goal:
    """Returns the goal without clauses that contain another one."""
    if len(goal) < 2:
        return goal
    if len(goal) > MAX_CLAUSES:
        raise SizeError(f"the path formula needs more than {MAX_CLAUSES:,} clauses")
    kept: list[Clause] = []
    for clause in sorted(goal, key=len):
        if not any(other <= clause for other in kept):
            kept.append(clause)
    return frozenset(kept)


def signatures(leaves: Sequence[Sequence[bool]], count: int) -> list[int]:
    """Returns for each state the number whose bits say which leaves hold there."""
    result = [0] * count
    for place, leaf in enumerate(leaves):
        bit = 1 << place
        for state in range(count):
            if leaf[state]:
                result[state] |= bit
    return result


MAX_NODES = 3_000_000


@dataclass(frozen=True, eq=False)
class Product:
    """The pairs of a state and what must hold from it on that are reached from some starts.

    `choices[n]` are the distributions among which a scheduler chooses in node n, one for each action of the
    model; `known` gives the nodes that are settled, with value one or zero. `starts` maps states to their
    nodes.
    """

    nodes: tuple[tuple[int, int], ...]
    choices: tuple[tuple[Row, ...], ...]
    known: Mapping[int, Value]
    starts: Mapping[int, int]


def product(chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]) -> Product:
    """Returns the product of a model and a path formula in positive normal form.

    Raises:
        SizeError: more than `MAX_NODES` nodes.
    """
    automaton = Progression(formula)
    after = automaton.after
    index: dict[tuple[int, int], int] = {}
    nodes: list[tuple[int, int]] = []
    first: dict[int, int] = {}
    for state in starts:
        first[state] = index.setdefault((state, automaton.start), len(nodes))
        if first[state] == len(nodes):
            nodes.append((state, automaton.start))
    choices: list[tuple[Row, ...]] = []
    known: dict[int, Value] = {}
    for number, (state, goal) in enumerate(nodes):  # grows on the way
        later = after(goal, signatures[state])
        if later in (TRUE_GOAL, FALSE_GOAL):
            known[number] = chain.one if later == TRUE_GOAL else chain.zero
            choices.append(())
            continue
        memory: dict[int, Row] = {}
        found: list[Row] = []
        for row in chain.rows[state]:
            if id(row) not in memory:
                moved: list[tuple[int, Value]] = []
                for successor, weight in row:
                    pair = (successor, later)
                    place = index.get(pair)
                    if place is None:
                        place = index[pair] = len(nodes)
                        nodes.append(pair)
                    moved.append((place, weight))
                memory[id(row)] = tuple(moved)
            found.append(memory[id(row)])
        choices.append(tuple(found))
        if len(nodes) > MAX_NODES:
            raise SizeError(f"the product of model and formula has more than {MAX_NODES:,} nodes")
    return Product(tuple(nodes), tuple(choices), known, first)


MAX_FLAT_NODES = 20_000_000
MAX_PLACES = 200_000_000  # of four bytes


@dataclass(frozen=True, eq=False)
class FlatProduct:
    """The pairs of a state and what must hold from it on that are reached from some starts.

    `known` gives the nodes that are settled, with value one or zero, and have no row. `starts` maps states to
    their nodes.
    """

    rows: FlatRows
    known: Mapping[int, Value]
    starts: Mapping[int, int]


def flat_product(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int]
) -> FlatProduct:
    """Returns the product of a Markov chain and a path formula in positive normal form.

    Raises:
        SizeError: more than `MAX_NODES` nodes.
    """
    model = chain.rows if isinstance(chain.rows, FlatRows) else flat(row for (row,) in chain.rows)
    automaton = Progression(formula)
    alike = _model_itself(model, automaton, signatures, starts, chain)
    if alike is not None:
        return alike
    nodes = _Nodes(len(model))
    place = nodes.of(automaton.start)
    first: dict[int, int] = {}
    for state in starts:
        if place[state] < 0:
            place[state] = nodes.add(state, automaton.start)
        first[state] = place[state]
    begins, targets, weights = array("q", [0]), array("i"), array("i")
    known: dict[int, Value] = {}
    states, goals = nodes.states, nodes.goals
    for number, state in enumerate(states):  # grows on the way
        later = automaton.after(goals[number], signatures[state])
        if later in (TRUE_GOAL, FALSE_GOAL):
            known[number] = chain.one if later == TRUE_GOAL else chain.zero
            begins.append(len(targets))
            continue
        found = nodes.of(later)
        out, end = model.begins[state], model.begins[state + 1]
        weights.extend(model.weights[out:end])
        for target in model.targets[out:end]:
            node = found[target]
            if node < 0:
                node = found[target] = len(states)
                states.append(target)
                goals.append(later)
            targets.append(node)
        begins.append(len(targets))
        if len(states) > MAX_FLAT_NODES:
            raise SizeError(f"the product of model and formula has more than {MAX_FLAT_NODES:,} nodes")
    return FlatProduct(FlatRows(begins, targets, weights, model.values), known, first)


def _model_itself(
    model: FlatRows, automaton: Progression, signatures: Sequence[int], starts: Iterable[int], chain: Chain
) -> FlatProduct | None:
    """Returns the model as its own product, where nothing has to be remembered; else None.

    So it is for `a U b` and `F b` on states: what must hold is the same everywhere until it is settled.
    """
    start = automaton.start
    after = {signature: automaton.after(start, signature) for signature in set(signatures)}
    if not set(after.values()) <= {start, TRUE_GOAL, FALSE_GOAL}:
        return None
    ends = {TRUE_GOAL: chain.one, FALSE_GOAL: chain.zero}
    settled = {signature: ends[goal] for signature, goal in after.items() if goal in ends}
    known = {state: settled[found] for state, found in enumerate(signatures) if found in settled}
    return FlatProduct(model, known, {state: state for state in starts})


class _Nodes:
    """The pairs that were met: node n is the state `states[n]` with the goal `goals[n]`."""

    def __init__(self, size: int) -> None:
        self.states, self.goals = array("i"), array("i")
        self._unmet = array("i", [-1]) * size
        self._places: dict[int, array[int]] = {}

    def of(self, goal: int) -> array[int]:
        """Returns the node of each state with a goal, -1 where there is none so far."""
        found = self._places.get(goal)
        if found is None:
            if len(self._places) * len(self._unmet) > MAX_PLACES:
                raise SizeError(
                    f"model and formula have more than {MAX_PLACES:,} pairs of a state and a goal"
                )
            found = self._places[goal] = array("i", self._unmet)
        return found

    def add(self, state: int, goal: int) -> int:
        """Adds a node, and returns its number."""
        self.states.append(state)
        self.goals.append(goal)
        return len(self.states) - 1


def probabilities(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int], guard: Guard | None
) -> dict[int, Value]:
    """Returns the probability of a path formula without unbounded R from each start, in a Markov chain."""
    made = flat_product(chain, formula, signatures, starts)
    nodes = set(made.starts.values())
    values = solve(made.rows, made.known, chain.zero, chain.one, guard, wanted=nodes)
    return {state: values[node] for state, node in made.starts.items()}
