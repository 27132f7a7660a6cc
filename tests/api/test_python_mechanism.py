"""Python functions as mechanisms: proved, tested and sampled from one source, or refused."""

from __future__ import annotations

import linecache
import math
import re
import runpy
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paramverify
from paramverify import (
    choice,
    clamp,
    exp,
    flip,
    geometric,
    language,
    laplace,
    mechanism,
    one_sided_geometric,
    output,
    stop,
    uniform,
)
from paramverify.cli.main import run
from paramverify.errors import CaseError, ExpressionError, InputError, ProgramError

SIZE = 3
COUNT: Mapping[str, Any] = {
    "inputs": {"n": {"values": "0..2"}},
    "parameters": {"a": "(0, 1)"},
    "neighbours": {"differ": "each"},
    "ratio": "1/a",
}


def noisy(x: int, a: float) -> int:
    """A function of the module that mechanisms call."""
    drawn = geometric(a)
    return x + drawn


@mechanism(
    inputs={"q": {"length": 3, "values": range(-1, 2)}},
    parameters={"alpha": "(0, 1)"},
    neighbours={"differ": "each"},
    ratio="1/alpha**4",
)
def sparse_vector(q: list[int], alpha: float) -> None:
    """Sparse vector, stops at the first answer above the threshold.

    The rest of the docstring is no title.
    """
    T = geometric(alpha**2)  # a comment
    for x in q:
        y = noisy(x, alpha)
        # another one
        if y >= T:
            output("above")
            stop()
        output("below")


def by_hand(alpha: Fraction, q: tuple[int, ...], strict: bool = False) -> dict[tuple[str, ...], float]:
    """Returns the probabilities of sparse vector by summation over thresholds; noise beyond 80 is cut off."""
    a = float(alpha)
    found: Counter[tuple[str, ...]] = Counter()
    for t in range(-80, 81):
        left = (1 - a**2) / (1 + a**2) * a ** (2 * abs(t))
        for k, x in enumerate(q):
            least = t - x + strict
            above = a**least / (1 + a) if least > 0 else 1 - a ** (1 - least) / (1 + a)
            found[("below",) * k + ("above",)] += left * above
            left *= 1 - above
        found[("below",) * len(q)] += left
    return dict(found)


@pytest.mark.slow
def test_one_source_is_proved() -> None:
    """It holds, its budget is tight, and its case file says the same to the command line."""
    report = sparse_vector.verify()
    assert report.verdict == "private"
    assert sparse_vector.budget().relative == 1
    assert sparse_vector.case().title == "Sparse vector, stops at the first answer above the threshold."


def test_probabilities_are_those_of_summation() -> None:
    """The exact probabilities at a point are numbers, and equal sums over the noise."""
    found = sparse_vector.probabilities(at={"alpha": Fraction(1, 2)})
    assert len(found) == 27
    for name, outputs in found.items():
        q = tuple(map(int, name[1:-1].split(", ")))
        wanted = {", ".join(told): p for told, p in by_hand(Fraction(1, 2), q).items()}
        assert outputs.keys() == wanted.keys()
        assert all(p.is_rational for p in outputs.values())
        assert all(abs(float(outputs[told]) - p) < 1e-12 for told, p in wanted.items())
    functions = sparse_vector.probabilities()
    assert str(functions["(0, 0, 0)"]["above"]).count("alpha") > 1


@pytest.mark.usefixtures("ample_share")
def test_a_range_of_python_is_the_range_of_a_file() -> None:
    """Larger inputs are looked at for a `range`, and for no list; ranges with other steps are lists."""

    def function(n, a):  # type: ignore[no-untyped-def]
        return n * n // 4 + geometric(a)

    said = {"parameters": {"a": "(0, 1)"}, "neighbours": {"differ": "one"}, "ratio": "1/a"}
    for values, written in ((range(3), '"0..2"'), ([0, 1, 2], "[0, 1, 2]"), (range(0, 3, 2), "[0, 2]")):
        made = mechanism(inputs={"n": {"values": values}}, **said)(function)
        assert f"n = {{ values = {written} }}" in made.to_toml()
        if written != "[0, 2]":
            larger = made.verify().larger
            assert (larger is not None) == isinstance(values, range)
            other = paramverify.loads(made.to_toml()).with_(mechanism={"inputs": {"n": {"values": values}}})
            assert f"values = {written}" in other.to_toml()


