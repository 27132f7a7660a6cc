"""Claims and documents of evidence: read, checked against each other and against what is expected."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from . import evidence_shapes
from .evidence_polynomials import Box, Poly, add, number, parse
from .proof_goals import Context, Goal, Tie, WrittenClaim
from .proof_rules import prove
from .rounded_constants import encloses_exp, sign_in_exp
from .strict_reading import Misformed, changed, check, plain, read, shown, statement_of, told_witness
from .strict_reading import Rejected as Rejected
from .tied_variables import sign_of_logs
from .witness_numbers import check_place

FORMAT, VERSION = "paramverify-evidence", 1


# --- claims and documents ---------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelReport:
    """What a check found: accepted or not, one line for each claim, and how many of which kind.

    `status` is what was shown, computed from the checked parts: holds, violated, unknown or region map.
    `solvers` are those whose word is trusted, `not_compared` says what can only be checked with the case.
    `side_condition` is what the status is about besides, in words, and `unit` is what is counted.
    """

    accepted: bool
    lines: tuple[str, ...]
    proved: int = 0
    trusted: int = 0
    open: int = 0
    status: str = ""
    solvers: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    side_condition: str = ""
    unit: str = "claim"


def digest(claim: Any) -> str:
    """Returns the SHA-256 digest of a claim's canonical text."""
    text = json.dumps(claim, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_claim(claim: Any) -> WrittenClaim:
    """Reads a claim: variables, polynomial, box, constraints, and the constant where there is one.

    Raises:
        Rejected: it is not a claim.
    """
    check(claim, evidence_shapes.CLAIM)
    try:
        return _read_claim(claim)
    except _MALFORMED as error:
        raise Rejected(f"not a claim: {error!r:.200}") from error


_MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError)


def _read_claim(claim: Any) -> WrittenClaim:
    names = tuple(claim["variables"])
    if len(set(names)) < len(names) or not all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", n) for n in names):
        raise Rejected("the variables of a claim are not different names")
    box: Box = {}
    ends: set[tuple[str, int]] = set()
    for name, text in claim["box"].items():
        match = re.fullmatch(r"([\[(])([^, ]+), ([^, ]+)([\])])", text)
        if not match or name not in names:
            raise Rejected(f"not an interval of a variable: {name}: {text!r:.60}")
        low, high = box[name] = number(match[2]), number(match[3])
        ends |= {(name, side) for side, bracket in enumerate((match[1], match[4])) if bracket in "()"}
        if low > high or (low == high and {(name, 0), (name, 1)} & ends):
            raise Rejected(f"the interval {text} is empty")
    strict = {">": True, ">=": False}
    conditions = tuple((parse(text, names), strict[relation]) for text, relation in claim["constraints"])
    exponent = number(claim["constant"]) if "constant" in claim else None
    ties = _read_ties(claim, names, box)
    if set(names) - box.keys() - {t.name for t in ties} - (set() if exponent is None else {"E"}):
        raise Rejected("a variable of a claim has no interval")
    if exponent is not None and (
        names[-1:] != ("E",) or ("E" in box and not encloses_exp(exponent, *box["E"]))
    ):
        raise Rejected(f"the interval of E is not shown to contain exp({exponent})")
    return WrittenClaim(
        Goal(names, parse(claim["polynomial"], names), box, conditions, frozenset(ends), ties=ties), exponent
    )


def _read_ties(claim: Any, names: tuple[str, ...], box: Box) -> tuple[Tie, ...]:
    """Reads which variables stand for the logarithms of which others."""
    ties = tuple(Tie(n, of, number(step)) for n, (of, step) in claim.get("ties", {}).items())
    for tie in ties:
        if tie.name not in names or tie.name in box or tie.variable not in box or tie.step <= 0:
            raise Rejected(f"{tie.name} and {tie.variable} are not tied in a way that is known")
        low, high = box[tie.variable]
        if low < 0 or high > 1:
            raise Rejected(f"{tie.name} is a logarithm of numbers beyond (0, 1]")
    if len({t.variable for t in ties}) < len(ties) or "E" in {t.name for t in ties}:
        raise Rejected("two variables are tied to one")
    return ties


