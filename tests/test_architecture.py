"""The architecture page: every folder has its row, and every name on the page is a name in the code."""

from __future__ import annotations

import ast
import re

import pytest
from conftest import ROOT
from test_packaging import LAYERS

PACKAGE = ROOT / "paramverify"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PROSE = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
ROOMS = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
TOP = ROOMS | {path.stem for path in PACKAGE.glob("*.py")}

WORDS = sorted(set(re.findall(r"`([^`\n]+)`", PROSE)))
FILES = [word for word in WORDS if re.fullmatch(r"[\w./]+\.py", word)]
FOLDERS = [word for word in WORDS if re.fullmatch(r"[\w./]+/", word)]
DOTTED = [word for word in WORDS if re.fullmatch(r"[a-z]\w*(\.\w+)+", word) and word not in FILES]
NAMES = [word for word in DOTTED if word.split(".")[0] in TOP]


def is_there(name: str) -> bool:
    """Tells whether a dotted name is a module, or what a module or one of its classes defines."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        path = PACKAGE.joinpath(*parts[:k])
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if file.is_file():
            return defines(ast.parse(file.read_text(encoding="utf-8")), parts[k:])
    return False


def defines(tree: ast.Module | ast.ClassDef, names: list[str]) -> bool:
    """Tells whether the first name is defined in a module or class, and the second one inside of it."""
    if not names:
        return True
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == names[0]:
            return len(names) == 1 or (isinstance(node, ast.ClassDef) and defines(node, names[1:]))
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        if any(isinstance(target, ast.Name) and target.id == names[0] for target in targets):
            return len(names) == 1
    return False


@pytest.mark.parametrize("words", [FILES, FOLDERS], ids=["files", "folders"])
def test_files_are_there(words: list[str]) -> None:
    """A file or folder that the page names is in the package, or in the repository."""
    assert [word for word in words if not (PACKAGE / word).exists() and not (ROOT / word).exists()] == []


@pytest.mark.slow
def test_names_are_there() -> None:
    """A function or class that the page names is defined where it says."""
    assert [name for name in NAMES if not is_there(name)] == []


def test_every_folder_has_its_row() -> None:
    """The folders on the page are those of the package."""
    assert sorted(re.findall(r"^\| `(\w+)/` \| ", PROSE, re.MULTILINE)) == sorted(ROOMS)


def test_layers_are_those_of_the_test() -> None:
    """The order of imports on the page is the one that the packaging test checks."""
    block = PAGE.split("checks every import against this order:\n\n")[1].split("\n\n")[0]
    told = [sorted(line.strip().split(", ")) for line in block.split("\n")]
    layers = [sorted(name for name in layer if name != "__main__") for layer in reversed(LAYERS)]
    assert told == [layer for layer in layers if layer]
