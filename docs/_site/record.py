"""The console examples of the documentation: reads them, runs them, and records what they print.

A fenced block after the line `<!-- example -->` is run in one shell, in a folder with links to the files of
the repository. Lines that start with `$ ` are commands; each is followed by its whole output, standard error
included. Durations may differ, and so may notes on larger inputs, which depend on the time. If anything
else differs from run to run, the mark describes it by a regular expression, `<!-- example varies: EXPRESSION
-->`, which readers do not see.

    .venv/bin/python docs/_site/record.py [PAGE...]

runs the examples of these pages, or of all, and writes their outputs down where they differ.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"<!-- example(?: varies: (?P<varies>.+))? -->")
END = "=== end of output ==="
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
LARGER = re.compile(r"^ *Note: .*\blarger inputs\b.*$|^.*\bworst pair lies on the border\b.*$", re.MULTILINE)
DURATION = re.compile(r"\b\d[\d,]*(?:\.\d+)? (?:ms|s|min|h)\b(?: \d+ s\b)?")


@dataclass(frozen=True)
class Command:
    """A command, the lines (from 0) of a page where its output begins and ends, and this output."""

    text: str
    first: int
    end: int
    output: str


@dataclass(frozen=True)
class Example:
    """A marked block: where it is, what varies in its outputs besides durations, and its commands."""

    place: str
    varies: str
    commands: tuple[Command, ...]


def documents() -> list[Path]:
    """Returns the pages of the repository: those at the root, and those of the site."""
    return [path for path in (*ROOT.glob("*.md"), *sorted(ROOT.glob("docs/**/*.md"))) if path.is_file()]


def examples_in(text: str, name: str) -> list[Example]:
    """Returns the marked blocks of a document.

    Raises:
        ValueError: a mark without a block, or a block without commands.
    """
    found: list[Example] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        mark = MARK.fullmatch(line.strip())
        if not mark:
            continue
        place = f"{name}:{number}"
        if number == len(lines) or not lines[number].startswith("```"):
            raise ValueError(f"{place}: no fenced block follows the mark")
        end = lines.index("```", number + 1)
        starts = [k for k in range(number + 1, end) if lines[k].startswith("$ ")]
        if starts[:1] != [number + 1]:
            raise ValueError(f"{place}: the block does not start with a command")
        commands = tuple(
            Command(lines[k][2:], k + 1, after, "\n".join(lines[k + 1 : after]))
            for k, after in zip(starts, [*starts[1:], end], strict=True)
        )
        found.append(Example(place, mark["varies"] or "", commands))
    return found


def linked_to_root(folder: Path) -> Path:
    """Fills a folder with links to what the repository holds, and returns it."""
    for entry in ROOT.iterdir():
        if not entry.name.startswith("."):
            (folder / entry.name).symlink_to(entry)
    return folder


def outputs_of(commands: Sequence[str], folder: Path) -> list[str]:
    """Returns what each command prints, all of them run in one shell in a folder, as on a terminal."""
    # After the mark is printed the status of the command is restored, for an `echo $?` that may follow.
    script = "".join(f"{command}\nset -- $?; echo '{END}'; (exit $1)\n" for command in commands)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **TERMINAL, "PYTEST_ADDOPTS": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.split(f"{END}\n")[: len(commands)]


def trimmed(text: str) -> str:
    """Returns the text without blanks at the ends of lines and without empty lines at its ends."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def settled(text: str, varies: str = "") -> str:
    """Returns an output without what may differ: durations, what `varies` matches, and their widths.

    Notes on larger inputs differ, too, because they depend on the time.
    """
    shown = LARGER.sub("(larger inputs)", DURATION.sub("(time)", trimmed(text)))
    if varies:
        shown = re.sub(varies, "(varies)", shown)
    lines = shown.split("\n")
    return "\n".join(re.sub(" {2,}", " ", s) if "(time)" in s or "(varies)" in s else s for s in lines)


def recorded(path: Path) -> Iterator[str]:
    """Runs the examples of a page, writes new outputs into it, and yields the places where they differ."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    for example in reversed(examples_in(text, str(path.relative_to(ROOT)))):
        with tempfile.TemporaryDirectory() as name:
            outputs = outputs_of([command.text for command in example.commands], linked_to_root(Path(name)))
        for command, output in reversed(list(zip(example.commands, outputs, strict=True))):
            if settled(command.output, example.varies) != settled(output, example.varies):
                shown = trimmed(output)
                lines[command.first : command.end] = shown.split("\n") if shown else []
                yield f"{example.place}: $ {command.text}"
    path.write_text("\n".join(lines), encoding="utf-8")


def main(names: Sequence[str]) -> None:
    """Records the examples of some pages, or of all, and prints where outputs differed."""
    for path in [Path(name).resolve() for name in names] or documents():
        for place in recorded(path):
            print(place, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
