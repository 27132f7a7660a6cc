"""Backends that are programs: what each of their outputs means, and programs that misbehave."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Domain, box_domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.algebra.signs import parse_constraint
from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.backends import Ability, backend, discover, programs
from paramverify.backends import qepcad as qepcad_backend
from paramverify.backends import redlog as redlog_backend
from paramverify.backends.programs import Finished, run
from paramverify.backends.qepcad import Installation, Reply
from paramverify.backends.smtlib_process import SmtLibProcess, interpret
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.formats.quantified_questions import question
from paramverify.formats.refutations import Satisfied
from paramverify.processes.attempts import Attempt, AttemptLimits
from paramverify.processes.runner import Runner

UNIT = parse_interval("(0, 1)")


def claim(text: str, *constraints: str, names: tuple[str, ...] = ("p",)) -> Claim:
    ring = Ring(names)
    domain = box_domain(ring, dict.fromkeys(names, UNIT))
    conditions = tuple(c for line in constraints for c in parse_constraint(line, domain))
    return Claim(ring.parse(text), replace(domain, constraints=conditions))


HOLDS, FAILS = claim("p"), claim("p - 1/3")


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., str]:
    """Makes an executable script in an empty folder, and gives its path."""

    def make(body: str, name: str = "solver", interpreter: str = "/bin/sh") -> str:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{interpreter}\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return make


# --- running programs --------------------------------------------------------------------------------


def test_a_program_is_talked_to() -> None:
    """A program gets the text, then the reply to its first line, and its output and errors are kept apart."""
    script = "import sys; print(len(input()), flush=True); print(input()); print('oh', file=sys.stderr)"
    told: list[str] = []

    def reply(line: str) -> str:
        told.append(line)
        return "more\n"

    finished = run([sys.executable, "-c", script], "x" * 200_000 + "\n", reply=reply)
    assert told == ["200000"]
    assert (finished.code, finished.output, finished.errors) == (0, "200000\nmore\n", "oh\n")
    assert finished.failure() is None
    assert finished.transcript == "200000\nmore\noh"


def test_a_program_need_not_read() -> None:
    """A program that ends without reading a long text, or that never answers a reply, is no problem."""
    assert run(["true"], "x" * 1_000_000).code == 0
    assert run(["true"], "", reply=lambda line: "more").code == 0
    assert run(["echo", "sat"], "x" * 1_000_000, reply=lambda line: "more").output == "sat\n"


def test_a_program_that_leaves_its_output_open() -> None:
    """What the program started may hold its output open; the program's own end counts."""
    finished = run(["sh", "-c", "sleep 30 & echo $!; echo unsat"], "")
    pid, answer = finished.output.split()
    os.kill(int(pid), 9)
    assert (finished.code, answer) == (0, "unsat")


