"""Texts of documents in messages, and shapes of objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from paramverify.kernel import strict_reading
from paramverify.kernel.evidence_shapes import (
    BUDGET,
    ENVELOPE,
    FORMAT,
    VERSION,
    formula,
    natural,
    or_word,
    proof,
    release,
)
from paramverify.kernel.strict_reading import (
    Misformed,
    Rejected,
    Shape,
    check,
    index,
    listed,
    names,
    place,
    plain,
    read,
    record,
    row,
    shown,
    statement_of,
    table,
    tagged,
    text,
    told_witness,
    whole,
)

SHORT = "a" * (strict_reading.SHOWN - 2)  # as long as is shown, with both quotes


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1}, "an object"),
        ([1], "a list"),
        (12, "12"),
        (SHORT, f"'{SHORT}'"),
        (f"{SHORT}b", f"'{SHORT}b..."),
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
    assert place(["a" * 40, "a" * 41, "..."]) == f"{'a' * 40}['{'a' * 41}']...."
    assert place([*range(12)]) == "".join(f"[{k}]" for k in range(12))
    assert place([*range(13)]) == "[0][1][2][3][4][5]....[10][11][12]"


def test_documents_that_can_be_read_in_two_ways() -> None:
    """No key is there twice, no number is a text, no text has half of a character; the place is named."""
    check(read('["\\udbff\\udc00", "\\ud7ff\\ue000\u00e9"]'), listed(text))
    for written, shape, words in (
        ('{"a": 1, "b": 2, "b": 2}', table(whole), "one with the key 'b' twice"),
        ('{"c": {"b": 1, "b": 2}}', record({"c": table(whole)}), "c: .*one with the key 'b' twice"),
        ('{"a": {"1": 2, "02": 3}}', table(table(whole, index)), "a.*02.*: must be the digits"),
        ('{"a": {"1": "2"}}', table(table(whole, index)), "a.*1.*: must be a whole number"),
        ('["a", "\\ud800"]', listed(text), r"\[1\]: this is not text"),
    ):
        with pytest.raises(Misformed, match=words):
            check(read(written), shape)


def nested(depth: int) -> str:
    return '{"a": [' * (depth // 2) + "[]" * (depth % 2) + "]}" * (depth // 2)


def test_nesting_and_long_numbers() -> None:
    """A document has some levels and no more, and whole numbers have few digits."""
    assert read(nested(201))
    for depth in (202, 100_000):
        with pytest.raises(Rejected, match="nested deeper than 200 levels"):
            read(nested(depth))
    for digits in ("9" * 18, "-" + "9" * 17, "0"):
        assert read(digits) == int(digits)
    with pytest.raises(Misformed, match=f"not {'9' * 18}..., which is too long"):
        check(read("9" * 19), whole)
    with pytest.raises(Rejected, match="not JSON: Expecting value"):
        read("[1,")

    def endless(value: Any) -> None:
        endless(value)

    with pytest.raises(Misformed, match="the document: nested deeper than 200 levels"):
        check(0, endless)


BOUND: dict[str, Any] = {"kind": "bound", "bound": None, "witnesses": []}
EMPTY = {"format": FORMAT, "version": VERSION, "status": "holds", "domains": [], "statements": []}
LONG = "9" * strict_reading.MAX_DIGITS


def shapes() -> Iterator[tuple[Shape, list[Any], list[Any]]]:
    """Yields shapes, with values of each and with what is none."""
    yield whole, [0, -1], [True, "1", 1.0, None]
    yield natural, [0, 1], [True, -1, "1", 1.0]
    yield strict_reading.flag, [True, False], [0, None]
    yield text, ["", "\ud7ff\ue000"], [None, "a\ud800", "\udfff"]
    yield strict_reading.rational, ["-0/09", "12"], ["1/0", "1/00", "+1", "", "1.5", "1/-2", 1]
    yield strict_reading.short, [f"-{LONG}/{LONG}"], [f"1/1{LONG}", f"1{LONG}", f"-1{LONG}/2", "1.5", 1]
    yield index, ["0", "10", "9" * 18], ["", "01", "-1", "9" * 19, "1 "]
    yield strict_reading.one_of(0, "a"), [0, "a"], [False, [], "0", None, 0.0]
    yield listed(whole), [[], [1, 2]], [{}, [1, ""], "ab"]
    yield names, [[], ["a", "b"]], [["a", "b", "a"], [1], "ab"]
    yield row(text, whole), [["", 1]], [[""], ["", 1, 2], ["", ""], 5]
    yield row(text, text), [["", ""]], ["ab", {"a": 1, "b": 2}]
    yield table(whole), [{}, {"a": 1}], [[], {"a": ""}, {"\ud800": 1}]
    yield record({"a": text}, {"b": text}), [{"a": ""}, {"b": "", "a": ""}], [{"b": ""}, {"a": "", "b": 1}]
    yield record({"a": text}), [{"a": ""}], [[], {"a": 1}, {"a": "", "b": ""}]
    either = strict_reading.tagged_row({"a": (), "b": (whole, text)})
    yield either, [["a"], ["b", 1, ""]], [[], {"a": 1}, ["a", 1], ["c"], [["a"]], ["b", 1, 1]]
    either = tagged("kind", {"a": record({"kind": text}), "b": record({"kind": text, "c": whole})})
    yield either, [{"kind": "a"}, {"kind": "b", "c": 1}], [[], {}, {"kind": "c"}, {"kind": []}, {"kind": "b"}]
    yield strict_reading.by_type({int: whole}), [3], [True, None]
    yield or_word("none"), ["1/2", "none"], ["infinity", 1]
    yield proof, [{"kind": "constant"}], [{}, {"kind": "none"}]
    yield release, [{"kind": "gaussian", "sigma": "1", "sensitivity": "2"}], [{"kind": "none"}]
    yield formula, [["true"]], [["true", 1], ["none"]]
    told = {"parameters": {}, "secrets": [], "bound": "1", "exceeds": True}
    output = {**told, "observations": [], "probabilities": ["1", "1"], "ratio": "1"}
    total = {**told, "length": 1, "moment": "1", "largest": []}
    good, wrong = [output, {**total, "order": 2}, {**total, "measure": "kl"}], [5, "moment", total, told]
    yield BUDGET, [{**BOUND, "witnesses": good}], [{**BOUND, "witnesses": [w]} for w in wrong]
    pair = {"noise": [], "ties": "first", "answers": 2, "differ": "one", "by": "1", "left": [], "right": []}
    wrong = [5, "domain", {}, {**pair, "domain": 0}]
    yield ENVELOPE, [EMPTY, {**EMPTY, "reduction": pair}], [{**EMPTY, "reduction": w} for w in wrong]


def test_shapes() -> None:
    """Each shape has its values and no others."""
    for shape, good, wrong in shapes():
        for value in good:
            check(value, shape)
        for value in wrong:
            with pytest.raises(Misformed):
                check(value, shape)


def test_counts_places_and_claims_in_words() -> None:
    """Several things have an s; what is rejected inside has its place before it; long texts are cut."""
    assert [strict_reading.counted(n, "sum") for n in (1, 2, 1000)] == ["1 sum", "2 sums", "1,000 sums"]
    with pytest.raises(Misformed, match=r"^a\[1\]: b: so$"), strict_reading.placed("a", 1):
        raise Misformed("so", "b")
    long = ["p" * 60, "p" * 61]
    assert [statement_of({"polynomial": p}) for p in long] == [f"{long[0]} >= 0", f"{long[0]}... >= 0"]
    for left in ([["p", ">"], ["q", ">"], [long[0], ">="]], [[long[1], ">"]]):
        told = f"no point of the domain has {long[0]}{' >= 0' if len(left) > 1 else '... > 0'}"
        assert statement_of({"polynomial": "-1", "constraints": left}) == told
        assert statement_of({"polynomial": "1", "constraints": left}) == "1 >= 0"
    assert statement_of({"polynomial": "-1", "constraints": []}) == "-1 >= 0"


ABOUT = {"secrets": ["a", "b"], "statement": "s", "observations": ["x", "y"], "claim": {"polynomial": "p"}}
AT = {"p": "1/2", "q": {"lower": "0", "upper": "1", "root_of": "x"}, "\t": "1" * 61}


def test_witnesses_in_words() -> None:
    """With names what is compared is told, without them the claim, and the point in both cases."""
    for witness, named, words in (
        (ABOUT, True, "(a against b, output x y) "),
        (ABOUT, False, "(p >= 0) "),
        ({"statement": "s", "observations": [], "claim": {"polynomial": "p"}}, True, "(s) "),
        ({"statement": "s", "claim": {}}, False, ""),
        ({"secrets": ["\t"]}, True, "(\\t) "),
        ({}, False, ""),
    ):
        told = f"witness: the claim {words}is false"
        assert told_witness(witness, named) == told
        told += f" at p = 1/2, q = a root from 0 to 1, \\t = {'1' * 60}..."
        assert told_witness({**witness, "parameters": AT}, named) == told
