"""Evidence as the second reader sees it: the one module that knows the keys of documents.

Documents come from evidence that the kernel has accepted, so their form is not checked again here.
Polynomials are read and evaluated by code of this module: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm
from typing import Any

from ..kernel.evidence_polynomials import integer, number
from ..kernel.rounded_constants import UNIT, ln
from ..kernel.strict_reading import Rejected, UnreadCase

Point = Mapping[str, Fraction]
Interval = tuple[Fraction, Fraction, bool, bool]  # both ends, and whether each belongs to it
Direction = tuple[str, str, int]  # left, right, length

Region = tuple[tuple[tuple[tuple[int, Fraction], ...], Fraction], ...]  # sums of noise, and their bounds

BITS = 400  # of a rational in the place of an algebraic number
SETS, LOSSES, CLAIMS = "parts", "average", "claims"  # kinds of evidence without an engine
CONE, REGIONS, INTERVALS, AUTOMATON = "cone", "cells", "line", "automaton"
FORMULAS, COMPOSITION, ENCLOSED, SLOTS = "formulas", "composition", "paths", "slots"
UNWINDING, SCRIPT = "unwinding", "script"
ENGINES = (
    *(CONE, REGIONS, INTERVALS, AUTOMATON, FORMULAS, COMPOSITION, ENCLOSED, SLOTS, UNWINDING),
    SCRIPT,
)
FORMS = {"claim": CLAIMS, "set": SETS, "average": LOSSES}  # what a witness is about
LEAST = {"bound": CLAIMS, "delta": SETS, "ratio": SETS, "kl": LOSSES, "zcdp": LOSSES}  # and a budget
MERGED = 3  # origins that are listed of a claim; others may have been left out


# --- polynomials ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadPolynomial:
    """A polynomial as a list of terms: a coefficient, and the powers of names."""

    terms: tuple[tuple[Fraction, tuple[tuple[str, int], ...]], ...]

    @cached_property
    def degrees(self) -> dict[str, int]:
        """The largest power of each name."""
        found: dict[str, int] = {}
        for _, powers in self.terms:
            for name, power in powers:
                found[name] = max(power, found.get(name, 0))
        return found

    @property
    def degree(self) -> int:
        """The total degree."""
        return max((sum(power for _, power in powers) for _, powers in self.terms), default=0)

    def at(self, values: Point) -> Fraction:
        """Returns the value at a point, computed with whole numbers over one denominator."""
        tables: dict[str, list[int]] = {}
        bottom = lcm(*(c.denominator for c, _ in self.terms))
        scale = bottom
        for name, most in self.degrees.items():
            one, other = values[name].numerator, values[name].denominator
            rows = [1]
            for _ in range(most):
                rows.append(rows[-1] * one)
            if other != 1:
                below = 1
                for k in range(most, -1, -1):
                    rows[k] *= below
                    below *= other
                bottom *= other**most
            tables[name] = rows
        total = 0
        for c, powers in self.terms:
            term = c.numerator * (scale // c.denominator)
            given = dict(powers)
            for name, rows in tables.items():
                term *= rows[given.get(name, 0)]
            total += term
        return Fraction(total, bottom)


@lru_cache(maxsize=4_000)
def polynomial(text: str) -> ReadPolynomial:
    """Reads a polynomial such as `3/2*p^2*q - p + 1`."""
    pieces = re.split(r" ([+-]) ", text.removeprefix("-"))
    signs = ["-" if text.startswith("-") else "+", *pieces[1::2]]
    terms = []
    for sign, term in zip(signs, pieces[::2], strict=True):
        coefficient, powers = Fraction(1 if sign == "+" else -1), dict[str, int]()
        for part in term.split("*"):
            name, _, power = part.partition("^")
            if name[:1].isalpha() or name[:1] == "_":
                powers[name] = powers.get(name, 0) + (integer(power) if power else 1)
            else:
                coefficient *= number(part)
        terms.append((coefficient, tuple(powers.items())))
    return ReadPolynomial(tuple(terms))


def quotient_at(written: Any, values: Point) -> Fraction:
    """Returns the value of a polynomial, or of a numerator and a denominator."""
    top, bottom = (written, "1") if isinstance(written, str) else written
    return polynomial(top).at(values) / polynomial(bottom).at(values)


def quotient_degree(written: Any) -> int:
    """Returns the degree of a polynomial, or the sum of those of a numerator and a denominator."""
    return sum(polynomial(text).degree for text in ([written] if isinstance(written, str) else written))


def interval(text: str) -> Interval:
    """Reads an interval such as `(0, 1/2]`."""
    low, high = text[1:-1].split(", ")
    return number(low), number(high), text[0] == "[", text[-1] == "]"


def inside(value: Fraction, ends: Interval) -> bool:
    """Tells whether a number is in an interval."""
    low, high, with_low, with_high = ends
    return low < value < high or (value == low and with_low) or (value == high and with_high)


# --- domains, points and witnesses ------------------------------------------------------------------


@dataclass(frozen=True)
class StatedDomain:
    """Parameters with their intervals and constraints: `ties` are those beside an exponential."""

    names: tuple[str, ...] | None
    box: Mapping[str, Interval]
    constraints: tuple[tuple[str, bool], ...]  # polynomials, and whether 0 is excluded
    exponent: Fraction | None
    ties: Mapping[str, tuple[str, Fraction]]

    @staticmethod
    def of(data: Mapping[str, Any], ties: Mapping[str, tuple[str, Fraction]] | None = None) -> StatedDomain:
        """Reads the domain of a claim; what has no variables has no domain."""
        return StatedDomain(
            tuple(data["variables"]) if "variables" in data else None,
            {name: interval(text) for name, text in data.get("box", {}).items()},
            tuple((text, relation == ">") for text, relation in data.get("constraints", ())),
            number(data["constant"]) if "constant" in data else None,
            ties or {},
        )

    @property
    def known(self) -> bool:
        """Whether the evidence has a domain at all."""
        return self.names is not None

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters that the case has, without E and what is tied."""
        found = self.names or ()
        return [n for n in found if n not in self.ties and (n != "E" or self.exponent is None)]

    def has(self, point: Point, values: Callable[[], Point]) -> bool:
        """Tells whether a point is in it; `values` gives what E and what is tied are there, too."""
        if not all(inside(point[name], self.box[name]) for name in self.parameters):
            return False
        signs = [(polynomial(text).at(values()), strict) for text, strict in self.constraints]
        return all(value > 0 or (value == 0 and not strict) for value, strict in signs)


