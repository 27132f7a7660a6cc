"""Priors, secrets and mechanisms against the numbers of the papers and against enumeration by hand."""

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from paramverify.algebra.polynomials import value_at
from paramverify.claims import Origin
from paramverify.encodings.sequences import probabilities
from paramverify.errors import InputError
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.privacy.cases import PrivacyCase, load

CASES = Path(__file__).parents[2] / "cases"


def read(tmp_path: Path, text: str) -> PrivacyCase:
    path = tmp_path / "case.toml"
    path.write_text(text)
    return load(path)


def at(case: PrivacyCase, left: str, right: str, output: str, **point: Fraction) -> ExactWitness:
    return evaluate(case.model, Origin(left, right, tuple(output.split())), point)


@pytest.mark.parametrize("p", [Fraction(1, 7), Fraction(1, 2), Fraction(9, 10)])
def test_table_1_of_example_4(p: Fraction) -> None:
    """The observation probabilities of Example 4 are the formulas of the paper's Table 1."""
    published = {
        ("anything", "0"): (p**2 - 4 * p + 4) / 6,
        ("anything", "1"): (-2 * p**2 + 2 * p + 1) / 6,
        ("anything", "2"): (p**2 + 2 * p + 1) / 6,
        ("somebody", "0"): (4 - 3 * p) / (12 - 6 * p),
        ("somebody", "1"): (4 - 3 * p) / (12 - 6 * p),
        ("somebody", "2"): 2 / (6 - 3 * p),
    }
    case = load(CASES / "geometric-independent.toml")
    found = {
        (secret, word[0]): value_at(f.numerator, {"p": p}) / value_at(f.denominator, {"p": p})
        for word, secret, f in probabilities(case.model)
    }
    assert found == published


def geometric(f: int, o: int, n: int, alpha: Fraction) -> Fraction:
    """The truncated geometric mechanism, by its definition."""
    scale = 1 if o in (0, n) else 1 - alpha
    return scale / (1 + alpha) * alpha ** abs(o - f)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["first", "uniform"])
def test_noisy_max_against_enumeration_of_all_noise(ties: str, tmp_path: Path) -> None:
    """The distribution of the noisy maximum equals the sum over all noisy answers."""
    case = read(
        tmp_path,
        f"""
        [mechanism]
        kind = "noisy_max"
        queries = 3
        noise = {{ truncated_geometric = "1/3", range = 3 }}
        ties = "{ties}"
        [neighbours]
        differ = "one"
        [privacy]
        epsilon = "ln(2)"
        """,
    )
    alpha = Fraction(1, 3)
    for word, name, f in probabilities(case.model):
        answers = [int(v) for v in name.strip("()").split(",")]
        expected = Fraction(0)
        for noisy in product(range(4), repeat=3):
            weight = Fraction(1)
            for answer, value in zip(answers, noisy, strict=True):
                weight *= geometric(answer, value, 3, alpha)
            best = [k for k, v in enumerate(noisy) if v == max(noisy)]
            chosen = best if ties == "uniform" else best[:1]
            if int(word[0]) - 1 in chosen:
                expected += weight / len(chosen)
        assert value_at(f.numerator, {}) / value_at(f.denominator, {}) == expected


def test_bayesian_network_against_enumeration_by_hand(tmp_path: Path) -> None:
    """A network with conditional tables over two parents is conditioned as by hand."""
    case = read(
        tmp_path,
        """
        [parameters]
        p = "(0, 1)"
        q = "(0, 1)"
        [prior]
        john = { bernoulli = "p" }
        ward = { categorical = { A = "1/2", B = "1/2" } }
        [prior.kin]
        given = ["john", "ward"]
        [prior.kin.table]
        "0,A" = { 0 = "1-q", 1 = "q" }
        "0,B" = { 0 = 1 }
        "1,A" = { 1 = 1 }
        "1,B" = { 0 = "q", 1 = "1-q" }
        [mechanism]
        kind = "geometric"
        query = "john + kin"
        noise = { truncated_geometric = 0.5, range = 2 }
        [secrets]
        yes = "john == 1 and ward == 'B'"
        no = "not (john == 1 and ward == 'B')"
        pairs = [["yes", "no"]]
        [privacy]
        ratio = 4
        """,
    )
    p, q = Fraction(1, 3), Fraction(1, 5)
    joint = {
        (0, "A", 0): (1 - p) / 2 * (1 - q),
        (0, "A", 1): (1 - p) / 2 * q,
        (0, "B", 0): (1 - p) / 2,
        (1, "A", 1): p / 2,
        (1, "B", 0): p / 2 * q,
        (1, "B", 1): p / 2 * (1 - q),
    }
    yes = {k: w for k, w in joint.items() if k[:2] == (1, "B")}
    no = {k: w for k, w in joint.items() if k[:2] != (1, "B")}
    for output in range(3):
        witness = at(case, "yes", "no", str(output), p=p, q=q)
        expected = [
            sum(w * geometric(k[0] + k[2], output, 2, Fraction(1, 2)) for k, w in part.items())
            / sum(part.values())
            for part in (yes, no)
        ]
        assert [x.rational for x in witness.probabilities] == expected


def test_initial_distributions_state_by_state(tmp_path: Path) -> None:
    """`[prior.NAME]` gives a distribution over the states of an explicit model."""
    case = read(
        tmp_path,
        """
        [parameters]
        p = "(0, 1)"
        [mechanism]
        kind = "hmm"
        states = ["a", "b"]
        observations = ["x", "y"]
        [mechanism.emissions]
        a = { x = "2/3", y = "1/3" }
        b = { y = 1 }
        [mechanism.transitions]
        a = { a = "p", b = "1 - p" }
        b = { b = 1 }
        [prior.pi]
        a = "p"
        b = "1 - p"
        [prior.tau]
        b = 1
        [secrets]
        pairs = [["pi", "tau"]]
        [privacy]
        ratio = 2
        length = 2
        """,
    )
    witness = at(case, "pi", "tau", "y y", p=Fraction(1, 2))
    third, half = Fraction(1, 3), Fraction(1, 2)
    assert witness.probabilities[0].rational == half * third * (half * third + half) + half
    assert witness.probabilities[1].rational == 1


def test_secrets_that_are_impossible_at_some_points_are_noted(tmp_path: Path) -> None:
    """Where a secret has probability zero the prior is excluded, and the user is told where."""
    case = read(
        tmp_path,
        """
        [parameters]
        p = "[0, 1)"
        [prior]
        sick = { bernoulli = "p" }
        [mechanism]
        kind = "randomized_response"
        query = "sick"
        truth = "3/4"
        [secrets]
        yes = "sick == 1"
        no = "sick == 0"
        pairs = [["yes", "no"]]
        [privacy]
        ratio = 3
        """,
    )
    assert case.model.notes == (
        "priors with p = 0 are excluded, because 'yes' has probability zero there and cannot be compared",
    )
    with pytest.raises(InputError, match="the secret 'yes' has probability zero at this point"):
        at(case, "yes", "no", "1", p=Fraction(0))
