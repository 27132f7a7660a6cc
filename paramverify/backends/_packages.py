"""Which packages are installed, and in which version: each is looked up once."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version


def installed(*names: str) -> str | None:
    """Returns the version of the last of these packages, or None where one of them is missing."""
    return _installed(names, tuple(sys.path))


@lru_cache
def _installed(names: tuple[str, ...], path: tuple[str, ...]) -> str | None:
    del path  # where packages are looked for
    try:
        return [version(name) for name in names][-1]
    except PackageNotFoundError:
        return None
