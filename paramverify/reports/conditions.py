"""The condition of `[quantify]`, and what a verdict means for parameters that are to be chosen."""

from __future__ import annotations

from paramverify.answers import Open
from paramverify.encodings.choice import claims_of
from paramverify.errors import InputError
from paramverify.models.inequality import Inequality
from paramverify.models.model import Model
from paramverify.portfolio.elimination import eliminate
from paramverify.privacy.cases import Case


def told(case: Case, seconds: float) -> dict[str, str]:
    """Returns what is said besides a verdict, each under its name.

    Raises:
        InputError: the case has `[quantify]`, and claims from which no parameter can be eliminated.
    """
    found = _condition(case, seconds) if case.free else {}
    if case.design:
        names = ", ".join(case.design.parameters)
        found["design"] = f"the verdict is for every {names}; `synthesize` finds those that are private"
    return found


def _condition(case: Case, seconds: float) -> dict[str, str]:
    """Returns the condition on the free parameters under which the case is private for all others."""
    model = case.model
    if isinstance(model, Model) and not model.lengths:
        raise InputError("[quantify] needs a finite privacy.length")
    claims = claims_of(model)
    if isinstance(model, Inequality) and any(claim.domain is not model.domain for claim in claims):
        raise InputError("[quantify] needs claims with <=, >= or ==, without < and >")
    found = eliminate(claims, case.free, model.domain, seconds)
    if isinstance(found, Open):
        return {"condition": f"undecided, {found.end.value}: {found.detail}"}
    names = ", ".join(case.free)
    kept = "private" if isinstance(model, Model) else "true"
    points = f"{found.checked} point{'s' * (found.checked != 1)}"
    told = f"{kept} exactly for {names} with {found.text} (compared exactly at {points})"
    return {"condition": told}
