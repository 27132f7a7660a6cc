"""The part of many_parameters.py that asks Storm: parameter lifting in three and four parameters."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import stormpy
from random_chains import at_most
from storm_regions import EDGE, STARTUP, Lifting, Stated, read
from stormpy import pars

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, to_rational_function
from paramverify.claims import Claim
from paramverify.synthesis.maps import Status, symmetric
from paramverify.synthesis.regions import region_map

Box = tuple[tuple[Fraction, Fraction], ...]

# Each message has its own channel: it gets through with its own probability, in at most so many tries.
CHANNELS = """dtmc
{constants}
module line
  x : [0..{size}] init 0;
  k : [0..{tries}] init 0;
  lost : bool init false;
{steps}
  [] x={size} | lost -> 1 : true;
endmodule
label "target" = x={size};
"""


def line(parameters: Sequence[str], tries: int) -> str:
    """Returns a chain of channels in PRISM's language, symmetric in its parameters."""
    steps = []
    for k, name in enumerate(parameters):
        on = f"{name} : (x'={k + 1}) & (k'=0)"
        steps.append(f"  [] x={k} & k<{tries - 1} & !lost -> {on} + 1-{name} : (k'=k+1);")
        steps.append(f"  [] x={k} & k={tries - 1} & !lost -> {on} + 1-{name} : (lost'=true);")
    constants = "\n".join(f"const double {name};" for name in parameters)
    return CHANNELS.format(
        constants=constants, size=len(parameters), tries=max(tries, 1), steps="\n".join(steps)
    )


def walk(parameters: Sequence[str], size: int) -> str:
    """Returns a walk on 0..size in PRISM's language, which goes up with the parameter of its place."""
    names = [parameters[k % len(parameters)] for k in range(size)]
    steps = [
        f"  [] x={k} -> {names[k]} : (x'={k + 1}) + 1-{names[k]} : (x'={k - 1});" for k in range(1, size)
    ]
    constants = "\n".join(f"const double {name};" for name in parameters)
    head = f"dtmc\n{constants}\nmodule walk\n  x : [0..{size}] init {size // 2};\n"
    rest = f'\n  [] x=0 | x={size} -> 1 : true;\nendmodule\nlabel "target" = x={size};\n'
    return head + "\n".join(steps) + rest


def lift(stated: Stated, exact: bool, coverage: float, limit: float, state: Any) -> None:
    """Cuts regions in half in every parameter, the largest first; `state` is as in storm_regions."""
    _, model, bounded, names = read(stated)
    environment = stormpy.environments.default(model)
    variables = {str(v): v for v in model.collect_all_parameters()}
    engines = pars.RegionCheckEngine
    engine = engines.EXACT_PARAMETER_LIFTING if exact else engines.PARAMETER_LIFTING
    started = time.process_time()
    task = stormpy.developer.CheckTask[stormpy.RationalFunction](bounded.get_raw_formula(), True)
    checker = pars.developer.initialize_region_model_checker(environment, model, task, engine)
    state[3] = time.process_time() - started
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
        started = time.process_time()
        result = checker.analyze_region(environment, region, unknown, True)
        state[3] += time.process_time() - started
        if result in places:
            state[places[result]] += 0.5 ** (depth * len(names))
        else:
            halves = [((low, (low + high) / 2), ((low + high) / 2, high)) for low, high in part]
            for piece in product(*halves):
                number += 1
                heappush(heap, (depth + 1, number, piece))
        state[2] += 1


def lifted(stated: Stated, exact: bool, coverage: Fraction, limit: float) -> Lifting:
    """Returns what Storm does within the limit of processor seconds, in a process of its own."""
    context = get_context("spawn")
    state = context.Array("d", 4, lock=False)
    process = context.Process(target=lift, args=(stated, exact, float(coverage), limit, state))
    process.start()
    process.join(4 * limit + STARTUP)
    if process.is_alive():
        process.kill()
        process.join()
        state[3] = limit
    return Lifting(state[0], state[1], int(state[2]), state[3])


def row(stated: Stated, coverage: Fraction, limit: float) -> str:
    """Returns a row of the table."""
    program, model, _, names = read(stated)
    started = time.process_time()
    result = stormpy.model_checking(model, stormpy.parse_property(f"P=? [F {stated.target}]", program))
    text = str(result.get_value(model.initial_states[0]))
    rational_seconds = time.process_time() - started
    ring = Ring(tuple(names))
    function = to_rational_function(parse(text.replace("^", "**")), ring)
    domain = box_domain(ring, dict.fromkeys(names, Interval(EDGE, 1 - EDGE, True, True)))
    claim = Claim(at_most(function, stated.bound, dict.fromkeys(names, Fraction(1, 2))), domain)
    started = time.process_time()
    folds = symmetric([claim], domain, names)
    found = region_map([claim], domain, names, coverage, seconds=4 * limit, folds=folds)
    seconds = time.process_time() - started
    safe, violating = float(found.share(Status.SAFE)), float(found.share(Status.VIOLATING))
    others = [lifted(stated, exact, coverage, limit) for exact in (False, True)]
    for other in others:
        assert other.safe <= 1 - violating + 1e-9, stated
        assert other.violating <= 1 - safe + 1e-9, stated
    degrees = tuple(map(int, claim.polynomial.degrees()))
    cells = sum(cell.status in (Status.SAFE, Status.VIOLATING) for cell in found.cells)
    told = " | ".join(f"{o.safe:.3f} + {o.violating:.3f} | {o.regions} | {o.seconds:.2f}" for o in others)
    own = f"{safe:.3f} + {violating:.3f} | {cells} | {rational_seconds:.2f} + {seconds:.2f}"
    return f"| {stated.name} | {model.nr_states} | {degrees} | {own} | {told} |"


def compare(coverage: Fraction, limit: float) -> None:
    """Prints the table."""
    columns = ["model", "states", "degree", "true + false", "cells", "function + map s"]
    columns += ["lifting: true + false", "regions", "s", "exact lifting: true + false", "regions", "s"]
    print(f"| {' | '.join(columns)} |\n" + "| --- " * len(columns) + "|")
    with TemporaryDirectory() as folder:
        problems = [
            ("channels p q r, 3 tries", line("pqr", 3), Fraction(1, 2)),
            ("channels p q r s, 3 tries", line("pqrs", 3), Fraction(1, 2)),
            ("walk p q r, 7 states", walk("pqr", 6), Fraction(1, 2)),
            ("walk p q r s, 9 states", walk("pqrs", 8), Fraction(1, 2)),
        ]
        for number, (name, text, bound) in enumerate(problems):
            path = Path(folder) / f"{number}.pm"
            path.write_text(text)
            print(row(Stated(name, path, '"target"', bound), coverage, limit), flush=True)
