"""Where each key of a TOML text is, and what is wrong with a text that is no TOML, with what to write
instead.

The text is one that `tomllib` has read already: what it means is decided there. This module goes through it
once more, for the places only, and is asked only when a mistake is to be told. Tests compare the keys and
values that it finds with those of `tomllib`.

A proposal is made only where the text is TOML with it, or goes wrong in a later line only.
"""

from __future__ import annotations

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paramverify.errors import CaseError, Mistakes, SyntaxMistake

Path = tuple[str | int, ...]  # names of keys, and numbers of entries of lists

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*+")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*+"')
_LITERAL = re.compile(r"'[^'\n]*+'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*+"{3,5}', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''(?:[^']|'(?!''))*+'{3,5}")
_OTHER = re.compile(r"[^,\]}#\n]*")
_ESCAPE = re.compile(r"\\(?:([ \t]*\n[ \t\n]*)|(n|u000[aA]|U0000000[aA])|.)")


@dataclass(frozen=True)
class TomlPlace:
    """Where a key or an entry begins, and its value from `start` to `end`, as numbers of characters before.

    A table that has its own header, or is named in the key of another one only, has no value.
    """

    key: int
    start: int = -1
    end: int = -1


@dataclass
class TomlPlaces:
    """The places of all keys of a text."""

    text: str
    found: dict[Path, TomlPlace] = field(default_factory=dict)
    _names: dict[str, TomlPlace] = field(default_factory=dict)
    _starts: Sequence[int] = ()

    @staticmethod
    def of(text: str) -> TomlPlaces:
        """Returns the places of a text that `tomllib` has read."""
        text = text.replace("\r\n", "\n")
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        places = TomlPlaces(text, _Scanner(text).places(), _starts=starts)
        for path, place in places.found.items():
            places._names.setdefault(written(path), place)
        return places

    def line(self, offset: int) -> int:
        """Returns the line, from 1, of the character with this number."""
        return bisect_right(self._starts, offset)

    def line_of(self, key: str, below: int = 0) -> int:
        """Returns the line of the longest part of a key, such as `secrets.pairs[0]`, that the text has.

        Of a text that is its value, it is the line in which line number `below` (from 0) of the text stands.
        """
        ends = (end for end in range(len(key), 0, -1) if end == len(key) or key[end] in ".[ ")
        place = next((self._names[key[:end]] for end in ends if key[:end] in self._names), None)
        if place is None:
            return 1
        lines = self._text_lines(place) if below else []
        return lines[min(below, len(lines) - 1)] if lines else self.line(place.key)

    def _text_lines(self, place: TomlPlace) -> list[int]:
        """Returns for each line of a text the line of the file in which it begins."""
        raw = self.text[place.start : place.end]
        if raw[:1] not in ("'", '"'):
            return []
        quotes = 3 if raw[:3] in ("'''", '"""') else 1
        at = quotes + (raw[quotes : quotes + 1] == "\n")
        lines = [self.line(place.start + at)]
        while at < len(raw) - quotes:
            escape = _ESCAPE.match(raw, at) if raw[0] == '"' else None
            if escape:
                at = escape.end()
                lines += [self.line(place.start + at)] if escape[2] else []
                continue
            at += 1
            if raw[at - 1] == "\n":
                lines.append(self.line(place.start + at))
        return lines


def written(path: Path) -> str:
    """Returns a path as errors write it: `secrets.pairs[0]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' * bool(text)}{part}"
    return text


class _Scanner:
    """Goes through a text once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, TomlPlace] = {}
        self.counts: dict[Path, int] = {}  # tables in each array of tables

    def places(self) -> dict[Path, TomlPlace]:
        table: Path = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            brackets = 2 if self.text.startswith("[[", self.at) else 1
            if self.text[self.at] != "[":
                self.pair(table)
            else:
                start = self.at
                self.at += brackets
                self.skip(_SPACE)
                keys = self.key()
                self.at += brackets
                table = self.header(keys, start, brackets == 2)
            self.skip(_BLANK)
        return self.found

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"no TOML at {self.at}")
        self.at = match.end()
        return match.group()

    def key(self) -> list[str]:
        """Reads a dotted key and the blanks after it."""
        names = []
        while True:
            self.skip(_SPACE)
            quote = self.text[self.at]
            if quote in "'\"":
                text = self.skip(_LITERAL if quote == "'" else _BASIC)
                names.append(tomllib.loads(f"key = {text}")["key"])
            else:
                names.append(self.skip(_BARE))
            self.skip(_SPACE)
            if self.text[self.at] != ".":
                return names
            self.at += 1

    def header(self, keys: list[str], start: int, is_array: bool) -> Path:
        path: Path = ()
        for name in keys[:-1]:
            path = self.entered((*path, name), start)
        path = (*path, keys[-1])
        if not is_array:
            self.found[path] = TomlPlace(start)
            return path
        number = self.counts.get(path, 0)
        self.counts[path] = number + 1
        self.found.setdefault(path, TomlPlace(start))
        self.found[(*path, number)] = TomlPlace(start)
        return (*path, number)

    def entered(self, path: Path, start: int) -> Path:
        """Returns the path of a table that a key passes through: of an array, the last table."""
        self.found.setdefault(path, TomlPlace(start))
        return (*path, self.counts[path] - 1) if path in self.counts else path

    def pair(self, table: Path) -> None:
        start = self.at
        path = table
        keys = self.key()
        for name in keys[:-1]:
            path = self.entered((*path, name), start)
        self.at += 1  # the sign =
        self.skip(_SPACE)
        self.value((*path, keys[-1]), start)

    def value(self, path: Path, key: int) -> None:
        start = self.at
        self.found[path] = TomlPlace(key)  # before those of its entries
        match self.text[start : start + 1]:
            case "[":
                self.entries(path)
            case "{":
                self.inline(path)
            case '"':
                self.skip(_LONG_BASIC if self.text.startswith('"""', start) else _BASIC)
            case "'":
                self.skip(_LONG_LITERAL if self.text.startswith("'''", start) else _LITERAL)
            case _:
                self.skip(_OTHER)
        self.found[path] = TomlPlace(key, start, self.at)

    def entries(self, path: Path) -> None:
        self.at += 1
        number = 0
        while True:
            self.skip(_BLANK)
            if self.text[self.at] == "]":
                break
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self.value((*path, number), self.at)
            number += 1
        self.at += 1

    def inline(self, path: Path) -> None:
        self.at += 1
        while True:
            self.skip(_BLANK)
            if self.text[self.at] == "}":
                break
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self.pair(path)
        self.at += 1


