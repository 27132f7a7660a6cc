"""Programs read a second time: path by path, with sums over noise of its own; a wrong engine is noticed."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from calling_tools import called
from hypothesis import given, settings
from hypothesis import strategies as st
from integrated_programs import integrated, random_program
from program_oracle import Distribution, Maker, Oracle, TooManyRunsError, proved
from strategies import FEW

from paramverify.errors import ProgramError
from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.models.mechanisms import _calls, program
from paramverify.models.programs import noise_densities, noisy_numbers
from paramverify.models.programs import output_intervals as wording
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.run_states import Plain
from paramverify.privacy.cases import load
from paramverify.reports.case_evidence import check_with_case
from paramverify.rereader import second_mechanisms, second_programs, second_runs
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_outputs import Breaks, named
from paramverify.rereader.second_programs import NAMED, InputPlaces, outputs_at
from paramverify.rereader.second_reading import SecondLook, second_look
from paramverify.rereader.second_trees import Interpreter
from paramverify.rereader.second_values import NoisyNumber, PowerSum

CASES = Path(__file__).parents[2] / "cases" / "programs"
ALPHA = Fraction(1, 4)

Mutant = Callable[[pytest.MonkeyPatch], None]


def written(case: Path, evidence: Path, command: str = "verify") -> dict[str, Any]:
    called(command, str(case), "--evidence", str(evidence), "--backends", "built-in")
    document: dict[str, Any] = json.loads(evidence.read_text())
    return document


def looked(text: str, folder: Path) -> SecondLook:
    """The second look at a case and what `verify` says of it."""
    case = folder / "case.toml"
    case.write_text(text)
    return second_look(written(case, folder / "evidence.json"), text, folder=folder)


def made(source: str, rest: str) -> str:
    """A case with a program."""
    return f'[mechanism]\nkind = "program"\nsource = """\n{source}\n"""\n{rest}'


# --- wrong first readers ----------------------------------------------------------------------------


def misread(old: str, new: str) -> Mutant:
    """A first reader that takes one text for another."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        read = _calls.read_program

        def wrong(text: str, calls: Any) -> Any:
            assert old in text
            return read(text.replace(old, new), calls)

        patch.setattr(_calls, "read_program", wrong)

    return mutate


def replaced(owner: Any, name: str, mutant: Callable[[Any], Any]) -> Mutant:
    """A first reader with another function, which is made from the true one."""
    return lambda patch: patch.setattr(owner, name, mutant(getattr(owner, name)))


def text_of(name: str) -> str:
    return (CASES / f"{name}.toml").read_text().replace("length = 3", "length = 2")


