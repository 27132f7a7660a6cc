"""Programs of a case, their values and their runs in the words of `proofs/theories/`.

What the runs of a program are in the theories, at one point of the parameters.

`proofs/theories/Language.v` says the same in Coq, for all points. Here it is asked before a file is written:
whether a run meets an error, which outputs there are, how likely each is, and how many ways.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import comb, prod

from paramverify.algebra.expressions import Expression
from paramverify.algebra.polynomials import RationalFunction, Ring, to_rational_function, value_at
from paramverify.errors import InputError, UnsupportedError
from paramverify.models.programs import noisy_numbers
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.program_syntax import (
    Apply,
    Ask,
    Assign,
    Call,
    Choice,
    Constant,
    For,
    If,
    Items,
    Jump,
    Literal,
    Node,
    Output,
    Place,
    Program,
    Return,
    Statement,
    Variable,
    While,
    every_node,
    every_statement,
)
from paramverify.models.programs.run_states import Put, Symbol, Value
from paramverify.reports.theorems.coq_words import TheoremNames

UNBOUNDED = ("geometric", "one_sided_geometric", "laplace", "exponential", "gauss", "discrete_gaussian")
CLAMPED = {"geometric": "clamp_geometric", "one_sided_geometric": "clamp_one_sided"}
INFIX = {
    **{"+": "+", "-": "-", "*": "*", "/": "/", "//": "//", "%": "mod", "**": "^"},
    **{"==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="},
}
PREFIX = {
    **{"neg": "negative", "not": "negation", "in": "isin", "index": "index", "len": "len", "sum": "sum_of"},
    **{"abs": "abs_of", "flip": "flip", "uniform": "uniform", "binomial": "binomial_draw", "clamp": "clamp"},
}
FOLDED = {"and": "&&", "or": "||"}
EXTREMES = {"min": "min_of", "max": "max_of"}


def refused(what: str, place: Place) -> UnsupportedError:
    """Returns the reason why a program is not told in words of the theories."""
    return UnsupportedError(f"the theories have no words for line {place.line} of the program ({what})")


def split_noise(node: Apply) -> tuple[Node | None, Apply] | None:
    """Returns what `clamp` is applied to as a sum: what has no noise, and one unbounded noise.

    None where no such noise is there.

    Raises:
        UnsupportedError: the noise stands in another way.
    """
    value = node.arguments[0]
    drawn = [n for n in every_node(value) if isinstance(n, Apply) and n.operator in UNBOUNDED]
    if not drawn:
        return None
    found = _apart(value)
    if len(drawn) > 1 or found is None:
        raise refused(
            "inside of clamp, noise without ends is added to a number without noise, and to nothing else",
            node.place,
        )
    return found


def _apart(node: Node) -> tuple[Node | None, Apply] | None:
    if isinstance(node, Apply) and node.operator in CLAMPED:
        return None, node
    if not isinstance(node, Apply) or node.operator not in ("+", "-"):
        return None
    left, right = node.arguments
    if found := _apart(left):
        rest, noise = found
        sign = "neg" if node.operator == "-" else ""
        alone = Apply("neg", (right,), node.place) if sign else right
        return (alone if rest is None else Apply(node.operator, (rest, right), node.place)), noise
    if node.operator == "+" and (found := _apart(right)):
        rest, noise = found
        return (left if rest is None else Apply("+", (left, rest), node.place)), noise
    return None


@dataclass(frozen=True, eq=False)
class Writer:
    """Writes a program; `rounds` says how many tests a `while` at a place may have."""

    ring: Ring
    words: TheoremNames  # of the parameters
    variables: Collection[str]
    rounds: Mapping[Place, int] = field(default_factory=dict)

    @staticmethod
    def of(program: Program, inputs: Collection[str], ring: Ring, words: TheoremNames) -> Writer:
        """Returns the writer of a program.

        Raises:
            UnsupportedError: a name is a variable and a parameter.
        """
        names = set(inputs)
        for statement in every_statement(program.body):
            if isinstance(statement, (Assign, For)):
                names |= set(statement.names)
        for name in sorted(names & {*ring.parameters, *(u.name for u in ring.unbounded)}):
            raise UnsupportedError(f"{name} is a variable of the program, and a parameter")
        return Writer(ring, words, names)

    def known(self, node: Node) -> str | None:
        """Returns a number in the parameters that has `exp` in it; None: it has no `exp`.

        Raises:
            UnsupportedError: what stands in `exp` depends on a variable.
        """
        if not (isinstance(node, Apply) and node.operator == "exp"):
            return None
        found = self.function(node)
        if isinstance(found, Fraction):
            return self.number(found)
        top, bottom = self.words.polynomial(found.numerator), self.words.polynomial(found.denominator)
        return f"(Known ({top})%case)" if bottom == "1" else f"(Known ({top} / {bottom})%case)"

    def function(self, node: Node) -> Fraction | RationalFunction:
        """Returns a number in the parameters.

        Raises:
            UnsupportedError: it depends on a variable.
        """
        value = self.symbolic(node)
        if isinstance(value, Fraction):
            return value
        if not isinstance(value, Symbol):
            raise refused("exp", node.place)
        return to_rational_function(Expression("exp", value.tree), self.ring)

    def number_at(self, node: Node, point: Mapping[str, Fraction]) -> Fraction | None:
        """Returns a number in the parameters at a point; None for a name that is no variable of the ring."""
        if isinstance(node, Variable):
            return point.get(node.name)
        found = self.function(node)
        if isinstance(found, Fraction):
            return found
        return value_at(found.numerator, point) / value_at(found.denominator, point)

    def symbolic(self, node: Node) -> Value:
        """Returns an expression over parameters as a value."""
        match node:
            case Literal(value, _):
                return value
            case Variable(name, _) if name not in self.variables:
                return noisy_numbers.symbol(name)
            case Apply(operator, arguments, place):
                try:
                    return noisy_numbers.apply(operator, [self.symbolic(n) for n in arguments])
                except InputError as error:
                    raise refused(error.reason, place) from None
        raise refused("exp of a variable", node.place)

    def number(self, value: Fraction) -> str:
        """Returns a number of a program."""
        if value.denominator > 1:
            return f"({self.number(Fraction(value.numerator))} / {value.denominator})"
        return str(value) if value >= 0 else f"(Num ({value}))"

    def constant(self, value: Constant, place: Place) -> str:
        """Returns a constant of a program."""
        if isinstance(value, bool):
            return "Yes" if value else "No"
        if isinstance(value, Fraction):
            return self.number(value)
        return f"(Text {text(value, place)})"

    def term(self, node: Node) -> str:
        """Returns an expression.

        Raises:
            UnsupportedError: the theories have no words for it.
        """
        match node:
            case Literal(value, place):
                return self.constant(value, place)
            case Variable(name, place):
                return self.variable(name, place)
            case Items(items, _):
                return f"(items [{'; '.join(map(self.term, items))}])"
            case Choice(table, place):
                ways = "; ".join(f"({self.constant(v, place)}, {self.term(p)})" for v, p in table)
                return f"(choice [{ways}])"
            case Call(_, _, place):
                raise refused("a function of the program", place)
            case Ask(_, _, place):
                raise refused("another mechanism that is called", place)
            case Apply():
                return self.applied(node)

    def variable(self, name: str, place: Place) -> str:
        """Returns a variable, or a parameter."""
        if name in self.variables:
            return text(name, place)
        if name not in self.words.parameters:
            raise refused(f"{name} stands outside of exp", place)
        return f"(Known {self.words.parameters[name]})"

    def applied(self, node: Apply) -> str:
        """Returns an operator or a draw with its arguments."""
        if found := self.known(node):
            return found
        word = (
            node.operator.removesuffix("=")
            if node.operator not in ("==", "!=", "<=", ">=")
            else node.operator
        )
        if word == "clamp" and (apart := split_noise(node)):
            rest, noise = apart
            center = "0" if rest is None else self.term(rest)
            ends = " ".join(map(self.term, node.arguments[1:]))
            return f"({CLAMPED[noise.operator]} {center} {self.term(noise.arguments[0])} {ends})"
        given = [self.term(n) for n in node.arguments]
        if word in INFIX:
            return f"({f' {INFIX[word]} '.join(given)})"
        if word in FOLDED:
            return f"({f' {FOLDED[word]} '.join(given)})"
        if word in PREFIX:
            return f"({PREFIX[word]} {' '.join(given)})"
        if word in EXTREMES:
            return f"({EXTREMES[word]} [{'; '.join(given)}])"
        if word == "not in":
            return f"(negation (isin {' '.join(given)}))"
        if word == "if":
            return f"(Where {' '.join(given)})"
        if word == "slice":
            return f"({'slice' if len(given) == 3 else 'slice_from'} {' '.join(given)})"
        if word == "range":
            start, end, *step = given if len(given) > 1 else ["0", *given]
            return f"(range_of {start} {end} {step[0] if step else '1'})"
        raise refused(word, node.place)

    def block(self, body: tuple[Statement, ...], deep: int) -> str:
        """Returns statements as a list."""
        inside = "  " * deep
        lines = (line for statement in body for line in self.statement(statement, deep))
        return "[\n" + ";\n".join(inside + line for line in lines) + "]" if body else "[]"

    def statement(self, statement: Statement, deep: int) -> list[str]:
        """Returns a statement, which may become several ones.

        Raises:
            UnsupportedError: the theories have no words for it.
        """
        match statement:
            case Assign(names, indices, value, place):
                return self.assigned(names, indices, value, place)
            case If(test, then, (), _):
                return [f"If {self.term(test)} {self.block(then, deep + 1)}"]
            case If(test, then, otherwise, _):
                blocks = f"{self.block(then, deep + 1)} {self.block(otherwise, deep + 1)}"
                return [f"If_else {self.term(test)} {blocks}"]
            case For((name,), values, body, place):
                head = f"For {text(name, place)} {self.term(values)}"
                return [f"{head} {self.block(body, deep + 1)}"]
            case For(_, _, _, place):
                raise refused("a loop with several names", place)
            case While(test, body, place):
                head = f"While {self.rounds.get(place, 0)} {self.term(test)}"
                return [f"{head} {self.block(body, deep + 1)}"]
            case Jump(word, _):
                return [{"stop": "Stop", "break": "Break", "continue": "Continue"}[word]]
            case Output(value, _):
                return [f"Output {self.term(value)}"]
            case Return(value, _):
                return [f"Return {self.term(value)}"]

    def assigned(
        self, names: tuple[str, ...], indices: tuple[Node, ...], value: Node, place: Place
    ) -> list[str]:
        """Returns an assignment; several names at once get their values by way of others."""
        own = [text(name, place) for name in names]
        if len(indices) == 1:
            return [f"Assign_at {own[0]} {self.term(indices[0])} {self.term(value)}"]
        if indices:
            raise refused("an entry of a list inside of a list", place)
        if len(names) == 1:
            return [f"{own[0]} ::= {self.term(value)}"]
        if not isinstance(value, Items) or len(value.items) != len(names):
            raise refused("a list that is taken apart", place)
        kept = [text(f"#{name}", place) for name in names]
        first = [f"{k} ::= {self.term(v)}" for k, v in zip(kept, value.items, strict=True)]
        return [*first, *(f"{name} ::= {k}" for name, k in zip(own, kept, strict=True))]


def text(value: str, place: Place) -> str:
    """Returns a text in quotes.

    Raises:
        UnsupportedError: a character that is not among the printable ones of ASCII.
    """
    if not value.isascii() or not value.isprintable():
        raise refused("a label with other characters than those of ASCII", place)
    return '"' + value.replace('"', '""') + '"'


MAX_WAYS = 20_000  # that are followed in Coq, for all inputs
MAX_NUMBER = 10**6  # numbers of programs are small, so that Coq counts with them


@dataclass(frozen=True)
class TheoremNumber:
    """A number in the parameters, by its value at the point."""

    value: Fraction


Data = int | bool | str | TheoremNumber | tuple["Data", ...]
Way = tuple[Data, Fraction]  # a value, and how likely it is at the point


class Wrong(Exception):
    """A value that there is none of, in the theories."""


def kind_of(value: Data) -> object:
    """Returns what tells a value apart: True is not 1."""
    return tuple(map(kind_of, value)) if isinstance(value, tuple) else (type(value).__name__, value)


def data_of(value: Fraction | str | bool) -> Data:
    """Returns a constant as a value."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else TheoremNumber(value)
    return value


