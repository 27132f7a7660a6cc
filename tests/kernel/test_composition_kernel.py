"""The kernel of compositions by itself: what is exact, what was asked, and what a document does not show."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

import mpmath
import pytest
from engine_documents import engine_document, own, with_own

from paramverify.kernel import composition_evidence, release_losses
from paramverify.kernel.composition_evidence import ComposedDirection, bounds_of, dominates, epsilon_of
from paramverify.kernel.documents import check_document, check_text
from paramverify.kernel.ledger import KernelReport
from paramverify.kernel.release_losses import ExactLoss, LossAtom, ReleaseLosses, read
from paramverify.kernel.rounded_constants import UNIT
from paramverify.kernel.strict_reading import Rejected

Release = dict[str, Any]


def table(*outputs: tuple[str, str]) -> Release:
    """A release with a list of masses."""
    return {"kind": "table", "outputs": [list(each) for each in outputs]}


FAR = table(("9/10", "1/10"), ("1/10", "9/10"))
NEAR = table(("1/2", "1/2"), ("1/2", "1/2"))
RESPONSE = {"kind": "randomized_response", "step": ["0", "9"], "values": "2"}  # the same as FAR


def way(dominating: Release, *pairs: Release) -> dict[str, Any]:
    """One direction of neighbours of a release."""
    return {"dominating": dominating, "pairs": list(pairs)}


def document(
    dominating: Release,
    pairs: list[Release],
    question: dict[str, Any],
    *others: dict[str, Any],
    times: int = 1,
    directions: list[dict[str, Any]] | None = None,
    **found: Any,
) -> dict[str, Any]:
    """Evidence about one release, and about the other direction of its neighbours, if there is one."""
    ways = [way(dominating, *pairs), *others]
    parts = {
        "components": [{"times": times, "ways": ways}],
        "question": question,
        "directions": directions or [{"grid": None, "spans": [], "choice": [0]}] * len(ways),
        **{"exact": None, "lower": None, "upper": None, **found},
    }
    return engine_document("composition", "bounds", **parts)


def replayed(*given: Any, **found: Any) -> KernelReport:
    """What the kernel says of one release."""
    return check_document(document(*given, **found))


ONE = {"epsilon": ["0", "1"]}
ASKED: list[tuple[dict[str, Any], dict[str, str]]] = [
    (ONE, {"exact": "4/5"}),
    ({"delta": "0"}, {"exact": "9"}),
    ({"delta": "1/10"}, {"exact": "8"}),
    ({"delta": "3/4"}, {"exact": "3/2"}),
    ({"delta": "4/5"}, {"exact": "1"}),
    ({"delta": "1"}, {"exact": "1"}),
    ({"delta": "0"}, {"lower": "2", "upper": "3"}),
    (ONE, {"lower": "4/5", "upper": "4/5"}),
]


@pytest.mark.parametrize(("question", "found"), ASKED)
@pytest.mark.parametrize("pairs", [[NEAR], [NEAR, FAR], [NEAR, NEAR]])
def test_what_dominates_says_nothing_exact_of_others(
    pairs: list[Release], question: dict[str, Any], found: dict[str, str]
) -> None:
    """Numbers of the dominating pair are exact where it is the only one, and bound none of another."""
    assert replayed(FAR, [], question, **found).accepted
    assert replayed(FAR, [FAR], question, **found).accepted
    assert not replayed(FAR, pairs, question, **found).accepted


def test_what_was_asked_is_told() -> None:
    """A number says nothing without the ε or the δ that it is about."""
    told = replayed(FAR, [], ONE, exact="4/5").lines
    assert told[0] == "component 1: a table of 2 outputs, for 1 pair, 1 time"
    assert told[1] == "asked: the least delta for epsilon = 0"
    told = replayed(FAR, [], {"epsilon": ["0", "2"]}, exact="7/10").lines
    assert told[1] == "asked: the least delta for epsilon = ln(2)"
    told = replayed(FAR, [], {"delta": "1/10"}, exact="8").lines
    assert told[1] == "asked: the least epsilon for delta = 1/10"


def test_tables_need_a_case() -> None:
    """A table without the name of its case is as little shown as one with it; noise stands for itself."""
    assert (
        check_text(json.dumps(document(FAR, [], ONE, exact="4/5"))).not_compared == composition_evidence.LEFT
    )
    assert replayed(RESPONSE, [], ONE, exact="4/5").not_compared == ()


EVERY = document(RESPONSE, [], ONE, exact="4/5")


def test_many_releases_are_exact_on_a_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 answers the least delta is the sum over how many are true; listed, they are 40 * 41 products."""
    n = 40
    chances = [Fraction(comb(n, k) * 9**k, 10**n) for k in range(n + 1)]
    exact = sum((max(p - q, Fraction(0)) for p, q in zip(chances, chances[::-1], strict=True)), Fraction(0))
    component = own(EVERY)["components"][0] | {"times": n}
    for most, step in product((n * (n + 1) - 1, n * (n + 1)), ("9", "3", "27", None)):
        monkeypatch.setattr(composition_evidence, "MOST_PRODUCTS", most)
        grid = step and {"step": ["0", step], "bits": 64, "tail": 64}
        direction = {"grid": grid, "spans": [], "choice": [0]}
        found = with_own(EVERY, components=[component], directions=[direction], exact=str(exact))
        report = check_document(found)
        assert report.accepted == (step in ("9", "3") or most == n * (n + 1))
        assert report.accepted or "too many outputs" in report.lines[-1]
        assert not check_document(with_own(found, exact=str(exact - Fraction(1, 10**n)))).accepted


