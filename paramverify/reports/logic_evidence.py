"""Evidence about formulas of dpCTL*, for `checker.formula_evidence`, and its check against a case.

The document has the model, the formulas as trees, and what is said of each. The polynomials whose signs the
checker needs are found by running it, and proved by a session. A formula whose verdict the checker does not
come to by itself is said to be unknown, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paramverify.algebra.polynomials import Polynomial, RationalFunction, key, primitive
from paramverify.answers import Proved, Standing
from paramverify.claims import Claim, positive, without_enclosure
from paramverify.errors import InputError, ModelError
from paramverify.evidence import certificates, envelope
from paramverify.kernel.documents import check_document, engine_of
from paramverify.kernel.evidence_polynomials import Poly
from paramverify.kernel.formula_evidence import (
    check_false,
    check_true,
    status_of,
)
from paramverify.kernel.ledger import Demanded, Evidence, KernelReport, Statement
from paramverify.kernel.strict_reading import Rejected
from paramverify.logic.formula_syntax import (
    Constant,
    Formula,
    Index,
    Junction,
    Junctor,
    Label,
    Next,
    Not,
    Private,
    Probability,
    Property,
    StateCondition,
    Until,
)
from paramverify.logic.judges import ExactJudge
from paramverify.logic.logic_cases import GIVEN, LogicCase, LogicOptions, load
from paramverify.logic.property_checking import FormulaResult, LogicSession, StateWitness
from paramverify.logic.semantics import Semantics, marks
from paramverify.models.chains.markov_chains import Row
from paramverify.models.context import Checks, sample_points
from paramverify.models.settings import case_entry
from paramverify.portfolio.obligations import needs_of, points_for, read_points, unmet
from paramverify.portfolio.session import Session
from paramverify.verdicts import Holds, Violated

MAX_STATES = 20_000
ARGUMENTS = ("tail", "equality")


@dataclass
class LogicEvidence:
    """A case as evidence tells it: weights with positive denominators, rows once each, formulas as trees."""

    case: LogicCase
    labels: dict[str, list[int]] = field(default_factory=dict)
    _weights: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chain = self.case.chain
        self.checks = Checks(chain.domain)
        self.semantics = Semantics(chain, self.case.relation, ExactJudge(chain))
        self.labels |= {name: sorted(states) for name, states in chain.labels.items()}

    def weight(self, value: Any) -> Any:
        """Returns a number or a rational function as text, or as two texts, the second one positive.

        Raises:
            ModelError: the denominator has no sign on the domain.
        """
        name = str(value)
        if name not in self._weights:
            found = self.case.chain.function(value) if not isinstance(value, RationalFunction) else value
            top, bottom = found.numerator, found.denominator
            oriented = self.checks.positive(bottom, f"{bottom}")
            top = top if oriented == bottom else -top
            self._weights[name] = key(top) if oriented.is_one() else [key(top), key(oriented)]
        return self._weights[name]

    def domain(self) -> dict[str, Any]:
        """Returns the domain as claims have it."""
        return envelope.domain_document(self.case.domain)

    def model(self) -> dict[str, Any]:
        """Returns the model; the labels have what the formulas mention that were asked for before.

        Raises:
            InputError: it is too large.
        """
        chain, relation = self.case.chain, self.case.relation
        size = len(chain.states)
        if size > MAX_STATES:
            reason = f"a model of {size:,} states has no evidence: the checker takes at most {MAX_STATES:,}"
            raise InputError(reason, key="--evidence")
        places: dict[int, int] = {}
        steps: list[Row] = []
        rows = []
        for state in range(size):
            own = chain.rows[state]
            for row in own:
                if id(row) not in places:
                    places[id(row)] = len(steps)
                    steps.append(row)  # which keeps its id
            rows.append([places[id(row)] for row in own])
        return {
            "states": list(chain.states),
            "actions": list(chain.actions),
            "scheduled": not chain.unscheduled,
            "initial": list(chain.initial),
            "steps": [[[t, self.weight(w)] for t, w in row] for row in steps],
            "rows": rows,
            "labels": dict(self.labels),
            "neighbours": [[s, t] for s in range(size) for t in relation[s] if s < t],
        }

    def tree(self, formula: Formula) -> list[Any]:
        """Returns a formula as a tree."""
        match formula:
            case Constant(value):
                return ["true" if value else "false"]
            case Label(name):
                return ["label", name]
            case StateCondition():
                return ["label", self._condition(formula)]
            case Not(inner):
                return ["not", self.tree(inner)]
            case Next(inner):
                return ["next", self.tree(inner)]
            case Junction(operator, parts):
                return ["and" if operator is Junctor.AND else "or", [self.tree(part) for part in parts]]
            case Until(left, right, low, high, release):
                ends = [_steps(low), None if high is None else _steps(high)]
                return ["release" if release else "until", self.tree(left), self.tree(right), *ends]
            case Probability(relation, bound, path):
                return ["P", str(relation), self.weight(self.semantics.number(bound)), self.tree(path)]
            case Private(epsilon, delta, path):
                ratio = self.weight(self.semantics.ratio(epsilon))
                return ["D", ratio, self.weight(self.semantics.number(delta)), self.tree(path)]

    def _condition(self, formula: StateCondition) -> str:
        name = str(formula)
        where = marks(formula, self.case.chain) or b""
        states = [state for state, true in enumerate(where) if true]
        if self.labels.setdefault(name, states) != states:
            raise InputError(f"the label {name!r} and a condition are written alike", key="--evidence")
        return name


def _steps(index: Index) -> Any:
    return index.offset if index.name is None else {"more": index.offset}


def _asked(subject: LogicEvidence, name: str, found: Property) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "text": found.text, "formula": subject.tree(found.formula)}
    if found.variable is not None:
        entry["family"] = {"first": found.first, "last": found.last}
    return entry


def evidence_of(work: LogicSession, results: Mapping[str, FormulaResult]) -> tuple[dict[str, Any], list[str]]:
    """Returns the evidence about all formulas, and in words which verdicts it does not show.

    Raises:
        InputError: the model is too large for evidence.
    """
    case = work.case
    subject = LogicEvidence(case)
    entries = [_asked(subject, name, case.properties[name]) for name in results]
    points = points_for(case, needs_of(case)) or _some_point(case)
    entry = case_entry(case.title, case.digest, case.settings)
    about = {"case": entry, **({"points": points} if points else {})}
    own: dict[str, Any] = {"kind": "formulas", "domain": subject.domain(), "model": subject.model()}
    own["formulas"] = []
    begun = Evidence(envelope.document(Standing.UNKNOWN.value, about, envelope.statements(own)))
    ((_, statement),) = begun.of("formulas")
    signs = _Signs(case, work.session)
    remarks = []
    for entry, (name, result) in zip(entries, results.items(), strict=True):
        made = _shown(begun, statement, entry, result, signs)
        if made["status"] != result.status:
            remarks.append(f"the evidence does not show the verdict of {name}: {made['reason']}")
        own["formulas"].append(made)
    status = status_of([entry["status"] for entry in own["formulas"]])
    return envelope.document(status, about, envelope.statements(*signs.proved.values(), own)), remarks


def _some_point(case: LogicCase) -> list[dict[str, str]]:
    """Returns a simple point of a domain with constraints, which shows that these agree with each other."""
    if not case.domain.constraints:
        return []
    found = next(sample_points(case.domain), None)
    return [] if found is None else [{name: str(value) for name, value in found.items()}]


def _shown(
    about: Evidence, statement: Statement, entry: dict[str, Any], result: FormulaResult, signs: _Signs
) -> dict[str, Any]:
    """Returns a formula with what the checker comes to, which is its verdict or unknown."""
    reason = result.reason
    if isinstance(result.verdict, Violated):
        for way in _counterexamples(statement["model"], entry, result.verdict.witness):
            try:
                check_false(about, statement, way)
            except Rejected as error:
                reason = str(error)
            else:
                return way
    elif isinstance(result.verdict, Holds):
        made = entry | {"status": Standing.HOLDS.value}
        endless = "family" in entry and entry["family"]["last"] is None
        more = [{"until": result.last, "argument": name} for name in ARGUMENTS] if endless else [{}]
        for way in (made | own for own in more):
            try:
                check_true(about, statement, way, signs.ask)
            except Rejected as error:
                reason = str(error)
            else:
                return way
    return entry | {"status": Standing.UNKNOWN.value, "reason": reason or "not decided"}


def _counterexamples(
    model: Mapping[str, Any], entry: dict[str, Any], example: StateWitness
) -> Iterator[dict[str, Any]]:
    """Yields what may show that a formula is false; the initial states that are named come first."""
    made = entry | {
        "status": Standing.VIOLATED.value,
        "parameters": {name: str(value) for name, value in example.parameters.items()},
        **({} if example.index is None else {"index": example.index}),
    }
    if example.repeated:
        made |= {"actions": list(example.actions), "repeated": example.repeated}
    named = [s for s in model["initial"] if model["states"][s] in (example.state, example.neighbour)]
    for state in (*named, *(s for s in model["initial"] if s not in named)):
        yield made | {"state": state}


@dataclass
class _Signs:
    """The polynomials whose signs were asked for, and the proofs of those that have them."""

    case: LogicCase
    session: Session
    known: dict[tuple[str, bool], bool] = field(default_factory=dict)
    proved: dict[tuple[str, bool], dict[str, Any]] = field(default_factory=dict)

    def ask(self, poly: Poly, strict: bool) -> bool:
        """Tells whether a polynomial is proved to be at least (or above) zero on the domain."""
        domain = self.case.domain
        polynomial: Polynomial = primitive(domain.ring.from_terms(poly))[1]
        name = (key(polynomial), strict)
        if name not in self.known:
            claim = positive(polynomial, domain, "not positive") if strict else Claim(polynomial, domain)
            decision = self.session.decide(without_enclosure(claim))
            self.known[name] = isinstance(decision.answer, Proved)
            if self.known[name]:
                about = without_enclosure(Claim(polynomial, domain))
                entry = certificates.comparison(about, decision.proof, strict)
                self.proved[name] = entry | ({"negated": key(-polynomial)} if strict else {})
        return self.known[name]


def check_with_case(
    document: Mapping[str, Any], path: Path, given: LogicOptions
) -> tuple[KernelReport, LogicCase | None]:
    """Checks evidence against a case file: model, neighbours, domain and formulas are derived from it again.

    `given` is what was said besides the file. Returns the case, too, if it was read.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    report, engine = check_document(document, Demanded()), engine_of(document)
    if not report.accepted or engine is None:
        return report, None
    stated = {entry["name"]: entry for entry in engine["formulas"]}
    own: list[str] = []
    case = None
    try:
        case = _asked_case(stated, path, given)
        reason = _differs(Evidence(document), engine, stated, case)
        if not (reason or given.properties):
            with suppress(ModelError):  # a case without formulas
                own = sorted(load(path, given).properties.keys() - stated.keys())
    except ModelError as error:
        reason = str(error)
    if reason:
        return replace(report, accepted=False, lines=(f"rejected: {reason}",)), case
    if own:
        names = ", ".join(stated)
        line = f"the case has no {names}, which was asked beside it; it has {', '.join(own)}: not looked at"
        return replace(report, lines=(*report.lines, line)), case
    return report, case


