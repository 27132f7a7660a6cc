"""`title`, `source` and `[expect]`: what a case file says for people and for tests."""

from __future__ import annotations

from typing import Any

from paramverify.answers import Standing
from paramverify.tables import EXPRESSION, FLAG, TEXT, Key, Section, Table, by_name, one_of
from paramverify.verdicts import with_status

TITLE = Key("title", TEXT, "What the case is about.")
SOURCE = Key("source", TEXT, "Where the case comes from.")


def _section(name: str, about: str, claimed: bool) -> Section:
    words = (standing.of_claim if claimed else standing.of_case for standing in Standing)
    return Section(
        name,
        about,
        (
            Key("verdict", one_of(*words), "The verdict."),
            Key(
                "status",
                one_of(*(str(standing.value) for standing in Standing)),
                "The older form of `verdict`.",
            ),
            Key("ratio", EXPRESSION, "The tight ratio e^epsilon."),
            Key("attained", FLAG, "Whether the tight ratio is attained, not only approached."),
            Key("delta", EXPRESSION, "The least delta."),
            Key("sufficient", EXPRESSION, "A delta that is enough for each formula of a family."),
        ),
    )


EXPECT = _section("[expect]", "The expected results; only tests and `compare` use them.", claimed=False)
EXPECT_CLAIMED = _section("[expect]", EXPECT.about, claimed=True)
EXPECT_EACH = by_name(
    "[expect]",
    "The expected result of each formula; only tests and `compare` use it.",
    _section("[expect.NAME]", "The expected result of a formula.", claimed=True),
    "The expected result of a formula.",
)


def read_expect(top: Table, claimed: bool) -> dict[str, Any]:
    """Returns the table `[expect]`, with a `status` where it has a `verdict`; see `verdicts.with_status`.

    Raises:
        CaseError: an unknown key, or a value of another type.
    """
    if "expect" not in top:
        return {}
    with top.within("expect") as table:
        return _read(table, claimed)


def read_expect_each(top: Table) -> dict[str, Any]:
    """Returns what `[expect]` says of each formula of a case; see `read_expect`."""
    if "expect" not in top:
        return {}
    found = {}
    with top.within("expect") as table:
        for name in table:
            with table.within(name) as inner:
                found[name] = _read(inner, claimed=True)
    return found


def _read(table: Table, claimed: bool) -> dict[str, Any]:
    for name in ("verdict", "status"):
        table.get(name)  # `with_status` reads them
    if "attained" in table:
        table.flag("attained")
    for name in ("ratio", "delta", "sufficient"):
        if name in table:
            table.expression(name)
    table.close()
    return with_status(table.data, claimed)
