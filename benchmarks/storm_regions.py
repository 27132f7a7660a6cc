"""The part of regions.py that asks Storm: parameter lifting on the same problems (needs stormpy)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

import stormpy
import stormpy.examples.files
from random_chains import Chain, Problem, at_most
from stormpy import pars

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring
from paramverify.claims import Claim
from paramverify.models.rational_files import read_rational_file
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.regions import region_map

EDGE = Fraction(1, 100)  # parameter lifting needs regions on which the graph does not change
STARTUP = 5  # seconds that a process may need to read and build the model

Box = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True)
class Lifting:
    """What Storm did: shares, regions looked at, and seconds."""

    safe: float
    violating: float
    regions: int
    seconds: float


@dataclass(frozen=True)
class Stated:
    """A problem that both can state: the probability to reach a target is at most a bound."""

    name: str
    path: Path
    target: str
    bound: Fraction


def lifted(stated: Stated, exact: bool, coverage: Fraction, limit: float) -> Lifting:
    """Returns what Storm does within the limit, in a process of its own: one region may take it very long."""
    context = get_context("spawn")
    state = context.Array("d", 4, lock=False)
    process = context.Process(target=lift, args=(stated, exact, float(coverage), limit, state))
    process.start()
    process.join(limit + STARTUP)
    if process.is_alive():
        process.kill()
        process.join()
        state[3] = limit
    return Lifting(state[0], state[1], int(state[2]), state[3])


def lift(stated: Stated, exact: bool, coverage: float, limit: float, state: Any) -> None:
    """Cuts regions in four until few are undecided, the largest first, as Storm's own partition does.

    `state` is kept up to date: the shares of safe and violating regions, their number, and the seconds that
    Storm took for them, without the cutting here.
    """
    _, model, bounded, names = read(stated)
    environment = stormpy.environments.default(model)
    variables = {str(v): v for v in model.collect_all_parameters()}
    engine = (
        pars.RegionCheckEngine.EXACT_PARAMETER_LIFTING if exact else pars.RegionCheckEngine.PARAMETER_LIFTING
    )
    started = time.perf_counter()
    task = stormpy.developer.CheckTask[stormpy.RationalFunction](bounded.get_raw_formula(), True)
    checker = pars.developer.initialize_region_model_checker(environment, model, task, engine)
    state[3] = time.perf_counter() - started
    unknown = pars.developer.RegionResultHypothesis.UNKNOWN
    places = {pars.RegionResult.ALL_SAT: 0, pars.RegionResult.ALL_VIOLATED: 1}
    heap: list[tuple[int, int, Box]] = [(0, 0, ((EDGE, 1 - EDGE),) * len(names))]
    number = 0
    while heap and state[0] + state[1] < 1 - coverage and state[3] < limit:
        depth, _, part = heappop(heap)
        bounds = {
            variables[name]: tuple(pars.RationalFunctionCoefficient(str(end)) for end in ends)
            for name, ends in zip(names, part, strict=True)
        }
        region = pars.create_region(bounds)
        started = time.perf_counter()
        result = checker.analyze_region(environment, region, unknown, True)
        state[3] += time.perf_counter() - started
        if result in places:
            state[places[result]] += 0.25**depth
        else:
            (a, b), (c, d) = part
            middle, centre = (a + b) / 2, (c + d) / 2
            for quarter in product(((a, middle), (middle, b)), ((c, centre), (centre, d))):
                number += 1
                heappush(heap, (depth + 1, number, quarter))
        state[2] += 1


def read(stated: Stated) -> tuple[Any, Any, Any, list[str]]:
    """Returns Storm's program, its parametric model, the bounded property, and the parameters."""
    program = stormpy.parse_prism_program(stated.path, prism_compatibility=True)
    bounded = stormpy.parse_property(f"P<={float(stated.bound)} [F {stated.target}]", program)
    model = stormpy.build_model[stormpy.RationalFunction](program, bounded)
    return program, model, bounded, sorted(str(v) for v in model.collect_all_parameters())


