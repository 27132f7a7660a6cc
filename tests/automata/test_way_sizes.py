"""Ways with large numbers: degrees are bounded before a polynomial is made, and verdicts stay as they are."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from automaton_oracle import random_text, signs_of, ways

import paramverify as pv
from paramverify.automata.automaton import parse_automaton
from paramverify.automata.stream_cases import StreamBudget
from paramverify.automata.stream_verdicts import WIDTH, verify
from paramverify.automata.way_costs import cost
from paramverify.automata.way_programs import MOST_DEGREE, chances, sizes, streams, way_case
from paramverify.cli.main import run
from paramverify.errors import InputError

ONCE = """T = MEAN + laplace(2 / eps)
for x in stream(values=VALUES):
    if x + laplace(4 / eps) >= T:
        output("a")
        stop
    output("b")
    stop
"""
TWICE = """T = MEAN + laplace(2 / eps)
n = 0
for x in stream(values=VALUES):
    n += 1
    if x + laplace(4 / eps) >= T:
        output("a")
        stop
    output("b")
    if n == 2:
        stop
"""
SPARSE = """(q1:non-input, RATE, MEAN): t := insample; output ostart; goto q2
(q2, 1/4, 0): if (insample < t) then output obelow; goto q2 elseif (insample >= t) then output oabove; goto q3
"""
NOTE = "examples were left out, because their exponents, or their formulas, would be too large."


@pytest.mark.slow
@pytest.mark.parametrize("geometric", [False, True])
def test_degrees_are_bounded_beforehand(geometric: bool) -> None:
    """No probability of a way of a random automaton has a larger degree than is known beforehand."""
    generator, compared = random.Random(5), 0
    while compared < 12:
        try:
            automaton = verify(parse_automaton(random_text(generator, geometric))).automaton
        except InputError:
            continue
        every = ways(automaton, 3)
        if not every:
            continue
        steps = generator.choice(every)
        way = cost(automaton, steps, generator.choice(signs_of(automaton, steps)))
        given = streams(automaton, way, generator.choice((0, 3, 20)))
        known = sizes(automaton, steps, [given], StreamBudget(Fraction(1)), WIDTH)
        exact = chances(automaton, way, given, WIDTH)
        assert exact is not None
        parts = [part for chance in exact.both for part in (chance.numerator, chance.denominator)]
        place = [str(name) for name in parts[0].context().names()].index("x_eps")
        assert max(part.degrees()[place] for part in parts) <= known.degree <= known.powers
        compared += 1


def stream_case(tmp_path: Path, program: str, values: str, mean: str, epsilon: str) -> Path:
    """A case about a stream."""
    path = tmp_path / "case.toml"
    path.write_text(f"""[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = '''
{program.replace("VALUES", values).replace("MEAN", mean)}'''
[neighbours]
differ = "each"
[privacy]
epsilon = "{epsilon}"
length = "all"
""")
    return path


def large(size: int) -> tuple[str, str]:
    """Two large numbers with the distance 1, as values of a stream."""
    return f"[{10**size}, {10**size + 1}]", "0"


STREAMS = [
    *[(program, *large(size), "1/8*eps") for program in (ONCE, TWICE) for size in (10, 12, 21)],
    (TWICE, *large(21), "1/4*eps"),
    (TWICE, *large(21), "1/3*eps + 1/4"),
    (ONCE, "[0, 1]", f"{10**12}", "1/8*eps"),
    (ONCE, "[0, 1]", f"1/{10**12}", "1/8*eps"),
    (ONCE, "[0, 1]", "0", "1/8*eps + 1001"),
    *[(ONCE, '"real"', "0", f"1e-{size}*eps") for size in (10, 20, 30)],
]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "values", "mean", "epsilon"), STREAMS)
def test_verdicts_of_large_numbers(
    program: str, values: str, mean: str, epsilon: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a gap or a way shows stays not private, with its exit code; examples are left out, and told so."""
    path = stream_case(tmp_path, program, values, mean, epsilon)
    assert run(["verify", str(path)]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("not private: ")
    assert NOTE in told.out
    assert "way.toml" not in told.out + told.err


def test_large_numbers_in_python(tmp_path: Path) -> None:
    """The interpreter goes on."""
    path = stream_case(tmp_path, ONCE, "[0, 1]", f"{10**12}", "1/8*eps")
    assert pv.verify(str(path)).verdict == "not private"


NEAR = TWICE.replace("2 / eps", "1 / eps").replace("4 / eps", "1 / eps")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "mean", "code"),
    [
        ("[0, 1]", "0", 0),
        ("[300, 301]", "300", 0),
        ("[0, 1]", f"1/{10**12}", 3),
        (large(12)[0], f"{10**12}", 3),
    ],
)
def test_finitely_many_large_ways(
    values: str, mean: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ways are decided one by one, if they are not too large for the engine; else the case is undecided."""
    path = stream_case(tmp_path, NEAR, values, mean, "3/2*eps")
    assert run(["verify", str(path)]) == code
    told = capsys.readouterr().out
    assert told.startswith("undecided" if code else "private")
    assert (NOTE in told) is bool(code)


@pytest.mark.parametrize("multiple", ["1e-6", "1e-30", "1e-400"])
def test_small_multiples_of_a_file(multiple: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--budgets` says that they are not enough, in words and as JSON."""
    path = tmp_path / "sparse.dipa"
    path.write_text(SPARSE.replace("RATE", "1/2").replace("MEAN", "0"))
    assert run(["verify", str(path), "--budgets", multiple]) == 1
    assert NOTE in capsys.readouterr().out
    assert run(["verify", str(path), "--budgets", multiple, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "not private"


@pytest.mark.parametrize("first", ["", "noise geometric\n"])
@pytest.mark.parametrize(("rate", "mean"), [("3001/3", "15001"), ("1/3", f"{10**21}"), ("1/2", f"{10**6}")])
def test_budgets_of_large_numbers(
    first: str, rate: str, mean: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Budgets of lengths do not need the engine; losses that it refuses are left out."""
    path = tmp_path / "sparse.dipa"
    path.write_text(first + SPARSE.replace("RATE", rate).replace("MEAN", mean))
    code = run(["budget", str(path), "--length", "1", "--epsilon", "1/2"])
    assert code == (3 if rate == "3001/3" else 0)
    assert "1 input: 1/4*epsilon = 0.125" in capsys.readouterr().out


def test_mistakes_in_small_ways_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that the engine refuses for another reason than its size is a defect, and is told."""
    automaton = parse_automaton(SPARSE.replace("RATE", "1/2").replace("MEAN", "0"))
    way = cost(automaton, (0, 1), (0, 1))
    given = [streams(automaton, way, 0)]
    assert way_case(automaton, way.steps, given, StreamBudget(Fraction(1)), WIDTH) is not None
    assert way_case(automaton, way.steps, given, StreamBudget(Fraction(1, 10 * MOST_DEGREE)), WIDTH) is None
    monkeypatch.setattr("paramverify.automata.way_programs.case_of_all", lambda *_: "[nothing]")
    with pytest.raises(InputError):
        way_case(automaton, way.steps, given, StreamBudget(Fraction(1)), WIDTH)
