"""Limits of time, memory and files: each command ends in time, says so, and leaves nothing behind."""

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hard_cases import HARD
from process_tools import PATIENCE, gone, mark, marked, start

from paramverify.answers import Decision, End, Proved
from paramverify.claims import Claim
from paramverify.cli._common import read_size, time_limit, whole
from paramverify.cli._output import without_evidence
from paramverify.cli.main import run
from paramverify.encodings.choice import claims_of
from paramverify.errors import DisagreementError, TimeLimitError
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_syntax import Property
from paramverify.logic.property_checking import FormulaResult, LogicSession
from paramverify.models.model import Model
from paramverify.portfolio.backend_order import History
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.privacy.every_length_verification import verify_all_lengths
from paramverify.privacy.verification import verify
from paramverify.processes import time_limits
from paramverify.reports.pictures import privacy_plots
from paramverify.statistics.certification import bisect
from paramverify.synthesis.map_files import load_cells
from paramverify.synthesis.maps import Cell, RegionMap, Status
from paramverify.synthesis.projection import exact_parts
from paramverify.synthesis.regions import region_map
from paramverify.synthesis.safe_values import AnswerForm, safe_values
from paramverify.verdicts import Unknown

CASES = Path(__file__).parents[2] / "cases"
TWELVE = """
[mechanism]
kind = "noisy_max"
queries = 12
noise = { truncated_geometric = "1/2", range = 40 }
ties = "uniform"

[neighbours]
differ = "each"

[privacy]
ratio = "2"
"""
GRID = """dtmc
module m
 a : [0..9000] init 0;
 b : [0..9000] init 0;
 [] a<9000 & b<9000 -> 1/2 : (a'=a+1) + 1/2 : (b'=b+1);
 [] a=9000 | b=9000 -> 1 : true;
endmodule
label "done" = a=9000;
"""
PLANE = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"

[define]
f = "p**2 + q**2 - 1/2"

[claim]
holds = "f >= 0"
"""
SLOTS = """
[system]
kind = "slots"
slots = 8
points = 2
data = [-1, 1]
queries = ["count", "sum"]
range = 6
noise = { truncated_geometric = "1/2" }

[privacy]
epsilon = "6*ln(2)"
"""
LONG = [
    ["interactive", "slots"],
    ["verify", "case"],
    ["synthesize", "case", "--region", "--state", "state"],
    ["compare", "case", "-o", "compared"],
    ["logic", "grid", "-p", 'P>=1/2 [ F "done" ]'],
    ["check", "/dev/stdin"],
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with inputs that take very long."""
    (tmp_path / "case").write_text(TWELVE)
    (tmp_path / "grid").write_text(GRID)
    (tmp_path / "slots").write_text(SLOTS)
    (tmp_path / "plane").write_text(PLANE)
    return tmp_path


def placed(command: list[str], folder: Path) -> list[str]:
    """Returns a command whose files are in a folder."""
    names = ("case", "grid", "slots", "state", "compared")
    return [str(folder / word) if word in names else word for word in command]


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG, ids=lambda command: " ".join(command[:3]))
def test_every_command_ends_when_its_time_is_over(command: list[str], folder: Path) -> None:
    """A command that would run for hours ends with 3, one JSON object that says why, and no process left."""
    environment = mark(" ".join(command[:3]))
    reader, writer = os.pipe()  # standard input that never ends
    process = start(
        *placed(command, folder), "--json", "--timeout", "1", environment=environment, stdin=reader
    )
    try:
        out, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        os.close(reader)
        os.close(writer)
    assert process.returncode == 3, error
    answer = json.loads(out)
    assert answer["status"] == "unknown"
    assert "the time limit of 1 s is over" in answer["reason"]
    assert "undecided: " in error
    assert gone(environment)


@pytest.mark.slow
def test_memory_ends_a_command(folder: Path) -> None:
    """`--memory` ends a command that takes more, with 3 and the reason."""
    environment = mark("memory")
    process = start("show", folder / "case", "--memory", "130MB", "--json", environment=environment)
    out, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert error == "undecided: the memory limit of 130 MB is reached\n"
    assert json.loads(out)["end"] == "memory"
    assert gone(environment)


