"""Case files of the logic: what `logic/cases.py` reads."""

from __future__ import annotations

from paramverify.expectations import EXPECT_EACH, SOURCE, TITLE
from paramverify.keys import (
    EXPRESSION,
    FILE,
    TEXT,
    TEXTS,
    Key,
    Listed,
    Section,
    at_least_one,
    at_most_one,
    by_name,
    needs,
    one_of,
)
from paramverify.models.chains.keys import ACTIONS, ROW, STATES, states_section
from paramverify.models.parameter_keys import PARAMETERS

MODEL = Section(
    "[model]",
    "What the model is.",
    (
        Key("kind", one_of("chain", "mdp"), "A Markov chain, or a decision process.", default="chain"),
        Key("initial", TEXTS, "The initial states; left out, every state."),
        Key("file", FILE, "A PRISM file, relative to the case file."),
        Key(
            "constants",
            by_name("[model.constants]", "Values of its constants.", EXPRESSION, "The value of a constant."),
            "Values for constants that the PRISM file leaves open.",
        ),
    ),
    rules=(at_most_one("kind", "file"), at_most_one("initial", "file"), needs("constants", "file")),
)
NEIGHBOURS = Section(
    "[neighbours]",
    "Which states are neighbours; without it each state is its own, and no other.",
    (
        Key(
            "pairs",
            Listed("a list of pairs of states", Listed("a pair of states", (TEXT, TEXT))),
            "These pairs of states.",
        ),
        Key("where", TEXT, 'States with variables like that, such as "abs(r - r\') <= 1".'),
        Key("labels", TEXTS, "States that share one of these labels."),
    ),
    rules=(at_most_one("pairs", "where", "labels"), at_least_one("pairs", "where", "labels")),
)
LOGIC = Section(
    "logic",
    "A chain or decision process with formulas.",
    (
        TITLE,
        SOURCE,
        Key("expect", EXPECT_EACH),
        Key("parameters", PARAMETERS),
        Key("model", MODEL),
        Key("states", STATES),
        Key("neighbours", NEIGHBOURS),
        Key(
            "formulas",
            by_name(
                "[formulas]", "The formulas of dpCTL* that are claimed.", TEXT, "A formula, or a family."
            ),
        ),
    ),
    rules=(at_least_one("states", "model"),),
    also={
        "if": {"required": ["model"], "properties": {"model": {"required": ["file"]}}},
        "then": {"not": {"required": ["states"]}},
        "else": {
            "required": ["states"],
            "if": {
                "required": ["model"],
                "properties": {"model": {"properties": {"kind": {"const": "mdp"}}, "required": ["kind"]}},
            },
            "then": {"properties": {"states": states_section(ACTIONS).schema()}},
            "else": {"properties": {"states": states_section(ROW).schema()}},
        },
    },
)
