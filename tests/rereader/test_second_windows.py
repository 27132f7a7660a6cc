"""Windows of large priors, read a second time: beside sums over all values, and what has no windows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.rereader import second_windows
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_reader import SecondReader
from paramverify.rereader.second_windows import NearSecrets, keep_bound

F = Fraction
NAMES = "abcd"
NOISE = [["1/2", "1/2"], ["2/3", "1/3"], ["1/4", "3/4"], ["2/5", "3/5"], ["1/7", "6/7"], ["3/8", "5/8"]]
NOISE += [["1/9", "8/9"], ["4/7", "3/7"]]
CHAINS: dict[str, list[Mapping[int, str]]] = {
    "all": [{0: "1/3", 1: "2/3"}, {0: "1/4", 1: "3/4"}, {0: "1-p", 1: "p"}],
    "zeros": [{0: "1/2", 1: "1/2"}, {0: "1/3", 2: "2/3"}, {1: "1/5", 2: "4/5"}, {0: "1-p", 1: "p"}],
    "other": [{0: "1/2", 1: "1/2"}, {0: "1/3", 1: "2/3"}, {1: "1"}],
    "never": [{0: "1/2", 1: "1/2"}, {0: "1"}, {0: "1/3", 1: "2/3"}],
}
P = F(3, 7)


def row(texts: Mapping[int, str]) -> dict[int, Fraction]:
    return {v: {"p": P, "1-p": 1 - P}.get(t) or F(t) for v, t in texts.items()}


def toml(texts: Mapping[int, str]) -> str:
    return "{ " + ", ".join(f'{v} = "{text}"' for v, text in texts.items()) + " }"


def case(chain: str, secret: str, ratio: object) -> str:
    """A chain of four variables; the last three depend on the one before."""
    first, *rows = CHAINS[chain]
    table = ", ".join(f"{k} = {toml(texts)}" for k, texts in enumerate(rows))
    prior = [f"a = {{ categorical = {toml(first)} }}"]
    prior += [f'{n} = {{ given = "{m}", table = {{ {table} }} }}' for m, n in zip("abc", "bcd", strict=True)]
    return f"""[parameters]
