"""An oracle for documents that a checker accepts: what they say is so at the points that are tried."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from forging_tools import (
    TINY,
    Json,
    claim_is_true,
    cone_is_true,
    exp,
    inside,
    largest_is_true,
    map_is_true,
    points_of,
    rests_on_solvers,
    system_is_true,
    value_of,
    witness_is_true,
)

from paramverify.checker.claims import Report


def is_true(document: Json, original: Json, report: Report, random: Random) -> bool:
    """Whether all that is said by the report on an accepted document is so."""
    statement = document.get("reduction")
    if statement not in (None, original.get("reduction")) and not largest_is_true(statement):
        return False
    known = [e["claim"] for k in ("claims", "obligations") for e in original.get(k, []) if "claim" in e]
    lemmas = {lemma["name"]: lemma["proof"] for lemma in document.get("lemmas", [])}
    for entry in document.get("obligations", []):
        if not rests_on_solvers(entry["proof"], {}) and not claim_is_true(entry["claim"], known, random):
            return False
    kind = document["format"].removeprefix("paramverify-")
    if not trust_is_told(document, lemmas, report):
        return False
    if kind == "cone":
        return report.status == ("violated" if document["kind"] == "loop" else "holds") and (
            cone_is_true(document, random, not report.not_compared)
        )
    if kind == "regions":
        return report.status == "region map" and map_is_true(document, random)
    if kind == "unwinding":
        return report.status == document["status"] and system_is_true(document, original, random)
    if kind == "sets":
        return report.status == document["status"] and sets_are_true(document, random)
    entries = document["claims"]
    proved = [e for e in entries if e["proof"] is not None and not rests_on_solvers(e["proof"], lemmas)]
    if not all(claim_is_true(entry["claim"], known, random) for entry in proved):
        return False
    if report.status == "violated":
        witness = document["witness"]
        return irrational_is_true(witness) if "algebraic" in witness else witness_is_true(witness)
    return report.status == "unknown" or (bool(entries) and all(e["proof"] is not None for e in entries))


def trust_is_told(document: Json, lemmas: Json, report: Report) -> bool:
    """Whether the claims that rest on solvers are counted, and the solvers named."""
    names: set[str] = set()
    count = 0
    for entry in [*document.get("claims", []), *document.get("obligations", [])]:
        words = rests_on_solvers(entry, lemmas) if isinstance(entry, dict) else set()
        count += bool(words)
        names |= words
    return report.trusted == count and set(report.solvers) == names


def sets_are_true(document: Json, random: Random) -> bool:
    """Whether sums of positive parts are at most their rooms at some points, and larger at a witness."""
    domain = document["domain"]
    for claim in (c for c in document["claims"] if not rests_on_solvers(c["tree"], {})):
        if any(_beyond(claim, point) > TINY for point in points_of(domain, random, 12)):
            return False
    if document["status"] != "violated":
        return bool(document["claims"]) or document["status"] == "unknown"
    point = {name: Fraction(text) for name, text in document["witness"]["parameters"].items()}
    if "constant" in domain:
        point["E"] = exp(Fraction(domain["constant"]))
    return inside(domain, point) and _beyond(document["witness"]["claim"], point) > 0


def _beyond(claim: Json, point: dict[str, Fraction]) -> Fraction:
    """Returns the sum of the positive parts of all terms, minus the room."""
    terms = (value_of(term, point) for term in claim["terms"])
    return sum((max(Fraction(0), term) for term in terms), Fraction(0)) - value_of(claim["room"], point)


def irrational_is_true(witness: Json) -> bool:
    """Whether a claim fails, but for a tiny error, at a rational point very near to an irrational one."""
    place = witness["algebraic"]
    low, high = map(Fraction, place["interval"])
    below = value_of(place["minimal"], {"t": low}) > 0
    for _ in range(200):
        middle = (low + high) / 2
        if (value_of(place["minimal"], {"t": middle}) > 0) == below:
            low = middle
        else:
            high = middle
    point = {name: value_of(text, {"t": low}) for name, text in place["coordinates"].items()}
    claim = witness["claim"]
    shifted = [[f"{text} + {TINY}", ">="] for text, _ in claim["constraints"]]
    near = all(_near(point[name], ends) for name, ends in claim["box"].items())
    fails = value_of(claim["polynomial"], point) < 0
    return near and fails and inside({"box": {}, "constraints": shifted}, point)


def _near(value: Fraction, ends: str) -> bool:
    low, high = (Fraction(end) for end in ends[1:-1].split(", "))
    return low - TINY <= value <= high + TINY
