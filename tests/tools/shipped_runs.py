"""Each shipped case as it is decided once, and all that this run says: exit code, JSON, text and evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from calling_tools import Called, called, strict_json
from kept_cases import kept
from paper_rows import COMMANDS, plain

from paramverify.automata.stream_cases import about_streams
from paramverify.kernel import documents, enclosed_evidence
from paramverify.reports import case_explanations, evidence_checks
from paramverify.synthesis import borders
from paramverify.tables import toml_data
from paramverify.verdicts import with_status

SHIPPED = Path(__file__).resolve().parents[2] / "cases"
NO_LIMIT = ("--timeout", "600")  # a machine with much to do must not change what is said
CODES = {"holds": 0, "violated": 1, "unknown": 3}

# What decides, by the command that tells it: the second time a command is called it tells the same again.
DECIDES: dict[str, tuple[str, ...]] = {
    "verify": ("case_answers.verify_beyond", "stream_answers.decide", "stream_answers.verify_multiples"),
    "interactive": ("system_answers.verify_system",),
    "logic": (),
    "budget": (
        "case_bounds.case_budget",
        "case_bounds.case_budgets.find",
        "case_bounds.least_bound",
        "case_bounds.budgets.find",
        "system_answers.tight_budget",
    ),
}
READS = ("verify", "budget", "explain", "show")


def kind_of(path: Path) -> str:
    """Returns which command decides a case, and of cases about privacy the folder."""
    if path.suffix == ".dipa":
        return "automaton"
    if path.parent.name in ("logic", "interactive", "approximate", "divergences", "programs", "inequalities"):
        return path.parent.name
    if path.parent.name == "large":
        return "interactive"
    return "stream" if about_streams(path) else "plain"


def found(*kinds: str) -> list[Path]:
    """Returns the shipped cases of some kinds; those of another parent, such as `large`, are left out."""
    chosen = [p for ending in ("toml", "dipa") for p in sorted(SHIPPED.rglob(f"*.{ending}"))]
    return [p for p in chosen if p.parent.name != "large" and kind_of(p) in kinds]


def verdicts() -> list[Path]:
    """Returns the cases whose verdict is looked at: all but inequalities, which have tests of their own."""
    return found("plain", "programs", "approximate", "divergences", "stream", "interactive")


def budgets() -> list[Path]:
    """Returns the cases whose tight budget is looked at: those that expect one, and those of the papers."""
    asked = {command[1] for command in map(plain, COMMANDS) if command and command[0] == "budget"}

    def known(path: Path) -> bool:
        private = kind_of(path) == "plain"
        expected = toml_data(path.read_text(encoding="utf-8"))["expect"]
        return (private and "ratio" in expected) or path.relative_to(SHIPPED.parent).as_posix() in asked

    return [path for path in found("plain", "interactive") if known(path)]


def is_asked(command: str) -> bool:
    """Whether a command of the papers is one of those whose runs are looked at."""
    asked = plain(command)
    if asked is None:
        return False
    path = SHIPPED.parent / asked[1]
    return path in (budgets() if asked[0] == "budget" else verdicts()) and asked[0] in (
        "budget",
        command_of(path),
    )


def once(patch: pytest.MonkeyPatch, place: str) -> None:
    """Lets what a subject calls, such as `case_bounds.case_budget`, answer again what it answered before."""
    *modules, name = place.split(".")
    owner: Any = import_module(f"paramverify.subjects.{modules[0]}")
    for part in modules[1:]:
        owner = getattr(owner, part)
    true, known = getattr(owner, name), []

    def again(*given: Any, **more: Any) -> Any:
        if not known:
            known.append(true(*given, **more))
        return known[0]

    patch.setattr(owner, name, again)


@dataclass(frozen=True)
class Run:
    """What one decision of a case says: as JSON, in words, and as evidence."""

    path: Path
    command: str
    data: Called
    words: Called
    evidence: Path

    @cached_property
    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        found: dict[str, Any] = strict_json(self.data.out)
        return found

    @cached_property
    def content(self) -> dict[str, Any]:
        """The case file as tables."""
        return toml_data(self.path.read_text(encoding="utf-8"))

    @property
    def text(self) -> str:
        """The answer in words, with what is said on standard error."""
        return self.words.out + self.words.err

    @property
    def expected(self) -> dict[str, Any]:
        """What the case expects, with both words for its verdict."""
        return with_status(self.content["expect"], "claim" in self.content)

    def checked(self, *options: str) -> tuple[int, dict[str, Any], str]:
        """Returns the exit code, the JSON and the words of `check`; the codes of both are equal."""
        code, out, _ = called("check", str(self.evidence), *options, "--json", *NO_LIMIT)
        words = called("check", str(self.evidence), *options, *NO_LIMIT)
        assert words.code == code, words
        return code, strict_json(out), words.out


def command_of(path: Path) -> str:
    """Returns the command that decides a case."""
    kind = kind_of(path)
    return kind if kind in ("logic", "interactive") else "verify"


def asked(path: Path, folder: Path, patch: pytest.MonkeyPatch, command: str, *options: str) -> Run:
    """Asks a question about a case: it is decided once, and told as JSON, in words, and as evidence."""
    patch.setattr(borders, "MOST", 0.0)  # seconds for larger ranges of inputs: what is found there takes luck
    for place in DECIDES.get(command, ()):
        once(patch, place)
    if command in READS:
        patch.setattr("paramverify.privacy.cases.load", kept)
    replayed = cache(documents.check_text)  # by the kernel alone, and by `check`
    patch.setattr(documents, "check_text", replayed)
    patch.setattr(evidence_checks, "check_text", replayed)
    patch.setattr(evidence_checks, "checked", _known(evidence_checks.checked))
    patch.setattr(enclosed_evidence, "rows_of", _for_each_statement(enclosed_evidence.rows_of))
    patch.setattr(case_explanations, "claims_of", _of_each_model(case_explanations.claims_of))
    evidence = folder / f"{command}.json"
    given = (command, str(path), *options, *NO_LIMIT)
    data = called(*given, "--json", "--evidence", str(evidence))
    return Run(path, command, data, called(*given), evidence)


def _for_each_statement(true: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns what computes bounds of the same ways once: for the evidence, by the kernel, and by `check`."""
    known: dict[str, Any] = {}

    def again(statement: Any) -> Any:
        about = json.dumps([statement[name] for name in ("cells", "noise", "inputs")])
        if about not in known:
            known[about] = true(statement)
        return known[about]

    return again


