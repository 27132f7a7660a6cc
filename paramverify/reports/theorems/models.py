"""Theorems about hidden Markov models: of a case in its own words, or step by step as it was read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from paramverify.checker.strict import counted
from paramverify.encodings.cone_certificates import model_document
from paramverify.encodings.lumping import lump
from paramverify.errors import DefectError, UnsupportedError
from paramverify.models.measures import Metric
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.reports.theorems.domains import TheoremDomain
from paramverify.reports.theorems.many_sequences import CERTIFICATES
from paramverify.reports.theorems.stated import ALIKE, StatedTheorem
from paramverify.reports.theorems.words import TheoremNames, comment

Json = Mapping[str, Any]

CHAIN = "Hmm.v says what a hidden Markov model is, how likely its sequences are, and what privacy means."
MAX_STATES = 250  # of a model that is written out without parameters
MAX_SYMBOLIC = 100  # of one with parameters
MAX_WORDS = 5_000  # sequences that are compared one by one in Coq

CHOSEN = (
    "(* Somebody chooses what is given to the mechanism, step by step. A symbol says what is given in",
    "   either world, and what is put out. The probability of a step is that of the output for what is",
    "   given. *)",
)
ONE_SIDED = (
    "(* A sequence that is impossible under one secret of a pair is left out under both: the case does not",
    "   ask for it. All other sequences have the probabilities that they have in the case. *)",
)
LUMPED = "(* States that behave alike are one state here. *)"


def written_out(model: Model, place: TheoremDomain, document: Json, reason: str) -> StatedTheorem:
    """Returns the theorem about the model of a case, step by step, as the case was read.

    Raises:
        UnsupportedError: the theories have nothing for such a model, or it is too large.
    """
    if model.stands_for:
        raise UnsupportedError("one pair of neighbours stands for all others, which the theories do not know")
    small = _of_certificate(model, document)
    hmm = small.hmm
    if len(hmm.states) > (MAX_SYMBOLIC if place.free else MAX_STATES):
        raise UnsupportedError(
            f"its model has {len(hmm.states):,} states, too many to be written out for Coq"
        )
    words = TheoremNames(place.own, {}, {})
    below = words.polynomial(hmm.denominator)

    def weight(polynomial: Any) -> str:
        text = words.polynomial(polynomial)
        return text if below == "1" else f"{text} / {below}"

    steps = ";\n   ".join(
        f"({step.observation}, {state}, {step.successor}, ({weight(step.weight)})%case)%nat"
        for state, row in enumerate(hmm.steps)
        for step in row
    )
    definitions = [
        "(* The case is not told in its own words here. This is the hidden Markov model that paramverify",
        "   made of it. A step has a symbol, a state, the next state and a probability. A secret has weights",
        "   of the states. The reason is this:",
        f"   {comment(reason)}. *)",
        *(CHOSEN if hmm.chosen else ()),
        *(ONE_SIDED if model.whole else ()),
        *([LUMPED] if small is not model else ()),
        numbered("Symbols", hmm.observations),
        numbered("States", hmm.states),
        f"Definition model : hidden_markov := {{|\n  states := {len(hmm.states)};",
        f"  symbols := {len(hmm.observations)};\n  move := written_out\n  [{steps}]\n|}}.",
    ]
    definitions += _compared(small, words)
    return replace(sequences(tuple(definitions), small, document), as_model=comment(reason))


def _compared(model: Model, words: TheoremNames) -> list[str]:
    """Returns the definition of the pairs, with ratios where these depend on a distance."""

    def start(given: InitialDistribution) -> str:
        listed = "; ".join(f"({s}%nat, ({words.polynomial(w)})%case)" for s, w in given.weights.items())
        return f"weights_of [{listed}]"

    def listed(pairs: Sequence[SecretPair]) -> str:
        return ";\n   ".join(f"({start(p.pi)}, {start(p.tau)})" for p in pairs)

    if not isinstance(model.measure, Metric):
        return [f"Definition secrets : list (weights * weights) :=\n  [{listed(model.pairs)}]."]
    if any(p.distance not in model.measure.bounds for p in model.pairs):
        raise DefectError("a pair of inputs has a distance without a bound")
    groups = []
    for distance, bound in model.measure.bounds.items():
        pairs = [p for p in model.pairs if p.distance == distance]
        if pairs:
            ratio = words.quotient(bound.ratio)
            groups.append(f"  (* Distance {distance}: *)\n  (({ratio})%case,\n  [{listed(pairs)}])")
    told = ";\n".join(groups)
    return [
        "(* How much more likely, and for which pairs: that depends on their distance. *)",
        f"Definition bounds : list (expression * list (weights * weights)) := [\n{told}\n].",
    ]


def numbered(what: str, names: Sequence[str]) -> str:
    """Returns a comment that says which numbers names have."""
    told = ", ".join(f"{k}: {name}" for k, name in enumerate(names))
    return f"(* {what} have numbers ({comment(told)}). *)"


def lengths_in_coq(lengths: Sequence[int]) -> str:
    """Returns numbers as a list of Coq."""
    return "[" + "; ".join(map(str, lengths)) + "]%nat"


def _either(lengths: Sequence[int]) -> str:
    """Returns of which outputs a sequence is: 1, 2 or 3 outputs, 1 to 7 outputs; without lengths of all."""
    if not lengths:
        return "outputs"
    if len(lengths) > 3 and list(lengths) == list(range(lengths[0], lengths[-1] + 1)):
        return f"{lengths[0]} to {lengths[-1]} outputs"
    *rest, last = map(str, lengths)
    return f"{', '.join(rest)} or {last} outputs" if rest else counted(int(last), "output")


def sequences(definitions: tuple[str, ...], model: Model, document: Json) -> StatedTheorem:
    """Returns the theorem about sequences of a model, of the lengths of the case.

    Raises:
        UnsupportedError: there are too many of them, or the certificate is about another model.
    """
    possible = " that both secrets of a pair allow\n   " if model.whole else ""
    told = f"every sequence of {_either(model.lengths)}{possible} is {ALIKE}"
    lengths = lengths_in_coq(model.lengths)
    about = f"(fun word => In (length word) {lengths})" if model.lengths else "of_any_length"
    if document.get("kind") in CERTIFICATES:
        if not _same(model, document):
            raise UnsupportedError("its proof is about a model with fewer states")
        write, theorem = CERTIFICATES[document["kind"]]
        return StatedTheorem(
            (*definitions, "", *write(model, document)),
            f"sequences_private ({{point}}) model {about} ({{ratio}}) secrets",
            theorem.format(lengths=lengths),
            told,
            CHAIN,
        )
    if not model.lengths:
        raise UnsupportedError("its evidence has no certificate about every length")
    words = sum(len(model.hmm.observations) ** length for length in model.lengths)
    if words > MAX_WORDS:
        raise UnsupportedError(f"it has {words:,} sequences of outputs, too many to be compared in Coq")
    if model.measure.by_sets:
        return StatedTheorem(
            definitions,
            f"sequences_approximately_private ({{point}}) model {lengths} ({{ratio}}) ({{delta}}) secrets",
            f"approximate_lengths_theorem evidence sums model {lengths} secrets ratio delta",
            f"every set of sequences of a length is {ALIKE}",
            CHAIN,
        )
    if isinstance(model.measure, Metric):
        return StatedTheorem(
            definitions,
            f"sequences_private_by ({{point}}) model {about} bounds",
            f"distances_theorem evidence model {lengths} bounds",
            "every sequence of outputs is at most so many times as likely for an input as for its neighbour\n"
            "    as the bound of their distance says",
            f"{CHAIN}\n    Distances.v says what bounds by distance mean.",
        )
    return StatedTheorem(
        definitions,
        f"sequences_private ({{point}}) model {about} ({{ratio}}) secrets",
        f"lengths_theorem evidence model {lengths} secrets ratio",
        told,
        CHAIN,
    )


def _of_certificate(model: Model, document: Json) -> Model:
    """Returns the model of a certificate: that of the case, or with states that behave alike as one."""
    if document.get("kind") not in CERTIFICATES or _same(model, document):
        return model
    return lump(model).model


def _same(model: Model, document: Json) -> bool:
    own, given = (json.dumps(m, sort_keys=True) for m in (model_document(model), document["model"]))
    return own == given
