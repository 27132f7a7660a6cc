"""One way of an automaton as a program.

Its exact probability, and how much likelier it gets under one of two streams.

One way of an automaton as a program, of which the engine for programs has the closed form.

The case that is made has the two streams as its only neighbours. Its output is "way" if the run takes the
way, and "other" as soon as it does not. Where a number is put out, the way asks that it lies in an interval
around 0 of the given width: a set of outputs. A whole number is put out as it is: see `heights`.

The case of one way, where its exponents are small enough for the engine for programs.

Probabilities of a way are quotients of polynomials in x = exp(−step·ε), where `step` is the greatest common
divisor of all exponents. Densities of samples that are compared change at their centres, and at the borders
of what is put out: each sample k brings d_k times the distance between two of these numbers. So the degrees
are known before any polynomial is made. A library that makes one of a degree of 10^10 ends the process.

How much likelier a way gets under one of two streams as ε grows: a lower bound for entries of few values.

For a stream α let V(α) = min Σ d_k·|x_k − c_k| over samples x in the order of a way, where c_k is the entry
plus the mean. For ε → ∞, ln Pr_α(way)/ε goes to −V(α): the set of these samples is the closure of its
interior, and V is the least exponent there. **So for each D < V(β) − V(α) there is an ε at which the way is
more than exp(D·ε + b) times as likely under α as under β, whatever b is.** Numbers that are put out are those
that are likeliest under α; the densities near them are compared.

V is a sum of least cuts: between two neighbouring numbers among the c_k, those samples lie above that are in
a set closed upwards, and each one on the wrong side of its c_k costs d_k. Maximal flows show that V(β) is no
less, and a point x shows that V(α) is no more.

The exact probability of one way for two streams, as a function of ε, and the loss at a given ε.

The engine for programs has the closed form of the program of the way (`automata.way_programs`): a quotient of
polynomials in x = exp(−step·ε), and in ε itself where rates are equal. At an ε it is enclosed by balls.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import gcd, lcm, prod
from pathlib import Path

from flint import arb, fmpq

from paramverify.algebra.constants import MAX_EXPONENT, lower_bound, upper_bound, working_precision
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring
from paramverify.automata.automaton import GEOMETRIC, SAMPLE, SECOND, Automaton, comparisons
from paramverify.automata.stream_cases import StreamBudget
from paramverify.automata.way_costs import Flow, Way, largest_flow, links
from paramverify.errors import InputError, LimitError
from paramverify.files import standing_in
from paramverify.models.model import Model, of_privacy
from paramverify.models.programs.noise_densities import MAX_DEGREE as MOST_POWER
from paramverify.privacy.cases import PrivacyCase, load

PARAMETER = "eps"
WAY, OTHER = "way", "other"  # what the program of a way puts out


@dataclass(frozen=True)
class Streams:
    """Two streams whose entries differ by 1 at most, in the order of the inputs that a way reads."""

    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]


def streams(automaton: Automaton, way: Way, times: int, reach: Fraction = Fraction(1)) -> Streams:
    """Returns two streams in the direction of a way's differences, so many times `reach` away from the means.

    Entries that differ do so by `reach`. For large times, ln of the ratio of the probabilities comes near to
    the cost times `reach` times epsilon.
    """
    first, second = [], []
    for number, sign in zip(way.steps, way.signs, strict=True):
        state = automaton.state_of(automaton.transitions[number])
        if state.reads:
            first.append(-times * sign * reach - state.mean)
            second.append(-(times + 1) * sign * reach - state.mean)
    return Streams(tuple(first), tuple(second))


def streams_within(
    automaton: Automaton, way: Way, times: int, given: tuple[Collection[Fraction], Fraction], start: Fraction
) -> Streams | None:
    """Returns two streams of these values in the direction of a way's differences; None if there are none.

    `given` has the values and the largest difference. Entries that differ have the largest difference that
    there is. They come as near as they can to those of `streams`, moved by `start`.
    """
    values, reach = given
    near = [(a, b) for a in values for b in values if abs(a - b) <= reach]
    by_sign = {sign: [(a, b) for a, b in near if _sign(a - b) == sign] for sign in {*way.signs}}
    first, second = [], []
    for number, sign in zip(way.steps, way.signs, strict=True):
        state = automaton.state_of(automaton.transitions[number])
        if not state.reads:
            continue
        wanted = start - times * sign * reach - state.mean
        if not by_sign[sign]:
            return None
        one, other = min(by_sign[sign], key=partial(_far, wanted))
        first.append(one)
        second.append(other)
    return Streams(tuple(first), tuple(second))


def _far(wanted: Fraction, pair: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction, Fraction]:
    """Returns how small the difference of a pair is, how far the first number is from another one, and it."""
    return -abs(pair[0] - pair[1]), abs(pair[0] - wanted), pair[0]


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def with_entry(automaton: Automaton, steps: Sequence[int], given: Streams) -> Streams:
    """Returns streams that are long enough for a way: with one entry more if the automaton is late.

    The entry is the same in both, and one of the first stream. It makes no difference to the way.
    """
    count = sum(automaton.state_of(automaton.transitions[number]).reads for number in steps)
    if not automaton.late or len(given.first) != count:
        return given
    last = given.first[:1] or (Fraction(0),)
    return Streams((*given.first, *last), (*given.second, *last))


def heights(automaton: Automaton, steps: Sequence[int]) -> list[int]:
    """Returns whole numbers in the order of a way, as near to each other as they can be; 0 is the least."""
    holder: dict[int, int] = {}
    pairs: list[tuple[int, int, bool]] = []
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        pairs += [(holder[v], place, v in step.apart) for v in step.above]
        pairs += [(place, holder[v], v in step.apart) for v in step.below]
        holder |= dict.fromkeys(step.stored, place)
    found = [0] * len(steps)
    for _ in steps:
        for low, high, apart in pairs:
            found[high] = max(found[high], found[low] + apart)
    return found


def program(automaton: Automaton, steps: Sequence[int], width: Fraction) -> str:
    """Returns the text of the program that says whether a run takes a way."""
    lines: list[str] = []
    holder: dict[int, str] = {}
    read, whole = 0, automaton.noise == GEOMETRIC
    put_out = heights(automaton, steps) if whole else []
    for place, number in enumerate(steps):
        step = automaton.transitions[number]
        state = automaton.state_of(step)
        given, sample = "0", f"s{place}"
        if state.reads:
            given, read = f"q[{read}]", read + 1
        lines.append(f"{sample} = {given} + {state.mean} + {_noise(automaton, state.rate)}")
        tests = [f"{sample} {sign} {holder[v]}" for sign, v in comparisons(step)]
        if step.releases:
            tests += [f"{sample} == {put_out[place]}"] if whole else _near(sample, width)
        elif step.output == SECOND and state.second is not None:
            rate, mean = state.second
            lines.append(f"t{place} = {given} + {mean} + {_noise(automaton, rate)}")
            tests += [f"t{place} == 0"] if whole else _near(f"t{place}", width)
        for test in tests:
            lines += [f"if not ({test}):", f'    output("{OTHER}")', "    stop"]
        holder |= dict.fromkeys(step.stored, sample)
    return "\n".join([*lines, f'output("{WAY}")', ""])


def numbers_put_out(automaton: Automaton, steps: Sequence[int]) -> list[int]:
    """Returns the whole numbers that the program of a way asks for, in their order."""
    found = heights(automaton, steps)
    own = {SAMPLE: found, SECOND: [0] * len(found)}
    words = [automaton.transitions[number].output for number in steps]
    return [own[word][place] for place, word in enumerate(words) if word in own]


def _noise(automaton: Automaton, rate: Fraction) -> str:
    if automaton.noise == GEOMETRIC:
        return f"geometric(exp(-{rate} * {PARAMETER}))"
    return f"laplace(1 / ({rate} * {PARAMETER}))"


def _near(sample: str, width: Fraction) -> list[str]:
    return [f"{sample} >= {-width}", f"{sample} < {width}"]


def released(automaton: Automaton, steps: Sequence[int]) -> bool:
    """Tells whether a way puts out numbers."""
    return any(automaton.transitions[number].output in (SAMPLE, SECOND) for number in steps)


def case_of_all(
    automaton: Automaton,
    steps: Sequence[int],
    given: Sequence[Streams],
    budget: StreamBudget,
    width: Fraction,
) -> str:
    """Returns the case that asks whether a budget is enough for one way and several pairs of streams."""
    listed = ", ".join(f"[{_listed(pair.first)}, {_listed(pair.second)}]" for pair in given)
    body = program(automaton, steps, width)
    values = sorted({x for pair in given for x in (*pair.first, *pair.second)})
    told = ", ".join(_quoted(str(value)) for value in values)
    return f'''title = "One way of an automaton"

[parameters]
{PARAMETER} = "(0, oo)"

[mechanism]
kind = "program"
source = """
{body}"""

[mechanism.inputs]
q = {{ length = {len(given[0].first)}, values = [{told}] }}

[neighbours]
pairs = [{listed}]

[privacy]
epsilon = "{budget.text(PARAMETER)}"
'''


def _listed(stream: Sequence[Fraction]) -> str:
    return f"[{', '.join(_quoted(str(value)) for value in stream)}]"


def _quoted(text: str) -> str:
    return text if text.lstrip("-").isdigit() else f'"{text}"'


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


MOST_PAIRS = 300  # pairs of streams that are all tried
MOST_EVALUATED = 2_000

Pair = tuple[Fraction, Fraction]  # an entry of both streams


@dataclass(frozen=True)
class Gap:
    """V(β) − V(α) = `size` on a way, for α = `stream_programs.first` and β = `stream_programs.second`.

    `point` are samples that show V(α), `levels` flows between two numbers that show V(β).
    """

    steps: tuple[int, ...]
    streams: Streams
    point: tuple[Fraction, ...]
    levels: tuple[tuple[Fraction, Fraction, Flow], ...]
    size: Fraction


@dataclass(frozen=True)
class _Way:
    """What is known of the samples of a way: their order, rates, means, and which are put out."""

    automaton: Automaton
    steps: tuple[int, ...]
    order: frozenset[tuple[int, int]]
    rates: tuple[Fraction, ...]
    released: tuple[bool, ...]

    @staticmethod
    def of(automaton: Automaton, steps: Sequence[int]) -> _Way:
        known = [automaton.transitions[number] for number in steps]
        return _Way(
            automaton,
            tuple(steps),
            links(automaton, steps),
            tuple(automaton.state_of(step).rate for step in known),
            tuple(step.releases for step in known),
        )

    def centres(self, entries: Sequence[Fraction]) -> list[Fraction]:
        """Returns the numbers around which the samples lie."""
        left = iter(entries)
        states = [self.automaton.state_of(self.automaton.transitions[number]) for number in self.steps]
        return [state.mean + (next(left) if state.reads else 0) for state in states]

    def gap(self, given: Streams) -> Gap:
        """Returns the gap of two streams."""
        room = sum(self.rates, Fraction(1))
        one, other = self.centres(given.first), self.centres(given.second)
        point, size = [min(one)] * len(one), Fraction(0)
        for _, high in pairwise(sorted({*one})):
            _, _, above = largest_flow(self.order, self.rates, [c >= high for c in one])
            point = [high if k in above else x for k, x in enumerate(point)]
        size -= sum(r * abs(x - c) for r, x, c in zip(self.rates, point, one, strict=True))
        levels = []
        ends = [x if put_out else c for c, x, put_out in zip(other, point, self.released, strict=True)]
        limits = [room if put_out else r for r, put_out in zip(self.rates, self.released, strict=True)]
        for low, high in pairwise(sorted({*ends})):
            value, flow, _ = largest_flow(self.order, limits, [c >= high for c in ends])
            size += value * (high - low)
            levels.append((low, high, flow))
        size += sum(r * abs(c - e) for r, c, e in zip(self.rates, other, ends, strict=True))
        size += sum(self._second(given))
        return Gap(self.steps, given, tuple(point), tuple(levels), size)

    def _second(self, given: Streams) -> Iterator[Fraction]:
        """Yields what it costs that insample' is put out, at its likeliest number under the first stream."""
        left = iter(zip(given.first, given.second, strict=True))
        for number in self.steps:
            step = self.automaton.transitions[number]
            if self.automaton.state_of(step).reads:
                a, b = next(left)
                yield self.automaton.second_rate(step) * abs(a - b)


