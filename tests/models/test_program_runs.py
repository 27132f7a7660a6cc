"""The runs that produce an output: their lines and their probabilities, against plain enumeration."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from line_oracle import LineOracle, OutcomeOracle, telling_lines
from program_oracle import Maker, labelled

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring, value_at
from paramverify.errors import ProgramError, SizeError
from paramverify.models.context import Checks
from paramverify.models.programs import run_traces
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import outputs_of
from paramverify.models.programs.run_states import Unread
from paramverify.models.programs.run_traces import Explainer, RunPath

ALPHA = Fraction(1, 10)
REACH = 2  # noise beyond it has the weight 10 ** -3 or so
Q = (Unread(0), Unread(1))


def _checks() -> Checks:
    return Checks(box_domain(Ring(("a",)), {"a": Interval(Fraction(0), Fraction(1))}))


def _at(path: RunPath) -> Fraction:
    top, bottom = path.probability.numerator, path.probability.denominator
    return value_at(top, {"a": ALPHA}) / value_at(bottom, {"a": ALPHA})


def _all(text: str, values: tuple[int, int]) -> dict[tuple[object, ...], list[RunPath]]:
    """Returns the paths to each output of a program."""
    program, checks, inputs = read_program(text), _checks(), tuple(map(Fraction, values))
    try:
        (row,) = outputs_of(program, {"q": Q}, [inputs], checks)
        return {
            tuple(map(labelled, told)): Explainer(
                program, {"q": Q}, checks, shown_output(told), shown_output
            ).paths(inputs)
            for told, _ in row
        }
    except (ProgramError, SizeError):  # not in the language, or too many runs
        assume(False)
        raise


def _by_lines(text: str, values: tuple[int, int]) -> dict[object, Fraction]:
    """Returns the probability of each output by each sequence of telling lines, from the paths."""
    telling = telling_lines(text)
    found: dict[object, Fraction] = {}
    for told, paths in _all(text, values).items():
        for path in paths:
            what = told, tuple(step.line for step in path.steps if step.line in telling)
            found[what] = found.get(what, Fraction(0)) + _at(path)
    return {what: share for what, share in found.items() if share}


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(0, 10**9), st.tuples(st.integers(-1, 2), st.integers(-1, 2)))
def test_runs_equal_enumeration(seed: int, values: tuple[int, int]) -> None:
    """Python takes the same lines with the same probability, for each output of a random program."""
    text = Maker(seed, noise=False).text()
    found = _by_lines(text, values)
    assert found == LineOracle(ALPHA, REACH).runs(text, {"q": list(values)}), text


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(0, 10**9))
def test_runs_with_noise_equal_truncated_sums(seed: int) -> None:
    """With unbounded geometric noise the same, up to what lies beyond the reach of the enumeration."""
    text = Maker(seed, noise=True).text()
    found = _by_lines(text, (0, 1))
    wanted = LineOracle(ALPHA, REACH).runs(text, {"q": [0, 1]})
    for what in {*found, *wanted}:
        assert abs(found.get(what, Fraction(0)) - wanted.get(what, Fraction(0))) <= Fraction(10, 10**REACH)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(0, 10**9))
def test_paths_on_two_inputs_agree(seed: int) -> None:
    """Paths sum to their output, and a path followed on another input is one of those found there."""
    text, checks = Maker(seed, noise=True).text(), _checks()
    here, there = (Fraction(0), Fraction(1)), (Fraction(1), Fraction(-1))
    program = read_program(text)
    try:
        (row, _) = outputs_of(program, {"q": Q}, [here, there], checks)
    except ProgramError:
        assume(False)
    for told, share in row:
        explainer = Explainer(program, {"q": Q}, checks, shown_output(told), shown_output)
        paths, others = explainer.paths(here), explainer.paths(there)
        assert sum((p.probability for p in paths[1:]), start=paths[0].probability) == share
        known = {path.keys: path.probability for path in others}
        assert [explainer.along(path, there)[0] for path in paths] == [known.get(p.keys) for p in paths]


FUNCTIONS = """
def even(x):
    if x % 2 == 0:
        return True
    return False
def small(x):
    return x < 2 and flip(1/4) or x < 0
"""
TESTS = (
    *("{c} and even({v})", "even({v}) or {c}", "({c} if even({v}) else small({v}))", "not even({v}) or {c}"),
    *("0 <= 1 <= even({v})", "even({v}) and small({v}) and {c}", "even({v}) == small({v})", "{c}"),
)


def _with_calls(seed: int) -> str:
    """Returns a random program whose tests call functions of its own."""
    choose = random.Random(seed)
    lines, outside = [], False
    for line in Maker(seed, noise=False).text().split("\n"):
        outside = outside or line == "n = 0"
        name = "n" if outside else "x"
        found = re.fullmatch(r"( *)(if|while) (.*):( \w+)?", line)
        if found:
            margin, word, condition, rest = found.groups()
            bound, _, last = condition.partition(" and ") if word == "while" else ("", "", condition)
            test = choose.choice(TESTS).format(c=f"({last})", v=name)
            line = f"{margin}{word} {f'{bound} and ' * bool(bound)}({test}):{rest or ''}"
        lines.append(line)
    told = choose.choice(["even(n) and small(n) or even(n + 1)", "1 if even(n) else small(n)"])
    return FUNCTIONS + "\n".join([*lines, f"k = {told}", "output(k)"])


@pytest.mark.slow
@settings(max_examples=12)
@given(st.integers(0, 10**9), st.tuples(st.integers(-1, 2), st.integers(-1, 2)))
def test_outcomes_of_tests_equal_enumeration(seed: int, values: tuple[int, int]) -> None:
    """Each test of an `if` or `while` is told once, with Python's outcome, where it calls functions too."""
    text = _with_calls(seed)
    found: dict[object, Fraction] = {}
    try:
        known = _all(text, values)
    except SizeError:
        assume(False)
    for told, paths in known.items():
        for path in paths:
            what = told, tuple((s.line, s.taken) for s in path.steps if s.taken is not None)
            found[what] = found.get(what, Fraction(0)) + _at(path)
    found = {what: share for what, share in found.items() if share}
    assert found == OutcomeOracle(ALPHA, REACH).runs(text, {"q": list(values)}), text


