"""Texts of documents in messages, and shapes of objects."""

from __future__ import annotations

from typing import Any

import pytest

from paramverify.kernel.strict_reading import (
    SHOWN,
    Misformed,
    check,
    index,
    listed,
    place,
    plain,
    read,
    record,
    shown,
    table,
    text,
    whole,
)

SHORT = "a" * (SHOWN - 2)  # as long as is shown, with both quotes


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (12, "12"),
        (SHORT, f"'{SHORT}'"),
        (f"{SHORT}b", f"'{SHORT}b..."),
        (f"{SHORT}bc", f"'{SHORT}b..."),
        (f"{SHORT}bc'", f"'{SHORT}b..."),
        ("\x1b[31mä", "'\\x1b[31m\\xe4'"),
    ],
)
def test_a_value_is_one_short_line(value: Any, words: str) -> None:
    """It has no control characters, and says where something is left out."""
    assert shown(value) == words


def test_text_for_a_terminal() -> None:
    """Control characters are written out, others stay; a long text is cut."""
    assert plain("ä\x1b[31m\u202e b") == "ä\\x1b[31m\\u202e b"
    assert plain("abc", 3) == "abc"
    assert plain("abcd", 3) == "abc..."


def test_ways() -> None:
    """A way to a part is written as in programs, and a long one is cut in its middle."""
    assert place(["claims", 3, "a b", "tree"]) == "claims[3]['a b'].tree"
    assert place([]) == "the document"
    assert place([*range(12)]) == "".join(f"[{k}]" for k in range(12))
    assert place([*range(13)]) == "[0][1][2][3][4][5]....[10][11][12]"


def test_objects_have_their_keys_and_no_others() -> None:
    """Some keys are needed, some are not, and each value has its shape."""
    shape = record({"a": text}, {"b": text})
    for value in ({"a": ""}, {"b": "", "a": "x"}):
        shape(value)
    for wrong, words in (
        ({"b": ""}, "the key 'a' is missing"),
        ({"a": "", "c": ""}, "c: this key is not known"),
        ({"a": 1}, "a: must be a string"),
        ({"a": "", "b": 1}, "b: must be a string"),
        ([], "must be an object"),
    ):
        with pytest.raises(Misformed, match=words):
            shape(wrong)
    with pytest.raises(Misformed, match="not known"):
        record({"a": text})({"a": "", "b": ""})


@pytest.mark.parametrize(
    ("written", "shape", "words"),
    [
        ('{"a": 1, "b": 2, "b": 2}', table(whole), "where the key 'b' is there twice"),
        ('{"c": {"b": 1, "b": 2}}', record({"c": table(whole)}), "c: .*the key 'b' is there twice"),
        ('{"a": {"1": 2, "02": 3}}', table(table(whole, index)), "a.*02.*: must be the digits"),
        ('{"a": {"1": "2"}}', table(table(whole, index)), "a.*1.*: must be a whole number"),
        ('{"a": {"1": true}}', table(table(whole)), "must be a whole number, not True"),
        ('["a", "\\ud800"]', listed(text), r"\[1\]: not a text"),
        ('["\\udfff"]', listed(text), r"\[0\]: not a text"),
        ('["\\udbff\\udc00", "\\ud7ff\\ue000\u00e9"]', listed(text), None),
        ('{"a": {"1": 2, "20": 3}}', table(table(whole, index)), None),
    ],
)
def test_documents_that_can_be_read_in_two_ways(written: str, shape: Any, words: str | None) -> None:
    """No key is there twice, no number is a text, no text has half of a character; the place is named."""
    if words is None:
        check(read(written), shape)
    else:
        with pytest.raises(Misformed, match=words):
            check(read(written), shape)
