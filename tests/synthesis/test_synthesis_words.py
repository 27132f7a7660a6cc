"""Words of `synthesize` and `budget` about places: quantifiers, volume, and limits outside the domain."""

from __future__ import annotations

from pathlib import Path

import pytest

from paramverify.cli.main import run

HOUSEHOLD = Path(__file__).parents[2] / "cases" / "household-together.toml"


def test_a_part_that_is_not_private_says_for_which_values_of_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With every h above 0 some p violates the bound ln 2, and with h = 0 none does."""
    run(["synthesize", str(HOUSEHOLD), "--parameters", "h"])
    out = capsys.readouterr().out
    assert out.startswith("private: epsilon = ln(2) for h = 0 and all p in (0, 1)\n")
    assert "for h in (0, 1/2] and some p in (0, 1) (for each h, at least one)\n" in out


@pytest.mark.parametrize(("epsilon", "said"), [("ln(2)", True), ("ln(3/2)", False)])
def test_a_map_without_private_volume(
    epsilon: str, said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line h = 0 is private for ln 2, in undecided cells; for ln(3/2) no cell is undecided."""
    path = tmp_path / "case.toml"
    path.write_text(HOUSEHOLD.read_text(encoding="utf-8").replace("ln(2)", epsilon), encoding="utf-8")
    run(["synthesize", str(path), "--region"])
    out = capsys.readouterr().out
    assert "  0 % private\n" in out
    assert ("single lines or points in undecided cells may be private" in out) == said


def test_a_limit_outside_the_domain_is_no_place_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The ratio tends to 5 as p tends to 1, which is outside of the domain (0, 1)."""
    run(["budget", str(HOUSEHOLD)])
    assert "approached, not reached, as p → 1, h → 1/2\n" in capsys.readouterr().out
