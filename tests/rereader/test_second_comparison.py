"""Points, domains and witnesses as the second reader compares them, on cases and evidence written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest

from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.rereader import second_comparison
from paramverify.rereader.second_comparison import NEAR, At, Found, PointwiseComparison
from paramverify.rereader.second_evidence import Evidence, StatedWitness
from paramverify.rereader.second_points import BITS, MISSED
from paramverify.rereader.second_quotients import Quotients

F = Fraction
CASE = """
[parameters]
p = "(0, 1)"
CONSTRAINTS
[mechanism]
kind = "hmm"
states = ["a", "b", "c"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "p", y = "1 - p" }
b = { x = "1/2", y = "1/2" }
c = { x = "1/3", y = "2/3" }
[mechanism.transitions]
a = { a = "1" }
b = { b = "1" }
c = { c = "1" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
ratio = 2
length = LENGTH
"""
RELEASE = """
[parameters]
p = "(0, 1)"
[mechanism]
kind = "release"
query = "i"
table = { 0 = { u = "p", v = "1 - p" }, 1 = { v = "1/2", w = "1/2" } }
[mechanism.inputs]
i = { values = "0..1" }
[neighbours]
differ = "each"
[privacy]
ratio = 2
"""


IMPOSSIBLE = RELEASE.replace(
    '[mechanism.inputs]\ni = { values = "0..1" }', "[prior]\ni = { uniform = [0, 1] }"
)
IMPOSSIBLE = IMPOSSIBLE.replace(
    '[neighbours]\ndiffer = "each"', '[secrets]\na = "i == 0"\nb = "i == 2"\npairs = [["a", "b"]]'
)


def case(interval: str = "(0, 1)", *constraints: str, length: str = "1") -> str:
    """Returns a case with another domain or other lengths."""
    limits = f"constraints = {list(constraints)}" if constraints else ""
    text = CASE.replace('"(0, 1)"', f'"{interval}"').replace("LENGTH", length)
    return text.replace("CONSTRAINTS", limits)


def looking(
    content: str, box: Mapping[str, str] | None = None, polynomial: str = "1", **more: Any
) -> PointwiseComparison:
    """Returns a comparison of a case with evidence that has one claim, about this box."""
    box = {"p": "(0, 1)"} if box is None else box
    domain = {"variables": [*box], "box": box, "constraints": [], **more}
    claim = {"kind": "claim", "domain": 0, "polynomial": polynomial, "origins": [["a", "b", 1]]}
    document = {"status": "holds", "domains": [domain], "statements": [claim]}
    return PointwiseComparison(Quotients(), Evidence(document), content, None)


STRICT = [["2*p - 1", ">"]]
DOMAINS: list[tuple[tuple[str, ...], str, list[list[str]], bool]] = [
    (("(0, 1)",), "(0, 1)", [], True),
    (("[0, 1)",), "(0, 1)", [], False),
    (("(0, 1)",), "(0, 1]", [], False),
    (("(0, 1)",), "(0, 2)", [], False),
    (("(0, 1)",), "(1/1000, 1)", [], False),
    (("[1/2, 1/2]",), "[1/2, 1/2]", [], True),
    (("(0, 1)", "p <= 1/2"), "(0, 1/2]", [], True),
    (("(0, 1)", "p <= 1/2"), "(0, 1/2)", [], False),
    (("(0, 1)", "p > 1/2"), "(0, 1)", STRICT, True),
    (("(0, 1)", "p >= 1/2"), "(0, 1)", STRICT, False),
    (("(0, 1)", "1/(p - 1/2) > 0"), "(0, 1)", STRICT, True),  # not defined where the claims have no point
    # Both ends are strict, and only steps from an end see the difference: short ones, and shorter ones.
    (("(0, 1)", "p < 1/2"), "(0, 501501/1000000)", [], False),
    (("(0, 1)", "p < 501501/1000000"), "(0, 1/2)", [], False),
    (("(0, 1)", "p > 1/2"), "(498499/1000000, 1)", [], False),
    (("(0, 1)", "p < 1/2"), "(0, 5000000015/10000000000)", [], False),
    (("(0, 1)", "p < 5000000015/10000000000"), "(0, 1/2)", [], False),
    (("(0, 1)", "p > 37/100"), "(368501/1000000, 1)", [], False),
    (("(0, 1)", "p < 371499/1000000"), "(0, 37/100]", [], False),
]


@pytest.mark.parametrize(("own", "box", "constraints", "same"), DOMAINS)
def test_domains(own: tuple[str, ...], box: str, constraints: list[list[str]], same: bool) -> None:
    """A constraint may be an end of an interval instead; whatever differs is noticed, also beside an end."""
    look = looking(case(*own), {"p": box}, constraints=constraints)
    if same:
        look.check_domains([look.domain])
        return
    with pytest.raises(Rejected, match="only one of both domains has p = "):
        look.check_domain()


def test_domains_with_several_parameters() -> None:
    """Corners count, and each claim has all parameters of the case, in whatever order."""
    text = case().replace("[mechanism]", 'q = "[0, 2]"\n[mechanism]', 1)
    look = looking(text, {"q": "[0, 2]", "p": "(0, 1)"})
    look.check_domains([look.domain, look.domain])
    other = looking(text, {"p": "(0, 1)", "q": "[0, 2)"}).domain
    with pytest.raises(Rejected, match="only one of both"):
        look.check_domains([look.domain, other])
    with pytest.raises(Rejected, match="other parameters"):
        look.check_domains([looking(case()).domain])
    more = {"p": "(0, 1)", "w1": "(0, 1)"}
    for names, error in ((more, UnreadCase), ({**more, "q": "(0, 1)"}, Rejected), ({}, Rejected)):
        with pytest.raises(error):
            looking(case(), names).check_parameters()


@pytest.mark.parametrize("exponent", ["1/3", "1", "50"])
def test_numbers_for_e(exponent: str) -> None:
    """Both agree with exp of the exponent in 56 digits, as `decimal` computes it, and they differ."""
    found = looking(case(), constant=exponent).bases
    with localcontext() as context:
        context.prec = 120
        value = F((Decimal(F(exponent).numerator) / F(exponent).denominator).exp())
    assert all(abs(base / value - 1) < F(1, 10**56) for base in found)
    assert len({*found}) == 2


@pytest.mark.parametrize("exponent", ["0", "-1", "51", "501/10"])
def test_exponents_that_are_too_large(exponent: str) -> None:
    """No numbers for E are taken then."""
    with pytest.raises(UnreadCase, match="large exponent"):
        looking(case(), constant=exponent)


def test_roots_of_e() -> None:
    """A root of E up to the 60th is taken, near to exp of its exponent, and no further one."""
    look = looking(case(), constant="1")
    whole = look.bases[0]
    look.refine("", F(1, 60))
    for base in look.bases:
        assert abs(base**60 / whole - 1) < F(1, 10**50)
        assert look.value("E + p", {"p": F(1, 3)}, base) - F(1, 3) == look.exact("E", base) == base**60
    assert "E" not in looking(case()).values({"p": F(1, 3)}, F(1))
    with pytest.raises(UnreadCase, match="too small a common divisor"):
        looking(case(), constant="1").refine("", F(1, 61))


def test_a_single_point() -> None:
    """It comes with both numbers for E."""
    look = looking(case("1/2"), {"p": "[1/2, 1/2]"}, constant="1")
    assert look.points() == [({"p": F(1, 2)}, base) for base in look.bases]
    assert not look.is_point


def test_points() -> None:
    """Fixed points are several of the domain."""
    assert looking(case()).bases == [1]
    look = looking(case(), constant="1")
    points, bases = zip(*look.points(), strict=True)
    assert len({point["p"] for point in points}) == 4
    assert list(bases) == look.bases * 2
    look = looking(case("1/2"), {"p": "[1/2, 1/2]"})
    assert look.is_point
    assert list(look.drawn()) == look.points() == [({"p": F(1, 2)}, 1)]
    assert look.found([1]).where == "a point"
    text = case("1/2").replace("[mechanism]", 'q = "[0, 2]"\n[mechanism]', 1)
    assert not looking(text, {"p": "[1/2, 1/2]", "q": "[0, 2]"}).is_point
    with pytest.raises(UnreadCase, match="no point"):
        looking(case("(0, 1)", "p > 2")).points()
    small = looking(case("(0, 1)", "p < 1/200"))  # no fixed point is there
    assert all(0 < point["p"] < F(1, 200) for point, _ in small.points())


@pytest.mark.parametrize("part", ["1", "1/3", "1/100"])
def test_random_points(part: str) -> None:
    """They are in the domain, and what a constraint leaves of the box is estimated from them."""
    look = looking(case("(0, 1)", f"p < {part}"), constant="1")
    has, tried, drawn = look.reader.has, list[At](), list[At]()
    look.reader.has = lambda *at: tried.append(at) or has(*at)  # type: ignore[func-returns-value, method-assign]
    for at in islice(look.drawn(), 12):
        drawn.append(at)
        share = F(len(tried), len(drawn))
        assert look.lost == 0 if share == 1 else 2 ** (look.lost - 1) <= share < 2**look.lost
    assert len({point["p"] for point, _ in drawn}) == 12
    assert all(0 < point["p"] < F(part) for point, _ in drawn)
    assert len({base for _, base in drawn}) == 12
    assert all(abs(base - look.bases[0]) < F(1, 10**50) for _, base in drawn)
    look.near = False
    assert all(1 <= base < 2 and (base * 2**BITS).denominator == 1 for _, base in islice(look.drawn(), 12))
    look.reader.ties = {"p": ("x_p", F(1))}
    assert list(look.drawn()) == []


def test_how_many_points_are_visited() -> None:
    """As many random ones as are wanted, and fixed ones if that is too dear; one if there is only one."""
    look = looking(case())
    for count in (1, 3, 999):
        found, seen = look.visited(lambda at: at, lambda at, count=count: count)  # type: ignore[misc]
        assert (len(found.points), found.kind, seen) == (count, "random ", found.points)
    found, seen = look.visited(lambda at: at, lambda at: second_comparison.TOO_DEAR)
    assert (found.kind, found.points, seen) == ("fixed ", look.points(), look.points())
    look = looking(case("1/2"), {"p": "[1/2, 1/2]"})
    assert len(look.visited(lambda at: at, lambda at: 7)[0].points) == 1
    look = looking(case())
    for values, degree, count in ((2, 126, 2), (2, 127, 3), (3, 126, 3)):  # (40 + 2 or 3)/(28 - 7 or 8)
        found = look.values_at_random(lambda at, values=values: [F(1, 3)] * values, degree)  # type: ignore[misc]
        assert len(found.points) == count
    told = [
        (Found([({}, F(1))] * n, kind=kind)) for n, kind in ((1, "random "), (2, "random "), (2, "fixed "))
    ]
    assert [found.where for found in told] == ["a point", "2 random points", "2 fixed points"]
    assert [found.missed for found in told] == ["", MISSED, ""]


def test_limits_of_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two outputs have 2 + 4 + 8 sequences up to length 3; what is exactly as much as a limit is compared."""
    look = looking(case(length='"1..3"'))
    for most in (13, 14):
        monkeypatch.setattr(second_comparison, "MAX_WORDS", most)
        if most == 14:
            assert look.found([1, 2, 3]).pairs == [("a", "b")]
            continue
        with pytest.raises(UnreadCase, match="too many sequences"):
            look.found([1, 2, 3])
    monkeypatch.setattr(second_comparison, "MAX_WORDS", 1)
    found = look.found([1])  # one step has the outputs that there are
    size = found.masses[0].size
    for name, words in (
        ("MAX_COMPARED", "too many pairs"),
        ("MOST_DRAWN", "fixed "),
        ("MOST_PAIRS", "fixed "),
    ):
        exact = 1 if name == "MOST_PAIRS" else size
        monkeypatch.setattr(second_comparison, name, exact)
        assert look.found([1]).kind == "random "
        monkeypatch.setattr(second_comparison, name, exact - 1)
        if name == "MAX_COMPARED":
            with pytest.raises(UnreadCase, match=words):
                look.found([1])
            monkeypatch.setattr(second_comparison, name, exact)
        else:
            assert look.found([1]).kind == words
            monkeypatch.setattr(second_comparison, name, exact)
    with pytest.raises(UnreadCase, match="every length"):
        look.found([])
    unseen = case().replace('"y"]', '"y", "z"]')  # nothing puts out z
    assert (looking(unseen)._outputs(), looking(case("1/2"), {"p": "[1/2, 1/2]"})._outputs()) == (3, 2)
    assert (look._outputs(), looking(RELEASE)._outputs(), looking(IMPOSSIBLE)._outputs()) == (2, 3, 2)
    assert looking(IMPOSSIBLE).found([1]).masses[0].words["b"] is None
    assert [looking(case(), polynomial=f"p^{n}").found([1]).kind for n in (40, 41)] == ["random ", "fixed "]
    look.functional.drawn = False
    assert look.found([1]).kind == ""


def test_enough_points_for_a_degree() -> None:
    """The chance that a difference of the degree of both sides has zeros at all points is below 2^-40."""
    for power in range(14):
        degree = 2**power
        look = looking(case().replace('"p"', f'"p**{degree}"').replace('"1 - p"', f'"1 - p**{degree}"'))
        found = look.found([1])
        choices = sum(len(words or ()) for words in found.masses[0].words.values())
        count = len(found.points) - 1  # one is for the factor of the pair
        assert choices * F(2 * degree, 2**BITS) ** count < F(1, 2**40)
        assert 4 * choices * F(8 * (degree + 1), 2**BITS) ** (count - 1) > F(1, 2**40)
    # The degree of a probability is taken for 2: 2·(29 + 2) has 6 binary digits and 2·(31 + 2) has 7.
    claims = [looking(case(), polynomial=f"p^{degree}") for degree in (29, 31)]
    assert [len(look.found([1]).points) for look in claims] == [3, 4]
    # Three probabilities and the factor of the pair: 4 has three digits, and (40 + 3)/(28 - 7) is above 2.
    three = RELEASE.replace('u = "p", v = "1 - p"', 'u = "1"').replace(
        'v = "1/2", w = "1/2"', 'v = "p", w = "1 - p"'
    )
    assert len(looking(three, polynomial="p^31").found([1]).points) == 4


WITNESS = {"observations": ["x", "y"], "secrets": ["a", "b"], "parameters": {"p": "1/5"}}
WRONG = [
    ({"observations": ["x"]}, "another length"),
    ({"parameters": {"p": "1"}}, "outside the domain"),
    ({"secrets": ["a", "c"]}, "are not compared"),
    ({"secrets": ["a", "a"]}, "are not compared"),
]


def test_witnesses() -> None:
    """A witness has a length, a point and a pair of the case, in any direction, and its numbers."""
    look = looking(case(length="2"))
    for secrets in (["a", "b"], ["b", "a"]):
        stated = StatedWitness({**WITNESS, "secrets": secrets})
        point, found = look.at_witness(stated, F(1))
        assert point == {"p": F(1, 5)}
        assert [found.of(name, ("x", "y")) for name in "ab"] == [F(4, 25), F(1, 4)]
    for change, words in WRONG:
        with pytest.raises(Rejected, match=words):
            look.at_witness(StatedWitness({**WITNESS, **change}), F(1))
    every = looking(case(length='"all"'))
    assert every.at_witness(StatedWitness({**WITNESS, "observations": ["x"] * 3}), F(1))[0] == point
    for chances, good in ((["4/25", "1/4"], True), (["1/4", "4/25"], False), (["4/25", "1/2"], False)):
        largest = [{"output": ["x", "x"], "probabilities": ["1/25", "1/4"]}]
        largest += [{"output": ["x", "y"], "probabilities": chances}]
        stated = StatedWitness({**WITNESS, "largest": largest})
        if good:
            look.check_largest(stated, look.at_witness(stated, F(1))[1], F(1))
            continue
        with pytest.raises(Rejected, match="another probability for the witness"):
            look.check_largest(stated, look.at_witness(stated, F(1))[1], F(1))


@pytest.mark.parametrize("secrets", [["a", "b"], ["b", "a"]])
def test_witnesses_of_impossible_secrets(secrets: list[str]) -> None:
    """No input has the second secret, so there is nothing to compare."""
    stated = StatedWitness({**WITNESS, "observations": ["u"], "secrets": secrets})
    with pytest.raises(Rejected, match="a secret is impossible"):
        looking(IMPOSSIBLE).at_witness(stated, F(1))


def test_a_rational_beside_an_algebraic_witness() -> None:
    """It may be outside the domain, for a root that is in it is an end of the domain."""
    look = looking(case("(0, 1)", "p**2 >= 1/2"))
    root = {"minimal": "2*t^2 - 1", "interval": ["0", "1"], "coordinates": {"p": "t"}}
    point, found = look.at_witness(StatedWitness({**WITNESS, "algebraic": root, "observations": ["x"]}), F(1))
    assert [found.of(name, ("x",)) for name in "ab"] == [point["p"], F(1, 2)]


def test_outputs_of_the_first_two_steps() -> None:
    """Where no outputs are listed, those of the first step and of the second count: some end there."""
    words = [("a",), ("b", "c"), ("d", "e", "f")]
    look: Any = looking(RELEASE)
    look.reader.masses = lambda point, base, lengths: SimpleNamespace(
        words={"l": None, "r": {word: F(1, 4) for word in words if len(word) in lengths}}
    )
    assert look._outputs() == 3


def test_numbers_of_witnesses() -> None:
    """They are exactly those found, and very near to them at an algebraic point."""
    look = looking(case(), constant="1/2")
    base = look.bases[0]
    formula = {"exact": "E^2 + 1/7 with E = exp(1/2)"}
    assert look.exact(formula, base) == base**2 + F(1, 7)
    rational: Any = SimpleNamespace(is_algebraic=False)
    algebraic: Any = SimpleNamespace(is_algebraic=True, near=F)
    look.check_numbers([F(24, 7), base**2 + F(1, 7)], ["24/7", formula], base, rational)
    for value in (F(0), F(1, 3), F(-5)):
        room = NEAR * (1 + abs(value))
        for far, same in (
            (room, True),
            (-room, True),
            (room * F(101, 100), False),
            (-room * F(101, 100), False),
        ):
            if same:
                look.check_numbers([value], [value + far], base, algebraic)
            else:
                with pytest.raises(Rejected, match="a number of the witness"):
                    look.check_numbers([value], [value + far], base, algebraic)
            with pytest.raises(Rejected, match="a number of the witness"):
                look.check_numbers([value], [str(value + far)], base, rational)
