"""Signs of polynomials in one product of powers, beside their values at points."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import prod
from random import Random
from typing import Any

import pytest

from paramverify.kernel import product_substitution
from paramverify.kernel.product_substitution import ByRoots, product_goal, read_by_roots
from paramverify.kernel.proof_goals import Goal
from paramverify.kernel.strict_reading import Rejected

F = Fraction
Poly = dict[tuple[int, ...], Fraction]
NAMES = ("x", "y")
ONES: Poly = {(0, 0): F(1)}


def times(left: Poly, right: Poly) -> Poly:
    """Returns the product of two polynomials."""
    found: Poly = {}
    for one, other in product(left, right):
        key = tuple(map(sum, zip(one, other, strict=True)))
        found[key] = found.get(key, F(0)) + left[one] * right[other]
    return {key: value for key, value in found.items() if value}


def power(poly: Poly, count: int) -> Poly:
    """Returns a power of a polynomial."""
    found = ONES
    for _ in range(count):
        found = times(found, poly)
    return found


def made(random: Random) -> tuple[dict[str, Any], Poly, dict[str, tuple[Fraction, Fraction]], list[Fraction]]:
    """Returns what evidence says of c·Π (u − r), for u = x^a·y^b with 1 − x for some x, box and roots."""
    powers = {name: random.choice((1, 2)) for name in random.choice((["x"], ["y"], ["x", "y"]))}
    reflected = [name for name in powers if random.random() < 0.5]
    u = ONES
    for k, name in enumerate(NAMES):
        if name in powers:
            linear: Poly = {(1 - k, k): F(1)}
            if name in reflected:
                linear = {(0, 0): F(1), (1 - k, k): F(-1)}
            u = times(u, power(linear, powers[name]))
    roots = sorted({F(random.randrange(1, 20), 20) for _ in range(random.choice((1, 2, 2, 3)))})
    poly: Poly = {(0, 0): F(random.choice((-2, 1, 3)))}
    for root in roots:
        factor = dict(u)
        factor[0, 0] = factor.get((0, 0), F(0)) - root
        poly = times(poly, factor)
    box = {name: random.choice(((F(0), F(1)), (F(1, 10), F(9, 10)), (F(1, 3), F(1)))) for name in NAMES}
    ends = [sorted(1 - end if name in reflected else end for end in box[name]) for name in powers]
    least, most = (prod(e[k] ** n for e, n in zip(ends, powers.values(), strict=True)) for k in (0, 1))
    inside = [root for root in roots if least < root < most]
    if len(inside) != len([root for root in roots if least <= root <= most]):
        return made(random)
    entry = {
        "powers": {name: str(n) for name, n in powers.items()},
        "reflected": reflected,
        "cuts": [str((a + b) / 2) for a, b in pairwise(inside)],
        "roots": [[str(max(least, root - F(1, 90))), str(min(most, root + F(1, 70)))] for root in inside],
    }
    return entry, poly, box, inside


def value(poly: Poly, x: Fraction, y: Fraction) -> Fraction:
    """Returns the value at a point."""
    return sum((c * x**a * y**b for (a, b), c in poly.items()), F(0))


def is_true(found: ByRoots, poly: Poly, random: Random) -> int:
    """Tells that signs on parts of the box are those at points; returns on how many parts there is one."""
    told = 0
    box = dict.fromkeys(NAMES, (F(0), F(1))) | found.box
    for _ in range(25):
        parts = {
            name: sorted(low + (high - low) * F(random.randrange(13), 12) for _ in range(2))
            for name, (low, high) in box.items()
        }
        part = found
        for name in found.names:
            (low, high), (start, end) = found.box[name], parts[name]
            _, part = part.cut(name, (start - low) / (high - low))
            if high > start:
                part, _ = part.cut(name, (end - start) / (high - start))
            assert part.box[name] == (start, end)
        sign = part.weak_sign()
        corners = [value(poly, x, y) for x in parts["x"] for y in parts["y"]]
        middle = value(poly, sum(parts["x"]) / 2, sum(parts["y"]) / 2)
        if sign is not None:
            told += 1
            assert all(v * sign > 0 for v in (*corners, middle)), (found, parts)
            fixed = found.at({name: parts[name][0] for name in found.names})
            assert fixed.weak_sign() in (None, sign)
    return told


def test_signs_are_those_at_points() -> None:
    """Signs are those of values, and are known on many parts; and so with changed evidence, if accepted."""
    told, accepted, refused = 0, 0, 0
    for seed in range(20):
        random = Random(seed)
        entry, poly, box, inside = made(random)
        found = read_by_roots(entry, poly, NAMES, box)
        assert len(found.signs) == len(inside) + 1
        told += is_true(found, poly, random)
        for _ in range(3):
            other = changed(entry, random)
            try:
                found = read_by_roots(other, poly, NAMES, box)
            except (Rejected, KeyError):
                refused += 1
                continue
            accepted += 1
            is_true(found, poly, random)
    assert told > 150
    assert accepted > 0
    assert refused > 20


def changed(entry: dict[str, Any], random: Random) -> dict[str, Any]:
    """Returns what says something else in one place."""
    by = str(F(random.choice((-1, 1)), random.choice((30, 100))))
    cuts, roots = list(entry["cuts"]), [list(ends) for ends in entry["roots"]]
    if roots and random.random() < 0.6:
        k = random.randrange(len(roots))
        end = random.randrange(2)
        roots[k][end] = random.choice((roots[k][1 - end], str(F(roots[k][end]) + F(by))))
        roots = random.choice((roots, [*roots[:k], *roots[k + 1 :]], [*roots, roots[k]]))
        return {**entry, "roots": roots}
    if cuts and random.random() < 0.6:
        k = random.randrange(len(cuts))
        return {**entry, "cuts": random.choice(([*cuts[:k], *cuts[k + 1 :]], [*cuts, by], [by, *cuts]))}
    powers = dict(entry["powers"])
    name = random.choice(list(powers))
    return random.choice(
        (
            {**entry, "powers": {**powers, name: random.choice(("0", "-1", "1", "2"))}},
            {**entry, "powers": {**powers, "y": "1"}},
            {**entry, "powers": {n: p for n, p in powers.items() if n != name}},
            {**entry, "reflected": [*NAMES]},
            {**entry, "reflected": []},
        )
    )


def test_negative_numbers_have_no_powers() -> None:
    """The products of powers ascend only from 0 on."""
    entry = {"powers": {"x": "2"}, "reflected": [], "cuts": [], "roots": []}
    poly = {(2, 0): F(1), (0, 0): F(1)}
    for low, high, reflected in ((F(-1), F(1), []), (F(0), F(2), ["x"])):
        with pytest.raises(Rejected, match=r"may be negative|does not depend"):
            read_by_roots({**entry, "reflected": reflected}, poly, NAMES, {"x": (low, high)})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, ""),
        ({"roots": [["3/5", "2/5"]]}, "one root lies between"),
        ({"roots": [["1/2", "1/2"]]}, "one root lies between"),
        ({"roots": [["3/5", "4/5"]]}, "one root lies between"),
        ({"roots": [["1/2", "3/5"]]}, "one root lies between"),
        ({"roots": [["2/5", "1/2"]]}, "one root lies between"),
        ({"roots": []}, "the roots are all"),
        ({"roots": [["2/5", "11/20"], ["9/20", "3/5"]]}, "the roots are all"),
        ({"roots": [["2/5", "3/5"], ["-1", "2"]]}, "named that is not inside"),
        ({"roots": [["-1", "3/5"]]}, "the roots are all"),
        ({"roots": [["0", "1"]]}, ""),
        ({"cuts": ["1/2"]}, "vanishes at a cut"),
        ({"cuts": ["1/4"]}, ""),
        ({"cuts": ["11/20"]}, "the roots are all"),
        ({"cuts": ["1"]}, "vanishes at a cut, or the cuts"),
        ({"cuts": ["3/4", "1/4"]}, "do not ascend"),
        ({"cuts": ["1/4", "1/4"]}, "do not ascend"),
        ({"powers": {}}, "not powers"),
        ({"powers": {"z": "1"}}, "not powers"),
        ({"powers": {"x": "0"}}, "not a positive power"),
        ({"powers": {"x": "1", "y": "0"}}, "not a positive power"),
        ({"reflected": ["y"]}, "not powers"),
        ({"reflected": ["z"]}, "not powers"),
        ({"powers": {"y": "1"}}, "does not depend"),
        ({"powers": {"x": "1", "y": "1"}}, "does not depend"),
        ({"powers": {"x": "2"}}, "does not depend"),
        ({"reflected": ["x"]}, ""),
    ],
)
def test_what_is_said_of_one_root(change: dict[str, Any], reason: str) -> None:
    """Of x - 1/2 on [0, 1]: one root between two places in their order, and parts that belong to it."""
    entry = {"powers": {"x": "1"}, "reflected": [], "cuts": [], "roots": [["2/5", "3/5"]], **change}
    box = dict.fromkeys(NAMES, (F(0), F(1)))
    if reason:
        with pytest.raises(Rejected, match=reason):
            read_by_roots(entry, {(1, 0): F(1), (0, 0): F(-1, 2)}, NAMES, box)
        return
    found = read_by_roots(entry, {(1, 0): F(1), (0, 0): F(-1, 2)}, NAMES, box)
    sign = -1 if change.get("reflected") else 1
    low, high = map(F, entry["roots"][0])
    assert found.signs == ((0, low, -sign), (high, 1, sign))
    for u, there in ((F(0), -sign), (low, -sign), ((low + high) / 2, None), (high, sign), (F(1), sign)):
        x = 1 - u if change.get("reflected") else u
        assert found.at({"x": x}).weak_sign() == (there if low > 0 or u in (low, high) else None)


def test_degrees_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A factor has a degree from 1 to the limit in the product."""
    entry = {"powers": {"x": "1"}, "reflected": [], "cuts": [], "roots": []}
    monkeypatch.setattr(product_substitution, "MAX_DEGREE", 2)
    for degree, right in ((1, True), (2, True), (3, False), (0, False)):
        poly = {(k, 0): F(1) for k in (degree, 0)}
        if right:
            assert read_by_roots(entry, poly, NAMES, {"x": (F(0), F(1))}).weak_sign() == 1
            continue
        for none in (poly, {}):
            with pytest.raises(Rejected, match="has no degree"):
                read_by_roots(entry, none, NAMES, {"x": (F(0), F(1))})


