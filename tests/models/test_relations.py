"""Conditions and distances over two inputs: what they mean, against Python itself, and what is refused."""

from __future__ import annotations

import random
from contextlib import suppress
from fractions import Fraction

import pytest
from quick import seeds
from relation_oracle import Conditions, Parts, evaluated

from paramverify.errors import CaseError, ExpressionError
from paramverify.models.mechanisms import neighbouring_inputs
from paramverify.models.relations import InputPart, Shape, plain, read_condition, read_distance
from paramverify.rereader.second_relations import Related
from paramverify.tables import Table

SHAPES = [
    Parts((("q", 3),)),
    Parts((), ("n",)),
    Parts((("q", 2), ("r", 3)), ("n", "m")),
    Parts((("q", 1),), ("n",)),
]
ARRAY: Shape = (InputPart("q", 3),)
ONE: Shape = (InputPart("", None),)
SEVERAL: Shape = (InputPart("q", 2), InputPart("r", 3), InputPart("n", None))


def shape_of(parts: Parts) -> Shape:
    return (*(InputPart(n, k) for n, k in parts.arrays), *(InputPart(n, None) for n in parts.single))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12, 4))
def test_conditions_mean_what_python_says(seed: int) -> None:
    """Random conditions are true for the same inputs as in Python, for both readers."""
    rng = random.Random(seed)
    parts = SHAPES[seed % len(SHAPES)]
    shape = shape_of(parts)
    second = [(part.name, part.length) for part in shape]
    answers = set()
    for _ in range(20):
        maker = Conditions(parts, rng)
        text, python = maker.condition(3, {})
        relation, again = read_condition(text, shape), Related(text, second)
        for _ in range(6):
            x, y = (
                [Fraction(rng.randrange(-1, 3), rng.choice([1, 1, 2])) for _ in range(parts.size)]
                for _ in "xy"
            )
            wanted = bool(evaluated(python, parts.named("x", x) | parts.named("y", y)))
            assert relation.holds(plain(x), plain(y)) == wanted, text
            assert bool(again(x, y)) == wanted, text
            answers.add(wanted)
    assert answers == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(5, 3))
def test_distances_mean_what_python_says(seed: int) -> None:
    """Random numbers over two inputs are those of Python, for both readers."""
    rng = random.Random(1_000 + seed)
    parts = SHAPES[seed % len(SHAPES)]
    shape = shape_of(parts)
    second = [(part.name, part.length) for part in shape]
    values = set()
    for _ in range(20):
        text, python = Conditions(parts, rng).number(3, {})
        distance, again = read_distance(text, shape), Related(text, second)
        for _ in range(5):
            x, y = ([Fraction(rng.randrange(-1, 3)) for _ in range(parts.size)] for _ in "xy")
            wanted = Fraction(evaluated(python, parts.named("x", x) | parts.named("y", y)))
            assert distance.number(plain(x), plain(y)) == wanted, text
            assert again(x, y) == wanted, text
            values.add(wanted)
    assert len(values) > 5


def test_labels() -> None:
    """Labels are equal to themselves only; one that is spelt as a number counts as it in arithmetic."""
    same = read_condition("x == y", ONE)
    assert same.holds(["a"], ["a"])
    assert not same.holds(["1"], ["01"])
    assert read_condition("abs(x - y) <= 1", ONE).holds(["3"], ["4"])
    assert read_condition("x in ['a', 'b'] and y not in ['a']", ONE).holds(["b"], ["b"])
    assert Related("x in ['a', 'b'] and y not in ['a']", [("", None)])(["b"], ["b"])
    with pytest.raises(ExpressionError, match="the label 'a' is not a number"):
        read_distance("abs(x - y)", ONE).number(["a"], ["b"])


