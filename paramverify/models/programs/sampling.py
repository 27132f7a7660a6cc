"""Running a program as it is written, on many random draws at once.

Nothing of the exact analysis is used: numbers are numpy arrays with one entry for each run, and a mask tells
which runs take a branch. So a sample tests the analysis, and an implementation can be tested against the
program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.errors import LimitError, ProgramError
from paramverify.models.programs.expressions import IN_PLACE, NOISE
from paramverify.models.programs.syntax import (
    Apply,
    Assign,
    Call,
    Choice,
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
)

if TYPE_CHECKING:
    import numpy as np

MAX_TURNS = 10_000

Array = Any  # an array with one entry for each run, or a list of such
Mask = Any


@dataclass
class _Frame:
    """The variables of the program, or of one call of a function, and which runs have left it."""

    values: dict[str, Array]
    left: Mask
    result: Array = None
    loops: list[_Loop] = field(default_factory=list)


@dataclass
class _Loop:
    """Which runs have left a loop, and which its present turn."""

    broken: Mask
    continued: Mask


@dataclass(eq=False)
class Sampler:
    """One program on `size` runs; `symbols` are the parameters of the case at a point."""

    program: Program
    symbols: Mapping[str, float]
    rng: np.random.Generator
    size: int
    outputs: list[tuple[Mask, Array]] = field(default_factory=list)

    def run(self, inputs: Mapping[str, Array]) -> list[tuple[Array, ...]]:
        """Returns the outputs of each run."""
        import numpy as np

        frame = _Frame(dict(inputs), np.zeros(self.size, dtype=bool))
        self.frames = [frame]
        self.block(self.program.body, np.ones(self.size, dtype=bool))
        found: list[list[Any]] = [[] for _ in range(self.size)]
        for mask, value in self.outputs:
            for k in np.flatnonzero(mask):
                found[k].append(_at(value, int(k)))
        return [tuple(row) for row in found]

    def error(self, reason: str, place: Place) -> ProgramError:
        return ProgramError(reason, self.program.text, *place)

    @property
    def frame(self) -> _Frame:
        return self.frames[-1]

    def going(self, mask: Mask) -> Mask:
        """Returns the runs of a mask that are still in the block."""
        mask = mask & ~self.frames[0].left & ~self.frame.left
        for loop in self.frame.loops:
            mask = mask & ~loop.broken & ~loop.continued
        return mask

    def block(self, statements: Sequence[Statement], mask: Mask) -> None:
        for statement in statements:
            mask = self.going(mask)
            if not mask.any():
                return
            self.statement(statement, mask)

    def statement(self, statement: Statement, mask: Mask) -> None:
        match statement:
            case Assign():
                self.assign(statement, mask)
            case Output(value, _):
                self.outputs.append((mask, self.value(value, mask)))
            case Return(value, _):
                found = self.value(value, mask)
                if len(self.frames) == 1:
                    self.outputs.append((mask, found))
                else:
                    known = self.frame.result
                    self.frame.result = found if known is None else _where(mask, found, known)
                self.frame.left = self.frame.left | mask
            case If(test, then, otherwise, _):
                yes = self.truth(test, mask)
                self.block(then, mask & yes)
                self.block(otherwise, mask & ~yes)
            case For() | While():
                self.loop(statement, mask)
            case Jump("break", _):
                self.frame.loops[-1].broken |= mask
            case Jump("continue", _):
                self.frame.loops[-1].continued |= mask
            case Jump():
                self.frames[0].left = self.frames[0].left | mask

    def assign(self, statement: Assign, mask: Mask) -> None:
        if isinstance(statement.value, Call):
            value = self.call(statement.value, mask)
        else:
            value = self.value(statement.value, mask)
        if statement.indices:
            (name,) = statement.names
            where = [self.value(i, mask) for i in statement.indices]
            self.frame.values[name] = self.entered(self.frame.values[name], where, value, mask)
            return
        self.bind(statement.names, value, mask)

    def bind(self, names: tuple[str, ...], value: Array, mask: Mask) -> None:
        values = [value] if len(names) == 1 else value
        for name, entry in zip(names, values, strict=True):
            known = self.frame.values.get(name)
            self.frame.values[name] = entry if known is None else _where(mask, entry, known)

    def entered(self, inside: Array, where: Sequence[Array], value: Array, mask: Mask) -> Array:
        if not where:
            return _where(mask, value, inside)
        found = list(inside)
        for k in range(len(found)):
            here = mask & ((where[0] == k) | (where[0] == k - len(found)))
            if here.any():
                found[k] = self.entered(found[k], where[1:], value, here)
        return found

    def call(self, call: Call, mask: Mask) -> Array:
        import numpy as np

        function = self.program.functions[call.name]
        given = [self.value(a, mask) for a in call.arguments]
        frame = _Frame(dict(zip(function.parameters, given, strict=True)), np.zeros(self.size, dtype=bool))
        self.frames.append(frame)
        self.block(function.body, mask)
        self.frames.pop()
        return frame.result

    def loop(self, statement: For | While, mask: Mask) -> None:
        import numpy as np

        nobody = np.zeros(self.size, dtype=bool)
        loop = _Loop(nobody.copy(), nobody.copy())
        self.frame.loops.append(loop)
        if isinstance(statement, For):
            for values, turn_mask in self.turns(statement, mask):
                loop.continued = nobody.copy()
                inside = self.going(turn_mask)
                if inside.any():
                    self.bind(statement.names, values, inside)
                    self.block(statement.body, inside)
        else:
            for _ in range(MAX_TURNS):
                loop.continued = nobody.copy()
                inside = self.going(mask)
                inside = inside & self.truth(statement.test, inside) if inside.any() else inside
                if not inside.any():
                    break
                mask = inside
                self.block(statement.body, inside)
            else:
                raise LimitError(f"a while loop goes on for more than {MAX_TURNS:,} turns")
        self.frame.loops.pop()

    def turns(self, statement: For, mask: Mask) -> list[tuple[Array, Mask]]:
        values = statement.values
        if isinstance(values, Apply) and values.operator == "range":
            return self.numbers(values, mask)
        return [(entry, mask) for entry in self.value(values, mask)]

    def numbers(self, node: Apply, mask: Mask) -> list[tuple[Array, Mask]]:
        """Returns the turns of a loop over a range, whose ends may differ from run to run."""
        import numpy as np

        given = [self.value(a, mask) for a in node.arguments]
        start, end = (np.zeros(self.size), given[0]) if len(given) == 1 else given[:2]
        step = given[2] if len(given) == 3 else np.ones(self.size)
        found: list[tuple[Array, Mask]] = []
        k = 0
        while True:
            value = start + k * step
            inside = mask & np.where(step > 0, value < end, value > end)
            if not inside.any():
                return found
            found.append((value, inside))
            k += 1

    def truth(self, node: Node, mask: Mask) -> Mask:
        return self.value(node, mask).astype(bool)

    def value(self, node: Node, mask: Mask) -> Array:
        import numpy as np

        match node:
            case Literal(value, _):
                return np.full(self.size, _float(value))
            case Variable(name, place):
                if name in self.frame.values:
                    return self.frame.values[name]
                if name in self.symbols:
                    return np.full(self.size, self.symbols[name])
                raise self.error(f"{name} has no value here", place)
            case Items(items, _):
                return [self.value(i, mask) for i in items]
            case Choice(table, _):
                shares = [float(self.value(p, mask)[0]) for _, p in table]
                drawn = self.rng.choice(len(table), size=self.size, p=np.array(shares) / sum(shares))
                options = np.array([_float(v) for v, _ in table], dtype=_kind([v for v, _ in table]))
                return options[drawn]
            case Apply(word, arguments, _):
                return self.applied(word, arguments, mask)
            case Call():
                return self.call(node, mask)

    def applied(self, word: str, arguments: Sequence[Node], mask: Mask) -> Array:

        if word == "if":
            yes = self.truth(arguments[0], mask)
            return _where(yes, self.value(arguments[1], mask & yes), self.value(arguments[2], mask & ~yes))
        if word in ("and", "or"):
            found = self.value(arguments[0], mask)
            for other in arguments[1:]:
                true = found.astype(bool)
                rest = mask & true if word == "and" else mask & ~true
                if rest.any():
                    found = _where(rest, self.value(other, rest), found)
            return found
        given = [self.value(a, mask) for a in arguments]
        if word in NOISE:
            return self.draw(word, given)
        if word == "index":
            return self.entry(given[0], given[1], mask)
        if word == "slice":
            ends = [int(end[mask][0]) for end in given[1:]]
            return given[0][ends[0] :] if len(ends) == 1 else given[0][ends[0] : ends[1]]
        return _operators()[word.removesuffix("=") if word in IN_PLACE else word](*given)

    def entry(self, values: Sequence[Array], where: Array, mask: Mask) -> Array:
        found = values[0] if values else None
        for k, value in enumerate(values):
            here = mask & ((where == k) | (where == k - len(values)))
            if here.any():
                found = _where(here, value, found)
        return found

    def draw(self, word: str, given: Sequence[Array]) -> Array:
        """Draws noise for all runs."""
        import numpy as np

        rng, size = self.rng, self.size
        match word:
            case "flip":
                return rng.random(size) < given[0]
            case "uniform":
                return np.floor(given[0] + rng.random(size) * (given[1] - given[0] + 1))
            case "binomial":
                return rng.binomial(given[0].astype(int), given[1]).astype(float)
            case "one_sided_geometric":
                return rng.geometric(1 - given[0]).astype(float) - 1
            case "geometric":
                # the difference of two independent one-sided ones has this distribution
                return rng.geometric(1 - given[0]).astype(float) - rng.geometric(1 - given[0])
            case "laplace":
                return rng.laplace(0.0, given[0])
            case _:
                return rng.exponential(given[0])


def _operators() -> dict[str, Callable[..., Array]]:
    import numpy as np

    def extreme(better: Callable[[Array, Array], Mask]) -> Callable[..., Array]:
        def found(*values: Array) -> Array:
            listed = list(values[0]) if len(values) == 1 else list(values)
            result = listed[0]
            for value in listed[1:]:
                result = _where(better(value, result), value, result)
            return result

        return found

    def contained(value: Array, values: Sequence[Array]) -> Array:
        found = np.zeros(len(value), dtype=bool)
        for entry in values:
            found = found | (value == entry)
        return found

    def plus(left: Array, right: Array) -> Array:
        return left + right if isinstance(left, list) else _number(left) + _number(right)

    def times(left: Array, right: Array) -> Array:
        if isinstance(left, list):
            return left * int(right[0])
        return right * int(left[0]) if isinstance(right, list) else _number(left) * _number(right)

    return {
        "+": plus,
        "-": lambda a, b: _number(a) - _number(b),
        "*": times,
        "/": lambda a, b: _number(a) / _number(b),
        "//": lambda a, b: np.floor_divide(_number(a), _number(b)),
        "%": lambda a, b: np.mod(_number(a), _number(b)),
        "**": lambda a, b: _number(a) ** _number(b),
        "neg": lambda a: -_number(a),
        "not": lambda a: ~a.astype(bool),
        "exp": lambda a: np.exp(_number(a)),
        "abs": lambda a: np.abs(_number(a)),
        "sum": lambda values: sum(values[1:], values[0]) if values else 0.0,
        "min": extreme(np.less),
        "max": extreme(np.greater),
        "clamp": lambda a, low, high: np.minimum(np.maximum(a, low), high),
        "len": lambda values: np.full(len(values[0]) if values else 1, float(len(values))),
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "in": contained,
        "not in": lambda a, b: ~contained(a, b),
    }


def _number(value: Array) -> Array:
    return value.astype(float) if value.dtype == bool else value


def _float(value: Fraction | str | bool) -> float | str | bool:
    return float(value) if isinstance(value, Fraction) else value


def _kind(values: Sequence[object]) -> Any:
    kinds = {type(v) for v in values}
    if kinds == {bool}:
        return bool
    return float if kinds == {Fraction} else object


def _where(mask: Mask, value: Array, other: Array) -> Array:
    """Returns an array with one of two values for each run; True stays apart from 1."""
    import numpy as np

    if isinstance(value, list) or isinstance(other, list):
        return [_where(mask, a, b) for a, b in zip(value, other, strict=True)]
    if value.dtype == other.dtype:
        return np.where(mask, value, other)
    return np.where(mask, value.astype(object), other.astype(object))


def _at(value: Array, k: int) -> Any:
    """Returns the plain value of one run."""
    if isinstance(value, list):
        return tuple(_at(v, k) for v in value)
    found = value[k]
    if isinstance(found, str):
        return str(found)
    if isinstance(found, bool) or value.dtype == bool:
        return bool(found)
    return Fraction(float(found)).limit_denominator(1_000_000)
