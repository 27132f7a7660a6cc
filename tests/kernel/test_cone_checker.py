"""The checker of certificates about all sequences: forged ones, against the probabilities of sequences."""

import copy
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from cone_documents import (
    APART,
    BERNSTEIN,
    CLOSED,
    FIRST,
    LEVELS,
    LOOP,
    NO_PARAMETERS,
    REMEMBERED,
    SECOND,
    TURNED,
    Json,
    certificate,
    chance,
    comparing,
    cone,
    level,
    model,
    model_of,
    parametric,
    private,
    ratios,
    run,
    start,
    survey,
    with_model,
    with_ratio,
)
from three_checkers import asked_later
from written_evidence import with_first

from paramverify.algebra import cones
from paramverify.kernel import cone_evidence
from paramverify.kernel.cone_evidence import extreme_rays
from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import Demanded, KernelReport
from paramverify.kernel.strict_reading import Rejected

checked, compared_with_the_proved_checker = asked_later()


def accepted(document: Json) -> bool:
    """Tells whether the checker accepts a document, whose report then has no line of a rejection."""
    report = checked(document)
    assert report.accepted == (not report.lines[0].startswith("rejected: "))
    return report.accepted


def refused(document: Json, reason: str) -> bool:
    """Tells whether the checker rejects a document for this reason."""
    report = checked(document)
    return not report.accepted and reason in report.lines[0]


# --- closed: an answer that is remembered ------------------------------------------------------------


def test_closed_rays_show_exactly_the_bounds_that_hold() -> None:
    """An answer that is given every day has the ratio 3: bounds from 3 on are accepted, no smaller ones."""
    for top, bottom in (("3", "1"), ("4", "1"), ("7", "2"), ("6", "2")):
        document = with_ratio(CLOSED, top, bottom)
        assert private(model_of(document))
        report = checked(document)
        assert report == KernelReport(
            True, ("proved: 0 claims, from which all 4 that are needed follow",), 0, 0, status="holds"
        )
    for top, bottom in (("2", "1"), ("299", "100"), ("1", "1"), ("0", "1")):
        document = with_ratio(CLOSED, top, bottom)
        assert not private(model_of(document))
        assert refused(document, "a required claim is not proved")


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
        model_of(document)["pairs"][0][2:] = [start(left, masses[0]), start(right, masses[1])]
        assert private(model_of(document)) == accepted(document) == holds


def test_a_step_that_leaves_the_rays_is_rejected() -> None:
    """The ray (1, 1) alone would show every bound; T·1 is no multiple of it."""
    document = with_first(
        with_ratio(CLOSED, "2"), rays=[["1", "1"]], steps=[[{"0": "1"}] * 2, [{"0": "1"}] * 2]
    )
    assert not private(model_of(document))
    assert refused(document, "a step leaves the cone")
    for row, place in product(range(3), range(2)):
        for weights in ({}, {"0": "1"}, {"1": "1"}, {"0": "2"}, {"0": "1", "1": "1"}):
            forged = copy.deepcopy(CLOSED)
            steps = forged["statements"][0]["steps"]
            if steps[row][place] != weights:
                steps[row][place] = weights
                assert refused(forged, "a step leaves the cone")


def test_combinations_have_no_negative_weights() -> None:
    """(1, 0) = (1, 1) − (0, 1) is no conic combination, though it sums up; a weight may be 0."""
    steps = [[{"0": "0", "1": "0", **each} for each in row] for row in STEPS]
    assert accepted(with_first(CLOSED, steps=steps))
    document = with_first(
        CLOSED,
        rays=[["1", "1"], ["0", "1"]],
        steps=[[{"0": "1", "1": "-1"}, SECOND], [{}, SECOND], [{"0": "1", "1": "-1"}, SECOND]],
    )
    assert refused(document, "negative weight")


# --- models that are none, and claims ------------------------------------------------------------------


def test_secrets_and_bounds_are_possible() -> None:
    """A mass that is zero, and a bound whose denominator is zero, are refused."""
    for side in (2, 3):
        document = copy.deepcopy(CLOSED)
        model_of(document)["pairs"][0][side]["mass"] = "0"
        assert refused(document, "impossible for every prior")
    assert refused(with_ratio(CLOSED, "3", "0"), "the denominator of the bound is zero")


