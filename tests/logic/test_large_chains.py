"""Large chains: arrays against tables, probabilities against Gauss, and Storm at its limits."""

from __future__ import annotations

import signal
import time
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType

import pytest
from flint import fmpq
from logic_models import LABELS, random_formula, reached
from process_tools import mark, marked, start

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.errors import InputError, LimitError, TimeLimitError
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_grammar import read_property
from paramverify.logic.formula_syntax import BoundRelation, Formula, Label, Probability, StateCondition
from paramverify.logic.judges import ExactJudge
from paramverify.logic.logic_cases import LogicCase, LogicOptions, load
from paramverify.logic.probability_comparisons import Method, PathEngine
from paramverify.logic.property_checking import LogicSession
from paramverify.logic.reachability import solve
from paramverify.logic.semantics import Semantics, Truth, condition_at, marks
from paramverify.models.chains import prism_files
from paramverify.models.chains.markov_chains import ANY, Chain, FlatRows, Names, Row, States, flat
from paramverify.models.chains.prism_files import Request
from paramverify.models.chains.state_relations import StateRelation
from paramverify.portfolio.session import Options, Session
from paramverify.processes.storm_build import build_apart

storm = pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")

WALK = """dtmc
const int N;
module walk
  x : [0..N] init 0;
  y : [0..N] init 0;
  odd : bool init false;
  [] x<N & y<N -> 1/2 : (x'=x+1) & (odd'=!odd) + 1/3 : (y'=y+1) & (odd'=!odd) + 1/6 : true;
  [] x<N & y=N -> (x'=x+1) & (odd'=!odd);
  [] x=N -> true;
endmodule
label "low" = x=N & y<N;
"""


def knotted(random: Random) -> list[dict[int, Fraction]]:
    """Rows with several components, loops, states that nobody reaches, and probabilities that are zero."""
    size = random.randint(2, 14)
    rows: list[dict[int, Fraction]] = []
    for state in range(size):
        near = random.randint(0, size - 1)
        targets = random.sample(range(size), random.randint(1, min(3, size)))
        if random.random() < 0.5:  # mostly forward, so that there are several components
            targets = [max(t, min(size - 1, state + random.randint(-1, 2))) for t in targets]
        weights = [random.randint(0, 4) for _ in targets]
        row = {near: Fraction(0)}
        if not any(weights):
            weights[0] = 1
        for target, weight in zip(targets, weights, strict=True):
            row[target] = row.get(target, Fraction(0)) + Fraction(weight, sum(weights))
        rows.append(row)
    return rows


def exact(rows: list[dict[int, Fraction]]) -> list[Row]:
    return [tuple((t, fmpq(p.numerator, p.denominator)) for t, p in row.items()) for row in rows]


def numbers(values: list[fmpq]) -> list[Fraction]:
    return [Fraction(int(v.p), int(v.q)) for v in values]


@pytest.mark.slow
def test_probabilities_of_knotted_chains() -> None:
    """On 300 random chains every value is that of Gauss, also where only two are wanted."""
    random = Random(11)
    for _ in range(300):
        rows = knotted(random)
        goal = {s for s in range(len(rows)) if random.random() < 0.2}
        known = {s: fmpq(s in goal) for s in range(len(rows)) if s in goal or random.random() < 0.1}
        cut = [{s: Fraction(1)} if s in known else row for s, row in enumerate(rows)]
        expected = reached(cut, goal)
        arrays = flat(() if s in known else row for s, row in enumerate(exact(rows)))
        assert numbers(solve(arrays, known, fmpq(0), fmpq(1))) == expected
        wanted = random.sample(range(len(rows)), 2)
        few = solve(arrays, known, fmpq(0), fmpq(1), wanted=wanted)
        assert [few[s] for s in wanted] == [
            fmpq(expected[s].numerator, expected[s].denominator) for s in wanted
        ]


def test_arrays_are_the_tables() -> None:
    """A chain in arrays has the rows of the tables, without zeros, and the same answers to all formulas."""
    random = Random(12)
    for _ in range(60):
        rows = knotted(random)
        labels = {n: frozenset(s for s in range(len(rows)) if random.random() < 0.5) for n in LABELS}
        own = tuple((tuple(entry for entry in row if entry[1]),) for row in exact(rows))
        names = tuple(f"s{k}" for k in range(len(rows)))
        chain = Chain(names, (ANY,), own, tuple(range(len(rows))), labels, {}, Domain(Ring(), {}))
        sets = {n: States(bytes(s in where for s in range(len(rows)))) for n, where in labels.items()}
        same = Chain(names, (ANY,), flat(row for (row,) in own), chain.initial, sets, {}, chain.domain)
        assert tuple(same.rows) == own
        assert same.rows[-1:] == own[-1:]
        assert {n: frozenset(where) for n, where in sets.items()} == labels
        assert all(len(sets[n]) == len(labels[n]) for n in LABELS)
        formula = random_formula(random, 2, bounded=False, release=False)
        assert probabilities(same, formula) == probabilities(chain, formula)


