"""The form of evidence about automata over streams: standard library only."""

from __future__ import annotations

from .strict import flag, listed, maybe, names, one_of, rational, record, row, table, text, whole

MACHINE = record(
    {
        "states": listed(
            record(
                {
                    "name": text,
                    "reads": flag,
                    "rate": rational,
                    "mean": rational,
                    "second": maybe(row(rational, rational)),
                }
            )
        ),
        "variables": names,
        "transitions": listed(
            record(
                {
                    "source": whole,
                    "target": whole,
                    "output": text,
                    "above": listed(whole),
                    "below": listed(whole),
                    "stored": listed(whole),
                },
                {"strict": listed(whole)},
            )
        ),
    },
    {"noise": one_of("geometric"), "late": flag},
)
FLOW = listed(row(whole, whole, rational))
NUMBER = record({}, {"exact": rational, "lower": rational, "upper": rational})
LEAST = record({"steps": listed(whole), "signs": listed(whole), "high": FLOW, "low": FLOW})
GAP = record(
    {
        "steps": listed(whole),
        "streams": row(listed(rational), listed(rational)),
        "point": listed(rational),
        "levels": listed(row(rational, rational, FLOW)),
    }
)
AUTOMATON = record(
    {
        "format": one_of("paramverify-automaton"),
        "version": one_of(1),
        "status": one_of("holds", "violated", "budget"),
        "automaton": MACHINE,
    },
    {
        "case": record({"title": text, "digest": text}, {"set": table(text)}),
        "claim": record(
            {"multiple": rational, "differ": one_of("each", "one")},
            {"plus": rational, "by": text, "values": listed(rational)},
        ),
        "streams": record({"differ": one_of("each", "one")}, {"by": text, "values": listed(rational)}),
        "example": record(
            {
                "steps": listed(whole),
                "streams": row(listed(rational), listed(rational)),
                "at": rational,
                "step": rational,
                "output": one_of("way", "other"),
                "probabilities": row(NUMBER, NUMBER),
            },
            {"between": row(rational, rational), "numbers": listed(whole)},
        ),
        "gap": GAP,
        "proof": record(
            {
                "multiple": rational,
                "classes": listed(whole),
                "edges": listed(row(whole, whole, whole)),
                "demands": listed(
                    record(
                        {
                            "class": whole,
                            "bounds": listed(row(whole, whole, whole)),
                            "pairs": listed(row(whole, whole)),
                            "weight": rational,
                        }
                    )
                ),
                "links": listed(row(whole, whole, whole, whole)),
            }
        ),
        "tables": record(
            {
                "multiple": rational,
                "classes": listed(whole),
                "edges": listed(row(whole, whole, whole)),
                "tables": listed(
                    record({"class": whole, "variables": listed(whole), "costs": listed(maybe(rational))})
                ),
            }
        ),
        "least": LEAST,
        "lengths": record(
            {
                "classes": listed(whole),
                "edges": listed(row(whole, whole, whole)),
                "tables": listed(
                    record(
                        {"class": whole, "variables": listed(whole), "read": whole},
                        {
                            "costs": listed(maybe(rational)),
                            "entries": listed(row(text, rational)),
                            "differed": flag,
                        },
                    )
                ),
                "budgets": listed(
                    record({"length": whole, "multiple": rational}, {"least": LEAST, "gap": GAP})
                ),
            }
        ),
        "family": record(
            {
                "kind": one_of("disclosing cycle", "leaking cycle", "leaking pair", "privacy-violating path"),
                "parts": listed(record({"steps": listed(whole), "repeated": flag})),
                "chain": listed(row(whole, whole, whole)),
                "gain": rational,
            }
        ),
    },
)
