"""`kind = "program"`: a mechanism that the user writes, in a subset of Python; see `models/programs/`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, LimitError, gathered, key_that_is_read, located
from paramverify.keys import (
    EXPRESSION,
    FILE,
    NAME,
    TEXT,
    VALUE,
    Either,
    Key,
    Leaf,
    Listed,
    Section,
    exactly_one,
    whole,
)
from paramverify.models.conditions import Part, Shape
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
from paramverify.models.programs.columns import Number
from paramverify.models.programs.control import Edge, control_graph
from paramverify.models.programs.defined import as_numbers
from paramverify.models.programs.explaining import Explainer
from paramverify.models.programs.expressions import RESERVED
from paramverify.models.programs.possible import check_comparisons
from paramverify.models.programs.reading import read_program
from paramverify.models.programs.running import outputs_of
from paramverify.models.programs.runs import Between, Outputs, flat, is_density
from paramverify.models.programs.sampling import Outcomes, Sampler
from paramverify.models.programs.syntax import Program
from paramverify.models.programs.values import Unread
from paramverify.models.programs.values import Value as Inside
from paramverify.models.programs.words import Words, in_range, natural, shown_output
from paramverify.tables import Table, as_expression, check_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLD = "A program is run on each input; its outputs are what it puts out, and noise is never cut off."

RANGES = "an output with a range, such as '>= 2', is a set of outputs: each of them has the ratio of the set"

DENSITIES = (
    "an output such as 'at 0' or 'just above 0' is a place of a continuous output: Pr stands for the density "
    "there, up to a factor that is the same under all inputs"
)

CHECKED = True  # the probabilities of the outputs sum to one, identically; each draw was checked
FILES = ("file",)  # keys of `[mechanism]` that name files

MAX_VALUES = 1_000  # of one input
MAX_LENGTH = 1_000  # of one array

RANGE = Leaf(
    'a range such as "-1..1"',
    {"type": "string", "pattern": r"^\s*-?[0-9]{1,6}\s*\.\.\s*-?[0-9]{1,6}\s*$"},
)
INPUT = Section(
    "[mechanism.inputs.NAME]",
    "An input with a set of values, for [neighbours].",
    (
        Key("length", whole(1, MAX_LENGTH), "The length, if the input is an array."),
        Key(
            "values",
            Either((RANGE, Listed("a list of values", VALUE, least=1))),
            'The possible values, of each entry if it is an array: a list, or a range such as "0..3".',
            needed=True,
        ),
    ),
)
INPUTS = Section(
    "[mechanism.inputs]",
    "The inputs of the program: what is private.",
    others=Key(
        "NAME",
        Either((EXPRESSION, Listed("a list of expressions", EXPRESSION, least=1), INPUT)),
        "An input: an expression over the variables of [prior], a list of them for an array, or its values.",
    ),
    names=NAME,
    least=1,
)
SECTION = Section(
    "program",
    "A mechanism that is written in a subset of Python.",
    (
        Key("source", TEXT, "The text of the program."),
        Key("file", FILE, "The file of the program, relative to the case file."),
        Key("inputs", INPUTS, needed=True),
    ),
    rules=(exactly_one("source", "file"),),
)

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
    places: tuple[Part, ...]
    queries: tuple[Expression, ...]
    answers: tuple[tuple[Value, ...], ...]
    key: str  # where the program stands, such as `mechanism.source`
    ranges: dict[str, Outputs] = field(default_factory=dict)  # observations that are sets of outputs

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the model with a state for each distinct input, an observation for each whole output."""
        order = {given: k for k, given in enumerate(dict.fromkeys(inputs))}
        plain = [plain_input(given) for given in order]
        with located(key=self.key, anchored=True):
            found = outputs_of(self.program, self.names(), plain, self.checks)
        rows = [{shown_output(outputs): share for outputs, share in row} for row in found]
        self.note_ranges(outputs for row in found for outputs, _ in row)
        outputs = sorted({name for row in rows for name in row}, key=natural)
        zero = RationalFunction.of(self.checks.ring.number(0))
        table = [[row.get(name, zero) for name in outputs] for row in rows]
        densities = DENSITIES in self.checks.notes
        hmm = one_shot(self.checks, [show_input(x) for x in order], outputs, table, densities)
        one = self.checks.ring.number(1)
        return hmm, [InitialDistribution.point(order[given], one) for given in inputs]

    def note_ranges(self, observations: Iterable[Outputs]) -> None:
        """Keeps the observations that stand for many outputs, and says in a note what they are."""
        found = {shown_output(o): o for o in observations if any(isinstance(v, Between) for v in flat(o))}
        self.ranges.update(found)
        dense = any(map(is_density, found.values()))
        wide = any(isinstance(v, Between) and not v.side for o in found.values() for v in flat(o))
        for note, needed in ((RANGES, wide), (DENSITIES, dense)):
            if needed and note not in self.checks.notes:
                self.checks.notes.append(note)

    def check(self, values: Sequence[Collection[Value]]) -> None:
        """Checks that no comparison of the program is false always; each entry of the inputs has such values.

        Raises:
            ProgramError: one is.
        """
        entries = iter(values)
        inputs = {p.name: [v for part in islice(entries, p.length or 1) for v in part] for p in self.places}
        with located(key=self.key, anchored=True):
            check_comparisons(self.program, inputs)

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

    def explain(self, output: str) -> Explainer:
        """Returns what tells how the program comes to an output of the model."""
        return Explainer(self.program, self.names(), self.checks, output, shown_output)

    def control_graph(self, inputs: Sequence[Input]) -> list[Edge]:
        """Returns the steps between the control states of the program that runs on these inputs take."""
        given = [plain_input(x) for x in inputs]
        return control_graph(self.program, self.names(), given, shown_output, checks=self.checks)

    def named(self, name: str) -> Input | None:
        """Returns the input that a state of the model names, where inputs are given by their values."""
        found: list[tuple[Input, str]] = [((), name if len(self.answers) == 1 else f"{name[1:-1]}, ")]
        for values in self.answers:
            ends = "" if len(self.answers) == 1 else ", "
            found = [
                ((*given, v), rest.removeprefix(f"{v}{ends}"))
                for given, rest in found
                for v in values
                if rest.startswith(f"{v}{ends}")
            ]
        return next((given for given, rest in found if not rest), None)

    def run_at(self, values: Mapping[str, Number]) -> Drawing:
        """Returns the program itself, to be run with the parameters as numbers."""
        given = {**values, **as_numbers(self.checks.definitions, values)}
        return Drawn(self.program, self.places, given, self.ranges)

    @property
    def word_of(self) -> Words:
        """What returns the output in the words of the model that an implementation means by its values."""
        return Words(self.ranges)

    @property
    def shape(self) -> Shape:
        """The inputs of the program, with their names."""
        return self.places

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the model of all neighbouring inputs that the table describes, and the pairs."""
        self.check(self.answers)
        return compare(self, neighbouring_inputs(table, self.answers, shape=self.shape))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Runs a program with the parameters as numbers."""

    program: Program
    places: tuple[Part, ...]
    values: Mapping[str, Number]
    ranges: Mapping[str, Outputs] = field(default_factory=dict)

    def outcomes(self, rng: np.random.Generator, given: Sequence[Value], size: int) -> Outcomes:
        """Returns what `size` runs tell on one input, its entries in the order of `places`."""
        entries = iter(map(_plain, given))
        inputs: dict[str, Any] = {}
        for place in self.places:
            taken = tuple(islice(entries, place.length or 1))
            inputs[place.name] = taken[0] if place.length is None else taken
        return Sampler(self.program, self.values, rng).run(inputs, size)

    def counts(self, rng: np.random.Generator, given: tuple[Any, ...], size: int) -> dict[str, int]:
        """Returns how often each output came, in the words of the model."""
        import numpy as np

        found = self.outcomes(rng, given, size)
        total: dict[str, int] = {}
        for outputs, count in zip(found.outputs, np.bincount(found.which).tolist(), strict=True):
            word = self.word(outputs)
            total[word] = total.get(word, 0) + count
        return total

    def __call__(self, rng: np.random.Generator, given: tuple[Any, ...], size: int) -> NDArray[Any]:
        """Returns `size` outputs, in the words of the model."""
        import numpy as np

        found = self.outcomes(rng, given, size)
        return np.array([self.word(outputs) for outputs in found.outputs], dtype=object)[found.which]

    def word(self, outputs: Outputs) -> str:
        """Returns an output in the words of the model."""
        return in_range(self.ranges, outputs) or shown_output(outputs)


