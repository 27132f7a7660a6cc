"""(ε, δ) privacy of cases, against brute force over all sets of outputs with fractions."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import factorial
from pathlib import Path
from random import Random

import pytest
from random_models import all_probabilities, random_model, random_row
from set_oracle import Drawn, drawn, points

from paramverify.algebra.polynomials import RationalFunction
from paramverify.divergences import HockeyStick
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.kernel.documents import check_text
from paramverify.models.model import Model
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.verification import PrivacyReport, verify
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.reports.evidence_checks import with_second_look
from paramverify.tables import TomlDocument
from paramverify.verdicts import Holds, Violated

RATIOS = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5, 4), Fraction(4))


def case_of(model: Model) -> PrivacyCase:
    """A case of a model, without a file."""
    return PrivacyCase(TomlDocument({}, digest="0" * 64, path="here.toml"), "ratio and delta", model)


def decided(found: Drawn, ratio: Fraction, delta: Fraction) -> PrivacyReport:
    """The verdict of the package, whose evidence its kernel accepts, alone and with the case."""
    case = case_of(found.model(ratio, delta))
    report = verify(case, Options(seconds=60))
    if not isinstance(report.verdict, Holds | Violated):
        return report
    document = evidence_document(case, report)
    alone, beside = check_text(json.dumps(document)), check_with_case(document, case)
    assert alone.accepted, alone.lines
    assert beside.accepted, beside.lines
    assert beside.status == report.status
    return report


def compare_with_brute_force(seed: int, parameters: int) -> str:
    """Compares one random case at one delta with all sets at a grid of points; returns the verdict."""
    random = Random(seed)
    found, ratio = drawn(random, parameters), random.choice(RATIOS)
    grid = list(points(found.names))
    largest = max(found.largest_delta(ratio, at) for at in grid)
    delta = min(Fraction(1), max(Fraction(1, 1000), largest + random.choice((-1, 0, 0, 1)) * Fraction(1, 50)))
    report = decided(found, ratio, delta)
    if isinstance(report.verdict, Holds):
        assert largest <= delta
    else:
        assert isinstance(report.verdict, Violated), report.verdict
        witness = report.verdict.witness
        assert isinstance(witness, ExactSetWitness)
        side = ("left", "right").index(witness.left)
        names = {name: k for k, name in enumerate("wxyz")}
        one, other = (found.shares(s, witness.parameters) for s in (side, 1 - side))
        chosen = [names[word[0]] for word in witness.outputs]
        shares = [sum((row[k] for k in chosen), Fraction(0)) for row in (one, other)]
        assert shares == [p.rational for p in witness.probabilities]
        assert shares[0] > ratio * shares[1] + delta
        assert shares[0] - ratio * shares[1] == found.least_delta(side, ratio, witness.parameters)[0]
    return report.status


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [0, 1, 2])
def test_random_cases_agree_with_all_sets(parameters: int) -> None:
    """Every case is decided, as all sets say at 50 points (49 with two parameters)."""
    count = (24, 24, 12)[parameters]
    first = 1_000 * (parameters + 1)
    seen = {compare_with_brute_force(seed, parameters) for seed in range(first, first + count)}
    assert len(seen) == 2


def excess(pairs: list[tuple[Fraction, Fraction]], ratio: Fraction) -> Fraction:
    """The sum of what single outputs have beyond a ratio."""
    return sum((max(Fraction(0), p - ratio * q) for p, q in pairs), Fraction(0))


@pytest.mark.parametrize("seed", range(600, 606))
def test_sequences_agree_with_all_sequences(seed: int) -> None:
    """Sets of sequences of length 2 and 3 of random models: the bound is that of all sequences alone."""
    random = Random(seed)
    pure = random_model(random, 2 + seed % 2, states=3, symbols=3)
    ring, ratio = pure.domain.ring, random.choice(RATIOS)
    pairs = list(all_probabilities(pure).values())
    largest = max(excess(pairs, ratio), excess([(q, p) for p, q in pairs], ratio))
    for delta, holds in ((largest, True), (largest - Fraction(1, 10**6), False)):
        if not 0 < delta <= 1:
            continue
        bounds = (RationalFunction.of(ring.number(bound)) for bound in (ratio, delta))
        case = case_of(replace(pure, measure=HockeyStick(*bounds)))
        report = verify(case, Options(seconds=60))
        assert isinstance(report.verdict, Holds if holds else Violated)
        assert check_with_case(evidence_document(case, report), case).accepted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_transcendental_ratio(seed: int, tmp_path: Path) -> None:
    """With epsilon = 1/2 the bound is that of all outputs for exp(1/2), on both sides of it."""
    random = Random(seed)
    rows = [random_row(random, 4) for _ in range(2)]
    root = sum((Fraction(1, 2**k) / factorial(k) for k in range(40)), Fraction(0))  # exp(1/2) to 40 digits
    pairs = list(zip(*rows, strict=True))
    largest = max(excess(pairs, root), excess([(q, p) for p, q in pairs], root))
    for change, holds in ((Fraction(1, 10**20), True), (-Fraction(1, 10**20), False)):
        delta = largest + change
        if not 0 < delta <= 1:
            continue
        outputs = ["w", "x", "y", "z"]
        table = "\n".join(
            f"s{k} = {{ {', '.join(f'{o} = {str(p)!r}' for o, p in zip(outputs, row, strict=True))} }}"
            for k, row in enumerate(rows)
        ).replace("'", '"')
        path = tmp_path / "case.toml"
        path.write_text(
            f'[mechanism]\nkind = "hmm"\nstates = ["s0", "s1"]\nobservations = {outputs!r}\n'
            f'[mechanism.emissions]\n{table}\n[neighbours]\npairs = [["s0", "s1"]]\n'
            f'[privacy]\nepsilon = "1/2"\ndelta = "{delta}"\n'
        )
        report = verify(load(path), Options(seconds=60))
        assert isinstance(report.verdict, Holds if holds else Violated)
        document = evidence_document(load(path), report)
        checked = check_with_case(document, load(path))
        checked, look = with_second_look(checked, document, path.read_text())
        assert checked.accepted, look.line
        assert look.compared
