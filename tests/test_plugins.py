"""Registries: one new file each in a copy of the package, and a package beside it, work everywhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import additions
import pytest
import warm_processes
from conftest import ROOT
from jsonschema import Draft7Validator

import paramverify
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.polynomials import Ring
from paramverify.answers import Open, Proved, Refuted
from paramverify.backends import NEEDED, discover, program
from paramverify.claims import Claim
from paramverify.evidence.certificates import replayed
from paramverify.processes.attempts import formed
from paramverify.processes.runner import checked
from paramverify.reports.case_schema import schema

PACKAGE = Path(paramverify.__file__).parent
HARD = "(2 - q)/q + q**4 + r**4 - q*r + 27/200"  # more than the ratio (2 - q)/q, but not at first sight
EVERYTHING = "import paramverify.backends as b; print(len({b.program(x, x.name) for x in b.taking_part()}))"


@dataclass(frozen=True)
class Extended:
    """A Python in whose path the package and what extends it are found."""

    path: tuple[Path, ...]
    folder: Path

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs Python with the arguments; the package as it is has been imported before."""
        if PACKAGE.parent in self.path:
            added = [str(path) for path in self.path if path != PACKAGE.parent]
            return warm_processes.run([*map(str, arguments)], self.folder, os.environ, added)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, self.path))}
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )

    def call(self, *arguments: str | Path, code: int = 0) -> str:
        """Returns what a command of paramverify prints; it has to end with the code."""
        done = self.run("-m", "paramverify", *arguments)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def case(self, ratio: str) -> Path:
        """Returns a case file with that bound."""
        path = self.folder / f"flipped-{len(ratio)}-{ratio[0]}.toml"
        text = additions.CASE.replace("RATIO", ratio)
        if ratio == HARD:
            text = text.replace('q = "[1/4, 1/2]"', 'q = "(0, 1]"\nr = "[0, 1]"')
        path.write_text(text)
        return path


def copied(folder: Path) -> Extended:
    """Returns a copy of the package, compiled modules included, with one file more in each registry."""
    copy = folder / "copy" / "paramverify"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*-pytest-*"))
    additions.add_files(copy)
    return Extended((copy.parent,), folder)


def beside(folder: Path) -> Extended:
    """Returns the package as it is, with an installed package beside it."""
    site = folder / "site"
    site.mkdir()
    additions.add_plugin(site)
    return Extended((site, PACKAGE.parent), folder)


