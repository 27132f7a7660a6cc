"""A second reading of cases about streams: the program and the automaton of the evidence, side by side.

The program runs on Python's own tree, from each state of the automaton that is reached. Each draw, each
comparison, each stored value and each output has to be that of the automaton. Standard library only, and no
code of the first reader.
"""

from __future__ import annotations

if __name__ == "__main__":  # this file alone checks nothing: the folder does
    __import__("runpy").run_path(__import__("os").path.split(__file__)[0] or ".", run_name="__main__")

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from . import second_automata
from .strict import Rejected, Unread

MAX_PAIRS = 20_000
MAX_STEPS = 20_000
NUMBERS = ("insample", "insample'")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Eps:
    """A number of times eps to the power of 1 or -1."""

    times: Fraction
    power: int


@dataclass(frozen=True)
class Noisy:
    """A number, the entry so many times (0 or 1), and the rates of its noise."""

    number: Fraction
    entry: int
    rates: tuple[Fraction, ...]


@dataclass(frozen=True)
class Drawn:
    """The last draw; `Old` is one of before, by the name under which it is known."""


@dataclass(frozen=True)
class Old:
    """A kept value."""

    name: str


class Finish(Exception):
    """The run is over."""


class Next(Exception):
    """The inner loop goes on, or the turn does."""


class Leave(Exception):
    """The inner loop is over."""


class Drawing(Exception):
    """The next draw has come: the segment that was looked at is over."""


