"""Functions by plain enumeration: CPython runs the same file once for each outcome of its random calls.

Nothing of paramverify is used. The modules `random`, `secrets` and `numpy.random` are replaced by small
ones whose functions take the next outcome of a list. Weights are fractions, and a uniform double is a number
between two fractions that each comparison moves together. Floats are read as fractions with small
denominators, so what a function computes with floats before it returns or compares them must be
exact in binary.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import json
import math
import random  # noqa: F401 - so that it can be put back
import re
import secrets  # noqa: F401
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from types import GeneratorType, ModuleType
from typing import Any

import numpy as np
import numpy.random
import scipy.stats  # noqa: F401 - before the modules that it draws from are replaced

Output = tuple[str, object]  # the kind of a value and the value
Law = dict[tuple[Output, str], Fraction]  # by output and by its types in Python

MOST_RUNS = 2_000  # of one function
LARGEST = 10_000  # denominator of a number that a float stands for


class TooManyRunsError(Exception):
    """A function has more outcomes than are enumerated."""


def fraction(value: Any) -> Fraction:
    """Returns the number that an int or a float stands for."""
    if isinstance(value, (float, np.floating)):
        return Fraction(float(value)).limit_denominator(LARGEST)
    return Fraction(int(value)) if not isinstance(value, Fraction) else value


class Replay:
    """The outcomes of one run."""

    def __init__(self) -> None:
        self.begin([])

    def begin(self, script: Sequence[int]) -> None:
        """Starts a run with these outcomes first."""
        self.script = script
        self.place = 0
        self.weight = Fraction(1)
        self.pending: list[list[int]] = []
        self.taken: list[int] = []

    def pick(self, weights: Sequence[Fraction]) -> int:
        """Returns the index of the next outcome."""
        possible = [k for k, weight in enumerate(weights) if weight]
        if self.place < len(self.script):
            chosen = self.script[self.place]
        else:
            chosen = possible[0]
            self.pending += [[*self.taken, other] for other in possible[1:]]
        self.place += 1
        self.taken.append(chosen)
        self.weight *= weights[chosen]
        return chosen

    def below(self, count: int) -> int:
        """Returns a whole number below a count."""
        return self.pick([Fraction(1, count)] * count)


class Between:
    """`factor` * U + `shift` of a uniform U, whose interval is shared by all that is made of it."""

    def __init__(self, replay: Replay, ends: list[Fraction], factor: Fraction, shift: Fraction) -> None:
        self.replay, self.ends, self.factor, self.shift = replay, ends, factor, shift

    def _moved(self, factor: Fraction, shift: Fraction) -> Between:
        return Between(self.replay, self.ends, factor, shift)

    def __add__(self, other: Any) -> Between:
        return self._moved(self.factor, self.shift + fraction(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Between:
        return self._moved(self.factor, self.shift - fraction(other))

    def __rsub__(self, other: Any) -> Between:
        return self._moved(-self.factor, fraction(other) - self.shift)

    def __mul__(self, other: Any) -> Between:
        return self._moved(self.factor * fraction(other), self.shift * fraction(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Between:
        return self * (1 / fraction(other))

    def __neg__(self) -> Between:
        return self * -1

    def __abs__(self) -> Between:
        return self if self >= 0 else -self

    def _below(self, bound: Any) -> bool:
        if isinstance(bound, Between):
            assert bound.ends is self.ends
            rest = self._moved(self.factor - bound.factor, self.shift - bound.shift)
            return rest < 0 if rest.factor else rest.shift < 0
        low, high = self.ends
        cut = min(max((fraction(bound) - self.shift) / self.factor, low), high)
        under = self.replay.pick([(cut - low) / (high - low), (high - cut) / (high - low)]) == 0
        self.ends[under] = cut
        return under == (self.factor > 0)

    def __lt__(self, other: Any) -> bool:
        return self._below(other)

    __le__ = __lt__

    def __gt__(self, other: Any) -> bool:
        return not self._below(other)

    __ge__ = __gt__

    def __floor__(self) -> int:
        low, high = sorted(self.factor * end + self.shift for end in self.ends)
        return next(k - 1 for k in range(math.floor(low) + 1, math.ceil(high) + 1) if k >= high or self < k)

    def __trunc__(self) -> int:
        return math.floor(self) if self >= 0 else math.floor(self) + 1

    def __int__(self) -> int:
        return self.__trunc__()

    def __ceil__(self) -> int:
        return math.floor(self) + 1

    def __round__(self, digits: int | None = None) -> int:
        return math.floor(self + Fraction(1, 2))


class PythonRandom:
    """What stands for `random`, for its generators, and for those of `secrets`."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    def random(self) -> Between:
        return Between(self._replay, [Fraction(0), Fraction(1)], Fraction(1), Fraction(0))

    def uniform(self, a: Any, b: Any) -> Any:
        return a + (b - a) * self.random()

    def randint(self, a: int, b: int) -> int:
        return self.randrange(a, b + 1)

    def randrange(self, *given: int) -> int:
        values = range(*given)
        if not values:
            raise ValueError("empty range for randrange()")
        return values[self._replay.below(len(values))]

    def getrandbits(self, k: int) -> int:
        return self._replay.below(2**k)

    randbits = getrandbits

    def randbelow(self, n: int) -> int:
        return self._replay.below(n)

    def choice(self, values: Sequence[Any]) -> Any:
        if not len(values):
            raise IndexError("Cannot choose from an empty sequence")
        return values[self._replay.below(len(values))]

    def choices(
        self, population: Sequence[Any], weights: Any = None, *, cum_weights: Any = None, k: int = 1
    ) -> list[Any]:
        if cum_weights is not None:
            sums = [Fraction(0), *map(fraction, cum_weights)]
            weights = [after - before for before, after in itertools.pairwise(sums)]
        exact = [fraction(w) for w in ([1] * len(population) if weights is None else weights)]
        return [population[self._replay.pick([w / sum(exact) for w in exact])] for _ in range(k)]

    def sample(self, values: Sequence[Any], k: int) -> list[Any]:
        rest = list(values)
        if not 0 <= k <= len(rest):
            raise ValueError("Sample larger than population or is negative")
        return [rest.pop(self._replay.below(len(rest))) for _ in range(k)]

    def shuffle(self, values: Any) -> None:
        values[:] = self.sample(values, len(values))


