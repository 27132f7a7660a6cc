"""Interactive systems, read a second time: their states and steps, compared at random points.

The system of the evidence has the states that runs come to, with names. Here the case file is read by code of
its own: systems that are written out, with subroutines in the places of steps; slots, whose states follow
from what is stored; and several of both side by side. What is compared:

- the data points, queries, responses and hidden actions, the first state, and the assumption about inputs;
- each state of the evidence has the actions of the case, which lead to states with the names and the
  probabilities of the case; so no run of the case comes to a state that the evidence does not have;
- the bound of the case, except in a budget, which has one of its own.

The kernel checks proofs and witnesses with the system of the evidence alone, so they are about the case, too.
That a subroutine ends as the step does which it replaces is not looked at: the verdict is about the system
that has it. Standard library only, and no code of the first reader.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_comparison import At, PointwiseComparison
from .second_evidence import Evidence, quotient_at, quotient_degree
from .second_numbers import Calculator

Rows = Mapping[str, Mapping[str, Fraction]]  # for each action the next states, each with its probability
KINDS = ("data", "queries", "responses", "hidden")


# --- systems at a point -----------------------------------------------------------------------------


class PointSystem:
    """A system at a point: its actions by their kind, whether inputs are assumed not to come, its start."""

    actions: dict[str, list[str]]
    partial: bool
    initial: str

    def rows(self, state: str) -> Rows:
        """Returns the steps of a state."""
        raise NotImplementedError


class WrittenSystem(PointSystem):
    """A system that is written out, at a point."""

    def __init__(self, data: Mapping[str, Any], at: Calculator) -> None:
        given = data["system"]
        self.actions = {kind: list(given.get(kind, ())) for kind in KINDS}
        self.initial = given["initial"]
        self.partial = given.get("environment", "any") == "accepted"
        self.at = at
        self.known: dict[str, Rows] = {
            state: {action: self._step(step) for action, step in rows.items()}
            for state, rows in given["steps"].items()
        }
        for part in data.get("subroutines", ()):
            self._replace(part)

    def _step(self, given: Any) -> dict[str, Fraction]:
        listed = {given: 1} if isinstance(given, str) else given
        return {state: self.at.number(text) for state, text in listed.items()}

    def _replace(self, part: Mapping[str, Any]) -> None:
        """Puts an automaton in the place of the hidden step of a state."""
        state, steps = part["state"], part["steps"]
        names: dict[str, str] = {}
        for inner in steps:
            names[inner] = f"{state}: {inner}"
            while names[inner] in self.known or list(names.values()).count(names[inner]) > 1:
                names[inner] += "'"
        ends = part.get("ends", {})
        (action,) = self.known[state]
        self.known[state] = {action: {names[part["start"]]: Fraction(1)}}
        for inner, row in steps.items():
            found: dict[str, Fraction] = {}
            for after, text in row.items():
                name = names[after] if after in names else ends.get(after, after)
                found[name] = found.get(name, Fraction(0)) + self.at.number(text)
            self.known[names[inner]] = {action: found}

    def rows(self, state: str) -> Rows:
        """Returns the steps of a state."""
        return self.known[state]


class SlotSystem(PointSystem):
    """Slots of data points, at a point; a state is known by its name alone."""

    def __init__(self, data: Mapping[str, Any], at: Calculator) -> None:
        self.given = data["system"]
        self.at = at
        listed = self.given["data"]
        self.data = _between(listed) if isinstance(listed, str) else list(listed)
        queries = self.given["queries"]
        if isinstance(queries, list):
            limit = int(self.given["range"])
            ends = {"range": f"-{limit}..{limit}", "noise": self.given["noise"]}
            queries = dict.fromkeys(queries, ends)
        self.queries: dict[str, Any] = queries
        self.ranges = {name: _between(entry["range"]) for name, entry in queries.items()}
        released = sorted({answer for answers in self.ranges.values() for answer in answers})
        self.actions = {
            "data": [f"point {d}" for d in self.data],
            "queries": list(queries),
            "responses": list(map(str, released)),
            "hidden": ["answer", "flip"],
        }
        self.drops = self.given.get("full", "drop") == "drop"
        self.partial = not self.drops
        self.count = int(self.given["slots"])
        self.initial = self._shown([[]] * self.count)
        self.coins: dict[tuple[str, int], Mapping[str, Mapping[str | int, Fraction]]] = {}

    @staticmethod
    def _shown(slots: Sequence[Sequence[int]]) -> str:
        return "|".join(",".join(map(str, slot)) or "-" for slot in slots) or "no slots"

    def rows(self, state: str) -> Rows:
        """Returns the steps of a state, whose name says what is stored and what comes next."""
        if not self.count:
            shown, rest, slots = state[:8], state[9:], list[list[int]]()
        else:
            shown, _, rest = state.partition(" ")
            slots = [[] if text == "-" else [int(d) for d in text.split(",")] for text in shown.split("|")]
        one = Fraction(1)
        if not rest:
            found: dict[str, dict[str, Fraction]] = {}
            for point in self.data:
                full = not slots or (
                    sum(map(len, slots)) if self.given.get("memory") == "shared" else len(slots[0])
                ) >= int(self.given["points"])
                if not full:
                    found[f"point {point}"] = {self._shown([sorted([*slots[0], point]), *slots[1:]]): one}
                elif self.drops:
                    found[f"point {point}"] = {state: one}
            return found | {query: {f"{shown} {query}?": one} for query in self.queries}
        if rest.startswith("answers "):
            return {rest.removeprefix("answers "): {shown: one}}
        if rest.endswith("?"):
            return self._answered(rest[:-1], slots)
        query, answer, coin = rest.split(" ", 2)
        flips = self._flips(query, int(answer[:-1]))[coin]
        named = {
            f"{shown} answers {int(answer[:-1]) + n}"
            if isinstance(n, int)
            else f"{shown} {query} {answer} {n}": w
            for n, w in flips.items()
        }
        return {"flip": named}

    def _answered(self, query: str, slots: list[list[int]]) -> Rows:
        true = sum(map(len, slots)) if query == "count" else sum(map(sum, slots))
        answers = self.ranges[query]
        true = max(answers[0], min(answers[-1], true))
        if slots:
            slots = [slots[-1] if self.given.get("delete") is False else [], *slots[:-1]]
        rest, noise = self._shown(slots), self.queries[query]["noise"]
        if "sampled" in noise:
            return {"answer": {f"{rest} {query} {true}: line 02": Fraction(1)}}
        if "table" in noise:
            row = [self.at.number(p) for p in noise["table"][true - answers[0]]]
        else:
            a = self.at.number(noise["truncated_geometric"])
            ends = (answers[0], answers[-1])
            row = [a ** abs(o - true) * (1 if o in ends else 1 - a) / (1 + a) for o in answers]
        return {"answer": {f"{rest} answers {o}": p for o, p in zip(answers, row, strict=True)}}

    def _flips(self, query: str, answer: int) -> Mapping[str, Mapping[str | int, Fraction]]:
        """Returns what the coins of the published program lead to: noise, or the next coin."""
        if (query, answer) in self.coins:
            return self.coins[query, answer]
        noise, answers = self.queries[query]["noise"], self.ranges[query]
        p, printed = self.at.number(noise["sampled"]), noise.get("line_06") == "printed"
        down, up = answer - answers[0], answers[-1] - answer
        heads = p / (1 + p)
        found: dict[str, Mapping[str | int, Fraction]] = {"line 02": {"line 03": heads, "line 13": 1 - heads}}
        for line, loop, size, first, step in ((3, 8, down - 1, -1, -1), (13, 18, up, 0, 1)):
            far = step * (size + 1) if line == 3 else size  # −down, or up
            last = -down + 1 if line == 3 else up - 1
            names = [f"line {loop:02}, n = {n}" for n in range(first, last, step)]
            after: str | int = names[0] if names else last
            chance = p**size if size > 0 else Fraction(1)
            coin: dict[str | int, Fraction] = {far if line == 13 else -down: chance}
            if chance != 1:
                coin[after] = 1 - chance
            found[f"line {line:02}"] = coin
            if names:
                q = (1 - p) / (1 - p**size) / (p if printed and line == 3 else 1)
                for n, name in zip(range(first, last, step), names, strict=True):
                    follows: str | int = f"line {loop:02}, n = {n + step}" if n + step != last else last
                    found[name] = {n: q, follows: 1 - q}
                    q = p * q / (1 - q)
        self.coins[query, answer] = found
        return found


class SideBySide(PointSystem):
    """Several systems that get the same data points, at a point; what runs come to is explored."""

    def __init__(self, data: Mapping[str, Any], at: Calculator) -> None:
        self.parts = {
            name: system_of({"system": given}, at) for name, given in data["system"]["parts"].items()
        }
        self.data = list(dict.fromkeys(d for part in self.parts.values() for d in part.actions["data"]))
        self.actions = {"data": self.data} | {
            kind: [f"{name}: {action}" for name, part in self.parts.items() for action in part.actions[kind]]
            for kind in KINDS[1:]
        }
        self.partial = any(part.partial for part in self.parts.values())
        first = tuple(part.initial for part in self.parts.values())
        self.initial = self._shown(first)
        self.known: dict[str, Rows] = {}
        places = {self.initial: first}
        waiting = [first]
        while waiting:
            state = waiting.pop()
            rows: dict[str, dict[str, Fraction]] = {}
            for action, step in self._steps(state).items():
                rows[action] = {self._shown(after): p for after, p in step.items()}
                for after in step:
                    name = self._shown(after)
                    if name not in places:
                        places[name] = after
                        waiting.append(after)
                    elif places[name] != after:
                        raise Rejected(f"two states of the case have the name {name!r:.60}")
            self.known[self._shown(state)] = rows

    @staticmethod
    def _shown(state: Sequence[str]) -> str:
        return " & ".join(state)

    def _steps(self, state: tuple[str, ...]) -> dict[str, dict[tuple[str, ...], Fraction]]:
        """Returns the steps of a state: the output of the first part that has one, or all inputs."""
        parts = list(enumerate(self.parts.items()))
        rows = [part.rows(place) for part, place in zip(self.parts.values(), state, strict=True)]
        outputs = [
            (f"{name}: {action}", {k: action})
            for k, (name, part) in parts
            for action in rows[k]
            if action in (*part.actions["responses"], *part.actions["hidden"])
        ]
        inputs = [(d, {k: d for k, (_, part) in parts if d in part.actions["data"]}) for d in self.data]
        inputs += [(f"{name}: {q}", {k: q}) for k, (name, part) in parts for q in part.actions["queries"]]
        found: dict[str, dict[tuple[str, ...], Fraction]] = {}
        for action, moves in outputs[:1] or inputs:
            if all(own in rows[k] for k, own in moves.items()):
                step = {state: Fraction(1)}
                for k, own in moves.items():
                    after = rows[k][own].items()
                    step = {(*s[:k], t, *s[k + 1 :]): p * q for s, p in step.items() for t, q in after}
                found[action] = step
        if any(rows) and not found:
            raise Rejected(f"no input is accepted in the state {self._shown(state)!r:.60} of the case")
        return found

    def rows(self, state: str) -> Rows:
        """Returns the steps of a state."""
        if state not in self.known:
            raise Rejected(f"the case has no state {state!r:.60}")
        return self.known[state]


def system_of(data: Mapping[str, Any], at: Calculator) -> PointSystem:
    """Returns the system of a case at a point."""
    match data["system"].get("kind"):
        case "slots":
            return SlotSystem(data, at)
        case "parts":
            return SideBySide(data, at)
    return WrittenSystem(data, at)


def _between(text: str) -> list[int]:
    low, high = map(int, text.split(".."))
    return list(range(low, high + 1))


# --- comparison -------------------------------------------------------------------------------------


class SystemComparison(PointwiseComparison):
    """Evidence about an interactive system, beside its case file."""

    claimed = True
    near = False

    def compare(self) -> str:
        if "system" not in self.reader.data:
            raise UnreadCase("a case without a system")
        self.check_parameters()
        self.check_domain()
        engine = self.evidence.engine
        weights = [w for row in engine["system"]["rows"] for _, step in row for _, w in step]
        degree = max(map(quotient_degree, [*weights, engine["ratio"]]))
        found = self.values_at_random(self._compare_at, degree)
        states = counted(len(engine["system"]["states"]), "state")
        bound = "" if "tight" in engine else " and the bound"
        return f"{states} with their steps{bound} agree at {found.where}{found.missed}"

    def _compare_at(self, at: At) -> list[Fraction]:
        """Compares the systems at a point, and the bounds; returns the probabilities of the case there."""
        engine, here, values = self.evidence.engine, self.reader.calculator(*at), self.values(*at)
        stated = engine["system"]
        own = system_of(self.reader.data, here)
        if own.actions != {kind: stated[kind] for kind in KINDS} or own.partial != stated["partial"]:
            raise Rejected("the case has other actions, or another assumption about inputs")
        if own.initial != stated["states"][stated["initial"]]:
            raise Rejected("the case starts in another state")
        weight = cache(lambda text: quotient_at(text, values))
        found: dict[Fraction, None] = {}
        actions, states = [a for kind in KINDS for a in stated[kind]], stated["states"]
        for name, row in zip(states, stated["rows"], strict=True):
            listed = {actions[a]: {states[s]: weight(_key(w)) for s, w in step} for a, step in row}
            theirs = {a: {s: p for s, p in step.items() if p} for a, step in listed.items()}
            mine = {a: {s: p for s, p in step.items() if p} for a, step in own.rows(name).items()}
            if mine != theirs:
                raise Rejected(f"the state {name!r:.60} has other steps in the case")
            found |= dict.fromkeys(p for step in mine.values() for p in step.values())
        if "tight" not in engine:
            ratio = self.reader.ratio(here)
            if ratio != quotient_at(engine["ratio"], values):
                raise Rejected("the evidence has another bound")
            found[ratio] = None
        return list(found)


def _key(written: Any) -> Any:
    return written if isinstance(written, str) else tuple(written)


def compare_slots(evidence: Evidence, content: str) -> str:
    """Compares what evidence for every number of slots says of the program with its case.

    Raises:
        Rejected: it does something else.
    """
    given = tomllib.loads(content)["system"]
    own = {
        "drops": given.get("full", "drop") == "drop",
        "shared": given.get("memory", "slot") == "shared",
        "deletes": given.get("delete", True),
    }
    if given.get("kind") != "slots" or own != evidence.engine["program"]:
        raise Rejected("the slots of the case do something else")
    return "what slots do with data points agrees"
