"""Sums of squares by semidefinite programming, made exact, by `exact.squares`."""

from __future__ import annotations

from collections.abc import Mapping

from paramverify.algebra.constants import GENERATOR
from paramverify.answers import Answer
from paramverify.backends import Ability
from paramverify.backends._packages import installed
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.exact.procedure_outcomes import Outcome, answer, by_enclosures, settle
from paramverify.formats.refutations import refuter

NEEDED = ("numpy", "scipy", "clarabel")
SOLVERS = ("clarabel", "scs")


class Sos:
    """The backend `sos`, which proves; it refutes only by chance. Its certificates are identities.

    The semidefinite program is solved in floats; the kernel multiplies out what was made of the solution. So
    nobody's word is trusted.
    """

    name = "sos"
    builtin = False
    description = "sums of squares by semidefinite programming, with exact certificates; option solver"
    install = "pip install clarabel numpy scipy"
    abilities = frozenset({Ability.CLAIMS})
    place = 12
    certifies = True
    preload = ("numpy", "scipy.sparse", "scipy.linalg", "clarabel")

    def version(self) -> str | None:
        """Returns the version of Clarabel, or None where it or what it needs is missing."""
        return installed(*NEEDED)

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Proves the claim, refutes it at a point that was tried, or leaves it open.

        Raises:
            InputError: an option other than `solver`, or another solver than clarabel or scs.
        """
        unknown = next((name for name in options if name != "solver"), None)
        solver = options.get("solver", SOLVERS[0])
        if unknown is not None or solver not in SOLVERS:
            raise InputError(f"the option of sos is solver, {' or '.join(SOLVERS)}: {dict(options)}")
        from paramverify.exact.squares.square_proofs import prove

        def decided(part: Claim) -> Outcome:
            return settle(part, lambda leaf, confirm: prove(leaf, confirm, solver), refuter(part))

        if claim.domain.constant is None or GENERATOR in claim.domain.box:
            return answer(claim, decided(claim))
        return answer(claim, by_enclosures(claim, decided, lambda: False))


BACKENDS = (Sos(),)
