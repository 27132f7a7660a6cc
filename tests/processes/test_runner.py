"""The runner: whatever goes wrong in an attempt, it ends with the right reason and leaves nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import uuid
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import box_domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.answers import Answer, Decision, End, Open, Proved, Refuted
from paramverify.claims import Claim, without_enclosure
from paramverify.errors import DisagreementError, InputError
from paramverify.portfolio.session import check_agreement, confirmation
from paramverify.processes.attempts import Attempt, AttemptLimits, answer_from_document, answer_to_document
from paramverify.processes.runner import Runner

MARK = "PARAMVERIFY_TEST_MARK"
SOON = AttemptLimits(0.5)
AMPLE = AttemptLimits(60)


def claim(polynomial: str = "p - p^2") -> Claim:
    """A claim about p in (0, 1); the default one holds."""
    ring = Ring(("p",))
    return Claim(ring.parse(polynomial), box_domain(ring, {"p": parse_interval("(0, 1)")}))


HOLDS = claim()
VIOLATED = claim("p - 1/3")


def attempt(name: str, about: Claim = HOLDS, **options: str) -> Attempt:
    return Attempt(f"standin_backends:{name}", about, options)


def marked(mark: str) -> set[int]:
    """Returns the processes (zombies aside) that were started with the mark in their environment."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


