"""What is known of a program before it runs.

Which variables it still reads, what they may be, and whether lists are shared.

Which variables a program may still read: what nothing reads is forgotten, and its noise summed out.

A cell is a variable, an entry of a list by its number, or the length of a list; what is read without a known
number is the whole list.

What the variables of a program may be, wherever they are: their labels, and whether they are numbers.

All assignments to a variable count, in any order and on any path, so that this is more than what happens.
A list has the values of its entries. What is never equal by this is never equal in a run.

Lists are values here and references in Python: programs in which that would make a difference are refused.

`x[i] = v` changes a list in place. It means the same in both languages if no other name can reach the list.
So a list that is changed has to be made for its name (written out, or by `+`, `*` or a part of another one),
and nothing else may hold it. Levels count from outside: a list is level 0, the lists in it are level 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from paramverify.algebra.expressions import Expression, Name, Text, Value
from paramverify.errors import ProgramError, located
from paramverify.models.names import as_value, nearest
from paramverify.models.programs.program_syntax import (
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
    Function,
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
    nodes_of,
)

WHOLE = -1
LENGTH = -2
Cell = tuple[str, int]
Live = frozenset[Cell]

NOTHING: Live = frozenset()


@dataclass(frozen=True)
class After:
    """What is read after a block, by the way in which it is left."""

    end: Live = NOTHING
    on_break: Live = NOTHING
    on_continue: Live = NOTHING
    on_return: Live = NOTHING


def read_by(node: Node) -> set[Cell]:
    """Returns the cells that an expression may read."""
    found: set[Cell] = set()
    stack: list[Node] = [node]
    while stack:
        inner = stack.pop()
        match inner:
            case Variable():
                found.add((inner.name, WHOLE))
            case Apply("index", (Variable() as base, Literal() as index), _) if _is_number(index):
                found.add((base.name, int(index.value)))
            case Apply("len", (Variable() as base,), _):
                found.add((base.name, LENGTH))
            case Apply() | Call() | Ask():
                stack.extend(inner.arguments)
            case Items():
                stack.extend(inner.items)
            case Choice():
                stack.extend(p for _, p in inner.table)
    return found


def _is_number(literal: Literal) -> bool:
    value = literal.value
    return not isinstance(value, (str, bool)) and value.denominator == 1 and value >= 0


def before(statements: Sequence[Statement], after: After) -> list[Live]:
    """Returns what is read from each statement of a block on, and at its end."""
    found = [after.end]
    for statement in reversed(statements):
        found.append(_before(statement, found[-1], after))
    return found[::-1]


def _before(statement: Statement, end: Live, after: After) -> Live:
    match statement:
        case Assign():
            return _before_assign(statement, end)
        case Output():
            return end | read_by(statement.value)
        case Return():
            return after.on_return | read_by(statement.value)
        case Jump("break", _):
            return after.on_break
        case Jump("continue", _):
            return after.on_continue
        case Jump():
            return NOTHING
        case If():
            inner = After(end, after.on_break, after.on_continue, after.on_return)
            then, other = (before(block, inner)[0] for block in (statement.then, statement.otherwise))
            return then | other | read_by(statement.test)
        case For() | While():
            return before_loop(statement, end, after)


def _before_assign(statement: Assign, end: Live) -> Live:
    read = read_by(statement.value).union(*(read_by(i) for i in statement.indices))
    if not statement.indices:
        return frozenset(c for c in end if c[0] not in statement.names) | read
    (name,) = statement.names
    index = statement.indices[0]
    known = len(statement.indices) == 1 and isinstance(index, Literal) and _is_number(index)
    gone = (name, int(index.value)) if known and isinstance(index, Literal) else None
    return frozenset(c for c in end if c != gone) | read | {(name, LENGTH)}


def before_loop(statement: For | While, end: Live, after: After) -> Live:
    """Returns what is read from the start of a loop on, by all its turns."""
    given = read_by(statement.values if isinstance(statement, For) else statement.test)
    live = end | (given if isinstance(statement, While) else NOTHING)
    while True:
        inner = before(statement.body, After(live, end, live, after.on_return))[0]
        if isinstance(statement, For):
            inner = frozenset(c for c in inner if c[0] not in statement.names)
        more = live | inner
        if more == live:
            return live | given
        live = more


def substituted(statements: Iterable[Statement], values: Mapping[str, Literal]) -> tuple[Statement, ...]:
    """Returns a block with known numbers in the place of variables."""
    return tuple(_in_statement(s, values) for s in statements)


def _in_statement(statement: Statement, values: Mapping[str, Literal]) -> Statement:
    def put(node: Node) -> Node:
        return _in_node(node, values)

    match statement:
        case Assign(names, indices, value, place):
            return Assign(names, tuple(map(put, indices)), put(value), place)
        case If(test, then, otherwise, place, part):
            return If(put(test), substituted(then, values), substituted(otherwise, values), place, part)
        case For(names, given, body, place):
            return For(names, put(given), substituted(body, values), place)
        case While(test, body, place):
            return While(put(test), substituted(body, values), place)
        case Output(value, place):
            return Output(put(value), place)
        case Return(value, place):
            return Return(put(value), place)
        case Jump():
            return statement


def _in_node(node: Node, values: Mapping[str, Literal]) -> Node:
    match node:
        case Variable(name, place):
            return Literal(values[name].value, place) if name in values else node
        case Apply(operator, arguments, place):
            return Apply(operator, tuple(_in_node(a, values) for a in arguments), place)
        case Call(name, arguments, place):
            return Call(name, tuple(_in_node(a, values) for a in arguments), place)
        case Ask(name, arguments, place):
            return Ask(name, tuple(_in_node(a, values) for a in arguments), place)
        case Items(items, place):
            return Items(tuple(_in_node(i, values) for i in items), place)
        case Choice(table, place):
            return Choice(tuple((v, _in_node(p, values)) for v, p in table), place)
        case Literal():
            return node


def assigned_in(statements: Iterable[Statement]) -> set[str]:
    """Returns the variables to which a block assigns, in part or as a whole."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case Assign():
                found.update(statement.names)
            case If():
                found |= assigned_in((*statement.then, *statement.otherwise))
            case For():
                found.update(statement.names)
                found |= assigned_in(statement.body)
            case While():
                found |= assigned_in(statement.body)
            case _:
                pass
    return found


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


