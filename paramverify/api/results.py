"""What the functions of the package return: reports that print as the commands do, with exact numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from paramverify import printable
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.answers import Standing
from paramverify.errors import InputError, UndecidedError
from paramverify.evidence.told_witnesses import ToldWitness

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from paramverify.api.reading import Kind
    from paramverify.privacy.runs import AnyRun

# --- html -------------------------------------------------------------------------------------------

BOX = "border:1px solid #8886;border-radius:4px;padding:.6em .9em;margin:.3em 0;max-width:60em"
WORD = "font-weight:600;border:1px solid currentColor;border-radius:3px;padding:.05em .45em;margin-right:.5em"
CELL = "text-align:left;padding:.1em .9em .1em 0;border:0;background:none"
TEXT = "white-space:pre-wrap;margin:.4em 0 0;background:none"


def box(word: str, lines: Sequence[str], table: Sequence[tuple[str, str]] = ()) -> str:
    """Returns a box: a word for the verdict, the first line, a table, and the rest of the lines.

    Every text is escaped. Colours are those of the page, so that it is readable in light and in dark.
    """
    first, *rest = [escape(line) for line in lines] or [""]
    shown = f'<span style="{WORD}">{escape(word)}</span>' if word else ""
    if word:  # it stands in front already
        first = first.removeprefix(escape(f"{word}: "))
    rows = "".join(
        f'<tr style="background:none"><th scope="row" style="{CELL}">{escape(name)}</th>'
        f'<td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in table
    )
    parts = [
        f"<div>{shown}{first}</div>",
        f'<table style="border-collapse:collapse;margin:.4em 0 0">{rows}</table>' if rows else "",
        f'<pre style="{TEXT}">{"&#10;".join(rest)}</pre>' if rest else "",
    ]
    return f'<div style="{BOX}">{"".join(parts)}</div>'


# --- results ----------------------------------------------------------------------------------------

LONGEST = 300  # characters of a `repr`, which names the inputs that it is about

Drawing = Callable[["Axes | None"], "Figure"]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The answer of a function. `print(report)` shows the same text as the command.

    A notebook shows a report as a box, without scripts and without a network.

    Attributes:
        kind (Kind or text): What the case is about.
        lines (tuple of texts): The lines of the text.
        seconds (float): The wall-clock time of the call in seconds.
        notes (tuple of texts): Remarks on the case.
    """

    kind: Kind | str
    lines: tuple[str, ...]
    document: Mapping[str, Any]
    seconds: float
    notes: tuple[str, ...] = ()
    _drawing: Drawing | None = field(default=None, kw_only=True)
    _evidence: Callable[[], dict[str, Any]] | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        return "\n".join(map(printable.line, self.lines))

    def __repr__(self) -> str:
        return self._short(printable.line(self.lines[0] if self.lines else "").strip().rstrip("."))

    @staticmethod
    def _short(told: str, more: str = "") -> str:
        most = LONGEST - len(more)
        return f"<{told if len(told) <= most else f'{told[: most - 3]}...'}{more}>"

    @property
    def larger(self) -> Mapping[str, Any] | None:
        """A violation among inputs that are larger than those of the case, or None if none was found.

        `larger["inputs"]` is the text of these inputs, such as `n in {0..5}`, and `larger["witness"]` is the
        witness as in the JSON output.
        """
        found = self.document.get("larger")
        return found if isinstance(found, Mapping) else None

    def __bool__(self) -> bool:
        """A report without a verdict is neither true nor false.

        Raises:
            TypeError: always, but for reports with a verdict.
        """
        raise TypeError(f"a {type(self).__name__} has no truth value: test one of its attributes")

    def _repr_html_(self) -> str:
        return box(self._word(), [printable.line(line) for line in self.lines], self._table())

    def _word(self) -> str:
        """The word in front of the box, if there is a verdict."""
        return ""

    def _table(self) -> Sequence[tuple[str, str]]:
        """The rows of a small table in the box."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Returns what the command prints with `--json`; exact numbers are texts such as `"24/7"`."""
        return copy.deepcopy(dict(self.document))

    def evidence(self) -> dict[str, Any]:
        """Returns the document that the option `--evidence` of the command writes.

        Returns:
            The evidence. `paramverify.check` checks it again; so does `paramverify check` if you write it to
            a file as JSON.

        Raises:
            InputError: There is no evidence for this result.
        """
        if self._evidence is None:
            raise InputError(f"there is no evidence for this {type(self).__name__}")
        return self._evidence()

    def figure(self, ax: Axes | None = None) -> Figure:
        """Returns a picture, which needs the extra `plots`.

        Args:
            ax (matplotlib axes): Draw into these axes; by default into a new figure.

        Returns:
            The matplotlib figure.

        Raises:
            InputError: There is no picture of this result, or matplotlib is missing.
        """
        if self._drawing is None:
            raise InputError(f"there is no picture of this {type(self).__name__}")
        return self._drawing(ax)


