"""Mechanisms in Python as black boxes: calls of user code, what it is applied to, and how it is sampled.

What a mechanism in Python is applied to: the inputs behind the secrets of a case.

The case file says which inputs a secret stands for: one, where neighbouring inputs are compared; a mixture,
where a prior is conditioned on the secret. An input is a tuple of answers here, also if it is one value; see
`blackbox` for what a mechanism gets.

Mechanisms in Python as black boxes: `(rng, input) -> output`, or `(rng, input, size) -> array`.

`rng` is a `numpy.random.Generator`, the only source of randomness that makes runs repeatable. An input of
one value is this value, and one of several answers a tuple of them: whole numbers as `int`, other rationals
as `float`, labels as `str`. An output is a number or a label, or for sequences a tuple or list of them. A
vectorised mechanism returns `size` outputs at once, as an array with one row for each run.

The mechanisms of the library, run as they are defined: noise is drawn, and the output computed from it.

This shares nothing with the closed formulas of the models but the table of the noise, so comparing the two
tests both. Each is a vectorised black box `(rng, input, size) -> array`.

A mechanism in Python by itself, without a case: the user says which inputs are neighbours.

[S] section 4 asks the user for the same: how the answers to the queries may differ on two adjacent databases.
"""

from __future__ import annotations

import inspect
import os
import pickle
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib import import_module
from math import log
from typing import TYPE_CHECKING, Any

from paramverify.algebra.expressions import Value, constant
from paramverify.algebra.polynomials import Ring
from paramverify.algebra.reals import Real
from paramverify.errors import InputError, ParamverifyError, UnsupportedError, located
from paramverify.evidence.divergence_witnesses import directed, pair_of
from paramverify.models.context import Checks
from paramverify.models.mechanisms import (
    Counting,
    Drawing,
    Drawn,
    Input,
    Runnable,
    Worded,
    compare,
    show_input,
)
from paramverify.models.mechanisms import Mechanism as ModelMechanism
from paramverify.models.mechanisms._streams import StreamMechanism
from paramverify.models.mechanisms.above_threshold import END
from paramverify.models.mechanisms.hmm import Explicit
from paramverify.models.model import Model, of_privacy
from paramverify.models.model_evaluation import Numbers
from paramverify.models.names import as_value
from paramverify.models.neighbourhoods import pattern_pairs
from paramverify.models.priors import InitialDistribution
from paramverify.models.relations import Shape, shape_of
from paramverify.privacy.cases import PrivacyCase
from paramverify.statistics.events import PLAIN, KnownObservations, frozen, label
from paramverify.statistics.samplers import Counts, Draws, Experiment, Output
from paramverify.tables import in_case

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENDED = "the mechanism ended the process"

_watch: Callable[[bool], None] | None = None


def watched_by(tell: Callable[[bool], None]) -> None:
    """Sets what is told True before code of the user runs and False after it, in this process."""
    global _watch
    _watch = tell


def reason_of(error: BaseException) -> str:
    """Returns the type and the text of an error that the user's code raised; the text may fail itself."""
    try:
        shown = str(error)
    except BaseException as failed:  # the user's code again
        if isinstance(failed, (KeyboardInterrupt, ParamverifyError)):
            raise
        return f"{type(error).__name__}, whose message cannot be read"
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


