"""Which theorem says what a case says: its definitions, its statement, and the theory that proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paramverify.encodings.lumping import lump
from paramverify.errors import UnsupportedError
from paramverify.models.measures import Metric, Pure
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution
from paramverify.privacy.cases import Case
from paramverify.reports.theorems import cones
from paramverify.reports.theorems.domains import Place
from paramverify.reports.theorems.mechanisms import KINDS, answers_of, mechanism_of
from paramverify.reports.theorems.priors import prior_of, secrets_of
from paramverify.reports.theorems.program_cases import told_program
from paramverify.reports.theorems.stated import Statement
from paramverify.reports.theorems.words import Words, comment

Json = Mapping[str, Any]

MEND = "`verify --evidence` writes evidence, which `check` replays"
MAX_STATES = 60  # of a model that is written out
MAX_INPUTS = 150  # of a mechanism whose neighbours are all compared
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
            return told_program(case, case.mechanism, data, model, place)
        form = _neighbours if "neighbours" in data else _secrets
        return form(data, model, place)
    except UnsupportedError as reason:
        return _written_out(model, place, document, reason.reason)


def _secrets(data: Json, model: Model, place: Place) -> Statement:
    """Returns the theorem about a mechanism that answers once, under a prior."""
    if data["mechanism"]["kind"] not in KINDS:
        raise UnsupportedError("a model whose prior has another form")
    told = prior_of(data["prior"], place.own, data["mechanism"].get("values", ()))
    words = told.words
    lengths = list(model.lengths)
    answers = answers_of(data["mechanism"], words)
    experiment = mechanism_of(data["mechanism"], words, answers, max(lengths, default=0))
    several = data["mechanism"]["kind"] == "above_threshold"
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
            "the first k outputs are about as likely under both secrets of a pair",
        )
    return Statement(
        definitions,
        "pufferfish ({point}) (worlds_of prior) mechanism ({ratio}) secrets",
        "pufferfish_theorem evidence (worlds_of prior) mechanism secrets ratio",
        "every output is about as likely under both secrets of a pair",
    )


def _neighbours(data: Json, model: Model, place: Place) -> Statement:
    """Returns the theorem about neighbouring inputs of a mechanism that answers once."""
    made, given = data["mechanism"], data["neighbours"]
    if tuple(model.lengths) != (1,) or not given.keys() <= {"differ", "by"}:
        raise UnsupportedError("the theories have no words for these neighbours")
    if made["kind"] not in ("noisy_max", "geometric") or "range" not in made["noise"]:
        raise UnsupportedError("the theories have no words for neighbours of this mechanism or its noise")
    count, by = made.get("queries", 1), str(given.get("by", 1))
    words = Words(place.own, {}, {})
    if not isinstance(count, int) or not by.isdigit():
        raise UnsupportedError("the theories have no words for these neighbours")
    top = made["noise"]["range"]
    if (top + 1) ** count > (20 if place.domain.constant else MAX_INPUTS):
        raise UnsupportedError("it has too many inputs")
    answers = [f"(nth {k} w 0)" for k in range(count)]
    pairs = {"each": "each_differs_by", "one": "one_differs_by"}[given["differ"]]
    experiment = mechanism_of(made, words, answers, 1)
    return Statement(
        (
            "(* What is released of the answers w. *)",
            f"Definition mechanism (w : world) : distribution output := {experiment}.",
            "",
            "(* Which answers must not be told apart. *)",
            f"Definition neighbours := {pairs} {by} {count} {top}.",
        ),
        "differentially_private ({point}) mechanism ({ratio}) neighbours",
        "differential_privacy_theorem evidence mechanism neighbours ratio",
        "every output is about as likely for neighbouring inputs",
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
    if len(hmm.states) > MAX_STATES:
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
    return _sequences(definitions, model, document)


def _numbered(what: str, names: Sequence[str]) -> str:
    told = ", ".join(f"{k}: {name}" for k, name in enumerate(names))
    return f"(* {what} have numbers ({comment(told)}). *)"


def _sequences(definitions: tuple[str, ...], model: Model, document: Json) -> Statement:
    """Returns the theorem about sequences of a model, of the lengths of the case."""
    told = "every sequence of outputs is about as likely under both secrets of a pair"
    if model.lengths:
        words = sum(len(model.hmm.observations) ** length for length in model.lengths)
        if words > MAX_WORDS:
            raise UnsupportedError(f"it has {words:,} sequences of outputs, too many to be compared in Coq")
        listed = _list(list(model.lengths))
        about = f"(fun word => In (length word) {listed})"
        return Statement(
            definitions,
            f"sequences_private ({{point}}) model {about} ({{ratio}}) secrets",
            f"lengths_theorem evidence model {listed} secrets ratio",
            told,
        )
    if lump(model).model is not model and len(lump(model).model.hmm.states) != len(model.hmm.states):
        raise UnsupportedError("its proof is about a model with fewer states")
    if document.get("kind") != "ratios" or document["states"] != list(range(len(model.hmm.states))):
        raise UnsupportedError("its proof is about a cone of another kind")
    return Statement(
        (*definitions, "", *_cone(model, document)),
        "sequences_private ({point}) model of_any_length ({ratio}) secrets",
        "every_length_theorem evidence model invariant secrets ratio",
        told,
    )


def _cone(model: Model, document: Json) -> list[str]:
    """Returns the definition of the cone that no step leaves."""
    size = len(model.hmm.states)
    normals = [tuple(int(x) for x in normal) for normal in document["normals"]]
    rays = cones.rays_of(normals, size)
    return [
        "(* A cone of bounded ratios that no step leaves, and that it lies in the cone of its rays. *)",
        "Definition invariant : cone := {|",
        f"  normals := [{'; '.join(map(cones.vector, normals))}];",
        f"  rays := [{'; '.join(map(cones.vector, rays))}];",
        f"  cover := {cones.written(cones.covering(normals, rays, size))};",
        f"  depth := {document['depth']}",
        "|}.",
    ]


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
    "the theories compare outputs one by one, and this case compares sets of outputs, or all together": (
        lambda model: not isinstance(model.measure, Pure)
    ),
    "its outputs have densities": lambda model: model.hmm.densities,
    "its outputs stand for many": lambda model: bool(model.hmm.spreads),
    "an adversary chooses the answers here": lambda model: model.hmm.chosen,
    "it has a side condition": lambda model: bool(model.side_condition),
}
