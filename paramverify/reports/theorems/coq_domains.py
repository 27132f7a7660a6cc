"""The domain of a case, its exponentials and its proofs in the words of Coq.

Parameters of an inequality as real numbers, and exponentials as the powers that proofs are about.

A claim with exp(-eps/2) and exp(-eps) is proved for the variable x_eps = exp(-(eps/2)). They are its powers.
The theorem has them as they are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, Interval, tied_in
from paramverify.algebra.expressions import Expression, Operation
from paramverify.algebra.polynomials import RationalFunction, meanings, to_rational_function
from paramverify.errors import UnsupportedError
from paramverify.evidence import envelope
from paramverify.reports.theorems.coq_certificates import (
    known_proof,
    polynomial,
    several,
    sums_numbers,
    whole_polynomial,
    with_wider_logarithms,
)
from paramverify.reports.theorems.coq_words import TheoremNames, comment, named

Json = Mapping[str, Any]
BITS = 64  # of the enclosure of exp(q)
LINE = 100  # characters in one line of a text of numbers
_OF_POLYNOMIALS = ("variables", "ties")  # what is different for claims about one domain
LINES = 100  # in one string: Coq cannot read one of fifty thousand characters


@dataclass(frozen=True)
class TheoremDomain:
    """Where the parameters of a case are: their names in the file, and the domain."""

    domain: Domain
    own: Mapping[str, str]  # by name of the case, with the constant

    @staticmethod
    def of(domain: Domain) -> TheoremDomain:
        """Returns the place of a domain.

        Raises:
            UnsupportedError: a constraint has a parameter beside its own exponential.
        """
        if tied_in(domain.ring, *(c.polynomial for c in domain.constraints)):
            raise UnsupportedError("a constraint has a parameter beside its own exponential")
        return TheoremDomain(domain, named(list(domain.ring.names)))

    @property
    def names(self) -> list[str]:
        """The variables of the claims, in their order."""
        return list(self.domain.ring.names)

    @property
    def free(self) -> list[str]:
        """The parameters as they are written in the file, without the constant."""
        return [self.own[name] for name in self.names if name in self.domain.ring.parameters]

    def _is_constant(self, name: str) -> bool:
        return self.domain.constant is not None and name == GENERATOR

    @property
    def constant(self) -> str:
        """The number exp(q), as a real number of Coq."""
        assert self.domain.constant is not None
        return f"exp ({fraction_text(self.domain.constant.exponent)})"

    def _real(self, name: str) -> str:
        """Returns a parameter, the constant, or a logarithm, as a real number of Coq."""
        if self._is_constant(name):
            return f"({self.constant})"
        tie = next((u for u in self.domain.ring.tied if u.name == name), None)
        return f"(- ln {self.own[tie.variable]} / ({fraction_text(tie.step)}))" if tie else self.own[name]

    @property
    def reals(self) -> TheoremNames:
        """The words in which parameters are real numbers."""
        return TheoremNames({name: self._real(name) for name in self.names}, {}, {})

    @property
    def some_point(self) -> dict[str, Fraction]:
        """Numbers at which functions of the parameters are compared: each inside of its interval."""
        found = {}
        for k, name in enumerate(self.names):
            box = self.domain.box.get(name)
            part = Fraction(k + 7, 2 * k + 19)
            found[name] = box.lower + (box.upper - box.lower) * part if box else part
        return found

    @property
    def words(self) -> TheoremNames:
        """The words in which parameters are expressions of a file."""
        return TheoremNames(self.own, {}, {})

    @property
    def definitions(self) -> list[str]:
        """The definitions of the parameters, and what those of exponentials stand for."""
        told = [f"(* {comment(meaning)}. *)" for meaning in meanings(self.domain.ring.unbounded)]
        told += [
            f"(* {self.own[u.name]} is {self._real(u.name)}, which follows from that. *)"
            for u in self.domain.ring.tied
        ]
        return told + [f"Definition {self.own[name]} := Param {k}." for k, name in enumerate(self.names)]

    @property
    def values(self) -> str:
        """The values of all parameters, as a list of real numbers."""
        values = [self.constant if self._is_constant(n) else self._real(n) for n in self.names]
        return f"[{'; '.join(values)}]"

    @property
    def point(self) -> str:
        """The point at which the parameters have these values."""
        return f"at_values {self.values}"

    @property
    def hypotheses(self) -> list[str]:
        """What is said of the parameters, one after the other."""
        box = self.domain.box.items()
        found = [in_interval(self.own[name], given) for name, given in box if not self._is_constant(name)]
        for constraint in self.domain.constraints:
            sign = "<" if constraint.strict else "<="
            found.append(f"0 {sign} {self.reals.polynomial(constraint.polynomial)}")
        return found

    @property
    def document(self) -> Json:
        """What claims of evidence about this domain say of it."""
        return envelope.domain_document(self.domain)

    def evidence(self, entries: Sequence[Json]) -> list[str]:
        """Returns the definition of the certificate: the domain, and each polynomial with its proof.

        Raises:
            UnsupportedError: a proof that has no theory.
        """
        mine = self.document
        parts = [
            [*whole_polynomial(entry["polynomial"], self.names)[1], *proof_of(entry, self.names)]
            for entry in entries
            if are_alike(entry["domain"], mine)
        ]
        conditions = several(mine["constraints"], lambda c: [int(c[1] == ">"), *polynomial(c[0], self.names)])
        box = "; ".join(self._interval(name) for name in self.names)
        width = len(self.names)
        lines = ["Definition evidence : certificate := {|", f"  intervals := [{box}];"]
        lines += [
            f"  conditions := conditions_of {width} {number_text(conditions)};",
            f"  constants := [{self._facts()}];",
        ]
        lines += ["  lemmas := [];", f"  enclosure := {self._enclosure()};"]
        return [*lines, f"  parts := proofs_of {width} {number_text(several(parts, list))}", "|}."]

    def sums(self, claims: Sequence[Json]) -> list[str]:
        """Returns the definition of the sums of positive parts that are known, each with its proof.

        Raises:
            UnsupportedError: a proof that has no theory.
        """
        written = number_text(sums_numbers(claims, self.names))
        return [f"Definition sums : list sum_proof := sums_of {len(self.names)} {written}."]

    def _interval(self, name: str) -> str:
        if name not in self.domain.ring.parameters:
            return "None"
        given = self.domain.box[name]
        flags = " ".join("false" if closed else "true" for closed in (given.lower_closed, given.upper_closed))
        return f"Some (Goal.Iv {_pair(given.lower)} {_pair(given.upper)} {flags})"

    def _facts(self) -> str:
        place = self.names.index
        found = [
            f"Goal.Log {place(u.name)} {place(u.variable)} {_pair(u.step)}" for u in self.domain.ring.tied
        ]
        if self.domain.constant is not None:
            found.append(f"Goal.Exp {place(GENERATOR)} {_pair(self.domain.constant.exponent)}")
        return "; ".join(found)

    def _enclosure(self) -> str:
        """Returns the interval around the constant with which claims are computed."""
        if self.domain.constant is None:
            return "None"
        found = self.domain.enclose(BITS).box[GENERATOR]
        return f"Some ({_pair(found.lower)}, {_pair(found.upper)})"


def in_interval(text: str, interval: Interval) -> str:
    """Returns that a number is in an interval, in the words of Coq."""
    low, high = ("<=" if closed else "<" for closed in (interval.lower_closed, interval.upper_closed))
    return f"{fraction_text(interval.lower)} {low} {text} {high} {fraction_text(interval.upper)}"


def are_alike(domain: Json, other: Json) -> bool:
    """Tells whether two domains of claims are one: claims leave out variables that do not occur."""
    own, its = ({k: v for k, v in d.items() if k not in _OF_POLYNOMIALS} for d in (domain, other))
    return own == its


def proof_of(entry: Json, names: Sequence[str]) -> list[int]:
    """Returns the proof of an entry of evidence as numbers.

    Raises:
        UnsupportedError: it has none, or one that has no theory.
    """
    if entry["proof"] is None:
        raise UnsupportedError("a claim has no proof")
    return known_proof(with_wider_logarithms(entry, entry["proof"]), names)


def fraction_text(value: Fraction | Any) -> str:
    """Returns a fraction in the words of Coq."""
    number = Fraction(str(value))
    text = str(abs(number.numerator)) + (f" / {number.denominator}" if number.denominator > 1 else "")
    if number >= 0:
        return text
    return f"- {text}" if number.denominator == 1 else f"- ({text})"


def _pair(value: Any) -> str:
    number = Fraction(str(value))
    return f"({number.numerator} # {number.denominator})%Q"


def number_text(found: Sequence[int]) -> str:
    """Returns numbers with blanks between them, in lines: a list of strings of Coq."""
    lines, line = [], ""
    for number in found:
        if len(line) > LINE:
            lines.append(line)
            line = ""
        line += f"{number} "
    lines.append(line.rstrip())
    parts = ("\n    ".join(lines[k : k + LINES]) for k in range(0, len(lines), LINES))
    return "[" + ";\n    ".join(f'"{part}"%string' for part in parts) + "]"


@dataclass(frozen=True)
class Reals:
    """The parameters of a place as real numbers of a theorem, beside functions with names of their own."""

    place: TheoremDomain
    functions: Sequence[str]

    @cached_property
    def own(self) -> dict[str, str]:
        """How names are written: those of variables, of parameters and of functions."""
        unbounded = [u.name for u in self.place.domain.ring.unbounded if not u.tied]
        return named([*self.place.names, *unbounded, *self.functions])

    @cached_property
    def _arguments(self) -> dict[str, str]:
        """The number t of each variable exp(-t) of a parameter of the domain (0, oo)."""
        unbounded = self.place.domain.ring.unbounded
        return {u.variable: f"{fraction_text(u.step)} * {self.own[u.name]}" for u in unbounded}

    @property
    def free(self) -> list[str]:
        """The parameters as they are written."""
        meant = {u.variable: u.name for u in self.place.domain.ring.unbounded}
        return [self.own[meant.get(name, name)] for name in self.place.domain.ring.parameters]

    @property
    def written(self) -> dict[str, str]:
        """What the variables of proofs are, in the words of Coq."""
        found = {name: self.own[name] for name in self.place.names}
        for name, argument in self._arguments.items():
            found[name] = f"exp (- ({argument}))"
        if self.place.domain.constant is not None:
            found[GENERATOR] = self.place.constant
        return found

    @property
    def ranges(self) -> list[str]:
        """The intervals of the parameters, one after the other."""
        found = []
        written, unit = self.written, Interval(Fraction(0), Fraction(1))
        for u in self.place.domain.ring.unbounded:
            found.append(f"0 < {self.own[u.name]}")
        for name, interval in self.place.domain.box.items():
            if name != GENERATOR and (name not in self._arguments or interval != unit):
                found.append(in_interval(written[name], interval))
        return found

    def power(self, exponential: Operation) -> RationalFunction:
        """Returns the product of powers of variables that an exponential is."""
        return to_rational_function(Expression("", exponential), self.place.domain.ring)

    @property
    def tactics(self) -> list[str]:
        """What gives the variables of proofs their names."""
        return [f"  of_exponential ({t})%R {self.own[name]}." for name, t in self._arguments.items()]

    @property
    def values(self) -> str:
        """The variables of proofs, as a list of real numbers."""
        own = {**self.own, GENERATOR: self.written.get(GENERATOR, "")}
        return f"[{'; '.join(own[name] for name in self.place.names)}]"
