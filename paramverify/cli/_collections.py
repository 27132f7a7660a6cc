"""`export --collection DIR`: the claims of many cases as benchmarks for SMT solvers."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from paramverify.answers import Standing
from paramverify.checker.strict import counted
from paramverify.cli import _output
from paramverify.cli._common import print_json, say, time_limit, write_text
from paramverify.cli._exits import Exit
from paramverify.encodings.choice import listed_claims
from paramverify.errors import InputError, LimitError, TimeLimitError, UnsupportedError
from paramverify.formats.smtlib import script
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.processes.runner import Runner
from paramverify.scripts.families import COLUMNS, GRADES, Member, information, members, row

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
    license_, category = words
    taken: set[str] = set()
    rows: list[Sequence[object]] = []
    skipped: list[dict[str, str]] = []
    left: list[str] = []
    with Runner() as runner:
        for path in _files(cases):
            try:
                _output.limit_step(timeout)
                with time_limit(timeout, timeout):
                    case = load(str(path))
                    claims = listed_claims(case.model)
                _output.lift()  # the session keeps its own limit
                options = Options(seconds=timeout)
                with Session(options, runner) as session:
                    about = information(case.title, license_, category)
                    for member in members(path.stem, claims, session, taken, left):
                        write_member(folder, member, about)
                        rows.append(row(member))
            except TimeLimitError:
                skipped.append({"what": path.name, "reason": f"more than {timeout:g} s to derive its claims"})
            except (InputError, LimitError, UnsupportedError) as error:
                skipped.append({"what": path.name, "reason": str(error)})
    if not rows:
        raise InputError("no claim of these cases has two variables or more")
    _write_index(folder, rows, license_)
    statuses = Counter(str(r[COLUMNS.index("status")]) for r in rows)
    grades = Counter(int(str(r[COLUMNS.index("grade")])) for r in rows)
    told: dict[str, Any] = {
        "scripts": len(rows),
        "families": len({r[1] for r in rows}),
        "statuses": dict(sorted(statuses.items())),
        "grades": {str(grade): count for grade, count in sorted(grades.items())},
        "left_out": dict(Counter(left)),
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
    for reason, count in Counter(left).items():
        say(f"  left out: {counted(count, 'claim')}: {reason}")
    for part in skipped:
        say(f"  left out: {part['what']}: {part['reason']}")
    return Exit.HOLDS


def _files(cases: Sequence[str]) -> Iterator[Path]:
    for path in map(Path, cases):
        if not path.is_dir():
            yield path
            continue
        inside = sorted(path.rglob("*.toml"))
        if not inside:
            raise InputError("no .toml file in this folder", file=str(path))
        yield from inside


def write_member(folder: Path, member: Member, about: dict[str, str]) -> None:
    """Writes a benchmark and its evidence."""
    origin = str(member.claim.origins[0]) if member.claim.origins else "the model"
    status = member.known.status
    text = script(member.claim, status, name=f"{member.name}: {origin}", information=about)
    place = folder / member.family
    place.mkdir(parents=True, exist_ok=True)
    write_text(place / f"{member.name}.smt2", text)
    if member.known.document is not None and status != Standing.UNKNOWN.of_script:
        (folder / "evidence").mkdir(exist_ok=True)
        write_text(folder / "evidence" / f"{member.name}.json", json.dumps(member.known.document))


def _write_index(folder: Path, rows: Sequence[Sequence[object]], license_: str) -> None:
    output = io.StringIO()
    csv.writer(output, lineterminator="\n").writerows([COLUMNS, *rows])
    write_text(folder / "index.csv", output.getvalue())
    grades = "\n".join(f"- grade {grade}: {meaning}" for grade, meaning in GRADES.items())
    write_text(folder / "README.md", README.format(logic=LOGIC, grades=grades, license=license_))
