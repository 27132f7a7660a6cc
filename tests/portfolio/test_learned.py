"""The learned order of a race: what a tree asks of a claim, where it leads, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paramverify.algebra.domains import box_domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.backends import discover
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.portfolio.backend_order import (
    OWN,
    LearnedLeaf,
    Split,
    chosen_tree,
    ordered,
    tree_features,
    tree_of,
)

RING = Ring(("x", "y", "z"))
TREE = {
    "feature": "variables",
    "at": 1.5,
    "below": {"claims": 7, "seconds": {"roots": 0.1, "z3": 2}},
    "above": {
        "feature": "even",
        "at": 0.5,
        "below": {"claims": 4, "seconds": {"qepcad": 0.5, "z3": 0.25}},
        "above": {"claims": 9, "seconds": {"yices": 0.5, "z3": 1.5}},
    },
}
NAMES = ["qepcad", "z3", "yices", "roots"]


def claim(polynomial: str) -> Claim:
    """A claim on a box of three parameters."""
    return Claim(RING.parse(polynomial), box_domain(RING, dict.fromkeys("xyz", parse_interval("[-1, 1]"))))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a tree, which orders races."""
    path = tmp_path / "order.json"
    path.write_text(json.dumps(TREE))
    monkeypatch.setenv("PARAMVERIFY_ORDER", str(path))
    return path


def test_features() -> None:
    """Features are counted as the docstring says."""
    found = tree_features(claim("x^4*y^2 + x^2*y^4 - 3*x^2*y^2"))
    assert found == {"variables": 2, "degree": 6, "terms": 3, "constraints": 0, "even": 1, "touching": 1}
    found = tree_features(claim("x*z - 1"))
    assert found == {"variables": 2, "degree": 2, "terms": 2, "constraints": 0, "even": 0, "touching": 0}


@pytest.mark.parametrize(
    ("polynomial", "order"),
    [
        ("x + 1", ["roots", "z3", "qepcad", "yices"]),
        ("x*y + 1", ["qepcad", "z3", "yices", "roots"]),
        ("x^2*y^2 + 1", ["yices", "z3", "qepcad", "roots"]),
    ],
)
@pytest.mark.usefixtures("tree")
def test_order(polynomial: str, order: list[str]) -> None:
    """A leaf says who starts, whatever the seconds; what the tree does not know keeps its place behind."""
    assert ordered(NAMES, claim(polynomial)) == order


def test_no_tree() -> None:
    """Tests switch the tree off: then nothing is ordered."""
    assert chosen_tree() is None
    assert ordered(NAMES, claim("x + y")) == NAMES


def test_the_tree_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree that is shipped can be read, and knows backends of this package alone."""
    monkeypatch.delenv("PARAMVERIFY_ORDER")
    found = chosen_tree()
    assert found == tree_of(json.loads(OWN.read_text()))
    assert found
    leaves, nodes = [], [found]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Split):
            nodes += [node.below, node.above]
        else:
            leaves.append(node)
    assert all(isinstance(entry, LearnedLeaf) and entry.claims > 0 for entry in leaves)
    assert {name for entry in leaves for name in entry.seconds} <= set(discover())


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", "[" * 100_000, '{"claims": 1, "seconds": {"z3": "1"}}'),
        *(json.dumps({**TREE, "feature": "colour"}), json.dumps({**TREE, "at": 10**400})),
    ],
)
def test_files_that_are_no_tree(tree: Path, text: str) -> None:
    """A mistake in the user's tree is told with the file."""
    tree.write_text(text)
    with pytest.raises(InputError):
        ordered(NAMES, claim("x"))
