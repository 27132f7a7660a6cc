"""The checker of certificates about all sequences: forged ones, against the probabilities of sequences."""

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from cone_documents import (
    APART,
    BERNSTEIN,
    CLOSED,
    FIRST,
    LEVELS,
    LOOP,
    REMEMBERED,
    SECOND,
    TURNED,
    Json,
    certificate,
    chance,
    claim,
    cone,
    level,
    model,
    parametric,
    private,
    ratios,
    run,
    start,
    survey,
    with_ratio,
)
from three_checkers import NOT_KNOWN, differences

from paramverify.checker import cone_models
from paramverify.checker.claim_evidence import KernelReport
from paramverify.checker.cone_evidence import check_document
from paramverify.errors import InputError
from paramverify.reports.evidence_checks import program

ASKED: list[bytes] = []  # all documents of this file


@pytest.fixture(scope="module", autouse=True)
def compared_with_the_proved_checker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """In the end the program that is extracted from Coq is asked: it says the same of every document."""
    yield
    try:
        checker = program()
    except InputError:  # it is not built
        return
    found, counts = differences(checker, ASKED, tmp_path_factory.mktemp("asked"))
    assert found == []
    assert NOT_KNOWN not in counts


def checked(document: Any) -> KernelReport:
    """Returns the report on a document, which the proved checker is asked about later."""
    ASKED.append(json.dumps(document).encode())
    return check_document(document)


def accepted(document: Json) -> bool:
    """Tells whether the checker accepts a document, whose report then has no line of a rejection."""
    report = checked(document)
    assert report.accepted == (not report.lines[0].startswith("rejected: "))
    return report.accepted


def refused(document: Json, reason: str) -> bool:
    """Tells whether the checker rejects a document for this reason."""
    report = checked(document)
    return not report.accepted and reason in report.lines[0]


def changed(document: Json, **changes: Any) -> Json:
    return {**copy.deepcopy(document), **changes}


# --- closed: an answer that is remembered ------------------------------------------------------------


def test_closed_rays_show_exactly_the_bounds_that_hold() -> None:
    """An answer that is given every day has the ratio 3: bounds from 3 on are accepted, no smaller ones."""
    for top, bottom in (("3", "1"), ("4", "1"), ("7", "2"), ("6", "2")):
        document = with_ratio(CLOSED, top, bottom)
        assert private(document["model"])
        report = check_document(document)
        assert report == KernelReport(
            True, ("proved: 0 claims, from which all 4 that are needed follow",), 0, 0, status="holds"
        )
    for top, bottom in (("2", "1"), ("299", "100"), ("1", "1"), ("0", "1")):
        document = with_ratio(CLOSED, top, bottom)
        assert not private(document["model"])
        assert refused(document, "a claim that is needed is not proved")


def test_masses_count() -> None:
    """Weights are divided by the mass of their secret, on both sides."""
    for left, right, ratio, holds in (
        (("3", "1"), ("1/4", "3/4"), "3", True),
        (("3", "1"), ("1/4", "3/4"), "29/10", False),
        (("3/4", "1/4"), ("1", "3"), "3", True),
        (("3/4", "1/4"), ("1", "3"), "29/10", False),
    ):
        document = with_ratio(CLOSED, ratio)
        masses = [str(sum(map(Fraction, given))) for given in (left, right)]
        document["model"]["pairs"][0][2:] = [start(left, masses[0]), start(right, masses[1])]
        assert private(document["model"]) == accepted(document) == holds


def test_a_step_that_leaves_the_rays_is_rejected() -> None:
    """The ray (1, 1) alone would show every bound; T·1 is no multiple of it."""
    document = changed(with_ratio(CLOSED, "2"), rays=[["1", "1"]], steps=[[{"0": "1"}] * 2, [{"0": "1"}] * 2])
    assert not private(document["model"])
    assert refused(document, "a step leaves the cone")
    for row, place in product(range(3), range(2)):
        for weights in ({}, {"0": "1"}, {"1": "1"}, {"0": "2"}, {"0": "1", "1": "1"}):
            forged = copy.deepcopy(CLOSED)
            if forged["steps"][row][place] != weights:
                forged["steps"][row][place] = weights
                assert refused(forged, "a step leaves the cone")


def test_a_step_of_a_ray_or_of_one_that_is_missing_is_noticed() -> None:
    """There is a row for each ray and one for 1, with an entry for each observation."""
    assert refused(changed(CLOSED, steps=CLOSED["steps"][:2]), "a step is missing")
    assert refused(changed(CLOSED, steps=[*CLOSED["steps"], [{}, {}]]), "a step is missing")
    assert refused(changed(CLOSED, steps=[row[:1] for row in CLOSED["steps"]]), "malformed")


