"""The case of one way, where its exponents are small enough for the engine for programs.

Probabilities of a way are quotients of polynomials in x = exp(−step·ε), where `step` is the greatest common
divisor of all exponents. Densities of samples that are compared change at their centres, and at the borders
of what is put out: each sample k brings d_k times the distance between two of these numbers. So the degrees
are known before any polynomial is made. A library that makes one of a degree of 10^10 ends the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from pathlib import Path

from paramverify.algebra.constants import MAX_EXPONENT
from paramverify.automata.automaton import GEOMETRIC, SECOND, Automaton
from paramverify.automata.budgets import StreamBudget
from paramverify.automata.programs import Streams, case_of_all, heights
from paramverify.automata.ways import links
from paramverify.errors import InputError, LimitError
from paramverify.files import standing_in
from paramverify.models.programs.bases import MAX_DEGREE as MOST_POWER
from paramverify.privacy.cases import PrivacyCase, load

MOST_DEGREE = 100_000  # in x, where a case is decided


@dataclass(frozen=True)
class Sizes:
    """How large the exponents of a way's probabilities become: multiples of ε, and powers of x.

    `degree` bounds the powers of x in the probabilities. `largest` bounds the factors of ε in all exponents
    that are formed on the way to them, and `powers` these exponents as powers of x.
    """

    largest: Fraction
    degree: int
    powers: int

    @property
    def refused(self) -> bool:
        """Whether the engine may refuse an exponent, as it does in a case that somebody writes."""
        return self.largest > MAX_EXPONENT or self.powers > MOST_POWER


def sizes(
    automaton: Automaton,
    steps: Sequence[int],
    given: Sequence[Streams],
    budget: StreamBudget,
    width: Fraction,
) -> Sizes:
    """Returns how large the exponents of a way become for pairs of streams and a budget."""
    whole = automaton.noise == GEOMETRIC
    moved = Fraction(len(steps) + 1 if whole else 0)  # sums begin at the next number
    exponents, near, far = [budget.multiple], Fraction(0), Fraction(0)
    every = [_samples(automaton, steps, side, width) for pair in given for side in (pair.first, pair.second)]
    for samples in every:
        brought, formed = Fraction(0), Fraction(0)
        for rates, places in samples:
            total, spread = sum(rates, Fraction(0)), max(places) - min(places)
            brought += total * (spread + moved)
            formed += total * (max(spread, *map(abs, places)) + moved)
            exponents += [rate * place for rate in {*rates} for place in places]
            exponents += {*rates} if whole else ()
        near, far = max(near, brought), max(far, formed)
    step = _common(exponents) or Fraction(1)
    near, far = near + budget.multiple, far + budget.multiple
    return Sizes(max(far, budget.plus), int(near / step), int(far / step))


def _samples(
    automaton: Automaton, steps: Sequence[int], stream: Sequence[Fraction], width: Fraction
) -> list[tuple[list[Fraction], set[Fraction]]]:
    """Returns the rates of samples that are compared with each other, and where their densities change."""
    group = list(range(len(steps)))
    for low, high in links(automaton, steps):
        one, other = group[low], group[high]
        group = [one if own == other else own for own in group]
    found: dict[int, tuple[list[Fraction], set[Fraction]]] = {own: ([], set()) for own in group}
    whole, left = automaton.noise == GEOMETRIC, iter(stream)
    asked = heights(automaton, steps) if whole else ()
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        state = automaton.state_of(step)
        entry = next(left) if state.reads else Fraction(0)
        rates, places = found[group[place]]
        rates.append(state.rate)
        places.add(entry + state.mean)
        if step.releases:
            places |= {Fraction(asked[place])} if whole else {-width, width}
        if step.output == SECOND and state.second is not None:
            rate, mean = state.second
            found[-1 - place] = [rate], {entry + mean, *((Fraction(0),) if whole else (-width, width))}
    return list(found.values())


def _common(numbers: Sequence[Fraction]) -> Fraction:
    """Returns the greatest common divisor."""
    bottom = lcm(*(number.denominator for number in numbers))
    return Fraction(gcd(*(int(number * bottom) for number in numbers)), bottom)


def way_case(
    automaton: Automaton,
    steps: Sequence[int],
    given: Sequence[Streams],
    budget: StreamBudget,
    width: Fraction,
    most: int = MOST_DEGREE,
) -> PrivacyCase | None:
    """Returns the case of one way and pairs of streams; None if it is too large for the engine.

    It is, if the degree in x may be above `most`, or if the engine refuses an exponent that is too large.
    """
    known = sizes(automaton, steps, given, budget, width)
    if known.degree > most:
        return None
    path = Path("way.toml")
    with standing_in(path, case_of_all(automaton, steps, given, budget, width).encode()):
        try:
            return load(str(path))
        except LimitError:
            return None
        except InputError:
            if not known.refused:
                raise
            return None
