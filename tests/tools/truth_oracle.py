"""An oracle for evidence that a checker accepts: does a point, a run or a sample contradict it?

It uses nothing of the rules of the kernel, but arithmetic of Python and definitions. By kinds of statements:

obligation, lemma, claim, comparison   the polynomial at rational points of the domain
parts, average   the sum of positive parts, the divergence, at points of the domain
cells, line      the signs of all claims and constraints at points of each part
cone             the ratios of all short sequences at points, or of some loops
unwinding        short inputs and traces, at points; growth without limit is not looked at
formulas         paths of a few steps, one by one; of decisions only schedulers that follow a word of actions
paths            samples of the noise, so that only large errors are seen
composition      the outputs of all releases together, where these are lists or geometric, or by small pieces
                 of Gaussian noise; Laplace and discrete Gaussian noise are not looked at
automaton        ways of a few steps with all shifts; families, examples and entries of few values are not
                 looked at
script           the claims, as above; models need the script
slots            two runs that differ in one data point, for a while

A witness: its claim at its point, and its numbers with each other. `reduction`: all neighbouring inputs at
some points. There is no oracle for what only a case can show: names, titles, digests, windows, budgets. With
a case, `of_another_case` compares them with the true evidence.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from random import Random
from typing import Any

import automaton_documents as ways_of
import mpmath
import numpy as np
from oracle_tools import (
    TINY,
    Json,
    Runs,
    cone_is_true,
    exp,
    inside,
    largest_is_true,
    map_is_true,
    near,
    parts,
    points_of,
    system_is_true,
    value_of,
    witness_is_true,
)

from paramverify.kernel.ledger import KernelReport

SIGNS = ("obligation", "lemma", "claim", "comparison")
SAID = {
    "map": ("region map", "exact intervals"),
    "bounds": ("budget", "composition"),
    "answers": ("answers",),
}
SAMPLES = 20_000
ALMOST = 7  # standard deviations


def contradiction(document: Json, report: KernelReport, random: Random) -> str:
    """Returns what contradicts an accepted document, in words; "" if nothing was found."""
    for found in _contradictions(document, report, random):
        if found:
            return found
    return ""


def _contradictions(document: Json, report: KernelReport, random: Random) -> Iterator[str]:
    statements = document["statements"]
    lemmas = {s["name"]: s["proof"] for s in statements if s["kind"] == "lemma"}
    yield _trust(document, report, lemmas)
    yield _status(document, report)
    for k, statement in enumerate(statements):
        about = (
            {**statement, "domain": document["domains"][statement["domain"]]}
            if "domain" in statement
            else statement
        )
        if statement["kind"] in SIGNS:
            if statement["proof"] is not None and not rests_on_solvers(statement["proof"], lemmas):
                strict = statement.get("strict", False)
                yield _sign(about, strict, random) and f"statement {k} fails at a point"
        elif statement["kind"] in ORACLES:
            trusted = bool(rests_on_solvers(statement, lemmas) or report.solvers)
            if not trusted and not ORACLES[statement["kind"]](about, document, report, random):
                yield f"statement {k}, of the kind {statement['kind']}, is not true"
    if "witness" in document:
        yield _witness(document)
    if "reduction" in document:
        yield _pair(document, random)


def _trust(document: Json, report: KernelReport, lemmas: Json) -> str:
    """Whether the solvers that proofs rest on are named, and counted."""
    names: set[str] = set()
    for statement in document["statements"]:
        if statement["kind"] != "script":
            names |= rests_on_solvers(statement, lemmas) if statement["kind"] != "lemma" else set()
    if not names <= set(report.solvers):
        return f"the word of {sorted(names)} is taken, and {report.solvers} are named"
    return "no claim is trusted, but solvers are named" if report.solvers and not report.trusted else ""


def rests_on_solvers(proof: Any, lemmas: Mapping[str, Any]) -> set[str]:
    """Returns the solvers that occur in a proof or in the lemmas that it uses."""
    found: set[str] = set()
    for _, part in parts(proof):
        if isinstance(part, dict) and part.get("kind") == "solver":
            found.add(f"{part['solver']} {part['version']}".strip())
        if isinstance(part, dict) and part.get("kind") == "lemma" and "domain" not in part:
            found |= rests_on_solvers(lemmas[part["name"]], lemmas)
    return found


def _status(document: Json, report: KernelReport) -> str:
    """Whether what is said together is what the statements show."""
    said, kinds = document["status"], {s["kind"] for s in document["statements"]}
    own = {*SAID.get(said, (said,)), *(("budget",) if "budget" in document else ())}
    if any(s["kind"] == "unwinding" and s.keys() & {"tight", "growth"} for s in document["statements"]):
        own.add("budget")
    if report.status not in own and said != "answers":
        return f"the document says {said}, the report {report.status}"
    plain = kinds <= {"claim", "lemma", "obligation", "parts", "average"}
    if plain and said == "violated" and "witness" not in document:
        return "a violation without a witness"
    if plain and said == "holds":
        if any(s["proof"] is None for s in document["statements"] if s["kind"] == "claim"):
            return "it holds, and a claim has no proof"
        if not kinds - {"lemma", "obligation"} and "side_condition" not in document:
            return "it holds, and there is no claim"
    return ""


# --- with a case ----------------------------------------------------------------------------------------

# Keys of a statement that say what it is about: with the case they are those of the evidence that is true.
ABOUT = {
    "cone": ("domain", "model"),
    "cells": ("domain", "claims", "free"),
    "line": ("domain", "claims"),
    "unwinding": ("domain", "system", "ratio"),
    "formulas": ("domain", "model"),
    "slots": ("program",),
    "paths": ("bound", "delta", "inputs", "pairs"),
    "composition": ("components",),
    "automaton": ("automaton", "claim", "streams"),
    "script": ("script",),
    "parts": ("domain", "room", "terms"),
    "average": ("domain", "of", "bound", "total", "outputs"),
}


def of_another_case(document: Json, original: Json) -> str:
    """Returns what evidence that was accepted with a case says of it, and the true evidence does not."""
    for key in ("reduction", "side_condition", "outputs"):
        if document.get(key) != original.get(key):
            return f"another {key}"
    files = [dict(each.get("case", original.get("case", {}))) for each in (document, original)]
    if any(s["kind"] == "automaton" and not {"claim", "streams"} & s.keys() for s in original["statements"]):
        files = [{"digest": each.get("digest")} for each in files]  # such a file has no title
    if "case" in original and files[0] != files[1]:
        return "another case"
    said, true = document["status"], original["status"]
    if said != true and said != "unknown":
        return f"{said} in place of {true}"
    claimed = {
        _identity(original, s): set(s.get("origins", []))
        for s in original["statements"]
        if s["kind"] == "claim"
    }
    claims = [s for s in document["statements"] if s["kind"] == "claim"]
    for statement in claims if "witness" not in document and said != "answers" else ():
        if not set(statement.get("origins", [])) <= claimed.get(_identity(document, statement), set()):
            return "a claim, or one that comes from somewhere else"
    for statement in document["statements"]:
        own = [s for s in original["statements"] if s["kind"] == statement["kind"]]
        if statement["kind"] in ABOUT and own:
            told, known = _told(document, statement), [_told(original, other) for other in own]
            if "tight" in statement:  # of a budget any number is told that is enough
                told, *known = ({**each, "ratio": None} for each in (told, *known))
            if told not in known:
                return f"a statement of the kind {statement['kind']} about something else"
    new, old = document.get("witness", {}), original.get("witness", {})
    where = ("parameters", "secrets", "observations", "outputs", "length", "statement")
    same = all(new.get(name) == old.get(name) for name in where)
    apart = {"claim", "algebraic", "value"}  # there may be another interval of the same number
    told, true_ = ({k: v for k, v in each.items() if k not in apart} for each in (new, old))
    if same and old and told != true_:
        return "other numbers of the witness"
    return ""


def _told(document: Json, statement: Json) -> Json:
    about = {name: statement.get(name) for name in ABOUT[statement["kind"]]}
    if "free" in about:
        about["free"] = sorted(about["free"])  # the order is that of the sides of the cells
    if "script" in about:
        about = {"script": about["script"]["digest"]}  # its name is that of a file
    return {**about, "domain": _domain(document, statement)}


def _domain(document: Json, statement: Json) -> Any:
    """Returns a domain without the interval of E, which the checker shows to contain the number."""
    if "domain" not in statement:
        return None
    domain = document["domains"][statement["domain"]]
    return {**domain, "box": {name: ends for name, ends in domain["box"].items() if name != "E"}}


def _identity(document: Json, statement: Json) -> str:
    return json.dumps([_domain(document, statement), statement["polynomial"]], sort_keys=True)


# --- signs ------------------------------------------------------------------------------------------


def with_logs(domain: Json, point: dict[str, Fraction]) -> dict[str, Fraction]:
    """Returns a point in which variables that stand for a logarithm have its value."""
    found = dict(point)
    for name, (of, step) in domain.get("ties", {}).items():
        value = -mpmath.log(_real(found[of])) / _real(Fraction(step))
        found[name] = Fraction(mpmath.nstr(value, 40, strip_zeros=False, min_fixed=-90, max_fixed=90))
    return found


def tried(domain: Json, random: Random, most: int) -> list[dict[str, Fraction]]:
    """Returns rational points of a domain; logarithms have their values, if these are in it."""
    if "ties" not in domain:
        return points_of(domain, random, most)
    with mpmath.workdps(60):
        apart = {name: ends for name, ends in domain["box"].items() if name not in domain["ties"]}
        loose = {**domain, "box": apart, "constraints": []}
        found = [
            with_logs(domain, point)
            for point in points_of(loose, random, most)
            if all(point[of] > 0 for of, _ in domain["ties"].values())
        ]
    return [point for point in found if inside(domain, point)]


def _sign(about: Json, strict: bool, random: Random) -> bool:
    """Whether a polynomial is negative at a point of its domain, or not positive where it should be."""
    values = [value_of(about["polynomial"], point) for point in tried(about["domain"], random, 30)]
    return any(value < -TINY or (strict and value <= -TINY) for value in values)


# --- directions -------------------------------------------------------------------------------------


def beyond(claim: Json, point: Mapping[str, Fraction]) -> Fraction:
    """Returns the sum of the positive parts of all terms, minus the room."""
    terms = (value_of(term, point) for term in claim["terms"])
    return sum((max(Fraction(0), term) for term in terms), Fraction(0)) - value_of(claim["room"], point)


def _parts(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    for point in tried(about["domain"], random, 15):
        claims = [text for s in document["statements"] if s["kind"] == "cells" for text in s["claims"]]
        if claims and min(value_of(text, point) for text in claims) < 0:
            continue  # a map says where the claims hold
        if beyond(about, point) > TINY:
            return False
    return True


def _average(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    bound = _logs(about["bound"])
    orders = [None] if about["of"] == "kl" else [Fraction(k, 8) for k in (9, 16, 48, 160)]
    for point in tried(about["domain"], random, 6):
        pairs = _shares(about, point)
        negative = pairs is None or any(p < 0 or q < 0 for p, q in pairs)  # then nothing is said
        if not negative and any(divergence(pairs, a) > (a or 1) * bound + _real(TINY) for a in orders):
            return False
    return True


def _logs(bound: Any) -> Any:
    number, logs = bound
    total = _real(Fraction(number))
    return total + sum(_real(Fraction(factor)) * mpmath.log(_real(Fraction(n))) for factor, n in logs)


def _shares(claim: Json, point: Mapping[str, Fraction]) -> list[tuple[Fraction, Fraction]] | None:
    total = value_of(claim["total"], point)
    if not total:
        return None
    return [(value_of(p, point) / total, value_of(q, point) / total) for p, q in claim["outputs"]]


def divergence(pairs: Any, order: Fraction | None) -> Any:
    """Returns the divergence of Kullback and Leibler, or the one of Renyi of an order."""
    kept = [(_real(p), _real(q)) for p, q in pairs if p > 0]
    if any(q <= 0 for _, q in kept):
        return mpmath.inf
    if order is None:
        return sum(p * mpmath.log(p / q) for p, q in kept)
    a = _real(order)
    return mpmath.log(sum(p**a * q ** (1 - a) for p, q in kept)) / (a - 1)


def _real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


# --- witnesses --------------------------------------------------------------------------------------


def _point(witness: Json, domain: Json) -> dict[str, Fraction]:
    point = {name: Fraction(text) for name, text in witness["parameters"].items()}
    if "constant" in domain:
        point["E"] = exp(Fraction(domain["constant"]))
    return with_logs(domain, point)


def _witness(document: Json) -> str:
    witness = document["witness"]
    domain = document["domains"][witness["claim"]["domain"]]
    if witness["kind"] != "claim":
        point = _point(witness, domain)
        if not inside(domain, point):
            return "the point of the witness is not in the domain"
        return _set_witness(witness, point) if witness["kind"] == "set" else _average_witness(witness, point)
    claim = {**domain, "polynomial": witness["claim"]["polynomial"]}
    full = {**witness, "claim": claim}
    if "algebraic" in witness:
        return "" if irrational_is_true(full) else "the claim of the witness does not fail there"
    point = _point(witness, domain)
    if not inside(domain, point) or value_of(claim["polynomial"], point) >= 0:
        return "the claim of the witness does not fail there"
    return "" if numbers_agree(witness) else "the numbers of the witness do not agree"


def numbers_agree(witness: Json) -> bool:
    """Whether the numbers of a witness are possible, and exceed the bound."""
    if witness.get("exceeds", True) is not True or witness.get("fails", True) is not True:
        return False
    if "moment" in witness and witness["moment"] != "infinity":
        return bool(near(witness["moment"]) > near(witness["bound"]) - TINY)
    within = witness.get("within")
    if within is not None and within["ratio"] != "infinity":
        pair = [_rough(number) for number in within["probabilities"]]
        if abs(_rough(within["ratio"]) * pair[1] - pair[0]) > Fraction(1, 10**6):
            return False
    if not witness.get("densities"):
        bare = {"box": {}, "constraints": [], "polynomial": "-1"}
        return witness_is_true({**witness, "claim": bare, "parameters": {}})
    if "probabilities" in witness and "ratio" in witness:
        left, right = map(near, witness["probabilities"])
        ratio = witness["ratio"]
        if right == 0:
            return bool(ratio == "infinity" and left > 0)
        return abs(near(ratio) * right - left) < Fraction(1, 10**12) and left > near(witness["bound"]) * right
    return True


def _rough(number: Any) -> Fraction:
    if isinstance(number, str):
        return Fraction(number)
    return (Fraction(number["lower"]) + Fraction(number["upper"])) / 2


def _set_witness(witness: Json, point: dict[str, Fraction]) -> str:
    if beyond(witness["claim"], point) <= 0:
        return "the sum of the witness is within its room"
    left, right = map(near, witness["probabilities"])
    bound, delta, more = (near(witness[name]) for name in ("bound", "delta", "beyond"))
    good = 0 <= left <= 1 and 0 <= right <= 1 and bound > 0 and delta >= 0 and witness["exceeds"]
    close = min(abs(left - bound * right - more), abs(left - bound * right - delta - more)) < Fraction(
        1, 10**12
    )
    return (
        "" if good and close and left - bound * right > delta else "the numbers of the witness do not agree"
    )


def _average_witness(witness: Json, point: dict[str, Fraction]) -> str:
    claim = witness["claim"]
    order = Fraction(witness["order"]) if "order" in witness else None
    bound, pairs = (order or 1) * _logs(claim["bound"]), _shares(claim, point)
    if (claim["of"] == "kl") is not (order is None) or pairs is None or witness["measure"] != claim["of"]:
        return "the measure of the witness is another one"
    if any(p < -TINY or q < -TINY for p, q in pairs):
        return "a probability of the witness is negative"
    found, slack = divergence(pairs, order), mpmath.mpf(10) ** -12
    if found <= bound - slack:
        return "the divergence at the witness is within the bound"
    if witness["value"] == "infinity":
        return "" if found == mpmath.inf else "the divergence at the witness is finite"
    low, high = (_real(Fraction(text)) for text in witness["value"])
    told = witness["bound"] if isinstance(witness["bound"], list) else [witness["bound"]] * 2
    least, most = (_real(Fraction(text)) for text in told)
    around = low - slack <= found <= high + slack and least - slack <= bound <= most + slack
    return "" if around and witness["exceeds"] else "the numbers of the witness do not agree"


def irrational_is_true(witness: Json) -> bool:
    """Whether a claim fails, but for a tiny error, at a rational point very near to an irrational one."""
    place = witness["algebraic"]
    low, high = map(Fraction, place["interval"])
    below = value_of(place["minimal"], {"t": low}) > 0
    for _ in range(200):
        middle = (low + high) / 2
        if (value_of(place["minimal"], {"t": middle}) > 0) == below:
            low = middle
        else:
            high = middle
    point = {name: value_of(text, {"t": low}) for name, text in place["coordinates"].items()}
    claim = witness["claim"]
    if "constant" in claim:
        point["E"] = exp(Fraction(claim["constant"]))
    shifted = [[f"{text} + {TINY}", ">="] for text, _ in claim["constraints"]]
    close = all(_near(point[name], ends) for name, ends in claim["box"].items() if name != "E")
    fails = value_of(claim["polynomial"], point) < 0
    return close and fails and inside({"box": {}, "constraints": shifted}, point)


def _near(value: Fraction, ends: str) -> bool:
    low, high = (Fraction(end) for end in ends[1:-1].split(", "))
    return low - TINY <= value <= high + TINY


def _pair(document: Json, random: Random) -> str:
    """Whether a pair of inputs stands for all neighbours."""
    told = document["reduction"]
    if len(told["noise"]) ** told["answers"] > 300:
        return ""
    if "domain" not in told:
        return "" if largest_is_true(told) else "another pair of inputs has a larger ratio"
    domain = document["domains"][told["domain"]]
    for point in points_of(domain, random, 2):
        noise = [[str(value_of(text, point)) for text in row] for row in told["noise"]]
        rows = [sum((Fraction(p) for p in row), Fraction(0)) for row in noise]
        if all(rows) and not largest_is_true({**told, "noise": noise}):
            return f"another pair of inputs has a larger ratio at {point}"
    return ""


# --- maps, cones and systems --------------------------------------------------------------------------


def _cells(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    return map_is_true(about, random)


def _line(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    """Whether each part has the status that the signs of all claims have at its points."""
    domain = about["domain"]
    ((name, ends),) = domain["box"].items()
    low, high = (Fraction(end) for end in ends[1:-1].split(", "))
    places = [(low, low), *(tuple(map(Fraction, b["between"])) for b in about["breaks"]), (high, high)]
    for part in about["parts"]:
        first, last = part["ends"]
        start, stop = places[first][1], places[last][0]
        inner = [start + (stop - start) * Fraction(k, 8) for k in range(1, 8)] if first < last else []
        corners = [places[k][0] for k, closed in zip(part["ends"], part["closed"], strict=True) if closed]
        exact = [x for x in corners if (x, x) in places]
        if any(_status_at(about, {name: x}) != part["status"] for x in {*inner, *exact}):
            return False
    covered = [k for part in about["parts"] for k in range(part["ends"][0], part["ends"][1])]
    return covered == list(range(len(places) - 1))


def _status_at(about: Json, point: dict[str, Fraction]) -> str:
    if not inside({**about["domain"], "box": {}}, point):
        return "outside"
    return "safe" if all(value_of(text, point) >= 0 for text in about["claims"]) else "violating"


def _cone(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    shown = "violated" if about["rule"] == "loop" else "holds"
    told = any("not shown" in line for line in report.lines) or any(
        "negative" in s for s in report.not_compared
    )
    model = {**about["model"], "domain": about["domain"]}
    said = report.status == shown or "budget" in document
    return said and cone_is_true({**about, "kind": about["rule"], "model": model}, random, not told)


def _unwinding(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    if "growth" in about or document["status"] == "unknown":
        return True
    return system_is_true({**about, "status": document["status"]}, {}, random)


# --- formulas -----------------------------------------------------------------------------------------

Truth = bool | None
MOST_PATHS = 3_000


def _either(values: list[Truth]) -> Truth:
    return True if True in values else None if None in values else False


def _not(value: Truth) -> Truth:
    return None if value is None else not value


class Paths:
    """Formulas of dpCTL* at one point: paths of a few steps have all that is known."""

    def __init__(self, model: Json, point: Mapping[str, Fraction]) -> None:
        self.model, self.point = model, point
        self.steps = [[(t, quotient(w, point)) for t, w in row] for row in model["steps"]]
        self.actions = max((len(row) for row in model["rows"]), default=1)
        self.labels = {name: set(states) for name, states in model["labels"].items()}
        self.near: dict[int, set[int]] = {}
        for one, other in model["neighbours"]:
            self.near.setdefault(one, set()).add(other)
            self.near.setdefault(other, set()).add(one)
        self.walks: dict[tuple[int, tuple[int, ...]], list[tuple[tuple[int, ...], Fraction]]] = {}

    def words(self) -> Iterator[tuple[int, ...]]:
        """Yields words of actions: all short ones, or the only one of some length."""
        if self.actions == 1:
            yield (0,) * 6
        else:
            yield from itertools.product(range(self.actions), repeat=3)

    def walk(self, start: int, word: tuple[int, ...]) -> list[tuple[tuple[int, ...], Fraction]]:
        """Returns all paths from a state under a word, with their probabilities."""
        if (start, word) not in self.walks:
            found = [((start,), Fraction(1))]
            for action in word:
                rows = self.model["rows"]
                found = [
                    ((*path, t), x * w)
                    for path, x in found
                    for t, w in self.steps[rows[path[-1]][action if action < len(rows[path[-1]]) else 0]]
                    if w
                ]
                if len(found) > MOST_PATHS:
                    break
            self.walks[start, word] = found
        return self.walks[start, word]

    def chance(self, start: int, word: tuple[int, ...], asked: Any) -> tuple[Fraction, Fraction]:
        """Returns bounds of the probability of a path formula under a word of actions."""
        low, high = Fraction(0), Fraction(1)
        for path, x in self.walk(start, word):
            found = self.along(path, 0, asked)
            low += x if found is True else 0
            high -= x if found is False else 0
        return low, high

    def along(self, path: tuple[int, ...], at: int, asked: Any) -> Truth:
        """Whether a path satisfies a formula from a place on, as far as it goes."""
        kind = asked[0]
        if kind == "not":
            return _not(self.along(path, at, asked[1]))
        if kind in ("and", "or"):
            values = [self.along(path, at, part) for part in asked[1]]
            return _either(values) if kind == "or" else _not(_either([_not(v) for v in values]))
        if kind == "next":
            return self.along(path, at + 1, asked[1])
        if kind == "release":
            _, left, right, low, high = asked
            return _not(self.along(path, at, ["until", ["not", left], ["not", right], low, high]))
        if kind == "until":
            _, left, right, low, high = asked
            before: Truth = True
            found: list[Truth] = []
            for j in range(len(path) - at + 1 if high is None else min(high + 1, len(path) - at + 1)):
                here = self.along(path, at + j, right) if j >= low else False
                found.append(_not(_either([_not(here), _not(before)])))
                before = _not(_either([_not(before), _not(self.along(path, at + j, left))]))
            if high is None or high > len(path) - at:
                found.append(None if before is not False else False)
            return _either(found)
        return self.at(asked, path[at]) if at < len(path) else None

    def at(self, asked: Any, state: int) -> Truth:
        """Whether a state satisfies a formula, as far as it is known."""
        kind = asked[0]
        if kind in ("true", "false"):
            return bool(kind == "true")
        if kind == "label":
            return state in self.labels.get(asked[1], set())
        if kind == "not":
            return _not(self.at(asked[1], state))
        if kind in ("and", "or"):
            values = [self.at(part, state) for part in asked[1]]
            return _either(values) if kind == "or" else _not(_either([_not(v) for v in values]))
        if kind == "P":
            return self.probable(asked, state)
        if kind == "D":
            return self.alike(asked, state)
        return None

    def probable(self, asked: Any, state: int) -> Truth:
        """Whether P is true of a state: of more than one action only what a word shows is known."""
        _, relation, weight, inner = asked
        bound, truths = quotient(weight, self.point), []
        for word in self.words():
            low, high = self.chance(state, word, inner)
            ends = [_holds(value, relation, bound) for value in (low, high)]
            truths.append(ends[0] if ends[0] == ends[1] else None)
        if False in truths:
            return False
        return True if self.actions == 1 and truths == [True] else None

    def alike(self, asked: Any, state: int) -> Truth:
        """Whether D is true of a state, in the same way."""
        _, ratio, delta, inner = asked
        factor, more, truths = quotient(ratio, self.point), quotient(delta, self.point), list[Truth]()
        for other in self.near.get(state, set()) - {state}:
            for word in self.words():
                one, two = self.chance(state, word, inner), self.chance(other, word, inner)
                for p, q in ((one, two), (two, one)):
                    worst, best = p[1] <= factor * q[0] + more, p[0] <= factor * q[1] + more
                    truths.append(True if worst else None if best else False)
        if False in truths:
            return False
        return True if None not in truths and self.actions == 1 else None


def quotient(weight: Any, point: Mapping[str, Fraction]) -> Fraction:
    """Returns the value of a polynomial or of a quotient of two."""
    top, bottom = (weight, "1") if isinstance(weight, str) else weight
    return value_of(top, point) / value_of(bottom, point)


def _holds(value: Fraction, relation: str, bound: Fraction) -> bool:
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[relation]


def member(asked: Any, k: int) -> Any:
    """Returns a formula with a number for that of its family."""
    if isinstance(asked, dict):
        return k + asked["more"]
    return [member(part, k) for part in asked] if isinstance(asked, list) else asked


def _formulas(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    domain = about["domain"]
    points = tried(domain, random, 3)
    if len(about["model"]["states"]) > 40:
        return True
    for entry in about["formulas"]:
        if entry["status"] == "holds":
            family = entry.get("family")
            first, last = (family["first"], family["last"]) if family else (0, 0)
            numbers = range(first, 1 + min(first + 2, first + 2 if last is None else last))
            for point in points:
                paths = Paths(about["model"], point)
                for k in numbers:
                    asked = member(entry["formula"], k)
                    if any(paths.at(asked, state) is False for state in about["model"]["initial"]):
                        return False
        elif entry["status"] == "violated":
            point = _point(entry, domain)
            if not inside(domain, point) or entry["state"] not in about["model"]["initial"]:
                return False
            asked = member(entry["formula"], entry.get("index", 0))
            if Paths(about["model"], point).at(asked, entry["state"]) is True:
                return False
    said = [entry["status"] for entry in about["formulas"]]
    together = next(word for word in ("violated", "unknown", "holds") if word in said)
    return report.status == together


# --- paths through programs, by samples ---------------------------------------------------------------


def drawn(kind: str, number: float, size: int, generator: np.random.Generator) -> Any:
    """Returns samples of noise of a kind."""
    if kind == "gauss":
        return generator.normal(0, number, size)
    if kind == "laplace":
        return generator.laplace(0, number, size)
    if kind == "exponential":
        return generator.exponential(number, size)
    if kind == "discrete_gaussian":
        reach = int(12 * number) + 2
        axis = np.arange(-reach, reach + 1)
        weights = np.exp(-(axis**2) / (2 * number**2))
        return generator.choice(axis, size, p=weights / weights.sum())
    one = generator.geometric(1 - number, size) - 1
    return one - (generator.geometric(1 - number, size) - 1) if "one" not in kind else one


def _paths(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    generator = np.random.default_rng(random.randrange(2**32))
    bound = float(Fraction(about["bound"]["value"]))
    ratio = math.exp(bound) if about["bound"]["of"] == "epsilon" else bound
    delta = float(Fraction(about.get("delta", "0")))
    if ratio > 1e300:
        return True
    chances: dict[str, dict[str, float]] = {}
    for name, outputs in about["inputs"].items():
        row = chances.setdefault(name, {})
        for output, ways in outputs.items():
            row[output] = sum(_way(way, about["noise"], generator) for way in ways)
        if abs(sum(row.values()) - 1) > ALMOST * len(row) / math.sqrt(SAMPLES):
            return False
    slack = ALMOST * (1 + ratio) / math.sqrt(SAMPLES)
    if document["status"] == "violated":
        left, right = (chances[name] for name in about["witness"]["secrets"])
        gap = sum(left.get(o, 0) - ratio * right.get(o, 0) for o in about["witness"]["outputs"])
        return gap > delta - slack
    if document["status"] == "holds":
        for pair in about["pairs"]:
            for one, other in (pair, pair[::-1]):
                gaps = [p - ratio * chances[other].get(o, 0) for o, p in chances[one].items()]
                if max(gaps, default=0) > delta + slack:
                    return False
    return True


def _way(way: Json, noise: Any, generator: np.random.Generator) -> float:
    values = [drawn(noise[k][0], float(Fraction(noise[k][1])), SAMPLES, generator) for k in way["noise"]]
    good = np.ones(SAMPLES, dtype=bool)
    for slopes, bound in way["region"]:
        good &= (
            sum(float(Fraction(slope)) * values[v] for v, slope in slopes) <= float(Fraction(bound)) + 1e-12
        )
    return float(Fraction(way["weight"])) * float(good.mean())


# --- compositions ---------------------------------------------------------------------------------------

Masses = list[tuple[float, float]]


def listed(release: Json) -> Masses | None:
    """Returns the masses of the outputs of a release; None if they are no list."""
    kind = release["kind"]
    if kind == "table":
        return [(float(Fraction(p)), float(Fraction(q))) for p, q in release["outputs"]]
    if kind == "turned":
        inner = listed(release["of"])
        return None if inner is None else [(q, p) for p, q in inner]
    if kind == "sampled":
        inner, rate = listed(release["of"]), float(Fraction(release["rate"]))
        return None if inner is None else [((1 - rate) * q + rate * p, q) for p, q in inner]
    if kind == "randomized_response":
        lie, n = math.exp(-_loss(release["step"])), int(release["values"])
        total = 1 + (n - 1) * lie
        return [(1 / total, lie / total), (lie / total, 1 / total), *[(lie / total, lie / total)] * (n - 2)]
    if kind == "discrete_laplace":
        step, move = _loss(release["step"]), int(release["sensitivity"])
        reach = int(40 / step) + move + 1
        if reach > 2_000:
            return None
        weights = {x: math.exp(-step * abs(x)) for x in range(-reach - move, reach + move + 1)}
        total = (1 + math.exp(-step)) / (1 - math.exp(-step))
        return [(weights[x - move] / total, weights[x] / total) for x in range(-reach, reach + 1)]
    return None


def _loss(written: Any) -> float:
    return float(Fraction(written[0])) + math.log(Fraction(written[1]))


def together(releases: list[tuple[Masses, int]]) -> dict[float, tuple[float, float]] | None:
    """Returns the masses of all releases together by their losses; None if they are too many."""
    found = {0.0: (1.0, 1.0)}
    for masses, times in releases:
        for _ in range(times):
            grown: dict[float, tuple[float, float]] = {}
            for _, (a, b) in found.items():
                for p, q in masses:
                    one, other = a * p, b * q
                    key = math.inf if not other else -math.inf if not one else round(math.log(one / other), 9)
                    before = grown.get(key, (0.0, 0.0))
                    grown[key] = before[0] + one, before[1] + other
            found = grown
            if len(found) * len(masses) > 400_000:
                return None
    return found


def _composition(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    if sum(each["times"] for each in about["components"]) > 200:
        return True
    count = max(len(each["ways"]) for each in about["components"])
    upper, lower = [], []
    for k in range(count):
        above, below = [], []
        for each in about["components"]:
            way = each["ways"][k if len(each["ways"]) > 1 else 0]
            masses = listed(way["dominating"]) or _normal(way["dominating"])
            if masses is None:
                return True
            above.append((masses, each["times"]))
            below += [[listed(pair) for pair in way["pairs"]] or [masses]]
        found = together(above)
        if found is None:
            return True
        upper.append(found)
        single = [rows[0] for rows in below if rows]
        if all(len(rows) == 1 for rows in below) and None not in single:
            lower.append(found)
    question = about["question"]
    slack = 1e-6 if not _densities(about) else 2e-3

    def delta(epsilon: float) -> float:
        c = math.exp(epsilon)
        return max(sum(max(0.0, p - c * q) for p, q in found.values()) for found in upper)

    exact, low, high = (
        None if about[k] is None else float(Fraction(about[k])) for k in ("exact", "lower", "upper")
    )
    if "epsilon" in question:
        value = delta(_loss(question["epsilon"]))
        if exact is not None and abs(exact - value) > slack:
            return False
        return (low is None or low <= value + slack) and (high is None or not lower or high >= value - slack)
    given = float(Fraction(question["delta"]))
    if exact is not None:
        return exact > 0 and (not lower or delta(math.log(exact)) <= given + slack)
    if high is not None and lower and high < 600 and delta(high) > given + slack:
        return False
    return low is None or low <= 1e-6 or low > 600 or delta(low - 1e-6) >= given - slack


def _densities(about: Json) -> bool:
    return "gaussian" in str([way["dominating"] for each in about["components"] for way in each["ways"]])


def _normal(release: Json) -> Masses | None:
    """Returns masses of Gaussian noise in small pieces."""
    if release["kind"] != "gaussian":
        return None
    shift = float(Fraction(release["sensitivity"])) / float(Fraction(release["sigma"]))
    if not 0 < shift < 3:
        return None
    edges = np.linspace(-8, 8 + shift, 241)
    below = [[0.5 * math.erfc(-(x - m) / math.sqrt(2)) for x in edges] for m in (shift, 0.0)]
    return list(zip(*(np.diff(row) for row in below), strict=True))


# --- automata -------------------------------------------------------------------------------------------


def _automaton(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    """Whether no short way costs more than a multiple that is said to be enough."""
    data = about["automaton"]
    claim = about.get("claim") or about.get("streams") or {}
    reach = 1 if claim.get("by", "1") == "1" else None
    if "values" in claim or reach is None:
        return True
    enough = None
    if document["status"] == "holds":
        proved = about.get("proof") or about.get("tables")
        enough = claim.get("multiple") or (proved or {}).get("multiple")
    elif document["status"] == "bounds":
        enough = (about.get("proof") or about.get("tables") or {}).get("multiple")
    one = claim.get("differ", "each") == "one"
    if "least" in about and document["status"] == "violated" and "multiple" in claim:
        steps, signs = tuple(about["least"]["steps"]), tuple(about["least"]["signs"])
        if len(steps) <= 5:
            return ways_of.cost(data, steps, signs) > Fraction(claim["multiple"])
    if len(data["transitions"]) > 12:
        return True
    for steps, following in itertools.islice(ways_of.ways(data, 4), 400):
        if following is None:
            return False
        if enough is None or not steps:
            continue
        for signs in ways_of.corners(data, steps):
            changed = [k for k, sign in enumerate(signs) if sign]
            for tried_ in (
                ([s if k == j else 0 for k, s in enumerate(signs)] for j in changed) if one else (signs,)
            ):
                if ways_of.cost(data, steps, tuple(tried_)) > Fraction(enough):
                    return False
    return True


# --- slots ----------------------------------------------------------------------------------------------


def _slots(about: Json, document: Json, report: KernelReport, random: Random) -> bool:
    """Whether the signs of two runs that differ by one data point stay in the forms, with places for few."""
    program, steps = about["program"], about["steps"]
    forms = {tuple(sorted(form)) for form in about["forms"]}
    if not program["deletes"] or (program["shared"] and program["drops"]):
        return False
    if any(len(form) > steps or not {*form} <= {1, -1} for form in forms):
        return False
    for _ in range(60):
        places = random.choice((1, 2, 3))
        first, second = set[int](), set[int]()  # the data points that are stored
        for point in range(8):
            for run, given in ((first, point != 1), (second, True)):  # the second run has one point more
                if given and (len(run) < places or not program["drops"]):
                    run.add(point)
            signs = (-1,) * len(first - second) + (1,) * len(second - first)
            if signs and signs not in forms:
                return False
    return True


ORACLES = {
    "parts": _parts,
    "average": _average,
    "cells": _cells,
    "line": _line,
    "cone": _cone,
    "unwinding": _unwinding,
    "formulas": _formulas,
    "paths": _paths,
    "composition": _composition,
    "automaton": _automaton,
    "slots": _slots,
}
__all__ = ["Runs", "contradiction", "divergence", "irrational_is_true", "rests_on_solvers"]
