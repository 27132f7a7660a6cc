"""`[states]`: what `models/chains/tables.py` reads."""

from __future__ import annotations

from paramverify.keys import (
    EXPRESSION,
    NAME,
    TEXTS,
    Either,
    Key,
    Section,
    Shape,
    by_name,
    whole,
)

ROW = by_name(
    "[states.NAME.to]",
    "Where the state goes.",
    EXPRESSION,
    "The probability of the next state.",
    named="STATE",
)
ACTIONS = by_name(
    "[states.NAME.to]", "Where the state goes under each action.", ROW, "The next states.", named="ACTION"
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
                    others=Key("NAME", whole(0, 10**9), "The value of a variable."),
                    names=NAME,
                ),
            ),
            Key(
                "to",
                to,
                "The next states with their probabilities, for each action of a decision process; "
                "left out, the state stays.",
            ),
        ),
    )


def states_section(to: Shape) -> Section:
    """Returns the declaration of `[states]`, with that of `to`."""
    return Section(
        "[states]", "The states of the model.", others=Key("NAME", _state_section(to), "A state."), least=1
    )


STATES = states_section(Either((ROW, ACTIONS)))
