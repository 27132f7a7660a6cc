"""Directions in which a polynomial is constant: it is one in fewer variables, up to a linear substitution."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq, fmpq_mat

from paramverify.algebra.polynomials import Polynomial, Ring, variables

Back = Callable[[Polynomial], Polynomial]


def fewer_variables(f: Polynomial, ring: Ring) -> tuple[Polynomial, Back] | None:
    """Returns g and a substitution s with f = g∘s, where g has fewer variables; None if there is none.

    Where v₁, ..., vₖ span the directions with ∂f/∂v = 0, each with a 1 where the others have 0, f(x) is
    f(x − Σ x_p·v_p), and that point has zeros at these places.
    """
    names = variables(f)
    slopes = [f.derivative(name).to_dict() for name in names]
    rows = sorted({powers for slope in slopes for powers in slope})
    if not rows:
        return None
    entries = [slope.get(powers, fmpq(0)) for powers in rows for slope in slopes]
    reduced, rank = fmpq_mat(len(rows), len(names), entries).rref()
    if rank == len(names):
        return None
    leads = [next(k for k in range(len(names)) if reduced[row, k]) for row in range(rank)]
    images = {name: ring.variable(name) for name in ring.names}
    for p, name in enumerate(names):
        if p in leads:
            continue
        images[name] = ring.number(0)
        for row, q in enumerate(leads):  # v_p has −reduced[row, p] at q
            images[names[q]] = images[names[q]] + ring.variable(name) * reduced[row, p]
    kept = {names[q] for q in leads}
    removed = [ring.variable(n) if n in kept else ring.number(0) for n in ring.names]
    arguments = [images[name] for name in ring.names]
    return f.compose(*removed), lambda g: g.compose(*arguments)
