"""A document of evidence with its domains, and a ledger of what its statements show.

A statement is settled if its proof is replayed, trusted if a part of that is the word of a solver, and open
if it has none. What a case demands, and no statement settles, is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd
from typing import Any

from .claim_evidence import check_inside, digest, read_domain, replay
from .evidence_polynomials import Poly, parse, plus, whole
from .proof_goals import Context, WrittenClaim
from .strict_reading import Misformed, Rejected, placed, plain, shown, statement_of

Statement = Mapping[str, Any]
Multiple = frozenset[tuple[tuple[int, ...], int]]  # the terms of a polynomial, up to a positive factor
Ask = Callable[[Poly, bool], bool]  # whether a polynomial is shown to be ≥ 0, or > 0


@dataclass(frozen=True)
class KernelReport:
    """What a check found: accepted or not, one line for each claim, and how many of which kind.

    `status` is what was shown, computed from the checked parts: holds, violated or unknown; budget (the
    claims have another bound than the case, or a bound was searched for); region map, exact intervals or
    composition; of a script, sat, unsat or unknown for each question. It is "" after an early rejection.
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
    refuted: int = 0  # of cells and formulas that are `proved`: those that are shown to be false


@dataclass(frozen=True)
class Demanded:
    """What a case demands of evidence, derived by the caller; what is None is not compared.

    `claims` are all claims of the case, each with its domain; `stated` are those of a map, in their order.
    `directions` are statements about one direction each, with one origin. `obligations` are the claims about
    the model itself. `engine` has keys that the statement of an engine must have, its domain written out.
    """

    claims: Sequence[Any] | None = None
    stated: Sequence[Any] | None = None
    directions: Sequence[Any] | None = None
    obligations: Sequence[Any] | None = None
    engine: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Followed:
    """What the tree of a statement shows: on whose word, in words, and what it does not show."""

    solvers: Iterable[str] = ()
    shows: str = "proved"
    note: str = ""


@dataclass
class Ledger:
    """What was settled one after the other."""

    proved: int = 0
    trusted: int = 0
    open: int = 0
    solvers: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)
    settled: dict[tuple[int, str], frozenset[str]] = field(default_factory=dict)  # with the solvers of each
    rejected: str = ""

    def enter(self, title: str, solvers: Iterable[str], shows: str = "proved") -> None:
        """Notes what a replayed proof shows, and on whose word."""
        names = sorted(solvers)
        self.count(names)
        self.lines.append(
            f"{title}: trusted to {', '.join(map(shown, names))}" if names else f"{title}: {shows}"
        )

    def count(self, solvers: Collection[str]) -> None:
        """Counts a replayed proof."""
        self.solvers.update(solvers)
        self.trusted += bool(solvers)
        self.proved += not solvers

    def add(self, other: Ledger) -> None:
        """Adds what another ledger counts."""
        self.proved += other.proved
        self.trusted += other.trusted
        self.solvers |= other.solvers

    def report(self, status: str, lines: Iterable[str] = (), unit: str = "claim") -> KernelReport:
        """Returns what was found, with more lines."""
        return KernelReport(
            not self.rejected,
            (*self.lines, *lines),
            self.proved,
            self.trusted,
            self.open,
            status,
            tuple(sorted(self.solvers)),
            unit=unit,
        )


