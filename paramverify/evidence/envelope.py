"""Documents of evidence as they are written, for `kernel.documents`: statements, and what is said besides.

While evidence is put together, each statement has its domain written out; `document` lists the domains once,
and statements name them by their numbers. A part of a document has any of its keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from paramverify.algebra.domains import Domain
from paramverify.claims import Claim, to_document, without_enclosure
from paramverify.kernel.evidence_shapes import FORMAT, VERSION
from paramverify.kernel.strict_reading import shown

Part = Mapping[str, Any]
DIGITS = 12  # of a digest that are shown
ORDER = (
    *("format", "version", "status", "case", "side_condition", "domains", "statements", "points", "outputs"),
    *("windows", "reduction", "witness", "budget"),
)


def domain_document(domain: Domain) -> dict[str, Any]:
    """Returns a domain as JSON data; the constant `E` has no interval."""
    document = to_document(without_enclosure(Claim(domain.ring.number(0), domain)))
    del document["polynomial"]
    return document


def sign(claim: Claim) -> dict[str, Any]:
    """Returns a claim as a part of a statement: its domain written out, and its polynomial."""
    domain = to_document(claim)
    polynomial = domain.pop("polynomial")
    return {"domain": domain, "polynomial": polynomial}


def statements(*found: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a part of a document that has these statements."""
    return {"statements": list(found)}


def distinct(found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Returns the statements whose domain and polynomial were not there before."""
    known: dict[str, Mapping[str, Any]] = {}
    for statement in found:
        identity = [statement["domain"], statement["polynomial"]]
        known.setdefault(json.dumps(identity, sort_keys=True), statement)
    return list(known.values())


def document(status: str, *parts: Part) -> dict[str, Any]:
    """Returns a document of evidence from its parts; statements of all of them follow each other."""
    found: dict[str, Any] = {"format": FORMAT, "version": VERSION, "status": status, "statements": []}
    for part in parts:
        found |= {name: value for name, value in part.items() if name != "statements"}
        found["statements"] += part.get("statements", [])
    numbers: dict[str, int] = {}
    domains: list[Any] = []

    def numbered(about: Mapping[str, Any]) -> dict[str, Any]:
        """Returns something about a domain with the number of that."""
        if "domain" not in about:
            return dict(about)
        name = json.dumps(about["domain"], sort_keys=True)
        if name not in numbers:
            numbers[name] = len(numbers)
            domains.append(about["domain"])
        return {**about, "domain": numbers[name]}

    found["statements"] = [numbered(statement) for statement in found["statements"]]
    if "witness" in found:
        found["witness"] = {**found["witness"], "claim": numbered(found["witness"]["claim"])}
    if "reduction" in found:
        found["reduction"] = numbered(found["reduction"])
    found["domains"] = domains
    return {name: found[name] for name in ORDER if name in found}


def _title(title: Any) -> str:
    """Returns a title in quotes, also where it is shortened."""
    text = shown(title)
    return f"{text}'" if text.startswith("'") and not text.endswith("'") else text


def changed(case: Any, digest: str, title: str | None = None) -> str:
    """Returns that evidence does not belong to a case file: it was changed, or has another title.

    `case` is what the evidence says of its case, `digest` and `title` are those of the file.
    """
    known = case if isinstance(case, dict) else {}
    before, now = f"{str(known.get('digest', 'none'))[:DIGITS]}…", f"{digest[:DIGITS]}…"
    if title is not None and known.get("title") != title:
        about = f"{_title(known.get('title', ''))}, digest {before}"
        return (
            f"the evidence belongs to another case file: {about}; this one is {_title(title)}, digest {now}"
        )
    return f"the case file, or a file that it names, was changed: digest {before}, now {now}"
