"""Reads the files that `[mechanism]` of a case names, such as that of a program."""

from __future__ import annotations

import hashlib
from pathlib import Path

from paramverify.errors import CaseError, located
from paramverify.files import read_file
from paramverify.models.context import Checks
from paramverify.models.mechanisms import files_of, tables_of
from paramverify.tables import MAX_BYTES, Table


def read_mechanism_files(top: Table, folder: Path, digest: str, checks: Checks) -> str:
    """Gives the checks the texts of all files by their keys, and returns the digest of all together.

    `digest` is that of the case file alone.

    Raises:
        CaseError: a file that cannot be read, or that is not UTF-8.
    """
    parts = [digest]
    with top.within("mechanism") as made:
        for start, data in tables_of(made.data):
            kind, table = data.get("kind"), Table(data)
            with located(key=start):
                for name in files_of(kind) if isinstance(kind, str) else ():
                    if name in table:
                        text, own = _read(folder, table.path(name), name)
                        checks.files[f"{start}.{name}" if start else name] = text
                        parts.append(own)
    return digest if len(parts) == 1 else hashlib.sha256(" ".join(parts).encode()).hexdigest()


def _read(folder: Path, path: str, key: str) -> tuple[str, str]:
    """Returns the text of a file, and its digest."""
    try:
        content = read_file(folder / path, MAX_BYTES, "a program", CaseError)
    except CaseError as error:
        raise CaseError(f"{path}: {error.reason}", key=key) from None
    try:
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        raise CaseError(f"not UTF-8 text (byte {error.start})", key=key) from None
