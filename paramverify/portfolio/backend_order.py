"""Which backend to start first: by what earlier attempts took, and by a decision tree that was learned.

The tree is data (`order.json`), to be read by people as well: inner nodes compare one feature of a claim with
a number. Leaves have the backends in the order in which they start on claims like that, and the seconds that
each needed. That is not the order of these seconds: the second backend is the one that helps most where the
first fails. It only orders a race, so a
wrong tree changes no verdict. The environment variable `PARAMVERIFY_ORDER` names another tree, or is `off`.
`benchmarks/learn_order.py` learns one.

What earlier attempts took, and the order of backends that it suggests.

A log of JSON lines, one for each attempt: features of the claim, backend, how it ended, seconds. It only
orders a race, so a lost or damaged log changes no verdict. The environment variable
`PARAMVERIFY_HISTORY` names the file, or is `off`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from paramverify.algebra.polynomials import variables
from paramverify.answers import Decision, End, Open
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.files import open_regular, read_file

MAX_HISTORY_BYTES = 2_000_000  # of the log that are read; older lines are forgotten

Features = tuple[int, int, int]


def features(claim: Claim) -> Features:
    """Returns the number of variables, and the magnitudes (in bits) of the largest degree and the terms."""
    polynomial = claim.polynomial
    degree = max((int(d) for d in polynomial.degrees()), default=0)
    return len(variables(polynomial)), degree.bit_length(), len(polynomial).bit_length()


def default_path() -> Path | None:
    """Returns where the log is kept, or None where it is switched off."""
    given = os.environ.get("PARAMVERIFY_HISTORY")
    if given:
        return None if given == "off" else Path(given)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return cache / "paramverify" / "attempts.jsonl" if cache.is_absolute() else None


def _tail(path: Path) -> str:
    with open_regular(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_HISTORY_BYTES))
        return file.read(MAX_HISTORY_BYTES).decode("utf-8", "replace")


@dataclass
class History:
    """The log of attempts; read once, appended to as attempts end."""

    path: Path | None
    rows: list[tuple[Features, str, bool, float]] = field(default_factory=list)

    @staticmethod
    def load(path: Path | None) -> History:
        """Returns the history in a file; lines that are damaged are left out."""
        history = History(path)
        try:
            text = _tail(path) if path else ""
        except (InputError, OSError):
            return history  # it only helps to choose; a place that is no file is no reason to fail
        for line in text.splitlines():
            try:
                row = json.loads(line)
                variables_, degree, terms = map(int, row["features"])
                seconds = float(row["seconds"])
                history.rows.append(
                    ((variables_, degree, terms), str(row["backend"]), row["end"] == "decided", seconds)
                )
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                continue
        return history

    def record(self, claim: Claim, decisions: Iterable[Decision]) -> None:
        """Appends attempts; those that were stopped early say nothing and are left out."""
        found = features(claim)
        lines = []
        for decision in decisions:
            answer = decision.answer
            end = answer.end if isinstance(answer, Open) else End.DECIDED
            if end in (End.INTERRUPTED, End.UNAVAILABLE):
                continue
            self.rows.append((found, decision.backend, end is End.DECIDED, decision.seconds))
            lines.append(
                json.dumps(
                    {
                        "features": found,
                        "backend": decision.backend,
                        "end": end.value,
                        "seconds": round(decision.seconds, 4),
                    }
                )
            )
        if self.path is None or not lines:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open_regular(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND) as file:
                file.write(("\n".join(lines) + "\n").encode())
        except (InputError, OSError):
            self.path = None  # a place that cannot be written to is no reason to fail

    def ordered(self, claim: Claim, names: Sequence[str]) -> list[str]:
        """Returns the names, those first that decided similar claims more often, then faster.

        Similar means the same features. The score is (decided + 1) / (attempts + 2); backends that were never
        tried keep their places relative to each other.
        """
        found = features(claim)
        scores: dict[str, tuple[float, float]] = {}
        for name in names:
            rows = [(ok, seconds) for f, n, ok, seconds in self.rows if n == name and f == found]
            decided = [seconds for ok, seconds in rows if ok]
            mean = sum(decided) / len(decided) if decided else 0.0
            scores[name] = (-(len(decided) + 1) / (len(rows) + 2), mean)
        return sorted(names, key=lambda name: scores[name])


OWN = Path(__file__).with_name("order.json")
MAX_TREE_BYTES = 1_000_000
FEATURES = ("variables", "degree", "terms", "constraints", "even", "touching")


@dataclass(frozen=True)
class LearnedLeaf:
    """Claims that are alike: how many there were, and who starts first, with the typical seconds of each."""

    claims: int
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Split:
    """Claims whose `feature` is at most `at`, and the others."""

    feature: str
    at: float
    below: Split | LearnedLeaf
    above: Split | LearnedLeaf


def tree_features(claim: Claim) -> dict[str, float]:
    """Returns what a tree may ask of a claim: one number for each of `FEATURES`.

    These are how many variables occur, the total degree, the number of terms and that of constraints. `even`
    is 1 where all exponents are even, `touching` is 1 where the polynomial vanishes at the origin.
    """
    polynomial = claim.polynomial
    exponents = [tuple(map(int, powers)) for powers in polynomial.monoms()]
    totals = [sum(powers) for powers in exponents]
    numbers = (
        len(variables(polynomial)),
        max(totals, default=0),
        len(totals),
        len(claim.domain.constraints),
        all(power % 2 == 0 for powers in exponents for power in powers),
        min(totals, default=0) > 0,
    )
    return dict(zip(FEATURES, map(float, numbers), strict=True))


def leaf(tree: Split | LearnedLeaf, found: Mapping[str, float]) -> LearnedLeaf:
    """Returns the leaf to which the features of a claim lead."""
    while isinstance(tree, Split):
        tree = tree.below if found[tree.feature] <= tree.at else tree.above
    return tree


def ordered(names: Sequence[str], claim: Claim) -> Sequence[str]:
    """Returns the names in the order of the tree for claims like this one; those it does not know come last.

    Raises:
        InputError: the tree that the user names is none.
    """
    tree = chosen_tree()
    if tree is None:
        return names
    places = {name: place for place, name in enumerate(leaf(tree, tree_features(claim)).seconds)}
    return sorted(names, key=lambda name: places.get(name, len(places)))


def tree_of(data: Any) -> Split | LearnedLeaf:
    """Reads a tree from JSON data.

    Raises:
        InputError: it is none.
    """
    match data:
        case {"claims": int(claims), "seconds": dict(seconds)}:
            if all(isinstance(s, (int, float)) and isinstance(n, str) for n, s in seconds.items()):
                return LearnedLeaf(claims, dict(seconds))
        case {"feature": str(feature), "at": int() | float() as at, "below": below, "above": above}:
            if feature in FEATURES:
                return Split(feature, float(at), tree_of(below), tree_of(above))
    raise InputError(f"not a node of a tree for the order of backends: {str(data)[:100]}")


@cache
def _read(path: Path) -> Split | LearnedLeaf:
    try:
        return tree_of(json.loads(read_file(path, MAX_TREE_BYTES, "a tree for the order of backends")))
    except (ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"not JSON, or numbers that are too large: {error}", file=str(path)) from None


def chosen_tree() -> Split | LearnedLeaf | None:
    """Returns the tree that orders races; None where it is switched off.

    Raises:
        InputError: the file that the user names is no tree.
    """
    given = os.environ.get("PARAMVERIFY_ORDER")
    if given == "off":
        return None
    return _read(Path(given) if given else OWN)
