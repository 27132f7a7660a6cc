"""Several mechanisms about the same hidden data: tuples of outputs, against brute force by fractions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT

import paramverify
from paramverify.algebra.polynomials import value_at
from paramverify.errors import InputError, LimitError
from paramverify.models.mechanisms import singles
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.rereader.second_reader import SecondReader
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_needs import NeedKind

SHIPPED = ROOT / "cases" / "approximate" / "survey-and-count.toml"
HALF = Fraction(1, 2)

Row = dict[str, Fraction]


def counted(truth: Fraction, value: int) -> Row:
    """Two answers to a survey about one bit, told with their counts."""
    one, zero = (truth, 1 - truth) if value else (1 - truth, truth)
    return {"1:2": one**2, "0:1 1:1": 2 * one * zero, "0:2": zero**2}


def noisy(total: int) -> Row:
    """A count up to 2 with truncated geometric noise of base 1/2."""
    return {str(o): HALF ** abs(o - total) * (1 if o in (0, 2) else HALF) / (1 + HALF) for o in range(3)}


def surveyed(p: Fraction | int, truth: Fraction, somebody: bool) -> Row:
    """How likely each tuple is under a secret, in the words of the case: every world by itself."""
    found: Row = {}
    total = Fraction(0)
    for john, ann in product((0, 1), repeat=2):
        weight = (p if john else 1 - p) * (p if ann else 1 - p)
        if (john + ann >= 1) != somebody:
            continue
        total += weight
        for (a, x), (b, y) in product(counted(truth, john).items(), noisy(john + ann).items()):
            found[f"({a}, {b})"] = found.get(f"({a}, {b})", Fraction(0)) + weight * x * y
    return {name: share / total for name, share in found.items()}


def outputs(model: Model, side: str, at: Mapping[str, Fraction]) -> Row:
    """How likely each output of a model is under a secret, at a point."""
    (pair,) = model.pairs
    start = pair.pi if pair.left == side else pair.tau
    found: Row = {}
    for state, weight in start.weights.items():
        for step in model.hmm.steps[state]:
            name = model.hmm.observations[step.observation]
            share = value_at(weight, at) * value_at(step.weight, at)
            found[name] = found.get(name, Fraction(0)) + share
    bottom = value_at(start.mass, at) * value_at(model.hmm.denominator, at)
    return {name: share / bottom for name, share in found.items()}


@pytest.mark.parametrize(("p", "t"), [("1/3", "3/5"), ("9/10", "1/2")])
def test_tuples_have_the_probabilities_of_all_worlds(p: str, t: str) -> None:
    """The model, and the second reader of the kernel, have the tuples of brute force, with their words."""
    model = load(SHIPPED).model
    assert isinstance(model, Model)
    at = {"p": Fraction(p), "t": Fraction(t)}
    second = SecondReader(SHIPPED.read_text(encoding="utf-8"), None).masses(at, Fraction(1), [1])
    for secret in ("somebody", "nobody"):
        brute = surveyed(at["p"], at["t"], secret == "somebody")
        assert outputs(model, secret, at) == brute
        assert second.words[secret] == {(name,): share for name, share in brute.items()}


RANDOM = """
[mechanism]
kind = "parts"
TABLES
[neighbours]
differ = "one"
by = 1
[privacy]
ratio = "RATIO"
delta = "1"
"""


def drawn(random: Random, rows: int, columns: int) -> list[list[Fraction]]:
    """A random table of probabilities."""
    whole = [[random.randint(0, 5) + (k == 0) for k in range(columns)] for _ in range(rows)]
    return [[Fraction(x, sum(row)) for x in row] for row in whole]


@pytest.mark.parametrize("seed", range(6))
def test_the_least_delta_is_that_of_all_sets_of_tuples(seed: int, tmp_path: Path) -> None:
    """Two or three random tables, one of them several times: the least delta over all sets of sequences."""
    random = Random(seed)
    ratio = Fraction(random.randint(2, 5), 2)
    tables = [drawn(random, 2, random.randint(2, 3)) for _ in range(2 + seed % 2)]
    times = [1 + (k == seed % 2) for k in range(len(tables))]
    written = "".join(
        f'[[mechanism.parts]]\nkind = "geometric"\ntimes = {n}\nnoise = {{ table = '
        f"{[[str(x) for x in row] for row in table]} }}\n"
        for table, n in zip(tables, times, strict=True)
    )
    path = tmp_path / "case.toml"
    path.write_text(RANDOM.replace("TABLES", written).replace("RATIO", str(ratio)), encoding="utf-8")
    model = load(path).model
    assert isinstance(model, Model)
    with Session(Options(seconds=30)) as session:
        found = least_bound(model, session, Fraction(1, 10**9), NeedKind.DELTA)
    single = [table for table, n in zip(tables, times, strict=True) for _ in range(n)]
    rows: list[list[Fraction]] = []
    for given in (0, 1):
        row = [Fraction(1)]
        for table in single:
            row = [a * b for a in row for b in table[given]]
        rows.append(row)
    brute = max(
        sum((max(Fraction(0), a - ratio * b) for a, b in zip(*pair, strict=True)), Fraction(0))
        for pair in (rows, rows[::-1])
    )
    assert found.low == found.high == brute


@pytest.mark.slow
def test_programs_with_files_and_named_inputs(tmp_path: Path) -> None:
    """Programs are parts too, in files as well: the ratio is the product, and evidence is read again."""
    path = tmp_path / "case.toml"
    text = (ROOT / "cases" / "approximate" / "histogram-two-releases.toml").read_text(encoding="utf-8")
    start, end = text.index("source"), text.index("[mechanism.parts.inputs]")
    source = text[start:end].partition("'''")[2].partition("'''")[0]
    (tmp_path / "total.py").write_text(source, encoding="utf-8")
    text = f'{text[:start]}file = "total.py"\n{text[end:]}'
    near = "sum(abs(x.cells[i] - y.cells[i])) <= 1"
    path.write_text(text.replace('differ = "one"', f'related = "{near}"'), encoding="utf-8")
    case = paramverify.load(path)
    checked = paramverify.check(case.verify().evidence(), case=path)
    assert "read a second time: " in "\n".join(checked.lines)
    assert len(singles(load(path).mechanism)) == 2
    digest = load(path).digest
    (tmp_path / "total.py").write_text(f"# changed\n{source}", encoding="utf-8")
    assert load(path).digest != digest


BAD = """
[prior]
x = { bernoulli = "1/2" }
[mechanism]
kind = "parts"
PARTS
[secrets]
yes = "x == 1"
no = "x == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = "100"
"""
NEAR = """
[mechanism]
kind = "parts"
PARTS
[neighbours]
differ = "one"
[privacy]
ratio = "100"
"""
SURVEY = '[[mechanism.parts]]\nkind = "randomized_response"\nquery = "x"\ntruth = "2/3"\n'
ALONE = '[[mechanism.parts]]\nkind = "randomized_response"\ntruth = "2/3"\n'
COUNT = '[[mechanism.parts]]\nkind = "geometric"\nnoise = { truncated_geometric = "1/2", range = 2 }\n'
SHORT = COUNT.replace("range = 2", "range = 1")
READ = """[[mechanism.parts]]
kind = "program"
source = "output(NAME)"
inputs = { NAME = { values = "0..1" } }
"""
SERIES = """[[mechanism.parts]]
kind = "hmm"
start = "x"
states = ["0", "1"]
observations = ["a"]
emissions = { 0 = { a = 1 }, 1 = { a = 1 } }
transitions = { 0 = { 1 = 1 }, 1 = { 0 = 1 } }
"""
NOISE = """[[mechanism.parts]]
kind = "program"
source = "output(x + laplace(1))"
inputs = { x = "x" }
"""
RELEASE = '[[mechanism.parts]]\nkind = "release"\nquery = "x"\n'
ODD = f"""{RELEASE}table = {{ 0 = {{ a = "1/2", "b), (c" = "1/2" }}, 1 = {{ a = 1 }} }}
{RELEASE}table = {{ 0 = {{ "d, e" = "1/2", f = "1/2" }}, 1 = {{ f = 1 }} }}
"""
COMMAS = f"""{RELEASE}table = {{ 0 = {{ "a, (b" = "1/2", "(a" = "1/2" }}, 1 = {{ "(a" = 1 }} }}
{RELEASE}table = {{ 0 = {{ "b), c" = "1/2", "c)" = "1/2" }}, 1 = {{ "c)" = 1 }} }}
"""


@pytest.mark.parametrize(
    ("frame", "parts", "place", "reason"),
    [
        (BAD, SURVEY, "mechanism.parts", "parts needs at least two mechanisms"),
        (BAD, SURVEY + ALONE, "mechanism.parts[1]", "this part has no queries, but parts[0] does"),
        (BAD, SURVEY + SERIES, "mechanism.parts[1]", "keeps a state between its answers"),
        (BAD, SURVEY + NOISE, "mechanism.parts[1]", "output"),
        (
            BAD,
            SURVEY + SURVEY.replace("randomized_response", "parts"),
            "mechanism.parts[1].kind",
            "a single mechanism",
        ),
        (BAD, SURVEY + SURVEY.replace("truth", "trust"), "mechanism.parts[1].trust", "did you mean 'truth'"),
        (
            NEAR,
            ALONE + COUNT,
            "mechanism.parts[1]",
            "answer 1 is one of 0, 1, 2, and for parts[0] one of 0, 1",
        ),
        (NEAR, ALONE + SHORT, "neighbours.by", "state how far neighbours may be apart"),
        (
            NEAR,
            READ.replace("NAME", "a") + READ.replace("NAME", "b"),
            "mechanism.parts[1]",
            "its inputs are b",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(
    frame: str, parts: str, place: str, reason: str, tmp_path: Path
) -> None:
    """Parts that do not fit together are told with their place."""
    path = tmp_path / "case.toml"
    path.write_text(frame.replace("PARTS", parts), encoding="utf-8")
    with pytest.raises(InputError) as told:
        load(path)
    assert told.value.parts[0].key == place
    assert reason in str(told.value)
    assert "\n" not in told.value.parts[0].reason


def test_too_many_tuples_are_a_limit(tmp_path: Path) -> None:
    """Counts of 200 answers of two parts are too many, and that is told in one line."""
    path = tmp_path / "case.toml"
    path.write_text(BAD.replace("PARTS", (SURVEY + "times = 200\n") * 2), encoding="utf-8")
    with pytest.raises(
        LimitError, match="the parts together have 40,401 tuples of outputs, but at most 20,000 are supported"
    ):
        load(path)


def test_two_tuples_are_never_one(tmp_path: Path) -> None:
    """Outputs with commas stand in brackets; where two names are the same nevertheless, it is refused."""
    path = tmp_path / "case.toml"
    path.write_text(BAD.replace("PARTS", ODD), encoding="utf-8")
    model = load(path).model
    assert isinstance(model, Model)
    assert set(model.hmm.observations) >= {"(a, (d, e))", "((b), (c), f)"}
    path.write_text(BAD.replace("PARTS", COMMAS), encoding="utf-8")
    with pytest.raises(InputError, match=r"two tuples of outputs have the same name, \(\(a, \(b\), c\)\)"):
        load(path)
