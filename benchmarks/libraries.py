"""Mechanisms of diffprivlib and pure-LDP, adopted from the unchanged packages, and those of `everyday.py`.

    python benchmarks/libraries.py [--install DIR] [--only WORD] [--check 200000] [--limit 60]

Prints Markdown tables. With `--install`, a virtual environment is made in DIR, with the libraries from
PyPI, and the script runs there. With `--check`, each marked mechanism is run that many times on two inputs,
and a chi-square test compares its outputs with the probabilities of what was adopted. The exit code tells
whether every outcome is the expected one.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import inspect
import math
import re
import subprocess
import sys
import time
import venv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "diffprivlib==0.6.6",
    "scikit-learn==1.5.2",
    "pure-ldp==1.2.0",
    "statsmodels",
    "xxhash<3",
    "bitarray",
)
PRIVATE, REFUTED, OPEN = "private", "not private", "not supported"
POSITIVE = "(0, oo)"
ANY = {"differ": "one", "by": "any"}
STEP = {"differ": "one", "by": 1}
PAIRS = [["A", "B", 1], ["A", "C", 2], ["B", "C", 2]]
LEAST_P = 1e-6
OUTSIDE = "its floats, such as p, are read as decimal numbers, because its object is made outside"


def library(name: str) -> Any:
    """Returns a module, or None if its library is not installed."""
    return importlib.import_module(name) if importlib.util.find_spec(name.partition(".")[0]) else None


dp = library("diffprivlib.mechanisms")
transforms = library("diffprivlib.mechanisms.transforms")
ldp = library("pure_ldp.frequency_oracles")
zero = library("pure_ldp.frequency_oracles.zero_oracle.zero_oracle_client")
heavy = library("pure_ldp.heavy_hitters")
core = library("pure_ldp.core")


# --- constructors and calls in one function, where a method alone is not enough ------------------------


def exponential(scores: list[int], epsilon: float) -> Any:
    return dp.Exponential(epsilon=epsilon, sensitivity=1, utility=scores).randomise()


def exponential_monotonic(scores: list[int], epsilon: float) -> Any:
    return dp.Exponential(epsilon=epsilon, sensitivity=1, utility=scores, monotonic=True).randomise()


def exponential_measure(scores: list[int], epsilon: float) -> Any:
    return dp.Exponential(epsilon=epsilon, sensitivity=1, utility=scores, measure=[1, 2, 3]).randomise()


def permute_and_flip(scores: list[int]) -> Any:
    return dp.PermuteAndFlip(epsilon=1, sensitivity=1, utility=scores).randomise()


def categorical(value: str) -> Any:
    return dp.ExponentialCategorical(epsilon=1, utility_list=PAIRS).randomise(value)


def categorical_small(value: str) -> Any:
    return dp.ExponentialCategorical(epsilon=0.0001, utility_list=PAIRS).randomise(value)


def rounded_laplace(value: int, epsilon: float) -> Any:
    return transforms.RoundedInteger(dp.Laplace(epsilon=epsilon, sensitivity=1)).randomise(value)


def binary_numbers(value: int, epsilon: float) -> Any:
    return transforms.IntToString(dp.Binary(epsilon=epsilon, value0="0", value1="1")).randomise(value)


def hadamard_mechanism(data: int, epsilon: float) -> Any:
    return list(ldp.HadamardMechClient(epsilon, 4, 1).privatise(data))


def hadamard_response(data: int) -> Any:
    return ldp.HadamardResponseClient(1, 3, None).privatise(data)


def rappor(data: int, f: float) -> Any:
    return ldp.RAPPORClient(f, 3, [[h] for h in core.generate_hash_funcs(2, 3)], 2).privatise(data)


def sketch_response(data: int) -> Any:
    return ldp.SketchResponseClient(1, 3, core.generate_hash_funcs(2, 3), lh_k=2).privatise(data)


def count_sketch_response(data: int) -> Any:
    pair = (core.generate_hash(2, 0), core.generate_hash(2, 1))
    return ldp.SketchResponseClient(1, 2, [pair], lh_k=2, count_sketch=True).privatise(data)


def index(text: str) -> int:
    return int(text.replace("a", "0").replace("b", "1"), 2)


def prefix_extending(text: str, epsilon: float) -> Any:
    oracle = ldp.DEClient(epsilon, 2, index)
    return heavy.PEMClient(epsilon, 0, 2, 1, ["a", "b"], index, oracle).privatise(text)


def tree_histogram(text: str, epsilon: float) -> Any:
    oracle = ldp.DEClient(epsilon, 2, index)
    return heavy.TreeHistClient(epsilon, 1, 2, ["a", "b"], index, oracle).privatise(text)


def sequence_fragment_puzzle(text: str, epsilon: float) -> Any:
    oracle = ldp.CMSClient(epsilon, core.generate_hash_funcs(1, 2), 2)
    return heavy.SFPClient(epsilon, 1, 2, ["a", "b"], index, oracle).privatise(text)


# --- the rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A mechanism with its inputs and its claim, and what is expected of it."""

    name: str
    function: Callable[..., Any]
    inputs: Mapping[str, object]
    claim: Mapping[str, object] = field(default_factory=lambda: {"epsilon": "epsilon"})
    neighbours: Mapping[str, object] = field(default_factory=lambda: ANY)
    parameters: Mapping[str, object] = field(default_factory=lambda: {"epsilon": POSITIVE})
    expected: str = PRIVATE
    remark: str = ""
    at: Mapping[str, object] | None = None  # the parameters of the law that is checked by samples


