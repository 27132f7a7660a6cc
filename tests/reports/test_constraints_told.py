"""What is said for all values of other parameters says under which constraints, in every form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paramverify.cli.main import run
from paramverify.privacy.cases import load
from paramverify.reports import sentences, synthesis_reports
from paramverify.reports.pictures.region_pictures import _conditions

CASE = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
r = "[0, 1)"
constraints = ["p + q < 1"]
[define]
f = "{f}"
[claim]
holds = "f <= 1"
"""


def case(path: Path, f: str) -> Path:
    """Writes a case over the unit cube below p + q < 1."""
    path.write_text(CASE.format(f=f))
    return path


@pytest.mark.parametrize("f", ["(p + q*r)/2", "p*q + r*r*p*(1-p)"])
@pytest.mark.parametrize(("form", "name"), [("", "p"), ("", "r"), ("--region", "r")])
def test_text_and_json_have_the_constraint(
    f: str, form: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line with `for all` or `and all` has the constraint behind it, and so has the JSON."""
    asked = ["synthesize", str(case(tmp_path / "c.toml", f)), "--parameters", name, "--coverage", "0.2"]
    run([*asked, form] if form else asked)
    lines = [line for line in capsys.readouterr().out.splitlines() if " all " in line or " some " in line]
    assert lines
    assert all("with p + q < 1" in line for line in lines), lines
    run([*asked, "--json", form] if form else [*asked, "--json"])
    assert json.loads(capsys.readouterr().out)["constraints"] == ["p + q < 1"]


def test_conditions_and_pictures_have_the_constraint(tmp_path: Path) -> None:
    """So do the condition of an elimination, whatever it is, and the title of a picture."""
    found = load(str(case(tmp_path / "c.toml", "(p + q*r)/2")))
    for condition in ("TRUE", "FALSE", "2 r - 1 >= 0"):
        assert "with p + q < 1" in synthesis_reports.condition_line(found, ["r"], condition)
        assert "p + q < 1" in synthesis_reports.condition_line(found, ["p", "q", "r"], condition)
    domain = found.model.domain
    assert _conditions(domain, ["r"], ["p", "q"], "")[-1] == "for all p in (0, 1), q in (0, 1) with p + q < 1"
    assert _conditions(domain, ["p", "q"], [], "") == ["with p + q < 1"]
    assert sentences.others(domain, ["r"]) == "r in [0, 1)"
