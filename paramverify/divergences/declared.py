"""What a divergence of another package declares, tried on a few distributions.

Verdicts rest on what `SumDivergence` demands of `sums` and on its attributes. That they are true of all
distributions is the word of the package; here they are tried exactly, so that an ordinary slip is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import inf
from typing import Any

from paramverify.algebra.polynomials import Ring
from paramverify.divergences.sums import SumDivergence
from paramverify.errors import InputError, LimitError
from paramverify.plugins import owner

Masses = Sequence[tuple[Fraction, Fraction]]
FACTOR = 3  # by which all probabilities are multiplied

_SHARES = (  # in 60ths, of each output under both secrets
    ((30, 30), (30, 30)),
    ((15, 30), (45, 30)),
    ((10, 20), (20, 40), (30, 0)),
    ((20, 10), (40, 20), (0, 30)),
    ((10, 5), (20, 10), (6, 12), (24, 33)),
    ((1, 20), (29, 20), (30, 20)),
    ((12, 12), (12, 24), (12, 6), (24, 18)),
    ((60, 0), (0, 60)),
    ((2, 40), (4, 10), (54, 10)),
)
TRIED: tuple[Masses, ...] = tuple(
    tuple((Fraction(p, 60), Fraction(q, 60)) for p, q in shares) for shares in _SHARES
)


def check_declared(divergence: SumDivergence) -> None:
    """Tries what a divergence declares.

    Raises:
        InputError: something is not so; it names the package, the attribute and the probabilities.
    """

    def wrong(reason: str) -> InputError:
        name = owner(type(divergence).__module__)
        return InputError(f"{name}: {reason}", key=divergence.key)

    if not isinstance(getattr(divergence, "title", None), str):
        raise wrong("the divergence needs a `title`, which is a string")
    try:
        for reason in _mistakes(divergence):
            raise wrong(reason)
    except (InputError, LimitError, MemoryError):
        raise
    except Exception as error:  # the code of somebody else may raise anything
        raise wrong(f"its method `sums` raised {type(error).__name__}: {error}") from error


def _mistakes(divergence: SumDivergence) -> Iterator[str]:
    one = Ring().number(1)
    for number in (Fraction(1), one):
        listed = [
            [*each] for each in divergence.sums([(number * p, number * q) for p, q in ((1, 2), (2, 1))])
        ]
        if not listed:
            yield "its method `sums` yields no sum"
        for quotient in (quotient for each in listed for quotient in each):
            top, bottom = quotient
            if number is one and (type(top) is not type(one) or type(bottom) is not type(one)):
                yield (
                    "its method `sums` yields a quotient whose parts are not polynomials: compute both from "
                    "the probabilities only, for example p**0 for 1"
                )
    for masses in TRIED:
        yield from (f"{reason}, for {_told(masses)}" for reason in _at(divergence, masses))


def _at(divergence: SumDivergence, masses: Masses) -> Iterator[str]:
    """Yields what is not so at two distributions."""
    value: Callable[[Masses], Any] = divergence.largest
    parts = [quotient for each in divergence.sums(masses) for quotient in each]
    if any(bottom < 0 for _, bottom in parts):
        yield "its method `sums` yields a negative denominator"
    if (
        divergence.stratified
        and all(q for _, q in masses)
        and any(top and not bottom for top, bottom in parts)
    ):
        yield "`stratified` is set, but a denominator is 0 although every output is possible on the right"
    found = value(masses)
    less = 0 if divergence.included else divergence.less
    if found + less < 1:
        least = "with `less = 1`" if divergence.less else "without `less = 1`"
        yield f"{least}, each sum must be at least {1 - less}, but one is {found}"
    if value([(p * FACTOR, q * FACTOR) for p, q in masses]) != found * FACTOR:
        yield (
            "a common factor of all probabilities must also be a factor of the sums, as in (p - q)**2/q or "
            "p*whole/q"
        )
    for (k, (p, q)), (j, (r, s)) in combinations(enumerate(masses), 2):
        rest = [each for n, each in enumerate(masses) if n not in (k, j)]
        together = value([*rest[:k], (p + r, q + s), *rest[k:]])
        if divergence.merged and p * s == q * r and together != found:
            yield "`merged` is set, but merging two outputs with the same ratio changes the sum"
        if divergence.processed and (together > found if found != inf else False):
            yield "`processed` is set, but merging two outputs makes the divergence larger"


def _told(masses: Masses) -> str:
    left, right = (", ".join(str(side) for side in sides) for sides in zip(*masses, strict=True))
    return f"the probabilities {left} and {right}"