def test_combinations_have_no_negative_weights() -> None:
    """(1, 0) = (1, 1) − (0, 1) is no conic combination, though it sums up."""
    document = changed(
        CLOSED,
        rays=[["1", "1"], ["0", "1"]],
        steps=[[{"0": "1", "1": "-1"}, SECOND], [{}, SECOND], [{"0": "1", "1": "-1"}, SECOND]],
    )
    assert refused(document, "negative weight")


# --- models that are none, and claims ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("format", "paramverify-evidence", "format: must be 'paramverify-cone'"),
        ("version", 2, "version: must be 1, not 2"),
        ("version", True, "version: must be 1, not True"),
        ("version", 1.0, "version: must be 1, not 1.0"),
        ("kind", "open", "kind: not known: 'open'"),
        ("rays", None, "rays: must be a list, not None"),
        ("rays", [["1/2", "0"], ["0", "1"]], "not a vector"),
        ("rays", [["1", "0", "0"], ["0", "1", "0"]], "not a vector"),
    ],
)
def test_documents_that_are_none_are_rejected(key: str, value: Any, reason: str) -> None:
    """Other formats, versions and kinds, and what is not of the right shape, are refused."""
    assert accepted(CLOSED)
    assert refused(changed(CLOSED, **{key: value}), reason)


def test_the_status_follows_from_the_kind() -> None:
    """Rays show that a bound holds, a loop that it is violated; a document may say so, and nothing else."""
    for given, status in ((CLOSED, "holds"), (LOOP, "violated")):
        assert check_document(given).status == status
        for said in ("holds", "violated", "unknown"):
            document = {**given, "status": said}
            reason = f"status: a certificate of this kind shows '{status}'"
            assert accepted(document) if said == status else refused(document, reason)


def test_points_are_in_the_domain() -> None:
    """The points of a certificate, also the one of a loop, are in the domain of the model."""
    document = parametric("2", "[0, 1]")
    inside = {"p": "1/2", "q": "0"}
    assert accepted({**document, "points": [inside, {"p": "1", "q": "1"}]})
    for point in ({"p": "2", "q": "0"}, {"p": "1"}, {**inside, "r": "0"}):
        assert refused({**document, "points": [inside, point]}, "points[1]: ")
    assert refused({**LOOP, "point": {"p": "1/2"}}, "a point must give no parameter")
    loop = copy.deepcopy(LOOP)
    loop["model"]["domain"] = document["model"]["domain"]
    assert accepted({**loop, "point": inside})
    assert refused({**loop, "point": {"p": "2", "q": "0"}}, "outside of the domain: p")
    assert refused({**loop, "point": {"p": "1/2"}}, "a point must give p, q")


def test_obligations_are_proved_and_counted() -> None:
    """Claims about the model are proved besides, and count; with the case given, they are exactly its own."""
    document = parametric("p + 3/2", "[-1/2, 1]")
    document["claims"] = [claim(document, "p + 1/2", BERNSTEIN), claim(document, "p + 1", SOLVER)]
    own = [claim(document, "q", BERNSTEIN), claim(document, "1 - q", {**SOLVER, "solver": "y9"})]
    report = check_document({**document, "obligations": own})
    assert (report.accepted, report.proved, report.trusted) == (True, 2, 2)
    assert report.solvers == ("y9 1.2", "z9 1.2")
    assert report.lines[-2:] == (
        "obligation 1 (q >= 0): proved",
        "obligation 2 (1 - q >= 0): trusted to 'y9 1.2'",
    )
    false = claim(document, "q - 1/2", BERNSTEIN)
    assert refused({**document, "obligations": [*own, false]}, "obligation 3 (q - 1/2 >= 0): rejected")
    wanted = [entry["claim"] for entry in own]
    for given, right in (
        (own, True),
        (own[::-1], True),
        (own[:1], False),
        ([*own, document["claims"][0]], False),
    ):
        stated = check_document({**document, "obligations": given}, obligations=wanted)
        assert stated.accepted == right
    assert not check_document(document, obligations=wanted).accepted
    assert check_document(document, obligations=[]).accepted


def test_secrets_and_bounds_are_possible() -> None:
    """A mass that is zero, and a bound whose denominator is zero, are refused."""
    for side in (2, 3):
        document = copy.deepcopy(CLOSED)
        document["model"]["pairs"][0][side]["mass"] = "0"
        assert refused(document, "impossible for every prior")
    assert refused(with_ratio(CLOSED, "3", "0"), "the denominator of the bound is zero")


def test_the_model_must_be_that_of_the_case() -> None:
    """With a model given, a certificate about another one is rejected, in whatever order its keys are."""
    turned = dict(reversed(REMEMBERED.items()))
    assert check_document(CLOSED, REMEMBERED).accepted
    assert check_document(CLOSED, turned).accepted
    for key, value in (("ratio", ["4", "1"]), ("states", 3), ("observations", ["x", "y"]), ("steps", [])):
        report = check_document(CLOSED, {**REMEMBERED, key: value})
        assert report.lines == ("rejected: the certificate is about another model",)


