"""SMT-LIB 2 scripts about reals.

S-expressions, terms with their sorts, the questions of a script, and writing them.

A `Term` is a tree that shares what `let` and `define-fun` name. Quotients stay quotients: in SMT-LIB `t/0` is
a number of which nothing is known, so whoever meets one has to ask what its denominator is. The theory is
that of the reals, [Barrett17]; `(^ t n)` with a whole number n is taken, too, as Z3 and cvc5 do.

S-expressions of SMT-LIB 2: a text becomes words and lists of them, each command with its line.

The grammar is that of the standard, section 3.1 ([Barrett17]). A quoted symbol that could be written without
bars is the same symbol, so it is read without them; reserved words in bars are symbols, and keep them.

Every `(check-sat)` asks whether the assertions of that moment have a solution; `push` and `pop` say which
those are. What only prints, or sets how a solver prints, asks nothing. So a question is written as a script
again that says the same and has nothing that could confuse a solver: no option, no `push`, one `(check-sat)`.
The commands are those of the standard ([Barrett17]).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from flint import fmpz

from paramverify.algebra.polynomials import fraction
from paramverify.errors import InputError, LimitError, UnsupportedError, located
from paramverify.files import read_file

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
            raise _mistake(f"{term[:40]!r} is outside all brackets", line)
        yield Command(term, text[begin:end], line)


def read(text: str) -> list[Term]:
    """Returns the S-expressions of a text, at least one.

    Raises:
        ValueError: it is something else.
    """
    found = [term for _, _, term in _terms(text)]
    if not found:
        raise ValueError("there is no text")
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
                reason = "the brackets do not match: there is a closing one too many"
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


NUMBER = re.compile(r"(0|[1-9][0-9]*|0[0-9]+)(?:\.([0-9]+))?\Z")
MAX_DIGITS = 100_000
MAX_POWER = 1_000
MAX_NESTING = 150  # terms inside each other, those of definitions included
MAX_READ = 1_000_000  # terms that are read, those of definitions as often as they are called
WHOLE = ("div", "mod", "abs", "to_int", "is_int", "to_real", "divisible")
ORDER = {"<": ("<", False), "<=": ("<=", False), ">": ("<", True), ">=": ("<=", True)}


@dataclass(frozen=True, eq=False)
class ScriptTerm:
    """A term: real operators `number real + * / ite`, and those of truth values.

    `number` and `real` have a value, the number or the name; `bool` a name; `forall` and `exists` the names
    that they bind, which no other term has. `<`, `<=` and `=` compare two reals, `iff` two truth values.
    """

    operator: str
    parts: tuple[ScriptTerm, ...] = ()
    value: Fraction | str | tuple[str, ...] | None = None

    @property
    def is_real(self) -> bool:
        """Whether it is a real number, and no truth value."""
        return self.operator in ("number", "real", "+", "*", "/", "ite")


Sorts = tuple[bool, ...]  # of arguments: True for Real, False for Bool


@dataclass(frozen=True, eq=False)
class Definition:
    """What `define-fun` says of a name: parameters with their sorts, the sort of its value, and its text.

    Without parameters it is a term already.
    """

    names: tuple[str, ...]
    sorts: Sorts
    is_real: bool
    body: Term
    known: ScriptTerm | None = None


TRUE, FALSE = ScriptTerm("true"), ScriptTerm("false")


def number(value: Fraction | int) -> ScriptTerm:
    """Returns a number as a term."""
    return ScriptTerm("number", (), Fraction(value))


def negated(term: ScriptTerm) -> ScriptTerm:
    """Returns `not term`."""
    return term.parts[0] if term.operator == "not" else ScriptTerm("not", (term,))


Node = TypeVar("Node", bound=Hashable)
Value = TypeVar("Value")


def folded(
    root: Node, below: Callable[[Node], Iterable[Node]], make: Callable[[Node, Sequence[Value]], Value]
) -> Value:
    """Returns `make(node, values of what is below it)` of the root; each node is made once, by a loop."""
    known: dict[Node, Value] = {}
    waiting: list[tuple[Node, list[Node] | None]] = [(root, None)]
    while waiting:
        node, parts = waiting.pop()
        if node in known:
            continue
        if parts is None:
            parts = list(below(node))
            waiting.append((node, parts))
            waiting += [(part, None) for part in parts]
        else:
            known[node] = make(node, [known[part] for part in parts])
    return known[root]


class Reader:
    """Reads terms over declared symbols; `symbols` has them as terms, `definitions` what is defined."""

    def __init__(self) -> None:
        self.symbols: dict[str, ScriptTerm] = {}
        self.definitions: dict[str, Definition] = {}
        self.bound = 0  # variables of quantifiers so far
        self.read = 0  # terms so far

    def term(self, words: Term, scope: Mapping[str, ScriptTerm], depth: int = 0) -> ScriptTerm:
        """Returns a term in a scope of names that `let`, quantifiers and definitions bind.

        Raises:
            InputError: it is no term, or one about something else than reals and truth values.
            LimitError: it is nested too deeply, or has too many digits.
        """
        while isinstance(words, list) and words[:1] == ["let"]:  # chains of them may be long
            if len(words) != 3 or not isinstance(words[1], list):
                raise InputError("let is malformed: write (let ((name term) ...) term)")
            new = {_name(b): self.term(_pair(b)[1], scope, depth + 1) for b in words[1]}
            if len(new) < len(words[1]):
                raise InputError("let gives one name to two terms: rename one")
            scope, words = {**scope, **new}, words[2]
        self.read += 1
        if self.read > MAX_READ:
            raise LimitError(f"more than {MAX_READ:,} terms")
        if depth > MAX_NESTING:
            raise LimitError(f"more than {MAX_NESTING} terms inside each other")
        if isinstance(words, str):
            return self._word(words, scope, depth)
        if not words:
            raise InputError("empty brackets are not a term")
        head, *rest = words
        if head == "!":
            return self.term(rest[0] if rest else [], scope, depth + 1)
        if head in ("forall", "exists"):
            return self._quantified(str(head), rest, scope, depth)
        if not isinstance(head, str):
            raise InputError(f"a function is expected here, not {_shown(head)}")
        arguments = [self.term(part, scope, depth + 1) for part in rest]
        if head in self.definitions:
            return self._called(head, arguments, depth)
        if head in OPERATORS:
            return OPERATORS[head](arguments)
        if head in WHOLE:
            raise InputError(f"{head} is a function of whole numbers, but only reals are supported")
        raise InputError(f"{head} is not a known function of reals and truth values")

    def _word(self, word: str, scope: Mapping[str, ScriptTerm], depth: int) -> ScriptTerm:
        known = scope.get(word) or self.symbols.get(word)
        if known is not None:
            return known
        if word in self.definitions:
            return self._called(word, [], depth)
        if word in ("true", "false"):
            return TRUE if word == "true" else FALSE
        match = NUMBER.match(word)
        if match:
            return number(decimal(word))
        mend = f"write (- {word[1:]})" if NUMBER.match(word[1:]) and word[0] == "-" else ""
        raise InputError(f"{_shown(word)} is not declared", mend=mend)

    def _called(self, name: str, arguments: Sequence[ScriptTerm], depth: int) -> ScriptTerm:
        known = self.definitions[name]
        if known.known is not None and not arguments:
            return known.known
        if tuple(a.is_real for a in arguments) != known.sorts:
            raise InputError(f"{name} has other arguments here than in its definition")
        found = self.term(known.body, dict(zip(known.names, arguments, strict=True)), depth + 1)
        if found.is_real != known.is_real:
            raise InputError(f"{name} has another sort than it says")
        return found

    def _quantified(
        self, kind: str, rest: Sequence[Term], scope: Mapping[str, ScriptTerm], depth: int
    ) -> ScriptTerm:
        if len(rest) != 2 or not isinstance(rest[0], list) or not rest[0]:
            raise InputError(f"({kind} ((name Real) ...) term) is expected here")
        new: dict[str, ScriptTerm] = {}
        for entry in rest[0]:
            name, sort = _name(entry), _pair(entry)[1]
            if not is_real_sort(sort):
                raise InputError(f"quantifiers over {_shown(sort)} are not supported: only over reals")
            self.bound += 1
            new[name] = ScriptTerm("real", (), f"{name} ({self.bound})")  # no symbol is written like this
        body = self.term(rest[1], {**scope, **new}, depth + 1)
        return ScriptTerm(kind, (_truth(body),), tuple(str(v.value) for v in new.values()))


def is_real_sort(sort: Term) -> bool:
    """Tells whether a sort is Real rather than Bool.

    Raises:
        InputError: it is neither.
    """
    if sort not in ("Real", "Bool"):
        whole = sort == "Int"
        raise InputError(
            f"the sort {_shown(sort)} is not supported"
            + (": use Real instead of whole numbers" if whole else ": only Real and Bool are")
        )
    return sort == "Real"


def decimal(word: str) -> Fraction:
    """Returns the number that a numeral or decimal is, exactly.

    Raises:
        LimitError: too many digits.
    """
    whole, _, decimals = word.partition(".")
    if len(word) > MAX_DIGITS:
        raise LimitError(f"a number has more than {MAX_DIGITS:,} digits")
    return fraction(fmpz(whole + decimals)) / Fraction(10) ** len(decimals)


def _pair(words: Term) -> list[Term]:
    if isinstance(words, str) or len(words) != 2:
        raise InputError(f"a name and one more item are expected, not {_shown(words)}")
    return words


def _name(words: Term) -> str:
    name = _pair(words)[0]
    if not isinstance(name, str):
        raise InputError(f"{_shown(name)} is not a name")
    return name


def _shown(words: Term) -> str:
    text = words if isinstance(words, str) else f"({' '.join(_shown(w) for w in words[:4])})"
    return text if len(text) <= 60 else f"{text[:60]}..."


def _truth(term: ScriptTerm) -> ScriptTerm:
    if term.is_real:
        raise InputError("a truth value is needed here, not a real number")
    return term


def _real(term: ScriptTerm) -> ScriptTerm:
    if not term.is_real:
        raise InputError("a real number is needed here, not a truth value")
    return term


# --- operators --------------------------------------------------------------------------------------

Arguments = Sequence[ScriptTerm]


def _many(arguments: Arguments, least: int, what: str) -> Arguments:
    if len(arguments) < least:
        raise InputError(f"{what} needs {least} arguments or more")
    return arguments


def total(parts: Arguments) -> ScriptTerm:
    """Returns a sum."""
    return ScriptTerm("+", tuple(map(_real, _many(parts, 1, "+"))))


def _times(parts: Arguments) -> ScriptTerm:
    return ScriptTerm("*", tuple(map(_real, _many(parts, 1, "*"))))


def minus(parts: Arguments) -> ScriptTerm:
    """Returns `-a`, or `a - b - ...`."""
    first, *rest = map(_real, _many(parts, 1, "-"))
    turned = [ScriptTerm("*", (number(-1), part)) for part in (rest or [first])]
    return ScriptTerm("+", (first, *turned)) if rest else turned[0]


def _over(parts: Arguments) -> ScriptTerm:
    found, *rest = map(_real, _many(parts, 2, "/"))
    for part in rest:
        found = ScriptTerm("/", (found, part))
    return found


def _power(parts: Arguments) -> ScriptTerm:
    base, exponent = map(_real, parts) if len(parts) == 2 else (number(0), number(0))
    n = exponent.value
    if exponent.operator != "number" or not isinstance(n, Fraction) or n.denominator != 1 or n < 1:
        raise InputError("(^ t n) is supported only for whole numbers n of at least 1")
    if n > MAX_POWER:
        raise LimitError(f"an exponent above {MAX_POWER:,}")
    return ScriptTerm("*", (base,) * int(n))


def both(parts: Arguments) -> ScriptTerm:
    """Returns the conjunction of truth values."""
    return ScriptTerm("and", tuple(map(_truth, parts)))


def either(parts: Arguments) -> ScriptTerm:
    """Returns the disjunction of truth values."""
    return ScriptTerm("or", tuple(map(_truth, parts)))


def _implies(parts: Arguments) -> ScriptTerm:
    *before, last = map(_truth, _many(parts, 2, "=>"))
    return either([*map(negated, before), last])


def _exclusive(parts: Arguments) -> ScriptTerm:
    found, *rest = map(_truth, _many(parts, 2, "xor"))
    for part in rest:
        found = negated(ScriptTerm("iff", (found, part)))
    return found


def _ite(parts: Arguments) -> ScriptTerm:
    if len(parts) != 3:
        raise InputError("ite needs three arguments")
    condition, yes, no = parts
    _truth(condition)
    if yes.is_real != no.is_real:
        raise InputError("both ways of an ite need the same sort")
    if yes.is_real:
        return ScriptTerm("ite", (condition, yes, no))
    return either([both([condition, yes]), both([negated(condition), no])])


def _same(left: ScriptTerm, right: ScriptTerm) -> ScriptTerm:
    if left.is_real != right.is_real:
        raise InputError("= compares a real number with a truth value")
    return ScriptTerm("=" if left.is_real else "iff", (left, right))


def _equal(parts: Arguments) -> ScriptTerm:
    _many(parts, 2, "=")
    return _chained([_same(a, b) for a, b in pairwise(parts)])


def _distinct(parts: Arguments) -> ScriptTerm:
    _many(parts, 2, "distinct")
    pairs = [(a, b) for k, a in enumerate(parts) for b in parts[k + 1 :]]
    return _chained([negated(_same(a, b)) for a, b in pairs])


def _chained(links: Arguments) -> ScriptTerm:
    return links[0] if len(links) == 1 else both(links)


def _compared(relation: str, parts: Arguments) -> ScriptTerm:
    operator, turned = ORDER[relation]
    reals = [*map(_real, _many(parts, 2, relation))]
    links = [(b, a) if turned else (a, b) for a, b in pairwise(reals)]
    return _chained([ScriptTerm(operator, link) for link in links])


def _not(parts: Arguments) -> ScriptTerm:
    if len(parts) != 1:
        raise InputError("not needs one argument")
    return negated(_truth(parts[0]))


OPERATORS: Mapping[str, Callable[[Arguments], ScriptTerm]] = {
    "+": total,
    "-": minus,
    "*": _times,
    "/": _over,
    "^": _power,
    "and": both,
    "or": either,
    "not": _not,
    "=>": _implies,
    "xor": _exclusive,
    "ite": _ite,
    "=": _equal,
    "distinct": _distinct,
    **{relation: partial(_compared, relation) for relation in ORDER},
}


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
    assertions: tuple[ScriptTerm, ...]
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

    symbols: dict[str, ScriptTerm] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    assertions: list[ScriptTerm] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def copy(self) -> _PushLevel:
        """Returns a level above this one, which knows the same."""
        return _PushLevel({**self.symbols}, {**self.definitions}, [*self.assertions], [*self.text])


def read_script(path: Path) -> Script:
    """Reads a script.

    Raises:
        InputError: not a readable script about reals; the message says what is not supported, and the line.
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
        raise InputError("the script has no (check-sat): add it after the assertions")
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
            InputError: it is not supported here.
        """
        if command.name == "exit":
            return False
        if command.words[:2] == ["set-option", ":global-declarations"] and command.words[2:] != ["false"]:
            raise UnsupportedError("declarations that outlive a (pop) are not supported")
        if command.name in IGNORED:
            return True
        if command.name not in self.commands:
            raise UnsupportedError(f"the command {command.name[:40] or '()'} is not supported")
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
            why = next((f": {told} are not supported" for word, told in THEORIES.items() if word in rest), "")
            raise UnsupportedError(f"the logic {self.logic[:40]} is not supported{why}; write one of {known}")

    def _info(self, command: Command) -> None:
        if command.words[1:2] == [":status"]:
            status = command.words[2] if len(command.words) == 3 else ""
            if status not in STATUS:
                raise InputError("the :status is not sat, unsat or unknown")
            self.expected = str(status) if status in DECIDED else None

    def _declare(self, command: Command) -> None:
        words = command.words[1:]
        if command.name == "declare-fun":
            if len(words) == 3 and words[1] != []:
                raise UnsupportedError(f"the function {words[0]!s:.40} is declared without a definition")
            words = words[:1] + words[2:] if len(words) == 3 else []
        if len(words) != 2 or not isinstance(words[0], str):
            raise InputError(f"{command.name} is malformed: write ({command.name} NAME ... Real)")
        name = self._new(words[0])
        self._now.symbols[name] = ScriptTerm("real" if is_real_sort(words[1]) else "bool", (), name)
        self._now.text.append(command.text)

    def _new(self, name: str) -> str:
        if name in self._now.symbols or name in self._now.definitions or name in THEORY:
            raise InputError(f"{name[:60]} is declared already")
        if not (SIMPLE.match(name) or name[0] == "|") or name in RESERVED:
            raise InputError(f"{name[:60]} is not a symbol")
        return name

    def _define(self, command: Command) -> None:
        words = command.words[1:]
        if command.name == "define-const":
            words = [*words[:1], [], *words[1:]]
        if len(words) != 4 or not isinstance(words[0], str) or not isinstance(words[1], list):
            raise InputError(
                f"{command.name} is malformed: write ({command.name} NAME ((argument sort) ...) sort term)"
            )
        name, entries = self._new(words[0]), []
        for entry in words[1]:
            if isinstance(entry, str) or len(entry) != 2 or not isinstance(entry[0], str):
                raise InputError(f"the arguments of {name[:60]} are not names with sorts")
            entries.append((entry[0], is_real_sort(entry[1])))
        names, sorts = tuple(n for n, _ in entries), tuple(s for _, s in entries)
        if len(set(names)) < len(names):
            raise InputError(f"two arguments of {name[:60]} have one name")
        stand_in = {n: ScriptTerm("real" if s else "bool", (), n) for n, s in entries}
        body, is_real = self.reader.term(words[3], stand_in), is_real_sort(words[2])
        if body.is_real != is_real:
            raise InputError(f"{name[:60]} has another sort than it says")
        known = None if names else body
        self._now.definitions[name] = Definition(names, sorts, is_real, words[3], known)
        self._now.text.append(command.text)

    def _assert(self, command: Command) -> None:
        if len(command.words) != 2:
            raise InputError("assert is malformed: write (assert term)")
        term = self.reader.term(command.words[1], {})
        if term.is_real:
            raise InputError("assert needs a truth value, but this term is a real number")
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
            raise InputError("(pop) removes more levels than there are")
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


def _names(words: Term) -> Iterator[tuple[Term, str]]:
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
    words: Sequence[Term] = command.words[1:] or ["1"]
    if len(words) != 1 or not isinstance(words[0], str) or not words[0].isascii() or not words[0].isdigit():
        raise InputError(f"{command.name} is malformed: write ({command.name} N)")
    if len(words[0]) > 4:
        raise LimitError("more than 9,999 levels at once")
    return int(words[0])


MAX_TEXT = 2_000_000  # characters


def written(assertions: Sequence[ScriptTerm], reals: Sequence[str], booleans: Sequence[str]) -> str:
    """Returns the script that asks for a solution of the assertions, which have no universal quantifier.

    `reals` are all real variables that occur, those of existential quantifiers included: a quantifier that is
    true where its body has a solution is left away.

    Raises:
        LimitError: the text is too long.
    """
    lines = ["(set-logic QF_NRA)"]
    lines += [f"(declare-fun {quoted(name)} () Real)" for name in reals]
    lines += [f"(declare-fun {quoted(name)} () Bool)" for name in booleans]
    lines += [f"(assert {folded(term, lambda t: t.parts, _text)})" for term in assertions]
    return "\n".join([*lines, "(check-sat)", ""])


def quoted(symbol: str) -> str:
    """Returns a symbol as a script may have it; those of quantifiers have a number behind the name."""
    return f"|{symbol.replace('|', '')}|" if " " in symbol or symbol[0] == "|" else symbol


def numeral(value: Fraction) -> str:
    """Returns a rational number as a term."""
    digits = f"{fmpz(abs(value.numerator))}.0"
    text = digits if value.denominator == 1 else f"(/ {digits} {fmpz(value.denominator)}.0)"
    return f"(- {text})" if value < 0 else text


def at(term: ScriptTerm, values: Mapping[str, Fraction], truths: Mapping[str, bool]) -> ScriptTerm:
    """Returns the term with numbers and truth values in the places of constants."""

    def make(part: ScriptTerm, parts: Sequence[ScriptTerm]) -> ScriptTerm:
        if part.operator == "real" and part.value in values:
            return ScriptTerm("number", (), values[str(part.value)])
        if part.operator == "bool" and part.value in truths:
            return ScriptTerm("true" if truths[str(part.value)] else "false")
        return ScriptTerm(part.operator, tuple(parts), part.value) if parts else part

    return folded(term, lambda t: t.parts, make)


def _text(term: ScriptTerm, parts: Sequence[str]) -> str:
    match term.operator:
        case "number":
            assert isinstance(term.value, Fraction)
            return numeral(term.value)
        case "real" | "bool":
            return quoted(str(term.value))
        case "true" | "false":
            return term.operator
        case "forall" | "exists":
            return parts[0]
        case "and" | "or" if len(parts) < 2:
            return parts[0] if parts else ("true" if term.operator == "and" else "false")
        case "+" | "*" if len(parts) < 2:
            return parts[0]
    text = f"({'=' if term.operator == 'iff' else term.operator} {' '.join(parts)})"
    if len(text) > MAX_TEXT:
        raise LimitError("a question is too long to be written")
    return text
