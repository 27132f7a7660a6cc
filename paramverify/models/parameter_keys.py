"""`[parameters]`, `[design]`, `[define]` and `[claim]`: what the modules of these names read."""

from __future__ import annotations

from paramverify.keys import (
    CONDITION,
    EXPRESSION,
    FILE,
    FLAG,
    NAME,
    TEXT,
    Either,
    Key,
    Leaf,
    Listed,
    Section,
    at_most_one,
)

INTERVAL = Leaf('an interval such as "(0, 1)", or a number', {"type": ["string", "number"]})
PARAMETER = Section(
    "[parameters.NAME]",
    "A parameter with more to say than its interval.",
    (
        Key("in", INTERVAL, "The interval of the parameter.", needed=True),
        Key("design", FLAG, "Whether the parameter may be chosen, by `synthesize`.", default=False),
    ),
)
DESIGN = Section(
    "[design]",
    "Which of the parameters for design should be largest or smallest.",
    (
        Key("maximise", TEXT, "The parameter for design that should be as large as possible."),
        Key("minimise", TEXT, "The parameter for design that should be as small as possible."),
    ),
    rules=(at_most_one("maximise", "minimise"),),
)

PARAMETERS = Section(
    "[parameters]",
    "The parameters of the case, each with its interval; a case without any has numbers only.",
    (
        Key(
            "constraints",
            Listed("a list of comparisons", CONDITION),
            'Comparisons that hold for all parameters, such as "p + q <= 1".',
        ),
    ),
    others=Key(
        "NAME",
        Either((INTERVAL, PARAMETER)),
        'A parameter: its interval, such as "(0, 1)" or "[1/10, 0.4]", or its one value.',
    ),
    names=NAME,
)

FROM_FILE = Section(
    "[define.NAME]",
    "A function from a file of a parametric model checker.",
    (Key("file", FILE, "The name of the file, relative to the case file.", needed=True),),
)
DEFINE = Section(
    "[define]",
    "Rational functions with names; later ones may use earlier ones.",
    others=Key("NAME", Either((EXPRESSION, FROM_FILE)), "A function of the parameters."),
    names=NAME,
)
DEFINE_NAMES = Section(
    "[define]",
    "Expressions with names; later ones may use earlier ones.",
    others=Key("NAME", EXPRESSION, "An expression, which stands for its name everywhere in the case."),
    names=NAME,
)
CLAIM = Section(
    "[claim]",
    "What is claimed of the functions.",
    (
        Key(
            "holds",
            Either((CONDITION, Listed("a list of conditions", CONDITION, least=1))),
            'A comparison such as "f <= 1/2", or a list of which all are claimed.',
            needed=True,
        ),
    ),
)
