"""Refutation in the order of length, for all parameters at once; and the program `sample_N`."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpq
from interactive_tools import Enumeration as Plain
from random_systems import parametric_case

from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.polynomials import RationalFunction, Ring, fraction
from paramverify.errors import InputError
from paramverify.interactive.closures import Closures
from paramverify.interactive.input_enumeration import Enumeration
from paramverify.interactive.probability_bounds import WeightJudge
from paramverify.interactive.refutation import at_point
from paramverify.interactive.system_cases import ends_of, load
from paramverify.interactive.system_certificates import evidence_document
from paramverify.interactive.system_verification import verify
from paramverify.kernel.documents import check_document
from paramverify.models.context import Checks
from paramverify.models.systems import slot_systems
from paramverify.models.systems.slot_systems import explore
from paramverify.models.systems.transition_systems import Actions
from paramverify.portfolio.session import Options

ROOT = Path(__file__).parents[2]


def test_a_violation_near_an_end() -> None:
    """A quotient that passes the bound near an end of the interval only is found, with a point there."""
    ring = Ring(("p",))
    checks = Checks(Domain(ring, {"p": parse_interval("(0, 1)")}))
    p, one = RationalFunction.of(ring.variable("p")), RationalFunction.of(ring.number(1))
    third = one / (one + one + one)

    def step(state: tuple[str, bool]) -> list[tuple[str, dict[tuple[str, bool], RationalFunction]]]:
        kind, known = state
        if kind == "wait":
            share = (one + p + p) * third if known else third
            return [
                ("person", {("wait", True): one}),
                ("ask", {("yes", known): share, ("no", known): one - share}),
            ]
        return [(kind, {("wait", False): one})]

    system = explore(("wait", False), step, Actions(("person",), ("ask",), ("yes", "no"), ()), ring=ring)
    bound = fmpq(299, 100)  # (1 + 2p)/1 is above it where p > 199/200; (2 − 2p)/2 is too far below 1 there
    listed = Enumeration(Closures(system), WeightJudge(checks), bound, float("inf"))
    found = next(c for c in listed.candidates() if c.event.trace[-1:] == (2,))
    assert Fraction(199, 200) < found.parameters["p"] < 1
    plain = Plain(at_point(system, checks.domain, found.parameters))
    left, right = (plain.probability(w, found.event) for w in (found.left, found.right))
    assert left > Fraction(299, 100) * right > 0


@pytest.mark.slow
def test_random_systems_with_a_parameter() -> None:
    """What is refuted has, at the point that is named, the probabilities of a plain enumeration of traces."""
    counts = {"holds": 0, "violated": 0, "unknown": 0}
    for seed in (*range(13), 48):
        case = parametric_case(seed)
        report = verify(case, Options(seconds=1))
        counts[report.status] += 1
        if report.status == "unknown":
            assert "points and queries" in report.reason or "a comparison stayed open" in report.reason
            continue
        document = json.loads(json.dumps(evidence_document(case, report)))
        assert check_document(document).accepted, seed
        found = report.refutation
        if found is None:
            continue
        plain = Plain(at_point(case.system, case.domain, report.parameters))
        left, right = (plain.probability(inputs, found.event) for inputs in (found.left, found.right))
        assert (left, right) == tuple(map(fraction, found.probabilities)), seed
        numerator, denominator = case.ratio.numerator, case.ratio.denominator
        assert left > Fraction(str(numerator)) / Fraction(str(denominator)) * right, seed
        (box,), (value,) = case.domain.box.values(), report.parameters.values()
        assert box.lower <= value <= box.upper, seed
    assert counts["violated"] >= 6, counts
    assert counts["holds"] >= 2, counts


def noise(m: int, t: int, p: Fraction) -> dict[int, Fraction]:
    """Returns N(m, t, p) of the paper."""
    inner = {n: p ** abs(n) * (1 - p) / (1 + p) for n in range(-m - t, m - t + 1)}
    return {n: w if abs(t + n) < m else p ** abs(n) / (1 + p) for n, w in inner.items()}


@pytest.mark.slow
@pytest.mark.parametrize("printed", [False, True])
def test_sample_n_in_140_settings(printed: bool) -> None:
    """With line 06 corrected all settings are right; as printed it is right where its loop never runs."""
    ring = Ring()
    settings = [
        (m, t, p)
        for m in range(1, 6)
        for t in range(-m, m + 1)
        for p in map(Fraction, ("1/4", "1/2", "3/4", "9/10"))
    ]
    right = 0
    for m, t, p in settings:
        base = RationalFunction.of(ring.number(p))
        found = {
            n: Fraction(str(w.numerator)) / Fraction(str(w.denominator))
            for n, w in ends_of(
                slot_systems.program(m + t, m - t, base, printed), slot_systems.START, ring
            ).items()
            if isinstance(n, int)
        }
        agrees = found == noise(m, t, p)
        assert agrees == (not printed or m + t <= 2), (m, t, p)
        right += agrees
    assert (len(settings), right) == (140, 60 if printed else 140)


def test_noise_of_each_query(tmp_path: Path) -> None:
    """Queries in a table have ranges and noise of their own; a range that is none is told with its key."""
    text = (ROOT / "cases" / "interactive" / "slots-2-mex2.toml").read_text()
    system = load(ROOT / "cases" / "interactive" / "slots-2-mex2.toml").system
    assert system.actions.queries == ("count", "sum")
    assert system.actions.responses[0] == "-4"
    released = {
        a: len(Closures(system).after(system.initial, system.actions.names.index(a)))
        for a in ("count", "sum")
    }
    assert released == {"count": 3, "sum": 9}
    path = tmp_path / "case.toml"
    for before, after, message in (
        ('"0..2"', '"2..0"', r"queries.count.range: '2..0' must have its smaller number first"),
        ('"0..2"', '"some"', r"queries.count.range: 'some' is not a range"),
        ("[-2, 2]", '"a..b"', r"data: 'a..b' is not a range"),
        ("count = {", "median = {", "'median' is not one of count, sum"),
    ):
        assert before in text
        path.write_text(text.replace(before, after))
        with pytest.raises(InputError, match=message):
            load(path)
