"""Theorems about cases with a delta: what is written, and what Coq accepts and rejects."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from tools.theorem_tools import about, case_of, needs_coq, refusals, written

from paramverify.reports.theorems.coq_domains import number_text
from paramverify.reports.theorems.coq_words import named


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "claim"),
    [
        (
            "geometric-independent",
            "approximate_pufferfish (at_values [p]) (worlds_of prior) mechanism ((3 / 2)) ((1 / 6)) secrets",
        ),
        (
            "noisy-max",
            "(approximately_private (at_values [exp (1)]) mechanism ((exp (1))) ((7 / 100)) neighbours)%R",
        ),
        (
            "family-delta",
            "(sequences_approximately_private (at_values [p; alpha]) model [1]%nat (2) ((1 / 3)) secrets)%R",
        ),
    ],
)
def test_words(name: str, claim: str) -> None:
    """The theorem is about all sets of outputs: under a prior, for neighbours, and of a program."""
    text = written(f"approximate/{name}")
    assert claim in text
    assert "Definition delta : expression" in text
    assert "  parts := proofs_of" in text


QUOTIENT = """
[parameters]
f = "(0, 1)"
[prior]
delta = { bernoulli = "f / (1 + f)" }
[mechanism]
kind = "randomized_response"
query = "delta"
truth = "2/3"
[secrets]
yes = "delta == 1"
no = "delta == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = "3/2"
delta = "1/4"
"""


@needs_coq
@pytest.mark.slow
def test_coq_accepts(tmp_path: Path) -> None:
    """Coq accepts theorems about priors, about neighbours with exp(1) as the bound, and about a program.

    A prior that divides by a parameter is told by its model; a parameter may have any name.
    """
    names = ("noisy-max", "shuffled-responses")
    divided = about(case_of(QUOTIENT))
    assert "a probability is divided by a parameter" in divided
    own = about(case_of(QUOTIENT.replace("f / (1 + f)", "f")))
    assert "Definition delta_ (w : world)" in own
    files = [*(written(f"approximate/{name}") for name in names), divided, own]
    assert refusals(files, tmp_path) == [""] * len(files)


COUNT = """
[mechanism]
kind = "geometric"
noise = {{ truncated_geometric = "1/2", range = {top} }}
[neighbours]
differ = "one"
[privacy]
ratio = "{ratio}"
delta = "{delta}"
"""


def geometric(answer: int, top: int) -> list[Fraction]:
    """Returns the probabilities of all outputs, by the sum over all noise that is cut off at the ends."""
    half = Fraction(1, 2)
    near = {d: Fraction(1, 3) * half ** abs(d) for d in range(-top, top + 1)}
    beyond = Fraction(1, 3) * half  # of all noise more than d away, over the probability of d
    found = [near[o - answer] for o in range(top + 1)]
    found[0] += beyond * 2 * half**answer
    found[top] += beyond * 2 * half ** (top - answer)
    assert sum(found) == 1
    return found


def least_delta(top: int, ratio: Fraction) -> Fraction:
    """Returns the least delta over all neighbours and all sets of outputs, one by one."""
    return max(
        sum((p - ratio * q for p, q, taken in zip(left, right, chosen, strict=True) if taken), Fraction(0))
        for x in range(top + 1)
        for y in (x - 1, x + 1)
        if 0 <= y <= top
        for left, right in [(geometric(x, top), geometric(y, top))]
        for chosen in product((False, True), repeat=top + 1)
    )


@needs_coq
@pytest.mark.slow
def test_least_delta(tmp_path: Path) -> None:
    """Coq accepts the least delta, found by brute force over all sets, and none that is smaller."""
    top, ratio = 2, Fraction(3, 2)
    delta = least_delta(top, ratio)
    assert 0 < delta < 1
    text = about(case_of(COUNT.format(top=top, ratio=ratio, delta=delta)))
    words = f"({delta.numerator} / {delta.denominator})"
    smaller = text.replace(words, f"({delta.numerator * 99} / {delta.denominator * 100})")
    assert smaller.count(f"({delta.numerator * 99} / ") == text.count(words) >= 2
    assert refusals([text, smaller], tmp_path) == ["", "Qed."]


@needs_coq
@pytest.mark.slow
def test_coq_rejects_wrong_numbers(tmp_path: Path) -> None:
    """Coq rejects other terms, other proofs of their signs, no sums at all, and other noise."""
    text = written("approximate/geometric-contagious")
    found = re.search(r'sums_of 1 \["([^"]*)"%string\]', text)
    assert found is not None
    numbers = found[1].split()
    sign = next(k for k in range(len(numbers)) if numbers[k : k + 2] == ["1", "0"])
    wrong = {
        "a term": [*numbers[:-1], "1"],
        "a sign": [*numbers[:sign], "2", *numbers[sign + 1 :]],
        "nothing": ["0"],
    }
    changed = [text.replace(found[1], " ".join(numbers)) for numbers in wrong.values()]
    other = text.replace("truncated_geometric ((1 / 2))", "truncated_geometric ((1 / 3))")
    assert text not in (*changed, other)
    assert refusals([text, *changed, other], tmp_path) == ["", *["Qed."] * 4]


def test_no_word_is_taken() -> None:
    """What a file defines besides is no name of a case."""
    assert named(["delta", "sums"]) == {"delta": "delta_", "sums": "sums_"}


@pytest.mark.parametrize("count", [0, 7, 10_000])
def test_long_texts_are_in_parts(count: int) -> None:
    """Numbers are read back from the parts of a text, each of which is short enough for Coq."""
    numbers = [(-1) ** k * k**3 for k in range(count)]
    parts = re.findall(r'"([^"]*)"%string', number_text(numbers))
    assert [int(word) for part in parts for word in part.split()] == numbers
    assert all(len(part) < 20_000 for part in parts)
