"""What somebody needs to check a page: the evidence, its digest, commands, and what the result rests on."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from paramverify import __version__, printable
from paramverify.answers import Decision, Standing
from paramverify.errors import InputError
from paramverify.pages.markup import Element, Part, h
from paramverify.pages.parts import commands, facts, folded, items, left_out, listing, paragraph, section
from paramverify.pages.work import Evidence, Examined, PrivacyWork, SystemWork
from paramverify.reports import sentences, verdict_reports
from paramverify.reports.interactive_reports import remarks

MOST_EMBEDDED = 8_000_000  # characters of evidence that a page carries with it
_CONTENT = {
    Standing.HOLDS: "It has every claim with its proof.",
    Standing.VIOLATED: "It has the witness of the violation.",
    Standing.UNKNOWN: "It has the claims that were proved.",
}
_LESS = {
    Standing.HOLDS: "It does not show the verdict: the checker does not come to it by itself.",
    Standing.VIOLATED: "It does not show the violation: the checker does not come to it by itself.",
    Standing.UNKNOWN: "It shows no verdict.",
}


def decisions(work: Examined) -> Sequence[Decision]:
    """Returns all that the verdict rests on."""
    if isinstance(work, PrivacyWork):
        return verdict_reports.proofs(work.report)
    if isinstance(work, SystemWork):
        return [d for _, d in (*work.report.claims, *work.report.obligations)]
    found = [d for result in work.results.values() for _, d in result.claims]
    return [*found, *(d for _, d in work.obligations)]


def evidence(work: Examined, number: int) -> Element:
    """Returns the digests, the files, and how they are checked again."""
    found = work.evidence
    name, case = shlex.quote(found.name), shlex.quote(work.source.saved)
    content, trusted = _CONTENT[work.standing], sentences.words(decisions(work))
    replayed = "The checker replays it with exact arithmetic and asks no solver."
    if count := trusted["without_certificate"]:
        content = "It has every claim, and each proof that there is."
        rest = f"{count} claim{'s have no proof and rest' if count > 1 else ' has no proof and rests'}"
        replayed = f"{replayed} But {rest} on the word of {', '.join(trusted['on_the_word_of'])}."
    parts: list[Part] = [
        paragraph(f"The evidence is a file. {content} {replayed}"),
        *([paragraph(_LESS[work.standing])] if found.status != work.standing else []),
        facts(
            [
                ("SHA-256 of the evidence", h("code", found.digest, class_="digest")),
                ("digest of the case", h("code", work.case.digest, class_="digest")),
                ("made by", f"paramverify {__version__}"),
                (
                    "decided by",
                    sentences.backends_used(decisions(work)) or "the exact evaluation of the model",
                ),
            ]
        ),
    ]
    check = f"paramverify check {name} --case {case}"
    if is_embedded(found):
        saved = [_save(found.name, f"evidence-{number}"), _save(work.source.saved, f"case-{number}")]
        parts.append(h("p", saved, class_="buttons"))
    else:
        told = f"it has {len(found.text):,} characters, and stands beside the page as {found.name}"
        parts.append(left_out("The evidence is not in this page", told))
        parts.append(h("p", _save(work.source.saved, f"case-{number}"), class_="buttons"))
    parts.append(paragraph("Put both files into one folder. Then check them:"))
    parts.append(commands(f"sha256sum {name}", check, f"python3 -m paramverify.checker {name}"))
    parts.append(
        paragraph(
            "The last two commands need paramverify; its Python is the one that has it. The last one is the "
            "small checker, which does not look at the case. It works without the rest, too: copy the folder "
            "paramverify/kernel of the source beside the evidence, and use this command:"
        )
    )
    parts.append(commands(f"python3 -S -m kernel {name}"))
    parts.append(paragraph("For that the standard library of Python is enough."))
    others = [n for n in _files(work) if n]
    if others:
        told = f"The case names other files, which have to stand beside it: {', '.join(others)}."
        parts.append(paragraph(told, " Its digest is that of all these files together."))
    parts.append(folded("The case file", listing(work.source.text, "The case file", numbered=True)))
    return section("Evidence", parts)


def is_embedded(found: Evidence) -> bool:
    """Tells whether evidence is short enough to be part of a page."""
    return len(found.text) <= MOST_EMBEDDED


def beside(found: Sequence[Examined]) -> dict[str, str]:
    """Returns the files that stand beside a page, by their names: evidence that is too long for it.

    Raises:
        InputError: two of them would have one name.
    """
    files: dict[str, str] = {}
    for work in found:
        if not is_embedded(work.evidence):
            if work.evidence.name in files:
                raise InputError(
                    f"the evidence of two cases would be {work.evidence.name}: rename one of them"
                )
            files[work.evidence.name] = work.evidence.text
    return files


def _save(name: str, target: str) -> Element:
    return h("button", f"Save {printable.name(name)}", type="button", data_save=target, data_name=name)


def _files(work: Examined) -> list[str]:
    """Returns the files that a case names, as its text says."""
    found: list[str] = []

    def look(value: object) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("file"), str):
                found.append(value["file"])
            for inner in value.values():
                look(inner)

    look(dict(work.source.data))
    return [printable.name(name) for name in dict.fromkeys(found)]


def assumed(work: Examined) -> Element:
    """Returns what the verdict rests on besides its proof, and what the page does not say."""
    told = [f"{line}." for line in _conditions(work)]
    names = sentences.words(decisions(work))["on_the_word_of"]
    if names:
        count = sentences.words(decisions(work))["without_certificate"]
        told.append(
            f"{count} proof{'s' * (count != 1)} rest{'s' * (count == 1)} on the word of {', '.join(names)}: "
            "there is no certificate for the checker to replay."
        )
    elif work.standing is Standing.HOLDS:
        told.append("Every proof has a certificate, so no solver has to be trusted.")
    told += [
        "The model is taken as it is in the case file. Nothing is said about an implementation of "
        "it: about its code, its random numbers, or the time that it takes.",
        "Numbers behind ≈ are rounded. All others are exact.",
    ]
    return section("What was assumed", items(map(_sentence, told)))


def _sentence(line: str) -> str:
    return printable.line(f"{line[:1].upper()}{line[1:]}")


def _conditions(work: Examined) -> list[str]:
    if isinstance(work, PrivacyWork):
        model = work.case.model
        side = [model.side_condition] if model.side_condition else []
        return [*side, *work.report.notes]
    if isinstance(work, SystemWork):
        partial = "no input ever comes in a waiting state that does not accept it"
        return [*([partial] if work.case.system.partial else []), *remarks(work.case, work.report)]
    return list(work.case.relation.notes)
