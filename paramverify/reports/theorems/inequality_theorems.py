"""Theorems about inequalities: what a case claims, as a statement about the real numbers of Coq.

What `proofs/theories/Symbolic.v` computes of a formula: fractions that are not in lowest terms.

So it is known before Coq is asked which polynomials it must know to be positive, and which claims it makes.
Nothing rests on this: where it differs from Coq, Coq rejects the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from paramverify.algebra.domains import Constraint
from paramverify.algebra.expressions import Expression, Name, Node, Operation, RationalConstant, parse
from paramverify.algebra.polynomials import Polynomial, Ring, constant_value, is_constant, key
from paramverify.algebra.signs import comparison_polynomials, conjuncts
from paramverify.claims import positive, without_enclosure
from paramverify.errors import DefectError, ModelError, ParamverifyError, UnsupportedError
from paramverify.evidence import certificates
from paramverify.models.context import Checks
from paramverify.models.definitions import Inequality
from paramverify.models.settings import with_settings
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports.theorems.coq_certificates import polynomial, several
from paramverify.reports.theorems.coq_domains import Reals, TheoremDomain, are_alike, number_text, proof_of
from paramverify.reports.theorems.coq_words import (
    POWER,
    RELATIONS,
    Formulas,
    case_lines,
    comment,
    divisors,
    exponentials,
    named,
    size_of,
)
from paramverify.tables import as_expression, toml_data

MAX_TERMS = 1_500  # of one polynomial
Orient = Callable[[Polynomial, Node], int]  # the sign that a divisor has on the whole domain


@dataclass(frozen=True)
class Unreduced:
    """top / (low · bottom), with whole coefficients, low > 0, and bottom > 0 on the domain."""

    top: Polynomial
    low: int
    bottom: Polynomial


def _checked(fraction: Unreduced) -> Unreduced:
    """Returns a fraction.

    Raises:
        UnsupportedError: it is too large.
    """
    if max(len(fraction.top), len(fraction.bottom)) > MAX_TERMS:
        raise UnsupportedError("a fraction is too large for Coq, which does not bring it to lowest terms")
    return fraction


@dataclass(frozen=True)
class Fractions:
    """Fractions of formulas in a ring; `known` are functions of the case, `orient` is asked of divisors.

    `power` says what an exponential is: powers of variables of the ring.
    """

    ring: Ring
    known: Mapping[str, Unreduced]
    orient: Orient
    power: Callable[[Operation], Node]

    def of(self, node: Node) -> Unreduced:
        """Returns the fraction that Coq computes of a formula."""
        if isinstance(node, RationalConstant):
            top = self._whole(node.value.numerator)
            return (
                top
                if node.value.denominator == 1
                else self._over(top, self._whole(node.value.denominator), node)
            )
        if isinstance(node, Name):
            return self.known[node.name] if node.name in self.known else self._single(node.name)
        assert isinstance(node, Operation)
        first, *rest = node.arguments
        if node.operator == "exp":
            return self.of(self.power(node))
        if node.operator == "neg":
            return self._times(self._whole(-1), self.of(first))
        if node.operator == "**":
            assert isinstance(rest[0], RationalConstant)
            base, found = self.of(first), self._whole(1)
            for _ in range(int(rest[0].value)):
                found = self._times(base, found)
            return found
        found = self.of(first)
        for part in rest:
            if node.operator == "/":
                found = self._over(found, self.of(part), part)
            elif node.operator == "*":
                found = self._times(found, self.of(part))
            elif isinstance(part, Operation) and part.operator == "neg":
                other = self.of(part.arguments[0])
                found = self._plus(found, Unreduced(-other.top, other.low, other.bottom))
            else:
                found = self._plus(found, self.of(part))
        return found

    def gap(self, left: Unreduced, right: Unreduced) -> Polynomial:
        """Returns right − left times positive numbers, as Coq computes it."""
        if left.bottom == right.bottom:
            return left.low * right.top - right.low * left.top
        return left.low * (right.top * left.bottom) - right.low * (left.top * right.bottom)

    def _whole(self, value: int) -> Unreduced:
        return Unreduced(self.ring.number(value), 1, self.ring.number(1))

    def _single(self, name: str) -> Unreduced:
        return Unreduced(self.ring.variable(name), 1, self.ring.number(1))

    def _plus(self, f: Unreduced, g: Unreduced) -> Unreduced:
        common = gcd(f.low, g.low)
        a, b = f.low // common, g.low // common
        if f.bottom == g.bottom:
            return _checked(Unreduced(b * f.top + a * g.top, f.low * b, f.bottom))
        top = b * (f.top * g.bottom) + a * (g.top * f.bottom)
        return _checked(Unreduced(top, f.low * b, f.bottom * g.bottom))

    def _times(self, f: Unreduced, g: Unreduced) -> Unreduced:
        return _checked(Unreduced(f.top * g.top, f.low * g.low, f.bottom * g.bottom))

    def _over(self, f: Unreduced, g: Unreduced, divisor: Node) -> Unreduced:
        """Returns the quotient, with a bottom that is positive."""
        if is_constant(g.top):
            value = int(constant_value(g.top))
            sign, inverse = (1 if value > 0 else -1), self.ring.number(1)
            return self._times(f, Unreduced(sign * g.low * g.bottom, abs(value), inverse))
        sign = self.orient(g.top, divisor)
        return self._times(f, Unreduced(sign * g.low * g.bottom, 1, sign * g.top))


Json = Mapping[str, Any]

MAX_SIZE = 5_000  # operations, names and numbers of one formula
NO_WORDS = "a claim is a comparison with <, <=, >, >= or =="
REQUIRE = "From Paramverify Require Import Theorems CaseClaims."
HEADER = """\
(** {title}{digest}

    Coq checks this file if you run `make` in its folder. If a folder T already has the theories built, run:

      coqc -Q T Paramverify case.v

    What is proved is the theorem [claim] at the end{always}.
    Read it, and the functions that it names: they must be what you mean. R are the real numbers of Coq.
    {divided}
    The numbers of [evidence] and [positives] need not be read. Coq derives polynomial claims from the
    theorem, and looks for a proof of each of them there. With wrong numbers Coq proves nothing false: it
    rejects the file, or it did not need them.

    Trusted are Coq and the axioms of its real numbers. The last line of the file has Coq print them.
    No solver is trusted. The folder theories is as good as its source: if you have doubts, take it from a
    release that you downloaded yourself. paramverify is trusted for nothing but this: that the theorem is
    that of the case file. *)
