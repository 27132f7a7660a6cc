"""The forms of documents of evidence, key by key: standard library only.

The forms of some parts of witnesses: sets of outputs beside places of densities, and irrational points.

Standard library only.

The forms of all documents of evidence, key by key: standard library only.

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

# --- the forms of proofs, kind by kind: standard library only ---------------------------------------

SIGN, END = one_of("+", "-"), one_of("lower", "upper")


def proof(value: object) -> None:
    """A proof of any kind; see `checker`."""
    _PROOF(value)


def _kind(required: dict[str, Shape], optional: dict[str, Shape] | None = None) -> Shape:
    return record({"kind": text, **required}, optional)


_FACTOR = record({"factor": text, "multiplicity": whole}, {"sign": SIGN, "proof": proof})
_TOKEN = by_type({str: one_of("+"), dict: proof, list: listed(by_type({str: text, int: whole}))})
_OF: dict[str, Shape] = {"constraint": whole, "proof": proof}
_NEAR: dict[str, Shape] = {"least": rational, "power": whole, "bound": rational}
_LOGARITHM_CELL = record({"proof": proof}, {"terms": whole, "enclosure": row(rational, rational), **_NEAR})
_SQUARES = listed(row(rational, text))
_SIDE = tagged_row({"low": (text, rational), "high": (text, rational), "constraint": (whole,)})
_TERMS = listed(record({"product": listed(_SIDE), "squares": _SQUARES}))
_PROOF = tagged(
    "kind",
    {
        "constant": _kind({}),
        "fixed": _kind({"variable": text, "proof": proof}),
        "factors": _kind({"constant": rational, "factors": listed(_FACTOR)}),
        "sum": _kind({"parts": listed(record({"polynomial": text, "proof": proof}))}),
        "ends": _kind({"variable": text, "lower": proof, "upper": proof}, {"concave": proof}),
        "monotone": _kind({"variable": text, "end": END, "derivative": proof, "proof": proof}),
        "quadratic": _kind({"variable": text, "leading": proof, "constant": proof, "discriminant": proof}),
        "bernstein": _kind({"tree": listed(_TOKEN)}),
        "convex": _kind({"point": table(text)}, {"minimal": text, "interval": row(rational, rational)}),
        "constraint": _kind({**_OF, "factor": rational}),
        "divide": _kind({**_OF, "factor": text, "cofactor": text, "sign": SIGN}),
        "contradiction": _kind({"constraints": row(whole, whole)}),
        "stretch": _kind({**_OF, "variable": text}),
        "eliminate": _kind({"variable": text, "constraints": row(whole, whole), "proof": proof}),
        "product": _kind({"variable": text, **PRODUCT, "proof": proof}),
        "blowup": _kind({"corner": table(END), "parts": table(proof)}),
        "enclose": _kind({"interval": row(rational, rational), "proof": proof}),
        "exponential": _kind({}),
        "logarithm": _kind({"variable": text, "cuts": listed(rational), "parts": listed(_LOGARITHM_CELL)}),
        "squares": _kind({"terms": _TERMS}, {"multiplier": _TERMS}),
        "vanish": _kind({**_OF, "squares": _SQUARES}),
        "lemma": _kind({"name": text}),
        "solver": _kind({"solver": text, "version": text}, {"options": table(text), "transcript": text}),
    },
)


# --- within shapes ----------------------------------------------------------------------------------

# A number: exact, in E = exp(q) with rationals around it, or rationals around it alone.
_ENDS = record({"lower": rational, "upper": rational}, {"exact": text})
_CHANCE = by_type({str: rational, dict: _ENDS})


def _ratio(value: object) -> None:
    if value != "infinity":
        _CHANCE(value)


OUTPUTS: dict[str, Shape] = {"outputs": names}  # the names of outputs that are sets of numbers
BESIDE: dict[str, Shape] = {
    "densities": flag,
    "within": record(
        {"observations": listed(text), "probabilities": row(_CHANCE, _CHANCE), "ratio": _ratio},
        {"steps": table(rational)},
    ),
}
# A coordinate: rational, or a root of a polynomial in x that is the only one in an interval.
_ROOT = record({"lower": rational, "upper": rational, "root_of": text})
COORDINATES = table(by_type({str: rational, dict: _ROOT}))
_PLACE = {"minimal": text, "interval": row(rational, rational), "coordinates": table(text)}
AT_ALGEBRAIC: dict[str, Shape] = {"algebraic": record(_PLACE)}


# --- the form of evidence about exact intervals of one parameter ------------------------------------

SAFE, VIOLATING, OUTSIDE = "safe", "violating", "outside"


def intervals(domain: Shape) -> dict[str, Shape]:
    """Returns the keys of a document and their forms."""
    products = listed(record({"constant": rational, "factors": listed(row(whole, whole))}))
    return {
        "domain": domain,
        "claims": listed(text),
        "factors": listed(text),
        "products": products,
        "constraints": products,
        "breaks": listed(record({"factor": whole, "between": row(rational, rational)})),
        "cuts": listed(listed(rational)),
        "parts": listed(
            record(
                {
                    "status": one_of(SAFE, VIOLATING, OUTSIDE),
                    "ends": row(whole, whole),
                    "closed": row(flag, flag),
                }
            )
        ),
    }


# --- neighbour shapes -------------------------------------------------------------------------------

_NEIGHBOURS: dict[str, Shape] = {
    "ties": one_of("uniform", "first"),
    "answers": whole,
    "differ": one_of("each", "one"),
    "by": text,
    "left": listed(whole),
    "right": listed(whole),
}
LARGEST = record({"noise": listed(listed(rational)), **_NEIGHBOURS})


def standing(domain: Shape, proof: Shape) -> Shape:
    """Returns the form of a statement for all parameters, with its proofs."""
    return record(
        {
            "domain": domain,
            "noise": listed(listed(text)),
            **_NEIGHBOURS,
            "output": whole,
            "how": one_of("classes", "terms", "ends"),
            "proofs": listed(proof),
        },
        {"own": listed(whole), "others": listed(whole)},
    )


def either(parametric: Shape) -> Shape:
    """Returns the form of a statement about numbers, or for all parameters."""

    def every(value: object) -> None:
        (parametric if isinstance(value, dict) and "domain" in value else LARGEST)(value)

    return every


# --- the form of evidence about formulas of dpCTL*: a model, and formulas as trees ------------------

WEIGHT = by_type({str: text, list: row(text, text)})  # a polynomial, or a quotient of two


def natural(value: Any) -> None:
    """A whole number from 0 on."""
    whole(value)
    if value < 0:
        raise Misformed(f"must not be negative: {shown(value)}")


def formula(value: Any) -> None:
    """A formula: its operator, and its parts."""
    _FORMULA(value)


STEPS = by_type({int: natural, dict: record({"more": whole})})  # a number; or that of the family, and more
_FORMULA = tagged_row(
    {
        "true": (),
        "false": (),
        "label": (text,),
        "not": (formula,),
        "and": (listed(formula),),
        "or": (listed(formula),),
        "next": (formula,),
        "until": (formula, formula, STEPS, maybe(STEPS)),
        "release": (formula, formula, STEPS, maybe(STEPS)),
        "P": (one_of("<", "<=", ">", ">="), WEIGHT, formula),
        "D": (WEIGHT, WEIGHT, formula),
    }
)
MODEL = record(
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


def formulas(about: Mapping[str, Shape], status: Shape, domain: Shape, proof: Shape) -> Shape:
    """Returns the form of a document."""
    comparison = record({"polynomial": text, "strict": flag, "proof": proof}, {"negated": text})
    entry = record(
        {"name": text, "text": text, "formula": formula, "status": status},
        {
            "family": record({"first": natural, "last": maybe(natural)}),
            "until": natural,
            "argument": one_of("tail", "equality"),
            "parameters": table(rational),
            "state": natural,
            "index": natural,
            "actions": listed(text),
            "repeated": natural,
            "reason": text,
        },
    )
    return record(
        {
            "format": one_of("paramverify-formulas"),
            "version": one_of(1),
            "status": status,
            "domain": domain,
            "model": MODEL,
            "formulas": listed(entry),
            "claims": listed(comparison),
        },
        {name: about[name] for name in ("case", "points")},
    )


# --- the form of evidence about compositions, key by key: standard library only ---------------------

LOSS = row(short, short)


def release(value: object) -> None:
    """A release of any kind; see `release_losses`."""
    _RELEASE(value)


def _release_kind(**required: Shape) -> Shape:
    return record({"kind": text, **required})


_RELEASE = tagged(
    "kind",
    {
        "table": _release_kind(outputs=listed(row(rational, rational))),
        "randomized_response": _release_kind(step=LOSS, values=short),
        "discrete_laplace": _release_kind(step=LOSS, sensitivity=short),
        "discrete_gaussian": _release_kind(sigma=short, sensitivity=short),
        "laplace": _release_kind(scale=short, sensitivity=short),
        "gaussian": _release_kind(sigma=short, sensitivity=short),
        "sampled": _release_kind(of=release, rate=short),
        "turned": _release_kind(of=release),
    },
)


_CASE = record({"title": text, "digest": text}, {"set": table(text)})
_WAY = record({"dominating": release, "pairs": listed(release)})
COMPOSITION = record(
    {
        "format": one_of("paramverify-composition"),
        "version": one_of(1),
        "components": listed(record({"times": whole, "ways": listed(_WAY)}, {"case": _CASE})),
        "question": record({}, {"epsilon": LOSS, "delta": short}),
        "directions": listed(
            record(
                {
                    "grid": maybe(record({"step": LOSS, "bits": whole, "tail": whole})),
                    "spans": listed(maybe(row(whole, whole))),
                    "choice": listed(whole),
                }
            )
        ),
        "exact": maybe(rational),
        "lower": maybe(short),
        "upper": maybe(short),
    }
)


# --- the form of evidence about enclosed probabilities, key by key: standard library only -----------

PATH = record(
    {
        "weight": rational,
        "noise": listed(whole),
        "region": listed(row(listed(row(whole, rational)), rational)),
    }
)


def enclosed(about: Mapping[str, Shape], status: Shape) -> Shape:
    """A document; `about` is what evidence may say of its case."""
    return record(
        {
            "format": one_of("paramverify-enclosed"),
            "version": one_of(1),
            "status": status,
            "bound": tagged(
                "of",
                {
                    "ratio": record({"of": one_of("ratio"), "value": rational}),
                    "epsilon": record({"of": one_of("epsilon"), "value": rational}),
                },
            ),
            "noise": listed(row(one_of(*KINDS), rational)),
            "inputs": table(table(listed(PATH))),
            "pairs": listed(row(text, text)),
            "cells": row(whole, whole),
        },
        {
            **{name: about[name] for name in ("case", "obligations", "points")},
            "delta": rational,
            "witness": record({"secrets": row(text, text), "outputs": listed(text)}),
        },
    )


# --- loss shapes ------------------------------------------------------------------------------------

OF_CASE = ("case", "obligations", "points", "outputs")
MEASURE = one_of("kl", "zcdp")
LOSS_CLAIM: dict[str, Shape] = {
    "total": text,
    "outputs": listed(row(text, text)),
    "origins": listed(row(text, text, whole)),
}
LOSS_PRODUCT = maybe(row(rational, listed(row(whole, whole))))
_STEPS = {
    "cut": row(one_of("cut"), text, rational),
    "-": row(one_of("-"), whole),
    "+": row(one_of("+"), listed(rational)),
}
BETWEEN = by_type({str: rational, list: row(rational, rational)})


def largest(real: Shape) -> Shape:
    """The outputs that contribute most to a divergence."""
    return listed(record({"output": listed(text), "probabilities": row(real, real)}))


def moment(real: Shape, ratio: Shape, of: str = "order") -> dict[str, Shape]:
    """The sum of an order at a point, or that `of` a "measure" that has none."""
    return {
        "secrets": listed(text),
        "length": whole,
        of: whole if of == "order" else text,
        "moment": ratio,
        "bound": real,
        "exceeds": flag,
        "largest": largest(real),
    }


def compared(one: Shape, together: Mapping[str, Shape], other: Mapping[str, Shape]) -> Shape:
    """The witness of a budget: of one output, or of a sum, which has a `moment`, of an order or a measure."""
    parameters: dict[str, Shape] = {"parameters": table(rational)}
    of_order, of_measure = record({**parameters, **together}), record({**parameters, **other})

    def either(value: object) -> None:
        if not isinstance(value, dict) or "moment" not in value:
            one(value)
        else:
            (of_measure if "measure" in value else of_order)(value)

    return either


def step(value: object) -> None:
    """A step of a tree about a divergence, by its first entry."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, str) or first not in _STEPS:
        raise Misformed(f"not a step of a tree: {shown(value)}")
    _STEPS[first](value)


