"""What the variables of a program may be, wherever they are: their labels, and whether they are numbers.

All assignments to a variable count, in any order and on any path, so that this is more than what happens.
A list has the values of its entries. What is never equal by this is never equal in a run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from paramverify.algebra.expressions import Expression, Name, Text, Value
from paramverify.errors import ProgramError, located
from paramverify.models.names import as_value, nearest
from paramverify.models.programs.syntax import (
    Apply,
    Ask,
    Assign,
    Call,
    CalledProgram,
    CalledRow,
    Callee,
    Choice,
    Constant,
    For,
    Items,
    Literal,
    Node,
    Output,
    Program,
    Return,
    Statement,
    Variable,
    every_node,
    every_statement,
    nodes_of,
)

_SAME = ("==", "!=")
_AMONG = ("in", "not in")
_KEEPING = ("index", "slice", "min", "max", "clamp", "and", "or", "+", "*", "+=", "*=")
_LISTS = ("index", "slice", "min", "max")


@dataclass(frozen=True)
class Possible:
    """The labels that a value may be, and whether it may be a number, True or False."""

    labels: frozenset[str] = frozenset()
    number: bool = False
    anything: bool = False  # nothing is known of it

    @staticmethod
    def of(values: Iterable[Value | Constant]) -> Possible:
        """Returns what one of these values may be."""
        found = list(values)
        labels = frozenset(v for v in found if isinstance(v, str))
        return Possible(labels, any(not isinstance(v, str) for v in found))

    def __or__(self, other: Possible) -> Possible:
        anything = self.anything or other.anything
        return Possible(self.labels | other.labels, self.number or other.number, anything)

    def __bool__(self) -> bool:
        return bool(self.labels) or self.number or self.anything

    def meets(self, other: Possible) -> bool:
        """Tells whether both may be the same."""
        either = self.anything or other.anything
        return either or (self.number and other.number) or bool(self.labels & other.labels)


NOTHING = Possible()
NUMBER = Possible(number=True)
ANYTHING = Possible(anything=True)


@dataclass
class _ValueFinder:
    """Finds what the variables of a program may be; those of functions stand beside the function's name."""

    program: Program
    known: dict[tuple[str, str], Possible]
    returned: dict[str, Possible] = field(default_factory=dict)
    asked: dict[str, dict[str, Possible]] = field(default_factory=dict)  # arguments of programs that it calls
    changed: bool = True

    def settle(self) -> None:
        """Reads all assignments until nothing new is found."""
        while self.changed:
            self.changed = False
            for function, statement in _statements(self.program):
                self.statement(statement, function)

    def statement(self, statement: Statement, function: str) -> None:
        """Takes what a statement gives to variables, to the parameters of functions, and to who calls."""
        for node in nodes_of(statement):
            for inner in every_node(node):
                if isinstance(inner, Call):
                    names = self.program.functions[inner.name].parameters
                    for name, given in zip(names, inner.arguments, strict=False):
                        self.give(inner.name, name, self.value(given, function))
                if isinstance(inner, Ask):
                    self.ask(inner, function)
        if isinstance(statement, (Assign, For)):
            value = self.value(nodes_of(statement)[-1], function)
            for name in statement.names:
                self.give(function, name, value)
        if isinstance(statement, Return) and function:
            before = self.returned.get(function, NOTHING)
            self.returned[function] = before | self.value(statement.value, function)
            self.changed |= self.returned[function] != before

    def give(self, function: str, name: str, value: Possible) -> None:
        """Adds what a variable may be."""
        before = self.known.get((function, name), NOTHING)
        self.known[function, name] = before | value
        self.changed |= self.known[function, name] != before

    def ask(self, node: Ask, function: str) -> None:
        """Takes what the arguments of another program may be."""
        callee = self.program.calls[node.name]
        if isinstance(callee, CalledProgram):
            known = self.asked.setdefault(node.name, {})
            for name, given in zip(callee.inputs, node.arguments, strict=False):
                before = known.get(name, NOTHING)
                known[name] = before | self.value(given, function)
                self.changed |= known[name] != before

    def given_by(self, callee: Callee, name: str) -> Possible:
        """Returns what a mechanism may give that the program calls."""
        if isinstance(callee, CalledRow):
            return ANYTHING if callee.known is None else Possible.of(callee.known)
        inside = _ValueFinder(callee.program, _inputs(self.asked.get(name, {})))
        inside.settle()
        told = NOTHING
        for statement in every_statement(callee.program.body):
            if isinstance(statement, (Output, Return)):
                told |= inside.value(statement.value, "")
        return told

    def value(self, node: Node, function: str) -> Possible:
        """Returns what an expression may be."""
        match node:
            case Literal(value, _):
                return Possible.of([value])
            case Variable(name, _):
                return self.known.get((function, name)) or self.known.get(("", name), NUMBER)
            case Items(items, _):
                return self.any_of(items, function)
            case Choice(table, _):
                return Possible.of(value for value, _ in table)
            case Call(name, _, _):
                return self.returned.get(name, NOTHING)
            case Ask(name, _, _):
                return self.given_by(self.program.calls[name], name)
            case Apply("if", (_, yes, no), _):
                return self.any_of((yes, no), function)
            case Apply(word, arguments, _) if word in _KEEPING:
                inside = arguments[:1] if word in ("index", "slice") else arguments
                found = self.any_of(inside, function)
                return found if word in _LISTS else found | NUMBER
            case Apply():
                return NUMBER

    def any_of(self, nodes: Iterable[Node], function: str) -> Possible:
        """Returns what one of several expressions may be."""
        found = NOTHING
        for node in nodes:
            found |= self.value(node, function)
        return found

    def check(self, node: Apply, function: str) -> None:
        """Checks that a comparison may be true, for some values and on some path.

        Raises:
            ProgramError: it never is.
        """
        left, right = node.arguments
        if node.operator in _AMONG and isinstance(right, Items):
            pairs = [(left, item) for item in right.items]
        else:
            pairs = [(left, right)]
        for one, other in pairs:
            first, second = self.value(one, function), self.value(other, function)
            if not first or not second or first.meets(second):
                continue
            for literal, variable, possible in ((one, other, second), (other, one, first)):
                if isinstance(literal, Literal):
                    self.refuse(literal, variable, possible)
            if first.labels and second.labels:
                continue  # two variables, each with labels of its own
            told = "a label and a number are never the same"
            raise ProgramError(told, self.program.text, *node.place)

    def refuse(self, literal: Literal, other: Node, possible: Possible) -> None:
        """Refuses a value that another never is.

        Raises:
            ProgramError: always, but for what looks like a number; a comparison with a number refuses that.
        """
        who = other.name if isinstance(other, Variable) and not other.name.startswith("#") else "this"
        if isinstance(literal.value, str):
            if possible.number and not isinstance(as_value(literal.value), str):
                return
            shown = repr(literal.value)
            hint = nearest(literal.value, sorted(possible.labels)) if possible.labels else ": it is a number"
        else:
            shown = "True or False" if isinstance(literal.value, bool) else "a number"
            hint = nearest("", sorted(possible.labels))
        raise ProgramError(f"{who} is never {shown}{hint}", self.program.text, *literal.place)


