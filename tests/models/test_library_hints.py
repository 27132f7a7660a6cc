"""What messages say to write for a call of Python's libraries has the law of the call, or nothing is said.

Each translation is followed. Its law, by the exact engine, is compared with samples of the library itself.
"""

from __future__ import annotations

import ast
import importlib
import math
import random
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from library_followed import Stuck, compared, followed, law_of
from scipy import stats

from paramverify.errors import ProgramError
from paramverify.models.programs import python_libraries
from paramverify.models.programs.program_reading import read_program
from paramverify.privacy.cases import read_case
from paramverify.tables import TomlDocument

SAMPLES = 1_000
LEAST_P = 1e-9
WHOLE = {  # by the name in the library: calls that are written in several ways, and what is put out of them
    "random.random": ["random.random() < 0.3", "0.3 > random.random()", "random.random() >= 3 / 4"],
    "random.uniform": ["random.uniform(0, 1) < 0.75", "0.2 <= random.uniform(a=0, b=1.0)"],
    "random.randint": ["random.randint(-1, 2)", "random.randint(a=1, b=n + 2)"],
    "random.randrange": ["random.randrange(3)", "random.randrange(1, 4)", "random.randrange(9, -1, -4)"],
    "random.getrandbits": ["random.getrandbits(2)", "random.getrandbits(n)"],
    "random.choice": ["random.choice([5, n, 5])", "random.choice(('a', 'b'))", "random.choice(range(3))"],
    "random.choices": [
        "random.choices(['a', 'b'], weights=[1, n + 2])[0]",
        "random.choices([1, 4, 9])[0]",
        "random.choices(['a', 'b'], [1, 2], k=2)[1]",
    ],
    "random.gauss": ["random.gauss() > 0.3", "random.gauss(1, 2) > n", "random.gauss(sigma=2, mu=n) > 1"],
    "random.normalvariate": ["random.normalvariate(n, 2) > 1"],
    "random.expovariate": ["random.expovariate(3) > 1", "random.expovariate(lambd=2) > 0.5"],
    "random.binomialvariate": ["random.binomialvariate(3, 0.3)", "random.binomialvariate()"],
    "secrets.randbelow": ["secrets.randbelow(n + 2)"],
    "secrets.randbits": ["secrets.randbits(2)"],
    "secrets.choice": ["secrets.choice([1, 2, 4])"],
    "numpy.random.randint": [
        "np.random.randint(3)",
        "np.random.randint(1, 4)",
        "np.random.randint(high=n + 2, low=-1)",
    ],
    "numpy.random.choice": [
        "np.random.choice(3)",
        "np.random.choice([4, 7])",
        "np.random.choice(['a', 'b'], p=[0.2, 0.8])",
        "np.random.choice(2, p=[1 / 4, 3 / 4])",
    ],
    "numpy.random.Generator.integers": [
        "np.random.default_rng().integers(3)",
        "np.random.default_rng().integers(1, 4, endpoint=True)",
        "np.random.default_rng().integers(2, endpoint=True)",
        "np.random.default_rng().integers(-1, high=n + 1)",
    ],
    "numpy.random.Generator.choice": ["np.random.default_rng().choice([1, 5], p=(0.1, 0.9))"],
    "numpy.random.rand": ["np.random.rand() < 0.4"],
    "numpy.random.randn": ["np.random.randn() > 1"],
    "scipy.stats.uniform.rvs": ["stats.uniform.rvs() < 0.4", "stats.uniform.rvs(0, 1) >= 0.4"],
    "scipy.stats.laplace.rvs": ["stats.laplace.rvs(1, 2) > n", "stats.laplace.rvs(scale=3) > 1"],
    "scipy.stats.norm.rvs": ["stats.norm.rvs(loc=n, scale=2) > 1"],
    "scipy.stats.expon.rvs": ["stats.expon.rvs(1, 2) > 2", "stats.expon.rvs() > 1"],
    "scipy.stats.bernoulli.rvs": ["stats.bernoulli.rvs(0.3)", "stats.bernoulli.rvs(0.3, loc=n)"],
    "scipy.stats.binom.rvs": ["stats.binom.rvs(3, 0.4, 1)"],
    "scipy.stats.geom.rvs": [
        "stats.geom.rvs(0.5) > 2",
        "stats.geom.rvs(0.5) < 1",
        "stats.geom.rvs(0.5, -1) > 1",
    ],
    "scipy.stats.randint.rvs": ["stats.randint.rvs(1, 4)"],
    "scipy.stats.dlaplace.rvs": ["stats.dlaplace.rvs(1) > 0", "stats.dlaplace.rvs(0.5, loc=1) > 2"],
    "numpy.clip": ["np.clip(n, 0, 1)", "np.clip(n, 2, 1)", "np.clip(a=n, a_max=1, a_min=-1)"],
    "numpy.maximum": ["np.maximum(n, 1)"],
    "numpy.minimum": ["np.minimum(n, 1)"],
    "numpy.sum": ["np.sum([n, 3])"],
    "numpy.max": ["np.max([n, 1])"],
    "numpy.amax": ["np.amax([n, 1])"],
    "numpy.min": ["np.min([n, 1])"],
    "numpy.amin": ["np.amin([n, 1])"],
    "math.pow": ["math.pow(2, n - 1)"],
    "math.exp": ["random.random() < math.exp(-n)"],
    "numpy.exp": ["np.random.random() < np.exp(-n)"],
    "builtins.pow": ["pow(2, n)"],
    "builtins.bool": ["bool(n)", "bool(n - 1)"],
    "builtins.int": ["int(n > 1)", "int(x)", "int(not n > 1)"],
    "builtins.float": [
        "float(x)",
        "float(x + 1)",
        "float(n > 1)",
        "float(not n > 1)",
        "float(n > 0 and n < 2)",
    ],
}
DRAWN = {
    "uniform": ["{}.uniform() < 0.3", "{}.uniform(low=0, high=1) >= 0.3"],
    "binomial": ["{}.binomial(3, 0.25)", "{}.binomial(p=0.5, n=n)"],
    "geometric": ["{}.geometric(0.5) > 1", "{}.geometric(p=0.3) < 1", "{}.geometric(0.3) == 1"],
    "laplace": ["{}.laplace() > 1", "{}.laplace(1, 2) > n", "{}.laplace(scale=2) <= -1"],
    "normal": ["{}.normal(1, 2) > n"],
    "exponential": ["{}.exponential(2) > 1", "{}.exponential() > 1"],
    "standard_normal": ["{}.standard_normal() > 0.5"],
    "standard_exponential": ["{}.standard_exponential() > 0.5"],
    "random": ["{}.random() < 0.3", "{}.random() >= n / 4"],
}
FLOATS = ("floor", "ceil", "trunc", "fix", "rint", "round", "around", "abs", "absolute", "fabs", "sign")
OF_X = {  # functions of a number, at numbers with halves and of both signs
    **dict.fromkeys(("math.floor", "math.ceil", "math.trunc", "math.fabs", "builtins.round"), ""),
    **{f"numpy.{n}": "" for n in FLOATS},
}
for made, functions in (("np.random", DRAWN), ("np.random.default_rng()", DRAWN)):
    spelt = "numpy.random" if made == "np.random" else "numpy.random.Generator"
    # One call is enough for functions of the old module, which have the arguments of the new one.
    most = 1 if made == "np.random" else 3
    for name, calls in functions.items():
        WHOLE[f"{spelt}.{name}"] = [call.format(made) for call in calls[:most]]
