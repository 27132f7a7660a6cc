"""PRISM files: choices without actions, names in formulas, constants, and what Storm reads otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from engine_documents import own

from paramverify.answers import Standing
from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.logic.formula_families import check_property
from paramverify.logic.logic_cases import LogicCase, LogicOptions, load
from paramverify.logic.property_checking import LogicSession, answer
from paramverify.models.chains import prism_files
from paramverify.models.chains.prism_files import build, check_brackets
from paramverify.portfolio.session import Session

pytestmark = pytest.mark.skipif(not prism_files.available(), reason="Storm is not installed")

# Two people toss one after the other, in an order that nobody fixes, and a counter walks: choices without an
# action, and two with the same one.
COIN = """mdp
const int K;            // how far the counter walks
const int COST;         // of rewards alone
const int FAR = 2*K;
formula ended = (counter = 0) | counter = FAR;
formula both = left & !right;
formula height = counter - K;
module shared
  counter : [0..2*K] init K;
  left : bool init false;
  right : bool init false;
  [] !ended & !left -> 1/3 : (counter'=counter-1) & (left'=true) + 2/3 : (counter'=counter+1) & (left'=true);
  [] !ended & !right -> 1/2 : (counter'=counter-1) & (right'=true) + 1/2 : (counter'=counter+1);
  [toss] !ended & left -> 1/4 : (left'=false) + 3/4 : (counter'=counter+1);
  [toss] !ended & left & right -> (counter'=counter-1) & (right'=false);
endmodule
rewards "steps"
  true : COST;
endrewards
label "low" = counter = 0;
label "high" = counter = FAR;
"""


@pytest.fixture(autouse=True)
def built_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Storm builds in this process: to start one costs more than these models."""
    monkeypatch.setattr("paramverify.logic.logic_cases.build_apart", lambda request, memory: build(request))


def model(folder: Path, *formulas: str, text: str = COIN, **constants: str) -> LogicCase:
    path = folder / "model.prism"
    path.write_text(text)
    return load(path, LogicOptions(formulas or ("P>=0 [ X true ]",), constants=constants))


def coin(high: int) -> tuple[list[list[dict[int, Fraction]]], list[tuple[int, bool, bool]]]:
    """The states of the coin model and their choices, by hand."""
    states = [(high // 2, False, False)]
    choices: list[list[dict[int, Fraction]]] = []

    def row(*entries: tuple[Fraction, tuple[int, bool, bool]]) -> dict[int, Fraction]:
        found: dict[int, Fraction] = {}
        for weight, state in entries:
            if state not in states:
                states.append(state)
            place = states.index(state)
            found[place] = found.get(place, Fraction(0)) + weight
        return found

    one, third, half, quarter = Fraction(1), Fraction(1, 3), Fraction(1, 2), Fraction(1, 4)
    for c, left, right in states:  # grows on the way
        rows = []
        if 0 < c < high:
            if not left:
                rows.append(row((third, (c - 1, True, right)), (1 - third, (c + 1, True, right))))
            if not right:
                rows.append(row((half, (c - 1, left, True)), (half, (c + 1, left, right))))
            if left:
                rows.append(row((quarter, (c, False, right)), (1 - quarter, (c + 1, left, right))))
            if left and right:
                rows.append(row((one, (c - 1, left, False))))
        choices.append(rows or [row((one, (c, left, right)))])
    return choices, states


def bounded(
    choices: Sequence[Sequence[dict[int, Fraction]]], goal: Sequence[bool], steps: int
) -> list[Fraction]:
    """The largest probability to be in the goal within some steps, backwards."""
    value = [Fraction(int(g)) for g in goal]
    for _ in range(steps):
        value = [
            Fraction(1)
            if goal[s]
            else max(sum((w * value[t] for t, w in r.items()), Fraction(0)) for r in rows)
            for s, rows in enumerate(choices)
        ]
    return value


def schedulers(
    choices: Sequence[Sequence[dict[int, Fraction]]], goal: Sequence[bool]
) -> Iterator[dict[int, dict[int, Fraction]]]:
    """All memoryless schedulers, each on the states that it gets to from the first one before the goal."""
    pending: list[dict[int, dict[int, Fraction]]] = [{}]
    while pending:
        chosen = pending.pop()
        ahead = {0, *(t for row in chosen.values() for t in row)}
        state = next((s for s in sorted(ahead) if s not in chosen and not goal[s]), None)
        if state is None:
            yield chosen
        else:
            pending += [{**chosen, state: row} for row in choices[state]]


def reached(choices: Sequence[Sequence[dict[int, Fraction]]], goal: Sequence[bool]) -> Iterator[Fraction]:
    """The probabilities to reach the goal from the first state under all memoryless schedulers."""
    for chosen in schedulers(choices, goal):
        able: set[int] = set()
        while more := {s for s in chosen if s not in able and any(goal[t] or t in able for t in chosen[s])}:
            able |= more
        if 0 not in able:
            yield Fraction(0)
            continue
        states = sorted(able, reverse=True)  # the first state last
        table = {s: {t: w for t, w in chosen[s].items() if t in able} for s in states}
        value = {s: sum((w for t, w in chosen[s].items() if goal[t]), Fraction(0)) for s in states}
        for s in states[:-1]:
            stay = 1 - table[s].pop(s, Fraction(0))
            for other in states:
                if other != s and (weight := table[other].pop(s, Fraction(0)) / stay):
                    value[other] += weight * value[s]
                    for t, w in table[s].items():
                        table[other][t] = table[other].get(t, Fraction(0)) + weight * w
        yield value[0] / (1 - table[0].get(0, Fraction(0)))


def asked(case: LogicCase, session: Session) -> list[Fraction]:
    work = LogicSession(case, session)
    found = [answer(work, question) for question in case.questions.values()]
    return [Fraction(str(said.values[0][1][0])) for said in found]


@pytest.mark.slow
def test_least_and_largest_probabilities(session: Session, tmp_path: Path) -> None:
    """P of choices without actions: against all memoryless schedulers, and backwards for bounded formulas."""
    choices, states = coin(4)
    low, high = [c == 0 for c, _, _ in states], [c == 4 for c, _, _ in states]
    case = model(
        tmp_path,
        *(
            "Pmax=? [ F low ]",
            "Pmin=? [ F low ]",
            "Pmax=? [ F high ]",
            "Pmin=? [ F high ]",
            "Pmax=? [ F<=3 low ]",
        ),
        K="2",
    )
    lows, highs = list(reached(choices, low)), list(reached(choices, high))
    expected = [max(lows), min(lows), max(highs), min(highs), bounded(choices, low, 3)[0]]
    assert asked(case, session) == expected
    assert 0 < expected[1] < expected[0] < 1


def test_names_in_formulas(session: Session, tmp_path: Path) -> None:
    """Truth values, formulas and constants of the file, against the same conditions by hand."""
    choices, states = coin(4)
    goals = {
        "both": [left and not right for _, left, right in states],
        "height < 0 & K = 2": [c < 2 for c, _, _ in states],
        "ended": [c in (0, 4) for c, _, _ in states],
        "(left = true & right != false)": [left and right for _, left, right in states],
        "(counter < FAR ? right : left)": [right if c < 4 else left for c, left, right in states],
    }
    formulas = [f"Pmax=? [ F<=4 ({text}) ]" for text in goals]
    found = asked(model(tmp_path, *formulas, K="2"), session)
    assert found == [bounded(choices, goal, 4)[0] for goal in goals.values()]


def test_some_scheduler(session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`Pmax>=` asks for a scheduler; where there is none, the largest probability is told."""
    choices, states = coin(2)
    largest = max(reached(choices, [c == 0 for c, _, _ in states]))
    more = largest + Fraction(1, 1000)
    case = model(
        tmp_path, f"Pmax>={largest} [ F low ]", f"Pmax>={more} [ F low ]", f"Pmax>{largest} [ F low ]", K="1"
    )
    work = LogicSession(case, session)
    found = [check_property(work, formula).status for formula in case.properties.values()]
    assert found == [Standing.HOLDS, Standing.VIOLATED, Standing.VIOLATED]
    path = tmp_path / "model.prism"
    assert run(["logic", str(path), "--constant", "K=1,COST=3", "-p", f"Pmax>={more} [ F low ]"]) == 1
    assert f"the largest probability over all schedulers is {largest}" in capsys.readouterr().out


def test_evidence_about_some_scheduler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A violated `Pmax>=` is a witness that the kernel takes, and one with another bound is none."""
    path, evidence = tmp_path / "model.prism", tmp_path / "evidence.json"
    path.write_text(COIN)
    words = ["logic", str(path), "--constant", "K=1", "-p", "Pmax>=0.9 [ F low ]"]
    assert run([*words, "--evidence", str(evidence)]) == 1
    assert run(["check", str(evidence)]) == 0
    document = json.loads(evidence.read_text())
    (entry,) = own(document)["formulas"]
    assert entry["formula"][:2] == ["not", ["P", "<", "9/10", ["until", ["true"], ["label", "low"], 0, None]]]
    entry["formula"][1][2] = "1/2"
    evidence.write_text(json.dumps(document))
    assert run(["check", str(evidence)]) == 1
    assert "not shown that the formula is false" in capsys.readouterr().out


def test_evidence_that_some_scheduler_does_it(tmp_path: Path, session: Session) -> None:
    """A true `Pmax>=` or `Pmin<` has a claim: the difference of the probability and the bound."""
    for formula, difference in (
        ("Pmax>=1/2 [ F low ]", lambda least, largest: largest - Fraction(1, 2)),
        ("Pmin<3/4 [ F low ]", lambda least, largest: Fraction(3, 4) - least),
    ):
        case = model(tmp_path, formula, "Pmin=? [ F low ]", "Pmax=? [ F low ]", K="1")
        least, largest = asked(case, session)
        result = check_property(LogicSession(case, session), case.properties["property 1"])
        assert (result.status, result.complete) == (Standing.HOLDS, True)
        ((claim, _),) = result.claims
        sign = 1 if difference(least, largest) > 0 else 0
        assert str(claim.polynomial) == str(sign)


def test_forged_evidence_that_some_scheduler_does_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kernel finds a scheduler for a true `Pmax>=`, and none for a larger bound."""
    path, evidence = tmp_path / "model.prism", tmp_path / "evidence.json"
    path.write_text(COIN)
    words = ["logic", str(path), "--constant", "K=1", "-p", "Pmax>=1/2 [ F low ]"]
    assert run([*words, "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence)]) == 0
    document = json.loads(evidence.read_text())
    (entry,) = own(document)["formulas"]
    entry["formula"][1][2] = "9/10"
    evidence.write_text(json.dumps(document))
    assert run(["check", str(evidence)]) == 1
    assert "not shown that the formula is true" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "part"),
    [
        (COIN, "in state '!left & !right & counter=2' 2 choices have no action"),
        (
            COIN.replace("[] !ended & !left", "[l] !ended & !left").replace(
                "[] !ended & !r", "[r] !ended & !r"
            ),
            "the action 'toss' is not enabled",
        ),
        (COIN.replace("[]", "[toss]"), "2 choices have the action 'toss'"),
        (COIN.replace("[] !ended & !left", "[l] !ended & !left"), "a choice without an action stands beside"),
    ],
)
def test_why_a_query_scheduler_cannot_choose(text: str, part: str, tmp_path: Path) -> None:
    """D needs one choice for each action; a state is told by its variables, and P has its answer."""
    with pytest.raises(InputError, match="query schedulers") as error:
        model(tmp_path, "D{1, 0}[ F low ]", text=text, K="2")
    assert part in str(error.value)
    assert "P, which needs no actions" in str(error.value)
    assert model(tmp_path, "Pmax=? [ F low ]", text=text, K="2").chain.is_decision_process


def test_named_actions_are_for_query_schedulers(session: Session, tmp_path: Path) -> None:
    """Where every state has each action once, D is answered: the same as for a case file."""
    text = """mdp
    module m
      s : [0..3] init 0;
      r : [0..1] init 0;
      [a] s=0 -> 3/4 : (s'=1) + 1/4 : (s'=2);
      [b] s=0 -> 4/5 : (s'=1) + 1/5 : (s'=2);
    endmodule
    """
    case = model(tmp_path, "D{ln(3), 0}[ X s=1 ]", "Pmax=? [ X s=1 ]", text=text)
    assert case.chain.actions == ("a", "b")
    assert asked(case, session) == [Fraction(4, 5)]
    assert check_property(LogicSession(case, session), case.properties["property 1"]).status is Standing.HOLDS


@pytest.mark.parametrize(
    ("constants", "formula", "part"),
    [
        (
            {},
            "P>=1 [ F low ]",
            "'K' is not defined: give it a value, or declare a parameter with a domain; --constant K=",
        ),
        ({}, "P>=1 [ F counter < COST ]", "the constants K, COST are not defined"),
        ({"K": "two"}, "P>=1 [ F low ]", "'two' of the constant 'K' is not a number"),
        ({"K": "1", "k": "1"}, "P>=1 [ F low ]", "no undefined constant 'k'; did you mean 'K'?"),
        ({"K": "1"}, "P>=1 [ F height ]", "unknown label 'height'"),
        ({"K": "1"}, "P>=1 [ F counter ]", "counter is a variable with whole numbers; compare it"),
        ({"K": "1"}, "P=? [ F low ]", "ask for Pmin=? or Pmax=?"),
        ({"K": "1"}, "P>=1 [ F abs(height) = K ]", "PRISM has no abs; write max(x, -x) instead"),
        ({"K": "1"}, "R=? [ F low ]", "rewards are not read, P and D are"),
        ({"K": "1"}, "P>=1 [ F low ];", "unexpected ';'; end a formula without it"),
        ({"K": "1"}, '"c1": P>=1 [ F low ]', "unexpected ':'; a formula has no name here"),
    ],
)
def test_mistakes(
    constants: dict[str, str], formula: str, part: str, tmp_path: Path, session: Session
) -> None:
    """Open constants are named with the mend; names and questions are told what is wrong with them."""
    with pytest.raises(InputError) as error:
        asked(model(tmp_path, formula, **constants), session)
    assert part in str(error.value)


def test_a_name_with_two_meanings(tmp_path: Path) -> None:
    """A label and a variable of one name are refused where they differ, and are one where they do not."""
    same, other = (COIN + f'label "left" = {condition};\n' for condition in ("left", "right"))
    assert model(tmp_path, "Pmax=? [ F left ]", text=same, K="1")
    assert model(tmp_path, 'Pmax=? [ F "left" ]', text=other, K="1")
    with pytest.raises(InputError, match='write "left" for the label'):
        model(tmp_path, "Pmax=? [ F left ]", text=other, K="1")


@pytest.mark.parametrize(
    ("expression", "line"),
    [
        ("a => b => c", 1),
        ("(a => b) => c", 0),
        ("a => (b => c)", 0),
        ("a & b => c | d => e", 1),
        ("(x=1 ? a => b : c => d)", 0),
        ('"=>" => "=>"', 0),
        ("a => b;\n c => d => e", 2),
        ("-x^2", 1),
        ("(-x)^2", 0),
        ("1-x^2", 0),
        ("2 * -f(x, 1)^2", 1),
        ("-x + y^2", 0),
        ("-(x+1)^2", 1),
        ("x=1 -> 1/2:(x'=-y) + 1/2:(y'=x^2)", 0),
    ],
)
def test_brackets_that_storm_sets_otherwise(expression: str, line: int) -> None:
    """Chains of `=>` and powers of what has a sign are refused with the line, until they have brackets."""
    if not line:
        check_brackets(expression)
        return
    with pytest.raises(InputError, match=f"line {line}: .*PRISM reads .*; add brackets"):
        check_brackets(expression)


def test_storm_and_prism_differ_there(tmp_path: Path) -> None:
    """Storm alone would answer otherwise than the manual of PRISM: `false => x => x` is true there."""
    import stormpy

    text = 'dtmc\nmodule m\n b : bool init false;\nendmodule\nlabel "l" = b => b => b;\n'
    path = tmp_path / "model.prism"
    path.write_text(text)
    options = stormpy.BuilderOptions()
    options.set_build_all_labels()
    built = stormpy.build_model[stormpy.Rational](stormpy.parse_prism_program(str(path)), options=options)
    assert not list(built.labeling.get_states("l"))
    with pytest.raises(InputError, match="line 5: a => b => c is ambiguous: PRISM reads it as"):
        load(path, LogicOptions(("P>=1 [ X l ]",)))


def test_constraints_and_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parameters with a constraint between them; the answer is the largest of two functions."""
    path = tmp_path / "two.prism"
    path.write_text(
        "mdp\nconst double p;\nconst double q;\nmodule m\n x : [0..3] init 0;\n"
        " [] x=0 -> p:(x'=1) + q:(x'=2) + 1-p-q:(x'=3);\n [] x=0 -> 1-p:(x'=1) + p:(x'=3);\nendmodule\n"
    )
    words = ["logic", str(path), "--parameter", "p=(0, 1),q=(0, 1)", "-p", "Pmax=? [ F x=1 ]"]
    assert run([*words, "-p", "P>=0 [ F x < p ]"]) == 2
    assert "is about the parameter 'p', but a condition may only be about states" in capsys.readouterr().err
    assert run(words) == 2
    assert "the probability of 3 is negative" in capsys.readouterr().err
    words += ["--constraint", "p + q <= 1", "-p", "Pmin<=1/2 [ F x=1 ]", "--json"]
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    (value,) = told["answers"]["property 1"]["values"]
    assert sorted(value["largest"]) == ["-p + 1", "p"]
    assert told["verdict"] == "true"