SYMBOLIC = made(
    "output(q[0] + laplace(3 / eps) > q[1] + laplace(5 / eps))",
    '[mechanism.inputs]\nq = { length = 2, values = "0..1" }\n[parameters]\neps = "(0, oo)"\n'
    '[neighbours]\ndiffer = "each"\n[privacy]\nepsilon = "eps"\n',
)
WHOLE = made(
    "k = -n // 2 + 3\nif flip(a):\n    k = uniform(0, 5)\nif 1 <= k < 3:\n    output(True)\nelse:\n    "
    "output(1)",
    '[mechanism.inputs]\nn = { values = "0..5" }\n[parameters]\na = "[1/4, 1/2]"\n'
    '[neighbours]\ndiffer = "each"\n[privacy]\nratio = 100\n',
)
ONE_SIDED = made(
    "output(clamp(n + one_sided_geometric(a), 3, 5))",
    '[mechanism.inputs]\nn = { values = "0..3" }\n[parameters]\na = "[1/4, 1/2]"\n'
    '[neighbours]\ndiffer = "each"\n[privacy]\nratio = 100\n',
)
MUTANTS: dict[str, tuple[str, Mutant]] = {
    "> for >=": (text_of("sparse-vector"), misread(">= T", "> T")),
    "another scale for all eps": (SYMBOLIC, misread("laplace(3 / eps)", "laplace(2 / eps)")),
    "> for >= with densities is no mistake": (SYMBOLIC, misread("> q", ">= q")),
    "no stop": (text_of("sparse-vector-laplace"), misread("stop", "pass")),
    "an output that is left out": (text_of("optimised-unary-encoding"), misread("range(3)", "range(2)")),
    "a chain with another end": (WHOLE, misread("1 <= k < 3", "1 <= k <= 3")),
    "one-sided noise on two sides": (ONE_SIDED, misread("one_sided_geometric", "geometric")),
    "noise of one draw twice": (text_of("histogram"), misread("for x in q", "for x in [q[0], q[0]]")),
    "True told as 1": (
        WHOLE.replace("else:\n    output(1)", "else:\n    output(False)"),
        replaced(wording, "_shown", lambda true: lambda v: true(Fraction(v) if isinstance(v, bool) else v)),
    ),
    "// that cuts towards zero": (
        WHOLE,
        replaced(
            noisy_numbers,
            "_divided",
            lambda true: lambda w, a, b: Fraction(int(a / b)) if w == "//" else true(w, a, b),
        ),
    ),
    "a density with half of its rate": (
        text_of("noisy-max-laplace"),
        replaced(
            noise_densities.Bases, "laplace", lambda true: lambda s, n, rate, two: true(s, n, rate / 2, two)
        ),
    ),
    "uniform without its end": (
        WHOLE,
        replaced(
            noisy_numbers.ProgramDrawing,
            "_uniform",
            lambda true: lambda s, g, state: true(s, (g[0], g[1] - 1), state),
        ),
    ),
    "inputs in another order": (
        text_of("histogram"),
        replaced(
            program.ProgramMechanism,
            "names",
            lambda true: lambda s: {n: tuple(reversed(v)) for n, v in true(s).items()},
        ),
    ),
}
NO_MISTAKE = "> for >= with densities is no mistake"


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_engine_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence of an engine that reads, runs or sums wrongly is rejected because of the second reader."""
    text, mutate = MUTANTS[name]
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(text)
    assert looked(text, tmp_path).agrees
    mutate(monkeypatch)
    written(case, evidence)
    assert check_with_case(json.loads(evidence.read_text()), load(case)).accepted
    done = called("check", str(evidence), "--case", str(case))
    if name == NO_MISTAKE:
        assert done.code == 0
    else:
        assert done.code == 1
        assert "second reading" in done.out


# --- the same probabilities -------------------------------------------------------------------------


def own(source: str, values: Sequence[int], at: Calculator | None = None) -> dict[str, Fraction]:
    """What the second reader finds of a program of an array `q`."""
    table = {"source": source, "inputs": {"q": {"length": len(values), "values": "-2..3"}}}
    found: dict[str, Fraction] = outputs_at(table, at or Calculator({}, None, Fraction(1)))(
        tuple(map(Fraction, values))
    )
    return found


def worded(found: Distribution) -> dict[str, Fraction]:
    """A distribution with the words of outputs, by the first reader."""

    def plain(label: Any) -> Plain:
        value: Plain = tuple(map(plain, label[1:])) if label[0] == "list" else label[1]
        return value

    words: dict[str, Fraction] = {}
    for outputs, chance in found.items():
        name = shown_output([plain(label) for label in outputs])
        assert name not in words
        words[name] = chance
    return words


@FEW
@given(st.integers(0, 10**9))
def test_finite_programs_equal_enumeration(seed: int) -> None:
    """Each output of a program with finite choices has the probability that Python itself finds."""
    r = random.Random(seed)
    text, values = Maker(seed, noise=False).text(), [r.randint(-1, 1), r.randint(-1, 2)]
    try:
        found = own(text, values)
    except UnreadCase:  # too many paths
        return
    assert found == worded(Oracle(ALPHA, 8).distribution(text, {"q": values}))


@pytest.mark.slow
@settings(max_examples=6)
@given(st.integers(0, 10**9))
def test_geometric_noise_equals_truncated_sums(seed: int) -> None:
    """Sums over all values are those over many values, up to next to nothing; and exactly the engine's."""
    r = random.Random(seed)
    text, values = Maker(seed, noise=True).text(), [r.randint(-1, 1), r.randint(-1, 2)]
    at = Calculator({"a": ALPHA}, None, Fraction(1))
    found = own(text, values, at)
    assert sum(found.values()) == 1
    try:
        wanted = worded(Oracle(ALPHA, 6).distribution(text, {"q": values}))
    except TooManyRunsError:
        return
    assert all(
        abs(found.get(k, Fraction(0)) - wanted.get(k, Fraction(0))) <= Fraction(30, 4**6)
        for k in {*found, *wanted}
    )
    try:
        (engine,) = proved(text, [values], {"a": ALPHA})
    except ProgramError:
        return
    assert found == worded(engine)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1005))
