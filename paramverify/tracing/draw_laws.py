"""The laws of the random functions of Python, numpy and scipy, as choices and noise of a tracer.

Each function takes the arguments that its library gives it, and draws with the law that the documentation of
the library states, in real numbers: a random double is a uniform real number.
"""

from __future__ import annotations

import inspect
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb
from operator import index
from typing import Any

from paramverify.tracing.formulas import Formula, Real, exact
from paramverify.tracing.noise_values import Noisy, Symbol, UniformDraw, UniformState
from paramverify.tracing.tracer import Tracer

Law = Callable[..., Any]
ONE = Formula.of(1)
MOST_VALUES = 1_000  # of one draw


def _formula(tracer: Tracer, value: Any, what: str) -> Formula:
    found = exact(value)
    if found is None:
        if isinstance(value, Symbol):
            raise tracer.refuse(f"{what} depends on noise, which is not supported: compute it without noise")
        raise TypeError(f"{what} must be a number, not {type(value).__name__}")
    return found


def _share(tracer: Tracer, value: Any) -> Formula:
    """Returns a probability; those with parameters are left to the reader of the program."""
    found = _formula(tracer, value, "p")
    if not found.names and (tracer.signs(found) < 0 or tracer.signs(found - ONE) > 0):
        raise ValueError("p < 0, p > 1 or p is NaN")
    return found


def is_index(value: Any) -> bool:
    """Tells whether a value is a whole number, and no array."""
    return hasattr(value, "__index__") and not getattr(value, "shape", ())


def pick(tracer: Tracer, count: int) -> int:
    """Draws a whole number from 0 to count - 1, each with the same probability."""
    if count > MOST_VALUES:
        raise tracer.refuse(
            f"a draw among {count} values is not supported: draw from at most {MOST_VALUES:,} values"
        )
    share = Formula.of(Fraction(1, count))
    return tracer.choose([share] * count, [f"value {k} of {count}" for k in range(count)])


def uniform_real(tracer: Tracer) -> UniformDraw:
    """Draws a uniform real number on [0, 1)."""
    return UniformDraw(tracer, {UniformState(): ONE}, Formula.of(0))


def _from(tracer: Tracer, low: Any, high: Any) -> Any:
    return low + (high - low) * uniform_real(tracer)


def _integer(tracer: Tracer, low: int, high: int) -> int:
    """Draws a whole number from low to high, both included."""
    low, high = _whole(tracer, low), _whole(tracer, high)
    if high < low:
        raise ValueError("empty range for a random whole number")
    return low + pick(tracer, high - low + 1)


def _whole(tracer: Tracer, value: Any) -> int:
    """Returns a whole number, which may be a float as in randint(0, 3.0)."""
    number = value.formula.number if isinstance(value, Real) else None
    if number is not None and number.denominator == 1:
        return int(number)
    if isinstance(value, Real):
        raise tracer.refuse("a bound of a random whole number is not whole: round it first")
    return index(value)


def _python_integer(tracer: Tracer, a: Any, b: Any) -> int:
    """Draws a whole number; bounds that are floats are an error from Python 3.12 on."""
    if isinstance(a, Real) or isinstance(b, Real):
        if sys.version_info >= (3, 12):
            raise TypeError("'float' object cannot be interpreted as an integer")
        tracer.note("randint has bounds that are floats, which is an error from Python 3.12 on")
    elif index(b) < index(a):
        random.Random().randint(a, b)  # raises the exception with the text of Python, which has the numbers
    return _integer(tracer, a, b)


def _randrange(tracer: Tracer, start: int, stop: int | None = None, step: int = 1) -> int:
    values = range(start) if stop is None else range(start, stop, step)
    if not values:
        random.Random().randrange(start, stop, step)  # raises, see `_randint`
    return values[pick(tracer, len(values))]


def _randbelow(tracer: Tracer, count: int) -> int:
    if index(count) <= 0:
        raise ValueError("Upper bound must be positive.")
    return pick(tracer, index(count))


def _choice(tracer: Tracer, seq: Sequence[Any]) -> Any:
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return seq[pick(tracer, len(seq))]


