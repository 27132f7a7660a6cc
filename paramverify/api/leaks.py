"""A violation in an adopted function: the run in the user's own lines, and a test that shows it again."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, sqrt
from pathlib import PurePath
from typing import Any

from paramverify.errors import InputError, LimitError
from paramverify.evidence.told_witnesses import Witness
from paramverify.evidence.witnesses import ExactWitness
from paramverify.models.mechanisms import show_input
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.run_states import Plain
from paramverify.privacy.runs import FunctionRun, FunctionStep
from paramverify.tracing.exploring import Branch, Explored, Leaf, Tree
from paramverify.tracing.formulas import Refused
from paramverify.tracing.native_runs import Value, nearest, parsed, shown_outcome
from paramverify.tracing.residual import leaves
from paramverify.tracing.tracer import Choice, Place, Step, Test

MOST_RUNS = 10_000_000
SIGMAS = 7
ENOUGH = 100  # how often the output is expected in the runs that show how Python writes it
MOST_TRIED = 20  # runs with an output, of which the first that is possible is told
MOST_WORDS = 4  # outcomes of a draw
THIS = "this"


def observation(leaf: Leaf) -> str | None:
    """Returns the output of a leaf as answers show it; None if it has noise."""
    if leaf.noisy:
        return None
    return shown_output((_value(ast.parse(leaf.text, mode="eval").body),))


def _value(tree: ast.expr) -> Plain:
    match tree:
        case ast.List(elts):
            return tuple(map(_value, elts))
        case ast.BinOp(left, ast.Div(), right):
            return Fraction(str(ast.literal_eval(left))) / Fraction(str(ast.literal_eval(right)))
        case ast.Constant(bool() | str() as value):
            return value
    return Fraction(str(ast.literal_eval(tree)))


Run = tuple["Run", Step, int] | None  # the run before, with a step and the alternative that was taken


def _at(tree: Tree, point: Mapping[str, float]) -> Iterator[tuple[Leaf, float, Run]]:
    """Yields the leaves of a tree with their probabilities, if tests have none, and their runs."""
    pending: list[tuple[Tree | None, float, Run]] = [(tree, 1.0, None)]
    while pending:
        found, share, run = pending.pop()
        if isinstance(found, Leaf):
            yield found, share, run
        elif found is not None:
            weights = found.step.weights if isinstance(found.step, Choice) else ()
            if any(weight.names - point.keys() for weight in weights):
                weights = ()  # the point has other names than they do
            parts = [weight.value(point) for weight in weights] or [1.0] * len(found.after)
            pending += [
                (after, share * part, (run, found.step, k))
                for k, (after, part) in reversed(list(enumerate(zip(found.after, parts, strict=True))))
            ]


def _steps(run: Run) -> list[tuple[Step, int]]:
    """Returns the steps of a run, in order."""
    found = []
    while run is not None:
        run, step, taken = run
        found.append((step, taken))
    return found[::-1]


def function_run(explored: Explored, witness: ExactWitness) -> FunctionRun | None:
    """Returns a likely run of the function that leads to the output of a witness, with the user's own lines.

    None if the output has noise, or if a secret is no single input.
    """
    names = {show_input(given): given for given in explored.trees}
    if len(witness.observations) != 1 or witness.densities:
        return None
    if witness.left not in names or witness.right not in names:
        return None
    point = {name: float(value) for name, value in witness.parameters.items()}
    ways = [
        (share, leaf, run)
        for leaf, share, run in _at(explored.trees[names[witness.left]], point)
        if observation(leaf) == witness.observations[0]
    ]
    ways.sort(key=lambda way: -way[0])
    likely = ((leaf, _steps(run)) for _, leaf, run in ways[:MOST_TRIED])
    found = next(
        (way for way in likely if _possible(*way, names[witness.left], explored, witness.parameters)), None
    )
    if found is None:
        return None
    leaf, taken = found
    steps = [_step(step.place, _words(step, chosen)) for step, chosen in taken]
    if leaf.place is not None:
        steps.append(_step(leaf.place, _ending(leaf)))
    parts_at, instead = _parting(leaf, taken, explored.trees[names[witness.right]])
    return FunctionRun(
        function=explored.adoption.place.rpartition(":")[2],
        left=witness.left,
        right=witness.right,
        steps=tuple(steps),
        parts_at=parts_at if parts_at is not None and parts_at < len(steps) else None,
        instead=instead,
    )


def _possible(
    leaf: Leaf,
    steps: Sequence[tuple[Step, int]],
    given: tuple[Any, ...],
    explored: Explored,
    point: Mapping[str, Fraction],
) -> bool:
    """Tells whether a run has a positive probability: comparisons may contradict each other."""
    if sum(isinstance(step, Test) for step, _ in steps) < 2:
        return True
    try:
        (found,) = explored.adoption.law({given: _alone(leaf, steps)}, [point])
    except (InputError, LimitError, Refused):
        return False
    return bool(found[given].get(THIS, 0) > 0)


def _alone(leaf: Leaf, steps: Sequence[tuple[Step, int]]) -> Tree:
    """Returns a tree in which all other runs end at once, with another output."""
    found: Tree = replace(leaf, text=repr(THIS))
    other = replace(leaf, text=repr("other"))
    for step, chosen in reversed(steps):
        found = Branch(step, [found if k == max(chosen, 0) else other for k in range(step.count)])
    return found


def _step(place: Place, words: str) -> FunctionStep:
    text = textwrap.shorten(linecache.getline(place.file, place.line).strip(), 70)
    return FunctionStep(PurePath(place.file).name, place.line, text, words)


def _words(step: Step, chosen: int) -> str:
    match step:
        case Choice():
            return step.words[chosen]
        case Test():
            return f"{step.text} is {'false' if chosen else 'true'}"
    return f"{step.name} = {step.call}"


def _parting(leaf: Leaf, steps: Sequence[tuple[Step, int]], tree: Tree | None) -> tuple[int | None, str]:
    """Returns where a run is another one for another input, and how; see `FunctionRun`."""
    for k, (step, chosen) in enumerate(steps):
        if tree is None:
            return k, "the function does not get there"
        if isinstance(tree, Leaf):
            return k, f"the function ends there with {_ending(tree)}"
        if tree.step.key != step.key:
            return k, _other(step, tree.step)
        tree = tree.after[max(chosen, 0)]
    if not isinstance(tree, Leaf):
        return len(steps), "the function goes on after the same draws"
    if tree.text == leaf.text:
        return None, "the same run produces it"
    return len(steps), f"the same draws lead to {_ending(tree)}"


def _ending(leaf: Leaf) -> str:
    shown = observation(leaf)
    return f"output {shown if shown is not None else leaf.text}"


def _other(step: Step, other: Step) -> str:
    """Returns in words what another step is."""
    where = PurePath(other.place.file).name, other.place.line
    there = "there" if other.place == step.place else f"at {where[0]}:{where[1]}"
    match other:
        case Choice():
            more = ", ..." if len(other.words) > MOST_WORDS else ""
            return f"the outcomes {there} are: {', '.join(other.words[:MOST_WORDS])}{more}"
        case Test():
            return f"the comparison {there} is {other.text}"
    return f"the noise {there} is {other.call}"


def leak_test(explored: Explored, witness: Witness, point: Mapping[str, float], seed: int, path: str) -> str:
    """Returns a test in Python that shows a violation again by sampling the function itself.

    Args:
        explored (Explored): How the function was read.
        witness (Witness): The violation.
        point (dict): The parameters at which it is one.
        seed (int): The seed of the test.
        path (text): The folder of the function, seen from that of the test; "" if it is the same.

    Raises:
        InputError: there is no single output, it is too rare to be seen, or the function cannot be imported.
    """
    if witness.densities or len(witness.observations) != 1:
        raise InputError("a test needs a violation with one output that has a probability")
    inputs = {show_input(given): given for given in explored.trees}
    if witness.left not in inputs or witness.right not in inputs:
        raise InputError("a test needs a violation between two inputs")
    p, q = map(float, witness.probabilities)
    bound = float(witness.bound)
    runs = 1_000
    while runs <= MOST_RUNS and not _seen(runs, p, q, bound):
        runs *= 2
    if runs > MOST_RUNS:
        raise InputError(f"the violation is too small to be seen in {MOST_RUNS:,} runs")
    adoption = explored.adoption
    left, right = inputs[witness.left], inputs[witness.right]
    tries = min(runs, ceil(ENOUGH / p))
    outputs = sorted(_shown_outputs(explored, lambda given: adoption.run(given, point), left, witness, tries))
    module, function, setting, calls = adoption.call_texts((left, right), point, seed)
    folder = f"sys.path.insert(0, str(Path(__file__).parent / {path!r}))\n" if path else ""
    return TEMPLATE.format(
        name=function.rpartition(".")[2],
        sys="import sys\nfrom pathlib import Path\n" if path else "",
        folder=folder,
        module=module,
        root=function.partition(".")[0],
        output=" or ".join(outputs),
        outputs="{" + ", ".join(map(repr, outputs)) + "}",
        left=calls[0],
        right=calls[1],
        setting="".join(f"    {line}\n" for line in setting),
        bound=repr(bound),
        runs=f"{runs:_}",
        seed=seed,
        p=f"{p:.6g}",
        q=f"{q:.6g}",
    )


def _shown_outputs(
    explored: Explored,
    run: Callable[[tuple[Any, ...]], Any],
    given: tuple[Any, ...],
    witness: Witness,
    tries: int,
) -> set[str]:
    """Returns what `repr` shows of the output of a witness when Python runs the function.

    Raises:
        InputError: it has noise, it is shown in different ways, or Python did not return it.
    """
    every = list(leaves(explored.trees.values()))
    wanted = {leaf.text for leaf in every if observation(leaf) == witness.observations[0]}
    if not wanted:
        raise InputError("the output is a set of numbers with noise, for which there is no test")
    if any("set[" in leaf.types for leaf in every if leaf.text in wanted):
        raise InputError("the output has a set, whose order changes from run to run: return it sorted")
    known = {leaf.text: parsed(leaf.text) for leaf in every}
    found: dict[str, set[bool]] = {}
    for _ in range(tries):
        came = shown_outcome(run, given)
        if came is not None:
            found.setdefault(came[1], set()).add(_matched(known, came[0]) in wanted)
    shown = {text for text, kinds in found.items() if kinds == {True}}
    if not shown:
        raise InputError(f"Python did not return this output in {tries:,} runs: please report this")
    return shown


def _matched(known: Mapping[str, Value], text: str) -> str | None:
    """Returns the output of the trees that Python returned; exceptions have to have the same text."""
    if not text.strip("'\"").startswith("raises "):
        return nearest(known, parsed(text))
    raised = ast.literal_eval(text)
    return next((t for t in known if t.startswith("'raises ") and ast.literal_eval(t) == raised), None)


def _seen(runs: int, p: float, q: float, bound: float) -> bool:
    """Tells whether so many runs show the violation, with deviations of several standard errors."""
    low = p - 2 * SIGMAS * sqrt(p * (1 - p) / runs) - 2 * SIGMAS**2 / runs
    high = q + 2 * SIGMAS * sqrt(q * (1 - q) / runs) + 2 * SIGMAS**2 / runs
    return low > bound * high


TEMPLATE = '''"""Shows by sampling that {name} leaks.

The output {output} has the probabilities {p} and {q}, but the bound allows a ratio of {bound}.
Both probabilities are bounded by exact binomial (Clopper-Pearson) intervals. If they are below the bound,
the test passes by chance with a probability of at most 2e-9.
"""

import random
{sys}
import numpy as np
from scipy.stats import binomtest

{folder}from {module} import {root}

RUNS = {runs}
OUTPUTS = {outputs}  # as repr shows them
BOUND = {bound}


def outcome(call):
    """Returns what a call returns or raises, as a text."""
    try:
        return repr(call())
    except Exception as error:
        return f"raises {{type(error).__name__}}: {{error}}"


def interval(call):
    """Returns an interval for the probability of the output."""
    count = sum(outcome(call) in OUTPUTS for _ in range(RUNS))
    return binomtest(count, RUNS).proportion_ci(confidence_level=1 - 2e-9, method="exact")


def test_{name}_leaks():
    """The first probability exceeds the bound times the second one."""
    random.seed({seed})
    np.random.seed({seed})
{setting}    first = interval(lambda: {left})
    second = interval(lambda: {right})
    assert first.low > BOUND * second.high, (first, second)
'''
