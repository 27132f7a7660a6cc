"""Noise on a whole number: what is released when an answer is perturbed.

A module here is a kind of noise, named like the key that stands for it in a case file, and so is one that a
plugin names in the group `paramverify.noise`; there is nothing to register. It exports its `NOISE`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from paramverify.algebra.polynomials import RationalFunction, is_constant
from paramverify.errors import CaseError, InputError, gathered
from paramverify.models.context import Checks
from paramverify.plugins import Registry, owner
from paramverify.spelling import TYPED
from paramverify.tables import Key, Section, Table, Variants, whole, with_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_RANGE = 1_000
REGISTRY = Registry(__name__, "paramverify.noise", "noise")


@dataclass(frozen=True, eq=False)
class Noise:
    """`rows[f][o]` is the probability that the answer f in 0..range is released as o in 0..top.

    `top` is `range` but for tables with more outputs than answers, or fewer. `truncated` tells that the noise
    stands for noise without ends, what lies beyond an end being given to the end.
    """

    rows: Sequence[Sequence[RationalFunction]]
    truncated: bool = False

    @property
    def range(self) -> int:
        """The largest answer."""
        return len(self.rows) - 1

    @property
    def top(self) -> int:
        """The largest output."""
        return len(self.rows[0]) - 1

    @property
    def is_numeric(self) -> bool:
        """Whether all probabilities are rational numbers."""
        return all(is_constant(f) for row in self.rows for p in row for f in (p.numerator, p.denominator))


class Releases(Protocol):
    """Noise at one parameter point, to draw from."""

    def released(self, rng: np.random.Generator, answer: int, size: int) -> NDArray[np.int64]:
        """Returns `size` noisy releases of one answer."""


@dataclass(frozen=True)
class Range:
    """The answers that noise is for, where its own table does not say it: `limit` is the largest one.

    Before noise is added they are counted from 0; `told` says in words what stands for them.
    """

    limit: int
    told: str


@dataclass(frozen=True)
class NoiseKind:
    """A kind of noise: how it is written, and what reads it.

    `form` is its entries in a case file. Where it is `ranged`, the entry `range = n` says the largest answer,
    unless the caller does; `read` is then given that range, and otherwise the caller's or None.
    `section` declares its entries, without `range`; None of a plugin that declares nothing.
    """

    form: str
    read: Callable[[Table, Checks, Range | None], Noise]
    ranged: bool = False
    section: Section | None = None


def read_noise(
    table: Table, name: str, checks: Checks, given: Range | None = None, others: Sequence[str] = ()
) -> Noise:
    """Reads noise such as `{ truncated_geometric = "1/2", range = 2 }` or `{ table = [["2/3", ...], ...] }`.

    With `given` it is for that range, and has no `range` of its own. `others` is what the caller reads too.

    Raises:
        CaseError: no known kind of noise, or a mistake in it.
        InputError: a plugin that fails.
    """
    with table.within(name) as inner:
        kinds = REGISTRY.loaders()
        chosen = next((kind for kind in kinds if kind in inner.data), None)
        if chosen is None:
            inner.check_spelling(*kinds, alike=TYPED)
            known = [_kind(load()) for load in kinds.values()]
            forms = [f"{{ {k.form}{', range = n' if k.ranged and not given else ''} }}" for k in known]
            *first, last = sorted((*forms, *others))
            raise CaseError(f"noise must be {', '.join(first)} or {last}")
        kind = _kind(kinds[chosen]())
        with gathered() as each:
            if kind.ranged and given is None:
                given = Range(1, "0..range")
                with each:
                    given = Range(inner.integer("range", 1, MAX_RANGE), "0..range")
            with each:
                noise = kind.read(inner, checks, given)
                if not isinstance(noise, Noise):
                    raise InputError(f"{owner(kind.read.__module__)} reads no Noise")
            with each:
                inner.close()
        return noise


def declared(kind: str, ranged: bool = True) -> Section | None:
    """Returns the declaration of a kind of noise, with `range` where it is for the noise to say."""
    known = _kind(REGISTRY.module(kind))
    ranged = ranged and known.ranged
    return with_keys(known.section, RANGE) if known.section and ranged else known.section


RANGE = Key("range", whole(1, MAX_RANGE), "The largest answer: answers are 0, 1, ..., range.", needed=True)
NOISE = Variants(
    "noise",
    "The noise: the distribution of what is released for each answer.",
    REGISTRY.names,
    declared,
    text="The noise.",
)


def _kind(module: ModuleType) -> NoiseKind:
    kind = getattr(module, "NOISE", None)
    if not isinstance(kind, NoiseKind):
        raise InputError(f"{owner(module.__name__)} exports no NOISE that is a NoiseKind")
    return kind