def check_comparisons(program: Program, inputs: Mapping[str, Iterable[Value]]) -> None:
    """Checks that no comparison is with a label that the other side never is, nor of a label with a number.

    `inputs` are the values that each input may have: of an array, those of its entries.

    Raises:
        ProgramError: such a comparison, which is always false; what was misspelt is a label that nothing has.
    """
    _check(program, {name: Possible.of(values) for name, values in inputs.items()})


def _check(program: Program, inputs: Mapping[str, Possible]) -> None:
    reader = _ValueFinder(program, _inputs(inputs))
    reader.settle()
    for name, given in reader.asked.items():
        callee = program.calls[name]
        with located(key=callee.key, anchored=True):
            if isinstance(callee, CalledProgram):
                _check(callee.program, given)
    for function, statement in _statements(program):
        for node in nodes_of(statement):
            for inner in every_node(node):
                if isinstance(inner, Apply) and inner.operator in (*_SAME, *_AMONG):
                    reader.check(inner, function)


def whole_beside_parts(program: Program) -> list[str]:
    """Returns the lines that compare a `uniform(lo, hi)` with what may be a fraction, as if it were real.

    It stands there itself, or by the name of a variable that is nothing else.
    """
    lines, found = program.text.splitlines(), dict[str, None]()
    given: dict[tuple[str, str], list[Node | None]] = {}
    for function, statement in _statements(program):
        if isinstance(statement, (Assign, For)):
            alone = isinstance(statement, Assign) and len(statement.names) == 1 and not statement.indices
            for name in statement.names:
                value = statement.value if alone and isinstance(statement, Assign) else None
                given.setdefault((function, name), []).append(value)

    def drawn(node: Node, function: str) -> bool:
        values = given.get((function, node.name), [None]) if isinstance(node, Variable) else [node]
        return all(isinstance(v, Apply) and v.operator == "uniform" for v in values)

    for function, statement in _statements(program):
        for node in (inner for given_to in nodes_of(statement) for inner in every_node(given_to)):
            if isinstance(node, Apply) and node.operator in (*_SAME, "<", "<=", ">", ">="):
                for one, other in (node.arguments, node.arguments[::-1]):
                    if drawn(one, function) and _in_parts(other):
                        found[lines[one.place[0] - 1].strip()] = None
    return list(found)


