"""Exact real root isolation, by `exact.univariate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paramverify.answers import Answer
from paramverify.backends import DECIDES, Ability
from paramverify.claims import Claim
from paramverify.exact.procedure_outcomes import VERSION, Outcome, answer, settle
from paramverify.exact.univariate import decide_small
from paramverify.formats.refutations import Confirm, refuter


@dataclass(frozen=True)
class RootsBackend:
    """Exact real root isolation, for claims that come down to one variable each.

    It takes no part in the default strategy: `bernstein` begins with the same procedure, so that in a race it
    would do the same work a second time.
    """

    name: str = "roots"
    builtin: bool = True
    description: str = "exact real root isolation; claims in one variable"
    install: str = ""
    abilities: frozenset[Ability] = DECIDES

    def version(self) -> str | None:
        """Returns the version of this package."""
        return VERSION

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Simplifies the claim and decides the parts, if each mentions one variable."""

        def leaf(part: Claim, confirm: Confirm) -> Outcome:
            return decide_small(part, confirm) or Outcome(reason="more than one variable is left")

        return answer(claim, settle(claim, leaf, refuter(claim)))


BACKENDS = (RootsBackend(),)
