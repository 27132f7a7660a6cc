"""Mutants: makes small mistakes in the modules that verdicts rest on, and counts those that tests notice.

    python benchmarks/mutants.py [--modules cone lines ...] [--number 40 | --all] [--seed 0] [--jobs 2]

A mutant is a module with one change inside a function: a comparison weakened or strengthened, `and` for `or`
and an operand left out, `not` left out, `all` for `any`, `min` for `max`, another arithmetic operator, a
number one larger or smaller, True for False, a bound of a slice left out, a guard (an `if` that raises,
returns, or leaves a loop) or a call left out. Texts of messages, defaults and limits at the top of a module
stay.

Nothing is written: pytest collects the test files below once, and every mutant gets a forked process in which
the code of the module's functions is replaced. It runs the tests that reach the changed line (measured
before), the quickest first, until one fails or the time is over. Tests that take long are left out, and what
tests do in processes of their own does not see the change, so the share is if anything too low.

Mutants that no test can notice are in `equivalent_mutants.toml` with the reason for each; they run too, and
one that is killed, or is no mutant any more, is an error. Exit status 1: a module is under its threshold, or
the list is wrong.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
FORMULAS = (
    "kernel/test_dpctl_kernel.py kernel/test_formula_documents.py "
    "kernel/test_formula_probabilities.py kernel/test_formula_truths.py"
)
# Which test files cover which module; checkers first.
TESTS = {
    "kernel/claim_evidence.py": "kernel/test_claim_documents.py kernel/test_claim_checker.py",
    "kernel/proof_rules.py": "kernel/test_claim_checker.py kernel/test_checker.py "
    "kernel/test_squares_kernel.py",
    "kernel/proof_goals.py": "kernel/test_claim_checker.py kernel/test_checker.py",
    "kernel/evidence_polynomials.py": "kernel/test_claim_checker.py kernel/test_checker.py",
    "kernel/rounded_constants.py": "kernel/test_exponentials.py kernel/test_tied_kernel.py",
    "kernel/tied_variables.py": "kernel/test_tied_kernel.py",
    "kernel/cone_evidence.py": "kernel/test_cone_checker.py",
    "kernel/plain_signs.py": "kernel/test_signs.py",
    "kernel/worst_pair_evidence.py": "kernel/test_product_checker.py",
    "kernel/region_evidence.py": "kernel/test_region_checker.py",
    "kernel/interval_evidence.py": "kernel/test_interval_kernel.py",
    "kernel/product_substitution.py": "kernel/test_region_checker.py kernel/test_interval_kernel.py",
    "kernel/witness_numbers.py": "evidence/test_algebraic_witnesses.py kernel/test_claim_checker.py",
    "kernel/formula_evidence.py": FORMULAS,
    "kernel/chain_models.py": FORMULAS,
    "kernel/quotient_values.py": FORMULAS,
    "kernel/path_probabilities.py": FORMULAS,
    "kernel/formula_truths.py": FORMULAS,
    "kernel/automaton_checks.py": "kernel/test_automaton_kernel.py kernel/test_automaton_claims.py "
    "kernel/test_automaton_by_force.py automata/test_stream_least.py",
    "kernel/automaton_costs.py": "kernel/test_automaton_kernel.py kernel/test_automaton_claims.py "
    "kernel/test_automaton_by_force.py automata/test_stream_least.py "
    "automata/test_automaton_lengths.py kernel/test_automaton_costs.py",
    "kernel/automaton_runs.py": "kernel/test_automaton_kernel.py kernel/test_automaton_by_force.py "
    "kernel/test_automaton_claims.py",
    "kernel/automaton_ways.py": "kernel/test_automaton_kernel.py kernel/test_automaton_costs.py "
    "kernel/test_automaton_examples.py kernel/test_stream_kernel.py",
    "rereader/second_streams.py": "rereader/test_second_automata.py",
    "kernel/script_evidence.py": "scripts/test_script_evidence.py",
    "kernel/set_evidence.py": "kernel/test_set_kernel.py kernel/test_set_checker.py",
    "kernel/unwinding_evidence.py": "kernel/test_unwinding_checker.py",
    "kernel/system_witnesses.py": "kernel/test_unwinding_checker.py kernel/test_leaks_checker.py "
    "interactive/test_interactive_budgets.py",
    "kernel/enclosed_evidence.py": "kernel/test_enclosed_documents.py kernel/test_enclosed_kernel.py",
    "kernel/noise_probabilities.py": "kernel/test_noise_kernel.py kernel/test_enclosed_documents.py "
    "kernel/test_enclosed_kernel.py",
    "kernel/slot_evidence.py": "interactive/test_every_slots.py",
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
            yield ast.Pass()
        case ast.Expr(ast.Call()):
            yield ast.Pass()


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


def install(mutant: Mutant) -> None:
    """Gives every living function of the module its code in the mutant."""
    new = {(c.co_qualname, c.co_firstlineno): c for c in codes(mutant.code)}
    gc.unfreeze()  # what the tests have frozen is not listed
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == mutant.code.co_filename:
            code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                function.__code__ = code


@dataclass
class Child:
    """A forked process that runs tests; `limit` is when it is killed."""

    pid: int
    limit: float
    output: Path


def forked(items: Sequence[pytest.Item], seconds: float, mutant: Mutant | None, output: Path) -> Child:
    """Starts tests in a process; without a mutant it notes what each of them takes and reaches."""
    pid = os.fork()
    if pid:
        return Child(pid, time.monotonic() + seconds, output)
    status = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        # Whatever happens to its parent, it ends.
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        if mutant is None:
            output.write_text(json.dumps([measured(i, n) for i, n in following(items)]))
            status = 0
        else:
            install(mutant)
            status = int(any(failed(item, after) for item, after in following(items)))
    finally:
        os._exit(status)


def following(items: Sequence[pytest.Item]) -> Iterable[tuple[pytest.Item, pytest.Item | None]]:
    """Returns each test with the one that comes after it."""
    return zip(items, [*items[1:], None], strict=True)


def failed(item: pytest.Item, after: pytest.Item | None) -> bool:
    """Runs a test and tells whether it failed."""
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=after))


def measured(item: pytest.Item, after: pytest.Item | None) -> tuple[bool, float, dict[str, list[int]]]:
    """Runs a test: whether it failed, the seconds it took, and which lines of the modules it reached."""
    lines: dict[str, set[int]] = {str(PACKAGE / module): set() for module in TESTS}

    def local(frame: FrameType, event: str, _: Any) -> Any:
        lines[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def calls(frame: FrameType, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename in lines else None

    started = time.perf_counter()
    sys.settrace(calls)
    try:
        bad = failed(item, after)
    finally:
        sys.settrace(None)
    return bad, time.perf_counter() - started, {name: sorted(found) for name, found in lines.items()}


def finished(children: list[Child], jobs: int) -> Iterator[tuple[Child, str]]:
    """Waits until fewer than `jobs` processes run; yields those that ended with how they did."""
    while children and len(children) >= jobs:
        for child in list(children):
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            late = not pid and time.monotonic() > child.limit
            if late:
                os.killpg(child.pid, signal.SIGKILL)
                os.waitpid(child.pid, 0)
            if pid or late:
                children.remove(child)
                yield child, "time" if late else "killed" if status else "survived"
        time.sleep(0.005)


@dataclass
class Run:
    """The plugin that pytest gives its tests to."""

    options: argparse.Namespace
    results: dict[str, list[tuple[Mutant, str]]] = field(default_factory=dict)

    def pytest_collection(self) -> None:
        """Makes Hypothesis repeatable, and stop at the first failure instead of looking for a smaller one."""
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutants",
            settings.get_profile("ci"),
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measures the tests, then runs the mutants."""
        with tempfile.TemporaryDirectory() as folder:
            self.run(session.items, Path(folder) / "measured.json")
        return True

    def run(self, items: Sequence[pytest.Item], output: Path) -> None:
        """Fills in the results."""
        for module in self.options.modules:
            importlib.import_module(f"paramverify.{module[:-3].replace('/', '.')}")
        children = [forked(items, 7200, None, output)]
        if [how for _, how in finished(children, 1)] != ["survived"]:
            raise SystemExit("the tests could not be measured")
        known = json.loads(output.read_text())
        for item, (bad, _, _) in zip(items, known, strict=True):
            if bad:
                print(f"left out, fails without a change: {item.nodeid}", file=sys.__stderr__)
        running: dict[int, Mutant] = {}
        for module in self.options.modules:
            self.results[module] = []
        for mutant in (m for module in self.options.modules for m in sample(module, self.options)):
            chosen = [pair for pair in reaching(mutant, items, known) if pair[0] <= self.options.longest]
            for child, how in finished(children, self.options.jobs):
                self.note(running.pop(child.pid), how)
            if not chosen:
                self.note(mutant, "survived")
                continue
            seconds = 20 + 4 * sum(taken for taken, _ in chosen)
            children.append(forked([item for _, item in chosen], seconds, mutant, output))
            running[children[-1].pid] = mutant
        for child, how in finished(children, 1):
            self.note(running.pop(child.pid), how)

    def note(self, mutant: Mutant, how: str) -> None:
        """Notes how a mutant ended."""
        self.results[mutant.module].append((mutant, how))
        if how == "survived":
            print(f"survived: {told(mutant)}", file=sys.__stderr__, flush=True)


