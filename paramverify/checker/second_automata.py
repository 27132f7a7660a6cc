"""A second reading of automata over streams (`.dipa`), and its comparison with the automaton of evidence.

It shares no code with the first reader. The text is cut at the heads of states, and each rest is matched
branch by branch. What a guard says of a variable is a set: insample is less than it, equal to it, or greater.
So what is left of a guard after the ones before it is a difference of sets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .strict import Rejected, UnreadCase, counted

NAME = r"[A-Za-z_][A-Za-z_0-9]*"
HEAD = re.compile(rf"\(\s*({NAME})\s*(:\s*non-input\s*)?,([^()]*)\)\s*:")
BRANCH = re.compile(
    r"\s*(?:(if|elseif)\s*\(([^()]*)\)\s*then\b)?"
    rf"((?:\s*{NAME}\s*:=\s*insample\s*[,;])*)"
    rf"\s*output\s+(insample'|{NAME})\s*;\s*goto\s+({NAME})\s*;?\s*"
)
COMPARISON = re.compile(rf"\s*insample\s*(<=|>=|<|>)\s*({NAME})\s*")
MENTION = re.compile(rf"insample\s*[<>]=?\s*({NAME})|({NAME})\s*:=")
NOISE = re.compile(r"\s*(?:noise\s+(laplace|geometric)\b)?\s*")
NUMBER = re.compile(r"(-?)\s*([0-9]+(?:\.[0-9]+)?)\s*(?:/\s*([0-9]+(?:\.[0-9]+)?))?")
LESS, EQUAL, GREATER = "less", "equal", "greater"
MEANT = {"<": {LESS}, "<=": {LESS, EQUAL}, ">=": {EQUAL, GREATER}, ">": {GREATER}}

Guard = dict[str, frozenset[str]]  # of a variable: how insample may lie beside it


def compare(automaton: Any, content: str) -> str:
    """Returns what was compared, if the text says the automaton that evidence is about.

    Raises:
        Rejected: it says another one.
        Unread: this reader does not know a part of the text.
    """
    found = read(content)
    for name in ("noise", "late", "variables", "states"):
        if found.get(name) != automaton.get(name):
            raise Rejected(f"the {name} of the automaton")
    steps = automaton["transitions"]
    if len(found["transitions"]) != len(steps):
        raise Rejected("the number of transitions")
    for number, (mine, other) in enumerate(zip(found["transitions"], steps, strict=True)):
        for name in mine:
            if mine[name] != (_never(other, automaton) if name == "never" else other.get(name)):
                raise Rejected(f"{name!r} of transition {number}")
    return f"{counted(len(found['states']), 'state')} and {counted(len(steps), 'transition')}"


def _never(step: Mapping[str, Any], automaton: Mapping[str, Any]) -> bool:
    apart = step.get("strict", []) if "noise" in automaton else step["above"]
    return bool(set(step["above"]) & set(step["below"]) & set(apart))


def read(content: str) -> dict[str, Any]:
    """Returns the automaton of a text; of a transition that is never taken no guard, but `never`."""
    text = re.sub(r"#[^\n]*", " ", content.removeprefix("\ufeff"))
    heads = list(HEAD.finditer(text))
    noise = NOISE.fullmatch(text, 0, heads[0].start() if heads else 0)
    if not heads or noise is None:
        raise UnreadCase("the text does not begin with a state")
    ties = noise[1] == "geometric"
    variables: dict[str, int] = {}
    for mention in MENTION.finditer(text):
        variables.setdefault(mention[1] or mention[2], len(variables))
    names = [head[1] for head in heads]
    if len(set(names)) < len(names):
        raise Rejected("a state is there twice")
    order = sorted(names, key=lambda name: name != "q1")  # the others stay as they are
    states = {head[1]: _state(head) for head in heads}
    raw: list[tuple[str, re.Match[str]]] = []
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        raw += [
            (head[1], branch) for branch in _branches(text, head.end(), after.start() if after else len(text))
        ]
    for _, branch in raw:
        if branch[5] not in states:
            states[branch[5]] = {"name": branch[5], "reads": False, "rate": "1", "mean": "0", "second": None}
            order.append(branch[5])
    numbers = {name: number for number, name in enumerate(order)}
    before: dict[str, list[Guard]] = {name: [] for name in names}
    transitions = []
    for source, branch in raw:
        guard = _left(_guard(branch[2] or "", ties), before[source], ties)
        before[source].append(guard)
        stored = {variables[word] for word in re.findall(rf"({NAME})\s*:=", branch[3])}
        told = {
            "source": numbers[source],
            "target": numbers[branch[5]],
            "output": "insample'" if branch[4] == "insampleprime" else branch[4],
            "stored": sorted(stored),
        }
        transitions.append(told | _sides(guard, variables, ties))
    found: dict[str, Any] = {"noise": "geometric"} if ties else {}
    return found | {
        "states": [states[name] for name in order],
        "variables": list(variables),
        "transitions": transitions,
    }


def _state(head: re.Match[str]) -> dict[str, Any]:
    numbers = [str(_number(text)) for text in head[3].split(",")]
    if len(numbers) not in (2, 4):
        raise UnreadCase("a state has not two or four numbers")
    return {
        "name": head[1],
        "reads": head[2] is None,
        "rate": numbers[0],
        "mean": numbers[1],
        "second": numbers[2:] or None,
    }


def _number(text: str) -> Fraction:
    match = NUMBER.fullmatch(text.strip())
    if not match or (match[3] and not Fraction(match[3])):
        raise UnreadCase("a number that is none")
    value = Fraction(match[2]) / Fraction(match[3] or 1)
    return -value if match[1] else value


def _branches(text: str, start: int, end: int) -> list[re.Match[str]]:
    """Returns the branches of a state: `if` first and then `elseif`, or one without a guard."""
    found: list[re.Match[str]] = []
    while start < end:
        match = BRANCH.match(text, start, end)
        if match is None or (match[1] == "elseif") != bool(found):
            raise UnreadCase("a branch of another form")
        found.append(match)
        start = match.end()
    if not found:
        raise UnreadCase("a state without a branch")
    return found


def _guard(text: str, ties: bool) -> Guard:
    found: Guard = {}
    for part in text.split("&&") if text.strip() else ():
        match = COMPARISON.fullmatch(part)
        if match is None:
            raise UnreadCase("a comparison of another form")
        meant = frozenset(MEANT[match[1]]) - (frozenset() if ties else {EQUAL})
        found[match[2]] = found.get(match[2], meant) & meant
    return found


def _left(guard: Guard, before: list[Guard], ties: bool) -> Guard:
    """Returns a guard without what guards before it take, as far as that is about one variable."""
    every = frozenset({LESS, EQUAL, GREATER} if ties else {LESS, GREATER})
    for other in before:
        mine = {name: guard.get(name, every) for name in other}
        if not all(guard.values()) or any(not mine[name] & other[name] for name in other):
            continue
        more = {name: mine[name] - other[name] for name in other if not mine[name] <= other[name]}
        if not more:
            return {**guard, **dict.fromkeys(other, frozenset())}
        (name, rest), *others = more.items()
        if not others and rest != {LESS, GREATER}:  # which is no comparison
            guard = {**guard, name: rest}
    return guard


def _sides(guard: Guard, variables: Mapping[str, int], ties: bool) -> dict[str, Any]:
    if not all(guard.values()):
        return {"never": True}
    sides = {
        "above": sorted(variables[v] for v, meant in guard.items() if LESS not in meant),
        "below": sorted(variables[v] for v, meant in guard.items() if GREATER not in meant),
    }
    strict = (
        {"strict": sorted(variables[v] for v, meant in guard.items() if EQUAL not in meant)} if ties else {}
    )
    return {"never": False, **sides, **strict}
