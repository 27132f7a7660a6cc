"""Markov chains and decision processes from PRISM files, through Storm (the extra `storm`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from flint import fmpq

from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import InputError, LimitError, UnsupportedError, located
from paramverify.models.chains.chain import ANY, Chain, Row, Value
from paramverify.models.chains.programs import program
from paramverify.models.chains.tables import Choices, assemble
from paramverify.models.context import Checks

INSTALL = "pip install 'paramverify[storm]'"
MAX_STATES = 2_000_000


def available() -> bool:
    """Tells whether Storm's Python package is there."""
    from importlib.util import find_spec

    return find_spec("stormpy") is not None


def silence() -> None:
    """Keeps Storm from writing its complaints to the terminal; its exceptions have them."""
    import stormpy

    stormpy.developer.set_log_level(stormpy.developer.LogLevel.OFF)


def read_prism(
    path: Path,
    checks: Checks,
    constants: Mapping[str, str],
    asked: Mapping[str, frozenset[str]] | None = None,
) -> Chain:
    """Reads a PRISM model; its undefined constants are parameters of the domain, or get values.

    `asked` are conditions on states, each with its names: where they need formulas or constants of the file,
    the model says where they hold.

    Raises:
        UnsupportedError: Storm is not installed, or the model is neither a Markov chain nor a decision
            process. InputError: Storm refuses the file, or an undefined constant has neither a value nor a
            domain.
    """
    if not available():
        raise UnsupportedError(f"PRISM files need Storm: {INSTALL}")
    import stormpy

    silence()
    with located(file=str(path)):
        try:
            read = program(path, constants, checks.ring.parameters, asked or {})
            options = stormpy.BuilderOptions()
            options.set_build_all_labels()
            options.set_build_state_valuations()
            options.set_build_choice_labels()
            parametric = bool(read.content.has_undefined_constants)
            kind = stormpy.RationalFunction if parametric else stormpy.Rational
            model = stormpy.build_model[kind](read.content, options=options)
        except InputError:
            raise
        except (RuntimeError, ValueError, IndexError, OverflowError) as error:
            raise InputError(f"Storm: {error}") from None
        if str(model.model_type) not in ("ModelType.DTMC", "ModelType.MDP"):
            raise UnsupportedError(f"a Markov chain or decision process is needed, not {model.model_type}")
        if model.nr_states > MAX_STATES:
            raise LimitError(f"{model.nr_states:,} states; at most {MAX_STATES:,} are read")
        return with_conditions(_chain(model, checks), read.conditions)


def with_conditions(chain: Chain, labels: Mapping[str, str]) -> Chain:
    """Returns the model in which hidden labels are conditions."""
    left = {name: where for name, where in chain.labels.items() if name not in labels.values()}
    return replace(chain, labels=left, conditions={text: chain.labels[n] for text, n in labels.items()})


def _chain(model: Any, checks: Checks) -> Chain:
    memory: dict[str, Value] = {}

    def value(entry: Any) -> Value:
        text = str(entry.value)
        if text not in memory:
            if model.supports_parameters:
                memory[text] = checks.function(parse(text.replace("^", "**")))
            else:
                memory[text] = fmpq(*map(int, text.split("/")))
        return memory[text]

    process = str(model.model_type) == "ModelType.MDP"
    named: list[Choices] = []
    checked: set[tuple[str, ...]] = set()
    for state in model.states:
        choices: list[tuple[str, Row]] = []
        for action in state.actions:
            labels = sorted(action.labels) if process and model.has_choice_labeling() else []
            row = tuple((int(e.column), value(e)) for e in action.transitions)
            choices.append((labels[0] if labels else ANY, row))
            _check(row, checks, f"state {state.id}", checked)
        named.append(choices)
    return assemble(
        states=tuple(_name(model, s) for s in range(model.nr_states)),
        named=named,
        initial=tuple(int(s) for s in model.initial_states),
        labels=_labels(model),
        variables=_variables(model),
        checks=checks,
        truths=_truths(model),
    )


def _check(row: Row, checks: Checks, what: str, checked: set[tuple[str, ...]]) -> None:
    """Refuses rows that are no distributions; Storm does not check rows with parameters."""
    same = tuple(str(v) for _, v in row)
    if same in checked:
        return
    checked.add(same)
    one = checks.ring.context.constant
    entries = {str(t): v if isinstance(v, RationalFunction) else RationalFunction.of(one(v)) for t, v in row}
    checks.distribution(entries, what)


def _name(model: Any, state: int) -> str:
    return " ".join(str(model.state_valuations.to_string(state)).strip().strip("[]").split())


def _labels(model: Any) -> dict[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for label in model.labeling.get_labels():
        if label not in ("init", "deadlock"):
            found[str(label)] = frozenset(int(s) for s in model.labeling.get_states(label))
    return found


def _variables(model: Any) -> dict[str, tuple[int | None, ...]]:
    """Returns the whole-number and truth-valued state variables, truth values as 1 and 0."""
    table = model.state_valuations
    found: dict[str, tuple[int | None, ...]] = {}
    for variable in table.get_all_variables():
        if variable.has_integer_type():
            found[str(variable.name)] = tuple(map(int, table.get_int64_values(variable)))
        elif variable.has_boolean_type():
            bits = table.get_boolean_values(variable)
            found[str(variable.name)] = tuple(int(bits[k]) for k in range(model.nr_states))
    return found


def _truths(model: Any) -> frozenset[str]:
    return frozenset(str(v.name) for v in model.state_valuations.get_all_variables() if v.has_boolean_type())
