"""Evidence that is checked again, as `check` reports it.

By the kernel, by the case, and by the proved checker.

Evidence by the proved checker: the program `paramverify-check`, extracted from the proofs in Coq.

The theorem is in `proofs/`: a claim that the extracted function accepts is true. What the program does not
know it says, and accepts nothing then.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import paramverify
from paramverify.answers import Standing
from paramverify.errors import DisagreementError, EvidenceError, InputError, LimitError, located
from paramverify.evidence.envelope import changed
from paramverify.files import read_file
from paramverify.kernel import automaton_checks, composition_evidence, interval_evidence
from paramverify.kernel.documents import (
    AVERAGE,
    BUDGET,
    FORM,
    LEFT_OUT,
    PARTS,
    UNITS,
    budget_line,
    check_document,
    check_form,
    check_text,
    counts_of,
    engine_of,
    kind_of,
    verdict_line,
    verdict_of,
    with_missing,
)
from paramverify.kernel.ledger import Demanded, KernelReport
from paramverify.kernel.strict_reading import Rejected, counted, plain, read, shown
from paramverify.models.settings import NONE, Settings, differently_set
from paramverify.portfolio.obligations import require_possible
from paramverify.rereader.second_reading import SecondLook, second_look

if TYPE_CHECKING:
    from paramverify.automata.stream_cases import StreamCase
    from paramverify.interactive.system_cases import InteractiveCase
    from paramverify.logic.logic_cases import LogicCase, LogicOptions
    from paramverify.privacy.cases import PrivacyCase

PROGRAM = "paramverify-check"
PLACE = "PARAMVERIFY_CHECKER"  # the environment variable that names the program
CODES = {"accepted": 0, "rejected": 1, "not known": 3}  # exit codes of its answers
NO_EVIDENCE = 2  # the exit code of a text that is none
# What statements about automata and compositions do not show alone.
LEFT = {"automaton": automaton_checks.left, "composition": composition_evidence.left}
KINDS = {
    "automaton": "automata over streams",
    "paths": "enclosed probabilities",
}
MEND = (
    f"run `make -C proofs` in a checkout (Debian: apt install coq libcoq-interval libzarith-ocaml-dev "
    f"ocaml-findlib make), or name the program in {PLACE}"
)


@dataclass(frozen=True)
class Replayed:
    """What the program says; `beyond` are the reasons why nothing is accepted or rejected, if any."""

    report: KernelReport
    beyond: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """What it says in one line."""
        found = self.report
        if self.beyond:
            return f"not checked: the proved checker does not know {self.gap}"
        counts = counts_of(found)
        if found.accepted and found.status == Standing.VIOLATED:
            counts = f"a violation: {counts}" if found.proved or found.trusted else "a violation"
        elif found.accepted and counts.startswith("0 claims "):
            counts = f"{counts}, because the evidence has no claim to prove"
        return f"{'accepted' if found.accepted else 'rejected'} by the proved checker: {counts}"

    @property
    def gap(self) -> str:
        """What the program does not know, in words."""
        return "; ".join(dict.fromkeys(_named(reason) for reason in self.beyond))


def _named(reason: str) -> str:
    what = re.sub(r" (is|are) not known to the proved checker$", "", reason)
    name = what.removeprefix("a statement of the kind '").removesuffix("'")
    return KINDS.get(name, what)


def program() -> str:
    """Returns the path of the program: of the environment variable, of this checkout, or on `PATH`.

    Raises:
        InputError: there is none; the message says how to build it.
    """
    if given := os.environ.get(PLACE):
        if not os.access(given, os.X_OK) or os.path.isdir(given):
            raise InputError(f"{PLACE} names no program: {given}", mend=MEND)
        return given
    built = Path(paramverify.__file__).resolve().parents[1] / "proofs" / PROGRAM
    found = str(built) if os.access(built, os.X_OK) else shutil.which(PROGRAM)
    if found is None:
        raise InputError("the proved checker is not built", mend=MEND)
    return found


def replay(text: str) -> Replayed:
    """Returns what the program says of a document.

    Raises:
        EvidenceError: the text is no evidence of any kind.
        InputError: there is no program.
        LimitError: the program ended without an answer.
    """
    # A text may have halves of characters, which the program refuses as no UTF-8.
    done = subprocess.run(
        [program(), "--json", "-"],
        input=text.encode("utf-8", "surrogatepass"),
        capture_output=True,
        check=False,
    )
    try:
        data = json.loads(done.stdout)
        if "error" not in data:
            return _read(data, done.returncode, text)
        reason, code = data["error"], data["code"]
    except (ValueError, KeyError, TypeError) as error:
        told = done.stderr.decode("utf-8", "replace").strip()
        raise LimitError(f"the proved checker gave no answer: {told[:200] or error}") from None
    if code == done.returncode == NO_EVIDENCE:
        raise EvidenceError(str(reason).removeprefix("error: -: "))
    raise LimitError(f"the proved checker gave no answer: {str(reason).removeprefix('undecided: -: ')[:200]}")


def _read(data: dict[str, Any], code: int, text: str) -> Replayed:
    if CODES[data["answer"]] != code:
        raise ValueError(f"the answer {data['answer']!r:.40} with exit code {code}")
    unit = "part" if data["status"] == interval_evidence.STATUS else UNITS.get(data["kind"], "claim")
    report = KernelReport(
        data["answer"] == "accepted",
        tuple(data["lines"]),
        proved=data["proved"],
        trusted=data["trusted"],
        open=data["open"],
        status=data["status"],
        unit="formula" if data["kind"] == "formulas" else unit,
        refuted=_refuted(data["lines"]),
        solvers=tuple(data["solvers"]),
        side_condition=data["side_condition"],
    )
    beyond, kind = tuple(data["not_known"]), data["kind"]
    if beyond or kind in LEFT:  # of what is not known the program names no kind
        with suppress(Rejected):
            document = read_document(text)
            kind, engine = kind_of(document), engine_of(document)
            if engine is not None and kind in LEFT:
                report = replace(report, not_compared=LEFT[kind](engine))
    return Replayed(with_missing(report, kind), beyond)


def read_document(text: str) -> dict[str, Any]:
    """Returns a document of the form of evidence.

    Raises:
        Rejected: it is none.
    """
    document: dict[str, Any] = read(text)
    check_form(document)
    return document


def _refuted(lines: Sequence[str]) -> int:
    """Returns how many cells or formulas the program says to be shown to be false."""
    cells = [re.fullmatch(r"(\d+) cells? where one is false", line) for line in lines]
    formulas = [line for line in lines if re.match(r"formula \d+: false: ", line)]
    return sum(int(found[1]) for found in cells if found) + len(formulas)


def compare(report: KernelReport, replayed: Replayed) -> None:
    """Returns where the program does not contradict the report of the checker in Python.

    Raises:
        DisagreementError: one accepts what the other rejects.
    """
    if replayed.beyond or report.accepted == replayed.report.accepted:
        return
    answers = (("checker in Python", report), ("proved checker", replayed.report))
    raise DisagreementError(
        "the evidence",
        tuple(
            (name, "accepted" if found.accepted else "rejected", "\n".join(found.lines))
            for name, found in answers
        ),
    )


MAX_BYTES = 1_000_000_000
SHOWN = 20  # lines that end alike
EACH = {"differ": "each"}  # the streams that a file of an automaton is about


@dataclass(frozen=True)
class About:
    """What a verdict is about, in words: the bound, for which parameters and inputs, and notes."""

    bound: str = ""
    where: str = ""
    inputs: str = ""
    notes: Sequence[str] = ()

    @classmethod
    def of_case(cls, case: PrivacyCase) -> About:
        """Returns what a case with a prior or a mechanism, or a claim, is about."""
        from paramverify.reports import sentences

        bound = "" if case.model.comparisons else f"({case.budget})"
        return cls(bound, sentences.priors(case.model.domain, case), case.over, case.model.notes)

    @classmethod
    def of_system(cls, case: InteractiveCase) -> About:
        """Returns what a case about an interactive system is about."""
        domain = case.domain.told()
        bound = f"(differential noninterference with {case.budget})" if case.bounded else ""
        return cls(bound, f"for all {domain}" if domain else "", notes=case.checks.notes)

    @classmethod
    def of_formulas(cls, case: LogicCase) -> About:
        """Returns what formulas about a model are about."""
        from paramverify.reports.logic_reports import notes

        domain = case.domain.told()
        return cls(where=f"for every {domain}" if domain else "", notes=notes(case))

    @classmethod
    def of_streams(cls, case: StreamCase) -> About:
        """Returns what a case about streams is about."""
        from paramverify.reports.stream_reports import budget_of, whom

        return cls(f"(epsilon = {budget_of(case)})", whom(case))

    def words(self, status: str) -> str:
        """Returns what is added to the word for a status; a violation has its own point."""
        bound = self.bound if status in (Standing.HOLDS, Standing.VIOLATED) else ""
        told = [bound, "" if status == Standing.VIOLATED else self.where]
        return "".join(f" {part}" for part in told if part)


@dataclass(frozen=True, eq=False)
class Checked:
    """What the checker says, and where a case was given what a second reading of it says.

    `claimed` tells whether the case is true or false, rather than private or not. `replayed` is what the
    proved checker says, where it was asked. `about` is what the case is about, where one was given, and
    `document` the evidence, if it has the form of some. `required` says that every proof needs a certificate.
    """

    report: KernelReport
    look: SecondLook | None = None
    claimed: bool = False
    replayed: Replayed | None = None
    about: About | None = None
    document: Mapping[str, Any] | None = None
    required: bool = False

    @property
    def lacking(self) -> bool:
        """Whether it would be accepted, but certificates are required, and a proof has none."""
        return self.required and self.report.accepted and self.report.trusted > 0

    @property
    def unknown(self) -> bool:
        """Whether nothing is said: the proved checker does not know a part, or a certificate is missing."""
        if self.lacking:
            return True
        if self.replayed is None or not self.replayed.beyond:
            return False
        return self.report.accepted or self.report is self.replayed.report


def checked(
    text: str,
    case: str | None,
    settings: Settings = NONE,
    verified: bool = False,
    given: LogicOptions | None = None,
) -> Checked:
    """Checks evidence, with the case file at a path where that is given, and with what was set of it.

    `given` is what was said besides a file with formulas.

    If `verified`, the proved checker replays the proofs. With a case the checker in Python compares the
    claims with it and replays the proofs, too, and both have to accept.

    Raises:
        InputError: a case file or evidence that cannot be read, or no proved checker.
        DisagreementError: the two checkers contradict each other.
    """
    replayed = replay(text) if verified else None
    content = read_text(Path(case), "a case file") if case else ""
    document, reason = None, ""
    try:
        document = read_document(text)
    except Rejected as error:
        reason = str(error)
    if not case:
        found = Checked(replayed.report if replayed else check_text(text))
    elif document is None:
        found = _rejected(reason)
    else:
        found = _with_case(document, content, case, settings, given)
    if case and replayed and found.report.accepted:
        compare(found.report, replayed)
    return replace(found, replayed=replayed, document=document)


def read_text(path: Path, what: str = "evidence") -> str:
    """Returns the text of a file.

    Raises:
        EvidenceError: it cannot be read.
    """
    with located(file=str(path)):
        try:
            return read_file(path, MAX_BYTES, what, EvidenceError, piped=True).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise EvidenceError("not UTF-8 text") from None


def lines(found: Checked) -> list[str]:
    """Returns the result in words; of many lines that say the same the first ones."""
    report, look = found.report, found.look
    second = "" if look is None else look.line if look.agrees else f"rejected: {look.line}"
    replayed = found.replayed
    twice = {f"not checked: {reason}" for reason in replayed.beyond} if replayed else set()
    told = [line for line in report.lines if line != second and line not in twice]
    by_proved = _by_proved(found)
    verdict = [] if found.unknown else [verdict_line(report, found.claimed, _about(found))]
    if replayed and report is replayed.report and not found.unknown and not report.accepted:
        verdict = [verdict[0].replace("REJECTED:", "REJECTED by the proved checker:", 1)]
    nothing = not (report.accepted or report.proved or report.trusted or report.open)
    if nothing and verdict and told and told[-1].startswith("rejected: "):
        verdict = [verdict[0].partition(":")[0] + told.pop().removeprefix("rejected")]
    if found.lacking:
        names = f" of {', '.join(map(shown, report.solvers))}" if report.solvers else ""
        count = f"{report.trusted} proof{'s rest' if report.trusted > 1 else ' rests'}"
        verdict = [f"undecided: {count} on the word{names}, and certificates are required"]
    notes = [f"Note: {note}." for note in _notes(found)]
    rest = [*([second] if second else []), *by_proved, *notes, *verdict]
    return [*_heading(found), *_shortened(told), *rest]


def _heading(found: Checked) -> list[str]:
    """Returns of which case accepted evidence says to be, on which domain, and what `E` stands for."""
    document = found.document
    if document is None or found.unknown or not found.report.accepted:
        return []
    case, domains, told = document.get("case"), document["domains"], []
    if case:
        word = "case" if found.look else "case named in the evidence"
        given = ", ".join(
            f"{plain(name)} = {plain(value, 60)}" for name, value in case.get("set", {}).items()
        )
        told = [f"{word}: {plain(case['title']) or 'without a title'} (SHA-256 {case['digest'][:12]}...)"]
        told[0] += f", with -D {given}" if given else ""
    if found.about is None:
        told += [f"domain: {words}" for words in dict.fromkeys(map(_domain_in_words, domains)) if words]
    constants = dict.fromkeys(domain["constant"] for domain in domains if "constant" in domain)
    return [*told, *(f"E stands for exp({exponent})" for exponent in constants)]


def _domain_in_words(domain: Mapping[str, Any]) -> str:
    """Returns the ranges and the constraints of a domain: `p in (0, 1), q in [0, 1/2] with p - q > 0`."""
    ranges = ", ".join(map(_range_in_words, domain["box"], domain["box"].values()))
    constraints = ", ".join(f"{plain(text, 60)} {relation} 0" for text, relation in domain["constraints"])
    return f"{ranges} with {constraints}" if constraints else ranges


def _range_in_words(name: str, ends: str) -> str:
    lower, _, upper = ends[1:-1].partition(", ")
    return f"{plain(name)} = {plain(lower, 60)}" if lower == upper else f"{plain(name)} in {plain(ends, 60)}"


def _notes(found: Checked) -> list[str]:
    """Returns the notes about the case; a violation is one for all neighbours that differ by more, too."""
    from paramverify.models.neighbourhoods import BY

    if found.about is None or found.unknown or not found.report.accepted:
        return []
    said = [found.report.side_condition, BY if found.report.status == Standing.VIOLATED else ""]
    return [note for note in found.about.notes if note not in said]


def _shortened(told: Sequence[str]) -> list[str]:
    """Returns lines; of many that end alike, such as with `: proved`, the first, and how many more."""
    ends = [line.rpartition(": ")[2] for line in told]
    total, seen, found = Counter(ends), Counter[str](), list[str]()
    for line, end in zip(told, ends, strict=True):
        seen[end] += 1
        if seen[end] <= SHOWN:
            found.append(line)
        elif seen[end] == SHOWN + 1:
            found.append(f"... and {total[end] - SHOWN:,} more: {end}")
    return found


def _about(found: Checked) -> str:
    return found.about.words(found.report.status) if found.about else ""


def _by_proved(found: Checked) -> list[str]:
    """Returns what the proved checker says, where it was asked."""
    replayed, report = found.replayed, found.report
    if replayed is None:
        return []
    if replayed.beyond and report is replayed.report:
        besides = ", but for what is a solver's word" if "solver" in replayed.gap else ""
        return [replayed.line, f"Without --verified the checker in Python replays it{besides}."]
    if replayed.beyond and report.accepted:
        return [f"The checker in Python accepts it. The proved checker does not know {replayed.gap}"]
    if report is replayed.report and not report.accepted:
        return []  # the verdict says so
    if report is not replayed.report and replayed.report.accepted and not replayed.beyond:
        return [f"{replayed.line} (it sees neither the case nor the model)"]
    return [replayed.line]


def document(found: Checked) -> dict[str, Any]:
    """Returns the result as JSON data."""
    data = _document(found.report, found.look, found.claimed)
    if found.about and found.about.inputs:
        data["inputs"] = found.about.inputs
    data |= {"notes": notes} if (notes := _notes(found)) else {}
    if found.unknown:
        data = {name: data[name] for name in ("proved", "trusted", "solvers", "open", "lines")}
        data["status"] = "unknown"
    if found.replayed is not None:
        data["proved_checker"] = {
            "knows": not found.replayed.beyond,
            "not_known": list(found.replayed.beyond),
            "words": found.replayed.line,
        }
    return data


def with_second_look(
    report: KernelReport,
    document: Mapping[str, Any],
    content: str,
    bound: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    folder: Path | None = None,
    settings: Settings = NONE,
) -> tuple[KernelReport, SecondLook]:
    """Returns the report on evidence that was accepted for a case, after a second reading of the case.

    The arguments are those of `second_look`.
    """
    look = (
        second_look(document, content, bound, folder, settings)
        if report.accepted
        else SecondLook(False, True, "")
    )
    return _looked_at(report, look)


def _looked_at(report: KernelReport, look: SecondLook) -> tuple[KernelReport, SecondLook]:
    """Returns a report with what a second reading says, which may reject it."""
    if look.agrees:
        return (replace(report, lines=(*report.lines, look.line)) if look.line else report), look
    return replace(report, accepted=False, lines=(*report.lines, f"rejected: {look.line}")), look


def _with_case(
    document: dict[str, Any], content: str, path: str, settings: Settings, given: LogicOptions | None
) -> Checked:
    """Checks evidence against a case."""
    kind = kind_of(document)
    other = differently_set(document, settings) if kind != "composition" else ""
    if other:
        return _rejected(other)
    if kind in _APART:
        return _APART[kind](document, content, path, settings)
    if kind == "formulas":
        return _with_model(document, content, Path(path), settings, given)
    engine = engine_of(document) or {}
    if kind == "unwinding":
        from paramverify.interactive.system_cases import load as load_system
        from paramverify.interactive.system_certificates import check_with_case as check_with_system

        # What may come from a budget needs no bound, and what shows nothing is told as that.
        shows = document.get("status") != Standing.UNKNOWN
        bounded = shows and not {"tight", "growth", "witness"} & engine.keys()
        system = load_system(path, bounded=bounded, settings=settings)
        report = check_with_system(document, system)
        look = with_second_look(report, document, content, settings=settings)
        return Checked(*look, about=About.of_system(system))
    if kind == "slots":
        from paramverify.interactive.pinq_induction import read_program

        program, title, digest = read_program(path)
        report = check_document(document, Demanded(engine={"program": program.document()}))
        if report.accepted and document.get("case") != {"title": title, "digest": digest}:
            return _rejected(changed(document.get("case"), digest, title))
        return Checked(*with_second_look(report, document, content))
    from paramverify.privacy.cases import load
    from paramverify.privacy.other_bounds import load_with_bounds
    from paramverify.reports.budget_evidence import check_budget
    from paramverify.reports.case_evidence import check_with_case

    folder = Path(path).parent
    if BUDGET in document and kind == PARTS:
        from paramverify.reports.budget_evidence import check_set_budget

        report = check_set_budget(document, path, settings)
        look = with_second_look(report, document, content, folder=folder, settings=settings)
        return Checked(
            *look, about=About.of_case(load_with_bounds(path, {"ratio": "1", "delta": "1"}, settings))
        )
    loaded = load(path, settings=settings)
    require_possible(loaded.model)
    if BUDGET in document and kind == AVERAGE:
        from paramverify.reports.budget_evidence import check_loss_budget

        report = check_loss_budget(document, loaded)
        look = with_second_look(report, document, content, folder=folder, settings=settings)
        return Checked(*look, about=About.of_case(loaded))
    if BUDGET in document:
        report = check_budget(document, loaded, check_with_case)
        bound = document[BUDGET].get("bounds") or document[BUDGET].get("bound")
    else:
        report, bound = check_with_case(document, loaded), None
    claimed = BUDGET not in document and bool(loaded.model.comparisons)
    look = with_second_look(report, document, content, bound, folder=folder, settings=settings)
    return Checked(*look, claimed, about=About.of_case(loaded))


def _with_model(
    document: dict[str, Any], content: str, path: Path, settings: Settings, given: LogicOptions | None
) -> Checked:
    """Checks evidence about formulas against a file, and what was said besides it."""
    from paramverify.logic.logic_cases import LogicOptions
    from paramverify.reports.logic_evidence import check_with_case

    report, case = check_with_case(document, path, given or LogicOptions(settings=settings))
    about = About.of_formulas(case) if case else None
    if given and replace(given, properties=(), settings={}) != LogicOptions():
        return Checked(report, None, True, about=about)  # the file alone has another model than the evidence
    look = with_second_look(report, document, content, settings=settings)
    return Checked(*look, claimed=True, about=about)


def _rejected(reason: str) -> Checked:
    return Checked(KernelReport(False, (f"rejected: {reason}",)))


def _script(document: dict[str, Any], content: str, path: str, settings: Settings) -> Checked:
    """Checks evidence of answers against their script."""
    del settings
    from paramverify.reports.script_reports import check_with_script

    return Checked(*check_with_script(document, path, content))


def _automaton(document: dict[str, Any], content: str, path: str, settings: Settings) -> Checked:
    """Checks evidence of an automaton against its file, or against a case about streams."""
    if not path.endswith(".dipa"):
        return _stream(document, content, path, settings)
    engine = engine_of(document) or {}
    if "claim" in engine or engine.get("streams", EACH) != EACH:
        return _rejected("the evidence is about a case that says which streams are neighbours")
    from paramverify.automata.automaton import MAX_BYTES, read_automaton
    from paramverify.automata.automaton_evidence import machine
    from paramverify.reports.stream_reports import FOR_WHOM, times

    digest = sha256(read_file(Path(path), MAX_BYTES, "an automaton")).hexdigest()
    about = document.get("case", {})
    if about.get("digest") != digest:
        return _rejected(changed(about, digest, Path(path).name))
    report = check_document(document, Demanded(engine={"automaton": machine(read_automaton(Path(path)))}))
    own = {name: value for name, value in engine.items() if name != "streams"}  # these are as usual
    look = with_second_look(report, {**document, "statements": [own]}, content)
    multiple = engine.get("proof", {}).get("multiple")
    bound = f"(a budget of {times(Fraction(multiple))})" if multiple is not None and report.accepted else ""
    return Checked(*look, about=About(bound, FOR_WHOM))


def _stream(document: dict[str, Any], content: str, path: str, settings: Settings) -> Checked:
    """Checks evidence about a case about streams: the automaton is made again, and read a second time."""
    from paramverify.automata.automaton_evidence import claim, machine, streams
    from paramverify.automata.stream_cases import about_streams, load

    del settings
    if not about_streams(Path(path)):
        return _rejected("the evidence is about streams, and the case is not")
    case = load(Path(path))
    about, engine = document.get("case", {}), engine_of(document) or {}
    if about != {"title": case.title, "digest": case.digest}:
        return _rejected(changed(about, case.digest, case.title))
    if "streams" in engine and engine["streams"] != streams(case):
        return _rejected("the evidence is about other neighbours")
    if "streams" not in engine and engine.get("claim") != claim(case):
        return _rejected("the evidence is about another budget, or other neighbours")
    report = check_document(document, Demanded(engine={"automaton": machine(case.automaton)}))
    if report.accepted and "streams" in engine:
        told = [line for line in report.lines if re.search("enough|costs", line)]
        facts = [line.rpartition(": ")[2] for line in told if not line.startswith("length")]
        lengths = f"the number for {counted(len(told) - len(facts), 'length')}"
        facts += [lengths] if len(facts) < len(told) else []
        budget = f"budget: {'; '.join(facts) or 'the evidence does not show the number'}"
        report = replace(report, lines=(*report.lines, budget))
    look = with_second_look(report, document, content, folder=Path(path).parent)
    return Checked(*look, about=About.of_streams(case))


def _composition(document: dict[str, Any], content: str, path: str, settings: Settings) -> Checked:
    """Checks evidence of a composition against one of its case files, or its file of releases."""
    from paramverify.composition.written_releases import file_of_releases
    from paramverify.reports.composition_reports import check_composition, check_releases

    if file_of_releases(path):
        report, of_cases = check_releases(document, path, settings)
    else:
        report, own = check_composition(document, path, settings)
        of_cases = [(path, each) for each in own]
    looks = []
    for case in dict.fromkeys(case for case, _ in of_cases) if report.accepted else ():
        parts = [each for name, each in of_cases if name == case]
        about = {**document, "statements": [{**(engine_of(document) or {}), "components": parts}]}
        content = read_text(Path(case), "a case file")
        looks.append((case, second_look(about, content, None, Path(case).parent, settings)))
    if len(looks) == 1:
        return Checked(*_looked_at(report, looks[0][1]))
    told = [f"{Path(case).name}: {look.line}" for case, look in looks if look.line]
    compared, agree = (all(getattr(look, name) for _, look in looks) for name in ("compared", "agrees"))
    return Checked(*_looked_at(report, SecondLook(compared and bool(looks), agree, "; ".join(told))))


_APART = {"automaton": _automaton, "composition": _composition, "script": _script}


def _document(report: KernelReport, look: SecondLook | None, claimed: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "status": "accepted" if report.accepted else "rejected",
        "proved": report.proved,
        "trusted": report.trusted,
        "solvers": list(report.solvers),
        "open": report.open,
        "lines": list(report.lines),
    }
    if report.accepted:
        found |= {"verdict": verdict_of(report, claimed), "shown": report.status}
        if told := budget_line(report):
            found["budget"] = told
        found["not_compared"] = [
            *report.not_compared,
            *([LEFT_OUT] if report.unit == FORM else []),
        ]
        if report.side_condition:
            found["side_condition"] = report.side_condition
    if look is not None and look.line:
        found["second_reading"] = {"compared": look.compared, "agrees": look.agrees, "words": look.line}
    return found
