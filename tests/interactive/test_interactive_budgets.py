"""Budgets of interactive systems: exact ones, intervals, and none at all."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from calling_tools import called
from engine_documents import own, with_own
from flint import fmpq
from interactive_tools import Enumeration, case_of, random_system
from slot_families import case_text

from paramverify.algebra.polynomials import fraction
from paramverify.api.options import clock
from paramverify.errors import TimeLimitError
from paramverify.interactive.system_cases import InteractiveCase, load
from paramverify.interactive.system_certificates import budget_document, check_with_case
from paramverify.interactive.system_verification import InteractiveBudget, tight_budget
from paramverify.kernel.documents import check_document
from paramverify.models.systems.transition_systems import System
from paramverify.portfolio.session import Options, Session
from paramverify.reports.interactive_reports import brief, row
from paramverify.subjects import system_answers
from paramverify.subjects.questions import Budget
from paramverify.subjects.running import run as ask
from paramverify.subjects.subject import CaseFile

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cases" / "interactive"


def test_a_budget_needs_no_bound(tmp_path: Path) -> None:
    """A system without [privacy] has the budget of the same system with it, and evidence that is accepted."""
    text = (FOLDER / "survey.toml").read_text(encoding="utf-8")
    assert text.index("[privacy]") > text.index("[system]")
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    parts = text.split("[privacy]")
    rest = parts[1].split("\n[", 1)
    case.write_text(parts[0] + ("[" + rest[1] if len(rest) > 1 else ""), encoding="utf-8")
    code, out = called("budget", str(case), "--evidence", str(evidence))[:2]
    assert (code, "ratio 1/(1 - p)" in out) == (0, True)
    code, out = called("check", str(evidence), "--case", str(case))[:2]
    assert (code, "checked: a budget" in out) == (0, True)


def split(system: System, steps: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the inputs and the observation of steps."""
    inputs = tuple(a for a in steps if a in system.actions.inputs)
    return inputs, tuple(a for a in steps if a not in system.actions.points)


def chance(plain: Enumeration, inputs: tuple[int, ...], trace: tuple[int, ...]) -> Fraction:
    """Returns the probability that an observation begins with a trace, by stepping forwards."""
    system, total = plain.system, Fraction(0)
    level = {(s, 0, 0): fraction(w) for s, w in plain.moved(((system.initial, fmpq(1)),))}
    while level:
        following: dict[tuple[int, int, int], Fraction] = {}
        for (state, taken, seen), weight in level.items():
            row = {} if state == -1 else system.rows[state]
            waits = any(a in system.actions.inputs for a in row)
            if seen == len(trace):
                total += weight
            elif row and not (waits and taken == len(inputs)):
                action = inputs[taken] if waits else next(iter(row))
                shown = action not in system.actions.points
                if shown and trace[seen] != action:
                    continue
                for end, share in plain.moved(row[action]):
                    key = (end, taken + waits, seen + shown)
                    following[key] = following.get(key, Fraction(0)) + weight * fraction(share)
        level = following
    return total


def grows(plain: Enumeration, found: InteractiveBudget) -> str:
    """Confirms by plain enumeration that each loop multiplies the ratio by the same factor."""
    growth = found.growth
    assert growth is not None
    ratios = []
    for rounds in range(3):
        runs = [split(plain.system, side + growth.loop * rounds) for side in (growth.left, growth.right)]
        assert runs[0][1] == runs[1][1]
        left, right = (chance(plain, inputs, trace) for inputs, trace in runs)
        ratios.append(left / right)
    factor = fraction(growth.factors[0] / growth.factors[1])
    assert factor > 1
    assert ratios[1:] == [ratios[0] * factor, ratios[0] * factor**2]
    return "growth"


