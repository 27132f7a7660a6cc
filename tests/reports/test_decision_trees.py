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
from paramverify.reports.synthesis_reports import text
from paramverify.synthesis.questions import region_claims
from paramverify.synthesis.regions import region_map

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


@pytest.mark.slow
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
        point = dict(zip("pqrs", sorted(Fraction(random.randint(1, 59), 60) for _ in range(4)), strict=True))
        node = document["nodes"][0]
        while "verdict" not in node:
            node = document["nodes"][
                node["below" if point[node["parameter"]] <= Fraction(node["at"]) else "above"]
            ]
        assert node["verdict"] == space["verdict"](**point)


BESIDE = """
title = 'A "count" of three'
[parameters]
constraints = ["p + q < 1 + k", "t >= p/2"]
p = "(0, 1)"
q = "(0, 1]"
r = "[1/10, 9/10]"
t = "[1/2, 1]"
k = "1/4"
[prior]
a = { bernoulli = "p" }
b = { bernoulli = "q" }
c = { bernoulli = "r * t" }
[secrets]
some = "a + b + c >= 1"
few = "a + b + c <= 1"
pairs = [["some", "few"]]
[mechanism]
kind = "geometric"
query = "a + b + c"
noise = { truncated_geometric = "1/2", range = 3 }
[privacy]
ratio = "2"
"""


def test_beyond_the_domain_a_tree_says_so(tmp_path: Path) -> None:
    """Open ends and constraints count, also with fixed parameters; what is for all others is told."""
    path = tmp_path / "case.toml"
    path.write_text(BESIDE)
    case = load(str(path))
    claims = region_claims(case.model)
    found = region_map(claims, case.model.domain, ("r", "p", "q"), Fraction(2, 3))
    space: dict[str, Any] = {}
    exec(text(case, found, ".py"), space)
    random, seen = Random(1), set()
    for _ in range(120):
        p, q = (Fraction(random.randint(0, 8), 8) for _ in range(2))
        r = Fraction(random.randint(1, 9), 10)
        said = space["verdict"](p=p, q=q, r=r)
        inside = 0 < p < 1 and 0 < q <= 1 and p + q < Fraction(5, 4)
        assert (said != "outside") == inside
        seen.add(said)
    assert len(seen) > 2
    assert space["verdict"](p="1/2", q="1/2", r="1/10") != "outside"
    assert space["verdict"](p="1/2", q="1/2", r="1/11") == "outside"
    assert "for all t in [1/2, 1] with t >= p/2" in space["__doc__"]
    document = json.loads(text(case, found, ".json"))
    assert document["closed"] == [[True, True], [False, False], [False, True]]
    first, second = document["constraints"]
    assert (first["text"], first["strict"]) == ("p + q < 1 + k", True)
    assert sorted(first["terms"]) == [["-1", [0, 0, 1]], ["-1", [0, 1, 0]], ["5/4", [0, 0, 0]]]
    assert second == {"text": "t >= p/2"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--tree", "tree.txt"], "--tree has the ending .txt: write a name that ends in .json or .py"),
        (["--tree", "tree"], "--tree has a name without an ending"),
        (["--witness", "--tree", "tree.py"], "--tree is only for maps: use it with --region"),
        (["--exact", "--tree", "tree.py"], "--tree is only for maps: use it with --region"),
    ],
)
def test_a_tree_needs_a_map_and_a_suffix(options: list[str], reason: str) -> None:
    """What cannot be written is refused before anything is computed."""
    told = called("synthesize", str(COUNT), *options)
    assert told.code == 2
    assert reason in told.err