def reaching(mutant: Mutant, items: Sequence[pytest.Item], known: Any) -> list[tuple[float, pytest.Item]]:
    """Returns the tests that reach a mutant, quickest first, with the seconds that each takes."""
    path, (first, last) = str(PACKAGE / mutant.module), mutant.lines
    found = [
        (seconds, item)
        for item, (bad, seconds, lines) in zip(items, known, strict=True)
        if not bad and any(first <= line <= last for line in lines[path])
    ]
    return sorted(found, key=lambda pair: pair[0])


# --- the report -------------------------------------------------------------------------------------


def told(mutant: Mutant) -> str:
    """Returns a mutant as one line."""
    return f"paramverify/{mutant.module}:{mutant.lines[0]} {mutant.function}: {mutant.change}"


def report(results: dict[str, list[tuple[Mutant, str]]], everything: bool) -> bool:
    """Prints the table and the survivors; returns whether all is as it should be."""
    text = Path(__file__).with_name("equivalent_mutants.toml").read_text(encoding="utf-8")
    listed = {
        (module, function, entry["change"])
        for module, functions in tomllib.loads(text).items()
        for function, entries in functions.items()
        for entry in entries
    }
    good, survivors, wrong = True, [], []
    print("| module | mutants | equivalent | killed | of them by time | share |")
    print("| --- | --- | --- | --- | --- | --- |")
    for module, ends in results.items():
        same = [(m, how) for m, how in ends if m.identity() in listed]
        other = [(m, how) for m, how in ends if m.identity() not in listed]
        wrong += [f"listed as equivalent, but killed: {told(m)}" for m, how in same if how != "survived"]
        gone = {key for key in listed if key[0] == module} - {m.identity() for m, _ in ends}
        gone = gone if everything else set()
        wrong += [f"listed as equivalent, but no mutant: {' '.join(key)}" for key in sorted(gone)]
        survivors += [told(m) for m, how in other if how == "survived"]
        killed, late = (sum(how in ways for _, how in other) for ways in (("killed", "time"), ("time",)))
        share = killed / len(other) if other else 1.0
        good = good and share >= (CHECKERS if module.startswith(("kernel/", "rereader/")) else OTHERS)
        print(f"| {module} | {len(ends)} | {len(same)} | {killed} | {late} | {share:.1%} |")
    print("\nSurvivors:\n" if survivors else "\nNo survivors.", *survivors, *wrong, sep="\n")
    return good and not wrong


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modules", nargs="+", default=list(TESTS), help="parts of their names")
    parser.add_argument("--number", type=int, default=40, help="mutants of each module")
    parser.add_argument("--all", action="store_true", help="all mutants of each module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=5.0, help="seconds of the tests that are run")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    options = parser.parse_args()
    options.modules = [name for name in TESTS if any(part in name for part in options.modules)]
    files: dict[str, None] = {}
    for module in options.modules:
        tests = [f"tests/{name}" for name in TESTS[module].split()]
        print(f"{module}: {', '.join(tests)}", file=sys.stderr)
        files |= dict.fromkeys(tests)
    os.chdir(ROOT)
    sys.dont_write_bytecode = True
    run = Run(options)
    quiet = ["-q", "--no-header", "--no-summary", "--capture=sys", "-p", "no:cacheprovider"]
    status = pytest.main([*quiet, *files], plugins=[run])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest ended with status {int(status)}")
    raise SystemExit(0 if report(run.results, options.all) else 1)


if __name__ == "__main__":
    main()
