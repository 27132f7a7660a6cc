"""Theorems about hidden Markov models: prior, secrets and mechanism of a case in the words of Coq."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paramverify.algebra.expressions import Name, Text, Value, parse
from paramverify.divergences import DistanceBound, PositiveParts
from paramverify.encodings.cone import engine_document, lump
from paramverify.errors import DefectError, UnsupportedError
from paramverify.kernel.strict_reading import counted
from paramverify.models.model import Model, is_about
from paramverify.models.names import as_value
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.reports.theorems.coq_cones import CERTIFICATES
from paramverify.reports.theorems.coq_domains import TheoremDomain
from paramverify.reports.theorems.coq_words import (
    ALIKE,
    RESERVED,
    StatedTheorem,
    TheoremNames,
    comment,
    named,
)

Data = Mapping[str, Any]
BITS = (0, 1)  # what randomised response reports where the case does not say it


def mechanism_of(data: Data, words: TheoremNames, answers: Sequence[str], longest: int) -> str:
    """Returns the mechanism on the given answers, as an experiment; `longest` is the length of its output.

    Raises:
        UnsupportedError: a kind that the theories have no words for, or one of its settings.
    """
    kind = data["kind"]
    if kind not in KINDS or data.get("times", 1) != 1 or data.get("memory"):
        raise UnsupportedError(f"the theories have no words for this mechanism ({kind})")
    return KINDS[kind](data, words, answers, longest)


def answers_of(data: Data, words: TheoremNames) -> list[str]:
    """Returns what a mechanism is applied to, as whole numbers at a world `w`."""
    given = [data["query"]] if "query" in data else data.get("queries", [])
    return [f"({words.whole(parse(str(query)))})" for query in given]


def noise_of(data: Data, words: TheoremNames) -> str:
    """Returns noise in words."""
    if "truncated_geometric" in data:
        return (
            f"(truncated_geometric ({words.probability(data['truncated_geometric'])})%case {data['range']})"
        )
    if "table" in data:
        rows = ("[" + "; ".join(words.probability(p) for p in row) + "]%case" for row in data["table"])
        return f"(noise_table [{'; '.join(rows)}])"
    raise UnsupportedError("the theories have no words for this noise")


def _noisy_max(data: Data, words: TheoremNames, answers: Sequence[str], longest: int) -> str:
    name = {"uniform": "noisy_max_uniform", "first": "noisy_max_first"}[data.get("ties", "uniform")]
    return f"{name} {noise_of(data['noise'], words)} [{'; '.join(answers)}]"


def _geometric(data: Data, words: TheoremNames, answers: Sequence[str], longest: int) -> str:
    return f"one_answer {noise_of(data['noise'], words)} {answers[0]}"


def _randomized_response(data: Data, words: TheoremNames, answers: Sequence[str], longest: int) -> str:
    values = [words.number(as_value(value)) for value in data.get("values", BITS)]
    if "truth" in data:
        truth = words.probability(data["truth"])
    else:
        coin = words.probability(data["coin"])
        truth = f"{coin} + (1 - {coin}) / {len(values)}"
    return f"randomized_response ({truth})%case [{'; '.join(values)}] {answers[0]}"


def _above_threshold(data: Data, words: TheoremNames, answers: Sequence[str], longest: int) -> str:
    if "queries" not in data:
        raise UnsupportedError("the theories have no words for answers that an adversary chooses")
    threshold = f"({words.whole(parse(str(data['threshold'])))})"
    drawn = " ".join(noise_of(data[key], words) for key in ("threshold_noise", "query_noise"))
    return f"above_threshold {drawn} {longest} {threshold} [{'; '.join(answers)}]"


KINDS: Mapping[str, Callable[[Data, TheoremNames, Sequence[str], int], str]] = {
    "noisy_max": _noisy_max,
    "geometric": _geometric,
    "randomized_response": _randomized_response,
    "above_threshold": _above_threshold,
}


DISTRIBUTIONS = ("bernoulli", "binomial", "uniform", "categorical", "given")


@dataclass(frozen=True)
class PriorDefinitions:
    """Definitions of a file, and the words that later ones may use."""

    lines: tuple[str, ...]
    words: TheoremNames


def prior_of(
    prior: Data,
    parameters: Mapping[str, str],
    released: Iterable[object] = (),
    *,
    quotients: bool = True,
) -> PriorDefinitions:
    """Returns the definition of `prior`, and of the value of each of its variables in a world.

    `released` are further values that have numbers in the file, such as those that a mechanism may report.
    `quotients` are those of `TheoremNames`.

    Raises:
        UnsupportedError: an entry that the theories have no words for, or labels among numbers.
    """
    own = named(list(prior), _taken(parameters))
    values: dict[str, set[Value]] = {}
    for name, entry in prior.items():
        values[name] = _values(entry, values)
    reported = {as_value(value) for value in released}
    for name, found in (*values.items(), ("the output", reported)):
        if len({isinstance(value, str) for value in found}) > 1:
            raise UnsupportedError(f"{name} has labels and numbers, and worlds have numbers only")
    texts = {value for found in (*values.values(), reported) for value in found if isinstance(value, str)}
    labels = {text: k for k, text in enumerate(sorted(texts))}
    words = TheoremNames(parameters, own, labels, quotients)
    lines = [
        f"Definition {own[name]} (w : world) := variable_in w {place}." for place, name in enumerate(prior)
    ]
    if labels:
        told = ", ".join(f"{k} stands for {text!r}" for text, k in labels.items())
        lines.insert(0, f"(* Labels are numbers: {comment(told)}. *)")
    entries = [f"  fun w => {_entry(name, prior[name], words, values)}" for name in prior]
    lines += ["", "Definition prior : network := [", ";\n".join(entries), "]."]
    return PriorDefinitions(tuple(lines), words)


def _taken(parameters: Mapping[str, str]) -> frozenset[str]:
    return RESERVED | frozenset(parameters.values())


def _values(entry: object, earlier: Mapping[str, set[Value]]) -> set[Value]:
    """Returns the values that an entry names: labels, and numbers; an expression may have further numbers."""
    if isinstance(entry, str):
        tree = parse(entry)
        if isinstance(tree.root, Name):
            return earlier.get(tree.root.name, set())  # none for an entry of an array
        return {tree.root.value} if isinstance(tree.root, Text) else set()
    if not isinstance(entry, Mapping):
        return set()
    rows = [entry.get("categorical", ()), entry.get("uniform", ()), *(entry.get("table") or {}).values()]
    return {as_value(value) for row in rows for value in row}


def _entry(name: str, entry: object, words: TheoremNames, known: Mapping[str, set[Value]]) -> str:
    if isinstance(entry, (str, int)):
        return f"determined ({words.whole(parse(str(entry)))})"
    if not isinstance(entry, Mapping) or len(_kinds(entry)) != 1 or "count" in entry or "like" in entry:
        raise UnsupportedError(f"the theories have no words for the prior of {name}")
    kind = _kinds(entry)[0]
    if kind == "bernoulli":
        return f"bernoulli {_atom(words.probability(entry[kind]))}"
    if kind == "binomial":
        trials, success = entry[kind]
        return f"binomial {trials} {_atom(words.probability(success))}"
    if kind == "uniform":
        share = f"(1 / {len(entry[kind])})%case"
        values = "; ".join(f"({_value(value, words)}, {share})" for value in entry[kind])
        return f"listed [{values}]"
    if kind == "categorical":
        return f"listed {_row(entry[kind], words)}"
    given = [entry["given"]] if isinstance(entry["given"], str) else list(entry["given"])
    rows = {}
    for key, row in entry["table"].items():
        parts = [key] if len(given) == 1 else key.split(",")
        meant = [_meant(part, known[other]) for part, other in zip(parts, given, strict=True)]
        rows["; ".join(map(words.number, meant))] = _row(row, words)
    if len(rows) < len(entry["table"]):
        raise UnsupportedError(f"two rows of {name} have the same numbers")
    listed = "; ".join(f"([{values}], {row})" for values, row in rows.items())
    chosen = "; ".join(f"{words.variables[other]} w" for other in given)
    return f"row_of [{listed}] [{chosen}]"


def _meant(part: str, known: set[Value]) -> Value:
    """Returns the value that a part of the key of a row names: blanks count only where a label has them."""
    found = part if part in known else part.strip()
    return found if found in known else as_value(found)


def _kinds(entry: Data) -> list[str]:
    return [key for key in DISTRIBUTIONS if key in entry]


def _row(row: Data, words: TheoremNames) -> str:
    values = (f"({_value(value, words)}, {words.probability(p)}%case)" for value, p in row.items())
    return f"[{'; '.join(values)}]"


def _value(given: object, words: TheoremNames) -> str:
    return words.number(as_value(given))


def _atom(text: str) -> str:
    return f"({text})%case"


def secrets_of(secrets: Data, words: TheoremNames) -> list[str]:
    """Returns the definition of each secret, and of the pairs.

    Raises:
        UnsupportedError: a secret that the theories have no words for.
    """
    pairs = secrets["pairs"]
    wanted = list(dict.fromkeys(name for pair in pairs for name in pair))
    taken = _taken(words.parameters) | frozenset(words.variables.values())
    own = named(wanted, taken)
    lines = []
    for name in wanted:
        if not isinstance(secrets.get(name), str):
            raise UnsupportedError(f"the theories have no words for the secret {name}")
        lines.append(f"Definition {own[name]} : secret := fun w => {words.condition(parse(secrets[name]))}.")
    told = "; ".join(f"({own[a]}, {own[b]})" for a, b in pairs)
    return [*lines, f"Definition secrets := [{told}]."]


Json = Mapping[str, Any]

CHAIN = "Hmm.v says what a hidden Markov model is, how likely its sequences are, and what privacy means."
MAX_STATES = 250  # of a model that is written out without parameters
MAX_SYMBOLIC = 100  # of one with parameters
MAX_WORDS = 5_000  # sequences that are compared one by one in Coq

CHOSEN = (
    "(* An adversary chooses the inputs of the mechanism, step by step. A symbol has the input in each of",
    "   the two worlds, and the output. The probability of a step is the probability of that output for",
    "   that input. *)",
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
        "(* These definitions are not those of the case file: they are the hidden Markov model that",
        "   paramverify computed from it. A step has a symbol, a state, the next state and a probability. A",
        "   secret has weights of the states. The reason is:",
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

    if not isinstance(model.measure, DistanceBound):
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
    if document.get("rule") in CERTIFICATES:
        if not _same(model, document):
            raise UnsupportedError("its proof is about a model with fewer states")
        write, theorem = CERTIFICATES[document["rule"]]
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
    if is_about(model, PositiveParts):
        return StatedTheorem(
            definitions,
            f"sequences_approximately_private ({{point}}) model {lengths} ({{ratio}}) ({{delta}}) secrets",
            f"approximate_lengths_theorem evidence sums model {lengths} secrets ratio delta",
            f"every set of sequences of a length is {ALIKE}",
            CHAIN,
        )
    if isinstance(model.measure, DistanceBound):
        return StatedTheorem(
            definitions,
            f"sequences_private_by ({{point}}) model {about} bounds",
            f"distances_theorem evidence model {lengths} bounds",
            "for every sequence of outputs, the ratio of its probabilities for an input and its neighbour\n"
            "    is at most the bound of their distance",
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
    if document.get("rule") not in CERTIFICATES or _same(model, document):
        return model
    return lump(model).model


def _same(model: Model, document: Json) -> bool:
    given = {name: document[name] for name in ("domain", "model")}
    return json.dumps(engine_document(model), sort_keys=True) == json.dumps(given, sort_keys=True)
