"""Evidence as the second reader sees it: the one module that knows the keys of documents.

Documents come from evidence that the kernel has accepted, so their form is not checked again here.
Polynomials are read and evaluated by code of this module: standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm
from typing import Any

from ..kernel.evidence_polynomials import integer, number
from ..kernel.strict_reading import Rejected, UnreadCase
from .second_definitions import Interval, inside

Point = Mapping[str, Fraction]

BITS = 400  # of a rational in the place of an algebraic number
SETS, LOSSES, CLAIMS = "parts", "average", "claims"  # kinds of evidence without an engine
CONE, REGIONS, INTERVALS, AUTOMATON = "cone", "cells", "line", "automaton"
FORMULAS, COMPOSITION, ENCLOSED, SLOTS = "formulas", "composition", "paths", "slots"
UNWINDING = "unwinding"
NO_ENGINES = ("claim", "comparison", "obligation", "lemma", SETS, LOSSES)
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


class StatedWitness:
    """A point and what is compared there: secrets, a sequence or outputs; numbers are as they are written."""

    def __init__(self, written: Mapping[str, Any]) -> None:
        self.written = written
        self.is_algebraic = "algebraic" in written
        self.word = tuple(written["observations"]) if "observations" in written else None
        self.length = len(self.word) if self.word is not None else int(written.get("length", 0))
        left, right = written.get("secrets", ("", ""))
        self.secrets: tuple[str, str] = (left, right)

    @cached_property
    def root(self) -> dict[str, Fraction]:
        """A rational very near to the root t from which an algebraic point is computed."""
        minimal = polynomial(self.written["algebraic"]["minimal"])
        low, high = (number(end) for end in self.written["algebraic"]["interval"])
        below = minimal.at({"t": low}) > 0
        while high - low > Fraction(1, 1 << BITS):
            middle = (low + high) / 2
            at = minimal.at({"t": middle})
            if not at:
                return {"t": middle}
            low, high = (middle, high) if (at > 0) == below else (low, middle)
        return {"t": low}

    @property
    def point(self) -> dict[str, Fraction]:
        """The point, or a rational one very near to it."""
        if not self.is_algebraic:
            return point_of(self.written["parameters"])
        coordinates = self.written["algebraic"]["coordinates"]
        return {name: polynomial(text).at(self.root) for name, text in coordinates.items()}

    def near(self, told: Any) -> Fraction:
        """Returns a rational very near to a number at an algebraic point."""
        return number(told) if isinstance(told, str) else polynomial(told["exact"]).at(self.root)

    def get(self, name: str) -> Any:
        """Returns a number or a word of the witness, None if it has none."""
        return self.written.get(name)


# --- documents --------------------------------------------------------------------------------------

Statement = Mapping[str, Any]  # with its domain: the keys of both


def origins(claim: Statement) -> list[Any]:
    """Returns the comparisons that a claim is about: their words, or directions with a length."""
    return [one if isinstance(one, str) else tuple(one) for one in claim.get("origins", ())]


def is_merged(claim: Statement) -> bool:
    """Tells whether a claim may be about more than its origins say."""
    return len(claim["origins"]) >= MERGED


def point_of(written: Mapping[str, str]) -> dict[str, Fraction]:
    """Returns a rational point."""
    return {name: number(value) for name, value in written.items()}


class Evidence:
    """A document of evidence."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        stated: Sequence[Statement] = document["statements"]
        self.engine: Statement = next((each for each in stated if each["kind"] not in NO_ENGINES), {})
        self.budget: Mapping[str, Any] | None = document.get("budget")
        self.kind = self._kind()
        self.holds = document["status"] == "holds"
        self.is_map = self.kind in (REGIONS, INTERVALS)  # its claims are polynomials without words
        self.about_sums = self.kind == SETS or bool(self.stated(SETS))  # about sets of outputs

    def _kind(self) -> str:
        """Returns the kind of the engine, or that of the claims of the case."""
        if self.engine:
            return str(self.engine["kind"])
        for statement in self.document["statements"]:
            if statement["kind"] in (SETS, LOSSES):
                return str(statement["kind"])
        if "witness" in self.document:
            return FORMS[self.document["witness"]["kind"]]
        return LEAST[self.budget["kind"]] if self.budget else CLAIMS

    def stated(self, kind: str) -> list[Statement]:
        """Returns the statements of a kind, with their domains."""
        return [self._full(each) for each in self.document["statements"] if each["kind"] == kind]

    def _full(self, statement: Statement) -> Statement:
        return {**statement, **self.document["domains"][statement["domain"]]} if "domain" in statement else {}

    @property
    def windows(self) -> dict[tuple[str, str], int] | None:
        """The distance of the window of each pair, where windows were proved."""
        if "windows" not in self.document:
            return None
        return {(a, b): far for a, b, far in self.document["windows"]["pairs"]}

    @cached_property
    def witness(self) -> StatedWitness | None:
        """The witness of a violation about probabilities, and its claim with the domain."""
        if "witness" not in self.document:
            return None
        written = self.document["witness"]
        return StatedWitness({**written, "claim": self._full(written["claim"])})

    @property
    def witnesses(self) -> list[StatedWitness]:
        """The witnesses of a least bound."""
        return list(map(StatedWitness, (self.budget or {}).get("witnesses", ())))

    @cached_property
    def ties(self) -> dict[str, tuple[str, Fraction]]:
        """The parameters beside their exponentials in some claim, each with its variable and step."""
        found: dict[str, tuple[str, Fraction]] = {}
        claims = [*self.stated("claim"), *([self.witness.written["claim"]] if self.witness else [])]
        for claim in claims:
            for name, (variable, step) in claim.get("ties", {}).items():
                if found.setdefault(name, (variable, number(step))) != (variable, number(step)):
                    raise Rejected(f"{name} is tied in two ways")
        return found

    @cached_property
    def named(self) -> list[Statement]:
        """The claims about comparisons of the case."""
        return [claim for claim in self.stated("claim") if claim.get("origins")]

    @cached_property
    def domain(self) -> StatedDomain:
        """The domain of the case: that of a claim about it; some budgets have none."""
        if self.engine:
            return self.domain_of(self._full(self.engine))
        return self.domain_of(self.about_all if self.kind in (SETS, LOSSES) else self._about or {})

    def domain_of(self, claim: Statement) -> StatedDomain:
        """Returns the domain of a claim about a comparison."""
        return StatedDomain.of(claim, self.ties)

    @cached_property
    def _about(self) -> Statement | None:
        """A claim about the case."""
        if self.document["status"] == "violated":
            assert self.witness is not None
            found: Statement = self.witness.written["claim"]
            return found
        claim = next(iter(self.named), None)
        if claim is None and not self.witnesses:
            raise UnreadCase("evidence without a claim about a sequence")
        return claim

    @cached_property
    def about_all(self) -> Statement:
        """A statement about all outputs together, or that of the witness; nothing of some budgets."""
        found = [*self.stated(SETS), *self.stated(LOSSES)]
        return next(iter([*found, *([self.witness.written["claim"]] if self.witness else [])]), {})

    @cached_property
    def signs(self) -> list[Statement]:
        """The claims f ≥ 0 about comparisons, whose words are the origins; those of a map have none."""
        return [{"polynomial": text} for text in self.engine["claims"]] if self.is_map else self.named

    @property
    def signs_everywhere(self) -> list[Statement]:
        """Those about the whole domain, and not about a part of it."""
        whole = self._about or {}
        return [c for c in self.named if all(c[part] == whole[part] for part in ("box", "constraints"))]

    @cached_property
    def degree(self) -> int:
        """The largest total degree of what is said of probabilities."""
        texts = [claim["polynomial"] for claim in self.signs] if self.kind == CLAIMS or self.is_map else []
        for total in self.stated(SETS):
            texts += [total["room"], *total["terms"]]
        for average in self.stated(LOSSES):
            texts += [average["total"], *(text for pair in average["outputs"] for text in pair)]
        return max((polynomial(text).degree for text in texts), default=0)
