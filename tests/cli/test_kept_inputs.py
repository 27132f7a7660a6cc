"""No command writes over a file that it reads, or two outputs to one place; and no half of a file."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import ROOT

from paramverify.cli.main import run
from paramverify.files import replacing

CASES = ROOT / "cases"
OUTPUTS = {
    "report": ("-o",),
    "verify": ("--evidence",),
    "budget": ("--evidence", "--plot"),
    "synthesize": ("--evidence", "--plot", "--state", "--tree"),
    "interactive": ("--evidence", "--dot"),
    "logic": ("--evidence", "--plot"),
    "sample": ("--plot",),
    "compose": ("--evidence", "--plot"),
    "new": ("-o",),
}
PAIRS = [(command, option) for command, options in OUTPUTS.items() for option in options]
ARGUMENTS = {"new": [], "compose": ["--delta-for", "1"]}


def same(path: Path, folder: Path) -> Iterator[Path]:
    """Yields other names of a file: by another path, by a symbolic link and by a hard one."""
    yield path
    yield folder / "folder" / ".." / os.path.relpath(path, folder)
    for number, link in enumerate((os.symlink, os.link)):
        name = folder / f"link{number}.svg"
        name.unlink(missing_ok=True)
        link(path, name)
        yield name
        linked = folder / "linked"
        linked.unlink(missing_ok=True)
    os.symlink(path.parent, linked)
    yield linked / path.name


def with_file(folder: Path, name: str, key: str = "file") -> tuple[Path, Path, dict[str, str]]:
    """Returns a case that names a file, that file, and no variables."""
    named = folder / name
    named.write_text("not read before the check\n", encoding="utf-8")
    case = folder / "case.toml"
    case.write_text(f'[mechanism]\n{key} = "{name}"\n', encoding="utf-8")
    return case, named, {}


def called(folder: Path) -> tuple[Path, Path, dict[str, str]]:
    """Returns a case that names a case that names a program."""
    _, program, _ = with_file(folder, "program.py")
    (folder / "case.toml").rename(folder / "inner.toml")
    case = folder / "case.toml"
    case.write_text('[mechanism.calls.a]\nfile = "inner.toml"\n', encoding="utf-8")
    return case, program, {}


def alone(folder: Path) -> tuple[Path, Path, dict[str, str]]:
    """Returns a case as the file that is kept."""
    case = folder / "case.toml"
    shutil.copy(CASES / "geometric-contagious-ln2.toml", case)
    return case, case, {}


def by_variable(folder: Path) -> tuple[Path, Path, dict[str, str]]:
    """Returns a configuration that the environment names."""
    config = folder / "solvers.toml"
    config.write_text("", encoding="utf-8")
    return alone(folder)[0], config, {"PARAMVERIFY_CONFIG": str(config)}


def by_default(folder: Path) -> tuple[Path, Path, dict[str, str]]:
    """Returns the configuration in the user's folder."""
    config = folder / "config" / "paramverify" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("", encoding="utf-8")
    return alone(folder)[0], config, {"XDG_CONFIG_HOME": str(folder / "config")}


def plugin(folder: Path) -> tuple[Path, Path, dict[str, str]]:
    """Returns the module of a plugin."""
    info = folder / "mine-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[paramverify.noise]\nx = mine\n", encoding="utf-8")
    module = folder / "mine.py"
    module.write_text("raise RuntimeError\n", encoding="utf-8")
    return alone(folder)[0], module, {"on sys.path": str(folder)}


INPUTS: dict[str, Callable[[Path], tuple[Path, Path, dict[str, str]]]] = {
    "case": alone,
    "program": lambda folder: with_file(folder, "program.py"),
    "rational functions": lambda folder: with_file(folder, "functions.rat"),
    "automaton": lambda folder: with_file(folder, "stream.dipa"),
    "model": lambda folder: with_file(folder, "model.prism"),
    "another key": lambda folder: with_file(folder, "matrix.csv", "numbers"),
    "program of a called case": called,
    "configuration by the variable": by_variable,
    "configuration by default": by_default,
    "plugin": plugin,
}