def put_out(value: Data) -> Put:
    """Returns a value as outputs of programs have it."""
    if isinstance(value, tuple):
        return tuple(map(put_out, value))
    assert not isinstance(value, TheoremNumber)
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value


def is_share(value: Data) -> bool:
    """Tells whether a value is a number in the parameters, or has one in it."""
    return isinstance(value, TheoremNumber) or (isinstance(value, tuple) and any(map(is_share, value)))


def share_of(value: Data) -> TheoremNumber | None:
    """Returns a number as one in the parameters; None: it is no number."""
    if isinstance(value, (bool, int)):
        return TheoremNumber(Fraction(value))
    return value if isinstance(value, TheoremNumber) else None


def truth_of(value: Data) -> bool | None:
    """Tells whether a value counts as true; None: that is not known."""
    return None if isinstance(value, TheoremNumber) else bool(value)


def needed(found: bool | None) -> bool:
    """Returns what is known of a condition."""
    if found is None:
        raise Wrong("a condition on a number in the parameters")
    return found


def _whole(value: Data) -> int:
    if not isinstance(value, int):
        raise Wrong("a whole number is needed here")
    return int(value)


def _list(value: Data) -> tuple[Data, ...]:
    if not isinstance(value, tuple):
        raise Wrong("a list is needed here")
    return value


