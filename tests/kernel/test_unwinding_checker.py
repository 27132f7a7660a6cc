"""The checker of evidence about interactive systems: small systems by hand, and documents that are false."""

import copy
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest
from engine_documents import NO_PARAMETERS, Json, comparison, engine_document, own, with_own
from three_checkers import asked_later

from paramverify.kernel.evidence_shapes import SIDE_CONDITION
from paramverify.kernel.ledger import Demanded, KernelReport
from paramverify.kernel.strict_reading import Rejected
from paramverify.kernel.system_witnesses import _factor
from paramverify.kernel.unwinding_evidence import matched

checked, compared_with_the_proved_checker = asked_later()

POINT, QUERY, ZERO, ONE, HIDDEN = range(5)  # the actions: a data point, a query, two answers, a silent step

# A data point changes the answer 0 from 1/4 to 1/2; there is one answer.
ROWS: list[Any] = [
    [[POINT, [[1, "1"]]], [QUERY, [[2, "1/4"], [3, "3/4"]]]],
    [[POINT, [[1, "1"]]], [QUERY, [[2, "1/2"], [3, "1/2"]]]],
    [[ZERO, [[4, "1"]]]],
    [[ONE, [[4, "1"]]]],
    [],
]
FAMILY = {"kind": "family", "delta": "2", "steps": 1, "levels": [[0, 1, 1]]}
COSTS = {"kind": "costs", "classes": [[0], [1], [2], [3], [4]], "costs": [[0, 1, "3/2"], [1, 0, "2"]]}
WITNESS = {
    "parameters": {},
    "left": [POINT, QUERY],
    "right": [QUERY],
    "place": 0,
    "trace": [QUERY, ZERO],
    "closed": False,
}


def document(
    rows: list[Any] = ROWS, ratio: Any = "2", partial: bool = False, status: str = "holds", **more: Any
) -> Json:
    system = {
        "data": ["d"],
        "queries": ["q"],
        "responses": ["0", "1"],
        "hidden": ["h"],
        "initial": 0,
        "partial": partial,
        "states": [str(k) for k in range(len(rows))],
        "rows": rows,
    }
    return engine_document(
        "unwinding", status, NO_PARAMETERS, system=system, ratio=ratio, closures=[], **more
    )


def family(ratio: Any = "2", rows: list[Any] = ROWS, **changes: Any) -> Json:
    return document(rows, ratio, proof={**FAMILY, **changes})


def costs(ratio: Any = "2", rows: list[Any] = ROWS, **changes: Any) -> Json:
    return document(rows, ratio, proof={**COSTS, **changes})


def witness(ratio: Any = "3/2", rows: list[Any] = ROWS, partial: bool = False, **changes: Any) -> Json:
    found: Json = {**WITNESS, **changes}
    if "probabilities" not in found:
        given = (found["left"], found["right"])
        found["probabilities"] = [str(chance(rows, x, found["trace"], found["closed"])) for x in given]
    return document(rows, ratio, partial, status="violated", witness=found)


def chance(rows: list[Any], inputs: list[int], trace: list[int], closed: bool, state: int = 0) -> Fraction:
    """Returns the probability of an observation, or of all that start with it, from the definition."""
    row = dict(rows[state])
    action = next(iter(row), None)
    if action in (POINT, QUERY):
        action, inputs = (inputs[0] if inputs and inputs[0] in row else None), inputs[1:]
    if not trace and (not closed or action is None):
        return Fraction(1)
    if action in (QUERY, ZERO, ONE):
        if trace[:1] != [action]:
            return Fraction(0)
        trace = trace[1:]
    moves = row.get(action, [])
    return sum((Fraction(w) * chance(rows, inputs, trace, closed, s) for s, w in moves), Fraction(0))


def accepted(given: Json) -> bool:
    report = checked(given)
    assert report.accepted == (not report.lines[0].startswith("rejected: "))
    return report.accepted


def refused(given: Json, reason: str) -> bool:
    report = checked(given)
    return not report.accepted and reason in report.lines[0]


def with_row(state: int, row: Any) -> list[Any]:
    rows = copy.deepcopy(ROWS)
    rows[state] = row
    return rows


# --- unwinding families ---------------------------------------------------------------------------


def test_a_family_says_what_it_shows() -> None:
    """The report names the family, its size and the comparisons, and everything is proved."""
    lines = ("unwinding family: 1 pair, 1 step: proved", "0 comparisons with parameters")
    assert checked(family()) == KernelReport(True, lines, 0, 0, status="holds", unit="comparison")


@pytest.mark.parametrize(
    ("delta", "steps", "ratio"),
    [*product(("1", "3/2", "2", "3"), (0, 1, 2), ("1", "3/2", "2", "3", "4", "9"))],
)
def test_steps_and_bounds(delta: str, steps: int, ratio: str) -> None:
    """The answers differ by the factor 2, so a step is at least 2; all steps are in the bound."""
    right = Fraction(delta) >= 2 and steps >= 1 and Fraction(delta) ** steps <= Fraction(ratio)
    assert accepted(family(ratio, delta=delta, steps=steps)) == right