@dataclass
class Segment:
    """What comes between two draws: guards in the order of the run, outputs, and who stores the sample."""

    kind: Noisy | None
    guards: list[tuple[str, bool]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    second: Noisy | None = None
    stored: set[str] = field(default_factory=set)


class Turn:
    """One turn of the program, with given answers for its comparisons; further ones are asked by `more`."""

    def __init__(self, program: Program, start: dict[str, Any] | None, answers: Sequence[bool]) -> None:
        self.program, self.answers, self.asked = program, list(answers), 0
        self.inside = start is not None
        self.own: dict[str, Any] = dict(start or {})
        self.segments = [Segment(None)]
        self.steps, self.over = 0, False

    def go(self) -> Turn:
        try:
            self.body(self.program.loop.body if self.inside else self.program.first)
        except (Finish, Leave):
            self.over = True
        except Next:
            pass
        if self.inside and not self.over and not any(s.kind and s.kind.entry for s in self.segments):
            self.draw(Noisy(Fraction(0), 1, (Fraction(1),)))
        self.shut()
        return self

    def after(self) -> dict[str, Any]:
        def undrawn(value: Any) -> bool:
            return any(map(undrawn, value)) if isinstance(value, list) else isinstance(value, Noisy)

        return {name: value for name, value in self.own.items() if not undrawn(value)}

    # --- statements -----------------------------------------------------------------------------------

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for s in statements:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise Unread("a turn of the stream is too long")
            self.one(s)

    def one(self, s: ast.stmt) -> None:
        match s:
            case ast.Pass():
                return
            case ast.Continue():
                raise Next
            case ast.Break():
                raise Leave
            case ast.Return(value):
                if value is not None:
                    self.tell(self.of(value))
                raise Finish
            case ast.Expr(ast.Name("stop")) | ast.Expr(ast.Call(ast.Name("stop"))):
                raise Finish
            case ast.Expr(ast.Call(ast.Name("output"), [value])):
                self.tell(self.of(value))
            case ast.If(test, then, otherwise):
                self.body(then if self.truth(test) else otherwise)
            case ast.While(test, inner):
                while self.truth(test) and self.turned(inner):
                    self.steps += 1
                    if self.steps > MAX_STEPS:
                        raise Unread("a loop is too long")
            case ast.For(target, values, inner):
                listed = self.of(values)
                if not isinstance(listed, list):
                    raise Rejected("a loop over what is no list")
                for value in listed:
                    self.assign(target, value)
                    if not self.turned(inner):
                        break
            case ast.Assign([target], ast.Tuple(parts)):
                self.assign(target, [self.of(part) for part in parts])
            case ast.Assign([target], value):
                self.assign(target, self.of(value))
            case ast.AugAssign(target, op, value):
                read = ast.parse(ast.unparse(target), mode="eval").body
                self.assign(target, self.calculated(op, self.of(read), self.of(value)))
            case _:
                raise Unread(f"line {s.lineno} of the program")

    def turned(self, inner: Sequence[ast.stmt]) -> bool:
        try:
            self.body(inner)
        except Next:
            return True
        except Leave:
            return False
        return True

    def assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(name):
                self.put(name, [], value)
            case ast.Tuple(parts) | ast.List(parts):
                if any(isinstance(p, ast.Subscript) for p in parts):
                    raise Unread("entries of lists that are assigned together")
                for part, own in zip(parts, value, strict=True):
                    self.assign(part, own)
            case ast.Subscript():
                path: list[int] = []
                while isinstance(target, ast.Subscript):
                    path.insert(0, int(self.of(target.slice)))
                    target = target.value
                if not isinstance(target, ast.Name):
                    raise Unread("what is assigned has no name")
                self.put(target.id, path, value)
            case _:
                raise Unread("what is assigned has no name")

    def put(self, name: str, path: list[int], value: Any) -> None:
        """Assigns, without noise first, and then draws all noise in the value in its order."""
        waiting: list[tuple[list[int], Noisy]] = []

        def cleared(part: Any, at: list[int]) -> Any:
            if isinstance(part, list):
                return [cleared(own, [*at, k]) for k, own in enumerate(part)]
            if isinstance(part, Noisy) and part.rates:
                waiting.append((at, part))
                return Fraction(0)
            return part

        self.write(name, path, cleared(value, path))
        for at, noise in waiting:
            self.draw(noise)
            self.write(name, at, Drawn())

        def check(part: Any, called: str) -> None:
            if isinstance(part, list):
                for k, own in enumerate(part):
                    check(own, f"{called}[{k}]")
            elif isinstance(part, Old) and part.name != called:
                raise Rejected(f"{called} keeps the value of {part.name}")

        check(self.own[name], name)

    def write(self, name: str, path: list[int], value: Any) -> None:
        if name in (*self.program.constants, self.program.entry if self.inside else ""):
            raise Rejected(f"{name} is assigned")
        if not path:
            self.own[name] = value
            return
        whole = json_copy(self.own[name])
        part = whole
        for k in path[:-1]:
            part = part[k]
        part[path[-1]] = value
        self.own[name] = whole

    # --- noise ----------------------------------------------------------------------------------------

    def draw(self, noise: Noisy) -> Drawn:
        if len(noise.rates) != 1 or noise.entry not in (0, 1):
            raise Rejected("a draw has one noise, and one entry at most")
        if noise.entry and any(s.kind and s.kind.entry for s in self.segments):
            raise Rejected("an entry is drawn twice")
        self.shut()
        self.segments.append(Segment(noise))
        return Drawn()

    def shut(self) -> None:
        def old(value: Any, name: str) -> Any:
            if isinstance(value, list):
                return [old(own, f"{name}[{k}]") for k, own in enumerate(value)]
            if isinstance(value, Drawn):
                self.segments[-1].stored.add(name)
                return Old(name)
            return value

        self.own = {name: old(value, name) for name, value in self.own.items()}

    def known(self, value: Any, before: set[str]) -> Any:
        """What was the last draw until now is one of before, if it has a name."""
        stored = self.segments[-2].stored
        if isinstance(value, Drawn) and before:
            return Old(min(stored, key=list(self.own).index) if len(stored) == 1 else self._first(stored))
        return value

    def _first(self, stored: set[str]) -> str:
        raise Unread(f"one draw has the names {', '.join(sorted(stored))}, and is compared with another draw")

    def order(self, left: Any, op: ast.cmpop, right: Any) -> bool:
        """Compares noise."""
        if not isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            raise Rejected("noise is compared for equality")
        fresh = [isinstance(v, Noisy) for v in (left, right)]
        if all(fresh):
            raise Rejected("two draws are compared, none of which has a name")
        if any(fresh):
            self.draw(left if fresh[0] else right)
            other = self.known(right if fresh[0] else left, self.segments[-2].stored)
            left, right = (Drawn(), other) if fresh[0] else (other, Drawn())
        match left, right:
            case Drawn(), Old(name):
                first = True
            case Old(name), Drawn():
                first = False
            case _:
                raise Rejected("noise is compared with what is no kept noise")
        now = self.segments[-1]
        above = dict(now.guards).get(name)
        if above is None:
            above = self.answers[self.asked] if self.asked < len(self.answers) else True
            if self.asked >= len(self.answers):
                self.answers.append(True)
            self.asked += 1
            now.guards.append((name, above))
        larger = above if first else not above
        return larger if isinstance(op, (ast.Gt, ast.GtE)) else not larger

    def tell(self, value: Any) -> None:
        now = self.segments[-1]
        if isinstance(value, Noisy):
            again = value.entry and any(s.kind and s.kind.entry for s in self.segments)
            if again:
                own = now.kind and now.kind.entry and len(value.rates) == 1
                if not own or now.second not in (None, value):
                    raise Rejected("a second noise of an entry is put out too late")
                now.second = value
                now.told.append(NUMBERS[1])
                return
            value = self.draw(value)
        if isinstance(value, Drawn):
            self.segments[-1].told.append(NUMBERS[0])
            return
        now.told.append(word(value))

    # --- expressions ----------------------------------------------------------------------------------

    def truth(self, test: ast.expr) -> bool:
        found = self.of(test)
        if not isinstance(found, bool):
            raise Rejected("a test is neither true nor false")
        return found

    def of(self, e: ast.expr) -> Any:
        match e:
            case ast.Constant(value) if isinstance(value, (bool, str)):
                return value
            case ast.Constant():
                return self.program.literal(e)
            case ast.Name(name):
                if self.inside and name == self.program.entry:
                    return Noisy(Fraction(0), 1, ())
                return self.program.constants[name] if name in self.program.constants else self.own[name]
            case ast.List(parts) | ast.Tuple(parts):
                return [self.of(p) for p in parts]
            case ast.BoolOp(op, parts):
                until = isinstance(op, ast.Or)
                return until if any(self.truth(p) is until for p in parts) else not until
            case ast.UnaryOp(ast.Not(), inner):
                return not self.truth(inner)
            case ast.UnaryOp(ast.USub(), inner):
                return self.calculated(ast.Sub(), Fraction(0), self.of(inner))
            case ast.UnaryOp(ast.UAdd(), inner):
                return self.calculated(ast.Add(), Fraction(0), self.of(inner))
            case ast.BinOp(left, op, right):
                return self.calculated(op, self.of(left), self.of(right))
            case ast.IfExp(test, then, otherwise):
                return self.of(then if self.truth(test) else otherwise)
            case ast.Subscript(value, index) if not isinstance(index, ast.Slice):
                place = self.of(index)
                if not isinstance(place, Fraction) or place.denominator != 1:
                    raise Rejected("an index is no whole number")
                return self.of(value)[int(place)]
            case ast.Compare(left, ops, others):
                values = [self.of(left)]
                for sign, other in zip(ops, others, strict=True):
                    values.append(self.of(other))
                    if not self.compared(values[-2], sign, values[-1]):
                        return False
                return True
            case ast.Call(ast.Name(name), given):
                return self.called(name, [self.of(g) for g in given])
        raise Unread(f"line {e.lineno} of the program")

    def compared(self, left: Any, op: ast.cmpop, right: Any) -> bool:
        if any(isinstance(v, (Noisy, Drawn, Old)) for v in (left, right)):
            return self.order(left, op, right)
        if noise_in(left) or noise_in(right) or isinstance(left, Eps) or isinstance(right, Eps):
            raise Rejected("what is compared has noise in it")
        match op:
            case ast.Eq():
                return bool(left == right)
            case ast.NotEq():
                return bool(left != right)
            case ast.In():
                return left in right
            case ast.NotIn():
                return left not in right
            case ast.Lt() | ast.GtE():
                return bool(left < right) is isinstance(op, ast.Lt)
            case _:
                return bool(left > right) is isinstance(op, ast.Gt)

    def calculated(self, op: ast.operator, left: Any, right: Any) -> Any:
        left, right = (Fraction(v) if isinstance(v, bool) else v for v in (left, right))
        match op, left, right:
            case ast.Add(), list(), list():
                return left + right
            case ast.Mult(), Eps(), Fraction():
                return Eps(left.times * right, left.power)
            case ast.Mult(), Fraction(), Eps():
                return Eps(left * right.times, right.power)
            case ast.Div(), Eps(), Fraction():
                return Eps(left.times / right, left.power)
            case ast.Div(), Fraction(), Eps():
                return Eps(left / right.times, -right.power)
            case ((ast.Add() | ast.Sub()), (Noisy() | Fraction()), (Noisy() | Fraction())) if not (
                isinstance(left, Fraction) and isinstance(right, Fraction)
            ):
                one, two = (Noisy(v, 0, ()) if isinstance(v, Fraction) else v for v in (left, right))
                sign = 1 if isinstance(op, ast.Add) else -1
                if sign < 0 and two.entry:
                    raise Rejected("an entry is subtracted")
                return Noisy(one.number + sign * two.number, one.entry + two.entry, one.rates + two.rates)
        if not isinstance(left, Fraction) or not isinstance(right, Fraction):
            raise Rejected("what is calculated with is no number")
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return Fraction(left // right)
            case ast.Mod():
                return left % right
            case ast.Pow() if right.denominator == 1 and abs(right) <= 1000:
                return left ** int(right)
        raise Unread("an operator")

    def called(self, name: str, given: list[Any]) -> Any:
        if name == "laplace":
            (scale,) = given
            if not isinstance(scale, Eps) or scale.power != -1 or scale.times <= 0:
                raise Rejected("a scale is no positive number divided by the parameter")
            return Noisy(Fraction(0), 0, (1 / scale.times,))
        if name == "len":
            return Fraction(len(given[0]))
        numbers = given[0] if len(given) == 1 and isinstance(given[0], list) else given
        if not all(isinstance(v, (Fraction, bool)) for v in numbers):
            raise Unread(f"{name} of what is no number")
        match name, numbers:
            case "range", _:
                return [Fraction(k) for k in range(*map(int, numbers))]
            case "abs", [value]:
                return abs(value)
            case "clamp", [value, low, high]:
                return max(low, min(high, value))
            case "min", _:
                return min(numbers)
            case "max", _:
                return max(numbers)
            case "sum", _:
                return sum(numbers, Fraction(0))
        raise Unread(f"the function {name}")


def json_copy(value: Any) -> Any:
    """Returns a list with copies of the lists in it."""
    return [json_copy(v) for v in value] if isinstance(value, list) else value


def noise_in(value: Any) -> bool:
    return any(map(noise_in, value)) if isinstance(value, list) else isinstance(value, (Noisy, Drawn, Old))


def word(value: Any) -> str:
    """Returns an output in words."""
    if isinstance(value, list):
        return f"[{', '.join(map(word, value))}]"
    if isinstance(value, str):
        plain = PLAIN.fullmatch(value) and value not in ("True", "False", NUMBERS[0])
        return value if plain else json.dumps(value)
    if not isinstance(value, (bool, Fraction)):
        raise Rejected("an output that is none")
    return str(value)


class Program:
    """The text of a program over a stream, and the values of its parameters."""

    def __init__(self, text: str, constants: dict[str, Any]) -> None:
        self.text, self.constants = text, constants
        try:
            body = ast.parse(text).body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise Unread("the text is no program") from None
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        match body[-1]:
            case ast.For(ast.Name(entry), ast.Call(ast.Name("stream"), [], [ast.keyword("values", values)])):
                self.entry, self.loop, self.first = entry, body[-1], body[:-1]
                self.any_number = isinstance(values, ast.Constant) and values.value == "real"
            case _:
                raise Rejected("the last statement is no loop over a stream")

    def literal(self, node: ast.Constant) -> Fraction:
        written = ast.get_source_segment(self.text, node) or ""
        if not isinstance(node.value, (int, float)) or len(written) > 100:
            raise Unread(f"line {node.lineno} of the program has a constant of another kind")
        return Fraction(written.replace("_", ""))

    def turns(self, start: dict[str, Any] | None, answers: Sequence[bool]) -> Iterator[Turn]:
        """Yields all turns from a start that begin with these answers."""
        waiting = [list(answers)]
        while waiting:
            given = waiting.pop()
            turn = Turn(self, start, given).go()
            for k in range(len(given), len(turn.answers)):
                waiting.append([*turn.answers[:k], False])
            yield turn


Place = tuple[Any, tuple[bool, ...], int]  # the variables before a turn, the answers, and the draws until now


def frozen(start: dict[str, Any] | None) -> Any:
    """Returns variables as something that can be a key."""

    def fixed(value: Any) -> Any:
        if isinstance(value, list):
            return ("list", *map(fixed, value))
        return (type(value).__name__, value)

    return None if start is None else tuple(sorted((name, fixed(value)) for name, value in start.items()))


class SideBySide:
    """The automaton of a document, and the program."""

    def __init__(self, program: Program, data: Any) -> None:
        self.program, self.data = program, data
        self.starts: dict[Any, dict[str, Any] | None] = {}

    def beginning(self, start: dict[str, Any] | None) -> tuple[Place | None, list[str]]:
        """Returns the place of the first draw from a start, and what is put out before it."""
        told: list[str] = []
        for _ in range(2):
            turn = Turn(self.program, start, ()).go()
            self.starts[frozen(start)] = start
            told += turn.segments[0].told
            if len(turn.segments) > 1:
                return (frozen(start), (), 1), told
            if turn.over:
                return None, told
            start = turn.after()
        raise Rejected("a turn of the stream draws nothing")

    def compare(self) -> int:
        """Goes through both, and returns how many places of the program were compared.

        Raises:
            Rejected: they differ.
        """
        first, _ = self.beginning(None)
        seen: dict[tuple[int, Place | None], None] = {(0, first): None}
        for state, place in seen_in_order(seen):
            for following in self.at(state, place):
                seen.setdefault(following)
            if len(seen) > MAX_PAIRS:
                raise Unread("a program with too many states")
        return len(seen)

    def at(self, state: int, place: Place | None) -> list[tuple[int, Place | None]]:
        """Compares what happens at a place with the transitions of a state; returns where both go on."""
        data, names = self.data["states"][state], self.data["variables"]
        leaving = [t for t in self.data["transitions"] if t["source"] == state]
        if place is None:
            if leaving:
                raise Rejected(f"the program ends where the automaton is in {data['name']}")
            return []
        found: dict[Any, tuple[Segment, list[str], Place | None]] = {}
        for turn in self.program.turns(self.starts[place[0]], place[1]):
            segment = turn.segments[place[2]]
            until = sum(len(s.guards) for s in turn.segments[: place[2] + 1])
            told = list(segment.told)
            if len(turn.segments) > place[2] + 1:
                target: Place | None = (place[0], tuple(turn.answers[:until]), place[2] + 1)
            elif turn.over:
                target = None
            else:
                target, more = self.beginning(turn.after())
                told += more
            found[tuple(sorted(segment.guards))] = (segment, told, target)
        kinds = {segment.kind for segment, _, _ in found.values()}
        seconds = {segment.second for segment, _, _ in found.values()} - {None}
        if len(kinds) != 1 or len(seconds) > 1:
            raise Rejected("a place of the program draws in two ways")
        kind, second = kinds.pop(), seconds.pop() if seconds else None
        if kind is None or (data["reads"], data["rate"], data["mean"]) != (
            bool(kind.entry),
            str(kind.rates[0]),
            str(kind.number),
        ):
            raise Rejected(f"the automaton draws something else in {data['name']}")
        if data["second"] != (None if second is None else [str(second.rates[0]), str(second.number)]):
            raise Rejected(f"the automaton puts out something else in {data['name']}")
        guards = [
            {**{names[v]: True for v in t["above"]}, **{names[v]: False for v in t["below"]}} for t in leaving
        ]
        divided(guards, data["name"])
        leaves = [[found[leaf] for leaf in found if not contrary(dict(leaf), guard)] for guard in guards]
        outputs = spoken([own[0][1] for own in leaves])
        following = []
        for t, own, output in zip(leaving, leaves, outputs, strict=True):
            segment, told, target = own[0]
            for other, words, end in own[1:]:
                if (other.stored, other.second, words, end) != (segment.stored, segment.second, told, target):
                    raise Rejected(f"the automaton leaves out a comparison in {data['name']}")
            if {names[v] for v in t["stored"]} != segment.stored or t["output"] != output:
                raise Rejected(f"the automaton stores or puts out something else in {data['name']}")
            following.append((t["target"], target))
        return following


def contrary(one: dict[str, bool], other: dict[str, bool]) -> bool:
    """Tells whether two guards say the contrary of one value."""
    return any(other.get(name, above) is not above for name, above in one.items())


def divided(guards: Sequence[dict[str, bool]], name: str) -> None:
    """Checks that of all outcomes of the comparisons each fits one guard.

    No two guards fit together, and a guard of n comparisons fits a share of 2^-n of all outcomes.
    """
    apart = all(contrary(one, other) for k, one in enumerate(guards) for other in guards[:k])
    if not apart or sum(Fraction(1, 2 ** len(guard)) for guard in guards) != 1:
        raise Rejected(f"the automaton compares something else in {name}")


def seen_in_order(seen: dict[tuple[int, Place | None], None]) -> Iterator[tuple[int, Place | None]]:
    """Yields the entries of a dictionary that grows."""
    done = 0
    while done < len(seen):
        for entry in list(seen)[done:]:
            done += 1
            yield entry


def spoken(told: Sequence[Sequence[str]]) -> list[str]:
    """Returns the output of each branch: one and the same where outputs do not tell which one it was."""
    plain = [["" if w in NUMBERS else w for w in words] for words in told]
    apart = all(
        any(a != b for a, b in zip(one, other, strict=False))
        for k, one in enumerate(plain)
        for other in plain[:k]
    )
    numbers = [[w for w in words if w in NUMBERS] for words in told]
    if any(len(n) > 1 for n in numbers) or (not apart and any(numbers)):
        raise Rejected("numbers are put out that do not tell the branch")
    if not apart:
        return ["(not told apart)"] * len(told)
    return [n[0] if n else ", ".join(words) or "(nothing)" for n, words in zip(numbers, told, strict=True)]


def compare_stream(document: Any, content: str, folder: Path) -> str:
    """Compares evidence about an automaton with a case file that has a program, or names an automaton.

    Raises:
        Rejected: they differ. Unread: this reader does not know something in the case.
    """
    data = tomllib.loads(content, parse_float=Fraction)
    constants: dict[str, Any] = {}
    for name, value in data["parameters"].items():
        if isinstance(value, str) and value.replace(" ", "") in ("(0,oo)", "(0,inf)"):
            constants[name] = Eps(Fraction(1), 1)
        else:
            constants[name] = Fraction(value)
    said = Program(f"x = {data['privacy']['epsilon']}\nfor q in stream(values='real'): pass", constants)
    budget = Turn(said, None, ()).go().own["x"]
    if budget == 0:
        budget = Eps(Fraction(0), 1)
    if not isinstance(budget, Eps) or budget.power != 1:
        raise Rejected("the budget is no multiple of the parameter")
    if document.get("claim") != {"multiple": str(budget.times), "differ": data["neighbours"]["differ"]}:
        raise Rejected("the evidence is about another budget, or other neighbours")
    if "automaton" in data:
        text = (folder / data["automaton"]["file"]).read_text(encoding="utf-8-sig")
        return f"the budget, {second_automata.compare(document['automaton'], text)}"
    made = data["mechanism"]
    text = made["source"] if "source" in made else (folder / made["file"]).read_text(encoding="utf-8-sig")
    program = Program(text, constants)
    if document["status"] == "violated" and not program.any_number:
        raise Rejected("the evidence is about entries that are any numbers")
    count = SideBySide(program, document["automaton"]).compare()
    return f"the automaton and the budget agree with the program, at {count} places"
