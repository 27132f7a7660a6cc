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
    from paramverify.privacy.runs import LeftOut, ToldRun

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
    """What a function found: `print` shows what the command prints, `to_dict` is what `--json` gives.

    `lines` is the text, line by line. `notes` are remarks on the case. `seconds` is how long it took. A
    notebook shows the report as a box that needs no script and no network.
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
        """A violation that was found among larger inputs than those of the case; None if none was.

        `larger["inputs"]` are those inputs, such as `n in {0..5}`, and `larger["witness"]` is as in JSON.
        """
        found = self.document.get("larger")
        return found if isinstance(found, Mapping) else None

    def __bool__(self) -> bool:
        """A report without a verdict is neither true nor false.

        Raises:
            TypeError: always, but for reports with a verdict.
        """
        raise TypeError(f"a {type(self).__name__} is neither true nor false: ask for one of its values")

    def _repr_html_(self) -> str:
        return box(self._word(), [printable.line(line) for line in self.lines], self._table())

    def _word(self) -> str:
        """The word in front of the box, if there is a verdict."""
        return ""

    def _table(self) -> Sequence[tuple[str, str]]:
        """The rows of a small table in the box."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON object of the command: exact numbers are texts such as `"24/7"`."""
        return copy.deepcopy(dict(self.document))

    def evidence(self) -> dict[str, Any]:
        """Returns the document that `--evidence` writes, for `check` and `paramverify check`.

        Raises:
            InputError: there is no evidence of such a result.
        """
        if self._evidence is None:
            raise InputError(f"there is no evidence of a {type(self).__name__} of this kind")
        return self._evidence()

    def figure(self, ax: Axes | None = None) -> Figure:
        """Returns a picture (it needs the extra `plots`), drawn into `ax` where that is given.

        Raises:
            InputError: there is no picture of such a result, or matplotlib is missing.
        """
        if self._drawing is None:
            raise InputError(f"there is no picture of a {type(self).__name__} of this kind")
        return self._drawing(ax)


