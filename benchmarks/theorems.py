"""Theorems about all shipped cases: what `prove` writes, what Coq says of it, and what is refused.

    python benchmarks/theorems.py [--limit 20] [--coq 60] [--folder FOLDER] [NAME...]

Runs `prove` on every shipped case, or on those with one of the names in their path, and then coqc on each
file. The theories must be built (`make -C proofs theories`). Prints one line for each case with the processor
time of Coq, then how many are written and accepted, and why the others are refused. A file is accepted only
if its theorem rests on no other axioms than those of `proofs/axioms.txt`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import resource
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from paramverify.cli.main import run

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "cases"
ANSWERS = {1: "not private, or false", 3: "undecided"}


def prove(case: Path, folder: Path, limit: float) -> str:
    """Writes the theorem about a case; returns "" or why there is none."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["prove", str(case), "-o", str(folder), "--timeout", str(limit)])
    if code == 0 and (folder / "case.v").exists():
        return ""
    if code in ANSWERS:
        return ANSWERS[code]
    told = err.getvalue().strip().partition("\n")[0].partition(": ")[2]
    return f"refused: {told.replace(f'{case}: ', '').partition('; `')[0] or code}"


def other_axioms(told: str) -> set[str]:
    """Returns the axioms that Coq prints for a file, without those of the real numbers."""
    listed = (ROOT / "proofs" / "axioms.txt").read_text().splitlines()
    known = {axiom for line in listed if not line.startswith("#") for axiom in line.partition(":")[2].split()}
    return set(re.findall(r"^([\w.]+)(?= *$| +:)", told.partition("Axioms:")[2], re.MULTILINE)) - known


def by_coq(folder: Path, limit: float) -> tuple[str, float]:
    """Returns what Coq says of a file, and its processor seconds."""
    command = ["coqc", "-Q", str(ROOT / "proofs" / "theories"), "Paramverify", "case.v"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            ["timeout", str(limit), *command], cwd=folder, capture_output=True, text=True, check=False
        )
    finally:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode == 0:
        more = other_axioms(done.stdout)
        return f"NOT ACCEPTED with {', '.join(sorted(more))}" if more else "accepted", spent
    told = "in time" if done.returncode == 124 else " ".join(done.stderr.split())[-160:]
    return f"NOT ACCEPTED {told}", spent


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of paths; all cases without one")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of `prove` for each case")
    parser.add_argument("--coq", type=float, default=60.0, help="seconds of Coq for each file")
    parser.add_argument("--folder", type=Path, help="where the files are kept")
    options = parser.parse_args()
    kept = options.folder or Path(tempfile.mkdtemp())
    counts: Counter[str] = Counter()
    for case in sorted(CASES.rglob("*.toml")):
        name = str(case.relative_to(CASES).with_suffix(""))
        if options.names and not any(part in name for part in options.names):
            continue
        folder = kept / name.replace("/", "-")
        answer = prove(case, folder, options.limit)
        spent = ""
        if not answer:
            answer, seconds = by_coq(folder, options.coq)
            counts["written"] += 1
            spent = f" {seconds:.1f} s, {(folder / 'case.v').stat().st_size:,} bytes"
        counts[answer] += 1
        print(f"{name}: {answer}{spent}", flush=True)
    for what, count in counts.most_common():
        print(f"{count:4} {what}")


if __name__ == "__main__":
    main()