def _same(a: Data, b: Data) -> bool:
    if isinstance(a, TheoremNumber) or isinstance(b, TheoremNumber):
        raise Wrong("a comparison of numbers in the parameters")
    if isinstance(a, tuple) and isinstance(b, tuple):
        found = [_same(x, y) for x, y in zip(a, b, strict=False)]
        if len(a) != len(b) and (any(map(is_share, a)) or any(map(is_share, b))):
            raise Wrong("a comparison of numbers in the parameters")
        return len(a) == len(b) and all(found)
    return a == b


_WHOLE: Mapping[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_REAL: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv},
    **{"**": lambda a, b: a ** int(b)},
}
_ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
}
DRAWS = ("flip", "uniform", "binomial")


def applied(word: str, given: Sequence[Data]) -> Data:
    """Applies an operator, as `applied` of the theory does."""
    if word not in ("==", "!=", "<=", ">="):
        word = word.removesuffix("=")
    match word, given:
        case "+", [tuple() as a, tuple() as b]:
            return (*a, *b)
        case "neg", [a]:
            return applied("-", [0, a])
        case "+" | "-" | "*" | "/" | "**", [a, b]:
            return _arithmetic(word, a, b)
        case "//" | "%", [a, b]:
            x, y = _whole(a), _whole(b)
            if not y:
                raise Wrong("division by zero")
            return x // y if word == "//" else x % y
        case "==" | "!=", [a, b]:
            return _same(a, b) == (word == "==")
        case "<" | "<=" | ">" | ">=", [a, b]:
            return _ORDERS[word](_whole(a), _whole(b))
        case "not", [a]:
            return not needed(truth_of(a))
        case "in" | "not in", [a, b]:
            found = [_same(a, entry) for entry in _list(b)]
            return any(found) == (word == "in")
        case "index", [a, k]:
            values, at = _list(a), _whole(k)
            if not -len(values) <= at < len(values):
                raise Wrong("an entry that a list does not have")
            return values[at]
        case "slice", [a, *ends]:
            start, *end = map(_whole, ends)
            return _list(a)[start : end[0]] if end else _list(a)[start:]
        case "len", [a]:
            return len(_list(a))
        case "sum", [a]:
            total: Data = 0
            for entry in _list(a):
                total = applied("+", [total, entry])
            return total
        case ("min" | "max") as word, _:
            return _extreme(word, _list(given[0]) if len(given) == 1 else given)
        case "clamp", [x, low, high]:
            return _extreme("max", [low, _extreme("min", [high, x])])
        case "abs", [a] if not isinstance(a, bool):
            return abs(_whole(a))
        case "range", _:
            return tuple(range(*map(_whole, given)))
    raise Wrong(word)