def reads(automaton: Automaton, steps: Sequence[int]) -> int:
    """Returns how many inputs a way reads."""
    return sum(automaton.state_of(automaton.transitions[number]).reads for number in steps)


def near_pairs(values: Iterable[Fraction], reach: Fraction) -> list[Pair]:
    """Returns the pairs of values that one entry may have in two streams, those that differ most first."""
    ordered = sorted(values)
    pairs = [(a, b) for a in ordered for b in ordered if abs(a - b) <= reach]
    return sorted(pairs, key=lambda pair: (-abs(pair[0] - pair[1]), abs(pair[0]), pair))


def choices(pairs: Sequence[Pair], length: int, one: bool) -> Iterator[list[list[Pair]]]:
    """Yields what the entries of two neighbouring streams may be; only `one` entry differs, or each."""
    if not one:
        yield [list(pairs)] * length
        return
    equal, apart = [p for p in pairs if p[0] == p[1]], [p for p in pairs if p[0] != p[1]]
    for place in range(length):
        yield [apart if k == place else equal for k in range(length)]


def all_streams(pairs: Sequence[Pair], length: int, one: bool, most: int) -> list[Streams] | None:
    """Returns all neighbouring streams of a length; None if there are more than `most`."""
    options = list(choices(pairs, length, one))
    if sum(prod(len(own) for own in chosen) for chosen in options) > most:
        return None
    return [_streams(entries) for chosen in options for entries in product(*chosen)]