def _asked_case(stated: Mapping[str, Any], path: Path, given: LogicOptions) -> LogicCase:
    """Returns the case with its own formulas, or with those of the command line where they are called so."""
    if all(GIVEN in name for name in stated):
        texts = tuple(entry["text"] for entry in stated.values())
        with suppress(ModelError):
            case = load(path, replace(given, properties=texts))
            if list(case.properties) == list(stated):
                return case
    return load(path, given)


def _differs(about: Evidence, engine: Statement, stated: Mapping[str, Any], case: LogicCase) -> str:
    """Returns in what evidence differs from its case; "" where it does not."""
    known = case_entry(case.title, case.digest, case.settings)
    document = about.document
    if document.get("case") != known:
        return envelope.changed(document.get("case"), case.digest, case.title)
    if list(stated) != list(case.properties):
        return "the evidence is about other formulas than the case"
    subject = LogicEvidence(case)
    asked = {name: _asked(subject, name, found) for name, found in case.properties.items()}
    for name, entry in _plain(asked).items():
        if any(stated[name].get(part) != entry.get(part) for part in ("text", "formula", "family")):
            return f"the formula {name} is another one in the case"
    if about.written(engine["domain"]) != _plain(subject.domain()):
        return "the evidence is about another domain"
    if engine["model"] != _plain(subject.model()):
        return "the evidence is about another model"
    return unmet(case, needs_of(case), read_points(document))


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data))
