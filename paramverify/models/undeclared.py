"""What to do about a name that is not known where it stands: the tables of the case say what it may be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from paramverify.algebra.expressions import NAME
from paramverify.errors import ExpressionError, FinerError, InputError

_PARAMETRIC = ("mechanism", "prior", "privacy", "claim", "define", "system", "states")  # tables


@contextmanager
def explained(data: Mapping[str, Any]) -> Iterator[None]:
    """Tells more of unknown names in the mistakes that pass: a variable, a parameter, or not declared."""
    try:
        yield
    except FinerError:
        raise
    except InputError as error:
        prior, parameters = _names(data, "prior"), _names(data, "parameters")
        for part in error.parts:
            if isinstance(part, ExpressionError) and part.unknown:
                _explain(part, prior, parameters)
        raise


def _names(data: Mapping[str, Any], table: str) -> Collection[str]:
    found = data.get(table)
    return found.keys() - {"constraints"} if isinstance(found, dict) else set()


def _explain(error: ExpressionError, prior: Collection[str], parameters: Collection[str]) -> None:
    name, known = error.unknown, error.known
    place = error.key.partition(".")[0]
    of_variables = place == "secrets" or bool(known and known <= set(prior)) or "quer" in error.key
    shown = ", ".join(sorted(known))
    if of_variables and name in parameters:
        mend = f"known here: {shown}" if shown else ""
        error.retell(f"{name} is a parameter, and a variable of [prior] is needed here", mend)
    elif of_variables or error.mend.startswith("did you mean"):
        return
    elif name in prior:
        reason = f"{name} is a variable of [prior], and only parameters may stand here"
        error.retell(reason, "the mechanism is the same for all its values" if place == "mechanism" else "")
    elif place in _PARAMETRIC and NAME.match(name):
        error.retell(f"unknown name {name!r}", f'write {name} = "(0, 1)" below [parameters]; {error.mend}')
