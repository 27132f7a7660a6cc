"""The second reader on its own: releases of inputs, and mistakes that it notices without the first reader."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path
from typing import Any

import pytest

from paramverify.kernel.strict_reading import UnreadCase
from paramverify.rereader import second_reader
from paramverify.rereader.second_reader import SecondReader

F = Fraction

CASE = """
[prior]
x = { bernoulli = "1/3" }
y = { given = "x", table = { 0 = { 0 = "1/2", 1 = "1/2" }, 1 = { 1 = "1" } } }
MORE

[mechanism]
MECHANISM

[secrets]
one = "x == 1"
zero = "x == 0"
pairs = [["one", "zero"]]

[privacy]
ratio = 3
"""
GEOMETRIC = (
    'kind = "geometric"\nquery = "x + y"\nnoise = { table = [["1", "0"], ["1/2", "1/2"], ["0", "1"]] }\n'
)


def words(mechanism: str = GEOMETRIC, more: str = "") -> dict[str, dict[tuple[str, ...], Fraction] | None]:
    """What the second reader finds at the only point."""
    text = CASE.replace("MECHANISM", mechanism).replace("MORE", more)
    return dict(SecondReader(text, None).masses({}, F(1), [1]).words)


def test_it_reads_the_case() -> None:
    """Without a mistake it has the probabilities, which are those of the fractions."""
    found = words()
    assert found["one"] == {("1",): 1}
    assert found["zero"] == {("0",): F(3, 4), ("1",): F(1, 4)}


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        (GEOMETRIC, 'z = { like = "w" }\nw = { bernoulli = "1/2" }'),  # below
        (GEOMETRIC, 'z = { like = "z" }'),
        (GEOMETRIC, 'z = { like = "x", table = { 0 = { 0 = "1" } } }'),
        (GEOMETRIC, 'z = { truncated_geometric = "1/2", range = 2, around = "x + 1/2" }'),
        (GEOMETRIC, 'z = { truncated_geometric = "1/2", range = 1, around = "x + y" }'),
        (GEOMETRIC.replace('["1", "0"]', '["1"]'), ""),
        (GEOMETRIC + 'labels = { 0 = "a", 1 = "a" }', ""),
        (GEOMETRIC + 'labels = { 0 = "a" }', ""),
        ('kind = "release"\nquery = "x"\ntable = { 0 = { a = "1/2" }, 1 = { a = "1" } }', ""),
        ('kind = "release"\nquery = "x"\ntable = { 0 = { a = "2", b = "-1" }, 1 = { a = "1" } }', ""),
        ('kind = "release"\nquery = "x"\ntable = { 0 = { a = "1" } }', ""),
        (
            'kind = "release"\nquery = "x"\ntable = { "1" = { a = "1" }, "1.0" = { a = 1 }, 0 = { a = 1 } }',
            "",
        ),
        (
            'kind = "release"\nquery = "x"\ntable = { 0 = { "1" = "1/2", "1.0" = "1/2" }, 1 = { a = "1" } }',
            "",
        ),
    ],
)
def test_mistakes_are_noticed(mechanism: str, more: str) -> None:
    """Each is an error of malformed data, by which evidence about the case is rejected."""
    with pytest.raises((ValueError, KeyError)):
        words(mechanism, more)


def test_releases_of_inputs() -> None:
    """The query is evaluated on the inputs: against the definition, for each input."""
    text = """
[parameters]
p = "(0, 1)"

[define]
most = "max(a, b)"

[mechanism]
kind = "release"
query = "most - c >= 1"
table = { 1 = { yes = "p", no = "1 - p" }, 0 = { no = "1" } }

[mechanism.inputs]
a = { values = "0..1" }
b = { values = [0, 2] }
c = { values = "0..1" }

[neighbours]
differ = "one"
by = "any"

