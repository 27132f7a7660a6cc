"""The evidence of a verification as one JSON document, and what a case must have proved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb

from paramverify.algebra.constants import working_precision
from paramverify.algebra.domains import contains
from paramverify.algebra.number_fields import read_point
from paramverify.algebra.polynomials import RationalFunction, fraction, in_generator, key, primitive
from paramverify.answers import Decision, End, Standing
from paramverify.claims import AllOutputs, Claim, Origin, Stated, to_document, without_enclosure
from paramverify.divergences import Average, Event, PositiveParts
from paramverify.encodings.choice import chosen, claims_of
from paramverify.encodings.cone import lump, model_document
from paramverify.encodings.output_sums import excesses, listed_outcomes, listed_statements
from paramverify.encodings.output_sums import statement as sum_statement
from paramverify.encodings.point_violations import at_point
from paramverify.encodings.sequences import forward_sum
from paramverify.encodings.sets import set_claims
from paramverify.encodings.windows import windows_of
from paramverify.errors import DefectError, InputError
from paramverify.evidence import algebraic_witnesses, certificates
from paramverify.evidence.divergence_witnesses import LossWitness, loss_at, model_at, pair_of
from paramverify.evidence.witness import AnyWitness
from paramverify.evidence.witnesses import (
    ExactSetWitness,
    compare_at,
    evaluate_either,
    given_set,
)
from paramverify.kernel import claim_evidence as checker
from paramverify.kernel import cone_evidence as cone_checker
from paramverify.kernel import enclosed_evidence as kernel
from paramverify.kernel import evidence_shapes
from paramverify.kernel import interval_evidence as interval_checker
from paramverify.kernel import loss_evidence as loss_kernel
from paramverify.kernel import region_evidence as region_checker
from paramverify.kernel import set_evidence as set_checker
from paramverify.kernel import worst_pair_evidence as product_checker
from paramverify.kernel.evidence_shapes import WINDOWED
from paramverify.kernel.loss_enclosures import WIDE
from paramverify.kernel.rounded_constants import UNIT
from paramverify.kernel.strict_reading import Misformed, Rejected, UnreadCase, changed, check, read, shown
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
from paramverify.privacy.loss_verification import bound_document, document, verify_losses, violation
from paramverify.privacy.set_verification import domain_document, verify_sets, violation_document
from paramverify.privacy.sides import check_is_own, check_is_whole
from paramverify.privacy.verification import PrivacyReport, levels_certificate
from paramverify.privacy.window_verification import MAX_DISTANCE
from paramverify.rereader.second_enclosed import read_ways
from paramverify.synthesis.interval_documents import check_can_write
from paramverify.synthesis.interval_documents import to_document as interval_document
from paramverify.synthesis.intervals import Partition
from paramverify.synthesis.map_documents import to_document as map_document
from paramverify.synthesis.maps import RegionMap
from paramverify.synthesis.vanishing import checked_zeros
from paramverify.synthesis.violating import Violating
from paramverify.verdicts import Holds, Unknown, Verdict, Violated

CELLS = ((400, 40), (1_600, 120), (6_400, 360), (25_600, 1_000))


def _none(case: PrivacyCase, reason: str) -> InputError:
    return InputError(f"this verdict has no evidence: {reason}", key="mechanism", file=case.path)


def _ways(case: PrivacyCase) -> dict[str, Any]:
    try:
        return read_ways(case.text, Path(case.path).parent, case.settings)[0]
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
        raise _none(case, "its bound is no single power of e")
    if not function.numerator:
        return {"of": "ratio", "value": "0"}
    (high,), (low,) = powers
    factor = fraction(top[high]) / fraction(bottom[low])
    if high == low:
        return {"of": "ratio", "value": str(factor)}
    constant = model.table.functions.ring.constant
    if factor != 1 or constant is None:
        raise _none(case, "its bound is no single power of e")
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


def check_losses(written: Mapping[str, Any], model: Model, measure: Average) -> checker.KernelReport:
    """Checks claims about losses, each the case's own, derived forwards and one sequence after the other.

    Raises:
        Rejected: the case has another measure, bound or domain, or gives other numbers for the witness.
    """
    if written["measure"] != measure.key:
        raise checker.Rejected("the case has another measure")
    if written["bound"] != bound_document(measure):
        raise Misformed("the case has another bound", "bound")
    if written["domain"] != domain_document(model.domain, model.domain.ring.number(0)):
        raise checker.Rejected("the case has another domain")
    report = loss_kernel.check_document(written, listed_statements(model), _obligations(model))
    if report.accepted and "witness" in written:
        found = again(model, measure, written["witness"])
        if not found.exceeds:
            raise checker.Rejected("the model does not pass its bound at the witness")
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
        raise checker.Rejected("the case is not about sequences of this length")
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    if point.keys() != set(model.domain.ring.parameters):
        raise Misformed("the case has other parameters", "witness", "parameters")
    order = Fraction(written["order"]) if "order" in written else None
    if (order is None) is measure.of_orders or (order is not None and order <= 1):
        raise Misformed("not above 1, or not of this measure", "witness", "order")
    if not contains(model.domain, point):
        raise checker.Rejected("the witness is outside of the domain")
    try:
        found = evaluated(model, measure, (left, right, written["length"]), point, order)
    except InputError as error:
        raise checker.Rejected(f"a witness: {error}") from None
    own = found.exact_document()
    for name in (own.keys() | written.keys()) - {"claim", *ROUNDED}:
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
    return {**told, "claim": to_document(broken), "parameters": point}


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


def recheck_witness(
    document: Mapping[str, Any], model: AnyModel, report: checker.KernelReport
) -> checker.KernelReport:
    """Evaluates the witness of accepted evidence again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    written = document["witness"]
    found = _evaluated_again(written, model)
    if not found.shown:
        raise checker.Rejected("the model does not pass its bound at the witness")
    own = found.document()
    apart = {"claim"} if "algebraic" in written else {"parameters", "claim"}
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
        raise checker.Rejected("the case is not about sequences of this length")
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
                told[words].add(key(claim.polynomial))
    rest = replace(windows.model, pairs=tuple(pairs.values()))
    others = expected_claims(rest, told) if rest.pairs else _obligations(rest)
    near = [to_document(without_enclosure(claim)) for claim in found.values()]
    return None if others is None else [*near, *others]


