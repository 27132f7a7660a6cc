"""TOML tables: which keys a table of a case file may have, and reading tables strictly by that.

What the tables of case files may have: keys with their types, defaults and words, declared once.

A reader declares a `Section` beside it and reads a table by it (`Table`): a key that it asks for and
does not declare is a defect. The JSON Schema for editors and the reference of all keys are made of the same
declarations (`reports.case_schema`).
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from paramverify.algebra.expressions import NAME as DEFINED_NAME
from paramverify.algebra.expressions import WORDS, Expression, parse
from paramverify.errors import (
    CaseError,
    DefectError,
    ExpressionError,
    InputError,
    ProgramError,
    SyntaxMistake,
    gathered,
    in_text,
    located,
)
from paramverify.files import read_file
from paramverify.spelling import LIKE, nearest
from paramverify.toml_mistakes import TomlPlaces, not_toml

Json: TypeAlias = dict[str, Any]

NAME = "^[A-Za-z][A-Za-z0-9_]*$"  # of parameters, variables, secrets, inputs and definitions


@dataclass(frozen=True, eq=False)
class Leaf:
    """A value that is no table: what it is in words, how JSON Schema says it, and its words if it has few."""

    told: str
    json: Mapping[str, Any]
    words: tuple[str, ...] = ()

    def schema(self) -> Json:
        """Returns it as JSON Schema."""
        return dict(self.json)

    def section(self, data: Mapping[str, Any]) -> Section | None:
        """Returns the declaration of a table that stands here; a plain value has none."""
        del data
        return None


@dataclass(frozen=True, eq=False)
class Listed:
    """A list: of items that are alike, or of one item for each of several shapes."""

    told: str
    items: Shape | tuple[Shape, ...]
    least: int = 0
    distinct: bool = False

    def schema(self) -> Json:
        """Returns it as JSON Schema."""
        found: Json = {"type": "array"}
        if isinstance(self.items, tuple):
            found["items"] = [item.schema() for item in self.items]
            return found | {"minItems": len(self.items), "maxItems": len(self.items)}
        found["items"] = self.items.schema()
        if self.least:
            found["minItems"] = self.least
        return found | ({"uniqueItems": True} if self.distinct else {})

    def section(self, data: Mapping[str, Any]) -> Section | None:
        """Returns the declaration of a table that stands in the list, if tables may."""
        return None if isinstance(self.items, tuple) else self.items.section(data)


@dataclass(frozen=True, eq=False)
class Either:
    """A value of one of several shapes, of which at most one is a table."""

    shapes: tuple[Shape, ...]

    @property
    def told(self) -> str:
        """What it is in words."""
        return ", or ".join(shape.told for shape in self.shapes)

    def schema(self) -> Json:
        """Returns it as JSON Schema."""
        return {"anyOf": [shape.schema() for shape in self.shapes]}

    def section(self, data: Mapping[str, Any]) -> Section | None:
        """Returns the declaration of a table that stands here."""
        return next((found for shape in self.shapes if (found := shape.section(data))), None)


@dataclass(frozen=True, eq=False)
class Key:
    """A key of a table: its shape, what it says in a sentence, and what it is where it is left out."""

    name: str
    shape: Shape
    text: str = ""
    needed: bool = False
    default: Any = None

    @property
    def about(self) -> str:
        """What it says; a table without words of its own has those of its declaration."""
        return self.text or (self.shape.about if isinstance(self.shape, Section | Variants) else "")

    def schema(self) -> Json:
        """Returns the value as JSON Schema, with words for completion."""
        found = self.shape.schema() | {"description": self.about}
        return found if self.default is None else found | {"default": self.default}


@dataclass(frozen=True)
class Rule:
    """How many keys of several may stand in a table together, or which others a key `needs`."""

    names: tuple[str, ...]
    least: int = 0
    most: int = 1
    needs: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """The rule as a sentence."""
        names = [f"`{name}`" for name in self.names]
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        if self.needs:
            return f"{listed} requires {' and '.join(f'`{name}`' for name in self.needs)}."
        number = "at least" if self.most > 1 else "exactly" if self.least else "at most"
        return f"Give {number} one of {listed}."

    def parts(self) -> dict[str, Json]:
        """Returns what follows from the presence of each key, as JSON Schema."""
        if self.needs:
            return {name: {"required": list(self.needs)} for name in self.names}
        if self.most > 1:
            return {}
        others = {name: [{"required": [n]} for n in self.names if n != name] for name in self.names}
        return {name: {"not": {"anyOf": found}} for name, found in others.items()}


def exactly_one(*names: str) -> Rule:
    """One of the keys stands in the table, and no other."""
    return Rule(names, least=1)


def at_least_one(*names: str) -> Rule:
    """One of the keys stands in the table, or several."""
    return Rule(names, least=1, most=len(names))


def at_most_one(*names: str) -> Rule:
    """No two of the keys stand in the table."""
    return Rule(names)


def needs(name: str, *others: str) -> Rule:
    """A key stands in the table only beside others."""
    return Rule((name,), needs=others)


@dataclass(frozen=True, eq=False)
class Section:
    """A table: its name as it is written, what it says, its keys, and the rules between them.

    `others` is the key for names that the user chooses, which fit `names`; `also` is JSON Schema that the
    table fits besides, where one key decides about another.
    """

    name: str
    about: str
    keys: tuple[Key, ...] = ()
    others: Key | None = None
    names: str = ""
    rules: tuple[Rule, ...] = ()
    least: int = 0
    also: Json = field(default_factory=dict)

    @property
    def told(self) -> str:
        """What it is in words."""
        return "a table"

    @cached_property
    def _by_name(self) -> Mapping[str, Key]:
        return {key.name: key for key in self.keys}

    def key(self, name: str) -> Key:
        """Returns the declaration of a key that a reader asks for.

        Raises:
            DefectError: there is none.
        """
        found = self._by_name.get(name, self.others)
        if found is None:
            raise DefectError(f"{self.name}: the key {name!r} is read and not declared")
        return found

    def section(self, data: Mapping[str, Any]) -> Section | None:
        """Returns this declaration."""
        del data
        return self

    def schema(self) -> Json:
        """Returns it as JSON Schema."""
        found: Json = {"type": "object", "title": self.name, "description": self.about}
        if needed := [key.name for key in self.keys if key.needed]:
            found["required"] = needed
        if self.least:
            found["minProperties"] = self.least
        found["properties"] = {key.name: key.schema() for key in self.keys}
        found["additionalProperties"] = self.others.schema() if self.others else False
        if self.names:
            found["propertyNames"] = {"pattern": self.names}
        parts: dict[str, list[Json]] = {}
        for rule in self.rules:
            for name, part in rule.parts().items():
                parts.setdefault(name, []).append(part)
            if rule.least:
                found["anyOf"] = [{"required": [name]} for name in rule.names]
        if parts:
            found["dependencies"] = {n: p[0] if len(p) == 1 else {"allOf": p} for n, p in parts.items()}
        return found | self.also


@dataclass(frozen=True, eq=False)
class Growing(Section):
    """A table with more keys where packages beside this one add some; `whole` is asked when it is needed."""

    whole: Callable[[], Section] | None = None

    def key(self, name: str) -> Key:
        """Returns the declaration of a key that a reader asks for.

        Raises:
            DefectError: there is none.
        """
        own = any(key.name == name for key in self.keys)
        return super().key(name) if own or not self.whole else self.whole().key(name)

    def schema(self) -> Json:
        """Returns it as JSON Schema."""
        return self.whole().schema() if self.whole else super().schema()


@dataclass(frozen=True, eq=False)
class Variants:
    """A table of one of several kinds: `sections` by their words, which are imported when they are asked for.

    The kind is the word of the key `tag`, or else the key that stands in the table; `otherwise` is the
    declaration of a table without a tag. A kind without declaration, such as that of a plugin, has any keys.
    """

    name: str
    about: str
    words: Callable[[], Sequence[str]]
    find: Callable[[str], Section | None]
    tag: str = ""
    text: str = ""  # of the tag
    otherwise: Section | None = None

    @property
    def told(self) -> str:
        """What it is in words."""
        return "a table"

    def section(self, data: Mapping[str, Any]) -> Section | None:
        """Returns the declaration of a table of this content; None for one of which nothing is known."""
        words = self.words()
        if self.tag and self.tag not in data:
            return self.otherwise
        word = data[self.tag] if self.tag else next((word for word in words if word in data), None)
        return self.find(word) if isinstance(word, str) and word in words else None

    def all(self) -> dict[str, Section | None]:
        """Returns the declarations of all kinds, by their words; "" is the one without a tag."""
        found: dict[str, Section | None] = {word: self.find(word) for word in self.words()}
        return found | ({"": self.otherwise} if self.otherwise else {})

    def schema(self) -> Json:
        """Returns it as JSON Schema.

        The kinds stand in `if` and `then`, so that a mistake is told of the right one. The alternatives of
        `anyOf` are for completion, which does not read these; the first one is always true.
        """
        known = {word: section.schema() for word, section in self.all().items() if section}
        chain: Json = {} if self.otherwise is None else known[""]
        if not self.tag:
            chain = {"anyOf": [{"required": [word]} for word in self.words()]}
        for word in reversed(self.words()):
            choice: Json = {"required": [self.tag or word]}
            if self.tag:
                choice["properties"] = {self.tag: {"const": word}}
            chain = {"if": choice, "then": known.get(word, {}), "else": chain}
        found: Json = {"type": "object", "description": self.about, "anyOf": [{}, *known.values()]}
        if self.tag:
            found["properties"] = {self.tag: {"enum": list(self.words()), "description": self.text}}
            if self.otherwise is None:
                found["required"] = [self.tag]
        return found | chain


Shape: TypeAlias = Leaf | Listed | Either | Section | Variants

TEXT = Leaf("a text", {"type": "string"})
FLAG = Leaf("true or false", {"type": "boolean"})
EXPRESSION = Leaf("an expression", {"type": ["string", "number"]})
CONDITION = Leaf("a condition", {"type": "string"})
VALUE = Leaf("a number or a label", {"type": ["string", "number"]})
TEXTS = Listed("a list of texts", TEXT)
FILE = Leaf("the name of a file", {"type": "string", "minLength": 1})


def one_of(*words: str) -> Leaf:
    """One of several words."""
    return Leaf("a word", {"enum": list(words)}, words)


def whole(least: int, most: int) -> Leaf:
    """A whole number between two bounds."""
    return Leaf(
        f"a whole number from {least:,} to {most:,}", {"type": "integer", "minimum": least, "maximum": most}
    )


def by_name(name: str, about: str, inner: Shape, text: str, *, named: str = "NAME") -> Section:
    """A table whose keys are names that the case has elsewhere, such as those of states."""
    return Section(name, about, others=Key(named, inner, text))


def growing(section: Section, whole: Callable[[], Section]) -> Growing:
    """Returns a section that has the keys of `whole` where it does not have one itself."""
    return Growing(section.name, section.about, section.keys, rules=section.rules, whole=whole)


def with_keys(section: Section, *keys: Key) -> Section:
    """Returns a section with more keys."""
    return replace(section, keys=(*section.keys, *keys))


MAX_BYTES = 1_000_000
AUTOMATON = ".dipa"
MAX_DEPTH = 50  # tables and lists inside each other


class _Decimal(str):
    """A TOML float, kept as its text so that no binary float is ever made."""


def is_decimal(value: object) -> bool:
    """Tells whether a value of `document_data` is a TOML float, of which the text is kept, and no text."""
    return isinstance(value, _Decimal)


@dataclass(frozen=True, eq=False)
class TomlDocument:
    """A TOML file that was read: its data, in which floats are text, its own text, and its SHA-256 digest.

    Other files that it names are looked for beside `path`. Its text, if there is one, gives mistakes the line
    of their key.
    """

    data: Mapping[str, Any]
    text: str = field(default="", repr=False)
    digest: str = ""
    path: str = ""

    def saying(self, data: Mapping[str, Any]) -> TomlDocument:
        """Returns it with other data, and the text and the digest of what was read."""
        return replace(self, data=data)

    def errors(self) -> AbstractContextManager[None]:
        """Gives mistakes the name of the file and the line of their key."""
        return in_case(self.path, self.text)


def read_document(path: Path) -> TomlDocument:
    """Reads a TOML file; floats stay text.

    Raises:
        CaseError: not a readable regular file, larger than `MAX_BYTES`, not UTF-8, or not TOML.
    """
    with located(file=str(path)):
        if path.suffix == AUTOMATON:
            raise CaseError("an automaton is read by verify, budget and show; a case names it in [automaton]")
        content = read_file(path, MAX_BYTES, "a case file", CaseError)
        text = decoded(content)
        return TomlDocument(document_data(text), text, hashlib.sha256(content).hexdigest(), str(path))


def decoded(content: bytes) -> str:
    """Returns the text of a file.

    Raises:
        CaseError: it is not UTF-8, with the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        mend = "it is UTF-16: save it as UTF-8" if wide else ""
        mistake = CaseError(f"not UTF-8 text (byte {error.start})", mend=mend)
        mistake.file_line = 1 + content[: error.start].count(b"\n")
        raise mistake from None


