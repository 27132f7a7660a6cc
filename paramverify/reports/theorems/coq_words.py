"""Expressions and formulas of a case in the words of Coq, and what a theorem about it says.

Names of a case stay as they are, unless they mean something to Coq or to the theories already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from paramverify import printable
from paramverify.algebra.expressions import (
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    Text,
    Value,
    evaluate,
    parse,
)
from paramverify.algebra.polynomials import Polynomial, RationalFunction, key
from paramverify.errors import UnsupportedError
from paramverify.models.settings import Settings, told

# Words that Coq 8.16 keeps for itself, with those of its tactics and of what the theories load.
KEYWORDS = """
    Axiom CoFixpoint Definition Fixpoint Hypothesis Parameter Prop SProp Set Sort Theorem Type
    Variable _ as at by cofix else end exists exists2 fix for forall fun if in let match mod proved
    relation return symmetry then transitivity until using where with
"""
# Words with which commands of Coq start: no keywords, but a reader would take them for such.
COMMANDS = """
    Abort About Add Admit Admitted All Arguments Axioms Back BackTo Bind Canonical Cd Check Class
    Close CoInductive Coercion Collection Combined Comments Compute Conjecture Conjectures
    Constraint Context Corollary Create Cumulative Custom Debug Declare Defined Delimit Derive
    Disable Drop Enable End Eval Example Existential Existing Export Extract Extraction Fact Fail
    Field Focus Forall From Function Functional Generalizable Global Goal Grab Guarded Hint
    Hypotheses Identity Implicit Implicits Import Include Inductive Infix Info Inspect Instance
    Instances Lemma Let Load Local Locate Ltac Ltac2 Mode Module Monomorphic Morphism Next
    NonCumulative Notation Number Numeral Obligation Obligations Opaque Open Optimize Parameters
    Parametric Polymorphic Prenex Preterm Primitive Print Private Program Proof Property Proposition
    Pwd Qed Quit Record Recursive Redirect Register Relation Remark Remove Require Reserved Reset
    Restart Rewrite Ring Save Scheme Scope Search SearchPattern SearchRewrite Section Separate
    Setoid Show Solve Step Strategy String Structure SubClass Succeed Tactic Test Time Timeout
    Transparent Typeclasses Undelimit Undo Unfocus Unfocused Universe Universes Unset Unshelve
    Variables Variant Verbose
"""
# Names of Coq and of the theories that files of cases use.
USED = """
    Along Assign_at Break Build_cone Continue E Eq False For Gt I IF If If_else In Known Lt Minus No
    None Num O Output Over PI Param Plus Point_zero Power Q R Rabs Return Rmax Rmin S Some Stop Text
    Times True Where While Whole Yes Z Z0 Zneg Zpos above above_threshold abs abs_of always andb
    anyhow app approximate_lengths_theorem approximate_privacy_theorem approximate_pufferfish
    approximate_pufferfish_theorem approximately_private ascii at_one_place at_values attempts below
    bernoulli binomial binomial_draw block bool bounds by_at_most by_domain certificate certs_of
    chance choice choose clamp clamp_geometric clamp_one_sided closed_theorem combine comparison
    conditional conditions conditions_of cone conj cons constants cos cover covering delta depth
    determined differences differential_privacy_theorem differentially_private distances_theorem
    distribution domain each_differs_by emissions enclosure entry entry_of eq_refl every_input
    every_length_theorem evidence ex_intro existsb exp expression false filter first_day
    first_outputs first_outputs_theorem flip fold_right forallb fst given hidden_markov id in_domain
    index initial inl inputs inr intervals intros invariant isin items k k0 kept kept_vectors
    label_at labels_of largest left lemmas len length lengths lengths_theorem levels_theorem lia
    list listed ln lra map matrix max max_of mechanism memory min min_of model move nat negation
    negative negb neighbours network nil noise noise_table noisy_max_first noisy_max_uniform normals
    nth numbers_of of_any_length one_answer one_differs_by option or_introl orb output pairs_with
    part_of parts point pow pred prior private probability prod program program_neighbours_theorem
    program_private program_pufferfish program_secrets_theorem proj1 proj2 proofs_of pufferfish
    pufferfish_theorem randomized_response range_of ratio ray_cone rays rays_of reach refine
    related_pairs repeat rev right row_of same secret secrets seq sequences_approximately_private
    sequences_private sequences_private_by sin slice slice_from snd sqrt statement states stopped
    string sum sum_of sum_proof sums sums_of symbols table_row texts then_do time_series total
    transitions true truncated_geometric truthful tt uniform unit up_to value variable_in vectors_of
    vm_cast_no_check weight weights weights_of word world worlds_of written_out
