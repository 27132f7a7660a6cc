"""Every kind of evidence, each of its parts made false: what is accepted is true, by an oracle of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from evidence_orders import CASES, ORDERS, Json, Order, read, write
from forger import forgeries
from kept_cases import kept
from proved_claims import CLAIMS, PROOFS
from truth_oracle import contradiction, of_another_case

from paramverify.answers import Decision, Proved
from paramverify.errors import ParamverifyError
from paramverify.evidence import certificates, envelope
from paramverify.interactive.system_cases import load as load_system
from paramverify.interactive.system_certificates import evidence_document
from paramverify.interactive.system_verification import verify
from paramverify.kernel.documents import check_text
from paramverify.kernel.ledger import KernelReport
from paramverify.models import neighbourhoods
from paramverify.reports.evidence_checks import checked

SAMPLE = 45  # forgeries of each document

CHOSEN = {
    *(
        "noisy-max-independent-below",
        "noisy-max-contagious",
        "discrete-laplace",
        "quotient",
        "quotient false",
    ),
    *("exponential", "ties", "time-series-2-all", "survey-memory-all", "closed cone", "no budget"),
    *("above-threshold", "map", "line", "approximate noisy-max", "approximate noisy-max-below"),
    *("divergences geometric-kl", "divergences geometric-kl-below", "programs noisy-max-gauss"),
    *("automata stream-sparse-vector-one", "interactive slots-2-symbolic", "interactive slots-1-bad-noise"),
    *("interactive survey", "every slots", "logic survey", "budget of a survey", "budget of delta"),
    *("composed noise", "script"),
}


def try_all(
    name: str, original: Json, check: Callable[[str], KernelReport], alone: bool = True
) -> tuple[int, int]:
    """Forges a document; returns how many forgeries were tried, and how many were accepted and are true."""
    random = Random(name)
    report = check(json.dumps(original))
    assert report.accepted, report.lines
    assert contradiction(original, report, random) == ""
    tried = accepted = 0
    for what, document in islice(forgeries(original, random), SAMPLE):
        tried += 1
        report = check(json.dumps(document))
        assert all(len(line) < 1_000 and line.isprintable() for line in report.lines), what
        if not report.accepted:
            assert "rejected" in "".join(report.lines), what
            continue
        accepted += 1
        assert contradiction(document, report, random) == "", what
        of = {"case": original["case"]} if "case" in original else {}  # a map need not name its case
        assert alone or of_another_case({**of, **document}, original) == "", what
    return tried, accepted


def with_case(path: str) -> Callable[[str], KernelReport]:
    """Returns what checks evidence with a case; evidence that does not fit the command is rejected."""

    def check(text: str) -> KernelReport:
        try:
            return checked(text, path).report
        except ParamverifyError as error:
            return KernelReport(False, (f"rejected: {error}",))

    return check


@pytest.mark.slow
@pytest.mark.parametrize("order", [pytest.param(o, id=o.name) for o in ORDERS if o.name in CHOSEN])
def test_what_is_accepted_is_true(order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is changed of evidence that a command writes: alone and with the case."""
    if order.name == "ties":
        monkeypatch.setattr(neighbourhoods, "FORMED", 0)  # one pair stands for all
    path = write(order, tmp_path)
    assert path is not None
    document = read(path)
    tried, accepted = try_all(order.name, document, check_text)
    assert accepted < tried / 2 or "budget" in document  # which is compared with the case alone
    if order.command != "compose":
        monkeypatch.setattr("paramverify.privacy.cases.load", kept)
        tried, accepted = try_all(order.name, document, with_case(order.about(tmp_path)), alone=False)
        assert accepted < tried / 3


@pytest.mark.slow
def test_what_is_accepted_of_costs_is_true() -> None:
    """The same for a system whose proof is by the costs of classes."""
    path = CASES / "interactive" / "slots-2.toml"
    case = load_system(path)
    document = evidence_document(case, replace(verify(case), family=None))
    tried, accepted = try_all("costs", document, check_text)
    assert accepted < tried / 2
    tried, accepted = try_all("costs", document, with_case(str(path)), alone=False)
    assert accepted < tried / 3


@pytest.mark.slow
def test_what_is_accepted_of_every_proof_is_true() -> None:
    """The same for a document with a proof of every kind, a lemma and a solver's word."""
    word = Decision(Proved(transcript="unsat"), "z3", "4.13").proof
    lemma = {**certificates.entry(CLAIMS["factors"], word, "lemma"), "name": "l"}
    del lemma["origins"]
    entries = [certificates.entry(claim, PROOFS[name]) for name, claim in CLAIMS.items()]
    entries[0] |= {"proof": certificates.lemma("l")}
    document = envelope.document("holds", envelope.statements(lemma, *entries))
    tried, accepted = try_all("proofs", json.loads(json.dumps(document)), check_text)
    assert accepted < tried / 2
