"""Reading formulas of dpCTL* and predicates over states.

From text to trees; mistakes are reported with their place.

`!`, X, F and G bind strongest, then U, W and R (to the right), then `&`, `|`, `=>` and `<=>`.

Formulas that PRISM reads with other brackets: they are refused, and both readings are shown.

PRISM lets X, F, G and U take as much as they can ([Kwiatkowska11]): `F a & b` is `F (a & b)` there, as in
Storm, and `a & b U c` is `(a & b) U c`. Here they bind more strongly than `&`, `|`, `=>` and `<=>`. PRISM
also lets `<=>` bind more strongly than `=>`. With brackets a formula has one reading.

What bare names in formulas stand for: labels, and in PRISM files truth values too ([Kwiatkowska11]).

In PRISM a name in quotes is a label, and a bare one is a variable, a formula or a constant. Here a bare name
may be a label as well. Where it may be both, and the two are not true in the same states, it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from paramverify.algebra.expressions import (
    Expression,
    Name,
    Node,
    Operation,
    RationalConstant,
    evaluate,
    exact_decimal,
    parse,
)
from paramverify.errors import CaseError, ExpressionError, located
from paramverify.logic.formula_syntax import (
    WORDS,
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
from paramverify.models.chains.markov_chains import Chain

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

if TYPE_CHECKING:
    Branch: TypeAlias = Tree[Token]

MAX_LENGTH = 5_000  # characters
MAX_DEPTH = 60  # nested brackets
MAX_NESTED = 100  # operators inside each other

GRAMMAR = rf"""
property: [FORALL NAME [IN INT DOTS [INT]] ":"] (formula | question)
predicate: or_
question: (P | PMIN | PMAX) ASKED "[" formula "]"

?formula: iff | iff "?" iff ":" formula -> choice
?iff: implies | implies ("<=>" implies)+ -> iff
?implies: or_ | or_ "=>" implies
?or_: and_ ("|" and_)*
?and_: until ("&" until)*
?until: unary | unary (U | W | R) [bound] until
?unary: "!" unary                     -> not_
    | X unary                         -> next_
    | (F | G) [bound] unary           -> eventually
    | "(" formula ")"                 -> group
    | TRUE | FALSE
    | NAME                            -> label
    | STRING                          -> label
    | sum COMPARISON sum              -> condition
    | NAME COMPARISON (TRUE | FALSE)  -> truth
    | (P | PMIN | PMAX) COMPARISON sum "[" formula "]" -> probability
    | P OPENING sum "," sum CLOSING "[" formula "]" -> interval
    | D "{{" sum "," sum "}}" "[" formula "]" -> private
bound: LIMIT index | "[" index "," [index] "]"
index: INT | NAME [SIGN INT]

?sum: product ((PLUS | MINUS) product)*
?product: factor ((TIMES | OVER) factor)*
?factor: MINUS factor                 -> negative
    | value
    | value "**" factor               -> power
?value: NUMBER | PRIMED | NAME | "(" chosen ")" | FUNCTION "(" sum ("," sum)* ")" -> call
?chosen: sum | iff "?" sum ":" chosen -> case

