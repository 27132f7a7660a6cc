"""Programs that put out numbers with noise: every set of outputs against brute force over a window."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from numeric_oracle import NumericMaker, Table, enumerated, far_from, named, tailed, wrong
from program_oracle import Oracle

from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring, value_at
from paramverify.errors import InputError, ProgramError
from paramverify.models.context import Checks
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import outputs_of
from paramverify.models.programs.run_states import Unread
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import read_case
from paramverify.privacy.verification import verify
from paramverify.tables import TomlDocument
from paramverify.verdicts import Holds, Violated

CASES = Path(__file__).parents[2] / "cases" / "programs"
REACH, WINDOW = 6, 3
SLACK = Fraction(8, 4**REACH)  # more than the weight of all runs whose noise is beyond the reach
INPUTS = ([0, 1], [1, 1])


def observed(text: str, inputs: Sequence[Sequence[int]]) -> Table:
    """Returns what the package says about a program without parameters."""
    checks = Checks(box_domain(Ring(), dict[str, Interval]()))
    rows = outputs_of(
        read_program(text), {"q": (Unread(0), Unread(1))}, [tuple(map(Fraction, x)) for x in inputs], checks
    )
    return [
        {
            tuple(map(named, outputs)): value_at(share.numerator, {}) / value_at(share.denominator, {})
            for outputs, share in row
        }
        for row in rows
    ]


@pytest.mark.parametrize("seed", range(7))
def test_observations_are_sets_of_outputs_with_the_same_ratios(seed: int) -> None:
    """Each observation has the weight of its outputs, and any two of these have the same ratios."""
    text = NumericMaker(seed).text()
    table = observed(text, INPUTS)
    assert not wrong(table, enumerated(text, INPUTS, REACH), WINDOW, SLACK)


def largest_ratio(path: Path, inputs: Sequence[Sequence[int]], reach: int) -> Fraction:
    """Returns the largest ratio of two probabilities, by Python itself, of outputs that are not rare."""
    data = tomllib.loads(path.read_text())
    text = data["mechanism"]["source"].replace("alpha", "a")
    rows = [Oracle(Fraction(1, 4), reach).distribution(text, {"q": list(x)}) for x in inputs]
    largest = Fraction(1)
    for first, second in permutations(rows, 2):
        for output, share in first.items():
            if share > Fraction(1, 4**reach):
                largest = max(largest, share / second[output] if output in second else Fraction(10**9))
    return largest


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_ratios_are_largest_at_ends_and_in_limits(seed: int) -> None:
    """With two terms far away, the largest ratio of all outputs is that of an observation or a limit."""
    text = tailed(seed)
    table = observed(text, INPUTS)
    assert not far_from(table, enumerated(text, INPUTS, 14), 6)


BUDGETS = {  # the exponent e of the tight ratio 1/alpha**e of two inputs that differ in their first entry
    "histogram": (1, 3),
    "prefix-sums": (1, 3),
    "partial-sum": (1, 3),
    "smart-sum": (2, 3),
}


@pytest.mark.parametrize("name", BUDGETS)
def test_shipped_cases_are_tight(name: str) -> None:
    """No output that is not rare has a ratio beyond the bound of the case, and one has that ratio."""
    exponent, reach = BUDGETS[name]
    found = largest_ratio(CASES / f"numeric-{name}.toml", ([0, 0, 0], [1, 0, 0]), reach)
    assert found == 4**exponent


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_densities_have_their_largest_ratio(seed: int) -> None:
    """A vector with Laplace noise is private with the largest ratio on a grid, and with no smaller one."""
    r = random.Random(seed)
    scales = [Fraction(r.randint(1, 4), r.randint(1, 3)) for _ in range(2)]
    slopes = [r.choice([1, 2, -1]) for _ in range(2)]
    grid = [Fraction(k, 2) for k in range(-8, 9)]

    def loss(place: Fraction, number: int, x: int, y: int) -> Fraction:
        center, other = slopes[number] * x, slopes[number] * y
        return (abs(place - other) - abs(place - center)) / scales[number]

    worst = sum(max(loss(o, k, x, y) for o in grid for x, y in [(0, 1), (1, 0)]) for k in range(2))
    lines = [f"n = {slopes[0]} * q[0] + laplace({scales[0]})", "output(n)"]
    own = f"{slopes[1]} * q[1] + laplace({scales[1]})"
    lines += [f"output(n + {own})" if r.random() < 0.5 else f"output(3 - 2 * ({own}))"]
    source = "\n".join(lines)
    for bound, wanted in ((worst, Holds), (worst * Fraction(9, 10), Violated)):
        data: dict[str, Any] = {
            "mechanism": {
                "kind": "program",
                "source": source,
                "inputs": {"q": {"length": 2, "values": "0..1"}},
            },
            "neighbours": {"differ": "each"},
            "privacy": {"epsilon": str(bound)},
        }
        assert isinstance(
            verify(read_case(TomlDocument(data, digest="0" * 64, path="case.toml")), Options()).verdict,
            wanted,
        )


REFUSED = {
    "output(geometric(1/2) + laplace(1))": "noise on whole numbers and continuous noise; draw only laplace",
    "if flip(1/2):\n    output(geometric(1/2))\nelse:\n    output(2 * geometric(1/2))": "different forms",
    "output(q[0] + geometric(1/2) + geometric(1/3) + geometric(1/5))": "unrelated bases",
    "x = geometric(1/2)\ny = geometric(1/3)\nif x < y:\n    output([x, y])": "depend on each other",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_point_at_the_output(text: str) -> None:
    """What is not covered is refused with its reason, at the output."""
    with pytest.raises(ProgramError, match=REFUSED[text]) as caught:
        observed(text, INPUTS)
    assert "output(" in text.split("\n")[caught.value.line - 1]


@pytest.mark.parametrize("privacy", [{"delta": "1/10"}, {"one_sided": True}])
def test_what_needs_probabilities_refuses_densities(privacy: dict[str, Any]) -> None:
    """A density that is zero in a limit says nothing of impossible outputs, and sums to nothing."""
    data: dict[str, Any] = {
        "mechanism": {"kind": "program", "source": "output(n + laplace(1))"},
        "neighbours": {"differ": "one"},
        "privacy": {"epsilon": "1", **privacy},
    }
    data["mechanism"]["inputs"] = {"n": {"values": "0..1"}}
    with pytest.raises(InputError, match="needs a case whose outputs have probabilities"):
        read_case(TomlDocument(data, digest="0" * 64, path="case.toml"))
