"""Adopted functions whose later calls may differ from the first one, or whose draws cannot be seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from compared_functions import adopted_law, imported, refusal
from replayed_functions import read_name

HEAD = """import datetime, functools, itertools, os, random, secrets, statistics, time, uuid
import numpy as np
from scipy import stats

CALLS, CACHE, COUNT, IDS, QUEUE = [], {}, 0, itertools.count(), iter([1, 2, 3])
TABLE = {"a": [1]}
ARRAY = np.zeros(2)
SEEN = set()


class Box:
    total = 0
    items = []

    def __init__(self):
        self.count = 0

    @classmethod
    def more(cls):
        cls.total += 1
        return cls.total

    def fill(self):
        self.count += 1
        return self.count


BOX = Box()


def counted():
    count = 0

    def inner():
        nonlocal count
        count += 1
        return count

    return inner


NEXT = counted()


@functools.lru_cache
def drawn(x):
    return random.getrandbits(1)


@functools.lru_cache
def square(x):
    return x * x


def collect(value, into=[]):
    into.append(value)
    return len(into)


def collect_by_name(value, *, into={}):
    into[value] = 1
    return len(into)


"""

LATER = "later calls"
REFUSED = {  # bodies of f(x), with a part of the reason
    "CALLS.append(x)\nreturn len(CALLS)": LATER,
    "global COUNT\nCOUNT += 1\nreturn COUNT": LATER,
    "global COUNT\nCOUNT = random.getrandbits(1)\nreturn x": LATER,
    "SEEN.add(x)\nreturn x": LATER,
    "TABLE['a'][0] += 1\nreturn x": LATER,
    "ARRAY[0] += 1\nreturn x": LATER,
    "CACHE[x] = random.getrandbits(1)\nreturn CACHE[x]": LATER,
    "if x not in CACHE:\n    CACHE[x] = random.getrandbits(1)\nreturn CACHE[x]": "function",
    "return Box.more()": LATER,
    "Box.total += 1\nreturn x": LATER,
    "Box.items.append(1)\nreturn len(Box.items)": LATER,
    "return BOX.fill()": LATER,
    "BOX.other = x\nreturn x": LATER,
    "f.count = x\nreturn x": LATER,
    "return NEXT()": LATER,
    "return next(IDS)": "iterator outside",
    "return next(QUEUE)": "iterator outside",
    "return drawn(x)": "cached and draws",
    "return collect(x)": "later calls differ",
    "return collect_by_name(x)": "later calls differ",
    "np.random.seed(0)\nreturn int(np.random.randint(2))": "fixes the seed",
    "random.seed()\nreturn random.getrandbits(1)": "fixes the seed",
    "s = np.random.get_state()\nreturn x": "fixes the seed",
    "return int(np.random.Generator(np.random.PCG64(3)).integers(2))": "fixes the seed",
    "return int(np.random.default_rng(seed=3).integers(2))": "fixes the seed",
    "return int(np.random.RandomState(3).randint(2))": "fixes the seed",
    "return random.Random(x).getrandbits(1)": "fixes the seed",
    "return int(stats.bernoulli.rvs(0.5, random_state=3))": "fixes the seed",
    "return statistics.NormalDist().samples(1)[0] > 0": "cannot follow",
    "return stats.bootstrap(([1, 2],), np.mean, n_resamples=9).standard_error > 0.1": "cannot follow",
    "return secrets.token_hex(1)": "not supported",
    "return os.urandom(1)[0] & 1": "os.urandom is not supported",
    "return time.time() > 1": "changes from run to run",
    "return datetime.datetime.now().second": "changes from run to run",
    "return str(uuid.uuid4())": "changes from run to run",
    "return open('/dev/urandom', 'rb').read(1)[0]": "not known",
    "return input()": "make it an argument",
    "return hash('a') % 2": "hash",
    "return id(x) % 2": "id",
    "return list({'a', 'b'})": "order of a set",
    "return [c for c in {'a', 'b'}]": "order of a set",
    "for c in {'a', 'b'}:\n    return c": "order of a set",
    "return ','.join({'a', 'b'})": "order of a set",
    "return {'a', 'b'}.pop()": "order of a set",
    "return next(iter({'a', 'b'}))": "order of a set",
    "return list({0.1, 0.2})": "order of a set",
}
ACCEPTED = {  # with the outputs for x = 1
    "return square(x) + random.getrandbits(1)": ["1", "2"],
    "a = []\na.append(x)\nreturn len(a)": ["1"],
    "def g(a=[]):\n    a.append(1)\n    return len(a)\nreturn g() + 10 * g()": ["21"],
    "def g():\n    g.count = 1\ng()\nreturn g.count": ["1"],
    "return TABLE['a'][0] + len(CALLS) + random.getrandbits(1)": ["1", "2"],
    "b = Box()\nb.fill()\nreturn b.fill()": ["2"],
    "n = counted()\nn()\nreturn n() + random.getrandbits(1)": ["2", "3"],
    "return int(np.random.Generator(np.random.PCG64()).integers(2))": ["0", "1"],
    "return bool(np.random.sample() < 0.5)": ["False", "True"],
    "return sorted({'a', 'b'}), len({'a', 'b'}), 'a' in {'a', 'b'}": ["[[a, b], 2, True]"],
    "return list({3, 1, 2}), [v for v in {(1, 2)}]": ["[[1, 2, 3], [[1, 2]]]"],
    "return hash(5)": ["5"],
}


def source_of(body: str) -> str:
    """Returns the source of a module with the function `f(x)` that has a body."""
    return HEAD + "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.slow
def test_state_outside_is_refused(tmp_path: Path) -> None:
    """A function that changes what stands outside of it, or reads what changes, is refused."""
    failures = []
    for number, (body, reason) in enumerate(REFUSED.items()):
        found = refusal(source_of(body), tmp_path, f"outside_state{number}")
        if not found or reason not in found:
            failures.append(f"{body!r}: {found}")
    assert not failures, "\n".join(failures)


def test_state_inside_is_accepted(tmp_path: Path) -> None:
    """A function may change what it made itself, and read what stands outside."""
    for number, (body, outputs) in enumerate(ACCEPTED.items()):
        module = imported(source_of(body), tmp_path, f"inside_state{number}")
        law = adopted_law(module.f, {"x": {"values": [0, 1]}})["1"]
        assert sorted(law, key=repr) == sorted(map(read_name, outputs), key=repr), body


def test_no_trace_is_left(tmp_path: Path) -> None:
    """After a function was adopted, its module and the random functions of Python are as before."""
    import random

    import numpy as np

    module = imported(source_of("return random.getrandbits(1) + x"), tmp_path, "no_trace")
    names, functions = set(vars(module)), (random.random, np.random.rand, random.getrandbits)
    assert adopted_law(module.f, {"x": {"values": [0, 1]}})
    assert set(vars(module)) == names
    assert (random.random, np.random.rand, random.getrandbits) == functions
    assert module.f(1) in (1, 2)
