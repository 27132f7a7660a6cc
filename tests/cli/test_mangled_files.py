"""Mangled case files, models, formulas, evidence, states and results: refused in words, and never a crash."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from calling_tools import called
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mangling_tools import mangled

from paramverify.reports.pictures import plot_style

# In one process the time limit is a signal, which may come while Python calls a finalizer.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

CASES = sorted((ROOT / "cases").glob("*.toml"))
LOGIC = sorted((ROOT / "cases" / "logic").glob("*.toml"))
INTERACTIVE = sorted((ROOT / "cases" / "interactive").glob("*.toml"))
QUICK = ("--timeout", "0.3")
FORMULAS = [
    "D{ln(3), 0}[ X yes ]",
    "P>=1/2 [ F<=3 yes ] & D{1, 1/10}[ (true U[1,2] yes) | !X (s = 1) ]",
    "forall k in 0..3: D{k*ln(2), 0}[ F<=k yes ]",
]
NEIGHBOURS = "abs(r - r') <= 1 & s = s'"

RANDOM = st.randoms(use_true_random=False)
MANY = settings(max_examples=12, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which the commands run, with evidence, a state and results that are good."""
    folder = tmp_path_factory.mktemp("mangled")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(plot_style, "available", lambda: False)
        for name in (
            "geometric-independent",
            "noisy-max-independent-below",
            "survey-memory-all",
            "blood-test",
        ):
            called("verify", str(ROOT / "cases" / f"{name}.toml"), "--evidence", f"{name}.json")
        called("logic", str(LOGIC[-1]), "--evidence", "logic.json")
        called("interactive", str(INTERACTIVE[0]), "--evidence", "interactive.json")
        design = str(ROOT / "cases" / "design-noisy-max.toml")
        called("synthesize", design, "--region", "--coverage", "0.3", "--state", "cells.jsonl")
        called("synthesize", design, "--region", "--coverage", "0.3", "--evidence", "map.json")
        called("compare", str(ROOT / "cases" / "blood-test.toml"), "--backends", "roots", "-o", ".")
        yield folder


@pytest.mark.slow
@given(RANDOM)
@MANY
def test_cases(folder: Path, rng: random.Random) -> None:
    """A case with a mistake is decided, or refused with words; `show` and `budget` agree on that."""
    path = folder / "case.toml"
    path.write_bytes(mangled(rng.choice(CASES).read_text(), rng, "toml"))
    command = rng.choice((["verify", "--strategy", "built-in"], ["show"], ["budget"], ["synthesize"]))
    called(*command, str(path), *QUICK, *rng.choice(([], ["--json"])))


@pytest.mark.slow
@given(RANDOM)
@MANY
def test_chains_and_systems(folder: Path, rng: random.Random) -> None:
    """The same for the cases of `logic` and of `interactive`."""
    command, files = rng.choice((("logic", LOGIC), ("interactive", INTERACTIVE)))
    path = folder / "model.toml"
    path.write_bytes(mangled(rng.choice(files).read_text(), rng, "toml"))
    called(command, str(path), *QUICK, *rng.choice(([], ["--json"])))


@pytest.mark.slow
@given(RANDOM)
@MANY
def test_rational_files(folder: Path, rng: random.Random) -> None:
    """The same for files of parametric model checkers."""
    name = rng.choice(("random-walk", "retransmission"))
    (folder / f"{name}.rat").write_bytes(mangled((ROOT / "cases" / f"{name}.rat").read_text(), rng))
    (folder / "f.toml").write_text(f'[define]\nf = {{ file = "{name}.rat" }}\n[claim]\nholds = "f <= 1/2"\n')
    called(rng.choice(("show", "verify")), "f.toml", *QUICK)


@pytest.mark.slow
@given(RANDOM)
@MANY
def test_prism_files(folder: Path, rng: random.Random) -> None:
    """The same for PRISM files."""
    text = (ROOT / "cases" / "logic" / "survey.prism").read_text()
    (folder / "survey.prism").write_bytes(mangled(text, rng))
    called("logic", "survey.prism", "--parameter", "c=(0,1)", "-p", FORMULAS[0], *QUICK)