NOTHING_POSSIBLE = Possible()
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
            before = self.returned.get(function, NOTHING_POSSIBLE)
            self.returned[function] = before | self.value(statement.value, function)
            self.changed |= self.returned[function] != before

    def give(self, function: str, name: str, value: Possible) -> None:
        """Adds what a variable may be."""
        before = self.known.get((function, name), NOTHING_POSSIBLE)
        self.known[function, name] = before | value
        self.changed |= self.known[function, name] != before

    def ask(self, node: Ask, function: str) -> None:
        """Takes what the arguments of another program may be."""
        callee = self.program.calls[node.name]
        if isinstance(callee, CalledProgram):
            known = self.asked.setdefault(node.name, {})
            for name, given in zip(callee.inputs, node.arguments, strict=False):
                before = known.get(name, NOTHING_POSSIBLE)
                known[name] = before | self.value(given, function)
                self.changed |= known[name] != before

    def given_by(self, callee: Callee, name: str) -> Possible:
        """Returns what a mechanism may give that the program calls."""
        if isinstance(callee, CalledRow):
            return ANYTHING if callee.known is None else Possible.of(callee.known)
        inside = _ValueFinder(callee.program, _inputs(self.asked.get(name, {})))
        inside.settle()
        told = NOTHING_POSSIBLE
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
                return self.returned.get(name, NOTHING_POSSIBLE)
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
        found = NOTHING_POSSIBLE
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
            told = "a label is compared with a number, which it never equals"
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
            hint = (
                nearest(literal.value, sorted(possible.labels)) if possible.labels else f": {who} is a number"
            )
        else:
            shown = "True or False" if isinstance(literal.value, bool) else "a number"
            hint = nearest("", sorted(possible.labels))
        raise ProgramError(
            f"{who} is compared with {shown}, which it never equals{hint}", self.program.text, *literal.place
        )


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


