"""Files of parametric model checkers: both forms, compared with evaluation of our own, and every mistake."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import RationalFunction, Ring, value_at
from paramverify.errors import InputError, LimitError
from paramverify.models.rational_files import MAX_BYTES, UNIT, RationalFile, read_rational_file

HEAD = "$Parameters: p (0,1); q (0,1)\n$Result: "
POINT = {"p": Fraction(2, 7), "q": Fraction(3, 11)}
OTHER = {"p": Fraction(5, 9), "q": Fraction(1, 13)}


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], RationalFile]:
    """Returns a function that writes a file and reads it."""

    def read(text: str) -> RationalFile:
        path = tmp_path / "model.rat"
        path.write_text(text)
        return read_rational_file(path)

    return read


def value(function: RationalFunction, point: dict[str, Fraction]) -> Fraction:
    return value_at(function.numerator, point) / value_at(function.denominator, point)


def result(read: RationalFile) -> RationalFunction:
    return read.result(Ring(tuple(read.parameters)))


def constraints(read: RationalFile, box: dict[str, Interval] | None = None) -> list[str]:
    domain = box_domain(Ring(("p", "q")), box or {"p": UNIT, "q": UNIT})
    return [c.text for c in read.constraints(domain)]


# --- formulas ---------------------------------------------------------------------------------------


OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


@dataclass(frozen=True)
class Tree:
    """A formula that can be written in both forms and evaluated by itself."""

    operator: str
    parts: tuple["Tree", ...] = ()
    exponent: int = 1

    def prefix(self) -> str:
        if not self.parts:
            return self.operator
        tail = f" {self.exponent}" if self.operator == "^" else ""
        return f"({self.operator} {' '.join(part.prefix() for part in self.parts)}{tail})"

    def infix(self, power: str = "**") -> str:
        texts = [part.infix(power) for part in self.parts]
        if not texts:
            return self.operator
        if self.operator == "^":
            return f"({texts[0]}){power}{self.exponent}"
        return f"({self.operator.join(texts)})" if len(texts) > 1 else f"({self.operator}{texts[0]})"

    def value(self, point: dict[str, Fraction]) -> Fraction:
        if not self.parts:
            return point[self.operator] if self.operator in point else Fraction(self.operator)
        first, *rest = (part.value(point) for part in self.parts)
        if self.operator == "^":
            return first**self.exponent
        if not rest:
            return -first
        return reduce(OPERATORS[self.operator], rest, first)


LEAVES = st.sampled_from(["p", "q", "0", "1", "3", "0.25", "17", "1e-2"]).map(Tree)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Tree, st.sampled_from("+-*/"), st.lists(inner, min_size=2, max_size=4).map(tuple)),
        st.builds(Tree, st.just("-"), st.tuples(inner)),
        st.builds(Tree, st.just("^"), st.tuples(inner), st.integers(1, 3)),
    ),
    max_leaves=12,
)


@given(tree=TREES)
def test_both_forms_against_evaluation(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A random formula has the same value, written in prefix, with ** and with ^, as evaluated by itself."""
    path = tmp_path_factory.getbasetemp() / "random.rat"
    for text in (tree.prefix(), tree.infix(), tree.infix("^")):
        path.write_text(HEAD + text)
        try:
            found = result(read_rational_file(path))
        except InputError:  # a division by zero: then it is one at every point
            for point in (POINT, OTHER):
                with pytest.raises(ZeroDivisionError):
                    tree.value(point)
            continue
        for point in (POINT, OTHER):
            try:
                expected = tree.value(point)
            except ZeroDivisionError:
                continue
            assert value(found, point) == expected


def test_formulas_against_sympy(file: Callable[[str], RationalFile]) -> None:
    """What sympy prints is read as what sympy means, signs and powers included."""
    import sympy

    p, q = sympy.symbols("p q")
    formulas = [
        -(p**2) + 3 * p * q,
        (-(p**3) + q) / (1 - p * q) ** 2,
        -2 * p / 3 / (p + q),
        sympy.expand((1 - p * q) ** 12 - sympy.Rational(3, 7)) / (p + 2),
        -(-p - q) * (p - 1) ** 3,
    ]
    for formula in formulas:
        found = result(file(f"!Parameters: p; q\n!Result: {formula}\n"))
        for point in (POINT, OTHER):
            numbers = {s: sympy.Rational(str(point[str(s)])) for s in (p, q)}
            assert value(found, point) == Fraction(str(formula.subs(numbers)))


