"""The enumerating encoding.

One claim for each secret pair, direction and observation sequence; and claims of inequalities.

For a sequence ω of length k let v_ω = T_{ω1}···T_{ωk}·1, where T_ω[s,t] is the probability to observe ω in
state s and move to t. Then Pr(ω | π) = Σ_s π(s)·v_ω(s), and with conditioned priors given as weights over
masses, `Pr(ω|left) ≤ c·Pr(ω|right)` is the claim

    c_n · N_τ(ω) · M_π − c_d · N_π(ω) · M_τ ≥ 0        with c = c_n/c_d and c_d > 0

wherever both masses are positive; where one is zero, the weights are zero too and the claim reads 0 ≥ 0.
The claim is homogeneous in v_ω: sequences whose vectors agree up to a positive factor give the same claim
and are merged level by level, for the extension of a sequence to the left is linear too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial, reduce

from flint import fmpq

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    content_of,
    key,
    primitive,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim, Origin, Stated, positive
from paramverify.encodings.encoding import Candidate, Encoding
from paramverify.errors import InputError, LimitError
from paramverify.models.definitions import RationalComparison
from paramverify.models.hmm import HMM
from paramverify.models.model import AnyModel, Model, of_privacy
from paramverify.models.priors import InitialDistribution


def inequality_claims(model: AnyModel) -> tuple[Claim, ...]:
    """Returns claims that all hold iff every comparison is true at every point; equal ones are merged.

    With positive denominators, `a/b ≤ c/d` iff `c·b − a·d ≥ 0`. A strict `f < g` is not a claim of this form,
    and becomes one about the points with f ≥ g (`positive`).
    """
    merged: dict[str, tuple[Claim, list[Stated]]] = {}
    for number, comparison in enumerate(model.comparisons):
        for claim in _inequality_claims(comparison, model.domain):
            origins = merged.setdefault(claim.text(), (claim, []))[1]
            origins.append(Stated(number, comparison.text))
    return tuple(replace(claim, origins=tuple(origins)) for claim, origins in merged.values())


def _inequality_claims(comparison: RationalComparison, domain: Domain) -> Iterator[Claim]:
    gap = _gap(comparison, domain)  # right − left, up to a positive factor
    if comparison.relation in ("<=", "=="):
        yield Claim(gap, domain)
    if comparison.relation in (">=", "=="):
        yield Claim(-gap, domain)
    if comparison.relation in ("<", ">"):
        yield positive(gap if comparison.relation == "<" else -gap, domain, f"not ({comparison.text})")


def _gap(comparison: RationalComparison, domain: Domain) -> Polynomial:
    left, right = comparison.left, comparison.right
    if left.denominator == right.denominator:
        return primitive(right.numerator - left.numerator)[1]
    gap = right.numerator * left.denominator - left.numerator * right.denominator
    # What both denominators share can go if its sign is known; without that the claim is only larger.
    common = left.denominator.gcd(right.denominator)
    sign = sign_on(common, domain)
    if sign in (Sign.POSITIVE, Sign.NEGATIVE):
        gap = gap / common if sign is Sign.POSITIVE else -(gap / common)
    return primitive(gap)[1]


MAX_VECTORS = 100_000

Vector = Mapping[int, Polynomial]  # by state; states with the zero polynomial are left out


def sequence_claims(model: Model) -> tuple[Claim, ...]:
    """Returns claims that all hold iff the model is private; equal ones are merged.

    Claims without parameters come by falling ratio, so the worst leak is met first. Those in which variables
    stand for numbers of outputs come last: they are harder.

    Raises:
        LimitError: more than `MAX_VECTORS` different vectors of one length.
    """
    merged: dict[str, tuple[Polynomial, list[Origin]]] = {}
    for candidate in sorted(candidates(model), key=lambda c: (*_severity(c), _spread(model, c))):
        _, polynomial = primitive(claim_polynomial(model, candidate))
        merged.setdefault(key(polynomial), (polynomial, []))[1].append(candidate.origin)
    return tuple(Claim(f, model.domain, tuple(origins)) for f, origins in merged.values())


def claim_polynomial(model: Model, candidate: Candidate) -> Polynomial:
    """Returns the polynomial whose nonnegativity says that the candidate is within the bound."""
    return model.ratio_bound(candidate.distance).claim(candidate.left, candidate.right)


def _severity(candidate: Candidate) -> tuple[int, Fraction]:
    ratio = candidate.ratio
    if candidate.is_infinite:
        return 0, Fraction(0)
    return (2, Fraction(0)) if ratio is None else (1, -ratio)


def _spread(model: Model, candidate: Candidate) -> int:
    """Returns how many variables of a candidate stand for numbers of outputs."""
    used = {*variables(candidate.left), *variables(candidate.right)} if model.hmm.ring.outputs else set()
    return len(used.intersection(model.hmm.ring.outputs))


def candidates(model: Model) -> Iterator[Candidate]:
    """Yields every different (left, right) pair of probabilities that the claims compare."""
    seen: set[tuple[str, str, Fraction | None]] = set()
    masses = {id(s): key(s.mass) for pair in model.pairs for s in (pair.pi, pair.tau)}
    for word, vector in vectors(model.hmm, model.lengths):
        names = tuple(model.hmm.observations[o] for o in word)
        weights: dict[int, tuple[Polynomial, str]] = {}
        for pair in model.pairs:
            pi, pi_key = _weight(pair.pi, vector, weights, masses)
            tau, tau_key = _weight(pair.tau, vector, weights, masses)
            same = (pi_key, tau_key, pair.distance)
            if same in seen:
                continue
            seen.add(same)
            left, right = pi * pair.tau.mass, tau * pair.pi.mass
            if not left and not right:
                continue  # impossible under both secrets
            yield Candidate(left, right, Origin(pair.left, pair.right, names), pair.distance)
            yield Candidate(right, left, Origin(pair.right, pair.left, names), pair.distance)


def probabilities(model: Model) -> Iterator[tuple[tuple[str, ...], str, RationalFunction]]:
    """Yields (observations, secret, Pr(observations | secret)) for every sequence, secret by secret.

    Sequences are listed one by one here, not merged; impossible ones are left out.

    Raises:
        LimitError: more than `MAX_VECTORS` sequences of one length.
    """
    return ((word, name, function()) for word, name, function in listed(model))


def listed(model: Model) -> Iterator[tuple[tuple[str, ...], str, Callable[[], RationalFunction]]]:
    """Yields what `probabilities` does, with functions that return each probability when it is wanted."""
    for name, starts in _starts(model).items():
        sums: dict[tuple[int, ...], tuple[Polynomial, Polynomial]] = {}
        for start in starts:
            for word, total in forward_sums(model, start).items():
                sums.setdefault(word, (total, start.mass * model.hmm.denominator ** len(word)))
        for word, both in sums.items():
            yield tuple(model.hmm.observations[o] for o in word), name, partial(RationalFunction.of, *both)


def probabilities_of(
    model: Model, observations: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], str, RationalFunction]]:
    """Yields (observations, secret, Pr(observations | secret)) for one sequence, also where it is 0.

    Raises:
        InputError: an unknown observation.
    """
    word = tuple(observations)
    for name, starts in _starts(model).items():
        sums = [(forward_sum(model, start, word), start.mass) for start in starts]
        total, mass = next((both for both in sums if both[0]), sums[0])
        yield word, name, RationalFunction.of(total, mass * model.hmm.denominator ** len(word))


def forward_sums(model: Model, start: InitialDistribution) -> dict[tuple[int, ...], Polynomial]:
    """Returns, for each possible sequence, Pr(sequence | start) · mass · denominator^length.

    By the forward recursion of [F] section 2, sequence by sequence.

    Raises:
        LimitError: more than `MAX_VECTORS` sequences of one length.
    """
    _finite(model.lengths)
    by_observation = steps_by_observation(model.hmm)
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
    return sums


def forward_sum(model: Model, start: InitialDistribution, observations: Sequence[str]) -> Polynomial:
    """Returns Pr(observations | start) · mass · denominator^length, by the forward recursion.

    Raises:
        InputError: an unknown observation.
    """
    by_observation = steps_by_observation(model.hmm)
    weights: Vector = start.weights
    for name in observations:
        if name not in model.hmm.observations:
            raise InputError(f"unknown observation {name!r}")
        weights = _forward(by_observation[model.hmm.observations.index(name)], weights)
    return sum(weights.values(), start.mass * 0)


def _finite(lengths: tuple[int, ...]) -> None:
    if not lengths:
        raise InputError(
            'sequences of every length cannot be listed: write, for example, length = "1..5" in [privacy]'
        )


def _starts(model: Model) -> dict[str, list[InitialDistribution]]:
    """Returns where each secret starts: once, unless sequences are left out pair by pair."""
    found: dict[str, dict[int, InitialDistribution]] = {}
    for p in model.pairs:
        for name, start in ((p.left, p.pi), (p.right, p.tau)):
            found.setdefault(name, {}).setdefault(id(start), start)
    return {name: list(starts.values()) for name, starts in found.items()}


def _forward(steps: list[tuple[int, int, Polynomial]], weights: Vector) -> Vector:
    """Returns the row vector weights · T_ω."""
    moved: dict[int, Polynomial] = {}
    for state, successor, weight in steps:
        if state in weights:
            part = weights[state] * weight
            moved[successor] = moved[successor] + part if successor in moved else part
    return {state: entry for state, entry in moved.items() if entry}


def _weight(
    start: InitialDistribution,
    vector: Vector,
    memory: dict[int, tuple[Polynomial, str]],
    masses: Mapping[int, str],
) -> tuple[Polynomial, str]:
    """Returns Σ_s π(s)·v(s), and its text with that of the mass.

    That is remembered: many pairs share one distribution.
    """
    found = memory.get(id(start))
    if found is None:
        total = start.mass * 0
        for state, weight in start.weights.items():
            if state in vector:
                total += weight * vector[state]
        found = memory[id(start)] = total, f"{key(total)}/{masses[id(start)]}"
    return found


def vectors(hmm: HMM, lengths: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Vector]]:
    """Yields v_ω for each sequence ω of the given lengths, up to a positive factor, with one such ω.

    Sequences that are impossible from every state are left out: their claims read 0 ≥ 0.

    Raises:
        LimitError: more than `MAX_VECTORS` different vectors of one length.
    """
    _finite(lengths)
    for length, level in enumerate(levels(hmm, max(lengths)), 1):
        if length in lengths:
            yield from level


def levels(hmm: HMM, longest: int) -> Iterator[list[tuple[tuple[int, ...], Vector]]]:
    """Yields the vectors of `vectors` for the length 1, for the length 2, and so on.

    Raises:
        LimitError: more than `MAX_VECTORS` different vectors of one length.
    """
    by_observation = steps_by_observation(hmm)
    one = hmm.ring.number(1)
    level: list[tuple[tuple[int, ...], Vector]] = [((), dict.fromkeys(range(len(hmm.states)), one))]
    for length in range(1, longest + 1):
        grown: dict[str, tuple[tuple[int, ...], Vector]] = {}
        for word, vector in level:
            for observation, steps in enumerate(by_observation):
                _, product = applied(steps, vector)
                if product:
                    grown.setdefault(vector_key(product), ((observation, *word), product))
            if len(grown) > MAX_VECTORS:
                raise LimitError(
                    f"more than {MAX_VECTORS:,} different vectors for sequences of length {length}"
                )
        level = list(grown.values())
        yield level


@lru_cache(maxsize=4)  # of the last models, for one is asked for each of its initial distributions
def steps_by_observation(hmm: HMM) -> list[list[tuple[int, int, Polynomial]]]:
    """Returns, for each observation, the entries (state, successor, weight) of its matrix T_ω."""
    table: list[list[tuple[int, int, Polynomial]]] = [[] for _ in hmm.observations]
    for state, row in enumerate(hmm.steps):
        for step in row:
            table[step.observation].append((state, step.successor, step.weight))
    return table


def applied(steps: list[tuple[int, int, Polynomial]], vector: Vector) -> tuple[fmpq, Vector]:
    """Returns a number c > 0 and a vector with coprime integer coefficients whose product is T_ω · v."""
    product: dict[int, Polynomial] = {}
    for state, successor, weight in steps:
        if successor in vector:
            part = weight * vector[successor]
            product[state] = product[state] + part if state in product else part
    product = {state: entry for state, entry in product.items() if entry}
    if not product:
        return fmpq(1), product
    contents = [content_of(entry) for entry in product.values()]
    numerator = reduce(lambda a, b: a.gcd(b), (c.p for c in contents))
    denominator = reduce(lambda a, b: a.lcm(b), (c.q for c in contents))
    content = fmpq(numerator, denominator)
    return content, {state: entry / content for state, entry in product.items()}


def vector_key(vector: Vector) -> str:
    return ";".join(f"{state}:{key(vector[state])}" for state in sorted(vector))


def _claims(model: AnyModel) -> tuple[Claim, ...]:
    if model.comparisons:
        return inequality_claims(model)
    return sequence_claims(of_privacy(model, "this", tied=True, densities=True))


def _again(model: AnyModel) -> Iterator[Claim]:
    """Yields the claims by a path of their own: one sequence after the other, forwards.

    `sequence_claims` works backwards on merged vectors. Here every sequence of observations is followed from
    the initial weights of each secret, so the two meet only in the result.
    """
    if model.comparisons:
        yield from inequality_claims(model)
        return
    model = of_privacy(model, "this", tied=True, densities=True)
    sums: dict[int, dict[tuple[int, ...], Polynomial]] = {}
    for pair in model.pairs:
        for start in (pair.pi, pair.tau):
            if id(start) not in sums:
                sums[id(start)] = forward_sums(model, start)
        left, right = sums[id(pair.pi)], sums[id(pair.tau)]
        measure = model.ratio_bound(pair.distance)
        for word in left.keys() | right.keys():
            zero = pair.pi.mass * 0
            a = left.get(word, zero) * pair.tau.mass
            b = right.get(word, zero) * pair.pi.mass
            names = tuple(model.hmm.observations[o] for o in word)
            turned = Origin(pair.right, pair.left, names)
            for one, other, origin in ((a, b, Origin(pair.left, pair.right, names)), (b, a, turned)):
                yield Claim(primitive(measure.claim(one, other))[1], model.domain, (origin,))


ENCODING = Encoding(
    "sequences",
    "one claim for each secret pair, direction and observation sequence; an inequality's own claims",
    claims=_claims,
    suits=lambda model: 1,
    candidates=candidates,
    again=_again,
)
