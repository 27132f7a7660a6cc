"""What the expressions of a stream program mean: exact values, and noise that was not drawn yet.

Everything that has no noise is computed. A `Sum` is a number, plus the entry of the stream or not, plus one
Laplace noise or not. It is drawn where it is assigned, compared or put out (`streams`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from paramverify.errors import InputError, ProgramError
from paramverify.models.programs.syntax import Apply, Items, Literal, Node, Place, Variable

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
class Sample:
    """A sum that was drawn: the number of the draw, in the order of a run."""

    number: int


@dataclass(frozen=True)
class StoredSample:
    """A sample of an earlier step, which the variable of this name keeps."""

    name: str


Value = Fraction | str | bool | tuple[Any, ...] | Unit | Sum | Sample | StoredSample
Noisy = (Sum, Sample, StoredSample)
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
            if isinstance(left, (Sample, StoredSample)) or isinstance(right, (Sample, StoredSample)):
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
