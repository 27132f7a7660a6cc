"""`show`, `budget` and `synthesize` on programs: the answers are those of running the text as Python.

tests/test_shipped_cases.py compares verdicts of programs with running their texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from calling_tools import Called, called, strict_json
from cloud_oracle import CloudOracle
from shipped_runs import asked

Row = dict[str, float]


@dataclass(frozen=True)
class Program:
    """A case of a program. `at` is a point of its domain; the values of the names in its text are there.

    `values` gives the value that each name has for Python, where that is another one: eps for x_eps.
    """

    case: str
    at: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    draws: int = 2
    prior: Mapping[str, Mapping[tuple[int, ...], Fraction]] = field(default_factory=dict)


def _case(text: str, inputs: str, privacy: str, parameters: str = "", more: str = "") -> str:
    head = f"[parameters]\n{parameters}\n" if parameters else ""
    compared = more or '[neighbours]\ndiffer = "each"\n'
    return (
        f"{head}[mechanism]\nkind = \"program\"\nsource = '''\n{text}\n'''\n"
        f"[mechanism.inputs]\n{inputs}\n{compared}\n[privacy]\n{privacy}\n"
    )


TWO = 'q = { length = 2, values = "0..1" }'
HALF = Fraction(1, 2)
ABOVE = "T = {}\nfor x in q:\n    if x + {} >= T:\n        output(1)\n        stop\n    output(0)"
LARGEST = "a = q[0] + {0}\nb = q[1] + {0}\nif b > a:\n    output(1)\nelse:\n    output(0)"
FAMILY = """[prior]
john = { bernoulli = "p" }
kin = { given = "john", table = { 0 = { 0 = "1" }, 1 = { 1 = "1" } } }
[secrets]
ill = "john == 1"
healthy = "john == 0"
pairs = [["ill", "healthy"]]"""
ALONE = """[prior]
A = { bernoulli = "p" }
B = { bernoulli = "1/4" }
[secrets]
one = "A == 1"
none = "A == 0"
pairs = [["one", "none"]]"""
ALPHA = 'alpha = "(0, 1)"'
EVERY = 'eps = "(0, oo)"'
THIRD = math.log(3)

PROGRAMS = {
    "finite, violated": Program(
        _case("output(binomial(2, 1/2) + q[0])\noutput(q[1] * 0)", TWO, "ratio = 10")
    ),
    "finite, a parameter": Program(
        _case("for x in q:\n    output(1 - x if flip(r) else x)", TWO, 'ratio = "9"', 'r = "[1/4, 1/2]"'),
        {"r": "1/4"},
    ),
    "noisy max, too little": Program(
        _case(LARGEST.format("geometric(alpha)"), TWO, 'ratio = "1/alpha"', ALPHA),
        {"alpha": "1/4"},
    ),
    "Laplace, eps unbounded": Program(
        _case(
            "if q[0] + laplace(2 / eps) >= 1:\n    output(1)\nelse:\n    output(0)",
            'q = { length = 1, values = "0..1" }',
            'epsilon = "eps/2"',
            EVERY,
        ),
        {"x_eps": "1/3"},  # exp(-eps/2)
        {"eps": 2 * THIRD},
        draws=1,
    ),
    "a prior, correlated": Program(
        _case("output(clamp(n + geometric(alpha), 0, 2))", 'n = "john + kin"', 'ratio = "1/alpha**2"')
        .replace('[neighbours]\ndiffer = "each"', FAMILY)
        .replace("[mechanism]\n", f'[parameters]\np = "(0, 1)"\n{ALPHA}\n[mechanism]\n', 1),
        {"alpha": "1/4", "p": "1/2"},
        draws=1,
        prior={"ill": {(2,): Fraction(1)}, "healthy": {(0,): Fraction(1)}},
    ),
    "listed pairs and lists": Program(
        _case(
            "r = [0, 0]\nfor i in range(2):\n    r[i] = 1 if flip((1 + q[i]) / 4) else 0\nreturn r",
            TWO,
            "ratio = 3",
            more="[neighbours]\npairs = [[[0, 0], [1, 0]], [[0, 1], [0, 0]]]",
        )
    ),
}
QUICK = ("finite, a parameter", "Laplace, eps unbounded", "a prior, correlated")
SHOWN = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in PROGRAMS]


def _text(program: Program) -> str:
    found = re.search(r"source = '''\n(.*)\n'''", program.case, re.DOTALL)
    assert found is not None
    return re.sub(r"return (.*)", r"output(\1)", found[1])


def _expected(program: Program) -> dict[str, Row]:
    """Returns the distribution of each secret at the point, by running the text as Python."""
    names = {name: float(Fraction(value)) for name, value in program.at.items()} | dict(program.values)
    oracle = CloudOracle(program.draws)

    def row(given: tuple[int, ...]) -> Row:
        inputs: dict[str, Any] = {"q": list(given), "n": given[0]}
        found: Row = {}
        for told, share in oracle.distribution(_text(program), names | inputs).items():
            found[", ".join(map(_word, told))] = share
        return found

    if program.prior:
        mixed = {}
        for secret, weights in program.prior.items():
            rows = [(float(w), row(given)) for given, w in weights.items()]
            mixed[secret] = {o: sum(w * r.get(o, 0.0) for w, r in rows) for _, r in rows for o in r}
        return mixed
    count = int(found[1]) if (found := re.search(r"length = (\d)", program.case)) else 1
    most = int(re.search(r"\.\.(\d)", program.case)[1])  # type: ignore[index]
    inputs = [(a, b) for a in range(most + 1) for b in range(most + 1)] if count == 2 else [(0,), (1,)]
    return {(str(x) if len(x) > 1 else str(x[0])): row(x) for x in inputs}


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return str(value[1]) if isinstance(value[0], str) else f"[{', '.join(map(_word, value))}]"
    return str(int(value))


def _number(text: str, names: Mapping[str, float]) -> float:
    return float(eval(text.replace("^", "**"), {"__builtins__": {}, "exp": math.exp}, dict(names)))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(PROGRAMS[name].case)
    return "case.toml"


def _both(command: str, path: str, *more: str) -> tuple[Called, dict[str, Any]]:
    """Returns what a command says as text, and as JSON; both end alike."""
    text, data = called(command, path, *more), called(command, path, *more, "--json")
    assert text.code == data.code
    return text, strict_json(data.out)


def _once(command: str, path: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Called, dict[str, Any]]:
    """Returns what one decision says as text, and as JSON; its evidence is in a file named by the command."""
    with monkeypatch.context() as patch:
        run = asked(Path(path), Path(), patch, command)
    assert run.words.code == run.data.code
    return run.words, run.document


@pytest.mark.parametrize("name", SHOWN)
def test_show_gives_the_probabilities_of_enumeration(name: str, path: str) -> None:
    """Each formula of `show` has the value at a point that running the text has there."""
    program = PROGRAMS[name]
    expected = _expected(program)
    text, data = _both("show", path)
    at = {k: float(Fraction(v)) for k, v in program.at.items()}
    at["E"] = _number(data.get("E", "1"), {})
    seen: dict[str, Row] = {}
    for row in data["probabilities"]:
        (observation,) = row["observations"]
        seen.setdefault(row["secret"], {})[observation] = _number(row["formula"], at)
        assert row["formula"] in text.out or row["factored"] in text.out
    for secret, row in seen.items():
        assert all(abs(row.get(o, 0.0) - expected[secret].get(o, 0.0)) < 1e-12 for o in expected[secret])
        assert abs(sum(row.values()) - 1) < 1e-12
    assert called("show", path, "--latex").out.count("\\") > 2
    assert called("show", path, "--graph").out.startswith("digraph")
    assert "graph" in called("show", path, "--graph", "--json").out


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_budgets_and_parameters(name: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`budget` is at least the ratio at the point, and equal to it without parameters; maps are checked."""
    program = PROGRAMS[name]
    expected = _expected(program)
    text, data = _once("budget", path, monkeypatch)
    assert text.code == 0
    pairs = list(expected) if program.prior else None
    largest = 0.0
    for x in expected:
        for y in expected:
            if pairs is None and not _near(program, x, y):
                continue
            for o, share in expected[x].items():
                other = expected[y].get(o, 0.0)
                largest = max(largest, share / other if other > 1e-14 else math.inf)
    infinite = data["ratio"] == "infinity"
    assert infinite or float(Fraction(data["proved_upper"])) >= largest * (1 - 1e-9)
    if not program.at:
        assert infinite == math.isinf(largest)
        assert infinite or abs(float(Fraction(data["proved_upper"])) / largest - 1) < 1e-8
        assert called("synthesize", path).code == 2  # there is nothing to choose
        return
    assert called("check", "budget.json").code == called("check", "budget.json", "--case", path).code == 0
    assert called("synthesize", path).code == 0
    assert called("synthesize", path, "--region", "--coverage", "0.3", "--evidence", "m.json").code == 0
    assert called("check", "m.json", "--case", path).code == 0


