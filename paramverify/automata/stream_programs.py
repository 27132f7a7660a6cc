"""Stream programs as automata: the values of their expressions, one turn of the loop, and the transitions.

A turn is the work on one entry of the stream. Its comparisons branch, and all branches are run.
What the variables have between two turns is a *head*; there are finitely many, or the
program is refused. A draw in a turn is a state of the automaton, known by the head and by the draws and
the outcomes of comparisons before it. What follows until the next draw is a transition. Its output has the
words that are put out until then, also those at the beginning of the next turn: nothing is drawn in between.
So a way that reads n entries may need the entry n + 1: such an automaton is `late`.

**Outputs tell the way** if from each state no word sequence begins with another one: then the words that
are put out say which transition was taken, one after another. States for which that is not so get one word
for all their transitions, "(not distinguished)", so that nothing is said to be violated by them.

What the expressions of a stream program mean: exact values, and noise that was not drawn yet.

Everything that has no noise is computed. A `Sum` is a number, plus the entry of the stream or not, plus one
Laplace noise or not. It is drawn where it is assigned, compared or put out.

One turn of a stream program, for given outcomes of its comparisons: what it draws, compares and puts out.

A turn is cut into segments: each begins with a draw, and has all that follows until the next one. Only the
last draw can be compared: with values that variables keep. So a segment is a transition of an automaton.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from paramverify.automata.automaton import SAMPLE, SECOND, Automaton, State, Transition
from paramverify.errors import InputError, LimitError, ProgramError
from paramverify.models.programs.program_syntax import (
    Apply,
    Assign,
    For,
    If,
    Items,
    Jump,
    Literal,
    Node,
    Output,
    Place,
    Return,
    Statement,
    Variable,
    While,
    every_statement,
)
from paramverify.models.programs.run_states import key
from paramverify.models.programs.stream_loops import Stream

NOISE = ("geometric", "one_sided_geometric", "exponential", "gauss", "discrete_gaussian")
MAX_POWER = 1_000
MAX_BITS = 100_000  # of a number
MAX_ENTRIES = 10_000  # of a range


@dataclass(frozen=True)
class Unit:
    """A number times the parameter of the budget, or divided by it."""

    number: Fraction
    below: bool = False


@dataclass(frozen=True)
class Sum:
    """mean, plus the entry of the stream if it `reads`, plus Lap(1/(rate·eps)) if there is a rate."""

    mean: Fraction
    reads: bool = False
    rate: Fraction | None = None


@dataclass(frozen=True)
class DrawnSample:
    """A sum that was drawn: the number of the draw, in the order of a run."""

    number: int


@dataclass(frozen=True)
class StoredSample:
    """A sample of an earlier step, which the variable of this name keeps."""

    name: str


Value = Fraction | str | bool | tuple[Any, ...] | Unit | Sum | DrawnSample | StoredSample
Noisy = (Sum, DrawnSample, StoredSample)
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class StreamExpressions:
    """Evaluates expressions; who draws and compares noise says how (`decide`)."""

    def __init__(self, text: str, parameters: Mapping[str, Value]) -> None:
        self.text = text
        self.values: dict[str, Value] = dict(parameters)

    def refuse(self, reason: str, place: Place) -> ProgramError:
        """Returns the error about a place of the program."""
        return ProgramError(reason, self.text, *place)

    def missing(self, name: str, place: Place) -> ProgramError:
        """Returns the error about a variable without a value."""
        return self.refuse(f"{name} has no value here", place)

    def decide(self, left: Value, word: str, right: Value, place: Place) -> bool:
        """Returns how two values compare of which one at least is noisy."""
        raise self.refuse("noise is compared in a stream only", place)

    def truth(self, node: Node) -> bool:
        """Evaluates a test."""
        value = self.value(node)
        if not isinstance(value, bool):
            raise self.refuse("a test is true or false: write a comparison", node.place)
        return value

    def value(self, node: Node) -> Value:
        """Evaluates an expression.

        Raises:
            ProgramError: it is none of a stream program, with the place and what to write instead.
        """
        match node:
            case Literal(value, _):
                return value
            case Variable(name, place):
                if name not in self.values:
                    raise self.missing(name, place)
                return self.values[name]
            case Items(items, _):
                return tuple(self.value(item) for item in items)
            case Apply("and" | "or" as word, parts, _):
                for part in parts:
                    if self.truth(part) is (word == "or"):
                        return word == "or"
                return word == "and"
            case Apply("not", (inner,), _):
                return not self.truth(inner)
            case Apply("if", (test, then, otherwise), _):
                return self.value(then if self.truth(test) else otherwise)
            case Apply():
                given = [self.value(argument) for argument in node.arguments]
                return self.applied(node, given)
        reason = "beside laplace(...) a stream has no other noise and no functions of your own"
        raise self.refuse(f"{reason}: write out what they do", node.place)

    def applied(self, node: Apply, given: Sequence[Value]) -> Value:
        """Returns an operator or a function of values."""
        word, place = node.operator.removesuffix("=") or "=", node.place
        if node.operator in ("<", "<=", ">", ">=", "==", "!="):
            return self.compared(node.operator, given[0], given[1], place)
        noisy = any(isinstance(v, (Unit, *Noisy)) for v in given) and word not in ("index", "len", *NOISE)
        if noisy or word == "laplace":
            return self.with_noise(word, given, place)
        try:
            found = _plain(word, given)
        except InputError as error:
            raise self.refuse(error.reason, place) from None
        except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
            raise self.refuse(f"this has no value: {error}", place) from None
        if found is None:
            reason = f"{node.operator} is not in a stream with Laplace noise"
            if node.operator in NOISE:
                reason += ": its noise is laplace(4 / eps)"
            if node.operator == "geometric":
                reason += '; an automaton (.dipa) may have "noise geometric"'
            raise self.refuse(reason, place)
        if _is_large(found):
            raise self.refuse("numbers and lists of a stream are small", place)
        return found

    def compared(self, word: str, left: Value, right: Value, place: Place) -> bool:
        """Compares two values."""
        if isinstance(left, Unit) or isinstance(right, Unit):
            raise self.refuse("a parameter stands in the scale of noise only", place)
        if isinstance(left, Noisy) or isinstance(right, Noisy):
            return self.decide(left, word, right, place)
        if word in ("==", "!="):
            if has_noise(left) or has_noise(right):
                raise self.refuse("lists with noise are not compared", place)
            return (left == right) is (word == "==")
        if isinstance(left, (str, tuple)) or isinstance(right, (str, tuple)):
            raise self.refuse("only numbers are compared by order", place)
        return _ORDER[word](left, right)

    def with_noise(self, word: str, given: Sequence[Value], place: Place) -> Value:
        """Returns an operator of values with noise, or with the parameter."""
        if word == "laplace":
            (scale,) = given
            if not isinstance(scale, Unit) or not scale.below or scale.number <= 0:
                reason = "a scale is a positive number divided by the parameter: laplace(4 / eps)"
                raise self.refuse(reason, place)
            return Sum(Fraction(0), rate=1 / scale.number)
        if any(isinstance(v, Unit) for v in given):
            unit = _of_units(word, given)
            if unit is None:
                raise self.refuse("a parameter stands in the scale of noise only: laplace(4 / eps)", place)
            return unit
        if word == "neg" and isinstance(given[0], Sum) and not given[0].reads:
            return replace(given[0], mean=-given[0].mean)
        left, right = (given[0], given[1]) if len(given) == 2 else (given[0], given[0])
        if word in ("+", "-") and len(given) == 2:
            found = _added(word, left, right)
            if found is not None:
                return found
            if isinstance(left, (DrawnSample, StoredSample)) or isinstance(
                right, (DrawnSample, StoredSample)
            ):
                raise self.refuse(_of_drawn(left, right), place)
            if isinstance(left, Sum) and isinstance(right, Sum) and left.rate and right.rate:
                raise self.refuse("a sum has one noise only: take one with a larger scale", place)
        if word in ("min", "max", "abs", "clamp"):
            raise self.refuse(f"{word} takes no noise in a stream: write if, and assign the value", place)
        reason = "numbers may be added to noise and to entries, with + and -; nothing else is done with these"
        if word == "*":
            mend = (
                "divide both sides of the comparison: for 2 * x + laplace(4 / eps) write x + laplace(2 / eps)"
            )
            reason += f"; {mend}, and half of the threshold"
        raise self.refuse(reason, place)


def _of_drawn(left: Value, right: Value) -> str:
    """Returns why noise that was drawn is not added to, and what to write instead."""
    if any(isinstance(v, Sum) and v.reads for v in (left, right)):
        return "noise was drawn before, and nothing is added to it now: write x + laplace(4 / eps) > t"
    name = next((v.name for v in (left, right) if isinstance(v, StoredSample)), "y")
    number = next((v for v in (left, right) if isinstance(v, Fraction)), Fraction(1))
    return (
        f"noise was drawn before, and nothing is added to it now: draw {name} = {number} + laplace(4 / eps)"
    )


def has_noise(value: Value) -> bool:
    """Tells whether a value is noisy, or has entries that are."""
    return any(map(has_noise, value)) if isinstance(value, tuple) else isinstance(value, Noisy)


def _bits(number: Fraction) -> int:
    return number.numerator.bit_length() + number.denominator.bit_length()


def _is_large(value: Value) -> bool:
    if isinstance(value, tuple):
        return len(value) > MAX_ENTRIES
    return isinstance(value, Fraction) and _bits(value) > MAX_BITS


def _added(word: str, left: Value, right: Value) -> Sum | None:
    """Returns a sum or a difference; a noise has the same distribution as its negative."""
    one, other = _as_sum(left), _as_sum(right)
    if one is None or other is None or (word == "-" and other.reads):
        return None
    if (one.reads and other.reads) or (one.rate and other.rate):
        return None
    mean = one.mean + (other.mean if word == "+" else -other.mean)
    return Sum(mean, one.reads or other.reads, one.rate or other.rate)


def _as_sum(value: Value) -> Sum | None:
    if isinstance(value, Sum):
        return value
    return Sum(value) if isinstance(value, Fraction) else None


def _of_units(word: str, given: Sequence[Value]) -> Unit | None:
    match word, given:
        case "*", [Unit() as unit, Fraction() as number] | [Fraction() as number, Unit() as unit]:
            return Unit(unit.number * number, unit.below)
        case "/", [Unit() as unit, Fraction() as number] if number:
            return Unit(unit.number / number, unit.below)
        case "/", [Fraction() as number, Unit() as unit] if unit.number:
            return Unit(number / unit.number, not unit.below)
    return None


def _plain(word: str, given: Sequence[Any]) -> Value | None:
    """Returns an operator or a function of values without noise; None if there is no such one."""
    match word:
        case "neg":
            return -_number(given[0])
        case "+" if isinstance(given[0], tuple) and isinstance(given[1], tuple):
            return (*given[0], *given[1])
        case "+" | "-" | "*" | "/" | "//" | "%":
            return Fraction(_ARITHMETIC[word](_number(given[0]), _number(given[1])))
        case "**":
            power = _number(given[1])
            if power.denominator != 1 or abs(power) > MAX_POWER or _bits(_number(given[0])) > MAX_POWER:
                raise InputError("a power is a small whole number")
            return Fraction(_number(given[0]) ** int(power))
        case "index":
            return _entry(given[0], given[1])
        case "in" | "not in":
            if has_noise(given[1]):
                raise InputError("a list with noise is not searched")
            return (given[0] in tuple(given[1])) is (word == "in")
        case "len":
            return Fraction(len(_listed(given[0])))
        case "sum":
            return sum(map(_number, _listed(given[0])), Fraction(0))
        case "abs":
            return abs(_number(given[0]))
        case "min" | "max":
            values: Sequence[Value] = _listed(given[0]) if len(given) == 1 else given
            return min(values, key=_number) if word == "min" else max(values, key=_number)  # True stays True
        case "clamp":
            return max(_number(given[1]), min(_number(given[2]), _number(given[0])))
        case "range":
            ends = [int(_number(v)) for v in given]
            if any(v.denominator != 1 for v in given) or len(range(*ends)) > MAX_ENTRIES:
                raise InputError(f"a range has whole ends, and {MAX_ENTRIES:,} entries at most")
            return tuple(map(Fraction, range(*ends)))
    return None


def _number(value: Any) -> Fraction:
    if not isinstance(value, (Fraction, bool)):
        raise InputError("a number is needed here")
    return Fraction(value)


def _listed(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise InputError("a list is needed here")
    return value


def _entry(listed: Any, place: Any) -> Value:
    """Returns an entry of a list, which may be noisy."""
    number = _number(place)
    if number.denominator != 1:
        raise InputError("an index is a whole number")
    entry: Value = _listed(listed)[int(number)]
    return entry


MAX_STEPS = 10_000  # statements of one turn
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Ended(Exception):
    """The run has ended."""


class _LoopLeft(Exception):
    """A loop is left, or goes on."""


@dataclass
class Segment:
    """A draw, and what comes after it until the next one.

    `before` is how many comparisons were decided before the draw. `guards` says for each kept value with
    which the sample was compared whether the sample lies above. `stored` are the variables that keep it.
    """

    draw: Sum | None
    place: Place
    before: int
    guards: dict[str, bool] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    second: Sum | None = None
    stored: frozenset[str] = frozenset()


class StreamTurn(StreamExpressions):
    """Runs statements once; comparisons come out as `given` says, and after these as "above"."""

    def __init__(
        self,
        text: str,
        parameters: Mapping[str, Value],
        start: Mapping[str, Value],
        entry: str,
        given: Sequence[bool],
    ) -> None:
        super().__init__(text, {**parameters, **start})
        self.fixed = frozenset(parameters) | ({entry} if entry else frozenset())
        if entry:
            self.values[entry] = Sum(Fraction(0), reads=True)
        self.entry = entry
        self.given, self.decisions = tuple(given), list[bool]()
        self.segments = [Segment(None, Place(1, 0), 0)]
        self.names: dict[int, str] = {}  # of samples of earlier segments that are kept
        self.steps, self.place = 0, Place(1, 0)
        self.read = self.ended = False
        self.undrawn: dict[str, Place] = {}  # variables with an entry without noise: where they got it
        self.gone: Mapping[str, Place] = {}  # those of earlier turns

    def run(self, body: Sequence[Statement], place: Place) -> StreamTurn:
        """Runs the statements; a turn that does not draw its entry draws it in the end, for nothing."""
        self.place = place
        try:
            self.block(body)
        except _LoopLeft:
            pass  # the loop over the stream goes on
        except _Ended:
            self.ended = True
        if self.entry and not self.ended and not self.read:
            self.draw(Sum(Fraction(0), True, Fraction(1)), place)
        self.close()
        return self

    def left(self) -> tuple[tuple[str, Value], ...]:
        """Returns the variables after the turn; sums that were not drawn are about its entry, and gone."""
        own = {name: v for name, v in self.values.items() if name not in self.fixed}
        return tuple(sorted((n, v) for n, v in own.items() if not _undrawn(v)))

    def lost(self) -> dict[str, Place]:
        """Returns the variables that have an entry without noise after the turn, and where they got it."""
        return {n: place for n, place in self.undrawn.items() if _undrawn(self.values[n])}

    def missing(self, name: str, place: Place) -> ProgramError:
        """Returns the error about a variable without a value; one that had an entry of another turn."""
        if name not in self.gone:
            return super().missing(name, place)
        reason = f"{name} depends on an entry: compare an entry, or output it with noise, in its own turn"
        return self.refuse(f"{reason}; do not keep it or add it to another entry", self.gone[name])

    # --- statements -----------------------------------------------------------------------------------

    def block(self, body: Sequence[Statement]) -> None:
        for statement in body:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise self.refuse(f"one turn has more than {MAX_STEPS:,} steps", statement.place)
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign():
                self.assign(statement)
            case If(test, then, otherwise, _):
                self.block(then if self.truth(test) else otherwise)
            case While(test, body, _):
                while self.truth(test):
                    if not self.turn(body):
                        break
            case For(names, values, body, place):
                listed = self.value(values)
                if not isinstance(listed, tuple):
                    raise self.refuse("a loop runs through a list or a range", place)
                for entry in listed:
                    self.several(names, entry, place)
                    if not self.turn(body):
                        break
            case Jump("stop", _):
                raise _Ended
            case Jump(word, _):
                raise _LoopLeft(word)
            case Output(value, _) | Return(value, _):
                self.output(value)
                if isinstance(statement, Return):
                    raise _Ended

    def turn(self, body: Sequence[Statement]) -> bool:
        """Runs the body of an inner loop once; False if it is left."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise self.refuse(f"one turn has more than {MAX_STEPS:,} steps", self.place)
        try:
            self.block(body)
        except _LoopLeft as left:
            return left.args != ("break",)
        return True

    def assign(self, statement: Assign) -> None:
        value = self.value(statement.value)
        if not statement.indices:
            self.several(statement.names, value, statement.place)
            return
        name = statement.names[0]
        path = []
        for node in statement.indices:
            number = self.value(node)
            if not isinstance(number, Fraction) or number.denominator != 1:
                raise self.refuse("an index is a whole number", node.place)
            path.append(int(number))
        self.keep(name, path, value, statement.place)

    def several(self, names: Sequence[str], value: Value, place: Place) -> None:
        if len(names) == 1:
            self.keep(names[0], [], value, place)
            return
        if not isinstance(value, tuple) or len(value) != len(names):
            raise self.refuse("this gives another number of values than there are names", place)
        for name, part in zip(names, value, strict=True):
            self.keep(name, [], part, place)

    def keep(self, name: str, path: Sequence[int], value: Value, place: Place) -> None:
        """Assigns a value; sums with noise in it are drawn, one after another."""
        if name in self.fixed:
            raise self.refuse(f"{name} is not a variable: choose another name", place)
        found = self.put(name, path, _without_draws(value), place)
        for inner, drawn in list(_draws(value, found)):
            self.put(name, inner, self.draw(drawn, place), place)
        self.check(name, self.values[name], place)
        if _undrawn(self.values[name]):
            self.undrawn[name] = place

    def put(self, name: str, path: Sequence[int], value: Value, place: Place) -> tuple[int, ...]:
        """Puts a value into a variable, or into an entry of it; returns the place, counted from the start."""
        if not path:
            self.values[name] = value
            return ()
        found: list[int] = []

        def replaced(whole: Value, rest: Sequence[int]) -> Value:
            if not rest:
                return value
            if not isinstance(whole, tuple) or not -len(whole) <= rest[0] < len(whole):
                raise self.refuse(f"{name} has no such entry", place)
            number = rest[0] % len(whole)
            found.append(number)
            return (*whole[:number], replaced(whole[number], rest[1:]), *whole[number + 1 :])

        if name not in self.values:
            raise self.refuse(f"{name} has no value here", place)
        self.values[name] = replaced(self.values[name], path)
        return tuple(found)

    def check(self, name: str, value: Value, place: Place) -> None:
        """Checks that a noisy value is kept under the name that it got when it was the last one drawn."""
        if isinstance(value, tuple):
            for k, inner in enumerate(value):
                self.check(f"{name}[{k}]", inner, place)
        elif (isinstance(value, StoredSample) and value.name != name) or self.is_old(value):
            reason = "other noise was drawn since this noisy value got its first name: use that name here"
            raise self.refuse(reason, place)

    def is_old(self, value: Value) -> bool:
        return isinstance(value, DrawnSample) and value.number != len(self.segments) - 1

    # --- noise ----------------------------------------------------------------------------------------

    def draw(self, drawn: Sum, place: Place) -> DrawnSample:
        """Draws a sum: a new segment begins."""
        if drawn.rate is None:
            reason = (
                "add noise to an entry of the stream before it is compared or output: x + laplace(4 / eps)"
            )
            raise self.refuse(reason, place)
        if drawn.reads and self.read:
            reason = "the entry has noise already: give that a name, or output a second noisy value at once"
            raise self.refuse(reason, place)
        self.read = self.read or drawn.reads
        self.close()
        self.segments.append(Segment(drawn, place, len(self.decisions)))
        return DrawnSample(len(self.segments) - 1)

    def close(self) -> None:
        """Ends a segment: what keeps its sample keeps it by its own name from now on."""
        number, stored = len(self.segments) - 1, set[str]()

        def kept(name: str, value: Value) -> Value:
            if isinstance(value, tuple):
                return tuple(kept(f"{name}[{k}]", inner) for k, inner in enumerate(value))
            if value == DrawnSample(number):
                stored.add(name)
                self.names.setdefault(number, name)
                return StoredSample(name)
            return value

        self.values = {n: v if n in self.fixed else kept(n, v) for n, v in self.values.items()}
        self.segments[-1].stored = frozenset(stored)

    def decide(self, left: Value, word: str, right: Value, place: Place) -> bool:
        """Compares the last sample with a kept one."""
        if word in ("==", "!="):
            raise self.refuse("noise is equal to nothing: compare it with < or >=", place)
        if isinstance(left, Sum) and isinstance(right, Sum):
            raise self.refuse("noise is compared with a value that has a name: t = laplace(4 / eps)", place)
        if isinstance(left, Sum):
            left = self.draw(left, place)
            right = self.by_name(right)
        elif isinstance(right, Sum):
            right = self.draw(right, place)
            left = self.by_name(left)
        if self.is_old(left) or self.is_old(right):
            raise self.refuse("this value was drawn before: compare it at once", place)
        pairs = ((left, right), (right, left))
        kept = next(
            (b.name for a, b in pairs if isinstance(a, DrawnSample) and isinstance(b, StoredSample)), None
        )
        if kept is None:
            if has_noise(left) and has_noise(right):
                reason = "only the noise that was drawn last is compared, with a value that was drawn before"
            else:
                number = next((v for v in (left, right) if isinstance(v, Fraction)), Fraction(5))
                name = next((n for n, v in self.values.items() if v == number and type(v) is Fraction), "t")
                reason = (
                    "noise is compared with noisy values, not with numbers: "
                    f"draw the threshold before the loop, {name} = {number} + laplace(2 / eps)"
                )
            raise self.refuse(reason, place)
        guards = self.segments[-1].guards
        if kept not in guards:
            known = len(self.decisions)
            guards[kept] = self.given[known] if known < len(self.given) else True
            self.decisions.append(guards[kept])
        return guards[kept] is ((word in (">", ">=")) is isinstance(left, DrawnSample))

    def by_name(self, value: Value) -> Value:
        """Returns a sample that was the last one until now by its name."""
        if isinstance(value, DrawnSample) and value.number in self.names:
            return StoredSample(self.names[value.number])
        return value

    def output(self, node: Node) -> None:
        """Adds an output: a word, or the number that was drawn last."""
        value, now = self.value(node), self.segments[-1]
        if isinstance(value, Unit):
            raise self.refuse("a parameter cannot be output", node.place)
        if not has_noise(value):
            now.words.append(shown(value))
            return
        if isinstance(value, Sum) and value.rate is not None and value.reads and self.read:
            if now.draw is None or not now.draw.reads or now.second not in (None, value):
                reason = "output the second noisy value of an entry before other noise is drawn"
                raise self.refuse(reason, node.place)
            now.second = value
            now.words.append(SECOND)
            return
        if isinstance(value, Sum):
            value = self.draw(value, node.place)
        if not isinstance(value, DrawnSample):
            reason = "output a noisy number before the next noise is drawn, and alone, not in a list"
            raise self.refuse(reason, node.place)
        self.segments[-1].words.append(SAMPLE)


