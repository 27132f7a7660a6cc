"""The documentation site: what is in its reference, its notebooks, its gallery, and how the project is cited.

`.ci/run` builds the site with `mkdocs build --strict`. A hook refuses pages that load from elsewhere.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import click
import gallery
import generated
import pytest
import shipped
import yaml
from click.testing import CliRunner
from conftest import ROOT
from test_docs import matches

import paramverify
from paramverify import language
from paramverify.cli._commands import commands
from paramverify.cli.main import cli
from paramverify.reports import case_schema

DOCS = ROOT / "docs"


def page(name: str) -> str:
    """The text of a page, with its generated parts."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.sub(r"<!-- generated: ([\w-]+) -->", lambda match: generated.PARTS[match[1]](), text)


# --- commands -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(commands()))
def test_every_option_of_every_command_is_in_the_reference(name: str) -> None:
    """What `--help` of a command lists stands on the page, in its section or with those of all."""
    told = CliRunner().invoke(cli, [name, "--help"], terminal_width=200)
    assert told.exit_code == 0
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+|-\w(?= ))", told.output, re.MULTILINE))
    assert "--help" in options
    sections = dict(re.findall(r"^## (.+?)$([\s\S]*?)(?=^## |\Z)", page("commands.md"), re.MULTILINE))
    documented = sections["Options of every command"] + sections[name]
    assert options - set(re.findall(r"--[\w-]+|(?<=`)-\w(?= )", documented)) == set()
    summary = " ".join(commands()[name].split())
    assert summary.split(",")[0].rstrip(".") in " ".join(documented.split()).replace(r"\*", "*")


def test_an_option_with_another_meaning_stands_with_its_command() -> None:
    """`--timeout` of `compare` is about one attempt, so its own row says so."""
    sections = dict(re.findall(r"^## (.+?)$([\s\S]*?)(?=^## |\Z)", page("commands.md"), re.MULTILINE))
    assert "`--timeout SECONDS` | `10.0`" in sections["compare"]
    assert "`--timeout SECONDS` | `60.0`" in sections["Options of every command"]


def test_options_that_take_values_say_which() -> None:
    """An option with a value has a word for it, and those with a default tell it."""
    rows = re.findall(r"^\| `(.+?)` \| (.*?) \| (.+) \|$", page("commands.md"), re.MULTILINE)
    context = click.Context(cli)
    for name in commands():
        command = cli.get_command(context, name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden and not option.is_flag:
                long = next((word for word in option.opts if word.startswith("--")), option.opts[0])
                assert any(re.match(rf"(-\w, )?{long} \S", written) for written, _, _ in rows), long
    assert ("--memory SIZE", "`4GiB`") in {(written, default) for written, default, _ in rows}
    assert all(meaning.strip() for _, _, meaning in rows)


# --- noise and functions ------------------------------------------------------------------------------


def test_every_noise_has_its_formula() -> None:
    """Each noise of programs has a row with a formula, and each kind of noise of mechanisms a section."""
    text = (DOCS / "noise.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)\(.*?\)` \| .+? \| (.+?) \|", text, re.MULTILINE))
    words = {"clamp", "exp", "output", "stop"}
    noises = {
        name for name, found in vars(language).items() if callable(found) and name in paramverify.__all__
    }
    assert set(rows) == noises - words
    assert all(re.search(r"Pr\(|density", formula) for formula in rows.values())
    kinds = {path.stem for path in (ROOT / "paramverify" / "models" / "noise").glob("[a-z]*.py")}
    assert {f"### `{kind}`" for kind in kinds} <= set(text.split("\n"))


def test_every_public_name_is_in_the_reference() -> None:
    """The page of functions asks for each name of `__all__`, once."""
    names = re.findall(r"^::: paramverify\.(\w+)$", page("api.md"), re.MULTILINE)
    assert sorted(names) == sorted(paramverify.__all__)


# --- keys ---------------------------------------------------------------------------------------------


def test_every_key_of_the_readers_is_in_the_reference() -> None:
    """Each table that a reader declares has a heading, and each of its keys has a row with a meaning."""
    text = page("keys.md")
    sections = re.findall(r"^### (.+)$([\s\S]*?)(?=^###? |\Z)", text, re.MULTILINE)
    for part in case_schema.reference():
        bodies = [body for name, body in sections if name == generated.heading(part)]
        assert bodies, part.name
        for row in part.rows:
            assert any(generated.key_row(row) in body for body in bodies), (part.name, row.name)
            assert row.text, (part.name, row.name)


