"""Theorems about inequalities: what is written, what Coq accepts and rejects, and what is refused."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tools.calling_tools import called, strict_json
from tools.theorem_tools import ROOT, about, accepts, case_of, needs_coq, refusals, written

from paramverify.algebra.expressions import Name, Node, Operation, RationalConstant
from paramverify.errors import UnsupportedError
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import evidence_document
from paramverify.reports.theorems.coq_words import Formulas
from paramverify.reports.theorems.theorem_files import theorem_of


def claim(holds: str, parameters: str = 'x = "(0, 1]"\ny = "[0, 1)"', define: str = "") -> PrivacyCase:
    """Returns a case with a claim."""
    return case_of(f"[parameters]\n{parameters}\n[define]\n{define}\n[claim]\nholds = {holds}\n")


def theorem(text: str) -> str:
    """Returns the statement of a file, in one line."""
    found = re.search(r"Theorem claim : (.*?)\nProof", text, re.DOTALL)
    assert found
    return " ".join(found[1].split())


ROUNDS = """[prior]
s = {{ bernoulli = "1/2" }}
[secrets]
yes = "s == 1"
no = "s == 0"
pairs = [["yes", "no"]]
[mechanism]
kind = "program"
source = '''
output(a if flip(1/2 + c/4) else 1 - a)
'''
[mechanism.inputs]
a = "s"
[privacy]
ratio = "{ratio}"
"""


def test_the_statement_is_what_the_user_wrote() -> None:
    """Intervals, constraints, functions and claims stand as in the case; divisors are told once."""
    text = about(
        claim(
            '["-x**2*(y - 1) - (x - y) >= -f", "0 <= f/(x + 2*y) and f == f"]',
            'x = "(0, 1/2]"\ny = "[0, 1)"\nconstraints = ["x*y < 1/4 - x/8", "x + y <= 1"]',
            'f = "x - x**3/(1 + y)/2"',
        )
    )
    assert "Definition f (x y : R) : R :=\n  (x - x ^ 3 / (1 + y) / 2)%R." in text
    assert theorem(text) == (
        "forall x y : R, (0 < x <= 1 / 2)%R -> (0 <= y < 1)%R -> "
        "(x * y < 1 / 4 - x / 8)%R -> (x + y <= 1)%R -> "
        "(1 + y <> 0 /\\ x + 2 * y <> 0 /\\ - x ^ 2 * (y - 1) - (x - y) >= - f x y /\\ "
        "0 <= f x y / (x + 2 * y) /\\ f x y = f x y)%R."
    )
    head = text.partition("*)")[0]
    assert "In Coq x / 0 is some number." in head
    assert "paramverify is trusted for nothing but this: that the theorem is" in head
    assert "x / 0" not in about(claim('"x*y <= 1"'))


def in_proof(texts: Sequence[str], folder: Path) -> list[str]:
    """Returns by which tactic the proof of each theorem fails in Coq, or nothing where it does not."""
    return [line.partition(" ")[0] for line in refusals(texts, folder)]


def positive(random: Random, depth: int) -> str:
    """Returns a random formula that is positive for positive x and y, with quotients in quotients."""
    if not depth:
        return random.choice(["x", "y", "2", "1/3", "0.5"])
    left, right = (positive(random, depth - 1) for _ in range(2))
    return random.choice(
        [f"({left} + {right})", f"{left}*({right})", f"({left})/({right})", f"({left})**2", f"1/({left})"]
    )


@needs_coq
@pytest.mark.slow
def test_coq_accepts_nested_quotients(tmp_path: Path) -> None:
    """Random quotients of quotients, with divisors of both signs: Coq finds a proof of each."""
    random, claims = Random(11), []
    for _ in range(4):
        f, g = positive(random, 2), positive(random, 1)
        claims += [
            f"0 < {f}",
            f"({f})/({f} + {g}) <= 1",
            f"({f})/(-({g})) < 0",
            f"({f})*({g}) == ({g})*({f})",
        ]
    text = about(claim(str(claims), 'x = "(0, 1]"\ny = "[1/2, 1)"'))
    assert accepts(text, tmp_path)
    assert len(claims) == text.partition("Proof.")[0].count("/\\") + 1 - text.count("<> 0 /\\")


MIXED = claim(
    '["x*y/x <= exp(1/2)*y", "(x - y)/(y - 2) >= -1/2 and -x < 0 < x", "exp(1)/exp(1/2) == exp(1/2)"]',
    'x = "(0, 1]"\ny = "[0, 1)"\nconstraints = ["x - y <= 3/4", "x**2 <= (y + 1)**2/2"]',
)


@needs_coq
@pytest.mark.slow
def test_coq_accepts_and_rejects(tmp_path: Path) -> None:
    """What cancels, a negative divisor, exp(1/2) and constraints are accepted; what is false is not."""
    text = about(MIXED)
    assert "x * y / x <= exp (1 / 2) * y" in text
    changes = (
        ("- x < 0", "- x < - 1 / 100"),
        ("<= exp (1 / 2) * y", "<= exp (1 / 2) * y / 2"),
        ("x <> 0 /\\", "x <> 0 /\\ y <> 0 /\\"),
        ("(x - y <= 3 / 4)%R", "(x - y <= 7 / 8)%R"),
    )
    assert [text.count(old) for old, _ in changes] == [1] * len(changes)
    changed = [text.replace(old, new) for old, new in changes]
    assert in_proof([text, *changed], tmp_path) == ["", "Qed.", "Qed.", "Qed.", "by_claims"]


@needs_coq
@pytest.mark.slow
def test_coq_rejects_other_numbers(tmp_path: Path) -> None:
    """A certificate of another polynomial, or one without what it must show, is rejected."""
    text = about(claim('"x**2 + y**2 - 3/2*x*y >= x**2*y**2/8 and x*y/((x - y)**2 + 1/50) > -1"', SQUARE))
    none, changed = '["0"%string]', []
    for name in ("proofs_of 2", "positives_of 2"):
        start = text.index(name) + len(name) + 1
        end = text.index("]", start) + 1
        assert text[start:end] != none
        changed.append(text[:start] + none + text[end:])
    assert in_proof([text, *changed], tmp_path) == ["", "Qed.", "Qed."]


EXPONENTIALS = """
[parameters]
eps = "(0, oo)"
delta = "(0, oo)"
p = "(0, 1)"
constraints = ["p <= exp(-eps)", "p*exp(1) <= 1"]
[define]
f = "exp(-eps/2 - delta)/(1 + exp(1)*p)"
[claim]
holds = [
    "f < 1",
    "p*exp(eps) <= exp(0) and exp(-eps) >= p",
    "exp(eps/2 - 2*delta)*exp(2*delta) == exp(-(-eps/2))",
    "exp(1) > exp(1/2) > 1",
]
"""


@needs_coq
@pytest.mark.slow
def test_exponentials_stand_as_they_are_written(tmp_path: Path) -> None:
    """Exponentials of numbers and parameters, in premises, functions and claims; others are rejected."""
    text = about(case_of(EXPONENTIALS))
    assert theorem(text) == (
        "forall eps delta_ p : R, (0 < eps)%R -> (0 < delta_)%R -> (0 < p < 1)%R -> "
        "(p <= exp (- eps))%R -> (p * exp (1) <= 1)%R -> "
        "(1 + exp (1) * p <> 0 /\\ f eps delta_ p < 1 /\\ p * exp (eps) <= exp (0) /\\ exp (- eps) >= p /\\ "
        "exp (eps / 2 - 2 * delta_) * exp (2 * delta_) = exp (- (- eps / 2)) /\\ "
        "exp (1) > exp (1 / 2) /\\ exp (1 / 2) > 1)%R."
    )
    changes = (
        ("(p <= exp (- eps))", "(p <= exp (- eps / 2))"),
        ("/ 2 - 2 * delta_)", "/ 2 - 3 * delta_)"),
    )
    changed = [text.replace(old, new) for old, new in changes]
    assert text not in changed
    assert in_proof([text, *changed], tmp_path) == ["", "by_claims", "replace"]


UNUSED = """
[parameters]
eps = "(0, oo)"
x = "[-2, 2]"
p = "(0, 1)"
constraints = ["(1 - x**2)**3 >= 0", "0 < p < 1/2"]
[define]
unused = "1/(1 + exp(-eps))"
other = "exp(-3*eps)*x"
c = "1/(exp(1) - 2)"
[claim]
holds = ["x*p*c < 3/2", "x**2 <= 4", "p**-2 > p", "x/exp(1) < 4"]
"""


def test_functions_that_double_are_refused() -> None:
    """Functions of functions whose size grows with a power of 2 are refused at once."""
    define = 'f0 = "x"\n' + "\n".join(f'f{k + 1} = "f{k}/2 + f{k}/2"' for k in range(40))
    with pytest.raises(UnsupportedError, match="writes its functions out"):
        about(claim('"f40 <= 1"', define=define))


SQUARE = 'x = "(0, 1]"\ny = "(0, 1]"'


@needs_coq
@pytest.mark.slow
def test_coq_accepts(tmp_path: Path) -> None:
    """Coq accepts a parameter beside its own exponential, a function from a file, and divisors of all kinds.

    Divisors of functions that nothing uses, powers below zero, and those without a parameter are told.
    """
    text = about(case_of(UNUSED))
    divisors = ("1 + exp (- eps)", "exp (1) - 2", "p ^ 2", "exp (1)")
    assert " /\\ ".join(f"{divisor} <> 0" for divisor in divisors) in theorem(text)
    assert "(- 2 <= x <= 2)%R ->" in text
    assert refusals([written("exponential-mean"), written("random-walk"), text], tmp_path) == ["", "", ""]


def test_a_false_claim_has_no_theorem(tmp_path: Path) -> None:
    """A false claim ends with code 1, and nothing is written."""
    folder = tmp_path / "out"
    done = called("prove", str(ROOT / "cases" / "blood-test.toml"), "-o", str(folder))
    assert done.code == 1
    assert "only true claims have one" in done.out
    assert not folder.exists()
    true = called("prove", str(ROOT / "cases" / "sample-n-utility.toml"), "-o", str(folder), "--json")
    assert strict_json(true.out)["files"][0] == str(folder / "case.v")
    assert "as_model" not in strict_json(true.out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "limit", "settings"),
    [
        ("claim", "1", ("c=1/3",)),
        ("claim", "1/9", ()),
        ("case", "1", ()),
        ("case", "1/9", ("c=1/3",)),
    ],
)
def test_it_says_what_verify_says(kind: str, limit: str, settings: tuple[str, ...], tmp_path: Path) -> None:
    """Words, notes and what `-D` set are those of `verify`; the file has the last, too."""
    texts = {
        "claim": f'[define]\nf = {{ file = "f.rat" }}\n[claim]\nholds = "f*(1 - c) <= {limit}"\n',
        "case": ROUNDS.format(ratio="2" if limit == "1" else "10/9"),
    }
    (tmp_path / "f.rat").write_text("$Parameters: p;\n$Result: p\n")
    case = tmp_path / "case.toml"
    case.write_text('[parameters]\nc = "[1/4, 1/3]"\n' + texts[kind])
    given = [str(case), *(part for text in settings for part in ("-D", text))]
    wanted = called("verify", *given)
    proved = called("prove", *given, "-o", str(tmp_path / "out"))
    assert proved.code == wanted.code
    notes = [line for line in wanted.out.splitlines() if "Note" in line]
    assert [line for line in proved.out.splitlines() if "Note" in line] == notes
    assert len(notes) == (kind == "claim") + len(settings)
    as_verify = strict_json(called("verify", *given, "--json").out)
    as_prove = strict_json(called("prove", *given, "-o", str(tmp_path / "out"), "--json").out)
    assert as_verify["verdict"] in ("true", "false", "private", "not private")
    for name in ("status", "verdict", "notes", "set"):
        assert as_prove.get(name) == as_verify.get(name)
    if not proved.code:
        head = (tmp_path / "out" / "case.v").read_text().partition("*)")[0]
        assert ("set by -D, not by the file: c = 1/3." in head) is bool(settings)


SHARED = " + ".join(f"x/({k % 7 + 2} + x**3 + {k % 7}*y)" for k in range(70))


@pytest.mark.parametrize(
    ("holds", "reason"),
    [
        ('"(x*y - y)/y <= 0"', "the divisor y is zero at x = 1/2, y = 0: a theorem is about what is written"),
        ('"y*(x**2 - 1/2)**2/(x**2 - 1/2)**2 <= 1"', "it is not proved that .* is above zero"),
        (f'"{SHARED} > 0"', "too large for Coq"),
        ('"x**1001 <= 1"', "powers by whole numbers up to 1,000"),
    ],
)
def test_what_is_refused(holds: str, reason: str) -> None:
    """What has no value as it is written, and what is too large for Coq, is refused with the reason."""
    with pytest.raises(UnsupportedError, match=reason):
        about(claim(holds))


def test_the_word_of_a_solver_is_refused() -> None:
    """A proof that rests on a solver gives no theorem: of a claim, of a strict one, and of a divisor."""
    case = claim('["x*y <= 1", "x*y < 1", "1/(x - y + y**2) > -1"]', 'x = "[1/2, 1]"\ny = "[0, 1/4]"')
    document = evidence_document(case, verify(case, Options(evidence=2.0)))
    assert theorem_of(case, document).text
    for k, statement in enumerate(document["statements"]):
        assert statement["kind"] == "claim"
        changed = deepcopy(document)
        changed["statements"][k]["proof"] = {"kind": "solver", "solver": "z3", "version": "4"}
        with pytest.raises(UnsupportedError, match="the word of a solver"):
            theorem_of(case, changed)


def tree(random: Random, depth: int) -> Node:
    """Returns a random formula of all operations."""
    kind = random.choice(["+", "*", "/", "neg", "**"]) if depth else "leaf"
    if kind == "leaf":
        number = Fraction(random.randint(0, 9), random.choice([1, 1, 3]))
        return random.choice([Name("x", 0), Name("f", 0), RationalConstant(number, 0)])
    first = tree(random, depth - 1)
    if kind == "**":
        return Operation("**", (first, RationalConstant(Fraction(random.randint(0, 3)), 0)), 0)
    rest = [] if kind == "neg" else [tree(random, depth - 1) for _ in range(1 if kind == "/" else 2)]
    return Operation(kind, (first, *rest), 0)


OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "*": operator.mul,
    "/": operator.truediv,
    "**": lambda base, power: base ** int(power),
}


def value(node: Node, at: dict[str, Fraction]) -> Fraction:
    """Returns the value of a formula."""
    if isinstance(node, RationalConstant):
        return node.value
    if isinstance(node, Name):
        return at[node.name]
    assert isinstance(node, Operation)
    first, *rest = (value(part, at) for part in node.arguments)
    for part in rest:
        first = OPERATIONS[node.operator](first, part)
    return -first if node.operator == "neg" else first


@pytest.mark.slow
def test_brackets_are_where_they_are_needed() -> None:
    """Random formulas: what is written means the same. Python binds - * / ^ as Coq does."""
    random, at = Random(5), {"x": Fraction(3, 7), "f": Fraction(-5, 2)}
    formulas, compared = Formulas({"x": "x"}, {"f": "f x"}), 0
    for _ in range(600):
        node = tree(random, random.randint(0, 4))
        try:
            expected = value(node, at)
        except ZeroDivisionError:
            continue
        text = re.sub(r"\bf x\b", "F", formulas.written(node)).replace("^", "**")
        text = re.sub(r"(?<!\*\* )\b(\d+)\b", r"Fraction(\1)", text)
        assert eval(text, {"Fraction": Fraction, "x": at["x"], "F": at["f"]}) == expected, text
        compared += 1
    assert compared > 300
    assert formulas.written(Operation("*", (Name("f", 0), Name("x", 0)), 0)) == "f x * x"