class AlgebraicPlace:
    """A point with algebraic coordinates, and rationals that are very near to it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data

    @cached_property
    def root(self) -> Fraction:
        """A rational very near to the root."""
        minimal = polynomial(self.data["minimal"])
        low, high = (number(end) for end in self.data["interval"])
        below = minimal.at({"t": low}) > 0
        while high - low > Fraction(1, 1 << BITS):
            middle = (low + high) / 2
            at = minimal.at({"t": middle})
            if not at:
                return middle
            low, high = (middle, high) if (at > 0) == below else (low, middle)
        return low

    @property
    def near(self) -> dict[str, Fraction]:
        """A rational point very near to it."""
        return {
            name: polynomial(text).at({"t": self.root}) for name, text in self.data["coordinates"].items()
        }

    def number(self, told: Any) -> Fraction:
        """Returns a rational very near to a number of its witness."""
        return number(told) if isinstance(told, str) else polynomial(told["exact"]).at({"t": self.root})


class StatedWitness:
    """A point and what is compared there: secrets, a sequence or outputs; numbers are as they are written."""

    def __init__(self, written: Mapping[str, Any]) -> None:
        self.written = written
        self.place = AlgebraicPlace(written["algebraic"]) if "algebraic" in written else None
        self.word = tuple(written["observations"]) if "observations" in written else None
        self.length = len(self.word) if self.word is not None else int(written.get("length", 0))
        self.outputs = {tuple(output) for output in written.get("outputs", ())}
        self.largest = [(tuple(each["output"]), each["probabilities"]) for each in written.get("largest", ())]

    @property
    def point(self) -> dict[str, Fraction]:
        """The point, or a rational one very near to it."""
        if self.place is not None:
            return self.place.near
        return {name: number(value) for name, value in self.written["parameters"].items()}

    @property
    def secrets(self) -> tuple[str, str]:
        """The left and the right secret."""
        left, right = self.written["secrets"]
        return left, right

    @property
    def polynomial(self) -> str:
        """The polynomial of the claim that fails at the point."""
        return str(self.written["claim"]["polynomial"])

    def get(self, name: str) -> Any:
        """Returns a number or a word of the witness, None if it has none."""
        return self.written.get(name)

    def numbers(self, *names: str) -> list[Any]:
        """Returns numbers; `probabilities` stand for both."""
        values = [self.written[name] for name in names]
        return [
            n for v, name in zip(values, names, strict=True) for n in (v if name == "probabilities" else [v])
        ]


# --- what is stated ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class StatedSign:
    """f ≥ 0 about some comparisons, whose words are the origins; a claim of a map has none."""

    polynomial: str
    origins: tuple[str, ...] = ()


def is_merged(claim: StatedSign | StatedClaim) -> bool:
    """Tells whether a claim may be about more than its origins say."""
    return len(claim.origins) >= MERGED


@dataclass(frozen=True)
class StatedClaim:
    """f ≥ 0, or that −f ≥ 0 holds nowhere, about comparisons that are named."""

    claim: Mapping[str, Any]
    origins: tuple[str, ...] = ()

    @property
    def _negated(self) -> str | None:
        """−f, where −1 ≥ 0 is claimed of the points with −f ≥ 0."""
        if self.claim["polynomial"] != "-1" or not self.claim["constraints"]:
            return None
        text, relation = self.claim["constraints"][-1]
        return text if relation == ">=" else None

    def polynomial(self, strict: bool) -> str | None:
        """Returns f, or −f of a strict claim; None if it has the other form."""
        return self._negated if strict else str(self.claim["polynomial"])

    def domain(self, strict: bool) -> Mapping[str, Any]:
        """Returns the domain, that of a strict claim without −f ≥ 0."""
        without = strict and self._negated is not None
        return {**self.claim, "constraints": self.claim["constraints"][: -1 if without else None]}


@dataclass(frozen=True)
class StatedSum:
    """room − Σ max(0, terms) ≥ 0 about some directions."""

    room: str
    terms: tuple[str, ...]
    origins: tuple[Direction, ...]


@dataclass(frozen=True)
class StatedAverage:
    """The probabilities |p|/|total| and |q|/|total| of the outputs of some directions."""

    total: str
    outputs: tuple[tuple[str, str], ...]
    origins: tuple[Direction, ...]


@dataclass(frozen=True)
class StatedCell:
    """A box of a map with its status, and a point of it."""

    status: str
    box: Mapping[str, Interval]
    at: Point


@dataclass(frozen=True)
class StatedBudget:
    """A least bound: its kind, what was given, what is enough, and witnesses."""

    kind: str
    given: str
    enough: str | None
    witnesses: tuple[StatedWitness, ...]


class StatedSystem:
    """An interactive system, with names."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.states: list[str] = data["states"]
        self.actions: dict[str, list[str]] = {
            kind: data[kind] for kind in ("data", "queries", "responses", "hidden")
        }
        self.initial = int(data["initial"])
        self.partial = bool(data["partial"])

    @property
    def weights(self) -> Iterator[Any]:
        """All probabilities, as they are written."""
        for row in self.data["rows"]:
            for _, step in row:
                yield from (w if isinstance(w, str) else tuple(w) for _, w in step)

    def rows(self, value: Callable[[Any], Fraction]) -> Iterator[tuple[str, dict[str, dict[str, Fraction]]]]:
        """Yields each state with what its actions lead to."""
        names = [name for listed in self.actions.values() for name in listed]
        for state, row in zip(self.states, self.data["rows"], strict=True):
            yield state, {names[a]: {self.states[s]: value(w) for s, w in step} for a, step in row}


