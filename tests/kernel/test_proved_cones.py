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
from three_checkers import built, by_program
from written_evidence import with_first

from paramverify.kernel import evidence_shapes

KINDS = cone_kinds()


def rule_of(document: Json) -> str:
    """Returns the rule of a certificate."""
    (rule,) = [each["rule"] for each in document["statements"] if each["kind"] == "cone"]
    return str(rule)


NUMBERS = [n for n, d in KINDS.items() if rule_of(d) != "loop" and not d["domains"][0]["variables"]]


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