def test_systems_in_which_nothing_changes() -> None:
    """There may be as many steps as the limit; and two classes are enough."""
    rows = [[[POINT, [[1, "1"]]], [QUERY, [[k, "1"]]]] for k in range(2)]
    for steps in (10_000, 10_001):
        given = family("1", rows, delta="1", steps=steps, levels=[[0, 1, 0]])
        assert accepted(given) == (steps == 10_000)
    assert accepted(costs("1", rows, classes=[[0], [1]], costs=[[0, 1, "1"], [1, 0, "1"]]))


# As before, with two answers one after the other; a state for each.
TWO_ANSWERS: list[Any] = [
    [[POINT, [[1, "1"]]], [QUERY, [[2, "1/4"], [3, "3/4"]]]],
    [[POINT, [[1, "1"]]], [QUERY, [[4, "1/2"], [5, "1/2"]]]],
    [[ZERO, [[0, "1"]]]],
    [[ONE, [[6, "1"]]]],
    [[ZERO, [[7, "1"]]]],
    [[ONE, [[6, "1"]]]],
    [],
    [[POINT, [[7, "1"]]], [QUERY, [[4, "1/3"], [5, "2/3"]]]],
]


def test_levels_fall_with_every_step() -> None:
    """What follows a step that is not equal needs a level less; a silent end makes pairs equal again."""
    rows = copy.deepcopy(TWO_ANSWERS)
    rows[4] = [[ZERO, [[6, "1"]]]]
    rows[2] = [[ZERO, [[6, "1"]]]]
    levels = [[0, 1, 1], [2, 4, 0], [3, 5, 0]]
    assert accepted(family(rows=rows, levels=levels))
    for missing in (1, 2):
        assert not accepted(family(rows=rows, levels=[*levels[:missing], *levels[missing + 1 :]]))
    for place in (1, 2):
        higher = copy.deepcopy(levels)
        higher[place][2] = 1
        assert refused(family(rows=rows, levels=higher), "no bijection")
    assert accepted(family("4", rows, levels=[[0, 1, 2], [2, 4, 1], [3, 5, 1]], steps=2))
    looping = [[0, 1, 1], [2, 4, 0], [3, 5, 0], [0, 7, 0]]
    assert refused(family(rows=TWO_ANSWERS, levels=looping), "no bijection")
    again = [[0, 1, 2], [2, 4, 1], [3, 5, 1], [0, 7, 1], [2, 4, 1]]
    assert not accepted(family("4", TWO_ANSWERS, levels=again, steps=2))


def test_equal_chances_of_unrelated_states_do_not_match() -> None:
    """The same answer with the same chance is not enough: what follows it has to be related too."""
    same = [[POINT, [[1, "1"]]], [QUERY, [[2, "1/4"], [3, "3/4"]]]]
    other = [[POINT, [[1, "1"]]], [QUERY, [[5, "1/4"], [3, "3/4"]]]]
    rows = [same, other, *ROWS[2:], [[ZERO, [[6, "1"]]]], [[ONE, [[6, "1"]]]]]
    assert refused(family("1", rows, delta="1", steps=0, levels=[[0, 1, 0]]), "no bijection")
    assert refused(family("9", rows, delta="2", steps=2, levels=[[0, 1, 2]]), "no bijection")
    assert refused(family("9", rows, delta="2", steps=1, levels=[[0, 1, 1], [2, 5, 0]]), "no bijection")


@pytest.mark.parametrize("turned", [False, True])
def test_factors_count_in_both_directions(turned: bool) -> None:
    """3/10 is more than twice 1/10, though 9/10 is less than twice 7/10."""
    steps = [[[2, "3/10"], [3, "7/10"]], [[2, "1/10"], [3, "9/10"]]]
    rows = copy.deepcopy(ROWS)
    for row, step in zip(rows, steps[::-1] if turned else steps, strict=False):
        row[1][1] = step
    assert refused(family("9", rows, delta="2"), "no bijection")
    assert accepted(family("9", rows, delta="3"))


def test_all_ends_of_insertions_are_covered() -> None:
    """A data point that leads to a related state with 1/2, and to another one with 1/2, is not covered."""
    rows = with_row(0, [[POINT, [[1, "1/2"], [4, "1/2"]]], ROWS[0][1]])
    rows[1] = [[POINT, [[1, "1/2"], [4, "1/2"]]], ROWS[1][1]]
    assert refused(family(rows=rows), "is not covered")
    assert refused(costs(rows=rows), "not within the bound")


def test_supports_of_two_sizes_do_not_match() -> None:
    """An answer that one state alone can give is no matter of a factor, in either direction."""
    for one, other in permutations(([[2, "1"]], [[2, "1/2"], [3, "1/2"]])):
        rows = copy.deepcopy(ROWS)
        rows[0][1][1], rows[1][1][1] = one, other
        assert refused(family("9", rows, delta="3"), "the supports have different sizes")


def test_no_variable_stands_for_a_logarithm() -> None:
    """Signs at points where a variable stands for a logarithm are not known here."""
    tied = {"variables": ["x", "e"], "box": {"x": "[1/2, 1]"}, "constraints": [], "ties": {"e": ["x", "1"]}}
    for given in (family(), costs(), witness()):
        assert refused({**given, "domains": [tied]}, "domains[0]: a variable stands for a logarithm")


