"""The cone encoding.

Claims for the extreme rays of the cone of the vectors v_ω, on a lumped model, with certificates.

With v_ω = T_{ω1}···T_{ωk}·1, `Pr(ω|left) ≤ c·Pr(ω|right)` is a claim that is linear in v_ω, whatever the
priors are (see `sequences`). So where v_ω = Σ λ_k·v_k with λ ≥ 0, the claim for ω is the same sum of the
claims for the v_k, and follows from them. A step to the left, v ↦ T_ω·v, is linear too: what a dropped vector
leads to is the same combination of what the kept ones lead to. So one level after the other only vectors
are kept that are no conic combinations of others, up to scaling.

Where some states are reached from the left secret only, and others from the right one only, more is implied:
making v smaller on the first or larger on the second only helps `Pr(ω|left) ≤ c·Pr(ω|right)`. A step keeps
that order, because what leads to a state of the first kind is of that kind: T_ω·e_l = Σ_s T_ω[s,l]·e_s, and
a state s with a step to l that the right secret reaches would make l one that it reaches. So in these
coordinates the combination may be larger, or smaller, than the vector that is dropped.

This needs transitions and emissions that are numbers; priors and the ratio bound may have parameters. With
parametric transitions, vectors of polynomials are merged where they are equal, as in `sequences`.

Smaller models with the same probabilities: unreachable states dropped, states that act alike merged.

States s and t act alike if for every observation ω and every class C of states that act alike,
Σ_{u∈C} T_ω[s,u] = Σ_{u∈C} T_ω[t,u]. Then v_ω(s) = v_ω(t) for every sequence ω, by induction on its length
(ordinary lumpability: [KemenySnell60] section 6.3).

What certificates about many sequences at once have in common, as JSON data, which `checker.cone_evidence`
replays.

Each document holds the model that it is about (`model_document`), so that it can be compared with a case.
This module only writes; it shares no code with the checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from typing import Any

from flint import fmpz

from paramverify.algebra.cones import Vector, combination, whole
from paramverify.algebra.polynomials import Polynomial, constant_value, is_constant, key, primitive
from paramverify.claims import Claim, Origin, without_enclosure
from paramverify.divergences import MaxDivergence
from paramverify.encodings import sequences
from paramverify.encodings.encoding import NO_SEQUENCES, Candidate, Encoding
from paramverify.encodings.sequences import claim_polynomial
from paramverify.errors import LimitError, UnsupportedError
from paramverify.evidence import envelope
from paramverify.evidence.certificates import Proof, comparison, text
from paramverify.models.hmm import HMM, HmmStep
from paramverify.models.model import AnyModel, Model
from paramverify.models.priors import InitialDistribution


@dataclass(frozen=True, eq=False)
class Lumped:
    """A model with the same probabilities; `classes[s]` is the new state of s, None if s is unreachable."""

    model: Model
    classes: tuple[int | None, ...]


def lump(model: Model) -> Lumped:
    """Returns the coarsest such model: Pr(ω | secret) is the same for every sequence, secret and point."""
    hmm = model.hmm
    classes = _refine(hmm, _reachable(model))
    members: dict[int, int] = {}  # one state of each class
    for state, number in enumerate(classes):
        if number is not None:
            members.setdefault(number, state)
    steps = tuple(
        tuple(HmmStep(o, c, w) for (o, c), w in _sums(hmm.steps[members[k]], classes).items())
        for k in range(len(members))
    )
    names = tuple(hmm.states[members[k]] for k in range(len(members)))
    small = HMM(
        hmm.ring,
        names,
        observations=hmm.observations,
        steps=steps,
        denominator=hmm.denominator,
        chosen=hmm.chosen,
    )
    memory: dict[int, InitialDistribution] = {}

    def start(given: InitialDistribution) -> InitialDistribution:
        # Pairs that share a distribution go on sharing it.
        if id(given) not in memory:
            weights: dict[int, Polynomial] = {}
            for state, weight in given.weights.items():
                number = classes[state]
                if number is not None:
                    weights[number] = weights[number] + weight if number in weights else weight
            memory[id(given)] = InitialDistribution(weights, given.mass)
        return memory[id(given)]

    pairs = tuple(replace(p, pi=start(p.pi), tau=start(p.tau)) for p in model.pairs)
    return Lumped(replace(model, hmm=small, pairs=pairs), classes)


def _reachable(model: Model) -> set[int]:
    pending = [s for p in model.pairs for d in (p.pi, p.tau) for s, w in d.weights.items() if w]
    found = set(pending)
    while pending:
        for step in model.hmm.steps[pending.pop()]:
            if step.successor not in found:
                found.add(step.successor)
                pending.append(step.successor)
    return found


def _sums(row: Sequence[HmmStep], classes: Sequence[int | None]) -> dict[tuple[int, int], Polynomial]:
    """Returns the total weight by observation and class."""
    sums: dict[tuple[int, int], Polynomial] = {}
    for step in row:
        number = classes[step.successor]
        assert number is not None  # successors of reachable states are reachable
        place = (step.observation, number)
        sums[place] = sums[place] + step.weight if place in sums else step.weight
    return {place: weight for place, weight in sums.items() if weight}


def _refine(hmm: HMM, states: set[int]) -> tuple[int | None, ...]:
    """Splits classes until the states of each have the same sums."""
    classes: list[int | None] = [0 if s in states else None for s in range(len(hmm.states))]
    count = 1
    while True:
        numbers: dict[tuple[object, ...], int] = {}
        refined: list[int | None] = [None] * len(classes)
        for state in sorted(states):
            sums = _sums(hmm.steps[state], classes)
            signature = (classes[state], *sorted((*place, key(weight)) for place, weight in sums.items()))
            refined[state] = numbers.setdefault(signature, len(numbers))
        if len(numbers) == count:
            return tuple(refined)
        classes, count = refined, len(numbers)


def model_document(model: Model) -> dict[str, Any]:
    """Returns all that privacy of the model depends on, but the lengths."""

    def start(given: InitialDistribution) -> dict[str, Any]:
        return {"weights": {str(s): key(w) for s, w in given.weights.items()}, "mass": key(given.mass)}

    return {
        "states": len(model.hmm.states),
        "observations": list(model.hmm.observations),
        "steps": [
            [state, step.observation, step.successor, key(step.weight)]
            for state, row in enumerate(model.hmm.steps)
            for step in row
        ],
        "pairs": [[p.left, p.right, start(p.pi), start(p.tau)] for p in model.pairs],
        **model.ratio_bound().document(),
    }


def engine_document(model: Model) -> dict[str, Any]:
    """Returns what the statement of a certificate is about: domain and model."""
    return {"domain": envelope.domain_document(model.domain), "model": model_document(model)}


def stated(model: Model, rule: str, content: Mapping[str, Any], proved: Iterable[Any] = ()) -> dict[str, Any]:
    """Returns a certificate by a rule of `kernel.cone_evidence`: its statement, and comparisons it needs."""
    own = {"kind": "cone", "rule": rule, **engine_document(model), **content}
    return envelope.statements(*proved, own)


def vectors_document(vectors: Iterable[Sequence[int]]) -> list[list[str]]:
    """Returns vectors of whole numbers."""
    return [[text(x) for x in vector] for vector in vectors]


def weights_document(weights: Mapping[int, Fraction]) -> dict[str, str]:
    """Returns weights by the numbers of vectors."""
    return {str(k): text(w) for k, w in weights.items()}


def comparisons(claims: Sequence[Claim], proofs: Sequence[Proof]) -> list[dict[str, Any]]:
    """Returns the statements of claims, each with its proof."""
    pairs = zip(claims, proofs, strict=True)
    return [comparison(without_enclosure(claim), proof) for claim, proof in pairs]


FEW = 50_000  # sequences that are listed one by one
MAX_RAYS = 20_000  # of one level
MAX_SUPPORT = 24  # vectors with more entries that are not zero are kept: combinations of them are rare
RECHECKED = 100  # as long as a level has no more rays, old ones are compared with new ones too

Word = tuple[int, "Word"] | tuple[()]  # the first observation, and the rest
Matrix = tuple[tuple[tuple[int, int], ...], ...]  # by row: (column, positive whole number)


@dataclass(frozen=True)
class Level:
    """The vectors of one length: `kept` spans the cone of all, with one word for each.

    `dropped` lists the others with their weights: each is that combination of vectors that are kept or
    that are listed before it, or is at most (at least) it in coordinates of one side.
    """

    kept: Mapping[Vector, Word]
    dropped: tuple[tuple[Vector, Mapping[Vector, Fraction]], ...]


def has_numbers(hmm: HMM) -> bool:
    """Tells whether every transition and emission is a number."""
    return all(is_constant(step.weight) for row in hmm.steps for step in row)


def matrices(hmm: HMM) -> tuple[Matrix, ...]:
    """Returns T_ω for each observation, all multiplied by the same positive number; weights are numbers."""
    values = [[constant_value(step.weight) for step in row] for row in hmm.steps]
    scale = lcm(*(v.denominator for row in values for v in row))
    tables: list[list[dict[int, int]]] = [[{} for _ in hmm.states] for _ in hmm.observations]
    for state, (row, numbers) in enumerate(zip(hmm.steps, values, strict=True)):
        for step, value in zip(row, numbers, strict=True):
            entries = tables[step.observation][state]
            entries[step.successor] = entries.get(step.successor, 0) + int(value * scale)
    return tuple(tuple(tuple((t, w) for t, w in row.items() if w) for row in table) for table in tables)


def product(matrix: Matrix, vector: Vector) -> Vector:
    """Returns T·v up to a positive factor."""
    return whole([sum(w * vector[t] for t, w in row) for row in matrix])


def letters(word: Word) -> tuple[int, ...]:
    """Returns the observations of a word in their order."""
    found: list[int] = []
    while word:
        first, word = word
        found.append(first)
    return tuple(found)


@dataclass
class Levels:
    """Yields the levels of a model with numbers, from length 1 on; remembers what it found on the way."""

    matrices: tuple[Matrix, ...]
    below: frozenset[int] = frozenset()  # states where a vector may be smaller than what implies it
    above: frozenset[int] = frozenset()
    _products: dict[Vector, list[tuple[int, Vector]]] = field(default_factory=dict)
    _known: dict[Vector, Mapping[Vector, Fraction]] = field(default_factory=dict)
    _extreme: set[Vector] = field(default_factory=set)

    def __iter__(self) -> Iterator[Level]:
        level: Mapping[Vector, Word] = {(1,) * len(self.matrices[0]): ()}
        while True:
            found: dict[Vector, Word] = {}
            for vector, word in level.items():
                for observation, moved in self._moved(vector):
                    if moved not in found:
                        found[moved] = (observation, word)
            reduced = self.reduce(found)
            if len(reduced.kept) > MAX_RAYS:
                raise LimitError(f"more than {MAX_RAYS:,} extreme rays for sequences of one length")
            yield reduced
            level = reduced.kept

    def _moved(self, vector: Vector) -> list[tuple[int, Vector]]:
        if vector not in self._products:
            moved = [(o, product(matrix, vector)) for o, matrix in enumerate(self.matrices)]
            self._products[vector] = [(o, v) for o, v in moved if any(v)]
        return self._products[vector]

    def reduce(self, found: Mapping[Vector, Word]) -> Level:
        """Drops vectors that are conic combinations of those that are left at that time."""
        # A vector is only dropped because of vectors that are left, which are kept or dropped later. So in
        # reverse order of dropping each one comes after what it is a combination of, as `Level` says.
        left = dict.fromkeys(found)
        dropped: list[tuple[Vector, Mapping[Vector, Fraction]]] = []

        def drop(vector: Vector, weights: Mapping[Vector, Fraction]) -> None:
            del left[vector]
            dropped.append((vector, weights))
            self._known[vector] = weights

        for vector in found:  # what was a combination at an earlier level mostly is one still
            weights = self._known.get(vector)
            if weights is not None and all(v in left for v in weights):
                drop(vector, weights)
        old = [v for v in left if v in self._extreme]
        new = [v for v in left if v not in self._extreme]
        # New vectors first among themselves, since most of them fall there, then against all.
        rounds = [(new, new)] if len(old) > RECHECKED else []
        rounds.append((new if len(old) > RECHECKED else [*new, *old], list(left)))
        for tried, against in rounds:
            pool = [v for v in against if v in left]
            for vector in tried:
                if vector in left and (weights := self._combination(vector, pool)) is not None:
                    drop(vector, weights)
                    pool.remove(vector)
        self._extreme = set(left)
        return Level({v: found[v] for v in left}, tuple(reversed(dropped)))

    def _combination(self, vector: Vector, pool: list[Vector]) -> dict[Vector, Fraction] | None:
        if len(vector) - vector.count(0) > MAX_SUPPORT:
            return None
        others = [v for v in pool if v != vector]
        weights = combination(vector, others, self.below, self.above)
        return None if weights is None else {others[k]: w for k, w in weights.items()}


def cone_claims(model: Model) -> tuple[Claim, ...]:
    """Returns claims that all hold iff the model is private, as `sequence_claims` does, but fewer.

    Each is the claim of a sequence and names it; the others follow from sums of them. Claims without
    parameters come by falling ratio.

    Raises:
        LimitError: more than `MAX_RAYS` rays, or with parametric transitions too many vectors.
    """
    merged: dict[str, tuple[Polynomial, list[Origin]]] = {}
    found = candidates(model)
    for candidate in sorted(found, key=_severity):
        _, polynomial = primitive(claim_polynomial(model, candidate))
        merged.setdefault(key(polynomial), (polynomial, []))[1].append(candidate.origin)
    return tuple(Claim(f, model.domain, tuple(origins)) for f, origins in merged.values())


def candidates(model: Model) -> Iterator[Candidate]:
    """Yields the (left, right) pairs of probabilities of enough sequences: the worst ones are among them.

    For every sequence ω of one of the lengths, pair and direction, there is a sum with nonnegative weights of
    yielded candidates for that pair and direction that is at least as large on the left and at most as
    large on the right. So the largest ratio at every point is the one of a yielded candidate.
    """
    small = lump(model).model
    if not has_numbers(small.hmm):
        yield from sequences.candidates(small)
        return
    for levels, turns in runs(small):
        for vector, word in distinct(small, levels):
            yield from directed_candidates(small, vector, word, turns)


def runs(model: Model) -> list[tuple[Levels, tuple[bool, ...]]]:
    """Returns the levels of a model with numbers, each with the directions that they are enough for.

    A direction is turned where it compares the right secret with the left one. Without states of one side
    only, both directions need the same vectors.
    """
    tables = matrices(model.hmm)
    left, right = sides(model)
    if left or right:
        return [(Levels(tables, left, right), (False,)), (Levels(tables, right, left), (True,))]
    return [(Levels(tables), (False, True))]


def distinct(model: Model, levels: Levels) -> Iterator[tuple[Vector, Word]]:
    """Yields the kept vectors of the model's lengths, each once."""
    seen: set[Vector] = set()
    for length, level in zip(range(1, max(model.lengths) + 1), levels, strict=False):
        if length in model.lengths:
            for vector, word in level.kept.items():
                if vector not in seen:
                    seen.add(vector)
                    yield vector, word


