"""Documents of evidence as they were before there was one envelope, and back: for tests that change them by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

DOMAIN = ("variables", "box", "constraints", "constant", "ties")
ABOUT = ("case", "points", "outputs", "side_condition", "windows")
ENGINES = {  # the kinds of statements with a format of their own before
    "cone": "cone",
    "cells": "regions",
    "line": "intervals",
    "unwinding": "unwinding",
    "formulas": "formulas",
    "slots": "slots",
    "paths": "enclosed",
    "composition": "composition",
    "automaton": "automaton",
    "script": "script",
}
KINDS = {format_of: kind for kind, format_of in ENGINES.items()}
NO_STATUS = {"regions": "map", "intervals": "map", "composition": "bounds", "script": "answers"}
OUTSIDE, LEAVES = {"-": "outside"}, {"set": "claim"}  # words of trees that are others now
SHOWN = {"levels": "holds", "closed": "holds", "ratios": "holds", "loop": "violated"}


class _Domains:
    """Domains by their numbers."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def number(self, domain: Any) -> int:
        if domain not in self.all:
            self.all.append(domain)
        return self.all.index(domain)

    def split(self, claim: Mapping[str, Any]) -> Json:
        """Returns a claim with the number of its domain."""
        domain = {name: claim[name] for name in DOMAIN if name in claim}
        return {"domain": self.number(domain), **{k: v for k, v in claim.items() if k not in DOMAIN}}


def envelope(old: Mapping[str, Any]) -> Json:
    """Returns a document with one envelope."""
    format_of = old["format"].removeprefix("paramverify-")
    domains, statements = _Domains(), []
    rest = {name: value for name, value in old.items() if name not in (*ABOUT, "format", "version", "status")}
    whole = rest.get("domain")
    if whole is not None:
        domains.number(whole)
    for entry in rest.pop("obligations", []):
        statements.append(_sign("obligation", entry, domains))
    status = old.get("status", NO_STATUS.get(format_of, "holds"))
    if format_of == "evidence":
        statements += [_sign("lemma", entry, domains) for entry in rest.pop("lemmas", [])]
        statements += [_sign("claim", entry, domains) for entry in rest.pop("claims")]
        if "witness" in rest:
            written = rest["witness"]
            rest["witness"] = {"kind": "claim", **written, "claim": domains.split(written["claim"])}
    elif format_of in ("sets", "losses"):
        del rest["domain"]
        more = {"of": rest.pop("measure"), "bound": rest.pop("bound")} if format_of == "losses" else {}
        kind = "average" if more else "parts"
        statements += [
            {"kind": kind, "domain": 0, **more, **_renamed(claim, OUTSIDE if more else {})}
            for claim in rest.pop("claims")
        ]
        if "witness" in rest:
            written = rest["witness"]
            about = {"domain": 0, **more, **written["claim"]}
            rest["witness"] = {"kind": "average" if more else "set", **written, "claim": about}
    elif format_of == "cone":
        model = {**rest.pop("model")}
        place = domains.number(model.pop("domain"))
        statements += [
            _compared(place, entry["claim"]["polynomial"], entry) for entry in rest.pop("claims", [])
        ]
        own = {"kind": "cone", "rule": rest.pop("kind"), "domain": place, "model": model}
        status = old.get("status", SHOWN[own["rule"]])
        statements.append(own | _taken(rest))
    elif format_of == "script":
        questions = []
        for question in rest.pop("questions"):
            places = []
            for entry in question["claims"]:
                own = _sign("claim", entry, domains)
                known = [k for k, s in enumerate(statements) if _same(s, own)]
                places.append(known[0] if known else len(statements))
                statements += [] if known else [own]
            questions.append({**question, "claims": places})
        statements.append({"kind": "script", "questions": questions, **_taken(rest)})
    else:
        if format_of in ("unwinding", "formulas"):
            statements += [_compared(0, e["polynomial"], e) for e in rest.pop("claims", [])]
        if format_of == "regions":
            sums = [_renamed(each, LEAVES) for each in rest.pop("sums", [])]
            own = {**whole}
            if "constant" in own:
                own["box"] = {name: ends for name, ends in own["box"].items() if name != "E"}
            statements += [{"kind": "parts", "domain": domains.number(own), **each} for each in sums]
        if whole is not None:
            rest["domain"] = 0
        statements.append({"kind": KINDS[format_of], **_taken(rest)})
    status = "bounds" if status == "budget" else status
    found: Json = {"format": "paramverify-evidence", "version": 2, "status": status}
    found |= {name: old[name] for name in ("case", "side_condition") if name in old}
    if "reduction" in rest:
        about = rest["reduction"]
        rest["reduction"] = (
            {**about, "domain": domains.number(about["domain"])} if "domain" in about else about
        )
    if "budget" in rest:
        rest["budget"] = {"kind": "bound", **rest["budget"]}
    found |= {"domains": domains.all, "statements": statements}
    found |= {name: old[name] for name in ("points", "outputs", "windows") if name in old}
    return found | rest


def _taken(rest: Json) -> Json:
    """Takes what belongs to the statement of an engine out of the rest of a document."""
    return {name: rest.pop(name) for name in [*rest] if name not in ("reduction", "budget")}


def _renamed(claim: Mapping[str, Any], words: Mapping[str, str]) -> Json:
    """Returns a claim whose tree has other words."""
    if "tree" not in claim:
        return {**claim}
    tree = [
        [words.get(token[0], token[0]), *token[1:]] if isinstance(token, list) and token else token
        for token in claim["tree"]
    ]
    return {**claim, "tree": tree}