def weighted(tracer: Tracer, weights: Iterable[Any], words: Sequence[str]) -> int:
    """Draws an index with probabilities in proportion to weights."""
    found = [_formula(tracer, w, "a weight") for w in weights]
    total = Formula.of(0)
    for weight in found:
        if not weight.names and tracer.signs(weight) < 0:
            raise tracer.refuse(f"a weight is negative, {weight.text}, which gives no law: make it 0 or more")
        total = total + weight
    if not total.above:
        raise ValueError("Total of weights must be greater than zero")
    return tracer.choose([w / total for w in found], words)


def _choices(
    tracer: Tracer,
    population: Sequence[Any],
    weights: Sequence[Any] | None = None,
    *,
    cum_weights: Sequence[Any] | None = None,
    k: int = 1,
) -> list[Any]:
    if cum_weights is not None:
        if weights is not None:
            raise TypeError("Cannot specify both weights and cumulative weights")
        weights = [b - a for a, b in zip([0, *cum_weights], cum_weights, strict=False)]
    words = [repr(v) for v in population]
    if weights is None:
        if not len(population):
            raise IndexError("list index out of range")
        return [population[pick(tracer, len(population))] for _ in range(k)]
    if len(weights) != len(population):
        raise ValueError("The number of weights does not match the population")
    return [population[weighted(tracer, weights, words)] for _ in range(k)]


def _sample(tracer: Tracer, population: Sequence[Any], k: int, *, counts: Any = None) -> list[Any]:
    if counts is not None:
        raise tracer.refuse("sample with counts is not supported: list the values")
    if isinstance(population, (set, frozenset, Mapping)):
        raise TypeError("Population must be a sequence.  For dicts or sets, use sorted(d).")
    rest = list(population)
    if not 0 <= k <= len(rest):
        raise ValueError("Sample larger than population or is negative")
    return [rest.pop(pick(tracer, len(rest))) for _ in range(k)]


def _shuffle(tracer: Tracer, x: Any, axis: int = 0) -> None:
    if axis:
        raise tracer.refuse(
            "shuffles along another axis than 0 are not supported: shuffle the transposed array, a.T"
        )
    rest = list(x.copy() if hasattr(x, "shape") else x)  # rows of an array change with it
    for k in range(len(rest)):
        x[k] = rest.pop(pick(tracer, len(rest)))


def noise(tracer: Tracer, kind: str, scale: Any, location: Any = 0) -> Any:
    """Draws noise of the language of programs, plus a number."""
    found = _formula(tracer, scale, "the scale")
    if kind in ("laplace", "exponential", "gauss", "discrete_gaussian"):
        sign = tracer.signs(found)
        if sign < 0:
            raise ValueError("scale < 0")
        if sign == 0:
            return tracer.real(_formula(tracer, location, "the location"))
    discrete = kind in ("geometric", "one_sided_geometric", "discrete_gaussian")
    made = Noisy(tracer, Formula.of(0), {tracer.noise(kind, found): Fraction(1)}, discrete, discrete)
    return made + location if discrete else made + tracer.real(_formula(tracer, location, "the location"))


def binomial(tracer: Tracer, n: Any, p: Any) -> int:
    """Draws a number of successes in n tries."""
    if isinstance(n, Symbol):
        raise tracer.refuse(
            "a binomial draw whose number of tries has noise is not supported: compute it without noise"
        )
    count, share = index(n), _share(tracer, p)
    if count < 0:
        raise ValueError("n < 0")
    if count > MOST_VALUES:
        raise tracer.refuse(
            f"a binomial draw with {count} tries is not supported: use at most {MOST_VALUES} tries"
        )
    rest = ONE - share
    weights = [Formula.of(comb(count, k)) * share.power(k) * rest.power(count - k) for k in range(count + 1)]
    return tracer.choose(weights, [f"{k} of {count}" for k in range(count + 1)])


def bernoulli(tracer: Tracer, p: Any) -> bool:
    """Returns True with probability p."""
    return tracer.flip(_share(tracer, p), ("true", "false"))


def _geometric(tracer: Tracer, p: Any) -> Any:
    """Draws the number of the first success, from 1."""
    share = _share(tracer, p)
    if not share.above:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return (
        1 if not (ONE - share).above else 1 + noise(tracer, "one_sided_geometric", tracer.real(ONE - share))
    )


