"""Branch and bound on exact Bernstein coefficients, by `exact.branching`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paramverify.answers import Answer
from paramverify.backends import DECIDES, Ability
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import VERSION, RemainingWork


@dataclass(frozen=True)
class BernsteinBackend:
    """Branch and bound on Bernstein coefficients, after simplification."""

    name: str = "bernstein"
    builtin: bool = True
    description: str = "branch and bound on exact Bernstein coefficients; options boxes, coefficients"
    install: str = ""
    abilities: frozenset[Ability] = DECIDES | {Ability.LOGARITHMS}
    place: int = 0

    def version(self) -> str | None:
        """Returns the version of this package."""
        return VERSION

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides the claim within the numbers of boxes and of coefficients that the options give.

        Raises:
            InputError: an option that is not a positive whole number.
        """
        return decide_exactly(claim, _work(options))


def _work(options: Mapping[str, str]) -> RemainingWork:
    work = RemainingWork()
    for name, text in options.items():
        if name not in ("boxes", "coefficients") or not text.isdecimal() or not int(text):
            raise InputError(
                f"{name} = {text}: the options are boxes and coefficients, positive whole numbers"
            )
        setattr(work, name, int(text))
    return work


BACKENDS = (BernsteinBackend(),)
