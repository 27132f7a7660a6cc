"""The steps `ideal` and `sympy`: equations are used, and nothing that sympy says is believed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sympy
from claim_tools import make, replayed

from paramverify.algebra.polynomials import key
from paramverify.cli.main import run
from paramverify.errors import DefectError, InputError
from paramverify.evidence import certificates
from paramverify.evidence.certificates import CONSTANT
from paramverify.exact.branching import decide_exactly
from paramverify.formats.refutations import fails_at
from paramverify.kernel.claim_evidence import check_claim
from paramverify.simplify import step_names
from paramverify.simplify.chain import STEPS, simplify
from paramverify.simplify.reductions import Guarantee
from paramverify.simplify.step_names import parse_steps

BOX = {"x": "[-1, 1]", "y": "[-1, 1]", "z": "[0, 1]"}
CIRCLE = "x**2 + y**2 == 1"


@pytest.mark.parametrize(
    ("claim", "constraints", "left"),
    [
        ("1 - (x**2 + y**2)**2", [CIRCLE], "0"),
        ("x**3 + x*y**2 + 2*y + 4", [CIRCLE], "x + 2*y + 4"),
        ("1 + 2*z - (x + y)**2", [CIRCLE, "2*z == 2*x*y"], "0"),
        # equations whose multiple is another one are used, too, and what they define is substituted
        ("z - x**3", ["3*z >= 3*x**3", "2*x**3 >= 2*z"], "0"),
        ("x**2*y + x*y**2 - 3*x + 5", ["x*y == 1/2"], "-5*x + y + 10"),
    ],
)
def test_the_remainder_is_left(claim: str, constraints: list[str], left: str) -> None:
    """A claim becomes its remainder modulo the equations, and the kernel accepts what leads there."""
    about = make(claim, BOX, constraints)
    tree = simplify(about, ["ideal", "content"])
    assert tree.exact
    (leaf,) = tree.leaves()
    assert key(leaf.claim.polynomial) == left
    assert "reduced modulo the equations" in leaf.told
    assert replayed(decide_exactly(about))


def test_random_multiples_of_equations() -> None:
    """Of q₁·g₁ + q₂·g₂ + 1 the number is left, whatever the cofactors are."""
    random = Random(38)

    def drawn(degree: int) -> str:
        powers = [(a, b, c) for a in range(3) for b in range(3) for c in range(2) if a + b + c <= degree]
        return " + ".join(f"({random.randint(-4, 4)}/3)*x**{a}*y**{b}*z**{c}" for a, b, c in powers)

    for _ in range(12):
        first, second = f"x*y + {drawn(1)}", f"z*x - y**2 + {drawn(1)}"
        claim = make(
            f"({drawn(2)})*({first}) + ({drawn(2)})*({second}) + 1",
            BOX,
            [f"{first} == 0", f"{second} >= 0", f"{second} <= 0"],
        )
        tree = simplify(claim, ["ideal"])
        assert [key(leaf.claim.polynomial) for leaf in tree.leaves()] == ["1"]
        document = json.loads(json.dumps(certificates.certificate(claim, tree.proof([CONSTANT]))))
        assert check_claim(document["claim"], document["proof"]) == ()


@pytest.mark.parametrize(
    ("constraint", "steps"),
    [
        ("x**2 - 2*x*y + y**2 <= 0", ["ideal", "ideal"]),
        ("(x - y)**4 * 3 <= 0", ["ideal"] * 3),  # (x - y)² is zero, and then x - y
        ("x**2 - 2*x*y + y**2 < 0", []),  # there is no such point: not a matter of equations
        ("x**2 - 2*x*y + y**2 >= 0", []),
        ("x**3 - 3*x**2*y + 3*x*y**2 - y**3 <= 0", []),
        ("(x - y)**2*z <= 0", []),
    ],
)
def test_a_square_that_is_not_positive_is_zero(constraint: str, steps: list[str]) -> None:
    """So it is an equation, and its square root is one."""
    claim = make("y**3*x - x**3*y", BOX, [constraint])
    tree = simplify(claim, ["ideal"])
    assert tree.steps() == steps
    if steps:
        assert replayed(decide_exactly(claim))


def test_what_is_false_stays_false() -> None:
    """A point that refutes the remainder refutes the claim."""
    claim = make("3/5 - x**3 - x*y**2", BOX, [CIRCLE])
    (leaf,) = simplify(claim, ["ideal", "content"]).leaves()
    assert key(leaf.claim.polynomial) == "-5*x + 3"
    point = {"x": Fraction(4, 5), "y": Fraction(3, 5), "z": Fraction(0)}
    assert fails_at(leaf.claim, point)
    assert fails_at(claim, leaf.lift(point))
    assert not replayed(decide_exactly(claim))


def test_sympy_finds_the_same_factors() -> None:
    """It splits a claim as the step `factors` does, in a way that the kernel accepts."""
    for text in ("p**3 * (1-p) * (p-q)**2 * (q**2 - q + 1/3 - p/100)", "-2*(p - 2)*(q**2 - q + 1/3)"):
        claim = make(text)
        by_sympy, own = simplify(claim, ["sympy"]), simplify(claim, ["factors"])
        assert by_sympy.steps() == ["sympy"]
        assert [key(leaf.claim.polynomial) for leaf in by_sympy.leaves()] == [
            key(leaf.claim.polynomial) for leaf in own.leaves()
        ]
        assert by_sympy.guarantee is Guarantee.EXACT


def test_nothing_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors and remainders that are wrong are noticed before they are used."""

    def factors(polynomial: Any) -> Any:
        return sympy.Integer(2), [(polynomial, 1), (polynomial, 2)]

    monkeypatch.setattr(sympy, "factor_list", factors)
    with pytest.raises(DefectError, match="factors whose product is not"):
        simplify(make("p*(1 - p)"), ["sympy"])

    class Basis:
        def reduce(self, expression: Any) -> Any:
            return [], sympy.Integer(7)

    monkeypatch.setattr(sympy, "groebner", lambda *given, **options: Basis())
    with pytest.raises((DefectError, ValueError)):
        simplify(make("1 - (x**2 + y**2)**2", BOX, ["x**2 + y**2 == 2/3"]), ["ideal"])


