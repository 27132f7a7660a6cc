"""`query`, `queries` and `[neighbours]`: keys that several mechanisms share."""

from __future__ import annotations

from paramverify.keys import (
    EXPRESSION,
    TEXT,
    VALUE,
    Either,
    Key,
    Leaf,
    Listed,
    Section,
    at_least_one,
    at_most_one,
    by_name,
    needs,
    one_of,
    whole,
)

MAX_BY = 999_999


QUERIES = Key(
    "queries",
    Either((Listed("a list of expressions", EXPRESSION, least=1), whole(1, 100))),
    "The answers: expressions over the variables of [prior], or their number with [neighbours].",
    needed=True,
)
QUERY = Key(
    "query",
    EXPRESSION,
    "The answer: an expression over the variables of [prior]; with [neighbours] it is left out.",
)
LABELS = Key(
    "labels",
    by_name(
        "[mechanism.labels]", "What outputs are called.", TEXT, "What this output is called.", named="VALUE"
    ),
    "What outputs are called; every output has a label, or none has.",
)

_INPUT = Either((VALUE, Listed("a list of values", VALUE)))
NEIGHBOURS = Section(
    "[neighbours]",
    "Which inputs must not be told apart, for differential privacy.",
    (
        Key("differ", one_of("each", "one"), "Every answer may differ, or one only."),
        Key(
            "by",
            Either(
                (whole(0, MAX_BY), Leaf('"any"', {"type": "string", "pattern": "^(any|0|[1-9][0-9]{0,5})$"}))
            ),
            'By how much an answer may differ at most, or "any"; 1, or "any" for labels and states.',
        ),
        Key(
            "pairs",
            Listed("a list of pairs of inputs", Listed("a pair of inputs", (_INPUT, _INPUT)), least=1),
            "These pairs of inputs only.",
        ),
        Key("related", TEXT, 'A condition over two inputs x and y, such as "sum(abs(x[i] - y[i])) <= 1".'),
        Key("distance", TEXT, "How far two inputs x and y are apart; the bound may depend on it."),
    ),
    rules=(
        at_most_one("differ", "pairs", "related"),
        needs("by", "differ"),
        at_least_one("differ", "pairs", "related", "distance"),
    ),
)
