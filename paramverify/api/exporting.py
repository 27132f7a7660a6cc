"""`export`: claims of a case, or questions of a script, as texts for other programs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from paramverify.api.options import names_of
from paramverify.api.reading import Read
from paramverify.api.results import ExportReport
from paramverify.api.values import whole
from paramverify.errors import InputError, located
from paramverify.formats.smtlib_scripts import Script
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import exported_files, json_documents
from paramverify.simplify.step_names import parse_steps


def export_read(
    read: Read,
    to: str,
    claim: int | None,
    free: str | Sequence[str] | None,
    simplify: str | None,
    *,
    together: bool,
) -> ExportReport:
    """Returns what a case or a script is for another program; see `paramverify.export`."""
    started = time.perf_counter()
    if to not in exported_files.SUFFIXES:
        raise InputError(
            f"{to!r:.40} is unknown: write one of {', '.join(exported_files.SUFFIXES)}", key="to"
        )
    left = names_of("free", free)
    if left and to == "smtlib2":
        raise InputError(
            "free parameters need a format with quantifiers: export to qepcad or redlog", key="free"
        )
    number = None if claim is None else whole("claim", claim, 1)
    if number is not None and together:
        raise InputError("together and claim exclude each other: leave one of them out")
    content, condition = read.content, dict[str, str]()
    if isinstance(content, Script):
        if together or simplify is not None:
            raise InputError("together and simplify are for cases, but this is a script: leave them out")
        files = exported_files.questions(content, to, left)
    elif isinstance(content, PrivacyCase):
        require_possible(content.model)
        condition = json_documents.side_condition(content.model)
        stem = read.path.stem
        if simplify is not None:
            if together or left:
                raise InputError("simplify writes one text per part: leave together and free out")
            with located(key="simplify"):
                steps = parse_steps(simplify)
            files = exported_files.simplified(content.model, to, stem, number, steps)
        else:
            files = exported_files.claims(content.model, to, left, stem, together=together)
    else:
        raise InputError(f"{read.subject.title} has no claims to export", file=str(read.path))
    if number is not None and simplify is None:
        if number > len(files):
            raise InputError(f"there are only {len(files)}", key="claim")
        files = files[number - 1 : number]
    texts = tuple(file.text() for file in files)
    told: list[dict[str, Any]] = [
        {**file.entry, "text": text} for file, text in zip(files, texts, strict=True)
    ]
    return ExportReport(
        kind=read.kind,
        lines=tuple(texts[0].splitlines()) if len(texts) == 1 else tuple(map(_about, count(), told)),
        document={"files": told} | condition,
        seconds=time.perf_counter() - started,
        texts=texts,
    )


def _about(place: int, told: Mapping[str, Any]) -> str:
    """Returns what one of several texts is about: one after the other they are no file."""
    about = ", ".join(f"{key} {value}" for key, value in told.items() if key != "text")
    return f"texts[{place}]: {about}"
