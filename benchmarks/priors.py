"""Large priors: how long reading and proving take, as whole processes, and what listing assignments costs.

    python benchmarks/priors.py [--only chain-200,grid] [--limit 300] [--listed]

Each row is one case with parameters p and c, if nothing else is said, and the noisy number of ill people.
`read` is a process that reads the case, `prove` is `paramverify verify` with a budget that the case keeps,
`exact` is the same with `--evidence`, which decides the exact claims, and `check` is `check --case` of that.
Times are processor seconds of the process and its children; memory is the most that one process has had.
With `--listed` small chains are read by elimination and by listing all
assignments. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PASSED_ON = '{ 0 = { 0 = "9/10", 1 = "1/10" }, 1 = { 0 = "1-c", 1 = "c" } }'
FROM_OUTSIDE = '{ 0 = { 0 = "1-p", 1 = "p" }, 1 = { 0 = "1-c", 1 = "c" } }'
FROM_TWO = (
    '{ "0,0" = { 0 = "9/10", 1 = "1/10" }, "0,1" = { 0 = "1-c", 1 = "c" }, '
    '"1,0" = { 0 = "1-c", 1 = "c" }, "1,1" = { 0 = "(1-c)**2", 1 = "1-(1-c)**2" } }'
)
READ = "import sys; from paramverify.privacy.cases import load; print(len(load(sys.argv[1]).inputs))"
LISTED = (
    "import sys; from paramverify.models import priors; priors.MAX_ASSIGNMENTS = int(sys.argv[2]); "
    "from paramverify.privacy.cases import load; load(sys.argv[1])"
)
STOPPED = 124  # exit code of `timeout`


@dataclass(frozen=True)
class Goal:
    """A prior, the person that the secrets are about, how many are counted, and a budget that is kept."""

    prior: str
    secret: str
    people: int
    query: str = "sum(person)"
    ratio: str = "5"
    proved: bool = True
    evidence: bool = True  # of the exact claims, which a proof by windows does not need

    @property
    def text(self) -> str:
        """The case file."""
        return (
            f'[parameters]\np = "[1/10, 2/5]"\nc = "[1/10, 3/10]"\n{self.prior}\n'
            f'[secrets]\nill = "{self.secret} == 1"\nwell = "{self.secret} == 0"\npairs = [["ill", "well"]]\n'
            f'[mechanism]\nkind = "geometric"\nquery = "{self.query}"\n'
            f'noise = {{ truncated_geometric = "1/2", range = {self.people} }}\n'
            f"[privacy]\nratio = {self.ratio}\n"
        )


def chain(people: int, table: str = PASSED_ON) -> str:
    """Returns the prior of a row of people."""
    first = 'first = { bernoulli = "p" }'
    return f'[prior.person]\ncount = {people}\ngiven = "person[i-1]"\n{first}\ntable = {table}'


TREE = (
    '[prior.person]\ncount = 100\ngiven = "person[i // 2]"\n'
    f'first = {{ bernoulli = "p" }}\ntable = {PASSED_ON}'
)
HOUSEHOLDS = (
    '[prior.head]\ncount = 30\nbernoulli = "p"\n'
    f'[prior.member]\ncount = [30, 3]\ngiven = "head[i]"\ntable = {PASSED_ON}'
)
GRID = (
    '[prior.cell]\ncount = [12, 4]\ngiven = ["cell[i-1, j]", "cell[i, j-1]"]\n'
    f'first = {{ bernoulli = "p" }}\noutside = 0\ntable = {FROM_TWO}'
)
NUMBERS = '{ 0 = { 0 = "9/10", 1 = "1/10" }, 1 = { 0 = "3/5", 1 = "2/5" } }'
GOALS = {
    "chain-50": Goal(chain(50), "person[25]", 50),
    "chain-200": Goal(chain(200), "person[1]", 200, evidence=False),
    "chain-200-middle": Goal(chain(200), "person[100]", 200, evidence=False),
    "chain-200-violated": Goal(chain(200), "person[100]", 200, ratio="2"),
    "chain-40-outside": Goal(chain(40, FROM_OUTSIDE), "person[20]", 40, proved=False),
    "chain-30-everybody": Goal(chain(30), "person[i]", 30),
    "tree-100": Goal(TREE, "person[1]", 100, ratio="40"),
    "households-30-4": Goal(HOUSEHOLDS, "head[1]", 120, "sum(head) + sum(member)", "16"),
    "grid-4-12": Goal(GRID, "cell[1, 1]", 48, "sum(cell)", "8"),
    "series-1000": Goal(chain(1000, NUMBERS), "person[500]", 1000, evidence=False),
}


def measured(command: list[str], limit: int) -> tuple[str, str, int]:
    """Runs a command, and returns its processor seconds, its memory, and its exit code."""
    with subprocess.Popen(
        ["timeout", str(limit), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == STOPPED:
        return f"more than {limit} s", "", -1
    return f"{used.ru_utime + used.ru_stime:.1f} s", f"{used.ru_maxrss // 1024} MB", process.returncode


def row(name: str, goal: Goal, folder: Path, limit: int) -> None:
    """Prints the times of one goal."""
    case, evidence = folder / f"{name}.toml", folder / f"{name}.json"
    case.write_text(goal.text, encoding="utf-8")
    read, memory, code = measured([sys.executable, "-c", READ, str(case)], limit)
    if code > 0:
        read = "error"
    proved, exact, checked, verdict = "", "", "", ""
    tool = [sys.executable, "-m", "paramverify"]
    ends = ["--timeout", str(limit)]
    if goal.proved and code == 0:
        proved, memory, code = measured([*tool, "verify", str(case), *ends], limit + 10)
        verdict = {0: "private", 1: "not private"}.get(code, "undecided")
    if goal.proved and goal.evidence and code in (0, 1):
        command = [*tool, "verify", str(case), "--evidence", str(evidence), *ends]
        exact, _, code = measured(command, limit + 10)
    if evidence.exists():
        count = len(json.loads(evidence.read_text(encoding="utf-8"))["statements"])
        verdict = f"{verdict}, {count} statements"
        checked, _, code = measured([*tool, "check", str(evidence), "--case", str(case), *ends], limit + 10)
        checked += "" if code == 0 else f" (exit code {code})"
    print(f"| {name} | {read} | {proved} | {exact} | {checked} | {verdict} | {memory} |", flush=True)


def listed(folder: Path, limit: int) -> None:
    """Prints how long small chains take with a list of all assignments, and without."""
    print("| people | assignments | listed | eliminated |\n| --- | --- | --- | --- |")
    for people in (6, 8, 10, 12, 14):
        case = folder / f"listed-{people}.toml"
        case.write_text(Goal(chain(people), "person[1]", people).text, encoding="utf-8")
        times = [
            measured([sys.executable, "-c", LISTED, str(case), most], limit)[0] for most in ("1000000", "0")
        ]
        print(f"| {people} | {2**people:,} | {' | '.join(times)} |", flush=True)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(GOALS))
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--listed", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.listed:
            listed(Path(folder), given.limit)
            return
        print("| prior | read | prove | exact | check | verdict | memory |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for name in given.only.split(","):
            row(name, GOALS[name], Path(folder), given.limit)


if __name__ == "__main__":
    main()
