"""Cases of interactive systems: a case file with a table `[system]`, and the budget to be proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.domains import Domain
from paramverify.algebra.exponents import exponents
from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import CaseError, located
from paramverify.models.context import Checks, Obligation, check_domain
from paramverify.models.parameters import read_domain
from paramverify.models.systems.reading import read_system
from paramverify.models.systems.system import System
from paramverify.tables import Table, all_expressions, read_toml

BUDGETS = ("epsilon", "step")  # given as ε; `ratio` is given as e^ε


@dataclass(frozen=True, eq=False)
class InteractiveCase:
    """A case file that was read: the system and the bound e^ε, for every point of a domain.

    `step` and `steps` are e^δ and t, where the case says which family is to be tried. `checks` holds the
    domain and collects obligations, also those that come up later; `maybe_empty` must be refuted.
    """

    path: str
    digest: str
    title: str
    source: str
    budget: str
    system: System
    checks: Checks
    ratio: RationalFunction
    step: RationalFunction | None = None
    steps: int | None = None
    maybe_empty: Obligation | None = None
    expect: Mapping[str, Any] = field(default_factory=dict)

    @property
    def domain(self) -> Domain:
        """The parameter domain."""
        return self.checks.domain


def load(path: str | PathLike[str], progress: Callable[[int, int], None] | None = None) -> InteractiveCase:
    """Reads a case file with a table `[system]`; `progress` is told how many states are explored and known.

    Raises:
        InputError: any mistake in the file, with file, key and reason.
        LimitError: a system with too many states.
    """
    file = Path(path)
    data, digest = read_toml(file)
    with located(file=str(path)):
        top = Table(data)
        title, source = top.text("title", ""), top.text("source", "")
        expect = top.table("expect").data if "expect" in top else {}
        if "system" not in top and "mechanism" in top:
            raise CaseError(
                "this case has a [mechanism], not a [system]: use `paramverify verify`", key="system"
            )
        privacy = top.table("privacy")
        checks = Checks(_domain(top, privacy))
        empty = check_domain(checks.domain)
        with located(key="privacy"):
            ratio, budget = _bound(privacy, checks)
            step = _ratio(privacy, "step", checks) if "step" in privacy else None
            steps = privacy.integer("steps", 0, 1_000) if "steps" in privacy else None
            if (step is None) != (steps is None):
                raise CaseError("step and steps come together: δ and t of the family that is to be tried")
            privacy.close()
        with top.within("system") as table:
            system = read_system(table, checks, progress)
        top.close()
        return InteractiveCase(
            path=str(path),
            digest=digest,
            title=title,
            source=source,
            budget=budget,
            system=system,
            checks=checks,
            ratio=ratio,
            step=step,
            steps=steps,
            maybe_empty=empty,
            expect=expect,
        )


def _bound(privacy: Table, checks: Checks) -> tuple[RationalFunction, str]:
    if ("epsilon" in privacy) == ("ratio" in privacy):
        raise CaseError("give either epsilon or ratio")
    name = "epsilon" if "epsilon" in privacy else "ratio"
    return _ratio(privacy, name, checks), f"{name} = {privacy.expression(name).text}"


def _ratio(privacy: Table, name: str, checks: Checks) -> RationalFunction:
    """Reads a bound, positive on the domain and nowhere proved to be below 1."""
    expression = privacy.expression(name)
    with located(key=name):
        if name in BUDGETS:
            ratio = read_epsilon(expression).ratio(checks.ring, checks.function)
        else:
            ratio = checks.function(expression)
        below = ratio.numerator * ratio.denominator
        if not below or checks.positive(below, "the ratio bound") != below:
            raise CaseError("the ratio bound must be positive")
        less = (ratio.numerator - ratio.denominator) * ratio.denominator
        if sign_on(less, checks.domain) is Sign.NEGATIVE:
            raise CaseError(f"the ratio bound is {ratio}: it is below 1, so the budget would be negative")
        return ratio


def _domain(top: Table, privacy: Table) -> Domain:
    words = {k: v for k, v in top.data.items() if k not in ("title", "source", "expect")}
    used = exponents(list(all_expressions(words)))[""]
    for name in BUDGETS:
        if name in privacy:
            with located(key="privacy"):
                expression = privacy.expression(name)
            with located(key=f"privacy.{name}"):
                used.append(read_epsilon(expression).rational)
    return read_domain(top, {"": used}, {})
