"""Mangled files: shipped ones with a mistake or two, as characters, as tokens, and as TOML or JSON data."""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

NASTY = [
    *("", " ", "0", "-1", "1e400", "-1e400", "1e-400", "1e999999999", "inf", "nan", "NaN", "Infinity", "1/0"),
    *("9" * 400, "9" * 5000, "²", "٣", "é", "\ufeff", "\0", "\x1b[31m", "\r\n", "\r", "\t", "\u2028", "😀"),
    *("(" * 300, ")" * 3, "[" * 300, "{" * 40, "X " * 400, "! " * 400, "-" * 500, "not " * 300),
    *("1+" * 3000 + "1", "a.b.c", "a." * 300 + "a", "\ud800", "os:system", "../../etc/passwd"),
    *("p", "p**999", "p**-1", "p/(p-p)", "exp(1e400)", "exp(1)", "ln(0)", "ln(2)", "ln(ln(2))", "p == p"),
    *("'x'", '"', "'", "#", "=", ">=", "all", "1..0", "1..99999", "..", "_one_shot", "__init__", "/dev/null"),
    *(
        "true",
        "false",
        "True",
        "None",
        "null",
        "E",
        "min()",
        "max(p)",
        "abs(p)",
        "(0, 1]",
        "[1, 0]",
        "[0, 0]",
    ),
    *(
        "(-1, 1)",
        "(0, 1e400)",
        "pairs",
        "file",
        "kind",
        "$",
        "%",
        "\\",
        "\\u0000",
        "$x^{$",
        "\\frac{",
        "_",
        "⊥",
    ),
]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 10**30, 10**4000, 0.5, [], {}, [[]], [1, 2], ["a", "b"], {"a": 1}),
    *({"": {}}, [["a", "a"]]),
]
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def mangled(text: str, rng: random.Random, form: str = "") -> bytes:
    """Returns the text with one to three mistakes; `form` may be toml or json, for mistakes in the data."""
    way = rng.randrange(4)
    if way < 2 and form:
        data = tomllib.loads(text) if form == "toml" else json.loads(text)
        for _ in range(rng.randint(1, 2)):
            _change(data, rng)
        written = toml(data) if form == "toml" else json.dumps(data)
        return written.encode("utf-8", "surrogatepass")
    for _ in range(rng.randint(1, 3)):
        text = _tokens(text, rng) if way < 3 else _characters(text, rng)
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        data = rng.choice(
            [
                b"\xef\xbb\xbf" + data,
                data.replace(b"\n", b"\r\n"),
                text.encode("utf-16", "surrogatepass"),
                data + b"\xff",
            ]
        )
    return data


def nasty(rng: random.Random) -> str:
    """Returns a text that is seldom right."""
    return rng.choice(NASTY)


def _characters(text: str, rng: random.Random) -> str:
    start = rng.randint(0, len(text))
    end = min(len(text), start + rng.choice((0, 1, 1, 2, 10, 100)))
    found = rng.choice(
        ("", nasty(rng), text[start:end] * 2, text[start:end][::-1], chr(rng.randrange(1, 0x250)))
    )
    return text[:start] + found + text[end:]


def _tokens(text: str, rng: random.Random) -> str:
    tokens = TOKEN.findall(text) or [""]
    k = rng.randrange(len(tokens))
    way = rng.randrange(4)
    if way == 0:
        tokens[k] = rng.choice(tokens)
    elif way == 1:
        tokens[k] = nasty(rng)
    elif way == 2:
        del tokens[k]
    else:
        other = rng.randrange(len(tokens))
        tokens[k], tokens[other] = tokens[other], tokens[k]
    return "".join(tokens)


def _change(data: Any, rng: random.Random) -> None:
    """Makes one mistake somewhere in JSON or TOML data; what is there already may be made twice or moved."""
    places = list(_places(data))
    if not places:
        return
    inside, key = rng.choice(places)
    way = rng.random()
    if way < 0.7:
        inside[key] = _other(inside[key], rng)
    elif way < 0.85:
        del inside[key]
    elif isinstance(inside, dict):
        inside[nasty(rng)] = inside[key]
    else:
        inside.insert(key, rng.choice(inside))


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(data, (dict, list)):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            yield data, key
            yield from _places(data[key])


def _other(value: Any, rng: random.Random) -> Any:
    if isinstance(value, str) and rng.random() < 0.5:
        return _tokens(value, rng)
    if isinstance(value, int) and rng.random() < 0.3:
        return value + rng.choice((-1, 1, 10**6))
    if rng.random() < 0.05:
        for _ in range(300):
            value = [value] if rng.random() < 0.7 else {"a": value}
        return value
    return deepcopy(rng.choice(VALUES)) if rng.random() < 0.4 else nasty(rng)


def toml(data: dict[str, Any]) -> str:
    """Returns tables as TOML text, nested ones inline."""
    return "".join(f"{_key(name)} = {_value(value)}\n" for name, value in data.items() if value is not None)


def _key(name: str) -> str:
    return json.dumps(str(name)).replace("\\ud800", "?")


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(v) for v in value if v is not None) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _key(value)
    return str(value)