def test_what_is_not_known_has_no_evidence() -> None:
    """With the status unknown there is nothing to check, whatever the document has."""
    for given in (family(), witness()):
        assert refused({**given, "status": "unknown"}, "a document that says 'unknown' has nothing to check")


def test_matching() -> None:
    """Different choices from each row are found iff some permutation makes them."""
    choices = ([], [0], [1], [0, 1], [0, 2], [1, 2], [0, 1, 2])
    for rows in product(choices, repeat=3):
        assert matched(rows) == any(
            all(k in row for k, row in zip(order, rows, strict=True)) for order in permutations(range(3))
        )


# --- costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("there", "back"), [*product(("1", "4/3", "3/2", "2", "3"), repeat=2)])
def test_costs_of_pairs(there: str, back: str) -> None:
    """Pr(.|0) ≤ 3/2·Pr(.|1) and Pr(.|1) ≤ 2·Pr(.|0) are the least costs; the bound is at least both."""
    for ratio in ("1", "3/2", "2", "3"):
        right = Fraction(3, 2) <= Fraction(there) <= Fraction(ratio)
        right = right and Fraction(2) <= Fraction(back) <= Fraction(ratio)
        assert accepted(costs(ratio, costs=[[0, 1, there], [1, 0, back]])) == right


def test_states_of_a_class_are_bisimilar() -> None:
    """A copy of a state may be in its class; one with another chance, answer or action may not."""
    for row, right in (
        ([[POINT, [[1, "1"]]], [QUERY, [[2, "1/2"], [3, "1/2"]]]], True),
        ([[POINT, [[5, "1"]]], [QUERY, [[3, "1/2"], [2, "1/2"]]]], True),
        ([[POINT, [[5, "1"]]], [QUERY, [[2, "1/3"], [3, "2/3"]]]], False),
        ([[POINT, [[5, "1"]]], [QUERY, [[2, "1"]]]], False),
        ([[POINT, [[0, "1"]]], [QUERY, [[2, "1/2"], [3, "1/2"]]]], False),
        ([[POINT, [[0, "1/2"], [5, "1/2"]]], [QUERY, [[2, "1/2"], [3, "1/2"]]]], False),
        ([[POINT, [[1, "1/2"], [5, "1/2"]]], [QUERY, [[2, "1/2"], [3, "1/2"]]]], True),
        ([], False),
    ):
        rows = [*with_row(1, [[POINT, [[5, "1"]]], ROWS[1][1]]), row]
        given = costs(rows=rows, classes=[[0], [1, 5], [2], [3], [4]])
        assert accepted(given) == right, row
        if not right:
            assert refused(given, "are not bisimilar")


def test_costs_multiply_along_steps() -> None:
    """Costs of what follows count: after both answers, 3/2 and 4 are the least costs."""
    rows = [
        [[POINT, [[1, "1"]]], [QUERY, [[2, "1/4"], [3, "3/4"]]]],
        [[POINT, [[1, "1"]]], [QUERY, [[4, "1/2"], [5, "1/2"]]]],
        [[ZERO, [[6, "1"]]]],
        [[ONE, [[8, "1"]]]],
        [[ZERO, [[7, "1"]]]],
        [[ONE, [[8, "1"]]]],
        [[POINT, [[6, "1"]]], [QUERY, [[9, "1/4"], [10, "3/4"]]]],
        [[POINT, [[7, "1"]]], [QUERY, [[9, "1/2"], [10, "1/2"]]]],
        [],
        [[ZERO, [[8, "1"]]]],
        [[ONE, [[8, "1"]]]],
    ]
    classes = [[k] for k in range(11)]
    classes[3], classes[5] = [3, 5], []
    inner = [[6, 7, "3/2"], [7, 6, "2"], [2, 4, "3/2"], [4, 2, "2"]]
    for there, back, ratio, right in (
        ("3/2", "4", "4", True),
        ("3/2", "3", "4", False),
        ("1", "4", "4", False),
        ("3/2", "4", "3", False),
    ):
        pairs = [[0, 1, there], [1, 0, back], *inner]
        assert accepted(costs(ratio, rows, classes=classes, costs=pairs)) == right
    for k in range(4):
        pairs = [[0, 1, "3/2"], [1, 0, "4"], *inner[:k], *inner[k + 1 :]]
        assert refused(costs("4", rows, classes=classes, costs=pairs), "the cost is too small")