@pytest.mark.slow
@given(RANDOM)
@MANY
def test_formulas(folder: Path, rng: random.Random) -> None:
    """The same for formulas and for neighbourhoods."""
    formula, near = rng.choice(FORMULAS), NEIGHBOURS
    if rng.random() < 0.7:
        formula = mangled(formula, rng).decode("utf-8", "replace")
    else:
        near = mangled(near, rng).decode("utf-8", "replace")
    called("logic", str(LOGIC[-1]), f"--property={formula}", f"--neighbours={near}", *QUICK)


@pytest.mark.slow
@given(RANDOM)
@MANY
def test_evidence(folder: Path, rng: random.Random) -> None:
    """Evidence with a mistake is accepted or rejected, also beside its case."""
    case = rng.choice(
        ("geometric-independent", "noisy-max-independent-below", "survey-memory-all", "blood-test")
    )
    name = rng.choice((case, case, "logic", "interactive", "map"))
    (folder / "bad.json").write_bytes(mangled((folder / f"{name}.json").read_text(), rng, "json"))
    beside = ["--case", str(ROOT / "cases" / f"{case}.toml")] if rng.random() < 0.5 else []
    called("check", "bad.json", *beside, *rng.choice(([], ["--json"])))


@pytest.mark.slow
@given(RANDOM)
@settings(MANY, max_examples=6)
def test_states_and_results(folder: Path, rng: random.Random) -> None:
    """A state of a map and the results of a comparison are gone on with, or refused."""
    name, *command = rng.choice(
        (
            (
                "cells.jsonl",
                "synthesize",
                "design-noisy-max.toml",
                "--region",
                "--coverage",
                "0.3",
                "--state",
            ),
            ("results.jsonl", "compare", "blood-test.toml", "--backends", "roots", "-o"),
        )
    )
    lines = (folder / name).read_text().splitlines()
    number = rng.randrange(len(lines))
    bad = mangled(lines[number], rng, "json")
    spoilt = [
        *(line.encode() for line in lines[:number]),
        bad,
        *(line.encode() for line in lines[number + 1 :]),
    ]
    (folder / "spoilt").mkdir(exist_ok=True)
    (folder / "spoilt" / name).write_bytes(b"\n".join(spoilt) + b"\n")
    command[1] = str(ROOT / "cases" / command[1])
    called(*command, "spoilt" if name == "results.jsonl" else f"spoilt/{name}", "--timeout", "1")


@pytest.mark.slow
@given(RANDOM)
@settings(MANY, max_examples=25)
def test_configurations(folder: Path, rng: random.Random) -> None:
    """Solvers that are configured with a mistake are listed or refused, and none is run."""
    text = (
        '[solvers.mine]\ncommand = ["touch", "ran"]\nlogic = "NRA"\nmodels = false\noptions = { seed = 1 }\n'
    )
    (folder / "config.toml").write_bytes(mangled(text, rng, "toml"))
    called("backends", "--config", "config.toml")
    assert not (folder / "ran").exists()


DEEP = 400
NESTED = {
    "verify": [
        f'[define]\nf = "{"(" * DEEP}1{")" * DEEP}"\n[claim]\nholds = "f <= 2"\n',
        f'[define]\nf = "{"-" * DEEP}1"\n[claim]\nholds = "f <= 2"\n',
        f'[claim]\nholds = "{"not " * DEEP}1 <= 2"\n',
        f"title = {'[' * DEEP}{']' * DEEP}\n",
        f"{'a.' * 5000}a = 1\n",
        f"[{'a.' * 5000}a]\n",
    ],
    "check": ["[" * DEEP + "]" * DEEP, '{"claims":' * DEEP + "1" + "}" * DEEP, "[" * 10**5, '{"a":' * 10**5],
}


@pytest.mark.slow
@pytest.mark.parametrize(("command", "text"), [(c, text) for c, texts in NESTED.items() for text in texts])
def test_deep_nesting_is_refused_by_name(folder: Path, command: str, text: str) -> None:
    """What is nested too deeply is no crash: bad input, or evidence that is rejected where JSON ends."""
    (folder / "deep").write_text(text)
    unread = command == "check" and len(text) >= 10**5
    assert called(command, str(folder / "deep")).code == (1 if unread else 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "times"),
    [
        ("X ", 400),
        ("! ", 400),
        ("yes U ", 120),
        ("yes => ", 120),
        ("P>0 [ ", 400),
    ],
)
def test_deep_formulas_are_refused_by_name(folder: Path, operator: str, times: int) -> None:
    """A formula with hundreds of operators inside each other is refused with the limit that it passes."""
    text = f"P>=1/2 [ {operator * times}yes{' ]' * times if '[' in operator else ''} ]"
    told = called("logic", str(LOGIC[-1]), "-p", text, "--timeout", "60")
    assert told.code == 2
    assert "nested deeper than" in told.err or "more than" in told.err or "longer than" in told.err