def sides(model: Model) -> tuple[frozenset[int], frozenset[int]]:
    """Returns the states that only left secrets of the pairs reach, and those that only right ones do."""
    left = _reached(model.hmm, (s for p in model.pairs for s in p.pi.weights))
    right = _reached(model.hmm, (s for p in model.pairs for s in p.tau.weights))
    return frozenset(left - right), frozenset(right - left)


def _reached(hmm: HMM, states: Iterable[int]) -> set[int]:
    found = set(states)
    pending = list(found)
    while pending:
        for step in hmm.steps[pending.pop()]:
            if step.successor not in found:
                found.add(step.successor)
                pending.append(step.successor)
    return found


def directed_candidates(
    model: Model, vector: Vector, word: Word, turns: tuple[bool, ...]
) -> Iterator[Candidate]:
    """Yields what one sequence says about each pair in the given directions; see `runs`."""
    names = tuple(model.hmm.observations[o] for o in letters(word))
    sums: dict[int, Polynomial] = {}
    for pair in model.pairs:
        pi, tau = (weighted(start, vector, sums) for start in (pair.pi, pair.tau))
        left, right = pi * pair.tau.mass, tau * pair.pi.mass
        for turned in turns:
            if turned:
                yield Candidate(right, left, Origin(pair.right, pair.left, names), pair.distance)
            else:
                yield Candidate(left, right, Origin(pair.left, pair.right, names), pair.distance)


