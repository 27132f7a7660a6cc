"""Compares the axioms on which the theorems rest with the list in axioms.txt: `python3 axioms.py`.

Each line of the list names a theorem and, behind a colon, all axioms that its proof uses. The list has every
theorem and corollary of the theories. Coq is asked by `Print Assumptions`. Then coqchk, which is a second and
smaller program, looks at the compiled theories again. `python3 axioms.py --write` writes the list anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPTIONS = ["-Q", str(HERE / "theories"), "Paramverify"]
MARK = "theorem:"
HEAD = """\
# All theorems, and the axioms on which their proofs rest: those of the real numbers of Coq's library.
# `make axioms` writes this file. `make check` has Coq print them again and compares.
"""


def stated() -> list[str]:
    """Returns the theorems of all theories, in the order in which these are built."""
    paths = re.findall(
        r"^theories/(\w+)\.v$", (HERE / "_CoqProject").read_text(encoding="utf-8"), re.MULTILINE
    )
    found = []
    for name in paths:
        text = re.sub(
            r"\(\*.*?\*\)", "", (HERE / "theories" / f"{name}.v").read_text(encoding="utf-8"), flags=re.DOTALL
        )
        found += [
            f"{name}.{each}"
            for each in re.findall(r"^\s*(?:Theorem|Corollary)\s+([\w']+)", text, re.MULTILINE)
        ]
    return found


def listed() -> dict[str, frozenset[str]]:
    """Returns the axioms of each theorem of the list."""
    found = {}
    for line in (HERE / "axioms.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, axioms = line.partition(":")
            found[name.strip()] = frozenset(axioms.split())
    return found


def used(asked_for: Iterable[str]) -> dict[str, frozenset[str]]:
    """Returns the axioms that Coq finds below theorems such as `Sound.check_sound`."""
    theorems = list(asked_for)
    modules = sorted({theorem.partition(".")[0] for theorem in theorems})
    asked = [f'Goal True. idtac "{MARK} {name}". Abort.\nPrint Assumptions {name}.' for name in theorems]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "asked.v"
        lines = [f"From Paramverify Require {' '.join(modules)}.", *asked, ""]
        file.write_text("\n".join(lines), encoding="utf-8")
        done = subprocess.run(["coqc", *OPTIONS, str(file)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"axioms.txt: {done.stderr.strip()}")
    found = {}
    for part in done.stdout.split(MARK)[1:]:
        name, _, told = part.strip().partition("\n")
        # A name begins a line, and what it says is behind a colon, which may stand on the next line.
        names = re.findall(r"^([A-Za-z_][\w.']*)\s*:", told, re.MULTILINE)
        found[name.strip()] = frozenset(names) - {"Axioms"}
    return found


def main() -> None:
    """Prints one line for each theorem; ends with code 1 where one rests on something else than listed."""
    if sys.argv[1:] == ["--write"]:
        lines = [f"{name}: {' '.join(sorted(axioms))}".rstrip() for name, axioms in used(stated()).items()]
        (HERE / "axioms.txt").write_text(HEAD + "\n".join([*lines, ""]), encoding="utf-8")
        return
    wrong = False
    wanted = listed()
    for name in set(stated()) ^ wanted.keys():
        wrong = True
        print(f"{name}: not in axioms.txt" if name not in wanted else f"{name}: there is no such theorem")
    answers = used(name for name in stated() if name in wanted)
    for theorem, found in answers.items():
        axioms = wanted[theorem]
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