def _arithmetic(word: str, a: Data, b: Data) -> Data:
    if isinstance(a, int) and isinstance(b, int):
        if word in _WHOLE:
            return _small(_WHOLE[word](a, b))
        if word == "/" and b:
            return a // b if a % b == 0 else TheoremNumber(Fraction(a, b))
        if word == "**" and b >= 0 and (abs(a) <= 1 or b < 64):
            return _small(a**b)
        if word == "**" and b > -64 and a:
            return TheoremNumber(Fraction(a) ** b)
        raise Wrong("division by zero, or a large power")
    first, second = share_of(a), share_of(b)
    if first is None or second is None or (word == "**" and not (isinstance(b, int) and abs(b) < 64)):
        raise Wrong(word)
    if (word == "/" and not second.value) or (word == "**" and second.value < 0 and not first.value):
        raise Wrong("division by zero")
    return TheoremNumber(_REAL[word](first.value, second.value))


def _small(value: int) -> int:
    if abs(value) > MAX_NUMBER:
        raise Wrong("a large number")
    return int(value)


def _extreme(word: str, given: Sequence[Data]) -> int:
    if not given or any(isinstance(v, bool) or not isinstance(v, int) for v in given):
        raise Wrong(f"{word} of something else than whole numbers")
    values = [int(v) for v in given if isinstance(v, int)]
    return max(values) if word == "max" else min(values)