def test_too_much_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that prints without end is killed, and its errors are kept from their end only."""
    monkeypatch.setattr(programs, "MAX_OUTPUT", 100_000)
    finished = run(["yes", "unsat"], "")
    failure = finished.failure()
    assert finished.code == -9
    assert failure is not None
    assert (failure.end, failure.detail) == (End.GAVE_UP, "the program printed more than 100000 bytes")
    assert len(finished.transcript) < 2 * programs.MAX_TRANSCRIPT
    finished = run(["sh", "-c", "yes warning | head -c 1000000 >&2; echo the end >&2"], "")
    assert len(finished.errors) == programs.MAX_ERRORS
    assert finished.errors.endswith("the end\n")


@pytest.mark.slow
def test_limits_outside_of_an_attempt() -> None:
    """With limits, a program that hangs or eats memory ends with the reason, and so does what it started."""
    finished = run(["sh", "-c", "trap '' TERM; sleep 31415 & echo $!; wait"], "", seconds=0.5)
    failure = finished.failure()
    assert failure is not None
    assert failure.end is End.TIMEOUT
    assert gone("sleep 31415")
    hungry = "bytearray(1 << 30)"
    failure = run([sys.executable, "-c", hungry], "", seconds=60, memory=200 << 20).failure()
    assert failure is not None
    assert failure.end is End.MEMORY


@pytest.mark.parametrize(
    ("script", "end", "detail"),
    [
        ("exit 3", End.CRASHED, "the program ended with exit status 3"),
        ("kill -SEGV $$", End.CRASHED, "the program died of SIGSEGV"),
        ("kill -XCPU $$", End.TIMEOUT, "its processor time was used up"),
        ("echo 'terminate: std::bad_alloc' >&2; kill -ABRT $$", End.MEMORY, "the program ran out of memory"),
        ("echo 'Out of memory'; exit 16", End.MEMORY, "the program ran out of memory"),
    ],
)
def test_how_programs_end(script: str, end: End, detail: str) -> None:
    """The exit status and the last words of a program tell why it failed."""
    failure = run(["sh", "-c", script], "").failure()
    assert failure is not None
    assert (failure.end, failure.detail) == (end, detail)


def gone(command: str) -> bool:
    """Tells whether no process has this in its command line, or soon none: a killed one takes its time."""
    until = time.monotonic() + 5
    while any(command in line for line in _command_lines()):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _command_lines() -> Iterator[str]:
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")


# --- SMT-LIB processes -------------------------------------------------------------------------------

ERROR = '(error "at line 3, column 2: syntax error")'


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("unsat\n", "proved"),
        ("; a comment\nunsat", "proved"),
        ("unknown\n", "unknown"),
        ("", "not an answer: ''"),
        ("unsat\nsat\n", "not an answer"),
        ("unsat\n((p 1))\n", "not an answer"),
        ("UNSAT\n", "not an answer"),
        ("delta-sat with delta = 0.001\n", "not an answer"),
        ("(unsat", "not an answer"),
        (f"{ERROR}\nsat\n((p 1))\n", ERROR),
        (f"unsat\n{ERROR}\n", ERROR),
        ('( error "x")\nunsat', '( error "x")'),
        ("sat\n", "model"),
        ("sat\n((p (/ 1 5)))\n", "model"),
        ("sat\n((q 1))\n", "not a model: a value for q, which was not asked for"),
        ("sat\n()\n", "not a model: not one value for each variable"),
        ("sat\n((p true))\n", "not a model: a value that is not a number"),
        ("sat\n((p (root-obj (+ (^ x 2) (- 2)) 1)))\n", "not a model: a value that is not a number"),
        ("sat\np\n", "not a model: not a list of symbols and values"),
    ],
)
def test_outputs_of_smtlib_processes(output: str, expected: str) -> None:
    """Only `unsat` alone is a proof, only `sat` with a value for each variable is a model."""
    answer = interpret(Finished(0, output), ("p",))
    if expected == "proved":
        assert answer == Proved(transcript=output.strip())
    elif expected == "model":
        assert isinstance(answer, Satisfied)
    else:
        assert isinstance(answer, Open)
        assert answer.end is End.GAVE_UP
        assert answer.detail.startswith(expected)
        assert answer.transcript == output.strip()


def test_exit_status_and_errors_void_an_answer() -> None:
    """`unsat` counts for nothing with an exit status other than 0, or with an error on standard error."""
    failed = interpret(Finished(1, "unsat\n"), ("p",))
    assert isinstance(failed, Open)
    assert failed.end is End.CRASHED
    complained = interpret(Finished(0, "unsat\n", "Error: the file is damaged\n"), ("p",))
    assert isinstance(complained, Open)
    assert complained.detail == "Error: the file is damaged"
    assert isinstance(interpret(Finished(0, "unsat\n", "3 warnings\n"), ("p",)), Proved)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Fraction(3)),
        ("(- 3)", Fraction(-3)),
        ("(/ 1 3)", Fraction(1, 3)),
        ("(/ (- 1) 3)", Fraction(-1, 3)),
        ("(- (/ 1 3))", Fraction(-1, 3)),
        (f"(/ 1 {'7' * 6000})", 1 / Fraction(7 * (10**6000 - 1) // 9)),
    ],
)
def test_exact_values(text: str, value: Fraction) -> None:
    """Rationals in a model are read exactly, however long."""
    answer = interpret(Finished(0, f"sat\n((p {text}))"), ("p",))
    assert isinstance(answer, Satisfied)
    assert answer.model["p"] == value


@pytest.mark.parametrize(
    ("text", "value"), [("1.414214", "1.414214"), ("(- 0.5)", "-1/2"), ("-0.25", "-1/4")]
)
def test_decimals_stand_for_numbers_nearby(text: str, value: str) -> None:
    """A decimal may be an irrational number, rounded, so it is a number to look around at."""
    answer = interpret(Finished(0, f"sat\n((p {text}))"), ("p",))
    assert isinstance(answer, Satisfied)
    approximate = answer.model["p"]
    assert callable(approximate)
    assert approximate(10) == Fraction(value)


def decide(command: str, about: Claim, **more: object) -> Answer:
    solver = SmtLibProcess("mine", (command,), "for tests", "nowhere", **more)  # type: ignore[arg-type]
    return solver.decide(about, {})


ASKED = """input=$(cat)
case "$input" in *get-value*) echo sat; echo '((p (/ 1 4)))';; *) echo sat;; esac"""


def test_models_are_asked_for(program: Callable[..., str]) -> None:
    """A program that reads to the end is run again for a model; one that answers at once is asked on."""
    assert decide(program(ASKED), FAILS) == Refuted({"p": Fraction(1, 4)}, "sat\n((p (/ 1 4)))")
    answering = """while read line; do
      case "$line" in *check-sat*) echo sat;; *get-value*) echo '((p 0.25))';; *exit*) exit 0;; esac
    done"""
    answer = decide(program(answering), FAILS, interactive=True)
    assert isinstance(answer, Refuted)
    assert 0 < answer.point["p"] < Fraction(1, 3)


def test_a_program_that_changes_its_mind(program: Callable[..., str], tmp_path: Path) -> None:
    """`sat` in the first run and `unsat` in the second is no proof: the second script has more commands."""
    mark = tmp_path / "again"
    changing = f"cat > /dev/null; if [ -e {mark} ]; then echo unsat; else echo sat; fi; touch {mark}"
    answer = decide(program(changing), HOLDS)
    assert isinstance(answer, Open)
    assert answer.detail == "it says sat, and then unsat"


@pytest.mark.parametrize("model", ["((p (/ 1 2)))", "((p 5))", "((p (- 1)))", "((p 0.9))"])
def test_wrong_models(program: Callable[..., str], model: str) -> None:
    """A model that does not violate the claim, or lies outside of the domain, refutes nothing."""
    answer = decide(program(ASKED.replace("((p (/ 1 4)))", model)), FAILS)
    assert isinstance(answer, Open)
    assert answer.detail == "the model leads to no rational point that violates the claim"
    assert model in answer.transcript


def test_models_that_cannot_be_had(program: Callable[..., str]) -> None:
    """From a program without models `sat` decides nothing, and `unsat` is a proof."""
    answer = decide(program("cat > /dev/null; echo sat"), FAILS, models=False)
    assert answer == Open(End.GAVE_UP, "it says sat, but returns no model", "sat", denies=True)
    assert isinstance(decide(program("cat > /dev/null; echo unsat"), HOLDS, models=False), Proved)


@pytest.mark.slow
def test_yices_and_algebraic_numbers() -> None:
    """Yices rounds irrational values to six digits, and rational points are found near them all the same."""
    yices = backend("yices")
    if yices.version() is None:
        pytest.skip(yices.install)
    about = claim("1/10 - p^3*q", "p**2 + q**2 == 1/2 + p*q", names=("p", "q"))
    answer = yices.decide(about, {})
    assert not isinstance(answer, Proved)
    about = claim("2/5 - p", "p**3 + p + q == 1", names=("p", "q"))
    answer = yices.decide(about, {})
    assert isinstance(answer, Refuted)
    assert answer.point in about.domain
    assert not about.holds_at(answer.point)


def test_options_of_smtlib_processes() -> None:
    """Options reach Yices, one that it does not know voids the answer, and none can smuggle in a command."""
    yices = backend("yices")
    if yices.version() is None:
        pytest.skip(yices.install)
    assert isinstance(yices.decide(HOLDS, {"random-seed": "7"}), Proved)
    answer = yices.decide(HOLDS, {"no-such-option": "1"})
    assert isinstance(answer, Open)
    for key, value in (("a) (exit", "1"), ("seed", "1) (assert false"), ("seed", "")):
        with pytest.raises(InputError, match="not an option"):
            yices.decide(HOLDS, {key: value})


@pytest.mark.parametrize("name", ["yices", "qepcad", "redlog"])
def test_missing_programs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its program a backend has no version, and says how to get it."""
    for module in ("smtlib_process", "redlog"):
        monkeypatch.setattr(f"paramverify.backends.{module}.find", lambda program: None)
    monkeypatch.setattr(qepcad_backend, "installation", lambda: None)
    found = backend(name)
    assert found.version() is None
    assert found.decide(HOLDS, {}) == Open(End.UNAVAILABLE, f"{name} is missing; to get it: {found.install}")


