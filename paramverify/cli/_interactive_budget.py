"""`paramverify budget CASE` where the case is an interactive system."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from paramverify.cli import _output
from paramverify.cli._common import print_json, say, time_limit, write_json
from paramverify.cli._exits import Exit
from paramverify.cli._settings import settings
from paramverify.interactive.budgets import InteractiveBudget, tight_budget
from paramverify.interactive.cases import InteractiveCase, load
from paramverify.interactive.certificates import budget_document
from paramverify.models.systems.weights import is_number, text
from paramverify.portfolio.session import Options
from paramverify.reports import interactive_budgets
from paramverify.reports.systems import shown

SHARE = 0.8  # of the time that is left; building what is told takes some too


def interactive_budget(
    path: str, options: Options, width: Fraction, as_json: bool, evidence: Path | None
) -> int:
    """Finds and tells the budget of an interactive system; the exit codes are those of `budget`."""
    end = time.monotonic() + options.seconds
    limit = options.limit or options.seconds  # that of the user, and not what is left of it
    with time_limit(limit, options.seconds) as lift:
        case = load(path, _explored, bounded=False, settings=settings())
        share = replace(options, seconds=SHARE * max(end - time.monotonic(), 0.0), limit=limit)
        found = tight_budget(case, share, lambda best: _so_far(case, best))
        if evidence:
            lift()
            write_json(evidence, budget_document(case, found, options))
    if as_json:
        print_json(interactive_budgets.document(case, found))
    else:
        for line in interactive_budgets.all_lines(case, found):
            say(line)
    return Exit.HOLDS if found.boundless or found.exact or _near(found, width) else Exit.UNKNOWN


def _explored(done: int, total: int) -> None:
    document = {"stage": "states", "done": done, "total": total}
    _output.found([f"  {done:,} states were explored, and {total:,} were known."], document)


def _so_far(case: InteractiveCase, best: InteractiveBudget) -> None:
    """Keeps the bounds, in case that a limit ends the run."""
    bounds = {"ratio_lower": "unknown", "ratio_upper": "unknown"}
    bounds |= {"ratio_lower": shown(case, best.lower)} if best.lower is not None else {}
    bounds |= {"ratio_upper": shown(case, best.upper)} if best.upper is not None else {}
    words = f"  the largest ratio is at least {bounds['ratio_lower']}"
    most = f", and at most {bounds['ratio_upper']}" if best.upper is not None else ""
    _output.found([f"{words}{most}."], bounds)


def _near(found: InteractiveBudget, width: Fraction) -> bool:
    """Tells whether the bounds are numbers within the precision."""
    bounds = [found.lower, found.upper]
    if not all(b is not None and is_number(b) for b in bounds):
        return False
    low, high = (Fraction(text(b)) for b in bounds)
    return high - low <= width * low
