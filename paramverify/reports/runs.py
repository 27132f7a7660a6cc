"""The run of a program behind a witness, as lines and as JSON."""

from __future__ import annotations

from typing import Any

from paramverify import printable
from paramverify.models.programs.explaining import Step
from paramverify.privacy.runs import LeftOut, ToldRun
from paramverify.reports import documents, text

MAX_STEPS = 40  # that are shown as lines
WIDEST = 48  # characters of the text of a line, before the words stand nearer


def lines(found: ToldRun | LeftOut | None) -> list[str]:
    """Returns the lines that tell a run: a sentence, each step, and what it is under the other secret."""
    if found is None:
        return []
    if isinstance(found, LeftOut):
        return [f"The run that produces this output is left out: {found.reason}."]
    left, right = (f"'{printable.name(secret)}'" for secret in (found.left, found.right))
    given = "" if found.given == found.left else f", with the input {printable.name(found.given)}"
    if _is_all(found, 0):
        told = [f"This run produces it under {left}{given}:"]
    else:
        likely = f"with probability {_probability(found, 0)}"
        told = [f"The most likely of the {found.runs:,} runs that produce it under {left}{given}, {likely}:"]
    told += [f"  {line}" for line in _steps(found)]
    if found.parts_at is not None:
        return [*told, *_parting(found, found.steps[found.parts_at], right)]
    if found.probabilities[1].sign() > 0 and _is_all(found, 1):
        return [*told, f"Under {right} the same run produces it, with probability {_probability(found, 1)}."]
    return [*told, f"Under {right} the same run has probability {_probability(found, 1)}."]


def _parting(found: ToldRun, step: Step, right: str) -> list[str]:
    """Returns the lines that tell where the run is impossible under the other secret, and what is not."""
    line = f"line {step.line}, `{step.text}`"
    is_possible = found.outputs[1].sign() > 0  # by other runs
    instead = f"the same draws give output {printable.name(found.instead)}" if found.instead else ""
    if found.other == found.right:
        others = "other runs produce this output" if is_possible else ""
        there = "; ".join(filter(None, [instead, others]))
        told = [f"Under {right} this run is impossible: the two part at {line}."]
        return [*told, f"There {there}."] if there else told
    others = "; other runs produce the output there" if is_possible else ""
    given = f"The input {printable.name(found.other)} parts from it at {line}"
    return [f"No input of {right} takes this run{others}.", f"{given}{f': {instead}' if instead else ''}."]


def _is_all(found: ToldRun, side: int) -> bool:
    """Tells whether a secret has the output by this run only."""
    return (found.outputs[side] - found.probabilities[side]).sign() == 0


def _probability(found: ToldRun, side: int) -> str:
    return text.equals(found.probabilities[side]).removeprefix("= ")


def _steps(found: ToldRun) -> list[str]:
    shown = found.steps[:MAX_STEPS]
    numbers = max(len(str(step.line)) for step in shown) if shown else 0
    width = min(WIDEST, max((len(step.text) for step in shown), default=0))
    told = []
    for k, step in enumerate(shown):
        words = ", ".join(step.words)
        if step.taken is not None:
            words = f"{str(step.taken).lower()}{': ' * bool(words)}{words}"
        part = "   <- the runs part here" if k == found.parts_at else ""
        told.append(f"line {step.line:>{numbers}}  {step.text:<{width}}  {words}{part}".rstrip())
    more = len(found.steps) - len(shown)
    return told + ([f"and {more:,} more steps"] if more else [])


def document(found: ToldRun | LeftOut | None) -> dict[str, Any]:
    """Returns the same as JSON data, with all steps: nothing where the case is no program."""
    if found is None:
        return {}
    if isinstance(found, LeftOut):
        return {"run": {"left_out": found.reason}}
    told: dict[str, Any] = {
        "input": found.given,
        "probabilities": [documents.real(p) for p in found.probabilities],
        "runs": found.runs,
        "steps": [_step(step) for step in found.steps],
    }
    if found.parts_at is not None:
        step = found.steps[found.parts_at]
        told["parts_at"] = {"line": step.line, "step": found.parts_at, "input": found.other}
        told["parts_at"] |= {"output": found.instead} if found.instead else {}
    return {"run": told}


def _step(step: Step) -> dict[str, Any]:
    taken = {} if step.taken is None else {"taken": step.taken}
    return {"line": step.line, "text": step.text, "what": list(step.words)} | taken
