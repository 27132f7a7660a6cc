"""Expressions: what they mean, what is refused, and where a mistake is shown."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import FEW, NAMES, Token, arithmetic, conditions, points, python_of, text_of

from paramverify.algebra.expressions import (
    MAX_DEPTH,
    MAX_LENGTH,
    Operation,
    RationalConstant,
    constant,
    evaluate,
    exact_decimal,
    parse,
)
from paramverify.errors import ExpressionError, InputError

Point = Mapping[str, Fraction]

POINT = {name: Fraction(1, 2) for name in NAMES}


def pythons_own(text: str, point: Point) -> object:
    """Returns what Python makes of the text, with exact numbers; None for a division by zero."""
    scope: dict[str, object] = {
        **point,
        "Fraction": Fraction,
        "min": min,
        "max": max,
        "abs": abs,
        "__builtins__": {},
    }
    try:
        return eval(text, scope)
    except ZeroDivisionError:
        return None


def ours(text: str, point: Point) -> object:
    """Returns what we make of it; None for a division by zero."""
    try:
        return evaluate(parse(text), point)
    except ExpressionError as error:
        if error.reason != "division by zero":
            raise
        return None


@pytest.mark.slow
@FEW
@given(arithmetic(), points())
def test_arithmetic_means_what_it_means_in_python(tokens: tuple[Token, ...], point: Point) -> None:
    """Random arithmetic has the value that Python computes with Fractions, division by zero included."""
    assert ours(text_of(tokens), point) == pythons_own(python_of(tokens), point)


@pytest.mark.slow
@FEW
@given(conditions(), points())
def test_conditions_mean_what_they_mean_in_python(tokens: tuple[Token, ...], point: Point) -> None:
    """Comparisons, their chains, `and`, `or` and `not` bind and decide as in Python."""
    assert ours(text_of(tokens), point) == pythons_own(python_of(tokens), point)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 - 2 - 3", -4),
        ("12 / 3 / 2", 2),
        ("2**3**2", 512),
        ("-2**2", -4),
        ("(-2)**2", 4),
        ("2**-1", Fraction(1, 2)),
        ("2*3+4*5-6/4", Fraction(49, 2)),
        ("0**0", 1),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("1e-3", Fraction(1, 1000)),
        (".5", Fraction(1, 2)),
        ("1_000", 1000),
        ("  1\n+\t1  ", 2),
        ("true + true", 2),
        ("(1 < 2) + (2 < 1)", 1),
        ("max(1, 2, 3) - min(4, 1/2)", Fraction(5, 2)),
        ("1 < 2 < 2", False),
        ("not 1 > 2 and 3 != 4", True),
        ("'flu' == 'flu'", True),
        ("'flu' == \"cold\" or 'flu' != 'cold'", True),
        ("'1' == 1", False),
    ],
)
def test_value(text: str, value: Fraction | int) -> None:
    """Precedence, decimals, booleans as numbers, and labels, on examples computed by hand."""
    assert evaluate(parse(text)) == value


@FEW
@given(st.decimals(allow_nan=False, allow_infinity=False, places=12))
def test_decimals_are_exact(number: Decimal) -> None:
    """A decimal is the rational that its digits say, not the nearest float."""
    assert exact_decimal(str(number)) == Fraction(str(number))


CALL = "not a function of the case format (these are: exp, ln, abs, min, max)"
LARGE = "a number has too many digits, or too large an exponent"
NAME = "is not a name: use letters, digits and _, starting with a letter"


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("__import__('os').system('true')", CALL, 0),
        ("1 + open('/etc/passwd')", CALL, 4),
        ("p.real", "not allowed in an expression: attribute", 0),
        ("1 + p[0]", "not allowed in an expression: subscript", 4),
        ("2*(lambda: 0)", "not allowed in an expression: lambda", 3),
        ("[x for x in p]", "not allowed in an expression: listcomp", 0),
        ("min(x for x in p)", "not allowed in an expression: generatorexp", 3),
        ("f'{p}'", "not allowed in an expression: joinedstr", 0),
        ("(x := 1)", "not allowed in an expression: namedexpr", 1),
        ("p if q else r", "not allowed in an expression: ifexp", 0),
        ("p, q", "not allowed in an expression: tuple", 0),
        ("max(*p)", "not allowed in an expression: starred", 4),
        ("{}", "not allowed in an expression: dict", 0),
        ("(yield p)", "not allowed in an expression: yield", 1),
        ("await p", "not allowed in an expression: await", 0),
        ("p % 2", "not allowed in an expression: mod", 0),
        ("1 + p // 2", "not allowed in an expression: floordiv", 4),
        ("~p", "not allowed in an expression: invert", 0),
        ("p^2 + 1", "write ** for a power, not ^", 0),
        ("p is q", "this comparison is not allowed: use <, <=, >, >=, == or !=", 0),
        ("p in q", "this comparison is not allowed: use <, <=, >, >=, == or !=", 0),
        ("None", "not a decimal number: None", 0),
        ("1 + ...", "not a decimal number: ...", 4),
        ("1 + 2j", "not a decimal number: 2j", 4),
        ("0x10", "not a decimal number: 0x10", 0),
        ("b'x'", "not a decimal number: b'x'", 0),
        ("p + __class__", f"'__class__' {NAME}", 4),
        ("exp()", "exp takes 1 argument, without names", 0),
        ("1 + ln(2, 3)", "ln takes 1 argument, without names", 4),
        ("max(p, key=1)", "max takes at least 1 argument, without names", 0),
        ("", "empty expression", 0),
        (" \n ", "empty expression", 0),
        ("p +", "syntax error", 3),
        (" (1 * p) + ", "syntax error", 10),
        ("p = 1", "write == for equality", 2),
        ("(p = 1)", "write == for equality", 3),
        ("p < 1 and p = 1", "write == for equality", 12),
        ("p == 0 or 1", "1 alone is always true: did you mean p == 1?", 10),
        ("not p == 0 or -1", "-1 alone is always true: did you mean p == -1?", 14),
        ("1/2 or p > 1", "1 / 2 alone is always true: did you mean p > 1 / 2?", 0),
        ("(p < 0 or q > 1) and 0", "0 alone is always false: did you mean p < 0?", 21),
        ("p == 0 or q or 1", "1 alone is always true: did you mean p == 1?", 15),
        ("p =< 1", "write <=, not =<", 2),
        ("1 => p", "write >=, not =>", 2),
        ("x == '=' y", "syntax error", 9),
        ("  p q", "syntax error", 4),
        ("p; q", "syntax error", 1),
        ("1if p else 2", "syntax error", 0),
        ("p + π", "unexpected character 'π'", 4),
        ("p + \N{CYRILLIC SMALL LETTER ER}", "unexpected character 'р'", 4),
        ("p\x00", "unexpected character '\\x00'", 1),
        ("p\r\n", "unexpected character '\\r'", 1),
        ("p**(10**9)", "an exponent must be at most 10,000", 4),
        ("1 + p**10001", "an exponent must be at most 10,000", 7),
        ("p**-10001", "an exponent must be at most 10,000", 3),
        ("p**q", "an exponent must be a whole number", 3),
        ("p**(q - q + 2)", "an exponent must be a whole number", 4),
        ("p**(1/2)", "an exponent must be a whole number", 4),
        ("p**0.5", "an exponent must be a whole number", 3),
        ("p**'a'", "an exponent must be a whole number", 3),
        ("p**(1 < 2)", "an exponent must be a whole number", 4),
        ("p**(1/0)", "division by zero", 6),
        ("1 + 1e999999", LARGE, 4),
        ("1e1001", LARGE, 0),
        ("1 + " + "9" * 1999 + ".99", LARGE, 4),
        ("1 + " + "9" * 2001, "a number has too many digits", 4),
        ("1 + " + "9" * 5000, "a number has too many digits", 4),
        ("(" * 10_000 + "p" + ")" * 10_000, f"the expression is longer than {MAX_LENGTH} characters", 0),
        ("(" * 10_000, f"brackets are nested deeper than {MAX_DEPTH}", MAX_DEPTH),
        ("(" * 9_999 + "p" + ")" * 9_999, f"brackets are nested deeper than {MAX_DEPTH}", MAX_DEPTH),
        ("1 + " + "9/" * 250 + "2", f"the expression is nested deeper than {MAX_DEPTH}", None),
        ("-" * 10_000 + "p", "the expression is nested too deeply, or has too many terms", 0),
        ("+".join("p" * 9_000), "the expression is nested too deeply, or has too many terms", 0),
        ("p" * (MAX_LENGTH + 1), f"the expression is longer than {MAX_LENGTH} characters", 0),
    ],
)
def test_refused_when_read(text: str, reason: str, column: int | None) -> None:
    """Whatever is not arithmetic of the case format is refused with its reason and its place."""
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert (
        caught.value.reason.removesuffix(f": {caught.value.mend[6:]}").removesuffix(f"; {caught.value.mend}")
        == reason
    )
    if column is not None:
        assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("1 + 1/(p - p)", "division by zero", 7),
        ("(p - 1/2)**-1", "division by zero", 1),
        ("1 + s", "unknown name 's'; known here: p, q, r", 4),
        ("qq + 1", "unknown name 'qq'; did you mean 'q'?", 0),
        ("2*'flu'", "the label 'flu' is not a number", 2),
        ("'a' < 1", "the label 'a' is not a number", 0),
        ("1 + exp(1)", "exp is not allowed here, because its value is not rational", 4),
        ("ln(2)", "ln is not allowed here, because its value is not rational", 0),
        ("3**1000 * " * 80 + "1", "the value is too large", 0),
        ("(2**1000)**1000", "the value is too large", 1),
        ("+".join(f"1/{10**29 + i}**900" for i in range(500)), "the value is too large", 0),
        ("1/" + "/".join(f"{10**29 + i}**900" for i in range(150)), "the value is too large", 0),
    ],
)
def test_refused_when_evaluated(text: str, reason: str, column: int | None) -> None:
    """Divisions by zero, unknown names, labels as numbers and values that grow too large are refused."""
    with pytest.raises(ExpressionError) as caught:
        evaluate(parse(text), POINT)
    assert (caught.value.reason, caught.value.column) == (reason, column)


def test_no_names_known() -> None:
    """A constant with a name in it says that no names are known there."""
    with pytest.raises(ExpressionError, match="unknown name 'p'; no names are known here"):
        constant("p + 1")


@pytest.mark.parametrize("text", ["'a'", "1 < 2"])
def test_constant_is_a_number(text: str) -> None:
    """A label or a condition is not accepted where a number is needed."""
    with pytest.raises(ExpressionError, match="a number is needed here"):
        constant(text)


@pytest.mark.slow
def test_long_flat_sums_and_products() -> None:
    """Sums and products with thousands of terms are flat: their length does not count as nesting."""
    assert evaluate(parse("+".join(["p"] * 2000)), POINT) == 1000
    assert evaluate(parse("*".join(["2"] * 2000))) == 2**2000


def test_subtraction_is_flat_too() -> None:
    """A chain of + and - becomes one sum."""
    root = parse("1 - 2 + 3 - 4").root
    assert isinstance(root, Operation)
    assert (root.operator, len(root.arguments)) == ("+", 4)


def test_brackets_up_to_the_bound() -> None:
    """Exactly as many brackets as the bound says are accepted."""
    text = "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH
    assert evaluate(parse(text)) == 1


def test_nothing_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An expression that would run a command is refused without running it."""
    ran: list[str] = []
    monkeypatch.setattr(os, "system", ran.append)
    call = "__import__('os').system('true')"
    for text in (call, f"exp({call})", f"p**{call}", "os.system('true')"):
        with pytest.raises(ExpressionError):
            parse(text)
    assert ran == []


