"""`adopt`: any Python function or method as a mechanism, by running it on all its random choices."""

from __future__ import annotations

import ast
import inspect
import linecache
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

from flint import arb, ctx, fmpq

from paramverify import language
from paramverify.algebra.domains import Interval
from paramverify.algebra.expressions import parse
from paramverify.answers import Standing
from paramverify.api import agreement
from paramverify.api.agreement import Law, Point
from paramverify.api.cases import loads
from paramverify.api.decorated import OWN, Mechanism, Tables
from paramverify.api.leaks import function_run
from paramverify.api.source import WORDS, ProgramSource, SourceLine, case_text, library_name, refused
from paramverify.api.values import Number, document, intervals_of, table, whole
from paramverify.errors import InputError, LimitError, Mistakes, ProgramError, located
from paramverify.evidence.witnesses import ExactWitness
from paramverify.models.mechanisms import show_input
from paramverify.models.mechanisms._inputs import Anything, GivenInput, read_inputs
from paramverify.models.programs.program_reading import RESERVED, STREAM, read_program
from paramverify.models.programs.python_libraries import OURS
from paramverify.privacy.runs import FunctionRun
from paramverify.tables import Table, toml_data
from paramverify.tracing.calls import World, has_source
from paramverify.tracing.definitions import MISSING, Names
from paramverify.tracing.exploring import MOST_PLACES, Explored, Explorer, Tree, copied, with_sources
from paramverify.tracing.formulas import Floats, Formula, Real, Refused, Terms
from paramverify.tracing.native_runs import compare
from paramverify.tracing.refusals import refused_places
from paramverify.tracing.residual import NOISE, ProgramLine, leaves, program_of, with_origins
from paramverify.tracing.rewriting import definition_of
from paramverify.tracing.tracer import IMPORTED, Tracer

MOST_INPUTS = 5_000
MOST_BITS = 8192
MORE = f"only {MOST_PLACES} refused places are shown, and there may be more: change these first"
READING = (
    "the program has the law that the Python function {place} had when it was adopted, with real numbers in "
    "the place of random doubles, and {floats} in the place of floats"
)
FLOATS = {
    "decimal": "exact decimal numbers",
    "binary": "the binary fractions that they are, with exact arithmetic,",
}


class Signs:
    """Signs of formulas over the domain of the parameters; a sign that is not constant is refused."""

    def __init__(self, parameters: Tables, intervals: Mapping[str, Interval | None]) -> None:
        self.parameters = parameters
        self.intervals = intervals
        self.known: dict[str, int] = {}
        self.refused: dict[str, str] = {}

    def __call__(self, formula: Formula) -> int:
        """Returns 1, 0 or -1.

        Raises:
            Refused: the sign depends on the parameters, or was not found.
        """
        number = formula.number
        if number is not None:
            return (number > 0) - (number < 0)
        if formula.text in self.refused:
            raise Refused(self.refused[formula.text])
        if formula.text not in self.known:
            try:
                self.known[formula.text] = self._found(formula)
            except Refused as error:
                self.refused[formula.text] = error.reason
                raise
        return self.known[formula.text]

    def _found(self, formula: Formula) -> int:
        if not formula.names:
            return self._of_terms(formula.above) * self._of_terms(formula.below)
        if all(self._is_positive(name) for name in formula.names):
            above = {value > 0 for value in formula.above.values()}
            below = {value > 0 for value in formula.below.values()}
            if len(above) == len(below) == 1:
                return 1 if above == below else -1
        point = {name: self.inside(name) for name in formula.names}
        try:
            word = ">" if formula.value(point) > 0 else "<"
        except (OverflowError, ZeroDivisionError):
            word = ">"
        claim = f"{formula.text} {word} 0"
        text = document({"parameters": self.parameters, "claim": {"holds": claim}})
        try:
            status = loads(text).verify(timeout=10).status
        except (InputError, LimitError):
            status = Standing.UNKNOWN
        if status is Standing.HOLDS:
            return 1 if word == ">" else -1
        names = ", ".join(sorted(formula.names))
        reason = (
            f"the function compares {formula.text} with 0, and the answer depends on {names}: restrict the "
            "domain, so that the function takes the same way for all its values"
            if status is Standing.VIOLATED
            else f"the sign of {formula.text} was not found for all {names}"
        )
        raise Refused(reason)

    def _is_positive(self, name: str) -> bool:
        found = self.intervals.get(name)
        return found is None or found.lower > 0 or (found.lower == 0 and not found.lower_closed)

    def inside(self, name: str) -> float:
        """Returns a value of a parameter inside its domain."""
        found = self.intervals.get(name)
        return 1.0 if found is None else float(found.lower + found.upper) / 2

    @staticmethod
    def _of_terms(terms: Terms) -> int:
        """Returns the sign of a sum of rational multiples of exponentials, which is not zero by its terms."""
        before, bits = ctx.prec, 128
        try:
            while bits <= MOST_BITS:
                ctx.prec = bits
                total = arb(0)
                for (_, exponent), value in terms.items():
                    power = sum((q for _, q in exponent), Fraction(0))
                    part = arb(fmpq(power.numerator, power.denominator)).exp()
                    total += part * arb(fmpq(value.numerator, value.denominator))
                if total > 0 or total < 0:
                    return 1 if total > 0 else -1
                bits *= 2
        finally:
            ctx.prec = before
        raise Refused("the sign of a number was not found: it is too near to zero")


