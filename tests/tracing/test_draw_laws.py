"""The laws of random functions in adopted functions: finite ones by counting, all others by scipy."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from compared_functions import imported, refusal
from replayed_functions import encoded, read_name
from scipy import stats

from paramverify.api.adopting import adopt
from paramverify.tracing.draw_laws import OF_NUMPY, OF_PYTHON, OF_SCIPY, OF_SECRETS, OURS

HEAD = """import math, random, secrets
import numpy as np
from scipy import stats
from paramverify import language

"""


def uniform(outcomes: Iterable[Any]) -> dict[Any, Fraction]:
    """Returns the law of a choice among outcomes of the same probability."""
    counts = Counter(map(repr, found := list(outcomes)))
    return {name: Fraction(count, len(found)) for name, count in counts.items()}


def weighted(**weights: int) -> dict[Any, Fraction]:
    """Returns the law with some weights."""
    return {repr(name): Fraction(weight, sum(weights.values())) for name, weight in weights.items()}


def numbered(*weights: int) -> dict[Any, Fraction]:
    """Returns the law with some weights of 0, 1, ..."""
    return {repr(k): Fraction(weight, sum(weights)) for k, weight in enumerate(weights)}


PAIRS = [list(p) for p in itertools.permutations([5, 6, 7], 2)]
ORDERS = [list(p) for p in itertools.permutations([5, 6, 7])]
BINOMIAL = {repr(k): math.comb(3, k) * Fraction(1, 4) ** k * Fraction(3, 4) ** (3 - k) for k in range(4)}
# draws of two different values of 5, 6 and 7 with the weights 1/2, 1/4 and 1/4
WITHOUT = {
    repr([5 + a, 5 + b]): p * q / (1 - p)
    for (a, p), (b, q) in itertools.permutations(
        enumerate([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]), 2
    )
}

FINITE: dict[str, Mapping[Any, Fraction]] = {
    "random.random() < 2 / 7": {"True": Fraction(2, 7), "False": Fraction(5, 7)},
    "random.uniform(-1, 4) < 0.5": {"True": Fraction(3, 10), "False": Fraction(7, 10)},
    "random.randint(-1, 3)": uniform(range(-1, 4)),
    "random.randrange(5)": uniform(range(5)),
    "random.randrange(7, 0, -3)": uniform([7, 4, 1]),
    "random.getrandbits(3)": uniform(range(8)),
    "random.getrandbits(0)": uniform([0]),
    "random.choice('aab')": weighted(a=2, b=1),
    "random.choices('abc', weights=[1, 0, 3])[0]": weighted(a=1, c=3),
    "random.choices([5, 6], k=2)": uniform([list(p) for p in itertools.product([5, 6], repeat=2)]),
    "random.choices('ab', cum_weights=[0.5, 2])[0]": weighted(a=1, b=3),
    "random.sample([5, 6, 7], 2)": uniform(PAIRS),
    "(a := [5, 6, 7], random.shuffle(a), a)[2]": uniform(ORDERS),
    "random.SystemRandom().randrange(3)": uniform(range(3)),
    "secrets.randbelow(3)": uniform(range(3)),
    "secrets.choice('ab')": weighted(a=1, b=1),
    "secrets.randbits(2)": uniform(range(4)),
    "np.random.random_sample() < 0.1": {"True": Fraction(1, 10), "False": Fraction(9, 10)},
    "np.random.ranf() < 0.1": {"True": Fraction(1, 10), "False": Fraction(9, 10)},
    "np.random.sample() < 0.1": {"True": Fraction(1, 10), "False": Fraction(9, 10)},
    "np.random.rand(2)[1] < 0.1": {"True": Fraction(1, 10), "False": Fraction(9, 10)},
    "np.random.uniform(2, 4) < 2.5": {"True": Fraction(1, 4), "False": Fraction(3, 4)},
    "int(np.random.randint(2, 5))": uniform([2, 3, 4]),
    "int(np.random.default_rng().integers(2, 4, endpoint=True))": uniform([2, 3, 4]),
    "np.random.randint(0, [2, 3]).tolist()": uniform([[a, b] for a in range(2) for b in range(3)]),
    "np.random.choice([5, 6, 7], 2, replace=False).tolist()": uniform(PAIRS),
    "np.random.choice([5, 6, 7], 2, replace=False, p=[0.5, 0.25, 0.25]).tolist()": WITHOUT,
    "int(np.random.default_rng().choice(3, p=[0.25, 0, 0.75]))": {"0": Fraction(1, 4), "2": Fraction(3, 4)},
    "np.random.permutation([5, 6, 7]).tolist()": uniform(ORDERS),
    "np.random.default_rng().permuted([[5], [6], [7]]).ravel().tolist()": uniform(ORDERS),
    "np.random.default_rng().permuted([[5, 6], [7, 8]])[0].tolist()": uniform(
        [list(p) for p in itertools.permutations([5, 6, 7, 8], 2)]
    ),
    "(a := np.array([[5], [6], [7]]), np.random.shuffle(a), a)[2].ravel().tolist()": uniform(ORDERS),
    "int(np.random.binomial(3, 0.25))": BINOMIAL,
    "int(stats.bernoulli.rvs(0.25))": {"0": Fraction(3, 4), "1": Fraction(1, 4)},
    "int(stats.binom.rvs(3, 0.25))": BINOMIAL,
    "int(stats.binom(3, 0.25).rvs())": BINOMIAL,
    "int(stats.randint.rvs(2, 5))": uniform([2, 3, 4]),
    "stats.uniform.rvs(1, 2) < 1.5": {"True": Fraction(1, 4), "False": Fraction(3, 4)},
    "language.flip(1 / 3)": {"True": Fraction(1, 3), "False": Fraction(2, 3)},
    "language.uniform(1, 3)": uniform([1, 2, 3]),
    "language.binomial(3, 1 / 4)": BINOMIAL,
    "language.choice({'a': 1 / 4, 'b': 3 / 4})": weighted(a=1, b=3),
    "min(np.random.geometric(0.25), 3)": {"1": Fraction(1, 4), "2": Fraction(3, 16), "3": Fraction(9, 16)},
    "min(stats.geom.rvs(0.25), 3)": {"1": Fraction(1, 4), "2": Fraction(3, 16), "3": Fraction(9, 16)},
    "min(language.one_sided_geometric(3 / 4), 2)": numbered(4, 3, 9),
    "language.clamp(language.geometric(1 / 3), -1, 1)": {
        "-1": Fraction(1, 4),
        "0": Fraction(1, 2),
        "1": Fraction(1, 4),
    },
}

# draws of real numbers that are at most a number, and the law of scipy
REAL: dict[str, tuple[float, Any]] = {
    "random.expovariate(2)": (0.75, stats.expon(scale=0.5)),
    "random.expovariate(-2)": (-0.75, None),
    "random.gauss(1, 2)": (0.5, stats.norm(1, 2)),
    "random.gauss(1, -2)": (0.5, stats.norm(1, 2)),
    "random.normalvariate(1, 2)": (2.5, stats.norm(1, 2)),
    "np.random.laplace(1, 2)": (0.5, stats.laplace(1, 2)),
    "np.random.laplace()": (0.5, stats.laplace()),
    "np.random.normal(1, 2)": (0.5, stats.norm(1, 2)),
    "np.random.standard_normal()": (0.5, stats.norm()),
    "np.random.randn()": (-0.5, stats.norm()),
    "np.random.exponential(2)": (0.5, stats.expon(scale=2)),
    "np.random.standard_exponential()": (0.5, stats.expon()),
    "np.random.laplace([1, 5], [2, 3])[1]": (4.5, stats.laplace(5, 3)),
    "stats.laplace.rvs(1, 2)": (0.5, stats.laplace(1, 2)),
    "stats.laplace(loc=1, scale=2).rvs()": (0.5, stats.laplace(1, 2)),
    "stats.norm.rvs(1, scale=2)": (0.5, stats.norm(1, 2)),
    "stats.expon.rvs(1, 2)": (1.5, stats.expon(1, 2)),
    "language.laplace(2)": (0.5, stats.laplace(0, 2)),
    "language.exponential(2)": (0.5, stats.expon(scale=2)),
    "language.gauss(2)": (0.5, stats.norm(0, 2)),
    # made of uniform draws
    "-2 * math.log(random.random())": (1.5, stats.expon(scale=2)),
    "-math.log(1 - random.random()) / 0.5": (1.5, stats.expon(scale=2)),
    "3 + 2 * math.log(random.random())": (2.5, None),
    "-math.log(random.random()) - math.log(random.random())": (1.5, stats.gamma(2)),
    "math.log(random.random()) - math.log(random.random())": (0.5, stats.laplace()),
    "(lambda u: -2 * (1 if u > 0 else -1) * math.log(1 - 2 * abs(u)))(random.random() - 0.5)": (
        0.5,
        stats.laplace(0, 2),
    ),
    "(lambda u: 2 * math.log(2 * u) if u < 0.5 else -2 * math.log(2 * (1 - u)))(random.random())": (
        -0.5,
        stats.laplace(0, 2),
    ),
    "abs(np.random.laplace(0, 2))": (0.5, stats.expon(scale=2)),
    "np.random.exponential(2) - np.random.exponential(2)": (0.5, stats.laplace(0, 2)),
    "random.choice([-1, 1]) * random.expovariate(0.5)": (0.5, stats.laplace(0, 2)),
}
OWN = {
    "random.expovariate(-2)": math.exp(-1.5),
    "3 + 2 * math.log(random.random())": math.exp(-0.25),
}

# draws that become whole numbers, which are limited to -2, ..., 3, and the distribution function of the sum
WHOLE: dict[str, Callable[[int], float]] = {
    "stats.dlaplace.rvs(0.75)": stats.dlaplace(0.75).cdf,
    "round(np.random.laplace(0.25, 2))": lambda k: stats.laplace(0.25, 2).cdf(k + 0.5),
    "math.floor(np.random.laplace(0.25, 2))": lambda k: stats.laplace(0.25, 2).cdf(k + 1),
    "math.ceil(np.random.laplace(0.25, 2))": lambda k: stats.laplace(0.25, 2).cdf(k),
    "int(np.random.laplace(0.25, 2))": lambda k: stats.laplace(0.25, 2).cdf(k + 1 if k >= 0 else k),
    "int(-np.random.laplace(-0.25, 2))": lambda k: stats.laplace(0.25, 2).cdf(k + 1 if k >= 0 else k),
    "int(np.round(np.random.laplace(0, 2)))": lambda k: stats.laplace(0, 2).cdf(k + 0.5),
    "int(np.floor(np.random.laplace(0, 2)))": lambda k: stats.laplace(0, 2).cdf(k + 1),
    "round(1 - 2 * np.random.laplace(0, 1))": lambda k: stats.laplace(1, 2).cdf(k + 0.5),
    "round(np.random.exponential(2) - 1)": lambda k: stats.expon(-1, 2).cdf(k + 0.5),
    "int(random.expovariate(0.5))": lambda k: stats.expon(scale=2).cdf(k + 1),
    "int(random.expovariate(0.5) - 1.25)": lambda k: stats.expon(-1.25, 2).cdf(k + 1 if k >= 0 else k),
    "int(math.log(random.random()) / math.log(math.exp(-0.5)))": lambda k: stats.expon(scale=2).cdf(k + 1),
    "math.floor(-2 * math.log(1 - random.random()))": lambda k: stats.expon(scale=2).cdf(k + 1),
    "math.ceil(math.log(random.random()) / -0.5)": lambda k: stats.expon(scale=2).cdf(k),
    "math.floor(2 * math.log(random.random()) + 3.5)": lambda k: 1 - stats.expon(scale=2).cdf(2.5 - k),
    "round(-2 * math.log(random.random()) - 1.75)": lambda k: stats.expon(-1.75, 2).cdf(k + 0.5),
    "int(-2 * math.log(random.random()) - 1.75)": lambda k: stats.expon(-1.75, 2).cdf(k + 1 if k >= 0 else k),
    "math.floor(-2 * math.log(random.random())) - math.floor(-2 * math.log(random.random()))": stats.dlaplace(
        0.5
    ).cdf,
}


def source_of(expressions: Iterable[str]) -> str:
    """Returns a module with a function for each expression."""
    return HEAD + "\n\n".join(f"def f{k}(x):\n    return {text}" for k, text in enumerate(expressions)) + "\n"


def laws(expressions: Iterable[str], folder: Path, name: str) -> list[Any]:
    """Returns the mechanism of each expression."""
    listed = list(expressions)
    module = imported(source_of(listed), folder, name)
    inputs = {"x": {"values": [0, 1]}}
    return [adopt(getattr(module, f"f{k}"), inputs=inputs, epsilon=1) for k in range(len(listed))]


@pytest.mark.slow
def test_finite_laws(tmp_path: Path) -> None:
    """Each finite law has its exact fractions."""
    names = {"True": True, "False": False}
    for text, found in zip(FINITE, laws(FINITE, tmp_path, "finite_laws"), strict=True):
        law = {read_name(name): Fraction(str(p)) for name, p in found.probabilities()["0"].items()}
        expected = {
            encoded(names[name] if name in names else eval(name))[0]: p for name, p in FINITE[text].items()
        }
        assert law == expected, text


@pytest.mark.slow
def test_real_laws(tmp_path: Path) -> None:
    """Each draw of a real number is at most a number with the probability of scipy."""
    compared = [f"({text}) <= {bound}" for text, (bound, _) in REAL.items()]
    for text, found in zip(REAL, laws(compared, tmp_path, "real_laws"), strict=True):
        bound, law = REAL[text]
        expected = OWN[text] if law is None else float(law.cdf(bound))
        if "gauss" not in found.to_toml():
            assert abs(float(found.probabilities()["0"]["True"]) - expected) < 1e-12, text
            continue
        (shown,) = (
            row["probability"]
            for row in found.show().document["probabilities"]
            if row["secret"] == "0" and row["observations"] == ["True"]
        )
        low, high = float(shown["lower"]), float(shown["upper"])
        assert high - low < 1e-9, text
        assert low - 1e-12 <= expected <= high + 1e-12, text


@pytest.mark.slow
def test_rounded_laws(tmp_path: Path) -> None:
    """Each draw that becomes a whole number has the probabilities of scipy."""
    limited = [f"min(max({text}, -2), 3)" for text in WHOLE]
    for text, found in zip(WHOLE, laws(limited, tmp_path, "rounded_laws"), strict=True):
        law = {int(name): float(p) for name, p in found.probabilities()["0"].items()}
        below = 0.0
        for k in range(-2, 4):
            upto = float(WHOLE[text](k)) if k < 3 else 1.0
            assert abs(law.get(k, 0.0) - (upto - below)) < 1e-12, (text, k)
            below = upto


def test_parameters_of_lazy_draws(tmp_path: Path) -> None:
    """A geometric draw by a logarithm of a uniform one has its law for every parameter."""
    body = "math.floor(math.log(random.random()) / math.log(math.exp(-epsilon)))"
    source = HEAD + f"def f(x, epsilon):\n    return min(x + {body}, 2)\n"
    module = imported(source, tmp_path, "parameters_of_lazy_draws")
    found = adopt(
        module.f, inputs={"x": {"values": [0, 1]}}, parameters={"epsilon": "(0, oo)"}, epsilon="epsilon"
    )
    for epsilon in (0.25, 1.0, 3.0):
        law: dict[str, Any] = dict(found.probabilities(at={"epsilon": epsilon})["0"])
        expected = {"0": 1 - math.exp(-epsilon), "2": math.exp(-2 * epsilon)}
        expected["1"] = 1 - sum(expected.values())
        assert all(abs(float(law[name]) - p) < 1e-12 for name, p in expected.items()), epsilon


def test_mistaken_arguments(tmp_path: Path) -> None:
    """Arguments that no law has raise what the library raises."""
    mistakes = (
        ("np.random.choice(3, p=[0.5, 0.25, 0.2])", "probabilities do not sum to 1"),
        ("np.random.choice(3, p=[0.5, 0.75, -0.25])", "probabilities are not non-negative"),
        ("np.random.choice([7, 7, 7], p=[0.5, 0.25, 0.2])", "probabilities do not sum to 1"),
        ("np.random.choice(2, p=[0.5])", "'a' and 'p' must have same size"),
        ("np.random.choice(2, 2, replace=False, p=[0, 1])", "Fewer non-zero entries in p than size"),
        ("np.random.binomial(2, 1.5)", "p < 0, p > 1 or p is NaN"),
        ("np.random.geometric(0)", "p <= 0, p > 1 or p contains NaNs"),
        ("np.random.laplace(0, -1) > 0", "scale < 0"),
        (
            "random.choices([1, 2, 3], weights=[1, 1])[0]",
            "The number of weights does not match the population",
        ),
        ("random.choices([1, 2], weights=[0, 0])[0]", "Total of weights must be greater than zero"),
        ("random.sample([1, 2], 3)", "Sample larger than population or is negative"),
        ("random.getrandbits(-1)", "number of bits must be non-negative"),
        ("random.choice([])", "Cannot choose from an empty sequence"),
    )
    found = laws([text for text, _ in mistakes], tmp_path, "mistaken_arguments")
    for (text, message), one in zip(mistakes, found, strict=True):
        (output,) = one.probabilities()["0"]
        assert message in output, text


def test_refused_draws(tmp_path: Path) -> None:
    """Draws whose law is not known, or depends on the library's own order, are refused."""
    refusals = {
        "random.choices([1, 2, 3], weights=[1, -1, 3])[0]": "a weight is negative",
        "np.random.default_rng().choice(3, 2, replace=False, shuffle=False)": "shuffle=False",
        "random.sample({1, 2}, 1)": "Population must be a sequence",
        "random.choices([1, 2], weights=[1, 1], cum_weights=[1, 2])": "Cannot specify both weights",
        "np.random.default_rng().permuted([[1, 2]], axis=1)": "axis",
        "(lambda u: (math.floor(-math.log(u)), u < 0.5))(random.random())": "rounded",
        "(lambda v: (round(v), v > 0))(np.random.laplace())": "rounded",
        "(lambda v: (v > 0, round(v)))(np.random.laplace())": "rounded",
        "np.random.choice(2, p=[0.5, 0.4999999999])": "divide them by their sum",
        "math.log(2) > 0.5": "log",
    }
    for k, (text, reason) in enumerate(refusals.items()):
        assert reason in refusal(HEAD + f"def f(x):\n    return {text}\n", tmp_path, f"refused_draw{k}"), text


def test_every_function_has_a_law_or_is_refused(tmp_path: Path) -> None:
    """The tables above are about every name that has a law; the others are refused by their names."""
    texts = " ".join((*FINITE, *REAL, *WHOLE, "._randbelow(", ".discrete_gaussian("))
    missing = []
    for module, table in (
        ("random", OF_PYTHON),
        ("secrets", OF_SECRETS),
        ("np.random", OF_NUMPY),
        ("stats", OF_SCIPY),
        ("language", OURS),
    ):
        for name in table:
            if f".{name}(" in texts or f".{name}.rvs(" in texts:
                continue
            source = HEAD + f"def f(x):\n    return {module}.{name}()\n"
            reason = refusal(source, tmp_path, f"law_of_{module.replace('.', '_')}_{name}")
            if not any(word in reason for word in ("not supported", "fixes the seed", "has no attribute")):
                missing.append(f"{module}.{name}: {reason}")
    assert not missing, "\n".join(missing)