EQUAL = [
    ("(- p)", "-p"),
    ("(* -1 p)", "-p"),
    ("(+ p -3/4)", "p - 3/4"),
    ("(/ p q 2)", "p/q/2"),
    ("(- (^ p 2))", "-p**2"),
    ("(+ p)", "+p"),
    ("(* (+ p q)\n   (- p q))", "(p + q)*\n (p - q)"),
    ("(/ (* -1 (p) * (q+-1)^2) p*q+(-1)*3)", "(-p*(q - 1)**2)/(p*q - 3)"),
    ("(/ (p) * (q) * (p+1) (p+(-2)*q^2))", "p*q*(p + 1)/(p - 2*q**2)"),
    ("(+ 16*p^3*q 2*(p+q)^2 -3/4 (- 1))", "16*p**3*q + 2*(p + q)**2 - 3/4 - 1"),
    ("(* 1e-2 p-1 q)", "0.01*(p - 1)*q"),
    ("(- (* (+ p 1) q))", "(-(p+1)*q)"),
]


@pytest.mark.parametrize(("prefix", "infix"), EQUAL)
def test_equal_texts(prefix: str, infix: str, file: Callable[[str], RationalFile]) -> None:
    """Signs, fractions, one operand, several lines: both forms mean the same."""
    assert result(file(HEAD + prefix)) == result(file(HEAD + infix))


@pytest.mark.slow
@pytest.mark.parametrize("blank", [" ", "\n"])
@pytest.mark.parametrize("more", ["p+q", "p-q", "p*(q-1)+q", "p^2-1", "1e-2*p+q"])
def test_two_readings(more: str, blank: str, file: Callable[[str], RationalFile]) -> None:
    """A sum after a minus and a blank is -(p + q) in prefix and -p + q in infix: refused, deep inside too."""
    for text in (f"(-{blank}{more})", f"(* (-{blank}{more}) p)", f"(+ q (/ p (-{blank}{more} )))"):
        with pytest.raises(InputError, match="two readings"):
            result(file(f"{HEAD}{text}\n"))
    written = more.replace("^", "**")
    for text, sign in ((f"(-{blank}({more}))", -1), (f"(-{blank}{more} 0)", 1), (f"(+{blank}{more})", 1)):
        expected = sign * eval(written, dict(POINT))
        assert abs(float(value(result(file(f"{HEAD}{text}\n")), POINT) - Fraction(expected))) < 1e-9


@pytest.mark.parametrize("rest", ["*q", " * q", "/(q + 1)", "^2", " - 3*q", "+(q)"])
def test_infix_that_opens_with_a_minus(rest: str, file: Callable[[str], RationalFile]) -> None:
    """`(- p)*q` is infix, for prefix ends with its bracket; so are constraints."""
    expected = eval(f"(-p){rest.replace('^', '**')}", {}, POINT)
    assert value(result(file(f"{HEAD}(- p){rest}\n")), POINT) == expected
    for told in (f"(- p){rest} >= 1/100", f"(- p){rest} - 1/100, >="):
        (text,) = constraints(file(f"{HEAD}p\n$Well-formed Constraints:\n{told}\n")) or ("",)
        if text:
            left = eval(text.split(">=")[0], {}, POINT)
            assert (left >= 0) == (expected >= Fraction(1, 100))


def number(value: int) -> str:
    return f"(- {-value})" if value < 0 else str(value)


@pytest.mark.slow
def test_deep_nesting(file: Callable[[str], RationalFile]) -> None:
    """Brackets thirty thousand deep are read in both forms."""
    depth = 30_000
    assert str(result(file(HEAD + "(- " * depth + "p" + ")" * depth))) == "p"
    assert str(result(file(HEAD + "(" * depth + "p" + ")" * depth))) == "p"
    nested = "(+ 1 (* p " * 200 + "q" + "))" * 200  # 1 + p·(1 + p·(...·q))
    expected = sum((POINT["p"] ** k for k in range(200)), Fraction(0)) + POINT["p"] ** 200 * POINT["q"]
    assert value(result(file(HEAD + nested)), POINT) == expected