def test_densities_equal_numeric_integrals(seed: int) -> None:
    """Probabilities of programs with two continuous draws equal numeric integrals to ten digits."""
    text, noise, most = random_program(seed)
    base = Fraction("1.18136041286564598030838520")  # exp(1/6)
    found = own(text, [0], Calculator({}, Fraction(1, 6), base))
    wanted = {", ".join(map(str, key)): v for key, v in integrated(text, noise, most).items()}  # type: ignore[call-overload]
    for name in {*found, *wanted}:
        assert float(found.get(name, 0)) == pytest.approx(wanted.get(name, 0), abs=1e-10)


def test_noise_by_hand() -> None:
    """Probabilities that a sheet of paper gives: equal rates, sums, three in a row, and densities."""
    half = Fraction(1, 2)
    tie = own("x = geometric(1/2)\noutput(x == geometric(1/2))", [0])
    assert tie["True"] == sum(
        (Fraction(1, 9) * half ** (2 * abs(k)) for k in range(-60, 61)), Fraction(0)
    ) + (Fraction(2, 9) * Fraction(1, 4) ** 61 / (1 - Fraction(1, 4)))
    both = own("output(one_sided_geometric(1/2) + one_sided_geometric(1/2) >= 3)", [0])
    assert both["True"] == 1 - sum(half ** (j + k + 2) for j in range(3) for k in range(3 - j))
    for sign, told in (("==", "False"), ("!=", "True")):  # a whole number and another one
        source = f"output(geometric(1/2) {sign} laplace(1) + geometric(1/3))"
        assert own(source, [0], Calculator({}, Fraction(1), Fraction(3))) == {told: 1}
    row = "x = laplace(1)\ny = laplace(1)\nz = laplace(1)\noutput(x < y and y < z)"
    assert own(row, [0], Calculator({}, Fraction(1), Fraction(3)))["True"] == Fraction(1, 6)
    # Pr(X > 1 + Y) for X, Y ~ exponential(1) is e^(−1)/2, here with 3 for e
    at = Calculator({}, Fraction(1), Fraction(3))
    apart = own("output(exponential(1) > 1 + exponential(1))", [0], at)
    assert apart["True"] == Fraction(1, 6)
    # Pr(X + Y + Z > 1) is (1 + 1 + 1/2)·e^(−1)
    three = own("output(exponential(1) + exponential(1) + exponential(1) > 1)", [0], at)
    assert three["True"] == Fraction(5, 6)
    # Z has rate 2: E((1 + Z)·e^(−Z)) is 2/3 + 2/9, and E((1 + Z + Z²/2)·e^(−Z)) has 2/27 more
    for count, wanted in ((2, Fraction(8, 9)), (3, Fraction(26, 27))):
        total = " + ".join(["exponential(1)"] * count)
        assert own(f"output({total} > exponential(1/2))", [0], at)["True"] == wanted


@pytest.mark.parametrize(
    ("draw", "wanted"),
    [
        ("flip(1/3)", {"True": "1/3", "False": "2/3"}),
        ("uniform(-1, 1)", {"-1": "1/3", "0": "1/3", "1": "1/3"}),
        ("binomial(2, 1/4)", {"0": "9/16", "1": "6/16", "2": "1/16"}),
        ('choice({"a": 1/2, -1: 1/4, True: 1/4, "b": 0})', {"a": "1/2", "-1": "1/4", "True": "1/4"}),
        ("clamp(geometric(1/3), -1, 1)", {"-1": "1/4", "0": "1/2", "1": "1/4"}),
        ("clamp(one_sided_geometric(1/3), 1, 2)", {"1": "8/9", "2": "1/9"}),
    ],
)
def test_draws_by_hand(draw: str, wanted: dict[str, str]) -> None:
    """Each kind of draw has its distribution."""
    assert own(f"output({draw})", [0]) == {name: Fraction(p) for name, p in wanted.items()}