def document_data(text: str) -> dict[str, Any]:
    """Returns the data of the text of a case file; floats stay text.

    Raises:
        CaseError: it is not TOML, with the line and the mend, or nested too deeply.
    """
    try:
        data = toml_data(text)
    except RecursionError:
        raise CaseError(f"tables and lists nested deeper than {MAX_DEPTH}") from None
    except tomllib.TOMLDecodeError as error:
        raise not_toml(text, error) from None
    except ValueError:
        raise CaseError("not TOML: a number has too many digits") from None
    if _depth(data) > MAX_DEPTH:
        raise CaseError(f"tables and lists nested deeper than {MAX_DEPTH}")
    return data


def in_case(file: str, text: str) -> AbstractContextManager[None]:
    """Adds the file to the mistakes that are found inside, and the line of the text for the key of each."""
    places: list[TomlPlaces] = []

    def line_of(error: InputError) -> int:
        if not text or isinstance(error, SyntaxMistake) or error.key.startswith("-"):
            return 0  # an option does not stand in the file
        if not places:
            places.append(TomlPlaces.of(text))
        below = error.line - 1 if isinstance(error, ProgramError) else 0
        if isinstance(error, ExpressionError):
            below = error.text.count("\n", 0, error.column)
        return places[0].line_of(error.key, below)

    return in_text(file, line_of)