@pytest.mark.slow
def test_the_case_file_is_the_same_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line verifies the text, and checks evidence of it against it."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    path.write_text(sparse_vector.to_toml())
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 0
    assert "private: ratio = 1/alpha**4" in capsys.readouterr().out
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    assert "def noisy(x, a):" in path.read_text()
    assert 'output("above")' in path.read_text()


def test_calls_sample() -> None:
    """A seed repeats a call, a generator goes on, and the outputs follow the distribution."""
    assert sparse_vector([0, 1, -1], 0.5, seed=7) == sparse_vector([0, 1, -1], alpha="1/2", seed=7)
    rng = np.random.default_rng(3)
    assert len({sparse_vector([0, 1, -1], 0.5, rng=rng) for _ in range(30)}) > 1
    counts = Counter(sparse_vector.sample(50_000, [0, 1, -1], alpha=Fraction(1, 2), seed=1))
    wanted = by_hand(Fraction(1, 2), (0, 1, -1))
    assert counts.keys() == wanted.keys()
    assert all(abs(counts[told] - 50_000 * p) < 5 * math.sqrt(50_000 * p) for told, p in wanted.items())


@mechanism(**COUNT)
def several(n, a):
    x = [n / 3, 0.1, True, "word", choice({"red": 1 / 2, -1: 1 / 2}), [n]]
    y = uniform(0, 1) + one_sided_geometric(a) * 0
    if y > 5 or flip(exp(0)) == False:  # noqa: E712
        return "never"
    return x


def test_what_a_call_returns() -> None:
    """Values are exact and plain: whole numbers, fractions, truth values, labels and lists."""
    told = several(2, "1/2", seed=1)
    assert told[:4] == [Fraction(2, 3), Fraction(1, 10), True, "word"]
    assert told[4] in ("red", -1)
    assert told[5] == [2]
    assert type(told[5][0]) is int
    assert told[2] is True
    assert several.__name__ == "several"
    assert repr(several) == "<mechanism several(n, a)>"


@pytest.mark.parametrize(
    ("given", "named", "reason"),
    [
        (([0, 1], "1/2"), {}, "q: the list has 2 values: give 3"),
        ((1, "1/2"), {}, "q: this input has another shape: give a list of 3 values"),
        (([0, 1, 2], "1/2"), {}, "q: the case has no value 2: the values are -1, 0, 1"),
        (([0, 1, "x"], "1/2"), {}, "q: the case has no value x"),
        (([0, 1, 1], 1), {}, "alpha: the value 1 is not in (0, 1)"),
        (([0, 1, 1], None), {}, "alpha: None is not a number"),
        (([0, 1, 1], 0.5), {"seed": 1, "rng": 2}, "seed and rng exclude each other"),
    ],
)
def test_values_that_the_proof_is_not_about(given: Any, named: Any, reason: str) -> None:
    """A call with values that the case does not have is refused."""
    with pytest.raises(InputError, match=re.escape(reason)):
        sparse_vector(*given, **named)


def test_arguments_are_bound_as_in_python() -> None:
    """Missing and unknown arguments are Python's own errors."""
    with pytest.raises(TypeError, match="missing a required argument: 'alpha'"):
        sparse_vector([0, 0, 0])
    with pytest.raises(TypeError, match="unexpected keyword argument 'beta'"):
        sparse_vector([0, 0, 0], 0.5, beta=1)


def geometric_noise(rng: np.random.Generator, alpha: float, size: int) -> np.ndarray[Any, Any]:
    return rng.geometric(1 - alpha, size) - rng.geometric(1 - alpha, size)


def shipped(rng: np.random.Generator, q: tuple[int, ...], size: int, *, mistake: str = "") -> list[list[str]]:
    """Sparse vector, written again with numpy."""
    T = geometric_noise(rng, 0.25, size)
    noisy = [x + (mistake == "q + 1") + geometric_noise(rng, 0.5, size) for x in q]
    told = []
    for k in range(size):
        row: list[str] = []
        for y in noisy[: len(q) - (mistake == "last")]:
            above = y[k] > T[k] if mistake == ">" else y[k] >= T[k]
            row.append("above" if above else "below")
            if above and mistake != "goes on":
                break
        told.append(row)
    return told