def _gauss(tracer: Tracer, mu: Any = 0, sigma: Any = 1) -> Any:
    """Draws as `random` does, where a negative sigma means the same as a positive one."""
    scale = _formula(tracer, sigma, "sigma")
    return noise(tracer, "gauss", tracer.real(-scale if tracer.signs(scale) < 0 else scale), mu)


def _expovariate(tracer: Tracer, lambd: Any = 1) -> Any:
    """Draws as `random` does, where a negative rate gives negative numbers."""
    mean = ONE / _formula(tracer, lambd, "lambd")
    if tracer.signs(mean) < 0:
        return -noise(tracer, "exponential", tracer.real(-mean))
    return noise(tracer, "exponential", tracer.real(mean))


def _getrandbits(tracer: Tracer, k: Any) -> int:
    if index(k) < 0:
        raise ValueError("number of bits must be non-negative")
    return pick(tracer, 2 ** index(k))


@dataclass(frozen=True)
class NoLaw:
    """A random function that is refused, whatever its arguments are."""

    reason: str

    def __call__(self, tracer: Tracer, *given: Any, **named: Any) -> Any:
        raise tracer.refuse(self.reason)


def _other(name: str) -> Law:
    return NoLaw(
        f"{name} is noise that is not supported: use Laplace, exponential, normal or geometric noise"
    )


def _seeding(name: str) -> Law:
    return NoLaw(f"{name} fixes the seed, so every run has the same outputs: remove it")


_OTHERS = (
    "betavariate gammavariate lognormvariate paretovariate triangular vonmisesvariate weibullvariate "
    "randbytes beta chisquare dirichlet f gamma gumbel hypergeometric logistic lognormal logseries "
    "multinomial multivariate_normal multivariate_hypergeometric negative_binomial "
    "noncentral_chisquare noncentral_f pareto poisson power rayleigh standard_cauchy standard_gamma "
    "standard_t vonmises wald weibull zipf bytes tomaxint random_integers"
)
_SEEDS = "seed setstate set_state getstate get_state get_bit_generator set_bit_generator"
OF_PYTHON: Mapping[str, Law] = {
    "random": lambda t: uniform_real(t),
    "uniform": lambda t, a, b: _from(t, a, b),
    "randint": _python_integer,
    "randrange": _randrange,
    "_randbelow": lambda t, n: pick(t, n),
    "getrandbits": _getrandbits,
    "choice": _choice,
    "choices": _choices,
    "sample": _sample,
    "shuffle": _shuffle,
    "gauss": _gauss,
    "normalvariate": _gauss,
    "expovariate": _expovariate,
    "binomialvariate": lambda t, n=1, p=Fraction(1, 2): binomial(t, n, p),
    **{name: _other(name) for name in _OTHERS.split()},
    **{name: _seeding(name) for name in _SEEDS.split()},
}
OF_SECRETS: Mapping[str, Law] = {
    "randbelow": lambda t, exclusive_upper_bound: _randbelow(t, exclusive_upper_bound),
    **{name: _other(f"secrets.{name}") for name in ("token_bytes", "token_hex", "token_urlsafe")},
}
OURS: Mapping[str, Law] = {
    "flip": bernoulli,
    "uniform": lambda t, lo, hi: _integer(t, lo, hi),
    "binomial": binomial,
    "geometric": lambda t, a: noise(t, "geometric", a),
    "one_sided_geometric": lambda t, a: noise(t, "one_sided_geometric", a),
    "laplace": lambda t, b: noise(t, "laplace", b),
    "exponential": lambda t, b: noise(t, "exponential", b),
    "gauss": lambda t, sigma: noise(t, "gauss", sigma),
    "discrete_gaussian": lambda t, sigma: noise(t, "discrete_gaussian", sigma),
    "choice": lambda t, table: list(table)[weighted(t, table.values(), [repr(k) for k in table])],
    "clamp": lambda t, x, lo, hi: min(max(x, lo), hi),
}


# --- numpy: functions with a size, and arrays of parameters -----------------------------------------


