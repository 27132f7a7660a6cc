"""Case files that are read once, for tests that ask many questions about each of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from paramverify.privacy.cases import PrivacyCase, load


@cache
def _read(path: str, changed: int, size: int) -> PrivacyCase:
    del changed, size  # of the file
    return load(path)


def kept(path: str | os.PathLike[str], *at: Any, **more: Any) -> PrivacyCase:
    """Returns the case of a file; it is read again if the file has changed, or values are set in it."""
    if any(at) or any(more.values()) or not os.path.isfile(path):
        return load(path, *at, **more)
    told = os.stat(path)
    return _read(os.fspath(path), told.st_mtime_ns, told.st_size)


def keep(patch: pytest.MonkeyPatch, commands: Iterable[str]) -> None:
    """Lets these commands take such cases; those that ask questions have them from their subject."""
    patch.setattr("paramverify.privacy.cases.load", kept)
    for name in commands:
        patch.setattr(import_module(f"paramverify.cli.{name}"), "load", kept, raising=False)
