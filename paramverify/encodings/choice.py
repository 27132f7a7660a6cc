"""Which encoding a model gets: its own inequality, all sequences one by one, or the rays of a cone."""

from __future__ import annotations

from collections.abc import Iterator

from paramverify.claims import Claim
from paramverify.encodings import cone, sequences
from paramverify.encodings.inequalities import inequality_claims
from paramverify.encodings.sequences import Candidate
from paramverify.models.inequality import Inequality
from paramverify.models.kinds import AnyModel
from paramverify.models.model import Model

FEW = 50_000  # sequences that are listed one by one


def is_long(model: Model) -> bool:
    """Whether the model has too many sequences to list, and numbers as transitions, so that cones apply."""
    longest = max(model.lengths, default=1)
    many = longest > 40 or len(model.hmm.observations) ** longest > FEW
    return many and cone.has_numbers(model.hmm)


def claims_of(model: AnyModel) -> tuple[Claim, ...]:
    """Returns claims that all hold iff the model is private, or its inequality holds.

    Raises:
        LimitError: too many vectors or rays.
    """
    if isinstance(model, Inequality):
        return inequality_claims(model)
    return cone.cone_claims(model) if is_long(model) else sequences.sequence_claims(model)


def listed_claims(model: AnyModel) -> tuple[Claim, ...]:
    """Returns the claims like `claims_of`, of a privacy question always one sequence after the other."""
    return inequality_claims(model) if isinstance(model, Inequality) else sequences.sequence_claims(model)


def candidates_of(model: Model) -> Iterator[Candidate]:
    """Yields pairs of probabilities, the worst ones among them; see `claims_of`."""
    return cone.candidates(model) if is_long(model) else sequences.candidates(model)
