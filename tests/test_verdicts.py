"""Verdicts are closed: three types and their words, and no module compares with the words themselves."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paramverify
from paramverify.answers import End, Open, Proved, Refuted, Standing
from paramverify.errors import CaseError
from paramverify.verdicts import Holds, Unknown, Violated, status_of, with_status

PACKAGE = Path(paramverify.__file__).parent
WORDS = {"holds", "violated", "unknown"}

# The kernel checks evidence without the package, so it has the words of the documents itself; `unknown` is
# also what SMT-LIB calls it when a solver gives up.
OWN_WORDS = (
    "kernel/",
    "rereader/",
    "formats/smtlib.py",
    "backends/smtlib_process.py",
    "scripts/script_solutions.py",
)


def compared(tree: ast.AST) -> Iterator[str]:
    """Yields the strings that a module compares with, matches, or looks for in a collection."""
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        for part in parts:
            items = part.elts if isinstance(part, (ast.Tuple, ast.List, ast.Set)) else [part]
            yield from (i.value for i in items if isinstance(i, ast.Constant) and isinstance(i.value, str))


@pytest.mark.parametrize(
    ("code", "strings"),
    [
        ("x.status == 'holds'", {"holds"}),
        ("if 'violated' != x: pass", {"violated"}),
        ("y = x in ('holds', 'unknown')", {"holds", "unknown"}),
        ("match x:\n  case 'unknown': pass", {"unknown"}),
        ("x = {'status': 'holds'}", set()),
        ("x.status is Standing.HOLDS", set()),
    ],
)
def test_what_counts_as_a_comparison(code: str, strings: set[str]) -> None:
    """Comparisons, memberships and matches are seen, other uses of a word are not."""
    assert set(compared(ast.parse(code))) == strings


@pytest.mark.slow
def test_no_module_compares_with_the_words_of_verdicts() -> None:
    """What depends on a verdict asks for its type or its `Standing`; each exception is one."""
    written = re.compile(rf"""["']({"|".join(WORDS)})["']""")  # most modules have none, and are not parsed
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if written.search(text := path.read_text()) and WORDS & set(compared(ast.parse(text)))
    }
    assert [name for name in sorted(found) if not name.startswith(OWN_WORDS)] == []
    for own in OWN_WORDS:
        assert any(name.startswith(own) for name in found), own


@pytest.mark.parametrize(
    ("said", "standing"),
    [
        (Holds(()), Standing.HOLDS),
        (Violated("any witness"), Standing.VIOLATED),
        (Unknown(End.TIMEOUT, ""), Standing.UNKNOWN),
        (Proved(), Standing.HOLDS),
        (Refuted({}), Standing.VIOLATED),
        (Open(End.GAVE_UP), Standing.UNKNOWN),
    ],
)
def test_the_word_of_each(
    said: Holds | Violated[object] | Unknown | Proved | Refuted | Open, standing: Standing
) -> None:
    """Each verdict and each answer has one word, which is written as it is into texts and JSON."""
    assert status_of(said) is standing
    assert json.loads(json.dumps({standing: standing})) == {standing.value: standing.value}
    assert f"{standing}" == standing.value
    assert {member.value for member in Standing} == WORDS


@pytest.mark.parametrize(
    ("standing", "case", "claim"),
    [
        (Standing.HOLDS, "private", "true"),
        (Standing.VIOLATED, "not private", "false"),
        (Standing.UNKNOWN, "undecided", "undecided"),
    ],
)
def test_the_words_for_people(standing: Standing, case: str, claim: str) -> None:
    """A case is private or not, a claim is true or false, and both may be undecided."""
    assert (standing.of_case, standing.of_claim) == (case, claim)


@pytest.mark.parametrize(
    ("expected", "claimed", "status"),
    [
        ({"verdict": "private"}, False, "holds"),
        ({"verdict": "not private", "ratio": "2"}, False, "violated"),
        ({"verdict": "undecided"}, False, "unknown"),
        ({"verdict": "true"}, True, "holds"),
        ({"verdict": "false"}, True, "violated"),
        ({"verdict": "false", "status": "violated"}, True, "violated"),
        ({"status": "unknown"}, True, "unknown"),
        ({"ratio": "2"}, False, None),
    ],
)
def test_what_a_case_may_expect(expected: dict[str, str], claimed: bool, status: str | None) -> None:
    """`[expect]` takes the new words, the old ones, or both; what reads it finds the old one."""
    found = with_status(expected, claimed)
    assert found == {**expected, **({"status": status} if status else {})}


@pytest.mark.parametrize(
    ("expected", "claimed", "told"),
    [
        ({"verdict": "true"}, False, 'verdict: \'true\' is not one of "private", "not private", "undecided"'),
        ({"verdict": "private"}, True, 'verdict: \'private\' is not one of "true", "false", "undecided"'),
        ({"status": "private"}, False, 'status: \'private\' is not one of "holds", "violated", "unknown"'),
        ({"verdict": ["private"]}, False, "verdict: ['private'] is not one of"),
        ({"verdict": "private", "status": "violated"}, False, 'verdict: it contradicts status = "violated"'),
        ({"verdict": "undecided", "status": "holds"}, True, 'verdict: it contradicts status = "holds"'),
    ],
)
def test_expectations_that_say_nothing(expected: dict[str, Any], claimed: bool, told: str) -> None:
    """Words of another kind, and words that contradict each other, are errors at their key."""
    with pytest.raises(CaseError) as error:
        with_status(expected, claimed)
    assert str(error.value).startswith(told)
