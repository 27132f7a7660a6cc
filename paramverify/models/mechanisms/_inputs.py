"""`[mechanism.inputs]`: what a program, or a release, is applied to."""

from __future__ import annotations

import keyword
from collections.abc import Collection
from dataclasses import dataclass

from paramverify.algebra.expressions import Expression, Value
from paramverify.errors import CaseError, gathered, located
from paramverify.models.names import distinct
from paramverify.models.programs.program_reading import RESERVED
from paramverify.models.ranges import PATTERN, check_number, values_of
from paramverify.tables import (
    EXPRESSION,
    NAME,
    VALUE,
    Either,
    Key,
    Leaf,
    Listed,
    Section,
    Table,
    as_expression,
    check_name,
    whole,
)

MAX_LENGTH = 1_000  # of one array

RANGE = Leaf('a range such as "-1..1"', {"type": "string", "pattern": f"^{PATTERN}$"})
INPUT = Section(
    "[mechanism.inputs.NAME]",
    "An input with a set of values, for [neighbours].",
    (
        Key("length", whole(1, MAX_LENGTH), "The length of the input, if it is an array."),
        Key(
            "values",
            Either((RANGE, Listed("a list of values", VALUE, least=1))),
            "The possible values (of each entry, if the input is an array): a list, or a range "
            'such as "0..3".',
            needed=True,
        ),
    ),
)
INPUTS = Section(
    "[mechanism.inputs]",
    "The inputs of the program: the private data.",
    others=Key(
        "NAME",
        Either((EXPRESSION, Listed("a list of expressions", EXPRESSION, least=1), INPUT)),
        "An input: an expression over the variables of [prior], a list of them for an array, or its values.",
    ),
    names=NAME,
    least=1,
)


class Anything(tuple[Value, ...]):
    """The possible values of an input that the prior gives: whatever the expression says."""

    def __contains__(self, value: object) -> bool:
        return True


@dataclass(frozen=True)
class GivenInput:
    """What `[mechanism.inputs]` says of one input: its length if it is an array, and for each entry its
    expression, if it has one, and its possible values."""

    length: int | None
    queries: tuple[Expression, ...]
    answers: tuple[tuple[Value, ...], ...]

    @staticmethod
    def read(value: object, shape: Section = INPUT) -> GivenInput:
        """Reads an entry of the table; where values stand, in a table of that shape."""
        if isinstance(value, dict):
            return GivenInput._of_values(Table(value, shape), arrays=shape is INPUT)
        listed = value if isinstance(value, list) else [value]
        if not listed:
            raise CaseError("an empty list")
        queries: tuple[Expression, ...] = ()
        with gathered() as each:
            for k, entry in enumerate(listed):
                with each, located(key=f"[{k}]" if isinstance(value, list) else ""):
                    queries = (*queries, as_expression(entry))
        length = len(queries) if isinstance(value, list) else None
        return GivenInput(length, queries, (Anything(),) * len(queries))

    @staticmethod
    def _of_values(table: Table, arrays: bool) -> GivenInput:
        length = table.integer("length", 1, MAX_LENGTH) if arrays and "length" in table else None
        given = table.need("values")
        with located(key="values"):
            values = _values(given)
        table.close()
        return GivenInput(length, (), (values,) * (length or 1))


def read_inputs(inputs: Table, parameters: Collection[str], shape: Section = INPUT) -> dict[str, GivenInput]:
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


def _input(name: str, inputs: Table, parameters: Collection[str], shape: Section) -> GivenInput:
    check_name(name)
    with located(key=name):
        if name in RESERVED or keyword.iskeyword(name):
            raise CaseError("this is a reserved word of the program language; choose another name")
        if name in parameters:
            raise CaseError("this is already the name of a parameter; choose another name")
        return GivenInput.read(inputs.get(name), shape)


def _values(given: object) -> tuple[Value, ...]:
    if isinstance(given, list):
        found = tuple(distinct(given))
    else:
        numbers = values_of(given) if isinstance(given, str) else None
        if numbers is None:
            raise CaseError('the values of an input must be a range such as "-1..1", or a list of values')
        found = numbers
    if not found:
        raise CaseError("the input has no values: list at least one")
    check_number(len(found))
    return found
