"""Case files of interactive systems: what `interactive/cases.py` and `interactive/subroutines.py` read."""

from __future__ import annotations

from paramverify.expectations import EXPECT, SOURCE, TITLE
from paramverify.keys import (
    EXPRESSION,
    TEXT,
    Key,
    Listed,
    Section,
    by_name,
    exactly_one,
    needs,
    whole,
)
from paramverify.models.parameter_keys import PARAMETERS
from paramverify.models.systems.keys import SYSTEM

SUBROUTINE = Section(
    "[[subroutines]]",
    "An automaton in place of a hidden step; it ends in the states that the step leads to, as likely.",
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
    "The bound that is claimed.",
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
    "An unwinding family of your own.",
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