ONE: Mapping[str, Any] = {"at": {"epsilon": 1}}
FIXED: Mapping[str, Any] = {"parameters": {}, "claim": {"epsilon": 1}}


def _values(name: str, values: object) -> Mapping[str, object]:
    return {name: {"values": values}}


def _listed(name: str, length: int, values: object) -> Mapping[str, object]:
    return {name: {"length": length, "values": values}}


def diffprivlib_rows() -> Iterator[Row]:
    """Yields all mechanisms of diffprivlib.mechanisms."""
    counts, labels = _values("value", "0..3"), _values("value", ["A", "B", "C"])
    scores, bounds = _listed("scores", 3, "0..2"), {"lower": 0, "upper": 3}
    each = {"differ": "each"}
    one = {"epsilon": 1, "sensitivity": 1}

    def method(name: str, **given: Any) -> Any:
        return getattr(dp, name)(**given).randomise

    steps: Any = {"inputs": counts, "neighbours": STEP}
    binary = method("Binary", epsilon=1, value0="no", value1="yes")
    yield Row("Binary", binary, _values("value", ["no", "yes"]), **ONE)
    yield Row("Geometric", method("Geometric", **one), **steps, **ONE)
    wide = method("Geometric", epsilon=1, sensitivity=2)
    yield Row("Geometric, sensitivity 2", wide, counts, neighbours={"differ": "one", "by": 2})
    yield Row("GeometricTruncated", method("GeometricTruncated", **one, **bounds), **steps, **ONE)
    yield Row("Laplace", method("Laplace", **one), **steps)
    yield Row("LaplaceTruncated", method("LaplaceTruncated", **one, **bounds), **steps)
    yield Row("Exponential", exponential, scores, neighbours=each, **ONE)
    rises = {"related": "all(0 <= x[i] - y[i] and x[i] - y[i] <= 1)"}
    yield Row("Exponential, monotonic", exponential_monotonic, scores, neighbours=rises)
    yield Row("Exponential, measure", exponential_measure, scores, neighbours=each)
    yield Row("ExponentialCategorical", categorical, labels, **FIXED, at={})
    tree = method("ExponentialHierarchical", epsilon=1, hierarchy=[["A", "B"], ["C", "D"]])
    yield Row("ExponentialHierarchical", tree, _values("value", ["A", "B", "C", "D"]))
    yield Row("IntToString(Binary)", binary_numbers, _values("value", "0..1"))
    yield Row("RoundedInteger(Laplace)", rounded_laplace, **steps, **ONE)
    yield Row(
        "ExponentialCategorical, tiny ε",
        categorical_small,
        labels,
        {"epsilon": "1/10000"},
        parameters={},
        expected=REFUTED,
        remark="`np.isclose` takes sums that differ by 0.003 % for equal, and drops the factor 2",
    )
    no: Any = {"expected": OPEN}
    half = {"epsilon": 1, "delta": 0.25, "sensitivity": 1}
    yield Row("PermuteAndFlip", permute_and_flip, scores, **FIXED, **no)
    for name in ("GeometricFolded", "LaplaceFolded", "LaplaceBoundedDomain"):
        yield Row(name, method(name, **one, **bounds), **steps, **no)
    free: Any = {"parameters": {}, "claim": {"epsilon": 1, "delta": "1/4"}}
    for name in ("LaplaceBoundedNoise", "Gaussian", "GaussianAnalytic", "GaussianDiscrete"):
        yield Row(name, method(name, **half), **steps, **free, **no)
    yield Row("Staircase", method("Staircase", **one), **steps, **no)
    uniform = method("Uniform", delta=0.25, sensitivity=1)
    yield Row("Uniform", uniform, **steps, parameters={}, claim={"epsilon": 0, "delta": "1/4"}, **no)
    yield Row("Snapping", method("Snapping", **one, **bounds), **steps, **FIXED, **no)
    vector = "its input and its output are functions"
    yield Row(
        "Vector",
        method("Vector", epsilon=1, function_sensitivity=1, dimension=2),
        counts,
        **FIXED,
        **no,
        remark=vector,
    )
    yield Row(
        "Bingham",
        method("Bingham", epsilon=1),
        counts,
        **FIXED,
        **no,
        remark="its input is a matrix, its noise a vector",
    )


