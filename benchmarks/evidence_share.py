"""How many verdicts on shipped cases come with evidence, and with evidence that needs no trust in a solver.

    python benchmarks/evidence_share.py [--limit 20] [--results FILE] [--only TEXT]

Each case of cases/ is decided by the command of its kind, which writes evidence; `check --case` checks it.
A verdict is one about a case, an interactive system or a formula. It counts as *replayed* if the
evidence is accepted for the case and no solver is trusted. What is undecided has nothing to show, and is
counted apart. What was found is kept in FILE, so that an interrupted run goes on. Prints Markdown: a
table for benchmarks/results/evidence-share.toml, and each verdict without evidence with the reason.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
CASES = ROOT / "cases"
REPLAYED, TRUSTED, NONE, UNDECIDED = "replayed", "on a solver's word", "none", "undecided"
COLUMNS = (REPLAYED, TRUSTED, NONE, UNDECIDED)
GRACE = 20.0  # seconds that a command may take beyond its own limit
DECIDED = ("holds", "violated")


@dataclass(frozen=True)
class Verdict:
    """One verdict: what it is about, what its evidence is, and why there is none."""

    kind: str
    name: str
    evidence: str
    reason: str = ""


def kind_of(data: Mapping[str, Any]) -> str:
    """Returns which command decides a case."""
    if "system" in data and "states" not in data and "model" not in data:
        return "interactive"
    if "states" in data or "model" in data:
        return "logic"
    return "verify"


def command(*words: str, limit: float) -> tuple[int, dict[str, Any], str]:
    """Runs a command with `--json`; returns its exit code, its answer, and what it said of mistakes."""
    start = [sys.executable, "-m", "paramverify", *words, "--json"]
    try:
        done = subprocess.run(start, capture_output=True, text=True, timeout=limit, check=False, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return -1, {}, f"no answer within {limit:g} s"
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {}
    said = done.stderr.strip().splitlines()
    told = said[-1].replace(f"{ROOT}/", "") if said else ""
    return done.returncode, answer if isinstance(answer, dict) else {}, told


def verdicts(path: Path, limit: float) -> Iterator[Verdict]:
    """Yields the verdicts about a file."""
    kind = kind_of(tomllib.loads(path.read_text()))
    name = str(path.relative_to(CASES))
    with tempfile.TemporaryDirectory() as folder:
        evidence = Path(folder) / "evidence.json"
        asked = (kind, str(path), "--timeout", f"{limit:g}")
        code, answer, said = command(*asked, "--evidence", str(evidence), limit=limit + GRACE)
        refused = ""
        if not evidence.exists():
            refused = said
            code, answer, said = command(*asked, limit=limit + GRACE)
        if (
            code not in (0, 1, 3)
            or "status" not in answer
            or (kind == "logic" and "properties" not in answer)
        ):
            yield Verdict(kind, name, UNDECIDED, said)
            return
        found, reason = NONE, refused or said
        if evidence.exists():
            found, reason = _checked(evidence, path, answer["status"])
        if kind != "logic":
            decided = answer["status"] in DECIDED
            yield Verdict(kind, name, found if decided else UNDECIDED, reason if decided else "")
            return
        document = json.loads(evidence.read_text()) if evidence.exists() else {}
        yield from _formulas(name, answer["properties"], document, found, reason)


def _formulas(
    name: str, answers: Mapping[str, Any], document: Mapping[str, Any], found: str, reason: str
) -> Iterator[Verdict]:
    shown = {entry["name"]: entry for entry in document.get("formulas", [])}
    for formula, answer in answers.items():
        about = f"{name}: {formula}"
        if answer["status"] not in DECIDED:
            yield Verdict("logic", about, UNDECIDED)
            continue
        entry = shown.get(formula, {})
        if found in (REPLAYED, TRUSTED) and entry.get("status") == answer["status"]:
            yield Verdict("logic", about, found)
        else:
            yield Verdict("logic", about, NONE, entry.get("reason") or reason)


def _checked(evidence: Path, case: Path, status: str) -> tuple[str, str]:
    """Returns what evidence of a verdict is worth, and why it is worth nothing."""
    _, answer, said = command("check", str(evidence), "--case", str(case), limit=300)
    lines = answer.get("lines", [])
    if answer.get("status") != "accepted":
        return NONE, next((line for line in lines if line.startswith("rejected")), said or "no answer")
    formulas = "formulas" in json.loads(evidence.read_text())  # each of them says what is shown of it
    if not formulas and (answer["open"] or answer.get("shown") != status):
        return NONE, "the evidence shows less than the verdict says"
    if answer["trusted"]:
        return TRUSTED, ", ".join(answer["solvers"])
    return REPLAYED, ""


def table(found: list[Verdict]) -> Iterator[str]:
    """Yields the lines of a table of counts by kind, and the reasons where there is no evidence."""
    yield f"| verdicts about | all | {' | '.join(COLUMNS)} |"
    yield f"| --- | {' | '.join('---' for _ in range(len(COLUMNS) + 1))} |"
    words = {"verify": "cases", "interactive": "interactive systems", "logic": "formulas"}
    for kind, told in words.items():
        own = Counter(v.evidence for v in found if v.kind == kind)
        yield f"| {told} | {sum(own.values())} | {' | '.join(str(own[c]) for c in COLUMNS)} |"
    own = Counter(v.evidence for v in found)
    yield f"| all | {sum(own.values())} | {' | '.join(str(own[c]) for c in COLUMNS)} |"
    decided = sum(own.values()) - own[UNDECIDED]
    yield ""
    if decided:
        share = 100 * own[REPLAYED] / decided
        yield f"Of {decided} verdicts, {own[REPLAYED]} are replayed: {share:.1f} %."
    yield ""
    for verdict in found:
        if verdict.evidence != REPLAYED:
            yield f"- {verdict.evidence}: `{verdict.name}`" + (
                f": {verdict.reason}" if verdict.reason else ""
            )


def main() -> None:
    """Runs all cases and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for each case")
    parser.add_argument("--results", type=Path, help="where verdicts are kept")
    parser.add_argument("--only", default="", help="files whose path has this text")
    given = parser.parse_args()
    known: dict[str, list[dict[str, str]]] = {}
    if given.results and given.results.exists():
        known = json.loads(given.results.read_text())
    files = sorted(CASES.rglob("*.toml"))
    found: list[Verdict] = []
    for path in files:
        name = str(path.relative_to(ROOT))
        if given.only not in name:
            continue
        if name not in known:
            known[name] = [asdict(verdict) for verdict in verdicts(path, given.limit)]
            print(name, *(v["evidence"] for v in known[name]), file=sys.stderr, flush=True)
            if given.results:
                given.results.write_text(json.dumps(known, indent=1))
        found += [Verdict(**entry) for entry in known[name]]
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
