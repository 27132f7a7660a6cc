"""The gallery: the commands in docs/gallery.md that draw its pictures.

As a program it draws them anew, and records what the commands print where it differs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from record import settled

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "gallery.md"
BLOCK = re.compile(r"^<!-- picture -->\n```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACE = "docs/gallery/"


class Picture(NamedTuple):
    """A picture: its file, the commands that draw it, and what the last of them prints."""

    name: str
    commands: list[str]
    output: str


def pictures() -> list[Picture]:
    """Returns the pictures of the gallery, in the order of the page."""
    found = []
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        commands = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
        output = block.split(commands[-1] + "\n", 1)[1]
        (name,) = re.findall(rf"{PLACE}(\S+)", block)
        found.append(Picture(name, commands, output))
    return found


def draw(picture: Picture, folder: Path) -> str:
    """Draws one picture into a folder, and returns what the last command prints."""
    printed = ""
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "cases").symlink_to(ROOT / "cases")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for command in picture.commands:
            line = command.replace(PLACE, f"{folder}/")
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=work,
                env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"},
                capture_output=True,
                text=True,
                check=True,
            )
            printed = done.stdout
    return printed


if __name__ == "__main__":
    for each in pictures():
        print(each.name)
        shown = draw(each, ROOT / PLACE)
        if settled(each.output) != settled(shown):
            text, last = PAGE.read_text(encoding="utf-8"), f"$ {each.commands[-1]}\n"
            PAGE.write_text(text.replace(f"{last}{each.output}", last + shown), encoding="utf-8")