def ours(
    model: Any, program: Any, stated: Stated, names: Sequence[str], coverage: Fraction
) -> tuple[RegionMap, float, str]:
    """Returns our map, the seconds that Storm took for the rational function, and its degrees."""
    started = time.perf_counter()
    result = stormpy.model_checking(model, stormpy.parse_property(f"P=? [F {stated.target}]", program))
    text = str(result.get_value(model.initial_states[0]))
    seconds = time.perf_counter() - started
    ring = Ring(tuple(names))
    with NamedTemporaryFile("w", suffix=".rat") as file:
        file.write(f"$Parameters: {'; '.join(names)}\n$Result: {text}\n")
        file.flush()
        function = read_rational_file(file.name).result(ring)
    domain = box_domain(ring, dict.fromkeys(names, Interval(EDGE, 1 - EDGE, True, True)))
    claim = Claim(at_most(function, stated.bound, dict.fromkeys(names, Fraction(1, 2))), domain)
    degrees = tuple(map(int, claim.polynomial.degrees()))
    return region_map([claim], domain, names, coverage), seconds, str(degrees)


def row(stated: Stated, coverage: Fraction, limit: float) -> str:
    """Returns a row of the table."""
    program, model, _, names = read(stated)
    found, rational_seconds, degrees = ours(model, program, stated, names, coverage)
    others = [lifted(stated, exact, coverage, limit) for exact in (False, True)]
    safe, violating = float(found.share(Status.SAFE)), float(found.share(Status.VIOLATING))
    for other in others:
        # The true shares are between the certified ones and one minus those of the opposite.
        assert other.safe <= 1 - violating + 1e-9, stated
        assert other.violating <= 1 - safe + 1e-9, stated
    cells = [
        f"{other.safe:.3f} + {other.violating:.3f} | {other.regions} | {other.seconds:.2f}"
        for other in others
    ]
    return (
        f"| {stated.name} | {model.nr_states} | {degrees} "
        f"| {safe:.3f} + {violating:.3f} | {len(found.cells)} "
        f"| {rational_seconds:.2f} + {found.seconds:.2f} | {' | '.join(cells)} |"
    )


def retransmission(folder: Path, chunks: int, retries: int) -> Stated:
    """Returns bounded retransmission of other sizes, from the example that stormpy has."""
    text = Path(stormpy.examples.files.prism_pdtmc_brp).read_text()
    for old, new in (("N = 16", f"N = {chunks}"), ("MAX = 2", f"MAX = {retries}")):
        text = text.replace(f"const int {old};", f"const int {new};")
    for name in ("TOMsg", "TOAck"):
        text = text.replace(f"const double {name};", f"const double {name} = 0;")
    path = folder / f"retransmission-{chunks}-{retries}.pm"
    path.write_text(text)
    return Stated(f"bounded retransmission {chunks}, {retries}", path, "s=5", Fraction(1, 4))


def compare(chains: Iterable[tuple[Problem, Chain, Fraction]], coverage: Fraction, limit: float) -> None:
    """Prints the table."""
    columns = ["model", "states", "degree", "safe + violating", "cells", "function + map s"]
    columns += [
        "lifting: safe + violating",
        "regions",
        "s",
        "exact lifting: safe + violating",
        "regions",
        "s",
    ]
    print(f"| {' | '.join(columns)} |\n" + "| --- " * len(columns) + "|")
    files = stormpy.examples.files
    crowds = Path(files.prism_pdtmc_die).with_name("crowds3_5.pm")
    with TemporaryDirectory() as folder:
        problems = [
            Stated("parametric die", Path(files.prism_pdtmc_die), '"one"', Fraction(1, 8)),
            *(retransmission(Path(folder), *sizes) for sizes in ((16, 2), (64, 2), (128, 2), (256, 5))),
            Stated("crowds 3, 5", crowds, '"observe0Greater1"', Fraction(1, 4)),
        ]
        for k, (problem, chain, bound) in enumerate(chains):
            path = Path(folder) / f"{k}.pm"
            path.write_text(chain.prism())
            problems.append(Stated(problem.name, path, '"target"', bound))
        for stated in problems:
            print(row(stated, coverage, limit), flush=True)
