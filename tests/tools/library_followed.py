"""Programs with calls of Python's libraries: proposals of messages are followed, both laws compared."""

from __future__ import annotations

import ast
import math
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
from scipy import stats

from paramverify.encodings.sequences import probabilities
from paramverify.errors import ProgramError
from paramverify.models.enclosed_models import EnclosedModel, EnclosedProbabilities
from paramverify.models.model import of_privacy
from paramverify.models.model_evaluation import Values
from paramverify.models.programs.program_reading import read_program
from paramverify.privacy.cases import read_case
from paramverify.tables import TomlDocument

NAMESPACE = {
    **{"np": np, "numpy": np, "random": random, "math": math, "secrets": secrets},
    **{"stats": stats, "scipy": scipy},
}
MOST_STEPS = 60
TINY = 1e-12  # enclosed probabilities that are 0 may be as large
Law = Mapping[str, Fraction | float]  # by the value as text
_WRITE = re.compile(r" is not supported; write (.*)")


class Stuck(Exception):
    """A message proposes nothing, after so many proposals that were followed."""

    def __init__(self, message: str, steps: int) -> None:
        super().__init__(message)
        self.steps = steps


def followed(text: str) -> tuple[str, int]:
    """Returns a program in which all proposals of messages are followed, and their number.

    Imports, and generators that nothing uses, are left out when nothing else is refused.

    Raises:
        Stuck: a message has no proposal.
    """
    for step in range(MOST_STEPS):
        try:
            read_program(text)
            return text, step
        except ProgramError as error:
            reason, lines = str(error).split("\n")[0], text.split("\n")
            number = int(re.findall(r"line (\d+):", reason)[0])
            if proposal := _WRITE.search(reason):
                text = _replaced(text, reason, proposal[1])
            elif re.search("imports are|is a generator", reason):
                text = "\n".join((*lines[: number - 1], *lines[number:]))
            else:
                raise Stuck(reason, step) from None
    raise Stuck("no end", MOST_STEPS)


def _replaced(text: str, reason: str, proposal: str) -> str:
    """Returns the program with what a message shows replaced by what it proposes."""
    shown = reason.partition(": ")[2].removesuffix(f" is not supported; write {proposal}")
    number = int(re.findall(r"line (\d+):", reason)[0])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.expr) and node.lineno == number and ast.unparse(node) == shown:
            lines = text.split("\n")
            line = lines[number - 1]
            lines[number - 1] = f"{line[: node.col_offset]}{proposal}{line[node.end_col_offset :]}"
            return "\n".join(lines)
    raise AssertionError((text, reason))


def law_of(text: str, values: Sequence[int] = (0, 1, 2)) -> dict[int, Law]:
    """Returns the exact law of the output of a program for each value of its input n."""
    made = {"kind": "program", "source": text, "inputs": {"n": {"values": [0, 1, 2]}}}
    data = {"mechanism": made, "neighbours": {"differ": "each", "by": "any"}, "privacy": {"ratio": 2}}
    made_model = read_case(TomlDocument(data, path="case.toml")).model
    found: dict[int, dict[str, Fraction | float]] = {n: {} for n in values}
    if isinstance(made_model, EnclosedModel):
        table, enclosed = made_model.table, EnclosedProbabilities(made_model.table, 53)
        for row, (given,) in enumerate(table.inputs):
            for word, share in zip(table.observations, enclosed.given(row), strict=True):
                if given in found:
                    found[int(given)][word] = float(share.mid())
        return found
    model = of_privacy(made_model, "this")
    read = Values(model, {})
    for word, name, function in probabilities(model):
        if int(name) in found:
            found[int(name)][word[0]] = float(read.function(function))  # type: ignore[arg-type]
    return found


def function_of(text: str) -> Callable[[int], Any]:
    """Returns a program as a Python function of n; imports and generators are made once."""
    lines = text.split("\n")
    once = [
        line for line in lines if re.match(r"import |from |\w+ = .*(default_rng|SystemRandom)\(\)$", line)
    ]
    body = "\n".join(f"    {line}" for line in lines if line not in once)
    namespace: dict[str, Any] = {"clamp": lambda x, low, high: min(max(x, low), high), **NAMESPACE}
    exec("\n".join((*once, "def f(n):", re.sub(r"\boutput\(", "return (", body))), namespace)
    function: Any = namespace["f"]
    return function  # type: ignore[no-any-return]


def shown(value: Any) -> str:
    """Returns a value of Python as the language shows it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (bool, str)):
        return str(value)
    return str(Fraction(value).limit_denominator(10**6))


def compared(text: str, exact: Mapping[int, Law], samples: int, seed: int) -> float:
    """Returns the smallest p-value, times the number of tests, of samples of a program against exact laws.

    0 for an output that is impossible by the law.
    """
    random.seed(seed)
    np.random.seed(seed)
    function, least, tests = function_of(text), 1.0, 0
    for n, law in exact.items():
        counts: Counter[Any] = Counter()
        for _ in range(samples):
            value = function(n)
            counts[type(value), value] += 1  # True is not 1
        came: Counter[str] = Counter()
        for (_, value), count in counts.items():
            came[shown(value)] += count
        if not came.keys() <= {word for word, p in law.items() if p > TINY}:
            return 0.0
        tests += 1
        least = min(least, _p_value([(came[w], float(p)) for w, p in law.items() if p > TINY], samples))
    return min(1.0, least * tests)


def _p_value(cells: Sequence[tuple[int, float]], samples: int) -> float:
    """Returns a p-value: of a chi-square test where cells expect 10 or more, else of binomial tests."""
    if len(cells) < 2:
        return 1.0
    tested = [float(stats.binomtest(k, samples, p).pvalue) for k, p in cells if samples * p < 10]
    if len(cells) == 2:
        return float(stats.binomtest(cells[0][0], samples, cells[0][1]).pvalue)
    if not tested:
        total = sum(p for _, p in cells)
        found: Any = stats.chisquare([k for k, _ in cells], [samples * p / total for _, p in cells])
        tested = [float(found.pvalue)]
    else:
        tested += [float(stats.binomtest(k, samples, p).pvalue) for k, p in cells if samples * p >= 10]
    return min(1.0, min(tested) * len(tested))