@dataclass(frozen=True, eq=False, repr=False)
class VerifyReport(Report):
    """The verdict of `verify`.

    `bool(report)` is True for `private` and `true`, and False for `not private` and `false`. For `undecided`
    it raises `UndecidedError`, so that neither `if report:` nor `if not report:` takes an undecided case for
    a decided one.

    Attributes:
        witness (witness or None): The witness, if the case is not private or the claim is false.
        run (run or None): The run of a program that leads to the output of the witness.
        reason (text): Why the case is undecided, otherwise `""`.
        formulas (dict): The verdict for each formula of a case about dpCTL*, or the answer for each question
            of a script, the last of which is the verdict.
        result (object): The internal result. It may change with each version.
    """

    status: Standing = Standing.UNKNOWN
    witness: ToldWitness | None = None
    run: AnyRun | None = None
    reason: str = ""
    formulas: Mapping[str, str] = field(default_factory=dict)
    result: Any = None

    @property
    def verdict(self) -> str:
        """`private`, `not private` or `undecided`; for claims and formulas `true`, `false` or `undecided`.

        If the case has a side condition, such as `one_sided`, the verdict holds only under this condition,
        which the text and `to_dict()` state.
        """
        return str(self.document["verdict"])

    def __bool__(self) -> bool:
        """Returns whether the case is private, or true.

        Raises:
            UndecidedError: The case is undecided.
        """
        if self.status is Standing.UNKNOWN:
            raise UndecidedError(f"the verdict is undecided, which is neither True nor False: {self.reason}")
        return self.status is Standing.HOLDS

    def __repr__(self) -> str:
        if self.kind == "script" and len(self.formulas) > 1:
            return self._short(", ".join(self.formulas.values()))
        # Of several formulas the first that decides the verdict: another one may be true.
        line = next((line for line in self.lines if line.startswith(self.verdict)), "".join(self.lines[:1]))
        return self._short(printable.line(line).strip().rstrip("."))

    def _word(self) -> str:
        return f"{self.verdict}, but not for larger inputs" if self.larger else self.verdict

    def _table(self) -> Sequence[tuple[str, str]]:
        return (self.witness.rows() if self.witness else []) or [*self.formulas.items()]


