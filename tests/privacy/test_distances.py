"""Cases with related inputs and distances: verdicts, budgets and evidence against plain enumeration."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from quick import seeds
from relation_oracle import Conditions, Parts, evaluated

from paramverify.algebra.polynomials import constant_value
from paramverify.cli.main import run
from paramverify.encodings.cone import cone_claims
from paramverify.models.model import need_privacy
from paramverify.privacy.cases import load
from paramverify.rereader.second_reading import second_look

PARTS = Parts((("q", 2),))
INPUTS = [tuple(map(Fraction, x)) for x in product(range(3), repeat=2)]
DISTANCES = [
    ("sum(abs(x[i] - y[i]))", lambda x, y: sum((abs(a - b) for a, b in zip(x, y, strict=True)), Fraction(0))),
    ("max(abs(x[i] - y[i]))", lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True))),
    ("count(x[i] != y[i])", lambda x, y: Fraction(sum(a != b for a, b in zip(x, y, strict=True)))),
    ("abs(sum(x) - sum(y))", lambda x, y: abs(sum(x) - sum(y))),
    ("3 * abs(x[0] - y[0]) + 2 * abs(x[1] - y[1])", lambda x, y: 3 * abs(x[0] - y[0]) + 2 * abs(x[1] - y[1])),
]
Row = dict[str, Fraction]


@dataclass(frozen=True)
class Mechanism:
    """A random mechanism on pairs of numbers: a distribution over three outputs for each input."""

    rows: dict[tuple[Fraction, ...], Row]

    @staticmethod
    def of(rng: random.Random, zeros: bool) -> Mechanism:
        rows = {}
        for given in INPUTS:
            weights = [rng.randrange(0 if zeros and rng.random() < 0.1 else 1, 5) for _ in "abc"]
            weights[0] += not sum(weights)
            rows[given] = {o: Fraction(w, sum(weights)) for o, w in zip("abc", weights, strict=True)}
        return Mechanism(rows)

    def source(self) -> str:
        lines = []
        for (a, b), row in self.rows.items():
            table = ", ".join(f'"{o}": {p}' for o, p in row.items())
            lines += [f"if q[0] == {a} and q[1] == {b}:", f"    return choice({{{table}}})"]
        return "\n".join([*lines, "stop"])

    def ratios(self, x: Sequence[Fraction], y: Sequence[Fraction]) -> list[Fraction | None]:
        """Returns Pr(o | x) / Pr(o | y) for each output o that x allows; None is infinity."""
        one, other = self.rows[tuple(x)], self.rows[tuple(y)]
        return [one[o] / other[o] if other[o] else None for o in one if one[o]]


def written(mechanism: Mechanism, neighbours: str, privacy: str) -> str:
    lines = mechanism.source().replace("\n", "\\n").replace('"', '\\"')
    return f"""
[mechanism]
kind = "program"
source = "{lines}"
[mechanism.inputs]
q = {{ length = 2, values = "0..2" }}
[neighbours]
{neighbours}
[privacy]
{privacy}
"""


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


METRIC = 'distance = "abs(x - y)"'


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(4, 2))
def test_random_relations(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict and the tight budget are those of all pairs that Python calls related."""
    rng = random.Random(seed)
    mechanism = Mechanism.of(rng, zeros=seed % 3 == 0)
    while True:
        text, python = Conditions(PARTS, rng).condition(2, {})
        related = {
            frozenset((x, y))
            for x, y in product(INPUTS, repeat=2)
            if x != y and evaluated(python, PARTS.named("x", x) | PARTS.named("y", y))
        }
        if related:
            break
    found = [
        r for pair in related for x, y in (tuple(pair), tuple(pair)[::-1]) for r in mechanism.ratios(x, y)
    ]
    largest = None if None in found else max(r for r in found if r is not None)
    case = tmp_path / "case.toml"
    for bound in [Fraction(3, 2), Fraction(3), *([largest] if largest else [])]:
        case.write_text(written(mechanism, f"related = {json.dumps(text)}", f'ratio = "{bound}"'))
        code, document = answer(capsys, "verify", str(case))
        assert code == (0 if largest is not None and largest <= bound else 1)
        if code == 1:
            left, right = (tuple(map(Fraction, s[1:-1].split(", "))) for s in document["witness"]["secrets"])
            assert frozenset((left, right)) in related
    _, document = answer(capsys, "budget", str(case))
    assert document["ratio"] == ("infinity" if largest is None else str(largest))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(5, 2))
