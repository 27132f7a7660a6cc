"""Noisy max with symbolic noise: one pair is proved to stand for all neighbours; the kernel replays it."""

import copy
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import RationalFunction, Ring
from paramverify.cli.main import run
from paramverify.evidence import envelope
from paramverify.kernel.claim_evidence import read_domain
from paramverify.kernel.documents import check_document
from paramverify.kernel.strict_reading import Rejected
from paramverify.kernel.worst_pair_evidence import check_everywhere
from paramverify.models.context import Checks
from paramverify.models.model import Model
from paramverify.models.noise import Noise
from paramverify.models.noise.truncated_geometric import truncated_geometric
from paramverify.models.worst_pairs import Guess, NoisyMaxima, guesses
from paramverify.privacy import standing
from paramverify.privacy.cases import load
from paramverify.privacy.standing import proved

RING = Ring(("alpha",))
OPEN = Domain(RING, {"alpha": Interval(Fraction(0), Fraction(1), False, False)})
ALPHA = RationalFunction.of(RING.variable("alpha"))
POINTS = [Fraction(1, 10), Fraction(3, 5), Fraction(19, 20)]
Rows = tuple[tuple[Fraction, ...], ...]

CASE = """
[parameters]
alpha = "(0, 1)"
[mechanism]
kind = "noisy_max"
queries = {queries}
noise = {noise}
ties = "{ties}"
[neighbours]
differ = "{differ}"
[privacy]
{privacy}
"""
GEOMETRIC = '{ truncated_geometric = "alpha", range = 2 }'


def maxima(n: int, top: int, ties: str, differ: str, by: int | None) -> NoisyMaxima:
    return NoisyMaxima(
        truncated_geometric(ALPHA, top, Checks(OPEN)), OPEN, n, ties=ties, differ=differ, by=by
    )


def at(noise: Noise, alpha: Fraction) -> Rows:
    """The noise at a point, from its own formula."""
    top = noise.range
    return tuple(
        tuple((1 if o in (0, top) else 1 - alpha) / (1 + alpha) * alpha ** abs(o - f) for o in range(top + 1))
        for f in range(top + 1)
    )


@cache
def outputs(given: tuple[int, ...], rows: Rows, ties: str) -> tuple[Fraction, ...]:
    """Pr(output | answers) by all noisy answers, one by one."""
    found = [Fraction(0)] * len(given)
    for noisy in product(range(len(rows)), repeat=len(given)):
        weight = prod((rows[f][o] for f, o in zip(given, noisy, strict=True)), start=Fraction(1))
        best = [k for k, o in enumerate(noisy) if o == max(noisy)]
        for k in best[:1] if ties == "first" else best:
            found[k] += weight if ties == "first" else weight / len(best)
    return tuple(found)


def largest(rows: Rows, n: int, ties: str, differ: str, by: int | None) -> Fraction:
    """The largest finite ratio over all neighbours and outputs, by brute force."""
    top, best = len(rows) - 1, Fraction(1)
    for x, y in product(product(range(top + 1), repeat=n), repeat=2):
        changed = [abs(a - b) for a, b in zip(x, y, strict=True) if a != b]
        if (differ == "one" and len(changed) > 1) or any(d > (top if by is None else by) for d in changed):
            continue
        for p, q in zip(outputs(x, rows, ties), outputs(y, rows, ties), strict=True):
            assert q or not p
            best = max(best, p / q) if q else best
    return best


def first_proved(about: NoisyMaxima) -> tuple[Guess, list[Any]]:
    for guess in guesses(about):
        proofs = proved(guess)
        if proofs is not None:
            return guess, proofs
    raise AssertionError("nothing is proved")


def said_of(statement: dict[str, Any]) -> str:
    """Returns what the kernel says of a statement with its domain written out."""
    return check_everywhere(statement, read_domain(statement["domain"]))


