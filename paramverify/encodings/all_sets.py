"""(ε, δ) privacy as it is defined: one claim for every set of outputs; the baseline for `sets`.

The claim of a set S of terms is room − Σ_{i∈S} tᵢ ≥ 0, as in `excesses`. With n terms there are 2ⁿ sets.
"""

from __future__ import annotations

from itertools import combinations

from paramverify.algebra.polynomials import key
from paramverify.claims import Claim, Direction
from paramverify.encodings.encoding import Encoding
from paramverify.encodings.output_sums import excesses
from paramverify.encodings.sets import compared
from paramverify.errors import LimitError
from paramverify.models.model import AnyModel

MAX_TERMS = 10  # of one sum


def _claims(model: AnyModel) -> tuple[Claim, ...]:
    found: dict[str, Claim] = {}
    for excess in excesses(compared(model)):
        if len(excess.terms) > MAX_TERMS:
            raise LimitError(
                f"a sum has {len(excess.terms)} terms; at most {MAX_TERMS} are listed in all sets"
            )
        origins = tuple(Direction(*origin) for origin in excess.origins)
        for size in range(len(excess.terms) + 1):
            for chosen in combinations(excess.terms, size):
                f = excess.room - sum(chosen, excess.room * 0)
                known = found[key(f)].origins if key(f) in found else ()
                found[key(f)] = Claim(f, excess.domain, tuple(dict.fromkeys((*known, *origins))))
    return tuple(found.values())


ENCODING = Encoding(
    "all-sets",
    "one claim for every set of outputs, to compare with; for a case with a delta",
    claims=_claims,
)
