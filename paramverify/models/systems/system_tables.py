"""Reads the table `[system]` of a case file: states and steps written out, slots of the library, or parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import CaseError, located
from paramverify.models import noise
from paramverify.models.context import Checks
from paramverify.models.noise import Range, read_noise
from paramverify.models.ranges import PATTERN, ends_of
from paramverify.models.systems import slot_systems, transition_systems
from paramverify.models.systems.system_parts import shared_points, side_by_side
from paramverify.models.systems.transition_systems import (
    Actions,
    Distribution,
    System,
    Weights,
    is_number,
    rows_of,
)
from paramverify.spelling import nearest
from paramverify.tables import (
    EXPRESSION,
    FLAG,
    NAME,
    TEXT,
    TEXTS,
    Either,
    Key,
    Leaf,
    Listed,
    Section,
    Table,
    Variants,
    as_expression,
    by_name,
    check_name,
    one_of,
    whole,
)

MAX_ANSWER = 200


_ENDS = Leaf('a range such as "-100..100"', {"type": "string", "pattern": f"^{PATTERN}$"})
SAMPLED = Section(
    "{ sampled = ... }",
    "Noise drawn by the sampler of the paper, as the program of the library implements it.",
    (
        Key("sampled", EXPRESSION, "The base of the noise, in (0, 1).", needed=True),
        Key(
            "line_06",
            one_of("corrected", "printed"),
            "Whether line 6 of the sampler is corrected or as printed.",
            default="corrected",
        ),
    ),
)
ADDED = Variants(
    "noise",
    "The noise that is added to an answer.",
    lambda: ("sampled", *noise.REGISTRY.names()),
    lambda word: SAMPLED if word == "sampled" else noise.declared(word, ranged=False),
)
_LIMITED = Section(
    "[system.queries.NAME]",
    "How a query is answered.",
    (
        Key("range", _ENDS, 'The answers, such as "0..2".', needed=True),
        Key("noise", ADDED, needed=True),
    ),
)
_KIND = Key(
    "kind",
    one_of("slots", "parts"),
    '"slots" models the memory of the library, and "parts" combines several systems; if '
    "left out, you list the states.",
)
SLOTS = Section(
    'kind = "slots"',
    "The memory of the library: slots of data points, which queries read in turn.",
    (
        replace(_KIND, needed=True),
        Key("slots", whole(0, 12), "The number of slots.", needed=True),
        Key("points", whole(1, 100), "How many data points a slot holds.", needed=True),
        Key(
            "data",
            Either(
                (
                    _ENDS,
                    Listed("a list of whole numbers", Leaf("a whole number", {"type": "integer"}), 1, True),
                )
            ),
            'The data points: different whole numbers, or a range such as "-100..100".',
            needed=True,
        ),
        Key(
            "queries",
            Either(
                (
                    Listed("a list of queries", one_of(*slot_systems.FUNCTIONS), least=1, distinct=True),
                    Section(
                        "[system.queries]",
                        "The queries, each with its own noise.",
                        others=Key("QUERY", _LIMITED),
                        names=f"^({'|'.join(slot_systems.FUNCTIONS)})$",
                        least=1,
                    ),
                )
            ),
            "The queries: a list, or a table with the noise of each.",
            needed=True,
        ),
        Key("range", whole(1, MAX_ANSWER), "Answers are from -range to range, if `queries` is a list."),
        Key("noise", ADDED, "The noise of every answer, if `queries` is a list."),
        Key("full", one_of("drop", "never"), "What a full slot does with a data point.", default="drop"),
        Key(
            "memory",
            one_of("slot", "shared"),
            "Whether each slot has its own memory, or all slots share one.",
            default="slot",
        ),
        Key("delete", FLAG, "Whether a slot is emptied after a query has read it.", default=True),
    ),
    also={
        "if": {"properties": {"queries": {"type": "array"}}},
        "then": {"required": ["range", "noise"]},
        "else": {"not": {"anyOf": [{"required": ["range"]}, {"required": ["noise"]}]}},
    },
)
STEPS = by_name(
    "[system.steps.STATE.ACTION]",
    "The next states, with their probabilities.",
    EXPRESSION,
    "A probability.",
    named="STATE",
)
WRITTEN_OUT = Section(
    "[system]",
    "The states and the steps, listed.",
    (
        _KIND,
        Key("data", TEXTS, "The data points: inputs that the adversary does not see.", default=[]),
        Key("queries", TEXTS, "The queries: inputs that the adversary sees.", default=[]),
        Key("responses", TEXTS, "The responses: outputs that the adversary sees.", default=[]),
        Key("hidden", TEXTS, "The actions that the adversary does not see.", default=[]),
        Key("initial", TEXT, "The state in which the system starts.", needed=True),
        Key(
            "environment",
            one_of("any", "accepted"),
            'With "accepted", inputs that a waiting state does not accept never arrive.',
            default="any",
        ),
        Key(
            "steps",
            by_name(
                "[system.steps]",
                "The steps: for each state its actions.",
                by_name(
                    "[system.steps.STATE]",
                    "The actions of a state.",
                    Either((TEXT, replace(STEPS, least=1))),
                    "The next state, or a table of next states with their probabilities.",
                    named="ACTION",
                ),
                "The actions of a state.",
                named="STATE",
            ),
            needed=True,
        ),
        Key(
            "fields",
            Section(
                "[system.fields]",
                "Numbers that belong to states, for the conditions of [unwinding].",
                others=Key(
                    "NAME",
                    by_name(
                        "[system.fields.NAME]",
                        "A field.",
                        whole(-(10**9), 10**9),
                        "The number that a state has.",
                        named="STATE",
                    ),
                    "A field: a number for each state.",
                ),
                names=NAME,
            ),
        ),
    ),
)
PART = Variants(
    "[system.parts.NAME]",
    "A system that is a part.",
    lambda: ("slots",),
    lambda word: SLOTS,
    tag="kind",
    text=_KIND.text,
    otherwise=WRITTEN_OUT,
)
PARTS = Section(
    'kind = "parts"',
    "Several systems that receive the same data points, side by side.",
    (
        replace(_KIND, needed=True),
        Key(
            "parts",
            Section(
                "[system.parts]",
                "The systems, by their names.",
                others=Key("NAME", PART, "A system."),
                names=NAME,
                least=2,
            ),
            needed=True,
        ),
    ),
)
SYSTEM = Variants(
    "[system]",
    "The interactive system.",
    lambda: ("slots", "parts"),
    lambda word: PARTS if word == "parts" else SLOTS,
    tag="kind",
    text=_KIND.text,
    otherwise=WRITTEN_OUT,
)


MAX_STATES = 1_000_000


def read_system(
    table: Table,
    checks: Checks,
    progress: Callable[[int, int], None] | None = None,
    fields: bool = False,
) -> System:
    """Reads `[system]`: of a `kind`, or `data`, `queries`, `responses`, `hidden`, `initial` and `steps`.

    With `fields`, the states of the library have variables. States that are written out have those of the
    table `[system.fields]`.

    Raises:
        InputError: any mistake, with its key; a system that is not well-formed.
    """
    if "kind" in table and table.choice("kind", ("slots", "parts")) == "parts":
        system = _side_by_side(table, checks, progress, fields)
    else:
        system = _alone(table, checks, progress, fields)
    table.close()
    transition_systems.check(system, checks)
    return system


def _alone(table: Table, checks: Checks, progress: Callable[[int, int], None] | None, fields: bool) -> System:
    if "kind" not in table:
        return _explicit(table, checks)
    table.choice("kind", ("slots",))
    given = read_slots(table, checks)
    return slot_systems.build(given, states=MAX_STATES, progress=progress, fields=fields)


def _side_by_side(
    table: Table, checks: Checks, progress: Callable[[int, int], None] | None, fields: bool
) -> System:
    parts: dict[str, System] = {}
    with table.within("parts") as listed:
        for name in listed:
            check_name(name)
            with checks.mistakes, listed.within(name) as own:
                parts[name] = _alone(own, checks, None, fields)
                own.close()
                transition_systems.check(parts[name], checks)
    checks.mistakes.tell()
    if len(parts) < 2:
        raise CaseError("parts needs at least two systems", key="parts")
    checks.notes += shared_points({name: part.actions.data for name, part in parts.items()})
    return side_by_side(parts, checks.ring, progress, MAX_STATES)


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
            mend = "add it to data, queries, responses or hidden"
        raise CaseError(f"the system has no {what} {name!r}", key=key, mend=mend)
    return known[name]


def _distribution(
    data: object, index: dict[str, int], checks: Checks
) -> Iterator[tuple[int, RationalFunction]]:
    if isinstance(data, str):
        yield _known(data, index, "", "state"), RationalFunction.of(checks.ring.number(1))
        return
    if not isinstance(data, dict) or not data:
        raise CaseError("this must be the next state, or a table of next states with their probabilities")
    for name, value in data.items():
        successor = _known(name, index, name, "state")
        with located(key=name):
            yield successor, checks.function(as_expression(value))


def read_slots(table: Table, checks: Checks) -> slot_systems.Slots:
    """Reads the keys of `kind = "slots"`, without the states; the table is left open.

    Raises:
        InputError: any mistake, with its key.
    """
    with located(key="data"):
        data = _whole_numbers(table.need("data"))
    return slot_systems.Slots(
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
        raise CaseError('this must be a list of different whole numbers, or text such as "-100..100"')
    return tuple(given)


def _ends(text: str) -> tuple[int, int]:
    ends = ends_of(text)
    if ends is None:
        raise CaseError(f'{text!r} is not a range such as "-100..100"')
    low, high = ends
    if not low <= high <= low + 2 * MAX_ANSWER:
        raise CaseError(
            f"{text!r} must have its smaller number first, and at most {2 * MAX_ANSWER + 1} numbers"
        )
    return low, high


def _queries(table: Table, checks: Checks) -> dict[str, slot_systems.Answers]:
    """Returns how each query is answered: `queries` is a list, or a table with noise for each."""
    found: dict[str, slot_systems.Answers] = {}
    if isinstance(table.need("queries"), list):
        names = table.texts("queries")
        if len(set(names)) < len(names):
            raise CaseError("this query is listed twice; remove one of them", key="queries")
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
        if query not in slot_systems.FUNCTIONS:
            raise CaseError(f"{query!r} is not one of {', '.join(slot_systems.FUNCTIONS)}", key="queries")
    if not found:
        raise CaseError("queries needs at least one query", key="queries")
    return found


def _answers(table: Table, checks: Checks, ends: tuple[int, int], told: str) -> slot_systems.Answers:
    inner = table.table("noise")
    if "sampled" not in inner.data:
        answers = Range(ends[1] - ends[0], told)
        read = read_noise(table, "noise", checks, answers, ("{ sampled = base }",))
        return slot_systems.Answers(*ends, tuple(map(tuple, read.rows)))
    with located(key="noise"):
        sampler = checks.named(inner, "sampled")
        one = RationalFunction.of(checks.ring.number(1))
        for value, what in ((sampler, "the base"), (one - sampler, "1 minus the base")):
            signed = value.numerator * value.denominator
            if not signed or checks.positive(signed, f"{what} of the sampled noise") != signed:
                raise CaseError(
                    "the base of the sampled noise must lie strictly between 0 and 1", key="sampled"
                )
        printed = inner.choice("line_06") == "printed"
        inner.close()
        return slot_systems.Answers(*ends, sampler=sampler, printed=printed)
