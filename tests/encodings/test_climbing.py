"""Bounds for every length: sequences that grow, found by floats, and ratios that are never exceeded."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest
from quick import seeds

from paramverify.encodings.every_length import upper_bound
from paramverify.encodings.point_violations import climb
from paramverify.evidence.witnesses import evaluate
from paramverify.models.model import Model
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.verdicts import Holds, Unknown, Violated


class Chains:
    """Four states and two observations; `apart`: the secrets have two states each, and never meet."""

    def __init__(self, seed: int, apart: bool) -> None:
        random = Random(f"b{seed}")

        def row(count: int, low: int = 6) -> list[Fraction]:
            weights = [random.randint(low, 9) for _ in range(count)]
            return [Fraction(w, sum(weights)) for w in weights]

        none = [Fraction(0)] * 2
        self.emissions = [row(2) for _ in range(4)]
        if apart:
            self.moves = [row(2) + none if k < 2 else none + row(2) for k in range(4)]
            self.left, self.right = row(2) + none, none + row(2)
        else:
            self.moves = [row(4, 1) for _ in range(4)]
            self.left, self.right = row(4, 1), row(4, 1)

    def model_text(self, ratio: str) -> str:
        names, seen = [f"s{k}" for k in range(4)], ["a", "b"]

        def table(keys: list[str], row: list[Fraction]) -> str:
            return "{ " + ", ".join(f'{n} = "{p}"' for n, p in zip(keys, row, strict=True) if p) + " }"

        return "\n".join(
            [
                "[mechanism]",
                'kind = "hmm"',
                f"states = {names}",
                f"observations = {seen}",
                "[mechanism.emissions]",
                *(f"{n} = {table(seen, row)}" for n, row in zip(names, self.emissions, strict=True)),
                "[mechanism.transitions]",
                *(f"{n} = {table(names, row)}" for n, row in zip(names, self.moves, strict=True)),
                "[prior]",
                f"left = {table(names, self.left)}",
                f"right = {table(names, self.right)}",
                "[secrets]",
                'pairs = [["left", "right"]]',
                "[privacy]",
                f'ratio = "{ratio}"',
                'length = "all"',
            ]
        )

    def path(self, folder: Path, ratio: str) -> Path:
        file = folder / "chains.toml"
        file.write_text(self.model_text(ratio), encoding="utf-8")
        return file

    def model(self, folder: Path, ratio: str = "20") -> Model:
        model = load(self.path(folder, ratio)).model
        assert isinstance(model, Model)
        return model

    def chance(self, start: list[Fraction], word: tuple[int, ...]) -> Fraction:
        """Returns the probability of a sequence by the forward recursion on fractions."""
        alpha = [p * self.emissions[s][word[0]] for s, p in enumerate(start)]
        for o in word[1:]:
            moved = [sum(alpha[s] * self.moves[s][t] for s in range(4)) for t in range(4)]
            alpha = [p * self.emissions[t][o] for t, p in enumerate(moved)]
        return sum(alpha, Fraction(0))

    def ratio(self, word: tuple[int, ...]) -> Fraction:
        one, other = self.chance(self.left, word), self.chance(self.right, word)
        return max(one / other, other / one)


RARE = """
[mechanism]
kind="hmm"
states=["s0", "s1", "s2", "s3", "s4"]
observations=["a", "b", "c"]
[mechanism.emissions]
s0 = { a = "1/3", b = "2/3" }
s1 = { a = "1/5", b = "4/5" }
s2 = { a = "1/2", b = "1/2" }
s3 = { a = "2/3", b = "1/3" }
s4 = { c = "1" }
[mechanism.transitions]
s0 = { s0 = "2/7", s2 = "1/7", s3 = "4/7" }
s1 = { s0 = "2/7", s1 = "1/7", s2 = "2/7", s3 = "2/7" }
s2 = { s0 = "3/8", s2 = "1/2", s3 = "1/8" }
s3 = { s1 = "1/4", s2 = "1/2", s3 = "1/4" }
s4 = { s4 = "1" }
[prior.x]
s0 = "1/10"
s2 = "1/5"
s3 = "1/5"
s4 = "1/2"
[prior.y]
s0 = "123456073/576128574"
s1 = "246912146/864192861"
s2 = "123456073/576128574"
s3 = "246912146/864192861"
s4 = "50/123456123"
[secrets]
pairs=[["x","y"]]
[privacy]
BOUND
length="all"
"""


@pytest.mark.parametrize("seed", seeds(2, quick=0))
def test_bounds_enclose_all_ratios(seed: int, tmp_path: Path) -> None:
    """No short sequence exceeds the upper bound, and the climbed ratio is exact and not below any of them."""
    chains = Chains(seed, apart=False)
    model = chains.model(tmp_path)
    upper = upper_bound(model, Fraction(1))
    assert upper is not None
    *_, best = climb(model)
    word = tuple("ab".index(o) for o in best.origin.observations)
    found = evaluate(model, best.origin, best.point)
    assert found.ratio is not None
    assert found.ratio.rational == chains.ratio(word) <= upper.ratio
    largest = max(chains.ratio(w) for n in range(1, 8) for w in product((0, 1), repeat=n))
    assert largest <= upper.ratio
    assert float(largest) <= best.ratio * (1 + 1e-6)


@pytest.mark.parametrize(
    ("seed", "length"),
    [
        (0, 14),
        pytest.param(1, 40, marks=pytest.mark.slow),
    ],
)
def test_long_violations_are_found(seed: int, length: int, tmp_path: Path) -> None:
    """A model with four states and ratio 20 is violated by a sequence that short lists do not reach."""
    chains = Chains(seed, apart=True)
    report = verify(load(chains.path(tmp_path, "20")), Options(seconds=40))
    assert isinstance(report.verdict, Violated)
    witness = report.verdict.witness
    word = tuple("ab".index(o) for o in witness.observations)  # type: ignore[union-attr]
    assert len(word) <= length
    assert chains.ratio(word) > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0])
def test_mixing_models_are_decided_on_both_sides_of_their_ratio(seed: int, tmp_path: Path) -> None:
    """The bounds are near: a little above the upper one holds, a little below the lower one is violated."""
    chains = Chains(seed, apart=False)
    model = chains.model(tmp_path)
    upper = upper_bound(model, Fraction(1))
    *_, best = climb(model)
    assert upper is not None
    above, below = upper.ratio * Fraction(101, 100), Fraction(best.ratio) * Fraction(99, 100)
    assert upper.ratio < below * Fraction(11, 10)
    assert isinstance(verify(load(chains.path(tmp_path, str(above))), Options(seconds=60)).verdict, Holds)
    text = str(below.limit_denominator(10**6))
    assert isinstance(verify(load(chains.path(tmp_path, text)), Options(seconds=60)).verdict, Violated)


@pytest.mark.slow
def test_unknown_tells_the_bounds(tmp_path: Path) -> None:
    """An unknown verdict says how large the ratio is at least, and no more of the time than is known."""
    chains = Chains(10, apart=True)
    report = verify(load(chains.path(tmp_path, "20")), Options(seconds=2))
    assert isinstance(report.verdict, Unknown)
    assert "the largest ratio is at least " in report.verdict.detail
    assert "whether a longer --timeout helps is not known" in report.verdict.detail


@pytest.mark.slow
def test_a_bound_that_is_not_there(tmp_path: Path) -> None:
    """Where the secrets never meet there is no upper bound, and none is told."""
    assert upper_bound(Chains(0, apart=True).model(tmp_path), Fraction(1)) is None


@pytest.mark.slow
def test_a_proved_upper_bound_is_a_proof(tmp_path: Path) -> None:
    """Where no ratio exceeds the bound of the case, the cone that says so is the evidence, and is checked."""
    large = Fraction(123456123, 100)  # Pr(c | x) = 1/2 against 50/123456123 under y; then only c follows
    path = tmp_path / "case.toml"
    path.write_text(RARE.replace("BOUND", 'epsilon = "15"'), encoding="utf-8")  # exp(15) is above 3 million
    case = load(path)
    assert isinstance(case.model, Model)
    upper = upper_bound(case.model, Fraction(3 * 10**6))
    assert upper is not None
    assert Fraction(1, 2) / Fraction(50, 123456123) == large <= upper.ratio <= 3 * 10**6
    report = verify(case, Options(seconds=60))
    assert isinstance(report.verdict, Holds)
    assert report.certificate is not None
    assert report.certificate["statements"][-1]["rule"] == "ratios"
    assert check_with_case(evidence_document(case, report), case).accepted
