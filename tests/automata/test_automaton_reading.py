"""The text form of automata: what is read, and where mistakes are told."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from automaton_oracle import random_automaton, ways

from paramverify.automata.automaton import SAMPLE, SECOND, Automaton, parse_automaton, read_automaton
from paramverify.automata.stored_values import explore
from paramverify.errors import InputError
from paramverify.reports.stream_reports import ends_lines

TEXT = """# A comment, and two states.
(q1:non-input, 1/4, -1/2): x:= insample,y := insample; output oa; goto q2

(q2,0.5,3, 1/8, 0): if (insample<= x && insample > y) then output obot; goto q2
  elseif (insample >= x) then z := insample; output insampleprime; goto q9
"""


def test_what_is_read() -> None:
    """States, rates, means, guards, stored values, outputs, and the end that has no entry."""
    automaton = parse_automaton(TEXT)
    first, second, end = automaton.states
    assert (first.name, first.reads, first.rate, first.mean) == ("q1", False, Fraction(1, 4), Fraction(-1, 2))
    assert (second.reads, second.rate, second.second) == (True, Fraction(1, 2), (Fraction(1, 8), Fraction(0)))
    assert end.name == "q9"
    assert automaton.variables == ("x", "y", "z")
    store, stay, leave = automaton.transitions
    assert (store.stored, store.compared) == ({0, 1}, frozenset())
    assert (stay.below, stay.above, stay.output, stay.target) == ({0}, {1}, "obot", 1)
    assert (leave.above, leave.stored, leave.output, leave.target) == ({0}, {2}, SECOND, 2)


def test_the_first_state() -> None:
    """A run begins in q1, wherever it stands; without one in the first state."""
    one = "(q1, 1, 0): output oa; goto q2"
    other = "(q2, 1, 0): output insample; goto q1"
    later = parse_automaton(f"{other}\n{one}")
    assert later.states[0].name == "q1"
    assert [step.output for step in later.transitions] == [SAMPLE, "oa"]  # as in the file
    assert parse_automaton("(qb, 1, 0): output insample; goto qa").transitions[0].output == SAMPLE


def test_guards_are_tried_in_order() -> None:
    """A later guard gets what excludes an earlier one; one that is never reached keeps its number."""
    start = "(q1, 1, 0): x := insample, y := insample; output oa; goto q2\n(q2, 1, 0): "
    one = "if (insample < x) then output oa; goto q2"
    both = parse_automaton(f"{start}{one} elseif (insample > y) then output ob; goto q2").transitions
    assert (both[2].above, both[2].below) == ({0, 1}, frozenset())
    same = parse_automaton(f"{start}{one} elseif (insample <= x && insample > y) then output ob; goto q2")
    assert [step.never for step in same.transitions] == [False, False, True]
    assert len(explore(same).edges) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the text has no state"),
        ("(q1, 1, 0) output oa; goto q2", "line 1, column 12: : is expected, not 'output'"),
        ("(q1, 0, 0): output oa; goto q2", "line 1: the rate of q1 must be positive"),
        ("(q1, 1/0, 0): output oa; goto q2", "line 1: a number is divided by zero"),
        ("(q1, 1): output oa; goto q2", "line 1: q1 needs a rate and a mean"),
        ("(q1, x, 0): output oa; goto q2", "line 1, column 6: a number such as 1/4 is expected, not 'x'"),
        (
            "(q1, 1, 0): output oa; goto q2\n(q1, 1, 0): output oa; goto q2",
            "line 2: the state q1 is there twice",
        ),
        ("(q1, 1, 0): output insample'; goto q2", "line 1: q1 has no rate and no mean for insample'"),
        ("(q1, 1, 0): output goto; goto q2", "line 1, column 20: an output is expected, not 'goto'"),
        (
            "(q1, 1, 0): if (insample < x) then output oa; goto q2",
            "line 1: x is compared, and nothing is stored",
        ),
        (
            "(q1, 1, 0): if (x < insample) then output oa; goto q2",
            "line 1, column 17: insample is expected, not 'x'; write insample > x",
        ),
        ("(q1, 1, 0): output oa; goto q2\n@", "line 2, column 1: '@' is not expected"),
        ("(q1, 1, 0): x := insample; output oa; goto", "line 1, column 43: the name of a state is expected"),
        (
            "(q1, 1, 0): if (insample < 3) then output oa; goto q2",
            "line 1, column 28: a variable is expected, not",
        ),
        (
            "(q1, 1, 0): output oa; goto q1\nnoise geometric",
            "line 2, column 1: ( is expected, not 'noise'; noise",
        ),
        (
            "(q1, 1, 0): x := insample; output oa; goto q2 else if",
            "line 1, column 47: ( is expected, not 'else'; write",
        ),
    ],
)
def test_mistakes(text: str, reason: str) -> None:
    """A mistake is told with its line."""
    with pytest.raises(InputError) as caught:
        parse_automaton(text)
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "(q1, 1, 0): output oa; goto q2\n"
            "(q2, 1, 0): if (insample < x) then x := insample; output oa; goto q2",
            "line 2: x is compared before a value is stored in it",
        ),
        (
            "(q1, 1, 0): x := insample; output oa; goto q2\n(q2, 1, 0): y := insample; output oa; goto q3\n"
            "(q3, 1, 0): y := insample; output oa; goto q4\n(q4, 1, 0): z := insample; output oa; goto q5\n"
            "(q5, 1, 0): if (insample < x && insample < y) then output oa; goto q5 "
            "elseif (insample < z) then output ob; goto q5",
            "line 5: two guards of q5 are true at once",
        ),
    ],
)
def test_mistakes_of_runs(text: str, reason: str) -> None:
    """What only a run shows is told with its line too."""
    with pytest.raises(InputError, match=reason):
        explore(parse_automaton(text))


def test_a_file(tmp_path: Path) -> None:
    """A mistake in a file names the file."""
    path = tmp_path / "a.dipa"
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"a\.dipa: not UTF-8 text"):
        read_automaton(path)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Q2", "q2"), ("state", "stat"), ("q3", None), ("stats", "stat"), ("x", None), ("qq", None)],
)
def test_ends_and_names_that_are_meant(name: str, meant: str | None) -> None:
    """A run ends where no state has the name; a name with one other letter is told."""
    text = f"(q2, 1, 0): output oa; goto stat\n(stat, 1, 0): output oa; goto {name}"
    automaton = parse_automaton(text)
    assert [state.name for state in automaton.ends] == [name]
    told = ends_lines(automaton, explore(automaton))
    assert told[0] == f"  A run ends in: {name} (a state without an entry)."
    expected = [] if meant is None else [f"  Note: line 2 goes to {name}: did you mean {meant}?"]
    assert told[1:] == expected
    endless = parse_automaton("(q2, 1, 0): output oa; goto q2")
    assert ends_lines(endless, explore(endless)) == []


def test_only_states_that_a_run_reaches_are_ends() -> None:
    """Ends are those that ways of random automata lead to; others are told in a line of their own."""
    generator, others = random.Random(2), 0
    for _ in range(120):
        automaton = with_dead_ends(random_automaton(generator), generator)
        try:
            graph = explore(automaton)
        except InputError:
            continue  # a value is compared before it is stored
        reached = {0} | {automaton.transitions[way[-1]].target for way in ways(automaton, 5)}
        ends = {automaton.states[k].name for k in reached if not automaton.leaving[k]}
        told = "\n".join(ends_lines(automaton, graph))
        assert {state.name for state in graph.ends} == ends
        left = {state.name for state in automaton.ends} - ends
        if len(ends) > 5 or len(left) > 5:
            continue  # only the first ones are told
        assert set(re.findall(r"end\d+", "".join(re.findall("run ends in: (.*)", told)))) == ends
        assert set(re.findall(r"end\d+", "".join(re.findall("no run reaches (.*)", told)))) == left
        others += bool(left)
    assert others > 5


def with_dead_ends(automaton: Automaton, generator: random.Random) -> Automaton:
    """The automaton with some transitions into states of their own, that nothing leaves."""
    states, steps = list(automaton.states), []
    for step in automaton.transitions:
        target = step.target
        if generator.random() < 0.5:
            target = len(states)
            states.append(replace(automaton.states[0], name=f"end{target}"))
        steps.append(replace(step, target=target))
    return Automaton(tuple(states), automaton.variables, tuple(steps), automaton.noise)
