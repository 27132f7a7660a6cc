"""Every backend that is installed, on every claim of the conformance table."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest
from conformance import HARD, HOLDS, TABLE, VIOLATED, Known

from paramverify.algebra.domains import Interval
from paramverify.answers import End, Open, Proved, Refuted
from paramverify.backends import Ability, discover
from paramverify.evidence.certificates import replayed
from paramverify.processes.attempts import Attempt, AttemptLimits
from paramverify.processes.runner import Runner

# Wherever CI runs, these have to be there; see also `conftest`.
REQUIRED = {"bernstein", "roots", "z3", "cvc5", "cvc5-cov", "yices", "qepcad", "sos"}
LIMITS = AttemptLimits(3.0)
PATIENT = AttemptLimits(60.0)  # for what has to be decided, so that a slow machine fails nothing

BACKENDS = discover()
INSTALLED = [name for name, backend in BACKENDS.items() if backend.version() is not None]
MISSING = [name for name in {**BACKENDS, **dict.fromkeys(REQUIRED)} if name not in INSTALLED]
# Built-in procedures get each row, solvers every second one that is violated, and every third other one.
PAIRS = [
    (name, row)
    for name in INSTALLED
    for number, row in enumerate(TABLE)
    if row.name not in HARD.get(name, ())
    and (
        BACKENDS[name].builtin or not (number + INSTALLED.index(name)) % (2 if row.verdict == VIOLATED else 3)
    )
]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


def test_the_table_is_large_and_its_names_are_names() -> None:
    """There are at least sixty claims with names of their own, and exceptions are about what exists."""
    names = {row.name for row in TABLE}
    assert len(names) == len(TABLE) >= 60
    assert set().union(*HARD.values()) <= names
    assert HARD.keys() <= BACKENDS.keys() | REQUIRED
    assert not any(row.name in HARD.get(name, ()) for row in TABLE for name in row.builtin)


@pytest.mark.parametrize("row", [r for r in TABLE if r.verdict == VIOLATED], ids=lambda row: row.name)
def test_violated_rows_are_violated(row: Known) -> None:
    """The point of a violated row is in the domain, and the claim fails there, in exact arithmetic."""
    claim = row.claim()
    assert row.point() in claim.domain
    assert not claim.holds_at(row.point())


@pytest.mark.parametrize("row", [r for r in TABLE if r.verdict != VIOLATED], ids=lambda row: row.name)
def test_other_rows_have_no_violation_among_samples(row: Known) -> None:
    """No random rational point of the domain violates a row that holds, or is violated at irrational ones."""
    claim = row.claim()
    generator = random.Random(row.name)
    for _ in range(300):
        point = {name: _inside(interval, generator) for name, interval in claim.domain.box.items()}
        assert point not in claim.domain or claim.holds_at(point)


def _inside(interval: Interval, generator: random.Random) -> Fraction:
    if interval.is_point or generator.random() < 0.1:
        ends = [end for end in (interval.lower, interval.upper) if end in interval]
        if ends:
            return generator.choice(ends)
    return interval.lower + (interval.upper - interval.lower) * Fraction(generator.randint(1, 1023), 1024)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "row"),
    [
        pytest.param(name, row, id=f"{name}: {row.name}", marks=() if row in TABLE[::8] else pytest.mark.slow)
        for name, row in PAIRS
    ],
)
def test_verdict(runner: Runner, name: str, row: Known) -> None:
    """No backend contradicts a known verdict, refutations come with points, and built-ins decide theirs."""
    claim = row.claim()
    limits = PATIENT if name in row.builtin else LIMITS
    answer = runner.run(Attempt(name, claim), limits).answer
    if isinstance(answer, Open):
        assert name not in row.builtin, answer
        assert answer.end in (End.GAVE_UP, End.TIMEOUT, End.MEMORY), answer
    elif isinstance(answer, Proved):
        assert row.verdict == HOLDS, answer
        if answer.certificate is None:
            assert answer.transcript
        elif not BACKENDS[name].builtin:
            assert not replayed(claim, answer.certificate)  # and trusts nobody
    else:
        assert row.verdict == VIOLATED, answer
        assert answer.point in claim.domain
        assert not claim.holds_at(answer.point)


@pytest.mark.parametrize("name", [name for name in INSTALLED if not BACKENDS[name].builtin])
def test_every_solver_decides_something(runner: Runner, name: str) -> None:
    """Each solver proves a claim that holds and, if it gives models, refutes one that does not."""
    rows = {row.name: row for row in TABLE}
    proved = runner.run(Attempt(name, rows["zero at an open end"].claim()), PATIENT)
    assert isinstance(proved.answer, Proved)
    assert proved.version == BACKENDS[name].version()
    refuted = runner.run(Attempt(name, rows["negative near an open end"].claim()), PATIENT)
    assert isinstance(refuted.answer, Refuted) or Ability.MODELS not in BACKENDS[name].abilities


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_backend_says_how_to_get_it(runner: Runner, name: str) -> None:
    """A backend that is not installed is unavailable, with advice; under CI only Redlog may be missing."""
    answer = runner.run(Attempt(name, TABLE[0].claim()), LIMITS).answer
    assert answer == Open(End.UNAVAILABLE, f"{name} is missing; to get it: {BACKENDS[name].install}")
    if name in REQUIRED:
        pytest.skip(answer.detail)


@pytest.mark.slow
def test_required_backends_are_found() -> None:
    """Every backend of the package is found without being registered."""
    assert BACKENDS.keys() >= REQUIRED | {"redlog"}
    assert not {name for name in REQUIRED if Ability.CLAIMS not in BACKENDS[name].abilities}
    assert {n for n in REQUIRED if Ability.QUANTIFIERS in BACKENDS[n].abilities} == {"qepcad"}