def adopt(
    function: Callable[..., Any],
    /,
    *,
    inputs: Tables,
    parameters: Tables | None = None,
    neighbours: Tables | None = None,
    epsilon: Number | None = None,
    ratio: Number | None = None,
    delta: Number | None = None,
    constants: Mapping[str, Any] | None = None,
    deterministic: Sequence[str] = (),
    floats: str = "decimal",
    title: str = "",
    samples: int = 0,
) -> Mechanism:
    """Returns a Python function, or a method of an object, as a mechanism, without changes to its source.

    CPython runs the function on each input and on every outcome of its random choices, so all constructs of
    Python mean what they mean there. Random functions of `random`, `secrets`, `numpy.random` and
    `scipy.stats` have their exact laws, in real numbers. What is found is a program (`to_toml`), which all
    other functions of paramverify are about.

    Args:
        function (function): A function of a file, or a bound method. It is run.
        inputs (dict): The inputs and their values, such as `{"x": {"values": [0, 1]}}`; each is an argument
            of the function. An input with a `length` is passed as a list.
        parameters (dict): The parameters and their domains, such as `{"epsilon": "(0, oo)"}`. Each is an
            argument of the function, or of the constructor of the method's object, which is then called
            again.
        neighbours (dict): Which inputs are neighbours; by default, any two that differ in one entry.
        epsilon (number or text): ε, such as 1 or `"epsilon"`.
        ratio (number or text): e^ε.
        delta (number or text): δ.
        constants (dict): Values of other arguments of the function.
        deterministic (list of text): Names of further modules whose functions always return the same for the
            same arguments.
        floats (text): How floats in the code are read: `"decimal"`, as the numbers that Python shows, so that
            0.1 is 1/10; or `"binary"`, as the binary fractions that they are. Arithmetic is exact either way.
        title (text): The title of the case.
        samples (int): Run the function itself so many times for each input, at up to three points of the
            parameters, and compare how often each output comes with its exact probability. A note of the
            case says what was compared.

    Returns:
        Mechanism: The mechanism.

    Raises:
        InputError: The function does something that is not supported; the message has its line and a mend.
            Or the runs contradict the probabilities, which happens by chance with a probability below 1e-9.

    Examples:
        >>> import random
        >>> import paramverify
        >>> def respond(truth: bool, epsilon):
        ...     import math
        ...     if random.random() < math.exp(epsilon) / (1 + math.exp(epsilon)):
        ...         return truth
        ...     return not truth
        >>> adopted = paramverify.adopt(
        ...     respond,
        ...     inputs={"truth": {"values": [0, 1]}},
        ...     parameters={"epsilon": "(0, oo)"},
        ...     epsilon="epsilon",
        ... )
        >>> adopted.verify().verdict
        'private'
    """
    bounds = {"epsilon": epsilon, "ratio": ratio, "delta": delta}
    tables: dict[str, Tables] = {
        "inputs": table("inputs", inputs),
        "privacy": {name: value for name, value in bounds.items() if value is not None},
    }
    if parameters:
        tables["parameters"] = table("parameters", parameters)
    if neighbours is not None:
        tables["neighbours"] = table("neighbours", neighbours)
    return adopted(function, tables, constants, deterministic, title, floats, whole("samples", samples, 0))


