"""Case files of all kinds from a path or from text, and a changed case from the tables of another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.api.values import document
from paramverify.automata.automaton import MAX_BYTES as MAX_AUTOMATON
from paramverify.divergences import registry
from paramverify.errors import CaseError, InputError
from paramverify.files import read_file
from paramverify.logic.logic_cases import LogicOptions
from paramverify.models.settings import designed, without_chosen
from paramverify.subjects.registry import opened, subject_named
from paramverify.subjects.subject import CaseFile, Subject
from paramverify.tables import MAX_BYTES

Bound = ExactNumber | Fraction | int | float | str

NAME = "<text>"  # of a case without a file
CHANGED = " (changed)"
BOUNDS = ("epsilon", "ratio")


class Kind(StrEnum):
    """What a case is about."""

    PRIVACY = "privacy"
    """A mechanism with a prior or with neighbours, for example a program."""
    CLAIM = "claim"
    """An inequality."""
    INTERACTIVE = "interactive"
    """An interactive system."""
    LOGIC = "logic"
    """A Markov chain or decision process with formulas of dpCTL*."""
    STREAM = "stream"
    """An automaton, or a program with Laplace noise, over streams of every length."""
    AUTOMATON = "automaton"
    """The file of an automaton (.dipa), which states no budget."""


@dataclass(frozen=True, eq=False)
class Read:
    """A file that was read, with the text that it was read from; files that it names are beside it."""

    file: CaseFile
    subject: Subject

    @property
    def path(self) -> Path:
        """The path of the file, or the one that its text stands for."""
        return self.file.path

    @property
    def kind(self) -> Kind | str:
        """What it is about; of a subject of another package its name."""
        name = self.subject.name
        return Kind(name) if name in Kind._value2member_map_ else name

    @property
    def content(self) -> Any:
        """What the reader of its subject made of it."""
        return self.file.content(self.subject.read)


def read(path: str | PathLike[str], given: LogicOptions | None = None) -> Read:
    """Reads a file; see `read_text`."""
    file = Path(path)
    what, most = ("an automaton", MAX_AUTOMATON) if file.suffix == ".dipa" else ("a case file", MAX_BYTES)
    try:
        content = read_file(file, most, what, CaseError)
    except CaseError as error:
        error.file = error.file or str(path)
        raise
    return read_text(content, file, given)


def read_text(text: bytes, path: Path, given: LogicOptions | None = None) -> Read:
    """Reads the text of a case file as if it stood at a path.

    Raises:
        InputError: any mistake, with file, key and reason.
        LimitError: a model larger than the bounds of this package.
    """
    file = CaseFile(path, text=text, more=given)
    subject, file = opened(file)
    found = Read(file, subject)
    _ = found.content
    return found


def read_already(text: bytes, path: Path, kind: Kind, content: object) -> Read:
    """Returns a file that somebody has read."""
    return Read(CaseFile(path, text=text, read=content), subject_named(kind))


def changed(
    of: Read,
    *,
    title: str | None,
    bounds: Mapping[str, object],
    length: int | str | None,
    parameters: Mapping[str, object],
    tables: Mapping[str, object],
) -> Read:
    """Returns the case with other values, which is read as the file was; `[expect]` was about the other one.

    Raises:
        InputError: a name that the case does not have or that cannot be changed; a mistake, as in a file.
    """
    if of.file.document is None:
        raise InputError(
            "an automaton has no tables to change: load a case with [automaton] that names its file"
        )
    if of.file.more is not None:
        raise InputError(
            "with_ cannot change a case that was loaded with formulas: load it again with other ones"
        )
    data = {name: value for name, value in of.file.document.data.items() if name != "expect"}
    if title is not None:
        data = {"title": title} | data | {"title": title}
    if bounds or length is not None:
        data["privacy"] = _privacy(of, data.get("privacy", {}), bounds, length)
    if parameters:
        before = designed(data)
        data["parameters"] = _parameters(data.get("parameters", {}), parameters)
        data = without_chosen(data, before)
    for name, table in tables.items():
        data[name] = _merged(of, data.get(name, {}), name, table)
    folder, name = of.path.parent, of.path.name.removesuffix(CHANGED)
    return read_text(document(data).encode(), folder / f"{name}{CHANGED}")


def _privacy(
    of: Read, table: Mapping[str, object], bounds: Mapping[str, object], length: int | str | None
) -> dict[str, object]:
    """Returns `[privacy]` with other bounds: a measure takes the place of the other one; δ is beside ε."""
    named = next(iter(bounds), "length")
    if of.subject.own_bounds:
        raise InputError(of.subject.own_bounds, key=named)
    ratios = [name for name in bounds if name != "delta"]
    if len(ratios) > 1:
        raise InputError(f"{' and '.join(ratios)} exclude each other: give one of them", key=named)
    others = registry.names()
    replaced = registry.measures() if any(name in others for name in bounds) else (*BOUNDS, *others)
    kept = {k: v for k, v in table.items() if not ratios or k not in replaced}
    found = {("epsilon" if name == "budget" else name): value for name, value in bounds.items()}
    return {**kept, **found, **({} if length is None else {"length": length})}


def _parameters(table: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    for name in given:
        if name not in table and name != "constraints":
            known = ", ".join(k for k in table if k != "constraints") or "none"
            hint = _near(name, table)
            raise InputError(
                f"there is no parameter {name!r}{hint}; choose from {known}",
                key="parameters",
            )
    return {k: v for k, v in {**table, **given}.items() if v is not None}


def _merged(of: Read, table: object, name: str, given: object) -> object:
    known = of.subject.tables
    if name not in known:
        what = ", ".join(["budget", *registry.measures(), "length", "title", "parameters", *known])
        raise InputError(f"with_ cannot change this{_near(name, known)}; it can change: {what}", key=name)
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise InputError(f"{given!r} is not a dictionary: give a dict whose keys are names", key=name)
    before = table if isinstance(table, Mapping) else {}
    return {k: v for k, v in {**before, **given}.items() if v is not None}


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
