"""Evidence with two streams of an automaton: examples with their probabilities, and gaps of few values."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from automaton_documents import Data, machine_of, state, step
from engine_documents import own, with_own
from test_automaton_claims import EXAMPLE, IDLE, LEAST, WHOLE, change, claim, document

from paramverify.kernel import automaton_ways
from paramverify.kernel.automaton_runs import machine
from paramverify.kernel.automaton_ways import StreamEntries, _told, entries_of, example, streams_of
from paramverify.kernel.documents import check_document
from paramverify.kernel.strict_reading import Rejected

EXAMPLES: list[Data] = [
    {"probabilities": [{"exact": "zero"}, {"exact": "0"}]},
    {"probabilities": [{"exact": "1/4", "lower": "1/4"}, {"exact": "1/4"}]},
    {"probabilities": [{"exact": "1/4", "upper": "1/4"}, {"exact": "1/4"}]},
    {"output": "other"},
    {"between": ["1", "2"]},
    {"numbers": [0, 0]},
    {"streams": [["0"], ["0"]], "probabilities": [{"exact": "1/4"}, {"exact": "1/4"}]},
    {"streams": [["1"], ["0"]], "probabilities": [{"exact": "1/8"}, {"exact": "1/4"}]},
    {"probabilities": [{"exact": "1/4"}, {"exact": "1/8", "lower": "1/8", "upper": "1/8"}]},
    {"probabilities": [{}, {"exact": "1/8"}]},
]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples(number: int) -> None:
    """The way and the streams of an example are possible, and its numbers are those of the way."""
    given = change("an example", example=EXAMPLE)
    assert check_document(given).accepted, check_document(given).lines
    own(given)["example"] |= EXAMPLES[number]
    assert not check_document(given).accepted


@pytest.mark.parametrize("second", [False, True])
def test_examples_with_means(second: bool) -> None:
    """Noise is around the entry plus the mean, of insample' around its own mean."""
    source = state(rate="3", mean="9", second=["1/2", "1"]) if second else state(rate="1/2", mean="1")
    data = machine_of([source, state()], [step(0, 1, "insample'" if second else "insample")])
    numbers = [{"exact": "1/4"}, {"exact": "1/8"}]
    more = {"probabilities": numbers, "between": ["0", "1"], "numbers": [0]}
    given = change("an example", automaton=data, example=EXAMPLE | more)
    assert "computed again" in check_document(given).lines[-1]
    own(given)["example"]["probabilities"].reverse()
    assert not check_document(given).accepted


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(9, 10), Fraction(1, 1000)])
def test_numbers_between_two(chance: Fraction) -> None:
    """A number that is told between two others is compared to twelve digits."""
    for factor, right in ((0, True), (9, True), (-9, True), (12, False), (-12, False), (10**12, False)):
        middle = chance / (1 + factor * Fraction(1, 10**13))
        near = [str(middle * (1 + sign * Fraction(1, 10**13))) for sign in (-1, 1)]
        for ends in (near, [str(middle), str(middle)]):
            low, high = _told({"lower": ends[0], "upper": ends[1]})
            assert (low <= chance <= high) == right
    for low, high in ((1, -1), (0, 2), (-1, 1), (-9, 9)):
        ends = [str(chance * (1 + end * Fraction(1, 10**12))) for end in (low, high)]
        with pytest.raises(Rejected):
            _told({"lower": ends[0], "upper": ends[1]})
    most = str(chance * (1 - Fraction(1, 10**12)))
    assert _told({"lower": most, "upper": str(chance)})[1] == chance * (1 + Fraction(1, 10**12))
    for exact in (chance + 1, -chance):
        with pytest.raises(Rejected):
            _told({"exact": str(exact)})


WIDE = [
    [{"lower": "0", "upper": "1/2"}, {"lower": "0", "upper": "1/2"}],
    [{"lower": "1/4", "upper": "1/2"}, {"exact": "1/8"}],
    [{"exact": "1/4"}, {"lower": "0", "upper": "1/8"}],
    [{"lower": "1/4", "upper": "1/4"}, {"lower": "1/8", "upper": "1/8"}],
]


