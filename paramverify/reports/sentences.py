"""Numbers, witnesses and verdicts as sentences that a data curator understands, and plain tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from math import ceil, floor
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import variables
from paramverify.algebra.volumes import VolumeShare
from paramverify.answers import Decision, Standing
from paramverify.evidence import certificates
from paramverify.models.model import AnyModel
from paramverify.printable import escaped
from paramverify.privacy.cases import PrivacyCase


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table with aligned columns, the header underlined."""
    table = [[escaped(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]


def percent(share: VolumeShare, digits: int) -> str:
    """Returns a share in percent with so many decimals, or its bounds where they differ in these: `≈ 63.2 %`.

    Neither a little becomes nothing nor almost all becomes all.
    """
    unit = 100 * 10**digits

    def shown(units: int) -> str:
        return f"{Decimal(units).scaleb(-digits):.{digits}f} %"

    if share.exact and share.lower in (0, 1):
        return f"{100 * share.lower} %"
    low, high = round(share.lower * unit), round(share.upper * unit)
    if low == high:
        if low in (0, unit):
            return f"< {shown(1)}" if low == 0 else f"> {shown(unit - 1)}"
        return shown(low) if share.exact and share.lower * unit == low else f"≈ {shown(low)}"
    low, high = floor(share.lower * unit), ceil(share.upper * unit)
    if low == 0:
        return f"at most {shown(high)}" if high < unit else "between 0 % and 100 %"
    return f"at least {shown(low)}" if high == unit else f"between {shown(low)} and {shown(high)}"


def verdict(standing: Standing, model: AnyModel) -> str:
    """Returns the word for a verdict about a model: private or not, and true or false of an inequality."""
    return model.word(standing)


def priors(domain: Domain, case: PrivacyCase) -> str:
    """Returns what a verdict is about: `for all neighbouring q in {0..4}^2 with eps in (0, oo)`.

    Of a claim these are the points of the domain, such as `for every p in (0, 1)`.
    """
    free = any(not interval.is_point for name, interval in domain.box.items() if name != GENERATOR)
    return case.model.over(domain.told(), case.compared(free))


def constraints(domain: Domain, about: Collection[str] | None = None) -> str:
    """Returns the constraints behind `with`, after a space: all, or those that mention one of these names."""
    told = dict.fromkeys(
        c.text
        for c in domain.constraints
        if about is None or not set(about).isdisjoint(variables(c.polynomial))
    )
    return f" with {', '.join(told)}" if told else ""


def others(domain: Domain, names: Sequence[str]) -> str:
    """Returns where other parameters lie, such as `a in (0, 1), b in (0, 1) with a + b < 1`.

    Those with one value are left out; the text is empty if no other is left. A constraint that mentions one
    of them is part of it.
    """
    ranging = [name for name in names if not domain.box[name].is_point]
    if not ranging:
        return ""
    return ", ".join(domain.range_of(name) for name in ranging) + constraints(domain, ranging)


def on_word(decisions: Sequence[Decision]) -> str:
    """Returns on whose word proofs rest, behind the word of a verdict; nothing if all have certificates."""
    names = dict.fromkeys(name for d in decisions for name in certificates.words(d))
    return f", on the word of {', '.join(names)} (no certificate)" if names else ""


def on_condition(model: AnyModel) -> str:
    """Returns that a verdict has a side condition, as an addition to the word of a verdict; see `but`."""
    return ", on a side condition" if model.side_condition else ""


def but(model: AnyModel) -> str:
    """Returns the side condition of a verdict about the model, as an addition to its sentence."""
    if not model.side_condition:
        return ""
    nothing = f"; {model.nothing_compared}" if model.nothing_compared else ""
    return f"; but {model.side_condition}{nothing}"


def notes(told: Sequence[str], said: str) -> list[str]:
    """Returns the notes as lines, without those that a sentence says already."""
    return [f"Note: {note}." for note in told if note not in said]


def words(decisions: Sequence[Decision]) -> dict[str, Any]:
    """Returns the same as JSON data: the programs, and the number of proofs."""
    found = [certificates.words(d) for d in decisions]
    names = dict.fromkeys(name for part in found for name in part)
    return {"on_the_word_of": list(names), "without_certificate": sum(map(bool, found))}


def session_words(names: Iterable[str]) -> tuple[list[str], dict[str, Any]]:
    """Returns the same of all that a session proved, as lines and as JSON data; nothing for certificates."""
    found = list(names)
    if not found:
        return [], {}
    line = f"On the word of {', '.join(found)}: parts of this were proved without a certificate."
    return [line], {"on_the_word_of": found}


def backends_used(decisions: Sequence[Decision]) -> str:
    """Returns who decided how many claims, such as `5 by bernstein, 1 by z3 5.4.0`."""
    counts = Counter(d.by for d in decisions)
    return ", ".join(f"{count} by {name}" for name, count in counts.most_common())
