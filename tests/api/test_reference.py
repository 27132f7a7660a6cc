"""The reference of the public names: docstrings with examples that run, and a row for each argument."""

from __future__ import annotations

import doctest
import functools
import inspect
import sys
from typing import Any

import pytest
from conftest import ROOT

import paramverify
from paramverify import language
from paramverify.api.options import DEFAULTS, Limits
from paramverify.api.telling import SampleOptions, SampleRequest

sys.path.insert(0, str(ROOT / "docs" / "_site"))
griffe = pytest.importorskip("griffe")
keywords = pytest.importorskip("keywords")

FUNCTIONS = [name for name in paramverify.__all__ if name[0].islower()]
WORDS = [name for name in FUNCTIONS if hasattr(language, name)]
ASKED = [name for name in FUNCTIONS if name not in WORDS]
INTERNAL = ("PRECISION", "TOLERANCE", "Unpack", "MOST_PAIRS", "RUNS")


@functools.cache
def package() -> Any:
    """Returns the package as the site sees it."""
    extensions = griffe.load_extensions(keywords.Keywords)
    loaded = griffe.load("paramverify", docstring_parser="google", extensions=extensions)
    assert isinstance(loaded, griffe.Module)
    return loaded


def function(name: str) -> Any:
    """Returns a public function as the site shows it."""
    module = getattr(paramverify, name).__module__.removeprefix("paramverify.")
    found = package()[f"{module}.{name}"]
    assert isinstance(found, griffe.Function)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_has_a_row(name: str) -> None:
    """The table of a function names each of its arguments, with a type in words and a sentence."""
    found = function(name)
    assert found.docstring
    sections = {section.kind.value: section for section in found.docstring.parsed}
    rows = sections["parameters"].value if "parameters" in sections else []
    assert [row.name for row in rows] == [parameter.name for parameter in found.parameters]
    for row in rows:
        assert str(row.annotation), row.name
        assert row.description.endswith("."), row.name
        assert not any(word in f"{row.annotation} {row.value}" for word in INTERNAL), row.name
    if name in ASKED:
        assert {"returns", "examples"} <= set(sections), name


@pytest.mark.parametrize("name", ASKED)
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples in the docstring of a function give what they show, from the root of the repository."""
    monkeypatch.chdir(ROOT)
    found = getattr(paramverify, name)
    tests = doctest.DocTestFinder(recurse=False).find(found, name, globs={})
    assert tests
    assert tests[0].examples
    assert doctest.DocTestRunner().run(tests[0]).failed == 0


@pytest.mark.parametrize("kind", [paramverify.Case, paramverify.Case.with_, paramverify.ExactNumber])
def test_examples_of_cases_run(kind: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """So do those of the class and of its methods."""
    monkeypatch.chdir(ROOT)
    (test,) = doctest.DocTestFinder(recurse=False).find(kind, "case", globs={})
    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_collected_arguments_are_declared() -> None:
    """Each keyword argument that a function collects is declared with its default."""
    assert set(Limits.__annotations__) == set(DEFAULTS)
    assert {*SampleOptions.__annotations__, "implementation"} == set(SampleRequest.__dataclass_fields__)
    assert set(keywords.SAMPLED) == set(SampleRequest.__dataclass_fields__)


@pytest.mark.parametrize("name", ASKED)
def test_no_default_is_a_name_of_the_package(name: str) -> None:
    """A default in a signature is a value that the reader can type."""
    for parameter in inspect.signature(getattr(paramverify, name)).parameters.values():
        kinds = (str, int, float, bool, tuple, type(None))
        assert parameter.default is parameter.empty or isinstance(parameter.default, kinds)