def test_a_test_with_calls_is_one_line() -> None:
    """The parts of a test are told with it, and not as lines of their own."""
    text = (
        "def even(x):\n    return x % 2 == 0\nk = 0\nwhile k < 2 and even(q[0]) and even(q[1]):\n    k += 1\n"
    )
    (path,) = _explainer(text + "output(1)", "1").paths((Fraction(0), Fraction(2)))
    assert [(s.line, s.taken) for s in path.steps] == [(4, True), (4, True), (4, False), (6, None)]


SPARSE = """
T = geometric(a)
for x in q:
    if x + geometric(a) >= T:
        output("above")
        stop
    output("below")
"""


def _explainer(text: str, target: str) -> Explainer:
    return Explainer(read_program(text), {"q": Q}, _checks(), target, shown_output)


def test_a_run_is_told_line_by_line() -> None:
    """A run has its lines, what loops give, the outcome of each test, and the region of noise."""
    (path,) = _explainer(SPARSE, "below, above").paths((Fraction(-1), Fraction(0)))
    assert [(s.line, s.taken, s.words) for s in path.steps] == [
        (2, None, ()),
        (3, None, ("x = -1",)),
        (4, False, ("geometric(a) < T + 1",)),
        (7, None, ()),
        (3, None, ("x = 0",)),
        (4, True, ("geometric(a) >= T",)),
        (5, None, ()),
    ]


WORDS = {
    "x = q[0] + geometric(a)\ny = geometric(a)\nif x + y > 3:\n    output(1)": "x + y > 3",
    "y = [q[0] + geometric(a), 0]\nif y[0] != 2:\n    output(1)": "y[0] != 2",
    "x = max(geometric(a), 2)\nif not x > 2:\n    output(1)": "geometric(a) < 2",
    "if geometric(a) > geometric(a):\n    output(1)": (
        "draw 1 of geometric(a) at line 1 > draw 2 of geometric(a) at line 1"
    ),
    "x = 2 * geometric(a) + 1\nif 3 >= x:\n    output(1)": "2*(geometric(a) at line 1) <= 2",
    "x = -geometric(a)\nif x <= 3:\n    output(1)": "geometric(a) at line 1 >= -3",
    "x = uniform(0, 1)\nif x:\n    output(1)": "uniform(0, 1) is 1",
    'x = choice({"no": 1/2, "yes": 1/2})\nif x != "no":\n    output(1)': (
        'choice({"no": 1/2, "yes": 1/2}) is "yes"'
    ),
    "x = geometric(a)\ny = -x\nif geometric(a) < 3 - y:\n    output(1)": (
        "geometric(a) < (geometric(a) at line 1) + 3"
    ),
    "output(clamp(geometric(a), 0, 4) - 1)": "geometric(a) == 2",
}


@pytest.mark.parametrize("text", WORDS)
def test_regions_are_told_in_words(text: str) -> None:
    """A comparison with noise is told by the variable that has it, or by the draw and its line."""
    words = [
        word
        for path in _explainer(text, "1").paths((Fraction(0), Fraction(0)))
        for s in path.steps
        for word in s.words
    ]
    assert WORDS[text] in words


def test_a_path_on_another_input() -> None:
    """The same path has its probability there, or the step at which it is impossible."""
    here, there = (Fraction(-1), Fraction(0)), (Fraction(0), Fraction(-1))
    explainer = _explainer(SPARSE, "below, above")
    (path,), (other,) = explainer.paths(here), explainer.paths(there)
    share, step = explainer.along(path, there)
    assert share == other.probability
    assert step == len(path.steps)
    bare = _explainer(SPARSE.replace("x + geometric(a)", "x"), "below, above")
    (path,) = bare.paths(here)
    assert bare.along(path, there) == (None, 5)
    assert path.steps[5].line == 4
    told = _explainer("x = q[0] + 1\noutput(x)", "1")
    (path,) = told.paths((Fraction(0), Fraction(0)))
    assert told.along(path, (Fraction(1), Fraction(0))) == (None, 0)


def test_too_many_runs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is bounded: beyond it there is no path, and never a part of them."""
    text = "n = 0\nfor k in range(6):\n    n = n + uniform(0, 1)\noutput(n)"
    assert len(_explainer(text, "3").paths((Fraction(0), Fraction(0)))) == 20
    monkeypatch.setattr(run_traces, "MAX_WORK", 100)
    with pytest.raises(SizeError, match="too many runs"):
        _explainer(text, "3").paths((Fraction(0), Fraction(0)))
