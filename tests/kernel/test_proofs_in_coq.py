"""Coq itself computes what the extracted program computes: it answers the questions of the program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest
from asked_in_coq import PROGRAM, answers, functions
from cone_documents import cone_kinds
from conftest import ROOT
from formula_tools import formula, model
from oracle_tools import points_of, value_of
from test_leaks_checker import document as growing
from test_proved_compositions import known as compositions
from test_proved_compositions import with_exact
from test_proved_formulas import stated
from test_proved_maps import SMALL, with_sums
from test_proved_slots import stated as slots
from test_proved_standing import by_classes, by_terms, evidence, maxima
from test_unwinding_checker import FAMILY, PARTIAL, witness
from test_unwinding_checker import document as system
from three_checkers import about_a_script, built, by_program, every_kind, standing_pair

READY = shutil.which("coqtop") is not None and (ROOT / "proofs" / "theories" / "Check.vo").exists()
BUILD = ROOT / "proofs" / "build"
NOT_READY = "the proved checker is not built: run `make -C proofs`"
in_coq = pytest.mark.skipif(not READY, reason=NOT_READY)


def asked(documents: list[Any], folder: Path) -> list[tuple[str, ...]]:
    """Returns what the program asks about documents."""
    paths = [folder / f"{k}.json" for k in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document))
    return [answer.asked for answer in by_program(built(), paths, folder / "asked")]


@pytest.mark.slow
@in_coq
def test_coq_accepts_each_kind_and_nothing_false(tmp_path: Path) -> None:
    """Coq accepts a proof of each kind, and rejects it for a claim that is false at a point of its domain."""
    random, true, false = Random(22), [], []
    for document in every_kind().values():
        (domain,), (claim,) = document["domains"], document["statements"]
        true.append(document)
        for point in points_of(domain, random, 1):
            lowered = f"{claim['polynomial']} - {value_of(claim['polynomial'], point) + 1}"
            false.append({**document, "statements": [{**claim, "polynomial": lowered}]})
    false = false[::3]
    assert len(false) > 3
    rows = [row for questions in asked([*true, *false], tmp_path) for row in questions[-1:]]
    assert {row.partition(" ")[0] for row in rows} == {"check"}
    assert [row[-2:] for row in rows] == [" 1"] * len(true) + [" 0"] * len(false)
    assert answers(rows) == [True] * len(rows)


@pytest.mark.slow
@in_coq
def test_coq_says_what_the_program_says_and_notices_another_answer(tmp_path: Path) -> None:
    """All questions about certificates get the same answer; with an answer that is turned round none does."""
    documents = [*cone_kinds().values(), standing_pair(), about_a_script()]
    documents.append(evidence(by_classes(maxima(3, 2, "uniform", "each", 1))))
    documents += map(evidence, by_terms(maxima(3, 2, "first", "each", 1)))
    rows = sorted({row for questions in asked(documents, tmp_path) for row in questions})
    names = [row.partition(" ")[0] for row in rows]
    assert {"check", "check_cone", "check_loop", "check_standing"} <= set(names)
    assert names.count("stands") == 2
    assert answers(rows) == [True] * len(rows)
    turned = [row[:-1] + str(1 - int(row[-1])) for row in rows[::12]]
    assert answers(turned) == [False] * len(turned)


@pytest.mark.slow
@in_coq
def test_coq_answers_about_formulas_and_systems(tmp_path: Path) -> None:
    """The same for formulas, with choices too, for ratios without limit, and for inputs that do not come."""
    documents: list[Any] = [
        *(growing(), growing(parameters={"p": "1/2"}), witness(rows=PARTIAL, partial=True)),
        *(system(PARTIAL, ratio, True, proof=FAMILY) for ratio in ("2", "3/2")),
    ]
    for seed in range(2):
        random = Random(seed)
        chain, tree = model(random, 3, 1 + seed % 2), formula(random, 2)
        documents += [
            stated(chain, ["D", "1", bound, tree], status, **more)
            for bound in ("1/2", "1/100")
            for status, more in (
                ("holds", {}),
                ("violated", {"parameters": {}, "state": 0}),
            )
        ]
    rows = sorted({row for questions in asked(documents, tmp_path) for row in questions})
    names = {row.partition(" ")[0] for row in rows}
    assert {"check_formula", "check_choices", "bound_path", "check_growth", "check_accepted"} <= names
    assert answers(rows) == [True] * len(rows)


@pytest.mark.slow
@in_coq
def test_coq_answers_about_slots_compositions_and_sums(tmp_path: Path) -> None:
    """The same for programs with slots, for exact numbers of compositions, and for sums beside a map."""
    documents = [slots(False, True, True, [[1], [1, -1]], 2), slots(False, True, True, [[1]], 2)]
    documents += [*compositions(), with_exact(compositions()[0], "1/3"), with_sums(SMALL, claims=("2 - p",))]
    rows = sorted({row for questions in asked(documents, tmp_path) for row in questions})
    names = {row.partition(" ")[0] for row in rows}
    assert {"check_slots", "check_exact_delta", "check_exact_ratio", "check_covers"} <= names
    assert answers(rows) == [True] * len(rows)


def test_every_extracted_function_is_asked_in_coq() -> None:
    """Each function that is extracted by its name has its calls written, and no file goes past this."""
    text = (PROGRAM / "Extract.v").read_text(encoding="utf-8")
    (listed,) = re.findall(r'Extraction "extracted\.ml"\s+([^.]*)\.', text)
    assert set(listed.split()) - {"max_depth"} <= set(functions())
    written = {path.name for path in PROGRAM.glob("*.ml") if "Extracted" in path.read_text(encoding="utf-8")}
    assert written == {"calls.ml", "checker.ml"}
    assert 'asked "' not in (PROGRAM / "calls.ml").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("ocamlfind") is None or not (BUILD / "calls.cmi").exists(), reason=NOT_READY)
def test_a_call_that_lacks_an_argument_has_no_type(tmp_path: Path) -> None:
    """What is written of a call is what the function is called with: none is missing, and none too many."""
    text = (PROGRAM / "checker.ml").read_text(encoding="utf-8")
    given = list(re.finditer(r"\[ (![^\]]*[^\] ]) \]", text))
    assert len(given) > 20

    def types(arguments: str, at: re.Match[str]) -> bool:
        file = tmp_path / "changed.ml"
        file.write_text(text[: at.start(1)] + arguments + text[at.end(1) :], encoding="utf-8")
        order = ["ocamlfind", "ocamlopt", "-i", "-package", "zarith", "-I", str(BUILD), str(file)]
        return subprocess.run(order, capture_output=True, check=False).returncode == 0

    assert types(given[0][1], given[0])
    for at in Random(22).sample(given, 4):
        first, *rest = at[1].split("; ")
        assert not types("; ".join(rest), at)
        assert not types("; ".join([first, first, *rest]), at)
