"""Region maps as evidence: a statement that `kernel.region_evidence` checks by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paramverify.algebra.bernstein import Enclosure, bernstein_form, split_enclosure, spreads
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Polynomial, key, variables
from paramverify.answers import Proved
from paramverify.claims import Claim
from paramverify.evidence import envelope
from paramverify.evidence.certificates import Proof
from paramverify.exact.branching import decide_exactly
from paramverify.synthesis.factors import ClaimFactor, SignFactor, parts_of
from paramverify.synthesis.map_files import cell_document
from paramverify.synthesis.maps import Cell, RegionMap, Status, on_cell

BITS = 256  # of the enclosure of the constant E
MAX_CUTS = 500  # of the quantified parameters, for one claim on one cell

Box = Mapping[str, Interval]


def statement(found: RegionMap, domain: Domain) -> dict[str, Any]:
    """Returns a region map as a statement with all that is needed to check it, numbers as strings.

    The claims are factored. For each safe cell and claim in which quantified parameters occur, `cuts` has
    the subdivision of their box on whose parts the coefficients of the factors have a sign, in preorder:
    a name for a cut in the middle of that parameter, "+" for a part; likewise for cells outside. Where no
    such subdivision was found, `proofs` has another proof of the claim on the cell. A cell without either
    (another program decided it) has `cuts` null.
    """
    closed = domain.enclose(BITS)
    factors: dict[str, int] = {}
    different: list[ClaimFactor] = []
    products = []
    for claim in found.claims:
        constant, parts = parts_of(claim.polynomial, domain)
        numbers = []
        for part in parts:
            number = factors.setdefault(key(part.polynomial), len(factors))
            if number == len(different):
                different.append(part)
            numbers.append([number, part.multiplicity])
        products.append({"constant": str(constant), "factors": numbers})
    maker = _Maker(
        closed,
        found.claims,
        free=found.parameters,
        quantified=found.quantified,
        factors=[part.factor(closed) for part in different],
        products=products,
    )
    by_roots = [entry for number, part in enumerate(different) for entry in _by_roots(number, part)]
    own = {
        "domain": envelope.sign(Claim(domain.ring.number(0), closed))["domain"],
        "free": list(found.parameters),
        "claims": [key(claim.polynomial) for claim in found.claims],
        "factors": list(factors),
        "products": products,
        "cells": [maker.cell(cell) for cell in found.cells],
        **({"symmetric": [list(names) for names in found.folds]} if found.folds else {}),
        **({"by_roots": by_roots} if by_roots else {}),
    }
    return {"kind": "cells", **own}


def _by_roots(number: int, part: ClaimFactor) -> list[dict[str, Any]]:
    """Returns how a factor depends on one product of powers, if it does."""
    if part.product is None or part.roots is None:
        return []
    return [
        {
            "factor": number,
            "powers": dict(part.product.powers),
            "reflected": sorted(part.product.reflected),
            "cuts": list(map(str, part.roots.cuts)),
            "roots": [list(map(str, ends)) for ends in part.roots.around],
        }
    ]


@dataclass(frozen=True, eq=False)
class _CellBox:
    """A cell times a box of the quantified parameters: exact forms of factors and of constraints."""

    sign: int
    odd: tuple[Enclosure, ...]
    conditions: tuple[tuple[bool, Enclosure], ...]

    def holds(self) -> bool:
        """Tells whether the signs of coefficients show that f ≥ 0, or that no point of the domain is here."""
        for strict, form in self.conditions:
            if form.upper < 0 or (strict and form.upper == 0):
                return True
        sign = self.sign
        for form in self.odd:
            if not form.error and not any(form.entries):
                return True
            if form.lower < 0 < form.upper:
                return False
            sign *= 1 if form.lower >= 0 else -1
        return sign > 0

    def halves(self, name: str) -> list[_CellBox]:
        """Returns the parts on both sides of the middle of a parameter."""
        odd = [_both(form, name) for form in self.odd]
        conditions = [(strict, _both(form, name)) for strict, form in self.conditions]
        return [
            _CellBox(self.sign, tuple(f[k] for f in odd), tuple((s, f[k]) for s, f in conditions))
            for k in (0, 1)
        ]

    def widest(self, names: Sequence[str]) -> str | None:
        """Returns the parameter among these in which what is open varies most."""
        forms = [f for f in self.odd if f.lower < 0 < f.upper] or [f for _, f in self.conditions]
        steps: dict[str, int] = {}
        for form in forms[:1]:
            steps = {n: s for n, s in zip(form.names, spreads(form), strict=True) if n in names and s}
        return max(steps, key=lambda name: steps[name]) if steps else None


def _both(form: Enclosure, name: str) -> tuple[Enclosure, Enclosure]:
    return split_enclosure(form, name) if name in form.names else (form, form)


@dataclass(frozen=True, eq=False)
class _Maker:
    domain: Domain
    claims: Sequence[Claim]
    free: tuple[str, ...]
    quantified: tuple[str, ...]
    factors: Sequence[SignFactor]
    products: Sequence[Mapping[str, Any]]

    def cell(self, cell: Cell) -> dict[str, Any]:
        """Returns a cell with the cuts of the quantified parameters that show its status."""
        document = cell_document(cell)
        if cell.status not in (Status.SAFE, Status.OUTSIDE):
            return document
        box = {**self.domain.box}
        for name, ends in zip(self.free, cell.box, strict=True):
            box[name] = Interval(*ends, True, True)
        conditions = tuple((c.strict, _form(c.polynomial, box)) for c in self.domain.constraints)
        if cell.status is Status.OUTSIDE:
            found = self._cuts(_CellBox(-1, (), conditions))
            document["cuts"] = None if found is None else {"outside": found}
            return document
        cuts: dict[str, Any] = {}
        proofs: dict[str, Any] = {}
        forms = [_exact(factor, box) for factor in self.factors]
        for number, product in enumerate(self.products):
            sign = -1 if product["constant"].startswith("-") else 1
            odd = tuple(forms[k] for k, m in product["factors"] if m % 2)
            found = self._cuts(_CellBox(sign, odd, conditions))
            if found is None:
                proof = self._proof(number, cell)
                if proof is None:
                    return {**document, "cuts": None}
                proofs[str(number)] = proof
            elif found != ["+"]:
                cuts[str(number)] = found
        if cuts:
            document["cuts"] = cuts
        if proofs:
            document["proofs"] = proofs
        return document

    def _proof(self, number: int, cell: Cell) -> Proof | None:
        """Returns another proof that a claim holds on a cell, which the checker of claims replays."""
        part = on_cell(self.claims[number], self.domain, self.free, cell.box)
        said = decide_exactly(part)
        return said.certificate["proof"] if isinstance(said, Proved) and said.certificate else None

    def _cuts(self, part: _CellBox) -> list[str] | None:
        tokens, pending = [], [part]
        while pending:
            part = pending.pop()
            if part.holds():
                tokens.append("+")
                continue
            name = part.widest(self.quantified)
            if name is None or len(tokens) >= MAX_CUTS:
                return None
            tokens.append(name)
            pending += part.halves(name)[::-1]
        return tokens


def _exact(factor: SignFactor, box: Box) -> Enclosure:
    """Returns the form of a factor, as it is checked: `E` is a variable as others are."""
    if not factor.hidden:
        return _form(factor.polynomial, box)
    return factor.enclosed({name: (box[name].lower, box[name].upper) for name in factor.names}, {}, BITS)


def _form(polynomial: Polynomial, box: Box) -> Enclosure:
    form = bernstein_form(polynomial, {name: box[name] for name in variables(polynomial)})
    return Enclosure(variables(polynomial), form.degrees, [int(e) for e in form.entries], 0)
