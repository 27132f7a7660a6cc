"""Lower bounds of budgets by the program that is extracted from Coq: as in Python, and none is false."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT
from engine_documents import told
from forger import forgeries
from oracle_tools import Json, Runs, points_of
from test_proved_systems import leaking, weight_of
from three_checkers import NOT_KNOWN, agreed, built, by_program, changed

from paramverify.interactive.system_cases import load
from paramverify.interactive.system_certificates import budget_document
from paramverify.interactive.system_verification import tight_budget
from paramverify.kernel.documents import engine_of

# Without an observation, with numbers, with E = exp(q), with parameters, and with hidden steps.
SHIPPED = ("slots-0", "slots-2-one-value", "slots-2-laplace", "sample-n", "survey", "unwinding-add-only")


def tight(ratio: str = "2", **changes: object) -> Json:
    """Returns that the answer 0 is 1/2 likely with a data point, and 1/4 without it."""
    seen: Json = {"left": [0, 1], "right": [1], "place": 0, "trace": [1, 2]}
    return leaking(ratio, tight={**seen, "closed": False, "probabilities": ["1/2", "1/4"], **changes})


@pytest.fixture(scope="module")
def budgets() -> list[Json]:
    """Evidence of the budgets of shipped cases, and a bound that is reached at a point."""
    cases = [load(ROOT / "cases" / "interactive" / f"{name}.toml") for name in SHIPPED]
    found = [json.loads(json.dumps(budget_document(case, tight_budget(case)))) for case in cases]
    return [*found, tight(), tight(parameters={})]


def test_shipped_budgets_get_the_same_answers(budgets: list[Json], tmp_path: Path) -> None:
    """All are accepted; of changed ones both say the same, and what is not known is rare."""
    assert agreed(budgets, tmp_path / "true") == {"accepted": len(budgets)}
    counts = agreed(changed(budgets, 90, 43), tmp_path)
    assert counts["rejected"] > 35, counts
    assert counts.get(NOT_KNOWN, 0) < 8, counts


def test_what_an_observation_does_not_show(tmp_path: Path) -> None:
    """Other numbers, other inputs, other observations and other points are rejected."""
    right = [tight(), tight("3"), tight(parameters={}), tight(closed=True)]
    right += [tight(left=[1], right=[0, 1], probabilities=["1/4", "1/2"]), leaking("2", tight=None)]
    wrong = [
        tight(probabilities=two) for two in (["1/2", "1/5"], ["1/3", "1/4"], ["1/4", "1/2"], ["1", "1/2"])
    ]
    wrong += [tight(trace=[1, 2, 2], probabilities=["0", "0"]), tight(trace=[0]), tight(trace=[1, 4])]
    wrong += [tight(place=1), tight(right=[0, 1]), tight(left=[0, 2]), tight(left=[1]), tight(right=[])]
    wrong += [tight(parameters={"p": "1"}), tight("19/10"), {**tight(), "status": "violated"}]
    assert agreed(right, tmp_path) == {"accepted": len(right)}
    assert agreed(wrong, tmp_path / "wrong") == {"rejected": len(wrong)}


def test_no_false_lower_bound_is_accepted(budgets: list[Json], tmp_path: Path) -> None:
    """Where changed evidence is accepted, the system has the probabilities that are told."""
    paths, random = list[Path](), Random(8)
    small = [d for d in budgets if "constant" not in d["domains"][0] and told(d)["tight"]]
    for document in small:
        made = (
            new for what, new in forgeries(document, random, budgets) if "tight" in what or "system" in what
        )
        for new in islice(made, 60):
            paths.append(tmp_path / f"{len(paths)}.json")
            paths[-1].write_text(json.dumps(new))
    words = [answer.word for answer in by_program(built(), paths)]
    accepted = [path for path, word in zip(paths, words, strict=True) if word == "accepted"]
    assert len(accepted) > 5
    for path in accepted:
        given = json.loads(path.read_text())
        document = told(given) if engine_of(given) else {}
        tight_at = document.get("tight")
        for point in points_of(document["domain"], random, 1) if tight_at else []:
            at = {name: Fraction(text) for name, text in tight_at.get("parameters", {}).items()} or point
            runs = Runs(document, at)
            for side, weight in zip(("left", "right"), tight_at["probabilities"], strict=True):
                low, high = runs.seen(tuple(tight_at[side]), tuple(tight_at["trace"]))
                value, slack = weight_of(weight, at), Fraction(1, 10**12)
                assert tight_at["closed"] or low - slack <= value <= high + slack, path
            assert weight_of(tight_at["probabilities"][1], at) > 0
