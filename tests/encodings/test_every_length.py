"""Proofs for sequences of every length, proofs that no budget is enough, and their certificates."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from random_models import all_probabilities, classical_model, largest_ratio, parametric_model, random_model

from paramverify.answers import Proved
from paramverify.claims import Claim, without_enclosure
from paramverify.divergences import MaxDivergence
from paramverify.encodings import cone, every_length
from paramverify.encodings.cone import cone_claims, lump
from paramverify.encodings.every_length import EveryLength, for_every_length
from paramverify.encodings.point_violations import find_violation
from paramverify.encodings.unbounded_ratios import certificate as no_budget_certificate
from paramverify.encodings.unbounded_ratios import no_budget
from paramverify.evidence import envelope
from paramverify.evidence.witnesses import evaluate
from paramverify.exact.branching import decide_exactly
from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import Demanded
from paramverify.models.model import Model
from paramverify.privacy.cases import load


def proofs_of(claims: tuple[Claim, ...]) -> list[Any] | None:
    """The proofs of all claims by the exact procedures, or None if one is not proved."""
    found = []
    for claim in claims:
        answer = decide_exactly(without_enclosure(claim))
        if not isinstance(answer, Proved) or answer.certificate is None:
            return None
        found.append(answer.certificate["proof"])
    return found


def prove(model: Model) -> tuple[EveryLength, dict[str, Any]] | None:
    """A proof for every length with its certificate, as it comes back from a file."""
    for proof in for_every_length(model):
        proofs = proofs_of(proof.claims)
        if proofs is not None:
            return proof, written("holds", every_length.certificate(proof, proofs))
    return None


def written(status: str, certificate: dict[str, Any]) -> dict[str, Any]:
    """A certificate as evidence, as it comes back from a file; its statement is the last one."""
    document: dict[str, Any] = json.loads(json.dumps(envelope.document(status, certificate)))
    return document


def changed(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Evidence whose certificate has other parts."""
    *comparisons, own = document["statements"]
    return {**document, "statements": [*comparisons, {**own, **changes}]}


def about(model: Model) -> Demanded:
    """What a case with this model demands."""
    return Demanded(engine=cone.engine_document(model))


def two_states(low: str, high: str, ratio: str) -> Model:
    """A person is ill or well, changes with probability p from day to day, and answers truly with 3/4."""
    return parametric_model(
        {"p": (Fraction(low), Fraction(high))},
        [["1-p", "p"], ["p", "1-p"]],
        [["3/4", "1/4"], ["1/4", "3/4"]],
        ["1", "0"],
        ["0", "1"],
        ratio,
        (1,),
    )


def three_states(low: str, high: str, ratio: str) -> Model:
    """Three activities, each left for each other one with probability p; answers are true with 3/5."""
    stay = [["1-2*p" if i == j else "p" for j in range(3)] for i in range(3)]
    answers = [["3/5" if i == j else "1/5" for j in range(3)] for i in range(3)]
    box = {"p": (Fraction(low), Fraction(high))}
    return parametric_model(box, stay, answers, ["1", "0", "0"], ["0", "1", "0"], ratio, (1,))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        two_states("4/15", "11/15", "6"),
        two_states("3/10", "1/2", "6"),
        two_states("1/10", "9/10", "19"),
        three_states("1/5", "1/3", "9"),
    ],
)
def test_correlated_time_series_are_private_for_every_length(model: Model) -> None:
    """The secret is the first day's state; p runs over an interval, and the certificate is accepted.

    For two states, 6 is the exact bound at p = 4/15: the ratio x of an endless series of equal answers is
    x = 3·((1−p)·x + p)/(p·x + 1 − p).
    """
    found = prove(model)
    assert found is not None
    report = check_document(found[1], about(lump(model).model))
    assert report.accepted, report.lines
    assert report.trusted == 0
    longest = replace(model, lengths=(7,))
    assert find_violation(longest) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "at"),
    [(two_states("1/5", "1/2", "6"), Fraction(1, 5)), (three_states("1/20", "1/3", "9"), None)],
)
def test_correlated_time_series_leak_where_p_is_too_small(model: Model, at: Fraction | None) -> None:
    """Where p leaves the interval there is no proof, and a sequence with a violating prior is found."""
    assert prove(model) is None
    found = find_violation(model)
    assert found is not None
    origin, point = found
    assert at is None or point["p"] == at
    witness = evaluate(model, origin, point)
    assert witness.exceeds


