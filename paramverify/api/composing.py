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


def compose(
    components: str | Sequence[str],
    *,
    times: int = 1,
    delta_for: Bound | None = None,
    epsilon_for: Bound | None = None,
    precision: Bound = "1e-4",
    **limits: Unpack[Limits],
) -> ComposeReport:
    """Finds the least δ for an ε, or the least ε for a δ, of many releases together.

    The number is exact, or lies between two proved bounds, whose relative distance is at most `precision` if
    time suffices. It holds for adversaries who choose a new pair of neighbouring inputs for each release
    ([ZhuDW22]). Give either `delta_for` or `epsilon_for`.

    Args:
        components (text or list of texts): The releases, such as `"gaussian:sigma=2,times=10"` or
            `"case.toml:10"`, or the path of a file with tables `[[component]]`.
        times (int): Compose all components this many times.
        delta_for (number or text): Find the least δ for this ε.
        epsilon_for (number or text): Find the least ε for this δ.
        precision (number or text): Stop when the relative distance between the bounds is at most this.
        **limits (see below): Limits of the call, and the backends that decide.

    Returns:
        A report with `lower`, `upper` and `exact`.

    Raises:
        InputError: A component or an argument has a mistake.
        LimitError: No bounds were found within a limit.

    Examples:
        >>> import paramverify
        >>> report = paramverify.compose("laplace:scale=10,times=20", delta_for=1)
        >>> 0 < report.lower <= report.upper < 1e-2
        True
    """
    if (delta_for is None) == (epsilon_for is None):
        raise InputError("say what to find: give either delta_for or epsilon_for")
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
            raise InputError(
                'a component is not a text: write, for example, "gaussian:sigma=2" or "case.toml"'
            )
        with as_cases("compose", {"components": listed}):
            parts = [repeated(each, count) for text in listed for each in read_components(text, read)]
        if not parts:
            raise InputError("no component is given: give at least one")
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
