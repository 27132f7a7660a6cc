"""An epsilon that is no small multiple of what the noise needs: rational bounds on both sides decide."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from case_texts import program_case

from paramverify import loads, verify
from paramverify.cli.main import run
from paramverify.errors import InputError, LimitError

CASE = program_case(
    """output(x + laplace({}) > 0)
output(x + laplace({}) > 0)""",
    'x = {{ values = "0..1" }}',
    "{}",
    near='differ = "one"',
)
# The tight epsilon is the sum of both rates: 3/2, 8/15 and 9/14.
PROVED = [("1.500001", "1", "2"), ("0.642858", "7", "2")]
REFUTED = [("1.499999", "1", "2"), ("0.642857", "7", "2")]


COMMANDS = [
    ["explain"],
    ["synthesize"],
    ["report", "-o", "TMP/page.html"],
    ["verify", "--evidence", "TMP/evidence.json"],
    ["budget", "--evidence", "TMP/evidence.json"],
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "scales", "answer"),
    [(e, s, a) for rows, a in ((PROVED, "private"), (REFUTED, "not private")) for e, *s in rows],
)
def test_a_ratio_beside_the_bound_decides(epsilon: str, scales: list[str], answer: str) -> None:
    """The verdict is about epsilon, and its note names the ratio; so do the messages of other questions."""
    case = loads(CASE.format(*scales, f"epsilon = {epsilon}"))
    assert case.bound == f"epsilon = {epsilon}"
    found = case.verify()
    assert found.verdict == answer
    assert str(found).startswith(f"{answer}: epsilon = {epsilon}")
    with pytest.raises(LimitError, match=r"^privacy\.epsilon: .* does not fit") as told:
        case.synthesize()
    named = re.search(r"write ratio = (\S+), just below .* or (\S+), just above", str(told.value))
    assert named
    below, above = (Fraction(text) for text in named.groups())
    exact = Fraction(Context(prec=40).exp(Decimal(epsilon)))
    assert below < exact < above < below * (1 + Fraction(1, 10**9))
    ratio = named[1] if answer == "private" else named[2]
    assert any(f"ratio = {ratio}" in note for note in found.notes)
    assert verify(loads(CASE.format(*scales, f"ratio = {ratio}"))).verdict == answer
    with pytest.raises(InputError, match=rf"write ratio = {re.escape(ratio)}$"):
        found.evidence()


def test_between_both_ratios_nothing_is_said() -> None:
    """An epsilon that is nearer to the least one than the ratios is undecided, though it is enough."""
    for epsilon in ("1.50000000000000001", "1.49999999999999999"):
        found = loads(CASE.format("1", "2", f"epsilon = '{epsilon}'")).verify()
        assert found.verdict == "undecided"
        assert "just below e^epsilon, is not proved, and ratio = " in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, Fraction(1, 100), Fraction(1, 5)])
def test_a_delta_beside_it(delta: Fraction) -> None:
    """With a delta the same: at the bound 1 of this noise, the least delta for it decides."""
    one = CASE.format("1", "2", f"epsilon = 1.000001\ndelta = '{delta}'")
    least = loads(one).budget(delta_for="1").lower
    assert (loads(one).verify().verdict == "private") == (float(least) < delta)


@pytest.mark.slow
def test_the_budget_does_not_ask_for_epsilon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is that of the same case with another epsilon, in Python and of the command."""
    texts = [CASE.format("1", "2", f"epsilon = {epsilon}") for epsilon in ("1.500001", "2")]
    assert str(loads(texts[0]).budget()) == str(loads(texts[1]).budget())
    path = tmp_path / "case.toml"
    outs = []
    for text in texts:
        path.write_text(text, encoding="utf-8")
        assert run(["budget", str(path)]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]


@pytest.mark.parametrize(
    "told",
    [
        ('[define]\nbudget = "1.500001"\n', "budget", "epsilon = budget (budget = 1.500001)"),
        ('[parameters]\nc = "1.500001"\n', "c", "epsilon = c"),
    ],
)
def test_names_that_epsilon_uses_are_used(told: tuple[str, str, str]) -> None:
    """A side keeps the names of the epsilon that it stands in for, and words have the epsilon."""
    table, name, words = told
    found = loads(table + CASE.format("1", "2", f'epsilon = "{name}"')).verify()
    assert str(found).startswith(f"private: {words} for ")
    assert not any("uses" in note or "not used" in note for note in found.notes)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_other_command_takes_a_side_for_the_case(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever asks for the model of the case says why there is none."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.format("1", "2", "epsilon = 1.500001"), encoding="utf-8")
    name, *options = command
    options = [option.replace("TMP", str(tmp_path)) for option in options]
    assert run([name, str(path), *options]) in (2, 3)
    told = capsys.readouterr()
    assert re.search("does not fit|needs a bound that fits the noise", told.out + told.err)


@pytest.mark.parametrize("epsilon", ["3/2", "1.25", "7/16"])
def test_what_fits_is_read(epsilon: str) -> None:
    """A small common divisor is none that is too small."""
    loads(CASE.format("1", "2", f'epsilon = "{epsilon}"'))
