"""S-expressions of SMT-LIB 2: a text becomes words and lists of them, each command with its line.

The grammar is that of the standard, section 3.1 ([Barrett17]). A quoted symbol that could be written without
bars is the same symbol, so it is read without them; reserved words in bars are symbols, and keep them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from paramverify.errors import InputError

TOKEN = re.compile(r'\s+|;[^\n]*|\(|\)|\|[^|\\]*\||"(?:[^"]|"")*"|[^\s()|";]+')
SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*\Z")
RESERVED = frozenset(
    [
        *("!", "_", "as", "let", "exists", "forall", "match", "par"),
        *("BINARY", "DECIMAL", "HEXADECIMAL", "NUMERAL", "STRING"),
    ]
)
MAX_DEPTH = 400  # brackets inside each other

Term = str | list["Term"]


@dataclass(frozen=True)
class Command:
    """One command of a script: its words, its text, and the line of its first bracket, counted from 1."""

    words: list[Term]
    text: str
    line: int

    @property
    def name(self) -> str:
        """Its first word, or "" where that is none."""
        return self.words[0] if self.words and isinstance(self.words[0], str) else ""


def plain(token: str) -> str:
    """Returns a word in its one way of being written."""
    if token[0] == "|" and SIMPLE.match(token[1:-1]) and token[1:-1] not in RESERVED:
        return token[1:-1]
    return token


def commands(text: str) -> Iterator[Command]:
    """Yields the commands of a script.

    Raises:
        InputError: brackets that do not match, or something outside of them; with the line.
    """
    line, counted = 1, 0
    for begin, end, term in _terms(text):
        line, counted = line + text.count("\n", counted, begin), begin
        if isinstance(term, str):
            raise _mistake(f"{term[:40]!r} stands outside of all brackets", line)
        yield Command(term, text[begin:end], line)


def read(text: str) -> list[Term]:
    """Returns the S-expressions of a text, at least one.

    Raises:
        ValueError: it is something else.
    """
    found = [term for _, _, term in _terms(text)]
    if not found:
        raise ValueError("there is nothing")
    return found


def _terms(text: str) -> Iterator[tuple[int, int, Term]]:
    """Yields the terms that stand in no brackets, each with its first place and the one after its last."""
    stack: list[list[Term]] = []
    begin = position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            what = {"|": "a symbol in bars", '"': "a string"}.get(text[position], "something")
            raise _mistake(f"{what} has no end", text.count("\n", 0, position) + 1)
        token, here, position = match[0], position, match.end()
        if token[0] == ";" or token.isspace():
            continue
        if token == "(":
            begin = begin if stack else here
            stack.append([])
            if len(stack) > MAX_DEPTH:
                reason = f"more than {MAX_DEPTH} brackets inside each other"
                raise _mistake(reason, text.count("\n", 0, here) + 1)
        elif token == ")":
            if not stack:
                reason = "the brackets do not match: one is closed too many"
                raise _mistake(reason, text.count("\n", 0, here) + 1)
            done = stack.pop()
            if stack:
                stack[-1].append(done)
            else:
                yield begin, position, done
        elif stack:
            stack[-1].append(plain(token))
        else:
            yield here, position, plain(token)
    if stack:
        raise _mistake("the brackets do not match: one is not closed", text.count("\n", 0, begin) + 1)


def _mistake(reason: str, line: int) -> InputError:
    error = InputError(reason)
    error.file_line = line
    return error
