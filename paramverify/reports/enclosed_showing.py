"""What `show` tells of a case whose probabilities are enclosed: each with its certified ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paramverify import printable
from paramverify.algebra.constants import working_precision
from paramverify.errors import InputError
from paramverify.evidence.enclosed import Ends, near, shares
from paramverify.models.enclosed import FIRST_BITS, EnclosedModel, EnclosedProbabilities
from paramverify.reports import enclosures
from paramverify.reports.tables import columns

Row = tuple[str, str, Ends]


@dataclass(frozen=True, eq=False)
class ShownEnclosures:
    """The first probabilities of a case, enclosed; `left_out` more are not shown."""

    title: str
    named: str
    model: EnclosedModel
    rows: tuple[Row, ...]
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
        rows: list[Row] = []
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
        rows = [(secret, name, enclosures.around(value)) for secret, name, value in self.rows]
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
                {"secret": secret, "observations": [name], "probability": enclosures.document(value)}
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
        raise InputError("--latex needs formulas; enclosed probabilities have none", key="--latex")
