"""The form of evidence about exact intervals of one parameter."""

from __future__ import annotations

from .strict import Shape, flag, listed, one_of, rational, record, row, text, whole

SAFE, VIOLATING, OUTSIDE = "safe", "violating", "outside"


def intervals(domain: Shape) -> dict[str, Shape]:
    """Returns the keys of a document and their forms."""
    products = listed(record({"constant": rational, "factors": listed(row(whole, whole))}))
    return {
        "domain": domain,
        "claims": listed(text),
        "factors": listed(text),
        "products": products,
        "constraints": products,
        "breaks": listed(record({"factor": whole, "between": row(rational, rational)})),
        "cuts": listed(listed(rational)),
        "parts": listed(
            record(
                {
                    "status": one_of(SAFE, VIOLATING, OUTSIDE),
                    "ends": row(whole, whole),
                    "closed": row(flag, flag),
                }
            )
        ),
    }