# --- systems and documents that are none ----------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "row", "reason"),
    [
        (1, [[POINT, [[1, "1"]]], [QUERY, [[2, "1/2"], [3, "1/4"]]]], "do not sum to one"),
        (1, [[POINT, [[1, "1"]]], [QUERY, [[2, "3/2"], [3, "-1/2"]]]], "not shown to be nonnegative"),
        (1, [[POINT, [[1, "1"]]], [QUERY, [[2, "1/2"], [2, "1/2"]]]], "a successor is there twice"),
        (1, [[POINT, [[1, "1"]]], [QUERY, []]], "do not sum to one"),
        (1, [[POINT, [[1, "1"]]], [POINT, [[2, "1"]]]], "an action twice"),
        (1, [[POINT, [[1, "1"]]], [5, [[2, "1"]]]], "an action that does not exist"),
        (1, [[POINT, [[1, "1"]]], [-1, [[2, "1"]]]], "an action that does not exist"),
        (1, [[POINT, [[1, "1"]]], [True, [[2, "1"]]]], "rows[1][1][0]: must be a whole number"),
        (1, [[POINT, [[1, "1"]]], [QUERY, [[5, "1"]]]], "is not a state"),
        (1, [[POINT, [[1, "1"]]], [QUERY, [[-1, "1"]]]], "is not a state"),
        (1, [[POINT, [[1, "1"]]], [QUERY, [[True, "1"]]]], "rows[1][1][1][0][0]: must be a whole number"),
        (1, [[POINT, [[1, "1"]]], [ZERO, [[2, "1"]]]], "not output-deterministic"),
        (2, [[ZERO, [[4, "1"]]], [ONE, [[4, "1"]]]], "not output-deterministic"),
        (2, [[ZERO, [[4, "1"]]], [HIDDEN, [[4, "1"]]]], "not output-deterministic"),
        (1, [[POINT, [[1, "1"]]]], "not quasi-input-enabled"),
        (1, [[QUERY, [[1, "1"]]]], "not quasi-input-enabled"),
        (4, [[HIDDEN, [[0, "1"]]]], "a hidden state has no closure"),
    ],
)
@pytest.mark.parametrize("make", [family, costs, witness])
def test_systems_that_are_none(make: Any, state: int, row: Any, reason: str) -> None:
    """Distributions, actions and states out of range, and systems of another kind, are refused."""
    given = make()
    assert accepted(given)
    own(given)["system"]["rows"] = with_row(state, row)
    assert refused(given, reason)


def test_the_evidence_is_about_the_case() -> None:
    """With the case's system, domain and bound given, evidence about others is refused."""
    given = family()
    expected = {"system": own(given)["system"], "ratio": "2", "domain": NO_PARAMETERS}
    assert checked(given, Demanded(engine=expected)).accepted
    for name, value, what in (("ratio", "3", "bound"), ("system", {}, "system"), ("domain", {}, "domain")):
        report = checked(given, Demanded(engine={**expected, name: value}))
        assert report.lines == (f"rejected: the evidence has another {what} than the case",)


def test_what_is_said_of_other_documents() -> None:
    """A side condition, or names of outputs, are about claims of a case, and say nothing of a system."""
    for name, value in (("side_condition", SIDE_CONDITION), ("outputs", ["0"])):
        reason = f"rejected: {name}: this does not belong to a document about unwinding"
        assert checked({**family(), name: value}).lines == (reason,)


# --- hidden steps ---------------------------------------------------------------------------------

# The query leads to a hidden coin that is thrown until it ends: 5 → 5 with 1/2, to 2 with 1/8, to 3 with 3/8.
COIN = [
    *with_row(0, [[POINT, [[1, "1"]]], [QUERY, [[5, "1"]]]]),
    [[HIDDEN, [[5, "1/2"], [2, "1/8"], [3, "3/8"]]]],
]
COIN_CLOSURE = {"ends": [[5, [[2, "1/4"], [3, "3/4"]]]], "times": [[5, "2"]]}
NEVER = [*with_row(0, [[POINT, [[1, "1"]]], [QUERY, [[5, "1"]]]]), [[HIDDEN, [[5, "1"]]]]]


@pytest.mark.parametrize(
    ("closure", "reason"),
    [
        (COIN_CLOSURE, None),
        ({**COIN_CLOSURE, "times": [[5, "1"]]}, "expected numbers"),
        ({**COIN_CLOSURE, "times": [[5, "3"]]}, "expected numbers"),
        ({**COIN_CLOSURE, "ends": [[5, [[2, "1/2"], [3, "1/2"]]]]}, "does not satisfy its equations"),
        ({**COIN_CLOSURE, "ends": [[5, [[2, "1"]]]]}, "does not satisfy its equations"),
        ({"ends": [[5, [[-1, "1"]]]], "times": []}, "can be left"),
    ],
)
def test_closures(closure: Json, reason: str | None) -> None:
    """Where hidden steps end satisfies its equations, and it is shown that they end."""
    for make in (family, costs):
        given = with_own(make(rows=COIN), closures=[closure])
        assert accepted(given) if reason is None else refused(given, reason)
    for pair in ([4, 5, 0], [5, 5, 0], [0, 5, 1], [5, 6, 0]):
        given = with_own(family(rows=[*COIN, []], levels=[[0, 1, 1], pair]), closures=[COIN_CLOSURE])
        assert refused(given, "a pair has a hidden state")
    twice = with_own(family(rows=COIN), closures=[COIN_CLOSURE, COIN_CLOSURE])
    assert refused(twice, "not one of new hidden states")


# The query leads to a hidden step to another one, which leads to an answer.
CHAIN = [*with_row(0, NEVER[0]), [[HIDDEN, [[6, "1"]]]], [[HIDDEN, [[2, "1/4"], [3, "3/4"]]]]]
ANSWERS = [[2, "1/4"], [3, "3/4"]]
TWO: Json = {"ends": [[5, ANSWERS], [6, ANSWERS]], "times": [[5, "2"], [6, "1"]]}
FIRST, SECOND = ({"ends": [each], "times": []} for each in TWO["ends"])


