"""What earlier attempts took, and the order of backends that it suggests.

A log of JSON lines, one for each attempt: features of the claim, backend, how it ended, seconds. It only
orders a race, so a lost or damaged log changes no verdict. The environment variable
`PARAMVERIFY_HISTORY` names the file, or is `off`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paramverify.algebra.polynomials import variables
from paramverify.answers import Decision, End, Open
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.files import open_regular

MAX_BYTES = 2_000_000  # of the log that are read; older lines are forgotten

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
        file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_BYTES))
        return file.read(MAX_BYTES).decode("utf-8", "replace")


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
