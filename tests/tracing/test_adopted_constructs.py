"""Constructs of Python in adopted functions: each law against an enumeration of the outcomes by CPython."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from compared_functions import compared, refusal
from function_texts import PREAMBLE

BODIES = tomllib.loads((Path(__file__).parent / "adopted_constructs.toml").read_text())


def whole(body: str) -> str:
    """Returns the source of a module with the function `f(x)` that has a body."""
    return PREAMBLE + "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.slow
def test_constructs(tmp_path: Path) -> None:
    """Every construct has exactly the law that CPython gives it."""
    failures = []
    for number, (what, body) in enumerate(BODIES["same"].items()):
        answer = compared(whole(body), tmp_path, [0, 1], module_name=f"construct{number}")
        if answer != "same":
            failures.append(f"{what}: {answer}")
    assert not failures, "\n".join(failures)


@pytest.mark.slow
def test_what_is_refused(tmp_path: Path) -> None:
    """What has no law, or none that paramverify can find, is refused with its reason."""
    failures = []
    for number, (what, found) in enumerate(BODIES["refused"].items()):
        answer = refusal(whole(found["body"]), tmp_path, f"refused{number}")
        if found["reason"] not in answer:
            failures.append(f"{what}: {answer}")
    assert not failures, "\n".join(failures)