def _near(program: Program, x: str, y: str) -> bool:
    if "pairs = " in program.case:
        return {x, y} in ({"(0, 0)", "(1, 0)"}, {"(0, 1)", "(0, 0)"})
    apart = [abs(int(a) - int(b)) for a, b in zip(*(re.findall(r"\d", z) for z in (x, y)), strict=True)]
    return sum(map(bool, apart)) <= 1 if "one" in program.case else max(apart) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("best", ["minimise", "maximise"])
def test_a_design_parameter_of_a_program(best: str, tmp_path: Path) -> None:
    """For which alpha is a program private for all priors? Pr(0 | healthy) / Pr(0 | ill) is 1 / alpha^2."""
    path = tmp_path / "case.toml"
    case = PROGRAMS["a prior, correlated"].case.replace(ALPHA, 'alpha = { in = "(0, 1)", design = true }')
    case = case.replace('ratio = "1/alpha**2"', "ratio = 4")
    path.write_text(f'{case}[design]\n{best} = "alpha"\n')
    text = called("synthesize", str(path)).out
    assert "private: ratio = 4 for alpha in [1/2, 1) and all p in (0, 1)" in text
    assert ("smallest alpha: 1/2" if best == "minimise" else "largest") in text or best == "maximise"
    path.write_text(f'{case}[quantify]\nforall = ["p"]\n'.replace(", design = true", ""))
    assert "private exactly for alpha in [1/2, 1) and all p in (0, 1)" in called("verify", str(path)).out