@pytest.mark.parametrize(
    ("closures", "reason"),
    [
        ([SECOND, FIRST], None),
        ([FIRST, SECOND], "a group of hidden states leads to one that comes later"),
        ([TWO], None),
        ([{**TWO, "times": []}], "can be left, and its times are missing"),
        ([{**TWO, "times": [[5, "2"], [6, "2"]]}], "expected numbers"),
        ([{**TWO, "times": [*TWO["times"], [6, "1"]]}], "is listed twice"),
        ([{**TWO, "ends": [*TWO["ends"], TWO["ends"][0]]}], "is listed twice"),
        ([{**TWO, "ends": [TWO["ends"][0], [6, [*ANSWERS, ANSWERS[1]]]]}], "is listed twice"),
        ([{**TWO, "ends": [[5, [[4, "1"]]], [6, ANSWERS]]}], "hidden state 5 does not satisfy"),
        ([{**TWO, "ends": [[2, [[2, "1"]]], *TWO["ends"]]}], "not one of new hidden states"),
        ([SECOND], "a hidden state has no closure"),
    ],
)
def test_groups_of_hidden_states(closures: list[Json], reason: str | None) -> None:
    """Groups come after those that they lead to, or with numbers of steps; nothing is there twice."""
    for make in (family, costs):
        given = with_own(make(rows=CHAIN), closures=closures)
        assert accepted(given) if reason is None else refused(given, reason)


def test_groups_that_never_end() -> None:
    """Every hidden state of a group that leads nowhere else ends nowhere."""
    rows = [*NEVER[:5], [[HIDDEN, [[6, "1"]]]], [[HIDDEN, [[5, "1"]]]]]
    given = witness(rows=rows, probabilities=["1/2", "0"])
    for ends in product(([[-1, "1"]], [[4, "1"]], [[-1, "1/2"]]), repeat=2):
        found = with_own(given, closures=[{"ends": [[5, ends[0]], [6, ends[1]]], "times": []}])
        assert accepted(found) if ends[0] == ends[1] == [[-1, "1"]] else refused(found, "has ends")


def test_expected_numbers_of_steps_are_shown_to_be_positive() -> None:
    """With p in [1/4, 1/2] the coin is thrown 1/(1 - p) times, which is written with a factor."""
    rows = copy.deepcopy(COIN)
    rows[5][0][1] = [[5, "p"], [2, "1/4 - 1/4*p"], [3, "3/4 - 3/4*p"]]
    given = with_own(family(rows=rows), closures=[{**COIN_CLOSURE, "times": [[5, ["1 + p", "1 - p^2"]]]}])
    strict = comparison("1 - p^2", {"kind": "bernstein", "tree": [["outside", 0]]}, True, negated="p^2 - 1")
    beside = [strict, *(comparison(text, BERNSTEIN) for text in ("p", "1 - p"))]
    needed = comparison("1 + p", BERNSTEIN)
    assert accepted(with_parameter(given, "[1/4, 1/2]", needed, *beside))
    assert refused(with_parameter(given, "[1/4, 1/2]", *beside), "expected numbers of hidden steps")


# --- witnesses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "trace", "least"),
    [
        ([POINT, QUERY], [QUERY], [QUERY, ZERO], "2"),
        ([QUERY], [POINT, QUERY], [QUERY, ONE], "3/2"),
        ([QUERY], [POINT, QUERY], [QUERY, ZERO], "1/2"),
        ([POINT, QUERY], [QUERY], [QUERY, ONE], "2/3"),
        ([POINT, QUERY], [QUERY], [QUERY], "1"),
        ([POINT, QUERY], [QUERY], [], "1"),
    ],
)
def test_witnesses_of_violations(left: list[int], right: list[int], trace: list[int], least: str) -> None:
    """A witness is accepted for bounds below its ratio, and not for the ratio itself."""
    ratio = Fraction(least)
    for bound in (ratio - Fraction(1, 100), ratio, ratio + Fraction(1, 100)):
        given = witness(str(bound), left=left, right=right, trace=trace)
        assert accepted(given) == (bound < ratio)
    report = checked(witness())
    assert report == KernelReport(
        True, ("the observation exceeds the bound: a violation",), 0, status="violated", unit="comparison"
    )


@pytest.mark.parametrize(
    "change",
    [
        *({"place": place} for place in (1, -1, -2, 2, True, 0.0)),
        {"left": [QUERY, POINT]},
        {"left": [QUERY, QUERY]},
        {"left": [POINT, POINT]},
        {"left": [POINT, QUERY], "right": [POINT, QUERY]},
        {"left": [POINT, QUERY], "right": [POINT, QUERY], "place": 2},
        {"left": [POINT, POINT, QUERY]},
        {"right": []},
        {"left": [QUERY], "right": []},
    ],
)
def test_inputs_differ_in_one_data_point(change: Json) -> None:
    """The inputs are the same but for one data point at the place that is named."""
    place = change.get("place", 0)
    whole = f"witness.place: must be a whole number, not {place!r}"
    reason = "must differ in one inserted data point" if type(place) is int else whole
    assert refused(witness("1/100", **change), reason)


