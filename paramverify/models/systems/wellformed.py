"""The conditions on a system, each with a named counterexample where it fails ([T]).

Transition-deterministic: a state has at most one distribution for an action (checked by `rows_of`).
Output-deterministic: where an output is enabled, nothing else is. Quasi-input-enabled: where an input is
enabled, all of them are, unless the environment is assumed not to give it there.
"""

from __future__ import annotations

from paramverify.errors import ModelError
from paramverify.models.context import Checks
from paramverify.models.systems.system import System
from paramverify.models.systems.weights import as_function, text


def check(system: System, checks: Checks) -> None:
    """Checks output determinism, quasi-input-enabledness, and that every step is a distribution.

    What is not decided at once about parametric probabilities becomes an obligation of `checks`.

    Raises:
        ModelError: a condition fails; the message names the state and the actions.
    """
    names = system.actions.names
    inputs = system.actions.inputs
    seen: set[tuple[str, ...]] = set()
    for state, row in enumerate(system.rows):
        where = f"state {system.states[state]!r}"
        outputs = [a for a in row if a not in inputs]
        if outputs and len(row) > 1:
            other = next(a for a in row if a != outputs[0])
            raise ModelError(
                f"{where} is not output-deterministic: it enables {names[outputs[0]]!r} and {names[other]!r}"
            )
        if row and not outputs and len(row) < len(inputs) and not system.partial:
            missing = next(a for a in inputs if a not in row)
            given = names[next(iter(row))]
            raise ModelError(
                f"{where} is not quasi-input-enabled: it accepts {given!r}, but not {names[missing]!r}"
            )
        for action, distribution in row.items():
            what = f"{where}, action {names[action]!r}"
            if system.weights.numeric:
                if any(w < 0 for _, w in distribution):
                    raise ModelError(f"{what}: a probability is negative")
                total = sum((w for _, w in distribution), system.weights.zero)
                if total != 1:
                    raise ModelError(f"{what}: the probabilities sum to {total}, not to 1")
                continue
            key = tuple(text(w) for _, w in distribution)
            if key not in seen:
                seen.add(key)
                table = {
                    f"{system.states[s]} ({k})": as_function(w, system.weights.ring)
                    for k, (s, w) in enumerate(distribution)
                }
                checks.distribution(table, what)
