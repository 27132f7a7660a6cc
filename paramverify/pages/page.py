"""The whole page: its head with the policy of what it may load, contents, and one article for each case."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from paramverify import __version__, printable
from paramverify.algebra.rationals import decimal_text
from paramverify.pages.comparison import backends
from paramverify.pages.drawing import patterns
from paramverify.pages.findings import (
    budget,
    claims,
    formulas,
    logic_question,
    logic_verdict,
    nothing_to_map,
    system_question,
    system_steps,
    system_verdict,
    verdict,
)
from paramverify.pages.handing import assumed, case_file, evidence, is_embedded
from paramverify.pages.maps import region
from paramverify.pages.markup import Element, Part, document, h, raw
from paramverify.pages.overview import overview
from paramverify.pages.parts import ABOUT, TableCell, badge, section, table
from paramverify.pages.questions import formulas_of, question
from paramverify.pages.summary import decided_by, privacy_ratio, seconds, size, word
from paramverify.pages.work import Examined, LogicWork, PrivacyWork, SystemWork

ASSETS = Path(__file__).parent / "assets"
STYLES = ("page.css", "print.css")
SCRIPTS = ("exact.js", "points.js", "readout.js", "map.js", "tables.js", "page.js")


def page(found: Sequence[Examined], title: str = "", compared: Mapping[str, Any] | None = None) -> str:
    """Returns the page about some cases as HTML; it needs no other file and makes no request.

    `compared` is the summary that `compare` writes, where backends are to be compared on the page, too.
    """
    single = found[0] if len(found) == 1 else None
    name = title or (printable.name(_title(single)) if single else f"{len(found)} cases")
    articles, blocks = [], []
    for number, work in enumerate(found, start=1):
        article, data = _article(work, number)
        articles.append(article)
        blocks += data
    style = "\n".join(_asset(name) for name in STYLES)
    script = '"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS)
    head = [
        h("meta", charset="utf-8"),
        _policy(style, script),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="referrer", content="no-referrer"),
        h("title", f"{name} · paramverify"),
        h("link", rel="icon", href="data:,"),
        raw("style", style),
    ]
    above: list[Part] = [h("h1", title or "Privacy report")]
    if not single:
        above.append(_contents(found))
    footer = h("footer", h("p", f"Made by paramverify {__version__}. {_MARKED}"))
    body = [
        patterns(),
        h("header", above, class_="page"),
        h("main", articles, backends(compared) if compared else None),
        footer,
        *blocks,
    ]
    return document(head, [*body, raw("script", script)])


_MARKED = "Every number is exact, unless ≈ stands before it."


@cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> Element:
    """Returns what the page may load: nothing but its own style and script, known by their digests."""
    digests = [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script)]
    rules = [
        "default-src 'none'",
        f"style-src {digests[0]}",
        f"script-src {digests[1]}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    policy = h("meta", content="; ".join(rules))
    policy.set("http-equiv", "Content-Security-Policy")
    return policy


def _title(work: Examined) -> str:
    return work.case.title or work.source.name


def _article(work: Examined, number: int) -> tuple[Element, list[Element]]:
    """Returns the article about one case, and the data blocks that it needs."""
    source = work.source.data.get("source", "")
    heading: list[Part] = [h("h2", printable.name(_title(work)), id_=f"case-title-{number}")]
    about = f"{work.source.name}{f' · after {source}' if isinstance(source, str) and source else ''}"
    heading.append(h("p", printable.name(about), class_="source"))
    parts: list[Part]
    below: list[Part]
    data: list[Element] = []
    match work:
        case PrivacyWork():
            parts, below, data = _privacy(work, number)
        case SystemWork():
            reason = "a page has no map of the probabilities of runs of an interactive system"
            parts = [
                system_verdict(work),
                section("The question", system_question(work)),
                nothing_to_map(reason),
            ]
            below = [section("Details", system_steps(work))]
        case LogicWork():
            reason = (
                "formulas are decided for all parameters together; `paramverify logic` finds their budgets"
            )
            parts = [
                logic_verdict(work),
                section("The question", logic_question(work)),
                nothing_to_map(reason),
            ]
            below = []
    parts = [overview(work), *parts, assumed(work), evidence(work, number), *below, case_file(work)]
    blocks = [*data, *_files(work, number)]
    return h(
        "article", heading, parts, aria_labelledby=f"case-title-{number}", id_=f"report-{number}"
    ), blocks


def _privacy(work: PrivacyWork, number: int) -> tuple[list[Part], list[Part], list[Element]]:
    """Returns what stands above the evidence, the formulas and claims that stand below it, and data."""
    found, case = region(work, number), work.case
    asked = section("The question", question(case, work.source.data))
    parts: list[Part] = [*verdict(work), asked, found.part]
    below: list[Part] = [claims(work)]
    if not case.model.comparisons:
        parts.append(budget(work))
        below = [*formulas_of(case), formulas(case), *below]
    data = [_data(f"data-map-{number}", found.data)] if found.data is not None else []
    return parts, [section("Details", below)], data


def _files(work: Examined, number: int) -> list[Element]:
    files = [_data(f"case-{number}", {"text": work.source.text})]
    if is_embedded(work.evidence):
        files.append(_data(f"evidence-{number}", {"text": work.evidence.text}))
    return files


def _data(name: str, content: object) -> Element:
    """Returns a block of JSON; `<` is escaped, so that no text in it can end it."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return raw("script", text, type="application/json", id_=name)


def _budget(work: Examined) -> str:
    return work.case.budget if isinstance(work, PrivacyWork) else "–"


def _contents(found: Sequence[Examined]) -> Element:
    rows: list[list[Part | TableCell]] = []
    for number, work in enumerate(found, start=1):
        link = h("a", printable.name(_title(work)), href=f"#report-{number}")
        ratio, took = privacy_ratio(work), seconds(work)
        rows.append(
            [
                TableCell(
                    [link, h("div", h("code", printable.name(work.source.name)), class_="source")],
                    _title(work),
                ),
                TableCell(_budget(work), _budget(work)),
                TableCell(badge(work.standing, word(work)), word(work)),
                TableCell(ratio.part, ratio.key),
                size(work),
                decided_by(work),
                TableCell(f"{ABOUT}{decimal_text(took, 2)}", str(took)),
            ]
        )
    head = ["case", "budget", "verdict", "largest ratio", "claims", "decided by", "seconds"]
    return h("nav", table("Cases of this page", head, rows, sortable=True), aria_label="Contents")