def all_gone(mark: str, patience: float = 10.0) -> bool:
    until = time.monotonic() + patience
    while marked(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Marks every process that is started from here on."""
    value = uuid.uuid4().hex
    monkeypatch.setenv(MARK, value)
    return value


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory for temporary files, for this test only."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def runner(mark: str, scratch: Path) -> Iterator[Runner]:
    """A runner that has to leave no process and no file behind, whatever the test did."""
    with Runner() as made:
        yield made
    assert all_gone(mark), "processes were left behind"
    assert not list(scratch.iterdir()), "files were left behind"


def detail(decision: Decision) -> tuple[End, str]:
    assert isinstance(decision.answer, Open)
    return decision.answer.end, decision.answer.detail


@pytest.mark.slow
def test_answer_and_its_circumstances_arrive(runner: Runner) -> None:
    """A proof comes back with certificate and transcript; the decision names backend, version and options."""
    decision = runner.run(attempt("prove", depth="3"), AMPLE)
    assert decision.answer == Proved({"kind": "none"}, "I am sure")
    assert decision.backend == "standin_backends:prove"
    assert (decision.version, decision.options) == ("1.0", {"depth": "3"})


@pytest.mark.slow
def test_claim_and_options_cross_the_pipe(runner: Runner) -> None:
    """The backend in its own process sees the very claim and options that were given, also large ones."""
    long = " + ".join(f"{k}/{k + 1}*p^{k}" for k in range(1, 9_000))
    for about in (HOLDS, claim(long)):
        assert detail(runner.run(attempt("echo", about, a="1"), AMPLE))[1] == f"{about.text()} [('a', '1')]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "end", "words"),
    [
        ("hang", End.TIMEOUT, "no answer within 0.5 s"),
        ("late", End.TIMEOUT, "no answer within 0.5 s"),
        ("flood", End.TIMEOUT, "no answer within 0.5 s"),
    ],
)
def test_time_limit(runner: Runner, name: str, end: End, words: str) -> None:
    """A backend that ignores signals, computes in C, answers late or floods its output ends at its limit."""
    assert detail(runner.run(attempt(name), SOON)) == (end, words)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["eat_memory", "eat_native_memory"])
def test_memory_limit(runner: Runner, name: str) -> None:
    """Memory beyond the limit ends the attempt for that reason, whether Python or a library notices it."""
    limits = AttemptLimits(60, memory=200 << 20)
    assert detail(runner.run(attempt(name), limits)) == (End.MEMORY, "needed more than 200 MiB")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words", "printed"),
    [
        ("abort", "SIGABRT", "something broke"),
        ("fault", "SIGSEGV", ""),
        ("leave", "it ended with an error: SystemExit: ", "SystemExit"),
        ("fail", "it ended with an error: ValueError: this is my mistake", "this is my mistake"),
        ("garbage_answer", "`decide` gave 'unsat', and an answer is Proved, Refuted or Open", ""),
    ],
)
def test_crash(runner: Runner, name: str, words: str, printed: str) -> None:
    """A crash, an exception and an answer that is none are crashes, with what was printed."""
    decision = runner.run(attempt(name), AMPLE)
    end, reason = detail(decision)
    assert end is End.CRASHED
    assert words in reason
    assert printed in decision.answer.transcript


@pytest.mark.slow
def test_refusal_is_not_a_crash(runner: Runner) -> None:
    """What a backend cannot express is reported in its own words."""
    assert detail(runner.run(attempt("refuse"), AMPLE)) == (End.GAVE_UP, "cannot express p**p")


@pytest.mark.slow
def test_printed_text_is_never_an_answer(runner: Runner) -> None:
    """A proof that is printed, not returned, counts for nothing, and is kept in the transcript."""
    decision = runner.run(attempt("garbage_out"), AMPLE)
    assert detail(decision) == (End.GAVE_UP, "no idea")
    for part in ("solver said unknown", "(error) sat", '{"answer": "proved", '):
        assert part in decision.answer.transcript


@pytest.mark.slow
def test_flood_is_bounded_and_does_not_block(runner: Runner) -> None:
    """45 MB of output do not keep a backend from answering; beginning and end are kept."""
    answer = runner.run(attempt("flood_then_prove"), AMPLE).answer
    assert isinstance(answer, Proved)
    assert answer.transcript.startswith("the beginning")
    assert answer.transcript.endswith("the end\n")
    assert len(answer.transcript) < 100_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("refute", {"p": "1/2"}, "does not violate the claim at p = 1/2"),
        ("refute", {"p": "2"}, "outside the domain at p = 2"),
        ("refute_nothing", {}, "has no value for some parameter"),
    ],
)
def test_wrong_model_is_no_refutation(runner: Runner, name: str, options: dict[str, str], words: str) -> None:
    """A point that does not violate the claim exactly, in the domain, is a backend that gave up."""
    end, reason = detail(runner.run(attempt(name, HOLDS, **options), AMPLE))
    assert end is End.GAVE_UP
    assert words in reason


@pytest.mark.slow
def test_constant_in_a_model(runner: Runner) -> None:
    """The constant E is exact where the claim is about the number, and a variable where it is enclosed."""
    ring = Ring(("p",), ExpConstant(Fraction(1)))
    domain = box_domain(ring, {"p": parse_interval("(0, 1)")})
    rational = {"p": "1/2", "E": "27182818/10000000"}  # a little less than the number
    sharp = ring.parse("10000000*p*E - 27182818*p")  # positive at the number
    for about in (Claim(sharp, domain), without_enclosure(Claim(sharp, domain))):
        assert isinstance(runner.run(attempt("refute", about, **rational), AMPLE).answer, Open)
    about = without_enclosure(Claim(-sharp, domain))
    answer = runner.run(attempt("refute", about, **rational), AMPLE).answer
    assert isinstance(answer, Refuted)
    assert answer.point == {"p": Fraction(1, 2)}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"hang": "yes"}])
def test_processes_of_a_backend_end_with_it(runner: Runner, mark: str, options: dict[str, str]) -> None:
    """Processes that a backend started are gone when its attempt has ended, also those in other sessions."""
    runner.run(attempt("prove"), AMPLE)
    before = marked(mark)
    runner.run(attempt("leave_processes", **options), AttemptLimits(3))
    assert marked(mark) == before


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"hang": "yes"}])
def test_temporary_files_of_a_backend_are_removed(
    runner: Runner, scratch: Path, options: dict[str, str]
) -> None:
    """Temporary files and folders that a backend left are gone when its attempt has ended."""
    decision = runner.run(attempt("leave_files", **options), AttemptLimits(1))
    assert [path for path in scratch.rglob("*") if path.parent != scratch] == []
    if not options:
        assert all(path.startswith(str(scratch)) for path in detail(decision)[1].split("\n"))


@pytest.mark.slow
def test_limits_of_the_operating_system(runner: Runner) -> None:
    """An attempt leads its own session, has its seconds of processor time and little more, dumps no core."""
    _, words = detail(runner.run(attempt("tell_limits"), AttemptLimits(7.5)))
    assert words.startswith("core 0, cpu 9, leads True")


def test_missing_backend(runner: Runner) -> None:
    """A backend that is not installed is unavailable, with the way to get it, and no process is started."""
    decision = runner.run(attempt("missing"), AMPLE)
    assert detail(decision) == (
        End.UNAVAILABLE,
        "standin_backends:missing is missing; to get it: pip install stand-in",
    )


@pytest.mark.parametrize("name", ["no_such_solver", "no_such_module:x", "standin_backends:no_such"])
def test_unknown_backend(runner: Runner, name: str) -> None:
    """An unknown backend is a mistake of the user."""
    with pytest.raises(InputError, match="no_such") as caught:
        runner.start(Attempt(name, HOLDS), AMPLE)
    assert ("put PYTHONPATH=. before the command" in str(caught.value)) == name.startswith("no_such_module")


@pytest.mark.slow
def test_race_stops_at_the_first_decision(runner: Runner) -> None:
    """The first proof ends a race; hanging and waiting rivals are reported as interrupted."""
    names = ("hang", "prove", "hang", "late")
    decisions = runner.race([attempt(name) for name in names], AMPLE, width=2)
    assert [d.backend.partition(":")[2] for d in decisions] == list(names)
    assert isinstance(decisions[1].answer, Proved)
    for index in (0, 2, 3):
        assert detail(decisions[index]) == (End.INTERRUPTED, "another backend was faster")


@pytest.mark.slow
def test_nobody_waits_for_those_that_hang(runner: Runner) -> None:
    """Where those that run say nothing, others join them, although there are no more processors."""
    names = ("hang", "hang", "hang", "prove")
    decisions = runner.race([attempt(name) for name in names], AMPLE, width=1, turn=0.01)
    assert [isinstance(decision.answer, Proved) for decision in decisions] == [False, False, False, True]


@pytest.mark.slow
def test_the_limit_is_that_of_the_whole_race(runner: Runner) -> None:
    """Nobody joins while the first ones run alone; who waits has what they leave of the time."""
    rivals = [attempt("hang"), attempt("prove")]
    hanging, proving = runner.race(rivals, SOON, width=1, turn=0.01, alone=3600.0)
    assert detail(hanging)[0] is End.TIMEOUT
    assert detail(proving) == (End.TIMEOUT, "no time was left to ask it")
    refusing, proving = runner.race([attempt("refuse"), rivals[1]], AMPLE, width=1, turn=0.01, alone=3600.0)
    assert detail(refusing)[0] is End.GAVE_UP
    assert isinstance(proving.answer, Proved)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_a_certificate_may_follow_a_word(runner: Runner, seconds: float) -> None:
    """Where it is asked for, a built-in procedure goes on after a solver's word, also if it had not begun."""
    rivals = [attempt("prove"), Attempt("bernstein", HOLDS), attempt("hang")]
    word, certified, other = runner.race(rivals, AMPLE, width=1, turn=1.0, evidence=lambda _: seconds)
    assert isinstance(word.answer, Proved)
    assert detail(other)[0] is End.INTERRUPTED
    assert isinstance(certified.answer, Proved) == (seconds > 0)
    assert not isinstance(certified.answer, Proved) or certified.answer.certificate


@pytest.mark.slow
def test_race_that_nobody_wins(runner: Runner) -> None:
    """Without a decision every attempt runs to its own end."""
    decisions = runner.race([attempt(n) for n in ("hang", "abort", "missing", "refuse")], SOON)
    ends = [detail(d)[0] for d in decisions]
    assert ends == [End.TIMEOUT, End.CRASHED, End.UNAVAILABLE, End.GAVE_UP]


@pytest.mark.slow
def test_confirmation_and_contradiction(runner: Runner) -> None:
    """Two backends are asked for; one proves what the other refutes: an error with both transcripts."""
    rivals = [attempt("prove", VIOLATED), attempt("hang", VIOLATED)]
    rivals.append(attempt("refute", VIOLATED, p="1/4", after="0.2"))
    decisions = runner.race(rivals, AMPLE, confirmation(2), width=3)
    assert detail(decisions[1])[0] is End.INTERRUPTED
    with pytest.raises(DisagreementError) as caught:
        check_agreement(VIOLATED, decisions)
    assert [(answer, text) for _, answer, text in caught.value.answers] == [
        ("proved", "I am sure"),
        ("refuted", "I found a point"),
    ]
    check_agreement(VIOLATED, decisions[1:])


@pytest.mark.slow
def test_start_wait_and_cancel(runner: Runner) -> None:
    """Attempts can be started, polled, waited for and cancelled one by one."""
    hanging, quick = runner.start(attempt("hang"), AMPLE), runner.start(attempt("prove"), AMPLE)
    assert runner.wait([hanging], timeout=0) == []
    assert runner.wait([hanging, quick]) == [quick]
    runner.cancel([hanging, quick], "no longer needed")
    assert hanging.decision
    assert detail(hanging.decision) == (End.INTERRUPTED, "no longer needed")
    assert quick.decision
    assert isinstance(quick.decision.answer, Proved)


@pytest.mark.slow
def test_close_ends_running_attempts(mark: str, scratch: Path) -> None:
    """Closing a runner kills what is running, and says so."""
    with Runner() as runner:
        runner.warm(["z3"])
        running = runner.start(attempt("leave_processes", hang="yes"), AMPLE)
        runner.wait([running], timeout=0.5)
    assert running.decision
    assert detail(running.decision) == (End.INTERRUPTED, "the runner was closed")
    assert all_gone(mark)
    assert not list(scratch.iterdir())


@pytest.mark.slow
def test_death_of_the_zygote(runner: Runner, mark: str) -> None:
    """If the process that forks attempts is killed, they have crashed and are gone; the next one works."""
    _, words = detail(runner.run(attempt("tell_limits"), AMPLE))
    running = runner.start(attempt("hang"), AMPLE)
    runner.wait([running], timeout=0.2)
    os.kill(int(words.rpartition(" ")[2]), signal.SIGKILL)
    assert all_gone(mark)  # by themselves
    runner.wait([running])
    assert running.decision
    assert detail(running.decision)[0] is End.CRASHED
    assert isinstance(runner.run(attempt("prove"), AMPLE).answer, Proved)


@pytest.mark.slow
def test_many_attempts_leave_nothing(runner: Runner, mark: str, scratch: Path) -> None:
    """50 attempts, crashes and kills among them, leave no descriptor, process or file."""
    names = ("prove", "abort", "leave_files", "refute", "prove")

    def usage() -> tuple[int, set[int], int]:
        gc.collect()
        return len(os.listdir("/proc/self/fd")), marked(mark), len(list(scratch.rglob("*")))

    runner.run(attempt("prove"), AMPLE)
    (zygote,) = marked(mark)
    inside = len(os.listdir(f"/proc/{zygote}/fd"))
    before = usage()
    for _ in range(5):
        for name in names:
            runner.run(attempt(name), AMPLE)
        runner.race([attempt(name) for name in ("hang", "hang", "prove", "hang", "prove")], AMPLE, width=3)
    assert usage() == before
    assert len(os.listdir(f"/proc/{zygote}/fd")) == inside


SCRIPT = """
    import sys
    sys.path[:0] = {paths!r}
    from test_runner import AMPLE, attempt
    from paramverify.processes.runner import Runner
    print("main", flush=True)
    with Runner() as runner:
        runner.run(attempt("prove"), AMPLE)
        running = runner.start(attempt("leave_processes", hang="yes"), AMPLE)
        runner.wait([running], timeout=1)
        print("ready", flush=True)
        print(runner.race([attempt("hang"), attempt("hang")], AMPLE) if {race} else "")
"""


PATHS = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tools")]


def script(race: bool) -> str:
    return textwrap.dedent(SCRIPT).format(paths=PATHS, race=race)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_death_of_the_user(tmp_path: Path, mark: str, scratch: Path, number: signal.Signals) -> None:
    """A program that is killed or interrupted takes all attempts with them, and what those have started."""
    path = tmp_path / "program.py"
    path.write_text(script(race=True))
    with subprocess.Popen(
        [sys.executable, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as program:
        assert program.stdout
        assert [program.stdout.readline() for _ in range(2)] == ["main\n", "ready\n"]
        time.sleep(0.3)
        assert len(marked(mark)) >= 5
        os.killpg(program.pid, number)  # as a terminal does
        _, errors = program.communicate(timeout=60)
    assert program.returncode == -number
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    assert all_gone(mark)
    path.unlink()
    assert not list(scratch.iterdir())


@pytest.mark.slow
def test_main_module_runs_once_and_the_working_directory_is_not_searched(tmp_path: Path) -> None:
    """An unguarded program is not imported again, and a `json.py` where it was started changes nothing."""
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    path = tmp_path / "elsewhere" / "program.py"
    path.parent.mkdir()
    path.write_text(script(race=False))
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("main\nready\n\n", "")


def answers() -> st.SearchStrategy[Answer]:
    """Answers of every kind."""
    points = st.dictionaries(st.text(), st.fractions())
    certificates = st.none() | st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.text()))
    return st.one_of(
        st.builds(Proved, certificates, st.text()),
        st.builds(Refuted, points, st.text()),
        st.builds(Open, st.sampled_from(End), st.text(), st.text(), st.booleans()),
    )


@given(answers())
def test_documents_of_answers(answer: Answer) -> None:
    """An answer is what its document says."""
    assert answer_from_document(answer_to_document(answer)) == answer


@pytest.mark.parametrize(
    "document",
    [
        {"answer": "maybe", "transcript": ""},
        {"answer": "proved", "transcript": ""},
        {"answer": "proved", "certificate": "trust me", "transcript": ""},
        {"answer": "refuted", "point": {"p": "1/0"}, "transcript": ""},
        {"answer": "open", "end": "whenever", "detail": "", "transcript": ""},
        {"answer": "open", "end": "timeout", "detail": "", "transcript": None},
    ],
)
def test_documents_that_are_not_answers(document: dict[str, object]) -> None:
    """A document of another form is refused, never read as some answer."""
    with pytest.raises(ValueError):
        answer_from_document(document)


@pytest.mark.parametrize(("seconds", "memory"), [(0, 1), (-1, 1), (1, 0), (float("nan"), 1)])
def test_limits_must_be_positive(seconds: float, memory: int) -> None:
    """A limit that is no limit is refused."""
    with pytest.raises(InputError, match="positive"):
        AttemptLimits(seconds, memory)
