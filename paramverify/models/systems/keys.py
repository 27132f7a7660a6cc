"""`[system]`: what `models/systems/reading.py` reads."""

from __future__ import annotations

from dataclasses import replace

from paramverify.keys import (
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
    Variants,
    by_name,
    one_of,
    whole,
)
from paramverify.models import noise
from paramverify.models.ranges import PATTERN
from paramverify.models.systems import slots

MAX_ANSWER = 200


_ENDS = Leaf('a range such as "-100..100"', {"type": "string", "pattern": f"^{PATTERN}$"})
SAMPLED = Section(
    "{ sampled = ... }",
    "Noise that the sampler of the paper draws, as the program of the library does.",
    (
        Key("sampled", EXPRESSION, "The base of the noise, in (0, 1).", needed=True),
        Key(
            "line_06",
            one_of("corrected", "printed"),
            "Whether line 6 of the sampler is corrected, or as it is printed.",
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
    one_of("slots"),
    'The library has one kind of system, "slots"; left out, states and steps are written out.',
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
                    Listed("a list of queries", one_of(*slots.FUNCTIONS), least=1, distinct=True),
                    Section(
                        "[system.queries]",
                        "The queries, each with its own noise.",
                        others=Key("QUERY", _LIMITED),
                        names=f"^({'|'.join(slots.FUNCTIONS)})$",
                        least=1,
                    ),
                )
            ),
            "The queries: a list, or a table with the noise of each.",
            needed=True,
        ),
        Key("range", whole(1, MAX_ANSWER), "Answers are from -range to range, where `queries` is a list."),
        Key("noise", ADDED, "The noise of every answer, where `queries` is a list."),
        Key("full", one_of("drop", "never"), "What a full slot does with a data point.", default="drop"),
        Key(
            "memory",
            one_of("slot", "shared"),
            "Whether each slot has its own memory, or all share one.",
            default="slot",
        ),
        Key("delete", FLAG, "Whether a slot is emptied after it was read.", default=True),
    ),
    also={
        "if": {"properties": {"queries": {"type": "array"}}},
        "then": {"required": ["range", "noise"]},
        "else": {"not": {"anyOf": [{"required": ["range"]}, {"required": ["noise"]}]}},
    },
)
STEPS = by_name(
    "[system.steps.STATE.ACTION]",
    "Where it goes, each state with its probability.",
    EXPRESSION,
    "A probability.",
    named="STATE",
)
WRITTEN_OUT = Section(
    "[system]",
    "States and steps, written out.",
    (
        _KIND,
        Key("data", TEXTS, "The data points; inputs that are not seen.", default=[]),
        Key("queries", TEXTS, "The queries; inputs that are seen.", default=[]),
        Key("responses", TEXTS, "The responses; outputs that are seen.", default=[]),
        Key("hidden", TEXTS, "Actions that are not seen.", default=[]),
        Key("initial", TEXT, "The state in which the system starts.", needed=True),
        Key(
            "environment",
            one_of("any", "accepted"),
            'With "accepted", an input that a waiting state does not accept never comes there.',
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
                "Numbers that states have, for the conditions of [unwinding].",
                others=Key(
                    "NAME",
                    by_name(
                        "[system.fields.NAME]",
                        "A field.",
                        whole(-(10**9), 10**9),
                        "The number that a state has.",
                        named="STATE",
                    ),
                    "A field: the number that each state has.",
                ),
                names=NAME,
            ),
        ),
    ),
)
SYSTEM = Variants(
    "[system]",
    "The interactive system.",
    lambda: ("slots",),
    lambda word: SLOTS,
    tag="kind",
    text=_KIND.text,
    otherwise=WRITTEN_OUT,
)
