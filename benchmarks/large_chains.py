"""Large Markov chains from PRISM files: the whole command against Storm's own time, and the memory of both.

    python benchmarks/large_chains.py [--sizes 100,300,1000] [--models FOLDER] [--limit 300]

Two models are written here. In the grid the exact probability has thousands of digits; the race goes round
in circles of four states. With `--models` the files of other people in a folder are used as well: the chains
`brp`, `crowds`, `egl` and `nand` of the PRISM benchmark suite (github.com/ahartmanns/qcomp has them). Storm
builds each model for the property and checks it, once with floats and once exactly, in processes of their own
in the same run; ours is the command `paramverify logic`, all its processes together. Seconds are processor
seconds, memory is the largest resident size of one process. Prints Markdown for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

GRID = """dtmc
const int N;
module walk
  x : [0..N] init 0;
  y : [0..N] init 0;
  [] x<N & y<N -> 1/2 : (x'=x+1) + 1/3 : (y'=y+1) + 1/6 : true;
  [] x<N & y=N -> (x'=x+1);
  [] x=N & y<N -> (y'=y+1);
  [] x=N & y=N -> true;
endmodule
label "goal" = x=N & y<N;
"""

RACE = """dtmc
const int N;
module race
  x : [0..N] init 0;
  y : [0..N] init 0;
  turn : [0..3] init 0;
  [] x<N & y<N & turn=0 -> 1/2 : (turn'=1) + 1/2 : (x'=x+1);
  [] x<N & y<N & turn=1 -> 1/2 : (turn'=2) + 1/2 : (y'=y+1) & (turn'=0);
  [] x<N & y<N & turn=2 -> (turn'=3);
  [] x<N & y<N & turn=3 -> (turn'=0);
  [] x=N | y=N -> true;
endmodule
label "goal" = x=N;
"""

STORM = """
import sys, stormpy
stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)
file, constants, path, kind = sys.argv[1:]
program = stormpy.parse_prism_program(file)
program, _ = stormpy.instantiate_constants(program, constants)
asked = stormpy.parse_properties(f"P=? [ {path} ]", program)
model = stormpy.build_model[{"float": float, "exact": stormpy.Rational}[kind]](program, asked)
value = stormpy.model_checking(model, asked[0]).get_value(model.initial_states[0])
print(model.nr_states, model.nr_transitions, float(value))
"""


@dataclass(frozen=True)
class Subject:
    """A PRISM file with constants, and a path formula about it."""

    name: str
    file: Path
    constants: str
    path: str


@dataclass(frozen=True)
class Spent:
    """What a command used: processor seconds, megabytes, its exit code and its last line."""

    seconds: float
    memory: int
    code: int
    said: str

    @property
    def cells(self) -> str:
        """The two columns of the table."""
        return (
            f"{self.seconds:.1f} | {self.memory}"
            if self.code in (0, 1)
            else f"over {self.seconds:.0f} | {self.memory}"
        )


def others(folder: Path) -> list[Subject]:
    """Returns models of other people, in the folders that the collection has."""
    return [
        Subject("brp", folder / "brp" / "brp.prism", "N=256,MAX=40", "F s=5"),
        Subject("crowds", folder / "crowds" / "crowds.prism", "TotalRuns=4,CrowdSize=15", "F observe0>1"),
        Subject("crowds", folder / "crowds" / "crowds.prism", "TotalRuns=5,CrowdSize=15", "F observe0>1"),
        Subject("egl", folder / "egl" / "egl.prism", "N=5,L=8", 'F (!"knowA" & "knowB")'),
        Subject("nand", folder / "nand" / "nand.prism", "N=20,K=4", "F (s=4 & z<2)"),
    ]


def spent(command: list[str], limit: float) -> Spent:
    """Runs a command, with a limit of processor seconds for each of its processes."""
    process = subprocess.Popen(
        [sys.executable, "-c", LIMITED, str(int(limit)), *command], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    said = process.stdout.read().strip().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    return Spent(seconds, usage.ru_maxrss // 1024, process.returncode, said[-1] if said else "")


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
os.execv(sys.argv[2], sys.argv[2:])
"""


def measure(subject: Subject, limit: float) -> str:
    """Returns one row of the table."""
    storm = [sys.executable, "-c", STORM, str(subject.file), subject.constants, subject.path]
    floats, exact = (spent([*storm, kind], limit) for kind in ("float", "exact"))
    states, transitions, value = floats.said.split() if floats.code == 0 else ("0", "0", "1")
    bound = f"{0.9 * float(value):.3g}"
    ours = [sys.executable, "-m", "paramverify", "logic", str(subject.file), "--constant", subject.constants]
    proved = spent([*ours, "-p", f"P>={bound} [ {subject.path} ]", "--timeout", str(limit)], limit)
    allowed = f"{2 * exact.seconds + 5:.1f}" if exact.code == 0 else "none"
    return (
        f"| {subject.name} {subject.constants} | {int(states):,} | {int(transitions):,} | {floats.cells} | "
        f"{exact.cells} | {proved.cells} | {allowed} | {bound}: {proved.said.rstrip('.')} |"
    )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="100,300,1000", help="of the grid; the race has half of it")
    parser.add_argument("--models", type=Path, help="a folder with models of other people")
    parser.add_argument("--limit", type=float, default=300, help="processor seconds")
    arguments = parser.parse_args()
    os.environ["PARAMVERIFY_HISTORY"] = "off"
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    titles = ("model", "states", "transitions", "Storm, floats: s", "MB", "Storm, exact: s", "MB")
    titles = (*titles, "ours: s", "MB", "goal s", "P>=")
    print(f"| {' | '.join(titles)} |")
    print("| --- " * len(titles) + "|")
    with TemporaryDirectory() as folder:
        grid, race = Path(folder) / "grid.prism", Path(folder) / "race.prism"
        grid.write_text(GRID)
        race.write_text(RACE)
        subjects = others(arguments.models) if arguments.models else []
        for size in map(int, arguments.sizes.split(",")):
            subjects.append(Subject("grid", grid, f"N={size}", 'F "goal"'))
            subjects.append(Subject("race", race, f"N={size // 2}", 'F "goal"'))
        for subject in subjects:
            print(measure(subject, arguments.limit), flush=True)


if __name__ == "__main__":
    main()