def probabilities(chain: Chain, path: Formula) -> dict[int, fmpq]:
    def leaf(formula: Formula) -> list[bool]:
        found = marks(formula, chain)
        assert found is not None
        return list(map(bool, found))

    (found,) = PathEngine(chain, leaf).of(path, chain.initial)
    return found.upper


def test_values_at_a_point_may_vanish() -> None:
    """At a point where a probability is zero the transition is none, and a state is cut off."""
    ring = Ring(("p",))
    p, one = RationalFunction.of(ring.variable("p")), RationalFunction.of(ring.number(1))
    rows = flat([((1, p), (2, one - p)), ((1, one),), ((2, one),)])
    domain = Domain(ring, {"p": Interval(Fraction(0), Fraction(1))})
    chain = Chain(tuple("abc"), (ANY,), rows, (0,), {"goal": frozenset({1})}, {}, domain)
    assert not chain.numeric
    for value, left in ((Fraction(0), [2]), (Fraction(1), [1]), (Fraction(1, 3), [1, 2])):
        at = chain.at({"p": value})
        assert at.numeric
        assert [t for t, _ in at.rows[0][0]] == left
        found = probabilities(at, Label("goal")), probabilities(at, path("F goal"))
        assert found[1][0] == fmpq(value.numerator, value.denominator)


@cache
def path(text: str) -> Formula:
    formula = read_property(f"P>=0 [ {text} ]").formula
    assert isinstance(formula, Probability)
    return formula.path


def test_conditions_at_once_and_one_by_one() -> None:
    """Marks of a formula are its truth state by state, also where a state lacks a variable."""
    columns: dict[str, tuple[int | None, ...]] = {"r": (0, 1, None, 3, 1), "t": (1, 1, 1, 0, None)}
    rows = flat(((k, fmpq(1)),) for k in range(5))
    labels = {"a": frozenset({0, 3}), "b": States(bytes((0, 1, 1, 0, 0)))}
    chain = Chain(tuple("vwxyz"), (ANY,), rows, (0,), labels, columns, Domain(Ring(), {}))
    for text in ("r >= 1", "r = t", "r + t >= 2", "1 < 2"):
        formula = StateCondition(text, parse(text.replace(" = ", " == ")))
        found = marks(formula, chain)
        assert found == bytes(condition_at(formula, chain, s) for s in range(5))
    assert marks(StateCondition("r = t", parse("r == t")), chain) == bytes((0, 1, 0, 0, 0))
    formula = path("(a | b) & !(a & r >= 1)")
    assert marks(formula, chain) == bytes((1, 1, 1, 0, 0))
    assert marks(read_property("P>=0 [ a ]").formula, chain) is None
    names = Names(2, {"x": (3, 4), "on": (0, 1)}, frozenset({"on"}))
    assert list(names) == ["x=3 & !on", "x=4 & on"]
    assert names[-1] == "x=4 & on"


def expected_low(n: int) -> Fraction:
    """The probability that the walk comes to x = n with y below n, by a sum over its steps."""
    total = Fraction(0)
    share = {(0, 0): Fraction(1)}
    for x in range(n):
        for y in range(n):
            here = share.get((x, y), Fraction(0))
            share[x + 1, y] = share.get((x + 1, y), Fraction(0)) + here * Fraction(3, 5)
            share[x, y + 1] = share.get((x, y + 1), Fraction(0)) + here * Fraction(2, 5)
    for y in range(n):
        total += share[n, y]
    return total


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    file = tmp_path / "walk.prism"
    file.write_text(WALK)
    return file


def answered(case: LogicCase) -> list[str]:
    with Session(Options(seconds=60)) as session:
        work = LogicSession(case, session)
        return [str(check_property(work, found).status) for found in case.properties.values()]


@pytest.mark.slow
@storm
def test_a_walk_of_storm_in_arrays(walk: Path) -> None:
    """A grid that Storm builds in its own process has our sum as its probability, and names."""
    value = expected_low(12)
    texts = (f"P>={value} [ F low ]", f"P>{value} [ F low ]", "P>=1 [ F x = 12 ]", "P>0 [ F (y = 12 & odd) ]")
    case = load(walk, LogicOptions(texts, constants={"N": "12"}))
    assert isinstance(case.chain.rows, FlatRows)
    assert case.chain.states[0] == "!odd & x=0 & y=0" or case.chain.states[0] == "x=0 & y=0 & !odd"
    assert len(set(case.chain.states)) == len(case.chain.states) == 13 * 13
    assert answered(case) == ["holds", "violated", "holds", "holds"]