@contextmanager
def users(what: Callable[[str], str]) -> Iterator[None]:
    """Runs code of the user: what it raises becomes an InputError, what it prints goes to standard error.

    `what` makes the reason of the InputError from the error in words. Ctrl-C and the errors of this package
    pass through.
    """
    with _elsewhere():
        if _watch:
            _watch(True)
        try:
            yield
        except (ParamverifyError, KeyboardInterrupt):
            raise
        except BaseException as error:  # whatever the user's code raises is a mistake in what the user gave
            raise InputError(what(reason_of(error)), key="--mechanism") from error
        finally:
            if _watch:
                _watch(False)


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Sends standard output to standard error, also that of libraries and of programs that are started."""
    saved = None
    with suppress(OSError):  # no such stream
        saved = os.dup(1)
        os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if saved is not None:
            for stream in (sys.__stdout__, sys.stderr):
                with suppress(OSError, ValueError, AttributeError):
                    stream.flush()  # type: ignore[union-attr]
            os.dup2(saved, 1)
            os.close(saved)


@dataclass(frozen=True, eq=False)
class CaseInputs:
    """The mechanism of a case, and the weights of its inputs under each secret that has a prior."""

    case: PrivacyCase
    mechanism: ModelMechanism
    priors: Mapping[str, tuple[tuple[Input, ...], InitialDistribution]]

    @property
    def model(self) -> Model:
        """The model of the case."""
        return of_privacy(self.case.model, "sampling")

    @staticmethod
    def of(case: PrivacyCase) -> CaseInputs:
        """Returns the inputs of a case.

        Raises:
            InputError: the case is not about privacy.
        """
        model = of_privacy(case.model, "sampling")
        assert case.mechanism is not None  # a case about privacy has one
        if case.times > 1:
            reason = "sampling is not available for a mechanism that answers several times: remove `times`"
            raise UnsupportedError(reason, key="mechanism.times")
        if isinstance(case.mechanism, StreamMechanism):
            reason = "a program over a stream cannot be sampled: write its loop over an input with a length"
            raise UnsupportedError(reason, key="mechanism")
        priors: dict[str, tuple[tuple[Input, ...], InitialDistribution]] = {}
        if not isinstance(case.mechanism, Explicit):
            checks = Checks(model.domain)
            for name, weights in case.inputs.items():
                mixed = InitialDistribution.of(dict(enumerate(weights.values())), checks)
                priors[name] = tuple(weights), mixed
        return CaseInputs(case, case.mechanism, priors)

    def inputs(self, experiment: Experiment, side: int) -> dict[Input, Real]:
        """Returns the inputs of one side of an experiment, with their probabilities at its point.

        For `above_threshold` an input is the threshold and then the answers; for `hmm`, the initial state.
        """
        secret = experiment.secret(side)
        numbers = Numbers(self.model, experiment.point)
        one = numbers.value(self.model.domain.ring.number(1))
        if experiment.choices:
            threshold = Fraction(int(secret.rpartition(" ")[2]))  # the model names its own secrets
            return {
                (threshold, *(Fraction(int(c[side])) for c in experiment.choices)): numbers.real(one, one)
            }
        if secret in self.priors:
            listed, start = self.priors[secret]
        elif isinstance(self.mechanism, Explicit):
            start = directed(self.model, experiment.left, experiment.right)[side]
            listed = tuple((_given(state),) for state in self.mechanism.answers[0])
        else:
            inputs = pair_of(self.model, experiment.left, experiment.right).inputs
            if inputs is None:
                raise UnsupportedError(
                    "the mechanism does not define which inputs it compares", key="mechanism"
                )
            return {tuple(map(_given, inputs[side])): numbers.real(one, one)}
        mass = numbers.value(start.mass)
        found = {listed[k]: numbers.real(numbers.value(w), mass) for k, w in start.weights.items()}
        possible = {given: p for given, p in found.items() if p.sign() > 0}
        if not possible:
            raise InputError(
                f"the secret {secret!r} has probability 0 at this point: choose another point with --at"
            )
        return possible

    def by_input(self) -> CaseInputs:
        """Returns the same mechanism with single inputs in the place of secrets, to look at each by
        itself."""
        model = self.model
        if model.hmm.chosen:
            return self
        explicit = isinstance(self.mechanism, Explicit)
        if self.priors:
            inputs = list(dict.fromkeys(given for listed, _ in self.priors.values() for given in listed))
        elif explicit:
            states = dict.fromkeys(s for p in model.pairs for start in (p.pi, p.tau) for s in start.weights)
            inputs = [(self.mechanism.answers[0][s],) for s in states]
        else:
            return self
        hmm, pairs = compare(self.mechanism, list(zip(inputs, inputs[1:] or inputs, strict=False)))
        single = replace(model, hmm=hmm, pairs=tuple(pairs))
        one = InitialDistribution.point(0, model.domain.ring.number(1))
        alone = {} if explicit else {show_input(given): ((given,), one) for given in inputs}
        return CaseInputs(replace(self.case, model=single), self.mechanism, alone)


def _given(value: Value) -> Value:
    """Returns a value as a mechanism in Python gets it: a name that is exactly how a number is shown as this
    number, so different names stay different."""
    number = as_value(value) if isinstance(value, str) else value
    return number if str(number) == str(value) else value


MOST_ARGUMENTS = 3  # rng, input and size
SIZE = "size"

Answer = int | float | str
Given = Answer | tuple[Answer, ...]
Mechanism = Callable[..., Any]


def load_mechanism(name: str) -> Mechanism:
    """Returns the function that `module:function` names; modules of the working folder are found too.

    Raises:
        InputError: another form, a module that cannot be imported, or no such function.
    """
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise InputError(f"{name!r} does not name a function: write module:function", key="--mechanism")
    if module.endswith(".py"):
        better = module.removesuffix(".py").replace(os.sep, ".").lstrip(".")
        raise InputError(
            f"{module!r} is a file: write the name of the module, as in {better}:{function}",
            key="--mechanism",
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    with users(lambda told: f"cannot import {module!r}: {told}"):
        try:
            imported = import_module(module)
        except ImportError as error:
            raise InputError(f"cannot import {module!r}: {error}", key="--mechanism") from None
    found = getattr(imported, function, None)
    if found is None:
        raise InputError(f"the module {module!r} has no function {function!r}", key="--mechanism")
    if not callable(found):
        raise InputError(f"{name!r} is not a function", key="--mechanism")
    if hasattr(found, "to_toml"):
        reason = f"{name} is decorated with `mechanism`, so it is a program, not an implementation"
        mend = (
            f"call {function}.audit() in Python, or write {function}.to_toml() to a case file and use "
            "--direct"
        )
        raise InputError(f"{reason}: {mend}", key="--mechanism")
    mechanism: Mechanism = found
    return mechanism


def check_shared(mechanism: Mechanism) -> None:
    """Raises an InputError if other processes cannot be given the mechanism: they look for it by its name."""
    try:
        pickle.dumps(mechanism)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        reason = f"several --workers require a function that is defined by its name in a module: {error}"
        raise InputError(reason, key="--mechanism") from None


def is_vectorised(mechanism: Mechanism) -> bool:
    """Tells whether a mechanism takes three arguments, (rng, input, size), rather than two.

    An argument with a default is not counted, unless its name is `size`.

    Raises:
        InputError: it takes neither.
    """
    try:
        signature = inspect.signature(mechanism)
    except ValueError:
        raise InputError("the signature of this function cannot be read", key="--mechanism") from None
    for arguments in (2, 3) if _has_own_third(signature) else (3, 2):
        try:
            signature.bind(*[None] * arguments)
        except TypeError:
            continue
        return arguments == 3
    known = list(signature.parameters.values())
    more = [p.name for k, p in enumerate(known) if p.default is p.empty and _needs_a_name(p, k)]
    if len(known) > len(more) > 0:
        wanted = " ".join(f"--argument {name}=VALUE" for name in more)
        names = ", ".join(map(repr, more))
        raise InputError(f"the function requires {names}: add {wanted}", key="--mechanism")
    raise InputError("the function must accept (rng, input) or (rng, input, size)", key="--mechanism")


def _has_own_third(signature: inspect.Signature) -> bool:
    """Tells whether the third argument has a default and is an option of the mechanism, not the size."""
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    listed = [p for p in signature.parameters.values() if p.kind in by_place]
    third = listed[MOST_ARGUMENTS - 1] if len(listed) >= MOST_ARGUMENTS else None
    return third is not None and third.default is not third.empty and third.name != SIZE


def _needs_a_name(parameter: inspect.Parameter, place: int) -> bool:
    """Tells whether a parameter without a default is beyond `rng`, `input` and `size`, and may be named."""
    if parameter.kind is parameter.KEYWORD_ONLY:
        return True
    return parameter.kind is parameter.POSITIONAL_OR_KEYWORD and place >= MOST_ARGUMENTS


def plain(given: Input, shape: Shape) -> Given:
    """Returns an input of this shape as a mechanism in Python gets it: a value, or a tuple of them."""
    one_value = len(given) == 1 and len(shape) == 1 and shape[0].length is None
    return plain_answer(given[0]) if one_value else tuple(map(plain_answer, given))


def plain_answer(value: Value) -> Answer:
    """Returns an answer as Python has it."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _frozen(output: Any) -> tuple[tuple[type, ...], tuple[Any, ...]]:
    """Returns an output as values that do not change any more, with their types: `1e16` is not `10**16`.

    So two outputs are the same only if they have the same labels.
    """
    import numpy as np

    if isinstance(output, np.ndarray):
        _check_mask(output)
        output = output.tolist()
    values = tuple(output) if isinstance(output, (list, tuple)) else (output,)
    kinds = tuple(map(type, values))
    if not PLAIN.issuperset(kinds):
        values = tuple(map(frozen, values))
        kinds = tuple(map(type, values))
    return kinds, values


