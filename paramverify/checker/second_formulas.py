"""A second reading of the text of a formula of dpCTL*: standard library only, no code of the first reader.

A formula becomes the tree that evidence has, with the texts of its bounds in it. `!`, X, F and G bind
strongest, then U, W and R (to the right), `&`, `|`, `=>` (to the right) and `<=>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .strict import UnreadCase

TOKEN = re.compile(
    r"""\s*("[^"\n]*"|<=>|=>|<=|>=|==|!=|\.\.|[A-Za-z_][A-Za-z0-9_]*'?|[0-9]+(?:\.[0-9]+)?|\S)"""
)
NOT = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
LOWER = (">", ">=")
CLOSING = {"[": "]", "(": ")", "{": "}"}


@dataclass
class FormulaTokens:
    """The tokens of a formula, with their places, and the name of its family.

    With `choices` it is about a decision process; on a chain Pmin and Pmax are P.
    """

    text: str
    choices: bool = True
    name: str | None = None

    def __post_init__(self) -> None:
        self.tokens = [(m[1], m.start(1)) for m in TOKEN.finditer(self.text)]
        self.place = 0

    @property
    def next(self) -> str:
        """The next token; "" at the end."""
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        """Returns the next token, which has to be one of those that are wanted, if any are.

        Raises:
            Unread: it is another one.
        """
        token = self.next
        if not token or (wanted and token not in wanted):
            raise UnreadCase(f"the formula {self.text!r:.60} has another form")
        self.place += 1
        return token

    def until(self, *ends: str) -> str:
        """Returns the text up to one of some tokens outside of brackets."""
        first = self.place
        depth = 0
        while depth or self.next not in ends:
            token = self.take()
            depth += (token in CLOSING) - (token in CLOSING.values())
            if depth < 0:
                raise UnreadCase(f"the formula {self.text!r:.60} has another form")
        return self.text[self.tokens[first][1] : self.tokens[self.place][1]].strip()

    def formula(self) -> list[Any]:
        """Reads a formula."""
        found = self.implied()
        while self.next == "<=>":
            self.take()
            other = self.implied()
            found = ["or", [["and", [found, other]], ["and", [["not", found], ["not", other]]]]]
        if self.next == "?":
            raise UnreadCase("a formula with a choice")
        return found

    def implied(self) -> list[Any]:
        left = self.joined("|", "or")
        if self.next != "=>":
            return left
        self.take()
        return ["or", [["not", left], self.implied()]]

    def joined(self, sign: str, kind: str) -> list[Any]:
        parts = [self.joined("&", "and") if sign == "|" else self.bound_by_until()]
        while self.next == sign:
            self.take()
            parts.append(self.joined("&", "and") if sign == "|" else self.bound_by_until())
        return parts[0] if len(parts) == 1 else [kind, parts]

    def bound_by_until(self) -> list[Any]:
        left = self.unary()
        if self.next not in ("U", "W", "R"):
            return left
        word = self.take()
        low, high = self.steps()
        right = self.bound_by_until()
        if word == "W":
            return ["release", right, ["or", [left, right]], low, high]
        return ["until" if word == "U" else "release", left, right, low, high]

    def steps(self) -> tuple[Any, Any]:
        """Reads the bounds of an operator."""
        if self.next == "[":
            self.take()
            low = self.index()
            self.take(",")
            high = None if self.next == "]" else self.index()
            self.take("]")
            return low, high
        if self.next not in ("=", "<=", "<", ">=", ">"):
            return 0, None
        sign = self.take()
        number = self.index()
        after, before = _moved(number, 1), _moved(number, -1)
        ends = {"=": (number, number), "<=": (0, number), "<": (0, before)}
        return ends.get(sign) or ((number, None) if sign == ">=" else (after, None))

    def index(self) -> Any:
        token = self.take()
        if token.isdigit():
            return int(token)
        if token != self.name:
            raise UnreadCase(f"a number of steps {token!r:.40}")
        sign = {"+": 1, "-": -1}.get(self.next)
        if sign is None:
            return {"more": 0}
        self.take()
        return {"more": sign * int(self.take())}

    def unary(self) -> list[Any]:
        token = self.next
        if token == "!":
            self.take()
            return ["not", self.unary()]
        if token == "X":
            self.take()
            return ["next", self.unary()]
        if token in ("F", "G"):
            self.take()
            low, high = self.steps()
            inner = self.unary()
            return [
                "until" if token == "F" else "release",
                ["true" if token == "F" else "false"],
                inner,
                low,
                high,
            ]
        if token == "(":
            self.take()
            found = self.formula()
            self.take(")")
            return found
        if token in ("P", "Pmin", "Pmax", "D"):
            return self.compared(self.take())
        self.take()
        if token in ("true", "false"):
            return [token]
        if not re.fullmatch(r'"[^"]*"|[A-Za-z_][A-Za-z0-9_]*', token) or self.next in ("=", "==", "!=", *NOT):
            raise UnreadCase("a formula with a condition over variables")
        return ["label", token.strip('"')]

    def compared(self, word: str) -> list[Any]:
        """Reads what follows P or D."""
        if word == "D":
            self.take("{")
            epsilon = self.until(",")
            self.take(",")
            delta = self.until("}")
            self.take("}")
            return ["D", epsilon, delta, self.path()]
        if self.next not in NOT:
            raise UnreadCase("a formula with two bounds of a probability")
        relation = self.take()
        bound = self.until("[")
        path = self.path()
        turned = (word == "Pmax" and relation in LOWER) or (word == "Pmin" and relation not in LOWER)
        if turned and self.choices:
            return ["not", ["P", NOT[relation], bound, path]]
        return ["P", relation, bound, path]

    def path(self) -> list[Any]:
        self.take("[")
        found = self.formula()
        self.take("]")
        return found


def _moved(number: Any, by: int) -> Any:
    return {"more": number["more"] + by} if isinstance(number, dict) else number + by


def read_formula(text: str, choices: bool = True) -> tuple[list[Any], dict[str, Any] | None]:
    """Returns the tree of a formula, and the first and the last number of its family.

    `choices` says that it is about a decision process, and not about a chain.

    Raises:
        Unread: it has a form that is not known here.
    """
    found = FormulaTokens(text, choices)
    family = None
    if found.next == "forall":
        found.take()
        found.name = found.take()
        first: int = 0
        last: int | None = None
        if found.next == "in":
            found.take()
            first = int(found.take())
            found.take("..")
            last = int(found.take()) if found.next != ":" else None
        found.take(":")
        family = {"first": first, "last": last}
    tree = found.formula()
    if found.next:
        raise UnreadCase(f"the formula {text!r:.60} has another form")
    return tree, family
