"""The section of a page that compares backends tells what the summary says, and nothing that it does not."""

from __future__ import annotations

from typing import Any

from paramverify.pages.comparison import backends

COUNTS = ("holds", "violated", "timeout", "out_of_memory", "gave_up", "crashed")
ROW = {
    "encoding": "sequences",
    "backend": "s",
    "simplification": "off",
    "claims": 1,
    "solved": 0,
    "wrong": 1,
    "unconfirmed": 0,
}
PLACE = {"case": "made", "encoding": "sequences", "claim": 1}
DOCUMENT: dict[str, Any] = {
    "timeout": 8,
    "complete": True,
    "raw": False,
    "configurations": [{**ROW, **dict.fromkeys(COUNTS, 0), "par2": 16, "wall": 1, "cpu": "1/3"}],
    "cases": [{"case": "made", "encoding": "sequences", "claims": 1}],
    "simplification": [{"encoding": "sequences", "claims": 1, "settled": 1}],
    "unsolved": [PLACE],
    "skipped": [{"what": "roots", "reason": "not installed"}],
    "disagreements": [{**PLACE, "holds": ["z3 4"], "violated": ["s 1"]}],
    "wrong": [{**PLACE, "backend": "s 1", "known": "holds (certificate)", "said": "violated"}],
}


def test_the_section_tells_what_the_summary_says() -> None:
    """Cases, settled claims, what is left out, contradictions; a number that is not rounded has no `≈`."""
    text = "".join(backends(DOCUMENT).itertext())
    for told in (
        "made (sequences): 1 claim",
        "simplification settled 1 of 1 claim before",
        "roots: not installed",
        "made, claim 1 (sequences)",
        "DISAGREEMENT on made, claim 1 (sequences): true: z3 4; false: s 1",
        "WRONG ANSWER on made, claim 1 (sequences): s 1 said false; known: true (certificate)",
    ):
        assert told in text
    assert "≈ 16" not in text
    assert "Interrupted" not in text
    assert "as they are" not in text
    assert "≈ 0.333" in text


def test_a_part_of_a_comparison_is_none() -> None:
    """A page about a comparison that was interrupted, or without simplification, says so."""
    text = "".join(backends({**DOCUMENT, "complete": False, "raw": True}).itertext())
    assert "Interrupted: what follows is about the claims of which every attempt was made." in text
    assert "In this comparison solvers are asked about claims as they are" in text


def test_nothing_wrong_is_told_as_such() -> None:
    """Without contradictions the section says so."""
    text = "".join(backends({**DOCUMENT, "disagreements": [], "wrong": []}).itertext())
    assert "No two answers contradict each other" in text
    assert "WRONG" not in text