@pytest.mark.parametrize("numbers", WIDE)
def test_bounds_that_are_wide(numbers: list[Data]) -> None:
    """Bounds of a probability are near to each other, and the loss exceeds the budget for all between."""
    given = change("an example", claim=claim("1/2"), least=LEAST, example=EXAMPLE)
    own(given)["example"]["probabilities"] = numbers
    assert not check_document(given).accepted
    own(given)["claim"]["multiple"] = "0"
    assert check_document(given).accepted == (numbers == WIDE[3])


def losing(multiple: str, first: Any, second: Any, plus: str = "0", step: str = "1", at: str = "1/2") -> bool:
    """Whether two probabilities exceed a budget at eps = -ln(at) divided by the step, for the kernel."""
    told = [p if isinstance(p, dict) else {"exact": p} for p in (first, second)]
    numbers: Data = {"probabilities": told, "at": at, "step": step}
    numbers |= {"steps": [0] * 13, "streams": [[], []]}  # long: not integrated
    try:
        example(
            machine(IDLE),
            EXAMPLE | numbers,
            StreamEntries(None, Fraction(1), False),
            (Fraction(multiple), Fraction(plus)),
        )
    except Rejected:
        return False
    return True


def test_a_loss_that_is_the_budget() -> None:
    """A loss that is equal to the budget does not exceed it, and one that is larger by little does."""
    assert not losing("1", "1/4", "1/8")
    assert not losing("2", "1/2", "1/8")
    assert not losing("0", "1/8", "1/8")
    assert not losing("0", "0", "0")
    assert not losing("1", "1/4", "1/8", "1/1000000")
    assert losing("1", "1/4", "1249999/10000000")
    assert losing("999999/1000000", "1/4", "1/8")
    assert losing("9", "1/4", "0")
    larger, smaller = str(Fraction(10**13 + 5, 4 * 10**13)), str(Fraction(10**13 - 5, 8 * 10**13))
    assert losing("1", larger, "1/8")
    assert losing("1", "1/4", smaller)
    assert not losing("1", {"lower": larger, "upper": larger}, "1/8")
    assert not losing("1", "1/4", {"lower": smaller, "upper": smaller})
    for by, ratio in (("1/2", Fraction(4)), ("2", Fraction(14142135, 10**7)), ("1/3", Fraction(8))):
        least = 1 / (ratio * (1 + Fraction(1, 10**6)))
        assert [losing("1", "1", str(x), step=by) for x in (1 / ratio, least)] == [False, True]
    for base, k in itertools.product((2, 3, 5, 7), range(1, 6)):  # equal, however logarithms are rounded
        assert not losing(f"1/{k}", "1", f"1/{base}", at=f"1/{base**k}")
        assert not losing(str(k), "1", f"1/{base**k}", at=f"1/{base}")


@pytest.mark.parametrize(
    ("at", "step"), [("1", "1"), ("3/2", "1"), ("0", "1"), ("-1/2", "1"), ("1/2", "0"), ("1/2", "-1")]
)
def test_where_examples_are(at: str, step: str) -> None:
    """The number stands for exp(-step*eps), and step and eps are positive."""
    given = change("an example", example=EXAMPLE | {"at": at, "step": step})
    assert "an example is at a number between 0 and 1" in check_document(given).lines[0]


def test_every_other_output_where_a_run_may_end() -> None:
    """The end of a run is no output: it does not count as one of the other outputs."""
    chances = [str(Fraction(1 - (2 + x * math.log(2)) / 4 * 2**-x)) for x in (3, 2)]
    for guards in (1, 2):
        steps = [step(0, 1, "a", stored=[0]), step(1, 2, "b", below=[0]), step(1, 2, "c", above=[0])]
        data = machine_of([state(False), state(), state()], steps[: guards + 1])
        way = {"steps": [0, 1], "signs": [0, -1], "high": [[1, 0, "1"]], "low": []}
        given = document("violated", data, claim=claim("0"), least=way)
        own(given)["example"] = {
            "steps": [0, 1],
            "streams": [["3"], ["2"]],
            "at": "1/2",
            "step": "1",
            "output": "other",
            "probabilities": [{"lower": chance, "upper": chance} for chance in chances],
        }
        assert check_document(given).accepted == (guards == 2), check_document(given).lines


def test_examples_on_whole_numbers() -> None:
    """With geometric noise entries are whole numbers, in an example too."""
    given = document("violated", WHOLE, claim=claim("49/100"), least=LEAST, example=EXAMPLE)
    assert "stated, but not computed again (geometric noise)" in check_document(given).lines[-1]
    own(given)["example"]["streams"] = [["0"], ["1/2"]]
    assert "not a whole number" in check_document(given).lines[0]


