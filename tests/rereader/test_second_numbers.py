"""What the second reader calculates with: spellings, expressions, conditions on inputs, priors and points."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from paramverify.kernel.strict_reading import UnreadCase
from paramverify.rereader import second_networks
from paramverify.rereader.second_networks import Walk
from paramverify.rereader.second_numbers import Calculator, Finer, interval_of, meaning, named
from paramverify.rereader.second_points import BITS, CHANCE, draws, length_of, needed, point_in
from paramverify.rereader.second_priors import row, written
from paramverify.rereader.second_relations import Related, distances_of, nearness

F = Fraction
HERE = Calculator({}, None)
SPELT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+|/[1-9][0-9]*)?")


def test_spellings() -> None:
    """Each text of a few characters means a number where the rule for spellings says so, and else itself."""
    for length in range(5):
        for text in map("".join, product("-0174./x²", repeat=length)):
            assert meaning(text) == (F(text) if SPELT.fullmatch(text) else text), text
    assert [meaning("+1"), meaning(" 1"), meaning("1e3"), meaning("٣")] == ["+1", " 1", "1e3", "٣"]
    assert (meaning(7), meaning(Decimal("0.10"))) == (7, F(1, 10))


@pytest.mark.parametrize("given", [True, False, 0.5, None, [1], F(1, 2)])
def test_what_is_no_number_and_no_text(given: Any) -> None:
    """Truth, lists and floats are refused as names and as expressions."""
    with pytest.raises(ValueError, match="is neither a number nor text"):
        meaning(given)
    with pytest.raises(ValueError, match="is not an expression"):
        HERE.parsed(given)


NAMED: list[tuple[Any, list[Any], Any]] = [
    ("1", ["1", F(1)], "1"),
    ("1", [F(1), "01"], F(1)),
    ("1/2", [F(1), F(1, 2)], F(1, 2)),
    ("a", [F(1), "a"], "a"),
    ("01", [F(1)], None),
    ("2", [F(1)], None),
    ("a", ["b"], None),
    (1, ["1", F(1)], F(1)),
    (1, ["1", "a"], "1"),
    (1, ["1", "1.0"], None),
    (Decimal("0.5"), ["a", "1/2"], "1/2"),
    (F(2), [F(1), F(2)], F(2)),
    (F(2), [F(1), "3"], None),
]


@pytest.mark.parametrize(("given", "known", "wanted"), NAMED)
def test_what_is_named(given: Any, known: list[Any], wanted: Any) -> None:
    """A text means itself first, and a number itself first; what fits no value, or two, is a mistake."""
    if wanted is None:
        with pytest.raises(ValueError, match=r"names [02] of the values"):
            named(given, known)
    else:
        assert named(given, known) == wanted
        assert type(named(given, known)) is type(wanted)
    if isinstance(given, str) and given not in known:
        with pytest.raises(ValueError, match="names 0 of the values"):
            named(given, known, text=True)


E2 = Calculator(  # with 3 for exp(1/2), x = exp(-y/2) = 5
    {"a": F(3), "x_y": F(5), "E": F(9), "t": "7"}, F(1, 2), F(3), {"y": F(1, 2)}, {"d": "(a - 1)"}
)
VALUES: dict[str, Any] = {
    "2*d": F(4),
    "exp(1/2)": F(3),
    "exp(-1)": F(1, 9),
    "exp(0)": F(1),
    "exp(y)": F(1, 25),
    "exp(1 - 3*y/2 + 2*ln(2/3))": F(9) * 125 * F(4, 9),
    "exp(-ln(4))": F(1, 4),
    "exp(0*y)": F(1),
    "exp(a - 5/2)": F(3),
    "a == 3": F(1),
    "true and not false": F(1),
    "t == '7'": F(1),
    "t == 7": F(0),
    "\ta\n+ 1 ": F(4),
    "not\ttrue": F(0),
    "1\nif false\telse 2": F(2),
    "'a\tb' == 'a b'": F(0),
    "t": "7",
    "a**3/2": F(27, 2),
    "2**-2": F(1, 4),
}


@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    """Names, definitions, powers of e and of logarithms have the values that a sheet of paper gives."""
    assert E2.value(text) == VALUES[text]


MISTAKES: list[tuple[str, type[Exception], str]] = [
    ("t + 1", ValueError, "the label '7' is not a number"),
    ("1 + t", ValueError, "the label '7' is not a number"),
    ("b", ValueError, "unknown name 'b'"),
    ("y", ValueError, "unknown name 'y'"),
    ("2**(1/2)", ValueError, "1/2 is not whole"),
    ("exp(ln(2)/2)", ValueError, "is not whole"),
    ("1**10001", UnreadCase, "a very large exponent"),
    ("1**-10001", UnreadCase, "a very large exponent"),
    ("exp(1/3)", Finer, r"exp\(1/3\*\)"),
    ("exp(y/3)", Finer, r"exp\(1/3\*y\)"),
    ("ln(2)", UnreadCase, "the function 'ln'"),
    ("exp(1, 2)", UnreadCase, "the function 'exp'"),
]


@pytest.mark.parametrize(("text", "kind", "words"), MISTAKES)
def test_what_has_no_value(text: str, kind: type[Exception], words: str) -> None:
    """What is none, or not known, is told in words."""
    with pytest.raises(kind, match=words):
        E2.value(text)
    assert E2.value("1**10000 + 1**-10000") == 2


def test_powers_of_e_without_a_number_for_it() -> None:
    """Where nothing stands for powers of e, only the one that is 1 has a value."""
    assert HERE.value("exp(0) + exp(1 - 1) + exp(ln(3))") == 5
    with pytest.raises(Finer, match=r"exp\(1\*\)"):
        HERE.value("exp(1)")


DIVISORS = {
    "a/(1 + a)": [4],
    "1 - 3*-2 + 5*-(2 - 1) - (-4)": [],
    "a**-2 + 2/a**3": [3, 27],
    "exp(y)/2": [5**2, 2],
    "exp(-y) + exp(-1)": [9],
    "exp(y/2)*exp(-1/2)": [5, 3, 2],
    "a**2 - 7": [],
    "a**0 + 5": [],
    "a**1 + a**-1": [3],
    "max(1/a, 0.5)": [3],
}


@pytest.mark.parametrize("text", DIVISORS)
def test_what_is_divided_by(text: str) -> None:
    """Each divisor of an expression is told; a factor 1 is none."""
    found: list[Fraction] = []
    Calculator(E2.values, E2.exponent, E2.base, E2.steps, E2.definitions, found).value(text)
    assert sorted(d for d in found if d != 1) == sorted(DIVISORS[text])


def test_intervals() -> None:
    """Ends, what belongs to them, numbers, tables, and an exponential for what has no end."""
    read = [
        interval_of(given, HERE)
        for given in ("[0, 1/2)", " (1/3,2] ", {"in": "(0, 1)"}, "1/4", 3, Decimal("0.5"), "(0, +oo)")
    ]
    wanted = [(0, "1/2", 1, 0), ("1/3", 2, 0, 1), (0, 1, 0, 0), *(((v, v, 1, 1)) for v in ("1/4", 3, "1/2"))]
    wanted.append((0, 1, 0, 0))
    assert read == [(F(low), F(high), bool(one), bool(other)) for low, high, one, other in wanted]
    for given in ("[1, oo)", "(0, inf]", "(1, + Infinity)"):
        with pytest.raises(UnreadCase, match="without an upper end"):
            interval_of(given, HERE)


# --- two inputs -------------------------------------------------------------------------------------

Near = Callable[[Sequence[Any], Sequence[Any]], bool]
ONE: Any = {"kind": "geometric"}
PARTS = {
    "kind": "parts",
    "parts": [{"kind": "geometric"}, {"kind": "p", "inputs": {"q": {"length": 2}, "n": {}}}],
}


def apart(a: Sequence[Any], b: Sequence[Any]) -> list[int]:
    return [abs(int(x) - int(y)) for x, y in zip(a, b, strict=True)]


NEAR: list[tuple[Any, dict[str, Any], Any, int, Near]] = [  # mechanism, table, default, size, meaning
    (ONE, {"differ": "each"}, 1, 2, lambda a, b: max(apart(a, b)) <= 1),
    (ONE, {"differ": "one"}, 1, 2, lambda a, b: sorted(apart(a, b))[:1] == [0] and max(apart(a, b)) <= 1),
    (
        ONE,
        {"differ": "one", "by": 2},
        1,
        3,
        lambda a, b: sum(map(bool, apart(a, b))) == 1 and max(apart(a, b)) <= 2,
    ),
    (ONE, {"differ": "each", "by": "any"}, 1, 2, lambda a, b: True),
    (ONE, {"differ": "each"}, "any", 2, lambda a, b: True),
    (ONE, {"differ": "one", "distance": "abs(x - y)"}, 1, 1, lambda a, b: max(apart(a, b)) <= 1),
    (ONE, {"distance": "abs(x - y)"}, 1, 1, lambda a, b: True),
    (ONE, {"related": "x < y and y - x > 1"}, 1, 1, lambda a, b: apart(a, b)[0] > 1),
    (ONE, {"related": "x[0] < y[0]"}, 1, 2, lambda a, b: a[0] != b[0]),
    ({"kind": "noisy_max"}, {"related": "x[0] != y[0]"}, 1, 1, lambda a, b: a[0] != b[0]),
    (
        PARTS,
        {"related": "x.n + sum(x.q) == y.n + sum(y.q)"},
        1,
        3,
        lambda a, b: sum(map(int, a)) == sum(map(int, b)),
    ),
    ({"kind": "parts", "parts": [ONE, ONE]}, {"related": "x == y"}, 1, 1, lambda a, b: a == b),
]


@pytest.mark.parametrize("row", range(len(NEAR)))
@pytest.mark.parametrize("as_text", [False, True])
def test_neighbours(row: int, as_text: bool) -> None:
    """All pairs of different inputs are neighbours where the definition says so, in either order."""
    mechanism, table, default, size, wanted = NEAR[row]
    near = nearness({"mechanism": mechanism, "neighbours": table}, size, default)
    inputs = list(product([str(k) if as_text else F(k) for k in range(3)], repeat=size))
    for a, b in product(inputs, repeat=2):
        if a != b:
            again = b if as_text else tuple(map(F, b))  # numbers that are equal, and not the same
            assert near(a, again) == wanted(a, b), (a, b)


def test_other_differences_are_mistakes() -> None:
    """A word for `differ` that is none is noticed."""
    with pytest.raises(ValueError, match="differ = 'all'"):
        nearness({"mechanism": ONE, "neighbours": {"differ": "all"}}, 1, 1)((F(0),), (F(1),))


DISTANCES: list[tuple[str, str, str, Any]] = [
    ("abs(x - y)", "0", "2", F(2)),
    ("0*x*y", "0", "2", F(0)),
    ("x == y", "a", "a", F(1)),
    ("x != y", "1", "01", F(1)),
    ("x == 1", "1", "1", F(1)),
    ("1 == x", "1", "1", F(1)),
    ("1 if x == 'a' or y == 'a' else 0", "a", "b", F(1)),
    ("(x in ['a', 1]) + (y in ['a', 1])", "1", "b", F(1)),
    ("-abs(x - y)", "0", "2", "a distance that is not a number"),
    ("x - y", "2", "0", "a distance that is not a number"),
    ("max(x - y, 0)", "2", "0", "a distance that is not a number"),
    ("x == [1]", "1", "1", "an array is compared with something else"),
]


@pytest.mark.parametrize(("text", "left", "right", "wanted"), DISTANCES)
def test_distances(text: str, left: str, right: str, wanted: Any) -> None:
    """A distance is the same in both directions and not negative; labels are equal to themselves only."""
    found = distances_of({"mechanism": ONE, "neighbours": {"distance": text}}, 1)
    assert found is not None
    if isinstance(wanted, str):
        with pytest.raises(ValueError, match=wanted):
            found((left,), (right,))
    else:
        assert found((left,), (right,)) == wanted


ARRAYS: list[tuple[str, Any]] = [
    ("sum(x.q[i]*y.q[i])", 1 * 4 + 2 * 5),
    ("sum(x.q[i]*x.r[j])", 3 * 18),
    ("sum(min(x.q[i], y.r[j]) + x.q[i])", 6 * 1 + 3 * 3),
    ("sum(x.q[i] + sum(x.r[j]))", 3 + 2 * 18),
    ("count(x.r[i] > 5) + count(x.r)", 2 + 3),
    ("any(x.q[i] == 2 and y.q[i] == 5)", 1),
    ("all(x.q[i] < y.q[i])", 1),
    ("all(x.q[i] < 2) + any(x.q[i] > 2)", 0),
    ("max(x.r[i] - x.q[0]) + min(x.r) + max(x.n, y.n)", 6 + 5 + 9),
    ("len(x.q) + x.r[2] + abs(x.n - y.n)", 2 + 7 + 1),
    ("x.q == y.q or x.q != y.q", 1),
    ("x.q[-1]", "an index outside of its array"),
    ("sum(x.q[i]*x.r[i])", "i has two ranges"),
    ("x.q == x.r", "an array is compared with something else"),
    ("x.n == x.r", "an array is compared with something else"),
]


@pytest.mark.parametrize(("text", "wanted"), ARRAYS)
def test_arrays(text: str, wanted: Any) -> None:
    """Sums and others go over all indices of the arrays that stand behind a name."""
    related = Related(text, [("q", 2), ("n", None), ("r", 3)])
    inputs = [list(map(F, digits)) for digits in ("128567", "459111")]
    if isinstance(wanted, str):
        with pytest.raises(ValueError, match=wanted):
            related(*inputs)
    else:
        assert related(*inputs) == wanted
        assert related(*[list(map(str, given)) for given in inputs]) == wanted


# --- priors -----------------------------------------------------------------------------------------

ROWS: list[tuple[Any, Mapping[Any, Fraction] | str]] = [
    ({"bernoulli": "1/3"}, {0: F(2, 3), 1: F(1, 3)}),
    ({"binomial": [3, "1/4"]}, {k: F(c * 3 ** (3 - k), 64) for k, c in enumerate((1, 3, 3, 1))}),
    ({"uniform": [1, "a", "1/2"]}, {1: F(1, 3), "a": F(1, 3), F(1, 2): F(1, 3)}),
    ({"categorical": {"1": "1/4", "a": "3/4"}}, {1: F(1, 4), "a": F(3, 4)}),
    ({"categorical": [[1, "1/4"], ["a, b", "3/4"]]}, {1: F(1, 4), "a, b": F(3, 4)}),
    ({"truncated_geometric": "1/2", "range": 2, "around": "u"}, {0: F(1, 3), 1: F(1, 3), 2: F(1, 3)}),
    ({"truncated_geometric": "1/2", "range": 2, "around": "u - 1"}, {0: F(2, 3), 1: F(1, 6), 2: F(1, 6)}),
    ({"given": "w", "table": {"a, b": {"1": 1}, "a": {"0": 1}}}, {1: F(1)}),
    ({"given": ["w"], "table": {" a, b": {"1": 1}, "a, b": {"0": 1}}}, {0: F(1)}),
    ({"given": ["u", "v"], "table": {"1 , x": {"1": 1}, "1,1": {"0": 1}}}, {1: F(1)}),
    ({"given": ["u", "v"], "table": {"x, 1": {"1": 1}, "1,1": {"0": 1}}}, "0 rows fit"),
    ({"given": ["u", "v"], "table": {"1, x": {"1": 1}, "1.0,x": {"0": 1}}}, "2 rows fit"),
    ({"given": ["u", "v"], "table": {"1,x,": {"1": 1}, "1,x": {"0": 1}, "1": {"1": 1}}}, {0: F(1)}),
    ({"given": "u", "table": {" 1": {"1": 1}}}, "0 rows fit"),
    ({"given": "v", "table": {"x,": {"1": 1}, "x ": {"1": 1}}}, "0 rows fit"),
    ({"uniform": [1, "1"]}, "two names of a row"),
    ({"categorical": {"0": "1/2", "1": "1/3"}}, "a row is not a distribution"),
    ({"categorical": {"0": "3/2", "1": "-1/2"}}, "a row is not a distribution"),
    ({"truncated_geometric": "1/2", "range": 2, "around": "u/2"}, "out of its range"),
    ({"truncated_geometric": "1/2", "range": 2, "around": "u + 2"}, "out of its range"),
    ({"truncated_geometric": "1/2", "range": 2, "around": "u - 2"}, "out of its range"),
]


@pytest.mark.parametrize(("entry", "wanted"), ROWS)
def test_distributions(entry: Any, wanted: Mapping[Any, Fraction] | str) -> None:
    """Each kind of entry of a prior is the distribution that it names, given earlier variables."""
    known: dict[str, Any] = {"u": F(1), "v": "x", "w": "a, b"}
    if isinstance(wanted, str):
        with pytest.raises(ValueError, match=wanted):
            row(entry, known, HERE.knowing(known))
    else:
        assert row(entry, known, HERE.knowing(known)) == wanted


def test_entries_like_others() -> None:
    """An entry like an earlier one has its table, with a part of its own, also through several."""
    prior: dict[str, Any] = {
        "a": {"given": "z", "table": {"0": {}}},
        "b": {"like": "a"},
        "c": {"like": "b", "given": "b"},
    }
    assert (written(prior, "a"), written(prior, "b")) == (prior["a"], prior["a"])
    assert written(prior, "c") == {"given": "b", "table": {"0": {}}}
    assert written({"a": "likely + 1"}, "a") == "likely + 1"
    for other in ({"like": "d"}, {"like": "e"}, {"like": "a", "table": {}}, {"like": "a", "bernoulli": 1}):
        with pytest.raises(ValueError, match="in another order"):
            written({**prior, "d": other, "e": {}}, "d")
    assert (
        written({"a": {"around": "z", "range": 1}, "d": {"like": "a", "around": "y"}}, "d")["around"] == "y"
    )


WALKS: list[tuple[dict[str, Any], str, list[str], dict[tuple[Any, ...], Fraction] | str]] = [
    ({"a": {"uniform": ["x", "y"]}}, "a == 'x'", ["a"], {("x",): F(1)}),
    ({"a": {"bernoulli": "1/3"}}, "a < 2", ["p"], {(F(7),): F(1)}),
    (
        {"a": {"bernoulli": "1/3"}, "b": "a + 1", "c": "b"},
        "true",
        ["c", "a"],
        {(1, 0): F(2, 3), (2, 1): F(1, 3)},
    ),
    ({"a": {"bernoulli": "1/3"}}, "a == 1 and a == 0", ["a"], {}),
    ({"a": {"uniform": [0, 1, 2]}}, "a == 0 or a == 1", ["a"], {(0,): F(1, 2), (1,): F(1, 2)}),
    ({"a": {"bernoulli": "1/3"}}, "a", ["a"], {(1,): F(1)}),
    (
        {"a": {"bernoulli": "1/3"}},
        "true",
        ["a + a + 1 - a", "a - 2*a - a - 3"],
        {(1, -3): F(2, 3), (2, -5): F(1, 3)},
    ),
    ({"a": {"binomial": [2, "1/2"]}}, "a > 0", ["min(a, 1)"], {(1,): F(1)}),
    (
        {"a": {"bernoulli": "1/3"}, "d": "a + a + 1 + a - 1"},
        "d < 9",
        ["min(d, 2)"],
        {(0,): F(2, 3), (2,): F(1, 3)},
    ),
    ({"a": {"uniform": ["x", "y"]}}, "a", ["1"], "the label 'x' stands for a number"),
    ({"a": {"uniform": ["x", "y"]}}, "true", ["a + 1 + 2 + 3"], "the label 'x' stands for a number"),
    ({"a": "b", "b": "a"}, "true", ["min(a, 1)"], "recursion"),
    ({"a": {"given": "b", "table": {}}}, "true", ["a"], "depends on itself"),
]


@pytest.mark.parametrize("row", range(len(WALKS)))
def test_walks(row: int) -> None:
    """Secrets, derived variables, sums and parameters; labels are no numbers, and circles are mistakes."""
    prior, secret, queries, wanted = WALKS[row]
    walk = Walk(prior, HERE.knowing({"p": F(7)}))
    if isinstance(wanted, str):
        with pytest.raises((ValueError, RecursionError), match=wanted):
            walk.weights(secret, queries)
    else:
        found = walk.weights(secret, queries)
        mass = sum(found.values())
        assert {given: weight / mass for given, weight in found.items()} == wanted


def test_how_far_a_walk_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small prior is looked at as a whole, a large one in part; and as many states as allowed are kept."""
    for count in (11, 12):
        prior = coins(count - 1, "k - 1") | {"bad": {"bernoulli": "a label"}}
        if count == 11:
            with pytest.raises(ValueError, match="not an expression"):
                Walk(prior, HERE).weights("v1 == 1", ["v1"])
        else:
            assert len(Walk(prior, HERE).weights("v1 == 1", ["v1"])) == 1
    for most in (3, 2):
        monkeypatch.setattr(second_networks, "MAX_STATES", most)
        walk = Walk({"a": {"uniform": [0, 1, 2]}}, HERE)
        if most == 3:
            assert len(walk.weights("true", ["a"])) == 3
        else:
            with pytest.raises(UnreadCase, match="depends on each other"):
                walk.weights("true", ["a"])


