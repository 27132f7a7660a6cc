"""Mutants: makes small mistakes in the modules that verdicts rest on, and counts those that tests notice.

    python benchmarks/mutants.py [--modules cone lines ...] [--number 20 | --all] [--seed 0] [--jobs 2]
                                 [--quick] [--tests kernel/test_cone_checker.py ...] [--measured FILE]
                                 [--again FILE]

A mutant is a module with one change inside a function: a comparison weakened or strengthened, `and` for `or`
and an operand left out, `not` left out, `all` for `any`, `min` for `max`, another arithmetic operator, a
number one larger or smaller, True for False, a bound of a slice left out, a guard (an `if` that raises,
returns, or leaves a loop) or a call left out. Texts of messages, defaults and limits at the top of a module
stay.

All modules of the folders below are mutated, and those of a table. Nothing is written: pytest collects the
test files once, and every mutant gets a forked process in which the code of the module's functions is
replaced. It runs tests that reach the changed line (measured before), for `--most` seconds: the quick ones
and those that have noticed other mutants first, until one fails. Tests that take longer than `--longest` are
left out, and with `--quick` those that are marked as slow. What tests do in processes of their own does not
see the change. So the share is if anything too low. `--measured` keeps what was measured in a file; only test
files that have changed since are measured again, and all of them if the package or the tools of tests have.
`--again` runs only the mutants that a report or a log, which is kept in a file, calls survivors.

Mutants that no test can notice are in `equivalent_mutants.toml` with the reason for each; they run too, and
one that is killed, or is no mutant any more, is an error. Exit status 1: a module or the folders together are
under their threshold, no test reaches a module, or the list is wrong.
"""

from __future__ import annotations

import argparse
import ast
import gc
import hashlib
import importlib
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "paramverify"
MEMORY = 6 << 30  # bytes of address space for each process

CHECKERS, OTHERS = 0.95, 0.90
ALL_CHECKERS = 0.97  # of the mutants in both folders together
FOLDERS = ("kernel", "rereader")  # All their modules are mutated.
# What stands in the test files about them: a name of a module or of a tool that asks them, or their command.
ABOUT = re.compile(
    r"paramverify\.(kernel|rereader)\b|evidence_checks|second_look|looks import|three_checkers|needs_coq"
    r"|\"check\""
)
ROWS = 60  # of each table of parameters, the most that are run
STEPS = 2_000  # of a function in which no new line is reached, and after which it is followed no more
EXAMPLES = 25  # for each property
# Which test files cover which other module.
TESTS = {
    "evidence/witnesses.py": "evidence/test_witnesses.py encodings/test_sequences.py",
    "encodings/cone.py": "encodings/test_cone_encoding.py encodings/test_cone.py",
    "encodings/every_length.py": "encodings/test_growth.py encodings/test_bounded_ratios.py "
    "encodings/test_every_length.py",
    "encodings/unbounded_ratios.py": "encodings/test_loops.py encodings/test_growth.py",
    "encodings/sequences.py": "encodings/test_sequences.py",
    "simplify/chain.py": "simplify/test_simplification.py simplify/test_simplification_steps.py",
    "simplify/reductions.py": "simplify/test_simplification.py simplify/test_simplification_steps.py",
    "exact/univariate.py": "exact/test_lines.py algebra/test_roots.py",
    "exact/branching.py": "exact/test_search.py exact/test_branching.py exact/test_near_misses.py "
    "exact/test_arguments.py",
    "algebra/domains.py": "algebra/test_domains.py algebra/test_points.py",
    "algebra/real_roots.py": "algebra/test_roots.py exact/test_lines.py",
    "models/context.py": "models/test_model_checks.py",
    "portfolio/obligations.py": "portfolio/test_obligations.py evidence/test_evidence.py",
}

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE,),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE,),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitAnd,),
}
NAMES = {"all": "any", "any": "all", "min": "max", "max": "min"}
LEAVES = (ast.Raise, ast.Return, ast.Continue, ast.Break)
UNCHANGED = (ast.Raise, ast.Assert, ast.JoinedStr)