class NumpyRandom:
    """What stands for `numpy.random` and for its generators."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._plain = PythonRandom(replay)

    def _many(self, one: Callable[[], Any], size: Any, kind: Any) -> Any:
        if size is None:
            return one()
        shape = (size,) if np.ndim(size) == 0 else tuple(size)
        found = np.empty(math.prod(shape), dtype=kind)
        for k in range(len(found)):
            found[k] = one()
        return found.reshape(shape)

    def random(self, size: Any = None) -> Any:
        return self._many(self._plain.random, size, object)

    def rand(self, *shape: int) -> Any:
        return self.random(shape or None)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._many(lambda: self._plain.uniform(low, high), size, object)

    def integers(self, low: int, high: int | None = None, size: Any = None, endpoint: bool = False) -> Any:
        ends = (0, low) if high is None else (low, high)
        return self._many(
            lambda: np.int64(self._plain.randrange(ends[0], ends[1] + endpoint)), size, np.int64
        )

    def randint(self, low: int, high: int | None = None, size: Any = None) -> Any:
        found = self.integers(low, high, size)
        return int(found) if size is None else found

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        values: Any = np.asarray(a)
        if np.ndim(a) == 0:
            values = np.arange(a) if size is not None else range(a)
        left = [Fraction(1)] * len(values) if p is None else [fraction(q) for q in p]
        drawn = []
        for _ in range(1 if size is None else math.prod(np.atleast_1d(size))):
            drawn.append(self._replay.pick([q / sum(left) for q in left]))
            if not replace:
                left[drawn[-1]] = Fraction(0)
        return values[drawn[0]] if size is None else values[drawn].reshape(size)

    def permutation(self, x: Any) -> Any:
        values = np.arange(x) if np.ndim(x) == 0 else np.array(x)
        return values[self._plain.sample(range(len(values)), len(values))]

    def shuffle(self, x: Any) -> None:
        x[:] = self.permutation(x)

    def binomial(self, n: int, p: Any, size: Any = None) -> Any:
        if np.ndim(p):
            return np.array([self.binomial(n, q) for q in p])
        q = fraction(p)
        weights = [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
        return self._many(lambda: self._replay.pick(weights), size, np.int64)


@contextmanager
def _replaced(replay: Replay) -> Iterator[None]:
    """Puts the small modules in the places of the real ones."""
    plain, of_numpy = PythonRandom(replay), NumpyRandom(replay)
    made = {
        "random": ModuleType("random"),
        "secrets": ModuleType("secrets"),
        "numpy.random": ModuleType("numpy.random"),
    }
    for name, source in (("random", plain), ("secrets", plain), ("numpy.random", of_numpy)):
        for word in dir(source):
            if not word.startswith("_"):
                setattr(made[name], word, getattr(source, word))
    for word in ("Random", "SystemRandom"):
        setattr(made["random"], word, lambda *_: plain)
        setattr(made["secrets"], word, lambda *_: plain)
    for word in ("default_rng", "RandomState", "Generator"):
        setattr(made["numpy.random"], word, lambda *_: of_numpy)
    before = {name: sys.modules[name] for name in made}
    sys.modules.update(made)
    np.random = made["numpy.random"]
    try:
        yield
    finally:
        sys.modules.update(before)
        np.random = before["numpy.random"]


def law_of(source: str, name: str, given: Mapping[str, Any], rng: str = "") -> Law:
    """Returns the law of a function of a source: each output, with its types, and its probability.

    `given` are the values of its arguments by name; lists are copied for each run. The argument `rng` gets a
    generator of `numpy.random`.
    """
    code = compile(source, "<replayed>", "exec", dont_inherit=True)
    found: Law = {}
    pending: list[list[int]] = [[]]
    runs = 0
    replay = Replay()
    module = ModuleType("replayed_source")
    sys.modules["replayed_source"] = module
    with _replaced(replay):
        exec(code, module.__dict__)
        sources = {rng: NumpyRandom(replay)} if rng else {}
        while pending:
            runs += 1
            if runs > MOST_RUNS:
                raise TooManyRunsError
            replay.begin(pending.pop())
            try:
                result = getattr(module, name)(**{k: _copied(v) for k, v in given.items()}, **sources)
                output = encoded(list(result) if isinstance(result, GeneratorType) else result)
            except Exception as error:
                text = f"raises {type(error).__name__}: {error}"
                if error.__cause__ is not None:
                    text += f" from {type(error.__cause__).__name__}: {error.__cause__}"
                output = ("text", text), f"raise {type(error).__name__}"
            pending += replay.pending
            found[output] = found.get(output, Fraction(0)) + replay.weight
    return found


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def encoded(value: Any) -> tuple[Output, str]:
    """Returns a value without its types, and its types."""
    if isinstance(value, enum.Enum):
        return ("text", str(value)), f"enum {type(value).__name__}"
    if isinstance(value, (bool, np.bool_)):
        return ("truth", bool(value)), "bool"
    if isinstance(value, (int, np.integer)):
        return ("number", Fraction(int(value))), "int"
    if isinstance(value, (float, np.floating)):
        return (("number", fraction(value)) if math.isfinite(value) else ("text", str(float(value)))), "float"
    if isinstance(value, Fraction):
        return ("number", value), "Fraction"
    if isinstance(value, bytes):
        return ("text", repr(value)), "bytes"
    if isinstance(value, str) or value is None:
        return ("text", str(value)), type(value).__name__.removeprefix("np.").rstrip("_")
    if isinstance(value, np.ndarray) and value.shape == ():
        return encoded(value.item())
    if dataclasses.is_dataclass(value):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, dict):
        parts = [[k, v] for k, v in value.items()]
    else:
        parts = sorted(value, key=_plain_text) if isinstance(value, (set, frozenset)) else list(value)
    found = [encoded(part) for part in parts]
    word = "set" if isinstance(value, frozenset) else type(value).__name__
    return ("list", tuple(part for part, _ in found)), f"{word}[{', '.join(types for _, types in found)}]"


def _plain_text(value: Any) -> str:
    """Returns by what sets are sorted: any order that adopting has, too, will do."""
    if isinstance(value, str):
        return f"'{value}'"
    return repr(value.item() if isinstance(value, np.generic) else value)


def read_name(name: str) -> Output:
    """Returns an output that paramverify shows by this name."""
    found, rest = _read(name)
    assert not rest, name
    return found


def _read(text: str) -> tuple[Output, str]:
    if text.startswith("["):
        parts, text = [], text[1:]
        while not text.startswith("]"):
            part, text = _read(text)
            parts.append(part)
            text = text.removeprefix(", ")
        return ("list", tuple(parts)), text[1:]
    if text.startswith('"'):
        value, end = json.JSONDecoder().raw_decode(text)
        return ("text", value), text[end:]
    match = re.match(r"[^,\]]*", text)
    assert match is not None
    word, rest = match.group(), text[match.end() :]
    if word in ("True", "False"):
        return ("truth", word == "True"), rest
    if re.fullmatch(r"-?\d+(/\d+)?", word):
        return ("number", Fraction(word)), rest
    return ("text", word), rest
