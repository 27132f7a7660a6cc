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
from paramverify.api.telling import SampleOptions
from paramverify.automata.stream_cases import StreamCase
from paramverify.divergences.registry import names
from paramverify.errors import InputError
from paramverify.logic.logic_cases import LogicOptions
from paramverify.reports.stream_reports import budget_of


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """A case of any kind: a mechanism with a prior or neighbours, a claim, a system, or formulas.

    `load` and `loads` return cases. A case is immutable: `with_` returns a changed copy. The methods do the
    same as the functions with these names.

    Examples:
        >>> import paramverify
        >>> case = paramverify.load("cases/geometric-independent.toml")
        >>> case.kind, case.bound
        (<Kind.PRIVACY: 'privacy'>, 'epsilon = ln(2)')
        >>> case.verify().verdict
        'private'
    """

    _read: Read

    def __repr__(self) -> str:
        return f"<Case: {self.title or self.path}>"

    @property
    def kind(self) -> Kind | str:
        """What the case is about; the name of the plugin if a plugin reads it."""
        return self._read.kind

    @property
    def title(self) -> str:
        """The title of the case."""
        return str(getattr(self._read.content, "title", ""))

    @property
    def path(self) -> str:
        """The path of the file, or `<text>`. Relative paths in the case start from its folder."""
        return str(self._read.path)

    @property
    def bound(self) -> str:
        """The bound as text, such as `epsilon = ln(2)`; the statement of a claim; `""` if there is none."""
        content = self._read.content
        if isinstance(content, StreamCase):
            return f"epsilon = {budget_of(content)}"
        return str(getattr(content, "budget", ""))

    @property
    def expect(self) -> dict[str, Any]:
        """The expected answers in the table `[expect]` of the file."""
        return dict(self._read.content.expect)

    @property
    def content(self) -> Any:
        """The internal object that the case was read into. It may change with each version."""
        return self._read.content

    def to_toml(self) -> str:
        """Returns the text of the case file, which all commands can read."""
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
        """Returns the case with other values, and without `[expect]`.

        Give at most one of `epsilon`, `ratio` and the divergences. A divergence replaces all bounds of the
        case; `epsilon` and `ratio` leave its δ as it is. Numbers may be texts such as `"ln(2)"`. A float
        counts as it is written, so 0.1 is 1/10.

        Args:
            budget (number or text): Another name for `epsilon`.
            epsilon (number or text): Set ε.
            ratio (number or text): Set e^ε.
            delta (number or text): Set δ; 0 removes it.
            renyi (dict): Set a bound on a Rényi divergence, such as `{"order": 4, "epsilon": "ln(2)"}`.
            chi_squared (number or text): Set a bound on the chi-squared divergence.
            total_variation (number or text): Set a bound on the total variation distance.
            kl (number or text): Set a bound on the Kullback-Leibler divergence, in nats.
            zcdp (number or text): Set ρ of zero-concentrated privacy.
            length (int or text): Set the length of the output sequences, such as 3 or `"1..4"`.
            parameters (dict): Set parameters of the case to a number, a text such as `"1/3"`, or an interval
                such as `"(0, 1/2]"`.
            title (text): Set the title.
            **tables (dict): Change a table of the case file, such as `mechanism={"noise": {...}}`. The given
                keys replace those of the file, and None removes a key. Bounds on divergences of plugins are
                set in the same way, by their keys.

        Returns:
            The changed case.

        Raises:
            InputError: The case has no such name, or it cannot be changed, or the changed case has a mistake.

        Examples:
            >>> import paramverify
            >>> case = paramverify.load("cases/geometric-independent.toml")
            >>> case.with_(epsilon="ln(3/2)").verify().verdict
            'not private'
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
        """Returns whether the case is private, or true; see `paramverify.verify`."""
        return verify(self, **limits)

    def budget(
        self,
        *,
        precision: Bound = "1e-9",
        delta_for: Bound | None = None,
        epsilon_for: Bound | None = None,
        length: int | str | None = None,
        epsilon: Bound | None = None,
        **limits: Unpack[Limits],
    ) -> BudgetReport:
        """Returns the tight budget, or the least δ or ε; see `paramverify.budget`."""
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
        precision: Bound = "1e-6",
        **limits: Unpack[Limits],
    ) -> SynthesisReport:
        """Returns where the case is private; see `paramverify.synthesize`."""
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
        """Returns the claims as text for another solver; see `paramverify.export`."""
        return export(self, to, claim=claim, free=free, simplify=simplify, together=together)

    def sample(
        self, implementation: Callable[..., Any] | None = None, **options: Unpack[SampleOptions]
    ) -> SampleReport:
        """Tests the case by sampling; see `paramverify.sample`."""
        return sample(self, implementation, **options)


AnyCase = Case | Mechanism | str | PathLike[str]
"""What the functions take: a case, a mechanism, or the path of a case file."""


def load(
    path: str | PathLike[str],
    *,
    formulas: Sequence[str] = (),
    neighbours: str | None = None,
    parameters: Mapping[str, str] | None = None,
    constants: Mapping[str, str] | None = None,
) -> Case:
    """Reads a case file of any kind, an automaton over streams (.dipa), or an SMT-LIB script (.smt2).

    The keyword arguments are for Markov chains and decision processes, as in `paramverify logic`.

    Args:
        path (path): The file.
        formulas (list of texts): Check these formulas of dpCTL* instead of those in the file.
        neighbours (text): Define neighbouring states by this predicate, such as `"abs(r - r') <= 1"`.
        parameters (dict): Set the domains of parameters, such as `{"p": "(0, 1)"}`.
        constants (dict): Set constants that a PRISM file leaves open, such as `{"N": "3"}`.

    Returns:
        The case.

    Raises:
        InputError: The file has a mistake. The error has the attributes `file`, `key` and `reason`.
        LimitError: The model is larger than paramverify supports.

    Examples:
        >>> import paramverify
        >>> paramverify.load("cases/geometric-independent.toml").bound
        'epsilon = ln(2)'
    """
    given = LogicOptions(tuple(formulas), neighbours, parameters=parameters or {}, constants=constants or {})
    return Case(read(path, None if given == LogicOptions() else given))


def loads(text: str, *, folder: str | PathLike[str] = ".") -> Case:
    """Reads the text of a case file.

    Args:
        text (text): The content of a case file, in TOML.
        folder (path): Search the files that the case names in this folder.

    Returns:
        The case.

    Raises:
        InputError: The text has a mistake. The error has the attributes `key` and `reason`.
        LimitError: The model is larger than paramverify supports.

    Examples:
        >>> import paramverify
        >>> text = '''
        ... [parameters]
        ... x = "[0, 1]"
        ... [claim]
        ... holds = "x**2 - x + 1/4 >= 0"
        ... '''
        >>> paramverify.loads(text).verify().verdict
        'true'
    """
    if not isinstance(text, str):
        raise InputError(f"loads needs a text, not {type(text).__name__}: use load to read a file")
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
        f"{type(case).__module__}.{type(case).__name__} is not a case: "
        "give a case, a mechanism or the path of a case file"
    )


def verify(case: AnyCase, **limits: Unpack[Limits]) -> VerifyReport:
    """Decides whether a case is private for every prior, or whether its claim or its formulas are true.

    A case with the bound ε is private if, for every point θ of the parameter domain, every secret pair (s, t)
    in both directions and every output ω, Pr(ω | s) ≤ e^ε · Pr(ω | t). The verdict `private` is proved for
    all of them. The verdict `not private` comes with a witness, which was evaluated exactly. Claims, systems
    and formulas are decided in the same sense ([F], [T], [L]). If a limit is reached, the verdict is
    `undecided`, and the report has the reason.

    Args:
        case (path or case or mechanism): The case to decide.
        **limits (see below): Limits of the call, and the backends that decide.

    Returns:
        A report with `verdict`, `witness` and `evidence()`. One call inside a library is not interrupted, so
        the report may be later than `timeout`.

    Raises:
        InputError: The case or an argument has a mistake.
        DisagreementError: Two solvers contradict each other.

    Examples:
        >>> import paramverify
        >>> report = paramverify.verify("cases/geometric-independent-below.toml", timeout=30)
        >>> report.verdict
        'not private'
        >>> report.witness.ratio > report.witness.bound
        True
    """
    return asking.verify_read(lambda: _of(case), limits)


def budget(
    case: AnyCase,
    *,
    precision: Bound = "1e-9",
    delta_for: Bound | None = None,
    epsilon_for: Bound | None = None,
    length: int | str | None = None,
    epsilon: Bound | None = None,
    **limits: Unpack[Limits],
) -> BudgetReport:
    """Finds the tight budget: sup Pr(ω | s)/Pr(ω | t) over all priors, secret pairs (s, t) and outputs ω.

    The ratio is exact if it is rational, algebraic, or a quotient of exponentials of the case. Otherwise it
    lies between two proved bounds, whose relative distance is at most `precision` if time suffices. The bound
    of the case has no influence on the ratio; the report compares both in `relative`. For an interactive
    system, the ratio is the largest one over all inputs that differ in one data point.

    For an automaton over streams (.dipa), and for a case about streams with Laplace noise, the report is a
    `StreamBudgetReport`: the least multiple of ε for streams of every length.

    Args:
        case (path or case or mechanism): The case.
        precision (number or text): Stop when the relative distance between the bounds is at most this.
        delta_for (number or text): Find the least δ for this ε instead, over all sets S of outputs:
            sup Pr(S | s) − e^ε·Pr(S | t).
        epsilon_for (number or text): Find the least ε for this δ instead, over all sets S of outputs:
            ln sup (Pr(S | s) − δ)/Pr(S | t).
        length (int or text): Find the budgets of streams of this many inputs too, such as 3 or `"1..4"`.
        epsilon (number or text): Report the budgets of streams at this ε.
        **limits (see below): Limits of the call, and the backends that decide.

    Returns:
        A report with `ratio`, `epsilon`, `lower` and `upper`.

    Raises:
        InputError: The case or an argument has a mistake, or the case has no budget, such as a claim.
        LimitError: Nothing was found within a limit.

    Examples:
        >>> import paramverify
        >>> report = paramverify.budget("cases/geometric-independent.toml")
        >>> report.ratio, report.attained
        (ExactNumber(2), False)
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
    precision: Bound = "1e-6",
    **limits: Unpack[Limits],
) -> SynthesisReport:
    """Finds the parameter values for which a case is private, or a prior for which it is not private.

    Args:
        case (path or case or mechanism): The case.
        form (text): Choose the answer: `"exact"` for intervals of one parameter or a condition on several,
            `"region"` for a map, `"witness"` for a violating prior or a proof that none exists. By default,
            intervals for one parameter and a map for several.
        parameters (list of texts): Answer in these parameters, for all values of the others.
        coverage (number or text): Leave at most this share of the domain's volume undecided in a map. By
            default 1/100 for one or two parameters, 1/20 for three, 2/25 for more.
        objective (text): Find a violating prior with small denominators (`"simplest"`), with the largest
            ratio (`"ratio"`), or nearest to `near` (`"nearest"`).
        near (dict): Find the violating prior nearest to this one, in the maximum norm.
        precision (number or text): Set the relative tolerance of the largest ratio, and of the distance.
        **limits (see below): Limits of the call, and the backends that decide.

    Returns:
        A report with the answer as text, as a document, and as a picture (`figure()`).

    Raises:
        InputError: The case or an argument has a mistake, or the case is of another kind.
        LimitError: Nothing was found within a limit.

    Examples:
        >>> import paramverify
        >>> report = paramverify.synthesize("cases/geometric-independent-below.toml", "witness")
        >>> report.complete, report.witness.ratio > report.witness.bound
        (True, True)
    """
    asked = asking.SynthesisRequest(
        form, parameters=parameters, coverage=coverage, objective=objective, near=near, precision=precision
    )
    return asking.values_of(lambda: _of(case), asked, limits)