# --- programs that misbehave, in attempts ------------------------------------------------------------

MISDEEDS = [
    ("trap '' TERM INT HUP; while :; do sleep 27182; done", End.TIMEOUT, "no answer within 1 s"),
    (f"exec {sys.executable} -c 'bytearray(1 << 40)'", End.MEMORY, "the program ran out of memory"),
    ("kill -SEGV $$", End.CRASHED, "the program died of SIGSEGV"),
    ("echo hello", End.GAVE_UP, "not an answer: 'hello'"),
    (f"echo '{ERROR}'; echo unsat", End.GAVE_UP, ERROR),
    (
        ASKED.replace("(/ 1 4)", "7"),
        End.GAVE_UP,
        "the model leads to no rational point that violates the claim",
    ),
    ("sleep 27182 & setsid sleep 27182 & echo unsat", End.DECIDED, ""),
    ("yes warning | head -c 3000000 >&2; echo unsat", End.DECIDED, ""),
]


@pytest.fixture
def attempt(
    program: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Answer]]:
    """Runs a configured solver that is a shell script on a claim that holds, in an attempt of one second."""
    config = tmp_path / "config.toml"
    monkeypatch.setenv("PARAMVERIFY_CONFIG", str(config))
    with Runner() as runner:

        def decide(body: str) -> Answer:
            config.write_text(f'[solvers.stand-in]\ncommand = ["{program(body)}"]\nversion = "1"\n')
            return runner.run(Attempt("stand-in", HOLDS), AttemptLimits(1.0, 1 << 29)).answer

        yield decide