MAX_LINE, MAX_TEXT = 400, 100_000  # characters in which a mend is looked for
MAX_MISTAKES = 20

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_VALUE = re.compile(r"(?<![=<>!])[=\[{,]\s*(?=[^\s\"'=,\]}#])")  # behind it a value may begin
_STOP = re.compile(r"(?=\s*(?:[,\]}#]|$))")
_CURLED = str.maketrans("“”„‟‘’‚", '""""\'\'\'')
_KEY = r"[\w.-]+"
_PLAIN = re.compile(r"|[+-]?\d+(?:\.\d+)?|true|false")  # needs no quotes
_HEADER = re.compile(r"\s*\[+\s*([^\]=]+?)\s*\]+\s*(?:#.*)?$")


def not_toml(text: str, error: tomllib.TOMLDecodeError) -> CaseError | Mistakes:
    """Returns the mistakes of a text that `tomllib` has refused, each with its line.

    Where a mistake has a mend, the text is read on with it.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    other = _other_format("\n".join(lines))
    if other:
        found = SyntaxMistake(other[0], "", 0, other[1])
        found.file_line = 1
        return found
    mistakes: list[CaseError] = []
    left: tomllib.TOMLDecodeError | None = error
    while left is not None and len(mistakes) < MAX_MISTAKES:
        mistake, number, healed = _mistake(lines, left)
        mistakes.append(mistake)
        left = None
        if healed is not None:
            lines[number - 1] = healed
            left = _refused(lines)
    return mistakes[0] if len(mistakes) == 1 else Mistakes(mistakes)


def _mistake(lines: list[str], error: tomllib.TOMLDecodeError) -> tuple[SyntaxMistake, int, str | None]:
    """Returns the first mistake in the lines, the number of its line, and that line without it if known."""
    number, column = _place(lines, error)
    told = _AT.sub("", str(error))
    if column == 0 and number > 1 and "'\\n'" in told:  # it was the end of the line before
        number, column = number - 1, len(lines[number - 2])
    reason, mend, healed = f"not TOML: {told}", "", None
    if re.match(r"Cannot (?:declare|overwrite|mutate)", told):
        reason, mend = _twice(lines, number)
        column = 0
    elif sum(map(len, lines)) <= MAX_TEXT:
        shown, healed = _healed(lines, number, column)
        mend = f"write {shown}" if shown else ""
        reason = f"{reason}; put texts and formulas in quotes" if shown and '"' in shown else reason
    found = SyntaxMistake(reason, lines[number - 1], min(column, len(lines[number - 1])), mend)
    found.file_line = number
    return found, number, healed


def _place(lines: list[str], error: tomllib.TOMLDecodeError) -> tuple[int, int]:
    """Returns the line, from 1, and the column, from 0, of an error; at the end, those of the last text."""
    at = _AT.search(str(error))
    if at and at[1]:
        return int(at[1]), int(at[2]) - 1
    last = max((n for n, line in enumerate(lines, start=1) if line.strip()), default=1)
    return last, len(lines[last - 1])


def _refused(lines: list[str]) -> tomllib.TOMLDecodeError | None:
    """Returns how `tomllib` refuses lines, if it does."""
    try:
        tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError as error:
        return error
    except (ValueError, RecursionError):
        return None
    return None


def _other_format(text: str) -> tuple[str, str] | None:
    """Returns what a text is that is not meant to be TOML, and what to do."""
    start = text.lstrip()
    if start[:1] in ("{", "["):
        try:
            json.loads(text)
            return (
                "this is JSON, not TOML",
                'a case file has lines such as kind = "geometric" below [mechanism]',
            )
        except (ValueError, RecursionError):
            pass
    if start.startswith("<"):
        return "this is XML or HTML, not TOML", 'a case file has lines such as kind = "geometric"'
    if re.match(r"(?:from \w[\w.]* import |import \w|def \w+\(|@\w|class \w+[:(])", start):
        return (
            "this is a Python program, not TOML",
            'name it in a case: write kind = "program" and file = "NAME.py" below [mechanism]',
        )
    if re.match(r"\((?:set-logic|declare-|define-|assert|set-option|set-info)", start):
        return "this is SMT-LIB, not TOML", "`verify` and `compare` read it if its name ends with .smt2"
    if re.match(r"(?:dtmc|mdp|ctmc|pta|probabilistic|nondeterministic)\b", start):
        return "this is a PRISM model, not TOML", "use `paramverify logic`, which reads PRISM models"
    plain = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    keys = sum(bool(re.match(rf"\s*(?:- )?{_KEY}:(?:\s|$)", line)) for line in plain)
    if plain and (plain[0].strip() == "---" or keys * 2 > len(plain)):
        return "this is YAML, not TOML", "write key = value, and [table] above the keys of a table"
    return None


def _twice(lines: list[str], number: int) -> tuple[str, str]:
    """Returns the reason and the mend for a line with what stands in an earlier one already."""
    try:
        places = TomlPlaces.of("\n".join(lines[: number - 1]))
    except (ValueError, IndexError, RecursionError):
        return "not TOML: this is defined twice", ""
    header = _HEADER.match(lines[number - 1])
    if header:
        first = places.line_of(header[1])
        mend = "put the keys of both below one of them"
        return f"not TOML: the table [{header[1]}] is defined already, at line {first}", mend
    headers = [match for line in lines[: number - 1] if (match := _HEADER.match(line))]
    key = lines[number - 1].partition("=")[0].strip()
    name = f"{headers[-1][1]}.{key}" if headers else key
    return (
        f"not TOML: the key {name} is defined already, at line {places.line_of(name)}",
        "delete one of them",
    )


def _healed(lines: list[str], number: int, column: int) -> tuple[str, str | None]:
    """Returns what to write in a line, and the whole line with it, where the text is TOML up to its end then,
    or up to a later mistake."""
    line = lines[number - 1]
    for told, other, end in _proposals(line, column) if len(line) <= MAX_LINE else ():
        error = _refused([*lines[: number - 1], other, *lines[number:]])
        if error is None or _place(lines, error) > (number, end):
            return told, other
    return "", None


def _proposals(line: str, column: int) -> Iterator[tuple[str, str, int]]:
    """Yields what may be meant: the part to be told, the whole line with it, and where that part ends."""
    for told, other in _other_signs(line):
        yield told, other, len(other)
    starts = [match.end() for match in _VALUE.finditer(line) if match.end() <= column + 1]
    for start in reversed(starts):
        for stop in [match.start() for match in _STOP.finditer(line, start + 1)]:
            value = line[start:stop]
            if (
                '"' not in value
                and not _PLAIN.fullmatch(value.strip())
                and value.count("(") == value.count(")")
            ):
                quoted = _quoted(value)
                yield quoted, line[:start] + quoted + line[stop:], start + len(quoted) + 1
    for start in [match.start() for match in re.finditer(r"[\"']", line)]:  # a quote that is not closed
        for stop in [match.start() for match in _STOP.finditer(line, start + 1)]:
            closed = line[:stop] + line[start] + line[stop:]
            yield line[start:stop] + line[start], closed, len(closed)
    for start in reversed(starts):  # or not opened
        for stop in [match.end() for match in re.finditer(r"[\"']", line) if match.end() > start]:
            opened = line[:start] + line[stop - 1] + line[start:]
            yield line[stop - 1] + line[start:stop], opened, len(opened)


def _other_signs(line: str) -> Iterator[tuple[str, str]]:
    """Yields the line with the signs of TOML in the place of others: quotes, `:`, `==`, a bracket."""
    plain = line.translate(_CURLED)
    if plain != line:
        yield f"plain quotes: {plain.strip()}", plain
    other = re.match(rf"(\s*{_KEY})\s*(?::|==|:=)\s*(\S.*)$", line)
    if other:
        for value in (other[2], _quoted(other[2])):
            yield f"{other[1].strip()} = {value}", f"{other[1]} = {value}"
    shorter = re.sub(r",(?=\s*\})", "", line)
    if shorter != line:
        yield f"{shorter.strip()}, without the last comma", shorter
    if line.lstrip().startswith("[") and "=" not in line and "]" not in line:
        yield f"{line.strip()}]", f"{line.rstrip()}]"


def _quoted(value: str) -> str:
    """Returns an unquoted value as it is to be written; percent and a decimal comma as numbers are."""
    value = value.strip()
    word = {"True": "true", "False": "false"}.get(value)
    if word:
        return word
    share = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", value)
    if share:
        return f'"{share[1]}/100"'
    comma = re.fullmatch(r"(\d+),(\d+)", value)
    return f'"{comma[1]}.{comma[2]}"' if comma else f'"{value}"'
