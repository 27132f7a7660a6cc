"""What a refusal tells people to write is accepted, and is what they meant."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from case_texts import program_case
from program_oracle import proved

import paramverify
from paramverify.cli.main import run
from paramverify.errors import InputError, ProgramError
from paramverify.models.programs import program_reading
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_sampling import ProgramSampler

CASE = program_case(
    "{}", 'q = {{ length = 2, values = "0..1" }}', 'epsilon = "4*eps"', parameters='eps = "(0, oo)"'
)


def told(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Returns the exit code of `verify`, and all that it says."""
    path = folder / "case.toml"
    path.write_text(text)
    code = run(["verify", str(path)])
    caught = capsys.readouterr()
    return code, caught.out + caught.err


COUNTED = "n = 0\nfor k in range(len(q)):\n    if q[k] == 1:\n        n = n + 1\noutput(n)"
FILLED = "b = []\nfor x in q:\n    b = b + [x + 1]\noutput(b)"
BEST = "best = q[0]\nfor x in q:\n    best = max(best, x)\noutput(best)"
KEPT = "w = 0\nfor k in range(len(q)):\n    if q[k] > q[w]:\n        w = k\noutput(w)"
MENDS = {  # what is refused, and programs that do what the message says; streams have cases of their own
    "stream": ("x = stream(values='real')\noutput(x)",),
    "print": ("print(1)", "output(1)"),
    "enumerate": ("for k, x in enumerate(q):\n    output(x)", COUNTED),
    "zip": ("for x, y in zip(q, q):\n    output(x)", COUNTED),
    "list": ("a = list(q)\noutput(a)", "b = q\na = b + []\noutput(a)"),
    "tuple": ("a = tuple(q)\noutput(a)", "a = [q[0], q[1]]\noutput(a)"),
    "dict": ("a = dict(q)\noutput(a)", "a = [3, 4, 5]\noutput(a[q[0]])"),
    "append": ("append(q, 1)\noutput(1)", "x = 1\na = q\na = a + [x]\noutput(a)"),
    "any": ("output(any(q))", COUNTED),
    "all": ("output(all(q))", COUNTED),
    "map": ("output(map(f, q))", FILLED),
    "filter": ("output(filter(f, q))", COUNTED),
    "sorted": ("output(sorted(q))", BEST),
    "exit": ("exit()", "output(1)\nstop"),
    "quit": ("quit()", "output(1)\nstop"),
    ".append": ("b = []\nb.append(1)\noutput(b)", "x = 1\nb = []\nb = b + [x]\noutput(b)"),
    ".extend": ("b = []\nb.extend(q)\noutput(b)", "b = []\nvalues = q\nb = b + values\noutput(b)"),
    "discrete_laplace": (
        "output(q[0] + discrete_laplace(2))",
        "scale = 2\noutput(q[0] + geometric(exp(-1/scale)))",
    ),
    "dlaplace": ("output(q[0] + dlaplace(1))", "a = 1\noutput(q[0] + geometric(exp(-a)))"),
    "two_sided_geometric": (
        "output(q[0] + two_sided_geometric(1/2))",
        "a = 1/2\noutput(q[0] + geometric(a))",
    ),
    "laplacian": ("output(q[0] + laplacian(1))", "scale = 1\noutput(q[0] + laplace(scale))"),
    "double_exponential": (
        "output(q[0] + double_exponential(1))",
        "scale = 1\noutput(q[0] + laplace(scale))",
    ),
    "normal": (
        "output(q[0] + normal(0, 1) > 0)",
        "mean = 0\nsigma = 1\noutput(q[0] + mean + gauss(sigma) > 0)",
    ),
    "gaussian": (
        "output(q[0] + gaussian(1) > 0)",
        "mean = 0\nsigma = 1\noutput(q[0] + mean + gauss(sigma) > 0)",
    ),
    "discrete_normal": (
        "output(q[0] + discrete_normal(1) > 0)",
        "sigma = 1\noutput(q[0] + discrete_gaussian(sigma) > 0)",
    ),
    "bernoulli": ("output(bernoulli(1/2))", "p = 1/2\noutput(flip(p))"),
    ".insert": (
        "b = []\nb.insert(0, 1)\noutput(b)",
        "b = []\nx = 1\nk = 0\nb = b[:k] + [x] + b[k:]\noutput(b)",
    ),
    ".copy": ("output(q.copy())", "b = q + []\noutput(b)"),
    ".count": ("output(q.count(1))", COUNTED),
    ".index": ("output(q.index(1))", KEPT),
    ".sort": ("q.sort()\noutput(q)", BEST),
    "BitAnd": ("output(q[0] & q[1])", "output(q[0] > 0 and q[1] > 0)"),
    "BitOr": ("output(q[0] | q[1])", "output(q[0] > 0 or q[1] > 0)"),
    "BitXor": ("output(2 ^ 3)", "output((q[0] > 0) != (q[1] > 0))"),
    "Invert": ("output(~q[0])", "x = q[0]\noutput(-x - 1)"),
    "LShift": ("output(q[0] << 2)", "x = q[0]\nk = 2\noutput(x * 2 ** k)"),
    "RShift": ("output(q[0] >> 2)", "x = q[0]\nk = 2\noutput(x // 2 ** k)"),
    "MatMult": ("output(q @ q)", COUNTED),
}
LISTS = {"append": "b", "extend": "b", "insert": "b", "copy": "q"}  # the names above
HINTS = {
    **program_reading.WRITE,
    **{f".{name}": hint.format(LISTS.get(name, "")) for name, hint in program_reading.ATTRIBUTES.items()},
    **{kind.__name__: hint for kind, hint in program_reading.OPERATORS.items()},
}


