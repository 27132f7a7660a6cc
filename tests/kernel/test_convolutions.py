"""Bounds of compositions on a grid, beside sums over all outputs that are computed here by other means."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest
from mpmath import mp

from paramverify.kernel import release_losses
from paramverify.kernel.convolutions import (
    MOST_PLACES,
    MOST_POINTS,
    LossGrid,
    LowerMasses,
    UpperMasses,
    _places,
    multiplied,
    parts,
    power,
)
from paramverify.kernel.release_losses import NOTHING, ExactLoss, LossAtom, ReleaseLosses, read
from paramverify.kernel.rounded_constants import BITS, UNIT
from paramverify.kernel.strict_reading import Rejected

Masses = list[tuple[Any, Any]]  # of each output, under P and under Q
Written = dict[str, Any]
FINE, SPAN = 40, (-48, 48)
RATIOS = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5)]  # e^ε


def outputs(written: Written) -> Masses:
    """Returns all outputs of a release, or nearly all; those of a density by small intervals of losses."""
    ends = (
        [mp.mpf(k) / FINE for k in range(-8 * FINE, 8 * FINE + 1)] if read(written).whole != NOTHING else []
    )
    tails = pairwise([tuple(map(float, true_tail(written, end))) for end in ends])
    atoms = [(float(p), float(q)) for p, q in true_atoms(written)]
    return atoms + [(p - r, q - s) for (p, q), (r, s) in tails]


def together(found: Masses, times: int) -> Masses:
    """Returns all outputs of releases that are made so many times."""
    made = found
    for _ in range(times - 1):
        made = [(p * r, q * s) for (p, q), (r, s) in product(made, found)]
    return made


def delta(found: Masses, ratio: Any) -> Any:
    """Returns how much likelier a set of outputs may be."""
    ratio = ratio if isinstance(found[0][0], Fraction) else float(ratio)
    return sum(max(0, p - ratio * q) for p, q in found)


def bounds(
    written: Written, times: int, step: ExactLoss, bits: int, tail: int = 60
) -> list[tuple[Fraction, Fraction]]:
    """Returns what the kernel says of δ for each of the numbers e^ε."""
    losses, grid = read(written), LossGrid(step, bits, tail)
    span = None if losses.whole == NOTHING else SPAN
    upper = power(UpperMasses.of(losses, grid, span), times, UpperMasses.times)
    lower = power(LowerMasses.of(losses, grid, span), times, LowerMasses.times)
    ends = [ExactLoss(ratio=ratio).ends() for ratio in RATIOS]
    return [(lower.delta(e), upper.delta(e)) for e in ends]


def distribution(random: Random, size: int) -> list[Fraction]:
    """Returns random masses, of which some may be zero."""
    weights = [Fraction(random.choice((0, 1, 1, 2, 3, 7))) for _ in range(size)]
    total = sum(weights) or Fraction(1)
    return [w / total for w in weights] if sum(weights) else [Fraction(1), *weights[1:]]


@pytest.mark.parametrize(("bits", "tail"), [(120, 60), (40, 60), (40, 8), (30, 2)])
def test_tables(bits: int, tail: int) -> None:
    """Exact numbers are between the bounds, whatever is rounded; and bounds of many bits are narrow."""
    for seed in range(12):
        random = Random(seed)
        sides = (distribution(random, 4) for _ in range(2))
        masses = list(zip(*sides, strict=True))
        written = {"kind": "table", "outputs": [[str(p), str(q)] for p, q in masses]}
        for times, step in product((1, 2, 3), (ExactLoss(ratio=Fraction(8, 7)), ExactLoss(Fraction(1, 9)))):
            found = bounds(written, times, step, bits, tail)
            for ratio, (low, high) in zip(RATIOS, found, strict=True):
                exact = delta(together(masses, times), ratio)
                assert low <= exact <= high, (seed, times, ratio)
                if bits == 120:
                    assert float(high - exact) < 0.03 * times
                    assert float(exact - low) < 0.17 * times


LAPLACE = {"kind": "laplace", "scale": "2", "sensitivity": "1"}
GAUSSIAN = {"kind": "gaussian", "sigma": "3/2", "sensitivity": "1"}
DISCRETE = {"kind": "discrete_laplace", "step": ["1", "1"], "sensitivity": "2"}
WHOLE = {"kind": "discrete_gaussian", "sigma": "3/2", "sensitivity": "1"}
RESPONSE = {"kind": "randomized_response", "step": ["1/3", "2"], "values": "4"}
NOISE: list[tuple[Written, int]] = [
    (LAPLACE, 1),
    (GAUSSIAN, 1),
    (DISCRETE, 2),
    ({**DISCRETE, "step": ["0", "3/2"]}, 2),
    (RESPONSE, 3),
    ({**RESPONSE, "step": ["1", "1"], "values": "2"}, 3),
]


@pytest.mark.parametrize(
    ("noise", "most"), [*NOISE, pytest.param(WHOLE, 2, marks=pytest.mark.slow)], ids=lambda n: str(n)[10:40]
)
def test_noise(noise: Written, most: int) -> None:
    """Sums over all outputs are between the bounds, which are narrow: of noise, and of samples with noise."""
    for way in ("", "turned", "sampled", "sampled turned", "turned sampled"):
        written = noise
        for word in way.split()[::-1]:
            written = {"kind": word, "of": written, **({"rate": "1/3"} if word == "sampled" else {})}
        for times in sorted({1, most}):
            masses = together(outputs(written), times)
            known = [delta(masses, ratio) for ratio in RATIOS]
            for bits, step in ((120, ExactLoss(Fraction(1, 8))), (60, ExactLoss(ratio=Fraction(9, 8)))):
                for told, (low, high) in zip(known, bounds(written, times, step, bits), strict=True):
                    assert float(low) - 1e-5 <= told <= float(high) + 1e-9, (way, times)
                    assert float(high) - told < 0.03 * times
                    assert told - float(low) < 0.13 * times


@pytest.mark.parametrize(
    ("written", "span"), [(DISCRETE, (0, 4)), (LAPLACE, None), (LAPLACE, (3, 3)), (LAPLACE, (0, 6))]
)
def test_spans(written: Written, span: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A density needs a span with points that are not too many, and other noise has none."""
    monkeypatch.setattr("paramverify.kernel.convolutions.MOST_POINTS", 5)
    assert len([*parts(read(LAPLACE), LossGrid(ExactLoss(Fraction(1, 8)), 60, 60), (0, 5))]) == 7
    for side in (UpperMasses, LowerMasses):
        with pytest.raises(Rejected, match="span"):
            side.of(read(written), LossGrid(ExactLoss(Fraction(1, 8)), 60, 60), span)