def test_random_metrics(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each pair is held to the bound of its own distance, and the budget for one unit is the largest root."""
    rng = random.Random(seed)
    mechanism = Mechanism.of(rng, zeros=seed % 5 == 0)
    text, distance = DISTANCES[seed % len(DISTANCES)]
    largest: dict[Fraction, Fraction | None] = {}
    for x, y in combinations(INPUTS, 2):
        found = [*mechanism.ratios(x, y), *mechanism.ratios(y, x), largest.get(distance(x, y), Fraction(1))]
        largest[distance(x, y)] = None if None in found else max(r for r in found if r is not None)
    base = Fraction(rng.randrange(3, 9), 2)
    fine = all(r is not None and r <= base ** int(d) for d, r in largest.items())
    case = tmp_path / "case.toml"
    case.write_text(written(mechanism, f"distance = {json.dumps(text)}", f'ratio = "({base})**distance"'))
    claims = cone_claims(need_privacy(load(case).model, "this test"))
    assert all(constant_value(claim.polynomial) >= 0 for claim in claims) == fine
    evidence, proved = tmp_path / "evidence.json", tmp_path / "budget.json"
    code, document = answer(capsys, "verify", str(case), "--evidence", str(evidence))
    assert code == (0 if fine else 1)
    if not fine:
        witness = document["witness"]
        left, right = (tuple(map(Fraction, s[1:-1].split(", "))) for s in witness["secrets"])
        assert Fraction(witness["distance"]) == distance(left, right)
        assert Fraction(witness["bound"]) == base ** int(distance(left, right))
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    capsys.readouterr()
    code, document = answer(capsys, "budget", str(case), "--evidence", str(proved))
    told = {Fraction(entry["distance"]): entry["ratio"] for entry in document["distances"]}
    assert told == {d: "infinity" if r is None else str(r) for d, r in largest.items()}
    check_budget(document, largest)
    assert run(["check", str(proved), "--case", str(case)]) == 0
    assert "checked: a budget" in capsys.readouterr().out


def check_budget(document: dict[str, Any], largest: dict[Fraction, Fraction | None]) -> None:
    """Compares the budget for one unit of distance with the roots of the largest ratios."""
    far = Fraction(document["distance"])
    apart = {d: r for d, r in largest.items() if d}
    if None in largest.values() or largest.get(Fraction(0), 1) != 1:
        assert document["epsilon_per_distance"] is None
        assert document["epsilon_per_distance_bounds"] == ["infinity", "infinity"]
        return
    ratio = Fraction(document["ratio"])
    assert apart[far] == ratio
    assert all(r is not None and r ** int(far) <= ratio ** int(d) for d, r in apart.items())
    assert abs(float(ratio) - 2.718281828459045 ** (document["epsilon_per_distance"] * float(far))) < 1e-6
    unit = document["ratio_per_distance"]
    if unit is not None:
        assert Fraction(unit) ** int(far) == ratio
    else:
        assert far > 1


def case_of(tmp_path: Path, neighbours: str, privacy: str, mechanism: str = "", parameters: str = "") -> Path:
    mechanism = mechanism or 'kind = "geometric"\nnoise = { truncated_geometric = "1/2", range = 3 }'
    path = tmp_path / "case.toml"
    tables = [
        ("parameters", parameters),
        ("mechanism", mechanism),
        ("neighbours", neighbours),
        ("privacy", privacy),
    ]
    path.write_text("\n".join(f"[{name}]\n{content}" for name, content in tables))
    return path


REFUSED = [
    (
        'related = "x != y"\ndiffer = "one"',
        'ratio = "2"',
        "neighbours.related: give either differ or related, not both",
    ),
    (
        'related = "x != y"\nby = 1',
        'ratio = "2"',
        'neighbours.by: this key needs differ = "each" or "one"; add it, or remove this line',
    ),
    (
        'related = "x > 9"',
        'ratio = "2"',
        "neighbours.related: no two different inputs satisfy this condition",
    ),
    ('related = "x"', 'ratio = "2"', "neighbours.related: this must be a condition"),
    ('related = "x[i] == 1"', 'ratio = "2"', "neighbours.related: x is a single value here"),
    (
        'distance = "x - y"',
        'ratio = "2**distance"',
        "neighbours.distance: the distance is -1 from 0 to 1, but 1 in the other direction",
    ),
    (
        'distance = "1 - abs(x - y)"',
        'ratio = "2**distance"',
        "the distance is -1 from 0 to 2, but a distance must not be negative",
    ),
    (
        'distance = "abs(x - y)"',
        'ratio = "2"',
        "privacy.ratio: [neighbours] gives a distance, and this bound",
    ),
    (
        'differ = "each"',
        'ratio = "2**distance"',
        "privacy.ratio: give the distance of two inputs in [neighbours]",
    ),
    ('differ = "each"', 'epsilon = "ln(2)*distance"', "privacy.epsilon: give the distance of two inputs"),
    (
        'distance = "abs(x - y)/2"',
        'epsilon = "ln(2)*distance"',
        "the factor of a logarithm must be a whole number, not 1/2",
    ),
    ('distance = "abs(x - y)"', 'ratio = "4 - distance**2/2"', "must be positive (for the distance 3)"),
    (
        'distance = "abs(x - y)"',
        'ratio = "2**distance"\nlength = "all"',
        "privacy.length: with distances the lengths",
    ),
    (
        'distance = "abs(x - y)"\nby = 2',
        'ratio = "2**distance"',
        'neighbours.by: this key needs differ = "each" or "one"',
    ),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refusals(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each mistake has one reason, with its key, and exit code 2."""
    neighbours, privacy, reason = REFUSED[number]
    assert run(["verify", str(case_of(tmp_path, neighbours, privacy))]) == 2
    assert reason in capsys.readouterr().err


def test_a_parameter_called_distance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A parameter may have this name where no distance is given, and not beside one."""
    path = case_of(tmp_path, 'differ = "each"', 'ratio = "2*distance"', parameters='distance = "[1, 2]"')
    assert run(["verify", str(path)]) == 0
    path = case_of(
        tmp_path, 'distance = "abs(x - y)"', 'ratio = "2**distance"', parameters='distance = "[1, 2]"'
    )
    assert run(["verify", str(path)]) == 2
    assert "neighbours.distance: distance is already the name of a parameter" in capsys.readouterr().err


def test_above_threshold_has_no_distance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The adversary chooses its answers one by one: they may be related, and have no distance."""
    mechanism = """kind = "above_threshold"
threshold = 1
threshold_noise = { truncated_geometric = "1/2", range = 2 }
query_noise = { truncated_geometric = "1/2", range = 2 }"""
    path = case_of(tmp_path, 'related = "y - x in [0, 1]"', 'ratio = "8"', mechanism)
    assert run(["verify", str(path), "--json"]) == 0
    related = json.loads(capsys.readouterr().out)
    assert any("in one direction only" in note for note in related["notes"])
    origins = [(claim["observations"], claim["merged"]) for claim in related["claims"]]
    path = case_of(tmp_path, 'differ = "each"', 'ratio = "8"', mechanism)
    assert run(["verify", str(path), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)["claims"]
    assert [(claim["observations"], claim["merged"]) for claim in again] == origins
    path = case_of(tmp_path, 'distance = "abs(x - y)"', 'ratio = "8**distance"', mechanism)
    assert run(["verify", str(path)]) == 2
    assert "they have no distance" in capsys.readouterr().err


NOISE = 'noise = { truncated_geometric = "1/2", range = 2 }'
KINDS = {
    "geometric": (f'kind = "geometric"\n{NOISE}', "abs(x - y)", "2**distance"),
    "one noisy answer": (f'kind = "noisy_max"\nqueries = 1\n{NOISE}', "abs(x[0] - y[0])", "2**distance"),
    "noisy_max": (f'kind = "noisy_max"\nqueries = 2\n{NOISE}', "sum(abs(x[i] - y[i]))", "2**distance"),
    "labels": (
        'kind = "randomized_response"\nvalues = ["a", "b", "c"]\ntruth = "1/2"',
        "2 if 'a' in [x, y] else 1 if x != y else 0",
        "3/2 + distance/2",
    ),
    "hmm": (
        """kind = "hmm"
states = ["0", "1", "2"]
observations = ["u", "v"]
emissions = { 0 = { u = "1/2", v = "1/2" }, 1 = { u = "1/3", v = "2/3" }, 2 = { u = "1/4", v = "3/4" } }""",
        "abs(x - y)",
        "(3/2)**distance",
    ),
    "time_series": (
        """kind = "time_series"
states = ["0", "1"]
initial = { 0 = "1/2", 1 = "1/2" }
truth = "3/4"
[mechanism.transitions]
0 = { 0 = "2/3", 1 = "1/3" }
1 = { 0 = "1/3", 1 = "2/3" }""",
        "abs(x - y)",
        "3**distance",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Distances and conditions work for each kind with neighbours, and brute force agrees with the claims."""
    mechanism, distance, ratio = KINDS[kind]
    evidence = tmp_path / "evidence.json"
    for neighbours, bound in [
        (f'distance = "{distance}"', ratio),
        (f'related = "({distance}) == 1"', ratio.replace("distance", "1")),
    ]:
        path = case_of(tmp_path, neighbours, f'ratio = "{bound}"', mechanism)
        assert run(["verify", str(path), "--evidence", str(evidence)]) == 0
        assert run(["check", str(evidence), "--case", str(path)]) == 0
        told = capsys.readouterr().out
        assert "read a second time" in told
        if kind == "one noisy answer":  # its index says nothing
            continue
        path = case_of(tmp_path, neighbours, f'ratio = "1 + ({bound} - 1)/20"', mechanism)
        assert run(["verify", str(path), "--evidence", str(evidence)]) == 1
        assert ("for the distance" in capsys.readouterr().out) == (neighbours[0] == "d")
        assert run(["check", str(evidence), "--case", str(path)]) == 0
        assert "the probabilities of the witness agree" in capsys.readouterr().out


def test_one_way_relations_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A relation that holds in one direction only is compared both ways, and the answer says so."""
    path = case_of(tmp_path, 'related = "y == x + 1"', 'ratio = "2"')
    assert run(["verify", str(path)]) == 0
    told = capsys.readouterr().out
    assert (
        "3 pairs of inputs are related in one direction only, such as 0 and 1; paramverify "
        "compares both directions"
    ) in told
    path = case_of(tmp_path, 'related = "abs(x - y) == 1"', 'ratio = "2"')
    assert run(["verify", str(path)]) == 0
    assert "one way" not in capsys.readouterr().out


def geometric(x: int, o: int, top: int) -> Fraction:
    """Returns Pr(o | x) of the truncated 1/2-geometric mechanism."""
    alpha = Fraction(1, 2)
    return alpha ** abs(o - x) * (1 if o in (0, top) else 1 - alpha) / (1 + alpha)


@pytest.mark.slow
@pytest.mark.parametrize("length", [1, 2])
def test_sequences_have_the_bound_of_their_pair(
    length: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With two releases each pair needs the square, at every distance, as brute force says."""
    largest = {}
    for x, y in combinations(range(4), 2):
        words = product(range(4), repeat=length)
        ratio = Fraction(1)
        for word in words:
            quotient = Fraction(1)
            for o in word:
                quotient *= geometric(x, o, 3) / geometric(y, o, 3)
            ratio = max(ratio, quotient, 1 / quotient)
        largest[y - x] = max(ratio, largest.get(y - x, Fraction(1)))
    assert largest == {d: Fraction(2) ** (d * length) for d in (1, 2, 3)}
    path = case_of(
        tmp_path, 'distance = "abs(x - y)"', f'epsilon = "{length}*ln(2)*distance"\nlength = {length}'
    )
    for encoding in ["auto", "monolithic"]:
        chosen = [] if encoding == "auto" else ["--encoding", encoding]
        assert run(["verify", str(path), *chosen]) == 0
    assert run(["budget", str(path)]) == 0
    assert f"tight budget: ratio {2**length}**distance" in capsys.readouterr().out
    path = case_of(
        tmp_path, 'distance = "abs(x - y)"', f'ratio = "2**(distance*{length} - 1)"\nlength = {length}'
    )
    code, document = answer(capsys, "verify", str(path))
    assert code == 1
    far = int(document["witness"]["distance"])
    assert Fraction(document["witness"]["bound"]) == Fraction(2) ** (far * length - 1)
    assert Fraction(document["witness"]["ratio"]) > Fraction(document["witness"]["bound"])


def test_fractions_of_a_distance_in_exponents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Distances that are fractions make the step of eps finer, and numbers powers of one exp."""
    source = "return clamp(n + geometric(exp(-eps/3)), 0, 2)"
    mechanism = f'kind = "program"\nsource = "{source}"\ninputs.n.values = "0..2"'
    path = case_of(
        tmp_path, 'distance = "abs(x - y)/3"', 'epsilon = "eps*distance"', mechanism, 'eps = "(0, oo)"'
    )
    assert run(["verify", str(path)]) == 0
    assert "x_eps stands for exp(-eps/3)" in capsys.readouterr().out
    path = case_of(
        tmp_path, 'distance = "abs(x - y)/4"', 'epsilon = "eps*distance"', mechanism, 'eps = "(0, oo)"'
    )
    assert run(["verify", str(path)]) == 1
    assert "for the distance 1/4" in capsys.readouterr().out
    path = case_of(tmp_path, 'distance = "abs(x - y)/2"', 'epsilon = "7/5*distance"')
    assert run(["verify", str(path)]) == 0
    path = case_of(tmp_path, 'distance = "abs(x - y)/2"', 'epsilon = "6/5*distance"')
    assert run(["verify", str(path)]) == 1
    assert "exceeds the bound exp(9/5) (≈ 6.04965) for the distance 3/2" in capsys.readouterr().out


def test_distance_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Inputs at distance 0 must not be told apart at all: else no budget is enough."""
    path = case_of(tmp_path, 'distance = "max(abs(x - y) - 1, 0)"', 'ratio = "2**distance"')
    code, document = answer(capsys, "verify", str(path))
    assert code == 1
    assert document["witness"]["bound"] == "1" or document["witness"]["distance"] != "0"
    assert run(["budget", str(path)]) == 0
    assert "no budget: inputs at distance 0 are distinguishable by output" in capsys.readouterr().out
    path = case_of(tmp_path, 'pairs = [[0, 1]]\ndistance = "0"', 'ratio = "2**distance"')
    assert run(["budget", str(path)]) == 2
    assert "all inputs are at distance 0" in capsys.readouterr().err


@pytest.mark.slow
def test_evidence_is_about_the_bound_of_each_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A forged distance or bound is noticed, and the second reader notices another relation or distance."""
    path = case_of(tmp_path, 'distance = "abs(x - y)"', 'ratio = "2**distance - 1/4"')
    evidence, budget = tmp_path / "evidence.json", tmp_path / "budget.json"
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 1
    document = json.loads(evidence.read_text())
    document["witness"]["distance"] = "2"
    evidence.write_text(json.dumps(document))
    assert run(["check", str(evidence), "--case", str(path)]) == 1
    path = case_of(tmp_path, 'distance = "abs(x - y)"', 'ratio = "2**distance"')
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    assert "read a second time" in capsys.readouterr().out
    content, document = path.read_text(), json.loads(evidence.read_text())
    assert second_look(document, content).agrees
    for old, new in [
        ("abs(x - y)", "2*abs(x - y)"),
        ("2**", "3**"),
        ('"abs(x - y)"', '"abs(x - y)"\ndiffer = "each"'),
    ]:
        assert not second_look(document, content.replace(old, new)).agrees
    assert run(["budget", str(path), "--evidence", str(budget)]) == 0
    assert run(["check", str(budget), "--case", str(path)]) == 0
    told = (
        "at most (proved) 2 at the distance 1, reached; 4 at the distance 2, reached; 8 at the distance 3, "
    )
    assert f"{told}reached\n" in capsys.readouterr().out
    for kept in (3, 2):  # a larger bound is true, and told as one that nothing reaches
        forged = json.loads(budget.read_text())
        forged["budget"]["bounds"]["3"] = ["80", "1"]
        forged["budget"]["witnesses"] = forged["budget"]["witnesses"][:kept]
        larger = tmp_path / "larger.json"
        larger.write_text(json.dumps(forged))
        assert run(["check", str(larger), "--case", str(path)]) == 0
        assert "80 at the distance 3, which no witness reaches\n" in capsys.readouterr().out
    forged = json.loads(budget.read_text())
    for bounds in [{"1": ["2", "1"], "2": ["3", "1"], "3": ["8", "1"]}, {"1": ["2", "1"]}, {"1": "2"}, 3]:
        forged["budget"]["bounds"] = bounds
        budget.write_text(json.dumps(forged))
        assert run(["check", str(budget), "--case", str(path)]) == 1


def coins_are_private(a: Fraction, b: Fraction) -> bool:
    """Tells whether coins with (1 + n·a)/4 for n = 0, 1, 2 are private with the ratio b^distance."""
    chances = [(1 + n * a) / 4 for n in range(3)]
    return all(
        p <= b ** abs(m - n) * q
        for m, n in product(range(3), repeat=2)
        for p, q in ((chances[m], chances[n]), (1 - chances[m], 1 - chances[n]))
    )


@pytest.mark.slow
def test_every_command_knows_the_bound_of_each_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """certify, synthesize, region maps, sample, export and pictures take the bound for the distance."""
    mechanism = (
        'kind = "geometric"\nnoise = { table = [["1-a", "a", "0"], ["a", "1-2*a", "a"], ["0", "a", "1-a"]] }'
    )
    path = case_of(
        tmp_path,
        'distance = "abs(x - y)"\npairs = [[0, 1], [1, 2]]',
        'ratio = "2**distance"',
        mechanism,
        'a = "[1/5, 1/3]"',
    )
    code, document = answer(
        capsys, "certify", str(path), "--observations", "2", "--secrets", "1", "0", "--at", "a=1/4"
    )
    assert (code, document["witness"]["distance"], document["witness"]["bound"]) == (1, "1", "2")
    mechanism = """kind = "program"
source = "return flip((1 + n*a)/4)"
inputs.n.values = "0..2\""""
    path = case_of(tmp_path, METRIC, 'ratio = "(3/2)**distance"', mechanism, 'a = "[0, 1]"')
    assert run(["synthesize", str(path), "--plot", str(tmp_path / "line.svg")]) == 0
    # At distance 1: 1 + a <= 3/2 iff a <= 1/2. At distance 2: 1 + 2*a <= 9/4 iff a <= 5/8. Others allow more.
    assert "[0, 1/2]" in capsys.readouterr().out
    intervals = 'a = "[0, 1]"\nb = "[1, 2]"'
    path = case_of(tmp_path, METRIC, 'ratio = "b**distance"', mechanism, intervals)
    cells = tmp_path / "map.json"
    chosen = ["--parameters", "a,b", "--region", "--evidence", str(cells)]
    _, document = answer(capsys, "synthesize", str(path), *chosen)
    told = set()
    for cell in document["cells"]:
        a, b = (sum(map(Fraction, ends), Fraction(0)) / 2 for ends in cell["box"])
        told.add(cell["status"])
        assert cell["status"] in ("undecided", "safe" if coins_are_private(a, b) else "violating")
    assert told >= {"safe", "violating"}
    assert run(["check", str(cells), "--case", str(path)]) == 0
    capsys.readouterr()
    for goal in [["--search"], ["--search", "--bisection"], []]:
        assert run(["sample", str(path), *goal]) == 2
        assert "depends on the distance" in capsys.readouterr().err
    assert run(["sample", str(path), "--direct", "--audit", "--runs", "2000"]) == 0
    assert run(["export", str(path), "--to", "smtlib2", "--together"]) == 0
    exported = capsys.readouterr().out
    assert "(check-sat)" in exported
