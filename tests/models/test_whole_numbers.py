"""PRISM files whose whole numbers Storm alone would take otherwise: refused, or the numbers of PRISM."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from paramverify.errors import InputError
from paramverify.models.chains import prism_files
from paramverify.models.chains.prism_files import Built, Request, build

pytestmark = pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")

HEAD = "dtmc\nmodule m\n  z : [0..1] init 0;\n"


def built(folder: Path, text: str) -> Built:
    path = folder / "model.prism"
    path.write_text(text)
    return build(Request(str(path), {}, (), {}))


@pytest.mark.slow
def test_values_out_of_range_are_refused(tmp_path: Path) -> None:
    """Storm keeps only the bits of a value for which the range has room: 4 in 0..3 would be 0."""
    rng = Random(7)
    for kind in ("dtmc", "mdp"):
        for _ in range(12):
            low = rng.randrange(-5, 4)
            high = low + rng.choice((1, 2, 3, 4, 7))
            first, step = rng.randint(low, high), rng.randint(-9, 9)
            text = f"""{kind}
module m
  x : [{low}..{high}] init {first};
  z : [0..1] init 0;
  [] z=0 -> 1/3 : (x'=x+{step}) & (z'=1) + 2/3 : (z'=1);
endmodule
"""
            if low <= first + step <= high:
                found = built(tmp_path, text)
                values = found.variables.get("x", (first,))
                assert set(values) == {first, first + step}
            else:
                with pytest.raises(InputError, match="out-of-bounds"):
                    built(tmp_path, text)


def test_branches_of_probability_zero_have_no_range(tmp_path: Path) -> None:
    text = HEAD + "  x : [0..3] init 0;\n  [] z=0 -> 0 : (x'=9) & (z'=1) + 1 : (x'=1) & (z'=1);\nendmodule\n"
    assert list(built(tmp_path, text).variables["x"]) == [0, 1]


@pytest.mark.parametrize(
    "value", ["x/2", "-x/2+3", "max(x/2, 1)", "mod(x/2, 2)", "x=3 ? x/2 : 0", "7/2", "half"]
)
def test_quotients_are_no_whole_numbers(tmp_path: Path, value: str) -> None:
    """PRISM refuses them; Storm would take 3/2 for 1."""
    text = "dtmc\nformula half = x/2;\nmodule m\n  x : [0..3] init 3;\n  [] true -> (x'=%s);\nendmodule\n"
    with pytest.raises(InputError, match="the variable 'x' is a whole number"):
        built(tmp_path, text % value)


@pytest.mark.parametrize(
    ("value", "after"), [("floor(x/2)", 1), ("ceil(x/2)", 2), ("floor(x/2*2)", 3), ("x/2 < 3/2 ? 0 : 1", 1)]
)
def test_rounded_quotients_are_real_numbers_first(tmp_path: Path, value: str, after: int) -> None:
    text = (
        HEAD + f"  x : [0..3] init 3;\n  [] z=0 -> (x'={value}) & (z'=1);\n  [] x=0 -> (x'=2);\nendmodule\n"
    )
    assert list(built(tmp_path, text).variables["x"]) == [3, after]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dtmc\nconst int N = 7/2;\nmodule m\n x:[0..9];\n [] x<N -> (x'=x+1);\nendmodule\n", "constant 'N'"),
        ("dtmc\nmodule m\n x:[0..3/2];\n [] x<1 -> (x'=x+1);\nendmodule\n", "variable 'x'"),
        ("dtmc\nmodule m\n x:[0..2] init 7;\n [] x>0 -> (x'=1);\nendmodule\n", "value 7 .* range 0..2"),
        ("dtmc\nglobal g:[2..3] init 1;\nmodule m\n x:[0..2];\n [] x<2 -> (g'=2);\nendmodule\n", "'g'"),
    ],
)
def test_constants_ranges_and_first_values(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        built(tmp_path, text)


@pytest.mark.parametrize("kind", ["dtmc", "mdp"])
@pytest.mark.parametrize("bounds", ["[0..3]", "[-1..2]", "[floor(3/2)-1..2]"])
def test_several_initial_states(tmp_path: Path, kind: str, bounds: str) -> None:
    """Where the file has a condition on initial states, variables have no initial values."""
    text = f"{kind}\nmodule m\n x:{bounds};\n b:bool;\n [] x=0 -> (x'=1);\nendmodule\n"
    found = built(tmp_path, text + "init x>=0 & x<2 endinit\n")
    assert sorted(found.variables["x"][state] for state in found.initial) == [0, 0, 1, 1]


def test_variables_without_range(tmp_path: Path) -> None:
    text = HEAD + "  x : int init 5;\n  [] z=0 & x<7 -> (x'=x+1);\nendmodule\n"
    assert list(built(tmp_path, text).variables["x"]) == [5, 6, 7]
