"""Claims that have, together, proofs of every kind that the built-in procedures make."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from claim_tools import make

from paramverify.answers import Proved
from paramverify.claims import Claim
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork

Json = dict[str, Any]


# one claim or more for every kind of proof
CLAIMS: dict[str, Claim] = {
    "factors": make("p*(1-p)*(p-q)**2*(p**2 - p + 3/10 + q/100)"),
    "cut": make("(p - 1/3)**2 + (q - 2/5)**4 + p*(q-2/5)**2 + 1/10**6"),
    "convex": make("(p - 1/3)**2 + (q - 2/5)**2*(1 + p)"),
    "algebraic": make("p**4*q**2 + p**2*q**4 + 1/27 - p**2*q**2"),
    "blowup": make("p**3 - p**2*q + q**3 + p**4 - p**2*q**2/2"),
    "quadratic": make("(p - q*r)**2 + (q - r**2)**2", "pqr"),
    "ends": make("p*(q - 1/2)**2 + (1-p)*(q - 1/3)**2 + q/100 - 1/1000"),
    "monotone": make("p*(1 + q) + (q**2 - 1/2)**2 + p**2*q"),
    "fixed": make("(q - p)**2 * (q**2 - q + 3/10)", {"p": "1/3", "q": "(0, 1)"}),
    "outside": make("1 - p - q**2", "pq", ["p**2 + q**2 <= 1/2"]),
    "constraint": make(
        "(1 - p - q) * (p**2 - p + 3/10 + q/9)", "pq", ["(1 - p - q)**3 > 0", "1 - p - q >= 0"]
    ),
    "divide": make("p - q", "pq", ["p**2 >= q**2"]),
    "stretch": make("3/10 - p*q*(1 - p - q)*8", "pq", ["p + q < 1"]),
    "eliminate": make("p*q - p**2*q**2*3 + r*p", "pqr", ["p + q == 1"]),
    "contradiction": make("p - 2", "pq", ["p > q", "p < q"]),
    "enclose": make("exp(1/2)*p*(1-p) + 1/10 - p*q*(1-q)*(1-p)", "pq", constant=Fraction(1, 2)),
    "exponential": make("exp(1/2) - 8/5", constant=Fraction(1, 2)),
    "product": make("(p*(1 - q))**20 - 2*(p*(1 - q))**19 + 11/10"),
    "roots": make("(p**2 - 1/2)**2 * (p**4 - p + 1/2)", "p"),
    "shared roots": make("p**2 - 1/2", "p", ["p**2 >= 1/2"]),
}


def proof_of(claim: Claim) -> Json:
    answer = decide_exactly(claim, RemainingWork(5000))
    assert isinstance(answer, Proved), answer
    assert answer.certificate is not None
    found: Json = json.loads(json.dumps(answer.certificate["proof"]))
    return found


PROOFS = {name: proof_of(claim) for name, claim in CLAIMS.items()}
