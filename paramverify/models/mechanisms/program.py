"""`kind = "program"`: a mechanism that the user writes, in a subset of Python; see `models/programs/`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, LimitError, located
from paramverify.models.conditions import Part as Place
from paramverify.models.conditions import Shape
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM, one_shot
from paramverify.models.mechanisms import (
    Drawing,
    Input,
    Mechanism,
    compare,
    neighbouring_inputs,
    show_input,
)
from paramverify.models.names import distinct
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.models.programs.expressions import RESERVED
from paramverify.models.programs.reading import read_program
from paramverify.models.programs.running import outputs_of
from paramverify.models.programs.sampling import Sampler
from paramverify.models.programs.syntax import Program
from paramverify.models.programs.values import Plain, Unread
from paramverify.models.programs.values import Value as Inside
from paramverify.tables import Table, as_expression, check_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHECKED = True  # the probabilities of the outputs sum to one, identically; each draw was checked
FILES = ("file",)  # keys of `[mechanism]` that name files

MAX_VALUES = 1_000  # of one input
MAX_LENGTH = 1_000  # of one array

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]*[A-Za-z0-9_.-]|[A-Za-z_]")
_RANGE = re.compile(r"\s*(-?[0-9]{1,6})\s*\.\.\s*(-?[0-9]{1,6})\s*")


class Anything(tuple[Value, ...]):
    """The possible values of an input that the prior gives: whatever the expression says."""

    def __contains__(self, value: object) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class ProgramMechanism:
    """A program with its inputs, in the order of the case; an array takes as many places as it is long."""

    checks: Checks
    program: Program
    places: tuple[Place, ...]
    queries: tuple[Expression, ...]
    answers: tuple[tuple[Value, ...], ...]
    key: str  # where the program stands: `source` or `file`

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the model with a state for each distinct input, an observation for each whole output."""
        order = {given: k for k, given in enumerate(dict.fromkeys(inputs))}
        plain = [tuple(_plain(v) for v in given) for given in order]
        with located(key=f"mechanism.{self.key}", anchored=True):
            found = outputs_of(self.program, self.names(), plain, self.checks)
        rows = [{shown_output(outputs): share for outputs, share in row} for row in found]
        outputs = sorted({name for row in rows for name in row}, key=_natural)
        zero = RationalFunction.of(self.checks.ring.number(0))
        table = [[row.get(name, zero) for name in outputs] for row in rows]
        hmm = one_shot(self.checks, [show_input(x) for x in order], outputs, table)
        one = self.checks.ring.number(1)
        return hmm, [InitialDistribution.point(order[given], one) for given in inputs]

    def names(self) -> Mapping[str, Inside]:
        """Returns the program's variables at its start."""
        found: dict[str, Inside] = {}
        start = 0
        for place in self.places:
            end = start + (place.length or 1)
            entries = tuple(map(Unread, range(start, end)))
            found[place.name] = entries[0] if place.length is None else entries
            start = end
        return found

    def run_at(self, values: Mapping[str, float]) -> Drawing:
        """Returns the program itself, to be run with the parameters as numbers."""
        return Drawn(self.program, self.places, dict(values))

    @property
    def shape(self) -> Shape:
        """The inputs of the program, with their names."""
        return self.places

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the model of all neighbouring inputs that the table describes, and the pairs."""
        return compare(self, neighbouring_inputs(table, self.answers, shape=self.shape))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Runs a program with the parameters as numbers."""

    program: Program
    places: tuple[Place, ...]
    values: Mapping[str, float]

    def __call__(self, rng: np.random.Generator, given: tuple[Any, ...], size: int) -> NDArray[Any]:
        """Returns `size` outputs, in the words of the model."""
        import numpy as np

        entries = iter(given)
        inputs: dict[str, Any] = {}
        for place in self.places:
            arrays = [np.full(size, _number(next(entries))) for _ in range(place.length or 1)]
            inputs[place.name] = arrays[0] if place.length is None else arrays
        found = Sampler(self.program, self.values, rng, size).run(inputs)
        return np.array([shown_output(outputs) for outputs in found], dtype=object)


