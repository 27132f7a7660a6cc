"""Obligations: what a verdict needs of its model, by one rule and in the same words for every subject."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Constraint, Domain, parse_interval
from paramverify.algebra.polynomials import Ring
from paramverify.answers import Answer, Decision, End, Open, Proved, Refuted
from paramverify.claims import Claim
from paramverify.cli.main import run
from paramverify.errors import CaseError, DomainError, ModelError
from paramverify.models.context import Obligation
from paramverify.models.model import Model
from paramverify.portfolio.obligations import (
    Discharged,
    decide,
    discharge,
    points_for,
    require_possible,
    unmet,
)
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load

VERIFY = """
[prior]
record = { bernoulli = "p" }
[mechanism]
kind = "randomized_response"
query = "record"
values = [0, 1]
truth = "3/4"
[secrets]
yes = "record == 1"
no = "record == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = "BOUND"
"""

INEQUALITY = """
[claim]
holds = "2 + p <= BOUND"
"""

LOGIC = """
[model]
kind = "chain"
initial = ["plus", "minus"]
[states]
plus = { to = { yes = "(1 + p)/2", no = "(1 - p)/2" } }
minus = { to = { yes = "(1 - p)/2", no = "(1 + p)/2" } }
yes = { labels = ["out1"] }
no = {}
[neighbours]
pairs = [["plus", "minus"]]
[formulas]
pure = "D{ln(BOUND), 0}[ X out1 ]"
"""

INTERACTIVE = """
[system]
initial = "w"
data = ["d"]
queries = ["q"]
responses = ["0", "1"]
[system.steps.w]
d = "v"
q = { zero = "p", one = "1-p" }
[system.steps.v]
d = "v"
q = { zero = "p**3", one = "1-p**3" }
[system.steps.zero]
0 = "w"
[system.steps.one]
1 = "w"
[privacy]
ratio = "BOUND"
"""

# Each with a bound that holds at p = 1/√2, and at p = 1/2, and one that fails at both; with the command.
SUBJECTS = {
    "case": ("verify", VERIFY, "6", "2"),
    "inequality": ("verify", INEQUALITY, "6", "2"),
    "formula": ("logic", LOGIC, "6", "2"),
    "system": ("interactive", INTERACTIVE, "6", "3/2"),
}


def written(folder: Path, subject: str, constraint: str, bound: str) -> list[str]:
    """Writes a case over the points of (0, 1) at which the constraint holds; returns command and file."""
    command, text, _, _ = SUBJECTS[subject]
    path = folder / "case.toml"
    head = f'[parameters]\np = "(0, 1)"\nconstraints = ["{constraint}"]\n'
    path.write_text(head + text.replace("BOUND", bound))
    return [command, str(path)]


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_domains_with_irrational_points_only(
    subject: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is true at p = 1/√2 holds; a case that fails there only has an algebraic witness."""
    _, _, enough, little = SUBJECTS[subject]
    assert run([*written(tmp_path, subject, "2*p**2 == 1", enough), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "holds"
    told = (1, "violated") if SUBJECTS[subject][0] == "verify" else (3, "unknown")
    code = run([*written(tmp_path, subject, "2*p**2 == 1", little), "--json", "--timeout", "2"])
    assert (code, json.loads(capsys.readouterr().out)["status"]) == told
    assert run([*written(tmp_path, subject, "4*p**2 == 1", little), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["witness"]["parameters"] == {"p": "1/2"}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_empty_domains(subject: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A domain without a point is the same error everywhere, told with file, line and key."""
    arguments = written(tmp_path, subject, "p**2 == 2", SUBJECTS[subject][2])
    line = Path(arguments[1]).read_text().split("\n").index("[parameters]") + 1
    reason = "the parameter domain is empty: p in (0, 1), p**2 == 2"
    told = f"{arguments[1]}:{line}: parameters: {reason}"
    assert run(arguments) == 2
    assert capsys.readouterr().err == f"error: {told}\n"
    assert run([*arguments, "--json"]) == 2
    place = {"file": arguments[1], "line": line, "key": "parameters", "mend": None}
    errors = [{**place, "message": reason}]
    assert json.loads(capsys.readouterr().out) == {"status": "error", "reason": told, "errors": errors}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_domains_that_nobody_decides(
    subject: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it stays open whether the domain has a point, the answer is unknown and says so."""
    arguments = written(tmp_path, subject, "2*p**2 == 1", SUBJECTS[subject][2])
    said = Decision(Open(End.TIMEOUT, "too slow"), "nobody")
    monkeypatch.setattr(Session, "decide", lambda self, claim: said)
    monkeypatch.setattr("paramverify.portfolio.obligations.fails_without_witness", lambda claim: False)
    assert run([*arguments, "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == "unknown"
    assert document["reason"].endswith("no point of the domain was found: too slow")


PLAIN = Ring(("p",))
RING = Ring(("p",), ExpConstant(Fraction(1)))
HALF = {"p": Fraction(1, 2)}


def claim(text: str, *constraints: str, ring: Ring = RING) -> Claim:
    limits = tuple(Constraint(ring.parse(c), False, f"{c} >= 0") for c in constraints)
    return Claim(ring.parse(text), Domain(ring, {"p": parse_interval("[0, 1]")}, limits))


@dataclass
class Said(Session):
    """A session that says what it is told to, and counts how often it is asked."""

    answers: dict[str, Answer]
    asked: list[str] = field(default_factory=list)

    def decide_each(self, claims: Sequence[Claim]) -> Generator[Decision, None, None]:
        yield from map(self.decide, claims)

    def decide(self, claim: Claim) -> Decision:
        self.asked.append(str(claim.polynomial))
        return Decision(self.answers[str(claim.polynomial)], "told")


@pytest.mark.parametrize(
    ("text", "constraints", "fails"),
    [("p - 1/2", (), False), ("p - E", (), True), ("p - E", ("p - 3/4",), False), ("2 - E", (), True)],
)
def test_refutations_are_evaluated(text: str, constraints: tuple[str, ...], fails: bool) -> None:
    """A refutation counts only at a point of the domain where the claim fails, with `E` as the number."""
    about = claim(text, *constraints)
    session = Said({str(about.polynomial): Refuted(HALF)})
    answer = decide(session, about).answer
    assert isinstance(answer, Refuted if fails else Open)
    obligation = Obligation(about, "this is false")
    if fails:
        with pytest.raises(ModelError, match=r"^this is false at p = 1/2$"):
            Discharged().prove(session, [obligation])
    else:
        doubt = Discharged().prove(session, [obligation])
        detail = "not excluded: this is false (the refutation fails exact evaluation)"
        assert doubt == Open(End.GAVE_UP, detail)


def test_obligations_are_proved_once() -> None:
    """An obligation that comes again is not decided again; the first open one ends it, with its meaning."""
    one, two, three = claim("p"), claim("p + 1"), claim("p + 2")
    session = Said({"p": Proved(), "p + 1": Open(End.MEMORY, "too large"), "p + 2": Proved()})
    done = Discharged()
    assert done.prove(session, [Obligation(one, "a"), Obligation(claim("p"), "b")]) is None
    doubt = done.prove(
        session, [Obligation(about, name) for about, name in ((one, "a"), (two, "c"), (three, "d"))]
    )
    assert doubt == Open(End.MEMORY, "not excluded: c (too large)")
    assert session.asked == ["p", "p + 1"]
    assert [about for about, _ in done.proved] == [one]


@dataclass(frozen=True)
class Subject:
    """Something about a domain that may be empty."""

    domain: Domain
    maybe_empty: Obligation | None = None
    obligations: tuple[Obligation, ...] = ()
    maybe_impossible: tuple[Obligation, ...] = ()


def test_the_domain_comes_first() -> None:
    """On an empty domain nothing else is decided; a spurious point of it is no point."""
    empty, about = claim("-1", "p - 2"), claim("p")
    subject = Subject(about.domain, Obligation(empty, "empty"), (Obligation(about, "false"),))
    nothing = Said({"-1": Proved()})
    with pytest.raises(DomainError, match=r"^parameters: the parameter domain is empty: p in \[0, 1\]$"):
        discharge(nothing, subject)
    assert nothing.asked == ["-1"]
    doubt, proved = discharge(Said({"-1": Refuted(HALF)}), subject)
    assert doubt is not None
    assert doubt.detail.startswith("no point of the domain was found: the refutation fails")
    assert proved == ()


def test_a_subject_that_is_in_order() -> None:
    """Where the domain has a point and all obligations are proved, nothing stays in doubt."""
    with Session(Options(seconds=20)) as session:
        about = claim("E*p - 2*p")
        subject = Subject(
            about.domain, Obligation(claim("-1", "2*p - 1"), "empty"), (Obligation(about, "false"),)
        )
        doubt, proved = discharge(session, subject)
    assert doubt is None
    assert [(found, type(decision.answer)) for found, decision in proved] == [(about, Proved)]


def doubtful(folder: Path, *claims: Claim) -> Model:
    """Returns a model whose secrets may be impossible: each claim has to fail somewhere."""
    path = folder / "case.toml"
    path.write_text('[parameters]\np = "(0, 1)"' + VERIFY.replace("BOUND", "6"))
    model = load(path).model
    assert isinstance(model, Model)
    return replace(model, maybe_impossible=tuple(Obligation(c, f"secret {c.polynomial}") for c in claims))


def test_secrets_that_may_be_impossible(tmp_path: Path) -> None:
    """A claim that a secret is impossible must fail somewhere, at a rational point or at irrational ones."""
    never, here = Said({"-1/2": Proved()}), Said({"-p": Refuted(HALF), "-1/2": Proved()})
    with pytest.raises(CaseError, match=r"^secrets: secret -1/2$"):
        require_possible(doubtful(tmp_path, claim("-1/2")), never)
    with pytest.raises(CaseError, match=r"^secrets: secret -1/2$"):
        discharge(never, doubtful(tmp_path, claim("-1/2")))
    assert require_possible(doubtful(tmp_path, claim("-p")), here) is None
    with pytest.raises(CaseError, match=r"^secrets: secret -1/2$"):
        require_possible(doubtful(tmp_path, claim("-p"), claim("-1/2")), here)
    slow = Said({"-p": Open(End.TIMEOUT, "too slow")})
    doubt = require_possible(doubtful(tmp_path, claim("-p")), slow)
    assert doubt == Open(End.TIMEOUT, "not excluded: secret -p (too slow)")
    only = claim("-p", "2*p^2-1", "1-2*p^2", ring=PLAIN)
    assert require_possible(doubtful(tmp_path, only), slow) is None
    assert require_possible(doubtful(tmp_path, only)) is None  # in a session of its own
    with pytest.raises(CaseError):
        require_possible(doubtful(tmp_path, replace(only, polynomial=PLAIN.parse("p"))))


def test_points_that_evidence_needs() -> None:
    """Only a need that simple points do not show gets a point, and one that nothing shows gets none."""
    narrow = claim("-1", "1000*p-333", "334-1000*p", ring=PLAIN)
    wide, subject = claim("-p", ring=PLAIN), Subject(narrow.domain)
    (point,) = points_for(subject, [(narrow, "that the domain has a point")])
    assert Fraction(333, 1000) <= Fraction(point["p"]) <= Fraction(334, 1000)
    assert points_for(subject, [(claim("p", ring=PLAIN), "what is never so")]) == []
    assert points_for(Subject(wide.domain), [(wide, "what simple points show")]) == []
    needs = [(narrow, "that the domain has a point")]
    assert unmet(subject, needs, []) == "it is not shown that the domain has a point"
    assert unmet(subject, needs, [{"p": Fraction(point["p"])}]) == ""
