"""Decision processes of the PRISM benchmark suite: all probabilities that its files ask for, and Storm.

    python benchmarks/decision_processes.py FOLDER [--states 100000] [--limit 300] [--only csma]

FOLDER is `models/mdps` of github.com/prismmodelchecker/prism-benchmarks: each folder in it has files of
PRISM, properties, and `models.csv` with the values of the constants and the numbers of states. Each P formula
is answered by Storm with exact numbers, by Storm with floats, and by `paramverify logic`, in processes of
their own, on all models with at most `--states` states. Formulas about rewards are left out. Seconds are
processor seconds, summed over the formulas and constants of a file. Prints Markdown for docs/benchmarks.md,
and after the rows of a folder what differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

STORM = """
import sys, stormpy
stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
file, constants, formula, kind = sys.argv[1:]
program = stormpy.parse_prism_program(file)
program, _ = stormpy.instantiate_constants(program, constants)
asked = stormpy.parse_properties(formula, program)
model = stormpy.build_model[{"float": float, "exact": stormpy.Rational}[kind]](program, asked)
found = stormpy.model_checking(model, asked[0])
first = model.initial_states[0]
qualitative = found.is_qualitative()
print(found.get_truth_values_vector().get(first) if qualitative else found.get_value(first))
"""

LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""

NAMED = re.compile(r'^\s*(?:"[^"]*"\s*:)?\s*(.*?);?\s*$')
PATH = re.compile(r"^(?P<head>P\w*\s*[^\[]*\[)\s*(?P<kind>[FG])\s(?P<rest>.*)\]$")


@dataclass(frozen=True)
class Model:
    """A file of PRISM with values for its constants, and how many states its authors tell."""

    file: Path
    constants: str
    states: int


@dataclass(frozen=True)
class Spent:
    """What a command used, in processor seconds, and what it printed."""

    seconds: float
    code: int
    said: str


def models(folder: Path) -> Iterator[Model]:
    """Yields the models that a folder of the suite lists."""
    with (folder / "models.csv").open() as lines:
        for row in csv.DictReader(lines):
            yield Model(folder / row["model_file"], row["model_consts"], int(row["states"]))


def formulas(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields the formulas of a folder's property files, with the files' names."""
    for file in sorted(folder.glob("*.pctl")):
        for line in file.read_text().splitlines():
            text = line.partition("//")[0].strip()
            if text and not text.startswith("const"):
                found = NAMED.match(text)
                assert found
                yield file.stem, found[1]


def bracketed(formula: str) -> str:
    """Returns a formula with the brackets that PRISM reads: F and G take all that follows."""
    found = PATH.match(formula)
    return f"{found['head']} {found['kind']} ({found['rest'].strip()}) ]" if found else formula


def spent(command: list[str], limit: float) -> Spent:
    """Runs a command, with a limit of processor seconds for each of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limited = [sys.executable, "-c", LIMITED, str(int(limit)), *command]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(seconds, done.returncode, (done.stdout.strip() or done.stderr.strip()[-300:]))


def by_storm(model: Model, formula: str, kind: str, limit: float) -> Spent:
    """Returns what Storm answers, with floats or exact numbers."""
    return spent([sys.executable, "-c", STORM, str(model.file), model.constants, formula, kind], limit)


def by_us(model: Model, formula: str, limit: float) -> Spent:
    """Returns what the command answers: a number, true or false, or why there is no answer."""
    command = [sys.executable, "-m", "paramverify", "logic", str(model.file), "--json"]
    if model.constants:
        command += ["--constant", model.constants]
    done = spent([*command, "-p", bracketed(formula), "--timeout", str(limit)], limit)
    if done.code not in (0, 1, 3):
        return done
    found = json.loads(done.said)
    asked = found.get("answers", {}).get("property")
    if asked is None:
        return Spent(done.seconds, done.code, found["properties"]["property"]["verdict"])
    values = asked.get("values")
    return Spent(done.seconds, done.code, values[0]["value"] if values else str(asked))


def same(theirs: str, ours: str) -> bool:
    """Tells whether two answers are the same number, or the same truth value."""
    if theirs.lower() in ("true", "false"):
        return theirs.lower() == ours.lower()
    try:
        return Fraction(theirs) == Fraction(ours)
    except ValueError:
        return False


@dataclass
class Row:
    """What was found about one file: all its models and P formulas, the sums of the seconds."""

    states: int = 0
    formulas: int = 0
    alike: int = 0
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])  # Storm twice, and ours

    def cells(self, name: str) -> str:
        """A row of the table."""
        seconds = " | ".join(f"{found:.1f}" for found in self.seconds)
        return f"| {name} | {self.states:,} | {self.formulas} | {self.alike} | {seconds} |"


def measure(folder: Path, most: int, limit: float) -> Iterator[str]:
    """Yields the rows of a folder, and after them a line for each answer that differs."""
    rows: dict[str, Row] = {}
    differ = []
    asked = [(name, text) for name, text in formulas(folder) if text.startswith("P")]
    for model in models(folder):
        if model.states > most:
            continue
        row = rows.setdefault(model.file.stem, Row())
        row.states = max(row.states, model.states)
        for name, formula in asked:
            exact = by_storm(model, formula, "exact", limit)
            ours = by_us(model, formula, limit)
            every = (by_storm(model, formula, "float", limit), exact, ours)
            row.seconds = [old + found.seconds for old, found in zip(row.seconds, every, strict=True)]
            row.formulas += 1
            if exact.code == 0 and same(exact.said, ours.said):
                row.alike += 1
            else:
                title = f"{model.file.stem} {model.constants} {name}"
                differ.append(f"{title}: Storm {exact.said[-300:]!r}, ours {ours.said[-300:]!r}")
    yield from (row.cells(name) for name, row in rows.items())
    yield from differ


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--states", type=int, default=100_000, help="the largest model")
    parser.add_argument("--limit", type=float, default=300, help="processor seconds")
    parser.add_argument("--only", default="", help="folders whose name has this text")
    arguments = parser.parse_args()
    os.environ["PARAMVERIFY_HISTORY"] = "off"
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    titles = (
        "file",
        "states at most",
        "P formulas",
        "the same",
        "Storm, floats: s",
        "Storm, exact: s",
        "ours: s",
    )
    print(f"| {' | '.join(titles)} |")
    print("| --- " * len(titles) + "|")
    for folder in sorted(arguments.folder.iterdir()):
        if arguments.only in folder.name and (folder / "models.csv").exists():
            for line in measure(folder, arguments.states, arguments.limit):
                print(line, flush=True)


if __name__ == "__main__":
    main()