def malformed_models() -> Iterator[tuple[Json, str]]:
    for states in (True, 0, -1, 1.5, "2", None):
        yield {**REMEMBERED, "states": states}, ""
    yield {**REMEMBERED, "states": 0, "steps": [], "pairs": []}, "number of states"
    for place, bad in product(range(3), (2, -1, True, 0.0, "0")):
        step: list[Any] = [0, 0, 0, "0"]
        step[place] = bad
        known = f"model.steps[2][{place}]: must be a whole number, not {bad!r}"
        reason = "unknown state or observation" if type(bad) is int else known
        yield {**REMEMBERED, "steps": [*REMEMBERED["steps"], step]}, reason
    for state, reason in (
        ("2", "a prior with an unknown state"),
        ("-1", "must be the digits of a whole number, not '-1'"),
        ("00", "must be the digits of a whole number, not '00'"),
    ):
        pair = ["left", "other", {"weights": {state: "1"}, "mass": "1"}, start(["1"])]
        yield {**REMEMBERED, "pairs": [*REMEMBERED["pairs"], pair]}, reason
    yield {**REMEMBERED, "ratio": ["3"]}, "model.ratio: must be a list of 2"
    yield {**REMEMBERED, "steps": [*REMEMBERED["steps"], [0, 0, 1, "-1"]]}, "negative weight"


@pytest.mark.parametrize(("given", "reason"), [*malformed_models()])
def test_models_that_are_none_are_rejected(given: Json, reason: str) -> None:
    """Numbers of states, steps and priors out of range, and negative steps, are refused."""
    assert refused({**CLOSED, "model": given}, reason)


