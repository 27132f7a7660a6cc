"""A case with a delta tested by sampling: which bounds are tested, and exact evaluation of what is found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from paramverify.algebra.polynomials import RationalFunction
from paramverify.encodings.excesses import excesses
from paramverify.errors import InputError
from paramverify.evidence.sets import bounds_at, given_set
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.models.evaluation import Numbers
from paramverify.models.measures import Approximate
from paramverify.models.model import Model
from paramverify.privacy.approximate import find_set
from paramverify.statistics.detection import SELECT, Settings
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.guidance import towards
from paramverify.statistics.runs import Runs
from paramverify.statistics.samplers import Output
from paramverify.statistics.set_detection import (
    BudgetPoint,
    CandidateSet,
    SetDetection,
    best_of,
    detect_sets,
)


@dataclass(frozen=True, eq=False)
class CertifiedSet:
    """A candidate and the exact probabilities of its outputs; a violation if `witness.exceeds`."""

    candidate: CandidateSet
    witness: ExactSetWitness


def with_delta(model: Model, delta: Fraction | None) -> Model:
    """Returns the model with another delta, which a test is about.

    Raises:
        InputError: the model compares no sets of outputs.
    """
    if delta is None:
        return model
    if model.hmm.chosen:
        reason = "an adversary chooses answers here, so sets of outputs are not compared: leave it out"
        raise InputError(reason, key="--delta")
    measure = model.measure
    if measure.together:
        reason = f"sets of outputs are compared with an epsilon, and this case has {measure.key}"
        raise InputError(f"{reason}: leave it out", key="--delta")
    ratio = measure.ratio if isinstance(measure, Approximate) else measure.at(None).ratio
    if not delta and not measure.by_sets:
        return model
    given = RationalFunction.of(model.domain.ring.number(delta))
    return replace(model, measure=Approximate(ratio, given))


def tested_sets(
    runs: Runs,
    model: Model,
    listed: Sequence[Experiment],
    epsilons: Sequence[float],
    settings: Settings,
    fixed: Mapping[str, Fraction],
) -> SetDetection:
    """Tests the bounds of a model, or its delta with other values of ε, on experiments and near them.

    With parameters that are not `fixed`, experiments nearer and nearer to the worst point are added.

    Raises:
        InputError: no output came often enough to be tested.
    """
    wanted: list[float | None] = [*sorted(set(epsilons))] or [None]
    free = any(not model.domain.box[n].is_point for n in model.domain.ring.parameters if n not in fixed)

    def score(experiment: Experiment) -> float | None:
        best = best_of(runs, experiment, _bounds(model, experiment, wanted[-1]), settings)
        return best.lower if best else None

    all_of_them = towards(model, listed, score, fixed) if free else list(listed)
    asked = [[_bounds(model, experiment, epsilon) for experiment in all_of_them] for epsilon in wanted]
    return detect_sets(runs, all_of_them, asked, settings)


def _bounds(model: Model, experiment: Experiment, epsilon: float | None) -> BudgetPoint:
    ratio, delta = bounds_at(model, Numbers(model, experiment.point))
    if epsilon is not None:
        return BudgetPoint(math.exp(epsilon), float(delta))
    return BudgetPoint(float(ratio), float(delta), model.measure.key)


def certify_sets(runs: Runs, model: Model, found: SetDetection) -> tuple[list[CertifiedSet], int]:
    """Returns the exact evaluations of the sets that were seen beyond their bounds.

    The number is that of the sets of which the model has no output.
    """
    known, unknown = [], 0
    for candidate in dict.fromkeys(row.candidate for row in found.asked):
        if candidate.beyond <= candidate.bounds.delta:
            continue
        both = runs.both(SELECT, candidate.experiment, candidate.runs)
        chosen = _known(model, {o for counts in both for o in counts if o in candidate.chosen})
        if chosen:
            point = candidate.experiment.point
            known.append(CertifiedSet(candidate, given_set(model, *candidate.secrets, chosen, point)))
        else:
            unknown += 1
    return known, unknown


def _known(model: Model, outputs: Iterable[Output]) -> list[Output]:
    labels = set(model.hmm.observations)
    return sorted(output for output in outputs if labels.issuperset(output))


def simplest_set(model: Model, found: CertifiedSet) -> ExactSetWitness:
    """Returns the worst set of a violated direction at the simplest point near the one that was sampled."""
    witness = found.witness
    wanted = (witness.left, witness.right, witness.length)
    claim = next((c for c in excesses(model) if wanted in c.origins), None)
    if claim is None or not model.domain.ring.parameters:
        return witness
    return find_set(model, replace(claim, origins=(wanted,)), witness.parameters)