# --- one part after the other, to the last bit -------------------------------------------------------

F = Fraction
STEPS = [ExactLoss(F(1, 8)), ExactLoss(F(1, 7)), ExactLoss(ratio=F(9, 8)), ExactLoss(F(1, 9), F(8, 7))]
CLOSE = 2**20


def real(value: Fraction | int) -> Any:
    """Returns a number with the digits of mpmath."""
    return mp.mpf(F(value).numerator) / F(value).denominator


def size_of(loss: ExactLoss) -> Any:
    """Returns rational + ln(ratio)."""
    return real(loss.rational) + mp.log(real(loss.ratio))


def is_enclosed(value: Any, ends: tuple[int, int], near: int = CLOSE) -> bool:
    """Tells whether a number times 2^BITS is between two ends that are near each other."""
    slack = mp.mpf(2) ** -60
    return ends[0] - slack <= value * UNIT <= ends[1] + slack and ends[1] - ends[0] <= near


@pytest.mark.parametrize("step", STEPS)
def test_points_of_the_grid(step: ExactLoss) -> None:
    """Near and far points are enclosed, their numbers are found, and two are nearest to an interval."""
    grid, random = LossGrid(step, 60, 60), Random(1)
    with mp.workprec(600):
        size = size_of(step)
        for n in (0, 1, -1, 4_999, -4_999, 5_000, -5_000, 20_011, -20_011):
            assert is_enclosed(n * size, grid.at(n), 2**24)
            pure = not (step.rational and step.ratio != 1)
            assert abs(n) > 100 or grid.exactly(step.times(n)) == (n if pure or not n else None)
        other = step.plus(ExactLoss(F(1, 1000), F(1)) if step.ratio == 1 else ExactLoss(ratio=F(7, 5)))
        assert grid.exactly(other) is None
        for n in (-6_001, -40, -1, 0, 1, 17, 6_001):
            for _ in range(4):
                low, high = grid.at(n)[0], grid.at(n + random.randrange(3))[1]
                low, high = low - random.choice((0, 1, UNIT // 60)), high + random.choice((0, 1, UNIT // 60))
                i, j = grid.around((low, high))
                assert i < j
                assert i * size * UNIT <= low < (i + 1) * size * UNIT + CLOSE
                assert (j - 1) * size * UNIT - CLOSE < high <= j * size * UNIT
        for n in (-4_999, -40, -1):
            assert grid.around((grid.at(n)[1],) * 2) == (n, n + 1)
        if step == STEPS[0]:  # its points are exact
            for ends, found in (
                ((16, 16), (2, 3)),
                ((15, 16), (1, 2)),
                ((16, 17), (2, 3)),
                ((-8, -8), (-1, 0)),
            ):
                assert grid.around(tuple(end * UNIT >> 6 for end in ends)) == found  # type: ignore[arg-type]
            assert grid.around((0, UNIT)) == (0, 8)


@pytest.mark.parametrize("step", [ExactLoss(), ExactLoss(F(-1, 8)), ExactLoss(ratio=F(7, 8))])
def test_steps_are_positive(step: ExactLoss) -> None:
    """A grid has points."""
    with pytest.raises(Rejected, match="step"):
        LossGrid(step, 60, 60)


@pytest.mark.parametrize("step", STEPS)
def test_parts_of_releases(step: ExactLoss) -> None:
    """Masses of parts, and of what is told of the grid, enclose the true ones to the last bits."""
    third, atoms, random = F(1, 3), [], Random(6)
    losses = [step.times(-3), step.times(2), ExactLoss(F(1, 5)), ExactLoss(ratio=F(2, 3)), step.times(40)]
    with mp.workprec(600):
        size, above, below, expected = size_of(step), F(1, 70), F(1, 90), {}
        for k, loss in enumerate(losses, 1):
            p, q = real(third**k), real(third**k) * mp.exp(-size_of(loss))
            wide = (random.randrange(900), random.randrange(900))
            ends = tuple((int(x * UNIT) - wide[0], int(x * UNIT) + 1 + wide[1]) for x in (p, q))
            atoms.append(LossAtom(ends[0], loss if k != 4 else loss.ends(), ends[1]))
            expected[k - 1] = p, q
        rests = int(above * UNIT), int(below * UNIT)
        found = ReleaseLosses(tuple(atoms), only=(5, 9), above=(rests[0], 1), below=(rests[1], 1))
        upper, lower, made = {}, {}, list(parts(found, LossGrid(step, BITS, BITS), None))
        for k, part in enumerate(made):
            p, q = expected[k]
            for told, true in ((part.p, p), (part.q, q), (part.scaled, q * mp.exp(part.i * size))):
                assert is_enclosed(true, told)
            assert part.i * size <= size_of(losses[k]) + mp.mpf(2) ** -150
            assert size_of(losses[k]) <= part.j * size + mp.mpf(2) ** -150
            fall = mp.exp((part.i - part.j) * size)
            share = 0 if part.i == part.j else (p - q * mp.exp(part.i * size)) / (1 - fall)
            for place, mass in ((part.i, p - share), (part.j, share)):
                upper[place] = upper.get(place, mp.mpf(0)) + mass
            own = lower.setdefault(part.i, [mp.mpf(0), mp.mpf(0)])
            own[0], own[1] = own[0] + p, own[1] + q
        least = min(part.j for part in made)
        upper[least] = upper.get(least, mp.mpf(0)) + real(F(rests[1], UNIT))
        for bits in (BITS, 100):
            grid, down = LossGrid(step, bits, bits), BITS - bits
            most, few = UpperMasses.of(found, grid, None), LowerMasses.of(found, grid, None)
            assert most.infinite == -(-(9 + rests[0]) >> down)
            assert few.only == 5 >> down
            near = 2 + (CLOSE >> down)
            for n, mass in upper.items():
                assert 0 <= most.masses[n - most.first] - mass * 2**bits + mp.mpf(2) ** -60 <= near
            for n, (p, q) in lower.items():
                assert 0 <= p * 2**bits - few.p[n - few.first] + mp.mpf(2) ** -60 <= near
                assert 0 <= few.q[n - few.first] - q * 2**bits + mp.mpf(2) ** -60 <= near


@pytest.mark.parametrize("step", STEPS)
def test_parts_with_wide_ends(step: ExactLoss) -> None:
    """What is told of the point below a part is so for all masses, and all losses, between their ends."""
    random, grid = Random(7), LossGrid(step, BITS, BITS)
    with mp.workprec(600):
        for _ in range(40):
            least = random.choice((random.getrandbits(20), random.getrandbits(188)))
            mass = least, least + random.choice((0, 1, 2**150))
            low = random.randrange(-2 * UNIT, 2 * UNIT)
            loss = low, low + random.choice((0, UNIT // 2))
            (part,) = parts(ReleaseLosses((LossAtom(mass, loss, mass),)), grid, None)
            place = part.i * size_of(step)
            assert place * UNIT <= loss[0] <= loss[1] <= part.j * size_of(step) * UNIT
            told = [m * mp.exp(place - mp.mpf(x) / UNIT) for m, x in zip(mass, loss[::-1], strict=True)]
            assert part.scaled[0] <= told[0] <= told[1] <= part.scaled[1]
            assert told[0] - part.scaled[0] <= CLOSE >= part.scaled[1] - told[1]
            sums = [random.getrandbits(20), random.getrandbits(30)]
            found = ReleaseLosses(
                over=lambda at, m=mass, s=sums: ((s[at[0] > 0],) * 2, (m if at[0] < 0 else (0, 0))),
                whole=((2 * UNIT,) * 2,) * 2,
            )
            for part in parts(found, grid, (-1, 1)):
                assert part.p == ((max(0, sums[0] - sums[1]),) * 2 if part.i == 0 else (0, 0))
                assert part.q == (mass if part.i == -1 else (0, 0))
                told = [m * mp.exp(part.i * size_of(step)) for m in part.q]
                assert part.scaled[0] <= told[0] <= told[1] <= part.scaled[1]


def test_masses_of_points_of_the_grid() -> None:
    """They are added as they are; what is below goes to the least point, what is beyond to the ends."""
    one, grid = 1 << 40, LossGrid(ExactLoss(F(1, UNIT)), BITS, BITS)
    assert grid.at(1) == (1, 1)
    masses = [(-1, 3 * one, 5 * one), (2, 7 * one, 11 * one), (2, one, 2 * one)]
    atoms = tuple(LossAtom((m, m + 1), ExactLoss(F(n, UNIT)), (o, o + 1)) for n, m, o in masses)
    found = ReleaseLosses(atoms, only=(3, 4), above=(20, 21), below=(50, 60))
    upper, lower = (side.of(found, grid, None) for side in (UpperMasses, LowerMasses))
    assert upper == UpperMasses(-1, [3 * one + 51, 0, 0, 8 * one + 2], 24, grid)
    assert lower == LowerMasses(-1, [3 * one, 0, 0, 8 * one], [5 * one + 1, 0, 0, 13 * one + 2], 3, grid)
    grid = LossGrid(ExactLoss(F(1)), BITS, BITS)

    def over(loss: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
        """More than all under P is below 0, and nothing known is under Q."""
        left = one * (10 - (loss[0] >> BITS))
        return (left - 100, left + 1000), (0, 0)

    found = ReleaseLosses(over=over, whole=((90 * one, 91 * one), (0, 0)))
    upper = UpperMasses.of(found, grid, (0, 1))
    assert (upper.first, upper.masses[0]) == (0, 91 * one - (10 * one - 100))
    assert upper.infinite == 9 * one + 1000
    # Of p between 40 and 60 and q between 30 and 50 at most 2q - p and 2(p - q) are at the ends.
    ends = (40 * one, 60 * one), (30 * one, 50 * one)
    found = ReleaseLosses(over=lambda at: ends if at[0] <= 0 else NOTHING, whole=((40 * one,) * 2, (0, 0)))
    upper = UpperMasses.of(found, LossGrid(ExactLoss(ratio=F(2)), BITS, BITS), (0, 1))
    assert all(60 * one <= mass <= 60 * one + CLOSE for mass in upper.masses)


@pytest.mark.parametrize("written", [LAPLACE, GAUSSIAN])
def test_parts_of_a_density(written: Written) -> None:
    """Between the points of a span is what lies there, and beyond its ends what is left."""
    step, span = STEPS[1], (-4, 5)
    found = read(written)
    with mp.workprec(600):
        tails = {n: true_tail(written, n * size_of(step)) for n in range(span[0], span[1] + 1)}
        told = [*parts(found, LossGrid(step, BITS, BITS), span)][-9:]
        assert [part.i for part in told] == list(range(*span))
        for part in told:
            for side, ends in enumerate((part.p, part.q)):
                true = tails[part.i][side] - tails[part.j][side]
                assert is_enclosed(true, ends)
            assert is_enclosed(true * mp.exp(part.i * size_of(step)), part.scaled)
        whole, far = true_tail(written, -mp.inf)[0], tails[span[1]][0]
        grid = LossGrid(step, BITS, BITS)
        most = UpperMasses.of(found, grid, span)
        atoms = UpperMasses.of(ReleaseLosses(found.atoms), grid, None)
        assert is_enclosed(far, (most.infinite - CLOSE, most.infinite), CLOSE)
        inside = sum(most.masses) - sum(atoms.masses)
        assert is_enclosed(whole - far, (inside - CLOSE, inside), CLOSE)


@pytest.mark.parametrize("bits", [BITS, 64])
def test_releases_together(bits: int) -> None:
    """Products are rounded to their side by less than one unit, small tails are moved or left out."""
    random, grid = Random(bits), LossGrid(ExactLoss(ratio=F(2)), bits, bits)
    one, other = (
        UpperMasses(
            first, [random.randrange(1 << bits - 3) for _ in range(4)], random.randrange(1 << bits - 3), grid
        )
        for first in (-2, 3)
    )
    both, exact = one.times(other), [0] * 7
    for i, j in product(range(4), range(4)):
        exact[i + j] += one.masses[i] * other.masses[j]
    everything = (sum(one.masses) + one.infinite) * (sum(other.masses) + other.infinite)
    assert both.first == 1
    for mass, true in zip([*both.masses, both.infinite], [*exact, everything - sum(exact)], strict=True):
        assert 0 <= (mass << bits) - true < 1 << bits
    left, right = (LowerMasses(m.first, m.masses, m.masses[::-1], m.infinite, grid) for m in (one, other))
    less = left.times(right)
    assert less.first == 1
    for k, true in enumerate(exact):
        assert 0 <= true - (less.p[k] << bits) < 1 << bits
        assert 0 <= (less.q[6 - k] << bits) - true < 1 << bits
    assert 0 <= everything - sum(exact) - (less.only << bits) < 1 << bits
    small = 1 << max(24, bits - grid.tail)
    for masses, (start, end) in (
        ([1, small - 1, 5 * small, 2, small - 2], (2, 3)),
        ([1, small, 5 * small, 3, small - 2], (1, 4)),
        ([1, 2, 3], (0, 0)),
        ([small, small], (0, 0)),
        ([9 * small], (0, 1)),
        ([], (0, 0)),
    ):
        clipped = UpperMasses(7, masses, 11, grid).clipped()
        assert (clipped.first, len(clipped.masses)) == (7 + start, end - start)
        assert sum(clipped.masses) + clipped.infinite == sum(masses) + 11
        assert clipped.infinite == 11 + sum(masses[end:])
        lower = LowerMasses(7, masses, masses[::-1], 11, grid).clipped()
        assert lower == LowerMasses(7 + start, masses[start:end], masses[::-1][start:end], 11, grid)
    near = 9 + (CLOSE >> BITS - bits)
    with mp.workprec(600):
        for rational, ratio in ((F(-9), F(1)), (F(0), F(1)), (F(0), F(3, 2)), (F(0), F(8)), (F(5), F(1))):
            loss = ExactLoss(rational, ratio)
            e = mp.exp(size_of(loss))
            true = one.infinite + sum(
                m * max(0, 1 - e / mp.mpf(2) ** n) for n, m in enumerate(one.masses, -2)
            )
            assert 0 <= real(one.delta(loss.ends()) * 2**bits) - true <= near
            true = left.only + sum(max(0, p - e * q) for p, q in zip(left.p, left.q, strict=True))
            assert -near * (1 + e) <= real(left.delta(loss.ends()) * 2**bits) - true <= 0
            wide = loss.ends()[0], ExactLoss(rational + 1, ratio).ends()[1]
            assert one.delta(wide) == one.delta(loss.ends())
            assert left.delta(wide) <= left.delta(loss.ends())


def test_long_products() -> None:
    """They are those of all pairs; powers are products, one after the other; and neither is too long."""
    random = Random(8)
    for _ in range(60):
        one, other = (
            [random.choice((0, 1, 255, 256, random.getrandbits(90))) for _ in range(random.randrange(6))]
            + [1]
            for _ in range(2)
        )
        found = [0] * (len(one) + len(other) - 1)
        for (i, m), (j, n) in product(enumerate(one), enumerate(other)):
            found[i + j] += m * n
        assert multiplied(one, other) == found
    assert multiplied([], [1]) == multiplied([1], []) == []
    assert len(multiplied([1] * (MOST_POINTS - 1), [1, 1])) == MOST_POINTS
    with pytest.raises(Rejected, match="too many points"):
        multiplied([1] * MOST_POINTS, [1, 1])
    for count in range(1, 20):
        assert power("x", count, lambda left, right: left + right) == "x" * count


def test_losses_are_not_too_far_apart() -> None:
    """From the least to the largest are at most so many points."""
    assert _places({}) == range(0)
    assert _places({-3: 1, 0: 0, MOST_PLACES - 4: 1}) == range(-3, MOST_PLACES - 3)
    with pytest.raises(Rejected, match="too far apart"):
        _places({-3: 1, MOST_PLACES - 3: 1})


def test_the_number_of_outputs_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of a standard deviation 1 is listed up to 17 on both sides, and as moved by the sensitivity."""
    monkeypatch.setattr("paramverify.kernel.release_losses.MOST_ATOMS", 60)
    found = read({**WHOLE, "sigma": "1", "sensitivity": "13"})
    assert len(found.atoms) == 2 * 17 + 13 + 1
    for change in ({"sensitivity": "14"}, {"sensitivity": "61"}, {"sensitivity": "1/2"}, {"sigma": "0"}):
        with pytest.raises(Rejected):
            read({**WHOLE, "sigma": "1", "sensitivity": "13", **change})
    with pytest.raises(Rejected, match="too large"):
        read({**DISCRETE, "sensitivity": "61"})


def true_atoms(written: Written) -> list[tuple[Any, Any]]:
    """Returns the masses of the outputs with known losses under P and under Q, with many digits."""
    kind = written["kind"]
    if kind == "turned":
        return [(q, p) for p, q in true_atoms(written["of"])]
    if kind == "sampled":
        rate = real(F(written["rate"]))
        return [((1 - rate) * q + rate * p, q) for p, q in true_atoms(written["of"])]
    if kind == "gaussian":
        return []
    if kind == "laplace":
        small = mp.exp(-real(F(written["sensitivity"])) / F(written["scale"])) / 2
        return [(mp.mpf(1) / 2, small), (small, mp.mpf(1) / 2)]
    if kind == "discrete_gaussian":
        width, s = 2 * real(F(written["sigma"])) ** 2, int(written["sensitivity"])
        weight = lambda x: mp.exp(-(x * x) / width)  # noqa: E731
        total = mp.fsum(weight(x) for x in range(-90, 91))
        return [(weight(x - s) / total, weight(x) / total) for x in range(-60, 61)]
    large = mp.exp(size_of(ExactLoss(*map(F, written["step"]))))
    if kind == "randomized_response":
        total, others = large + int(written["values"]) - 1, int(written["values"]) - 2
        return [(large / total, 1 / total), (1 / total, large / total), (others / total, others / total)]
    s, share = int(written["sensitivity"]), (large - 1) / (large + 1)
    masses = [(share * large ** -abs(x - s), share * large ** -abs(x)) for x in range(1, s)]
    end = 1 / (1 + 1 / large)
    return [(end, end * large**-s), *masses, (end * large**-s, end)]


def true_tail(written: Written, loss: Any) -> tuple[Any, Any]:
    """Returns the masses under P and Q of a density above a loss; the loss −∞ stands for all."""
    kind = written["kind"]
    if kind == "turned":
        whole, (p, q) = true_tail(written["of"], -mp.inf), true_tail(written["of"], -loss)
        return whole[1] - q, whole[0] - p
    if kind == "sampled":
        rate = real(F(written["rate"]))
        at = (mp.exp(loss) - 1 + rate) / rate
        p, q = true_tail(written["of"], mp.log(at) if at > 0 else -mp.inf)
        return rate * p + (1 - rate) * q, q
    if kind == "gaussian":
        mean = real(F(written["sensitivity"]) / F(written["sigma"]))
        x = loss / mean + mean / 2
        return mp.erfc((x - mean) / mp.sqrt(2)) / 2, mp.erfc(x / mp.sqrt(2)) / 2
    most = real(F(written["sensitivity"]) / F(written["scale"]))
    loss = min(max(loss, -most), most)
    return (1 - mp.exp((loss - most) / 2)) / 2, (mp.exp(-(loss + most) / 2) - mp.exp(-most)) / 2


def test_what_is_left_of_a_discrete_gaussian(monkeypatch: pytest.MonkeyPatch) -> None:
    """Further outputs, which are few, weigh at most a geometric series from the first one of them on."""
    monkeypatch.setattr(release_losses, "FAR", 2)
    found = read({"kind": "discrete_gaussian", "sigma": "3", "sensitivity": "2"})
    assert len(found.atoms) == 8 + 1 + 8 + 2
    with mp.workprec(600):
        weights = [mp.exp(-mp.mpf(x * x) / 18) for x in range(60)]
        listed = mp.fsum(weights[abs(x)] for x in range(-8, 11))
        rest = weights[9] / (1 - weights[10] / weights[9])
        for end in (*found.above, *found.below):
            assert is_enclosed(rest / listed, (end - CLOSE, end), CLOSE)
        for x, atom in enumerate(found.atoms, -8):
            for ends, weight in ((atom.mass, weights[abs(x - 2)]), (atom.other, weights[abs(x)])):
                assert is_enclosed(weight / (listed + 2 * rest), (ends[0], ends[0] + CLOSE))
                assert is_enclosed(weight / listed, (ends[1] - CLOSE, ends[1]))


@pytest.mark.parametrize("wide", [None, 0, 1])
@pytest.mark.parametrize("noise", [*(noise for noise, _ in NOISE), WHOLE], ids=lambda n: str(n)[10:40])
def test_releases_to_the_last_bit(noise: Written, wide: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masses, losses, what is above and below, and tails: of noise, and of samples with noise.

    They are bounded too where what they are computed from is far from its lower end, or from its upper one.
    """

    def widened(function: Callable[..., tuple[int, int]]) -> Callable[..., tuple[int, int]]:
        """A function whose numbers are near to one of their ends."""
        return lambda *given: tuple(  # type: ignore[return-value]
            end + (side == wide) * (2 * side - 1) * (1 << 100) for side, end in enumerate(function(*given))
        )

    for name in () if wide is None else ("exp", "ln", "above_normal"):
        monkeypatch.setattr(release_losses, name, widened(getattr(release_losses, name)))
    near = CLOSE if wide is None else 2**110
    ways = "", "sampled", "turned", "sampled turned", "turned sampled", "sampled sampled"
    for way in ways if noise is not WHOLE else ways[:2]:
        written = noise
        for word in way.split()[::-1]:
            written = {"kind": word, "of": written, **({"rate": "1/3"} if word == "sampled" else {})}
        found = read(written)
        with mp.workprec(700):
            known = [both for both in true_atoms(written) if any(both)]
            losses = [mp.log(p / q) for p, q in known]
            most = max((atom.ends() for atom in found.atoms), default=(0, 0))
            assert noise is WHOLE or not known or is_enclosed(max(losses), most, near << 10)
            for atom in found.atoms:
                middle = mp.mpf(sum(atom.ends())) / 2 / UNIT
                alike = [each for each in found.atoms if abs(sum(each.ends()) / 2 / UNIT - middle) < 1e-9]
                for side, of in enumerate(("mass", "other")):
                    true = mp.fsum(
                        b[side] for b, at in zip(known, losses, strict=True) if abs(at - middle) < 1e-9
                    )
                    ends = [sum(getattr(each, of)[k] for each in alike) for k in (0, 1)]
                    assert is_enclosed(true, (ends[0], ends[1]), near)
                alike_losses = [at for at in losses if abs(at - middle) < 1e-9]
                assert all(is_enclosed(at, atom.ends(), near << 40) for at in alike_losses)
            for side, of in enumerate(("mass", "other")):
                told = sum(getattr(each, of)[1] for each in found.atoms) + found.whole[side][1]
                assert told + found.above[side] + found.below[side] >= UNIT
                assert max(found.above[side], found.below[side]) <= near
            assert found.most is None or found.most.ends() == most
            if found.whole == NOTHING:
                continue
            for side in (0, 1):
                assert is_enclosed(true_tail(written, -mp.inf)[side], found.whole[side], near)
            for low in (-3, -1, F(-2, 5), F(-1, 7), 0, F(1, 9), F(1, 3), 1, 4):
                for more in (F(0), F(1, 1000)):
                    at = int(low * UNIT), int((low + more) * UNIT)
                    ends = [true_tail(written, mp.mpf(end) / UNIT) for end in at]
                    for side, told in enumerate(found.over(at)):
                        assert told[0] <= ends[1][side] * UNIT <= ends[0][side] * UNIT <= told[1]
                        assert more or told[1] - told[0] <= near


def test_what_is_no_release() -> None:
    """Responses have two values or more, and a step from 0 on; rates are above 0, and at most 1."""
    for step in (["0", "1"], ["-1", "2"]):
        with pytest.raises(Rejected):
            read({**DISCRETE, "step": step})
    tiny = [f"1/{1 << 200}", "1"]
    for change, told in (
        ({"values": "1"}, "not a randomised response"),
        ({"step": ["-1/3", "1"]}, "not a randomised response"),
        ({"step": ["-" + tiny[0], "1"]}, "not a randomised response"),
        ({"values": "5/2"}, "not a whole number"),
        ({"step": ["0", "0"]}, "not a positive number"),
        ({"kind": "discrete_laplace", "sensitivity": "1", "step": tiny}, "not above 0"),
    ):
        with pytest.raises(Rejected, match=told):
            read({**RESPONSE, **change})
    assert len(read({**RESPONSE, "values": "2", "step": ["0", "1"]}).atoms) == 1
    for rate in ("0", "-1/2", "3/2"):
        with pytest.raises(Rejected):
            read({"kind": "sampled", "of": LAPLACE, "rate": rate})
    assert read({"kind": "sampled", "of": LAPLACE, "rate": "1"}).whole != NOTHING
    outputs = {"kind": "table", "outputs": [["1/2", "0"], ["1/2", "1"]]}
    found = read({"kind": "sampled", "of": outputs, "rate": "1/2"})
    assert found.exact is not None
    assert {both for both in found.exact if any(both)} == {(F(3, 4), F(1)), (F(1, 4), F(0))}
    turned = read({"kind": "turned", "of": outputs})
    assert {both for both in turned.exact or () if any(both)} == {(F(1), F(1, 2)), (F(0), F(1, 2))}
    for wrong in (
        [["1/2", "1/2"]],
        [["3/2", "1"], ["-1/2", "0"]],
        [["1", "1"], ["0", "1/2"]],
        [["1", "2"], ["0", "-1"]],
    ):
        with pytest.raises(Rejected, match="distributions"):
            read({**outputs, "outputs": wrong})
