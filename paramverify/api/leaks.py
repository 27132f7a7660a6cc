"""A violation in an adopted function: the run in the user's own lines, and a test that shows it again."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

from paramverify.errors import InputError
from paramverify.evidence.told_witnesses import Witness
from paramverify.models.mechanisms import show_input
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.run_states import Plain
from paramverify.tracing.exploring import Branch, Explored, Leaf, Tree
from paramverify.tracing.residual import leaves
from paramverify.tracing.tracer import Choice, Noise, Place, Step

MOST_RUNS = 10_000_000
MOST_SHOWN = 60  # lines of a run
SIGMAS = 7


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


def run_lines(explored: Explored, witness: Witness) -> list[str]:
    """Returns the most likely run that leads to the output of a witness, with the user's own lines.

    Nothing is returned if the output has noise, or if a secret is no single input.
    """
    names = {show_input(given): given for given in explored.trees}
    if (
        not isinstance(witness.left, str)
        or not isinstance(witness.right, str)
        or len(witness.observations) != 1
    ):
        return []
    if witness.left not in names or witness.right not in names or witness.densities:
        return []
    point = {name: float(value) for name, value in witness.parameters.items()}
    try:
        found = [
            (share, leaf, run)
            for leaf, share, run in _at(explored.trees[names[witness.left]], point)
            if observation(leaf) == witness.observations[0]
        ]
    except KeyError:  # a parameter stands as x_eps only
        return []
    if not found:
        return []
    _, leaf, run = max(found, key=lambda pair: pair[0])
    steps = _steps(run)
    parts_at = _parts_at(steps, explored.trees[names[witness.right]], leaf.text)
    lines = [f"  In the function, this run produces it under '{witness.left}':"]
    for k, (step, chosen) in enumerate(steps):
        words = (
            step.words[chosen]
            if isinstance(step, Choice)
            else ""
            if isinstance(step, Noise)
            else ("true", "false")[chosen]
        )
        part = "   <- the runs part here" if k == parts_at else ""
        lines.append(f"    {_shown(step.place)}  {words}{part}".rstrip())
    if len(lines) > MOST_SHOWN:
        half = MOST_SHOWN // 2
        lines[half:-half] = [f"    ... {len(lines) - 2 * half:,} more draws"]
    if parts_at == len(steps):
        lines.append(f"  Under '{witness.right}', the same draws lead to another output.")
    return lines if steps else []


def with_run(lines: Sequence[str], found: Sequence[str]) -> tuple[str, ...]:
    """Returns the lines of an answer with another run in the place of the one of its program."""
    starts = [k for k, line in enumerate(lines) if line.startswith("  This run produces it")]
    notes = [k for k, line in enumerate(lines) if line.startswith("  Note:")]
    end = notes[0] if notes else len(lines)
    start = min([*starts, end])
    return (*lines[:start], *found, *lines[end:])


def _shown(place: Place) -> str:
    text = linecache.getline(place.file, place.line).strip()
    return f"{Path(place.file).name}:{place.line}: {textwrap.shorten(text, 70)}"


def _parts_at(steps: Sequence[tuple[Step, int]], tree: Tree | None, text: str) -> int | None:
    """Returns the first step that another input lacks, or the number of steps if only outputs differ."""
    for k, (step, chosen) in enumerate(steps):
        if not isinstance(tree, Branch) or tree.step.key != step.key:
            return k
        tree = tree.after[max(chosen, 0)]
    return None if isinstance(tree, Leaf) and tree.text == text else len(steps)


def leak_test(explored: Explored, witness: object, place: str, names: Sequence[str], seed: int) -> str:
    """Returns a test in Python that shows a violation again by sampling the function itself.

    Args:
        explored (Explored): How the function was read.
        witness (Witness): The violation.
        place (text): The file and the name of the function.
        names (list of text): The entries of the inputs, as arguments of the function.
        seed (int): The seed of the test.

    Raises:
        InputError: there is no single output, or it is too rare to be seen.
    """
    if not isinstance(witness, Witness) or witness.densities or len(witness.observations) != 1:
        raise InputError("a test needs a violation with one output that has a probability")
    inputs = {show_input(given): given for given in explored.trees}
    if witness.left not in inputs or witness.right not in inputs:
        raise InputError("a test needs a violation between two inputs")
    outputs = {
        leaf.plain for leaf in leaves(explored.trees.values()) if observation(leaf) == witness.observations[0]
    }
    if not outputs:
        raise InputError(
            "the output of this violation is a set of numbers with noise, for which there is no test"
        )
    p, q = map(float, witness.probabilities)
    bound = float(witness.bound)
    runs = 1_000
    while runs <= MOST_RUNS and not _seen(runs, p, q, bound):
        runs *= 2
    if runs > MOST_RUNS:
        raise InputError(f"the violation is too small to be seen in {MOST_RUNS:,} runs")
    file, _, name = place.rpartition(":")
    values = {name: float(value) for name, value in witness.parameters.items()}
    return TEMPLATE.format(
        name=name,
        module=Path(file).stem,
        output=" or ".join(sorted(outputs)),
        outputs="{" + ", ".join(map(repr, sorted(outputs))) + "}",
        left=_call(inputs[witness.left], names, values),
        right=_call(inputs[witness.right], names, values),
        bound=repr(bound),
        runs=runs,
        seed=seed,
        p=f"{p:.6g}",
        q=f"{q:.6g}",
    )


def _seen(runs: int, p: float, q: float, bound: float) -> bool:
    """Tells whether so many runs show the violation, with deviations of several standard errors."""
    low = p - 2 * SIGMAS * sqrt(p * (1 - p) / runs) - 2 * SIGMAS**2 / runs
    high = q + 2 * SIGMAS * sqrt(q * (1 - q) / runs) + 2 * SIGMAS**2 / runs
    return low > bound * high


def _call(given: Sequence[Any], names: Sequence[str], values: Mapping[str, float]) -> str:
    arguments: dict[str, list[str]] = {}
    for name, value in zip(names, given, strict=True):
        arguments.setdefault(name.partition("[")[0], []).append(
            repr(value)
            if isinstance(value, str)
            else str(value)
            if value.denominator == 1
            else repr(float(value))
        )
    lists = {name.partition("[")[0] for name in names if "[" in name}
    shown = [f"{n}=[{', '.join(v)}]" if n in lists else f"{n}={v[0]}" for n, v in arguments.items()]
    return ", ".join([*shown, *(f"{name}={value!r}" for name, value in values.items())])


TEMPLATE = '''"""Shows by sampling that {name} leaks: the output {output} has the probabilities {p} and {q}.

The bound allows a ratio of {bound}. Both probabilities are bounded by exact binomial (Clopper-Pearson)
intervals, so the test fails by chance with a probability of at most 2e-9.
"""

import random

import numpy as np
from scipy.stats import binomtest

from {module} import {name}

RUNS = {runs}
OUTPUTS = {outputs}  # as repr shows them
BOUND = {bound}


def interval(**given):
    """Returns an interval for the probability of the output."""
    count = sum(repr({name}(**given)) in OUTPUTS for _ in range(RUNS))
    return binomtest(count, RUNS).proportion_ci(confidence_level=1 - 2e-9, method="exact")


def test_{name}_leaks():
    """The first probability exceeds the bound times the second one."""
    random.seed({seed})
    np.random.seed({seed})
    first = interval({left})
    second = interval({right})
    assert first.low > BOUND * second.high, (first, second)
'''
