"""A second reading of `[prior]`: the distribution of each variable, given the values of earlier ones.

Standard library only, and no code of the first reader. Everything is a number: see `second_numbers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import Any

from .second_mechanisms import distribution, noise
from .second_numbers import Calculator, Value, meaning


def written(prior: Mapping[str, Any], name: str) -> Any:
    """Returns the entry of a variable, which may be like another one with a part of its own.

    Raises:
        ValueError: it is like one that does not stand before it.
    """
    entry = prior[name]
    if not isinstance(entry, dict) or "like" not in entry:
        return entry
    names = list(prior)
    if entry.keys() - {"like", "given", "around"} or names.index(entry["like"]) >= names.index(name):
        raise ValueError("an entry that is like another one, with other keys or in another order")
    other = written(prior, entry["like"])
    return {**other, **{key: value for key, value in entry.items() if key != "like"}}


def row(entry: Any, assignment: Mapping[str, Value], here: Calculator) -> dict[Value, Fraction]:
    """Returns the distribution of a variable of the prior, given the earlier ones."""
    if "given" in entry:
        given = [entry["given"]] if isinstance(entry["given"], str) else entry["given"]
        fitting = [
            found for key, found in entry["table"].items() if _fits(key, [assignment[g] for g in given])
        ]
        if len(fitting) != 1:
            raise ValueError(f"{len(fitting)} rows fit {assignment}")
        entry = {"categorical": fitting[0]}
    if "truncated_geometric" in entry:
        chances = noise({"truncated_geometric": entry["truncated_geometric"], "range": entry["range"]}, here)
        centre = here.number(entry["around"])
        if centre.denominator != 1 or not 0 <= centre < len(chances):
            raise ValueError("noise around a number that is out of its range")
        return {Fraction(k): p for k, p in enumerate(chances[int(centre)])}
    if "bernoulli" in entry:
        chance = here.number(entry["bernoulli"])
        return {Fraction(0): 1 - chance, Fraction(1): chance}
    if "binomial" in entry:
        trials, chance = int(entry["binomial"][0]), here.number(entry["binomial"][1])
        return {
            Fraction(k): comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)
        }
    if "uniform" in entry:
        return distribution((meaning(v), Fraction(1, len(entry["uniform"]))) for v in entry["uniform"])
    given = entry["categorical"]
    rows = given.items() if isinstance(given, dict) else given
    return distribution((meaning(v), here.number(p)) for v, p in rows)


def _fits(key: str, values: Sequence[Value]) -> bool:
    parts = [key] if len(values) == 1 else key.split(",")
    return len(parts) == len(values) and all(
        value in (part, meaning(part)) or (len(parts) > 1 and value in (part.strip(), meaning(part.strip())))
        for part, value in zip(parts, values, strict=True)
    )
