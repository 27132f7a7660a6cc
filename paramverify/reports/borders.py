"""What larger and smaller ranges of inputs say of a budget, in words and as JSON data."""

from __future__ import annotations

from typing import Any

from paramverify.reports import documents, text
from paramverify.synthesis.borders import Border


def lines(found: Border | None) -> list[str]:
    """Returns in words that the least bound belongs to the ends of ranges; nothing where it does not."""
    if found is None:
        return []
    if found.larger:
        first, *rest = text.witness_lines(found.larger.witness)
        told = f"  larger inputs need more, such as {found.larger.over}: {first}"
        return [told, *(f"    {line}" for line in rest)]
    same = f"; {found.bound} is enough for {', '.join(found.same)}, too" if found.same else ""
    return [f"  the worst pair lies on the border of these inputs: less is enough for {found.smaller}{same}"]


def document(found: Border | None) -> dict[str, Any]:
    """Returns the same as JSON data."""
    if found is None:
        return {}
    if found.larger:
        return documents.larger(found.larger)
    same = {"bound": found.bound, "same_for": list(found.same)} if found.same else {}
    return {"border": {"less_for": found.smaller, **same}}