def _streams(entries: Sequence[Pair]) -> Streams:
    return Streams(tuple(a for a, _ in entries), tuple(b for _, b in entries))


@dataclass(eq=False)
class Widest:
    """Looks for the widest gap, as long as there is time, and not beyond `goal`."""

    automaton: Automaton
    pairs: Sequence[Pair]
    one: bool
    goal: Fraction | None
    until: float
    best: Gap | None = None
    count: int = 0

    @property
    def size(self) -> Fraction:
        """The widest gap so far."""
        return Fraction(0) if self.best is None else self.best.size

    @property
    def over(self) -> bool:
        """Whether the goal is reached, or no more is tried."""
        reached = self.goal is not None and self.size >= self.goal
        return reached or self.count >= MOST_EVALUATED or time.monotonic() > self.until

    def first(self, steps: Sequence[int], starts: Iterable[Streams]) -> None:
        """Tries some streams on a way."""
        way = _Way.of(self.automaton, steps)
        for given in starts:
            if not self.over:
                self.try_one(way, given)

    def look(self, steps: Sequence[int], starts: Iterable[Streams]) -> None:
        """Tries a way: all pairs of streams if they are few, else from some on, one entry after another."""
        way, length = _Way.of(self.automaton, steps), reads(self.automaton, steps)
        every = all_streams(self.pairs, length, self.one, MOST_PAIRS)
        for given in every if every is not None else ():
            if self.over:
                return
            self.try_one(way, given)
        for given in starts if every is None else ():
            self.climb(way, given)

    def try_one(self, way: _Way, given: Streams) -> Fraction:
        """Evaluates two streams."""
        self.count += 1
        found = way.gap(given)
        if found.size > self.size:
            streams = with_entry(self.automaton, found.steps, given)
            self.best = replace(found, streams=streams)
        return found.size

    def climb(self, way: _Way, given: Streams) -> None:
        """Changes one entry after another where that makes the gap wider."""
        entries = list(zip(given.first, given.second, strict=True))
        best, better = self.try_one(way, given), True
        while better:
            better = False
            for place, own in enumerate(entries):
                for pair in self._instead(own):
                    tried = [*entries[:place], pair, *entries[place + 1 :]]
                    size = Fraction(0) if self.over else self.try_one(way, _streams(tried))
                    if size > best:
                        best, entries, better = size, tried, True

    def _instead(self, own: Pair) -> list[Pair]:
        """Returns what an entry may be instead; where one entry differs, it does so at the same place."""
        return [p for p in self.pairs if not self.one or (p[0] == p[1]) == (own[0] == own[1])]


