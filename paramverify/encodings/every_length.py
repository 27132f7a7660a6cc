"""Privacy for observation sequences of every length, and bounds on their ratio, by cones that steps do not
leave.

Let K be a cone with T_ω·K ⊆ K for every observation ω at every point of the domain. The claim for a sequence
ω = w·u is linear in v_ω = T_w·v_u. So if v_u ∈ K for every u that is left over, it is enough that the claims
hold for T_w·r with r an extreme ray of K. There are two ways to K:

- the rays that `cone` finds close: they span a cone with T_ω·1 in it that no step leaves. Then the claims
  for the rays are claims for sequences, and they hold iff the model is private for every length;
- bounds on ratios, K = {v ≥ 0 : v_i ≤ u_ij·v_j}, with 1 in it. The u are found by iteration at a few points
  of the domain and rounded outward. That no step leaves K at any point of the domain is a set of claims of
  its own. If a claim fails here, nothing is known: the cone may be too large.

On invariant cones for products of matrices see [Protasov10].

Upper bounds on the ratio for sequences of every length, by a cone of bounded ratios ([Protasov10]).

Let K = {v ≥ 0 : v_i ≤ u_ij·v_j} hold the vector 1 and be kept by every T_ω. Then v_ω is in K for every ω, and
T_w·K for the words w of one length holds v_ω for all sequences that are at least as long. A quotient of two
linear functions with nonnegative coefficients is largest on an extreme ray.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, product
from math import lcm
from typing import Any

from flint import fmpz

from paramverify.algebra.cones import Vector, combination, extreme_rays, whole
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    constant_value,
    is_constant,
    key,
    primitive,
    value_at,
    variables,
)
from paramverify.algebra.rationals import simplest_between
from paramverify.claims import Claim, Origin
from paramverify.encodings.cone import (
    Levels,
    Matrix,
    Word,
    comparisons,
    has_numbers,
    letters,
    lump,
    matrices,
    stated,
    vectors_document,
    weights_document,
)
from paramverify.encodings.cone import product as moved
from paramverify.encodings.encoding import Candidate
from paramverify.encodings.sequences import claim_polynomial
from paramverify.errors import DefectError
from paramverify.evidence.certificates import Proof
from paramverify.models.context import sample_points
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution

MAX_RATIO_ROUNDS = 60
LARGEST = 10**6  # a ratio beyond it counts as unbounded


def kept_normals(
    numbers: Sequence[list[list[list[int]]]], size: int, margin: Fraction, check: Callable[[], None]
) -> list[Vector] | None:
    """Returns the inequalities of the smallest cone of bounded ratios found that steps at the points keep.

    The bounds only grow, each to the simplest number in a range that begins at what is needed.
    """
    bounds: dict[tuple[int, int], Fraction | None] = {
        (i, j): Fraction(1) for i in range(size) for j in range(size) if i != j
    }
    for _ in range(MAX_RATIO_ROUNDS):
        normals = _inequalities(bounds, size)
        grown = dict(bounds)
        for ray in extreme_rays(normals, size):
            check()
            for tables in numbers:
                for table in tables:
                    vector = [sum(w * x for w, x in zip(row, ray, strict=True)) for row in table]
                    for (i, j), bound in grown.items():
                        if bound is not None and vector[i] > bound * vector[j]:
                            grown[i, j] = _rounded(vector[i], vector[j], margin)
        if grown == bounds:
            return normals
        bounds = grown
    return None


def _rounded(top: int, bottom: int, margin: Fraction) -> Fraction | None:
    if top > LARGEST * bottom:
        return None
    value = Fraction(top, bottom)
    # A little below the range, so that the value itself may be the simplest number in it.
    low = value - value * margin / 10**6
    found = simplest_between(low, value * (1 + margin))
    return max(found, value)


def _inequalities(bounds: Mapping[tuple[int, int], Fraction | None], size: int) -> list[Vector]:
    """Returns normals n with n·v ≥ 0: v ≥ 0, and v_i ≤ u_ij·v_j."""
    normals = [tuple(int(i == k) for i in range(size)) for k in range(size)]
    for (i, j), bound in bounds.items():
        if bound is not None:
            normal = [0] * size
            normal[i], normal[j] = -bound.denominator, bound.numerator
            normals.append(whole(normal))
    return normals


MAX_RAYS = 60  # of a cone that is to close
MAX_BITS = 120  # of their entries; rays that only come near to a limit grow without end
MAX_ROUNDS = 60
MAX_TAIL = 4  # states for which ratios are bounded
MAX_DEPTH = 4
MAX_WORDS = 3_000  # prefixes that are followed by a ray
MARGINS = (Fraction(1, 10**6), Fraction(1, 1000), Fraction(1, 50), Fraction(1, 8))

Tables = Sequence[Mapping[int, Mapping[int, Polynomial]]]  # by observation, state and successor


@dataclass(frozen=True, eq=False)
class EveryLength:
    """If all claims hold, `model` is private for sequences of every length.

    `model` is the case's model with states merged. The cone K lives on `states`; `rays` are its extreme rays,
    and `normals`, if any, its inequalities. With `depth` 0 the rays are v_ω for the sequences `words`, up to
    scaling. Otherwise every state after `depth` steps is one of `states`, and the claims are about sequences
    shorter than `depth` and about T_w·r, for the sequences w of that length and the rays r.
    """

    model: Model
    depth: int
    states: tuple[int, ...]
    rays: tuple[Vector, ...]
    normals: tuple[Vector, ...]
    words: tuple[tuple[int, ...], ...]
    claims: tuple[Claim, ...]

    @property
    def exact(self) -> bool:
        """Whether the model is private for every length only if the claims hold."""
        return self.depth == 0


def for_every_length(model: Model, check: Callable[[], None] = lambda: None) -> Iterator[EveryLength]:
    """Yields sets of claims, each of which is enough for privacy at every length; best ones first.

    A cone of rays comes first, where one closes, and is the only one then. Those that fail at a
    simple point of the domain are left out, except for exact ones. `check` is called all the time, and may
    raise an error to end the search.
    """
    small = lump(model).model
    found = closed_rays(small, check) if has_numbers(small.hmm) else None
    if found:
        yield found
        return
    yield from _bounded_ratios(small, check)


def closed_rays(model: Model, check: Callable[[], None] = lambda: None) -> EveryLength | None:
    """Returns the claims for the rays of the smallest cone with every v_ω in it, if it is found to close."""
    tables = matrices(model.hmm)
    levels = Levels(tables)
    one = (1,) * len(model.hmm.states)
    kept: Mapping[Vector, Word] = {}
    new: Mapping[Vector, Word] = {one: ()}
    for _ in range(MAX_ROUNDS):
        check()
        products = {
            v: (o, word)
            for vector, word in new.items()
            for o, t in enumerate(tables)
            if any(v := moved(t, vector))
        }
        grown = levels.reduce({**products, **kept}).kept
        new = {v: word for v, word in grown.items() if v not in kept}
        kept = grown
        if not new:
            break
        if len(kept) > MAX_RAYS or max(max(v) for v in kept).bit_length() > MAX_BITS:
            return None
    else:
        return None
    rays, words = tuple(kept), tuple(letters(word) for word in kept.values())
    merged: dict[str, tuple[Polynomial, list[Origin]]] = {}
    for ray, word in zip(rays, words, strict=True):
        check()
        names = tuple(model.hmm.observations[o] for o in word)
        for polynomial, left, right in _polynomials(model, dict(enumerate(ray))):
            found = merged.setdefault(key(polynomial), (polynomial, []))
            found[1].append(Origin(left, right, names))
    claims = tuple(Claim(f, model.domain, tuple(origins)) for f, origins in merged.values())
    states = tuple(range(len(model.hmm.states)))
    return EveryLength(model, 0, states=states, rays=rays, normals=(), words=words, claims=claims)


def combinations_of(proof: EveryLength) -> list[list[dict[int, Fraction]]]:
    """Returns, for a proof with depth 0, how the cone contains what steps lead to.

    Entry [k][ω] are weights of the rays whose sum is T_ω·r_k; the last entry is about T_ω·1. Impossible
    products have no weights. Matrices are those of `cone.matrices`, products are divided by their content.

    Raises:
        DefectError: the cone is not closed after all.
    """
    tables = matrices(proof.model.hmm)
    sources = [*proof.rays, (1,) * len(proof.states)]
    result = []
    for source in sources:
        row = []
        for table in tables:
            vector = moved(table, source)
            weights = combination(vector, proof.rays) if any(vector) else {}
            if weights is None:
                raise DefectError("a step leaves a cone that was found to be closed")
            row.append(weights)
        result.append(row)
    return result


def _polynomials(
    model: Model, vector: Mapping[int, Polynomial | int]
) -> Iterator[tuple[Polynomial, str, str]]:
    """Yields the polynomials of the claims that are linear in v, at one vector, with the two secrets."""
    memory: dict[int, Polynomial] = {}

    def total(start: InitialDistribution) -> Polynomial:
        if id(start) not in memory:
            found = start.mass * 0
            for state, weight in start.weights.items():
                if state in vector:
                    entry = vector[state]
                    found += weight * (fmpz(entry) if isinstance(entry, int) else entry)
            memory[id(start)] = found
        return memory[id(start)]

    for pair in model.pairs:
        left, right = total(pair.pi) * pair.tau.mass, total(pair.tau) * pair.pi.mass
        for a, b, names in ((left, right, (pair.left, pair.right)), (right, left, (pair.right, pair.left))):
            found = claim_polynomial(model, Candidate(a, b, Origin(*names, ()), pair.distance))
            yield primitive(found)[1], *names


def _bounded_ratios(model: Model, check: Callable[[], None]) -> Iterator[EveryLength]:
    tables = _tables(model)
    tail = {s for p in model.pairs for d in (p.pi, p.tau) for s in d.weights}
    tail = _closure(model, tail)
    known: tuple[int, ...] | None = None
    cones: list[tuple[list[Vector], list[Vector], list[Claim]]] = []
    for depth in range(1, MAX_DEPTH + 1):
        tail = _closure(model, {step.successor for s in tail for step in model.hmm.steps[s]})
        states = tuple(sorted(tail))
        if len(states) > MAX_TAIL or len(tables) ** depth > MAX_WORDS:
            continue
        if states != known:
            known, cones = states, list(_invariant_cones(model, tables, states, check))
        for rays, normals, inside in cones:
            found = list(inside)
            for claim in _claims(model, tables, states, rays, depth):
                check()
                found.append(claim)
            claims = _merged(model, found)
            if _plausible(model, claims, check):
                yield EveryLength(
                    model, depth, states, rays=tuple(rays), normals=tuple(normals), words=(), claims=claims
                )


def by_normals(
    model: Model, depth: int, normals: Sequence[Vector], check: Callable[[], None] = lambda: None
) -> EveryLength:
    """Returns the claims for a cone that is known: that no step leaves it, and those of sequences and rays.

    The cone is on all states of the model, whose states are merged. `check` is as in `for_every_length`.
    """
    states = tuple(range(len(model.hmm.states)))
    tables, rays = _tables(model), extreme_rays(normals, len(states))
    found: list[Claim] = []
    inside = _leaving(model, tables, states, rays, normals)
    for claim in chain(inside, _claims(model, tables, states, rays, depth)):
        check()
        found.append(claim)
    return EveryLength(
        model,
        depth,
        states,
        rays=tuple(rays),
        normals=tuple(normals),
        words=(),
        claims=_merged(model, found),
    )


def _closure(model: Model, states: set[int]) -> set[int]:
    found, pending = set(states), list(states)
    while pending:
        for step in model.hmm.steps[pending.pop()]:
            if step.successor not in found:
                found.add(step.successor)
                pending.append(step.successor)
    return found


def _tables(model: Model) -> Tables:
    tables: list[dict[int, dict[int, Polynomial]]] = [{} for _ in model.hmm.observations]
    for state, row in enumerate(model.hmm.steps):
        for step in row:
            entries = tables[step.observation].setdefault(state, {})
            known = entries.get(step.successor)
            entries[step.successor] = step.weight if known is None else known + step.weight
    return tables


def _apply(
    table: Mapping[int, Mapping[int, Polynomial]], vector: Mapping[int, Polynomial]
) -> dict[int, Polynomial]:
    found: dict[int, Polynomial] = {}
    for state, row in table.items():
        parts = [w * vector[t] for t, w in row.items() if t in vector]
        if parts:
            found[state] = sum(parts[1:], parts[0])
    return found


def _claims(
    model: Model, tables: Tables, states: Sequence[int], rays: Sequence[Vector], depth: int
) -> Iterator[Claim]:
    """Yields the claims for sequences shorter than the depth, and for T_w·r with sequences of that length."""
    number = model.domain.ring.number
    short: list[dict[int, Polynomial]] = [{s: number(1) for s in range(len(model.hmm.states))}]
    long = [{s: number(x) for s, x in zip(states, ray, strict=True) if x} for ray in rays]
    for length in range(1, depth + 1):
        # States that are not reached after the steps behind them get entries too; no start leads there.
        short = [v for vector in short for table in tables if (v := _apply(table, vector))]
        long = [v for vector in long for table in tables if (v := _apply(table, vector))]
        for vector in short if length < depth else long:
            for polynomial, _, _ in _polynomials(model, vector):
                yield Claim(polynomial, model.domain)


def _merged(model: Model, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Returns the claims that are not trivial, each once."""
    merged = {key(c.polynomial): c for c in claims if not _trivial(c.polynomial)}
    return tuple(merged.values())


