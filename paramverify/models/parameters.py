"""Reading `[parameters]` and `[design]`.

The box, the constraints, and the constant behind every `exp` of a case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from paramverify.algebra.constants import GENERATOR, generator
from paramverify.algebra.domain_branches import tightened
from paramverify.algebra.domains import Domain, Interval, box_domain, parse_interval
from paramverify.algebra.expressions import NAME as PARAMETER_NAME
from paramverify.algebra.expressions import WORDS
from paramverify.algebra.polynomials import OUTPUTS, SLACKS, TIE, Ring, Unbounded
from paramverify.algebra.signs import parse_constraint
from paramverify.errors import CaseError, DomainError, Each, InputError, located
from paramverify.models.rational_files import UNIT, RationalFile
from paramverify.tables import (
    CONDITION,
    EXPRESSION,
    FILE,
    FLAG,
    NAME,
    TEXT,
    Either,
    Key,
    Leaf,
    Listed,
    Section,
    Table,
    at_most_one,
    check_name,
)

INTERVAL = Leaf('an interval such as "(0, 1)", or a number', {"type": ["string", "number"]})
PARAMETER = Section(
    "[parameters.NAME]",
    "A parameter as a table.",
    (
        Key("in", INTERVAL, "The interval of the parameter.", needed=True),
        Key("design", FLAG, "Whether `synthesize` may choose the value of this parameter.", default=False),
    ),
)
DESIGN = Section(
    "[design]",
    "Which of the parameters for design is to be maximised or minimised.",
    (
        Key("maximise", TEXT, "The design parameter to maximise."),
        Key("minimise", TEXT, "The design parameter to minimise."),
    ),
    rules=(at_most_one("maximise", "minimise"),),
)

PARAMETERS = Section(
    "[parameters]",
    "The parameters of the case, each with its interval or value.",
    (
        Key(
            "constraints",
            Listed("a list of comparisons", CONDITION),
            'Conditions that restrict the domain of the parameters, such as "p + q <= 1".',
        ),
    ),
    others=Key(
        "NAME",
        Either((INTERVAL, PARAMETER)),
        'A parameter: its interval, such as "(0, 1)" or "[1/10, 0.4]", or a fixed number.',
    ),
    names=NAME,
)

FROM_FILE = Section(
    "[define.NAME]",
    "A function from a file of a parametric model checker.",
    (Key("file", FILE, "The name of the file, relative to the case file.", needed=True),),
)
DEFINE = Section(
    "[define]",
    "Names for rational functions; later ones may use earlier ones.",
    others=Key("NAME", Either((EXPRESSION, FROM_FILE)), "A function of the parameters."),
    names=NAME,
)
DEFINE_NAMES = Section(
    "[define]",
    "Names for expressions; later ones may use earlier ones.",
    others=Key("NAME", EXPRESSION, "An expression; the case may use its name instead."),
    names=NAME,
)
CLAIM = Section(
    "[claim]",
    "The claimed comparisons of the functions.",
    (
        Key(
            "holds",
            Either((CONDITION, Listed("a list of conditions", CONDITION, least=1))),
            'A comparison such as "f <= 1/2", or a list of comparisons that are all claimed.',
            needed=True,
        ),
    ),
)


class Sense(StrEnum):
    """Which value of a parameter is best."""

    MAXIMISE = "maximise"
    MINIMISE = "minimise"

    @property
    def opposite(self) -> Sense:
        """The other one."""
        return Sense.MINIMISE if self is Sense.MAXIMISE else Sense.MAXIMISE


@dataclass(frozen=True)
class Design:
    """The parameters that are to be chosen, and which one of them should be largest or smallest, if any."""

    parameters: tuple[str, ...]
    sense: Sense = Sense.MAXIMISE
    objective: str = ""


def interval_text(value: object) -> str:
    """Returns the interval of an entry of `[parameters]`: text, a number, or `{ in = ..., design = ... }`.

    Raises:
        CaseError: a value of another type.
    """
    found = value
    if isinstance(value, dict):
        table = Table(value, PARAMETER)
        table.flag("design")
        found = table.need("in")
        table.close()
    if not isinstance(found, (str, int)) or isinstance(found, bool):
        mend = "write a fixed value as a number"
        if isinstance(found, list) and len(found) == 2 and all(isinstance(end, (int, str)) for end in found):
            mend = f'write "[{found[0]}, {found[1]}]"'
        raise CaseError('an interval must be text such as "(0, 1)" or "[1/10, 0.4]"', mend=mend)
    return str(found)


def read_design(top: Table, unbounded: Sequence[Unbounded] = ()) -> Design | None:
    """Reads which parameters are marked `design = true`, and `[design]`; None without any.

    A parameter of the domain (0, ∞) is chosen by its variable: the largest eps is the smallest exp(−eps).

    Raises:
        CaseError: `[design]` without such a parameter or about another one, or together with `[quantify]`.
    """
    names: list[str] = []
    variables = {u.name: u.variable for u in unbounded}
    if "parameters" in top:
        with top.within("parameters") as table:
            for name in table:
                entry = table.get(name)
                if isinstance(entry, dict):
                    with located(key=name):
                        if Table(entry, PARAMETER).flag("design"):
                            names.append(name)
    chosen = tuple(variables.get(name, name) for name in names)
    if "design" not in top:
        return _without_quantify(Design(chosen), top) if names else None
    with top.within("design") as table:
        given = [sense for sense in Sense if sense.value in table]
        if len(given) > 1:
            raise CaseError("give either maximise or minimise, not both")
        objective = table.text(given[0].value) if given else ""
        table.close()
        if not names:
            raise CaseError('no parameter is marked for design: write p = { in = "(0, 1)", design = true }')
        if given and objective not in names:
            raise CaseError(
                f"{objective!r} is not a design parameter; the design parameters are {', '.join(names)}",
                key=given[0],
            )
    sense = [s.opposite if objective in variables else s for s in given]
    best = [variables.get(objective, objective)] if given else []
    return _without_quantify(Design(chosen, *sense, *best), top)


def _without_quantify(design: Design, top: Table) -> Design:
    if "quantify" in top:
        raise CaseError(
            "parameters that are not marked for design are universally quantified already; remove this table",
            key="quantify",
        )
    return design


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
    top: Table,
    exponents: Mapping[str, Sequence[Fraction]],
    files: Mapping[str, RationalFile],
    each: Each,
) -> Domain:
    """Reads the domain of a case whose `exp` have these arguments, and keeps the mistakes.

    `exponents` has the numbers in `exp` under "", and for each parameter that may be unbounded its factors.
    Such a parameter is used as `x_eps = exp(-eps/d)`, with the smallest d that makes all powers whole.
    `files` are those of `[define]`, by name.

    The case's own intervals come first; each must lie inside the one that a file gives, because the file says
    nothing about other points. A parameter that only files have gets the file's interval, or (0, 1) if it
    gives none, as in PROPhESY. The constraints of the files are added to those of the case. A mistake is no
    interval, one that is outside of that of a file, or two files that differ: such a parameter stands in
    (0, 1), and such a constraint is left out.
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