def _sized(tracer: Tracer, one: Callable[..., Any], size: Any, *given: Any) -> Any:
    """Draws once, or an array of independent draws; arrays among the arguments are gone through together."""
    import numpy as np

    arrays = [np.asarray(g, dtype=object) for g in given]
    shape: tuple[int, ...]
    if size is None:
        shape = np.broadcast_shapes(*(a.shape for a in arrays)) if arrays else ()
        if shape == ():
            return one(tracer, *(a.item() for a in arrays))
    else:
        shape = (index(size),) if is_index(size) else tuple(map(index, size))
    rows = [np.broadcast_to(a, shape).ravel().tolist() for a in arrays]
    count = 1
    for part in shape:
        count *= part
    drawn = [one(tracer, *(row[k] for row in rows)) for k in range(count)]
    if all(type(v) is int for v in drawn):
        return np.array(drawn, dtype=np.int64).reshape(shape)
    found = np.empty(count, dtype=object)
    for k, value in enumerate(drawn):
        found[k] = value
    return found.reshape(shape)


def _numpy_choice(
    tracer: Tracer,
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    shuffle: bool = True,
) -> Any:
    import numpy as np

    if axis:
        raise tracer.refuse(
            "choice along another axis than 0 is not supported: draw an index, and take that part of "
            "the array"
        )
    values = np.arange(a) if is_index(a) else np.asarray(a)
    if values.ndim != 1:
        raise tracer.refuse(
            "choice from an array with several axes is not supported: draw an index, and take that "
            "part of the array"
        )
    words = [repr(v) for v in values.tolist()]
    shares = None if p is None else [exact(q) for q in np.asarray(p, dtype=object).ravel().tolist()]
    if shares is not None:
        _check_shares(tracer, shares, len(values))

    def one(tracer: Tracer) -> int:
        if shares is None:
            return pick(tracer, len(values))
        return tracer.choose([s if s is not None else Formula.of(0) for s in shares], words)

    if replace:
        found = _sized(tracer, one, size)
        return found if is_index(a) else values[found]
    count = 1 if size is None else int(np.prod(size))
    if count > 1 and not shuffle:
        reason = "choice with shuffle=False draws in an order that is not documented: remove this argument"
        raise tracer.refuse(reason)
    if count > len(values):
        raise ValueError("Cannot take a larger sample than population when replace is False")
    left = [ONE] * len(values) if shares is None else [s or Formula.of(0) for s in shares]
    if count > sum(bool(s.above) for s in left):
        raise ValueError("Fewer non-zero entries in p than size")
    taken: list[int] = []
    for _ in range(count):  # numpy draws with p until it has enough different values, which is the same law
        taken.append(weighted(tracer, [tracer.real(s) for s in left], words))
        left[taken[-1]] = Formula.of(0)
    if size is None:
        return taken[0] if is_index(a) else values[taken[0]]
    return values[np.array(taken).reshape(size)]


def _check_shares(tracer: Tracer, shares: Sequence[Formula | None], count: int) -> None:
    """Checks the argument p of `choice` as numpy does, as far as it has no parameters."""
    if len(shares) != count:
        raise ValueError("'a' and 'p' must have same size")
    total = Formula.of(0)
    for share in shares:
        if share is None:
            raise tracer.refuse(
                "p of choice has an entry with noise: compute the probabilities without noise"
            )
        if not share.names and tracer.signs(share) < 0:
            raise ValueError("probabilities are not non-negative")
        total = total + share
    rest = (total - ONE).number
    if rest is not None and abs(rest) > Fraction(1, 10**8):
        raise ValueError("probabilities do not sum to 1")
    if rest:
        reason = f"the probabilities of choice sum to {1 + rest} instead of 1: divide them by their sum"
        raise tracer.refuse(reason)


def _numpy_integers(
    tracer: Tracer, low: Any, high: Any = None, size: Any = None, dtype: Any = None, endpoint: bool = False
) -> Any:
    import numpy as np

    least, largest = (0, low) if high is None else (low, high)
    found = _sized(tracer, lambda t, a, b: _integer(t, a, b if endpoint else b - 1), size, least, largest)
    if dtype is None or dtype is int:
        return found
    if not is_index(found):
        return found.astype(dtype)
    return bool(found) if dtype is bool else np.dtype(dtype).type(found)


