"""`certify` of a case whose measure compares all outputs together."""

from __future__ import annotations

from fractions import Fraction

from paramverify.claims import AllOutputs
from paramverify.cli._common import print_json, say
from paramverify.cli._exits import Exit
from paramverify.models.model import Model
from paramverify.privacy.loss_verification import far_apart, is_within


def certify_together(
    model: Model, point: dict[str, Fraction], left: str, right: str, as_json: bool = False
) -> int:
    """Evaluates a divergence in both directions, of each length; exit code 3 where balls cannot tell."""
    directions = [(a, b, n) for a, b in ((left, right), (right, left)) for n in model.lengths]
    both = [far_apart(model, AllOutputs(a, b, length=n), point) for a, b, n in directions]
    both.sort(key=lambda witness: witness.nearness, reverse=True)
    both.sort(key=lambda witness: not witness.exceeds)
    found = both[0]
    doubtful = not found.exceeds and not all(is_within(model, witness, point) for witness in both)
    word = "violation" if found.exceeds else "undecided" if doubtful else "no violation"
    if as_json:
        told = [witness.answer() for witness in both]
        print_json({"status": word, "witness": told[0], "directions": told})
    else:
        say(word.replace("no violation", "not a violation"))
        for line in found.lines():
            say(f"  {line}")
    return Exit.VIOLATED if found.exceeds else Exit.UNKNOWN if doubtful else Exit.HOLDS
