"""Noise: certified intervals against closed forms and sums by mpmath, without code of the package."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from mpmath import exp, inf, log, mp, mpf, ncdf, nsum, quad, sqrt

from paramverify.composition.composing import (
    Component,
    Composition,
    CompositionQuestion,
    DirectedRelease,
    ask,
)
from paramverify.composition.loss_grids import Grid, cells_of
from paramverify.composition.release_losses import (
    Atom,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    Losses,
    Release,
    Response,
    SubsampledRelease,
    Turned,
    ball,
)

WIDTH = Fraction(1, 1000)
mp.dps = 40  # of numbers of this module; other modules may change it before the tests run


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    """Each test computes with 40 digits."""
    with mp.workdps(40):
        yield


def told(releases: list[tuple[Release, int]], epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Both bounds of δ, which are as near each other as was wished."""
    parts = tuple(Component("noise", times, (DirectedRelease.of(release),)) for release, times in releases)
    (found,) = ask(Composition(parts), [CompositionQuestion(epsilon=Loss(epsilon))], WIDTH)
    assert found.between.is_within(WIDTH)
    assert found.between.upper is not None
    return found.between.lower, found.between.upper


def between(found: tuple[Fraction, Fraction], value: mpf) -> bool:
    """Whether a number lies between two bounds."""
    low, high = (mpf(end.numerator) / end.denominator for end in found)
    return bool(low <= value <= high)


def gaussian_delta(mu: mpf, epsilon: Fraction) -> mpf:
    """δ(ε) of N(μ, 1) against N(0, 1), in closed form."""
    e = mpf(epsilon.numerator) / epsilon.denominator
    return ncdf(mu / 2 - e / mu) - exp(e) * ncdf(-mu / 2 - e / mu)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "times", "epsilon"),
    [
        (Fraction(1), 1, Fraction(1)),
        (Fraction(40), 100, Fraction(1)),
        (Fraction(9), 200, Fraction(2)),
        (Fraction(5), 2, Fraction(3)),
    ],
)
def test_many_gaussians_are_one(sigma: Fraction, times: int, epsilon: Fraction) -> None:
    """The k-fold Gaussian is the Gaussian with σ/√k, also where δ is small."""
    mu = sqrt(mpf(times)) * sigma.denominator / sigma.numerator
    assert between(told([(Gaussian(sigma), times)], epsilon), gaussian_delta(mu, epsilon))


def test_epsilon_of_a_gaussian() -> None:
    """The ε for a δ encloses the one whose closed form is that δ."""
    composition = Composition(
        (Component("g", 16, (DirectedRelease.of(Gaussian(Fraction(8), Fraction(2))),)),)
    )
    (found,) = ask(composition, [CompositionQuestion(delta=Fraction(1, 10**5))], WIDTH)
    assert found.between.upper is not None
    assert gaussian_delta(mpf(1), found.between.lower) >= mpf(10) ** -5
    assert gaussian_delta(mpf(1), found.between.upper) <= mpf(10) ** -5


def test_no_epsilon_makes_a_gaussian_pure() -> None:
    """With δ = 0 no ε is enough, also of a sample: losses have no end where the person is in the data."""
    sampled = SubsampledRelease(Gaussian(Fraction(1)), Fraction(1, 3))
    for ways in (
        (DirectedRelease.of(Gaussian(Fraction(1))),),
        (DirectedRelease.of(sampled), DirectedRelease.of(Turned(sampled))),
    ):
        (found,) = ask(
            Composition((Component("g", 2, ways),)), [CompositionQuestion(delta=Fraction(0))], WIDTH
        )
        assert found.between.infinite
    (one,) = ask(Composition((Component("g", 2, ways[1:]),)), [CompositionQuestion(delta=Fraction(0))], WIDTH)
    assert not one.between.infinite


def test_two_gaussians_of_different_noise() -> None:
    """A mixed composition of Gaussians is the one whose μ² is the sum."""
    found = told([(Gaussian(Fraction(2)), 1), (Gaussian(Fraction(3)), 4)], Fraction(1))
    assert between(found, gaussian_delta(sqrt(mpf(1) / 4 + mpf(4) / 9), Fraction(1)))


def test_laplace_twice() -> None:
    """Two Laplace releases are what the integral over one loss of the other says."""
    epsilon, size = Fraction(1, 2), mpf(1) / 2

    def alone(e: mpf) -> mpf:
        """δ of one release with largest loss 1/2, also for negative e."""
        return mpf(1) - exp(e) if e <= -size else max(mpf(0), 1 - exp((e - size) / 2)) if e < size else mpf(0)

    inner = quad(lambda loss: exp((loss - size) / 2) / 4 * alone(mpf("0.5") - loss), [-size, 0, size])
    value = alone(mpf("0.5") - size) / 2 + exp(-size) / 2 * alone(mpf("0.5") + size) + inner
    assert between(told([(Laplace(Fraction(2)), 2)], epsilon), value)


def test_discrete_laplace_is_exact_on_its_lattice() -> None:
    """All losses are multiples of one number; sums over outputs by mpmath are between the bounds."""
    a = exp(mpf(-1) / 3)
    share = (1 - a) / (1 + a)
    weights = {x: (share * a ** abs(x - 2), share * a ** abs(x)) for x in range(-300, 303)}
    value = sum(max(mpf(0), p - exp(mpf(1) / 4) * q) for p, q in weights.values())
    found = told([(DiscreteLaplace(Loss(Fraction(1, 3)), 2), 1)], Fraction(1, 4))
    assert abs(mpf(found[0].numerator) / found[0].denominator - value) < mpf(10) ** -25
    assert found[1] - found[0] < Fraction(1, 10**25)


