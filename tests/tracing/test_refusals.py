"""What is said of functions that cannot be adopted: all places at once, and a mend for each that works."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from compared_functions import imported

from paramverify.api.adopting import adopt
from paramverify.api.decorated import Mechanism
from paramverify.errors import InputError, Mistakes, ProgramError

HEAD = "import math, os, random, time\nimport numpy as np\n\n"


def mistakes(source: str, folder: Path, name: str, **options: Any) -> InputError:
    """Returns the error about the function or method `f` of a source."""
    function = imported(HEAD + source, folder, name)
    found = function.f if hasattr(function, "f") else function.Box().f
    with pytest.raises(InputError) as caught:
        adopt(found, inputs={"x": {"values": [0, 1]}}, epsilon=1, **options)
    return caught.value


PLACES = {  # sources, with the text of each refused line and a part of its reason
    "constructs of a function, and calls behind them": (
        "def f(x):\n    class Box: pass\n    y = eval('x') + eval('x + 1')\n"
        "    rng = np.random.default_rng(7)\n    np.random.seed(1)\n"
        "    return time.time() + id(x) + rng.beta(1, 2)\n",
        {
            "class Box: pass": "a class inside a function",
            "y = eval('x') + eval('x + 1')": "eval runs code",
            "rng = np.random.default_rng(7)": "default_rng(...) fixes the seed",
            "np.random.seed(1)": "numpy.random.seed fixes the seed",
            "return time.time() + id(x) + rng.beta(1, 2)": "",
        },
    ),
    "functions that it calls": (
        "def low(x):\n    import time as clock\n    return clock.time()\n\n"
        "def high(x):\n    return low(x) + exec('')\n\ndef f(x):\n    return high(x) + os.urandom(1)[0]\n",
        {
            "return clock.time()": "time.time is not supported",
            "return low(x) + exec('')": "exec runs code",
            "return high(x) + os.urandom(1)[0]": "os.urandom is not supported",
        },
    ),
    "methods and constructors": (
        "class Box:\n    def __init__(self):\n        self.seed = 1\n\n    def f(self, x):\n"
        "        random.seed(3)\n        return self.inner(x) + Other().size\n\n"
        "    def inner(self, x):\n        return input()\n\n"
        "class Other:\n    def __init__(self):\n        self.size = globals()['Box']\n",
        {
            "random.seed(3)": "seed fixes the seed",
            "return input()": "input(...) reads",
            "self.size = globals()['Box']": "globals() gives access",
        },
    ),
    "other outcomes and inputs": (
        "def f(x):\n    a, b = np.random.laplace(), np.random.laplace()\n    if random.random() < 0.5:\n"
        "        return a * b\n    if x:\n        return {a: 1}\n    return a % 3\n",
        {
            "return a * b": "products of two numbers with noise",
            "return {a: 1}": "cannot be a key",
            "return a % 3": "divided with a remainder",
        },
    ),
}


@pytest.mark.parametrize("what", PLACES)
def test_all_places_are_told(what: str, tmp_path: Path) -> None:
    """Each refused line is told once for each reason, in the order of the file."""
    source, wanted = PLACES[what]
    found = mistakes(source, tmp_path, f"places_{list(PLACES).index(what)}")
    assert isinstance(found, Mistakes)
    told = []
    for part in found.parts:
        assert isinstance(part, ProgramError)
        line = (HEAD + source).splitlines()[part.line - 1].strip()
        assert wanted[line] in part.reason
        assert str(part).endswith(" " * part.column + "^")
        told.append(line)
    lines = [line.strip() for line in source.splitlines()]
    assert list(dict.fromkeys(told)) == sorted(wanted, key=lines.index)
    assert len({(part.reason, line) for part, line in zip(found.parts, told, strict=True)}) == len(told)


def test_one_place_is_no_list(tmp_path: Path) -> None:
    """Also if many inputs and outcomes come to it, and if a call elsewhere is never reached."""
    source = "def f(x):\n    k = random.randint(1, 9)\n    return np.random.laplace() ** k * (k + x)\n"
    found = mistakes(source, tmp_path, "one_place")
    assert isinstance(found, ProgramError)
    assert found.line == 6
    late = "def f(x):\n    if x > 3:\n        return time.time()\n    return (1, 2) if x else [1, 2]\n"
    assert "equal outputs have different types" in str(mistakes(late, tmp_path, "late_call"))
    assert "time" not in str(mistakes(late, tmp_path, "late_call_again"))


def test_names_that_hide_others(tmp_path: Path) -> None:
    """What a name means where it stands decides: an argument and a local function hide a module."""
    source = (
        "def f(x):\n    class Box: pass\n    def input(): return x\n    for time in [np.random]:\n"
        "        time.seed(1)\n    return [id(3) for id in [abs]], input()\n"
    )
    found = mistakes(source, tmp_path, "hidden_names")
    assert isinstance(found, ProgramError)
    assert "a class inside a function" in found.reason


def test_very_many_places(tmp_path: Path) -> None:
    """Only the first ones are shown, and the last line says so."""
    source = "def f(x):\n" + "".join(f"    a{k} = eval('{k}')\n" for k in range(30)) + "    return a0\n"
    found = mistakes(source, tmp_path, "very_many")
    assert len(found.parts) == 20
    assert found.lines[-1] == "only 20 refused places are shown, and there may be more: change these first"
    cases = "".join(f"    if k == {k}:\n        return noise % {k + 2}\n" for k in range(30))
    drawn = f"def f(x):\n    k, noise = random.randrange(30), np.random.laplace()\n{cases}"
    assert mistakes(drawn, tmp_path, "very_many_runs").lines[-1].startswith("only 20 refused places")


def test_a_run_that_ended_early_changes_nothing_that_is_told(tmp_path: Path) -> None:
    """A refused run may leave a global changed, so that later runs would show mistakes that are none."""
    source = (
        "DEPTH = [0]\n\ndef f(x):\n    DEPTH[0] += 1\n    if DEPTH[0] > 1:\n        return eval('x')\n"
        "    y = np.random.laplace() % 3\n    DEPTH[0] -= 1\n    return y\n"
    ).replace("eval('x')", "np.random.laplace() ** 2")
    found = mistakes(source, tmp_path, "left_changed")
    assert isinstance(found, ProgramError)
    assert "divided with a remainder" in found.reason


MENDS = tomllib.loads((Path(__file__).parent / "refusals_and_mends.toml").read_text())
TABLE_HEAD = """import colorsys, functools, hashlib, math, random, time
from fractions import Fraction
import numpy as np
from scipy import stats

