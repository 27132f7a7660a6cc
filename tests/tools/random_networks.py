"""Random priors as tables of a case file, and what they mean by enumeration with fractions.

The meaning is written down together with the text, and shares no code with the package.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

Row = dict[Any, Fraction]
POINT = {"p": Fraction(2, 7), "q": Fraction(3, 5)}
CHANCES = {
    "p": POINT["p"],
    "1-q": 1 - POINT["q"],
    "p*q": POINT["p"] * POINT["q"],
    "p/(1+q)": POINT["p"] / (1 + POINT["q"]),
    "0": Fraction(0),
    "1": Fraction(1),
    "1/3": Fraction(1, 3),
}


@dataclass
class World:
    """A prior as text, two secrets, queries, and the functions that say what all of them mean."""

    prior: dict[str, Any] = field(default_factory=dict)
    draws: list[tuple[str, Callable[[dict[str, Any]], Row]]] = field(default_factory=list)
    values: dict[str, list[Any]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)

    def expected(self) -> dict[str, dict[tuple[Any, ...], Fraction]]:
        """Returns the weights of the answers under each secret, by going through all assignments."""
        worlds: list[tuple[dict[str, Any], Fraction]] = [({}, Fraction(1))]
        for name, draw in self.draws:
            worlds = [({**w, name: v}, m * p) for w, m in worlds for v, p in draw(w).items() if m * p]
        found: dict[str, dict[tuple[Any, ...], Fraction]] = {name: {} for name in self.secrets}
        for world, mass in worlds:
            answers = tuple(meant(query, world) for query in self.queries)
            for name, text in self.secrets.items():
                if meant(text, world):
                    found[name][answers] = found[name].get(answers, Fraction(0)) + mass
        return found


def meant(text: str, world: dict[str, Any]) -> Any:
    """Returns the value of an expression without division, as Python has it."""
    value = eval(text, {"min": min, "max": max, "abs": abs}, world)
    return Fraction(value) if isinstance(value, (bool, int)) else value


def world(rng: Random, most: int = 6) -> World:
    """Returns a random prior with secrets and queries."""
    made = World()
    for k in range(rng.randint(2, most)):
        name, kind = f"v{k}", rng.choice(("drawn", "drawn", "given", "given", "derived", "noise"))
        numbers = [n for n, vs in made.values.items() if not any(isinstance(v, str) for v in vs)]
        if kind == "given" and made.values:
            _given(made, name, rng)
        elif kind == "derived" and numbers:
            _derived(made, name, (rng, numbers))
        elif kind == "noise" and numbers:
            _noisy(made, name, (rng, numbers))
        else:
            row, own = _row(rng)
            made.prior[name] = {"categorical": {str(v): text for v, text in row.items()}}
            made.draws.append((name, lambda _, own=own: own))
            made.values[name] = list(row)
    for secret in ("left", "right"):
        made.secrets[secret] = " and ".join(_condition(made, rng) for _ in range(rng.randint(1, 2)))
    made.queries = [_query(made, rng) for _ in range(rng.randint(1, 2))]
    return made


def _row(rng: Random) -> tuple[dict[Any, str], Row]:
    """Returns a distribution as texts, and as numbers."""
    values: list[Any] = ["ill", "well", 5] if rng.random() < 0.15 else [0, 1, 2]
    text = rng.choice(list(CHANCES))
    chance = CHANCES[text]
    if rng.random() < 0.4:
        row = {values[0]: f"({text})/2", values[1]: f"1-({text})", values[2]: f"({text})/2"}
        return row, dict(zip(values, (chance / 2, 1 - chance, chance / 2), strict=True))
    return {values[0]: text, values[1]: f"1-({text})"}, {values[0]: chance, values[1]: 1 - chance}


def _given(made: World, name: str, rng: Random) -> None:
    parents = rng.choices(list(made.values), k=rng.randint(1, 2))  # also one variable twice
    table, meaning = {}, {}
    base, _ = _row(rng)
    for combination in product(*(made.values[parent] for parent in parents)):
        chance = rng.choice(list(CHANCES))
        listed = list(base)[:2]
        table[",".join(map(str, combination))] = {str(listed[0]): chance, str(listed[1]): f"1-({chance})"}
        meaning[combination] = {listed[0]: CHANCES[chance], listed[1]: 1 - CHANCES[chance]}
    made.prior[name] = {"given": parents, "table": table}
    made.draws.append((name, lambda w: meaning[tuple(w[parent] for parent in parents)]))
    made.values[name] = list(base)[:2]


def _derived(made: World, name: str, from_: tuple[Random, list[str]]) -> None:
    rng, numbers = from_
    some = [rng.choice(numbers) for _ in range(rng.randint(1, 4))]
    text = rng.choice((" + ".join(some), f"max({', '.join(some)}, 1)", f"2*{some[0]} - {some[-1]}"))
    made.prior[name] = text
    made.draws.append((name, lambda w: {meant(text, w): Fraction(1)}))
    named = {n: made.values[n] for n in dict.fromkeys(some)}
    made.values[name] = sorted(
        {meant(text, dict(zip(named, vs, strict=True))) for vs in product(*named.values())}
    )


def _noisy(made: World, name: str, from_: tuple[Random, list[str]]) -> None:
    rng, numbers = from_
    around = f"min(abs({rng.choice(numbers)}), 2)"
    made.prior[name] = {"truncated_geometric": "q", "range": 2, "around": around}
    a = POINT["q"]

    def draw(w: dict[str, Any]) -> Row:
        m = int(meant(around, w))
        return {o: a ** abs(o - m) * (1 if o in (0, 2) else 1 - a) / (1 + a) for o in range(3)}

    made.draws.append((name, draw))
    made.values[name] = [0, 1, 2]


def _condition(made: World, rng: Random) -> str:
    name = rng.choice(list(made.values))
    value = rng.choice(made.values[name])
    shown = f"'{value}'" if isinstance(value, str) else str(value)
    plain = f"{name} {rng.choice(('==', '!='))} {shown}"
    others = [n for n, vs in made.values.items() if not any(isinstance(v, str) for v in vs)]
    if others and rng.random() < 0.4:
        return f"({plain} or {rng.choice(others)} + {rng.choice(others)} > 1)"
    return plain


def _query(made: World, rng: Random) -> str:
    numbers = [n for n, vs in made.values.items() if not any(isinstance(v, str) for v in vs)]
    if not numbers or rng.random() < 0.2:
        return rng.choice(list(made.values))
    some = [rng.choice(numbers) for _ in range(rng.randint(1, 4))]
    return rng.choice(
        (
            " + ".join(some),
            f"3*{some[0]} - {some[-1]} + 1",
            f"min({', '.join(some)}, 2)",
            f"({some[0]} == 1) + ({some[-1]} != 0)",
        )
    )
