"""Evidence of every kind that commands write of small cases, shipped ones and others: what forgers change."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramverify.cli.main import run

Json = dict[str, Any]
CASES = Path(__file__).resolve().parents[2] / "cases"

QUOTIENT = """
[parameters]
p = "(0, 1)"
q = "(0, 1)"
constraints = ["p > q"]
[define]
f = "p/(p - q)"
[claim]
holds = "{claim}"
"""
MAP = """
[parameters]
p = "[0, 1]"
q = "[0, 1)"
constraints = ["p + q <= 3/2", "(p - 1/2)**2 + (q - 1/3)**2 + 1/100 > 0"]
[define]
f = "(2*p**2 + 2*q**2)/(1 + p*q*(p - q)**2 - p**3*q/4)"
[claim]
holds = "f >= 1"
"""
LINE = """
title = "A line"
[parameters]
p = "(0, 1)"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "p", y = "1-p" }
b = { x = "p/2", y = "1-p/2" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
epsilon = 0.9
"""
DELTAS = LINE.replace("epsilon = 0.9", 'ratio = "3/2"\ndelta = "1/2"').replace("(0, 1)", "[1/8, 1]")
TIES = """
[mechanism]
kind = "noisy_max"
queries = {queries}
noise = {{ truncated_geometric = {noise}, range = 2 }}
ties = "uniform"
[neighbours]
differ = "each"
[privacy]
ratio = "{ratio}"
"""
SCRIPT = """(set-logic QF_NRA)
(declare-const x Real)(declare-const y Real)(declare-fun p () Bool)
(push 1)
(assert (< (+ (* x x) (* y y)) (* 2 x y)))
(assert (or p (> (* x x) 3)))
(check-sat)
(pop 1)
(assert (> (* x x) 2))
(assert (xor p (< x y)))
(check-sat)
(push 1)
(assert (and (< x 1) (> x 0)))
(check-sat)
(pop 1)
"""


@dataclass(frozen=True)
class Order:
    """A command that writes evidence: of a shipped case by its name, or of a text; and its options."""

    name: str
    command: str
    case: str
    options: tuple[str, ...] = ()
    text: str = ""
    ending: str = "toml"

    def about(self, folder: Path) -> str:
        """Returns what the command is about: a file, or noise by its name."""
        if not self.text:
            noise = ".toml" not in self.case and ".dipa" not in self.case
            return self.case if noise else str(CASES / self.case)
        path = folder / f"{self.name}.{self.ending}"
        path.write_text(self.text, encoding="utf-8")
        return str(path)


def _verify(*names: str) -> list[Order]:
    return [Order(name.replace("/", " "), "verify", f"{name}.toml") for name in names]


ALONE = ("--backends", "built-in")
ORDERS = (
    *_verify("noisy-max-independent-below", "randomized-response", "touching-disc", "sample-n-runtime"),
    *_verify("geometric-independent-below", "noisy-max-3-below", "blood-test", "survey-fresh"),
    *_verify("noisy-max-contagious", "geometric-metric", "geometric-neighbours", "discrete-laplace"),
    *_verify("noisy-max-naive-3-ln2", "coarse-noise", "release-household", "sample-n-utility"),
    *_verify("time-series-2-all", "survey-memory-all", "above-threshold", "time-series-2-day-3-all"),
    *_verify("inequalities/amgm-4-false", "inequalities/disc-line", "inequalities/disc-product-false"),
    *_verify("inequalities/cauchy-3", "inequalities/form-motzkin-affine", "inequalities/amgm-3"),
    *_verify("approximate/geometric-independent-below", "approximate/noisy-max-below"),
    *_verify("approximate/survey-and-count", "approximate/shuffled-responses", "approximate/noisy-max"),
    *_verify("divergences/geometric-kl", "divergences/geometric-kl-below", "divergences/geometric-renyi"),
    *_verify("divergences/geometric-renyi-below", "divergences/survey-zcdp"),
    *_verify("divergences/geometric-zcdp-below", "divergences/shuffled-total-variation"),
    *_verify("programs/noisy-max-half-noise", "programs/numeric-laplace-one-sided"),
    *_verify("programs/sparse-vector-gauss", "programs/noisy-max-gauss", "programs/interval-test"),
    *_verify("programs/discrete-gauss-threshold", "programs/subsampled-count", "programs/family"),
    *_verify("programs/randomized-response-4", "programs/numeric-histogram", "programs/noisy-max-strict"),
    *_verify("automata/stream-sparse-vector-one", "automata/stream-sparse-vector-three-small-noise"),
    *_verify("automata/stream-two-ranges", "automata/stream-sparse-vector-never-stops"),
    *(
        Order(f"automata {name}", "verify", f"automata/{name}.dipa")
        for name in (
            "sparse-vector",
            "min-max-three",
            "two-ranges",
            "every-number",
            "sparse-vector-geometric",
        )
    ),
    *(
        Order(f"interactive {name}", "interactive", f"interactive/{name}.toml")
        for name in (
            "slots-0",
            "slots-2-one-value",
            "sample-n",
            "survey",
            "slots-1-bad-noise",
            "slots-1-full",
        )
    ),
    Order("interactive unwinding-add-only", "interactive", "interactive/unwinding-add-only.toml"),
    Order("interactive slots-2-symbolic", "interactive", "interactive/slots-2-symbolic.toml"),
    Order("every slots", "interactive", "interactive/slots-2-symbolic.toml", ("--every",)),
    Order("every full slots", "interactive", "interactive/slots-2-full.toml", ("--every",)),
    *(
        Order(f"budget of {name}", "budget", f"interactive/{name}.toml")
        for name in ("slots-2-one-value", "sample-n", "unwinding-add-only")
    ),
    *(
        Order(f"logic {name}", "logic", f"logic/{name}.toml")
        for name in ("survey", "survey-coin", "geometric", "emptiness", "equal-copies", "double-survey")
    ),
    Order("logic interactive-survey", "logic", "logic/interactive-survey.toml"),
    Order("budget of noisy max", "budget", "noisy-max-independent-below.toml", ALONE),
    Order("budget of a survey", "budget", "randomized-response.toml", ALONE),
    Order("budget of delta", "budget", "approximate/geometric-independent-below.toml", ("--delta-for", "1")),
    Order(
        "budget of epsilon",
        "budget",
        "approximate/geometric-independent-below.toml",
        ("--epsilon-for", "1/9"),
    ),
    Order("budget of kl", "budget", "divergences/geometric-kl-below.toml", ("--precision", "1e-2")),
    Order("budget of streams", "budget", "automata/stream-sparse-vector-one.toml"),
    Order("budget of an automaton", "budget", "automata/sparse-vector.dipa"),
    Order(
        "region of noisy max", "synthesize", "noisy-max-contagious.toml", ("--region", "--coverage", "1/2")
    ),
    Order("region of a survey", "synthesize", "survey-memory.toml", ("--region", "--coverage", "1/4")),
    Order("region of sets", "synthesize", "approximate/family-map.toml", ("--region", "--coverage", "1/4")),
    Order("line of a clique", "synthesize", "flu-clique.toml", ("--exact",)),
    Order(
        "composed survey", "compose", "randomized-response.toml:times=3,p=1/2,t=2/3", ("--delta-for", "ln(3)")
    ),
    Order("composed cases", "compose", "approximate/noisy-max-below.toml:times=2", ("--delta-for", "ln(2)")),
    Order(
        "composed noise", "compose", "gaussian:sigma=2,times=5", ("--delta-for", "1", "--precision", "1e-1")
    ),
    Order("composed answers", "compose", "randomized_response:epsilon=1,times=4", ("--delta-for", "2")),
    Order(
        "composed answers exactly",
        "compose",
        "randomized_response:epsilon=ln(3),times=2",
        ("--delta-for", "ln(3)"),
    ),
    Order(
        "composed samples",
        "compose",
        "discrete_laplace:epsilon=1,times=2,subsample=1/4",
        ("--delta-for", "1/2"),
    ),
    Order("quotient", "verify", "", text=QUOTIENT.format(claim="f > 1")),
    Order("quotient false", "verify", "", text=QUOTIENT.format(claim="p*q < 1/2")),
    Order("map", "synthesize", "", ("--region", "--parameters", "p,q", "--coverage", "1/4"), MAP),
    Order("line", "synthesize", "", ("--exact",), LINE.replace("epsilon = 0.9", 'ratio = "9/4"')),
    Order("exponential", "verify", "", text=LINE),
    Order("delta", "verify", "", text=DELTAS),
    Order(
        "delta broken",
        "verify",
        "",
        text=DELTAS.replace('1/2"\n', '1/2"\n').replace('delta = "1/2"', 'delta = "1/9"'),
    ),
    Order("ties", "verify", "", text=TIES.format(queries=3, noise='"1/2"', ratio=9)),
    Order(
        "closed cone",
        "verify",
        "",
        text=(CASES / "survey-memory-all.toml").read_text().replace("t/(1 - t)", "3").replace('"t"', '"3/4"'),
    ),
    Order(
        "no budget",
        "verify",
        "",
        text=(CASES / "above-threshold-all.toml").read_text().replace("4*ln(2)", "100*ln(2)"),
    ),
    Order("script", "verify", "", ALONE, SCRIPT, "smt2"),
)


def write(order: Order, folder: Path, seconds: float = 60) -> Path | None:
    """Writes the evidence of an order, unless it is there; None if the command writes none."""
    path = folder / f"{order.name}.json"
    if not path.exists():
        words = [order.command, order.about(folder), *order.options, "--evidence", str(path)]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run([*words, "--timeout", str(seconds)])
    return path if path.exists() else None


def read(path: Path) -> Json:
    """Returns a document."""
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found