def _of_each_model(true: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns what lists the claims of a model once: `explain` counts them as JSON and in words."""
    known: dict[int, tuple[Any, Any]] = {}

    def again(model: Any) -> Any:
        if id(model) not in known:
            known[id(model)] = model, true(model)
        return known[id(model)][1]

    return again


def _known(true: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of texts that answers the same question once."""
    known: dict[object, Any] = {}

    def again(text: str, case: str | None, settings: Any, verified: bool = False) -> Any:
        about = (text, case, verified)
        if about not in known:
            known[about] = true(text, case, settings, verified)
        return known[about]

    return again


def witnesses(document: Any) -> Iterator[dict[str, Any]]:
    """Yields all witnesses of an answer."""
    if isinstance(document, dict):
        for key, value in document.items():
            if key == "witness" and isinstance(value, dict):
                yield value
            else:
                yield from witnesses(value)
    elif isinstance(document, list):
        for value in document:
            yield from witnesses(value)


def between(value: Any) -> tuple[Fraction, Fraction]:
    """Returns the bounds of a number of an answer; an exact one is both."""
    if isinstance(value, dict):
        return Fraction(value["lower"]), Fraction(value["upper"])
    if isinstance(value, list):
        return Fraction(value[0]), Fraction(value[1])
    return Fraction(value), Fraction(value)