def pure_ldp_rows() -> Iterator[Row]:
    """Yields all clients of pure_ldp.frequency_oracles and pure_ldp.heavy_hitters."""
    three, four = _values("data", "1..3"), _values("data", "1..4")
    words = _values("text", ["aa", "ab", "ba", "bb"])
    hashes = core.generate_hash_funcs
    no: Any = {"expected": OPEN}
    yield Row("DEClient", ldp.DEClient(1, 3).privatise, three, **ONE)
    yield Row("UEClient (SUE)", ldp.UEClient(1, 3).privatise, three, **ONE)
    yield Row("UEClient (OUE)", ldp.UEClient(1, 3, use_oue=True).privatise, three, **ONE)
    yield Row("HEClient", ldp.HEClient(1, 2).privatise, _values("data", "1..2"))
    yield Row("CMSClient", ldp.CMSClient(1, hashes(2, 3), 3).privatise, three, **ONE)
    yield Row("CMSClient (HCMS)", ldp.CMSClient(1, hashes(2, 4), 4, is_hadamard=True).privatise, three, **ONE)
    pairs = [(core.generate_hash(3, 0), core.generate_hash(2, 1))]
    yield Row("PCSClient", ldp.PCSClient(1, 1, 3, pairs).privatise, three, **ONE)
    yield Row("FastLHClient", ldp.FastLHClient(1, 3, 3, g=2).privatise, three, **ONE)
    yield Row(
        "FastLHClient (OLH)", ldp.FastLHClient(1, 3, 3, use_olh=True).privatise, three, **FIXED, at={},
        remark=OUTSIDE,
    )  # fmt: skip
    yield Row("HadamardMechClient in list()", hadamard_mechanism, four, **ONE)
    yield Row("HadamardResponseClient, ε = 1", hadamard_response, three, **FIXED, at={})
    yield Row(
        "HadamardResponseClient, ε = 2", ldp.HadamardResponseClient(2, 3, [2, 0, 1]).privatise, three,
        {"ratio": repr(math.exp(2))}, parameters={}, at={}, remark=OUTSIDE,
    )  # fmt: skip
    yield Row("SketchResponseClient", sketch_response, three, **FIXED)
    yield Row("SketchResponseClient, signs", count_sketch_response, three, **FIXED)
    yield Row("PEMClient(DEClient)", prefix_extending, words)
    yield Row("TreeHistClient(DEClient)", tree_histogram, words)
    yield Row("SFPClient(CMSClient)", sequence_fragment_puzzle, words)
    yield Row(
        "RAPPORClient", rappor, three, {"ratio": "((1 - f/2)/(f/2))**2"}, parameters={"f": "(0, 1)"},
        expected=REFUTED, remark="a bit that is 1 is never set to 0",
    )  # fmt: skip
    yield Row("ZeroOracleClient", zero.ZeroOracleClient().privatise, three, {"epsilon": 0}, parameters={})
    yield Row("HadamardMechClient", ldp.HadamardMechClient(1, 4, 1).privatise, four, **no)
    yield Row("LHClient", ldp.LHClient(1, 3, g=2).privatise, three, **no)


