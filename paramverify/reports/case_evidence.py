"""The evidence of a verification as one JSON document, and what a case must have proved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from flint import arb

from paramverify.algebra.constants import working_precision
from paramverify.algebra.domains import contains
from paramverify.algebra.number_fields import read_point
from paramverify.algebra.polynomials import RationalFunction, fraction, in_generator, key, primitive
from paramverify.answers import Decision, End, Standing
from paramverify.claims import AllOutputs, Claim, Origin, Stated, to_document, without_enclosure
from paramverify.divergences import Average, Event, PositiveParts
from paramverify.encodings.choice import chosen, claims_of
from paramverify.encodings.cone import engine_document, lump
from paramverify.encodings.output_sums import excesses, listed_outcomes, listed_statements
from paramverify.encodings.output_sums import statement as sum_statement
from paramverify.encodings.point_violations import at_point
from paramverify.encodings.sequences import forward_sum
from paramverify.encodings.sets import set_claims
from paramverify.encodings.windows import windows_of
from paramverify.errors import DefectError, InputError
from paramverify.evidence import algebraic_witnesses, certificates, envelope
from paramverify.evidence.divergence_witnesses import LossWitness, loss_at, model_at, pair_of
from paramverify.evidence.witness import AnyWitness
from paramverify.evidence.witnesses import (
    ExactSetWitness,
    compare_at,
    evaluate_either,
    given_set,
)
from paramverify.kernel import enclosed_evidence as kernel
from paramverify.kernel.claim_evidence import digest
from paramverify.kernel.documents import check_document, engine_of, kind_of
from paramverify.kernel.evidence_shapes import DIRECTIONS, MAP, SIGNS, WINDOWED
from paramverify.kernel.ledger import Demanded, Evidence, KernelReport
from paramverify.kernel.loss_enclosures import WIDE
from paramverify.kernel.rounded_constants import UNIT
from paramverify.kernel.strict_reading import Misformed, Rejected, UnreadCase, shown
from paramverify.models.enclosed_models import FIRST_BITS, EnclosedModel, EnclosedProbabilities
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import (
    SETS,
    TOGETHER,
    AnyModel,
    Model,
    divergence_of,
    is_about,
    need_formulas,
    need_privacy,
    of_privacy,
)
from paramverify.models.programs.noise_densities import number
from paramverify.models.settings import case_entry
from paramverify.portfolio.obligations import Need, needs_of, points_for, read_points, unmet
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.every_length_verification import EveryLengthOutcome
from paramverify.privacy.loss_verification import bound_document, verify_losses, violation
from paramverify.privacy.set_verification import verify_sets, violation_document
from paramverify.privacy.sides import check_is_own, check_is_whole
from paramverify.privacy.verification import PrivacyReport, levels_certificate
from paramverify.privacy.window_verification import MAX_DISTANCE
from paramverify.reports.enclosed_ways import read_ways
from paramverify.synthesis.interval_documents import check_can_write
from paramverify.synthesis.interval_documents import statement as interval_statement
from paramverify.synthesis.intervals import Partition
from paramverify.synthesis.map_documents import statement as map_statement
from paramverify.synthesis.maps import RegionMap
from paramverify.synthesis.vanishing import checked_zeros
from paramverify.synthesis.violating import Violating
from paramverify.verdicts import Holds, Unknown, Verdict, Violated

CELLS = ((400, 40), (1_600, 120), (6_400, 360), (25_600, 1_000))


def _none(case: PrivacyCase, reason: str) -> InputError:
    return InputError(f"this verdict has no evidence: {reason}", key="mechanism", file=case.path)


def _ways(case: PrivacyCase) -> dict[str, Any]:
    try:
        return read_ways(case.text, Path(case.path).parent, case.settings)
    except UnreadCase as error:
        raise _none(case, f"the checker does not know {error}") from None


def _bounds(model: EnclosedModel, case: PrivacyCase) -> dict[str, Any]:
    """Returns the bound and the delta of a model."""
    measure = model.measure
    if measure.distances or not model.pairs:
        raise _none(case, "its bound depends on the distance of the inputs, or there are none")
    found: dict[str, Any] = {"bound": _bound(measure.bound_at(None), model, case)}
    if measure.share:
        delta = _bound(measure.share, model, case)
        if delta["of"] != "ratio":
            raise _none(case, "its delta has exp")
        found["delta"] = delta["value"]
    return found


def _bound(function: RationalFunction, model: EnclosedModel, case: PrivacyCase) -> dict[str, str]:
    """Returns a number that is rational, or exp of a rational."""
    top, bottom = in_generator(function.numerator), in_generator(function.denominator)
    powers = [[k for k in range(f.degree() + 1) if f[k]] for f in (top, bottom)]
    if any(len(own) != 1 for own in powers) and function.numerator:
        raise _none(case, "its bound is not a single power of e")
    if not function.numerator:
        return {"of": "ratio", "value": "0"}
    (high,), (low,) = powers
    factor = fraction(top[high]) / fraction(bottom[low])
    if high == low:
        return {"of": "ratio", "value": str(factor)}
    constant = model.table.functions.ring.constant
    if factor != 1 or constant is None:
        raise _none(case, "its bound is not a single power of e")
    return {"of": "epsilon", "value": str((high - low) * constant.exponent)}


def _compare(rows: kernel.Rows, model: EnclosedModel) -> int:
    """Compares bounds with balls: both contain the probability, so they meet; returns how many there are."""
    known, count = EnclosedProbabilities(model.table, FIRST_BITS), 0
    names = model.table.observations
    starts = {
        name: start for pair in model.pairs for name, start in ((pair.left, pair.pi), (pair.right, pair.tau))
    }
    if starts.keys() != rows.keys():
        raise Rejected("the case has other inputs")
    for name, start in starts.items():
        balls = dict(zip(names, known.under(start), strict=True))
        with working_precision(known.encloser.precision):
            for output in balls.keys() | rows[name].keys():
                low, high = (number(Fraction(end, UNIT)) for end in rows[name].get(output, (0, 0)))
                ball = balls.get(output, arb(0))
                if ball < low or ball > high:
                    raise Rejected(f"another probability of {output!r:.60} under {name!r:.60}")
                count += 1
    return count


ROUNDED = ("value", "bound")  # balls with errors; the kernel encloses these by itself


def check_losses(written: Mapping[str, Any], model: Model, measure: Average) -> KernelReport:
    """Checks claims about losses, each the case's own, derived forwards and one sequence after the other.

    Raises:
        Rejected: the case has another measure, bound or domain, or gives other numbers for the witness.
    """
    fixed = {"of": measure.key, "bound": bound_document(measure)}
    domain = envelope.domain_document(model.domain)
    directions = [{"domain": domain, **fixed, **own} for own in listed_statements(model)]
    report = check_document(written, Demanded(directions=directions, obligations=_obligations(model)))
    if report.accepted and "witness" in written:
        found = again(model, measure, written["witness"])
        if not found.exceeds:
            raise Rejected("the model does not pass its bound at the witness")
        return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))
    return report


def evaluated(
    model: Model,
    measure: Average,
    origin: tuple[str, str, int],
    point: Mapping[str, Fraction],
    order: Fraction | None,
) -> LossWitness:
    """Returns a divergence at a point, from the model.

    Raises:
        InputError: unknown secrets, or one that is impossible there.
    """
    left, right, length = origin
    pair = pair_of(model, left, right)
    own = AllOutputs(pair.left, pair.right, length=length)
    return loss_at(model_at(model, own, point, pair), measure, order)


def again(model: Model, measure: Average, written: Mapping[str, Any]) -> LossWitness:
    """Evaluates a witness again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    left, right = written["secrets"]
    if written["length"] not in model.lengths:
        raise Rejected("the case is not about sequences of this length")
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    if point.keys() != set(model.domain.ring.parameters):
        raise Misformed("the case has other parameters", "witness", "parameters")
    order = Fraction(written["order"]) if "order" in written else None
    if (order is None) is measure.of_orders or (order is not None and order <= 1):
        raise Misformed("not above 1, or not of this measure", "witness", "order")
    if not contains(model.domain, point):
        raise Rejected("the witness is outside of the domain")
    try:
        found = evaluated(model, measure, (left, right, written["length"]), point, order)
    except InputError as error:
        raise Rejected(f"a witness: {error}") from None
    own = found.exact_document()
    for name in (own.keys() | written.keys()) - {"kind", "claim", *ROUNDED}:
        if written.get(name) != own.get(name):
            raise Misformed("the model gives something else", "witness", name)
    for name in ROUNDED:
        if not _is_near(written[name], own[name]):
            raise Misformed("the model gives something else", "witness", name)
    return found