def test_discrete_gaussian() -> None:
    """Sums over all whole numbers by mpmath are between the bounds, in one release and in two."""
    sigma, shift = mpf(3) / 2, 2
    total = nsum(lambda x: exp(-(x**2) / (2 * sigma**2)), [-inf, inf])
    rows = [
        (exp(-((x - shift) ** 2) / (2 * sigma**2)) / total, exp(-(mpf(x) ** 2) / (2 * sigma**2)) / total)
        for x in range(-24, 27)
    ]
    mechanism = DiscreteGaussian(Fraction(3, 2), shift)
    once = sum(max(mpf(0), p - exp(1) * q) for p, q in rows)
    assert between(told([(mechanism, 1)], Fraction(1)), once)
    twice = sum(max(mpf(0), p * r - exp(1) * q * s) for p, q in rows for r, s in rows)
    assert between(told([(mechanism, 2)], Fraction(1)), twice)


@pytest.mark.slow
@pytest.mark.parametrize("added", [False, True])
def test_a_sampled_gaussian_once_and_twice(added: bool) -> None:
    """Quadrature over the outputs is between the bounds, in both directions."""
    rate, epsilon = Fraction(1, 5), Fraction(1, 5)
    release: Release = SubsampledRelease(Gaussian(Fraction(1)), rate)
    release = Turned(release) if added else release
    c, g = exp(mpf(1) / 5), mpf(1) / 5

    def alone(e: mpf) -> mpf:
        """δ(e) of one release: the outputs with P > e^e·Q are those on one side of a threshold."""
        grown = exp(-e) if added else exp(e)
        if grown <= 1 - g:
            return mpf(0) if added else mpf(1) - exp(e)
        x = log((grown - (1 - g)) / g) + mpf(1) / 2
        if added:
            return ncdf(x) - exp(e) * ((1 - g) * ncdf(x) + g * ncdf(x - 1))
        return (1 - g) * ncdf(-x) + g * ncdf(1 - x) - exp(e) * ncdf(-x)

    assert between(told([(release, 1)], epsilon), alone(mpf(1) / 5))

    def inner(x: mpf) -> mpf:
        """The density under P at x, times what the other release adds."""
        density = exp(-(x**2) / 2) / sqrt(2 * mp.pi)
        mixture = (1 - g) * density + g * exp(-((x - 1) ** 2) / 2) / sqrt(2 * mp.pi)
        p, q = (density, mixture) if added else (mixture, density)
        return p * alone(log(c * q / p))

    with mp.workdps(15):
        value = quad(inner, [-9, -6, -3, -1, 0, 1, 2, 4, 7, 10])
    found = told([(release, 2)], epsilon)
    low, high = (mpf(end.numerator) / end.denominator for end in found)
    assert low * (1 - mpf(10) ** -6) <= value <= high * (1 + mpf(10) ** -6)


def test_a_whole_sample_is_no_sample() -> None:
    """With rate 1 the release is itself, in both directions."""
    release = SubsampledRelease(Gaussian(Fraction(2)), Fraction(1))
    for each in (release, Turned(release)):
        assert between(told([(each, 4)], Fraction(1)), gaussian_delta(mpf(1), Fraction(1)))


def test_sampled_laplace_has_its_largest_loss() -> None:
    """The largest loss is ln(1 + γ(e^ε − 1)): δ is 0 from there on, and not before."""
    release = SubsampledRelease(Laplace(Fraction(1)), Fraction(1, 4))
    most = log(1 + (exp(1) - 1) / 4)
    assert told([(release, 1)], Fraction(int(most * 10**6) + 1, 10**6)) == (0, 0)
    assert told([(release, 1)], Fraction(int(most * 10**6) - 1000, 10**6))[0] > 0


def test_responses_with_other_values() -> None:
    """Randomised response among four values has a loss of 0, and is exact with a rational ratio."""
    outputs = [
        (Fraction(1, 2), Fraction(1, 6)),
        (Fraction(1, 6), Fraction(1, 2)),
        (Fraction(1, 3), Fraction(1, 3)),
    ]
    assert sorted(Response(Loss(ratio=Fraction(3)), 4).losses(0).exact or ()) == sorted(outputs)
    found = told([(Response(Loss(Fraction(1)), 4), 3)], Fraction(1, 2))
    e, total = exp(mpf(1)), exp(mpf(1)) + 3
    rows = [(e / total, 1 / total), (1 / total, e / total), (2 / total, 2 / total)]
    value = sum(
        max(mpf(0), a[0] * b[0] * d[0] - exp(mpf(1) / 2) * a[1] * b[1] * d[1])
        for a in rows
        for b in rows
        for d in rows
    )
    assert abs(mpf(found[0].numerator) / found[0].denominator - value) < mpf(10) ** -25


def test_what_is_below_all_atoms_gets_no_smaller_loss() -> None:
    """Outputs with losses just below that of an atom between two points go to the point above it."""
    atom = Atom((ball(Fraction(1, 2)), ball(Fraction(3, 8))), Loss(Fraction(1, 4)))
    cells = cells_of(
        Losses((atom,), below=(ball(Fraction(1, 2)), ball(Fraction(5, 8)))), Grid(Loss(Fraction(1))), 60
    )
    ((place, _),) = cells.below
    assert place == 1
