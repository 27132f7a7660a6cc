"""What the second reader says of claims and probabilities at points: against definitions and brute force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest

from paramverify.claims import Origin
from paramverify.kernel.strict_reading import Rejected
from paramverify.rereader.second_matching import (
    Item,
    Matching,
    Row,
    differences,
    origin,
    possible,
    probabilities,
    scaled,
)
from paramverify.rereader.second_processes import Words
from paramverify.rereader.second_reader import PointProbabilities

F = Fraction
Claims = list[tuple[list[Fraction], list[str]]]  # the values of each claim at points, and its origins
Items = list[dict[Item, Row]]  # for each pair and length


def test_names_are_shown_alike() -> None:
    """Both readers show a name in the same way, for all short names with blanks, quotes and backslashes."""
    for length in range(5):
        for letters in product("a,'\"\\ \n", repeat=length):
            name = "".join(letters)
            assert origin(("l", "r", ("b", name))) == str(Origin("l", "r", ("b", name))), name


def at(bound: int | None, **words: Words | None) -> PointProbabilities:
    """What is found at a point."""
    bounds: dict[Fraction | None, Fraction] = {None: F(bound or 0), F(1): F(2), F(2): F(5)}
    far = {("a", "b"): F(1), ("b", "a"): F(2)} if bound is None else {}
    return PointProbabilities(bounds, words, far)


X, Y, Z, U, LONG = ("x",), ("y",), ("z",), ("u",), ("x", "y")


def test_differences_of_each_sequence() -> None:
    """Both directions of each possible sequence of a length, at all points; ignored ones if one side alone
    has them at some point where both secrets are possible."""
    likely: Words = {X: F(1, 2), Y: F(1, 4), LONG: F(1), U: F(0)}
    one = at(3, a=likely, b={X: F(1, 8), Y: F(0), Z: F(1, 4)}, c={Z: F(1)})
    other = at(None, a={X: F(1, 3), Y: F(1, 2)}, b={X: F(0), Y: F(1, 3)}, c=None)
    never = at(3, a=None, b={X: F(1), Z: F(1)}, c=None)
    listed = {
        X: ([F(3, 8) - F(1, 2), -F(1, 3), None], [F(3, 2) - F(1, 8), F(5, 3), None]),
        Y: ([F(-1, 4), F(2, 3) - F(1, 2), None], [F(3, 4), F(5, 2) - F(1, 3), None]),
        Z: ([F(3, 4), F(0), None], [-F(1, 4), F(0), None]),
    }
    for where in ([0, 1, 2], [0], [1], [2], [1, 2]):
        points = [(one, other, never)[k] for k in where]
        for one_sided in (True, False):
            found = dict(differences(points, "a", "b", 1, one_sided))
            assert found == dict(differences(points, "b", "a", 1, one_sided))
            expected = {}
            for word, rows in listed.items():
                chances = [(p.words["a"], p.words["b"]) for p in points]
                both = [(p.get(word, 0), q.get(word, 0)) for p, q in chances if p and q]
                seen = any((p or {}).get(word) or (q or {}).get(word) for p, q in chances)
                if seen and (one_sided or all((p > 0) == (q > 0) for p, q in both)):
                    for way, row in zip((("a", "b"), ("b", "a")), rows, strict=True):
                        expected[(*way, word)] = tuple(row[k] for k in where)
            assert found == expected, (where, one_sided)
    assert list(differences([one], "a", "b", 2, True)) == [
        (("a", "b", LONG), (F(-1),)),
        (("b", "a", LONG), (F(3),)),
    ]
    assert [item for item, _ in differences([one, other], "a", "c", 1, False)] == []


def test_scales_of_sequences() -> None:
    """A power of a number by the length is found from a sequence of length 1 that is possible in both."""
    true: Words = {X: F(1, 3), Y: F(1, 4), LONG: F(1, 12), ("y", "y", "x"): F(1, 48)}
    for factor in (F(2), F(1, 5)):
        mores: list[Words] = [{}, {Z: F(0)}, {U: F(7)}]
        for more in mores:
            wrong = {**more, **{word: p * factor ** len(word) for word, p in true.items()}}
            found = scaled(wrong, {**true, Z: F(1), U: F(0), ("y", "x"): F(1)})
            assert {word: p for word, p in found.items() if word in true} == true
    assert scaled({LONG: F(1, 3)}, {LONG: F(1, 5)}) == {LONG: F(1, 3)}
    assert scaled({Z: F(0), LONG: F(1, 3)}, {Z: F(1), LONG: F(1, 5)}) == {Z: F(0), LONG: F(1, 3)}
    assert possible({X: F(1), Y: F(0)}) == {X: F(1)}
    assert possible({X: F(1), Y: F(0), Z: F(2)}, {X: F(0), Y: F(1), Z: F(3)}) == {Z: F(2)}


# --- claims beside differences ----------------------------------------------------------------------


def made(random: Random, points: int, sizes: Sequence[int] = (3, 4)) -> tuple[Items, Claims]:
    """Differences t of some pairs, and claims f = k·s·t with an s > 0 of each pair and a k > 0 of each claim.

    One is zero at the first point, and one at all points; some secrets are impossible at the last one.
    """

    def positive() -> Fraction:
        return F(random.randint(1, 99), random.randint(1, 99))

    items: Items = []
    claims: Claims = []
    for number, size in enumerate(sizes):
        shared = [positive() for _ in range(points)]
        rows: dict[Item, Row] = {}
        for k in range(size):
            row: list[Fraction | None] = [positive() * random.choice((-1, 1)) for _ in range(points)]
            if k == 1:
                row[0] = F(0)
            if k == 2:
                row = [F(0)] * points
            if number == 1:
                row[-1] = None
            item = (f"l{number}", f"r{number}", (f"w{k}",))
            rows[item] = tuple(row)
            factor = positive()
            values = [factor * s * (t or 0) for s, t in zip(shared, row, strict=True)]
            claims.append((values, [origin(item)]))
        items.append(rows)
    return items, claims


def matched(items: Items, claims: Claims, complete: bool = True) -> Matching:
    """Compares them all."""
    found = Matching([tuple(values) for values, _ in claims], [names for _, names in claims], complete)
    for rows in items:
        found.group(rows)
    found.close([next(iter(rows))[:2] for rows in items])
    return found


def scaled_by(factor: int, *places: int) -> Callable[[Items, Claims], None]:
    """Multiplies the values of all claims at some points."""

    def change(items: Items, claims: Claims) -> None:
        for values, _ in claims:
            values[:] = [f * (factor if k in places else 1) for k, f in enumerate(values)]

    return change


def where_others_are_zero(items: Items, claims: Claims) -> None:
    """A sequence without a claim, whose difference is not zero only where those of all others are."""
    for item, row in items[0].items():
        items[0][item] = (*row[:3], F(0))
    for values, _ in claims[:3]:
        values[3] = F(0)
    items[0]["l0", "r0", ("more",)] = (F(0), F(0), F(0), F(1))
    del claims[6], claims[2]


NEVER = ["r0 against l0, output unseen"]
WRONG: list[tuple[Callable[[Items, Claims], object], bool]] = [  # whether it is wrong of some claims, too
    (lambda items, claims: claims[0][0].__setitem__(1, claims[0][0][1] * 5), True),
    (lambda items, claims: claims[3][0].__setitem__(0, claims[3][0][0] * 5), True),
    (lambda items, claims: scaled_by(-1, 0, 1, 2, 3)(items, claims[3:4]), True),
    (scaled_by(-1, 0, 1, 2, 3), True),
    (scaled_by(-1, 2), True),
    (lambda items, claims: claims[2][0].__setitem__(0, F(1)), True),
    (lambda items, claims: claims.pop(1), False),
    (
        lambda items, claims: claims.__setitem__(
            slice(2), [(claims[k][0], claims[1 - k][1]) for k in (0, 1)]
        ),
        True,
    ),
    (lambda items, claims: claims[0][1].__setitem__(0, "l0 against r0, output never"), True),
    (lambda items, claims: claims[2][1].__setitem__(0, "r1 against l0, output w2"), True),
    (lambda items, claims: claims.append(([F(0), F(1), *claims[0][0][2:]], [])), False),
    (lambda items, claims: claims.extend([([F(0)] * 4, NEVER), (claims[0][0], NEVER)]), True),
    (lambda items, claims: claims.append(([F(0), *claims[0][0][1:]], NEVER)), True),
    (where_others_are_zero, False),
]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("complete", [True, False])
def test_claims_up_to_positive_factors(seed: int, complete: bool) -> None:
    """What agrees up to s > 0 of each pair and k > 0 of each claim is accepted, in any order, and merged
    claims, those without words and of sequences never seen too; one wrong value, name or claim is not."""
    random = Random(seed)
    items, claims = made(random, 4)
    assert not matched(items, claims, complete).loose
    random.shuffle(claims)
    assert not matched(items, [*claims, ([F(0)] * 4, NEVER)], complete).loose
    matched(items, [(values, []) for values, _ in claims], complete)
    for change, always in WRONG:
        items, claims = made(Random(seed), 4)
        change(items, claims)
        if always or complete:
            with pytest.raises(Rejected, match=r"claim|compare"):
                matched(items, claims, complete)
        else:
            matched(items, claims, complete)


def test_pairs_of_which_signs_are_compared() -> None:
    """Where all rows of a pair are multiples of one, only signs are compared, and that pair is named."""
    row = (F(1), F(2), F(-3))
    items: Items = [
        {("l", "r", ("x",)): row, ("r", "l", ("x",)): tuple(-2 * t for t in row)},
        {("l", "s", ("x",)): row, ("s", "l", ("x",)): (F(1), F(1), F(1)), ("l", "s", ("y",)): row},
    ]
    claims: Claims = [
        ([F(5), F(1), F(-1)], ["l against r, output x"]),
        ([F(-5), F(-1), F(1)], ["r against l, output x"]),
        ([F(2), F(2), F(-9)], ["l against s, output x"]),
        ([F(2), F(1), F(3)], ["s against l, output x"]),
    ]
    assert matched(items, claims).loose == {("l", "r")}
    claims[1][0][1] = F(-2)
    with pytest.raises(Rejected, match="no claim says"):
        matched(items, claims)


# --- models of certificates -------------------------------------------------------------------------


STEPS = [(0, 0, 0, "w", 1), (0, 1, 1, "2*w", 2), (1, 1, 1, "w", 1), (1, 0, 0, "w", 1), (1, 0, 1, "w", 1)]


def test_probabilities_of_a_model() -> None:
    """Sums over all ways through a model whose weights have one factor, against a recursion."""
    steps = [[*step[:4]] for step in STEPS]
    left = {"mass": "w", "weights": {"0": "w/4", "1": "3*w/4"}}
    right = {"mass": "0", "weights": {"1": "1"}}
    model: dict[str, Any] = {"observations": ["x", "y"], "steps": steps, "pairs": [["l", "r", left, right]]}

    def value(text: str) -> Fraction:
        return F(eval(text, {"w": F(7, 2)}))

    def chance(state: int, word: tuple[str, ...]) -> Fraction:
        if not word:
            return F(1)
        rows = [(t, F(w)) for s, seen, t, _, w in STEPS if s == state and "xy"[seen] == word[0]]
        return sum((w / 3 * chance(t, word[1:]) for t, w in rows), F(0))

    found = list(probabilities(model, value, [1, 3]))
    expected = {
        word: chance(0, word) / 4 + chance(1, word) * F(3, 4)
        for n in (1, 3)
        for word in product("xy", repeat=n)
    }
    assert found == [("l", "r", expected), ("r", "l", None)]
    model["pairs"] = [["r", "l", left, left]]
    model["steps"] = [*steps, [1, 1, 0, "w"]]  # an adversary has more in one state: the least sum counts
    (_, _, words), _ = probabilities(model, value, [1])
    assert words == {("x",): F(1, 12) + F(1, 2), ("y",): F(1, 6) + F(1, 2)}