p = "[1/10, 9/10]"
[prior]
{chr(10).join(prior)}
[secrets]
no = "{secret} == 0"
yes = "{secret} == 1"
pairs = [["no", "yes"]]
[mechanism]
kind = "geometric"
query = "a + b + c + d"
noise = {{ table = {NOISE!r} }}
[privacy]
ratio = "{ratio}"
"""


def least(chain: str, secret: str, distance: int) -> Fraction | None:
    """The least bound that the window keeps, by sums over all values as the module defines them, or None."""
    first, *rows = [row(texts) for texts in CHAINS[chain]]
    values = [[*first]]
    for _ in "bcd":
        values.append(sorted({v for before in values[-1] for v in rows[before]}))
    core = NAMES.index(secret)

    def weight(given: Sequence[int], k: int) -> Fraction:
        return (rows[given[k - 1]] if k else first).get(given[k], F(0))

    def near(side: int, most: int, reach: int) -> Any:
        """For what is beside the interior: the weights of sums of the interior."""
        inside = [k for k in range(most) if abs(k - core) < reach]
        tables = [k for k in range(most) if k in inside or k - 1 in inside]
        beside = sorted({j for k in tables for j in (k, k - 1) if j >= 0} - {*inside})
        found: Any = defaultdict(lambda: defaultdict(F))
        for given in product(*(values[k] for k in (*inside, *beside))):
            at = dict(zip([*inside, *beside], given, strict=True))
            full = [at.get(k, 0) for k in range(4)]
            chance = F(full[core] == side)
            for k in tables:
                chance *= weight(full, k)
            if chance:
                found[tuple(full[k] for k in beside)][sum(full[k] for k in inside)] += chance
        return found, {sum(v) for v in product(*(values[k] for k in range(4) if k not in inside))}

    both = [near(side, 4, distance) for side in (0, 1)]
    masses = [near(side, core + 1, distance + 1)[0] for side in (0, 1)]
    joint = [v for v in product(*values) if all(weight(v, k) for k in range(4)) and v[core] < 2]
    reached = {sum(v) for v in joint}
    worst = F(0)
    for (one, other), (left, right) in ((both, masses), (both[::-1], masses[::-1])):
        for v in {*left, *right}:
            p, q = sum(left[v].values(), F(0)), sum(right[v].values(), F(0))
            for s, r, out in product({*one[0], *other[0]}, one[1], (0, 1)):
                x, y = (
                    sum((w * F(NOISE[n + r][out]) for n, w in side[0][s].items() if n + r in reached), F(0))
                    for side in (one, other)
                )
                if x * q and not y * p:
                    return None
                worst = max(worst, x * q / (y * p)) if x * q else worst
    return worst


def kept(text: str, windows: Mapping[tuple[str, str], int], points: int = 1) -> str:
    """What the second reader says at some points that are the same one."""
    reader = SecondReader(text, None)
    at = ({"p": P}, F(1))
    found = [reader.masses(*at, [1])] * points
    return keep_bound(reader, found, [("no", "yes")], [at] * points, windows)


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("secret", NAMES)
def test_windows_of_a_chain(chain: str, secret: str) -> None:
    """The least bound that brute force finds is kept, and no smaller one; a window of all is the case."""
    pair = ("no", "yes")
    bounds = [least(chain, secret, distance) for distance in (1, 2, 3, 4)]
    for distance, bound in enumerate(bounds, 1):
        large = 10**6 if bound is None else bound
        if bound is None:
            with pytest.raises(Rejected, match=r"window|bound is broken"):
                kept(case(chain, secret, large), {pair: distance})
            continue
        assert "keep the bound" in kept(case(chain, secret, large), {pair: distance})
        with pytest.raises(Rejected, match=r"window|bound is broken"):
            kept(case(chain, secret, large - F(1, 10**6)), {pair: distance})
    if bounds[3] is not None:
        kept(case(chain, secret, bounds[3]), {})
        with pytest.raises(Rejected, match="broken by"):
            kept(case(chain, secret, bounds[3] - F(1, 10**6)), {})


def test_what_is_told() -> None:
    """Two outputs are compared in two directions; a window of all has one sum for each, in two directions."""
    text, pair = case("all", "a", 10), ("no", "yes")
    for windows, points, wanted in (
        ({}, 1, "4 comparisons of probabilities, and 0 of windows, keep the bound at a point"),
        ({pair: 4}, 1, "4 comparisons of probabilities, and 4 of windows, keep the bound at a point"),
        ({pair: 4}, 2, "4 comparisons of probabilities, and 8 of windows, keep the bound at 2 points"),
    ):
        assert kept(text, windows, points) == wanted
    never = text.replace("a == 1", "a == 5")  # an impossible secret has no probabilities that break a bound
    assert kept(never, {}) == "4 comparisons of probabilities, and 0 of windows, keep the bound at a point"


def test_what_has_no_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that are formulas or noise have none, nor have labels; too many values and sums are told."""
    at, coin = Calculator({}, None, F(1)), {"bernoulli": "1/2"}
    noise = {"truncated_geometric": "1/2", "range": 1, "around": "a"}
    for other in ("a + 1", noise):
        with pytest.raises(UnreadCase, match="no tables"):
            NearSecrets({"a": coin, "b": other}, ["a"], at)
    labels = {"a": {"categorical": {"red": "1/2", "blue": "1/2"}}, "b": coin}
    with pytest.raises(UnreadCase, match="a label"):
        NearSecrets(labels, ["a"], at).brackets(("a == 'red'", "a == 'blue'"), 1, F(2), lambda s: {})
    coins, secrets = {"a": coin, "b": coin, "c": coin}, ("a == 0", "a == 1")
    known = Calculator({"k": F(2)}, None, F(1))  # what is no variable has no values, either
    assert NearSecrets(coins, ["a + k*b"], known).brackets(secrets, 1, F(1), lambda s: {("x",): F(1)})[1]
    for queries, most, words in (
        *((["a + b - 2*c", "b"], 8, None), (["a + b - 2*c", "b"], 7, "very many sums")),
        *((["a"], 2, None), (["a"], 1, "very many values")),
    ):
        monkeypatch.setattr(second_windows, "MAX_LISTED", 10)
        near = NearSecrets(coins, queries, at)
        monkeypatch.setattr(second_windows, "MAX_LISTED", most)
        if words is None:
            assert near.brackets(secrets, 1, F(1), lambda s: {("x",): F(1)}) == (2, True)
        else:
            with pytest.raises(UnreadCase, match=words):
                near.brackets(secrets, 1, F(1), lambda s: {("x",): F(1)})


@pytest.mark.parametrize("secrets", [("d == 0", "d == 1"), ("d == 1", "d == 0")])
def test_how_many_brackets_there_are(secrets: tuple[str, str]) -> None:
    """Two for each row of d, of which there are 3, and each a, where c is summed: with 2 it is always 0."""
    prior: dict[str, Any] = {
        "a": {"uniform": [0, 1, 2]},
        "c": {"given": "a", "table": {"0": {"0": "1/2", "1": "1/2"}, "1": {"0": 1}, "2": {"2": 1}}},
        "d": {
            "given": "c",
            "table": {"0": {"0": "1/4", "1": "3/4"}, "1": {"0": "2/3", "1": "1/3"}, "2": {"0": 1}},
        },
    }
    near = NearSecrets(prior, ["a*d"], Calculator({}, None, F(1)))
    assert near.brackets(secrets, 1, F(10**6), lambda s: {("x",): F(1)}) == (2 * 3 * 3, False)