def test_no_memory_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where Python itself finds no more memory, the exit code is 3 and the reason is told."""

    def discover() -> None:
        raise MemoryError

    monkeypatch.setattr("paramverify.cli.backends.discover", discover)
    assert run(["backends", "--json"]) == 3
    answer = json.loads(capsys.readouterr().out)
    assert answer == {
        "status": "unknown",
        "verdict": "undecided",
        "reason": "memory ran out: make the input smaller, or use a machine with more memory",
        "end": "memory",
    }


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_program_takes_its_solvers_with_it(number: signal.Signals, tmp_path: Path) -> None:
    """Zygote and attempts end when the program that the user sees is killed, or interrupted by Ctrl-C."""
    case = tmp_path / "case.toml"
    case.write_text(HARD)
    environment = mark(f"solvers-{number}")
    process = start("verify", case, "--backends", "cvc5", environment=environment)
    while len(marked(environment)) < 4:
        assert process.poll() is None
    process.send_signal(number)
    _, error = process.communicate(timeout=PATIENCE)
    assert gone(environment)
    if number == signal.SIGINT:
        assert (process.returncode, error.strip().endswith("interrupted")) == (130, True)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 4 << 30), ("4GB", 4 * 10**9), ("0.5gb", 5 * 10**8), ("300 MB", 3 * 10**8), ("2T", 2 * 10**12)],
)
def test_sizes(text: str, size: int) -> None:
    """Sizes have decimal or binary units."""
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "4", "1KB", "-1GB", "4 XB", "1e9GB", "99999999TB", "nan"])
def test_wrong_sizes(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Other sizes are a mistake in the command line."""
    assert run(["backends", "--memory", text]) == 2
    assert "--memory" in capsys.readouterr().err


# --- what was found until then ------------------------------------------------------------------------


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the time be over at the fifth decision of a session."""
    made: list[Claim] = []
    decide = Session._decide

    def counted(session: Session, claim: Claim) -> Decision:
        made.append(claim)
        if len(made) > 4:
            raise TimeLimitError(1)
        return decide(session, claim)

    monkeypatch.setattr(Session, "_decide", counted)


@pytest.mark.usefixtures("late")
def test_settled_claims_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """When the time is over, `verify` tells how many claims were proved, and in JSON which."""
    case = str(CASES / "time-series-2.toml")
    assert run(["verify", case]) == 3
    told = capsys.readouterr()
    assert told.err == "undecided: the time limit of 1 s is over\n"
    assert told.out == "  4 of 61 claims were proved before the run ended, 4 were tried.\n"


@pytest.mark.usefixtures("late")
def test_evidence_that_is_not_written_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the time is over before the evidence is in its file, the command and its supervisor say so."""
    case, file = str(CASES / "time-series-2.toml"), tmp_path / "e.json"
    assert run(["verify", case, "--evidence", str(file)]) == 3
    told = f"No evidence was written to {file}."
    assert capsys.readouterr().err == f"undecided: the time limit of 1 s is over\n{told}\n"
    assert not file.exists()
    assert [
        without_evidence(a) for a in (["--evidence", "a"], ["--evidence=a"], ["--evidence"], ["-o", "a"])
    ] == [
        *["No evidence was written to a."] * 2,
        *["", ""],
    ]


