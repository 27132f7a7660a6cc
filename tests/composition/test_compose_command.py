"""The command and the function `compose`: words, JSON, exit codes, and one line for each mistake."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from fractions import Fraction
from math import exp, log
from pathlib import Path
from typing import NamedTuple

import pytest
from composition_oracle import brute_delta, brute_ratio
from conftest import ROOT

import paramverify
from paramverify.cli.main import run
from paramverify.composition.written_releases import read_epsilon
from paramverify.errors import InputError

CASES = ROOT / "cases"
RESPONSE = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]


class Called(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def called(*words: str) -> Called:
    """Runs a command inside of this process."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = run(list(words))
    return Called(code, out.getvalue(), err.getvalue())


def compose(*words: str, code: int = 0) -> dict[str, object]:
    """What the command prints as JSON."""
    found = called("compose", *words, "--json")
    assert found.code == code, found.err
    document: dict[str, object] = json.loads(found.out)
    return document


def test_exact_numbers_and_words() -> None:
    """Text and JSON have the exact number of brute force, and the text says what was composed."""
    words = ("randomized_response:truth=3/4,times=3", "--delta-for", "ln(3)")
    told = called("compose", *words)
    assert told.out.startswith("delta = 3/8 = 0.375, exactly; with epsilon = ln(3) for 3 releases\n")
    assert "may choose a different pair of inputs at each release" in told.out
    document = compose(*words)
    assert document["delta"] == str(brute_delta([RESPONSE] * 3, Fraction(3))) == "3/8"
    back = compose("randomized_response:truth=3/4", "--times", "3", "--epsilon-for", "1/10")
    assert back["ratio"] == str(brute_ratio([RESPONSE] * 3, Fraction(1, 10)))
    assert back["releases"] == 3


def test_a_case_is_its_pairs() -> None:
    """A case with a value for its parameter is composed like its probabilities, in both ways of giving it."""
    case = str(CASES / "approximate" / "shuffled-responses.toml")
    one = compose(f"{case}:r=1/2", "--delta-for", "ln(2)")
    other = compose(case, "-D", "r=1/2", "--delta-for", "ln(2)")
    assert one["delta"] == other["delta"]
    found = called("budget", case, "-D", "r=1/2", "--delta-for", "ln(2)", "--json")
    assert json.loads(found.out)["delta"] == one["delta"]


def test_a_case_with_exponentials(tmp_path: Path) -> None:
    """Probabilities with exp of numbers: one release has the δ of `budget`, between proved bounds."""
    case = tmp_path / "noise.toml"
    case.write_text(
        """
title = "Geometric noise with exp(-1/2)"
[parameters]
[mechanism]
kind = "geometric"
noise = { truncated_geometric = "exp(-1/2)", range = 3 }
[neighbours]
differ = "each"
[privacy]
epsilon = "1/2"
"""
    )
    document = compose(str(case), "--delta-for", "1/4")
    found = json.loads(called("budget", str(case), "--delta-for", "1/4", "--json").out)
    value = found["delta"]
    lower, upper = (
        Fraction(value[end]) if isinstance(value, dict) else Fraction(value) for end in ("lower", "upper")
    )
    assert Fraction(str(document["delta_lower"])) <= upper
    assert Fraction(str(document["delta_upper"])) >= lower
    twice = compose(f"{case}:2", "--delta-for", "1/4", "--precision", "1e-6")
    assert Fraction(str(twice["delta_lower"])) > Fraction(str(document["delta_upper"]))


TINY = "(1 - exp(-1/10**50))"


