"""Bounds of noise without closed forms contain its probabilities, and ways of other programs show nothing."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path
from random import Random
from typing import Any

import mpmath
import pytest
from calling_tools import called
from conftest import ROOT
from engine_documents import engine_document, own, with_own
from oracle_tools import Json

from paramverify.kernel.documents import check_text
from paramverify.kernel.enclosed_evidence import _check_witness, _excess
from paramverify.kernel.noise_probabilities import (
    Form,
    NoiseLaw,
    NoisyPath,
    RegionEnclosures,
)
from paramverify.kernel.noise_regions import RegionSums, VariableLaw
from paramverify.kernel.rounded_constants import UNIT
from paramverify.kernel.strict_reading import Rejected
from paramverify.privacy.cases import load
from paramverify.reports.case_evidence import check_with_case

CASES = ROOT / "cases" / "programs"
CODES = {"holds": 0, "violated": 1, "unknown": 3}
FEW, MANY = (200, 60), (800, 200)
ONE = Fraction(1)


def between(bounds: tuple[int, int], value: Any, width: float) -> None:
    """Asserts that bounds contain a number, and are near to each other."""
    low, high = (mpmath.mpf(end) / UNIT for end in bounds)
    assert low - mpmath.mpf("1e-45") <= value <= high + mpmath.mpf("1e-45")
    assert high - low <= width


def chance(
    noise: list[NoiseLaw], region: dict[Form, Fraction], cells: tuple[int, int] = FEW
) -> tuple[int, int]:
    """Returns bounds of the probability of a region."""
    return RegionEnclosures(cells).chance(NoisyPath(ONE, tuple(noise), tuple(region.items())))


def less(v: int, w: int, by: Fraction = Fraction(0)) -> tuple[Form, Fraction]:
    """Returns the inequality x_v - x_w <= by."""
    form = ((v, ONE), (w, -ONE)) if v < w else ((w, -ONE), (v, ONE))
    return form, by


@pytest.mark.slow
@pytest.mark.parametrize("sides", [(1, 1), (1, 2), (3, 2)])
def test_two_gaussian_numbers(sides: tuple[int, int]) -> None:
    """The difference of two has a normal distribution, whose function is known."""
    noise = [NoiseLaw("gauss", Fraction(side)) for side in sides]
    for by in (Fraction(-2), Fraction(0), Fraction(1, 3), Fraction(5)):
        value = mpmath.ncdf(mpmath.mpf(by.numerator) / by.denominator / mpmath.sqrt(sum(s**2 for s in sides)))
        between(chance(noise, dict([less(0, 1, by)])), value, 0.03)
        between(chance(noise, dict([less(0, 1, by)]), MANY), value, 0.008)


ORDERS = [order for size in (3, 4) for order in permutations(range(size)) if order < order[::-1]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gauss", "laplace"])
def test_orders_of_equal_noise(kind: str) -> None:
    """All orders of n numbers of one distribution are equally likely; four of them need two centres."""
    for order in ORDERS:
        noise = [NoiseLaw(kind, Fraction(2))] * len(order)
        region = dict(less(a, b) for a, b in pairwise(order))
        bounds = chance(noise, region)
        between(bounds, mpmath.mpf(1) / math.factorial(len(order)), 0.06 if len(order) == 3 else 0.2)


def test_the_largest_of_several() -> None:
    """One of n numbers is the largest with 1/n; and both of two are above both others with 1/6."""
    noise = [NoiseLaw("gauss", Fraction(1))] * 5
    between(chance(noise, dict(less(k, 2) for k in (0, 1, 3, 4))), mpmath.mpf(1) / 5, 0.05)
    crossed = dict(less(a, b) for a in (0, 1) for b in (2, 3))
    between(chance(noise, crossed, MANY), mpmath.mpf(1) / 6, 0.05)


def random_region(random: Random, count: int, is_whole: bool) -> dict[Form, Fraction]:
    """Returns some comparisons of noisy numbers with each other and with numbers."""
    region: dict[Form, Fraction] = {}
    for _ in range(random.randint(1, 4)):
        v, w = random.sample(range(count), 2)
        by = Fraction(random.randint(-4, 4), 1 if is_whole else 2)
        if random.random() < 0.4:
            region[((v, Fraction(random.choice((-1, 1)))),)] = by
        else:
            form, bound = less(v, w, by)
            region[form] = bound
    return region


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["geometric", "one_sided_geometric"])
def test_regions_of_geometric_noise(kind: str) -> None:
    """Exact sums over random regions lie between the bounds, which are narrow: a cell has one value."""
    random, tried = Random(11), 0
    for _ in range(25):
        ratios = [Fraction(random.randint(1, 3), 4) for _ in range(3)]
        region = random_region(random, 3, is_whole=True)
        two_sided = kind == "geometric"
        kinds = [VariableLaw(True, two_sided, ratio) for ratio in ratios]
        inside = dict(region)
        if not two_sided:
            for v in {v for form in region for v, _ in form}:
                inside.setdefault(((v, -ONE),), Fraction(0))
                inside[((v, -ONE),)] = min(inside[((v, -ONE),)], Fraction(0))
        sums = RegionSums(ONE, lambda exponent: ONE)
        exact = sums.number(sums.chance(inside, kinds))
        try:
            bounds = chance([NoiseLaw(kind, ratio) for ratio in ratios], inside)
        except Rejected:
            continue
        tried += 1
        between(bounds, mpmath.mpf(exact.numerator) / exact.denominator, 1e-6)
    assert tried > 15


def test_regions_that_are_not_known() -> None:
    """Three numbers in one comparison, and too many comparisons, are rejected and get no bounds."""
    noise = [NoiseLaw("gauss", ONE)] * 6
    three: Form = ((0, ONE), (1, ONE), (2, -ONE))
    ring = dict(less(k, (k + 1) % 6) for k in range(6))
    for region in ({three: ONE}, ring):
        with pytest.raises(Rejected):
            chance(noise, region)
    with pytest.raises(Rejected, match="more than 40,000,000 cells"):
        chance(noise, dict([less(0, 1)]), (200_000_000, 1))
    crossed = dict(less(a, b) for a in (0, 1) for b in (2, 3))
    for region, work in (({}, 0), ({((0, ONE),): ONE}, 1), (dict([less(0, 1)]), 3 * 2), (crossed, 5**2 * 4)):
        found = RegionEnclosures((3, 5))
        found.chance(NoisyPath(ONE, tuple(noise), tuple(region.items())))
        assert found.work == work


# --- evidence -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Json]:
    """Evidence of the shipped cases with one centre."""
    folder = tmp_path_factory.mktemp("enclosed")
    names = ("discrete-gauss-threshold", "noisy-max-gauss")
    for name in names:
        path = str(folder / f"{name}.json")
        assert called("verify", str(CASES / f"{name}.toml"), "--evidence", path).code in (0, 1)
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in names}


@pytest.mark.slow
def test_a_program_that_is_read_as_another_one(
    evidence: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ways of a program with less noise are not those of the case; also its own enclosures differ."""
    original = evidence["noisy-max-gauss"]
    document = with_own(original, noise=[["gauss", "3"]])
    assert check_text(json.dumps(document)).accepted
    case = load(CASES / "noisy-max-gauss.toml")
    read_as = {name: own(document)[name] for name in ("noise", "inputs", "pairs")}
    for reason in ("the case has other paths through its program", "another probability"):
        report = check_with_case(document, case)
        assert not report.accepted
        assert reason in report.lines[0]
        monkeypatch.setattr("paramverify.reports.case_evidence.read_ways", lambda *_: read_as)


