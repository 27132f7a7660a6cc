"""Whether claims and probabilities say the same, compared by values at points: standard library only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..kernel.strict_reading import Rejected
from .second_processes import Process, State, Steps, Words
from .second_reader import PointProbabilities

Item = tuple[str, str, tuple[str, ...]]  # left, right, sequence
Row = tuple[Fraction | None, ...]  # a value for each point; None where a secret is impossible
Values = tuple[Fraction, ...]


def differences(
    found: Sequence[PointProbabilities], left: str, right: str, length: int, one_sided: bool
) -> Iterator[tuple[Item, Row]]:
    """Yields bound·Pr(w|right) − Pr(w|left) at all points, for each possible sequence, in both directions.

    Without the sequences that are possible on one side only, unless these are wanted.
    """
    words = {
        word: None
        for at in found
        for name in (left, right)
        for word, chance in (at.words[name] or {}).items()
        if chance and len(word) == length
    }
    for word in words:
        if not one_sided and any(
            at.words[left] and at.words[right] and bool(at.of(left, word)) != bool(at.of(right, word))
            for at in found
        ):
            continue
        for one, other in ((left, right), (right, left)):
            row = (
                at.bound(one, other) * at.of(other, word) - at.of(one, word)
                if at.words[one] and at.words[other]
                else None
                for at in found
            )
            yield (one, other, word), tuple(row)


def scaled(found: Words, like: Words) -> Words:
    """Returns probabilities of sequences, known up to the power of a number by their length, like others.

    The number is found from sequences of length 1; where there are none, nothing is changed.
    """
    first = [(p, like[word]) for word, p in found.items() if len(word) == 1 and p and like.get(word)]
    factor = first[0][1] / first[0][0] if first else Fraction(1)
    return {word: p * factor ** len(word) for word, p in found.items()}


def origin(item: Item) -> str:
    """Returns the words that stand beside a claim."""
    left, right, word = item
    return f"{left} against {right}, output {' '.join(map(_shown, word))}"


def _shown(name: str) -> str:
    """Returns a name as it stands in a sequence: in quotes, unless it is a plain word or has quotes."""

    def is_plain(text: str) -> bool:
        return bool(text) and not any(c in ",'\"\\" or c.isspace() for c in text)

    quoted = name[:1] == name[-1:] == "'" and is_plain(name[1:-1])
    inside = re.sub(r"\\.", "", name[1:-1])
    label = len(name) > 1 and name[0] == name[-1] == '"' and not any(c in '"\\\n' for c in inside)
    return name if is_plain(name) or quoted or label else repr(name + '"')[:-2] + "'"


class Matching:
    """Finds the claims that agree with sequences; `complete`: every sequence must have one."""

    def __init__(self, values: Sequence[Values], origins: Sequence[Sequence[str]], complete: bool) -> None:
        self.values = values
        self.origins = origins
        self.complete = complete
        self.named: dict[str, list[int]] = {}
        for k, texts in enumerate(origins):
            for text in texts:
                self.named.setdefault(text, []).append(k)
        self.tables: dict[tuple[int, ...], dict[Values, set[int]]] = {}
        self.matched: set[tuple[tuple[int, ...], Values]] = set()
        self.shares: dict[tuple[int, ...], dict[Values, None]] = {}
        self.seen: set[str] = set()
        self.loose: set[tuple[str, str]] = (
            set()
        )  # pairs of which only signs are compared, as s may be anything

    def group(self, items: Mapping[Item, Row]) -> None:
        """Matches the sequences of one length of one pair, both directions.

        Raises:
            Rejected: no function s > 0 makes the claims agree with all of them.
        """
        wanted = items if self.complete else {i: row for i, row in items.items() if origin(i) in self.named}
        self.seen.update(map(origin, wanted))
        rows = {item: row for item, row in wanted.items() if any(row)}
        if rows:
            # The sequence with the fewest zeros says what s is at the points; any claim may be its own.
            anchor = max(rows, key=lambda item: sum(map(bool, rows[item])))
            places = tuple(k for k, t in enumerate(rows[anchor]) if t)
            for shares in self._candidates(rows[anchor], places, self.named.get(origin(anchor), [])):
                if all(s > 0 for s in shares) and self._fits(rows, places, shares):
                    self.shares.setdefault(places, {})[_normal(shares)] = None
                    if _are_multiples([_at(row, places) for row in rows.values()]):
                        self.loose.add((anchor[0], anchor[1]))
                    break
            else:
                raise Rejected(f"no claim says what {origin(anchor)} needs")
        for item, row in wanted.items():
            if not any(row) and any(any(self.values[k]) for k in self.named.get(origin(item), ())):
                raise Rejected(f"the evidence has another claim about {origin(item)}")

    def _candidates(self, row: Row, places: tuple[int, ...], own: Sequence[int]) -> Iterator[Values]:
        """Yields what s may be, up to a positive number: as for other pairs, or as a claim says."""
        yield from list(self.shares.get(places, ()))
        at_anchor = _at(row, places)
        for k in dict.fromkeys([*own, *range(len(self.values))]):
            yield tuple(f / t for f, t in zip(_at(self.values[k], places), at_anchor, strict=True))

    def _fits(self, rows: Mapping[Item, Row], places: tuple[int, ...], shares: Values) -> bool:
        table = self._table(places)
        matched: set[tuple[tuple[int, ...], Values]] = set()
        for item, row in rows.items():
            scaled = _normal(tuple(s * t for s, t in zip(shares, _at(row, places), strict=True)))
            claims = table.get(scaled, set[int]())
            if not claims or not claims.issuperset(self.named.get(origin(item), ())):
                return False
            matched.add((places, scaled))
        self.matched |= matched
        return True

    def _table(self, places: tuple[int, ...]) -> dict[Values, set[int]]:
        if places not in self.tables:
            table: dict[Values, set[int]] = {}
            for k, values in enumerate(self.values):
                table.setdefault(_normal(_at(values, places)), set()).add(k)
            self.tables[places] = table
        return self.tables[places]

    def close(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Raises Rejected for a sequence that the case does not have, or a claim that no sequence makes.

        A sequence that has probability zero at all points was not seen. What is said of it must be 0 ≥ 0
        there, for t = 0; whether the case has such a sequence is not known from points.
        """
        starts = tuple(f"{a} against {b}, output " for pair in pairs for a, b in (pair, pair[::-1]))
        for text, claims in self.named.items():
            never = text.startswith(starts) and not any(any(self.values[k]) for k in claims)
            if text not in self.seen and not never:
                raise Rejected(f"the case does not compare {text!r:.200}")
        matched = {k for places, values in self.matched for k in self.tables[places].get(values, ())}
        for k, values in enumerate(self.values):
            if self.complete and k not in matched and any(values):
                raise Rejected(f"no sequence makes claim {k + 1}")


