"""`export --collection DIR`: the claims of many cases as benchmarks for SMT solvers."""

from __future__ import annotations

import csv
import io
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramverify.answers import Standing
from paramverify.claims import Claim
from paramverify.cli import _output
from paramverify.cli._common import print_json, say, time_limit, write_text
from paramverify.cli._exits import Exit
from paramverify.encodings.choice import listed_claims
from paramverify.errors import InputError, LimitError, TimeLimitError, UnsupportedError
from paramverify.formats.smtlib import script
from paramverify.kernel.strict_reading import counted
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.processes.runner import Runner
from paramverify.scripts.benchmark_families import COLUMNS, GRADES, Member, information, members, row

README = """# A family of benchmarks

Each script asks whether some point violates a claim: `unsat` means that the claim is true. The logic is
{logic}. `index.csv` has a row for each script: its size, its status, the evidence, and a grade.

{grades}

A status other than unknown rests on a certificate or a point. It is in `evidence/`, and
`paramverify check evidence/NAME.json` checks it again. License of the scripts: {license}.
"""
LOGIC = "QF_NRA"


def export_collection(
    cases: Sequence[str], folder: Path, timeout: float, words: tuple[str, str], as_json: bool
) -> int:
    """Writes the collection, says what it has, and returns 0; `words` are license and category."""
    taken: set[str] = set()
    rows: list[Sequence[object]] = []
    skipped: list[dict[str, str]] = []
    left: Counter[str] = Counter()
    with Runner() as runner:
        for path, family in _families(cases):
            found = _Family(path, family, timeout, Counter())
            try:
                for member, about in found.members(runner, taken, words):
                    write_member(folder, member, about)
                    rows.append(row(member))
            except (InputError, LimitError, UnsupportedError) as error:
                reason = error.reason if isinstance(error, InputError) else str(error)
                skipped.append({"what": path.name, "reason": reason})
            left += found.left
    if not rows:
        raise InputError("no claim of these cases has two or more variables: name other cases")
    _write_index(folder, rows, words[0])
    statuses = Counter(str(r[COLUMNS.index("status")]) for r in rows)
    grades = Counter(int(str(r[COLUMNS.index("grade")])) for r in rows)
    told: dict[str, Any] = {
        "scripts": len(rows),
        "families": len({r[1] for r in rows}),
        "statuses": dict(sorted(statuses.items())),
        "grades": {str(grade): count for grade, count in sorted(grades.items())},
        "left_out": dict(left),
        "skipped": skipped,
    }
    if as_json:
        print_json(told)
        return Exit.HOLDS
    families = f"{told['families']} famil{'y' if told['families'] == 1 else 'ies'}"
    say(f"{counted(len(rows), 'script')} of {families} in {folder}")
    say("  " + ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())))
    for grade, count in sorted(grades.items()):
        say(f"  grade {grade}: {count} ({GRADES[grade]})")
    for reason, count in left.items():
        say(f"  left out: {counted(count, 'claim')}: {reason}")
    for part in skipped:
        say(f"  left out: {part['what']}: {part['reason']}")
    return Exit.HOLDS


@dataclass
class _Family:
    """The claims of a case, with the seconds that it has; `left` counts what is left out, by reason."""

    path: Path
    name: str
    seconds: float
    left: Counter[str]

    def members(
        self, runner: Runner, taken: set[str], words: tuple[str, str]
    ) -> Iterator[tuple[Member, dict[str, str]]]:
        """Yields its benchmarks, and what each says of itself; what is not reached in time is left out.

        Raises:
            LimitError: its claims are not derived in time.
        """
        started = time.monotonic()
        claims: Sequence[Claim] | None = None
        made = Counter[str]()
        _output.limit_step(self.seconds)
        try:
            with time_limit(self.seconds, self.seconds):
                case = load(str(self.path))
                claims = list(listed_claims(case.model))
                _output.lift()  # from here on the session and the alarm keep the limit
                about = information(case.title, *words)
                options = Options(seconds=max(0.01, 0.9 * (self.seconds + started - time.monotonic())))
                with Session(options, runner) as session:
                    for member in members(self.name, claims, session, taken, made):
                        made["written"] += 1
                        yield member, about
        except TimeLimitError:
            if claims is None:
                raise LimitError(f"deriving its claims takes more than {self.seconds:g} s") from None
        finally:
            written = made.pop("written", 0)
            late = 0 if claims is None else len(claims) - written - made.total()
            self.left += made
            if late:
                self.left[f"not reached within {self.seconds:g} s, the time limit of a case"] += late


def _families(cases: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yields the files with a name for the family of each; no two have one name."""
    taken: set[str] = set()
    for path in _files(cases):
        name, number = path.stem, 1
        while name in taken:
            number += 1
            name = f"{path.stem}.{number}"
        taken.add(name)
        yield path, name


def _files(cases: Sequence[str]) -> Iterator[Path]:
    for path in map(Path, cases):
        if not path.is_dir():
            yield path
            continue
        inside = sorted(path.rglob("*.toml"))
        if not inside:
            raise InputError("this folder has no .toml file: name a folder with cases", file=str(path))
        yield from inside


def write_member(folder: Path, member: Member, about: dict[str, str]) -> None:
    """Writes a benchmark and its evidence."""
    origin = str(member.claim.origins[0]) if member.claim.origins else "the model"
    status = member.known.status
    text = script(member.claim, status, name=f"{member.name}: {origin}", information=about)
    place = folder / member.family
    place.mkdir(parents=True, exist_ok=True)
    write_text(place / f"{member.name}.smt2", text)
    evidence = folder / "evidence" / f"{member.name}.json"
    if member.known.document is not None and status != Standing.UNKNOWN.of_script:
        evidence.parent.mkdir(exist_ok=True)
        write_text(evidence, json.dumps(member.known.document))
    else:
        evidence.unlink(missing_ok=True)  # that of an earlier collection is about another claim


def _write_index(folder: Path, rows: Sequence[Sequence[object]], license_: str) -> None:
    output = io.StringIO()
    csv.writer(output, lineterminator="\n").writerows([COLUMNS, *rows])
    write_text(folder / "index.csv", output.getvalue())
    grades = "\n".join(f"- grade {grade}: {meaning}" for grade, meaning in GRADES.items())
    write_text(folder / "README.md", README.format(logic=LOGIC, grades=grades, license=license_))
