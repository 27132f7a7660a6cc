"""`mechanism`: a Python function as a mechanism that is proved, tested and sampled from one source."""

from __future__ import annotations

import hashlib
import inspect
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import update_wrapper
from pathlib import Path
from typing import Any, Unpack

from paramverify.algebra.domains import Interval, contains, in_words
from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.algebra.polynomials import RationalFunction
from paramverify.api.asking import budget_of, show_read, verify_read
from paramverify.api.options import Limits
from paramverify.api.reading import Bound, Kind, Read, read_already
from paramverify.api.results import BudgetReport, SampleReport, ShowReport, VerifyReport
from paramverify.api.source import Decorated, ProgramSource, case_text, source_of
from paramverify.api.values import (
    Number,
    between,
    complete,
    fraction,
    generator,
    intervals_of,
    point_at,
    python,
    table,
    whole,
)
from paramverify.encodings.sequences import probabilities
from paramverify.errors import InputError, ProgramError, located
from paramverify.evidence.told_witnesses import Witness
from paramverify.models.mechanisms._inputs import GivenInput, read_inputs
from paramverify.models.mechanisms.program import NumericProgram, ProgramMechanism
from paramverify.models.model import Model, of_privacy
from paramverify.models.model_evaluation import Values
from paramverify.models.parameters import unbounded_names
from paramverify.models.programs.program_syntax import Output, Program, every_statement
from paramverify.models.programs.run_states import Plain
from paramverify.models.programs.static_analysis import check_names, check_sharing
from paramverify.models.relations import InputPart
from paramverify.privacy.cases import PrivacyCase, read_case
from paramverify.privacy.runs import made_of_function
from paramverify.privacy.sides import with_note
from paramverify.reports import sampling_reports
from paramverify.statistics.audit import audit
from paramverify.statistics.black_boxes import BlackBoxSource, CaseInputs, DirectSource
from paramverify.statistics.samplers import Source as Sampled
from paramverify.statistics.samplers import chosen_points, experiments, length_of
from paramverify.statistics.sampling_runs import runs_of
from paramverify.tables import Table, TomlDocument, toml_data

Tables = Mapping[str, object]

METHODS = """Call it to draw one output. Its methods are verify, budget, probabilities, show, sample, audit,
leak_test, case and to_toml; help(paramverify.Mechanism) describes them."""
OWN = ("seed", "rng")  # arguments of each call