def show(case: AnyCase) -> ShowReport:
    """Returns Pr(ω | s) for each secret or input s and each output ω, as formulas in the parameters.

    For a claim, these are the functions that the claim defines.

    Args:
        case (path or case or mechanism): The case.

    Returns:
        A report, which also has the methods `latex()` and `graph()`.

    Raises:
        InputError: The case has a mistake, or is about formulas of dpCTL*.

    Examples:
        >>> import paramverify
        >>> print(*paramverify.show("cases/randomized-response.toml").lines[1:], sep="\\n")
        secret  output  probability
        ------  ------  -----------
        yes     0       1 - t
        yes     1       t
        no      0       t
        no      1       1 - t
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
    """Returns the claims of a case, or the questions of an SMT-LIB script, as texts for another solver.

    In SMT-LIB, a text asks whether some prior violates a claim, so `unsat` means that the claim is true. For
    QEPCAD and Redlog, a text asks whether the claim is true for every prior. For a script, the texts for
    QEPCAD and Redlog ask whether a question has no solution.

    Args:
        case (path or case or mechanism): The case.
        to (text): The format: `"smtlib2"`, `"qepcad"` or `"redlog"`.
        claim (int): Write only this claim, counted from 1.
        free (text or list of texts): Leave these parameters free, so that the solver answers with a condition
            on them.
        simplify (text): Write what these simplification steps leave of each claim: `"default"`, or names of
            steps.
        together (bool): Write one text about all claims.

    Returns:
        A report, whose `texts` has one text for each file.

    Raises:
        InputError: The case or an argument has a mistake, the case is of another kind, or the format cannot
            express a claim.

    Examples:
        >>> import paramverify
        >>> report = paramverify.export("cases/geometric-independent.toml", "smtlib2", claim=1)
        >>> report.texts[0].splitlines()[-1]
        '(exit)'
    """
    return exporting.export_read(_of(case), to, claim, free, simplify, together=together)


def sample(
    case: AnyCase, implementation: Callable[..., Any] | None = None, **options: Unpack[SampleOptions]
) -> SampleReport:
    """Tests a case by sampling, which needs the extra `stats`.

    A test proves nothing. Use `goal="certify"` to compute the exact probabilities of what the test finds.

    Args:
        case (path or case or mechanism): The case.
        implementation (function): Sample this function instead of the model. It takes `(rng, input)` and
            returns one output, or takes `(rng, input, size)` and returns an array with one row for each of
            `size` outputs; `rng` is a `numpy.random.Generator`.
        **options (see below): What to sample, how much, and what to do with the findings.

    Returns:
        A report with `rejected`, `found` and `witness`.

    Raises:
        InputError: The case or an argument has a mistake, the case is not about privacy, or numpy or scipy is
            missing.
        LimitError: A limit was reached.

    Examples:
        >>> import paramverify
        >>> case = paramverify.load("cases/geometric-independent-below.toml")
        >>> case.sample(goal="certify", runs=20_000).rejected
        True
    """
    known = [name for name in telling.SampleRequest.__dataclass_fields__ if name != "implementation"]
    for name in options:
        if name not in known:
            raise InputError(f"this is not an argument; write one of {', '.join(known)}", key=name)
    return telling.sample_read(lambda: _of(case), telling.SampleRequest(implementation, **options))


def check(
    evidence: str | PathLike[str] | Mapping[str, Any],
    case: AnyCase | None = None,
    *,
    require_certificates: bool = False,
) -> CheckReport:
    """Checks evidence again, without any solver.

    Args:
        evidence (path or dict): The path of a file, or what `report.evidence()` returns.
        case (path or case or mechanism): Derive the claims from this case again, and require that they are
            the claims that the evidence proves. Without a case, only the evidence itself is checked.
        require_certificates (bool): Do not accept evidence that rests on the word of a solver.

    Returns:
        A report with `accepted` and `verdict`.

    Raises:
        InputError: The evidence or the case cannot be read.

    Examples:
        >>> import paramverify
        >>> case = paramverify.load("cases/geometric-independent.toml")
        >>> evidence = case.verify().evidence()
        >>> report = paramverify.check(evidence, case)
        >>> report.accepted, report.verdict
        (True, 'private')
    """
    return telling.check_evidence(evidence, None if case is None else _of(case), require_certificates)