# --- sections, parameters, constraints --------------------------------------------------------------


def test_sections_and_parameters(file: Callable[[str], RationalFile]) -> None:
    """Intervals of all kinds, or none; sections in any order, Windows lines."""
    text = "$Well-formed Constraints: \n$Result:\n p\r\n + q \n$Parameters: p; q [1/10, 0.4]; r (0,1];\n"
    read = file(text)
    shown = {name: str(interval) for name, interval in read.parameters.items()}
    assert shown == {"p": "None", "q": "[1/10, 2/5]", "r": "(0, 1]"}
    assert str(result(read)) == "p + q"


@pytest.mark.parametrize("marker", ["!", "$", ""])
def test_older_files(marker: str, file: Callable[[str], RationalFile]) -> None:
    """Commas between parameters, with intervals or without, and constraints whose other side is 0."""
    text = f"""{marker}Parameters: p, q (0,1/2), r
{marker}Result: (-p**2*q + 1)/(r + 1)
{marker}Well-formed Constraints:
p,>=
p - 1,<=
-q + 2*r,  <
{marker}Graph-preserving Constraints:
p - 1/3,!=
"""
    read = file(text)
    shown = {name: str(interval) for name, interval in read.parameters.items()}
    assert shown == {"p": "None", "q": "(0, 1/2)", "r": "None"}
    box = box_domain(Ring(("p", "q", "r")), {"p": UNIT, "q": UNIT, "r": UNIT})
    new = text.replace(",>=", " >= 0").replace(",<=", " <= 0").replace(",  <", " < 0").replace(",!=", " != 0")
    new = new.replace("p, q (0,1/2), r", "p; q (0,1/2); r")
    found = [c.text for c in read.constraints(box)]
    assert found == [c.text for c in file(new).constraints(box)]
    assert len(found) == 2
    point = {"p": Fraction(1, 3), "q": Fraction(1, 5), "r": Fraction(3, 4)}
    assert value(result(read), point) == (1 - Fraction(1, 45)) / Fraction(7, 4)


def test_constraints(file: Callable[[str], RationalFile]) -> None:
    """What the box implies is left out; the rest becomes comparisons, an inequality as a square."""
    text = f"""{HEAD}p
$Well-formed Constraints:
(<= (+ p (- 1)) 0)
(<= (* (- 1) q) 0)
(<= (+ p
       q) 1)
p - 1 <= 0
$Graph-preserving Constraints:
(not (= p 0))
(not (= (- p q) 0))
!(q = 0)
(p + q > 1/2) & (p != 2)
true
"""
    read = file(text)
    domain = box_domain(Ring(("p", "q")), {"p": UNIT, "q": UNIT})
    found = read.constraints(domain)
    assert [c.text for c in found] == ["-p - q + 1 >= 0", "p - q != 0", "p + q - 1/2 > 0"]
    half = Fraction(1, 2)
    for p, q, inside in [(half, half, False), (half, half / 2, True), (half / 2, half / 4, False)]:
        assert ({"p": p, "q": q} in replace(domain, constraints=found)) == inside


def test_constraints_at_closed_ends(file: Callable[[str], RationalFile]) -> None:
    """On a closed box `p ≠ 0` says p > 0, and an equality stays as two comparisons."""
    read = file(HEAD + "p\n$Graph-preserving Constraints:\n(not (= p 0))\nq < 1\n(= p q)\n")
    closed = Interval(Fraction(0), Fraction(1), True, True)
    expected = ["p != 0", "-q + 1 > 0", "p - q >= 0", "p - q <= 0"]
    assert constraints(read, {"p": closed, "q": closed}) == expected


