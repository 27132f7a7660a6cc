"""The least c such that c times the epsilon of a case is enough, where that epsilon has parameters."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from paramverify.divergences.registry import measures
from paramverify.errors import InputError, LimitError
from paramverify.models.model import of_privacy
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.strategies import NAMED
from paramverify.privacy.cases import PrivacyCase, read_case
from paramverify.privacy.verification import verify
from paramverify.processes.time_limits import alarm, can_ring
from paramverify.synthesis.attainment import is_one
from paramverify.synthesis.case_budget import case_budget
from paramverify.synthesis.quotients import RatioBounds
from paramverify.verdicts import Holds, Violated

MOST, FINEST = 64, 10  # the largest multiple that is tried, and the largest denominator
WIDTH = Fraction(1, 10**9)


@dataclass(frozen=True)
class Multiple:
    """A proved multiple of epsilon; `least` if every smaller one was shown to fail.

    Otherwise the multiple `fails`, which is smaller, has a violation, and what lies between is open.
    """

    enough: Fraction
    fails: Fraction
    least: bool

    def of(self, epsilon: str) -> str:
        """Returns the multiple of an epsilon as it is written in a case."""
        return times(self.enough, epsilon)


LEAST_ITSELF = Multiple(Fraction(1), Fraction(FINEST - 1, FINEST), least=True)


def times(factor: Fraction, epsilon: str) -> str:
    """Returns a multiple of an epsilon as it is written in a case."""
    plain = epsilon if epsilon.isidentifier() else f"({epsilon})"
    return epsilon if factor == 1 else f"{factor}*{plain}"


def with_bound(case: PrivacyCase, **bound: object) -> PrivacyCase:
    """Returns a case with another bound of `[privacy]`; its delta stays where none is given.

    Raises:
        InputError: it cannot be read with it.
    """
    away = {*measures()} - {"delta"} if bound.keys() - {"delta"} else set()
    kept = {name: value for name, value in case.data["privacy"].items() if name not in away}
    asked = {name: table for name, table in case.data.items() if name not in ("quantify", "design")}
    data = {**asked, "privacy": {**kept, **bound}}
    return read_case(case.document.saying(data))


def epsilon_of(case: PrivacyCase) -> str:
    """Returns the epsilon of a case as it is written there; "" if it has none."""
    privacy = case.data.get("privacy")
    written = privacy.get("epsilon") if isinstance(privacy, dict) else None
    return written if isinstance(written, str) else ""


def least_multiple(case: PrivacyCase, options: Options, seconds: float) -> Multiple | None:
    """Returns the least multiple of the epsilon of a case that was proved in so many seconds.

    Fractions with denominators up to `FINEST` are tried, each decided as a case of its own. None if no
    multiple was proved.
    """
    epsilon, until = epsilon_of(case), time.monotonic() + seconds
    if not epsilon or not can_ring():
        return None

    def of(factor: Fraction) -> tuple[PrivacyCase, Options]:
        left = max(0.01, until - time.monotonic())
        return with_bound(case, epsilon=times(factor, epsilon)), quiet(options, left)

    def is_enough(factor: Fraction) -> bool:
        found = verify(*of(factor)).verdict
        if isinstance(found, Holds | Violated):
            return isinstance(found, Holds)
        raise LimitError("the case is undecided")

    fails, enough, least = Fraction(0), None, False
    with suppress(LimitError, InputError), alarm(seconds, seconds):
        factor = Fraction(1)
        while not is_enough(factor):
            fails, factor = factor, 2 * factor
            if factor > MOST:
                return None
        enough = factor
        while between := _between(fails, enough):
            factor = between[len(between) // 2]
            if is_enough(factor):
                enough = factor
            else:
                fails = factor
        least = _is_tight(*of(enough))
    return None if enough is None else Multiple(enough, fails, least)


def quiet(options: Options, seconds: float) -> Options:
    """Returns options for questions that users did not ask: built-in procedures, for so many seconds."""
    return Options(seconds=seconds, memory=options.memory, strategy=NAMED["built-in"])


def _between(low: Fraction, high: Fraction) -> list[Fraction]:
    """Returns the fractions strictly between two numbers whose denominators are tried, by size."""
    numbers = {Fraction(n, d) for d in range(1, FINEST + 1) for n in range(floor(low * d), ceil(high * d))}
    return sorted(number for number in numbers if low < number < high)


def _is_tight(case: PrivacyCase, options: Options) -> bool:
    """Tells whether the bound of a case is shown to be reached or approached where it is above 1."""
    with Session(options) as session:
        model = of_privacy(case.model, "budget", tied=True, densities=True)
        found = case_budget(model, session, WIDTH).relative
    return is_tight(found)


def is_proved(found: RatioBounds | None) -> bool:
    """Tells whether a ratio relative to a bound was proved to be at most 1: the bound is enough."""
    if found is None or found.proof is None:
        return False
    return is_one(found.value) or (found.high is not None and found.high <= 1)


def is_tight(found: RatioBounds | None) -> bool:
    """Tells whether a largest ratio relative to a bound was proved to be 1 where the bound is above 1."""
    if found is None or found.proof is None or not is_one(found.value):
        return False
    return found.beside is not None and bool(found.beside.tight)