def toml_data(text: str) -> dict[str, Any]:
    """Returns the data of a TOML text; floats stay text."""
    return tomllib.loads(text, parse_float=_Decimal)


def _depth(data: object) -> int:
    """Returns how deeply tables and lists are nested; without recursion."""
    depth, level = 0, [data]
    while level:
        lists = [d for d in level if isinstance(d, list)]
        tables = [d for d in level if isinstance(d, dict)]
        level = [value for part in (*lists, *(d.values() for d in tables)) for value in part]
        depth += bool(lists or tables)
    return depth


class Table:
    """One TOML table that is read key by key; `close` complains about keys that nobody asked for.

    With a declaration (`keys`) only the keys may be asked for that it has, and what it says of their words,
    bounds and defaults holds.
    """

    def __init__(self, data: Mapping[str, Any], shape: Shape | None = None) -> None:
        self.data = data
        self.asked: set[str] = set()
        self.told: set[str] = set()  # keys about which another message says enough
        self.section = shape.section(data) if shape else None

    def _ask(self, name: str) -> None:
        self.asked.add(name)
        if self.section:
            self.section.key(name)

    def _declared(self, name: str) -> Key:
        """Returns the declaration of a key, which the caller leaves to it."""
        if self.section is None:
            raise DefectError(f"the key {name!r} is read without words and bounds, and nothing declares it")
        return self.section.key(name)

    def __contains__(self, name: str) -> bool:
        self._ask(name)
        return name in self.data

    def __iter__(self) -> Iterator[str]:
        self.asked.update(self.data)
        return iter(self.data)

    def close(self) -> None:
        """Tells all keys that were never asked for, which are mistakes.

        Raises:
            CaseError: there is one. Mistakes: there are several.
        """
        with gathered() as each:
            for name in [n for n in self.data if n not in self.told]:
                if name not in self.asked:
                    with each:
                        raise self.unknown(name)

    def unknown(self, name: str) -> CaseError:
        """Returns the error for a key that nobody asked for."""
        near = nearest(name, sorted(self.asked))
        known = ", ".join(sorted(self.asked))
        hint = f"did you mean {near!r}?" if near else f"the keys here are {known}"
        return CaseError("unknown key", mend=hint, key=name)

    def get(self, name: str) -> Any:
        """Returns the raw value, or None."""
        self._ask(name)
        return self.data.get(name)

    def need(self, name: str) -> Any:
        """Returns the raw value.

        Raises:
            CaseError: it is missing.
        """
        value = self.get(name)
        if value is None:
            self.check_spelling(name)
            raise CaseError(f"the key {name!r} is missing")
        return value

    def check_spelling(self, *names: str, alike: float = LIKE) -> None:
        """Raises a CaseError if a key that nobody asked for looks like one of the names, see `nearest`."""
        for other in self.data:
            if other not in self.asked and (near := nearest(other, names, alike)):
                self.told.add(other)
                raise CaseError("unknown key", mend=f"did you mean {near!r}?", key=other)

    def either(self, first: str, second: str, example: str = "") -> str:
        """Returns which one of two keys is here.

        Raises:
            CaseError: both or none; `example` is what may be written.
        """
        given = [name for name in (first, second) if name in self]
        if len(given) == 1:
            return given[0]
        if not given:
            self.check_spelling(first, second)
            raise CaseError(f"give either {first} or {second}", mend=example and f"write {example}")
        mend = "both are here: delete one"
        raise CaseError(f"give either {first} or {second}", mend=mend, key=second)

    def table(self, name: str, shape: Shape | None = None) -> Table:
        """Returns a nested table, of the shape that is declared for it, or of another one."""
        value = self.need(name)
        if not isinstance(value, dict):
            listed = isinstance(value, list) and bool(value) and isinstance(value[0], dict)
            mend = f"write [{name}], in one pair of brackets" if listed else ""
            raise CaseError("must be a table", key=name, mend=mend)
        return Table(value, shape or (self.section.key(name).shape if self.section else None))

    @contextmanager
    def within(self, name: str, shape: Shape | None = None) -> Iterator[Table]:
        """Gives a nested table, see `table`; errors that are raised inside get its name once."""
        inner = self.table(name, shape)
        with located(key=name):
            yield inner

    def text(self, name: str, default: str | None = None) -> str:
        """Returns a string."""
        value = self.get(name) if default is not None else self.need(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or isinstance(value, _Decimal):
            raise CaseError("must be text in quotes", key=name)
        return value

    def path(self, name: str) -> str:
        """Returns a string that can name a file."""
        value = self.text(name)
        if not value or "\0" in value:
            raise CaseError(f"not the name of a file: {value!r}", key=name)
        return value

    def choice(self, name: str, choices: tuple[str, ...] = (), default: str | None = None) -> str:
        """Returns one of the given words, or of those that are declared."""
        if not choices:
            key = self._declared(name)
            assert isinstance(key.shape, Leaf)
            choices, default = key.shape.words, key.default
        value = self.text(name, default)
        if value not in choices:
            known = f'"{choices[0]}"' if len(choices) == 1 else f"one of {', '.join(choices)}"
            raise CaseError(f"must be {known}; not {value!r}", key=name)
        return value

    def flag(self, name: str) -> bool:
        """Returns true or false, or the default that is declared."""
        value = self.get(name)
        if value is None:
            value = self._declared(name).default
        if not isinstance(value, bool):
            raise CaseError("must be true or false", key=name)
        return value

    def integer(self, name: str, least: int | None = None, most: int | None = None) -> int:
        """Returns a whole number between two bounds, or between those that are declared."""
        default = None
        if least is None or most is None:
            key = self._declared(name)
            bounds, default = key.shape.schema(), key.default
            least, most = bounds["minimum"], bounds["maximum"]
        value = self.need(name) if default is None or name in self else default
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise CaseError(f"must be a whole number from {least} to {most}", key=name)
        return value

    def expression(self, name: str, known: Mapping[str, Fraction] | None = None) -> Expression:
        """Returns a parsed expression, given as text or as a number; known names stand for their numbers."""
        with located(key=name):
            return as_expression(self.need(name), known)

    def texts(self, name: str) -> list[str]:
        """Returns a list of strings."""
        value = self.need(name)
        if not isinstance(value, list) or not all(isinstance(v, str) and not is_decimal(v) for v in value):
            raise CaseError("must be a list of texts", key=name)
        return [str(v) for v in value]


def as_expression(value: object, known: Mapping[str, Fraction] | None = None) -> Expression:
    """Parses a TOML value as an expression: text, a whole number, or a decimal read from its text."""
    if isinstance(value, str):
        return parse(value, known)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**1000:
        return parse(str(value))
    raise CaseError("must be an expression: text or a number")


def check_name(name: str) -> None:
    """Raises a CaseError unless the text can name a parameter or variable."""
    if name in WORDS:
        raise CaseError("this word is reserved in expressions", key=name)
    if not DEFINED_NAME.match(name):
        raise CaseError("a name has letters, digits and _, and starts with a letter", key=name)


def all_expressions(data: object, known: Mapping[str, Fraction] | None = None) -> Iterator[Expression]:
    """Yields every text of nested TOML data that mentions `exp` and parses as an expression."""
    if isinstance(data, dict):
        for value in data.values():
            yield from all_expressions(value, known)
    elif isinstance(data, list):
        for value in data:
            yield from all_expressions(value, known)
    elif isinstance(data, str) and "exp" in data:
        try:
            yield parse(data, known)
        except ValueError:
            return  # not an expression, or a wrong one: reported where the key is read