SHOWN = 3  # origins that are listed for one claim


def evidence_document(case: PrivacyCase, report: PrivacyReport) -> dict[str, Any]:
    """Returns every claim with its proof, or the witness; for `checker`.

    Of a case about every length it is the certificate of a cone or of a loop, for `checker.cone_evidence`.
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
    own = [certificates.settled(_short(claim), decision) for claim, decision in obligations]
    points = points_for(case.model, evidence_of(case).needs) if status != Standing.VIOLATED else []
    return {
        "case": case_entry(case.title, case.digest, case.settings),
        "obligations": certificates.distinct(own),
        **({"points": points} if points else {}),
        **evidence_of(case).statements(status),
    }


def _has_sets(case: PrivacyCase) -> bool:
    """Tells whether outputs of a case are sets of numbers, or places of densities."""
    mechanism = case.mechanism
    return case.times == 1 and isinstance(mechanism, ProgramMechanism) and bool(mechanism.ranges)


def _short(claim: Claim) -> Claim:
    return replace(without_enclosure(claim), origins=claim.origins[:SHOWN])


def expected_claims(model: AnyModel, told: Mapping[str, set[str]]) -> list[dict[str, Any]] | None:
    """Returns the claims that a case makes, by a path of their own (`Encoding.again`), and its obligations.

    For each origin in words that is a key of `told`, the polynomial of its claim is added there. None where
    the claims are about some sequences only, and a certificate is the evidence.
    """
    again = chosen(model).again
    if again is None or model.every_length:
        return None
    found: dict[tuple[str, int], Claim] = {}
    for claim in again(model):
        name = key(claim.polynomial)
        for words in told.keys() & {str(origin) for origin in claim.origins} if told else ():
            told[words].add(name)
        found.setdefault((name, id(claim.domain)), claim)
    return [*(to_document(without_enclosure(claim)) for claim in found.values()), *_obligations(model)]


def check_with_case(text: str, case: PrivacyCase) -> checker.KernelReport:
    """Checks evidence against the claims that a case makes, derived from it again, and its obligations.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    model, kind = case.model, evidence_of(case)
    try:
        document = read(text)
        check(document, evidence_shapes.FORM)
        own = case_entry(case.title, case.digest, case.settings)
        if document.get("case", own if document["format"] == region_checker.FORMAT else None) != own:
            raise checker.Rejected(changed(document.get("case"), case.digest, case.title))
        status = document.get("status")
        needed = kind.statements(status)
        if _without_proofs(document.get("reduction")) != _without_proofs(needed.get("reduction")):
            raise checker.Rejected("it is about other neighbours")
        if document.get("outputs") != needed.get("outputs"):
            raise checker.Rejected("it names other outputs than the case has")
        if document.get("side_condition") != needed.get("side_condition"):
            raise checker.Rejected("it has another side condition than the case")
        report = kind.checks[document["format"]](document)
        report = product_checker.with_statements(document, report)
        if not report.accepted:
            return report
        if report.status == Standing.VIOLATED and document["format"] == set_checker.FORMAT:
            known = need_privacy(model, "evidence about sets of outputs", events=SETS)
            return _recheck_set(document["witness"], known, report)
        again = (loss_kernel.FORMAT, kernel.FORMAT)  # their witnesses were computed again
        if report.status == Standing.VIOLATED and document["format"] in again:
            return report
        if report.status == Standing.VIOLATED and "witness" in document:
            return recheck_witness(document, model, report)
        reason = unmet(model, kind.needs, read_points(document))
        if reason and report.status != Standing.UNKNOWN:
            raise checker.Rejected(reason)
    except checker.Rejected as error:
        return checker.KernelReport(False, (f"rejected: {error}",))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return checker.KernelReport(False, (f"rejected: not evidence about this case: {error!s:.200}",))
    return report


