"""Case files of interactive systems.

The system, subroutines in it, a given unwinding family, and the budget to be proved.

Subroutine composition: a hidden step is replaced by an automaton that ends alike ([T]).

If an automaton of hidden steps ends in the same states with the same probabilities as the step that it
replaces, then all closures stay what they were, and so do all unwinding families, costs and refutations.

Unwinding families that a case file gives: relations by conditions on the fields of two states.

The family is never trusted. Its relations are taken as they are written, closed reflexively and
symmetrically, which loses nothing: the lifting is monotone and symmetric, and it relates equal distributions
by the identity. Then the published checks decide (`unwinding_families`). Relations need not grow with their
index. For evidence they are made to: if rel is a family, so is rel'[i] = rel[0] ∪ ... ∪ rel[i], because the
lifting is monotone.

One family serves all states s and data points d of the paper's Rels[s][d]: the unions over s and d of
families with the same δ and t, level by level, are a family too, and cover what each of them covers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import Expression, Name, Node, Operation, parse
from paramverify.algebra.polynomials import RationalFunction, Ring, exponents
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import CaseError, Each, ExpressionError, InputError, ModelError, gathered, located
from paramverify.expectations import EXPECT, SOURCE, TITLE, read_expect
from paramverify.interactive.closures import SILENT, Closures, Positive
from paramverify.interactive.probability_bounds import WeightJudge, plain, power
from paramverify.interactive.unwinding_families import Failure, Pair, is_all_covered, is_unwinding_family
from paramverify.models.chains.state_relations import PRIME, where
from paramverify.models.context import Checks, Obligation, check_domain
from paramverify.models.names import explained
from paramverify.models.parameters import PARAMETERS, read_domain
from paramverify.models.settings import NONE, Settings, set_outside, settled, told
from paramverify.models.systems import transition_systems
from paramverify.models.systems.slot_systems import Slots, explore
from paramverify.models.systems.system_tables import SYSTEM, read_slots, read_system
from paramverify.models.systems.transition_systems import (
    Actions,
    Distribution,
    StateKind,
    System,
    Weight,
    Weights,
    as_function,
    is_number,
    reachable_part,
    rows_of,
)
from paramverify.models.systems.transition_systems import text as weight_text
from paramverify.tables import (
    EXPRESSION,
    TEXT,
    Key,
    Listed,
    Section,
    Table,
    all_expressions,
    as_expression,
    by_name,
    exactly_one,
    needs,
    read_document,
    whole,
)

_MARK = "_"  # stands for the prime while the text is parsed: both have one character
_WORDS = {"&": " and ", "|": " or ", "!": " not ", "=": "==", "'": _MARK}
_SIGNS = re.compile(r"&|\||!(?!=)|(?<![<>!=])=(?![=>])|(?<=\w)'")


def read_condition(text: str) -> Expression:
    """Reads a condition; a name with a prime is a field of the second state.

    The signs of predicates of dpCTL* (`&`, `|`, `!`, `=`) stand for `and`, `or`, `not` and `==`.

    Raises:
        ExpressionError: a mistake, with its place; a field whose name ends with an underscore.
    """
    taken = re.search(r"\w*_(?!\w)", text)
    if taken:
        raise ExpressionError("the name of a field may not end with _ here", text, taken.start())
    plain, columns = _written_out(text)
    try:
        found = parse(plain)
    except ExpressionError as error:
        raise ExpressionError(error.reason, text, columns[min(error.column, len(plain))]) from None
    return Expression(text, _primed(found.root, columns))


def _written_out(text: str) -> tuple[str, list[int]]:
    """Returns the text with words for signs, and for each of its columns and its end the column before."""
    columns: list[int] = []
    plain, end = "", 0
    for sign in _SIGNS.finditer(text):
        columns += range(end, sign.start())
        word = _WORDS[sign.group()]
        columns += [sign.start()] * len(word)
        plain, end = plain + text[end : sign.start()] + word, sign.end()
    return plain + text[end:], [*columns, *range(end, len(text) + 1)]


def _primed(node: Node, columns: list[int]) -> Node:
    """Returns a node with primes for marks, at its column in the text as it was written."""
    if isinstance(node, Name) and node.name.endswith(_MARK):
        node = replace(node, name=node.name[: -len(_MARK)] + PRIME)
    if isinstance(node, Operation):
        node = replace(node, arguments=tuple(_primed(inner, columns) for inner in node.arguments))
    return replace(node, column=columns[node.column])


SUBROUTINE = Section(
    "[[subroutines]]",
    "An automaton that replaces a hidden step; it ends in the same states with the same probabilities.",
    (
        Key("state", TEXT, "The state whose hidden step is replaced.", needed=True),
        Key("start", TEXT, "The state in which the automaton starts.", needed=True),
        Key(
            "steps",
            by_name(
                "[subroutines.steps]",
                "The steps of the automaton, state by state.",
                by_name(
                    "[subroutines.steps.STATE]",
                    "The next states with their probabilities.",
                    EXPRESSION,
                    "A probability.",
                ),
                "The next states with their probabilities.",
                named="STATE",
            ),
            needed=True,
        ),
        Key(
            "ends",
            by_name(
                "[subroutines.ends]", "The state of the system for each end.", TEXT, "A state of the system."
            ),
            "The state of the system for each end; left out, ends have the names of these states.",
        ),
    ),
)
SUBROUTINES = Listed("a list of tables", SUBROUTINE)

PRIVACY = Section(
    "[privacy]",
    "The claimed bound.",
    (
        Key("epsilon", EXPRESSION, 'The budget, such as "4*ln(2)".'),
        Key("ratio", EXPRESSION, "The bound e^epsilon itself."),
        Key("step", EXPRESSION, "The budget of one step of the unwinding family that is to be tried."),
        Key("steps", whole(0, 1_000), "The number of its steps."),
    ),
    rules=(exactly_one("epsilon", "ratio"), needs("step", "steps"), needs("steps", "step")),
)
UNWINDING = Section(
    "[unwinding]",
    "An unwinding family.",
    (
        Key("step", EXPRESSION, "The budget of one step.", needed=True),
        Key(
            "rel",
            Listed("a list of texts", TEXT, least=1),
            "A condition on two states for each relation rel[0], rel[1], ...",
            needed=True,
        ),
    ),
)
INTERACTIVE = Section(
    "interactive",
    "A case about an interactive system.",
    (
        TITLE,
        SOURCE,
        Key("expect", EXPECT),
        Key("parameters", PARAMETERS),
        Key("system", SYSTEM, needed=True),
        Key("privacy", PRIVACY),
        Key("unwinding", UNWINDING),
        Key("subroutines", SUBROUTINES, "Automata in place of hidden steps."),
    ),
)


Automaton = Mapping[Hashable, Mapping[Hashable, Weight]]

_STEP = Actions((), (), (), ("step",))


def ends_of(
    automaton: Automaton, start: Hashable, ring: Ring | None = None, positive: Positive | None = None
) -> dict[Hashable, Weight]:
    """Returns the distribution over terminal states of an automaton; what never ends has the key None.

    `automaton` gives the next states of each state that is not terminal. `positive` is as in `Closures`.
    """
    order: list[Hashable] = []
    numbers: dict[int, Hashable] = {}

    def step(state: Hashable) -> list[tuple[str, Mapping[Hashable, Weight]]]:
        order.append(state)
        return [("step", automaton[state])] if state in automaton else []

    system = explore(start, step, _STEP, ring=ring)
    numbers = dict(enumerate(order))
    found = Closures(system, positive).of(system.initial)
    return {None if s == SILENT else numbers[s]: w for s, w in found}


def substitute(
    system: System,
    state: str,
    automaton: Automaton,
    start: Hashable,
    ends: Mapping[Hashable, str],
    positive: Positive | None = None,
) -> System:
    """Returns the system with the hidden step of one state replaced by an automaton, started at `start`.

    `ends` names the state of the system for each terminal state of the automaton.

    Raises:
        ModelError: the state has no hidden step, or the distributions differ; the message says where.
    """
    index = {name: number for number, name in enumerate(system.states)}
    unknown = next((name for name in (state, *ends.values()) if name not in index), None)
    if unknown is not None:
        raise ModelError(f"{unknown!r} is not a state of the system")
    place = index[state]
    if system.kind(place) is not StateKind.HIDDEN:
        raise ModelError(f"state {state!r} has no hidden step that could be replaced")
    ring = system.weights.ring
    action, step = next(iter(system.rows[place].items()))
    found: dict[int, Weight] = {}
    for end, weight in ends_of(automaton, start, ring, positive).items():
        if end is None or end not in ends:
            what = "may never end" if end is None else f"may end in {end!r}"
            raise ModelError(f"the automaton for {state!r} {what}, with probability {weight_text(weight)}")
        at = index[ends[end]]
        found[at] = found[at] + weight if at in found else weight
    wanted = dict(step)
    for at in dict.fromkeys([*wanted, *found]):
        left, right = (as_function(d.get(at, system.weights.zero), ring) for d in (wanted, found))
        if left != right:
            name = system.states[at]
            raise ModelError(
                f"the automaton for {state!r} ends in {name!r} with {right}, the step with {left}"
            )
    return _replaced(
        system,
        place,
        action=action,
        automaton=automaton,
        start=start,
        ends={k: index[v] for k, v in ends.items()},
    )


def _replaced(
    system: System,
    place: int,
    action: int,
    automaton: Automaton,
    start: Hashable,
    ends: Mapping[Hashable, int],
) -> System:
    used = {s: len(system.states) + k for k, s in enumerate(automaton)}
    numeric = system.weights.numeric and all(is_number(w) for row in automaton.values() for w in row.values())
    weights = Weights(system.weights.ring, numeric)
    where = {**ends, **used}

    def converted(step: Distribution) -> Distribution:
        return tuple((s, weights.of(w)) for s, w in step)

    steps = [
        (s, a, converted(step)) for s, row in enumerate(system.rows) for a, step in row.items() if s != place
    ]
    steps.append((place, action, ((where[start], weights.one),)))
    for s, row in automaton.items():
        total: dict[int, Weight] = {}
        for after, weight in row.items():
            at, share = where[after], weights.of(weight)
            total[at] = total[at] + share if at in total else share
        steps.append((used[s], action, tuple(total.items())))
    names = [*system.states]
    for s in automaton:
        names.append(_fresh(f"{system.states[place]}: {s}", names))
    more = (None,) * len(automaton)
    return replace(
        system,
        states=tuple(names),
        rows=rows_of(names, system.actions, steps),
        weights=weights,
        variables={name: (*values, *more) for name, values in system.variables.items()},
    )


def _fresh(name: str, names: Collection[str]) -> str:
    """Returns a name that no state has: the given one, with as many apostrophes as it takes."""
    while name in names:
        name += "'"
    return name


@dataclass(frozen=True)
class Subroutine:
    """A state whose hidden step was replaced, and the number of states of the automaton, ends left out."""

    state: str
    states: int


def replaced(given: Table, system: System, checks: Checks) -> tuple[System, tuple[Subroutine, ...]]:
    """Returns the system with the hidden steps of `[[subroutines]]` replaced, one after the other.

    Each automaton ends in the states that the step leads to, with the same probabilities, as functions on the
    whole domain. So every observation keeps its probability for all inputs.

    Raises:
        InputError: a mistake, with its place; an automaton that ends otherwise, or maybe never.
    """
    found: list[Subroutine] = []
    for number, entry in enumerate(_tables(given)):
        with located(key=f"subroutines[{number}]"):
            inner = Table(entry, SUBROUTINE)
            state, start = inner.text("state"), inner.text("start")
            automaton = _steps(inner, checks)
            ends = _ends(inner, automaton)
            inner.close()
            if start not in automaton:
                raise CaseError(f"the automaton has no steps for {start!r}", key="start")
            system = substitute(system, state, automaton, start=start, ends=ends, positive=checks.positive)
            transition_systems.check(system, checks)
            found.append(Subroutine(state, len(automaton)))
    return system, tuple(found)


def _tables(given: Table) -> list[dict[str, object]]:
    value = given.get("subroutines")
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise CaseError("a list of tables is needed here: [[subroutines]]", key="subroutines")
    return value


def _steps(table: Table, checks: Checks) -> dict[Hashable, dict[Hashable, Weight]]:
    found: dict[Hashable, dict[Hashable, Weight]] = {}
    with table.within("steps") as rows:
        for state in rows:
            with rows.within(state) as row:
                found[state] = {}
                for after in row:
                    with located(key=after):
                        found[state][after] = checks.function(as_expression(row.get(after)))
    return found


def _ends(table: Table, automaton: Automaton) -> dict[Hashable, str]:
    """Returns the state of the system for each end; without `ends`, ends have the names of these states."""
    terminal = dict.fromkeys(str(s) for row in automaton.values() for s in row if s not in automaton)
    if "ends" not in table:
        return {name: name for name in terminal}
    with table.within("ends") as ends:
        found: dict[Hashable, str] = {name: ends.text(name) for name in ends}
        for name in found:
            if name not in terminal:
                reason = "the automaton does not end there: it has steps, or none leads there"
                raise CaseError(reason, key=str(name))
        return found


MAX_LEVELS = 1_000


@dataclass(frozen=True, eq=False)
class WrittenFamily:
    """A family as the case gives it: e^δ, and rel[0], ..., rel[t] as pairs x < y of terminal states."""

    step: RationalFunction
    relations: tuple[dict[Pair, None], ...]

    @property
    def steps(self) -> int:
        """t, the number of steps."""
        return len(self.relations) - 1


@dataclass(frozen=True, eq=False)
class GivenFamily:
    """A family of the case that the published checks accept, with the least level of each pair."""

    ratio: Weight
    steps: int
    table: dict[Pair, int]

    def levels(self) -> dict[Pair, int]:
        """Returns the least i with the pair in rel[i]."""
        return self.table


def read_relations(conditions: Sequence[str], system: System) -> tuple[dict[Pair, None], ...]:
    """Returns rel[0], ..., rel[t] from one condition for each.

    States that move unseen are in no relation, and neither are states without a field that is asked for.

    Raises:
        ExpressionError, CaseError: a mistake in a condition; no condition, or too many.
    """
    if not 1 <= len(conditions) <= MAX_LEVELS + 1:
        reason = f"a list of 1 to {MAX_LEVELS + 1:,} conditions is needed here, for rel[0], ..., rel[t]"
        raise CaseError(reason, key="rel")
    hidden = {s for s in range(len(system.states)) if system.kind(s) is StateKind.HIDDEN}
    found: dict[str, dict[Pair, None]] = {}
    for level, text in enumerate(conditions):
        if text not in found:
            with located(key=f"rel[{level}]"):
                pairs = {(min(p), max(p)) for p in where(system, read_condition(text)) if not hidden & {*p}}
            found[text] = dict.fromkeys(sorted(pairs))
    return tuple(found[text] for text in conditions)


def examine(
    closures: Closures, given: WrittenFamily, judge: WeightJudge, bound: Weight
) -> GivenFamily | Failure:
    """Returns the family if it is an unwinding family that covers all insertions within the bound.

    Otherwise the first failure: the pair, the level and the action, or the insertion that is not covered.
    """
    step, one = plain(given.step), closures.system.weights.one

    def within(left: Weight, right: Weight) -> bool:
        return judge.at_most(left, right, step) and judge.at_most(right, left, step)

    failure = is_unwinding_family(closures, given.relations, within)
    failure = failure or is_all_covered(closures, given.relations[-1])
    if failure:
        return failure
    if not (judge.at_most(one, step) and judge.at_most(power(step, given.steps), one, bound)):
        return Failure("its steps together are not shown to be within the bound", given.steps, None)
    table: dict[Pair, int] = {}
    for level, relation in enumerate(given.relations):
        for pair in relation:
            table.setdefault(pair, level)
    return GivenFamily(step, given.steps, table)


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
    with document.errors(), set_outside(settings), explained(document.data):
        document = settled(document, settings)
        top = Table(document.data, INTERACTIVE)
        with gathered() as each:
            frame = _frame(top, each, bounded)
            checks = frame.checks
            checks.notes += told(settings)
            with each, top.within("system") as table:
                system = read_system(table, checks, progress, fields="unwinding" in top)
            if "subroutines" not in top:
                with each:
                    top.close()
            if "subroutines" in top and top.data["system"].get("kind") == "parts":
                raise CaseError("subroutines are for a system that is not made of parts", key="subroutines")
        system, subroutines = replaced(top, system, checks) if "subroutines" in top else (system, ())
        system = _reached(system, checks)
        given = _unwinding(top, system, checks, frame.step is None)
        top.close()
        return InteractiveCase(
            path=str(path),
            digest=document.digest,
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
        checks.notes.append(f"no run reaches {shown}, so the {word} left out")
    return part


def load_slots(path: str | PathLike[str]) -> tuple[Slots, str, str]:
    """Reads a case of slots as strictly as `load`, but builds its states only where other tables need them.

    Returns the slots, and the title and the digest of the case.

    Raises:
        InputError: any mistake in the file, with file, key and reason; it is no case of slots.
        LimitError: a system with too many states, where the case has `[unwinding]` or `[[subroutines]]`.
    """
    document = read_document(Path(path))
    with document.errors(), explained(document.data):
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
    return read_domain(top, {"": used}, {}, each)