def adopted(
    function: Callable[..., Any],
    tables: Mapping[str, Tables],
    constants: Mapping[str, Any] | None = None,
    deterministic: Sequence[str] = (),
    title: str = "",
    floats: str = "decimal",
    samples: int = 0,
) -> Mechanism:
    """Does the same with the tables of a case file; see `adopt`."""
    found = dict(tables)
    if "neighbours" not in found:
        found["neighbours"] = _neighbours(found["inputs"])
    if floats not in FLOATS:
        words = " or ".join(f'"{word}"' for word in FLOATS)
        raise InputError(f'floats is "{floats}", which is no way to read them: write {words}', key="floats")
    with Floats.read_as(floats):
        adoption = _Adoption(function, found, dict(constants or {}), tuple(deterministic))
        return adoption.mechanism(title, samples)


def mechanism(
    function: None = None,
    /,
    *,
    inputs: Tables | None = None,
    parameters: Tables | None = None,
    neighbours: Tables | None = None,
    prior: Tables | None = None,
    secrets: Tables | None = None,
    epsilon: Number | None = None,
    ratio: Number | None = None,
    delta: Number | None = None,
    title: str = "",
) -> Callable[[Callable[..., Any]], Mechanism]:
    """Returns a decorator that makes a `Mechanism` of a function.

    The arguments are tables of a case file, as dictionaries. Each input is an argument of the function, and
    so is each parameter that the function reads. Give either `epsilon` or `ratio`. If the body is in the
    language of programs, the decorator reads its source and does not run it. Any other function is adopted,
    see `adopt`: it is run on each input and on every outcome of its random choices.

    Args:
        inputs (dict): The inputs and their values, such as `{"x": {"values": [0, 1]}}`.
        parameters (dict): The parameters and their domains, such as `{"p": "(0, 1)"}`.
        neighbours (dict): Which inputs are neighbours, such as `{"differ": "one"}`. Excludes `prior`.
        prior (dict): The prior of the inputs, for Pufferfish privacy. Needs `secrets`.
        secrets (dict): The secrets and their pairs.
        epsilon (number or text): ε, such as 1 or `"ln(2)"`.
        ratio (number or text): e^ε.
        delta (number or text): δ.
        title (text): The title of the case; by default the docstring of the function.

    Returns:
        The decorator.

    Raises:
        InputError: The inputs are missing. The decorator raises it if the function can be neither read nor
            adopted; it shows file, line and place.

    Examples:
        >>> import paramverify
        >>> from paramverify import flip
        >>> @paramverify.mechanism(
        ...     inputs={"x": {"values": [0, 1]}}, neighbours={"differ": "one"}, epsilon="ln(3)"
        ... )
        ... def survey(x):
        ...     if flip(3 / 4):
        ...         return x
        ...     return 1 - x
        >>> survey.verify().verdict
        'private'
    """
    if function is not None or inputs is None:
        what = "got no arguments" if function is not None else "has no inputs"
        example = 'inputs={"x": {"values": [0, 1]}}, neighbours={"differ": "one"}, epsilon=1'
        raise InputError(f"mechanism {what}: write, for example, @paramverify.mechanism({example})")
    bounds = {"epsilon": epsilon, "ratio": ratio, "delta": delta}
    bound = {name: value for name, value in bounds.items() if value is not None}
    tables = {
        "parameters": parameters,
        "prior": prior,
        "inputs": inputs,
        "neighbours": neighbours,
        "secrets": secrets,
        "privacy": bound,
    }

    def decorate(function: Callable[..., Any]) -> Mechanism:
        given = {k: table(k, t) for k, t in tables.items() if t is not None}
        try:
            return _decorated(function, given, title)
        except InputError as error:  # a mistake of the user, so the frames of paramverify explain nothing
            raise error.with_traceback(None) from None

    return decorate


