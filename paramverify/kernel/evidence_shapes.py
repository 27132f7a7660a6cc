"""The form of evidence, key by key: one envelope, its statements, the proofs of these, and witnesses.

Every key is checked, but for those that say nothing about the verdict: the options and the transcript of a
solver, the reason of an unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .noise_probabilities import KINDS
from .product_substitution import BY_ROOTS, PRODUCT
from .strict_reading import (
    Misformed,
    Shape,
    by_type,
    flag,
    index,
    listed,
    maybe,
    names,
    one_of,
    rational,
    record,
    row,
    short,
    shown,
    table,
    tagged,
    tagged_row,
    text,
    whole,
)

FORMAT, VERSION = "paramverify-evidence", 2

# What a document says together: a verdict; a map of parameters; bounds of a least number; answers.
HOLDS, VIOLATED, UNKNOWN, MAP, BOUNDS, ANSWERS = "holds", "violated", "unknown", "map", "bounds", "answers"
VERDICTS = (HOLDS, VIOLATED, UNKNOWN)
VERDICT = one_of(*VERDICTS)


def kinds(of: Mapping[str, tuple[Mapping[str, Shape], Mapping[str, Shape]]], key: str = "kind") -> Shape:
    """An object whose kind says which keys it must have, and which it may have."""
    return tagged(key, {name: record({key: text, **must}, may) for name, (must, may) in of.items()})


def natural(value: Any) -> None:
    """A whole number from 0 on."""
    whole(value)
    if value < 0:
        raise Misformed(f"must not be negative: {shown(value)}")


# --- proofs -----------------------------------------------------------------------------------------

SIGN, END = one_of("+", "-"), one_of("lower", "upper")


def proof(value: object) -> None:
    """A proof of any kind; see `proof_rules`."""
    _PROOF(value)


_FACTOR = record({"factor": text, "multiplicity": whole}, {"sign": SIGN, "proof": proof})
_TOKEN = by_type({str: one_of("+"), dict: proof, list: listed(by_type({str: text, int: whole}))})
_OF: dict[str, Shape] = {"constraint": whole, "proof": proof}
_NEAR: dict[str, Shape] = {"least": rational, "power": whole, "bound": rational}
_LOGARITHM_CELL = record({"proof": proof}, {"terms": whole, "enclosure": row(rational, rational), **_NEAR})
_SQUARES = listed(row(rational, text))
_SIDE = tagged_row({"low": (text, rational), "high": (text, rational), "constraint": (whole,)})
_TERMS = listed(record({"product": listed(_SIDE), "squares": _SQUARES}))
_PROOF = kinds(
    {
        "constant": ({}, {}),
        "fixed": ({"variable": text, "proof": proof}, {}),
        "factors": ({"constant": rational, "factors": listed(_FACTOR)}, {}),
        "sum": ({"parts": listed(record({"polynomial": text, "proof": proof}))}, {}),
        "ends": ({"variable": text, "lower": proof, "upper": proof}, {"concave": proof}),
        "monotone": ({"variable": text, "end": END, "derivative": proof, "proof": proof}, {}),
        "quadratic": ({"variable": text, "leading": proof, "constant": proof, "discriminant": proof}, {}),
        "bernstein": ({"tree": listed(_TOKEN)}, {}),
        "convex": ({"point": table(text)}, {"minimal": text, "interval": row(rational, rational)}),
        "constraint": ({**_OF, "factor": rational}, {}),
        "divide": ({**_OF, "factor": text, "cofactor": text, "sign": SIGN}, {}),
        "contradiction": ({"constraints": row(whole, whole)}, {}),
        "stretch": ({**_OF, "variable": text}, {}),
        "eliminate": ({"variable": text, "constraints": row(whole, whole), "proof": proof}, {}),
        "product": ({"variable": text, **PRODUCT, "proof": proof}, {}),
        "blowup": ({"corner": table(END), "parts": table(proof)}, {}),
        "enclose": ({"interval": row(rational, rational), "proof": proof}, {}),
        "exponential": ({}, {}),
        "logarithm": ({"variable": text, "cuts": listed(rational), "parts": listed(_LOGARITHM_CELL)}, {}),
        "squares": ({"terms": _TERMS}, {"multiplier": _TERMS}),
        "vanish": ({**_OF, "squares": _SQUARES}, {}),
        "lemma": ({"name": text}, {}),
        "solver": ({"solver": text, "version": text}, {"options": table(text), "transcript": text}),
    }
)

# --- domains, and statements about the sign of a polynomial -----------------------------------------

_DOMAIN: dict[str, Shape] = {
    "variables": listed(text),
    "box": table(text),
    "constraints": listed(row(text, one_of(">", ">="))),
}
_CONSTANT: dict[str, Shape] = {"constant": rational, "ties": table(row(text, rational))}
DOMAIN = record(_DOMAIN, _CONSTANT)
CLAIM = record({**_DOMAIN, "polynomial": text}, _CONSTANT)  # one alone, with its domain
POINT = table(rational)
_CLAIM: dict[str, Shape] = {"domain": natural, "polynomial": text}
_FROM: dict[str, Shape] = {"origins": names}
SIGNS: dict[str, tuple[dict[str, Shape], dict[str, Shape]]] = {
    "obligation": ({**_CLAIM, "proof": proof}, _FROM),  # about the model itself
    "lemma": ({**_CLAIM, "proof": proof, "name": text}, {}),
    "claim": ({**_CLAIM, "proof": maybe(proof)}, _FROM),
    "comparison": ({**_CLAIM, "proof": proof, "strict": flag}, {"negated": text}),  # that an engine needs
}

# --- statements about one direction of a pair -------------------------------------------------------

_ORIGIN = row(text, text, whole)  # left, right, and the length of the sequences
PARTS: dict[str, Shape] = {
    "domain": natural,
    "room": text,
    "terms": listed(text),
    "origins": listed(_ORIGIN),
}
AVERAGE: dict[str, Shape] = {
    "domain": natural,
    "of": one_of("kl", "zcdp"),
    "bound": row(rational, listed(row(rational, rational))),
    "total": text,
    "outputs": listed(row(text, text)),
    "origins": listed(_ORIGIN),
}
_CUT: dict[str, tuple[Shape, ...]] = {"cut": (text, rational)}
_PARTS_STEP = {
    **_CUT,
    "+": (natural, proof),
    "-": (natural, proof),
    "<": (natural, text, proof, proof),
    "sign": (text,),
    "free": (),
    "claim": (natural,),
}
_PRODUCT = maybe(row(rational, listed(row(whole, whole))))
DIRECTIONS: dict[str, tuple[dict[str, Shape], dict[str, Shape]]] = {
    "parts": ({**PARTS, "tree": listed(by_type({dict: proof, list: tagged_row(_PARTS_STEP)}))}, {}),
    "average": (
        {
            **AVERAGE,
            "factors": listed(text),
            "products": listed(_PRODUCT),
            "tree": listed(tagged_row({**_CUT, "outside": (natural,), "+": (listed(rational),)})),
        },
        {},
    ),
}

# --- numbers in witnesses ---------------------------------------------------------------------------


def or_word(*words: str) -> Shape:
    """A rational, or one of some words in its place."""
    return lambda value: None if value in words else rational(value)


# An exact number: rational, or in E = exp(q) with rationals between which it lies.
_EXACT = record({"exact": text, "lower": rational, "upper": rational})
REAL = by_type({str: rational, dict: _EXACT})
RATIO = by_type({str: or_word("infinity", "undefined"), dict: _EXACT})
# A number: exact, in E = exp(q) with rationals around it, or rationals around it alone.
_ENCLOSED = record({"lower": rational, "upper": rational}, {"exact": text})
_CHANCE = by_type({str: rational, dict: _ENCLOSED})
_QUOTIENT = by_type({str: or_word("infinity"), dict: _ENCLOSED})
_BETWEEN = by_type({str: rational, list: row(rational, rational)})
# A coordinate: rational, or a root of a polynomial in x that is the only one in an interval.
_ROOT = record({"lower": rational, "upper": rational, "root_of": text})
COORDINATES = table(by_type({str: rational, dict: _ROOT}))
_PLACE = {"minimal": text, "interval": row(rational, rational), "coordinates": table(text)}

# --- witnesses --------------------------------------------------------------------------------------

_COMPARED: dict[str, Shape] = {
    "secrets": listed(text),
    "observations": listed(text),
    "probabilities": row(REAL, REAL),
    "ratio": RATIO,
    "bound": REAL,
    "exceeds": flag,
}
_BESIDE: dict[str, Shape] = {  # sets of outputs beside places of densities
    "densities": flag,
    "within": record(
        {"observations": listed(text), "probabilities": row(_CHANCE, _CHANCE), "ratio": _QUOTIENT},
        {"steps": table(rational)},
    ),
}
_LARGEST = listed(record({"output": listed(text), "probabilities": row(REAL, REAL)}))


# The sum of an order at a point, or that of a measure without one.
_SUM: dict[str, Shape] = {
    "secrets": listed(text),
    "length": whole,
    "moment": RATIO,
    "bound": REAL,
    "exceeds": flag,
    "largest": _LARGEST,
}
_ORDER, _MEASURE = {"order": whole}, {"measure": text}
_ALGEBRAIC: dict[str, Shape] = {"algebraic": record(_PLACE)}
_SET: dict[str, Shape] = {
    "parameters": POINT,
    "secrets": row(text, text),
    "length": whole,
    "outputs": listed(listed(text)),
    "probabilities": row(REAL, REAL),
    "bound": REAL,
    "delta": REAL,
    "beyond": REAL,
    "exceeds": flag,
}
_LOSS: dict[str, Shape] = {
    "parameters": POINT,
    "secrets": row(text, text),
    "length": whole,
    "measure": AVERAGE["of"],
    "value": by_type({str: one_of("infinity"), list: row(rational, rational)}),
    "bound": _BETWEEN,
    "exceeds": flag,
    "largest": _LARGEST,
}
_RATIONAL_ORDER: dict[str, Shape] = {"order": rational}
WITNESS = kinds(
    {
        "claim": (
            {"claim": record(_CLAIM), "parameters": COORDINATES},
            {
                **_ALGEBRAIC,
                **_COMPARED,
                "distance": rational,  # of the two inputs, where the bound depends on it
                **_BESIDE,
                **{
                    name: shape
                    for name, shape in {**_SUM, **_ORDER, **_MEASURE}.items()
                    if name not in _COMPARED
                },
                "number": whole,  # of an inequality
                "statement": text,
                "relation": one_of("<", "<=", ">", ">=", "=="),
                "left": REAL,
                "right": REAL,
                "difference": REAL,
                "fails": flag,
            },
        ),
        "set": ({**_SET, "claim": record(PARTS)}, {}),
        "average": ({**_LOSS, "claim": record(AVERAGE)}, _RATIONAL_ORDER),
    }
)

# --- budgets: what the bound in the claims is -------------------------------------------------------


def _of_budget(value: object) -> None:
    """The witness of a budget: of one output, or of a sum, which has a `moment`, of an order or a measure."""
    parameters: dict[str, Shape] = {"parameters": POINT}
    if not isinstance(value, dict) or "moment" not in value:
        record({**parameters, **_COMPARED}, {"distance": rational, **_BESIDE})(value)
    else:
        record({**parameters, **_SUM, **(_MEASURE if "measure" in value else _ORDER)})(value)


_LEAST_SET = {"given": text, "enough": maybe(rational), "witnesses": listed(record(_SET))}
_LEAST_LOSS = {"enough": maybe(rational), "witnesses": listed(record(_LOSS, _RATIONAL_ORDER))}
BUDGET = kinds(
    {
        "bound": (
            {"bound": maybe(row(text, text)), "witnesses": listed(_of_budget)},
            {"bounds": table(row(text, text))},  # by distances
        ),
        **dict.fromkeys(("delta", "ratio"), (_LEAST_SET, {})),
        **dict.fromkeys(("kl", "zcdp"), (_LEAST_LOSS, {})),
    }
)

# --- a pair of inputs that stands for all neighbours, and windows of a sequence ----------------------

_NEIGHBOURS: dict[str, Shape] = {
    "ties": one_of("uniform", "first"),
    "answers": whole,
    "differ": one_of("each", "one"),
    "by": text,
    "left": listed(whole),
    "right": listed(whole),
}
LARGEST = record({"noise": listed(listed(rational)), **_NEIGHBOURS})
STANDING = record(  # for all parameters of a domain
    {
        "domain": natural,
        "noise": listed(listed(text)),
        **_NEIGHBOURS,
        "output": whole,
        "how": one_of("classes", "terms", "ends"),
        "proofs": listed(proof),
    },
    {"own": listed(whole), "others": listed(whole)},
)


def _pair(value: object) -> None:
    """A statement about numbers, or for all parameters."""
    (STANDING if isinstance(value, dict) and "domain" in value else LARGEST)(value)


# Pairs of secrets whose claims are about what is near them, and why these are enough.
WINDOWED = (
    "if c*near_B(s)*mass_A(v) - near_A(s)*mass_B(v) >= 0 for all values s and v of two separators around the "
    "secrets A and B, and for all sums of what is far, then Pr(output | A) <= c*Pr(output | B)"
)

# --- engine: cones, about sequences of many lengths -------------------------------------------------

_START = record({"weights": table(text, index), "mass": text})
_COMBINATION = table(rational, index)
_RUN = record(
    {
        "below": listed(whole),
        "above": listed(whole),
        "directions": listed(one_of(0, 1)),
        "levels": listed(record({"kept": listed(whole), "dropped": listed(row(whole, _COMBINATION))})),
    }
)
_VECTORS = listed(listed(rational))
_CONE: dict[str, Shape] = {
    "kind": text,
    "domain": natural,
    "model": record(
        {
            "states": whole,
            "observations": names,
            "steps": listed(row(whole, whole, whole, text)),
            "pairs": listed(row(text, text, _START, _START)),
            "ratio": row(text, text),
        }
    ),
}
CONE = kinds(
    {
        "levels": ({**_CONE, "lengths": listed(whole), "runs": listed(_RUN), "vectors": _VECTORS}, {}),
        "closed": ({**_CONE, "rays": _VECTORS, "steps": listed(listed(_COMBINATION))}, {}),
        "ratios": ({**_CONE, "depth": whole, "states": listed(whole), "normals": _VECTORS}, {}),
        "loop": (
            {
                **_CONE,
                "point": POINT,
                "secrets": row(text, text),
                "prefix": listed(whole),
                "loop": listed(whole),
                "suffix": listed(whole),
                "state": whole,
                "bounds": table(rational, index),
                "rates": row(rational, rational),
                "factor": rational,
            },
            {},
        ),
    },
    key="rule",
)

# --- engines: maps of parameters --------------------------------------------------------------------

SAFE, VIOLATING, OUTSIDE = "safe", "violating", "outside"
_PRODUCTS = listed(record({"constant": rational, "factors": listed(row(whole, whole))}))
_CUTS = table(listed(text))
_BOX: dict[str, Shape] = {"box": listed(row(rational, rational))}
_CELL = kinds(
    {
        SAFE: (_BOX, {"cuts": maybe(_CUTS), "proofs": table(proof, index)}),
        OUTSIDE: (_BOX, {"cuts": maybe(_CUTS)}),
        VIOLATING: ({**_BOX, "claim": whole, "at": POINT}, {}),
        **dict.fromkeys(("mirrored", "undecided"), (_BOX, {})),
    },
    key="status",
)
_PIECE = record(
    {"status": one_of(SAFE, VIOLATING, OUTSIDE), "ends": row(whole, whole), "closed": row(flag, flag)}
)

# --- engine: interactive systems --------------------------------------------------------------------

WEIGHT = by_type({str: text, list: row(text, text)})  # a polynomial, or a quotient of two
_DISTRIBUTION = listed(row(whole, WEIGHT))
_SYSTEM = record(
    {
        **dict.fromkeys(("states", "data", "queries", "responses", "hidden"), names),
        "initial": whole,
        "partial": flag,
        "rows": listed(listed(row(whole, _DISTRIBUTION))),
    }
)
_GROUP = record({"ends": listed(row(whole, _DISTRIBUTION)), "times": listed(row(whole, WEIGHT))})
_UNWINDING_PROOF = kinds(
    {
        "family": ({"delta": WEIGHT, "steps": whole, "levels": listed(row(whole, whole, whole))}, {}),
        "costs": ({"classes": listed(listed(whole)), "costs": listed(row(whole, whole, WEIGHT))}, {}),
    }
)
_INPUTS: dict[str, Shape] = {"left": listed(whole), "right": listed(whole), "place": whole}
_LEAK: dict[str, Shape] = {
    **_INPUTS,
    "trace": listed(whole),
    "closed": flag,
    "probabilities": row(WEIGHT, WEIGHT),
}

# --- engine: formulas of dpCTL*, a model, and formulas as trees -------------------------------------


def formula(value: Any) -> None:
    """A formula: its operator, and its parts."""
    _FORMULA(value)


_STEPS = by_type({int: natural, dict: record({"more": whole})})  # a number; or that of the family, and more
_FORMULA = tagged_row(
    {
        "true": (),
        "false": (),
        "label": (text,),
        "not": (formula,),
        "and": (listed(formula),),
        "or": (listed(formula),),
        "next": (formula,),
        "until": (formula, formula, _STEPS, maybe(_STEPS)),
        "release": (formula, formula, _STEPS, maybe(_STEPS)),
        "P": (one_of("<", "<=", ">", ">="), WEIGHT, formula),
        "D": (WEIGHT, WEIGHT, formula),
    }
)
_MODEL = record(
    {
        "states": names,
        "actions": names,
        "scheduled": flag,
        "initial": listed(natural),
        "steps": listed(listed(row(natural, WEIGHT))),
        "rows": listed(listed(natural)),
        "labels": table(listed(natural)),
        "neighbours": listed(row(natural, natural)),
    }
)
_ASKED: dict[str, Shape] = {"name": text, "text": text, "formula": formula}
_OF_FAMILY: dict[str, Shape] = {"family": record({"first": natural, "last": maybe(natural)})}
_ANSWER = kinds(
    {
        HOLDS: (_ASKED, {**_OF_FAMILY, "until": natural, "argument": one_of("tail", "equality")}),
        VIOLATED: (
            {**_ASKED, "parameters": table(rational), "state": natural},
            {**_OF_FAMILY, "index": natural, "actions": listed(text), "repeated": natural},
        ),
        UNKNOWN: (_ASKED, {**_OF_FAMILY, "reason": text}),
    },
    key="status",
)

# --- engine: enclosed probabilities, by ways through a program --------------------------------------

_PATH = record(
    {
        "weight": rational,
        "noise": listed(whole),
        "region": listed(row(listed(row(whole, rational)), rational)),
    }
)

# --- engine: compositions ---------------------------------------------------------------------------

CASE = record({"title": text, "digest": text}, {"set": table(text)})
_LOSS_OF = row(short, short)


def release(value: object) -> None:
    """A release of any kind; see `release_losses`."""
    _RELEASE(value)


_RELEASE = kinds(
    {
        "table": ({"outputs": listed(row(rational, rational))}, {}),
        "randomized_response": ({"step": _LOSS_OF, "values": short}, {}),
        "discrete_laplace": ({"step": _LOSS_OF, "sensitivity": short}, {}),
        "discrete_gaussian": ({"sigma": short, "sensitivity": short}, {}),
        "laplace": ({"scale": short, "sensitivity": short}, {}),
        "gaussian": ({"sigma": short, "sensitivity": short}, {}),
        "sampled": ({"of": release, "rate": short}, {}),
        "turned": ({"of": release}, {}),
    }
)
_WAY = record({"dominating": release, "pairs": listed(release)})
_COMPOSED = record(
    {
        "grid": maybe(record({"step": _LOSS_OF, "bits": whole, "tail": whole})),
        "spans": listed(maybe(row(whole, whole))),
        "choice": listed(whole),
    }
)

# --- engine: automata over streams ------------------------------------------------------------------

_AUTOMATON_STATE = record(
    {
        "name": text,
        "reads": flag,
        "rate": rational,
        "mean": rational,
        "second": maybe(row(rational, rational)),
    }
)
_TRANSITION = record(
    {
        "source": whole,
        "target": whole,
        "output": text,
        "above": listed(whole),
        "below": listed(whole),
        "stored": listed(whole),
    },
    {"strict": listed(whole)},
)
_MACHINE = record(
    {"states": listed(_AUTOMATON_STATE), "variables": names, "transitions": listed(_TRANSITION)},
    {"noise": one_of("geometric"), "late": flag},
)
_FLOW = listed(row(whole, whole, rational))
_NUMBER = record({}, {"exact": rational, "lower": rational, "upper": rational})
_LEAST = record({"steps": listed(whole), "signs": listed(whole), "high": _FLOW, "low": _FLOW})
_STREAMS = row(listed(rational), listed(rational))
_GAP = record(
    {
        "steps": listed(whole),
        "streams": _STREAMS,
        "point": listed(rational),
        "levels": listed(row(rational, rational, _FLOW)),
    }
)
_DIFFER: dict[str, Shape] = {"differ": one_of("each", "one")}
_BY: dict[str, Shape] = {"by": text, "values": listed(rational)}
_COVER: dict[str, Shape] = {"classes": listed(whole), "edges": listed(row(whole, whole, whole))}
_COSTS: dict[str, Shape] = {"class": whole, "variables": listed(whole), "costs": table(rational)}
_EXAMPLE = record(
    {
        "steps": listed(whole),
        "streams": _STREAMS,
        "at": rational,
        "step": rational,
        "output": one_of("way", "other"),
        "probabilities": row(_NUMBER, _NUMBER),
    },
    {"between": row(rational, rational), "numbers": listed(whole)},
)
_DEMAND = record(
    {
        "class": whole,
        "bounds": listed(row(whole, whole, whole)),
        "pairs": listed(row(whole, whole)),
        "weight": rational,
    }
)
_LENGTHS = record(
    {
        **_COVER,
        "tables": listed(record({**_COSTS, "read": whole}, {"differed": flag})),
        "budgets": listed(record({"length": whole, "multiple": rational}, {"least": _LEAST, "gap": _GAP})),
    }
)
_FAMILY = record(
    {
        "kind": one_of("disclosing cycle", "leaking cycle", "leaking pair", "privacy-violating path"),
        "parts": listed(record({"steps": listed(whole), "repeated": flag})),
        "chain": listed(row(whole, whole, whole)),
        "gain": rational,
    }
)

# --- statements of engines --------------------------------------------------------------------------

ENGINES: dict[str, tuple[dict[str, Shape], dict[str, Shape]]] = {
    "cells": (
        {
            "domain": natural,
            "free": listed(text),
            "claims": listed(text),
            "factors": listed(text),
            "products": _PRODUCTS,
            "cells": listed(_CELL),
        },
        {"symmetric": listed(listed(text)), "by_roots": listed(BY_ROOTS)},
    ),
    "line": (
        {
            "domain": natural,
            "claims": listed(text),
            "factors": listed(text),
            "products": _PRODUCTS,
            "constraints": _PRODUCTS,
            "breaks": listed(record({"factor": whole, "between": row(rational, rational)})),
            "cuts": listed(listed(rational)),
            "parts": listed(_PIECE),
        },
        {},
    ),
    "unwinding": (
        {"domain": natural, "system": _SYSTEM, "ratio": WEIGHT, "closures": listed(_GROUP)},
        {
            "reason": text,
            "proof": _UNWINDING_PROOF,
            "witness": record({"parameters": POINT, **_LEAK}),
            "tight": maybe(record(_LEAK, {"parameters": POINT})),
            "growth": record({"parameters": POINT, **_INPUTS, "loop": listed(whole)}),
        },
    ),
    "slots": (
        {
            "program": record({"shared": flag, "drops": flag, "deletes": flag}),
            "forms": listed(listed(whole)),
            "steps": whole,
        },
        {},
    ),
    "formulas": ({"domain": natural, "model": _MODEL, "formulas": listed(_ANSWER)}, {}),
    "paths": (
        {
            "bound": record({"of": one_of("ratio", "epsilon"), "value": rational}),
            "noise": listed(row(one_of(*KINDS), rational)),
            "inputs": table(table(listed(_PATH))),
            "pairs": listed(row(text, text)),
            "cells": row(whole, whole),
        },
        {"delta": rational, "witness": record({"secrets": row(text, text), "outputs": listed(text)})},
    ),
    "composition": (
        {
            "components": listed(record({"times": whole, "ways": listed(_WAY)}, {"case": CASE})),
            "question": record({}, {"epsilon": _LOSS_OF, "delta": short}),
            "directions": listed(_COMPOSED),
            "exact": maybe(rational),
            "lower": maybe(short),
            "upper": maybe(short),
        },
        {},
    ),
    "automaton": (
        {"automaton": _MACHINE},
        {
            "claim": record({"multiple": rational, **_DIFFER}, {"plus": rational, **_BY}),
            "streams": record(_DIFFER, _BY),
            "example": _EXAMPLE,
            "gap": _GAP,
            "proof": record(
                {
                    "multiple": rational,
                    **_COVER,
                    "demands": listed(_DEMAND),
                    "links": listed(row(whole, whole, whole, whole)),
                }
            ),
            "tables": record(
                {
                    "multiple": rational,
                    **_COVER,
                    "tables": listed(record(_COSTS)),
                }
            ),
            "least": _LEAST,
            "lengths": _LENGTHS,
            "family": _FAMILY,
        },
    ),
    "script": (
        {
            "script": record({"name": text, "digest": text}),
            "questions": listed(
                record(
                    {"status": VERDICT, "claims": listed(natural), "solvers": listed(text)},
                    {"model": table(by_type({str: rational, bool: flag}))},
                )
            ),
        },
        {},
    ),
}

# --- the envelope -----------------------------------------------------------------------------------

_PLAIN = {**SIGNS, **DIRECTIONS, **ENGINES}
STATEMENT = tagged(
    "kind",
    {"cone": CONE, **{name: record({"kind": text, **must}, may) for name, (must, may) in _PLAIN.items()}},
)
# What a verdict may be about besides: less than privacy.
SIDE_CONDITION = "output sequences that are impossible under one of the two secrets are ignored"
ENVELOPE = record(
    {
        "format": one_of(FORMAT),
        "version": one_of(VERSION),
        "status": one_of(HOLDS, VIOLATED, UNKNOWN, MAP, BOUNDS, ANSWERS),
        "domains": listed(DOMAIN),
        "statements": listed(STATEMENT),
    },
    {
        "case": CASE,
        "side_condition": one_of(SIDE_CONDITION),
        "points": listed(POINT),  # of the domains
        "outputs": names,  # the names of outputs that are sets of numbers
        "windows": record({"statement": one_of(WINDOWED), "pairs": listed(row(text, text, whole))}),
        "reduction": _pair,
        "witness": WITNESS,
        "budget": BUDGET,
    },
)