def drawn(word: str, given: Sequence[Data]) -> list[Way]:
    """Returns the outcomes of a draw."""
    if word == "uniform":
        low, high = map(_whole, given)
        if low > high:
            raise Wrong("a draw of nothing")
        if high - low > MAX_WAYS:
            raise Wrong("a draw with very many outcomes")
        return [(k, Fraction(1, high - low + 1)) for k in range(low, high + 1)]
    found = share_of(given[-1])
    if found is None:
        raise Wrong("a probability")
    p = found.value
    if word == "flip":
        return [(True, p), (False, 1 - p)]
    count = _whole(given[0])
    if not 0 <= count <= MAX_WAYS:
        raise Wrong("a draw with very many outcomes")
    return [(k, comb(count, k) * p**k * (1 - p) ** (count - k)) for k in range(count + 1)]


def clamped(noise: str, given: Sequence[Data]) -> list[Way]:
    """Returns the outcomes of noise inside of clamp."""
    center, ratio, low, high = (given[0], share_of(given[1]), *map(_whole, given[2:]))
    if ratio is None or high < low or high - low > MAX_WAYS:
        raise Wrong("clamp")
    x = _whole(center)
    if max(map(abs, (x, low, high))) > 1_000:
        raise Wrong("a large number")
    if noise == "geometric" and ratio.value == -1:
        raise Wrong("division by zero")
    reached = [
        Fraction(1),
        *(_at_least(noise, ratio.value, k - x) for k in range(low + 1, high + 1)),
        Fraction(0),
    ]
    return [(low + k, reached[k] - reached[k + 1]) for k in range(high - low + 1)]


def _at_least(noise: str, a: Fraction, d: int) -> Fraction:
    """Returns how likely noise is d or more."""
    if noise == "one_sided_geometric":
        return a**d if d >= 0 else Fraction(1)
    return a**d / (1 + a) if d >= 0 else 1 - a ** (1 - d) / (1 + a)


MAX_TESTS = 1_000  # of a loop


Memory = Mapping[str, Data]


@dataclass(frozen=True)
class TheoremState:
    """Where runs are, and how likely they are all together; `phase` is "" while they go on."""

    phase: str
    values: tuple[tuple[str, Data], ...]
    told: tuple[Data, ...]
    weight: Fraction = Fraction(1)

    @property
    def memory(self) -> dict[str, Data]:
        """The values of variables."""
        return dict(self.values)

    @property
    def key(self) -> object:
        """What tells it apart: True is not 1."""
        return self.phase, tuple((name, kind_of(v)) for name, v in self.values), kind_of(self.told)

    def storing(self, name: str, value: Data) -> TheoremState:
        """Returns the state after an assignment."""
        return replace(self, values=tuple({**self.memory, name: value}.items()))

    def turned(self, phase: str) -> TheoremState:
        """Returns the state in another phase."""
        return replace(self, phase=phase)

    def times(self, share: Fraction) -> TheoremState:
        """Returns the state of a part of the runs."""
        return replace(self, weight=self.weight * share)


def once(found: Iterable[TheoremState]) -> list[TheoremState]:
    """Returns each state once, with all its runs."""
    known: dict[object, TheoremState] = {}
    for s in found:
        same = known.get(s.key)
        known[s.key] = replace(same, weight=same.weight + s.weight) if same else s
    return list(known.values())


