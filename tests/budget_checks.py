"""What must be true of a tight budget, by an oracle that evaluates the case at many rational points."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from budget_tools import Sample
from paramverify.algebra.realroots import RealRoot
from paramverify.cases import load
from paramverify.errors import CaseError, ModelError
from paramverify.evidence.witnesses import Witness
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.synthesis.budget import tight_budget
from paramverify.synthesis.suprema import TightBudget
from paramverify.verification import check_model

NEAR = Fraction(1, 10**6)


def check_sample(sample: Sample, path: Path) -> str:
    """Compares the budget of a random case with the oracle; returns what kind of answer it was."""
    path.write_text(sample.text)
    truth = sample.ratios()
    try:
        model = load(path).model
        assert isinstance(model, Model)
        with Session(Options(seconds=20)) as session:
            doubt, _ = check_model(session, model)
            assert doubt is None, doubt
            found = tight_budget(model, session)
    except (CaseError, ModelError) as error:
        assert "probability" in str(error), str(error)
        assert not truth, f"refused, but a ratio exists: {error}"
        return "refused"
    assert truth, "no point of the domain has both secrets possible, but a budget was found"
    compare(sample, truth, found)
    if found.infinite:
        return f"infinite {found.attained}"
    return f"{'exact' if found.value is not None else 'bounds'} {found.attained}"


def compare(sample: Sample, truth: dict[object, Fraction | str], found: TightBudget) -> None:
    """Asserts that no sampled ratio contradicts a budget, and that its witnesses are what they say."""
    values = set(truth.values())
    for witness in (*found.approached, *([found.witness] if found.witness else [])):
        assert _true_ratio(sample, witness) == _own_ratio(witness)
    if found.infinite:
        _compare_infinite(values, found)
        return
    assert "infinity" not in values, "a sampled ratio is infinite"
    assert found.upper is not None, "no upper bound was proved"
    assert found.proof is not None
    largest = max(Fraction(v) for v in values)
    assert largest <= found.upper
    assert found.lower <= found.upper
    nearest = [w for w in (*found.approached, found.witness) if w is not None]
    if found.attained and found.witness is not None:
        value = _own_ratio(found.witness)
        assert value == found.lower == found.upper
    elif nearest:
        last = _own_ratio(nearest[-1])
        assert isinstance(last, Fraction)
        assert found.lower * (1 - NEAR) <= last <= found.upper
    if found.value is not None and found.attained is False:
        assert isinstance(found.value, RealRoot)
        assert not (found.value.is_rational and found.value.lower in values), "it is reached"
    if found.value is None:
        assert found.upper - found.lower <= found.lower / 10**6


def _compare_infinite(values: set[Fraction | str], found: TightBudget) -> None:
    if found.attained:
        assert found.witness is not None
        assert _own_ratio(found.witness) == "infinity"
        return
    if found.attained is False:
        assert "infinity" not in values, "an infinite ratio is reached"
    last = _own_ratio(found.approached[-1])
    assert last == "infinity" or Fraction(last) > 10**6


def _own_ratio(witness: Witness) -> Fraction | str:
    ratio = witness.ratio
    if ratio is None:
        return "infinity"
    assert ratio.rational is not None
    return ratio.rational


def _true_ratio(sample: Sample, witness: Witness) -> Fraction | str | None:
    at = witness.parameters["p"], witness.parameters["q"]
    assert sample.space.has(*at), "the witness is outside of the domain"
    return sample.ratio(witness.left, witness.right, witness.observations[0], at)