def confirmed(system: System, found: InteractiveBudget, longest: int = 3) -> str:
    """Confirms bounds by plain enumeration, and returns what was found in a word."""
    plain = Enumeration(system)
    if found.growth is not None:
        return grows(plain, found)
    left = right = fmpq(1)
    if found.leak is not None:
        key = found.leak.event.trace, found.leak.event.closed
        left, right = (
            plain.events(inputs, len(key[0]))[0].get(key, 0) for inputs in (found.leak.left, found.leak.right)
        )
        assert (left, right) == found.leak.probabilities
    if found.boundless:
        assert (left != 0, right == 0) == (True, True)
        return "impossible"
    assert found.lower == left / right
    if found.upper is None:
        return "open"
    largest, infinite = plain.largest_ratio(longest)
    assert not infinite
    assert fraction(found.lower) <= fraction(found.upper) >= largest
    assert found.exact == (found.lower == found.upper)
    return "exact" if found.exact else "interval"


@pytest.mark.slow
@pytest.mark.parametrize("for_ever", [False, True])
def test_random_systems(for_ever: bool) -> None:
    """Bounds, loops and impossible observations agree with plain enumeration, and their evidence is taken."""
    words = set()
    for seed in (*range(6), 11, 13):
        system = random_system(seed, for_ever)
        case = case_of(system, Fraction(4))
        found = tight_budget(case, Options(seconds=3))
        word = confirmed(system, found)
        words.add(word)
        document = json.loads(json.dumps(budget_document(case, found)))
        report = check_document(document)
        assert report.accepted == (word != "open"), (seed, report)
        if word not in ("exact", "interval"):
            continue
        assert report.status == "budget"
        assert check_document(with_own(document, ratio="1")).accepted == (found.upper == 1)
    assert words >= {"exact", "impossible"} | (set() if for_ever else {"growth"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "ratio"),
    [("slots-1-full", 4), ("slots-2", 16), ("slots-2-never-full", 4), ("slots-2-one-value", 4)],
)
def test_budgets_of_slots(name: str, ratio: int) -> None:
    """The budget of t slots is 2tε, and tε where points are never dropped or all alike; it is reached."""
    case = load(FOLDER / f"{name}.toml")
    told: list[InteractiveBudget] = []
    found = tight_budget(case, told=told.append)
    assert (found.exact, found.upper, found.lower) == (True, ratio, ratio)
    assert [(best.lower, best.upper) for best in told] == [(1, ratio)]
    assert confirmed(case.system, found, 2) == "exact"
    document = json.loads(json.dumps(budget_document(case, found)))
    report = check_with_case(document, case)
    assert (report.accepted, report.status) == (True, "budget")
    assert "the budget is tight" in report.lines[1]
    loose = with_own(document, ratio=str(2 * ratio))
    assert check_with_case(loose, case).lines[1].endswith("a lower bound")
    tight = own(document)["tight"]
    never = {"trace": tight["trace"][1:2] * 2, "probabilities": ["0", "0"]}
    impossible = with_own(document, tight={**tight, **never})
    assert "possible on the right" in check_with_case(impossible, case).lines[0]
    for change in ({"probabilities": ["1", "1/2"]}, {"place": 7}, {"trace": tight["trace"][1:]}):
        assert not check_with_case(with_own(document, tight={**tight, **change}), case).accepted
    holds = with_own(document, tight=None)
    assert check_with_case(holds, case).accepted == (str(ratio) == str(case.ratio))