def test_a_factor_eps_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where equal rates meet, eps stands beside exp(-eps), and the result depends on the number for eps."""
    at = Calculator({"x_eps": Fraction(1, 9)}, None, Fraction(1), {"eps": Fraction(1)})
    equal, other = (f"output(laplace(1/eps) + laplace({k}/eps) > 1)" for k in (1, 2))
    before = (
        own(equal, [0], at),
        own(other, [0], Calculator(at.values, None, at.base, {"eps": Fraction(1, 2)})),
    )
    monkeypatch.setattr(second_programs, "UNIT", Fraction(2))
    after = (
        own(equal, [0], at),
        own(other, [0], Calculator(at.values, None, at.base, {"eps": Fraction(1, 2)})),
    )
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_one_sided_noise_has_an_end() -> None:
    """The smallest value is known: it can be told, and what would need a smaller one is never run."""
    told = own("x = one_sided_geometric(1/2)\nif x < 0:\n    output(q[9])\noutput(min(x, 2))", [0])
    assert told == {"0": Fraction(1, 2), "1": Fraction(1, 4), "2": Fraction(1, 4)}


@pytest.mark.parametrize("draw", ["geometric(1/2)", "laplace(1)"])
def test_what_no_noise_leads_to_is_never_run(draw: str) -> None:
    """No three numbers are each above the next, in a circle."""
    draws = "\n".join(f"{name} = {draw}" for name in "xyz")
    assert own(f"{draws}\nif x > y and y > z and z > x:\n    output(q[9])", [0]) == {"(no output)": 1}


SEMANTICS = {
    "output(-7 // 2)\noutput(-7 % 3)\noutput(7 % -3)\noutput(7/2 // 1)": "-4, 2, -2, 3",
    "a = [1, 2, 3]\noutput(a[1:])\noutput(a[:-1])\noutput(a[-1])\noutput(a[5:])": "[2, 3], [1, 2], 3, []",
    'output(True)\noutput(1)\noutput("1")\noutput("True")\noutput("a b")': 'True, 1, "1", "True", a b',
    "output(True + True)\noutput(max(True, 1))\noutput(abs(True))\noutput(1 == True)": "2, True, 1, True",
    "output(abs(1/2))\noutput(abs(-1/2))\noutput(clamp(2, 2, 2))": "1/2, 1/2, 2",
    "output(1 < 2 < 3)\noutput(3 > 2 > 2)\noutput(0 or [])\noutput(2 and 5)": "True, False, [], 5",
    "a = [[1], [2]]\nb = a + []\nb[0] = 5\noutput(a)\noutput(b)": "[[1], [2]], [5, [2]]",
    "n = 0\nwhile True:\n    n += 1\n    if n == 2: continue\n    if n > 3: break\noutput(n)": "4",
    "def f(x, y):\n    return y, x - y\na, b = f(5, 2)\na, b = b, a\noutput(a)\noutput(b)": "3, 2",
    "r = [1, 2, 3]\nj = 0\nr[j], r[j + 1] = r[j + 1], r[j]\nj, r[j], r[j] = 2, 8, 9\noutput(r)": "[2, 1, 9]",
    "output(choice({1/2: 1, -1/2: 0}))\noutput(choice({-(1 + 2) / 4: 1}))": "1/2, -3/4",
    'for x in (1, 2):\n    output(x in [2] or x in (7, 1/2))\nreturn ""\n': 'False, True, ""',
    "output(sum([1, 1/2]))\noutput(min([3, -2]))\noutput(clamp(9, 0, 2))\noutput(2 ** -1)": "3/2, -2, 2, 1/2",
    'output("\u00e9\\n")\nstop\noutput(1)': '"\\u00e9\\n"',
    "if q[0] > 7:\n    output(1)": "(no output)",
    "if flip(0):\n    output(q[9])": "(no output)",
    "output(exp(0))": "1",
    "x = geometric(1/2)\noutput(x == x)\noutput(x < x)\noutput(x - x)": "True, False, 0",
    "x = 1\ndef f(x):\n  x += 1\n  return x\ndef g(y):\n    return f(y) * 3\noutput([g(4), x])": "[15, 1]",
    "a = [[1, 2], 3]\na[0][1] += 3\na[-1] *= a[0][0] + 1\noutput(a)\nreturn\noutput(1)": "[[1, 5], 6]",
}


@pytest.mark.parametrize("source", SEMANTICS)
def test_what_python_means(source: str) -> None:
    """Operators, lists, chains, jumps and functions mean what they mean in Python; outputs are told apart."""
    assert own(source, [0, 1]) == {SEMANTICS[source]: 1}


# --- what a case may say ----------------------------------------------------------------------------

NOISY = (
    "T = laplace(2 / eps)\nfor x in q:\n    if x + laplace(4 / eps) >= T:\n        output(1)\n        stop"
)
PAIR = '[mechanism.inputs]\nq = { length = 2, values = "0..1" }\n[neighbours]\ndiffer = "each"\n'
HALF = '[parameters]\neps = "1/2"\n'
READ = {
    "twice eps": made(NOISY, PAIR + HALF + '[privacy]\nepsilon = "2*eps"'),
    "a third of eps": made(NOISY, PAIR + HALF + '[privacy]\nepsilon = "eps/3"'),
    "with a logarithm": made(NOISY, PAIR + HALF + '[privacy]\nepsilon = "eps + ln(2)"'),
    "eps in a coin": made(
        "output(1 if flip(exp(-eps)) else q[0])", PAIR + HALF + '[privacy]\nepsilon = "2*eps"'
    ),
    "every eps": made(
        "output(q[0] + geometric(exp(-eps/3)) > 0)",
        PAIR + '[parameters]\neps = "(0, oo)"\n[privacy]\nepsilon = "eps/2"',
    ),
    "labels": made(
        'if flip(1/4):\n    return c\nreturn "red" if flip(1/3) else "1"',
        '[mechanism.inputs]\nc = { values = ["red", "light blue"] }\n'
        '[neighbours]\ndiffer = "one"\nby = "any"\n'
        "[privacy]\nratio = 3\n",
    ),
    "listed pairs": made(
        "output(clamp(q[0] + q[1] + geometric(1/3), 0, 2))",
        '[mechanism.inputs]\nq = { length = 2, values = "0..1" }\n[neighbours]\n'
        "pairs = [[[0, 0], [1, 1]], [[0, 1], [1, 1]]]\n[privacy]\nratio = 9\n",
    ),
    "two inputs and a prior": made(
        'output(clamp(n + len(q) * q[0] + geometric(a), 0, 2))\nif c == "x" and flip(1/2):\n    output(q[1])',
        '[mechanism.inputs]\nn = "john + kin"\nq = ["john", "kin * 2"]\nc = "label"\n'
        '[parameters]\np = "(0, 1)"\na = "[1/4, 1/2]"\n[prior]\njohn = { bernoulli = "p" }\n'
        "kin = { uniform = [0, 1] }\n"
        'label = { uniform = ["x", "y"] }\n[secrets]\nill = "john == 1"\nwell = "john == 0"\n'
        'pairs = [["ill", "well"]]\n[privacy]\nratio = 100\n',
    ),
    "two lengths": made(
        "output(clamp(q[0] + geometric(1/2), 0, 1))", PAIR + "[privacy]\nratio = 4\nlength = 2"
    ),
    "one side": made(
        "output(q[0] + one_sided_geometric(1/2) > 2)\nif q[0] == 1:\n    output(1)",
        PAIR + '[privacy]\nratio = 4\none_sided = "ignored"',
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_what_cases_may_say_is_read(name: str, tmp_path: Path) -> None:
    """Fixed and unbounded eps, labels, priors, pairs, lengths and conditions on outputs: all are compared."""
    look = looked(READ[name], tmp_path)
    assert (look.compared, look.agrees) == (True, True), look.line


def test_a_program_in_a_file_is_read_from_the_folder_of_the_case(tmp_path: Path) -> None:
    """`file` is relative to the case; another program in the file is noticed."""
    head = '[mechanism]\nkind = "program"\nfile = "own.py"\n'
    text = f"{head}{PAIR}[privacy]\nratio = 4\n"
    (tmp_path / "own.py").write_text("return clamp(q[0] + geometric(1/2), 0, 2)")
    assert looked(text, tmp_path).line.startswith("read a second time: ")
    done = called("check", str(tmp_path / "evidence.json"), "--case", str(tmp_path / "case.toml"))
    assert "read a second time: 36 comparisons" in done.out
    document = json.loads((tmp_path / "evidence.json").read_text())
    assert second_look(document, text).line == (
        "not read a second time: the file of a program, without the folder of the case"
    )
    (tmp_path / "own.py").write_text("return clamp(q[0] + geometric(1/2), 1, 3)")
    assert not second_look(document, text, folder=tmp_path).agrees


def test_other_neighbours_are_not_read(tmp_path: Path) -> None:
    """A key of `[neighbours]` that this reader does not know is told, and is no mistake."""
    text = made("output(clamp(q[0] + geometric(1/2), 0, 1))", PAIR + "[privacy]\nratio = 4")
    assert looked(text, tmp_path).compared
    document = json.loads((tmp_path / "evidence.json").read_text())
    assert not second_look(document, text.replace('differ = "each"', 'related = "x == y"')).agrees
    look = second_look(document, text.replace('differ = "each"', 'nearby = "each"'))
    assert look.line == "not read a second time: neighbours that are described in another way"


def test_too_many_paths_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are too many paths nothing is compared, and one line says why; the exit code is 0."""
    monkeypatch.setattr(second_runs, "MAX_RUNS", 100)
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(
        made(
            "n = 0\nfor k in range(7):\n    n += uniform(0, 1)\noutput(n < q[0])",
            PAIR + "[privacy]\nratio = 4",
        )
    )
    written(case, evidence)
    done = called("check", str(evidence), "--case", str(case))
    assert done.code == 0
    assert "not read a second time: the program has more than 100 paths for one input" in done.out