def _bounded(name: str, text: str) -> Interval:
    """Returns an interval with two ends.

    Raises:
        InputError: another text; of one without an upper end, how to write it.
    """
    open_end = re.fullmatch(
        r"\s*([\[(])\s*([^,]+?)\s*,\s*\+?\s*(?:oo|inf|infinity)\s*[\])]\s*", text, re.IGNORECASE
    )
    if open_end and not re.match(r"[+-]?\s*(oo|inf|-)", open_end[2], re.IGNORECASE):
        low = f"{name} {'>=' if open_end[1] == '[' else '>'} {open_end[2]}"
        more = f', and constraints = ["{low}"]'
        if open_end[2] == "0":
            more = ", and verify the value 0 in a separate case" if open_end[1] == "[" else ""
        reason = (
            "the interval of a parameter must have finite ends; only the interval of all "
            'positive numbers, "(0, oo)", is unbounded'
        )
        raise DomainError(reason, mend=f'write {name} = "(0, oo)"{more}')
    return parse_interval(text)


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
            raise CaseError("this name is reserved for the constant exp(...): choose another name", key=name)
        with located(key=name):
            text = interval_text(table.get(name))
            if name not in exponents:
                box[name] = _bounded(name, text)
                return
        unbounded.append(_unbounded(name, exponents[name], table))
        box[unbounded[-1].variable] = UNIT
        return
    each.doubtful.add(re.escape(name))
    if PARAMETER_NAME.match(name) and name not in WORDS and name != GENERATOR:
        box[name] = UNIT


def _outputs(letter: str, counts: Sequence[Fraction]) -> tuple[str, ...]:
    return tuple(f"{letter}{k + 1}" for k in range(int(max(counts, default=0))))


def _add_outputs(box: dict[str, Interval], names: Sequence[str], each: Each) -> None:
    """Adds the variables that say where numbers of an output lie: each is in [0, 1]."""
    for name in names:
        with each:
            if name in box:
                reason = f"{name} is reserved for the place of an output here: rename the parameter"
                raise CaseError(reason, key=name)
        box[name] = Interval(Fraction(0), Fraction(1), True, True)


def _constrained(domain: Domain, constraints: object, each: Each) -> Domain:
    """Adds the constraints of the case."""
    if not isinstance(constraints, list):
        each.doubtful.add("")
        with each:
            raise CaseError(
                'constraints must be a list of comparisons, such as ["p + q <= 1"]', key="constraints"
            )
        return domain
    for k, text in enumerate(constraints):
        before = len(each.found)
        with each, located(key=f"constraints[{k}]"):
            if not isinstance(text, str):
                raise CaseError('a constraint must be a comparison in quotes, such as "p + q <= 1"')
            found = parse_constraint(text, domain)
            domain = replace(domain, constraints=(*domain.constraints, *found))
        each.doubtful |= {""} if len(each.found) > before else set()
    return domain


def _unbounded(name: str, factors: Sequence[Fraction], table: Table) -> Unbounded:
    variable = f"x_{name}"
    if variable in table:
        raise CaseError(f"{variable} is reserved for exp(-{name}/d): rename this parameter", key=variable)
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
            if name in own and not is_inside(box[name], interval):
                reason = f"the interval {box[name]} is not inside {interval}, the interval in {file.path}"
                raise CaseError(reason, key=name)
            known, path = given.setdefault(name, (interval, file.path))
            if name not in own and known != interval:
                reason = (
                    f"{path} has the interval {known}, but {file.path} has {interval}: give the interval here"
                )
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
            found.append(f"{file.path} gives no interval for {names}, so paramverify assumes {UNIT}")
    return found


def is_inside(inner: Interval, outer: Interval) -> bool:
    """Tells whether an interval is a part of another one."""
    low = inner.lower > outer.lower or (
        inner.lower == outer.lower and (outer.lower_closed or not inner.lower_closed)
    )
    high = inner.upper < outer.upper or (
        inner.upper == outer.upper and (outer.upper_closed or not inner.upper_closed)
    )
    return low and high
