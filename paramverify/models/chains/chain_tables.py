"""Small Markov chains and decision processes as TOML tables.

    [states]
    plus = { labels = ["honest"], set = { r = 1 }, to = { yes = "3/4", no = "1/4" } }

A state without `to` stays where it is. In a decision process `to` has a table for each action, or `"*"`
alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import nullcontext
from typing import TypeAlias

from flint import fmpq

from paramverify.algebra import expressions
from paramverify.algebra.polynomials import RationalFunction, constant_value, is_constant, rational
from paramverify.errors import CaseError, ModelError, gathered, located
from paramverify.models.chains.markov_chains import ANY, Chain, Row, Value, is_zero, uniform
from paramverify.models.context import Checks
from paramverify.spelling import nearest
from paramverify.tables import (
    EXPRESSION,
    NAME,
    TEXTS,
    Either,
    Key,
    Section,
    Shape,
    Table,
    as_expression,
    by_name,
    whole,
)

ROW = by_name(
    "[states.NAME.to]",
    "The next states.",
    EXPRESSION,
    "The probability of the next state.",
    named="STATE",
)
ACTIONS = by_name(
    "[states.NAME.to]", "The next states under each action.", ROW, "The next states.", named="ACTION"
)


def _state_section(to: Shape) -> Section:
    return Section(
        "[states.NAME]",
        "A state.",
        (
            Key("labels", TEXTS, "The labels of the state.", default=[]),
            Key(
                "set",
                Section(
                    "[states.NAME.set]",
                    "The variables of the state.",
                    others=Key("NAME", whole(0, 10**9), "The value of the variable."),
                    names=NAME,
                ),
            ),
            Key(
                "to",
                to,
                "The next states with their probabilities, for each action of a decision process; if "
                "left out, the state never changes.",
            ),
        ),
    )


def states_section(to: Shape) -> Section:
    """Returns the declaration of `[states]`, with that of `to`."""
    return Section(
        "[states]", "The states of the model.", others=Key("NAME", _state_section(to), "A state."), least=1
    )


STATES = states_section(Either((ROW, ACTIONS)))


MAX_STATES = 100_000

Choices: TypeAlias = Sequence[tuple[str, Row]]  # the action of each choice of a state, and its distribution


def read_states(table: Table, checks: Checks, process: bool, initial: list[str] | None) -> Chain:
    """Reads `[states]`; without `initial` every state is an initial one.

    Raises:
        InputError: a mistake in the table, with its key.
        ModelError: rows that are not probabilities for every point of the domain.
    """
    names = tuple(table)
    if not 1 <= len(names) <= MAX_STATES:
        raise CaseError(f"a model needs between 1 and {MAX_STATES:,} states")
    index = {name: k for k, name in enumerate(names)}
    labels: dict[str, set[int]] = {}
    variables: dict[str, dict[int, int]] = {}
    named: list[Choices] = []
    numbers: dict[str, Value] = {}
    each = checks.mistakes
    for name in names:
        with each, table.within(name) as entry:
            for label in entry.texts("labels") if "labels" in entry else []:
                labels.setdefault(label, set()).add(index[name])
            if "set" in entry:
                with entry.within("set") as own:
                    for variable, value in _whole(own).items():
                        variables.setdefault(variable, {})[index[name]] = value
            rows: dict[str, Row] = {ANY: ((index[name], fmpq(1)),)}
            if "to" in entry:
                with entry.within("to", ACTIONS if process else ROW) as given:
                    rows = {}
                    for action in given if process else (ANY,):
                        with given.within(action) if process else nullcontext(given) as row:
                            rows[action] = _row(
                                row, index, checks, f"{name}.{action}" if process else name, numbers
                            )
            named.append(tuple(rows.items()))
            with each:
                entry.close()
    each.tell()
    start = tuple(range(len(names))) if initial is None else tuple(_state(index, n) for n in initial)
    return assemble(
        states=names,
        named=named,
        initial=start,
        labels={label: frozenset(states) for label, states in labels.items()},
        variables={v: tuple(map(values.get, range(len(names)))) for v, values in variables.items()},
        checks=checks,
    )


def _whole(table: Table) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in table:
        if not expressions.NAME.match(name):
            raise CaseError("a name must consist of letters, digits and _, and start with a letter", key=name)
        found[name] = table.integer(name)
    return found


def _state(index: Mapping[str, int], name: str) -> int:
    if name not in index:
        near = nearest(name, index)
        raise CaseError(f"unknown state {name!r}", mend=f"did you mean {near!r}?" if near else "")
    return index[name]


def _row(table: Table, index: Mapping[str, int], checks: Checks, what: str, numbers: dict[str, Value]) -> Row:
    entries: dict[str, RationalFunction] = {}
    with gathered() as each:
        for name in table:
            if name not in index and isinstance(table.get(name), dict):
                reason = (
                    f"the steps of the action {name!r} stand where the next state is expected: actions "
                    'are allowed only with kind = "mdp" in [model]'
                )
                raise CaseError(reason)
            with each, located(key=name):
                _state(index, name)
                text = str(table.get(name))
                if text not in numbers:
                    numbers[text] = checks.function(as_expression(table.get(name)))
                entries[name] = numbers[text]
    checks.distribution(entries, what)
    return tuple((index[n], _plain(v)) for n, v in entries.items() if not is_zero(v))


def _plain(value: RationalFunction) -> Value:
    if is_constant(value.numerator) and is_constant(value.denominator):
        return rational(constant_value(value.numerator) / constant_value(value.denominator))
    return value


def assemble(
    *,
    states: Sequence[str],
    named: Sequence[Choices],
    initial: tuple[int, ...],
    labels: Mapping[str, AbstractSet[int]],
    variables: Mapping[str, Sequence[int | None]],
    checks: Checks,
    truths: frozenset[str] = frozenset(),
) -> Chain:
    """Returns the model from choices by action name; a state whose only choice is `ANY` has it under every
    action.

    Where a state does not have exactly one choice for each action, the model tells so: then it is no model
    for query schedulers.

    Raises:
        ModelError: no initial state.
    """
    if not initial:
        raise ModelError("the model has no initial state; mark one as initial")
    actions = tuple(dict.fromkeys(a for choices in named for a, _ in choices if a != ANY)) or (ANY,)
    table: list[tuple[Row, ...]] = []
    unscheduled = ""
    for number, found in enumerate(named):
        choices = different(found) if len(found) > 1 else found
        if len(choices) == 1 and choices[0][0] == ANY:
            table.append((choices[0][1],) * len(actions))
            continue
        by_action = dict(choices)
        mistake = _mistake(choices, by_action, actions)
        unscheduled = unscheduled or (f"in state {states[number]!r} {mistake}" if mistake else "")
        table.append(tuple(row for _, row in choices) if mistake else tuple(by_action[a] for a in actions))
    domain = checks.domain
    return Chain(
        states=states,
        actions=actions,
        rows=uniform(tuple(table), domain.ring),
        initial=initial,
        labels=labels,
        variables=variables,
        domain=domain,
        obligations=tuple(checks.obligations),
        unscheduled=unscheduled,
        truths=truths,
    )


def different(choices: Choices) -> Choices:
    """Returns the choices without those that have the action and the distribution of another one."""
    return tuple({(a, *((t, str(v)) for t, v in row)): (a, row) for a, row in choices}.values())


def _mistake(choices: Choices, by_action: Mapping[str, Row], actions: Sequence[str]) -> str:
    """Returns why a query scheduler cannot choose in a state; empty if it can."""
    count = Counter(action for action, _ in choices)
    action, often = count.most_common(1)[0]
    if often > 1:
        return f"{often} choices have " + ("no action" if action == ANY else f"the action {action!r}")
    if ANY in by_action:
        return "a choice without an action stands beside choices with actions"
    missing = next((a for a in actions if a not in by_action), None)
    return "" if missing is None else f"the action {missing!r} is not enabled"
