"""What is wrong with a text that is no TOML, in the words of its author, and what to write instead.

A proposal is made only where the text is TOML with it, or goes wrong in a later line only.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator

from paramverify.errors import CaseError, Mistakes, SyntaxMistake
from paramverify.toml_places import TomlPlaces

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
        reason = f"{reason}; texts and formulas stand in quotes" if shown and '"' in shown else reason
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
            'a case names it: write kind = "program" and file = "NAME.py" below [mechanism]',
        )
    if re.match(r"\((?:set-logic|declare-|define-|assert|set-option|set-info)", start):
        return "this is SMT-LIB, not TOML", "a case file says what a mechanism does, not its formula"
    if re.match(r"(?:dtmc|mdp|ctmc|pta|probabilistic|nondeterministic)\b", start):
        return "this is a PRISM model, not TOML", "`paramverify logic` reads it"
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
        return "not TOML: this stands here twice", ""
    header = _HEADER.match(lines[number - 1])
    if header:
        first = places.line_of(header[1])
        mend = "put the keys of both below one of them"
        return f"not TOML: the table [{header[1]}] stands at line {first} already", mend
    headers = [match for line in lines[: number - 1] if (match := _HEADER.match(line))]
    key = lines[number - 1].partition("=")[0].strip()
    name = f"{headers[-1][1]}.{key}" if headers else key
    return f"not TOML: the key {name} stands at line {places.line_of(name)} already", "delete one of them"


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
