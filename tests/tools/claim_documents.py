"""Documents of evidence for tests: statements whose claims are written out with their domains."""

from __future__ import annotations

from typing import Any

from paramverify.evidence import envelope

Json = dict[str, Any]


def statement(claim: Json, proof: Any, kind: str = "claim", **more: Any) -> Json:
    """Returns the statement of a claim; its domain is still written out."""
    domain = {name: value for name, value in claim.items() if name != "polynomial"}
    return {"kind": kind, "domain": domain, "polynomial": claim["polynomial"], "proof": proof, **more}


def document(*statements: Json, status: str = "holds", **more: Any) -> Json:
    """Returns a document of statements, in which domains are numbered; the claim of a witness has its own."""
    if "witness" in more:
        own = statement(more["witness"]["claim"], None)
        about = {name: own[name] for name in ("domain", "polynomial")}
        more["witness"] = {"kind": "claim", **more["witness"], "claim": about}
    return envelope.document(status, envelope.statements(*statements), more)


def full(document: Json, about: Json) -> Json:
    """Returns the claim of a statement with its domain written out."""
    return {**document["domains"][about["domain"]], "polynomial": about["polynomial"]}


def claims_of(document: Json, *kinds: str) -> list[Json]:
    """Returns the statements of some kinds."""
    return [each for each in document["statements"] if each["kind"] in (kinds or ("claim",))]