def _is_near(told: Any, own: Any) -> bool:
    """Tells whether numbers enclose the same as own ones, and as narrowly; both may be "infinity"."""
    if "infinity" in (told, own):
        return bool(told == own)
    both = ([each, each] if isinstance(each, str) else each for each in (told, own))
    (low, high), (least, most) = (map(Fraction, each) for each in both)
    return low <= most and least <= high and high - low <= most - least + WIDE


def broken_claim(model: AnyModel, found: AnyWitness) -> Claim:
    """Returns the claim that fails at a witness."""
    origin = found.origin
    if origin is None:
        raise DefectError("a set of outputs, a loss or an enclosure breaks no polynomial claim")
    if found.word and isinstance(origin, Origin):
        return claim_of(need_privacy(model, "this witness", tied=True, densities=True), origin)
    failing = (c for c in claims_of(model) if origin in c.origins and found.breaks(c))
    return without_enclosure(next(failing))


def witness_document(broken: Claim, found: AnyWitness) -> dict[str, Any]:
    """Returns a witness as evidence has it, with the claim that fails there, and the parameters of that."""
    told, names = found.document(), broken.domain.ring.parameters
    point = {name: value for name, value in told["parameters"].items() if name in names}
    return {"kind": "claim", **told, "claim": envelope.sign(broken), "parameters": point}


