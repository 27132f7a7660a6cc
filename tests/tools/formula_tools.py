"""Models of dpCTL* for tests of the kernel, and probabilities of path formulas by their definition."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

from paramverify.kernel.chain_models import CheckedChain
from paramverify.kernel.quotient_values import QuotientValues

TRUE = ["true"]
VALUES = QuotientValues((), None, lambda poly, strict: False)


def model(random: Random, size: int, actions: int) -> dict[str, Any]:
    """Returns a random model; rows with zeros and loops among them."""
    rows = []
    for _ in range(size * actions):
        weights = [random.choice((0, 0, 1, 2)) for _ in range(size)]
        weights[random.randrange(size)] += 1
        rows.append([[t, f"{w}/{sum(weights)}"] for t, w in enumerate(weights) if w])
    return {
        "states": [f"s{k}" for k in range(size)],
        "actions": [f"a{k}" for k in range(actions)],
        "scheduled": True,
        "initial": [0],
        "steps": rows,
        "rows": [[s * actions + a for a in range(actions)] for s in range(size)],
        "labels": {n: [s for s in range(size) if random.random() < 0.5] for n in ("p", "q")},
        "neighbours": [[0, 1]],
    }


def formula(random: Random, depth: int) -> list[Any]:
    """Returns a random path formula without unbounded operators."""
    if depth == 0:
        return random.choice((["label", "p"], ["label", "q"], ["not", ["label", "p"]]))
    inner = lambda: formula(random, random.randrange(depth))  # noqa: E731
    kind = random.choice(("not", "and", "or", "next", "until", "release"))
    if kind in ("not", "next"):
        return [kind, inner()]
    if kind in ("and", "or"):
        return [kind, [inner(), inner()]]
    low = random.randrange(2)
    return [kind, inner(), inner(), low, low + random.randrange(2)]


def satisfies(chain: CheckedChain, path: tuple[int, ...], at: int, asked: Any) -> bool:
    """Tells whether a path satisfies a formula from a place on, by the definition."""
    kind = asked[0]
    if kind in ("true", "false"):
        return bool(kind == "true")
    if kind == "label":
        return path[at] in chain.labels[asked[1]]
    if kind == "not":
        return not satisfies(chain, path, at, asked[1])
    if kind in ("and", "or"):
        parts = [satisfies(chain, path, at, part) for part in asked[1]]
        return all(parts) if kind == "and" else any(parts)
    if kind == "next":
        return satisfies(chain, path, at + 1, asked[1])
    _, left, right, low, high = asked
    if kind == "release":
        return not satisfies(chain, path, at, ["until", ["not", left], ["not", right], low, high])
    return any(
        satisfies(chain, path, at + i, right) and all(satisfies(chain, path, at + j, left) for j in range(i))
        for i in range(low, high + 1)
    )


def summed(chain: CheckedChain, start: int, word: tuple[int, ...], asked: Any) -> Fraction:
    """Returns the probability of a formula under a word of actions: the sum over all paths."""
    return sum((w for path, w in walks(chain, start, word) if satisfies(chain, path, 0, asked)), Fraction(0))


def walks(
    chain: CheckedChain, start: int, word: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Yields all paths from a state under a word, with their probabilities."""
    found: list[tuple[tuple[int, ...], Any]] = [((start,), Fraction(1))]
    for action in word:
        found = [((*path, t), x * w) for path, x in found for t, w in chain.rows[path[-1]][action]]
    yield from found
