"""Reading `[define]` and `[claim]`: named rational functions, and comparisons of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paramverify.algebra.constraints import conjuncts
from paramverify.algebra.expressions import Expression, parse
from paramverify.algebra.polynomials import Polynomial, RationalFunction, to_rational_function
from paramverify.errors import CaseError, InputError, LimitError, located
from paramverify.models.context import Checks
from paramverify.models.inequality import Comparison
from paramverify.models.parameter_keys import FROM_FILE
from paramverify.models.rational_files import RationalFile, read_rational_file
from paramverify.spelling import nearest
from paramverify.tables import Table, as_expression, check_name

MAX_FILES = 20
MAX_CLAIMS = 1_000


def read_files(define: Table, folder: Path) -> dict[str, RationalFile]:
    """Reads the files that `[define]` names, relative to the folder, up to their formulas.

    Raises:
        InputError: a mistake in an entry or a file.
    """
    found: dict[str, RationalFile] = {}
    for name, value in define.data.items():
        if not isinstance(value, dict):
            continue
        with located(key=f"define.{name}"):
            entry = Table(value, FROM_FILE)
            path = entry.path("file")
            entry.close()
            try:
                found[name] = read_rational_file(folder / path)
            except InputError as error:
                raise CaseError(str(error)) from None
        if len(found) > MAX_FILES:
            raise LimitError(f"define: more than {MAX_FILES} files")
    return found


@dataclass
class Definitions:
    """The functions that `[define]` has named so far; every denominator is positive on the domain.

    What is not seen from the signs of coefficients becomes an obligation of the `checks`.
    """

    checks: Checks
    functions: dict[str, RationalFunction] = field(default_factory=dict)
    _positive: dict[str, Polynomial] = field(default_factory=dict)

    def read(self, define: Table, files: Mapping[str, RationalFile]) -> None:
        """Reads the entries in their order; later ones may use earlier ones.

        The checks keep mistakes, and denominators that vanish at a point of the domain.
        """
        for name in define:
            with self.checks.mistakes, located(key="define"):
                check_name(name)
                if name in self.checks.ring.names:
                    raise CaseError("this name is already that of a parameter", key=name)
                with located(key=name):
                    if name in files:
                        self.functions[name] = self._from_file(files[name])
                    else:
                        expression = as_expression(define.get(name))
                        self.functions[name] = self._function(expression, expression.text)
            if name not in self.functions:
                self.checks.mistakes.broken.add(name)

    def _from_file(self, file: RationalFile) -> RationalFunction:
        try:
            found = file.result(self.checks.ring)
        except InputError as error:
            raise CaseError(str(error)) from None
        return self._oriented(found, f"the result of {file.path}")

    def _function(self, expression: Expression, what: str) -> RationalFunction:
        return self._oriented(to_rational_function(expression, self.checks.ring, self.functions), what)

    def _oriented(self, function: RationalFunction, what: str) -> RationalFunction:
        """Returns the function with a denominator that is positive on the domain."""
        below = str(function.denominator)
        if below not in self._positive:
            self._positive[below] = self.checks.positive(function.denominator, f"the denominator of {what}")
        same = self._positive[below] == function.denominator
        return RationalFunction(function.numerator if same else -function.numerator, self._positive[below])

    def comparisons(self, claim: Table) -> Iterator[Comparison]:
        """Yields what `holds` says: one claim or a list, each a comparison, a chain, or several with `and`.

        Raises:
            InputError: anything else, or a denominator that vanishes at a point of the domain.
        """
        given = claim.need("holds")
        texts = given if isinstance(given, list) else [given]
        if not texts or len(texts) > MAX_CLAIMS:
            raise CaseError(f"from 1 to {MAX_CLAIMS:,} claims are needed here", key="holds")
        for k, text in enumerate(texts):
            place = f"holds[{k}]" if isinstance(given, list) else "holds"
            with self.checks.mistakes, located(key=place):
                if not isinstance(text, str):
                    raise CaseError('a comparison such as "f <= 1/2" is needed here')
                yield from self._compared(text)

    def _compared(self, text: str) -> Iterator[Comparison]:
        expression = parse(text)
        reason = "a claim is a comparison with <, <=, >, >= or ==, or several joined by and"
        for node in conjuncts(expression, reason):
            left, right = (
                self._function(Expression(text, side), f"one side of {text!r}") for side in node.arguments
            )
            yield Comparison(text, left, node.operator, right)


def unknown_table(name: str, known: list[str]) -> CaseError:
    """Returns the error for a table that no case has, with the nearest one that there is."""
    near = nearest(name, known)
    hint = f"did you mean [{near}]?" if near else f"a case has {', '.join(f'[{n}]' for n in known)}"
    return CaseError("unknown table", mend=hint, key=name)
