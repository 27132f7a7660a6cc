"""The documentation: its console examples are run, its links lead somewhere, and CI runs its commands.

Examples are read by `docs/_site/record.py`, which also records their outputs.
"""

from __future__ import annotations

import ast
import doctest
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
from calling_tools import printed
from conftest import ROOT
from record import TERMINAL, Example, documents, examples_in, linked_to_root, outputs_of, settled

from paramverify.reports.pictures import comparison_plots

WIDEST = 130  # characters in a line of prose
PLAIN = re.compile(
    r"""(?P<command>paramverify ([^|&;<>()$`\\*?~"']|"[^"$`\\]*"|'[^']*')*?)( \| head -n (?P<first>\d+))?"""
)
EXPORTED = re.compile(r"export (\w+)=([\w./-]+)")


def is_plain(command: str) -> bool:
    """Tells whether a command asks nothing of the shell of a block.

    It is `paramverify` with words that no shell changes, maybe its first lines; or it asks for the last
    status, sets a variable, or works on files alone.
    """
    if command == "echo $?" or EXPORTED.fullmatch(command):
        return True
    if command.split()[0] in ("cat", "cp", "echo", "head", "ls", "python", "rm", "sed", "sha256sum", "z3"):
        return not re.search(r"[;&]|paramverify|\$", unquoted(command))
    return PLAIN.fullmatch(command) is not None


def unquoted(command: str) -> str:
    """Returns a command without what stands in quotes that a shell leaves as it is."""
    return re.sub(r"""'[^']*'|"[^"$`\\]*\"""", "", command)


def outputs_of_plain(commands: list[str], folder: Path, patch: pytest.MonkeyPatch) -> list[str]:
    """Returns what plain commands print; `paramverify` runs in this process, as it takes long to start."""
    outputs, status = [], 0
    for command in commands:
        exported, piped = EXPORTED.fullmatch(command), PLAIN.fullmatch(command)
        if command == "echo $?":
            outputs.append(f"{status}\n")
        elif exported:
            patch.setenv(*exported.groups())
            if exported[1] == "PYTHONPATH":
                patch.syspath_prepend(str(folder / exported[2]))
            outputs.append("")
        elif piped:
            status, shown, _ = printed(*shlex.split(piped["command"])[1:])
            first = int(piped["first"]) if piped["first"] else None
            outputs.append("".join(shown.splitlines(keepends=True)[:first]))
        else:
            outputs += outputs_of([command], folder)
    return outputs


def matches(expected: str, actual: str, varies: str) -> bool:
    """Tells whether an output is the recorded one, except for what may differ from run to run."""
    return settled(expected, varies) == settled(actual, varies)