def _in_parts(node: Node) -> bool:
    """Tells whether a value may be a fraction, by the numbers and the operators in it."""
    if isinstance(node, Literal):
        return type(node.value) is Fraction and node.value.denominator != 1
    if isinstance(node, Apply) and node.operator == "//":
        return False
    if isinstance(node, Apply) and node.operator == "/":
        values = [a.value for a in node.arguments if isinstance(a, Literal) and type(a.value) is Fraction]
        return len(values) < 2 or not values[1] or (values[0] / values[1]).denominator != 1
    return isinstance(node, Apply) and any(map(_in_parts, node.arguments))


def _inputs(given: Mapping[str, Possible]) -> dict[tuple[str, str], Possible]:
    """Returns inputs as variables of the program itself."""
    return {("", name): possible for name, possible in given.items()}


def possible_values(query: Expression, values: Mapping[str, Collection[Value]]) -> Collection[Value]:
    """Returns all that an expression may be, where its variables have these values; 0 stands for numbers."""
    if isinstance(query.root, Name) and query.root.name in values:
        return values[query.root.name]
    nodes = list(query.nodes())
    inside = {v for n in nodes if isinstance(n, Name) for v in values.get(n.name, ())}
    return {Fraction(0), *inside, *(n.value for n in nodes if isinstance(n, Text))}


def never_read(program: Program) -> list[str]:
    """Returns the variables to which a program assigns, and which nothing reads."""
    found: dict[tuple[str, str], None] = {}
    read: set[tuple[str, str]] = set()
    for function, statement in _statements(program):
        nodes = [inner for node in nodes_of(statement) for inner in every_node(node)]
        read |= {(function, node.name) for node in nodes if isinstance(node, Variable)}
        if isinstance(statement, Assign) and len(statement.names) == 1:
            found[function, statement.names[0]] = None
    return [name for function, name in found if _told(name) and (function, name) not in read]


def never_called(program: Program) -> list[str]:
    """Returns the mechanisms that a program may call, and that neither it nor one of these calls."""
    programs = [program, *(c.program for c in program.calls.values() if isinstance(c, CalledProgram))]
    asked = {
        inner.name
        for each in programs
        for _, statement in _statements(each)
        for node in nodes_of(statement)
        for inner in every_node(node)
        if isinstance(inner, Ask)
    }
    return [name for name in program.calls if name not in asked]


def _told(name: str) -> bool:
    """Tells whether a variable is one of the text that should be read: `_` and what begins so need not be."""
    return not name.startswith(("_", "#"))


def _statements(program: Program) -> Iterator[tuple[str, Statement]]:
    """Yields all statements, each beside the name of its function; "" is the program itself."""
    for name, body in (*((f.name, f.body) for f in program.functions.values()), ("", program.body)):
        yield from ((name, statement) for statement in every_statement(body))
