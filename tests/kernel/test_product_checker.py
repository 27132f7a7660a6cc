"""The checker of the pair that stands for all: what has to be shown, and what is none."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any

import pytest
from claim_documents import document, statement
from three_checkers import asked_later

from paramverify.kernel import worst_pair_evidence as product_checker
from paramverify.kernel.ledger import KernelReport
from paramverify.kernel.proof_goals import Goal, WrittenClaim
from paramverify.kernel.strict_reading import Misformed, Rejected
from paramverify.kernel.worst_pair_evidence import check_everywhere, check_largest, reach

checked, compared_with_the_proved_checker = asked_later()

Input = tuple[int, ...]

NOISES = {
    "two values": [["3/4", "1/4"], ["1/3", "2/3"]],
    "three values": [["1/2", "1/3", "1/6"], ["1/5", "3/5", "1/5"], ["1/7", "2/7", "4/7"]],
    "uneven": [["1/2", "1/4", "1/4"], ["1/8", "1/8", "3/4"], ["2/5", "2/5", "1/5"]],
    "never the largest": [["1/2", "1/2", "0"], ["1/4", "3/4", "0"], ["2/3", "1/3", "0"]],
    "certain": [["1", "0"], ["1/2", "1/2"]],
}


def chances(noise: list[list[str]], given: Input, ties: str) -> tuple[Fraction, ...]:
    """Returns the probabilities of the outputs of noisy max, from the definition."""
    found = [Fraction(0)] * len(given)
    for noisy in product(range(len(noise)), repeat=len(given)):
        chance = prod((Fraction(noise[v][w]) for v, w in zip(given, noisy, strict=True)), start=Fraction(1))
        winners = [k for k, w in enumerate(noisy) if w == max(noisy)]
        for k in winners if ties == "uniform" else winners[:1]:
            found[k] += chance / (len(winners) if ties == "uniform" else 1)
    return tuple(found)


def neighbours(left: Input, right: Input, differ: str, step: int) -> bool:
    """Tells whether two inputs are neighbours; an input is one of itself."""
    changes = [abs(x - y) for x, y in zip(left, right, strict=True) if x != y]
    return all(d <= step for d in changes) and (differ == "each" or len(changes) < 2)


def ratio(left: tuple[Fraction, ...], right: tuple[Fraction, ...]) -> Fraction | None:
    """Returns the largest ratio of two rows of probabilities in either direction, None if it is infinite."""
    if any(bool(p) != bool(q) for p, q in zip(left, right, strict=True)):
        return None
    return max(max(p / q, q / p) for p, q in zip(left, right, strict=True) if p)


def accepted(pair: dict[str, Any]) -> str | None:
    """Returns what the checker says, None if it rejects the pair."""
    try:
        return check_largest(pair)
    except Rejected:
        return None


GOOD: dict[str, Any] = {
    "noise": NOISES["three values"],
    "ties": "first",
    "answers": 3,
    "differ": "each",
    "by": "1",
    "left": [0, 1, 1],
    "right": [1, 0, 0],
}


@cache
def best_pair(answers: int, ties: str, step: int) -> tuple[Input, Input]:
    """Returns neighbours with the largest ratio, where every answer may change, by enumeration."""
    inputs = [*product(range(3), repeat=answers)]
    known = {given: chances(GOOD["noise"], given, ties) for given in inputs}
    pairs = [(x, y) for x in inputs for y in inputs if neighbours(x, y, "each", step)]
    return max(pairs, key=lambda pair: ratio(known[pair[0]], known[pair[1]]) or 0)


def best_statement(ties: str = "first", answers: int = 3, by: str = "1") -> dict[str, Any]:
    """Returns a statement about a pair that is right."""
    left, right = best_pair(answers, ties, 3 if by == "any" else int(by))
    return {**GOOD, "ties": ties, "answers": answers, "by": by, "left": [*left], "right": [*right]}


@pytest.mark.parametrize(
    "noise",
    [
        [["3/2", "-1/2"], ["1/2", "1/2"]],
        [["1/2", "1/2"], ["3/2", "-1/2"]],
        [["1/2", "1/4"], ["1/4", "1/2"]],
        [["1/2", "1/2"], ["1/2", "1"]],
        [["1/4", "1/4", "1/2"], ["1/4", "1/4", "1/2"]],
        [["1"], ["1"]],
        [["1/2", "1/2"], ["1"]],
        [["1"], ["1/2", "1/2"]],
    ],
)
@pytest.mark.parametrize("ties", ["uniform", "first"])
def test_rows_that_are_no_distributions_are_rejected(noise: list[list[str]], ties: str) -> None:
    """Rows that are negative somewhere, sum to another number or have another length are refused."""
    for left, right in product(product(range(2), repeat=2), repeat=2):
        pair = {**GOOD, "noise": noise, "ties": ties, "answers": 2, "left": [*left], "right": [*right]}
        with pytest.raises(Rejected, match="no distribution"):
            check_largest(pair)


@pytest.mark.parametrize("value", [3, -1])
@pytest.mark.parametrize("side", ["left", "right"])
def test_answers_out_of_range_are_named(value: int, side: str) -> None:
    """Also where any change makes neighbours, an answer is an index of the noise; −1 is not the last one."""
    pair = best_statement("first", 2, "any")
    assert accepted(pair)
    for place in (0, 1):
        wrong = [value if k == place else v for k, v in enumerate(pair[side])]
        with pytest.raises(Rejected, match="not a pair of neighbouring inputs"):
            check_largest({**pair, side: wrong})


CLAIM = {"variables": [], "box": {}, "constraints": []}
CONSTANT = {"kind": "constant"}


def beside(polynomial: str, **more: Any) -> KernelReport:
    """Returns the report on a claim about the right pair."""
    known = best_statement("uniform")
    origin = f"{tuple(known['left'])} against {tuple(known['right'])}, output 1"
    claim = statement({**CLAIM, "polynomial": polynomial}, CONSTANT, origins=[origin])
    return checked(document(claim, **more))


def test_a_pair_changes_no_other_verdict() -> None:
    """A report is accepted iff it was and the pair is right; without a pair it stays."""
    right = best_statement("uniform")
    good, bad = beside("1"), beside("-1")
    assert (good.accepted, bad.accepted) == (True, False)
    found = beside("1", reduction=right)
    assert (found.accepted, found.lines[:-1]) == (True, good.lines)
    assert "largest ratio of all neighbours" in found.lines[-1]
    assert beside("-1", reduction=right) == bad
    other = {**right, "left": [0, 0, 0], "right": [1, 0, 0]}
    assert "about another pair than that of the reduction" in beside("1", reduction=other).lines[0]
    turned = {**right, "left": right["right"], "right": right["left"], "noise": GOOD["noise"][::-1]}
    assert "have a neighbour with a larger ratio" in beside("1", reduction=turned).lines[0]
    plain = document(statement({**CLAIM, "polynomial": "1"}, CONSTANT), reduction=right)
    assert "statements[0]: this is about another pair" in checked(plain).lines[0]
    unknown = beside("1", reduction={**right, "ties": "last"})
    assert "reduction.ties: must be 'uniform' or 'first'" in unknown.lines[0]


# --- what has to be shown of noise with parameters, here of numbers -------------------------------------

WEIGHTS = [["1", "2/3", "1/3"], ["2/5", "6/5", "2/5"], ["2/7", "4/7", "8/7"]]  # their rows have the sum 2
ZEROS = [["0", "1", "1"], ["1", "1", "0"], ["0", "0", "2"]]
OWN, OTHERS = [2, 1, 2], [0, 1, 0, 1]


def stated(noise: list[list[str]], ties: str, how: str, step: int, output: int) -> dict[str, Any]:
    """Returns a statement about the pair whose own answer falls, and whose others rise if each may change."""
    differ, rise = ("one", 0) if how == "ends" else ("each", step)
    left = [2 if k == output else 0 for k in (1, 2, 3)]
    right = [v - step if k == output else v + rise for k, v in enumerate(left, 1)]
    own = {
        **GOOD,
        "noise": noise,
        "ties": ties,
        "how": how,
        "differ": differ,
        "by": "any" if step > 1 else "1",
    }
    return {**own, "left": left, "right": right, "output": output, "own": OWN, "others": OTHERS}


def needed(given: dict[str, Any], step: int) -> Counter[tuple[Fraction, bool]]:
    """Returns the numbers that are to be at least zero, or above it, with probabilities by enumeration."""
    ties, how, top = given["ties"], given["how"], 2
    rows = [[Fraction(c) for c in row] for row in given["noise"]]
    sums = [[sum(row[:v], Fraction(0)) for v in range(top + 2)] for row in rows]

    def chance(answers: Sequence[int], output: int) -> Fraction:
        return chances(given["noise"], tuple(answers), ties)[output - 1]

    best, bottom = (chance(given[side], given["output"]) for side in ("left", "right"))
    weak = [c for row in rows for c in row]
    weak += [sums[f][v] - sums[f + 1][v] for f in range(top) for v in range(1, top + 1)]
    strict = [best]
    for k in range(1 if ties == "uniform" else 3):  # the place of the own answer
        pairs: list[tuple[list[int], list[int]]] = []
        for x in product(range(top + 1), repeat=3) if how == "classes" else ():
            least = all(v <= top - step for j, v in enumerate(x) if j != k) and x[k] >= step
            if least and [*x] == [*sorted(x[:k]), x[k], *sorted(x[k + 1 :])]:
                pairs.append(([*x], [v - step if j == k else v + step for j, v in enumerate(x)]))
        for f in range(top - step + 1) if how == "ends" else ():
            places = [(k, top, f + step, f), *((j, 0, f, f + step) for j in {k - 1, k + 1} & {0, 1, 2})]
            for j, a, *ends in places:
                x, y = ([v if i == j else a for i in range(3)] for v in ends)
                pairs.append((x, y))
        for x, y in pairs:
            strict += [chance(x, k + 1)] * (how == "ends")
            weak.append(best * chance(y, k + 1) - chance(x, k + 1) * bottom)
        for v in range(top + 1) if how == "terms" else ():
            a, b = (
                rows[OWN[v] - m][v] * sums[OTHERS[v] + m][v] ** k * sums[OTHERS[v + 1] + m][v + 1] ** (2 - k)
                for m in (0, step)
            )
            weak += [best * b - a * bottom] * bool(a)
    for table, named, by in ((rows, OWN, -step), (sums, OTHERS, step)) if how == "terms" else ():
        for v, g in enumerate(named):
            if any(each[v] for each in table):
                strict.append(table[g][v])
                others = (f for f in range(top + 1) if f != g and 0 <= f + by <= top)
                weak += [table[g][v] * table[f + by][v] - table[f][v] * table[g + by][v] for f in others]
    near = {(f, f + step) for f in range(top - step + 1)} | {(0, f) for f in range(1, top + 1)}
    for table, pairs_of in ((rows, near), (sums, near | {(f, top) for f in range(top)})):
        for (f, g), s in product(pairs_of, range(len(table[0]))) if how == "ends" else ():
            weak += [table[g][s] * table[f][u] - table[g][u] * table[f][s] for u in range(s)]
    return Counter([*((c, False) for c in weak), *((c, True) for c in strict)])


@pytest.mark.parametrize("noise", [WEIGHTS, ZEROS])
@pytest.mark.parametrize(
    ("ties", "how", "step"),
    [*product(("uniform", "first"), ("classes", "ends"), (1, 2)), ("first", "terms", 1)],
)
def test_what_has_to_be_shown(noise: list[list[str]], ties: str, how: str, step: int) -> None:
    """Every number is one of the definition, and none is missing."""
    for output in (1,) if ties == "uniform" else (1, 2, 3):
        given = stated(noise, ties, how, step, output)
        about = product_checker._read(given, ())
        pair = product_checker._read_least(given, about)
        found = product_checker._needs(given, about, pair)
        assert Counter((poly.get((), Fraction(0)), strict) for poly, strict in found) == needed(given, step)


PAIR = stated(WEIGHTS, "first", "classes", 1, 2)  # [0, 2, 0] against [1, 1, 1]
NEVER = {"noise": [["1", "0"]] * 2, "answers": 2, "left": [0, 1], "right": [1, 0], "proofs": [CONSTANT] * 2}
NONE: list[tuple[Any, str]] = [
    *((PAIR | change, "or not the worst one") for change in ({"output": 0}, {"output": 4}, {"output": 1})),
    *((PAIR | {"right": right}, "or not the worst one") for right in ([1, 1, 0], [1, 2, 1])),
    (PAIR | {"left": [1, 2, 0], "right": [0, 1, 1]}, "or not the worst one"),
    (PAIR | {"ties": "uniform"}, "or not the worst one"),
    *(
        (PAIR | {"left": left, "right": right}, "the pair is not a pair of neighbouring inputs")
        for left, right in (([0, 2, 0], [1, 1, 3]), ([0, 2], [1, 1]), ([0, 2, 0, 0], [1, 1, 1]))
    ),
    *((PAIR | {"by": by}, "must be 'any' or the digits") for by in ("", "0", "01", "-1", "x", "1234567890")),
    (PAIR | {"how": "ends"}, "this does not belong to these neighbours and ties"),
    (stated(WEIGHTS, "uniform", "terms", 1, 1), "this does not belong to these neighbours and ties"),
    (stated(WEIGHTS, "first", "ends", 1, 2) | {"how": "classes"}, "this does not belong to these neighbours"),
    (PAIR | NEVER, "a proof is missing that the pair has the largest ratio"),
]


@pytest.mark.parametrize(("given", "reason"), NONE)
def test_pairs_and_ways_that_are_none(given: dict[str, Any], reason: str) -> None:
    """The pair, its step, the output and the way belong to the neighbours and ties, and proofs are there."""
    with pytest.raises((Rejected, Misformed), match=reason):
        check_everywhere({"proofs": [], **given}, WrittenClaim(Goal((), {}, {}, ()), None))


TIED = {**CLAIM, "variables": ["x", "e"], "box": {"x": "[1/2, 1]"}, "ties": {"e": ["x", "1"]}}


def test_claims_are_on_the_domain_of_the_pair() -> None:
    """A claim about other points is refused; no variable stands for a logarithm."""
    origin = f"{tuple(PAIR['left'])} against {tuple(PAIR['right'])}, output 2"
    for domain, other, reason in (
        (CLAIM, CLAIM, "a proof is missing"),
        (
            {**CLAIM, "variables": ["p"], "box": {"p": "[0, 1]"}},
            CLAIM,
            "another domain than that of the pair",
        ),
        (TIED, TIED, "a variable stands for a logarithm"),
    ):
        claim = statement({**other, "polynomial": "1"}, CONSTANT, origins=[origin])
        given = document(claim, reduction={**PAIR, "domain": domain, "proofs": []})
        assert reason in checked(given).lines[0]


def test_steps_and_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers change within their range; as many classes as the limit are listed; one value has one ratio."""
    assert [reach(by, 2) for by in ("any", "1", "2", "3", "123456789")] == [2, 1, 2, 2, 2]
    one = {**GOOD, "noise": [["1"]], "answers": 1, "left": [0], "right": [0]}
    assert check_largest(one) == "(0,) against (0,) has the largest ratio of all neighbours: 1"
    monkeypatch.setattr(product_checker, "MAX_ENTRIES", 3 * 6)  # an own answer, and multisets of two others
    assert check_largest(best_statement("uniform"))
    monkeypatch.setattr(product_checker, "MAX_ENTRIES", 3 * 6 - 1)
    with pytest.raises(Rejected, match="too many classes of inputs to check"):
        check_largest(best_statement("uniform"))
    for ties, count in (("uniform", 6), ("first", 20)):  # own answers 1 and 2, and multisets of 0 and 1
        about = product_checker._read(PAIR | {"ties": ties}, ())
        monkeypatch.setattr(product_checker, "MAX_CLASSES", count)
        assert len(list(product_checker._classes(about))) == count
        monkeypatch.setattr(product_checker, "MAX_CLASSES", count - 1)
        with pytest.raises(Rejected, match="too many classes of inputs to check"):
            list(product_checker._classes(about))
