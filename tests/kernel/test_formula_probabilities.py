"""Probabilities of path formulas in the kernel, against sums over paths and values after many steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from random import Random
from typing import Any

import pytest
from formula_tools import TRUE, VALUES, model, summed, walks

from paramverify.kernel.chain_models import CheckedChain, read_chain
from paramverify.kernel.formula_truths import Truths
from paramverify.kernel.path_probabilities import VectorSpan, extreme, linear, reaching
from paramverify.kernel.quotient_values import PolynomialQuotient, QuotientValues, made, same
from paramverify.kernel.strict_reading import Rejected

FALSE, P, Q = ["false"], ["label", "p"], ["label", "q"]
NOT_P, NEXT = ["not", P], ["next", P]
# Each operator with bounds of each kind, within others and negated.
BOUNDED = (
    TRUE,
    ["not", ["and", [["not", NEXT], Q]]],
    ["and", [["not", NEXT], ["or", [FALSE, Q]]]],
    ["or", [["and", [P, ["not", TRUE]]], ["next", ["and", [Q, NOT_P]]]]],
    ["until", NEXT, Q, 0, 2],
    ["until", Q, ["and", [NEXT, P]], 1, 2],
    ["until", P, Q, 2, 1],
    ["until", ["or", [P, ["next", Q]]], ["not", ["next", Q]], 0, 1],
    ["release", Q, NEXT, 0, 2],
    ["release", ["and", [NEXT, Q]], P, 1, 2],
    ["release", P, Q, 2, 1],
    ["not", ["release", P, ["until", Q, P, 0, 1], 0, 1]],
    ["not", ["until", P, ["release", Q, P, 0, 1], 1, 2]],
    ["next", ["until", P, ["next", Q], 0, 1]],
)


@pytest.mark.parametrize("asked", BOUNDED, ids=str)
def test_each_operator(asked: Any) -> None:
    """The probability is the sum over all paths, under each word, and the last actions go on for ever."""
    for seed in range(4):
        chain = read_chain(model(Random(seed), 3, 2), VALUES)
        paths = Truths(chain, VALUES).paths(asked)
        for word, repeated in (((0, 1), 1), ((1, 0), 2), ((0, 1, 1), 2), ((1,), 1), ((1, 0, 0), 3)):
            last = word[-repeated:]
            whole = (*word, *last, *last, *last, *last)[:4]
            found = paths.probabilities([0, 1], word=word, repeated=repeated)
            assert [found[s] for s in (0, 1)] == [summed(chain, s, whole, asked) for s in (0, 1)]


def test_what_is_true_anyway() -> None:
    """True, false and their negations ask nothing of a path."""
    chain = read_chain(model(Random(0), 2, 1), VALUES)
    for asked, goal in ((TRUE, 1), (FALSE, 0), (["not", TRUE], 0), (["not", FALSE], 1)):
        assert len(Truths(chain, VALUES).paths(asked).start) == goal


def ending(random: Random) -> dict[str, Any]:
    """Returns a model in which each path stays in one state from the third step on."""
    data = model(random, 6, 2)
    data["steps"] = [[[k, "1"]] for k in range(6)]
    data["rows"] = [[k, k] for k in range(6)]
    for k, over in enumerate(((1, 2), (2, 3), (3, 4, 5))):
        for action in range(2):
            data["rows"][k][action] = len(data["steps"])
            s, t = random.sample(over, 2)
            data["steps"].append([[s, "1/3"], [t, "2/3"]])
    return data


UNTIL, RELEASE = ["until", Q, P, 0, None], ["release", Q, P, 0, None]
ENDLESS = (
    UNTIL,
    RELEASE,
    ["until", Q, P, 2, None],
    ["release", Q, P, 2, None],
    ["not", UNTIL],
    ["not", ["release", NEXT, P, 0, None]],
    ["next", RELEASE],
    ["and", [NEXT, RELEASE]],
    ["or", [NEXT, RELEASE]],
    ["and", [UNTIL, NEXT, ["until", P, Q, 1, None]]],
    ["until", RELEASE, Q, 0, 2],
    ["until", Q, RELEASE, 0, 2],
    ["release", RELEASE, Q, 0, 2],
    ["release", UNTIL, Q, 0, 2],
    ["release", Q, UNTIL, 1, 2],
    ["until", UNTIL, Q, 0, None],
    ["until", P, UNTIL, 0, None],
    ["release", Q, RELEASE, 0, None],
    ["until", TRUE, ["and", [P, ["next", Q]]], 0, None],
    ["release", FALSE, ["or", [P, ["next", Q]]], 0, None],
)


def bounded(formula: Any) -> Any:
    """Returns a formula that is the same where each path stays in one state from the third step on."""
    if formula[0] in ("until", "release"):
        low, high = formula[3:]
        inner = [bounded(part) for part in formula[1:3]]
        return [formula[0], *inner, low, low + 4 if high is None else high]
    if formula[0] in ("and", "or"):
        return [formula[0], [bounded(part) for part in formula[1]]]
    return [formula[0], bounded(formula[1])] if formula[0] in ("not", "next") else formula


@pytest.mark.parametrize("asked", ENDLESS, ids=str)
def test_endless_formulas(asked: Any) -> None:
    """Where paths come to an end, U and R without a largest number of steps are sums over paths, too."""
    for seed in range(5):
        chain = read_chain(ending(Random(seed)), VALUES)
        paths = Truths(chain, VALUES).paths(asked)
        sums = [
            [summed(chain, s, (*word, *(0,) * 11), bounded(asked)) for s in (0, 1)]
            for word in product(range(2), repeat=3)
        ]
        for word, found in zip(product(range(2), repeat=3), sums, strict=True):
            exact = paths.probabilities([0, 1], word=word)
            assert [exact[s] for s in (0, 1)] == found
        truths = Truths(chain, VALUES)
        for largest, best in ((True, max), (False, min)):
            of_all = truths.paths(asked).probabilities([0, 1], largest)
            # Schedulers see states, so they may do better than words; under one action there is no choice.
            assert all(
                (of_all[s] >= best(column)) if largest else (of_all[s] <= best(column))  # type: ignore[operator]
                for s, column in zip((0, 1), zip(*sums, strict=True), strict=True)
            )


def test_both_kinds_of_endless_formulas() -> None:
    """Endless U and R together have no value where nothing is decided."""
    chain = read_chain(model(Random(0), 3, 1), VALUES)
    with pytest.raises(Rejected, match="unbounded U and with unbounded R"):
        Truths(chain, VALUES).paths(["and", [UNTIL, RELEASE]]).probabilities([0])
    with pytest.raises(Rejected, match="an unbounded path formula under all words"):
        Truths(chain, VALUES).paths(UNTIL).words([0])


# --- cycles -------------------------------------------------------------------------------------------


def iterated(chain: CheckedChain, until: bool, choose: Any, rounds: int = 3000) -> list[float]:
    """Returns the probabilities of q U p, or of q R p, after many steps; `choose` takes the best action."""
    value = [0.0 if until else 1.0 for _ in chain.states]
    rows = [[[(t, float(w)) for t, w in row] for row in own] for own in chain.rows]  # type: ignore[arg-type]
    p, q = chain.labels["p"], chain.labels["q"]
    for _ in range(rounds):
        after = [choose(sum(w * value[t] for t, w in row) for row in own) for own in rows]
        if until:
            value = [1.0 if s in p else x if s in q else 0.0 for s, x in enumerate(after)]
        else:
            value = [0.0 if s not in p else 1.0 if s in q else x for s, x in enumerate(after)]
    return value


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_cycles_after_many_steps(seed: int) -> None:
    """With cycles the exact and the extreme probabilities are what values come to after many steps."""
    random = Random(seed)
    data = model(random, 5, 1 + seed % 2)
    data["labels"] = {"p": [3], "q": [0, 1, 2]} if seed % 3 else data["labels"]
    chain = read_chain(data, VALUES)
    for until, asked in ((True, UNTIL), (False, RELEASE)):
        truths = Truths(chain, VALUES)
        for largest, best in ((True, max), (False, min)):
            found = truths.paths(asked).probabilities(range(5), largest)
            again = truths.paths(asked).probabilities([4, 0], largest)
            assert again == {s: found[s] for s in (4, 0)}
            one_by_one = Truths(chain, VALUES)  # what is known of one state is used for the next
            for s in random.sample(range(5), 5):
                assert one_by_one.paths(asked).probabilities([s], largest) == {s: found[s]}
            expected = iterated(chain, until, best)
            assert [float(found[s]) for s in range(5)] == pytest.approx(expected)  # type: ignore[arg-type]
            if len(chain.actions) == 1:
                assert truths.paths(asked).probabilities(range(5)) == found


def policies(nodes: Mapping[Any, Sequence[Any]]) -> Iterator[dict[Any, Any]]:
    for chosen in product(*nodes.values()):
        yield dict(zip(nodes, chosen, strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_best_policies(seed: int) -> None:
    """The extreme of a node is that over all policies; values of these come from many steps."""
    random = Random(seed)
    known = {"no": Fraction(0), "half": Fraction(1, 2), "yes": Fraction(1)}
    nodes: dict[Any, list[Any]] = {}
    for node in range(3):
        nodes[node] = []
        for _ in range(1 + random.randrange(3)):
            over = random.sample([0, 1, 2, *known], random.randint(1, 4))
            nodes[node].append([(Fraction(1, len(over)), t) for t in over])
    for dead, (largest, best) in product((0, 1), ((True, max), (False, min))):
        every = []
        for policy in policies(nodes):
            value = {**dict.fromkeys(nodes, float(dead)), **{k: float(x) for k, x in known.items()}}
            for _ in range(400):
                value |= {n: sum(float(w) * value[t] for w, t in policy[n]) for n in nodes}
            every.append([value[n] for n in nodes])
        found = extreme(nodes, known, largest, Fraction(dead))
        assert [float(found[n]) for n in nodes] == pytest.approx([best(c) for c in zip(*every, strict=True)])


def test_what_reaches_a_target() -> None:
    """Nodes that reach one target outside, with a step toward it; nodes are none."""
    away, there = ([(Fraction(1, 2), a), (Fraction(1, 2), b)] for a, b in ((2, "no"), (3, "yes")))
    nodes: dict[Any, list[Any]] = {0: [away, [(Fraction(1), 1)]], 1: [[(Fraction(1), 0)], there]}
    nodes |= {2: [[(Fraction(1), "no")]], 3: [[(Fraction(1), 3)]]}
    assert reaching(nodes, lambda t: t in (2, 3, "yes")) == {0: nodes[0][1], 1: there}
    assert reaching(nodes, lambda t: t == "no") == {0: away, 1: nodes[1][0], 2: nodes[2][0]}


def test_no_choice_between_values_with_parameters() -> None:
    """Where one probability around a choice has a parameter, the better choice is not known."""
    share, rest = (WITH_C.read(text) for text in ("c", "-c + 1"))
    known = {"no": Fraction(0), "yes": Fraction(1)}
    sure: Any = [(Fraction(1), "yes")]
    apart: list[tuple[dict[Any, Any], dict[Any, Any]]] = [
        ({0: [[(share, 0), (rest, "no")], sure]}, known),
        ({0: [sure, [(Fraction(1, 2), 0), (Fraction(1, 2), "c")]]}, {**known, "c": share}),
        ({0: [sure, [(Fraction(1), 1)]], 1: [[(share, 0), (rest, "yes")]]}, known),
    ]
    for nodes, values in apart:
        for largest in (True, False):
            with pytest.raises(Rejected, match="a cycle has probabilities with parameters"):
                extreme(nodes, values, largest, Fraction(0))
    alone: Any = {0: [[(Fraction(1, 2), 0), (Fraction(1, 2), "c")]]}
    assert extreme(alone, {"c": share}, True, Fraction(0)) == {0: share}


def test_no_single_solution() -> None:
    """Equations that say nothing of a node are no evidence of a value."""
    loops = {0: [(Fraction(1), 1)], 1: [(Fraction(1), 0)]}
    with pytest.raises(Rejected, match="no single solution"):
        linear([0, 1], loops.__getitem__, {})


# --- equality -----------------------------------------------------------------------------------------


def decided(chain: CheckedChain, start: int, word: tuple[int, ...], until: bool) -> Fraction:
    """Returns how likely q U p is reached, or q R p is broken, at the end of a word and not before."""
    p, q = chain.labels["p"], chain.labels["q"]
    total = Fraction(0)
    for path, weight in walks(chain, start, word):
        if until:
            at_last = path[-1] in p and all(s in q and s not in p for s in path[:-1])
        else:
            at_last = path[-1] not in p and all(s in p and s not in q for s in path[:-1])
        total += weight if at_last else 0
    return total


@pytest.mark.parametrize("seed", range(15))
def test_equality_under_all_words(seed: int) -> None:
    """Two states are equal iff the same is decided at the end of each word, of unbounded formulas, too."""
    random = Random(seed)
    data = model(random, 4, 2)
    data["labels"] = {"p": [3], "q": [0, 1, 2]} if seed % 2 else {"p": [0, 1, 2], "q": []}
    if seed % 5:
        data["rows"][1] = data["rows"][0]
    if seed % 5 == 2:
        data["rows"][1] = [data["rows"][0][0], data["rows"][1][1]]
        data["rows"][1][1] = data["rows"][2][1]
    if seed % 7 == 3:  # from one state p is certain, and from the other one it is not
        data["labels"] = {"p": [3], "q": [seed // 7 % 2]}
        data["steps"][0] = [[3, "1"]]
        data["rows"][0] = data["rows"][1] = [0, 0]
    chain = read_chain(data, VALUES)
    words = [word for size in range(5) for word in product(range(2), repeat=size)]
    for until, asked in ((True, UNTIL), (False, RELEASE)):
        alike = all(decided(chain, 0, word, until) == decided(chain, 1, word, until) for word in words)
        paths = Truths(chain, VALUES).paths(asked)
        assert paths.equal(0, 1) == alike
        if alike:
            assert all(len({*paths.probabilities([0, 1], word=word).values()}) == 1 for word in words if word)


def determinant(rows: Sequence[Sequence[Fraction]]) -> Fraction:
    """Returns a determinant by its definition."""
    total = Fraction(0)
    for order in permutations(range(len(rows))):
        sign = (-1) ** sum(a > b for k, b in enumerate(order) for a in order[:k])
        term = Fraction(sign)
        for row, k in zip(rows, order, strict=True):
            term *= row[k]
        total += term
    return total


def rank(vectors: Sequence[Sequence[Fraction]], width: int) -> int:
    """Returns the size of the largest square that is not singular."""
    return max(
        size
        for size in range(width + 1)
        if any(
            determinant([[v[k] for k in columns] for v in rows]) or not size
            for rows in permutations(vectors, size)
            for columns in permutations(range(width), size)
        )
    )


@pytest.mark.parametrize("seed", range(20))
def test_spans(seed: int) -> None:
    """A vector of numbers is new iff it makes the rank larger."""
    random, span, met = Random(seed), VectorSpan(), []
    for _ in range(5):
        vector = [Fraction(random.choice((0, 0, 1, 2, -1)), random.randint(1, 2)) for _ in range(3)]
        before = rank(met, 3)
        met.append(vector)
        given = {k: x for k, x in enumerate(vector) if x}
        assert span.adds(dict(given)) == (rank(met, 3) > before)  # type: ignore[arg-type]


# --- parameters ---------------------------------------------------------------------------------------

SHARES = ("c", "-c + 1", ["c", "c + 1"], ["1", "c + 1"], ["1", "2*c + 1"], ["2*c", "2*c + 1"])
FORMS = (NEXT, ["until", Q, P, 0, 2], ["release", Q, P, 0, 2], ["until", Q, P, 0, None], RELEASE)
WITH_C = QuotientValues(("c",), None, lambda poly, strict: True)


def value_at(value: Any, c: Fraction) -> Fraction:
    """Returns a value at a point."""
    if isinstance(value, Fraction):
        return value
    top, bottom = (sum(k * c ** x[0] for x, k in poly.items()) for poly in (value.top, value.bottom))
    return Fraction(top) / bottom


@pytest.mark.parametrize("seed", range(8))
def test_probabilities_with_parameters(seed: int) -> None:
    """At each point the quotient is what it is for the numbers there; loops have weights that are numbers."""
    random = Random(seed)
    data = ending(random)
    for step in data["steps"][6:]:
        pair = 2 * random.randrange(3)
        step[0][1], step[1][1] = SHARES[pair], SHARES[pair + 1]
    data["steps"][-1] = [[0, "1/2"], [4, ["c", "2*c + 2"]], [5, ["1", "2*c + 2"]]]
    chain = read_chain(data, WITH_C)
    for c in (Fraction(1, 3), Fraction(5, 7)):
        values = QuotientValues(("c",), None, lambda poly, strict: False, {"c": c})
        numbers = read_chain(data, values)
        assert all(isinstance(w, Fraction) for own in numbers.rows for row in own for _, w in row)
        for asked in FORMS:
            found = Truths(chain, WITH_C).paths(asked)
            there = Truths(numbers, values).paths(asked)
            for word in product(range(2), repeat=2):
                try:
                    ours = found.probabilities([0, 1], word=word)
                except Rejected:
                    assert 1 in word  # only this action leads back
                    continue
                assert [value_at(ours[s], c) for s in (0, 1)] == list(
                    there.probabilities([0, 1], word=word).values()
                )


def test_parameters_one_after_the_other() -> None:
    """Where no cycle is in the way, any number of steps may have parameters."""
    data = {
        **model(Random(0), 6, 1),
        "steps": [[[k + 1, "c"], [5, "-c + 1"]] for k in range(4)] + [[[4, "1"]], [[5, "1"]]],
        "rows": [[k] for k in range(6)],
        "labels": {"p": [4], "q": [0, 1, 2, 3]},
    }
    for asked in (UNTIL, ["release", P, ["or", [P, Q]], 0, None]):
        truths = Truths(read_chain(data, WITH_C), WITH_C)
        for largest in ((), (True,)):
            found = truths.paths(asked).probabilities([0], *largest)
            assert value_at(found[0], Fraction(1, 3)) == Fraction(1, 81)
    data["steps"] = [[[k + 1, "1/2"], [5, "1/2"]] for k in range(4)] + data["steps"][4:]
    assert not Truths(read_chain(data, VALUES), VALUES).paths(UNTIL).equal(0, 5)  # after four steps


def test_quotients() -> None:
    """Sums and products have the values of sums and products; what is one number is a number."""
    third = ("1/3", "2/3", "1/4", "3/4", "3/5", "2/5")
    for text, value in zip((*SHARES, ["c", "2"], ["c", "1 + c"]), (*third, "1/6", "1/4"), strict=True):
        assert value_at(WITH_C.read(text), Fraction(1, 3)) == Fraction(value)
    read = [WITH_C.read(text) for text in (*SHARES, "3", ["c", "2"], ["c", "c"], "0", "c^2 - c")]
    for left, right in product(read, repeat=2):
        for c in (Fraction(1, 3), Fraction(2)):
            a, b = value_at(left, c), value_at(right, c)
            assert value_at(left + right, c) == a + b
            assert value_at(left - right, c) == a - b
            assert value_at(left * right, c) == a * b
            assert value_at(-left, c) == -a
            assert value_at(1 - left, c) == 1 - a
        equal = all(value_at(left, Fraction(k, 9)) == value_at(right, Fraction(k, 9)) for k in range(1, 9))
        assert same(left, right) == equal
        assert left != right or equal
    assert made({(0,): Fraction(3)}, {(0,): Fraction(2)}) == Fraction(3, 2)
    assert made({}, {(1,): Fraction(2)}) == Fraction(0)
    assert isinstance(made({(1,): Fraction(3)}, {(1,): Fraction(2)}), PolynomialQuotient)


def test_signs_of_values() -> None:
    """A value is a number iff it has no parameter but E, where E is one; and numbers have signs."""
    given, free = (
        QuotientValues(("c", "E"), Fraction(1), WITH_C.ask),
        QuotientValues(("c", "E"), None, WITH_C.ask),
    )
    for text, is_number in (("E", True), (["1", "E + 1"], True), ("c", False), ("c*E", False), ("2", True)):
        assert given.is_number(given.read(text)) == is_number
        assert free.is_number(free.read(text)) == (text == "2")
    assert given.is_number(given.read(["c", "E"])) is False
    assert given.is_number(given.read(["E", "c"])) is False
    order = ["1", "E", ["1", "E"], "3", "0", "E - 1", "-1"]
    decimals = [1, 2.718, 0.368, 3, 0, 1.718, -1]
    read = [given.read(text) for text in order]
    for places in permutations(range(len(order)), 3):
        assert given.extreme([read[k] for k in places], True) is read[max(places, key=decimals.__getitem__)]
        assert given.extreme([read[k] for k in places], False) is read[min(places, key=decimals.__getitem__)]
    for value, decimal in zip(read, decimals, strict=True):
        for strict in (False, True):
            shown = decimal > 0 or (decimal == 0 and not strict)
            assert given.shows(value, strict) is given.truth(value, strict) is shown
    for text in ("-1", "0", ["1", "E - 3"], ["1", "-1/2"]):
        with pytest.raises(Rejected, match="is not shown to be positive"):
            given.read(["1", text] if isinstance(text, str) else text)
