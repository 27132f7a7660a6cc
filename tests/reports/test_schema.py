"""The JSON Schema of case files says what the readers read: nothing less, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import Draft7Validator
from mutated_cases import is_about_shape, kind_of, mutated, refusal

from paramverify.errors import DefectError
from paramverify.reports.case_schema import KINDS, reference, schema
from paramverify.tables import TEXT, Key, Section, Table

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "cases").rglob("*.toml"))
# Cases of all kinds that are read in a few milliseconds each, which have nearly all keys among them.
CHEAP = """
blood-test geometric-neighbours time-series-2 randomized-response sample-n-utility
geometric-symbolic-2 geometric-independent survey-memory time-series-3 geometric-own-record
geometric-contagious-ln4 randomized-response-condition geometric-metric above-threshold
time-series-2-day-3 geometric-markov-chain conditioned-geometric-2 design-geometric-contagious
noisy-max-naive-3-ln2 noisy-max-3-below random-walk above-threshold-prior noisy-max-independent
retransmission-bound design-noisy-max above-threshold-figure-3 time-series-2-all
programs/randomized-response-two-coins programs/count-timing-safe programs/hadamard-response
programs/family programs/geometric-metric-grid programs/two-thresholds programs/count-unbounded
interactive/slots-0 interactive/survey interactive/slots-2-full interactive/slots-2-keep
interactive/sample-n-printed interactive/slots-2-symbolic interactive/slots-2-sampled
interactive/slots-2-mex2 interactive/unwinding-add-only interactive/slots-2-shared
interactive/clinic-and-laboratory logic/emptiness
logic/equal-copies logic/survey logic/survey-coin logic/interactive-survey
release-household release-neighbours release-total-revealed infection-chain coarse-noise
divergences/geometric-renyi divergences/shuffled-renyi divergences/geometric-kl
automata/sparse-vector automata/stream-sparse-vector programs/stream-fresh-answers
approximate/survey-and-count programs/select-then-answer infection-grid markov-quilt
"""
FILES = [ROOT / "cases" / f"{name}.toml" for name in CHEAP.split()]

# What no cheap case has.
MORE = {
    "privacy": """
prior = { a = { uniform = [0, 1] }, b = { categorical = { 0 = "1/2", 1 = "1/2" } } }
mechanism = { kind = "geometric", query = "a", noise = { table = [["2/3", "1/3"], ["1/3", "2/3"]] } }
secrets = { one = "b == 1", all = "true", pairs = [["one", "all"]] }
privacy = { ratio = 2, one_sided = "ignored" }
""",
    "composition": """
title = "Releases of a year"
source = "a plan"
component = [
    { kind = "gaussian", sigma = 2, sensitivity = "1/2", times = 3, subsample = "1/10" },
    { kind = "discrete_gaussian", sigma = 2, sensitivity = 1 },
    { kind = "laplace", scale = 2, sensitivity = 1.5 },
    { kind = "laplace", epsilon = 2 },
    { kind = "discrete_laplace", scale = 2, sensitivity = 2 },
    { kind = "discrete_laplace", epsilon = 2 },
    { kind = "discrete_laplace", alpha = "1/2" },
    { kind = "randomized_response", truth = 0.75, values = 3 },
    { kind = "randomized_response", epsilon = "ln(2)" },
    { case = "case.toml", set = { r = "1/2" }, times = 2, subsample = "1/2" },
]
""",
}


def validator(kind: str = "") -> Draft7Validator:
    """Returns what checks data by the schema, which is one itself."""
    found = schema(kind)
    Draft7Validator.check_schema(found)
    return Draft7Validator(found)


def data_of(path: Path) -> dict[str, Any]:
    """Returns the data of a case file as an editor sees them."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_every_shipped_case_fits() -> None:
    """Each shipped case fits the schema of its kind, that of all kinds, and that of no other kind."""
    known = {kind: validator(kind) for kind in ("", *KINDS)}
    assert {kind_of(data_of(path)) for path in CASES} == set(KINDS) - {"composition"}
    for path in CASES:
        data = data_of(path)
        fits = {kind for kind, check in known.items() if check.is_valid(data)}
        assert fits == {"", kind_of(data)}, path


def test_the_schema_refuses_what_the_readers_refuse(tmp_path: Path) -> None:
    """Changes of cases that paramverify reads fit the schema; those whose shape it refuses do not."""
    random, check, found = Random(17), validator(), Counter[tuple[str, str, bool]]()
    assert len(FILES) > 40
    cases = tmp_path / "cases"
    shutil.copytree(ROOT / "cases", cases)
    read = [(path, data_of(path)) for path in FILES]
    for _ in range(120):
        path, data = random.choice(read)
        change = mutated(data, random)
        file = cases / path.relative_to(ROOT / "cases").with_name("changed.toml")
        file.write_text(change.text(), encoding="utf-8")
        now = data_of(file)
        error = refusal(file, kind_of(now))
        means = "read" if error is None else "shape" if is_about_shape(error) else "meaning"
        fits = check.is_valid(now)
        assert fits or means != "read", (path, change)
        assert not fits or means != "shape", (path, change, error)
        found[change.kind, means, fits] += 1
    refused = Counter(kind for kind, means, _ in found.elements() if means == "shape")
    assert set(refused) == {"unknown", "renamed", "type", "word", "missing"}
    assert sum(refused.values()) > 60
    assert sum(1 for _, means, _ in found.elements() if means == "read") > 8


