"""`synthesize` on case files with a delta: ends, E, thin domains, designs, evidence."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.cli.main import run
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.rereader.second_reading import second_look
from paramverify.synthesis.maps import Status
from paramverify.synthesis.safe_values import AnswerForm, Intervals, MapOptions, Regions, safe_values

RESPONSE = """
[parameters]
t = "{interval}"
{more}
[mechanism]
kind = "randomized_response"
values = [0, 1]
truth = "t"
[neighbours]
differ = "one"
[privacy]
{bounds}
"""


def written(folder: Path, interval: str, bounds: str, more: str = "") -> Path:
    """A case of one randomised response with truth t: each direction needs the delta t − c·(1 − t)."""
    path = folder / "case.toml"
    path.write_text(RESPONSE.format(interval=interval, bounds=bounds, more=more))
    return path


def parts_of(path: Path, parameters: tuple[str, ...] = ()) -> Intervals:
    """The exact intervals of a case."""
    with Session(Options(seconds=20)) as session:
        found = safe_values(load(path), session, parameters)
    assert isinstance(found, Intervals)
    return found


def told(found: Intervals) -> list[str]:
    """The parts with their brackets and rational ends."""
    shown = []
    for part in found.partition.parts:
        left, right = "(["[part.lower_closed], ")]"[part.upper_closed]
        shown.append(f"{part.status.value} {left}{part.lower.lower}, {part.upper.lower}{right}")
    return shown


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        # With the ratio 1 the least delta is |2t − 1|: it is 1/2 at t = 1/4 and at t = 3/4.
        ("[0, 1]", ["violating [0, 1/4)", "safe [1/4, 3/4]", "violating (3/4, 1]"]),
        ("(1/4, 3/4)", ["safe (1/4, 3/4)"]),
        ("[3/4, 1)", ["safe [3/4, 3/4]", "violating (3/4, 1)"]),
        ("(3/4, 1)", ["violating (3/4, 1)"]),
        ("[749/1000, 751/1000]", ["safe [749/1000, 3/4]", "violating (3/4, 751/1000]"]),
    ],
)
def test_ends_of_parts(tmp_path: Path, interval: str, expected: list[str]) -> None:
    """The end belongs to the private part, and open ends of the domain to none; thin domains too."""
    found = parts_of(written(tmp_path, interval, 'ratio = "1"\ndelta = "1/2"'))
    assert told(found) == expected
    for number, witness in found.witnesses.items():
        assert found.partition.parts[number].status is Status.VIOLATING
        assert isinstance(witness, ExactSetWitness)
        assert witness.exceeds


def test_the_constant_of_exp(tmp_path: Path) -> None:
    """With ε = 1/2 and δ = 1/10 the truth is at most (1/10 + e^½)/(1 + e^½)."""
    path = written(tmp_path, "[1/2, 1)", 'epsilon = "1/2"\ndelta = "1/10"')
    partition = parts_of(path).partition
    # e^½ = 1.6487212707…, so the end is 0.660213398…
    assert partition.status_at(Fraction(660213, 10**6)) is Status.SAFE
    assert partition.status_at(Fraction(660214, 10**6)) is Status.VIOLATING
    assert [part.status for part in partition.parts] == [Status.SAFE, Status.VIOLATING]
    made = region(path, ("t",))
    for cell in made.map.cells:
        ((low, high),) = cell.box
        assert cell.status is not Status.SAFE or high <= Fraction(660214, 10**6)
        assert cell.status is not Status.VIOLATING or low >= Fraction(660213, 10**6)


def region(path: Path, parameters: tuple[str, ...]) -> Regions:
    """A map of a case."""
    with Session(Options(seconds=20)) as session:
        options = MapOptions(Fraction(1, 20))
        found = safe_values(load(path), session, parameters, {AnswerForm.MAP}, options)
    assert isinstance(found, Regions)
    return found


def test_a_delta_that_is_to_be_chosen(tmp_path: Path) -> None:
    """The least d that is enough for every t in [1/2, 4/5] with the ratio 3/2 is 4/5 − 3/2 · 1/5 = 1/2."""
    more = 'd = { in = "[0, 1]", design = true }\n[design]\nminimise = "d"'
    found = parts_of(written(tmp_path, "[1/2, 4/5]", 'ratio = "3/2"\ndelta = "d"', more))
    assert told(found) == ["violating [0, 1/2)", "safe [1/2, 1]"]
    assert found.optimum
    assert found.optimum.value
    assert (found.optimum.value.lower, found.optimum.attained) == (Fraction(1, 2), True)


def test_parameters_that_are_left_free(tmp_path: Path) -> None:
    """`[quantify]` asks for the values of t for which all d up to 1/2 will do: 2t − 1 at most 1/4."""
    more = 'd = "[1/4, 1/2]"\n[quantify]\nforall = ["d"]'
    path = written(tmp_path, "[1/2, 1)", 'ratio = "1"\ndelta = "d"', more)
    assert told(parts_of(path)) == ["safe [1/2, 5/8]", "violating (5/8, 1)"]


@pytest.mark.slow
def test_evidence_of_maps_goes_round(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`check` accepts a map by itself and with its case, with E too; not with another delta."""
    more = 'd = "(0, 1/2)"'
    for bounds in ('ratio = "6/5"\ndelta = "d"', 'epsilon = "1/2"\ndelta = "d"'):
        path = written(tmp_path, "[1/2, 1)", bounds, more)
        evidence = str(tmp_path / "evidence.json")
        capfd.readouterr()
        assert run(["synthesize", str(path), "--coverage", "1/4", "--evidence", evidence, "--json"]) == 0
        shares = json.loads(capfd.readouterr().out)["shares"]
        assert 0 < Fraction(shares["safe"]) < 1
        assert run(["check", evidence]) == 0
        assert run(["check", evidence, "--case", str(path)]) == 0
        assert "read a second time" in capfd.readouterr().out
        text = Path(evidence).read_text()
        content = path.read_text()
        assert second_look(json.loads(text), content).agrees
        for status in ("safe", "violating"):
            forged = json.loads(text)
            for cell in forged["statements"][-1]["cells"]:
                cell["status"] = status
            look = second_look(forged, content)
            assert not look.agrees
            assert "in a cell that is said" in look.line
        for status, other in (("safe", "undecided"), ("violating", "safe")):
            Path(evidence).write_text(text.replace(f'"status": "{status}"', f'"status": "{other}"', 1))
            assert run(["check", evidence]) == int(other == "safe")
        Path(evidence).write_text(text)
        other_case = tmp_path / "other.toml"
        other_case.write_text(path.read_text().replace('delta = "d"', 'delta = "d/2"'))
        assert run(["check", evidence, "--case", str(other_case)]) == 1