[privacy]
ratio = 3
"""
    p = F(2, 7)
    found = SecondReader(text, None).masses({"p": p}, F(1), [1]).words
    assert len(found) == 8
    for a, b, c in product((0, 1), (0, 2), (0, 1)):
        expected = {("yes",): p, ("no",): 1 - p} if max(a, b) - c >= 1 else {("no",): F(1)}
        assert found[f"({a}, {b}, {c})"] == expected


# --- what a reader says of a case -------------------------------------------------------------------

EPS = '[parameters]\neps = "(0, oo)"\nd = "[1/4, 1/2)"\nconstraints = ["d - 1/3"]\n'
RESPONSE = '[mechanism]\nkind = "randomized_response"\ntruth = "3/4"\n[neighbours]\ndiffer = "one"\n'


@pytest.mark.parametrize("part", [1, 2, 6])
@pytest.mark.parametrize("given", [["1/2", "1/3"], ["2", "3"], ["-3/4"], ["4", "6", "5/2"]])
def test_steps_of_exponents(given: list[str], part: int) -> None:
    """The step is the largest of which all exponents are whole multiples, or a part of it."""
    exponents = list(map(F, given))
    parts = [abs(exponents[0]) / k for k in range(1, 99)]
    largest = max(q for q in parts if all((e / q).denominator == 1 for e in exponents))
    reader, constant = SecondReader(EPS + RESPONSE, None), SecondReader(RESPONSE, abs(exponents[0]))
    none = SecondReader(RESPONSE, None)
    reader.take_part(part)
    for exponent in exponents:
        reader.refine("eps", exponent)
        constant.refine("", exponent)
        none.refine("", exponent)
    assert reader.steps == {"eps": largest / part}
    assert (constant.exponent, none.exponent, none.power) == (largest, largest, 1)
    assert constant.power * largest == abs(exponents[0])
    assert constant.calculator({}, F(2)).values["E"] == 2**constant.power
    for other in (4, 1):
        reader.take_part(other)
        assert reader.steps == {"eps": largest / other}
    reader.ties = {"eps": ("x_eps", F(1, 2))}
    assert reader.tied({"x_eps": F(1)}) == {"eps": 0}
    assert float(reader.tied({"x_eps": F(1, 3)})["eps"]) == pytest.approx(2 * log(3), rel=1e-15)


PRIVACY: dict[str, tuple[Fraction, Fraction, list[int], bool]] = {
    "": (F(1), F(0), [1], True),
    "ratio = 3": (F(3), F(0), [1], True),
    'epsilon = "ln(3)"\ndelta = "d/2"\nlength = 3\none_sided = "ignored"': (F(3), F(1, 5), [3], False),
    'ratio = "1/d"\nlength = "2..4"': (F(5, 2), F(0), [2, 3, 4], True),
    'length = "all"': (F(1), F(0), [], True),
}


@pytest.mark.parametrize("text", PRIVACY)
def test_what_privacy_says(text: str) -> None:
    """Bound, delta, lengths and sequences of one side only, with what holds where nothing is said."""
    reader = SecondReader(f"{EPS}{RESPONSE}[privacy]\n{text}\n", None)
    point = {"x_eps": F(1, 2), "d": F(2, 5)}
    found = (
        reader.ratio(reader.calculator(point, F(1))),
        reader.delta(point, F(1)),
        reader.lengths,
        reader.one_sided,
    )
    assert found == PRIVACY[text]


def test_domains(tmp_path: Path) -> None:
    """A point has all parameters, inside of their intervals, where no constraint fails, also of a file."""
    (tmp_path / "f").write_text(
        "$Parameters: p (0, 1)\n$Result: (+ p 1)\n$Well-formed Constraints:\n(< p 1/2)\n"
    )
    text = f'[define]\nf = {{ file = "f" }}\n{EPS}{RESPONSE}[privacy]\nratio = "f"\n'
    reader = SecondReader(text, None, tmp_path)
    point = {"p": F(1, 4), "x_eps": F(1, 9), "d": F(1, 4)}
    assert reader.has(point, F(1))
    assert reader.masses(point, F(1), [1]).bound("0", "1") == F(5, 4)
    wrong = ({"p": F(3, 4)}, {"p": F(0)}, {"x_eps": F(1)}, {"d": F(1, 2)}, {"d": F(1, 3)}, {"q": F(1)})
    assert not any(reader.has(point | other, F(1)) for other in wrong)
    assert not reader.has({"p": F(1, 4), "d": F(1, 4)}, F(1))
    assert len(reader.points(F(1), 3)) == 3
    assert all(reader.has(found, F(1)) for found in reader.points(F(1), 9))


DISTANT = (
    RESPONSE.replace('differ = "one"', 'distance = "abs(x - y)"') + '[privacy]\nratio = "1 + distance"\n'
)


def test_bounds_by_distance() -> None:
    """Each distance has its bound, in both directions, or the one that replaces it."""
    reader = SecondReader(DISTANT.replace('"3/4"', '"3/4"\nvalues = [0, 1, 3]'), None)
    for replaced in ({}, {"2": ("E^2", "3"), "3": ("7", "2")}):
        reader.replace_bound(replaced)
        found = reader.masses({}, F(5), [1])
        for (a, b), bound in {
            (0, 1): 2,
            (1, 3): F(25, 3) if replaced else 3,
            (0, 3): F(7, 2) if replaced else 4,
        }.items():
            assert found.bound(str(a), str(b)) == found.bound(str(b), str(a)) == bound
    reader = SecondReader(RESPONSE + '[privacy]\nratio = 3\nlength = "1..2"', F(1))
    reader.replace_bound(("E^2", "2"))
    assert (reader.masses({}, F(5), [1]).bound("0", "1"), reader.lengths) == (F(25, 2), [1, 2])


STATES = """[mechanism]
kind = "hmm"
states = ["1", "01"]
observations = ["u", "v"]
emissions.1 = { u = 1 }
emissions.01 = { u = "1/3", v = "2/3" }
[secrets]
pairs = [["one", "other"], ["one", "none"]]
[prior]
one = { 1 = "1/2", 01 = "1/2" }
other = { 01 = "1" }
none = { 1 = "p", 01 = "1 - p" }
[parameters]
p = "[0, 1]"
"""


def test_states_and_their_weights() -> None:
    """Distributions over states by name; sequences of two secrets; and a distribution that is none."""
    reader = SecondReader(STATES, None)
    found = reader.masses({"p": F(1)}, F(1), [1, 2])
    assert found.words["other"] == {
        ("u",): F(1, 3),
        ("v",): F(2, 3),
        **{(a, b): F(2 ** ((a + b).count("v")), 9) for a in "uv" for b in "uv"},
    }
    assert (found.size, found.of("none", ("v",)), found.of("one", ("v",))) == (6, 0, F(1, 3))
    assert found.both("one", "none", 1) == [(F(2, 3), F(1)), (F(1, 3), F(0))]
    assert second_reader.PointProbabilities({}, {"one": None}, {}).size == 0
    row = found.words["other"]
    assert second_reader.PointProbabilities({}, {"one": row, "other": {("u",): F(1)}}, {}).size == 6
    assert reader.pairs({"p": F(1)}, F(1)) == [("one", "other"), ("one", "none")]
    for wrong in ({"p": F(2)}, {"p": F(-1)}):
        with pytest.raises(ValueError, match="not a distribution"):
            reader.masses(wrong, F(1), [1])
    with pytest.raises(ValueError, match="names 0 of the values"):
        SecondReader(STATES.replace("other = { 01", 'other = { "1.0"'), None).masses({"p": F(1)}, F(1), [1])


def test_impossible_secrets() -> None:
    """A secret without a chance has no sequences, and none of a pair with it."""
    text = CASE.replace("MECHANISM", GEOMETRIC).replace("MORE", "").replace('"1/3"', '"0"')
    found = SecondReader(text, None).masses({}, F(1), [1])
    assert found.words == {"one": None, "zero": {("0",): F(1, 2) + F(1, 4), ("1",): F(1, 4)}}
    assert (
        found.size,
        found.of("one", ("0",)),
        found.both("one", "zero", 1),
        found.both("zero", "one", 1),
    ) == (2, 0, None, None)


LABELLED = """[mechanism]
kind = "program"
source = "output(len(q))"
[mechanism.inputs]
q = { length = 2, values = ["a, b", 'say "c"', "d", 1] }
[neighbours]
"""


def test_pairs_and_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbours as they are listed or described, by names in which commas and quotes are written out."""
    listed = LABELLED + """pairs = [[["a, b", "d"], ["d", 'say "c"']], [["1", 1], ["d", "d"]]]\n"""
    wanted = [('("a, b", d)', '(d, "say \\"c\\"")'), ("(1, 1)", "(d, d)")]
    reader = SecondReader(listed, None)
    assert reader.pairs({}, F(1)) == wanted
    assert list(reader.masses({}, F(1), [1]).words) == [name for pair in wanted for name in pair]
    reader = SecondReader(LABELLED + 'differ = "one"\nby = "any"', None)
    monkeypatch.setattr(second_reader, "MAX_INPUTS", 16)
    assert len(reader.pairs({}, F(1))) == 4 * 4 * 3
    monkeypatch.setattr(second_reader, "MAX_INPUTS", 15)
    with pytest.raises(UnreadCase, match="more neighbours than it lists"):
        reader.pairs({}, F(1))
    assert len(SecondReader(listed, None).pairs({}, F(1))) == 2
    for text, words in (("", "without a mechanism"), (RESPONSE + "near = 1", "described in another way")):
        with pytest.raises(UnreadCase, match=words):
            SecondReader(text, None)
    with pytest.raises(ValueError, match="one_sided = 'both'"):
        print(SecondReader(RESPONSE + '[privacy]\none_sided = "both"', None).one_sided)


