"""What was understood of an interactive system, or of a chain with formulas, before anything is decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from paramverify import printable
from paramverify.algebra.polynomials import RationalFunction, variables
from paramverify.checker.strict import counted
from paramverify.interactive.cases import InteractiveCase
from paramverify.logic.cases import LogicCase
from paramverify.logic.syntax import Private, Probability, parts
from paramverify.models.systems.weights import as_function
from paramverify.privacy.idle import unused
from paramverify.reports.understood import LISTED, Understood, notes, parameters


def system_understood(case: InteractiveCase, data: Mapping[str, Any]) -> Understood:
    """Returns what was understood of an interactive system; `data` is its file."""
    found, system = Understood(case.title), case.system
    parameters(found, case.domain, data)
    question = "can inputs that differ in one data point be told apart by what is observed?"
    found.add("question", "interactive", question)
    kinds = Counter(system.kind(state).value for state in range(len(system.states)))
    told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    found.add(
        "states", {"count": len(system.states), **kinds}, f"{counted(len(system.states), 'state')}: {told}"
    )
    actions = system.actions
    for name, names in (
        ("data points", actions.data),
        ("queries", actions.queries),
        ("responses", actions.responses),
    ):
        more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
        found.add(name, list(names), f"{', '.join(map(printable.name, names[:LISTED])) or 'none'}{more}")
    environment = "gives only inputs that a state accepts" if system.partial else "may give every input"
    found.add("environment", "accepted" if system.partial else "any", f"it {environment}")
    if case.bounded:
        found.add("budget", case.budget, case.budget)
    if case.given:
        found.add("unwinding", True, "the case gives an unwinding family, which is checked first")
    if case.subroutines:
        replaced = [s.state for s in case.subroutines]
        found.add("subroutines", replaced, ", ".join(map(printable.name, replaced)))
    messages = list(dict.fromkeys(obligation.message for obligation in case.checks.obligations))
    found.add("obligations", messages, f"{len(messages)} to be proved first" if messages else "none")
    weights = [w for row in system.rows for step in row.values() for _, w in step]
    functions = [as_function(w, case.domain.ring) for w in {id(w): w for w in weights}.values()]
    functions += [case.ratio, *([case.step] if case.step else [])]
    found.warnings += unused(case.domain, _names(functions), data)
    notes(found, case.checks.notes)
    return found


def logic_understood(case: LogicCase, data: Mapping[str, Any]) -> Understood:
    """Returns what was understood of a chain or decision process and its formulas; `data` is its file."""
    found, chain = Understood(case.title), case.chain
    parameters(found, case.domain, data)
    found.add("question", "logic", "are the formulas true in every initial state?")
    what = "Markov decision process" if chain.is_decision_process else "Markov chain"
    model = {"kind": what, "states": len(chain.states), "initial": len(chain.initial)}
    told = (
        f"a {what} with {counted(len(chain.states), 'state')}, {counted(len(chain.initial), 'initial state')}"
    )
    if chain.unscheduled:
        told += f"; formulas with P only: {chain.unscheduled}"
    elif chain.is_decision_process:
        model["actions"] = len(chain.actions)
        told += f" and {counted(len(chain.actions), 'action')}"
    found.add("model", model, told)
    labels = {name: len(states) for name, states in chain.labels.items()}
    listed = [f"{printable.name(name)} in {counted(count, 'state')}" for name, count in labels.items()]
    found.add("labels", labels, ", ".join(listed) or "none")
    pairs = case.relation.size // 2
    found.add("neighbours", {"pairs": pairs}, f"{counted(pairs, 'pair')} of different states, both ways")
    formulas = {name: formula.text for name, formula in case.properties.items()}
    words = [f"{printable.name(name)}: {text}" for name, text in formulas.items()]
    found.add("formulas", formulas, counted(len(formulas), "formula"), *words)
    messages = list(dict.fromkeys(obligation.message for obligation in chain.obligations))
    found.add("obligations", messages, f"{len(messages)} to be proved first" if messages else "none")
    used = {name for states in chain.rows for row in states for _, p in row for name in _names([p])}
    named = " ".join(formulas.values())
    warnings = unused(case.domain, used, data)
    found.warnings += [
        w for w in warnings if w.split()[2] not in named.replace("(", " ").replace(")", " ").split()
    ]
    for name, count in labels.items():
        if not count:
            found.warnings.append(f"the label {printable.name(name)} is in no state")
    asked = [part for formula in case.properties.values() for part in parts(formula.formula)]
    if not pairs and any(isinstance(part, Private) for part in asked):
        found.warnings.append("a formula is about neighbours, and no state has another one as its neighbour")
    found.facts["operators"] = sum(isinstance(part, (Private, Probability)) for part in asked)
    return found


def _names(values: list[Any]) -> set[str]:
    functions = [value for value in values if isinstance(value, RationalFunction)]
    return {name for f in functions for part in (f.numerator, f.denominator) for name in variables(part)}