def test_the_number_of_states_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many states as the limit are read, one more is refused; one state is enough."""
    monkeypatch.setattr(cone_models, "MAX_STATES", 2)
    assert accepted(CLOSED)
    monkeypatch.setattr(cone_models, "MAX_STATES", 1)
    assert refused(CLOSED, "number of states")
    one = certificate("closed", model([[["1"]]], ["1"], ["1"], "1"), rays=[["1"]], steps=[[FIRST], [FIRST]])
    assert accepted(one)
    one["model"]["states"] = True
    assert refused(one, "model.states: must be a whole number, not True")


SOLVER = {"kind": "solver", "solver": "z9", "version": "1.2"}


def test_claims_with_parameters_have_to_be_proved() -> None:
    """The bound p + 3/2 is at least 1 iff p + 1/2 ≥ 0; that has only positive coefficients, and may fail."""
    false = parametric("p + 3/2", "[-1, 1]")
    assert refused(false, "is not proved")
    assert not accepted(changed(false, claims=[claim(false, "p + 1/2", BERNSTEIN)]))
    true = parametric("p + 3/2", "[-1/2, 1]")
    assert refused(true, "is not proved")
    assert accepted(changed(true, claims=[claim(true, "p + 1/2", BERNSTEIN)]))
    assert accepted(changed(true, claims=[claim(true, "4*p + 2", BERNSTEIN)]))
    more = [claim(true, "0", {"kind": "constant"}), claim(true, "p + 1/2", BERNSTEIN)]
    assert accepted(changed(true, claims=more))
    for other in ("p + 3/4", "2*p + 1/2", "p^2 + p + 1/2", "p + q + 1/2", "1/2", "0"):
        assert refused(changed(true, claims=[claim(true, other, BERNSTEIN)]), "")
    turned = parametric("1/2 - p", "[0, 1]")
    assert refused(changed(turned, claims=[claim(turned, "p + 1/2", BERNSTEIN)]), "is not proved")


def test_claims_are_on_the_domain_of_the_model() -> None:
    """A claim that is proved on a smaller box, or under a constraint more, proves nothing."""
    document = parametric("p + 3/2", "[-1, 1]")
    for change in (
        {"box": {"p": "[0, 1]", "q": "[0, 1]"}},
        {"constraints": [["p", ">="]]},
        {"constant": "1"},
    ):
        entry = claim(document, "p + 1/2", BERNSTEIN)
        entry["claim"] |= change
        assert refused(changed(document, claims=[entry]), "a claim on another domain")


def test_what_is_trusted_is_counted() -> None:
    """The report counts claims by proof and by solver, names solvers once, and says how many were needed."""
    document = parametric("p + 3/2", "[-1/2, 1]")
    document["claims"] = [
        claim(document, "p + 1/2", SOLVER),
        claim(document, "q", BERNSTEIN),
        claim(document, "p + 1", SOLVER),
        claim(document, "q + 1", BERNSTEIN),
        claim(document, "q + 2", BERNSTEIN),
    ]
    lines = ("proved or trusted: 5 claims, from which all 2 that are needed follow", "trusted to 'z9 1.2'")
    assert check_document(document) == KernelReport(True, lines, 3, 2, status="holds", solvers=("z9 1.2",))


def test_the_claim_zero_is_one() -> None:
    """A claim that zero is not negative is proved like others, and needs no other one."""
    true = parametric("p + 3/2", "[-1/2, 1]")
    claims = [claim(true, text, BERNSTEIN) for text in ("0", "p + 1/2")]
    assert accepted(changed(true, claims=claims))


def test_steps_that_come_together_are_not_negative() -> None:
    """Weights of one step are added, and then the sum may be a negative number."""
    for weights, reason in ((("1 - p", "p - 2"), "a negative weight"), (("1 - p", "p"), None)):
        document = parametric("2", "[0, 1]")
        document["model"]["steps"] = [[0, 0, 0, weight] for weight in weights]
        assert accepted(document) if reason is None else refused(document, reason)


def test_steps_with_parameters_are_no_numbers() -> None:
    """Rules for numbers refuse steps with parameters, also those that have a constant part."""
    document = parametric("2", "[-1/2, 1]")
    for weight in ("p", "p + 1", "p*q + 1"):
        document["model"]["steps"] = [[0, 0, 0, weight]]
        assert refused(document, "the steps have parameters")


# --- levels: secrets with states of their own -----------------------------------------------------------


def test_levels_with_states_of_one_side() -> None:
    """One observation has at most the ratio 3/2; what is worse for one direction implies the rest."""
    assert private(APART, [1])
    assert accepted(LEVELS)
    assert accepted(with_ratio(LEVELS, "2"))
    for ratio in ("1", "4/3", "149/100"):
        assert not private(with_ratio(LEVELS, ratio)["model"], [1])
        assert refused(with_ratio(LEVELS, ratio), "is not proved")


def test_two_lengths_need_two_levels() -> None:
    """The bound of the last length is needed too, where several lengths are asked for."""
    squares = [["3", "2"], ["3", "4"], ["9", "4"], ["9", "8"], ["9", "16"]]
    both = level([2, 3, 4])
    document = changed(
        with_ratio(LEVELS, "9/4"),
        lengths=[1, 2],
        vectors=squares,
        runs=[run([], [], [0, 1], level([0, 1]), both)],
    )
    assert private(document["model"], [1, 2])
    assert accepted(document)
    assert not private(with_ratio(document, "2")["model"], [1, 2])
    assert refused(with_ratio(document, "2"), "is not proved")
    assert accepted(with_ratio(changed(document, lengths=[1]), "3/2"))
    assert not accepted(with_ratio(changed(document, lengths=[2]), "2"))
    only = changed(document, lengths=[2])
    assert accepted(only)
    for lengths in ([1, 2], [2]):
        short = changed(with_ratio(document, "2"), lengths=lengths)
        short["runs"][0]["levels"].pop()
        assert refused(short, "a length is missing")
    for missing in (2, 3, 4):
        forged = copy.deepcopy(document)
        forged["runs"][0]["levels"][1]["kept"].remove(missing)
        assert refused(forged, "a vector of length 2 is missing")


def test_vectors_with_zeros_may_not_be_missing() -> None:
    """A vector that is zero in some states only has to be there; the zero vector need not."""
    document = certificate(
        "levels",
        REMEMBERED,
        lengths=[2],
        vectors=[["1", "0"], ["0", "1"]],
        runs=[run([], [], [0, 1], level([0, 1]), level([0, 1]))],
    )
    assert accepted(document)
    for place, kept in product(range(2), ([0], [1], [])):
        forged = copy.deepcopy(document)
        forged["runs"][0]["levels"][place]["kept"] = kept
        assert refused(forged, f"a vector of length {place + 1} is missing")


@pytest.mark.parametrize(
    ("below", "above", "weight"),
    [
        ([0], [1], "1/2"),  # smaller where only a larger combination helps
        ([0], [1], "1"),
        ([0], [], "1/2"),
        ([], [1], "1"),
        ([], [], "1"),
        ([], [], "1/2"),
        ([0], [1], "3/4"),
    ],
)
def test_a_vector_that_is_no_combination_is_not_dropped(
    below: list[int], above: list[int], weight: str
) -> None:
    """The worst vector (3, 2) is not implied by (3, 4), whatever the states of each side."""
    worst = run(below, above, [0], level([1], [0, {"1": weight}]))
    document = changed(with_ratio(LEVELS, "4/3"), runs=[worst, TURNED])
    assert not private(document["model"], [1])
    assert refused(document, "not the combination")


def test_combinations_may_be_exact() -> None:
    """A vector that is a combination is dropped where states are of no side; one next to it is not."""
    for last, right in ((["6", "6"], True), (["6", "7"], False), (["6", "5"], False), (["5", "6"], False)):
        document = changed(
            LEVELS,
            vectors=[*LEVELS["vectors"], last],
            runs=[run([], [], [0, 1], level([0, 1], [2, {"0": "1", "1": "1"}]))],
        )
        assert accepted(document) if right else refused(document, "not the combination")


@pytest.mark.parametrize(("below", "above", "weight"), [([1], [], "1"), ([], [0], "1/2"), ([1], [0], "1")])
def test_states_of_the_other_side_are_found(below: list[int], above: list[int], weight: str) -> None:
    """A state of the right secret is not `below` in the first direction, nor one of the left one `above`."""
    worst = run(below, above, [0], level([1], [0, {"1": weight}]))
    document = changed(with_ratio(LEVELS, "4/3"), runs=[worst, TURNED])
    assert refused(document, "not of one side")
    one, other = ([k for k in (0, 1) if k in side] for side in (below, above))
    turned = run(other, one, [1], level([0], [1, {"0": "1"}]))
    if below and above:
        assert refused(changed(LEVELS, runs=[LEVELS["runs"][0], turned]), "not of one side")


def test_states_are_followed_through_all_steps() -> None:
    """The right secret reaches the left one's state after two steps, so it is not of one side."""
    chain = [["1", "0", "0"], ["0", "0", "1"], ["1", "0", "0"]]
    given = model([chain], ["1", "0", "0"], ["0", "1", "0"], "1")
    for below, above, directions in (([0], [], [0]), ([], [0], [1])):
        document = certificate(
            "levels",
            given,
            lengths=[1],
            vectors=[["1", "1", "1"]],
            runs=[run(below, above, directions, level([0])), run([], [], [0, 1], level([0]))],
        )
        assert refused(document, "not of one side")
    document["runs"].pop(0)
    assert accepted(document)


