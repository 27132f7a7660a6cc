"""Random interactive systems: verdicts against the exhaustive enumeration of traces."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import fmpq
from interactive_tools import Enumeration, case_of, random_system

from paramverify.algebra.polynomials import fraction
from paramverify.interactive.closures import Closures
from paramverify.interactive.probability_bounds import WeightJudge
from paramverify.interactive.refutation import admissible, probability
from paramverify.interactive.system_certificates import evidence_document, subject
from paramverify.interactive.system_verification import accepted, verify
from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import Demanded
from paramverify.models.context import Checks
from paramverify.portfolio.session import Options

RATIOS = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(6), Fraction(12))
LONGEST = 5  # inputs and responses


@pytest.mark.slow
def test_verdicts_stand_enumeration() -> None:
    """What is proved has no trace beyond the bound; what is refuted has the probabilities that are reported.

    Evidence of both kinds is accepted by the checker, a family by the published algorithms as well.
    """
    counts = {"holds": 0, "violated": 0, "unknown": 0}
    for seed in range(25):
        system = random_system(seed)
        plain = Enumeration(system)
        worst, infinite = plain.largest_ratio(LONGEST)
        ratio = worst if seed % 3 == 0 else RATIOS[seed % len(RATIOS)]
        case = case_of(system, ratio)
        report = verify(case, Options(seconds=0.3))  # the search for a refutation may go on for ever
        counts[report.status] += 1
        judge = WeightJudge(case.checks)
        if report.status == "holds":
            assert not infinite, seed
            assert worst <= ratio, seed
            if report.family:
                assert accepted(Closures(system), report.family, judge), seed
                # The sharper check never needs more than the published one.
                assert report.costs is not None
                assert report.costs.ratio is not None, seed
                assert report.costs.ratio <= report.family.ratio**report.family.steps, seed
            for kept in (report, replace(report, family=None)):
                document = json.loads(json.dumps(evidence_document(case, kept)))
                demanded = Demanded(engine=json.loads(json.dumps(subject(case))))
                assert check_document(document, demanded).accepted, seed
        elif report.status == "violated":
            found = report.refutation
            assert found is not None
            left, right = (plain.probability(inputs, found.event) for inputs in (found.left, found.right))
            assert (left, right) == tuple(map(fraction, found.probabilities)), seed
            assert left > ratio * right, seed
            document = json.loads(json.dumps(evidence_document(case, report)))
            assert check_document(document).accepted, seed
        else:
            # Nothing was found up to the length that was searched; the enumeration agrees or goes on further.
            assert report.reason
    assert counts["holds"] >= 5, counts
    assert counts["violated"] >= 10, counts


@pytest.mark.slow
def test_responses_for_ever_stand_enumeration() -> None:
    """Verdicts about systems that may respond without end are those of all observations up to length 5."""
    counts = {"holds": 0, "violated": 0, "unknown": 0}
    for seed in range(3003, 3009):
        system = random_system(seed, for_ever=True)
        plain = Enumeration(system)
        worst, infinite = plain.largest_ratio(LONGEST)
        ratio = worst if seed % 2 else Fraction(2)
        case = case_of(system, ratio)
        report = verify(case, Options(seconds=0.2))
        counts[report.status] += 1
        if report.status == "holds":
            assert not infinite, seed
            assert worst <= ratio, seed
        elif report.refutation is not None:
            event = report.refutation.event
            found = [
                fraction(plain.events(inputs, len(event.trace))[0].get((event.trace, event.closed), fmpq(0)))
                for inputs in (report.refutation.left, report.refutation.right)
            ]
            assert found == list(map(fraction, report.refutation.probabilities)), seed
            assert found[0] > ratio * found[1], seed
        if report.status != "unknown":
            document = json.loads(json.dumps(evidence_document(case, report)))
            demanded = Demanded(engine=json.loads(json.dumps(subject(case))))
            assert check_document(document, demanded).accepted, seed
    assert counts["holds"] >= 2, counts
    assert counts["violated"] >= 2, counts


@pytest.mark.slow
def test_evaluation_is_right() -> None:
    """The evaluation of an event agrees with the enumeration, open and closed, also with silent loops."""
    from itertools import product

    from paramverify.interactive.refutation import AnalystView

    for seed in range(25):
        system = random_system(1000 + seed)
        plain = Enumeration(system)
        for inputs in product(system.actions.inputs, repeat=3):
            if not admissible(system, inputs):
                continue
            for trace in plain.given(inputs):
                for event in (
                    AnalystView(trace),
                    AnalystView(trace, True),
                    AnalystView(trace[:1]),
                    AnalystView(trace[:1], True),
                ):
                    assert fraction(probability(system, inputs, event)) == plain.probability(inputs, event)


@pytest.mark.slow
def test_costs_are_sound_between_states() -> None:
    """C(x, y) bounds every ratio of traces between two classes, in its direction."""
    from itertools import product

    from paramverify.algebra.domains import Domain
    from paramverify.algebra.polynomials import Ring
    from paramverify.interactive.step_costs import cheapest

    compared = 0
    for seed in range(40):
        system = random_system(2000 + seed)
        if system.partial:
            continue
        plain = Enumeration(system)
        costs = cheapest(Closures(system), WeightJudge(Checks(Domain(Ring(), {}))), fmpq(100))
        for (x, y), cost in costs.values().items():
            left, right = (costs.partition.members[block] for block in (x, y))
            for size in range(5):
                for inputs in product(system.actions.inputs, repeat=size):
                    mine, other = plain.traces(left, inputs), plain.traces(right, inputs)
                    for trace, weight in mine.items():
                        compared += 1
                        assert weight <= fraction(cost) * other.get(trace, Fraction(0)), (seed, x, y)
    assert compared > 500