PLAIN = (("9/10", "1/10"), ("1/10", "9/10"))
ALONE = (("1/10", "0"), ("9/10", "1/10"), ("0", "9/10"))  # the first output is impossible under Q


@pytest.mark.parametrize("releases", [(PLAIN,), (ALONE,), (ALONE, PLAIN), (PLAIN, ALONE, ALONE)])
@pytest.mark.parametrize("ratio", ["1", "2", "9", "80", "729", "1000"])
def test_what_is_exact(releases: tuple[tuple[tuple[str, str], ...], ...], ratio: str) -> None:
    """The least delta is the sum over all outputs, with a grid and without."""
    exact, masses = Fraction(0), Counter[Fraction]()
    for outputs in product(*releases):
        p, q = (prod(map(Fraction, side)) for side in zip(*outputs, strict=True))
        masses[p / q if q else Fraction(0)] += p  # type: ignore[assignment]
        exact += max(p - Fraction(ratio) * q, Fraction(0))
    components = [{"times": 1, "ways": [way(table(*each))]} for each in releases]
    for grid in (None, {"step": ["0", "9"], "bits": 64, "tail": 64}):
        direction = {"grid": grid, "spans": [], "choice": [0] * len(releases)}
        listed = ComposedDirection(direction, [(read(table(*each)), [], 1) for each in releases]).exactly()
        assert listed == dict(+masses)
        for off in (0, -1, 1):
            stated = {"question": {"epsilon": ["0", ratio]}, "exact": str(exact + Fraction(off, 10**9))}
            found = with_own(EVERY, components=components, directions=[direction], **stated)
            assert check_document(found).accepted == (off == 0), check_document(found).lines


def test_the_larger_direction_counts() -> None:
    """Half of the people are asked: (1/2, 1/2) against (1/10, 9/10), and the other way round."""
    sample = {"kind": "sampled", "rate": "1/2", "of": table(*PLAIN)}
    ways = [way(sample), way({"kind": "turned", "of": sample})]
    directions = own(EVERY)["directions"] * 2
    few, half, many, one = map(Fraction, ("1/10", "1/2", "9/10", "1"))
    sides = [[(half, few), (half, many)], [(few, half), (many, half)]]
    for ratio, alone in product(("1", "6/5", "3/2", "3"), (True, False)):
        others = [(one, one)] if alone else [(many, few), (few, many)]  # the same in both directions
        found = [
            sum(max(p * r - Fraction(ratio) * q * s, Fraction(0)) for (p, q), (r, s) in product(side, others))
            for side in sides
        ]
        components = [{"times": 1, "ways": ways}, {"times": 1, "ways": [way(FAR)]}][: 2 - alone]
        for exact in set(found):
            parts = {"question": {"epsilon": ["0", ratio]}, "exact": str(exact), "directions": directions}
            report = check_document(with_own(EVERY, components=components, **parts))
            assert report.accepted == (exact == max(found)), report.lines


SAMPLE = {"kind": "sampled", "rate": "1/2", "of": table(*ALONE)}  # at most 19/20 in ten, or without a limit
NOISE = {"kind": "laplace", "scale": "3", "sensitivity": "1"}  # the largest loss is 1/3
with mpmath.workprec(400):
    LN9 = int(mpmath.floor(mpmath.log(9) * 2**192))
