"""Functions that Python and a careless reading of them would not run alike: adopted exactly, or refused."""

from __future__ import annotations

import collections
import functools
import json
import math
import random
from dataclasses import dataclass
from random import random as drawn

import numpy as np
import pytest

import paramverify
from paramverify.errors import InputError

SENSITIVITY = {0.1: 5, 0.5: 2}
QUEUE: collections.deque[int] = collections.deque()
SEEN = {"zero": False}
GENERATOR = np.random.default_rng()


def adopt(function, values=(0, 1)):
    return paramverify.adopt(function, inputs={"x": {"values": list(values)}}, epsilon=1)


def private(function, values=(0, 1)) -> bool:
    return adopt(function, values).verify().verdict == "private"


def answer(x):
    return x if random.random() < 0.6 else 1 - x


def bare_except(x):
    try:
        math.sqrt(2)
        found = 5 * x
    except:  # noqa: E722
        found = 0
    return found + np.random.laplace()


def returning_finally(x):
    found = 0
    try:
        math.sqrt(2)
        found = 5 * x
    finally:
        return found + np.random.laplace()  # noqa: B012


@pytest.mark.parametrize("function", [bare_except, returning_finally])
def test_refusals_are_not_caught(function):
    with pytest.raises(InputError, match="no exact value"):
        adopt(function)


def changed_by_another_name(x):
    a = np.zeros(2)
    same = a
    a += 5 * x
    return same[0] + np.random.laplace()


def changed_view(x):
    a = np.array([0.0, 1.0])
    a.reshape(2, 1)[0, 0] = 5 * x
    return a[0] + np.random.laplace()


def changed_by_asarray(x):
    a = np.zeros(2)
    np.asarray(a)[0] = 5 * x
    return a[0] + np.random.laplace()


class Weights:
    def __init__(self):
        self.weights = np.zeros(2)

    def release(self, x):
        self.weights[0] = 5 * x
        return self.weights[0] + np.random.laplace()

    def increased(self, x):
        other = self.weights
        self.weights += 5 * x
        return other[0] + np.random.laplace()


def float_as_key(x):
    return x * SENSITIVITY.get(0.1, 0) + np.random.laplace()


@pytest.mark.parametrize(
    "function",
    [
        changed_by_another_name,
        changed_view,
        changed_by_asarray,
        Weights().release,
        Weights().increased,
        float_as_key,
    ],
)
def test_values_reach_the_output(function):
    assert not private(function)


def test_noise_is_added_in_place():
    def add(entries):
        entries += np.random.laplace(size=len(entries))

    def release(x):
        entries = np.zeros(1) + x
        add(entries)
        return entries[0]

    assert private(release)


def test_noise_in_an_array_of_floats():
    weights = Weights()

    def release(x):
        weights.weights.ravel()
        own = np.linspace(0, 1, 2)
        own += np.random.laplace(size=2)
        return own[0] + x

    with pytest.raises(InputError, match=r"write a = a \+ noise"):
        adopt(release)


@functools.lru_cache
def cached():
    return [0]


def changes_cached(x):
    cached()[0] = 5 * x
    return cached()[0] + np.random.laplace()


def changes_queue(x):
    if x == 0:
        QUEUE.append(1)
    return answer(x) if QUEUE else 1


def in_a_helper(x):
    if x == 0:
        SEEN["zero"] = True
    return SEEN["zero"]


def changes_in_a_helper(x):
    return answer(x) if in_a_helper(x) else 1


def changes_itself(x):
    if x == 0:
        changes_itself.seen = True
    return answer(x) if getattr(changes_itself, "seen", False) else 1


def makes_a_global(x):
    global MADE
    if x == 0:
        MADE = True
    try:
        return answer(x) if MADE else 1
    except NameError:
        return 1


def changes_default(x, found=[]):  # noqa: B006
    found.append(x)
    return answer(x)


class Shared:
    seen: set[int] = set()  # noqa: RUF012

    def release(self, x):
        if x == 0:
            self.seen.add(0)
        return answer(x) if self.seen else 1


class Slotted:
    __slots__ = ("seen",)

    def __init__(self):
        self.seen = False


