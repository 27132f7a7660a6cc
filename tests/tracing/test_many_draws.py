"""Functions with many draws: they are adopted at any depth, or refused at once with the reason."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from paramverify.api import leaks
from paramverify.api.adopting import adopt
from paramverify.errors import InputError
from paramverify.tracing import exploring, native_runs
from paramverify.tracing.exploring import Branch, Explorer, Leaf
from paramverify.tracing.formulas import Formula
from paramverify.tracing.residual import Residual, leaves
from paramverify.tracing.tracer import Choice, Place

INPUTS = {"x": {"values": [0, 1]}}
HALF = Formula.of(Fraction(1, 2))


def _coins(x: int) -> int:
    return x + sum(random.random() < 0.5 for _ in range(2000))


def _walk(x: int) -> int:
    for _ in range(500):
        x += random.choice([-1, 1])
    return x


def _answers(x: int, epsilon: float) -> int:
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    total = 0
    for k in range(200):
        bit = x if k == 0 else 1
        total += bit if random.random() < p else 1 - bit
    return total


def _twenty(x: int) -> int:
    return x + sum(random.getrandbits(1) for _ in range(20))


def _while(x: int) -> int:
    while random.random() < 0.5:
        x = 1 - x
    return x


def _until(x: int) -> int:
    while random.random() >= 0.5:
        x = 1 - x
    return x


@pytest.mark.parametrize(
    ("function", "reason", "line"),
    [
        (_coins, "one run makes 2,000 choices", "random.random() < 0.5"),
        (_walk, "one run makes 500 choices", "random.choice"),
        (_answers, "one run makes 200 choices", "random.random() < p"),
        (_twenty, "one run makes 20 choices", "getrandbits"),
        (_while, "a loop may have no bound", "while"),
        (_until, "a loop may have no bound", "while"),
    ],
)
def test_too_many_runs_are_refused_at_once(
    function: Callable[..., Any], reason: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function with far too many runs is refused after a few of them, with the line that draws."""
    count = 0
    run = Explorer._run

    def counted(self: Explorer, *given: Any) -> Any:
        nonlocal count
        count += 1
        return run(self, *given)

    monkeypatch.setattr(Explorer, "_run", counted)
    parameters = {"epsilon": "(0, oo)"} if function is _answers else None
    with pytest.raises(InputError) as error:
        adopt(function, inputs=INPUTS, parameters=parameters, epsilon=1)
    assert reason in str(error.value)
    assert line in str(error.value)
    assert count <= (10 if "one run" in reason else exploring.MOST_FURTHER[0])


def _six(x: int) -> int:
    return sum(random.getrandbits(1) for _ in range(6))


def _first(x: int) -> int:
    for k in range(63):
        if random.random() < 0.5:
            return k
    return 63


@pytest.mark.parametrize("function", [_six, _first])
def test_few_enough_runs_are_never_refused(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A function with as many runs as are allowed is adopted; with one fewer allowed, it is refused."""
    monkeypatch.setattr(exploring, "MOST_RUNS", 128)
    assert adopt(function, inputs=INPUTS, epsilon=1).explored.runs == 128
    monkeypatch.setattr(exploring, "MOST_RUNS", 127)
    with pytest.raises(InputError, match="more than 127 runs"):
        adopt(function, inputs=INPUTS, epsilon=1)


def test_deep_trees() -> None:
    """A tree deeper than Python's recursion has its law: the first success among 3,000 tries."""
    depth = 3 * sys.getrecursionlimit()
    tree: Branch | Leaf = Leaf(str(depth % 3), "int", False, "")
    for k in reversed(range(depth)):
        step = Choice((HALF, HALF), ("yes", "no"), Place("", 0, ""))
        tree = Branch(step, [Leaf(str(k % 3), "int", False, ""), tree])
    residual = Residual()
    number = residual.of(tree)
    shares = {residual.parts[k][1]: weight.number for k, weight in residual.weights[number]}
    expected = {
        str(rest): sum(
            (Fraction(1, 2 ** min(k + 1, depth)) for k in range(depth + 1) if k % 3 == rest), Fraction(0)
        )
        for rest in range(3)
    }
    assert shares == expected
    assert len(list(leaves([tree]))) == depth + 1
    for found in (native_runs._leaves(tree, {}), leaks._at(tree, {})):
        shown = [(leaf.text, share) for leaf, share, *_ in found]
        assert len(shown) == depth + 1
        assert abs(math.fsum(share for _, share in shown) - 1) < 1e-12


def _unread(x: int) -> float:
    last = 0.0
    for _ in range(1500):
        last = np.random.laplace()
    return x + last


def test_many_draws_of_noise() -> None:
    """Draws of noise may follow each other at any length; those that nothing reads are left out."""
    text = adopt(_unread, inputs=INPUTS, epsilon=1).to_toml()
    assert text.count("laplace(1)") == 2
    assert "noise1500" in text


def _rarely(x: int) -> int:
    for _ in range(70):
        if random.random() < 0.5:
            return 2
    return x


def test_a_long_run_is_shortened() -> None:
    """A run with many draws is shown with its first and its last ones."""
    found = adopt(_rarely, inputs=INPUTS, epsilon=1).verify()
    lines = str(found).splitlines()
    shown = [line for line in lines if "random.random() < 0.5" in line]
    assert found.verdict == "not private"
    assert sum("more steps" in line for line in lines) == 1
    assert 0 < len(shown) < 70
    assert "return x" in str(found)