def _trivial(polynomial: Polynomial) -> bool:
    return is_constant(polynomial) and constant_value(polynomial) >= 0


def _plausible(model: Model, claims: Sequence[Claim], check: Callable[[], None]) -> bool:
    points = list(islice(sample_points(model.domain), 40))
    for claim in claims:
        check()
        if not all(claim.holds_at(point) for point in points):
            return False
    return True


def _invariant_cones(
    model: Model, tables: Tables, states: Sequence[int], check: Callable[[], None]
) -> Iterator[tuple[list[Vector], list[Vector], list[Claim]]]:
    """Yields cones by rays and normals, smaller ones first, with the claims that no step leaves them."""
    numbers = [_at(tables, states, point) for point in _points(model, states)]
    seen: set[tuple[Vector, ...]] = set()
    for margin in MARGINS:
        normals = kept_normals(numbers, len(states), margin, check)
        if normals is None or tuple(normals) in seen:
            continue
        seen.add(tuple(normals))
        rays = extreme_rays(normals, len(states))
        inside = list(_leaving(model, tables, states, rays, normals))
        if _plausible(model, inside, check):
            yield rays, normals, inside


def _leaving(
    model: Model, tables: Tables, states: Sequence[int], rays: Sequence[Vector], normals: Sequence[Vector]
) -> Iterator[Claim]:
    """Yields the claims n·T_ω·r ≥ 0; those of unit normals hold since T_ω and r are not negative."""
    number = model.domain.ring.number
    for table in tables:
        for ray in rays:
            vector = _apply(table, {s: number(x) for s, x in zip(states, ray, strict=True) if x})
            for normal in normals:
                total = number(0)
                for state, factor in zip(states, normal, strict=True):
                    if factor and state in vector:
                        total += vector[state] * fmpz(factor)
                if min(normal) < 0 and not _trivial(total):
                    yield Claim(primitive(total)[1], model.domain)


