"""Which theorem says what a case says: its definitions, its statement, and the theory that proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paramverify.errors import UnsupportedError
from paramverify.models.measures import Approximate, Metric, Pure
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import Model
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports.theorems.domains import TheoremDomain
from paramverify.reports.theorems.many_sequences import CERTIFICATES
from paramverify.reports.theorems.mechanisms import KINDS, answers_of, mechanism_of
from paramverify.reports.theorems.models import lengths_in_coq, numbered, sequences, written_out
from paramverify.reports.theorems.priors import prior_of, secrets_of
from paramverify.reports.theorems.program_cases import told_program
from paramverify.reports.theorems.stated import ALIKE, NEAR, StatedTheorem
from paramverify.reports.theorems.words import TheoremNames

Json = Mapping[str, Any]

MEND = "`verify --evidence` writes evidence, which `check` replays"
ONCE = "Privacy.v says what privacy means, Networks.v and Mechanisms.v what priors and mechanisms are."
PLACED = "Privacy.v says what privacy means, Mechanisms.v what mechanisms and neighbours are."
MAX_INPUTS = 250  # of a mechanism whose neighbours are all compared, without parameters
MAX_SYMBOLIC_INPUTS = 150  # with parameters


def statement_of(
    case: PrivacyCase, data: Json, model: Model, place: TheoremDomain, document: Json
) -> StatedTheorem:
    """Returns the theorem about a case: in its own words where the theories have them, else of its model.

    Raises:
        UnsupportedError: the theories have nothing for such a case.
    """
    try:
        if model.hmm.chosen:
            raise UnsupportedError("somebody chooses what is given to the mechanism, step by step")
        if model.side_condition:
            raise UnsupportedError(f"it has a side condition: {model.side_condition}")
        if isinstance(model.measure, Metric):
            raise UnsupportedError("its bound depends on the distance of two inputs")
        if "define" in data:
            raise UnsupportedError("it has [define]: write the expressions in place of the names")
        if data["mechanism"]["kind"] == "time_series":
            return _series(data, model, place, document)
        if isinstance(case.mechanism, ProgramMechanism):
            if model.measure.by_sets:
                raise UnsupportedError("the theorems about programs have no delta")
            return told_program(case, case.mechanism, data, model, place)
        form = _neighbours if "neighbours" in data else _secrets
        return form(data, model, place, document)
    except UnsupportedError as reason:
        return written_out(model, place, document, reason.reason)


def _secrets(data: Json, model: Model, place: TheoremDomain, document: Json) -> StatedTheorem:
    """Returns the theorem about a mechanism that answers once, under a prior."""
    if data["mechanism"]["kind"] not in KINDS:
        raise UnsupportedError(f"the theories have no words for the mechanism {data['mechanism']['kind']}")
    told = prior_of(
        data["prior"], place.own, data["mechanism"].get("values", ()), quotients=not model.measure.by_sets
    )
    words = told.words
    lengths = list(model.lengths)
    answers = answers_of(data["mechanism"], words)
    experiment = mechanism_of(data["mechanism"], words, answers, max(lengths, default=0))
    several = data["mechanism"]["kind"] == "above_threshold"
    if several and model.measure.by_sets:
        raise UnsupportedError("sets of several outputs have a delta")
    if document.get("kind") in CERTIFICATES:
        raise UnsupportedError("its proof is about many sequences of a hidden Markov model at once")
    if not lengths or (lengths != [1] and not several):
        raise UnsupportedError("its releases are repeated, or many lengths are asked for")
    definitions = (
        *told.lines,
        "",
        "(* What is released. *)",
        f"Definition mechanism (w : world) : distribution output := {experiment}.",
        "",
        "(* What must not be told apart. *)",
        *secrets_of(data["secrets"], words),
    )
    if several:
        listed = lengths_in_coq(lengths)
        return StatedTheorem(
            definitions,
            f"forall k, In k {listed} ->\n"
            "  pufferfish ({point}) (worlds_of prior) (first_outputs k mechanism) ({ratio}) secrets",
            f"first_outputs_theorem evidence (worlds_of prior) mechanism {listed} secrets ratio",
            f"every sequence of the first k outputs is {ALIKE}",
            ONCE,
        )
    privacy, about, bounds = "pufferfish", "output", "({ratio})"
    if model.measure.by_sets:
        privacy, about, bounds = "approximate_pufferfish", "set of outputs", "({ratio}) ({delta})"
    return StatedTheorem(
        definitions,
        f"{privacy} ({{point}}) (worlds_of prior) mechanism {bounds} secrets",
        _used(model, f"{privacy}_theorem", "(worlds_of prior) mechanism secrets"),
        f"every {about} is {ALIKE}",
        ONCE,
    )


def _used(model: Model, theorem: str, arguments: str) -> str:
    """Returns a theorem with what it is about: with the ratio, or with ratio and delta."""
    if model.measure.by_sets:
        return f"{theorem} evidence sums {arguments} ratio delta"
    return f"{theorem} evidence {arguments} ratio"


def _neighbours(data: Json, model: Model, place: TheoremDomain, document: Json) -> StatedTheorem:
    """Returns the theorem about neighbouring inputs of a mechanism that answers once."""
    made, given = data["mechanism"], data["neighbours"]
    if tuple(model.lengths) != (1,) or not given.keys() <= {"differ", "by"}:
        raise UnsupportedError("the theories have no words for these neighbours")
    if made["kind"] not in ("noisy_max", "geometric") or "range" not in made["noise"]:
        raise UnsupportedError("the theories have no words for neighbours of this mechanism or its noise")
    count, by = made.get("queries", 1), str(given.get("by", 1))
    words = TheoremNames(place.own, {}, {}, quotients=not model.measure.by_sets)
    if not isinstance(count, int) or not by.isdigit():
        raise UnsupportedError("the theories have no words for these neighbours")
    top = made["noise"]["range"]
    if (top + 1) ** count > (MAX_SYMBOLIC_INPUTS if place.free else MAX_INPUTS):
        raise UnsupportedError("it has too many inputs")
    answers = [f"(nth {k} w 0)" for k in range(count)]
    pairs = {"each": "each_differs_by", "one": "one_differs_by"}[given["differ"]]
    experiment = mechanism_of(made, words, answers, 1)
    privacy, theorem = "differentially_private", "differential_privacy_theorem"
    about, bounds = "output", "({ratio})"
    if model.measure.by_sets:
        privacy, theorem = "approximately_private", "approximate_privacy_theorem"
        about, bounds = "set of outputs", "({ratio}) ({delta})"
    return StatedTheorem(
        (
            "(* What is released of the answers w. *)",
            f"Definition mechanism (w : world) : distribution output := {experiment}.",
            "",
            "(* Which answers must not be told apart. *)",
            f"Definition neighbours := {pairs} {by} {count} {top}.",
        ),
        f"{privacy} ({{point}}) mechanism {bounds} neighbours",
        _used(model, theorem, "mechanism neighbours"),
        f"every {about} is {NEAR}",
        PLACED,
    )


def _series(data: Json, model: Model, place: TheoremDomain, document: Json) -> StatedTheorem:
    """Returns the theorem about a chain that is released each day; the secret is its first state."""
    made = data["mechanism"]
    if made.get("day", 1) != 1 or "neighbours" not in data or "observations" in made:
        raise UnsupportedError("its secret is not the state on day 1, or its outputs have names of their own")
    names = list(made["states"])
    words = TheoremNames(place.own, {}, {})

    def row(entries: Json, columns: list[str]) -> str:
        return "[" + "; ".join(words.probability(entries.get(name, 0)) for name in columns) + "]"

    rows = ";\n   ".join(row(made["transitions"][name], names) for name in names)
    if "truth" in made:
        emissions = f"truthful {len(names)} ({words.probability(made['truth'])})%case"
    else:
        emissions = "[" + ";\n   ".join(row(made["emissions"][name], names) for name in names) + "]%case"
    pairs = "; ".join(
        f"(first_day initial {names.index(p.left)}, first_day initial {names.index(p.right)})"
        for p in model.pairs
    )
    definitions = (
        numbered("States, which are also what is released,", names),
        f"Definition initial : list expression := {row(made['initial'], names)}%case.",
        f"Definition transitions : matrix :=\n  [{rows}]%case.",
        f"Definition emissions : matrix :=\n  {emissions}.",
        "Definition model : hidden_markov := time_series emissions transitions.",
        "",
        "(* What must not be told apart: the state on the first day. *)",
        f"Definition secrets : list (weights * weights) := [{pairs}].",
    )
    return sequences(definitions, model, document)


def check_is_covered(model: object) -> Model:
    """Returns the model of a case that theorems may be about.

    Raises:
        UnsupportedError: another question, or another kind of model.
    """
    if not isinstance(model, Model):
        raise UnsupportedError("there are no theorems about cases of this kind", mend=MEND)
    for reason, found in _REFUSED.items():
        if found(model):
            raise UnsupportedError(reason, mend=MEND)
    return model


_REFUSED: Mapping[str, Callable[[Model], bool]] = {
    "the theories compare outputs one by one or in sets, and this case compares all of them together": (
        lambda model: not isinstance(model.measure, (Pure, Metric, Approximate))
    ),
    "it has a delta, and a parameter that can have one value only: write the number in its place": (
        lambda model: model.measure.by_sets and any(i.is_point for i in model.domain.box.values())
    ),
    "it has a delta, and a parameter beside its own exponential": (
        lambda model: model.measure.by_sets and bool(model.domain.ring.tied)
    ),
    "its outputs have densities": lambda model: model.hmm.densities,
    "its outputs stand for many": lambda model: bool(model.hmm.spreads),
    "it has a delta, and somebody chooses what is given to the mechanism": (
        lambda model: model.measure.by_sets and model.hmm.chosen
    ),
    "it has a side condition, and outputs are compared in sets or by distance": (
        lambda model: bool(model.side_condition) and not isinstance(model.measure, Pure)
    ),
}