@pytest.fixture(scope="module", params=[copied, beside], ids=["one-file-each", "plugin"])
def extended(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Extended:
    """The package, extended in each of the two ways."""
    made: Extended = request.param(tmp_path_factory.mktemp("extended"))
    return made


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> Extended:
    """The package with an installed package beside it, where a test starts many processes."""
    return beside(tmp_path_factory.mktemp("plugged"))


def test_the_backend_of_the_page_works() -> None:
    """The backend in docs/extending.md is complete: its refutation stands, and the kernel takes its proof."""
    page = (ROOT / "docs/extending.md").read_text()
    codes = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    (code,) = (found for found in codes if "BACKENDS =" in found)
    names: dict[str, Any] = {}
    exec(code, names)
    (backend,) = names["BACKENDS"]
    assert all(hasattr(backend, member) for member in NEEDED)
    ring = Ring(("p", "q"))
    domain = Domain(ring, {name: Interval(Fraction(0), Fraction(1)) for name in ring.names})
    true, false, hard = (
        Claim(ring.parse(text), domain) for text in ("p*q + 1/7", "p - q^2 - 1/2", "p - q + 2")
    )
    proved, refuted, left = (formed(backend.decide(c, {}), c) for c in (true, false, hard))
    assert isinstance(proved, Proved)
    assert proved.certificate is not None
    assert replayed(true, proved.certificate) == ()
    assert isinstance(checked(refuted, false), Refuted)
    assert isinstance(left, Open)


@pytest.mark.slow
def test_a_backend_takes_part(plugged: Extended) -> None:
    """The new backend is listed, is used by its name, and races by default in the place that it says."""
    assert re.search(r"^parrot +7\.1 +says what", plugged.call("backends"), re.MULTILINE)
    case = plugged.case(HARD)
    named = json.loads(plugged.call("verify", case, "--backends", "parrot", "--json"))
    assert named["status"] == "holds"
    assert "parrot" in {claim["backend"] for claim in named["claims"]}
    script = "from paramverify.portfolio.strategies import NAMED; print(NAMED['default'][1].names()[:2])"
    assert plugged.run("-c", script).stdout == "('bernstein', 'parrot')\n"
    # As many programs as there are have to prove each claim by the default strategy, so this one has to.
    programs = plugged.run("-c", EVERYTHING).stdout.strip()
    every = json.loads(plugged.call("verify", plugged.case("8"), "--confirm", programs, "--json"))
    assert every["status"] == "holds"
    assert all("parrot" in claim["backend"].split(", ") for claim in every["claims"])


@pytest.mark.slow
def test_the_schema_has_the_keys_of_additions(plugged: Extended) -> None:
    """A mechanism that declares its keys is in the schema; noise that declares none may have any."""
    check = Draft7Validator(json.loads(plugged.call("schema")))
    data = tomllib.loads(plugged.case("8").read_text())
    assert check.is_valid(data)
    data["mechanism"]["noise"]["anything"] = True
    assert check.is_valid(data)
    data["mechanism"]["queries"] = 3
    (error,) = check.iter_errors(data)
    assert "'queries' was unexpected" in error.message
    without = Draft7Validator(schema())
    assert not without.is_valid(tomllib.loads(plugged.case("8").read_text()))


@pytest.mark.slow
def test_an_encoding_is_chosen_and_compared(extended: Extended) -> None:
    """The new encoding is what suits best by its own word, and `compare` knows it by its name."""
    script = (
        "import sys; from paramverify.privacy.cases import load; from paramverify.encodings.choice import *; "
        "m = load(sys.argv[1]).model; print(chosen(m).name, claims_of(m) and "
        "[c.text() for c in claims_of(m)] == [c.text() for c in listed_claims(m)][::-1])"
    )
    assert extended.run("-c", script, extended.case("8")).stdout == "reversed True\n"
    arguments = ("--encodings", "reversed,sequences", "--backends", "parrot", "--timeout", "20", "--json")
    document = json.loads(extended.call("compare", extended.case("8"), *arguments, "-o", "out"))
    records = [json.loads(line) for line in (extended.folder / "out/results.jsonl").read_text().splitlines()]
    assert {(r["encoding"], r["backend"], r["status"]) for r in records} == {
        ("reversed", "parrot", "holds"),
        ("sequences", "parrot", "holds"),
    }
    assert not document["disagreements"]
    assert "reversed" in extended.call("compare", "--help")


@pytest.mark.slow
def test_a_mechanism_and_its_noise_work_everywhere(plugged: Extended) -> None:
    """A case with the new mechanism and noise is verified, shown, sampled, and its evidence checked."""
    good, bad = plugged.case("8"), plugged.case("4")
    proof, witness = plugged.folder / "proof.json", plugged.folder / "witness.json"
    assert plugged.call("verify", good, "--evidence", proof).startswith("private")
    assert "not private" in plugged.call("verify", bad, "--evidence", witness, code=1)
    for evidence, case in ((proof, good), (witness, bad)):
        assert "\nchecked: " in plugged.call("check", evidence, "--case", case)
        plugged.call("check", evidence)
    assert "1/2*q" in plugged.call("show", good).replace("q/2", "1/2*q")
    budget = json.loads(plugged.call("budget", good, "--json"))
    assert budget["ratio"] == "7"
    drawn = json.loads(
        plugged.call("sample", bad, "--direct", "--at", "q=1/4", "--runs", "20000", "--json", code=1)
    )
    assert drawn["status"] == "rejected"
    assert plugged.call("sample", bad, "--direct", "--audit", "--at", "q=1/4", "--runs", "20000")


@pytest.mark.slow
def test_a_command_is_one_file(tmp_path: Path) -> None:
    """The new command stands in the list where it says, and runs."""
    made = copied(tmp_path)
    shown = made.call("--help")
    assert re.search(r"\n  certify .*\n  greet        Print a greeting.\n  sample ", shown, re.DOTALL)
    assert made.call("greet") == "hello\n"


# --- the tables of the documentation ------------------------------------------------------------------

HELP = """
from paramverify.cli.main import run
for words in (["--help"], ["verify", "--help"], ["compare", "--help"], ["backends", "--help"]):
    assert run(words) == 0
"""


def test_the_table_has_every_backend(root: Path) -> None:
    """The table in docs/extending.md has a row for each backend, with its place and its program."""
    text = (root / "docs" / "extending.md").read_text()
    rows = text.partition("\n| backend |")[2].partition("\n\n")[0].splitlines()[2:]
    shown = [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]
    places = {name: getattr(backend, "place", None) for name, backend in discover().items()}
    assert {name: place.partition(":")[0] for name, place, _ in shown} == {
        name: "none" if place is None else str(place) for name, place in places.items()
    }
    assert [found for name, _, found in shown if found != program(discover()[name], name)] == []


# --- plugins that do not work -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "text", "reason"),
    [
        ("[paramverify.backends]\nbad = additions.bad", text, reason)
        for text, reason in (
            ("import nothing_of_that_name", "cannot be imported"),
            ("", "exports no BACKENDS"),
            (
                additions.BACKEND.replace('"parrot"', '"z3"'),
                "exists already: the backend 'z3'",
            ),
            ("BACKENDS = 5", "BACKENDS is not a tuple of backends"),
            ("BACKENDS = ('a',)", "a backend has no name"),
            (additions.BACKEND.replace("builtin = False", "builtin = True"), "says that it is built in"),
            (
                additions.BACKEND.replace("place = 5", "place = 'x'"),
                "the place of 'parrot' is not a",
            ),
            (additions.BACKEND.replace('return "7.1"', "return 1 / 0"), "fails: ZeroDivisionError"),
        )
    ]
    + [
        ("[paramverify.encodings]\nreversed = additions.bad", additions.ENCODING.replace(*change), reason)
        for change, reason in (
            (("ENCODING = ", "OTHER = "), "exports no ENCODING"),
            (("suits=lambda model: 3", "suits=lambda model: 'well'"), "must say by a whole number"),
            (("    again=sequences.ENCODING.again,\n", ""), "then it needs claims, and again or certificate"),
        )
    ]
    + [
        ("[paramverify.mechanisms]\nflipped = additions.bad", text, reason)
        for text, reason in (
            ("oops", "NameError: name 'oops' is not defined"),
            ("read = 1", "has no function read"),
            ("def read(table, checks): ...", "reads no mechanism"),
            ("class Odd(Exception): ...\nraise Odd('strange')", "cannot be imported: Odd: strange"),
            ("def read(table, checks): raise KeyError('k')", "fails: KeyError: 'k'"),
        )
    ]
    + [
        (
            "[paramverify.mechanisms]\ngeometric = additions.bad",
            additions.MECHANISM,
            "already: the mechanism 'geometric'",
        ),
        ("[paramverify.noise]\ntable = additions.bad", additions.NOISE, "already: the noise 'table'"),
        ("[paramverify.noise]\nblurred = additions.bad", "", "exports no NOISE"),
        (
            "[paramverify.noise]\nblurred = additions.bad",
            additions.NOISE.replace("return Noise(rows)", "return None"),
            "reads no Noise",
        ),
    ],
)
def test_a_plugin_that_fails_is_named(point: str, text: str, reason: str, tmp_path: Path) -> None:
    """A plugin that cannot be imported, offers nothing, or takes a name is an error that names it."""
    made = beside(tmp_path)
    (tmp_path / "site/additions/bad.py").write_text(text)
    others = "" if "mechanisms" in point else "[paramverify.mechanisms]\nflipped = additions.flipped\n"
    others += "" if "noise" in point else "[paramverify.noise]\nblurred = additions.blurred\n"
    (tmp_path / "site/additions-1.5.dist-info/entry_points.txt").write_text(f"{point}\n{others}")
    done = made.run("-m", "paramverify", "verify", made.case("8"))
    assert done.returncode == 2
    assert reason in done.stderr
    assert "additions 1.5" in done.stderr or "additions.bad" in done.stderr
    if "imported" in reason:
        assert made.run("-c", HELP).stdout.count("Usage: ") == 4