HEAD = """
[mechanism]
kind = "program"
source = "output(n + gauss(2) > 1{more})"
[mechanism.inputs]
n = {given}
[privacy]
epsilon = 2
"""
NEIGHBOURS = '[neighbours]\ndiffer = "each"\n'
SECRETS = """
[prior]
a = { bernoulli = "1/2" }
[secrets]
one = "a == 1"
none = "a == 0"
pairs = [["one", "none"]]
"""
EXACT = """if n == 0:
    output(gauss(1) > 0)
else:
    output(flip(3/8))"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "bound", "status"),
    [
        ("output(n + gauss(2) > 1)", 'epsilon = "1/2"', "holds"),
        ("output(n + gauss(2) > 1)", 'ratio = "6/5"', "violated"),
        ("output(gauss(1) > gauss(2))", 'epsilon = "0"', "holds"),
        (EXACT, 'ratio = "4/3"', "unknown"),
    ],
)
def test_bounds_without_a_delta(source: str, bound: str, status: str, tmp_path: Path) -> None:
    """Bounds of single outputs have evidence, and equal ways need no numbers."""
    text = HEAD.format(more="", given='{ values = "0..1" }').replace("epsilon = 2", bound) + NEIGHBOURS
    case, path = tmp_path / "case.toml", tmp_path / "e.json"
    case.write_text(text.replace('"output(n + gauss(2) > 1)"', f"'''\n{source}\n'''"))
    assert called("verify", str(case), "--evidence", str(path)).code == CODES[status]
    report = check_with_case(json.loads(path.read_text()), load(case))
    assert report.accepted, report.lines
    assert report.status == status
    assert (report.open > 0) == (status == "unknown")


REFUSED = {
    "exp": (
        HEAD.format(more=" or flip(exp(-1))", given='{ values = "0..1" }') + NEIGHBOURS,
        "exp in a program",
    ),
    "a prior": (HEAD.format(more="", given='"a"') + SECRETS, "another mechanism than one program"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_evidence_says_so(name: str, tmp_path: Path) -> None:
    """Programs that the kernel does not come to are refused with the reason, and no file is written."""
    text, reason = REFUSED[name]
    case, path = tmp_path / "case.toml", tmp_path / "e.json"
    case.write_text(text)
    told = called("verify", str(case), "--evidence", str(path))
    assert told.code == 2
    assert "this verdict has no evidence" in told.err
    assert reason in told.err
    assert not path.exists()


UNREAD = {
    "exp": ("c = 0\nif flip(exp(-1)):\n    c = 1\n", "cannot be compared: exp in a program"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("words", "reason"), UNREAD.values(), ids=UNREAD)
def test_ways_that_nobody_finds_again_show_nothing(words: str, reason: str, tmp_path: Path) -> None:
    """The bounds of few cells meet all probabilities: without the ways of the program they say nothing."""
    source = f"z = q + gauss(1/10)\n{words}if z > 1/2:\n    output(1)\nelse:\n    output(0)\n"
    case, path = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(
        f'title = "t"\n[mechanism]\nkind = "program"\nsource = """\n{source}"""\n'
        '[mechanism.inputs]\nq = { values = "0..1" }\n'
        '[neighbours]\ndiffer = "one"\n[privacy]\nepsilon = "1/1000"\n'
    )
    same = [{"weight": "1", "noise": [0, 0], "region": [[[[0, "1"], [1, "-1"]], "0"]]}]
    document = engine_document(
        "paths",
        bound={"of": "epsilon", "value": "1/1000"},
        noise=[["gauss", "1"]],
        inputs={"0": {"0": same, "1": same}, "1": {"0": same, "1": same}},
        pairs=[["0", "1"]],
        cells=[1, 1],
    ) | {"case": {"title": "t", "digest": load(case).digest}}
    assert check_text(json.dumps(document)).accepted
    path.write_text(json.dumps(document))
    told = called("check", str(path), "--case", str(case))
    assert told.code == 1
    assert reason in told.out


def test_units_of_excess() -> None:
    """What is not above is rounded down on the right; an output that is not there has nothing there."""
    rows = {"l": {"a": (4, 5), "b": (1, 7)}, "r": {"b": (3, 9), "c": (9, 9)}}
    for bound, same, excess in ((4, "", 6), (4, "a", 1), (6, "", 5), (6, "ab", 0), (1, "", 11)):
        assert _excess(rows["l"], rows["r"], (bound * UNIT // 2, 9 * UNIT), set(same)) == excess
    for outputs, most in (("a", 4), ("ab", 0), ("bc", -8), ("abc", -4)):  # 4, 5 - 9/2, 1 - 9 and 5 - 9
        told: Any = {"secrets": "lr", "outputs": outputs}, [("l", "r")], rows, (0, UNIT // 2)
        _check_witness(*told, most - 1)
        with pytest.raises(Rejected, match="beyond the bounds"):
            _check_witness(*told, most)
