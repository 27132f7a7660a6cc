"""Markov chains and decision processes from PRISM files, through Storm (the extra `storm`)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from flint import fmpq

from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import ModelError, UnsupportedError, located
from paramverify.models.chains.building import Built, Request
from paramverify.models.chains.chain import ANY, Chain, Row, Value, is_zero, uniform
from paramverify.models.chains.flat import FlatRows, Names, States
from paramverify.models.chains.tables import Choices, assemble
from paramverify.models.context import Checks

INSTALL = "pip install 'paramverify[storm]'"

Builder = Callable[[Request], Built]


def available() -> bool:
    """Tells whether Storm's Python package is there."""
    from importlib.util import find_spec

    return find_spec("stormpy") is not None


def read_prism(
    path: Path,
    checks: Checks,
    constants: Mapping[str, str],
    asked: Mapping[str, frozenset[str]],
    build: Builder,
) -> Chain:
    """Reads a PRISM model; its undefined constants are parameters of the domain, or get values.

    `asked` are conditions on states, each with its names: where they need formulas or constants of the file,
    the model says where they hold. Storm makes the model where `build` lets it.

    Raises:
        UnsupportedError: Storm is not installed, or the model is neither a Markov chain nor a decision
            process. InputError: Storm refuses the file, or an undefined constant has neither a value nor a
            domain. LimitError: Storm met a limit.
    """
    if not available():
        raise UnsupportedError(f"PRISM files need Storm: {INSTALL}")
    with located(file=str(path)):
        names = {text: tuple(sorted(found)) for text, found in asked.items()}
        built = build(Request(str(path.resolve()), constants, tuple(checks.ring.parameters), names))
        return with_conditions(_chain(built, checks), built.conditions)


def with_conditions(chain: Chain, labels: Mapping[str, str]) -> Chain:
    """Returns the model in which hidden labels are conditions."""
    left = {name: where for name, where in chain.labels.items() if name not in labels.values()}
    return replace(chain, labels=left, conditions={text: chain.labels[n] for text, n in labels.items()})


def _chain(built: Built, checks: Checks) -> Chain:
    """Returns the model whose rows are distributions at every point of the domain."""
    values: list[Value] = []
    for text in built.texts:
        if built.parametric:
            values.append(checks.function(parse(text.replace("^", "**"))))
        else:
            values.append(fmpq(*map(int, text.split("/"))))
    _check_rows(built, values, checks)
    names = Names(built.size, built.variables, built.truths)
    labels = {label: States(marks) for label, marks in built.labels.items()}
    if built.kind == "mdp":
        return assemble(
            states=names,
            named=[_choices(built, values, state) for state in range(built.size)],
            initial=built.initial,
            labels=labels,
            variables=built.variables,
            checks=checks,
            truths=built.truths,
        )
    if not built.initial:
        raise ModelError("there is no initial state")
    alike = uniform(((tuple(enumerate(values)),),), checks.ring)[0][0]
    rows = FlatRows(built.begins, built.targets, built.weights, tuple(value for _, value in alike))
    return Chain(
        states=names,
        actions=(ANY,),
        rows=rows.mapped(lambda value: value),
        initial=built.initial,
        labels=labels,
        variables=built.variables,
        domain=checks.domain,
        obligations=tuple(checks.obligations),
        truths=built.truths,
    )


def _choices(built: Built, values: Sequence[Value], state: int) -> Choices:
    """Returns the choices of a state of a decision process."""
    found: list[tuple[str, Row]] = []
    for choice in range(built.groups[state], built.groups[state + 1]):
        first, last = built.begins[choice], built.begins[choice + 1]
        entries = ((built.targets[k], values[built.weights[k]]) for k in range(first, last))
        row = tuple((target, value) for target, value in entries if not is_zero(value))
        act = built.acts[choice] if built.acts else -1
        found.append((built.actions[act] if act >= 0 else ANY, row))
    return found


def _check_rows(built: Built, values: Sequence[Value], checks: Checks) -> None:
    """Refuses rows that are no distributions; Storm does not check rows with parameters."""
    one = checks.ring.context.constant
    checked: set[bytes] = set()
    first = 0
    for choice, last in enumerate(built.begins[1:]):
        weights = built.weights[first:last]
        same = weights.tobytes()
        if same not in checked:
            checked.add(same)
            state = bisect_right(built.groups, choice) - 1
            row = [(t, values[w]) for t, w in zip(built.targets[first:last], weights, strict=True)]
            entries = {
                str(t): v if isinstance(v, RationalFunction) else RationalFunction.of(one(v)) for t, v in row
            }
            checks.distribution(entries, f"state {state}")
        first = last
