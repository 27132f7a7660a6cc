"""Claims with known verdicts, for every backend: what is easy to get wrong, and near misses of it.

Each row says how its verdict is known: a violated claim by a rational point, which is evaluated exactly, and
one that holds by the reason in its name or in a comment beside it. Polynomials are in the canonical text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.algebra.signs import parse_constraint
from paramverify.claims import Claim

HOLDS, VIOLATED, IRRATIONAL = "holds", "violated", "violated at irrational points only"


@dataclass(frozen=True)
class Known:
    """A claim and its verdict.

    `at` is a point that violates it. The built-in procedures named in `builtin` have to decide it. With
    `exponent`, E is enclosed to `bits` bits around exp of it.
    """

    name: str
    polynomial: str
    box: Mapping[str, str]
    verdict: str = HOLDS
    constraints: tuple[str, ...] = ()
    at: Mapping[str, str] = field(default_factory=dict)
    exponent: Fraction | None = None
    bits: int = 32
    builtin: tuple[str, ...] = ()

    def claim(self) -> Claim:
        """Returns the claim."""
        ring = Ring(tuple(self.box), ExpConstant(self.exponent) if self.exponent is not None else None)
        domain = Domain(ring, {name: parse_interval(text) for name, text in self.box.items()}).enclose(
            self.bits
        )
        constraints = tuple(c for text in self.constraints for c in parse_constraint(text, domain))
        return Claim(ring.parse(self.polynomial), replace(domain, constraints=constraints))

    def point(self) -> dict[str, Fraction]:
        """Returns the point that violates it."""
        return {name: Fraction(text) for name, text in self.at.items()}


ONE = ("bernstein",)
BOTH = ("bernstein", "roots")


def no(
    name: str,
    polynomial: str,
    box: Mapping[str, str],
    at: str,
    *constraints: str,
    builtin: tuple[str, ...] = ONE,
    exponent: Fraction | None = None,
) -> Known:
    """Returns a claim that is violated at a point, given as `p=1/2 q=1/3`."""
    point = dict(part.split("=") for part in at.split())
    return Known(name, polynomial, box, VIOLATED, constraints, point, exponent, builtin=builtin)


def yes(
    name: str,
    polynomial: str,
    box: Mapping[str, str],
    *constraints: str,
    builtin: tuple[str, ...] = ONE,
    exponent: Fraction | None = None,
) -> Known:
    """Returns a claim that holds."""
    return Known(name, polynomial, box, HOLDS, constraints, {}, exponent, builtin=builtin)


def chebyshev(degree: int) -> str:
    """Returns the Chebyshev polynomial T_n in 2·p − 1, whose values on [0, 1] fill [−1, 1]."""
    before, last = "1", "(2*p - 1)"
    ring = Ring(("p",))
    f, g = ring.parse(before), ring.parse(last)
    for _ in range(degree - 1):
        f, g = g, (ring.variable("p") * 4 - 2) * g - f
    return str(g)


P = {"p": "(0, 1)"}
PQ = {"p": "(0, 1)", "q": "(0, 1)"}
CLOSED = {"p": "[0, 1]", "q": "[0, 1]"}
CUBE = {"p": "[0, 1]", "q": "[0, 1]", "r": "[0, 1]"}
WIDE = {"p": "(-2, 2)", "q": "(-2, 2)"}
WIDE_CUBE = {"p": "(-2, 2)", "q": "(-2, 2)", "r": "(-2, 2)"}
MANY = {f"x{k}": "[0, 1]" for k in range(1, 13)}
TEN = {f"x{k}": "(0, 1)" for k in range(1, 11)}
PRODUCT = "*".join(MANY)
GRID = "*".join(f"(10*p - {k})^2" for k in range(1, 9))
MOTZKIN = "p^4*q^2 + p^2*q^4 + 1 - 3*p^2*q^2"
ROBINSON = "p^6 + q^6 + 1 - p^4*q^2 - p^4 - p^2*q^4 - q^4 - p^2 - q^2 + 3*p^2*q^2"
SCHUR = "p*(p - q)*(p - r) + q*(q - p)*(q - r) + r*(r - p)*(r - q)"

TABLE = (
    # Touching zero, and missing it.
    yes("a square, zero inside", "(2*p - 1)^2", P, builtin=BOTH),
    no("a square lowered by 10^-9", "(2*p - 1)^2 - 1/1000000000", P, "p=1/2", builtin=BOTH),
    yes("a square raised by 10^-9", "(2*p - 1)^2 + 1/1000000000", P, builtin=BOTH),
    no("a square lowered by 10^-30", "(3*p - 1)^2 - 1/10^30", P, "p=1/3", builtin=BOTH),
    yes("a square with zeros at eight rationals", GRID, P, builtin=BOTH),
    no("the same lowered by 10^-20", f"{GRID} - 1/10^20", P, "p=1/10", builtin=BOTH),
    # Ends of intervals.
    yes("zero at an open end", "p", P, builtin=BOTH),
    yes("zero at a closed end", "p", {"p": "[0, 1]"}, builtin=BOTH),
    no("negative near a closed end", "p - 1/1000000", {"p": "[0, 1]"}, "p=0", builtin=BOTH),
    yes("the interval begins at the zero", "p - 1/1000000", {"p": "[1/1000000, 1]"}, builtin=BOTH),
    yes("the interval begins after the zero", "p - 1/1000000", {"p": "(1/1000000, 1]"}, builtin=BOTH),
    no("negative near an open end", "p - 1/1000000", P, "p=1/2000000", builtin=BOTH),
    yes("the interval ends at the zero", "2/3 - p", {"p": "(0, 2/3]"}, builtin=BOTH),
    no("the interval ends behind the zero", "2/3 - p", {"p": "(0, 0.6667)"}, "p=0.66668", builtin=BOTH),
    yes("a triple zero at the end", "(2*p - 1)^3", {"p": "[1/2, 1]"}, builtin=BOTH),
    no("a zero of order five inside", "(2*p - 1)^5", {"p": "[49/100, 1]"}, "p=49/100", builtin=BOTH),
    # Zeros that are algebraic numbers.
    yes("zero at sqrt(1/2) only", "(2*p^2 - 1)^2", P, builtin=BOTH),
    no("positive nowhere", "-(2*p^2 - 1)^2", P, "p=1/2", builtin=BOTH),
    yes("the interval begins behind sqrt(1/2)", "2*p^2 - 1", {"p": "[0.7072, 1]"}, builtin=BOTH),
    no("the interval begins before sqrt(1/2)", "2*p^2 - 1", {"p": "[0.7071, 1]"}, "p=0.7071", builtin=BOTH),
    no("negative close to sqrt(1/2)", "(2*p^2 - 1)^2 - 1/10^12", P, "p=0.7071067", builtin=BOTH),
    yes("zero at two algebraic points", "(2*p^2 - 1)^2*(3*p^3 - 1)^2", P, builtin=BOTH),
    yes("zero where two algebraic numbers meet", "(2*p^2 - 1)^2 + (3*q^2 - 1)^2", PQ),
    # 4·p² − 4·p·q + q² + (q² − 2·p²)²: both squares vanish for q = 2·p and q² = 2·p², at zero only.
    yes("zero at an excluded corner", "(2*p - q)^2 + (q^2 - 2*p^2)^2", PQ),
    # High degree in one variable.
    yes("a power of p times (1 - p)", "p^60 - p^61", {"p": "[0, 1]"}, builtin=BOTH),
    yes("1 - p^100", "1 - p^100", P, builtin=BOTH),
    no("1 - 2*p^100", "1 - 2*p^100", P, "p=999/1000", builtin=BOTH),
    yes("T_10 + 1, five double zeros", f"{chebyshev(10)} + 1", P, builtin=BOTH),
    no("T_10 + 1, lowered", f"{chebyshev(10)} + 1 - 1/10^6", P, "p=1/2", builtin=BOTH),
    yes("T_20 + 1 raised", f"{chebyshev(20)} + 1 + 1/10^6", P, builtin=BOTH),
    # Mignotte's polynomials have two zeros very close to each other.
    no("a window of 10^-10", "2*(50*p - 1)^2 - p^11", P, "p=1/50", builtin=BOTH),
    yes("no window", "2*(50*p - 1)^2", P, builtin=BOTH),
    # Coefficients.
    yes("the zero polynomial", "0", P),
    yes("a positive constant", "1/10^40", P),
    no("a negative constant", "-1/10^40", P, "p=1/2"),
    no("big coefficients", "10^40*(2*p - 1)^2 - 1", P, "p=1/2", builtin=BOTH),
    yes("big coefficients, touching", "(10^40*p - 3*10^39)^2", P, builtin=BOTH),
    no("big and small together", "10^30*p - 1/10^30", {"p": "[0, 1]"}, "p=0", builtin=BOTH),
    # Degenerate and narrow intervals.
    yes("one point, zero there", "7*p - 2", {"p": "2/7"}),
    no("one point, negative there", "7*p - 3", {"p": "2/7"}, "p=2/7"),
    no("one of two is fixed", "q - q^2 - 1/2*p", {"p": "1/2", "q": "(0, 1)"}, "p=1/2 q=1/3"),
    yes("one of two is fixed, touching", "1/2*p - q + q^2", {"p": "1/2", "q": "(0, 1)"}),
    yes("a narrow interval", "3*p - 1", {"p": "[1/3, 333333333334/10**12]"}, builtin=BOTH),
    no(
        "a narrow interval, zero inside",
        "1 - 3*p + 1/10^13",
        {"p": "[1/3, 333333333334/10**12]"},
        "p=333333333334/1000000000000",
        builtin=BOTH,
    ),
    # Factors that are probabilities, and may be zero.
    yes("a product of probabilities", "p*q*(1 - p)*(1 - q)", CLOSED),
    no("its negative", "-p*q*(1 - p)*(1 - q)", CLOSED, "p=1/2 q=1/2"),
    yes("a negative product where a factor is zero", "-p*q", {"p": "0", "q": "[0, 1]"}),
    yes("a factor of both sides", "p^2*q*(1 - q) - p^3*q*(1 - q)", CLOSED),
    no("a factor that hides the sign", "p^2*(1 - p)*(q - 1/100)", CLOSED, "p=1/2 q=0"),
    # Zeros along curves.
    yes("zero on the diagonal", "(p - q)^2", PQ),
    no("zero on the diagonal, lowered", "(p - q)^2 - 1/10^12", PQ, "p=1/2 q=1/2"),
    yes("zero on a circle", "(p^2 + q^2 - 1)^2", PQ),
    no("zero on a circle, lowered", "(p^2 + q^2 - 1)^2 - 1/10^6", PQ, "p=3/5 q=4/5"),
    yes("a positive definite form at its zero", "p^2 + q^2 - p*q - 1/2*p - 1/2*q + 1/4", PQ),
    no("the form, lowered by 10^-6", "p^2 + q^2 - p*q - 1/2*p - 1/2*q + 1/4 - 1/10^6", PQ, "p=1/2 q=1/2"),
    # Nonnegative, but no sums of squares: by the inequality of the means.
    yes("Motzkin's form", MOTZKIN, WIDE, builtin=()),
    no("Motzkin's form, lowered", f"{MOTZKIN} - 1/10^6", WIDE, "p=1 q=1"),
    yes("Robinson's form", ROBINSON, WIDE, builtin=()),
    yes("Choi and Lam's form", "p^2*q^2 + q^2*r^2 + r^2*p^2 + 1 - 4*p*q*r", WIDE_CUBE, builtin=()),
    yes("three means", "p^3 + q^3 + r^3 - 3*p*q*r", CUBE, builtin=()),
    no("three means, lowered", "p^3 + q^3 + r^3 - 3*p*q*r - 1/10^6", CUBE, "p=1/2 q=1/2 r=1/2"),
    yes("Schur's inequality", SCHUR, CUBE, builtin=()),
    # Many variables.
    yes("a sum of twelve and their product", f"{' + '.join(MANY)} - {PRODUCT}", MANY),
    no(
        "only the last corner is negative",
        f"23/2 - {' - '.join(MANY)}",
        MANY,
        " ".join(f"{name}=1" for name in MANY),
    ),
    yes("ten squares", " + ".join(f"(2*{name} - 1)^2" for name in TEN), TEN),
    no(
        "ten squares, lowered",
        " + ".join(f"(2*{name} - 1)^2" for name in TEN) + " - 1/10^4",
        TEN,
        " ".join(f"{name}=1/2" for name in TEN),
    ),
    # Constraints.
    yes("holds under a constraint only", "1/2 - p*q", PQ, "p + q <= 1"),
    yes("tight under a constraint", "1/4 - p*q", PQ, "p + q <= 1"),
    no("violated under it", "1/5 - p*q", PQ, "p=1/2 q=1/2", "p + q <= 1"),
    yes("the border belongs", "1 - p - q", PQ, "p + q <= 1"),
    yes("the border does not belong", "1 - p - q", PQ, "p + q < 1"),
    no("negative up to the border", "p + q - 1", PQ, "p=1/4 q=1/4", "p + q < 1"),
    yes("a chain", "q - p", PQ, "0 < p < q"),
    no("a chain, reversed", "p - q", PQ, "p=1/4 q=1/2", "0 < p < q"),
    yes("a simplex, touching", "1/27 - p*q*r", CUBE, "p + q + r <= 1", builtin=()),
    no("a simplex, violated", "1/28 - p*q*r", CUBE, "p=1/3 q=1/3 r=1/3", "p + q + r <= 1"),
    yes("a quadratic constraint", "2*p - p^2", {"p": "(-1, 1)"}, "p**2 >= 1/4", "p > 0", builtin=()),
    # Domains without a point.
    yes("two constraints that exclude each other", "-1", PQ, "p + q <= 1", "p + q > 1"),
    yes("a constraint outside of the box", "-1", PQ, "p*q > 1"),
    yes("an equation without a solution in the box", "-1", {"p": "(0, 1/2)"}, "2*p*p == 1", builtin=()),
    # Equations.
    yes("on a line, touching", "1/4 - p*q", PQ, "p + q == 1"),
    no("on a line, violated", "1/10 - p^3*q", PQ, "p=3/4 q=1/4", "p + q == 1"),
    no("on a cubic curve", "2/5 - p", PQ, "p=1/2 q=3/8", "p**3 + p + q == 1"),
    yes("on a circle, zero at an algebraic point", "1/2 - p*q", PQ, "p**2 + q**2 == 1", builtin=()),
    no("on a circle, violated", "2/5 - p*q", PQ, "p=3/5 q=4/5", "p**2 + q**2 == 1", builtin=()),
    Known("one algebraic point", "-1", P, IRRATIONAL, ("2*p*p == 1",), builtin=()),
    # The constant E in an enclosure.
    yes("E above 2.718", "E - 2718/1000", {}, exponent=Fraction(1), builtin=BOTH),
    yes("E below 2.719", "2719/1000 - E", {}, exponent=Fraction(1), builtin=BOTH),
    no(
        "E not above 2.719",
        "E - 2719/1000",
        {},
        "E=271828182845/100000000000",
        exponent=Fraction(1),
        builtin=BOTH,
    ),
    # exp(1) = 2.71828182845904..., so it holds for the number, which the built-ins have in mind, but not for
    # every point of its enclosure.
    no(
        "inside the enclosure",
        "E - 27182818284590/10^13",
        {},
        "E=27182818284589/10000000000000",
        exponent=Fraction(1),
        builtin=(),
    ),
    yes("outside of the enclosure", "E - 27182818/10^7", {}, exponent=Fraction(1), builtin=BOTH),
    yes("E with parameters", "E*p*(1 - p) - p + p^2", P, exponent=Fraction(1, 2)),
    no(
        "E with parameters, violated",
        "2*p - E*p - q^2",
        PQ,
        "p=1/2 q=1/2 E=16487212707/10000000000",
        exponent=Fraction(1, 2),
    ),
)

# What would only use up the time of a backend. Incremental linearisation proves nothing where f touches zero.
HARD: Mapping[str, frozenset[str]] = {
    "bernstein": frozenset({"on a circle, zero at an algebraic point", "on a circle, violated"}),
    "sos": frozenset(
        {"ten squares", "ten squares, lowered", "a window of 10^-10", "the form, lowered by 10^-6"}
    ),
    "z3": frozenset({"a sum of twelve and their product"}),
    "cvc5-cov": frozenset({"a sum of twelve and their product"}),
    "qepcad": frozenset(
        {"a sum of twelve and their product", "only the last corner is negative", "ten squares, lowered"}
    ),
    "cvc5": frozenset(
        {
            "a square, zero inside",
            "a square raised by 10^-9",
            "a square lowered by 10^-30",
            "a square with zeros at eight rationals",
            "the same lowered by 10^-20",
            "a triple zero at the end",
            "zero at sqrt(1/2) only",
            "negative close to sqrt(1/2)",
            "zero at two algebraic points",
            "zero where two algebraic numbers meet",
            "zero at an excluded corner",
            "1 - 2*p^100",
            "T_10 + 1, five double zeros",
            "T_10 + 1, lowered",
            "T_20 + 1 raised",
            "a window of 10^-10",
            "no window",
            "big coefficients, touching",
            "one of two is fixed, touching",
            "a product of probabilities",
            "a factor of both sides",
            "zero on the diagonal",
            "zero on a circle",
            "zero on a circle, lowered",
            "a positive definite form at its zero",
            "the form, lowered by 10^-6",
            "Motzkin's form",
            "Robinson's form",
            "Choi and Lam's form",
            "three means",
            "Schur's inequality",
            "a sum of twelve and their product",
            "ten squares",
            "ten squares, lowered",
            "tight under a constraint",
            "violated under it",
            "a simplex, touching",
            "a simplex, violated",
            "on a line, touching",
            "on a circle, zero at an algebraic point",
            "on a circle, violated",
            "one algebraic point",
        }
    ),
}