@dataclass(frozen=True, eq=False, repr=False)
class BudgetReport(Report):
    """The tight budget of `budget`: the largest ratio, which is e^ε for the least ε.

    It is proved that `lower` ≤ largest ratio ≤ `upper`. If you asked with `epsilon_for`, the ratio is the
    least e^ε for all sets of outputs and the given δ. If you asked with `delta_for`, `lower` and `upper`
    enclose the least δ instead. Numbers that are functions of parameters are None here; `to_dict()` has them.

    Attributes:
        lower (ExactNumber or None): The lower bound.
        upper (ExactNumber or None): The upper bound.
        attained (bool or None): Whether a prior reaches the ratio; None if that is undecided.
        witness (witness or None): A prior and an output with the ratio, or with the lower bound.
        of_delta (bool): Whether the bounds enclose a δ instead of a ratio.
        relative (ExactNumber or None): The largest ratio divided by the bound of the case, if that bound has
            parameters.
        tight (bool or None): True if `relative` is 1 and the bound is proved to be tight, otherwise None.
        result (object): The internal result. It may change with each version.
    """

    lower: ExactNumber | None = None
    upper: ExactNumber | None = None
    attained: bool | None = None
    witness: ToldWitness | None = None
    of_delta: bool = False
    relative: ExactNumber | None = None
    tight: bool | None = None
    result: Any = None

    @property
    def ratio(self) -> ExactNumber | None:
        """The largest ratio if it is known exactly, otherwise None; infinite if no budget exists."""
        return None if self.of_delta else self._known

    @property
    def delta(self) -> ExactNumber | None:
        """The least δ for the given ε if it is known exactly, otherwise None."""
        return self._known if self.of_delta else None

    @property
    def _known(self) -> ExactNumber | None:
        known = self.lower is not None and self.upper is not None and self.lower == self.upper
        return self.lower if known else None

    @property
    def epsilon(self) -> ExactNumber | None:
        """The least ε, which is ln of the ratio, if it is known exactly, otherwise None."""
        return None if self.ratio is None else ExactNumber.ln(self.ratio)

    def __repr__(self) -> str:
        first = printable.line(self.lines[0] if self.lines else "").strip().rstrip(".")
        return self._short(first, "; larger inputs need more" if self.larger else "")

    def _table(self) -> Sequence[tuple[str, str]]:
        numbers = {"ratio": self.ratio, "epsilon": self.epsilon, "delta": self.delta}
        return [(name, str(number)) for name, number in numbers.items() if number is not None]


@dataclass(frozen=True, eq=False, repr=False)
class StreamBudgetReport(BudgetReport):
    """The least budgets of streams, as multiples of ε; see `budget`.

    `ratio` and `epsilon` are None, because the budgets are functions of ε. If the entries of a stream have
    few values, a smaller multiple may be enough at one ε than for every ε.

    Attributes:
        multiple (ExactNumber or None): A multiple that is enough for streams of every length and for every ε;
            infinite if no multiple is enough, None if no multiple is known.
        multiple_lower (ExactNumber or None): No smaller multiple is enough for every ε; None if no such
            number is known.
        exact (bool): Whether all numbers are exact.
        lengths (dict): For each number of inputs, the lower and the upper multiple.
    """

    multiple: ExactNumber | None = None
    multiple_lower: ExactNumber | None = None
    exact: bool = False
    lengths: Mapping[int, tuple[ExactNumber | None, ExactNumber]] = field(default_factory=dict)

    def _table(self) -> list[tuple[str, str]]:
        return [] if self.multiple is None else [("multiple", str(self.multiple))]


@dataclass(frozen=True, eq=False, repr=False)
class ComposeReport(Report):
    """The δ or the ε of many releases together; see `compose`.

    It is proved that `lower` ≤ number ≤ `upper`.

    Attributes:
        lower (ExactNumber or None): The lower bound.
        upper (ExactNumber or None): The upper bound; None if none was found.
        exact (ExactNumber or None): The number if it is known exactly.
        result (object): The internal result. It may change with each version.
    """

    lower: ExactNumber | None = None
    upper: ExactNumber | None = None
    exact: ExactNumber | None = None
    result: Any = None

    def _table(self) -> Sequence[tuple[str, str]]:
        numbers = (
            {"exact": self.exact} if self.exact is not None else {"lower": self.lower, "upper": self.upper}
        )
        return [(name, str(number)) for name, number in numbers.items() if number is not None]


