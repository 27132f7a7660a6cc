"""Cases in Python: read from a file or from text, changed, and asked as on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from paramverify.api import asking, exporting, telling
from paramverify.api.decorated import Mechanism
from paramverify.api.options import Limits
from paramverify.api.reading import NAME, Bound, Kind, Read, changed, read, read_text
from paramverify.api.results import (
    BudgetReport,
    CheckReport,
    ExportReport,
    SampleReport,
    ShowReport,
    SynthesisReport,
    VerifyReport,
)
from paramverify.automata.stream_cases import StreamCase
from paramverify.divergences.registry import names
from paramverify.errors import InputError
from paramverify.logic.logic_cases import LogicOptions
from paramverify.reports.stream_reports import budget_of
from paramverify.subjects.questions import PRECISION, TOLERANCE


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """A case of any kind: a mechanism with a prior or neighbours, a claim, a system, or formulas.

    `load` and `loads` make one. It does not change: `with_` returns another one. Its methods are the
    functions of the same names.
    """

    _read: Read

    def __repr__(self) -> str:
        return f"<Case: {self.title or self.path}>"

    @property
    def kind(self) -> Kind | str:
        """What the case is about."""
        return self._read.kind

    @property
    def title(self) -> str:
        """The title of the case."""
        return str(getattr(self._read.content, "title", ""))

    @property
    def path(self) -> str:
        """The file, or `<text>`; files that the case names are looked for beside it."""
        return str(self._read.path)

    @property
    def bound(self) -> str:
        """The budget in words, such as `epsilon = ln(2)`, or what is claimed; "" where formulas have it."""
        content = self._read.content
        if isinstance(content, StreamCase):
            return f"epsilon = {budget_of(content)}"
        return str(getattr(content, "budget", ""))

    @property
    def expect(self) -> dict[str, Any]:
        """What the file itself expects, from `[expect]`."""
        return dict(self._read.content.expect)

    @property
    def content(self) -> Any:
        """What the core has read: the case of its subject, with its model."""
        return self._read.content

    def to_toml(self) -> str:
        """Returns the text of the case file; written to a file, it is the case for all commands."""
        return (self._read.file.text or b"").decode("utf-8-sig")

    def with_(
        self,
        *,
        budget: Bound | None = None,
        epsilon: Bound | None = None,
        ratio: Bound | None = None,
        delta: Bound | None = None,
        renyi: Mapping[str, object] | None = None,
        chi_squared: Bound | None = None,
        total_variation: Bound | None = None,
        kl: Bound | None = None,
        zcdp: Bound | None = None,
        length: int | str | None = None,
        parameters: Mapping[str, object] | None = None,
        title: str | None = None,
        **tables: Any,
    ) -> Case:
        """Returns the same case with other values; this one stays as it is.

        `budget` and `epsilon` are both ε: a number or a text such as `"ln(2)"`; `ratio` is e^ε, and `delta`
        stands beside it: 0 makes the case pure. `renyi`, such as `{"order": 4, "epsilon": "ln(2)"}`,
        `chi_squared`, `total_variation`, `kl` and `zcdp` are other measures instead of all bounds; so are
        divergences of packages, by their keys.
        `parameters` gives a number, a text such as `"1/3"`, or an interval such as `"(0, 1/2]"` to parameters
        that the case has. Each other argument is a table of the case file, such as
        `mechanism={"noise": {...}}`: its keys take the place of those in the file, and None removes one.
        Floats are read as they are written: 0.1 is 1/10. `[expect]` is left out, because it was about the
        other case.

        Raises:
            InputError: a name that the case does not have or that cannot be changed, with what can be; and
                every mistake that would be one in a file.
        """
        bounds: dict[str, object] = {"budget": budget, "epsilon": epsilon, "ratio": ratio, "delta": delta}
        bounds |= {"renyi": renyi, "chi_squared": chi_squared, "total_variation": total_variation}
        bounds |= {"kl": kl, "zcdp": zcdp}
        bounds |= {name: tables.pop(name) for name in names() if name in tables}  # of packages
        return Case(
            changed(
                self._read,
                title=title,
                bounds={name: value for name, value in bounds.items() if value is not None},
                length=length,
                parameters=parameters or {},
                tables=tables,
            )
        )

    def verify(self, **limits: Unpack[Limits]) -> VerifyReport:
        """Decides the case; see `paramverify.verify`."""
        return verify(self, **limits)

    def budget(
        self,
        *,
        precision: Bound = PRECISION,
        delta_for: Bound | None = None,
        epsilon_for: Bound | None = None,
        length: int | str | None = None,
        epsilon: Bound | None = None,
        **limits: Unpack[Limits],
    ) -> BudgetReport:
        """Finds the tight budget, or the least δ or ε; see `paramverify.budget`."""
        return budget(
            self,
            precision=precision,
            delta_for=delta_for,
            epsilon_for=epsilon_for,
            length=length,
            epsilon=epsilon,
            **limits,
        )

    def synthesize(
        self,
        form: str | None = None,
        *,
        parameters: Sequence[str] = (),
        coverage: Bound | None = None,
        objective: str | None = None,
        near: Mapping[str, Bound] | None = None,
        precision: Bound = TOLERANCE,
        **limits: Unpack[Limits],
    ) -> SynthesisReport:
        """Finds where the case is private; see `paramverify.synthesize`."""
        return synthesize(
            self,
            form,
            parameters=parameters,
            coverage=coverage,
            objective=objective,
            near=near,
            precision=precision,
            **limits,
        )

    def show(self) -> ShowReport:
        """Returns the probabilities as formulas; see `paramverify.show`."""
        return show(self)

    def export(
        self,
        to: str,
        *,
        claim: int | None = None,
        free: str | Sequence[str] | None = None,
        simplify: str | None = None,
        together: bool = False,
    ) -> ExportReport:
        """Writes the claims for another program; see `paramverify.export`."""
        return export(self, to, claim=claim, free=free, simplify=simplify, together=together)

    def sample(self, implementation: Callable[..., Any] | None = None, **options: Any) -> SampleReport:
        """Tests the case by sampling; see `paramverify.sample` for the options."""
        return sample(self, implementation, **options)


AnyCase = Case | Mechanism | str | PathLike[str]
"""What the functions take: a case, a decorated function, or the path of a case file."""


def load(
    path: str | PathLike[str],
    *,
    formulas: Sequence[str] = (),
    neighbours: str | None = None,
    parameters: Mapping[str, str] | None = None,
    constants: Mapping[str, str] | None = None,
) -> Case:
    """Reads a case file of any kind, or the file of an automaton over streams (.dipa).

    The other arguments are for chains, as `paramverify logic` has them: `formulas` of dpCTL* instead of those
    in the file, a predicate for `neighbours`, intervals for `parameters`, `constants` of a PRISM file.

    Raises:
        InputError: any mistake in the file, with file, key and reason.
        LimitError: a model larger than the bounds of this package.
    """
    given = LogicOptions(tuple(formulas), neighbours, parameters=parameters or {}, constants=constants or {})
    return Case(read(path, None if given == LogicOptions() else given))


def loads(text: str, *, folder: str | PathLike[str] = ".") -> Case:
    """Reads the text of a case file of any kind; files that it names are looked for in `folder`.

    Raises:
        InputError: any mistake in the text, with key and reason.
        LimitError: a model larger than the bounds of this package.
    """
    if not isinstance(text, str):
        raise InputError(f"the text of a case is needed here, not {type(text).__name__}; load reads a file")
    return Case(read_text(text.encode(), Path(folder) / NAME))


def _of(case: AnyCase) -> Read:
    """Returns what was read of a case.

    Raises:
        InputError: something else than a case, a decorated function or a path.
    """
    if isinstance(case, Case):
        return case._read
    if isinstance(case, Mechanism):
        return case.as_read()
    if isinstance(case, (str, PathLike)):
        return read(case)
    raise InputError(
        f"a case, a mechanism or a path is needed here, not {type(case).__module__}.{type(case).__name__}"
    )


def verify(case: AnyCase, **limits: Unpack[Limits]) -> VerifyReport:
    """Decides a case.

    Privacy: for every point θ of the parameter domain, every secret pair (s, t) in both directions and every
    output ω, Pr(ω | s) ≤ e^ε · Pr(ω | t). `private` is proved for all of them; `not private` has a witness
    that was evaluated exactly. A claim, a system and formulas are decided in the same sense ([F], [T], [L]).
    A limit gives `undecided`, with its reason.

    The limits are `timeout` (60 seconds), `memory` ("4GiB"), `strategy`, `backends`, `confirm`,
    `require_certificates` and `simplify`, as on the command line. The time is looked at in all loops; one
    call inside a library is not interrupted.

    Raises:
        InputError: a mistake in the case or in an argument.
        DisagreementError: two solvers contradict each other.
    """
    return asking.verify_read(lambda: _of(case), limits)


def budget(
    case: AnyCase,
    *,
    precision: Bound = PRECISION,
    delta_for: Bound | None = None,
    epsilon_for: Bound | None = None,
    length: int | str | None = None,
    epsilon: Bound | None = None,
    **limits: Unpack[Limits],
) -> BudgetReport:
    """Finds the tight budget: sup Pr(ω | s)/Pr(ω | t) over all priors, secret pairs and outputs.

    The result is exact where it is rational or algebraic, or a number of the case's exponentials; else it
    lies between two proved bounds, whose relative distance is at most `precision` where time suffices. For
    an interactive system it is the largest ratio over inputs that differ in one data point. The bound of the
    case plays no part, but for `relative`. The limits are those of `verify`.

    With `delta_for` an ε it is the least δ that is enough for all sets of outputs, and with `epsilon_for` a δ
    the least ε: sup Pr(S | s) − e^ε·Pr(S | t), and ln of sup (Pr(S | s) − δ)/Pr(S | t).

    Of an automaton over streams (.dipa), and of a case about streams with Laplace noise, it is a
    `StreamBudgetReport`: the least multiple of ε for streams of every length. `length`, such as 3 or
    `"1..4"`, asks for streams of so many inputs too, and `epsilon` for the numbers at one ε.

    Raises:
        InputError: a mistake, or a case without a budget: a claim, formulas.
        LimitError: nothing was found within a limit.
    """
    return asking.budget_of(
        lambda: _of(case), precision, limits, delta_for, epsilon_for, length=length, epsilon=epsilon
    )


def synthesize(
    case: AnyCase,
    form: str | None = None,
    *,
    parameters: Sequence[str] = (),
    coverage: Bound | None = None,
    objective: str | None = None,
    near: Mapping[str, Bound] | None = None,
    precision: Bound = TOLERANCE,
    **limits: Unpack[Limits],
) -> SynthesisReport:
    """Finds where a case is private, or a prior for which it is not.

    `form` is `"exact"` (intervals of one parameter, a condition on several), `"region"` (a map, of which a
    share of `coverage` may stay undecided; without one 1/100 for one or two parameters, 1/20 for
    three, 2/25 for more), or `"witness"` (a violating prior, or that there is none).
    Without it: exact intervals for one parameter, a map for more. `parameters` are those of the answer; it is
    for all values of the others. `objective` (`"simplest"`, `"ratio"`, `"nearest"`) and `near` say which
    violating prior; `precision` is the relative tolerance of the largest ratio and of the distance. The
    limits are those of `verify`.

    Raises:
        InputError: a mistake, or a case of another kind.
        LimitError: nothing was found within a limit.
    """
    asked = asking.SynthesisRequest(
        form, parameters=parameters, coverage=coverage, objective=objective, near=near, precision=precision
    )
    return asking.values_of(lambda: _of(case), asked, limits)


def show(case: AnyCase) -> ShowReport:
    """Returns Pr(ω | s) for each secret or input s and each output ω as formulas in the parameters.

    Of a claim these are the functions that it defines. The report has `latex()` and `graph()` too.

    Raises:
        InputError: a mistake, or a case of logic.
    """
    return asking.show_read(_of(case))


def export(
    case: AnyCase,
    to: str,
    *,
    claim: int | None = None,
    free: str | Sequence[str] | None = None,
    simplify: str | None = None,
    together: bool = False,
) -> ExportReport:
    """Writes the claims of a case, or the questions of an SMT-LIB script, for another program.

    `to` is `"smtlib2"`, `"qepcad"` or `"redlog"`. In SMT-LIB a claim is asked as its negation, so `unsat`
    means that it holds; QEPCAD and Redlog are asked whether it holds for every prior. A question of a script
    is asked whether it has no solution. `claim` is the number of one, from 1. Parameters that are left `free`
    make the answer a condition on them. `simplify` (`"default"` or names of steps) writes what simplification
    leaves of each claim. With `together`, one text is about all claims.

    Raises:
        InputError: a mistake, a case of another kind, or something that the program cannot be told.
    """
    return exporting.export_read(_of(case), to, claim, free, simplify, together=together)


def sample(case: AnyCase, implementation: Callable[..., Any] | None = None, **options: Any) -> SampleReport:
    """Tests a case by sampling (it needs the extra `stats`). A test proves nothing.

    What is sampled is the model; with `direct=True` the noise is drawn; or it is an `implementation`, a
    function `(rng, input)` or `(rng, input, size)`. `goal` is what is done with what is
    found: None, `"certify"` (candidates are evaluated exactly), `"search"` (the tight budget is found from
    them and proved; with `bisection` by halving, down to that distance), or `"audit"` (the implementation
    is compared with the exact probabilities). The other options are those of the command: `epsilon` (one or
    several), `delta` (for sets of outputs, in the place of that of the case), `at` (numbers for parameters),
    `length`, `pairs`, `runs` (500,000 for each side), `select`, `level`, `confidence`, `classifier`, `seed`,
    `workers` and `timeout` (60 seconds).

    Raises:
        InputError: a mistake, a case that is not about privacy, or numpy and scipy are missing.
        LimitError: a limit was met.
    """
    known = [name for name in telling.SampleRequest.__dataclass_fields__ if name != "implementation"]
    for name in options:
        if name not in known:
            raise InputError(f"there is no such option; there are: {', '.join(known)}", key=name)
    return telling.sample_read(lambda: _of(case), telling.SampleRequest(implementation, **options))


def check(
    evidence: str | PathLike[str] | Mapping[str, Any],
    case: AnyCase | None = None,
    *,
    require_certificates: bool = False,
) -> CheckReport:
    """Checks evidence again, without any solver.

    `evidence` is the path of a file, or what `report.evidence()` returns. With a `case` the claims are
    derived from the case again, and must be those that are proved; the case file is read a second time too.
    With `require_certificates`, evidence that rests on the word of a solver is not accepted.

    Raises:
        InputError: evidence or a case that cannot be read.
    """
    return telling.check_evidence(evidence, None if case is None else _of(case), require_certificates)