@pytest.mark.slow
@pytest.mark.parametrize("mistake", ["", ">", "q + 1", "last", "goes on"])
def test_an_off_by_one_is_told_apart(mistake: str) -> None:
    """An audit passes the implementation that does the same, and no other."""

    def implementation(rng: np.random.Generator, q: tuple[int, ...], size: int) -> list[list[str]]:
        return shipped(rng, q, size, mistake=mistake)

    found = sparse_vector.audit(implementation, at={"alpha": "1/2"}, runs=20_000, pairs=2)
    assert found.passes == (not mistake)
    assert sparse_vector.audit(at={"alpha": "1/2"}, runs=20_000, pairs=2).passes


@pytest.mark.slow
def test_a_mechanism_is_audited_against_another() -> None:
    """Two functions are compared, the second one as an implementation; the inputs have to be the same."""

    @mechanism(**COUNT)
    def right(n, a):
        return clamp(n + geometric(a), 0, 2)

    @mechanism(**COUNT)
    def wrong(n, a):
        return clamp(n + one_sided_geometric(a), 0, 2)

    assert right.audit(right, at={"a": 0.5}).passes
    assert not right.audit(wrong, at={"a": 0.5}).passes
    with pytest.raises(InputError, match="has other inputs than"):
        right.audit(sparse_vector)


def test_a_leak_has_its_witness() -> None:
    """A violation comes with exact probabilities of the witness."""

    @mechanism(inputs={"n": {"values": [0, 1]}}, neighbours={"differ": "one"}, epsilon="ln(2)")
    def answer(n):
        if flip(3 / 4):
            return n
        return 1 - n

    report = answer.verify()
    assert report.verdict == "not private"
    assert report.witness.ratio == answer.budget().ratio == 3
    wanted = {
        "0": {"0": Fraction(3, 4), "1": Fraction(1, 4)},
        "1": {"0": Fraction(1, 4), "1": Fraction(3, 4)},
    }
    assert answer.probabilities(at={}) == wanted
    assert answer.probabilities() == wanted


def test_a_parameter_of_every_positive_number() -> None:
    """eps in (0, oo): proved for all, sampled and audited at a number, which is exact in the case."""

    @mechanism(
        inputs={"n": {"values": [0, 1]}},
        parameters={"eps": "(0, oo)"},
        neighbours={"differ": "one"},
        epsilon="eps",
    )
    def answer(n, eps):
        lie = flip(exp(-eps) / (1 + exp(-eps)))
        return 1 - n if lie else n

    assert answer.verify()
    counts = Counter(answer.sample(40_000, 1, eps=1, seed=2))
    share = 1 / (1 + math.e)
    assert abs(counts[0] - 40_000 * share) < 5 * math.sqrt(40_000 * share)
    assert answer.audit(at={"eps": 1}).passes
    assert answer.audit(at={"x_eps": "1/3"}).passes
    exact = answer.probabilities(at={"eps": 1})["1"]["0"]
    assert abs(float(exact) - share) < 1e-12
    with pytest.raises(InputError, match=r"eps: the value 0 is not in \(0, oo\)"):
        answer(1, eps=0)
    with pytest.raises(InputError, match=r"eps: the value -1 is not in \(0, oo\)"):
        answer.audit(at={"eps": -1})
    assert "Note: x_eps stands for exp(-eps)" in str(answer.show())


def test_a_parameter_that_is_one_number() -> None:
    """It need not be given to a call, and may be no other number."""

    @mechanism(
        inputs={"n": {"values": [0, 1]}}, parameters={"eps": 1}, neighbours={"differ": "one"}, epsilon="eps"
    )
    def test(n, eps):
        return n + laplace(1 / eps) > 1 / 2

    assert test.verify()
    assert test(0, seed=1) in (True, False)
    assert test.audit(runs=20_000).passes
    with pytest.raises(InputError, match=r"eps: the value 2 is not in 1: give a value of this domain$"):
        test(0, 2)


