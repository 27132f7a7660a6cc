"""One line about each case, for the table of a page about several."""

from __future__ import annotations

from fractions import Fraction

from paramverify.algebra.rationals import decimal_text
from paramverify.algebra.real_roots import RealRoot
from paramverify.algebra.reals import Real
from paramverify.answers import Standing
from paramverify.pages.handing import decisions
from paramverify.pages.parts import ABOUT, TableCell, fraction, number
from paramverify.pages.work import Examined, LogicWork, PrivacyWork, SystemWork
from paramverify.reports import sentences, verdict_reports
from paramverify.reports.interactive_reports import on_condition
from paramverify.synthesis.case_budget import CaseBudget


def word(work: Examined) -> str:
    """Returns the word of the verdict: about privacy, or about the truth of a claim or of formulas."""
    if isinstance(work, PrivacyWork):
        return verdict_reports.word(work.report, work.case)
    told = work.standing.of_claim if isinstance(work, LogicWork) else work.standing.of_case
    if work.standing is not Standing.HOLDS:
        return told
    assumed = on_condition(work.case) if isinstance(work, SystemWork) else ""
    return told + sentences.on_word(decisions(work)) + assumed


def privacy_ratio(work: Examined) -> TableCell:
    """Returns the largest ratio of a case about privacy, where it is known."""
    if not isinstance(work, PrivacyWork) or not isinstance(work.budget, CaseBudget):
        return TableCell("–", "")
    found = work.budget.ratio
    if found.infinite:
        private = work.standing is Standing.HOLDS
        return TableCell("depends on the parameters" if private else "infinite", "infinite")
    value = found.value
    if isinstance(value, Real):
        return TableCell(number(value), str(value.middle()))
    if isinstance(value, RealRoot) and value.is_rational:
        return TableCell(fraction(value.lower), str(value.lower))
    if isinstance(value, RealRoot):
        middle = (value.lower + value.upper) / 2
        return TableCell(f"{ABOUT}{decimal_text(middle)}", str(middle))
    return TableCell(f"at least {decimal_text(found.low)}", str(found.low))


def size(work: Examined) -> TableCell:
    """Returns the number of claims, or of formulas."""
    if isinstance(work, LogicWork):
        count = len(work.results)
        return TableCell(f"{count} formula{'s' * (count != 1)}", str(count))
    claims = work.report.claims
    return TableCell(f"{len(claims):,}", str(len(claims)))


def decided_by(work: Examined) -> str:
    """Returns who decided how many claims."""
    return sentences.backends_used(decisions(work)) or "exact evaluation"


def seconds(work: Examined) -> Fraction:
    """Returns how long the verdict took, rounded to microseconds."""
    took = sum(d.seconds for d in decisions(work)) if isinstance(work, LogicWork) else _took(work)
    return Fraction(round(took * 10**6), 10**6)


def _took(work: PrivacyWork | SystemWork) -> float:
    return work.report.seconds