EXACT, AGAIN, BEYOND = (
    "exactly: the largest loss",
    "computed again",
    "e^epsilon differs from the computed value",
)
STATED: list[tuple[Release, Any, Any, str]] = [  # of a release: for which ε or δ, what is found, what is told
    *((FAR, delta, "9", told) for delta, told in (("0", EXACT), ("1/10", BEYOND))),
    *((table(*ALONE), d, c, t) for d, c, t in (("1/10", "9", AGAIN), ("1/11", "100/11", BEYOND))),
    *((SAMPLE, d, c, BEYOND) for d, c in (("1/25", "86/45"), ("1/10", "16/9"))),
    (SAMPLE, "1/10", "9/2", AGAIN),
    (NOISE, "0", "1", "nothing is exact"),
    (FAR, ["1", "1"], "4/5", "no logarithm of a rational is never exact"),
    *((NOISE, [epsilon, "1"], "0", EXACT) for epsilon in ("1/3", "1", f"{-(-(1 << 192) // 3)}/{1 << 192}")),
    (NOISE, ["33/100", "1"], "0", "nothing is exact"),
    *(
        (FAR, loss, "0", "an epsilon that is no logarithm of a rational is never exact")
        for loss in ([f"{LN9}/{1 << 192}", "1"], [f"-1/{3 << 192}", "9"])
    ),
    (table(*ALONE), ["0", "9"], "0", "delta differs from the computed value"),
    (FAR, [f"{LN9 + 2**20}/{1 << 192}", "1"], "0", EXACT),
    *((FAR, "0", ("2", upper), "at most this large") for upper in (None, "2", f"{LN9}/{1 << 192}")),
    *((FAR, "0", (lower, "3"), "at least this large") for lower in ("11/5", f"{LN9 + 1}/{1 << 192}")),
    *(
        (table(*ALONE), "0", ("0", upper), "largest loss is not shown to be at least this large")
        for upper in ("9", None)
    ),
    (NOISE, "0", ("1/3", "1/3"), "epsilon is at most 1/3: computed again"),
    *((FAR, epsilon, "4/5", "below 0" if epsilon else "a delta") for epsilon in (["-1", "1"], None)),
    *((FAR, ["0", "1"], ends, "not bounds") for ends in (("-1", "1"), ("4/5", "3/4"))),
    (FAR, ["0", "1"], ("4/5", "7/8"), "delta is at most 0.875: computed again"),
    (FAR, ["0", "1"], ("1/3", None), "delta is at least 1/3: computed again"),
    (FAR, "1/10", ("2", None), "epsilon is at least 2: computed again"),
    (table(*ALONE), "1/10", ("3", "4"), "at least this large"),
    (table(*ALONE), "1/11", ("3", "9"), "at most this large"),
]


@pytest.mark.parametrize(("release", "given", "found", "told"), STATED)
def test_what_is_stated(release: Release, given: Any, found: Any, told: str) -> None:
    """Numbers of one release, or of two directions: those that it has are told, and no others."""
    question = {"delta": given} if isinstance(given, str) else {"epsilon": given} if given else {}
    numbers = (
        {"exact": found} if isinstance(found, str) else dict(zip(("lower", "upper"), found, strict=True))
    )
    others = [way({"kind": "turned", "of": release})] if release == SAMPLE else []
    report = replayed(release, [], question, *others, **numbers)
    assert told in report.lines[-1]
    assert report.accepted == told.endswith((AGAIN, EXACT))
    assert not replayed(release, [], {"delta": "0", "epsilon": ["0", "1"]}, *others, **numbers).accepted


GRID = {"step": ["0", "9"], "bits": 64, "tail": 60}
ON_GRID = {"grid": GRID, "spans": [None], "choice": [0]}


