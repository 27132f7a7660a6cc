"""What a case says beside its system: unwinding families, subroutines, and several data points."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from calling_tools import called
from engine_documents import own, with_own
from interactive_tools import Enumeration
from slot_families import case_text, conditions

from paramverify.errors import ExpressionError, InputError
from paramverify.interactive.system_cases import GivenFamily, InteractiveCase, load, read_condition
from paramverify.interactive.system_certificates import check_with_case, evidence_document
from paramverify.interactive.system_verification import verify
from paramverify.kernel.documents import check_document

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cases" / "interactive"
SUBROUTINES = (FOLDER / "survey-subroutines.toml").read_text()


def written(folder: Path, text: str) -> InteractiveCase:
    """Returns the case of a text."""
    path = folder / "case.toml"
    path.write_text(text)
    return load(path)


@pytest.mark.parametrize(
    ("slots", "points"),
    [(0, 1), (1, 2), (2, 2), (3, 1), pytest.param(2, 3, marks=pytest.mark.slow)],
)
def test_the_add_and_swap_family(slots: int, points: int, tmp_path: Path) -> None:
    """The published family with t steps of 2ε is accepted for t slots of v points, and so is its evidence."""
    case = written(tmp_path, case_text(slots, points))
    report = verify(case)
    assert (report.status, report.failure) == ("holds", None)
    assert isinstance(report.family, GivenFamily)
    assert (report.family.ratio, report.family.steps) == (4, slots)
    document = json.loads(json.dumps(evidence_document(case, report)))
    proof = own(document)["proof"]
    assert proof["kind"] == "family"
    assert check_with_case(document, case).accepted
    if slots:  # without a step fewer pairs would be covered
        levels = [[x, y, max(level - 1, 0)] for x, y, level in proof["levels"]]
        assert not check_document(with_own(document, proof={**proof, "levels": levels})).accepted


def test_the_conditions_are_the_pairs_that_they_say(tmp_path: Path) -> None:
    """The relations of a case are those that plain tuples of multisets give, state by state."""
    case = written(tmp_path, case_text(2, 2))
    names, kinds = case.system.states, [case.system.kind(s).value for s in range(len(case.system.states))]

    def taken(name: str) -> tuple[list[list[str]], str]:
        slots, _, answer = name.partition(" answers ")
        return [[] if slot == "-" else slot.split(",") for slot in slots.split("|")], answer

    def apart(left: list[str], right: list[str]) -> bool:
        """Tells whether one slot is the other with a point more, or with one point swapped."""
        common = sum(min(left.count(v), right.count(v)) for v in ("-1", "1"))
        return max(len(left), len(right)) - common <= 1 and left != right

    expected: list[set[tuple[int, int]]] = [set(), set(), set()]
    for x, left in enumerate(names):
        for y, right in enumerate(names):
            if x < y and kinds[x] == kinds[y] != "hidden":
                (a, one), (b, other) = taken(left), taken(right)
                if one == other and a[0] == b[0] and apart(a[1], b[1]):
                    expected[1].add((x, y))
                if one == other and a[1] == b[1] and apart(a[0], b[0]):
                    expected[2].add((x, y))
    assert case.given is not None
    assert [set(relation) for relation in case.given.relations] == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "level", "pair", "action"),
    [
        ('step = "2*ln(2)"', 'step = "ln(2)"', 1, ["-|-1", "-|1"], "sum"),
        ("abs(n0 - n0') <= 1", "abs(n0 - n0') = 1", 2, ["-|-", "-1|-"], "point 1"),
        ('    "false",\n', "", 0, ["-|-", "-|-1"], "count"),
        ("responding = responding' & ", "false & ", None, ["-|-", "-1|-"], "point -1"),
        ('"4*ln(2)"', '"3*ln(2)"', 2, None, None),
    ],
)
def test_a_family_that_fails_is_told(
    before: str,
    after: str,
    level: int | None,
    pair: list[str] | None,
    action: str | None,
    tmp_path: Path,
) -> None:
    """A family that is none is never trusted: pair, level and action are told, in words and in JSON."""
    text = case_text(2, 1)
    assert before in text
    case = written(tmp_path, text.replace(before, after))
    report = verify(case)
    assert report.family is None
    assert report.failure is not None
    path = str(tmp_path / "case.toml")
    told = json.loads(called("interactive", path, "--json").out)
    given = told["evidence"]["given"]
    assert (given["accepted"], given["level"], given["pair"], given["action"]) == (False, level, pair, action)
    assert f"The unwinding family of the case fails: {given['reason']}." in called("interactive", path).out
    assert told["status"] == ("violated" if pair is None else "holds")  # by the costs, which need no family


def test_families_with_parameters(tmp_path: Path) -> None:
    """δ may be a function of the parameters, and fields may be written state by state."""
    text = (FOLDER / "survey.toml").read_text()
    more = """
