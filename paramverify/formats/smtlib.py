"""Claims as self-contained SMT-LIB 2 scripts, printed from formulas of PySMT; see `solver_formulas`.

The script follows the SMT-LIB standard, version 2.6 ([Barrett17]), and its theory of reals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial
from paramverify.claims import Claim
from paramverify.errors import DefectError, UnsupportedError
from paramverify.formats.solver_formulas import SolverFormula, exceeded, violated

SIMPLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")  # all names of cases are such
# Reserved words, and names that Z3, cvc5 or Yices do not let a script declare, not even quoted.
RESERVED = """_ ! as let exists forall match par true false and or not xor distinct ite abs div mod divisible
to_real to_int is_int pi exp sin cos tan sqrt BINARY DECIMAL HEXADECIMAL NUMERAL STRING
assert push pop exit reset"""
TAKEN = frozenset(RESERVED.split())


def script(
    claim: Claim,
    status: str | None = None,
    name: str = "",
    others: Sequence[Claim] = (),
    logic: str = "QF_NRA",
    information: Mapping[str, str] | None = None,
) -> str:
    """Returns the negated claim as an SMT-LIB 2 script that ends with `(check-sat)`.

    With `others`, claims about the same domain, it says that some point violates one of them. `status` is
    `unsat` where the claims are known to hold and `sat` where they are known not to; `name` goes into a
    comment; `information` gives values, as they are written, of other attributes such as `source`. A
    parameter whose name is taken in SMT-LIB gets `!` at its end, as the comments say. The
    constant `E` is a variable here, between the ends of its interval.

    Raises:
        UnsupportedError: a variable whose name cannot be written as a symbol.
        LimitError: a polynomial is too large to be written with products.
    """
    found = violated(claim, *others)
    comments = [f"Some point with {_where(claim.domain)} violates {'a' if others else 'the'} claim."]
    attributes = [f"(set-info :{key} {value})" for key, value in (information or {}).items()]
    if status:
        if status not in ("sat", "unsat", "unknown"):
            raise DefectError(f"no status of SMT-LIB: {status!r}")
        attributes.append(f"(set-info :status {status})")
    return _script(found, claim.domain, [*name.splitlines(), *comments], logic, attributes)


def sum_script(room: Polynomial, terms: Sequence[Polynomial], domain: Domain, name: str = "") -> str:
    """Returns `Σ max(0, tᵢ) > room at some point of the domain` as an SMT-LIB 2 script like `script`.

    Each maximum is an `ite` over a defined function, so that no term is written twice. Symbols are those of
    `script`; the constant `E` is a variable here, between the ends of its interval.

    Raises:
        UnsupportedError: a variable whose name cannot be written as a symbol.
        LimitError: a polynomial is too large to be written with products.
    """
    comment = f"At some point with {_where(domain)} the positive terms are more than the room."
    return _script(exceeded(room, terms, domain), domain, [*name.splitlines(), comment])


def _where(domain: Domain) -> str:
    return " ".join(domain.describe().split()) or "no parameters"


def _script(
    found: SolverFormula,
    domain: Domain,
    comments: Sequence[str],
    logic: str = "QF_NRA",
    attributes: Sequence[str] = (),
) -> str:
    """Returns assertions as a script, with what its symbols stand for."""
    from paramverify.formats.formula_printers import SmtLibPrinter

    symbols = {name: symbol(name) for name in found.symbols}
    own = {s.symbol_name(): s.symbol_name() for s, _ in found.definitions}
    printer = SmtLibPrinter({**symbols, **own})
    lines = [f"; {line}" for line in comments]
    if GENERATOR in symbols and domain.constant:
        lines.append(f"; {GENERATOR} encloses exp({domain.constant.exponent}).")
    lines += [f"; {s} stands for the parameter {n}" for n, s in symbols.items() if s == n + "!"]
    lines += ["(set-info :smt-lib-version 2.6)", f"(set-logic {logic})", *attributes]
    lines += [f"(declare-fun {s} () Real)" for s in symbols.values()]
    for term, meaning in found.definitions:
        lines.append(f"(define-fun {term.symbol_name()} () Real {printer.walk(meaning)})")
    lines += [f"(assert {printer.walk(each)})" for each in found.assertions]
    return "\n".join([*lines, "(check-sat)", "(exit)", ""])


def symbol(name: str) -> str:
    """Returns the SMT-LIB symbol for a variable: the name itself, quoted, or with `!` where it is taken.

    Raises:
        UnsupportedError: the name has a character that a quoted symbol cannot have.
    """
    if name in TAKEN:
        return name + "!"
    if SIMPLE.match(name):
        return name
    # A name that ends with ! could be taken for one that was given it here.
    if "|" in name or "\\" in name or name.endswith("!") or not name.isprintable():
        raise UnsupportedError(f"SMT-LIB has no symbol for the name {name!r}")
    return f"|{name}|"
