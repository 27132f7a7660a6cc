"""A second reading of cases with formulas of dpCTL*: states, neighbours and formulas straight from the TOML.

A formula becomes the tree that evidence has, with the texts of its bounds in it. `!`, X, F and G bind
strongest, then U, W and R (to the right), `&`, `|`, `=>` (to the right) and `<=>`.

At points of the domain the probabilities and the bounds are computed from their texts, and compared with
those of the evidence. Standard library only; no code of the first reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from ..kernel.strict_reading import Rejected, UnreadCase, counted
from .second_comparison import At, PointwiseComparison
from .second_evidence import quotient_at, quotient_degree
from .second_numbers import Calculator, Value
from .second_trees import NOT

Weight = Callable[[Any], Fraction]  # the value of a quotient of a document

# --- second formulas --------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""\s*("[^"\n]*"|<=>|=>|<=|>=|==|!=|\.\.|[A-Za-z_][A-Za-z0-9_]*'?|[0-9]+(?:\.[0-9]+)?|\S)"""
)
LOWER = (">", ">=")
LEVELS = {"<=>": 0, "=>": 1, "|": 2, "&": 3, "U": 4, "W": 4, "R": 4}  # how strongly operators bind
TO_THE_RIGHT = ("=>", "U", "W", "R")
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
        self.tokens = [(m[1], m.start()) for m in TOKEN.finditer(self.text)]
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
        return self.text[self.tokens[first][1] : self.tokens[self.place][1]].strip()

    def formula(self, least: int = 0) -> list[Any]:
        """Reads a formula whose operators bind at least so strongly."""
        left, built = self.unary(), ""
        while self.next in LEVELS and LEVELS[self.next] >= least:
            sign = self.take()
            low, high = self.steps() if sign in ("U", "W", "R") else (0, None)
            right = self.formula(LEVELS[sign] + (sign not in TO_THE_RIGHT))
            match sign:
                case "U":
                    left = ["until", left, right, low, high]
                case "R":
                    left = ["release", left, right, low, high]
                case "W":
                    left = ["release", right, ["or", [left, right]], low, high]
                case "=>":
                    left = ["or", [["not", left], right]]
                case "<=>":
                    left = ["or", [["and", [left, right]], ["and", [["not", left], ["not", right]]]]]
                case _:
                    parts = left[1] if built == sign else [left]
                    left = ["and" if sign == "&" else "or", [*parts, right]]
            built = sign
        return left

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
            kind, start = ("until", "true") if token == "F" else ("release", "false")
            low, high = self.steps()
            return [kind, [start], self.unary(), low, high]
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
        if not re.fullmatch(r'"[^"]*"|[A-Za-z_][A-Za-z0-9_]*', token) or self.next in ("=", *NOT):
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
        if self.next not in ("<", "<=", ">", ">="):
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


# --- second chains ----------------------------------------------------------------------------------

MAX_PAIRS = 100_000  # of states that a condition is evaluated for
ANY = "*"