def losses(about: Mapping[str, Shape], status: Shape, domain: Shape, real: Shape) -> Shape:
    """A document; `about` is what evidence may say of its case, `domain` and `real` are those of all."""
    witness: dict[str, Shape] = {
        "parameters": table(rational),
        "secrets": row(text, text),
        "length": whole,
        "measure": MEASURE,
        "value": by_type({str: one_of("infinity"), list: row(rational, rational)}),
        "bound": BETWEEN,
        "exceeds": flag,
        "largest": largest(real),
    }
    order = {"order": rational}
    budget = record({"kind": MEASURE, "enough": maybe(rational), "witnesses": listed(record(witness, order))})
    return record(
        {
            "format": one_of("paramverify-losses"),
            "version": one_of(1),
            "status": status,
            "measure": MEASURE,
            "bound": row(rational, listed(row(rational, rational))),
            "domain": domain,
            "claims": listed(
                record(
                    {
                        **LOSS_CLAIM,
                        "factors": listed(text),
                        "products": listed(LOSS_PRODUCT),
                        "tree": listed(step),
                    }
                )
            ),
        },
        {
            **{name: about[name] for name in OF_CASE},
            "witness": record({**witness, "claim": record(LOSS_CLAIM)}, order),
            "budget": budget,
        },
    )


