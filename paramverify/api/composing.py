"""`compose`: certified bounds of many releases together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Unpack

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.api.options import Limits, clock, options_of
from paramverify.api.reading import Bound, Kind
from paramverify.api.results import ComposeReport
from paramverify.api.values import between, whole
from paramverify.composition.case_releases import read_case
from paramverify.composition.composing import Composition, DirectedRelease, ask
from paramverify.composition.written_releases import read_components, read_question, repeated
from paramverify.errors import InputError
from paramverify.models.settings import Settings
from paramverify.portfolio.session import Session
from paramverify.reports import composition_reports
from paramverify.reports.composition_reports import composition_document
from paramverify.subjects.foreign_files import as_cases

PRECISION = "1e-4"


def compose(
    components: str | Sequence[str],
    *,
    times: int = 1,
    delta_for: Bound | None = None,
    epsilon_for: Bound | None = None,
    precision: Bound = PRECISION,
    **limits: Unpack[Limits],
) -> ComposeReport:
    """Finds the least δ for an ε, or the least ε for a δ, of many releases together.

    The components are written as for the command: `"gaussian:sigma=2,times=10"`, `"case.toml:10"`, or the
    name of a file with `[[component]]`. The number
    is exact, or between two proved bounds, whose relative distance is at most `precision` where time
    suffices. It is true of every adversary who takes another pair of inputs at each release ([ZhuDW22]). The
    limits are those of `verify`.

    Raises:
        InputError: a mistake in a component or an argument, or not exactly one of `delta_for` and
            `epsilon_for`.
        LimitError: no bounds were found within a limit.
    """
    if (delta_for is None) == (epsilon_for is None):
        raise InputError("give either delta_for or epsilon_for")
    asked = composition_reports.CompositionRequest(
        *(None if x is None else str(x) for x in (delta_for, epsilon_for))
    )
    question = read_question(asked.epsilon, asked.delta, ("delta_for", "epsilon_for"))
    width, options, count = between("precision", precision, 1), options_of(limits), whole("times", times, 1)
    started = time.perf_counter()
    with clock(options) as left, Session(options) as session:

        def read(path: str, values: Settings) -> tuple[DirectedRelease, tuple[str, ...]]:
            return read_case(session, path, values)

        listed = (
            components
            if isinstance(components, Sequence) and not isinstance(components, str)
            else [components]
        )
        if any(not isinstance(text, str) for text in listed):
            raise InputError('each component is a text, such as "gaussian:sigma=2" or "case.toml"')
        with as_cases("compose", {"components": listed}):
            parts = [repeated(each, count) for text in listed for each in read_components(text, read)]
        if not parts:
            raise InputError("give at least one component")
        composition = Composition(tuple(parts), deadline=time.monotonic() + left().seconds)
        (found,) = ask(composition, [question], width)
    lower, upper = found.between.lower, found.between.upper
    exact = None if found.exact is None else ExactNumber(found.exact)
    return ComposeReport(
        kind=Kind.PRIVACY,
        lines=tuple(composition_reports.lines(composition, found, asked)),
        document=composition_reports.document(composition, found, asked),
        seconds=time.perf_counter() - started,
        notes=composition.notes,
        lower=ExactNumber(lower),
        upper=ExactNumber(upper) if upper is not None else None,
        exact=exact if asked.name == "delta" or exact is None else ExactNumber.ln(exact),
        result=found,
        _evidence=lambda: composition_document(composition, found, question),
    )
