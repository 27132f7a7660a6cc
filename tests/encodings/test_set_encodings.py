"""The encodings of cases with a delta say the same: sets, all sets, and formulas with maxima for solvers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from set_oracle import Drawn, drawn, points

from paramverify.algebra.polynomials import value_at
from paramverify.answers import Proved
from paramverify.backends import discover
from paramverify.divergences import MaxDivergence
from paramverify.encodings.all_sets import ENCODING as ALL_SETS
from paramverify.encodings.all_sets import MAX_TERMS
from paramverify.encodings.choice import chosen, encodings, listing
from paramverify.encodings.encoding import Encoding
from paramverify.encodings.sets import ENCODING as SETS
from paramverify.encodings.sums import ENCODING as SUMS
from paramverify.errors import LimitError, UnsupportedError
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.set_verification import verify_sets
from paramverify.scripts.script_solutions import run_script
from paramverify.verdicts import Holds, Violated

SOLVERS = ("z3", "cvc5")


def case(seed: int, parameters: int) -> tuple[Drawn, Fraction, Fraction, Model]:
    """A random mechanism whose delta is about what it needs."""
    random = Random(seed)
    found = drawn(random, parameters)
    ratio = random.choice((Fraction(1), Fraction(3, 2)))
    most = max(found.least_delta(side, ratio, at)[0] for at in points(found.names, 9) for side in (0, 1))
    delta = (most * random.choice((Fraction(4, 5), Fraction(11, 10)))).limit_denominator(50)
    return found, ratio, delta, found.model(ratio, min(delta, Fraction(1)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1007))
def test_solvers_find_what_cutting_finds(seed: int) -> None:
    """A script is satisfiable exactly where a set is too likely; nothing of the cutting is in it."""
    *_, model = case(seed, seed % 3)
    with Session(Options(seconds=20)) as session:
        verdict = verify_sets(session, model).verdict
    assert isinstance(verdict, Holds | Violated)
    assert SUMS.scripts
    scripts = [written.script for written in SUMS.scripts(model)]
    for name in SOLVERS:
        backend = discover()[name]
        if backend.version() is None:
            continue
        said = [run_script(backend, text, {}) for text in scripts]
        assert all(isinstance(s, str) and s.strip() in ("sat", "unsat") for s in said), (name, said)
        broken = any(isinstance(s, str) and s.strip() == "sat" for s in said)
        assert broken == isinstance(verdict, Violated), name


@pytest.mark.parametrize("seed", range(1020, 1025))
def test_all_sets_and_the_worst_ones(seed: int) -> None:
    """The claims of the worst sets are among those of all sets, and the least one is the same."""
    found, *_, model = case(seed, 1 + seed % 2)
    assert SETS.claims
    assert SETS.again
    assert ALL_SETS.claims
    own, every, again = SETS.claims(model), ALL_SETS.claims(model), list(SETS.again(model))
    assert {str(c.polynomial) for c in own} <= {str(c.polynomial) for c in every}
    assert [str(c.polynomial) for c in own] == [str(c.polynomial) for c in again]
    for at in points(found.names, 9):
        least = min(value_at(c.polynomial, at) for c in every)
        assert min(value_at(c.polynomial, at) for c in own) == least
    with Session(Options(seconds=20)) as session:
        holds = all(isinstance(session.decide(claim).answer, Proved) for claim in every)
        assert holds == isinstance(verify_sets(session, model).verdict, Holds)


def test_which_encoding_a_case_gets() -> None:
    """A case with a delta gets that of sets; the others refuse it, and these refuse a case without one."""
    model = case(1020, 0)[3]
    assert chosen(model) is listing(model) is SETS
    for name, encoding in encodings().items():
        if encoding not in (SETS, ALL_SETS, SUMS):
            with pytest.raises(UnsupportedError):
                asked(encoding, model)
        else:
            with pytest.raises(UnsupportedError, match="has no delta"):
                asked(encoding, replace(model, measure=MaxDivergence.number(model.domain.ring, 2)))
        assert name == encoding.name


def asked(encoding: Encoding, model: Model) -> None:
    """Derives the claims or scripts of an encoding."""
    if encoding.claims:
        encoding.claims(model)
    elif encoding.scripts:
        list(encoding.scripts(model))


def test_too_many_terms_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sets of many outputs are refused: there are too many."""
    assert MAX_TERMS == 10
    monkeypatch.setattr("paramverify.encodings.all_sets.MAX_TERMS", 1)
    assert ALL_SETS.claims
    with pytest.raises(LimitError, match="at most 1 are listed in all sets"):
        ALL_SETS.claims(next(case(k, 1)[3] for k in range(1030, 1060) if len(case(k, 1)[0].emissions[0]) > 3))