@pytest.mark.slow
@pytest.mark.parametrize(("body", "end", "detail"), MISDEEDS, ids=[body[:25] for body, _, _ in MISDEEDS])
def test_programs_that_misbehave(attempt: Callable[[str], Answer], body: str, end: End, detail: str) -> None:
    """Each way to misbehave gets its reason, and leaves no process behind."""
    answer = attempt(body)
    if end is End.DECIDED:
        assert isinstance(answer, Proved)
    else:
        assert isinstance(answer, Open)
        assert (answer.end, answer.detail) == (end, detail)
    assert gone("sleep 27182")


# --- the user's own solvers --------------------------------------------------------------------------


def configure(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = folder / "solvers.toml"
    path.write_text(text)
    monkeypatch.setenv("PARAMVERIFY_CONFIG", str(path))


@pytest.mark.slow
def test_a_configured_solver(
    program: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few lines of TOML make a backend, with options and logic, which is found like the others."""
    said = tmp_path / "said"
    path = program(f"cat > {said}; echo unsat")
    text = f"""
    [solvers.mine]
    command = ["{path}", "--fast"]
    version = "4.21"
    logic = "NRA"
    models = false
    options = {{ seed = 1, verbose = true, precision = 0.5, mode = "fast" }}
    description = "my solver"
    install = "make mine"
    """
    configure(tmp_path, monkeypatch, text)
    assert list(discover())[-1] == "mine"
    mine = backend("mine")
    assert (mine.version(), mine.description, mine.install) == ("4.21", "my solver", "make mine")
    assert mine.abilities == {Ability.CLAIMS}
    with Runner() as runner:
        decision = runner.run(Attempt("mine", HOLDS, {"seed": "2"}), AttemptLimits(60))
    assert isinstance(decision.answer, Proved)
    assert decision.version == "4.21"
    assert decision.options == {"seed": "2", "verbose": "true", "precision": "0.5", "mode": "fast"}
    lines = said.read_text().splitlines()
    assert lines[:4] == [
        "(set-option :seed 2)",
        "(set-option :verbose true)",
        "(set-option :precision 0.5)",
        "(set-option :mode fast)",
    ]
    assert "(set-logic NRA)" in lines


def test_a_configured_solver_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A configured solver whose program does not exist is missing, with the user's advice."""
    configure(tmp_path, monkeypatch, '[solvers.mine]\ncommand = ["no-such-solver"]\n')
    mine = backend("mine")
    assert mine.version() is None
    assert mine.decide(HOLDS, {}) == Open(
        End.UNAVAILABLE, "mine is missing; to get it: put no-such-solver on PATH"
    )


def test_z3_as_a_configured_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real Z3 works as a configured solver, in both ways of asking for models."""
    path = programs.find("z3")
    if path is None:
        pytest.skip("z3 is no program here")
    text = """
    [solvers.again]
    command = ["z3", "-in"]
    [solvers.on]
    command = ["z3", "-in"]
    interactive = true
    """
    configure(tmp_path, monkeypatch, text)
    for name in ("again", "on"):
        assert isinstance(backend(name).decide(HOLDS, {}), Proved)
        answer = backend(name).decide(FAILS, {})
        assert isinstance(answer, Refuted)
        assert not FAILS.holds_at(answer.point)


def test_where_configuration_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable comes before the user's folder, and nothing is read from the working directory."""
    text = '[solvers.{}]\ncommand = ["x"]\n'
    home, work = tmp_path / "home", tmp_path / "work"
    (home / "paramverify").mkdir(parents=True)
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.delenv("PARAMVERIFY_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    ours = list(discover())
    (home / "paramverify" / "config.toml").write_text(text.format("user"))
    assert list(discover()) == [*ours, "user"]
    (work / "paramverify.toml").write_text(text.format("project"))
    assert list(discover()) == [*ours, "user"]
    for folder in (".", ""):  # a path that is relative would lead to the working directory again
        (work / "paramverify").mkdir(exist_ok=True)
        (work / "paramverify" / "config.toml").write_text(text.format("project"))
        monkeypatch.setenv("XDG_CONFIG_HOME", folder)
        monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
        assert list(discover()) == ours
    configure(tmp_path, monkeypatch, text.format("named"))
    assert list(discover()) == [*ours, "named"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[solver.x]", "solver: unknown key; did you mean 'solvers'?"),
        ("[solvers]\nx = 3", "solvers.x: must be a table"),
        ("[solvers.x]\ncommand = 'x'", "solvers.x.command: must be a list of texts"),
        (
            "[solvers.x]\ncommand = []",
            "solvers.x.command: this names no program: write a program, and its options if it needs some",
        ),
        (
            "[solvers.x]\ncommand = ['x']\nmodel = true",
            "solvers.x.model: unknown key; did you mean 'models'?",
        ),
        ("[solvers.x]\ncommand = ['x']\nlogic = 'a b'", "solvers.x.logic: not the name of a logic: 'a b'"),
        (
            "[solvers.x]\ncommand = ['x']\n[solvers.x.options]\na = ')'",
            "solvers.x.options: not an option of an SMT-LIB solver: a = ')'",
        ),
        (
            "[solvers.'a:b']\ncommand = ['x']",
            "solvers.a:b: a name has small letters, digits, - and _, and starts with a letter",
        ),
        ("[solvers.z3]\ncommand = ['x']", "solvers.z3: there is a backend 'z3' already: choose another name"),
        ("solvers", "not TOML: Expected '=' after a key in a key/value pair\n    solvers\n           ^"),
    ],
)
def test_mistakes_in_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    """Every mistake is an error that says file, key and reason."""
    configure(tmp_path, monkeypatch, text)
    with pytest.raises(InputError) as caught:
        discover()
    assert str(caught.value).endswith(message)
    assert str(tmp_path / "solvers.toml") in str(caught.value)


def test_a_configuration_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that the variable names has to exist."""
    monkeypatch.setenv("PARAMVERIFY_CONFIG", "/nowhere.toml")
    with pytest.raises(InputError, match=r"/nowhere.toml: no such file; --config or the variable"):
        discover()


# --- QEPCAD ------------------------------------------------------------------------------------------

START = """=======================================================
                Quantifier Elimination
=======================================================
Enter an informal description  between '[' and ']':
Enter a variable list:
Enter the number of free variables:
Enter a prenex formula:
"""
LINE = "\n\n=======================================================\n\nBefore Normalization >\n"
FORMULA = "\nAn equivalent quantifier-free formula:\n\n"
ENDING = """

=====================  The End  =======================

-----------------------------------------------------------------------------
0 Garbage collections, 0 Cells and 0 Arrays reclaimed, in 0 milliseconds.
3992976 Cells in AVAIL, 4000000 Cells in SPACE.

System time: 12 milliseconds.
System time after the initialization: 5 milliseconds.
-----------------------------------------------------------------------------
"""
TRUE = START + LINE + FORMULA + "TRUE" + ENDING
COLLECTED = "\n** 1995 cells, 19997 arrays in 0 milliseconds.\n"
FAILED = """
Failure occurred in:    {}
Reason for the failure: {}

Now the FAIL handler is aborting the program ...
"""
DELINEATE = "Error! Delineating polynomial should be added over cell(2,2)!"


@pytest.mark.parametrize(
    ("output", "code", "end", "detail"),
    [
        (TRUE, 0, End.DECIDED, "TRUE"),
        (TRUE.replace("TRUE", "FALSE"), 0, End.DECIDED, "FALSE"),
        (START + LINE + COLLECTED + COLLECTED + FORMULA + "TRUE" + ENDING, 0, End.DECIDED, "TRUE"),
        (TRUE, 1, End.CRASHED, "the program ended with exit status 1"),
        (
            START + "Error RPFACTREAD: Unknown variable.\n(A p)[p_1 \nEnter a prenex formula:\n",
            -11,
            End.GAVE_UP,
            "Error RPFACTREAD: Unknown variable.",
        ),
        (
            START + LINE + FAILED.format("IUPRC", "Prime list exausted."),
            2,
            End.GAVE_UP,
            "the coefficients are too large for qepcad: it has no prime left to compute with",
        ),
        (
            START + LINE + COLLECTED + FAILED.format("GCSI (final check)", "Too few cells reclaimed."),
            2,
            End.MEMORY,
            "GCSI (final check): Too few cells reclaimed.",
        ),
        (
            FAILED.format("QEPCAD_ProcessRC", "Environment variable qe not defined!"),
            2,
            End.CRASHED,
            "QEPCAD_ProcessRC: Environment variable qe not defined!",
        ),
        (START + LINE + DELINEATE + "\n" + FORMULA + "TRUE" + ENDING, 0, End.GAVE_UP, DELINEATE),
        (
            TRUE.replace("An equivalent", "A necessary condition, not an equivalent"),
            0,
            End.GAVE_UP,
            "A necessary condition, not an equivalent quantifier-free formula:",
        ),
        (
            START + LINE + "something new\n" + FORMULA + "TRUE" + ENDING,
            0,
            End.GAVE_UP,
            "the output is not an answer",
        ),
        (TRUE.replace(ENDING, ""), 0, End.GAVE_UP, "the output is not an answer"),
        (TRUE + TRUE, 0, End.GAVE_UP, "the output is not an answer"),
        ("TRUE\n", 0, End.GAVE_UP, "the output is not an answer"),
        (TRUE.replace("TRUE", "TRUE FALSE"), 0, End.GAVE_UP, "the answer cannot be read"),
        (TRUE.replace("TRUE", "v1 > _root_1 v1^2 - 2"), 0, End.GAVE_UP, "the answer cannot be read"),
        (TRUE.replace("TRUE", "[ v1 > 0"), 0, End.GAVE_UP, "the answer cannot be read"),
        (TRUE.replace("TRUE", "v1^v1 > 0"), 0, End.GAVE_UP, "the answer cannot be read"),
    ],
)
def test_outputs_of_qepcad(output: str, code: int, end: End, detail: str) -> None:
    """Only an equivalence with nothing beside it, and a clean end, is an answer of QEPCAD."""
    reply = qepcad_backend.interpret(Finished(code, output), question([HOLDS.polynomial], HOLDS.domain))
    if end is End.DECIDED:
        assert isinstance(reply, Reply)
        assert reply.text == detail
    else:
        assert isinstance(reply, Open)
        assert reply.end is end
        assert reply.detail.startswith(detail)
        assert reply.transcript == output.strip()


def stand_in_qepcad(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(qepcad_backend, "installation", lambda: Installation(path, "/"))


def test_a_lying_qepcad(program: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FALSE without a point where the claim fails refutes nothing, whatever the program says then."""
    (tmp_path / "answer").write_text(TRUE.replace("TRUE", "FALSE"))
    stand_in_qepcad(monkeypatch, program(f"cat > /dev/null; cat {tmp_path}/answer"))
    answer = backend("qepcad").decide(claim("p*q", names=("p", "q")), {})
    assert isinstance(answer, Open)
    assert answer.detail == "qepcad says that the claim fails, but no rational point was found"
    assert "FALSE" in answer.transcript


def test_a_doubtful_qepcad_is_asked_again(
    program: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where QEPCAD doubts its own answer the reverse order is tried, and its answer counts if it is clean."""
    doubt, clean = tmp_path / "doubt", tmp_path / "clean"
    doubt.write_text(START + LINE + DELINEATE + "\n" + FORMULA + "TRUE" + ENDING)
    clean.write_text(TRUE)
    about = claim("p^2*q", names=("p", "q"))
    stand_in_qepcad(
        monkeypatch,
        program(f"case \"$(cat)\" in *'v1 is p, v2 is q'*) cat {doubt};; *) cat {clean};; esac"),
    )
    assert isinstance(backend("qepcad").decide(about, {}), Proved)
    clean.write_text(doubt.read_text())
    answer = backend("qepcad").decide(about, {})
    assert isinstance(answer, Open)
    assert answer.detail == DELINEATE


def test_the_real_qepcad() -> None:
    """The real program proves, refutes at points that it leads to, and runs out of cells and of options."""
    real = backend("qepcad")
    if real.version() is None:
        pytest.skip(real.install)
    assert real.version() == "B 1.74"
    narrow = claim("(2*p^2 - 1)^2 + (3*q^2 - 1)^2 - 1/10^8", names=("p", "q"))
    answer = real.decide(narrow, {})
    assert isinstance(answer, Refuted)
    assert answer.point in narrow.domain
    assert not narrow.holds_at(answer.point)
    wide = claim("p^4 + q^4 + r^4 - 2*p*q*r + 1/10*p*q - s*p", names=("p", "q", "r", "s"))
    short = real.decide(wide, {"cells": "20000"})
    assert isinstance(short, Open)
    assert short.end is End.MEMORY
    for options in ({"cells": "many"}, {"cell": "1"}):
        with pytest.raises(InputError, match="only the option cells"):
            real.decide(HOLDS, options)


@pytest.mark.slow
def test_a_claim_without_parameters() -> None:
    """Claims about numbers, also about a constant in its enclosure, are questions for QEPCAD too."""
    real = backend("qepcad")
    if real.version() is None:
        pytest.skip(real.install)
    ring = Ring(())
    assert isinstance(real.decide(Claim(ring.number(1), Domain(ring, {})), {}), Proved)
    refuted = real.decide(Claim(ring.number(-1), Domain(ring, {})), {})
    assert isinstance(refuted, Refuted)
    assert refuted.point == {}
    ring = Ring((), ExpConstant(Fraction(1)))
    about = Claim(ring.parse("E - 2"), Domain(ring, {}).enclose(32))
    assert isinstance(real.decide(about, {}), Proved)


# --- Redlog ------------------------------------------------------------------------------------------

BANNER = "Reduce (Free CSL version, revision 6339), 22-May-2022 ...\n\n"


@pytest.mark.parametrize(
    ("output", "code", "expected"),
    [
        (BANNER + "{}\n\nanswer:$\n\ntrue$\n\nQuitting\n", 0, True),
        (BANNER + "1: 2: {}$\n3: 4: 5: answer:$\n6: false$\n7: \n*** End of Lisp run\n", 0, False),
        (BANNER + "4: *** sfto_fctrf: a note\n*** phi already defined\nanswer:\ntrue$\nQuitting\n", 0, True),
        (BANNER + "answer:$\ntrue$\n", 1, "the program ended with exit status 1"),
        (BANNER + "answer:$\ntrue$\n", -6, "the program died of SIGABRT"),
        (BANNER + "***** v1 invalid as formula\nanswer:$\ntrue$\n", 0, "***** v1 invalid as formula"),
        (BANNER + "answer:$\n*** psi already defined\ntrue$\n", 0, "not an answer"),
        (BANNER + "answer:$\ntrue$\nfalse$\n", 0, "not an answer"),
        (BANNER + "answer:$\ntrue$\nanswer:$\ntrue$\n", 0, "not an answer"),
        (BANNER + "answer:$\ntrue\n", 0, "not an answer"),
        (BANNER + "answer:$\nv1 > 0$\n", 0, "not an answer"),
        (BANNER + "answer:$\nex(v1,v1**2 - 2 = 0)$\n", 0, "quantifiers remain"),
        (BANNER + "answer:$\nall(v1,true)$\n", 0, "quantifiers remain"),
        (BANNER + "true$\n", 0, "not an answer: ''"),
        (BANNER + "answer:$\n", 0, "not an answer: ''"),
        ("", 0, "not an answer: ''"),
    ],
)
def test_outputs_of_redlog(output: str, code: int, expected: bool | str) -> None:
    """Only `true$` or `false$` with nothing beside it, and a clean end, is an answer of Redlog."""
    answer = redlog_backend.interpret(Finished(code, output))
    if isinstance(expected, bool):
        assert answer is expected
    else:
        assert isinstance(answer, Open)
        assert answer.detail.startswith(expected)
        assert answer.transcript == output.strip()


# What REDUCE, revision 6261 on SBCL, printed for three claims.
SESSION = (
    "REDUCE (Free SBCL version, revision 6261), 30-Nov-2026 ...\n\n1: \n2: \n"
    "Redlog Revision 6174 of 2021-11-15, 15:53:14Z\n"
    "(c) 1992-2021 T. Sturm and A. Dolzmann (www.redlog.eu)\ntype ?; for help\n\n{}\n\n"
    "3: \n4: \n5: \n6: \n7: \n8: \nanswer:$\n\n9: \n%s$\n\n10: "
)


def test_a_real_session() -> None:
    """The banners of REDUCE and of Redlog, and the prompts, are no answers."""
    assert redlog_backend.interpret(Finished(0, SESSION % "true")) is True
    assert redlog_backend.interpret(Finished(0, SESSION % "false")) is False
    left = redlog_backend.interpret(Finished(0, SESSION % "ex(x,x**2 - 2 = 0)"))
    assert isinstance(left, Open)
    assert left.detail == "quantifiers remain"
    found = redlog_backend.BANNER.search(SESSION)
    assert found
    assert found["version"] == "Free SBCL version, revision 6261"


@pytest.fixture
def reduce(
    program: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], redlog_backend.Redlog]:
    """Puts a REDUCE on PATH that gives one answer to rlqe and one to rlcad."""

    def make(rlqe: str, rlcad: str) -> redlog_backend.Redlog:
        body = f"""echo "Reduce (Free CSL version, revision 6339), 22-May-2022 ..."
        case "$(cat)" in
        *rlqe*) echo 'answer:$'; echo '{rlqe}';;
        *rlcad*) echo 'answer:$'; echo '{rlcad}';; esac"""
        path = program(body, "redcsl")
        monkeypatch.setenv("PATH", f"{Path(path).parent}:/usr/bin:/bin")
        programs.banner.cache_clear()
        return redlog_backend.Redlog()

    return make


def test_a_stand_in_for_reduce(reduce: Callable[[str, str], redlog_backend.Redlog]) -> None:
    """REDUCE is found by its banner; its answers prove, or refute at a point that is evaluated exactly."""
    found = reduce("true$", "")
    assert found.version() == "Free CSL version, revision 6339"
    assert isinstance(found.decide(HOLDS, {}), Proved)
    assert isinstance(reduce("ex(v1,v1 = 0)$", "true$").decide(HOLDS, {}), Proved)
    refuted = reduce("false$", "").decide(claim("p - 2/3"), {})
    assert isinstance(refuted, Refuted)
    assert refuted.point == {"p": Fraction(1, 2)}
    lying = reduce("false$", "").decide(HOLDS, {})
    assert isinstance(lying, Open)
    assert lying.detail == "redlog says that the claim fails, but no rational point was found"
    left = reduce("ex(v1,v1 = 0)$", "ex(v1,v1 = 0)$").decide(HOLDS, {})
    assert isinstance(left, Open)
    assert left.detail == "quantifiers remain"
    assert isinstance(reduce("", "true$").decide(HOLDS, {"procedure": "rlcad"}), Proved)
    for options in ({"rlqe": "on"}, {"procedure": "rlgqe"}, {"procedure": "rlhqe"}):
        with pytest.raises(InputError, match="only the option procedure"):
            found.decide(HOLDS, options)


def test_another_program_called_reduce(program: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that happens to be called `reduce` is not taken for REDUCE."""
    path = program("echo 'reduce: version 3.3, adds hydrogens'", "reduce")
    monkeypatch.setenv("PATH", f"{Path(path).parent}:/usr/bin:/bin")
    if any(programs.find(name) for name in redlog_backend.PROGRAMS[:-1]):
        pytest.skip("REDUCE is here")
    assert redlog_backend.Redlog().version() is None


# --- which program a backend is -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["z3", "-in"], "z3"),
        (["yices-smt2"], "yices"),
        (["./{wrap}"], "wrap.sh"),
        (["./{link}"], "wrap.sh"),
        (["sh", "-e", "somewhere/wrap.sh", "fast"], "wrap.sh"),
        (["env", "SEED=1", "solver-4.8"], "solver"),
        (["nice", "-n", "5", "timeout", "60s", "z3", "-in"], "z3"),
        (["timeout", "30", "z3", "-in", "-smt2"], "z3"),
        (["java", "-jar", "lib/solver.jar"], "solver.jar"),
        (["python3.11"], "python3.11"),
    ],
)
def test_a_program_is_its_file(command: list[str], expected: str, tmp_path: Path) -> None:
    """Two names for one program are one where different programs are to confirm a claim."""
    (tmp_path / "wrap.sh").write_text("#!/bin/sh\nz3 -in\n")
    (tmp_path / "wrap.sh").chmod(0o755)
    (tmp_path / "link").symlink_to(tmp_path / "wrap.sh")
    first, *rest = command
    file = str(tmp_path / first[3:-1].replace("wrap", "wrap.sh")) if first.startswith("./") else first
    for name in ("mine", "other"):
        found = SmtLibProcess(name=name, command=(file, *rest), description="", install="")
        if first == "python3.11":
            assert found.program.startswith("python")  # a link, perhaps
        else:
            assert found.program == expected


def test_a_crash_has_the_last_words_of_the_program() -> None:
    """What a solver says about a mistake of the caller is part of the reason."""
    answer = interpret(Finished(1, "(error \"line 1 column 22: unknown parameter 'bogus'\")\n"), ())
    assert isinstance(answer, Open)
    assert answer.end is End.CRASHED
    assert "exit status 1: (error" in answer.detail
    assert "unknown parameter 'bogus'" in answer.detail
