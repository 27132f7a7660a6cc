"""Every kind of evidence, each of its parts made false: what is accepted is true, by an oracle of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from forging_tools import Forgery, Json, forged, forgeries
from proved_claims import CLAIMS, PROOFS
from truth_oracle import is_true

from paramverify.answers import Decision, Proved
from paramverify.claims import to_document
from paramverify.cli.main import run
from paramverify.evidence import certificates
from paramverify.interactive.system_cases import load as load_system
from paramverify.interactive.system_certificates import check_with_case as check_with_system
from paramverify.interactive.system_certificates import evidence_document
from paramverify.interactive.system_verification import verify
from paramverify.kernel.claim_evidence import KernelReport
from paramverify.kernel.documents import check_text
from paramverify.models import neighbourhoods
from paramverify.privacy.cases import load
from paramverify.reports.case_evidence import check_with_case

CASES = Path(__file__).parents[2] / "cases"
SAMPLE = 45  # forgeries of each document; with None, all of them are tried (half an hour)

QUOTIENT = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
constraints = ["p > q"]
[define]
f = "p/(p - q)"
[claim]
holds = "{claim}"
"""
MAP = """
[parameters]
p = "[0, 1]"
q = "[0, 1)"
constraints = ["p + q <= 3/2", "(p - 1/2)**2 + (q - 1/3)**2 + 1/100 > 0"]
[define]
f = "(2*p**2 + 2*q**2)/(1 + p*q*(p - q)**2 - p**3*q/4)"
[claim]
holds = "f >= 1"
"""
LINE = """
title = "A line"
[parameters]
p = "(0, 1)"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "p", y = "1-p" }
b = { x = "p/2", y = "1-p/2" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
epsilon = 0.9
"""
TIES = """
[mechanism]
kind = "noisy_max"
queries = 3
noise = { truncated_geometric = "1/2", range = 2 }
ties = "uniform"
[neighbours]
differ = "each"
[privacy]
ratio = "9"
"""

VERIFIED: dict[str, str | Path] = {
    "claims": CASES / "noisy-max-independent.toml",
    "witness": CASES / "noisy-max-contagious.toml",
    "obligations": QUOTIENT.format(claim="f > 1"),
    "counterexample": QUOTIENT.format(claim="p*q < 1/2"),
    "exponentials": CASES / "discrete-laplace.toml",
    "a witness with exp": LINE,
    "a pair that stands for all": TIES,
    "a cone": CASES / "time-series-2-all.toml",
    "a cone with parameters": CASES / "survey-memory-all.toml",
    "a closed cone": (
        (CASES / "survey-memory-all.toml").read_text().replace("t/(1 - t)", "3").replace('"t"', '"3/4"')
    ),
    "no budget": (CASES / "above-threshold-all.toml").read_text().replace("4*ln(2)", "100*ln(2)"),
    "levels": CASES / "above-threshold.toml",
}
MAPPED = {"a map": (MAP, "p,q"), "a line": (LINE, "p")}
SYSTEMS = ("slots-2-symbolic", "slots-1-bad-noise", "survey", "slots-2 by costs")


def written(name: str, folder: Path, patch: pytest.MonkeyPatch) -> tuple[Path, Json]:
    """Returns a case file and the evidence that a command writes of it."""
    given = VERIFIED[name] if name in VERIFIED else MAPPED[name][0]
    case, evidence = folder / "case.toml", folder / "evidence.json"
    case.write_text(given if isinstance(given, str) else given.read_text())
    if name == "a pair that stands for all":
        patch.setattr(neighbourhoods, "FORMED", 0)
    if name in MAPPED:
        more = ["--region", "--parameters", MAPPED[name][1], "--coverage", "1/4", "--evidence", str(evidence)]
        assert run(["synthesize", str(case), *more]) == 0
    else:
        assert run(["verify", str(case), "--evidence", str(evidence)]) in (0, 1)
    found: Json = json.loads(evidence.read_text())
    return case, found


