"""Pairs of neighbouring inputs that often show the worst leak, to be tried first.

The input patterns of [S] Table 2, as used in [F] section 7.2, Table 3. They are heuristics: they order the
work and decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from paramverify.models.priors import SecretPair

Answers = tuple[int, ...]

# Each pattern gives, from the number of answers, how far each answer of the two inputs is from the centre.
PATTERNS: dict[str, Callable[[int], tuple[Answers, Answers]]] = {
    "one above": lambda n: ((0,) * n, (1, *(0,) * (n - 1))),
    "one below": lambda n: ((0,) * n, (-1, *(0,) * (n - 1))),
    "one above, rest below": lambda n: ((0,) * n, (1, *(-1,) * (n - 1))),
    "one below, rest above": lambda n: ((0,) * n, (-1, *(1,) * (n - 1))),
    "half and half": lambda n: ((0,) * n, (*(-1,) * (n // 2), *(1,) * (n - n // 2))),
    "all above": lambda n: ((0,) * n, (1,) * n),
    "all below": lambda n: ((0,) * n, (-1,) * n),
    "X shape": lambda n: (
        (*(1,) * (n // 2), *(0,) * (n - n // 2)),
        (*(0,) * (n // 2), *(1,) * (n - n // 2)),
    ),
}


def pattern_pairs(
    count: int, most: int, centres: Sequence[int] | None = None
) -> Iterator[tuple[str, Answers, Answers]]:
    """Yields (pattern, left, right) for `count` answers in 0..most, without repetition.

    They are around the given centres, or around every one.

    Every answer differs by at most 1. Patterns with a special answer come with it first, and with it last.
    Without others, the centres are tried from the middle of the range outwards.
    """
    outwards = sorted(range(most + 1), key=lambda c: (abs(2 * c - most), c))
    seen: set[tuple[Answers, Answers]] = set()
    for centre in outwards if centres is None else centres:
        for name, shifts in PATTERNS.items():
            for order in (1, -1):
                left, right = (tuple(centre + d for d in side[::order]) for side in shifts(count))
                inside = all(0 <= v <= most for v in (*left, *right))
                if inside and left != right and (left, right) not in seen and (right, left) not in seen:
                    seen.add((left, right))
                    yield name, left, right


def patterned(pairs: Sequence[SecretPair]) -> list[tuple[str, SecretPair]]:
    """Returns the pairs of inputs that have a pattern, with its name, in the order of the patterns.

    Empty where the inputs are not several whole-number answers each, such as `(1, 0, 2)`.
    """
    shape = _shape({name for pair in pairs for name in (pair.left, pair.right)})
    if shape is None:
        return []
    wanted: dict[tuple[str, str], tuple[int, str]] = {}
    for place, (name, left, right) in enumerate(pattern_pairs(*shape)):
        both = _shown(left), _shown(right)
        wanted[both] = wanted[both[::-1]] = place, name
    found = [(*wanted[p.left, p.right], p) for p in pairs if (p.left, p.right) in wanted]
    return [(name, pair) for _, name, pair in sorted(found, key=lambda entry: entry[0])]


def _shape(names: Iterable[str]) -> tuple[int, int] | None:
    """Returns how many answers the inputs have, and the largest answer; None if not all are such inputs."""
    counts: set[int] = set()
    most = 0
    for name in names:
        parts = name[1:-1].split(", ")
        if not (name.startswith("(") and name.endswith(")") and all(part.isdecimal() for part in parts)):
            return None
        counts.add(len(parts))
        most = max(most, *map(int, parts))
    return (counts.pop(), most) if len(counts) == 1 else None


def _shown(answers: Answers) -> str:
    return f"({', '.join(map(str, answers))})"
