"""Domains without an inside: their parts, each in fewer parameters.

A parameter with one value, and equations among the constraints, leave a domain without inner points. What is
argued by density (a polynomial that is not zero is not zero nearly everywhere) is false on such a domain, and
true again on its branches: there the fixed parameters are replaced by their values, x by the polynomial u
where x = u, and an equation between products by the equations of the factors, one branch for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import (
    Point,
    Polynomial,
    constant_value,
    is_constant,
    primitive,
    rational,
    substitute,
    value_at,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import DomainError

MAX_BRANCHES = 64

_APART = (Sign.POSITIVE, Sign.NEGATIVE)


@dataclass(frozen=True, eq=False)
class Branch:
    """A part of a domain: its points are those of `domain`, with the variables of `images` replaced.

    An image is a polynomial in the other variables. `domain` is over the same ring; its box and constraints
    are about the other variables only (the interval of a replaced one is a single point, and says nothing).
    A branch without constraints is a box with an inside, or a single point.
    """

    domain: Domain
    images: Mapping[str, Polynomial] = field(default_factory=dict)

    @property
    def is_box(self) -> bool:
        """Whether the branch is a box in its free parameters, and nothing else restricts it."""
        return not self.domain.constraints

    @property
    def free(self) -> tuple[str, ...]:
        """The parameters that have more than one value on the branch and are not replaced."""
        return tuple(n for n in self.domain.ring.parameters if n not in self.images)

    def restrict(self, polynomial: Polynomial) -> Polynomial:
        """Returns the polynomial with the replaced variables replaced."""
        if not self.images:
            return polynomial
        ring = self.domain.ring
        return polynomial.compose(*(self.images.get(n, ring.variable(n)) for n in ring.names))

    def lift(self, point: Point) -> dict[str, Fraction]:
        """Returns the point of the whole domain for one that gives the free parameters."""
        full = {**{n: i.lower for n, i in self.domain.box.items()}, **point}
        images = {n: value_at(image, full) for n, image in self.images.items()}
        return {n: images.get(n, full[n]) for n in self.domain.ring.parameters}


def branches(domain: Domain) -> tuple[Branch, ...]:
    """Returns parts whose union is the domain; they may overlap, and there is none if it is shown empty.

    Where a part stays with equations that are not solved (`p**2 == 1/2`), they are among its constraints.
    """
    pending, done = [Branch(domain)], list[Branch]()
    while pending:
        branch = pending.pop()
        try:
            parts = _step(branch)
        except DomainError:
            continue  # nothing is left of it
        if parts is None:
            done.append(branch)
        else:
            pending.extend(parts)
        if len(pending) + len(done) > MAX_BRANCHES:
            return (Branch(domain),)
    return tuple(done)


def where(branch: Branch, equation: Polynomial) -> tuple[Branch, ...]:
    """Returns parts whose union are the points of a branch at which a polynomial is zero; see `branches`.

    The polynomial is one in the free parameters.
    """
    own = (Constraint(equation, False, ""), Constraint(-equation, False, ""))
    domain = replace(branch.domain, constraints=(*branch.domain.constraints, *own))
    parts = (replace(part, images=_without(part.images, branch.images)) for part in branches(domain))
    return tuple(Branch(p.domain, {**_within(p, branch.images), **p.images}) for p in parts)


def _without(images: Mapping[str, Polynomial], known: Mapping[str, Polynomial]) -> dict[str, Polynomial]:
    return {name: image for name, image in images.items() if name not in known}


def _within(part: Branch, images: Mapping[str, Polynomial]) -> dict[str, Polynomial]:
    return {name: part.restrict(image) for name, image in images.items()}


def _step(branch: Branch) -> Sequence[Branch] | None:
    """Returns the branch in simpler parts, or None if there is nothing to simplify.

    Raises:
        DomainError: the branch is empty.
    """
    domain = branch.domain
    fixed = {
        n: domain.ring.number(i.lower)
        for n, i in domain.box.items()
        if i.is_point and n not in branch.images and n != GENERATOR
    }
    if fixed:
        values = {n: domain.box[n].lower for n in fixed}
        constraints = tuple(
            replace(c, polynomial=substitute(c.polynomial, values)) for c in domain.constraints
        )
        kept = {n: substitute(image, values) for n, image in branch.images.items()}
        return [Branch(replace(domain, constraints=constraints), {**kept, **fixed})]
    tight = tightened(domain)
    live = tuple(c for c in tight.constraints if not _implied(c, tight))
    if len(live) < len(domain.constraints):
        return [replace(branch, domain=replace(tight, constraints=live))]
    for equation, rest in _equations(domain):
        parts = _solved(branch, equation, rest)
        if parts is not None:
            return parts
    return None


def _implied(constraint: Constraint, domain: Domain) -> bool:
    """Tells whether a constraint is true everywhere on the box.

    Raises:
        DomainError: it is false everywhere.
    """
    sign = sign_on(constraint.polynomial, domain)
    if sign is Sign.NEGATIVE or (constraint.strict and sign in (Sign.NONPOSITIVE, Sign.ZERO)):
        raise DomainError(f"the constraint {constraint.text} is false everywhere in the domain")
    return sign is Sign.POSITIVE or (not constraint.strict and sign in (Sign.NONNEGATIVE, Sign.ZERO))


def _equations(domain: Domain) -> Iterator[tuple[Polynomial, tuple[Constraint, ...]]]:
    """Yields polynomials that are zero on the whole domain, each with the constraints that do not say so.

    Of g ≥ 0 and −g ≥ 0 both are used; −g ≥ 0 alone says g = 0 where g ≥ 0 on the box.
    """
    found = domain.constraints
    for i, first in enumerate(found):
        if not first.strict and sign_on(first.polynomial, domain) is Sign.NONPOSITIVE:
            yield first.polynomial, (*found[:i], *found[i + 1 :])
        for j in range(i + 1, len(found)):
            second = found[j]
            if primitive(first.polynomial)[1] == -primitive(second.polynomial)[1]:
                if first.strict or second.strict:
                    raise DomainError(f"the constraints {first.text} and {second.text} contradict each other")
                yield first.polynomial, (*found[:i], *found[i + 1 : j], *found[j + 1 :])


def _solved(branch: Branch, equation: Polynomial, rest: tuple[Constraint, ...]) -> Sequence[Branch] | None:
    """Returns the branches of an equation, one for each irreducible factor; None if it stays as it is."""
    domain = branch.domain
    factors = [f for f, _ in equation.factor()[1] if sign_on(f, domain) not in _APART]
    if not factors:
        raise DomainError("an equation of the constraints has no solution in the intervals of the parameters")
    solved: list[Branch] = []
    for factor in factors:
        part = _eliminated(branch, factor, rest)
        if part is not None:
            solved.append(part)
        elif len(factors) == 1 and primitive(factor)[1] in (primitive(equation)[1], -primitive(equation)[1]):
            return None
        else:
            both = (Constraint(factor, False, ""), Constraint(-factor, False, ""))
            solved.append(replace(branch, domain=replace(domain, constraints=(*rest, *both))))
    return solved


def _eliminated(branch: Branch, factor: Polynomial, rest: tuple[Constraint, ...]) -> Branch | None:
    """Returns the branch with factor = a·(x − u) = 0 solved for x; a is a number, and `E` is not in u."""
    domain, ring = branch.domain, branch.domain.ring
    if GENERATOR in variables(factor) and domain.constant:
        return None
    for name in variables(factor):
        slope = factor.derivative(name)
        if not slope or not is_constant(slope):
            continue
        image = substitute(factor, {name: Fraction(0)}) / rational(-constant_value(slope))
        if name not in domain.box:
            return None  # it is tied to another variable
        interval = domain.box[name]
        room = (
            Constraint(image - ring.number(interval.lower), not interval.lower_closed, ""),
            Constraint(ring.number(interval.upper) - image, not interval.upper_closed, ""),
        )
        single = Interval(interval.lower, interval.lower, True, True)
        part = Branch(replace(domain, box={**domain.box, name: single}), {name: image})
        constraints = tuple(replace(c, polynomial=part.restrict(c.polynomial)) for c in rest)
        return Branch(
            replace(part.domain, constraints=(*constraints, *room)),
            {**_within(part, branch.images), name: image},
        )
    return None


def tightened(domain: Domain) -> Domain:
    """Returns the same domain with linear constraints on one parameter as ends of its interval.

    Raises:
        DomainError: they leave nothing of the interval.
    """
    box, rest = dict(domain.box), []
    for constraint in domain.constraints:
        f = constraint.polynomial
        names = variables(f)
        if len(names) != 1 or names[0] not in box or names[0] == GENERATOR or f.total_degree() != 1:
            rest.append(constraint)
            continue
        slope = constant_value(f.derivative(names[0]))
        end = -value_at(f, dict.fromkeys(domain.ring.names, Fraction(0))) / slope
        closed, own = not constraint.strict, box[names[0]]
        try:
            if slope > 0 and (end > own.lower or (end == own.lower and own.lower_closed)):
                box[names[0]] = Interval(end, own.upper, closed, own.upper_closed)
            elif slope < 0 and (end < own.upper or (end == own.upper and own.upper_closed)):
                box[names[0]] = Interval(own.lower, end, own.lower_closed, closed)
        except DomainError:
            reason = f"{constraint.text} excludes every {names[0]} in {own}"
            raise DomainError(f"the parameter domain is empty: {reason}") from None
    return replace(domain, box=box, constraints=tuple(rest))
