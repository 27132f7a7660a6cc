"""Checks the induction about slots for every t, maxPts, data and set K of functions with ε.

Two runs differ in one slot by a form: signs of data points that the second run has more (1) or less (-1). The
obligations are those of an unwinding family whose relation rel[j] has these forms in the slot that was the
current one t − j queries ago:

- Slots are emptied when they become the current one again; so after t queries the states are equal.
- A data point is stored by the free places of its own slot, so other slots are not touched. Where slots share
  their places, this holds if both runs store every point.
- The form of one point more is there: what an insertion leads to, unless it leads to equal states.
- Let the second run have `excess` points more in the slot. A data point is stored by each run that has a
  place. So the form changes only where the fuller slot has no place and the other one has: then the other run
  alone stores the point. The form that results is there, or no data point ever comes to a full slot, by
  assumption.
- No form has more signs than `steps`: so many times ε is what a query costs at most.

So every t has t·steps·ε.
"""

from __future__ import annotations

from .ledger import Evidence, KernelReport, Statement
from .strict_reading import Rejected


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks the induction.

    Raises:
        Rejected: it shows nothing.
    """
    program, steps = statement["program"], statement["steps"]
    if not program["deletes"]:
        raise Rejected("slots keep their points: the states are never equal again")
    if program["shared"] and program["drops"]:
        raise Rejected("slots share their places: a data point of one decides about another")
    forms = {tuple(sorted(form)) for form in statement["forms"]}
    if (1,) not in forms:
        raise Rejected("an insertion leads to no form")
    for form in forms:
        if any(sign not in (1, -1) for sign in form):
            raise Rejected("a form has something else than signs")
        if len(form) > steps:
            raise Rejected("a query costs more than the steps say")
        excess = form.count(1) - form.count(-1)
        if not program["drops"] or not excess:
            continue  # both runs store the point, or it never comes; or else both have a place, or none has
        stored = -1 if excess > 0 else 1  # where the fuller slot has no place, only the other run stores it
        if tuple(sorted((*form, stored))) not in forms:
            raise Rejected("a data point leads to another form")
    assumed = "" if program["drops"] else "no data point comes to a full slot"
    line = f"slots: {len(forms)} forms, {steps}*t*epsilon for every t, maxPts, data and K: proved"
    return KernelReport(True, (line,), status="holds", side_condition=assumed)
