"""Noise of programs: continuous noise against numeric integration, and the built-in kinds as programs."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from integrated_programs import Noise, integrated, random_program

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import box_domain
from paramverify.algebra.polynomials import Polynomial, Ring, in_generator
from paramverify.models.context import Checks
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import outputs_of
from paramverify.models.programs.run_states import Unread

STEP = Fraction(1, 12)  # all exponents of the programs are multiples of it


def _value(polynomial: Polynomial) -> mpmath.mpf:
    coefficients = in_generator(polynomial)
    with mpmath.workdps(60):
        at = mpmath.exp(mpmath.mpf(1) / 12)
        return sum(
            (mpmath.mpf(int(c.p)) / int(c.q) * at**k for k, c in enumerate(coefficients.coeffs())),
            mpmath.mpf(0),
        )


def _exact(text: str, inputs: tuple[int, ...] = (0,)) -> dict[object, float]:
    """Returns the probabilities that the package gives, to 15 digits."""
    checks = Checks(box_domain(Ring((), ExpConstant(STEP)), {}))
    names = {"q": tuple(map(Unread, range(len(inputs))))}
    (row,) = outputs_of(read_program(text), names, [tuple(map(Fraction, inputs))], checks)
    with mpmath.workdps(60):
        return {o: float(_value(share.numerator) / _value(share.denominator)) for o, share in row}


def _check(text: str, noise: tuple[Noise, Noise], most: int) -> None:
    found, wanted = _exact(text), integrated(text, noise, most)
    for what in {*found, *wanted}:
        assert abs(found.get(what, 0.0) - wanted.get(what, 0.0)) < 1e-10, (text, what)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 200, 25))
def test_continuous_noise_equals_integrals(start: int) -> None:
    """Random programs of two continuous draws agree with numeric integration to ten digits."""
    for seed in range(start, start + 25):
        _check(*random_program(seed))


FIXED = {
    "equal rates": (
        "x = laplace(2)\ny = laplace(2)\nif x + 1 >= y:\n    output(1)\nelse:\n    output(0)",
        2,
        2,
    ),
    "two rates": (
        "x = laplace(1)\ny = laplace(3)\nif x - y < 2 and x >= 0 - 1:\n    output(1)\noutput(0)",
        1,
        3,
    ),
}


FIXED["comparisons that exclude each other"] = (
    "x = exponential(1)\ny = laplace(1)\nif x >= 0:\n    output(7)\nif y >= 0:\n    output(7)\n"
    "if max(x, y) > 0:\n    output(clamp(y, -1, 1) >= x)\n",
    *(1, 1),
)
FIXED["states whose weights cancel"] = (
    "y = laplace(1)\nz = laplace(2)\nif y >= -1 and y < -1:\n    w = z + 2\nelse:\n    w = y\n"
    "if max(y, w) < 0:\n    w = w + 1\noutput(w >= -1)\n",
    *(1, 2),
)
ONE_SIDED = {"comparisons that exclude each other"}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXED)
def test_fixed_programs_equal_integrals(name: str) -> None:
    """The same for two programs that every run tries."""
    text, first, second = FIXED[name]
    _check(text, (Noise(first, name not in ONE_SIDED), Noise(second, True)), 2)


def test_closed_forms_of_the_laplace_distribution() -> None:
    """Pr(X ≥ 1) = e^(−1/2)/2 and Pr(X − Y ≥ 1) = (2 + 1/2)/4·e^(−1/2) for scale 2."""
    one = _exact("if laplace(2) >= 1:\n    output(1)\noutput(0)")
    assert abs(one[1, 0] - float(mpmath.exp(-0.5) / 2)) < 1e-14
    two = _exact("if laplace(2) - laplace(2) >= 1:\n    output(1)\noutput(0)")
    assert abs(two[1, 0] - float((2 + mpmath.mpf(1) / 2) / 4 * mpmath.exp(-0.5))) < 1e-14
