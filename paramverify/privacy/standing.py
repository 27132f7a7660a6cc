"""Proves which neighbours have the largest ratio, for all values of the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.algebra.domains import Domain
from paramverify.answers import Proved
from paramverify.claims import Claim, positive, without_enclosure
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.models.mechanisms import Input, Mechanism, read_differ
from paramverify.models.neighbourhoods import FORMED, Neighbourhood, count_pairs, is_listed
from paramverify.models.worst_pairs import Guess, Guessing, Need
from paramverify.tables import Table

BOXES = 200  # that are looked at for one sign: most are seen at once
BOUNDS = frozenset({"epsilon", "ratio", "length"})  # of a case about the ratio of each output


@dataclass(frozen=True, eq=False)
class ProvedPair:
    """Neighbours that are proved to have the largest ratio everywhere on the domain."""

    guess: Guess
    proofs: Sequence[Mapping[str, Any]]
    knows_worst_pair: bool = True

    def worst_pair(self, differ: str, by: int | None) -> tuple[Input, Input]:
        """Returns the neighbours."""
        del differ, by  # the guess is about them
        left, right = (tuple(map(Fraction, c.given)) for c in (self.guess.left, self.guess.right))
        return left, right

    def worst_pair_document(self, differ: str, by: int | None, pair: tuple[Input, Input]) -> dict[str, Any]:
        """Returns the statement that they have the largest ratio, with its proofs."""
        del differ, by, pair
        return self.guess.document(self.proofs)


def standing(mechanism: Mechanism, table: Table, case: Mapping[str, Any]) -> Neighbourhood | None:
    """Returns the neighbours that `[neighbours]` describes, where they are too many and one pair is proved.

    The pair is about the ratio of one output: where the `case` asks for more, all pairs count.
    """
    asked, made = case.get("privacy"), case.get("mechanism")
    more = isinstance(made, dict) and made.get("times", 1) != 1
    if more or not isinstance(asked, dict) or not BOUNDS.issuperset(asked):
        return None
    if not isinstance(mechanism, Guessing) or is_listed(table):
        return None
    differ, by = read_differ(table)
    pairs = count_pairs(mechanism.answers, differ, by)
    for guess in mechanism.guesses(differ, by) if pairs > FORMED else ():
        proofs = proved(guess)
        if proofs is not None:
            return Neighbourhood(mechanism, ProvedPair(guess, proofs), differ, by, pairs)
    return None


def proved(guess: Guess) -> list[Mapping[str, Any]] | None:
    """Returns a proof of each need of a guess that is not the number 0; None where one is not proved."""
    domain = without_enclosure(Claim(guess.about.zero, guess.about.domain)).domain
    proofs: list[Mapping[str, Any]] = []
    for need in guess.needs():
        if not need.polynomial and not need.strict:
            continue
        answer = decide_exactly(_claim(need, domain), RemainingWork(boxes=BOXES))
        if not isinstance(answer, Proved) or answer.certificate is None:
            return None
        proofs.append(answer.certificate["proof"])
    return proofs


def _claim(need: Need, domain: Domain) -> Claim:
    return positive(need.polynomial, domain) if need.strict else Claim(need.polynomial, domain)
