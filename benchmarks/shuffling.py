"""Shuffled randomised responses: the exact least ε beside the general bound of [FeldmanMT21], and times.

    python benchmarks/shuffling.py [--people 10,100,1000] [--interval]

One person of n is protected; all answer with truth t, and the records of the others are no. The closed bound
there is for every local randomiser with ε₀ and all records of the others: where ε₀ ≤
ln(n/(16·ln(2/δ))), shuffling gives ε = ln(1 + (e^ε₀ − 1)/(e^ε₀ + 1)·(8·√(e^ε₀·ln(4/δ)/n) + 8·e^ε₀/n)).
With `--interval` the least δ for e^ε = 5/4 is proved for every t in [1/2, 4/5]. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from fractions import Fraction
from math import exp, log, sqrt
from pathlib import Path

from paramverify.models.model import SETS, need_privacy
from paramverify.portfolio.session import Options, Session
from paramverify.privacy.cases import load
from paramverify.reports.budgets import set_budget_document
from paramverify.synthesis.least_sets import least_bound
from paramverify.synthesis.set_needs import NeedKind

CASE = """
[parameters]
{parameters}
[prior]
own = {{ bernoulli = "1/2" }}
others = {{ binomial = [{others}, "1 - {truth}"] }}
[mechanism]
kind = "program"
source = \"\"\"
if flip({truth}):
    return others + own
return others + 1 - own
\"\"\"
[mechanism.inputs]
own = "own"
others = "others"
[secrets]
yes = "own == 1"
no = "own == 0"
pairs = [["yes", "no"]]
[privacy]
{bounds}
"""
ROWS = (("2/3", "1/10"), ("3/4", "1/1000"), ("3/4", "1/1000000"))
PRECISION = Fraction(1, 10**9)


def general_bound(people: int, local: float, delta: float) -> float | None:
    """Returns the ε of the theorem, rounded; None where it does not apply."""
    if local > log(people / (16 * log(2 / delta))):
        return None
    e = exp(local)
    return log(1 + (e - 1) / (e + 1) * (8 * sqrt(e * log(4 / delta) / people) + 8 * e / people))


def least(people: int, truth: str, bounds: str, parameters: str = "") -> tuple[dict[str, object], float]:
    """Returns the least ε, or δ where ε is given, as a document, and the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.toml"
        text = CASE.format(others=people - 1, truth=truth, bounds=bounds, parameters=parameters)
        path.write_text(text, encoding="utf-8")
        begin = time.perf_counter()
        with Session(Options(seconds=3600)) as session:
            model = need_privacy(load(path).model, "this benchmark", events=SETS)
            kind = NeedKind.DELTA if parameters else NeedKind.RATIO
            found = set_budget_document(model, least_bound(model, session, PRECISION, kind), {})
    return found, time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", default="10,100,1000")
    parser.add_argument("--interval", action="store_true")
    chosen = parser.parse_args()
    numbers = [int(n) for n in chosen.people.split(",")]
    if chosen.interval:
        print("| people | least δ for e^ε = 5/4 and every t in [1/2, 4/5] | seconds |\n| --- | --- | --- |")
        for people in numbers:
            bounds = 'ratio = "5/4"\ndelta = "1"'
            found, seconds = least(people, "t", bounds, 't = "[1/2, 4/5]"')
            told = f"{float(Fraction(str(found['delta']))):.6g}" if "delta" in found else "not exact"
            print(f"| {people:,} | {told} | {seconds:.1f} |", flush=True)
        return
    print("| people | truth | δ | least ε | bound of the theorem | seconds |\n" + "| --- " * 6 + "|")
    for people in numbers:
        for truth, delta in ROWS:
            found, seconds = least(people, truth, f'ratio = "1"\ndelta = "{delta}"')
            t = Fraction(truth)
            general = general_bound(people, log(t / (1 - t)), float(Fraction(delta)))
            told = f"{general:.4f}" if general is not None else "does not apply"
            print(
                f"| {people:,} | {truth} | {delta} | {found['epsilon']:.4f} | {told} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
