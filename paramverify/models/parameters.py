"""Reading `[parameters]`: the box, the constraints, and the constant behind every `exp` of a case."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.branches import tightened
from paramverify.algebra.constants import GENERATOR, generator
from paramverify.algebra.constraints import parse_constraint
from paramverify.algebra.domains import Domain, Interval, box_domain, parse_interval
from paramverify.algebra.exponents import OUTPUTS, SLACKS, TIE, Unbounded
from paramverify.algebra.expressions import NAME, WORDS
from paramverify.algebra.polynomials import Ring
from paramverify.errors import CaseError, Each, InputError, gathered, located
from paramverify.models.design import interval_text
from paramverify.models.rational_files import UNIT, RationalFile
from paramverify.tables import Table, check_name


def unbounded_names(top: Table) -> tuple[str, ...]:
    """Returns the parameters of the domain (0, ∞), written `eps = "(0, oo)"` or with `in`."""
    table = top.data.get("parameters")
    if not isinstance(table, dict):
        return ()
    wanted = re.compile(r"\s*\(\s*0\s*,\s*\+?\s*(oo|inf|infinity)\s*\)\s*", re.IGNORECASE)
    texts = {name: entry.get("in") if isinstance(entry, dict) else entry for name, entry in table.items()}
    return tuple(n for n, text in texts.items() if isinstance(text, str) and wanted.fullmatch(text))


def fixed_values(top: Table) -> dict[str, Fraction]:
    """Returns the parameters that are one number, such as `eps = "1/2"`; `read_domain` tells mistakes."""
    table = top.data.get("parameters")
    found: dict[str, Fraction] = {}
    for name, text in table.items() if isinstance(table, dict) else ():
        try:
            interval = parse_interval(interval_text(text))
        except InputError:
            continue
        if interval.is_point:
            found[name] = interval.lower
    return found


def read_domain(
    top: Table, exponents: Mapping[str, Sequence[Fraction]], files: Mapping[str, RationalFile]
) -> Domain:
    """Reads the domain of a case whose `exp` have these arguments; `files` are those of `[define]`, by name.

    `exponents` has the numbers in `exp` under "", and for each parameter that may be unbounded its factors.
    Such a parameter is used as `x_eps = exp(-eps/d)`, with the smallest d that makes all powers whole.

    The case's own intervals come first; each must lie inside the one that a file gives, because the file says
    nothing about other points. A parameter that only files have gets the file's interval, or (0, 1) if it
    gives none, as in PROPhESY. The constraints of the files are added to those of the case.

    Raises:
        InputError: no interval, one that is outside of that of a file, or two files that differ.
    """
    with gathered() as each:
        return read_domain_for(top, exponents, files, each)


def read_domain_for(
    top: Table,
    exponents: Mapping[str, Sequence[Fraction]],
    files: Mapping[str, RationalFile],
    each: Each,
) -> Domain:
    """Reads the domain, see `read_domain`, and keeps the mistakes.

    A parameter that cannot be read stands in (0, 1), and a constraint is left out.
    """
    box: dict[str, Interval] = {}
    unbounded: list[Unbounded] = []
    table = Table({})
    if "parameters" in top:
        with each:
            table = top.table("parameters")
    with located(key="parameters"):
        constraints = [] if table.get("constraints") is None else table.get("constraints")
        for name in table:
            if name != "constraints":
                _read_parameter(name, table, exponents, (box, unbounded), each)
        if files:
            with each:
                _add_files(box, files)
            each.tell()  # nothing is known of the functions outside of the intervals of their files
        outputs = (*_outputs("w", exponents.get(OUTPUTS, ())), *_outputs("r", exponents.get(SLACKS, ())))
        _add_outputs(box, outputs, each)
        ring = Ring(tuple(box), generator(exponents.get("", ())), tuple(unbounded), outputs)
        domain = box_domain(ring, box)
        domain = _constrained(domain, constraints, each)
    for file in files.values():
        domain = replace(domain, constraints=(*domain.constraints, *file.constraints(domain)))
    if not each.doubtful:
        with each, located(key="parameters"):
            domain = tightened(domain)
    return domain


def _read_parameter(
    name: str,
    table: Table,
    exponents: Mapping[str, Sequence[Fraction]],
    found: tuple[dict[str, Interval], list[Unbounded]],
    each: Each,
) -> None:
    """Reads one entry into the box and the unbounded parameters."""
    box, unbounded = found
    with each:
        check_name(name)
        if name == GENERATOR:
            raise CaseError("this name stands for the constant exp(...)", key=name)
        with located(key=name):
            text = interval_text(table.get(name))
            if name not in exponents:
                box[name] = parse_interval(text)
                return
        unbounded.append(_unbounded(name, exponents[name], table))
        box[unbounded[-1].variable] = UNIT
        return
    each.doubtful.add(re.escape(name))
    if NAME.match(name) and name not in WORDS and name != GENERATOR:
        box[name] = UNIT


def _outputs(letter: str, counts: Sequence[Fraction]) -> tuple[str, ...]:
    return tuple(f"{letter}{k + 1}" for k in range(int(max(counts, default=0))))


def _add_outputs(box: dict[str, Interval], names: Sequence[str], each: Each) -> None:
    """Adds the variables that say where numbers of an output lie: each is in [0, 1]."""
    for name in names:
        with each:
            if name in box:
                reason = f"{name} stands for the place of an output here: give the parameter another name"
                raise CaseError(reason, key=name)
        box[name] = Interval(Fraction(0), Fraction(1), True, True)


def _constrained(domain: Domain, constraints: object, each: Each) -> Domain:
    """Adds the constraints of the case."""
    if not isinstance(constraints, list):
        each.doubtful.add("")
        with each:
            raise CaseError("a list of comparisons is needed here", key="constraints")
        return domain
    for k, text in enumerate(constraints):
        before = len(each.found)
        with each, located(key=f"constraints[{k}]"):
            if not isinstance(text, str):
                raise CaseError('a comparison such as "p + q <= 1" is needed here')
            found = parse_constraint(text, domain)
            domain = replace(domain, constraints=(*domain.constraints, *found))
        each.doubtful |= {""} if len(each.found) > before else set()
    return domain


def _unbounded(name: str, factors: Sequence[Fraction], table: Table) -> Unbounded:
    variable = f"x_{name}"
    if variable in table:
        raise CaseError(
            f"{variable} stands for exp(-{name}/d): give the other parameter another name", key=variable
        )
    common = generator([*factors, *([] if any(factors) else [Fraction(1)])])
    assert common is not None
    return Unbounded(name, variable, common.exponent, TIE in factors)


def _add_files(box: dict[str, Interval], files: Mapping[str, RationalFile]) -> None:
    """Adds the parameters of files to the box; see `read_domain`."""
    own = frozenset(box)
    given: dict[str, tuple[Interval, str]] = {}
    for file in files.values():
        for name, interval in file.parameters.items():
            if interval is None:
                continue
            if name in own and not _inside(box[name], interval):
                reason = f"{box[name]} is not inside {interval}, which {file.path} gives"
                raise CaseError(reason, key=name)
            known, path = given.setdefault(name, (interval, file.path))
            if name not in own and known != interval:
                reason = f"{path} says {known} and {file.path} says {interval}: give the interval here"
                raise CaseError(reason, key=name)
            box.setdefault(name, interval)
    for file in files.values():
        for name in file.parameters:
            box.setdefault(name, UNIT)


def without_interval(files: Mapping[str, RationalFile], own: Mapping[str, object]) -> list[str]:
    """Returns notes on the parameters for which neither the case nor a file gives an interval."""
    given = {n for file in files.values() for n, interval in file.parameters.items() if interval} | own.keys()
    found = []
    for file in files.values():
        names = ", ".join(name for name in file.parameters if name not in given)
        if names:
            found.append(f"{file.path} gives no interval for {names}: {UNIT} is taken")
    return found


def _inside(inner: Interval, outer: Interval) -> bool:
    low = inner.lower > outer.lower or (
        inner.lower == outer.lower and (outer.lower_closed or not inner.lower_closed)
    )
    high = inner.upper < outer.upper or (
        inner.upper == outer.upper and (outer.upper_closed or not inner.upper_closed)
    )
    return low and high