def test_a_prior() -> None:
    """Inputs may be expressions over a prior, and then a call takes any numbers."""

    @mechanism(
        inputs={"sick": "john + kin"},
        parameters={"p": "(0, 1)", "a": "(0, 1)"},
        prior={"john": {"bernoulli": "p"}, "kin": {"given": "john", "table": {0: {0: 1}, 1: {1: 1}}}},
        secrets={"ill": "john == 1", "healthy": "john == 0", "pairs": [["ill", "healthy"]]},
        ratio="1/a**2",
    )
    def count(sick, a):
        return clamp(sick + geometric(a), 0, 2)

    assert count.verify()
    assert count(17, 0.5, seed=1) == 2
    assert count.audit(runs=10_000).passes


HEAD = f"""
import math
from fractions import Fraction
import numpy as np
import paramverify
from paramverify import clamp, exp, flip, geometric, laplace, mechanism
from paramverify.cli.main import run
SIZE = 3
COUNT = {dict(COUNT)!r}
def endless(n):
    m = endless(n)
    return m + 1
def squared(n, a):
    x = geometric(a)
    return x * (x + n)
"""
F = "@mechanism(**COUNT)\ndef f(n, a):\n    "
INNER = "    @mechanism(**COUNT)\n    def f(n, a):\n        return "
TWO = '@mechanism(inputs={"q": {"length": 2, "values": "0..1"}}, neighbours={"differ": "one"}, ratio=2)\n'
TIMES = "if n > 1:\n        y = geometric(a) * geometric(a)\n        return 1 if y > 1 else 0\n    return 0"
REFUSED = [  # what is defined, the reason, and what stands above the caret
    (F.replace(", a)", ", *a)") + "return n", "plain arguments only", "def f(n, *a)"),
    (
        f"{F}x = endless(n)\n    return x + 1",
        "the recursion here has no bound",
        "m = endless(n)",
    ),
    (
        F.replace(", a)", ")") + "return clamp(n + geometric(a), 0, 1)",
        "a is a parameter: make it an argument of f",
        "a), 0, 1)",
    ),
    (
        f"{F}{TIMES}\nf.verify()",
        "the product of two noisy numbers is not supported",
        "geometric(a) * geometric(a)",
    ),
    (
        f"{F}y = squared(n, a)\n    return y > 1\nf.verify()",
        "the product of two noisy numbers is not supported",
        "x * (x + n)",
    ),
]


@pytest.mark.parametrize(("text", "reason", "under"), REFUSED)
def test_what_is_refused(text: str, reason: str, under: str, tmp_path: Path) -> None:
    """The error has the file of the function, the line, and a caret under the place."""
    path = tmp_path / "own.py"
    path.write_text(HEAD + text)
    with pytest.raises(ProgramError) as caught:
        runpy.run_path(str(path))
    first, line, pointer = str(caught.value).split("\n")
    number = int(first.split("line ")[1].split(":")[0])
    assert first.startswith(f"{path}: line {number}: ")
    assert reason in first
    written = path.read_text().split("\n")[number - 1]
    assert line == f"    {written}"
    assert line[pointer.index("^") :].startswith(under)


BEYOND = [  # functions outside the language of programs, and what is true of them
    ("def same(g):\n    return g\n" + F.replace("def f", "@same\ndef f") + "return n", "not private"),
    (
        f"def made():\n    laplace = np.random.laplace\n{INNER}laplace(n, 3) > 0\n    return f\nf = made()",
        "not private",
    ),
    (f"def made():\n    def len(x):\n        return 2\n{INNER}len([n])\n    return f\nf = made()", "private"),
    (f"{F}return clamp(n + paramverify.geometric(a), 0, 1)", "private"),
    (f"{TWO}def f(q):\n    q[0] = flip(1 / 2)\n    return q", "not private"),
    (f"{F}return sum([k + 1 for k in range(n)])", "not private"),
    (f"{F}'It has a docstring only.'", "private"),
]


@pytest.mark.parametrize(("text", "verdict"), BEYOND)
def test_a_function_outside_the_language_is_adopted(text: str, verdict: str, tmp_path: Path) -> None:
    """What a name is bound to in Python decides, also if it looks like a word of the language."""
    path = tmp_path / "own.py"
    path.write_text(HEAD + text)
    assert runpy.run_path(str(path))["f"].verify().verdict == verdict


