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
from paramverify.reports.interactive_reports import CONDITION, remarks

MOST_EMBEDDED = 8_000_000  # characters of evidence that a page carries with it
_CONTENT = {
    Standing.HOLDS: "contains every claim with its proof",
    Standing.VIOLATED: "contains the counterexample",
    Standing.UNKNOWN: "contains the claims that were proved",
}
_LESS = {
    Standing.HOLDS: "From this file alone the checker cannot derive that the answer is yes.",
    Standing.VIOLATED: "From this file alone the checker cannot derive that the answer is no.",
    Standing.UNKNOWN: "The file does not settle the question.",
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
    replayed = "The checker replays it with exact arithmetic and without a solver."
    if count := trusted["without_certificate"]:
        content = "contains every claim, and a proof for each one that has a certificate"
        rest = "claims have no certificate and rest" if count > 1 else "claim has no certificate and rests"
        who = ", ".join(trusted["on_the_word_of"])
        replayed = f"{replayed} But {count} {rest} on the word of {who}."
    parts: list[Part] = [
        paragraph(f"The evidence is a file that {content}. {replayed}"),
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
    given = "".join(f" -D {shlex.quote(f'{n}={value}')}" for n, value in work.source.settings.items())
    check = f"paramverify check {name} --case {case}{given}"
    if is_embedded(found):
        saved = [_save(found.name, f"evidence-{number}"), _save(work.source.saved, f"case-{number}")]
        parts.append(h("p", saved, class_="buttons"))
    else:
        told = f"it has {len(found.text):,} characters; the file {found.name} belongs next to this page"
        parts.append(left_out("The evidence is not in this page", told))
        parts.append(h("p", _save(work.source.saved, f"case-{number}"), class_="buttons"))
    parts.append(paragraph("To check them again, save both files in one folder and run:"))
    parts.append(commands(f"sha256sum {name}", check, f"python3 -m paramverify.checker {name}"))
    parts.append(
        paragraph(
            "The first command has to print the SHA-256 of the evidence above. The other two require "
            "paramverify. The last one runs the small checker alone, which does not read the case file. To "
            "run it without installing paramverify, copy the folder paramverify/kernel of its source next to "
            "the evidence; it requires only the standard library of Python:"
        )
    )
    parts.append(commands(f"python3 -S -m kernel {name}"))
    others = [n for n in _files(work) if n]
    if others:
        told = f"The case file refers to other files, by their places relative to it: {', '.join(others)}. "
        parts.append(paragraph(told, "Save them there, too. The digest of the case covers all these files."))
    return section("Evidence", parts)


def case_file(work: Examined) -> Element:
    """Returns the text of the case file, folded."""
    return section(
        "The case file", folded("Show its text", listing(work.source.text, "The case file", numbered=True))
    )


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
    told = [f"{line}." for line in dict.fromkeys(_conditions(work))]
    if isinstance(work, PrivacyWork) and work.standing is Standing.HOLDS:
        over = sentences.priors(work.report.domain, work.case)
        told.insert(0, f"The answer is {over}. It does not cover any other input, prior or parameter value.")
    names = sentences.words(decisions(work))["on_the_word_of"]
    if names:
        count = sentences.words(decisions(work))["without_certificate"]
        told.append(
            f"{count} proof{'s' * (count != 1)} rest{'s' * (count == 1)} on the word of {', '.join(names)}, "
            "without a certificate that the checker can replay."
        )
    elif work.standing is Standing.HOLDS:
        told.append("Every proof has a certificate, so no solver has to be trusted.")
    told += [
        "The answer is about the model in the case file. It does not cover an implementation of the model: "
        "its code, its random number generator, or its running time.",
        "Numbers after ≈ are rounded; all others are exact.",
    ]
    return section("What was assumed", items(map(_sentence, told)))


def _sentence(line: str) -> str:
    begins = line[: line.find(" ")].isalpha()  # and not with the name of a variable such as x_eps
    return printable.line(f"{line[:1].upper()}{line[1:]}" if begins else line)


def _conditions(work: Examined) -> list[str]:
    if isinstance(work, PrivacyWork):
        model = work.case.model
        side = [model.side_condition] if model.side_condition else []
        return [*side, *work.report.notes]
    if isinstance(work, SystemWork):
        return [*([CONDITION] if work.case.system.partial else []), *remarks(work.case, work.report)]
    return list(work.case.relation.notes)