@pytest.mark.parametrize(
    ("rows", "delta", "epsilon"),
    [
        ((("exp(-1/10**50)", TINY, "0"), ("exp(-1/10**50)", "0", TINY)), 10**-50, None),
        ((("1/2", f"1/2*{TINY}", "1/2*exp(-1/10**50)"),) * 2, 0, 0.0),
        (
            (
                ("exp(-1/10**50)", f"{TINY}**2", f"{TINY}*exp(-1/10**50)"),
                ("exp(-1/10**50)", f"{TINY}*exp(-1/10**50)", f"{TINY}**2"),
            ),
            None,
            50 * log(10),
        ),
    ],
)
@pytest.mark.parametrize("sample", ["", ":subsample=1/2"])
def test_masses_that_are_tiny_are_not_zero(
    tmp_path: Path, rows: tuple[tuple[str, ...], ...], delta: float | None, epsilon: float | None, sample: str
) -> None:
    """A mass that rounding does not tell from 0 is no 0: neither in an exact δ, nor in the largest loss."""
    case = tmp_path / "tiny.toml"
    tables = "\n".join(
        f"[mechanism.emissions.{i}]\n" + "\n".join(f'{x} = "{p}"' for x, p in zip("abc", row, strict=True))
        for i, row in enumerate(rows)
    )
    case.write_text(
        f"""
[mechanism]
kind = "hmm"
states = ["0", "1"]
observations = ["a", "b", "c"]
{tables}
[neighbours]
differ = "each"
[privacy]
ratio = "2"
"""
    )
    share = 0.5 if sample else 1.0
    if delta is not None:
        found = json.loads(called("compose", f"{case}{sample}", "--delta-for", "ln(2)", "--json").out)
        assert float(found["delta_lower"]) == pytest.approx(share * delta, rel=1e-6)
        assert float(found["delta_upper"]) == pytest.approx(share * delta, rel=1e-6)
    found = json.loads(called("compose", f"{case}{sample}", "--epsilon-for", "0", "--json").out)
    if epsilon is None:
        assert found["epsilon_upper"] == "infinity"
    else:
        wanted = log(1 - share + share * exp(epsilon))
        assert float(found["epsilon_upper"]) == pytest.approx(wanted, rel=1e-9)
        assert float(found["epsilon_lower"]) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    "words",
    [
        "gaussian:sigma=1e-90 --delta-for 1",
        "gaussian:sigma=1e8 randomized_response:epsilon=900 --delta-for 1",
        "discrete_laplace:scale=1e-20 --epsilon-for 1e-9",
        "discrete_gaussian:sigma=1e-30 --epsilon-for 1e-9",
    ],
)
def test_losses_of_any_size_are_no_defect(words: str) -> None:
    """Losses beyond all floats or grids: bounds, or a sentence that says why there are none."""
    found = called("compose", *words.split(), "--timeout", "20")
    assert found.code == 3
    assert "undecided" in found.err + found.out or "epsilon between" in found.out


def test_long_numbers_stand_in_whole_sentences() -> None:
    """A rational that is too long is told as a decimal; the parts of a δ have names."""
    told = called("compose", "randomized_response:truth=1/2+1e-400", "--delta-for", "0").out
    assert (
        told.startswith("delta = 2e-400, exactly") or "delta is a rational number = 2e-400, exactly" in told
    )
    told = called("compose", "randomized_response:truth=3/4,times=2", "--delta-for", "1").out
    assert "exactly, it is A - B*e^epsilon, where A = 9/16 = 0.5625 and B = 1/16 = 0.0625;" in told
    told = called("compose", "randomized_response:truth=3/4,times=2", "--delta-for", "5/2").out
    assert told.startswith("delta = 0, exactly;")  # no output has so large a loss, and A = B = 0
    told = called("compose", "randomized_response:truth=1/2+1e-15", "--epsilon-for", "0").out
    assert told.startswith("epsilon ≈ 4e-15; exactly, the ratio e^epsilon is")


@pytest.mark.slow
def test_bounds_that_stay_apart_are_undecided() -> None:
    """Where no pair is the worst for every ε, both bounds are told, with the reason, and the code is 3."""
    case = str(CASES / "approximate" / "noisy-max.toml")
    told = called("compose", f"{case}:2", "--delta-for", "ln(2)", "--precision", "1/100")
    assert told.code == 3
    assert "delta between" in told.out
    assert "none of its" in told.out
    assert called("compose", case, "--delta-for", "ln(2)").out.startswith("delta = 4/27 ≈")