WRONG = {
    "sum(abs(x[i] - y[i]))": ("this must be a condition", 0, ARRAY),
    "x[i] != y[i]": ("the index i is not bound", 2, ARRAY),
    "sum(x - y) <= 1": ("x is an array: write x[i]", 4, ARRAY),
    "x != 1": ("x is an array", 0, ARRAY),
    "sum(3) <= 1": ("sum needs an index", 0, ARRAY),
    "x[3] == 1": ("the index is out of range: x has the indices 0 to 2", 2, ARRAY),
    "x[i+1] == 1": ("an index must be a name such as i, or a whole number", 2, ARRAY),
    "x[0:2] == 1": ("slices are not supported", 0, ARRAY),
    "sum(x[i] for i in range(3)) == 1": ("remove `for`", 3, ARRAY),
    "x.r[0] == 1": ("no input is called r; did you mean x.q?", 0, ARRAY),
    "len(x.q) == z": (
        "unknown name z; the names are x, y, and indices such as i in sum(abs(x[i] - y[i]))",
        12,
        ARRAY,
    ),
    "sum(x) = 3": ("write == for equality", 7, ARRAY),
    "total(x[i]) == 1": (
        "unknown function total; the functions are abs, len, sum, count, all, any, min, max",
        0,
        ARRAY,
    ),
    "sun(x[i]) == 1": ("did you mean sum?", 0, ARRAY),
    "sum(x[i] + laplace(2)) == 1": ("noise is not allowed here", 11, ARRAY),
    "sum(x[i], y[i]) == 1": ("sum needs one argument", 0, ARRAY),
    "all(x[i]) and x == y": ("all needs a condition", 0, ARRAY),
    "x == y and": ("syntax error", 10, ARRAY),
    "(x == y": ("syntax error: '(' was never closed", 0, ARRAY),
    "": ("the expression is empty", 0, ARRAY),
    "x == 'a\\n'": ("must not contain a backslash escape", 5, ONE),
    "x.q == 1": ("the inputs have no names here", 0, ONE),
    "x[0] == 1": ("x is a single value here", 0, ONE),
    "len(x) == 1": ("len needs an array", 0, ONE),
    "x in 3": ("`in` must be followed by a list", 5, ONE),
    "[x] == [y]": ("a list is only allowed after `in`", 0, ONE),
    "x is y": ("is and is not are not supported; write == or !=", 0, ONE),
    "x == y or __import__('os')": ("unknown function __import__", 10, ONE),
    "(lambda: 1)() == 1": (
        "only functions can be called; the functions are abs, len, sum, count, all, any, min, max",
        0,
        ONE,
    ),
    "x.n.real == 1": ("a dot is only allowed after x or y", 0, SEVERAL),
    "x == y": ("there are several inputs, so name one: write x.q, x.r, x.n", 0, SEVERAL),
    "sum(x.q[i] * y.r[i]) == 1": ("i runs over 2 indices, but y.r has length 3", 13, SEVERAL),
    "x.q == y.r": ("x.q and y.r have different lengths", 0, SEVERAL),
    "x.n[0] == 1": ("is a single value here", 0, SEVERAL),
    "all(" * 300 + "x" + ")" * 300: ("nested", 0, ARRAY),
    "\u202ex == y": ("unexpected character", 0, ARRAY),
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_refused_conditions(text: str) -> None:
    """Each mistake has its reason, and a caret under its place."""
    reason, column, shape = WRONG[text]
    with pytest.raises(ExpressionError) as caught:
        read_condition(text, shape)
    assert reason in str(caught.value)
    if "nested" not in reason:
        assert caught.value.column == column
    assert str(caught.value).split("\n")[-1].strip() == "^"


def test_a_distance_is_a_number() -> None:
    """A condition is no distance, and a division by zero shows its place."""
    with pytest.raises(ExpressionError, match="the distance must be a number"):
        read_distance("x == y", ONE)
    with pytest.raises(ExpressionError, match="division by zero") as caught:
        read_distance("1 / (x - y)", ONE).number([1], [1])
    assert caught.value.column == 0


@pytest.mark.parametrize("seed", seeds(4, 2))
def test_mutated_conditions_give_no_traceback(seed: int) -> None:
    """A text with changed characters is read, or refused with its place."""
    rng = random.Random(2_000 + seed)
    read = 0
    for _ in range(100):
        text = list(Conditions(SHAPES[2], rng).condition(3, {})[0])
        for _ in range(rng.randrange(1, 4)):
            text[rng.randrange(len(text))] = rng.choice("xyij[]().,+-*/%<>=!0123 'and\n")
        with suppress(ExpressionError):
            relation = read_condition("".join(text), shape_of(SHAPES[2]))
            x, y = ([rng.randrange(3) for _ in range(SHAPES[2].size)] for _ in "xy")
            relation.holds(x, y)
            read += 1
    assert 0 < read < 100


def test_an_input_is_not_its_own_neighbour() -> None:
    """A listed pair of one input twice compares nothing: it is an error with its place."""
    table = Table({"pairs": [[[0, 1], [1, 1]], [[1, 0], [1, 0]]]})
    with pytest.raises(CaseError, match="both inputs of this pair are the same") as found:
        neighbouring_inputs(table, [(Fraction(0), Fraction(1))] * 2)
    assert found.value.key == "pairs[1]"