FORALL.2: /forall(?!\w)/
IN.2: /in(?!\w)/
DOTS: ".."
X.2: /X(?!\w)/
F.2: /F(?!\w)/
G.2: /G(?!\w)/
U.2: /U(?!\w)/
W.2: /W(?!\w)/
R.2: /R(?!\w)/
P.2: /P(?!\w)/
PMIN.3: /P\s*min(?!\w)/
PMAX.3: /P\s*max(?!\w)/
ASKED: /=\s*\?/
D.2: /D(?!\w)/
TRUE.2: /true(?!\w)/
FALSE.2: /false(?!\w)/
FUNCTION.2: /(abs|min|max|exp|ln)(?!\w)|(floor|ceil|mod)(?=\s*\()/
NAME: /(?!({"|".join(sorted(WORDS))}|abs|min|max|exp|ln)(?!\w)|(floor|ceil|mod)\s*\()[A-Za-z_]\w*(?!['\w])/
PRIMED: /[A-Za-z_]\w*'/
STRING: /"[^"\n]*"/
NUMBER: /[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![\w])/
INT: /[0-9]+(?!\w)/
COMPARISON: "<=" | ">=" | "==" | "!=" | "=" | "<" | ">"
LIMIT: "<=" | ">=" | "=" | "<" | ">"
OPENING: "[" | "("
CLOSING: "]" | ")"
SIGN: "+" | "-"
PLUS: "+"
MINUS: "-"
TIMES: "*"
OVER: "/"
%ignore /\s+/
"""

WORDING = {
    "NAME": "a name",
    "STRING": "a quoted label",
    "INT": "a whole number",
    "NUMBER": "a number",
    "OPENING": "[ or (",
    "CLOSING": "] or )",
}


# Formulas of PRISM about something else than probabilities of paths.
_UNREAD = re.compile(
    r"\s*(R\s*(?:\{[^}]*\}\s*)*(?:min|max)?\s*(?:=\s*\?|[<>])|S\s*(?:=\s*\?|[<>]=?[^\[\]]*)\s*\["
    r"|(?:filter|multi)\s*\()"
)
_UNREAD_WORDS = {"R": "rewards", "S": "long runs", "f": "filters", "m": "several objectives at once"}


@lru_cache(maxsize=1)
def _parser() -> Lark:
    from lark import Lark

    return Lark(GRAMMAR, parser="earley", start=["property", "predicate"], propagate_positions=True)


def error(text: str, column: int, reason: str) -> ExpressionError:
    """Returns an error that tells line and column, and shows the place."""
    line = text.count("\n", 0, column) + 1
    start = text.rfind("\n", 0, column) + 1
    shown = text.split("\n")[line - 1]
    return ExpressionError(f"line {line}, column {column - start + 1}: {reason}", shown, column - start)


def parse_tree(text: str, start: str) -> Branch:
    """Returns the tree of a `property` or a `predicate`.

    Raises:
        ExpressionError: a mistake, with line, column, and a mark under the place.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF

    if len(text) > MAX_LENGTH:
        raise error(text, MAX_LENGTH, f"longer than {MAX_LENGTH:,} characters")
    depth = 0
    for column, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth > MAX_DEPTH:
            raise error(text, column, f"brackets nested deeper than {MAX_DEPTH}")
    unread = _UNREAD.match(text)
    if unread:
        raise error(text, unread.start(1), f"{_UNREAD_WORDS[unread[1][0]]} are not read, P and D are")
    try:
        return _parser().parse(text, start=start)
    except UnexpectedCharacters as found:
        place = found.pos_in_stream or 0
        reason = f"unexpected {text[place]!r}{_mend(text, place) or _expected(found.allowed)}"
        raise error(text, place, reason) from None
    except UnexpectedEOF as found:
        raise error(text, len(text.rstrip()), f"the text ends too early{_expected(found.expected)}") from None
    except RecursionError:
        raise error(text, 0, f"operators nested deeper than {MAX_NESTED}") from None


def _mend(text: str, place: int) -> str:
    """Returns what to write instead, after frequent mistakes, or nothing."""
    percent = re.search(r"(?<![\d.])(\d+)\s*$", text[:place])
    if text[place] == "%" and percent:
        return f"; write {percent[1]}/100"
    if text[place] == ";":
        return "; end a formula without it, and give each formula in a separate --property"
    if text[place] == ":" and re.fullmatch(r'\s*"[^"]*"\s*', text[:place]):
        return "; a formula has no name here"
    alone = re.search(r"(?<!\w)D\s*\{([^{},]*)$", text[:place])
    if text[place] == "}" and alone:
        return f"; D needs epsilon and delta: D{{{alone[1].strip()}, 0}}[...]"
    return ""


def _expected(allowed: object) -> str:
    from lark import Lark

    if not isinstance(allowed, (set, frozenset, list, tuple)) or not allowed:
        return ""
    known = {t.name: t.pattern.value for t in _parser().terminals} if isinstance(_parser(), Lark) else {}
    words = set()
    for terminal in allowed:
        name = str(getattr(terminal, "name", terminal))
        value = known.get(name, name)
        words.add(WORDING.get(name) or (value if len(value) <= 4 and "\\" not in value else name.lower()))
    return f"; expected here: {', '.join(sorted(words))}" if len(words) <= 12 else ""


def span(tree: object) -> tuple[int, int]:
    """Returns where a tree or token starts and ends in the text."""
    from lark import Token, Tree

    if isinstance(tree, Token):
        return tree.start_pos or 0, tree.end_pos or 0
    if isinstance(tree, Tree) and not tree.meta.empty:
        return tree.meta.start_pos, tree.meta.end_pos
    return 0, 0


ARGUMENTS = {"abs": 1, "floor": 1, "ceil": 1, "mod": 2}


class Conditions:
    """Reads the conditions of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.in_case = 0  # how many conditions of `? :` this is in

    def comparison(self, found: list[object]) -> Node:
        left, operator, right = found
        word = str(operator).replace("==", "=").replace("=", "==").replace("<==", "<=").replace(">==", ">=")
        word = word.replace("!==", "!=")
        first, second = self.node(left), self.node(right)
        return Operation(word, (first, second), first.column)

    def node(self, tree: object) -> Node:
        """Reads arithmetic over state variables."""
        from lark import Token, Tree

        if isinstance(tree, Token):
            column = tree.start_pos or 0
            if tree.type == "NUMBER":
                try:
                    return RationalConstant(exact_decimal(str(tree)), column)
                except ValueError as reason:
                    raise self.error(tree, str(reason)) from None
            if tree.type in ("TRUE", "FALSE"):
                return RationalConstant(Fraction(tree.type == "TRUE"), column)
            return Name(str(tree), column)
        assert isinstance(tree, Tree)
        kind, found = str(tree.data), tree.children
        column = tree.meta.start_pos
        if kind == "negative":
            return Operation("neg", (self.node(found[1]),), column)
        if kind == "power":
            raise self.error(tree, "powers are not allowed in conditions on states")
        if kind == "call":
            word, *arguments = found
            if str(word) in ("exp", "ln"):
                raise self.error(tree, f"{word} is not allowed in conditions on states")
            count = ARGUMENTS.get(str(word), len(arguments))
            if len(arguments) != count:
                raise self.error(tree, f"{word} has {'one argument' if count == 1 else 'two arguments'}")
            return Operation(str(word), tuple(map(self.node, arguments)), column)
        if kind == "case":
            condition, first, second = found
            self.in_case += 1
            test = self.truth(condition)
            self.in_case -= 1
            return Operation("if", (test, self.node(first), self.node(second)), column)
        assert kind in ("sum", "product")
        result = self.node(found[0])
        for sign, part in zip(found[1::2], found[2::2], strict=True):
            value = self.node(part)
            if str(sign) == "-":
                value = Operation("neg", (value,), value.column)
            result = Operation(
                "/" if str(sign) == "/" else "*" if kind == "product" else "+", (result, value), column
            )
        return result

    def truth(self, tree: object) -> Node:
        """Reads a predicate: comparisons joined by `&`, `|`, `!`; before `?` truth values too."""
        from lark import Token, Tree

        if isinstance(tree, Tree):
            kind, found = str(tree.data), tree.children
            if kind == "group":
                return self.truth(found[0])
            if kind == "label":
                return self.truth(found[0])
            words = {"and_": "and", "or_": "or", "not_": "not"}
            if kind in words:
                return Operation(words[kind], tuple(map(self.truth, found)), tree.meta.start_pos)
            if kind == "condition":
                return self.comparison(found)
            if kind == "truth" and self.in_case:
                return self.comparison([found[0], found[1], found[2]])
            if kind == "implies":
                first, second = map(self.truth, found)
                return Operation("or", (Operation("not", (first,), first.column), second), first.column)
        elif self.in_case and isinstance(tree, Token) and tree.type in ("TRUE", "FALSE", "NAME"):
            return self.node(tree)
        raise self.error(tree, "a comparison of state variables is needed here, such as r = r'")

    def slice(self, tree: object) -> str:
        start, end = span(tree)
        return self.text[start:end]

    def error(self, tree: object, reason: str) -> ExpressionError:
        return error(self.text, span(tree)[0], reason)


JOINING = frozenset({"and_", "or_", "implies", "iff", "choice"})
UNARY = frozenset({"next_", "eventually"})


def check_brackets(text: str, tree: object) -> None:
    """Refuses a formula that PRISM reads otherwise.

    Raises:
        ExpressionError: with both readings, in brackets.
    """
    from lark import Tree

    for node in _trees(tree):
        if str(node.data) not in JOINING:
            continue
        for place, part in enumerate(node.children):
            last = place == len(node.children) - 1
            closed = last or (str(node.data) == "choice" and place == 1)  # a colon ends it
            taking = None if closed else _open_right(part)
            if taking is None and place > 0:
                taking = _open_left(part)
                if taking is not None:
                    raise _two_readings(text, node, taking, (span(node)[0], span(taking.children[0])[1]))
            elif taking is not None:
                raise _two_readings(text, node, taking, (span(taking.children[-1])[0], span(node)[1]))
            if str(node.data) == "iff" and isinstance(part, Tree) and str(part.data) == "implies":
                start = span(node)[0] if place else span(part.children[-1])[0]
                end = span(part.children[0])[1] if place else span(node)[1]
                raise _two_readings(text, node, part, (start, end))


def _two_readings(
    text: str, node: Tree[Token], part: Tree[Token], theirs: tuple[int, int]
) -> ExpressionError:
    """Returns the error: here a part is read as if it stood in brackets, in PRISM what `theirs` encloses."""
    start, end = span(node)

    def shown(inner: tuple[int, int]) -> str:
        low, high = inner
        return f"{text[start:low]}({text[low:high]}){text[high:end]}"

    place = span(part)[0]
    reason = (
        f"PRISM and paramverify read this in different ways: write {shown(theirs)} or {shown(span(part))}"
    )
    return error(text, place, reason)


def _open_right(tree: object) -> Tree[Token] | None:
    """Returns the operator at the right end of a formula that could take what follows."""
    while True:
        kind = _kind(tree)
        if kind in UNARY or kind == "until":
            return tree  # type: ignore[return-value]
        if kind not in JOINING and kind != "not_":
            return None
        tree = tree.children[-1]  # type: ignore[attr-defined]


def _open_left(tree: object) -> Tree[Token] | None:
    """Returns the U, W or R at the left end of a formula that could take what stands before."""
    while _kind(tree) in JOINING:
        tree = tree.children[0]  # type: ignore[attr-defined]
    return tree if _kind(tree) == "until" else None  # type: ignore[return-value]


def _kind(tree: object) -> str:
    return str(getattr(tree, "data", ""))


def _trees(tree: object) -> Iterator[Tree[Token]]:
    from lark import Tree

    pending = [tree]
    while pending:
        found = pending.pop()
        if isinstance(found, Tree):
            yield found
            pending += found.children


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


def conditions(found: Iterable[Formula]) -> dict[str, frozenset[str]]:
    """Returns the bare names and the conditions on states in formulas, each with the names in it."""
    result: dict[str, frozenset[str]] = {}
    for formula in found:
        for part in parts(formula):
            if isinstance(part, Label) and not part.quoted:
                result[part.name] = frozenset({part.name})
            elif isinstance(part, StateCondition):
                result[part.text] = frozenset(part.expression.names())
    return result


def resolved_property(found: Property, chain: Chain) -> Property:
    """Returns a property in which bare names of truth values are conditions on states.

    Raises:
        CaseError: a name that is a label and a truth value, or a variable with whole numbers.
    """
    return replace(found, formula=resolved(found.formula, chain))


def resolved_question(found: ProbabilityQuestion, chain: Chain) -> ProbabilityQuestion:
    """Returns a question in which bare names of truth values are conditions on states.

    Raises:
        CaseError: as `resolved_property` says.
    """
    return replace(found, path=resolved(found.path, chain))


def resolved(formula: Formula, chain: Chain) -> Formula:
    """Returns a formula in which bare names of truth values are conditions on states.

    On a Markov chain `Pmin` and `Pmax` are P.
    """
    if isinstance(formula, Label):
        return _label(formula, chain)
    if isinstance(formula, Not):
        inner = resolved(formula.inner, chain)
        if formula.written and isinstance(inner, Probability) and not chain.is_decision_process:
            return replace(inner, comparison=inner.comparison.opposite)
        return replace(formula, inner=inner)
    if isinstance(formula, Next):
        return replace(formula, inner=resolved(formula.inner, chain))
    if isinstance(formula, Junction):
        return replace(formula, parts=tuple(resolved(part, chain) for part in formula.parts))
    if isinstance(formula, Until):
        left, right = resolved(formula.left, chain), resolved(formula.right, chain)
        return replace(formula, left=left, right=right)
    if isinstance(formula, (Probability, Private)):
        return replace(formula, path=resolved(formula.path, chain))
    return formula


def _label(label: Label, chain: Chain) -> Formula:
    name = label.name
    if label.quoted:
        return label
    if name in chain.conditions:
        where: Set[int] = chain.conditions[name]
    elif name in chain.truths:
        where = {state for state, value in enumerate(chain.variables[name]) if value}
    elif name in chain.variables and name not in chain.labels:
        raise CaseError(f"{name} is a variable with whole numbers", mend=f"compare it, as in {name} = 1")
    else:
        return label
    if name in chain.labels and where != chain.labels[name]:
        raise CaseError(
            f"{name} is a label, and a formula or variable that is true in other states",
            mend=f'write "{name}" for the label, or give one of them another name',
        )
    one = RationalConstant(Fraction(1), label.column)
    test = Operation("==", (Name(name, label.column), one), label.column)
    return StateCondition(name, Expression(name, test))
