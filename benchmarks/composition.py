"""Certified composition beside Google's dp-accounting and Microsoft's prv-accountant, in one process.

    python benchmarks/composition.py [--delta 1e-6] [--times 1,10,100,1000] [--precision 1e-4] [--formula]

Needs the extra `bench` (`pip install 'paramverify[bench]'`); what is not installed is left out. The question
is the ε for a δ. Prints Markdown for docs/benchmarks.md: for each tool its lower and upper number and its
processor seconds, and what is not a bound: an upper number below our certified lower one, or a lower number
above our upper one. The δ is the float that the others get, and differences below 1e-12 are not told, for
theirs are floats. dp-accounting has an optimistic and a pessimistic estimate with its default discretisation
of 1e-4. prv-accountant is asked for an error of ε of 0.01, and of δ of δ/1000. `--formula` compares
amplification by subsampling with its formula instead.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from paramverify.composition.composing import Component, Composition, CompositionQuestion, ask
from paramverify.composition.release_losses import Loss
from paramverify.composition.written_releases import read_components, repeated
from paramverify.models.settings import Settings

SECONDS = 300  # for one of our answers
EPS_ERROR, DELTA_SHARE = 0.01, 1e-3  # what prv-accountant is asked for
FLOATS = 1e-12  # differences that say nothing

Numbers = tuple[float, float]  # a lower and an upper one


@dataclass(frozen=True)
class Subject:
    """A mechanism: our text, the estimate of dp-accounting, the random variable of prv-accountant."""

    name: str
    ours: str
    google: Callable[[bool], object]
    microsoft: Callable[[], object]


def subjects() -> Iterator[Subject]:
    """Yields the mechanisms; libraries are imported when they are asked for."""

    def pld(name: str, *arguments: float, **options: object) -> Callable[[bool], object]:
        def build(pessimistic: bool) -> object:
            from dp_accounting.pld import privacy_loss_distribution

            given = {**options, "pessimistic_estimate": pessimistic}
            if "use_connect_dots" in given:
                given["use_connect_dots"] = pessimistic
            return getattr(privacy_loss_distribution, name)(*arguments, **given)

        return build

    def prv(name: str, *arguments: float) -> Callable[[], object]:
        def build() -> object:
            import prv_accountant

            return getattr(prv_accountant, name)(*arguments)

        return build

    truth = 11 / 21  # e^ε = 11/10
    dots: dict[str, object] = {"use_connect_dots": True}
    yield Subject(
        "randomised response, e^ε = 11/10",
        "randomized_response:truth=11/21",
        pld("from_randomized_response", 2 * (1 - truth), 2),
        prv("PureDPMechanism", math.log(1.1)),
    )
    yield Subject(
        "discrete Laplace, scale 10",
        "discrete_laplace:scale=10",
        pld("from_discrete_laplace_mechanism", 0.1, **dots),
        prv("PureDPMechanism", 0.1),
    )
    yield Subject(
        "Gaussian, σ = 10",
        "gaussian:sigma=10",
        pld("from_gaussian_mechanism", 10.0, **dots),
        prv("GaussianMechanism", 10.0),
    )
    yield Subject(
        "Gaussian, σ = 1, of a sample with γ = 1/100",
        "gaussian:sigma=1,subsample=1/100",
        pld("from_gaussian_mechanism", 1.0, sampling_prob=0.01, **dots),
        prv("PoissonSubsampledGaussianMechanism", 0.01, 1.0),
    )


def component(text: str) -> Component:
    """Returns a noise as our command reads it."""

    def no_case(path: str, values: Settings) -> tuple[object, ...]:
        raise ValueError(f"{path} {values}: no cases here")

    (found,) = read_components(text, no_case)  # type: ignore[arg-type]
    return found


def ours(subject: Subject, times: int, delta: float, precision: Fraction) -> Numbers:
    """Returns our bounds of ε."""
    composition = Composition(
        (repeated(component(subject.ours), times),), deadline=time.monotonic() + SECONDS
    )
    (found,) = ask(composition, [CompositionQuestion(delta=Fraction(delta))], precision)
    return float(found.between.lower), float(found.between.upper or math.inf)


def googles(subject: Subject, times: int, delta: float, precision: Fraction) -> Numbers:
    """Returns the optimistic and the pessimistic estimate of dp-accounting."""
    del precision
    low, high = (
        subject.google(kind).self_compose(times).get_epsilon_for_delta(delta)  # type: ignore[attr-defined]
        for kind in (False, True)
    )
    return float(low), float(high)


def microsofts(subject: Subject, times: int, delta: float, precision: Fraction) -> Numbers:
    """Returns the lower and the upper bound of prv-accountant."""
    del precision
    from prv_accountant import PRVAccountant

    accountant = PRVAccountant(
        prvs=[subject.microsoft()],
        max_self_compositions=[times],
        eps_error=EPS_ERROR,
        delta_error=delta * DELTA_SHARE,
    )
    low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=[times])
    return float(low), float(high)


def row(subject: Subject, times: int, delta: float, precision: Fraction) -> str:
    """Returns a row of the table."""
    cells, remarks, known = [], [], (0.0, math.inf)
    for name, tool in (("", ours), ("dp-accounting", googles), ("prv-accountant", microsofts)):
        started = time.process_time()
        try:
            low, high = tool(subject, times, delta, precision)
        except ImportError:
            cells.append("not installed | |")
            continue
        except Exception as error:  # a tool of others: whatever it raises is its answer
            cells.append(f"{type(error).__name__} | | {time.process_time() - started:.2f}")
            continue
        seconds = time.process_time() - started
        cells.append(f"{low:.8g} | {high:.8g} | {seconds:.2f}")
        if not name:
            known = low, high
        elif high < known[0] - FLOATS:
            remarks.append(f"{name}: upper below ours by {known[0] - high:.1e}")
        elif low > known[1] + FLOATS:
            remarks.append(f"{name}: lower above ours by {low - known[1]:.1e}")
    return f"| {subject.name} | {times} | {' | '.join(cells)} | {'; '.join(remarks)} |"


def formula() -> Iterator[str]:
    """Yields rows of amplification by subsampling: what is computed, and ln(1 + γ(e^ε − 1))."""
    yield "| mechanism | γ | e^ε of the formula | largest e^ε, computed | δ for the formula's ε/2, computed |"
    yield "| --- | --- | --- | --- | --- |"
    for text, ratio in (
        ("randomized_response:truth=3/4", Fraction(3)),
        ("discrete_laplace:alpha=1/4", Fraction(4)),
    ):
        for rate in (Fraction(1, 2), Fraction(1, 100)):
            composition = Composition((component(f"{text},subsample={rate}"),))
            (most,) = ask(composition, [CompositionQuestion(delta=Fraction(0))], Fraction(1, 10**6))
            told = 1 + rate * (ratio - 1)
            half = Fraction(math.sqrt(told)).limit_denominator(1000)
            (delta,) = ask(composition, [CompositionQuestion(epsilon=Loss(ratio=half))], Fraction(1, 10**6))
            yield f"| `{text}` | {rate} | {told} | {most.exact} | {delta.exact} at e^ε = {half} |"


def main() -> None:
    """Prints the table."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--times", default="1,10,100,1000")
    parser.add_argument("--precision", type=Fraction, default=Fraction(1, 10**4))
    parser.add_argument("--formula", action="store_true")
    given = parser.parse_args()
    if given.formula:
        print("\n".join(formula()))
        return
    tools = ("ours", "dp-accounting", "prv-accountant")
    print(f"| mechanism | k | {' | '.join(f'{t}: lower | upper | s' for t in tools)} | not a bound |")
    print(f"| --- | --- | {' | '.join('---' for _ in range(9))} | --- |")
    for subject in subjects():
        for times in map(int, given.times.split(",")):
            print(row(subject, times, given.delta, given.precision), flush=True)


if __name__ == "__main__":
    main()