def _read(output: Any) -> tuple[tuple[type, ...], tuple[Any, ...]]:
    try:
        return _frozen(output)
    except (ParamverifyError, KeyboardInterrupt):
        raise
    except BaseException as error:  # an object of the user that cannot be read
        name = type(output).__name__
        reason = f"an output of the mechanism ({name}) cannot be read: {reason_of(error)}"
        raise InputError(reason, key="--mechanism") from error


def _check_mask(array: np.ndarray[Any, Any]) -> None:
    import numpy as np

    if np.ma.is_masked(array):
        reason = "an output is masked, so it has no value: fill the masked array"
        raise InputError(reason, key="--mechanism")


def _check_own(rows: Sequence[object]) -> None:
    """Raises an InputError if a list or array stands for several outputs: it has the last value only."""
    import numpy as np

    seen = set()
    for row in rows:
        if isinstance(row, list):
            place = id(row)
        elif isinstance(row, np.ndarray) and row.size:
            place = row.__array_interface__["data"][0]
        else:
            continue
        if place in seen:
            reason = (
                f"the mechanism returned the same {type(row).__name__} for several outputs: "
                "return a copy or a tuple for each"
            )
            raise InputError(reason, key="--mechanism")
        seen.add(place)


def _rows(outputs: Any, amount: int) -> Sequence[Any]:
    """Returns the outputs of a vectorised mechanism, one for each run."""
    import numpy as np

    if isinstance(outputs, (list, tuple)):  # rows may have different lengths
        _check_own(outputs)
    else:
        if isinstance(outputs, np.ndarray):
            _check_mask(outputs)
        outputs = np.asarray(outputs).tolist()
    if not isinstance(outputs, (list, tuple)) or len(outputs) != amount:
        got = (
            str(len(outputs))
            if isinstance(outputs, (list, tuple))
            else ("something other than a list or an array")
        )
        reason = f"the mechanism returned {got} instead of {amount} outputs"
        raise InputError(
            f"{reason}; a function with a third argument must return `size` outputs", key="--mechanism"
        )
    return outputs