def test_bases_that_take_long_are_not_begun() -> None:
    """The default step leaves many or high equations alone, which the step that is asked for may use."""
    names = ["a", "b", "c", "d", "e"]
    cycle = [f"{left}**2 == {right}" for left, right in zip(names, [*names[1:], "a"], strict=True)]
    claim = make("1 - a**2 + b", dict.fromkeys(names, "(0, 1)"), cycle)
    assert simplify(claim, ["ideal"]).steps() == []
    assert [key(leaf.claim.polynomial) for leaf in simplify(claim, ["sympy"]).leaves()] == ["1"]


# A claim about p and q in (0, 1), or about p = 1/3, a constraint, and the polynomials that the step leaves.
EXAMPLES = {
    "fixed": ("p*q - 1/4", "", ["1/3*q - 1/4"]),
    "product": ("(p*q)**40 - (p*q)**39 + 1", "", ["p^40 - p^39 + 1"]),
    "sign": ("p**2*q + p - p**2", "", []),
    "empty": ("p - 1", "p >= q + 1", []),
    "equations": ("p - 2*q + 1", "p == q**2", ["q^2 - 2*q + 1"]),
    "ideal": ("3 - 3*(p**2 + q**2)**2", "p**2 + q**2 == 1", ["0"]),
    "stretch": ("2 - p - p*q - q", "p + q <= 1", ["p*q^2 - p - q + 2"]),
    "factors": ("p**3*(1 - p)*(p - q)**2*(q**2 - q + 1/3)", "", ["3*q^2 - 3*q + 1"]),
    "content": ("4/3*p**2 - 2*p*q + 2", "", ["2*p^2 - 3*p*q + 3"]),
    "monotone": ("2*p + p*q + q**2 - q", "", ["q^2 - q"]),
    "ends": ("p*(q - 1/2)**2 + (1 - p)*(q - 1/3)**2", "", ["q^2 - 2/3*q + 1/9", "q^2 - q + 1/4"]),
    "sympy": ("p**3*(1 - p)*(p - q)**2*(q**2 - q + 1/3)", "", ["3*q^2 - 3*q + 1"]),
}


def test_what_steps_do() -> None:
    """Each step makes of a claim what it should, and the page has all steps in their order."""
    page = (Path(__file__).resolve().parents[2] / "docs/how-to/solvers.md").read_text(encoding="utf-8")
    table = page[page.index("| step | what it does") :].split("\n\n", 1)[0].splitlines()[2:]
    assert [row.split("`")[1] for row in table] == list(STEPS)
    for name in STEPS:
        claim, given, left = EXAMPLES[name]
        box = {"p": "1/3" if name == "fixed" else "(0, 1)", "q": "(0, 1)"}
        tree = simplify(make(claim, box, [given] if given else []), [name])
        assert tree.steps()[:1] == [name]
        assert [key(leaf.claim.polynomial) for leaf in tree.leaves()] == left


def test_names_of_steps() -> None:
    """Users name the steps of the chain, all default ones together, or none."""
    assert tuple(STEPS) == (*step_names.BUILT_IN, *step_names.ASKED_FOR)
    assert parse_steps("default") is None
    assert parse_steps("none") == ()
    assert parse_steps("sympy, sign") == ("sympy", "sign")
    assert parse_steps("sympy,default") == ("sympy", *step_names.BUILT_IN)
    for text, said in {
        "factor": "'factor' is not a step of simplification; the steps are fixed,",
        "": "'' is not a step",
        "none,sign": "'none' is not a step",
        "sign,default": "step of simplification twice",
    }.items():
        with pytest.raises(InputError, match=said):
            parse_steps(text)


def test_solvers_get_what_the_steps_leave(capsys: pytest.CaptureFixture[str]) -> None:
    """With --simplify sympy a solver is asked about what sympy leaves, and the evidence is checked."""
    path = "cases/inequalities/disc-product.toml"
    assert run(["verify", path, "--backends", "z3", "--simplify", "sympy"]) == 0
    told = capsys.readouterr().out
    assert "by z3" in told
    assert run(["verify", path, "--simplify", "sympy", "--no-simplify"]) == 2
    assert "--simplify and --no-simplify exclude each other" in capsys.readouterr().err
    case = "cases/geometric-independent.toml"
    for flag in (["--no-simplify"], ["--simplify", "sign"]):
        assert run(["verify", case, "--encoding", "monolithic", *flag]) == 2
        assert f"leave {flag[0]} out" in capsys.readouterr().err
    assert run(["export", case, "--to", "qepcad", "--simplify", ""]) == 2
    assert "'' is not a step of simplification" in capsys.readouterr().err
    assert run(["verify", path, "--simplify", "gröbner"]) == 2
    assert "'gröbner' is not a step of simplification" in capsys.readouterr().err
