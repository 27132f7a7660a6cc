"""The values that variables of a program have, and what two runs have in common.

A value is a number, a label, True or False, a list, a number that depends on noise (`Linear`), or an
expression in the parameters of the case (`Symbol`). `DEAD` stands for an entry that nothing reads any more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.trees import Node as Tree
from paramverify.models.programs.liveness import WHOLE, Live
from paramverify.models.programs.measure import Linear, Measure
from paramverify.models.programs.runs import Outputs, Runs
from paramverify.models.programs.runs import key as plain_key


@dataclass(frozen=True)
class Symbol:
    """An expression in the parameters of the case."""

    tree: Tree


@dataclass(frozen=True)
class Dead:
    """The entry of a list that nothing reads any more."""


DEAD = Dead()


@dataclass(frozen=True)
class Unread:
    """The input at a place, which no run has read yet: it may have any of its values."""

    place: int


Value = Fraction | str | bool | Linear | Symbol | Dead | Unread | tuple["Value", ...]


@dataclass(frozen=True, eq=False)
class ProgramState:
    """Runs that have the same values in all variables, with their weight.

    The weight of runs of which the same is told is `runs[told]` times the measure. `aliases` gives noise that
    was replaced by a difference of others since the statement began. `released` are the numbers with noise
    that were put out: they stay alive. `trace` is what led here, for those who ask for it; it does not keep
    states apart.
    """

    values: Mapping[str, Value]
    runs: Runs
    measure: Measure
    aliases: Mapping[int, Linear]
    trace: tuple[object, ...] = ()
    released: tuple[Linear, ...] = ()

    @property
    def outputs(self) -> Outputs:
        """The outputs so far of the first run: of all runs, where those with others are kept apart."""
        written, _ = next(iter(self.runs))
        return written.outputs

    def releasing(self, value: Linear) -> ProgramState:
        """Returns the state with one more number with noise that was put out."""
        return replace(self, released=(*self.released, value))


def key(value: object) -> Hashable:
    """Returns what tells values apart; True is not 1 here."""
    if isinstance(value, tuple):
        return ("list", tuple(map(key, value)))
    if isinstance(value, Symbol):
        return ("symbol", str(value.tree))
    return plain_key(value)


def common(state: ProgramState) -> Hashable:
    """Returns what states that can be merged have in common."""
    values = tuple(sorted((name, key(value)) for name, value in state.values.items()))
    return (values, state.released, tuple(sorted(state.measure.whole.items())))


def read(state: ProgramState, place: int, value: Fraction | str, runs: Runs) -> ProgramState:
    """Returns the runs in which the input at a place has a value."""

    def put(inside: Value) -> Value:
        if isinstance(inside, Unread):
            return value if inside.place == place else inside
        return tuple(put(v) for v in inside) if isinstance(inside, tuple) else inside

    return replace(state, values={name: put(inside) for name, inside in state.values.items()}, runs=runs)


def unread(value: Value) -> list[Unread]:
    """Returns the inputs in a value that were not read yet."""
    if isinstance(value, Unread):
        return [value]
    if isinstance(value, tuple):
        return [found for v in value for found in unread(v)]
    return []


def mapped(value: Value, change: Callable[[Linear], Value]) -> Value:
    """Returns a value with another one for each number that depends on noise."""
    if isinstance(value, Linear):
        return change(value)
    if isinstance(value, tuple):
        return tuple(mapped(v, change) for v in value)
    return value


def linears(value: Value) -> list[Linear]:
    """Returns the numbers of a value that depend on noise, in their order."""
    if isinstance(value, Linear):
        return [value]
    if isinstance(value, tuple):
        return [found for v in value for found in linears(v)]
    return []


def resolved(value: Linear, aliases: Mapping[int, Linear]) -> Linear | Fraction:
    """Returns a number by the noise that is there now."""
    result: Linear | Fraction = value
    while isinstance(result, Linear):
        name = next((n for n in result.names if n in aliases), None)
        if name is None:
            return result
        k = dict(result.slopes)[name]
        rest = Linear.of({n: c for n, c in result.slopes if n != name}, result.constant)
        result = aliases[name].scaled(k) if not isinstance(rest, Linear) else rest
        if isinstance(rest, Linear):
            result = rest.plus(aliases[name], k)
        elif isinstance(result, Linear):
            result = result.plus(rest)
        else:
            result = result + rest
    return result


def forgotten(values: Mapping[str, Value], live: Live) -> dict[str, Value]:
    """Returns the variables that are still read; entries of lists that are not read become `DEAD`."""
    cells: dict[str, set[int]] = {}
    for name, number in live:
        cells.setdefault(name, set()).add(number)
    found: dict[str, Value] = {}
    for name, value in values.items():
        read = cells.get(name)
        if read is None:
            continue
        if isinstance(value, tuple) and WHOLE not in read:
            value = tuple(v if k in read else DEAD for k, v in enumerate(value))
        found[name] = value
    return found


def pruned(state: ProgramState, live: Live) -> ProgramState:
    """Returns a state without what is not read any more; the noise that is gone is summed out."""
    values: dict[str, Value] = {
        name: mapped(value, lambda v: resolved(v, state.aliases))
        for name, value in sorted(forgotten(state.values, live).items())
    }
    released = tuple(v for r in state.released for v in linears(resolved(r, state.aliases)))
    used = {
        name for entry in (*values.values(), released) for value in linears(entry) for name in value.names
    }
    measure = state.measure.without(set(state.measure.whole) - used)
    return replace(state, values=values, measure=measure, aliases={}, released=released)


def settled(state: ProgramState, live: Live) -> ProgramState:
    """Returns a state in its canonical form: what is not read is gone, and the noise is numbered from 1.

    Each variable is moved so that the first value that has it is the variable itself.
    """
    state = pruned(state, live)
    values, measure = state.values, state.measure
    found = [value for entry in (*values.values(), state.released) for value in linears(entry)]
    moves: dict[int, Fraction] = {}
    order: dict[int, int] = {}
    for value in found:
        for name in value.names:
            if name not in order:
                order[name] = len(order) + 1
                ((_, slope), *others) = value.slopes
                if not others and slope == 1:
                    by = value.constant
                    moves[name] = Fraction(by.__floor__()) if measure.whole[name] else by
    for name, by in moves.items():
        if by:
            measure = measure.moved(name, by)

    def renumbered(value: Linear) -> Linear:
        moved = value.constant - sum(k * moves.get(n, Fraction(0)) for n, k in value.slopes)
        return Linear(tuple(sorted((order[n], k) for n, k in value.slopes)), Fraction(moved))

    values = {name: mapped(value, renumbered) for name, value in values.items()}
    released = tuple(map(renumbered, state.released))
    return replace(state, values=values, measure=measure.renamed(order), released=released)