def claim_of(model: Model, origin: Origin) -> Claim:
    """Returns the claim that one sequence of observations makes about one direction of a secret pair."""
    pair = pair_of(model, origin.left, origin.right)
    left, right = (forward_sum(model, start, origin.observations) for start in (pair.pi, pair.tau))
    f = model.ratio_bound(pair.distance).claim(left * pair.tau.mass, right * pair.pi.mass)
    return without_enclosure(Claim(primitive(f)[1], model.domain, (origin,)))


def origin_of(model: Model, written: Mapping[str, Any]) -> Origin:
    """Returns what a witness of evidence is about: one output, or all of them where the case compares all."""
    left, right = written["secrets"]
    if model.measure.event is Event.ALL:
        return AllOutputs(left, right, length=written["length"])
    return Origin(left, right, tuple(written["observations"]))


def recheck_witness(written: Mapping[str, Any], model: AnyModel, report: KernelReport) -> KernelReport:
    """Evaluates the witness of accepted evidence again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    found = _evaluated_again(written, model)
    if not found.shown:
        raise Rejected("the model does not pass its bound at the witness")
    own = found.document()
    apart = {"kind", "claim"} if "algebraic" in written else {"kind", "parameters", "claim"}
    for name in (own.keys() | written.keys()) - apart:
        if written.get(name) != own.get(name):
            raise Misformed("the model gives something else", "witness", name)
    return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))


def _evaluated_again(written: Mapping[str, Any], model: AnyModel) -> AnyWitness:
    at = read_point(written["algebraic"]) if "algebraic" in written else None
    point = {} if at else {name: Fraction(value) for name, value in written["parameters"].items()}
    model = need_formulas(model, "evidence")
    if model.comparisons:
        stated = Stated(int(written["number"]), written["statement"])
        if at:
            return algebraic_witnesses.compare_at(model, stated, at)
        return compare_at(model, stated, point)
    model = of_privacy(model, "this witness", tied=True, densities=True)
    left, right = written["secrets"]
    if at:
        own = need_privacy(model, "this witness")
        return algebraic_witnesses.evaluate(own, Origin(left, right, tuple(written["observations"])), at)
    origin = origin_of(model, written)
    if isinstance(origin, AllOutputs) and origin.length not in model.lengths:
        raise Rejected("the case is not about sequences of this length")
    found = evaluate_either(model, origin, point)
    if (left, right) != (found.left, found.right):
        raise Misformed("the case has other names for the secrets", "witness", "secrets")
    return found


def _expected_of_windows(
    stated: Mapping[str, Any], case: PrivacyCase, told: Mapping[str, set[str]]
) -> list[dict[str, Any]] | None:
    """Returns the claims of windows, derived again, those of all other pairs, and the obligations.

    For each origin in words that is a key of `told`, the polynomials of its claims are added there.

    Raises:
        Rejected: they are not about pairs of the case, or there are no such windows.
    """
    model = case.model
    windows = windows_of(model, case.whole)
    if windows is None:
        raise Rejected("the case has no windows")
    pairs = {(pair.left, pair.right): pair for pair in model.pairs}
    found: dict[str, Claim] = {}
    for place, (left, right, distance) in enumerate(stated["pairs"]):
        if (left, right) not in pairs:
            raise Misformed("no pair of the case, or one that was there before", "windows", "pairs", place)
        pair = pairs.pop((left, right))
        claims = windows.claims(pair, distance) if 1 <= distance <= MAX_DISTANCE else None
        if claims is None:
            raise Misformed("there is no such window", "windows", "pairs", place)
        for claim in claims:
            found.setdefault(key(claim.polynomial), claim)
            for words in told.keys() & {str(origin) for origin in claim.origins}:
                told[words].add(_digest(claim))
    rest = replace(windows.model, pairs=tuple(pairs.values()))
    others = expected_claims(rest, told) if rest.pairs else _obligations(rest)
    near = [to_document(without_enclosure(claim)) for claim in found.values()]
    return None if others is None else [*near, *others]


SHOWN = 3  # origins that are listed for one claim


def evidence_document(case: PrivacyCase, report: PrivacyReport) -> dict[str, Any]:
    """Returns every claim with its proof, or the witness.

    Of a case about every length it is the certificate of a cone or of a loop, for `kernel.cone_evidence`.
    """
    check_is_own(case)
    return evidence_of(case).document(report)


def check_has_evidence(case: PrivacyCase) -> None:
    """Checks that verdicts about a case have evidence.

    Raises:
        InputError: they have none: its probabilities are enclosed, and the kernel does not come to them; or
            its epsilon stands beside other exponents than its own.
    """
    check_is_whole(case)
    evidence_of(case).check_written()


def about(
    case: PrivacyCase, obligations: Iterable[tuple[Claim, Decision]], status: str | None = None
) -> dict[str, Any]:
    """Returns what evidence says of its case besides: the proved obligations, and points of the domain."""
    own = [certificates.settled(_short(claim), decision, "obligation") for claim, decision in obligations]
    points = points_for(case.model, evidence_of(case).needs) if status != Standing.VIOLATED else []
    return {
        "case": case_entry(case.title, case.digest, case.settings),
        "statements": envelope.distinct(own),
        **({"points": points} if points else {}),
        **evidence_of(case).statements(status),
    }


def _has_sets(case: PrivacyCase) -> bool:
    """Tells whether outputs of a case are sets of numbers, or places of densities."""
    mechanism = case.mechanism
    return case.times == 1 and isinstance(mechanism, ProgramMechanism) and bool(mechanism.ranges)


def _short(claim: Claim) -> Claim:
    """Returns a claim with its first origins that read differently: both sides of an equality read alike."""
    first: dict[str, Any] = {}
    for origin in claim.origins:
        first.setdefault(str(origin), origin)
        if len(first) == SHOWN:
            break
    return replace(without_enclosure(claim), origins=tuple(first.values()))


def _digest(claim: Claim) -> str:
    return digest(to_document(without_enclosure(claim)))


def expected_claims(model: AnyModel, told: Mapping[str, set[str]]) -> list[dict[str, Any]] | None:
    """Returns the claims that a case makes, by a path of their own (`Encoding.again`), and its obligations.

    For each origin in words that is a key of `told`, the digest of its claim is added there. None where the
    claims are about some sequences only, and a certificate is the evidence.
    """
    again = chosen(model).again
    if again is None or model.every_length:
        return None
    found: dict[tuple[str, int], Claim] = {}
    for claim in again(model):
        name = key(claim.polynomial)
        for words in told.keys() & {str(origin) for origin in claim.origins} if told else ():
            told[words].add(_digest(claim))
        found.setdefault((name, id(claim.domain)), claim)
    return [*(to_document(without_enclosure(claim)) for claim in found.values()), *_obligations(model)]


def check_with_case(document: Mapping[str, Any], case: PrivacyCase) -> KernelReport:
    """Checks evidence against the claims that a case makes, derived from it again, and its obligations.

    The document has the form of evidence. What is malformed beyond that gives a report that is not accepted.
    """
    model, kind = case.model, evidence_of(case)
    try:
        about = Evidence(document)
        own = case_entry(case.title, case.digest, case.settings)
        if document.get("case", own if kind_of(document) == "cells" else None) != own:
            raise Rejected(envelope.changed(document.get("case"), case.digest, case.title))
        needed = kind.statements(document["status"])
        pairs = [_without_proofs(about, each.get("reduction")) for each in (document, needed)]
        if pairs[0] != pairs[1]:
            raise Rejected("it is about other neighbours")
        if document.get("outputs") != needed.get("outputs"):
            raise Rejected("it names other outputs than the case has")
        if document.get("side_condition") != needed.get("side_condition"):
            raise Rejected("it has another side condition than the case")
        report = kind.check(about)
        if not report.accepted:
            return report
        if report.status == Standing.VIOLATED and "witness" in document:
            return kind.recheck(document["witness"], report)
        if report.status == Standing.VIOLATED and kind_of(document) == "paths":
            return report  # the enclosures of its witness were computed again
        reason = unmet(model, kind.needs, read_points(document))
        if reason and report.status != Standing.UNKNOWN:
            raise Rejected(reason)
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return KernelReport(False, (f"rejected: not evidence about this case: {error!s:.200}",))
    return report


def _without_proofs(about: Evidence, reduction: object) -> object:
    """Returns what a statement about neighbours says on which domain; the kernel replays its proofs."""
    if not isinstance(reduction, Mapping):
        return reduction
    found = {name: value for name, value in reduction.items() if name != "proofs"}
    if isinstance(found.get("domain"), int):
        found["domain"] = about.written(found["domain"])
    return found


def _obligations(model: AnyModel) -> list[dict[str, Any]]:
    return [to_document(without_enclosure(o.claim)) for o in model.obligations]


def map_evidence(
    case: PrivacyCase, found: RegionMap, obligations: Iterable[tuple[Claim, Decision]]
) -> dict[str, Any]:
    """Returns a region map with all that is needed to check it, and what it says of its case."""
    kind = evidence_of(case)
    kind.check_map()
    own = map_statement(found, case.model.domain)
    statements = envelope.statements(*kind.sums(own["claims"]), own)
    return envelope.document(MAP, about(case, obligations), statements)


def _sums(model: Model) -> list[dict[str, Any]]:
    """Returns the claims about sums of a case, one for each direction, derived forwards."""
    return [
        {"domain": envelope.domain_document(claim.domain), **sum_statement(claim), "origins": [list(origin)]}
        for claim in excesses(model, listed_outcomes(model))
        for origin in claim.origins
    ]


def _recheck_set(written: Mapping[str, Any], model: Model, report: KernelReport) -> KernelReport:
    """Evaluates a set of outputs again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    left, right = written["secrets"]
    found = given_set(model, left, right, [tuple(word) for word in written["outputs"]], point)
    if not found.exceeds:
        raise Rejected("the model does not pass its bounds at the witness")
    own = found.document()
    for name in own:
        if sorted(written[name]) != sorted(own[name]) if name == "outputs" else written[name] != own[name]:
            raise Misformed("the model gives something else", "witness", name)
    return replace(report, lines=(*report.lines, "witness: evaluated again from the model"))