def test_a_curve() -> None:
    """The curve falls, and its lower bounds are below its upper ones."""
    document = compose("laplace:scale=2,times=2", "--curve", "--precision", "1/100")
    points = document["curve"]
    assert isinstance(points, list)
    uppers = [Fraction(point["delta_upper"]) for point in points]
    assert uppers == sorted(uppers, reverse=True)
    assert all(Fraction(point["delta_lower"]) <= Fraction(point["delta_upper"]) for point in points)
    assert called("compose", "randomized_response:truth=3/4", "--curve").out.startswith(
        "delta for one release"
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("gaussian:sigma=-1 --delta-for 1", "gaussian.sigma: must be a number above 0"),
        ("gaussian:sigma=1,subsample=0 --delta-for 1", "gaussian.subsample: must be a probability"),
        ("gaussian:sigma=1,times=0 --delta-for 1", "times: must be a whole number from 1"),
        ("gaussian:0 --delta-for 1", "times: must be a whole number"),
        ("gaussian:sigma=1 --delta-for=-1", "--delta-for: epsilon must be at least 0"),
        ("gaussian:sigma=1 --epsilon-for 3/2", "--epsilon-for: delta must be from 0 to 1"),
        ("gaussian:sigma=1", "give exactly one of --delta-for"),
        ("gaussian:sigma=1 --delta-for 1 --plot x.svg", "--plot is only for a curve: add --curve"),
        ("gaussian:sgma=1 --delta-for 1", "gaussian.sigma: missing"),
        ("gaussian:sigma=1,sigma=2 --delta-for 1", "sets sigma twice"),
        ("discrete_laplace:alpha=1 --delta-for 1", "alpha: must be below 1"),
        (
            "discrete_laplace:scale=2,sensitivity=1/2 --delta-for 1",
            "sensitivity: must be a whole number",
        ),
        ("randomized_response:truth=1/3 --delta-for 1", "truth: the probability of the truth"),
    ],
)
def test_mistakes_are_told_in_one_line(words: str, reason: str) -> None:
    """Each mistake has code 2, and one line that names its place and what is needed."""
    found = called("compose", *words.split())
    assert found.code == 2
    assert reason in found.err
    assert len([line for line in found.err.splitlines() if "rror:" in line]) == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "approximate/geometric-independent.toml:p=1/3",
            "several worlds: its releases share the same hidden data",
        ),
        ("approximate/shuffled-responses.toml", "no value for r"),
        ("blood-test.toml", "needs a case about privacy"),
    ],
)
def test_cases_without_pairs_are_refused(name: str, reason: str) -> None:
    """Secrets of several worlds, parameters without values and other kinds are refused with the reason."""
    found = called("compose", str(CASES / name), "--delta-for", "1")
    assert found.code == 2
    assert reason in found.err


def test_the_function_says_what_the_command_says() -> None:
    """Text and JSON of `compose` are those of the command, and its numbers are exact."""
    report = paramverify.compose("randomized_response:truth=3/4", times=3, delta_for="ln(3)")
    assert report.to_dict() == compose(
        "randomized_response:truth=3/4", "--times", "3", "--delta-for", "ln(3)"
    )
    assert report.exact == report.lower == report.upper == Fraction(3, 8)
    bounds = paramverify.compose(["gaussian:sigma=2", "laplace:scale=3"], epsilon_for=Fraction(1, 100))
    assert bounds.exact is None
    assert bounds.lower is not None
    assert bounds.upper is not None
    assert bounds.lower < bounds.upper < bounds.lower * Fraction(1001, 1000)
    with pytest.raises(InputError, match="either delta_for or epsilon_for"):
        paramverify.compose("gaussian:sigma=2")


def test_epsilons_are_read_exactly() -> None:
    """A sum of a number and logarithms is a rational part and a ratio."""
    found = read_epsilon("1/2 + 2*ln(3) - ln(5)")
    assert (found.rational, found.ratio) == (Fraction(1, 2), Fraction(9, 5))
    with pytest.raises(InputError):
        read_epsilon("ln(0)")


@pytest.mark.slow
def test_cases_beside_samples_are_said_to_be_of_one_person_more() -> None:
    """A case may replace records, and `subsample` leaves a person out: text, JSON and Python have a note."""
    case = str(CASES / "approximate" / "shuffled-responses.toml")
    words = f"{case}: a component has `subsample`, so the neighbours of this case are interpreted as data"
    own = f"{case}:r=3/4"
    for components in ([f"{own},subsample=1/2"], [own, "randomized_response:truth=3/4,subsample=1/2"]):
        asked = ("compose", *components, "--delta-for", "1/2")
        told = called(*asked)
        assert sum(line.startswith(f"  Note: {words}") for line in told.out.splitlines()) == 1
        notes = compose(*asked[1:])["notes"]
        assert notes[-1].startswith(words)
        assert list(paramverify.compose(components, delta_for="1/2").notes) == notes
    assert not any("subsample" in note for note in compose(own, "--delta-for", "1/2")["notes"])
    assert compose("gaussian:sigma=5,subsample=1/2", "--delta-for", "1/2")["notes"] == []


