"""What is prefix and what is infix in a formula, and where an infix operand of a prefix formula ends.

Storm has written factored results in both forms at once for years: `(/ (* -1 (p) * (q+-1)^2) p*q+-1)`. An
infix operand has no blank outside of brackets, except around `*`.
"""

from __future__ import annotations

import re

PLAIN = re.compile(r"[-+]?[^-+*^()<>=!&\s]+(?:(?<=[\d.][eE])[-+]\d+)?")
_PREFIX = re.compile(r"\s*\(\s*(?:[-+*/^=<>]|\*\*|<=|>=|!=|not|and|distinct)\s")
_BRACKET = re.compile(r"[()]")
_GOES_ON = re.compile(r"\s*[-+*/^<>=!&]")
_ADDS = re.compile(r"[()]|(?<=[\w.)])(?<![\d.][eE])[-+]")
_BLANK = re.compile(r"\s+")
_CLOSES = re.compile(r"\s*\)")
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


def opens_prefix(text: str, start: int) -> bool:
    """Tells whether a bracket, an operator and a blank come next."""
    return _PREFIX.match(text, start) is not None


def is_prefix(text: str) -> bool:
    """Tells whether a text is prefix: it opens so, and does not go on as in `(- p) * q`, which is infix."""
    depth = 0
    for bracket in _BRACKET.finditer(text) if opens_prefix(text, 0) else ():
        depth += 1 if bracket.group() == "(" else -1
        if depth == 0:
            return _GOES_ON.match(text, bracket.end()) is None
    return opens_prefix(text, 0)


def is_lone_sum(text: str, start: int) -> bool:
    """Tells whether one operand comes before the bracket closes, and is a sum without brackets around it.

    `(- p+q)` is q - p in infix, and -(p + q) in prefix.
    """
    blank = _BLANK.match(text, start)
    start = blank.end() if blank else start
    if opens_prefix(text, start):
        return False
    end, depth = operand_end(text, start), 0
    for sign in _ADDS.finditer(text, start, end) if _CLOSES.match(text, end) else ():
        if depth == 0 and sign.group() in "+-":
            return True
        depth += (sign.group() == "(") - (sign.group() == ")")
    return False
