"""What `losses` proves on boxes, as evidence: trees of cuts, for `checker.loss_evidence`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, fraction
from paramverify.divergences import Average
from paramverify.encodings.output_sums import PairOutcomes, joint_statement, outcomes, reduced
from paramverify.errors import DefectError
from paramverify.evidence.divergence_witnesses import LossWitness
from paramverify.models.model import Model
from paramverify.privacy.approximate import domain_document
from paramverify.privacy.enclosed_losses import Factors

FORMAT, VERSION = "paramverify-losses", 1

Tree = list[list[Any]]


@dataclass(eq=False)
class CoverBox:
    """A box of a cover: it is outside of the domain, or the orders prove a bound there, or it is cut."""

    box: Mapping[str, Interval]
    constraint: int | None = None
    orders: tuple[Fraction, ...] | None = None
    name: str = ""
    halves: list[CoverBox] = field(default_factory=list)

    def cut(self, name: str) -> None:
        """Cuts the box in two, across a side."""
        own = self.box[name]
        middle = (own.lower + own.upper) / 2
        self.name = name
        for low, high in ((own.lower, middle), (middle, own.upper)):
            self.halves.append(CoverBox({**self.box, name: Interval(low, high, True, True)}))

    def tree(self) -> Tree:
        """Returns the tokens of the whole tree in preorder."""
        tokens: Tree = []
        pending = [self]
        while pending:
            part = pending.pop()
            if part.halves:
                tokens.append(["cut", part.name, str(part.halves[0].box[part.name].upper)])
                pending += reversed(part.halves)
            elif part.constraint is not None:
                tokens.append(["-", part.constraint])
            elif part.orders is not None:
                tokens.append(["+", [str(order) for order in part.orders]])
            else:
                raise DefectError("a part of a cover is open")
        return tokens


def nothing_apart() -> Tree:
    """Returns the tree that shows two equal distributions to be no distance apart."""
    return [["+", []]]


def document(domain: Domain, measure: Average, claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns claims about a domain with their trees."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "measure": measure.key,
        "bound": bound_document(measure),
        "domain": domain_document(domain, domain.ring.number(0)),
        "claims": list(claims),
    }


def bound_document(measure: Average) -> list[Any]:
    """Returns the bound: a number, and factors of logarithms of numbers."""
    return [str(measure.rational), [[str(factor), str(value)] for factor, value in measure.logarithms]]


def claim(
    found: PairOutcomes, origins: Sequence[tuple[str, str, int]], factors: Factors, tree: Tree
) -> dict[str, Any]:
    """Returns what is proved of a reduced direction: its outputs, also as products, and the tree."""
    numbers: dict[str, int] = {}

    def product(polynomial: Polynomial) -> list[Any] | None:
        """Returns a polynomial as a product, None for 0."""
        if not polynomial:
            return None
        constant, powers = factors.factored(polynomial)
        places = [[numbers.setdefault(name, len(numbers)), power] for name, power in powers.items()]
        return [str(fraction(constant)), places]

    products = [product(each) for each in (found.total, *(side for pair in found.outputs for side in pair))]
    return {**joint_statement(found, origins), "factors": list(numbers), "products": products, "tree": tree}


def violation(model: Model, measure: Average, witness: LossWitness) -> dict[str, Any]:
    """Returns the claim that fails at a witness; `reports` adds its numbers."""
    wanted = witness.left, witness.right, witness.length
    for pair in outcomes(model):
        for each in (pair, pair.turned):
            if (each.left, each.right, each.length) == wanted:
                broken = {"claim": joint_statement(reduced(each), [wanted])}
                return {**document(model.domain, measure, []), "witness": broken}
    raise DefectError("a witness is about secrets that are not compared")
