"""Sums of squares: forms of the literature, slack, strict claims, and no proof of what is false."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations
from random import Random

import pytest

from paramverify.algebra.domains import Domain, parse_interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, to_rational_function
from paramverify.algebra.signs import parse_constraint
from paramverify.answers import Open, Proved, Refuted
from paramverify.backends.sos import Sos
from paramverify.claims import Claim, positive, to_document
from paramverify.errors import InputError
from paramverify.evidence.certificates import replayed
from paramverify.exact.squares.square_problems import fewer_variables
from paramverify.exact.squares.square_proofs import squares_of
from paramverify.kernel.claim_evidence import check_claim
from paramverify.kernel.strict_reading import Rejected

pytest.importorskip("clarabel")


def _claim(
    text: str, names: str, interval: str, constraints: tuple[str, ...] = (), strict: bool = False
) -> Claim:
    ring = Ring(tuple(names))
    domain = Domain(ring, dict.fromkeys(ring.names, parse_interval(interval)))
    parts = tuple(c for one in constraints for c in parse_constraint(one, domain))
    domain = replace(domain, constraints=parts)
    f = to_rational_function(parse(text), ring).numerator
    return positive(f, domain) if strict else Claim(f, domain)


def _decided(claim: Claim, options: Mapping[str, str] | None = None) -> Proved | Refuted | Open:
    answer = Sos().decide(claim, options or {})
    if isinstance(answer, Proved):
        assert answer.certificate is not None
        assert replayed(claim, json.loads(json.dumps(answer.certificate))) == ()
    return answer


def _sum(pattern: str, names: str) -> str:
    return " + ".join(pattern.replace("?", n) for n in names)


_PAIRS = " + ".join(f"{a}**2 * {b}**2" for a, b in combinations("abcd", 2))
_LAX = " + ".join("*".join(f"({a} - {b})" for b in "abcde" if b != a) for a in "abcde")
_ROBINSON = "x**4*y**2 + x**4*z**2 + y**4*x**2 + y**4*z**2 + z**4*x**2 + z**4*y**2"
_MOTZKIN = "x**4*y**2 + x**2*y**4 + z**6 - 3*x**2*y**2*z**2"

FORMS = {
    "Motzkin": (_MOTZKIN, "xyz", "[-2, 2]"),
    "Robinson": (f"{_sum('?**6', 'xyz')} - ({_ROBINSON}) + 3*x**2*y**2*z**2", "xyz", "[-1, 1]"),
    "Choi and Lam, degree 4": ("w**4 + x**2*y**2 + y**2*z**2 + z**2*x**2 - 4*x*y*z*w", "wxyz", "[-1, 1]"),
    "Choi and Lam, degree 6": (
        "x**4*y**2 + y**4*z**2 + z**4*x**2 - 3*x**2*y**2*z**2",
        "xyz",
        "[-1, 1]",
    ),
    "Hurwitz, degree 6": (f"{_sum('?**6', 'abcdef')} - 6*a*b*c*d*e*f", "abcdef", "[-1, 1]"),
    "Lax and Lax": (_LAX, "abcde", "[-1, 1]"),
    "Schur": ("x*(x-y)*(x-z) + y*(y-x)*(y-z) + z*(z-x)*(z-y)", "xyz", "[0, 1]"),
    "Turkevich": (f"{_sum('?**4', 'abcd')} + 2*a*b*c*d - ({_PAIRS})", "abcd", "[0, 1]"),
    "five means, with slack": (f"{_sum('?**5', 'abcde')} - 5*a*b*c*d*e + 1/1000", "abcde", "[0, 1]"),
    "Powell": ("(a + 10*b)**2 + 5*(c - d)**2 + (b - 2*c)**4 + 10*(a - d)**4", "abcd", "[-4, 5]"),
}


LONG = ("five means, with slack", "Hurwitz, degree 6", "Lax and Lax")


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in FORMS])
def test_forms_of_the_literature(name: str) -> None:
    """Each is proved, and the kernel replays its certificate; none needs the word of a solver."""
    assert isinstance(_decided(_claim(*FORMS[name])), Proved)


@pytest.mark.parametrize("solver", ["clarabel", *(["scs"] if find_spec("scs") else [])])
def test_each_solver_finds_the_product(solver: str) -> None:
    """(x² + y² + z²) times Motzkin's form is a sum of squares, whoever finds it."""
    assert isinstance(_decided(_claim(*FORMS["Motzkin"]), {"solver": solver}), Proved)


OTHERS = {
    "a tight form with slack": (f"{_MOTZKIN} + 1/1000000", "xyz", "[-2, 2]"),
    "no form": ("x**4*y**2 + x**2*y**4 + 1 - 3*x**2*y**2", "xy", "[-2, 2]"),
    "on the disc": ("3/2 - x - y", "xy", "[-1, 1]", ("x**2 + y**2 <= 1",)),
    "on the box": ("1 - x**2 - y**2 + x**2*y**2 + x*y/10 + 1/10", "xy", "[-1, 1]"),
    "strict, on the disc": ("3/2 - x - y", "xy", "[-1, 1]", ("x**2 + y**2 <= 1",), True),
    "strict, with slack": ("x**4 + y**4 - x*y + 1/2", "xy", "[-2, 2]", (), True),
    "strict, zero outside": ("(x - 3)**2 + x**2*(y - 1/2)**2", "xy", "[-2, 2]", (), True),
    "strict, zero at an open end": ("x**2 + y**2 - x*y", "xy", "(0, 1)", (), True),
}


