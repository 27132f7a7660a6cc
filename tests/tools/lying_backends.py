"""Stand-in backends that answer wrongly, each in its own way; named `lying_backends:NAME`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from paramverify.answers import Answer, End, Open, Proved, Refuted
from paramverify.backends import DECIDES, Ability
from paramverify.claims import Claim
from paramverify.evidence import certificates
from paramverify.exact.branching import decide_exactly

SYSTEMS = Path(__file__).resolve().parents[2] / "cases" / "interactive"


@dataclass(frozen=True)
class StandIn:
    """A backend that calls a function."""

    act: Callable[[Claim], Answer]
    builtin: bool = False
    found: str | None = "1.0"
    name: str = "stand-in"
    description: str = "for tests"
    install: str = "pip install stand-in"
    abilities: frozenset[Ability] = DECIDES

    def version(self) -> str | None:
        return self.found

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        return self.act(claim)


def slowly(claim: Claim) -> Answer:
    time.sleep(0.15)
    return Proved(transcript="unsat")


PROVES_ALL = StandIn(lambda claim: Proved(transcript="unsat"))
REFUTES_ALL = StandIn(lambda claim: Refuted({name: i.simplest() for name, i in claim.domain.box.items()}))
FORGES = StandIn(lambda claim: Proved(certificates.certificate(claim, certificates.CONSTANT)), builtin=True)
BOASTS = StandIn(lambda claim: Proved({"proof": ["+"]}))
FORGES_BESIDE = StandIn(lambda claim: Proved(certificates.certificate(claim, certificates.CONSTANT)))
NONSENSE = StandIn(lambda claim: Proved({"proof": {"kind": "trust me"}}))
WITHOUT_PROOF = StandIn(lambda claim: Proved({"kind": "constant"}))
NO_JSON = StandIn(lambda claim: Proved({"proof": {"kind": Fraction(1, 2)}}))
NO_OBJECT = StandIn(lambda claim: Proved(["+"]))  # type: ignore[arg-type]
NOTHING = StandIn(lambda claim: None)  # type: ignore[arg-type,return-value]
STRANGER = StandIn(lambda claim: Refuted({"stranger": Fraction(1)}))
HONEST = StandIn(decide_exactly)
TRUSTS = StandIn(
    lambda claim: Proved(
        {"proof": {"kind": "solver", "solver": "z3", "version": "4", "options": {}, "transcript": ""}}
    )
)
SLOW = StandIn(slowly)
MISSING = StandIn(lambda claim: Proved(), found=None)

SHRUGS = StandIn(lambda claim: Open(End.GAVE_UP, "unknown"), name="shrug")
LIAR = "lying_backends:PROVES_ALL"

# Simplification leaves something of this claim, so a backend has to say it.
TOUCHING = """
[parameters]
x = "[0, 1]"
y = "[0, 1]"
[claim]
holds = "(x - y)**2 + (x*y - 1/4)**2 >= 0"
"""

# That the probability of a is not negative has to be proved.
CHAIN = """
[parameters]
x = "[0, 1]"
y = "[0, 1]"
[model]
kind = "chain"
initial = ["s"]
[states]
s = { to = { a = "((x - y)**2 + (x*y - 1/4)**2)/4", b = "1 - ((x - y)**2 + (x*y - 1/4)**2)/4" } }
a = { labels = ["a"] }
b = { }
[formulas]
f = "P<=1 [ X a ]"
"""


def trusting_system() -> str:
    """Returns an interactive system with a bound that a liar has to accept."""
    text = (SYSTEMS / "survey.toml").read_text(encoding="utf-8")
    rest = text.partition("[privacy]")[2]
    bound = next(line for line in rest.splitlines() if line.partition("=")[0].strip() in ("ratio", "epsilon"))
    return text.replace(bound, 'ratio = "1 + p/100"')