@dataclass(frozen=True, eq=False, repr=False)
class SynthesisReport(Report):
    """The parameter values for which a case is private; see `synthesize`.

    Attributes:
        form (text): `witness`, `exact` or `region`.
        complete (bool): Whether the answer is complete; False if a limit stopped the call.
        witness (witness or None): The violating prior, if you asked for one and it was found.
        result (object): The internal result. It may change with each version.
    """

    form: str = ""
    complete: bool = False
    witness: ToldWitness | None = None
    result: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class ShowReport(Report):
    """The probabilities of a case as formulas; see `show`.

    Attributes:
        complete (bool): Whether the text has all probabilities.
    """

    complete: bool = True
    _latex: Callable[[], str] | None = None
    _graph: Callable[[], str] | None = None

    def latex(self) -> str:
        """Returns the formulas as LaTeX.

        Raises:
            InputError: Cases of this kind have no formulas.
        """
        if self._latex is None:
            raise InputError("cases of this kind have no formulas")
        return self._latex()

    def graph(self) -> str:
        """Returns the model as a graph in DOT.

        Raises:
            InputError: Cases of this kind have no graph.
        """
        if self._graph is None:
            raise InputError("cases of this kind have no graph")
        return self._graph()


@dataclass(frozen=True, eq=False, repr=False)
class SampleReport(Report):
    """The findings of a test by sampling; see `sample`. A test proves nothing.

    Attributes:
        found (bool): Whether an audit found no difference, or a search found the tight budget.
        rejected (bool): Whether the test rejected a budget, a candidate is a violation, or an audit found a
            difference.
        witness (witness or None): With `goal="certify"`, the candidate with the largest ratio, evaluated
            exactly. It may be within the bound: `rejected` says whether it is a violation.
        point (dict): The values of the parameters in an audit.
        result (object): The internal result. It may change with each version.
    """

    found: bool = False
    rejected: bool = False
    witness: ToldWitness | None = None
    point: Mapping[str, Fraction] = field(default_factory=dict)
    result: Any = None

    @property
    def passes(self) -> bool:
        """Whether an audit found no difference."""
        return self.found and not self.rejected


@dataclass(frozen=True, eq=False, repr=False)
class CheckReport(Report):
    """Whether evidence is accepted; see `check`. `bool(report)` is `accepted`.

    Attributes:
        accepted (bool): Whether the evidence is accepted.
        verdict (text): What the evidence shows, such as `private`; `""` if it is rejected.
        solvers (tuple of texts): The solvers on whose word the evidence rests; empty if every proof has a
            certificate.
    """

    accepted: bool = False
    verdict: str = ""
    solvers: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        told = printable.line(self.lines[-1] if self.lines else "").strip().rstrip(".")
        if not self.accepted and not told.lower().startswith(("rejected", "undecided")):
            told = f"rejected: {told}"
        return self._short(told)

    def _word(self) -> str:
        return "accepted" if self.accepted else "rejected"


@dataclass(frozen=True, eq=False, repr=False)
class ExportReport(Report):
    """Claims as texts for another solver; see `export`.

    `print(report)` shows the text if there is only one, and otherwise a list of what the texts are about.

    Attributes:
        texts (tuple of texts): The text of each file.
    """

    texts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        count = len(self.texts)
        return f"<{count} text{'' if count == 1 else 's'} for another solver>"


@dataclass(frozen=True, eq=False, repr=False)
class CompareReport(Report):
    """The results of a comparison of solvers; see `compare`.

    Attributes:
        alarming (bool): Whether two answers contradict each other, or one is wrong; `to_dict()` lists these
            as `disagreements` and `wrong`.
        attempts (tuple of dicts): One dictionary for each attempt, as in `results.jsonl`.
        result (object): The internal result. It may change with each version.
    """

    alarming: bool = False
    attempts: tuple[Mapping[str, Any], ...] = ()
    result: Any = None

    def _table(self) -> Sequence[tuple[str, str]]:
        rows = self.document["configurations"]
        return [
            (f"{row['backend']}, simplified" if row["simplification"] == "on" else row["backend"], solved)
            for row in rows
            for solved in [f"{row['solved']} of {row['claims']}"]
        ]