@pytest.mark.parametrize("slots", [0, 1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_no_slots_and_more(slots: int, tmp_path: Path) -> None:
    """t slots have the budget 4^t with ½-geometric noise, also for t = 0, where no point is ever stored."""
    path = tmp_path / "case.toml"
    path.write_text(case_text(slots, 1))
    found = tight_budget(load(path))
    assert (found.exact, found.upper) == (True, 4**slots)


@pytest.mark.slow
def test_budgets_with_parameters() -> None:
    """A budget may be a function: 1/p^4 for two slots, 1/(1 − p) for the survey, reached at every p."""
    for name, power in (("slots-2-symbolic", "p^4"), ("survey", "-p + 1")):
        case = load(FOLDER / f"{name}.toml")
        found = tight_budget(case)
        assert found.exact
        document = json.loads(json.dumps(budget_document(case, found)))
        assert own(document)["ratio"] == ["1", power]
        assert (
            check_with_case(document, case).lines[1]
            == "an observation reaches the bound: the budget is tight"
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slots-2-shared", "slots-2-keep"])
def test_no_budget_at_all(name: str, tmp_path: Path) -> None:
    """With shared memory, or slots that keep their points, a loop makes the ratio grow without limit."""
    case = load(FOLDER / f"{name}.toml")
    found = tight_budget(case)
    assert found.boundless
    assert grows(Enumeration(case.system), found) == "growth"
    document = json.loads(json.dumps(budget_document(case, found)))
    report = check_with_case(document, case)
    assert (report.accepted, report.status) == (True, "violated")
    growth = own(document)["growth"]
    for change in (
        {"loop": []},
        {"loop": growth["loop"][1:]},
        {"loop": growth["loop"][:-1]},
        {"loop": [*growth["loop"], 99]},
        {"left": growth["right"], "right": growth["left"]},
        {"left": growth["right"]},
        {"place": 3},
    ):
        assert not check_document(with_own(document, growth={**growth, **change})).accepted, change
    partial = with_own(document, system={**own(document)["system"], "partial": True})
    assert check_document(partial).accepted  # every input is taken, so nothing is assumed
    query = next(
        a for a in growth["loop"] if len(case.system.actions.data) <= a < len(case.system.actions.inputs)
    )
    for moves in own(partial)["system"]["rows"]:
        if len(moves) > 1:  # a state that waits
            moves[:] = [step for step in moves if step[0] != query]
    assert not check_document(partial).accepted
    evidence = str(tmp_path / "evidence.json")
    path = str(FOLDER / f"{name}.toml")
    out = called("budget", path, "--evidence", evidence).out
    assert out.startswith("no budget: the ratio has no limit.\n  after ")
    assert "so their ratio by" in out
    told = json.loads(called("budget", path, "--json").out)
    assert (told["ratio"], told["epsilon"], told["attained"]) == ("infinity", "infinity", False)
    assert told["growth"]["repeat"] == [case.system.actions.names[a] for a in growth["loop"]]
    assert called("check", evidence, "--case", path).code == 0


KEPT = """
[system]
kind = "slots"
slots = 2
points = 1
data = [-1, 1]
queries = ["count"]
range = 2
full = "never"
delete = false
noise = { truncated_geometric = "1/2" }
"""


def test_no_budget_of_a_partial_system(tmp_path: Path) -> None:
    """Where points may not come to a full slot, a loop of queries makes the ratio grow without limit."""
    path = tmp_path / "kept.toml"
    path.write_text(KEPT)
    case = load(path, bounded=False)
    assert case.system.partial
    found = tight_budget(case)
    assert found.growth is not None
    plain = Enumeration(case.system)
    assert grows(plain, found) == "growth"
    inputs = case.system.actions.inputs
    left, right, loop = (
        tuple(a for a in steps if a in inputs)
        for steps in (found.growth.left, found.growth.right, found.growth.loop)
    )
    assert all(plain.admissible((*given, *loop * n)) for given in (left, right) for n in range(4))
    document = json.loads(json.dumps(budget_document(case, found)))
    assert check_with_case(document, case).accepted
    point = case.system.actions.names.index("point -1")
    growth = own(document)["growth"]
    longer = {**growth, "loop": [point, *growth["loop"]]}
    assert "assumed not to send" in check_document(with_own(document, growth=longer)).lines[0]
    evidence = str(tmp_path / "evidence.json")
    assert called("budget", str(path), "--evidence", evidence).out.startswith("no budget")
    assert called("check", evidence, "--case", str(path)).code == 0


def test_loops_of_a_random_system_with_assumptions() -> None:
    """With each single input left out: a loop that is found is one that the environment may repeat."""
    whole = random_system(11)
    assert tight_budget(case_of(whole, Fraction(4)), Options(seconds=1)).growth is not None
    seen, lost = 0, 0
    for place, moves in enumerate(whole.rows):
        for left_out in moves if len(moves) > 1 else ():
            rows = list(whole.rows)
            rows[place] = {action: step for action, step in moves.items() if action != left_out}
            system = replace(whole, rows=tuple(rows), partial=True)
            found = tight_budget(case_of(system, Fraction(4)), Options(seconds=0.3))
            if found.growth is None:
                lost += 1
                continue
            seen += 1
            plain = Enumeration(system)
            assert grows(plain, found) == "growth"
            parts = (found.growth.left, found.growth.right, found.growth.loop)
            left, right, loop = (tuple(a for a in steps if a in system.actions.inputs) for steps in parts)
            assert all(plain.admissible((*given, *loop * n)) for given in (left, right) for n in range(5))
            document = budget_document(case_of(system, Fraction(4)), found)
            assert check_document(json.loads(json.dumps(document))).accepted
    assert seen
    assert lost


def test_an_impossible_observation_leaves_no_budget(tmp_path: Path) -> None:
    """Where one side of an observation is impossible there is no budget, and the evidence is its witness."""
    path = str(FOLDER / "slots-1-bad-noise.toml")
    evidence = str(tmp_path / "evidence.json")
    found = called("budget", path, "--evidence", evidence)
    assert (found.code, found.out.splitlines()[0]) == (0, "no budget: the ratio has no limit.")
    assert called("check", evidence, "--case", path).code == 0
    assert json.loads(called("budget", path, "--json").out)["attained"] is True


VANISHING = """
[parameters]
p = "[0, 1/2]"
[system]
initial = "w"
data = ["d"]
queries = ["q"]
responses = ["0", "1"]
hidden = ["h"]
[system.steps.w]
d = "v"
q = "a"
[system.steps.v]
d = "v"
q = "b"
[system.steps.a]
0 = "w"
[system.steps.b]
h = { zero = "p", one = "1 - p" }
[system.steps.zero]
0 = "w"
[system.steps.one]
1 = "w"
"""


def test_no_budget_of_a_case_without_a_bound(tmp_path: Path) -> None:
    """Evidence of no budget is checked against a case without [privacy]; that of a ratio needs one."""
    text = (FOLDER / "slots-1-bad-noise.toml").read_text()
    bare = text.replace('[privacy]\nepsilon = "ln(4)"\n', "").partition("[expect]")[0]
    assert "privacy" not in bare
    fine = bare.replace('[0, "1/3", "2/3"]', '["1/6", "1/6", "2/3"]').replace('"1/3", 0]', '"1/6", "1/6"]')
    bounded = f'{fine}\n[privacy]\nratio = "3/2"\n'
    evidence = str(tmp_path / "evidence.json")
    for name, content in (("bare", bare), ("vanishing", VANISHING)):
        path = tmp_path / f"{name}.toml"
        path.write_text(content)
        found = called("budget", str(path), "--evidence", evidence)
        assert found.out.startswith("no budget")
        checked = called("check", evidence, "--case", str(path))
        assert (checked.code, checked.err) == (0, "")
        assert "there is no budget" in checked.out
        assert called("check", evidence).code == 0
    path.write_text(bounded)
    assert called("interactive", str(path), "--evidence", evidence).code == 1
    assert called("check", evidence, "--case", str(path)).code == 0
    path.write_text(fine)
    forged = with_own(json.loads(Path(evidence).read_text()), ratio="1")
    forged["case"]["digest"] = hashlib.sha256(path.read_bytes()).hexdigest()
    Path(evidence).write_text(json.dumps(forged))
    checked = called("check", evidence, "--case", str(path))
    assert checked.code == 1
    assert "the case has no [privacy], and the observation is possible with both inputs" in checked.out


GAP = """
[system]
initial = "w"
data = ["d"]
queries = ["q"]
responses = ["0", "1"]
[system.steps.w]
d = "v"
q = "a"
[system.steps.v]
d = "v"
q = "b"
[system.steps.a]
0 = { x = "1/2", y = "1/2" }
[system.steps.b]
0 = { x = "1/4", y = "3/4" }
[system.steps.x]
d = "x"
q = { zero = "1/2", one = "1/2" }
[system.steps.y]
d = "y"
q = { zero = "1/3", one = "2/3" }
[system.steps.zero]
0 = "end"
[system.steps.one]
1 = "end"
[system.steps.end]
d = "end"
q = "zero"
[privacy]
ratio = "3/2"
"""


def test_an_interval_stays_open(tmp_path: Path) -> None:
    """The analyst never learns which of two states follows, so the costs are no tight bound: 10/9 and 2.

    One answer 0 after another is 1/2·1/2 + 1/2·1/3 = 5/12 likely without the point, and with it
    1/4·1/2 + 3/4·1/3 = 3/8.
    """
    path = tmp_path / "case.toml"
    path.write_text(GAP)
    evidence = str(tmp_path / "evidence.json")
    found = called("budget", str(path), "--evidence", evidence)
    assert found.code == 3
    head = "the largest ratio is between 10/9 and 2, and undecided."
    assert found.out.splitlines()[0] == head
    told = json.loads(called("budget", str(path), "--json").out)
    assert (told["ratio_lower"], told["ratio_upper"], told["attained"]) == ("10/9", "2", None)
    checked = called("check", evidence, "--case", str(path))
    assert checked.code == 0
    assert "an observation has the stated ratio, which is a lower bound" in checked.out
    assert Fraction(5, 12) / Fraction(3, 8) == Fraction(10, 9)
    assert called("budget", str(path), "--precision", "9/10").code == 0  # 2 - 10/9 <= 9/10 * 10/9


LOST = """
[system]
initial = "s"
data = ["x"]
hidden = ["coin"]
steps.s.x = "c"
steps.c.coin = { s = "1/2", loop = "1/2" }
steps.loop.coin = "loop"
"""


def test_undecided_evidence_needs_no_bound(tmp_path: Path) -> None:
    """Evidence of an interval shows nothing, and beside a case without [privacy] that is what is said."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(LOST, encoding="utf-8")
    code, out, _ = called("budget", str(case), "--evidence", str(evidence))
    assert code == 3
    assert "no upper bound was proved" in out
    code, out, err = called("check", str(evidence), "--case", str(case))
    assert code == 1
    assert "a document that says 'unknown' has nothing to check" in out + err


def test_the_words_of_a_budget() -> None:
    """`budget` tells ratio, ε and what reaches it, and JSON has the same."""
    path = str(FOLDER / "slots-2.toml")
    out = called("budget", path).out.splitlines()
    assert out[0] == "tight budget: ratio 16, epsilon ≈ 2.77258873; reached."
    told = json.loads(called("budget", path, "--json").out)
    assert (told["ratio"], told["attained"], told["proved_upper"]) == ("16", True, "16")
    left, right = (Fraction(p) for p in told["witness"]["probabilities"])
    assert left / right == 16
    assert (
        called("budget", str(FOLDER / "slots-2-never-full.toml")).out.rstrip().endswith("does not accept it.")
    )


def test_very_long_witnesses_are_shortened() -> None:
    """What people read has the ends of a long row, and about what a long number is."""
    case = load(FOLDER / "slots-2.toml")
    told = row(["a", "b"], [0] * 30 + [1] * 30)
    assert told == ", ".join(["a"] * 20 + ["... (20 more) ..."] + ["b"] * 20)
    assert row(["a"], [0] * 40) == ", ".join(["a"] * 40)
    assert brief(case, fmpq(1) / fmpq(3) ** 90) == f"≈ {float(Fraction(1, 3**90)):.6g}"
    assert brief(case, fmpq(2) ** 200) == f"≈ {float(2**200):.6g}"
    assert brief(case, fmpq(1, 7)) == "1/7"


def test_the_limit_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of the user is told when time is over, and neither what is left of it nor a share of that."""

    def by_session(case: InteractiveCase, options: Options, told: object) -> InteractiveBudget:
        time.sleep(options.seconds)
        with Session(replace(options, seconds=0)) as session:
            session.in_time()
        raise AssertionError

    def by_alarm(case: InteractiveCase, options: Options, told: object) -> InteractiveBudget:
        time.sleep(5)
        raise AssertionError

    for over in (by_session, by_alarm):
        monkeypatch.setattr(system_answers, "tight_budget", over)
        file, options = CaseFile(FOLDER / "slots-1-full.toml"), Options(seconds=0.1, limit=7)
        with pytest.raises(TimeLimitError, match="the time limit of 7 s is over"), clock(options):
            ask(file, Budget(), options)
