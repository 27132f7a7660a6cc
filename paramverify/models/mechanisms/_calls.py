"""`[mechanism.calls]`: the mechanisms that a program may call, each by its name."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from math import exp

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import Polynomial, RationalFunction
from paramverify.errors import CaseError, ProgramError, gathered, key_that_is_read, located
from paramverify.models.context import Checks
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import (
    KIND,
    REGISTRY,
    Input,
    Mechanism,
    are_rows_checked,
    declared,
    known_input,
    read_mechanism,
)
from paramverify.models.names import as_value
from paramverify.models.programs.program_reading import RESERVED, read_program
from paramverify.models.programs.program_syntax import (
    Ask,
    CalledProgram,
    CalledRow,
    Callee,
    Constant,
    Program,
    Row,
    every_node,
    every_statement,
    nodes_of,
)
from paramverify.models.programs.sampled_columns import Number
from paramverify.tables import (
    FILE,
    NAME,
    TEXT,
    Key,
    Leaf,
    Listed,
    Section,
    Table,
    Variants,
    check_name,
    exactly_one,
    one_of,
)

MAX_CALLS = 50  # mechanisms that one program may call

CALLED = Section(
    "program that is called",
    "A program that another program calls: its arguments are its inputs.",
    (
        Key("kind", one_of("program"), KIND, needed=True),
        Key("source", TEXT, "The text of the program."),
        Key("file", FILE, "The file of the program, relative to the case file."),
        Key(
            "inputs",
            Listed("a list of names", Leaf("a name", {"type": "string", "pattern": NAME})),
            "The names of its arguments, in order.",
            needed=True,
        ),
    ),
    rules=(exactly_one("source", "file"),),
)


def _kinds() -> list[str]:
    """Returns the kinds that may be called: programs, and those that hold no other mechanisms."""
    return [n for n in REGISTRY.names() if n == "program" or not getattr(REGISTRY.module(n), "PARTS", ())]


def _shape(kind: str) -> Section | None:
    return CALLED if kind == "program" else declared(kind)


CALLS = Section(
    "[mechanism.calls]",
    "The mechanisms that the program may call.",
    others=Key(
        "NAME",
        Variants(
            "[mechanism.calls.NAME]",
            "A mechanism that the program calls by this name.",
            _kinds,
            _shape,
            tag="kind",
            text=KIND,
        ),
        "A mechanism of any kind that answers once; its query or inputs are the arguments of a call.",
    ),
    names=NAME,
    least=1,
)


def read_calls(table: Table, taken: Mapping[str, str], checks: Checks) -> dict[str, Callee]:
    """Reads `[mechanism.calls]`; `taken` are the names of other things, with what they are in words.

    Raises:
        InputError: a mistake in a table, a name that means something else, or mechanisms that call each other
            in a circle.
    """
    found: dict[str, Callee] = {}
    names = tuple(table)
    if len(names) > MAX_CALLS:
        raise CaseError(f"the program may call at most {MAX_CALLS} mechanisms")
    with gathered() as each:
        for name in names:
            with each:
                _check_name(name, taken)
                with table.within(name) as inner:
                    kind = inner.text("kind")
                    if kind == "program":
                        found[name] = _program(inner, name, names, found, checks)
                    else:
                        found[name] = _row(inner, name, kind, checks)
    _no_circles(found)
    return found


def _check_name(name: str, taken: Mapping[str, str]) -> None:
    check_name(name)
    if name in RESERVED or keyword.iskeyword(name):
        raise CaseError("this is a reserved word of the program language; choose another name", key=name)
    if hasattr(builtins, name):
        raise CaseError("this is the name of a built-in function of Python; choose another name", key=name)
    if name in taken:
        raise CaseError(f"this is already the name of {taken[name]}; choose another name", key=name)


def read_source(table: Table, checks: Checks, key: str, calls: Collection[str]) -> tuple[str, Program]:
    """Reads `source` or `file`, of a table whose files have keys that begin with `key`.

    Returns which of both it is, and the program.
    """
    name = table.either("source", "file")
    text = table.text("source") if name == "source" else checks.files[f"{key}file"]
    table.get(name)
    with located(key=name):
        program = read_program(text, calls)
    for word in dict.fromkeys(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text)):
        checks.definitions.get(word)  # it is used
    return name, program


def _program(
    table: Table, name: str, names: Collection[str], calls: Mapping[str, Callee], checks: Checks
) -> CalledProgram:
    given, program = read_source(table, checks, f"calls.{name}.", names)
    inputs = table.texts("inputs")
    with located(key="inputs"):
        for k, entry in enumerate(inputs):
            with located(key=f"[{k}]"):
                if entry in RESERVED or entry in names or not entry.isidentifier() or entry in inputs[:k]:
                    raise CaseError(f"{entry!r} cannot be the name of an argument; choose another name")
    table.close()
    whole = Program(program.text, program.functions, program.body, calls)
    return CalledProgram(whole, tuple(inputs), f"{key_that_is_read()}.{given}")


def _row(table: Table, name: str, kind: str, checks: Checks) -> CalledRow:
    """Reads a mechanism of the library."""
    if "times" in table:
        raise CaseError(
            "`times` is not supported for a mechanism that is called; remove it, and call the "
            "mechanism in a loop",
            key="times",
        )
    mechanism = read_mechanism(table, checks)
    if getattr(REGISTRY.module(kind), "PARTS", ()):
        raise CaseError(
            "a mechanism of several parts cannot be called; list its parts in [mechanism.calls], "
            "and call each",
            key="kind",
        )
    if mechanism.queries:
        raise CaseError(
            "the call passes the values that this mechanism is applied to; remove the "
            "expressions over [prior] here"
        )
    rows: dict[Input, Row] = {}

    def row(given: tuple[Constant, ...]) -> Row:
        if given not in rows:
            rows[given] = _released(
                mechanism, known_input(given, mechanism.answers), are_rows_checked(kind), checks
            )
        return rows[given]

    def at(given: tuple[Constant, ...], values: Mapping[str, Number]) -> list[tuple[Constant, Number]]:
        return [(value, _number(share, checks, values)) for value, share in row(given)]

    outputs: tuple[str, ...] = tuple(getattr(mechanism, "outputs", ()))
    known = tuple(as_value(o) for o in outputs) or None
    return CalledRow(name, row, at, len(mechanism.answers), known=known, key=key_that_is_read())


def _released(mechanism: Mechanism, given: Input, are_checked: bool, checks: Checks) -> Row:
    """Returns what a mechanism gives from one input, with the probabilities.

    Raises:
        CaseError: what it does next depends on what it did before, so it does not answer once.
    """
    hmm, (start,) = mechanism.build([given])
    assert isinstance(hmm, HMM)  # programs alone have probabilities that are enclosed
    states = [s for s, weight in start.weights.items() if weight]
    if hmm.chosen or any(step.successor != s for s in states for step in hmm.steps[s]):
        reason = "this mechanism keeps a state between its answers, so it cannot be called"
        raise CaseError(f"{reason}; write it as a program")
    found: dict[str, RationalFunction] = {}
    for s in states:
        share = RationalFunction.of(start.weights[s], start.mass)
        for step in hmm.steps[s]:
            part = share * RationalFunction.of(step.weight, hmm.denominator)
            output = hmm.observations[step.observation]
            found[output] = found[output] + part if output in found else part
    if not are_checked:
        checks.distribution(found, "a mechanism that is called")
    values = {output: as_value(output) for output in found}
    if len(set(values.values())) < len(values):
        raise CaseError("two of its outputs are spelt as the same number; rename one of them")
    return [(values[output], share) for output, share in found.items()]


def _number(share: RationalFunction, checks: Checks, values: Mapping[str, Number]) -> Number:
    """Returns a probability at a point; a float where exponentials are in it."""
    ring = checks.ring
    known = {name: values[name] for name in ring.parameters if name in values}
    known |= {u.variable: exp(-float(u.step) * float(values[u.name])) for u in ring.unbounded}
    if ring.constant:
        known[GENERATOR] = exp(float(ring.constant.exponent))
    return _at(share.numerator, known) / _at(share.denominator, known)


def _at(polynomial: Polynomial, known: Mapping[str, Number]) -> Number:
    names = polynomial.context().names()
    total: Number = Fraction(0)
    for powers, coefficient in polynomial.to_dict().items():
        term: Number = Fraction(int(coefficient.p), int(coefficient.q))
        for name, power in zip(names, powers, strict=True):
            if power:
                term = term * known[name] ** int(power)
        total = total + term
    return total


def _no_circles(calls: Mapping[str, Callee]) -> None:
    """Checks that no program calls itself, directly or through others.

    Raises:
        ProgramError: one does, with the place of its call.
    """
    inside = {name: list(_asked(c.program)) for name, c in calls.items() if isinstance(c, CalledProgram)}
    for name, asked in inside.items():
        for ask in asked:
            seen, pending = {ask.name}, [ask.name]
            while pending:
                for inner in inside.get(pending.pop(), ()):
                    if inner.name not in seen:
                        seen.add(inner.name)
                        pending.append(inner.name)
            if name in seen:
                callee = calls[name]
                assert isinstance(callee, CalledProgram)
                way = "" if ask.name == name else f", by way of {ask.name}"
                reason = f"{name} calls itself{way}: recursion is not supported; write a loop"
                error = ProgramError(reason, callee.program.text, *ask.place)
                error.key = ".".join(callee.key.split(".")[-2:])
                raise error


def _asked(program: Program) -> Iterator[Ask]:
    """Yields the calls of mechanisms in a program."""
    for body in (program.body, *(f.body for f in program.functions.values())):
        for statement in every_statement(body):
            for node in nodes_of(statement):
                yield from (inner for inner in every_node(node) if isinstance(inner, Ask))
