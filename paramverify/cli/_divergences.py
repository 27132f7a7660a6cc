"""The options of `sample` that name a divergence and its bound, with a case or without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from paramverify.algebra.rationals import nearest
from paramverify.cli._settings import settings
from paramverify.divergences.masses import BY_KEY, MassDivergence, of_order
from paramverify.errors import InputError, located
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.other_bounds import load_with_bounds
from paramverify.statistics.case_testing import numbers
from paramverify.subjects.written_numbers import positive


@dataclass(frozen=True)
class Bounded:
    """A divergence that was asked for by an option, with its bound as a text."""

    key: str
    bound: str
    order: str | None = None

    @property
    def option(self) -> str:
        """The option that named it."""
        return f"--{self.key.replace('_', '-')}"

    def read(self) -> tuple[MassDivergence, float]:
        """Returns the divergence and its bound.

        Raises:
            InputError: a mistake in one of them.
        """
        if self.order is None:
            return BY_KEY[self.key], nearest(positive(self.bound, self.option))
        with located(key=self.option):
            if "," in self.bound:
                raise InputError("more than one bound: write the order and one bound, such as 4,ln(2)")
            return of_order(self._order), numbers((self.bound,))[0]

    @property
    def _order(self) -> int:
        text = (self.order or "").strip()
        if not text.isdecimal() or not 2 <= int(text) <= 100:
            raise InputError("the order must be a whole number from 2 to 100: write, for example, 4,ln(2)")
        return int(text)

    def load(self, path: str, at: Mapping[str, Fraction]) -> PrivacyCase:
        """Reads a case with this bound in the place of its own."""
        bound: object = self.bound
        if self.order is not None:
            with located(key=self.option):
                bound = {"order": self._order, "epsilon": self.bound}
        return load_with_bounds(path, {self.key: bound}, settings(), at)


def bounded(typed: Mapping[str, Any]) -> Bounded | None:
    """Returns what the options name, at most one.

    Raises:
        UsageError: two of them, or one with --epsilon or --delta.
    """
    given = {key: typed[key] for key in ("renyi", *BY_KEY) if typed[key] is not None}
    if not given:
        return None
    if len(given) > 1 or typed["epsilon"] or typed["delta"]:
        raise click.UsageError(
            "more than one bound: give one of --renyi, --chi-squared, --kl and --zcdp, without --epsilon "
            "or --delta"
        )
    ((key, text),) = given.items()
    if key != "renyi":
        return Bounded(key, text)
    order, comma, bound = text.partition(",")
    if not comma:
        raise click.UsageError("--renyi has no bound: write an order and a bound, such as --renyi 4,ln(2)")
    return Bounded(key, bound, order)


def loader(asked: Bounded | None, path: str) -> Callable[[Mapping[str, Fraction]], PrivacyCase]:
    """Returns what reads the case, with the bound that was asked for."""
    if asked is not None:
        return lambda at: asked.load(path, at)
    return lambda at: load(path, at, settings())
