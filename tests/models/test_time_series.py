"""Mechanisms over several days: hidden chains with the secret on one day, surveys, answers under a prior."""

from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest

from paramverify.claims import Origin
from paramverify.errors import CaseError
from paramverify.evidence.witnesses import evaluate
from paramverify.privacy.cases import PrivacyCase, load

CASE = """
[parameters]
p = "(0, 1/2)"

[mechanism]
kind = "time_series"
states = ["a", "b"]
observations = ["x", "y"]
day = {day}
initial = {{ a = "2/3", b = "1/3" }}

[mechanism.transitions]
a = {{ a = "1 - p", b = "p" }}
b = {{ a = "p/2", b = "1 - p/2" }}

[mechanism.emissions]
a = {{ x = "3/4", y = "1/4" }}
b = {{ x = "1/3", y = "2/3" }}

[neighbours]
differ = "one"

[privacy]
ratio = "9"
length = "1..4"
"""

MOVES = {"a": {"a": Fraction(3, 4), "b": Fraction(1, 4)}, "b": {"a": Fraction(1, 8), "b": Fraction(7, 8)}}
EMIT = {"a": {"x": Fraction(3, 4), "y": Fraction(1, 4)}, "b": {"x": Fraction(1, 3), "y": Fraction(2, 3)}}
INITIAL = {"a": Fraction(2, 3), "b": Fraction(1, 3)}


def written(tmp_path: Path, text: str) -> PrivacyCase:
    path = tmp_path / "case.toml"
    path.write_text(text)
    return load(path)


def conditioned(word: tuple[str, ...], day: int, state: str) -> Fraction:
    """Pr(word | X_day = state) at p = 1/4, by summing over all paths."""
    joint = mass = Fraction(0)
    for path in product("ab", repeat=max(len(word), day)):
        weight = INITIAL[path[0]]
        for here, there in pairwise(path):
            weight *= MOVES[here][there]
        if path[day - 1] == state:
            mass += weight
            for here, symbol in zip(path, word, strict=False):
                weight *= EMIT[here][symbol]
            joint += weight
    return joint / mass


@pytest.mark.parametrize("day", [1, 2, 3, 4])
@pytest.mark.parametrize("length", [1, 2, 4])
def test_the_secret_is_the_state_on_one_day(tmp_path: Path, day: int, length: int) -> None:
    """The bridges to the secret's day give the conditional probabilities of every sequence."""
    model = written(tmp_path, CASE.format(day=day)).model
    for word in product("xy", repeat=length):
        witness = evaluate(model, Origin("a", "b", word), {"p": Fraction(1, 4)})
        expected = [conditioned(word, day, state) for state in "ab"]
        assert [p.rational for p in witness.probabilities] == expected


def test_truth_needs_states_as_observations(tmp_path: Path) -> None:
    """With `truth` the states themselves are released; other observations are refused."""
    text = CASE.format(day=1)
    start, end = text.index("[mechanism.emissions]"), text.index("[neighbours]")
    text = text[:start] + text[end:]
    with pytest.raises(CaseError, match="give either truth or emissions"):
        written(tmp_path, text)
    with pytest.raises(CaseError, match="with truth, the releases are the states; remove observations"):
        written(tmp_path, text.replace("day = 1", 'truth = "3/4"'))
    fine = text.replace("day = 1", 'truth = "3/4"').replace('observations = ["x", "y"]\n', "")
    assert written(tmp_path, fine).model.hmm.observations == ("a", "b")


def test_a_survey_with_memory_repeats_its_first_answer(root: Path) -> None:
    """With memory only constant sequences are possible, each as likely as its first answer."""
    model = load(root / "cases" / "survey-memory.toml").model
    point = {"p": Fraction(1, 2), "t": Fraction(3, 4)}
    for word, expected in ((("1", "1", "1"), Fraction(3, 4)), (("1", "0"), Fraction(0))):
        assert evaluate(model, Origin("yes", "no", word), point).probabilities[0].rational == expected


def test_above_threshold_under_a_prior(root: Path) -> None:
    """The joint distribution over the threshold and three answers, against a sum over all noise."""
    model = load(root / "cases" / "above-threshold-prior.toml").model
    point = {"p": Fraction(1, 3), "q": Fraction(1, 2), "t": Fraction(1, 5)}
    half = [[4, 1, 1], [2, 2, 2], [1, 1, 4]]
    quarter = [[16, 3, 1], [4, 12, 4], [1, 3, 16]]

    def expected(john: int, word: tuple[str, ...]) -> Fraction:
        total = Fraction(0)
        for other, high, noisy in product((0, 1), (0, 1), range(3)):
            weight = Fraction(1, 2) * (Fraction(1, 5) if high else Fraction(4, 5))
            weight *= Fraction(quarter[1 + high][noisy], 20)
            answers = [john + other, john + other, john]
            for answer, symbol in zip(answers, word, strict=False):
                below = Fraction(sum(half[answer][:noisy]), 6)
                weight *= below if symbol == "⊥" else 1 - below
            total += weight
        return total

    for word in (("⊤",), ("⊥", "⊤"), ("⊥", "⊥", "⊥"), ("⊥", "⊥", "⊤", "end")):
        witness = evaluate(model, Origin("ill", "well", word), point)
        assert [p.rational for p in witness.probabilities] == [expected(1, word), expected(0, word)]
