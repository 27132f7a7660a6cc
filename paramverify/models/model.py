"""The model of a privacy question: who is compared with whom, through what, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

from paramverify.algebra.domains import Domain
from paramverify.models.context import Obligation
from paramverify.models.hmm import HMM
from paramverify.models.measures import Measure
from paramverify.models.neighbourhoods import Neighbourhood
from paramverify.models.priors import SecretPair

SIDE_CONDITION = "output sequences that are impossible under one of the two secrets are ignored"
NOTHING_COMPARED = "no output sequence is possible under both secrets of a pair, so nothing is compared"


@dataclass(frozen=True, eq=False)
class Model:
    """Pufferfish privacy of a hidden Markov model ([F] Definition 2), for all points of a domain.

    Private means: for every θ in the domain, every secret pair and both of its directions, the measure holds
    between the distributions of the observation sequences of each length wherever both secrets have positive
    probability.

    No lengths stand for every length. `stands_for` are neighbours that are too many to form: the one pair of
    the model has the largest ratio of them, for every output sequence, and is private iff all are.

    All this is so only if the `obligations` are proved. `maybe_empty` is a claim that must be refuted: it
    holds if the domain has no point, which is a mistake and not privacy; so are the claims of
    `maybe_impossible`, each of which holds if a secret has probability zero at every point of the domain.

    Where a case asks for less than privacy, the model is about that only; `whole` is the model of all
    sequences then, and `side_condition` says in words what is left out (`models.one_sided`).
    """

    domain: Domain
    hmm: HMM
    pairs: tuple[SecretPair, ...]
    measure: Measure
    lengths: tuple[int, ...] = (1,)
    obligations: tuple[Obligation, ...] = ()
    notes: tuple[str, ...] = ()
    maybe_empty: Obligation | None = None
    stands_for: Neighbourhood | None = None
    maybe_impossible: tuple[Obligation, ...] = ()
    whole: Model | None = None

    @property
    def side_condition(self) -> str:
        """What is left out, in words; "" for nothing."""
        return SIDE_CONDITION if self.whole else ""

    @property
    def nothing_compared(self) -> str:
        """That what is left out is everything, in words; "" where some sequence of the lengths is left."""
        if not self.whole:
            return ""
        reached = {s for p in self.pairs for start in (p.pi, p.tau) for s, w in start.weights.items() if w}
        for _ in range(min(self.lengths, default=1)):
            reached = {step.successor for state in reached for step in self.hmm.steps[state]}
            if not reached:
                return NOTHING_COMPARED
        return ""
