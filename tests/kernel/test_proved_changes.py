"""Evidence of every kind, true and changed: the program that is extracted from Coq says what Python says."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from cone_documents import cone_kinds
from evidence_orders import ORDERS, read, write
from oracle_tools import Json
from test_interval_kernel import SAMPLES, made
from test_leaks_checker import document as growing
from test_proved_compositions import known as compositions
from test_proved_divergences import families, witnesses
from test_proved_environments import NEVER, never
from test_proved_formulas import ending
from test_proved_formulas import stated as formulas
from test_proved_maps import SMALL, with_sums
from test_proved_slots import stated as slots
from test_proved_standing import evidence, statements
from test_unwinding_checker import costs, family, witness
from three_checkers import NOT_KNOWN, about_a_script, agreed, changed, every_kind

# One for each engine, kind of claim and status; `test_forged_evidence` changes those of all orders.
WRITTEN = (
    *("touching-disc", "noisy-max-3-below", "approximate noisy-max-below", "divergences survey-zcdp"),
    *("time-series-2-all", "programs noisy-max-half-noise", "budget of delta", "budget of kl"),
    *("interactive slots-2-symbolic", "interactive slots-1-bad-noise", "budget of sample-n"),
    *("logic survey", "logic interactive-survey", "every slots", "map", "region of sets", "line"),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """Evidence that commands write."""
    folder = tmp_path_factory.mktemp("evidence")
    paths = [write(order, folder) for order in ORDERS if order.name in WRITTEN]
    return [read(path) for path in paths if path]


@pytest.mark.slow
def test_written_evidence_gets_the_same_answers(written: list[Json], tmp_path: Path) -> None:
    """All of it is accepted with the same counts; of changed evidence both say the same."""
    assert len(written) == len(WRITTEN)
    assert agreed(written, tmp_path / "true") == {"accepted": len(written)}
    counts = agreed(changed(written, 60, 61), tmp_path)
    assert counts["rejected"] > 25, counts
    assert counts.get(NOT_KNOWN, 0) < 8, counts


def by_hand() -> list[Json]:
    """Returns small documents of each kind, all true."""
    goal = ["until", ["true"], ["label", "goal"], 0, None]
    found = [
        *(*every_kind().values(), about_a_script(), *cone_kinds().values(), *compositions()),
        *(made(*sample) for sample in SAMPLES),
        *(evidence(about) for about, true in statements(Random(8), 12) if true),
        *(slots(False, True, True, [[1], [1, -1]], 2), slots(True, False, True, [[1]], 1)),
        *(family(), costs(), witness(), growing(), never(NEVER)[0]),
        *(with_sums(SMALL, claims=("2 - p",)), formulas(ending(), ["P", ">=", "5/12", goal], "holds")),
        *(each for each, false in families(6, 4) if not false),
        *(each for each, beyond in witnesses(7, 8) if beyond),
    ]
    return [json.loads(json.dumps(each)) for each in found]


def test_small_documents_get_the_same_answers(tmp_path: Path) -> None:
    """True ones are accepted with the same counts; of changed and of mangled ones both say the same."""
    true = by_hand()
    counts = agreed(true, tmp_path / "true")
    assert counts["accepted"] > len(true) - 8, counts
    counts = agreed(changed(true, 300, 22), tmp_path)
    assert min(counts["rejected"], counts["no evidence"], counts["accepted"]) > 10, counts
    assert counts.get(NOT_KNOWN, 0) < 20, counts