[unwinding]
step = "-ln(1-p)"
rel = ["heard = heard' & heard = -1", "heard >= 0 & heard' >= 0"]
[system.fields]
heard = { none = 0, one = 1 }
"""
    case = written(tmp_path, text + more)
    report = verify(case)
    assert report.failure is None
    assert isinstance(report.family, GivenFamily)
    assert list(report.family.table.values()) == [1]
    assert check_with_case(json.loads(json.dumps(evidence_document(case, report))), case).accepted
    late = verify(written(tmp_path, text + more.replace("-ln(1-p)", "-ln(1-p/2)")))
    assert late.failure is not None
    assert (late.failure.level, late.status) == (1, "holds")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("n0 - n0'", "n7 - n0'", "unwinding.rel\\[2\\]: unknown name 'n7'"),
        ("n0 - n0'", "n0_ - n0'", "may not end with _"),
        ("n0 - n0'", "n0 - ", "syntax error"),
        ("[unwinding]", "[unwinding]\nstep2 = 1", "unknown key; did you mean 'step'"),
        ("[privacy]", '[privacy]\nstep = "ln(2)"\nsteps = 1', "give one family only"),
        ('step = "2*ln(2)"', 'step = "-ln(2)"', "below 1"),
    ],
)
def test_mistakes_in_a_family(before: str, after: str, message: str, tmp_path: Path) -> None:
    """Mistakes are told with their place."""
    text = case_text(2, 1)
    assert before in text
    with pytest.raises(InputError, match=message):
        written(tmp_path, text.replace(before, after))


def test_conditions_have_the_signs_of_predicates() -> None:
    """`&`, `|`, `!` and `=` mean what `and`, `or`, `not` and `==` mean; primes are fields of the second."""
    signs = read_condition("a = a' & !(b <= 2 | b' != 3)")
    words = read_condition("a == a' and not (b <= 2 or b' != 3)")
    assert str(signs.root) != ""
    assert sorted(signs.names()) == sorted(words.names()) == ["a", "a'", "b", "b'"]
    with pytest.raises(ExpressionError):
        read_condition("a => b")
    assert conditions(1, 1)[0] == "false"


# --- subroutines ----------------------------------------------------------------------------------


def at_a_third(text: str) -> str:
    """Returns a case of the survey at p = 1/3."""
    numbers = {'"1/(2-p)"': '"3/5"', '"(1-p)/(2-p)"': '"2/5"', '"1-p"': '"2/3"', '"p"': '"1/3"'}
    for before, after in (numbers | {"1/(1-p)": "3/2"}).items():
        assert before in text or before in ('"p"', '"1-p"')
        text = text.replace(before, after)
    return text


def test_subroutines_keep_every_observation(tmp_path: Path) -> None:
    """With steps replaced by automata all observations have the probabilities that they had (Theorem 1)."""
    head, _, rest = SUBROUTINES.partition("[[subroutines]]")
    ideal = written(tmp_path, at_a_third(head + rest[rest.index("[privacy]") :]))
    real = written(tmp_path, at_a_third(SUBROUTINES))
    assert [s.states for s in real.subroutines] == [2, 2]
    assert len(real.system.states) == len(ideal.system.states) + 4
    one, other = Enumeration(ideal.system), Enumeration(real.system)
    checked = 0
    for inputs in ((2,), (0, 2), (2, 2), (0, 2, 2), (0, 2, 1, 2)):
        found = one.given(inputs)
        assert found == other.given(inputs)
        assert sum(found.values()) == 1
        checked += len(found)
    assert checked > 10
    assert Fraction(3, 5) in one.given((2,)).values()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('mine = "p", second = "1-p"', 'mine = "1-p", second = "p"', "ends in 'say less' with .*, the step"),
        ('second = "1-p"', 'second = "1-p/2"', "ends in 'say less' with .*, the step with"),
        ('yours = "p", first = "1-p"', 'yours = "p", second = "1-p"', "the step with"),
        ("ends = { mine", "ends = { mne", r"subroutines\[0\].ends.mne: the automaton does not end there"),
        ('state = "find none"', 'state = "none"', "has no hidden step that could be replaced"),
        ('state = "find none"', 'state = "fnd none"', "is not a state of the system"),
        ('start = "first"', 'start = "frst"', "no steps for 'frst'"),
        ('start = "first"', 'start = "first"\nmore = 1', "unknown key"),
        (
            'second = { yours = "p", first = "1-p" }',
            'second = { yours = "p", lost = "1-p" }\nlost = { lost = "1" }',
            "never end",
        ),
        ('yours = "p", first', 'yours = "2*p", lost = "-p", first', "ends|may end"),
    ],
)
def test_other_automata_are_refused(before: str, after: str, message: str, tmp_path: Path) -> None:
    """An automaton that ends otherwise, or maybe never, replaces nothing; the place and both are told."""
    assert before in SUBROUTINES
    with pytest.raises(InputError, match=message):
        written(tmp_path, SUBROUTINES.replace(before, after, 1))


def test_automata_are_distributions(tmp_path: Path) -> None:
    """Probabilities that are negative somewhere are refused, though the ends agree as functions."""
    negative = 'second = { yours = "p", first = "1-p", third = "1", fourth = "-1" }\n'
    same = 'third = { first = "1" }\nfourth = { first = "1" }'
    text = SUBROUTINES.replace('second = { yours = "p", first = "1-p" }', negative + same, 1)
    with pytest.raises(InputError, match=r"negative|needs one sign"):
        verify(written(tmp_path, text))


def test_subroutines_are_told() -> None:
    """The command says which steps were replaced, in words and in JSON."""
    path = str(FOLDER / "survey-subroutines.toml")
    step = "the hidden step of 'find none'"
    line = f"  Subroutine: {step} is replaced by an automaton with 2 steps that ends alike."
    assert line in called("interactive", path).out.splitlines()
    told = json.loads(called("interactive", path, "--json").out)
    assert told["subroutines"] == [{"state": f"find {which}", "states": 2} for which in ("none", "one")]


# --- several data points --------------------------------------------------------------------------


def test_several_data_points(tmp_path: Path) -> None:
    """n data points have the ratio to the power n (Proposition 13), where the bound is proved for one."""
    path = str(FOLDER / "slots-2.toml")
    line = (
        "  Up to 3 data points (Proposition 13): let at most 3 insertions of data points make the inputs"
        " w and w' equal. Then Pr(S | w) <= 4096 * Pr(S | w') for every set S of observable traces."
    )
    assert called("interactive", path, "--points", "3").out.splitlines()[-1] == line
    told = json.loads(called("interactive", path, "--points", "3", "--json").out)["points"]
    assert (told["count"], told["ratio"], f"  {told['statement']}") == (3, "4096", line)
    function = called("interactive", str(FOLDER / "survey.toml"), "--points", "2", "--json")
    assert json.loads(function.out)["points"]["ratio"] == "1/(1 - p)^2"
    assert "Pr(S | w) <= 1 * Pr" in called("interactive", path, "--points", "0").out
    never = called("interactive", str(FOLDER / "slots-2-never-full.toml"), "--points", "2").out
    assert "equal, and let the environment give every sequence in between." in never
    violated = called("interactive", str(FOLDER / "slots-2-full.toml"), "--points", "2", "--json")
    assert violated.code == 1
    assert json.loads(violated.out)["points"]["ratio"] is None
    assert "points" not in json.loads(called("interactive", path, "--json").out)


def test_several_data_points_by_enumeration(tmp_path: Path) -> None:
    """No observation passes ratio^n for inputs with n more data points; three of them pass ratio^1."""
    case = written(tmp_path, case_text(1, 2, reach=2))
    plain = Enumeration(case.system)
    actions = case.system.actions
    ask = actions.names.index("sum")
    low, high = (actions.names.index(f"point {v}") for v in (-1, 1))
    pairs = [((ask,), (high, high, ask)), ((low, low, ask), (high, high, ask)), ((ask,), (high, ask))]
    for (left, right), points in zip(pairs, (2, 4, 1), strict=True):
        one, other = plain.given(left), plain.given(right)
        assert one.keys() == other.keys()
        largest = max(max(one[t] / other[t], other[t] / one[t]) for t in one)
        assert largest <= 4**points
        if points > 1:
            assert largest >= 4


@pytest.mark.parametrize(
    ("condition", "column"),
    [("n0 = n0' && true", 10), ("n0 = n0' & n1 +", 15), ("visitors = visitors' & ! )", 25)],
)
def test_a_mistake_in_a_condition_is_shown_as_it_was_written(condition: str, column: int) -> None:
    """The text under a mistake is the user's, and the mark stands in it, whatever words signs stand for."""
    with pytest.raises(ExpressionError) as error:
        read_condition(condition)
    assert error.value.text == condition
    assert error.value.column == column