@FEW
@given(st.text(max_size=40) | st.text("pq01.+-*/()<=' #eE,_[]{}:^@!\\\n", max_size=40))
@example("1if p else 2")
@example("'\\d'")
@example("'\\N{no such name}'")
def test_any_text_gives_a_tree_or_an_input_error(text: str) -> None:
    """Arbitrary text is read or refused with a place inside it, without warnings or other exceptions."""
    place = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            parse(text)
        except ExpressionError as error:
            place = error.column
    assert 0 <= place <= len(text)


def test_an_error_points_at_its_place() -> None:
    """The message shows the text, and a caret under the place of the mistake."""
    with pytest.raises(InputError) as caught:
        parse("1 + p[0]")
    assert str(caught.value).split("\n") == [
        "not allowed in an expression: subscript",
        "    1 + p[0]",
        "        ^",
    ]


def test_an_error_in_a_long_text_shows_its_surroundings() -> None:
    """Of a long text the message shows one line around the place, and the caret is still under it."""
    text = "p + " * 100 + "p[0]" + " + p" * 100
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    _, shown, pointer = str(caught.value).split("\n")
    assert shown[pointer.index("^") :].startswith("p[0]")
    assert len(shown) <= 80


def test_names_and_nodes() -> None:
    """An expression lists its names and its nodes, each with the column where it stands."""
    expression = parse("p + 2*q - p")
    assert {name: node.column for name, node in expression.names().items()}.keys() == {"p", "q"}
    assert [node.column for node in expression.nodes() if isinstance(node, RationalConstant)] == [4]
    assert expression.names()["q"].column == 6