"""


def adopted_body(found: dict[str, Any], part: str, folder: Path, name: str) -> Mechanism:
    """Adopts a body of the table: as it is refused, or with the mend of the message."""
    mended = part == "mended"
    more = ["eps"] if "parameter" in found else []
    domain = found.get("domain", "(0, oo)") if mended else "(0, oo)"
    more += [found["arguments"]] if mended and "arguments" in found else []
    lines = "".join(f"    {line}\n" for line in found[part].split("\n"))
    source = f"{TABLE_HEAD}{found.get('top', '')}\n\ndef f({', '.join(['x', *more])}):\n{lines}"
    return adopt(
        imported(source, folder, name).f,
        inputs={"x": {"values": [0, 1]}},
        parameters={"eps": domain} if "eps" in more else None,
        deterministic=found.get("deterministic", []) if mended else [],
        epsilon=1,
    )


@pytest.mark.slow
@pytest.mark.parametrize("what", MENDS)
def test_each_refusal_has_a_mend_that_works(what: str, tmp_path: Path) -> None:
    """The function is refused with the mend in its reason; with this mend it is adopted and decided."""
    found, name = MENDS[what], f"mend_{list(MENDS).index(what)}"
    with pytest.raises(InputError) as caught:
        adopted_body(found, "body", tmp_path, name)
    assert found["reason"] in str(caught.value)
    assert len(caught.value.parts) == 1
    assert adopted_body(found, "mended", tmp_path, f"{name}_mended").verify().verdict == found["verdict"]
