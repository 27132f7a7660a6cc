"""What the functions of Python's libraries are in the language of programs, and which ones its names mean.

A translation has the law of the call, with real numbers in the place of floats; else there is a reason.
Names are those of the libraries, `numpy.random.laplace`, however a program has imported them.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from itertools import groupby

Arguments = Mapping[str, ast.expr]

OPTIONS = (  # arguments that make another function, or an array of several values
    *("size", "dtype", "out", "axis", "keepdims", "initial", "where", "random_state", "method"),
    *("decimals", "ndigits", "mod", "cum_weights", "replace", "shuffle"),
)
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.Lt: ast.Gt,
    ast.GtE: ast.LtE,
}


class NoTranslation(Exception):
    """A call has none; the text is the reason, after the name of the function."""


@dataclass(frozen=True)
class ExactFunction:
    """A function with its arguments, as `def` has them, and an expression over them with the same law.

    The expression may depend on the arguments: then it is one over them (a text), or has them in it already.
    """

    arguments: str
    template: str | Callable[[Arguments], str | ast.expr]


@dataclass(frozen=True)
class UniformFunction:
    """A function whose value is real and uniform on [0, 1): translated where it is compared, and only there.

    The arguments have to be numbers that are equal to their defaults, 0 where there is none.
    """

    arguments: str = ""


@dataclass(frozen=True)
class Refused:
    """A function without a translation."""

    reason: str


Entry = ExactFunction | UniformFunction | Refused


def translated(entry: Entry, use: ast.expr, draw: ast.Call | None) -> str:
    """Returns the expression of the language with the law of a call, in parentheses where it may need them.

    Raises:
        NoTranslation: there is none.
    """
    if isinstance(entry, Refused):
        raise NoTranslation(entry.reason)
    if isinstance(entry, UniformFunction):
        return _compared(entry, use, draw)
    if not isinstance(use, ast.Call):
        raise NoTranslation("is used without being called: functions are not supported as values")
    given = _bind(entry.arguments, use)
    template = entry.template if isinstance(entry.template, str) else entry.template(given)
    if isinstance(template, ast.expr):
        return _shown(template)
    tree = parsed(template)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for argument, value in given.items():
        if names.count(argument) > 1 and any(isinstance(n, ast.Call) for n in ast.walk(value)):
            raise NoTranslation(
                f"uses its argument several times: assign {ast.unparse(value)} to a name first"
            )
    return _shown(_Filled(given).visit(tree))


def _compared(entry: UniformFunction, use: ast.expr, draw: ast.Call | None) -> str:
    """Returns the translation of `u < p` or `u >= p`, in either order."""
    if not isinstance(use, ast.Compare) or draw is None:
        raise NoTranslation(
            "draws a continuous uniform number, which is supported only inside a comparison: if "
            "u is between 0 and 1 and compared once, write flip(p) for u < p"
        )
    kind, p = type(use.ops[0]), use.comparators[0]
    if p is draw:
        kind, p = _FLIPPED.get(kind, kind), use.left
    defaults = _defaults(entry.arguments)
    for argument, value in _bind(entry.arguments, draw).items():
        wanted = number(defaults.get(argument, ast.Constant(0)))
        if not is_none(value) and (wanted is None or number(value) != wanted):
            told = f"but {argument} is {ast.unparse(value)}"
            raise NoTranslation(f"is supported only for a single number between 0 and 1, {told}")
    if kind is ast.Lt:
        return f"flip({ast.unparse(p)})"
    if kind is ast.GtE:
        return f"(not flip({ast.unparse(p)}))"
    raise NoTranslation("is supported only in u < p and u >= p")


def _defaults(arguments: str) -> dict[str, ast.expr]:
    spec = _spec(arguments)
    plain = spec.args[len(spec.args) - len(spec.defaults) :]
    found = {a.arg: v for a, v in zip(plain, spec.defaults, strict=True)}
    return found | {a.arg: v for a, v in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if v}


def _spec(arguments: str) -> ast.arguments:
    made = ast.parse(f"lambda {arguments}: 0", mode="eval").body
    assert isinstance(made, ast.Lambda)
    return made.args


def _bind(arguments: str, call: ast.Call) -> dict[str, ast.expr]:
    """Returns the arguments of a call by their names.

    Raises:
        NoTranslation: others than the function has, or one that changes what it returns.
    """
    spec, defaults = _spec(arguments), _defaults(arguments)
    names = [a.arg for a in spec.args]
    known = [*names, *(a.arg for a in spec.kwonlyargs)]
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise NoTranslation("is called with starred arguments, which are not supported")
    pairs = [*zip(names, call.args, strict=False), *((str(k.arg), k.value) for k in call.keywords)]
    given = dict(pairs)
    if len(call.args) > len(names) or len(given) < len(pairs) or not given.keys() <= set(known):
        raise NoTranslation("is not supported with these arguments")
    missing = [n for n in known if n not in given and n not in defaults]
    if missing:
        raise NoTranslation(f"needs the argument {missing[0]}")
    for option in OPTIONS:
        if option in given and not is_none(given[option]):
            raise NoTranslation(f"is not supported with the argument {option}")
    return {n: given.get(n, defaults.get(n, ast.Constant(None))) for n in known}


class _Filled(ast.NodeTransformer):
    """Puts arguments into a template, and leaves out sums with 0 and differences of written numbers."""

    def __init__(self, given: Arguments) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return deepcopy(self.given[node.id]) if node.id in self.given else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        first, second = number(left), number(right)
        if isinstance(node.op, ast.Add) and first == 0:
            return right  # type: ignore[no-any-return]
        if isinstance(node.op, ast.Sub) and isinstance(first, int) and isinstance(second, int):
            return ast.Constant(first - second)
        return ast.BinOp(left, node.op, right)


def parsed(text: str) -> ast.expr:
    """Returns an expression of Python."""
    return ast.parse(text, mode="eval").body


def _shown(tree: ast.expr) -> str:
    text = ast.unparse(tree)
    return text if isinstance(tree, (ast.Call, ast.Name, ast.Subscript, ast.List)) else f"({text})"


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def number(node: ast.expr) -> int | float | None:
    """Returns a number that is written as such, with a sign or not."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inside = number(node.operand)
        return None if inside is None else -inside
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


