"""Region maps by the program that is extracted from Coq: its answers are those of Python, none is false."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from claim_documents import claims_of
from engine_documents import engine_document, own, told
from oracle_tools import Json, map_is_true, points_of, value_of
from region_problems import random_problem
from three_checkers import NOT_KNOWN, agreed, built, by_program, changed, in_python
from written_evidence import alone

from paramverify.kernel.documents import engine_of
from paramverify.synthesis.map_documents import statement
from paramverify.synthesis.regions import region_map

SEEDS = range(10)  # with constraints, open ends, exp(q), quantified parameters, and all kinds of cells
BOX = {"p": "[0, 1]", "q": "[0, 1]"}


@pytest.fixture(scope="module")
def maps() -> list[Json]:
    """Maps of random problems, cut a few times."""
    found = []
    for seed in SEEDS:
        random = Random(seed)
        free, quantified, constant = random.randint(1, 2), random.randint(0, 1), random.random() < 0.3
        stated = random_problem(random, free, quantified, constant, random.randint(0, 2))
        result = region_map(stated.claims, stated.domain, stated.free, Fraction(1, 3))
        found.append(json.loads(json.dumps(alone("map", statement(result, stated.domain)))))
    return found


def folded(claim: str, *cells: tuple[str, str, str], **more: object) -> Json:
    """Returns a map over (p, q) in which both are symmetric; cells are quarters of the box."""
    half = {"0": ["0", "1/2"], "1": ["1/2", "1"]}
    found: Json = {
        "domain": {"variables": ["p", "q"], "box": BOX, "constraints": []},
        "free": ["p", "q"],
        "claims": [claim],
        "factors": [claim],
        "products": [{"constant": "1", "factors": [[0, 1]]}],
        "cells": [{"status": s, "box": [half[p], half[q]], **_at(s)} for p, q, s in cells],
        "symmetric": [["p", "q"]],
        **more,
    }
    return engine_document("cells", "map", **found)


def _at(status: str) -> Json:
    return {"claim": 0, "at": {}} if status == "violating" else {}


QUARTERS = [(p, q) for p in "01" for q in "01"]
SYMMETRIC = "p + q + 1"


@pytest.mark.slow
def test_maps_get_the_same_answers(maps: list[Json], tmp_path: Path) -> None:
    """True maps are accepted with the same numbers of cells; of changed ones both say the same."""
    assert agreed(maps, tmp_path / "true") == {"accepted": len(maps)}
    statuses = {cell["status"] for document in maps for cell in own(document)["cells"]}
    assert statuses == {"safe", "violating", "outside", "undecided"}
    assert any("constant" in document["domains"][0] for document in maps)
    counts = agreed(changed(maps, 160, 31), tmp_path)
    assert counts["rejected"] > 80, counts


def test_no_false_map_is_accepted(maps: list[Json], tmp_path: Path) -> None:
    """Changed maps that the program accepts are true at points that are tried."""
    random, paths = Random(3), list[Path]()
    for data in changed(maps, 200, 32):
        paths.append(tmp_path / f"{len(paths)}.json")
        paths[-1].write_bytes(data)
    accepted = [p for p, a in zip(paths, by_program(built(), paths), strict=True) if a.word == "accepted"]
    assert len(accepted) > 10
    for path in accepted:
        document = json.loads(path.read_bytes().decode("utf-8-sig"))
        assert engine_of(document) is None or map_is_true(told(document), random), path.read_text()


def test_a_cell_with_another_status_is_rejected(maps: list[Json], tmp_path: Path) -> None:
    """A safe cell that is said to violate, and the other way round; and cells that leave a gap."""
    wrong: list[Json] = []
    for document in maps:
        for k, cell in enumerate(own(document)["cells"]):
            for change in ("other", "gap"):
                new = copy.deepcopy(document)
                if change == "gap":
                    del own(new)["cells"][k]
                elif cell["status"] == "violating":
                    own(new)["cells"][k] = {"status": "safe", "box": cell["box"]}
                elif cell["status"] == "safe":
                    quantified = [n for n in names_of(document) if n not in own(document)["free"]]
                    at = dict.fromkeys(quantified, "1/2")
                    own(new)["cells"][k] = {"status": "violating", "box": cell["box"], "claim": 0, "at": at}
                else:
                    continue
                wrong.append(new)
    assert agreed(wrong, tmp_path) == {"rejected": len(wrong)}


def names_of(document: Json) -> list[str]:
    """Returns the parameters of a map."""
    return [name for name in document["domains"][0]["box"] if name != "E"]


def test_cells_that_mirror_others(tmp_path: Path) -> None:
    """A quarter needs no proof iff it is the one at which no point ascends, and the claim is symmetric."""
    checker, made, wanted = built(), list[bytes](), list[bool]()
    for mirrored in QUARTERS:
        cells = [(p, q, "mirrored" if (p, q) == mirrored else "safe") for p, q in QUARTERS]
        for claim in (SYMMETRIC, "p + 2*q + 1"):
            made.append(json.dumps(folded(claim, *cells)).encode())
            wanted.append(mirrored == ("1", "0") and claim == SYMMETRIC)
    right = [(p, q, "mirrored" if (p, q) == ("1", "0") else "safe") for p, q in QUARTERS]
    sides = [{**BOX, "q": "[0, 1)"}, {**BOX, "q": "[0, 3]"}]
    for box in sides:  # the intervals differ
        domain: Json = {"variables": ["p", "q"], "box": box, "constraints": []}
        made.append(json.dumps(folded(SYMMETRIC, *right, domain=domain)).encode())
        wanted.append(False)
    for limits, alike in ((["p - 1/4"], False), (["p - 1/4", "q - 1/4"], True), (["p*q - 1/16"], True)):
        for strict in ([">"] * 2, [">="] * 2, [">", ">="]):
            rows = [[text, relation] for text, relation in zip(limits, strict, strict=False)]
            domain = {"variables": ["p", "q"], "box": BOX, "constraints": rows}
            made.append(json.dumps(folded(SYMMETRIC, *right, domain=domain)).encode())
            wanted.append(alike and (len(limits) == 1 or strict[0] == strict[1]))
    for classes in ([["p", "p"]], [["p"]], [["p", "q"], ["q", "p"]], [["p", "r"]], []):
        made.append(json.dumps(folded(SYMMETRIC, *right, symmetric=classes)).encode())
        wanted.append(False)
    counts = agreed(made, tmp_path)
    assert counts == {"accepted": wanted.count(True), "rejected": wanted.count(False)}
    paths = [tmp_path / f"{k}.json" for k in range(len(made))]
    assert [answer.word == "accepted" for answer in by_program(checker, paths)] == wanted


def test_an_exchange_keeps_a_set_of_claims(tmp_path: Path) -> None:
    """Claims may change places, up to positive numbers; a negative one is no symmetry."""
    right = [(p, q, "mirrored" if (p, q) == ("1", "0") else "safe") for p, q in QUARTERS]
    made, wanted = [], []
    for second, alike in (("2*q + 4*p + 2", True), ("-2*q - 4*p - 2", False), ("q + 2*p + 2", False)):
        sign = "-1" if second.startswith("-") else "1"
        document = folded(
            "p + 2*q + 1", *right, claims=["p + 2*q + 1", second], factors=["p + 2*q + 1", second]
        )
        own(document)["products"] = [{"constant": "1", "factors": [[k, 1]]} for k in (0, 1)]
        if sign == "-1":  # false everywhere
            cells = [{**c, "claim": 1, "at": {}, "status": "violating"} for c in own(document)["cells"]]
            cells[2] = {"status": "mirrored", "box": cells[2]["box"]}
            own(document)["cells"] = cells
        made.append(json.dumps(document).encode())
        wanted.append(alike)
    assert agreed(made, tmp_path) == {"accepted": wanted.count(True), "rejected": wanted.count(False)}


def test_a_constraint_fails_at_an_open_end(tmp_path: Path) -> None:
    """What is 0 at an end only is fulfilled nowhere iff that end is open."""
    made, wanted = [], []
    for box, outside in (("[0, 1)", True), ("[0, 1]", False), ("(0, 1)", True), ("(0, 1]", False)):
        domain = {"variables": ["p", "q"], "box": {"p": box, "q": "[0, 1]"}, "constraints": [["p - 1", ">="]]}
        cell: Json = {"status": "outside", "box": [["0", "1"], ["0", "1"]], "cuts": {"outside": ["+"]}}
        document = folded("p - 2", domain=domain, cells=[cell], symmetric=[])
        made.append(json.dumps(document).encode())
        wanted.append(outside)
        domain = {
            "variables": ["p", "q"],
            "box": {"p": box, "q": "[0, 1]"},
            "constraints": [["1 - p + 0*q", ">"]],
        }
        cell = {"status": "violating", "box": [["0", "1"]], "claim": 0, "at": {"p": "1/2"}}
        document = folded("p - 2", domain=domain, cells=[cell], symmetric=[], free=["q"])
        made.append(json.dumps(document).encode())
        wanted.append(True)
    assert agreed(made, tmp_path) == {"accepted": wanted.count(True), "rejected": wanted.count(False)}


# --- sums over all sets of outputs beside a map ------------------------------------------------------------

POSITIVE = {"kind": "bernstein", "tree": ["+"]}
ORIGINS = [["a", "b", 1]]
WHOLE = {"status": "safe", "box": [["0", "1"], ["0", "1"]]}
BY_IT = {"kind": "constraint", "constraint": 0, "factor": "1", "proof": {"kind": "constant"}}
HALVES = [["+", 0, POSITIVE], ["sign", "p - q"], ["+", 1, BY_IT], ["claim", 0], ["-", 1, BY_IT], ["claim", 1]]


def with_sums(*sums: Json, claims: tuple[str, ...] = ("2 - p", "2 - q"), **domain: object) -> Json:
    """Returns a map that holds everywhere, and sums beside it."""
    about = {"variables": ["p", "q"], "box": BOX, "constraints": [], **domain}
    products = [{"constant": "1", "factors": [[k, 1]]} for k in range(len(claims))]
    parts: Json = {"free": ["p", "q"], "claims": [*claims], "factors": [*claims], "products": products}
    beside = [{"kind": "parts", "domain": 0, **one} for one in sums]
    given = engine_document("cells", "map", about, **parts, cells=[WHOLE])
    return {**given, "statements": [*given["statements"], *beside]}


def one_sum(tree: list[Any], room: str = "2", terms: tuple[str, ...] = ("q", "p - q")) -> Json:
    return {"room": room, "terms": [*terms], "origins": ORIGINS, "tree": tree}


def greater(points: list[dict[str, Fraction]], document: Json) -> bool:
    """Whether a sum and the claims of the map say something else at a point, by arithmetic."""
    cells, sums = told(document), claims_of(document, "parts")
    for point in points:
        room = [
            value_of(s["room"], point) - sum(max(Fraction(0), value_of(t, point)) for t in s["terms"])
            for s in sums
        ]
        claims = [value_of(text, point) for text in cells["claims"]]
        if (min(room) >= 0) != (min(claims) >= 0):
            return True
    return False


SMALL = one_sum([["-", 0, POSITIVE], ["claim", 0]], room="2 - p", terms=("-q",))


@pytest.fixture(scope="module")
def summed() -> list[Json]:
    """Maps beside which sums are: with a term that has a sign, with two, with a cut, and with E."""
    cut: list[Any] = [
        ["cut", "p", "1/2"],
        ["+", 0, POSITIVE],
        ["claim", 0],
        ["+", 0, POSITIVE],
        ["claim", 0],
    ]
    with_exp = with_sums(
        SMALL, claims=("2 - p",), variables=["p", "q", "E"], box={**BOX, "E": "[27/10, 28/10]"}, constant="1"
    )
    own_domain = {**with_exp["domains"][0], "box": BOX}
    with_exp["domains"].append(own_domain)
    with_exp["statements"][1]["domain"] = 1
    return [
        with_sums(SMALL, claims=("2 - p",)),
        with_sums(one_sum(HALVES)),  # the sum is the larger one of p and q
        with_sums(one_sum(cut, terms=("q",)), claims=("2 - q",)),
        with_exp,
    ]


def test_sums_beside_a_map_get_the_same_answers(summed: list[Json], tmp_path: Path) -> None:
    """Each leaf is the claim that it names, and each claim is at a leaf; of changed ones both say that."""
    assert agreed(summed, tmp_path / "true") == {"accepted": len(summed)}
    answers = by_program(built(), [tmp_path / "true" / f"{k}.json" for k in range(len(summed))])
    for document, answer in zip(summed, answers, strict=True):
        assert answer.lines == in_python(json.dumps(document).encode()).lines
        assert "1 sum over all sets of outputs" in answer.lines[-1]
    wrong = [copy.deepcopy(summed[0]) for _ in range(6)]
    sums = [document["statements"][1] for document in wrong]
    sums[0]["tree"][-1] = ["claim", 1]
    sums[1]["tree"][-1] = POSITIVE
    sums[2]["tree"] = sums[2]["tree"][1:]
    sums[3]["tree"][0][0] = "+"
    sums[4]["room"] = "3 - p"
    wrong[5]["statements"].append(copy.deepcopy(sums[5]))
    wrong.append(
        with_sums(one_sum([["-", 0, POSITIVE], ["claim", 0]], "2 - p", ("-q",)))
    )  # 2 - q is of no sum
    moved = copy.deepcopy(summed[-1])
    moved["statements"][1]["domain"] = 0
    wrong.append(moved)
    assert agreed(wrong, tmp_path / "wrong") == {"rejected": len(wrong)}
    counts = agreed(changed(summed, 150, 33), tmp_path)
    assert counts["rejected"] > 70, counts


def test_no_false_sums_are_accepted_beside_a_map(summed: list[Json], tmp_path: Path) -> None:
    """Where changed ones are accepted, the sums and the claims say the same at points that are tried."""
    random, paths = Random(4), list[Path]()
    for data in changed(summed, 300, 34):
        paths.append(tmp_path / f"{len(paths)}.json")
        paths[-1].write_bytes(data)
    accepted = [p for p, a in zip(paths, by_program(built(), paths), strict=True) if a.word == "accepted"]
    documents = [json.loads(path.read_bytes().decode("utf-8-sig")) for path in accepted]
    beside = [d for d in documents if claims_of(d, "parts") and engine_of(d)]
    assert len(beside) > 5
    for document in beside:
        assert not greater(points_of(told(document)["domain"], random, 12), document)


def test_factors_with_their_roots_are_not_known(tmp_path: Path) -> None:
    """The program says by name what it does not know of maps."""
    document = with_sums(claims=("2 - p",))
    own(document)["by_roots"] = []
    path = tmp_path / "map.json"
    path.write_text(json.dumps(document))
    (answer,) = by_program(built(), [path])
    assert answer.word == NOT_KNOWN
    assert "a factor with its roots is not known" in answer.lines[0]
