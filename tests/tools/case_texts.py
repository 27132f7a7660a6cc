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