ROUND = "rounding a sum of several draws is not supported"
BOTH = [  # functions that neither reading accepts, and whose reason is told
    (
        f"{F}return round(n + laplace(1) + laplace(2))",
        "round rounds noise, which is not supported: draw noise on",
    ),
    (
        f"{F}return paramverify.laplace(1) * paramverify.laplace(2) > n",
        "from paramverify import laplace",
    ),
    (
        f"{F}from paramverify import exponential as e\n    return round(n + e(1) + e(2))",
        "round uses its argument several times",
    ),
    (f"{F}return [k for k in stream(3)]", "stream"),
    (f"{F}return (lambda: one_sided_geometric(a) / 3)()", "lambda is not supported; define a function"),
    (f"{F}return round(n + np.random.laplace() + np.random.laplace())", ROUND),
    (f"{F}laplace = np.random.laplace\n    return round(n + laplace() + laplace())", ROUND),
    (f"{F}class Laplace:\n        flip = 1\n    return n", "define it at the top of the file"),
    (f"{F}return (lambda d: round(n + d + np.random.normal()))(np.random.laplace())", ROUND),
]


@pytest.mark.parametrize(("text", "reason"), BOTH)
def test_the_reason_is_about_what_was_written(text: str, reason: str, tmp_path: Path) -> None:
    """Words of paramverify make a function a program; any other one is a function of Python."""
    path = tmp_path / "own.py"
    path.write_text(HEAD + text)
    with pytest.raises(InputError, match=re.escape(reason)):
        runpy.run_path(str(path))


SEED = F.replace("COUNT", '{**COUNT, "inputs": {"seed": {"values": "0..1"}}}').replace("n, a", "seed")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mechanism(**COUNT)(len)", "is not a plain function, but of the type builtin_function"),
        (
            F.replace("def f", "@staticmethod\ndef f") + "return n",
            "is not a plain function, but of the type staticmethod",
        ),
        (f"class Inside:\n{INNER}n".replace("(n, a)", "(self, n, a)"), "f is a method of the class Inside"),
        (
            F.replace("a)", "b)") + "return n",
            "inputs.b: the function has the argument b: add it to inputs or to parameters",
        ),
        (F.replace("n, a", "a") + "return flip(a)", "inputs.n: the function has no argument n"),
        (f"{SEED}return seed", "inputs.seed: every mechanism has an argument seed"),
    ],
)
def test_which_functions_are_none(text: str, reason: str, tmp_path: Path) -> None:
    """What is no plain function of its arguments is refused in words."""
    path = tmp_path / "own.py"
    path.write_text(HEAD + text)
    with pytest.raises(InputError, match=re.escape(reason)):
        runpy.run_path(str(path))


def test_a_function_without_source() -> None:
    """A function that no file has, such as one of a prompt, cannot be read."""
    names: dict[str, Any] = {}
    exec("def f(n, a):\n    return n\n", names)
    with pytest.raises(InputError, match="the source of f cannot be read: define the function in a file"):
        mechanism(**COUNT)(names["f"])


def test_a_file_that_has_changed(tmp_path: Path) -> None:
    """The text that is read has to be that of the function."""
    path = tmp_path / "changes.py"
    path.write_text("def f(n, a):\n    return n\n")
    function = runpy.run_path(str(path))["f"]
    path.write_text("def other(n, a):\n    return 0\n")
    with pytest.raises(InputError, match="has changed since f was imported"):
        mechanism(**COUNT)(function)


@pytest.mark.parametrize(
    "now",
    [
        "\ndef f(n, a):\n    return n\n",  # each line is one lower
        "def f(n, a):\n    return n + 1\n",
        "def f(n, a):\n    return n + True\n",
        "def f(n, a):\n    return a\n",
        "def f(n, b):\n    return n\n",
        "def f(n, a):\n    return (n\n",
        "",
    ],
)
def test_a_body_that_has_changed(tmp_path: Path, now: str) -> None:
    """A function is what was imported, also where the new text would be a program too."""
    path = tmp_path / "body.py"
    path.write_text("def f(n, a):\n    return n\n")
    function = runpy.run_path(str(path))["f"]
    path.write_text(now)
    linecache.checkcache()
    with pytest.raises(InputError, match=r"has changed since f was imported|source of f cannot be read"):
        mechanism(**COUNT)(function)