NO_INTERVALS = "there are no exact intervals of claims of such a case"


@dataclass(frozen=True)
class ClaimEvidence:
    """Evidence of a case by its polynomial claims, or by a certificate instead of them.

    Each form of divergence, and each kind of model, has one of these classes; see `evidence_of`.
    """

    case: PrivacyCase
    model: AnyModel
    form: ClassVar[str] = "claims"  # the kind of documents

    def document(self, report: PrivacyReport) -> dict[str, Any]:
        """Returns the evidence of a verdict."""
        case, status = self.case, report.status.value
        if report.certificate is not None:
            return envelope.document(status, about(case, report.obligations, status), report.certificate)
        settled = list(zip(report.own_claims, report.decisions, strict=False)) + list(report.obligations)
        entries = [certificates.settled(_short(claim), decision) for claim, decision in settled]
        rest: dict[str, Any] = {"case": case_entry(case.title, case.digest, case.settings)}
        if isinstance(report.verdict, Violated):
            found = report.verdict.witness
            rest["witness"] = witness_document(broken_claim(case.model, found), found)
            entries = [entry for entry in entries if entry["proof"] is not None]
        if status == Standing.HOLDS and (points := points_for(case.model, self.needs)):
            rest["points"] = points
        if status == Standing.HOLDS and report.windows:
            pairs = [list(own) for own in report.windows]
            rest["windows"] = {"statement": WINDOWED, "pairs": pairs}
        claims = envelope.statements(*envelope.distinct(entries))
        return envelope.document(status, claims, rest, self.statements(status))

    @property
    def needs(self) -> Iterator[Need]:
        """What must be possible at a point of the domain."""
        return needs_of(self.model, self.model.pairs)

    def statements(self, status: str | None = None) -> dict[str, Any]:
        """Returns what the verdict needs besides: its side condition, the pair that stands for the others."""
        model = self.model
        own = {"outputs": list(model.outputs)} if _has_sets(self.case) else {}
        if model.side_condition:
            return own | {"side_condition": model.side_condition}  # then no pair stands for others
        if model.stands_for is None or status == Standing.VIOLATED:
            return own
        pair = model.pairs[0]
        return own | {"reduction": model.stands_for.document(pair.left, pair.right)}

    def of_prior(self, session: Session, found: Violating) -> EveryLengthOutcome:
        """Returns what a violating prior is a violation of, or the proof that there is none."""
        claims, certificate = claims_of(self.model), None
        verdict: Verdict = Unknown(End.GAVE_UP, found.reason)
        decisions = found.decisions
        if found.witness:
            verdict, decisions = Violated(found.witness), ()
        elif found.complete:
            verdict = Holds(decisions)
            certificate = levels_certificate(self.model, claims, decisions)
        return EveryLengthOutcome(verdict, claims, decisions, certificate)

    def sums(self, claims: Sequence[str]) -> list[dict[str, Any]]:
        """Returns the statements that the claims of a map need besides."""
        return []

    def check_written(self) -> None:
        """Raises an InputError if verdicts have no evidence."""

    def check_map(self) -> None:
        """Raises an InputError if a map has no evidence."""

    def check_intervals(self) -> None:
        """Raises an InputError if exact intervals have no evidence."""
        if checked_zeros(self.model).all:
            raise InputError("there is no evidence of exact intervals where probabilities may vanish")

    def check(self, about: Evidence) -> KernelReport:
        """Checks a document against the case, by its kind.

        Raises:
            Rejected: the case has no such evidence.
        """
        kind = kind_of(about.document)
        if not any(about.of(*SIGNS, *DIRECTIONS)) and "witness" not in about.document and kind == "claims":
            kind = self.form  # nothing says so
        checks = {
            "claims": self.of_claims,
            "parts": self.of_sets,
            "average": self.of_losses,
            "cone": self.of_cone,
            "cells": self.of_regions,
            "line": self.of_intervals,
            "paths": self.of_enclosures,
        }
        if kind not in checks:
            raise Rejected("the evidence is not about a case with a mechanism")
        return checks[kind](about)

    def recheck(self, witness: Mapping[str, Any], report: KernelReport) -> KernelReport:
        """Evaluates the witness of accepted evidence again."""
        return recheck_witness(witness, self.model, report)

    def of_claims(self, about: Evidence) -> KernelReport:
        """Checks claims one by one, each the case's own, and where they are said to come from."""
        document, model, needed = about.document, self.model, _obligations(self.model)
        claims = list(about.of("claim"))
        told: dict[str, set[str]] = {o: set() for _, entry in claims for o in entry.get("origins", [])}
        if "windows" in document:
            expected = _expected_of_windows(document["windows"], self.case, told)
        else:
            expected = expected_claims(model, told)
        if expected is None:
            if document["status"] != Standing.VIOLATED:
                reason = "for so many sequences, only a certificate of a cone or a witness is evidence"
                raise Rejected(reason)
            model = need_privacy(model, "this witness", tied=True, densities=True)
            left, right = document["witness"]["secrets"]
            origin = Origin(left, right, tuple(document["witness"]["observations"]))
            if model.lengths and len(origin.observations) not in model.lengths:
                raise Rejected("the case is not about sequences of this length")
            expected = [to_document(claim_of(model, origin)), *needed]
            alone = check_document(document)
            if not alone.accepted:
                return alone
            # The witness and the obligations are enough, and are all that is compared.
            claims = [(k, entry) for k, entry in claims if about.full(entry) in needed]
            document = {**document, "statements": [entry for _, entry in claims]}
        report = check_document(document, Demanded(claims=expected, obligations=needed))
        if report.accepted and model.nothing_compared:
            report = replace(report, lines=(*report.lines, model.nothing_compared))
        about_model = {digest(claim) for claim in needed}
        for k, entry in claims if report.accepted else ():
            origins = entry.get("origins", [])
            free = report.status != Standing.HOLDS or digest(about.full(entry)) in about_model
            if not (origins or free):
                raise Misformed("nothing says where this claim comes from", "statements", k)
            for j, text in enumerate(origins):
                if not told[text]:
                    reason = f"the case has no claim about {shown(text)}"
                    raise Misformed(reason, "statements", k, "origins", j)
                if digest(about.full(entry)) not in told[text]:
                    raise Misformed("the case makes another claim there", "statements", k, "origins", j)
        return report

    def of_cone(self, about: Evidence) -> KernelReport:
        """Checks a certificate about every length: its model must be the case's."""
        model = need_privacy(self.model, "a certificate about many sequences", densities=True)
        own = engine_of(about.document) or {}
        if (own["lengths"] != list(model.lengths)) if own["rule"] == "levels" else bool(model.lengths):
            raise Rejected("the case is about other lengths")
        if own["rule"] == "loop":
            point = {name: Fraction(value) for name, value in own["point"].items()}
            if point.keys() != set(model.domain.ring.parameters) or not contains(model.domain, point):
                raise Rejected("the loop is not about a prior of the case")
            small = at_point(model, point)
        else:
            small = lump(model).model
        demanded = Demanded(engine=engine_document(small), obligations=_obligations(model))
        return check_document(about.document, demanded)

    def of_regions(self, about: Evidence) -> KernelReport:
        """Checks a map of the claims of the case."""
        stated = [to_document(without_enclosure(claim)) for claim in claims_of(self.model)]
        demanded = Demanded(stated=stated, obligations=_obligations(self.model))
        return check_document(about.document, demanded)

    def of_intervals(self, about: Evidence) -> KernelReport:
        """Checks exact intervals of the claims of the case."""
        if checked_zeros(self.model).all:
            raise Rejected(NO_INTERVALS)
        return self.of_regions(about)

    def of_sets(self, about: Evidence) -> KernelReport:
        """Checks claims about sums, each the case's own, derived forwards."""
        need_privacy(self.model, "evidence about sets of outputs", events=SETS)
        raise Rejected("the case has no delta")

    def of_losses(self, about: Evidence) -> KernelReport:
        """Checks claims about losses; see `check_losses`."""
        return check_losses(about.document, *self.loss("evidence about a divergence"))

    def of_enclosures(self, about: Evidence) -> KernelReport:
        """Checks evidence about enclosed probabilities."""
        raise Rejected("the probabilities of the case are not enclosed")

    def loss(self, what: str) -> tuple[Model, Average]:
        """Returns the model and its divergence if that is an average of the loss; `what` needs it."""
        need_privacy(self.model, what, events=TOGETHER)
        raise Rejected("the case has another measure")


