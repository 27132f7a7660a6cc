"""Case files about automata over streams: what `automata/` reads."""

from __future__ import annotations

from paramverify.expectations import EXPECT, SOURCE, TITLE
from paramverify.keys import EXPRESSION, FILE, Key, Leaf, Section, one_of, whole
from paramverify.models.mechanisms._keys import MAX_BY
from paramverify.models.parameter_keys import PARAMETERS

ALL = Leaf('"all"', {"const": "all", "type": "string"}, words=("all",))
AUTOMATON = Section(
    "[automaton]",
    "An automaton over streams.",
    (Key("file", FILE, "The file of the automaton (.dipa), relative to the case file.", needed=True),),
)
NEIGHBOURS = Section(
    "[neighbours]",
    "Which streams must not be told apart.",
    (
        Key("differ", one_of("each", "one"), "Each entry may differ, or one only.", needed=True),
        Key("by", whole(0, MAX_BY), "By how much at most; 1 without it."),
    ),
)
PRIVACY = Section(
    "[privacy]",
    "What is claimed, for every value of the parameter and streams of every length.",
    (
        Key(
            "epsilon",
            EXPRESSION,
            'A multiple of the parameter, such as "5/4 * eps"; or a number is added.',
            needed=True,
        ),
        Key("length", ALL, "Streams of every length.", needed=True),
    ),
)
STREAM = Section(
    "automaton",
    "A case about an automaton over streams.",
    (
        TITLE,
        SOURCE,
        Key("parameters", PARAMETERS, needed=True),
        Key("automaton", AUTOMATON, needed=True),
        Key("neighbours", NEIGHBOURS, needed=True),
        Key("privacy", PRIVACY, needed=True),
        Key("expect", EXPECT),
    ),
)
