"""Noisy max with more neighbours than can be formed: one pair stands for all, and the checker agrees."""

import json
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from random_models import random_row

from paramverify.algebra.polynomials import constant_value
from paramverify.cli.main import run
from paramverify.encodings.sequences import candidates
from paramverify.kernel.claim_evidence import Rejected
from paramverify.kernel.worst_pair_evidence import check_largest
from paramverify.models import neighbourhoods
from paramverify.models.model import Model
from paramverify.models.neighbourhoods import count_pairs
from paramverify.privacy.cases import load

CASES = Path(__file__).parents[2] / "cases"
TEN = CASES / "noisy-max-10.toml"

CASE = """
[mechanism]
kind = "noisy_max"
queries = {queries}
noise = {noise}
ties = "{ties}"
[neighbours]
differ = "{differ}"
by = {by}
[privacy]
ratio = "2"
length = {length}
"""


def read(tmp_path: Path, **values: object) -> Model:
    path = tmp_path / "case.toml"
    path.write_text(CASE.format(**{"length": 1, **values}))
    model = load(path).model
    assert isinstance(model, Model)
    return model


def largest(model: Model) -> object:
    found = list(candidates(model))
    if any(c.is_infinite for c in found):
        return "infinite"
    return max(constant_value(c.left) / constant_value(c.right) for c in found if c.right)


def reduction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **values: object) -> dict[str, Any]:
    monkeypatch.setattr(neighbourhoods, "FORMED", 0)
    model = read(tmp_path, **values)
    assert model.stands_for
    pair = model.pairs[0]
    return model.stands_for.document(pair.left, pair.right)


@pytest.mark.parametrize("ties", ["uniform", "first"])
@pytest.mark.parametrize("differ", ["each", "one"])
@pytest.mark.parametrize("by", [1, '"any"'])
@pytest.mark.parametrize("seed", range(2))
def test_the_pair_stands_for_all(
    ties: str, differ: str, by: object, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For random noise the pair has the ratio that all pairs have, and the checker agrees."""
    random = Random(seed)
    limit, queries = random.choice([(1, 2), (1, 4), (2, 2), (2, 3), (3, 2)])
    rows = [[str(p) for p in random_row(random, limit + 1)] for _ in range(limit + 1)]
    values = {"queries": queries, "noise": f"{{ table = {json.dumps(rows)} }}", "ties": ties}
    whole = read(tmp_path, **values, differ=differ, by=by)
    assert not whole.stands_for
    monkeypatch.setattr(neighbourhoods, "FORMED", 0)
    one = read(tmp_path, **values, differ=differ, by=by)
    assert one.stands_for
    assert one.stands_for.pairs == 2 * len(whole.pairs)
    assert len(one.pairs) == 1
    assert largest(one) == largest(whole)
    pair = one.pairs[0]
    document = one.stands_for.document(pair.left, pair.right)
    if largest(one) == "infinite":
        with pytest.raises(Rejected, match="not finite"):
            check_largest(document)
    else:
        assert f"{largest(one)}" in check_largest(document)


HALF = {"queries": 4, "noise": '{ truncated_geometric = "1/2", range = 2 }', "by": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"right": [0, 2, 2, 1]},
        {"left": [1, 1, 1, 0], "right": [0, 2, 2, 1]},
        {"right": [1, 1, 1, 1]},
    ],
)
def test_a_pair_with_a_smaller_ratio_is_rejected(
    change: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checker finds the neighbours with a larger ratio."""
    document = reduction(tmp_path, monkeypatch, **HALF, ties="uniform", differ="each")
    with pytest.raises(Rejected, match="larger ratio"):
        check_largest({**document, **change})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"right": [2, 2, 2, 2], "left": [0, 0, 0, 0]}, "not a pair of neighbouring inputs"),
        ({"differ": "one"}, "not a pair of neighbouring inputs"),
        ({"left": [1, 1, 1]}, "not a pair of neighbouring inputs"),
        ({"noise": [["1/2", "1/3"], ["1/2", "1/2"]]}, "no distribution"),
    ],
)
def test_a_wrong_statement_is_rejected(
    change: dict[str, object], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs that are no neighbours, and noise that is none, are named."""
    document = reduction(tmp_path, monkeypatch, **HALF, ties="uniform", differ="each")
    with pytest.raises(Rejected, match=reason):
        check_largest({**document, **change})


@pytest.mark.slow
def test_evidence_that_rests_on_the_wrong_pair_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A case that holds for one pair of neighbours only is not accepted as a case that holds."""
    case = tmp_path / "case.toml"
    case.write_text(TEN.read_text().replace("epsilon = 1.387", 'ratio = "4"'))
    evidence = tmp_path / "evidence.json"
    assert run(["verify", str(case), "--evidence", str(evidence)]) == 0
    document = json.loads(evidence.read_text())
    for change in ({"left": [0] * 10, "right": [0] * 9 + [1]}, {"by": "any"}, None):
        if change is None:
            del document["reduction"]
        else:
            document["reduction"] |= change
        evidence.write_text(json.dumps(document))
        assert run(["check", str(evidence), "--case", str(case)]) == 1
        assert "REJECTED" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("length", [3, '"1..3"', 40, '"all"'])
def test_sequences(length: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Repeated releases are decided on the same pair: the ratio of k releases is the k-th power."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.format(**{**HALF, "queries": 8}, ties="uniform", differ="each", length=length))
    evidence = tmp_path / "evidence.json"
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 1
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    if length == 3:
        capsys.readouterr()
        run(["budget", str(path), "--json"])
        cubed = json.loads(capsys.readouterr().out)["ratio"]
        path.write_text(CASE.format(**{**HALF, "queries": 8}, ties="uniform", differ="each", length=1))
        run(["budget", str(path), "--json"])
        assert Fraction(cubed) == Fraction(json.loads(capsys.readouterr().out)["ratio"]) ** 3


@pytest.mark.parametrize("differ", ["each", "one"])
@pytest.mark.parametrize("by", [None, 1, 2])
@pytest.mark.parametrize("ranges", [(4,), (2, 4), (1, 2, 5)])
def test_pairs_are_counted_without_equal_ones(differ: str, by: int | None, ranges: tuple[int, ...]) -> None:
    """As many as there are one by one: no input is a neighbour of itself."""
    inputs = list(product(*map(range, ranges)))
    found = 0
    for left, right in permutations(inputs, 2):
        apart = [abs(x - y) for x, y in zip(left, right, strict=True) if x != y]
        found += (differ == "each" or len(apart) == 1) and (by is None or max(apart) <= by)
    assert count_pairs([range(size) for size in ranges], differ, by) == found
