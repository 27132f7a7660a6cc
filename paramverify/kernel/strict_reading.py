"""Reads evidence strictly: what is not exactly of its form is rejected, by one line that names the place.

JSON is taken without duplicate keys, without numbers that are not whole (exact numbers are strings), without
NaN and infinities, and with bounded nesting. A `Shape` checks the form of a value: it returns nothing, or
raises `Misformed` with the reason; the places are added on the way up. No shape accepts a float.

The kernel has three exceptions. `Rejected` says that the evidence does not prove what it claims, and
`Misformed`, a kind of it, that a part is not of its form, and where. `UnreadCase` is no rejection: something
is beyond what is computed again, so it is not compared, and the line of the report says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

MAX_NESTING = 200
MAX_DIGITS = 2_000  # of a number that is computed with again and again, such as a parameter of noise
MAX_WHOLE = 18  # digits of a whole number that is no string: they are indices and counts
SHOWN = 60  # characters of a value in a message

Shape = Callable[[Any], None]


class UnreadCase(Exception):
    """The second reader of cases does not know this; the message says what, and nothing was compared."""


class Rejected(Exception):
    """The evidence does not prove what it claims; the message says where it fails."""


class Misformed(Rejected):
    """A part of a document is not of its form; `path` is the way to it."""

    def __init__(self, reason: str, *path: str | int) -> None:
        self.reason = reason
        self.path: list[str | int] = list(path)

    def __str__(self) -> str:
        return f"{place(self.path)}: {self.reason}"


@contextmanager
def placed(*path: str | int) -> Iterator[None]:
    """Names the place of what is rejected inside."""
    try:
        yield
    except Rejected as error:
        raise Misformed(str(error), *path) from None


def place(path: list[str | int]) -> str:
    """Returns the way to a part in words, such as `statements[3].proof.tree`."""
    steps = path if len(path) <= 12 else [*path[:6], "...", *path[-3:]]
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,39}|\.\.\.", step):
            text += f".{step}"
        else:
            text += f"[{shown(step)}]"
    return text.removeprefix(".") or "the document"


def counted(count: int, what: str) -> str:
    """Returns a number of things: `1 claim`, `2 claims`, `1,000 claims`."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def shown(value: Any) -> str:
    """Returns a value as one short line without control characters."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = ascii(value[:SHOWN] if isinstance(value, str) else value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def plain(value: str, most: int = 300) -> str:
    """Returns text of a document for a terminal: shortened, control characters escaped."""
    cut = value if len(value) <= most else f"{value[:most]}..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)


def statement_of(claim: Mapping[str, Any]) -> str:
    """Returns what a claim says, shortened.

    A claim −1 ≥ 0 says that its domain has no point: what the other constraints leave has none with the last.
    """
    if claim["polynomial"] == "-1" and claim.get("constraints"):
        text, relation = claim["constraints"][-1]
        return f"no point of the domain has {plain(text, 60)} {relation} 0"
    return f"{plain(claim['polynomial'], 60)} >= 0"


def told_witness(witness: Mapping[str, Any], named: bool) -> str:
    """Returns in words that the claim of a witness is false at its point.

    `named` says that the names in the witness are compared with the case, and are shown.
    """
    about = ""
    if named:
        about = " against ".join(witness.get("secrets", ())) or witness.get("statement", "")
        if witness.get("observations"):
            about += f", output {' '.join(witness['observations'])}"
    elif "polynomial" in witness.get("claim", {}):
        about = statement_of(witness["claim"])
    told = witness.get("parameters", {}).items()
    near = {n: at if isinstance(at, str) else f"a root from {at['lower']} to {at['upper']}" for n, at in told}
    place = ", ".join(f"{plain(name)} = {plain(at, 60)}" for name, at in near.items())
    return f"witness: the claim {f'({plain(about)}) ' * bool(about)}is false{f' at {place}' * bool(place)}"


# --- JSON -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Unread:
    """Stands in the data for what no shape accepts, so that the check of its form names the place."""

    what: str

    def __repr__(self) -> str:
        return self.what


def read(text: str) -> Any:
    """Returns the data of a JSON text; `check` refuses what is not JSON as described above.

    Raises:
        Rejected: it is no JSON at all, or nested too deeply.
    """

    def pairs(items: list[tuple[str, Any]]) -> Any:
        found = dict(items)
        if len(found) < len(items):
            twice = next(name for name, count in Counter(name for name, _ in items).items() if count > 1)
            return _Unread(f"one with the key {shown(twice)} twice")
        return found

    def whole(digits: str) -> Any:
        return (
            int(digits)
            if len(digits) <= MAX_WHOLE
            else _Unread(f"{digits[:MAX_WHOLE]}..., which is too long")
        )

    try:
        data = json.loads(text, object_pairs_hook=pairs, parse_int=whole)
    except RecursionError:
        raise Rejected(f"nested deeper than {MAX_NESTING} levels") from None
    except ValueError as error:
        raise Rejected(f"not JSON: {error!s:.200}") from None
    level = [data]
    for _ in range(MAX_NESTING + 1):
        level = [inner for value in level for inner in _parts(value)]
    if level:
        raise Rejected(f"nested deeper than {MAX_NESTING} levels")
    return data


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


# --- shapes -----------------------------------------------------------------------------------------


def check(value: Any, shape: Shape) -> None:
    """Returns if a value has a shape.

    Raises:
        Misformed: it has not.
    """
    try:
        shape(value)
    except RecursionError:
        raise Misformed(f"nested deeper than {MAX_NESTING} levels") from None


def text(value: Any) -> None:
    """A string without halves of characters."""
    if not isinstance(value, str):
        raise Misformed(f"must be a string, not {shown(value)}")
    if re.search(r"[\ud800-\udfff]", value):
        raise Misformed("this is not text: half of a character")


def whole(value: Any) -> None:
    """A whole number that is no string, and no truth value."""
    if type(value) is not int:
        raise Misformed(f"must be a whole number, not {shown(value)}")


def flag(value: Any) -> None:
    """True or false."""
    if type(value) is not bool:
        raise Misformed(f"must be true or false, not {shown(value)}")


def rational(value: Any) -> None:
    """An exact rational as a string, such as `"-3/2"`."""
    text(value)
    if not re.fullmatch(r"-?[0-9]+(/0*[1-9][0-9]*)?", value):
        raise Misformed(f"must be a number such as '-3/2', not {shown(value)}")


def short(value: Any) -> None:
    """An exact rational as a string, whose numerator and denominator have at most `MAX_DIGITS` digits."""
    rational(value)
    if max(map(len, value.lstrip("-").split("/"))) > MAX_DIGITS:
        raise Misformed(f"{shown(value)} has more digits than the limit, {MAX_DIGITS:,}")


def index(value: Any) -> None:
    """A whole number in digits, as the key of an object."""
    if not re.fullmatch(r"0|[1-9][0-9]{0,17}", value):
        raise Misformed(f"must be the digits of a whole number, not {shown(value)}")


def one_of(*values: str | int) -> Shape:
    """One of some strings or numbers."""

    def one(value: Any) -> None:
        if type(value) not in (str, int) or value not in values:
            raise Misformed(f"must be {' or '.join(map(repr, values))}, not {shown(value)}")

    return one


def maybe(shape: Shape) -> Shape:
    """A value of a shape, or null."""
    return lambda value: None if value is None else shape(value)


def listed(shape: Shape) -> Shape:
    """A list of values of one shape."""

    def every(value: Any) -> None:
        if not isinstance(value, list):
            raise Misformed(f"must be a list, not {shown(value)}")
        for k, entry in enumerate(value):
            _inside(shape, entry, k)

    return every


def names(value: Any) -> None:
    """A list of different strings, so that a name is that of one thing."""
    listed(text)(value)
    seen: set[str] = set()
    for k, name in enumerate(value):
        if name in seen:
            raise Misformed(f"the name {shown(name)} is listed twice", k)
        seen.add(name)


def row(*shapes: Shape) -> Shape:
    """A list with one value of each shape."""

    def each(value: Any) -> None:
        if not isinstance(value, list) or len(value) != len(shapes):
            raise Misformed(f"must be a list of {len(shapes)}, not {shown(value)}")
        for k, (shape, entry) in enumerate(zip(shapes, value, strict=True)):
            _inside(shape, entry, k)

    return each


def table(shape: Shape, key: Shape = text) -> Shape:
    """An object with any keys of a shape, and values of one shape."""

    def every(value: Any) -> None:
        _object(value)
        for name, entry in value.items():
            _inside(key, name, name)
            _inside(shape, entry, name)

    return every


def record(required: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """An object with these keys and no others."""
    known = {**required, **(optional or {})}

    def every(value: Any) -> None:
        _object(value)
        for name in required:
            if name not in value:
                raise Misformed(f"the key {name!r} is missing")
        for name, entry in value.items():
            if name not in known:
                raise Misformed("this key is unknown", name)
            _inside(known[name], entry, name)

    return every


def tagged(key: str, kinds: Mapping[str, Shape]) -> Shape:
    """An object whose value at a key says which of some shapes it has."""

    def every(value: Any) -> None:
        _object(value)
        kind = value.get(key)
        if not isinstance(kind, str) or kind not in kinds:
            raise Misformed(f"unknown kind: {shown(kind)}", key)
        kinds[kind](value)

    return every


def tagged_row(kinds: Mapping[str, tuple[Shape, ...]]) -> Shape:
    """A list whose first entry says which shapes the others have."""

    def every(value: Any) -> None:
        if not isinstance(value, list) or not value:
            raise Misformed(f"must be a list with entries, not {shown(value)}")
        kind = value[0]
        if not isinstance(kind, str) or kind not in kinds:
            raise Misformed(f"unknown kind: {shown(kind)}", 0)
        row(text, *kinds[kind])(value)

    return every


def by_type(shapes: Mapping[type, Shape]) -> Shape:
    """A value whose JSON type says which of some shapes it has."""

    def every(value: Any) -> None:
        shape = shapes.get(type(value))
        if shape is None:
            raise Misformed(f"this has another type: {shown(value)}")
        shape(value)

    return every


def _object(value: Any) -> None:
    if not isinstance(value, dict):
        raise Misformed(f"must be an object, not {shown(value)}")


def _inside(shape: Shape, value: Any, step: str | int) -> None:
    try:
        shape(value)
    except Misformed as fault:
        fault.path.insert(0, step)
        raise
