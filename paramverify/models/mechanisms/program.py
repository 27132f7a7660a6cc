"""`kind = "program"`: a mechanism that the user writes, in a subset of Python; see `models/programs/`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, OtherCommandError, gathered, key_that_is_read, located
from paramverify.models.context import Checks
from paramverify.models.enclosed_models import BITS, MOST_BITS, SIZES, EnclosedTable, check_numbers, table_of
from paramverify.models.hmm import HMM, one_shot
from paramverify.models.mechanisms import (
    Drawing,
    Input,
    Mechanism,
    compared,
    neighbouring_inputs,
    show_input,
)
from paramverify.models.mechanisms._calls import CALLS, read_calls, read_source
from paramverify.models.mechanisms._inputs import INPUTS, GivenInput, read_inputs
from paramverify.models.mechanisms._streams import StreamMechanism
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.models.programs.expression_values import as_numbers, is_enclosed
from paramverify.models.programs.output_intervals import (
    IntervalDensities,
    OutputWords,
    in_range,
    natural,
    shown_output,
)
from paramverify.models.programs.program_running import (
    ControlEdge,
    control_graph,
    enclosed_outputs_of,
    outputs_of,
)
from paramverify.models.programs.program_sampling import ProgramSampler, RunOutcomes
from paramverify.models.programs.program_syntax import CalledProgram, Callee, Program
from paramverify.models.programs.run_states import (
    OutputInterval,
    Outputs,
    Unread,
    flat,
    is_density,
    spreads_in,
)
from paramverify.models.programs.run_states import Value as Inside
from paramverify.models.programs.run_traces import Explainer
from paramverify.models.programs.sampled_columns import Number
from paramverify.models.programs.static_analysis import check_comparisons
from paramverify.models.programs.stream_loops import (
    NO_INPUTS,
    VERIFY,
    check_bare_stream,
    is_continuous,
    reads_stream,
    stream_of,
)
from paramverify.models.relations import InputPart, Shape
from paramverify.tables import FILE, TEXT, Key, Section, Table, exactly_one, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLD = "The program is run on each input; its outputs are those of the program, and noise is never truncated."
RANGES = (
    "an output with a range, such as '{}', stands for all numbers in it, and each of them has the same ratio"
)
DENSITIES = (
    "outputs are real numbers; 'at 0', 'just above 0' and 'far above' describe the "
    "density there, or its limit, up to a factor that is the same for all inputs; "
    "outputs come arbitrarily close to the ratio of a limit, but need not reach it"
)
PLACES = (
    "an output such as 'between 0 and 1' or 'above 1' stands for every number there: {} "
    "of the claims, in [0, 1], selects the number, and each claim covers all of them"
)


def explains_outputs(note: str) -> bool:
    """Whether a note only explains how outputs are named, which does not concern answers that name none."""
    return any(note.startswith(words.partition("{}")[0]) for words in (RANGES, DENSITIES, PLACES))


CHECKED = True  # the probabilities of the outputs sum to one, identically; each draw was checked
FILES = ("file",)  # keys of `[mechanism]` that name files
PARTS = ("calls",)  # and those that hold mechanisms

SECTION = Section(
    "program",
    "A mechanism that is written in a subset of Python.",
    (
        Key("source", TEXT, "The text of the program."),
        Key("file", FILE, "The file of the program, relative to the case file."),
        Key(
            "inputs",
            INPUTS,
            "The inputs of the program: the private data. A program over a stream has no inputs.",
        ),
        Key("calls", CALLS),
        Key("bits", whole(*SIZES), BITS, default=MOST_BITS),
        Key("origin", TEXT, "How the program was made, which the answers repeat as a note."),
        Key(
            "origin_digest",
            TEXT,
            "The digest of what was made: a case that was changed is refused.",
        ),
    ),
    rules=(exactly_one("source", "file"),),
    also={
        "allOf": [
            {
                "anyOf": [
                    {"required": ["inputs"]},
                    {"required": ["file"]},
                    {"properties": {"source": {"pattern": "stream"}}, "required": ["source"]},
                ]
            }
        ]
    },
)


@dataclass(frozen=True, eq=False)
class ProgramMechanism:
    """A program with its inputs, in the order of the case; an array takes as many places as it is long."""

    checks: Checks
    program: Program
    places: tuple[InputPart, ...]
    queries: tuple[Expression, ...]
    answers: tuple[tuple[Value, ...], ...]
    key: str  # where the program stands, such as `mechanism.source`
    ranges: dict[str, Outputs] = field(default_factory=dict)  # observations that are sets of outputs
    bits: int = MOST_BITS  # with which probabilities without closed forms are enclosed, at most

    def build(self, inputs: Sequence[Input]) -> tuple[HMM | EnclosedTable, list[InitialDistribution]]:
        """Returns the model with a state for each distinct input, an observation for each whole output."""
        order = {given: k for k, given in enumerate(dict.fromkeys(inputs))}
        one = self.checks.ring.number(1)
        starts = [InitialDistribution.point(order[given], one) for given in inputs]
        plain = [plain_input(given) for given in order]
        states = [show_input(x) for x in order]
        if is_enclosed(self.program):
            with located(key=self.key, anchored=True):
                check_numbers(self.checks)
                told = enclosed_outputs_of(self.program, self.names(), plain, self.checks)
            return replace(table_of(states, *told, self.bits), inputs=tuple(order)), starts
        with located(key=self.key, anchored=True):
            found = outputs_of(self.program, self.names(), plain, self.checks)
        rows = [{shown_output(outputs): share for outputs, share in row} for row in found]
        self.note_ranges(outputs for row in found for outputs, _ in row)
        outputs = sorted({name for row in rows for name in row}, key=natural)
        zero = RationalFunction.of(self.checks.ring.number(0))
        table = [[row.get(name, zero) for name in outputs] for row in rows]
        dense = any(map(is_density, self.ranges.values()))
        beside = (
            IntervalDensities(self.program, self.names(), tuple(plain), self.checks, self.ranges)
            if dense
            else None
        )
        model = one_shot(self.checks, states, outputs, table, dense)
        spreads = {name: named for name in outputs if (named := spreads_in(self.ranges.get(name, ())))}
        return replace(model, beside=beside, spreads=spreads, inputs=tuple(order)), starts

    def note_ranges(self, observations: Iterable[Outputs]) -> None:
        """Keeps the observations that stand for many outputs, and says in a note what they are."""
        found = {
            shown_output(o): o for o in observations if any(isinstance(v, OutputInterval) for v in flat(o))
        }
        self.ranges.update(found)
        dense = any(map(is_density, found.values()))
        wide = [
            str(v) for o in found.values() for v in flat(o) if isinstance(v, OutputInterval) and not v.side
        ]
        before, after = RANGES.split("{}")
        known = any(note.startswith(before) and note.endswith(after) for note in self.checks.notes)
        ranges = RANGES.format(max(wide, key=natural)) if wide else ""
        named = [spread.variable for o in found.values() for _, spread in spreads_in(o)]
        one_by_one = PLACES.format(" and ".join(sorted(set(named))))
        for note, needed in (
            (ranges, bool(wide) and not known),
            (DENSITIES, dense),
            (one_by_one, bool(named)),
        ):
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

    def control_graph(self, inputs: Sequence[Input]) -> list[ControlEdge]:
        """Returns the steps between the control states of the program that runs on these inputs take."""
        given = [plain_input(x) for x in inputs]
        return control_graph(self.program, self.names(), given, shown_output, checks=self.checks)

    def run_at(self, values: Mapping[str, Number]) -> Drawing:
        """Returns the program itself, to be run with the parameters as numbers."""
        given = {**values, **as_numbers(self.checks.definitions, values)}
        return NumericProgram(self.program, self.places, given, self.ranges)

    @property
    def word_of(self) -> OutputWords:
        """What returns the output in the words of the model that an implementation means by its values."""
        return OutputWords(self.ranges)

    @property
    def shape(self) -> Shape:
        """The inputs of the program, with their names."""
        return self.places

    def neighbours(self, table: Table) -> tuple[HMM | EnclosedTable, list[SecretPair]]:
        """Returns the model of all neighbouring inputs that the table describes, and the pairs."""
        self.check(self.answers)
        return compared(self, neighbouring_inputs(table, self.answers, shape=self.shape))


@dataclass(frozen=True, eq=False)
class NumericProgram:
    """Runs a program with the parameters as numbers."""

    program: Program
    places: tuple[InputPart, ...]
    values: Mapping[str, Number]
    ranges: Mapping[str, Outputs] = field(default_factory=dict)

    def outcomes(self, rng: np.random.Generator, given: Sequence[Value], size: int) -> RunOutcomes:
        """Returns what `size` runs tell on one input, its entries in the order of `places`."""
        entries = iter(map(_plain, given))
        inputs: dict[str, Any] = {}
        for place in self.places:
            taken = tuple(islice(entries, place.length or 1))
            inputs[place.name] = taken[0] if place.length is None else taken
        return ProgramSampler(self.program, self.values, rng).run(inputs, size)

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
    """Reads `source` or `file`, `[mechanism.inputs]`, and `[mechanism.calls]`."""
    parameters = (*checks.ring.parameters, *(u.name for u in checks.ring.unbounded))
    calls: dict[str, Callee] = {}
    bits = table.integer("bits", *SIZES) if "bits" in table else MOST_BITS
    program: Program | None = None
    if "origin" in table:
        checks.notes.append(table.text("origin"))
    if "origin_digest" in table:
        table.text("origin_digest")  # `privacy.origins` has compared it
    with gathered() as each:
        if "calls" in table:
            with each, table.within("calls") as called:
                calls = read_calls(called, _taken(table, parameters, checks), checks)
        with each:
            name, read = read_source(table, checks, "", _names_of(table))
            with located(key=name):
                check_bare_stream(read, _taken(table, parameters, checks))
            program = read
        with each:
            over_stream = program is not None and reads_stream(program)
            if over_stream and "inputs" in table:
                raise CaseError(NO_INPUTS, key="inputs")
            known = over_stream or (
                program is None and "inputs" not in table and _names_stream(table, checks)
            )
            given = {} if known else _inputs(table, parameters)
        with each:
            table.close()
    assert program is not None  # else there was a mistake
    key = f"{key_that_is_read()}.{name}".removeprefix(".")
    if over_stream:
        return _over_stream(replace(program, calls=calls), checks, key)
    inner = [c.program for c in calls.values() if isinstance(c, CalledProgram)]
    if calls and any(map(is_enclosed, (program, *inner))):
        reason = (
            "a program that calls mechanisms must not draw gauss or discrete_gaussian, and "
            "neither must the programs that it calls"
        )
        raise CaseError(reason, key="calls", mend="write all of it as one program")
    program = replace(program, calls=calls)
    places = tuple(InputPart(key, found.length) for key, found in given.items())
    queries = tuple(q for found in given.values() for q in found.queries)
    answers = tuple(a for found in given.values() for a in found.answers)
    if not answers:
        raise CaseError(
            "the program has no inputs: list the private data in [mechanism.inputs]", key="inputs"
        )
    if queries and len(queries) != len(answers):
        reason = (
            "give either the values of every input (for [neighbours]) or expressions over "
            "[prior] for every input"
        )
        raise CaseError(reason, key="inputs")
    return ProgramMechanism(checks, program, places, queries, answers, key=key, bits=bits)


def _over_stream(program: Program, checks: Checks, key: str) -> Mechanism:
    """Returns the mechanism of a program over a stream with finite noise."""
    with located(key=key, anchored=True):
        if is_continuous(program):
            raise OtherCommandError(
                "this program reads a stream with unbounded noise, which this command does not "
                f"support: {VERIFY}"
            )
        return StreamMechanism(checks, stream_of(program), key)


def _names_stream(table: Table, checks: Checks) -> bool:
    """Tells whether the text of a program that has mistakes is meant to be about a stream."""
    text = table.data.get("source", checks.files.get("file", ""))
    return isinstance(text, str) and re.search(r"\bstreams?\b", text) is not None


def _names_of(table: Table) -> Collection[str]:
    """Returns the names of `[mechanism.calls]`."""
    given = table.data.get("calls")
    return tuple(given) if isinstance(given, dict) else ()


def _taken(table: Table, parameters: Collection[str], checks: Checks) -> dict[str, str]:
    """Returns the names that mean something else, with what that is."""
    inputs = table.data.get("inputs")
    found = dict.fromkeys(inputs, "an input") if isinstance(inputs, dict) else {}
    found |= dict.fromkeys(checks.definitions.named, "a definition")
    return found | dict.fromkeys(parameters, "a parameter")


def _inputs(table: Table, parameters: Collection[str]) -> dict[str, GivenInput]:
    """Reads `[mechanism.inputs]`, which a program needs."""
    if "inputs" not in table:
        table.check_spelling("inputs")
        mend = 'write [mechanism.inputs] and below it, for an input q, q = { values = "0..1" }'
        raise CaseError(
            "the program has no inputs, so paramverify does not know what is private", mend=f"{mend}"
        )
    with table.within("inputs") as inputs:
        return read_inputs(inputs, parameters)