def test_a_comment_that_has_changed(tmp_path: Path) -> None:
    """Places are those of the file as it is now, and comments mean nothing."""
    path = tmp_path / "comment.py"
    path.write_text("def f(n, a):\n    return n\n")
    function = runpy.run_path(str(path))["f"]
    path.write_text("def f(n, a):\n    # what comes in\n    return n  # goes out\n")
    linecache.checkcache()
    assert "return n  # goes out" in mechanism(**COUNT)(function).to_toml()


HELPERS = """
from paramverify import flip

def high(x):
    return x if flip(3/4) else 1 - x

def low(x):
    return x if flip(1/2) else 1 - x

def noise(rate):
    def low(x):
        return x if flip(3/4) else 1 - x
    def respond(x):
        y = low(x)
        return y
    return respond
"""


@pytest.mark.parametrize(
    ("between", "body", "output", "share"),
    [
        ("high, low = low, high", "return low(n)", "0", Fraction(3, 4)),
        ("g = low", "return g(n)", "0", Fraction(1, 2)),
        ("respond = noise(1)", "return [low(n), respond(n)]", "[0, 0]", Fraction(3, 8)),
    ],
)
def test_a_name_means_one_function(
    tmp_path: Path, between: str, body: str, output: str, share: Fraction
) -> None:
    """A program knows functions by name; where names mean other things in Python, the function is adopted."""
    path = tmp_path / "helpers.py"
    path.write_text(f"{HELPERS}\n{between}\n\ndef f(n):\n    {body}\n")
    function = runpy.run_path(str(path))["f"]
    found = mechanism(inputs={"n": {"values": [0, 1]}}, neighbours={"differ": "one"}, ratio=9)(function)
    assert found.probabilities()["0"][output] == share


def test_shapes_of_source(tmp_path: Path) -> None:
    """Tabs, one line, comments at the margin, odd indents and types are read as Python reads them."""
    path = tmp_path / "shapes.py"
    path.write_text(
        "import paramverify\nfrom paramverify import flip, clamp, geometric\nfrom math import exp\n"
        f"m = paramverify.mechanism(**{dict(COUNT)!r})\n"
        "def one(n, a): return n\n"
        "def tabs(n: int, a: 'float') -> int:\n\tif flip(1/2):\n\t\treturn n\n\treturn clamp(n +\n"
        "1, 0, 2)\n"
        "if True:\n"
        "        def deep(n, a):\n                x = [n,\n        1]\n# at the margin\n\n"
        "                'é'; y = x[0] \\\n  + x[1]\n                return y\n"
    )
    names = runpy.run_path(str(path))
    assert names["m"](names["one"])(2, 0.5) == 2
    assert {*names["m"](names["tabs"]).sample(200, 1, 0.5, seed=1)} == {1, 2}
    assert names["m"](names["deep"])(2, 0.5) == 3  # a text on its own is no program, and is adopted
    path.write_text(path.read_text().replace("'é'; ", ""))
    assert names["m"](runpy.run_path(str(path))["deep"])(2, 0.5) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "kind", "reason"),
    [
        ({"ratio": "1/b"}, ExpressionError, "f: ratio: unknown name 'b'"),
        ({"neighbours": {"differ": "all"}}, CaseError, "f: neighbours.differ: must be one of each, one"),
        (
            {"inputs": {"n": {"values": {3}}}},
            InputError,
            "f: inputs.n.values: {3} cannot be a value in a case",
        ),
        (
            {"inputs": {"n": {"values": "3"}}},
            CaseError,
            "f: inputs.n.values: the values of an input must be a range such as",
        ),
        ({"parameters": {"a": "(0; 1)"}}, InputError, "f: parameters.a: "),
        ({"ratio": None}, CaseError, "f: privacy: give either epsilon or ratio"),
    ],
)
def test_mistakes_in_the_tables(changed: Mapping[str, Any], kind: type[InputError], reason: str) -> None:
    """They are told with the file, the function and the key."""

    def f(n, a):
        return clamp(n + geometric(a), 0, 2)

    with pytest.raises(kind, match=re.escape(reason)):
        mechanism(**{**COUNT, **changed})(f).verify()


