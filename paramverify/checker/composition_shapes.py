"""The form of evidence about compositions, key by key: standard library only."""

from __future__ import annotations

from .strict import Shape, listed, maybe, one_of, rational, record, row, short, table, tagged, text, whole

LOSS = row(short, short)


def release(value: object) -> None:
    """A release of any kind; see `releases`."""
    _RELEASE(value)


def _kind(**required: Shape) -> Shape:
    return record({"kind": text, **required})


_RELEASE = tagged(
    "kind",
    {
        "table": _kind(outputs=listed(row(rational, rational))),
        "randomized_response": _kind(step=LOSS, values=short),
        "discrete_laplace": _kind(step=LOSS, sensitivity=short),
        "discrete_gaussian": _kind(sigma=short, sensitivity=short),
        "laplace": _kind(scale=short, sensitivity=short),
        "gaussian": _kind(sigma=short, sensitivity=short),
        "sampled": _kind(of=release, rate=short),
        "turned": _kind(of=release),
    },
)


_CASE = record({"title": text, "digest": text}, {"set": table(text)})
_WAY = record({"dominating": release, "pairs": listed(release)})
COMPOSITION = record(
    {
        "format": one_of("paramverify-composition"),
        "version": one_of(1),
        "components": listed(record({"times": whole, "ways": listed(_WAY)}, {"case": _CASE})),
        "question": record({}, {"epsilon": LOSS, "delta": short}),
        "directions": listed(
            record(
                {
                    "grid": maybe(record({"step": LOSS, "bits": whole, "tail": whole})),
                    "spans": listed(maybe(row(whole, whole))),
                    "choice": listed(whole),
                }
            )
        ),
        "exact": maybe(rational),
        "lower": maybe(short),
        "upper": maybe(short),
    }
)