def _points(model: Model, states: Sequence[int]) -> list[dict[str, Fraction]]:
    """Returns a few points of the closed box: its vertices in the parameters that steps mention, and more."""
    domain: Domain = model.domain
    used = {n for s in states for step in model.hmm.steps[s] for n in variables(step.weight)}
    middle = {name: i.simplest() for name, i in domain.box.items()}
    choices = [
        sorted({i.lower, i.upper, middle[n]}) if n in used else [middle[n]] for n, i in domain.box.items()
    ]
    found = [dict(zip(domain.box, values, strict=True)) for values in islice(product(*choices), 81)]
    return found or [middle]


def _at(tables: Tables, states: Sequence[int], point: Point) -> list[list[list[int]]]:
    """Returns the matrices on the states at a point, as whole numbers over one denominator."""
    values = [
        [[value_at(w, point) if (w := t.get(s, {}).get(u)) else Fraction(0) for u in states] for s in states]
        for t in tables
    ]
    scale = lcm(*(x.denominator for table in values for row in table for x in row))
    return [[[int(x * scale) for x in row] for row in table] for table in values]


def certificate(proof: EveryLength, proofs: Sequence[Proof]) -> dict[str, Any]:
    """Returns the certificate of privacy for every length; `proofs[k]` shows `proof.claims[k]`."""
    proved = comparisons(proof.claims, proofs)
    if proof.exact:
        steps = [[weights_document(w) for w in row] for row in combinations_of(proof)]
        return stated(proof.model, "closed", {"rays": vectors_document(proof.rays), "steps": steps}, proved)
    normals = vectors_document(proof.normals)
    content = {"depth": proof.depth, "states": list(proof.states), "normals": normals}
    return stated(proof.model, "ratios", content, proved)


