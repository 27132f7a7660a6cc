"""One way of an automaton as a program, of which the engine for programs has the closed form.

The case that is made has the two streams as its only neighbours. Its output is "way" if the run takes the
way, and "other" as soon as it does not. Where a number is put out, the way asks that it lies in an interval
around 0 of the given width: a set of outputs. A whole number is put out as it is: see `heights`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from paramverify.automata.automaton import GEOMETRIC, SAMPLE, SECOND, Automaton, comparisons
from paramverify.automata.budgets import StreamBudget
from paramverify.automata.ways import Way

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