def test_the_bound_of_the_ratio_cone_is_sharp() -> None:
    """Slightly outside of the interval on which 6 is enough, long sequences exceed 6."""
    model = two_states("265/1000", "1/2", "6")
    assert prove(model) is None
    found = find_violation(model)
    assert found is not None
    assert len(found[0].observations) > 4
    assert evaluate(model, *found).exceeds


def memory_survey(ratio: str) -> Model:
    """A noisy answer is drawn once and given every day; the prior has a parameter."""
    one, zero = ["1", "0", "0", "0"], ["0", "1", "0", "0"]
    first = [["0", "0", "1/2", "1/2"], ["0", "0", "1/2", "1/2"]]
    stay = [["0", "0", "1", "0"], ["0", "0", "0", "1"]]
    emissions = [["1", "0"], ["1", "0"], ["1", "0"], ["0", "1"]]
    first = [["0", "0", "3/4", "1/4"], ["0", "0", "1/4", "3/4"]]
    del one, zero
    box = {"q": (Fraction(0), Fraction(1))}
    return parametric_model(
        box, first + stay, emissions, ["q", "1-q", "0", "0"], ["0", "1", "0", "0"], ratio, (1,)
    )


def test_a_survey_with_memory_closes() -> None:
    """The rays close, so the claims for them are exact: 3 is enough for every length, 2 is not."""
    found = prove(memory_survey("3"))
    assert found is not None
    proof, document = found
    assert proof.exact
    assert check_document(document, about(lump(memory_survey("3")).model)).accepted
    assert not check_document(document, about(memory_survey("2"))).accepted
    assert prove(memory_survey("2")) is None
    assert find_violation(memory_survey("2")) is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_proofs_for_every_length_agree_with_brute_force(seed: int) -> None:
    """Where a proof for every length is found, no sequence up to length 6 exceeds the bound."""
    random = Random(seed)
    model = random_model(random, 1, states=3, symbols=2)
    model = replace(model, lengths=tuple(range(1, 7)))
    found = prove(model)
    both = list(all_probabilities(model).values())
    ratios = [largest_ratio(both), largest_ratio([(b, a) for a, b in both])]
    bound = Fraction(str(model.measure.ratio.numerator)) / Fraction(str(model.measure.ratio.denominator))
    private = all(r is not None and r <= bound for r in ratios)
    if found is not None:
        assert private
        assert check_document(found[1]).accepted
    violation = find_violation(model, 6)
    assert (violation is None) == private
    if violation:
        assert evaluate(model, *violation).exceeds


@pytest.mark.parametrize("seed", range(4))
def test_certificates_of_levels_are_accepted(seed: int) -> None:
    """The certificate of the cone encoding replays, and says nothing about a smaller bound."""
    random = Random(seed)
    model = lump(random_model(random, 4, states=4, symbols=3)).model
    claims = cone_claims(model)
    proofs = proofs_of(claims)
    if proofs is None:
        model = replace(model, measure=MaxDivergence(model.measure.ratio * model.measure.ratio))
        claims = cone_claims(model)
        proofs = proofs_of(claims)
    if proofs is None:
        return
    document = written("holds", cone.certificate(model, claims, proofs))
    assert check_document(document, about(model)).accepted
    *comparisons, own = document["statements"]
    if len(comparisons) > 1:
        assert not check_document({**document, "statements": [*comparisons[:-1], own]}).accepted
    assert not check_document(changed(document, lengths=[5])).accepted


