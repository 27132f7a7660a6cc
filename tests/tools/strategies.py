"""Hypothesis strategies for the exact arithmetic: rationals, polynomials, boxes, and texts of expressions."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st

from paramverify.algebra.domains import Interval
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring

FEW = settings(max_examples=min(40, settings.default.max_examples))  # where more of them find nothing more
NAMES = ("p", "q", "r")
RING = Ring(NAMES)

Token = tuple[str, str]  # kind ("number", "name" or "other") and text


def rationals(low: int = -3, high: int = 3, max_denominator: int = 12) -> st.SearchStrategy[Fraction]:
    """Rationals with small denominators, so that coincidences (zeros, equal ends) happen."""
    return st.fractions(low, high, max_denominator=max_denominator)


def points() -> st.SearchStrategy[dict[str, Fraction]]:
    """Points that give every parameter a value."""
    return st.fixed_dictionaries({name: rationals() for name in NAMES})


def polynomials(max_degree: int = 3, max_terms: int = 5, ring: Ring = RING) -> st.SearchStrategy[Polynomial]:
    """Polynomials with at most so many terms, of at most this degree in each variable."""
    monomials = st.tuples(*(st.integers(0, max_degree) for _ in ring.names))
    return st.dictionaries(monomials, rationals(), max_size=max_terms).map(ring.from_terms)


def rational_functions() -> st.SearchStrategy[RationalFunction]:
    """Quotients of small polynomials, in lowest terms."""
    return st.builds(RationalFunction.of, polynomials(2, 3), polynomials(2, 3).filter(bool))


@st.composite
def intervals(draw: st.DrawFn, *, single: bool = True) -> Interval:
    """Intervals with any combination of open and closed ends; single points too unless refused."""
    low, high = sorted((draw(rationals()), draw(rationals())))
    if low == high:
        if single and draw(st.booleans()):
            return Interval(low, low, True, True)
        high = low + draw(rationals(1, 2))
    return Interval(low, high, draw(st.booleans()), draw(st.booleans()))


def boxes(*, single: bool = True) -> st.SearchStrategy[dict[str, Interval]]:
    """Boxes over all parameters."""
    return st.fixed_dictionaries({name: intervals(single=single) for name in NAMES})


def grid(box: Mapping[str, Interval], steps: int) -> list[dict[str, Fraction]]:
    """Returns a grid of points that belong to the box, with the ends that belong to it."""
    result: list[dict[str, Fraction]] = [{}]
    for name, interval in box.items():
        width = interval.upper - interval.lower
        values = {interval.lower + width * k / steps for k in range(steps + 1)}
        inside = sorted(value for value in values if value in interval)
        result = [{**point, name: value} for point in result for value in inside]
    return result


def _numbers() -> st.SearchStrategy[tuple[Token, ...]]:
    whole = st.integers(0, 30).map(str)
    decimal = st.from_regex(r"[0-9]{1,2}\.[0-9]{0,2}|\.[0-9]{1,2}|[0-9]e-?[0-3]", fullmatch=True)
    return st.one_of(whole, whole, decimal).map(lambda text: (("number", text),))


def _join(*parts: tuple[Token, ...] | str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    for part in parts:
        tokens += [("other", part)] if isinstance(part, str) else part
    return tuple(tokens)


def arithmetic(functions: bool = True) -> st.SearchStrategy[tuple[Token, ...]]:
    """Texts with numbers, names, + - * / **, brackets (needed or not) and functions."""
    names = st.sampled_from(NAMES).map(lambda name: (("name", name),))
    small = st.integers(0, 3).map(lambda n: (("number", str(n)),))
    exponent = st.one_of(small, small.map(lambda n: _join("-", n)), small.map(lambda n: _join("(1-", n, ")")))

    def grow(inner: st.SearchStrategy[tuple[Token, ...]]) -> st.SearchStrategy[tuple[Token, ...]]:
        sign = st.sampled_from(["+", "-", "*", "/", " + ", " - ", " * ", " / "])
        grown = [
            st.builds(_join, inner, sign, inner),
            st.builds(_join, st.just("("), inner, st.just(")")),
            st.builds(_join, st.sampled_from(["-", "+", "- "]), inner),
            st.builds(_join, st.one_of(names, _numbers()), st.sampled_from(["**", " ** "]), exponent),
            st.builds(_join, st.just("("), inner, st.just(")**"), exponent),
        ]
        if functions:
            grown.append(st.builds(_join, st.just("abs("), inner, st.just(")")))
            opening = st.sampled_from(["min(", "max("])
            grown.append(st.builds(_join, opening, inner, st.just(", "), inner, st.just(")")))
        return st.one_of(grown)

    return st.recursive(st.one_of(names, _numbers()), grow, max_leaves=12)


def conditions() -> st.SearchStrategy[tuple[Token, ...]]:
    """Texts of comparisons, chains of them, and their combinations by `and`, `or`, `not`."""
    sign = st.sampled_from(["<", "<=", ">", ">=", "==", "!=", " < "])
    value = arithmetic()
    single = st.builds(_join, value, sign, value)
    chain = st.builds(_join, value, sign, value, sign, value)

    def grow(inner: st.SearchStrategy[tuple[Token, ...]]) -> st.SearchStrategy[tuple[Token, ...]]:
        return st.one_of(
            st.builds(_join, inner, st.sampled_from([" and ", " or "]), inner),
            st.builds(_join, st.just("not "), inner),
            st.builds(_join, st.just("("), inner, st.just(")")),
        )

    return st.recursive(st.one_of(single, chain), grow, max_leaves=4)


def text_of(tokens: tuple[Token, ...]) -> str:
    """Returns the text as a user writes it."""
    return "".join(text for _, text in tokens)


def python_of(tokens: tuple[Token, ...]) -> str:
    """Returns the same text for Python's own `eval`, every number an exact `Fraction`."""
    return "".join(f"Fraction('{text}')" if kind == "number" else text for kind, text in tokens)
