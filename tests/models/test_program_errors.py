"""Programs that are refused: one clear reason each, with the place, and never a traceback."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from case_texts import program_case
from program_oracle import Oracle, proved

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import RationalFunction, Ring, Unbounded
from paramverify.cli.main import run
from paramverify.errors import InputError, ProgramError
from paramverify.models.context import Checks
from paramverify.models.programs.noise_densities import Bases
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import outputs_of
from paramverify.models.programs.run_states import Unread
from paramverify.printable import escaped

REFUSED = {
    "for k in len(q):\n    output(k)": ("write for k in range(n)", 1),
    "x = geometric(a)\ny = laplace(1)\noutput(x + y)": ("", 3),
    "b = q\nb[0] = 1\noutput(b)": ("write b = q + []", 1),
    "b = [0]\nb[0] = 1\nc = b\noutput(c)": ("write c = b + []", 3),
    "output(max())": ("max needs at least 1 argument", 1),
    "import math\noutput(1)": ("imports are not supported", 1),
    "output(q.count(1))": ("a dot is not allowed", 1),
    "output([x for x in q])": ("comprehensions are not supported; fill a list in a for loop", 1),
    "x = geometric(a)\noutput([x for k in q])": ("comprehensions are not supported", 2),
    "def f(x):\n    y = g(x)\n    return y\ndef g(x):\n    y = f(x)\n    return y\noutput(1)": (
        "recursion",
        1,
    ),
    "x = geometric(a)\noutput(q[x])": ("an index cannot be a noisy number", 2),
    "x = geometric(a)\nif x:\n    output(1)": ("this must be a condition, such as x >= 0", 2),
    "x = geometric(a)\noutput(clamp(x // 2, 0, 1))": ("// with noise is not supported", 2),
    "x = geometric(a)\ny = x + laplace(2)\nif y >= 0:\n    output(1)": ("", 3),
    "for k in range(10 ** 9):\n    output(1)": ("the range has more than 10,000 numbers", 1),
    "k = 10 ** 5000\noutput(k)": ("an exponent must be a whole number up to 1,000", 1),
    "b = [0] * 10 ** 9\noutput(1)": ("the list has more than 10,000 entries", 1),
    "while True:\n    n = 1\noutput(n)": ("so it needs a bound", 1),
    "while q[0] < 5:\n    n = 1\noutput(1)": ("so it needs a bound", 1),
    "if q[0] == 1:\n    n = 1\noutput(n)": (
        "n has no value on some paths: assign it on every path before line 2",
        3,
    ),
    "n = n + q[0]\noutput(n)": ("n has no value yet: it is assigned only at line 1; assign it earlier", 1),
    "b[0] = 1\noutput(1)": ("b has no value here: the known names are a, q", 1),
    "noisy = q[0]\noutput(m)": ("m has no value here: the known names are a, noisy, q", 2),
    "def f(k):\n    return q[k]\noutput(f(0))": (
        "q has no value inside the function f: pass it as an argument, as in def f(k, q)",
        2,
    ),
    "output(q[2])": ("the index 2 is out of range: the list has 2 entries", 1),
    "b = [1]\nb[1] = 1\noutput(b)": ("the index 1 is out of range: the list has 1 entry", 2),
    "output(1 / (q[0] - q[0]))": ("division by zero", 1),
    "output(flip(3/2))": ("the probability of flip is 3/2, but must be between 0 and 1", 1),
    "def f(x):\n    x + 1\noutput(f(1))": ("write return ... or name = ...", 2),
    "if q[0] && q[1]:\n    output(1)": ("write and", 1),
    "x = {1: 2}\noutput(x)": ("dictionaries are only supported in choice", 1),
    "for x in q:\n    output(x)\n# else\nelse :\n    output(1)": ("else after a loop is not supported", 4),
    "output(flip(2))": ("", 1),
    "output(flip(2 * a))": ("", 1),
    'output(choice({"1": 1/2, 1: 1}))': ("sum to 3/2", 1),
    "output(choice({1: 1/2, True: 1/2}))": ("this value is listed twice in choice", 1),
    "output(choice({0.5: 1/2, 1/2: 1/2}))": ("this value is listed twice in choice", 1),
    "b = [0]\nb[0], (c, d) = 1, [2, 3]\noutput(b)": ("write each other assignment on its own line", 2),
    "b = [0]\nfor b[0] in q:\n    output(b)": ("a name is expected here", 2),
    "b = [0]\nb[0], b[0] = [1, 2, 3]\noutput(b)": (
        "the value must be a list with 2 entries, one for each name",
        2,
    ),
    "output(choice([1, 2]))": ("choice needs a table of labels and probabilities", 1),
    "output(uniform(2, 1))": ("uniform needs lo <= hi", 1),
    "output(uniform(0, 10 ** 9))": ("more than 10,000 values", 1),
    "x = geometric(1)\noutput(1)": ("", 1),
    "output(print(1))": ("write output(...)", 1),
    "output(flp(1/2))": ("did you mean flip?", 1),
    "output(flip(1/2, 3))": ("flip needs 1 argument", 1),
    "output(a >= 1/2)": ("a parameter or exp(...) cannot be compared", 1),
    "output(a)": ("a parameter or exp(...) cannot be used here; use it only in the arguments of noise", 1),
    "a = 1\noutput(a)": ("a is already a parameter or a definition of the case", 1),
    "n = 1": ("the program never outputs anything", 1),
    "def f(x):\n    output(x)\n    return x\noutput(1)": ("output is not allowed inside a function", 2),
    "def f(x):\n    stop\noutput(1)": ("stop is not allowed inside a function", 2),
    "def f(x, x):\n    return x\noutput(1)": ("two parameters have the same name; rename one of them", 1),
    "def f(x):\n    return x\ny = f(1, 2)\noutput(y)": (
        "f needs 1 argument, as in its definition at line 1",
        3,
    ),
    "def f(x):\n    return x, 1\ny = f(1)\noutput(y)": ("f returns several values; write a, b = f(...)", 3),
    "n = 1\ndef f(x):\n    return x\noutput(n)": ("functions must be defined before", 2),
    "output((1, 2))": ("write a list, [a, b]", 1),
    "b, = [1]\noutput(b)": ("write name = values[0]", 1),
    "b, c = [1]\noutput(b)": ("the value must be a list with 2 entries, one for each name", 1),
    "b = [0, 0]\nb[uniform(0, 1)] += 1\noutput(b)": (
        "a call in these brackets would be evaluated twice; assign it to a name first",
        2,
    ),
    "output(0 < uniform(0, 1) < 1)": (
        "the middle of a chained comparison must be a name or a number; assign the call to a name first",
        1,
    ),
    "for x in q:\n    output(x)\nelse:\n    output(1)": (
        "else after a loop is not supported; set a variable",
        3,
    ),
    "output('a' + 'b')": ("+ needs numbers; labels cannot be joined", 1),
    "output([1] + laplace(1))": ("+ needs numbers, not a list: work on its entries in a loop", 1),
    "output(q[1/2])": ("this must be a whole number", 1),
    "output(max([]))": ("max of an empty list has no value; check its length first", 1),
    "output(clamp(1, 3, 2))": ("clamp needs two numbers lo <= hi", 1),
    "\tif 1:\n\toutput(1)": ("syntax error", 1),
    "output(" + "-" * 200 + "1)": ("nested deeper than 60", 1),
    "output(" + "(" * 400 + "1" + ")" * 400 + ")": ("", 1),
    "x = lambda: 1\noutput(1)": ("lambda is not supported", 1),
    "output(f'{q}')": ("f-strings are not supported", 1),
    "output(1j)": ("is not supported as a value: use numbers", 1),
    "output(None)": ("is not supported as a value: use numbers", 1),
    "global q\noutput(1)": ("global is not supported", 1),
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_refusals(text: str) -> None:
    """Each program has one reason, with its line and a caret under the place."""
    reason, line = REFUSED[text]
    with pytest.raises(ProgramError) as caught:
        proved(text, [[0, 1]], {"a": Fraction(1, 4)})
    assert reason in str(caught.value)
    assert caught.value.line == line
    *_, shown, caret = str(caught.value).split("\n")
    assert shown.strip() in escaped(text.replace("\t", " ").split("\n")[line - 1])
    assert caret.strip() == "^"


SHARED = [
    "b = q\nb[0] = 1",
    "b = [1]\nc = b\nc[0] = 2",
    "b = [1]\nc = b\nb[0] = 2",
    "b = [1]\nb[0] = 2\nc = b",
    "b = [[1], [2]]\nc = b[0]\nc[0] = 5",
    "b = [[1], [2]]\nc = b[0]\nb[0][0] = 5",
    "b = [1]\nc = [b, b]\nc[0][0] = 5",
    "b = [1]\nc = [b]\nb[0] = 5",
    "b = [[0]] * 2\nb[0][0] = 5",
    "b = [[0], [1]]\nc = b + []\nc[0][0] = 5",
    "b = [[0], [1]]\nc = b[1:]\nc[0][0] = 5",
    "b = [[0], [1]]\nfor r in b:\n    r[0] = 5",
    "b = [[0], [1]]\nfor r in b:\n    b[1][0] = 5",
    "b = [0, 1]\nfor x in b:\n    b[1] = 5",
    "b = [[0, 1]]\nfor x in b[0]:\n    b[0][1] = 5",
    "b = [0]\nb += [1]",
    "b = [0]\nb *= 2",
    "b = [[0]]\nb[0] += [1]",
    "b = [0]\nc = [1]\nb, c = c, b\nb[0] = 5",
    "b = [[0]]\nb = b + b\nb[0][0] = 5",
    "b = [0]\nc = b if flip(1/2) else [1]\nc[0] = 5",
    "b = [0]\nc = b or [1]\nc[0] = 5",
    "b = [0]\nc = [1]\nc[0] = b\nb[0] = 5",
    "b = [[0], [1]]\nb[0] = b[1]\nb[1][0] = 5",
    "b = [[0], [1]]\nb[0], b[1] = b[1], b[0]\nb[1][0] = 5",
]
SHARED_BY_FUNCTIONS = [
    "def f(x):\n    x[0] = 5\n    return 1\nb = [0]\nc = f(b)",
    "def f(x):\n    return x\nb = [0]\nc = f(b)\nc[0] = 5",
    "def f(x):\n    return x\nb = [0]\nc = f(b)\nb[0] = 5",
    "def f(x):\n    y = [x]\n    return y\nb = [0]\nc = f(b)\nb[0] = 5",
    "def f(x):\n    y = [0]\n    return y, y\nb, c = f(1)\nb[0] = 5",
    "def f(x):\n    y = [0]\n    z = [y]\n    return z\nb = f(1)\nb[0][0] = 5",
    "def g(x):\n    return x\ndef f(x):\n    y = g(x)\n    return y\nb = [0]\nc = f(b)\nc[0] = 5",
    "def f(x):\n    for y in x:\n        return y\n    return 0\nb = [[0]]\nc = f(b)\nb[0][0] = 5",
]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import numpy as np\ndef f(x):\n    return x\noutput(f(1))", 1),
        ("'''A title.'''\nfrom math import pi\ndef f(x):\n    return x\noutput(f(1))", 2),
        ("def f(x):\n    return x\nimport math\ndef g(x):\n    return x\noutput(g(1))", 3),
    ],
)
def test_an_import_above_a_function_is_refused_as_an_import(text: str, line: int) -> None:
    """The line with the import is named, and not the definition below it, which is in its place."""
    with pytest.raises(ProgramError, match="imports are not supported: remove the line") as caught:
        read_program(text)
    assert caught.value.line == line


@pytest.mark.parametrize("text", [*SHARED, *SHARED_BY_FUNCTIONS])
def test_lists_that_two_names_share_are_refused(text: str) -> None:
    """A list that changes in place has one name, since Python would change it under the other name too."""
    with pytest.raises(
        ProgramError, match=r"write|refers to the same list|return a copy|build the inner lists anew"
    ):
        proved(text + "\noutput([b])", [[0, 1]], {"a": Fraction(1, 4)})


ALONE = [
    "b = q + []\nb[0] = 1",
    "b = [0]\nb[0] = 1\nc = b + []\nc[0] = 2",
    "b = [[0], [1]]\nb[0][0] = 5\nb = b + [[2]]\nb[2][0] = 7",
    "b = [0, 1]\nfor x in b + []:\n    b[1] = 5 + x",
    "b = [0, 1]\nc = b\nd = [b, c]",
    "def f(n):\n    y = []\n    for k in range(n):\n        y = y + [k]\n    return y\nb = f(3)\nb[0] = 5",
    "def f(x):\n    y = [0]\n    z = [1]\n    return y, z\nb, c = f(1)\nb[0] = 5\nc[0] = 6",
    "b = [1, 2]\nb = [b[1], b[0]]\nb[0] = 7",
]


@pytest.mark.parametrize("text", ALONE)
def test_lists_of_one_name_may_change(text: str) -> None:
    """Lists that only one name reaches change as in Python."""
    text += "\noutput([b])"
    (found,) = proved(text, [[0, 1]], {})
    assert found == Oracle(Fraction(1, 4), 1).distribution(text, {"q": [0, 1]})


def _unbounded(text: str) -> None:
    ring = Ring(("x_eps",), None, (Unbounded("eps", "x_eps", Fraction(1, 4)),))
    checks = Checks(box_domain(ring, {"x_eps": Interval(Fraction(0), Fraction(1))}))
    outputs_of(read_program(text), {"q": (Unread(0), Unread(1))}, [(Fraction(0), Fraction(1))], checks)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = laplace(eps)\noutput(1)", "the scale of this noise must be a number, or 2 / eps"),
        ("output(geometric(2))", r"geometric\(a\) takes the ratio a = .* write geometric\(exp\(-epsilon\)\)"),
        ("x = laplace(1 / eps)\ny = laplace(2)\noutput(1)", "continuous noise must have scales of one kind"),
    ],
)
def test_refusals_with_unbounded_parameters(text: str, reason: str) -> None:
    """Scales and probabilities that have no exact form are refused, with what to write."""
    with pytest.raises(InputError, match=reason):
        _unbounded(f"{text}\noutput(0)")


LARGE = program_case("{source}", 'n = {{ values = "0..1" }}', "{bound}", near='differ = "one"')


@pytest.mark.parametrize(
    ("source", "bound", "command", "code", "says"),
    [
        (
            "x = geometric(1/2) / 10**25 + n\noutput(x > 1)",
            "ratio = 2",
            "verify",
            2,
            "line 2: the power 1000",
        ),
        ("x = geometric(1/2) / 10**7 + n\noutput(x > 1)", "ratio = 2", "show", 2, "of 1/2 is too large"),
        ("x = geometric(1/2) / 20000 + n\noutput(x > 1)", "ratio = 2", "verify", 1, "8.37463e-6022"),
        ("x = geometric(1/2) / 20000 + n\noutput(x > 1)", "ratio = 2", "show", 3, "about 6021 digits"),
        ("x = geometric(1/2) / 20000 + n\noutput(x > 1)", "ratio = 2", "budget", 3, "over 4300 digits"),
        ("x = laplace(1/10**20)\noutput(x > n/10**20)", "ratio = 2", "verify", 1, "exp(1) (≈ 2.71828) times"),
        (
            "x = laplace(1/10**20)\noutput(x > n/10**20)",
            "epsilon = 1",
            "verify",
            0,
            "private: epsilon = 1",
        ),
        ("x = laplace(10**20)\noutput(x > n)", 'epsilon = "1/10**20"', "verify", 0, "epsilon = 1/10**20"),
        ("x = laplace(10**20)\noutput(x > n)", 'epsilon = "1/10**21"', "verify", 1, "not private"),
    ],
)
def test_huge_and_small_numbers(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    source: str,
    bound: str,
    command: str,
    code: int,
    says: str,
) -> None:
    """Numbers beyond floats are exact; those that are too large to be written have words."""
    path = tmp_path / "case.toml"
    path.write_text(LARGE.format(source=source, bound=bound))
    assert run([command, str(path)]) == code
    assert says in "".join(capsys.readouterr())


def test_which_rates_are_small() -> None:
    """Powers that are closer to each other than floats can tell are compared exactly."""
    ring = Ring(())
    bases = Bases(Checks(box_domain(ring, {})))
    near = bases.number(RationalFunction.of(ring.number(Fraction(10**20 - 1, 10**20))))
    half, quarter = (bases.number(RationalFunction.of(ring.number(Fraction(1, k)))) for k in (2, 4))
    assert bases.small(((near, 1),))
    assert not bases.small(((near, -1),))
    assert not bases.small(((half, 2), (quarter, -1)))
    assert bases.small(((near, 1), (half, 2), (quarter, -1)))
    assert bases.small(((half, 10**400),))
    assert not bases.small(((half, -(10**400)),))
    assert not bases.small(())
    bases.step = Fraction(10**30)
    assert not bases.small(((0, 1),))
    bases.step = Fraction(1, 10**30)
    assert bases.small(((0, -1),))
    assert not bases.small(((0, 1),))