DOCUMENTS = documents()
EXAMPLES = [
    example
    for path in DOCUMENTS
    for example in examples_in(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
]


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(e, id=e.place, marks=() if e.place.startswith("README.md:") else pytest.mark.slow)
        for e in EXAMPLES
    ],
)
def test_example(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """A console example prints what the document says it prints; here `compare` draws plots as SVG only.

    Larger inputs are searched, which takes up to two seconds a command, where an example may say so.
    """
    monkeypatch.setattr(comparison_plots, "FORMATS", ("svg",))
    if any("larger" in c.output or " verify " not in c.text for c in example.commands):
        request.getfixturevalue("usual_share")
    linked_to_root(tmp_path)
    commands = [command.text for command in example.commands]
    if any("| jq " in command for command in commands) and shutil.which("jq") is None:
        pytest.skip("jq is missing; to get it: apt install jq")
    if example.place.startswith("README.md:") or not all(map(is_plain, commands)):
        outputs = outputs_of(commands, tmp_path)
    else:
        monkeypatch.chdir(tmp_path)
        for name, value in TERMINAL.items():
            monkeypatch.setenv(name, value)
        outputs = outputs_of_plain(commands, tmp_path, monkeypatch)
    for command, actual in zip(example.commands, outputs, strict=True):
        shown = f"{example.place}: $ {command.text}\n--- recorded\n{command.output}\n--- printed\n{actual}"
        assert matches(command.output, actual, example.varies), shown


def test_the_readme_has_examples() -> None:
    """The README shows at least one example that is run."""
    assert any(example.place.startswith("README.md:") for example in EXAMPLES)


def test_the_readmes_case_is_the_one_that_it_verifies() -> None:
    """The first case of the README is a program, and says what the file says that the README verifies."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```toml\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    shown = tomllib.loads(block)
    kept = tomllib.loads((ROOT / "cases" / "programs" / "sparse-vector.toml").read_text(encoding="utf-8"))
    words = ("title", "source", "expect")
    assert shown["mechanism"]["kind"] == "program"
    assert {k: v for k, v in shown.items() if k not in words} == {
        k: v for k, v in kept.items() if k not in words
    }


@pytest.mark.parametrize("name", ["run", "test"])
def test_the_readmes_commands_are_run_by_ci(name: str) -> None:
    """`.ci/run` runs the marked block of the README, which is there exactly once."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^<!-- ci: {name} -->\n```\w*\n.+\n```$", readme, re.MULTILINE)) == 1
    assert f"\nreadme {name}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    """Links from one document to another file of the repository lead to files that exist."""
    wrong = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in DOCUMENTS
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
        if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists()
    ]
    assert wrong == []


def kernel_rows(section: str) -> dict[str, set[str]]:
    """The rows of a table of the page about the kernel: the first cell of each, and the modules after it."""
    page = (ROOT / "docs" / "reading-the-kernel.md").read_text(encoding="utf-8")
    table = [
        line.split("|")
        for line in page.split(f"## {section}\n")[1].split("\n## ")[0].split("\n")
        if "|" in line
    ]
    found: dict[str, set[str]] = {}
    for _, first, files, *_ in table[2:]:
        found[first] = set(re.findall(r"`(\w+)\.py`", files))
        for other in re.findall(r"those of (`\w+`)", files):
            found[first] |= next(modules for kinds, modules in found.items() if other in kinds)
    return found


def test_the_page_about_the_kernel_names_what_is_imported() -> None:
    """Its tables name every module of the kernel, and each row all that its modules import.

    `documents` imports what begins each row, so it is left out.
    """
    kernel = ROOT / "paramverify" / "kernel"
    imported = {path.stem: set[str]() for path in kernel.glob("*.py") if not path.stem.startswith("__")}
    for name, found in imported.items():
        for node in ast.walk(ast.parse((kernel / f"{name}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                found.update({node.module} if node.module else {alias.name for alias in node.names})
    always = set().union(*kernel_rows("What every document needs").values())
    rows = kernel_rows("What one kind of document needs besides")
    assert always.union(*rows.values()) == imported.keys()
    for kind, modules in {"every document": set[str](), **rows}.items():
        needed = set().union(*(imported[name] for name in modules | always - {"documents"}))
        assert needed <= modules | always, kind
        assert not modules & always, kind


def long_lines(text: str) -> list[str]:
    """The lines of a page that could be shorter: neither code nor rows of tables nor one long word."""
    prose = re.sub(r"^ *```[\s\S]*?^ *```$|^ {4}.*$|^\|.*$", "", text, flags=re.MULTILINE)
    return [line for line in prose.split("\n") if len(line) > WIDEST and " " in line[:WIDEST].strip("- ")]


def test_lines_are_short() -> None:
    """No line of prose is longer than 130 characters; long ones are wrapped at 120."""
    long = {str(path.relative_to(ROOT)): long_lines(path.read_text(encoding="utf-8")) for path in DOCUMENTS}
    assert {name: lines for name, lines in long.items() if lines} == {}


@pytest.mark.slow
@pytest.mark.usefixtures("usual_share")
@pytest.mark.parametrize(
    "path",
    [path for path in DOCUMENTS if ">>> " in path.read_text(encoding="utf-8")],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_python_examples(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python sessions in a document, marked by `>>>`, run in one go and print what it says."""
    monkeypatch.chdir(ROOT)
    failed, _ = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert failed == 0
