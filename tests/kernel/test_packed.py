"""Products of polynomials as products of long numbers, against term by term."""

from random import Random

from paramverify.kernel import evidence_polynomials


def by_terms(
    left: evidence_polynomials.Whole, right: evidence_polynomials.Whole
) -> dict[tuple[int, ...], int]:
    found: dict[tuple[int, ...], int] = {}
    for x, c in left.items():
        for y, d in right.items():
            powers = tuple(a + b for a, b in zip(x, y, strict=True))
            found[powers] = found.get(powers, 0) + c * d
    return {powers: value for powers, value in found.items() if value}


def test_products() -> None:
    """Coefficients of all signs and lengths, at the ends of bytes too, in up to three variables."""
    random = Random(20)
    for _ in range(150):
        width, degree = random.choice([(1, 8), (1, 30), (2, 3), (2, 8), (3, 3)])
        bits = random.choice([1, 7, 8, 9, 63, 64, 200])

        def poly(width: int = width, degree: int = degree, bits: int = bits) -> dict[tuple[int, ...], int]:
            values = ((1 << bits) - 1, -(1 << bits) + 1, -(1 << bits), 1, -1)
            return {
                tuple(random.randint(0, degree) for _ in range(width)): random.choice(values)
                for _ in range(random.randint(1, 30))
            }

        left, right = poly(), poly()
        assert evidence_polynomials.product(left, right) == by_terms(left, right)
    dense = {(k,): 255 for k in range(9)}
    assert evidence_polynomials.product(dense, {k: -v for k, v in dense.items()}) == {
        k: -v for k, v in by_terms(dense, dense).items()
    }
    assert evidence_polynomials.product({}, dense) == evidence_polynomials.product(dense, {}) == {}
