"""Small documents about enclosed probabilities, and regions of noise: each forgery breaks one check."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from fractions import Fraction
from itertools import pairwise, permutations, product
from random import Random
from typing import Any

import pytest
from engine_documents import Json, engine_document, own, with_own

from paramverify.kernel import noise_probabilities
from paramverify.kernel.documents import check_document
from paramverify.kernel.enclosed_evidence import rows_of
from paramverify.kernel.ledger import Demanded
from paramverify.kernel.noise_probabilities import (
    Form,
    NoiseLaw,
    NoisyPath,
    RegionEnclosures,
    _cells,
    at_most,
    less_than,
)
from paramverify.kernel.rounded_constants import UNIT, exp
from paramverify.kernel.strict_reading import Rejected

Change = Callable[[Json], Any]
ONE = Fraction(1)
TINY = Fraction(1, 10**40)


def coin(share: str) -> Json:
    """Returns the ways to two outputs, one of them with this probability; no noise is drawn."""
    rest = str(1 - Fraction(share))
    return {name: [{"weight": w, "noise": [], "region": []}] for name, w in (("y", share), ("n", rest))}


def steps(most: int, noise: int = 0) -> Json:
    """Returns the ways to two outputs: noise is at most a number, or it is not."""
    low = [[[[0, "1"]], str(most)]]
    high = [[[[0, "-1"]], str(-most - 1)]]
    return {
        name: [{"weight": "1", "noise": [noise], "region": region}]
        for name, region in (("low", low), ("high", high))
    }


def document(left: Json, right: Json, bound: str, status: str = "holds", **more: Any) -> Json:
    of, value = bound.split()
    parts = {
        "bound": {"of": of, "value": value},
        "noise": [["geometric", "1/2"], ["gauss", "1"]],
        "inputs": {"a": left, "b": deepcopy(right)},
        "pairs": [["a", "b"]],
        "cells": [40, 10],
    }
    return engine_document("paths", status, **{**parts, **more})


def witness(*outputs: str, secrets: tuple[str, str] = ("a", "b")) -> Json:
    return {"witness": {"secrets": list(secrets), "outputs": list(outputs)}}


# Of geometric noise with the ratio 1/2, two thirds are at most 0, and one third is at most −1.
TRUE = document(steps(0), steps(-1), f"ratio {2 + TINY}")
BEYOND = document(steps(0), steps(-1), f"ratio {2 - TINY}", "violated", **witness("low"))
COMPARED = {
    name: [{"weight": "1", "noise": [1, 1], "region": [[[[0, s], [1, t]], "0"]]}]
    for name, s, t in (("less", "1", "-1"), ("more", "-1", "1"))
}
SAME = document(COMPARED, COMPARED, "epsilon 0")


def way(**changes: Any) -> Change:
    """Changes the first way of the first input."""
    return lambda d: own(d)["inputs"]["a"]["low"][0].update(changes)


def top(**changes: Any) -> Change:
    return lambda d: own(d).update(changes)


DOCUMENTS: dict[str, tuple[Json, str, Change]] = {
    "another form": (TRUE, "this key is unknown", top(other=1)),
    "noise that the program does not have": (TRUE, "or lacks its noise", way(noise=[2])),
    "a witness of what holds": (
        TRUE,
        "a witness is required with the status violated",
        top(**witness("low")),
    ),
    "a violation without a witness": (
        BEYOND,
        "a witness is required with the status violated",
        lambda d: own(d).pop("witness"),
    ),
    "a pair of one input": (TRUE, "a pair must name two of the inputs", top(pairs=[["a", "a"]])),
    "a pair of another input": (TRUE, "a pair must name two of the inputs", top(pairs=[["a", "c"]])),
    "no pairs": (TRUE, "a claim of the case has no proof", top(pairs=[])),
    "a negative delta": (TRUE, "delta: negative", top(delta="-1/9")),
    "a ratio of zero": (TRUE, "bound.value: not positive", top(bound={"of": "ratio", "value": "0"})),
    "a negative ratio": (TRUE, "bound.value: not positive", top(bound={"of": "ratio", "value": "-3"})),
    "a smaller ratio": (TRUE, "do not show the bound", top(bound={"of": "ratio", "value": "2"})),
    "a smaller epsilon": (TRUE, "do not show the bound", top(bound={"of": "epsilon", "value": "69/100"})),
    "no cells": (TRUE, "not a number of cells", top(cells=[0, 10])),
    "no second cells": (TRUE, "not a number of cells", top(cells=[40, 0])),
    "too many cells": (TRUE, "not a number of cells", top(cells=[200_001, 10])),
    "too many second cells": (TRUE, "not a number of cells", top(cells=[40, 200_001])),
    "noise that is none": (TRUE, "there is no gauss noise", lambda d: own(d)["noise"].append(["gauss", "0"])),
    "an inequality about nothing": (TRUE, "not drawn, or no noise", way(region=[[[], "0"]])),
    "a number twice in one": (TRUE, "not drawn, or no noise", way(region=[[[[0, "1"], [0, "1"]], "0"]])),
    "a slope of zero": (TRUE, "not drawn, or no noise", way(region=[[[[0, "0"]], "0"]])),
    "a slope of zero among others": (
        TRUE,
        "not drawn, or no noise",
        way(noise=[0, 0], region=[[[[0, "1"], [1, "0"]], "0"]]),
    ),
    "noise that is not drawn": (
        TRUE,
        "an inequality uses noise that is not drawn",
        way(region=[[[[1, "1"]], "0"]]),
    ),
    "noise before the first": (
        TRUE,
        "an inequality uses noise that is not drawn",
        way(region=[[[[-1, "1"]], "0"]]),
    ),
    "noise before the first, with other noise": (
        TRUE,
        "an inequality uses noise that is not drawn",
        way(noise=[0, 0], region=[[[[0, "1"], [-1, "1"]], "0"]]),
    ),
    "no weight": (TRUE, "a way has weight 0", way(weight="0")),
    "a negative weight": (TRUE, "a way has weight 0", way(weight="-1")),
    "more than all weight": (TRUE, "a way has weight 0", way(weight="2")),
    "noise from the other end": (TRUE, "or lacks its noise", way(noise=[-2])),
    "noise from the other end, after other noise": (TRUE, "or lacks its noise", way(noise=[0, -2])),
    "a sum above one": (TRUE, "do not sum to 1", way(region=[[[[0, "1"]], "1"]])),
    "a sum below one": (TRUE, "do not sum to 1", way(region=[[[[0, "1"]], "-1"]])),
    "a witness against another direction": (
        BEYOND,
        "not a direction",
        top(**witness("low", secrets=("a", "a"))),
    ),
    "a witness without outputs": (BEYOND, "no outputs", top(**witness())),
    "a witness with an output twice": (BEYOND, "or one twice", top(**witness("low", "low"))),
    "a witness with another output": (BEYOND, "not outputs of the program", top(**witness("low", "none"))),
    "a witness that is none": (BEYOND, "is beyond the bounds", top(**witness("high"))),
    "a witness turned round": (BEYOND, "is beyond the bounds", top(**witness("low", secrets=("b", "a")))),
    "a witness of all outputs": (BEYOND, "is beyond the bounds", top(**witness("low", "high"))),
    "a witness at the bound": (BEYOND, "is beyond the bounds", top(bound={"of": "ratio", "value": "2"})),
    "a witness within delta": (BEYOND, "is beyond the bounds", top(delta="1/1000")),
    "other ways to an output": (
        SAME,
        "do not show the bound",
        lambda d: own(d)["inputs"]["b"]["less"][0].update(noise=[1, 0]),
    ),
    # Σ max(0, p − c·p) is 1 − c: below 1 equal ways are no argument.
    "a ratio below one": (
        SAME,
        "do not show the bound",
        top(bound={"of": "ratio", "value": "9/10"}, delta="1/20"),
    ),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_one_check_is_violated(name: str) -> None:
    """A true document is accepted; with one change it is rejected by the check that is about it."""
    true, words, change = DOCUMENTS[name]
    report = check_document(true)
    assert report.accepted, report.lines
    false = deepcopy(true)
    change(false)
    report = check_document(false)
    assert not report.accepted
    assert words in report.lines[0]


ROWS = [("1/10", "1/5"), ("1/2", "1/2"), ("1/3", "3/4"), ("1", "0"), ("9/10", "1/10")]


@pytest.mark.parametrize(("one", "other"), ROWS)
@pytest.mark.parametrize("ratio", [Fraction(1, 2), ONE, Fraction(3, 2), Fraction(4)])
@pytest.mark.parametrize("turned", [False, True])
def test_deltas_of_coins(one: str, other: str, ratio: Fraction, turned: bool) -> None:
    """A delta is accepted iff it is at least Σ max(0, p − c·q) both ways, a witness iff it is beyond it."""
    shares = [(Fraction(s), 1 - Fraction(s)) for s in ((other, one) if turned else (one, other))]
    rows = [{k: v for k, v in coin(str(p)).items() if v[0]["weight"] != "0"} for p, _ in shares]
    excess = [
        sum(max(Fraction(0), p - ratio * q) for p, q in zip(*way, strict=True))
        for way in (shares, shares[::-1])
    ]
    if one == "1/2":  # the ways are the same
        excess = [max(Fraction(0), (1 - ratio) * (ratio < 1))] * 2
    for delta, right in ((max(excess) + TINY, True), (max(excess) - TINY, False)):
        if delta >= 0:
            found = check_document(document(rows[0], rows[1], f"ratio {ratio}", delta=str(delta)))
            assert found.accepted == right, found.lines
    for k, secrets in enumerate((("a", "b"), ("b", "a"))):
        pair = shares if not k else shares[::-1]
        outputs = [y for y, p, q in zip("yn", *pair, strict=True) if p > ratio * q]
        for delta, right in ((excess[k] - TINY, True), (excess[k] + TINY, False)):
            if delta >= 0 and outputs:
                more = {"delta": str(delta), **witness(*outputs, secrets=secrets)}
                found = check_document(document(rows[0], rows[1], f"ratio {ratio}", "violated", **more))
                assert found.accepted == right, found.lines


def test_outputs_of_one_input() -> None:
    """What never comes out of one input is no multiple of it, however large the ratio is."""
    rows = [{name: [{"weight": "1", "noise": [], "region": []}]} for name in "yn"]
    large = f"ratio {2**250}"
    assert not check_document(document(*rows, large, delta="1/2")).accepted
    assert not check_document(document(*rows, large)).accepted
    assert check_document(document(*rows, large, "violated", **witness("y"))).accepted
    assert check_document(document(*rows, large, "violated", **witness("n", secrets=("b", "a")))).accepted
    both = document(rows[0], coin("1/2"), "ratio 1", "violated", **witness("y", "n"))
    assert not check_document(both).accepted


def test_numbers_of_cells() -> None:
    """One is enough, and so is the largest number; more for pairs of centres make bounds closer."""
    for cells in ([1, 200_000], [200_000, 1]):
        assert check_document(with_own(TRUE, cells=cells)).accepted
    region = [[[[k, "1"], [k + 1, "-1"]], "0"] for k in range(3)]  # of four in their order: one of 24
    row = {"chain": [{"weight": "1", "noise": [1] * 4, "region": region}]}
    row["rest"] = [{"weight": "23/24", "noise": [], "region": []}]
    widths = []
    for cells in ([8, 8], [16, 8], [8, 16]):
        low, high = rows_of({**own(document(row, row, "ratio 1")), "cells": cells})["b"]["chain"]
        assert low <= UNIT // 24 <= high
        widths.append(high - low)
    assert widths[0] == widths[1] > widths[2]


def test_bounds_that_are_enclosed() -> None:
    """Between the ends of the enclosure of e nothing is shown: neither the bound, nor that it is broken."""
    rows = [coin("1/2"), coin("1/8")]
    low, high = exp(UNIT, UNIT)
    assert high - low > 40
    for end, side, right in ((low, -80, "holds"), ((low + high) // 2, 0, ""), (high, 80, "violated")):
        delta = str(Fraction(1, 2) - Fraction(end + side, 8 * UNIT))
        holds = document(*rows, "epsilon 1", delta=delta)
        broken = document(*rows, "epsilon 1", "violated", delta=delta, **witness("y"))
        assert check_document(holds).accepted == (right == "holds")
        assert check_document(broken).accepted == (right == "violated")


def test_witnesses_against_wide_enclosures() -> None:
    """What the other input has counts with the upper end of its enclosure, and one's own with the lower."""
    left = {name: coin("13/20")[k] for name, k in (("less", "y"), ("more", "n"))}
    low, high = rows_of(own(SAME))["b"]["less"]
    assert high - low > UNIT >> 10
    for end, right in ((high + 9, True), ((low + high) // 2, False)):
        delta = str(Fraction(13, 20) - Fraction(end, UNIT))
        found = document(left, COMPARED, "ratio 1", "violated", delta=delta, **witness("less"))
        assert check_document(found).accepted == right
    seldom = {name: coin("1/100")[k] for name, k in (("less", "y"), ("more", "n"))}
    for end, right in ((low - 9, True), ((low + high) // 2, False)):
        delta = str(Fraction(end, UNIT) - Fraction(1, 100))
        found = document(COMPARED, seldom, "ratio 1", "violated", delta=delta, **witness("less"))
        assert check_document(found).accepted == right


def test_what_a_report_says() -> None:
    """Directions are counted, and each has a line; what is unknown stays open."""
    report = check_document(TRUE)
    assert report.lines == ("a against b: proved", "b against a: proved")
    assert (report.proved, report.trusted, report.open) == (2, 0, 0)
    assert (report.status, report.unit, report.solvers) == ("holds", "direction", ())
    report = check_document({**TRUE, "status": "unknown"})
    assert (report.accepted, report.lines, report.proved, report.open) == (True, (), 0, 2)
    report = check_document(BEYOND)
    assert report.lines == ("witness: its outputs are too likely",)
    assert (report.proved, report.open, report.status) == (0, 0, "violated")
    # Who has bounds of the rows may give them, and who knows the claims of the case compares them.
    rows, none = rows_of(own(TRUE)), Demanded(obligations=[])
    assert check_document(TRUE, none, rows=rows).accepted
    lower = {**rows, "b": {"low": (0, UNIT), "high": (0, UNIT)}}
    assert not check_document(TRUE, none, rows=lower).accepted
    domain = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": []}
    demanded = Demanded(obligations=[{**domain, "polynomial": "p"}])
    assert "differ from those of the case" in check_document(TRUE, demanded).lines[0]
    proof = {"kind": "bernstein", "tree": ["+"]}
    obligation = {"kind": "obligation", "domain": 0, "polynomial": "p", "proof": proof}
    proved = {**TRUE, "domains": [domain], "statements": [obligation, own(TRUE)]}
    report = check_document(proved, demanded)
    assert (report.accepted, report.proved) == (True, 3)
    assert "differ from those of the case" in check_document(proved, none).lines[0]
    false = {**proved, "statements": [{**obligation, "polynomial": "p - 1/2"}, own(TRUE)]}
    assert not check_document(false).accepted
    # The probabilities of many ways to one output are at most 1 together.
    several = {"y": [{"weight": "1/2", "noise": [], "region": []}] * 2}
    assert rows_of(own(document(several, several, "ratio 1"))) == {name: {"y": (UNIT, UNIT)} for name in "ab"}


# --- regions ------------------------------------------------------------------------------------------


def chance(
    noise: list[NoiseLaw], region: dict[Form, Fraction], cells: tuple[int, int]
) -> tuple[float, float]:
    low, high = RegionEnclosures(cells).chance(NoisyPath(ONE, tuple(noise), tuple(region.items())))
    return low / UNIT, high / UNIT


SLOPES = [Fraction(x) for x in ("1", "-1", "2", "-2", "1/2", "-3/2")]


def region_of(random: Random, count: int, pairs: list[tuple[int, int]]) -> dict[Form, Fraction]:
    """Returns comparisons of some pairs with any slopes, and ends of some numbers."""
    region: dict[Form, Fraction] = {}
    for v, w in pairs:
        form = ((v, random.choice(SLOPES)), (w, random.choice(SLOPES)))
        region[form] = Fraction(random.randint(-4, 6), 2)
    for v in range(count):
        if random.random() < 0.5:
            region[((v, random.choice(SLOPES)),)] = Fraction(random.randint(-2, 5), 2)
    return region


def listed(noise: list[NoiseLaw], region: dict[Form, Fraction], reach: int) -> float:
    """Returns the probability of a region by a sum over all values that are not far."""
    weights = []
    for each in noise:
        ratio = float(each.number)
        first = -reach if each.kind == "geometric" else 0
        own = {k: ratio ** abs(k) for k in range(first, reach + 1)}
        whole = (1 + ratio) / (1 - ratio) if first else 1 / (1 - ratio)
        weights.append({k: x / whole for k, x in own.items()})
    forms = [([(v, float(s)) for v, s in form], float(most)) for form, most in region.items()]
    return sum(
        math.prod(own[k] for own, k in zip(weights, at, strict=True))
        for at in product(*weights)
        if all(sum(s * at[v] for v, s in form) <= most for form, most in forms)
    )


CENTRES = {
    1: (30, [("1/3", 1)], []),
    2: (19, [("1/3", 2)], [(0, 1)]),
    3: (9, [("1/5", 3)], [(0, 1), (0, 2), (0, 1)]),
    4: (5, [("1/10", 4)], [(0, 1), (1, 2), (2, 3)]),
}


@pytest.mark.parametrize("count", CENTRES)
@pytest.mark.parametrize("seed", range(8))
def test_regions_with_slopes(count: int, seed: int) -> None:
    """The sum over all values lies between the bounds, and these are near to each other."""
    random = Random(seed)
    reach, [(ratio, _)], pairs = CENTRES[count]
    kinds = [random.choice(("geometric", "geometric", "one_sided_geometric")) for _ in range(count)]
    noise = [NoiseLaw(kind, Fraction(ratio)) for kind in kinds]
    region = region_of(random, count, pairs)
    low, high = chance(noise, region, (40, 40))
    value, far = listed(noise, region, reach), count * float(Fraction(ratio)) ** reach
    assert low <= value + far + 1e-12
    assert value <= high + 1e-12
    assert high - low <= 1e-6


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_slopes_and_ends_of_gaussian_numbers(seed: int) -> None:
    """Of two numbers, with an end of one of them, the integral over the other lies between the bounds."""
    random = Random(seed)
    s, t = random.choice(SLOPES), random.choice(SLOPES)
    most, end = Fraction(random.randint(-3, 3), 2), Fraction(random.randint(-3, 3), 2)
    side = random.choice((ONE, -ONE))
    noise = [NoiseLaw("gauss", Fraction(1)), NoiseLaw("gauss", Fraction(3, 2))]
    region: dict[Form, Fraction] = {((0, s), (1, t)): most, ((1, side),): end}
    total, width = 0.0, 0.005
    for k in range(-2400, 2400):
        y = (k + 0.5) * width
        if side * y > end:
            continue
        at = (float(most) - float(t) * y) / float(s)
        share = normal(at) if s > 0 else 1 - normal(at)
        total += share * width * math.exp(-y * y / 4.5) / (1.5 * math.sqrt(2 * math.pi))
    for count in (1, 2, 5, 400):
        bounds = chance(noise, region, (count, count))
        assert bounds[0] - 1e-4 <= total <= bounds[1] + 1e-4
    assert bounds[1] - bounds[0] <= 0.1


def test_weights_and_parts() -> None:
    """Parts without a common number are independent, and the weight of a way is a factor."""
    noise = [NoiseLaw("geometric", Fraction(1, 2)), NoiseLaw("one_sided_geometric", Fraction(1, 4))]
    region: dict[Form, Fraction] = {((0, ONE),): Fraction(0), ((1, -ONE),): Fraction(-1)}
    found = RegionEnclosures((4, 4)).chance(NoisyPath(Fraction(3, 5), tuple(noise), tuple(region.items())))
    value = Fraction(3, 5) * Fraction(2, 3) * Fraction(1, 4)
    assert found[0] <= value * UNIT <= found[1] <= found[0] + 8
    assert RegionEnclosures((4, 4)).chance(NoisyPath(ONE, tuple(noise), ())) == (UNIT, UNIT)
    nothing = {((0, ONE),): Fraction(0), ((0, -ONE),): Fraction(-1)}
    assert RegionEnclosures((4, 4)).chance(NoisyPath(ONE, tuple(noise), tuple(nothing.items()))) in (
        (0, 0),
        (0, 1),
    )


@pytest.mark.parametrize("kind", ["gauss", "geometric"])
def test_cells(kind: str) -> None:
    """Cells begin and end where a number does, and between them there is no gap."""
    noise, ends = NoiseLaw(kind, Fraction(1, 2)), (None, *map(Fraction, (-99, -2, 0, 3, 99)))
    step = 1 if noise.whole else 0
    for low, high in product(ends, repeat=2):
        if low is not None and high is not None and low > high:
            continue
        cells = list(_cells(noise, (low, high), 4))
        assert (cells[0][0], cells[-1][1]) == (low, high)
        for (_, last), (first, _) in pairwise(cells):
            assert last is not None
            assert first == last + step


def test_limits_of_one_number() -> None:
    """Of several ends on one side the nearest one counts, in either order; work is bounded."""
    noise, x, minus = NoiseLaw("geometric", Fraction(1, 2)), ((0, ONE),), ((0, -ONE),)
    inside = at_most(noise, Fraction(2))[0] - less_than(noise, Fraction(1))[1]
    ends = [(x, Fraction(2)), (x, Fraction(5)), (minus, Fraction(-1)), (minus, Fraction(3))]
    for region in permutations(ends):
        found = RegionEnclosures((4, 4)).chance(NoisyPath(ONE, (noise,), region))
        assert abs(found[0] - inside) < 8 > abs(found[1] - inside)


def test_cells_of_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first number of cells is that of one centre; all cells of a document are counted."""
    form: Form = ((0, ONE), (1, -ONE))
    way = NoisyPath(ONE, (NoiseLaw("gauss", ONE),) * 2, ((form, Fraction(0)),))
    assert rows_of(own(SAME))["a"]["less"] == RegionEnclosures((40, 10)).chance(way)
    assert check_document(with_own(TRUE, cells=[200_000, 200_000])).accepted
    monkeypatch.setattr(noise_probabilities, "MAX_CELLS", 80)  # 40 cells, two numbers
    RegionEnclosures((40, 10)).chance(way)
    monkeypatch.setattr(noise_probabilities, "MAX_CELLS", 79)
    with pytest.raises(Rejected, match="have more than 79 cells"):
        RegionEnclosures((40, 10)).chance(way)