def _number(value: Any) -> float | str:
    return value if isinstance(value, str) else float(value)


def _plain(value: Value) -> Fraction | str:
    return Fraction(value) if isinstance(value, bool) else value


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `source` or `file`, and `[mechanism.inputs]`."""
    if ("source" in table) == ("file" in table):
        raise CaseError(f"give either source or file{table.hint('source', 'file')}")
    name = "source" if "source" in table else "file"
    text = table.text("source") if name == "source" else checks.files["file"]
    table.get(name)
    with located(key=name):
        program = read_program(text)
    places: list[Place] = []
    queries: list[Expression] = []
    answers: list[tuple[Value, ...]] = []
    with table.within("inputs") as inputs:
        for key in inputs:
            with located(key=key):
                _check(key, checks)
                found = _Given.read(inputs, key)
            places.append(Place(key, found.length))
            queries += found.queries
            answers += found.answers
    if not answers:
        raise CaseError("the program has no inputs: what is private?", key="inputs")
    if queries and len(queries) != len(answers):
        reason = "give all inputs by their values, for [neighbours], or all by expressions over [prior]"
        raise CaseError(reason, key="inputs")
    return ProgramMechanism(checks, program, tuple(places), tuple(queries), tuple(answers), key=name)


def _check(name: str, checks: Checks) -> None:
    check_name(name)
    if name in RESERVED:
        raise CaseError("this is a word of the language; choose another name")
    if name in (*checks.ring.parameters, *(u.name for u in checks.ring.unbounded)):
        raise CaseError("this is the name of a parameter too; choose another name")


@dataclass(frozen=True)
class _Given:
    """What `[mechanism.inputs]` says of one input."""

    length: int | None
    queries: tuple[Expression, ...]
    answers: tuple[tuple[Value, ...], ...]

    @staticmethod
    def read(inputs: Table, name: str) -> _Given:
        value = inputs.get(name)
        if isinstance(value, dict):
            return _Given._of_values(Table(value))
        listed = value if isinstance(value, list) else [value]
        if not listed:
            raise CaseError("an empty list")
        queries = tuple(as_expression(entry) for entry in listed)
        length = len(queries) if isinstance(value, list) else None
        return _Given(length, queries, (Anything(),) * len(queries))

    @staticmethod
    def _of_values(table: Table) -> _Given:
        length = table.integer("length", 1, MAX_LENGTH) if "length" in table else None
        given = table.need("values")
        with located(key="values"):
            values = _values(given)
        table.close()
        return _Given(length, (), (values,) * (length or 1))


def _values(given: object) -> tuple[Value, ...]:
    if isinstance(given, list):
        found = tuple(distinct(given))
    else:
        match = _RANGE.fullmatch(given) if isinstance(given, str) else None
        if match is None:
            raise CaseError('a range such as "-1..1" or a list of values is needed here')
        low, high = int(match[1]), int(match[2])
        if high - low >= MAX_VALUES:
            raise LimitError(f"an input has more than {MAX_VALUES:,} values")
        found = tuple(Fraction(v) for v in range(low, high + 1))
    if not found:
        raise CaseError("there are no values")
    if len(found) > MAX_VALUES:
        raise LimitError(f"an input has more than {MAX_VALUES:,} values")
    return found


def shown_output(outputs: Sequence[Plain]) -> str:
    """Returns an output in words; different outputs have different words."""
    return ", ".join(_shown(v) for v in outputs) if outputs else "(no output)"


def _shown(value: Plain) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) and value not in ("True", "False")
        return value if plain else json.dumps(value)
    return str(value)


def _natural(name: str) -> tuple[tuple[int, Fraction, str], ...]:
    """Returns a key by which numbers stand in their order."""
    parts = re.split(r"(-?\d+)", name)
    return tuple((1, Fraction(p), "") if re.fullmatch(r"-?\d+", p) else (0, Fraction(0), p) for p in parts)
