"""No command writes over a file that it reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import ROOT

from paramverify.cli.main import run

CASES = ROOT / "cases"
COMMANDS = {
    "report": ("-o",),
    "verify": ("--evidence",),
    "budget": ("--evidence",),
    "synthesize": ("--evidence", "--plot", "--state"),
    "interactive": ("--evidence", "--dot"),
    "logic": ("--evidence", "--plot"),
    "sample": ("--plot",),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_input_is_never_written_over(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same file by its name, by another path and by a link is refused, and stays as it is."""
    case = tmp_path / "case.html"
    content = (CASES / "geometric-contagious-ln2.toml").read_bytes()
    case.write_bytes(content)
    os.symlink(case, tmp_path / "link.html")
    for option in COMMANDS[command]:
        for name in (case, tmp_path / "." / "case.html", tmp_path / "link.html"):
            assert run([command, str(case), option, str(name)]) == 2
            assert "is read by this command" in capsys.readouterr().err
            assert case.read_bytes() == content


def test_a_page_has_the_name_of_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES / "geometric-contagious-ln2.toml"
    assert run(["report", str(case), "-o", str(tmp_path / "page.toml")]) == 2
    assert "page.html" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("base", ["-1", "0", "1", "3/2", "2"])
def test_a_base_of_sampled_noise_is_a_probability(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        f'[system]\nkind = "slots"\nslots = 2\npoints = 1\ndata = [-1, 1]\nqueries = ["count"]\nrange = 2\n'
        f'noise = {{ sampled = "{base}" }}\n[privacy]\nepsilon = 1\n'
    )
    assert run(["interactive", str(path)]) == 2
    assert "base of the sampled noise" in capsys.readouterr().err