MOST_DRAWS = 20  # of one call of random.choices

_SEEDED = "fixes the seed, so every run has the same outputs: remove it"
_OTHER = "is noise that is not supported"
_MANY = "draws or changes several values at once, which is not supported: draw each in a loop"
_STATE = "concerns the state of a generator, which is not supported"
_ROUNDED = "has no exact rational value, so it is not supported"
_OTHER_FUNCTION = "is not supported"
_MEAN = "is not supported; write sum(q) / len(q)"
_ARRAY = (
    "is not supported: use a list, such as [0, 0], and loop over its entries instead of calculating with "
    "the whole array"
)
_FACTOR = "is not supported; multiply the entries in a loop"
_POWER = "is not supported; write x ** {}"
_FIRST = (
    "is not supported; for a list v, write k = 0, then for i in range(len(v)): if v[i] "
    "{} v[k]: k = i, which keeps the first such index"
)
_HALVES = "(x + 1/2) // 1 - (1 if x % 2 == 1/2 else 0)"
_TO_ZERO = "x // 1 if x >= 0 else -(-x // 1)"
_OF_A_LIST = "a, axis=None, dtype=None, out=None, keepdims=None, initial=None, where=None"


def _integers(given: Arguments) -> str:
    """Returns the translation of numpy's whole numbers: without their second end the first one is it."""
    endpoint = given.get("endpoint", ast.Constant(False))
    if not isinstance(endpoint, ast.Constant) or endpoint.value not in (True, False):
        raise NoTranslation("has an endpoint that must be written as True or False")
    less = "" if endpoint.value else " - 1"
    return f"uniform(0, low{less})" if is_none(given["high"]) else f"uniform(low, high{less})"


