"""Decision trees of region maps: what the written module says, against the claims; and the options."""

from __future__ import annotations

import json
from fractions import Fraction
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from calling_tools import called

from paramverify.algebra.polynomials import Polynomial
from paramverify.privacy.cases import load
from paramverify.synthesis.questions import region_claims

CASES = Path(__file__).parent.parent.parent / "cases"
COUNT = CASES / "count-four-rates.toml"


def value(polynomial: Polynomial, values: list[Fraction]) -> Fraction:
    terms = polynomial.to_dict().items()
    return sum(
        (
            Fraction(int(c.p), int(c.q)) * prod(v ** int(e) for v, e in zip(values, x, strict=True))
            for x, c in terms
        ),
        Fraction(0),
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Any, str]:
    """The module and the JSON of one map, folded, and what the command said."""
    folder = tmp_path_factory.mktemp("trees")
    told = called("synthesize", str(COUNT), "--coverage", "0.3", "--tree", str(folder / "tree.py"))
    called("synthesize", str(COUNT), "--coverage", "0.3", "--tree", str(folder / "tree.json"))
    space: dict[str, Any] = {}
    exec((folder / "tree.py").read_text(), space)
    return space, json.loads((folder / "tree.json").read_text()), told.out


def test_the_module_says_what_holds_at_a_point(written: tuple[dict[str, Any], Any, str]) -> None:
    """At random points in any order its verdict agrees with the claims, evaluated by fractions."""
    space, _, _ = written
    claims = region_claims(load(str(COUNT)).model)
    random, seen = Random(4), set()
    for _ in range(40):
        point = [Fraction(random.randint(1, 23), 24) for _ in range(4)]
        said = space["verdict"](**dict(zip("pqrs", point, strict=True)))
        holds = all(value(claim.polynomial, point) >= 0 for claim in claims)
        assert said in ("undecided", "private" if holds else "not private")
        seen.add(said)
    assert seen == {"undecided", "private", "not private"}
    assert space["verdict"](p="3/2", q=0, r=0, s=0) == "outside"


def test_the_json_is_the_same_tree(written: tuple[dict[str, Any], Any, str]) -> None:
    """Its nodes give the verdicts of the module at random points, and it names what is symmetric."""
    space, document, out = written
    assert document["symmetric"] == [["p", "q", "r", "s"]]
    assert "symmetric: only p <= q <= r <= s was cut" in out
    random = Random(5)
    for _ in range(50):
        point = dict(zip("pqrs", sorted(Fraction(random.randint(0, 60), 60) for _ in range(4)), strict=True))
        node = document["nodes"][0]
        while "verdict" not in node:
            node = document["nodes"][
                node["below" if point[node["parameter"]] <= Fraction(node["at"]) else "above"]
            ]
        assert node["verdict"] == space["verdict"](**point)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--tree", "tree.txt"], "--tree writes .json and .py, not .txt"),
        (["--tree", "tree"], "not a name without one"),
        (["--witness", "--tree", "tree.py"], "--tree goes with --region"),
        (["--exact", "--tree", "tree.py"], "--tree goes with --region"),
    ],
)
def test_a_tree_needs_a_map_and_a_suffix(options: list[str], reason: str) -> None:
    """What cannot be written is refused before anything is computed."""
    told = called("synthesize", str(COUNT), *options)
    assert told.code == 2
    assert reason in told.err