WHOLE.update(
    {f"numpy.random.{name}": [f"np.random.{name}() < 0.3"] for name in ("random_sample", "ranf", "sample")}
)
for name in OF_X:
    called = name.removeprefix("builtins.").replace("numpy", "np")
    WHOLE[name] = [f"{called}(x)", f"{called}({'n' if name == 'builtins.round' else 'n - 3 / 4'})"]

CALLS = [(name, call) for name, calls in WHOLE.items() for call in calls]


def newer(call: str) -> bool:
    """Tells whether a call is of a function that this Python does not have yet."""
    return "binomialvariate" in call and not hasattr(random, "binomialvariate")


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[c for _, c in CALLS])
def test_the_law_is_the_same(name: str, call: str) -> None:
    """The call is refused with a proposal, and the program that follows all of them has its law."""
    text = f"x = n - 3 / 2\noutput({call})"
    got, steps = followed(text)
    assert steps, call
    exact = law_of(got)
    if newer(call):  # moments are compared for it below
        return
    assert compared(text, exact, SAMPLES, seed=1) >= LEAST_P, got


def test_every_translation_is_tested() -> None:
    """No translation is without a call, and no call without a translation."""
    exact = {
        name
        for name, entry in python_libraries.TABLE.items()
        if not isinstance(entry, python_libraries.Refused)
    }
    assert exact == set(WHOLE)


