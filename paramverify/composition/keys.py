"""What a component of a composition has: the words of the command, and the tables of a file of releases."""

from __future__ import annotations

from collections.abc import Sequence

from paramverify.expectations import SOURCE, TITLE
from paramverify.keys import (
    EXPRESSION,
    FILE,
    NAME,
    Key,
    Listed,
    Section,
    Variants,
    by_name,
    exactly_one,
    one_of,
    whole,
)

MOST_TIMES = 10**9

SHARED = (
    Key("times", whole(1, MOST_TIMES), "How often it is released.", default=1),
    Key("subsample", EXPRESSION, "How likely each person is in the data of a release; above 0, at most 1."),
)
SENSITIVITY = Key("sensitivity", EXPRESSION, "How far the answers on two data sets are apart.", default=1)
STEPS = Key(
    "sensitivity", whole(1, MOST_TIMES), "How far the answers on two data sets are apart, whole.", default=1
)
SCALE = Key("scale", EXPRESSION, "The scale of the noise.")
EPSILON = Key("epsilon", EXPRESSION, "The epsilon of one release.")


def _noise(name: str, about: str, keys: tuple[Key, ...], one: Sequence[str] = ()) -> Section:
    kind = Key("kind", one_of(name), KIND, needed=True)
    return Section(
        f'[[component]] kind = "{name}"',
        about,
        (kind, *keys, *SHARED),
        rules=(exactly_one(*one),) if one else (),
    )


KIND = "The kind of noise."
NOISES = {
    "gaussian": _noise(
        "gaussian", "Normal noise.", (Key("sigma", EXPRESSION, "The deviation.", needed=True), SENSITIVITY)
    ),
    "discrete_gaussian": _noise(
        "discrete_gaussian",
        "Normal noise on whole numbers.",
        (Key("sigma", EXPRESSION, "Noise x has weight exp(-x**2/(2*sigma**2)).", needed=True), STEPS),
    ),
    "laplace": _noise("laplace", "Laplace noise.", (SCALE, EPSILON, SENSITIVITY), one=("scale", "epsilon")),
    "discrete_laplace": _noise(
        "discrete_laplace",
        "Geometric noise on both sides.",
        (SCALE, EPSILON, Key("alpha", EXPRESSION, "Noise x has weight alpha**abs(x)."), STEPS),
        one=("scale", "epsilon", "alpha"),
    ),
    "randomized_response": _noise(
        "randomized_response",
        "The truth, or one of the other values with equal chances.",
        (
            Key("truth", EXPRESSION, "How likely the truth is."),
            EPSILON,
            Key("values", whole(2, MOST_TIMES), "How many values there are.", default=2),
        ),
        one=("truth", "epsilon"),
    ),
}
SET = by_name("[component.set]", "Values of parameters and definitions.", EXPRESSION, "A value.")
CASE = Section(
    "[[component]] case",
    "One release of a case.",
    (Key("case", FILE, "The case file, relative to this file.", needed=True), Key("set", SET), *SHARED),
    names=NAME,
)
COMPONENT = Variants(
    "[[component]]",
    "A release: a kind of noise, or a case.",
    lambda: tuple(NOISES),
    NOISES.get,
    tag="kind",
    text=KIND,
    otherwise=CASE,
)
COMPOSITION = Section(
    "composition",
    "Releases that are composed, for `paramverify compose`.",
    (
        TITLE,
        SOURCE,
        Key("component", Listed("a list of releases", COMPONENT, least=1), "The releases.", needed=True),
    ),
)
