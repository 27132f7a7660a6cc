"""Formulas of PySMT as text: in SMT-LIB, and in the languages of QEPCAD and of Redlog.

A comparison with a number is written with the number on the right. In SMT-LIB powers are products; QEPCAD
and Redlog have signs for powers. Programs: [Barrett17], [Brown03], [DolzmannSturm97].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from flint import fmpz
from pysmt.fnode import FNode
from pysmt.walkers import DagWalker

from paramverify.formats.quantified_questions import QEPCAD_RELATIONS

TURNED = {"<": ">", "<=": ">=", "=": "="}
NEGATED = {"<": ">=", "<=": ">", "=": "!=", ">": "<=", ">=": "<"}


def comparison(formula: FNode) -> tuple[FNode, str, FNode]:
    """Returns both sides of a comparison, and its relation; a number alone stands on the right."""
    left, right = formula.args()
    relation = "<" if formula.is_lt() else "<=" if formula.is_le() else "="
    if left.is_real_constant() and not right.is_real_constant():
        return right, TURNED[relation], left
    return left, relation, right


def digits(number: int) -> str:
    """Returns a whole number, also one of gmpy2, in as many decimal digits as it has."""
    return str(fmpz(int(number)))


class SmtLibPrinter(DagWalker):  # type: ignore[misc]
    """Writes terms and formulas of SMT-LIB; `symbols` has the symbol for each name of a variable."""

    def __init__(self, symbols: Mapping[str, str]) -> None:
        super().__init__()
        self.symbols = symbols

    def walk_symbol(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return self.symbols[formula.symbol_name()]

    def walk_real_constant(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        value = formula.constant_value().numerator
        return digits(value) if value >= 0 else f"(- {digits(-value)})"

    def walk_plus(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return f"(+ {' '.join(args)})"

    def walk_times(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return f"(* {' '.join(args)})"

    def walk_ite(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return f"(ite {' '.join(args)})"

    def walk_comparison(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        texts = dict(zip(formula.args(), args, strict=True))
        left, relation, right = comparison(formula)
        return f"({relation} {texts[left]} {texts[right]})"

    walk_lt = walk_le = walk_equals = walk_comparison

    def walk_or(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return "".join(["(or", *(f"\n  {part}" for part in args), ")"])


class _EliminationPrinter(DagWalker):  # type: ignore[misc]
    """Writes formulas for quantifier elimination; a polynomial is a sum of products with signs."""

    times, power = "*", "**"
    relations: Mapping[str, str]
    conjunction, disjunction = " and ", " or "
    brackets = ("(", ")")
    true, false = "0 = 0", "0 <> 0"

    def walk_symbol(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return str(formula.symbol_name())

    def walk_term(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return ""  # a polynomial is written where it is compared

    walk_plus = walk_times = walk_real_constant = walk_term

    def polynomial(self, formula: FNode) -> str:
        """Returns a sum of products with whole numbers."""
        text = ""
        for term in formula.args() if formula.is_plus() else [formula]:
            parts = list(term.args()) if term.is_times() else [term]
            number = parts.pop(0).constant_value().numerator if parts[0].is_real_constant() else 1
            powers = Counter(part.symbol_name() for part in parts)
            factors = [n if k == 1 else f"{n}{self.power}{k}" for n, k in powers.items()]
            if abs(number) != 1 or not factors:
                factors.insert(0, digits(abs(number)))
            text += f" {'-' if number < 0 else '+'} {self.times.join(factors)}"
        return text[3:] if text.startswith(" + ") else f"-{text[3:]}"

    def compared(self, formula: FNode, negated: bool = False) -> str:
        """Returns a comparison, or the one that holds where it does not."""
        left, relation, right = comparison(formula)
        written = self.relations[NEGATED[relation] if negated else relation]
        return f"{self.polynomial(left)} {written} {self.polynomial(right)}"

    def walk_comparison(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return self.compared(formula)

    walk_lt = walk_le = walk_equals = walk_comparison

    def walk_not(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        (part,) = formula.args()
        if is_comparison(part):
            return self.compared(part, negated=True)
        return self.negation(args[0])

    def negation(self, part: str) -> str:
        """Returns that a formula that is no comparison does not hold."""
        raise NotImplementedError

    def walk_bool_constant(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return self.true if formula.is_true() else self.false

    def walk_and(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return self.conjunction.join(self.bracketed(formula.args(), args))

    def walk_or(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        return self.disjunction.join(self.bracketed(formula.args(), args))

    def bracketed(self, formulas: Sequence[FNode], texts: Sequence[str]) -> list[str]:
        """Returns parts of a formula, those with parts of their own in brackets."""
        first, last = self.brackets
        pairs = zip(formulas, texts, strict=True)
        return [text if is_simple(part) else f"{first}{text}{last}" for part, text in pairs]


def is_comparison(formula: FNode) -> bool:
    """Tells whether a formula compares two terms."""
    return bool(formula.is_lt() or formula.is_le() or formula.is_equals())


def is_simple(formula: FNode) -> bool:
    """Tells whether a formula is a comparison, or the negation of one."""
    return is_comparison(formula) or bool(formula.is_not() and is_comparison(formula.arg(0)))


class QepcadPrinter(_EliminationPrinter):
    """Writes formulas of QEPCAD; a quantified one has its quantifiers in front."""

    times, power = " ", "^"
    relations = QEPCAD_RELATIONS
    conjunction, disjunction = " /\\ ", " \\/ "
    brackets = ("[", "]")
    true, false = "0 = 0", "0 /= 0"

    def negation(self, part: str) -> str:
        """Returns that a formula that is no comparison does not hold."""
        return f"~[{part}]"

    def walk_implies(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        given, conclusion = args
        return f"[{given}] ==> [{conclusion}]"

    def walk_forall(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        quantifiers = "".join(f"(A {s.symbol_name()})" for s in formula.quantifier_vars())
        return f"{quantifiers}[{args[0]}]"


class RedlogPrinter(_EliminationPrinter):
    """Writes formulas of Redlog; an implication is a disjunction, so that few words are needed."""

    relations: Mapping[str, str] = {**QEPCAD_RELATIONS, "!=": "<>"}

    def negation(self, part: str) -> str:
        """Returns that a formula that is no comparison does not hold."""
        return f"not ({part})"

    def walk_implies(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        given, conclusion = formula.args()
        hypotheses = given.args() if given.is_and() else (given,)
        fails = [
            self.compared(part.arg(0)) if part.is_not() else self.compared(part, negated=True)
            for part in hypotheses
        ]
        return self.disjunction.join([*fails, *self.bracketed([conclusion], [args[1]])])

    def walk_forall(self, formula: FNode, args: Sequence[str], **_: Any) -> str:
        bound = ",".join(s.symbol_name() for s in formula.quantifier_vars())
        return f"all({{{bound}}}, {args[0]})"