@dataclass(frozen=True)
class SetEvidence(ClaimEvidence):
    """Evidence of a case that compares sets of outputs, by claims about sums."""

    model: Model
    form = "parts"

    def document(self, report: PrivacyReport) -> dict[str, Any]:
        """Returns the evidence of a verdict."""
        document = super().document(report)
        if report.certificate is not None and isinstance(report.verdict, Violated):
            document["witness"] = {**document["witness"], **report.verdict.witness.document()}
        return document

    def recheck(self, witness: Mapping[str, Any], report: KernelReport) -> KernelReport:
        """Evaluates a set of outputs again."""
        if witness["kind"] != "set":
            return super().recheck(witness, report)
        return _recheck_set(witness, need_privacy(self.model, "evidence about sets", events=SETS), report)

    def of_prior(self, session: Session, found: Violating) -> EveryLengthOutcome:
        """Returns that a set of outputs is too likely, or the proof that there is none."""
        witness = found.witness
        if not isinstance(witness, ExactSetWitness):
            return verify_sets(session, self.model)
        direction = (witness.left, witness.right, witness.length)
        sums = (claim for claim in excesses(self.model) if direction in claim.origins)
        return EveryLengthOutcome(Violated(witness), (), (), violation_document(next(sums)))

    def sums(self, claims: Sequence[str]) -> list[dict[str, Any]]:
        """Returns the claims about sums that those of a map come from."""
        known = set_claims(self.model)
        if [key(claim.polynomial) for claim in known.claims] != claims:
            raise DefectError("the claims of the map are not those of the sums")
        domain = envelope.domain_document(self.model.domain)
        return [{"kind": "parts", "domain": domain, **cover.document()} for cover in known.covers]

    def check_intervals(self) -> None:
        """Raises an InputError: exact intervals have no evidence."""
        raise InputError("there is no evidence of exact intervals with a delta: leave --exact out")

    def of_claims(self, about: Evidence) -> KernelReport:
        """Rejects claims about outputs one by one."""
        raise Rejected("the case has a delta, and this evidence is about outputs one by one")

    def of_regions(self, about: Evidence) -> KernelReport:
        """Checks a map of claims about sets, which its sums say."""
        domain = envelope.domain_document(self.model.domain)
        stated = [{**domain, "polynomial": text} for text in (engine_of(about.document) or {})["claims"]]
        demanded = Demanded(stated=stated, directions=_sums(self.model), obligations=_obligations(self.model))
        return check_document(about.document, demanded)

    def of_intervals(self, about: Evidence) -> KernelReport:
        """Rejects exact intervals."""
        raise Rejected(NO_INTERVALS)

    def of_sets(self, about: Evidence) -> KernelReport:
        """Checks claims about sums, each the case's own, derived forwards."""
        model = need_privacy(self.model, "evidence about sets of outputs", events=SETS)
        demanded = Demanded(directions=_sums(model), obligations=_obligations(model))
        return check_document(about.document, demanded)


