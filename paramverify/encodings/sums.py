"""(ε, δ) privacy as one formula for each direction of a secret pair and each length, for SMT solvers.

The formula is Σ max(0, tᵢ) > room and θ in the domain, as in `excesses`, with `ite` for the maxima: it is
satisfiable iff some set of outputs is too likely at some prior. The solver finds the set by itself: no part
of `domain_cuts` is in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from paramverify.claims import Direction
from paramverify.encodings.encoding import Encoding, WrittenScript
from paramverify.encodings.output_sums import excesses, listed_outcomes
from paramverify.encodings.sets import compared
from paramverify.errors import UnsupportedError
from paramverify.formats.smtlib import sum_script
from paramverify.models.model import AnyModel


def _scripts(model: AnyModel) -> Iterator[WrittenScript]:
    asked = compared(model)
    if asked.domain.constant:
        raise UnsupportedError("a script cannot name the constant E, and sat says nothing about an interval")
    for excess in excesses(asked, listed_outcomes(asked)):
        origin = str(Direction(*excess.origins[0]))
        yield WrittenScript(origin, sum_script(excess.room, excess.terms, excess.domain, origin))


ENCODING = Encoding(
    "sums",
    "one formula with maxima for each direction and length; for a case with a delta",
    scripts=_scripts,
)
