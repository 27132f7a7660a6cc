"""Budgets of programs: random programs against enumeration, summation and integration by other code."""

from __future__ import annotations

import math
import random
import re
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from cloud_oracle import CloudOracle, Output
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from noisy_programs import CONTINUOUS, NoisyProgram, noisy_program
from program_budgets import budget, largest_ratio, listed, verdict, verified, written
from program_oracle import Distribution, Maker, Oracle
from quick import seeds

from paramverify.answers import Standing
from paramverify.errors import ProgramError
from paramverify.models.model import need_privacy
from paramverify.privacy.cases import load
from paramverify.synthesis.quotients import RatioBounds
from paramverify.verdicts import Violated

Given = tuple[int, ...]

INPUTS = [(a, b) for a in (0, 1) for b in (0, 1)]
PAIRS = [(x, y) for x in INPUTS for y in INPUTS if x < y]
FEW = [((0, 1), (1, 0)), ((0, 0), (1, 0))]  # of the slower programs
NEAR = Fraction(1, 10**9)

# So that not every ratio is 1 or infinite: answers are randomised first, and released last.
BEFORE = """r = [q[0], q[1]]
if flip({}):
    r[0] = uniform(0, 1)
if flip(1/4):
    r[1] = 1 - r[1]
n = 0
"""


def _finite_program(seed: int, share: str) -> str:
    text = Maker(seed, noise=False).text()
    if seed % 4 == 0:
        return text
    functions, body = re.sub(r"\bq\b", "r", text).split("n = 0\n", 1)
    return f"{functions}{BEFORE.format(share)}{body}\noutput(r[{seed % 2}] * r[1])"


def _enumerated(text: str, p: Fraction) -> dict[Given, Distribution]:
    oracle = Oracle(Fraction(1, 4), 1)
    return {x: oracle.distribution(text, {"q": list(x), "p": p}) for x in INPUTS}


def _exact(found: RatioBounds) -> Fraction | None:
    """Returns an exact ratio; None means infinite."""
    if found.infinite:
        return None
    assert found.high is not None
    assert found.low == found.high
    return found.high


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**9), st.booleans())
def test_budgets_equal_enumeration(tmp_path: Path, seed: int, enough: bool) -> None:
    """The budget of a program with finite choices is the ratio of enumeration; a little less is violated."""
    path = tmp_path / "case.toml"
    text = _finite_program(seed, "3/8")
    wanted = largest_ratio(_enumerated(text, Fraction(3, 8)), PAIRS)
    try:
        found = budget(written(path, text)).ratio
    except ProgramError:
        assume(False)  # few programs are refused; Hypothesis complains if they are many
        raise
    assert _exact(found) == wanted, text
    if wanted is None or wanted == 1:
        assert verdict(written(path, text, f"ratio = {10**6 if wanted is None else 1}")) == (
            Standing.VIOLATED if wanted is None else Standing.HOLDS
        )
        return
    bound = wanted if enough else max(Fraction(1), wanted - NEAR)
    expected = Standing.HOLDS if enough else Standing.VIOLATED
    assert verdict(written(path, text, f'ratio = "{bound}"')) is expected, text


@pytest.mark.parametrize("seed", seeds(4, 2))
def test_budgets_with_a_parameter_equal_enumeration(seed: int, tmp_path: Path) -> None:
    """No point of the domain has a larger ratio, and the witness has the ratio that enumeration gives it."""
    text = _finite_program(4 * seed + 1 + seed % 3, "p")
    found = budget(written(tmp_path / "case.toml", text, parameters='p = "[1/8, 3/4]"')).ratio
    for p in (Fraction(1, 8), Fraction(1, 2), Fraction(3, 4)):
        ratio = largest_ratio(_enumerated(text, p), PAIRS)
        assert found.infinite or ratio is not None, text
        assert ratio is None or found.infinite or (found.high is not None and ratio <= found.high), text
    for witness in (*found.approached, *([found.witness] if found.witness else [])):
        truth = largest_ratio(_enumerated(text, witness.parameters["p"]), PAIRS)
        told = witness.ratio.rational if witness.ratio is not None else None
        assert truth is None or (told is not None and told <= truth), text
        assert not found.attained or told == truth, text