@dataclass(frozen=True)
class LossEvidence(ClaimEvidence):
    """Evidence of a case that bounds an average of the loss, by enclosures on boxes."""

    model: Model
    measure: Average
    form = "average"

    def document(self, report: PrivacyReport) -> dict[str, Any]:
        """Returns the evidence of a verdict."""
        own, status = report.certificate or {}, report.status.value
        if isinstance(report.verdict, Violated) and isinstance(report.verdict.witness, LossWitness):
            own = violation(self.model, self.measure, report.verdict.witness)
            own["witness"] |= report.verdict.witness.exact_document()
        return envelope.document(status, about(self.case, report.obligations, status), own)

    def recheck(self, witness: Mapping[str, Any], report: KernelReport) -> KernelReport:
        """Returns the report: such a witness was computed again when it was checked."""
        return report if witness["kind"] == "average" else super().recheck(witness, report)

    def of_prior(self, session: Session, found: Violating) -> EveryLengthOutcome:
        """Returns that a loss is too large, or the proof that there is none."""
        if found.witness:
            return EveryLengthOutcome(Violated(found.witness))
        return verify_losses(session, self.model)

    def check_map(self) -> None:
        """Raises an InputError: a map has no evidence."""
        name = self.measure.key
        reason = f"there is no evidence of a map of {name}: `verify --evidence` proves a bound"
        raise InputError(f"{reason}, `synthesize --witness --evidence` shows a prior", key=f"privacy.{name}")

    def loss(self, what: str) -> tuple[Model, Average]:
        """Returns the model and its divergence."""
        return need_privacy(self.model, what, events=TOGETHER), self.measure


