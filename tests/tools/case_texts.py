"""Texts of cases that many tests need: one program, its inputs, and the bound that is asked about."""

from __future__ import annotations

EACH = 'differ = "each"'


def program_case(
    source: str, inputs: str, bound: str, parameters: str = "", near: str = EACH, title: str = ""
) -> str:
    """Returns the case of a program; braces may be doubled for `format`."""
    head = f'title = "{title}"\n' if title else ""
    head += f"[parameters]\n{parameters}\n" if parameters else ""
    return (
        f"{head}[mechanism]\nkind = \"program\"\nsource = '''\n{source}\n'''\n"
        f"[mechanism.inputs]\n{inputs}\n[neighbours]\n{near}\n[privacy]\n{bound}\n"
    )


# Three outputs with other probabilities for each of two inputs; the bound is to follow.
TABLE_CASE = """
[parameters]
p = "[1/4, 1/2)"
[mechanism]
kind = "release"
query = "x"
[mechanism.table]
0 = { a = "p", b = "1/4", c = "3/4 - p" }
1 = { a = "1/2", b = "p/2", c = "1/2 - p/2" }
[mechanism.inputs]
x = { values = "0..1" }
[neighbours]
differ = "one"
[privacy]
"""