def _randrange(given: Arguments) -> str:
    if is_none(given["stop"]):
        return "uniform(0, start - 1)"
    numbers = [number(given[name]) for name in ("start", "stop", "step")]
    if numbers[2] == 1:
        return "uniform(start, stop - 1)"
    if not all(isinstance(n, int) for n in numbers) or not numbers[2]:
        raise NoTranslation("needs ends and a step that are written as whole numbers")
    start, stop, step = (int(n or 0) for n in numbers)
    return f"start + step * uniform(0, {len(range(start, stop, step)) - 1})"


def _of_sequence(node: ast.expr) -> ast.expr:
    """Returns one of the entries of a list or a range, each alike."""
    shown = ast.unparse(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        if len(node.args) == 1 and not node.keywords:
            return parsed(f"uniform(0, ({ast.unparse(node.args[0])}) - 1)")
    elif isinstance(node, (ast.List, ast.Tuple)) and node.elts:
        entries = ", ".join(map(ast.unparse, node.elts))
        return parsed(f"[{entries}][uniform(0, {len(node.elts) - 1})]")
    elif isinstance(node, ast.Name):
        return parsed(f"{shown}[uniform(0, len({shown}) - 1)]")
    raise NoTranslation("is supported only for a list that is written out or has a name")


def _table(values: Sequence[ast.expr], weights: Sequence[ast.expr]) -> ast.expr:
    """Returns `choice({...})`: different values that are all labels, or all numbers."""
    known = [
        v.value if isinstance(v, ast.Constant) and isinstance(v.value, str) else number(v) for v in values
    ]
    kinds = {type(v) is str for v in known}
    if None in known or len(kinds) != 1 or len(set(known)) < len(known) or len(known) != len(weights):
        raise NoTranslation("is supported only for different labels or different numbers, each with a weight")
    pairs = [f"{ast.unparse(v)}: {ast.unparse(w)}" for v, w in zip(values, weights, strict=True)]
    return parsed(f"choice({{{', '.join(pairs)}}})")


def _listed(node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, (ast.List, ast.Tuple)) or not node.elts:
        raise NoTranslation("is supported only if its values and weights are written out as lists")
    return node.elts


def _numpy_choice(given: Arguments) -> ast.expr:
    values, weights = given["a"], given["p"]
    count = number(values)
    if is_none(weights):
        if isinstance(count, int):
            return parsed(f"uniform(0, {count - 1})")
        listed = _listed(values)
        _table(listed, listed)  # numpy makes all of them one type
        return _of_sequence(values)
    if isinstance(count, int) and 0 < count <= MOST_DRAWS:
        return _table([ast.Constant(k) for k in range(count)], _listed(weights))
    return _table(_listed(values), _listed(weights))


def _choices(given: Arguments) -> ast.expr:
    draws = number(given["k"])
    if not isinstance(draws, int) or not 0 < draws <= MOST_DRAWS:
        raise NoTranslation(f"is supported only for 1 to {MOST_DRAWS} draws, written as a number")
    if is_none(given["weights"]):
        one = _of_sequence(given["population"])
    else:
        values, weights = _listed(given["population"]), _listed(given["weights"])
        if any(isinstance(n, ast.Call) for w in weights for n in ast.walk(w)):
            raise NoTranslation("has weights that are calls: assign each to a name first")
        total = " + ".join(f"({ast.unparse(w)})" for w in weights)
        one = _table(values, [parsed(f"({ast.unparse(w)}) / ({total})") for w in weights])
    return ast.List([one] * draws, ast.Load())


def _is_truth(node: ast.expr) -> bool:
    """Tells whether an expression is a truth value, as it is written."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("flip", "bool", "any", "all")
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    return isinstance(node, (ast.Compare, ast.BoolOp))


def _to_whole(given: Arguments) -> str:
    return "1 if x else 0" if _is_truth(given["x"]) else _TO_ZERO


def _exact_number(given: Arguments) -> str:
    if any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(given["x"])):
        raise NoTranslation("of text is not supported, because numbers are exact and finite")
    if _is_truth(given["x"]):
        return "1 if x else 0"
    return "x" if isinstance(given["x"], (ast.BinOp, ast.UnaryOp, ast.Constant)) else "x + 0"


def _each(names: str, entry: Entry, prefix: str) -> dict[str, Entry]:
    return {f"{prefix}.{name}": entry for name in names.split()}


_DRAWN: dict[str, Entry] = {  # of numpy, by a generator of either kind
    "uniform": UniformFunction("low=0, high=1, size=None"),
    "binomial": ExactFunction("n, p, size=None", "binomial(n, p)"),
    "geometric": ExactFunction("p, size=None", "1 + one_sided_geometric(1 - p)"),
    "laplace": ExactFunction("loc=0, scale=1, size=None", "loc + laplace(scale)"),
    "normal": ExactFunction("loc=0, scale=1, size=None", "loc + gauss(scale)"),
    "exponential": ExactFunction("scale=1, size=None", "exponential(scale)"),
}
_NUMPY_OTHER = (
    "beta chisquare dirichlet f gamma gumbel hypergeometric logistic lognormal logseries multinomial "
    "multivariate_normal negative_binomial noncentral_chisquare noncentral_f pareto poisson power rayleigh "
    "standard_cauchy standard_gamma standard_t triangular vonmises wald weibull zipf"
)
_SCIPY = "loc=0, scale=1, size=None, random_state=None"
_SCIPY_WHOLE = "loc=0, size=None, random_state=None"


def _of_python() -> dict[str, Entry]:
    """Returns the table of `random`, whose generators have the same functions, and of `secrets`."""
    return {
        "random.random": UniformFunction(),
        "random.uniform": UniformFunction("a, b=1"),
        "random.randint": ExactFunction("a, b", "uniform(a, b)"),
        "random.randrange": ExactFunction("start, stop=None, step=1", _randrange),
        "random.getrandbits": ExactFunction("k", "uniform(0, 2 ** k - 1)"),
        "random.choice": ExactFunction("seq", lambda given: _of_sequence(given["seq"])),
        "random.choices": ExactFunction("population, weights=None, *, cum_weights=None, k=1", _choices),
        "random.gauss": ExactFunction("mu=0, sigma=1", "mu + gauss(sigma)"),
        "random.normalvariate": ExactFunction("mu=0, sigma=1", "mu + gauss(sigma)"),
        "random.expovariate": ExactFunction("lambd=1", "exponential(1 / lambd)"),
        "random.binomialvariate": ExactFunction("n=1, p=1/2", "binomial(n, p)"),
        **_each(
            "betavariate gammavariate lognormvariate paretovariate triangular vonmisesvariate weibullvariate",
            Refused(_OTHER),
            "random",
        ),
        **_each("sample shuffle randbytes", Refused(_MANY), "random"),
        **_each("getstate setstate", Refused(_STATE), "random"),
        **_each("seed Random SystemRandom", Refused(_SEEDED), "random"),
        "secrets.randbelow": ExactFunction("exclusive_upper_bound", "uniform(0, exclusive_upper_bound - 1)"),
        "secrets.randbits": ExactFunction("k", "uniform(0, 2 ** k - 1)"),
        "secrets.choice": ExactFunction("seq", lambda given: _of_sequence(given["seq"])),
        **_each("token_bytes token_hex token_urlsafe", Refused(_MANY), "secrets"),
        **_each("SystemRandom compare_digest", Refused(_OTHER_FUNCTION), "secrets"),
    }


def _of_numpy_random() -> dict[str, Entry]:
    """Returns the table of `numpy.random`, whose functions `RandomState` has too, and of `Generator`."""
    shared: dict[str, Entry] = {**_DRAWN, **{n: Refused(_OTHER) for n in _NUMPY_OTHER.split()}}
    found: dict[str, Entry] = {f"numpy.random.{name}": entry for name, entry in shared.items()}
    found |= {f"numpy.random.Generator.{name}": entry for name, entry in shared.items()}
    old, new = "numpy.random", "numpy.random.Generator"
    return {
        **found,
        **_each("random random_sample ranf sample", UniformFunction("size=None"), old),
        f"{old}.rand": UniformFunction(),
        f"{old}.randn": ExactFunction("", "gauss(1)"),
        f"{old}.randint": ExactFunction("low, high=None, size=None, dtype=None", _integers),
        f"{old}.random_integers": Refused(
            "is deprecated: use numpy.random.randint, which excludes its upper end"
        ),
        f"{old}.choice": ExactFunction("a, size=None, replace=True, p=None", _numpy_choice),
        f"{old}.standard_normal": ExactFunction("size=None", "gauss(1)"),
        f"{old}.standard_exponential": ExactFunction("size=None", "exponential(1)"),
        **_each("bytes permutation shuffle tomaxint", Refused(_MANY), old),
        **_each("get_state set_state get_bit_generator set_bit_generator", Refused(_STATE), old),
        **_each("seed RandomState default_rng", Refused(_SEEDED), old),
        **_each(
            "Generator BitGenerator SeedSequence MT19937 PCG64 PCG64DXSM Philox SFC64", Refused(_STATE), old
        ),
        f"{new}.random": UniformFunction("size=None, dtype=None, out=None"),
        f"{new}.integers": ExactFunction("low, high=None, size=None, dtype=None, endpoint=False", _integers),
        f"{new}.choice": ExactFunction(
            "a, size=None, replace=True, p=None, axis=0, shuffle=True", _numpy_choice
        ),
        f"{new}.standard_normal": ExactFunction("size=None, dtype=None, out=None", "gauss(1)"),
        f"{new}.standard_exponential": ExactFunction(
            "size=None, dtype=None, method=None, out=None", "exponential(1)"
        ),
        **_each("bytes permutation permuted shuffle multivariate_hypergeometric", Refused(_MANY), new),
        **_each("bit_generator spawn", Refused(_STATE), new),
    }


def _of_scipy() -> dict[str, Entry]:
    return {
        "scipy.stats.uniform.rvs": UniformFunction(_SCIPY),
        "scipy.stats.laplace.rvs": ExactFunction(_SCIPY, "loc + laplace(scale)"),
        "scipy.stats.norm.rvs": ExactFunction(_SCIPY, "loc + gauss(scale)"),
        "scipy.stats.expon.rvs": ExactFunction(_SCIPY, "loc + exponential(scale)"),
        "scipy.stats.bernoulli.rvs": ExactFunction(f"p, {_SCIPY_WHOLE}", "loc + (1 if flip(p) else 0)"),
        "scipy.stats.binom.rvs": ExactFunction(f"n, p, {_SCIPY_WHOLE}", "loc + binomial(n, p)"),
        "scipy.stats.geom.rvs": ExactFunction(f"p, {_SCIPY_WHOLE}", "loc + (1 + one_sided_geometric(1 - p))"),
        "scipy.stats.randint.rvs": ExactFunction(
            f"low, high, {_SCIPY_WHOLE}", "loc + uniform(low, high - 1)"
        ),
        "scipy.stats.dlaplace.rvs": ExactFunction(f"a, {_SCIPY_WHOLE}", "loc + geometric(exp(-a))"),
    }


def _of_numbers() -> dict[str, Entry]:
    """Returns the table of `math`, of numpy's functions of numbers, and of Python's own."""
    return {
        "math.exp": ExactFunction("x", "exp(x)"),
        "numpy.exp": ExactFunction("x", "exp(x)"),
        "math.floor": ExactFunction("x", "x // 1"),
        "numpy.floor": ExactFunction("x", "x // 1"),
        "math.ceil": ExactFunction("x", "-(-x // 1)"),
        "numpy.ceil": ExactFunction("x", "-(-x // 1)"),
        "math.trunc": ExactFunction("x", _TO_ZERO),
        **_each("trunc fix", ExactFunction("x", _TO_ZERO), "numpy"),
        "numpy.rint": ExactFunction("x", _HALVES),
        **_each("round around", ExactFunction("x, decimals=0, out=None", _HALVES), "numpy"),
        "math.fabs": ExactFunction("x", "abs(x)"),
        **_each("abs absolute fabs", ExactFunction("x", "abs(x)"), "numpy"),
        "numpy.sign": ExactFunction("x", "1 if x > 0 else -1 if x < 0 else 0"),
        "numpy.maximum": ExactFunction("x1, x2", "max(x1, x2)"),
        "numpy.minimum": ExactFunction("x1, x2", "min(x1, x2)"),
        "numpy.clip": ExactFunction("a, a_min, a_max, out=None", "min(max(a, a_min), a_max)"),
        "numpy.sum": ExactFunction(_OF_A_LIST, "sum(a)"),
        **_each("max amax", ExactFunction(_OF_A_LIST.replace(" dtype=None,", ""), "max(a)"), "numpy"),
        **_each("min amin", ExactFunction(_OF_A_LIST.replace(" dtype=None,", ""), "min(a)"), "numpy"),
        **_each("array asarray zeros ones empty full", Refused(_ARRAY), "numpy"),
        "numpy.argmax": Refused(_FIRST.format(">")),
        "numpy.argmin": Refused(_FIRST.format("<")),
        "math.pow": ExactFunction("x, y", "x ** y"),
        "builtins.pow": ExactFunction("base, exp, mod=None", "base ** exp"),
        "builtins.round": ExactFunction("x, ndigits=None", _HALVES),
        "builtins.int": ExactFunction("x", _to_whole),
        "builtins.float": ExactFunction("x", _exact_number),
        "builtins.bool": ExactFunction("x", "x != 0"),
        "builtins.str": Refused("is not supported: values are numbers or labels in quotes"),
        **_each("log log2 log10 log1p sqrt expm1 std", Refused(_ROUNDED), "numpy"),
        **_each("var median", Refused(_OTHER_FUNCTION), "numpy"),
        "numpy.mean": Refused(_MEAN),
        "numpy.power": Refused(_POWER.format("y")),
        "numpy.square": Refused(_POWER.format(2)),
        **_each(
            "acos acosh asin asinh atan atan2 atanh cbrt cos cosh degrees dist e erf erfc exp2 expm1 gamma "
            "hypot lgamma log log10 log1p log2 pi radians sin sinh sqrt tan tanh tau",
            Refused(_ROUNDED),
            "math",
        ),
        **_each(
            "comb copysign factorial fma fmod frexp gcd inf isclose isfinite isinf isnan isqrt lcm ldexp "
            "modf nan nextafter perm remainder sumprod ulp",
            Refused(_OTHER_FUNCTION),
            "math",
        ),
        "math.fsum": Refused("is not supported; write sum(q)"),
        "math.prod": Refused(_FACTOR),
    }


UNBOUNDED = ("geometric", "one_sided_geometric", "laplace", "exponential", "gauss", "discrete_gaussian")
ROUNDED_NOISE = (
    "rounds noise, which is not supported: draw noise on whole numbers, "
    "geometric(exp(-1/scale)), or only compare the noise"
)
ROUNDING = {
    name
    for name, entry in _of_numbers().items()
    if isinstance(entry, ExactFunction) and (entry.template is _to_whole or "//" in str(entry.template))
}
TABLE: Mapping[str, Entry] = {**_of_python(), **_of_numpy_random(), **_of_scipy(), **_of_numbers()}
NUMERIC = {name for name in _of_numbers() if not name.startswith("builtins.")}
LIBRARIES = ("random", "numpy", "secrets", "scipy", "math")
BARE: Mapping[str, tuple[str, ...]] = {  # functions that are often written without their library
    last: tuple(names)
    for last, names in groupby(
        sorted((n for n in TABLE if not n.startswith("builtins.")), key=lambda n: (n.rpartition(".")[2], n)),
        key=lambda n: n.rpartition(".")[2],
    )
}


class _Inner(ast.NodeTransformer):
    """Translates the calls of libraries within another one, so that its proposal is not refused again."""

    def __init__(self, bound: Mapping[str, str]) -> None:
        self._bound = bound

    def visit_Call(self, node: ast.Call) -> ast.expr:
        call = self.generic_visit(node)
        assert isinstance(call, ast.Call)
        entry = TABLE.get(meant(node.func, self._bound) or "")
        if isinstance(entry, ExactFunction):
            with suppress(NoTranslation):
                return parsed(translated(entry, call, None))
        return call


def refusal(name: str, use: ast.expr, bound: Mapping[str, str], draw: ast.Call | None = None) -> str:
    """Returns why a use of a function of a library is refused, with what to write where that is the same.

    `name` is that of the library. `use` is the call, or what else names the function; or a comparison with
    the call `draw` on one side. `bound` is what names mean.
    """
    entry = TABLE.get(name, Refused("is not supported"))
    if name in NUMERIC and isinstance(use, ast.Call) and any(map(_is_truth, use.args)):
        entry = Refused("is supported for numbers only: write (1 if x else 0) for a truth value x")
    try:
        shown = ast.unparse(use)
        if draw is None and isinstance(use, ast.Call):
            use = deepcopy(use)
            use.args = [_Inner(bound).visit(argument) for argument in use.args]
            for named in use.keywords:
                named.value = _Inner(bound).visit(named.value)
        return f"{shown} is not supported; write {translated(entry, use, draw)}"
    except NoTranslation as reason:
        return f"{name.removeprefix('builtins.')} {reason}"


OURS = "paramverify"
CUSTOM: Mapping[str, str] = {  # what names mean in a program without imports
    "np": "numpy",
    "stats": "scipy.stats",
    **{name: name for name in LIBRARIES},
}
BUILTINS = {name.removeprefix("builtins."): name for name in TABLE if name.startswith("builtins.")}
GENERATORS: Mapping[str, str] = {  # what makes a generator; without arguments it has no seed
    "numpy.random.default_rng": "numpy.random.Generator",
    "numpy.random.RandomState": "numpy.random",
    "random.Random": "random",
    "random.SystemRandom": "random",
    "secrets.SystemRandom": "random",
}
Bound = Mapping[str, str]


def meant(tree: ast.expr, bound: Bound) -> str | None:
    """Returns the name in its library of what an expression means; None if that is nothing of a library."""
    match tree:
        case ast.Name(name):
            return bound.get(name)
        case ast.Attribute(value, name):
            around = meant(value, bound)
            if around == "numpy.random" and name == "Generator":
                return "numpy.random.Generator.__class__"  # its functions have a generator as an argument
            return around and f"{around}.{name}"
        case ast.Call(function, [], []):
            return GENERATORS.get(meant(function, bound) or "")
    return None


def imported(tree: ast.AST) -> dict[str, str]:
    """Returns what the imports in a tree give names to."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                found[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def assigned(tree: ast.AST) -> Counter[str]:
    """Returns how often each name of a tree is set: assigned, defined, or an argument."""
    found: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] += 1
        elif isinstance(node, ast.arg):
            found[node.arg] += 1
    return found


