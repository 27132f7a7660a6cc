"""What other programs get: claims of cases, what simplification leaves of them, questions of scripts.

Each file has a text in SMT-LIB, or for QEPCAD or Redlog, which is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from paramverify.claims import Claim
from paramverify.encodings import monolithic, sums
from paramverify.encodings.choice import listed_claims
from paramverify.encodings.encoding import Encoding, WrittenScript
from paramverify.errors import InputError, LimitError, UnsupportedError
from paramverify.formats import elimination_scripts
from paramverify.formats.quantified_questions import question
from paramverify.formats.smtlib import script
from paramverify.formats.smtlib_scripts import Check, Script
from paramverify.models.model import AnyModel
from paramverify.portfolio.session import Options, Session
from paramverify.reports import json_documents
from paramverify.scripts.benchmark_families import known_of, plain
from paramverify.scripts.script_questions import without_solution
from paramverify.simplify.chain import simplify

BITS = 64  # precision of the rational enclosure of exp(q)
STATED = 10.0  # seconds for each claim whose status is to be stated
FORMULAS = {encoding.name: encoding for encoding in (monolithic.ENCODING, sums.ENCODING)}
SUFFIXES = {"smtlib2": "smt2", "qepcad": "qepcad", "redlog": "red"}


@dataclass(frozen=True)
class ExportedFile:
    """A file to be written: what is told of it, its number (None for the only one), and its text."""

    entry: dict[str, Any]
    number: int | None
    text: Callable[[], str]
    claim: Claim | None = None


def formulas(model: AnyModel, encoding: Encoding, most: int | None) -> list[ExportedFile]:
    """Returns a file for each formula of an encoding that has scripts, at most so many."""
    scripts = encoding.scripts
    assert scripts is not None
    return [
        ExportedFile({"formula": k, "origin": written.origin}, k, partial(_formula_text, model, written))
        for k, written in enumerate(islice(scripts(model), most), 1)
    ]


def _formula_text(model: AnyModel, written: WrittenScript) -> str:
    condition = condition_of(model)
    return (f"; {condition}\n" if condition else "") + written.script


def condition_of(model: AnyModel) -> str:
    """Returns what the claims of a model leave out, in words; "" for nothing."""
    return str(json_documents.side_condition(model).get("side_condition", ""))


def claims(
    model: AnyModel, target: str, free: Sequence[str], stem: str, *, together: bool
) -> list[ExportedFile]:
    """Returns a file for each claim of a model, or one about all of them."""
    listed = listed_claims(model)
    groups: list[tuple[int | None, list[Claim]]] = [(k, [claim]) for k, claim in enumerate(listed, 1)]
    if together and listed:
        groups = [(None, list(listed))]
    return [
        ExportedFile(
            {"claims": len(group)} if k is None else {"claim": k, "origin": origin(group[0])},
            k,
            partial(_text, group, target, free=free, stem=stem, condition=condition_of(model)),
            group[0],
        )
        for k, group in groups
    ]


def questions(read: Script, target: str, free: Sequence[str]) -> list[ExportedFile]:
    """Returns a file for each question of a script of SMT-LIB."""
    return [
        ExportedFile(
            {"question": check.number, "line": check.line},
            check.number,
            partial(_question_text, read.name, check, target, free),
        )
        for check in read.checks
    ]


def _question_text(name: str, check: Check, target: str, free: Sequence[str]) -> str:
    """Returns a question of a script in another language, or as a script of its own."""
    if target == "smtlib2":
        return check.script
    try:
        asked, symbols = without_solution(check, free)
        meaning = "true means unsat, false means sat"
        if asked.free:
            meaning = "if the answer is true, no values of the other variables satisfy the assertions"
        title = f"{name}: question {check.number}, line {check.line}: {meaning}"
        if absent := [symbol for symbol in free if symbol not in symbols.values()]:
            title += f"; {', '.join(absent)} {'does' if len(absent) == 1 else 'do'} not occur"
        if target == "qepcad":
            return elimination_scripts.qepcad_script(asked, title, symbols)
        return elimination_scripts.redlog_script(asked, title, called=symbols)
    except (InputError, LimitError) as error:
        told = str(error)
        if not isinstance(error, InputError) or isinstance(error, UnsupportedError):
            told = f"this question cannot be written for {target}: {told}"
        found = InputError(told, file=name)
        found.file_line = check.line
        raise found from None


def simplified(
    model: AnyModel, target: str, stem: str, number: int | None, steps: Sequence[str] | None
) -> list[ExportedFile]:
    """Returns a file for each part that simplification leaves of each claim, or of one of them.

    Raises:
        InputError: there is no such claim, or nothing is left.
    """
    listed = listed_claims(model)
    if number is not None and number > len(listed):
        raise InputError(f"there are {len(listed)} claims only")
    condition = condition_of(model)
    files: list[ExportedFile] = []
    for k, claim in enumerate(listed, 1):
        # Steps move parameters one by one, which is wrong for those that are tied to each other.
        possible = () if claim.domain.ring.tied else steps
        found = simplify(claim, possible) if number in (None, k) else None
        leaves = found.leaves() if found else []
        only = ", and only then" if found and found.exact else ""
        for j, leaf in enumerate(leaves, 1):
            told = [
                f"part {j} of {len(leaves)} of claim {k}, which is true if all its parts are true{only}",
                *([f"replaced, the last one first: {leaf.told}"] if leaf.notes else []),
                *([condition] if condition else []),
            ]
            entry = {"claim": k, "part": j, "origin": origin(claim), "replaced": leaf.told}
            about = _retold(replace(leaf.claim, origins=claim.origins))
            write = partial(_text, [about], target, free=(), stem=stem, condition="\n".join(told), part=True)
            files.append(ExportedFile(entry, len(files) + 1, write, about))
    if not files:
        proved = "every claim" if number is None else f"claim {number}"
        raise InputError(f"simplification proves {proved}, so there is no file to write")
    return files


def _retold(claim: Claim) -> Claim:
    """Returns a claim whose constraints are told as they are now, and not as somebody wrote them before."""
    told = (
        replace(c, text=f"{c.polynomial} {'>' if c.strict else '>='} 0") for c in claim.domain.constraints
    )
    return replace(claim, domain=replace(claim.domain, constraints=tuple(told)))


def origin(claim: Claim) -> str:
    """Returns what a claim is about."""
    return str(claim.origins[0]) if claim.origins else "the model"


def stated(claim: Claim | None, stem: str, about: Mapping[str, str], condition: str) -> str:
    """Returns the script about a claim, which is decided first; `about` are the facts that it states."""
    assert claim is not None
    written = plain(claim)
    with Session(Options(seconds=STATED)) as session:
        status = known_of(written, session).status
    return script(written, status, name=f"{stem}: {origin(claim)}\n{condition}", information=about)


def _meaning(claims: Sequence[Claim], target: str, *, free: bool, part: bool) -> str:
    """Returns what the answer of a program that eliminates quantifiers means for claims, or a part of one."""
    several = len(claims) > 1
    holds = "all claims are true" if several else "this part is true" if part else "the claim is true"
    if free:
        where = (
            ", or the free parameters are not in the domain"
            if target == "redlog"
            else ", if the free parameters are in the domain"
        )
        return f"if the answer is true, {holds} for all values of the others{where}"
    # Of a constant that is enclosed, `false` is told below.
    fails = "" if claims[0].domain.constant else f", and false that {'one' if several else 'it'} is false"
    return f"true means that {holds}{fails}"


def _text(
    claims: Sequence[Claim],
    target: str,
    free: Sequence[str],
    stem: str,
    condition: str,
    part: bool = False,
) -> str:
    """Returns the file about these claims, at least one, which share their domain, or about a part of one."""
    domain = claims[0].domain.enclose(BITS)
    enclosed = [replace(claim, domain=domain) for claim in claims]
    lines = [f"{stem}: {origin(claims[0])}" if len(claims) == 1 else f"{stem}: all {len(claims)} claims"]
    if condition:
        lines.append(condition)
    if target != "smtlib2":
        lines.append(_meaning(claims, target, free=bool(free), part=part))
    if domain.constant:
        yes, no = ("unsat", "sat") if target == "smtlib2" else ("true", "false")
        lines.append(
            f"E encloses exp({domain.constant.exponent}): {yes} is a proof, {no} refutes the enclosure only."
        )
    if any(claim.domain is not claims[0].domain for claim in claims):
        raise InputError("--together needs claims about one domain, and a claim with < or > has its own")
    title = "\n".join(lines)
    try:
        if target == "smtlib2":
            return script(enclosed[0], name=title, others=enclosed[1:])
        asked = question([claim.polynomial for claim in enclosed], domain, free)
        return (
            elimination_scripts.qepcad_script(asked, title)
            if target == "qepcad"
            else elimination_scripts.redlog_script(asked, title)
        )
    except LimitError as error:
        raise InputError(str(error)) from None
