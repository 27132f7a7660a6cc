"""The answers about cases with a mechanism or a claim, but for bounds and safe values."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from paramverify.answers import WORST, Decision, Proved, Standing
from paramverify.claims import Claim
from paramverify.divergences.registry import names
from paramverify.errors import InputError
from paramverify.models.mechanisms import Worded
from paramverify.models.model import Model
from paramverify.models.settings import with_settings
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase, read_case
from paramverify.privacy.formula_verification import verify_by_formulas
from paramverify.privacy.runs import told_run
from paramverify.privacy.sides import deciding
from paramverify.privacy.verification import Progress
from paramverify.privacy.verification import verify as verify_case
from paramverify.reports import formula_verdicts, json_documents, verdict_reports
from paramverify.reports.observations import read_observations
from paramverify.subjects.questions import FOR_EVIDENCE, MONOLITHIC, Explain, Show, Verify
from paramverify.subjects.results import CaseFacts, Result, ShowFacts
from paramverify.subjects.subject import CaseFile, Watch
from paramverify.subjects.written_numbers import split
from paramverify.synthesis.borders import verify_beyond
from paramverify.tables import TomlDocument
from paramverify.verdicts import Unknown, Verdict, Violated


def verify(file: CaseFile, asked: Verify, options: Options, watch: Watch) -> Result:
    """Decides a case, for its own bound or for several; or the published formulas about it."""
    if asked.encoding == MONOLITHIC:
        return _by_formulas(file, options, watch)
    if asked.budgets is not None:
        return _budgets(file, asked.budgets, options, watch)
    until = time.monotonic() + options.seconds
    case = case_of(file)
    plain = options
    if asked.evidence:
        from paramverify.reports.case_evidence import check_has_evidence

        check_has_evidence(case)
        options = replace(options, evidence=FOR_EVIDENCE)
    options, settled = _kept(options, watch)
    case = deciding(case, options)
    found = verify_beyond(case, options, settled, near=not asked.evidence)
    condition = _condition(case, max(0.01, until - time.monotonic()), options.may_ask("qepcad"))
    witness = found.verdict.witness if isinstance(found.verdict, Violated) else None
    by_bound = found.bound and not asked.evidence  # proofs of other claims, which were not made for evidence

    def evidence() -> dict[str, Any]:
        from paramverify.reports.case_evidence import evidence_document

        return evidence_document(case, verify_case(case, plain) if by_bound else found)

    return Result(
        [
            *verdict_reports.lines(found, case),
            *(f"  {name.capitalize()}: {words}" for name, words in condition.items()),
            *verdict_reports.notes(found, case),
        ],
        verdict_reports.document(found, case) | json_documents.side_condition(case.model) | condition,
        seconds=found.seconds,
        standing=found.status,
        ending=found.status,
        notes=tuple(found.notes),
        reason=reason_of(found.verdict),
        witness=witness,
        found=found,
        evidence=evidence,
        facts=CaseFacts(told_run(case, witness) if witness else None),
    )


def case_of(file: CaseFile) -> PrivacyCase:
    """Returns the case in a file."""
    found: PrivacyCase = file.content()
    return found


def reason_of(verdict: Verdict) -> str:
    """Returns why it is undecided; "" if it is not."""
    return f"{verdict.end.value}: {verdict.detail}" if isinstance(verdict, Unknown) else ""


def _condition(case: PrivacyCase, seconds: float, qepcad: bool) -> dict[str, str]:
    """Returns what is said besides the verdict, of free and design parameters."""
    if not (case.free or case.design):
        return {}
    from paramverify.reports.synthesis_reports import quantified_lines

    return quantified_lines(case, seconds, qepcad)


def _kept(options: Options, watch: Watch) -> tuple[Options, Progress]:
    """Returns both so that what is settled is kept, in case that a limit ends the run."""
    proved = 0

    def decided(claim: Claim, decision: Decision) -> None:
        nonlocal proved
        if claim.origins:
            proved += isinstance(decision.answer, Proved)
            watch.detail(
                "claims", json_documents.origin(claim.origins[0]) | json_documents.decision(decision)
            )

    def settled(done: int, total: int) -> None:
        were, tried = ("was" if n == 1 else "were" for n in (proved, done))
        watch.counted(
            f"  {proved} of {total} claims {were} proved before the run ended, {done} {tried} tried."
        )
        watch.progress(done, total)

    return replace(options, on_decision=decided), settled


# --- several bounds -----------------------------------------------------------------------------------


def _budgets(file: CaseFile, budgets: str, options: Options, watch: Watch) -> Result:
    """Decides a case for each bound; the verdict of the whole is the worst."""
    until = time.monotonic() + options.seconds
    with file.as_file():
        cases = _cases(file, split(budgets))
    standings: list[Standing] = []
    listed: list[dict[str, Any]] = []
    lines: list[str] = []
    notes: list[str] = []
    for one in cases:
        left = replace(options, seconds=max(0.01, until - time.monotonic()))
        case = deciding(one, left)
        found = verify_beyond(case, left, near=True)
        standings.append(found.status)
        if found.status is Standing.VIOLATED:
            watch.violated(Standing.VIOLATED.of_case)
        about = list(verdict_reports.lines(found, case))
        lines += [*about, *verdict_reports.notes(found, case)]
        notes += found.notes
        document = verdict_reports.document(found, case) | json_documents.side_condition(case.model)
        listed.append({"budget": case.budget, **document})
        watch.entry("budgets", listed[-1], f"  {about[0]}")
    worst = next(standing for standing in WORST if standing in standings)
    document = {"status": worst.value, "verdict": worst.of_case, "budgets": listed}
    return Result(lines, document, standing=worst, ending=worst, notes=tuple(dict.fromkeys(notes)))


def _cases(file: CaseFile, budgets: list[str]) -> list[PrivacyCase]:
    """Reads the case with each of the bounds; a mistake in one is said before anything is decided."""
    document = file.document or TomlDocument({})
    data = document.data
    privacy = data.get("privacy")
    if not isinstance(privacy, dict) or "mechanism" not in data:
        raise InputError("this case has no budget in [privacy]: leave --budgets out", file=str(file.path))
    name, bounded = _bounded(privacy)
    cases = []
    for text in budgets:
        changed = document.saying({**data, "privacy": bounded(text)})
        try:
            read = read_case(changed, settings=file.settings)
        except InputError as error:
            for part in error.parts:
                if part.key == f"privacy.{name}":  # the file has another one there, or none
                    part.key, part.file_line = f"--budgets {text}", 0
            raise
        cases.append(read)
    return cases


def _bounded(privacy: dict[str, Any]) -> tuple[str, Callable[[str], dict[str, Any]]]:
    """Returns the key of the bound of a case, and its `[privacy]` with another bound.

    That is an epsilon, also of a Rényi divergence; other divergences have bounds of their own.
    """
    name = next((name for name in names() if name in privacy), "epsilon")
    kept = {key: value for key, value in privacy.items() if key not in ("epsilon", "ratio")}
    renyi = privacy.get("renyi")
    if name == "renyi" and isinstance(renyi, dict):
        own = {key: value for key, value in renyi.items() if key not in ("epsilon", "ratio")}
        return "renyi.epsilon", lambda text: {**kept, "renyi": {**own, "epsilon": text}}
    return name, lambda text: {**kept, name: text}


# --- formulas -----------------------------------------------------------------------------------------


def _by_formulas(file: CaseFile, options: Options, watch: Watch) -> Result:
    """Decides a case by the formulas of Algorithm 1."""
    case = case_of(file)

    def settled(count: int) -> None:
        total = formula_verdicts.total(case)
        words = f"  {count} of {total} formulas were found unsatisfiable before the run ended."
        watch.found([words], {"unsatisfiable": count, "formulas": total})

    found = verify_by_formulas(case, options, settled)
    about = json_documents.inputs(case) | json_documents.side_condition(case.model)
    return Result(
        list(formula_verdicts.lines(found, case)),
        formula_verdicts.document(found) | about,
        seconds=found.seconds,
        standing=found.status,
        ending=found.status,
        notes=tuple(found.notes),
        reason=reason_of(found.verdict),
        witness=found.verdict.witness if isinstance(found.verdict, Violated) else None,
        found=found,
    )


# --- what is in a case --------------------------------------------------------------------------------


def explain(file: CaseFile, asked: Explain, options: Options, watch: Watch) -> Result:
    """Says what was understood of a case."""
    from paramverify.reports.case_explanations import case_understood, lines

    del asked, options, watch
    case = case_of(file)
    found = case_understood(case, with_settings(file.tables, file.settings))
    return Result(lines(found), found.document(), found=found)


def show(file: CaseFile, asked: Show, options: Options, watch: Watch) -> Result:
    """Returns the probabilities of outputs as formulas, or the model as a graph."""
    from paramverify.reports import output_formulas

    del options
    if asked.graph and (asked.length or asked.observations):
        raise InputError("--length and --observations are for formulas, not for --graph")
    case = case_of(file)
    if asked.graph:
        text = output_formulas.graph(case)
        return Result(text.splitlines(), {"graph": text}, found=case, facts=ShowFacts(text))
    word: tuple[str, ...] = ()
    if asked.observations and isinstance(case.model, Model):
        whole = case.model.whole or case.model
        alone = isinstance(case.mechanism, Worded)
        word = read_observations(asked.observations, whole.hmm.observations, alone=alone)

    def keep(row: output_formulas.FormulaRow) -> None:
        """Keeps what is known so far, in case that a limit ends the run."""
        outputs, name, function = row
        entry = {"secret": name, "observations": list(outputs), "formula": str(function)}
        watch.entry("probabilities", entry, f"{name}  {' '.join(outputs)}  {function}")

    wanted = output_formulas.RowSelection(asked.length, word or asked.observations, asked.limit)
    shown = output_formulas.formulas_of(case, keep, wanted)
    latex = shown.latex() if asked.latex else None
    if latex is None:
        lines, document = list(shown.lines()), shown.document()
    else:
        lines, document = latex.splitlines(), {"latex": latex}
    if isinstance(shown, output_formulas.ShownFunctions):
        facts = ShowFacts(latex, latex=shown.latex)
        return Result(lines, document, found=shown, facts=facts)
    more = shown.more()
    return Result(
        lines,
        document,
        notes=tuple(shown.notes),
        found=shown,
        remarks=(f"{more}: see --limit, --length and --observations",) if more else (),
        facts=ShowFacts(latex, not shown.left_out, shown.latex, lambda: output_formulas.graph(case)),
    )
