"""Random functions: what `adopt` reads against an enumeration of the outcomes by CPython."""

from __future__ import annotations

from pathlib import Path

import pytest
from compared_functions import compared
from function_texts import random_function


@pytest.mark.slow
def test_random_functions(tmp_path: Path) -> None:
    """The law of each random function is that of CPython; `benchmarks/random_functions.py` compares more."""
    answers = {}
    for seed in range(20):
        source, rng = random_function(seed)
        answers[seed] = compared(source, tmp_path, [0, 3], rng, f"random_function{seed}")
    assert not {seed: answer for seed, answer in answers.items() if answer.startswith("differs")}
    assert sum(answer == "same" for answer in answers.values()) >= 15


def test_differences_are_found(tmp_path: Path) -> None:
    """A function whose law in real numbers is not that of floats differs, so the comparison can fail."""
    source = "import random\n\n\ndef f(x):\n    return 0.1 + 0.2 == 0.3 and random.random() < 0.5\n"
    assert compared(source, tmp_path, [0, 1], module_name="rounded_sum").startswith("differs")
