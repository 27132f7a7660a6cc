"""Whether assertions have a solution.

Cubes as claims for all backends, and solvers that read the script itself.

`unsat` is said where every cube's claim is proved, or on the word of solvers. `sat` is said only at a point
at which all assertions were evaluated exactly, whoever found it.

Models of solvers for the constants of a script, as points that are then evaluated exactly.

Z3 writes an algebraic number as `(root-obj p k)`, the k-th real root of p; cvc5 as a polynomial and an
interval around one of its roots; Yices rounds it to a decimal. All rational forms are read exactly. What
comes of a rounded number is tried: the roots near it of what the assertions compare, and simple rationals. A
point proves nothing until the assertions are evaluated at it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import islice, product

from flint import fmpq_poly, fmpz_poly

from paramverify import __version__, printable
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Ring, is_constant, rational, substitute, variables
from paramverify.algebra.rationals import simplest_between
from paramverify.algebra.real_roots import RealRoot, isolate, univariate
from paramverify.answers import Answer, Decision, End, Open, Proved, Refuted, Standing
from paramverify.backends import DECIDES, Ability, Backend, script_runner
from paramverify.claims import Claim
from paramverify.errors import DisagreementError, InputError, LimitError, UnsupportedError
from paramverify.evidence import certificates
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import VERSION
from paramverify.exact.univariate import IRRATIONAL
from paramverify.formats import smtlib_scripts
from paramverify.formats.smtlib_scripts import ScriptTerm, decimal, quoted
from paramverify.portfolio.session import ALONE, QUICK, TURN, Options, Session, program
from paramverify.portfolio.strategies import BUILT_IN
from paramverify.processes.attempts import Attempt, AttemptLimits, resolve, settings
from paramverify.processes.runner import Runner
from paramverify.scripts.cubes import Cube, CubeClaim, Reading, region
from paramverify.scripts.script_evaluation import (
    Answered,
    Number,
    SatisfiabilityQuestion,
    ScriptPoint,
    Settled,
)

# A script is no claim; this one, which is violated at the only point of its domain, stands in for it, so
# that the runner's exact check of refutations says nothing about scripts.
NO_CLAIM = Claim(Ring(()).number(-1), Domain(Ring(()), {}))
MODELS = "(set-option :produce-models true)\n"
ANSWERS = ("sat", "unsat", "unknown")


def why_not(backend: Backend) -> str | None:
    """Returns why a backend cannot run scripts, or None where it can."""
    if script_runner(backend):
        return None
    if backend.builtin:
        return "the exact procedures of this package read claims, not SMT-LIB scripts"
    return "it cannot read an SMT-LIB script"


def run_script(backend: Backend, text: str, options: Mapping[str, str]) -> str | Open:
    """Returns what a backend prints about a script, or why that does not count.

    Raises:
        InputError: the backend cannot run scripts.
    """
    runner = script_runner(backend)
    if runner is None:
        raise InputError(f"{backend.name}: {why_not(backend)}")
    called: Callable[[str], str] = getattr(backend, "script_option", str)
    return runner(
        "".join(f"(set-option :{called(name)} {value})\n" for name, value in options.items()) + text
    )


def script_attempt(backend: str, text: str, symbols: str = "") -> Attempt:
    """Returns the attempt of a backend on a script with one question.

    `symbols` are those, separated by blanks, whose values are asked for where it says sat.
    """
    options = {"backend": backend, "script": text, "symbols": symbols}
    return Attempt(f"{__name__}:SCRIPT_TRIAL", NO_CLAIM, options)


@dataclass(frozen=True)
class ScriptTrial:
    """Runs an SMT-LIB script with one backend; options `backend`, `script`, its text, and `symbols`.

    `Proved` stands for unsat and `Refuted` for sat, in the solver's own word and nothing more. The transcript
    of `Refuted` is `sat`, and the values of the symbols where some were asked for and came.
    """

    name: str = "script-trial"
    builtin: bool = False
    description: str = "an SMT-LIB script as it is"
    install: str = ""
    abilities: frozenset[Ability] = DECIDES

    def version(self) -> str | None:
        """Returns the version of this package."""
        return __version__

    def decide(self, claim: Claim, options: Mapping[str, str]) -> Answer:
        """Runs the script; the claim is `NO_CLAIM`."""
        del claim
        backend, text = resolve(options["backend"]), options["script"]
        own = settings(backend, {}, options["backend"])
        output = run_script(backend, text, own)
        if isinstance(output, Open):
            return output
        word = output.strip()
        if word not in ANSWERS:
            return Open(End.GAVE_UP, "its output is not one answer of SMT-LIB", output)
        if word == "unknown":
            return Open(End.GAVE_UP, "unknown", output)
        if word == "unsat":
            return Proved(transcript=output)
        symbols = options.get("symbols", "")
        if symbols:
            again = run_script(backend, f"{MODELS}{text}(get-value ({symbols}))\n", own)
            if isinstance(again, str) and again.split(maxsplit=1)[:1] == ["sat"]:
                output = again
        return Refuted({}, output)


SCRIPT_TRIAL = ScriptTrial()


CVC5 = re.compile(r"\(_ real_algebraic_number <([^,<>]*), \(([^,()]*), ([^,()]*)\)>\)")
CVC5_TERM = re.compile(r"\s*\(?\s*(-?\d*)\s*\*?\s*(-?x)?(?:\^(\d+))?\s*\)?\s*\Z")
NUMERAL = re.compile(r"(-?)(\d+(?:\.\d+)?)(\??)\Z")
MAX_DEGREE = 200
MAX_POINTS = 200
NEAR = Fraction(1, 10_000)  # how far, relative to its size, a rounded number may be from what it stands for


@dataclass(frozen=True)
class Rounded:
    """A number of which a decimal near it is known."""

    near: Fraction


Value = Number | Rounded | bool


def read_model(text: str, symbols: Sequence[str]) -> dict[str, Value]:
    """Returns the values in the answer to `(get-value (symbols))`.

    Raises:
        ValueError: it is something else.
        LimitError: a polynomial of a very high degree.
    """
    roots: list[RealRoot] = []

    def kept(match: re.Match[str]) -> str:
        roots.append(_cvc5_root(*match.groups()))
        return f"(root-number {len(roots) - 1})"

    terms = smtlib_scripts.read(CVC5.sub(kept, text))
    if len(terms) != 1 or isinstance(terms[0], str):
        raise ValueError("not a list of symbols and values")
    if len(terms[0]) != len(symbols):
        raise ValueError("not one value for each constant")
    model: dict[str, Value] = {}
    # By their order: some solvers write other names than the script has.
    for symbol, pair in zip(symbols, terms[0], strict=True):
        if isinstance(pair, str) or len(pair) != 2:
            raise ValueError("not a list of symbols and values")
        model[symbol] = _value(pair[1], roots)
    return model


def _value(term: smtlib_scripts.Term, roots: Sequence[RealRoot]) -> Value:
    if term in ("true", "false"):
        return term == "true"
    if isinstance(term, str):
        match = NUMERAL.match(term)
        if not match:
            raise ValueError(f"not a number: {term[:40]!r}")
        value = decimal(match[2]) * (-1 if match[1] else 1)
        # Z3 writes 2.0 for 2; other decimals may be exact or rounded, and both are tried.
        whole = not match[3] and (value.denominator == 1)
        return value if whole else Rounded(value)
    head, *rest = term
    if head == "root-number" and len(rest) == 1:
        return roots[int(str(rest[0]))]
    if head == "root-obj" and len(rest) == 2 and isinstance(rest[1], str):
        return _root(_polynomial(rest[0]), int(rest[1]))
    parts = [_value(part, roots) for part in rest]
    if head == "-" and len(parts) == 1:
        return _negative(parts[0])
    numbers = [p.near if isinstance(p, Rounded) else p for p in parts]
    if head == "/" and len(numbers) == 2:
        top, bottom = numbers
        if isinstance(top, Fraction) and isinstance(bottom, Fraction) and bottom:
            return top / bottom
    raise ValueError("a value that is not a number")


def _negative(value: Value) -> Value:
    if isinstance(value, Rounded):
        return Rounded(-value.near)
    if isinstance(value, RealRoot):
        turned = fmpz_poly([c * (-1) ** k for k, c in enumerate(value.factor.coeffs())])
        return RealRoot(turned, value.multiplicity, -value.upper, -value.lower)
    if isinstance(value, bool):
        raise ValueError("a truth value has no sign")
    return -value


def _polynomial(term: smtlib_scripts.Term) -> fmpq_poly:
    """Returns a polynomial in x that Z3 wrote."""
    x = fmpq_poly([0, 1])
    if isinstance(term, str):
        return x if term == "x" else fmpq_poly([rational(decimal(term))])
    head, *rest = term
    if head == "^" and len(rest) == 2 and isinstance(rest[1], str):
        exponent = int(rest[1])
        if exponent > MAX_DEGREE:
            raise LimitError("an algebraic number of a very high degree")
        return _polynomial(rest[0]) ** exponent
    parts = [_polynomial(part) for part in rest]
    if not parts or head not in ("+", "-", "*"):
        raise ValueError("not a polynomial")
    found = parts[0]
    for part in parts[1:]:
        found = found + part if head == "+" else found - part if head == "-" else found * part
    return -found if head == "-" and len(parts) == 1 else found


def _whole(polynomial: fmpq_poly) -> fmpz_poly:
    if polynomial.degree() < 1:
        raise ValueError("a constant has no root")
    if polynomial.degree() > MAX_DEGREE:
        raise LimitError("an algebraic number of a very high degree")
    return polynomial.numer()


def _root(polynomial: fmpq_poly, number: int) -> RealRoot:
    """Returns the real root with this number, counted from 1 in ascending order."""
    found = all_roots(_whole(polynomial))
    if not 1 <= number <= len(found):
        raise ValueError("the polynomial has fewer real roots")
    return found[number - 1]


def all_roots(polynomial: fmpz_poly) -> list[RealRoot]:
    """Returns the real roots of a polynomial that is not constant, in ascending order, each once."""
    numbers = [abs(int(c)) for c in polynomial.coeffs()]
    bound = Fraction(1 + max(numbers) // numbers[-1] + 1)  # Cauchy's bound
    return isolate(polynomial, -bound, bound)


def _cvc5_root(polynomial: str, lower: str, upper: str) -> RealRoot:
    found = fmpq_poly([0])
    for part in re.split(r"\s\+\s", polynomial):
        match = CVC5_TERM.match(part)
        if not match or not (match[1] or match[2]):
            raise ValueError(f"not a polynomial: {polynomial[:60]!r}")
        digits, variable, power = match.groups()
        coefficient = int(digits) if digits not in ("", "-") else int(f"{digits}1")
        if variable and variable[0] == "-":
            coefficient = -coefficient
        exponent = int(power or 1) if variable else 0
        if exponent > MAX_DEGREE:
            raise LimitError("an algebraic number of a very high degree")
        found += fmpq_poly([0] * exponent + [coefficient])
    inside = isolate(_whole(found), Fraction(lower), Fraction(upper))
    if len(inside) != 1:
        raise ValueError("an interval around no root, or several")
    return inside[0]


def points(model: Mapping[str, Value], assertions: Sequence[ScriptTerm]) -> Iterator[ScriptPoint]:
    """Yields the points that a model may stand for; a model without rounded numbers stands for one."""
    truths = {name: value for name, value in model.items() if isinstance(value, bool)}
    exact: dict[str, Number] = {n: v for n, v in model.items() if isinstance(v, (Fraction, RealRoot))}
    rounded = {name: value.near for name, value in model.items() if isinstance(value, Rounded)}
    if not rounded:
        yield ScriptPoint(exact, truths)
        return
    nearby = _near(rounded, exact, assertions)
    for choice in islice(product(*nearby.values()), MAX_POINTS):
        yield ScriptPoint({**exact, **dict(zip(nearby, choice, strict=True))}, truths)


def _near(
    rounded: Mapping[str, Fraction], known: Mapping[str, Number], assertions: Sequence[ScriptTerm]
) -> dict[str, list[Number]]:
    """Returns for each rounded number what it may stand for: roots first, then rationals."""
    found: dict[str, list[Number]] = {name: [] for name in rounded}
    try:
        reading = Reading(assertions)
        cubes = reading.cubes()
    except (UnsupportedError, LimitError):
        cubes = ()
    if cubes:
        names = {own: symbol for symbol, own in reading.names.items()}
        at = {reading.names[n]: v for n, v in known.items() if isinstance(v, Fraction) and n in reading.names}
        literals = {name: literal for cube in cubes for name, literal in cube.literals.items()}
        for literal in literals.values():
            f = substitute(literal.polynomial, at)
            occurring = variables(f)
            if len(occurring) == 1 and names[occurring[0]] in rounded:
                symbol = names[occurring[0]]
                value = rounded[symbol]
                away = NEAR * max(Fraction(1), abs(value))
                found[symbol] += isolate(univariate(f), value - away, value + away)
    for name, value in rounded.items():
        found[name] = list({str(root): root for root in found[name]}.values())
        found[name].append(value)
        for bits in (8, 16, 32):
            step = Fraction(1, 2**bits)
            found[name].append(simplest_between(value - step, value + step))
    return found


FIRST = 2.0  # seconds for solvers before claims that are harder than the script
LEAST = 0.1  # seconds below which nothing is begun
WIDTH = 2  # solvers side by side
LONGEST = 200  # characters of one reason
NO_TIME = "the time limit was reached"

Truth = Callable[[ScriptPoint], bool | None]  # of the assertions of a question, at a point


@dataclass(frozen=True)
class Means:
    """What may be used for a question: the user's choice, the processes, and the moment at which it ends."""

    options: Options
    runner: Runner
    until: float

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.until - time.monotonic()

    def within(self, seconds: float) -> Means:
        """Returns the same with at most so many seconds from now."""
        return replace(self, until=min(self.until, time.monotonic() + seconds))

    def names(self) -> tuple[str, ...]:
        """Returns the backends of the strategy."""
        return tuple(dict.fromkeys(n for stage in self.options.strategy for n in stage.names()))

    def solvers(self) -> list[str]:
        """Returns those of them that read scripts and are installed."""
        found = [(name, resolve(name)) for name in self.names() if name != BUILT_IN]
        return [name for name, b in found if script_runner(b) and b.version() is not None]


