"""What `show` tells of a case: probabilities of outputs, or functions that are defined, as formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from paramverify import printable
from paramverify.algebra.polynomials import RationalFunction
from paramverify.claims import show_sequence
from paramverify.encodings.sequences import probabilities
from paramverify.models.inequality import Inequality
from paramverify.models.kinds import need_privacy
from paramverify.models.model import Model
from paramverify.portfolio.obligations import require_possible
from paramverify.privacy.cases import Case
from paramverify.privacy.runs import control_graph
from paramverify.reports.formulas import Formula, exponent, formula, latex
from paramverify.reports.pictures import programs
from paramverify.reports.pictures.models import dot
from paramverify.reports.tables import columns

MOST_ROWS = 200

Row = tuple[tuple[str, ...], str, RationalFunction]
"""The output, the secret or input, and the probability of the one under the other."""


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The probabilities of a case; `power` is the q of `E = exp(q)` where that occurs in them."""

    title: str
    named: str
    model: Model
    rows: tuple[Row, ...]
    complete: bool
    power: Fraction | None
    notes: tuple[str, ...]

    @staticmethod
    def of(case: Case, on_row: Callable[[Row], None] = lambda row: None) -> Probabilities:
        """Returns the first probabilities of a case; `on_row` hears of each as it is computed.

        Raises:
            InputError: a case that is not about privacy, or whose secrets are impossible.
        """
        require_possible(case.model)
        asked = need_privacy(case.model, "show --graph", sets=True)
        model = asked.whole or asked
        rows: list[Row] = []
        for row in islice(probabilities(model), MOST_ROWS + 1):
            rows.append(row)
            on_row(row)
        power = exponent((function for _, _, function in rows), model.domain)
        return Probabilities(
            title=case.title,
            named="input" if case.neighbours else "secret",
            model=model,
            rows=tuple(rows[:MOST_ROWS]),
            complete=len(rows) <= MOST_ROWS,
            power=power,
            notes=tuple(asked.notes),
        )

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
            **_constant(self.power),
            "notes": list(self.notes),
        }

    def latex(self) -> str:
        """Returns the table in LaTeX."""
        lines = [r"\begin{tabular}{lll}", rf"{self.named} & output & probability \\ \hline"]
        for word, name, function in self.rows:
            shown = printable.latex(name), " ".join(printable.latex(show_sequence([o])) for o in word)
            lines.append(rf"{shown[0]} & {shown[1]} & ${latex(function, self.model.domain)}$ \\")
        if self.power is not None:
            lines.append(rf"\multicolumn{{3}}{{l}}{{where $E = {_power(self.power)}$}} \\")
        return "\n".join([*lines, r"\end{tabular}", ""])


@dataclass(frozen=True, eq=False)
class Functions:
    """The functions that a case defines, and what it claims."""

    title: str
    model: Inequality

    def lines(self) -> list[str]:
        """Returns a table in words."""
        rows = [(name, _text(shown)) for name, shown in self._shown().items()]
        table = columns(("name", "function"), rows) if rows else []
        return [printable.name(self.title), *table, *_meaning(self._power()), f"claim: {self.model.text}"]

    def document(self) -> dict[str, Any]:
        """Returns the same as JSON data."""
        named = [{"name": name, **_forms(shown)} for name, shown in self._shown().items()]
        return {
            "title": self.title,
            "definitions": named,
            "claim": self.model.text,
            **_constant(self._power()),
        }

    def latex(self) -> str:
        """Returns the functions in LaTeX."""
        domain, power = self.model.domain, self._power()
        functions = self.model.definitions.items()
        lines = [r"\begin{align*}"]
        lines += [rf"\mathit{{{printable.latex(name)}}} &= {latex(f, domain)} \\" for name, f in functions]
        lines += [rf"E &= {_power(power)} \\"] if power is not None else []
        return "\n".join([*lines, r"\end{align*}", ""])

    def _shown(self) -> dict[str, Formula]:
        return {name: formula(f, self.model.domain) for name, f in self.model.definitions.items()}

    def _power(self) -> Fraction | None:
        return exponent(self.model.definitions.values(), self.model.domain)


def formulas_of(case: Case, on_row: Callable[[Row], None] = lambda row: None) -> Probabilities | Functions:
    """Returns the formulas of a case of either kind; see `Probabilities.of`."""
    if isinstance(case.model, Inequality):
        require_possible(case.model)
        return Functions(case.title, case.model)
    return Probabilities.of(case, on_row)


def graph(case: Case) -> str:
    """Returns the model, or the control states of a program, as a graph in DOT.

    Raises:
        InputError: a case that is not about privacy.
    """
    require_possible(case.model)
    asked = need_privacy(case.model, "show --graph", sets=True)
    program = control_graph(case)
    return programs.dot(*program) if program else dot(asked.whole or asked)


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
