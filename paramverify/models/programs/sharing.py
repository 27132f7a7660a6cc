"""Lists are values here and references in Python: programs in which that would make a difference are refused.

`x[i] = v` changes a list in place. It means the same in both languages if no other name can reach the list.
So a list that is changed has to be made for its name (written out, or by `+`, `*` or a part of another one),
and nothing else may hold it. Levels count from outside: a list is level 0, the lists in it are level 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paramverify.errors import ProgramError
from paramverify.models.programs.syntax import (
    Apply,
    Assign,
    Call,
    For,
    Function,
    Items,
    Node,
    Place,
    Program,
    Return,
    Statement,
    Variable,
    every_node,
    every_statement,
)

Levels = dict[str, int]  # for each name the outermost level that is shared
Passes = Callable[[str, int], bool]  # whether a name may give so many levels away

_SAME = ("if", "and", "or")  # the value is one of the arguments


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
                reason = f"{name} is a parameter or a definition of the case: choose another name"
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
            if node.operator in _SAME:
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
                            "the list that is returned here is changed later: write a list of its own",
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
                    told = f"lists in {name} change places here, and {name} changes inside of them"
                    yield f"{told}, which is not followed: write the lists in it out anew", place
                    continue
                yield self.reason(name, self.changed[name], f"{by or 'b'} = {name} + []"), place

    def entered(self, found: Assign) -> Iterator[tuple[str, Place]]:
        (name,) = found.names
        if name in self.given:
            what = "a parameter of the function" if self.name else "an input"
            yield f"{name} is {what}: write b = {name} + [], and change b", found.place
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
                    reason = f"the loop runs through {name}, which changes here: write for ... in {name} + []"
                    yield reason, inner.place

    def reason(self, name: str, levels: int, copied: str) -> str:
        told = f"{name} changes in place (by {name}[...] = ...), and in Python another name has the same list"
        return f"{told}: write {copied}" if levels == 1 else f"{told}: write the lists in it out anew"

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
                if operator in _SAME:
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
    told = f"{' and '.join(names)} change places here, which is not followed for lists that change in place"
    return f"{told} (by {names[0]}[...] = ...): write {', '.join(names)} = {copies}"