@pytest.mark.parametrize("name", [n for n in paramverify.__all__ if hasattr(language, n)])
def test_words_outside_of_a_mechanism(name: str) -> None:
    """A noise function that is called by itself says where it belongs."""
    arguments = {"uniform": 2, "binomial": 2, "clamp": 3, "stop": 0}.get(name, 1)
    with pytest.raises(
        InputError,
        match=rf"{name}\(...\) has a meaning only in a function that "
        "@paramverify.mechanism",
    ):
        getattr(paramverify, name)(*[1] * arguments)


def test_there_is_no_other_name() -> None:
    """The package has the words of the language, and tells what it has not."""
    with pytest.raises(AttributeError, match="has no attribute 'cauchy'"):
        paramverify.cauchy  # noqa: B018


@mechanism(
    inputs={"n": {"values": "0..1"}},
    parameters={"a": "(0, 1)", "b": "(0, 1)", "c": "1/2", "constraints": ["a + b < 1"]},
    neighbours={"differ": "each"},
    ratio=100,
)
def constrained(n, a, b, c):
    """Two parameters that are tied."""
    return choice({0: a, 1: b, 2: 1 - a - b}) + n * (1 if flip(c) else 0)


@mechanism(
    inputs={"n": {"values": "0..1"}},
    parameters={"eps": "(0, oo)"},
    neighbours={"differ": "one"},
    epsilon="eps",
)
def unbounded(n, eps):
    """Answers randomly, with a parameter that no rational point has."""
    return n if flip(1 / (1 + exp(-eps))) else 1 - n


@pytest.mark.parametrize(
    ("made", "at", "reason"),
    [
        (constrained, {"a": 2, "b": "1/2"}, "a: the value 2 is not in (0, 1)"),
        (constrained, {"a": "3/4", "b": "1/2"}, "a = 3/4, b = 1/2, c = 1/2 is not in the domain"),
        (constrained, {"a": "1/4", "b": "3/4"}, "a = 1/4, b = 3/4, c = 1/2 is not in the domain"),
        (constrained, {"a": "1/4", "b": "1/2", "c": "1/3"}, "c: the value 1/3 is not in 1/2"),
        (constrained, {"a": "1/4"}, "no value for b"),
        (constrained, {"d": 1}, "at: there is no parameter 'd'; choose from a, b, c"),
        (constrained, [("a", 1)], "is not a dictionary: give a dict"),
        (unbounded, {"x_eps": 3}, "x_eps: 3 is not a number between 0 and 1"),
        (unbounded, {"x_eps": "1/2", "eps": 1}, "at: there is no parameter 'x_eps'"),
        (unbounded, {"eps": -1}, "eps: the value -1 is not in (0, oo)"),
        (unbounded, {}, "no value for eps"),
    ],
)
def test_probabilities_outside_of_the_domain(made: Any, at: Any, reason: str) -> None:
    """What no point of the domain gives is no probability."""
    with pytest.raises(InputError, match=re.escape(reason)):
        made.probabilities(at=at)


def test_probabilities_inside_of_the_domain() -> None:
    """The same mechanisms have probabilities at points of the domain, and calls keep to constraints too."""
    found = constrained.probabilities(at={"a": "1/4", "b": "1/2"})
    assert all(sum(row.values()) == 1 for row in found.values())
    assert constrained(0, "1/4", "1/2", seed=1) in (0, 1, 2)
    with pytest.raises(InputError, match="is not in the domain"):
        constrained(0, "3/4", "1/2", seed=1)


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda: constrained.audit(runs=0), "runs"),
        (lambda: constrained.audit(runs=1.5), "runs"),
        (lambda: constrained.audit(level=2), "level"),
        (lambda: constrained.audit(level="much"), "level"),
        (lambda: constrained.audit(pairs=0), "pairs"),
        (lambda: constrained.audit(seed=-1), "seed"),
        (lambda: constrained.audit(at={"a": 2}), "a"),
        (lambda: constrained.sample(-1, 0, "1/4", "1/2"), "size"),
        (lambda: constrained.sample(1.5, 0, "1/4", "1/2"), "size"),
        (lambda: constrained(0, "1/4", "1/2", seed=-1), "seed"),
        (lambda: constrained(0, "1/4", "1/2", seed="a"), "seed"),
        (lambda: constrained(0, "1/4", "1/2", rng=3), "rng"),
        (lambda: constrained.verify(timeout=-1), "timeout"),
        (lambda: constrained.verify(timeout=float("nan")), "timeout"),
        (lambda: constrained.budget(timeout=0), "timeout"),
        (lambda: constrained.budget(precision=0), "precision"),
        (lambda: mechanism(inputs=[1])(noisy), "inputs"),
        (lambda: mechanism(inputs={1: 2})(noisy), "inputs"),
        (lambda: mechanism(inputs={"x": "n"}, neighbours=[[0, 1]])(noisy), "neighbours"),
    ],
)
def test_arguments_that_are_wrong(call: Callable[[], Any], key: str) -> None:
    """An error names the argument."""
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.key == key


