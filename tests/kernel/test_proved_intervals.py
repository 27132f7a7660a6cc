"""Exact intervals by the program that is extracted from Coq: as in Python, and none is false."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from engine_documents import own
from test_interval_kernel import SAMPLES, is_true, made
from three_checkers import NOT_KNOWN, agreed, built, by_program, changed, in_python

Json = dict[str, Any]


@pytest.fixture(scope="module")
def documents() -> list[Json]:
    """Intervals with open ends, constraints, double roots, zero claims and breaks between rationals."""
    return [json.loads(json.dumps(made(*sample))) for sample in SAMPLES]


def test_intervals_get_the_same_answers(documents: list[Json], tmp_path: Path) -> None:
    """True documents are accepted with the same numbers of parts; of changed ones both say the same."""
    assert agreed(documents, tmp_path / "true") == {"accepted": len(documents)}
    answers = by_program(built(), [tmp_path / "true" / f"{k}.json" for k in range(len(documents))])
    for document, answer in zip(documents, answers, strict=True):
        assert answer.lines == in_python(json.dumps(document).encode()).lines
    counts = agreed(changed(documents, 220, 51), tmp_path)
    assert counts["rejected"] > 110, counts
    assert counts["accepted"] > 4, counts
    assert counts.get(NOT_KNOWN, 0) < 15, counts


def test_moved_ends_and_other_signs_get_the_same_answers(documents: list[Json], tmp_path: Path) -> None:
    """Breaks, cuts, constants and statuses are moved one by one: what is accepted is true at points."""
    texts, samples = list[bytes](), list[int]()
    for k, document in enumerate(documents):
        for new in (*moved(document), *restated(document)):
            texts.append(json.dumps(new).encode())
            samples.append(k)
    assert len(texts) > 100
    counts = agreed(texts, tmp_path)
    assert set(counts) == {"accepted", "rejected"}
    answers = by_program(built(), [tmp_path / f"{k}.json" for k in range(len(texts))])
    for text, k, answer in zip(texts, samples, answers, strict=True):
        assert answer.word == "rejected" or is_true(json.loads(text), SAMPLES[k])


def moved(document: Json) -> list[Json]:
    """Returns the document with one end of a break or one cut at another place."""
    found = []
    for k, at in enumerate(own(document)["breaks"]):
        low, high = map(Fraction, at["between"])
        width = high - low or Fraction(1, 64)
        for ends in ((low - width, high), (low, high + width), (low, low), (high, high), (high, low)):
            found.append(copy.deepcopy(document))
            own(found[-1])["breaks"][k]["between"] = [str(end) for end in ends]
        found.append(copy.deepcopy(document))
        del own(found[-1])["breaks"][k]
    for k, cuts in enumerate(own(document)["cuts"]):
        for new in ([], ["1/7"], [*cuts, *cuts], ["-5"], ["1/2", "1/3"]):
            found.append(copy.deepcopy(document))
            own(found[-1])["cuts"][k] = new
    return found


def restated(document: Json) -> list[Json]:
    """Returns the document with another status, other ends, or another constant of a product."""
    found = []
    for k, part in enumerate(own(document)["parts"]):
        for status in sorted({"safe", "violating", "outside"} - {part["status"]}):
            found.append(copy.deepcopy(document))
            own(found[-1])["parts"][k]["status"] = status
        for side in (0, 1):
            found.append(copy.deepcopy(document))
            own(found[-1])["parts"][k]["closed"][side] ^= True
        found.append(copy.deepcopy(document))
        del own(found[-1])["parts"][k]
    for name in ("products", "constraints"):
        for k in range(len(own(document)[name])):
            for constant in ("0", "-1", "7"):
                found.append(copy.deepcopy(document))
                own(found[-1])[name][k]["constant"] = constant
    return found
