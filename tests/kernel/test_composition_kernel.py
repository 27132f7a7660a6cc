"""The kernel of compositions by itself: what is exact, what was asked, and what a document does not show."""

from __future__ import annotations

from typing import Any

import pytest
from engine_documents import engine_document

from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import KernelReport

Release = dict[str, Any]
LEFT = ("releases of cases with their files",)


def table(*outputs: tuple[str, str]) -> Release:
    """A release with a list of masses."""
    return {"kind": "table", "outputs": [list(each) for each in outputs]}


FAR = table(("9/10", "1/10"), ("1/10", "9/10"))
NEAR = table(("1/2", "1/2"), ("1/2", "1/2"))
RESPONSE = {"kind": "randomized_response", "step": ["0", "9"], "values": "2"}  # the same as FAR


def replayed(
    dominating: Release, pairs: list[Release], question: dict[str, Any], **found: Any
) -> KernelReport:
    """What the kernel says of one release."""
    direction = {"grid": None, "spans": [], "choice": [0]}
    parts = {
        "components": [{"times": 1, "ways": [{"dominating": dominating, "pairs": pairs}]}],
        "question": question,
        "directions": [direction],
        **{"exact": None, "lower": None, "upper": None, **found},
    }
    return check_document(engine_document("composition", "bounds", **parts))


ONE = {"epsilon": ["0", "1"]}
ASKED: list[tuple[dict[str, Any], dict[str, str]]] = [
    (ONE, {"exact": "4/5"}),
    ({"delta": "0"}, {"exact": "9"}),
    ({"delta": "1/10"}, {"exact": "8"}),
    ({"delta": "0"}, {"lower": "2", "upper": "3"}),
    (ONE, {"lower": "4/5", "upper": "4/5"}),
]


@pytest.mark.parametrize(("question", "found"), ASKED)
@pytest.mark.parametrize("pairs", [[NEAR], [NEAR, FAR], [NEAR, NEAR]])
def test_what_dominates_says_nothing_exact_of_others(
    pairs: list[Release], question: dict[str, Any], found: dict[str, str]
) -> None:
    """Numbers of the dominating pair are exact where it is the only one, and bound none of another."""
    assert replayed(FAR, [], question, **found).accepted
    assert replayed(FAR, [FAR], question, **found).accepted
    assert not replayed(FAR, pairs, question, **found).accepted


def test_what_was_asked_is_told() -> None:
    """A number says nothing without the ε or the δ that it is about."""
    told = replayed(FAR, [], ONE, exact="4/5").lines
    assert "asked: the least delta for epsilon = 0" in told
    assert (
        "asked: the least delta for epsilon = ln(2)"
        in replayed(FAR, [], {"epsilon": ["0", "2"]}, exact="7/10").lines
    )
    assert (
        "asked: the least epsilon for delta = 1/10" in replayed(FAR, [], {"delta": "1/10"}, exact="8").lines
    )


QUESTIONS: list[dict[str, Any]] = [{}, {**ONE, "delta": "1/10"}, {"epsilon": ["-1", "1"]}]


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_thing_is_asked(question: dict[str, Any]) -> None:
    """Either ε from 0 on, or δ: also where the number is exact."""
    assert not replayed(FAR, [], question, exact="4/5").accepted


def test_tables_need_a_case() -> None:
    """A table without the name of its case is as little shown as one with it; noise stands for itself."""
    assert replayed(FAR, [], ONE, exact="4/5").not_compared == LEFT
    assert replayed(RESPONSE, [], ONE, exact="4/5").not_compared == ()


NO_DISTRIBUTIONS = [
    (table(("1", "1/2"), ("0", "1/4")), "1/2"),
    (table(("1/2", "1/2"), ("1/4", "1/2")), "0"),
    (table(("3/2", "1/2"), ("-1/2", "1/2")), "1"),
    (table(("1/2", "3/2"), ("1/2", "-1/2")), "1"),
]


@pytest.mark.parametrize(("wrong", "exact"), NO_DISTRIBUTIONS)
def test_masses_of_a_table_are_those_of_distributions(wrong: Release, exact: str) -> None:
    """Both sum to one, and none is negative, whatever the numbers of such a table would be."""
    assert "not two distributions" in replayed(wrong, [], ONE, exact=exact).lines[-1]
