"""Scripts read a second time, beside Z3: what stands in them, what is asserted, and what has no value."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
import z3

from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.rereader import second_scripts
from paramverify.rereader.second_scripts import check_model, questions, trees, truths

DECLARED = "(declare-const x Real)(declare-fun y () Real)(declare-const p Bool)"
POINT: dict[str, Any] = {"x": Fraction(3, 2), "y": Fraction(-1), "p": True}
AT = [z3.Real("x") == z3.Q(3, 2), z3.Real("y") == -1, z3.Bool("p")]


def found(assertions: str, point: Any = POINT) -> list[bool]:
    """What the assertions of the last question are at the point."""
    return truths(questions(f"{DECLARED}{assertions}(check-sat)")[-1], point)


def term(r: random.Random, depth: int) -> str:
    """A random number."""
    if not depth:
        return r.choice(["x", "y", "1", "0", "2.50", "0.125", "z"])
    inner = [term(r, depth - 1) for _ in range(3)]
    return r.choice(
        [
            *(f"({op} {' '.join(inner[: r.randint(2, 3)])})" for op in "+-*"),
            *(
                f"(- {inner[0]})",
                f"(/ {inner[0]} {r.choice([2, 3])} 4.0)",
                f"(ite (< {inner[1]} 1) {inner[0]} 7)",
            ),
            *(f"(^ {inner[0]} {r.choice([1, 3])})", f"(f {inner[0]} {inner[1]})"),
            f"(let ((z {inner[0]}) (x z)) (- x {inner[1]}))",
        ]
    )


def truth(r: random.Random, depth: int) -> str:
    """A random condition."""
    if not depth:
        terms = [term(r, r.randint(0, 1)) for _ in range(r.randint(2, 3))]
        return f"({r.choice(['<', '<=', '>', '>=', '=', 'distinct'])} {' '.join(terms)})"
    inner = [truth(r, depth - 1) for _ in range(r.randint(2, 3))]
    choices = [f"({op} {' '.join(inner)})" for op in ("and", "or", "=>")]
    some = [f"(not {inner[0]})", f"(xor {inner[0]} {inner[1]})", f"(= {inner[0]} p)", "false", "(g true)"]
    return r.choice([*choices, *some, "true", "p", "|p|", f"(ite {inner[0]} {inner[1]} p)"])


def test_terms_have_the_values_that_z3_finds() -> None:
    """Numbers, truths, functions, chains and `let` mean what they mean in another reader of the language."""
    r = random.Random(1)
    defined = "(define-fun z () Real (+ x 1))(define-fun f ((x Real) (u Real)) Real (- x u y))"
    defined += "(define-const k Real 5.0)(define-fun g ((q Bool)) Bool (xor q p (< k z)))"
    seen = set()
    for _ in range(60):
        condition = truth(r, r.randint(0, 2))
        text = f"{defined}(assert {condition})"
        solver = z3.Solver()
        solver.from_string(DECLARED + text)
        (own,) = found(text)
        assert (solver.check(*AT) == z3.sat) is own, condition
        seen.add(own)
    assert seen == {True, False}


TREES: dict[str, Any] = {
    "": [],
    " ; only (a\n\t": [],
    "a": ["a"],
    "(a (b |c| ()) ; d)\n)e": [["a", ["b", "c", []]], "e"],
    '(echo "a ""b"" (;")"c"': [["echo", '"a ""b"" (;"'], '"c"'],
    "|a b| |let| |!| |x.1| |1x| || |?$-z| |_|": ["|a b|", "|let|", "|!|", "x.1", "|1x|", "||", "?$-z", "|_|"],
    ":named#b01 -1.5": [":named#b01", "-1.5"],
    **dict.fromkeys((")", "())", "(", "(a", '"a', "|a", "|a\\b|", "a (b))(")),
}


@pytest.mark.parametrize("text", TREES)
def test_words_and_brackets(text: str) -> None:
    """Comments, strings and quoted names are read as the language says; what does not match is not read."""
    if TREES[text] is None:
        with pytest.raises(UnreadCase):
            list(trees(text))
    else:
        assert list(trees(text)) == TREES[text]


def test_what_is_known_at_each_question() -> None:
    """Levels are opened and shut, and a question has what was said before it and was not taken back."""
    text = f"""(set-logic QF_NRA)(set-info :source |a b|){DECLARED}(check-sat)(assert p)
    (push)(assert (! (> x 1) :named big))(check-sat)(push 2)(declare-const w Bool)(assert (and big w))
    (check-sat)(pop 1)(assert (< x 0))(get-model)(check-sat)(pop 2)(check-sat)(push 1)(assert (< y 0))(push)
    (pop)(pop)(check-sat)(reset-assertions){DECLARED}(assert (not p))
    (check-sat)(exit)(assert false)(check-sat)"""
    levels = questions(text)
    assert [truths(level, {**POINT, "w": True}) for level in levels] == [
        *([], [True] * 2, [True] * 3, [True] * 2 + [False], [True], [True], [False])
    ]
    assert ["w" in level.constants for level in levels] == [False, False, True, *[False] * 4]


NAMED = "(assert (let ((x 7)) (! (> x 2) :named n)))"
UNREAD = [
    *("(define-sort A () Real)", "((a) b)", "(assert q)", "(assert 1)", "(assert x)"),
    *("(assert (= (/ 1 0) 1))", "(assert (= (/ 1 2 (- x x)) 1))", "(assert (forall ((u Real)) p))"),
    *("(assert (exists ((u Real)) p))", "(assert (= (^ x 0) 1))", "(assert (= (^ x (/ 3 2)) x))"),
    *("(assert (= (^ 1 1001) 1))", "(assert (= (^ x (- 1)) 1))", "(assert (sin x))", '(assert (= "a" "a"))'),
    *(
        f"{NAMED}(assert n)",
        "(assert (= 1e3 1000))",
        "(assert (= 1. 1))",
        "(declare-const w Real)(assert (= w w))",
    ),
    *("(assert p)(assert 2)", "(assert |a b|)", "(assert (|a b| x))"),
]


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_not_known(text: str) -> None:
    """A command, a name or a value that is not known here is told, and never guessed."""
    with pytest.raises(UnreadCase):
        found(text)
    assert not found("")
    for other in ("word", "()", '"text"'):
        with pytest.raises(UnreadCase, match="that is not a command"):
            questions(other)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("(assert (= (^ 1 1000) (^ 5 1 ) (- 4)))", [False]),
        ("(assert (= (^ x 2) 2.25))(assert (= (^ y 1000) 1))", [True, True]),
        ("(assert (not (! (> x 2) :foo bar :named n)))(assert (or n (! p :named m)))(assert m)", [True] * 3),
        ("(assert (! (and p (! (< x y) :named n)) :named m))(assert (= n m false))", [False, True]),
        (f"{NAMED}(assert (! p :foo ()))", [True, True]),
        ("(assert (=> p false))(assert (=> false false false))(assert (=> p p))", [False, True, True]),
        ("(assert (=> p p false))(assert (=> p false p false))", [False, True]),
        ("(assert (xor p p p))(assert (xor p p))(assert (xor p false))", [True, False, True]),
        (
            "(assert (distinct x y x))(assert (distinct x y 0))(assert (distinct p false))",
            [False, True, True],
        ),
        (
            "(assert (< y 0 x))(assert (< y x 0))(assert (>= x x y))(assert (> x x y))",
            [True, False, True, False],
        ),
        ("(assert (= (- 8 3 4) 1 (/ 6 3 2) (- (- 1))))(assert (= (+ 1 2 3) (* 1 2 3) 6.0))", [True, True]),
        ("(assert (let ((x y) (y x)) (and (= x (- 1)) (= y 1.5))))", [True]),
    ],
)
def test_values_by_hand(text: str, wanted: list[bool]) -> None:
    """Names of parts, powers and operators of many arguments, as a sheet of paper has them."""
    assert found(text) == wanted


def test_terms_that_grow_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each term counts as often as it is evaluated: as many as may be have a value, and one more has none."""
    text = "(define-fun a () Real (+ x x))(define-fun b () Real (+ a a))(assert (< b 7))"
    for most in (12, 11):
        monkeypatch.setattr(second_scripts, "MAX_STEPS", most)
        if most == 12:
            assert found(text) == [True]
        else:
            with pytest.raises(UnreadCase, match="too large"):
                found(text)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ({"x": "3/2", "p": True}, None),
        ({"x": "3/2", "p": False}, "false at the model"),
        ({"x": "1/2", "p": True}, "false at the model"),
        ({"x": True, "p": True}, "no such constant"),
        ({"x": "3/2", "p": "1"}, "no such constant"),
        ({"x": "3/2", "p": True, "w": "1"}, "no such constant"),
        ({"x": "1.5", "p": True}, "number"),
    ],
)
def test_models(model: dict[str, Any], reason: str | None) -> None:
    """All assertions are true at a model, whose constants have values of their sorts."""
    (level,) = questions(f"{DECLARED}(assert (> x 1))(assert p)(check-sat)")
    if reason is None:
        check_model({"model": model}, level)
    else:
        with pytest.raises((Rejected, UnreadCase), match=reason):
            check_model({"model": model}, level)