"""
# Those of files about inequalities.
CLAIMED = """
    by_claims by_exponents claim of_exponential positive_proof positives positives_of
"""
RESERVED = frozenset([*KEYWORDS.split(), *COMMANDS.split(), *USED.split(), *CLAIMED.split()])

Labels = Mapping[str, int]  # which whole number stands for a label


@dataclass(frozen=True)
class TheoremNames:
    """How names of one case are written; `labels` are the numbers of texts such as `flu`.

    Without `quotients`, no probability is divided by one with a parameter.
    """

    parameters: Mapping[str, str]
    variables: Mapping[str, str]
    labels: Labels
    quotients: bool = True

    def probability(self, text: str | int | Fraction) -> str:
        """Returns an expression over parameters as one of `case_scope`."""
        tree = parse(str(text))
        if not self.quotients and _has_quotient(tree.root):
            raise UnsupportedError("a probability is divided by a parameter")
        return _written(tree, tree.root, self._parameter, _REAL, _fraction)

    def polynomial(self, polynomial: Polynomial) -> str:
        """Returns a polynomial over parameters as an expression; a real number is written alike."""
        return self.probability(key(polynomial).replace("^", "**"))

    def quotient(self, given: RationalFunction) -> str:
        """Returns a quotient of polynomials."""
        top, bottom = self.polynomial(given.numerator), self.polynomial(given.denominator)
        return top if bottom == "1" else f"{top} / {bottom}"

    def whole(self, tree: Expression) -> str:
        """Returns an expression over variables of the prior as a whole number, at the world `w`."""
        return _written(tree, tree.root, self._variable, _WHOLE, self._whole)

    def condition(self, tree: Expression) -> str:
        """Returns a condition over variables of the prior, at the world `w`."""
        return self._condition(tree, tree.root)

    def number(self, value: Value) -> str:
        """Returns the whole number that a value is, or that stands for a label."""
        if not isinstance(value, str):
            return str(whole_number(value))
        if value not in self.labels:
            raise UnsupportedError(f"no value of the prior is the label {value!r:.60}")
        return str(self.labels[value])

    def _parameter(self, name: str) -> str:
        if name not in self.parameters:
            raise UnsupportedError(f"the theories have no words for {name} here")
        return self.parameters[name]

    def _variable(self, name: str) -> str:
        if name not in self.variables:
            raise UnsupportedError(f"the theories have no words for {name} here")
        return f"{self.variables[name]} w"

    def _whole(self, node: RationalConstant | Text) -> str:
        return self.number(node.value)

    def _condition(self, tree: Expression, node: Node) -> str:
        if isinstance(node, Operation) and node.operator in ("and", "or"):
            joint = " && " if node.operator == "and" else " || "
            return "(" + joint.join(self._condition(tree, part) for part in node.arguments) + ")"
        if isinstance(node, Operation) and node.operator == "not":
            return f"negb {self._condition(tree, node.arguments[0])}"
        if isinstance(node, Operation) and node.operator in _COMPARISONS:
            left, right = (
                _written(tree, part, self._variable, _WHOLE, self._whole) for part in node.arguments
            )
            return _COMPARISONS[node.operator].format(left, right)
        if isinstance(node, RationalConstant):
            return "true" if node.value else "false"
        raise UnsupportedError(f"the theories have no words for {tree.text!r:.60}")


_COMPARISONS = {
    "<": "({} <? {})",
    "<=": "({} <=? {})",
    ">": "({} >? {})",
    ">=": "({} >=? {})",
    "==": "({} =? {})",
    "!=": "negb ({} =? {})",
}
_REAL = frozenset({"+", "-", "*", "/", "**", "neg"})
_WHOLE = frozenset({"+", "-", "*", "neg", "min", "max", "abs"})


def whole_number(value: object) -> int:
    """Returns a value as a whole number.

    Raises:
        UnsupportedError: it is none.
    """
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    raise UnsupportedError(f"worlds have whole numbers, and {value!s:.40} is none")


def _has_quotient(node: Node) -> bool:
    if not isinstance(node, Operation):
        return False
    divided = node.operator == "/" and any(map(_has_name, node.arguments[1:]))
    return divided or any(map(_has_quotient, node.arguments))


def _has_name(node: Node) -> bool:
    return isinstance(node, Name) or (isinstance(node, Operation) and any(map(_has_name, node.arguments)))


def _fraction(node: RationalConstant | Text) -> str:
    if isinstance(node, Text):
        raise UnsupportedError("a label is not a probability")
    value = node.value
    return str(value.numerator) if value.denominator == 1 else f"({value.numerator} / {value.denominator})"


def _written(
    tree: Expression,
    node: Node,
    name: Callable[[str], str],
    known: frozenset[str],
    number: Callable[[RationalConstant | Text], str],
) -> str:
    if isinstance(node, RationalConstant | Text):
        return number(node)
    if isinstance(node, Name):
        return name(node.name)
    if node.operator not in known:
        raise UnsupportedError(f"the theories have no words for {tree.text!r:.60}")
    if node.operator == "**":
        power = node.arguments[1]
        if not isinstance(power, RationalConstant) or power.value.denominator != 1 or power.value < 0:
            raise UnsupportedError(f"the theories have no words for {tree.text!r:.60}")
        return f"({_written(tree, node.arguments[0], name, known, number)} ^ {power.value})"
    if node.operator == "+":
        return _total(node.arguments, lambda part: _written(tree, part, name, known, number))
    parts = [_written(tree, part, name, known, number) for part in node.arguments]
    if node.operator == "neg":
        return f"(0 - {parts[0]})"
    if node.operator in ("min", "max", "abs"):
        found = f"({parts[0]})"
        for part in parts[1:]:
            found = f"(Z.{node.operator} {found} ({part}))"
        return f"(Z.abs {found})" if node.operator == "abs" else found
    return "(" + f" {node.operator} ".join(parts) + ")"


def _total(terms: tuple[Node, ...], write: Callable[[Node], str]) -> str:
    """Returns a sum, with differences as such."""
    found = ""
    for term in terms:
        if isinstance(term, Operation) and term.operator == "neg":
            found = f"{found or '0'} - {write(term.arguments[0])}"
        else:
            found = f"{found} + {write(term)}" if found else write(term)
    return f"({found})"


def named(names: list[str], taken: frozenset[str] = RESERVED) -> dict[str, str]:
    """Returns how names are written in a file: each its own way."""
    found: dict[str, str] = {}
    for name in names:
        own = re.sub(r"[^A-Za-z0-9_]", "_", name)
        own = own if own[:1].isalpha() else f"n{own}"
        while own in taken or own in found.values() or own == "w":
            own += "_"
        found[name] = own
    return found


def comment(text: str) -> str:
    """Returns a text as a part of a comment, which it does not end."""
    plain = printable.escaped(text).replace("(*", "( *").replace("*)", "* )")
    return plain.replace('"', "'") + " " * plain.endswith("*")


MAX_POWER = 1_000  # Coq counts a power in steps of one

# Levels of Coq: a smaller one binds more tightly.
SUM, PRODUCT, NEGATIVE, POWER, APPLIED, ATOM = 50, 40, 35, 30, 10, 0

RELATIONS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "="}


@dataclass(frozen=True)
class Formulas:
    """Formulas over parameters and functions of a case; both `reals` and `functions` are written in Coq."""

    reals: Mapping[str, str]
    functions: Mapping[str, str]

    def lowered(self, tree: Expression, node: Node | None = None) -> Node:
        """Returns a formula with + * / neg, exp, and powers by whole numbers from 0 alone.

        Raises:
            UnsupportedError: it has something else.
        """
        node = tree.root if node is None else node
        if isinstance(node, RationalConstant):
            return node
        if isinstance(node, Name) and (node.name in self.reals or node.name in self.functions):
            return node
        if not isinstance(node, Operation):
            raise UnsupportedError(f"a theorem has no words for {tree.text!r:.60}")
        if node.operator == "**":
            power = evaluate(Expression(tree.text, node.arguments[1]))
            return raised(self.lowered(tree, node.arguments[0]), Fraction(power))
        if node.operator not in ("+", "*", "/", "neg", "exp"):
            raise UnsupportedError(f"a theorem has no words for {tree.text!r:.60}")
        return Operation(node.operator, tuple(self.lowered(tree, a) for a in node.arguments), node.column)

    def function(self, given: RationalFunction) -> Node:
        """Returns a function in lowest terms as a formula."""
        top, bottom = self.polynomial(given.numerator), self.polynomial(given.denominator)
        one = isinstance(bottom, RationalConstant) and bottom.value == 1
        return top if one else Operation("/", (top, bottom), 0)

    def polynomial(self, polynomial: Polynomial) -> Node:
        """Returns a polynomial as a formula."""
        return self.lowered(parse(key(polynomial).replace("^", "**")))

    def written(self, node: Node, level: int = SUM) -> str:
        """Returns a formula in the words of Coq, in brackets where it does not bind as tightly as `level`."""
        text, own = self._written(node)
        return text if own <= level else f"({text})"

    def _written(self, node: Node) -> tuple[str, int]:
        if isinstance(node, RationalConstant):
            return _number(node.value)
        if isinstance(node, Name):
            name = node.name
            text = self.functions[name] if name in self.functions else self.reals[name]
            return text, APPLIED if " " in text else ATOM
        assert isinstance(node, Operation)  # as `lowered` gives it
        first, *rest = node.arguments
        if node.operator == "+":
            text = self.written(first)
            for part in rest:
                if isinstance(part, Operation) and part.operator == "neg":
                    text += f" - {self.written(part.arguments[0], SUM - 1)}"
                else:
                    text += f" + {self.written(part, NEGATIVE - 1 if _is_negative(part) else SUM - 1)}"
            return text, SUM
        if node.operator == "exp":
            return f"exp ({self.written(first)})", APPLIED
        if node.operator == "neg":
            return f"- {self.written(first, NEGATIVE)}", NEGATIVE
        if node.operator == "**":
            power = rest[0]
            assert isinstance(power, RationalConstant)
            return f"{self.written(first, POWER - 1)} ^ {power.value}", POWER
        parts = [self.written(first, PRODUCT), *(self.written(part, POWER) for part in rest)]
        return f" {node.operator} ".join(parts), PRODUCT


def _is_negative(node: Node) -> bool:
    return isinstance(node, RationalConstant) and node.value < 0


def _number(value: Fraction) -> tuple[str, int]:
    sign = "- " if value < 0 else ""
    if value.denominator == 1:
        return f"{sign}{abs(value.numerator)}", NEGATIVE if sign else ATOM
    return f"{sign}{abs(value.numerator)} / {value.denominator}", PRODUCT


def raised(base: Node, power: Fraction) -> Node:
    """Returns a power; one below zero is one over that above zero.

    Raises:
        UnsupportedError: it is no whole number, or too large.
    """
    if power.denominator != 1 or abs(power) > MAX_POWER:
        raise UnsupportedError(f"a theorem has powers by whole numbers up to {MAX_POWER:,} alone")
    if power < 0:
        return Operation("/", (RationalConstant(Fraction(1), 0), raised(base, -power)), 0)
    return Operation("**", (base, RationalConstant(power, 0)), 0)


def divisors(node: Node) -> Iterator[Node]:
    """Yields what a formula divides by, rational numbers left out, those within others first."""
    if isinstance(node, Operation) and node.operator != "exp":
        for part in node.arguments:
            yield from divisors(part)
        if node.operator == "/" and not _is_rational(node.arguments[1]):
            yield node.arguments[1]


def exponentials(node: Node) -> Iterator[Operation]:
    """Yields the exponentials of a formula."""
    if isinstance(node, Operation):
        if node.operator == "exp":
            yield node
        else:
            for part in node.arguments:
                yield from exponentials(part)


def _is_rational(node: Node) -> bool:
    if isinstance(node, Operation):
        return node.operator != "exp" and all(map(_is_rational, node.arguments))
    return isinstance(node, RationalConstant)


def size_of(node: Node, sizes: Mapping[str, int]) -> int:
    """Returns how many operations, names and numbers a formula has; `sizes` are those of functions."""
    if isinstance(node, Operation):
        return 1 + sum(size_of(part, sizes) for part in node.arguments)
    return sizes.get(node.name, 1) if isinstance(node, Name) else 1


TIMES = "at most {times} times as likely"
ALIKE = f"{TIMES} under one secret of a pair as under the other one{{plus}}"
NEAR = f"{TIMES} for an input as for its neighbour{{plus}}"


@dataclass(frozen=True)
class StatedTheorem:
    """Definitions of a file, and what its theorem says.

    `claim` is the conclusion, with `{point}` for the values of the parameters, and with `{ratio}` and
    `{delta}`; `uses` is the theorem of the theories with its arguments. `told` says in words what is stated,
    with `{times}` for the ratio and `{plus}` for what comes besides. `words` says which files of the theories
    define what the file says. `as_model` is the reason why the case is told as a model, if it is.
    """

    definitions: tuple[str, ...]
    claim: str
    uses: str
    told: str
    words: str
    as_model: str = ""


def about_case(digest: str) -> str:
    """Returns the line of a file that says which case it is about."""
    return f"The digest of the case: {digest}"


def case_lines(digest: str, settings: Settings) -> str:
    """Returns the lines of a file that say which case it is about, and what of it is not of the file."""
    lines = [about_case(digest), *(comment(f"{note}.") for note in told(settings))]
    return "\n    ".join([*lines, *["The digest is one of the file and of what was set."] * bool(settings)])
