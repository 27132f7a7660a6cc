"""Values of programs in the second reader: beside fractions, sums at random points, and what has no value."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from operator import add, mul, sub, truediv
from typing import Any

import mpmath
import pytest

from paramverify.kernel.strict_reading import UnreadCase
from paramverify.models.programs.output_intervals import shown_output
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_trees import RELATIONS, Evaluator, expression, statements
from paramverify.rereader.second_values import (
    NoisyNumber,
    PowerSum,
    calculated,
    exponents,
    near_log,
    number,
    plain,
    rate,
    shown,
    whole,
    with_two_names,
    without_logarithms,
)

F = Fraction
EPS, DEL = PowerSum.variable("eps"), PowerSum.variable("del")
NOISE, OTHER = NoisyNumber({0: F(1)}, F(0)), NoisyNumber({1: F(2)}, F(5))
MORE = PowerSum({(): F(1), (("eps", 1),): F(1)})
BIG = F(2) ** 10_000


@pytest.mark.parametrize(
    "value", ["3", "2", "9/4", "9/2", "27/8", "4", "9", "5/4", "1000", "1001/1000", "16/81", "128"]
)
def test_logarithms(value: str) -> None:
    """The number near ln(b) has twenty digits, and that of a power of b is a multiple of it."""
    base = F(value) if F(value) > 1 else 1 / F(value)
    with mpmath.workdps(60):
        wanted = mpmath.log(mpmath.mpf(base.numerator) / base.denominator)
        found = near_log(base)
        assert abs(mpmath.mpf(found.numerator) / found.denominator - wanted) < mpmath.mpf(10) ** -18
    for k in (2, 3, 5, 6, 7, 12):
        assert near_log(base**k) == k * near_log(base)
    text = f"2*x - ln({base})/ln(2)"
    assert without_logarithms(text) == f"2*x - ({near_log(base)})/({near_log(F(2))})"


def at(value: Any, point: Mapping[Any, Fraction]) -> Fraction:
    """The number that a value is, where parameters and noise have these numbers."""
    if isinstance(value, NoisyNumber):
        assert all(value.slopes.values())
        return value.constant + sum((c * point[v] for v, c in value.slopes.items()), F(0))
    if isinstance(value, PowerSum):
        assert any(value.parts)
        assert all(value.parts.values())
        total = F(0)
        for key, c in value.parts.items():
            for name, power in key:
                c *= point[name] ** power
            total += c
        return total
    return F(value)


def test_sums_have_the_values_of_their_parts() -> None:
    """Random sums, products, quotients and powers are those of numbers at a point, and have one form."""
    r = random.Random(2)
    point = {"eps": F(3, 7), "del": F(-5, 3), 0: F(11, 4), 1: F(-2, 9)}
    python: Any = dict(zip(("Add", "Sub", "Mult", "Div"), (add, sub, mul, truediv), strict=True))
    kinds = set()
    for _ in range(1500):
        values = [
            r.choice([F(r.randint(-3, 3), r.randint(1, 2)), True, EPS, DEL, NOISE, OTHER]) for _ in "abcd"
        ]
        value, number_of = values[0], at(values[0], point)
        for other in values[1:]:
            word = r.choice(list(python))
            left, right = (value, other) if r.random() < 0.7 else (other, value)
            try:
                value = calculated(word, left, right)
            except (UnreadCase, ZeroDivisionError):
                break
            number_of = python[word](at(left, point), at(right, point))
            assert at(value, point) == number_of
            again = calculated("Add", calculated("Sub", value, F(1, 3)), F(1, 3))
            assert again == value
            assert calculated("Sub", value, again) == 0
            kinds.add((word, type(value)))
    assert len(kinds) == 12
    square = calculated("Add", calculated("Mult", EPS, EPS), calculated("Add", EPS, MORE))
    assert calculated("Pow", MORE, F(2)) == square


LONG = [F(0)] * 10_000
VALUES = """
Pow F(2,3) F(-2) = F(9,4); Pow F(1) F(1000) = F(1); Pow F(1) F(-1000) = F(1); Pow F(4) F(1,2)
Pow F(1) F(1001); Pow F(2)**19 F(1000) = F(2)**19_000; Pow F(2)**20 F(1000); Pow 1/F(2)**20 F(1000)
Pow F(1) F(-1001); Mult BIG BIG/2 = BIG*BIG/2; Mult BIG BIG; Div 1/BIG BIG; FloorDiv F(-7) F(2) = F(-4)
Mod F(-7) F(3) = F(2); Mod F(7,2) F(1) = F(1,2); Add True True = F(2); Add "a" F(1); Add F(1) "a"
Add [1] [2] = [1,2]; Mult [1,2] F(2) = [1,2,1,2]; Mult True [3] = [3]; Mult F(-1) [3] = []; Mult [1] [2]
Add [1] F(1); Add F(1) [1]; Sub [1] [1]; Mult [1] F(1,2); Mult LONG F(2) = LONG*2; Mult [1,2] F(10_001)
Add LONG LONG = LONG*2; Add LONG LONG+[1]; Mult NOISE OTHER; Mult NOISE NOISE; Div F(1) NOISE
Div NOISE NOISE; Mult NOISE EPS; Add NOISE EPS; Mod EPS F(2); Pow NOISE F(2); Pow NOISE F(0) = F(1)
Pow NOISE F(1) = NOISE; Pow EPS F(0) = F(1); Pow F(2) EPS; Pow EPS F(21); Pow EPS F(-21); Pow EPS F(1,2)
Pow EPS EPS; Div F(1) MORE; Pow EPS F(20) = PowerSum({(("eps",20),):F(1)})
Pow EPS F(-20) = PowerSum({(("eps",-20),):F(1)})
Div EPS EPS = F(1); Sub NOISE NOISE = F(0); FloorDiv NOISE F(2)
Div F(2) OTHER
"""


def test_values_by_hand() -> None:
    """Powers, lists, noise and parameters: the value, or none where it is too large or of another kind."""
    for text in VALUES.strip().replace("\n", "; ").split("; "):
        given, _, wanted = text.partition(" = ")
        word, left, right = given.split(" ")
        values = [eval(each, globals()) for each in (left, right)]  # our own text
        if not wanted:
            with pytest.raises(UnreadCase):
                calculated(word, *values)
        else:
            assert calculated(word, *values) == eval(wanted, globals()), text


def test_numbers_that_are_needed() -> None:
    """A number is one without noise, a truth is one too, and a label or a list is none."""
    assert [plain(True), number(F(1, 2)), whole(F(3)), number(EPS)] == [1, F(1, 2), 3, EPS]
    for function, value in (
        *((plain, EPS), (plain, NOISE), (plain, "a"), (plain, [F(1)]), (whole, F(1, 2)), (whole, NOISE)),
        *((number, "a"), (number, [F(1)]), (exponents, NOISE), (exponents, OTHER), (exponents, "a")),
        *((exponents, calculated("Mult", EPS, DEL)), (exponents, calculated("Mult", EPS, EPS))),
        *((exponents, calculated("Div", F(1), EPS)), (rate, EPS), (rate, NOISE), (rate, F(-1))),
        *(
            (rate, calculated("Div", F(-1), EPS)),
            (rate, calculated("Add", F(1), calculated("Div", F(1), EPS))),
        ),
    ):
        with pytest.raises(UnreadCase):
            function(value)


def test_exponents_and_rates() -> None:
    """Multiples of parameters are told by name, and a rate is one divided by the scale."""
    total = calculated("Sub", calculated("Add", calculated("Mult", F(2), EPS), F(1, 3)), DEL)
    assert exponents(total) == {"eps": 2, "": F(1, 3), "del": -1}
    assert exponents(True) == {"": 1}
    assert rate(calculated("Div", F(3), EPS)) == (F(1, 3), "eps")
    assert rate(F(2, 5)) == (F(5, 2), "")
    one = Calculator({"x_eps": F(1, 9)}, None, F(1), {"eps": F(1)})
    assert one.linear("2*eps + 1/3") == {"eps": 2, "": F(1, 3)}


LABELS = ["a", "a b", "a-b.c_1", "Z9", "_", "True", "False", "", "1", "1a", "-a", " a", "a ", ".", "é", "a,b"]
LABELS += ['a"b', "None", "[a]", "a\n", "(x)", "A B ", "a.", "0"]


def test_outputs_are_told_apart() -> None:
    """Both readers have the same words for an output, and different outputs have different words."""
    values: list[Any] = [*LABELS, True, False, F(1), F(0), F(-1, 2)]
    words = [shown(value) for value in values]
    assert words == [shown_output([value]) for value in values]
    lists = [[], [True], [F(1)], ["1"], [[F(1)]], ["a", "b"], ["a, b"], ["a"], [F(1), F(2)]]
    assert [shown(v) for v in lists][:3] == ["[]", "[True]", "[1]"]
    words += map(shown, lists)
    assert len({*words}) == len(words)


def test_lists_with_two_names() -> None:
    """A list is found that is reached in two ways, wherever it stands; equal lists are two."""
    one, two = [F(1)], [F(1)]
    nested = [one, [two]]
    for variables, wanted in (
        *(({"a": one, "b": two, "c": F(1)}, []), ({"a": one, "b": one}, [one]), ({"a": nested}, [])),
        *(({"a": nested, "b": two}, [two]), ({"a": [one, one, one]}, [one, one]), ({}, [])),
        *(({"a": nested, "b": [[nested]]}, [nested]), ({"a": [nested[1], nested]}, [nested[1]])),
    ):
        found = with_two_names(variables)
        assert list(map(id, found)) == list(map(id, wanted))


def test_values_are_compared_as_in_python() -> None:
    """Numbers, truths, labels and lists are equal or not as in Python; only numbers have an order."""
    values: list[Any] = [True, False, F(1), F(0), F(1, 2), "a", "b", [], [F(1)], [True], [F(1), F(2)], ["a"]]
    values += [[F(2)], [[F(1)]], [[]], ["a", F(1)], [F(1), "a"]]
    for (left, right), (word, meaning) in product(product(values, repeat=2), RELATIONS.items()):
        if word not in ("==", "!=") and {str, list} & {type(left), type(right)}:
            with pytest.raises(UnreadCase):
                Evaluator().compared(word, left, right)
        else:
            assert Evaluator().compared(word, left, right) is meaning(left, right)
    for word, meaning in RELATIONS.items():
        assert Evaluator().compared(word, MORE, EPS) is meaning(F(1), F(0))
        for pair in (EPS, F(1)), (F(1), EPS), (EPS, NOISE), (EPS, DEL):
            with pytest.raises(UnreadCase):
                Evaluator().compared(word, *pair)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *(
            ("1.50", F(3, 2)),
            ("1_000.5_0", F(2001, 2)),
            ("1e-2", F(1, 100)),
            ("0x10", F(16)),
            ("'a b'", "a b"),
        ),
        *(("True", True), ("1j", None), ("None", None), ("...", None), ("b'a'", None), (r"'\x61'", None)),
        *(("'a' 'b'", None), ("'''a'''", None), ("1 +", None), ("x = 1", None), ("f'a'", None)),
    ],
)
def test_constants(text: str, wanted: Any) -> None:
    """A number has the digits that are written, and a label is written as it is."""
    if wanted is None:
        with pytest.raises((ValueError, UnreadCase)):
            Calculator({}, None, F(1)).of(expression(text))
    else:
        assert Calculator({}, None, F(1)).of(expression(text)) == wanted
        assert type(Calculator({}, None, F(1)).of(expression(text))) is type(wanted)


def test_texts_that_are_no_program() -> None:
    """They are not read, and lead to no warning."""
    for text in ("x = ", "\0", "1 if", "(" * 500, "x = None"):
        with pytest.raises(UnreadCase):
            statements(text)
    assert len(statements("1 is 1\n'\\d'")) == 2
