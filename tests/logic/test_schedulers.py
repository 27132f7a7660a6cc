"""P on decision processes speaks of every scheduler: against enumerated schedulers, with fractions only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest
from logic_models import horizon, moves_of, random_chain, random_formula, reached, satisfies

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, to_rational_function
from paramverify.cli.main import run
from paramverify.logic import schedulers
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_grammar import read_property
from paramverify.logic.formula_syntax import Formula, Probability
from paramverify.logic.logic_cases import LogicCase, load
from paramverify.logic.property_checking import LogicSession
from paramverify.models.chains.markov_chains import Chain
from paramverify.models.chains.state_relations import closed
from paramverify.portfolio.session import Session

Table = Sequence[Sequence[Sequence[Fraction]]]  # state, action, successor

SEES = """
title = "The scheduler may choose after it has seen the state"
[model]
kind = "mdp"
initial = ["s"]
[states]
s = { to = { "*" = { u = "1/2", v = "1/2" } } }
u = { to = { L = { goal = "1" }, H = { trap = "1" } } }
v = { to = { L = { trap = "1" }, H = { goal = "1" } } }
goal = { labels = ["goal"] }
trap = { }
[formulas]
"""


def decision_trees(
    moves: Table, formula: Formula, chain: Chain, path: tuple[int, ...], length: int
) -> set[Fraction]:
    """The probabilities of a bounded formula under all schedulers that choose by the whole history."""
    if len(path) == length:
        return {Fraction(satisfies(path, formula, chain.labels))}
    found: set[Fraction] = set()
    for row in moves[path[-1]]:
        ahead = [(w, t) for t, w in enumerate(row) if w]
        below = [decision_trees(moves, formula, chain, (*path, t), length) for _, t in ahead]
        for values in product(*below):
            found.add(sum((w * v for (w, _), v in zip(ahead, values, strict=True)), Fraction(0)))
    return found


def memoryless(moves: Table, chain: Chain, path: str) -> list[set[Fraction]]:
    """The probabilities of `a U b`, `F b` or `G a` from each state under all memoryless schedulers."""
    everything = set(range(len(moves)))
    a, b = set(chain.labels["a"]), set(chain.labels["b"])
    found: list[set[Fraction]] = [set() for _ in moves]
    for choice in product(range(len(chain.actions)), repeat=len(moves)):
        fixed = [dict(enumerate(moves[s][choice[s]])) for s in range(len(moves))]
        if path == "G a":
            values = [1 - v for v in reached(fixed, everything - a)]
        else:
            values = reached(fixed, b, a if path == "a U b" else everything)
        for state, value in enumerate(values):
            found[state].add(value)
    return found


def true(comparison: str, value: Fraction, bound: Fraction) -> bool:
    """Whether `value comparison bound`."""
    return {">=": value >= bound, ">": value > bound, "<=": value <= bound, "<": value < bound}[comparison]


def verdict(session: Session, chain: Chain, path: str, comparison: str, bound: str) -> str:
    """What the logic says about P in every state."""
    case = LogicCase("", "", "random", chain, closed([(1, 0)]), {})
    return check_property(
        LogicSession(case, session), read_property(f"P{comparison}{bound} [ {path} ]")
    ).status


@pytest.mark.slow
def test_bounded_formulas_against_all_decision_trees(session: Session) -> None:
    """P of a bounded formula holds iff every scheduler that sees the history keeps the bound."""
    random = Random(41)
    statuses = []
    while len(statuses) < 60:
        chain = random_chain(random, 3, ("l", "h"))
        formula = random_formula(random, 2)
        length = max(horizon(formula), 1)
        if not 2 <= length <= 3:
            continue
        trees = [
            decision_trees(moves_of(chain), formula, chain, (s,), length) for s in range(len(chain.states))
        ]
        values = sorted(set().union(*trees))
        bound = random.choice((values[0], values[-1], random.choice(values), Fraction(1, 2)))
        comparison = random.choice((">=", ">", "<=", "<"))
        expected = all(true(comparison, value, bound) for value in values)
        assert verdict(session, chain, str(formula), comparison, str(bound)) == (
            "holds" if expected else "violated"
        )
        statuses.append(expected)
    assert 10 < sum(statuses) < 50


@pytest.mark.slow
def test_unbounded_formulas_against_all_memoryless_schedulers(session: Session) -> None:
    """P of `a U b`, `F b` and `G a` holds iff every memoryless scheduler keeps the bound."""
    random = Random(42)
    statuses = []
    for _ in range(30):
        chain = random_chain(random, 4, ("l", "h"))
        path = random.choice(("a U b", "F b", "G a"))
        values = sorted(set().union(*memoryless(moves_of(chain), chain, path)))
        bound = random.choice((values[0], values[-1], random.choice(values), Fraction(1, 2)))
        comparison = random.choice((">=", ">", "<=", "<"))
        expected = all(true(comparison, value, bound) for value in values)
        assert verdict(session, chain, path, comparison, str(bound)) == ("holds" if expected else "violated")
        statuses.append(expected)
    assert 5 < sum(statuses) < 25


@pytest.mark.slow
def test_parametric_processes_at_points(session: Session) -> None:
    """With a parameter: what holds is kept by all schedulers at every point tried, what fails by not all."""
    random = Random(43)
    ring = Ring(("p",))
    shares = (("p", "1 - p"), ("p/2", "1 - p/2"), ("1/3", "2/3"), ("1", "0"))
    statuses = []
    for _ in range(25):
        size = random.randint(2, 3)
        texts = [
            [(random.sample(range(size), 2), random.choice(shares)) for _ in range(2)] for _ in range(size)
        ]
        rows = tuple(
            tuple(
                tuple(
                    (t, to_rational_function(parse(w), ring)) for t, w in zip(*row, strict=True) if w != "0"
                )
                for row in state
            )
            for state in texts
        )
        labels = {x: frozenset(s for s in range(size) if random.random() < 0.5) for x in "ab"}
        domain = box_domain(ring, {"p": Interval(Fraction(0), Fraction(1), False, False)})
        names = tuple(f"s{k}" for k in range(size))
        chain = Chain(names, ("l", "h"), rows, tuple(range(size)), labels, {}, domain)
        path = random.choice(("X (a & X b)", "X (b | X a)", "F<=2 b", "a U b", "F b", "G a"))
        comparison = random.choice((">=", ">", "<=", "<"))
        bound = random.choice(("0", "1", "p/2", "1/2", "p", "1/9"))
        found = read_property(f"P{comparison}{bound} [ {path} ]").formula
        assert isinstance(found, Probability)
        case = LogicCase("", "", "random", chain, closed([(1, 0)]), {})
        result = LogicSession(case, session).check(found)
        statuses.append(result.status)
        points = [Fraction(k, 8) for k in range(1, 8)]
        if result.counterexample:
            points = [result.counterexample.parameters["p"]]
        kept = [
            all(true(comparison, v, limit) for v in values)
            for values, limit in (
                (set().union(*at_point(chain, found.path, path, p)), value_at(bound, p)) for p in points
            )
        ]
        if result.status == "holds":
            assert all(kept)
        if result.status == "violated":
            assert not any(kept)
    assert statuses.count("holds") > 4
    assert statuses.count("violated") > 6


def value_at(bound: str, p: Fraction) -> Fraction:
    """A bound at a point."""
    return {"p": p, "p/2": p / 2}[bound] if "p" in bound else Fraction(bound)


def at_point(chain: Chain, formula: Formula, path: str, p: Fraction) -> list[set[Fraction]]:
    """The probabilities under all schedulers at a point, state by state."""
    fixed = chain.at({"p": p})
    if path in ("a U b", "F b", "G a"):
        return memoryless(moves_of(fixed), fixed, path)
    length = horizon(formula)
    return [decision_trees(moves_of(fixed), formula, fixed, (s,), length) for s in range(len(fixed.states))]


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ("P>=1/2 [ X X goal ]", "violated"),
        ("P<=1/2 [ X X goal ]", "violated"),
        ("P>=0 [ X X goal ]", "holds"),
        ("P<1 [ F goal ]", "violated"),
        ("P>0 [ G !goal ]", "violated"),
        ("!(P>=1/2 [ X X goal ])", "holds"),
        ("P>=1 [ X (!P>0 [ X goal ]) ]", "holds"),
        ("D{0, 1/10}[ X X goal ]", "holds"),
    ],
)
def test_a_scheduler_sees_the_state(formula: str, status: str, session: Session, tmp_path: Path) -> None:
    """Words of actions reach the goal with 1/2, schedulers that see u or v with 0 and with 1."""
    path = tmp_path / "sees.toml"
    path.write_text(SEES + f"f = '{formula}'\n[neighbours]\npairs = [['s', 's']]\n")
    case = load(path)
    assert check_property(LogicSession(case, session), case.properties["f"]).status == status


def test_which_probability_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text and JSON say that the least probability over all schedulers is meant."""
    path = tmp_path / "sees.toml"
    path.write_text(SEES + "f = 'P>=1/2 [ X X goal ]'\n[neighbours]\npairs = [['s', 's']]\n")
    assert run(["logic", str(path)]) == 1
    assert "the least probability over all schedulers is 0" in capsys.readouterr().out
    assert run(["logic", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["witness"]["probabilities"][0] == "0"
    assert found["witness"]["schedulers"] == "least probability over all schedulers"
    assert found["properties"]["f"]["exact"] is True


def test_families_and_budgets_with_nested_formulas(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Members of a family, and a P inside of a D whose budget is asked for, speak of all schedulers too."""
    path = tmp_path / "sees.toml"
    family = "forall k in 1..3: P>=1/2 [ X (true U=k goal) ]"
    path.write_text(SEES + f"f = '{family}'\n[neighbours]\npairs = [['s', 's']]\n")
    case = load(path)
    result = check_property(LogicSession(case, session), case.properties["f"])
    assert result.counterexample is not None
    assert result.counterexample.index == 1
    # u has the neighbour goal; that a scheduler can miss the goal tells them apart, so no epsilon is enough.
    nested = "D{0, 1}[ X (P>=1 [ F goal ]) ]"
    path.write_text(SEES + f"f = '{nested}'\n[neighbours]\npairs = [['s', 'goal']]\n")
    assert run(["logic", str(path), "--epsilon-for", "0"]) == 0
    assert "no ratio is enough; goal against s" in capsys.readouterr().out


def test_too_many_policies_are_unknown(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not all schedulers of a parametric process can be looked at, nothing is said to hold."""
    monkeypatch.setattr(schedulers, "MAX_POLICIES", 3)
    path = tmp_path / "sees.toml"
    text = SEES.replace('u = "1/2", v = "1/2"', 'u = "p", v = "1 - p"').replace(
        "[model]", '[parameters]\np = "(0, 1)"\n[model]'
    )
    path.write_text(text + "f = 'P>=0 [ X X goal ]'\n[neighbours]\npairs = [['s', 's']]\n")
    case = load(path)
    result = check_property(LogicSession(case, session), case.properties["f"])
    assert result.status == "unknown"
    assert "policies" in result.reason
