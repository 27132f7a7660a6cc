"""What mkdocs asks while it builds the site: generated pages, generated parts, and links that leave docs/."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import generated  # noqa: E402
import notebooks  # noqa: E402
import shipped  # noqa: E402

MARK = re.compile(r"^<!-- generated: ([\w-]+) -->$", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()([^()\s#]+)(?=[)#])")
ESCAPED_BAR = r"\|"
CODE = re.compile(r"`([^`\n]*\\\|[^`\n]*)`")  # code with a bar that is escaped, as tables need it
LOADED = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=\"?(?:https?:)?//[^>]*>")
OUTPUT = re.compile(
    r'(?<=<div class="language-)(console|text output)(?= highlight">(<pre>.*?</pre>))', re.DOTALL
)
ALIGNED = re.compile(r"^ *\S.*? {2,}\S", re.MULTILINE)
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are made from other files: shipped cases, notebooks, and pages of the root."""
    pages = {**shipped.pages(ROOT), **notebooks.pages(ROOT)}
    for name, uri in ROOT_PAGES.items():
        pages[uri] = (ROOT / name).read_text(encoding="utf-8")
    for uri, text in pages.items():
        files.append(File.generated(config, uri, content=text))
    for uri, path in {"LICENSE.txt": ROOT / "LICENSE"}.items():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Fills in the generated parts, and lets links to files of the repository lead to their pages."""
    del config, files
    here = page.file.src_uri
    text = MARK.sub(lambda match: generated.PARTS[match[1]](), markdown)
    text = "\n".join(CODE.sub(bars, line) if line.startswith("|") else line for line in text.split("\n"))
    return LINK.sub(lambda match: target(match[1], here), text)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Marks outputs with aligned columns, whose lines must not wrap."""
    del page, config, files
    return OUTPUT.sub(with_columns, html)


def with_columns(match: re.Match[str]) -> str:
    """Returns the kind of a block, with a mark if at least two of its lines have columns."""
    text = re.sub(r"<[^>]+>", "", match[2])
    return f"{match[1]} columns" if len(ALIGNED.findall(text)) > 1 else match[1]


def bars(match: re.Match[str]) -> str:
    """Returns code of a table without the backslashes before bars: here they would be seen."""
    return match[0].replace(ESCAPED_BAR, "|")


def target(link: str, here: str) -> str:
    """Returns a link of a page of the repository as a link of the site; others stay.

    `here` is the page's place in the site. A link to a folder of cases leads to the list of that folder.
    """
    if "://" in link or link.startswith("mailto:"):
        return link
    source = next((name for name, uri in ROOT_PAGES.items() if uri == here), f"docs/{here}")
    place = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    if here.startswith(shipped.FOLDER):
        return link
    return posixpath.relpath(site_place(place), posixpath.dirname(here) or ".")


def site_place(place: str) -> str:
    """Returns where a file of the repository stands in the site."""
    if place in ROOT_PAGES:
        return ROOT_PAGES[place]
    if place == "README.md":
        return "index.md"
    if place == "LICENSE":
        return "LICENSE.txt"
    if place.endswith(".ipynb"):
        return place.removeprefix("docs/").removesuffix(".ipynb") + ".md"
    if place == "cases" or place.startswith("cases/"):
        return shipped.page_of(place)
    return place.removeprefix("docs/")


def on_post_build(config: Any) -> None:
    """Refuses a site that would load anything from elsewhere; links that a reader follows are no such thing.

    Raises:
        PluginError: a page loads something from another place.
    """
    for path in sorted(Path(config["site_dir"]).rglob("*")):
        if path.suffix in (".html", ".css"):
            text = path.read_text(encoding="utf-8")
            found = (
                LOADED.search(text)
                if path.suffix == ".html"
                else re.search(r"url\(\W?https?://[^)]*\)", text)
            )
            if found:
                raise PluginError(f"{path.name} loads something from elsewhere: {found[0][:200]}")