@pytest.mark.parametrize("lengths", [[], [0], [-1], [True], [1.5], ["1"], [1, 0], [1, 1.5], [0, 1]])
def test_lengths_that_are_none_are_rejected(lengths: list[Any]) -> None:
    """Lengths are positive whole numbers, and there is one."""
    whole = all(type(n) is int for n in lengths)
    reason = "lengths must be positive" if whole else f"lengths[{len(lengths) - 1}]: must be a whole number"
    assert refused(changed(LEVELS, lengths=lengths), reason)


@pytest.mark.parametrize("extra", [["-1", "1"], ["1", "-1"], ["-1", "-1"]])
def test_vectors_are_not_negative(extra: list[str]) -> None:
    """A vector of chances has no negative entry."""
    assert refused(changed(LEVELS, vectors=[*LEVELS["vectors"], extra]), "a negative entry")


def test_both_directions_are_needed() -> None:
    """A certificate of one direction says nothing about the other one."""
    assert refused(changed(LEVELS, runs=LEVELS["runs"][:1]), "a direction is missing")
    assert refused(changed(LEVELS, runs=LEVELS["runs"][1:]), "a direction is missing")
    assert refused(changed(LEVELS, runs=[]), "a direction is missing")
    assert refused(changed(LEVELS, runs=[*LEVELS["runs"], run([], [], [2], level([0, 1]))]), "")


# --- ratios: cones that steps keep ------------------------------------------------------------------------


def test_a_cone_of_ratios_shows_a_bound_for_every_length() -> None:
    """With 2/3 to stay and 3/4 to answer truly ratios stay below 2 + √7; the cone of 5 shows 33/7."""
    for bound, ratio, right in (
        ("5", "5", True),
        ("5", "33/7", True),
        ("5", "47/10", False),  # less than what the cone shows
        ("4", "5", False),  # not kept by the steps
        ("60", "5", False),
        ("14/3", "5", True),
        ("14/3", "14/3", True),
        ("46/10", "5", False),
    ):
        document = ratios(survey("2/3", "3/4", ratio), *cone(bound))
        assert accepted(document) == right, (bound, ratio)
        assert private(document["model"]) or not right


def test_the_cone_contains_one() -> None:
    """A cone without the vector 1 says nothing about sequences; one with it on its border does."""
    blind = model([[["1/2", "0"], ["0", "1/2"]]] * 2, ["1/2", "1/2"], ["1/3", "2/3"], "3/2")
    assert accepted(ratios(blind, ["1", "-1"], ["0", "1"]))
    assert not accepted(ratios(with_ratio({"model": blind}, "4/3")["model"], ["1", "-1"], ["0", "1"]))
    apart = model([[["2/3", "0"], ["0", "1/3"]], [["1/3", "0"], ["0", "2/3"]]], ["1", "0"], ["0", "1"], "2")
    assert not private(apart)
    assert not accepted(ratios(apart, ["1", "-1"], ["0", "1"]))
    sure = model([[["1", "0"], ["0", "1"]]], ["1/2", "1/2"], ["1/3", "2/3"], "1")
    assert private(sure)
    for normals in ((["1", "-2"], ["0", "1"]), (["0", "1"], ["1", "-2"])):
        assert refused(ratios(sure, *normals), "does not contain 1")