def accepted(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> bool:
    """Tells whether `verify` has an answer to a case with this program."""
    text = text.replace("'", '"').replace("geometric(a)", "geometric(exp(-eps))")
    case = CASE.format(text)
    if "gauss" in text:  # whose probabilities have no parameters
        case = case.replace('eps = "(0, oo)"', "eps = 1").replace('"4*eps"', "4")
    return told(tmp_path, case, capsys)[0] in (0, 1)


@pytest.mark.parametrize("name", MENDS)
def test_hints(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each hint is told, and programs that have it word by word are accepted."""
    bad, *good = MENDS[name]
    with pytest.raises(ProgramError) as caught:
        read_program(bad)
    assert HINTS[name] in str(caught.value)
    for text in good:
        assert accepted(text, tmp_path, capsys), text
    for written in re.findall(r"(?:write|take|while) ((?:\w+ =|x |\(x )[^;,]+)", HINTS[name]):
        assert any(written.partition(":")[0] in text for text in good), written


ELSEWHERE = """
hypergeometric negative_binomial beta_binomial truncated_geometric truncated_laplace double_laplace staircase
exponential_mechanism discrete_uniform lognormal one_sided_laplace poisson skellam cauchy discrete_geometric
"""


def test_no_hint_is_another_distribution() -> None:
    """The name of a distribution that is not in the language is never taken for a slip in one that is."""
    for name in ELSEWHERE.split():
        with pytest.raises(ProgramError) as caught:
            read_program(f"output({name}(1))")
        assert "did you mean" not in str(caught.value)
        with pytest.raises(InputError) as other:
            paramverify.compose([f"{name}:scale=1"], delta_for=1)
        assert "did you mean" not in other.value.mend
    for slip, meant in (
        ("lapace", "laplace"),
        ("geomtric", "geometric"),
        ("discretegaussian", "discrete_gaussian"),
        ("two_sided_geometic", "two_sided_geometric. If so, write geometric"),  # and not one_sided_geometric
        ("lap", "laplace or laplacian"),  # and not clamp
        ("disc", "discrete_gaussian or discrete_laplace or discrete_normal"),
    ):
        with pytest.raises(ProgramError, match=f"did you mean {meant}"):
            read_program(f"output({slip}(1))")


ROUNDED = [
    "output(round(q[0] + laplace(1)))",
    "x = q[0] + laplace(1)\ny = 2 * x\noutput(int(y))",
    "import math\nimport numpy as np\noutput(math.floor(q[0] + np.random.laplace(0, 1)))",
]


@pytest.mark.parametrize("text", ROUNDED)
def test_rounded_noise_is_refused_at_once(text: str) -> None:
    """No translation is proposed that is refused in its turn; noise in `clamp` has finitely many values."""
    with pytest.raises(
        ProgramError, match="rounds noise, which is not supported: draw noise on whole numbers"
    ):
        read_program(text)
    with pytest.raises(ProgramError, match="not supported; write"):
        read_program("x = clamp(q[0] + geometric(1/2), 0, 2)\noutput(round(x / 2))")


def test_each_hint_is_followed() -> None:
    """No hint is without a program that follows it."""
    assert sorted(MENDS) == sorted(HINTS)


NAMES = [
    ("if flip(1/2):\n    n = 1\noutput(n)", "before line 1", "n = 0\nif flip(1/2):\n    n = 1\noutput(n)"),
    (
        "def f(k):\n    return q[k]\noutput(f(0))",
        "pass it as an argument, as in def f(k, q)",
        "def f(k, q):\n    return q[k]\noutput(f(0, q))",
    ),
    ("noisy = q[0]\noutput(nosiy)", "did you mean noisy?", "noisy = q[0]\noutput(noisy)"),
]


@pytest.mark.parametrize(("bad", "said", "good"), NAMES)
def test_names_without_a_value(bad: str, said: str, good: str) -> None:
    """The proof and the sampler say the same of a name that has no value, and what they say helps."""
    with pytest.raises(ProgramError) as caught:
        proved(bad, [[0, 1]], {})
    with pytest.raises(ProgramError) as sampled:
        ProgramSampler(read_program(bad), {}, np.random.default_rng(1)).run(
            {"q": (Fraction(0), Fraction(1))}, 50
        )
    assert said in str(caught.value).replace("before line 2", "before line 1")
    assert str(sampled.value) == str(caught.value)
    assert proved(good, [[0, 1]], {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("output(1 / q[1])", "division by zero; this happens under the input (0, 0)"),
        (
            "b = [1]\noutput(b[q[1]])",
            "out of range: the list has 1 entry; this happens under the input (0, 1)",
        ),
        ("output(1 / 0)", "division by zero\n"),
    ],
)
def test_the_input_is_told(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What goes wrong on some inputs only is told with one of them."""
    code, shown = told(tmp_path, CASE.format(text), capsys)
    assert code == 2
    assert said in shown