def test_outputs_that_are_named() -> None:
    """Only a program has named outputs, and only complete evidence is probed at breaks that it leaves out."""
    text = '[mechanism]\nkind = "program"\nsource = "v = laplace(1)\\noutput(max(x, v))"\n'
    text += 'inputs = { x = { values = "0..1" } }\n'
    for complete in (True, False):
        reader = SecondReader(text + '[neighbours]\ndiffer = "one"', None)
        reader.name_outputs(["at 3", "0..1"], complete)
        reader.exponent = F(1)
        found = reader.masses({}, F(2), [1]).words
        assert found["0"] == {("at 3",): F(1, 16), ("0..1",): F(3, 4)}
        assert reader.probe_breaks() == complete
        if complete:
            assert ("at 3, with value 1 just above 1",) in (reader.masses({}, F(2), [1]).words["0"] or {})
    reader = SecondReader(RESPONSE, None)
    reader.name_outputs(["0"])
    assert (reader.breaks, reader.probe_breaks()) == (None, False)
    assert reader.masses({}, F(1), [1]).words["0"] == {("0",): F(3, 4), ("1",): F(1, 4)}


FAMILY = Path(__file__).parents[2] / "cases/programs/family.toml"


def test_inputs_of_outputs_that_are_named() -> None:
    """Those of all secrets are looked at together then, else those of the secrets that are asked for."""
    reader, asked = SecondReader(FAMILY.read_text(), None), list[Any]()
    inner = reader.under_secrets
    reader.under_secrets = lambda *given: asked.append(given[2]) or inner(*given)  # type: ignore[func-returns-value, method-assign]
    for names in ([], ["0", "1", "2"]):
        reader.name_outputs(names)
        found = reader.masses({"p": F(1, 3), "alpha": F(1, 2)}, F(1), [1], {"ill"})
        assert found.words == {"ill": {("0",): F(1, 6), ("1",): F(1, 6), ("2",): F(2, 3)}}
    assert asked == [{"ill"}, None]