@dataclass(frozen=True, eq=False, repr=False)
class VerifyReport(Report):
    """A verdict, see `verify`.

    `bool(report)` is True for `private` and `true`, False for `not private` and `false`, and an error for
    `undecided`: neither `if report:` nor `if not report:` goes on with what was not decided.

    `witness` is there where a case is not private or an inequality is false, and None elsewhere; `run` is the
    run of a program behind it. `reason` says why it is undecided. `formulas` has the word for each formula of
    a case of logic, and for each question of a script, the last of which is the verdict. `result` is what the
    core found, for programs that need more.
    """

    status: Standing = Standing.UNKNOWN
    witness: ToldWitness | None = None
    run: ToldRun | LeftOut | None = None
    reason: str = ""
    formulas: Mapping[str, str] = field(default_factory=dict)
    result: Any = None

    @property
    def verdict(self) -> str:
        """`private`, `not private` or `undecided`; of claims and formulas `true`, `false` or `undecided`.

        Where a case has a side condition, such as `one_sided`, text and `to_dict` tell it besides.
        """
        return str(self.document["verdict"])

    def __bool__(self) -> bool:
        """Tells whether it is proved.

        Raises:
            UndecidedError: it is undecided.
        """
        if self.status is Standing.UNKNOWN:
            raise UndecidedError(f"it is undecided, which is neither true nor false: {self.reason}")
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
    """A tight budget, see `budget`: the largest ratio, which is e^ε for the least ε.

    `lower` ≤ the largest ratio ≤ `upper`, both proved; where they are equal it is `ratio`, which else is
    None. `epsilon` is its logarithm. `attained` tells whether a prior reaches the ratio, or is None where
    that is not decided. `witness` has the ratio, or the lower bound. Where the bound of the case has
    parameters, `relative` is the largest ratio divided by that bound; if that is 1, `tight` is True where the
    bound is shown to be tight, else None. The numbers are None where they are functions of parameters:
    `to_dict` has these.

    With `epsilon_for` the ratio is the least e^ε that is enough for all sets of outputs, with the given δ.
    With `delta_for`, `lower` and `upper` are bounds of the least δ, which is `delta` where they are equal;
    then there is no ratio, and `of_delta` is True.
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
        """The largest ratio where it is known exactly; infinite where there is no budget."""
        return None if self.of_delta else self._known

    @property
    def delta(self) -> ExactNumber | None:
        """The least δ for the ε that was given, where it is known exactly."""
        return self._known if self.of_delta else None

    @property
    def _known(self) -> ExactNumber | None:
        known = self.lower is not None and self.upper is not None and self.lower == self.upper
        return self.lower if known else None

    @property
    def epsilon(self) -> ExactNumber | None:
        """The least ε, ln of the ratio, where that is known exactly."""
        return None if self.ratio is None else ExactNumber.ln(self.ratio)

    def __repr__(self) -> str:
        first = printable.line(self.lines[0] if self.lines else "").strip().rstrip(".")
        return self._short(first, "; larger inputs need more" if self.larger else "")

    def _table(self) -> Sequence[tuple[str, str]]:
        numbers = {"ratio": self.ratio, "epsilon": self.epsilon, "delta": self.delta}
        return [(name, str(number)) for name, number in numbers.items() if number is not None]


@dataclass(frozen=True, eq=False, repr=False)
class StreamBudgetReport(BudgetReport):
    """The least budgets of streams, as multiples of ε: see `budget`.

    `multiple` is enough for streams of every length and every ε; it is infinite if no multiple is, and None
    if none is known. No multiple below `multiple_lower` is enough for every ε; None if no such number is
    known. `exact` tells whether all that was asked for is exact. Where entries have few values, it is about
    multiples that are enough for every ε: at one ε less may be enough. `lengths` has for each number of
    inputs both numbers, the lower one first. `ratio` and `epsilon` are None, because the budgets are
    functions of ε.
    """

    multiple: ExactNumber | None = None
    multiple_lower: ExactNumber | None = None
    exact: bool = False
    lengths: Mapping[int, tuple[ExactNumber | None, ExactNumber]] = field(default_factory=dict)

    def _table(self) -> list[tuple[str, str]]:
        return [] if self.multiple is None else [("multiple", str(self.multiple))]


@dataclass(frozen=True, eq=False, repr=False)
class ComposeReport(Report):
    """The δ or the ε of many releases together, see `compose`.

    `lower` ≤ the number ≤ `upper`, both proved; `upper` is None where no bound was found. `exact` is the
    number where it is known exactly, else None. `result` is what the core found.
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
    """Where a case is private, see `synthesize`.

    `form` is `witness`, `exact` or `region`. `complete` tells whether the answer is what was asked for.
    `witness` is a violating prior, where one was found or asked for. `result` is what the core found.
    """

    form: str = ""
    complete: bool = False
    witness: ToldWitness | None = None
    result: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class ShowReport(Report):
    """Formulas, see `show`. `complete` tells whether they are all."""

    complete: bool = True
    _latex: Callable[[], str] | None = None
    _graph: Callable[[], str] | None = None

    def latex(self) -> str:
        """Returns the formulas as LaTeX.

        Raises:
            InputError: a kind of case that has none.
        """
        if self._latex is None:
            raise InputError("there are no formulas of a case of this kind")
        return self._latex()

    def graph(self) -> str:
        """Returns the model as a graph in DOT.

        Raises:
            InputError: a kind of case that has none.
        """
        if self._graph is None:
            raise InputError("there is no graph of a case of this kind")
        return self._graph()


@dataclass(frozen=True, eq=False, repr=False)
class SampleReport(Report):
    """What sampling found, see `sample`. A test proves nothing.

    `found` tells whether what was asked for was found: no difference in an audit, the tight budget in a
    search. `rejected` tells whether a budget was rejected, or a candidate is a violation. `witness` is the
    candidate with the largest ratio, evaluated exactly, where `goal` is `certify`. `point` are the numbers
    that an audit took for the parameters.
    """

    found: bool = False
    rejected: bool = False
    witness: ToldWitness | None = None
    point: Mapping[str, Fraction] = field(default_factory=dict)
    result: Any = None

    @property
    def passes(self) -> bool:
        """Of an audit: whether no difference was found."""
        return self.found and not self.rejected


@dataclass(frozen=True, eq=False, repr=False)
class CheckReport(Report):
    """Whether evidence is accepted, see `check`; `bool(report)` is `accepted`.

    `verdict` is what the evidence shows, in the words of `to_dict`, or "" where it is rejected. `solvers` are
    the programs on whose word it rests; it is empty where all has certificates.
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
    """What other programs get, see `export`: `texts` has the text of each file.

    It prints as its text if there is one, and as a list of what the texts are about if there are several.
    """

    texts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        count = len(self.texts)
        return f"<{count} text{'' if count == 1 else 's'} for another program>"


@dataclass(frozen=True, eq=False, repr=False)
class CompareReport(Report):
    """What a comparison of solvers found, see `compare`.

    `alarming` tells whether two answers contradict each other, or one is wrong: `to_dict` has these as
    `disagreements` and `wrong`. `attempts` has one dictionary for each attempt, as in `results.jsonl`.
    `result` is what the core found.
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