@dataclass(frozen=True, eq=False)
class BlackBox:
    """Runs a mechanism on inputs that are drawn with exact probabilities.

    `decorate` gives, for each step, what goes in front of a label: the answers that an adversary chose.
    Sequences have the given length; those that are shorter are filled up with `ending`. Without a length
    they may have any, also different ones. A mechanism of ours may count its outputs by itself. `word`
    makes one label of all values of an output, where the model has one. `known` are the observations that a
    case calls outputs by.
    """

    mechanism: Mechanism
    vectorised: bool
    inputs: tuple[Given, ...]
    draws: Draws
    length: int | None
    decorate: tuple[str, ...] = ()
    ending: str | None = None
    counts: Callable[[np.random.Generator, Any, int], Mapping[str, int]] | None = None
    word: Callable[[Sequence[object]], str] | None = None
    known: KnownObservations | None = None

    def __call__(self, rng: np.random.Generator, size: int) -> Counts:
        """Returns how often each output came in `size` runs.

        Raises:
            InputError: a vectorised mechanism that does not return `size` outputs, or sequences of another
                length.
        """
        import numpy as np

        total: Counter[Any] = Counter()
        amounts = np.bincount(self.draws.row(rng, 0, size), minlength=len(self.inputs))
        for given, amount in zip(self.inputs, amounts.tolist(), strict=True):
            if amount:
                total.update(self._outputs(rng, given, amount))
        counts: Counts = Counter()
        for (_, output), number in total.items():
            counts[self._labels(output)] += number
        return counts

    def _outputs(self, rng: np.random.Generator, given: Given, amount: int) -> Counter[Any]:
        """Returns how often each output came; an output is frozen before the mechanism may change it."""
        found: Counter[Any] = Counter()
        if self.counts:
            counted = self.counts(rng, given, amount)
            return Counter({((str,), (output,)): number for output, number in counted.items()})
        with users(lambda told: f"the mechanism raised {told} (for the input {given})"):
            if self.vectorised:
                outputs = self.mechanism(rng, given, amount)
                found.update(map(_read, _rows(outputs, amount)))
            else:
                for _ in range(amount):
                    found[_read(self.mechanism(rng, given))] += 1
        return found

    def _labels(self, output: Sequence[object]) -> Output:
        if self.word:
            return (self.word(output),)
        labels = list(map(self.known.label if self.known else label, output))
        if self.length is None:
            return tuple(labels)
        if len(labels) < self.length and self.ending is not None:
            labels += [self.ending] * (self.length - len(labels))
        if len(labels) != self.length:
            reason = (
                f"the mechanism returned a sequence of length {len(labels)}, but the case has length "
                f"{self.length}"
            )
            raise InputError(f"{reason}; without a case, sequences may have any length", key="--mechanism")
        if self.decorate:
            pairs = zip(labels, self.decorate, strict=True)
            return tuple(name if name == self.ending else f"{chosen}{name}" for name, chosen in pairs)
        return tuple(labels)


