"""`verify`, `check`, `show` and others on cases about streams: exit codes, texts and JSON."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import ROOT
from test_json_formats import mistakes

from paramverify.algebra.rationals import at_most
from paramverify.cli.main import run

CASES = ROOT / "cases" / "automata"
PRIVATE, LEAKING = (
    str(CASES / "stream-sparse-vector.toml"),
    str(CASES / "stream-sparse-vector-never-stops.toml"),
)
FILE = str(CASES / "sparse-vector.toml")


def output(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of a command, and what it prints."""
    code = run(arguments)
    found = capsys.readouterr()
    return code, found.out + found.err


@pytest.mark.slow
def test_examples_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A witness is told as a way, or as every output but this way, and without a word for a program."""
    for name in ("stream-sparse-vector-never-stops", "stream-sparse-vector-three-small-noise"):
        _, text = output(["verify", str(CASES / f"{name}.toml")], capsys)
        assert re.search(r"(this path|every output but this path) is .* times as likely under '", text)
        assert len(re.findall(r"Pr\((this path|every output but this path) \|", text)) == 2
        assert "output way" not in text
        assert "other" not in text


def test_evidence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Evidence is accepted with its case, and with no other one, nor with an automaton."""
    path = str(tmp_path / "e.json")
    assert run(["verify", PRIVATE, "--evidence", path]) == 0
    code, text = output(["check", path, "--case", PRIVATE], capsys)
    assert (code, "read a second time: the automaton and the budget agree" in text) == (0, True)
    assert text.splitlines()[-1].startswith("checked: private")
    text = output(["check", path], capsys)[1]
    assert text.endswith(
        "not compared (give --case): the automaton, the budget and the streams with the file\n"
    )
    for other in (
        LEAKING,
        FILE,
        str(CASES / "sparse-vector.dipa"),
        str(ROOT / "cases" / "survey-fresh.toml"),
    ):
        assert output(["check", path, "--case", other], capsys)[0] == 1
    changed = tmp_path / "changed.toml"
    changed.write_text(Path(PRIVATE).read_text().replace('epsilon = "eps"', 'epsilon = "1/2 * eps"'))
    assert run(["check", path, "--case", str(changed)]) == 1
    document = json.loads(Path(path).read_text())
    document["case"]["digest"] = sha256(changed.read_bytes()).hexdigest()
    Path(path).write_text(json.dumps(document))
    assert output(["check", path, "--case", str(changed)], capsys)[0] == 1


def test_explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`explain` says which streams are compared, and of which automaton."""
    case = tmp_path / "case.toml"
    text = Path(PRIVATE).read_text().replace('values="real"', 'values="-1..1"')
    text = text.replace('epsilon = "eps"', 'epsilon = "c * eps"').replace("[mechanism]", "c = 2\n[mechanism]")
    case.write_text(text.replace('differ = "each"', 'differ = "one"\nby = 2'))
    code, said = output(["explain", str(case)], capsys)
    assert code == 0
    for words in (
        "parameters: eps in (0, oo), c = 2",
        "one entry differs, by 2 at most",
        "entries are of -1, 0, 1",
        "3 states, 1 variable, 3 transitions",
        "budget: epsilon = 2*eps",
    ):
        assert words in said
    code, said = output(["explain", FILE, "--json"], capsys)
    document = json.loads(said)
    assert list(mistakes(document, "explain", FILE)) == []
    assert (code, document["question"], document["automaton"]["states"]) == (0, "streams", 3)
    assert document["neighbours"] == {"differ": "each", "by": "1"}
    assert run(["explain", FILE, "-D", "eps=1"]) == 2


@pytest.mark.parametrize("command", ["explain", "certify"])
def test_commands_that_read_no_automaton(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They say which ones do."""
    code, text = output([command, str(CASES / "sparse-vector.dipa")], capsys)
    assert (code, "an automaton is read by verify, budget and show" in text) == (2, True)


