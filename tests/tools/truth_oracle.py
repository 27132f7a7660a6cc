"""An oracle for documents that a checker accepts: what they say is so at the points that are tried."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import mpmath
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

from paramverify.kernel.claim_evidence import KernelReport


def is_true(document: Json, original: Json, report: KernelReport, random: Random) -> bool:
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
    if kind == "script":
        answered = [e for q in document["questions"] if q["status"] == "holds" for e in q["claims"]]
        return all(
            rests_on_solvers(e["proof"], {}) or claim_is_true(e["claim"], known, random) for e in answered
        )
    if not trust_is_told(document, lemmas, report):
        return False
    if kind == "cone":
        return report.status == ("violated" if document["kind"] == "loop" else "holds") and (
            cone_is_true(document, random, not report.not_compared)
        )
    if kind == "regions":
        return report.status == "region map" and map_is_true(document, random)
    if kind == "unwinding":
        status = "budget" if "tight" in document else document["status"]
        return report.status == status and system_is_true(document, original, random)
    if kind == "sets":
        return report.status == document["status"] and sets_are_true(document, random)
    if kind == "losses":
        return report.status == document["status"] and losses_are_true(document, random)
    if kind == "intervals":
        return report.status == "exact intervals" and intervals_are_true(document)
    entries = document["claims"]
    proved = [e for e in entries if e["proof"] is not None and not rests_on_solvers(e["proof"], lemmas)]
    if not all(claim_is_true(entry["claim"], known, random) for entry in proved):
        return False
    if report.status == "violated":
        witness = document["witness"]
        return irrational_is_true(witness) if "algebraic" in witness else witness_is_true(witness)
    return report.status == "unknown" or (bool(entries) and all(e["proof"] is not None for e in entries))


def trust_is_told(document: Json, lemmas: Json, report: KernelReport) -> bool:
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


def losses_are_true(document: Json, random: Random) -> bool:
    """Whether divergences are within their bound at some points and orders, or beyond it at a witness."""
    number, logs = document["bound"]
    bound = _real(Fraction(number))
    bound += sum(_real(Fraction(factor)) * mpmath.log(_real(Fraction(n))) for factor, n in logs)
    domain = document["domain"]
    orders = [None] if document["measure"] == "kl" else [Fraction(k, 8) for k in (9, 16, 48, 160)]
    for claim in document["claims"]:
        for point in points_of(domain, random, 6):
            pairs = _shares(claim, point)
            negative = any(p < 0 or q < 0 for p, q in pairs)  # then nothing is said
            if not negative and any(divergence(pairs, a) > (a or 1) * bound + _real(TINY) for a in orders):
                return False
    if document["status"] != "violated":
        return bool(document["claims"]) or document["status"] == "unknown"
    witness = document["witness"]
    point = {name: Fraction(text) for name, text in witness["parameters"].items()}
    if "constant" in domain:
        point["E"] = exp(Fraction(domain["constant"]))
    order = Fraction(witness["order"]) if "order" in witness else None
    pairs = _shares(witness["claim"], point)
    proper = all(p >= -TINY and q >= -TINY for p, q in pairs)
    return inside(domain, point) and proper and divergence(pairs, order) > (order or 1) * bound - _real(TINY)


def _shares(claim: Json, point: dict[str, Fraction]) -> list[tuple[Fraction, Fraction]]:
    total = value_of(claim["total"], point)
    return [(value_of(p, point) / total, value_of(q, point) / total) for p, q in claim["outputs"]]


def divergence(pairs: list[tuple[Fraction, Fraction]], order: Fraction | None) -> Any:
    """Returns the divergence of Kullback and Leibler, or the one of Renyi of an order."""
    kept = [(_real(p), _real(q)) for p, q in pairs if p > 0]
    if any(q <= 0 for _, q in kept):
        return mpmath.inf
    if order is None:
        return sum(p * mpmath.log(p / q) for p, q in kept)
    a = _real(order)
    return mpmath.log(sum(p**a * q ** (1 - a) for p, q in kept)) / (a - 1)


def _real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def intervals_are_true(document: Json) -> bool:
    """Whether each part has the status that the signs of all claims have at its points."""
    domain = document["domain"]
    ((name, ends),) = domain["box"].items()
    low, high = (Fraction(end) for end in ends[1:-1].split(", "))
    places = [(low, low), *(tuple(map(Fraction, b["between"])) for b in document["breaks"]), (high, high)]
    for part in document["parts"]:
        first, last = part["ends"]
        start, stop = places[first][1], places[last][0]
        inner = [start + (stop - start) * Fraction(k, 8) for k in range(1, 8)] if first < last else []
        corners = [places[k][0] for k, closed in zip(part["ends"], part["closed"], strict=True) if closed]
        exact = [x for x in corners if (x, x) in places]
        if any(_status(document, {name: x}) != part["status"] for x in {*inner, *exact}):
            return False
    return bool(document["parts"])


def _status(document: Json, point: dict[str, Fraction]) -> str:
    if not inside({**document["domain"], "box": {}}, point):
        return "outside"
    return "safe" if all(value_of(text, point) >= 0 for text in document["claims"]) else "violating"


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
