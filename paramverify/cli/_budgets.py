"""`verify --budgets`: several budgets of one case in one run, each with its verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from paramverify.answers import Standing
from paramverify.cli import _output
from paramverify.cli._common import print_json, say, time_limit
from paramverify.cli._exits import STATUS_CODES
from paramverify.cli._settings import settings
from paramverify.errors import InputError
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase, read_case
from paramverify.privacy.keys import TOGETHER
from paramverify.privacy.sides import deciding
from paramverify.reports import documents, verdicts
from paramverify.synthesis.borders import verify_beyond
from paramverify.tables import read_document

WORST = (Standing.VIOLATED, Standing.UNKNOWN, Standing.HOLDS)


def split(text: str) -> list[str]:
    """Returns the budgets in a list such as `1,ln(2),min(2, eps)`: a comma in brackets parts nothing.

    Raises:
        InputError: an empty one.
    """
    found, depth = [""], 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    budgets = [part.strip() for part in found]
    if not all(budgets):
        raise InputError("write bounds with commas between them, such as 1,ln(2),2", key="--budgets")
    return budgets


def verify_budgets(
    path: str,
    budgets: str,
    *,
    timeout: float,
    options: Options,
    as_json: bool,
) -> int:
    """Verifies a case for each budget, prints the verdicts, and returns the exit code of the worst.

    That is 1 if one is not private, else 3 if one is undecided, else 0. As JSON the answer is an object: the
    worst word, and a list of what `verify` prints of each, with its `budget`.
    """
    with time_limit(timeout):
        until = time.monotonic() + options.seconds
        cases = _cases(path, split(budgets))
        standings: list[Standing] = []
        listed: list[dict[str, Any]] = []
        told: list[str] = []
        for listed_case in cases:
            left = replace(options, seconds=max(0.01, until - time.monotonic()))
            case = deciding(listed_case, left)
            report = verify_beyond(case, left, near=True)
            standings.append(report.status)
            if report.status is Standing.VIOLATED:
                _output.violated(Standing.VIOLATED.of_case)
            lines = verdicts.lines(report, case)
            told += [*lines, *verdicts.notes(report, case)]
            if as_json:
                about = verdicts.document(report, case) | documents.side_condition(case.model)
                listed.append({"budget": case.budget, **about})
                _output.add("budgets", listed[-1])
            else:
                _output.add("budgets", {}, f"  {lines[0]}")
    worst = next(standing for standing in WORST if standing in standings)
    if as_json:
        print_json({"status": worst.value, "verdict": worst.of_case, "budgets": listed})
    for line in () if as_json else told:
        say(line)
    return STATUS_CODES[worst]


def _cases(path: str, budgets: list[str]) -> list[PrivacyCase]:
    """Reads the case with each of the budgets; a mistake in one is told before anything is decided."""
    document = read_document(Path(path))
    data = document.data
    privacy = data.get("privacy")
    if not isinstance(privacy, dict) or "mechanism" not in data:
        raise InputError("this case has no budget in [privacy]: leave --budgets out", file=path)
    name, bounded = _bounded(privacy)
    cases = []
    for text in budgets:
        changed = {**data, "privacy": bounded(text)}
        try:
            cases.append(read_case(changed, document.digest, path, text=document.text, settings=settings()))
        except InputError as error:
            for part in error.parts:
                if part.key == f"privacy.{name}":  # the file has another one there, or none
                    part.key, part.file_line = f"--budgets {text}", 0
            raise
    return cases


def _bounded(privacy: dict[str, Any]) -> tuple[str, Callable[[str], dict[str, Any]]]:
    """Returns the key of the bound of a case, and its `[privacy]` with another bound.

    That is an epsilon, also of a Rényi divergence; other divergences have bounds of their own.
    """
    name = next((name for name in TOGETHER if name in privacy), "epsilon")
    kept = {key: value for key, value in privacy.items() if key not in ("epsilon", "ratio")}
    renyi = privacy.get("renyi")
    if name == "renyi" and isinstance(renyi, dict):
        own = {key: value for key, value in renyi.items() if key not in ("epsilon", "ratio")}
        return "renyi.epsilon", lambda text: {**kept, "renyi": {**own, "epsilon": text}}
    return name, lambda text: {**kept, name: text}
