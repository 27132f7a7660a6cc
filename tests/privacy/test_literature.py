"""The inequalities from the literature: their points, with fractions only, and what the built-ins say."""

from __future__ import annotations

import ast
import operator
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paramverify.answers import Open, Proved, Refuted
from paramverify.encodings.choice import claims_of
from paramverify.evidence.certificates import replayed
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.privacy.cases import load

CASES = sorted((Path(__file__).parents[2] / "cases" / "inequalities").glob("*.toml"))
LITTLE = RemainingWork(boxes=40, coefficients=60_000)
NOWHERE_ELSE = "and nowhere else"  # a claim that fails at irrational points only

OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def value(text: str, node: ast.expr, at: Mapping[str, Fraction]) -> Fraction:
    """The value of a term at a point; decimals are read from their text."""
    match node:
        case ast.Constant():
            return Fraction(ast.get_source_segment(text, node) or "")
        case ast.Name():
            return at[node.id]
        case ast.UnaryOp():
            return -value(text, node.operand, at)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(exponent))):
            return value(text, left, at) ** exponent
        case ast.BinOp():
            found = OPERATORS[type(node.op)](value(text, node.left, at), value(text, node.right, at))
            assert isinstance(found, Fraction)
            return found
    raise AssertionError(ast.dump(node))


def links(text: str, at: Mapping[str, Fraction]) -> list[tuple[bool, bool]]:
    """Whether each comparison of a chain is true at a point, and whether both sides are equal there."""
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Compare)
    values = [value(text, term, at) for term in (node.left, *node.comparators)]
    pairs = zip(node.ops, values, values[1:], strict=False)
    return [(OPERATORS[type(op)](left, right), left == right) for op, left, right in pairs]


class Problem:
    """A case file, read by itself."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        data = tomllib.loads(self.text)
        self.constraints = data["parameters"].pop("constraints", [])
        self.intervals = data["parameters"]
        self.define = data.get("define", {})
        self.claim = data["claim"]["holds"]
        self.verdict = data["expect"]["verdict"]

    def point(self, words: str) -> dict[str, Fraction] | None:
        """The point that a comment tells behind some words, with the definitions there."""
        found = re.search(rf"^# {words} (.*)\.$", self.text, re.MULTILINE)
        if not found:
            return None
        parts = (part.split(" = ") for part in found[1].split(", "))
        at = {name: Fraction(number) for name, number in parts}
        assert at.keys() == self.intervals.keys()
        for name, text in self.define.items():
            at[name] = value(text, ast.parse(text, mode="eval").body, at)
        return at

    def place(self, at: Mapping[str, Fraction]) -> str:
        """Where a point is: inside, at the border, or outside."""
        inside = True
        for name, text in self.intervals.items():
            lower, upper = (Fraction(number) for number in text[1:-1].split(","))
            if not lower <= at[name] <= upper:
                return "outside"
            on_lower, on_upper = at[name] == lower, at[name] == upper
            if (on_lower and text[0] == "(") or (on_upper and text[-1] == ")"):
                return "outside"
            inside = inside and not on_lower and not on_upper
        met = [link for text in self.constraints for link in links(text, at)]
        if not all(true for true, _ in met):
            return "outside"
        return "inside" if inside and not any(equal for _, equal in met) else "border"


@pytest.fixture(scope="module")
def problems() -> dict[str, Problem]:
    """All problems by their names."""
    return {path.stem: Problem(path) for path in CASES}


def test_what_the_collection_has(problems: dict[str, Problem]) -> None:
    """There are many problems, true and false, with zeros inside, and each has a source with a key."""
    zeros = [at for p in problems.values() if (at := p.point("Equality at")) and p.place(at) == "inside"]
    verdicts = [problem.verdict for problem in problems.values()]
    assert len(problems) >= 100
    assert len(zeros) >= 40
    assert verdicts.count("false") >= 20
    for name, problem in problems.items():
        assert re.search(r"^# \[[A-Z]\w+\d\d\]", problem.text, re.MULTILINE), name


def test_points_of_the_files(problems: dict[str, Problem]) -> None:
    """At the points that files tell, both sides are equal, or the claim fails; fractions alone say so."""
    for name, problem in problems.items():
        equal, fails = problem.point("Equality at"), problem.point("It fails at")
        if problem.verdict == "false":
            assert fails or NOWHERE_ELSE in problem.text, name
        for at in filter(None, (equal, fails)):
            assert problem.place(at) != "outside", name
        if equal:
            told = links(problem.claim, equal)
            assert any(same for _, same in told), name
            assert all(true for true, _ in told), name
        if fails:
            assert problem.verdict == "false", name
            assert not all(true for true, _ in links(problem.claim, fails)), name


@pytest.mark.slow
def test_nothing_is_contradicted() -> None:
    """Of every second problem many are decided with little work, as expected; the kernel replays proofs."""
    decided = 0
    for path in CASES[::2]:
        case = load(path)
        claims = claims_of(case.model)
        answers = [decide_exactly(claim, replace(LITTLE)) for claim in claims]
        if any(isinstance(answer, Refuted) for answer in answers):
            assert case.expect["verdict"] == "false", path.stem
        elif any(isinstance(answer, Open) for answer in answers):
            continue
        else:
            assert case.expect["verdict"] == "true", path.stem
            for claim, answer in zip(claims, answers, strict=True):
                assert isinstance(answer, Proved)
                assert answer.certificate
                assert replayed(claim, answer.certificate) == ()
        decided += 1
    assert decided >= 14
