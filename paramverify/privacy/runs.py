"""The run of a program that a witness of a violation is about: the lines that lead to its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType

from paramverify.algebra.polynomials import RationalFunction
from paramverify.algebra.reals import Real
from paramverify.errors import InputError, LimitError
from paramverify.evidence.divergence_witnesses import directed
from paramverify.evidence.witness import AnyWitness
from paramverify.evidence.witnesses import ExactWitness
from paramverify.models.mechanisms import Input, show_input
from paramverify.models.mechanisms.program import ProgramMechanism, plain_input
from paramverify.models.model import Model, of_privacy
from paramverify.models.model_evaluation import Values
from paramverify.models.programs.program_running import ControlEdge
from paramverify.models.programs.run_traces import Explainer, RunPath, Step
from paramverify.privacy.cases import PrivacyCase

MAX_INPUTS = 20  # of one secret


@dataclass(frozen=True, eq=False)
class ToldRun:
    """The most likely run that produces the output of a witness under its first secret.

    `probabilities` are those of this run with this output, under both secrets, at the point of the witness,
    exact; `outputs` are those of the output by all runs. `steps` are told for `given`, an input of the first
    secret. Where the run is impossible under the second secret, `parts_at` is the step at which it is for
    `other`, an input of that secret, and `instead` is the output that the same draws give there, "" where it
    is not one. `runs` is how many runs produce the output under the first secret.
    """

    left: str
    right: str
    given: str
    steps: tuple[Step, ...]
    probabilities: tuple[Real, Real]
    outputs: tuple[Real, Real]
    runs: int
    parts_at: int | None = None
    other: str = ""
    instead: str = ""


@dataclass(frozen=True)
class LeftOut:
    """There is a run, but it is not told."""

    reason: str


@dataclass(frozen=True)
class FunctionStep:
    """A line of a Python function that a run takes: its file and text, and what happens there, in words."""

    file: str
    line: int
    text: str
    words: str


@dataclass(frozen=True)
class FunctionRun:
    """A run of the Python function that a program was made of, with the output of a witness.

    `steps` are its draws and comparisons under `left`, and the statement that ends it. `parts_at` is the
    first step that the function does not have under `right` after the same draws; None if it has all of them.
    `instead` says in words what there is under `right`.
    """

    function: str
    left: str
    right: str
    steps: tuple[FunctionStep, ...]
    parts_at: int | None
    instead: str


AnyRun = ToldRun | LeftOut | FunctionRun
Telling = Callable[[ExactWitness], FunctionRun | None]

_functions: ContextVar[Mapping[str, Telling]] = ContextVar("functions", default=MappingProxyType({}))


@contextmanager
def made_of_function(program: str, telling: Telling) -> Iterator[None]:
    """Lets `told_run` tell runs of the function that a program was made of, and not of the program."""
    token = _functions.set({**_functions.get(), program.strip(): telling})
    try:
        yield
    finally:
        _functions.reset(token)


def told_run(case: PrivacyCase, witness: AnyWitness) -> AnyRun | None:
    """Returns the run of a program behind a witness; None where no program produces its output."""
    mechanism = case.mechanism
    if not isinstance(mechanism, ProgramMechanism) or not isinstance(witness, ExactWitness):
        return None
    telling = _functions.get().get(mechanism.program.text.strip())
    if telling is not None and case.times == 1 and (found := telling(witness)):
        return found
    if len(witness.observations) != 1 or case.times > 1 or witness.probabilities[0].sign() == 0:
        return None
    model = of_privacy(case.model, "a run", tied=True, densities=True)
    values = Values(model, witness.parameters)
    try:
        left, right = (_inputs(model, witness, side) for side in (0, 1))
        return _told(mechanism.explain(witness.observations[0]), values, left, right, witness)
    except (LimitError, InputError) as error:
        return LeftOut(str(error).split("\n")[0])


def control_graph(case: PrivacyCase) -> tuple[str, list[ControlEdge]] | None:
    """Returns the program of a case and the steps between its control states; None where it has none."""
    mechanism, model = case.mechanism, case.model
    if not isinstance(mechanism, ProgramMechanism):
        return None
    return mechanism.program.text, mechanism.control_graph(model.inputs)


def _told(
    explainer: Explainer,
    values: Values,
    left: Mapping[Input, RationalFunction],
    right: Mapping[Input, RationalFunction],
    witness: ExactWitness,
) -> ToldRun | LeftOut:
    zero = RationalFunction.of(values.model.domain.ring.number(0))
    paths: dict[object, list[tuple[Input, RationalFunction, RunPath]]] = {}
    for given, weight in left.items():
        for path in explainer.paths(plain_input(given)):
            paths.setdefault(path.keys, []).append((given, weight * path.probability, path))
    best: tuple[Real, Input, RunPath] | None = None
    for found in paths.values():
        total = values.function(sum((share for _, share, _ in found), start=zero))
        if best is None or (total - best[0]).sign() > 0:
            given, _, path = _largest(values, found)
            best = total, given, path
    if best is None:
        return LeftOut("no run produces this output at this point")
    under = zero
    parting: tuple[Input, int] | None = None  # the input that takes most steps of the run, and how many
    for given, weight in right.items():
        share, step = explainer.along(best[2], plain_input(given))
        if share is not None:
            under = under + weight * share
        elif parting is None or step > parting[1]:
            parting = given, step
    under_other = values.function(under)
    if under_other.sign() > 0:
        parting = None
    return ToldRun(
        witness.left,
        witness.right,
        given=show_input(best[1]),
        steps=best[2].steps,
        probabilities=(best[0], under_other),
        outputs=witness.probabilities,
        runs=len(paths),
        parts_at=min(parting[1], len(best[2].steps) - 1) if parting else None,
        other=show_input(parting[0]) if parting else "",
        instead=explainer.output_along(best[2], plain_input(parting[0])) if parting else "",
    )


def _largest(
    values: Values, found: list[tuple[Input, RationalFunction, RunPath]]
) -> tuple[Input, RationalFunction, RunPath]:
    best = found[0]
    for other in found[1:]:
        if (values.function(other[1]) - values.function(best[1])).sign() > 0:
            best = other
    return best


def _inputs(model: Model, witness: ExactWitness, side: int) -> Mapping[Input, RationalFunction]:
    """Returns the inputs of the program under a secret, with their probabilities."""
    secret = (witness.left, witness.right)[side]
    start = directed(model, witness.left, witness.right)[side]
    found: dict[Input, RationalFunction] = {}
    values = Values(model, witness.parameters)
    for state, weight in start.weights.items():
        given = model.hmm.inputs[state]
        share = RationalFunction.of(weight, start.mass)
        if values.function(share).sign() > 0:
            found[given] = share
    if len(found) > MAX_INPUTS:
        raise LimitError(f"the secret {secret} has more than {MAX_INPUTS} inputs")
    return found