def shown(value: Value) -> str:
    """Returns a word of the output; different values have different words, and none is that of a number."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) and value not in ("True", "False", SAMPLE)
        return value if plain else json.dumps(value)
    return str(value)


def _undrawn(value: Value) -> bool:
    return any(map(_undrawn, value)) if isinstance(value, tuple) else isinstance(value, Sum)


def _without_draws(value: Value) -> Value:
    """Returns a value with 0 for sums with noise, which are drawn later."""
    if isinstance(value, tuple):
        return tuple(map(_without_draws, value))
    return Fraction(0) if isinstance(value, Sum) and value.rate is not None else value


def _draws(value: Value, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Sum]]:
    if isinstance(value, tuple):
        for k, inner in enumerate(value):
            yield from _draws(inner, (*path, k))
    elif isinstance(value, Sum) and value.rate is not None:
        yield path, value


MAX_HEADS = 2_000
MAX_TURNS = 20_000
NOTHING, CONFUSED = "(nothing)", "(not distinguished)"

Head = tuple[tuple[str, Value], ...] | None  # the variables between two turns; None before the stream
Where = tuple[int, tuple[bool, ...], int]  # a head, the comparisons before a draw, and how many draws


@dataclass(frozen=True)
class _OpenTransition:
    """A transition whose states are not numbered yet; no target is the end."""

    source: Where
    target: Where | None
    words: tuple[str, ...]
    segment: Segment


@dataclass(eq=False)
class _Turns:
    """All turns of a program: the heads, and what happens from each."""

    stream: Stream
    parameters: Mapping[str, Value]
    numbers: dict[Hashable, int] = field(default_factory=dict)  # of heads, by `key`: True is not 1
    turns: dict[int, list[StreamTurn]] = field(default_factory=dict)
    gone: dict[str, Place] = field(default_factory=dict)  # variables with an entry, which no later turn has

    def explore(self) -> None:
        """Runs all turns from all heads.

        Raises:
            LimitError: there are too many.
        """
        waiting: list[Head] = [None]
        self.numbers[key(None)] = 0
        count = 0
        for head in waiting:
            found = self.from_head(head)
            self.turns[self.numbers[key(head)]] = found
            count += len(found)
            for turn in found:
                following = turn.left()
                self.gone |= turn.lost()
                if not turn.ended and key(following) not in self.numbers:
                    self.numbers[key(following)] = len(self.numbers)
                    waiting.append(following)
            if len(self.numbers) > MAX_HEADS or count > MAX_TURNS:
                raise LimitError(self.too_many(waiting))

    def too_many(self, heads: Sequence[Head]) -> str:
        """Returns why there are too many turns: the variable that has most values, and its line."""
        values: dict[str, set[Hashable]] = {}
        for head in heads:
            for name, value in head or ():
                values.setdefault(name, set()).add(key(value))
        name = max(values, key=lambda n: len(values[n]), default="")
        assigned = [s for s in every_statement(self.stream.body) if isinstance(s, Assign) and name in s.names]
        if len(self.numbers) <= MAX_HEADS or not assigned:
            reason = f"between two entries the variables have more than {MAX_HEADS:,} values together"
            return f"{reason}, or there are too many comparisons: stop before a count grows without end"
        grows = f"{name} has {len(values[name]):,} values and more; stop before it grows"
        return f"line {assigned[-1].place.line} of the program: {grows}: if {name} == 3: stop"

    def from_head(self, head: Head) -> list[StreamTurn]:
        """Returns the turns from a head, for all outcomes of comparisons."""
        body: Sequence[Statement] = self.stream.setup if head is None else self.stream.body
        entry = "" if head is None else self.stream.name
        pending: list[tuple[bool, ...]] = [()]
        found = []
        while pending:
            given = pending.pop()
            turn = StreamTurn(self.stream.program.text, self.parameters, dict(head or ()), entry, given)
            turn.gone = self.gone
            found.append(turn.run(body, self.stream.place))
            for k in range(len(given), len(turn.decisions)):
                pending.append((*turn.decisions[:k], False))
            if len(found) + len(pending) > MAX_TURNS:
                raise LimitError(
                    f"the comparisons of one entry have more than {MAX_TURNS:,} outcomes together"
                )
        return found

    @property
    def late(self) -> bool:
        """Whether some turn puts out a word, or draws, before it draws its entry."""
        for number, turns in self.turns.items():
            first, *draws = turns[0].segments  # all turns begin alike
            if number and (first.words or (draws and draws[0].draw is not None and not draws[0].draw.reads)):
                return True
        return False

    def beginning(self, number: int) -> tuple[Where | None, tuple[str, ...]]:
        """Returns the first draw from a head, with the words before it; before the stream may be none."""
        turn = self.turns[number][0]  # nothing is compared before a draw: all turns begin alike
        words = tuple(turn.segments[0].words)
        if len(turn.segments) > 1:
            return (number, (), 1), words
        if turn.ended:
            return None, words
        where, more = self.beginning(self.numbers[key(turn.left())])
        return where, (*words, *more)

    def steps(self) -> list[_OpenTransition]:
        """Returns all transitions, each once."""
        found: dict[tuple[Where, tuple[bool, ...]], _OpenTransition] = {}
        for number, turns in sorted(self.turns.items()):
            for turn in turns:
                for k, segment in enumerate(turn.segments[1:], start=2):
                    source = number, tuple(turn.decisions[: segment.before]), k - 1
                    words, target = tuple(segment.words), None
                    last = k == len(turn.segments)
                    until = len(turn.decisions) if last else turn.segments[k].before
                    if not last:
                        target = number, tuple(turn.decisions[:until]), k
                    elif not turn.ended:
                        target, more = self.beginning(self.numbers[key(turn.left())])
                        words = (*words, *more)
                    taken = source, tuple(turn.decisions[segment.before : until])
                    found.setdefault(taken, _OpenTransition(source, target, words, segment))
        return list(found.values())


def translate(stream: Stream, parameters: Mapping[str, Value]) -> Automaton:
    """Returns the automaton of a stream program; `parameters` are those of the case.

    Raises:
        ProgramError: something that no automaton does, with the place and what to write instead.
        LimitError: too many values of the variables.
    """
    turns = _Turns(stream, parameters)
    turns.explore()
    first, _ = turns.beginning(0)
    steps = turns.steps()
    leaving: dict[Where, list[_OpenTransition]] = {} if first is None else {first: []}
    for step in steps:
        leaving.setdefault(step.source, []).append(step)
    leaving = {where: _merged(found) for where, found in leaving.items()}
    steps = [step for found in leaving.values() for step in found]
    number = {where: k for k, where in enumerate(leaving)}
    states = [_state(where, found, stream) for where, found in leaving.items()]
    names = [_name(state.line, states[:k]) for k, state in enumerate(states)]
    states = [replace(s, name=n) for n, s in zip(names, states, strict=True)]
    ends = [State("end", False, Fraction(1), Fraction(0))]
    variables = sorted({v for step in steps for v in (*step.segment.stored, *step.segment.guards)})
    at = {name: k for k, name in enumerate(variables)}
    made = []
    for where, found in leaving.items():
        for step, output in zip(found, _outputs(found, stream), strict=True):
            guards = step.segment.guards
            made.append(
                Transition(
                    number[where],
                    len(states) if step.target is None else number[step.target],
                    output,
                    above=frozenset(at[v] for v, above in guards.items() if above),
                    below=frozenset(at[v] for v, above in guards.items() if not above),
                    stored=frozenset(at[v] for v in step.segment.stored),
                    line=step.segment.place.line,
                )
            )
    return Automaton((*states, *ends), tuple(variables), tuple(made), late=turns.late)


def _merged(steps: Sequence[_OpenTransition]) -> list[_OpenTransition]:
    """Returns transitions in which comparisons are left out that change nothing."""
    found = list(steps)
    while True:
        pairs = ((k, j, _without(found[k], found[j])) for j in range(len(found)) for k in range(j))
        joined = next(((k, j, both) for k, j, both in pairs if both is not None), None)
        if joined is None:
            return found
        k, j, both = joined
        found = [*found[:k], both, *found[k + 1 : j], *found[j + 1 :]]


def _without(one: _OpenTransition, other: _OpenTransition) -> _OpenTransition | None:
    """Returns one transition for two that differ in the outcome of one comparison only; None else."""
    mine, theirs = one.segment, other.segment
    same = (one.target, one.words, mine.stored, mine.second) == (
        other.target,
        other.words,
        theirs.stored,
        theirs.second,
    )
    if not same or mine.guards.keys() != theirs.guards.keys():
        return None
    differing = [name for name, above in mine.guards.items() if theirs.guards[name] is not above]
    if len(differing) != 1:
        return None
    guards = {name: above for name, above in mine.guards.items() if name not in differing}
    return replace(one, segment=replace(mine, guards=guards))


def _name(line: int, before: Sequence[State]) -> str:
    same = sum(state.line == line for state in before)
    return f"line{line}" if not same else f"line{line}_{same + 1}"


def _state(where: Where, found: Sequence[_OpenTransition], stream: Stream) -> State:
    draw, place = found[0].segment.draw, found[0].segment.place
    assert draw is not None
    assert draw.rate is not None
    seconds = {step.segment.second for step in found} - {None}
    if len(seconds) > 1:
        reason = "two branches output the entry with different noise: use the same scale and mean in both"
        raise ProgramError(reason, stream.program.text, *place)
    second: Sum | None = next(iter(seconds), None)
    pair = None if second is None or second.rate is None else (second.rate, second.mean)
    return State(str(where), draw.reads, draw.rate, draw.mean, second=pair, line=place.line)


def _outputs(found: Sequence[_OpenTransition], stream: Stream) -> list[str]:
    """Returns the output of each transition of a state: its words, or its number."""
    told = [tuple("" if w in (SAMPLE, SECOND) else w for w in step.words) for step in found]
    numbers = [[w for w in step.words if w in (SAMPLE, SECOND)] for step in found]
    begins = any(
        one == other[: len(one)] for k, one in enumerate(told) for j, other in enumerate(told) if j != k
    )
    place = found[0].segment.place
    if any(len(own) > 1 for own in numbers):
        raise ProgramError("two numbers are output after one draw", stream.program.text, *place)
    if begins and any(numbers):
        reason = "a branch outputs a number, and outputs do not show which branch it is: output a word first"
        raise ProgramError(reason, stream.program.text, *place)
    if begins:
        return [CONFUSED] * len(found)
    return [
        own[0] if own else ", ".join(step.words) or NOTHING for step, own in zip(found, numbers, strict=True)
    ]
