"""Cases of programs as files, their budgets by the package, and the largest ratio of distributions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from paramverify.answers import Standing
from paramverify.models.model import need_privacy
from paramverify.portfolio.obligations import discharge
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.strategies import NAMED
from paramverify.privacy.cases import load
from paramverify.privacy.verification import PrivacyReport, verify
from paramverify.synthesis.case_budget import CaseBudget, case_budget

Share = TypeVar("Share", Fraction, float)
Given = tuple[int, ...]
Pairs = Sequence[tuple[Given, Given]]

OPTIONS = Options(seconds=60, strategy=NAMED["built-in"])
EACH = 'differ = "each"'


def written(
    path: Path,
    text: str,
    privacy: str = "ratio = 2",
    parameters: str = "",
    inputs: str = 'q = { length = 2, values = "0..1" }',
    neighbours: str = EACH,
) -> Path:
    """Writes the case of a program."""
    head = f"[parameters]\n{parameters}\n" if parameters else ""
    path.write_text(
        f"{head}[mechanism]\nkind = \"program\"\nsource = '''\n{text}\n'''\n[mechanism.inputs]\n{inputs}\n"
        f"[neighbours]\n{neighbours}\n[privacy]\n{privacy}\n"
    )
    return path


def budget(path: Path, precision: Fraction = Fraction(1, 10**12)) -> CaseBudget:
    """Returns the tight budget of a case, as the command does."""
    model = need_privacy(load(path).model, "this test", densities=True)
    with Session(OPTIONS) as session:
        doubt, _ = discharge(session, model)
        assert doubt is None, doubt
        return case_budget(model, session, precision)


def verified(path: Path) -> PrivacyReport:
    """Returns the verdict of a case, as the command does."""
    return verify(load(path), OPTIONS)


def verdict(path: Path) -> Standing:
    """Returns the word for the verdict of a case."""
    return verified(path).status


def listed(pairs: Pairs) -> str:
    """Returns `[neighbours]` for listed pairs."""
    return f"pairs = {[[list(x), list(y)] for x, y in pairs]}"


def largest_ratio(
    rows: Mapping[Given, Mapping[Hashable, Share]], pairs: Pairs, least: float = 0.0
) -> Share | None:
    """Returns the largest ratio of two probabilities of one output under neighbours, in both directions.

    None means that an output is possible on one side only; what is not more than `least` is impossible.
    """
    found: list[Share] = []
    for x, y in (*pairs, *((y, x) for x, y in pairs)):
        for what, share in rows[x].items():
            if share > least:
                other = rows[y].get(what)
                if other is None or not other > least:
                    return None
                found.append(share / other)
    return max(found)