SLOTTED = Slotted()


def changes_slots(x):
    if x == 0:
        SLOTTED.seen = True
    return answer(x) if SLOTTED.seen else 1


@pytest.mark.parametrize(
    "function",
    [
        changes_cached,
        changes_queue,
        changes_in_a_helper,
        changes_itself,
        makes_a_global,
        changes_default,
        Shared().release,
        changes_slots,
    ],
)
def test_state_is_refused(function):
    with pytest.raises(InputError, match="change"):
        adopt(function)


class Constant(random.Random):
    def random(self):
        return 0.25


CONSTANT = Constant()


def replaced_generator(x):
    return x if CONSTANT.random() < 0.5 else 1 - x


class Sum:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return self.x + other + (5 if drawn() < 0.5 else 0)


def drawing_operator(x):
    return Sum(x) + 0


@dataclass
class Drawing:
    x: int
    bit: int = 0

    def __post_init__(self):
        self.bit = 1 if GENERATOR.random() < 0.5 else 0


def drawing_constructor(x):
    return Drawing(x).bit


class Shifting:
    rng = np.random.default_rng()

    def __sub__(self, x):
        return x + (1 if self.rng.random() < 0.01 else 0)


SHIFTING = Shifting()


def drawing_difference(x):
    return SHIFTING - x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (replaced_generator, "Constant.random"),
    ],
)
def test_draws_that_cannot_be_followed(function, reason):
    with pytest.raises(InputError, match=reason):
        adopt(function)


@pytest.mark.parametrize(
    ("function", "share"),
    [(drawing_difference, "1/100"), (drawing_operator, "1/2"), (drawing_constructor, "1/2")],
)
def test_draws_of_special_methods_are_followed(function, share):
    assert f"({share})" in adopt(function).to_toml()


class Called:
    rng = np.random.default_rng()

    def __call__(self, x):
        return x + (1 if self.rng.random() < 0.01 else 0)


CALLED = Called()


def test_called_objects_are_followed():
    assert "flip((1/100))" in adopt(lambda x: list(map(CALLED, [x]))[0]).to_toml()  # noqa: RUF015


def test_remainder_of_an_infinite_number():
    assert "return 5" in adopt(lambda x: 5.0 % math.inf).to_toml()


def test_names_of_noise():
    with pytest.raises(InputError, match="rename this argument"):
        paramverify.adopt(lambda noise1: noise1, inputs={"noise1": {"values": [0, 1]}}, epsilon=1)


def catches_attribute(x):
    try:
        (0.5).hex()
        found = 5 * x
    except AttributeError:
        found = 0
    return found + np.random.laplace()


def catches_type(x):
    try:
        json.dumps([0.5])
        found = 5 * x
    except TypeError:
        found = 0
    return found + np.random.laplace()


def catches_division(x):
    try:
        1 / np.array([1.0, 0.0])
        found = 5 * x
    except ZeroDivisionError:
        found = 0
    return found + np.random.laplace()


def catches_overflow(x):
    try:
        math.exp(1000)
        found = 0
    except OverflowError:
        found = 5 * x
    return found + np.random.laplace()


def asks_for_numpy(x):
    return (5 * x if isinstance(np.float64(0.5), np.floating) else 0) + np.random.laplace()


def asks_for_type(x):
    return (5 * x if np.zeros(2).dtype == float else 0) + np.random.laplace()


@pytest.mark.parametrize(
    "function",
    [catches_attribute, catches_type, catches_division, catches_overflow, asks_for_numpy, asks_for_type],
)
def test_limits_are_not_exceptions_of_python(function):
    with pytest.raises(InputError, match=r"not supported|not followed"):
        adopt(function)


def test_numbers_have_the_attributes_of_floats():
    assert "return 1" in adopt(lambda x: 1 if hasattr(0.5, "as_integer_ratio") else 0).to_toml()


def test_two_logarithms_of_one_draw():
    def logistic(x):
        u = random.random()
        return 1 if math.log(u) + math.log(1 - u) < -2 else 0

    with pytest.raises(InputError, match="two different logarithms"):
        adopt(logistic)