MAX_STATES = 5  # as many as `checker` takes for a cone of bounded ratios
MAX_RATIO_DEPTH = 5
MAX_VECTORS = 1_500  # that are looked at for one depth


@dataclass(frozen=True, eq=False)
class UpperRatio:
    """That no ratio exceeds `ratio`: the cone with these normals holds what `depth` observations precede."""

    ratio: Fraction
    small: Model
    normals: tuple[Vector, ...]
    depth: int

    def proof(self, check: Callable[[], None]) -> EveryLength:
        """Returns the claims that all hold if the ratio is at most the bound of the model."""
        return by_normals(self.small, max(1, self.depth), self.normals, check)


def upper_bound(
    model: Model, enough: Fraction, check: Callable[[], None] = lambda: None
) -> UpperRatio | None:
    """Returns b with Pr(ω | left) ≤ b · Pr(ω | right) for every sequence ω, pair and direction, or None.

    For models without parameters; None says nothing. The search ends with a bound that is `enough`. `check`
    is called all the time, and may raise an error to end the search.
    """
    small = lump(model).model
    starts = [(_row(p.pi), _row(p.tau)) for p in small.pairs]
    size = len(small.hmm.states)
    if not has_numbers(small.hmm) or size > MAX_STATES or any(None in pair for pair in starts):
        return None
    pairs = [(a, b) for a, b in starts if a is not None and b is not None]
    tables = matrices(small.hmm)
    best: UpperRatio | None = None
    for margin in reversed(MARGINS):  # wide cones are found fast
        normals = kept_normals([[_dense(t, size) for t in tables]], size, margin, check)
        if normals is None:
            return best  # narrower cones close later, or never
        # Shorter sequences than the words before the cone are looked at one by one.
        short: list[Vector] = []
        level: list[Vector] = [(1,) * size]
        behind: list[Vector] = list(extreme_rays(normals, size))
        for depth in range(MAX_RATIO_DEPTH):
            check()
            found = _largest(pairs, [*short, *level, *behind])
            if found is not None and (best is None or found < best.ratio):
                best = UpperRatio(found, small, tuple(normals), depth)
            if best is not None and best.ratio <= enough:
                return best
            short += level
            level = _moved(tables, level)
            behind = _moved(tables, behind)
            if len(behind) > MAX_VECTORS or len(level) > MAX_VECTORS:
                break
        if best is None:
            return None  # a ratio of entries grows without end; other roundings say the same
    return best


def _moved(tables: Sequence[Matrix], vectors: Iterable[Vector]) -> list[Vector]:
    products = (moved(table, vector) for vector in vectors for table in tables)
    return list(dict.fromkeys(v for v in products if any(v)))


def _row(start: InitialDistribution) -> dict[int, Fraction] | None:
    if not all(map(is_constant, (start.mass, *start.weights.values()))):
        return None
    mass = constant_value(start.mass)
    return {state: constant_value(weight) / mass for state, weight in start.weights.items() if weight}


def _dense(table: Matrix, size: int) -> list[list[int]]:
    return [[dict(row).get(t, 0) for t in range(size)] for row in table]


def _largest(
    pairs: Sequence[tuple[dict[int, Fraction], dict[int, Fraction]]], vectors: Sequence[Vector]
) -> Fraction | None:
    """Returns the largest quotient of a pair's two sums in either direction; None for infinity."""
    best = Fraction(0)
    for left, right in pairs:
        for vector in vectors:
            a, b = (sum((w * vector[s] for s, w in row.items()), Fraction(0)) for row in (left, right))
            if bool(a) != bool(b):
                return None
            if a:
                best = max(best, a / b, b / a)
    return best
