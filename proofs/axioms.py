"""Compares the axioms on which the theorems rest with the list in axioms.txt: `python3 axioms.py`.

Each line of the list names a theorem and, behind a colon, all axioms that its proof uses. Coq is asked by
`Print Assumptions`. Then coqchk, which is a second and smaller program, looks at the compiled theories again.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPTIONS = ["-Q", str(HERE / "theories"), "Paramverify"]
CLOSED = "Closed under the global context"


def listed() -> dict[str, frozenset[str]]:
    """Returns the axioms of each theorem of the list."""
    found = {}
    for line in (HERE / "axioms.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, axioms = line.partition(":")
            found[name.strip()] = frozenset(axioms.split())
    return found


def used(theorem: str) -> frozenset[str]:
    """Returns the axioms that Coq finds below a theorem such as `Sound.check_sound`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "asked.v"
        module = theorem.partition(".")[0]
        file.write_text(
            f"From Paramverify Require {module}.\nPrint Assumptions {theorem}.\n", encoding="utf-8"
        )
        done = subprocess.run(["coqc", *OPTIONS, str(file)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{theorem}: {done.stderr.strip()}")
    if CLOSED in done.stdout:
        return frozenset()
    # A name begins a line, what it says is behind a colon, and longer statements are indented.
    return frozenset(
        re.findall(r"^([A-Za-z_][\w.']*)\s*:", done.stdout.replace("\n  ", " "), re.MULTILINE)
    ) - {"Axioms"}


def main() -> None:
    """Prints one line for each theorem; ends with code 1 where one rests on something else than listed."""
    wrong = False
    for theorem, axioms in listed().items():
        found = used(theorem)
        wrong |= found != axioms
        for name in sorted(found - axioms):
            print(f"{theorem}: rests on {name}, which is not in axioms.txt")
        for name in sorted(axioms - found):
            print(f"{theorem}: does not rest on {name}, which is in axioms.txt")
        if found == axioms:
            print(f"{theorem}: {len(found)} axioms, as listed")
    if wrong:
        sys.exit(1)
    modules = sorted(f"Paramverify.{path.stem}" for path in (HERE / "theories").glob("*.v"))
    command = ["coqchk", "-silent", *OPTIONS]
    for module in modules:
        command += ["-norec", module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"coqchk: {done.stdout}{done.stderr}")
    print(f"coqchk: {len(modules)} theories are right")


if __name__ == "__main__":
    main()
