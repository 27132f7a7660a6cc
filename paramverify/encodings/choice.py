"""Which encoding a model of finite lengths gets: all sequences one by one, or the rays of a cone."""

from __future__ import annotations

from collections.abc import Iterator

from paramverify.claims import Claim
from paramverify.encodings import cone, sequences
from paramverify.encodings.sequences import Candidate
from paramverify.models.model import Model

FEW = 50_000  # sequences that are listed one by one


def is_long(model: Model) -> bool:
    """Whether the model has too many sequences to list, and numbers as transitions, so that cones apply."""
    longest = max(model.lengths, default=1)
    many = longest > 40 or len(model.hmm.observations) ** longest > FEW
    return many and cone.has_numbers(model.hmm)


def claims_of(model: Model) -> tuple[Claim, ...]:
    """Returns claims that all hold iff the model is private.

    Raises:
        LimitError: too many vectors or rays.
    """
    return cone.cone_claims(model) if is_long(model) else sequences.sequence_claims(model)


def candidates_of(model: Model) -> Iterator[Candidate]:
    """Yields pairs of probabilities, the worst ones among them; see `claims_of`."""
    return cone.candidates(model) if is_long(model) else sequences.candidates(model)