@pytest.mark.parametrize("ties", ["uniform", "first"])
@pytest.mark.parametrize("differ", ["each", "one"])
@pytest.mark.parametrize(("n", "top", "by"), [(3, 2, 1), (2, 3, 2), (3, 2, None)])
def test_the_pair_has_the_largest_ratio_of_all(
    ties: str, differ: str, n: int, top: int, by: int | None
) -> None:
    """At points of alpha the ratio of the proved pair is that of all neighbours, and the kernel agrees."""
    about = maxima(n, top, ties, differ, by)
    guess, proofs = first_proved(about)
    for alpha in POINTS:
        rows = at(about.noise, alpha)
        p, q = (outputs(c.given, rows, ties)[c.output - 1] for c in (guess.left, guess.right))
        assert p / q == largest(rows, n, ties, differ, by)
    assert "for all parameters" in said_of(guess.document(proofs))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "noise", "privacy"),
    [
        ('eps = "(0, oo)"', "exp(-eps / 2)", 'epsilon = "eps"'),
        ("", "exp(-1/2)", "epsilon = 1"),
        ('a = "(0, 1)"\nb = "(0, 1/2]"', "a * b", 'ratio = "1/(a*b)**2"'),
    ],
)
def test_other_parameters(
    parameters: str, noise: str, privacy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Noise with an unbounded parameter, with a number exp(q), and with two parameters, and its evidence."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    values = {"queries": 7, "ties": "uniform", "differ": "each", "privacy": privacy}
    text = CASE.format(**values, noise=f'{{ truncated_geometric = "{noise}", range = 2 }}')
    path.write_text(
        text.replace('[parameters]\nalpha = "(0, 1)"', f"[parameters]\n{parameters}" * bool(parameters))
    )
    assert run(["verify", str(path), "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(path)]) == 0
    assert "for all parameters" in capsys.readouterr().out


def test_a_smaller_bound_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the tight bound a prior and a pair are named."""
    path = tmp_path / "case.toml"
    path.write_text(
        CASE.format(
            queries=8, noise=GEOMETRIC, ties="uniform", differ="each", privacy='ratio = "(1+1/alpha**2)/2"'
        )
    )
    assert run(["verify", str(path)]) == 1
    assert "not private" in capsys.readouterr().out


def changed(document: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return {**copy.deepcopy(document), **change}


def beside_a_claim(statement: dict[str, Any]) -> bool:
    """Tells whether the statement is accepted beside a claim about its pair, which is true."""
    origin = f"{tuple(statement['left'])} against {tuple(statement['right'])}, output 1"
    about = {"domain": statement["domain"], "polynomial": "1", "origins": [origin]}
    claim = {"kind": "claim", **about, "proof": {"kind": "constant"}}
    beside = envelope.document("holds", envelope.statements(claim), {"reduction": statement})
    return check_document(beside).accepted


def cut(proofs: Sequence[Any], *places: int) -> list[Any]:
    return [p for k, p in enumerate(proofs) if k not in places]


@pytest.mark.slow
@pytest.mark.parametrize(("ties", "differ"), [("uniform", "each"), ("first", "each"), ("uniform", "one")])
def test_a_changed_statement_is_rejected(ties: str, differ: str) -> None:
    """Another pair, other noise and other proofs are all refused."""
    guess, proofs = first_proved(maxima(4, 2, ties, differ, 1))
    whole = guess.document(proofs)
    assert said_of(whole)
    assert beside_a_claim(whole)
    noise = copy.deepcopy(whole["noise"])
    noise[0][0], noise[0][1] = noise[0][1], noise[0][0]
    changes: list[dict[str, Any]] = [
        {"noise": noise},
        {"proofs": cut(proofs, 0)},
        {"proofs": cut(proofs, len(proofs) - 1)},
        {"proofs": [*proofs, proofs[-1]]},
        {"proofs": [{"kind": "solver", "solver": "z3", "version": "1"} for _ in proofs]},
        {"answers": 3},
    ]
    if differ == "each":
        # A pair of neighbours with a smaller ratio: the proofs are about another one.
        left = [2, *whole["left"][1:]] if ties == "uniform" else [*whole["left"][:3], 2]
        place = 0 if ties == "uniform" else 3
        right = [v - 1 if k == place else v + 1 for k, v in enumerate(left)]
        changes.append({"left": left, "right": right})
    if ties == "first":
        changes += [{"own": [2, 2, 2]}, {"others": [0] * 4}, {"own": [1]}]
    for change in changes:
        assert not beside_a_claim(changed(whole, change)), change


def test_a_wrong_guess_is_not_proved() -> None:
    """Each other class as the pair leaves a claim that is false."""
    about = maxima(4, 2, "uniform", "each", 1)
    right, *_ = guesses(about)
    for given in about.classes():
        assert (proved(Guess(about, "classes", given)) is not None) == (given == right.left)


def test_where_no_pair_stands_for_all_every_pair_is_formed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise that is not ordered, measures of all outputs and repeated answers take the long way."""
    monkeypatch.setattr(standing, "FORMED", 0)
    path = tmp_path / "case.toml"
    values = {"queries": 2, "noise": GEOMETRIC, "ties": "uniform", "differ": "each", "privacy": "ratio = 4"}
    upside = '{ table = [["alpha", "1 - alpha"], ["1/2", "1/2"]] }'
    for change, stands in (
        ({}, True),
        ({"noise": upside}, False),
        ({"privacy": "ratio = 4\ndelta = 0.1"}, False),
        ({"ties": 'uniform"\ntimes = 2 # '}, False),
    ):
        path.write_text(CASE.format(**{**values, **change}))
        model = load(path).model
        assert isinstance(model, Model)
        assert bool(model.stands_for) == stands
        assert stands or len(model.pairs) > 1


def test_the_kernel_refuses_noise_that_is_none() -> None:
    """Rows with different sums, or entries that may be negative, are no noise."""
    guess, proofs = first_proved(maxima(3, 1, "uniform", "each", 1))
    whole = guess.document(proofs)
    for noise in ([["1", "alpha"], ["alpha", "2"]], [["2", "-1"], ["-1", "2"]], [["1"]]):
        with pytest.raises(Rejected):
            said_of(changed(whole, {"noise": noise}))


def test_answers_that_are_named() -> None:
    """With ties to the first index an answer in its range is named for each noisy value."""
    guess, proofs = first_proved(maxima(3, 2, "first", "each", 1))
    whole = guess.document(proofs)
    for name, out in (("own", (0, 3, -1)), ("others", (2, -1, 3))):
        given = whole[name]
        wrong = [[*given[:k], f, *given[k + 1 :]] for k in range(len(given)) for f in out]
        for answers in (*wrong, given[1:], [*given, given[0]], []):
            with pytest.raises(Rejected, match="must name an answer for each noisy value"):
                said_of(changed(whole, {name: answers}))
