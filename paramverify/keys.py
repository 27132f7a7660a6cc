"""What the tables of case files may have: keys with their types, defaults and words, declared once.

A reader declares a `Section` beside it and reads a table by it (`tables.Table`): a key that it asks for and
does not declare is a defect. The JSON Schema for editors and the reference of all keys are made of the same
declarations (`reports.schema`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

from paramverify.errors import DefectError

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
            return f"{listed} needs {' and '.join(f'`{name}`' for name in self.needs)}."
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


def with_keys(section: Section, *keys: Key) -> Section:
    """Returns a section with more keys."""
    return replace(section, keys=(*section.keys, *keys))
