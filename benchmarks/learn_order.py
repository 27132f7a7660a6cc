"""Learns which backend to start first, from what benchmarks/literature.py measured.

    python benchmarks/learn_order.py RESULTS [--limit 20] [--write]

A decision tree of scikit-learn (the extra `stats`) predicts the logarithm of the seconds of each backend from
the features of a claim (`paramverify.portfolio.backend_order`). In each leaf the order is greedy: next comes
the backend that saves most seconds beside those before it. An open claim counts with twice the limit. Claims
that nobody decides say nothing, and so do those that the built-ins settle before any race. Families of claims
are held out one after the other: the printed seconds are those of the backends that come first, on claims
that the tree has not seen. `--write` replaces the tree that the package has.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from math import log10
from pathlib import Path
from typing import Any

from literature import ROOT, questions
from sklearn.tree import DecisionTreeRegressor

from paramverify.answers import Open
from paramverify.backends import taking_part
from paramverify.exact.branching import decide_exactly
from paramverify.portfolio.backend_order import FEATURES, OWN, leaf, tree_features, tree_of
from paramverify.portfolio.session import QUICK

LEAST = 0.02  # seconds: what an attempt needs at least, so that noise below says nothing
DEPTH, IN_LEAF, PRIOR = 3, 5, 5

Row = tuple[dict[str, float], dict[str, float]]


def greedy(rows: Sequence[Row], every: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Returns the names so that each, after those before it, leaves the fewest seconds in sum.

    Few claims say little: all claims together count as much as `PRIOR` of the leaf.
    """
    weighted = [(1.0, s) for _, s in rows] + [(PRIOR / len(every), s) for _, s in every]
    order: list[str] = []
    while len(order) < len(names):
        left = [name for name in names if name not in order]
        order.append(
            min(left, key=lambda name: sum(w * min(s[n] for n in (*order, name)) for w, s in weighted))
        )
    return order


def fitted(rows: Sequence[Row], names: Sequence[str]) -> Any:
    """Returns the tree of rows of features and seconds, as JSON data."""
    model = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=IN_LEAF, random_state=0)
    asked = [[found[feature] for feature in FEATURES] for found, _ in rows]
    model.fit(asked, [[log10(seconds[name]) for name in names] for _, seconds in rows])
    grown, places = model.tree_, model.apply(asked)

    def node(number: int) -> dict[str, Any]:
        if grown.children_left[number] == grown.children_right[number]:
            seconds = {name: round(10 ** float(grown.value[number][k][0]), 3) for k, name in enumerate(names)}
            near = [row for row, place in zip(rows, places, strict=True) if place == number]
            order = greedy(near, rows, names)
            return {
                "claims": int(grown.n_node_samples[number]),
                "seconds": {name: seconds[name] for name in order},
            }
        return {
            "feature": FEATURES[grown.feature[number]],
            "at": float(grown.threshold[number]),
            "below": node(grown.children_left[number]),
            "above": node(grown.children_right[number]),
        }

    return node(0)


def main() -> None:
    """Learns, tells what it is worth on claims that were held out, and writes the tree."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    measured: dict[str, dict[str, float]] = defaultdict(dict)
    for line in chosen.results.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        seconds = max(row["seconds"], LEAST) if row["said"] else 2 * chosen.limit
        measured[row["name"]][row["who"]] = seconds
    names = [found.name for found in taking_part()]
    rows, families = [], []
    for question in questions(ROOT / "cases" / "inequalities"):
        seconds = {name: measured[question.name].get(name, 2 * chosen.limit) for name in names}
        if min(seconds.values()) > chosen.limit:
            continue
        if isinstance(decide_exactly(question.claim, replace(QUICK)), Open):
            rows.append((tree_features(question.claim), seconds))
            families.append(question.name.split("-")[0])
    told: dict[str, list[float]] = {"virtual best": [min(seconds.values()) for _, seconds in rows]}
    for name in names:
        told[f"always {name}"] = [seconds[name] for _, seconds in rows]
    for first in combinations(names, 2):
        told[f"always {' and '.join(first)}"] = [min(seconds[name] for name in first) for _, seconds in rows]
    held: list[float] = []
    two: list[float] = []
    for family, (asked, seconds) in zip(families, rows, strict=True):
        others = [row for row, other in zip(rows, families, strict=True) if other != family]
        order = list(leaf(tree_of(fitted(others, names)), asked).seconds)
        held.append(seconds[order[0]])
        two.append(min(seconds[name] for name in order[:2]))
    told["the tree, held out"] = held
    told["the first two of the tree, held out"] = two
    print(
        f"{len(rows)} claims of {len(set(families))} families that a race decides, limit {chosen.limit:g} s\n"
    )
    print("| first | decided | total s | regret s | within 1.2 times and 0.05 s of the best |")
    print("| --- | --- | --- | --- | --- |")
    best = told["virtual best"]
    for who, seen in told.items():
        near = sum(s <= 1.2 * b + 0.05 for s, b in zip(seen, best, strict=True))
        decided = sum(s <= chosen.limit for s in seen)
        print(f"| {who} | {decided} | {sum(seen):.1f} | {sum(seen) - sum(best):.1f} | {near} |")
    if chosen.write:
        OWN.write_text(json.dumps(fitted(rows, names), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