def _decorated(function: Callable[..., Any], given: dict[str, Tables], title: str) -> Mechanism:
    """Reads a function as a program, or adopts it.

    Raises:
        InputError: neither is possible.
    """
    try:
        return Mechanism.of(function, given, title)
    except InputError as error:
        if "prior" in given or not isinstance(error, ProgramError):
            raise
        words = _words_of(function)
        if words & {"output", "stop", STREAM}:  # which only the language has
            raise
        reading = error
    try:
        adoption = _Adoption(function, {"neighbours": _neighbours(given["inputs"]), **given}, {}, ())
        return adoption.mechanism(title or inspect.getdoc(function) or "")
    except InputError:
        if words:  # the function was meant to be a program
            raise reading from None
        raise


def _words_of(function: Any) -> set[str]:
    """Returns the words of the language of programs that a function uses.

    These are what it has from paramverify, and words of the language that mean nothing in Python there.
    """
    tree = definition_of(function)
    names = Names(function, tree)
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name(name), word):
                module = names.meaning(name)
                found |= {word} if isinstance(module, ModuleType) and module.__name__ == OURS else set()
            case ast.Name(word) if names.meaning(word) is MISSING:
                found.add(word)
            case ast.Name(name):
                place, _, word = (library_name(names.meaning(name)) or "").rpartition(".")
                found |= {word} if place == language.__name__ else set()
    return found & {*WORDS, STREAM}


def _neighbours(inputs: Tables) -> dict[str, object]:
    """Returns the neighbours by default: one entry differs, of labels by any other one."""
    values = [found.get("values") for found in inputs.values() if isinstance(found, Mapping)]
    labels = any(isinstance(v, str) for given in values if isinstance(given, (list, tuple)) for v in given)
    return {"differ": "one", **({"by": "any"} if labels else {})}


