"""The grammars of docs/grammar.md, against the readers of expressions and programs."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ROOT
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.indenter import Indenter

from paramverify.algebra.expressions import parse
from paramverify.errors import ExpressionError, ProgramError
from paramverify.models.programs.program_reading import read_program

BLOCKS = re.findall(
    r"^```lark\n(.*?)^```$", (ROOT / "docs" / "grammar.md").read_text(), re.MULTILINE | re.DOTALL
)
FUNCTION_ALONE = re.compile(r"\b(exp|ln|min|max|abs)\b(?!\s*\()")  # a reader of names refuses it later


class Lines(Indenter):
    """Indentation as Python has it."""

    NL_type = "_NEWLINE"
    OPEN_PAREN_types = ("LPAR", "LSQB", "LBRACE")
    CLOSE_PAREN_types = ("RPAR", "RSQB", "RBRACE")
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


EXPRESSIONS = Lark(BLOCKS[0], parser="earley")
INTERVALS = Lark(BLOCKS[1], parser="earley")
PROGRAMS = Lark(BLOCKS[2], parser="earley", lexer="basic", postlex=Lines())


def in_grammar(grammar: Lark, text: str) -> bool:
    """Whether a text is in the language of a grammar."""
    try:
        grammar.parse(text)
    except (UnexpectedInput, AssertionError):
        return False
    return True


def is_read(text: str) -> bool:
    """Whether the reader takes an expression; limits on exponents and arguments are beyond the grammar."""
    try:
        parse(text)
    except ExpressionError as error:
        return "an exponent must be" in str(error) or "wrong arguments" in str(error)
    return True


def texts(data: Any) -> Iterator[str]:
    """All texts in TOML data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, (dict, list)):
        for value in data.values() if isinstance(data, dict) else data:
            yield from texts(value)


def shipped(pattern: str) -> Iterator[dict[str, Any]]:
    """The data of shipped cases."""
    for path in sorted(ROOT.glob(pattern)):
        yield tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_expressions_of_shipped_cases_are_in_the_grammar() -> None:
    """A short text in a shipped case is in the grammar exactly where the reader takes it."""
    found = {t for data in shipped("cases/*.toml") for t in texts(data) if len(t) < 100 and "\n" not in t}
    kept = [t for t in sorted(found) if not FUNCTION_ALONE.search(t) and t.isascii()]
    assert len(kept) > 200
    taken = {t: is_read(t) for t in kept}
    assert sum(taken.values()) > 100
    assert {t: in_grammar(EXPRESSIONS, t) for t in kept} == taken


@pytest.mark.slow
def test_random_words_are_in_the_grammar_where_the_reader_takes_them() -> None:
    """Random words, mostly in a wrong order, are in the grammar exactly where the reader takes them."""
    draw = random.Random(7)
    words = ("p", "1", "0.5", "'a'", "true", "2e3", "x_1", "min(", "exp(", "(", ")", ",", "[", "=")
    words = (*words, "+", "-", "*", "/", "**", "%", "^", "<", "==", ">=", "and", "or", "not")
    kinds = set()
    for _ in range(600):
        text = " ".join(draw.choices(words, k=draw.randint(1, 6)))
        kinds.add(is_read(text))
        assert in_grammar(EXPRESSIONS, text) is is_read(text), text
    assert kinds == {True, False}


@pytest.mark.parametrize("text", ["(0, 1)", "[1/10, 0.4]", "(0, 1]", "[0, oo)"])
def test_intervals(text: str) -> None:
    """An interval has two ends and two brackets."""
    assert in_grammar(INTERVALS, text)
    assert not in_grammar(INTERVALS, text[1:])
    assert not in_grammar(INTERVALS, text.replace(",", ""))


@pytest.mark.slow
def test_shipped_programs_are_in_the_grammar() -> None:
    """The programs of shipped cases are in the grammar of programs."""
    sources = [data["mechanism"].get("source") for data in shipped("cases/programs/*.toml")]
    found = sorted({source for source in sources if source}, key=len)[:20]
    assert len(found) == 20
    for source in found:
        assert in_grammar(PROGRAMS, source.strip() + "\n"), source


READ = (
    "def f(x, y):\n    return x + y\noutput(f(1, 2))",
    "def two():\n    return 1, 2\na, b = two()\noutput([a, b])",
    "x = [1, 2]\nx[0], x[1] = x[1], x[0]\noutput(x[1:])",
    "for a in range(3):\n    if a in [1, 2]:\n        continue\n    elif not a == 0: break\noutput(1)",
    "for a in 1, 2:\n    pass\nstop()\nreturn 1",
    'output(choice({"a": 1/2, "b": 1 - 1/2}))',
    "output(choice({1/2: 1/2, -1/2: 1/2}))",
    "x = 1 if 2 not in [3] else -4 // 5 % 6\noutput(x)",
    "k = 0\nwhile k < 3: k += 1\noutput(k); stop",
)
REFUSED = (
    "a = b = 1\noutput(a)",
    "a, (b, c) = [1, [2, 3]]\noutput(a)",
    "import os\noutput(1)",
    "output([x for x in [1]])",
    "output((1, 2))",
    "b = [1]\nb.append(2)\noutput(b)",
    "output(x=1)",
    "output(lambda: 1)",
    "output(1, 2)",
    "x: int = 1\noutput(x)",
    "for a in [1]:\n    pass\nelse:\n    pass\noutput(1)",
    "def f(x=1):\n    return x\noutput(f(1))",
    "assert 1\noutput(1)",
    "output(choice([1, 2]))",
    "output([1][0:1:2])",
)


@pytest.mark.parametrize(("text", "read"), [(t, True) for t in READ] + [(t, False) for t in REFUSED])
def test_programs_and_what_is_none(text: str, read: bool) -> None:
    """The grammar takes what the reader takes, and refuses what it refuses."""
    try:
        read_program(text)
        taken = True
    except ProgramError:
        taken = False
    assert taken is read
    assert in_grammar(PROGRAMS, text + "\n") is read
