"""The least δ or ε over sets of outputs, in words and as JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from paramverify import printable
from paramverify.algebra.decimals import at_most, decimal_text, logarithm
from paramverify.algebra.points import in_words
from paramverify.algebra.reals import Real
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import documents, text
from paramverify.reports.budgets import number, where
from paramverify.synthesis.set_curve import SetCurve
from paramverify.synthesis.set_needs import LeastBound, NeedKind

BEYOND = "a set has a probability beyond delta where the other one is 0, or as near to 0 as you like"


def lines(case: PrivacyCase, model: Model, found: LeastBound, given: str) -> list[str]:
    """Returns what was found, for the bound that was `given`."""
    priors = text.priors(model.domain, case)
    left, right = (f"'{printable.name(secret)}'" for secret in found.secrets)
    return [
        f"{_head(found)}; with {given} {priors}",
        f"  sets of outputs{_long(found)} under {left} against {right}; {_reached(model, found)}",
        *(f"  {line}" for line in _witness(found)),
    ]


def _head(found: LeastBound) -> str:
    what = found.kind.value
    told = number(found)[1]
    if found.infinite:
        return f"no epsilon is enough: {BEYOND}"
    if found.value is None and found.upper is None:
        return f"the least {what} is {told}; no upper bound was proved"
    more = f", epsilon ≈ {_epsilon(found):.9g}" if found.kind is NeedKind.RATIO else ""
    return f"least {what} {told}{more}"


def _long(found: LeastBound) -> str:
    return "" if found.length == 1 else f" of length {found.length}"


def _reached(model: Model, found: LeastBound) -> str:
    at = _where(model, found)
    at = f" {at}" if at else ""
    if found.attained is None:
        near = "approached" if found.value is not None else f"the largest {found.kind.value} found is"
        return f"{f'{near}{at}; ' if at else ''}whether it is reached is not decided"
    return f"{'reached' if found.attained else 'approached, not reached,'}{at}".rstrip(",")


def _where(model: Model, found: LeastBound) -> str:
    """Returns the place of a bound in words; a witness is there only if the bound is reached."""
    return where(model, found.place, found.witness if found.attained else None)


def _witness(found: LeastBound) -> list[str]:
    """Returns the set of outputs at a rational point."""
    witness = found.witness
    if witness is None or not witness.outputs:
        return []
    at = text.place(witness)
    left, right = (f"Pr(S | {printable.name(secret)})" for secret in (witness.left, witness.right))
    return [
        f"{f'With {at}: ' if at else ''}S = {text.outputs(witness.outputs)}",
        f"{left} {text.equals(witness.probabilities[0])}",
        f"{right} {text.equals(witness.probabilities[1])}",
        f"{left} - {text.factor(witness.bound)} times {right} {text.equals(witness.beyond)}",
    ]


def _epsilon(found: LeastBound) -> float:
    """Returns the logarithm of a ratio, rounded, or of its upper bound."""
    if isinstance(found.value, Real):
        return logarithm(found.value.middle())
    assert found.upper is not None
    return logarithm(found.upper)


def document(model: Model, found: LeastBound, given: dict[str, str]) -> dict[str, Any]:
    """Returns the same as JSON data."""
    exact, _ = number(found)
    what = found.kind.value
    known: dict[str, Any] = {what: exact}
    if exact is None:
        upper = documents.exact(found.upper) if found.upper is not None else "unknown"
        known = {f"{what}_lower": documents.exact(found.lower), f"{what}_upper": upper}
    if found.kind is NeedKind.RATIO:
        known["epsilon"] = "infinity" if found.infinite else _rounded(found)
    return {
        **{f"{name}_given": value for name, value in given.items()},
        **known,
        "attained": found.attained,
        "secrets": list(found.secrets),
        "length": found.length,
        "where": _where(model, found),
        **({"proved": documents.exact(found.proved)} if found.proved is not None else {}),
        **_set_document(found.witness),
    }


def _rounded(found: LeastBound) -> float | str:
    return _epsilon(found) if found.value is not None or found.upper is not None else "unknown"


def _set_document(witness: ExactSetWitness | None) -> dict[str, Any]:
    told = documents.witness(witness) if witness else {}
    told = {name: value for name, value in told.items() if name not in ("delta", "exceeds")}
    return {"witness": told} if told else {}


def curve_lines(
    case: PrivacyCase, model: Model, found: SetCurve, at: Mapping[str, Fraction] | None
) -> list[str]:
    """Returns the points of a curve in words."""
    where = f"at {in_words(at)}" if at else text.priors(model.domain, case)
    between = "linear in the ratio e^epsilon between these corners"
    if not found.linear:
        gap = at_most(found.gap, 3)
        between = f"convex in the ratio; lines between these points are at most {gap} too high"
    lines = [f"least delta {where}, {between}:"]
    for point in found.points:
        told = _short(point.delta) if point.exact else f"at most {at_most(point.delta, 9)}"
        epsilon = f"≈ {point.epsilon:.6g}" if point.ratio != 1 else "= 0"
        bound = f"ratio {_short(point.ratio)}, epsilon {epsilon}"
        lines.append(f"  {bound}: delta {told}")
    if not found.ends:
        lines.append(f"  for larger ratios: delta at most {at_most(found.points[-1].delta, 9)}")
    if found.errors:
        what = "trade-off function" if found.linear else "upper bound of the trade-off function"
        lines.append(f"{what}, linear between these corners (alpha, least beta):")
        lines += [f"  ({_short(alpha)}, {_short(beta)})" for alpha, beta in found.errors]
    return lines


def _short(value: Fraction) -> str:
    """Returns a rational, and a decimal where it is long."""
    told = documents.exact(value)
    return told if len(told) <= text.LONGEST else f"≈ {decimal_text(value)}"


def curve_document(found: SetCurve) -> dict[str, Any]:
    """Returns the points of a curve as JSON data."""
    points = [
        {
            "ratio": documents.exact(point.ratio),
            "epsilon": point.epsilon,
            "delta": documents.exact(point.delta),
            "exact": point.exact,
        }
        for point in found.points
    ]
    errors = [{"alpha": documents.exact(a), "beta": documents.exact(b)} for a, b in found.errors]
    lines = [{"left": documents.exact(p), "right": documents.exact(q)} for p, q in found.lines]
    return {
        "curve": points,
        "linear": found.linear,
        "gap": documents.exact(found.gap),
        "ends": found.ends,
        "lower_lines": lines,
        "trade_off": errors,
    }