"""
DIVIDED = """\
In Coq x / 0 is some number. So the theorem says first that nothing is divided by zero: [... <> 0].
"""


@dataclass
class Stating:
    """What a case claims in the words of Coq, and which polynomials Coq must know to be positive for it."""

    model: Inequality
    place: TheoremDomain
    formulas: Formulas = field(init=False)
    known: dict[str, Unreduced] = field(default_factory=dict)  # functions of the case
    sizes: dict[str, int] = field(default_factory=dict)
    divided: dict[str, None] = field(default_factory=dict)  # what is divided by, in words
    needed: dict[str, Polynomial] = field(default_factory=dict)  # positive on the domain
    definitions: list[str] = field(default_factory=list)
    powers: dict[str, str] = field(default_factory=dict)  # what exponentials are
    gaps: list[tuple[Polynomial, str]] = field(default_factory=list)  # each is at least zero, or above

    def __post_init__(self) -> None:
        self.reals = Reals(self.place, list(self.model.definitions))
        given = "".join(f" {name}" for name in self.reals.free)
        self.functions = {name: self.reals.own[name] for name in self.model.definitions}
        calls = {name: f"{text}{given}" for name, text in self.functions.items()}
        self.formulas = Formulas({**self.reals.own, **self.reals.written}, calls)
        self.fractions = Fractions(self.model.domain.ring, self.known, self._orient, self._power)

    def _power(self, exponential: Operation) -> Node:
        """Returns what an exponential is in the variables of proofs, and keeps that."""
        node = self.formulas.function(self.reals.power(exponential))
        texts = (self.formulas.written(part, POWER) for part in (exponential, node))
        self.powers.setdefault(*texts)
        return node

    def _orient(self, divisor: Polynomial, node: Node) -> int:
        """Returns the sign of a divisor on the domain, and keeps that it is to be proved."""
        text = self.formulas.written(node)
        try:
            found = Checks(self.model.domain).positive(divisor, f"the divisor {text}")
        except ModelError as error:
            what = "a theorem is about what is written, not about lowest terms"
            raise UnsupportedError(f"{error.reason}: {what}") from None
        self.needed[key(found)] = found
        return 1 if found == divisor else -1

    def define(self, data: Json) -> None:
        """Reads the functions that the case names."""
        given = f" ({' '.join(self.reals.free)} : R)" if self.reals.free else ""
        for name, text in data.get("define", {}).items():
            if isinstance(text, Mapping):
                told = f"(* This is read from the file {comment(str(text['file']))}, in lowest terms. *)"
                self.definitions.append(told)
                node = self.formulas.function(self.model.definitions[name])
            else:
                node = self.formulas.lowered(as_expression(text))
            self.sizes[name] = self._read(node)
            self.known[name] = self.fractions.of(node)
            self.definitions.append(
                f"Definition {self.functions[name]}{given} : R :=\n  ({self.formulas.written(node)})%R."
            )

    def _read(self, node: Node) -> int:
        """Keeps what a formula divides by; returns its size where functions are written out, as Coq does."""
        size = size_of(node, self.sizes)
        if size > MAX_SIZE:
            raise UnsupportedError("it is too large for Coq, which writes its functions out")
        for divisor in divisors(node):
            self.divided[self.formulas.written(divisor)] = None
        return size

    def claims(self, data: Json) -> list[str]:
        """Returns what is claimed, in the words of Coq; and keeps what has to be known for it."""
        holds = data["claim"]["holds"]
        return [
            found
            for text in (holds if isinstance(holds, list) else [holds])
            for found in self._compared(parse(text))
        ]

    def _compared(self, tree: Expression) -> Iterator[str]:
        for node in conjuncts(tree, NO_WORDS):
            left, right = (self.formulas.lowered(tree, side) for side in node.arguments)
            self._read(left)
            self._read(right)
            yield self._comparison(left, node.operator, right)
            below, above = (right, left) if node.operator[0] == ">" else (left, right)
            gap = self.fractions.gap(self.fractions.of(below), self.fractions.of(above))
            self.gaps.append((gap, node.operator))

    def _comparison(self, left: Node, relation: str, right: Node) -> str:
        return f"{self.formulas.written(left)} {RELATIONS[relation]} {self.formulas.written(right)}"

    def premises(self) -> list[str]:
        """Returns where the parameters are: intervals, then constraints as they are written."""
        found = self.reals.ranges
        for text in dict.fromkeys(c.text for c in self.model.domain.constraints):
            own = [c for c in self.model.domain.constraints if c.text == text]
            found += self._as_written(text, own) or [
                f"0 {'<' if c.strict else '<='} {self._polynomial(c.polynomial)}" for c in own
            ]
        return found

    def _polynomial(self, polynomial: Polynomial) -> str:
        return self.formulas.written(self.formulas.polynomial(polynomial))

    def _as_written(self, text: str, constraints: list[Constraint]) -> list[str]:
        """Returns a constraint as it is written, where that says the same and divides by nothing."""
        try:
            tree = parse(text)
            meant = [(key(f), strict) for f, strict in comparison_polynomials(tree, self.model.domain)]
            sides = [
                ([self.formulas.lowered(tree, side) for side in node.arguments], node.operator)
                for node in conjuncts(tree, NO_WORDS)
            ]
        except ParamverifyError:  # of a file, in a form of its own
            return []
        if any((key(c.polynomial), c.strict) not in meant for c in constraints):
            return []
        if any(True for both, _ in sides for side in both for _ in divisors(side)):
            return []
        for exponential in (e for both, _ in sides for side in both for e in exponentials(side)):
            self._power(exponential)
        return [self._comparison(left, relation, right) for (left, right), relation in sides]

    def extend(self, entries: Sequence[Json]) -> None:
        """Keeps what the claims of Coq have besides those of the evidence, which are in lowest terms.

        Raises:
            DefectError: the evidence has another claim.
        """
        ring, domain = self.model.domain.ring, self.place.document
        weak = [ring.parse(e["polynomial"]) for e in entries if are_alike(e["domain"], domain)]
        strict = [ring.parse(f) for f in map(self.strict, entries) if f]
        for gap, relation in self.gaps:
            for side in [gap, -gap] if relation == "==" else [gap]:
                if not is_constant(side) and not self._follows(side, strict if relation in "<>" else weak):
                    raise DefectError(f"no claim of the evidence is about {side!s:.80}")

    def strict(self, entry: Json) -> str:
        """Returns the polynomial that a claim of evidence says to be positive; "" where it says no such."""
        domain = entry["domain"]
        *rest, last = domain["constraints"] or [["", ""]]
        alike = are_alike({**domain, "constraints": rest}, self.place.document)
        if not alike or entry["polynomial"] != "-1" or last[1] != ">=":
            return ""
        return key(-self.model.domain.ring.parse(last[0]))

    def _follows(self, whole: Polynomial, parts: Sequence[Polynomial]) -> bool:
        """Tells whether a polynomial is one of some others or 1, times a positive one, which is kept."""
        by_degree = sorted(parts, key=lambda part: -int(part.total_degree()))
        for part in (*by_degree, self.model.domain.ring.number(1)):
            if not part or whole.gcd(part).total_degree() < part.total_degree():
                continue
            cofactor = whole / part
            with suppress(ModelError):  # another sign, or zero somewhere
                if Checks(self.model.domain).positive(cofactor, "a cofactor") == cofactor:
                    if not is_constant(cofactor):
                        self.needed[key(cofactor)] = cofactor
                    return True
        return False


def claim_theorem(case: PrivacyCase, model: Inequality, document: Json, options: Options) -> str:
    """Returns a file for Coq with the theorem that the claim of a case is true; `document` is its evidence.

    What Coq must know besides, such as that denominators are positive, is proved within the options.

    Raises:
        UnsupportedError: a theorem has no words for it, or a proof rests on a solver.
    """
    data = with_settings(toml_data(case.text), case.settings)
    place = TheoremDomain.of(model.domain)
    stating = Stating(model, place)
    stating.define(data)
    claims = stating.claims(data)
    stating.extend(document["claims"])
    entries = [*document["claims"], *_settled(stating, document["claims"], options)]
    claims = [*(f"{divisor} <> 0" for divisor in stating.divided), *claims]
    positives = [
        [*polynomial(f, place.names), *proof_of(entry, place.names)]
        for f, entry in ((stating.strict(entry), entry) for entry in entries)
        if f
    ]
    lines = [
        HEADER.format(
            title=f"{comment(case.title)}\n\n    " if case.title else "",
            digest=case_lines(case.digest, case.settings),
            always=", for all values of the parameters" if place.free else "",
            divided=DIVIDED if stating.divided else "",
        ),
        REQUIRE,
        "",
        *([*stating.definitions, ""] if stating.definitions else []),
        "(* Proofs of polynomial claims, as numbers. *)",
        *place.evidence(document["claims"]),
        "",
        "Definition positives : list positive_proof :=",
        f"  positives_of {len(place.names)} {number_text(several(positives, list))}.",
        "",
        *_theorem(stating, claims),
        "",
        "Print Assumptions claim.",
    ]
    return "\n".join(lines) + "\n"


def _settled(stating: Stating, entries: Sequence[Json], options: Options) -> list[Json]:
    """Returns proofs that polynomials are positive, of those that have none among the entries."""
    known = {stating.strict(entry) for entry in entries}
    wanted = [f for name, f in stating.needed.items() if name not in known]
    found: list[Json] = []
    if not wanted:
        return found
    with Session(options) as session:
        for f in wanted:
            claim = without_enclosure(positive(f, stating.model.domain))
            found.append(certificates.settled(claim, session.decide(claim)))
            if found[-1]["proof"] is None:
                raise UnsupportedError(f"it is not proved that {f!s:.80} is above zero, as a divisor")
    return found


def _theorem(stating: Stating, claims: Sequence[str]) -> list[str]:
    reals = stating.reals
    premises = stating.premises()
    names = list(named([f"domain{k}" for k in range(len(premises))], frozenset(reals.own.values())).values())
    free = f"forall {' '.join(reals.free)} : R,\n  " if reals.free else ""
    shown = " /\\\n   ".join(claims)
    given = "".join(f"({text})%R ->\n  " for text in premises)
    unfolded = " ".join(stating.functions.values())
    powers = [f"  replace ({a})%R with ({b})%R by by_exponents." for a, b in stating.powers.items() if a != b]
    return [
        f"Theorem claim : {free}{given}({shown})%R.",
        "Proof.",
        *([f"  intros {' '.join(reals.free)}."] if reals.free else []),
        *([f"  cbv beta delta [{unfolded}]."] if unfolded else []),
        *powers,
        *([f"  intros {' '.join(names)}."] if names else []),
        *reals.tactics,
        f"  by_claims evidence positives {reals.values}%R.",
        "Qed.",
    ]