def _summed(program: NoisyProgram, inputs: list[Given], **more: float) -> dict[Given, dict[Output, float]]:
    oracle = CloudOracle(program.draws)
    return {x: oracle.distribution(program.text, {"q": list(x), **more}) for x in inputs}


def _check_noisy(program: NoisyProgram, path: Path, parameters: str, **more: float) -> bool:
    """Compares a budget with sums and integrals to ten digits; False where the program is not covered."""
    neighbours = listed(FEW)
    try:
        found = budget(written(path, program.text, parameters=parameters, neighbours=neighbours)).ratio
    except ProgramError as error:
        if "this comparison of several noisy numbers is not supported" not in str(error):
            raise
        return False
    rows = _summed(program, [(0, 1), (1, 0), (0, 0)], **more)
    wanted = largest_ratio(rows, FEW, least=1e-15)
    if wanted is None:
        assert found.infinite, program.text
        return True
    assert found.high is not None, program.text
    smallest = min(share for row in rows.values() for share in row.values() if share > 1e-15)
    digits = max(1e-10, 1e-15 / smallest)
    for value in (found.low, found.high):
        assert abs(float(value) / wanted - 1) < digits, program.text
    far = max(Fraction(1, 10**8), Fraction(3 * digits))
    for sign, expected in ((1, Standing.HOLDS), (-1, Standing.VIOLATED)):
        bound = Fraction(wanted) * (1 + sign * far)
        if bound >= 1:
            text = written(path, program.text, f'ratio = "{bound}"', parameters, neighbours=neighbours)
            assert verdict(text) is expected, program.text
    return True


NUMBERED = ("laplace(1 / (4 * eps))", "exponential(1 / (6 * eps))")


@pytest.mark.slow
def test_budgets_with_whole_noise_equal_sums(tmp_path: Path) -> None:
    """Programs with geometric noise have the budgets that summation gives, to ten digits."""
    answered = [_check_noisy(noisy_program(k, True), tmp_path / "c", "") for k in range(5)]
    assert sum(answered) >= 3


@pytest.mark.slow
def test_budgets_with_continuous_noise_equal_integrals(tmp_path: Path) -> None:
    """Programs with Laplace and exponential noise have the budgets that integration gives."""
    answered = []
    for k in range(5):
        numbered = k % 3 == 0
        program = noisy_program(k, False, NUMBERED if numbered else CONTINUOUS)
        more = {"eps": 0.5} if numbered else {}
        answered.append(_check_noisy(program, tmp_path / "c", 'eps = "1/2"' if numbered else "", **more))
    assert sum(answered) >= 3


SYMBOLIC = ("laplace(2 / eps)", "laplace(1 / eps)", "exponential(3 / (2 * eps))")


def _at(path: Path, eps: float) -> dict[str, dict[str, float]]:
    """Returns the probabilities that the formulas of a case give at one eps."""
    model = need_privacy(load(path).model, "this test", tied=True)
    hmm, unbounded = model.hmm, model.domain.ring.unbounded
    with mpmath.workdps(60):
        point = [mpmath.exp(-mpmath.mpf(u.step.numerator) / u.step.denominator * eps) for u in unbounded]
        point += [mpmath.mpf(eps) for _ in model.domain.ring.tied]

        def value(polynomial: object) -> mpmath.mpf:
            terms = polynomial.to_dict().items()  # type: ignore[attr-defined]
            return mpmath.fsum(
                mpmath.mpf(int(c.p))
                / int(c.q)
                * mpmath.fprod(x ** int(k) for x, k in zip(point, m, strict=True))
                for m, c in terms
            )

        return {
            state: {
                hmm.observations[step.observation]: float(value(step.weight) / value(hmm.denominator))
                for step in hmm.steps[k]
            }
            for k, state in enumerate(hmm.states)
        }


