"""Reads the table `[system]` of a case file: states and steps written out, or the slots of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, located
from paramverify.models.context import Checks
from paramverify.models.noise import Range, read_noise
from paramverify.models.ranges import ends_of
from paramverify.models.systems import slots, wellformed
from paramverify.models.systems.keys import MAX_ANSWER
from paramverify.models.systems.system import Actions, Distribution, System, rows_of
from paramverify.models.systems.weights import Weights, is_number
from paramverify.spelling import nearest
from paramverify.tables import Table, as_expression, check_name

MAX_STATES = 1_000_000


def read_system(
    table: Table,
    checks: Checks,
    progress: Callable[[int, int], None] | None = None,
    fields: bool = False,
) -> System:
    """Reads `[system]`: `kind = "slots"`, or `data`, `queries`, `responses`, `hidden`, `initial` and `steps`.

    With `fields`, the states of the library have variables. States that are written out have those of the
    table `[system.fields]`.

    Raises:
        InputError: any mistake, with its key; a system that is not well-formed.
    """
    if "kind" in table:
        table.choice("kind", ("slots",))
        given = read_slots(table, checks)
        system = slots.build(given, states=MAX_STATES, progress=progress, fields=fields)
    else:
        system = _explicit(table, checks)
    table.close()
    wellformed.check(system, checks)
    return system


def _explicit(table: Table, checks: Checks) -> System:
    if all(name in table for name in ("steps", "initial")):
        for name in (*_LISTS, "environment", "fields"):
            table.get(name)
        table.close()  # a list with a wrong name is told before actions that are not found
    lists = {name: tuple(table.texts(name)) if name in table else () for name in _LISTS}
    actions = Actions(*(lists[name] for name in _LISTS))
    partial = table.choice("environment") == "accepted"
    inner = table.table("steps")
    names = tuple(inner)
    each = checks.mistakes
    index = {name: number for number, name in enumerate(names)}
    numbers = {name: number for number, name in enumerate(actions.names)}
    initial = _known(table.text("initial"), index, "initial", "state")
    raw: list[tuple[int, int, list[tuple[int, RationalFunction]]]] = []
    with located(key="steps"):
        for state, name in enumerate(names):
            with each, inner.within(name) as row:
                for action in row:
                    with each:
                        number = _known(action, numbers, action, "action")
                        with located(key=action):
                            raw.append((state, number, list(_distribution(row.get(action), index, checks))))
    each.tell()
    numeric = all(is_number(w) for _, _, entries in raw for _, w in entries)
    weights = Weights(checks.ring, numeric)

    def steps() -> Iterator[tuple[int, int, Distribution]]:
        for state, action, entries in raw:
            yield state, action, tuple((s, weights.of(w)) for s, w in entries)

    return System(
        names,
        actions,
        initial=initial,
        rows=rows_of(names, actions, steps()),
        weights=weights,
        partial=partial,
        variables=_fields(table, index) if "fields" in table else {},
    )


def _fields(table: Table, index: dict[str, int]) -> dict[str, tuple[int | None, ...]]:
    """Reads `[system.fields]`: for each name a table of states with whole numbers."""
    found: dict[str, tuple[int | None, ...]] = {}
    with table.within("fields") as given:
        for name in given:
            check_name(name)
            with given.within(name) as values:
                known = {_known(state, index, state, "state"): values.integer(state) for state in values}
            found[name] = tuple(map(known.get, range(len(index))))
    return found


_LISTS = ("data", "queries", "responses", "hidden")


def _known(name: str, known: dict[str, int], key: str, what: str) -> int:
    if name not in known:
        near = nearest(name, known)
        mend = f"did you mean {near!r}?" if near else ""
        if what == "action" and not near:
            mend = "name it in data, queries, responses or hidden"
        raise CaseError(f"the system has no {what} {name!r}", key=key, mend=mend)
    return known[name]


def _distribution(
    data: object, index: dict[str, int], checks: Checks
) -> Iterator[tuple[int, RationalFunction]]:
    if isinstance(data, str):
        yield _known(data, index, "", "state"), RationalFunction.of(checks.ring.number(1))
        return
    if not isinstance(data, dict) or not data:
        raise CaseError("the next state, or a table of next states with their probabilities, is needed here")
    for name, value in data.items():
        successor = _known(name, index, name, "state")
        with located(key=name):
            yield successor, checks.function(as_expression(value))


def read_slots(table: Table, checks: Checks) -> slots.Slots:
    """Reads the keys of `kind = "slots"`, without the states; the table is left open.

    Raises:
        InputError: any mistake, with its key.
    """
    with located(key="data"):
        data = _whole_numbers(table.need("data"))
    return slots.Slots(
        slots=table.integer("slots"),
        points=table.integer("points"),
        data=data,
        queries=_queries(table, checks),
        ring=checks.ring,
        drops=table.choice("full") == "drop",
        shared=table.choice("memory") == "shared",
        delete=table.flag("delete"),
    )


def _whole_numbers(given: object) -> tuple[int, ...]:
    """Returns the numbers of a list without repetition, or of a text such as `-100..100`."""
    if isinstance(given, str):
        low, high = _ends(given)
        return tuple(range(low, high + 1))
    whole = isinstance(given, list) and all(isinstance(d, int) and not isinstance(d, bool) for d in given)
    if not whole or not isinstance(given, list) or not given or len(set(given)) < len(given):
        raise CaseError('a list of different whole numbers, or a text such as "-100..100", is needed here')
    return tuple(given)


def _ends(text: str) -> tuple[int, int]:
    ends = ends_of(text)
    if ends is None:
        raise CaseError(f'{text!r} is no range such as "-100..100"')
    low, high = ends
    if not low <= high <= low + 2 * MAX_ANSWER:
        raise CaseError(f"{text!r} needs its least number first, and at most {2 * MAX_ANSWER + 1} numbers")
    return low, high


def _queries(table: Table, checks: Checks) -> dict[str, slots.Answers]:
    """Returns how each query is answered: `queries` is a list, or a table with noise for each."""
    found: dict[str, slots.Answers] = {}
    if isinstance(table.need("queries"), list):
        names = table.texts("queries")
        if len(set(names)) < len(names):
            raise CaseError("a query stands here twice", key="queries")
        limit = table.integer("range")
        answers = _answers(table, checks, (-limit, limit), "-range..range")
        found = dict.fromkeys(names, answers)
    else:
        with table.within("queries") as inner:
            for name in inner:
                with inner.within(name) as own:
                    with located(key="range"):
                        ends = _ends(own.text("range"))
                    found[name] = _answers(own, checks, ends, own.text("range"))
                    own.close()
    for query in found:
        if query not in slots.FUNCTIONS:
            raise CaseError(f"{query!r} is not one of {', '.join(slots.FUNCTIONS)}", key="queries")
    if not found:
        raise CaseError("at least one query is needed", key="queries")
    return found


def _answers(table: Table, checks: Checks, ends: tuple[int, int], told: str) -> slots.Answers:
    inner = table.table("noise")
    if "sampled" not in inner.data:
        answers = Range(ends[1] - ends[0], told)
        read = read_noise(table, "noise", checks, answers, ("{ sampled = base }",))
        return slots.Answers(*ends, tuple(map(tuple, read.rows)))
    with located(key="noise"):
        sampler = checks.named(inner, "sampled")
        one = RationalFunction.of(checks.ring.number(1))
        for value, what in ((sampler, "the base"), (one - sampler, "1 minus the base")):
            signed = value.numerator * value.denominator
            if not signed or checks.positive(signed, f"{what} of the sampled noise") != signed:
                raise CaseError("the base of the sampled noise lies above 0 and below 1", key="sampled")
        printed = inner.choice("line_06") == "printed"
        inner.close()
        return slots.Answers(*ends, sampler=sampler, printed=printed)
