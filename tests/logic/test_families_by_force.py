"""Families of formulas for every k against their members, by an oracle of fractions that shares no code."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import pytest

from paramverify.logic.formula_families import check_property
from paramverify.logic.logic_cases import load
from paramverify.logic.property_checking import FormulaResult, LogicSession
from paramverify.portfolio.session import Session

MEMBERS = 16
HALF = Fraction(1, 2)
Rows = tuple[tuple[Fraction, ...], ...]


class Walk:
    """A Markov chain of fractions; the labels are a and b."""

    def __init__(self, rows: Rows, a: set[int], b: set[int]) -> None:
        self.rows, self.a, self.b = rows, a, b
        self.all = set(range(len(rows)))

    def until(self, state: int, left: set[int], right: set[int], low: int, high: int) -> Fraction:
        """The probability that some step low..high is in `right`, and all before it in `left`."""

        @cache
        def chance(state: int, step: int) -> Fraction:
            if step > high:
                return Fraction(0)
            if step >= low and state in right:
                return Fraction(1)
            if state not in left:
                return Fraction(0)
            return sum((p * chance(t, step + 1) for t, p in enumerate(self.rows[state]) if p), Fraction(0))

        return chance(state, 0)

    def release(self, state: int, left: set[int], right: set[int], low: int, high: int) -> Fraction:
        """The probability that each step low..high is in `right`, unless an earlier one was in `left`."""

        @cache
        def chance(state: int, step: int) -> Fraction:
            if step > high:
                return Fraction(1)
            if step >= low and state not in right:
                return Fraction(0)
            if state in left:
                return Fraction(1)
            return sum((p * chance(t, step + 1) for t, p in enumerate(self.rows[state]) if p), Fraction(0))

        return chance(state, 0)

    def after(self, state: int, value: list[Fraction]) -> Fraction:
        """The mean of a value one step later."""
        return sum((p * v for p, v in zip(self.rows[state], value, strict=True)), Fraction(0))

    def text(self, pair: tuple[int, int]) -> str:
        """A case file of the chain."""
        lines = ['[model]\nkind = "chain"', f'initial = ["s{pair[0]}"]', "[neighbours]"]
        lines += [f'pairs = [["s{pair[0]}", "s{pair[1]}"]]', "[states]"]
        for state, row in enumerate(self.rows):
            labels = [name for name, where in (("a", self.a), ("b", self.b)) if state in where]
            to = ", ".join(f's{t} = "{p}"' for t, p in enumerate(row) if p)
            lines.append(f"s{state} = {{ labels = {labels}, to = {{ {to} }} }}")
        return "\n".join((*lines, 'never = { labels = ["a", "b"] }\n'))


# Each kind of operator with k in its bounds, and its probability by the oracle.
PATHS = {
    "F<=k b": lambda w, s, k: w.until(s, w.all, w.b, 0, k),
    "F<k+1 b": lambda w, s, k: w.until(s, w.all, w.b, 0, k),
    "F[2,k] b": lambda w, s, k: w.until(s, w.all, w.b, 2, k),
    "F=k b": lambda w, s, k: w.until(s, w.all, w.b, k, k),
    "a U<=k b": lambda w, s, k: w.until(s, w.a, w.b, 0, k),
    "a U[1,k+2] b": lambda w, s, k: w.until(s, w.a, w.b, 1, k + 2),
    "a U=k b": lambda w, s, k: w.until(s, w.a, w.b, k, k),
    "X (a U<=k b)": lambda w, s, k: w.after(s, [w.until(t, w.a, w.b, 0, k) for t in sorted(w.all)]),
    "!(a U<=k b)": lambda w, s, k: 1 - w.until(s, w.a, w.b, 0, k),
    "!X (F<=k b)": lambda w, s, k: 1 - w.after(s, [w.until(t, w.all, w.b, 0, k) for t in sorted(w.all)]),
    "G<=k a": lambda w, s, k: w.release(s, set(), w.a, 0, k),
    "G[1,k] a": lambda w, s, k: w.release(s, set(), w.a, 1, k),
    "G=k a": lambda w, s, k: w.release(s, set(), w.a, k, k),
    "G[k,k+2] a": lambda w, s, k: w.release(s, set(), w.a, k, k + 2),
    "a W<=k b": lambda w, s, k: w.release(s, w.b, w.a | w.b, 0, k),
    "b R<=k a": lambda w, s, k: w.release(s, w.b, w.a, 0, k),
    "b R=k a": lambda w, s, k: w.release(s, w.b, w.a, k, k),
    "b R[1,k+1] a": lambda w, s, k: w.release(s, w.b, w.a, 1, k + 1),
}
BOUNDS = {  # as they are written, with the ratio and delta
    "D{0, 0}": (Fraction(1), Fraction(0)),
    "D{ln(2), 0}": (Fraction(2), Fraction(0)),
    "D{ln(3/2), 1/4}": (Fraction(3, 2), Fraction(1, 4)),
    "D{0, 1/3}": (Fraction(1), Fraction(1, 3)),
}


def walk(random: Random, size: int) -> Walk:
    """A small chain."""
    rows = []
    for _ in range(size):
        targets = [random.randrange(size) for _ in range(random.choice((1, 2, 2, 3)))]
        rows.append(tuple(Fraction(targets.count(t), len(targets)) for t in range(size)))
    a, b = ({s for s in range(size) if random.random() < share} for share in (0.7, 0.35))
    return Walk(tuple(rows), a, b)


def twin(found: Walk, random: Random) -> Walk:
    """The chain twice: an entry of a row is split between both copies of its target."""
    size, rows = len(found.rows), []
    for row in (*found.rows, *found.rows):
        shares = [Fraction(random.randint(0, 2), 2) for _ in row]
        parts = [p * x for p, x in zip(row, shares, strict=True)]
        rows.append((*parts, *(p - x for p, x in zip(row, parts, strict=True))))
    a, b = ({*where, *(s + size for s in where)} for where in (found.a, found.b))
    return Walk(tuple(rows), a, b)


def answer(session: Session, found: Walk, pair: tuple[int, int], formula: str, folder: Path) -> FormulaResult:
    """What the logic says about every k."""
    path, text = folder / "case.toml", f"forall k: {formula}"
    path.write_text(f"{found.text(pair)}[formulas]\nfamily = '{text}'\n")
    case = load(path)
    return check_property(LogicSession(case, session), case.properties["family"])


def broken(values: tuple[Fraction, Fraction], bound: str) -> bool:
    """Whether two probabilities break a bound."""
    ratio, delta = BOUNDS[bound]
    return any(x > ratio * y + delta for x, y in (values, values[::-1]))


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_equal_copies_satisfy_every_member(path: str, session: Session, tmp_path: Path) -> None:
    """Of two equal copies each D{0, 0} is true for every k, whichever operator has k in its bounds."""
    random = Random(f"equal {path}")
    for _ in range(2):
        found = twin(walk(random, 3), random)
        result = answer(session, found, (0, 3), f"D{{0, 0}}[ {path} ]", tmp_path)
        assert result.status == "holds"
        assert all(PATHS[path](found, 0, k) == PATHS[path](found, 3, k) for k in range(MEMBERS))


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_families_agree_with_their_members(path: str, session: Session, tmp_path: Path) -> None:
    """What is true is true for each k that is tried; what is false, false for the k that is named."""
    random = Random(f"by force {path}")
    statuses = []
    for number in range(11):
        found = walk(random, random.choice((2, 3, 4)))
        bound = list(BOUNDS)[number % len(BOUNDS)]
        result = answer(session, found, (0, 1), f"{bound}[ {path} ]", tmp_path)
        values = [(PATHS[path](found, 0, k), PATHS[path](found, 1, k)) for k in range(MEMBERS)]
        wrong = [k for k, both in enumerate(values) if broken(both, bound)]
        statuses.append(result.status)
        if result.status == "holds":
            assert wrong == []
        elif result.counterexample is not None:
            index = result.counterexample.index
            assert index == wrong[0] if wrong else index is not None and index >= MEMBERS
        elif bound == "D{0, 0}":
            pytest.fail(f"undecided: {found.text((0, 1))}")
    assert "holds" in statuses
    assert statuses.count("unknown") <= 3


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_a_slow_leak_is_found(path: str, session: Session, tmp_path: Path) -> None:
    """Two states that differ after some steps only are told apart, at the first k, if there is one."""
    size = 5
    rows = [[Fraction(0)] * (2 * size) for _ in range(2 * size)]
    for state in range(2 * size):
        end = state % size == size - 1
        rows[state][state] = Fraction(1) if end else HALF
        if not end:
            rows[state][state + 1] = HALF
    last = {size - 1}
    found = Walk(tuple(map(tuple, rows)), set(range(2 * size)) - last, last)
    values = [(PATHS[path](found, 0, k), PATHS[path](found, size, k)) for k in range(MEMBERS)]
    first = next((k for k, both in enumerate(values) if both[0] != both[1]), None)
    result = answer(session, found, (0, size), f"D{{0, 0}}[ {path} ]", tmp_path)
    assert (result.counterexample.index if result.counterexample else None) == first
    assert result.status == ("holds" if first is None else "violated")


LATE = Walk(((HALF, HALF), (Fraction(0), Fraction(1))), {0}, {1})


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ("P<=1/2 [ X X F<=k b ]", "violated"),
        ("P<=1 [ X F<=k b ]", "holds"),
        ("P>=1/2 [ X F<=k b ]", "holds"),
        ("P<=1/2 [ X G<=k a ]", "holds"),
        ("P>=1/4 [ X G<=k a ]", "violated"),
        ("P<=1/4 [ X (a U=k+1 b) ]", "holds"),
        ("P>=1/2 [ X (b R=k a) ]", "holds"),
        ("P>=1/2 [ X G=k a ]", "violated"),
    ],
)
def test_families_of_probabilities(formula: str, status: str, session: Session, tmp_path: Path) -> None:
    """P is decided for every k, too, if the probability only grows or only falls with k."""
    assert answer(session, LATE, (0, 1), formula, tmp_path).status == status