# --- the form of evidence about automata over streams: standard library only ------------------------

MACHINE = record(
    {
        "states": listed(
            record(
                {
                    "name": text,
                    "reads": flag,
                    "rate": rational,
                    "mean": rational,
                    "second": maybe(row(rational, rational)),
                }
            )
        ),
        "variables": names,
        "transitions": listed(
            record(
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
        ),
    },
    {"noise": one_of("geometric"), "late": flag},
)
FLOW = listed(row(whole, whole, rational))
NUMBER = record({}, {"exact": rational, "lower": rational, "upper": rational})
LEAST = record({"steps": listed(whole), "signs": listed(whole), "high": FLOW, "low": FLOW})
GAP = record(
    {
        "steps": listed(whole),
        "streams": row(listed(rational), listed(rational)),
        "point": listed(rational),
        "levels": listed(row(rational, rational, FLOW)),
    }
)
AUTOMATON = record(
    {
        "format": one_of("paramverify-automaton"),
        "version": one_of(1),
        "status": one_of("holds", "violated", "budget"),
        "automaton": MACHINE,
    },
    {
        "case": record({"title": text, "digest": text}, {"set": table(text)}),
        "claim": record(
            {"multiple": rational, "differ": one_of("each", "one")},
            {"plus": rational, "by": text, "values": listed(rational)},
        ),
        "streams": record({"differ": one_of("each", "one")}, {"by": text, "values": listed(rational)}),
        "example": record(
            {
                "steps": listed(whole),
                "streams": row(listed(rational), listed(rational)),
                "at": rational,
                "step": rational,
                "output": one_of("way", "other"),
                "probabilities": row(NUMBER, NUMBER),
            },
            {"between": row(rational, rational), "numbers": listed(whole)},
        ),
        "gap": GAP,
        "proof": record(
            {
                "multiple": rational,
                "classes": listed(whole),
                "edges": listed(row(whole, whole, whole)),
                "demands": listed(
                    record(
                        {
                            "class": whole,
                            "bounds": listed(row(whole, whole, whole)),
                            "pairs": listed(row(whole, whole)),
                            "weight": rational,
                        }
                    )
                ),
                "links": listed(row(whole, whole, whole, whole)),
            }
        ),
        "tables": record(
            {
                "multiple": rational,
                "classes": listed(whole),
                "edges": listed(row(whole, whole, whole)),
                "tables": listed(
                    record({"class": whole, "variables": listed(whole), "costs": listed(maybe(rational))})
                ),
            }
        ),
        "least": LEAST,
        "lengths": record(
            {
                "classes": listed(whole),
                "edges": listed(row(whole, whole, whole)),
                "tables": listed(
                    record(
                        {"class": whole, "variables": listed(whole), "read": whole},
                        {
                            "costs": listed(maybe(rational)),
                            "entries": listed(row(text, rational)),
                            "differed": flag,
                        },
                    )
                ),
                "budgets": listed(
                    record({"length": whole, "multiple": rational}, {"least": LEAST, "gap": GAP})
                ),
            }
        ),
        "family": record(
            {
                "kind": one_of("disclosing cycle", "leaking cycle", "leaking pair", "privacy-violating path"),
                "parts": listed(record({"steps": listed(whole), "repeated": flag})),
                "chain": listed(row(whole, whole, whole)),
                "gain": rational,
            }
        ),
    },
)


# --- the forms of all documents of evidence, key by key: standard library only ----------------------

DOMAIN = {
    "variables": listed(text),
    "box": table(text),
    "constraints": listed(row(text, one_of(">", ">="))),
}
CONSTANT: dict[str, Shape] = {"constant": rational}
CLAIM = record({**DOMAIN, "polynomial": text}, {**CONSTANT, "ties": table(row(text, rational))})
POINT = table(rational)
# An exact number: rational, or in E = exp(q) with rationals between which it lies.
REAL = by_type({str: rational, dict: record({"exact": text, "lower": rational, "upper": rational})})
RATIO = by_type(
    {
        str: lambda value: None if value in ("infinity", "undefined") else rational(value),
        dict: REAL,
    }
)
COMPARED: dict[str, Shape] = {
    "secrets": listed(text),
    "observations": listed(text),
    "probabilities": row(REAL, REAL),
    "ratio": RATIO,
    "bound": REAL,
    "exceeds": flag,
}
MOMENT, SUM = moment(REAL, RATIO), moment(REAL, RATIO, "measure")
WITNESS = record(
    {"claim": CLAIM, "parameters": COORDINATES},
    {
        **AT_ALGEBRAIC,
        **COMPARED,
        "distance": rational,  # of the two inputs, where the bound depends on it
        **BESIDE,
        **{
            name: shape for name, shape in {**MOMENT, **SUM}.items() if name not in COMPARED
        },  # of a divergence
        "number": whole,  # of an inequality
        "statement": text,
        "relation": one_of("<", "<=", ">", ">=", "=="),
        "left": REAL,
        "right": REAL,
        "difference": REAL,
        "fails": flag,
    },
)

STANDING = standing(record(DOMAIN, CONSTANT), proof)
ENTRY = record({"claim": CLAIM, "proof": proof}, {"origins": listed(text)})
CASE = record({"title": text, "digest": text}, {"set": table(text)})
BUDGET = record(
    {
        "bound": maybe(row(text, text)),
        "witnesses": listed(
            compared(record({"parameters": POINT, **COMPARED}, {"distance": rational, **BESIDE}), MOMENT, SUM)
        ),
    },
    {"bounds": table(row(text, text))},  # by distances
)
STATUS = one_of("holds", "violated", "unknown")
# What a verdict may be about besides: less than privacy.
SIDE_CONDITION = "output sequences that are impossible under one of the two secrets are ignored"
# What every kind of document may say about its case.
ABOUT = {
    "case": CASE,
    "obligations": listed(ENTRY),
    "points": listed(POINT),
    "reduction": either(STANDING),
    **OUTPUTS,
    "side_condition": one_of(SIDE_CONDITION),
    "budget": BUDGET,
}


def _document(name: str, required: dict[str, Shape], optional: dict[str, Shape]) -> Shape:
    return record({"format": one_of(name), "version": one_of(1), **required}, {**ABOUT, **optional})


# Pairs of secrets whose claims are about what is near them, and why these are enough.
WINDOWED = (
    "if c*near_B(s)*mass_A(v) - near_A(s)*mass_B(v) >= 0 for all values s and v of two separators around the "
    "secrets A and B, and for all sums of what is far, then Pr(output | A) <= c*Pr(output | B)"
)
WINDOWS = record({"statement": one_of(WINDOWED), "pairs": listed(row(text, text, whole))})

EVIDENCE = _document(
    "paramverify-evidence",
    {
        "status": STATUS,
        "claims": listed(record({"claim": CLAIM, "proof": maybe(proof)}, {"origins": listed(text)})),
    },
    {
        "lemmas": listed(record({"name": text, "claim": CLAIM, "proof": proof})),
        "witness": WITNESS,
        "windows": WINDOWS,
    },
)

_START = record({"weights": table(text, index), "mass": text})
_MODEL = record(
    {
        "domain": record(DOMAIN, CONSTANT),
        "states": whole,
        "observations": names,
        "steps": listed(row(whole, whole, whole, text)),
        "pairs": listed(row(text, text, _START, _START)),
        "ratio": row(text, text),
    }
)
_COMBINATION = table(rational, index)
_LEVEL = record({"kept": listed(whole), "dropped": listed(row(whole, _COMBINATION))})
_RUN = record(
    {
        "below": listed(whole),
        "above": listed(whole),
        "directions": listed(one_of(0, 1)),
        "levels": listed(_LEVEL),
    }
)
_VECTORS = listed(listed(rational))
_PROVED = {"claims": listed(record({"claim": CLAIM, "proof": proof}))}


def _cone(required: dict[str, Shape]) -> Shape:
    return _document("paramverify-cone", {"kind": text, "model": _MODEL, **required}, {"status": STATUS})


CONE = tagged(
    "kind",
    {
        "levels": _cone({**_PROVED, "lengths": listed(whole), "runs": listed(_RUN), "vectors": _VECTORS}),
        "closed": _cone({**_PROVED, "rays": _VECTORS, "steps": listed(listed(_COMBINATION))}),
        "ratios": _cone({**_PROVED, "depth": whole, "states": listed(whole), "normals": _VECTORS}),
        "loop": _cone(
            {
                "point": POINT,
                "secrets": row(text, text),
                "prefix": listed(whole),
                "loop": listed(whole),
                "suffix": listed(whole),
                "state": whole,
                "bounds": table(rational, index),
                "rates": row(rational, rational),
                "factor": rational,
            }
        ),
    },
)

_ORIGIN = row(text, text, whole)
_SUM: dict[str, Shape] = {"room": text, "terms": listed(text), "origins": listed(_ORIGIN)}
_SET_STEP = {
    "+": row(one_of("+"), whole, proof),
    "-": row(one_of("-"), whole, proof),
    "<": row(one_of("<"), whole, text, proof, proof),
    "cut": row(one_of("cut"), text, rational),
    "sign": row(one_of("sign"), text),
    "free": row(one_of("free")),
    "set": row(one_of("set"), whole),
}


def _step(*kinds: str) -> Shape:
    """A step of a tree about sets of outputs, by its first entry."""

    def shape(value: object) -> None:
        first = value[0] if isinstance(value, list) and value else None
        if first not in kinds:
            raise Misformed(f"not a step of a tree: {shown(value)}")
        _SET_STEP[first](value)

    return shape


_CUTS = table(listed(text))
_BOX: dict[str, Shape] = {"status": text, "box": listed(row(rational, rational))}
_CELL = tagged(
    "status",
    {
        "safe": record(_BOX, {"cuts": maybe(_CUTS), "proofs": table(proof, index)}),
        "outside": record(_BOX, {"cuts": maybe(_CUTS)}),
        "violating": record({**_BOX, "claim": whole, "at": POINT}),
        **dict.fromkeys(("mirrored", "undecided"), record(_BOX)),
    },
)
_TREE = listed(_step("+", "-", "cut", "sign", "set"))
REGIONS = _document(
    "paramverify-regions",
    {
        "domain": record(DOMAIN, CONSTANT),
        "free": listed(text),
        "claims": listed(text),
        "factors": listed(text),
        "products": listed(record({"constant": rational, "factors": listed(row(whole, whole))})),
        "cells": listed(_CELL),
    },
    {
        "sums": listed(record({**_SUM, "tree": _TREE})),
        "symmetric": listed(listed(text)),
        "by_roots": listed(BY_ROOTS),
    },
)

INTERVALS = _document("paramverify-intervals", intervals(record(DOMAIN)), {})

_WEIGHT = by_type({str: text, list: row(text, text)})
_DISTRIBUTION = listed(row(whole, _WEIGHT))
_SYSTEM = record(
    {
        **dict.fromkeys(("states", "data", "queries", "responses", "hidden"), names),
        "initial": whole,
        "partial": flag,
        "rows": listed(listed(row(whole, _DISTRIBUTION))),
    }
)
_GROUP = record({"ends": listed(row(whole, _DISTRIBUTION)), "times": listed(row(whole, _WEIGHT))})
_COMPARISON = record({"polynomial": text, "strict": flag, "proof": proof}, {"negated": text})
_UNWINDING_PROOF = tagged(
    "kind",
    {
        "family": record(
            {"kind": text, "delta": _WEIGHT, "steps": whole, "levels": listed(row(whole, whole, whole))}
        ),
        "costs": record(
            {"kind": text, "classes": listed(listed(whole)), "costs": listed(row(whole, whole, _WEIGHT))}
        ),
    },
)
_LEAK: dict[str, Shape] = {
    "left": listed(whole),
    "right": listed(whole),
    "place": whole,
    "trace": listed(whole),
    "closed": flag,
    "probabilities": row(_WEIGHT, _WEIGHT),
}
UNWINDING = _document(
    "paramverify-unwinding",
    {
        "status": STATUS,
        "domain": record(DOMAIN, CONSTANT),
        "system": _SYSTEM,
        "ratio": _WEIGHT,
        "closures": listed(_GROUP),
    },
    {
        "reason": text,
        "proof": _UNWINDING_PROOF,
        "claims": listed(_COMPARISON),
        "witness": record({"parameters": POINT, **_LEAK}),
        "tight": maybe(record(_LEAK, {"parameters": POINT})),
        "growth": record(
            {
                "parameters": POINT,
                "left": listed(whole),
                "right": listed(whole),
                "place": whole,
                "loop": listed(whole),
            }
        ),
    },
)

SLOTS = _document(
    "paramverify-slots",
    {
        "program": record({"shared": flag, "drops": flag, "deletes": flag}),
        "forms": listed(listed(whole)),
        "steps": whole,
    },
    {},
)

_PROVED_STEP = by_type({list: _step(*(kind for kind in _SET_STEP if kind != "set")), dict: proof})
_OUTPUTS = listed(listed(text))
SET: dict[str, Shape] = {
    "parameters": POINT,
    "secrets": row(text, text),
    "length": whole,
    "outputs": _OUTPUTS,
    "probabilities": row(REAL, REAL),
    "bound": REAL,
    "delta": REAL,
    "beyond": REAL,
    "exceeds": flag,
}
_LEAST = record(
    {
        "kind": one_of("delta", "ratio"),
        "given": text,
        "enough": maybe(rational),
        "witnesses": listed(record(SET)),
    }
)
SETS = record(
    {
        "format": one_of("paramverify-sets"),
        "version": one_of(1),
        "status": STATUS,
        "domain": record(DOMAIN, CONSTANT),
        "claims": listed(record({**_SUM, "tree": listed(_PROVED_STEP)})),
    },
    {
        **{name: ABOUT[name] for name in ("case", "obligations", "points", "outputs")},
        "witness": record({**SET, "claim": record(_SUM)}),
        "budget": _LEAST,
    },
)
FORMULAS = formulas(ABOUT, STATUS, record(DOMAIN, CONSTANT), proof)
LOSSES = losses(ABOUT, STATUS, record(DOMAIN, CONSTANT), REAL)
ENCLOSED = enclosed(ABOUT, STATUS)

SCRIPT = record(
    {
        "format": one_of("paramverify-script"),
        "version": one_of(1),
        "script": record({"name": text, "digest": text}),
        "questions": listed(
            record(
                {"status": STATUS, "claims": listed(ENTRY), "solvers": listed(text)},
                {"model": table(by_type({str: rational, bool: flag}))},
            )
        ),
    }
)
FORMATS = {
    "paramverify-evidence": EVIDENCE,
    "paramverify-cone": CONE,
    "paramverify-regions": REGIONS,
    "paramverify-intervals": INTERVALS,
    "paramverify-unwinding": UNWINDING,
    "paramverify-sets": SETS,
    "paramverify-losses": LOSSES,
    "paramverify-enclosed": ENCLOSED,
    "paramverify-composition": COMPOSITION,
    "paramverify-formulas": FORMULAS,
    "paramverify-slots": SLOTS,
    "paramverify-automaton": AUTOMATON,
    "paramverify-script": SCRIPT,
}
FORM = tagged("format", FORMATS)