BITS = (256, 1024, 4096, 16384, 65536)  # one after another, until a loss is known well enough
KNOWN = Fraction(1, 2**40)  # how wide the bounds of a loss may be, as a part of it
MOST_CHANCE_DEGREE = 10**7  # of polynomials with few terms, which are only evaluated
TIMES = (0, 16, 256)  # how far away from the means the streams are


@dataclass(frozen=True, eq=False)
class Chances:
    """Two streams, and the probabilities of a way under both, in the variables that `meant` explains."""

    way: Way
    streams: Streams
    both: tuple[RationalFunction, RationalFunction]
    ring: Ring

    @property
    def meant(self) -> tuple[str, ...]:
        """What the variables stand for, such as `x_eps = exp(-eps/4)`."""
        return tuple(f"{u.variable} = {u.meaning}" for u in self.ring.unbounded)

    def loss(self, epsilon: Fraction, until: float) -> LossRange | None:
        """Returns how much likelier the way is under the first stream, at an ε; None if it is not likelier.

        None also if the probabilities are so near to 0, or to each other, that no bound is known in time.
        """
        for bits in BITS:
            bounds = _logarithm(self.both, self.ring, epsilon, bits)
            if bounds is not None and (bounds[1] <= 0 or bounds[1] - bounds[0] <= KNOWN * bounds[0]):
                break
            if time.monotonic() > until:
                break
        if bounds is None or bounds[0] <= 0:
            return None
        return LossRange(self, bounds[0], min(bounds[1], self.way.cost * epsilon))


