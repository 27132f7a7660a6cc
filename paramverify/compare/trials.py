"""What a comparison runs in the process of an attempt: simplification and a backend together.

That is a backend for the runner, named `module:attribute`, which takes the name of the backend to be measured
as an option. So the limits, and what is measured, cover all that an answer needs, simplification included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from paramverify.answers import Answer, Decision, Open, Proved, Refuted
from paramverify.backends import DECIDES, Ability, Backend, asked
from paramverify.claims import Claim
from paramverify.exact.settling import VERSION, Outcome, answer, by_enclosures, settle
from paramverify.formats.refutations import Confirm, refuter
from paramverify.processes.answers import formed
from paramverify.processes.attempts import Attempt, resolve, settings

NO_PROOF = {"kind": "none"}
NOT_ASKED = "settled by simplification before the backend was asked"


def claim_attempt(backend: str, claim: Claim, simplification: bool) -> Attempt:
    """Returns the attempt of a backend on a claim, with or without simplification in front of it."""
    options = {"backend": backend, "simplification": "on" if simplification else "off"}
    return Attempt(f"{__name__}:CLAIM_TRIAL", claim, options)


@dataclass
class _TrialLeaves:
    """Asks a backend about the claims that simplification left, and keeps what it said."""

    backend: Backend
    settings: Mapping[str, str]
    whole: Claim
    denies: bool = False  # of the claim that is compared, and without a point
    asked: int = 0
    certified: int = 0
    spurious: bool = False
    open: list[Open] = field(default_factory=list)
    transcripts: list[str] = field(default_factory=list)

    def decide(self, claim: Claim, confirm: Confirm) -> Outcome:
        self.asked += 1
        said = formed(asked(self.backend, claim, self.settings), claim)
        self.transcripts.append(said.transcript if not isinstance(said, Refuted) else "refuted")
        if isinstance(said, Refuted):
            point = confirm(said.point)
            self.spurious = self.spurious or point is None
            self.denies = self.denies or (point is None and claim.text() == self.whole.text())
            return Outcome(point=point, reason="its refutation does not stand exact evaluation")
        if isinstance(said, Proved):
            self.certified += said.certificate is not None
            if said.certificate is not None:
                proof = said.certificate.get("proof")  # what is none is kept, and rejected by the judge
                return Outcome(proof=proof if isinstance(proof, Mapping) else NO_PROOF)
            made = Decision(said, self.backend.name, self.backend.version() or "", self.settings)
            return Outcome(proof=made.proof)
        self.open.append(said)
        # What it says of a part, or of an enclosure, may be true where the whole claim holds.
        self.denies = self.denies or (said.denies and claim.text() == self.whole.text())
        return Outcome(reason=said.detail or said.end.value)


@dataclass(frozen=True)
class ClaimTrial:
    """Decides a claim with one backend; options `backend`, and `simplification`, which is on or off.

    `Proved` and `Refuted` are about the claim with `E` as the number it is: where the backend refutes an
    enclosure of it only, closer ones follow. A certificate is given only where it is complete without
    anybody's word.
    """

    name: str = "claim-trial"
    builtin: bool = False
    description: str = "a backend with or without simplification, for comparisons"
    install: str = ""
    abilities: frozenset[Ability] = DECIDES

    def version(self) -> str | None:
        """Returns the version of this package."""
        return VERSION

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Decides the claim with the backend that the options name."""
        backend = resolve(options["backend"])
        steps = None if options["simplification"] == "on" else ()
        leaves = _TrialLeaves(backend, settings(backend, {}, options["backend"]), claim)

        def closed(about: Claim) -> Outcome:
            leaves.spurious = False
            return settle(about, leaves.decide, refuter(about), steps)

        found = by_enclosures(claim, closed, lambda: leaves.spurious)
        transcript = "\n".join(filter(None, leaves.transcripts)) if leaves.asked else NOT_ASKED
        said = answer(claim, found)
        if isinstance(said, Proved):
            complete = leaves.certified == leaves.asked
            return Proved(said.certificate if complete else None, transcript)
        if isinstance(said, Open):
            end = leaves.open[0].end if leaves.open else said.end
            return replace(said, end=end, transcript=transcript, denies=leaves.denies)
        return replace(said, transcript=transcript)


CLAIM_TRIAL = ClaimTrial()