def test_limits_of_loops() -> None:
    """As many turns, and as long a range as may be are read, and one more is not, with the reason."""
    square = "x = clamp(one_sided_geometric(1/2), 0, {})\noutput(x * x > 1)"
    assert own(square.format(64), [0]) == {"True": Fraction(1, 4), "False": Fraction(3, 4)}
    with pytest.raises(UnreadCase, match="operation on noise"):
        own(square.format(65), [0])
    for low, high, told in ((40, 104, True), (40, 105, False), (-60, 4, True), (-60, 5, False)):
        between = f"x = clamp(geometric(1/2), {low}, {high})\noutput(x * x >= 0)"
        if told:
            assert own(between, [0]) == {"True": 1}
            continue
        with pytest.raises(UnreadCase, match="operation on noise"):
            own(between, [0])


def test_limits_of_ranges_and_turns() -> None:
    """A list has at most 20,000 entries, and a loop at most 2,000 turns."""
    assert own("output(len(range(3, 20_003)))", [0]) == {"20000": 1}
    with pytest.raises(UnreadCase, match="a range that is too long"):
        own("x = range(20_001)", [0])
    loop = "n = 0\nwhile n < {}:\n    n += 1\noutput(n)"
    assert own(loop.format(2_000), [0]) == {"2000": 1}
    with pytest.raises(UnreadCase, match="a loop of more than 2,000 turns"):
        own(loop.format(2_001), [0])