def test_steps_of_ratios_may_have_parameters() -> None:
    """Vectors after a step are not negative without a claim; bounds need one for the depth, and no longer."""
    domain = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": []}
    blind = model([[["p", "0"], ["0", "p"]]], ["1/2", "1/2"], ["1/2", "1/2"], "1")
    blind["domain"] = domain
    assert accepted(ratios(blind, ["1", "0"], ["0", "1"]))
    given = model([[["p"]]], ["1"], ["1"], "p + 3/2")
    given["domain"] = domain
    document = ratios(given, ["1"], states=[0])
    assert refused(document, "a claim that is needed is not proved")
    for depth, texts in ((1, ["p^2 + 1/2*p"]), (2, ["p^2 + 1/2*p", "p^3 + 1/2*p^2"])):
        claims = [{"claim": {**domain, "polynomial": text}, "proof": BERNSTEIN} for text in texts]
        assert accepted(changed(document, depth=depth, claims=claims))
        for k in range(depth):
            assert refused(changed(document, depth=depth, claims=claims[:k]), "is not proved")


def test_the_cone_has_no_negative_vectors() -> None:
    """Rays with a negative entry are refused, also if others have none."""
    blind = model([[["1", "0"], ["0", "1"]]], ["1/2", "1/2"], ["1/2", "1/2"], "2")
    assert accepted(ratios(blind, ["1", "0"], ["0", "1"]))
    assert refused(ratios(blind, ["1", "1"], ["0", "1"]), "negative entries")
    assert refused(ratios(blind, ["1", "0"], ["1", "1"]), "negative entries")
    assert refused(ratios(blind, ["1", "0"]), "contains a line")


LEAKING = model(
    [
        [["1/2", "0", "0"], ["0", "9/10", "0"], ["0", "0", "1/10"]],
        [["1/2", "0", "0"], ["0", "1/10", "0"], ["0", "0", "9/10"]],
    ],
    ["1/2", "1/2", "0"],
    ["1/2", "0", "1/2"],
    "2",
)


def test_states_beside_the_cone_are_found() -> None:
    """A cone on a state that tells nothing does not speak for the states that tell the secret."""
    assert not private(LEAKING)
    assert refused(ratios(LEAKING, ["1"], states=[0]), "a state is missing after the steps")
    for states in ([0, 1], [0, 2], [1, 2]):
        assert refused(ratios(LEAKING, ["1", "0"], ["0", "1"], states=states), "a state is missing")
    assert refused(ratios(LEAKING, ["1"], states=[3]), "left by a step")
    leaving = copy.deepcopy(LEAKING)
    leaving["steps"].append([0, 0, 1, "1/10"])
    leaving["pairs"][0][2:] = [start(["1", "0", "0"])] * 2
    assert refused(ratios(leaving, ["1"], states=[0]), "left by a step")
    for states in ([0, 2], [2, 0]):
        assert refused(ratios(leaving, ["1", "0"], ["0", "1"], states=states), "left by a step")


def chain(ratio: str, last: str = "1/2") -> Json:
    """Returns a model with two steps before the states 2 and 3, which tell the secret a bit."""
    none = "0"
    towards = [[none, "1/2", none, none], [none, none, last, str(Fraction(3, 4) - Fraction(last))]]
    stay = [[none, none, "1/2", none], [none, none, none, "1/2"]]
    other = [[none, "1/2", none, none], [none, none, "1/8", "1/8"]]
    return model([towards + stay, other + stay], ["1", "0", "0", "0"], ["0", "1", "0", "0"], ratio)


def test_the_depth_is_counted_in_steps() -> None:
    """The states 2 and 3 are all that is left after two steps, not after one; shorter sequences count too."""
    document = ratios(chain("3/2"), ["1", "0"], ["0", "1"], states=[2, 3], depth=2)
    assert not accepted(document)
    document = ratios(chain("10"), ["1", "0"], ["0", "1"], states=[2, 3], depth=2)
    assert private(document["model"])
    assert accepted(document)
    assert refused(changed(document, depth=1), "a state is missing after the steps")
    for ratio in ("2", "3/2", "11/10"):
        exact = ratios(chain(ratio), *cone("1"), ["1", "0"], ["0", "1"], states=[2, 3], depth=2)
        assert accepted(exact) == private(exact["model"]), ratio


