"""A name in a document is that of one thing: documents in which two have one name are rejected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from three_checkers import NOT_KNOWN, built, by_program, in_python

import paramverify
from paramverify.kernel.documents import engine_of

# Shipped cases, with the places of names in their evidence, in the statement of an engine. All names of
# places that stand together differ.
ACTIONS = tuple(f"unwinding.system.{kind}" for kind in ("data", "queries", "responses", "hidden"))
SYSTEM = (("unwinding.system.states",), ACTIONS)
CHAIN = (("formulas.model.states",), ("formulas.model.actions",), ("formulas.formulas.*.name",))
MACHINE = (("automaton.automaton.states.*.name",), ("automaton.automaton.variables",))
CONE = (("cone.model.observations",),)
PLACES = {
    "survey-memory-all.toml": CONE,
    "interactive/slots-2-laplace.toml": SYSTEM,
    "interactive/slots-1-full.toml": SYSTEM,
    "interactive/survey.toml": SYSTEM,
    "logic/survey.toml": CHAIN,
    "logic/subsampling-majority.toml": CHAIN,
    "automata/stream-sparse-vector-one.toml": MACHINE,
    "automata/stream-numeric-sparse-vector.toml": MACHINE,
    "programs/numeric-partial-sum-laplace.toml": (("outputs",),),
}


@cache
def evidence(name: str) -> str:
    """Returns the evidence of a shipped case."""
    return json.dumps(paramverify.verify(str(ROOT / "cases" / name), timeout=60).evidence())


def stand(document: dict[str, Any], place: str) -> Iterator[tuple[Any, Any]]:
    """Yields the objects and keys where names stand in a document."""
    first, *path = place.split(".")
    engine = engine_of(document)
    yield from (
        places(engine, path) if engine and engine["kind"] == first else places(document, [first, *path])
    )


def places(value: Any, path: list[str]) -> Iterator[tuple[Any, Any]]:
    """Yields the objects and keys where names stand in a part of a document."""
    first, rest = path[0], path[1:]
    keys = range(len(value)) if isinstance(value, list) else value.keys()
    for key in keys if first == "*" else [first]:
        if rest:
            yield from places(value[key], rest)
        elif isinstance(value[key], list):
            yield from ((value[key], k) for k in range(len(value[key])))
        else:
            yield value, key


def doubled(name: str) -> Iterator[dict[str, Any]]:
    """Yields the evidence with two names made one, and with all of one place made one."""
    document = json.loads(evidence(name))
    for together in PLACES[name]:
        count = sum(len([*stand(document, path)]) for path in together)
        for k in range(1, min(count, 12)):
            for other in {0, k - 1}:
                changed = deepcopy(document)
                at = [entry for path in together for entry in stand(changed, path)]
                at[k][0][at[k][1]] = at[other][0][at[other][1]]
                yield changed
        for path in together:
            changed = deepcopy(document)
            if len(at := [*stand(changed, path)]) > 1:
                for holder, key in at:
                    holder[key] = "x"
                yield changed


@pytest.mark.parametrize("name", PLACES)
def test_names_differ(name: str, tmp_path: Path) -> None:
    """Evidence is rejected where two names are one: in Python, and by the program from Coq if it knows it."""
    texts = [evidence(name), *map(json.dumps, doubled(name))]
    files = [tmp_path / f"{k}.json" for k in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    wanted = ["accepted", *["rejected"] * (len(texts) - 1)]
    assert len(wanted) > 1
    assert [in_python(text.encode()).word for text in texts] == wanted
    assert [answer.word for answer in by_program(built(), files)] in (wanted, [NOT_KNOWN] * len(texts))