def test_limits_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many paths, steps and values as may be are read, and one more is not, with the reason."""
    small = "x = one_sided_geometric(1/2)\nif x <= {}:\n    output(x)"
    monkeypatch.setattr(second_runs.Ways.told_apart, "__defaults__", (5,))
    assert own(small.format(5), [0])["5"] == Fraction(1, 64)
    with pytest.raises(UnreadCase, match="an output with noise"):
        own(small.format(6), [0])
    between = "x = geometric(1/2)\nif {} <= x <= {}:\n    output(x)"
    for low, high in ((3, 8), (-8, -3)):
        told = own(between.format(low, high), [0])
        assert all(told[str(k)] == Fraction(1, 3 * 2 ** abs(k)) for k in range(low, high + 1))
        assert len(told) == 7
    with pytest.raises(UnreadCase, match="an output with noise"):
        own(between.format(-3, 3), [0])
    coins = "output(flip(1/2) + flip(1/2))"
    for name, enough, reason in (
        ("MAX_RUNS", 4, "more than 3 paths"),
        ("MAX_STEPS", 40, "more than 39 steps"),
    ):
        monkeypatch.setattr(second_runs, name, enough)
        assert own(coins, [0])["1"] == Fraction(1, 2)
        monkeypatch.setattr(second_runs, name, enough - 1)
        with pytest.raises(UnreadCase, match=reason):
            own(coins, [0])
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import os", "line 1 of the program has Import"),
        ("output(q[0])\noutput([x for x in q])", "line 2 of the program has ListComp"),
        ("output(1 ^ 2)", "line 0 of the program has BitXor"),
        ("output(max(x=1))", "line 1 of the program calls what this reader does not know"),
        ("output(exp(0, 1))", "exp with 2 arguments"),
        ("x = min(one_sided_geometric(1/2), 3, 3)\noutput(x * x)", "operation on noise"),
        ("x = one_sided_geometric(1/2)\nif x <= 3:\n    x = clamp(x, 0, 99)\n    output(x * x)", "on noise"),
        ("x = geometric(1/2)\nif 0 <= x <= 2:\n    output(x + 1/2)", "an output with noise"),
        ("x = geometric(1/2)\nif 0 <= x <= 2:\n    output(x / 2)", "an output with noise"),
        ("x = laplace(1)\nif 0 <= x <= 2:\n    output(x)", "an output with noise"),
        ("x = laplace(1) + geometric(1/2)\nif 0 <= x <= 2:\n    output(x)", "an output with noise"),
        ("output(open(1))", "line 1 of the program calls what this reader does not know"),
        ("output(q[0].real)", "line 1 of the program has Attribute"),
        ("for k in q:\n    pass\nelse:\n    output(1)", "line 1 of the program has a loop with else"),
        (
            "n = 0\nwhile n < 1:\n    n += 1\nelse:\n    output(1)",
            "line 2 of the program has a loop with else",
        ),
        ("output(geometric(1/2))", "an output with noise"),
        ("output(one_sided_geometric(1/2))", "an output with noise"),
        ("output(-one_sided_geometric(1/2))", "an output with noise"),
        ("x = geometric(1/2) * geometric(1/2)", "this operation on noise"),
        ("a = [1]\na += [2]", "made longer in place"),
        ("if geometric(1/2):\n    output(1)", "noise or a parameter as a condition"),
        ("def f(x):\n    y = x\noutput(f(1))", "a function ends without return"),
        ("def f(x, y):\n    return x\noutput(f(1))", "line 3 fails"),
        ("output([1, [geometric(1/2)]])", "an output with noise"),
        ("output(q[geometric(1/2)])", "a number without noise is needed"),
        ("output(clamp(1, 2, 0))", "clamp needs lo <= hi"),
        ("output(q[9])", "line 1 fails: list index out of range"),
        ("x = geometric(1/2)\ny = geometric(1/2)\noutput(2*x > 3*y)", "a multiple of its noise"),
    ],
)
def test_what_is_not_known_is_not_read(source: str, reason: str) -> None:
    """Whatever this reader does not know is no mistake of the first one: it says so, with the line."""
    with pytest.raises(UnreadCase, match=reason):
        own(source, [0, 1])


IMPOSSIBLE = {
    "flip(3/2)": "probabilities of a draw",
    "flip(-1/2)": "probabilities of a draw",
    "binomial(3, 3/2)": "probabilities of a draw",
    "uniform(2, 1)": "probabilities of a draw",
    "choice({1: 1/2, 2: 1/3})": "probabilities of a draw",
    "choice({1: 3/2, 2: -1/2})": "probabilities of a draw",
    **dict.fromkeys(
        [f"{kind}({a})" for kind in ("geometric", "one_sided_geometric") for a in (0, 1, -1)], "ratio"
    ),
}


@pytest.mark.parametrize("draw", IMPOSSIBLE)
def test_draws_that_are_none(draw: str) -> None:
    """Negative probabilities, those that do not sum to 1, and ratios without a sum are mistakes."""
    with pytest.raises(UnreadCase, match=f"line 1 fails: the {IMPOSSIBLE[draw]}"):
        own(f"output({draw} == 1)", [0])


def test_paths_of_all_chances_sum_to_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the chances of a draw sum to less or to more and nothing else notices, the sum of all does."""
    monkeypatch.setattr(second_programs, "_checked", lambda rows: rows)
    for other in ("1/3", "2/3"):
        with pytest.raises(ValueError, match="of the paths do not sum to 1"):
            own(f"output(choice({{1: 1/2, 2: {other}}}))", [0])


