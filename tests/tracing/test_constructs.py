"""The constructs of docs/constructs.toml: adopted with exactly the law of CPython, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from compared_functions import compared, refusal
from construct_rows import GROUPS, refused, supported
from sampled_functions import sampled

INPUTS = (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_supported_constructs(tmp_path: Path, group: str) -> None:
    """Each example has exactly the law that CPython gives it."""
    failures = []
    for number, example in enumerate(supported(group)):
        name = f"construct_{GROUPS.index(group)}_{number}"
        if example.samples:
            answer = sampled(example.source, tmp_path, INPUTS, example.samples, name)
        else:
            answer = compared(example.source, tmp_path, INPUTS, module_name=name)
        if answer != "same":
            failures.append(f"{example.name}: {answer}")
    assert not failures, "\n".join(failures)


@pytest.mark.slow
def test_refused_constructs(tmp_path: Path) -> None:
    """What has no law, or none that paramverify can find, is refused with its reason."""
    failures = []
    for number, example in enumerate(refused()):
        answer = refusal(example.source, tmp_path, f"refused_construct_{number}")
        if example.reason not in answer:
            failures.append(f"{example.name}: {answer or 'accepted'}")
    assert not failures, "\n".join(failures)


def test_samples_can_differ(tmp_path: Path) -> None:
    """A law that is wrong by one hundredth fails the comparison with samples: here rounding decides."""
    source = "import random\n\n\ndef f(x):\n    return random.random() + 1e16 < 1e16 + 0.5\n"
    assert sampled(source, tmp_path, INPUTS, 10_000, "rounded_uniform").startswith("differs")