@dataclass(frozen=True, eq=False)
class BlackBoxSource:
    """Samples from a mechanism in Python, on the inputs that the secrets of a case stand for."""

    mechanism: Mechanism
    case_inputs: CaseInputs

    def sampler(self, experiment: Experiment, side: int) -> BlackBox:
        """Returns the sampler of one side of an experiment."""
        inputs, mechanism = self.case_inputs.inputs(experiment, side), self.case_inputs.mechanism
        known, shape = (
            frozenset(self.case_inputs.model.hmm.observations),
            shape_of(mechanism, mechanism.answers),
        )
        ending = END if END in self.case_inputs.model.hmm.observations else None
        return BlackBox(
            self.mechanism,
            is_vectorised(self.mechanism),
            inputs=tuple(plain(given, shape) for given in inputs),
            draws=Draws.of([list(inputs.values())]),
            length=experiment.length,
            decorate=experiment.choices,
            ending=ending,
            word=partial(mechanism.word_of, known=known) if isinstance(mechanism, Worded) else None,
            known=None
            if experiment.choices
            else KnownObservations.of(self.case_inputs.model.hmm.observations),
        )


@dataclass(frozen=True, eq=False)
class NoiseRows:
    """Noise for whole answers, zero entries of its rows left out: entry k of row f stands for
    `values[f][k]`."""

    draws: Draws
    values: tuple[NDArray[np.int64], ...]

    @staticmethod
    def of(rows: list[list[Any]]) -> NoiseRows:
        """Returns the noise with the given exact probabilities; rows[f][o]: the answer f is released as o."""
        import numpy as np

        kept = [[(o, p) for o, p in enumerate(row) if _positive(p)] for row in rows]
        draws = Draws.of([[p for _, p in row] for row in kept])
        return NoiseRows(draws, tuple(np.array([o for o, _ in row], dtype=np.int64) for row in kept))

    def released(self, rng: np.random.Generator, answer: int, size: int) -> NDArray[np.int64]:
        """Returns `size` noisy releases of one answer."""
        return self.values[answer][self.draws.row(rng, answer, size)]


def _positive(probability: Any) -> bool:
    return bool(probability > 0 if isinstance(probability, Fraction) else probability.sign() > 0)


def direct(case_inputs: CaseInputs, point: Mapping[str, Fraction]) -> Drawing:
    """Returns the mechanism of a case as a black box that draws the noise itself, at a parameter point.

    Raises:
        InputError: it does not offer that.
    """
    numbers = Numbers(case_inputs.model, point)
    mechanism = case_inputs.mechanism
    if isinstance(mechanism, Drawn):
        return mechanism.drawn(
            lambda noise: NoiseRows.of([[numbers.function(p) for p in row] for row in noise.rows])
        )
    if isinstance(mechanism, Runnable):
        return mechanism.run_at(_numbers(case_inputs.model.domain.ring, point))
    case = case_inputs.case
    with in_case(case.path, case.text), located(key="mechanism"):
        raise InputError(
            f"--direct does not support {case.kind!r}: leave --direct out to sample the model", key="kind"
        )


def _numbers(ring: Ring, point: Mapping[str, Fraction]) -> dict[str, Fraction | float]:
    """Returns the parameters as numbers; those of the domain (0, ∞) are rounded to floats."""
    found: dict[str, Fraction | float] = {name: point[name] for name in ring.parameters}
    for unbounded in ring.unbounded:
        found[unbounded.name] = -log(point[unbounded.variable]) / float(unbounded.step)
    return found