def test_limits_of_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits, tails, spans, choices and numbers of releases, at their ends and beyond."""
    monkeypatch.setattr(composition_evidence, "MOST_TIMES", 3)
    few = "too many bits, or too few"
    for name, value, told in (
        *(
            ("bits", 23, few),
            ("bits", 24, "at least this large"),
            ("bits", 176, ""),
            ("bits", 177, few),
            ("tail", 0, few),
        ),
        *(
            ("tail", 1, ""),
            ("spans", [None, None], "there must be one for each component"),
            ("grid", None, "missing"),
        ),
        *(
            ("choice", [-1], "there is no such pair"),
            ("choice", [1], "there is no such pair"),
            ("times", 3, ""),
        ),
        *(("times", times, "this is not a number of releases") for times in (0, 4)),
    ):
        direction = {**ON_GRID, "grid": {**GRID, name: value} if name in GRID else GRID}
        direction |= {name: value} if name in ON_GRID else {}
        stated = {"directions": [direction], "lower": "3/10", "upper": "1"}
        report = replayed(FAR, [], ONE, times=value if name == "times" else 1, **stated)
        assert report.accepted == (not told)
        assert told in report.lines[-1]


def test_the_chosen_pair_counts() -> None:
    """A lower bound is that of a pair of the release, and not of what dominates it."""
    for choice, right in ((0, False), (1, True)):
        stated = {"directions": [{**ON_GRID, "choice": [choice]}], "lower": "3/10", "upper": "1"}
        assert replayed(FAR, [NEAR, FAR], ONE, **stated).accepted == right


def test_pairs_are_of_the_same_sample() -> None:
    """All pairs of a sample have its rate, though one of another rate may be dominated as well."""
    for rate, accepted in (("1/2", True), ("1/3", False)):
        whole, pair = ({"kind": "sampled", "rate": r, "of": FAR} for r in ("1/2", rate))
        swapped = {**whole, "of": {"kind": "turned", "of": FAR}}
        back = way(*({"kind": "turned", "of": each} for each in (swapped, whole, pair)))
        found = {"directions": [ON_GRID] * 2, "lower": "1/5", "upper": "1"}
        report = replayed(whole, [whole, pair], ONE, back, **found)
        assert report.accepted == accepted, report.lines
        assert not accepted or report.lines[1].startswith("asked: ")  # a component is told once
        assert accepted or "the pairs belong to another sample" in report.lines[-1]
    far = {"directions": [ON_GRID], "lower": "0", "upper": "1"}
    assert replayed(FAR, [], {"epsilon": ["20000", "1"]}, **far).accepted  # 0 needs no exponential
    for one, other in ((NOISE, FAR), (FAR, NOISE)):
        with pytest.raises(Rejected, match="several pairs need rational masses"):
            dominates(read(one), read(other))


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3/2", "2"])
def test_bounds_are_on_their_sides(epsilon: str) -> None:
    """The delta of one answer, 9/10 - exp(epsilon)/10, lies between bounds that are near to each other."""
    given = own(EVERY) | {"question": {"epsilon": [epsilon, "1"]}}
    bounds, ends = bounds_of(given), epsilon_of(given)
    assert ends is not None
    with mpmath.workdps(80):
        fraction = Fraction(epsilon)
        number = (9 - mpmath.exp(mpmath.mpf(fraction.numerator) / fraction.denominator)) / 10
        true = Fraction(int(mpmath.floor(number * 2**200)), 2**200)
    assert bounds.least(ends) <= true < true + Fraction(1, 2**200) <= bounds.most(ends)
    assert bounds.most(ends) - bounds.least(ends) < Fraction(1, 10**12)


@pytest.mark.parametrize("ways", [[], [[]], [[], [way(FAR)]], [[way(FAR)], []], [[way(FAR)] * 3]])
def test_components_without_ways(ways: list[Any]) -> None:
    """There is a component, and each has one way or two."""
    components = [{"times": 1, "ways": given} for given in ways]
    for count in (0, 1, 3):
        told = with_own(EVERY, components=components, directions=own(EVERY)["directions"] * count)
        assert "no component, or one without a way" in check_document(told).lines[-1]


def test_releases_turned_and_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """P and Q change their places, and above becomes below; of a sample both parts are rounded outwards."""
    atoms = LossAtom((1, 2), (5, 9), (3, 4)), LossAtom((10, 20), ExactLoss(Fraction(5)), (30, 40))
    made = ReleaseLosses(atoms, lambda loss: (loss, (3, 5)), ((100, 101), (40, 44)), (0, 0), (1, 2), (4, 8))
    monkeypatch.setitem(release_losses._KINDS, "made", lambda written: made)
    found = read({"kind": "turned", "of": {"kind": "made"}})
    assert found.atoms[0] == LossAtom((3, 4), (-9, -5), (1, 2))
    assert found.atoms[1:] == (LossAtom((30, 40), ExactLoss(-Fraction(5)), (10, 20)),)
    assert found.over((-12, -10)) == ((35, 41), (88, 91))
    assert (found.whole, found.above, found.below) == (((40, 44), (100, 101)), (8, 4), (2, 1))
    found = read({"kind": "sampled", "rate": "1/3", "of": {"kind": "made"}})
    assert [(atom.mass, atom.other) for atom in found.atoms] == [((2, 4), (3, 4)), ((23, 34), (30, 40))]
    assert (found.whole, found.above, found.below) == (((59, 64), (40, 44)), (3, 2), (8, 8))
    assert read(NOISE).over((UNIT, UNIT))[0] == (0, 0)  # there is no larger loss than 1/3
    assert read({"kind": "discrete_laplace", "step": [f"1/{UNIT}", "1"], "sensitivity": "1"}).atoms
