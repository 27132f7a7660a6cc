"""Text from users is text on a page, whatever it is; formulas have the value of their functions."""

from __future__ import annotations

from fractions import Fraction
from xml.etree.ElementTree import Element, fromstring, tostring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_tools import Page

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, Unbounded, to_rational_function
from paramverify.pages import mathml
from paramverify.pages.graphs import parents, prior_graph
from paramverify.pages.markup import document, h, raw

HALF = Fraction(1, 2)


@given(st.text(), st.text())
def test_text_is_never_markup(text: str, value: str) -> None:
    """A page has the elements that were made, whatever their texts and attributes are."""
    page = Page(document([h("title", text)], [h("p", text, title=value)]))
    assert [seen.tag for seen in page.elements] == ["html", "head", "title", "body", "p"]
    assert page.having("p")[0].text.isprintable() or "\n" in page.having("p")[0].text


def test_writing_keeps_its_direction() -> None:
    """A character that turns the direction of writing is told by its number."""
    assert "\\u202e" in document([], [h("p", "a\u202eb")])


def test_scripts_cannot_be_ended_by_their_text() -> None:
    """A script or style that would end early is refused."""
    with pytest.raises(ValueError, match="cannot stand"):
        raw("script", "'</ScRipt>'")


def value(element: Element, point: dict[str, Fraction], e: Fraction = Fraction(0)) -> Fraction:
    """Returns the value of presentation MathML, read as people read it; e^(k/2) is the k-th power of `e`."""
    match element.tag:
        case "math":
            return value(element[0], point, e)
        case "mn":
            return Fraction(element.text or "")
        case "mi":
            return e**2 if element.text == "e" else point[element.text or ""]
        case "mfrac":
            return value(element[0], point, e) / value(element[1], point, e)
        case "msub":
            return point[f"{element[0].text}{element[1].text}"]
        case "msup" if element[0].tag == "mi" and element[0].text == "e":
            return e ** int(2 * value(element[1], point, e))
        case "msup":
            return value(element[0], point, e) ** int(value(element[1], point, e))
    return _row(list(element), point, e)


def _row(parts: list[Element], point: dict[str, Fraction], e: Fraction) -> Fraction:
    total, sign, product, divide = Fraction(0), 1, Fraction(1), False
    pending = False
    for part in parts:
        if part.tag == "mo" and part.text in ("+", "\u2212"):
            total += sign * product if pending else 0
            sign, product, pending = (1 if part.text == "+" else -1), Fraction(1), False
        elif part.tag == "mo" and part.text == "/":
            divide = True
        elif part.tag != "mo":
            factor = value(part, point, e)
            product, divide, pending = (product / factor if divide else product * factor), False, True
    return total + sign * product


@pytest.mark.parametrize(
    "text",
    [
        "(1 - p)**2 / 6",
        "p*q - 2*q**3 + 1/7",
        "-p / (1 + q)",
        "-(p + q)*(p - q)**2*3/4",
        "(2 - p)*(1 + pA)/(3*q**2 + 1)",
        "0",
        "-3/5",
        "p1*p - 5*pA",
        "exp(1/2)*p - exp(-3/2) + 2*exp(-1)*q",
    ],
)
def test_formulas_have_the_value_of_their_functions(text: str) -> None:
    """What is read off a formula is the value of the function, at several points."""
    ring = Ring(("p", "q", "p1", "pA"), ExpConstant(HALF))
    box = {name: Interval(Fraction(0), Fraction(1)) for name in ring.parameters}
    domain = Domain(ring, {**box, "E": Interval(Fraction(1), Fraction(2))})
    function = to_rational_function(parse(text), ring)
    shown = fromstring(tostring(mathml.function(function, domain)))
    assert shown.get("alttext")
    for k in range(1, 6):
        numbers = dict(zip(ring.parameters, (Fraction(k, n) for n in (7, 11, 13, 17)), strict=True))
        e = Fraction(k + 8, 7)
        wanted = function.numerator(*map(_flint, [*numbers.values(), e])) / function.denominator(
            *map(_flint, [*numbers.values(), e])
        )
        assert value(shown, numbers, e) == Fraction(int(wanted.p), int(wanted.q))


def _flint(number: Fraction) -> object:
    from paramverify.algebra.polynomials import rational

    return rational(number)


def test_powers_of_unbounded_parameters() -> None:
    """The variable of a parameter of (0, oo) is written as the power of e that it stands for."""
    ring = Ring(("x_eps",), None, (Unbounded("eps", "x_eps", Fraction(1, 4)),))
    domain = Domain(ring, {"x_eps": Interval(Fraction(0), Fraction(1))})
    shown = mathml.function(to_rational_function(parse("x_eps**3"), ring), domain)
    text = "".join(shown.itertext())
    assert text == "e\u22123/4\u2062ε"


@pytest.mark.parametrize(
    ("name", "among", "text"),
    [
        ("alpha", [], "α"),
        ("p_1", ["p"], "p1"),
        ("pA", [], "pA"),
        ("p_1", ["p1"], "p_1"),
        ("rate", [], "rate"),
        ("eps", ["epsilon"], "ε"),
    ],
)
def test_symbols_of_parameters(name: str, among: list[str], text: str) -> None:
    """Symbols are short, and two names never have one symbol."""
    assert "".join(mathml.name(name, [name, *among]).itertext()) == text


def test_graphs_of_priors() -> None:
    """A graph has the edges of the tables, and there is none where an entry is not known."""
    tables = {
        "a": {"bernoulli": "p"},
        "b": {"given": "a", "table": {}},
        "c": "a + b",
        "d": {"given": ["c", "a"], "table": {}},
    }
    assert parents(tables) == {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["a", "c"]}
    assert parents({**tables, "e": {"poisson": "a"}}) is None
    assert prior_graph({"a": {"bernoulli": "p"}}) is None
    shown = prior_graph(tables)
    assert shown is not None
    assert "d depends on a, c" in "".join(shown.itertext())