@dataclass(frozen=True, eq=False)
class LossRange:
    """low ≤ ln of the quotient of two probabilities ≤ high, at an ε."""

    chances: Chances
    low: Fraction
    high: Fraction


def chances(automaton: Automaton, way: Way, given: Streams, width: Fraction) -> Chances | None:
    """Returns the exact probabilities of a way for two streams; None if they are beyond the engine."""
    given = with_entry(automaton, way.steps, given)
    case = way_case(automaton, way.steps, [given], StreamBudget(Fraction(1)), width, most=MOST_CHANCE_DEGREE)
    if case is None:
        return None
    model = of_privacy(case.model, "this", tied=True, densities=True)
    return Chances(way, given, (_chance(model, 0), _chance(model, 1)), model.domain.ring)


def largest(
    automaton: Automaton,
    way: Way,
    width: Fraction,
    epsilon: Fraction,
    until: float,
    reach: Fraction = Fraction(1),
) -> LossRange | None:
    """Returns the largest loss of streams in the direction of a way's differences that was found.

    Entries that differ do so by `reach`. The loss is a lower bound of the budget at this ε, and comes near to
    it where streams are far away.
    """
    best, costs = None, replace(way, cost=way.cost * reach)
    for times in TIMES:
        if time.monotonic() > until:
            break
        known = chances(automaton, costs, streams(automaton, way, times, reach), width)
        found = None if known is None else known.loss(epsilon, until)
        if found is not None and (best is None or found.low > best.low):
            best = found
    return best


def loss_of(
    automaton: Automaton, gap: Gap, width: Fraction, epsilon: Fraction, until: float, *, enough: Fraction
) -> LossRange | None:
    """Returns the loss of the two streams of a gap at an ε; `enough`·ε is a budget for them."""
    way = Way(gap.steps, (), enough, ({}, {}))
    known = chances(automaton, way, gap.streams, width)
    return None if known is None else known.loss(epsilon, until)


def _chance(model: Model, side: int) -> RationalFunction:
    pair = model.pairs[0]
    start = (pair.pi, pair.tau)[side]
    total = model.hmm.ring.number(0)
    for state, weight in start.weights.items():
        for step in model.hmm.steps[state]:
            if model.hmm.observations[step.observation] == WAY:
                total += weight * step.weight
    return RationalFunction.of(total, start.mass * model.hmm.denominator)


def _logarithm(
    both: tuple[RationalFunction, RationalFunction], ring: Ring, epsilon: Fraction, bits: int
) -> tuple[Fraction, Fraction] | None:
    """Returns bounds of ln of a quotient, computed with so many bits; None if these are too few."""
    with working_precision(bits):
        value = arb(fmpq(epsilon.numerator, epsilon.denominator))
        point: dict[str, arb] = {}
        for known in ring.unbounded:
            step = fmpq(known.step.numerator, known.step.denominator)
            point |= {known.variable: (-value * arb(step)).exp(), known.name: value}
        first, second = (_at(f.numerator, point) / _at(f.denominator, point) for f in both)
        found = (first / second).log()
        return (lower_bound(found), upper_bound(found)) if found.is_finite() else None


def _at(polynomial: Polynomial, point: Mapping[str, arb]) -> arb:
    names, total = polynomial.context().names(), arb(0)
    for powers, factor in polynomial.to_dict().items():
        term = arb(factor)
        for name, power in zip(names, powers, strict=True):
            if power:
                term *= point[str(name)] ** int(power)
        total += term
    return total
