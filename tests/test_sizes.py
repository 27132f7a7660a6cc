"""Sizes: modules, functions and calls stay small enough to be read at once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import paramverify

PACKAGE = Path(paramverify.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
LINES, FUNCTION, POSITIONAL = 400, 60, 5


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_sizes(path: Path) -> None:
    """No module is over 400 lines, no function over 60, no call has more than five positional arguments."""
    text = path.read_text()
    assert len(text.splitlines()) <= LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < FUNCTION, node.name
        elif isinstance(node, ast.Call):
            assert len(node.args) <= POSITIONAL, f"line {node.lineno}: {ast.unparse(node.func)}"