# the second sample lies below the first one, and wants to lie above it under the second stream
CROSSED = machine_of([state(), state(), state()], [step(0, 1, "a", stored=[0]), step(1, 2, "b", below=[0])])
LEVELS = [["0", "1", [[1, 0, "1"]]], ["1", "2", [[1, 0, "1"]]]]
CROSSING = {"steps": [0, 1], "streams": [["2", "0"], ["0", "2"]], "point": ["2", "0"], "levels": LEVELS}
FEW = {"values": ["0", "1", "2"], "by": "2"}


def crossing(multiple: str = "199/100", **parts: Any) -> Data:
    """Evidence of a gap with the width 2."""
    return document("violated", CROSSED, claim=claim(multiple, **FEW), gap=CROSSING | parts)


def test_a_gap() -> None:
    """A gap is as wide as its levels together, without what the point costs."""
    assert check_document(crossing()).accepted
    assert check_document(crossing("0", levels=LEVELS[:1])).accepted
    assert not check_document(crossing("2")).accepted
    assert not check_document(crossing("1", levels=LEVELS[:1])).accepted
    assert check_document(crossing("99/100", point=["1", "0"])).accepted
    assert not check_document(crossing("1", point=["1", "0"])).accepted
    assert not check_document(with_own(crossing(), claim=claim("0", "one", **FEW))).accepted
    assert "about noise with densities" in check_document(change("a gap", automaton=WHOLE)).lines[0]
    equal = {"streams": [["1", "1"], ["0", "1"]], "point": ["1", "1"], "levels": LEVELS[:1]}
    assert check_document(crossing("99/100", **equal)).accepted


FALSE: list[Data] = [
    {"levels": LEVELS[::-1]},
    {"levels": [*LEVELS, ["2", "2", []]]},
    {"levels": [*LEVELS, LEVELS[1]]},
    {"levels": [["0", "3", [[1, 0, "1"]]]]},
    {"levels": [["-1", "2", [[1, 0, "1"]]]]},
    {"levels": [["2", "0", [[1, 0, "1"]]]]},
    {"levels": [["0", "0", [[1, 0, "1"]]]]},
    {"levels": [["0", "2", [[1, 0, "2"]]]]},
    {"levels": [["0", "2", [[0, 1, "1"]]]]},
    {"levels": [["0", "2", [[0, 1, "-1"]]]]},
    {"levels": [["0", "2", [[1, 0, "-1"]]]]},
    {"levels": [["2", "3", [[1, 0, "1"]]]]},
    {"levels": [["-1", "0", [[1, 0, "1"]]]]},
    {"streams": [["0", "2"], ["0", "2"]], "point": ["0", "2"]},
    {"point": ["2"]},
    {"point": ["2", "0", "0"]},
    {"steps": [0, 2]},
    {"steps": [1, 0]},
]


@pytest.mark.parametrize("number", range(len(FALSE)))
def test_gaps_that_are_none(number: int) -> None:
    """Levels do not overlap, flows follow the order, and the point lies in it."""
    report = check_document(crossing("0", **FALSE[number]))
    assert (report.accepted, "malformed" in report.lines[0]) == (False, False), report.lines


NEIGHBOURS: list[tuple[Data, list[int], list[list[str]], str]] = [
    ({}, [0, 1], [["0", "0"], ["1", "-1"]], ""),
    ({"by": "2"}, [0, 1], [["0", "0"], ["2", "-2"]], ""),
    ({"by": "any", "values": ["0", "1/2", "5"]}, [0, 1], [["0", "1/2"], ["5", "5"]], ""),
    ({"differ": "one"}, [0, 1], [["0", "7"], ["1", "7"]], ""),
    ({}, [0, 0], [["0", "0"], ["1", "1"]], "transition 0 is impossible"),
    ({}, [0, 1], [["0"], ["1", "1"]], "one entry for each"),
    ({"values": ["0", "1"]}, [0, 1], [["0", "0"], ["1", "1/2"]], "not one of the values"),
    ({}, [0, 1], [["0", "0"], ["1", "9/8"]], "the streams are not neighbours"),
    ({"values": ["0", "1", "3"]}, [0, 1], [["0", "1"], ["0", "3"]], "the streams are not neighbours"),
    ({"differ": "one"}, [0, 1], [["0", "0"], ["1", "1/9"]], "the streams are not neighbours"),
    ({"by": "any"}, [0], [["0"], ["0"]], "no largest difference"),
    *(({"by": by}, [0], [["0"], ["0"]], "a whole number, or by any") for by in ("1/2", "-1", "", "x", "²")),
]