class Evidence:
    """A document of evidence."""

    def __init__(self, document: Mapping[str, Any], claimed: bool = False) -> None:
        self.document = document
        self.of_comparisons = claimed  # whether the case has a [claim]
        self._statements: Sequence[Mapping[str, Any]] = document["statements"]
        self._engine = next((each for each in self._statements if each["kind"] in ENGINES), None)
        self._own: Mapping[str, Any] = self._engine or {}  # the statement of the engine
        self.kind = self._kind()
        self.holds = document["status"] == "holds"
        self.is_map = self.kind in (REGIONS, INTERVALS)  # its claims are polynomials without words
        self.about_sums = self.kind == SETS or bool(self._of("parts"))  # about sets of outputs
        self.outputs: Sequence[str] = document.get("outputs", ())  # names, where they are ranges of numbers
        self.has_side_condition = "side_condition" in document  # outputs that one secret allows are left out
        self.is_loop = self._own.get("rule") == "loop"  # evidence about every length that a ratio grows
        self.is_tight = "tight" in self._own  # the bound of a system is a least one, and not that of the case
        ratio = self._own.get("ratio", "1")  # the bound of a system
        self.ratio = ratio if isinstance(ratio, str) else tuple(ratio)

    def _kind(self) -> str:
        """Returns the kind of the engine, or that of the claims of the case."""
        if self._engine is not None:
            return str(self._engine["kind"])
        for statement in self._statements:
            if statement["kind"] in (SETS, LOSSES):
                return str(statement["kind"])
        if "witness" in self.document:
            return FORMS[self.document["witness"]["kind"]]
        return LEAST[self.document["budget"]["kind"]] if "budget" in self.document else CLAIMS

    def _of(self, kind: str) -> list[Mapping[str, Any]]:
        """Returns the statements of a kind, with their domains written out."""
        return [self._full(each) for each in self._statements if each["kind"] == kind]

    def _full(self, statement: Mapping[str, Any]) -> dict[str, Any]:
        return {**statement, "domain": self.document["domains"][statement["domain"]]}

    @property
    def windows(self) -> dict[tuple[str, str], int] | None:
        """The distance of the window of each pair, where windows were proved."""
        if "windows" not in self.document:
            return None
        return {(a, b): far for a, b, far in self.document["windows"]["pairs"]}

    @property
    def witness(self) -> StatedWitness | None:
        """The witness of a violation about probabilities."""
        if "witness" not in self.document:
            return None
        written = self.document["witness"]
        claim = self._full(written["claim"])
        return StatedWitness({**written, "claim": {**claim["domain"], **claim}})

    @cached_property
    def budget(self) -> StatedBudget | None:
        """What it says of a least bound."""
        if "budget" not in self.document:
            return None
        stated = self.document["budget"]
        witnesses = tuple(map(StatedWitness, stated.get("witnesses", ())))
        return StatedBudget(stated.get("kind", ""), stated.get("given", ""), stated.get("enough"), witnesses)

    @cached_property
    def ties(self) -> dict[str, tuple[str, Fraction]]:
        """The parameters beside their exponentials in some claim, each with its variable and step."""
        found: dict[str, tuple[str, Fraction]] = {}
        claims = [*self._claims, *([self.witness.written["claim"]] if self.witness else [])]
        for claim in claims:
            for name, (variable, step) in claim.get("ties", {}).items():
                if found.setdefault(name, (variable, number(step))) != (variable, number(step)):
                    raise Rejected(f"{name} is tied in two ways")
        return found

    @cached_property
    def _claims(self) -> list[dict[str, Any]]:
        """The claims about signs, each with its domain beside its polynomial."""
        return [{**claim["domain"], **claim} for claim in self._of("claim")]

    @property
    def _named(self) -> list[dict[str, Any]]:
        """Those about comparisons of the case."""
        return [claim for claim in self._claims if claim.get("origins")]

    @cached_property
    def domain(self) -> StatedDomain:
        """The domain of the case: that of a claim about it; some budgets have none."""
        if self._engine is not None:
            found = self._full(self._engine)["domain"] if "domain" in self._engine else {}
            return StatedDomain.of(found, self.ties)
        if self.kind in (SETS, LOSSES):
            return StatedDomain.of(self._average_or_sum.get("domain", {}), self.ties)
        return StatedDomain.of(self._about or {}, self.ties)

    @property
    def domains(self) -> Iterator[StatedDomain]:
        """The domains of all claims about the case."""
        for claim in self._named:
            yield StatedDomain.of(claim, self.ties)

    def domain_of(self, claim: StatedClaim, strict: bool) -> StatedDomain:
        """Returns the domain of a claim about a comparison."""
        return StatedDomain.of(claim.domain(strict), self.ties)

    @cached_property
    def _about(self) -> Mapping[str, Any] | None:
        """A claim about the case."""
        if self.document["status"] == "violated":
            assert self.witness is not None
            found: Mapping[str, Any] = self.witness.written["claim"]
            return found
        claim = next(iter(self._named), None)
        if claim is None and not (self.budget and self.budget.witnesses):
            raise UnreadCase("evidence without a claim about a sequence")
        return claim

    @cached_property
    def signs(self) -> list[StatedSign]:
        """The claims about signs of polynomials, without those that no comparison makes."""
        if self.is_map:
            return [StatedSign(text) for text in self._own["claims"]]
        return [StatedSign(claim["polynomial"], tuple(claim["origins"])) for claim in self._named]

    @cached_property
    def claimed(self) -> list[StatedClaim]:
        """The claims about comparisons."""
        return [StatedClaim(claim, tuple(claim["origins"])) for claim in self._named]

    @property
    def claimed_degree(self) -> int:
        """The largest total degree of claims about comparisons."""
        claims = [*self.claimed, *([self.claim_of(self.witness)] if self.witness else [])]
        texts = (text for claim in claims for strict in (True, False) if (text := claim.polynomial(strict)))
        return max((polynomial(text).degree for text in texts), default=0)

    @staticmethod
    def claim_of(witness: StatedWitness) -> StatedClaim:
        """Returns the claim of the witness of a comparison."""
        return StatedClaim(witness.written["claim"])

    @property
    def signs_everywhere(self) -> list[StatedSign]:
        """Those about the whole domain, and not about a part of it."""
        whole = self._about or {}
        kept = [c for c in self._named if all(c[part] == whole[part] for part in ("box", "constraints"))]
        return [StatedSign(claim["polynomial"], tuple(claim["origins"])) for claim in kept]

    @cached_property
    def degree(self) -> int:
        """The largest total degree of what is said of probabilities."""
        texts = [claim.polynomial for claim in self.signs] if self.kind == CLAIMS or self.is_map else []
        for total in self.sums if self.about_sums else ():
            texts += [total.room, *total.terms]
        for average in self.averages if self.kind == LOSSES else ():
            texts += [average.total, *(text for pair in average.outputs for text in pair)]
        return max((polynomial(text).degree for text in texts), default=0)

    @cached_property
    def sums(self) -> list[StatedSum]:
        """The claims about sums of positive parts."""
        return [self._sum(entry) for entry in self._of("parts")]

    @staticmethod
    def _sum(entry: Mapping[str, Any]) -> StatedSum:
        return StatedSum(entry["room"], tuple(entry["terms"]), _directions(entry["origins"]))

    @staticmethod
    def sum_of(witness: StatedWitness) -> StatedSum:
        """Returns the claim of the witness of a set."""
        return Evidence._sum(witness.written["claim"])

    @cached_property
    def averages(self) -> list[StatedAverage]:
        """The claims about averages over all outputs."""
        return [self._average(entry) for entry in self._of("average")]

    @staticmethod
    def _average(entry: Mapping[str, Any]) -> StatedAverage:
        outputs = tuple((p, q) for p, q in entry["outputs"])
        return StatedAverage(entry["total"], outputs, _directions(entry["origins"]))

    @staticmethod
    def average_of(witness: StatedWitness) -> StatedAverage:
        """Returns the claim of the witness of an average."""
        return Evidence._average(witness.written["claim"])

    @property
    def measure(self) -> str:
        """Which divergence the averages are about."""
        return str(self._average_or_sum["of"] if self._average_or_sum else self.document["budget"]["kind"])

    @cached_property
    def _average_or_sum(self) -> Mapping[str, Any]:
        """A statement about all outputs together, or that of the witness; nothing of some budgets."""
        found = [*self._of(SETS), *self._of(LOSSES)]
        found += [self._full(self.document["witness"]["claim"])] if "witness" in self.document else []
        return next(iter(found), {})

    @cached_property
    def average_bound(self) -> tuple[Fraction, Fraction]:
        """Bounds of the bound of an average: a number, and factors of logarithms of numbers."""
        start, logarithms = self._average_or_sum["bound"]
        low = high = number(start)
        for factor, text in logarithms:
            ends = [number(factor) * Fraction(end, UNIT) for end in ln(number(text))]
            low, high = low + min(ends), high + max(ends)
        return low, high

    @property
    def cells(self) -> Iterator[StatedCell]:
        """The cells of a map."""
        for cell in self._own.get("cells", ()):
            sides = zip(self._own["free"], cell["box"], strict=True)
            box = {name: (number(low), number(high), True, True) for name, (low, high) in sides}
            yield StatedCell(cell["status"], box, {n: number(v) for n, v in cell.get("at", {}).items()})

    # --- engines ----------------------------------------------------------------------------------

    def engine(self, name: str) -> Any:
        """Returns a part of what an engine says, whose content is its own."""
        return self._own[name]

    @property
    def loop_point(self) -> dict[str, Fraction]:
        """The point of such a loop."""
        return {name: number(value) for name, value in self._own["point"].items()}

    @cached_property
    def enclosed_bound(self) -> tuple[str, Fraction, Fraction | None]:
        """What enclosed probabilities are compared with: which bound it is, its value, and a delta."""
        bound, delta = self._own["bound"], self._own.get("delta")
        return bound["of"], number(bound["value"]), None if delta is None else number(delta)

    def ways(self, name: str) -> list[tuple[tuple[tuple[str, str], ...], Region, str, Fraction]]:
        """Returns the ways of an input: the noise that is drawn, its region, the output and the weight."""
        kinds = [(kind, value) for kind, value in self._own["noise"]]
        return [
            (
                tuple(kinds[k] for k in way["noise"]),
                tuple(
                    (tuple((v, number(s)) for v, s in form), number(bound)) for form, bound in way["region"]
                ),
                output,
                number(way["weight"]),
            )
            for output, listed in self._own["inputs"][name].items()
            for way in listed
        ]

    @cached_property
    def system(self) -> StatedSystem:
        """The interactive system."""
        return StatedSystem(self._own["system"])

    @property
    def of_streams(self) -> tuple[str, Any] | None:
        """Which streams are compared, or also by which budget; None if it is about the automaton alone."""
        return next(((key, self._own[key]) for key in ("streams", "claim") if key in self._own), None)


def _directions(origins: Any) -> tuple[Direction, ...]:
    return tuple((left, right, length) for left, right, length in origins)