def bound_in(tree: ast.AST, outside: Bound) -> dict[str, str]:
    """Returns what of libraries the names of a tree mean; `outside` is for those that it does not set.

    A name is a generator if it is set once, to one without a seed.
    """
    own, within = assigned(tree), imported(tree)
    found = {n: m for n, m in {**outside, **within}.items() if n not in own}
    found = {n: m for n, m in found.items() if m.partition(".")[0] in (*LIBRARIES, "builtins")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, made = node.targets[0], meant(node.value, found)
            if (
                isinstance(target, ast.Name)
                and own[target.id] == 1
                and isinstance(node.value, ast.Call)
                and made
            ):
                found[target.id] = made
    return found


def mistaken_import(tree: ast.AST, words: Collection[str]) -> tuple[ast.AST, str] | None:
    """Returns the first import that gives a word of the language another meaning, or names nothing."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if alias.name == "*":
                    return node, "import * does not show which names it imports: import each by its name"
                name = alias.asname or alias.name.partition(".")[0]
                if name in words and not is_word(imported(node)[name], name):
                    return node, other_word(name, imported(node)[name])
    return None


def is_word(meaning: str, word: str) -> bool:
    """Tells whether something of a library is the word of the language itself."""
    return meaning in (f"{OURS}.{word}", f"{OURS}.language.{word}", f"builtins.{word}") or (
        word == "exp" and meaning in ("math.exp", "numpy.exp")
    )


def other_word(word: str, meaning: str) -> str:
    """Returns what to do about a name that means something else than the word of the language."""
    return f"{word} is {meaning} here, not the {word} of paramverify: import it under another name"


def first_use(tree: ast.AST, bound: Bound, words: Collection[str]) -> tuple[ast.expr, str] | None:
    """Returns the first use of something of a library in a tree, with why it is refused and what is the same.

    `words` are those of the language. Generators without a seed count last: nothing uses them any more then.
    """
    known = {name: meaning for name, meaning in bound.items() if name not in words}
    for node, reason in _uses(tree, known):
        noisy = _noise_in(tree, known)
        for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)):
            name = meant(call.func, known)
            if name in ROUNDING and any(map(noisy, call.args)):
                return call, f"{name.removeprefix('builtins.')} {ROUNDED_NOISE}"
        return node, reason
    for made in ast.walk(tree):
        if isinstance(made, ast.Call) and meant(made, known):
            return made, f"{ast.unparse(made)} is a generator that nothing else uses: remove it"
    return None


def _noise_in(tree: ast.AST, bound: Bound) -> Callable[[ast.AST], bool]:
    """Returns what tells whether an expression of a tree draws noise without ends, or names what does."""
    noisy: set[str] = set()

    def draws(node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in noisy
        if isinstance(node, ast.Call):
            entry = TABLE.get(meant(node.func, bound) or "")
            drawn = entry.template if isinstance(entry, ExactFunction) else ast.unparse(node.func)
            words = set(re.findall(r"\w+", str(drawn)))
            if "clamp" in words or not words.isdisjoint(UNBOUNDED):
                return "clamp" not in words  # which leaves finitely many values
        return any(map(draws, ast.iter_child_nodes(node)))

    assignments = [node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AugAssign))]
    for _ in assignments:  # a name may be that of another one, from further down in a loop
        for node in filter(lambda one: draws(one.value), assignments):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            noisy.update(target.id for target in targets if isinstance(target, ast.Name))
    return draws


def without_library(name: str) -> str:
    """Returns what to write for a name that is a function of libraries, if these are not named; else ""."""
    several = BARE.get(name, ())
    if not several:
        return ""
    if len(several) == 1 and isinstance(refused := TABLE.get(several[0]), Refused):
        return f"{several[0]} {refused.reason}"
    differ = f"{' and '.join(several)} differ" if len(several) > 1 else f"it may be {several[0]}"
    return f"{differ}: import the function that you mean, and paramverify will say what to write for it"


def _uses(tree: ast.AST, bound: Bound) -> Iterator[tuple[ast.expr, str]]:
    match tree:
        case ast.Compare(left, [_], [right]):
            for side in (left, right):
                name = meant(side.func, bound) if isinstance(side, ast.Call) else None
                if isinstance(side, ast.Call) and name and isinstance(TABLE.get(name), UniformFunction):
                    yield tree, refusal(name, tree, bound, side)
        case ast.Assign(_, value) if isinstance(value, ast.Call) and meant(value, bound):
            return
        case ast.Call(function) if name := meant(function, bound):
            if not (name in GENERATORS and meant(tree, bound)):
                yield tree, refusal(name, tree, bound)
        case ast.Attribute() if name := meant(tree, bound):
            yield tree, refusal(name, tree, bound)
        case ast.Name(_, ast.Load()) if (
            name := meant(tree, bound)
        ) in TABLE and name not in BUILTINS.values():
            yield tree, refusal(str(name), tree, bound)
    for child in ast.iter_child_nodes(tree):
        yield from _uses(child, bound)
