"""Certificates about many sequences: the program that is extracted from Coq says what Python says."""

from __future__ import annotations

import copy
import inspect
import json
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from cone_documents import Json, cone_kinds, model_of, private
from conftest import ROOT
from three_checkers import NOT_KNOWN, agreed, built, by_program, changed
from written_evidence import with_first

from paramverify.cli.main import run
from paramverify.kernel import evidence_shapes

CASES = ("time-series-2-all", "survey-memory-all")  # with parameters in the steps, and in the bound
KINDS = cone_kinds()


def rule_of(document: Json) -> str:
    """Returns the rule of a certificate."""
    (rule,) = [each["rule"] for each in document["statements"] if each["kind"] == "cone"]
    return str(rule)


NUMBERS = [n for n, d in KINDS.items() if rule_of(d) != "loop" and not d["domains"][0]["variables"]]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """Evidence of cases about every length."""
    found = []
    for case in CASES:
        path = tmp_path_factory.mktemp("cones") / "evidence.json"
        run(["verify", str(ROOT / "cases" / f"{case}.toml"), "--evidence", str(path)])
        found.append(json.loads(path.read_text(encoding="utf-8")))
    assert [rule_of(document) for document in found] == ["ratios", "ratios"]
    return found


def test_true_certificates_are_accepted(shipped: list[Json], tmp_path: Path) -> None:
    """Every kind of certificate, and those of shipped cases: both accept them, with the same counts."""
    assert {rule_of(document) for document in KINDS.values()} == {"closed", "levels", "ratios", "loop"}
    documents = [*KINDS.values(), *shipped]
    counts = agreed(documents, tmp_path)
    assert counts == {"accepted": len(documents)}


def test_changed_certificates_get_the_same_answers(shipped: list[Json], tmp_path: Path) -> None:
    """Certificates with one part changed, or mangled as text: both accept them, or both reject them."""
    counts = agreed(changed([*KINDS.values(), *shipped], 320, 41), tmp_path)
    assert min(counts["rejected"], counts["no evidence"], counts["accepted"]) > 8, counts
    assert counts.get(NOT_KNOWN, 0) < 15, counts


@pytest.mark.parametrize("name", NUMBERS)
def test_no_bound_that_a_short_sequence_passes_is_accepted(name: str, tmp_path: Path) -> None:
    """Numbers of the model are changed. Where a short sequence then passes the bound, nothing is accepted."""
    checker, random, paths = built(), Random(name), list[Path]()
    document = KINDS[name]
    lengths = document["statements"][0].get("lengths", (1, 2, 3))
    while len(paths) < 25:
        new = copy.deepcopy(document)
        model = model_of(new)
        part = random.choice((model["ratio"], random.choice(model["steps"])))
        part[-1] = str(Fraction(random.randrange(1, 8), random.randrange(1, 8)))
        start = random.choice(model["pairs"][0][2:])["weights"]
        start[random.choice(list(start))] = str(Fraction(random.randrange(1, 8), 4))
        if not private(model, lengths):
            paths.append(tmp_path / f"{len(paths)}.json")
            paths[-1].write_text(json.dumps(new))
    assert {answer.word for answer in by_program(checker, paths)} == {"rejected"}


def test_what_does_not_follow_is_missed(tmp_path: Path) -> None:
    """Each claim is needed: without it, or with another one in its place, nothing is shown."""
    made: list[bytes] = []
    for document in KINDS.values():
        for k, entry in enumerate(document["statements"]):
            if entry["kind"] == "comparison":
                without, higher, lower = (copy.deepcopy(document) for _ in range(3))
                del without["statements"][k]
                higher["statements"][k]["polynomial"] += " + 1"
                lower["statements"][k]["polynomial"] += " - 1"
                made += [json.dumps(d).encode() for d in (without, higher, lower)]
    assert len(made) >= 9
    assert agreed(made, tmp_path) == {"rejected": len(made)}


def test_the_program_has_all_keys(tmp_path: Path) -> None:
    """No key that Python knows in such a document is called unknown."""
    kinds = inspect.getclosurevars(evidence_shapes.CONE).nonlocals["kinds"]
    paths: list[Path] = []
    for document in KINDS.values():
        own = document["statements"][0]
        known = inspect.getclosurevars(kinds[own["rule"]]).nonlocals["known"]
        assert len(known) > 5
        for key in known:
            paths.append(tmp_path / f"{len(paths)}.json")
            paths[-1].write_text(json.dumps(with_first(document, **{key: None})))
    told = [" ".join(answer.lines) for answer in by_program(built(), paths)]
    assert [line for line in told if "this key is unknown" in line] == []
