"""The form of evidence about enclosed probabilities, key by key: standard library only."""

from __future__ import annotations

from collections.abc import Mapping

from .noise import KINDS
from .strict import Shape, listed, one_of, rational, record, row, table, tagged, text, whole

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
