"""Random cases with definitions, shared tables, noise in the prior and labelled releases; and an oracle.

The oracle sums over all values of all variables with fractions. It is made beside the text of the case, from
the same choices, and reads no text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

Env = Mapping[str, Fraction]
Term = tuple[str, Callable[[Env], Fraction]]  # an expression, and what it means


@dataclass(frozen=True)
class World:
    """The text of a case; `weights` gives the joint probability of each (variables, output) at a point."""

    text: str
    secrets: Mapping[str, Callable[[Env], bool]]
    weights: Callable[[Env], list[tuple[Env, str, Fraction]]]

    def probabilities(self, point: Env) -> dict[str, dict[str, Fraction]]:
        """Returns how likely each output is under each secret at a point."""
        joint = self.weights(point)
        found: dict[str, dict[str, Fraction]] = {}
        for name, holds in self.secrets.items():
            mass = sum((p for values, _, p in joint if holds(values)), Fraction(0))
            found[name] = {}
            for values, output, p in joint:
                if holds(values) and mass:
                    found[name][output] = found[name].get(output, Fraction(0)) + p / mass
        return found


def truncated(alpha: Fraction, centre: int, top: int, k: int) -> Fraction:
    """The definition: two-sided geometric noise around a centre, what lies beyond an end given to the end."""
    one_sided = alpha ** abs(k - centre) * (1 - alpha) / (1 + alpha)
    if k not in (0, top):
        return one_sided
    # The tail from k on is a geometric series: α^d (1 + α + α² + ...) (1 − α)/(1 + α).
    return one_sided / (1 - alpha)


def world(seed: int) -> World:
    """Returns a random world with the parameters q in (0, 1) and a in [1/10, 1/2]."""
    rng = Random(seed)
    share = Fraction(rng.randint(1, 9), 10)
    defined: dict[str, Term] = {
        "c": (str(share), lambda e: share),
        "half": ("a/2 + 1/4", lambda e: e["a"] / 2 + Fraction(1, 4)),
        "mix": ("c*q + (1 - c)*half", lambda e: share * e["q"] + (1 - share) * (e["a"] / 2 + Fraction(1, 4))),
        "total": ("x1 + x2 + x3", lambda e: e["x1"] + e["x2"] + e["x3"]),
    }
    chances: list[Term] = [(name, defined[name][1]) for name in ("c", "half", "mix")] + [
        ("q", lambda e: e["q"]),
        ("mix*c", lambda e: defined["mix"][1](e) * share),
    ]
    rows = [rng.choice(chances), rng.choice(chances)]
    alpha: Term = rng.choice([("a", lambda e: e["a"]), ("half", defined["half"][1])])
    table = ", ".join(f'{v} = {{ 0 = "1 - {t}", 1 = "{t}" }}' for v, (t, _) in enumerate(rows))
    mechanism, released = _mechanism(rng, chances)
    limit = rng.randint(1, 2)
    secrets: dict[str, tuple[str, Callable[[Env], bool]]] = {
        "left": (f"x1 == 1 and total >= {limit}", lambda e: e["x1"] == 1 and _total(e) >= limit),
        "right": ("total <= 1", lambda e: _total(e) <= 1),
    }
    text = f"""
[parameters]
q = "(0, 1)"
a = "[1/10, 1/2]"

[define]
{chr(10).join(f'{name} = "{given}"' for name, (given, _) in defined.items())}

[prior]
x1 = {{ bernoulli = "{rows[0][0]}" }}
x2 = {{ given = "x1", table = {{ {table} }} }}
x3 = {{ like = "x2", given = "x2" }}
n = {{ truncated_geometric = "{alpha[0]}", range = 2, around = "min(total, 2)" }}
again = {{ like = "n", around = "2 - n" }}

{mechanism}
[secrets]
{chr(10).join(f'{name} = "{given}"' for name, (given, _) in secrets.items())}
pairs = [["left", "right"]]

[privacy]
ratio = "{rng.choice(["2", "1/c", "3 + mix"])}"
"""

    def weights(point: Env) -> list[tuple[Env, str, Fraction]]:
        found: list[tuple[Env, str, Fraction]] = []
        at = alpha[1](point)
        for x1, x2, x3, n, again in product((0, 1), (0, 1), (0, 1), range(3), range(3)):
            values = dict(
                zip(("x1", "x2", "x3", "n", "again"), map(Fraction, (x1, x2, x3, n, again)), strict=True)
            )
            p = _bit(rows[0][1](point), x1) * _bit(rows[x1][1](point), x2) * _bit(rows[x2][1](point), x3)
            p *= truncated(at, min(x1 + x2 + x3, 2), 2, n) * truncated(at, 2 - n, 2, again)
            found += [(values, output, p * r) for output, r in released({**point, **values}).items()]
        return found

    return World(text, {name: holds for name, (_, holds) in secrets.items()}, weights)


def _total(e: Env) -> Fraction:
    return e["x1"] + e["x2"] + e["x3"]


def _bit(chance: Fraction, value: int) -> Fraction:
    return chance if value else 1 - chance


Release = Callable[[Env], dict[str, Fraction]]


def _mechanism(rng: Random, chances: list[Term]) -> tuple[str, Release]:
    """Returns `[mechanism]`, and how likely each output is given all variables."""
    kind = rng.choice(["plain", "table", "noise", "geometric", "labelled"])
    text, chance = rng.choice(chances)
    if kind == "plain":
        names = {Fraction(0): "none", Fraction(1): "one", Fraction(2): "more"}
        labels = ", ".join(f'{v} = "{name}"' for v, name in names.items())
        told = f'[mechanism]\nkind = "release"\nquery = "min(n + again, 2)"\nlabels = {{ {labels} }}\n'
        return told, lambda e: {names[min(e["n"] + e["again"], Fraction(2))]: Fraction(1)}
    if kind == "table":
        no = f'0 = {{ no = "{text}", yes = "1/2 - {text}/2", 7 = "1/2 - {text}/2" }}'
        rows = f'1 = {{ yes = "{text}", no = "1 - {text}" }}, {no}'
        told = f'[mechanism]\nkind = "release"\nquery = "n > again"\ntable = {{ {rows} }}\n'

        def by_table(e: Env) -> dict[str, Fraction]:
            c = chance(e)
            if e["n"] > e["again"]:
                return {"yes": c, "no": 1 - c}
            return {"no": c, "yes": (1 - c) / 2, "7": (1 - c) / 2}

        return told, by_table
    if kind == "noise":
        told = '[mechanism]\nkind = "release"\nquery = "max(n, again)"\n'
        told += f'noise = {{ truncated_geometric = "{text}", range = 2 }}\n'
        return told, lambda e: {
            str(k): truncated(chance(e), int(max(e["n"], e["again"])), 2, k) for k in range(3)
        }
    size = rng.randint(2, 5)
    numbers = [[Fraction(rng.randint(1, 9)) for _ in range(size)] for _ in range(3)]
    numbers = [[v / sum(row) for v in row] for row in numbers]
    rows = ", ".join("[" + ", ".join(f'"{v}"' for v in row) + "]" for row in numbers)
    told = f'[mechanism]\nkind = "geometric"\nquery = "n"\nnoise = {{ table = [{rows}] }}\n'
    names_ = [str(k) for k in range(size)]
    if kind == "labelled":
        names_ = [f"output {'abcdef'[k]}" for k in range(size)]
        told += "labels = { " + ", ".join(f'{k} = "{name}"' for k, name in enumerate(names_)) + " }\n"
    return told, lambda e: dict(zip(names_, numbers[int(e["n"])], strict=True))
