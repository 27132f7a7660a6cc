"""What programs do once for many inputs and paths; functions and zones that are written in one way."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise, product
from math import comb
from pathlib import Path

import pytest
from program_oracle import Maker, Oracle, proved

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring, value_at
from paramverify.encodings.choice import claims_of
from paramverify.errors import ProgramError
from paramverify.models.context import Checks
from paramverify.models.model import need_privacy
from paramverify.models.programs import noise_terms as p
from paramverify.models.programs import program_running
from paramverify.models.programs.noise_densities import Bases
from paramverify.models.programs.noise_terms import (
    NONE,
    ZERO,
    NoiseVariable,
    Number,
    Pieces,
    PowerFactor,
    TermKey,
    Terms,
    Zone,
    zone_of,
)
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import ProgramRun, outputs_of
from paramverify.models.programs.run_states import ProgramState, Unread
from paramverify.models.programs.static_analysis import Live
from paramverify.privacy.cases import load

HALF = Fraction(1, 2)

SPARSE = """
T = geometric(a)
for x in q:
    if x + geometric(a) >= T:
        output(1)
        stop
    output(0)
"""

NOISY_MAX = """
best = q[0] + geometric(a)
arg = 0
for i in range(1, len(q)):
    x = q[i] + geometric(a)
    if x > best:
        best = x
        arg = i