class Evidence:
    """A document of the form that `evidence_shapes` gives, and what a case demands of it, if there is one.

    `check` never gives `ask`: signs are decided by the comparisons that the document proves. The prover gives
    it to find out which comparisons are needed: then `ask`, kept as `given`, decides all signs. `rows` are
    the enclosures of probabilities, if they were computed before.
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        demanded: Demanded | None = None,
        ask: Ask | None = None,
        rows: Any = None,
    ) -> None:
        self.document = document
        self.demanded = demanded or Demanded()
        self.named = demanded is not None
        self.given, self.rows = ask, rows
        self.kept: dict[int, Any] = {}  # what rules find out about a domain
        self._domains: list[WrittenClaim] = []  # each has to be one, also if nothing is about it
        seen: set[str] = set()
        for k, domain in enumerate(document["domains"]):
            if digest(domain) in seen:
                raise Misformed("this domain is listed twice", "domains", k)
            seen.add(digest(domain))
            with placed("domains", k):
                self._domains.append(read_domain(domain))

    def of(self, *kinds: str) -> Iterator[tuple[int, Statement]]:
        """Yields the statements of some kinds, with their places."""
        for place, statement in enumerate(self.document["statements"]):
            if statement["kind"] in kinds:
                yield place, statement

    def domain(self, number: int) -> WrittenClaim:
        """Returns a domain, as the claim that 0 is not negative there."""
        return self._domains[number]

    def written(self, number: int) -> Mapping[str, Any]:
        """Returns a domain as it is written."""
        found: Mapping[str, Any] = self.document["domains"][number]
        return found

    def untied(self, number: int) -> Mapping[str, Any]:
        """Returns a domain as it is written, in which no variable stands for a logarithm."""
        found = self.written(number)
        if "ties" in found:
            raise Misformed("a variable stands for a logarithm, which is not allowed", "domains", number)
        return found

    def claim(self, statement: Statement) -> WrittenClaim:
        """Reads a statement about the sign of a polynomial."""
        domain = self.domain(statement["domain"])
        return replace(domain, goal=domain.goal.about(parse(statement["polynomial"], domain.goal.names)))

    def full(self, statement: Statement) -> dict[str, Any]:
        """Returns such a statement as a document of its own, with its domain."""
        return {**self.written(statement["domain"]), "polynomial": statement["polynomial"]}

    @cached_property
    def obligations(self) -> Ledger:
        """The claims about the model itself that the document proves besides.

        Raises:
            Rejected: a proof fails.
        """
        ledger = settle(self, "obligation", Lemmas())
        if ledger.rejected:
            raise Rejected(ledger.rejected)
        return ledger

    def check_obligations(self) -> None:
        """Raises Rejected unless the obligations are those of the case."""
        wanted = self.demanded.obligations
        own = {digest(self.full(statement)) for _, statement in self.of("obligation")}
        if wanted is not None and own != {digest(claim) for claim in wanted}:
            raise Rejected("the obligations of the model differ from those of the case")

    def check_points(self, domains: Iterable[int]) -> None:
        """Raises Rejected unless the points of the document, if it has any, are in these domains."""
        about = sorted(set(domains))
        for k, point in enumerate(self.document.get("points", ())):
            for number in about:
                with placed("points", k):
                    check_inside(self.domain(number), point)

    def comparisons(self, number: int) -> tuple[Ask, Ledger]:
        """Replays the comparisons of an engine on its domain; returns what decides signs by them.

        A comparison f ≥ 0 is proved as it is; a strict one, f > 0, by a contradiction to −f ≥ 0. What decides
        signs knows a polynomial if it is a positive multiple of one that is compared. It is `given` instead,
        if there is one.

        Raises:
            Rejected: one is not shown, or is about another domain.
        """
        ledger, goal = Ledger(), self.domain(number).goal
        weak: set[Multiple] = set()
        strong: set[Multiple] = set()
        for place, statement in self.of("comparison"):
            if statement["domain"] != number:
                raise Misformed("a comparison has another domain", "statements", place, "domain")
            strict = statement["strict"]
            if ("negated" in statement) != strict:
                raise Misformed("the negation must use a strict comparison", "statements", place)
            claim = self.claim(statement)
            poly = claim.goal.poly
            if strict:
                # f > 0 if −1 ≥ 0 holds on what is left of the domain with −f ≥ 0.
                negated = parse(statement["negated"], goal.names)
                if plus(poly, negated):
                    raise Misformed("the negation contains another polynomial", "statements", place)
                left = replace(goal, conditions=(*goal.conditions, (negated, False)))
                claim = replace(claim, goal=left.about(parse("-1", goal.names)))
            context = Context(claim.exponent)
            replay(claim.goal, statement["proof"], context)
            ledger.count(context.trusted)
            known = strong if strict else weak
            if multiple(poly) in known:
                raise Misformed("this comparison is listed twice", "statements", place)
            known.add(multiple(poly))

        def ask(poly: Poly, strict: bool) -> bool:
            return multiple(poly) in strong or (not strict and multiple(poly) in weak)

        return self.given or ask, ledger


def multiple(poly: Poly) -> Multiple:
    """Returns what is the same for all positive multiples of a polynomial."""
    coefficients, _ = whole(poly)
    common = gcd(*coefficients.values())
    return frozenset((x, c // common) for x, c in coefficients.items())


@dataclass
class Lemmas:
    """Lemmas by name, and the solvers that each rests on."""

    known: dict[str, WrittenClaim] = field(default_factory=dict)
    supports: dict[str, set[str]] = field(default_factory=dict)

    def solvers(self, context: Context) -> set[str]:
        """Returns the solvers that a replayed proof rests on, also by way of lemmas."""
        return context.trusted.union(*(self.supports[used] for used in context.used))

    @classmethod
    def of(cls, about: Evidence) -> Lemmas:
        """Replays the lemmas of a document, each with those before it.

        Raises:
            Rejected: a proof fails, or two have one name.
        """
        found = cls()
        for _, lemma in about.of("lemma"):
            name, claim = lemma["name"], about.claim(lemma)
            if name in found.known:
                raise Rejected("the lemmas must have different names")
            context = Context(claim.exponent, dict(found.known))
            replay(claim.goal, lemma["proof"], context)
            found.known[name] = claim
            found.supports[name] = found.solvers(context)
        return found


def settle(about: Evidence, kind: str, lemmas: Lemmas) -> Ledger:
    """Replays the proofs of the statements of a kind; one that fails is noted.

    Raises:
        Rejected: one is no claim, or was there already.
    """
    ledger = Ledger()
    seen: dict[tuple[int, str], int] = {}
    for number, (place, statement) in enumerate(about.of(kind), 1):
        identity = statement["domain"], statement["polynomial"]
        if seen.setdefault(identity, number) != number:
            raise Rejected(f"{kind} {number} is {kind} {seen[identity]} again")
        with placed("statements", place):
            claim = about.claim(statement)
        origins = statement.get("origins", []) if about.named and kind == "claim" else []
        more = ("", "", ", and another comparison", ", and other comparisons")[min(len(origins), 3)]
        what = f"{plain(origins[0])}{more}" if origins else statement_of(about.full(statement))
        title = f"{kind} {number} ({what})"
        if statement["proof"] is None:
            ledger.open += 1
            ledger.lines.append(f"{title}: open")
            continue
        context = Context(claim.exponent, lemmas.known)
        try:
            replay(claim.goal, statement["proof"], context)
        except Rejected as error:
            ledger.lines.append(f"{title}: rejected: {error}")
            ledger.rejected = ledger.rejected or ledger.lines[-1]
            continue
        solvers = lemmas.solvers(context)
        ledger.settled[identity] = frozenset(solvers)
        ledger.enter(title, solvers)
    return ledger