def test_above_threshold_has_certificates_of_both_directions(root: Path) -> None:
    """The joined model has states of one side only; its certificate for four answers and 16 replays."""
    model = lump(replace(load(root / "cases" / "above-threshold.toml").model, lengths=(4,))).model
    claims = cone_claims(model)
    proofs = proofs_of(claims)
    assert proofs is not None
    document = written("holds", cone.certificate(model, claims, proofs))
    assert check_document(document).accepted
    first, _ = document["statements"][-1]["runs"]
    assert not check_document(changed(document, runs=[first])).accepted


@pytest.mark.slow
def test_above_threshold_has_no_budget_at_all(root: Path) -> None:
    """The loop 12⊥ makes the left side twice as likely every time; the certificate and a witness show it."""
    model = load(root / "cases" / "above-threshold.toml").model
    loop = no_budget(model)
    assert loop is not None
    assert loop.growth == 2
    document = written("violated", no_budget_certificate(model, loop))
    assert check_document(document).accepted
    times = loop.beyond(Fraction(10**9))
    witness = evaluate(model, loop.origin(model, times), {})
    assert witness.ratio is not None
    assert (witness.ratio.rational or 0) >= loop.factor * loop.growth**times > 10**9
    for key, value in (("rates", ["2", "1/2"]), ("factor", "1000"), ("state", 0), ("loop", [])):
        assert not check_document(changed(document, **{key: value})).accepted


def test_repeated_answers_without_memory_have_no_budget(root: Path) -> None:
    """Fresh noise every day gives the secret away in the end; with memory it does not."""
    loop = no_budget(load(root / "cases" / "randomized-response.toml").model)
    assert loop is not None
    assert loop.growth > 1
    assert no_budget(memory_survey("3")) is None
    assert no_budget(two_states("3/10", "1/2", "6")) is None


def test_a_loop_through_several_states_is_found() -> None:
    """The rates are bounded by a vector, not read off a diagonal, where loops mix states."""
    half = Fraction(1, 2)
    mixing = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    transitions = [
        [half, half, Fraction(0)],
        [half, half, Fraction(0)],
        [Fraction(0), Fraction(0), Fraction(1)],
    ]
    emissions = [*mixing, [Fraction(9, 10), Fraction(1, 10)]]
    starts = [[Fraction(0), Fraction(0), Fraction(1)], [half, half, Fraction(0)]]
    model = classical_model(transitions, emissions, *starts, Fraction(100), (1,))
    loop = no_budget(model)
    assert loop is not None
    assert check_document(written("violated", no_budget_certificate(model, loop))).accepted
    assert evaluate(model, loop.origin(model, loop.beyond(Fraction(100))), {}).exceeds


def test_tampered_certificates_are_rejected() -> None:
    """A cone that is too small, states that are missing, another depth, or lost claims are found out."""
    found = prove(two_states("3/10", "1/2", "6"))
    assert found is not None
    document = found[1]
    assert check_document(document).accepted
    changes: list[dict[str, Any]] = [
        {"normals": [["1", "0"], ["0", "1"]]},
        {"normals": [["5", "-1"], ["-1", "5"]]},
        {"normals": [["1", "-2"], ["-2", "1"]]},
        {"states": [0]},
        {"depth": 0},
        {"depth": 2},
        {"rule": "closed"},
    ]
    for change in changes:
        assert not check_document(changed(document, **change)).accepted, change
    assert document["statements"][0]["kind"] == "comparison"
    (domain,) = document["domains"]
    wider = {**domain, "box": {"p": "[1/10, 1/2]"}}
    for forged in ({"statements": document["statements"][1:]}, {"version": True}, {"domains": [wider]}):
        assert not check_document({**document, **forged}).accepted, forged
