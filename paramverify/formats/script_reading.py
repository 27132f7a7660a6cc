"""SMT-LIB 2 scripts about reals: the questions that they ask, each as terms and as a script of its own.

Every `(check-sat)` asks whether the assertions of that moment have a solution; `push` and `pop` say which
those are. What only prints, or sets how a solver prints, asks nothing. So a question is written as a script
again that says the same and has nothing that could confuse a solver: no option, no `push`, one `(check-sat)`.
The commands are those of the standard ([Barrett17]).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from paramverify.errors import InputError, LimitError, UnsupportedError, located
from paramverify.files import read_file
from paramverify.formats import sexpressions
from paramverify.formats.script_terms import Definition, Reader, Term, is_real_sort
from paramverify.formats.sexpressions import Command, commands

MAX_BYTES = 100_000_000
LOGICS = ("QF_NRA", "NRA", "QF_LRA", "LRA", "QF_RDL", "ALL", "")
THEORIES = {
    "I": "whole numbers",
    "UF": "functions",
    "BV": "bit vectors",
    "FP": "floats",
    "A": "arrays",
}
# The functions of the theories Core and Reals, which no script may declare again.
THEORY = ("true", "false", "not", "=>", "and", "or", "xor", "=", "distinct", "ite", *"+-*/<>", "<=", ">=")
DECIDED = ("sat", "unsat")
STATUS = (*DECIDED, "unknown")
IGNORED = (
    *("set-option", "get-model", "get-value", "get-assignment", "get-assertions", "get-info", "get-option"),
    *("get-proof", "get-unsat-core", "get-unsat-assumptions", "echo"),
)


@dataclass(frozen=True, eq=False)
class Check:
    """One question of a script: whether these assertions have a solution.

    `number` counts from 1, `line` is where it is asked. `reals` and `booleans` are the constants declared,
    by their symbols. `script` is the question as a script of its own. `expected` is sat or unsat where the
    script says so.
    """

    number: int
    line: int
    assertions: tuple[Term, ...]
    reals: tuple[str, ...]
    booleans: tuple[str, ...]
    script: str
    expected: str | None = None

    @property
    def digest(self) -> str:
        """The SHA-256 digest of the question as a script."""
        return hashlib.sha256(self.script.encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Script:
    """A script: its name, its digest, its logic ("" for none), and its questions, at least one."""

    name: str
    digest: str
    logic: str
    checks: tuple[Check, ...]


@dataclass
class _PushLevel:
    """What is known at a level of `push`: symbols, definitions, assertions, and the text that says them."""

    symbols: dict[str, Term] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    assertions: list[Term] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def copy(self) -> _PushLevel:
        """Returns a level above this one, which knows the same."""
        return _PushLevel({**self.symbols}, {**self.definitions}, [*self.assertions], [*self.text])


def read_script(path: Path) -> Script:
    """Reads a script.

    Raises:
        InputError: not a readable script about reals; the message says what is not taken, and the line.
        LimitError: a term that is too large.
    """
    with located(file=str(path)):
        try:
            content = read_file(path, MAX_BYTES, "a script")
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("not UTF-8 text") from None
        return script_of(text, path.name, hashlib.sha256(content).hexdigest())


def script_of(text: str, name: str = "", digest: str = "") -> Script:
    """Returns the script that a text is.

    Raises:
        InputError, LimitError: see `read_script`.
    """
    reading = _Reading()
    for command in commands(text):
        try:
            if not reading.take(command):
                break
        except (InputError, LimitError) as error:
            if isinstance(error, InputError):
                error.file_line = error.file_line or command.line
                raise
            raise LimitError(f"line {command.line}: {error}") from None
        except RecursionError:
            raise LimitError(f"line {command.line}: a term is nested too deeply") from None
    if not reading.checks:
        raise InputError("no (check-sat): the script asks nothing")
    return Script(name, digest, reading.logic, tuple(reading.checks))


class _Reading:
    """Goes through the commands of a script."""

    def __init__(self) -> None:
        self.logic = ""
        self.expected: str | None = None
        self.checks: list[Check] = []
        self.reader = Reader()
        self.levels = [_PushLevel()]
        self._use()
        self.commands: dict[str, Callable[[Command], None]] = {
            "set-logic": self._logic,
            "set-info": self._info,
            "declare-fun": self._declare,
            "declare-const": self._declare,
            "define-fun": self._define,
            "define-const": self._define,
            "assert": self._assert,
            "push": self._push,
            "pop": self._pop,
            "reset-assertions": self._reset,
            "check-sat": self._check,
        }

    def take(self, command: Command) -> bool:
        """Takes the next command; false where the script ends.

        Raises:
            InputError: it is not taken here.
        """
        if command.name == "exit":
            return False
        if command.words[:2] == ["set-option", ":global-declarations"] and command.words[2:] != ["false"]:
            raise UnsupportedError("declarations that outlive a (pop) are not taken")
        if command.name in IGNORED:
            return True
        if command.name not in self.commands:
            raise UnsupportedError(f"the command {command.name[:40] or '()'} is not taken")
        self.commands[command.name](command)
        return True

    @property
    def _now(self) -> _PushLevel:
        return self.levels[-1]

    def _use(self) -> None:
        self.reader.symbols, self.reader.definitions = self._now.symbols, self._now.definitions

    def _logic(self, command: Command) -> None:
        self.logic = _one(command)
        if self.logic not in LOGICS:
            known = ", ".join(filter(None, LOGICS))
            rest = self.logic.removeprefix("QF_").replace("LRA", "").replace("NRA", "")
            why = next((f": {told} are not taken" for word, told in THEORIES.items() if word in rest), "")
            raise UnsupportedError(f"the logic {self.logic[:40]}{why}; the logics taken are {known}")

    def _info(self, command: Command) -> None:
        if command.words[1:2] == [":status"]:
            status = command.words[2] if len(command.words) == 3 else ""
            if status not in STATUS:
                raise InputError("the :status is none of sat, unsat and unknown")
            self.expected = str(status) if status in DECIDED else None

    def _declare(self, command: Command) -> None:
        words = command.words[1:]
        if command.name == "declare-fun":
            if len(words) == 3 and words[1] != []:
                raise UnsupportedError(f"the function {words[0]!s:.40} is declared without a definition")
            words = words[:1] + words[2:] if len(words) == 3 else []
        if len(words) != 2 or not isinstance(words[0], str):
            raise InputError(f"({command.name} NAME ... Real) is meant here")
        name = self._new(words[0])
        self._now.symbols[name] = Term("real" if is_real_sort(words[1]) else "bool", (), name)
        self._now.text.append(command.text)

    def _new(self, name: str) -> str:
        if name in self._now.symbols or name in self._now.definitions or name in THEORY:
            raise InputError(f"{name[:60]} is there already")
        if not (sexpressions.SIMPLE.match(name) or name[0] == "|") or name in sexpressions.RESERVED:
            raise InputError(f"{name[:60]} is no symbol")
        return name

    def _define(self, command: Command) -> None:
        words = command.words[1:]
        if command.name == "define-const":
            words = [*words[:1], [], *words[1:]]
        if len(words) != 4 or not isinstance(words[0], str) or not isinstance(words[1], list):
            raise InputError(f"({command.name} NAME ((argument sort) ...) sort term) is meant here")
        name, entries = self._new(words[0]), []
        for entry in words[1]:
            if isinstance(entry, str) or len(entry) != 2 or not isinstance(entry[0], str):
                raise InputError(f"the arguments of {name[:60]} are no names with sorts")
            entries.append((entry[0], is_real_sort(entry[1])))
        names, sorts = tuple(n for n, _ in entries), tuple(s for _, s in entries)
        if len(set(names)) < len(names):
            raise InputError(f"two arguments of {name[:60]} have one name")
        stand_in = {n: Term("real" if s else "bool", (), n) for n, s in entries}
        body, is_real = self.reader.term(words[3], stand_in), is_real_sort(words[2])
        if body.is_real != is_real:
            raise InputError(f"{name[:60]} has another sort than it says")
        known = None if names else body
        self._now.definitions[name] = Definition(names, sorts, is_real, words[3], known)
        self._now.text.append(command.text)

    def _assert(self, command: Command) -> None:
        if len(command.words) != 2:
            raise InputError("(assert term) is meant here")
        term = self.reader.term(command.words[1], {})
        if term.is_real:
            raise InputError("a real number is asserted, and no truth value")
        for words, name in _names(command.words[1]):  # `(! term :named NAME)`, known from here on
            body = self.reader.term(words, {})
            self._now.definitions[self._new(name)] = Definition((), (), body.is_real, words, body)
        self._now.assertions.append(term)
        self._now.text.append(command.text)

    def _push(self, command: Command) -> None:
        for _ in range(_count(command)):
            self.levels.append(self._now.copy())
        self._use()

    def _pop(self, command: Command) -> None:
        levels = _count(command)
        if levels >= len(self.levels):
            raise InputError("there are fewer levels to pop")
        del self.levels[len(self.levels) - levels :]
        self._use()

    def _reset(self, command: Command) -> None:
        del command
        self.levels = [_PushLevel()]
        self._use()

    def _check(self, command: Command) -> None:
        kinds: dict[str, list[str]] = {"real": [], "bool": []}
        for name, term in self._now.symbols.items():
            kinds[term.operator].append(name)
        lines = [f"(set-logic {self.logic or 'ALL'})", *self._now.text, "(check-sat)", ""]
        self.checks.append(
            Check(
                len(self.checks) + 1,
                command.line,
                tuple(self._now.assertions),
                reals=tuple(kinds["real"]),
                booleans=tuple(kinds["bool"]),
                script="\n".join(lines),
                expected=self.expected,
            )
        )
        self.expected = None  # it is about the next question only


def _names(words: sexpressions.Term) -> Iterator[tuple[sexpressions.Term, str]]:
    """Yields the named terms inside of a term; a name inside of binders is none of the script."""
    if isinstance(words, str) or not words or words[0] in ("let", "forall", "exists"):
        return
    if words[0] == "!" and len(words) > 1:
        for key, name in pairwise(words[2:]):
            if key == ":named" and isinstance(name, str):
                yield words[1], name
    for part in words:
        yield from _names(part)


def _one(command: Command) -> str:
    words = command.words
    if len(words) != 2 or not isinstance(words[1], str):
        raise InputError(f"({command.name} ...) needs one word")
    return words[1]


def _count(command: Command) -> int:
    words: Sequence[sexpressions.Term] = command.words[1:] or ["1"]
    if len(words) != 1 or not isinstance(words[0], str) or not words[0].isascii() or not words[0].isdigit():
        raise InputError(f"({command.name} N) is meant here")
    if len(words[0]) > 4:
        raise LimitError("so many levels")
    return int(words[0])
