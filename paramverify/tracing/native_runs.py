"""The function itself, run by Python with real random numbers, against what was found of it.

This is a test and proves nothing: it notices outputs and exceptions that the trees do not have, and
exceptions that should be frequent and never come.
"""

from __future__ import annotations

import contextlib
import io
import math
import types
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from paramverify.errors import InputError
from paramverify.tracing.exploring import Leaf, Tree, written
from paramverify.tracing.formulas import Refused
from paramverify.tracing.tracer import Choice, Tracer

RUNS = 100  # for each input
MOST_INPUTS = 12
FREQUENT = 0.5  # probability of an exception that has to be seen: it is missed with probability 2^-100
TOLERANCE = 1e-6  # relative, between exact numbers and floats

Value = float | str | tuple[Any, ...] | None  # None is a number with noise


def compare(
    trees: Mapping[tuple[Any, ...], Tree], run: Callable[[tuple[Any, ...]], Any], point: Mapping[str, float]
) -> None:
    """Runs the function on some inputs, and compares.

    Raises:
        Refused: Python returned or raised what the trees do not have, or the other way round.
    """
    step = math.ceil(len(trees) / MOST_INPUTS)
    for given in list(trees)[::step]:
        likely: dict[str, float] = {}
        known: dict[str, Value] = {}
        for leaf, share in _leaves(trees[given], point):
            likely[leaf.text] = likely.get(leaf.text, 0.0) + share
            known.setdefault(leaf.text, parsed(leaf.text))
        seen: set[str] = set()
        for _ in range(RUNS):
            text = outcome(run, given)
            if text is None:
                return
            value = parsed(text)
            found = nearest(known, value)
            if found is None:
                raise unknown(text, given)
            seen.add(found)
        for text, share in likely.items():
            kinds = {known[other] for other in seen}  # of exceptions the types are compared, not the texts
            if "raises " in text and share > FREQUENT and known[text] not in kinds:
                raise Refused(
                    f"for the input {', '.join(map(str, given))}, paramverify finds that the function "
                    f"{text.strip(chr(39))}, but in Python it does not: "
                    "it followed the function wrongly; please report this"
                )


def unknown(text: str, given: tuple[Any, ...]) -> Refused:
    """Returns the error for an output that Python returns, and no tree has."""
    if "-0.0" in text:
        return Refused(
            "an output can be -0.0 in Python, which shows the sign of what was rounded or "
            "multiplied: return int(...) of it, or add 0.0"
        )
    return Refused(
        f"for the input {', '.join(map(str, given))}, Python returns {text}, which paramverify "
        "does not find. If only rounding decides there, as in 0.1 + 0.2 == 0.3, compare with a "
        "tolerance; otherwise paramverify followed the function wrongly: please report this"
    )


def _leaves(tree: Tree, point: Mapping[str, float]) -> Iterator[tuple[Leaf, float]]:
    """Yields the leaves of a tree with their probabilities, if each test has 1/2."""
    pending: list[tuple[Tree | None, float]] = [(tree, 1.0)]
    while pending:
        found, share = pending.pop()
        if isinstance(found, Leaf):
            yield found, share
        elif found is not None:
            step = found.step
            parts = [w.value(point) for w in step.weights] if isinstance(step, Choice) else None
            for k, after in enumerate(found.after):
                pending.append((after, share * (parts[k] if parts else 1 / step.count)))


def outcome(run: Callable[[tuple[Any, ...]], Any], given: tuple[Any, ...]) -> str | None:
    """Returns what one run returns or raises; None if it uses words of programs, which Python cannot run."""
    found = shown_outcome(run, given)
    return None if found is None else found[0]


def shown_outcome(run: Callable[[tuple[Any, ...]], Any], given: tuple[Any, ...]) -> tuple[str, str] | None:
    """Returns the same with what `repr` shows of it."""
    tracer = Tracer(lambda formula: 0)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            value = run(given)
            if isinstance(value, types.GeneratorType):
                value = list(value)
        except InputError:
            return None
        except Exception as error:
            text = f"raises {type(error).__name__}: {error}"
            return repr(text), text
    return written(value, tracer)[0], repr(value)


def nearest(known: Mapping[str, Value], value: Value) -> str | None:
    """Returns which of some outputs one is that Python returned; None if it is none of them."""
    alike = [text for text, found in known.items() if agree(found, value)]
    return min(alike, key=lambda text: _distance(known[text], value), default=None)


def _distance(known: Value, value: Value) -> tuple[int, float]:
    """Returns how many numbers are noise, and how far the other ones are apart."""
    if isinstance(known, tuple) and isinstance(value, tuple):
        parts = [_distance(*pair) for pair in zip(known, value, strict=True)]
        return sum(noise for noise, _ in parts), sum(far for _, far in parts)
    far = abs(known - value) if isinstance(known, float) and isinstance(value, float) else 0.0
    return int(known is None), far


def parsed(text: str) -> Value:
    """Returns a written output as nested tuples of floats and texts."""
    import ast

    def of(tree: ast.expr) -> Value:
        match tree:
            case ast.List(elts):
                return tuple(of(e) for e in elts)
            case ast.Constant(str() as label):
                return label.partition(":")[0] if label.startswith("raises ") else label
            case ast.Constant(bool() as truth):
                return str(truth)
            case ast.Constant(value) if isinstance(value, int | float):
                return float(value)
            case ast.BinOp(left, ast.Div(), right):
                above, below = of(left), of(right)
                if isinstance(above, float) and isinstance(below, float):
                    return float(Fraction(above) / Fraction(below))
            case ast.UnaryOp(ast.USub(), operand):
                inside = of(operand)
                return -inside if isinstance(inside, float) else None
        return None

    return of(ast.parse(text, mode="eval").body)


def agree(model: Value, value: Value) -> bool:
    """Tells whether an output that Python returns is one of the trees, up to the rounding of floats."""
    if model is None:
        return isinstance(value, float) or value is None
    if isinstance(model, tuple):
        return isinstance(value, tuple) and len(model) == len(value) and all(map(agree, model, value))
    if isinstance(model, float):
        return isinstance(value, float) and math.isclose(model, value, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return model == value
