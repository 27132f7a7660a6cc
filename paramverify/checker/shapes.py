"""The forms of all documents of evidence, key by key: standard library only.

Every key is checked, but for those that say nothing about the verdict: the options and the transcript of a
solver, the reason of an unknown.
"""

from __future__ import annotations

from .automaton_shapes import AUTOMATON
from .by_roots import BY_ROOTS
from .chain_shapes import formulas
from .composition_shapes import COMPOSITION
from .enclosed_shapes import enclosed
from .interval_shapes import intervals
from .loss_shapes import compared, losses, moment
from .neighbour_shapes import either, standing
from .proof_shapes import proof as proof
from .strict import (
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
    shown,
    table,
    tagged,
    text,
    whole,
)
from .within_shapes import AT_ALGEBRAIC, BESIDE, COORDINATES, OUTPUTS

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
