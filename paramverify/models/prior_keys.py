"""`[prior]`: what `priors` reads."""

from __future__ import annotations

from dataclasses import replace

from paramverify.keys import (
    EXPRESSION,
    NAME,
    TEXT,
    VALUE,
    Either,
    Key,
    Listed,
    Section,
    at_most_one,
    by_name,
    exactly_one,
    needs,
    whole,
)
from paramverify.models.noise import MAX_RANGE

ALONE = ("bernoulli", "binomial", "categorical", "uniform")
WRITTEN = (*ALONE, "truncated_geometric")
DISTRIBUTIONS = (*WRITTEN, "given", "like", "count")
MAX_COUNT = 2_000  # entries of an array
_SIZE = whole(1, MAX_COUNT)


_ROW = by_name(
    "[prior.NAME.table.VALUE]",
    "A distribution: each value with its probability.",
    EXPRESSION,
    "A probability.",
    named="VALUE",
)
_BERNOULLI = Key("bernoulli", EXPRESSION, "1 with this probability, else 0.")
_BINOMIAL = Key(
    "binomial",
    Listed("[trials, probability]", (whole(1, 1000), EXPRESSION)),
    "The number of successes: the number of trials, and the probability of each.",
)
_UNIFORM = Key("uniform", Listed("a list of values", VALUE, least=1), "Values that are equally likely.")
_CATEGORICAL = "Any values, each with its probability."
FIRST = Section(
    "[prior.NAME.first]",
    "The distribution of entries whose earlier variables do not exist.",
    (
        _BERNOULLI,
        _BINOMIAL,
        Key("categorical", replace(_ROW, name="[prior.NAME.first.categorical]"), _CATEGORICAL),
        _UNIFORM,
    ),
    rules=(exactly_one(*ALONE),),
)
DISTRIBUTION = Section(
    "[prior.NAME]",
    "A variable that is drawn.",
    (
        _BERNOULLI,
        _BINOMIAL,
        Key("categorical", replace(_ROW, name="[prior.NAME.categorical]"), _CATEGORICAL),
        _UNIFORM,
        Key("truncated_geometric", EXPRESSION, "The number alpha of geometric noise on 0..range."),
        Key("range", whole(1, MAX_RANGE), "The largest value of this noise."),
        Key("around", EXPRESSION, "The number to which this noise is added, over earlier variables."),
        Key("like", TEXT, "The earlier variable that has the same distribution."),
        Key(
            "given",
            Either((TEXT, Listed("a list of texts", TEXT, least=1))),
            "The earlier variable, or variables, on which this one depends; `person[i-1]` in an array.",
        ),
        Key(
            "table",
            by_name(
                "[prior.NAME.table]",
                "A distribution for each value of `given`.",
                _ROW,
                "A distribution.",
                named="VALUE",
            ),
            "A distribution for each value of `given`; commas stand between values of several variables.",
        ),
        Key(
            "count",
            Either(
                (whole(1, MAX_COUNT), Listed("two whole numbers", (whole(1, MAX_COUNT), whole(1, MAX_COUNT))))
            ),
            "An array: so many variables that are alike, NAME[1], NAME[2] and so on, or rows and columns.",
        ),
        Key("first", FIRST),
        Key("outside", VALUE, "In an array: the value of earlier variables in `given` that do not exist."),
    ),
    rules=(
        exactly_one(*WRITTEN, "table", "like"),
        at_most_one(*WRITTEN, "given"),
        at_most_one(*ALONE, "table", "around"),
        needs("table", "given"),
        needs("truncated_geometric", "range", "around"),
        needs("range", "truncated_geometric"),
        needs("first", "count", "given"),
        needs("outside", "count", "given"),
        at_most_one("like", "count"),
    ),
)
PRIOR = Section(
    "[prior]",
    "What the attacker believes: variables in order, of which later ones may depend on earlier ones.",
    others=Key(
        "NAME",
        Either((EXPRESSION, DISTRIBUTION)),
        "A variable: how it is drawn, or an expression over earlier ones.",
    ),
    names=NAME,
)
