"""Case files about privacy, and of inequalities: what `privacy/` reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from paramverify.divergences.reading import DivergenceKind
from paramverify.divergences.registry import OURS, kinds
from paramverify.expectations import EXPECT, EXPECT_CLAIMED, SOURCE, TITLE
from paramverify.models.mechanisms import MECHANISM
from paramverify.models.mechanisms._queries import NEIGHBOURS
from paramverify.models.parameters import CLAIM, DEFINE, DEFINE_NAMES, DESIGN, PARAMETERS
from paramverify.models.priors import PRIOR
from paramverify.tables import (
    EXPRESSION,
    NAME,
    TEXT,
    TEXTS,
    Either,
    Key,
    Leaf,
    Listed,
    Section,
    at_most_one,
    by_name,
    exactly_one,
    growing,
    needs,
    one_of,
    whole,
)

MAX_LENGTH = 100_000
LENGTH = re.compile(r"\s*([0-9]{1,6})\s*\.\.\s*([0-9]{1,6})\s*")
_LENGTHS = (
    Key(
        "length",
        Either(
            (
                whole(1, MAX_LENGTH),
                Leaf('"1..15" or "all"', {"type": "string", "pattern": f"^(all|{LENGTH.pattern})$"}),
            )
        ),
        'The length of the observation sequences: a number, a range such as "1..15", or "all".',
        default=1,
    ),
    Key(
        "one_sided",
        one_of("ignored"),
        "Ignore sequences that are impossible under one of two secrets; the verdict states this condition.",
    ),
)


def _privacy(kinds: Mapping[str, DivergenceKind]) -> Section:
    """Returns what `[privacy]` may have with some divergences."""
    return Section(
        "[privacy]",
        "The claimed bound, and the lengths of the sequences that it covers.",
        (
            Key("epsilon", EXPRESSION, 'The budget, such as 1.372 or "ln(2)".'),
            Key("ratio", EXPRESSION, 'The bound e^epsilon itself, such as 2 or "1/alpha".'),
            Key(
                "delta",
                EXPRESSION,
                "The probability, from 0 to 1, by which sets of outputs may exceed the bound e^epsilon.",
                default=0,
            ),
            *(kind.key for kind in kinds.values()),
            *_LENGTHS,
        ),
        rules=(exactly_one("epsilon", "ratio", *kinds), at_most_one("delta", *kinds)),
    )


PRIVACY = growing(_privacy(OURS), lambda: _privacy(kinds()))

_PAIRS = Key(
    "pairs",
    Listed("a list of pairs of secrets", Listed("a pair of two names", (TEXT, TEXT)), least=1),
    "The pairs of secrets that outputs must not distinguish, in both directions.",
    needed=True,
)
SECRETS = Section(
    "[secrets]",
    "The facts that outputs must not distinguish.",
    (_PAIRS,),
    others=Key(
        "NAME", EXPRESSION, 'A secret: a condition over the variables of [prior], such as "john == 1".'
    ),
    names=NAME,
)
STARTS = by_name(
    "[prior]",
    "The secrets of a hidden Markov model without `start`: initial distributions, state by state.",
    by_name("[prior.NAME]", "A distribution over the states.", EXPRESSION, "A probability.", named="STATE"),
    "An initial distribution.",
)
NAMES_OF_STARTS = Section(
    "[secrets]", "The initial distributions that outputs must not distinguish.", (_PAIRS,)
)

QUANTIFY = Section(
    "[quantify]",
    "A condition on the free parameters, which `verify` prints besides the verdict.",
    (
        Key(
            "forall",
            TEXTS,
            "The parameters that take every value; the printed condition is about the others.",
            needed=True,
        ),
    ),
)
_FRAME = (TITLE, SOURCE, Key("parameters", PARAMETERS))
_ASKED = (Key("quantify", QUANTIFY), Key("design", DESIGN))
CLAIMED = Section(
    "claim",
    "A case about an inequality.",
    (
        *_FRAME,
        Key("define", DEFINE),
        Key("claim", CLAIM, needed=True),
        *_ASKED,
        Key("expect", EXPECT_CLAIMED),
    ),
    rules=(at_most_one("quantify", "design"),),
)
PRIVATE = Section(
    "privacy",
    "A case about the privacy of a mechanism.",
    (
        *_FRAME,
        Key("define", DEFINE_NAMES),
        Key("prior", Either((PRIOR, STARTS)), PRIOR.about),
        Key("mechanism", MECHANISM, needed=True),
        Key("secrets", SECRETS),
        Key("neighbours", NEIGHBOURS),
        Key("privacy", PRIVACY, needed=True),
        *_ASKED,
        Key("expect", EXPECT),
    ),
    rules=(
        exactly_one("prior", "neighbours"),
        at_most_one("secrets", "neighbours"),
        needs("prior", "secrets"),
        needs("secrets", "prior"),
        at_most_one("quantify", "design"),
    ),
    also={
        "if": {
            "properties": {
                "mechanism": {"properties": {"kind": {"const": "hmm"}}, "not": {"required": ["start"]}}
            }
        },
        "then": {"properties": {"prior": STARTS.schema(), "secrets": NAMES_OF_STARTS.schema()}},
        "else": {"properties": {"prior": PRIOR.schema()}},
    },
)


def shape_of_case(data: Mapping[str, Any]) -> Section:
    """Returns the declaration of a case with these tables."""
    return CLAIMED if "claim" in data or ("define" in data and "mechanism" not in data) else PRIVATE
