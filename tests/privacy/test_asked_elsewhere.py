"""What a case cannot ask says where it can be asked, or what can be tried instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from paramverify.cli.main import run

CASE = """
title = "A noisy count"
[parameters]
eps = "(0, oo)"
t = { in = "(0, 1)", design = true }
[mechanism]
kind = "program"
source = "return q[0] + laplace(1/eps) >= 1"
[mechanism.inputs]
q = { length = 1, values = "0..1" }
[neighbours]
differ = "each"
[privacy]
"""


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        (
            'epsilon = "t*eps"',
            'paramverify does not search for that number: try one, such as epsilon = "eps/2"',
        ),
        ('epsilon = "2/eps"', "epsilon may contain eps only times a number"),
        ('epsilon = "eps"\ndelte = 0', "unknown key"),
    ],
)
def test_what_is_not_covered(
    privacy: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A free factor of eps is tried by hand."""
    path = tmp_path / "case.toml"
    path.write_text(CASE + privacy)
    assert run(["verify", str(path)]) == 2
    assert words in capsys.readouterr().err


def test_the_numbers_that_are_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bound eps/2 that the message offers can be read, and is too small for this count."""
    path = tmp_path / "case.toml"
    fixed = CASE.replace('t = { in = "(0, 1)", design = true }\n', "")
    for bound, code in (("eps", 0), ("eps/2", 1)):
        path.write_text(f'{fixed}epsilon = "{bound}"')
        assert run(["verify", str(path)]) == code
    assert "not private" in capsys.readouterr().out
