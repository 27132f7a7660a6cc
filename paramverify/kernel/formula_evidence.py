"""Checks evidence about formulas of dpCTL*: a model, formulas, and what is said of each of them.

Nothing of a proof stands in such a document but polynomials whose signs are needed, with their proofs: the
probabilities are computed again. A formula that `holds` is shown to be true in every initial state at every
point of the domain. One that is `violated` is false in an initial state at a point of the domain, of a family
the member of that number. Nothing is shown of what is `unknown`.

A formula is true at every point of an empty domain. No interval of a parameter is empty. Constraints may
contradict each other: `points` or a violation show that the domain has a point, or a line says that this is
not shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Any

from .chain_models import read_chain
from .claim_statements import NO_POINT
from .formula_truths import Truths, instance, mentions
from .ledger import Ask, Evidence, KernelReport, Statement
from .quotient_values import QuotientValues, written
from .strict_reading import Misformed, Rejected, plain, shown

# --- formulas of dpCTL* as text, from the tree that is checked --------------------------------------


def stated(entry: Any) -> str:
    """Returns what a formula of evidence says, and of a family for which numbers."""
    family = entry.get("family")
    if family is None:
        return words(entry["formula"])
    last = "" if family["last"] is None else family["last"]
    return f"forall k in {family['first']}..{last}: {words(entry['formula'])}"


def words(formula: Any) -> str:
    """Returns a formula with all brackets; the number of a family is `k`."""
    kind = formula[0]
    if kind == "label":
        name: str = formula[1].replace('"', "'")
        return f'"{name}"'
    if kind in ("not", "next"):
        return f"{'!' if kind == 'not' else 'X '}{words(formula[1])}"
    if kind in ("and", "or"):
        if not formula[1]:
            return "true" if kind == "and" else "false"
        return f"({(' & ' if kind == 'and' else ' | ').join(map(words, formula[1]))})"
    if kind in ("until", "release"):
        _, left, right, low, high = formula
        if left == ["true" if kind == "until" else "false"]:
            return f"{'F' if kind == 'until' else 'G'}{_steps(low, high)} {words(right)}"
        return f"({words(left)} {'U' if kind == 'until' else 'R'}{_steps(low, high)} {words(right)})"
    if kind == "P":
        return f"P{formula[1]}{written(formula[2])} [ {words(formula[3])} ]"
    if kind == "D":
        ratio = "0" if formula[1] == "1" else f"ln({written(formula[1])})"
        return f"D{{{ratio}, {written(formula[2])}}}[ {words(formula[3])} ]"
    return str(kind)


def _steps(low: Any, high: Any) -> str:
    if high is None:
        return "" if low == 0 else f">={_count(low)}"
    if low == high:
        return f"={_count(low)}"
    return f"<={_count(high)}" if low == 0 else f"[{_count(low)}, {_count(high)}]"


def _count(number: Any) -> str:
    if not isinstance(number, dict):
        return str(number)
    more = number["more"]
    return f"k{more:+}" if more else "k"


# --- checks evidence about formulas of dpCTL*: a model, formulas, and what is said of each of them ---

WORDS = {"holds": "true", "violated": "false", "unknown": "undecided"}
NOT_COMPARED = ("the model, the neighbours, the domain and the formulas with the case",)


def show(about: Evidence, statement: Statement) -> KernelReport:
    """Checks what is said of each formula; names and texts are shown where they are compared with a case.

    Raises:
        Rejected: one is not shown to be true, or to be false.
    """
    entries = statement["formulas"]
    if not entries or len({entry["name"] for entry in entries}) < len(entries):
        raise Misformed("formulas must have different names", "formulas")
    written = about.untied(statement["domain"])
    ask, ledger = about.comparisons(statement["domain"])
    lines = []
    for place, entry in enumerate(entries):
        try:
            _check_keys(entry)
            if entry["status"] == "holds":
                check_true(about, statement, entry, ask)
            elif entry["status"] == "violated":
                check_false(about, statement, entry)
        except Misformed as error:
            raise Misformed(error.reason, "formulas", place, *error.path) from None
        name, told = (
            (entry["name"], entry["text"]) if about.named else (f"formula {place + 1}", stated(entry))
        )
        lines.append(f"{plain(name)}: {WORDS[entry['status']]}: {plain(told)}")
    count = Counter(entry["status"] for entry in entries)
    found = status_of(count)
    if about.document["status"] != found:
        raise Misformed(f"the formulas together are {found!r}", "status")
    solvers = sorted(ledger.solvers)
    trusted = count["holds"] if solvers else 0
    lines += [f"trusted to {shown(name)}" for name in solvers]
    if found != "violated" and written["constraints"] and not about.document.get("points"):
        lines.append(NO_POINT)
    return KernelReport(
        True,
        tuple(lines),
        proved=count["holds"] + count["violated"] - trusted,
        trusted=trusted,
        open=count["unknown"],
        status=found,
        solvers=tuple(solvers),
        unit="formula",
        refuted=count["violated"],
    )


def status_of(statuses: Container[str]) -> str:
    """Returns the word for several formulas: the first of violated, unknown and holds that one has."""
    return next(word for word in ("violated", "unknown", "holds") if word in statuses)


def _check_keys(entry: Any) -> None:
    """Checks that what is said of a formula goes with its being a family or not."""
    status, family = entry["status"], entry.get("family")
    if family is None and (mentions(entry["formula"]) or {"until", "argument", "index"} & entry.keys()):
        raise Misformed("a number of a family stands where there is none")
    if status == "unknown":
        return
    endless = family is not None and family["last"] is None
    if family is not None and family["last"] is not None and family["last"] < family["first"]:
        raise Misformed("a family without a member", "family")
    argued = "argument" in entry
    if (status == "holds" and endless != argued) or ("until" in entry) != argued:
        raise Misformed("an argument is required for a family without a last member, and only then")
    if status == "violated" and (family is not None) != ("index" in entry):
        raise Misformed("the number of the member is missing")
    if ("actions" in entry) != ("repeated" in entry):
        raise Misformed("actions come with the number of those that are repeated", "actions")


def check_true(about: Evidence, statement: Statement, entry: Any, ask: Ask) -> None:
    """Checks that a formula is true at every point of the domain.

    Raises:
        Rejected: that is not shown.
    """
    values = QuotientValues.on(about.domain(statement["domain"]), ask)
    truths = Truths(read_chain(statement["model"], values), values)
    family = entry.get("family")
    if family is None:
        found = truths.everywhere(entry["formula"])
    elif family["last"] is not None:
        found = truths.members(entry["formula"], family["first"], family["last"])
    else:
        until = entry["until"]
        if until < family["first"]:
            raise Misformed("before the first member", "until")
        found = truths.members(entry["formula"], family["first"], until)
        if found and not truths.argued(entry["formula"], family["first"], until, entry["argument"]):
            raise Rejected(f"{plain(entry['name'])}: the argument for larger members does not hold")
    if found is not True:
        raise Rejected(f"{plain(entry['name'])}: it is not shown that the formula is true")


def check_false(about: Evidence, statement: Statement, entry: Any) -> None:
    """Checks that a formula is false at its point.

    Raises:
        Rejected: that is not shown, or the point is not in the domain.
    """
    values = QuotientValues.at(about.domain(statement["domain"]), entry["parameters"])
    chain = read_chain(statement["model"], values)
    word: tuple[int, ...] = ()
    if entry.get("actions"):
        if any(action not in chain.actions for action in entry["actions"]):
            raise Misformed("no action of the model", "actions")
        if not 1 <= entry["repeated"] <= len(entry["actions"]):
            raise Misformed("from 1 to the number of actions are repeated", "repeated")
        word = tuple(chain.actions.index(action) for action in entry["actions"])
    formula, family = entry["formula"], entry.get("family")
    if family is not None:
        index = entry["index"]
        if index < family["first"] or (family["last"] is not None and index > family["last"]):
            raise Misformed("no member of the family", "index")
        formula = instance(formula, index)
    truths = Truths(chain, values, word, entry.get("repeated", 0))
    if entry["state"] not in chain.initial:
        raise Misformed("not an initial state", "state")
    if truths.at(formula, entry["state"]) is not False:
        raise Rejected(f"{plain(entry['name'])}: it is not shown that the formula is false there")