def test_an_audit_against_other_values() -> None:
    """A mechanism whose input has other values is another mechanism."""

    @mechanism(inputs={"n": {"values": "0..2"}}, neighbours={"differ": "one"}, ratio=2)
    def more(n):
        return n if flip(2 / 3) else 0

    @mechanism(inputs={"n": {"values": "0..1"}}, neighbours={"differ": "one"}, ratio=2)
    def less(n):
        return n if flip(2 / 3) else 0

    with pytest.raises(InputError, match="has other inputs than"):
        less.audit(more, runs=10)


@pytest.mark.slow
@pytest.mark.parametrize("size", [False, True])
def test_numpy_scalars_in_lists_are_numbers(size: bool) -> None:
    """An implementation may return lists of numpy's own numbers and truth values."""

    @mechanism(inputs={"n": {"values": "0..1"}}, neighbours={"differ": "one"}, ratio=2)
    def pair(n):
        return [n if flip(2 / 3) else 1 - n, flip(1 / 2), 7]

    def one(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        kept = np.int64(n) if rng.random() < 2 / 3 else np.float32(1 - n)
        return kept, rng.random() < np.float64(0.5), np.uint8(7)

    def many(rng: np.random.Generator, n: int, size: int) -> list[list[Any]]:
        return [list(one(rng, n)) for _ in range(size)]

    assert pair.audit(many if size else one, runs=2_000).passes


def shift(x: int) -> int:
    """A function of the module that a test binds to another one."""
    return x + 1


def other(x: int) -> int:
    return x + 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shift", "geometric"])
def test_a_name_that_means_something_else_later(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper or a word that is bound again after the decoration is an error of every later use."""

    @mechanism(**COUNT)
    def moved(n, a):
        return clamp(shift(n) + geometric(a), 0, 3)

    assert moved.verify()
    monkeypatch.setitem(globals(), name, other)
    for use in (moved.verify, moved.budget, moved.show, moved.case, lambda: moved(1, 0.5, seed=1)):
        with pytest.raises(ProgramError, match=name):
            use()


def test_a_helper_with_another_body_later() -> None:
    """The same for a helper whose code is replaced."""

    @mechanism(**COUNT)
    def moved(n, a):
        return clamp(shift(n) + geometric(a), 0, 3)

    before = shift.__code__
    try:
        shift.__code__ = other.__code__
        with pytest.raises(ProgramError, match="shift has another body than when it was read"):
            moved.verify()
    finally:
        shift.__code__ = before
    assert moved.verify()


def test_the_decorator_needs_its_arguments() -> None:
    """Without brackets, or without inputs, an error says what to write."""
    decorate: Any = mechanism
    with pytest.raises(InputError, match=r"got no arguments: write, for example, @paramverify\.mechanism\("):
        decorate(lambda x: x)
    with pytest.raises(InputError, match=r"has no inputs: write"):
        decorate(epsilon=1)


def test_a_mistake_in_a_script_has_a_short_traceback(tmp_path: Path) -> None:
    """Only the line of the user and the decorator are before the message."""
    path = tmp_path / "own.py"
    path.write_text(
        "from paramverify import mechanism, laplace\n"
        '@mechanism(inputs={"n": {"values": "0..3"}}, neighbours={"differ": "one"}, ratio=2)\n'
        "def f(n):\n    return round(n + laplace(1) + laplace(2))\n"
    )
    with pytest.raises(ProgramError, match="round rounds noise, which is not supported") as caught:
        runpy.run_path(str(path))
    frames = [Path(entry.path) for entry in caught.traceback]
    assert len(frames[frames.index(path) :]) == 2
    assert caught.value.__suppress_context__
