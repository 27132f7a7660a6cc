"""Interactive systems: models, closures, families, refutations, the command, and its evidence."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from engine_documents import NO_PARAMETERS, Json, engine_document, own, with_own
from flint import fmpq
from interactive_tools import case_of, no_parameters, two_answers

from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.polynomials import RationalFunction, Ring, fraction
from paramverify.cli.main import run
from paramverify.errors import InputError, LimitError, ModelError
from paramverify.interactive.closures import SILENT, Closures
from paramverify.interactive.probability_bounds import WeightJudge
from paramverify.interactive.step_costs import cheapest
from paramverify.interactive.system_cases import InteractiveCase, ends_of, load, substitute
from paramverify.interactive.system_certificates import evidence_document
from paramverify.interactive.system_verification import accepted, verify
from paramverify.interactive.unwinding_families import (
    is_all_covered,
    is_unwinding_family,
    largest_family,
    least_budget,
    lift,
    matching,
    pair_graph,
)
from paramverify.kernel.documents import check_document
from paramverify.models.context import Checks
from paramverify.models.noise.truncated_geometric import truncated_geometric
from paramverify.models.systems import slot_systems
from paramverify.models.systems.slot_systems import explore
from paramverify.models.systems.transition_systems import Actions, System, check

ROOT = Path(__file__).parents[2]
HALF = Fraction(1, 2)
ACTIONS = Actions(("d",), ("q",), ("0", "1"), ("h",))


def built(count: int, points: int, data: tuple[int, ...] = (-1, 1), **kind: object) -> System:
    """Returns the slots with the ½-geometric mechanism and a range that no answer leaves."""
    checks = no_parameters()
    limit = count * points * max(map(abs, data))
    half = RationalFunction.of(checks.ring.number(HALF))
    noise = tuple(map(tuple, truncated_geometric(half, 2 * limit, checks).rows))
    queries = dict.fromkeys(("count", "sum"), slot_systems.Answers(-limit, limit, noise))
    given = slot_systems.Slots(count, points, data, queries, checks.ring, **kind)  # type: ignore[arg-type]
    system = slot_systems.build(given)
    check(system, checks)
    return system


@pytest.mark.slow
@pytest.mark.parametrize(("count", "points"), [(1, 1), (2, 2), (3, 1)])
def test_slots_that_fill_up(count: int, points: int) -> None:
    """t slots have 2tε by the published algorithm, the least budget of all; tε is refuted with two inputs."""
    system = built(count, points)
    closures, judge = Closures(system), WeightJudge(no_parameters())
    family = largest_family(closures, fmpq(4), count, judge)
    assert family is not None
    assert accepted(closures, family, judge)
    least = least_budget(pair_graph(closures), judge, fmpq(4) ** count)
    assert least is not None
    assert least.ratio**least.steps == 4**count
    report = verify(case_of(system, Fraction(2**count)))
    assert report.status == "violated"
    found = report.refutation
    assert found is not None
    assert abs(len(found.left) - len(found.right)) == 1
    left, right = found.probabilities
    assert left > 2**count * right


@pytest.mark.slow
@pytest.mark.parametrize(("count", "points"), [(1, 1), (2, 2), (3, 1)])
def test_slots_that_never_fill_up(count: int, points: int) -> None:
    """Where no point comes to a full slot, or all points are alike, t slots have tε, and not less."""
    for system in (built(count, points, drops=False), built(count, points, (1,))):
        report = verify(case_of(system, Fraction(2**count)))
        assert report.status == "holds"
        assert report.family is not None
        assert report.family.ratio**report.family.steps == 2**count
        assert accepted(Closures(system), report.family, WeightJudge(no_parameters()))
        assert verify(case_of(system, Fraction(2**count) - Fraction(1, 100))).status == "violated"


def test_a_sharper_check() -> None:
    """Steps that leak 2 and 3 have a family of 3·3 and the cost 2·3, which is tight."""

    weights = {("a", 0): HALF, ("a", 1): Fraction(1, 4), ("b", 0): HALF, ("b", 1): Fraction(1, 6)}

    def two(state: tuple[str, int, int]) -> list[tuple[str, dict[tuple[str, int, int], Fraction]]]:
        kind, secret, stage = state
        if kind == "wait":
            p = weights["ab"[stage], secret] if stage < 2 else HALF
            after = {("0", secret, stage): p, ("1", secret, stage): 1 - p}
            return [("d", {("wait", 1, stage): Fraction(1)}), ("q", after)]
        return [(kind, {("wait", secret, min(stage + 1, 2)): Fraction(1)})]

    system = explore(("wait", 0, 0), two, ACTIONS)
    closures, judge = Closures(system), WeightJudge(no_parameters())
    least = least_budget(pair_graph(closures), judge)
    assert least is not None
    assert (least.ratio, least.steps) == (3, 2)
    costs = cheapest(closures, judge, fmpq(100))
    assert costs.ratio == 6
    report = verify(case_of(system, Fraction(6)))
    assert (report.status, report.family) == ("holds", None)
    assert verify(case_of(system, Fraction(599, 100))).status == "violated"


def test_composition() -> None:
    """A hidden step may be replaced by sample_N; coins with another bias are refused, with the place."""
    system = built(1, 1)
    state = "1 sum?"
    ring = Ring()
    half = RationalFunction.of(ring.number(HALF))
    automaton = slot_systems.program(2, 0, half)
    ends = {n: f"- answers {1 + n}" for n in (-2, -1, 0)}
    replaced = substitute(system, state, automaton, slot_systems.START, ends)
    check(replaced, no_parameters())
    assert len(replaced.states) > len(system.states)
    before, after = Closures(system), Closures(replaced)
    place = system.states.index("1")
    for action in system.rows[place]:
        assert before.after(place, action) == after.after(place, action)
    assert verify(case_of(replaced, Fraction(4))).status == "holds"
    third = RationalFunction.of(ring.number(Fraction(1, 3)))
    with pytest.raises(ModelError, match=r"'1 sum\?' ends in '- answers .*' with .*, the step with"):
        substitute(system, state, slot_systems.program(2, 0, third), slot_systems.START, ends)
    loop = {"a": {-1: fmpq(1, 2), "b": fmpq(1, 2)}, "b": {"b": fmpq(1)}}
    with pytest.raises(ModelError, match="may never end, with probability 1/2"):
        substitute(system, state, loop, "a", {-1: "- answers -1"})


def test_closures_with_loops() -> None:
    """Loops of hidden steps are solved exactly, what never ends goes to ⊥, for numbers and for functions."""
    ring = Ring(("p",))
    p = RationalFunction.of(ring.variable("p"))
    one = p / p
    automaton = {"a": {"b": p, "x": one - p}, "b": {"a": p, "y": one - p}}
    assert ends_of(automaton, "a", ring) == {"x": one / (one + p), "y": p / (one + p)}
    numbers = {
        "a": {"b": fmpq(1, 2), "c": fmpq(1, 2)},
        "b": {"a": fmpq(1, 2), "x": fmpq(1, 2)},
        "c": {"c": fmpq(1)},
    }
    assert ends_of(numbers, "a") == {"x": fmpq(1, 3), None: fmpq(2, 3)}
    checks = Checks(Domain(ring, {"p": parse_interval("[0, 1]")}))
    with pytest.raises(ModelError, match=r"hidden steps leave .* is zero at p = 1"):
        ends_of(automaton, "a", ring, checks.positive)


def test_conditions_name_a_counterexample() -> None:
    """Each condition on a system is refused with the state and the actions that break it."""

    def one(rows: dict[str, list[tuple[str, dict[str, object]]]]) -> None:
        check(explore("s", lambda s: rows.get(s, []), ACTIONS), no_parameters())

    full = [("d", {"s": 1}), ("q", {"s": 1})]
    with pytest.raises(ModelError, match="two transitions for the action 'q'"):
        one({"s": [*full, ("q", {"t": 1})]})
    with pytest.raises(ModelError, match="'s' is not output-deterministic: it enables both '0' and 'd'"):
        one({"s": [*full, ("0", {"s": 1})]})
    with pytest.raises(ModelError, match="'s' is not quasi-input-enabled: it accepts 'd', but not 'q'"):
        one({"s": full[:1]})
    with pytest.raises(ModelError, match="sum to 1/2 instead of 1"):
        one({"s": [("d", {"s": HALF}), full[1]]})
    with pytest.raises(ModelError, match="'nod' is not declared"):
        one({"s": [("nod", {"s": 1})]})
    with pytest.raises(LimitError, match="the system has more than 10 reachable states"):
        explore(0, lambda n: [("h", {n + 1: 1})], ACTIONS, limit=10)


def test_published_checks_say_why() -> None:
    """The published algorithms name the pair, level and action, or the insertion that is not covered."""
    system = built(1, 1)
    closures, judge = Closures(system), WeightJudge(no_parameters())
    family = largest_family(closures, fmpq(4), 1, judge)
    assert family is not None
    relations = family.relations()
    names = system.states
    pair = (names.index("-"), names.index("1"))

    def within(a: fmpq, b: fmpq) -> bool:
        return bool(a <= 2 * b and b <= 2 * a)

    failure = is_unwinding_family(closures, relations, within)
    assert failure is not None
    assert (failure.level, {names[s] for s in failure.pair}) == (1, {"-1", "1"})
    assert "'sum' cannot be matched, neither with equal probabilities into rel[1]" in failure.reason
    assert "nor within e^δ into rel[0]" in failure.reason
    uncovered = is_all_covered(closures, relations[-1] - {pair, pair[::-1]})
    assert uncovered is not None
    assert uncovered.pair == pair
    mixed = is_unwinding_family(closures, [{(names.index("-"), names.index("- sum?"))}], within)
    assert mixed is not None
    assert "different actions are enabled" in mixed.reason


def test_lifting_is_a_perfect_matching() -> None:
    """A bijection that needs an augmenting path is found, and none is made up where there is none."""
    third = fmpq(1, 3)
    left, right = (((s, third), (s + 1, third), (s + 2, third)) for s in (0, 10))
    allowed = {(0, 10), (0, 11), (1, 10), (2, 10), (2, 12)}
    assert lift(left, right, lambda x, y: (x, y) in allowed) == (1, 0, 2)
    assert lift(left, right, lambda x, y: (x, y) in allowed - {(0, 11)}) is None
    assert lift(left, right[:2], lambda x, y: True) is None
    assert lift(left, ((10, fmpq(2, 3)), (11, third)), lambda x, y: True) is None
    assert matching([[0], [0]]) is None
    assert matching([[], [0]]) is None
    assert SILENT == -1


@pytest.mark.slow
def test_two_queries_with_noise_of_their_own(tmp_path: Path) -> None:
    """A large system, with numbers up to 20 in the place of 100, is private with its bound, which is reached.

    The rows of docs/papers.toml decide the others of the folder as they are.
    """
    text = (ROOT / "cases" / "interactive" / "large" / "count-and-sum.toml").read_text(encoding="utf-8")
    path = tmp_path / "case.toml"
    path.write_text(text.replace("100", "20"), encoding="utf-8")
    case = load(path)
    report = verify(case)
    assert report.status == case.expect["status"], report.reason
    assert report.costs is not None
    assert report.costs.ratio == case.ratio


def test_responses_for_ever() -> None:
    """A system that never stops responding leaks without bound if every response does, and is refuted."""

    def step(state: tuple[str, bool]) -> list[tuple[str, dict[tuple[str, bool], Fraction]]]:
        kind, secret = state
        if kind == "wait":
            return [("d", {("wait", True): Fraction(1)}), ("q", {("toss", secret): Fraction(1)})]
        if kind == "toss":
            p = Fraction(2, 3) if secret else HALF
            return [("h", {("0", secret): p, ("1", secret): 1 - p})]
        return [(kind, {("toss", secret): Fraction(1)})]

    case = case_of(explore(("wait", False), step, ACTIONS), Fraction(10))
    report = verify(case)
    assert report.status == "violated"
    assert report.refutation is not None
    assert len(set(report.refutation.event.trace[1:])) == 1
    assert len(report.refutation.event.trace) == 1 + 6  # (3/2)^6 > 10
    assert check_document(json.loads(json.dumps(evidence_document(case, report)))).accepted


def coin(folder: Path, domain: str, other: str, privacy: str) -> InteractiveCase:
    """Returns a case where a data point changes the probability p of an answer to another one."""
    return load(two_answers(folder, f'p = "{domain}"', ("p", other), privacy))


@pytest.mark.parametrize("privacy", ['ratio = "2*p"', 'ratio = "2*p"\nstep = "ln(2)"\nsteps = 1'])
def test_a_bound_below_one_is_violated(privacy: str, tmp_path: Path) -> None:
    """A ratio below 1 at some points is too little even for a system without any leak."""
    case = coin(tmp_path, "(0, 1)", "p", privacy)
    report = verify(case)
    assert (report.status, report.family) == ("violated", None)
    assert report.costs is None or report.costs.ratio is None
    assert report.refutation is not None
    assert report.refutation.probabilities == (1, 1)
    assert verify(coin(tmp_path, "(1/2, 1)", "p", privacy)).status == "holds"


@pytest.mark.parametrize(
    ("domain", "other", "status"),
    [
        ("[0, 1]", "(1-p)", "violated"),
        ("[0, 1]", "p/2", "violated"),
        ("[0, 2/3]", "p/2", "holds"),
        ("[0, 1]", "p", "holds"),
    ],
)
def test_probabilities_that_vanish_at_ends(domain: str, other: str, status: str, tmp_path: Path) -> None:
    """Quotients of probabilities that are infinite at an end of the domain are no mistakes of the case."""
    case = coin(tmp_path, domain, other, 'ratio = "2"')
    report = verify(case)
    assert report.status == status
    assert check_document(json.loads(json.dumps(evidence_document(case, report)))).accepted
    if status == "violated":
        assert report.refutation is not None
        left, right = map(fraction, report.refutation.probabilities)
        assert left > 2 * right


def forged(twice: bool) -> Json:
    """Returns evidence for 3/2 of a system with 2: 1/4 and 3/4 against 1/2 and 1/2."""
    again = [[4, "1/2"]] if twice else []
    return engine_document(
        "unwinding",
        domain=NO_PARAMETERS,
        system={
            **{"data": ["d"], "queries": ["q"], "responses": ["0", "1"], "hidden": ["h"]},
            **{"initial": 0, "partial": False, "states": list("wvabxyc")},
            "rows": [
                [[0, [[1, "1"]]], [1, [[2, "1"]]]],
                [[0, [[1, "1"]]], [1, [[3, "1"]]]],
                [[4, [[6, "1/2"], [5, "1/2"]]]],
                [[4, [[4, "1/2"], [5, "1/2"]]]],
                [[2, [[0, "1"]]]],
                [[3, [[0, "1"]]]],
                [[4, [[4, "1/2"], [5, "1/2"]]]],
            ],
        },
        ratio="3/2",
        closures=[
            {"ends": [[6, [*again, [4, "1/2"], [5, "1/2"]]]], "times": []},
            {"ends": [[2, [[4, "1/2" if twice else "1/4"], [5, "3/4"]]]], "times": []},
            {"ends": [[3, [[4, "1/2"], [5, "1/2"]]]], "times": []},
        ],
        proof={"kind": "family", "delta": "3/2", "steps": 1, "levels": [[0, 1, 1]]},
    )


def test_forged_evidence_is_rejected() -> None:
    """An end that a closure lists twice, and a step or bound below one, prove nothing."""
    right = forged(False)
    enough = with_own(right, ratio="2", proof={**own(right)["proof"], "delta": "2"})
    assert check_document(enough).accepted
    assert "no bijection" in check_document(right).lines[0]
    assert "is listed twice" in check_document(forged(True)).lines[0]
    rows = [[[0, [[0, "1"]]], [1, [[1, "1"]]]], [[2, [[0, "1"]]]]]
    system = {**own(right)["system"], "rows": rows}
    for proof in (
        {"kind": "family", "delta": "1/2", "steps": 1, "levels": []},
        {"kind": "costs", "classes": [[0], [1]], "costs": []},
    ):
        silent = with_own(right, system=system, closures=[], proof=proof)
        assert "at least one" in check_document(with_own(silent, ratio="1/2")).lines[0]
        least = {**proof, "delta": "1"} if "delta" in proof else proof
        assert check_document(with_own(silent, ratio="1", proof=least)).accepted


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`interactive` has the exit codes and JSON of the other commands, and `check` accepts its evidence."""
    folder = ROOT / "cases" / "interactive"
    evidence = str(tmp_path / "evidence.json")
    code, out, _ = call(capsys, "interactive", str(folder / "slots-2.toml"), "--json", "--evidence", evidence)
    assert (code, json.loads(out)["evidence"]["family"]["total"]) == (0, "16")
    assert call(capsys, "check", evidence, "--case", str(folder / "slots-2-full.toml"))[0] == 1
    assert call(capsys, "verify", str(folder / "slots-2.toml"))[0] == 0
    code, _, err = call(capsys, "interactive", str(ROOT / "cases" / "noisy-max-independent.toml"))
    assert (code, "use `paramverify verify`" in err) == (2, True)
    picture = tmp_path / "system.dot"
    assert call(capsys, "interactive", str(folder / "survey.toml"), "--dot", str(picture))[0] == 0
    assert picture.read_text().startswith("digraph system {")
    assert picture.read_text().count("[shape=point") == 4


