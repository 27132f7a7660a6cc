"""What `show` prints of a case: probabilities of outputs, or functions that are defined, as formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

from paramverify import printable
from paramverify.algebra.constants import working_precision
from paramverify.algebra.polynomials import RationalFunction
from paramverify.claims import show_sequence
from paramverify.encodings.sequences import listed, probabilities_of
from paramverify.errors import InputError
from paramverify.evidence import number_words
from paramverify.evidence.enclosed_witnesses import near, shares
from paramverify.evidence.number_words import Ends
from paramverify.models.enclosed_models import FIRST_BITS, EnclosedModel, EnclosedProbabilities
from paramverify.models.model import AnyModel, Model, of_privacy
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.runs import control_graph
from paramverify.reports import formulas
from paramverify.reports.formulas import Formula, exponent, formula, latex_lines
from paramverify.reports.pictures import dot_graphs
from paramverify.reports.pictures.dot_graphs import model_dot
from paramverify.reports.sentences import columns

EnclosedRow = tuple[str, str, Ends]


@dataclass(frozen=True, eq=False)
class ShownEnclosures:
    """The first probabilities of a case, enclosed; `left_out` more are not shown."""

    title: str
    named: str
    model: EnclosedModel
    rows: tuple[EnclosedRow, ...]
    left_out: int
    bits: int

    @staticmethod
    def of(title: str, named: str, model: EnclosedModel, observation: str, limit: int) -> ShownEnclosures:
        """Returns the probabilities of a case, of one output alone if it is given."""
        known = EnclosedProbabilities(model.table, min(FIRST_BITS, model.table.bits))
        names = model.table.observations
        wanted = [k for k, name in enumerate(names) if observation in ("", name)]
        starts = {p.left: p.pi for p in model.pairs} | {p.right: p.tau for p in model.pairs}
        order = sorted(starts, key=list(model.table.states).index) if named == "input" else list(starts)
        every = [(secret, k) for secret in order for k in wanted]
        rows: list[EnclosedRow] = []
        for secret, k in every[:limit]:
            ball = known.under(starts[secret])[k]
            with working_precision(known.encloser.precision):
                rows.append((secret, names[k], near(shares(ball), known.bits)))
        left_out = len(every) - len(rows)
        return ShownEnclosures(title, named, model, tuple(rows), left_out=left_out, bits=known.bits)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed or left out."""
        return self.model.notes

    def more(self) -> str:
        """Returns how many rows there are besides, in words; "" for none."""
        shown = f"only the first {len(self.rows):,} probabilities are shown"
        return f"{shown}; there are {self.left_out:,} more" if self.left_out else ""

    def lines(self) -> list[str]:
        """Returns a table in words."""
        rows = [(secret, name, number_words.around(value)) for secret, name, value in self.rows]
        return [
            printable.name(self.title),
            *columns((self.named, "output", "probability"), rows),
            f"each enclosed with {self.bits} bits, with proved rounding",
            *(f"Note: {note}." for note in self.model.notes),
        ]

    def document(self) -> dict[str, Any]:
        """Returns the same as JSON data."""
        return {
            "title": self.title,
            "probabilities": [
                {"secret": secret, "observations": [name], "probability": number_words.ends_document(value)}
                for secret, name, value in self.rows
            ],
            "complete": not self.left_out,
            "left_out": self.left_out,
            "bits": self.bits,
            "notes": list(self.model.notes),
        }

    def latex(self) -> str:
        """Not available: there are no formulas.

        Raises:
            InputError: always.
        """
        reason = "--latex needs formulas, but the probabilities of this case are enclosed numbers"
        raise InputError(reason, key="--latex")


MOST_ROWS = 200
MOST_COUNTED = 10_000  # rows that are counted but not shown
PACKAGES = r"\usepackage{amsmath, booktabs%s}"
LONG_TABLE = 40  # rows, beyond which a table may go over several pages

FormulaRow = tuple[tuple[str, ...], str, RationalFunction]
"""The output, the secret or input, and the probability of the one under the other."""


@dataclass(frozen=True)
class RowSelection:
    """Which rows are shown: sequences of one length, or one sequence; and how many rows at most."""

    length: int | None = None
    observations: tuple[str, ...] = ()
    limit: int = MOST_ROWS

    def of(self, model: Model) -> Model:
        """Returns the model with the lengths that are wanted.

        Raises:
            InputError: the case is not about this length.
        """
        length = len(self.observations) or self.length
        if length is None:
            return model
        if model.lengths and length not in model.lengths:
            known = ", ".join(map(str, model.lengths))
            key = "--observations" if self.observations else "--length"
            raise InputError(f"the case is about sequences of length {known}, not {length}", key=key)
        return replace(model, lengths=(length,))

    def rows(self, model: Model, on_row: Callable[[FormulaRow], None]) -> tuple[list[FormulaRow], int]:
        """Returns the rows of such a model, and how many more there are, counted up to `MOST_COUNTED` + 1."""
        found = (
            ((word, name, partial(_same, f)) for word, name, f in probabilities_of(model, self.observations))
            if self.observations
            else listed(model)
        )
        rows: list[FormulaRow] = []
        for word, name, function in islice(found, self.limit):
            rows.append((word, name, function()))
            on_row(rows[-1])
        return rows, sum(1 for _ in islice(found, MOST_COUNTED + 1))