Levels = dict[str, int]  # for each name the outermost level that is shared
Passes = Callable[[str, int], bool]  # whether a name may give so many levels away

_SAME_OBJECT = ("if", "and", "or")  # the value is one of the arguments


def check_sharing(program: Program, inputs: Collection[str]) -> None:
    """Checks that no list that is changed in place can be reached by two names.

    Raises:
        ProgramError: one can, with the place, and what to write instead.
    """
    functions = _Functions(program.functions)
    scopes = [_Scope(functions, program.body, "", frozenset(inputs))]
    scopes += [_Scope(functions, f.body, n, frozenset(f.parameters)) for n, f in program.functions.items()]
    while True:
        known = (dict(functions.fresh), [dict(s.changed) for s in scopes])
        problems = [p for s in scopes for p in s.problems()]
        if known == (functions.fresh, [s.changed for s in scopes]):
            break
    if problems:
        reason, place = min(problems, key=lambda p: p[1])
        raise ProgramError(reason, program.text, *place)


def check_names(program: Program, parameters: Collection[str]) -> None:
    """Checks that no parameter of the case is assigned to.

    Raises:
        ProgramError: one is.
    """
    for body in (program.body, *(f.body for f in program.functions.values())):
        for found in every_statement(body):
            taken = set(found.names) & set(parameters) if isinstance(found, (Assign, For)) else ()
            for name in taken:
                reason = f"{name} is already a parameter or a definition of the case: choose another name"
                raise ProgramError(reason, program.text, *found.place)


@dataclass(eq=False)
class _Functions:
    """What is known of functions: which parameters their values share, and how new their values must be."""

    functions: Mapping[str, Function]
    fresh: Levels = field(default_factory=dict)  # levels of the value that the caller changes
    known: dict[str, Levels] = field(default_factory=dict)

    def need(self, name: str, levels: int) -> None:
        self.fresh[name] = max(levels, self.fresh.get(name, 0))

    def shared(self, name: str) -> Levels:
        """Returns the parameters that a function's value may share, with their outermost level."""
        if name not in self.known:
            function = self.functions[name]
            held: dict[str, Levels] = {p: {p: 0} for p in function.parameters}
            result: Levels = {}
            changed = True
            while changed:
                before = (repr(held), repr(result))
                for statement in every_statement(function.body):
                    for target, levels in self._given(statement):
                        into = result if target is None else held.setdefault(target, {})
                        for other, level in levels.items():
                            for parameter, inner in held.get(other, {}).items():
                                _lower(into, parameter, min(level + inner, 99))
                changed = before != (repr(held), repr(result))
            self.known[name] = result
        return self.known[name]

    def _given(self, statement: Statement) -> Iterator[tuple[str | None, Levels]]:
        if isinstance(statement, Return):
            yield None, self.levels(statement.value)
        elif isinstance(statement, Assign) and len(statement.names) == 1:
            yield statement.names[0], self.levels(statement.value)
        elif isinstance(statement, Assign):
            for name in statement.names:
                yield name, self.levels(statement.value)
        elif isinstance(statement, For):
            for name in statement.names:
                yield name, self.entries(statement.values)

    def levels(self, node: Node) -> Levels:
        """Returns the names whose lists the value of an expression shares."""
        found: Levels = {}
        if isinstance(node, Variable):
            found[node.name] = 0
        elif isinstance(node, Items):
            _union(found, [self.levels(i) for i in node.items], 0)
        elif isinstance(node, Call):
            parameters = self.functions[node.name].parameters
            given = dict(zip(parameters, node.arguments, strict=False))
            for name, level in self.shared(node.name).items():
                if name in given:
                    _union(found, [self.levels(given[name])], level)
        elif isinstance(node, Apply):
            inner = [self.levels(a) for a in node.arguments]
            if node.operator in _SAME_OBJECT:
                _union(found, inner[1:] if node.operator == "if" else inner, 0)
            elif node.operator in ("+", "*"):
                _union(found, inner, 1)
            elif node.operator in ("index", "slice"):
                _union(found, inner[:1], 1)
            elif node.operator in ("min", "max"):
                _union(found, inner, 1 if len(inner) == 1 else 0)
        return found

    def entries(self, node: Node) -> Levels:
        """Returns the names whose lists the entries of a list share."""
        if isinstance(node, (Items, Call)):
            return self.levels(node)
        return {name: level + 1 for name, level in self.levels(node).items()}