def coins(count: int, text: str, **more: Any) -> dict[str, Any]:
    """A prior of variables each of which depends on some before it."""
    table = {"0": {"0": "2/3", "1": "1/3"}, "1": {"0": "1/4", "1": "3/4"}}
    prior: dict[str, Any] = {"v0": {"bernoulli": "1/2"}}
    for k in range(1, count):
        prior[f"v{k}"] = {"given": f"v{eval(text, {}, {'k': k})}", "table": table}
    return prior | more


SHAPES = {  # which variable one depends on, and the most states at once, and in all steps together
    "row": ("k - 1", 96, 1852),
    "star": ("0", 92, 2176),
    "tree": ("(k - 1)//2", 176, 3208),
    "comb": ("k - 1 if k % 2 else max(k - 2, 0)", 92, 2110),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_few_states(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a row, a star and trees, the walk keeps no more than what later variables and sums depend on."""
    text, most, together = SHAPES[shape]
    prior = coins(25, text)
    total = " + ".join(prior)
    sizes: list[int] = []
    done = Walk._done

    def counted(self: Walk, step: Any, states: Any) -> Any:
        found = done(self, step, states)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(Walk, "_done", counted)
    found = Walk(prior, HERE).weights("v24 == 1", [total])
    wanted: dict[int, Fraction] = summed(25, text)
    mass = sum(found.values())
    assert {int(n): w / mass for (n,), w in found.items()} == wanted
    assert max(sizes) <= most
    assert sum(sizes) <= together


def summed(count: int, text: str) -> dict[int, Fraction]:
    """How many of them are 1 if the last one is: from the leaves to the root, by convolution."""
    rows = [(F(2, 3), F(1, 3)), (F(1, 4), F(3, 4))]
    below: dict[int, list[dict[int, Fraction]]] = {
        k: [{v: F(1)} if k < count - 1 or v else {} for v in range(2)] for k in range(count)
    }
    for k in range(count - 1, 0, -1):
        parent = eval(text, {}, {"k": k})
        for v in range(2):
            grown: dict[int, Fraction] = {}
            for (n, p), w in product(below[parent][v].items(), range(2)):
                for m, q in below[k][w].items():
                    grown[n + m] = grown.get(n + m, F(0)) + p * q * rows[v][w]
            below[parent][v] = grown
    weights: dict[int, Fraction] = {}
    for own in below[0]:
        for n, p in own.items():
            weights[n] = weights.get(n, F(0)) + p / 2
    mass = sum(weights.values())
    return {n: w / mass for n, w in weights.items()}


# --- points -----------------------------------------------------------------------------------------


def test_points_follow_from_what_is_said() -> None:
    """Proofs do not move the points of a comparison, and everything else does."""
    entry = {"kind": "claim", "polynomial": "x", "proof": None}
    document = {"status": "holds", "statements": [entry]}
    drawn = draws(document).getrandbits(256)
    for key in ("proof", "proofs", "tree"):
        assert draws({**document, "statements": [{**entry, key: [1]}]}).getrandbits(256) == drawn
    assert draws(dict(reversed(document.items()))).getrandbits(256) == drawn
    others = [{**document, "status": "open"}, {**document, "statements": [{**entry, "kind": "cone"}]}]
    assert len({drawn, *(draws(other).getrandbits(256) for other in others)}) == 3


class Last(Random):
    """Draws one end of a range."""

    def __init__(self, last: bool) -> None:
        super().__init__()
        self.last = last

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        assert stop is not None
        return stop - step if self.last else start


def test_points_are_inside_of_a_box() -> None:
    """All multiples of 2^-BITS of an interval may be drawn, but not its ends; a number stays as it is."""
    box = {"a": (F(2), F(5), True, True), "b": (F(1, 3), F(1, 3), True, True)}
    step = F(3, 1 << BITS)
    assert point_in(box, Last(False)) == {"a": 2 + step, "b": F(1, 3)}
    assert point_in(box, Last(True)) == {"a": 5 - step, "b": F(1, 3)}


def test_degrees_are_estimated() -> None:
    """At points of so many digits, a power has about its degree as the length of its value."""
    assert length_of([]) == 1
    for degree in range(1, 12):
        for top in (2, 3, (1 << BITS) - 1):
            value = F(top, 1 << BITS) ** degree
            for given in ([value], [1 / value], [F(1, 3), value, F(2)]):
                assert degree <= length_of(given) <= degree + 1, (degree, top)


def test_enough_points() -> None:
    """The chance that a difference is missed is below what is said, with few points more than needed."""
    limit = F(1, 1 << CHANCE)
    for degree, lost, choices in product((1, 2, 10, 100, 1 << 20), range(28), (1, 5, 1000)):
        count = needed(degree, choices=choices, lost=lost)
        assert needed(degree, 3, choices, lost) == count + 3
        each = F(degree << lost, 1 << BITS)
        if BITS - lost - degree.bit_length() < 1:
            assert count == CHANCE + choices.bit_length()
            continue
        assert each**count * choices < limit
        assert (2 * each) ** (count - 1) * 2 * choices >= limit