def everyday_rows() -> Iterator[Row]:
    """Yields the functions of `everyday.py`."""
    everyday = importlib.import_module("everyday")
    bits, step = _listed("answers", 3, "0..1"), {"differ": "one", "by": 1}
    yield Row("capped count", everyday.capped_count, bits, neighbours=step, **ONE)
    cells = _listed("cells", 2, "0..2")
    yield Row("suppressed table, up to 4", everyday.capped_table, cells, neighbours=step)
    yield Row("suppressed table", everyday.suppressed_table, cells, neighbours=step, expected=OPEN)
    three = {"epsilon": "3*epsilon"}
    yield Row("survey", everyday.survey, bits, three, neighbours={"differ": "each"}, **ONE)
    yield Row("clipped mean, rounded", everyday.clipped_mean, _listed("hours", 2, "0..3"), **ONE)
    yield Row(
        "rejection sampler", everyday.rejection, _values("count", "0..3"), neighbours=step, expected=OPEN
    )


# --- what is measured -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What came of a row."""

    outcome: str
    budget: str
    seconds: float
    told: str
    adopted: Any = None


def decided(row: Row, limit: float) -> Found:
    """Adopts a function, and decides its claim and its budget."""
    import paramverify
    from paramverify.errors import InputError

    started = time.perf_counter()
    try:
        adopted = paramverify.adopt(
            row.function,
            inputs=row.inputs,
            parameters=row.parameters,
            neighbours=row.neighbours,
            **row.claim,  # type: ignore[arg-type]
        )
        verdict = adopted.verify(timeout=limit).verdict
        budget = adopted.budget(timeout=limit).lines[0] if verdict in (PRIVATE, REFUTED) else ""
    except InputError as error:
        return Found(OPEN, "", time.perf_counter() - started, row.remark or reason(error))
    notes = "; ".join([*adopted.explored.notes, *([row.remark] if row.remark else [])])
    return Found(verdict, in_short(budget), time.perf_counter() - started, notes, adopted)


def reason(error: Exception) -> str:
    """Returns why a function was not adopted, without its file."""
    first = str(error).splitlines()[0]
    line = re.search(r"(\w+\.py).*?: line (\d+): (.*)", first)
    text = f"{line[3]} ({line[1]}:{line[2]})" if line else first.split(": ", 1)[-1]
    return re.sub(r": (write|restrict|use|return|limit) .*?(?=\(\w+\.py|$)", " ", text).strip()


def in_short(line: str) -> str:
    """Returns the first line of a budget in a few words."""
    if line.endswith("no smaller multiple of it is"):
        return "the claim is tight"
    if "is enough" in line:
        return "at most the claim"
    number = re.search(r"epsilon (?:=|≈) (\S+);", line)
    return (
        f"ε = {number[1]}"
        if number
        else "none: an output can be impossible"
        if "infinitely" in line
        else line
    )


def claim_text(row: Row) -> str:
    """Returns the claim, with the domain of its parameters."""
    letters = {"epsilon": "ε", "delta": "δ"}
    shown = ", ".join(f"{letters.get(name, name)} = {value}" for name, value in row.claim.items())
    return shown.replace("ε = epsilon", "ε, all ε > 0").replace("ε = 3*epsilon", "3ε, all ε > 0")


def inputs_text(row: Row) -> str:
    """Returns the inputs."""
    found = []
    for name, given in row.inputs.items():
        assert isinstance(given, dict)
        values = given["values"]
        shown = values if isinstance(values, str) else ", ".join(map(str, values))
        found.append(f"{name}: {given['length']} of {shown}" if "length" in given else f"{name}: {shown}")
    return "; ".join(found)


