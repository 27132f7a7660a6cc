"""Cases changed a little: both readers find the same claims in them, and tell them from those before."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from evidence_orders import ORDERS, read, write

from paramverify.claims import without_enclosure
from paramverify.encodings.choice import claims_of
from paramverify.errors import ParamverifyError
from paramverify.evidence import envelope
from paramverify.kernel.ledger import KernelReport
from paramverify.privacy.cases import load
from paramverify.reports import evidence_checks
from paramverify.rereader.second_reading import SecondLook, second_look

CASES = Path(__file__).parents[2] / "cases"
CHANGES = 8  # of each case
SMALL = """blood-test conditioned-geometric-1 count-four-rates design-randomized-response discrete-laplace
    exponential-mean geometric-every-range geometric-markov-chain geometric-neighbours markov-quilt
    randomized-response-condition release-household release-total-revealed sample-n-utility survey-memory
    approximate/survey-and-count divergences/geometric-renyi-below inequalities/disc-line programs/evenings
    programs/family programs/household-answers programs/noisy-stop programs/retry-until-yes
    programs/tree-correlation programs/two-thresholds"""
LARGER = """infection-chain noisy-max-own-record time-series-2-day-3 programs/adaptive-composition
    programs/sparse-vector-small-scales"""
KINDS = """approximate geometric-independent-below|delta broken|ties|quotient|divergences geometric-kl-below
divergences geometric-renyi-below|divergences geometric-zcdp-below|programs discrete-gauss-threshold
automata stream-sparse-vector-one|automata sparse-vector|interactive slots-2-one-value
interactive slots-1-bad-noise|every slots|budget of sample-n|logic survey-coin|logic interactive-survey
budget of noisy max|budget of delta|budget of kl|budget of streams|closed cone"""
ORDERED = {order.name: order for order in ORDERS}
OTHERS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "+",
    "(": "[",
    "[": "(",
    ")": "]",
    "]": ")",
    "and": "or",
    "or": "and",
    "min": "max",
    "max": "min",
    "each": "one",
    "one": "each",
}
TOKEN = re.compile(r"\d+(?:\.\d+)?|[<>=!]=|[<>+*()\[\]-]|\b[A-Za-z_]\w*\b")
FORMULA = re.compile(r"^(\w+) = \"[DP]", re.MULTILINE)
FIXED = re.compile(r"^(title|source|description) = \"(?!\"\").*\n|^\[expect\][^\[]*|#.*", re.MULTILINE)
Json = dict[str, Any]


def changed(text: str, random: Random) -> Iterator[str]:
    """Yields a case with one number, sign, word or name that is another one, or without one line."""
    places = list(TOKEN.finditer(text))
    names = sorted({place[0] for place in places if place[0][0].isalpha()})
    while True:
        place = random.choice(places)
        token = place[0]
        if random.random() < 0.1:
            start, end = text.rfind("\n", 0, place.start()) + 1, text.find("\n", place.end()) + 1
            yield text[:start] + text[end:]
            continue
        if token[0].isdigit():
            other = str(max(0, int(float(token)) + random.choice((-1, 1, 2))))
        else:
            other = OTHERS.get(token) or random.choice(names)
        if other != token:
            yield text[: place.start()] + other + text[place.end() :]


def document_of(path: Path, status: str) -> Json:
    """Returns evidence without proofs about all claims of a case, as the kernel would have accepted it."""
    claims = list(map(without_enclosure, claims_of(load(path).model)))
    entries = [
        {"kind": "claim", **envelope.sign(c), "origins": list(map(str, c.origins[:3])), "proof": None}
        for c in claims
    ]
    return json.loads(json.dumps(envelope.document(status, envelope.statements(*entries))))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "name", [*SMALL.split(), *(pytest.param(name, marks=pytest.mark.slow) for name in LARGER.split())]
)
def test_both_readers_find_the_same_claims(name: str, tmp_path: Path) -> None:
    """In a case, and in changed ones; and they tell the claims of these from those of the case."""
    path = tmp_path / "case.toml"
    given = (CASES / f"{name}.toml").read_text()
    expected, text = tomllib.loads(given)["expect"], FIXED.sub("", given)
    path.write_text(text)
    true = expected.get("verdict") == "true" or expected.get("status") == "holds"
    original = document_of(path, "holds" if true else "unknown")
    look = second_look(original, text, None, tmp_path)
    assert (look.compared, look.agrees) == (True, True), look.line
    for other in islice(changed(text, Random(name)), CHANGES):
        path.write_text(other)
        try:
            found = document_of(path, "unknown")
        except ParamverifyError:
            continue
        look = second_look(found, other, None, tmp_path)
        assert look.agrees, (other, look.line)
        if look.compared and found["statements"] != original["statements"]:
            look = second_look(original, other, None, tmp_path)
            assert not (look.compared and look.agrees) or "signs" in look.line, (other, look.line)


@pytest.mark.parametrize("name", re.split(r"[|\n]", KINDS))
def test_both_readers_tell_a_case_from_changed_ones(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evidence of each kind is compared with a case that was changed: both accept it, or none does.

    Only the first reader compares the bound of the case with a budget, and which formulas there are.
    """
    given = ORDERED[name]
    text = FIXED.sub("", given.text or (CASES / given.case).read_text())
    order = replace(given, text=text, ending="dipa" if given.case.endswith("dipa") else "toml")
    written = write(order, tmp_path)
    assert written is not None
    document, path = read(written), Path(order.about(tmp_path))
    real, seen = evidence_checks.with_second_look, list[tuple[bool, SecondLook]]()

    def spy(report: KernelReport, *given: Any, **named: Any) -> tuple[KernelReport, SecondLook]:
        found = real(replace(report, accepted=True), *given, **named)
        seen.append((report.accepted, found[1]))
        return found

    monkeypatch.setattr(evidence_checks, "with_second_look", spy)
    assert evidence_checks.checked(json.dumps(document), str(path)).report.accepted
    assert [(ok, look.compared, look.agrees) for ok, look in seen] == [(True, True, True)]
    for other in islice(changed(text, Random(name)), CHANGES):
        path.write_text(other)
        about = {**document["case"], "digest": sha256(other.encode()).hexdigest()}
        seen.clear()
        try:
            evidence_checks.checked(json.dumps({**document, "case": about}), str(path))
        except ParamverifyError:
            continue
        for accepted, look in seen:
            alone = order.command == "budget" or {*FORMULA.findall(text)} - {*FORMULA.findall(other)}
            if look.compared and (accepted or not alone):
                assert look.agrees == accepted, (other, look.line)
