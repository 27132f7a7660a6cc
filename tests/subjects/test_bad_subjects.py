"""Subjects of other packages with mistakes: what the user is told of each, and what it may not change."""

from __future__ import annotations

import json
import os
import re
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


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("Result([], {})", "needs a standing"),
        ("None", "must be a Result, not NoneType"),
        ("Result('text', {}, standing=Standing.HOLDS)", "list of texts as its lines"),
        ("Result([], {'a': object()}, standing=Standing.HOLDS)", "cannot be written as JSON"),
        ("Result([], {}, standing=Standing.HOLDS, bounds=(3,))", "Bounds as its bounds"),
        ("Result([], {}, standing=Standing.VIOLATED, witness={'a': 1})", "a witness of the type dict"),
    ],
)
def test_results_are_checked(tmp_path: Path, result: str, words: str) -> None:
    """A result that cannot be told is the plugin's mistake, on the command line and in Python."""
    site = Site(tmp_path, f"class Bad(Own):\n    result = {result}\n")
    assert words in site.blamed("verify", "x.own")
    assert "x.own" in site.blamed("verify", "x.own", "--json")
    told = site.python("p.verify('x.own')")
    assert told.startswith("InputError")
    assert words in told


def test_the_exit_code_is_that_of_the_standing(tmp_path: Path) -> None:
    """A result of another package that is violated ends so, whatever its ending says."""
    site = Site(tmp_path, "class Bad(Own):\n    result = Result(['leaks'], {}, standing=Standing.VIOLATED)\n")
    assert site.call("verify", "x.own")[0] == 1


@pytest.mark.parametrize("method", ["reads", "read", "case", "answer"])
def test_what_fails_is_named(tmp_path: Path, method: str) -> None:
    """Whatever a plugin raises is told as its mistake, with the file."""
    code = {
        "reads": "class Bad(Own):\n    def reads(self, file):\n        return 1 / 0\n",
        "read": "class Bad(Own):\n    def read(self, file):\n        return 1 / 0\n",
        "case": "class Bad(Written):\n    def case(self, file):\n        return 1 / 0\n",
        "answer": "class Bad(Own):\n    def answers(self):\n        return {Verify: lambda *a: 1 / 0}\n",
    }[method]
    site = Site(tmp_path, code)
    assert "ZeroDivisionError" in site.python("p.verify('x.own')")
    assert site.python("p.verify('x.own')").startswith("InputError x.own: the plugin 'bad'")
    if method != "read":  # the answer of Own reads nothing
        assert "ZeroDivisionError" in site.blamed("verify", "x.own")


@pytest.mark.parametrize("text", ["None", "b'title = 1'"])
def test_a_case_is_a_text(tmp_path: Path, text: str) -> None:
    """A case that is no text is the plugin's mistake."""
    site = Site(tmp_path, f"class Bad(Written):\n    def case(self, file):\n        return {text}\n")
    assert "x.own: the plugin" in site.blamed("verify", "x.own")
    assert "must return the text of a case" in site.python("p.verify('x.own')")


BOTH = """
class Bad(Own):
    def answers(self):
        answer = lambda file, asked, options, watch: self.result
        return {Verify: answer, Budget: answer}
"""


@pytest.mark.parametrize(
    "words",
    [
        ["budget", "x.own", "--delta-for", "1"],
        ["budget", "x.own", "--precision", "1/10"],
        ["verify", "x.own", "--encoding", "monolithic"],
        ["verify", "x.own", "--require-certificates"],
        ["verify", "x.own", "--confirm", "2"],
        ["verify", "x.own", "-D", "p=1/2"],
    ],
)
@pytest.mark.parametrize("code", [BOTH, BOTH.replace("Own", "Written") + "    result = Own.result\n"])
def test_options_are_refused(tmp_path: Path, words: list[str], code: str) -> None:
    """An engine of its own takes no option that it does not know."""
    site = Site(tmp_path, code)
    assert site.call(*words[:2])[0] == 0
    option = next(word for word in words if word.startswith("-"))
    assert f"leave {option} out, it has its own engine" in site.refused(*words)


def test_options_are_refused_in_python(tmp_path: Path) -> None:
    """Arguments are refused as options are."""
    site = Site(tmp_path, BOTH)
    assert "it has its own engine" in site.python("p.budget('x.own', delta_for=1)")
    assert "it has its own engine" in site.python("p.verify('x.own', require_certificates=True)")
    assert "it has its own engine" in site.python("p.verify('x.own', confirm=2)")


def test_certificates_that_are_required_are_there(tmp_path: Path) -> None:
    """An engine that takes the option and gives no evidence is refused."""
    site = Site(tmp_path, f"{BOTH}\n    def declined(self, question):\n        return {{}}\n")
    assert "has no evidence" in site.blamed("verify", "x.own", "--require-certificates")
    assert "has no evidence" in site.python("p.verify('x.own', require_certificates=True)")


SYNTAX = "class Bad(Written):\n    def case(self, file):\n        return 'a = 1\\n= 2\\n'\n"
MISTAKE = "class Bad(Written):\n    def case(self, file):\n        return TEXT.replace('3/4', '5/4')\n"
MISSING = "class Bad(Written):\n    def case(self, file):\n        return TEXT.replace('truth', 'lie')\n"