@pytest.mark.slow
def test_every_declared_key_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The readers ask for each key that is declared, in cases that are accepted."""
    asked: set[tuple[str, str, str]] = set()
    plain = Section.key

    def key(section: Section, name: str) -> Key:
        found = plain(section, name)
        asked.add((section.name, section.about, found.name))
        return found

    monkeypatch.setattr(Section, "key", key)
    others = [ROOT / "cases" / "interactive" / "survey-subroutines.toml"]
    for kind, text in MORE.items():
        assert [k for k in ("", *KINDS) if validator(k).is_valid(tomllib.loads(text))] == ["", kind]
        others.append(tmp_path / f"{kind}.toml")
        others[-1].write_text(text, encoding="utf-8")
    for path in (*FILES, *others):
        error = refusal(path, kind_of(data_of(path)))
        assert error is None, (path, error)
    rows = {(part.name, part.text, row.name) for part in reference() for row in part.rows}
    names_of_users = {"NAME", "STATE", "VALUE", "ACTION", "QUERY"}
    assert {row for row in rows - asked if row[2] not in names_of_users} == set()


def test_a_key_that_is_not_declared_cannot_be_read() -> None:
    """A reader that asks for another key is a defect, so that the schema has every key."""
    table = Table({"a": "x", "b": "y"}, Section("[t]", "A table.", (Key("a", TEXT, "A text."),)))
    assert table.text("a") == "x"
    for ask in (table.get, table.text, table.need, table.__contains__, table.integer):
        with pytest.raises(DefectError, match="'b' is read and not declared"):
            ask("b")


def test_every_key_has_a_sentence() -> None:
    """Each table and each key has one short sentence, which ends with a full stop."""
    for part in reference():
        for text in (part.text, *(row.text for row in part.rows)):
            assert text.endswith("."), (part.name, text)
            assert 3 < len(text) <= 120, (part.name, text)
        assert all(row.type for row in part.rows)
        assert len({row.name for row in part.rows}) == len(part.rows)
        assert part.name, part.text
    assert len({(part.kind, part.name, part.text) for part in reference()}) == len(reference())


SCHEMA = schema()


def completed(found: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yields the keys with their words that Taplo completes in a table, by a search of our own.

    It goes through `properties`, `additionalProperties`, `anyOf` and references, and never through `then`.
    """

    def seen(node: Any) -> Iterator[dict[str, Any]]:
        if not isinstance(node, dict):
            return
        if "$ref" in node:
            yield from seen(found["definitions"][node["$ref"].removeprefix("#/definitions/")])
            return
        yield node
        for inner in node.get("anyOf", ()):
            yield from seen(inner)

    here = list(seen(found))
    for name in path:
        inside = [
            n
            for node in here
            for n in (node.get("properties", {}).get(name), node.get("additionalProperties"))
        ]
        here = [n for node in inside for n in seen(node)]
    for node in here:
        for name, value in node.get("properties", {}).items():
            for inner in seen(value):
                if "description" in inner:
                    yield name, inner["description"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "name", "words"),
    [
        ((), "system", "The interactive system."),
        (
            ("mechanism",),
            "ties",
            "Which of several equal largest answers is released: each equally likely, or the first.",
        ),
        (("mechanism", "inputs", "n"), "length", "The length of the input, if it is an array."),
        (("system", "queries", "sum"), "range", 'The answers, such as "0..2".'),
    ],
)
def test_keys_are_completed_with_words(path: tuple[str, ...], name: str, words: str) -> None:
    """An editor that reads no conditions finds each key with its sentence all the same."""
    assert (name, words) in set(completed(SCHEMA, path))


def taplo(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Taplo in a folder, which it must not leave."""
    command = [shutil.which("taplo", path=str(Path(sys.executable).parent)) or "taplo", "lint", *arguments]
    environment = {**os.environ, "HOME": str(folder), "no_proxy": "*"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(
    not shutil.which("taplo", path=str(Path(sys.executable).parent)), reason="Taplo is not installed"
)
def test_taplo_reads_the_schema(tmp_path: Path) -> None:
    """Taplo accepts every shipped case by the line `#:schema`, and tells mistakes with their places."""
    (tmp_path / "schema.json").write_text(json.dumps(schema()), encoding="utf-8")
    for path in CASES:
        file = tmp_path / path.relative_to(ROOT / "cases")
        file.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (len(file.relative_to(tmp_path).parts) - 1)
        file.write_text(f"#:schema ./{up}schema.json\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    fine = taplo(tmp_path)
    assert fine.returncode == 0, fine.stderr
    assert f"total={len(CASES)}" in fine.stderr
    case = (tmp_path / "noisy-max-independent.toml").read_text(encoding="utf-8")
    mistakes = {
        'ties = "uniform"': ('ties = "unifrom"', '"unifrom" is not one of ["uniform","first"]'),
        "queries =": ("querys =", '"queries" is a required property'),
        'pA = "(0, 1)"': ("pA = true", "true is not valid under any"),
        "[privacy]": ("[privacy]\nbudget = 1", "'budget' was unexpected"),
    }
    for right, (wrong, words) in mistakes.items():
        assert right in case
        (tmp_path / "wrong.toml").write_text(case.replace(right, wrong, 1), encoding="utf-8")
        refused = taplo(tmp_path, "wrong.toml")
        assert refused.returncode == 1, wrong
        assert words in refused.stderr, (wrong, refused.stderr)