# --- samples against probabilities ------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Returns an output as nested tuples of numbers and texts."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        value = [[k, v] for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return tuple(map(plain, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def named(text: str) -> Any:
    """Returns the name of an output as a value; a set of outputs stays a text."""
    try:
        return plain(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def cell(value: Any, shares: Mapping[Any, float]) -> Any:
    """Returns the name of an output, or of the set of whole numbers that has it, such as `>= 4`."""
    if value in shares or not isinstance(value, int):
        return value
    ranges = ((name, re.fullmatch(r"([<>])= (-?\d+)", name)) for name in shares if isinstance(name, str))
    inside = (n for n, m in ranges if m and (value >= int(m[2]) if m[1] == ">" else value <= int(m[2])))
    return next(inside, value)


def chi_square(row: Row, adopted: Any, runs: int) -> tuple[float, int]:
    """Runs the function itself on two inputs; returns the least p-value, and the number of outputs."""
    from scipy.stats import chi2

    law = adopted.probabilities(at=dict(row.at)) if row.at else adopted.probabilities()
    parameters = inspect.signature(row.function).parameters
    rest = {name: float(value) for name, value in (row.at or {}).items() if name in parameters}  # type: ignore[arg-type]
    least, cells = 1.0, 0
    for text in (min(law), max(law)):
        shares: dict[Any, float] = {}
        for output, share in law[text].items():
            value = named(output)
            shares[value] = shares.get(value, 0.0) + float(share)
        drawn = (plain(row.function(**given(row, text), **rest)) for _ in range(runs))
        seen = Counter(cell(value, shares) for value in drawn)
        expected = {value: runs * share for value, share in shares.items() if runs * share >= 10}
        known = {value: seen[value] for value in expected}
        other = runs - sum(expected.values())
        statistic = sum((known[v] - e) ** 2 / e for v, e in expected.items())
        degrees = len(expected) - 1
        if other > 10:
            statistic += (runs - sum(known.values()) - other) ** 2 / other
            degrees += 1
        elif any(v not in shares for v in seen) and all(not isinstance(k, str) for k in shares):
            return 0.0, len(expected)
        least = min(least, float(chi2.sf(statistic, max(degrees, 1))))
        cells = max(cells, degrees + 1)
    return least, cells


def given(row: Row, text: str) -> dict[str, Any]:
    """Returns the arguments that the name of an input stands for."""
    (name,) = row.inputs
    table = row.inputs[name]
    assert isinstance(table, dict)
    value = named(text)
    if "length" in table:
        entries = list(value) if isinstance(value, tuple) else [int(c) for c in re.findall(r"-?\d+", text)]
        return {name: entries}
    return {name: value}


# --- the script ------------------------------------------------------------------------------------------


def installed(folder: Path, arguments: list[str]) -> int:
    """Runs this script in a virtual environment with the libraries, which is made if there is none."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *NEEDED, "-e", str(ROOT)], check=True)
    return subprocess.run([python, __file__, *arguments], check=False).returncode


def main() -> int:
    """Decides all rows and prints the tables; returns 1 if one outcome is not the expected one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", help="only mechanisms whose name has this word")
    parser.add_argument("--check", type=int, default=0, metavar="RUNS")
    parser.add_argument("--limit", type=float, default=60.0)
    options = parser.parse_args()
    if options.install:
        rest = [f"--only={options.only}", f"--check={options.check}", f"--limit={options.limit}"]
        return installed(options.install, rest)
    if not (dp and ldp and heavy):
        parser.error(f"the libraries are not installed: give --install DIR, or install {', '.join(NEEDED)}")
    sections = {
        "diffprivlib 0.6.6": diffprivlib_rows(),
        "pure-LDP": pure_ldp_rows(),
        "everyday functions": everyday_rows(),
    }
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    checks: list[str] = []
    for title, rows in sections.items():
        print(f"\n| {title} | inputs | claim | verdict | budget | s | read as, or why not |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for row in rows:
            if options.only not in row.name:
                continue
            found = decided(row, options.limit)
            counts[found.outcome] += 1
            if found.outcome != row.expected:
                wrong.append(f"{row.name}: {found.outcome}, not {row.expected}")
            result = (found.outcome, found.budget, f"{found.seconds:.2f}", found.told)
            cells = (inputs_text(row), claim_text(row), *result)
            print("| " + " | ".join(c.replace("|", "\\|") for c in (row.name, *cells)) + " |", flush=True)
            if options.check and row.at is not None and found.adopted is not None:
                p, outputs = chi_square(row, found.adopted, options.check)
                checks.append(f"| {row.name} | {outputs} | {p:.3g} |")
                if p <= LEAST_P:
                    wrong.append(f"{row.name}: samples differ from the law, p = {p:.3g}")
    if checks:
        print(f"\n| samples of the library, {options.check:,} on each of two inputs | outputs | least p |")
        print("\n".join(["| --- | --- | --- |", *checks]))
    print(f"\n{', '.join(f'{outcome}: {count}' for outcome, count in counts.items())}.")
    print("\n".join(f"UNEXPECTED: {line}" for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