def sampled(document: Json, random: Random) -> list[Forgery]:
    """Returns forgeries of a document: some of each part that is named alike, all of them without a limit."""
    found = forgeries(document)
    if SAMPLE is None or len(found) <= SAMPLE:
        return found
    shallow = [forgery for forgery in found if len(forgery[0]) <= 2]
    few = random.sample(shallow, min(SAMPLE // 2, len(shallow)))
    return few + random.sample(found, SAMPLE - len(few))


def says_no_more(document: Json, original: Json) -> bool:
    """Whether evidence that was accepted with a case says of it what the true evidence says, or less."""
    if document.get("status", original.get("status")) != original.get("status"):
        return False
    for name in ("format", "model", "lengths", "system", "ratio", "reduction"):
        if document.get(name) != original.get(name):
            return False
    if without_enclosure(document.get("domain")) != without_enclosure(original.get("domain")):
        return False
    if document.get("case", original["case"]) != original["case"]:
        return False
    if document["format"] == "paramverify-regions":
        return bool(document["claims"] == original["claims"])
    if document["format"] == "paramverify-unwinding":
        return True  # the oracle looks at the witness
    origins = {json.dumps(e["claim"]): e["origins"] for e in original.get("claims", []) if "origins" in e}
    if document["format"] == "paramverify-evidence":
        told = {json.dumps(e["claim"]): e.get("origins", []) for e in document["claims"]}
        if document["status"] == "holds" and told.keys() != origins.keys():
            return False
        if any(not set(words) <= set(origins[claim]) for claim, words in told.items()):
            return False
    new, old = ({**(d.get("witness") or {})} for d in (document, original))
    where = new.pop("parameters", None), old.pop("parameters", None)
    return new == old or (new.get("at") != old.get("at") and where[0] != where[1])


def without_enclosure(domain: Any) -> Any:
    """Returns a domain without the interval of E, which the checker shows to contain the number."""
    if not domain or "constant" not in domain:
        return domain
    return {**domain, "box": {name: ends for name, ends in domain["box"].items() if name != "E"}}


def try_all(name: str, original: Json, alone: bool, check: Callable[[str], KernelReport]) -> tuple[int, int]:
    """Forges a document; returns how many forgeries were tried, and how many were accepted and are true."""
    random = Random(name)
    report = check(json.dumps(original))
    assert report.accepted, report.lines
    assert is_true(original, original, report, random)
    tried = accepted = 0
    for forgery in sampled(original, random):
        document = forged(original, forgery)
        if document is None:
            continue
        tried += 1
        report = check(json.dumps(document))
        what = f"{name}: {forgery[:2]}"
        assert all(len(line) < 1_000 and line.isprintable() for line in report.lines), what
        if not report.accepted:
            assert "rejected" in "".join(report.lines), what
            continue
        accepted += 1
        assert is_true(document, original, report, random), what
        assert alone or says_no_more(document, original), what
    return tried, accepted


@pytest.mark.slow
@pytest.mark.parametrize("name", [*VERIFIED, *MAPPED])
def test_what_is_accepted_is_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of claims, witnesses, cones, loops and maps, whatever is changed: alone and with the case."""
    path, document = written(name, tmp_path, monkeypatch)
    case = load(path)
    tried, accepted = try_all(name, document, True, check_text)
    assert accepted < tried / 2
    tried, accepted = try_all(name, document, False, lambda text: check_with_case(text, case))
    assert accepted < tried / 3


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_what_is_accepted_of_systems_is_true(name: str) -> None:
    """The same for families, costs and witnesses of interactive systems."""
    path = CASES / "interactive" / f"{name.removesuffix(' by costs')}.toml"
    case = load_system(path)
    report = verify(case)
    report = replace(report, family=None) if name.endswith("costs") else report
    document = json.loads(json.dumps(evidence_document(case, report)))
    tried, accepted = try_all(name, document, True, check_text)
    assert accepted < tried / 2
    tried, accepted = try_all(name, document, False, lambda t: check_with_system(json.loads(t), case))
    assert accepted < tried / 3


@pytest.mark.slow
def test_what_is_accepted_of_every_proof_is_true() -> None:
    """The same for a document with a proof of every kind, a lemma and a solver's word."""
    entries = [certificates.entry(claim, PROOFS[name]) for name, claim in CLAIMS.items()]
    word = Decision(Proved(transcript="unsat"), "z3", "4.13").proof
    lemma: dict[str, Any] = {"name": "l", "claim": to_document(CLAIMS["factors"]), "proof": word}
    entries[0] |= {"proof": certificates.lemma("l")}
    document = certificates.evidence("t", "0", "holds", entries, lemmas=[lemma])
    tried, accepted = try_all("proofs", json.loads(json.dumps(document)), True, check_text)
    assert accepted < tried / 2
