"""A case about a divergence tested by sampling: which bounds are tested, and exact evaluation of findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from paramverify.claims import AllOutputs
from paramverify.errors import InputError
from paramverify.evidence.losses import LossWitness
from paramverify.evidence.moments import MomentWitness
from paramverify.models.divergences import LossBound, Renyi
from paramverify.models.evaluation import Numbers
from paramverify.models.model import Model
from paramverify.privacy.losses import far_apart, is_within
from paramverify.statistics.detection import Settings
from paramverify.statistics.divergence_detection import (
    CandidatePair,
    DivergenceDetection,
    PairSearch,
    detect_divergence,
)
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.guidance import towards
from paramverify.statistics.runs import Runs

CERTIFIED = 10  # candidates that are evaluated exactly


@dataclass(frozen=True, eq=False)
class CertifiedPair:
    """A candidate and its exact divergence: a violation if `witness.exceeds`, spurious if `within`."""

    candidate: CandidatePair
    witness: MomentWitness | LossWitness
    within: bool


def tested_divergence(
    runs: Runs,
    model: Model,
    listed: Sequence[Experiment],
    epsilons: Sequence[float],
    settings: Settings,
    fixed: Mapping[str, Fraction],
) -> DivergenceDetection:
    """Tests the bound of a model, or other values of ε of its Rényi divergence, on experiments and near them.

    With parameters that are not `fixed`, experiments nearer and nearer to the worst point are added.

    Raises:
        InputError: no output came often enough to be tested, or a divergence that has no ε.
    """
    measure = model.measure
    assert isinstance(measure, Renyi | LossBound)
    divergence = measure.on_masses
    if epsilons and divergence.order is None:
        reason = f"the bound of this case is {divergence.key}, and no epsilon: change it in the case"
        raise InputError(reason, key="--epsilon")
    search = PairSearch(runs, divergence, settings)

    def bound(experiment: Experiment) -> float:
        if epsilons:
            return max(epsilons)
        return measure.limit(Numbers(model, experiment.point).function)

    def score(experiment: Experiment) -> tuple[float, float] | None:
        return max((pair.score for pair in search.single(experiment, bound(experiment))), default=None)

    free = any(not model.domain.box[n].is_point for n in model.domain.ring.parameters if n not in fixed)
    all_of_them = towards(model, listed, score, fixed) if free else list(listed)
    wanted: list[float | None] = [*sorted(set(epsilons))] or [None]
    asked = [[bound(e) if epsilon is None else epsilon for e in all_of_them] for epsilon in wanted]
    return detect_divergence(search, all_of_them, asked)


def certify_pairs(model: Model, found: DivergenceDetection) -> list[CertifiedPair]:
    """Returns the exact divergences of the secrets and priors that seem to be beyond the bound of a model."""
    certified = []
    beyond = [pair for pair in found.selected if pair.seen > pair.bound or pair.endless]
    for candidate in beyond[:CERTIFIED]:
        origin = AllOutputs(*candidate.secrets, length=candidate.experiment.length)
        point = candidate.experiment.point
        witness = far_apart(model, origin, point)
        certified.append(CertifiedPair(candidate, witness, is_within(model, witness, point)))
    return certified


def worst_pair(certified: Sequence[CertifiedPair]) -> CertifiedPair:
    """Returns the violation with the largest divergence, or another one if there is none."""
    return max(certified, key=lambda entry: (entry.witness.exceeds, entry.witness.nearness))