@dataclass(frozen=True, eq=False)
class DirectSource:
    """Samples from the mechanism of a case by drawing its noise, at the point of each experiment."""

    case_inputs: CaseInputs

    def sampler(self, experiment: Experiment, side: int) -> BlackBox:
        """Returns the sampler of one side of an experiment."""
        mechanism = direct(self.case_inputs, experiment.point)
        sampler = BlackBoxSource(mechanism, self.case_inputs).sampler(experiment, side)
        given: Any = tuple(self.case_inputs.inputs(experiment, side))  # our own take tuples, with fractions
        return replace(
            sampler, inputs=given, counts=mechanism.counts if isinstance(mechanism, Counting) else None
        )


MOST_ANSWERS = 1_000
CENTRE, MOST = 1, 2  # answers of the input patterns are 0, 1 and 2


@dataclass(frozen=True, eq=False)
class AloneSource:
    """Samples from a mechanism in Python on inputs that are known by how they are shown."""

    mechanism: Mechanism
    inputs: Mapping[str, Given]

    def sampler(self, experiment: Experiment, side: int) -> BlackBox:
        """Returns the sampler of one side of an experiment; its outputs may have any length."""
        return BlackBox(
            self.mechanism,
            is_vectorised(self.mechanism),
            inputs=(self.inputs[experiment.secret(side)],),
            draws=Draws.of([[Fraction(1)]]),
            length=None,
        )


def alone(
    mechanism: Mechanism, pairs: Sequence[tuple[str, Input, Input]], most: int
) -> tuple[AloneSource, list[Experiment]]:
    """Returns the source, and one experiment for each of at most `most` pairs (pattern, left, right).

    Raises:
        InputError: the two inputs of a pair are the same.
    """
    inputs: dict[str, Given] = {}
    listed = []
    for pattern, left, right in pairs[:most]:
        if left == right:
            raise InputError(
                f"{show_input(left)} is given twice: --neighbours needs two different inputs",
                key="--neighbours",
            )
        for given in (left, right):
            inputs[show_input(given)] = plain(given, shape_of(None, given))
        listed.append(Experiment(show_input(left), show_input(right), {}, pattern=pattern))
    return AloneSource(mechanism, inputs), listed


def read_input(text: str) -> Input:
    """Returns the input that a text such as `1,0,2` or `yes` names: numbers and labels with commas between.

    Raises:
        InputError: an answer without a name.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise InputError(f"an answer is missing in {text!r}: write, for example, 1,0,2", key="--neighbours")
    return tuple(as_value(part) for part in parts)


def patterns(answers: int, differ: str) -> list[tuple[str, Input, Input]]:
    """Returns the input patterns for so many answers, of which `each` or only `one` differs, by at most 1.

    Raises:
        InputError: too many answers.
    """
    if answers > MOST_ANSWERS:
        raise InputError(f"the number of answers must be at most {MOST_ANSWERS:,}", key="--answers")
    found: list[tuple[str, Input, Input]] = []
    for name, left, right in pattern_pairs(answers, MOST, [CENTRE]):
        if differ == "each" or sum(a != b for a, b in zip(left, right, strict=True)) == 1:
            found.append((name, tuple(map(Fraction, left)), tuple(map(Fraction, right))))
    return found


def with_arguments(mechanism: Mechanism, assignments: Sequence[str]) -> Mechanism:
    """Returns the mechanism with arguments such as `epsilon=0.7`, given to it by their names.

    Numbers are exact where they are whole, else floats; everything else is a text.

    Raises:
        InputError: another form, a name that is given twice, or that the function does not know.
    """
    if not assignments:
        return mechanism
    arguments: dict[str, int | float | str] = {}
    for text in assignments:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name.isidentifier() and equals and value):
            raise InputError(
                f"{text!r} is not an argument: write NAME=VALUE, for example epsilon=0.7", key="--argument"
            )
        if not _takes(mechanism, name):
            raise InputError(f"the function has no argument {name!r}", key="--argument")
        if name in arguments:
            raise InputError(f"{name} is set twice: remove one of them", key="--argument")
        arguments[name] = plain_answer(_value(value))
    return partial(mechanism, **arguments)


def _takes(mechanism: Mechanism, name: str) -> bool:
    try:
        known = inspect.signature(mechanism).parameters
    except ValueError:  # it cannot be read, which is told when the mechanism is run
        return True
    return name in known or any(p.kind is p.VAR_KEYWORD for p in known.values())


def _value(text: str) -> Fraction | str:
    if text[0].isalpha():
        return text
    with located(key="--argument"):
        return constant(text)
