"""The second reader of automata: it agrees with the first one on every text, and sees every change."""

from __future__ import annotations

import random
import re

import pytest
from automaton_oracle import SIGNS, random_text

from paramverify.automata.automaton import parse_automaton
from paramverify.automata.automaton_evidence import machine
from paramverify.errors import InputError
from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.rereader import second_streams
from paramverify.rereader.second_streams import compare


@pytest.mark.parametrize("geometric", [False, True])
def test_random_texts(geometric: bool) -> None:
    """Both readers read random texts alike: what is left of guards, and which branches are never taken."""
    never = read = 0
    for seed in range(250):
        text = random_text(random.Random(seed), geometric)
        try:
            automaton = parse_automaton(text)
        except InputError:
            continue
        read += 1
        never += any(step.never for step in automaton.transitions)
        compare(machine(automaton), text)
    assert read > 100
    assert never > 20


def test_every_change_is_seen() -> None:
    """A text in which one sign, rate, word or name is another one is not the text of the evidence."""
    text = (
        "noise geometric\n"
        "(q2, 1/4, 0, 1/3, 1): if (insample < x && insample >= y) then output oa; goto q2\n"
        "  elseif (insample > x) then y := insample; output insample'; goto q3\n"
        "(q1:non-input, 1/2, -1): x := insample, y := insample; output oc; goto q2\n"
    )
    data = machine(parse_automaton(text))
    compare(data, text)
    compare(data, "# a comment\n" + text.replace("1/4", "0.5/2").replace("insample'", "insampleprime"))
    changes = [
        *(
            (match.span(), sign)
            for match in re.finditer(r"[<>]=?", text)
            for sign in SIGNS
            if sign != match[0]
        ),
        *((match.span(), "7") for match in re.finditer(r"\b[0-9]\b", text)),
        *((match.span(), "") for match in re.finditer(r":non-input|noise geometric|&& insample >= y", text)),
        *((match.span(), "oz") for match in re.finditer(r"\bo[ac]\b|insample'", text)),
        *((match.span(), "z") for match in re.finditer(r"\b[xy]\b", text)),
        *((match.span(), "q4") for match in re.finditer(r"q[123]", text)),
    ]
    for (start, end), new in changes:
        changed = text[:start] + new + text[end:]
        with pytest.raises((Rejected, UnreadCase)):
            compare(data, changed)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "q1",
        "(q1, 1, 0): output",
        "(q1, 1, 0): if (x) then output a; goto q1",
        "x (q1, 1, 0): output oa; goto q1",
        "noise gauss (q1, 1, 0): output oa; goto q1",
        "(q1, 1, 0): output oa; goto q1 (q1, 1, 0): output oa; goto q1",
        "(q1, 1, 0): output oa; goto q1 (q2, 1, 0):",
        "(q1, 1, 0): output oa; goto q1 output oa; goto q1",
        "(q1, 1, 0): elseif (insample < x) then output oa; goto q1",
        "(q1, 1, 0, 2): output oa; goto q1",
        "(q1, 1): output oa; goto q1",
        "(q1, 1/0, 0): output oa; goto q1",
        "(q1, 1, 0/0.0): output oa; goto q1",
        "(q1, one, 0): output oa; goto q1",
        "(q1, 1, 0): if (insample < x) then output oa; goto q1 if (insample >= x) then output ob; goto q1",
        "(q1, 1, 0): output oa; goto q1 elseif (insample >= x) then output ob; goto q1;;",
        "(q1, 1, 0): if (insample < x || insample < y) then output oa; goto q1",
    ],
)
def test_what_is_not_read(text: str) -> None:
    """A text of another form is not read, so it is never taken for an automaton."""
    with pytest.raises((UnreadCase, Rejected)):
        second_streams.read(text)


def test_more_transitions() -> None:
    """Evidence with a transition more, or one less, is not about the text."""
    text = (
        "(q1, 1, 0): x := insample; output oa; goto q2 (q2, 2, 0): if (insample < x) then output ob; goto q2"
    )
    data = machine(parse_automaton(text))
    compare(data, text)
    for steps in (data["transitions"] * 2, data["transitions"][:1], []):
        with pytest.raises(Rejected, match="the number of transitions"):
            compare(data | {"transitions": steps}, text)


def test_two_comparisons_with_one_value() -> None:
    """Both comparisons count: together they may be one, or never be true."""
    first = "noise geometric (q1, 1, 0): x := insample; output oa; goto q2 (q2, 1, 0): if "
    rest = " then output ob; goto q2"
    for guard, same in (
        ("insample <= x && insample < x", "insample < x"),
        ("insample < x && insample > x", ""),
    ):
        data = machine(parse_automaton(f"{first}({guard}){rest}"))
        compare(data, f"{first}({guard}){rest}")
        if same:
            compare(data, f"{first}({same}){rest}")
        with pytest.raises(Rejected):
            compare(data, f"{first}(insample <= x){rest}")
    text = f"{first}(insample <= x && insample >= x){rest} elseif (insample > y) then output oc; goto q2"
    text = text.replace("x := insample", "x := insample, y := insample")
    compare(machine(parse_automaton(text)), text)  # that it is not equal to x is no comparison