def test_closed_observations_have_nothing_more() -> None:
    """With `closed`, the chance is that of the observation and no other one behind it."""
    for closed, trace in product(
        (True, False), ([], [ZERO], [QUERY], [QUERY, ZERO], [QUERY, ONE], [QUERY, ZERO, ONE])
    ):
        found = {}
        for bound in ("1/100", "99/100", "3/2", "199/100"):
            found[bound] = accepted(witness(bound, trace=trace, closed=closed))
        chance = observed(closed, trace)
        for bound, right in found.items():
            assert right == (chance[1] > Fraction(bound) * chance[0]), (closed, trace, bound)
    assert refused(witness(trace=[], closed="yes"), "witness.closed: must be true or false, not 'yes'")


@pytest.mark.parametrize("closed", [False, True])
def test_what_one_run_alone_shows(closed: bool) -> None:
    """Without the data point the run waits, and shows nothing: any observation is impossible there."""
    rows = with_row(0, [[POINT, [[2, "1/3"], [3, "2/3"]]], ROWS[0][1]])
    for trace, right in product(([ZERO], [ONE], [], [ZERO, ZERO], [QUERY]), ([], [QUERY])):
        given = witness("1000", rows, left=[POINT, *right], right=right, trace=trace, closed=closed)
        first, second = map(Fraction, own(given)["witness"]["probabilities"])
        assert accepted(given) == (first > 1000 * second)
        if first > 0 == second:
            assert "impossible with the other inputs" in checked(given).lines[0]


def test_runs_that_may_go_on() -> None:
    """An answer 0 ends half of the runs; in all others 1 is seen behind it."""
    rows = with_row(2, [[ZERO, [[4, "1/2"], [3, "1/2"]]]])
    for closed, trace in product((True, False), ([QUERY], [QUERY, ZERO], [QUERY, ZERO, ONE], [QUERY, ONE])):
        for bound in ("1/100", "3/2", "2"):
            given = witness(bound, rows, trace=trace, closed=closed)
            first, second = map(Fraction, own(given)["witness"]["probabilities"])
            assert accepted(given) == (first > Fraction(bound) * second)


TIGHT = {**WITNESS, "probabilities": ["1/2", "1/4"]}
ANYWHERE = {key: value for key, value in TIGHT.items() if key != "parameters"}
TWICE = {**ANYWHERE, "probabilities": [["1", "2"], ["1", "4"]]}
REACHED = "an observation reaches the bound: the budget is tight"
RATIO = "an observation has the stated ratio, which is a lower bound"


@pytest.mark.parametrize(
    ("ratio", "told", "line", "upper", "lower"),
    [
        ("2", ANYWHERE, REACHED, "2", "2"),
        ("3", ANYWHERE, RATIO, "3", "2"),
        (["4", "2"], TIGHT, f"at a point of the domain {REACHED}", "(4)/(2)", "2"),
        ("2", TWICE, REACHED, "2", "((1)/(2))/((1)/(4))"),
        ("2", None, "no observation: the ratio 1 is a lower bound", "2", "1"),
    ],
)
def test_lower_bounds(ratio: Any, told: Any, line: str, upper: str, lower: str) -> None:
    """The observation has the probabilities that are told, and both bounds are said."""
    found = checked(document(ratio=ratio, proof=FAMILY, tight=told))
    both = f"budget: every ratio is at most {upper}, and the largest is at least {lower}"
    assert (found.status, found.lines[1:3]) == ("budget", (line, both))


def observed(closed: bool, trace: list[int]) -> tuple[Fraction, Fraction]:
    """Returns the chances without and with the data point, of all observations of one query listed."""
    whole = [[QUERY, ZERO], [QUERY, ONE]]
    found = []
    for zero in (Fraction(1, 4), Fraction(1, 2)):
        chances = [zero, 1 - zero]
        fits = [w == trace if closed else w[: len(trace)] == trace for w in whole]
        found.append(sum((c for c, fit in zip(chances, fits, strict=True) if fit), Fraction(0)))
    return found[0], found[1]


# --- parameters -----------------------------------------------------------------------------------

BERNSTEIN = {"kind": "bernstein", "tree": ["+"]}
P_ROWS = with_row(1, [[POINT, [[1, "1"]]], [QUERY, [[2, "p"], [3, "1 - p"]]]])


def with_parameter(given: Json, interval: str, *comparisons: Json) -> Json:
    domain = {"variables": ["p"], "box": {"p": interval}, "constraints": []}
    return {**given, "domains": [domain], "statements": [*comparisons, own(given)]}


P_COMPARISONS = [
    comparison(text, BERNSTEIN)
    for text in ("p", "1 - p", "2*p - 1/4", "1/2 - p", "p - 1/4", "2 - 2*p - 3/4", "3/2 - 1 + p")
]