class _Adoption:
    """One function that is being adopted."""

    def __init__(
        self,
        function: Callable[..., Any],
        tables: Mapping[str, Tables],
        constants: dict[str, Any],
        deterministic: Sequence[str],
    ) -> None:
        self.function = function
        self.tables = tables
        self.constants = constants
        self.world = World(deterministic)
        self.owner: Any = None
        self.plain: Any = function
        if isinstance(function, MethodType):
            self.owner, self.plain = function.__self__, function.__func__
        elif not isinstance(function, FunctionType):
            self.owner, self.plain = function, vars(type(function)).get("__call__")
        if not isinstance(self.plain, FunctionType):
            raise InputError(f"{function!r} is not a Python function: give a function or a method")
        code = self.plain.__code__
        for name in tables["inputs"]:
            if name in OWN:
                raise InputError(
                    f"every mechanism has an argument {name}: choose another name", key=f"inputs.{name}"
                )
        if not has_source(self.plain):
            reason = f"the source of {self.plain.__name__} cannot be read: define the function in a file"
            raise InputError(reason)
        self.place = f"{code.co_filename}:{self.plain.__qualname__}"
        self.signature = inspect.signature(function)
        parameters = tables.get("parameters", {})
        with located(key="parameters"):
            self.intervals = (
                intervals_of(Table(toml_data(document({"parameters": parameters})))) if parameters else {}
            )
        self.signs = Signs(parameters, self.intervals)
        with located(file=self.place, key="inputs"):
            data = toml_data(document({"inputs": dict(tables["inputs"])}))
            self.given: dict[str, GivenInput] = read_inputs(Table(data["inputs"]), list(parameters))
        self.inside = self._constructor() if self._others() else {}
        with located(file=self.place):
            self._check_arguments()

    def _others(self) -> list[str]:
        """Returns the parameters that are no arguments of the function."""
        return [n for n in self.intervals if n not in self.signature.parameters]

    def _constructor(self) -> dict[str, Any]:
        """Returns the arguments with which the object of the method is made again, without the parameters."""
        names = self._others()
        if self.owner is None or isinstance(self.owner, type):
            raise InputError(
                f"the function has no argument {names[0]}: add it, or remove this parameter", key=names[0]
            )
        kind = type(self.owner)
        found: dict[str, Any] = {}
        known = inspect.signature(kind).parameters
        for name in names:
            if name not in known:
                raise InputError(
                    f"neither {self.plain.__name__} nor {kind.__name__} has an argument {name}: add "
                    "it, or remove this parameter",
                    key=name,
                )
        for name, argument in known.items():
            if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD) or name in names:
                continue
            if hasattr(self.owner, name):
                found[name] = getattr(self.owner, name)
            elif argument.default is argument.empty:
                raise InputError(
                    f"{kind.__name__} needs the argument {name}, and its object has no attribute of this "
                    "name: write a function that makes the object and calls the method"
                )
        return found

    def mechanism(self, title: str, samples: int = 0) -> Mechanism:
        """Returns the mechanism; with `samples`, its law is compared with runs of the function."""
        with located(file=self.place):
            explorer = Explorer(self._start, self.signs, self.world)
            try:
                explored = self._explored(explorer)
                if samples:
                    agreement.check(explored, self.law, self.run, self._points(), samples)
            except Refused as error:
                raise self._mistakes([*(explorer.refused or [error])]) from None
            told = [explored.agreement.note()] if explored.agreement else []
            floats = FLOATS["binary" if Floats.binary else "decimal"]
            reading = READING.format(place=self.plain.__qualname__, floats=floats)
            notes = "; ".join([reading, *explored.notes, *told])
            title = title or f"{self.plain.__qualname__}, adopted from Python"
            found = self._made(self.tables, with_origins(explored.lines), title, notes)
        explored.adoption = self
        self.explored = explored
        found.explored = explored
        found.__dict__["__wrapped__"] = self.function
        return found

    def run_of(self, witness: ExactWitness) -> FunctionRun | None:
        """Returns the run behind a witness, in the user's own lines."""
        return function_run(self.explored, witness)

    def _made(self, tables: Mapping[str, Tables], text: str, title: str, notes: str = "") -> Mechanism:
        """Returns the mechanism of a program."""
        name = f"{self.place} (adopted)"
        lines = tuple(SourceLine(line, name, k + 1, 0) for k, line in enumerate(text.splitlines()))
        source = ProgramSource(
            lines, {name: text}, tuple(self.given), self.place, self._check_same, {}, origin=notes
        )
        made = {k: t for k, t in tables.items() if k != "parameters"}
        if self.intervals:
            made["parameters"] = tables["parameters"]
        toml = case_text(made, source, title)
        program = read_program(text, {})
        return Mechanism(
            source, program, self._shown_signature(), self.given, intervals=self.intervals, toml=toml
        )

    def law(self, trees: Mapping[tuple[Any, ...], Tree], points: Sequence[Point]) -> list[Law]:
        """Returns the exact probabilities of the outputs of trees at points, by input."""
        tables = {**self.tables, "privacy": {"ratio": 2}}  # any budget: nothing is proved
        made = self._made(tables, with_origins(self._program(trees)), "the outputs")
        names = {show_input(given): given for given in trees}
        laws: list[dict[str, dict[str, Any]]] = [made.probabilities(at=point) for point in points]
        return [
            {names[n]: {o: float(p) for o, p in shares.items()} for n, shares in law.items() if n in names}
            for law in laws
        ]

    def _points(self) -> list[Point]:
        """Returns up to three points of the domain."""
        found: list[Point] = []
        for share in (Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)):
            point = {
                name: share / (1 - share) if i is None else i.lower + (i.upper - i.lower) * share
                for name, i in self.intervals.items()
            }
            if point not in found:
                found.append(point)
        return found

    def _mistakes(self, refused: Sequence[Refused]) -> InputError:
        """Returns an error about what runs refused, and about other places that are refused besides.

        If runs refused the function as a whole, they came to its end, so that nothing else has to change.
        """
        found = list(refused)
        if all(error.line for error in found):
            kind = self.owner if isinstance(self.owner, type) else type(self.owner)
            found += refused_places(self.plain, None if self.owner is None else kind, self.world)
        places = {(error.file, error.line, error.reason): error for error in reversed(found)}
        ordered = sorted(places.values(), key=lambda error: (error.file, error.line))
        told = [self._at_home(error) for error in ordered[:MOST_PLACES]]
        if len(told) == 1:
            return told[0]
        return Mistakes(told, MORE if len(ordered) >= MOST_PLACES else "")

    def _at_home(self, error: Refused) -> InputError:
        """Returns an error with its place in the user's file."""
        lines = linecache.getlines(error.file) if error.file else []
        if not 0 < error.line <= len(lines):
            return InputError(error.reason, file=self.place)
        line = lines[error.line - 1]
        return refused(error.reason, error.file, "".join(lines), (error.line, len(line) - len(line.lstrip())))

    def _shown_signature(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(n, kind) for n in (*self.given, *self.intervals)])

    def _check_same(self) -> None:
        """Checks nothing: the program was made once, and is what is proved."""

    def _check_bound(self) -> None:
        """Raises an `InputError` if a bound names what is no parameter, so that no case could be read."""
        for key, value in self.tables["privacy"].items():
            names = parse(value).names() if isinstance(value, str) else ()
            unknown = next((name for name in names if name not in self.intervals), "")
            if unknown:
                mend = (
                    f'add --parameter "{unknown} = (0, oo)", in Python parameters={{"{unknown}": "(0, oo)"}}'
                )
                if unknown not in self.signature.parameters:
                    mend = "the function has no such argument, so write a number"
                raise InputError(f"{unknown} is not a parameter: {mend}", key=key)

    def _check_arguments(self) -> None:
        self._check_bound()
        arguments = self.signature.parameters
        for name, argument in arguments.items():
            if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD) and (
                name in self.given or name in self.intervals
            ):
                reason = f"the argument {name} has a star: write plain arguments only"
                raise self._at_home(
                    Refused(reason, self.plain.__code__.co_filename, definition_of(self.plain).lineno)
                )
        for name in (*self.given, *self.intervals):
            if NOISE.fullmatch(name):
                reason = f"{name} is a name that paramverify gives to noise: rename this argument"
                raise InputError(reason, key=name)
        for name in (*self.given, *self.constants):
            if name not in arguments:
                raise InputError(
                    f"the function has no argument {name}: add it, or remove this input", key=name
                )
            if name in RESERVED:
                raise InputError(
                    f"{name} is a word of the language of programs: rename this argument", key=name
                )
        for name, argument in arguments.items():
            given = name in self.given or name in self.intervals or name in self.constants
            if given or argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
                continue
            if argument.default is argument.empty and not self._is_generator(argument):
                raise InputError(
                    f"the function has the argument {name}: add it to inputs, parameters or constants",
                    key=name,
                )
        for name, found in self.given.items():
            if any(isinstance(a, Anything) for a in found.answers):
                raise InputError("an input needs values here, such as {'values': [0, 1]}", key=name)

    @staticmethod
    def _is_generator(argument: inspect.Parameter) -> bool:
        """Tells whether an argument is a generator of random numbers, by its annotation or its name."""
        annotation = str(argument.annotation)
        return any(
            word in annotation for word in ("Generator", "RandomState", "random.Random", "SystemRandom")
        ) or (argument.annotation is argument.empty and argument.name in ("rng", "random_state", "generator"))

    def _explored(self, explorer: Explorer) -> Explored:
        domains = [answers for found in self.given.values() for answers in found.answers]
        count = math.prod(map(len, domains))
        if count > MOST_INPUTS:
            raise InputError(
                f"there are {count:,} inputs: at most {MOST_INPUTS:,} are supported", key="inputs"
            )
        inputs = list(product(*domains))
        explored = explorer.all(inputs)
        point = {n: self.signs.inside(n) for n in self.intervals}
        compare(explored.trees, lambda given: self.run(given, point), point)
        explored.lines = self._program(explored.trees)
        kinds: dict[str, set[str]] = {}
        noisy = False
        for leaf in leaves(explored.trees.values()):
            noisy = noisy or leaf.noisy
            kinds.setdefault(leaf.text, set()).add(leaf.types)
        mixed = next((sorted(types) for types in kinds.values() if len(types) > 1), None)
        if mixed:
            raise Refused(
                f"equal outputs have different types, {' and '.join(mixed)}, which a reader can distinguish: "
                "return the same type in all runs"
            )
        return explored

    def _program(self, trees: Mapping[tuple[Any, ...], Tree]) -> list[ProgramLine]:
        """Returns the program of trees."""
        places: list[str] = []
        for name, found in self.given.items():
            places += [name] if found.length is None else [f"{name}[{k}]" for k in range(found.length)]
        shown = {given: tuple(map(_written, given)) for given in trees}
        return program_of(trees, places, shown, {*self.given, *self.intervals})

    def _start(
        self, tracer: Tracer, given: tuple[Any, ...]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """Returns the function with its arguments for one run."""
        world = self.world
        named: dict[str, Any] = {}
        entries = iter(given)
        for name, found in self.given.items():
            values = [self._python(next(entries), tracer, name) for _ in found.answers]
            named[name] = values[0] if found.length is None else self._listed(values, name)
        symbols = {n: Real(Formula.parameter(n), tracer.signs) for n in self.intervals}
        for name, interval in self.intervals.items():
            if interval is not None and interval.is_point:
                symbols[name] = tracer.real(interval.lower)
        named |= {n: s for n, s in symbols.items() if n in self.signature.parameters}
        constants = with_sources(dict(self.constants), tracer)
        named |= {name: world.inserted.source(value) for name, value in constants.items()}
        for name, argument in self.signature.parameters.items():
            if name not in named and argument.default is argument.empty and self._is_generator(argument):
                named[name] = self._generator(argument, tracer)
        function: Any = self.plain
        given_by_place, named = self._bound(named)
        if self.owner is None:
            return function, given_by_place, named
        world.state.see_class(self.owner if isinstance(self.owner, type) else type(self.owner))
        if not self.inside and not self._others():
            return function, (with_sources(self.owner, tracer), *given_by_place), named
        made = with_sources(self.inside, tracer) | {n: symbols[n] for n in self._others()}
        kind = type(self.owner)

        def again(*places: Any, **rest: Any) -> Any:
            owner = world.inserted.call(kind, **made)
            tracer.returned = None
            return world.inserted.call(function, owner, *places, **rest)

        return again, given_by_place, named

    def _bound(self, named: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns arguments as the function takes them: by their places, and by name."""
        order = {name: named[name] for name in self.signature.parameters if name in named}
        kinds = {p.kind for n, p in self.signature.parameters.items() if n in order}
        if inspect.Parameter.POSITIONAL_ONLY not in kinds:
            return (), order
        found = inspect.BoundArguments(self.signature, order)
        return found.args, dict(found.kwargs)

    def _named(self, given: tuple[Any, ...], point: Mapping[str, float]) -> dict[str, Any]:
        """Returns the arguments of the function at a point of the domain, without generators."""
        named: dict[str, Any] = {}
        entries = iter(given)
        for name, found in self.given.items():
            values = [self._plain(next(entries), name) for _ in found.answers]
            named[name] = values[0] if found.length is None else self._listed(values, name)
        arguments = self.signature.parameters
        return named | {n: value for n, value in point.items() if n in arguments} | self.constants

    def _missing(self, named: Mapping[str, Any]) -> list[inspect.Parameter]:
        """Returns the arguments that are generators of random numbers, and are not given."""
        return [
            argument
            for name, argument in self.signature.parameters.items()
            if name not in named and argument.default is argument.empty and self._is_generator(argument)
        ]

    def run(self, given: tuple[Any, ...], point: Mapping[str, Fraction | float]) -> Any:
        """Runs the function itself, with real random numbers, at a point of the domain."""
        numbers = {name: float(value) for name, value in point.items()}
        named = copied(self._named(given, numbers))
        named |= {argument.name: self._real_generator(argument) for argument in self._missing(named)}
        places, named = self._bound(named)
        if self.owner is None:
            return self.plain(*places, **named)
        owner = copied(self.owner)
        if self._others():
            owner = type(owner)(**copied(self.inside), **{n: numbers[n] for n in self._others()})
        return self.plain(owner, *places, **named)

    def call_texts(
        self, inputs: Sequence[tuple[Any, ...]], point: Mapping[str, float], seed: int
    ) -> tuple[str, str, list[str], list[str]]:
        """Returns calls of the function as texts: its module, its name there, lines before, and the calls.

        Raises:
            InputError: the function cannot be imported, or an argument has no text.
        """
        setting = []
        for argument in self._missing(self._named(inputs[0], point)):
            made = "random.Random" if self._is_pythons(argument) else "np.random.default_rng"
            setting.append(f"{argument.name} = {made}({seed})")
        function, called = self._reached(point)
        calls = []
        for given in inputs:
            texts = {name: _literal(value, name) for name, value in self._named(given, point).items()}
            texts |= {argument.name: argument.name for argument in self._missing(texts)}
            places, named = self._bound(texts)
            both = [*places, *(f"{name}={text}" for name, text in named.items())]
            call = f"{called}({', '.join(both)})"
            calls.append(f"list({call})" if inspect.isgeneratorfunction(self.plain) else call)
        module = self.plain.__module__
        if module == "__main__" or module.startswith(IMPORTED):
            module = Path(self.plain.__code__.co_filename).stem
        return module, function, setting, calls

    def _reached(self, point: Mapping[str, float]) -> tuple[str, str]:
        """Returns the name of the function in its module, and how it is called there."""
        known, name = self.plain.__globals__, self.plain.__qualname__
        kind = self.owner if isinstance(self.owner, type) else type(self.owner)
        if self.owner is not None and not self._others() and not isinstance(self.owner, type):
            found = next((n for n, value in known.items() if value is self.owner), None)
            if found is None:
                raise InputError("a test needs the object of this method: give it a name in its module")
            called = found if self.plain.__name__ == "__call__" else f"{found}.{self.plain.__name__}"
            return called, called
        if self.owner is not None:
            name = f"{kind.__qualname__}.{self.plain.__name__}"
        if name.partition(".")[0] not in known:
            raise InputError(f"a test imports the function, but {name} is not at the top of its module")
        if self.owner is not None and self._others():
            given = {**self.inside, **{n: point[n] for n in self._others()}}
            texts = ", ".join(f"{n}={_literal(value, n)}" for n, value in given.items())
            return name, f"{kind.__qualname__}({texts}).{self.plain.__name__}"
        decorated = isinstance(known[name.partition(".")[0]], Mechanism)
        return name, f"{name}.__wrapped__" if decorated else name

    def _plain(self, value: Any, name: str) -> Any:
        """Returns a value of an input as the function gets it from Python."""
        if isinstance(value, str):
            return value
        number = Fraction(value)
        word = self._annotation(name)
        if word == "bool" or "[bool" in word:
            return bool(number)
        fractional = word == "float" or "[float" in word or number.denominator > 1
        return float(number) if fractional else int(number)

    @staticmethod
    def _is_pythons(argument: inspect.Parameter) -> bool:
        """Tells whether a generator is one of the module `random`, and not of numpy."""
        return "random.Random" in str(argument.annotation) or "SystemRandom" in str(argument.annotation)

    def _real_generator(self, argument: inspect.Parameter) -> Any:
        import random

        import numpy as np

        return random.Random() if self._is_pythons(argument) else np.random.default_rng()

    @staticmethod
    def _generator(argument: inspect.Parameter, tracer: Tracer) -> Any:
        import random

        import numpy as np

        from paramverify.tracing.draw_laws import OF_NUMPY, OF_PYTHON, Source

        if _Adoption._is_pythons(argument):
            return Source(OF_PYTHON, random.Random, tracer)
        return Source(OF_NUMPY, np.random.Generator, tracer)

    def _annotation(self, name: str) -> str:
        found = self.signature.parameters[name].annotation
        return found if isinstance(found, str) else getattr(found, "__name__", str(found))

    def _python(self, value: Any, tracer: Tracer, name: str) -> Any:
        if isinstance(value, str):
            return value
        plain = self._plain(value, name)
        if not isinstance(plain, float):
            return plain
        return tracer.real(Floats.number(plain) if Floats.binary else Fraction(value))

    def _listed(self, values: list[Any], name: str) -> Any:
        word = self._annotation(name)
        if "ndarray" in word or "NDArray" in word:
            import numpy as np

            return np.array(values)
        return tuple(values) if word.lower().startswith("tuple") else values


def _literal(value: Any, name: str) -> str:
    """Returns an argument as Python writes it.

    Raises:
        InputError: it is no number, text or list.
    """
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return f"np.array({value.tolist()!r})"
    try:
        if ast.literal_eval(repr(value)) == value:
            return repr(value)
    except (ValueError, SyntaxError):
        pass
    raise InputError(
        f"a test cannot write the value of the argument {name}: give a default instead", key=name
    )


def _written(value: Any) -> str:
    if isinstance(value, str):
        return repr(value)
    number = Fraction(value)
    return str(number) if number.denominator == 1 else f"({number})"
