"""Decimals in texts that look rounded and do not say so."""

from __future__ import annotations

import re
from fractions import Fraction

LONG = 6  # significant digits of a decimal that is probably rounded
DECIMAL = re.compile(r"(?<![\w.⊥⊤/^*])-?\d*\.\d+(?:e[+-]?\d+)?(?![\w.])")
# What is before a decimal that need not be exact: the sign, or a bound on its own side.
BEFORE = ("≈ ", "at least ", "at most ", "between ", " and ", "delta <= ", "< ", "> ")


def suspects(text: str) -> list[str]:
    """Returns the decimals that look rounded and have no `≈` and no bound before them."""
    found = []
    for line in text.splitlines():
        timeless = re.sub(r"\d*\.?\d+(?:e-?\d+)? (?:s\b|MiB)", "", line)  # measured
        for match in DECIMAL.finditer(timeless):
            before = timeless[: match.start()]
            exact = re.search(r"(-?\d+/\d+) (?:\(|= )$", before)
            if exact:
                if Fraction(exact[1]) != Fraction(match[0]):
                    found.append(line)
                continue
            digits = match[0].lstrip("-0.").replace(".", "")
            if len(digits.split("e")[0]) >= LONG and not before.endswith(BEFORE):
                found.append(line)
    return found