@dataclass(frozen=True)
class _Cell:
    """A cube that is to be decided, with its claim; `point` gives the point of the script for one of that."""

    region: CubeClaim
    point: Callable[[Mapping[str, Fraction]], ScriptPoint]


def solution(question: SatisfiabilityQuestion, truth: Truth, means: Means) -> Answered:
    """Decides whether a question without universal quantifiers has a solution.

    Raises:
        DisagreementError: two programs contradict each other.
    """
    try:
        cells = _cells(question)
    except (UnsupportedError, LimitError) as error:
        return as_it_is(question, truth, means, f"no claims: {error}")
    work = _Work(question, truth, means, cells)
    asked = means.options
    steps: list[Callable[[], Answered | None]] = []
    if BUILT_IN in means.names() and asked.confirm == 1:
        steps.append(work.quickly)
    # Claims in which variables were moved, or that rest on equations, are harder than the script is.
    if not asked.evidence and any(
        cell.region.moved or is_constant(cell.region.claim.polynomial) for cell in cells
    ):
        steps.append(partial(work.by_solvers, FIRST))
    steps += [work.by_backends, partial(work.by_solvers, means.left)]
    for step in steps:
        found = step()
        if found is not None:
            return found
    reasons = dict.fromkeys(printable.name(reason, LONGEST) for reason in work.reasons if reason)
    end = End.TIMEOUT if means.left < LEAST or not reasons else work.end
    return Answered(Standing.UNKNOWN, end=end, reason="; ".join(reasons) or NO_TIME)