FILE = """
title = "A year of releases"

[[component]]
kind = "randomized_response"
truth = "3/4"
times = 2

[[component]]
case = "CASE"
set = { r = "1/2" }
subsample = 0.5

[[component]]
kind = "discrete_laplace"
scale = 2
"""


@pytest.mark.slow
def test_a_file_of_releases_is_what_its_words_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file gives the JSON of its words, alone and mixed with words, also in Python."""
    monkeypatch.chdir(ROOT)
    (tmp_path / "survey.toml").symlink_to(CASES / "approximate" / "shuffled-responses.toml")
    file = tmp_path / "year.toml"
    file.write_text(FILE.replace("CASE", "survey.toml"), encoding="utf-8")
    listed = [
        "randomized_response:truth=3/4,times=2",
        f"{tmp_path}/survey.toml:r=1/2,subsample=0.5",
        "discrete_laplace:scale=2",
    ]
    asked = ("--delta-for", "1/2", "--precision", "1/10")
    assert compose(str(file), *asked) == compose(*listed, *asked)
    more = (str(file), "randomized_response:epsilon=ln(2)")
    mixed = paramverify.compose(more, delta_for="1/2", precision="1/10")
    words = paramverify.compose([*listed, more[1]], delta_for="1/2", precision="1/10")
    assert mixed.to_dict() == words.to_dict()
    twice = paramverify.compose(f"{file}:2", delta_for="1/2", precision="1/10")
    both = paramverify.compose(listed, times=2, delta_for="1/2", precision="1/10")
    assert twice.to_dict() == both.to_dict()


def test_a_file_of_exact_numbers(tmp_path: Path) -> None:
    """Two kinds of responses in one file have the exact number of brute force."""
    file = tmp_path / "two.toml"
    kind = '[[component]]\nkind = "randomized_response"\n'
    file.write_text(f'{kind}truth = 0.75\ntimes = 2\n{kind}epsilon = "ln(2)"\n', encoding="utf-8")
    third = [(Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))]
    found = compose(str(file), "--delta-for", "ln(3)")
    assert found["delta"] == str(brute_delta([RESPONSE, RESPONSE, third], Fraction(3)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '[[component]]\nkind = "gausian"\nsigma = 1',
            ":2: component[0].kind: 'gausian' is not a kind of noise",
        ),
        ('[[component]]\nkind = "gaussian"\nsigma = 0', ":3: component[0].sigma: must be a number above 0"),
        ('[[component]]\nkind = "gaussian"\nsgima = 1', "component[0].sigma: missing"),
        (
            "[[component]]\ntimes = 2",
            "component[0]: a component needs exactly one of `kind`",
        ),
        (
            '[[component]]\nkind = "laplace"\nscale = 1\ntimes = 0',
            ":4: component[0].times: must be a whole number",
        ),
        ('[[component]]\ncase = "a.toml"\nr = "1/2"', ":3: component[0].r: unknown key"),
        ('[[component]]\ncase = "nowhere.toml"', "nowhere.toml"),
        ("[component]\nkind = 1", ":1: component: must be a list of tables"),
    ],
)
def test_mistakes_in_a_file_have_their_place(text: str, reason: str, tmp_path: Path) -> None:
    """Each mistake in a file of releases has code 2, and one line with the line of the file and the key."""
    file = tmp_path / "year.toml"
    file.write_text(text, encoding="utf-8")
    found = called("compose", str(file), "--delta-for", "1")
    assert found.code == 2
    assert reason in found.err
    assert len([line for line in found.err.splitlines() if "rror:" in line]) == 1


def test_a_file_of_releases_elsewhere(tmp_path: Path) -> None:
    """Other commands say which command reads it; values after the name are for what is in it."""
    file = tmp_path / "year.toml"
    file.write_text('[[component]]\nkind = "laplace"\nscale = 1\n', encoding="utf-8")
    assert "use `paramverify compose`" in called("verify", str(file)).err
    assert ("only times can follow a file of releases") in called(
        "compose", f"{file}:scale=2", "--delta-for", "1"
    ).err
