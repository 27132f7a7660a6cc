"""What traced code calls instead of Python's own operations: `Inserted`.

Random functions draw from the tracer. Functions of the user run as traced code, too. Functions of numbers
are exact for exact numbers. All other functions of known libraries run as they are; numbers with noise refuse
to be turned into floats there.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import operator
import os
import random
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from paramverify.tracing.draw_laws import (
    OF_NUMPY,
    OF_PYTHON,
    UNPREDICTABLE,
    Law,
    NoLaw,
    Source,
    law_of,
    laws_of,
)
from paramverify.tracing.formulas import (
    Floats,
    Formula,
    Real,
    Refused,
    exact,
    exponential,
    infinite,
    natural_logarithm,
    powered,
)
from paramverify.tracing.noise_values import FINITE, Continuous, Noisy, Symbol, UniformDraw, is_whole
from paramverify.tracing.rewriting import HELPER, traced_function
from paramverify.tracing.states import SITE, STDLIB, State, check_no_draws, fingerprint
from paramverify.tracing.tracer import TRACED, Tracer

NATIVE = ("numpy", "scipy", "pandas", "sympy", "mpmath", "paramverify", "numbers", "abc")
KNOWN = {  # modules whose functions always return the same for the same arguments, and change nothing else
    *("builtins", "math", "cmath", "operator", "itertools", "functools", "collections", "string", "re"),
    *(
        "json",
        "decimal",
        "fractions",
        "statistics",
        "enum",
        "dataclasses",
        "typing",
        "types",
        "copy",
        "numbers",
    ),
    *("bisect", "_bisect", "heapq", "_heapq", "hashlib", "_hashlib", "zlib", "binascii", "base64", "struct"),
    *("unicodedata", "textwrap", "array", "abc", "_abc", "numpy", "xxhash", "mmh3", "inspect", "warnings"),
    *("contextlib", "weakref", "_operator", "_collections", "_functools", "_struct", "_json", "_sre", "_md5"),
    *("_sha1", "_sha2", "_sha256", "_sha512", "_sha3", "_blake2", "_decimal", "scipy", "pandas"),
}
# what does not depend on the order of a set
ORDERLESS = (len, sorted, set, frozenset, any, all, min, max, bool)
TEXTS = (str, repr, format, ascii)
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}
SIGNS = {"neg": "-", "invert": "~"}
INSIDE = ("__code__", "__globals__", "gi_frame", "gi_code", "tb_frame", "f_code", "f_back")
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow")
NEW_ARRAYS = ("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like")


def kind_of(value: Any) -> str:
    """Returns the letter of numpy for the type of an array's or a number's entries; "" of anything else."""
    return str(value.dtype.kind) if hasattr(type(value), "dtype") else ""


def lifted(value: Any, tracer: Tracer) -> Any:
    """Returns a float as an exact number, see `Floats`, and an array of floats as an array of such."""
    if type(value) is float:
        return tracer.real(Floats.number(value)) if math.isfinite(value) else value
    if (
        isinstance(value, numbers.Real)
        and type(value).__module__ == "numpy"
        and not hasattr(value, "__index__")
    ):
        number = float(value)
        tracer.of_numpy = True
        return tracer.real(Floats.number(number)) if math.isfinite(number) else value
    kind = kind_of(value)
    if kind == "f" and is_many(value) and value.size:
        tracer.of_numpy = True
        return each(lambda v: lifted(v, tracer), value)
    return value


def each(function: Callable[[Any], Any], values: Any) -> Any:
    """Applies a function to each entry of an array or a list; returns an array of objects of its shape."""
    import numpy as np

    array = np.asarray(values, dtype=object)
    found = np.empty(array.size, dtype=object)
    for k, value in enumerate(array.ravel().tolist()):
        found[k] = function(value)
    kinds = {type(v) for v in found}
    shaped = found.reshape(array.shape)
    return shaped.astype(bool) if kinds == {bool} else shaped.astype(int) if kinds == {int} else shaped


def is_many(value: Any) -> bool:
    """Tells whether a value is an array with an axis, or a list."""
    return isinstance(value, (list, tuple)) or bool(hasattr(type(value), "shape") and value.shape)


def holds_symbols(value: Any, depth: int = 0) -> bool:
    """Tells whether a value is, or has in it, an exact number or one with noise."""
    if isinstance(value, (Real, Symbol)):
        return True
    if isinstance(value, (list, tuple, set, frozenset)) and depth < 4:
        return any(holds_symbols(v, depth + 1) for v in value)
    if isinstance(value, dict) and depth < 4:
        return any(holds_symbols(v, depth + 1) for v in value.values())
    if kind_of(value) == "O":
        return any(isinstance(v, (Real, Symbol)) for v in value.ravel().tolist())
    return False


def holds_floats(value: Any) -> bool:
    """Tells whether an array of objects stands for an array of floats: an entry is no whole number."""
    return (
        kind_of(value) == "O"
        and is_many(value)
        and any(isinstance(v, (Real, Symbol)) and not is_whole(v) for v in value.ravel().tolist())
    )


def numpy_float() -> type:
    """Returns the class of floats of numpy, whose objects have all attributes of Python's floats."""
    import numpy as np

    return np.float64


def numpy_truth() -> type:
    """Returns the class of truths of numpy, which are no whole numbers."""
    import numpy as np

    return np.bool_


MARK = "_as_python_does"
SEED = "{}(...) fixes the seed: remove its argument"


def _is_plain(value: Any) -> bool:
    """Tells whether a value is a number of Python or numpy, an array, or what stands for a float."""
    return (
        type(value) in (bool, int, float, Real) or isinstance(value, Symbol) or hasattr(type(value), "dtype")
    )


def _hashes_alike(value: Any) -> bool:
    """Tells whether a value has the same hash in every run of Python, and so its place in a set."""
    if isinstance(value, tuple):
        return all(map(_hashes_alike, value))
    if isinstance(value, Real):
        number = value.formula.number  # others have rounded values with other hashes
        return number is not None and number.denominator.bit_count() == 1
    if isinstance(type(value).__hash__, FunctionType) and not isinstance(value, (Enum, Symbol)):
        return all(map(_hashes_alike, getattr(value, "__dict__", {"": ""}).values()))
    return (isinstance(value, int) and not isinstance(value, Enum)) or type(value).__module__ == "numpy"


def _stand_in(value: Any) -> Any:
    """Returns a plain number that is zero if a number is, with the same type in Python."""
    if isinstance(value, Real):
        return float(bool(value))
    return 1.0 if isinstance(value, Symbol) else value


@contextmanager
def as_python_does(inside: CodeType | None = None) -> Iterator[None]:
    """Marks what is raised inside as something that Python raises there, too.

    With `inside`, only what the code itself raises is marked, not what it calls in this package.
    """
    try:
        yield
    except (ValueError, IndexError, KeyError, ArithmeticError, StopIteration) as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        if inside is None or (trace is not None and trace.tb_frame.f_code is inside):
            setattr(error, MARK, True)
        raise