@pytest.mark.slow
def test_a_plugin_cannot_answer_for_the_command(tmp_path: Path) -> None:
    """A plugin that ends the process is a defect and no verdict; what it prints is no part of the answer."""
    made = beside(tmp_path)
    flipped = tmp_path / "site/additions/flipped.py"
    text = flipped.read_text()
    flipped.write_text("import os\nos._exit(0)\n" + text)
    done = made.run("-m", "paramverify", "verify", made.case("8"))
    assert (done.returncode, done.stdout) == (70, "")
    assert "ended before it was done" in done.stderr
    flipped.write_text("print('listen')\n" + text)
    done = made.run("-m", "paramverify", "verify", made.case("8"), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "holds"


@pytest.mark.slow
def test_a_limit_in_a_plugin_is_a_limit(tmp_path: Path) -> None:
    """A plugin whose import does not end meets the time limit, like everything else."""
    made = beside(tmp_path)
    (tmp_path / "site/additions/flipped.py").write_text("while True: pass")
    done = made.run("-m", "paramverify", "verify", made.case("8"), "--timeout", "2")
    assert done.returncode == 3


@pytest.mark.slow
def test_evidence_with_new_noise_is_accepted(tmp_path: Path) -> None:
    """The second reader leaves out a kind of noise that it does not know, and says so."""
    made = beside(tmp_path)
    case, evidence = tmp_path / "blurred.toml", tmp_path / "evidence.json"
    case.write_text(additions.CASE.replace("RATIO", "8").replace('"flipped"', '"geometric"'))
    made.call("verify", case, "--evidence", evidence)
    assert "not read a second time" in made.call("check", evidence, "--case", case)


@pytest.mark.slow
def test_files_that_are_wrong_are_told(tmp_path: Path) -> None:
    """A command without its line, and an encoding with a name that exists, are errors, never a verdict."""
    made = copied(tmp_path)
    package = tmp_path / "copy/paramverify"
    (package / "cli/greet.py").write_text(additions.COMMAND.replace("LISTED", "Listed"))
    done = made.run("-m", "paramverify", "verify", made.case("8"))
    assert done.returncode == 70
    assert "the module of the command greet has no line LISTED" in done.stderr
    (package / "cli/greet.py").unlink()
    (package / "encodings/zz.py").write_text(additions.ENCODING.replace('"reversed"', '"sequences"'))
    done = made.run("-m", "paramverify", "verify", made.case("8"))
    assert done.returncode == 2
    assert "there are two encodings called 'sequences'" in done.stderr


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("[r + r for r in noise.rows[int(x[0])][::-1]]", "the probabilities sum to 2 instead of 1"),
        ("[r * noise.rows[0][0] for r in noise.rows[int(x[0])]]", "instead of 1"),
    ],
)
def test_rows_of_a_new_mechanism_are_checked(row: str, reason: str, tmp_path: Path) -> None:
    """A mechanism that does not check its probabilities gets no verdict where they are none."""
    made = beside(tmp_path)
    wrong = additions.MECHANISM.replace("noise.rows[int(x[0])][::-1]", row)
    (tmp_path / "site/additions/flipped.py").write_text(wrong)
    done = made.run("-m", "paramverify", "verify", made.case("8"))
    assert done.returncode == 2
    assert reason in done.stderr


@pytest.mark.slow
def test_whose_claims_they_are_is_told(tmp_path: Path) -> None:
    """A verdict on the claims of a plugin's encoding names the plugin; that of ours names none."""
    made = beside(tmp_path)
    case = made.case("8")
    told = "the claims are those of the plugin 'reversed' of the package additions 1.5"
    assert told in made.call("verify", case)
    assert told in " ".join(json.loads(made.call("verify", case, "--json"))["notes"])
    points = tmp_path / "site/additions-1.5.dist-info/entry_points.txt"
    kept = [line for line in points.read_text().splitlines() if not line.startswith("reversed")]
    points.write_text("\n".join(kept) + "\n")
    assert "the claims are those" not in made.call("verify", case)
