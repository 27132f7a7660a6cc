"""Which theorem says what a case says: its definitions, its statement, and the theory that proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from paramverify.encodings.lumping import lump
from paramverify.errors import UnsupportedError
from paramverify.models.measures import Approximate, Metric, Pure
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution
from paramverify.privacy.cases import Case
from paramverify.reports.theorems import cones
from paramverify.reports.theorems.domains import Place
from paramverify.reports.theorems.mechanisms import KINDS, answers_of, mechanism_of
from paramverify.reports.theorems.priors import prior_of, secrets_of
from paramverify.reports.theorems.program_cases import told_program
from paramverify.reports.theorems.stated import ALIKE, NEAR, Statement
from paramverify.reports.theorems.words import Words, comment

Json = Mapping[str, Any]

MEND = "`verify --evidence` writes evidence, which `check` replays"
ONCE = "Privacy.v says what privacy means, Networks.v and Mechanisms.v what priors and mechanisms are."
PLACED = "Privacy.v says what privacy means, Mechanisms.v what mechanisms and neighbours are."
CHAIN = "Hmm.v says what a hidden Markov model is, how likely its sequences are, and what privacy means."
MAX_STATES = 250  # of a model that is written out without parameters
MAX_SYMBOLIC = 100  # of one with parameters
MAX_INPUTS = 250  # of a mechanism whose neighbours are all compared, without parameters
MAX_SYMBOLIC_INPUTS = 150  # with parameters
MAX_WORDS = 5_000  # sequences that are compared one by one in Coq


def statement_of(case: Case, data: Json, model: Model, place: Place, document: Json) -> Statement:
    """Returns the theorem about a case: in its own words where the theories have them, else of its model.

    Raises:
        UnsupportedError: the theories have nothing for such a case.
    """
    try:
        if "define" in data:
            raise UnsupportedError("it has [define]: write the expressions in place of the names")
        if data["mechanism"]["kind"] == "time_series":
            return _series(data, model, place, document)
        if isinstance(case.mechanism, ProgramMechanism):
            if model.measure.by_sets:
                raise UnsupportedError("the theorems about programs have no delta")
            return told_program(case, case.mechanism, data, model, place)
        form = _neighbours if "neighbours" in data else _secrets
        return form(data, model, place)
    except UnsupportedError as reason:
        return _written_out(model, place, document, reason.reason)


def _secrets(data: Json, model: Model, place: Place) -> Statement:
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
        listed = _list(lengths)
        return Statement(
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
    return Statement(
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


def _neighbours(data: Json, model: Model, place: Place) -> Statement:
    """Returns the theorem about neighbouring inputs of a mechanism that answers once."""
    made, given = data["mechanism"], data["neighbours"]
    if tuple(model.lengths) != (1,) or not given.keys() <= {"differ", "by"}:
        raise UnsupportedError("the theories have no words for these neighbours")
    if made["kind"] not in ("noisy_max", "geometric") or "range" not in made["noise"]:
        raise UnsupportedError("the theories have no words for neighbours of this mechanism or its noise")
    count, by = made.get("queries", 1), str(given.get("by", 1))
    words = Words(place.own, {}, {}, quotients=not model.measure.by_sets)
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
    return Statement(
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


def _series(data: Json, model: Model, place: Place, document: Json) -> Statement:
    """Returns the theorem about a chain that is released each day; the secret is its first state."""
    made = data["mechanism"]
    if made.get("day", 1) != 1 or "neighbours" not in data or "observations" in made:
        raise UnsupportedError("its secret is not the state on day 1, or its outputs have names of their own")
    names = list(made["states"])
    words = Words(place.own, {}, {})

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
        _numbered("States, which are also what is released,", names),
        f"Definition initial : list expression := {row(made['initial'], names)}%case.",
        f"Definition transitions : matrix :=\n  [{rows}]%case.",
        f"Definition emissions : matrix :=\n  {emissions}.",
        "Definition model : hidden_markov := time_series emissions transitions.",
        "",
        "(* What must not be told apart: the state on the first day. *)",
        f"Definition secrets : list (weights * weights) := [{pairs}].",
    )
    return _sequences(definitions, model, document)


def _written_out(model: Model, place: Place, document: Json, reason: str) -> Statement:
    """Returns the theorem about the model of a case, step by step, as the case was read."""
    hmm = model.hmm
    if model.stands_for:
        raise UnsupportedError("one pair of neighbours stands for all others, which the theories do not know")
    if len(hmm.states) > (MAX_SYMBOLIC if place.free else MAX_STATES):
        raise UnsupportedError(
            f"its model has {len(hmm.states):,} states, too many to be written out for Coq"
        )
    words = Words(place.own, {}, {})
    below = words.polynomial(hmm.denominator)

    def weight(polynomial: Any) -> str:
        text = words.polynomial(polynomial)
        return text if below == "1" else f"{text} / {below}"

    def start(given: InitialDistribution) -> str:
        listed = "; ".join(f"({s}%nat, ({words.polynomial(w)})%case)" for s, w in given.weights.items())
        return f"weights_of [{listed}]"

    steps = ";\n   ".join(
        f"({step.observation}, {state}, {step.successor}, ({weight(step.weight)})%case)%nat"
        for state, row in enumerate(hmm.steps)
        for step in row
    )
    pairs = ";\n   ".join(f"({start(p.pi)}, {start(p.tau)})" for p in model.pairs)
    definitions = (
        "(* The case is not told in its own words here. This is the hidden Markov model that paramverify",
        "   made of it. A step has a symbol, a state, the next state and a probability. A secret has weights",
        "   of the states. The reason is this:",
        f"   {comment(reason)}. *)",
        _numbered("Symbols", hmm.observations),
        _numbered("States", hmm.states),
        f"Definition model : hidden_markov := {{|\n  states := {len(hmm.states)};",
        f"  symbols := {len(hmm.observations)};\n  move := written_out\n  [{steps}]\n|}}.",
        f"Definition secrets : list (weights * weights) :=\n  [{pairs}].",
    )
    return replace(_sequences(definitions, model, document), as_model=comment(reason))


def _numbered(what: str, names: Sequence[str]) -> str:
    told = ", ".join(f"{k}: {name}" for k, name in enumerate(names))
    return f"(* {what} have numbers ({comment(told)}). *)"


def _sequences(definitions: tuple[str, ...], model: Model, document: Json) -> Statement:
    """Returns the theorem about sequences of a model, of the lengths of the case."""
    told = f"every sequence of outputs is {ALIKE}"
    if model.lengths:
        words = sum(len(model.hmm.observations) ** length for length in model.lengths)
        if words > MAX_WORDS:
            raise UnsupportedError(f"it has {words:,} sequences of outputs, too many to be compared in Coq")
        listed = _list(list(model.lengths))
        if model.measure.by_sets:
            return Statement(
                definitions,
                f"sequences_approximately_private ({{point}}) model {listed} ({{ratio}}) ({{delta}}) secrets",
                f"approximate_lengths_theorem evidence sums model {listed} secrets ratio delta",
                f"every set of sequences of a length is {ALIKE}",
                CHAIN,
            )
        about = f"(fun word => In (length word) {listed})"
        return Statement(
            definitions,
            f"sequences_private ({{point}}) model {about} ({{ratio}}) secrets",
            f"lengths_theorem evidence model {listed} secrets ratio",
            told,
            CHAIN,
        )
    if lump(model).model is not model and len(lump(model).model.hmm.states) != len(model.hmm.states):
        raise UnsupportedError("its proof is about a model with fewer states")
    if document.get("kind") != "ratios":
        raise UnsupportedError("its proof is about a cone of another kind")
    return Statement(
        (*definitions, "", *_cone(model, document)),
        "sequences_private ({point}) model of_any_length ({ratio}) secrets",
        "every_length_theorem evidence model invariant secrets ratio",
        told,
        CHAIN,
    )


def _cone(model: Model, document: Json) -> list[str]:
    """Returns the definition of the cone that no step leaves; vectors are 0 beside the states it lives on."""
    size, states = len(model.hmm.states), list(document["states"])
    kept = [state in states for state in range(size)]

    def lifted(entries: Sequence[int]) -> cones.Vector:
        at = dict(zip(states, entries, strict=True))
        return tuple(at.get(state, 0) for state in range(size))

    small = [tuple(int(x) for x in normal) for normal in document["normals"]]
    normals = [lifted(normal) for normal in small]
    rays = tuple(lifted(ray) for ray in cones.rays_of(small, len(states)))
    outside = tuple(tuple(int(j == k) for j in range(size)) for k, inside in enumerate(kept) if not inside)
    reach = _reach(model, document["depth"])
    return [
        "(* A cone of bounded ratios that no step leaves, and that it lies in the cone of its rays. It is",
        "   about the states that are kept. [reach]: where one can be after 0, 1, ... steps. *)",
        "Definition invariant : cone := {|",
        f"  normals := [{'; '.join(map(cones.vector, normals))}];",
        f"  rays := [{'; '.join(map(cones.vector, rays))}];",
        f"  cover := {cones.written(cones.covering(normals, rays, size, outside))};",
        f"  kept := {_flags(kept)};",
        f"  reach := [{'; '.join(map(_flags, reach))}]",
        "|}.",
    ]


def _reach(model: Model, depth: int) -> list[list[bool]]:
    """Returns where one can be after 0, 1, ... steps, one flag for each state."""
    hmm = model.hmm
    here = {state for p in model.pairs for start in (p.pi, p.tau) for state in start.weights}
    found = [here]
    for _ in range(depth):
        here = {step.successor for state in here for step in hmm.steps[state]}
        found.append(here)
    return [[state in reached for state in range(len(hmm.states))] for reached in found]


def _flags(values: Sequence[bool]) -> str:
    return "[" + "; ".join("true" if value else "false" for value in values) + "]"


def _list(lengths: list[int]) -> str:
    return "[" + "; ".join(map(str, lengths)) + "]%nat"


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
    "its bound depends on the distance of two inputs": lambda model: isinstance(model.measure, Metric),
    "the theories compare outputs one by one or in sets, and this case compares all of them together": (
        lambda model: not isinstance(model.measure, (Pure, Metric, Approximate))
    ),
    "it has a delta, and a parameter that can have one value only: write the number in its place": (
        lambda model: model.measure.by_sets and any(i.is_point for i in model.domain.box.values())
    ),
    "its outputs have densities": lambda model: model.hmm.densities,
    "its outputs stand for many": lambda model: bool(model.hmm.spreads),
    "an adversary chooses the answers here": lambda model: model.hmm.chosen,
    "it has a side condition": lambda model: bool(model.side_condition),
}
