"""Where formulas are true in the kernel: three values, comparisons, families, and limits of the work."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest
from formula_tools import TRUE, VALUES, model, summed

from paramverify.kernel import formula_truths, path_probabilities
from paramverify.kernel.chain_models import read_chain
from paramverify.kernel.formula_truths import Truth, Truths, instance, mentions
from paramverify.kernel.path_probabilities import Paths, minimal
from paramverify.kernel.quotient_values import QuotientValues
from paramverify.kernel.strict_reading import Rejected

FALSE, P, Q = ["false"], ["label", "p"], ["label", "q"]
NEXT = ["next", P]
UNTIL, RELEASE = ["until", Q, P, 0, None], ["release", Q, P, 0, None]
# State 0 goes to p with c, and state 1 with 1/2.
SHARES: dict[str, Any] = {
    "states": ["s", "t", "yes", "no"],
    "actions": ["*"],
    "scheduled": True,
    "initial": [0],
    "steps": [[[2, "c"], [3, "-c + 1"]], [[2, "1/2"], [3, "1/2"]], [[2, "1"]], [[3, "1"]]],
    "rows": [[0], [1], [2], [3]],
    "labels": {"p": [2], "q": [0, 1]},
    "neighbours": [[0, 1]],
}


def sampled(low: Fraction, high: Fraction) -> QuotientValues:
    """Returns values whose signs on an interval of c are those at its ends: right for what is linear."""

    def ask(poly: Any, strict: bool) -> bool:
        ends = [sum(k * c ** x[0] for x, k in poly.items()) for c in (low, high)]
        return all(end > 0 if strict else end >= 0 for end in ends)

    return QuotientValues(("c",), None, ask)


INSIDE = (Fraction(1, 4), Fraction(3, 4))
BELOW = (Fraction(1, 4), Fraction(2, 5))
TOLD: list[tuple[Any, tuple[Fraction, Fraction], Truth]] = [
    (["P", ">=", "1/4", NEXT], INSIDE, True),
    (["P", ">", "1/4", NEXT], INSIDE, None),
    (["P", ">", "1/5", NEXT], INSIDE, True),
    (["P", ">", "3/4", NEXT], INSIDE, False),
    (["P", ">=", "3/4", NEXT], INSIDE, None),
    (["P", ">=", "4/5", NEXT], INSIDE, False),
    (["P", "<=", "3/4", NEXT], INSIDE, True),
    (["P", "<", "3/4", NEXT], INSIDE, None),
    (["P", "<", "4/5", NEXT], INSIDE, True),
    (["P", "<", "1/4", NEXT], INSIDE, False),
    (["P", "<=", "1/4", NEXT], INSIDE, None),
    (["P", "<=", "1/5", NEXT], INSIDE, False),
    (["not", ["P", ">=", "1/2", NEXT]], INSIDE, None),
    (["not", ["P", ">=", "1/2", NEXT]], BELOW, True),
    (["not", ["P", ">=", "1/4", NEXT]], INSIDE, False),
    (["and", [TRUE, ["P", ">=", "1/2", NEXT]]], INSIDE, None),
    (["and", [["P", ">=", "1/2", NEXT], FALSE]], INSIDE, False),
    (["and", [TRUE, ["not", P]]], INSIDE, True),
    (["and", []], INSIDE, True),
    (["or", [FALSE, ["P", ">=", "1/2", NEXT]]], INSIDE, None),
    (["or", [["P", ">=", "1/2", NEXT], TRUE]], INSIDE, True),
    (["or", [FALSE, P]], INSIDE, False),
    (["or", []], INSIDE, False),
    (["D", "1", "1/4", NEXT], INSIDE, True),
    (["D", "1", "1/5", NEXT], INSIDE, None),
    (["D", "1", "1/20", NEXT], BELOW, False),
    (["D", "1", "1/4", NEXT], BELOW, True),
    (["D", "2", "0", NEXT], INSIDE, True),
    (["D", "3/2", "0", NEXT], INSIDE, None),
    # A state is compared with itself: what is not true of it is not true.
    (["D", "9/10", "1/2", NEXT], INSIDE, None),
    (["D", "10", "-1/20", NEXT], INSIDE, None),
    (["D", "1/2", "0", NEXT], BELOW, False),
]


@pytest.mark.parametrize(("formula", "domain", "expected"), TOLD, ids=str)
def test_three_values(formula: Any, domain: tuple[Fraction, Fraction], expected: Truth) -> None:
    """What is true everywhere, or nowhere, is told; what is true somewhere is neither."""
    values = sampled(*domain)
    found = Truths(read_chain(SHARES, values), values)
    assert found.at(formula, 0) is expected
    inside = ["P", ">=", "1", ["until", TRUE, formula, 0, 0]]
    if expected is None:
        with pytest.raises(Rejected, match="within a path formula is not shown"):
            found.at(inside, 0)
    else:
        assert found.at(inside, 0) is expected


def test_states_without_neighbours() -> None:
    """There D is true where a state is within the bounds of itself, and never false."""
    data = {**SHARES, "neighbours": []}
    values = sampled(*INSIDE)
    found = Truths(read_chain(data, values), values)
    assert found.at(["D", "1", "0", NEXT], 0) is True
    assert found.at(["D", "9/10", "1", NEXT], 0) is None
    assert found.at(["D", "2", "-1/8", NEXT], 0) is None
    assert found.at(["D", "1", "0", ["until", ["P", ">", "1/2", NEXT], P, 0, 1]], 0) is True


def test_all_initial_states_and_all_members_count() -> None:
    """A formula holds everywhere if it does so in each initial state, and a family if each member does."""
    values = sampled(*INSIDE)
    for initial, most in product(([0], [0, 1], [0, 2], [2, 0], [2, 3]), (1, 2)):
        found = Truths(read_chain({**SHARES, "initial": initial}, values), values)
        assert found.everywhere(Q) is (max(initial) < 2)
        late = ["P", ">=", "1/4", ["until", Q, P, 0, {"more": 0}]]  # not without a step, but from 2
        assert [found.members(late, k, most) for k in (0, 1)] == [initial == [2], 3 not in initial]


def test_several_neighbours() -> None:
    """D is about all neighbours, and a state is that of its neighbours, too."""
    steps = [[[4, f"{k}/8"], [3, f"{8 - k}/8"]] for k in (2, 3, 6)] + [[[3, "1"]], [[4, "1"]]]
    data = {
        **SHARES,
        "states": list("abcde"),
        "steps": steps,
        "rows": [[k] for k in range(5)],
        "labels": {"p": [4], "q": []},
        "neighbours": [[0, 1], [0, 2]],
    }
    found = Truths(read_chain(data, VALUES), VALUES)
    told = {s: [found.at(["D", "1", f"{k}/8", NEXT], s) for k in (0, 1, 4)] for s in range(4)}
    assert told == {0: [False, False, True], 1: [False, True, True], 2: [False, False, True], 3: [True] * 3}
    data |= {"actions": ["a", "b"], "rows": [[0, 1], [0, 1], [1, 0], [3, 3], [4, 4]]}
    found = Truths(read_chain({**data, "labels": {"p": [4], "q": [0, 1, 2]}}, VALUES), VALUES)
    told_of = [[found.at(["D", e, "0", UNTIL], s) for s in range(4)] for e in ("1", "2")]
    assert told_of == [[None, True, None, True], [True] * 4]


# --- D under all words --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(16))
def test_privacy_under_all_words(seed: int) -> None:
    """Of bounded formulas D is decided: it is true iff it is so under each word."""
    random = Random(seed)
    chain = read_chain(model(random, 3, 2), VALUES)
    path = random.choice((NEXT, ["next", NEXT], ["until", Q, P, 0, 2], ["release", Q, P, 0, 1]))
    e, d = Fraction(random.choice((2, 3, 4)), 2), Fraction(random.randrange(5), 4)
    true = True
    for word in product(range(2), repeat=3):
        s, t = (summed(chain, k, word, path) for k in (0, 1))
        true = true and s <= e * t + d and t <= e * s + d
        against = Truths(chain, VALUES, word, 1).at(["D", str(e), str(d), path], 0)
        assert against is (None if s <= e * t + d and t <= e * s + d else False)
    for state in (0, 1):
        assert Truths(chain, VALUES).at(["D", str(e), str(d), path], state) is true


@pytest.mark.parametrize("seed", range(16))
def test_privacy_of_endless_formulas(seed: int) -> None:
    """What is called true is so under all words that were tried; nothing is called false."""
    random = Random(seed)
    data = model(random, 4, 2)
    data["labels"] = {"p": [3], "q": [0, 1, 2]}
    if seed % 2:
        data["rows"][1] = data["rows"][0]
    chain = read_chain(data, VALUES)
    path = random.choice((UNTIL, RELEASE, ["until", TRUE, P, 1, None]))
    e, d = Fraction(random.choice((2, 3, 4)), 2), Fraction(random.randrange(4), 4)
    found = Truths(chain, VALUES)
    told = found.at(["D", str(e), str(d), path], 0)
    assert told in (True, None)
    alike = True
    for word in product(range(2), repeat=4):
        s, t = found.paths(path).probabilities([0, 1], word=word).values()
        alike = alike and s == t
        within = s <= e * t + d and t <= e * s + d  # type: ignore[operator]
        assert within or told is None
        assert Truths(chain, VALUES, word, 1).at(["D", str(e), str(d), path], 0) is (
            None if within else False
        )
    if seed % 2 and path[0] == "until":
        assert alike
        assert told is True
    assert Truths(chain, VALUES).at(["D", "1", "1", path], 0) is True
    assert Truths(chain, VALUES).at(["D", "1/2", "1", path], 0) is None


@pytest.mark.parametrize("delta", ["1", "3/2", "c + 1", "9/10", "c + 1/2"])
def test_no_privacy_at_all(delta: str) -> None:
    """With a delta from 1 on D is true, whatever is known of the probabilities."""
    values = sampled(*INSIDE)
    rows = [[0, 1], [1, 0], [2, 2], [3, 3]]
    chain = read_chain({**SHARES, "actions": ["a", "b"], "rows": rows}, values)
    expected = None if delta in ("9/10", "c + 1/2") else True
    assert Truths(chain, values).at(["D", "1", delta, UNTIL], 0) is expected


# --- families -----------------------------------------------------------------------------------------


def window(low: int, high: int | None, left: Any = Q, right: Any = P) -> Any:
    """Returns the formula that one part comes after k + low steps in another, at most k + high."""
    return ["until", left, right, {"more": low}, None if high is None else {"more": high}]


def walk(stay: str, leave: str, other: tuple[str, str]) -> Any:
    data = {
        **SHARES,
        "steps": [[[0, stay], [2, leave]], [[1, other[0]], [2, other[1]]], [[2, "1"]], [[3, "1"]]],
    }
    return read_chain(data, VALUES)


D: Callable[..., Any] = lambda delta, path: ["D", "1", delta, path]  # noqa: E731
UNEQUAL = walk("1/2", "1/2", ("1/3", "2/3"))  # the path is in q for n steps with 1/2^(n−1) from s
MORE = {"more": 0}
TAILS: list[tuple[Any, int, bool]] = [
    (D("1/4", window(0, None)), 3, True),
    (D("1/4", window(0, None)), 2, False),
    (D("1/4", window(0, 5)), 3, True),
    (D("1/4", window(1, None)), 2, True),
    (D("1/4", window(-1, None)), 3, False),
    (D("1/4", window(-1, None)), 4, True),
    (D("1", window(-1, None)), 1, False),  # no step is left to stay in q
    (D("1", window(-1, None)), 2, True),
    (D("1/4", ["next", window(0, None)]), 2, True),
    (D("1/4", ["next", window(0, None)]), 1, False),
    (D("1/4", ["next", ["next", window(0, None)]]), 1, True),
    (["D", "1/2", "1/4", window(0, None)], 3, False),
    (D("1/4", ["not", window(0, None)]), 3, False),
    (D("1/4", ["not", ["not", window(0, None)]]), 3, True),
    (["and", [TRUE, D("1/4", window(0, None))]], 3, True),
    (["and", [["and", [D("1/4", window(0, None))]], D("1/5", window(0, None))]], 3, False),
    (["and", [["and", [D("1/4", window(0, None))]], D("1/5", window(0, None))]], 4, True),
    (["or", [D("1/4", window(0, None))]], 3, False),
    (["not", D("1/4", window(0, None))], 3, False),
    (D("1/4", ["release", Q, P, MORE, None]), 3, False),
    (D("1/4", ["until", Q, P, 0, MORE]), 3, False),
    (D("1/4", window(0, None, right=["until", Q, P, 0, MORE])), 3, False),
    (D("1/4", window(0, None, left=["until", Q, P, 0, MORE])), 3, False),
    (["P", "<=", "1/4", window(0, None)], 3, False),
]


@pytest.mark.parametrize(("formula", "until", "expected"), TAILS, ids=str)
def test_tails(formula: Any, until: int, expected: bool) -> None:
    """All members from a number on are true where staying that long is no more likely than delta."""
    assert Truths(UNEQUAL, VALUES).argued(formula, 0, until, "tail") is expected


def test_tails_are_about_all_compared_states() -> None:
    """A neighbour that stays longer counts as well as the initial state, and so does each action."""
    several = {**LOOPS, "actions": ["a", "b"], "rows": [[0, 2], [2, 2], [2, 2], [3, 3]]}
    for chain in (walk("1/3", "2/3", ("1/2", "1/2")), read_chain(several, VALUES)):
        found = Truths(chain, VALUES)
        assert not found.argued(D("1/9", window(0, None)), 0, 3, "tail")
        assert found.argued(D("1/4", window(0, None)), 0, 3, "tail")


@pytest.mark.parametrize("seed", range(24))
def test_equality_of_windows(seed: int) -> None:
    """With X before it, and a window of some steps, equality is that of the first members."""
    random = Random(seed)
    data = model(random, 4, 1 + seed % 2)
    kind = seed % 4
    if kind:
        data["rows"][1] = data["rows"][0]
    if kind == 1:  # after one step they differ in one action only
        data["rows"][1] = [*data["rows"][0][:-1], data["rows"][2][-1]]
    if kind == 2:  # what differs is reached after more steps
        data["labels"]["q"] = [0, 1, 2, 3]
        data["steps"][0] = [[2, "1"]]
        data["rows"][1] = [len(data["steps"])] * len(data["actions"])
        data["rows"][0] = [0] * len(data["actions"])
        data["steps"].append([[3, "1"]])
    chain = read_chain(data, VALUES)
    steps, low, wide = random.randrange(3), random.randrange(-1, 2), random.randrange(3)
    path = window(low, low + wide)
    for _ in range(steps):
        path = ["next", path]
    found = Truths(chain, VALUES)
    argued = found.argued(D("0", path), 1, 1, "equality")
    members = [v for k in range(1, 6) for v in found.paths(instance(path, k)).words([0, 1])]
    assert argued == all(v[0] == v[1] for v in members)


@pytest.mark.parametrize("kind", ["until", "release"])
@pytest.mark.parametrize("seed", range(24))
def test_equality_of_growing_ranges(seed: int, kind: str) -> None:
    """With k in the upper bound alone, of U and R, equality is that of the first members."""
    random = Random(seed)
    data = model(random, 4, 1 + seed % 2)
    if seed % 4:
        data["rows"][1] = data["rows"][0]
    if seed % 4 == 1:
        data["rows"][1] = [*data["rows"][0][:-1], data["rows"][2][-1]]
    chain = read_chain(data, VALUES)
    low, more = random.randrange(3), random.randrange(-1, 3)
    path: Any = [kind, Q, P, low, {"more": more}]
    for word in random.choices(("next", "not"), k=random.randrange(3)):
        path = [word, path]
    found = Truths(chain, VALUES)
    argued = found.argued(D("0", path), 1, 1, "equality")
    members = [v for k in range(1, 7) for v in found.paths(instance(path, k)).words([0, 1])]
    assert argued == all(v[0] == v[1] for v in members)
    assert not found.argued(D("0", path), 1, 1, "tail")


@pytest.mark.parametrize("low", [0, 1, 2])
def test_a_difference_that_passes(low: int) -> None:
    """One neighbour comes a step later: members up to a number differ, and those behind it do not."""
    data = {
        **SHARES,
        "states": ["s", "t", "wait", "yes", *(f"more{k}" for k in range(low))],
        "steps": [[[2, "1"]], [[4 if low else 3, "1"]], [[3, "1"]], [[3, "1"]]],
        "labels": {"p": [3], "q": [0, 1, 2]},
    }
    for k in range(low):  # on the way of t, and s waits as much longer
        data["steps"].append([[5 + k if k + 1 < low else 3, "1"]])
        data["labels"]["q"].append(4 + k)
    data["rows"] = [[k] for k in range(len(data["states"]))]
    chain = read_chain(data, VALUES)
    for first, more in product(range(1, 5), (0, 1)):
        path: Any = ["until", Q, P, low, {"more": more}]
        found = Truths(chain, VALUES)
        members = [v for k in range(first, 9) for v in found.paths(instance(path, k)).words([0, 1])]
        argued = found.argued(D("0", path), first, first, "equality")
        assert argued == all(v[0] == v[1] for v in members), (first, more)


def test_equality_with_parameters() -> None:
    """Neighbours that move alike are equal, unless it is not known which states a part is true in."""
    values = sampled(*INSIDE)
    stay = [[[s, "c"], [2, "-c + 1"]] for s in (0, 1)]
    found = Truths(read_chain({**SHARES, "steps": [*stay, *SHARES["steps"][2:]]}, values), values)
    unknown = ["P", ">", "1/2", NEXT]
    assert found.at(unknown, 0) is None
    for left, right in ((Q, P), (Q, unknown), (unknown, P)):
        for path in (window(0, 1, left, right), ["until", left, right, 0, MORE]):
            assert found.argued(D("0", path), 1, 1, "equality") is (unknown not in (left, right))
    apart = {**SHARES, "actions": ["a", "b"], "labels": {"p": [2], "q": [0, 1, 2, 3]}}
    apart |= {"steps": [[[2, "1"]], [[3, "1"]]], "rows": [[0, 0], [0, 1], [0, 0], [0, 1]]}
    found = Truths(read_chain(apart, VALUES), VALUES)
    assert not found.argued(D("0", window(0, 1)), 0, 0, "equality")


NO_EQUALITY = (
    window(0, None),
    ["until", NEXT, P, 0, MORE],
    ["release", Q, NEXT, 0, MORE],
    window(1, 0),
    window(-2, 0),
    ["until", Q, P, MORE, 3],
    window(0, 1, left=NEXT),
    window(0, 1, right=NEXT),
    ["P", ">", "1/2", window(0, 1)],
)


@pytest.mark.parametrize("path", NO_EQUALITY, ids=str)
def test_windows_of_another_form(path: Any) -> None:
    """Equality is about windows that move with k, of state formulas, from no negative step on."""
    found = Truths(walk("1/2", "1/2", ("1/2", "1/2")), VALUES)
    assert found.argued(D("0", window(0, 1)), 1, 1, "equality")
    assert not found.argued(D("0", path), 1, 1, "equality")


def test_formulas_that_mention_k() -> None:
    """A number of a family is found wherever it stands, and is put in there."""
    for inner in (window(0, 1), ["until", Q, P, 0, MORE], ["release", Q, P, MORE, None]):
        for around in (
            lambda f: ["until", ["next", f], P, 0, 1],
            lambda f: ["until", P, ["not", f], 0, 1],
            lambda f: ["release", ["and", [P, f]], P, 0, None],
            lambda f: ["P", ">", "0", ["or", [f, P]]],
            lambda f: ["next", ["D", "1", "0", f]],
        ):
            tree = around(inner)
            assert mentions(tree)
            assert not mentions(around(P))
            assert not mentions(instance(tree, 3))
            assert repr(instance(tree, 3)) == repr(around(instance(inner, 3)))


def test_members_that_do_not_exist() -> None:
    """A number of steps is not negative, wherever it stands."""
    for path in (window(-2, None), window(0, -2), ["next", window(-2, 1)], ["and", [P, window(-2, 1)]]):
        for formula in (D("1", path), ["not", ["P", ">", "0", path]]):
            with pytest.raises(Rejected, match="negative for the member 1"):
                instance(formula, 1)
            written = repr(instance(formula, 2))
            assert "more" not in written


# --- limits -------------------------------------------------------------------------------------------


def paths_of(path: Any, asked: Callable[[Paths], Any], **changes: Any) -> Callable[[], Any]:
    """Returns what asks for probabilities of a path formula, each time of a new model."""
    return lambda: asked(Truths(read_chain({**LOOPS, **changes}, VALUES), VALUES).paths(path))


def equal_with(values: QuotientValues) -> bool:
    """Returns whether s and t are equal where p is nowhere, and they go on with c and with 1/2."""
    chain = read_chain({**SHARES, "labels": {"p": [], "q": [0, 1, 2]}}, values)
    return Truths(chain, values).paths(UNTIL).equal(0, 1)


# s and t go on with 1/2, or leave to where p is.
LOOPS = {**SHARES, "steps": [[[0, "1/2"], [2, "1/2"]], [[1, "1/2"], [2, "1/2"]], *SHARES["steps"][2:]]}
TWO = {"actions": ["a", "b"], "rows": [[0, 3], [1, 1], [2, 2], [3, 3]]}
THREE = ["next", ["next", ["next", P]]]
OF_ALL = ["P", "<=", "1", window(0, None)]
LIMITS: dict[str, tuple[Any, str, int, Callable[[], Any]]] = {
    # Goals of s and of t are not decided, that of the state with p is.
    "nodes": (path_probabilities, "MAX_NODES", 2, paths_of(UNTIL, lambda p: p.probabilities([0, 1]))),
    "cycles": (path_probabilities, "MAX_CYCLIC", 2, paths_of(UNTIL, lambda p: p.probabilities([0, 1]))),
    # Four levels of states.
    "levels": (path_probabilities, "MAX_LEVELS", 4, paths_of(THREE, lambda p: p.words([0, 1]))),
    "vectors": (path_probabilities, "MAX_VECTORS", 2, paths_of(NEXT, lambda p: p.words([0, 1]), **TWO)),
    # Two rows of two entries lead to what is decided after one step.
    "work": (
        path_probabilities,
        "MAX_WORK",
        4,
        paths_of(NEXT, lambda p: p.words([0, 1]) and p.words([0, 1])),
    ),
    # Two numbers at first, then again two, each ten times, and nothing new after that.
    "products": (path_probabilities, "MAX_WORK", 20, paths_of(UNTIL, lambda p: p.equal(0, 1))),
    # Two numbers, then two quotients, then one that does not change any more; the terms above the bar count.
    "quotients": (path_probabilities, "MAX_WORK", 80, lambda: equal_with(sampled(*INSIDE))),
    "terms": (path_probabilities, "MAX_VECTORS", 2, lambda: equal_with(sampled(*INSIDE))),
    "clauses": (path_probabilities, "MAX_CLAUSES", 3, lambda: minimal(frozenset(map(frozenset, "abc")))),
    "rounds": (path_probabilities, "MAX_ROUNDS", 1, paths_of(UNTIL, lambda p: p.probabilities([0, 1], True))),
    "members": (formula_truths, "MAX_MEMBERS", 5, lambda: Truths(UNEQUAL, VALUES).members(OF_ALL, 2, 6)),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_of_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes as much as a limit is done as without it, and what takes more is rejected."""
    module, limit, most, work = LIMITS[name]
    usual = work()
    monkeypatch.setattr(module, limit, most)
    assert work() == usual
    monkeypatch.setattr(module, limit, most - 1)
    with pytest.raises(Rejected):
        work()


