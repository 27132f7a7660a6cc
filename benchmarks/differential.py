"""Two versions of paramverify get the same random problems, and must give the same answers.

    python benchmarks/differential.py --before COMMIT [--cases 2000] [--first 0] [--seconds 10] [--jobs 1]

The version before is a commit, which is checked out into a temporary worktree, or a folder with the source
tree. The version after is the tree that this file lives in. Problems are those of `random_cases.py`, of all
subjects; one in ten has a mistake. A process for each version imports its own tree once, and forks for each
problem, so that no answer depends on the problems before. Both have the same limits and the same seed of
hashes, and ask no solver: races between solvers end in another way each time.

Compared are exit codes, JSON, texts, messages of errors, and evidence with what `check` says of it. Seconds
and versions are left out. Where only bounds are known (`lower` and `upper`, or `between ... and ...` in a
text), the new ones must lie within the old ones. An error may name its file where it named none before.
Everything else must be equal.

What other ranges of inputs say depends on the time that there is for it. Problems about such ranges
and one in five of the others give it the whole limit, and the rest no time, in both versions alike.

Where answers differ and a time limit was met, the problem is asked once more with --again times as much time.
If a limit is met again, it counts as undecided, not as different.

Prints a table of the subjects, and writes all differences to --out. A seed there is a problem: `--first SEED
--cases 1` asks it again. Exit status 1 if there are differences.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import queue
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any, NoReturn

# Nothing of paramverify is imported here: a worker takes it from the tree that it is told.
if TYPE_CHECKING:
    from random_cases import Asked

ROOT = Path(__file__).resolve().parent.parent
MEMORY = 6 << 30  # bytes of address space for each problem
SHARES = {"SHARE": 1.0, "LEAST": 0.0, "MOST": 0.0}  # of the module that looks at other ranges of inputs
EVIDENCE = "evidence.json"
AWAY = re.compile(r"__main__$|\.testing|\.cli\.(?!main$|_supervisor$|_output$)")  # do something when imported
LIBRARIES = ("scipy.stats", "sympy", "z3")
TEXT_ONLY = {"export", "--graph"}

UNTOLD = {"seconds", "version", "versions", "created"}  # keys of JSON
NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
SECONDS = re.compile(rf"\b{NUMBER} (?:s|ms|seconds?)\b")
BETWEEN = re.compile(rf"between ({NUMBER}(?:/\d+)?) and ({NUMBER}(?:/\d+)?)")
ABOUT = re.compile(rf"≈ {NUMBER}")
NAMED = re.compile(r"^(error: |)[\w.-]+\.(?:toml|dipa|smt2): ", re.MULTILINE)  # the file of an error
LATE = re.compile(r"no time|time limit|timed? ?out|ran out of time", re.IGNORECASE)


# --- comparing ----------------------------------------------------------------------------------------


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yields where two answers in JSON differ; bounds may get nearer to each other."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in (old.keys() | new.keys()) - UNTOLD:
            inside = f"{place}.{key}" if place else key
            if key not in old or key not in new:
                yield f"{inside} is only {'after' if key in new else 'before'}"
            elif as_good(key, old[key], new[key]):
                continue
            else:
                yield from differences(old[key], new[key], inside)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place_in_list, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{place}[{place_in_list}]")
    elif isinstance(old, str) and isinstance(new, str):
        if not same_text(old, new):
            yield f"{place}: {old!r} and {new!r}"
    elif (type(old), old) != (type(new), new):
        yield f"{place}: {json.dumps(old)} and {json.dumps(new)}"


def as_good(key: str, old: Any, new: Any) -> bool:
    """Tells whether a value may differ from the old one: a bound that is as good, or the file of an error."""
    if re.search(r"(^|_)(lower|upper)$", key):
        return within(old, new, key.endswith("lower"))
    return key == "file" and old == ""


def within(old: Any, new: Any, is_lower: bool) -> bool:
    """Tells whether a bound is as good as the old one."""
    if old == new:
        return True
    if old is None or new is None:
        return old is None  # no bound was known
    with suppress(ValueError, ZeroDivisionError, TypeError):
        return Fraction(new) >= Fraction(old) if is_lower else Fraction(new) <= Fraction(old)
    return False


def same_text(old: str, new: str) -> bool:
    """Tells whether two texts say the same; bounds in them may get nearer, and numbers about them."""
    old, new = SECONDS.sub("... s", old), SECONDS.sub("... s", new)
    if old in (new, NAMED.sub(r"\1", new)):
        return True
    before, after = BETWEEN.findall(old), BETWEEN.findall(new)
    if before == after or len(before) != len(after):
        return False
    nearer = all(
        within(one[0], other[0], True) and within(one[1], other[1], False)
        for one, other in zip(before, after, strict=True)
    )
    return nearer and bare(old) == bare(new)


def bare(text: str) -> str:
    """Returns a text without its bounds."""
    return ABOUT.sub("≈ ...", BETWEEN.sub("between ... and ...", text))


@dataclass(frozen=True)
class Ended:
    """How a call ended: exit code, outputs, the evidence that it wrote, and whether a time limit was met."""

    code: int | None
    out: str = ""
    err: str = ""
    evidence: str = ""
    late: bool = False

    @property
    def was_late(self) -> bool:
        """Whether time decided something."""
        return self.late or self.code is None or bool(LATE.search(self.out + self.err))


def compared(old: Ended, new: Ended) -> list[str]:
    """Returns what two calls have told differently."""
    if old.code != new.code:
        return [f"exit code: {old.code} and {new.code}"]
    found = [] if same_text(old.err, new.err) else [f"standard error:\n{old.err}\nand\n{new.err}"]
    for name, one, other in (("output", old.out, new.out), ("evidence", old.evidence, new.evidence)):
        parts = read(one), read(other)
        if None not in parts:
            found += [f"{name}: {difference}" for difference in differences(*parts)]
        elif not same_text(one, other):
            found.append(f"{name}:\n{one}\nand\n{other}")
    return found


def read(text: str) -> Any:
    """Returns JSON as data, and None for a text that is none."""
    with suppress(ValueError):
        return json.loads(text) if text.startswith(("{", "[")) else None
    return None


# --- a worker: imports one tree, and forks for each problem --------------------------------------------


def work(tree: Path) -> None:
    """Answers the problems that come on standard input, one JSON object in each line."""
    package = import_module("paramverify")
    if Path(str(package.__file__)).resolve().parents[1] != tree.resolve():
        raise SystemExit(f"imported {package.__file__}, not {tree}")
    for module in walk_packages(package.__path__, "paramverify."):
        if not AWAY.search(module.name):
            import_module(module.name)
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    print(json.dumps({"found": bool(shares(0))}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answered(json.loads(line))), flush=True)


def shares(seconds: float) -> list[str]:
    """Sets the time for other ranges of inputs; returns the modules that have such a time."""
    found = [
        module
        for name, module in sys.modules.items()
        if name.startswith("paramverify.") and vars(module).keys() >= SHARES.keys()
    ]
    for module in found:
        vars(module).update({**SHARES, "LEAST": seconds, "MOST": seconds})
    return [module.__name__ for module in found]


def answered(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Forks a process that answers a problem, and kills it where it does not end."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        be(asked, writing)
    os.close(writing)
    until = time.monotonic() + asked["killed"]
    data = bytearray()
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while (left := until - time.monotonic()) > 0:
            if select.select([pipe], [], [], left)[0]:
                more = pipe.read(1 << 20)
                if not more:
                    break
                data += more
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    told: list[dict[str, Any]] = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return told + [{"code": None}] * (len(asked["calls"]) - len(told))


def be(asked: dict[str, Any], writing: int) -> NoReturn:
    """Is the life of the process of one problem."""
    import resource

    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        shares(asked["others"])
        folder = Path("problem")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        os.chdir(folder)
        for name, text in asked["files"].items():
            Path(name).write_text(text, encoding="utf-8")
        for call in asked["calls"]:
            os.write(writing, (json.dumps(called(call)) + "\n").encode())
    finally:
        os._exit(0)


def called(words: list[str]) -> dict[str, Any]:
    """Runs one command in this process."""
    errors, main = import_module("paramverify.errors"), import_module("paramverify.cli.main")
    late: list[str] = []
    begin = errors.TimeLimitError.__init__

    def noted(self: Any, *given: Any, **named: Any) -> None:
        late.append("")
        begin(self, *given, **named)

    errors.TimeLimitError.__init__ = noted
    out, err = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = int(main.run(words))
    finally:
        errors.TimeLimitError.__init__ = begin
    written = Path(EVIDENCE) if "--evidence" in words else None
    evidence = written.read_text(encoding="utf-8") if written and written.exists() else ""
    return {
        "code": code,
        "out": out.getvalue(),
        "err": err.getvalue(),
        "evidence": evidence,
        "late": bool(late),
    }


# --- the process that compares ------------------------------------------------------------------------


class Worker:
    """A process that answers with one tree."""

    def __init__(self, tree: Path, folder: Path) -> None:
        folder.mkdir(parents=True)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PARAMVERIFY_")},
            **{"PYTHONPATH": str(tree), "PYTHONHASHSEED": "0", "PARAMVERIFY_ORDER": "off"},
        }
        command = [sys.executable, __file__, "--work", str(tree.resolve())]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, cwd=folder, env=environment
        )
        self.has_shares = self.hear()["found"]

    def say(self, asked: dict[str, Any]) -> None:
        """Sends a problem."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Waits for an answer."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker has ended with {self.process.wait()}")
        return json.loads(line)

    def end(self) -> None:
        """Ends the process."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def forms(asked: Asked, seed: int) -> list[list[str]]:
    """Returns the calls: the first one as a text and as JSON, of the others one of both."""
    calls: list[list[str]] = []
    for place, call in enumerate(asked.calls):
        both = (call, [*call, "--json"])
        if TEXT_ONLY.intersection(call):
            calls.append(call)
        else:
            calls += both if place == 0 else [both[(seed // 2 + place) % 2]]
    return calls


@dataclass
class Found:
    """What was found of one problem."""

    seed: int
    asked: Asked
    status: str
    code: int | None
    told: list[tuple[list[str], list[str]]] = field(default_factory=list)

    def text(self) -> str:
        """Returns it for the file of differences."""
        mistake = f", with a mistake ({self.asked.mistake})" if self.asked.mistake else ""
        files = (f"--- {name}\n{text.rstrip()}" for name, text in self.asked.files.items())
        told = (f"--- {' '.join(call)}\n" + "\n".join(lines) for call, lines in self.told)
        title = f"=== seed {self.seed}: {self.status}: {self.asked.subject}{mistake}"
        return "\n".join([title, *files, *told, ""])


def find(seed: int, pair: tuple[Worker, Worker], options: argparse.Namespace) -> Found:
    """Asks both versions about the problem of a seed."""
    from random_cases import random_case

    asked = random_case(seed)
    calls = forms(asked, seed)
    found = Found(seed, asked, "equal", None)
    for seconds in (options.seconds, options.seconds * options.again):
        for worker in pair:
            worker.say(
                {
                    "files": asked.files,
                    "calls": [[*call, "--timeout", str(seconds)] for call in calls],
                    "others": seconds if asked.ample or seed % 5 == 0 else 0.0,
                    "killed": 3 * seconds * len(calls),
                }
            )
        old, new = ([Ended(**told) for told in worker.hear()] for worker in pair)
        found.code = old[0].code
        found.told = []
        late = False
        for call, *ends in zip(calls, old, new, strict=True):
            if lines := compared(*ends):
                found.told.append((call, lines))
                late = late or any(end.was_late for end in ends)
        if not found.told:
            found.status = "undecided" if all(end.code is None for end in (*old, *new)) else "equal"
            return found
        found.status = "undecided" if late else "different"
        if not late:
            return found
    return found


@contextmanager
def tree_of(before: str) -> Iterator[Path]:
    """Gives the folder of the version before: a folder, or a worktree of a commit."""
    if (Path(before) / "paramverify").is_dir():
        yield Path(before).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), before], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def run(before: Path, options: argparse.Namespace) -> list[Found]:
    """Asks all problems, with a pair of workers for each job."""
    seeds: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in range(options.first, options.first + options.cases):
        seeds.put(seed)
    all_found: list[Found] = []

    def ask(folder: Path) -> None:
        pair = Worker(before, folder / "before"), Worker(ROOT, folder / "after")
        if not all(worker.has_shares for worker in pair):
            print("one version has no time for other ranges that can be set", file=sys.stderr)
        with suppress(queue.Empty):
            while True:
                seed = seeds.get_nowait()
                try:
                    found = find(seed, pair, options)
                except Exception:
                    print(f"stopped at seed {seed}", file=sys.stderr)
                    raise
                all_found.append(found)
                if found.status != "equal":
                    print(f"{found.status}: seed {found.seed}, {found.asked.subject}", file=sys.stderr)
        for worker in pair:
            worker.end()

    with tempfile.TemporaryDirectory() as folder:
        jobs = [
            threading.Thread(target=ask, daemon=True, args=(Path(folder) / str(k),))
            for k in range(options.jobs)
        ]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
    if len(all_found) < options.cases:
        raise SystemExit("not all problems were asked")
    return sorted(all_found, key=lambda found: found.seed)


def table(all_found: list[Found]) -> Iterator[str]:
    """Yields the lines of the table of subjects; exit codes are those of the first question."""
    statuses = ("equal", "undecided", "different")
    yield f"| subject | cases | {' | '.join(statuses)} | exit codes |"
    yield "| --- " * 6 + "|"
    subjects = sorted({found.asked.subject for found in all_found})
    groups = [(name, [found for found in all_found if found.asked.subject == name]) for name in subjects]
    groups.append(("with a mistake", [found for found in all_found if found.asked.mistake]))
    groups.append(("all", all_found))
    for name, group in groups:
        counts = Counter(found.status for found in group)
        codes = sorted(Counter(str(found.code) for found in group).items())
        cells = [name, len(group), *(counts[status] for status in statuses)]
        cells.append(", ".join(f"{code}: {number}" for code, number in codes))
        yield f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Compares and prints; with --work it is a worker."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", default="HEAD", help="a commit, or a folder with a source tree")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of each question")
    parser.add_argument("--again", type=float, default=4.0, help="how much more time a second try has")
    parser.add_argument("--jobs", type=int, default=1, help="pairs of processes")
    parser.add_argument("--out", type=Path, default=Path("differences.txt"))
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return 0
    sys.path.insert(0, str(ROOT / "tests" / "tools"))
    sys.path.insert(1, str(ROOT))
    started = time.monotonic()
    with tree_of(options.before) as before:
        all_found = run(before, options)
    told = [found for found in all_found if found.status != "equal"]
    options.out.write_text("\n".join(found.text() for found in told), encoding="utf-8")
    print("\n".join(table(all_found)))
    print(f"\n{time.monotonic() - started:.0f} s; differences are in {options.out}")
    return 1 if any(found.status == "different" for found in told) else 0


if __name__ == "__main__":
    raise SystemExit(main())
