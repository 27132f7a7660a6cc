"""Budgets on thin domains: random cases against an oracle, each class of mistakes, and the evidence."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from budget_tools import check_sample, random_sample

from paramverify.algebra.rationals import at_most
from paramverify.claims import Origin
from paramverify.cli.main import run
from paramverify.evidence.witnesses import evaluate
from paramverify.models.model import Model
from paramverify.privacy.cases import load

TWO = """
[parameters]
{parameters}
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = {{ x = "{a}", y = "1-({a})" }}
b = {{ x = "{b}", y = "1-({b})" }}
[neighbours]
differ = "each"
[privacy]
ratio = {ratio}
"""

PRIOR = """
[parameters]
{parameters}
[prior]
A = {{ categorical = {{ 0 = "{zero}", 1 = "{one}", 2 = "1-({zero})-({one})" }} }}
[mechanism]
kind = "hmm"
states = ["0", "1", "2"]
observations = ["x", "y"]
start = "A"
[mechanism.emissions]
0 = {{ x = "{e0}", y = "1-({e0})" }}
1 = {{ x = "{e1}", y = "1-({e1})" }}
2 = {{ x = "1/2", y = "1/2" }}
[secrets]
zero = "A == 0"
one = "A == 1"
pairs = [["zero", "one"]]
[privacy]
ratio = 3
"""


def two(a: str, b: str, parameters: str, ratio: str = "2") -> str:
    return TWO.format(a=a, b=b, parameters=parameters, ratio=ratio)


def told(path: Path, text: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """Returns the JSON document of `budget`; every field is compared with the text of a second run."""
    path.write_text(text)
    assert run(["budget", str(path), *options]) in (0, 3)
    lines = capsys.readouterr().out
    assert run(["budget", str(path), "--json", *options]) in (0, 3)
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    left, right = document["witness"]["secrets"]
    assert f"under {left!r} against {right!r}" in lines
    assert " ".join(document["witness"]["observations"]) in lines
    ratio = document.get("ratio")
    if ratio == "infinity":
        enough = document.get("relative", {}).get("enough")
        assert " is enough for all " in lines if enough else lines.startswith(("no budget", "no single"))
    elif isinstance(ratio, str):
        assert f"tight budget: ratio {ratio}" in lines
    elif ratio is None and document["ratio_upper"] != "unknown":
        (told_lower,) = re.findall(r"ratio between ([0-9.]+) and", lines)
        exact = Fraction(document["ratio_lower"])
        assert Fraction(told_lower) <= exact < Fraction(told_lower) + Fraction(1, 10**9)
    words = {True: "; reached", False: "; approached, not reached", None: "reached is not decided"}
    assert words[document["attained"]] in lines
    for name, value in document["witness"]["parameters"].items():
        assert not isinstance(value, str) or f"{name} = {value}" in lines
    if isinstance(document["epsilon"], float) and document["epsilon"]:
        one = re.escape(f"{at_most(Fraction(document['epsilon']), 9)};")
        assert re.search("epsilon between" if ratio is None else f"epsilon [≈=] {one}", lines)
    return document


@pytest.mark.slow
def test_random_budgets_against_an_oracle(tmp_path: Path) -> None:
    """No sampled ratio contradicts a budget of a random case, and witnesses, flags and refusals are right."""
    kinds = {check_sample(random_sample(seed), tmp_path / "case.toml") for seed in range(15)}
    assert {"exact True", "infinite True", "infinite False"} <= kinds


SIDES = 'p = "[0, 1]"\nq = "[0, 1]"\nconstraints = [{}]'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "parameters", "ratio"),
    [
        ("p", "p/5", 'p = "[0, 1/2]"', "5"),
        ("(p-q)**2", "(p-q)**2/5", SIDES.format('"p == q"'), "1"),
        ("p*q", "p*q**2", SIDES.format('"p == 0"'), "1"),
        ("(1+p)/3", "1/3", SIDES.format('"(2*p-1)*(4*p-1) == 0"'), "3/2"),
        ("p", "p/5", SIDES.format('"p*(1-p) == 0"'), "infinity"),
    ],
)
def test_thin_domains(
    a: str, b: str, parameters: str, ratio: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a parameter is fixed, or an equation holds, only outputs that are possible there count."""
    path = tmp_path / "case.toml"
    document = told(path, two(a, b, parameters), capsys)
    assert document["ratio"] == ratio
    assert document["attained"] is True
    evidence = tmp_path / "evidence.json"
    assert run(["budget", str(path), "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    said = capsys.readouterr().out
    assert "checked: a budget" in said
    assert "no upper bound" in said if ratio == "infinity" else f"the largest ratio is {ratio}" in said


def test_isolated_irrational_points_give_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the domain has irrational points only, bounds are told, and nothing is said of reaching."""
    document = told(
        tmp_path / "case.toml", two("p", "p/5", 'p = "[0, 1]"\nconstraints = ["p**2 == 1/5"]'), capsys
    )
    assert Fraction(document["ratio_lower"]) <= 5 <= Fraction(document["ratio_upper"])
    assert Fraction(document["ratio_upper"]) - Fraction(document["ratio_lower"]) < Fraction(1, 10**6)
    assert document["attained"] is None


def test_the_supremum_is_reached_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A maximum on a face of the box is reached inside the face, whose vertex is outside of the domain."""
    parameters = 'p = "(0, 1/2)"\nc = "[1/2, 1]"'
    document = told(tmp_path / "case.toml", two("p*c", "p/8", parameters), capsys)
    assert (document["ratio"], document["attained"]) == ("8", True)
    assert document["witness"]["parameters"]["c"] == "1"
    assert 0 < Fraction(document["witness"]["parameters"]["p"]) < 1
    assert document["approached"] == []


def test_an_impossible_secret_is_no_place_to_reach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the ratio is largest one secret is impossible: it is approached, by exact witnesses."""
    text = PRIOR.format(parameters='p = "[0, 1]"', zero="p/2", one="1/3", e0="(2-p)/3", e1="1/3")
    path = tmp_path / "case.toml"
    document = told(path, text, capsys)
    assert (document["ratio"], document["attained"]) == ("2", False)
    model = load(path).model
    assert isinstance(model, Model)
    last = Fraction(0)
    for witness in document["approached"]:
        point = {name: Fraction(value) for name, value in witness["parameters"].items()}
        assert point["p"] > 0
        assert last < Fraction(witness["ratio"]) < 2
        last = Fraction(witness["ratio"])
        left, right = witness["secrets"]
        again = evaluate(model, Origin(left, right, tuple(witness["observations"])), point)
        assert str(again.ratio) == witness["ratio"]
    assert last > 2 - Fraction(1, 10**8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "zero"),
    [
        (SIDES.format('"p == q"'), "(p-q)**2/2"),
        ('p = "1/2"\nq = "[0, 1]"', "(2*p-1)**2*q/2"),
    ],
)
def test_a_secret_that_the_domain_makes_impossible(
    parameters: str, zero: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A case whose secret has probability zero at every point of the domain is refused, by every command."""
    path = tmp_path / "case.toml"
    path.write_text(PRIOR.format(parameters=parameters, zero=zero, one="1/3", e0="1/3", e1="1/4"))
    commands = [["verify", str(path)], ["budget", str(path), "--json"]]
    others = [
        ["certify", str(path), "--observations", "x"],
        ["show", str(path)],
        ["synthesize", str(path), "--witness"],
        ["export", str(path), "--to", "smtlib2"],
        ["sample", str(path), "--runs", "10"],
        ["compare", str(path)],
    ]
    for command in [*commands, *(others if "p == q" in parameters else ())]:
        assert run(command) == 2, command
        said = capsys.readouterr()
        assert "the secret 'zero' has probability zero for every prior" in said.err + said.out, command


def test_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no prior makes both secrets possible there is no ratio, and the budget says so."""
    path = tmp_path / "case.toml"
    parameters = SIDES.format('"p*(1-p) == 0"')
    path.write_text(PRIOR.format(parameters=parameters, zero="p/2", one="(1-p)/2", e0="1/3", e1="1/4"))
    assert run(["budget", str(path)]) == 2
    assert "no prior gives both secrets" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["epsilon = 1.1", 'ratio = "exp(2)"'])
def test_the_own_bound_does_not_matter(
    bound: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A constant that only the case's own bound has changes nothing about its budget."""
    text = PRIOR.format(parameters='p = "(0, 1/2]"', zero="p", one="p**2", e0="(1+p)/3", e1="(1+p**2)/4")
    expected = told(tmp_path / "case.toml", text, capsys)
    found = told(tmp_path / "case.toml", text.replace("ratio = 3", bound), capsys)
    for name in ("ratio", "epsilon", "attained", "proved_upper"):
        assert found[name] == expected[name]


def test_a_power_of_the_constant_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The constant of a mechanism stays, and the finer one that the bound needs is not used."""
    text = two("exp(-1/2)*p", "exp(-1)*p", 'p = "[1/2, 1]"')
    expected = told(tmp_path / "case.toml", text, capsys)
    found = told(tmp_path / "case.toml", text.replace("ratio = 2", "epsilon = 1.1"), capsys)
    assert found["ratio"] == expected["ratio"]
    assert found["ratio"]["exact"] == "exp(1/2)"
    assert found["attained"] is expected["attained"] is True
    assert Fraction(found["proved_upper"]) >= Fraction(found["ratio"]["lower"])


def forged(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns documents that say something false, each by one change."""
    budget = document["budget"]
    witnesses = [dict(w) for w in budget["witnesses"]]
    other = [{**witnesses[-1], "ratio": "100"}]
    moved = [{**witnesses[-1], "parameters": dict.fromkeys(witnesses[-1]["parameters"], "1/7")}]
    changes: list[Any] = [
        {**budget, "bound": ["3", "2"]},
        {**budget, "bound": ["-8", "1"]},
        {**budget, "bound": ["p", "1"]},
        {**budget, "bound": None},
        {**budget, "bound": ["8"]},
        {**budget, "witnesses": other},
        {**budget, "witnesses": moved},
        {**budget, "witnesses": {}},
        {**budget, "attained": True},
        {**budget, "kind": "ratio"},
        {"kind": "bound", "bound": ["8", "1"]},
        7,
    ]
    found = [{**document, "budget": change} for change in changes]
    statements = document["statements"]
    claim = next(k for k, statement in enumerate(statements) if statement["kind"] == "claim")
    found.append({**document, "statements": [*statements[:claim], *statements[claim + 1 :]]})
    found.append({**document, "status": "violated"})
    found.append({name: value for name, value in document.items() if name != "budget"})
    return found


def test_a_budget_that_says_nothing_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Claims that hold show a number, which has to be given; where nothing is shown, nothing is told."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(two("p*c", "p/8", 'p = "(0, 1/2)"\nc = "[1/2, 1]"').replace("ratio = 2", "ratio = 8"))
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 0
    document = json.loads(evidence.read_text())
    none = {"kind": "bound", "bound": None, "witnesses": []}
    unproved = [{**each, "proof": None} for each in document["statements"]]
    for changes, code, told in (
        ({}, 1, "a budget must have a number exactly if the claims hold"),
        ({"status": "unknown", "statements": unproved}, 0, ": undecided"),
    ):
        evidence.write_text(json.dumps(document | {"budget": none} | changes))
        for more in ([], ["--case", str(path)]):
            capsys.readouterr()
            assert run(["check", str(evidence), *more]) == code
            assert told in capsys.readouterr().out


def test_forged_evidence_of_a_budget_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence with another bound, other witnesses, fewer claims or another shape is not accepted."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(two("p*c", "p/8", 'p = "(0, 1/2)"\nc = "[1/2, 1]"'))
    assert run(["budget", str(path), "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    assert "the largest ratio is 8, proved, and reached at" in capsys.readouterr().out
    assert run(["check", str(evidence)]) == 0
    assert "neither it nor a witness was compared" in capsys.readouterr().out
    for false in forged(json.loads(evidence.read_text())):
        evidence.write_text(json.dumps(false))
        assert run(["check", str(evidence), "--case", str(path)]) == 1, false["budget"]
        assert "REJECTED" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "parameters", "length"),
    [
        ("1-p", "(1-p)*q", 'p = "1"\nq = "(0, 1)"', "2"),
        ("(p-1/2)**2", "(p-1/2)**2/3", 'p = "1/2"', '"1..2"'),
    ],
)
def test_evidence_about_outputs_that_never_happen(
    a: str, b: str, parameters: str, length: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Evidence with claims about sequences of probability zero is accepted, and is read a second time."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(two(a, b, parameters) + f"length = {length}\n")
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    assert "read a second time: " in capsys.readouterr().out
    written = evidence.read_text()
    for old, new in (("a against b", "a against c"), ("output y", "output z")):
        assert old in written
        evidence.write_text(written.replace(old, new))
        assert run(["check", str(evidence), "--case", str(path)]) == 1


SLOPE = 'p = "[0, 1]"\nq = "[0, 1]"\nconstraints = ["p <= q"]'  # q - p may be a probability
GROWING = """[mechanism.transitions]
a = { a = "1-q+p", b = "q-p" }
b = { b = "1" }
[neighbours]"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "every_length", "words"),
    [
        ("q-p", "1/2", False, "no upper bound"),  # infinite, and reached
        ("q-p", "(q-p)**2", False, "no upper bound"),  # infinite, and approached
        ("(1+2*(q-p))/4", "1/2", False, "the largest ratio is"),
        ("(1+2*(q-p))/4", "1/2", True, "there is none"),  # by a loop
    ],
)
def test_the_evidence_of_every_budget_proves_the_obligations(
    a: str, b: str, every_length: bool, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where rows of the model need a proof, it is in the evidence, with and without an upper bound."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case = two(a, b, SLOPE)
    if every_length:
        case = case.replace("[neighbours]", GROWING) + 'length = "all"\n'
    path.write_text(case)
    assert run(["budget", str(path), "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    said = capsys.readouterr().out
    assert words in said
    assert "checked: a budget" in said
    document = json.loads(evidence.read_text())
    statements = document["statements"]
    # A claim that comes from no output is one about the model, too.
    proved = [s for s in statements if s["kind"] != "obligation" and s.get("origins") != []]
    assert len(proved) < len(statements)
    evidence.write_text(json.dumps({**document, "statements": proved}))
    assert run(["check", str(evidence), "--case", str(path)]) == 1


@pytest.mark.parametrize(("parameters", "ratio"), [('p = "0"', None), ('p = "[0, 1/2]"', "5")])
def test_the_worst_prior_on_a_thin_domain(
    parameters: str, ratio: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`synthesize --witness --objective ratio` looks for the worst prior where its output is possible."""
    path = tmp_path / "case.toml"
    path.write_text(two("p", "p/5", parameters))
    run(["synthesize", str(path), "--witness", "--objective", "ratio", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert (document["supremum"], document["attained"]) == (ratio or "1", True)
    assert document["status"] == ("violated" if ratio else "holds")
    assert (document["witness"]["ratio"] if ratio else None) == ratio
