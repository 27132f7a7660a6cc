"""Design parameters: what the author of a mechanism may choose, so that privacy holds for all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from paramverify.algebra.exponents import Unbounded
from paramverify.errors import CaseError, located
from paramverify.tables import Table


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
        table = Table(value)
        _is_design(table)
        found = table.need("in")
        table.close()
    if not isinstance(found, (str, int)) or isinstance(found, bool):
        mend = "a fixed value is a number"
        if isinstance(found, list) and len(found) == 2 and all(isinstance(end, (int, str)) for end in found):
            mend = f'write "[{found[0]}, {found[1]}]"'
        raise CaseError('an interval is text such as "(0, 1)" or "[1/10, 0.4]"', mend=mend)
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
                        if _is_design(Table(entry)):
                            names.append(name)
    chosen = tuple(variables.get(name, name) for name in names)
    if "design" not in top:
        return _without_quantify(Design(chosen), top) if names else None
    with top.within("design") as table:
        given = [sense for sense in Sense if sense.value in table]
        if len(given) > 1:
            raise CaseError("give either maximise or minimise")
        objective = table.text(given[0].value) if given else ""
        table.close()
        if not names:
            raise CaseError('no parameter is marked: write p = { in = "(0, 1)", design = true }')
        if given and objective not in names:
            raise CaseError(
                f"{objective!r} is not a design parameter; there are: {', '.join(names)}", key=given[0]
            )
    sense = [s.opposite if objective in variables else s for s in given]
    best = [variables.get(objective, objective)] if given else []
    return _without_quantify(Design(chosen, *sense, *best), top)


def _is_design(table: Table) -> bool:
    value = table.get("design")
    if value is not None and not isinstance(value, bool):
        raise CaseError("true or false is needed here", key="design")
    return bool(value)


def _without_quantify(design: Design, top: Table) -> Design:
    if "quantify" in top:
        raise CaseError("the parameters that are not for design are quantified already", key="quantify")
    return design