def test_parts_with_two_variations() -> None:
    """Two roots need a cut between them; and two variations of the coefficients are not none."""
    entry = {"powers": {"x": "1"}, "reflected": [], "cuts": [], "roots": [["1/4", "2/5"], ["3/5", "3/4"]]}
    box = dict.fromkeys(NAMES, (F(0), F(1)))
    two = {(2, 0): F(1), (1, 0): F(-1), (0, 0): F(2, 9)}
    with pytest.raises(Rejected, match="one root lies between"):
        read_by_roots(entry, two, NAMES, box)
    assert len(read_by_roots({**entry, "cuts": ["1/2"]}, two, NAMES, box).signs) == 3
    with pytest.raises(Rejected, match="the roots are all"):
        read_by_roots({**entry, "roots": []}, {(2, 0): F(4), (1, 0): F(-4), (0, 0): F(7, 5)}, NAMES, box)


def test_the_goal_of_a_product() -> None:
    """A variable takes the place of x·(1 − y)^2, with the values of that; other variables stay away."""
    u = times({(1, 0): F(1)}, power({(0, 0): F(1), (0, 1): F(-1)}, 2))
    poly = {**times(u, u), (0, 0): F(-1, 3)}
    goal = Goal(
        NAMES,
        poly,
        {"x": (F(1, 2), F(3)), "y": (F(1, 4), F(1, 2))},
        (),
        frozenset({("x", 0), ("x", 1), ("y", 1)}),
    )
    proof = {"variable": "x", "powers": {"x": "1", "y": "2"}, "reflected": ["y"]}
    found = product_goal(goal, proof)
    assert found.poly.keys() == {(2, 0), (0, 0)}
    assert found.poly[2, 0] == -3 * found.poly[0, 0] > 0
    assert found.box == {"x": (F(1, 8), F(27, 16)), "y": goal.box["y"]}
    assert found.open == {("y", 1)}
    assert product_goal(goal, {**proof, "variable": "y"}).poly.keys() == {(0, 2), (0, 0)}
