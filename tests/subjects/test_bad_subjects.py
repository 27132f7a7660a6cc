"""Subjects of other packages with mistakes: what the user is told of each, and what it may not change."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest
import warm_processes
from conftest import ROOT

CASE = ROOT / "cases" / "randomized-response.toml"
OWN = """
from pathlib import Path
from paramverify.answers import Standing
from paramverify.errors import InputError
from paramverify.subjects.kinds import WrittenAsCase
from paramverify.subjects.questions import Budget, Explain, Hand, Prove, Sample, Show, Synthesize, Verify
from paramverify.subjects.results import Result
from paramverify.subjects.subject import NotAsked, Subject

TEXT = '''
title = "A survey"
mechanism = { kind = "randomized_response", values = [0, 1], truth = "3/4" }
neighbours = { differ = "each" }
privacy = { ratio = "3" }
'''


class Own(Subject):
    name, title = "own", "one of ours"
    result = Result(["private"], {"verdict": "private"}, standing=Standing.HOLDS)

    def reads(self, file):
        return file.path.suffix == ".own"

    def read(self, file):
        return file.path.read_text()

    def answers(self):
        return {Verify: lambda file, asked, options, watch: self.result, Sample: NotAsked("it draws nothing")}


class Written(WrittenAsCase):
    name, title = "written", "a written one"

    def reads(self, file):
        return file.path.suffix == ".own"

    def case(self, file):
        return TEXT
"""


class Site:
    """A folder with a package whose subject is a class that derives from `Own` or `Written`."""

    def __init__(self, folder: Path, code: str) -> None:
        self.folder = folder
        (folder / "bad.py").write_text(
            f"{OWN}\n{textwrap.dedent(code)}\nSUBJECT = globals().get('Bad', Own)()\n"
        )
        metadata = folder / "bad-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text("[paramverify.subjects]\nbad = bad\n")
        (folder / "x.own").write_text("a line\n")
        (folder / "case.toml").write_text(CASE.read_text())

    def call(self, *arguments: str) -> tuple[int, str, str]:
        """Calls the command line."""
        done = warm_processes.run(
            ["-m", "paramverify", *arguments], self.folder, os.environ, [str(self.folder)]
        )
        return done.returncode, done.stdout, done.stderr

    def python(self, text: str) -> str:
        """Returns what Python prints; of an `InputError` it prints the message."""
        script = "import paramverify as p\nfrom paramverify.errors import InputError\ntry:\n"
        script += f"    print({text})\nexcept InputError as error:\n    print('InputError', error)\n"
        done = warm_processes.run(["-c", script], self.folder, os.environ, [str(self.folder)])
        return done.stdout + done.stderr

    def refused(self, *arguments: str) -> str:
        """Returns the message of an input error; it names no defect of paramverify, and no TOML."""
        code, out, err = self.call(*arguments)
        assert code == 2, out + err
        assert "defect" not in err
        assert "not TOML" not in err
        return " ".join(err.split())

    def blamed(self, *arguments: str) -> str:
        """Returns the message of an input error, which names the plugin."""
        told = self.refused(*arguments)
        assert "the plugin 'bad' of the package bad 1.0" in told
        return told


@pytest.mark.parametrize(
    ("line", "word"),
    [("name = 3", "name"), ("title = None", "title"), ("place = 'first'", "place")],
)
def test_attributes_are_checked(tmp_path: Path, line: str, word: str) -> None:
    """A subject without a name, a title, or with a place that is no number is refused; others stay usable."""
    site = Site(tmp_path, f"class Bad(Own):\n    {line}\n")
    assert f"attribute {word} " in site.blamed("verify", "x.own")
    assert site.call("verify", "case.toml")[0] == 0


def test_place_may_be_left_out(tmp_path: Path) -> None:
    """A subject has a place if it names none."""
    assert Site(tmp_path, "").call("verify", "x.own")[:2] == (0, "private\n")


def test_built_in_files_are_not_taken(tmp_path: Path) -> None:
    """A subject that reads everything gets only what nothing in this package recognises."""
    site = Site(tmp_path, "class Bad(Own):\n    def reads(self, file):\n        return True\n")
    for name in ("randomized-response", "interactive/slots-0", "logic/survey-coin", "inequalities/amgm-3"):
        path = ROOT / "cases" / f"{name}.toml"
        assert site.call("explain", str(path))[0] == 0
    (tmp_path / "other.toml").write_text("[survey]\nkeep = 1\n")
    (tmp_path / "broken.toml").write_text("[mechanism\n")
    for name in ("other.toml", "broken.toml", "x.own"):
        assert site.call("verify", name)[:2] == (0, "private\n")
