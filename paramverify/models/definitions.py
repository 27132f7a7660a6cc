"""Reading `[define]` and `[claim]`: definitions of cases, and cases of any parametric inequality."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import Definitions, Expression, Named, defining, parse
from paramverify.algebra.polynomials import Polynomial, RationalFunction, to_rational_function
from paramverify.algebra.signs import conjuncts
from paramverify.divergences import Event
from paramverify.errors import CaseError, InputError, LimitError, located
from paramverify.models.context import Checks, Obligation, VerdictWords
from paramverify.models.names import nearest as nearest_of
from paramverify.models.parameters import FROM_FILE, unbounded_names
from paramverify.models.rational_files import RationalFile, read_rational_file
from paramverify.spelling import nearest
from paramverify.tables import Table, as_expression, check_name

NO_BUDGET = (
    "to bound the largest value of a function f, run `verify` with claims `f <= c` for different numbers c"
)


@dataclass(frozen=True, eq=False)
class RationalComparison:
    """`left relation right`, with the user's text; both denominators are positive on the domain.

    The relation is <, <=, >, >= or ==. Each link of a chain `0 <= f <= 1` is one, with the whole text.
    """

    text: str
    left: RationalFunction
    relation: str
    right: RationalFunction

    def is_true(self, sign: int) -> bool:
        """Tells whether the comparison is true, given the sign of left − right."""
        return {
            "<": sign < 0,
            "<=": sign <= 0,
            ">": sign > 0,
            ">=": sign >= 0,
            "==": sign == 0,
        }[self.relation]


@dataclass(frozen=True, eq=False)
class Inequality:
    """Comparisons of rational functions, for all points of a domain.

    It holds iff for every θ in the domain every comparison is true at θ; it is violated iff some comparison
    is false at some θ. `definitions` are the functions that the case names, `text` is the user's claim.

    All this is so only if the `obligations` are proved, among them that every denominator is positive on the
    domain. `maybe_empty` is a claim that must be refuted, as for a `Model`.
    """

    domain: Domain
    comparisons: tuple[RationalComparison, ...]
    definitions: Mapping[str, RationalFunction]
    text: str
    obligations: tuple[Obligation, ...] = ()
    notes: tuple[str, ...] = ()
    maybe_empty: Obligation | None = None

    event = Event.COMPARISON
    pairs = ()  # no distributions are compared, so the rest says that there is nothing of them
    lengths = ()
    every_length = False
    inputs = ()
    outputs = ()
    wider = False
    stands_for = None
    maybe_impossible = ()
    side_condition = ""
    nothing_compared = ""

    def word(self, standing: VerdictWords) -> str:
        """Returns the word for a verdict: true, false, undecided."""
        return standing.of_claim

    def over(self, described: str, compared: str) -> str:
        """Returns what a verdict is about: the points of the domain in words."""
        del compared
        return f"for every {described}" if described else "as a comparison of numbers"


MAX_FILES = 20
MAX_CLAIMS = 1_000

_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")


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
            raise LimitError(f"[define] names more than {MAX_FILES} files")
    return found


@dataclass
class Functions:
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
                    raise CaseError("this name is already used by a parameter: choose another name", key=name)
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

    def comparisons(self, claim: Table) -> Iterator[RationalComparison]:
        """Yields what `holds` says: one claim or a list, each a comparison, a chain, or several with `and`.

        Raises:
            InputError: anything else, or a denominator that vanishes at a point of the domain.
        """
        given = claim.need("holds")
        texts = given if isinstance(given, list) else [given]
        if not texts or len(texts) > MAX_CLAIMS:
            raise CaseError(f"give between 1 and {MAX_CLAIMS:,} claims", key="holds")
        for k, text in enumerate(texts):
            place = f"holds[{k}]" if isinstance(given, list) else "holds"
            with self.checks.mistakes, located(key=place):
                if not isinstance(text, str):
                    raise CaseError('a claim must be a comparison in quotes, such as "f <= 1/2"')
                yield from self._compared(text)

    def _compared(self, text: str) -> Iterator[RationalComparison]:
        expression = parse(text)
        reason = "a claim must be a comparison with <, <=, >, >= or ==, or several comparisons joined by and"
        for node in conjuncts(expression, reason):
            left, right = (
                self._function(Expression(text, side), f"one side of {text!r}") for side in node.arguments
            )
            yield RationalComparison(text, left, node.operator, right)


def unknown_table(name: str, known: list[str]) -> CaseError:
    """Returns the error for a table that no case has, with the nearest one that there is."""
    near = nearest(name, known)
    hint = (
        f"did you mean [{near}]?"
        if near
        else f"the tables of such a case are {', '.join(f'[{n}]' for n in known)}"
    )
    return CaseError("unknown table", mend=hint, key=name)


def read_named(top: Table) -> Definitions:
    """Reads `[define]` of a case about privacy: names for expressions, put in force by `named.defining`.

    Later entries may use earlier ones. An expression may have parameters, and variables of the prior or
    inputs of the mechanism where these are known.

    Raises:
        InputError: a mistake in an entry; a name that the case has already, or an entry that needs itself.
    """
    if "define" not in top:
        return Definitions()
    taken = _names_of(top)
    named: dict[str, Named] = {}
    with top.within("define") as define:
        names = list(define)
        _no_circles(define)
        for k, name in enumerate(names):
            check_name(name)
            with located(key=name):
                what = "the constant exp(...)" if name == GENERATOR else taken.get(name)
                if what:
                    raise CaseError(f"this name is already used by {what}: choose another name")
                if isinstance(define.get(name), dict):
                    raise CaseError(
                        "a definition must be an expression here; files are allowed only in cases with a "
                        "[claim]"
                    )
                earlier = Definitions(named, below=names[k:])
                with defining(earlier):
                    found = as_expression(define.get(name))
                for other, node in found.names().items():
                    if other.partition("[")[0] not in taken:  # an entry of an array, too
                        raise found.error(
                            f"unknown name {other!r}{nearest_of(other, [*named, *taken])}", node
                        )
                named[name] = Named.of(found, earlier.used)
    return Definitions(named)


def unused(definitions: Definitions) -> tuple[str, ...]:
    """Returns a note that names the definitions that nothing has used."""
    names = [name for name in definitions.named if name not in definitions.used]
    if not names:
        return ()
    return (f"these definitions of [define] are never used: {', '.join(names)}",)


def _names_of(top: Table) -> dict[str, str]:
    """Returns the names that a case gives to other things, each with what it is in words."""
    found = {"distance": "the distance of two inputs"} if "neighbours" in top.data else {}
    inputs = top.data.get("mechanism")
    inputs = inputs.get("inputs") if isinstance(inputs, dict) else None
    tables = {"an input of the mechanism": inputs}
    tables |= {"a variable of the prior": top.data.get("prior"), "a parameter": top.data.get("parameters")}
    for what, table in tables.items():
        found |= {name: what for name in table if name != "constraints"} if isinstance(table, dict) else {}
    found |= {f"x_{name}": f"what stands for exp(-{name}/d)" for name in unbounded_names(top)}
    return found


def _no_circles(define: Table) -> None:
    """Checks that no entry needs itself, by way of others or not."""
    needs: dict[str, list[str]] = {}
    for name, value in define.data.items():
        words = (
            re.findall(r"[A-Za-z_][A-Za-z0-9_]*", _QUOTED.sub("", value)) if isinstance(value, str) else ()
        )
        needs[name] = [word for word in dict.fromkeys(words) if word in define.data]
    for name in needs:
        path, left = [name], {name: list(needs[name])}
        seen = {name}
        while path:
            if not left[path[-1]]:
                path.pop()
                continue
            after = left[path[-1]].pop(0)
            if after == name:
                told = " needs ".join([*path, name])
                raise CaseError(f"{told}: a definition must not depend on itself", key=name)
            if after not in seen:
                seen.add(after)
                left[after] = list(needs[after])
                path.append(after)