def plain_input(given: Input) -> tuple[Fraction | str, ...]:
    """Returns an input as programs have it."""
    return tuple(map(_plain, given))


def _plain(value: Value) -> Fraction | str:
    return value if isinstance(value, str) else Fraction(value)


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `source` or `file`, and `[mechanism.inputs]`."""
    name = table.either("source", "file")
    parameters = (*checks.ring.parameters, *(u.name for u in checks.ring.unbounded))
    with gathered() as each:
        with each:
            text = table.text("source") if name == "source" else checks.files["file"]
            table.get(name)
            with located(key=name):
                program = read_program(text)
            for word in dict.fromkeys(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text)):
                checks.definitions.get(word)  # it is used
        with each:
            given = _inputs(table, parameters)
        with each:
            table.close()
    places = tuple(Part(key, found.length) for key, found in given.items())
    queries = tuple(q for found in given.values() for q in found.queries)
    answers = tuple(a for found in given.values() for a in found.answers)
    if not answers:
        raise CaseError("the program has no inputs: what is private?", key="inputs")
    if queries and len(queries) != len(answers):
        reason = "give all inputs by their values, for [neighbours], or all by expressions over [prior]"
        raise CaseError(reason, key="inputs")
    key = f"{key_that_is_read()}.{name}".removeprefix(".")
    return ProgramMechanism(checks, program, places, queries, answers, key=key)


def _inputs(table: Table, parameters: Collection[str]) -> dict[str, Given]:
    """Reads `[mechanism.inputs]`, which a program needs."""
    if "inputs" not in table:
        table.check_spelling("inputs")
        mend = 'write [mechanism.inputs] and below it, for an input q, q = { values = "0..1" }'
        raise CaseError("the inputs of the program are missing: what is private?", mend=f"{mend}")
    with table.within("inputs") as inputs:
        return read_inputs(inputs, parameters)


@dataclass(frozen=True)
class Given:
    """What `[mechanism.inputs]` says of one input: its length if it is an array, and for each entry its
    expression, if it has one, and its possible values."""

    length: int | None
    queries: tuple[Expression, ...]
    answers: tuple[tuple[Value, ...], ...]

    @staticmethod
    def read(value: object, shape: Section = INPUT) -> Given:
        """Reads an entry of the table; where values stand, in a table of that shape."""
        if isinstance(value, dict):
            return Given._of_values(Table(value, shape), arrays=shape is INPUT)
        listed = value if isinstance(value, list) else [value]
        if not listed:
            raise CaseError("an empty list")
        queries: tuple[Expression, ...] = ()
        with gathered() as each:
            for k, entry in enumerate(listed):
                with each, located(key=f"[{k}]" if isinstance(value, list) else ""):
                    queries = (*queries, as_expression(entry))
        length = len(queries) if isinstance(value, list) else None
        return Given(length, queries, (Anything(),) * len(queries))

    @staticmethod
    def _of_values(table: Table, arrays: bool) -> Given:
        length = table.integer("length", 1, MAX_LENGTH) if arrays and "length" in table else None
        given = table.need("values")
        with located(key="values"):
            values = _values(given)
        table.close()
        return Given(length, (), (values,) * (length or 1))


def read_inputs(inputs: Table, parameters: Collection[str], shape: Section = INPUT) -> dict[str, Given]:
    """Reads `[mechanism.inputs]` of a case with these parameters; values stand in tables of that shape.

    Raises:
        InputError: a mistake in the table. LimitError: an input with too many values.
    """
    found = {}
    with gathered() as each:
        for name in inputs:
            with each:
                found[name] = _input(name, inputs, parameters, shape)
    return found


def _input(name: str, inputs: Table, parameters: Collection[str], shape: Section) -> Given:
    check_name(name)
    with located(key=name):
        if name in RESERVED:
            raise CaseError("this is a word of the language; choose another name")
        if name in parameters:
            raise CaseError("this is the name of a parameter too; choose another name")
        return Given.read(inputs.get(name), shape)


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
