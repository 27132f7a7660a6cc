"""The kinds of models that a case can have, and what to say where only one kind will do."""

from __future__ import annotations

from typing import Any, Protocol

from paramverify.algebra.domains import Domain
from paramverify.errors import BesideError, InputError, UnsupportedError
from paramverify.models.divergences import TOGETHER
from paramverify.models.enclosed import EnclosedModel
from paramverify.models.inequality import Inequality
from paramverify.models.measures import INSTEAD, PROBABILITIES, SETS
from paramverify.models.model import Model

Formal = Model | Inequality  # what has formulas, and makes claims
AnyModel = Formal | EnclosedModel

ENCLOSED = "`verify`, `budget`, `show`, `explain` and `sample` take such a case"


class Withheld:
    """Stands for the model of a case that has none: each question, also `isinstance`, is the error why."""

    def __init__(self, error: BesideError) -> None:
        object.__setattr__(self, "_error", error)

    def __getattribute__(self, name: str) -> Any:
        raise object.__getattribute__(self, "_error")


class OnDomain(Protocol):
    """Whatever is about the points of a parameter domain: a model of any kind."""

    @property
    def domain(self) -> Domain:
        """The parameter domain."""


def refuse_tied(model: AnyModel, what: str) -> None:
    """Raises an UnsupportedError if a parameter stands beside its exponential; `what` does not cover that."""
    for tie in model.domain.ring.tied:
        beside = f"{tie.name} stands beside {tie.meaning} in this case, and {what} does not cover that"
        raise UnsupportedError(f"{beside}; `verify` does, or give {tie.name} a number: -D {tie.name}=1/2")


def refuse_wider(model: AnyModel, what: str) -> None:
    """Raises an UnsupportedError if claims say more than is asked: about numbers that no output has."""
    if isinstance(model, Model) and model.hmm.wider:
        reason = (
            "a number stands beside its exponential, so claims about the outputs between breaks only prove"
        )
        raise UnsupportedError(f"{reason}; {what} does not cover that; `verify` does")


def need_formulas(model: AnyModel, what: str = "this") -> Formal:
    """Returns the model if it has formulas, and makes claims.

    Raises:
        InputError: its probabilities are enclosed; `what` names the command or option that does not apply.
    """
    if isinstance(model, EnclosedModel):
        reason = f"{what} needs probabilities with formulas; those of gauss and discrete_gaussian have none"
        raise InputError(f"{reason}: {ENCLOSED}", key="mechanism")
    return model


def need_privacy(
    model: AnyModel,
    what: str,
    instead: str = "`verify` decides it",
    sets: bool = False,
    together: bool = False,
    tied: bool = False,
    densities: bool = False,
) -> Model:
    """Returns the model if it is a privacy question about a hidden Markov model.

    Raises:
        InputError: it is of another kind; `what` names the command or option that does not apply, `instead`
            says what does. Or its measure compares `sets` of outputs, or all outputs `together`, or a
            parameter is `tied` to its exponential, or its outputs have `densities`, and these are not said to
            apply.
    """
    if isinstance(model, Model):
        if not tied:
            refuse_tied(model, what)
        if model.hmm.densities and not densities:
            raise InputError(f"{what} needs {PROBABILITIES}", key="mechanism")
        if model.measure.by_sets and not sets:
            name = model.measure.key
            has = "has one" if name == "delta" else "has it"
            raise InputError(
                f"{what} needs no {name}; this case {has}, so {SETS}; {INSTEAD}", key=f"privacy.{name}"
            )
        if model.measure.together and not together:
            key = model.measure.key
            raise InputError(f"{what} needs no {key}; this case has it, so {TOGETHER}", key=f"privacy.{key}")
        return model
    need_formulas(model, what)
    raise InputError(
        f"{what} needs a case about privacy, with [mechanism] and [privacy]; "
        f"this case has a [claim]: {instead}"
    )