TAKEN = """
[system]
initial = "w"
data = ["d"]
queries = ["q"]
responses = ["x", "y"]
hidden = ["t"]
[system.steps.w]
d = "v"
q = "h"
[system.steps.v]
d = "v"
q = "h: a"
[system.steps.h]
t = { rx = "1/2", ry = "1/2" }
[system.steps."h: a"]
t = { rx = "1/3", ry = "2/3" }
[system.steps.rx]
x = "w"
[system.steps.ry]
y = "w"
[privacy]
ratio = "3/2"
[[subroutines]]
state = "h"
start = "a"
[subroutines.steps]
a = { rx = "1/2", ry = "1/2" }
[[subroutines]]
state = "h: a"
start = "a"
[subroutines.steps]
a = { rx = "1/3", ry = "2/3" }
"""


def test_a_name_of_a_subroutine_that_is_taken(tmp_path: Path) -> None:
    """Where a state has the name of a step of an automaton, the step gets another: all names differ."""
    path = tmp_path / "case.toml"
    path.write_text(TAKEN)
    names = load(path).system.states
    assert len(set(names)) == len(names)
    assert {"h: a", "h: a'", "h: a: a"} <= set(names)
    out = called("interactive", str(path)).out
    assert out.startswith("private: ")
    assert "the hidden step of 'h: a' is replaced by an automaton with 1 step that ends alike" in out
    path.write_text(TAKEN[: TAKEN.rindex("a = {")] + 'a = { rx = "1/2", ry = "1/2" }\n')
    # The step of the state of the case is meant, and not that of the first automaton.
    assert "for 'h: a' ends in 'rx' with 1/2, the step with 1/3" in called("interactive", str(path)).err