def _at(row: Sequence[Fraction | None], places: tuple[int, ...]) -> Values:
    return tuple(row[k] or Fraction(0) for k in places)


def _normal(values: Values) -> Values:
    """Returns the values up to a positive number."""
    scale = next((abs(v) for v in values if v), Fraction(1))
    return tuple(v / scale for v in values)


def _are_multiples(rows: Sequence[Values]) -> bool:
    """Tells whether all rows are multiples of one."""
    first, *others = map(_normal, filter(any, rows))
    return all(row in (first, tuple(-v for v in first)) for row in others)


class ModelProcess(Process):
    """The model of a certificate, from the start of one secret.

    The weights of steps are probabilities times one number, which is the sum of a state's steps (the least
    such sum, where an adversary chooses).
    """

    def __init__(self, model: Mapping[str, Any], value: Callable[[str], Fraction]) -> None:
        self.value = value
        self.listed: dict[int, Steps] = {}
        for state, seen, following, weight in model["steps"]:
            step = (model["observations"][seen], following, value(weight))
            self.listed.setdefault(state, []).append(step)
        self.scale = min((sum(w for _, _, w in row) for row in self.listed.values()), default=Fraction(1))

    def start(self, given: Any) -> list[tuple[State, Fraction]]:
        mass = self.value(given["mass"])
        return [(int(s), self.value(w) / mass) for s, w in given["weights"].items()]

    def steps(self, state: State) -> Steps:
        return [(seen, following, w / self.scale) for seen, following, w in self.listed.get(state, ())]


def probabilities(
    model: Mapping[str, Any], value: Callable[[str], Fraction], lengths: Sequence[int]
) -> Iterator[tuple[str, str, Words | None]]:
    """Yields each secret of a certificate, its counterpart, and how likely the sequences are under it.

    None stands for an impossible secret.
    """
    process = ModelProcess(model, value)
    for left, right, pi, tau in model["pairs"]:
        for name, other, start in ((left, right, pi), (right, left, tau)):
            try:
                yield name, other, {w: p for n in lengths for w, p in process.words(start, n).items()}
            except ZeroDivisionError:
                yield name, other, None


def possible(words: Words, other: Words | None = None) -> Words:
    """Returns the sequences that are possible, or of these only those that are so on another side too."""
    return {word: p for word, p in words.items() if p and (other is None or other.get(word))}
