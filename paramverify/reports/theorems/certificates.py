"""Proofs as whole numbers, in the order in which `proofs/theories/Reader.v` reads them.

A number before everything else says which kind it is; lists come with their lengths, fractions as two
numbers, polynomials as a positive denominator and terms. Names are places in the list of variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import lcm, prod
from typing import Any

from paramverify.checker.polynomials import parse
from paramverify.errors import UnsupportedError
from paramverify.reports.theorems.squares import Square, denominator, scale_of, shorter

Names = Sequence[str]
Json = Mapping[str, Any]

SOLVER = "a proof rests on the word of a solver, and a theorem needs a proof"
MAX_BITS = 4_000  # of a common denominator
SIGNS = {"+": 1, "-": 0}
ENDS = {"lower": 0, "upper": 1}


def proof_numbers(proof: Json, names: Names) -> list[int]:
    """Returns a proof as numbers; `names` are the variables of its claim.

    Raises:
        UnsupportedError: it rests on a solver, or is of a kind that has no theory.
    """
    kind = proof["kind"]
    if kind == "solver":
        raise UnsupportedError(f"{SOLVER} ({proof['solver']})")
    if kind not in WRITERS:
        raise UnsupportedError(f"proofs of the kind {kind} have no theory")
    return WRITERS[kind](proof, names)


def rational(text: str | Fraction | int) -> list[int]:
    """Returns a fraction as numerator and denominator."""
    value = Fraction(text)
    return [value.numerator, value.denominator]


def whole_polynomial(text: str, names: Names) -> tuple[int, list[int]]:
    """Returns the least positive denominator of a polynomial, and its terms over it."""
    terms = parse(text, names)
    scale = lcm(*(c.denominator for c in terms.values()))
    numbers = [len(terms)]
    for exponents, c in sorted(terms.items()):
        numbers += [int(c * scale), *exponents]
    return scale, numbers


def polynomial(text: str, names: Names) -> list[int]:
    """Returns a polynomial with its denominator."""
    scale, numbers = whole_polynomial(text, names)
    return [scale, *numbers]


def several(items: Sequence[Any], write: Callable[[Any], list[int]]) -> list[int]:
    """Returns a list: its length, and its items."""
    return [len(items), *(n for item in items for n in write(item))]


def _constant(proof: Json, names: Names) -> list[int]:
    return [0]


def _fixed(proof: Json, names: Names) -> list[int]:
    return [1, names.index(proof["variable"]), *proof_numbers(proof["proof"], names)]


def _factors(proof: Json, names: Names) -> list[int]:
    def factor(item: Json) -> list[int]:
        part = [*polynomial(item["factor"], names), item["multiplicity"]]
        if item["multiplicity"] % 2 == 0:
            return [*part, 0]
        return [*part, 1, SIGNS[item["sign"]], *proof_numbers(item["proof"], names)]

    return [2, *rational(proof["constant"]), *several(proof["factors"], factor)]


def _sum(proof: Json, names: Names) -> list[int]:
    def part(item: Json) -> list[int]:
        return [*polynomial(item["polynomial"], names), *proof_numbers(item["proof"], names)]

    return [3, *several(proof["parts"], part)]


def _ends(proof: Json, names: Names) -> list[int]:
    ends = [n for key in ("lower", "upper") for n in proof_numbers(proof[key], names)]
    concave = [1, *proof_numbers(proof["concave"], names)] if "concave" in proof else [0]
    return [4, names.index(proof["variable"]), *ends, *concave]


def _monotone(proof: Json, names: Names) -> list[int]:
    slope, rest = (proof_numbers(proof[key], names) for key in ("derivative", "proof"))
    return [5, names.index(proof["variable"]), ENDS[proof["end"]], *slope, *rest]


def _quadratic(proof: Json, names: Names) -> list[int]:
    keys = ("leading", "constant", "discriminant")
    parts = [n for key in keys for n in proof_numbers(proof[key], names)]
    return [6, names.index(proof["variable"]), *parts]


def _bernstein(proof: Json, names: Names) -> list[int]:
    numbers = [7]
    for token in proof["tree"]:  # in preorder, as they are read
        if token == "+":
            numbers += [0]
        elif isinstance(token, Mapping):
            numbers += [2, *proof_numbers(token, names)]
        elif token[0] == "outside":
            numbers += [1, token[1]]
        elif token[0] == "cut":
            numbers += [5, names.index(token[1]), *rational(token[2])]
        else:
            numbers += [{"low": 3, "high": 4}[token[0]], names.index(token[1])]
    return numbers


def _convex(proof: Json, names: Names) -> list[int]:
    point = proof["point"]
    if "minimal" not in proof:
        return [8, *several(list(names), lambda name: rational(point.get(name, "0")))]
    root = ("t", *(f"_{k}" for k in range(1, len(names))))  # what the point is written in, and nothing else
    return [
        9,
        *polynomial(proof["minimal"], root),
        *(n for end in proof["interval"] for n in rational(end)),
        *several(list(names), lambda name: polynomial(point.get(name, "0"), root)),
    ]


def _constraint(proof: Json, names: Names) -> list[int]:
    return [10, proof["constraint"], *rational(proof["factor"]), *proof_numbers(proof["proof"], names)]


def _divide(proof: Json, names: Names) -> list[int]:
    parts = [n for key in ("factor", "cofactor") for n in polynomial(proof[key], names)]
    return [11, proof["constraint"], *parts, SIGNS[proof["sign"]], *proof_numbers(proof["proof"], names)]


def _contradiction(proof: Json, names: Names) -> list[int]:
    return [12, *proof["constraints"]]


def _stretch(proof: Json, names: Names) -> list[int]:
    place = names.index(proof["variable"])
    return [13, place, proof["constraint"], *proof_numbers(proof["proof"], names)]


def _eliminate(proof: Json, names: Names) -> list[int]:
    place = names.index(proof["variable"])
    return [14, place, *proof["constraints"], *proof_numbers(proof["proof"], names)]


def _product(proof: Json, names: Names) -> list[int]:
    powers = several(
        list(proof["powers"].items()),
        lambda item: [names.index(item[0]), item[1], int(item[0] in proof["reflected"])],
    )
    return [15, names.index(proof["variable"]), *powers, *proof_numbers(proof["proof"], names)]


def _blowup(proof: Json, names: Names) -> list[int]:
    def cone(name: str) -> list[int]:
        return [names.index(name), ENDS[proof["corner"][name]], *proof_numbers(proof["parts"][name], names)]

    return [16, *several([name for name in proof["corner"] if name in proof["parts"]], cone)]


def _enclose(proof: Json, names: Names) -> list[int]:
    ends = [n for end in proof["interval"] for n in rational(end)]
    return [17, *ends, *proof_numbers(proof["proof"], names)]


def _exponential(proof: Json, names: Names) -> list[int]:
    return [18]


def _logarithm(proof: Json, names: Names) -> list[int]:
    def cell(item: Json) -> list[int]:
        if "terms" in item:
            ends = [n for end in item["enclosure"] for n in rational(end)]
            found = [0, item["terms"], *ends]
        else:
            found = [1, *rational(item["least"]), item["power"], *rational(item["bound"])]
        return [*found, *proof_numbers(item["proof"], names)]

    place = names.index(proof["variable"])
    return [19, place, *several(proof["cuts"], rational), *several(proof["parts"], cell)]


def _read_squares(squares: Sequence[Any], names: Names) -> list[Square]:
    """Returns a sum of squares, as short as it is found."""
    return shorter([(Fraction(c), parse(text, names)) for c, text in squares])


def _square_list(squares: Sequence[Square], common: int) -> list[int]:
    """Returns a sum of squares of polynomials with whole coefficients, all over one denominator.

    Where denominators differ, Coq multiplies them.
    """

    def square(item: Square) -> list[int]:
        c, terms = item
        scale = scale_of(terms)
        whole = [n for exponents, x in sorted(terms.items()) for n in (int(x * scale), *exponents)]
        return [int(c * common / scale**2), common, 1, len(terms), *whole]

    return several(squares, square)


def _squares(proof: Json, names: Names) -> list[int]:
    def side(item: Sequence[Any]) -> list[int]:
        if item[0] == "constraint":
            return [2, item[1]]
        return [{"low": 0, "high": 1}[item[0]], names.index(item[1]), *rational(item[2])]

    def listed(items: Sequence[Json]) -> list[int]:
        below = [
            prod(Fraction(part[2]).denominator for part in item["product"] if part[0] != "constraint")
            for item in items
        ]
        squares = [_read_squares(item["squares"], names) for item in items]
        common = _checked(lcm(*(k * denominator(found) for k, found in zip(below, squares, strict=True))))
        terms = zip(items, below, squares, strict=True)
        return several(
            list(terms), lambda t: [*several(t[0]["product"], side), *_square_list(t[2], common // t[1])]
        )

    multiplier = [1, *listed(proof["multiplier"])] if "multiplier" in proof else [0]
    return [20, *listed(proof["terms"]), *multiplier]


def _vanish(proof: Json, names: Names) -> list[int]:
    found = _read_squares(proof["squares"], names)
    squares = _square_list(found, _checked(denominator(found)))
    return [21, proof["constraint"], *squares, *proof_numbers(proof["proof"], names)]


def _checked(common: int) -> int:
    """Returns a denominator.

    Raises:
        UnsupportedError: Coq would be too slow with it.
    """
    if common.bit_length() > MAX_BITS:
        raise UnsupportedError("a sum of squares has numbers that are too long for Coq")
    return common


WRITERS: Mapping[str, Callable[[Json, Names], list[int]]] = {
    "constant": _constant,
    "fixed": _fixed,
    "factors": _factors,
    "sum": _sum,
    "ends": _ends,
    "monotone": _monotone,
    "quadratic": _quadratic,
    "bernstein": _bernstein,
    "convex": _convex,
    "constraint": _constraint,
    "divide": _divide,
    "contradiction": _contradiction,
    "stretch": _stretch,
    "eliminate": _eliminate,
    "product": _product,
    "blowup": _blowup,
    "enclose": _enclose,
    "exponential": _exponential,
    "logarithm": _logarithm,
    "squares": _squares,
    "vanish": _vanish,
}
