"""The prior and the secrets of a case in the words of `proofs/theories/Networks.v`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from paramverify.algebra.expressions import Text, Value, parse
from paramverify.errors import UnsupportedError
from paramverify.models.names import as_value
from paramverify.reports.theorems.words import RESERVED, Words, comment, named, whole_number

Data = Mapping[str, Any]

DISTRIBUTIONS = ("bernoulli", "binomial", "uniform", "categorical", "given")


@dataclass(frozen=True)
class Told:
    """Definitions of a file, and the words that later ones may use."""

    lines: tuple[str, ...]
    words: Words


def prior_of(prior: Data, parameters: Mapping[str, str]) -> Told:
    """Returns the definition of `prior`, and of the value of each of its variables in a world.

    Raises:
        UnsupportedError: an entry that the theories have no words for.
    """
    own = named(list(prior), _taken(parameters))
    labels = {text: k for k, text in enumerate(sorted(_labels(prior)))}
    words = Words(parameters, own, labels)
    lines = [
        f"Definition {own[name]} (w : world) := variable_in w {place}." for place, name in enumerate(prior)
    ]
    if labels:
        told = ", ".join(f"{k} stands for {text!r}" for text, k in labels.items())
        lines.insert(0, f"(* Labels are numbers: {comment(told)}. *)")
    entries = [f"  fun w => {_entry(name, prior[name], words)}" for name in prior]
    lines += ["", "Definition prior : network := [", ";\n".join(entries), "]."]
    return Told(tuple(lines), words)


def _taken(parameters: Mapping[str, str]) -> frozenset[str]:
    return RESERVED | frozenset(parameters.values())


def _labels(prior: Data) -> Iterable[str]:
    """Returns the texts that variables may have as values."""
    found: set[str] = set()

    def keep(value: Value) -> None:
        if isinstance(value, str):
            found.add(value)

    for entry in prior.values():
        if isinstance(entry, str):
            for node in parse(entry).nodes():
                if isinstance(node, Text):
                    keep(node.value)
        if isinstance(entry, Mapping):
            for key in ("categorical", "uniform"):
                for value in entry.get(key, ()):
                    keep(as_value(value))
            for row in (entry.get("table") or {}).values():
                for value in row:
                    keep(as_value(value))
    return found


def _entry(name: str, entry: object, words: Words) -> str:
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
    rows = []
    for key, row in entry["table"].items():
        parts = [key] if len(given) == 1 else key.split(",")
        values = "; ".join(_value(part.strip(), words) for part in parts)
        rows.append(f"([{values}], {_row(row, words)})")
    chosen = "; ".join(f"{words.variables[other]} w" for other in given)
    return f"row_of [{'; '.join(rows)}] [{chosen}]"


def _kinds(entry: Data) -> list[str]:
    return [key for key in DISTRIBUTIONS if key in entry]


def _row(row: Data, words: Words) -> str:
    values = (f"({_value(value, words)}, {words.probability(p)}%case)" for value, p in row.items())
    return f"[{'; '.join(values)}]"


def _value(given: object, words: Words) -> str:
    value = as_value(given)
    return str(words.labels[value]) if isinstance(value, str) else str(whole_number(value))


def _atom(text: str) -> str:
    return f"({text})%case"


def secrets_of(secrets: Data, words: Words) -> list[str]:
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