class ChainLook(PointwiseComparison):
    """A document about formulas, beside its case file."""

    claimed = True
    near = False

    def compare(self) -> str:
        self.data, self.model = self.reader.data, self.evidence.engine["model"]
        self.formulas = self.evidence.engine["formulas"]
        if "states" not in self.data:
            raise UnreadCase("models in separate files")
        if self.reader.steps:
            raise UnreadCase("a parameter without an upper end")
        self.check_parameters()
        self.check_domain()
        self._check_structure()
        degree = max(quotient_degree(w) for row in self.model["steps"] for _, w in row)
        found = self.values_at_random(self._compare_at, degree)
        states = counted(len(self.model["rows"]), "state")
        formulas = counted(len(self.formulas), "formula")
        return f"{states}, their neighbours and {formulas} agree at {found.where}{found.missed}"

    def _compare_at(self, point: At) -> list[Fraction]:
        at = self.reader.calculator(*point)
        weight = partial(quotient_at, values=self.values(*point))
        values = self._check_rows(at, weight)
        self._check_formulas(at, weight)
        return values

    # --- the model ------------------------------------------------------------------------------------

    def _check_structure(self) -> None:
        """Compares names, initial states, labels and neighbours."""
        model, states = self.model, self.data["states"]
        names = list(states)
        if model["states"] != names:
            raise Rejected("the case has other states")
        told: Mapping[str, Any] = self.data.get("model", {})
        if not model["scheduled"]:
            raise UnreadCase("a decision process without query schedulers")
        actions = [ANY]
        if told.get("kind") == "mdp":
            every = (a for entry in states.values() for a in entry.get("to", {}) if a != ANY)
            actions = list(dict.fromkeys(every)) or [ANY]
        if model["actions"] != actions:
            raise Rejected("the case has other actions")
        initial = told.get("initial", names)
        if [names[s] for s in model["initial"]] != initial:
            raise Rejected("the case has other initial states")
        labels: dict[str, set[int]] = {}
        for k, entry in enumerate(states.values()):
            for label in entry.get("labels", []):
                labels.setdefault(label, set()).add(k)
        if {name: set(found) for name, found in model["labels"].items()} != labels:
            raise Rejected("the case has other labels")
        if {(s, t) for s, t in model["neighbours"]} != self._neighbours(names, labels):
            raise Rejected("the case has other neighbours")

    def _neighbours(self, names: list[str], labels: Mapping[str, set[int]]) -> set[tuple[int, int]]:
        given = self.data.get("neighbours", {})
        pairs: list[tuple[int, int]] = []
        if "pairs" in given:
            pairs = [(names.index(str(s)), names.index(str(t))) for s, t in given["pairs"]]
        elif "labels" in given:
            pairs = [(s, t) for label in given["labels"] for s in labels[label] for t in labels[label]]
        elif "where" in given:
            pairs = self._where(given["where"])
        return {(min(s, t), max(s, t)) for s, t in pairs if s != t}

    def _where(self, condition: str) -> list[tuple[int, int]]:
        if re.search(r"=>|\?|\b(floor|ceil|mod)\s*\(", condition):
            raise UnreadCase("a condition with an implication, a case, or a rounded number")
        text = re.sub(r"([A-Za-z_][A-Za-z0-9_]*)'", r"\1__other", condition)
        text = re.sub(r"(?<![<>=!])=(?!=)", "==", text).replace("&", " and ").replace("|", " or ")
        text = re.sub(r"!(?!=)", " not ", text)
        used = set(re.findall(r"\b[A-Za-z_]\w*", text)) - {"and", "or", "not", "abs", "min", "max"}
        sets = [entry.get("set", {}) for entry in self.data["states"].values()]
        firsts = [
            k for k, own in enumerate(sets) if {n for n in used if not n.endswith("__other")} <= own.keys()
        ]
        others = {n.removesuffix("__other") for n in used if n.endswith("__other")}
        seconds = [k for k, own in enumerate(sets) if others <= own.keys()]
        if len(firsts) * len(seconds) > MAX_PAIRS:
            raise UnreadCase("a condition about very many pairs of states")
        found = []
        for s in firsts:
            for t in seconds:
                values: dict[str, Value] = {n: Fraction(x) for n, x in sets[s].items()}
                values |= {f"{n}__other": Fraction(x) for n, x in sets[t].items()}
                if Calculator(values, None, Fraction(1)).number(text):
                    found.append((s, t))
        return found

    def _check_rows(self, at: Calculator, weight: Weight) -> list[Fraction]:
        model = self.model
        names = model["states"]
        process = self.data.get("model", {}).get("kind") == "mdp"
        numbers: dict[str, Fraction] = {}

        def value(given: Any) -> Fraction:
            if str(given) not in numbers:
                numbers[str(given)] = at.number(given)
            return numbers[str(given)]

        steps = [{names[t]: weight(w) for t, w in row} for row in model["steps"]]
        for k, entry in enumerate(self.data["states"].values()):
            given = entry.get("to", {names[k]: 1})
            rows = given if process and "to" in entry else {ANY: given}
            for action, place in zip(model["actions"], model["rows"][k], strict=True):
                row = rows[ANY] if rows.keys() == {ANY} else rows[action]
                own = {t: value(text) for t, text in row.items()}
                stated = steps[place]
                if {t: w for t, w in own.items() if w} != {t: w for t, w in stated.items() if w}:
                    raise Rejected(f"the state {names[k]!r:.60} has other steps in the case")
        return list(numbers.values())

    # --- the formulas ---------------------------------------------------------------------------------

    def _check_formulas(self, at: Calculator, weight: Weight) -> None:
        own = self.data.get("formulas", {})
        for entry in self.formulas:
            name = entry["name"]
            if name in own and entry["text"] != own[name]:
                raise Rejected(f"the formula {name!r:.60} differs in the case")
            tree, family = read_formula(entry["text"], self.model["actions"] != [ANY])
            if family != entry.get("family"):
                raise Rejected(f"the formula {name!r:.60} has another family")
            if valued(tree, at.number, at.exp_of) != valued(entry["formula"], weight, weight):
                raise Rejected(f"the formula {name!r:.60} says something else in the case")


def valued(tree: Any, bound: Weight, budget: Weight) -> Any:
    """Returns a formula with numbers in the places of its bounds, and of the budgets of D."""
    match tree:
        case ["P", relation, text, inner]:
            return ["P", relation, bound(text), valued(inner, bound, budget)]
        case ["D", epsilon, delta, inner]:
            return ["D", budget(epsilon), bound(delta), valued(inner, bound, budget)]
        case [*parts]:
            return [valued(part, bound, budget) for part in parts]
    return tree
