"""The tight budgets of programs and of the built-in kinds that do the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from program_budgets import budget

from paramverify.synthesis.quotients import RatioBounds

EACH = '[neighbours]\ndiffer = "each"'
ANY = f'{EACH}\nby = "any"'
PRIOR = """[prior]
john = { bernoulli = "p" }
other = { bernoulli = "1/3" }
[secrets]
ill = "john == 1"
well = "john == 0"
pairs = [["ill", "well"]]"""
CLAMPED = "clamp({} + geometric({}), 0, 2)"
LARGEST = f"""
v = [{", ".join(CLAMPED.format(f"q[{k}]", "1/3") for k in range(3))}]
best = max(v)
first = 0
count = 0
for k in range(3):
    if v[k] == best:
        count += 1
        if TIE:
            first = k + 1
return first
"""
UNTIL = f"""
T = {CLAMPED.format("T", "1/4")}
for x in q:
    if {CLAMPED.format("x", "1/2")} >= T:
        output("above")
        stop
    output("below")
"""

# Of each: parameters, the built-in mechanism, the program with its inputs, what is compared, the length.
KINDS: dict[str, tuple[str, str, str, str, str, str]] = {
    "randomised response, truth": (
        't = "[1/2, 3/4]"',
        'kind = "randomized_response"\nvalues = [0, 1, 2]\ntruth = "t"',
        "if flip(t):\n    return v\nreturn (v + uniform(1, 2)) % 3",
        'v = { values = "0..2" }',
        ANY,
        "1",
    ),
    "randomised response, coin": (
        'c = "[1/4, 3/4]"',
        'kind = "randomized_response"\nvalues = ["a", "b", "c"]\ncoin = "c"',
        'if flip(c):\n    return v\nreturn choice({"a": 1/3, "b": 1/3, "c": 1/3})',
        'v = { values = ["a", "b", "c"] }',
        ANY,
        "1",
    ),
    "randomised response under a prior": (
        'p = "(0, 1)"',
        'kind = "randomized_response"\nquery = "john"\ntruth = "3/4"',
        "return v if flip(3/4) else 1 - v",
        'v = "john"',
        PRIOR,
        "1",
    ),
    "randomised response, twice": (
        "",
        'kind = "randomized_response"\ntruth = "3/4"',
        "for _k in range(2):\n    output(v if flip(3/4) else 1 - v)",
        "v = { values = [0, 1] }",
        ANY,
        "2",
    ),
    "geometric": (
        'a = "[1/4, 3/4]"',
        'kind = "geometric"\nnoise = { truncated_geometric = "a", range = 3 }',
        "return clamp(n + geometric(a), 0, 3)",
        'n = { values = "0..3" }',
        EACH,
        "1",
    ),
    "geometric under a prior": (
        'p = "[1/4, 1/2]"\na = "[1/2, 3/4]"',
        'kind = "geometric"\nquery = "john + other"\nnoise = { truncated_geometric = "a", range = 2 }',
        "return clamp(n + geometric(a), 0, 2)",
        'n = "john + other"',
        PRIOR,
        "1",
    ),
    "noisy max, the first": (
        "",
        'kind = "noisy_max"\nqueries = 3\nties = "first"\nnoise = { truncated_geometric = "1/3", range = 2 }',
        LARGEST.replace("TIE", "count == 1"),
        'q = { length = 3, values = "0..2" }',
        EACH,
        "1",
    ),
    "noisy max, uniform": (
        "",
        'kind = "noisy_max"\nqueries = 3\nties = "uniform"\n'
        'noise = { truncated_geometric = "1/3", range = 2 }',
        LARGEST.replace("TIE", "count == 1 or (count == 2 and flip(1/2)) or (count == 3 and flip(1/3))"),
        'q = { length = 3, values = "0..2" }',
        EACH,
        "1",
    ),
    "above threshold, answers by an adversary": (
        "",
        'kind = "above_threshold"\nthreshold = 1\n'
        'threshold_noise = { truncated_geometric = "1/4", range = 2 }\n'
        'query_noise = { truncated_geometric = "1/2", range = 2 }',
        UNTIL.replace("clamp(T", "clamp(1"),
        'q = { length = 3, values = "0..2" }',
        EACH,
        "3",
    ),
    "above threshold under a prior": (
        'p = "(0, 1)"',
        'kind = "above_threshold"\nqueries = ["john + other", "john"]\nthreshold = "1 + other"\n'
        'threshold_noise = { truncated_geometric = "1/4", range = 2 }\n'
        'query_noise = { truncated_geometric = "1/2", range = 2 }',
        "T = r[2]\nq = [r[0], r[1]]\n" + UNTIL,
        'r = ["john + other", "john", "1 + other"]',
        PRIOR,
        "2",
    ),
    "time series": (
        'c = "[1/5, 1/2]"',
        'kind = "time_series"\nstates = ["ill", "well"]\ntruth = "3/4"\n'
        'initial = { ill = "1/2", well = "1/2" }\n'
        '[mechanism.transitions]\nill = { ill = "1 - c", well = "c" }\nwell = { ill = "c", well = "1 - c" }',
        "for k in range(3):\n    output(s if flip(3/4) else 1 - s)\n    if flip(c):\n        s = 1 - s",
        "s = { values = [0, 1] }",
        EACH,
        "3",
    ),
    "hidden Markov model": (
        'c = "[1/5, 1/2]"',
        'kind = "hmm"\nstates = ["0", "1"]\nobservations = ["x", "y"]\n'
        '[mechanism.emissions]\n0 = { x = "3/4", y = "1/4" }\n1 = { x = "1/3", y = "2/3" }\n'
        '[mechanism.transitions]\n0 = { 0 = "1 - c", 1 = "c" }\n1 = { 0 = "1/2", 1 = "1/2" }',
        "for k in range(3):\n    if s == 0:\n"
        '        output(choice({"x": 3/4, "y": 1/4}))\n        s = 1 if flip(c) else 0\n    else:\n'
        '        output(choice({"x": 1/3, "y": 2/3}))\n        s = uniform(0, 1)',
        "s = { values = [0, 1] }",
        EACH,
        "3",
    ),
}
QUICK = ("randomised response, coin", "geometric under a prior", "hidden Markov model")


def _same(first: RatioBounds, second: RatioBounds) -> bool:
    return (first.infinite, first.lower, first.upper, first.attained) == (
        second.infinite,
        second.lower,
        second.upper,
        second.attained,
    )


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in KINDS]
)
def test_budgets_equal_those_of_the_built_in_kinds(name: str, tmp_path: Path) -> None:
    """A program has exactly the tight budget of the kind that does the same."""
    parameters, kind, text, inputs, compared, length = KINDS[name]
    path = tmp_path / "case.toml"
    head = f"[parameters]\n{parameters}\n" if parameters else ""
    tail = f'{compared}\n[privacy]\nratio = "3"\n'
    path.write_text(f"{head}[mechanism]\n{kind}\n{tail}length = {length}\n")
    built_in = budget(path).ratio
    program = f"kind = \"program\"\nsource = '''\n{text}\n'''\n[mechanism.inputs]\n{inputs}"
    path.write_text(f"{head}[mechanism]\n{program}\n{tail}")
    written = budget(path).ratio
    assert not built_in.infinite
    assert built_in.upper is not None
    assert built_in.upper > 1
    assert _same(built_in, written)