TAILS = [
    ("np.random.laplace(1, 2)", stats.laplace(1, 2)),
    ("np.random.geometric(0.3)", stats.geom(0.3)),
    ("np.random.exponential(2)", stats.expon(scale=2)),
    ("random.expovariate(2)", stats.expon(scale=1 / 2)),
    ("random.gauss(1, 2)", stats.norm(1, 2)),
    ("stats.dlaplace.rvs(0.7)", stats.dlaplace(0.7)),
    ("stats.geom.rvs(0.3)", stats.geom(0.3)),
]


@pytest.mark.parametrize(("call", "wanted"), TAILS, ids=[c for c, _ in TAILS])
@pytest.mark.parametrize("place", [-1, 0, 3])
def test_exact_tails(call: str, wanted: Any, place: int) -> None:
    """Unbounded noise has the tails of the distribution, its support included."""
    (law,) = law_of(followed(f"output({call} > {place})")[0], values=[0]).values()
    assert math.isclose(float(law.get("True", 0)), wanted.sf(place), abs_tol=1e-9)


def functions(module: str) -> Iterator[str]:
    """Yields the functions and classes of a library by their names."""
    place, _, inside = module.partition(":")
    found = importlib.import_module(place)
    found = getattr(found, inside) if inside else found
    for name in getattr(found, "__all__", None) or dir(found):
        if not name.startswith("_") and callable(getattr(found, name)):
            yield name


@pytest.mark.parametrize("module", ["random", "secrets", "math", "numpy.random", "numpy.random:Generator"])
def test_every_function_is_in_the_table(module: str) -> None:
    """Each function of these libraries is translated, or refused with a reason of its own."""
    spelt = module.replace(":", ".")
    missing = [n for n in functions(module) if f"{spelt}.{n}" not in python_libraries.TABLE and n != "Random"]
    assert missing == []