@pytest.mark.parametrize(("entries", "steps", "streams", "told"), NEIGHBOURS)
def test_streams_of_a_way(entries: Data, steps: list[int], streams: list[list[str]], told: str) -> None:
    """Two streams have the entries of a way, which differ by what is said of them."""
    data, numbers = {"steps": steps, "streams": streams}, [[Fraction(x) for x in s] for s in streams]
    if not told:
        assert streams_of(machine(CROSSED), data, entries_of(entries)) == numbers
        return
    with pytest.raises(Rejected, match=told):
        streams_of(machine(CROSSED), data, entries_of(entries))


def test_what_is_said_of_entries() -> None:
    """The largest difference is that of two values within the limit, and twenty values are listed."""
    for values, by, reach in (("0 1/2 5", "1", "1/2"), ("1 -2", "3", "3"), ("1 -2", "2", "0")):
        assert entries_of({"values": values.split(), "by": by}).reach == Fraction(reach)
    for count, more in ((20, ""), (21, ", ... (21 values)")):
        shown = ", ".join(map(str, range(20))) + more
        told = entries_of({"values": [str(k) for k in range(count)]}).told
        assert told == f"about streams of the values {shown} whose entries differ by 1 at most each"


def test_examples_with_large_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A power (1/2)^4 has 4*2 bits, and with a limit of fewer nothing is computed again."""
    given = change("an example", example=EXAMPLE | {"at": "1/2", "step": "1/4"})
    own(given)["example"]["probabilities"] = [{"exact": "3/8"}, {"exact": "3/32"}]
    for limit, told in ((8, "computed again"), (7, "not computed again (numbers that are too large)")):
        monkeypatch.setattr(automaton_ways, "MOST_BITS", limit)
        assert check_document(given).lines[-1].endswith(told)


def test_examples_with_a_logarithm() -> None:
    """A probability with eps in it is compared to twelve digits, at eps = 2*ln(2)."""
    given = crossing("0")
    told = Fraction((1 + math.log(2)) / 8)  # (2 + eps)/4 * exp(-eps)
    own(given)["example"] = {
        "steps": [0, 1],
        "streams": [["0", "0"], ["0", "1"]],
        "at": "1/2",
        "step": "1/2",
        "output": "way",
        "probabilities": [{"exact": "1/2"}, {"lower": str(told), "upper": str(told)}],
    }
    assert "computed again" in check_document(given).lines[-1]
    own(given)["example"]["probabilities"][1] = dict.fromkeys(
        ("lower", "upper"), str(told + Fraction(1, 10**6))
    )
    assert not check_document(given).accepted


def test_examples_of_every_other_output() -> None:
    """Every output but that of the way has the rest of the probability."""
    rest = {"output": "other", "probabilities": [{"exact": "7/8"}, {"exact": "3/4"}]}
    rest |= {"streams": [["1"], ["0"]]}
    assert check_document(change("an example", claim=claim("0"), example=EXAMPLE | rest)).accepted


def test_examples_of_nothing() -> None:
    """Between two numbers in the wrong order there is nothing."""
    nothing = {"between": ["1", "0"], "probabilities": [{"exact": "0"}, {"exact": "0"}]}
    assert not check_document(change("an example", example=EXAMPLE | nothing)).accepted
    anywhere = {name: value for name, value in EXAMPLE.items() if name != "between"}
    for given, told in ((anywhere, "where they lie"), (EXAMPLE | {"step": "1"}, "the step is another one")):
        assert told in check_document(change("an example", example=given)).lines[0]


@pytest.mark.parametrize(
    ("steps", "told"), [(12, "both probabilities are computed again"), (13, "more than 12")]
)
def test_long_examples(steps: int, told: str) -> None:
    """A way with more than twelve samples is not integrated, and the line says so."""
    numbers = {"probabilities": [{"exact": "1"}, {"exact": "1"}], "streams": [[], []], "steps": [0] * steps}
    assert told in example(
        machine(IDLE), EXAMPLE | numbers, StreamEntries(None, Fraction(1), False), (Fraction(-1), Fraction(0))
    )
