"""The tutorial notebooks: they run, and print what stands in the files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import ROOT
from nbmake.nb_run import NotebookRun

NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
SIZE = re.compile(r"<Figure size [\d.x]+")  # of a picture, which depends on the fonts
SECONDS = re.compile(r"\b\d[\d.e-]* s\b")  # what differs from run to run


def told(output: dict[str, Any]) -> str:
    """What an output says, without times; of a box or a picture its short text."""
    if output["output_type"] == "stream":
        return SECONDS.sub("... s", "".join(output["text"]))
    return SIZE.sub("<Figure", SECONDS.sub("... s", "".join(output["data"]["text/plain"])))


def outputs(book: Any) -> list[list[str]]:
    """What each cell of code says."""
    return [
        [told(output) for output in cell["outputs"]] for cell in book.cells if cell["cell_type"] == "code"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")  # those of other people's kernels
def test_notebooks_run_and_say_what_is_written(path: Path) -> None:
    """Each cell runs without an error, and prints what the file has."""
    result = NotebookRun(path, 120).execute()
    assert result.error is None, result.error
    assert outputs(result.nb) == outputs(nbformat.read(path, 4))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_can_be_read_as_pages(path: Path) -> None:
    """A notebook begins with a title, has outputs, and nothing of the machine that ran it."""
    text = path.read_text(encoding="utf-8")
    book = nbformat.read(path, 4)
    assert book.cells[0]["cell_type"] == "markdown"
    assert book.cells[0]["source"].startswith("# ")
    assert sum(bool(said) for said in outputs(book)) >= 4
    assert str(ROOT) not in text
    assert "/tmp/" not in text
    assert len(text) < 100_000