@dataclass(eq=False)
class Mechanism(Decorated):
    """A mechanism that was made from a Python function by the decorator `mechanism`.

    Call it with inputs and numbers for the parameters to draw one random output.

    Attributes:
        signature (inspect.Signature): The signature of the function.
    """

    source: ProgramSource
    program: Program
    signature: inspect.Signature
    given: Mapping[str, GivenInput]
    intervals: Mapping[str, Interval | None]  # of the parameters; None is (0, ∞)
    toml: str
    explored: Any = field(default=None, repr=False)  # how `adopt` read it
    _cases: dict[tuple[tuple[str, Fraction], ...], PrivacyCase] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(function: Callable[..., Any], tables: Mapping[str, Tables], title: str) -> Mechanism:
        """Reads a function in the language of programs, which is not run; see `mechanism`.

        Raises:
            InputError: it is not in the language, or a table has a mistake.
        """
        parameters = tables.get("parameters", {})
        source = source_of(function, [name for name in parameters if name != "constraints"])
        inputs = tables["inputs"]
        with located(file=source.place):
            try:
                toml = case_text(tables, source, title or inspect.getdoc(function) or "")
            except InputError as error:
                error.key = _argument(error.key)
                raise
            with located(key="inputs"):
                given = read_inputs(Table(toml_data(toml)["mechanism"]["inputs"]), list(parameters))
                _check_arguments(source.arguments, list(inputs), list(parameters))
            with located(key="parameters"):
                intervals = intervals_of(Table(toml_data(toml)))
        program = source.program()
        try:
            check_names(program, parameters)
            check_sharing(program, inputs)
        except ProgramError as error:
            raise source.at_home(error) from None
        signature = inspect.signature(function)
        found = Mechanism(source, program, signature, given, intervals=intervals, toml=toml)
        update_wrapper(found, function)
        found.__doc__ = "\n\n".join(filter(None, [inspect.getdoc(function), METHODS]))
        return found

    def __repr__(self) -> str:
        return f"<mechanism {self.source.place.rpartition(':')[2]}{self.signature}>"

    # --- the case --------------------------------------------------------------------------------------

    def to_toml(self) -> str:
        """Returns the case file of the mechanism. What is proved is what this text says."""
        return self.toml

    def case(self, at: Mapping[str, Number] | None = None) -> PrivacyCase:
        """Returns the internal case of the mechanism.

        Args:
            at (dict): Replace these parameters, which must have the domain (0, ∞), by numbers.

        Returns:
            object: The case, whose form may change with each version.

        Raises:
            InputError: The case has a mistake. A mistake in the program is shown in the Python file.
        """
        self.source.check_meanings()
        point = point_at(at)
        data = toml_data(self.toml)
        numbers = {name: point[name] for name in unbounded_names(Table(data)) if name in point}
        key = tuple(sorted(numbers.items()))
        if key not in self._cases:
            digest = hashlib.sha256(self.toml.encode()).hexdigest()
            with self._at_home():
                read = read_case(TomlDocument(data, digest=digest, path=self.source.place), numbers)
                self._cases[key] = with_note(read, self.source.rounded)
        return self._cases[key]

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Lets answers about the case tell runs of the function, if it was adopted."""
        if self.explored is None:
            yield
            return
        with made_of_function(self.source.text, self.explored.adoption.run_of):
            yield

    @contextmanager
    def _at_home(self) -> Iterator[None]:
        try:
            with self.telling():
                yield
        except ProgramError as error:
            for source in (self.source, *(callee.source for callee in self.source.calls.values())):
                if error.text == source.text:
                    raise source.at_home(error) from None
            raise
        except InputError as error:
            error.key = _argument(error.key)
            raise

    def as_read(self) -> Read:
        """Returns the case as the functions of the package take it."""
        return read_already(self.toml.encode(), Path(self.source.place), Kind.PRIVACY, self.case())

    def verify(self, **limits: Unpack[Limits]) -> VerifyReport:
        """Returns whether the mechanism is private; see `paramverify.verify`."""
        with self._at_home():
            return verify_read(self.as_read, limits)

    def leak_test(
        self,
        report: VerifyReport | None = None,
        *,
        seed: int = 0,
        path: str = "",
        **limits: Unpack[Limits],
    ) -> str:
        """Returns a test in Python that shows a violation again, by sampling the function itself.

        The test compares exact binomial intervals of both probabilities with the bound.

        Args:
            report (VerifyReport): The report with the violation; by default, `verify` is asked.
            seed (int): The seed of `random` and of `numpy.random` in the test.
            path (text): The folder of the function, seen from that of the test, if they differ.
            **limits (limits): Those of `verify`.

        Returns:
            text: A file for pytest, which imports the module of the function.

        Raises:
            InputError: The function was not adopted, no violation is known, or it is too small to be sampled.
        """
        report = report or self.verify(**limits)
        return self.test_of(report.witness, seed=whole("seed", seed, 0), path=path)

    def test_of(self, witness: object, *, seed: int = 0, path: str = "") -> str:
        """Does the same for a witness of a report."""
        from paramverify.api.leaks import leak_test

        if self.explored is None:
            raise InputError("a test runs a function that was adopted, but this one is read as a program")
        if not isinstance(witness, Witness):
            raise InputError("a test needs a violation by one output, but none is known")
        point = {name: float(value) for name, value in witness.parameters.items()}
        for known in self._model(self.case()).domain.ring.unbounded:
            if known.variable in point:
                point[known.name] = -math.log(point.pop(known.variable)) / float(known.step)
        return leak_test(self.explored, witness, point, seed, path)

    def budget(
        self,
        *,
        precision: Bound = "1e-9",
        delta_for: Bound | None = None,
        epsilon_for: Bound | None = None,
        **limits: Unpack[Limits],
    ) -> BudgetReport:
        """Returns the tight budget, or the least δ or ε; see `paramverify.budget`."""
        with self._at_home():
            return budget_of(self.as_read, precision, limits, delta_for, epsilon_for)

    def probabilities(
        self, at: Mapping[str, Number] | None = None
    ) -> dict[str, dict[str, ExactNumber | RationalFunction]]:
        """Returns the probability of each output under each input.

        Args:
            at (dict): Numbers for all parameters, such as `{"p": "1/2"}`.

        Returns:
            dict: For each input, a dictionary from outputs to probabilities. They are exact numbers
            if `at` is given or the mechanism has no parameters, and rational functions of the parameters
            otherwise.

        Raises:
            InputError: `at` leaves a parameter out, or is not a point of the domain.
        """
        point = self._point(at)
        model = self._model(self.case(at))
        values = None
        if at is not None or all(
            n in model.domain.box and model.domain.box[n].is_point for n in model.domain.ring.parameters
        ):
            values = Values(model, complete(model, point))
        found: dict[str, dict[str, ExactNumber | RationalFunction]] = {}
        for word, name, function in probabilities(model):
            share = ExactNumber(values.function(function)) if values else function
            found.setdefault(name, {})[word[0]] = share
        return found

    def show(self) -> ShowReport:
        """Returns the probabilities of the outputs as formulas; see `paramverify.show`."""
        with self._at_home():
            return show_read(self.as_read())

    @staticmethod
    def _model(case: PrivacyCase) -> Model:
        return of_privacy(case.model, "this")

    # --- what is run -----------------------------------------------------------------------------------

    def __call__(self, *given: Any, seed: int | None = None, rng: Any = None, **named: Any) -> Any:
        """Returns one random output.

        Numbers in the output are exact: `int` for whole numbers, and `Fraction` for others. If the program
        calls `output(...)`, the result is the tuple of all its outputs; otherwise it is the value that the
        program returns.

        Args:
            *given (values): The inputs, and numbers for the parameters, as the function takes them.
            seed (int): Make the output repeatable by this seed.
            rng (numpy.random.Generator): Draw from this generator. Excludes `seed`.
            **named (values): Inputs and parameters by name.

        Returns:
            value: The output.

        Raises:
            InputError: The case does not have such a value, or an operation has no result.
        """
        return self.sample(1, *given, seed=seed, rng=rng, **named)[0]

    def sample(
        self, size: int, /, *given: Any, seed: int | None = None, rng: Any = None, **named: Any
    ) -> list[Any]:
        """Returns independent random outputs, each as a call returns it.

        Args:
            size (int): The number of outputs.
            *given (values): The inputs, and numbers for the parameters, as the function takes them.
            seed (int): Make the outputs repeatable by this seed.
            rng (numpy.random.Generator): Draw from this generator. Excludes `seed`.
            **named (values): Inputs and parameters by name.

        Returns:
            list: The outputs.
        """
        self.source.check_meanings()
        size = whole("size", size, 0)
        fixed = {n: i.lower for n, i in self.intervals.items() if i and i.is_point}
        partial = self.signature.bind_partial(*given, **named).arguments
        known = {n: v for n, v in fixed.items() if n in self.signature.parameters and n not in partial}
        bound = self.signature.bind(*given, **named, **known).arguments
        values = {name: self._number(name, bound[name]) for name in bound if name not in self.given}
        self._check_constraints(values)
        entries = [e for name in self.given for e in self._entries(name, bound[name])]
        places = tuple(InputPart(name, found.length) for name, found in self.given.items())
        with self._at_home(), located(file=self.source.place):
            drawn = NumericProgram(self.program, places, values)
            found = drawn.outcomes(generator(seed, rng), entries, size)
        told = [self._returned(outputs) for outputs in found.outputs]
        return [told[k] for k in found.which.tolist()]

    def _number(self, name: str, value: Any) -> Fraction:
        """Returns a number for a parameter, in its interval."""
        interval = self.intervals[name]
        with located(file=self.source.place, key=name):
            number = fraction(value)
            if number <= 0 if interval is None else number not in interval:
                where = interval.lower if interval and interval.is_point else interval or "(0, oo)"
                raise InputError(f"the value {number} is not in {where}: give a value of this domain")
            return number

    def _point(self, at: Mapping[str, Number] | None) -> dict[str, Fraction]:
        """Returns the numbers that `at` gives to parameters, which are in the domain."""
        given = table("at", {} if at is None else at)
        rest = {f"x_{n}" for n, i in self.intervals.items() if i is None and n not in given}  # of (0, 1)
        for name in given:
            if name not in self.intervals and name not in rest:
                known = ", ".join(self.intervals) or "none"
                raise InputError(f"there is no parameter {name!r}; choose from {known}", key="at")
        point = {n: between(n, v, 1) if n in rest else self._number(n, v) for n, v in given.items()}
        self._check_constraints(point)
        return point

    def _check_constraints(self, point: Mapping[str, Fraction]) -> None:
        """Checks the constraints of the domain, where the point gives all that they are about."""
        if "constraints" not in toml_data(self.toml).get("parameters", {}):
            return
        domain = self._model(self.case(point)).domain
        fixed = {n: i.lower for n, i in domain.box.items() if i.is_point}
        both = fixed | dict(point)
        found = {n: both[n] for n in domain.ring.parameters if n in both}
        if len(found) == len(domain.ring.parameters) and not contains(domain, found):
            raise InputError(f"{in_words(found)} is not in the domain {domain.describe()}")

    def _entries(self, name: str, value: Any) -> list[Fraction | str]:
        """Returns the entries of an input, each one of the values that the case has."""
        known = self.given[name]
        with located(file=self.source.place, key=name):
            is_list = not isinstance(value, str) and hasattr(value, "__len__")
            if is_list != (known.length is not None):
                what = f"a list of {known.length} values" if known.length else "one value"
                raise InputError(f"this input has another shape: give {what}")
            listed = list(value) if is_list else [value]
            if is_list and len(listed) != known.length:
                raise InputError(f"the list has {len(listed)} values: give {known.length}")
            found = [v if isinstance(v, str) else fraction(v) for v in listed]
            for entry, answers in zip(found, known.answers, strict=True):
                if entry not in answers:
                    shown = ", ".join(map(str, answers[:10])) + (", ..." if len(answers) > 10 else "")
                    raise InputError(f"the case has no value {entry}: the values are {shown}")
            return found

    def _returned(self, outputs: Sequence[Plain]) -> Any:
        tells = any(isinstance(s, Output) for s in every_statement(self.program.body))
        values = tuple(map(python, outputs))
        return values if tells else values[0] if values else None

    def audit(
        self,
        implementation: Callable[..., Any] | Mechanism | None = None,
        at: Mapping[str, Number] | None = None,
        *,
        runs: int = 100_000,
        seed: int = 0,
        level: float = 0.01,
        pairs: int = 64,
    ) -> SampleReport:
        """Compares samples of an implementation with the exact probabilities of the mechanism.

        Args:
            implementation (function or mechanism): What to sample: a function that takes `(rng, input)` or
                `(rng, input, size)`, or a mechanism with the same inputs. By default, the program itself.
            at (dict): Numbers for the parameters. The audit chooses the others, and the report names them.
            runs (int): The number of runs for each input.
            seed (int): The seed of all runs.
            level (number): Limit the probability that the audit finds a difference where there is none.
            pairs (int): Compare the inputs of at most this many pairs of neighbours.

        Returns:
            A report whose `passes` is True if no difference was found.
        """
        runs, pairs, seed = whole("runs", runs, 1), whole("pairs", pairs, 1), whole("seed", seed, 0)
        level = float(between("level", level, 1))
        given = self._point(at)
        with self._at_home():
            inputs = CaseInputs.of(self.case(at)).by_input()
            model = self._model(inputs.case)
            source: Sampled = DirectSource(inputs)
            if isinstance(implementation, Mechanism):
                source = DirectSource(replace(inputs, mechanism=self._same_inputs(implementation, inputs)))
            elif implementation is not None:
                source = BlackBoxSource(implementation, inputs)
            (point,) = chosen_points(model, given, seed, 1)
            listed = experiments(model, length_of(model, None), [point], pairs)
            started = time.perf_counter()
            with runs_of(source, seed) as sampled:
                found = audit(sampled, model, listed, runs, level)
        return SampleReport(
            kind=Kind.PRIVACY,
            lines=tuple(sampling_reports.audit_lines(found)),
            document=sampling_reports.audit_document(found),
            seconds=time.perf_counter() - started,
            found=found.passes,
            rejected=not found.passes,
            point=dict(found.point),
            result=found,
        )

    def _same_inputs(self, other: Mechanism, inputs: CaseInputs) -> ProgramMechanism:
        """Returns the mechanism of a case with the program of another one."""
        places = [
            [(name, found.length, [set(a) for a in found.answers]) for name, found in m.given.items()]
            for m in (self, other)
        ]
        if places[0] != places[1]:
            raise InputError(
                f"{other!r} has other inputs than {self!r}: audit a mechanism with the same inputs"
            )
        assert isinstance(inputs.mechanism, ProgramMechanism)
        return replace(inputs.mechanism, program=other.program)


def _argument(key: str) -> str:
    """Returns the argument of `mechanism` or `audit` that a key of a case file or of a command is."""
    key = key.removeprefix("mechanism.").removeprefix("privacy.")
    return "implementation" if key == "--mechanism" else key


def _check_arguments(arguments: Sequence[str], inputs: Sequence[str], parameters: Sequence[str]) -> None:
    for name in arguments:
        if name in OWN:
            raise InputError(f"every mechanism has an argument {name}: choose another name", key=name)
        if name not in inputs and name not in parameters:
            raise InputError(
                f"the function has the argument {name}: add it to inputs or to parameters", key=name
            )
    for name in inputs:
        if name not in arguments:
            raise InputError(f"the function has no argument {name}: add it, or remove this input", key=name)