@pytest.mark.usefixtures("late")
def test_settled_claims_are_told_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same with --json is one object with the claims that were settled."""
    assert run(["verify", str(CASES / "time-series-2.toml"), "--json"]) == 3
    answer = json.loads(capsys.readouterr().out)
    assert (answer["status"], answer["end"]) == ("unknown", "timeout")
    claims = answer["so_far"]["claims"]
    assert [claim["status"] for claim in claims] == ["holds"] * 4
    assert len({str(claim["observations"]) + str(claim["secrets"]) for claim in claims}) == 4


@pytest.mark.usefixtures("late")
def test_the_best_bound_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """When the time is over, `budget` tells the largest ratio that it has seen, at most the budget."""
    case = CASES / "geometric-independent.toml"
    assert run(["budget", str(case), "--json"]) == 3
    so_far = json.loads(capsys.readouterr().out)["so_far"]
    assert 1 < Fraction(so_far["ratio_lower"]) <= 2
    assert len(so_far["secrets"]) == 2


def test_formulas_that_are_settled_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """When the time is over, `logic` tells the formulas that it has settled."""
    case = str(CASES / "logic" / "survey.toml")
    assert run(["logic", case]) in (0, 1)
    whole = capsys.readouterr().out
    first = check_property
    seen: list[object] = []

    def one(
        work: LogicSession, found: Property, progress: Callable[[int, int], None] | None = None
    ) -> FormulaResult:
        if seen:
            raise TimeLimitError(1)
        seen.append(found)
        return first(work, found, progress)

    monkeypatch.setattr("paramverify.subjects.formula_answers.check_property", one)
    assert run(["logic", case]) == 3
    out = capsys.readouterr().out
    assert out
    assert whole.startswith(out)
    seen.clear()
    assert run(["logic", case, "--json"]) == 3
    assert len(json.loads(capsys.readouterr().out)["so_far"]["properties"]) == 1


@pytest.mark.slow
def test_a_map_that_was_ended_by_force_is_in_its_file(tmp_path: Path) -> None:
    """Cells are in the state file whenever the run is killed, and the next run goes on from there."""
    case, state = tmp_path / "case.toml", tmp_path / "cells"
    case.write_text(PLANE)
    environment = mark("map")
    form = ["--region", "--coverage", "0.00001", "--state", state]
    process = start("synthesize", case, *form, environment=environment)
    until = 40
    while not (state.exists() and state.read_bytes().count(b"\n") > until + 1):
        assert process.poll() is None
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert gone(environment)
    model = load(str(case)).model
    known = load_cells(state, claims_of(model), model.domain, ["p", "q"])
    assert len(known) >= until
    assert sum(cell.volume for cell in known) < 1


# --- loops of the Python interface --------------------------------------------------------------------


def test_every_length_looks_at_the_time() -> None:
    """The search for every length ends in time, which is an unknown verdict and not an error."""
    case = load(str(CASES / "above-threshold-all.toml"))
    assert isinstance(case.model, Model)
    with Session(Options(seconds=1e-9)) as session:
        assert isinstance(verify_all_lengths(case.model, session).verdict, Unknown)
    verdict = verify(case, Options(seconds=1e-9)).verdict
    assert isinstance(verdict, Unknown)
    assert verdict.end is End.TIMEOUT


def test_exact_parts_look_at_the_time() -> None:
    """The exact intervals of a parameter end in time, too."""
    model = load(str(CASES / "geometric-independent.toml")).model
    claims = claims_of(model)
    assert exact_parts(claims, model.domain, "p").parts
    with pytest.raises(TimeLimitError, match="the time limit of 0 s is over"):
        exact_parts(claims, model.domain, "p", 0)


def test_shares_of_the_time_are_not_told() -> None:
    """Where a search has what is left of the user's time, the user's limit is told."""
    case = load(str(CASES / "geometric-independent.toml"))
    assert case.model is not None
    with (
        Session(Options(seconds=0, limit=9)) as session,
        pytest.raises(TimeLimitError, match="the time limit of 9 s is over"),
    ):
        safe_values(case, session, ("p",), (AnswerForm.INTERVALS,))
    every = load(str(CASES / "survey-memory-all.toml"))
    steps = bisect(every, (0.5, 1.0), Fraction(1, 100), 1e-9, 9).steps
    *before, last = [step.reason.partition("\n")[0] for step in steps]
    assert last == "the time limit of 9 s is over"
    assert not any(before)  # quick steps are decided before anybody looks at the time


# --- maps ---------------------------------------------------------------------------------------------


def test_a_map_that_is_complete_is_not_interrupted(tmp_path: Path) -> None:
    """A map that is stopped after its coverage was reached is complete; one that is stopped before is not."""
    case = tmp_path / "case.toml"
    case.write_text(PLANE)
    model = load(str(case)).model
    claims = claims_of(model)

    def stop_below(share: Fraction) -> RegionMap:
        decided = Fraction(0)

        def on_cell(cell: Cell) -> None:
            nonlocal decided
            decided += cell.volume
            if decided >= 1 - share:
                raise TimeLimitError(1)

        return region_map(claims, model.domain, ["p", "q"], Fraction(1, 10), on_cell=on_cell)

    complete, half = stop_below(Fraction(1, 10)), stop_below(Fraction(1, 2))
    assert complete.share(Status.UNDECIDED) <= Fraction(1, 10)
    assert not complete.interrupted
    assert half.interrupted


def test_a_complete_state_file_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Starting again with all cells in the file prints the same map, says so, and changes nothing."""
    case, state = tmp_path / "case.toml", tmp_path / "cells"
    case.write_text(PLANE)
    command = ["synthesize", str(case), "--region", "--coverage", "0.05", "--state", str(state)]
    assert run([*command, "--json"]) == 0
    before, kept = json.loads(capsys.readouterr().out), state.read_bytes()
    assert "state" not in before
    assert run([*command, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["state"] == "complete"
    assert not again["interrupted"]
    assert again["shares"] == before["shares"]
    assert sorted(map(str, again["cells"])) == sorted(map(str, before["cells"]))
    assert state.read_bytes() == kept
    assert run(command) == 0
    assert f"complete already: all cells are from {state}" in capsys.readouterr().out


@pytest.mark.slow
def test_one_run_at_a_time_has_a_state_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run on a state file is refused, and leaves the file as it is."""
    case, state = tmp_path / "case.toml", tmp_path / "cells"
    case.write_text(PLANE)
    command = ["synthesize", str(case), "--region", "--state", str(state)]
    assert run(command) == 0
    kept = state.read_bytes()
    with state.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run(command) == 2
    assert "another run is using this file" in capsys.readouterr().err
    assert state.read_bytes() == kept


# --- files --------------------------------------------------------------------------------------------


WITH_RAT = PLANE.replace('"p**2 + q**2 - 1/2"', '{ file = "odd" }')
WITH_PRISM = """
[model]
file = "odd"

[formulas]
a = "P>=1/2 [ F done ]"
"""
READERS = {
    "verify": ["verify", "odd"],
    "check": ["check", "odd"],
    "check with a case": ["check", "plane", "--case", "odd"],
    "rational function": ["verify", "rat"],
    "logic": ["logic", "odd", "-p", "P>=1/2 [ F done ]"],
    "model": ["logic", "prism.toml"],
    "interactive": ["interactive", "odd"],
    "state": ["synthesize", "plane", "--region", "--state", "odd"],
    "script": ["compare", "odd.smt2", "-o", "compared"],
    "results": ["compare", "plane", "-o", "results"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "large"])
@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_what_is_no_file_is_not_read(
    command: list[str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe, a device, a folder or too large a file is bad input at every place where a file is named."""
    for name, content in (("plane", PLANE), ("rat", WITH_RAT), ("prism.toml", WITH_PRISM)):
        (tmp_path / name).write_text(content)
    (tmp_path / "results").mkdir()
    for name in ("odd", "odd.smt2", "results/results.jsonl"):
        make(tmp_path / name, kind)
    words = [str(tmp_path / word) if (tmp_path / word).exists() else word for word in command]
    words = [str(tmp_path / "compared") if word == "compared" else word for word in words]
    assert run([*words, "--timeout", "20"]) == 2
    said = capsys.readouterr().err
    expected = {"large": " has at most ", "directory": "directory"}.get(kind, "regular file")
    assert expected in said or (kind == "directory" and ("no .toml" in said or "no case file" in said)), said


def make(path: Path, kind: str) -> None:
    """Makes something that is no file to be read."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "directory":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(1_000_000_001)  # zeros that take no room


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_a_history_that_is_no_file_is_no_history(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log of attempts that cannot be one is left alone, and the verdict is the same."""
    make(tmp_path / "history", kind)
    monkeypatch.setenv("PARAMVERIFY_HISTORY", str(tmp_path / "history"))
    case = str(CASES / "geometric-contagious-ln4.toml")
    assert run(["verify", case, "--backends", "z3", "--timeout", "20"]) == 0
    claim = claims_of(load(case).model)[0]
    history = History.load(tmp_path / "history")
    history.record(claim, [Decision(Proved(), "z3")])
    assert history.path is None


@pytest.mark.slow
def test_evidence_from_standard_input(tmp_path: Path) -> None:
    """Evidence may come through a pipe as /dev/stdin, the one name for which that is allowed."""
    evidence = tmp_path / "evidence.json"
    case = CASES / "geometric-contagious-ln4.toml"
    assert run(["verify", str(case), "--evidence", str(evidence)]) == 0
    reader, writer = os.pipe()
    os.write(writer, evidence.read_bytes())
    os.close(writer)
    process = start("check", "/dev/stdin", environment=mark("stdin"), stdin=reader)
    os.close(reader)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "checked as far as it can be without the case: the claims are true" in out


@pytest.mark.parametrize("by", ["1000000000", "-1", "1.5", "²", "9" * 5000])
def test_distances_are_bounded(by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How far answers may differ is a number of at most six digits, or `any`."""
    case = tmp_path / "case.toml"
    case.write_text(TWELVE.replace("range = 40", "range = 2").replace('"each"', f'"each"\nby = "{by}"'))
    assert run(["verify", str(case)]) == 2
    assert 'by: this must be a whole number up to 999,999, or "any"' in capsys.readouterr().err


@pytest.mark.slow
def test_a_distance_beyond_the_range_is_any(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No two answers differ by more than the range, so a larger bound on it is like `any`."""
    told = []
    for by in ("999999", "any", "2"):
        case = tmp_path / "case.toml"
        text = TWELVE.replace("range = 40", "range = 2").replace('"each"', f'"each"\nby = "{by}"')
        case.write_text(text)
        assert run(["verify", str(case), "--json"]) == 1
        told.append(json.loads(capsys.readouterr().out)["witness"])
    assert told[0] == told[1] == told[2]


@pytest.mark.slow
def test_an_alarm_in_a_finaliser_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    """Where errors cannot be raised the limit comes again, and nothing is printed."""

    class Slow:
        def __del__(self) -> None:
            late = time.monotonic() + 0.6
            while time.monotonic() < late:
                pass

    before = sys.unraisablehook
    started = time.monotonic()

    def work() -> None:
        with time_limit(5, 0.05):
            held = Slow()
            del held
            while time.monotonic() < started + PATIENCE:
                pass

    with pytest.raises(TimeLimitError, match="5 s"):
        work()
    assert sys.unraisablehook is before
    assert not capsys.readouterr().err


@pytest.mark.parametrize("error", [TypeError("wrong arguments"), SystemError("result with an error set")])
def test_an_alarm_that_a_library_makes_another_error_of(error: Exception) -> None:
    """Whatever ends the work after the alarm is the time limit, and no defect; a disagreement stays one."""

    def work(raised: Exception) -> None:
        with time_limit(5, 0.0):
            try:
                time.sleep(PATIENCE)
            except TimeLimitError:  # as converters of arguments do, which are written in C
                raise raised from None

    with pytest.raises(TimeLimitError, match="5 s"):
        work(error)
    with pytest.raises(DisagreementError):
        work(DisagreementError("1 >= 0", ()))


def test_a_limit_lets_a_file_be_finished() -> None:
    """The alarm waits while a file is written, and ends the run right after that."""
    written = []

    def work() -> None:
        with time_limit(5, 0.0):
            with whole(), whole():
                time.sleep(0.4)
                written.append(1)
            time.sleep(PATIENCE)

    started = time.monotonic()
    with pytest.raises(TimeLimitError, match="5 s"):
        work()
    assert written
    assert time.monotonic() - started < PATIENCE / 2


@pytest.mark.slow
@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_no_limit_ends_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a p-value plot is drawn the alarm goes off; the picture is the same as without a limit."""
    ours = privacy_plots.write_pvalues

    def late(*arguments: Any) -> None:
        os.kill(os.getpid(), signal.SIGALRM)
        ours(*arguments)

    arguments = ["sample", str(CASES / "randomized-response.toml"), "--runs", "2000", "--at", "p=1/2"]
    pictures = []
    for k, writer in enumerate((ours, late)):
        monkeypatch.setattr(privacy_plots, "write_pvalues", writer)
        path = tmp_path / f"{k}.svg"
        run([*arguments, "--epsilon", "9", "--certify", "--plot", str(path)])
        assert "internal error" not in capsys.readouterr().err
        pictures.append(path.read_text())
    assert pictures[0] == pictures[1]

    def drawn(*arguments: Any) -> None:
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0  # nothing is left to do, so there is no limit

    monkeypatch.setattr(privacy_plots, "write_pvalues", drawn)
    assert run([*arguments, "--epsilon", "9", "--plot", str(path)]) == 3


def test_no_limit_ends_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is being imported is not left half done; one that never ends is."""
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.3)\nvalue = 1\n")
    (tmp_path / "never_imported.py").write_text("import time\nwhile True:\n    time.sleep(0.01)\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def endless() -> None:
        import_module("slow_to_import")
        while True:
            pass

    with pytest.raises(TimeLimitError), time_limit(5, 0.0):
        endless()
    assert sys.modules["slow_to_import"].value == 1
    monkeypatch.setattr(time_limits, "IMPORTS", 0.2)
    with pytest.raises(TimeLimitError), time_limit(5, 0.0):
        import_module("never_imported")