@dataclass(frozen=True)
class EnclosedEvidence(ClaimEvidence):
    """Evidence of a case whose probabilities are enclosed, by the ways through its program."""

    model: EnclosedModel
    form = "paths"

    def document(self, report: PrivacyReport) -> dict[str, Any]:
        """Returns the ways through the program, the bounds, and how fine the kernel has to cut."""
        status = report.status.value
        own = {"kind": "paths", **_bounds(self.model, self.case), **_ways(self.case)}
        if isinstance(report.verdict, Violated):
            witness = report.verdict.witness.document()
            outputs = witness.get("observations") or [name for (name,) in witness["outputs"]]
            own["witness"] = {"secrets": witness["secrets"], "outputs": outputs}
        told = ""
        for cells in CELLS:
            own["cells"] = list(cells)
            checked = check_document(envelope.document(status, envelope.statements(own)))
            if checked.accepted:
                rest = about(self.case, report.obligations, status)
                return envelope.document(status, rest, envelope.statements(own))
            told = checked.lines[-1]
        raise _none(self.case, f"the checker does not come to it: {told}")

    @property
    def needs(self) -> Iterator[Need]:
        """That the domain has a point: inputs are drawn with certain numbers."""
        return needs_of(self.model)

    def statements(self, status: str | None = None) -> dict[str, Any]:
        """Returns nothing: the ways say all."""
        return {}

    def check_written(self) -> None:
        """Raises an InputError if the checker cannot read the program, or the bounds."""
        _bounds(self.model, self.case)
        _ways(self.case)

    def of_enclosures(self, about: Evidence) -> KernelReport:
        """Checks such evidence, and compares it with the balls of the case itself."""
        model, own = self.model, engine_of(about.document) or {}
        stated = {name: own[name] for name in ("bound", "delta") if name in own}
        if stated != _bounds(model, self.case):
            raise Rejected("the case has other bounds")
        pairs = [(pair.left, pair.right) for pair in model.pairs]
        told = [(left, right) for left, right in own["pairs"]]
        if {frozenset(pair) for pair in pairs} != {frozenset(pair) for pair in told}:
            raise Rejected("the case has other pairs")
        rows = kernel.rows_of(own)
        try:
            ways = json.loads(
                json.dumps(read_ways(self.case.text, Path(self.case.path).parent, self.case.settings))
            )
        except UnreadCase as error:
            raise Rejected(f"the paths through the program cannot be compared: {error}") from None
        if any(own[name] != ways[name] for name in ("noise", "inputs")):
            raise Rejected("the case has other paths through its program")
        report = check_document(about.document, Demanded(obligations=_obligations(model)), rows=rows)
        if not report.accepted:
            return report
        count = _compare(rows, model)
        line = f"the bounds of {count} probabilities agree with enclosures of the model"
        return replace(report, lines=(*report.lines, line))


def evidence_of(case: PrivacyCase) -> ClaimEvidence:
    """Returns what evidence of a case is made of."""
    model = case.model
    if isinstance(model, EnclosedModel):
        return EnclosedEvidence(case, model)
    if is_about(model, PositiveParts):
        return SetEvidence(case, model)
    if is_about(model, Average):
        return LossEvidence(case, model, divergence_of(model, Average))
    return ClaimEvidence(case, model)


def check_has_synthesis_evidence(case: PrivacyCase, exact: bool) -> None:
    """Checks that there may be evidence of exact intervals, or of a map, of a case.

    Raises:
        InputError: there is none.
    """
    kind = evidence_of(case)
    kind.check_map()
    if exact:
        check_can_write(case.model.domain)
        kind.check_intervals()


def interval_evidence(
    case: PrivacyCase, found: Partition, obligations: Iterable[tuple[Claim, Decision]]
) -> dict[str, Any]:
    """Returns exact intervals with all that is needed to check them, and what they say of their case."""
    check_has_synthesis_evidence(case, exact=True)
    own = interval_statement(found, case.model.domain)
    return envelope.document(MAP, about(case, obligations), envelope.statements(own))
