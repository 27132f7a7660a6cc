"""Assertions about privacy for tests, and a plugin of pytest that collects case files.

    from paramverify.testing import assert_private

    def test_the_release_is_private():
        assert_private("cases/release.toml")

A failure shows the report: the prior, the output and both probabilities. A case that stays undecided fails
too, with the reason. Nothing of the prover is imported before an assertion runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from paramverify.testing.expectations import WeakerVerdictWarning, warn_if_weaker

if TYPE_CHECKING:
    from paramverify.api.cases import AnyCase
    from paramverify.api.options import Limits
    from paramverify.api.results import VerifyReport

__all__ = ["WeakerVerdictWarning", "assert_not_private", "assert_private"]


def assert_private(case: AnyCase, **limits: Unpack[Limits]) -> VerifyReport:
    """Asserts that a case is private (a claim or formulas: true), and returns the report with its proof.

    `case` is a case, a decorated function, or the path of a case file; the limits are those of
    `paramverify.verify`.

    Raises:
        AssertionError: it is not private, or undecided within the limits; the message is the report.
        InputError: a mistake in the case or in a limit.

    Warns:
        WeakerVerdictWarning: it is private, but not for larger inputs (`report.larger`), or on a side
            condition, such as `one_sided`.
    """
    __tracebackhide__ = True
    report, holds = _decided(case, limits)
    if not holds:
        raise AssertionError(str(report))
    warn_if_weaker(report)
    return report


def assert_not_private(case: AnyCase, **limits: Unpack[Limits]) -> VerifyReport:
    """Asserts that a case is not private (a claim or formulas: false), and returns the report and witness.

    This is for a mechanism that is known to leak: the test fails when it is mended. See `assert_private`.

    Raises:
        AssertionError: it is private, or undecided within the limits; the message is the report.
        InputError: a mistake in the case or in a limit.
    """
    __tracebackhide__ = True
    report, holds = _decided(case, limits)
    if holds is not False:
        raise AssertionError(str(report))
    return report


def _decided(case: AnyCase, limits: Limits) -> tuple[VerifyReport, bool | None]:
    """Returns the report, and whether it holds; None where it is undecided."""
    from paramverify.api.cases import verify
    from paramverify.errors import UndecidedError

    report = verify(case, **limits)
    try:
        return report, bool(report)
    except UndecidedError:
        return report, None