def test_shorter_sequences_than_the_depth_count() -> None:
    """A secret that the first observation alone tells is found, though all longer ones hide it."""
    none = "0"
    first = [[none, none, "9/10"], [none, none, "1/10"], [none, none, "1/2"]]
    second = [[none, none, "1/10"], [none, none, "9/10"], [none, none, "1/2"]]
    for ratio in ("8", "9"):
        given = model([first, second], ["1", "0", "0"], ["0", "1", "0"], ratio)
        for depth in (1, 2, 3):
            assert accepted(ratios(given, ["1"], states=[2], depth=depth)) == private(given)
        for steps in given["steps"][::-1]:
            if steps[0] == 2:  # a mechanism that stops after one observation
                given["steps"].remove(steps)
        for depth in (1, 2, 3):
            assert accepted(ratios(given, ["1"], states=[2], depth=depth)) == private(given)


@pytest.mark.parametrize("depth", [0, -1, 21, True, 1.0, "1", None])
def test_depths_out_of_range_are_rejected(depth: Any) -> None:
    """A depth is a whole number from 1 to 20."""
    blind = model([[["1"]]], ["1"], ["1"], "1")
    assert not check_document(ratios(blind, ["1"], states=[0], depth=depth)).accepted
    for good in (1, 2, 19, 20):
        assert accepted(ratios(blind, ["1"], states=[0], depth=good))


def test_a_state_is_not_named_twice() -> None:
    """The states of a cone are different ones."""
    document = ratios(survey("2/3", "3/4", "5"), *cone("5"), states=[0, 0])
    assert refused(document, "out of range")
    twice = ratios(
        survey("2/3", "3/4", "5"), ["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"], states=[0, 1, 1]
    )
    assert refused(twice, "out of range")


# --- loop: ratios that grow -------------------------------------------------------------------------------


def grows(document: Json, times: int = 6) -> bool:
    """Tells whether the ratio is at least factor · (a/b)^n for n loops, by counting."""
    a, b = map(Fraction, document["rates"])
    sides = (0, 1) if document["secrets"][0] == "left" else (1, 0)
    for n in range(times):
        word = [*document["prefix"], *document["loop"] * n, *document["suffix"]]
        p, q = (chance(document["model"], side, word) for side in sides)
        if not p or (q and p / q < Fraction(document["factor"]) * (a / b) ** n):
            return False
    return a > b


def test_a_loop_with_a_growing_ratio_is_accepted() -> None:
    """The left secret makes `a` 3/5 likely each time, the right one 1/5 in the end; the factor is exact."""
    assert grows(LOOP)
    report = check_document(LOOP)
    assert report == KernelReport(
        True, ("the ratio is at least 1/7 * (3/2)^n after n loops",), 1, status="violated"
    )


def loops() -> Iterator[Json]:
    """Yields documents with other numbers: some prove that the ratio grows, some do not."""
    for rates in (
        ["3", "2"],
        ["3", "1"],
        ["4", "2"],
        ["3", "3"],
        ["2", "2"],
        ["2", "3"],
        ["3", "0"],
        ["5/2", "2"],
    ):
        for x, y in (("4", "4"), ("3", "4"), ("8", "4"), ("4", "3"), ("0", "4"), ("-4", "4"), ("5", "5")):
            for factor in ("1/7", "1/6", "10/69", "1", "0", "-1", "1/8"):
                yield changed(LOOP, rates=rates, bounds={"1": x, "2": y}, factor=factor)


def shown(document: Json) -> bool:
    """Tells whether the numbers show it: the conditions of the rule, for the fixed words of `LOOP`."""
    a, b = map(Fraction, document["rates"])
    x, y = (Fraction(document["bounds"][s]) for s in "12")
    factor = Fraction(document["factor"])
    # After the prefix: left 2 in state 0; right 1/2 in state 1 and 2/2 + 4/2 in state 2. After the loop, `b`
    # has the weights 2, 3 and 4 in the states.
    bound = x / 2 + 3 * y
    keeps = x + y <= b * x and y <= b * y and x >= 3 and y >= 4
    return a <= 3 and a > b > 0 and keeps and 0 < factor <= 4 / bound