def claims_of(question: SatisfiabilityQuestion) -> list[Claim]:
    """Returns claims that all hold iff a question has no solution.

    Raises:
        UnsupportedError, LimitError: there are none.
    """
    return [cell.region.claim for cell in _cells(question)]


def _cells(question: SatisfiabilityQuestion) -> list[_Cell]:
    reading = Reading(question.assertions)
    symbols = {own: symbol for symbol, own in reading.names.items()}
    found: list[_Cell] = []
    for cube in reading.cubes():
        made = region(cube, reading.ring)
        if made is not None:
            found.append(_Cell(made, partial(_point, made, cube, symbols, question)))
    return found


def _point(
    made: CubeClaim,
    cube: Cube,
    symbols: Mapping[str, str],
    question: SatisfiabilityQuestion,
    at: Mapping[str, Fraction],
) -> ScriptPoint:
    numbers = {symbols[name]: value for name, value in made.lift(at).items()}
    # What occurs nowhere, or only where nothing depends on it, may have any value.
    return ScriptPoint(
        {**dict.fromkeys(question.reals, Fraction(0)), **numbers},
        {**dict.fromkeys(question.booleans, False), **cube.truths},
    )


@dataclass
class _Words:
    """What solvers have said of a script: the backend and what it printed; for unsat by program."""

    unsat: dict[str, tuple[str, str]] = field(default_factory=dict)
    sat: dict[str, str] = field(default_factory=dict)

    def check_agreement(self, said: str, by: str) -> None:
        """Checks that none of them says the other of sat and unsat.

        Raises:
            DisagreementError: one does.
        """
        for other, text in self.sat.items() if said == "unsat" else self.unsat.values():
            contrary = "sat" if said == "unsat" else "unsat"
            raise DisagreementError("the script", ((by, said, ""), (other, contrary, text)))