@pytest.mark.parametrize("option", ["--budgets 1", "--backends z3", "--encoding monolithic", "-D eps=1"])
def test_what_is_not_for_streams(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Options for other cases are refused."""
    assert output(["verify", PRIVATE, *option.split()], capsys)[0] == 2


def test_graph(capsys: pytest.CaptureFixture[str]) -> None:
    """The graph of the automaton is drawn, with what leaks in red."""
    code, text = output(["show", "--graph", LEAKING], capsys)
    assert (code, "color=red" in text) == (0, True)
    assert "line3" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('length = "all"', 'length = "all"\ndelta = "1/10"', "has no delta"),
        ('differ = "each"', 'related = "x == y"', 'a stream has differ = "each" or "one" only'),
        ('length = "all"', "length = 5", 'write length = "all"'),
        ('epsilon = "eps"', 'epsilon = "eps^2"', "a multiple of eps is needed"),
        ('epsilon = "eps"', "ratio = 2", "the budget is a multiple of eps"),
        ('eps = "(0, oo)"', 'eps = "(0, 1)"', "one parameter of the domain (0, oo)"),
        ('differ = "each"', 'differ = "each"\nby = "any"', "differ by a whole number at most"),
        (
            "[neighbours]",
            '[mechanism.inputs]\nq = { values = "0..1" }\n[neighbours]',
            "mechanism.inputs: a program over a stream must not have [mechanism.inputs]",
        ),
        ("laplace(4 / eps) >= T", "laplace(4 / eps) >= 3", "noise is compared with noisy values"),
        ('values="real"', 'values=["a", "b"]', "entries to which noise is added are numbers"),
    ],
)
def test_mistakes(
    old: str, new: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is told with the line, and exit code 2."""
    text = Path(PRIVATE).read_text()
    assert old in text
    path = tmp_path / "case.toml"
    path.write_text(text.replace(old, new))
    code, said = output(["verify", str(path)], capsys)
    assert code == 2
    assert reason in said


@pytest.mark.slow
def test_evidence_is_written_before_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A violation that is proved stays one, with its evidence, where the limit ends the search."""
    case, path = tmp_path / "case.toml", tmp_path / "evidence.json"
    text = Path(PRIVATE).read_text().replace('values="real"', 'values="-1..1"')
    case.write_text(text.replace('epsilon = "eps"', 'epsilon = "999/1000 * eps"'))
    code, said = output(["verify", str(case), "--evidence", str(path), "--timeout", "3"], capsys)
    assert (code, said.splitlines()[0]) == (1, "not private: epsilon = 999/1000*eps.")
    assert output(["check", str(path), "--case", str(case)], capsys)[0] == 0


@pytest.mark.slow
def test_budgets_are_written_before_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Budgets and evidence of lengths stay where the limit ends the search for losses."""
    case, path = str(CASES / "sparse-vector.dipa"), tmp_path / "evidence.json"
    options = ["--length", "1..24", "--epsilon", "1/3", "--evidence", str(path), "--timeout", "3"]
    code, said = output(["budget", case, *options], capsys)
    assert (code, "24 inputs: " in said) == (0, True)
    (statement,) = json.loads(path.read_text())["statements"]
    assert statement["lengths"]["budgets"][24]["multiple"] == "1"
    assert output(["check", str(path), "--case", case], capsys)[0] == 0


TYPO = """(q1:non-input, 1/2, 0): t := insample; output ostart; goto Q2
(q2, 1/4, 0): if (insample < t) then output obelow; goto q2 elseif (insample >= t) then output oabove; goto q3
"""


@pytest.mark.parametrize("differ", ["each", "one"])
def test_what_is_odd_in_a_file_is_told(
    differ: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt state of a `.dipa` file makes a run end; a case about the file says so, as the file does."""
    (tmp_path / "sparse-vector.dipa").write_text(TYPO)
    case = tmp_path / "case.toml"
    text = Path(CASES / "sparse-vector.toml").read_text().partition("[expect]")[0]
    case.write_text(text.replace('"each"', f'"{differ}"'))
    told = output(["verify", str(tmp_path / "sparse-vector.dipa")], capsys)[1]
    notes = [line for line in told.splitlines() if "A run ends" in line or "Note: " in line]
    assert notes[1:3] == [
        "  A run ends in: Q2 (a state without an entry).",
        "  Note: no run reaches q3 (a state without an entry).",
    ]
    assert len(notes) == 4
    assert output(["verify", str(case)], capsys)[1].splitlines()[-4:] == notes
    assert run(["verify", str(case), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["ends"], document["never"]) == (["Q2"], [1, 2])
    assert run(["show", str(tmp_path / "sparse-vector.dipa"), "--graph", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ends"] == ["Q2"]


def test_values_and_gaps_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has the values of entries."""
    case = tmp_path / "case.toml"
    text = Path(CASES / "stream-sparse-vector-one.toml").read_text().partition("[expect]")[0]
    text = text.replace('values="real"', 'values="-1..1"')
    case.write_text(text.replace("1/4 * eps", "2eps"))
    assert run(["verify", str(case)]) == 2
    assert "write 2*eps" in capsys.readouterr().err
    case.write_text(text)
    run(["verify", str(case), "--json"])
    assert json.loads(capsys.readouterr().out)["values"] == ["-1", "0", "1"]


RELATIONS = {
    "each": ("real", 'differ = "each"'),
    "one": ("real", 'differ = "one"'),
    "by 2": ("real", 'differ = "each"\nby = 2'),
    "few": ("-1..1", 'differ = "each"'),
    "few, one, by any": ("0..2", 'differ = "one"\nby = "any"'),
}

ABOUT = {
    "each": "about streams whose entries differ by 1 at most each",
    "one": "about streams in which one entry differs, by 1 at most",
    "by 2": "about streams whose entries differ by 2 at most each",
    "few": "about streams of the values -1, 0, 1 whose entries differ by 1 at most each",
    "few, one, by any": "about streams of the values 0, 1, 2 in which one entry differs, by any number",
}


@pytest.mark.parametrize(("values", "epsilon"), [("0..1", "1/2"), ("[0, 1/2, 1]", "20"), ("real", "1/3")])
def test_budgets_at_one_epsilon(
    values: str, epsilon: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For few values less may be enough at one epsilon: no number is told as the least one there."""
    text = Path(PRIVATE).read_text().replace('    output("below")', '    output("below")\n    stop')
    shown = values if values.startswith("[") else f'"{values}"'
    case = tmp_path / "case.toml"
    case.write_text(text.replace('values="real"', f"values={shown}"))
    _, said = output(["budget", str(case), "--length", "1", "--epsilon", epsilon], capsys)
    first = said.splitlines()[0]
    few = values != "real"
    assert ("no smaller budget is enough" in said) is not few
    assert ("no smaller multiple is enough for every eps" in first) is few
    assert (f"At eps = {epsilon} these budgets are enough, and smaller ones may be enough." in said) is few
    if few:
        assert " = 0." not in first.replace(f"eps = {epsilon}", "")
        assert "≈" not in said


@pytest.mark.slow
@pytest.mark.parametrize("name", RELATIONS)
def test_budgets(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON, evidence and exit code of `budget` say the same; the budget of the case plays no part."""
    values, neighbours = RELATIONS[name]
    text = Path(PRIVATE).read_text().replace('values="real"', f'values="{values}"')
    text = text.replace('differ = "each"', neighbours).replace('epsilon = "eps"', 'epsilon = "c*eps + 1"')
    case, path = tmp_path / "case.toml", tmp_path / "e.json"
    case.write_text(text.replace("[mechanism]", 'c = "1/100"\n[mechanism]'))
    asked = ["budget", str(case), "--length", "1..2", "--epsilon", "3/2"]
    code, said = output([*asked, "--evidence", str(path)], capsys)
    second, printed = output([*asked, "--json"], capsys)
    document = json.loads(printed)
    assert (code, list(mistakes(document, "budget of an automaton", name))) == (second, [])
    assert code == (0 if document["exact"] else 3)
    least = (
        "no smaller budget is enough." if values == "real" else "no smaller multiple is enough for every eps."
    )
    assert ("a smaller multiple fails" in said) is (values != "real" and document["exact"])
    below = values != "real" and not document["exact"]
    assert ("a multiple below the lower bound fails" in said) is below
    assert document["exact"] is said.splitlines()[0].endswith(f", and {least}")
    checked, told = output(["check", str(path), "--case", str(case)], capsys)
    assert checked == 0
    assert "the automaton and the streams agree with the program" in told
    assert told.splitlines()[1] == ABOUT[name]
    assert told.splitlines()[-1].startswith("checked: a budget")
    for entry in document["lengths"]:
        multiple = Fraction(entry["multiple"])
        line = next(x for x in said.splitlines() if x.startswith(f"  {entry['inputs']} input"))
        words = f"{multiple}*eps" if multiple != 1 else "eps"
        number = at_most(multiple * Fraction(3, 2), 9)
        told_at = f" = {number}" if values == "real" else f" (at eps = 3/2: {number} is enough)"
        assert line.partition(": ")[2].split(" and ")[-1].startswith((words + told_at, f"{words} ≈"))
        assert f"length {entry['inputs']}: {multiple} times epsilon is enough" in told
        assert entry["tight"] is (entry["multiple"] == entry["multiple_lower"])
        assert ("gap" in entry) is (values != "real")
        assert entry["loss"]["bounds"][0] <= float(multiple * Fraction(3, 2))
    other = tmp_path / "other.toml"
    other.write_text(case.read_text().replace("laplace(4 / eps)", "laplace(5 / eps)"))
    assert output(["check", str(path), "--case", str(other)], capsys)[0] == 1
    assert output(["check", str(path), "--case", str(CASES / "sparse-vector.dipa")], capsys)[0] == 1
    assert output([*asked, "--curve"], capsys)[0] == 2
    assert output([*asked, "-D", "c=1"], capsys)[0] == 2


@pytest.mark.parametrize("noise", ["", "noise geometric\n"])
def test_budgets_of_a_case_with_a_file(
    noise: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are those of the file, times `by`; the second reader reads the file."""
    (tmp_path / "sparse-vector.dipa").write_text(noise + Path(CASES / "sparse-vector.dipa").read_text())
    case, path = tmp_path / "case.toml", tmp_path / "e.json"
    case.write_text(Path(FILE).read_text().replace('differ = "each"', 'differ = "each"\nby = 3'))
    plain = json.loads(
        output(["budget", str(tmp_path / "sparse-vector.dipa"), "--length", "2", "--json"], capsys)[1]
    )
    asked = ["budget", str(case), "--length", "2", "--json", "--evidence", str(path)]
    code, printed = output(asked, capsys)
    document = json.loads(printed)
    assert (code, document["exact"]) == (0, True)
    assert Fraction(document["multiple"]) == 3 * Fraction(plain["multiple"])
    (length,), (other,) = document["lengths"], plain["lengths"]
    assert Fraction(length["multiple"]) == 3 * Fraction(other["multiple"])
    checked, told = output(["check", str(path), "--case", str(case)], capsys)
    assert (checked, "read a second time: the streams, 3 states" in told) == (0, True)
    (tmp_path / "sparse-vector.dipa").write_text(Path(CASES / "sparse-vector-three.dipa").read_text())
    assert output(["check", str(path), "--case", str(case)], capsys)[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize(("values", "by"), [('"real"', 1), ("[0, 1/2]", 2), ('"0..4"', 3)])
def test_what_repetitions_cost(
    values: str, by: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text and JSON have the same number: the cost for a difference of 1, times the largest difference.

    What is told of streams of any numbers is not said of few values.
    """
    case = tmp_path / "case.toml"
    text = Path(LEAKING).read_text().partition("[expect]")[0].replace('values="real"', f"values={values}")
    case.write_text(
        text.replace('differ = "each"', f'differ = "each"\nby = {by}').replace('"eps"', '"1/8*eps"')
    )
    assert output(["verify", str(case), "--json"], capsys)[0] == 1
    document = json.loads(output(["verify", str(case), "--json"], capsys)[1])
    told = output(["verify", str(case)], capsys)[1].replace(" costs eps ", " costs 1*eps ")
    found = re.search(r"each repetition costs (\S+)\*eps more\.\n.*with (\d+) repet", told, re.IGNORECASE)
    assert found is not None
    largest = Fraction(1, 2) if "/" in values else by
    assert document["family"]["gain"] == found[1] == str(Fraction(1, 2) * largest)
    assert (int(found[2]) - 1) * Fraction(found[1]) <= 2 < int(found[2]) * Fraction(found[1])
    of_any = re.findall("If entries are any numbers, (each|with)", told)
    assert of_any == ([] if "real" in values else ["each", "with"])


@pytest.mark.parametrize(
    ("name", "told"),
    [("never-stops", "no multiple is enough"), ("one", "1/4 times epsilon is enough, for every length")],
)
def test_the_last_line_of_a_checked_budget(
    name: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has the number, or that there is none, and not just that there is a budget."""
    case, evidence = str(CASES / f"stream-sparse-vector-{name}.toml"), str(tmp_path / "evidence.json")
    assert run(["budget", case, "--evidence", evidence]) in (0, 1)
    capsys.readouterr()
    assert run(["check", evidence, "--case", case]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("checked: a budget for every eps > 0, and streams of every length")
    assert f": {told}" in last