MISTAKES = [
    ("", "line 1: a file of this format must start with '$Parameters:'"),
    ("$Parameters: p\n", "the section '$Result:' is missing"),
    ("$Result: p\n", "the section '$Parameters:' is missing"),
    ("$Parameters: p\n$Reslut: p", "line 2: unknown section 'Reslut'; did you mean 'Result'?"),
    ("$Parameters: p\n$Result: p\n$Result: p", "line 3: the section 'Result' occurs twice"),
    ("$Parameters: p; p\n$Result: p", "line 1: the parameter 'p' is listed twice"),
    ("$Parameters: E\n$Result: 1", "line 1: the parameter 'E' is reserved in case files; rename it"),
    ("$Parameters: p-1\n$Result: 1", "line 1: the parameter 'p-1' is not a valid name"),
    ("$Parameters: p (0,inf)\n$Result: 1", "line 1: a parameter needs an interval with finite ends"),
    (HEAD + "r", "line 2: 'r' is not one of the parameters of the file (p, q)"),
    (HEAD + "(+ p\n\n(* q r))", "line 4: 'r' is not one of the parameters"),
    (HEAD, "line 2: the formula is empty"),
    (HEAD + "(+ p q", "line 2: a bracket is not closed"),
    (HEAD + "(p + q", "line 2: a bracket is not closed"),
    (HEAD + "p q", "line 2: unexpected 'q'"),
    (HEAD + "2p", "line 2: unexpected 'p'"),
    (HEAD + "p +", "line 2: unexpected 'the end'"),
    (HEAD + "p ** q", "line 2: an exponent must be a whole number"),
    (HEAD + "(^ p (- 2))", "line 2: an exponent must be a whole number"),
    (HEAD + "(- p -3)", "line 2: write (- 3) for a negative number here"),
    (HEAD + "(/ p 0)", "line 2: division by zero"),
    (HEAD + "(/ p)", "line 2: / has the wrong operands"),
    (HEAD + "(% p q)", "line 2: unexpected '%'"),
    (HEAD + "(pow p 2)", "line 2: 'pow' is not one of the parameters"),
    (HEAD + "p < q", "line 2: this must be a formula, not a comparison"),
    (HEAD + "(* 3 p - 1)", "line 2: unexpected 'the end'"),
]
CONSTRAINTS = [
    ("p", "line 4: this must be a comparison"),
    ("p > 0\n\np > q > 0", "line 6: unexpected '>'"),
    ("!p", "line 4: unexpected '!'"),
    ("(not (and (= p 0) (= q 0)))", "line 4: not needs one comparison"),
    ("!((p = 0) & (q = 0))", "line 4: ! needs one comparison"),
    ("(or (= p 0) (= q 0))", "line 4: 'or' is not one of the parameters"),
    ("(> (/ 1 (- p q)) 0)", "line 4: a denominator of this constraint may be zero in the domain"),
    ("(> p 0 q)", "line 4: > has the wrong operands"),
]


MISTAKES += [(f"{HEAD}p\n$Well-formed Constraints:\n{text}\n", reason) for text, reason in CONSTRAINTS]


def read_all(file: Callable[[str], RationalFile], text: str) -> None:
    read = file(text)
    result(read)
    constraints(read)


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistakes(text: str, message: str, file: Callable[[str], RationalFile]) -> None:
    """Every mistake names the file, the line and the reason."""
    with pytest.raises(InputError) as caught:
        read_all(file, text)
    assert message in str(caught.value)
    assert "model.rat: " in str(caught.value)


LIMITS = [
    ("9" * 2_001, "line 2: a number has more than 2,000 digits"),
    ("1e1001", "line 2: an exponent is larger than 1,000"),
    ("p**10001", "line 2: an exponent is larger than 10,000"),
    ("((p**1000)**11)", "a power is too large"),
    ("(p + q + 1)**1000 * (p + 2*q)**1000", "too large to expand"),
    ("+".join(f"1/(p + {k}*q + {k * k})" for k in range(1, 1000)), "too large to expand"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "message"), LIMITS)
def test_limits(text: str, message: str, file: Callable[[str], RationalFile]) -> None:
    """What is too large is refused by a bound, and the message names the file."""
    with pytest.raises(LimitError) as caught:
        result(file(HEAD + text))
    assert message in str(caught.value)
    assert "model.rat" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, a directory, other bytes, and ten megabytes of blanks."""
    (tmp_path / "latin.rat").write_bytes(b"$Parameters: \xfc")
    with (tmp_path / "huge.rat").open("wb") as huge:
        huge.truncate(MAX_BYTES + 1)
    for name, message in [("none.rat", "No such file"), (".", "not a regular"), ("latin.rat", "not UTF-8")]:
        with pytest.raises(InputError, match=message):
            read_rational_file(tmp_path / name)
    with pytest.raises(InputError, match="at most 10,000,000 bytes"):
        read_rational_file(tmp_path / "huge.rat")