def _same(function: RationalFunction) -> RationalFunction:
    return function


@dataclass(frozen=True, eq=False)
class ShownProbabilities:
    """The probabilities of a case; `power` is the q of `E = exp(q)` where that occurs in them.

    `left_out` rows more are not among them, or more than `MOST_COUNTED`.
    """

    title: str
    named: str
    model: Model
    rows: tuple[FormulaRow, ...]
    left_out: int
    power: Fraction | None
    notes: tuple[str, ...]

    @staticmethod
    def of(
        case: PrivacyCase,
        on_row: Callable[[FormulaRow], None] = lambda row: None,
        wanted: RowSelection | None = None,
    ) -> ShownProbabilities:
        """Returns the first probabilities of a case; `on_row` hears of each as it is computed.

        Raises:
            InputError: a case that is not about privacy, whose secrets are impossible, or that is not about
                the sequences that are wanted.
        """
        require_possible(case.model)
        asked = of_privacy(case.model, "show --graph", tied=True, densities=True)
        wanted = wanted or RowSelection()
        model = wanted.of(asked.whole or asked)
        rows, left_out = wanted.rows(model, on_row)
        return ShownProbabilities(
            title=case.title,
            named="input" if case.neighbours else "secret",
            model=model,
            rows=tuple(rows),
            left_out=left_out,
            power=exponent((function for _, _, function in rows), model.domain),
            notes=tuple(asked.notes),
        )

    @property
    def complete(self) -> bool:
        """Whether all rows that are wanted are there."""
        return not self.left_out

    def more(self) -> str:
        """Returns how many rows there are besides, in words; "" for none."""
        count = f"more than {MOST_COUNTED:,}" if self.left_out > MOST_COUNTED else f"{self.left_out:,}"
        shown = f"only the first {len(self.rows):,} probabilities are shown"
        return f"{shown}; there are {count} more" if self.left_out else ""

    def lines(self) -> list[str]:
        """Returns a table in words."""
        domain = self.model.domain
        rows = [(name, show_sequence(word), _text(formula(f, domain))) for word, name, f in self.rows]
        return [
            printable.name(self.title),
            *columns((self.named, "output", "probability"), rows),
            *_meaning(self.power),
            *(f"Note: {note}." for note in self.notes),
        ]

    def document(self) -> dict[str, Any]:
        """Returns the same as JSON data."""
        domain = self.model.domain
        return {
            "title": self.title,
            "probabilities": [
                {"secret": name, "observations": list(word), **_forms(formula(f, domain))}
                for word, name, f in self.rows
            ],
            "complete": self.complete,
            "left_out": self.left_out if self.left_out <= MOST_COUNTED else None,
            **_constant(self.power),
            "notes": list(self.notes),
        }

    def latex(self) -> str:
        """Returns the table in LaTeX; a comment says which packages it needs."""
        kind = "longtable" if len(self.rows) > LONG_TABLE else "tabular"
        head = rf"{self.named} & output & probability \\"
        lines = _comments(PACKAGES % (", longtable" if kind == "longtable" else ""), self.title)
        lines += [rf"\begin{{{kind}}}{{@{{}}lll@{{}}}}", r"\toprule", head, r"\midrule"]
        lines += [r"\endhead"] if kind == "longtable" else []
        for word, name, function in self.rows:
            shown = printable.latex(name), " ".join(printable.latex(show_sequence([o])) for o in word)
            told = _cell(latex_lines(function, self.model.domain))
            lines.append(rf"{shown[0]} & {shown[1]} & {told} \\")
        lines.append(r"\bottomrule")
        if self.power is not None:
            lines.append(rf"\multicolumn{{3}}{{@{{}}l@{{}}}}{{where $E = {_power(self.power)}$}} \\")
        lines += [f"% {self.more()}"] if self.left_out else []
        return "\n".join([*lines, rf"\end{{{kind}}}", ""])