@pytest.mark.slow
def test_numbers_of_loops() -> None:
    """Of many rates, bounds and factors exactly those that show a growing ratio are accepted."""
    right = 0
    for document in loops():
        assert accepted(document) == shown(document), document
        if accepted(document):
            assert grows(document)
            right += 1
    assert right > 10


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"bounds": {"1": "4"}}, "a state of the other secret has no bound"),
        ({"bounds": {"2": "4"}}, "a state of the other secret has no bound"),
        ({"bounds": {}}, "a state of the other secret has no bound"),
        ({"loop": []}, "no loop"),
        ({"loop": [2]}, "an unknown observation"),
        ({"loop": [-1]}, "an unknown observation"),
        ({"prefix": [2]}, "an unknown observation"),
        ({"prefix": [True]}, "prefix[0]: must be a whole number, not True"),
        ({"suffix": [-1]}, "an unknown observation"),
        ({"suffix": [1, 1.0]}, "suffix[1]: must be a whole number, not 1.0"),
        ({"state": 1}, "less likely"),
        ({"state": 5}, "malformed"),
        ({"secrets": ["right", "left"]}, ""),
        ({"secrets": ["left", "left"]}, "no such secret pair"),
        ({"secrets": ["left", "third"]}, "no such secret pair"),
        ({"rates": ["3", "0"]}, "a bound does not hold"),
        ({"rates": ["2", "2"]}, "the ratio is not shown to grow"),
        ({"factor": "0"}, "the ratio is not shown to grow"),
    ],
)
def test_forged_loops_are_rejected(change: Json, reason: str) -> None:
    """Bounds that are missing, words and states that are none, and other secrets are found out."""
    assert refused(changed(LOOP, **change), reason)


def test_rates_may_be_small_but_not_zero() -> None:
    """A loop that the right secret never makes has no rate; a rate of at most 1 is one."""
    document = changed(LOOP, prefix=[], rates=["3", "1"], bounds={"2": "4"}, factor="1/2")
    document["model"]["pairs"][0][3] = start(["0", "0", "1"])
    assert grows(document)
    assert accepted(document)
    assert accepted({**document, "suffix": [], "bounds": {"2": "1"}, "factor": "1"})
    assert accepted({**document, "suffix": [], "bounds": {"2": "1"}, "factor": "1/100"})
    assert not accepted({**document, "suffix": [], "bounds": {"2": "1"}, "factor": "101/100"})
    silent = copy.deepcopy(document)
    silent["model"]["steps"].remove([2, 0, 2, "1/5"])
    assert accepted(silent)
    assert refused({**silent, "rates": ["3", "0"]}, "not shown to grow")
    without = copy.deepcopy(document)
    without["model"]["steps"].remove([0, 0, 0, "3/5"])
    for rates in (["1", "1/2"], ["1", "1"], ["3", "1"]):
        assert refused({**without, "rates": rates}, "less likely")


def test_states_that_loops_lead_to_have_bounds() -> None:
    """The right secret starts in one state, and a loop leads to another one, which needs a bound too."""
    document = changed(LOOP, prefix=[])
    document["model"]["pairs"][0][3] = start(["0", "1", "0"])
    assert accepted({**document, "factor": "1/2"})
    assert refused({**document, "bounds": {"1": "4"}}, "a state that loops lead to has no bound")


def test_the_loop_of_the_other_secret_counts_for_it() -> None:
    """With the priors exchanged, the same loop is one of the second secret."""
    document = copy.deepcopy(LOOP)
    document["model"]["pairs"][0][2:] = reversed(document["model"]["pairs"][0][2:])
    assert not accepted(document)
    turned = {**document, "secrets": ["right", "left"]}
    assert grows(turned)
    assert accepted(turned)


def test_a_loop_that_left_does_not_reach_shows_nothing() -> None:
    """The state must have a weight after the prefix, and the suffix a chance from it."""
    document = changed(LOOP, prefix=[])
    document["model"]["pairs"][0][2] = start(["0", "1", "0"])
    assert refused(document, "not shown to grow")
    silent = copy.deepcopy(LOOP)
    silent["model"]["steps"] = [step for step in silent["model"]["steps"] if step[:2] != [0, 1]]
    assert refused({**silent, "prefix": []}, "not shown to grow")
    empty = copy.deepcopy(LOOP)
    empty["model"]["pairs"][0][3]["weights"] = {}
    assert refused(empty, "not shown to grow")


@pytest.mark.parametrize("side", [2, 3])
def test_priors_of_loops_are_numbers(side: int) -> None:
    """A prior with parameters, an impossible secret, and a negative weight are refused."""
    for change, reason in (
        ({"mass": "0"}, "impossible"),
        ({"mass": "-2"}, "negative weight"),
        ({"mass": "p + 2"}, "has parameters"),
        ({"weights": {"1": "p + 1"}}, "has parameters"),
        ({"weights": {"1": "1", "2": "p"}}, "has parameters"),
        ({"weights": {"0": "3", "1": "-1"}}, "negative weight"),
    ):
        document = copy.deepcopy(LOOP)
        document["model"]["domain"] = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": []}
        document["point"] = {"p": "1/2"}
        assert accepted(document)
        document["model"]["pairs"][0][side] |= change
        assert refused(document, reason), change


def test_a_prior_may_be_certain() -> None:
    """Weights that are zero do not count as states of a secret."""
    document = copy.deepcopy(LOOP)
    document["model"]["pairs"][0][3]["weights"]["0"] = "0"
    assert accepted(document)
