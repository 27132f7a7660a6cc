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

_ALONE = ("bernoulli", "binomial", "categorical", "uniform")
WRITTEN = (*_ALONE, "truncated_geometric")
DISTRIBUTIONS = (*WRITTEN, "given", "like")


_ROW = by_name(
    "[prior.NAME.table.VALUE]",
    "A distribution: each value with its probability.",
    EXPRESSION,
    "A probability.",
    named="VALUE",
)
DISTRIBUTION = Section(
    "[prior.NAME]",
    "A variable that is drawn.",
    (
        Key("bernoulli", EXPRESSION, "1 with this probability, else 0."),
        Key(
            "binomial",
            Listed("[trials, probability]", (whole(1, 1000), EXPRESSION)),
            "The number of successes: the number of trials, and the probability of each.",
        ),
        Key(
            "categorical",
            replace(_ROW, name="[prior.NAME.categorical]"),
            "Any values, each with its probability.",
        ),
        Key("uniform", Listed("a list of values", VALUE, least=1), "Values that are equally likely."),
        Key("truncated_geometric", EXPRESSION, "The number alpha of geometric noise on 0..range."),
        Key("range", whole(1, MAX_RANGE), "The largest value of this noise."),
        Key("around", EXPRESSION, "The number to which this noise is added, over earlier variables."),
        Key("like", TEXT, "The earlier variable that has the same distribution."),
        Key(
            "given",
            Either((TEXT, Listed("a list of texts", TEXT, least=1))),
            "The earlier variable, or variables, on which this one depends.",
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
    ),
    rules=(
        exactly_one(*WRITTEN, "table", "like"),
        at_most_one(*WRITTEN, "given"),
        at_most_one(*_ALONE, "table", "around"),
        needs("table", "given"),
        needs("truncated_geometric", "range", "around"),
        needs("range", "truncated_geometric"),
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