COIN = '''
[parameters]
eps = {{ in = "(0, oo)", design = true }}
{more}
[mechanism]
kind = "program"
source = """
b = q
if flip({share}):
    b = 1 - b
output(b)
"""
[mechanism.inputs]
q = {{ values = "0..1" }}
[neighbours]
differ = "each"
[privacy]
ratio = {ratio}
[design]
{best} = "eps"
'''


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "ratio", "best", "told"),
    [
        ("1/(1 + exp(eps))", 4, "maximise", "so the largest eps is ln(4)"),  # the ratio is exp(eps)
        ("exp(-eps)/2", 3, "maximise", "so the largest eps is ln(2)"),  # the ratio is 2*exp(eps) - 1
        (
            "(exp(-eps) + exp(-2*eps))/4",
            4,
            "maximise",
            "so the largest eps is ≈ 0.644938",
        ),  # x + x^2 = 4/5
        ("1/4", 3, "maximise", "so eps may be as large as you like"),
        ("exp(-eps)", 2, "minimise", "so the smallest eps is"),
    ],
)
def test_a_design_parameter_without_an_end(
    share: str, ratio: int, best: str, told: str, tmp_path: Path
) -> None:
    """The largest eps is the smallest exp(-eps/d): the answer says what it means for eps."""
    path = tmp_path / "case.toml"
    path.write_text(COIN.format(share=share, ratio=ratio, best=best, more=""))
    text = called("synthesize", str(path)).out
    assert told in text, text


@pytest.mark.slow
def test_a_parameter_without_an_end_is_known_by_its_name(tmp_path: Path) -> None:
    """`[quantify]` and `[design]` know a parameter of the domain (0, oo) by its own name."""
    path = tmp_path / "case.toml"
    case = COIN.format(share="1/2 - p*exp(-eps)", ratio=2, best="maximise", more='p = "(0, 1/2)"')
    head, _, _ = case.partition("[design]")
    path.write_text(head.replace(", design = true", "") + '[quantify]\nforall = ["eps"]\n')
    assert "and all eps in (0, oo) (on the word of QEPCAD" in called("verify", str(path)).out
    path.write_text(f'{head}[design]\nmaximise = "x_eps"\n')
    assert (
        "'x_eps' is not a design parameter; the design parameters are eps" in called("verify", str(path)).err
    )