@dataclass
class _Work:
    """The cells of a question that are still open, and what is known."""

    question: SatisfiabilityQuestion
    truth: Truth
    means: Means
    waiting: list[_Cell]
    settled: Settled = ()
    end: End = End.GAVE_UP
    irrational: bool = False
    words: _Words = field(default_factory=_Words)

    def __post_init__(self) -> None:
        self.reasons: list[str] = []

    def quickly(self) -> Answered | None:
        """Lets the exact procedures look at each cell, with a small bound on their work.

        Where there are many cells, the others get half of the time.
        """
        part = self.means.within(self.means.left / 2)

        def decide(claim: Claim) -> Decision:
            started = time.monotonic()
            found = Decision(decide_exactly(claim, replace(QUICK)), BUILT_IN, VERSION)
            found = replace(found, seconds=time.monotonic() - started)
            if self.means.options.on_race:
                self.means.options.on_race(claim, [found])
            return found

        return self._each(decide, part)

    def by_backends(self) -> Answered | None:
        """Lets the backends race for each cell, with half of the time.

        Where a claim fails at irrational points alone, the other ones are nothing to wait for.
        """
        if self.irrational:
            return None
        part = self.means.within(self.means.left / 2 if self.means.solvers() else self.means.left)
        if part.left < LEAST:
            return None
        with Session(replace(part.options, seconds=part.left), part.runner) as session:
            return self._each(session.decide, part)

    def by_solvers(self, seconds: float) -> Answered | None:
        """Lets those solvers race that read the script as it is."""
        part = self.means.within(min(seconds, self.means.left))
        if not part.solvers() or part.left < LEAST:
            return None
        found = as_it_is(self.question, self.truth, part, words=self.words)
        if found.standing is not Standing.UNKNOWN:
            return found
        self.reasons.append(found.reason)
        self.end = found.end
        return None

    def _each(self, decide: Callable[[Claim], Decision], means: Means) -> Answered | None:
        left: list[_Cell] = []
        for cell in self.waiting:
            if means.left <= 0:
                self.end = End.TIMEOUT
                left.append(cell)
                continue
            made = decide(cell.region.claim)
            if isinstance(made.answer, Proved):
                self.settled += ((cell.region.claim, made),)
                continue
            if isinstance(made.answer, Refuted):
                point = cell.point(made.answer.point)
                if self.truth(point):
                    self.words.check_agreement("sat", made.backend)
                    return Answered(Standing.VIOLATED, point, found_by=(made.backend,))
            else:
                self.end = made.answer.end
                self.irrational = self.irrational or made.answer.detail == IRRATIONAL
                self.reasons.append(made.answer.detail)
            left.append(cell)
        self.waiting = left
        if left:
            return None
        words = (word for _, decision in self.settled for word in certificates.words(decision))
        solvers = tuple(dict.fromkeys(words))
        by = dict.fromkeys(d.backend for _, d in self.settled)
        if solvers:  # a certificate needs nobody's consent
            self.words.check_agreement("unsat", ", ".join(solvers))
        return Answered(Standing.HOLDS, settled=self.settled, solvers=solvers, found_by=tuple(by))