def weighted(
    start: InitialDistribution, vector: Vector, memory: dict[int, Polynomial] | None = None
) -> Polynomial:
    """Returns Σ_s π(s)·v(s); `memory` is for one vector, as many pairs share one distribution."""
    if memory is not None and id(start) in memory:
        return memory[id(start)]
    total = start.mass * 0
    for state, weight in start.weights.items():
        if vector[state]:
            total += weight * fmpz(vector[state])
    if memory is not None:
        memory[id(start)] = total
    return total


def _severity(candidate: Candidate) -> tuple[int, Fraction]:
    if candidate.is_infinite:
        return 0, Fraction(0)
    ratio = candidate.ratio
    return (2, Fraction(0)) if ratio is None else (1, -ratio)


def certificate(model: Model, claims: Sequence[Claim], proofs: Sequence[Proof]) -> dict[str, Any]:
    """Returns the certificate of privacy for the model's lengths; its claims are those of `cone_claims`."""
    model = lump(model).model
    numbers: dict[tuple[int, ...], int] = {}

    def number(vector: tuple[int, ...]) -> int:
        return numbers.setdefault(vector, len(numbers))

    left, right = sides(model)
    turned = [(left, right, [0]), (right, left, [1])] if left or right else [(left, right, [0, 1])]
    written = []
    for below, above, turns in turned:
        found = []
        for _, level in zip(
            range(max(model.lengths)), Levels(matrices(model.hmm), below, above), strict=False
        ):
            dropped = [
                [number(v), {str(number(u)): text(w) for u, w in weights.items()}]
                for v, weights in level.dropped
            ]
            found.append({"kept": [number(v) for v in level.kept], "dropped": dropped})
        written.append({"below": sorted(below), "above": sorted(above), "directions": turns, "levels": found})
    content = {"lengths": list(model.lengths), "runs": written, "vectors": vectors_document(numbers)}
    return stated(model, "levels", content, comparisons(claims, proofs))


def _is_long(model: Model) -> bool:
    """Whether the model has too many sequences to list, and numbers as transitions, so that cones apply."""
    longest = max(model.lengths, default=1)
    many = longest > 40 or len(model.hmm.observations) ** longest > FEW
    return many and has_numbers(model.hmm)


def _claims(model: AnyModel) -> tuple[Claim, ...]:
    if not isinstance(model, Model):
        raise UnsupportedError(NO_SEQUENCES)
    if not has_numbers(model.hmm):
        raise UnsupportedError("parametric transitions or emissions; its claims are those of sequences then")
    return cone_claims(model)


ENCODING = Encoding(
    "cone",
    "one claim for each extreme ray of the cone of all sequences; transitions and emissions are numbers",
    claims=_claims,
    suits=lambda model: 2 if _is_long(model) else 0,
    candidates=candidates,
    certificate=certificate,
    form=MaxDivergence,
)