@dataclass(frozen=True, eq=False)
class ShownFunctions:
    """The functions that a case defines, and what it claims."""

    title: str
    model: AnyModel
    claim: str

    def lines(self) -> list[str]:
        """Returns a table in words."""
        rows = [(name, _text(shown)) for name, shown in self._shown().items()]
        table = columns(("name", "function"), rows) if rows else []
        return [printable.name(self.title), *table, *_meaning(self._power()), f"claim: {self.claim}"]

    def document(self) -> dict[str, Any]:
        """Returns the same as JSON data."""
        named = [{"name": name, **_forms(shown)} for name, shown in self._shown().items()]
        return {
            "title": self.title,
            "definitions": named,
            "claim": self.claim,
            **_constant(self._power()),
        }

    def latex(self) -> str:
        """Returns the functions and the claim in LaTeX; a comment says which package it needs."""
        domain, power = self.model.domain, self._power()
        rows = []
        for name, function in self.model.definitions.items():
            first, *more = latex_lines(function, domain)
            rows.append(rf"\mathit{{{printable.latex(name)}}} &= {first}")
            rows += [rf"&\quad {line}" for line in more]
        rows += [rf"E &= {_power(power)}"] if power is not None else []
        rows.append(rf"\text{{claim:}}\quad & {_claim(self.claim)}")
        start = [*_comments(r"\usepackage{amsmath}", self.title), r"\begin{align*}"]
        return "\n".join([*start, " \\\\\n".join(rows), r"\end{align*}", ""])

    def _shown(self) -> dict[str, Formula]:
        return {name: formula(f, self.model.domain) for name, f in self.model.definitions.items()}

    def _power(self) -> Fraction | None:
        return exponent(self.model.definitions.values(), self.model.domain)


def formulas_of(
    case: PrivacyCase,
    on_row: Callable[[FormulaRow], None] = lambda row: None,
    wanted: RowSelection | None = None,
) -> ShownProbabilities | ShownFunctions | ShownEnclosures:
    """Returns the formulas of a case, or enclosures where it has none; see `ShownProbabilities.of`.

    Raises:
        InputError: a mistake, or sequences are wanted of an inequality.
    """
    if case.model.comparisons:
        if wanted and (wanted.length or wanted.observations):
            raise InputError("an inequality has no sequences: --length and --observations are for mechanisms")
        require_possible(case.model)
        return ShownFunctions(case.title, case.model, case.budget)
    if isinstance(case.model, EnclosedModel):
        return _enclosures(case, case.model, wanted or RowSelection())
    return ShownProbabilities.of(case, on_row, wanted)


def _enclosures(case: PrivacyCase, model: EnclosedModel, wanted: RowSelection) -> ShownEnclosures:
    if (len(wanted.observations) or wanted.length or 1) != 1:
        raise InputError("the case is about sequences of length 1", key="--length")
    word = " ".join(wanted.observations)
    if word and word not in model.table.observations:
        raise InputError(f"{word} is not an output of the case", key="--observations")
    named = "input" if case.neighbours else "secret"
    return ShownEnclosures.of(case.title, named, model, word, wanted.limit)


def graph(case: PrivacyCase) -> str:
    """Returns the model, or the control states of a program, as a graph in DOT.

    Raises:
        InputError: a case that is not about privacy.
    """
    require_possible(case.model)
    program = control_graph(case)
    if program:
        return dot_graphs.program_dot(*program)
    asked = of_privacy(case.model, "show --graph", tied=True, densities=True)
    return model_dot(asked.whole or asked)


def _meaning(power: Fraction | None) -> list[str]:
    return [] if power is None else [f"E = exp({power})"]


def _constant(power: Fraction | None) -> dict[str, str]:
    """Returns what `E` stands for, where it occurs."""
    return {} if power is None else {"E": f"exp({power})"}


def _power(power: Fraction) -> str:
    return f"e^{{{power}}}"


def _text(shown: Formula) -> str:
    if shown.expanded == shown.factored or " " not in shown.expanded:  # one term: factors add nothing
        return shown.expanded
    return f"{shown.expanded} = {shown.factored}" if len(shown.expanded) <= 60 else shown.factored


def _forms(shown: Formula) -> dict[str, str]:
    return {"formula": shown.expanded, "factored": shown.factored}


def _comments(packages: str, title: str) -> list[str]:
    return [f"% {printable.name(title)}", f"% needs {packages}"]


def _cell(lines: Sequence[str]) -> str:
    """Returns a formula for a table: lines below each other where it is broken."""
    if len(lines) == 1:
        return f"${lines[0]}$"
    return r"$\begin{aligned}[t] & " + r" \\ & ".join(lines) + r" \end{aligned}$"


def _claim(text: str) -> str:
    found = formulas.tex_formula(text)
    return rf"\text{{{printable.latex(text)}}}" if found is None else found