def test_comparisons_with_parameters_are_claims() -> None:
    """With p in [1/4, 1/2] for the answer 0 the bound 2 holds; each comparison has to be proved there."""
    given = with_parameter(family(rows=P_ROWS), "[1/4, 1/2]", *P_COMPARISONS)
    report = checked(given)
    assert report.accepted, report.lines
    assert (report.proved, report.trusted) == (7, 0)
    assert report.lines[1] == "7 comparisons with parameters"
    needed = 0
    for k in range(len(P_COMPARISONS)):
        less = P_COMPARISONS[:k] + P_COMPARISONS[k + 1 :]
        needed += not accepted(with_parameter(given, "[1/4, 1/2]", *less))
    assert needed >= 4
    for interval in ("[1/4, 3/4]", "[0, 1/2]", "[1/8, 1/2]"):
        assert not accepted(with_parameter(given, interval, *P_COMPARISONS))
    assert not accepted(with_parameter(given, "[1/4, 1/2]"))


def test_violations_need_no_comparisons() -> None:
    """One that is true is refused beside a witness, as a point has no parameters."""
    assert accepted(with_parameter(witness(parameters={"p": "1/4"}), "[1/4, 1/2]"))
    given = with_parameter(witness(parameters={"p": "1/4"}), "[1/4, 1/2]", P_COMPARISONS[0])
    assert refused(given, "witness: a violation needs no comparisons")


def test_comparisons_are_on_the_domain_of_the_system() -> None:
    """A comparison that is shown on another domain of the document says nothing of the system."""
    given = with_parameter(family(rows=P_ROWS), "[1/8, 1/2]", *P_COMPARISONS)
    given["domains"].append({"variables": ["p"], "box": {"p": "[1/4, 1/2]"}, "constraints": []})
    assert not accepted(given)
    given["statements"][:-1] = [{**statement, "domain": 1} for statement in P_COMPARISONS]
    assert refused(given, "statements[0].domain: a comparison has another domain")
    own(given)["domain"] = 1
    assert accepted(given)


def test_denominators_are_shown_to_be_positive() -> None:
    """A quotient needs a positive denominator, shown by a contradiction on the rest of the domain."""
    rows = with_row(1, [[POINT, [[1, "1"]]], [QUERY, [[2, ["p", "2*p"]], [3, ["1", "2"]]]]])
    proof = {"kind": "bernstein", "tree": [["outside", 0]]}
    strict = comparison("p", proof, True, negated="-p")
    given = with_parameter(family(rows=rows), "[1/4, 1/2]", strict)
    assert accepted(given)
    assert refused(with_parameter(given, "[1/4, 1/2]", comparison("p", BERNSTEIN)), "denominator")
    assert not accepted(with_parameter(given, "[0, 1/2]", strict))
    false = {**strict, "negated": "-p - 1"}
    assert refused(with_parameter(given, "[0, 1/2]", false), "the negation contains another polynomial")
    assert not accepted(with_parameter(given, "[1/4, 1/2]"))


def test_bounds_of_witnesses_are_positive() -> None:
    """Every probability exceeds a bound that is zero or negative, which shows nothing."""
    for ratio in ("0", "-1", ["0", "2"], ["-1", "2"]):
        assert refused(witness(ratio), "ratio: the bound is not positive")


EXPONENTIAL = {"variables": ["E"], "box": {}, "constraints": [], "constant": "1/2"}


def test_the_constant_is_the_number_that_it_stands_for() -> None:
    """With E = exp(1/2) = 1.6487..., bounds in E are compared with the number itself."""
    for ratio, right in (("E", True), ("E + 1/3", True), ("E + 2/5", False), ("2*E", False)):
        given = witness(ratio)
        given["domains"] = [EXPONENTIAL]
        assert accepted(given) == right
    for ratio, right in (("E", False), ("E + 1/3", False), ("E + 2/5", True), ("2*E", True)):
        given = family(ratio)
        given["domains"] = [EXPONENTIAL]
        assert accepted(given) == right


# --- inputs that are not accepted -----------------------------------------------------------------

# After the data point, the state takes no other one; after the answer, nothing.
PARTIAL = with_row(1, [[QUERY, [[2, "1/2"], [3, "1/2"]]]])


def test_environments_that_give_accepted_inputs_only() -> None:
    """Where inputs may be refused, common ones are compared; the verdict says so, and witnesses obey."""
    given = document(PARTIAL, "2", True, proof=FAMILY)
    assert checked(given).side_condition == "no input comes where it is not accepted"
    assert accepted(document(PARTIAL, "2", True, proof=COSTS))
    assert not accepted(document(PARTIAL, "3/2", True, proof=FAMILY))
    assert refused(document(PARTIAL, "2", False, proof=FAMILY), "not quasi-input-enabled")
    fine = witness(rows=PARTIAL, partial=True)
    assert checked(fine).lines[0].endswith("assuming that no input comes where it is not accepted")
    for left, right in (([POINT, POINT, QUERY], [POINT, QUERY]), ([POINT, QUERY], [POINT, POINT, QUERY])):
        given = witness("1/100", PARTIAL, True, left=left, right=right)
        assert refused(given, "assumed not to send")
    behind = witness("1/100", PARTIAL, True, left=[POINT, QUERY, QUERY], right=[QUERY, QUERY])
    assert accepted(behind)  # nothing waits behind the answer
    answers = with_row(4, [[QUERY, [[4, "1"]]]])
    answers[1] = PARTIAL[1]
    later = witness("1/100", answers, True, left=[POINT, QUERY, POINT], right=[QUERY, POINT])
    assert refused(later, "assumed not to send")