# --- solvers that read scripts --------------------------------------------------------------------------


def as_it_is(
    question: SatisfiabilityQuestion,
    truth: Truth,
    means: Means,
    reason: str = "",
    words: _Words | None = None,
) -> Answered:
    """Lets solvers race for the script itself; a sat counts where the assertions are true at its model.

    `words` are those of earlier races for it, and get those of this one.

    Raises:
        DisagreementError: a solver says unsat, and another one sat.
    """
    names = means.solvers()
    if not names:
        told = "none of the chosen backends reads scripts"
        return Answered(Standing.UNKNOWN, end=End.GAVE_UP, reason="; ".join(filter(None, (reason, told))))
    if means.left < LEAST:
        return Answered(Standing.UNKNOWN, end=End.TIMEOUT, reason=reason or NO_TIME)
    race = _Race(question, truth, means, words or _Words())
    symbols = " ".join(map(quoted, question.symbols))
    attempts = [script_attempt(name, question.script, symbols) for name in names]
    means.runner.warm(names)
    limits = AttemptLimits(means.left, means.options.memory)
    made = means.runner.race(attempts, limits, race.enough, WIDTH, turn=TURN, alone=ALONE)
    for decision in made:
        race.enough(decision)
    if means.options.on_race:
        means.options.on_race("the script as it is", [replace(d, backend=_asked(d)) for d in made])
    return race.result(reason)