class _Entries:
    """An array of objects whose entries are changed: one of floats keeps floats, as numpy does."""

    def __init__(self, array: Any, here: Inserted) -> None:
        self.array = array
        self.here = here

    def __setitem__(self, index: Any, value: Any) -> None:
        floats = holds_floats(self.array)
        self.array[index] = value
        if floats:
            self.here.as_floats(self.array)


class Inserted:
    """The operations of traced code in one run."""

    def __init__(self, tracer: Tracer, world: World) -> None:
        self.tracer = tracer
        self.world = world
        self.defaults: list[tuple[str, Any, Any]] = []  # of functions, by name, with their state
        self.cached: dict[Any, tuple[Any, Any]] = {}  # results of cached functions, with their state

    def number(self, value: float) -> Any:
        """Returns a number that is written with a point."""
        return lifted(value, self.tracer)

    def binary(self, word: str, left: Any, right: Any) -> Any:
        """Applies an operator; divisions of whole numbers are exact."""
        given = left, right
        if word in IN_PLACE and is_many(left) and kind_of(left) == "f":
            return self._in_place(word[1:], left, right)
        if word == "itruediv" and is_many(left) and kind_of(left) in ("i", "u", "b"):
            return getattr(operator, word)(left, right)  # raises that numpy has no place for floats in it
        of_numpy = "numpy" in (type(left).__module__, type(right).__module__)
        if not (type(left) in (bool, int) and type(right) in (bool, int)):
            of_numpy = of_numpy or self.tracer.of_numpy  # floats may be numpy's
        if word == "iadd" and isinstance(left, list):
            self.ordered(right)
        if type(left) is bool and type(right) is bool and word.removeprefix("i") in ARITHMETIC:
            self._check_truth(word.removeprefix("i"))
        left, right = lifted(left, self.tracer), lifted(right, self.tracer)
        if word in ("truediv", "itruediv"):
            if _is_plain(left) and _is_plain(right):  # others, such as Fraction, know what they divide by
                left, right = self._divided(left), self._divided(right)
        elif (
            word in ("pow", "ipow")
            and type(left) is int
            and (isinstance(right, Real) or (type(right) is int and right < 0))
        ):
            left = self.tracer.real(left)
        if word in ("mod", "imod") and isinstance(left, str):
            for part in right if isinstance(right, tuple) else (right,):
                self.text(part, "%r" in left)
            return left % right
        kinds = {type(left), type(right)}
        if word in ("mul", "imul") and bool in kinds and kinds & {str, list, tuple}:
            self._check_truth("mul")
        if word == "mul" and isinstance(left, (str, list, tuple)) and isinstance(right, Symbol):
            raise self.tracer.refuse(f"{right.what} cannot be a count: {FINITE}")
        with as_python_does():
            try:
                return self.settled(getattr(operator, word)(left, right))
            except ZeroDivisionError:
                if is_many(left) or is_many(right) or of_numpy:
                    raise self.tracer.refuse(
                        "numpy divides by zero here, with an infinite result or nan, which is not supported: "
                        "test the divisor first"
                    ) from None
                getattr(operator, word)(*(_stand_in(value) for value in given))  # raises what Python does
                raise

    def _check_truth(self, word: str) -> None:
        """Checks that a truth is none of numpy, whose sum of two truths is one.

        Raises:
            Refused: it may be one.
        """
        if self.tracer.of_numpy:
            raise self.tracer.refuse(
                f"`{(ARITHMETIC | SIGNS)[word]}` of a comparison may be that of numpy here, which differs "
                "from that of Python: write int(...) of the comparison, or `not`"
            )

    def unary(self, word: str, value: Any) -> Any:
        """Applies `-` or `~`."""
        if type(value) is bool:
            self._check_truth(word)
        return getattr(operator, word)(value)

    def same(self, left: Any, right: Any) -> bool:
        """Tells whether two values are one object, if that is the same in every Python."""
        values = (int, float, Real, Symbol, str, bytes, tuple)
        truths = isinstance(left, bool) and isinstance(right, bool) and not self.tracer.of_numpy
        if isinstance(left, values) and isinstance(right, values) and not truths:
            raise self.tracer.refuse("whether equal values are one object is up to Python: write == for `is`")
        return left is right

    def _in_place(self, word: str, array: Any, right: Any) -> Any:
        """Applies an operator to an array of floats, which other names may share, in place."""
        found = self.binary(word, array, right)
        if any(isinstance(v, Symbol) for v in found.ravel().tolist()):
            raise self.tracer.refuse(
                "noise cannot be kept in an array of floats: write a = a + noise instead of a += noise"
            )
        array[...] = found
        return array

    def _divided(self, value: Any) -> Any:
        if isinstance(value, (bool, int)):
            return self.tracer.real(int(value))
        kind = kind_of(value)
        if kind in ("i", "u", "b") and hasattr(value, "shape"):
            return (
                each(lambda v: self.tracer.real(int(v)), value)
                if value.shape
                else self.tracer.real(int(value))
            )
        if kind == "O":
            return each(lambda v: self.tracer.real(int(v)) if isinstance(v, (bool, int)) else v, value)
        return value

    def ordered(self, value: Any) -> Any:
        """Returns what is gone through, if its order is the same in every run of Python."""
        if isinstance(value, (set, frozenset)) and len(value) > 1 and not all(map(_hashes_alike, value)):
            raise self.tracer.refuse(
                "the order of a set of texts, of decimal numbers or of objects can change from run to run: "
                "sort it, as in sorted(...)"
            )
        return value

    def returned(self, value: Any) -> Any:
        """Returns what a `return` returns, whose place is kept."""
        self.tracer.returns()
        return value

    def text(self, value: Any, as_repr: bool = False) -> Any:
        """Returns what becomes part of a text, if its text is the same in every run of Python."""
        self.ordered(value)
        if isinstance(value, (Real, bool)) and as_repr and self.tracer.of_numpy:
            raise self.tracer.refuse(
                "the text of a list, and repr(...), have numbers of numpy as np.float64(...), which is not "
                "followed: make a text of each number, as in str(x)"
            )
        if is_dataclass(value) and not isinstance(value, type):
            value_parts: Iterable[Any] = [getattr(value, f.name) for f in fields(value)]
        elif isinstance(value, dict):
            value_parts = [*value.keys(), *value.values()]
        else:
            value_parts = value if isinstance(value, (list, tuple, set, frozenset)) else ()
        for part in value_parts:
            self.text(part, True)
        return value

    def settled(self, value: Any) -> Any:
        """Returns a result; an array of floats among whole numbers has only floats, as in numpy."""
        return self.as_floats(value) if holds_floats(value) else value

    def as_floats(self, array: Any) -> Any:
        """Turns the entries of an array of objects that stands for one of floats into floats, in place."""
        import numpy as np

        for index in np.ndindex(array.shape):
            entry = array[index]
            if exact(entry) is None and infinite(entry) is None and not isinstance(entry, Symbol):
                raise self.tracer.refuse(
                    f"an array has floats and {entry!r}, which numpy converts: use a list, or numbers only"
                )
            if is_whole(entry):
                array[index] = _float(self, entry)
        return array

    def _of_one_kind(self, value: Any) -> Any:
        """Returns an argument of numpy; a list of numbers with a float among them is one of floats."""
        numbers = isinstance(value, (list, tuple)) and all(
            _is_plain(v) and not getattr(v, "shape", ()) for v in value
        )
        return [_float(self, v) for v in value] if numbers and has_floats(value) else value

    def entries(self, found: Any) -> Any:
        """Returns what has entries that are changed."""
        return _Entries(found, self) if kind_of(found) == "O" else found

    def spread(self, value: Any) -> Any:
        """Returns what is unpacked, or whose entries are, see `ordered`."""
        for part in value if isinstance(value, (list, tuple)) else ():
            self.ordered(part)
        return self.ordered(value)

    def slice(self, start: Any, stop: Any, step: Any) -> slice:
        """Returns a slice."""
        return slice(start, stop, step)

    def of_attribute(self, found: Any, name: str) -> tuple[Any, Any, bool, Any]:
        """Returns an attribute that is to be changed, with where it is."""
        return found, name, True, self.attribute(found, name)

    def of_entry(self, found: Any, index: Any) -> tuple[Any, Any, bool, Any]:
        """Returns an entry that is to be changed, with where it is."""
        with as_python_does():
            return found, index, False, found[index]

    def change(self, place: tuple[Any, Any, bool, Any], word: str, value: Any) -> None:
        """Changes an attribute or an entry in place."""
        found, where, is_attribute, before = place
        after = self.binary(word, before, value)
        if is_attribute:
            setattr(found, where, after)
        else:
            self.entries(found)[where] = after

    def attribute(self, found: Any, name: str) -> Any:
        """Returns an attribute."""
        if isinstance(found, ModuleType):
            if found.__name__ in ("math", "numpy") and name == "e":
                return self.tracer.real(exponential(Formula.of(1)))
            return getattr(found, name)
        if isinstance(found, (Real, Symbol)):
            return self._of_number(found, name)
        if name in INSIDE:
            raise self.tracer.refuse(f"{name} shows how Python runs the function, which is not followed")
        if name in ("dtype", "itemsize", "nbytes") and holds_symbols(found):
            raise self.tracer.refuse(f"{name} of an array of exact numbers is not supported: do not use it")
        descriptor = getattr(type(found), name, None)
        if isinstance(descriptor, property) and isinstance(descriptor.fget, FunctionType):
            return self.call(descriptor.fget, found)
        value = getattr(found, name)
        # an array is returned itself, because the code may change it
        return self.source(value if getattr(value, "shape", ()) else lifted(value, self.tracer))

    def _note_outside(self, owner: Any) -> None:
        """Notes that a generator was made outside, unless it is one of the libraries' own."""
        import numpy as np

        own = (random._inst, np.random.mtrand._rand)
        known = isinstance(owner, (random.SystemRandom, Source)) or any(owner is one for one in own)
        if owner is not None and not known and laws_of(owner) is not None:
            self.tracer.note(UNPREDICTABLE)

    def source(self, value: Any) -> Any:
        """Returns a generator of random numbers as a source of the tracer; other values as they are."""
        laws = None if isinstance(value, type) else laws_of(value)
        if laws is None:
            return value
        self._note_outside(value)
        return Source(laws, type(value), self.tracer)

    def _of_number(self, found: Real | Symbol, name: str) -> Any:
        if name in ("real", "T"):
            return found
        if name == "imag":
            return 0
        if name in ("shape",):
            return ()
        if name == "item":
            return lambda: found
        if name == "__class__":
            return _type(self, found)
        if name == "as_integer_ratio" and isinstance(found, Real):
            return _binary(found).as_integer_ratio
        if name in ("astype",):
            return lambda kind: self.call(kind, found)
        if name in ("is_integer", "conjugate"):
            return getattr(found, name)
        if hasattr(numpy_float(), name) or hasattr(_type(self, found), name):
            raise self.tracer.refuse(
                f"{name} of {getattr(found, 'what', 'a float')} is not supported: use operators and "
                "comparisons"
            )
        raise AttributeError(f"'float' object has no attribute '{name}'")

    # --- calls -----------------------------------------------------------------------------------------

    def call(self, function: Any, /, *given: Any, **named: Any) -> Any:
        """Calls a function."""
        try:
            return self._called(function, *given, **named)
        except RecursionError:  # which comes later in Python, so the function must not catch it
            raise self.tracer.refuse(
                "the recursion here has no bound, or is too deep: recursion must end after some hundred calls"
            ) from None

    def _called(self, function: Any, /, *given: Any, **named: Any) -> Any:
        if isinstance(function, MethodType) and law_of(function) is None:
            found = function.__self__
            self.world.state.see_class(found if isinstance(found, type) else type(found))
            return self.call(function.__func__, function.__self__, *given, **named)
        law = self._law(function)
        if law is not None:
            self._note_outside(getattr(function, "__self__", None))
            with as_python_does():
                found = law(
                    self.tracer, *self._plain(given), **{k: self._plain((v,))[0] for k, v in named.items()}
                )
            self.tracer.of_numpy = self.tracer.of_numpy or (is_many(found) and hasattr(found, "shape"))
            return found
        if isinstance(function, Blocked):
            return self.call(function.original, *given, **named)
        handler = _handler(function)
        if handler is not None:
            if str(getattr(function, "__module__", "")).partition(".")[0] == "numpy":
                self.tracer.of_numpy = True
            with as_python_does():
                return self.settled(handler(self, *given, **named))
        if isinstance(function, type):
            return self._made(function, given, named)
        if isinstance(function, functools.partial):
            return self.call(function.func, *function.args, *given, **{**function.keywords, **named})
        if isinstance(function, functools._lru_cache_wrapper):
            return self._cached(function, given, named)
        if isinstance(function, FunctionType):
            function = self.world.originals.get(function, function)
            if function.__code__.co_filename.startswith(TRACED):
                return function(*given, **named)
            if self.is_traced(function):
                return self.traced(function)(*given, **named)
        elif isinstance(method_of(function), FunctionType):
            wrapped = getattr(function, "__wrapped__", None)
            if type(function).__module__.startswith("paramverify.") and wrapped is not None:
                return self.call(wrapped, *given, **named)
            return self.call(type(function).__call__, function, *given, **named)
        return self._native(function, given, named)

    def _law(self, function: Any) -> Any:
        return None if isinstance(function, type) else law_of(function)

    def _plain(self, given: Iterable[Any]) -> list[Any]:
        return [lifted(value, self.tracer) for value in given]

    def is_traced(self, function: FunctionType) -> bool:
        """Tells whether a function is the user's, or of a library that is not known."""
        file = function.__code__.co_filename
        top = (function.__module__ or "").partition(".")[0]
        if top in NATIVE or (file.startswith("<") and not has_source(function)):
            return False
        return not file.startswith(STDLIB) or any(part in file for part in SITE)

    def traced(self, function: FunctionType) -> FunctionType:
        """Returns a function of the user as traced code."""
        return self.world.traced(function)

    def _cached(self, function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Calls a cached function, once for the same arguments in a run, as its cache does.

        The cache of a function that stands outside is kept between calls, so it must not keep draws.
        """
        self.check()
        inner = function.__wrapped__
        key = id(function), functools._make_key(given, named, False)
        if key not in self.cached:
            before, kept = len(self.tracer.path), sum(other[0] == id(function) for other in self.cached)
            found = self.call(inner, *given, **named)
            drew = len(self.tracer.path) > before or (holds_symbols(found) and not isinstance(found, Real))
            if drew and not inner.__code__.co_filename.startswith(TRACED):
                reason = "is cached and draws: later calls would return the same draw; remove the cache"
                raise self.tracer.refuse(f"{inner.__name__} {reason}")
            most = function.cache_parameters()["maxsize"]
            if drew and most is not None and kept >= most:
                raise self.tracer.refuse(
                    f"the cache of {inner.__name__} is too small for its draws: use maxsize=None"
                )
            outside = not inner.__code__.co_filename.startswith(TRACED) and not holds_symbols(found)
            self.cached[key] = found, fingerprint(found) if outside else None
        return self.cached[key][0]

    def check(self) -> None:
        """Checks that results of cached functions and default arguments did not change.

        Raises:
            Refused: one did, so that later calls return something else.
        """
        for name, default, before in self.defaults:
            if fingerprint(default) != before:
                raise self.tracer.refuse(
                    f"a call of {name} changes the default of an argument, so later calls differ from the "
                    "first one: make it inside"
                )
        for found, before in self.cached.values():
            if before is not None and fingerprint(found) != before:
                raise self.tracer.refuse("the result of a cached function is changed: change a copy of it")

    def _made(self, kind: type, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Returns a new object of a class."""
        self.world.follow(kind)
        laws = _laws_of_kind(kind)
        if laws is not None:
            if any(value is not None for value in (*given, *named.values())) and not any(
                isinstance(v, Source) for v in given
            ):
                raise self.tracer.refuse(SEED.format(kind.__name__))
            return Source(laws, kind, self.tracer)
        if (
            kind.__module__.partition(".")[0] in ("builtins", *NATIVE)
            or type(kind).__call__ is not type.__call__
        ):
            return self._native(kind, given, named)
        self.world.state.see_class(kind)
        creator: Any = kind.__new__
        if creator is object.__new__:
            made: Any = object.__new__(kind)
        elif isinstance(creator, FunctionType) and self.is_traced(creator):
            made = self.call(creator, kind, *given, **named)
        else:
            made = creator(kind, *given, **named)
        if isinstance(made, kind):
            start = type(made).__init__
            if isinstance(start, FunctionType):
                self.call(start, made, *given, **named)
            elif start is not object.__init__:
                start(made, *given, **named)
        return made

    def _native(self, function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Calls a function as it is; functions of the user among its arguments run as traced code."""
        self._check_known(function)
        owner = getattr(function, "__self__", None)
        of_set = isinstance(owner, (set, frozenset)) and function.__name__ != "pop"
        keyed = named.get("key") not in (None, str, repr)  # equal keys would leave the order of the set
        if (function not in ORDERLESS or keyed) and not of_set:
            for value in (*given, *named.values(), owner):
                self.ordered(value)
        if function in TEXTS or isinstance(owner, str):
            for value in (*given, *named.values()):
                self.text(value, function in (repr, ascii) or (isinstance(owner, str) and "!r" in owner))
        inner = getattr(function, "__wrapped__", None)
        if isinstance(function, FunctionType) and isinstance(inner, FunctionType):
            check_no_draws(inner)

        def ready(value: Any) -> Any:
            if isinstance(value, FunctionType) and not value.__code__.co_filename.startswith(TRACED):
                return functools.partial(self.call, value) if self.is_traced(value) else value
            if isinstance(value, MethodType) and isinstance(value.__func__, FunctionType):
                return functools.partial(self.call, value)
            if isinstance(value, Blocked):
                return functools.partial(self.call, value)
            if callable(value) and not isinstance(value, type) and law_of(value) is not None:
                return functools.partial(self.call, value)
            return value

        if str(getattr(function, "__module__", "")).partition(".")[0] == "numpy":
            given = tuple(self._of_one_kind(value) for value in given)
        floats = [value for value in (*given, *named.values(), owner) if holds_floats(value)]
        follows = not any(map(holds_symbols, (*given, *named.values())))
        with as_python_does(Inserted._native.__code__) if follows else nullcontext():
            try:
                found = function(*map(ready, given), **{name: ready(value) for name, value in named.items()})
            except (TypeError, AttributeError) as error:
                if follows:
                    raise
                name = getattr(function, "__name__", str(function))
                raise self.tracer.refuse(
                    f"{name} is not supported for these numbers ({error}): use operators and comparisons"
                ) from None
        for array in floats:
            self.as_floats(array)
        new = getattr(function, "__module__", "") == "numpy" and function.__name__ in NEW_ARRAYS
        return lifted(found, self.tracer) if new else self.settled(found)

    def _check_known(self, function: Any) -> None:
        reason = self.unknown(function)
        if reason:
            raise self.tracer.refuse(reason)

    def unknown(self, function: Any) -> str:
        """Returns why a function may not run as it is; "" if it may."""
        owner = getattr(function, "__self__", None)
        if isinstance(owner, ModuleType):
            module: Any = owner.__name__
        elif owner is not None and not isinstance(function, type):
            module = type(owner).__module__ if not isinstance(owner, type) else owner.__module__
        else:
            module = getattr(function, "__module__", None) or type(function).__module__
        top = str(module).partition(".")[0]
        top = "os" if top == os.name else top  # where the functions of `os` come from
        if isinstance(function, FunctionType) and not self.is_traced(function):
            file = function.__code__.co_filename
            if file.startswith("<") or top in KNOWN or top == "paramverify":
                return ""
        if isinstance(owner, (Real, Symbol, Source)) or top in KNOWN or top in self.world.deterministic:
            return ""
        if top in ("random", "secrets", "os", "time", "uuid", "datetime"):
            name = getattr(function, "__name__", str(function))
            reason = "is not supported, because its result changes from run to run: pass it as an argument"
            return f"{top}.{name} {reason}"
        if isinstance(function, type) or (top in sys.modules and self.world.is_users(top)):
            return ""
        name = f"{module}.{getattr(function, '__qualname__', function)}"
        return (
            f"{name} is not known: if it always returns the same for the same arguments, add "
            f'deterministic=["{top}"]'
        )

    def always_refused(self, function: Any) -> str:
        """Returns why each call of a function is refused; "" if some are not, or it runs as traced code."""
        law = self._law(function)
        if law is not None:
            return law.reason if isinstance(law, NoLaw) else ""
        if function in (id, input):
            return CHANGING[function]
        traced = (isinstance(function, FunctionType) and self.is_traced(function)) or isinstance(
            function, (type, MethodType, functools.partial, functools._lru_cache_wrapper)
        )
        if traced or _handler(function) is not None or isinstance(method_of(function), FunctionType):
            return ""
        return self.unknown(function)


def has_source(function: FunctionType) -> bool:
    """Tells whether the text of a function can be read, as in a file, a notebook or a doctest."""
    try:
        inspect.findsource(function)
    except (OSError, TypeError, IndexError):
        return False
    return True


def method_of(function: Any) -> Any:
    """Returns the method that a call of an object calls; None if it has none."""
    return next((vars(kind)["__call__"] for kind in type(function).__mro__ if "__call__" in vars(kind)), None)


def _laws_of_kind(kind: type) -> Mapping[str, Law] | None:
    """Returns the laws of the objects of a class; None if they are no generators of random numbers."""
    if kind.__module__.startswith("numpy.random") and hasattr(kind, "random_raw"):
        return OF_NUMPY  # what draws the bits of a generator, such as PCG64
    return next(
        (OF_PYTHON if c.__module__ == "random" else OF_NUMPY for c in kind.__mro__ if _generates(c)), None
    )


def makes_generators(function: Any) -> bool:
    """Tells whether a function or a class returns a generator of random numbers."""
    import numpy as np

    return function is np.random.default_rng or (
        isinstance(function, type) and _laws_of_kind(function) is not None
    )


def _generates(kind: type) -> bool:
    return (kind.__module__, kind.__name__) in (
        ("random", "Random"),
        ("_random", "Random"),
        ("numpy.random._generator", "Generator"),
        ("numpy.random.mtrand", "RandomState"),
    )


class Blocked:
    """A random function of a library while code is traced: code that is not traced must not draw."""

    def __init__(self, original: Any, world: World) -> None:
        self.original = original
        self.world = world
        self.__name__ = getattr(original, "__name__", "random function")

    def __call__(self, *given: Any, **named: Any) -> Any:
        raise self.world.inserted.tracer.refuse(
            f"{self.__name__} is called from code that paramverify cannot follow: call it in the "
            "function itself"
        )


class World:
    """What the runs of one function share: its traced parts, and the state outside of them."""

    def __init__(self, deterministic: Iterable[str] = ()) -> None:
        _handlers()  # before any of these functions is replaced
        self.deterministic = frozenset(deterministic)
        self.functions: dict[int, FunctionType] = {}
        self.state = State()
        self.inserted: Inserted
        self._made: dict[int, FunctionType] = {}
        self._injected: list[dict[str, Any]] = []
        self.followed: set[type] = set()
        self.originals: dict[FunctionType, FunctionType] = {}  # by what stands for a method
        self._replaced: list[tuple[type, str, Any]] = []

    def begin(self, tracer: Tracer) -> Inserted:
        """Starts a run."""
        self.inserted = Inserted(tracer, self)
        self._made = {}
        for names in self._injected:
            names[HELPER] = self.inserted
        return self.inserted

    def traced(self, function: FunctionType) -> FunctionType:
        """Returns a function as traced code of this run, with defaults of its own."""
        key = id(function)
        if key not in self._made:
            import copy

            if key not in self.functions:
                self.functions[key] = function
                self.state.see(function)
            names = function.__globals__
            for name in names.keys() & set(function.__code__.co_names):
                self.follow(names[name] if isinstance(names[name], type) else type(names[name]))
            if HELPER not in names:
                self._injected.append(names)
            names[HELPER] = self.inserted
            tracer = self.inserted.tracer
            positional = copy.deepcopy(function.__defaults__)
            named = copy.deepcopy(function.__kwdefaults__ or {})
            defaults = *(positional or ()), *named.values()
            self.inserted.defaults += [(function.__name__, v, fingerprint(v)) for v in defaults]
            self._made[key] = traced_function(
                function,
                {
                    "positional": positional and tuple(lifted(v, tracer) for v in positional),
                    "keyword": {k: lifted(v, tracer) for k, v in named.items()},
                },
            )
        return self._made[key]

    def follow(self, kind: type) -> None:
        """Lets Python call the methods of a user's class as traced code, such as those of operators."""
        for one in kind.__mro__:
            if one in self.followed:
                continue
            self.followed.add(one)
            if type(one) not in (type, ABCMeta) or one.__module__.partition(".")[0] in (
                "builtins",
                *NATIVE,
                *KNOWN,
            ):
                continue
            for name, found in list(vars(one).items()):
                made: Any = found
                if isinstance(found, FunctionType):
                    made = self._standing(found)
                elif type(found) is property:
                    given: tuple[Any, ...] = (found.fget, found.fset, found.fdel)
                    get, put, remove = (
                        self._standing(p) if isinstance(p, FunctionType) else p for p in given
                    )
                    made = property(get, put, remove)
                elif isinstance(found, functools.cached_property) and isinstance(found.func, FunctionType):
                    made = functools.cached_property(self._standing(found.func))
                    made.__set_name__(one, name)
                if made is not found and name != "__del__":
                    setattr(one, name, made)
                    self._replaced.append((one, name, found))

    def _standing(self, function: FunctionType) -> FunctionType:
        """Returns what stands for a method, and calls it as traced code; a method of a library stays."""
        if not self.inserted.is_traced(function):
            return function

        @functools.wraps(function)
        def standing(*given: Any, **named: Any) -> Any:
            return self.inserted.call(function, *given, **named)

        made: Any = standing
        self.originals[made] = function
        return cast(FunctionType, made)

    def end(self) -> None:
        """Takes the helper out of the modules again."""
        for kind, name, found in reversed(self._replaced):
            setattr(kind, name, found)
        self._replaced, self.followed, self.originals = [], set(), {}
        for names in self._injected:
            names.pop(HELPER, None)
        self._injected = []

    def is_users(self, top: str) -> bool:
        """Tells whether a module is one of the traced functions."""
        return any((f.__module__ or "").partition(".")[0] == top for f in self.functions.values())


# --- functions with a meaning of their own for exact numbers ----------------------------------------

Handler = Callable[..., Any]


def _isinstance(here: Inserted, value: Any, kinds: Any) -> bool:
    if isinstance(value, Source):
        return issubclass(value.stands_for, kinds)
    if isinstance(value, Real):
        if issubclass(float, kinds) != issubclass(numpy_float(), kinds):
            raise here.tracer.refuse("whether a float is one of numpy is not followed: test for float")
        return issubclass(float, kinds)
    if type(value) is bool and here.tracer.of_numpy:
        _check_truth_type(here, isinstance(value, kinds) != issubclass(numpy_truth(), kinds))
    if isinstance(value, Symbol):
        return issubclass(int if isinstance(value, Noisy) and value.whole else float, kinds)
    return isinstance(value, kinds)


def _check_truth_type(here: Inserted, differs: bool) -> None:
    if differs:
        raise here.tracer.refuse(
            "the type of a truth may be that of numpy here, which is not followed: leave the test out"
        )


def _hasattr(here: Inserted, found: Any, name: str) -> bool:
    if isinstance(found, (Real, Symbol)):
        if hasattr(float, name) != hasattr(numpy_float(), name):
            raise here.tracer.refuse(
                f"whether a number has the attribute {name} is not followed: test its type with isinstance"
            )
        return hasattr(float, name)
    return hasattr(found, name)


def _type(here: Inserted, *given: Any) -> Any:
    if len(given) == 1:
        if isinstance(given[0], Source):
            return given[0].stands_for
        _check_truth_type(here, type(given[0]) is bool and here.tracer.of_numpy)
        if isinstance(given[0], Real):
            return float
        if isinstance(given[0], Symbol):
            return int if isinstance(given[0], Noisy) and given[0].whole else float
        return type(given[0])
    raise here.tracer.refuse(
        "type(...) with three arguments makes a class, which is not supported: write class at the top of the "
        "file"
    )


def _float(here: Inserted, value: Any = 0) -> Any:
    if isinstance(value, Noisy):
        return Noisy(value.tracer, value.constant, value.terms, value.discrete, False)
    if isinstance(value, (Real, Symbol)):
        return value
    if isinstance(value, (bool, int)):
        return here.tracer.real(int(value))
    if isinstance(value, Fraction):
        return here.tracer.real(value)
    return lifted(float(value), here.tracer)


def _int(here: Inserted, *given: Any, **named: Any) -> Any:
    if len(given) == 1 and isinstance(given[0], (Real, Symbol)):
        return math.trunc(given[0])  # type: ignore[arg-type]
    return int(*given, **named)


def _numpy_int(kind: Callable[..., Any]) -> Handler:
    def one(here: Inserted, value: Any = 0) -> Any:
        found = each(lambda v: _int(here, v), value) if is_many(value) else _int(here, value)
        return found if holds_symbols(found) else kind(found)  # which wraps around, as in numpy

    return one


def _print(here: Inserted, *given: Any, **named: Any) -> None:
    here.tracer.note("what print writes is not part of the output")


def _hash(here: Inserted, value: Any) -> Any:
    if not _hashes_alike(value):
        raise here.tracer.refuse("hash(...) of a text or an object changes from run to run: use hashlib")
    return hash(value)


CHANGING: Mapping[Any, str] = {
    id: "id(...) changes from run to run: compare with `is`",
    input: "input(...) reads what is no argument: make it an argument",
}


def _changing(function: Any) -> Handler:
    def handler(here: Inserted, *given: Any) -> Any:
        raise here.tracer.refuse(CHANGING[function])

    return handler


def _elementwise(one: Callable[[Inserted, Any], Any]) -> Handler:
    def handler(here: Inserted, x: Any, *, out: Any = None, where: Any = True, **named: Any) -> Any:
        if out is not None or where is not True or named:
            raise here.tracer.refuse("the arguments out and where are not supported here: use the result")
        if is_many(x):
            return each(lambda v: one(here, lifted(v, here.tracer)), x)
        return one(here, lifted(x, here.tracer))

    return handler


def _number(here: Inserted, value: Any, what: str) -> Real:
    found = exact(value)
    if found is None:
        if isinstance(value, Symbol):
            raise here.tracer.refuse(f"{what} of {value.what} is not supported: compare the number itself")
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return here.tracer.real(found)


def _exp(here: Inserted, value: Any) -> Any:
    if isinstance(value, float):  # infinite
        return math.exp(value)
    if isinstance(value, Continuous):
        return value.exp()
    number = _number(here, value, "exp")
    plain = number.formula.number
    if plain is not None and plain > 709:
        raise here.tracer.refuse(f"exp({plain}) overflows, which is not supported: limit its argument")
    return number.exp()


def _log(here: Inserted, value: Any) -> Any:
    if isinstance(value, Continuous):
        return value.log()
    if isinstance(value, float):
        return math.log(value)
    number = _number(here, value, "log")
    if here.tracer.signs(number.formula) <= 0:
        raise ValueError("math domain error")
    return here.tracer.real(natural_logarithm(number.formula))


def _numpy_log(here: Inserted, value: Any) -> Any:
    if not isinstance(value, Symbol) and not value > 0:
        raise here.tracer.refuse(
            "numpy.log of a number that is not positive is infinite or nan, which is not supported: "
            "test the number first"
        )
    return _log(here, value)


def _math_log(here: Inserted, value: Any, base: Any = None) -> Any:
    if base is None:
        return _log(here, value)
    return _in_base(here, value, base)


def _in_base(here: Inserted, value: Any, base: Any) -> Any:
    number, base_number = exact(value), exact(base)
    if number is not None and base_number is not None:
        plain, root = number.number, base_number.number
        if plain is not None and root is not None and plain > 0 and root > 1:
            count = round(math.log(plain, root))
            if root**count == plain:
                return here.tracer.real(count)
    raise here.tracer.refuse(
        "a logarithm with a base is supported only if it is a whole number: write the decimal number "
        "that you "
        "need"
    )


def _turned(name: str) -> Callable[[Inserted, Any], Any]:
    """Returns the cosine or the sine: of 0, or of a draw."""

    def one(here: Inserted, value: Any) -> Any:
        if isinstance(value, UniformDraw):
            return getattr(value, name)()
        number = _number(here, value, name)
        if number.formula.above:
            raise here.tracer.refuse(
                f"{name}({number.formula.text}) has no exact value here: write the decimal number"
            )
        return here.tracer.real(1 if name == "cos" else 0)

    return one


def _sqrt(here: Inserted, value: Any) -> Any:
    if isinstance(value, Continuous):
        return value.sqrt()
    number = _number(here, value, "sqrt")
    if here.tracer.signs(number.formula) < 0:
        raise ValueError("math domain error")
    return number.sqrt()


def _log1p(here: Inserted, value: Any) -> Any:
    return _log(here, 1 + value)


def _expm1(here: Inserted, value: Any) -> Any:
    return _exp(here, value) - 1


def _power(here: Inserted, base: Any, power: Any) -> Any:
    left, right = exact(base), exact(power)
    if left is None or right is None:
        return here.binary("pow", base, power)
    return here.tracer.real(powered(left, right))


def _numpy_power(here: Inserted, base: Any, power: Any) -> Any:
    import numpy as np

    if not holds_symbols([base, power]) and all(np.asarray(v).dtype.kind in "iub" for v in (base, power)):
        return np.power(base, power)
    if is_many(base):
        return each(lambda v: _power(here, v, power), base)
    return each(lambda v: _power(here, base, v), power) if is_many(power) else _power(here, base, power)


def _rounding(name: str) -> Callable[[Inserted, Any], Any]:
    import numpy as np

    def one(here: Inserted, value: Any) -> Any:
        if isinstance(value, (Real, Symbol)):
            found = getattr(value, f"__{name}__")()
            return _float(here, found)
        return lifted(getattr(np, "rint" if name == "round" else name)(value), here.tracer)

    return one


def _numpy_round(here: Inserted, a: Any, decimals: int = 0, out: Any = None) -> Any:
    def one(value: Any) -> Any:
        value = lifted(value, here.tracer)
        if isinstance(value, int):
            return round(value, decimals) if decimals < 0 else value
        return _float(here, value.__round__(decimals or None))

    return each(one, a) if is_many(a) else one(a)


def _sign(here: Inserted, value: Any) -> Any:
    found = 1 if value > 0 else -1 if value < 0 else 0
    return found if isinstance(value, int) else here.tracer.real(found)


def _is_special(test: Callable[[float], bool]) -> Callable[[Inserted, Any], bool]:
    def one(here: Inserted, value: Any) -> bool:
        return test(0.0) if isinstance(value, (Real, Symbol)) else test(value)

    return one


def _isclose(
    here: Inserted, a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> Any:
    tolerance = lifted(rtol, here.tracer), lifted(atol, here.tracer)
    if is_many(a) or is_many(b):
        import numpy as np

        left, right = np.broadcast_arrays(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
        pairs = zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)
        return np.array([_isclose(here, x, y, *tolerance) for x, y in pairs], dtype=bool).reshape(left.shape)
    difference = lifted(a, here.tracer) - lifted(b, here.tracer)
    bound = tolerance[1] + tolerance[0] * abs(lifted(b, here.tracer))
    return bool(-bound <= difference) and bool(difference <= bound)


def _math_isclose(here: Inserted, a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> bool:
    relative, absolute = lifted(rel_tol, here.tracer), lifted(abs_tol, here.tracer)
    left, right = lifted(a, here.tracer), lifted(b, here.tracer)
    return bool(abs(left - right) <= max(relative * max(abs(left), abs(right)), absolute))


def _clip(here: Inserted, a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **named: Any) -> Any:
    if out is not None:
        raise here.tracer.refuse("the argument out is not supported: use the result")
    least = named.get("min", a_min)
    largest = named.get("max", a_max)

    floats = any(has_floats(v) for v in (a, least, largest))

    def one(value: Any) -> Any:
        value = lifted(value, here.tracer)
        if least is not None:
            value = max(value, lifted(least, here.tracer))
        value = value if largest is None else min(value, lifted(largest, here.tracer))
        return _float(here, value) if floats else value

    return each(one, a) if is_many(a) else one(a)


def has_floats(value: Any) -> bool:
    """Tells whether numpy makes floats of a number or of an array or list of numbers."""
    if is_many(value):
        import numpy as np

        return kind_of(value) == "f" or any(map(has_floats, np.asarray(value, dtype=object).ravel().tolist()))
    return isinstance(value, (float, Real, Symbol)) and not is_whole(value)


def _array(here: Inserted, values: Any, dtype: Any = None, **named: Any) -> Any:
    import numpy as np

    if holds_symbols(values):
        kind = np.dtype(dtype or np.float64)  # that of whole numbers with noise is not known
        made = np.array(values, dtype=object)
        if dtype is None:
            return here.settled(made)
        if kind == np.float64:
            return each(lambda v: _float(here, v), made)
        if kind == np.int64:
            return each(lambda v: _int(here, v), made)
        raise here.tracer.refuse(f"an array of {kind} of exact numbers is not supported: leave out the dtype")
    return np.array(values, dtype=dtype, **named)


def _of_floats(function: Callable[..., Any]) -> Handler:
    """Handles a function whose result has floats if an argument has."""

    def handler(here: Inserted, *given: Any, **named: Any) -> Any:
        found = here._native(function, given, named)
        several = (function.__name__ != "where" or len(given) == 3) and "dtype" not in named
        if several and any(map(has_floats, (*given, *named.values()))):
            return each(lambda v: _float(here, v), found)
        return found

    return handler


def _asarray(here: Inserted, values: Any, dtype: Any = None, **named: Any) -> Any:
    if dtype is None and hasattr(values, "dtype") and is_many(values):
        return values  # no copy
    return _array(here, values, dtype, **named)


def _searchsorted(here: Inserted, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    import numpy as np

    if sorter is not None or is_many(v):
        raise here.tracer.refuse(
            "searchsorted is supported for one number and without a sorter: call it for each number"
        )
    for k, entry in enumerate(list(a)):
        entry = lifted(entry, here.tracer)
        if (v <= entry) if side == "left" else (v < entry):
            return np.int64(k)
    return np.int64(len(a))


def _fsum(here: Inserted, values: Iterable[Any]) -> Any:
    return _float(here, sum(lifted(v, here.tracer) for v in values))


def _default_rng(here: Inserted, seed: Any = None) -> Any:
    import numpy as np

    if isinstance(seed, Source):
        return seed
    if seed is not None:
        if laws_of(seed) is not None:
            return here.source(seed)
        raise here.tracer.refuse(SEED.format("default_rng"))
    return Source(OF_NUMPY, np.random.Generator, here.tracer)


def _getattr(here: Inserted, found: Any, name: str, *default: Any) -> Any:
    try:
        return here.attribute(found, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def _binary(value: Any) -> Any:
    """Returns an exact number as a fraction if a float has exactly this value; others as they are."""
    if not isinstance(value, Real):
        return value
    number = value.formula.number
    if number is None or number.denominator.bit_count() > 1:
        raise Refused(
            f"the float {value.formula.text} is another fraction in Python, with a power of two below: make "
            "it of whole numbers or of a text"
        )
    return number


def _as_decimal(value: Any) -> Any:
    return Decimal.from_float(float(_binary(value))) if isinstance(value, Real) else value


def _as_numpy(function: Callable[..., Any], handler: Handler) -> Handler:
    """Handles a function that is exact on whole numbers: there as it is, with the types of numpy."""

    def either(here: Inserted, *given: Any, **named: Any) -> Any:
        if any(has_floats(v) or holds_symbols(v) for v in (*given, *named.values())):
            return handler(here, *given, **named)
        return lifted(function(*given, **named), here.tracer)

    return either


def _divmod(here: Inserted, left: Any, right: Any) -> Any:
    try:
        return divmod(lifted(left, here.tracer), lifted(right, here.tracer))
    except ZeroDivisionError:
        divmod(_stand_in(left), _stand_in(right))  # raises what Python does
        raise


@functools.lru_cache(maxsize=1)
def _handlers() -> Mapping[int, Handler]:
    import numpy as np

    found: list[tuple[Any, Handler]] = [
        (isinstance, _isinstance),
        (type, _type),
        (float, _float),
        (int, _int),
        (print, _print),
        (hash, _hash),
        (divmod, _divmod),
        (hasattr, _hasattr),
        *((function, _changing(function)) for function in CHANGING),
        (
            pow,
            lambda here, base, exp, mod=None: (
                here.binary("pow", base, exp) if mod is None else pow(base, exp, mod)
            ),
        ),
        (getattr, _getattr),
        (math.exp, lambda here, x: _exp(here, lifted(x, here.tracer))),
        (math.log, lambda here, x, *base: _math_log(here, lifted(x, here.tracer), *base)),
        (math.log2, lambda here, x: _in_base(here, x, 2)),
        (math.log10, lambda here, x: _in_base(here, x, 10)),
        (math.log1p, lambda here, x: _log1p(here, lifted(x, here.tracer))),
        (math.expm1, lambda here, x: _expm1(here, lifted(x, here.tracer))),
        (math.sqrt, lambda here, x: _sqrt(here, lifted(x, here.tracer))),
        (math.cos, lambda here, x: _turned("cos")(here, lifted(x, here.tracer))),
        (math.sin, lambda here, x: _turned("sin")(here, lifted(x, here.tracer))),
        (math.pow, lambda here, x, y: _power(here, lifted(x, here.tracer), lifted(y, here.tracer))),
        (math.fabs, lambda here, x: _float(here, abs(lifted(x, here.tracer)))),
        (math.fsum, _fsum),
        (math.floor, lambda here, x: math.floor(lifted(x, here.tracer))),
        (math.ceil, lambda here, x: math.ceil(lifted(x, here.tracer))),
        (math.trunc, lambda here, x: math.trunc(lifted(x, here.tracer))),
        (math.isclose, _math_isclose),
        (math.isnan, _elementwise(_is_special(math.isnan))),
        (math.isinf, _elementwise(_is_special(math.isinf))),
        (math.isfinite, _elementwise(_is_special(math.isfinite))),
        (np.isnan, _elementwise(_is_special(math.isnan))),
        (np.isinf, _elementwise(_is_special(math.isinf))),
        (np.isfinite, _elementwise(_is_special(math.isfinite))),
        (np.isclose, _isclose),
        (np.allclose, lambda here, *given, **named: bool(np.all(_isclose(here, *given, **named)))),
        (np.exp, _elementwise(_exp)),
        (np.log, _elementwise(_numpy_log)),
        (np.log1p, _elementwise(lambda here, x: _numpy_log(here, 1 + x))),
        (np.expm1, _elementwise(_expm1)),
        (np.log2, _elementwise(lambda here, x: _in_base(here, x, 2))),
        (np.sqrt, _elementwise(_sqrt)),
        (np.cos, _elementwise(_turned("cos"))),
        (np.sin, _elementwise(_turned("sin"))),
        (np.floor, _elementwise(_rounding("floor"))),
        (np.ceil, _elementwise(_rounding("ceil"))),
        (np.trunc, _elementwise(_rounding("trunc"))),
        (np.rint, _elementwise(_rounding("round"))),
        (np.round, _numpy_round),
        (np.around, _numpy_round),
        (np.sign, _as_numpy(np.sign, _elementwise(_sign))),
        (np.abs, _as_numpy(np.abs, _elementwise(lambda here, x: abs(x)))),
        (np.fabs, _elementwise(lambda here, x: _float(here, abs(x)))),
        (np.power, _numpy_power),
        (np.float_power, _numpy_power),
        (np.square, _as_numpy(np.square, _elementwise(lambda here, x: x * x))),
        (np.clip, _as_numpy(np.clip, _clip)),
        (np.array, _array),
        (np.asarray, _asarray),
        *((f, _of_floats(f)) for f in (np.where, np.arange, np.zeros_like, np.ones_like, np.full_like)),
        (Fraction, lambda here, *given: Fraction(*map(_binary, given))),
        (Decimal, lambda here, *given: Decimal(*(_as_decimal(v) for v in given[:1]), *given[1:])),
        (np.searchsorted, _as_numpy(np.searchsorted, _searchsorted)),
        (np.maximum, _as_numpy(np.maximum, lambda here, a, b: _pairwise(here, max, a, b))),
        (np.minimum, _as_numpy(np.minimum, lambda here, a, b: _pairwise(here, min, a, b))),
        (np.cumsum, lambda here, a, **named: np.cumsum(lifted(np.asarray(a), here.tracer), **named)),
        (np.sum, lambda here, a, **named: np.sum(lifted(np.asarray(a), here.tracer), **named)),
        (
            np.mean,
            lambda here, a: here.binary("truediv", np.sum(lifted(np.asarray(a), here.tracer)), np.size(a)),
        ),
        (np.float64, _float),
        (np.int64, _numpy_int(np.int64)),
        (np.int32, _numpy_int(np.int32)),
        (np.random.default_rng, _default_rng),
    ]
    return {id(function): handler for function, handler in found}


def _pairwise(here: Inserted, one: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    import numpy as np

    floats = has_floats(a) or has_floats(b)
    a, b = lifted(a, here.tracer), lifted(b, here.tracer)
    if not is_many(a) and not is_many(b):
        return _float(here, one(a, b)) if floats else one(a, b)
    left, right = np.broadcast_arrays(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
    made = np.empty(left.size, dtype=object)
    for k, (x, y) in enumerate(zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)):
        made[k] = _float(here, one(x, y)) if floats else one(x, y)
    return each(lambda v: v, made.reshape(left.shape))


def _handler(function: Any) -> Handler | None:
    found = _handlers().get(id(function))
    if found is not None:
        return found
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(function, BuiltinFunctionType) and owner is not None and type(owner).__name__ == "ndarray":
        if name == "astype":
            return lambda here, kind, **named: _astype(here, owner, kind, **named)
        if name in ("round",):
            return lambda here, decimals=0: _numpy_round(here, owner, decimals)
        if name in ("mean",):
            return lambda here: here.binary("truediv", lifted(owner, here.tracer).sum(), owner.size)
        if name in ("sum", "cumsum"):
            return lambda here, **named: getattr(lifted(owner, here.tracer), name)(**named)
        if name in ("clip",):
            return lambda here, *given, **named: _clip(here, owner, *given, **named)
    return None


def _astype(here: Inserted, array: Any, kind: Any, **named: Any) -> Any:
    import numpy as np

    if kind in (float, np.float64, "float") and array.dtype.kind in "Oiub":
        return each(lambda v: _float(here, v), array)
    if array.dtype.kind == "O" and kind in (int, np.int64, "int"):
        return each(lambda v: _int(here, v), array)
    return array.astype(kind, **named)