# --- parts that are none ------------------------------------------------------------------------------


def tight(**changes: Any) -> Json:
    return document(proof=FAMILY, tight={**TIGHT, **changes})


NONE: list[tuple[Any, Json, str]] = [
    (tight, {"probabilities": ["1/2", "1/2"]}, "tight.probabilities[1]: the system has another probability"),
    (tight, {"trace": [QUERY, QUERY]}, "the observation is not shown to be possible on the right"),
    (family, {"levels": [[0, 1, 0]]}, "no bijection of supports"),
    (family, {"levels": [[0, 1, 2]]}, "an insertion at state 0 is not covered"),
    (family, {"levels": []}, "an insertion at state 0 is not covered"),
    (family, {"levels": [[0, 1, -1]]}, "a level is none"),
    *((family, {"levels": [[0, 1, 1], [*pair, 1]]}, "is not a state") for pair in ((0, 5), (-1, 1))),
    *((family, {"levels": [[0, 1, 1], pair]}, "enable different actions") for pair in ([2, 3, 0], [0, 4, 1])),
    (family, {"steps": -1}, "the number of steps is none"),
    (family, {"ratio": "1/2", "delta": "1/2", "steps": 0}, "at least one"),
    *((costs, {"costs": pairs}, "not within the bound") for pairs in ([[0, 1, "3/2"]], [[1, 0, "2"]], [])),
    (costs, {"costs": [*COSTS["costs"], [0, 0, "1"]]}, "one of a class with itself"),
    *((costs, {"costs": [*COSTS["costs"], pair]}, "what is no class") for pair in ([0, 5, "2"], [5, 0, "2"])),
    (costs, {"costs": [*COSTS["costs"], [0, 4, "1/2"]]}, "below one"),
    *(
        (costs, {"costs": [*COSTS["costs"], [*pair, "2"]]}, "enable different actions")
        for pair in ([2, 3], [4, 0], [0, 4])
    ),
    (costs, {"ratio": "1/2"}, "the bound is not shown to be at least one"),
    (costs, {"classes": [[0], [1], [2], [3]]}, "a state has no class"),
    (costs, {"classes": [[0], [1], [2, 3], [], [4]]}, "are not bisimilar"),
    (costs, {"classes": [[0], [1], [2], [3], [4, 4], [5]]}, "is not a state"),
    *((witness, {"left": [POINT, k], "right": [k]}, "is not an input") for k in (ZERO, ONE, HIDDEN, 5, -1)),
    *((witness, {"trace": [QUERY, ZERO, k]}, "that is not seen") for k in (POINT, HIDDEN, 5, -1)),
    *((witness, {"probabilities": p}, "another probability") for p in (["1/4", "1/2"], ["1/2", "26/100"])),
]


@pytest.mark.parametrize(("make", "changes", "reason"), NONE)
def test_parts_that_are_none(make: Any, changes: Json, reason: str) -> None:
    """Levels, steps, classes, inputs and observations out of range, or that show nothing, are refused."""
    assert accepted(make())
    assert refused(make(**changes), reason)


@pytest.mark.parametrize("initial", [5, -1])
def test_initial_states(initial: int) -> None:
    """The first state is one of the system."""
    given = family()
    own(given)["system"]["initial"] = initial
    assert refused(given, f"{initial} is not a state")


@pytest.mark.parametrize("name", ["data", "queries", "responses", "hidden"])
@pytest.mark.parametrize("partial", [False, True])
def test_more_actions(name: str, partial: bool) -> None:
    """An action that no state takes changes nothing, if inputs may be refused; no two have one name."""
    first = {"data": POINT, "queries": QUERY, "responses": ZERO, "hidden": HIDDEN}[name]
    closed = with_own(document(COIN, partial=partial, proof=FAMILY), closures=[COIN_CLOSURE])
    for given in (document(proof=COSTS, partial=partial), closed, witness(partial=partial)):
        changed = copy.deepcopy(given)
        system, seen = own(changed)["system"], own(changed).get("witness", {})
        system["rows"] = [[[a + (a >= first), step] for a, step in row] for row in system["rows"]]
        seen |= {part: [a + (a >= first) for a in seen[part]] for part in ("left", "right", "trace") if seen}
        for new in {"new", "d", "q", "0", "1", "h"} - {*system[name]}:
            found = with_own(changed, system={**system, name: [new, *system[name]]})
            if new != "new":
                assert refused(found, "two actions have the same name")
            elif partial or first > QUERY:
                assert checked(found) == checked(given)
                assert accepted(found)
            else:
                assert refused(found, "not quasi-input-enabled")


def test_nothing_grows_where_nothing_is_left() -> None:
    """A loop multiplies no vector that is 0 by a number."""
    with pytest.raises(Rejected, match="the loop leads to other states than it started from"):
        _factor(Any, {0: Fraction(0)}, [])  # type: ignore[arg-type]