def _told(output: Output) -> str:
    return ", ".join(str(int(v)) if isinstance(v, float) else str(v[1]) for v in output)  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_formulas_in_eps_equal_integrals(seed: int, tmp_path: Path) -> None:
    """With eps in (0, oo) the formulas have the values of integrals, and verdicts agree with these."""
    chance, answered, path = random.Random(seed), 0, tmp_path / "case.toml"
    domain = 'eps = "(0, oo)"'
    for k in range(6):
        program = noisy_program(100 * seed + k, False, tuple(chance.sample(SYMBOLIC, 3)))
        if program.draws == 3:
            continue
        many = {"parameters": domain, "neighbours": listed(FEW)}
        try:
            load(written(path, program.text, **many))
        except ProgramError as error:
            if not re.search("several noisy numbers", str(error)):
                raise
            continue
        answered += 1
        largest = 0.0
        for eps in (0.75, 1.5, 3.0):
            rows = _summed(program, [(0, 1), (1, 0), (0, 0)], eps=eps)
            for given_, row in _at(path, eps).items():
                wanted = {_told(o): p for o, p in rows[tuple(map(int, re.findall(r"\d", given_)))].items()}
                assert all(abs(row.get(o, 0.0) - wanted.get(o, 0.0)) < 1e-10 for o in {*row, *wanted})
            ratio = largest_ratio(rows, FEW, least=1e-13)
            largest = max(largest, math.inf if ratio is None else math.log(ratio) / eps)
        bound = Fraction(6 if math.isinf(largest) else math.floor(4 * largest - 0.01), 4)
        for factor in (bound, bound + Fraction(1, 2)):
            if factor < 0:
                continue
            report = verified(written(path, program.text, f'epsilon = "{factor}*eps"', **many))
            assert report.status is (Standing.VIOLATED if factor < largest else report.status), program.text
            if isinstance(report.verdict, Violated):
                _check_witness(program, report, float(factor))
    assert answered >= 3


def _check_witness(program: NoisyProgram, report: object, factor: float) -> None:
    witness = report.verdict.witness  # type: ignore[attr-defined]
    variable, value = next(iter(witness.parameters.items()))
    (unbounded,) = report.domain.ring.unbounded  # type: ignore[attr-defined]
    assert unbounded.variable == variable
    eps = -math.log(value) / float(unbounded.step)
    if not 0.3 < eps < 6:
        return
    sides = [tuple(map(int, re.findall(r"\d", name))) for name in (witness.left, witness.right)]
    rows = _summed(program, sides, eps=eps)
    (observation,) = witness.observations
    left, right = ({_told(o): p for o, p in rows[side].items()}.get(observation, 0.0) for side in sides)
    assert left > math.exp(factor * eps) * right * (1 - 1e-9), program.text


@pytest.mark.slow
def test_cells_have_the_weights_of_sums_and_integrals() -> None:
    """The oracle of noise agrees with mpmath: a sum of geometric noise, and a double integral."""
    text = "if geometric(1/3) + geometric(1/4) >= 2:\n    output(1)\nelse:\n    output(0)"
    share = CloudOracle(2).distribution(text, {})[(1.0,)]
    with mpmath.workdps(30):
        a, b = mpmath.mpf(1) / 3, mpmath.mpf(1) / 4

        def above(k: int) -> mpmath.mpf:
            return b**k / (1 + b) if k > 0 else 1 - b ** (1 - k) / (1 + b)

        far = [(1 - a) / (1 + a) * a ** abs(k) * above(2 - k) for k in range(-80, 81)]
        assert abs(mpmath.fsum(far) - share) < 1e-14
    text = "if laplace(1) - exponential(1/2) >= 1:\n    output(1)\nelse:\n    output(0)"
    share = CloudOracle(2).distribution(text, {})[(1.0,)]
    wanted = mpmath.quad(lambda y: 2 * mpmath.exp(-2 * y) * mpmath.exp(-1 - y) / 2, [0, 5, 40])
    assert abs(wanted - share) < 1e-14
