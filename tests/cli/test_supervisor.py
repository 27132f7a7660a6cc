"""The supervisor ends a command when time or memory is over, and tells what was found until then."""

import json
import signal
import sys
import time

import pytest
from process_tools import PATIENCE, gone, mark, marked, piped

SCRIPT = """
import os, sys, time
from paramverify.cli import _output
from paramverify.cli._supervisor import supervise

def work(arguments):
    with _output.held():
        print("half an answer")
        {body}
    return {code}

if __name__ == "__main__":
    sys.exit(supervise(sys.argv[1:], work))
"""
FOUND = "_output.add('claims', 1, 'one claim'); _output.add('claims', 2, 'two claims'); "
LONG = "3 ** 10**9"  # one call that neither a signal handler nor a thread interrupts
OVER = "the time limit of 0.5 s is over"


def script(body: str, code: int = 0) -> list[str]:
    """Returns the command of a program whose work this is."""
    return [sys.executable, "-c", SCRIPT.format(body=body, code=code)]


def ended(body: str, *arguments: str, code: int = 0) -> tuple[int, str, str]:
    """Returns exit code and both outputs of a program whose work this is, and that it left nothing behind."""
    environment = mark(f"supervisor-{time.monotonic_ns()}")
    process = piped([*script(body, code), *arguments], environment)
    try:
        out, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert gone(environment)
    return process.returncode, out, error


@pytest.mark.slow
def test_a_call_that_nothing_interrupts_is_ended_in_time() -> None:
    """When the time is over, the reason and what was found are told, and nothing of a half answer."""
    code, out, error = ended(f"{FOUND}_output.limit_time(0.5); {LONG}")
    assert (code, error) == (3, f"undecided: {OVER}\n")
    assert out == "one claim\ntwo claims\n"


@pytest.mark.slow
def test_what_was_refuted_stays_so() -> None:
    """A verdict that was known before the limit is told as such, and no reason follows its word."""
    body = f"{FOUND}_output.violated('not private'); _output.limit_time(0.5); {LONG}"
    code, _, error = ended(body)
    assert (code, error) == (1, f"stopped: {OVER}. The verdict was known before: not private\n")
    code, out, _ = ended(body, "--json")
    found = json.loads(out)
    assert (code, found["status"], found["verdict"]) == (1, "violated", "not private")


@pytest.mark.slow
def test_later_findings_replace_earlier_ones() -> None:
    """What is found as a whole takes the place of what was told before."""
    found = "_output.found(['a bound'], {'ratio': '2'}); "
    _, out, _ = ended(f"{FOUND}{found}_output.limit_time(0.5); {LONG}")
    assert out == "a bound\n"
    _, out, _ = ended(f"{FOUND}{found}_output.limit_time(0.5); {LONG}", "--json")
    assert json.loads(out)["so_far"] == {"ratio": "2"}


@pytest.mark.slow
def test_a_step_counts_from_its_own_start() -> None:
    """A limit of a step replaces one that counts from the start of the program."""
    code, out, _ = ended("_output.limit_time(2); _output.limit_step(50); time.sleep(2)", code=1)
    assert (code, out) == (1, "half an answer\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kept", ["_output.limit_time(2); _output.lift()", "_output.release(); _output.limit_time(2)"]
)
def test_an_answer_that_is_told_is_told_to_its_end(kept: str) -> None:
    """After the limit is lifted, and after printing has begun, time ends nothing any more."""
    code, out, error = ended(f"{kept}; time.sleep(2); print('rest')", code=1)
    assert (code, out, error) == (1, "half an answer\nrest\n", "")


@pytest.mark.slow
def test_an_error_is_told_once() -> None:
    """A command that told its own end, and then takes long to give its memory back, is not told again."""
    fails = "_failed(TimeLimitError(0.5), arguments); time.sleep(1)"
    imports = "from paramverify.cli.main import _failed; from paramverify.errors import TimeLimitError; "
    code, out, error = ended(f"{imports}_output.limit_step(0.5); {fails}", "--json", code=3)
    assert (code, error) == (3, f"undecided: {OVER}\n")
    assert json.loads(out)["reason"] == OVER


@pytest.mark.slow
def test_memory_is_limited() -> None:
    """A command that takes more memory than it may is ended, and that is told as such."""
    grow = "_output.limit_memory(300_000_000); kept = [b'x' * 10**7 for _ in range(10**4)]"
    code, out, error = ended(FOUND + grow)
    assert (code, error) == (3, "undecided: the memory limit of 300 MB is reached\n")
    assert out == "one claim\ntwo claims\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("SIGKILL", 3, "the system killed the command"),
        ("SIGSEGV", 70, "the signal SIGSEGV ended the command"),
        ("SIGABRT", 70, "the signal SIGABRT ended the command"),
        ("SIGXCPU", 3, "processor time"),
        ("SIGTERM", 143, ""),
    ],
)
def test_a_signal_is_no_verdict(name: str, code: int, words: str) -> None:
    """A command that a signal ends has an exit code that is no verdict, and says what happened."""
    found, out, error = ended(f"{FOUND}os.kill(os.getpid(), {int(signal.Signals[name])})", "--json")
    assert found == code
    assert words in error
    if words:
        assert json.loads(out)["status"] == ("unknown" if code == 3 else "error")


@pytest.mark.slow
def test_an_abort_with_much_memory_is_told_as_memory() -> None:
    """Libraries abort when there is no more memory: with most of it in use, that is what is told."""
    body = "_output.limit_memory(10**9); kept = b'x' * 7 * 10**8; os.abort()"
    code, _, error = ended(body)
    assert code == 3
    assert "ran out of memory" in error


@pytest.mark.slow
def test_ctrl_c_twice_ends_what_does_not_listen() -> None:
    """The second Ctrl-C ends a command that does not react to the first; the exit code is 130."""
    environment = mark("twice")
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    process = piped(script(f"{deaf}os.write(1, b'here'); {LONG}"), environment)
    assert process.stdout
    assert process.stdout.read(4) == "here"
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert error == "interrupted\n"
    assert gone(environment)


@pytest.mark.slow
def test_a_pause_pauses_the_command() -> None:
    """Ctrl-Z stops the command as well as the program, and both go on together."""
    environment = mark("pause")
    process = piped(script("os.write(1, b'here'); time.sleep(1)"), environment)
    assert process.stdout
    assert process.stdout.read(4) == "here"
    both = marked(environment)
    assert len(both) == 2
    process.send_signal(signal.SIGTSTP)
    until = time.monotonic() + PATIENCE
    while not all(state(pid) == "T" for pid in both):
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGCONT)
    assert process.communicate(timeout=PATIENCE) == ("half an answer\n", "")


def state(pid: int) -> str:
    """Returns the letter of a process's state, such as T for stopped."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_the_command_dies_with_the_program(number: signal.Signals) -> None:
    """Whatever ends the program, its command does not stay behind, not even inside a long call."""
    environment = mark(f"dies-{number}")
    process = piped(script(f"os.write(1, b'here'); {LONG}"), environment)
    assert process.stdout
    assert process.stdout.read(4) == "here"
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -number
    assert gone(environment)
