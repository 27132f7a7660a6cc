"""Programs of a case in the words of `proofs/theories/Language.v`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from paramverify.algebra.polynomials import RationalFunction, Ring, to_rational_function, value_at
from paramverify.algebra.trees import Expression
from paramverify.errors import InputError, UnsupportedError
from paramverify.models.programs import arithmetic
from paramverify.models.programs.syntax import (
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
from paramverify.models.programs.values import Symbol, Value
from paramverify.reports.theorems.words import TheoremNames

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
                return arithmetic.symbol(name)
            case Apply(operator, arguments, place):
                try:
                    return arithmetic.apply(operator, [self.symbolic(n) for n in arguments])
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
                raise refused("a function of its own", place)
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