def test_assumptions_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A verdict under an assumption about the environment says so: in words, in JSON, and when checked."""
    never = str(ROOT / "cases" / "interactive" / "slots-2-never-full.toml")
    evidence = str(tmp_path / "evidence.json")
    code, out, _ = call(capsys, "interactive", never, "--evidence", evidence)
    assert code == 0
    assert "Assumed of the environment: no input arrives in a waiting state" in out
    assert "on a side condition (no input comes" in call(capsys, "check", evidence, "--case", never)[1]
    for name, environment in ((never, "accepted"), (never.replace("-never-full", ""), "any")):
        assert json.loads(call(capsys, "interactive", name, "--json")[1])["environment"] == environment
    drawn = str(tmp_path / "a.dot")
    code, _, err = call(capsys, "interactive", never, "--dot", drawn, "--evidence", evidence)
    assert (code, "--dot decides nothing" in err) == (2, True)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("queries = [", "querys = [", "did you mean 'queries'"),
        ('ask = "toss none"', 'ask = "toss nun"', "no state 'toss nun'; did you mean"),
        ('ask = "toss none"', 'aks = "toss none"', "no action 'aks'; did you mean 'ask'"),
        ('ask = "toss none"', 'thinking = "toss none"', "add it to data, queries, responses or hidden"),
        ('queries = ["ask"]', 'queries = ["ask", "more yes"]', "'more yes' is in both queries and responses"),
        ('queries = ["ask"]', 'queries = ["ask", "ask"]', "'ask' is listed twice in queries"),
        ('"toss again" = "1-p" }', '"toss again" = "1-2*p" }', "is negative|sum to"),
        ('ratio = "1/(1-p)"', 'ratio = "1/2"', "below 1"),
        ('ratio = "1/(1-p)"', 'ratio = "2"\nsteps = 2', "step and steps come together"),
        ('p = "(0, 1)"', 'p = "[0, 1]"', "zero at p"),
    ],
)
def test_mistakes_in_a_case(before: str, after: str, message: str, tmp_path: Path) -> None:
    """Mistakes in the file are told with the nearest word, the place and the reason."""
    text = (ROOT / "cases" / "interactive" / "survey.toml").read_text()
    assert before in text
    path = tmp_path / "case.toml"
    path.write_text(text.replace(before, after))
    with pytest.raises(InputError, match=message):
        verify(load(path))
