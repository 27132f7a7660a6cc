"""A pair that stands for all others: the program that is extracted from Coq says what Python says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from random import Random

import pytest
from claim_documents import document, full, statement
from conftest import ROOT
from oracle_tools import Json
from three_checkers import NOT_KNOWN, agreed, built, by_program, in_python

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.cli.main import run
from paramverify.kernel.evidence_polynomials import parse
from paramverify.models.context import Checks
from paramverify.models.noise.truncated_geometric import truncated_geometric
from paramverify.models.worst_pairs import Guess, NoisyMaxima, guesses
from paramverify.privacy.standing import proved

CASE = ROOT / "cases" / "noisy-max-10.toml"
CLAIM = {"variables": [], "box": {}, "constraints": [], "polynomial": "1"}
Input = tuple[int, ...]
Noise = list[list[Fraction]]


def released(noise: Noise, given: Input, ties: str) -> list[Fraction]:
    """Returns the probability of each output, by all noisy answers."""
    found = [Fraction(0)] * len(given)
    for noisy in product(range(len(noise)), repeat=len(given)):
        chance = prod((noise[f][v] for f, v in zip(given, noisy, strict=True)), start=Fraction(1))
        best = [k for k, v in enumerate(noisy) if v == max(noisy)]
        for k in best if ties == "uniform" else best[:1]:
            found[k] += chance / (len(best) if ties == "uniform" else 1)
    return found


def ratios(
    noise: Noise, n: int, ties: str, differ: str, step: int
) -> dict[tuple[Input, Input], Fraction | None]:
    """Returns the largest ratio of each pair of neighbours; None where it is not finite."""
    inputs = list(product(range(len(noise)), repeat=n))
    chances = {given: released(noise, given, ties) for given in inputs}
    found: dict[tuple[Input, Input], Fraction | None] = {}
    for x, y in product(inputs, inputs):
        changes = [abs(a - b) for a, b in zip(x, y, strict=True) if a != b]
        if all(c <= step for c in changes) and (differ == "each" or len(changes) <= 1):
            both = [(p, q) for p, q in zip(chances[x], chances[y], strict=True) if p or q]
            finite = all(p and q for p, q in both)
            found[x, y] = max(max(p / q, q / p) for p, q in both) if finite else None
    return found


def noises(random: Random, values: int) -> Noise:
    rows = [[random.choice((0, 1, 1, 2, 3, 5)) for _ in range(values)] for _ in range(values)]
    rows = [row if any(row) else [1] * values for row in rows]
    return [[Fraction(x, sum(row)) for x in row] for row in rows]


def evidence(reduction: Json) -> Json:
    """Returns evidence of a true claim, with a statement about neighbours."""
    left, right = (tuple(reduction[side]) for side in ("left", "right"))
    claim = {**CLAIM, **reduction.get("domain", {})}
    proof = {"kind": "bernstein", "tree": ["+"]} if claim["variables"] else {"kind": "constant"}
    return document(
        statement(claim, proof, origins=[f"{left} against {right}, output 1"]), reduction=reduction
    )


def statements(random: Random, count: int) -> Iterator[tuple[Json, bool]]:
    """Yields statements about small noise, and whether they are true: by all inputs and all noisy answers."""
    for _ in range(count):
        values, n = random.choice(((2, 1), (2, 2), (2, 3), (3, 2), (3, 3)))
        noise, ties, differ = (
            noises(random, values),
            random.choice(("uniform", "first")),
            random.choice(("each", "one")),
        )
        by = random.choice(("any", "1", "2"))
        found = ratios(noise, n, ties, differ, values if by == "any" else int(by))
        largest = max((r for r in found.values() if r is not None), default=Fraction(1))
        best = [pair for pair, r in found.items() if r == largest]
        for left, right in (random.choice(best or list(found)), random.choice(list(found))):
            about = {"noise": [[str(x) for x in row] for row in noise], "ties": ties, "answers": n}
            about |= {"differ": differ, "by": by, "left": [*left], "right": [*right]}
            yield about, found[left, right] == largest and None not in found.values()


def test_statements_are_accepted_iff_they_are_true(tmp_path: Path) -> None:
    """Of pairs of small noise exactly those with the largest ratio of all neighbours are accepted."""
    paths, wanted = [], []
    for k, (about, true) in enumerate(statements(Random(3), 30)):
        paths.append(tmp_path / f"{k}.json")
        paths[-1].write_text(json.dumps(evidence(about)))
        wanted.append("accepted" if true else "rejected")
    assert [answer.word for answer in by_program(built(), paths)] == wanted
    assert [in_python(path.read_bytes()).word for path in paths] == wanted
    assert min(wanted.count("accepted"), wanted.count("rejected")) > 7


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """Evidence of a case with ten answers."""
    path = tmp_path_factory.mktemp("standing") / "evidence.json"
    run(["verify", str(CASE), "--evidence", str(path)])
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    assert "noise" in found["reduction"]
    return found


def test_too_many_neighbours_are_not_known(shipped: Json, tmp_path: Path) -> None:
    """What would take too long is said to be not known."""
    about = {**shipped["reduction"], "answers": 40, "left": [1] * 40, "right": [0] + [2] * 39}
    many = evidence(about)
    path = tmp_path / "many.json"
    path.write_text(json.dumps(many))
    assert [answer.word for answer in by_program(built(), [path])] == [NOT_KNOWN]


# --- noise with parameters ----------------------------------------------------------------------------

RING = Ring(("alpha",))
OPEN = Domain(RING, {"alpha": Interval(Fraction(0), Fraction(1), False, False)})
ALPHA = RationalFunction.of(RING.variable("alpha"))
SIZES = [(1, 1, 1), (3, 2, 1), (2, 3, 2), (4, 1, 1), (3, 2, None)]  # answers, the largest one, by


def maxima(n: int, top: int, ties: str, differ: str, by: int | None) -> NoisyMaxima:
    noise = truncated_geometric(ALPHA, top, Checks(OPEN))
    return NoisyMaxima(noise, OPEN, n, ties=ties, differ=differ, by=by)


def by_classes(about: NoisyMaxima) -> Json:
    """Returns the statement about the class that is proved to have the largest ratio, with its proofs."""
    for given in about.classes():
        guess = Guess(about, "classes", given)
        proofs = proved(guess)
        if proofs is not None:
            return guess.document(proofs)
    raise AssertionError("no class is proved")


def by_terms(about: NoisyMaxima) -> Iterator[Json]:
    """Yields a statement that is proved by the products with the largest quotients, if there is one."""
    for guess in guesses(about):
        proofs = proved(guess) if guess.how == "terms" else None
        if proofs is not None:
            yield guess.document(proofs)


@pytest.fixture(scope="module")
def parametric() -> list[Json]:
    """Statements for all parameters, by classes and by terms."""
    kinds = product(("uniform", "first"), SIZES)
    classes = [by_classes(maxima(n, top, ties, "each", by)) for ties, (n, top, by) in kinds]
    terms = [one for n, top, by in SIZES for one in by_terms(maxima(n, top, "first", "each", by))]
    assert len(terms) > 1
    return classes + terms


def test_statements_for_all_parameters_are_accepted_and_true(parametric: list[Json], tmp_path: Path) -> None:
    """Both accept them, and at points of the domain no neighbours have a larger ratio, by brute force."""
    assert agreed(map(evidence, parametric), tmp_path) == {"accepted": len(parametric)}
    known: dict[tuple[object, ...], Fraction] = {}
    for about in parametric:
        n, step = about["answers"], 9 if about["by"] == "any" else int(about["by"])
        for alpha in (Fraction(1, 7), Fraction(4, 5)):
            entries = [[parse(p, ["alpha"]) for p in row] for row in about["noise"]]
            rows = [[sum(c * alpha ** x[0] for x, c in p.items()) for p in row] for row in entries]
            noise = [[Fraction(p) / sum(row) for p in row] for row in rows]
            place = n, step, len(noise), about["ties"], alpha
            if place not in known:
                every = ratios(noise, n, about["ties"], "each", step).values()
                known[place] = max(r for r in every if r is not None)
            sides = (released(noise, tuple(about[side]), about["ties"]) for side in ("left", "right"))
            one, other = (each[about["output"] - 1] for each in sides)
            assert one / other == known[place]


def test_another_pair_other_noise_and_other_proofs_are_rejected(
    parametric: list[Json], tmp_path: Path
) -> None:
    """No statement is accepted with its pair exchanged, other noise, or a proof less, more or trusted."""
    documents = []
    for about in parametric[1:3]:
        proofs = about["proofs"]
        solver = {"kind": "solver", "solver": "z3", "version": "1"}
        changes: list[Json] = [
            {"left": about["right"], "right": about["left"]},
            {"noise": about["noise"][::-1]},
            {"noise": [["1", "-1"], ["-1", "1"]]},
            {"proofs": proofs[1:]},
            {"proofs": [*proofs, proofs[-1]]},
            {"proofs": [solver, *proofs[1:]]},
            {"output": 2},
            {"differ": "one"},
            {"by": "0"},
            {"answers": 2 if about["answers"] == 3 else 3},
        ]
        documents += [evidence({**about, **change}) for change in changes]
    assert agreed(documents, tmp_path) == {"rejected": len(documents)}


def test_other_answers_than_those_with_the_largest_quotients_are_rejected(
    parametric: list[Json], tmp_path: Path
) -> None:
    """By terms: too few answers are named, too many, none, those of no neighbour; or a proof is missing."""
    documents = []
    for about in (one for one in parametric if one["how"] == "terms"):
        own, others, proofs = about["own"], about["others"], about["proofs"]
        changes: list[Json] = [
            {"own": own[1:]},
            {"others": [*others, 0]},
            {"own": [0] * len(own)},
            {"others": [len(own) - 1] * len(others)},
            {"ties": "uniform"},
            {"how": "classes"},
            {"proofs": proofs[::-1]},
            {"proofs": proofs[:-1]},
            {"proofs": [*proofs, proofs[0]]},
            {"noise": about["noise"][::-1]},
        ]
        documents += [evidence({**about, **change}) for change in changes]
        documents.append(evidence({k: v for k, v in about.items() if k not in ("own", "others")}))
    assert agreed(documents, tmp_path) == {"rejected": len(documents)}


def test_claims_about_something_else_are_rejected(parametric: list[Json], tmp_path: Path) -> None:
    """The claims have to be about the pair of the statement, and on its domain."""
    documents = []
    for about in parametric[1:3]:
        whole = evidence(about)
        (entry,) = whole["statements"]
        (name,) = entry["origins"]
        claim = full(whole, entry)
        domains: list[Json] = [
            {"box": {"alpha": "(0, 1/2)"}},
            {"constraints": [["alpha - 1/2", ">="]]},
            {"variables": ["alpha", "b"], "box": {"alpha": "(0, 1)", "b": "(0, 1)"}},
        ]
        others = [statement({**claim, **other}, entry["proof"], origins=[name]) for other in domains]
        for origins in ([name, name.replace("(", "(1, ", 1)], ["a pair against another one, output 1"]):
            others.append(statement(claim, entry["proof"], origins=origins))
        others.append(statement(claim, entry["proof"]))  # of which nothing says what it is about
        documents += [document(other, reduction=about) for other in others]
        narrower = {**about["domain"], "constraints": [["-1", ">="]]}
        documents.append(
            document(
                statement(claim, entry["proof"], origins=[name]), reduction={**about, "domain": narrower}
            )
        )
    assert agreed(documents, tmp_path) == {"rejected": len(documents)}


@pytest.mark.parametrize(("ties", "differ"), [("uniform", "one"), ("first", "one")])
def test_other_ways_for_all_parameters_are_not_known(ties: str, differ: str, tmp_path: Path) -> None:
    """A statement that is shown by ends is not known, and nothing is accepted."""
    found = ((guess, proved(guess)) for guess in guesses(maxima(3, 2, ties, differ, 1)))
    guess, proofs = next((guess, proofs) for guess, proofs in found if proofs is not None)
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps(evidence(guess.document(proofs))))
    assert in_python(path.read_bytes()).word == "accepted"
    assert [answer.word for answer in by_program(built(), [path])] == [NOT_KNOWN]