def test_a_case_that_is_not_toml(tmp_path: Path) -> None:
    """Text that is no TOML is the plugin's mistake, with the line of that text."""
    site = Site(tmp_path, SYNTAX)
    code, _, err = site.call("verify", "x.own", "--json")
    error = json.loads(err)["errors"][0] if err.startswith("{") else {}
    assert code == 2
    assert error.get("line") is None
    for told in (site.call("verify", "x.own")[2], site.python("p.verify('x.own')")):
        assert "x.own: the plugin 'bad' of the package bad 1.0" in told
        assert "the case that it wrote for x.own:2: not TOML" in told


@pytest.mark.parametrize("code", [MISTAKE, MISSING])
def test_mistakes_in_the_case_have_no_line_of_the_file(tmp_path: Path, code: str) -> None:
    """A mistake in the case that the file is read as is told as one of it."""
    site = Site(tmp_path, code)
    for command in ("verify", "prove", "explain"):
        more = ["-o", "folder"] if command == "prove" else []
        assert "x.own: in the case that it is read as, line 3: mechanism" in site.refused(
            command, "x.own", *more
        )
    assert "x.own: in the case that it is read as, line 3" in site.python("p.verify('x.own')")
    exited, out, err = site.call("verify", "x.own", "--json")
    assert exited == 2
    assert '"line": null' in out + err
    assert "in the case that it is read as, line 3" in out + err


def test_the_page_of_a_written_case(tmp_path: Path) -> None:
    """The page saves the case under the name of a case, and its command checks that."""
    site = Site(tmp_path, "class Bad(Written):\n    pass\n")
    assert site.call("report", "x.own", "-o", "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert "Save x.toml" in page
    assert "paramverify check x.evidence.json --case x.toml" in page
    assert "Save x.own" not in page
    assert site.call("verify", "x.own", "--evidence", "x.evidence.json")[0] == 0
    (tmp_path / "x.toml").write_text(re.search(r"TEXT = '''(.*?)'''", OWN, re.S)[1])  # type: ignore[index]
    assert site.call("check", "x.evidence.json", "--case", "x.toml")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ["prove", "x.own", "-o", "folder"],
        ["sample", "x.own"],
        ["report", "x.own", "-o", "page.html"],
        ["export", "x.own", "--to", "smtlib2"],
        ["compose", "x.own", "--delta-for", "1"],
        ["budget", "x.own"],
        ["show", "x.own"],
    ],
    ids=lambda words: words[0],
)
def test_questions_without_an_answer(tmp_path: Path, words: list[str]) -> None:
    """What an engine of its own does not answer is refused with the reason."""
    site = Site(tmp_path, "")
    (tmp_path / "e.json").write_text("{}")
    assert "does not apply to this case: " in site.refused(*words)


def test_questions_without_an_answer_in_python(tmp_path: Path) -> None:
    """Python says the same, with the reason of the subject."""
    site = Site(tmp_path, "")
    assert "sample does not apply to this case: it draws nothing" in site.python("p.sample('x.own')")
    assert "sample does not apply to this case: it draws nothing" in site.refused("sample", "x.own")
    assert "budget does not apply to this case: one of ours" in site.python("p.budget('x.own')")
    assert "check does not apply to this case" in site.python("p.check({}, 'x.own')")
    assert "compose does not apply to this case" in site.python("p.compose('x.own', delta_for=1)")


def test_other_commands_read_the_written_case(tmp_path: Path) -> None:
    """`export`, `compare` and `compose` take files that are written as cases."""
    site = Site(tmp_path, "class Bad(Written):\n    pass\n")
    assert site.call("export", "x.own", "--to", "smtlib2", "-o", "folder")[0] == 0
    code, out, err = site.call("compare", "x.own", "--backends", "z3", "--timeout", "20", "-o", "compared")
    assert code == 0, out + err
    code, out, err = site.call("compose", "x.own:times=2", "--delta-for", "1")
    assert code == 0, out + err
    assert site.python("p.compose('x.own:times=2', delta_for=1).lines[0]") == out.splitlines()[0] + "\n"


def test_reading_of_the_text(tmp_path: Path) -> None:
    """`read_text` takes regular files with UTF-8."""
    code = "class Bad(Written):\n    def case(self, file):\n        return TEXT + '#' + file.read_text()\n"
    site = Site(tmp_path, code)
    assert site.call("verify", "x.own")[0] == 0
    (tmp_path / "x.own").write_bytes(b"a\n\xff")
    assert "x.own:2: not UTF-8 text" in site.refused("verify", "x.own")
    assert site.python("p.verify('x.own')").startswith("InputError x.own:2: not UTF-8 text")
    (tmp_path / "x.own").unlink()
    os.mkfifo(tmp_path / "x.own")
    assert "x.own: not a regular file" in site.refused("verify", "x.own")


@pytest.mark.parametrize(
    ("words", "told"),
    [("", "there is no evidence"), ("of this", "there is no evidence of this"), ("it is slow", "it is slow")],
)
def test_without_evidence(tmp_path: Path, words: str, told: str) -> None:
    """A sentence says that there is no evidence, whatever words the engine has for it."""
    result = f"Result(['private'], {{}}, standing=Standing.HOLDS, no_evidence={words!r})"
    site = Site(tmp_path, f"class Bad(Own):\n    result = {result}\n")
    code, _, err = site.call("verify", "x.own", "--evidence", "e.json")
    assert (code, err) == (0, f"No evidence was written: {told}\n")
