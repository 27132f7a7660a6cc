"""A second reading of cases about streams: a program or the automaton of a file beside that of the evidence.

It shares no code with the first reader. The text of an automaton (`.dipa`) is cut at the heads of states, and
each rest is matched branch by branch. What a guard says of a variable is a set: insample is less than it,
equal to it, or greater. So what is left of a guard after the ones before it is a difference of sets.

A program runs from each state of the automaton that is reached (`second_stream_programs`). Each draw, each
comparison, each stored value and each output has to be that of the automaton. Standard library only.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_definitions import endless
from .second_evidence import Evidence
from .second_numbers import Calculator, interval_of, meaning
from .second_processes import frozen
from .second_programs import values_of
from .second_stream_programs import NUMBERS, ProgramTurn, StreamProgram, TurnSegment
from .second_values import PowerSum

# --- second automata --------------------------------------------------------------------------------

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
    noise = NOISE.fullmatch(text, 0, heads[0].start()) if heads else None
    if noise is None:
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
        raise UnreadCase("a number of an unknown form")
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


# --- second streams ---------------------------------------------------------------------------------

MAX_PAIRS = 20_000

Place = tuple[Any, tuple[bool, ...], int]  # the variables before a turn, the answers, and the draws until now


def variables(start: dict[str, Any] | None) -> Any:
    """Returns variables as something that can be a key."""
    return None if start is None else tuple(sorted((name, frozen(value)) for name, value in start.items()))


class SideBySide:
    """The automaton of a document, and the program."""

    def __init__(self, program: StreamProgram, data: Any) -> None:
        self.program, self.data = program, data
        self.starts: dict[Any, dict[str, Any] | None] = {}
        self.late = False  # whether a turn draws, or puts out something, before it draws its entry

    def beginning(self, start: dict[str, Any] | None) -> tuple[Place | None, list[str]]:
        """Returns the place of the first draw from a start, and what is put out before it."""
        told: list[str] = []
        while True:  # a turn in the loop draws something, or is the last one
            turn = ProgramTurn(self.program, start, ()).go()
            self.starts[variables(start)] = start
            told += turn.segments[0].told
            reads = all(segment.reads for segment in turn.segments[1:2])
            if start is not None and (turn.segments[0].told or not reads):
                self.late = True
            if len(turn.segments) > 1:
                return (variables(start), (), 1), told
            if turn.over:
                return None, told
            start = turn.after()

    def compare(self) -> int:
        """Goes through both, and returns how many places of the program were compared.

        Raises:
            Rejected: they differ.
        """
        first, _ = self.beginning(None)
        seen: list[tuple[int, Place | None]] = [(0, first)]
        known = set(seen)
        for state, place in seen:  # which grows
            fresh = dict.fromkeys(each for each in self.at(state, place) if each not in known)
            seen += fresh
            known |= fresh.keys()
            if len(seen) > MAX_PAIRS:
                raise UnreadCase("a program with too many states")
        if self.data.get("late", False) is not self.late:
            raise Rejected("the evidence is wrong about whether a run draws before it reads an entry")
        return len(seen)

    def at(self, state: int, place: Place | None) -> list[tuple[int, Place | None]]:
        """Compares what happens at a place with the transitions of a state; returns where both go on."""
        data, names = self.data["states"][state], self.data["variables"]
        leaving = [t for t in self.data["transitions"] if t["source"] == state]
        if place is None:
            if leaving:
                raise Rejected(f"the program ends where the automaton is in {data['name']}")
            return []
        found: dict[Any, tuple[TurnSegment, list[str], Place | None]] = {}
        for turn in self.program.turns(self.starts[place[0]], place[1]):
            segment = turn.segments[place[2]]
            until = sum(len(s.guards) for s in turn.segments[: place[2] + 1])
            told = list(segment.told)
            if len(turn.segments) > place[2] + 1:
                target: Place | None = (place[0], tuple(turn.answers[:until]), place[2] + 1)
            elif turn.over:
                target = None
            else:
                target, more = self.beginning(turn.after())
                told += more
            found[tuple(sorted(segment.guards))] = (segment, told, target)
        (kind,) = {segment.kind for segment, _, _ in found.values()}
        seconds = {segment.second for segment, _, _ in found.values()} - {None}
        if len(seconds) > 1:
            raise Rejected("a place of the program has two second noises")
        second = seconds.pop() if seconds else None
        if kind is None or (data["reads"], data["rate"], data["mean"]) != (
            bool(kind.entry),
            str(kind.rates[0]),
            str(kind.number),
        ):
            raise Rejected(f"the automaton draws something else in {data['name']}")
        if data["second"] != (None if second is None else [str(second.rates[0]), str(second.number)]):
            raise Rejected(f"the automaton outputs something else in {data['name']}")
        guards = [
            {**{names[v]: True for v in t["above"]}, **{names[v]: False for v in t["below"]}} for t in leaving
        ]
        divided(guards, data["name"])
        leaves = [[found[leaf] for leaf in found if not contrary(dict(leaf), guard)] for guard in guards]
        outputs = spoken([own[0][1] for own in leaves])
        following = []
        for t, own, output in zip(leaving, leaves, outputs, strict=True):
            segment, told, target = own[0]
            for other, words, end in own[1:]:
                if (other.stored, other.second, words, end) != (segment.stored, segment.second, told, target):
                    raise Rejected(f"the automaton leaves out a comparison in {data['name']}")
            if {names[v] for v in t["stored"]} != segment.stored or t["output"] != output:
                raise Rejected(f"the automaton stores or outputs something else in {data['name']}")
            following.append((t["target"], target))
        return following


def contrary(one: dict[str, bool], other: dict[str, bool]) -> bool:
    """Tells whether two guards say the contrary of one value."""
    return any(other.get(name, above) is not above for name, above in one.items())


def divided(guards: Sequence[dict[str, bool]], name: str) -> None:
    """Checks that of all outcomes of the comparisons each fits one guard.

    No two guards fit together, and a guard of n comparisons fits a share of 2^-n of all outcomes.
    """
    apart = all(contrary(one, other) for k, one in enumerate(guards) for other in guards[:k])
    if not apart or sum(Fraction(1, 2 ** len(guard)) for guard in guards) != 1:
        raise Rejected(f"the automaton compares something else in {name}")


def spoken(told: Sequence[Sequence[str]]) -> list[str]:
    """Returns the output of each branch: one and the same where outputs do not tell which one it was."""
    plain = [["" if w in NUMBERS else w for w in words] for words in told]
    apart = all(
        any(a != b for a, b in zip(one, other, strict=False))
        for k, one in enumerate(plain)
        for other in plain[:k]
    )
    numbers = [[w for w in words if w in NUMBERS] for words in told]
    if any(len(n) > 1 for n in numbers) or (not apart and any(numbers)):
        raise Rejected("outputs are numbers that do not determine the branch")
    if not apart:
        return ["(not distinguished)"] * len(told)
    return [n[0] if n else ", ".join(words) or "(nothing)" for n, words in zip(numbers, told, strict=True)]


def claimed(data: Any, constants: dict[str, Any]) -> dict[str, Any]:
    """Returns what a case claims: its budget, and which streams are neighbours."""
    numbers = {name: value for name, value in constants.items() if not isinstance(value, PowerSum)}
    steps = {name: Fraction(1) for name in constants if name not in numbers}
    budget = Calculator(numbers, None, Fraction(1), steps).linear(str(data["privacy"]["epsilon"]))
    plus, by = budget.pop("", Fraction(0)), meaning(data["neighbours"].get("by", 1))
    multiple = sum((budget.pop(name, Fraction(0)) for name in steps), Fraction(0))
    if budget or len(steps) > 1:
        raise UnreadCase("a budget of another form")
    told: dict[str, Any] = {"multiple": str(multiple), "differ": data["neighbours"]["differ"]}
    return told | ({"plus": str(plus)} if plus else {}) | ({"by": str(by)} if by != 1 else {})


def agreed(evidence: Evidence, said: dict[str, Any]) -> str:
    """Returns what of a claim agrees with that of a document: of a budget only which streams are compared.

    Raises:
        Rejected: it does not agree.
    """
    if only_streams := "streams" in evidence.engine:
        said = {name: value for name, value in said.items() if name not in ("multiple", "plus")}
    if evidence.engine["streams" if only_streams else "claim"] != said:
        raise Rejected("the evidence is about another budget, or other neighbours")
    return "the streams" if only_streams else "the budget"


def compare_stream(document: Any, content: str, folder: Path) -> str:
    """Compares evidence about an automaton with a case file that has a program, or names an automaton.

    Raises:
        Rejected: they differ. Unread: this reader does not know something in the case.
    """
    evidence, data = Evidence(document), tomllib.loads(content, parse_float=Decimal)
    constants: dict[str, Any] = {}
    for name, value in data["parameters"].items():
        if endless(value):
            constants[name] = PowerSum.variable(name)
        else:
            low, high, _, _ = interval_of(value, Calculator({}, None, Fraction(1)))
            if low != high:
                raise UnreadCase("a parameter that is not a number")
            constants[name] = low
    said = claimed(data, constants)
    if "automaton" in data:
        about = agreed(evidence, said)
        text = (folder / data["automaton"]["file"]).read_text(encoding="utf-8-sig")
        return f"{about}, {compare(evidence.engine['automaton'], text)}"
    made = data["mechanism"]
    text = made["source"] if "source" in made else (folder / made["file"]).read_text(encoding="utf-8-sig")
    program = StreamProgram(text, constants)
    if program.values != "real":
        values = set(values_of(program.values))
        if any(isinstance(value, str) for value in values):
            raise UnreadCase("values of a stream that are not numbers")
        said["values"] = list(map(str, sorted(values)))
    about = agreed(evidence, said)
    count = SideBySide(program, evidence.engine["automaton"]).compare()
    return f"the automaton and {about} agree with the program, at {count} places"