def test_choices_with_parameters() -> None:
    """Which choice is the best one is not known where probabilities depend on parameters."""
    values = sampled(*INSIDE)
    chain = read_chain({**SHARES, "scheduled": False, "rows": [[0, 1], [1], [2], [3]]}, values)
    found = Truths(chain, values)
    with pytest.raises(Rejected, match="extreme probabilities that depend on parameters"):
        found.at(["P", ">=", "0", NEXT], 0)
    assert found.at(["P", ">=", "1/2", NEXT], 1) is True
    twice = Truths(
        read_chain({**SHARES, "actions": ["a", "b"], "rows": [[k, k] for k in range(4)]}, values), values
    )
    assert twice.at(["P", "<=", "3/4", NEXT], 0) is True  # the same step twice is no choice
    assert twice.at(["D", "1", "1/4", NEXT], 0) is True


@pytest.mark.parametrize("seed", range(10))
def test_privacy_of_words_with_parameters(seed: int) -> None:
    """With a parameter D is what it is under each word, too, at all points or at none."""
    values = sampled(*INSIDE)
    rows = [[0, 1], [1, 0], [2, 2], [3, 3]] if seed % 2 else [[0, 1], [1, 1], [2, 2], [3, 3]]
    chain = read_chain({**SHARES, "actions": ["a", "b"], "rows": rows}, values)
    delta = Fraction(seed, 10)
    expected = True if delta >= Fraction(1, 4) else None
    assert Truths(chain, values).at(["D", "1", str(delta), NEXT], 0) is expected
