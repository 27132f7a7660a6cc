"""Mechanisms in Python as black boxes: `(rng, input) -> output`, or `(rng, input, size) -> array`.

`rng` is a `numpy.random.Generator`, the only source of randomness that makes runs repeatable. An input of
one value is this value, and one of several answers a tuple of them: whole numbers as `int`, other rationals
as `float`, labels as `str`. An output is a number or a label, or for sequences a tuple or list of them. A
vectorised mechanism returns `size` outputs at once, as an array with one row for each run.
"""

from __future__ import annotations

import inspect
import os
import pickle
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from paramverify.algebra.expressions import Value
from paramverify.errors import InputError, ParamverifyError
from paramverify.models.conditions import Shape, shape_of
from paramverify.models.mechanisms import Input, Worded
from paramverify.models.mechanisms.above_threshold import END
from paramverify.statistics.draws import Draws
from paramverify.statistics.experiments import Experiment
from paramverify.statistics.inputs import CaseInputs
from paramverify.statistics.labels import PLAIN, KnownObservations, frozen, label
from paramverify.statistics.samplers import Counts, Output
from paramverify.statistics.user_code import reason_of, users

if TYPE_CHECKING:
    import numpy as np

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
        raise InputError(f"write module:function, not {name!r}", key="--mechanism")
    if module.endswith(".py"):
        better = module.removesuffix(".py").replace(os.sep, ".").lstrip(".")
        raise InputError(f"write the name of the module, as in {better}:{function}", key="--mechanism")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    with users(lambda told: f"cannot import {module!r}: {told}"):
        try:
            imported = import_module(module)
        except ImportError as error:
            raise InputError(f"cannot import {module!r}: {error}", key="--mechanism") from None
    found = getattr(imported, function, None)
    if found is None:
        raise InputError(f"{module!r} has no {function!r}", key="--mechanism")
    if not callable(found):
        raise InputError(f"{name!r} is not a function", key="--mechanism")
    if hasattr(found, "to_toml"):
        reason = f"{name} is decorated with mechanism, and a program itself, not an implementation"
        mend = f"call {function}.audit() in Python, or write {function}.to_toml() to a case and use --direct"
        raise InputError(f"{reason}: {mend}", key="--mechanism")
    mechanism: Mechanism = found
    return mechanism


def check_shared(mechanism: Mechanism) -> None:
    """Raises an InputError if other processes cannot be given the mechanism: they look for it by its name."""
    try:
        pickle.dumps(mechanism)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        reason = f"several --workers need a function that is defined by its name in its module: {error}"
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
        raise InputError("the arguments of this mechanism cannot be read", key="--mechanism") from None
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
        raise InputError(f"the function needs {names}: give {wanted}", key="--mechanism")
    raise InputError("a mechanism takes (rng, input) or (rng, input, size)", key="--mechanism")


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
        reason = "an output is masked, and has no value there: fill the masked array"
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
        got = str(len(outputs)) if isinstance(outputs, (list, tuple)) else "no list or array"
        reason = f"the mechanism did not return {amount} outputs: it returned {got}"
        raise InputError(f"{reason}; with a third argument it is asked for many", key="--mechanism")
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
        with users(lambda told: f"the mechanism raised {told} (on the input {given})"):
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
                f"the mechanism gave a sequence of length {len(labels)}, not {self.length} as the case has"
            )
            raise InputError(f"{reason}; without a case it may have any", key="--mechanism")
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