def test_evidence_of_violating_priors_goes_round(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`--witness --evidence` writes the set, or the proof that there is none."""
    evidence = str(tmp_path / "evidence.json")
    for delta, code in (("1/2", 1), ("9/10", 0)):
        path = written(tmp_path, "[1/2, 9/10]", f'ratio = "1"\ndelta = "{delta}"')
        assert run(["synthesize", str(path), "--witness", "--evidence", evidence]) == code
        assert run(["check", evidence, "--case", str(path)]) == 0
        assert ("a violation" in capfd.readouterr().out) == (code == 1)


def test_the_shipped_design() -> None:
    """At p → 0 the set {1, 2} of the shipped case needs the delta (1 − α) · … = 1/10 just at α = 9/16."""
    case: PrivacyCase = load(Path(__file__).parents[2] / "cases" / "approximate" / "design-geometric.toml")
    with Session(Options(seconds=20)) as session:
        found = safe_values(case, session)
    assert isinstance(found, Intervals)
    assert found.optimum
    assert found.optimum.value
    assert found.optimum.value.lower == Fraction(9, 16)
    for alpha, enough in ((Fraction(9, 16), True), (Fraction(559, 1000), False)):
        worst = max(needed(alpha, Fraction(1, n)) for n in (10**6, 1000, 100, 50, 10, 5, 3, 2))
        assert (worst <= Fraction(1, 10)) is enough


def needed(alpha: Fraction, p: Fraction) -> Fraction:
    """The least delta of both directions, by all sets of the noisy counts 0, 1 and 2 of two people."""
    rows = [
        [1 / (1 + alpha), alpha * (1 - alpha) / (1 + alpha), alpha**2 / (1 + alpha)],
        [alpha / (1 + alpha), (1 - alpha) / (1 + alpha), alpha / (1 + alpha)],
        [alpha**2 / (1 + alpha), alpha * (1 - alpha) / (1 + alpha), 1 / (1 + alpha)],
    ]
    anything = [(1 - p) ** 2, 2 * p * (1 - p), p**2]
    somebody = [Fraction(0), *(w / (1 - anything[0]) for w in anything[1:])]
    one, other = ([sum(w[k] * rows[k][o] for k in range(3)) for o in range(3)] for w in (somebody, anything))
    sets = [[o for o in range(3) if mask >> o & 1] for mask in range(8)]
    return max(
        sum((a[o] - Fraction(3, 2) * b[o] for o in chosen), Fraction(0))
        for a, b in ((one, other), (other, one))
        for chosen in sets
    )
