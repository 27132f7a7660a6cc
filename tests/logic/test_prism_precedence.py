"""Formulas against PRISM's grammar as its manual gives it: read alike, or refused with both readings."""

from __future__ import annotations

from random import Random
from typing import TypeAlias

import pytest

from paramverify.errors import ExpressionError
from paramverify.logic.formula_grammar import read_property, read_stated
from paramverify.logic.formula_syntax import (
    Extreme,
    Formula,
    Junction,
    Label,
    Next,
    Not,
    Probability,
    ProbabilityQuestion,
    Until,
)

Tree: TypeAlias = "str | tuple[Tree, ...]"


class Unread(Exception):
    """PRISM does not read it."""


class Prism:
    """PRISM's grammar of path formulas, level by level, as trees of tuples."""

    def __init__(self, text: str) -> None:
        self.words = text.split()

    def take(self, *words: str) -> str:
        return self.words.pop(0) if self.words and self.words[0] in words else ""

    def path(self) -> Tree:
        left = self.unary()
        if word := self.take("U", "R"):
            return (word, left, self.unary())
        return left

    def unary(self) -> Tree:
        if word := self.take("X", "F", "G"):
            return (word, self.unary())
        return self.choice()

    def choice(self) -> Tree:
        condition = self.implies()
        if not self.take("?"):
            return condition
        first = self.implies()
        if not self.take(":"):
            raise Unread
        return joined("|", joined("&", condition, first), joined("&", ("!", condition), self.choice()))

    def implies(self) -> Tree:
        left = self.iff()
        return joined("|", ("!", left), self.implies()) if self.take("=>") else left

    def iff(self) -> Tree:
        found = self.disjunction()
        while self.take("<=>"):
            other = self.disjunction()
            neither = joined("&", ("!", found), ("!", other))
            found = joined("|", joined("&", found, other), neither)
        return found

    def disjunction(self) -> Tree:
        found = self.conjunction()
        while self.take("|"):
            found = joined("|", found, self.conjunction())
        return found

    def conjunction(self) -> Tree:
        found = self.negation()
        while self.take("&"):
            found = joined("&", found, self.negation())
        return found

    def negation(self) -> Tree:
        return ("!", self.negation()) if self.take("!") else self.atom()

    def atom(self) -> Tree:
        if self.take("("):
            inner = self.path()
            if not self.take(")"):
                raise Unread
            return inner
        word = self.take(*"abcde")
        if not word:
            raise Unread
        return word

    def read(self) -> Tree:
        found = self.path()
        if self.words:
            raise Unread
        return found


def joined(operator: str, *parts: Tree) -> Tree:
    """A conjunction or disjunction, of which inner ones of the same kind are no part of their own."""
    flat = [p[1:] if isinstance(p, tuple) and p[0] == operator else (p,) for p in parts]
    return (operator, *(inner for part in flat for inner in part))


def ours(formula: Formula) -> Tree:
    """A formula of the package as such a tree."""
    if isinstance(formula, Label):
        return formula.name
    if isinstance(formula, Not):
        return ("!", ours(formula.inner))
    if isinstance(formula, Next):
        return ("X", ours(formula.inner))
    if isinstance(formula, Junction):
        return joined(formula.operator.value, *map(ours, formula.parts))
    assert isinstance(formula, Until)
    if formula.is_unary:
        return ("G" if formula.release else "F", ours(formula.right))
    return ("R" if formula.release else "U", ours(formula.left), ours(formula.right))


def random_text(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.15:
        return random.choice("abcde")
    kind = random.choice(("unary", "unary", "binary", "binary", "binary", "choice", "group"))

    def inner() -> str:
        return random_text(random, depth - 1)

    if kind == "unary":
        return f"{random.choice(('!', 'X', 'F', 'G', 'F<=3'))} {inner()}"
    if kind == "group":
        return f"( {inner()} )"
    if kind == "choice":
        return f"{inner()} ? {inner()} : {inner()}"
    return f"{inner()} {random.choice(('&', '|', '=>', '<=>', 'U', 'W', 'R', '&', '|'))} {inner()}"


def read(text: str) -> Tree | None:
    """A path formula as the package reads it; nothing where it is refused."""
    try:
        found = read_property(f"P>=1 [ {text} ]").formula
    except ExpressionError:
        return None
    assert isinstance(found, Probability)
    return ours(found.path)


@pytest.mark.slow
def test_random_formulas_are_read_as_prism_reads_them() -> None:
    """Every text that both read has one meaning."""
    random = Random(20)
    alike = refused = 0
    while alike + refused < 60:
        text = random_text(random, 3)
        try:
            theirs = Prism(text).read()
        except Unread:
            continue
        found = read(text)
        assert found in (theirs, None), text
        alike, refused = alike + (found is not None), refused + (found is None)
    assert alike > 12
    assert refused > 12


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("F a & b", ("F (a & b)", "(F a) & b")),
        ("a & b U c", ("(a & b) U c", "a & (b U c)")),
        ("a U b | c", ("a U (b | c)", "(a U b) | c")),
        ("!X a => b", ("!X (a => b)", "!(X a) => b")),
        ("a => b <=> c", ("a => (b <=> c)", "(a => b) <=> c")),
        ("a <=> b => c", ("(a <=> b) => c", "a <=> (b => c)")),
        ("G<=3 a ? b : c", ("G<=3 (a ? b : c)", "(G<=3 a) ? b : c")),
    ],
)
def test_both_readings_are_shown(text: str, readings: tuple[str, str]) -> None:
    """Each of the two is a formula, and they are different ones."""
    with pytest.raises(ExpressionError) as error:
        read_property(f"P>=1 [ {text} ]")
    assert all(f"{reading}" in str(error.value).split("\n")[0] for reading in readings)
    first, second = map(read, readings)
    assert None not in (first, second)
    assert first != second


@pytest.mark.parametrize(
    ("text", "extreme", "path"),
    [
        ("P=? [ X a ]", Extreme.EACH, "X a"),
        ('Pmin=? [ F<5 "a" ]', Extreme.LEAST, "F<=4 a"),
        ("P max = ? [ F>=2 b=false ]", Extreme.LARGEST, "F[2,] !b"),
        ("Pmax=? [ G>2 (a ? b : c) ]", Extreme.LARGEST, "G[3,] ((a & b) | (!a & c))"),
    ],
)
def test_questions(text: str, extreme: Extreme, path: str) -> None:
    """Questions are written as in PRISM, with its bounds on steps."""
    found = read_stated(text)
    assert isinstance(found, ProbabilityQuestion)
    assert (found.extreme, str(found.path)) == (extreme, path)


def test_questions_claim_nothing() -> None:
    """A file claims its formulas, so a question does not stand there; a family has none either."""
    for read, text in ((read_property, "P=? [ X a ]"), (read_stated, "forall k: Pmax=? [ F<=k a ]")):
        with pytest.raises(ExpressionError, match=r"asks for a number|one formula"):
            read(text)


def test_bounds_on_pmin_and_pmax() -> None:
    """`Pmin>=` and `Pmax<=` are about every scheduler, the others about some scheduler."""
    for text, meaning in (
        ("Pmin>=1/2 [ X a ]", "P>=1/2 [ X a ]"),
        ("Pmax<1/2 [ X a ]", "P<1/2 [ X a ]"),
        ("Pmax>=1/2 [ X a ]", "Pmax>=1/2 [ X a ]"),
        ("Pmin<0.25 [ X a ] | a", "(Pmin<0.25 [ X a ] | a)"),
    ):
        assert str(read_property(text).formula) == meaning
        assert str(read_property(meaning).formula) == meaning