@pytest.mark.slow
@pytest.mark.parametrize("value", ["1e400", "nan", "'1e400'", "'exp(1e400)'", '"ln(1e400)*1000"'])
def test_a_budget_beyond_all_measure_is_bad_input(folder: Path, value: str) -> None:
    """A budget that no exact number is made of is refused, and not undecided."""
    text = (ROOT / "cases" / "geometric-independent.toml").read_text()
    changed = "\n".join(f"epsilon = {value}" if "epsilon" in line else line for line in text.splitlines())
    (folder / "huge.toml").write_text(changed)
    told = called("verify", str(folder / "huge.toml"), "--timeout", "20")
    assert told.code == (0 if "ln" in value else 2)


@pytest.mark.parametrize("kind", ["_one_shot", "__init__", "", "os", "geometric.x", "\\u0000"])
def test_only_mechanisms_are_kinds(folder: Path, kind: str) -> None:
    """A module beside the mechanisms is no kind of mechanism."""
    (folder / "kind.toml").write_text(f'[mechanism]\nkind = "{kind}"\n[neighbours]\n[privacy]\nratio = 2\n')
    told = called("verify", str(folder / "kind.toml"))
    assert told.code == 2
    assert "unknown mechanism" in told.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["\\u0000", "", ".", "..", "no such file", "\\u0001", "x" * 5000])
def test_names_of_files(folder: Path, name: str) -> None:
    """A name that no file can have is refused like a file that is not there."""
    (folder / "named.toml").write_text(f'[define]\nf = {{ file = "{name}" }}\n[claim]\nholds = "f <= 1"\n')
    assert called("verify", str(folder / "named.toml")).code == 2
    (folder / "chain.toml").write_text(f'[model]\nfile = "{name}"\n[formulas]\nf = "P>=1/2[ X a ]"\n')
    assert called("logic", str(folder / "chain.toml")).code == 2


@pytest.mark.slow
def test_a_byte_order_mark_and_carriage_returns_change_nothing(folder: Path) -> None:
    """A mark at the start of a file, and the line ends of Windows, are read over; Storm refuses the mark."""
    mark = b"\xef\xbb\xbf"
    for name in ("randomized-response.toml", "random-walk.rat", "random-walk.toml"):
        content = (ROOT / "cases" / name).read_bytes()
        (folder / name).write_bytes(mark + content.replace(b"\n", b"\r\n"))
    assert called("verify", "randomized-response.toml").code == 0
    plain = called("show", str(ROOT / "cases" / "random-walk.toml"))
    assert called("show", "random-walk.toml").out == plain.out
    good = (folder / "geometric-independent.json").read_bytes()
    (folder / "marked.json").write_bytes(mark + good)
    assert called("check", "marked.json").code == 0
    (folder / "marked.prism").write_bytes(mark + (ROOT / "cases" / "logic" / "survey.prism").read_bytes())
    told = called("logic", "marked.prism", "-p", FORMULAS[0])
    assert told.code == 2
    assert "byte order mark" in told.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"wall": 1e400},
        {"wall": True},
        {"status": 3},
        {"end": []},
        {"evidence": "me"},
        {"transcript": None},
    ],
)
def test_forged_results_are_refused(folder: Path, change: dict[str, object]) -> None:
    """A result whose numbers and words are no results of a comparison stops the comparison."""
    (folder / "forged").mkdir(exist_ok=True)
    line = (folder / "results.jsonl").read_text().splitlines()[0]
    forged = json.dumps(json.loads(line) | change)
    (folder / "forged" / "results.jsonl").write_text(f"{forged}\n{line}\n")
    told = called("compare", str(ROOT / "cases" / "blood-test.toml"), "--backends", "roots", "-o", "forged")
    assert told.code == 2
    assert "line 1 is not a result of a comparison" in told.err
