"""Coq itself computes `check`, and says what the checker in Python says."""

from __future__ import annotations

import shutil
from random import Random
from typing import Any

import pytest
from conftest import ROOT
from coq_batches import answers, proof_row
from forging_tools import points_of, value_of
from three_checkers import every_kind

READY = shutil.which("coqtop") is not None and (ROOT / "proofs" / "theories" / "Check.vo").exists()
NOT_READY = "the proved checker is not built: run `make -C proofs`"


@pytest.mark.slow
@pytest.mark.skipif(not READY, reason=NOT_READY)
def test_coq_accepts_each_kind_and_nothing_false() -> None:
    """Coq accepts a proof of each kind, and rejects it for a claim that is false at a point of its domain."""
    random, true, false = Random(22), [], []
    for document in every_kind().values():
        entry: dict[str, Any] = document["claims"][0]
        claim, proof = entry["claim"], entry["proof"]
        true.append(proof_row(claim, proof))
        for point in points_of(claim, random, 1):
            lowered = f"{claim['polynomial']} - {value_of(claim['polynomial'], point) + 1}"
            false.append(proof_row({**claim, "polynomial": lowered}, proof))
    assert len(false) > 10
    assert answers([*true, *false]) == [True] * len(true) + [False] * len(false)
