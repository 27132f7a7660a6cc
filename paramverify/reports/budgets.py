"""A tight budget as an object of its own, of which the text and the JSON document are two views."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramverify.algebra.decimals import at_least, at_most, rounded
from paramverify.algebra.logarithms import Epsilon
from paramverify.algebra.realroots import RealRoot
from paramverify.algebra.reals import Real, show_polynomial
from paramverify.claims import AllOutputs, Origin
from paramverify.errors import SizeError
from paramverify.evidence.witnesses import Evaluated, ExactSetWitness
from paramverify.models.model import Model
from paramverify.reports import documents, text
from paramverify.synthesis.quotients import Place
from paramverify.synthesis.set_needs import LeastBound
from paramverify.synthesis.suprema import TightBudget


@dataclass(frozen=True)
class BudgetStatement:
    """What is said about a budget: the ratio or bounds of it, whether it is reached, and by whom.

    `outputs` is false where a point has it as a limit, to which outputs come near.

    `ratio` is exact, as JSON data; where it is None, the bounds are what is known. `proved_upper` is a number
    that no ratio exceeds: that is proved for all claims. `witness` and `approached` are witnesses, as JSON
    data; `where` is the place of the supremum, or of the largest ratio that was found, in words, and `toward`
    the same as a limit; `among` names the parameters.
    """

    ratio: str | dict[str, Any] | None
    shown: str
    lower: Fraction
    upper: Fraction | None
    epsilon: Epsilon
    attained: bool | None
    infinite: bool
    every_length: bool
    origin: Origin
    where: str
    among: str
    toward: str
    witness: dict[str, Any]
    approached: tuple[dict[str, Any], ...]
    proved_upper: Fraction | None
    outputs: bool = True

    @staticmethod
    def of(model: Model, found: TightBudget) -> BudgetStatement:
        """Returns the statement that a search for the budget of a model makes."""
        ratio, shown = number(found)
        witness: dict[str, Any] = {
            "parameters": {name: _coordinate(root) for name, root in found.place.items()},
            "secrets": [found.origin.left, found.origin.right],
            "observations": list(found.origin.observations),
        }
        if ends := _ends(model, found.place):
            witness["meaning"] = ends
        if found.witness is not None:
            witness = documents.witness(found.witness)
        proved = found.proof.bound if found.proof else None
        place = read_by(model, found.place, found.origin)
        return BudgetStatement(
            ratio=ratio,
            shown=shown,
            lower=found.lower,
            upper=found.upper,
            epsilon=found.epsilon,
            attained=found.attained,
            infinite=found.infinite,
            every_length=not model.lengths,
            origin=found.origin,
            where=where(model, place, found.witness),
            among=", ".join(_names(model)),
            toward=tends(model, place),
            witness=witness,
            approached=tuple(documents.witness(w) for w in found.approached),
            proved_upper=proved.enclosure()[1] if isinstance(proved, Real) else proved,
            outputs=found.outputs,
        )

    def document(self) -> dict[str, Any]:
        """Returns the statement as JSON data."""
        return self.ratio_document() | {
            **epsilon_document(self.epsilon, self.infinite),
            "attained": self.attained,
            **outputs_document(self.outputs),
            "proved_upper": str(self.proved_upper) if self.proved_upper is not None else None,
            "witness": self.witness,
            "approached": list(self.approached),
        }

    def ratio_document(self) -> dict[str, Any]:
        """Returns the ratio, or bounds on it, as JSON data."""
        if self.ratio is not None:
            return {"ratio": self.ratio}
        upper = documents.exact(self.upper) if self.upper is not None else "unknown"
        return {"ratio_lower": documents.exact(self.lower), "ratio_upper": upper}

    def lines(self) -> list[str]:
        """Returns the statement in words."""
        outcome = text.sequence(self.origin.observations)
        if self.infinite and self.every_length:
            head = f"no budget: the ratio grows without limit with longer sequences, such as {outcome}"
        elif self.infinite and not self.attained and self.outputs and self.toward:
            grows = f"it grows without limit {self.toward}"
            head = f"no single number bounds the ratio for all {self.among}: {grows}; {outcome}"
        elif self.infinite:
            head = f"no budget: {outcome} can be infinitely more likely"
        elif self.ratio is not None or self.upper is not None:
            head = f"tight budget: ratio {self.shown}, epsilon {self.epsilon.told()}; {outcome}"
        else:
            head = f"the ratio is {self.shown} (no upper bound was proved); {outcome}"
        return [head, f"  under {self.origin.left!r} against {self.origin.right!r}; {self.reached()}"]

    def reached(self) -> str:
        """Returns in words whether a prior reaches the budget, and where."""
        at = f" {self.where}" if self.where else ""
        if not self.outputs:
            return f"{NEAR}{at}"
        if self.attained is None and self.infinite and self.every_length:
            return f"approached by longer and longer sequences{at}"
        if self.attained is None:
            what = "sum" if isinstance(self.origin, AllOutputs) else "ratio"
            near = "approached" if self.ratio is not None else f"the largest {what} found is"
            return f"{f'{near}{at}; ' if at else ''}whether it is reached is not decided"
        return f"{'reached' if self.attained else 'approached, not reached,'}{at}".rstrip(",")


NEAR = "approached by outputs, reached by none,"


def outputs_document(reached: bool) -> dict[str, bool]:
    """Returns as JSON data that outputs only come near to a ratio which a point has as a limit."""
    return {} if reached else {"attained_by_outputs": False}


def number(found: TightBudget | LeastBound) -> tuple[str | dict[str, Any] | None, str]:
    """Returns the number of a budget as JSON data, None where it is not exact, and in words."""
    value = found.value
    if found.infinite:
        return "infinity", "infinity"
    if isinstance(value, Real):
        return documents.real(value), text.number(value)
    if isinstance(value, RealRoot) and value.is_rational:
        with suppress(ValueError):  # of more digits than Python writes
            exact = str(value.lower)
            return exact, exact if exact.isdigit() else f"{exact} ({rounded(value.lower)})"
        raise SizeError("the budget is a number of over 4300 digits, which is not written")
    if isinstance(value, RealRoot):
        polynomial = show_polynomial(value.factor, "x")
        bounds = {"lower": str(value.lower), "upper": str(value.upper)}
        middle = f"≈ {_middle(value):.12g} (a root of {polynomial})"
        return {"minimal_polynomial": polynomial, **bounds}, middle
    if found.upper is None:
        return None, f"at least {at_least(found.lower, 12)}"
    return None, f"between {at_least(found.lower, 12)} and {at_most(found.upper, 12)}"


def ratio_document(found: TightBudget) -> dict[str, Any]:
    """Returns the ratio, or bounds on it, as JSON data."""
    ratio, _ = number(found)
    if ratio is not None:
        return {"ratio": ratio}
    upper = documents.exact(found.upper) if found.upper is not None else "unknown"
    return {"ratio_lower": documents.exact(found.lower), "ratio_upper": upper}


def epsilon_document(found: Epsilon, infinite: bool = False) -> dict[str, Any]:
    """Returns ε as JSON data: a number, or an upper bound with both bounds beside it."""
    if infinite:
        return {"epsilon": "infinity"}
    bounds = {} if found.sharp else {"epsilon_bounds": found.bounds()}
    return {"epsilon": found.number(), **bounds}


def exact_text(found: TightBudget) -> str:
    """Returns a ratio as text."""
    return number(found)[1]


def read_by(model: Model, place: Place, origin: Origin) -> Place:
    """Returns a place without the variables for numbers of other outputs."""
    named = [entry for name in origin.observations for entry in model.hmm.spreads.get(name, ())]
    away = {*model.domain.ring.outputs} - {spread.variable for _, spread in named}
    return {name: value for name, value in place.items() if name not in away}


def where(model: Model, place: Place, witness: Evaluated | ExactSetWitness | None = None) -> str:
    """Returns a place of the closure in words, such as `at p = 1/2`, or `as eps → oo` where `x_eps` is 0."""
    told = [_coordinate_text(n, root) for n, root in place.items() if not _end_of(model, n, root)]
    told += [f"{n} = {v}" for n, v in witness.meant.items()] if witness else []
    at = [f"at {', '.join(told)}"] if told else []
    ends = _ends(model, place)
    return " ".join(at + ([f"as {_arrows(ends)}"] if ends else []))


def tends(model: Model, place: Place) -> str:
    """Returns a place as a limit in words, such as `as alpha → 0`, or `as eps → oo` where `x_eps` is 0."""
    told = [_coordinate_text(n, root, " →") for n, root in place.items() if not _end_of(model, n, root)]
    ends = _ends(model, place)
    told += [_arrows(ends)] if ends else []
    return f"as {', '.join(told)}" if told else ""


def _ends(model: Model, place: Place) -> dict[str, str]:
    """Returns the parameters of the domain (0, ∞) that tend to one of its ends at a place."""
    ends = (_end_of(model, name, root) for name, root in place.items())
    return {end[0]: end[1] for end in ends if end}


def _end_of(model: Model, name: str, root: RealRoot) -> tuple[str, str] | None:
    meant = next((u for u in model.domain.ring.unbounded if u.variable == name), None)
    if meant is None or not root.is_rational or root.lower not in (0, 1):
        return None
    return meant.name, meant.at(root.lower)


def _arrows(ends: dict[str, str]) -> str:
    return ", ".join(f"{name} → {end}" for name, end in ends.items())


def _names(model: Model) -> list[str]:
    named = {u.variable: u.name for u in model.domain.ring.unbounded}
    away = model.domain.ring.outputs
    return [named.get(name, name) for name in model.domain.ring.parameters if name not in away]


def _coordinate_text(name: str, root: RealRoot, sign: str = " =") -> str:
    if root.is_rational:
        return f"{name}{sign} {root.lower}"
    return f"{name}{sign if sign == ' →' else ' ≈'} {_middle(root):.6g}"


def _coordinate(root: RealRoot) -> str | dict[str, str]:
    if root.is_rational:
        return str(root.lower)
    small = root.refined(Fraction(1, 10**12))
    polynomial = show_polynomial(root.factor, "x")
    return {"root_of": polynomial, "lower": str(small.lower), "upper": str(small.upper)}


def _middle(root: RealRoot) -> float:
    return float(root)


def growing(found: TightBudget) -> tuple[Evaluated, ...]:
    """Returns the witnesses of the lower bound: one that reaches it, or those that come nearer and nearer."""
    return (found.witness,) if found.witness is not None else found.approached