return arg
"""


def _inputs(seed: int) -> list[list[int]]:
    """Returns some inputs of two entries that have entries in common, and are no product of sets."""
    r = random.Random(seed)
    return r.sample([[x, y] for x in range(-1, 2) for y in range(-1, 3)], r.randint(2, 6))


@pytest.mark.slow
def test_inputs_that_are_run_together_equal_enumeration_of_each() -> None:
    """Runs on many inputs share what these have in common, and each input has its own probabilities."""
    for seed in range(35):
        text, inputs = Maker(seed, noise=False).text(), _inputs(seed)
        for found, given in zip(proved(text, inputs, {}), inputs, strict=True):
            assert found == Oracle(HALF, 1).distribution(text, {"q": given}), (seed, given)


@pytest.mark.slow
def test_inputs_with_noise_that_are_run_together_equal_each_alone() -> None:
    """The same with unbounded noise: the probabilities are those of the run on one input alone."""
    compared = 0
    for seed in range(1_000, 1_012):
        text, inputs = Maker(seed, noise=True).text(), _inputs(seed)
        with suppress(ProgramError):
            together = proved(text, inputs, {"a": HALF})
            alone = [proved(text, [given], {"a": HALF})[0] for given in inputs]
            assert together == alone, seed
            compared += 1
    assert compared > 8


def _outputs(text: str, inputs: list[tuple[int, ...]]) -> list[dict[object, Fraction]]:
    checks = Checks(box_domain(Ring(("a",)), {"a": Interval(Fraction(0), Fraction(1))}))
    names = {"q": tuple(map(Unread, range(len(inputs[0]))))}
    rows = outputs_of(read_program(text), names, [tuple(map(Fraction, x)) for x in inputs], checks)
    point = {"a": HALF}
    return [
        {o: value_at(f.numerator, point) / value_at(f.denominator, point) for o, f in row} for row in rows
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "most"),
    # Of sparse vector the four values that were read count, in any order, and the fifth one. Of noisy max it
    # counts which one is the best, its value, those before it (which are smaller), those after it (which are
    # not larger), and the fifth one.
    [
        (SPARSE, 3 * comb(6, 2)),
        (NOISY_MAX, 3 * 3 * sum(comb(k + 2, 2) * comb(5 - k, 2) for k in range(4))),
    ],
    ids=["sparse vector", "noisy max"],
)
def test_inputs_in_another_order_run_once(monkeypatch: pytest.MonkeyPatch, text: str, most: int) -> None:
    """The work grows with the number of multisets of inputs, not with that of inputs."""
    counts: list[int] = []
    merged = ProgramRun.merged

    def counting(self: ProgramRun, states: list[ProgramState], live: Live) -> list[ProgramState]:
        found = merged(self, states, live)
        counts.append(len(found))
        return found

    monkeypatch.setattr(program_running.ProgramRun, "merged", counting)
    inputs = list(product((-1, 0, 1), repeat=5))
    found = dict(zip(inputs, _outputs(text, inputs), strict=True))
    assert max(counts) <= most
    assert all(sum(row.values()) == 1 for row in found.values())
    if text == NOISY_MAX:
        first = found[1, 0, 0, -1, 0]
        assert first[(Fraction(0),)] > first[(Fraction(1),)] > first[(Fraction(3),)]
    else:  # the first four answers in another order
        assert found[1, 0, 1, -1, 0][(0, 0, 0, 0, 1)] == found[-1, 1, 1, 0, 0][(0, 0, 0, 0, 1)]


RACE = """
x = q[0] + geometric(a)
y = q[1] + geometric(a)
output((x > y) - (y > x))
"""


@pytest.mark.slow
def test_permuted_and_mirrored_pairs_are_decided_once(tmp_path: Path) -> None:
    """There is one claim for all pairs of inputs with the same two probabilities, of whatever output."""
    path = tmp_path / "case.toml"
    path.write_text(
        f'[parameters]\na = "(0, 1)"\n[mechanism]\nkind = "program"\nsource = """{RACE}"""\n'
        '[mechanism.inputs]\nq = { length = 2, values = "-1..1" }\n[neighbours]\ndiffer = "each"\n'
        '[privacy]\nratio = "1/a**4"\n',
        encoding="utf-8",
    )
    inputs = list(product((-1, 0, 1), repeat=2))
    oracle = Oracle(Fraction(1, 3), 5)
    rows = {x: oracle.distribution(RACE, {"q": list(x)}) for x in inputs}
    pairs = [(x, y) for x in inputs for y in inputs if x != y and max(map(_apart, x, y)) <= 1]
    compared = [(rows[x][o], rows[y][o]) for x, y in pairs for o in rows[x]]
    claims = claims_of(need_privacy(load(path).model, "this test"))
    assert len(claims) <= len(set(compared)) < len(compared) / 4


def _apart(first: int, second: int) -> int:
    return abs(first - second)


def _weight(pieces: Pieces, place: Fraction) -> dict[TermKey, Fraction]:
    """Returns the sum of the terms of one variable at a point, by what stands beside the coefficient."""
    found: dict[TermKey, Fraction] = {}
    for zone, terms in pieces.items():
        if all((place if i else 0) - (place if j else 0) <= c for (i, j), c in zone):
            for k, c in terms.items():
                number = value_at(c.function().numerator, {}) / value_at(c.function().denominator, {})
                found[k] = found.get(k, Fraction(0)) + number
    return {k: c for k, c in found.items() if c}


def _sum(weight: Mapping[TermKey, Fraction], place: Fraction) -> Fraction:
    """Returns the value of terms with the base 1/2, at a whole number."""
    total = Fraction(0)
    for found, c in weight.items():
        for _, power, rate in found.factors:
            c *= place**power * HALF ** int(sum(k for _, k in rate) * place)
        total += c
    return total


@pytest.mark.parametrize("whole", [True, False])
def test_flat_functions_are_the_same_functions(whole: bool) -> None:
    """Intervals that do not meet give the values that overlapping ones add up to."""
    r = random.Random(4)
    bases = Bases(Checks(box_domain(Ring(), {})))
    base = bases.number(bases.calculus.number(HALF).function())
    for _ in range(60):
        pieces: dict[Zone, Terms] = {}
        for _ in range(r.randint(1, 5)):
            low, high = sorted(r.choices(range(-3, 4), k=2))
            zone = zone_of(
                {pair: c for pair, c in (((ZERO, 1), -low), ((1, ZERO), high)) if r.random() < 0.8}
            )
            assert zone is not None
            rate = ((base, r.choice((-1, 1))),)
            pieces[zone] = {
                TermKey((PowerFactor(1, r.randint(0, 1), rate),)): bases.calculus.number(r.randint(1, 2))
            }
        found = p.flat(bases.calculus, pieces, NoiseVariable(1, whole, NONE if whole else frozenset({1})))
        for k in range(-5, 6):
            # Continuous noise: the values at the ends of intervals have no weight.
            place = Fraction(k) if whole else k + HALF
            mine, theirs = _weight(found, place), _weight(pieces, place)
            assert _sum(mine, place) == _sum(theirs, place) if whole else mine == theirs
        ends = [_ends(zone) for zone in found]
        for (_, high), (low, _) in pairwise(ends):
            assert high is not None
            assert low is not None
            assert high < low if whole else high <= low
        assert len(found) <= (2 * len(pieces) + 1) * (p.FEW if whole else 1)


def _ends(zone: Zone) -> tuple[Number | None, Number | None]:
    bounds = dict(zone)
    low = bounds.get((ZERO, 1))
    return None if low is None else -low, bounds.get((1, ZERO))


@pytest.mark.slow
def test_zones_of_continuous_noise_have_weight() -> None:
    """A zone of two continuous variables is left out iff no point has a neighbourhood in it."""
    r = random.Random(3)
    # With whole bounds an open zone that is not empty has a point whose coordinates are thirds.
    points = [(Fraction(0), Fraction(x, 3), Fraction(y, 3)) for x in range(-9, 10) for y in range(-9, 10)]
    seen = set()
    for _ in range(150):
        pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
        given = {pair: r.randint(-2, 2) for pair in r.sample(pairs, r.randint(1, 5))}
        bounds: dict[tuple[int, int], Number] = (
            {(i, ZERO): 3 for i in (1, 2)} | {(ZERO, i): 3 for i in (1, 2)} | given
        )
        inside = any(all(x[i] - x[j] < c for (i, j), c in bounds.items()) for x in points)
        assert (zone_of(bounds, frozenset({1, 2})) is not None) == inside
        seen.add((inside, zone_of(bounds) is not None))
    assert seen == {(True, True), (False, True), (False, False)}