def _asked(decision: Decision) -> str:
    """Returns the backend that an attempt on a script asked."""
    return decision.options.get("backend", decision.backend)


class _Race:
    """What solvers say of a script, as they come."""

    def __init__(self, question: SatisfiabilityQuestion, truth: Truth, means: Means, words: _Words) -> None:
        self.question, self.truth = question, truth
        self.confirm = means.options.confirm
        self.certified = means.options.require_certificates
        self.seen: set[int] = set()
        self.unsat, self.said_sat = words.unsat, words.sat
        self.point: tuple[ScriptPoint, str] | None = None
        self.open: list[tuple[End, str]] = []

    def enough(self, decision: Decision) -> bool:
        """Takes a decision, once; tells whether the race is over."""
        if id(decision) not in self.seen:
            self.seen.add(id(decision))
            self._take(decision)
        return self.point is not None or len(self.unsat) >= self.confirm

    def _take(self, decision: Decision) -> None:
        name, said = _asked(decision), decision.answer
        if isinstance(said, Proved):
            self.unsat.setdefault(program(name), (name, said.transcript))
        elif isinstance(said, Refuted):
            self.said_sat[name] = said.transcript
            reason = self._evaluated(name, said.transcript)
            if reason:
                self.open.append((End.GAVE_UP, f"{name} says sat: {reason}"))
        elif said.end is not End.INTERRUPTED:
            self.open.append((said.end, f"{name}: {said.detail or said.end.value}"))

    def _evaluated(self, name: str, transcript: str) -> str:
        """Evaluates the assertions at a model; returns why it is none, "" where it is one."""
        answer = transcript.strip().removeprefix("sat").strip()
        if not answer and self.question.symbols:
            return "it returned no model"
        try:
            model = read_model(answer, self.question.symbols) if answer else {}
            unknown = False
            for point in points(model, self.question.assertions):
                value = self.truth(point)
                if value:
                    self.point = point, name
                    return ""
                unknown = unknown or value is None
        except (ValueError, LimitError) as error:
            return f"its model cannot be read ({error})"
        return (
            "its model cannot be evaluated exactly"
            if unknown
            else "its model is not a solution when it is evaluated exactly"
        )

    def result(self, reason: str) -> Answered:
        """Returns what the race says in the end."""
        if self.unsat and self.said_sat:
            (name, text), (other, sat) = next(iter(self.unsat.values())), next(iter(self.said_sat.items()))
            raise DisagreementError("the script", ((name, "unsat", text), (other, "sat", sat)))
        if self.point is not None:
            return Answered(Standing.VIOLATED, self.point[0], found_by=(self.point[1],))
        names = tuple(name for name, _ in self.unsat.values())
        told = [text for _, text in self.open]
        if names and self.certified:
            told.append(f"unsat on the word of {', '.join(names)}, but a certificate is required")
        elif len(names) >= self.confirm:
            return Answered(Standing.HOLDS, solvers=names, found_by=names)
        elif names:
            told.append(f"unsat by {', '.join(names)} only, {self.confirm} different programs are required")
        ends = [end for end, _ in self.open]
        end = End.TIMEOUT if End.TIMEOUT in ends else ends[0] if ends else End.GAVE_UP
        return Answered(Standing.UNKNOWN, end=end, reason="; ".join(filter(None, (reason, *told))))