@pytest.mark.slow
@storm
def test_mistakes_come_back_from_the_process(walk: Path) -> None:
    """What is wrong with a file is told as it was in this process: reason, key and mend."""
    with pytest.raises(InputError) as found:
        load(walk, LogicOptions(("P>=0 [ F low ]",)))
    assert found.value.key.endswith("N")
    assert found.value.mend
    assert found.value.reason.count(found.value.mend) == 1


@storm
def test_the_time_limit_holds_while_storm_builds(
    walk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An alarm ends a build that would take hours; its process and files are gone when the error comes."""
    started: list[int] = []
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(files))
    from paramverify.processes import process_control

    kill = process_control.kill_tree
    monkeypatch.setattr(process_control, "kill_tree", lambda pid: (started.append(pid), kill(pid)))

    def over(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TimeLimitError(0.5)

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(TimeLimitError, match=r"0\.5 s is over, while Storm was building the model"):
            build_apart(Request(str(walk), {"N": "1000000"}, (), {}))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    (pid,) = started
    assert not Path(f"/proc/{pid}").exists()
    assert not list(files.iterdir())


@storm
@pytest.mark.slow
def test_the_memory_limit_holds_while_storm_builds(walk: Path) -> None:
    """Storm gets so much memory and no more, and the reason is told."""
    with pytest.raises(
        LimitError, match=r"ran out of memory while it was building the model; the limit is 0\.186"
    ):
        build_apart(Request(str(walk), {"N": "1000000"}, (), {}), 200_000_000)


@storm
@pytest.mark.slow
def test_a_model_that_is_too_large_leaves_no_process(walk: Path) -> None:
    """The command ends at its limit with the code of what is undecided, and nothing is left of Storm."""
    environment = mark("large")
    words = ["logic", walk, "--constant", "N=1000000", "-p", "P>=1 [ F low ]", "--timeout", "1.5"]
    process = start(*words, environment=environment)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "the time limit of 1.5 s is over" in said
    process = start(*words[:-1], "100", environment=environment)
    until = time.monotonic() + 20
    while len(marked(environment)) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    while marked(environment) and time.monotonic() < until:
        time.sleep(0.05)
    assert not marked(environment)


def comparisons(value: Fraction) -> list[tuple[str, Fraction, bool]]:
    """Comparisons with a probability, met exactly, nearly or not, and whether they are true."""
    near = Fraction(1, 10**9)
    found = [(">=", value, True), (">", value, False), ("<", value, False)]
    if value >= near:
        found += [(">=", value - near, True), ("<=", value - near, False)]
    if value <= 1 - near:
        found += [("<=", value + near, True), (">=", value + near, False)]
    return found


@pytest.mark.slow
def test_enclosures_prove_what_is_true_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """On random chains the ends enclose Gauss; a bound that is met exactly, or broken, is decided exactly."""
    monkeypatch.setattr("paramverify.logic.probability_comparisons.LARGE", 0)
    random = Random(13)
    seen: set[Method] = set()
    for _ in range(40):
        rows = knotted(random)
        goal = {s for s in range(len(rows)) if random.random() < 0.2} or {len(rows) - 1}
        states = tuple(range(len(rows)))
        labels = {"goal": frozenset(goal)}
        names = tuple(f"s{k}" for k in states)
        chain = Chain(names, (ANY,), flat(exact(rows)), states, labels, {}, Domain(Ring(), {}))
        for text, turned in (("F goal", False), ("G !goal", True)):
            values = [1 - v if turned else v for v in reached(rows, goal)]
            semantics = Semantics(chain, StateRelation({}), ExactJudge(chain))
            found = semantics.engine().enclosed(path(text), states)
            assert found
            for state, value in enumerate(values):
                assert found.lower[state] <= fmpq(value.numerator, value.denominator) <= found.upper[state]
                assert found.upper[state] - found.lower[state] < fmpq(1, 2**150)
            state = random.choice(states)
            for sign, bound, holds in comparisons(values[state]):
                formula = Probability(BoundRelation(sign), parse(str(bound)), path(text))
                assert (semantics.truth(formula, [state])[state] is Truth.YES) == holds
            seen.update(semantics.methods)
    assert seen == {Method.CHAIN, Method.ENCLOSED}
