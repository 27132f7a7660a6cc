"""One new module for each registry, all but the backend from docs/extending.md; and a case that uses them."""

from __future__ import annotations

import re
from pathlib import Path

BACKEND = '''"""A solver of its own: it says what the exact procedures say, without their certificates."""

from paramverify.answers import Open, Proved
from paramverify.backends import DECIDES
from paramverify.exact.branching import decide_exactly


class Parrot:
    name = "parrot"
    builtin = False
    description = "says what the exact procedures say"
    install = "it is there"
    abilities = DECIDES
    place = 5

    def version(self):
        return "7.1"

    def decide(self, claim, options):
        answer = decide_exactly(claim)
        return Proved(transcript="parroted") if isinstance(answer, Proved) else answer

    def run_script(self, text):
        return "unknown"


BACKENDS = (Parrot(),)
'''

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
CODES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ENCODING, MECHANISM, NOISE, COMMAND = (
    next(code for code in CODES if word in code)
    for word in ("ENCODING = ", "class Flipped", "NOISE = ", "LISTED = ")
)

CASE = """
title = "One answer, blurred and counted from above"

[parameters]
q = "[1/4, 1/2]"

[mechanism]
kind = "flipped"
noise = { blurred = "q", range = 1 }

[neighbours]
differ = "each"

[privacy]
ratio = "RATIO"
"""

# By the folder in the package, or the group of entry points; each with the name of its module.
FILES = {
    ("backends", "parrot"): BACKEND,
    ("encodings", "reversed"): ENCODING,
    ("models/mechanisms", "flipped"): MECHANISM,
    ("models/noise", "blurred"): NOISE,
}
GROUPS = {"backends": "backends", "encodings": "encodings"} | {
    "models/mechanisms": "mechanisms",
    "models/noise": "noise",
}


def add_files(package: Path) -> None:
    """Adds one file for each registry, and one command, to a copy of the package."""
    for (folder, name), text in FILES.items():
        (package / folder / f"{name}.py").write_text(text)
    (package / "cli" / "greet.py").write_text(COMMAND)


def add_plugin(site: Path) -> None:
    """Puts an installed package with the same modules into a folder: its files, and its entry points."""
    package, info = site / "additions", site / "additions-1.5.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("")
    points: list[str] = []
    for (folder, name), text in FILES.items():
        (package / f"{name}.py").write_text(text)
        points += [f"[paramverify.{GROUPS[folder]}]", f"{name} = additions.{name}"]
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: additions\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("\n".join(points) + "\n")
