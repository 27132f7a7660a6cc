"""Proofs as whole numbers, in the order in which the theories in Coq read them, made short enough for Coq.

A number before everything else says which kind it is; lists come with their lengths, fractions as two
numbers, polynomials as a positive denominator and terms. Names are places in the list of variables.

Sums of squares with short numbers: Coq adds fractions slowly where their denominators are long.

Squares of an exact decomposition Q = L·D·Lᵀ of a matrix have denominators that grow with each step. Q itself
has short ones. So Q = A·Aᵀ + R is taken, with A rounded, and R diagonally dominant: R is the sum over i < j
of |R_ij| (e_i ± e_j)², and of what is left on its diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, floor, lcm, prod, sqrt
from typing import Any

from paramverify.errors import UnsupportedError
from paramverify.evidence.certificates import EXPONENTIAL, POSITIVE
from paramverify.kernel.claim_evidence import check_claim
from paramverify.kernel.evidence_polynomials import Poly, parse
from paramverify.kernel.strict_reading import Rejected

Square = tuple[Fraction, Poly]  # c · h²
Matrix = list[list[Fraction]]

LONG = 400  # bits of a common denominator from which shorter squares are looked for
MARGINS = range(2, 40, 3)  # how far A·Aᵀ is from Q: 2^-j times the largest entry
SQUARE_BITS = range(8, 64, 8)  # behind the point, in A


def scale_of(polynomial: Poly) -> int:
    """Returns the least common denominator of the coefficients."""
    return lcm(*(c.denominator for c in polynomial.values()))


def denominator(squares: Sequence[Square]) -> int:
    """Returns a common denominator of c · h² for all squares, each h with whole coefficients over its own."""
    return lcm(*((c / scale_of(h) ** 2).denominator for c, h in squares))


def shorter(squares: Sequence[Square]) -> list[Square]:
    """Returns squares with the same sum, with a shorter common denominator where that is found."""
    given = list(squares)
    if denominator(given).bit_length() <= LONG:
        return given
    monomials = sorted({m for _, h in given for m in h})
    rows = [[h.get(m, Fraction(0)) for m in monomials] for _, h in given]
    pivots, forms = _echelon(rows)
    gram = [
        [
            sum((c * row[i] * row[j] for (c, _), row in zip(given, rows, strict=True)), Fraction(0))
            for j in pivots
        ]
        for i in pivots
    ]
    named = [{m: c for m, c in zip(monomials, form, strict=True) if c} for form in forms]
    for margin in MARGINS:
        root = _root(gram, margin)
        for bits in SQUARE_BITS if root else ():
            found = _rounded(gram, [[Fraction(round(x * 2**bits), 2**bits) for x in row] for row in root])
            if found is not None:
                new = [(c, _combined(weights, named)) for c, weights in found]
                return min(given, new, key=lambda listed: denominator(listed))
    return given


def _echelon(rows: Matrix) -> tuple[list[int], Matrix]:
    """Returns a basis of what the rows span, in which each basis vector alone is 1 at its pivot."""
    pivots: list[int] = []
    basis: Matrix = []
    for given in rows:
        row = given
        for pivot, other in zip(pivots, basis, strict=True):
            row = [x - row[pivot] * y for x, y in zip(row, other, strict=True)]
        place = next((k for k, x in enumerate(row) if x), None)
        if place is None:
            continue
        row = [x / row[place] for x in row]
        basis = [[x - other[place] * y for x, y in zip(other, row, strict=True)] for other in basis]
        pivots.append(place)
        basis.append(row)
    return pivots, basis


def _root(gram: Matrix, margin: int) -> list[list[float]]:
    """Returns a lower triangle A with A·Aᵀ near Q − 2^-margin·I; an empty one where there is none."""
    size = len(gram)
    away = float(max(gram[k][k] for k in range(size))) / 2**margin
    found = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = float(gram[i][j]) - sum(found[i][k] * found[j][k] for k in range(j))
            if i != j:
                found[i][j] = rest / found[j][j]
            elif rest <= away:
                return []
            else:
                found[i][i] = sqrt(rest - away)
    return found


def _rounded(gram: Matrix, root: Matrix) -> list[tuple[Fraction, dict[int, Fraction]]] | None:
    """Returns Q as squares of combinations of the basis; None if Q − A·Aᵀ is not diagonally dominant."""
    size = range(len(gram))
    rest = [
        [gram[i][j] - sum((root[i][k] * root[j][k] for k in size), Fraction(0)) for j in size] for i in size
    ]
    left = [rest[i][i] - sum(abs(rest[i][j]) for j in size if j != i) for i in size]
    if min(left) < 0:
        return None
    found = [(Fraction(1), {i: root[i][k] for i in size if root[i][k]}) for k in size]
    for i, j in combinations(size, 2):
        if rest[i][j]:
            sign = Fraction(1 if rest[i][j] > 0 else -1)
            found.append((abs(rest[i][j]), {i: Fraction(1), j: sign}))
    return [*found, *((left[i], {i: Fraction(1)}) for i in size if left[i])]


def _combined(weights: dict[int, Fraction], basis: Sequence[Poly]) -> Poly:
    found: Poly = {}
    for k, weight in weights.items():
        for monomial, c in basis[k].items():
            found[monomial] = found.get(monomial, Fraction(0)) + weight * c
    return {monomial: c for monomial, c in found.items() if c}


Json = Mapping[str, Any]

ENCLOSURE_BITS = 24  # behind the point, in the ends of an enclosure


def with_wider_logarithms(entry: Json, proof: Json) -> Json:
    """Returns a proof with wider enclosures where it shows an entry too, else the proof itself."""
    wider: Json = _wider(proof)
    if wider == proof:
        return proof
    try:
        check_claim({**entry["domain"], "polynomial": entry["polynomial"]}, wider)
    except Rejected:
        return proof
    return wider


def _wider(value: Any) -> Any:
    if isinstance(value, list):
        return [_wider(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: _wider(part) for key, part in value.items()}
    if "terms" in found and "enclosure" in found:
        low, high = (Fraction(end) * 2**ENCLOSURE_BITS for end in found["enclosure"])
        found["enclosure"] = [str(Fraction(end, 2**ENCLOSURE_BITS)) for end in (floor(low), ceil(high))]
    return found


Names = Sequence[str]

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


def sums_numbers(claims: Sequence[Json], names: Names) -> list[int]:
    """Returns `parts` statements with their trees, as numbers; names are the variables.

    Raises:
        UnsupportedError: a proof rests on a solver, or is of a kind that has no theory.
    """

    def claim(given: Json) -> list[int]:
        terms = several(given["terms"], lambda text: polynomial(text, names))
        tree = [number for token in given["tree"] for number in _token(token, names)]
        return [*polynomial(given["room"], names), *terms, *tree]

    return several(claims, claim)


def known_proof(proof: Json, names: Names) -> list[int]:
    """Returns a proof as numbers, with the constant exp(q) in an interval already."""
    return proof_numbers(POSITIVE if proof == EXPONENTIAL else proof, names)


def _token(token: Any, names: Names) -> list[int]:
    """Returns one entry of a tree, which is in preorder there and here."""
    if isinstance(token, Mapping):
        return [0, *known_proof(token, names)]
    return _ENTRIES[token[0]](token, names)


def _bounded(token: Any, names: Names) -> list[int]:
    _, index, most, positive, above = token
    proofs = (n for proof in (positive, above) for n in known_proof(proof, names))
    return [3, index, *polynomial(most, names), *proofs]


_ENTRIES: Mapping[str, Callable[[Any, Names], list[int]]] = {
    "+": lambda token, names: [1, token[1], *known_proof(token[2], names)],
    "-": lambda token, names: [2, token[1], *known_proof(token[2], names)],
    "<": _bounded,
    "cut": lambda token, names: [4, names.index(token[1]), *rational(token[2])],
    "sign": lambda token, names: [5, *polynomial(token[1], names)],
    "free": lambda token, names: [6],
}
