"""How likely all outputs of one length are under two secrets at a point, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import fmpq_poly

from paramverify.algebra.reals import Real
from paramverify.errors import InputError
from paramverify.models.evaluation import Numbers, probabilities_at
from paramverify.models.priors import SecretPair

Indices = tuple[int, ...]  # of observations


@dataclass(frozen=True, eq=False)
class Shares:
    """Both probabilities of each possible sequence, over `scales`, which are positive; in a fixed order."""

    numbers: Numbers
    words: Mapping[Indices, tuple[fmpq_poly, fmpq_poly]]
    scales: tuple[fmpq_poly, fmpq_poly]

    def probabilities(self, word: Indices) -> tuple[Real, Real]:
        """Returns both probabilities of a sequence."""
        (p, q), (left, right) = self.words[word], self.scales
        return self.numbers.real(p, left), self.numbers.real(q, right)


def shares_at(numbers: Numbers, pair: SecretPair, names: tuple[str, str], length: int) -> Shares:
    """Returns the probabilities of all sequences of a length; `names` are those of the secrets that are told.

    By the forward recursion of [F] section 2 on numbers, apart from the encodings.

    Raises:
        InputError: a secret is impossible there.
        LimitError: more than `MAX_SEQUENCES` sequences.
    """
    for name, start in zip(names, (pair.pi, pair.tau), strict=True):
        if numbers.mass(start).sign() <= 0:
            raise InputError(f"the secret {name!r} has probability zero at this point")
    left, right = probabilities_at(numbers, (pair.pi, pair.tau), length)
    zero = fmpq_poly()
    words = {
        word: (left.get(word, zero), right.get(word, zero)) for word in sorted(left.keys() | right.keys())
    }
    scale = numbers.value(numbers.model.hmm.denominator) ** length
    return Shares(numbers, words, (numbers.value(pair.pi.mass) * scale, numbers.value(pair.tau.mass) * scale))
