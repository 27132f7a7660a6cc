"""Proofs about sums of positive parts as whole numbers, in the order in which `CaseSets.v` reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paramverify.evidence.certificates import EXPONENTIAL, POSITIVE
from paramverify.reports.theorems.certificates import polynomial, proof_numbers, rational, several

Names = Sequence[str]
Json = Mapping[str, Any]


def sums_numbers(claims: Sequence[Json], names: Names) -> list[int]:
    """Returns claims of the format `paramverify-sets` with their trees, as numbers; names are the variables.

    Raises:
        UnsupportedError: a proof rests on a solver, or is of a kind that has no theory.
    """

    def claim(given: Json) -> list[int]:
        terms = several(given["terms"], lambda text: polynomial(text, names))
        tree = [number for token in given["tree"] for number in _token(token, names)]
        return [*polynomial(given["room"], names), *terms, *tree]

    return several(claims, claim)


def known_proof(proof: Json, names: Names) -> list[int]:
    """Returns a proof as numbers, with the constant exp(q) in an interval already."""
    return proof_numbers(POSITIVE if proof == EXPONENTIAL else proof, names)


def _token(token: Any, names: Names) -> list[int]:
    """Returns one entry of a tree, which is in preorder there and here."""
    if isinstance(token, Mapping):
        return [0, *known_proof(token, names)]
    return _ENTRIES[token[0]](token, names)


def _bounded(token: Any, names: Names) -> list[int]:
    _, index, most, positive, above = token
    proofs = (n for proof in (positive, above) for n in known_proof(proof, names))
    return [3, index, *polynomial(most, names), *proofs]


_ENTRIES: Mapping[str, Callable[[Any, Names], list[int]]] = {
    "+": lambda token, names: [1, token[1], *known_proof(token[2], names)],
    "-": lambda token, names: [2, token[1], *known_proof(token[2], names)],
    "<": _bounded,
    "cut": lambda token, names: [4, names.index(token[1]), *rational(token[2])],
    "sign": lambda token, names: [5, *polynomial(token[1], names)],
    "free": lambda token, names: [6],
}
