"""The enumerating encoding: one claim for each secret pair, direction and observation sequence.

For a sequence ω of length k let v_ω = T_{ω1}···T_{ωk}·1, where T_ω[s,t] is the probability to observe ω in
state s and move to t. Then Pr(ω | π) = Σ_s π(s)·v_ω(s), and with conditioned priors given as weights over
masses, `Pr(ω|left) ≤ c·Pr(ω|right)` is the claim

    c_n · N_τ(ω) · M_π − c_d · N_π(ω) · M_τ ≥ 0        with c = c_n/c_d and c_d > 0

wherever both masses are positive; where one is zero, the weights are zero too and the claim reads 0 ≥ 0.
The claim is homogeneous in v_ω: sequences whose vectors agree up to a positive factor give the same claim
and are merged level by level, for the extension of a sequence to the left is linear too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from flint import fmpq

from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    constant_value,
    is_constant,
    key,
    primitive,
    rational,
)
from paramverify.claims import Claim, Origin
from paramverify.errors import InputError, LimitError
from paramverify.models.hmm import HMM
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution

MAX_VECTORS = 100_000

Vector = Mapping[int, Polynomial]  # by state; states with the zero polynomial are left out


@dataclass(frozen=True, eq=False)
class Candidate:
    """What one observation sequence says about one direction of a secret pair.

    Up to a common positive factor, `left` and `right` are Pr(ω|left) and Pr(ω|right).
    """

    left: Polynomial
    right: Polynomial
    origin: Origin

    @property
    def ratio(self) -> Fraction | None:
        """The ratio where it is a number and finite."""
        if is_constant(self.left) and is_constant(self.right) and self.right:
            return constant_value(self.left) / constant_value(self.right)
        return None

    @property
    def is_infinite(self) -> bool:
        """Whether the right side is impossible and the left side is not."""
        return bool(self.left) and not self.right


def sequence_claims(model: Model) -> tuple[Claim, ...]:
    """Returns claims that all hold iff the model is private; equal ones are merged.

    Claims without parameters come by falling ratio, so the worst leak is met first.

    Raises:
        LimitError: more than `MAX_VECTORS` different vectors of one length.
    """
    merged: dict[str, tuple[Polynomial, list[Origin]]] = {}
    for candidate in sorted(candidates(model), key=_severity):
        _, polynomial = primitive(claim_polynomial(model, candidate))
        merged.setdefault(key(polynomial), (polynomial, []))[1].append(candidate.origin)
    return tuple(Claim(f, model.domain, tuple(origins)) for f, origins in merged.values())


def claim_polynomial(model: Model, candidate: Candidate) -> Polynomial:
    """Returns the polynomial whose nonnegativity says that the candidate is within the bound."""
    return model.measure.claim(candidate.left, candidate.right)


def _severity(candidate: Candidate) -> tuple[int, Fraction]:
    ratio = candidate.ratio
    if candidate.is_infinite:
        return 0, Fraction(0)
    return (2, Fraction(0)) if ratio is None else (1, -ratio)


def candidates(model: Model) -> Iterator[Candidate]:
    """Yields every different (left, right) pair of probabilities that the claims compare."""
    seen: set[tuple[str, str]] = set()
    for word, vector in vectors(model.hmm, model.lengths):
        names = tuple(model.hmm.observations[o] for o in word)
        weights: dict[int, tuple[Polynomial, str]] = {}
        for pair in model.pairs:
            pi, pi_key = _weight(pair.pi, vector, weights)
            tau, tau_key = _weight(pair.tau, vector, weights)
            same = (f"{pi_key}/{key(pair.pi.mass)}", f"{tau_key}/{key(pair.tau.mass)}")
            if same in seen:
                continue
            seen.add(same)
            left, right = pi * pair.tau.mass, tau * pair.pi.mass
            if not left and not right:
                continue  # impossible under both secrets
            yield Candidate(left, right, Origin(pair.left, pair.right, names))
            yield Candidate(right, left, Origin(pair.right, pair.left, names))


def probabilities(model: Model) -> Iterator[tuple[tuple[str, ...], str, RationalFunction]]:
    """Yields (observations, secret, Pr(observations | secret)) for every sequence, secret by secret.

    Sequences are listed one by one here, not merged; impossible ones are left out.

    Raises:
        LimitError: more than `MAX_VECTORS` sequences of one length.
    """
    masses = {name: start.mass for name, start in _starts(model).items()}
    for name, sums in forward_sums(model).items():
        for word, total in sums.items():
            scale = masses[name] * model.hmm.denominator ** len(word)
            yield tuple(model.hmm.observations[o] for o in word), name, RationalFunction.of(total, scale)


def forward_sums(model: Model) -> dict[str, dict[tuple[int, ...], Polynomial]]:
    """Returns, for each secret and each possible sequence, Pr(sequence | secret) · mass · denominator^length.

    By the forward recursion of [F] section 2, sequence by sequence.

    Raises:
        LimitError: more than `MAX_VECTORS` sequences of one length.
    """
    _finite(model.lengths)
    by_observation = _by_observation(model.hmm)
    result: dict[str, dict[tuple[int, ...], Polynomial]] = {}
    for name, start in _starts(model).items():
        sums: dict[tuple[int, ...], Polynomial] = {}
        level: list[tuple[tuple[int, ...], Vector]] = [((), start.weights)]
        for length in range(1, max(model.lengths) + 1):
            level = [
                ((*word, observation), moved)
                for word, weights in level
                for observation, steps in enumerate(by_observation)
                if (moved := _forward(steps, weights))
            ]
            if len(level) > MAX_VECTORS:
                raise LimitError(f"more than {MAX_VECTORS:,} sequences of length {length}")
            if length in model.lengths:
                for word, weights in level:
                    sums[word] = sum(weights.values(), start.mass * 0)
        result[name] = sums
    return result


def forward_sum(model: Model, start: InitialDistribution, observations: Sequence[str]) -> Polynomial:
    """Returns Pr(observations | start) · mass · denominator^length, by the forward recursion.

    Raises:
        InputError: an unknown observation.
    """
    by_observation = _by_observation(model.hmm)
    weights: Vector = start.weights
    for name in observations:
        if name not in model.hmm.observations:
            raise InputError(f"unknown observation {name!r}")
        weights = _forward(by_observation[model.hmm.observations.index(name)], weights)
    return sum(weights.values(), start.mass * 0)


def _finite(lengths: tuple[int, ...]) -> None:
    if not lengths:
        raise InputError('sequences of every length cannot be listed: give privacy.length as "1..5", say')


def _starts(model: Model) -> dict[str, InitialDistribution]:
    return {name: start for p in model.pairs for name, start in ((p.left, p.pi), (p.right, p.tau))}


def _forward(steps: list[tuple[int, int, Polynomial]], weights: Vector) -> Vector:
    """Returns the row vector weights · T_ω."""
    moved: dict[int, Polynomial] = {}
    for state, successor, weight in steps:
        if state in weights:
            part = weights[state] * weight
            moved[successor] = moved[successor] + part if successor in moved else part
    return {state: entry for state, entry in moved.items() if entry}


def _weight(
    start: InitialDistribution, vector: Vector, memory: dict[int, tuple[Polynomial, str]]
) -> tuple[Polynomial, str]:
    """Returns Σ_s π(s)·v(s) with its canonical text; remembered, as many pairs share one distribution."""
    if id(start) not in memory:
        total = start.mass * 0
        for state, weight in start.weights.items():
            if state in vector:
                total += weight * vector[state]
        memory[id(start)] = total, key(total)
    return memory[id(start)]


def vectors(hmm: HMM, lengths: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Vector]]:
    """Yields v_ω for each sequence ω of the given lengths, up to a positive factor, with one such ω.

    Sequences that are impossible from every state are left out: their claims read 0 ≥ 0.

    Raises:
        LimitError: more than `MAX_VECTORS` different vectors of one length.
    """
    _finite(lengths)
    by_observation = _by_observation(hmm)
    one = hmm.ring.number(1)
    level: list[tuple[tuple[int, ...], Vector]] = [((), dict.fromkeys(range(len(hmm.states)), one))]
    for length in range(1, max(lengths) + 1):
        grown: dict[str, tuple[tuple[int, ...], Vector]] = {}
        for word, vector in level:
            for observation, steps in enumerate(by_observation):
                product = _apply(steps, vector)
                if product:
                    grown.setdefault(_key(product), ((observation, *word), product))
            if len(grown) > MAX_VECTORS:
                raise LimitError(
                    f"more than {MAX_VECTORS:,} different vectors for sequences of length {length}"
                )
        level = list(grown.values())
        if length in lengths:
            yield from level


def _by_observation(hmm: HMM) -> list[list[tuple[int, int, Polynomial]]]:
    """Returns, for each observation, the entries (state, successor, weight) of its matrix T_ω."""
    table: list[list[tuple[int, int, Polynomial]]] = [[] for _ in hmm.observations]
    for state, row in enumerate(hmm.steps):
        for step in row:
            table[step.observation].append((state, step.successor, step.weight))
    return table


def _apply(steps: list[tuple[int, int, Polynomial]], vector: Vector) -> Vector:
    """Returns T_ω · v with coprime integer coefficients."""
    product: dict[int, Polynomial] = {}
    for state, successor, weight in steps:
        if successor in vector:
            part = weight * vector[successor]
            product[state] = product[state] + part if state in product else part
    product = {state: entry for state, entry in product.items() if entry}
    if not product:
        return product
    contents = [rational(primitive(entry)[0]) for entry in product.values()]
    numerator = reduce(lambda a, b: a.gcd(b), (c.p for c in contents))
    denominator = reduce(lambda a, b: a.lcm(b), (c.q for c in contents))
    content = fmpq(numerator, denominator)
    return {state: entry / content for state, entry in product.items()}


def _key(vector: Vector) -> str:
    return ";".join(f"{state}:{key(vector[state])}" for state in sorted(vector))
