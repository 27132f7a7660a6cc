"""Cases of interactive systems: a case file with a table `[system]`, and the budget to be proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.domains import Domain
from paramverify.algebra.exponents import exponents
from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import CaseError, Each, InputError, gathered, located
from paramverify.expectations import read_expect
from paramverify.interactive.given import WrittenFamily, read_relations
from paramverify.interactive.keys import INTERACTIVE, PRIVACY, UNWINDING
from paramverify.interactive.subroutines import Subroutine, replaced
from paramverify.models.context import Checks, Obligation, check_domain
from paramverify.models.parameters import read_domain_for
from paramverify.models.settings import NONE, Settings, set_outside, settled_digest, told, with_settings
from paramverify.models.systems.reading import read_slots, read_system
from paramverify.models.systems.slots import Slots
from paramverify.models.systems.system import System, reachable_part
from paramverify.models.undeclared import explained
from paramverify.tables import Table, all_expressions, in_case, read_document, read_toml

MOST_NAMES = 8  # states that a note names
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
    given: WrittenFamily | None = None
    subroutines: tuple[Subroutine, ...] = ()
    maybe_empty: Obligation | None = None
    expect: Mapping[str, Any] = field(default_factory=dict)
    bounded: bool = True  # whether the file has a bound
    settings: Settings = field(default_factory=dict)  # what does not come from the file
    text: str = field(default="", repr=False)  # of the file, for the lines of mistakes

    @property
    def domain(self) -> Domain:
        """The parameter domain."""
        return self.checks.domain


def is_system(path: str | PathLike[str]) -> bool:
    """Tells whether a case file has a table `[system]`.

    Raises:
        CaseError: it cannot be read.
    """
    return "system" in read_toml(Path(path))[0]


def load(
    path: str | PathLike[str],
    progress: Callable[[int, int], None] | None = None,
    bounded: bool = True,
    settings: Settings = NONE,
) -> InteractiveCase:
    """Reads a case file with a table `[system]`; `progress` is told how many states are explored and known.

    A case that need not be `bounded` may have no `[privacy]`; its bound is then 1, and plays no part.
    `settings` are values or intervals of parameters, which take the place of the file's.

    Raises:
        InputError: any mistake in the file, with file, key and reason.
        LimitError: a system with too many states.
    """
    file = Path(path)
    document = read_document(file)
    with in_case(str(path), document.text), set_outside(settings), explained(document.data):
        top = Table(with_settings(document.data, settings), INTERACTIVE)
        with gathered() as each:
            frame = _frame(top, each, bounded)
            checks = frame.checks
            checks.notes += told(settings)
            with each, top.within("system") as table:
                system = read_system(table, checks, progress, fields="unwinding" in top)
            if "subroutines" not in top:
                with each:
                    top.close()
        system, subroutines = replaced(top, system, checks) if "subroutines" in top else (system, ())
        system = _reached(system, checks)
        given = _unwinding(top, system, checks, frame.step is None)
        top.close()
        return InteractiveCase(
            path=str(path),
            digest=settled_digest(document.digest, settings),
            settings=settings,
            title=frame.title,
            source=frame.source,
            budget=frame.budget,
            system=system,
            checks=checks,
            ratio=frame.ratio,
            step=frame.step,
            steps=frame.steps,
            given=given,
            subroutines=subroutines,
            maybe_empty=frame.maybe_empty,
            expect=frame.expect,
            bounded="privacy" in top,
            text=document.text,
        )


def _reached(system: System, checks: Checks) -> System:
    """Returns the part of the system that runs come to, with a note on the states that are left out."""
    part = reachable_part(system)
    names = [repr(name) for name in dict.fromkeys(system.states) if name not in {*part.states}]
    if names:
        shown = ", ".join(names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], "..."])
        word = "state is" if len(names) == 1 else f"{len(names):,} states are"
        checks.notes.append(f"no run comes to {shown}, so the {word} left out")
    return part


def load_slots(path: str | PathLike[str]) -> tuple[Slots, str, str]:
    """Reads a case of slots as strictly as `load`, but builds its states only where other tables need them.

    Returns the slots, and the title and the digest of the case.

    Raises:
        InputError: any mistake in the file, with file, key and reason; it is no case of slots.
        LimitError: a system with too many states, where the case has `[unwinding]` or `[[subroutines]]`.
    """
    document = read_document(Path(path))
    with in_case(str(path), document.text), explained(document.data):
        top = Table(document.data, INTERACTIVE)
        with gathered() as each:
            frame = _frame(top, each)
            with each, top.within("system") as table:
                if table.get("kind") != "slots":
                    raise CaseError('only slots (kind = "slots") have every number of slots', key="kind")
                given = read_slots(table, frame.checks)
                table.close()
        if "unwinding" not in top and "subroutines" not in top:
            top.close()
            return given, frame.title, document.digest
    load(path)  # these tables are about states
    return given, frame.title, document.digest


@dataclass(frozen=True, eq=False)
class _Frame:
    """What a case says besides its system."""

    title: str
    source: str
    expect: Mapping[str, Any]
    checks: Checks
    maybe_empty: Obligation | None
    ratio: RationalFunction
    budget: str
    step: RationalFunction | None
    steps: int | None


def _frame(top: Table, each: Each, bounded: bool = True) -> _Frame:
    """Reads all but the system, and keeps the mistakes; a bound that cannot be read stands as 1."""
    title, source = top.text("title", ""), top.text("source", "")
    for other in (name for name in ("mechanism", "automaton") if name in top.data and "system" not in top):
        raise CaseError(f"this case has [{other}], not [system]: use `paramverify verify`", key="system")
    if "system" not in top and ("model" in top.data or "states" in top.data):
        raise CaseError("this is a chain with formulas: use `paramverify logic`", key="system")
    expect: dict[str, Any] = {}
    with each:
        expect = read_expect(top, claimed=False)
    privacy = Table({"ratio": "1"}, PRIVACY)
    with each:
        privacy = top.table("privacy") if bounded or "privacy" in top else privacy
    checks = Checks(_domain(top, privacy, each), mistakes=each)
    empty = check_domain(checks.domain)
    ratio, budget = RationalFunction.of(checks.ring.number(1)), ""
    step: RationalFunction | None = None
    steps: int | None = None
    with located(key="privacy"):
        with each:
            ratio, budget = _bound(privacy, checks)
        with each:
            step = _ratio(privacy, "step", checks) if "step" in privacy else None
            steps = privacy.integer("steps") if "steps" in privacy else None
            if (step is None) != (steps is None):
                raise CaseError("step and steps come together: δ and t of the family that is to be tried")
        with each:
            privacy.close()
    return _Frame(
        title,
        source,
        expect=expect,
        checks=checks,
        maybe_empty=empty,
        ratio=ratio,
        budget=budget,
        step=step,
        steps=steps,
    )


def _unwinding(top: Table, system: System, checks: Checks, alone: bool) -> WrittenFamily | None:
    """Reads `[unwinding]`: the family of the case, by conditions on pairs of states."""
    if "unwinding" not in top:
        return None
    with top.within("unwinding") as table:
        if not alone:
            raise CaseError("the case has step and steps in [privacy]: give one family only")
        step = _ratio(table, "step", checks)
        conditions = table.texts("rel")
        table.close()
        return WrittenFamily(step, read_relations(conditions, system))


def _bound(privacy: Table, checks: Checks) -> tuple[RationalFunction, str]:
    if "delta" in privacy.data:
        privacy.told.add("delta")
        mend = "delete delta; δ of the unwinding family is called step"
        raise CaseError("an interactive case has no delta, its privacy is pure", key="delta", mend=mend)
    name = privacy.either("epsilon", "ratio", 'epsilon = "ln(2)", for example')
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


def _domain(top: Table, privacy: Table, each: Each) -> Domain:
    words = {k: v for k, v in top.data.items() if k not in ("title", "source", "expect")}
    used = exponents(list(all_expressions(words)))[""]
    unwinding = top.data.get("unwinding")
    tables = [privacy, *([Table(unwinding, UNWINDING)] if isinstance(unwinding, dict) else [])]
    for table, name in product(tables, BUDGETS):
        if name in table.data:
            with suppress(InputError):  # told where the bound is read
                used.append(read_epsilon(table.expression(name)).rational)
    return read_domain_for(top, {"": used}, {}, each)
