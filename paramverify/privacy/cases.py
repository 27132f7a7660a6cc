"""Case files: what the user believes, what must stay secret, and what is released.

A case file is TOML. It says everything that the user must say and nothing that can be derived: the attacker's
prior and the secrets, the mechanism, the budget. `load` reads it into a `Case` with its `Model`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from paramverify import printable
from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.expressions import Expression, Value, evaluate
from paramverify.algebra.polynomials import (
    Polynomial,
    RationalFunction,
    constant_value,
    exponents,
    value_at,
    variables,
)
from paramverify.algebra.signs import Sign, sign_on
from paramverify.claims import Claim
from paramverify.errors import CaseError, located
from paramverify.models.context import Checks, Obligation, check_domain, is_somewhere_positive
from paramverify.models.definitions import Definitions, read_files, unknown_table
from paramverify.models.design import Design, read_design
from paramverify.models.hmm import HMM
from paramverify.models.inequality import Inequality
from paramverify.models.kinds import AnyModel
from paramverify.models.mechanisms import Input, Mechanism, known_input, read_mechanism, show_input
from paramverify.models.mechanisms.hmm import Explicit, read_row
from paramverify.models.model import Model
from paramverify.models.neighbourhoods import Neighbourhood, unformed
from paramverify.models.parameters import read_domain, without_interval
from paramverify.models.priors import (
    DISTRIBUTIONS,
    InitialDistribution,
    Prior,
    SecretPair,
    check_labels,
    read_prior,
)
from paramverify.tables import Table, all_expressions, check_name, is_decimal, read_toml

MAX_LENGTH = 100_000
PRIVACY = ("prior", "mechanism", "secrets", "neighbours", "privacy")
TABLES = ["parameters", *PRIVACY, "quantify", "design", "define", "claim", "expect"]


@dataclass(frozen=True, eq=False)
class Case:
    """A case file that was read: its model, and the words around it.

    `digest` is the SHA-256 of the file, which ties evidence to it; where the case names other files, it is
    that of all their digests. `expect` is the file's own expectation, `budget` its budget or claim in words.
    `free` are the parameters on which a condition is asked for, where `[quantify]` names the others.
    `design` are the parameters that are to be chosen.
    """

    path: str
    digest: str
    title: str
    source: str
    budget: str
    model: AnyModel
    expect: Mapping[str, Any] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    design: Design | None = None


def load(path: str | PathLike[str]) -> Case:
    """Reads a case file.

    Raises:
        InputError: any mistake in the file, with file, key and reason.
        LimitError: a model larger than the bounds of this package.
    """
    file = Path(path)
    data, digest = read_toml(file)
    with located(file=str(path)):
        if "system" in data:
            raise CaseError("this is an interactive system: use `paramverify interactive`", key="system")
        if ("model" in data or "states" in data) and "mechanism" not in data:
            raise CaseError("this is a chain with formulas: use `paramverify logic`", key="model")
        return _Reader(Table(data), str(path), digest).case()


class _Reader:
    """Reads the tables of one case in the order in which they build on each other."""

    def __init__(self, top: Table, path: str, digest: str) -> None:
        self.top = top
        self.path = path
        self.digest = digest
        self.notes: list[str] = []
        self.stands_for: Neighbourhood | None = None
        self.doubtful: list[Obligation] = []

    def case(self) -> Case:
        title = self.top.text("title", "")
        source = self.top.text("source", "")
        expect = self.top.table("expect").data if "expect" in self.top else {}
        for name, value in self.top.data.items():
            if isinstance(value, dict) and name not in TABLES:
                raise unknown_table(name, TABLES)
        if "claim" in self.top or "define" in self.top:
            claimed = self.inequality()
            free, design = self.free(), read_design(self.top)
            self.top.close()
            return Case(
                path=self.path,
                digest=self.digest,
                title=title,
                source=source,
                budget=claimed.text,
                model=claimed,
                expect=expect,
                free=free,
                design=design,
            )
        privacy = self.top.table("privacy")
        self.checks = Checks(read_domain(self.top, self.exponents(privacy), {}))
        free, design = self.free(), read_design(self.top)
        empty = check_domain(self.checks.domain)
        hmm, pairs = self.comparison()
        with located(key="privacy"):
            ratio, budget = self.ratio(privacy)
            lengths = read_lengths(privacy.get("length"))
            privacy.close()
        self.top.close()
        for pair in pairs:
            self.check_masses(pair)
        model = Model(
            domain=self.checks.domain,
            hmm=hmm,
            pairs=tuple(pairs),
            ratio=ratio,
            lengths=lengths,
            obligations=tuple(self.checks.obligations),
            notes=tuple(dict.fromkeys([*self.notes, *self.checks.notes])),
            maybe_empty=empty,
            stands_for=self.stands_for,
            maybe_impossible=tuple(self.doubtful),
        )
        return Case(
            path=self.path,
            digest=self.digest,
            title=title,
            source=source,
            budget=budget,
            model=model,
            expect=expect,
            free=free,
            design=design,
        )

    def exponents(self, privacy: Table | None = None) -> list[Fraction]:
        """Returns the arguments of every `exp` of the case."""
        words = {k: v for k, v in self.top.data.items() if k not in ("title", "source", "expect")}
        used = exponents(list(all_expressions(words)))
        if privacy and "epsilon" in privacy:
            with located(key="privacy"):
                used.append(read_epsilon(privacy.expression("epsilon")).rational)
        return used

    def inequality(self) -> Inequality:
        """Reads a case of an inequality of its own: `[define]` and `[claim]`."""
        for name in PRIVACY:
            if name in self.top:
                raise CaseError("give either [claim], or [mechanism] and [privacy]", key=name)
        define = self.top.table("define") if "define" in self.top else Table({})
        if "claim" not in self.top:
            raise CaseError('[define] needs a [claim], such as holds = "f <= 1/2"')
        claim = self.top.table("claim")
        files = read_files(define, Path(self.path).parent)
        if files:
            parts = [self.digest, *(file.digest for file in files.values())]
            self.digest = hashlib.sha256(" ".join(parts).encode()).hexdigest()
        self.checks = Checks(read_domain(self.top, self.exponents(), files))
        empty = check_domain(self.checks.domain)
        functions = Definitions(self.checks)
        functions.read(define, files)
        with located(key="claim"):
            comparisons = tuple(functions.comparisons(claim))
            claim.close()
        return Inequality(
            self.checks.domain,
            comparisons,
            definitions=functions.functions,
            text=" and ".join(dict.fromkeys(c.text for c in comparisons)),
            obligations=tuple(self.checks.obligations),
            notes=tuple(without_interval(files, self.top.data.get("parameters", {}))),
            maybe_empty=empty,
        )

    def free(self) -> tuple[str, ...]:
        """Reads `[quantify]`: the parameters that it does not name are left free."""
        if "quantify" not in self.top:
            return ()
        with self.top.within("quantify") as table:
            names = table.texts("forall")
            table.close()
            for name in names:
                if name not in self.checks.ring.parameters:
                    raise CaseError(f"{name!r} is not a parameter", key="forall")
            free = tuple(n for n in self.checks.ring.parameters if n not in names)
            if not free:
                raise CaseError("no parameter is left free; leave [quantify] out", key="forall")
            return free

    def comparison(self) -> tuple[HMM, list[SecretPair]]:
        """Reads what is compared: neighbouring inputs, or secrets under a prior."""
        with self.top.within("mechanism") as made:
            mechanism = read_mechanism(made, self.checks)
        if "neighbours" in self.top:
            if "prior" in self.top or "secrets" in self.top:
                raise CaseError("give either [neighbours], or [prior] and [secrets]", key="neighbours")
            if mechanism.queries:
                raise CaseError("[neighbours] needs the number of queries, not expressions", key="mechanism")
            with self.top.within("neighbours") as table:
                many = unformed(mechanism, table)
                if many:
                    table.close()
                    return self.worst(many)
                hmm, pairs = mechanism.neighbours(table)
                table.close()
                if not pairs:
                    raise CaseError("there are no neighbouring inputs")
                return hmm, pairs
        if isinstance(mechanism, Explicit) and not mechanism.queries:
            return mechanism.model, self.explicit_pairs(mechanism)
        return self.secret_pairs(mechanism)

    def worst(self, around: Neighbourhood) -> tuple[HMM, list[SecretPair]]:
        """Returns the model of the pair of neighbours that stands for all."""
        self.stands_for = around
        left, right = around.worst_pair()
        self.notes.append(
            f"{show_input(left)} against {show_input(right)} has the largest ratio of all neighbours "
            f"({around.pairs:,} ordered pairs), and stands for them"
        )
        return around.compare(left, right)

    def secret_pairs(self, mechanism: Mechanism) -> tuple[HMM, list[SecretPair]]:
        """Conditions the prior on each secret, and carries it through the queries."""
        if not mechanism.queries:
            raise CaseError("the query expressions are missing: what is it applied to?", key="mechanism")
        with self.top.within("prior") as belief:
            prior = read_prior(belief, self.checks)
        table = self.top.table("secrets")
        with located(key="secrets"):
            wanted = _pairs(table)
            names = list(dict.fromkeys(name for pair in wanted for name in pair))
            conditioned: dict[str, Prior] = {}
            for name in names:
                if name not in table:
                    known = ", ".join(printable.name(k) for k in table.data if k != "pairs")
                    raise CaseError(f"{name!r} is not one of the secrets: {known}", key="pairs")
                secret = table.expression(name)
                with located(key=name):
                    conditioned[name] = prior.where(secret)
            _close_secrets(table)
        weights = {name: answers_given(given, mechanism) for name, given in conditioned.items()}
        inputs = list(dict.fromkeys(given for answers in weights.values() for given in answers))
        hmm, starts = mechanism.build(inputs)
        start = dict(zip(inputs, starts, strict=True))
        priors = {name: _mixture(answers, start, self.checks) for name, answers in weights.items()}
        return hmm, [SecretPair(a, b, priors[a], priors[b]) for a, b in wanted]

    def explicit_pairs(self, mechanism: Explicit) -> list[SecretPair]:
        """Reads `[prior.NAME]`: initial distributions written out state by state."""
        priors: dict[str, InitialDistribution] = {}
        with self.top.within("prior") as table:
            for name in table:
                row = table.get(name)
                if not isinstance(row, dict) or row.keys() & set(DISTRIBUTIONS) - set(mechanism.model.states):
                    reason = "start is missing: the expression over [prior] that names the initial state"
                    raise CaseError(f"{reason}; or [prior.{name}] gives each state a probability", key=name)
                with table.within(name) as entries:
                    row = read_row(entries, mechanism.model.states, self.checks)
                    self.checks.distribution(row, "this distribution")
                    numbered = {mechanism.model.states.index(s): p for s, p in row.items()}
                    priors[name] = InitialDistribution.of(numbered, self.checks)
        table = self.top.table("secrets")
        with located(key="secrets"):
            wanted = _pairs(table)
            table.close()
            for name in (name for pair in wanted for name in pair):
                if name not in priors:
                    raise CaseError(f"{name!r} is not one of {', '.join(priors)}", key="pairs")
        return [SecretPair(a, b, priors[a], priors[b]) for a, b in wanted]

    def ratio(self, privacy: Table) -> tuple[RationalFunction, str]:
        """Reads the bound on the ratio, positive on the whole domain."""
        if ("epsilon" in privacy) == ("ratio" in privacy):
            raise CaseError(f"give either epsilon or ratio{privacy.hint('epsilon', 'ratio')}")
        name = "epsilon" if "epsilon" in privacy else "ratio"
        expression = privacy.expression(name)
        with located(key=name):
            if name == "epsilon":
                budget = read_epsilon(expression)
                ratio = budget.ratio(self.checks.ring, self.checks.function)
            else:
                ratio = self.checks.function(expression)
            denominator = self.checks.positive(ratio.denominator, "the denominator of the ratio bound")
            numerator = ratio.numerator if denominator == ratio.denominator else -ratio.numerator
            if not numerator or self.checks.positive(numerator, "the ratio bound") != numerator:
                raise CaseError("the ratio bound e^epsilon must be positive")
            if sign_on(numerator - denominator, self.checks.domain) is Sign.NEGATIVE:
                raise CaseError("the ratio bound e^epsilon is below 1, so epsilon would be negative")
            return RationalFunction(numerator, denominator), f"{name} = {expression.text}"

    def check_masses(self, pair: SecretPair) -> None:
        """Refuses secrets that are impossible everywhere; says where they are impossible somewhere."""
        for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
            sign = sign_on(start.mass, self.checks.domain)
            never = f"the secret {name!r} has probability zero for every prior"
            possible = sign is Sign.POSITIVE or is_somewhere_positive(start.mass, self.checks.domain)
            if possible is False:
                raise CaseError(never, key="secrets")
            if possible is None:
                self.doubtful.append(Obligation(Claim(-start.mass, self.checks.domain), never))
            if sign is not Sign.POSITIVE:
                doubtful = [
                    _zeros(factor)
                    for factor, _ in start.mass.factor()[1]
                    if sign_on(factor, self.checks.domain) not in (Sign.POSITIVE, Sign.NEGATIVE)
                ]
                if doubtful:
                    self.notes.append(
                        f"priors with {' or '.join(doubtful)} are excluded: there {name!r} has probability "
                        "zero, and privacy says nothing"
                    )


def _pairs(table: Table) -> list[tuple[str, str]]:
    pairs = table.need("pairs")
    if not isinstance(pairs, list) or not pairs:
        raise CaseError("a list of pairs of secrets is needed here", key="pairs")
    found: list[tuple[str, str]] = []
    for k, pair in enumerate(pairs):
        with located(key=f"pairs[{k}]"):
            if not (
                isinstance(pair, list)
                and len(pair) == 2
                and all(isinstance(n, str) and not is_decimal(n) for n in pair)
            ):
                raise CaseError("a pair of two names is needed here")
            if pair[0] == pair[1]:
                raise CaseError("a secret cannot be compared with itself")
            found.append((pair[0], pair[1]))
    return found


def _zeros(factor: Polynomial) -> str:
    """Returns where an irreducible polynomial vanishes, in words: `p = 1`, or `p + q - 1 = 0`."""
    names = variables(factor)
    if len(names) == 1 and factor.total_degree() == 1:
        slope = constant_value(factor.derivative(names[0]))
        at_zero = value_at(factor, {name: Fraction(0) for name in map(str, factor.context().names())})
        return f"{names[0]} = {-at_zero / slope}"
    return f"{factor} = 0"


def _close_secrets(table: Table) -> None:
    """Checks that every secret, also one that no pair uses, is at least an expression."""
    for name in table:
        if name != "pairs":
            check_name(name)
            table.expression(name)


def answers_given(prior: Prior, mechanism: Mechanism) -> dict[Input, RationalFunction]:
    """Returns the weight of each combination of answers under a prior, conditioned or not."""
    found: dict[Input, RationalFunction] = {}
    named: dict[Input, Input] = {}
    for query in mechanism.queries:
        with located(key="mechanism"):
            check_labels(query, prior.values)
    for assignment, weight in prior.assignments():
        if not weight.numerator:
            continue
        with located(key="mechanism"):
            answers = tuple(_as_answer(q, assignment) for q in mechanism.queries)
            if answers not in named:
                named[answers] = known_input(answers, mechanism.answers)
        given = named[answers]
        found[given] = found[given] + weight if given in found else weight
    return found


def _as_answer(query: Expression, assignment: Mapping[str, Value]) -> Value:
    value = evaluate(query, assignment)
    return Fraction(value) if isinstance(value, bool) else value


def _mixture(
    answers: Mapping[Input, RationalFunction], start: Mapping[Input, InitialDistribution], checks: Checks
) -> InitialDistribution:
    """Returns the initial distribution that mixes those of the inputs with the given weights."""
    mixed: dict[int, RationalFunction] = {}
    for given, weight in answers.items():
        inner = start[given]
        for state, share in inner.weights.items():
            part = weight * RationalFunction.of(share, inner.mass)
            mixed[state] = mixed[state] + part if state in mixed else part
    return InitialDistribution.of(mixed, checks)


def read_lengths(value: object) -> tuple[int, ...]:
    """Reads `length`: a number, a range such as `"1..15"`, or `"all"`, which gives no lengths; 1 by default.

    Raises:
        CaseError: anything else.
    """
    if value is None:
        return (1,)
    with located(key="length"):
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_LENGTH:
            return (value,)
        if value == "all":
            return ()
        match = (
            re.fullmatch(r"\s*([0-9]{1,6})\s*\.\.\s*([0-9]{1,6})\s*", value)
            if isinstance(value, str)
            else None
        )
        if match and 1 <= int(match.group(1)) <= int(match.group(2)) <= MAX_LENGTH:
            return tuple(range(int(match.group(1)), int(match.group(2)) + 1))
        reason = f'a number from 1 to {MAX_LENGTH}, a range such as "1..15", or "all" is needed here'
        raise CaseError(reason)