def _without_proofs(reduction: object) -> object:
    """Returns what a statement about neighbours says; the kernel replays its proofs."""
    if not isinstance(reduction, Mapping):
        return reduction
    return {name: value for name, value in reduction.items() if name != "proofs"}


def _obligations(model: AnyModel) -> list[dict[str, Any]]:
    return [to_document(without_enclosure(o.claim)) for o in model.obligations]


def map_evidence(
    case: PrivacyCase, found: RegionMap, obligations: Iterable[tuple[Claim, Decision]]
) -> dict[str, Any]:
    """Returns a region map with all that is needed to check it, and what it says of its case."""
    kind = evidence_of(case)
    kind.check_map()
    document = map_document(found, case.model.domain) | about(case, obligations)
    return document | kind.sums(document["claims"])


def _sums(model: Model) -> list[dict[str, Any]]:
    """Returns the claims about sums of a case, one for each direction, derived forwards."""
    return [
        {**sum_statement(claim), "origins": [list(origin)]}
        for claim in excesses(model, listed_outcomes(model))
        for origin in claim.origins
    ]


def _recheck_set(
    written: Mapping[str, Any], model: Model, report: checker.KernelReport
) -> checker.KernelReport:
    """Evaluates a set of outputs again, from the model; the numbers must agree.

    Raises:
        Rejected: they do not.
    """
    point = {name: Fraction(value) for name, value in written["parameters"].items()}
    left, right = written["secrets"]
    found = given_set(model, left, right, [tuple(word) for word in written["outputs"]], point)
    if not found.exceeds:
        raise checker.Rejected("the model does not pass its bounds at the witness")
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

    def document(self, report: PrivacyReport) -> dict[str, Any]:
        """Returns the evidence of a verdict."""
        case, status = self.case, report.status.value
        if report.certificate is not None:
            return {**report.certificate, "status": status, **about(case, report.obligations, status)}
        settled = list(zip(report.own_claims, report.decisions, strict=False)) + list(report.obligations)
        entries = [certificates.settled(_short(claim), decision) for claim, decision in settled]
        violation = None
        if isinstance(report.verdict, Violated):
            found = report.verdict.witness
            broken = broken_claim(case.model, found)
            violation = witness_document(broken, found)
            entries = [entry for entry in entries if entry["proof"] is not None]
        document = certificates.evidence(
            case.title, case.digest, status, certificates.distinct(entries), violation
        ) | {"case": case_entry(case.title, case.digest, case.settings)}
        if status == Standing.HOLDS and (points := points_for(case.model, self.needs)):
            document["points"] = points
        if status == Standing.HOLDS and report.windows:
            pairs = [list(own) for own in report.windows]
            document["windows"] = {"statement": WINDOWED, "pairs": pairs}
        return document | self.statements(status)

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

    def sums(self, claims: Sequence[str]) -> dict[str, Any]:
        """Returns what the claims of a map need besides."""
        return {}

    def check_written(self) -> None:
        """Raises an InputError if verdicts have no evidence."""

    def check_map(self) -> None:
        """Raises an InputError if a map has no evidence."""

    def check_intervals(self) -> None:
        """Raises an InputError if exact intervals have no evidence."""
        if checked_zeros(self.model).all:
            raise InputError("there is no evidence of exact intervals where probabilities may vanish")

    @property
    def checks(self) -> Mapping[str, Callable[[dict[str, Any]], checker.KernelReport]]:
        """What checks a document, by its format; each of these raises a `Rejected`."""
        return {
            set_checker.FORMAT: self.of_sets,
            loss_kernel.FORMAT: self.of_losses,
            checker.FORMAT: self.of_claims,
            cone_checker.FORMAT: self.of_cone,
            region_checker.FORMAT: self.of_regions,
            interval_checker.FORMAT: self.of_intervals,
            kernel.FORMAT: self.of_enclosures,
        }

    def of_claims(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks claims one by one, each the case's own, and where they are said to come from."""
        model, needed = self.model, _obligations(self.model)
        told: dict[str, set[str]] = {o: set() for e in document["claims"] for o in e.get("origins", [])}
        if "windows" in document:
            expected = _expected_of_windows(document["windows"], self.case, told)
        else:
            expected = expected_claims(model, told)
        if expected is None:
            if document["status"] != Standing.VIOLATED:
                reason = "for so many sequences, only a certificate of a cone or a witness is evidence"
                raise checker.Rejected(reason)
            model = need_privacy(model, "this witness", tied=True, densities=True)
            left, right = document["witness"]["secrets"]
            origin = Origin(left, right, tuple(document["witness"]["observations"]))
            if model.lengths and len(origin.observations) not in model.lengths:
                raise checker.Rejected("the case is not about sequences of this length")
            expected = [to_document(claim_of(model, origin)), *needed]
            # The witness and the obligations are enough, and are all that is checked.
            document = {**document, "claims": [e for e in document["claims"] if e["claim"] in needed]}
        report = checker.check_document(document, expected, self.case.digest, needed)
        if report.accepted and model.nothing_compared:
            report = replace(report, lines=(*report.lines, model.nothing_compared))
        for k, entry in enumerate(document["claims"] if report.accepted else ()):
            for j, text in enumerate(entry.get("origins", [])):
                if not told[text]:
                    reason = f"the case has no claim about {shown(text)}"
                    raise Misformed(reason, "claims", k, "origins", j)
                if entry["claim"]["polynomial"] not in told[text]:
                    raise Misformed("the case makes another claim there", "claims", k, "origins", j)
        return report

    def of_cone(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks a certificate about every length: its model must be the case's."""
        model = need_privacy(self.model, "a certificate about many sequences", densities=True)
        about = (
            document["lengths"] == list(model.lengths) if document["kind"] == "levels" else not model.lengths
        )
        if not about:
            raise checker.Rejected("the case is about other lengths")
        if document["kind"] == "loop":
            point = {name: Fraction(value) for name, value in document["point"].items()}
            if point.keys() != set(model.domain.ring.parameters) or not contains(model.domain, point):
                raise checker.Rejected("the loop is not about a prior of the case")
            small = at_point(model, point)
        else:
            small = lump(model).model
        return cone_checker.check_document(document, model_document(small), _obligations(model))

    def of_regions(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks a map of the claims of the case."""
        stated = [to_document(without_enclosure(claim)) for claim in claims_of(self.model)]
        return region_checker.check_document(document, stated, _obligations(self.model))

    def of_intervals(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks exact intervals of the claims of the case."""
        if checked_zeros(self.model).all:
            raise checker.Rejected(NO_INTERVALS)
        stated = [to_document(without_enclosure(claim)) for claim in claims_of(self.model)]
        return interval_checker.check_document(document, stated, _obligations(self.model))

    def of_sets(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks claims about sums, each the case's own, derived forwards."""
        need_privacy(self.model, "evidence about sets of outputs", events=SETS)
        raise checker.Rejected("the case has no delta")

    def of_losses(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks claims about losses; see `check_losses`."""
        return check_losses(document, *self.loss("evidence about a divergence"))

    def of_enclosures(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks evidence about enclosed probabilities."""
        raise Rejected("the probabilities of the case are not enclosed")

    def loss(self, what: str) -> tuple[Model, Average]:
        """Returns the model and its divergence if that is an average of the loss; `what` needs it."""
        need_privacy(self.model, what, events=TOGETHER)
        raise checker.Rejected("the case has another measure")


@dataclass(frozen=True)
class SetEvidence(ClaimEvidence):
    """Evidence of a case that compares sets of outputs, by claims about sums."""

    model: Model

    def document(self, report: PrivacyReport) -> dict[str, Any]:
        """Returns the evidence of a verdict."""
        document = super().document(report)
        if report.certificate is not None and isinstance(report.verdict, Violated):
            document["witness"] = {**document["witness"], **report.verdict.witness.document()}
        return document

    def of_prior(self, session: Session, found: Violating) -> EveryLengthOutcome:
        """Returns that a set of outputs is too likely, or the proof that there is none."""
        witness = found.witness
        if not isinstance(witness, ExactSetWitness):
            return verify_sets(session, self.model)
        direction = (witness.left, witness.right, witness.length)
        sums = (claim for claim in excesses(self.model) if direction in claim.origins)
        return EveryLengthOutcome(Violated(witness), (), (), violation_document(next(sums), witness))

    def sums(self, claims: Sequence[str]) -> dict[str, Any]:
        """Returns the claims about sums that those of a map come from."""
        known = set_claims(self.model)
        if [key(claim.polynomial) for claim in known.claims] != claims:
            raise DefectError("the claims of the map are not those of the sums")
        return {"sums": [cover.document() for cover in known.covers]}

    def check_intervals(self) -> None:
        """Raises an InputError: exact intervals have no evidence."""
        raise InputError("there is no evidence of exact intervals with a delta: leave --exact out")

    def of_claims(self, document: dict[str, Any]) -> checker.KernelReport:
        """Rejects claims about outputs one by one."""
        raise checker.Rejected("the case has a delta, and this evidence is about outputs one by one")

    def of_regions(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks a map of claims about sets, which its sums say."""
        zero = self.model.domain.ring.number(0)
        domain = to_document(without_enclosure(Claim(zero, self.model.domain)))
        stated = [{**domain, "polynomial": text} for text in document["claims"]]
        known = _sums(self.model)
        return region_checker.check_document(document, stated, _obligations(self.model), known)

    def of_intervals(self, document: dict[str, Any]) -> checker.KernelReport:
        """Rejects exact intervals."""
        raise checker.Rejected(NO_INTERVALS)

    def of_sets(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks claims about sums, each the case's own, derived forwards."""
        model = need_privacy(self.model, "evidence about sets of outputs", events=SETS)
        if document["domain"] != domain_document(model.domain, model.domain.ring.number(0)):
            raise checker.Rejected("the case has another domain")
        return set_checker.check_document(document, _sums(model), _obligations(model))


@dataclass(frozen=True)
class LossEvidence(ClaimEvidence):
    """Evidence of a case that bounds an average of the loss, by enclosures on boxes."""

    model: Model
    measure: Average

    def document(self, report: PrivacyReport) -> dict[str, Any]:
        """Returns the evidence of a verdict."""
        own, status = report.certificate or document(self.model.domain, self.measure, []), report.status.value
        if isinstance(report.verdict, Violated) and isinstance(report.verdict.witness, LossWitness):
            own = violation(self.model, self.measure, report.verdict.witness)
            own["witness"] |= report.verdict.witness.exact_document()
        return {**own, "status": status, **about(self.case, report.obligations, status)}

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

    def document(self, report: PrivacyReport) -> dict[str, Any]:
        """Returns the ways through the program, the bounds, and how fine the kernel has to cut."""
        status = report.status.value
        document = {
            "format": kernel.FORMAT,
            "version": 1,
            "status": status,
            **_bounds(self.model, self.case),
            **_ways(self.case),
        }
        if isinstance(report.verdict, Violated):
            witness = report.verdict.witness.document()
            outputs = witness.get("observations") or [name for (name,) in witness["outputs"]]
            document["witness"] = {"secrets": witness["secrets"], "outputs": outputs}
        told = ""
        for cells in CELLS:
            checked = kernel.check_document(document | {"cells": list(cells)})
            if checked.accepted:
                return document | {"cells": list(cells)} | about(self.case, report.obligations, status)
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

    def of_enclosures(self, document: dict[str, Any]) -> checker.KernelReport:
        """Checks such evidence, and compares it with the balls of the case itself."""
        model = self.model
        stated = {name: document[name] for name in ("bound", "delta") if name in document}
        if stated != _bounds(model, self.case):
            raise Rejected("the case has other bounds")
        pairs = [(pair.left, pair.right) for pair in model.pairs]
        told = [(left, right) for left, right in document["pairs"]]
        if {frozenset(pair) for pair in pairs} != {frozenset(pair) for pair in told}:
            raise Rejected("the case has other pairs")
        rows = kernel.rows_of(document)
        report = kernel.check_document(document, _obligations(model), rows)
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
    return interval_document(found, case.model.domain) | about(case, obligations)