def check_claim(claim: Any, proof: Any, lemmas: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Checks that a proof shows a claim; returns the solvers that it trusts, none if it is replayed in full.

    `lemmas` are proved statements by name that the proof may refer to, as claims.

    Raises:
        Rejected: the proof does not show the claim, or one of them is malformed.
    """
    check(proof, evidence_shapes.proof)
    statement = read_claim(claim)
    known = {name: read_claim(lemma) for name, lemma in (lemmas or {}).items()}
    context = Context(statement.exponent, known)
    _replay(statement.goal, proof, context)
    return tuple(sorted(context.trusted))


def _replay(goal: Goal, proof: Any, context: Context) -> None:
    try:
        prove(goal, proof, context)
    except _MALFORMED as error:
        raise Rejected(f"malformed proof: {error!r:.200}") from error


def check_witness(claim: Any, point: Any) -> None:
    """Checks that a claim fails at a rational point of its domain; E is the number that it stands for.

    Raises:
        Rejected: it does not fail there, the point is not in the domain, or something is malformed.
    """
    statement = read_claim(claim)
    check(point, evidence_shapes.POINT)
    goal = statement.goal
    try:
        values = {name: number(text) for name, text in point.items()}
        tied = {"E"} if statement.exponent is not None else set()
        tied |= {tie.name for tie in goal.ties}
        free = [n for n in goal.names if n not in tied]
        if values.keys() != set(free):
            raise Rejected(f"a point must give {', '.join(free) or 'no parameter'}, and nothing else")
        for name in free:
            low, high = goal.box[name]
            lowest, highest = (name, 0) not in goal.open, (name, 1) not in goal.open
            at = values[name]
            if not (low < at < high or (lowest and at == low) or (highest and at == high)):
                raise Rejected(f"the witness is outside of the domain: {name}")
        for tie in goal.ties:
            if not values[tie.variable]:
                raise Rejected(f"the witness is outside of the domain: {tie.variable} has no logarithm there")
        for poly, strict in filter(None, goal.conditions):
            found = _sign_at(statement, poly, values)
            if found < 0 or (strict and not found):
                raise Rejected("the witness does not satisfy a constraint")
        if _sign_at(statement, goal.poly, values) >= 0:
            raise Rejected("the claim does not fail at the witness")
    except _MALFORMED as error:
        raise Rejected(f"malformed witness: {error!r:.200}") from error


def _sign_at(statement: WrittenClaim, poly: Poly, values: Mapping[str, Fraction]) -> int:
    """Returns the sign at a point; a polynomial in E that is not zero is enclosed until it has a sign."""
    names = statement.goal.names
    if statement.goal.about(poly).tied:
        return _sign_of_logs(statement.goal, poly, values)
    constant_axis = names.index("E") if statement.exponent is not None else None
    coefficients: dict[int, Fraction] = {}
    for x, c in poly.items():
        power = 0 if constant_axis is None else x[constant_axis]
        for axis, exponent in enumerate(x):
            if axis != constant_axis and exponent:
                c *= values[names[axis]] ** exponent
        coefficients[power] = coefficients.get(power, Fraction(0)) + c
    return sign_in_exp(coefficients, statement.exponent)


def _sign_of_logs(goal: Goal, poly: Poly, values: Mapping[str, Fraction]) -> int:
    """Returns the sign at a point of a polynomial in which what is tied occurs."""
    if "E" in goal.names and "E" not in values:
        raise Rejected("a sign with both exp and a logarithm is not decided")
    axes = [goal.names.index(tie.name) for tie in goal.ties]
    reduced: Poly = {}
    for monomial, c in poly.items():
        for name, exponent in zip(goal.names, monomial, strict=True):
            c *= values[name] ** exponent if name in values else 1
        for tie in goal.ties:
            c /= tie.step ** monomial[goal.names.index(tie.name)]
        add(reduced, tuple(monomial[axis] for axis in axes), c)
    return sign_of_logs(reduced, [1 / values[tie.variable] for tie in goal.ties])


def check_document(
    document: Any,
    expected: Iterable[Any] | None = None,
    case_digest: str | None = None,
    obligations: Iterable[Any] = (),
) -> KernelReport:
    """Checks the evidence of a whole case.

    `expected` are the claims that the case makes, derived by the caller; then the evidence must settle all of
    them. `case_digest` is the SHA-256 digest of the case file. `obligations` are those of the expected
    claims that must be settled also where a witness refutes another one.

    Malformed evidence of any kind gives a report that is not accepted.
    """
    try:
        check(document, evidence_shapes.EVIDENCE)
        return _check_document(document, expected, case_digest, obligations)
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    except _MALFORMED as error:
        return KernelReport(False, (f"rejected: malformed document: {error!r:.200}",))


def _check_document(
    document: Any, expected: Iterable[Any] | None, case_digest: str | None, obligations: Iterable[Any]
) -> KernelReport:
    if case_digest is not None and document.get("case", {}).get("digest") != case_digest:
        raise Rejected(changed(document.get("case"), case_digest))
    status = document["status"]
    if ("witness" in document) != (status == "violated"):
        raise Misformed("a witness comes with the status violated, and only with it", "status")
    if "windows" in document and status != "holds":
        raise Misformed("windows prove, and refute nothing", "windows")
    wanted = None if expected is None else {digest(claim) for claim in expected}
    own = check_obligations(document)
    ledger = Ledger(_lemmas(document), named=wanted is not None)
    for index, entry in enumerate(document["claims"]):
        if wanted is not None and digest(entry["claim"]) not in wanted:
            raise Rejected(f"claim {index + 1} is not a claim of this case")
        ledger.enter(index, entry)
    # A claim −1 ≥ 0 says that there is no point in its domain, so none of the points has to be there.
    about = [e["claim"] for e in document["claims"] if e.get("origins") and e["claim"]["polynomial"] != "-1"]
    check_points(document, about)
    counts, settled, lines = ledger.counts, ledger.settled, own.lines + ledger.lines
    accepted = not counts["rejected"]
    # Only a side condition leaves a case without a claim; whether it does, the case says.
    empty = not settled and not ("side_condition" in document and not document["claims"] and not wanted)
    missing = counts["open"] or empty or (wanted is not None and wanted - settled)
    if status == "holds" and missing:
        lines.append("rejected: a claim of the case has no proof")
        accepted = False
    if status == "holds" and not document["claims"] and accepted:
        lines.append("nothing is compared: there is no claim")
    if status == "unknown" and wanted is not None and not missing:
        raise Misformed("all claims of the case are proved, so it cannot be 'unknown'", "status")
    if status == "violated":
        witness = document["witness"]
        if wanted is not None and digest(witness["claim"]) not in wanted:
            raise Rejected("the witness is about a claim that the case does not make")
        if "algebraic" in witness:
            check_place(read_claim(witness["claim"]), witness)
        else:
            check_witness(witness["claim"], witness["parameters"])
        if {digest(claim) for claim in obligations} - settled:
            raise Rejected("an obligation of the model is not proved")
        lines.append(told_witness(witness, wanted is not None))
    return KernelReport(
        accepted,
        tuple(lines),
        proved=counts["proved"] + own.counts["proved"],
        trusted=counts["trusted"] + own.counts["trusted"],
        open=counts["open"] + own.counts["open"],
        status=status,
        solvers=tuple(sorted(ledger.solvers | own.solvers)),
    )


@dataclass
class Lemmas:
    """Lemmas by name, and the solvers that each rests on."""

    known: dict[str, WrittenClaim] = field(default_factory=dict)
    supports: dict[str, set[str]] = field(default_factory=dict)

    def solvers(self, context: Context) -> set[str]:
        """Returns the solvers that a replayed proof rests on, also by way of lemmas."""
        return context.trusted.union(*(self.supports[used] for used in context.used))


def _lemmas(document: Any) -> Lemmas:
    found = Lemmas()
    for lemma in document.get("lemmas", []):
        name, statement = lemma["name"], read_claim(lemma["claim"])
        if name in found.known:
            raise Rejected("the lemmas do not have different names")
        context = Context(statement.exponent, dict(found.known))
        _replay(statement.goal, lemma["proof"], context)
        found.known[name] = statement
        found.supports[name] = found.solvers(context)
    return found


@dataclass
class Ledger:
    """Claims one after the other; `named` says that their origins are compared with a case, and are shown."""

    lemmas: Lemmas = field(default_factory=Lemmas)
    named: bool = False
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("proved", "trusted", "open", "rejected"), 0)
    )
    settled: set[str] = field(default_factory=set)
    seen: dict[str, int] = field(default_factory=dict)
    solvers: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)

    def enter(self, index: int, entry: Any, what: str = "claim") -> None:
        """Replays the proof of one claim; `index` is its place from 0, and lines count from 1.

        Raises:
            Rejected: it is none, or was there already.
        """
        identity = digest(entry["claim"])
        if self.seen.setdefault(identity, index) != index:
            raise Rejected(f"{what} {index + 1} is {what} {self.seen[identity] + 1} again")
        try:
            statement = read_claim(entry["claim"])
        except Rejected as error:
            raise Misformed(str(error), f"{what}s", index, "claim") from None
        context = Context(statement.exponent, self.lemmas.known)
        origins = entry.get("origins", []) if self.named else []
        more = f" and {len(origins) - 1} more" if len(origins) > 1 else ""
        about = f"{plain(origins[0])}{more}" if origins else statement_of(entry["claim"])
        title = f"{what} {index + 1} ({about})"
        if entry["proof"] is None:
            self.counts["open"] += 1
            self.lines.append(f"{title}: open")
            return
        try:
            _replay(statement.goal, entry["proof"], context)
        except Rejected as error:
            self.counts["rejected"] += 1
            self.lines.append(f"{title}: rejected: {error}")
            return
        self.settled.add(identity)
        solvers = self.lemmas.solvers(context)
        self.solvers |= solvers
        self.counts["trusted" if solvers else "proved"] += 1
        trusted = ", ".join(map(shown, sorted(solvers)))
        self.lines.append(f"{title}: " + (f"trusted to {trusted}" if solvers else "proved"))


def check_obligations(document: Any, wanted: Iterable[Any] | None = None) -> Ledger:
    """Checks the claims about the model itself that a document proves besides; `wanted` are the case's.

    Raises:
        Rejected: a proof fails, or they are not those of the case.
    """
    ledger = Ledger()
    for index, entry in enumerate(document.get("obligations", [])):
        ledger.enter(index, entry, "obligation")
    if ledger.counts["rejected"]:
        raise Rejected(next(line for line in ledger.lines if ": rejected: " in line))
    if wanted is not None and ledger.settled != {digest(claim) for claim in wanted}:
        raise Rejected("the obligations of the model are not those of the case")
    return ledger


def check_points(document: Any, claims: Iterable[Any]) -> None:
    """Checks that the points of a document, if it has any, are in the domain of claims.

    Raises:
        Rejected: one is not.
    """
    points = document.get("points", [])
    if not points:
        return
    domains = {digest(domain): domain for domain in ({**claim, "polynomial": "-1"} for claim in claims)}
    for k, point in enumerate(points):
        for domain in domains.values():
            try:
                check_witness(domain, point)  # the claim −1 ≥ 0 fails at each point of its domain
            except Rejected as error:
                raise Misformed(str(error), "points", k) from None


def check_text(
    text: str, expected: Iterable[Any] | None = None, case_digest: str | None = None
) -> KernelReport:
    """Checks evidence given as JSON text; see `check_document`."""
    try:
        document = read(text)
    except Rejected as error:
        return KernelReport(False, (f"rejected: {error}",))
    return check_document(document, expected, case_digest)
