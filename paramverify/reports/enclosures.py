"""Numbers that are enclosed, in words and as JSON data; witnesses that rest on them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from paramverify import printable
from paramverify.algebra.decimals import at_least, at_most, decimal_text
from paramverify.evidence.enclosed import EnclosureWitness, Ends

DIGITS = 9  # of a number that is told
MOST_OUTPUTS = 12  # of a set that is told


def told(value: Ends) -> str:
    """Returns a number between two others, behind its relation sign: `≈ 0.672639577`, or `= 1/2`."""
    return f"= {value[0]}" if value[0] == value[1] else around(value)


def around(value: Ends) -> str:
    """Returns a number between two others; a wide range is told by its ends."""
    low, high = value
    if low == high:
        return str(low)
    middle = decimal_text((low + high) / 2, DIGITS)
    if high - low <= abs(low) / 10**DIGITS:
        return f"≈ {middle}"
    return f"between {at_least(low, DIGITS)} and {at_most(high, DIGITS)}"


def certified(value: Ends) -> str:
    """Returns the same with its certified ends."""
    low, high = value
    if low == high:
        return told(value)
    least, most = (word(end, 15) for word, end in ((at_least, low), (at_most, high)))
    middle = around(value)
    return middle if middle.startswith("between") else f"{middle}, certified between {least} and {most}"


def document(value: Ends) -> str | dict[str, str]:
    """Returns a number between two others as JSON data."""
    low, high = value
    return str(low) if low == high else {"lower": at_least(low, 30), "upper": at_most(high, 30)}


def outputs(names: Sequence[str]) -> str:
    """Returns a set of outputs in words: the first of them, where there are many."""
    more = len(names) - MOST_OUTPUTS
    shown = (f"({n})" if ", " in n else n for n in map(printable.name, names[:MOST_OUTPUTS]))
    listed = ", ".join(shown)
    return f"{{{listed}{f', ... and {more} more' if more > 0 else ''}}}"


def witness_lines(witness: EnclosureWitness) -> list[str]:
    """Returns the sentences that tell a witness: secrets, outputs, probabilities and bounds."""
    left, right = (printable.name(secret) for secret in (witness.left, witness.right))
    far = f" for the distance {witness.distance}" if witness.distance is not None else ""
    if witness.delta is None:
        name = printable.name(witness.outputs[0])
        return [
            f"output {name} is {_times(witness)} under '{right}'; "
            f"that is beyond the bound {around(witness.bound)}{far}.",
            f"Pr({name} | {left}) {certified(witness.probabilities[0])}",
            f"Pr({name} | {right}) {certified(witness.probabilities[1])}",
        ]
    size = len(witness.outputs)
    many = f"the set S of {size} output{'s' * (size != 1)}"
    return [
        f"{many} is too likely under '{left}', compared with '{right}'.",
        f"S = {outputs(witness.outputs)}",
        f"Pr(S | {left}) {certified(witness.probabilities[0])}",
        f"Pr(S | {right}) {certified(witness.probabilities[1])}",
        f"Pr(S | {left}) - {around(witness.bound)} times Pr(S | {right}) {told(witness.beyond)}, "
        f"which is more than delta {told(witness.delta)}",
    ]


def _times(witness: EnclosureWitness) -> str:
    """Returns how much more likely an output is on the left, up to the name of the other side."""
    left = printable.name(witness.left)
    low, high = witness.ratio
    if low is None:
        return f"possible under '{left}' and impossible"
    many = f"at least {at_least(low, DIGITS)}" if high is None else around((low, high))
    return f"{many} times as likely under '{left}' as"


def _ratio_document(low: Fraction | None, high: Fraction | None) -> str | dict[str, str]:
    if low is None:
        return "infinity"
    if high is None:
        return {"lower": at_least(low, 30), "upper": "unknown"}
    return document((low, high))


def witness_document(witness: EnclosureWitness) -> dict[str, Any]:
    """Returns a witness as JSON data; each number that is not known has `lower` and `upper`."""
    found: dict[str, Any] = {
        "parameters": {},
        "secrets": [witness.left, witness.right],
        "probabilities": [document(p) for p in witness.probabilities],
        "bound": document(witness.bound),
        "exceeds": witness.exceeds,
        "bits": witness.bits,
    }
    if witness.distance is not None:
        found["distance"] = str(witness.distance)
    if witness.delta is None:
        return found | {"observations": list(witness.outputs), "ratio": _ratio_document(*witness.ratio)}
    return found | {
        "outputs": [[name] for name in witness.outputs],
        "length": 1,
        "delta": document(witness.delta),
        "beyond": document(witness.beyond),
    }
