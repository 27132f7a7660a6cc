"""(ε, δ) privacy as polynomial claims: one for each set of outputs that is the worst one somewhere.

For a set S of terms of a claim about a sum (`excesses`) let f_S = room − Σ_{i∈S} tᵢ. At each θ the sum is
Σ max(0, tᵢ) = max_S Σ_{i∈S} tᵢ, so

    Σ max(0, tᵢ) ≤ room at θ    iff    f_S(θ) ≥ 0 for all sets S of a family,

for every family that has, for each θ of the domain, one of the sets that are worst at θ. The sets of the
leaves of `domain_cuts` are such a family. What is asked of polynomial claims can then be asked of sets: where
they hold, and where one of them fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paramverify.algebra.polynomials import Polynomial, key
from paramverify.answers import Open
from paramverify.claims import Claim, Direction
from paramverify.divergences import PositiveParts
from paramverify.encodings.domain_cuts import SignRegion, cut_by_signs
from paramverify.encodings.encoding import Encoding
from paramverify.encodings.output_sums import Excess, excesses, listed_outcomes, statement
from paramverify.errors import LimitError, UnsupportedError
from paramverify.evidence.certificates import Token
from paramverify.models.model import AnyModel, Model, is_about

MAX_SETS = 2_000  # of one case


@dataclass(frozen=True, eq=False)
class Cover:
    """A claim about a sum, and the tree of cuts whose leaves `["claim", k]` name the claim number k.

    On the part of the domain at a leaf, room − Σ max(0, tᵢ) is the polynomial of its claim.
    """

    excess: Excess
    tree: tuple[Token, ...]

    def document(self) -> dict[str, Any]:
        """Returns the claim and its tree as JSON data, for `checker.region_evidence`."""
        return {**statement(self.excess), "tree": list(self.tree)}


@dataclass(frozen=True, eq=False)
class SetClaims:
    """Polynomial claims that all hold at a point of the domain iff the sums are within their bounds there."""

    claims: tuple[Claim, ...]
    covers: tuple[Cover, ...]


def set_claims(model: AnyModel) -> SetClaims:
    """Returns the claims of the sets that are worst somewhere, and the trees that show that these are all.

    Raises:
        UnsupportedError: the model compares outputs one by one.
        LimitError: more than `MAX_SETS` sets, or signs that stay open.
    """
    return _covered(excesses(compared(model)))


def compared(model: AnyModel) -> Model:
    """Returns the model if it compares sets of outputs.

    Raises:
        UnsupportedError: it does not.
    """
    if is_about(model, PositiveParts):
        return model
    raise UnsupportedError("the case has no delta: its outputs are compared one by one")


def _covered(sums: tuple[Excess, ...]) -> SetClaims:
    found: dict[str, tuple[int, Polynomial, list[Direction]]] = {}
    covers = []
    for excess in sums:
        origins = [Direction(*origin) for origin in excess.origins]

        def at_leaf(region: SignRegion, tokens: list[Token], origins: list[Direction] = origins) -> bool:
            new = len(found), region.kept, list[Direction]()
            number, _, known = found.setdefault(key(region.kept), new)
            known += [origin for origin in origins if origin not in known]
            tokens.append(["claim", number])
            return len(found) <= MAX_SETS

        tree = cut_by_signs(excess, at_leaf)
        if tree is None:
            raise LimitError(f"more than {MAX_SETS:,} sets of outputs are the worst ones somewhere")
        if isinstance(tree, Open):
            raise LimitError(f"{origins[0]}: {tree.detail}")
        covers.append(Cover(excess, tree))
    claims = [Claim(f, sums[0].domain, tuple(origins)) for _, f, origins in found.values()]
    return SetClaims(tuple(claims), tuple(covers))


def _claims(model: AnyModel) -> tuple[Claim, ...]:
    return set_claims(model).claims


def _again(model: AnyModel) -> Iterator[Claim]:
    asked = compared(model)
    yield from _covered(excesses(asked, listed_outcomes(asked))).claims


ENCODING = Encoding(
    "sets",
    "one claim for each set of outputs that is the worst one somewhere; for a case with a delta",
    claims=_claims,
    suits=lambda model: 3,
    again=_again,
    form=PositiveParts,
)