def test_the_model_must_be_that_of_the_case() -> None:
    """With a model given, a certificate about another one is rejected, in whatever order its keys are."""
    turned = dict(reversed(REMEMBERED.items()))
    for wanted in (REMEMBERED, turned):
        assert check_document(CLOSED, Demanded(engine={"domain": NO_PARAMETERS, "model": wanted})).accepted
    for key, value in (("ratio", ["4", "1"]), ("states", 3), ("observations", ["x", "y"]), ("steps", [])):
        report = check_document(CLOSED, Demanded(engine={"model": {**REMEMBERED, key: value}}))
        assert report.lines == ("rejected: the evidence has another model than the case",)
    other = {**NO_PARAMETERS, "variables": ["p"], "box": {"p": "[0, 1]"}}
    report = check_document(CLOSED, Demanded(engine={"domain": other, "model": REMEMBERED}))
    assert report.lines == ("rejected: the evidence has another domain than the case",)


def test_the_number_of_states_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many states as the limit are read, one more is refused; one state is enough."""
    monkeypatch.setattr(cone_evidence, "MAX_STATES", 2)
    assert accepted(CLOSED)
    monkeypatch.setattr(cone_evidence, "MAX_STATES", 1)
    assert refused(CLOSED, "number of states")
    one = certificate("closed", model([[["1"]]], ["1"], ["1"], "1"), rays=[["1"]], steps=[[FIRST], [FIRST]])
    assert accepted(one)
    one = with_model(one, states=True)
    assert refused(one, "rejected: statements[0].model.states: must be a whole number, not True")


def test_claims_with_parameters_have_to_be_proved() -> None:
    """The bound p + 3/2 is at least 1 iff p + 1/2 ≥ 0; that has only positive coefficients, and may fail."""
    shown = ("p + 1/2", BERNSTEIN)
    false = parametric("p + 3/2", "[-1, 1]")
    assert refused(false, "is not proved")
    assert not accepted(comparing(false, shown))
    true = parametric("p + 3/2", "[-1/2, 1]")
    assert refused(true, "is not proved")
    assert accepted(comparing(true, shown))
    assert accepted(comparing(true, ("4*p + 2", BERNSTEIN)))
    assert accepted(comparing(true, ("0", {"kind": "constant"}), shown))
    for other in ("p + 3/4", "2*p + 1/2", "p^2 + p + 1/2", "p + q + 1/2", "1/2", "0"):
        assert refused(comparing(true, (other, BERNSTEIN)), "")
    turned = parametric("1/2 - p", "[0, 1]")
    assert refused(comparing(turned, shown), "is not proved")


def test_comparisons_are_needed_and_different() -> None:
    """One that is there twice is refused; a loop has none."""
    shown = ("p + 1/2", BERNSTEIN)
    twice = comparing(parametric("p + 3/2", "[-1/2, 1]"), shown, shown)
    assert refused(twice, "rejected: statements[2]: this comparison is listed twice")
    assert refused(comparing(LOOP, ("0", {"kind": "constant"})), "a loop needs no comparisons")


def test_a_certificate_says_what_its_rule_shows() -> None:
    """A loop violates every bound, and other rules prove one; none is about a divergence."""
    other = {**CLOSED, "budget": {"kind": "kl", "enough": "1", "witnesses": []}}
    assert refused(other, "rejected: budget: this does not belong to a document about cone")
    for document in (CLOSED, LEVELS, LOOP):
        for status in {"holds", "violated", "unknown"} - {document["status"]}:
            shows = f"rejected: status: a certificate of this kind can only show {document['status']!r}"
            assert checked({**document, "status": status}).lines == (shows,)


def test_claims_are_on_the_domain_of_the_model() -> None:
    """A claim that is proved on a smaller box, or under a constraint more, proves nothing."""
    document = comparing(parametric("p + 3/2", "[-1, 1]"), ("p + 1/2", BERNSTEIN))
    (own,) = document["domains"]
    for change in (
        {"box": {"p": "[0, 1]", "q": "[0, 1]"}},
        {"constraints": [["p", ">="]]},
        {"variables": [*own["variables"], "E"], "constant": "1"},
    ):
        elsewhere = copy.deepcopy(document)
        elsewhere["domains"].append({**own, **change})
        elsewhere["statements"][1]["domain"] = 1
        assert refused(elsewhere, "statements[1].domain: a comparison has another domain")


def test_every_number_of_a_model_has_a_sign() -> None:
    """That one may be negative is said of the model, and one that is negative is refused."""
    names = tuple("abcdefgh")
    starts = [{"weights": {"0": weight}, "mass": mass} for weight, mass in ("ab", "cd")]
    given = {"states": 1, "observations": ["x", "y"], "steps": [[0, 0, 0, "e"], [0, 1, 0, "f"]]}
    found = cone_evidence.read_model({**given, "pairs": [["l", "r", *starts]], "ratio": ["g", "h"]}, names)
    for name, sign in product((None, *names), (-1, 0, 1)):
        odd = name and cone_evidence.read_weight(name, names)
        signs: Any = SimpleNamespace(of=lambda poly, odd=odd, sign=sign: sign if poly == odd else 1)
        if name and sign < 0:
            with pytest.raises(Rejected, match="a weight, a mass or a side of the bound is negative"):
                cone_evidence.check_signs(signs, found)
        else:
            assert cone_evidence.check_signs(signs, found) == (not name or sign > 0)


def test_steps_that_come_together_are_not_negative() -> None:
    """Weights of one step are added, and then the sum may be a negative number."""
    for weights, reason in ((("1 - p", "p - 2"), "a negative weight"), (("1 - p", "p"), None)):
        document = parametric("2", "[0, 1]")
        document = with_model(document, steps=[[0, 0, 0, weight] for weight in weights])
        assert accepted(document) if reason is None else refused(document, reason)


# --- levels: secrets with states of their own -----------------------------------------------------------


def test_levels_with_states_of_one_side() -> None:
    """One observation has at most the ratio 3/2; what is worse for one direction implies the rest."""
    assert private(APART, [1])
    assert accepted(LEVELS)
    assert accepted(with_ratio(LEVELS, "2"))
    for ratio in ("1", "4/3", "149/100"):
        assert not private(model_of(with_ratio(LEVELS, ratio)), [1])
        assert refused(with_ratio(LEVELS, ratio), "is not proved")


def test_two_lengths_need_two_levels() -> None:
    """The bound of the last length is needed too, where several lengths are asked for."""
    squares = [["3", "2"], ["3", "4"], ["9", "4"], ["9", "8"], ["9", "16"]]
    both = level([2, 3, 4])
    document = with_first(
        with_ratio(LEVELS, "9/4"),
        lengths=[1, 2],
        vectors=squares,
        runs=[run([], [], [0, 1], level([0, 1]), both)],
    )
    assert private(model_of(document), [1, 2])
    assert accepted(document)
    assert not private(model_of(with_ratio(document, "2")), [1, 2])
    assert refused(with_ratio(document, "2"), "is not proved")
    assert accepted(with_ratio(with_first(document, lengths=[1]), "3/2"))
    assert not accepted(with_ratio(with_first(document, lengths=[2]), "2"))
    only = with_first(document, lengths=[2])
    assert accepted(only)
    for lengths in ([1, 2], [2]):
        short = copy.deepcopy(with_first(with_ratio(document, "2"), lengths=lengths))
        short["statements"][0]["runs"][0]["levels"].pop()
        assert refused(short, "a length is missing")
    for missing in (2, 3, 4):
        forged = copy.deepcopy(document)
        forged["statements"][0]["runs"][0]["levels"][1]["kept"].remove(missing)
        assert refused(forged, "a vector of length 2 is missing")


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
    document = with_first(with_ratio(LEVELS, "4/3"), runs=[worst, TURNED])
    assert not private(model_of(document), [1])
    assert refused(document, "a vector differs from the combination")


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
    document["statements"][0]["runs"].pop(0)
    assert accepted(document)


def test_both_directions_are_needed() -> None:
    """A certificate of one direction says nothing about the other one."""
    runs = LEVELS["statements"][0]["runs"]
    for some in (runs[:1], runs[1:], []):
        assert refused(with_first(LEVELS, runs=some), "a direction is missing")
    assert refused(with_first(LEVELS, runs=[*runs, run([], [], [2], level([0, 1]))]), "")


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
        assert private(model_of(document)) or not right


def test_the_cone_contains_one() -> None:
    """A cone without the vector 1 says nothing about sequences; one with it on its border does."""
    blind = model([[["1/2", "0"], ["0", "1/2"]]] * 2, ["1/2", "1/2"], ["1/3", "2/3"], "3/2")
    assert accepted(ratios(blind, ["1", "-1"], ["0", "1"]))
    assert not accepted(ratios({**blind, "ratio": ["4/3", "1"]}, ["1", "-1"], ["0", "1"]))
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
    assert accepted(ratios(blind, ["1", "0"], ["0", "1"], domain=domain))
    given = model([[["p"]]], ["1"], ["1"], "p + 3/2")
    document = ratios(given, ["1"], domain=domain, states=[0])
    assert refused(document, "a required claim is not proved")
    for depth, texts in ((1, ["p^2 + 1/2*p"]), (2, ["p^2 + 1/2*p", "p^3 + 1/2*p^2"])):
        shown, deep = [(text, BERNSTEIN) for text in texts], with_first(document, depth=depth)
        assert accepted(comparing(deep, *shown))
        for k in range(depth):
            assert refused(comparing(deep, *shown[:k]), "is not proved")


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
    assert private(model_of(document))
    assert accepted(document)
    assert refused(with_first(document, depth=1), "a state is missing after the steps")
    assert accepted(with_first(HIDING, depth=20))
    for ratio in ("2", "3/2", "11/10"):
        exact = ratios(chain(ratio), *cone("1"), ["1", "0"], ["0", "1"], states=[2, 3], depth=2)
        assert accepted(exact) == private(model_of(exact)), ratio


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


def test_rays_of_cones() -> None:
    """The rays of a cone are its generators that no others combine; normals may be there twice, or depend."""
    random = Random(0)
    found = 0
    for size, _ in product((1, 2, 3, 4), range(60)):
        normals = [[random.randint(-2, 2) for _ in range(size)] for _ in range(size + random.randrange(3))]
        normals += random.choices([*normals, [0] * size], k=2)
        try:
            rays = cones.extreme_rays(normals, size)
            expected = {tuple(Fraction(x, max(map(abs, ray))) for x in ray) for ray in rays}
        except ValueError:
            expected = set()
        if not expected:  # it contains a line, or 0 alone
            with pytest.raises(Rejected, match="contains a line"):
                extreme_rays(normals, size)
            continue
        assert set(extreme_rays(normals, size)) == expected, normals
        found += 1
    assert found > 60
    e = [[int(k == n) for n in range(6)] for k in range(6)]
    assert len(extreme_rays([v[:5] for v in e[:5]], 5)) == 5
    assert (extreme_rays([[1]] * 40, 1), extreme_rays([], 0)) == ([(1,)], [])
    for normals, size in ((e, 6), ([[1]] * 41, 1)):
        with pytest.raises(Rejected, match="too large"):
            extreme_rays(normals, size)


def test_vectors_of_levels() -> None:
    """Vectors are kept in lowest terms; an answer that never comes has none, and no other one is missing."""
    assert cone_evidence.moved([[(0, 2), (1, 4)], [(0, 6)]], (1, 1)) == (1, 1)
    assert cone_evidence.moved([[(0, 2), (1, 4)], [(1, 9)]], (2, 3)) == (16, 27)
    assert cone_evidence.moved([[(0, 2)], []], (0, 3)) == (0, 0)
    silent = with_model(LEVELS, observations=[*model_of(LEVELS)["observations"], "never"])
    assert accepted(silent)
    (own,) = silent["statements"]
    first, *more = own["runs"][0]["levels"]
    for k in range(len(first["kept"])):
        less = {**first, "kept": [*first["kept"][:k], *first["kept"][k + 1 :]], "dropped": []}
        runs = [{**own["runs"][0], "levels": [less, *more]}, *own["runs"][1:]]
        assert refused(with_first(silent, runs=runs), "a vector of length 1 is missing")


# --- loop: ratios that grow -------------------------------------------------------------------------------


def grows(document: Json, times: int = 6) -> bool:
    """Tells whether the ratio is at least factor · (a/b)^n for n loops, by counting."""
    (own,) = document["statements"]
    a, b = map(Fraction, own["rates"])
    sides = (0, 1) if own["secrets"][0] == "left" else (1, 0)
    for n in range(times):
        word = [*own["prefix"], *own["loop"] * n, *own["suffix"]]
        p, q = (chance(own["model"], side, word) for side in sides)
        if not p or (q and p / q < Fraction(own["factor"]) * (a / b) ** n):
            return False
    return a > b


def test_a_loop_with_a_growing_ratio_is_accepted() -> None:
    """The left secret makes `a` 3/5 likely each time, the right one 1/5 in the end; the factor is exact."""
    assert grows(LOOP)
    report = checked(LOOP)
    assert report == KernelReport(
        True, ("the ratio is at least 1/7 * (3/2)^n after n loops",), 1, status="violated"
    )


def loops() -> Iterator[Json]:
    """Yields documents with other numbers: some prove that the ratio grows, some do not."""
    for rates in (["3", "2"], ["3", "1"], ["4", "2"], ["2", "2"], ["2", "3"], ["3", "0"], ["5/2", "2"]):
        for x, y in (("4", "4"), ("3", "4"), ("8", "4"), ("4", "3"), ("-4", "4")):
            for factor in ("1/7", "1/6", "10/69", "0"):
                yield with_first(LOOP, rates=rates, bounds={"1": x, "2": y}, factor=factor)


def shown(document: Json) -> bool:
    """Tells whether the numbers show it: the conditions of the rule, for the fixed words of `LOOP`."""
    (own,) = document["statements"]
    a, b = map(Fraction, own["rates"])
    x, y = (Fraction(own["bounds"][s]) for s in "12")
    factor = Fraction(own["factor"])
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


def test_the_loop_of_the_other_secret_counts_for_it() -> None:
    """With the priors exchanged, the same loop is one of the second secret."""
    document = copy.deepcopy(LOOP)
    model_of(document)["pairs"][0][2:] = reversed(model_of(document)["pairs"][0][2:])
    assert not accepted(document)
    turned = with_first(document, secrets=["right", "left"])
    assert grows(turned)
    assert accepted(turned)


def test_a_loop_that_left_does_not_reach_shows_nothing() -> None:
    """The state must have a weight after the prefix, and the suffix a chance from it."""
    document = copy.deepcopy(with_first(LOOP, prefix=[]))
    model_of(document)["pairs"][0][2] = start(["0", "1", "0"])
    assert refused(document, "not shown to grow")
    silent = with_model(LOOP, steps=[step for step in model_of(LOOP)["steps"] if step[:2] != [0, 1]])
    assert refused(with_first(silent, prefix=[]), "not shown to grow")
    left = with_model(LOOP, steps=[step for step in model_of(LOOP)["steps"] if step[:3] != [0, 0, 0]])
    for rate in ("1", "1/2"):
        assert refused(with_first(left, rates=[rate, "1/4"]), "the loop is less likely than it is said to be")
    empty = copy.deepcopy(LOOP)
    model_of(empty)["pairs"][0][3]["weights"] = {}
    assert refused(empty, "not shown to grow")


def test_the_point_of_a_loop_is_in_the_domain() -> None:
    """Numbers of the loop are those at this point, so it has to be one of the case."""
    domain = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": []}
    for point, right in (({"p": "1/2"}, True), ({"p": "2"}, False), ({}, False), ({"q": "0"}, False)):
        assert accepted({**with_first(LOOP, point=point), "domains": [domain]}) == right


def test_no_variable_stands_for_a_logarithm() -> None:
    """Weights with such a variable are no polynomials of the parameters."""
    tied = {"variables": ["x", "e"], "box": {"x": "[1/2, 1]"}, "constraints": [], "ties": {"e": ["x", "1"]}}
    assert refused({**CLOSED, "domains": [tied]}, "rejected: domains[0]: a variable stands for a logarithm")


# --- parts out of range -------------------------------------------------------------------------------

MORE, PAIR = REMEMBERED["steps"], REMEMBERED["pairs"][0][2:]
STEPS, VECTORS = CLOSED["statements"][0]["steps"], LEVELS["statements"][0]["vectors"]
UNKNOWN_STATE = ["left", "other", {"weights": {"2": "1"}, "mass": "1"}, start(["1"])]
HIDING = ratios(model([[["1"]]], ["1"], ["1"], "1"), ["1"], states=[0])
ONLY, ALONE = parametric("2", "[0, 1]"), copy.deepcopy(model_of(LOOP))
ALONE["pairs"][0][3]["weights"] = {"1": "1"}  # the state 1 leads to 2
DYING = {**model_of(LOOP), "steps": [step for step in model_of(LOOP)["steps"] if step[1] or not step[0]]}
OUT_OF_RANGE: list[tuple[Json, Json, str]] = [
    (CLOSED, {"model": {**REMEMBERED, "states": 0, "steps": [], "pairs": []}}, "number of states"),
    *(
        (CLOSED, {"model": {**REMEMBERED, "steps": [*MORE, [*step, "0"]]}}, "unknown state or observation")
        for step in ((2, 0, 0), (0, 2, 0), (0, 0, 2), (-1, 0, 0), (0, -1, 0), (0, 0, -1))
    ),
    (CLOSED, {"model": {**REMEMBERED, "steps": [*MORE, [0, 0, 1, "-1"]]}}, "negative weight"),
    *(
        (
            CLOSED,
            {"model": {**REMEMBERED, "pairs": [[*names, *PAIR] for names in pairs]}},
            "a pair is listed twice, or both its secrets are the same",
        )
        for pairs in (["aa"], ["ab", "ab"], ["ab", "ba"], ["bc", "ab", "cb"])
    ),
    (CLOSED, {"model": {**REMEMBERED, "pairs": [UNKNOWN_STATE]}}, "a prior with an unknown state"),
    *(
        (ONLY, {"model": {**model_of(ONLY), "steps": [[0, 0, 0, step]]}}, "the steps have parameters")
        for step in ("p", "p + 1")
    ),
    (CLOSED, {"rays": [["1/2", "0"], ["0", "1"]]}, "not a vector"),
    (CLOSED, {"rays": [["1", "0", "0"], ["0", "1", "0"]]}, "not a vector"),
    (CLOSED, {"steps": STEPS[:2]}, "a step is missing"),
    (CLOSED, {"steps": [*STEPS, [{}, {}]]}, "a step is missing"),
    *((LEVELS, {"lengths": n}, "lengths must be positive") for n in ([], [0], [-1], [1, 0], [0, 1])),
    *((LEVELS, {"vectors": [*VECTORS, v]}, "a negative entry") for v in (["-1", "1"], ["1", "-1"])),
    *((HIDING, {"depth": depth}, "") for depth in (0, -1, 21)),
    (HIDING, {"states": [0, 0]}, ""),
    *(
        (LOOP, {"bounds": b}, "a state of the other secret has no bound")
        for b in ({"1": "4"}, {"2": "4"}, {})
    ),
    *(
        (LOOP, {"loop": loop}, reason)
        for loop, reason in (([], "no loop"), ([2], "unknown"), ([-1], "unknown"))
    ),
    *((LOOP, {key: [k]}, "an unknown observation") for key in ("prefix", "suffix") for k in (2, -1)),
    (LOOP, {"prefix": [], "bounds": {"1": "4"}, "model": ALONE}, "a state that loops lead to has no bound"),
    (LOOP, {"bounds": {"1": "2", "2": "2"}}, "a bound does not hold"),
    (LOOP, {"state": 1}, "less likely"),
    (LOOP, {"state": 5}, "malformed"),
    (LOOP, {"secrets": ["left", "left"]}, "no such secret pair"),
    (LOOP, {"secrets": ["right", "left"]}, ""),
    (LOOP, {"rates": ["3", "0"]}, "a bound does not hold"),
    (LOOP, {"rates": ["2", "2"]}, "the ratio is not shown to grow"),
    (LOOP, {"rates": ["3", "0"], "model": DYING}, "the ratio is not shown to grow"),
    (LOOP, {"factor": "29/100"}, "the ratio is not shown to grow"),  # it is at least 2/7
]


@pytest.mark.parametrize(("given", "change", "reason"), OUT_OF_RANGE)
def test_parts_out_of_range(given: Json, change: Json, reason: str) -> None:
    """Numbers of states, observations, steps, lengths and depths that there are not, and bounds that fail."""
    assert accepted(given)
    assert refused(with_first(given, **change), reason)


@pytest.mark.parametrize("side", [2, 3])
def test_priors_of_loops_are_numbers(side: int) -> None:
    """A prior with parameters, an impossible secret, and a negative weight are refused."""
    for change, reason in (
        ({"mass": "0"}, "impossible"),
        ({"mass": "-2"}, "negative weight"),
        ({"mass": "p + 2"}, "has parameters"),
        ({"weights": {"1": "p + 1"}}, "has parameters"),
        ({"weights": {"0": "3", "1": "-1"}}, "negative weight"),
    ):
        document = copy.deepcopy(with_first(LOOP, point={"p": "1/2"}))
        document["domains"] = [{"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": []}]
        model_of(document)["pairs"][0][side] |= change
        assert refused(document, reason), change
