"""Exact parts of one parameter's interval where projection applies to small pieces only.

A region map decides most of the interval. On the short pieces that it leaves open, claims tend to be monotone
in what projection cannot eliminate otherwise, and it finds the exact ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from paramverify.algebra.domains import Domain, Interval, tied_in
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import rational_root
from paramverify.claims import Claim
from paramverify.errors import TimeLimitError, UnsupportedError
from paramverify.synthesis.intervals import Partition, StatusInterval, merged
from paramverify.synthesis.maps import Cell, Status
from paramverify.synthesis.projection import project
from paramverify.synthesis.regions import region_map
from paramverify.synthesis.tied_parts import tied_parts

MAPS = 1 / 3  # of the time is for the maps, so that something is left where none of them helps
COVERAGES = (Fraction(1, 20), Fraction(1, 200), Fraction(1, 2000), Fraction(1, 20000))


def exact_parts(
    claims: Sequence[Claim],
    domain: Domain,
    name: str,
    seconds: float = 60.0,
    in_time: Callable[[], None] | None = None,
) -> Partition:
    """Returns where on the interval of one parameter all claims hold for all values of the others.

    By projection on the whole interval; where that does not apply, on the pieces that ever finer region maps
    leave undecided, within the time limit. All statuses are exact, as those of the closed cells of a map are.
    `in_time` ends the search in the place of this limit, where the seconds are what is left of another one.

    Raises:
        InputError: there is no such parameter.
        UnsupportedError: projection does not apply to some piece that is left.
        TimeLimitError: the time is over; a single call of the arithmetic library is not interrupted.
    """
    if any(tied_in(claim.domain.ring, claim.polynomial) for claim in claims):
        return tied_parts(claims, domain, name, in_time or (lambda: None))
    started = time.monotonic()
    until = started + MAPS * seconds

    def over() -> None:
        if time.monotonic() > started + seconds:
            raise TimeLimitError(seconds)

    check = in_time or over
    try:
        return project(claims, domain, name, check)
    except UnsupportedError as error:
        reason = error
    for coverage in COVERAGES:
        found = region_map(claims, domain, [name], coverage, seconds=until - time.monotonic())
        if found.stopped:
            raise KeyboardInterrupt
        if found.interrupted:
            break
        pieces: list[StatusInterval] = []
        try:
            for cell in sorted(found.cells, key=lambda c: c.box):
                pieces += _parts(cell, claims, domain, name, check)
        except UnsupportedError as error:
            reason = error
            continue
        quantified = tuple(n for n in found.quantified if not domain.box[n].is_point)
        return Partition(name, quantified, domain.box[name], tuple(claims), merged(pieces))
    raise reason


def _parts(
    cell: Cell, claims: Sequence[Claim], domain: Domain, name: str, check: Callable[[], None]
) -> Sequence[StatusInterval]:
    """Returns the parts of a cell; its upper end belongs to the next cell, if there is one."""
    whole = domain.box[name]
    low, high = cell.box[0]
    last = high == whole.upper
    piece = Interval(low, high, low > whole.lower or whole.lower_closed, last and whole.upper_closed)
    if cell.status is Status.UNDECIDED:
        return project(claims, replace(domain, box={**domain.box, name: piece}), name, check).parts
    ends = rational_root(low), rational_root(high)
    sample = simplest_between(low, high)
    return [
        StatusInterval(
            cell.status,
            *ends,
            lower_closed=piece.lower_closed,
            upper_closed=piece.upper_closed,
            sample=sample,
            claim=cell.claim,
        )
    ]