@pytest.mark.parametrize(
    ("command", "option", "kind"),
    [*((*pair, "case") for pair in PAIRS[:-1]), *((*PAIRS[0], kind) for kind in INPUTS if kind != "case")],
)
def test_an_input_is_never_written_over(
    command: str,
    option: str,
    kind: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By each of its names it is refused before any work, and stays as it is."""
    (tmp_path / "folder").mkdir()
    case, kept, variables = INPUTS[kind](tmp_path)
    for name, value in variables.items():
        if name == "on sys.path":
            monkeypatch.syspath_prepend(value)
        else:
            monkeypatch.setenv(name, value)
    content = kept.read_bytes()
    given = [str(case), *ARGUMENTS.get(command, [])]
    for name in same(kept, tmp_path):
        assert run([command, *given, option, str(name)]) == 2
        assert "is an input of this command" in capsys.readouterr().err
        assert kept.read_bytes() == content


@pytest.mark.parametrize(("command", "option"), PAIRS)
def test_the_configuration_of_the_command_line_is_kept(
    command: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--config` before the command and after it."""
    case, config = alone(tmp_path)[0], tmp_path / "solvers.toml"
    config.write_text("", encoding="utf-8")
    given = [] if command == "new" else [str(case), *ARGUMENTS.get(command, [])]
    asked = [command, *given, option, str(config)]
    for words in (["--config", str(config), *asked], [*asked, "--config", str(config)]):
        assert run(words) == 2
        assert "is an input of this command" in capsys.readouterr().err
        assert config.read_bytes() == b""


TWO = [(c, a, b) for c, options in OUTPUTS.items() for a in options for b in options if a < b]


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(("command", "one", "other"), TWO)
def test_two_outputs_are_two_files(
    command: str, one: str, other: str, exists: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One path by two options is refused, also by a link, and also where there is no file yet."""
    case, path = alone(tmp_path)[0], tmp_path / "out.svg"
    (tmp_path / "link").symlink_to(tmp_path)
    if exists:
        path.write_text("old", encoding="utf-8")
    for name in (path, tmp_path / "link" / "out.svg"):
        assert run([command, str(case), *ARGUMENTS.get(command, []), one, str(path), other, str(name)]) == 2
        assert "name the same file" in capsys.readouterr().err
        assert path.exists() == exists
        assert not exists or path.read_text(encoding="utf-8") == "old"


def limited(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that can write 100 bytes to a file; Python must not keep modules so."""

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    command = [sys.executable, "-B", "-m", "paramverify", *words]
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, preexec_fn=small, env=kept, capture_output=True, text=True, check=False, timeout=120
    )


WRITES = {
    "evidence": ["verify", "{case}", "--evidence", "{old}"],
    "page": ["report", "{case}", "-o", "{old}"],
    "state of a map": ["synthesize", "{case}", "--parameters", "p", "--evidence", "{old}"],
    "picture": ["synthesize", "{case}", "--parameters", "p", "--plot", "{old}"],
    "template": ["new", "program", "--force", "-o", "{old}"],
}
ENDINGS = {"page": "html", "picture": "svg", "template": "toml"}


@pytest.mark.parametrize("what", WRITES)
def test_an_output_that_cannot_be_written_leaves_the_old_one(what: str, tmp_path: Path) -> None:
    """With a limit of the size of files the old file is whole, and nothing lies beside it."""
    case = shutil.copy(CASES / "geometric-contagious-ln2.toml", tmp_path / "case.toml")
    old = tmp_path / f"old.{ENDINGS.get(what, 'json')}"
    old.write_text("old", encoding="utf-8")
    words = [word.format(case=case, old=old) for word in WRITES[what]]
    done = limited(*words)
    assert done.returncode == 74, done.stderr
    assert str(old) in done.stderr
    assert old.read_text(encoding="utf-8") == "old"
    assert sorted(tmp_path.iterdir()) == sorted([Path(case), old])


@pytest.mark.parametrize("exists", [False, True])
def test_a_theorem_is_written_with_all_its_files_or_not(exists: bool, tmp_path: Path) -> None:
    """Where the first file fits and another does not, the folder is as it was."""
    folder = tmp_path / "theorem"
    if exists:
        (folder / "theories").mkdir(parents=True)
    words = ["prove", str(CASES / "geometric-neighbours.toml"), "-o", str(folder)]
    done = limited(*words)
    assert done.returncode == 74, done.stderr
    assert [str(p.relative_to(tmp_path)) for p in sorted(tmp_path.rglob("*"))] == (
        ["theorem", "theorem/theories"] if exists else []
    )


FOREIGN = ["my notes\n", "my notes", '{"a": 1}\n', '{"a": 1}', "[]\n{}\n", "\n", "\0\0"]


@pytest.mark.parametrize("content", FOREIGN)
def test_a_foreign_file_of_results_is_kept(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of this name that no comparison wrote is refused, and stays as it is."""
    path = tmp_path / "results.jsonl"
    path.write_text(content, encoding="utf-8")
    assert run(["compare", str(CASES / "geometric-neighbours.toml"), "-o", str(tmp_path)]) == 2
    assert "of a comparison" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["results.jsonl"]
    assert path.read_text(encoding="utf-8") == content


def test_files_of_a_folder_are_no_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case in the folder that an export would write over is kept."""
    case = tmp_path / "geometric-neighbours.toml"
    shutil.copy(CASES / "geometric-neighbours.toml", case)
    content = case.read_bytes()
    assert run(["export", str(case), "--to", "smtlib2", "-o", str(tmp_path)]) == 0
    written = next(p for p in tmp_path.iterdir() if p.suffix == ".smt2")
    written.unlink()
    os.link(case, written)
    capsys.readouterr()
    assert run(["export", str(case), "--to", "smtlib2", "-o", str(tmp_path)]) == 2
    assert "is an input of this command" in capsys.readouterr().err
    assert case.read_bytes() == content


def test_what_is_replaced_keeps_its_mode_and_links(tmp_path: Path) -> None:
    """A link leads to its file still; a new file has the mode of all; an error leaves nothing."""
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    with replacing(link) as new:
        new.write_text("new", encoding="utf-8")
    assert (link.is_symlink(), path.read_text(encoding="utf-8"), path.stat().st_mode & 0o777) == (
        True,
        "new",
        0o640,
    )
    with replacing(tmp_path / "b") as new:
        new.write_text("b", encoding="utf-8")
    usual = tmp_path / "c"
    usual.touch()
    assert (tmp_path / "b").stat().st_mode == usual.stat().st_mode
    with suppress(ZeroDivisionError), replacing(path) as new:
        new.write_text("half", encoding="utf-8")
        raise ZeroDivisionError
    assert path.read_text(encoding="utf-8") == "new"
    assert {p.name for p in tmp_path.iterdir()} == {"a", "b", "c", "link"}


def test_a_page_has_the_name_of_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES / "geometric-contagious-ln2.toml"
    assert run(["report", str(case), "-o", str(tmp_path / "page.toml")]) == 2
    assert "page.html" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("base", ["-1", "0", "1", "3/2", "2"])
def test_a_base_of_sampled_noise_is_a_probability(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        f'[system]\nkind = "slots"\nslots = 2\npoints = 1\ndata = [-1, 1]\nqueries = ["count"]\nrange = 2\n'
        f'noise = {{ sampled = "{base}" }}\n[privacy]\nepsilon = 1\n'
    )
    assert run(["interactive", str(path)]) == 2
    assert "base of the sampled noise" in capsys.readouterr().err
