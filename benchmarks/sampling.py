"""Sampling: speed, error rates and power of the tests, and testing against exact search.

    python benchmarks/sampling.py [--seeds 500] [--repeat 5]

Prints Markdown tables for docs/benchmarks.md. What is compared is measured in the same run.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from scipy import stats

from paramverify.portfolio.session import Options, Session
from paramverify.privacy import verification
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.statistics.audit import audit
from paramverify.statistics.black_boxes import BlackBoxSource, CaseInputs, DirectSource
from paramverify.statistics.case_testing import guided
from paramverify.statistics.certification import TightRatio, bisect, certify, tight_ratio, worst
from paramverify.statistics.detection import SELECT, Detection, Settings, assess, attacked, detect, selected
from paramverify.statistics.samplers import Experiment, ModelSource, chosen_points, experiments
from paramverify.statistics.sampling_runs import Runs
from paramverify.synthesis.budget import tight_budget

ROOT = Path(__file__).parent.parent
CASES = ROOT / "cases"
sys.path.insert(0, str(ROOT / "tests" / "tools"))


def case(name: str) -> PrivacyCase:
    """Returns a case of the project."""
    return load(CASES / f"{name}.toml")


def listed(loaded: PrivacyCase, points: int = 12) -> list[Experiment]:
    """Returns the experiments on a case at its longest length."""
    model = loaded.model
    return experiments(model, max(model.lengths), chosen_points(model, {}, 0, points))


def timed(action: Callable[[], object], repeat: int) -> str:
    """Returns minimum, median and maximum of the seconds of an action, after one run that does not count."""
    action()
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - started)
    return f"{min(seconds):.3f} | {statistics.median(seconds):.3f} | {max(seconds):.3f}"


def speed(repeat: int) -> None:
    """500,000 runs of one input, from nothing to the counts."""
    print("\n| 500,000 runs | min s | median s | max s |\n| --- | --- | --- | --- |")
    for name, what in (
        ("noisy-max-5-below", "noisy max, five answers"),
        ("above-threshold", "above threshold, five answers"),
        ("time-series-2", "time series, five days"),
    ):
        loaded = case(name)
        experiment = listed(loaded, 1)[0]
        sources = {"its model": ModelSource(loaded.model)}
        if name != "time-series-2":
            sources["its noise"] = DirectSource(CaseInputs.of(loaded))  # type: ignore[assignment]
        for how, source in sources.items():
            row = timed(lambda s=source, e=experiment: Runs(s, 0).counts(0, e, 0, 500_000), repeat)
            print(f"| {what}, from {how} | {row} |")


def tested(loaded: PrivacyCase, settings: Settings) -> tuple[Runs, Detection]:
    """Returns what testing alone says about a case."""
    runs = Runs(ModelSource(loaded.model), 0)
    found = listed(loaded)
    if loaded.model.domain.ring.parameters:
        found = guided(runs, loaded.model, found, settings, {})
    return runs, detect(runs, found, [1.0], settings)


def combined(loaded: PrivacyCase, settings: Settings) -> TightRatio:
    """Returns the tight ratio from testing, exact evaluation and proof."""
    runs, found = tested(loaded, settings)
    tried = [
        certify(loaded.model, c, runs.both(SELECT, c.experiment, settings.select)[c.more])
        for c in found.selected[:10]
    ]
    return tight_ratio(loaded, worst([t for t in tried if t]).witness, Fraction(1, 1000), 120)


def side_by_side() -> None:
    """Testing alone, exact search alone, and both together, one after the other."""
    print("\n| case | how | seconds | epsilon |\n| --- | --- | --- | --- |")
    for name in ("noisy-max-5-below", "noisy-max-contagious", "above-threshold", "above-threshold-prior-2"):
        started = time.perf_counter()
        loaded = case(name)
        reading = time.perf_counter() - started

        def row(how: str, began: float, told: str, name: str = name, reading: float = reading) -> None:
            print(f"| {name} | {how} | {reading + time.perf_counter() - began:.2f} | {told} |", flush=True)

        began = time.perf_counter()
        _, found = tested(loaded, Settings())
        low, high = found.interval
        row(
            "testing alone, 500,000 runs",
            began,
            f"{low} to {high}; at least {found.bound.epsilon:.4f} (90 %)",
        )
        began = time.perf_counter()
        with Session(Options(seconds=120)) as session:
            exact = tight_budget(loaded.model, session)
        row("exact alone", began, f"{exact.epsilon:.6f}{' exactly' if exact.value is not None else ''}")
        if low is not None and high is not None:
            began = time.perf_counter()
            halved = bisect(loaded, (low, high), Fraction(1, 1000), 120)
            assert halved.violated is not None
            assert halved.holds is not None
            row(f"testing, then bisection (without testing; {len(halved.steps)} verifications)", began,
                f"{float(halved.violated.epsilon):.3f} to {float(halved.holds.epsilon):.3f}")  # fmt: skip
        began = time.perf_counter()
        tight = combined(loaded, Settings(runs=20_000, select=20_000))
        assert tight.witness.ratio is not None
        told = f"{math.log(tight.witness.ratio):.6f}{' exactly' if tight.exact else ' to '}"
        if tight.limit and tight.limit.value is not None:
            told = f"{tight.limit.epsilon:.6f} exactly"
        elif not tight.exact and tight.upper is not None:
            told += f"{math.log(tight.upper):.6f}"
        row("combined: 20,000 runs, exact evaluation, proof", began, told)


def share(count: int, seeds: int) -> str:
    """Returns a share with its Clopper–Pearson interval of confidence 95 %."""
    found = stats.binomtest(count, seeds).proportion_ci(0.95, "exact")
    return f"{count / seeds:.3f} ({found.low:.3f} to {found.high:.3f})"


def errors(seeds: int) -> None:
    """How often budgets are rejected at level 0.05, at and below the tight one, and how often bounds fail."""
    print("\n| mechanism | tested epsilon | runs | rejected (95 % confidence) |\n| --- | --- | --- | --- |")
    for name, tight in (
        ("geometric-neighbours", math.log(2)),
        ("noisy-max-3-above", math.log(24 / 7)),
        ("noisy-max-5-above", math.log(288 / 73)),
    ):
        model = case(name).model
        found = experiments(model, 1, [{}], 16)
        for shift in (0.1, 0.0, -0.05, -0.1, -0.2):
            for runs in (20_000,):
                settings = Settings(runs, runs // 5)
                count = 0
                for seed in range(seeds):
                    drawn = Runs(ModelSource(model), seed)
                    row = assess(drawn, selected(drawn, found, settings), tight + shift, settings)
                    count += row.values.p <= settings.level
                where = "tight" if not shift else f"tight {'+' if shift > 0 else '−'} {abs(shift)}"
                print(f"| {name} | {where} | {runs:,} | {share(count, seeds)} |", flush=True)
    print("\n| mechanism | runs | lower bound (90 %) above the tight epsilon | mean distance below it |")
    print("| --- | --- | --- | --- |")
    for name, tight in (("geometric-neighbours", math.log(2)), ("noisy-max-3-above", math.log(24 / 7))):
        model = case(name).model
        found = experiments(model, 1, [{}], 16)
        worst_first = sorted(found, key=lambda e: e.pattern != "one below, rest above")[:2]
        for runs in (20_000,):
            bounds = [
                attacked(Runs(ModelSource(model), s), worst_first, Settings(runs, runs // 5)).epsilon
                for s in range(seeds)
            ]
            wrong = sum(b > tight for b in bounds)
            print(f"| {name} | {runs:,} | {share(wrong, seeds)} | {tight - statistics.mean(bounds):.4f} |")


def audits(seeds: int) -> None:
    """How often implementations are rejected by the audit at level 0.05."""
    import sampled_mechanisms as mechanisms

    print("\n| implementation | case | runs each | rejected (95 % confidence) |\n| --- | --- | --- | --- |")
    for name, function in (
        ("geometric-neighbours", mechanisms.geometric),
        ("noisy-max-3-above", mechanisms.noisy_max),
        ("geometric-neighbours", mechanisms.off_by_one),
        ("geometric-neighbours", mechanisms.rounded_laplace),
        ("geometric-neighbours", mechanisms.leaking),
        ("noisy-max-3-above", mechanisms.noisy_max_first),
    ):
        case_inputs = CaseInputs.of(case(name))
        found = experiments(case_inputs.case.model, 1, [{}], 8)
        for runs in (1_000, 10_000):
            count = sum(
                not audit(
                    Runs(BlackBoxSource(function, case_inputs), s), case_inputs.case.model, found, runs, 0.05
                ).passes
                for s in range(seeds)
            )
            print(f"| `{function.__name__}` | {name} | {runs:,} | {share(count, seeds)} |", flush=True)


def early() -> None:
    """Violations of noisy max with many pairs, with and without a look at likely pairs first."""
    print("\n| answers | pairs | reading s | verifying s | without the look at likely pairs first s |")
    print("| --- | --- | --- | --- | --- |")
    many = verification.MANY_PAIRS
    text = (CASES / "noisy-max-5-below.toml").read_text()
    for answers in (4, 5):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "case.toml"
            file.write_text(text.replace("queries = 5", f"queries = {answers}"))
            started = time.perf_counter()
            loaded = load(file)
            reading = time.perf_counter() - started
        seconds = []
        for limit in (many, 10**9):
            verification.MANY_PAIRS = limit
            seconds.append(verification.verify(loaded).seconds)
        verification.MANY_PAIRS = many
        pairs = len(loaded.model.pairs)
        print(f"| {answers} | {pairs:,} | {reading:.2f} | {seconds[0]:.2f} | {seconds[1]:.2f} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args(arguments)
    speed(options.repeat)
    side_by_side()
    early()
    errors(options.seeds)
    audits(options.seeds)


if __name__ == "__main__":
    main()
