"""Reading formulas of dpCTL* and predicates over two states; mistakes are told with their place.

`!`, X, F and G bind strongest, then U, W and R (to the right), then `&`, `|`, `=>` and `<=>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.expressions import (
    Expression,
    evaluate,
    parse,
)
from paramverify.errors import ExpressionError, located
from paramverify.logic.conditions import Conditions
from paramverify.logic.parser import MAX_NESTED, error, parse_tree, span
from paramverify.logic.precedence import check_brackets
from paramverify.logic.syntax import (
    BoundRelation,
    Constant,
    Extreme,
    Formula,
    Index,
    Junction,
    Junctor,
    Label,
    Next,
    Not,
    Private,
    Probability,
    ProbabilityQuestion,
    Property,
    StateCondition,
    Until,
    children,
    is_state,
    parts,
)

Numbers = Callable[[], Mapping[str, int]]

MAX_PARTS = 20_000  # of a formula that is written out, which doubles with every `<=>`
MAX_STEPS = 1_000_000
MAX_DIGITS = 18  # of a number of steps


def read_property(text: str, numbers: Numbers = dict) -> Property:
    """Reads a property: a state formula, or a family `forall k in 0..9: ...`; without `in`, k is any number.

    `numbers` gives the constants of the model that may stand for numbers of steps.

    Raises:
        ExpressionError: a mistake, with line, column, and a mark under the place.
    """
    found = read_stated(text, numbers)
    if isinstance(found, ProbabilityQuestion):
        raise error(
            text, 0, f"{found.extreme}=? asks for a number and claims nothing: ask it with --property"
        )
    return found


def read_stated(text: str, numbers: Numbers = dict) -> Property | ProbabilityQuestion:
    """Reads a property, or a question `P=? [ ... ]`.

    Raises:
        ExpressionError: a mistake, with line, column, and a mark under the place.
    """
    tree = parse_tree(text, "property")
    found: list[object] = list(tree.children)
    marker, name, _, first, _, last, body = found if len(found) == 7 else [*[None] * 6, *found]
    check_brackets(text, body)
    reader = _TreeReader(text, str(name) if marker else None, numbers)
    asked = getattr(body, "data", "") == "question"
    if asked and marker is not None:
        raise error(text, span(marker)[0], "a question is about one formula: write it once for each number")
    try:
        formula = reader.question(body) if asked else reader.formula(body)
    except RecursionError:
        raise error(text, 0, f"operators nested deeper than {MAX_NESTED}") from None
    if isinstance(formula, ProbabilityQuestion):
        _check_size(text, formula.formula)
        reader.check(formula.formula)
        return formula
    _check_size(text, formula)
    if not is_state(formula):
        raise error(text, 0, "a path formula cannot be checked alone: put it into P>=... [ ] or D{...}[ ]")
    reader.check(formula)
    if marker is None:
        return Property(formula, text)
    for number in (first, last):
        if number is not None and len(str(number)) > MAX_DIGITS:
            raise error(text, span(number)[0], f"a number with more than {MAX_DIGITS} digits")
    low = int(str(first)) if first is not None else 0
    high = int(str(last)) if last is not None else None
    if high is not None and not low <= high:
        raise error(text, span(last)[0], "the range is empty")
    if not any(isinstance(p, Until) and name in (p.low.name, p.high and p.high.name) for p in parts(formula)):
        raise error(text, span(name)[0], f"{name} is not used as a number of steps")
    return Property(formula, text, str(name), low, high)


def read_predicate(text: str) -> Expression:
    """Reads a predicate over the variables of two states, those of the second with a prime.

    Raises:
        ExpressionError: a mistake, with line, column, and a mark under the place.
    """
    tree = parse_tree(text, "predicate")
    try:
        return Expression(text, _TreeReader(text, None, dict).truth(tree.children[0]))
    except RecursionError:
        raise error(text, 0, f"operators nested deeper than {MAX_NESTED}") from None


def _check_size(text: str, formula: Formula) -> None:
    """Refuses formulas that later steps, which recur on their parts, could not go through."""
    pending, count = [(formula, 0)], 0
    while pending:
        found, depth = pending.pop()
        count += 1
        if depth > MAX_NESTED:
            raise error(text, 0, f"operators nested deeper than {MAX_NESTED}")
        if count > MAX_PARTS:
            raise error(text, 0, f"written out, the formula has more than {MAX_PARTS:,} parts")
        pending += [(part, depth + 1) for part in children(found)]


def _extreme(word: object) -> Extreme:
    return Extreme("".join(str(word).split()))


def _known(number: Expression) -> Fraction | None:
    """Returns the value of a number without names, exp and ln."""
    try:
        return None if number.names() else Fraction(evaluate(number, {}))
    except (ExpressionError, ValueError):
        return None


class _TreeReader(Conditions):
    """Turns the tree of the parser library into ours; `numbers` are names for numbers of steps."""

    def __init__(self, text: str, variable: str | None, numbers: Numbers) -> None:
        super().__init__(text)
        self.variable = variable
        self.numbers = numbers

    def formula(self, tree: object) -> Formula:
        from lark import Token, Tree

        if isinstance(tree, Token):
            if tree.type in ("TRUE", "FALSE"):
                return Constant(tree.type == "TRUE")
            return Label(tree.strip('"'), tree.start_pos or 0, tree.type == "STRING")
        assert isinstance(tree, Tree)
        kind, found = str(tree.data), tree.children
        if kind in ("label", "group"):
            return self.formula(found[0])
        if kind == "not_":
            return Not(self.formula(found[0]))
        if kind in ("or_", "and_"):
            return Junction(Junctor.OR if kind == "or_" else Junctor.AND, tuple(map(self.formula, found)))
        if kind == "implies":
            left, right = map(self.formula, found)
            return Junction(Junctor.OR, (Not(left), right))
        if kind == "iff":
            return self.iff([self.formula(part) for part in found])
        if kind == "choice":
            condition, first, second = map(self.formula, found)
            taken = Junction(Junctor.AND, (condition, first)), Junction(Junctor.AND, (Not(condition), second))
            return Junction(Junctor.OR, taken)
        if kind == "truth":
            return self.truth_value(found)
        if kind == "next_":
            return Next(self.formula(found[1]))
        if kind == "eventually":
            word, bound, inner = found
            low, high = self.bound(bound)
            release = str(word) == "G"
            return Until(Constant(not release), self.formula(inner), low, high, release)
        if kind == "until":
            return self.until(found)
        if kind == "condition":
            return StateCondition(self.slice(tree), Expression(self.text, self.comparison(found)))
        if kind == "probability":
            return self.probability(found)
        if kind == "interval":
            return self.interval(found)
        assert kind == "private"
        return Private(self.number(found[1]), self.number(found[2]), self.formula(found[3]))

    def iff(self, found: list[Formula]) -> Formula:
        result = found[0]
        for other in found[1:]:
            both = Junction(Junctor.AND, (result, other))
            result = Junction(Junctor.OR, (both, Junction(Junctor.AND, (Not(result), Not(other)))))
        return result

    def until(self, found: list[object]) -> Formula:
        left, word, bound, right = found
        low, high = self.bound(bound)
        first, second = self.formula(left), self.formula(right)
        if str(word) == "U":
            return Until(first, second, low, high)
        if str(word) == "R":
            return Until(first, second, low, high, True)
        # a W b = b R (a | b), also with bounds from 0.
        if low != Index(None, 0):
            raise self.error(word, "W takes an upper bound only")
        return Until(second, Junction(Junctor.OR, (first, second)), low, high, True)

    def bound(self, tree: object) -> tuple[Index, Index | None]:
        from lark import Tree

        if tree is None:
            return Index(None, 0), None
        assert isinstance(tree, Tree)
        sign, *ends = [None, *tree.children] if isinstance(tree.children[0], Tree) else tree.children
        low, high = [*(self.index(part) if part is not None else None for part in ends), None][:2]
        assert low is not None
        if sign is None:
            if high is not None and low.name == high.name and low.offset > high.offset:
                raise self.error(tree, "an empty range of steps")
            if high is not None and low.name != high.name and high.name is None:
                raise self.error(tree, "the range of steps is empty for large members of the family")
            return low, high
        if str(sign) == "<" and low == Index(None, 0):
            raise self.error(tree, "an empty range of steps")
        return {
            "=": (low, low),
            "<=": (Index(None, 0), low),
            "<": (Index(None, 0), replace(low, offset=low.offset - 1)),
            ">=": (low, None),
            ">": (replace(low, offset=low.offset + 1), None),
        }[str(sign)]

    def index(self, tree: object) -> Index:
        from lark import Tree

        assert isinstance(tree, Tree)
        first, sign, step = [*tree.children, None, None][:3]
        if any(len(str(word)) > MAX_DIGITS and not str(word).isidentifier() for word in (first, step)):
            raise self.error(tree, f"more than {MAX_STEPS:,} steps")
        offset = int(str(step) if step is not None else 0) * (-1 if str(sign) == "-" else 1)
        if str(first).isdigit():
            if int(str(first)) > MAX_STEPS:
                raise self.error(tree, f"more than {MAX_STEPS:,} steps")
            return Index(None, int(str(first)))
        if str(first) != self.variable:
            return Index(None, self.constant(tree, str(first), offset))
        return Index(str(first), offset)

    def constant(self, tree: object, name: str, offset: int) -> int:
        """Returns a number of steps that a constant of the model tells."""
        known = self.numbers()
        if name not in known:
            raise self.error(tree, f"unknown number of steps {name}; write forall {name}: before the formula")
        steps = known[name] + offset
        if not 0 <= steps <= MAX_STEPS:
            raise self.error(tree, f"{steps:,} steps: at least 0 and at most {MAX_STEPS:,} are needed")
        return steps

    def probability(self, found: list[object]) -> Formula:
        """Reads P with a bound; Pmin and Pmax may be about some scheduler, which is a negation."""
        word, comparison, bound, path = found
        if str(comparison) not in list(BoundRelation):
            raise self.error(comparison, "P is compared with <, <=, > or >=, or has an interval: P[1/4, 3/4]")
        extreme, relation = _extreme(word), BoundRelation(str(comparison))
        share, formula = self.share(bound), self.formula(path)
        if extreme is Extreme.EACH or (extreme is Extreme.LEAST) == relation.is_lower:
            return Probability(relation, share, formula)
        return Not(Probability(relation.opposite, share, formula), f"{extreme}{relation}{share.text}")

    def question(self, tree: object) -> ProbabilityQuestion:
        """Reads P, Pmin or Pmax with a question mark."""
        from lark import Tree

        assert isinstance(tree, Tree)
        word, _, path = tree.children
        return ProbabilityQuestion(_extreme(word), self.formula(path), self.text)

    def truth_value(self, found: list[object]) -> Formula:
        """Reads a comparison of a truth value with true or false."""
        name, operator, value = found
        if str(operator) not in ("=", "==", "!="):
            raise self.error(operator, "truth values are compared with = and !=")
        label = Label(str(name), span(name)[0])
        return label if (str(operator) != "!=") == (str(value) == "true") else Not(label)

    def interval(self, found: list[object]) -> Formula:
        """Reads P with an interval: both bounds, each kept by every scheduler."""
        _, opening, first, second, closing, path = found
        low, high, formula = self.share(first), self.share(second), self.formula(path)
        above = BoundRelation.ABOVE if str(opening) == "(" else BoundRelation.AT_LEAST
        below = BoundRelation.BELOW if str(closing) == ")" else BoundRelation.AT_MOST
        ends = [_known(low), _known(high)]
        if None not in ends:
            start, end = ends
            assert start is not None
            assert end is not None
            if start > end or (start == end and (above.is_strict or below.is_strict)):
                raise self.error(opening, "the interval is empty")
        bounds = Probability(above, low, formula), Probability(below, high, formula)
        return Junction(Junctor.AND, bounds, f"{opening}{low.text}, {high.text}{closing}")

    def number(self, tree: object) -> Expression:
        """Reads a number of the case format: with parameters, exp and ln."""
        text = self.slice(tree)
        with located(key=f"in {text!r}"):
            return parse(text)

    def share(self, tree: object) -> Expression:
        """Reads a number that a probability is compared with."""
        number = self.number(tree)
        value = _known(number)
        if value is not None and not 0 <= value <= 1:
            raise self.error(tree, f"a probability lies in 0..1, not {number.text}")
        return number

    def check(self, formula: Formula) -> None:
        """Refuses primes, which belong to predicates."""
        for part in (formula, *children(formula)):
            for inner in parts(part):
                if isinstance(inner, StateCondition):
                    for name, node in inner.expression.names().items():
                        if name.endswith("'"):
                            raise error(self.text, node.column, "primes are for neighbourhoods only")
