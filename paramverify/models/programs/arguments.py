"""The arguments of mechanisms that a program calls, and what a call gives: for all who run programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TypeVar

from paramverify.errors import FinerError, InputError, ProgramError
from paramverify.models.programs.runs import Outputs, Plain, Put
from paramverify.models.programs.syntax import Ask, CalledProgram, Constant, Program

V = TypeVar("V")


@contextmanager
def asked_at(program: Program, node: Ask) -> Iterator[None]:
    """Gives mistakes of a call their place: its own, or that in the program that is called."""
    try:
        yield
    except ProgramError as error:
        if error.text != program.text:
            error.retell(f"{error.reason}; {node.name} is called at line {node.place.line}")
        raise
    except FinerError:
        raise
    except InputError as error:
        raise ProgramError(error.reason, program.text, *node.place) from None


def named_arguments(callee: CalledProgram, node: Ask, given: tuple[V, ...]) -> dict[str, V]:
    """Returns the inputs of a program by their names.

    Raises:
        InputError: there are more or fewer.
    """
    if len(given) != len(callee.inputs):
        wanted = ", ".join(callee.inputs)
        count = f"{len(callee.inputs)} argument{'s' * (len(callee.inputs) != 1)}"
        raise InputError(f"{node.name} needs {count}: {node.name}({wanted})")
    return dict(zip(callee.inputs, given, strict=True))


def entries_of(name: str, given: tuple[V, ...], count: int) -> list[V]:
    """Returns the answers that arguments give to a mechanism of the library; a list stands for its entries.

    Raises:
        InputError: these are more or fewer.
    """
    entries = [e for value in given for e in (value if isinstance(value, tuple) else (value,))]
    if len(entries) != count:
        raise InputError(f"{name} needs {count} value{'s' * (count != 1)}; here it gets {len(entries)}")
    return entries


def constant_of(name: str, entry: object) -> Constant:
    """Returns an answer that a mechanism of the library gets; True and False are 1 and 0.

    Raises:
        InputError: it is no number and no label.
    """
    if isinstance(entry, (bool, Fraction)):
        return Fraction(entry)
    if isinstance(entry, str):
        return entry
    what = "a list inside of a list" if isinstance(entry, tuple) else "an expression in parameters"
    raise InputError(f"{what} is no argument of {name}: it takes numbers and labels")


def result_of(program: Program, name: str, outputs: Outputs) -> Plain:
    """Returns what a call gives where the program that is called tells this.

    A program with `output(...)` gives the list of all that it told; others give what they return.

    Raises:
        ProgramError: it returns nothing.
    """
    plain = tuple(map(_plain, outputs))
    if program.tells:
        return plain
    if not plain:
        reason = f"a run of {name} ends without a value: end it with return ..."
        raise ProgramError(reason, program.text, 1, 0)
    return plain[0]


def _plain(value: Put) -> Plain:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    assert isinstance(value, (Fraction, str, bool))  # runs with noise in an output are refused before
    return value
