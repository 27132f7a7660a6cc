"""The prior and the secrets of a case in the words of `proofs/theories/Networks.v`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from paramverify.algebra.expressions import Name, Text, Value, parse
from paramverify.errors import UnsupportedError
from paramverify.models.names import as_value
from paramverify.reports.theorems.words import RESERVED, TheoremNames, comment, named

Data = Mapping[str, Any]

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
