"""Notebooks as pages: the cells of docs/tutorials/*.ipynb with the outputs that stand in the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def pages(root: Path) -> dict[str, str]:
    """Returns the page of each tutorial notebook, by its place in the site."""
    return {
        f"tutorials/{path.stem}.md": page(json.loads(path.read_text(encoding="utf-8")), path.name)
        for path in sorted((root / "docs" / "tutorials").glob("*.ipynb"))
    }


def page(notebook: dict[str, Any], name: str) -> str:
    """Returns a notebook as Markdown, with a link to the notebook itself at the end."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).rstrip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [output(shown) for shown in cell["outputs"]]
    link = f'<a href="{name}" download>{name}</a>'
    note = f"You can download this page as a notebook: {link}."
    return "\n\n".join([*parts, note]) + "\n"


def output(shown: dict[str, Any]) -> str:
    """Returns one output of a cell: HTML or a picture where there is one, else text."""
    if shown["output_type"] == "stream":
        return fenced("".join(shown["text"]))
    data = shown.get("data", {})
    if "image/svg+xml" in data:
        return block("".join(data["image/svg+xml"]))
    if "text/html" in data:
        return block("".join(data["text/html"]))
    if "image/png" in data:
        return f"![output](data:image/png;base64,{''.join(data['image/png']).strip()}){{ .picture }}"
    return fenced("".join(data.get("text/plain", "")))


def fenced(text: str) -> str:
    """Returns text as it is, in a block that nothing reads as Markdown."""
    return f"```text {{ .output }}\n{text.rstrip()}\n```"


def block(html: str) -> str:
    """Returns HTML in a block of its own, without empty lines, which would end it."""
    kept = "\n".join(line for line in html.split("\n") if line.strip())
    return f'<div class="output picture">\n{kept}\n</div>'