def test_every_key_of_shipped_cases_is_in_the_reference() -> None:
    """The tables of shipped cases, and the keys in them, are on the page."""
    text = page("keys.md")
    tables = {name for name, _ in re.findall(r"^### `\[+(\w+)\]+`(.*)$", text, re.MULTILINE)}
    keys = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    for path in sorted((ROOT / "cases").rglob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        inner = {name for name, value in data.items() if isinstance(value, (dict, list))}
        assert set(data) <= keys, path
        assert inner <= tables | {"mechanism"}, path
        for name in ("privacy", "neighbours", "mechanism", "quantify", "design", "claim", "model"):
            found = data.get(name)
            assert not isinstance(found, dict) or set(found) <= keys, (path, name)


# --- shipped cases ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_shipped_case_has_a_page() -> None:
    """The list of shipped cases names each file, with the verdict of `[expect]` in the tool's words."""
    pages = shipped.pages(ROOT)
    listing = pages["shipped/all.md"]
    cases = sorted((ROOT / "cases").rglob("*.toml"))
    assert len(cases) > 100
    for path in cases:
        place = shipped.page_of(path.relative_to(ROOT).as_posix())
        assert path.read_text(encoding="utf-8").rstrip() in pages[place]
        (row,) = re.findall(rf"^\| \[{re.escape(path.stem)}\]\({re.escape(place[8:])}\) .*$", listing, re.M)
        status = tomllib.loads(path.read_text(encoding="utf-8")).get("expect", {}).get("status")
        assert (
            status is None
            or row.endswith(f"| {shipped.expected({'expect': {'status': status}})} |")
            or ("claim" in path.read_text(encoding="utf-8"))
        )


# --- the gallery --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("picture", gallery.pictures(), ids=lambda picture: picture.name)
def test_pictures_of_the_gallery(picture: gallery.Picture, tmp_path: Path) -> None:
    """The commands below a picture print what stands there, and draw a picture with the same words."""
    printed = gallery.draw(picture, tmp_path)
    assert matches(picture.output, printed, ""), printed
    assert words(tmp_path / picture.name) == words(DOCS / "gallery" / picture.name)


def words(path: Path) -> list[str]:
    """The texts of a picture, but for shares."""
    nodes = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    return [text for text in ("".join(node.itertext()) for node in nodes) if "%" not in text]


def test_the_gallery_has_the_pictures_that_it_shows() -> None:
    """Each picture of the page is there, those of the folder have commands, and each is described."""
    shown = re.findall(
        r"^!\[(.+)\]\((.+)\)$", (DOCS / "gallery.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    kept = {path.name for path in (DOCS / "gallery").iterdir()}
    assert {p.name for p in gallery.pictures()} == kept
    assert {link for _, link in shown if link.startswith("gallery/")} == {f"gallery/{name}" for name in kept}
    assert all((DOCS / link).is_file() and len(told) > 20 for told, link in shown)


# --- words and paper ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_tables_fit_on_paper(tmp_path: Path) -> None:
    """With the rules for paper a wide table is not wider than its page, and without them it is."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is missing; to get it: apt install chromium")
    rules = (DOCS / "styles" / "site.css").read_text(encoding="utf-8")
    cells = "".join(f"<td><code>{'paramverify' * 4} {'word ' * 9}</code></td>" for _ in range(4))
    body = f"<div class=md-typeset style='width:600px'><table><tr>{cells}</tr></table></div>"
    script = "<script>document.title = document.querySelector('table').scrollWidth</script>"
    for media, fits in (("all", True), ("speech", False)):
        style = f"<style>{rules.replace('@media print', f'@media {media}')}</style>"
        page = tmp_path / f"{media}.html"
        page.write_text(f"<!doctype html><title></title>{style}{body}{script}", encoding="utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}")
        shown = subprocess.run(
            [program, *options, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=60
        )
        (width,) = re.findall(r"<title>(\d+)</title>", shown.stdout)
        assert (int(width) <= 600) is fits


def test_trust_names_both_ways_to_check() -> None:
    """The page on soundness has a row for each way to check a proof, and says which compares the case."""
    rows = [
        row for row in page("soundness.md").split("\n") if row.startswith("| `private` with certificates")
    ]
    assert len(rows) == 2
    assert "does not compare the claims with your case" in rows[0]
    assert "code of the package" in rows[1]
    assert "python-flint" in rows[1]


def test_every_word_of_an_answer_is_in_the_glossary() -> None:
    """Words that answers and options use have entries."""
    entries = re.findall(r"^(\S.*)\n:   ", page("glossary.md"), re.MULTILINE)
    words = {word for entry in entries for word in entry.split(", ")}
    assert words >= {"approached", "audit", "obligation", "reached", "side condition", "strategy", "witness"}


# --- the readme and citations -------------------------------------------------------------------------


def test_the_readme_is_short() -> None:
    """The README has 100 lines at most."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_the_citation_says_what_the_package_says() -> None:
    """CITATION.cff has the package's version, licence and authors, and the references with their DOIs."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    setup = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(cited)  # what the format asks for
    assert cited["version"] == paramverify.__version__
    assert f"license_expression = {cited['license']}\n" in setup
    assert f"author = {cited['authors'][0]['name']}\n" in setup
    words = " ".join((DOCS / "references.md").read_text(encoding="utf-8").split())
    starts = re.findall(r"- \*\*\[([A-Z])\]\*\* (.+?): \*(.+?)\*\. (.+?)(?= - \*\*| ## )", words)
    assert len(starts) == len(cited["references"]) == 4
    entries = {title: (authors, rest) for _, authors, title, rest in starts}
    for reference in cited["references"]:
        assert {"type", "title", "authors"} <= set(reference)
        authors, rest = entries[reference["title"]]
        assert authors == ", ".join(f"{a['given-names']} {a['family-names']}" for a in reference["authors"])
        assert str(reference["year"]) in rest
        assert (f"doi:{reference['doi']}" in rest) if "doi" in reference else "doi:" not in rest
        for identifier in reference.get("identifiers", []):
            assert identifier["value"] in rest