def _lower(levels: Levels, name: str, level: int) -> None:
    levels[name] = min(level, levels.get(name, level))


def _union(found: Levels, parts: Sequence[Levels], deeper: int) -> None:
    for part in parts:
        for name, level in part.items():
            _lower(found, name, level + deeper)


class _Scope:
    """The program or one function: the names whose lists are changed, and how deep."""

    def __init__(
        self, functions: _Functions, body: Sequence[Statement], name: str, given: frozenset[str]
    ) -> None:
        self.functions = functions
        self.statements = tuple(every_statement(body))
        self.name = name
        self.given = given  # inputs, or the parameters of the function
        self.changed: Levels = {}
        for found in self.statements:
            if isinstance(found, Assign) and found.indices:
                self.change(found.names[0], len(found.indices))

    def change(self, name: str, levels: int) -> None:
        self.changed[name] = max(levels, self.changed.get(name, 0))

    def problems(self) -> Iterator[tuple[str, Place]]:
        """Yields what is wrong, with its place; and learns what other lists have to be new."""
        for found in self.statements:
            match found:
                case Assign(names, (), value, place) if len(names) > 1:
                    yield from self.several(names, value, place)
                case Assign((name,), (), value, place):
                    yield from self.assigned(name, value, place)
                case Assign():
                    yield from self.entered(found)
                case For():
                    yield from self.looped(found)
                case Return(value, place) if self.name:
                    levels = self.functions.fresh.get(self.name, 0)
                    if levels and not self.is_new(value, levels, self.local(value)):
                        yield (
                            "the list that is returned here is changed later: return a copy, such as a + []",
                            place,
                        )

    def several(self, names: Sequence[str], value: Node, place: Place) -> Iterator[tuple[str, Place]]:
        if isinstance(value, Items) and len(value.items) == len(names):
            others = [item.name for item in value.items if isinstance(item, Variable)]
            for name, item in zip(names, value.items, strict=True):
                for reason, where in self.assigned(name, item, place):
                    lists = set(others) == set(names) and all(self.changed.get(n, 0) < 2 for n in names)
                    yield (_exchanged(names, others) if lists else reason), where
            return
        for name in names:
            yield from self.named(name, value, 1, place)
        yield from self.held(self.functions.entries(value), place, "")

    def assigned(self, name: str, value: Node, place: Place) -> Iterator[tuple[str, Place]]:
        yield from self.named(name, value, 0, place)
        yield from self.held(self.functions.levels(value), place, name)

    def named(self, name: str, value: Node, inside: int, place: Place) -> Iterator[tuple[str, Place]]:
        """Yields a problem where a name is given a list that is not new, and changes it."""
        levels = self.changed.get(name, 0)
        if levels and not self.is_new(value, levels + inside, self.own(name, value)):
            other = value.name if isinstance(value, Variable) else "..."
            yield self.reason(name, levels, f"{name} = {other} + []"), place

    def held(self, shared: Levels, place: Place, by: str) -> Iterator[tuple[str, Place]]:
        """Yields a problem where a list that is changed gets one more holder."""
        for name, level in shared.items():
            if name != by and self.changed.get(name, 0) > level:
                if by.startswith("#"):  # the value of an entry that is kept while several are assigned
                    told = f"lists in {name} are exchanged here, and {name} changes inside them"
                    yield f"{told}, which is not supported: build the inner lists anew", place
                    continue
                yield self.reason(name, self.changed[name], f"{by or 'b'} = {name} + []"), place

    def entered(self, found: Assign) -> Iterator[tuple[str, Place]]:
        (name,) = found.names
        if name in self.given:
            what = "a parameter of the function" if self.name else "an input"
            yield f"{name} is {what}, which must not change: write b = {name} + [], and change b", found.place
        rest = self.changed[name] - len(found.indices)
        if rest > 0 and not self.is_new(found.value, rest, self.own("", found.value)):
            yield self.reason(name, 2, ""), found.place
        yield from self.held(self.functions.levels(found.value), found.place, "")

    def looped(self, found: For) -> Iterator[tuple[str, Place]]:
        for name in found.names:
            deeper = 1 if len(found.names) == 1 else 2
            yield from self.named(name, found.values, deeper, found.place)
        yield from self.held(self.functions.entries(found.values), found.place, "")
        through = {} if isinstance(found.values, Items) else self.functions.levels(found.values)
        for inner in every_statement(found.body):
            if isinstance(inner, Assign) and inner.indices:
                (name,) = inner.names
                if len(inner.indices) > through.get(name, 99):
                    reason = f"{name} changes during a loop over it: write for ... in {name} + []"
                    yield reason, inner.place

    def reason(self, name: str, levels: int, copied: str) -> str:
        told = (
            f"{name} changes in place (by {name}[...] = ...), but in Python another name "
            "refers to the same list"
        )
        return f"{told}: write {copied}" if levels == 1 else f"{told}: build the inner lists anew"

    def own(self, name: str, value: Node) -> Passes:
        """A name may give its list to itself, once: `a = a + [1]`."""
        times = sum(isinstance(n, Variable) and n.name == name for n in every_node(value))
        return lambda other, levels: other == name and times == 1

    def local(self, value: Node) -> Passes:
        """A function may return a list that is its own, once."""
        names = [n.name for n in every_node(value) if isinstance(n, Variable)]

        def passes(name: str, levels: int) -> bool:
            if name in self.given or names.count(name) > 1:
                return False
            self.change(name, levels)
            return True

        return passes

    def is_new(self, node: Node, levels: int, passes: Passes) -> bool:
        """Tells whether nothing else holds so many levels of the lists of a value."""
        if levels <= 0:
            return True
        match node:
            case Variable(name, _):
                return passes(name, levels)
            case Items(items, _):
                return all(self.is_new(i, levels - 1, passes) for i in items)
            case Call(name, _, _):
                self.functions.need(name, levels)
                return True
            case Apply(operator, arguments, _):
                if operator in _SAME_OBJECT:
                    parts = arguments[1:] if operator == "if" else arguments
                    return all(self.is_new(a, levels, passes) for a in parts)
                if operator in ("+", "slice"):
                    parts = arguments[:1] if operator == "slice" else arguments
                    return levels == 1 or all(self.is_new(a, levels, passes) for a in parts)
                if operator == "*":
                    return levels == 1
                return operator not in ("index", "min", "max")
        return True


def _exchanged(names: Sequence[str], others: Sequence[str]) -> str:
    """Returns the reason where lists get other names, such as a, b = b, a, and change in place."""
    copies = ", ".join(f"{other} + []" for other in others)
    told = f"{' and '.join(names)} are exchanged here, which is not supported for lists that change in place"
    return f"{told} (by {names[0]}[...] = ...): write {', '.join(names)} = {copies}"
