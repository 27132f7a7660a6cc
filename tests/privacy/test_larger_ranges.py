"""Proofs about ranges of whole numbers: a violation just beyond them is part of the verdict."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path
from threading import Thread

import pytest
from case_texts import program_case

from paramverify import VerifyReport, loads
from paramverify.cli.main import run

CASE = program_case("{source}", "{inputs}", "{bound}", parameters='eps = "(0, oo)"', near="{neighbours}")
EPS = 'epsilon = "eps"'
LEAKING = "output(q[0] + laplace(4/eps) > 0 if q[0] <= {most} else q[1] > 0)"
PAIRS = 'q = {{ length = 2, values = "{}" }}'


def text(source: str, inputs: str, neighbours: str, bound: str = EPS) -> str:
    """Returns a case."""
    return CASE.format(source=source, inputs=inputs, neighbours=neighbours, bound=bound)


ONE = 'related = "abs(x[0] - y[0]) <= 4 and x[1] == y[1]"'
BEYOND = {  # cases, and the inputs with a violation
    "above": (text(LEAKING.format(most=4), PAIRS.format("0..4"), ONE), "q in {0..5}^2"),
    "below": (
        text("output(flip(1/2) if n >= 0 else n)", 'n = { values = "0..3" }', 'differ = "one"'),
        "n in {-1..3}",
    ),
    "distance": (
        text("output(n + laplace(3/eps) > 0)", 'n = { values = "0..3" }', 'differ = "one"\nby = "any"'),
        "n in {0..4}",
    ),
}
WITHIN = {  # cases without one, or without larger inputs
    "write one mechanism for all values of the variable": text(
        "output(n + laplace(1/eps) > 0)", 'n = { values = "0..3" }', 'differ = "one"'
    ),
    "a list": text("output(flip(1/2) if n >= 0 else n)", "n = { values = [0, 1, 2] }", 'differ = "one"'),
    "bits": text("output(flip(1/2) if n < 2 else n)", 'n = { values = "0..1" }', 'differ = "one"'),
    "an array of this length": text(
        "a = [1, 2, 3]\noutput(flip(1/2) if a[n] > 0 else 7)", 'n = { values = "0..2" }', 'differ = "one"'
    ),
}


@pytest.mark.slow
@pytest.mark.usefixtures("ample_share")
@pytest.mark.parametrize("name", BEYOND)
def test_a_violation_beyond_the_range_is_said_first(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In text, in JSON and in Python, with the inputs; the larger case is not private, the case is."""
    case, over = BEYOND[name]
    path = tmp_path / "case.toml"
    path.write_text(case, encoding="utf-8")
    assert run(["verify", str(path)]) == 0
    first, second = capsys.readouterr().out.split("\n")[:2]
    assert first.startswith("private, but not for larger inputs: epsilon = eps for all neighbouring ")
    assert second.startswith(f"  Not private for {over}: ")
    assert run(["verify", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "private"
    assert document["larger"]["inputs"] == over
    assert document["larger"]["witness"]["secrets"]
    assert str(loads(case).verify()).startswith("private, but not for larger inputs: ")
    low, high = over.partition("{")[2].partition("}")[0].split("..")
    before = case[case.index("values = ") :].split("\n")[0]
    larger = case.replace(before, before.replace(before.split('"')[1], f"{low}..{high}"))
    assert loads(larger).verify().verdict == "not private"


@pytest.mark.slow
@pytest.mark.usefixtures("ample_share")
def test_other_commands_say_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page of a case, with its badge; a theorem that is written; several budgets of one case."""
    case, over = BEYOND["distance"]
    path, page = tmp_path / "case.toml", tmp_path / "page.html"
    path.write_text(case, encoding="utf-8")
    word, told = "private, but not for larger inputs", f"Not private for {over}: "
    assert run(["report", str(path), "-o", str(page)]) == 0
    assert f"{word}: {path}\n" in capsys.readouterr().out
    html = page.read_text(encoding="utf-8")
    assert html.count(f">{word}</span>") >= 1
    assert told in html
    assert f"Larger inputs need more, such as {over}: " in html
    for command in (
        ["prove", str(path), "-o", str(tmp_path / "proof")],
        ["verify", str(path), "--budgets", "eps"],
    ):
        assert run(command) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"{word}: epsilon = eps for ")
        assert f"  {told}" in out
        shutil.rmtree(tmp_path / "proof", ignore_errors=True)
        assert run([*command, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document.get("budgets", [document])[0]["larger"]["inputs"] == over


@pytest.mark.usefixtures("ample_share")
@pytest.mark.parametrize("name", WITHIN)
def test_nothing_is_said_of_what_is_not_found(name: str) -> None:
    """No violation, no sentence."""
    found = loads(WITHIN[name]).verify()
    assert found.verdict == "private"
    assert "but not for larger" not in str(found)
    assert "larger" not in found.to_dict()
    assert found.larger is None


@pytest.mark.slow
@pytest.mark.usefixtures("ample_share")
def test_a_note_has_the_larger_inputs_that_are_private() -> None:
    """And says that it says nothing of others; each of them is decided to be private by itself."""
    case = WITHIN["write one mechanism for all values of the variable"]
    (note,) = [note for note in loads(case).verify().notes if "larger" in note]
    listed = ["{0..4}", "{-1..3}", "{0..7}"]
    named = ", ".join(f"n in {values}" for values in listed)
    assert note == f"the case is private for {named}, too; the verdict does not cover other larger inputs"
    for values in listed:
        assert loads(case.replace('"0..3"', f'"{values[1:-1]}"')).verify().verdict == "private"
    assert not any("larger" in note for note in loads(WITHIN["a list"]).verify().notes)


def test_outside_of_the_main_thread_the_note_says_why() -> None:
    """Nothing interrupts a search there, so there is none."""
    found: list[VerifyReport] = []
    thread = Thread(target=lambda: found.append(loads(BEYOND["above"][0]).verify()))
    thread.start()
    thread.join()
    assert found[0].verdict == "private"
    why = "only the main thread of Python checks them"
    assert f"larger inputs were not checked: {why}" in found[0].notes


@pytest.mark.parametrize(("values", "said"), [('"0..3"', True), ("[0, 1, 2]", True), ('"0..1"', False)])
def test_how_far_neighbours_are_apart_by_default(values: str, said: bool) -> None:
    """Numbers may be codes, so the default is said where it leaves pairs out, and only there."""
    case = text("output(n + laplace(1/eps) > 0)", f"n = {{ values = {values} }}", 'differ = "one"')
    note = next((n for n in loads(case).verify().notes if "changes by more than 1 are not compared" in n), "")
    assert bool(note) == said
    assert 'by = "any"' in note or not said
    for by in ("1", '"any"'):  # both mends
        found = loads(case.replace('"one"', f'"one"\nby = {by}')).verify()
        assert not any("are not compared" in other for other in found.notes)
    taken = [note for note in loads(case).verify().notes if "assumed to contain all possible values" in note]
    assert len(taken) == (values == '"0..1"')


@pytest.mark.usefixtures("ample_share")
def test_a_function_of_python(tmp_path: Path) -> None:
    """The ranges of a decorated function are looked at in the same way."""
    path = tmp_path / "own.py"
    path.write_text(
        "from paramverify import flip, mechanism\n"
        '@mechanism(inputs={"n": {"values": "0..3"}}, neighbours={"differ": "one"}, ratio=2)\n'
        "def f(n):\n    return flip(1 / 2) if n <= 3 else n\n"
    )
    told = str(runpy.run_path(str(path))["f"].verify())
    assert told.startswith("private, but not for larger inputs: ratio = 2 for all neighbouring n in {0..3}.")
    assert "Not private for n in {0..4}: " in told