def test_sets_that_are_not_all_outputs() -> None:
    """Half of the outputs is no number: sets of numbers are never all, and the sets and the label are."""
    table: dict[str, Any] = {"source": "output(laplace(1) if flip(1/2) else 'a')", "inputs": {}}
    for words, wanted in (("<= 0", None), ("<= 0; >= 0", None), ("<= 0; >= 0; a", [1, 1, 2])):
        names = {word: named(word) for word in words.split("; ")}
        numeric = outputs_at({**table, NAMED: (names, Breaks())}, Calculator({}, Fraction(1), Fraction(3)))
        if wanted is None:
            with pytest.raises(Rejected, match="are not all outputs"):
                numeric(())
        else:
            assert [4 * chance for chance in numeric(()).values()] == wanted
    far = {**table, NAMED: ({"far above": named("far above")}, None)}
    numeric = outputs_at(far, Calculator({}, Fraction(1), Fraction(3)))
    assert numeric(()) == {}  # a number that falls to zero, before it is told what else falls
    numeric.prepare([(Fraction(0),)])
    assert numeric(()) == {"far above": Fraction(1, 4)}


def test_draws_that_are_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many outcomes as allowed are read; scales of two parameters, and noise without sums, are not."""
    monkeypatch.setattr(second_programs, "MAX_OUTCOMES", 3)
    assert own("output(uniform(1, 3))", [0]) == dict.fromkeys("123", Fraction(1, 3))
    two = Calculator({"x_a": ALPHA, "x_b": ALPHA}, None, steps={"a": Fraction(1), "b": Fraction(1)})
    for text, words in (
        ("uniform(1, 4)", "too many outcomes"),
        ("laplace(1/a) > laplace(1/b)", "scales of two kinds"),
        ("laplace(1/a) > laplace(1)", "scales of two kinds"),
        ("gauss(1)", "^Gaussian noise$"),
        ("discrete_gaussian(1)", "^discrete Gaussian noise$"),
        ("flip(1/2, 1/2)", "flip with 2 arguments"),
        ("laplace()", "laplace with 0 arguments"),
    ):
        with pytest.raises(UnreadCase, match=words):
            own(f"output({text})", [0], two)


def test_arguments_of_mechanisms() -> None:
    """A mechanism of another kind takes its own inputs, True as 1, and no others."""
    for argument, chance in (
        ("0", "1/4"),
        ("True", "3/4"),
        ("1", "3/4"),
        ("2", ""),
        ("'1'", ""),
        ("[0, 1]", ""),
    ):
        calls = {"f": {"kind": "randomized_response", "truth": "3/4"}}
        table = {"source": f"output(f({argument}))", "inputs": {"x": {"values": [0]}}, "calls": calls}
        outputs = outputs_at(table, Calculator({}, None), second_mechanisms.read)
        if chance:
            assert outputs((Fraction(0),))["1"] == Fraction(chance)
        else:
            with pytest.raises((UnreadCase, ValueError), match="argument"):
                outputs((Fraction(0),))
    for value in (PowerSum.variable("eps"), NoisyNumber({0: Fraction(1)}, Fraction(0))):
        with pytest.raises(UnreadCase, match="an argument that a mechanism does not take"):
            second_programs._rows(SimpleNamespace(answers=(None,)))([value])  # None: of whatever is given
    inner = {"kind": "program", "source": "return v[1] + 1", "inputs": {"v": {"values": [0], "length": 2}}}
    outer = {"source": "output(f([0, clamp(geometric(1/2), 2, 2)]))", "inputs": {}, "calls": {"f": inner}}
    assert outputs_at(outer, Calculator({}, None))(()) == {"3": 1}


def test_places_of_inputs() -> None:
    """Numbers, arrays and expressions get their values one after the other."""
    table = {
        "a": {"values": [3, "x"]},
        "q": {"length": 2, "values": "-1..1"},
        "e": "u + v",
        "r": ["u", "w", "u"],
    }
    places = InputPlaces({**table, "b": {"values": [0]}})
    three = [Fraction(k) for k in (-1, 0, 1)]
    assert places.answers == [[Fraction(3), "x"], three, three, [Fraction(0)]]
    assert places.queries == ["u + v", "u", "w", "u"]
    assert places.names(list("a12erstb")) == {
        "a": "a",
        "q": ["1", "2"],
        "e": "e",
        "r": ["r", "s", "t"],
        "b": "b",
    }


@pytest.mark.parametrize(
    ("source", "names", "reason"),
    [
        ("output(geometric(1/2) if flip(1/2) else 'a')", "<= 0; >= 1; <= 0/1; >= 1/1", "a part in common"),
        ("output(geometric(1/2))", "<= 0; 1..3; >= 3", "a part in common"),
        ("output(geometric(1/2))", "<= 0; = 1; 1; >= 2", "a part in common"),
        ("output(geometric(1/2))", "<= 0; = 1; >= 2", ""),
        ("output(laplace(1))", "<= 0; >= 0", ""),
        ("output([geometric(1/2), 0])", "[<= 0, 0]; [>= 1, 0]", ""),
        ("output([geometric(1/2), 0])", "[<= 0, 0]; [>= 0, 0]", "a part in common"),
    ],
)
def test_sets_that_overlap(source: str, names: str, reason: str) -> None:
    """Sets are compared if none has a part of another one; a point counts where numbers are whole."""
    words = {word: named(word) for word in names.split("; ")}
    table = {"source": source, "inputs": {}, NAMED: (words, Breaks())}
    numeric = outputs_at(table, Calculator({}, Fraction(1), Fraction(3)))
    if reason:
        with pytest.raises(Rejected, match=reason):
            numeric([])
    else:
        assert sum(numeric([]).values()) == 1


def test_as_many_names_as_values() -> None:
    """Nothing is assigned where there are more names than values."""
    names = ast.parse("[a, b]", mode="eval").body
    with pytest.raises(ValueError, match="the numbers of names and values differ"):
        Interpreter.assign(Any, names, [Fraction(1)])  # type: ignore[arg-type]