def _generator_integers(tracer: Tracer, *given: Any, **named: Any) -> Any:
    """Draws as a `Generator` does, which returns numbers of numpy, not of Python."""
    import numpy as np

    found = _numpy_integers(tracer, *given, **named)
    return np.int64(found) if type(found) is int else found


def _permutation(tracer: Tracer, x: Any, axis: int = 0) -> Any:
    import numpy as np

    if axis:
        raise tracer.refuse(
            "permutations along another axis than 0 are not supported: permute the transposed array, a.T"
        )
    rest = list(range(x)) if is_index(x) else list(range(len(x)))
    order = _sample(tracer, rest, len(rest))
    return np.array(order) if is_index(x) else np.asarray(x)[order]


def _permuted(tracer: Tracer, x: Any, *, axis: Any = None, out: Any = None) -> Any:
    """Permutes all entries, of all rows together."""
    import numpy as np

    if axis is not None or out is not None:
        raise tracer.refuse(
            "the arguments axis and out of permuted are not supported: use shuffle or permutation"
        )
    array = np.asarray(x)
    return _permutation(tracer, array.ravel()).reshape(array.shape)


def _uniforms(tracer: Tracer, size: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if out is not None:
        raise tracer.refuse("the argument out is not supported: use the result")
    return _sized(tracer, uniform_real, size)


OF_NUMPY: Mapping[str, Law] = {
    **dict.fromkeys(("random", "random_sample", "ranf", "sample"), _uniforms),
    "rand": lambda t, *shape: _uniforms(t, shape or None),
    "randn": lambda t, *shape: _sized(t, lambda u: noise(u, "gauss", 1), shape or None),
    "uniform": lambda t, low=0, high=1, size=None: _sized(t, _from, size, low, high),
    "randint": _numpy_integers,
    "integers": _generator_integers,
    "choice": _numpy_choice,
    "permutation": _permutation,
    "permuted": _permuted,
    "shuffle": _shuffle,
    "binomial": lambda t, n, p, size=None: _sized(t, binomial, size, n, p),
    "geometric": lambda t, p, size=None: _sized(t, _geometric, size, p),
    "laplace": lambda t, loc=0, scale=1, size=None: _sized(
        t, lambda u, a, b: noise(u, "laplace", b, a), size, loc, scale
    ),
    "normal": lambda t, loc=0, scale=1, size=None: _sized(
        t, lambda u, a, b: noise(u, "gauss", b, a), size, loc, scale
    ),
    "standard_normal": lambda t, size=None, dtype=None, out=None: _sized(
        t, lambda u: noise(u, "gauss", 1), size
    ),
    "exponential": lambda t, scale=1, size=None: _sized(
        t, lambda u, b: noise(u, "exponential", b), size, scale
    ),
    "standard_exponential": lambda t, size=None, **_: _sized(t, lambda u: noise(u, "exponential", 1), size),
    **{name: _other(f"numpy.random.{name}") for name in _OTHERS.split()},
    **{name: _seeding(f"numpy.random.{name}") for name in _SEEDS.split()},
}

_PLACED = "loc=0, scale=1, size=None, random_state=None"
OF_SCIPY: Mapping[str, Law] = {  # by the name of the distribution
    "uniform": lambda t, loc=0, scale=1, size=None: _sized(
        t, lambda u, a, b: a + b * uniform_real(u), size, loc, scale
    ),
    "laplace": OF_NUMPY["laplace"],
    "norm": OF_NUMPY["normal"],
    "expon": lambda t, loc=0, scale=1, size=None: _sized(
        t, lambda u, a, b: noise(u, "exponential", b, a), size, loc, scale
    ),
    "bernoulli": lambda t, p, loc=0, size=None: _sized(
        t, lambda u, q, a: a + int(bernoulli(u, q)), size, p, loc
    ),
    "binom": lambda t, n, p, loc=0, size=None: _sized(
        t, lambda u, m, q, a: a + binomial(u, m, q), size, n, p, loc
    ),
    "geom": lambda t, p, loc=0, size=None: _sized(t, lambda u, q, a: a + _geometric(u, q), size, p, loc),
    "randint": lambda t, low, high, loc=0, size=None: _sized(
        t, lambda u, a, b, c: c + _integer(u, a, b - 1), size, low, high, loc
    ),
    "dlaplace": lambda t, a, loc=0, size=None: _sized(
        t,
        lambda u, b, c: c + noise(u, "geometric", u.real(_decay(u, b))),
        size,
        a,
        loc,
    ),
}


def _decay(tracer: Tracer, rate: Any) -> Formula:
    from paramverify.tracing.formulas import exponential

    return exponential(-_formula(tracer, rate, "a"))


# --- which law a function or a method has -----------------------------------------------------------


def _overridden(kind: type, laws: Mapping[str, Law]) -> str:
    """Returns what a class of the user changes in a generator of a library; "" if nothing."""
    known = ("random", "_random", "numpy", "builtins")
    users = (c for c in kind.__mro__ if c.__module__.partition(".")[0] not in known)
    return next((f"{c.__name__}.{name}" for c in users for name in vars(c) if name in laws), "")


UNPREDICTABLE = (
    "a generator of random numbers that exists before the call is assumed to have an unpredictable seed"
)


class Source:
    """A generator of random numbers in traced code, in the place of an object of the class `stands_for`."""

    def __init__(self, laws: Mapping[str, Law], stands_for: type, tracer: Tracer) -> None:
        changed = _overridden(stands_for, laws)
        if changed:
            raise tracer.refuse(
                f"{changed} replaces a random function of a library: use the generator of the library"
            )
        self.laws = laws
        self.stands_for = stands_for
        self.tracer = tracer

    def __getattr__(self, name: str) -> Any:
        law = self.laws.get(name)
        if law is None and not hasattr(self.stands_for, name):
            raise AttributeError(f"{self.stands_for.__name__!r} object has no attribute {name!r}")
        if law is None:
            raise self.tracer.refuse(
                f"{name} of a generator of random numbers is not supported: use its random functions only"
            )
        return lambda *given, **named: law(self.tracer, *given, **named)

    def __deepcopy__(self, memo: object) -> Source:
        return self


@lru_cache(maxsize=1)
def generator_classes() -> tuple[tuple[type, Mapping[str, Law]], ...]:
    """Returns the classes of generators, with the laws of their methods."""
    import numpy as np

    return (
        (random.Random, OF_PYTHON),
        (np.random.Generator, OF_NUMPY),
        (np.random.RandomState, OF_NUMPY),
    )


def laws_of(value: object) -> Mapping[str, Law] | None:
    """Returns the laws of the methods of a generator; None if a value is none."""
    return next((laws for kind, laws in generator_classes() if isinstance(value, kind)), None)


def law_of(function: Any) -> Law | None:
    """Returns the law of a random function or method of a library; None if it is none."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is not None and not inspect.ismodule(owner):
        laws = laws_of(owner)
        if laws is not None:
            changed = _overridden(type(owner), laws)
            return _other(changed) if changed else laws.get(name, _other(name))
        if name == "rvs":
            return _scipy_law(owner)
    module = getattr(function, "__module__", None)
    if module == "numpy.random" and not isinstance(function, type) and name != "default_rng":
        return OF_NUMPY.get(name, _other(name))  # functions of the module itself, such as `seed`
    if module == "secrets":
        return OF_SECRETS.get(name)
    if module == "paramverify.language":
        return OURS.get(name)
    return None


def _scipy_law(owner: Any) -> Law | None:
    frozen = getattr(owner, "dist", None)
    name = getattr(frozen if frozen is not None else owner, "name", "")
    if not type(frozen if frozen is not None else owner).__module__.startswith("scipy.stats"):
        return None
    law = OF_SCIPY.get(name, _other(f"scipy.stats.{name}"))

    def drawn(tracer: Tracer, *given: Any, random_state: Any = None, **named: Any) -> Any:
        if (
            random_state is not None
            and laws_of(random_state) is None
            and not isinstance(random_state, Source)
        ):
            raise tracer.refuse("random_state fixes the seed: remove it")
        if frozen is not None:
            return law(
                tracer, *owner.args, **{**owner.kwds, **named}, **({"size": given[0]} if given else {})
            )
        return law(tracer, *given, **named)

    return drawn