@pytest.mark.parametrize("name", OTHERS)
def test_slack_domains_and_strict_claims(name: str) -> None:
    """What is left of a tight claim, uses the domain, or is strict, is proved and replayed."""
    assert isinstance(_decided(_claim(*OTHERS[name])), Proved)


def test_what_is_false_is_not_proved() -> None:
    """Motzkin's form lowered by 10⁻⁶ fails beside (1, 1, 1); the strict claim fails there itself."""
    lowered = _claim(f"{_MOTZKIN} - 1/1000000", "xyz", "[1/2, 3/2]")
    for claim in (lowered, _claim(_MOTZKIN, "xyz", "[1/2, 3/2]", (), True)):
        answer = _decided(claim)
        assert not isinstance(answer, Proved)
        assert not isinstance(answer, Refuted) or answer.point in claim.domain


@pytest.mark.slow
def test_perturbed_certificates_are_rejected() -> None:
    """A number changed anywhere in the certificate of Choi and Lam's form makes the kernel refuse it."""
    claim = _claim(*FORMS["Choi and Lam, degree 4"])
    answer = _decided(claim)
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    draws, document = Random(21), to_document(claim)
    for _ in range(100):
        proof = json.loads(json.dumps(answer.certificate["proof"]))
        square = draws.choice(draws.choice(proof["terms"])["squares"])
        change = Fraction(draws.choice((-1, 1)), 10 ** draws.randrange(1, 12))
        if draws.random() < 0.5:
            square[0] = str(Fraction(square[0]) + change)
        else:
            square[1] += f" {'-' if change < 0 else '+'} {abs(change)}*x*w"
        with pytest.raises(Rejected):
            check_claim(document, proof)


def test_random_matrices_are_decomposed_or_refused() -> None:
    """A random symmetric matrix gives squares whose sum is its form, unless a vector makes it negative."""
    draws, ring = Random(3), Ring(tuple("xyz"))
    basis = [ring.variable(n) for n in ring.names]
    zero = ring.number(0)
    kinds = set()
    for _ in range(300):
        rows = [[Fraction(draws.randrange(-4, 9 if i == j else 5), 2) for j in range(3)] for i in range(3)]
        rows = [[rows[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)]
        form = sum((ring.number(rows[i][j]) * basis[i] * basis[j] for i in range(3) for j in range(3)), zero)
        entries = [[ring.number(c).leading_coefficient() if c else _ZERO for c in row] for row in rows]
        found = squares_of(entries, basis)
        kinds.add(found is None)
        if found is not None:
            assert all(c > 0 for c, _ in found)
            assert sum((ring.number(c) * g * g for c, g in found), zero) == form
        else:
            assert _smallest_minor(rows) < 0
    assert kinds == {True, False}


_ZERO = Ring(("x",)).number(1).leading_coefficient() * 0


def _smallest_minor(rows: list[list[Fraction]]) -> Fraction:
    """Returns the least principal minor: a symmetric matrix is semidefinite iff none is negative."""

    def minor(kept: tuple[int, ...]) -> Fraction:
        if not kept:
            return Fraction(1)
        first, *rest = kept
        return _determinant([[rows[i][j] for j in (first, *rest)] for i in (first, *rest)])

    return min(minor(kept) for size in (1, 2, 3) for kept in combinations(range(3), size))


def _determinant(rows: list[list[Fraction]]) -> Fraction:
    if not rows:
        return Fraction(1)
    parts = (
        (-1) ** k * c * _determinant([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
        for k, c in enumerate(rows[0])
    )
    return sum(parts, Fraction(0))


def test_directions_in_which_a_polynomial_is_constant() -> None:
    """The form of Lax and Lax depends on differences only: one variable goes, and comes back."""
    claim = _claim(*FORMS["Lax and Lax"])
    found = fewer_variables(claim.polynomial, claim.domain.ring)
    assert found is not None
    g, back = found
    assert sum(degree > 0 for degree in g.degrees()) == 4
    assert back(g) == claim.polynomial
    assert fewer_variables(_claim(_MOTZKIN, "xyz", "[0, 1]").polynomial, Ring(tuple("xyz"))) is None


def test_options() -> None:
    """There is one option, with two words."""
    claim = _claim("x**2", "x", "[0, 1]")
    for options in ({"solver": "mosek"}, {"seed": "1"}):
        with pytest.raises(InputError, match="the option of sos is solver, clarabel or scs"):
            Sos().decide(claim, options)


def test_it_is_missing_without_its_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Clarabel there is no version, and the way to get it is told."""
    monkeypatch.setattr("paramverify.backends.sos.NEEDED", ("numpy", "scipy", "no-such-package"))
    assert Sos().version() is None
    assert Sos().install == "pip install clarabel numpy scipy"
