"""Certificates about many sequences, made by hand: one of each kind, and parts to make more."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from written_evidence import Json, evidence, with_first

Matrix = Sequence[Sequence[str]]

NO_PARAMETERS: Json = {"variables": [], "box": {}, "constraints": []}


def model(tables: Sequence[Matrix], left: Sequence[str], right: Sequence[str], ratio: str) -> Json:
    """Returns the model with these steps T_ω[s][t] and conditioned priors."""
    return {
        "states": len(left),
        "observations": [chr(ord("a") + k) for k in range(len(tables))],
        "steps": [
            [s, o, t, weight]
            for o, table in enumerate(tables)
            for s, row in enumerate(table)
            for t, weight in enumerate(row)
            if weight != "0"
        ],
        "pairs": [["left", "right", start(left), start(right)]],
        "ratio": [ratio, "1"],
    }


def start(weights: Sequence[str], mass: str = "1") -> Json:
    return {"weights": {str(s): w for s, w in enumerate(weights) if w != "0"}, "mass": mass}


def chance(given: Json, side: int, word: Sequence[int]) -> Fraction:
    """Returns the probability of a sequence, from the definition."""
    entry = given["pairs"][0][2 + side]
    row = {int(s): Fraction(w) / Fraction(entry["mass"]) for s, w in entry["weights"].items()}
    for observation in word:
        new: dict[int, Fraction] = {}
        for s, o, t, weight in given["steps"]:
            if o == observation and s in row:
                new[t] = new.get(t, Fraction(0)) + row[s] * Fraction(weight)
        row = new
    return sum(row.values(), Fraction(0))


def private(given: Json, lengths: Sequence[int] = (1, 2, 3, 4)) -> bool:
    """Tells whether no sequence of these lengths passes the bound."""
    ratio = Fraction(given["ratio"][0]) / Fraction(given["ratio"][1])
    for length in lengths:
        for word in product(range(len(given["observations"])), repeat=length):
            p, q = (chance(given, side, word) for side in (0, 1))
            if p > ratio * q or q > ratio * p:
                return False
    return True


def certificate(rule: str, given: Json, domain: Json = NO_PARAMETERS, **more: Any) -> Json:
    """Returns a certificate, whose statement comes first, about a model on a domain."""
    point = {"point": {}} if rule == "loop" else {}
    own = {"kind": "cone", "rule": rule, "domain": 0, "model": given, **point, **more}
    return evidence("violated" if rule == "loop" else "holds", [domain], own)


def model_of(document: Json) -> Json:
    """Returns the model that a certificate is about."""
    found: Json = document["statements"][0]["model"]
    return found


def with_model(document: Json, **changes: Any) -> Json:
    """Returns a certificate about a model that has other keys."""
    return with_first(document, model={**model_of(document), **changes})


def comparing(document: Json, *comparisons: tuple[str, Any]) -> Json:
    """Returns a certificate, and beside it proofs that these polynomials are not negative."""
    shown = [
        {"kind": "comparison", "domain": 0, "polynomial": text, "strict": False, "proof": proof}
        for text, proof in comparisons
    ]
    return {**document, "statements": [*document["statements"][:1], *shown]}


ONE_ANSWER = [[["1", "0"], ["0", "0"]], [["0", "0"], ["0", "1"]]]

REMEMBERED = model(ONE_ANSWER, ["3/4", "1/4"], ["1/4", "3/4"], "3")

FIRST, SECOND = {"0": "1"}, {"1": "1"}

CLOSED = certificate(
    "closed",
    REMEMBERED,
    rays=[["1", "0"], ["0", "1"]],
    steps=[[FIRST, {}], [{}, SECOND], [FIRST, SECOND]],
)


def with_ratio(document: Json, top: str, bottom: str = "1") -> Json:
    return with_model(document, ratio=[top, bottom])


def parametric(ratio: str, box: str) -> Json:
    """Returns a certificate about one state and observation, with a bound in the parameters p and q."""
    given = model([[["1"]]], ["1"], ["1"], ratio)
    domain = {"variables": ["p", "q"], "box": {"p": box, "q": "[0, 1]"}, "constraints": []}
    return certificate("closed", given, domain, rays=[["1"]], steps=[[FIRST], [FIRST]])


BERNSTEIN = {"kind": "bernstein", "tree": ["+"]}

APART = model(
    [[["1/2", "0"], ["0", "1/3"]], [["1/2", "0"], ["0", "2/3"]]],
    ["1", "0"],
    ["0", "1"],
    "3/2",
)


def run(below: list[int], above: list[int], directions: list[int], *levels: Json) -> Json:
    return {"below": below, "above": above, "directions": directions, "levels": [*levels]}


def level(kept: list[int], *dropped: list[Any]) -> Json:
    return {"kept": kept, "dropped": [*dropped]}


TURNED = run([1], [0], [1], level([1], [0, {"1": "1"}]))

LEVELS = certificate(
    "levels",
    APART,
    lengths=[1],
    vectors=[["3", "2"], ["3", "4"]],
    runs=[run([0], [1], [0], level([0], [1, {"0": "1"}])), TURNED],
)


def survey(stay: str, true: str, ratio: str) -> Json:
    """Returns the model of a person who stays in one of two states, and answers truly, with these chances."""
    p, q = Fraction(stay), Fraction(true)
    tables = [
        [[str(e * c) for c in row] for e, row in zip(emission, ((p, 1 - p), (1 - p, p)), strict=True)]
        for emission in ((q, 1 - q), (1 - q, q))
    ]
    return model(tables, ["1", "0"], ["0", "1"], ratio)


def ratios(
    given: Json,
    *normals: list[str],
    domain: Json = NO_PARAMETERS,
    states: Sequence[int] = (0, 1),
    depth: int = 1,
) -> Json:
    return certificate("ratios", given, domain, states=[*states], depth=depth, normals=[*normals])


def cone(bound: str) -> list[list[str]]:
    value = Fraction(bound)
    top, bottom = str(value.numerator), str(value.denominator)
    return [[top, f"-{bottom}"], [f"-{bottom}", top]]


# Steps are multiplied by 5: the loop `a` keeps state 1 with 3, and b·x ≥ T·x is shown with the rate 2 below.
DECAYING = model(
    [
        [["3/5", "0", "0"], ["0", "1/5", "1/5"], ["0", "0", "1/5"]],
        [["2/5", "0", "0"], ["0", "1/5", "2/5"], ["0", "0", "4/5"]],
    ],
    ["3", "0", "0"],
    ["0", "1", "1"],
    "100",
)

DECAYING["pairs"][0][2]["mass"], DECAYING["pairs"][0][3]["mass"] = "3", "2"

LOOP = certificate(
    "loop",
    DECAYING,
    secrets=["left", "right"],
    prefix=[1],
    loop=[0],
    suffix=[1],
    state=0,
    rates=["3", "2"],
    bounds={"1": "4", "2": "4"},
    factor="1/7",
)


def cone_kinds() -> dict[str, Json]:
    """Returns documents that are accepted, one or more for each kind of certificate."""
    bound = comparing(parametric("p + 3/2", "[-1/2, 1]"), ("p + 1/2", BERNSTEIN))
    domain = {"variables": ["p"], "box": {"p": "[0, 1]"}, "constraints": []}
    step = model([[["0", "p"], ["0", "p"]]], ["1", "0"], ["1", "0"], "p + 3/2")
    after = ratios(step, ["1"], domain=domain, states=[1], depth=2)
    twice = [["1", "0"], ["0", "1"], ["2", "3"]]
    more = run([], [], [0, 1], level([0, 1], [2, {"0": "2", "1": "3"}]), level([1, 0]))
    return {
        "closed": CLOSED,
        "closed with parameters": bound,
        "levels": LEVELS,
        "levels of two lengths": certificate("levels", REMEMBERED, lengths=[2], vectors=twice, runs=[more]),
        "ratios": ratios(survey("2/3", "3/4", "5"), *cone("5")),
        "ratios after a step": comparing(after, ("p^2 + 1/2*p", BERNSTEIN), ("2*p^3 + p^2", BERNSTEIN)),
        "loop": LOOP,
    }
