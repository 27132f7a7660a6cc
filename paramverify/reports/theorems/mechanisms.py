"""Mechanisms of a case in the words of `proofs/theories/Mechanisms.v`, kind by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paramverify.algebra.expressions import parse
from paramverify.errors import UnsupportedError
from paramverify.models.names import as_value
from paramverify.reports.theorems.words import TheoremNames

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