def _sign(kind: str, entry: Mapping[str, Any], domains: _Domains) -> Json:
    more = {name: value for name, value in entry.items() if name not in ("claim", "proof")}
    return {"kind": kind, **domains.split(entry["claim"]), "proof": entry["proof"], **more}


def _compared(place: int, polynomial: str, entry: Mapping[str, Any]) -> Json:
    more = {"negated": entry["negated"]} if "negated" in entry else {}
    own = {"domain": place, "polynomial": polynomial, "strict": entry.get("strict", False)}
    return {"kind": "comparison", **own, "proof": entry["proof"], **more}


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one["kind"] == "claim" and all(one[k] == other[k] for k in ("domain", "polynomial"))


def flat(document: Mapping[str, Any], format_of: str = "") -> Json:
    """Returns a document as it was before; `format_of` is its format where nothing in it says so."""
    domains, statements = document["domains"], document["statements"]
    engine = next((s for s in statements if s["kind"] in ENGINES), None)
    forms = {s["kind"] for s in statements} | {document.get("witness", {}).get("kind")}
    if engine is not None:
        format_of = ENGINES[engine["kind"]]
    elif not format_of:
        format_of = "losses" if "average" in forms else "sets" if forms & {"parts", "set"} else "evidence"
    found: Json = {"format": f"paramverify-{format_of}", "version": 1, "status": document["status"]}
    if format_of in NO_STATUS or format_of == "slots":
        del found["status"]
    elif found["status"] == "bounds":
        found["status"] = "budget"
    found |= {name: document[name] for name in ABOUT if name in document}

    def full(entry: Mapping[str, Any]) -> Json:
        return {**domains[entry["domain"]], "polynomial": entry["polynomial"]}

    def entries(kind: str) -> list[Json]:
        more = ("domain", "polynomial", "kind", "proof")
        return [
            {"claim": full(s), "proof": s["proof"], **{k: v for k, v in s.items() if k not in more}}
            for s in statements
            if s["kind"] == kind
        ]

    if any(s["kind"] == "obligation" for s in statements):
        found["obligations"] = entries("obligation")
    if format_of == "evidence":
        found["claims"] = entries("claim")
        if any(s["kind"] == "lemma" for s in statements):
            found["lemmas"] = entries("lemma")
        if "witness" in document:
            found["witness"] = {**document["witness"], "claim": full(document["witness"]["claim"])}
            del found["witness"]["kind"]
    elif format_of in ("sets", "losses"):
        own = [s for s in statements if s["kind"] in ("parts", "average")]
        about = own[0] if own else document.get("witness", {}).get("claim", {"domain": 0})
        found["domain"] = domains[about["domain"]]
        if format_of == "losses":
            found |= {"measure": about["of"], "bound": about["bound"]}
        apart = ("kind", "domain", "of", "bound")
        back = {"outside": "-"} if format_of == "losses" else {}
        found["claims"] = [_renamed({k: v for k, v in s.items() if k not in apart}, back) for s in own]
        if "witness" in document:
            written = {k: v for k, v in document["witness"].items() if k != "kind"}
            claim = {k: v for k, v in written["claim"].items() if k not in apart}
            found["witness"] = {**written, "claim": claim}
    elif engine is not None:
        inner = {k: v for k, v in engine.items() if k != "kind"}
        if format_of == "cone":
            place = inner.pop("domain")
            found["kind"] = inner.pop("rule")
            found["model"] = {"domain": domains[place], **inner.pop("model")}
            if found["kind"] != "loop":
                found["claims"] = [
                    {"claim": {**domains[s["domain"]], "polynomial": s["polynomial"]}, "proof": s["proof"]}
                    for s in statements
                    if s["kind"] == "comparison"
                ]
        elif format_of == "script":
            inner["questions"] = [
                {**question, "claims": [_entry(statements[k], domains) for k in question["claims"]]}
                for question in inner["questions"]
            ]
        elif "domain" in inner:
            found["domain"] = domains[inner.pop("domain")]
        if any(s["kind"] == "comparison" for s in statements) and format_of != "cone":
            apart = ("kind", "domain")
            found["claims"] = [
                {k: v for k, v in s.items() if k not in apart}
                for s in statements
                if s["kind"] == "comparison"
            ]
        elif format_of == "formulas":
            found["claims"] = []
        if any(s["kind"] == "parts" for s in statements):
            apart = ("kind", "domain")
            found["sums"] = [
                _renamed({k: v for k, v in s.items() if k not in apart}, {"claim": "set"})
                for s in statements
                if s["kind"] == "parts"
            ]
        found |= inner
    if "reduction" in document:
        about = document["reduction"]
        found["reduction"] = {**about, "domain": domains[about["domain"]]} if "domain" in about else about
    if "budget" in document:
        found["budget"] = {**document["budget"]}
        if found["budget"]["kind"] == "bound":
            del found["budget"]["kind"]
    return found


def _entry(statement: Mapping[str, Any], domains: list[Any]) -> Json:
    claim = {**domains[statement["domain"]], "polynomial": statement["polynomial"]}
    more = {"origins": statement["origins"]} if "origins" in statement else {}
    return {"claim": claim, "proof": statement["proof"], **more}


def text_of(old: Mapping[str, Any]) -> str:
    """Returns the text of a document with one envelope."""
    return json.dumps(envelope(old))