@dataclass(frozen=True)
class Mutant:
    """A change of one place: how it reads, which lines hold the statement, and the new code."""

    module: str
    function: str
    change: str
    lines: tuple[int, int]
    code: CodeType

    def identity(self) -> tuple[str, str, str]:
        """Returns what the list of equivalent mutants names."""
        return self.module, self.function, self.change


# --- mutants ----------------------------------------------------------------------------------------


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Yields what may stand in the place of a node."""
    match node:
        case ast.Compare(left, ops, rest):
            for k, op in enumerate(ops):
                for other in OPERATORS[type(op)]:
                    yield ast.Compare(left, [*ops[:k], other(), *ops[k + 1 :]], rest)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(OPERATORS[type(op)][0](), values)
            for k in range(len(values)):
                kept = [*values[:k], *values[k + 1 :]]
                yield kept[0] if len(kept) == 1 else ast.BoolOp(op, kept)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.BinOp(left, op, right):
            for other in OPERATORS.get(type(op), ()):
                yield ast.BinOp(left, other(), right)
        case ast.AugAssign(target, op, value):
            for other in OPERATORS.get(type(op), ()):
                yield ast.AugAssign(target, other(), value)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
            if value > 0:
                yield ast.Constant(value - 1)
        case ast.Call(ast.Name(name), args, keywords) if name in NAMES:
            yield ast.Call(ast.Name(NAMES[name], ast.Load()), args, keywords)
        case ast.Slice(lower, upper, step):
            if lower is not None:
                yield ast.Slice(None, upper, step)
            if upper is not None:
                yield ast.Slice(lower, None, step)
        case ast.If(_, [leaf], []) if isinstance(leaf, LEAVES):
            yield nothing(node)
        case ast.Expr(ast.Call()):
            yield nothing(node)


def nothing(node: ast.AST) -> ast.stmt:
    """Returns a statement that does nothing; it has `super` if that was there, as a function with it does."""
    if any(isinstance(inner, ast.Name) and inner.id == "super" for inner in ast.walk(node)):
        return ast.Expr(ast.Name("super", ast.Load()))
    return ast.Pass()


def mutants(module: str, wanted: Callable[[int], bool]) -> list[Mutant]:
    """Returns the wanted mutants of a module by their numbers, which are in the order of places."""
    path = PACKAGE / module
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: list[Mutant] = []
    seen: dict[tuple[str, str], int] = {}
    numbers = count()

    def visit(node: ast.AST, parents: list[ast.AST], names: list[str]) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [*names, node.name]
        inside = any(isinstance(p, ast.FunctionDef) for p in parents)
        for name, value in ast.iter_fields(node):
            if name in ("decorator_list", "args", "returns", "annotation") and not isinstance(node, ast.Call):
                continue
            for k, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.AST) or isinstance(child, UNCHANGED):
                    continue
                if (
                    isinstance(child, ast.keyword) and child.arg == "strict"
                ):  # of zip: the lengths are the same
                    continue
                if inside or isinstance(node, ast.FunctionDef):
                    for other in variants(child):
                        take(node, name, k, other, [*parents, node], ".".join(names))
                visit(child, [*parents, node], names)

    def take(node: ast.AST, name: str, k: int, other: ast.AST, parents: list[ast.AST], function: str) -> None:
        value = getattr(node, name)
        old = value[k] if isinstance(value, list) else value
        shown = node if isinstance(old, ast.Constant | ast.Slice) and isinstance(node, ast.expr) else old
        before = heading(shown)
        ast.copy_location(other, old)
        for inner in ast.walk(other):
            if not hasattr(inner, "lineno"):
                ast.copy_location(inner, old)
        replacement = [*value[:k], other, *value[k + 1 :]] if isinstance(value, list) else other
        setattr(node, name, replacement)
        change = f"{before} -> {heading(other if shown is old else shown)}"
        chosen = wanted(next(numbers))
        top = [p for p in parents[1:2] if isinstance(p, ast.stmt)]  # the function or class that holds it
        part = ast.fix_missing_locations(ast.Module(top, []))
        code = compile(part, str(path), "exec") if chosen else None
        setattr(node, name, value)
        seen[function, change] = seen.get((function, change), 0) + 1
        if seen[function, change] > 1:
            change += f" ({seen[function, change]})"
        if code is not None:
            statement = next(p for p in [old, *parents[::-1]] if isinstance(p, ast.stmt))
            found.append(Mutant(module, function, change, span(statement), code))

    visit(tree, [], [])
    return found


def sample(module: str, options: argparse.Namespace) -> list[Mutant]:
    """Returns the mutants of a module that are run."""
    if options.again:
        return [m for m in mutants(module, lambda k: True) if m.identity() in options.again]
    if options.all:
        return mutants(module, lambda k: True)
    tried: list[int] = []

    def note(k: int) -> bool:
        tried.append(k)
        return False

    mutants(module, note)
    chosen = random.Random(f"{options.seed} {module}").sample(tried, min(options.number, len(tried)))
    return mutants(module, set(chosen).__contains__)


def heading(node: ast.AST) -> str:
    """Returns a node as text, of a statement with a body the first line only."""
    return ast.unparse(node).splitlines()[0] if isinstance(node, ast.stmt) else ast.unparse(node)


def span(statement: ast.stmt) -> tuple[int, int]:
    """Returns the lines of a statement, without its body."""
    body = getattr(statement, "body", None)
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    return (first, max(first, body[0].lineno - 1)) if body else (first, last)


# --- running tests in forked processes --------------------------------------------------------------


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yields a code object and all inside it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from codes(part)


def living() -> dict[str, list[FunctionType]]:
    """Returns the functions that there are, by the files that they come from."""
    gc.unfreeze()  # what the tests have frozen is not listed
    found: dict[str, list[FunctionType]] = {}
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            found.setdefault(function.__code__.co_filename, []).append(function)
    gc.freeze()
    return found


def install(mutant: Mutant, functions: Iterable[FunctionType]) -> None:
    """Gives every living function of the module its code in the mutant."""
    new = {(c.co_qualname, c.co_firstlineno): c for c in codes(mutant.code)}
    for function in functions:
        code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None and code.co_freevars == function.__code__.co_freevars:
            function.__code__ = code


@dataclass(frozen=True)
class Known:
    """What is known of a test: its seconds, those of its file before the first test, the lines it reaches."""

    item: pytest.Item
    seconds: float
    before: float
    lines: dict[str, list[int]]


@dataclass
class Child:
    """A forked process that runs tests; `limit` is when it is killed."""

    pid: int
    limit: float
    output: Path


def forked(work: Callable[[], str], seconds: float, output: Path) -> Child:
    """Starts a process that does some work and writes what comes of it."""
    pid = os.fork()
    if pid:
        return Child(pid, time.monotonic() + seconds, output)
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        # Whatever happens to its parent, it ends.
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        output.write_text(work())
    finally:
        os._exit(0)


def killer(mutant: Mutant, functions: Iterable[FunctionType], tests: Sequence[Known], output: Path) -> str:
    """Returns the name of the first test that fails with a mutant, or nothing."""
    install(mutant, functions)
    signal.signal(signal.SIGPROF, lambda *_: (output.write_text("time"), os._exit(0)))
    for test, (item, after) in zip(tests, following([t.item for t in tests]), strict=True):
        signal.setitimer(signal.ITIMER_PROF, 3 + 5 * (test.seconds + test.before))
        if failed(item, after):
            return item.nodeid
    return ""


def following(items: Sequence[pytest.Item]) -> Iterable[tuple[pytest.Item, pytest.Item | None]]:
    """Returns each test with the one that comes after it."""
    return zip(items, [*items[1:], None], strict=True)


def failed(item: pytest.Item, after: pytest.Item | None) -> bool:
    """Runs a test and tells whether it failed."""
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=after))


class TooLongError(BaseException):
    """A test takes longer than those that are run."""


def measured(item: pytest.Item, after: pytest.Item | None, names: Iterable[str], longest: float) -> Any:
    """Runs a test; returns whether it failed, the seconds of its parts, and which lines it reached."""
    lines: dict[str, set[int]] = {str(PACKAGE / module): set() for module in names}
    left: dict[CodeType, int] = {}

    def local(frame: FrameType, event: str, _: Any) -> Any:
        code, line = frame.f_code, frame.f_lineno
        found = lines[code.co_filename]
        if line not in found:
            found.add(line)
            left[code] = STEPS
        else:
            left[code] -= 1
            if left[code] <= 0:
                frame.f_trace_lines = False
        return local

    def calls(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        followed = code.co_filename in lines and left.setdefault(code, STEPS) > 0
        return local if followed else None

    def late(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, 3 * longest)
    started = processor_seconds()
    sys.settrace(calls)
    try:
        reports = runtestprotocol(item, log=False, nextitem=after)
    finally:
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_PROF, 0)
    reached = {name: sorted(found) for name, found in lines.items() if found}
    # The clock says which part of it was the setup, but on a busy machine not how much there was to do.
    taken, clock = processor_seconds() - started, {report.when: report.duration for report in reports}
    setup = taken * clock["setup"] / max(sum(clock.values()), 1e-9)
    return any(report.failed for report in reports), setup, taken - setup, reached


def processor_seconds() -> float:
    """Returns the processor time of this process and of those that it waited for."""
    return sum(os.times()[:4])


def all_measured(items: Sequence[pytest.Item], names: Sequence[str], longest: float) -> str:
    """Measures the tests of a file."""
    return json.dumps({i.nodeid: measured(i, after, names, longest) for i, after in following(items)})


def finished(children: list[Child], jobs: int) -> Iterator[tuple[Child, str]]:
    """Waits until fewer than `jobs` processes run; yields those that ended with what they wrote."""
    while children and len(children) >= jobs:
        for child in list(children):
            pid, _ = os.waitpid(child.pid, os.WNOHANG)
            late = not pid and time.monotonic() > child.limit
            if late:
                os.killpg(child.pid, signal.SIGKILL)
                os.waitpid(child.pid, 0)
            if pid or late:
                children.remove(child)
                told = child.output.read_text() if child.output.exists() else "no end"
                child.output.unlink(missing_ok=True)
                yield child, "time" if late else told
        time.sleep(0.005)


@dataclass
class Run:
    """The plugin that pytest gives its tests to."""

    options: argparse.Namespace
    results: dict[str, list[tuple[Mutant, str]]] = field(default_factory=dict)
    kills: Counter[str] = field(default_factory=Counter)
    untested: Sequence[str] = ()

    def pytest_collection(self) -> None:
        """Makes Hypothesis repeatable, and stop at the first failure instead of looking for a smaller one."""
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutants",
            settings.get_profile("ci"),
            database=None,
            max_examples=EXAMPLES,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measures the tests, then runs the mutants."""
        with tempfile.TemporaryDirectory() as folder:
            self.run(session.items, Path(folder))
        return True

    def measure(self, items: Sequence[pytest.Item], folder: Path) -> list[Known]:
        """Returns what is known of tests: of some rows of each table, and of none that takes long."""
        rows: dict[str, list[pytest.Item]] = {}
        for item in items:
            if self.options.quick and item.get_closest_marker("slow"):
                continue
            rows.setdefault(item.nodeid.partition("[")[0], []).append(item)
        files: dict[Path, list[pytest.Item]] = {}
        for table in rows.values():
            for k in sorted({k * (len(table) - 1) // (ROWS - 1) for k in range(ROWS)}):
                files.setdefault(table[k].path, []).append(table[k])
        kept = self.options.measured
        known: dict[str, Any] = json.loads(kept.read_text()) if kept and kept.exists() else {}
        package = digest([*sorted(PACKAGE.rglob("*.py")), *sorted((ROOT / "tests/tools").glob("*.py"))])
        keys = {path: f"{path.name} {package} {digest([path])} {len(ids)}" for path, ids in files.items()}
        new, children, names = dict[str, Any](), list[Child](), dict[int, str]()

        def take(jobs: int) -> None:
            for child, told in finished(children, jobs):
                new[names[child.pid]] = json.loads(told) if told.startswith("{") else {}
                if kept:
                    kept.write_text(json.dumps({k: v for k, v in (known | new).items() if package in k}))
                if not new[names[child.pid]]:
                    print(f"could not be measured: {names[child.pid]}", file=sys.__stderr__, flush=True)

        for path, chosen in files.items():
            if keys[path] not in known:
                take(self.options.jobs)
                work = partial(all_measured, chosen, every_module(), self.options.longest)
                children.append(forked(work, 900, folder / path.name))
                names[children[-1].pid] = keys[path]
        take(1)
        known |= new
        found: list[Known] = []
        for path, chosen in files.items():
            told = known[keys[path]]
            before = max((setup for _, setup, _, _ in told.values()), default=0.0)
            for item in chosen:
                bad, setup, seconds, lines = told.get(item.nodeid, (True, 0.0, 0.0, {}))
                if not bad and setup + seconds <= self.options.longest:
                    found.append(Known(item, seconds, before, lines))
                elif bad:
                    print(f"left out, fails or takes long: {item.nodeid}", file=sys.__stderr__, flush=True)
        return found

    def run(self, items: Sequence[pytest.Item], folder: Path) -> None:
        """Fills in the results."""
        for module in self.options.modules:
            importlib.import_module(f"paramverify.{module[:-3].replace('/', '.')}")
        started = time.monotonic()
        known = self.measure(items, folder)
        print(f"measured {len(known)} tests in {time.monotonic() - started:.0f} s", file=sys.__stderr__)
        reached = {name for test in known for name in test.lines}
        self.untested = [m for m in self.options.modules if str(PACKAGE / m) not in reached]
        functions = living()
        children: list[Child] = []
        running: dict[int, Mutant] = {}
        self.results = {module: [] for module in self.options.modules}
        for mutant in (m for module in self.options.modules for m in sample(module, self.options)):
            for child, how in finished(children, self.options.jobs):
                self.note(running.pop(child.pid), how)
            chosen = self.reaching(mutant, known)
            if not chosen:
                self.note(mutant, "")
                continue
            output = folder / str(time.monotonic_ns())
            work = partial(killer, mutant, functions.get(mutant.code.co_filename, ()), chosen, output)
            children.append(forked(work, 60 + 20 * self.options.most, output))
            running[children[-1].pid] = mutant
        for child, how in finished(children, 1):
            self.note(running.pop(child.pid), how)

    def note(self, mutant: Mutant, how: str) -> None:
        """Notes how a mutant ended: with nothing if it survived."""
        self.results[mutant.module].append((mutant, how))
        self.kills[how] += 1
        if not how:
            print(f"survived: {told(mutant)}", file=sys.__stderr__, flush=True)

    def reaching(self, mutant: Mutant, known: Sequence[Known]) -> list[Known]:
        """Returns tests that reach a mutant, quick ones and those that killed first, for some seconds."""
        path, (first, last) = str(PACKAGE / mutant.module), mutant.lines
        found = [k for k in known if any(first <= line <= last for line in k.lines.get(path, ()))]
        found.sort(key=lambda k: (k.seconds + k.before / 2 + 0.01) / (1 + 3 * self.kills[k.item.nodeid]))
        seconds = 0.0
        files: dict[Path, list[Known]] = {}
        for test in found:
            seconds += test.seconds + (test.before if test.item.path not in files else 0)
            if seconds > self.options.most and files:
                break
            files.setdefault(test.item.path, []).append(test)
        return [test for tests in files.values() for test in tests]


def digest(paths: Iterable[Path]) -> str:
    """Returns a short text that changes with the files."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()[:16]


# --- the report -------------------------------------------------------------------------------------


def told(mutant: Mutant) -> str:
    """Returns a mutant as one line."""
    return f"paramverify/{mutant.module}:{mutant.lines[0]} {mutant.function}: {mutant.change}"


def report(results: dict[str, list[tuple[Mutant, str]]]) -> bool:
    """Prints the table and the survivors; returns whether all is as it should be."""
    text = Path(__file__).with_name("equivalent_mutants.toml").read_text(encoding="utf-8")
    listed = {
        (module, function, entry["change"])
        for module, functions in tomllib.loads(text).items()
        for function, entries in functions.items()
        for entry in entries
    }
    good, left, wrong = True, [], []
    total: Counter[str] = Counter()
    print("| module | mutants | equivalent | killed | of them by time | share |")
    print("| --- | --- | --- | --- | --- | --- |")
    for module, ends in results.items():
        same = [(m, how) for m, how in ends if m.identity() in listed]
        other = [(m, how) for m, how in ends if m.identity() not in listed]
        wrong += [f"listed as equivalent, but killed: {told(m)} ({how})" for m, how in same if how]
        gone = {key for key in listed if key[0] == module}
        gone -= {m.identity() for m in mutants(module, lambda k: True)} if gone else set()
        wrong += [f"listed as equivalent, but no mutant: {' '.join(key)}" for key in sorted(gone)]
        left += [told(m) for m, how in other if not how]
        killed, late = sum(bool(how) for _, how in other), sum(how == "time" for _, how in other)
        checker = module.startswith(tuple(f"{folder}/" for folder in FOLDERS))
        good = good and share(killed, len(other)) >= (CHECKERS if checker else OTHERS)
        print(
            f"| {module} | {len(ends)} | {len(same)} | {killed} | {late} | {share(killed, len(other)):.1%} |"
        )
        if checker:
            total += Counter(mutants=len(ends), same=len(same), killed=killed, late=late, other=len(other))
    if total:
        whole = share(total["killed"], total["other"])
        good = good and whole >= ALL_CHECKERS
        numbers = " | ".join(str(total[name]) for name in ("mutants", "same", "killed", "late"))
        print(f"| {' and '.join(FOLDERS)} | {numbers} | {whole:.1%} |")
    print("\nSurvivors:\n" if left else "\nNo survivors.", *left, *wrong, sep="\n")
    return good and not wrong


def survivors(path: Path) -> set[tuple[str, str, str]]:
    """Returns which mutants a report or a log calls survivors."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (re.fullmatch(r"(?:survived: )?paramverify/(\S+):\d+ (\S+): (.*)", line) for line in lines)
    return {(m[1], m[2], m[3]) for m in found if m}


def share(killed: int, mutants: int) -> float:
    """Returns which part was killed."""
    return killed / mutants if mutants else 1.0


def every_module() -> list[str]:
    """Returns all modules that are mutated: those of the folders, and those of the table."""
    found = [
        f"{folder}/{path.name}" for folder in FOLDERS for path in sorted((PACKAGE / folder).glob("*.py"))
    ]
    return [name for name in found if not name.endswith("/__init__.py")] + list(TESTS)


def tests_of(module: str) -> list[str]:
    """Returns the test files of a module; of one in the folders all that are about these."""
    if module in TESTS:
        return [f"tests/{name}" for name in TESTS[module].split()]
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in paths if ABOUT.search(path.read_text(encoding="utf-8"))]


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modules", nargs="+", default=[""], help="parts of their names")
    parser.add_argument("--number", type=int, default=20, help="mutants of each module")
    parser.add_argument("--all", action="store_true", help="all mutants of each module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=5.0, help="seconds of the tests that are run")
    parser.add_argument("--most", type=float, default=30.0, help="seconds of the tests of one mutant")
    parser.add_argument("--quick", action="store_true", help="no tests that are marked as slow")
    parser.add_argument("--tests", nargs="+", help="the test files, instead of those of the modules")
    parser.add_argument("--measured", type=Path, help="a file that keeps what is measured for the next run")
    parser.add_argument(
        "--again", type=lambda name: survivors(Path(name)), help="a report or log with survivors: only these"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    options = parser.parse_args()
    options.modules = [name for name in every_module() if any(part in name for part in options.modules)]
    chosen = [f"tests/{name}" for name in options.tests or ()]
    files = dict.fromkeys(chosen or (name for module in options.modules for name in tests_of(module)))
    print(f"{len(options.modules)} modules, {len(files)} files of tests", file=sys.stderr, flush=True)
    os.chdir(ROOT)
    sys.dont_write_bytecode = True
    run = Run(options)
    quiet = ["-q", "--no-header", "--no-summary", "--capture=sys", "-p", "no:cacheprovider"]
    status = pytest.main([*quiet, *files], plugins=[run])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest ended with status {int(status)}")
    good = report(run.results)
    if run.untested:
        print(f"No test reaches {', '.join(run.untested)}.")
    raise SystemExit(0 if good and not run.untested else 1)


if __name__ == "__main__":
    main()
