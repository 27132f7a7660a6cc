"""Where an operand of a prefix formula ends that is written in infix, or is a name or a number.

Storm has written factored results in both forms at once for years: `(/ (* -1 (p) * (q+-1)^2) p*q+-1)`. An
infix operand has no blank outside of brackets, except around `*`.
"""

from __future__ import annotations

import re

PLAIN = re.compile(r"[-+]?[^-+*^()<>=!&\s]+(?:(?<=[\d.][eE])[-+]\d+)?")
_PART = re.compile(r"[()]|[^\s()]+|\s+")
_TIMES = re.compile(r"\s+\*\s+(?=\S)")


def operand_end(text: str, start: int) -> int:
    """Returns where the operand at a place ends: at a blank outside of brackets, or at the bracket around it.

    A blank before or after a lone `*` belongs to the operand: `(p) * (q+1)^2` is one.
    """
    depth, at = 0, start
    while part := _PART.match(text, at):
        word = part.group()
        if word == ")" and depth == 0:
            break
        if word.isspace() and depth == 0:
            times = _TIMES.match(text, at)
            if times is None:
                break
            at = times.end()
            continue
        depth += (word == "(") - (word == ")")
        at = part.end()
    return at