@dataclass
class TheoremRuns:
    """Follows the runs of a program with these variables.

    `known` are the numbers in the parameters at the point: names, and what has `exp` in it; None for what is
    none. `ways` counts the ways, and `rounds` has the number of tests of each `while`.
    """

    variables: Collection[str]
    known: Callable[[Node], Fraction | None]
    ways: int = 0
    rounds: dict[Place, int] = field(default_factory=dict)

    def outputs(self, body: Sequence[Statement], memory: Memory) -> dict[str, Fraction]:
        """Returns all outputs of a program that starts with these values, in words, and their probabilities.

        Raises:
            UnsupportedError: a run meets what the theories have no words for, or there are too many.
        """
        start = TheoremState("", tuple(memory.items()), ())
        found: dict[str, Fraction] = {}
        for s in self.block(body, start):
            word = shown_output(tuple(map(put_out, s.told)))
            found[word] = found.get(word, Fraction(0)) + s.weight
        return found

    def block(self, body: Sequence[Statement], start: TheoremState) -> list[TheoremState]:
        """Returns where statements lead."""
        found = [start]
        for statement in body:
            found = once(new for s in found for new in ([s] if s.phase else self.statement(statement, s)))
        return found

    def statement(self, statement: Statement, s: TheoremState) -> Iterator[TheoremState]:
        """Yields where one statement leads."""
        match statement:
            case Assign(names, (), Items(items, place), _) if len(names) > 1:
                for given, share in self.all(items, s, place):
                    after = s.times(share)
                    for name, value in zip(
                        [*(f"#{n}" for n in names), *names], [*given, *given], strict=True
                    ):
                        after = after.storing(name, value)
                    yield after
            case Assign((name,), (), value, place):
                for found, share in self.values(value, s, place):
                    yield s.times(share).storing(name, found)
            case Assign((name,), (index,), value, place):
                for (found, k), share in self.all((value, index), s, place):
                    entry = self.replaced(s.memory.get(name), k, found, place)
                    yield s.times(share).storing(name, entry)
            case If(test, then, otherwise, place):
                for yes, share in self.tests(test, s, place):
                    yield from self.block(then if yes else otherwise, s.times(share))
            case For((name,), values, body, place):
                for listed, share in self.values(values, s, place):
                    if not isinstance(listed, tuple):
                        raise refused("a loop over something else than a list", place)
                    yield from self.looped(name, listed, body, s.times(share))
            case While(test, body, place):
                yield from self.repeated(test, body, s, place)
            case Jump(word, _):
                yield s.turned(word)
            case Output(value, place) | Return(value, place):
                for found, share in self.values(value, s, place):
                    if is_share(found):
                        raise refused("an output that is neither a whole number nor a label", place)
                    ended = "stop" if isinstance(statement, Return) else ""
                    yield TheoremState(ended, s.values, (*s.told, found), s.weight * share)
            case _:
                raise refused("several names at once", statement.place)

    def replaced(self, value: Data | None, k: Data, entry: Data, place: Place) -> Data:
        """Returns a list with another entry."""
        if not isinstance(value, tuple) or not isinstance(k, int) or not -len(value) <= k < len(value):
            raise refused("an entry that a list does not have", place)
        k %= len(value)
        return (*value[:k], entry, *value[k + 1 :])

    def looped(
        self, name: str, listed: Sequence[Data], body: Sequence[Statement], s: TheoremState
    ) -> list[TheoremState]:
        """Returns where a loop leads."""
        going, done = [s], []
        for value in listed:
            after = [new for g in going for new in self.block(body, g.storing(name, value))]
            going, left = self.sorted(after)
            done += left
        return [*done, *going]

    def repeated(
        self, test: Node, body: Sequence[Statement], s: TheoremState, place: Place
    ) -> list[TheoremState]:
        """Returns where a `while` leads."""
        going, done = [s], []
        tests = 0
        while going:
            tests += 1
            if tests > MAX_TESTS:
                raise refused("a loop with too many rounds", place)
            self.rounds[place] = max(self.rounds.get(place, 0), tests)
            inside: list[TheoremState] = []
            for g in going:
                for yes, share in self.tests(test, g, place):
                    inside += self.block(body, g.times(share)) if yes else []
                    done += [] if yes else [g.times(share)]
            going, left = self.sorted(inside)
            done += left
        return done

    def sorted(self, found: Sequence[TheoremState]) -> tuple[list[TheoremState], list[TheoremState]]:
        """Returns the runs that go on with a loop, and those that leave it."""
        going = once(s.turned("") for s in found if s.phase in ("", "continue"))
        left = once(s.turned("") if s.phase == "break" else s for s in found if s.phase in ("break", "stop"))
        return going, left

    def tests(self, test: Node, s: TheoremState, place: Place) -> list[tuple[bool, Fraction]]:
        """Returns which ways a test may go."""
        found: dict[bool, Fraction] = {}
        for value, share in self.values(test, s, place):
            yes = truth_of(value)
            if yes is None:
                raise refused("a condition on a number in the parameters", place)
            found[yes] = found.get(yes, Fraction(0)) + share
        return list(found.items())

    def values(self, node: Node, s: TheoremState, place: Place) -> list[Way]:
        """Returns the values of an expression, each once.

        Raises:
            UnsupportedError: the theories have no words for one.
        """
        try:
            ways = self.ways_of(node, s.memory)
        except Wrong as wrong:
            raise refused(str(wrong), place) from None
        found: dict[object, Way] = {}
        for value, share in ways:
            key = kind_of(value)
            found[key] = value, share + (found[key][1] if key in found else 0)
        return list(found.values())

    def all(
        self, nodes: Sequence[Node], s: TheoremState, place: Place
    ) -> list[tuple[tuple[Data, ...], Fraction]]:
        """Returns the values of several expressions."""
        return together(self.values(n, s, place) for n in nodes)

    def ways_of(self, node: Node, memory: Memory) -> list[Way]:
        """Returns the values of an expression, one for each way."""
        match node:
            case Literal(value, _):
                found: list[Way] = [(data_of(value), Fraction(1))]
            case Variable(name, _):
                if name in self.variables and name not in memory:
                    raise Wrong(f"{name} has no value")
                found = [(memory[name] if name in memory else self.share(node), Fraction(1))]
            case Items(items, _):
                found = [(values, share) for values, share in self.given(items, memory)]
            case Choice(table, _):
                found = []
                for probabilities, share in self.given([p for _, p in table], memory):
                    for (outcome, _), p in zip(table, probabilities, strict=True):
                        number = share_of(p)
                        if number is None:
                            raise Wrong("a probability")
                        found.append((data_of(outcome), share * number.value))
            case Apply(("and" | "or") as word, (first, *rest), place):
                last = Apply(word, tuple(rest), place) if len(rest) > 1 else rest[0]
                found = []
                for v, share in self.ways_of(first, memory):
                    decided = needed(truth_of(v)) != (word == "and")
                    found += [(v, share)] if decided else scaled(self.ways_of(last, memory), share)
            case Apply("if", (test, yes, no), _):
                found = []
                for v, share in self.ways_of(test, memory):
                    found += scaled(self.ways_of(yes if needed(truth_of(v)) else no, memory), share)
            case Apply("exp", _, _):
                found = [(self.share(node), Fraction(1))]
            case Apply("clamp", arguments, _) if apart := split_noise(node):
                center, noise = apart
                nodes = (center or Literal(Fraction(0), node.place), noise.arguments[0], *arguments[1:])
                found = []
                for given, share in self.given(nodes, memory):
                    found += scaled(clamped(noise.operator, given), share)
            case Apply(word, arguments, _):
                found = []
                for given, share in self.given(arguments, memory):
                    ways = drawn(word, given) if word in DRAWS else [(applied(word, given), Fraction(1))]
                    found += scaled(ways, share)
            case _:
                raise Wrong("a call")
        self.ways += len(found)
        if self.ways > MAX_WAYS:
            raise UnsupportedError(f"it has more than {MAX_WAYS:,} ways, too many to be followed in Coq")
        return found

    def given(self, nodes: Sequence[Node], memory: Memory) -> list[tuple[tuple[Data, ...], Fraction]]:
        """Returns the values of several expressions, one for each way."""
        return together(self.ways_of(n, memory) for n in nodes)

    def share(self, node: Node) -> TheoremNumber:
        """Returns a number in the parameters."""
        found = self.known(node)
        if found is None:
            raise Wrong(f"{node.name} stands outside of exp" if isinstance(node, Variable) else "exp")
        return TheoremNumber(found)


def together(listed: Iterable[Sequence[Way]]) -> list[tuple[tuple[Data, ...], Fraction]]:
    """Returns the values of several expressions, whose draws are independent."""
    return [
        (tuple(v for v, _ in ways), prod((p for _, p in ways), start=Fraction(1)))
        for ways in product(*listed)
    ]


def scaled(ways: Iterable[Way], share: Fraction) -> list[Way]:
    """Returns ways of a part of the runs."""
    return [(value, p * share) for value, p in ways]
