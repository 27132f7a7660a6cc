"""Case files of the logic: a model, who is whose neighbour, and formulas.

[model]
kind = "chain"                       # or "mdp"; or file = "model.prism"

[states]
plus = { labels = ["honest"], set = { r = 1 }, to = { yes = "3/4", no = "1/4" } }

[neighbours]
pairs = [["plus", "minus"]]          # or where = "abs(r - r') <= 1", or labels = ["honest"]

[formulas]
survey = "D{ln(3), 0}[ X out1 ]"
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.domains import Domain
from paramverify.algebra.expressions import Expression
from paramverify.algebra.polynomials import RationalFunction, exponents
from paramverify.algebra.signs import Sign, sign_on
from paramverify.errors import CaseError, InputError, ModelError, gathered, located
from paramverify.expectations import EXPECT_EACH, SOURCE, TITLE, read_expect_each
from paramverify.files import read_file
from paramverify.logic.formula_grammar import (
    conditions,
    read_predicate,
    read_property,
    read_stated,
    resolved_property,
    resolved_question,
)
from paramverify.logic.formula_syntax import Private, Probability, ProbabilityQuestion, Property, parts
from paramverify.logic.semantics import check_labels, real
from paramverify.models.chains.chain_tables import ACTIONS, ROW, STATES, read_states, states_section
from paramverify.models.chains.markov_chains import Chain
from paramverify.models.chains.prism_files import MAX_BYTES, Builder, read_prism, whole_constants
from paramverify.models.chains.state_relations import StateRelation, closed, labelled, where
from paramverify.models.context import Checks, Obligation, check_domain
from paramverify.models.names import explained
from paramverify.models.parameters import PARAMETERS, read_domain, unbounded_names
from paramverify.models.settings import Settings, set_outside, settled_digest, told, with_settings
from paramverify.processes.storm_build import MEMORY, build_apart
from paramverify.tables import (
    EXPRESSION,
    FILE,
    TEXT,
    TEXTS,
    Key,
    Listed,
    Section,
    Table,
    all_expressions,
    as_expression,
    at_least_one,
    at_most_one,
    by_name,
    needs,
    one_of,
    read_document,
)

MODEL = Section(
    "[model]",
    "The model.",
    (
        Key("kind", one_of("chain", "mdp"), "A Markov chain, or a decision process.", default="chain"),
        Key("initial", TEXTS, "The initial states; left out, every state."),
        Key("file", FILE, "A PRISM file, relative to the case file."),
        Key(
            "constants",
            by_name("[model.constants]", "Values of its constants.", EXPRESSION, "The value of a constant."),
            "Values for constants that the PRISM file leaves open.",
        ),
    ),
    rules=(at_most_one("kind", "file"), at_most_one("initial", "file"), needs("constants", "file")),
)
NEIGHBOURS = Section(
    "[neighbours]",
    "Which states are neighbours; by default, each state is a neighbour of itself only.",
    (
        Key(
            "pairs",
            Listed("a list of pairs of states", Listed("a pair of states", (TEXT, TEXT))),
            "Only these pairs of states.",
        ),
        Key(
            "where",
            TEXT,
            'Pairs of states whose variables satisfy this condition, such as "abs(r - r\') <= 1".',
        ),
        Key("labels", TEXTS, "States that share one of these labels."),
    ),
    rules=(at_most_one("pairs", "where", "labels"), at_least_one("pairs", "where", "labels")),
)
LOGIC = Section(
    "logic",
    "A chain or decision process with formulas.",
    (
        TITLE,
        SOURCE,
        Key("expect", EXPECT_EACH),
        Key("parameters", PARAMETERS),
        Key("model", MODEL),
        Key("states", STATES),
        Key("neighbours", NEIGHBOURS),
        Key(
            "formulas",
            by_name("[formulas]", "The claimed formulas of dpCTL*.", TEXT, "A formula, or a family."),
        ),
    ),
    rules=(at_least_one("states", "model"),),
    also={
        "if": {"required": ["model"], "properties": {"model": {"required": ["file"]}}},
        "then": {"not": {"required": ["states"]}},
        "else": {
            "required": ["states"],
            "if": {
                "required": ["model"],
                "properties": {"model": {"properties": {"kind": {"const": "mdp"}}, "required": ["kind"]}},
            },
            "then": {"properties": {"states": states_section(ACTIONS).schema()}},
            "else": {"properties": {"states": states_section(ROW).schema()}},
        },
    },
)


@dataclass(frozen=True, eq=False)
class LogicCase:
    """A model with its neighbourhood and properties; `expect` is the file's own expectation by property.

    `questions` come from the command line alone: a file claims its formulas.
    """

    path: str
    digest: str
    title: str
    chain: Chain
    relation: StateRelation
    properties: Mapping[str, Property]
    questions: Mapping[str, ProbabilityQuestion] = field(default_factory=dict)
    order: tuple[str, ...] = ()  # of properties and questions
    expect: Mapping[str, Any] = field(default_factory=dict)
    maybe_empty: Obligation | None = None
    text: str = field(default="", repr=False)  # of the file, for the lines of mistakes
    settings: Settings = field(default_factory=dict)  # of parameters that the file has

    @property
    def domain(self) -> Domain:
        """The parameter domain."""
        return self.chain.domain


TABLES = {"model", "states", "formulas"}  # one of them is in every case file
GIVEN = "property"  # how formulas of the command line are called


@dataclass(frozen=True)
class LogicOptions:
    """What the command line may say besides the file."""

    properties: tuple[str, ...] = ()
    where: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()  # on parameters, beside those of the file
    epsilons: tuple[str, ...] = ()  # for which a least delta is asked
    deltas: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)  # of parameters that the file has
    memory: int = MEMORY  # bytes that Storm may take to build a model

    def digest(self, file: str) -> str:
        """Returns the digest of a file with what takes the place of its parameters and constants."""
        more = {f"constant {name}": text for name, text in self.constants.items()}
        more |= {f"constraint {k}": text for k, text in enumerate(self.constraints)}
        return settled_digest(file, {**self.settings, **self.parameters, **more})


def load(path: Path, given: LogicOptions | None = None) -> LogicCase:
    """Reads a case file of any name, or a PRISM file with what the command line says about it.

    Raises:
        InputError: any mistake, with file, key and reason.
    """
    given = given or LogicOptions()
    if _is_case(path):
        document = read_document(path)
        data = document.data
        with document.errors(), set_outside(given.settings), explained(data):
            if {"mechanism", "claim", "automaton"} & data.keys():
                raise CaseError("this case has no formulas: use `paramverify verify`")
            if "system" in data and "states" not in data and "model" not in data:
                raise CaseError("this is an interactive system: use `paramverify interactive`", key="system")
            data = with_settings(data, given.settings)
            read = _read(Table(data, LOGIC), path, given.digest(document.digest), given)
            return replace(read, text=document.text)
    with located(file=str(path)):
        if given.settings:
            raise CaseError("-D is for case files; use --parameter and --constant", key="-D")
        content = read_file(path, MAX_BYTES, "a model", CaseError)
        table = Table({"model": {"file": path.name}}, LOGIC)
        digest = given.digest(hashlib.sha256(content).hexdigest())
        return _read(table, path, digest, given)


def _is_case(path: Path) -> bool:
    """Tells a case file from a PRISM file: by its name, or else by its tables."""
    if path.suffix == ".toml":
        return True
    with suppress(InputError, ValueError, RecursionError):  # a mistake is told where the file is read
        return bool(TABLES & tomllib.loads(read_file(path, MAX_BYTES, "a model").decode("utf-8-sig")).keys())
    return False


def _read(top: Table, path: Path, digest: str, given: LogicOptions) -> LogicCase:
    title = top.text("title", "")
    top.text("source", "")
    expect = read_expect_each(top)
    if given.properties:
        expect = {}
    if given.parameters or given.constraints:
        parameters = {**top.data.get("parameters", {}), **given.parameters}
        if given.constraints:
            parameters["constraints"] = [*parameters.get("constraints", []), *given.constraints]
        top.data = {**top.data, "parameters": parameters}
    with gathered() as each:
        stated: dict[str, Property | ProbabilityQuestion] = {}
        with each:
            stated = _stated(top, given, path)
        used = _exponents(top, stated, given)
        checks = Checks(read_domain(top, {"": used}, {}, each), mistakes=each)
        empty = check_domain(checks.domain)
        for known in ("model", "states", "neighbours"):
            top.get(known)
        with each:
            chain = _model(top, path, checks, given, conditions(f.formula for f in stated.values()))
        with each:
            top.close()
    relation = _relation(top, chain, given)
    relation = replace(relation, notes=(*told(given.settings), *relation.notes))
    with gathered() as each:
        for name, found in stated.items():
            with each, located(key=name if given.properties else f"formulas.{name}"):
                stated[name] = _resolved(found, chain)
                _check_formula(stated[name], chain, checks)
    for text in given.epsilons:
        _check_epsilon(as_expression(text), checks)
    for text in given.deltas:
        _check_delta(as_expression(text), checks)
    for name in expect:
        if name not in stated:
            raise CaseError("no such formula", key=f"expect.{name}")
    obligations = tuple(dict.fromkeys((*chain.obligations, *checks.obligations)))
    chain = replace(chain, obligations=obligations)
    return LogicCase(
        path=str(path),
        digest=digest,
        title=title,
        chain=chain,
        relation=relation,
        properties={name: found for name, found in stated.items() if isinstance(found, Property)},
        questions={name: found for name, found in stated.items() if isinstance(found, ProbabilityQuestion)},
        order=tuple(stated),
        expect=expect,
        maybe_empty=empty,
        settings=given.settings,
    )


def _resolved(found: Property | ProbabilityQuestion, chain: Chain) -> Property | ProbabilityQuestion:
    if isinstance(found, ProbabilityQuestion):
        return resolved_question(found, chain)
    return resolved_property(found, chain)


def _exponents(
    top: Table, properties: Mapping[str, Property | ProbabilityQuestion], given: LogicOptions
) -> list[Fraction]:
    """Returns the numbers in every `exp` of the case and of what the command line says."""
    for name in unbounded_names(top):
        reason = "a case with formulas needs finite ends here, not (0, oo)"
        mend = f"put a parameter x with the interval (0, 1) in the place of exp(-{name})"
        raise CaseError(reason, key=f"parameters.{name}", mend=mend)
    words = {k: v for k, v in top.data.items() if k in ("states", "parameters")}
    used = exponents([*all_expressions(words), *_expressions(properties)])[""]
    used += [read_epsilon(p.epsilon).rational for p in _privates(properties)]
    with located(key="epsilon"):
        used += [read_epsilon(as_expression(text)).rational for text in given.epsilons]
        used += exponents([as_expression(text) for text in (*given.epsilons, *given.deltas)])[""]
    return used


def _check_formula(found: Property | ProbabilityQuestion, chain: Chain, checks: Checks) -> None:
    check_labels(found.formula, chain)
    for part in parts(found.formula):
        if isinstance(part, Private):
            _check_schedulers(chain)
            _check_epsilon(part.epsilon, checks)
            _check_delta(part.delta, checks)
        elif isinstance(part, Probability):
            _check_share(part.bound, checks)


def _check_schedulers(chain: Chain) -> None:
    """Refuses D where query schedulers have no meaning: they choose an action and do not see the state."""
    if chain.unscheduled:
        raise ModelError(
            "D is about query schedulers. They choose an action without seeing the state, so every state "
            f"needs one choice for each action, or one choice in all; {chain.unscheduled}",
            mend="give the choices actions in the model, or ask for P, which needs no actions",
        )


def _stated(top: Table, given: LogicOptions, path: Path) -> dict[str, Property | ProbabilityQuestion]:
    found: dict[str, Property | ProbabilityQuestion] = {}
    numbers = partial(_numbers, top, given, path)
    if "formulas" in top:
        with top.within("formulas") as table, gathered() as each:
            for name in table:
                with each:
                    text = table.text(name)
                    with located(key=name):
                        found[name] = read_property(text, numbers)
    if given.properties:
        own, found = found.keys(), {}
        for number, text in enumerate(given.properties, start=1):
            name = GIVEN if len(given.properties) == 1 else f"{GIVEN} {number}"
            with located(file=f"--{name}"):  # it stands in no file, and has no line there
                found[_different(name, own)] = read_stated(text, numbers)
    if not found:
        raise CaseError("no formula is given: [formulas] in the file, or --property")
    return found


def _different(name: str, others: Collection[str]) -> str:
    while name in others:
        name = f"given {name}"
    return name


def _numbers(top: Table, given: LogicOptions, path: Path) -> Mapping[str, int]:
    """Returns the whole-number constants of a PRISM file, which may stand for numbers of steps."""
    model = top.data.get("model")
    name, own = (model.get("file"), model.get("constants")) if isinstance(model, dict) else (None, None)
    if not isinstance(name, str):
        return {}
    values = {str(n): str(v) for n, v in own.items()} if isinstance(own, dict) else {}
    with suppress(InputError):  # told where the model is read
        return whole_constants(path.parent / name, values | dict(given.constants))
    return {}


def _expressions(properties: Mapping[str, Property | ProbabilityQuestion]) -> Iterator[Expression]:
    for found in properties.values():
        for part in parts(found.formula):
            if isinstance(part, Probability):
                yield part.bound
            elif isinstance(part, Private):
                yield part.delta
                # What is inside of ln may have exp as well.
                yield from (
                    Expression(part.epsilon.text, e.root) for _, e in read_epsilon(part.epsilon).logarithms
                )


def _privates(properties: Mapping[str, Property | ProbabilityQuestion]) -> Iterator[Private]:
    for found in properties.values():
        yield from (part for part in parts(found.formula) if isinstance(part, Private))


def _check_epsilon(epsilon: Expression, checks: Checks) -> None:
    """Demands ε ≥ 0; with δ ≥ 0 every state may then be its own neighbour."""
    one = RationalFunction.of(checks.ring.number(1))
    with located(key=f"epsilon {epsilon.text!r}"):
        ratio = read_epsilon(epsilon).ratio(checks.ring, checks.function)
        checks.positive(ratio.denominator, f"the denominator of exp({epsilon.text})")
        above = ratio - one
        checks.nonnegative(above.numerator * above.denominator, "epsilon")


def _check_delta(expression: Expression, checks: Checks) -> None:
    """Demands δ ≥ 0."""
    with located(key=f"delta {expression.text!r}"):
        delta = checks.function(expression)
        checks.nonnegative(delta.numerator * delta.denominator, "delta")


def _check_share(expression: Expression, checks: Checks) -> None:
    """Refuses what P is compared with if it is below 0, or above 1, at every point of the domain.

    Where it is so at some points only, the formula is what it says: always true there, or always false.
    """
    bound = checks.function(expression)
    one = RationalFunction.of(checks.ring.number(1))
    for below, what in ((bound, "below 0"), (one - bound, "above 1")):
        if not checks.ring.parameters:
            negative = real(below, checks.ring).sign() < 0
        else:
            negative = sign_on(below.numerator * below.denominator, checks.domain) is Sign.NEGATIVE
        if negative:
            everywhere = checks.domain.told()
            where = f" for every {everywhere}" if everywhere else ""
            reason = f"a probability lies in 0..1, and {expression.text} is {what}{where}"
            raise CaseError(reason, key=f"P compared with {expression.text!r}")


def _builder(given: LogicOptions) -> Builder:
    return lambda request: build_apart(request, given.memory)


def _model(
    top: Table, path: Path, checks: Checks, given: LogicOptions, asked: Mapping[str, frozenset[str]]
) -> Chain:
    table = top.table("model") if "model" in top else Table({}, MODEL)
    with located(key="model"):
        constants = dict(given.constants)
        if "constants" in table:
            own = table.table("constants")
            constants = {name: str(own.get(name)) for name in own} | constants
        if "file" in table:
            name = table.path("file")
            table.close()
            chain = read_prism(path.parent / name, checks, constants, asked, _builder(given))
        else:
            if constants:
                raise CaseError("constants are for PRISM files", key="constants")
            process = table.choice("kind") == "mdp"
            initial = table.texts("initial") if "initial" in table else None
            table.close()
    if "file" in table:
        return chain
    states = top.table("states")
    with located(key="states"):
        return read_states(states, checks, process, initial)


def _relation(top: Table, chain: Chain, given: LogicOptions) -> StateRelation:
    if given.where is not None:
        if "neighbours" in top:
            top.get("neighbours")  # those of the command line take their place
        with located(key="--neighbours"):
            return closed(where(chain, read_predicate(given.where)))
    if "neighbours" not in top:
        return StateRelation(
            {}, ("no neighbourhood is given: every state is its own neighbour, and no other",)
        )
    with top.within("neighbours") as table:
        ways = [name for name in ("pairs", "where", "labels") if name in table]
        if len(ways) != 1:
            raise CaseError("give one of pairs, where and labels")
        found: list[tuple[int, int]] | Iterator[tuple[int, int]]
        predicate = table.text("where") if "where" in table else ""
        names = table.texts("labels") if "labels" in table else []
        with located(key=ways[0]):
            if ways[0] == "pairs":
                found = _pairs(table.get("pairs"), chain)
            elif ways[0] == "where":
                found = where(chain, read_predicate(predicate))
            else:
                for name in names:
                    if name not in chain.labels:
                        raise CaseError(f"no state has the label {name!r}")
                found = (pair for name in names for pair in labelled(chain, name))
            relation = closed(found)
        table.close()
        return relation


def _pairs(value: object, chain: Chain) -> list[tuple[int, int]]:
    index = {name: k for k, name in enumerate(chain.states)}
    if not isinstance(value, list):
        raise CaseError("a list of pairs of states is needed here")
    found: list[tuple[int, int]] = []
    for pair in value:
        if not (isinstance(pair, list) and len(pair) == 2 and all(str(name) in index for name in pair)):
            raise CaseError(f"{pair!r} is not a pair of states")
        found.append((index[str(pair[0])], index[str(pair[1])]))
    return found