@pytest.mark.slow
def test_names_in_messages_are_in_the_table() -> None:
    """Whatever function of a library a message of the package names stands in the table."""
    folder = Path(python_libraries.__file__).parents[2]
    written = re.compile(r"\b(?:random|np\.random|numpy\.random|np|numpy|secrets|scipy\.stats|math)\.\w+\(")
    for path in [*folder.glob("models/programs/*.py"), *folder.glob("api/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for found in written.findall(node.value):
                    assert found[:-1].replace("np.", "numpy.") in python_libraries.TABLE, (path, found)


NONE = [  # no proposal: another law, or what cannot be known
    "output(random.random())",
    "output(random.random() <= 0.3)",
    "output(random.random() == 0.5)",
    "output(np.random.uniform(n, 1) < 1)",
    "output(np.random.random(3) < 1)",
    "output(np.random.laplace(0, 1, 3))",
    "output(np.random.laplace(size=n))",
    "output(np.random.poisson(2))",
    "output(random.triangular())",
    "output(np.random.choice(q))",
    "output(np.random.choice([1, 'a']))",
    "output(np.random.choice([1, 1], p=[0.5, 0.5]))",
    "output(np.random.choice([1, 2], replace=False))",
    "output(random.choices(q, weights=[1, 2])[0])",
    "output(random.choices([1, 2], k=n)[0])",
    "output(np.random.default_rng(0).laplace())",
    "output(np.random.RandomState(1).laplace())",
    "rng = np.random.default_rng(seed=4)\noutput(rng.integers(2))",
    "random.seed(1)\noutput(random.randint(1, 2))",
    "np.random.seed(n)\noutput(1)",
    "output(rng.laplace(0, 1) > 0)",
    "rng = np.random.default_rng()\nrng = other(3)\noutput(rng.laplace(0, 1) > 0)",
    "output(np.argmax(q))",
    "output(np.array([1]))",
    "output(np.clip(np.round(n + laplace(1)), 0, 20))",
    "output(np.log(n))",
    "output(math.pi)",
    "output(np.sign(geometric(1 / 2)))",
    "output(round(n + geometric(1 / 2)))",
    "output(np.round(n, 1))",
    "output(np.sum(q, axis=0))",
    "output(float('inf'))",
    "output(np.maximum(n > 1, 0))",
    "output(str(n))",
    "output(randrange(2))",
    "output(np.cumsum(q))",
    "output(stats.norm.rvs(size=1))",
    "from numpy.random import *\noutput(1)",
    "from numpy.random import geometric\noutput(geometric(1 / 2) > 0)",
    "from other import geometric\noutput(geometric(1 / 2) > 0)",
    "import numpy.random as flip\noutput(1)",
]


@pytest.mark.parametrize("text", NONE)
def test_no_proposal_without_the_same_law(text: str) -> None:
    """Where no expression has the law, or the meaning is not known, the message proposes none."""
    with pytest.raises(Stuck) as caught:
        followed(text)
    assert "supported; write" not in str(caught.value)
    with pytest.raises(ProgramError):
        read_program(text)


MIXED = {  # programs, and the line in which a whole number is compared as if it were a real one
    "output(uniform(0, 1) < 3 / 4)": "output(uniform(0, 1) < 3 / 4)",
    "u = uniform(0, 1)\noutput(u >= 0.25)": "output(u >= 0.25)",
    "output(n / 2 > uniform(0, 1))": "output(n / 2 > uniform(0, 1))",
    "def f(a):\n    u = uniform(0, a)\n    return u == 1 / 3\noutput(f(n + 1))": "return u == 1 / 3",
    "output(1 if uniform(0, 2) <= 1.5 else n)": "output(1 if uniform(0, 2) <= 1.5 else n)",
    "output(uniform(0, 1) < 1)": "",
    "output(uniform(0, 4) >= n)": "",
    "output(uniform(0, 4) >= n // 2)": "",
    "output(uniform(0, 4) >= 6 / 3)": "",
    "u = uniform(0, 1)\nu = n / 4\noutput(u < 1 / 3)": "",
    "output(flip(3 / 4) == True)": "",
}


@pytest.mark.parametrize("text", MIXED)
def test_whole_numbers_beside_fractions_are_noted(text: str) -> None:
    """Each answer about a program that may take `uniform` for a real number has a note with the line."""
    inputs = {"n": {"values": [0, 1, 2]}}
    mechanism = {"kind": "program", "source": text, "inputs": inputs}
    data = {"mechanism": mechanism, "neighbours": {"differ": "one"}, "privacy": {"ratio": 2}}
    told = [
        note
        for note in read_case(TomlDocument(data, path="case.toml")).model.notes
        if "no real number" in note
    ]
    assert len(told) == (MIXED[text] != "")
    assert all(f" in `{MIXED[text]}`; flip(p)" in note for note in told)


BOUND = [  # the same names mean other things
    ("import numpy as r\noutput(r.random.randint(1, 4))", "uniform(1, 3)"),
    ("from numpy import random\noutput(random.randint(1, 4))", "uniform(1, 3)"),
    ("import random\noutput(random.randint(1, 4))", "uniform(1, 4)"),
    ("import numpy.random as random\noutput(random.randint(1, 4))", "uniform(1, 3)"),
    ("from random import randint as np\noutput(np(1, 4))", "uniform(1, 4)"),
    ("from random import gauss as g\noutput(g(0, 2) > 0)", "gauss(2)"),
    ("import numpy.random\noutput(numpy.random.geometric(0.5) > 1)", "(1 + one_sided_geometric(1 - 0.5))"),
    ("from numpy.random import default_rng\nr = default_rng()\noutput(r.integers(4))", "uniform(0, 3)"),
    ("from random import SystemRandom\nr = SystemRandom()\noutput(r.randrange(4))", "uniform(0, 3)"),
    ("import math as np\noutput(np.floor(n))", "(n // 1)"),
    ("from math import floor as f\noutput(f(n))", "(n // 1)"),
]


@pytest.mark.parametrize(("text", "proposal"), BOUND)
def test_names_mean_what_they_are_bound_to(text: str, proposal: str) -> None:
    """A name is that of its import, and not what it usually is."""
    with pytest.raises(ProgramError, match=re.escape(f"not supported; write {proposal}")):
        read_program(text)
    read_program(followed(text)[0])


@pytest.mark.parametrize(
    "text",
    [
        "def round(x):\n    return x + 1\noutput(round(n))",
        "def randint(a, b):\n    return a\noutput(randint(1, 2))",
        "stats = [1, 2]\noutput(stats[0])",
        "random = 1\noutput(random)",
    ],
)
def test_names_of_the_program_are_its_own(text: str) -> None:
    """A function or a variable of the program is not taken for one of a library."""
    read_program(text)


FILE = """
import random, secrets, math
import numpy as np
from numpy import random as npr
from numpy.random import laplace as noise, randint
from random import randint as both_ends
from paramverify import clamp, flip, mechanism, {words}
from paramverify.tables import TomlDocument
rng = np.random.default_rng(0)
class Own:
    def laplace(self, a, b): return 0
own = Own()
def choice_(x): return x
def choose(x): return x
{more}
@mechanism(inputs={{"n": {{"values": "0..2"}}}}, neighbours={{"differ": "one"}}, ratio=2)
def f(n):
    return {body}
"""
IN_PYTHON = [
    ("noise(1, 2) > n", "", "private"),
    ("npr.randint(1, 4)", "", "private"),
    ("randint(1, 4)", "", "private"),
    ("both_ends(1, 4)", "", "private"),
    ("np.random.geometric(0.5)", "", "private"),
    ("rng.laplace(0, 1) > 0", "", "private"),
    ("own.laplace(0, 1) > n", "", "private"),
    ("own.laplace(0, 1) >= n", "", "not private"),
    ("geometric(n)", "def geometric(x): return x", "not private"),
    ("laplace(1, 2) > n", "from numpy.random import laplace", "private"),
    ("exp(n)", "def exp(x): return x", "not private"),
    ("round(n)", "def round(x): return x", "not private"),
    ("np.clip(np.abs(n), 0, 1)", "", "not private"),
    ("flip(math.exp(-1))", "", "private"),
    ("random.randint(1, 2)", "random = Own()", "'Own' object has no attribute 'randint'"),
    ("np.random.laplace(0, 1)", "np = Own()", "'Own' object has no attribute 'random'"),
]


@pytest.mark.parametrize(("body", "more", "said"), IN_PYTHON, ids=[b for b, _, _ in IN_PYTHON])
def test_functions_of_python(body: str, more: str, said: str, tmp_path: Path) -> None:
    """In a function of Python names mean what they are bound to, whatever they look like."""
    path = tmp_path / "own.py"
    path.write_text(FILE.format(body=body, more=more, words="exp"))
    if said in ("private", "not private"):
        assert runpy.run_path(str(path))["f"].verify().verdict == said
        return
    with pytest.raises(ProgramError) as caught:
        runpy.run_path(str(path))
    assert said in str(caught.value)
    assert "write" not in str(caught.value)


def test_the_samples_can_tell() -> None:
    """The comparison of laws rejects the hints that were false."""
    for call, wrong in (
        ("np.random.geometric(0.5) > 0", "geometric(0.5) > 0"),
        ("np.random.randint(1, 4)", "uniform(1, 4)"),
        ("random.uniform(0, 1) < 0.75", "uniform(0, 1) < 1"),
    ):
        assert compared(f"output({call})", law_of(f"output({wrong})"), SAMPLES, seed=1) < LEAST_P
