"""Region maps by the program that is extracted from Coq: other cells are rejected, and what is not known."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from engine_documents import engine_document, own
from oracle_tools import Json
from region_problems import random_problem
from three_checkers import NOT_KNOWN, agreed, built, by_program
from written_evidence import alone

from paramverify.synthesis.map_documents import statement
from paramverify.synthesis.regions import region_map

SEEDS = range(3)  # with constraints, open ends, exp(q), quantified parameters, and all kinds of cells
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


# --- sums over all sets of outputs beside a map ------------------------------------------------------------

POSITIVE = {"kind": "bernstein", "tree": ["+"]}
ORIGINS = [["a", "b", 1]]
WHOLE = {"status": "safe", "box": [["0", "1"], ["0", "1"]]}


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


SMALL = one_sum([["-", 0, POSITIVE], ["claim", 0]], room="2 - p", terms=("-q",))


def test_factors_with_their_roots_are_not_known(tmp_path: Path) -> None:
    """The program says by name what it does not know of maps."""
    document = with_sums(claims=("2 - p",))
    own(document)["by_roots"] = []
    path = tmp_path / "map.json"
    path.write_text(json.dumps(document))
    (answer,) = by_program(built(), [path])
    assert answer.word == NOT_KNOWN
    assert "a factor with its roots is not known" in answer.lines[0]