def test_a_uniform_draw_equals_itself():
    def release(x):
        u = random.random()
        return [u <= u, u >= u, u == u + 0, u * 2 == u + u, u < u, u > u, u != u]

    assert "return [True, True, True, True, False, False, False]" in adopt(release).to_toml()


def test_texts_of_exceptions_have_the_numbers():
    assert not private(lambda x: random.randint(x, 0), [1, 2])
    assert not private(lambda x: random.randrange(x, 0), [1, 2])
    assert not private(lambda x: 1 / 0 if x else 1.0 / 0.0)


def test_rows_are_shuffled():
    def release(x):
        rows = np.array([[0, 0], [1, 1], [2, 2]])
        np.random.shuffle(rows)
        return [int(v) for v in rows[:, 0]]

    assert adopt(release).to_toml().count("(1/6)") == 6


def test_small_integers_wrap():
    def release(x):
        found = np.random.default_rng().integers(0, 2, size=1, dtype=np.uint8)
        return bool((found - 1)[0] > 100)

    assert "flip((1/2))" in adopt(release).to_toml()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: hash(x) % 2,
        lambda x: next(iter({"p", "q", x})),
        lambda x: "".join(k + x for k in {"p", "q", x}),
        lambda x: id(x) % 7,
    ],
)
def test_what_changes_from_process_to_process(function):
    with pytest.raises(InputError, match=r"chang(es|e) from"):
        adopt(function, ["a", "b"])


def test_order_does_not_matter():
    assert "return 3" in adopt(lambda x: len({"p", "q", x}), ["a", "b"]).to_toml()


@dataclass
class Released:
    value: int


class Number(int):
    pass


def hidden_in_dataclass(x):
    found = Released(1)
    found.secret = x
    return found


def hidden_in_number(x):
    found = Number(1)
    found.secret = x
    return found


@pytest.mark.parametrize("function", [hidden_in_dataclass, hidden_in_number])
def test_hidden_attributes_of_outputs(function):
    with pytest.raises(InputError, match="has the attribute secret"):
        adopt(function)


def test_shapes_of_empty_arrays():
    with pytest.raises(InputError, match="different types"):
        adopt(lambda x: np.empty((0, 3)) if x else np.empty((0,)))


def test_logarithm_of_zero_in_numpy():
    with pytest.raises(InputError, match="infinite or nan"):
        adopt(lambda x: np.log(x * 1.0))


def test_probabilities_that_do_not_sum_to_one():
    toml = adopt(lambda x: np.random.choice([0, 1], p=[0.2, 0.3])).to_toml()
    assert "raises ValueError" in toml


def test_exceptions_of_one_type_with_several_texts():
    """Runs of the function itself that raise are compared by the type, because texts may have floats."""

    def release(x):
        return [1.25, x].index(random.choice([2, 3, 4]))

    assert adopt(release).to_toml().count("is not in list") == 3


def with_cause(x):
    raise ValueError("no answer") from KeyError(x)


def with_attribute(x):
    error = ValueError("no answer")
    error.row = x
    raise error


class Hiding(Exception):
    def __str__(self):
        return "no answer"


def with_hidden_argument(x):
    raise Hiding(x)


@pytest.mark.parametrize("function", [with_cause, with_hidden_argument])
def test_what_an_exception_shows(function):
    assert "if x == 0" in adopt(function).to_toml()


def test_what_an_exception_carries():
    with pytest.raises(InputError, match="carries more than its text"):
        adopt(with_attribute)


def test_outputs_that_print_differently():
    def small(x):
        return np.array([5], dtype=np.int8) if x else np.array([5])

    with pytest.raises(InputError, match=r"int64 array .* and int8 array"):
        adopt(small)
    with pytest.raises(InputError, match=r"can be -0\.0 in Python"):
        adopt(lambda x: -0.0 if x else 0.0)


SEEDED = np.random.default_rng(42)


def test_generators_from_outside_have_a_note():
    def release(x):
        return x if SEEDED.random() < 0.5 else 1 - x

    assert "assumed to have an unpredictable seed" in adopt(release).to_toml()
