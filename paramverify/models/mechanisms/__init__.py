"""The mechanism library: one module for each `kind` of a case file, which defines `read`.

A module here is a mechanism, and so is one that a plugin names in the group `paramverify.mechanisms`; there
is nothing to register. `read(table, checks)` reads the table `[mechanism]` and returns a `Mechanism`. What
is special about one it offers itself: see `Drawn` and `WorstPair`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from paramverify.algebra.expressions import Expression, Value
from paramverify.errors import CaseError, InputError, LimitError, UnsupportedError, gathered, located
from paramverify.models.context import Checks
from paramverify.models.enclosed_models import NO_FORMULAS, EnclosedTable
from paramverify.models.hmm import HMM, MAX_TIMES
from paramverify.models.mechanisms._queries import MAX_BY, changes, count_neighbours, near_answers
from paramverify.models.names import find, literal
from paramverify.models.noise import Noise, Releases
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.models.relations import Relation, Shape, plain, read_condition, shape_of
from paramverify.plugins import Registry, owner
from paramverify.spelling import nearest
from paramverify.tables import Key, Section, Table, Variants, as_expression, one_of, whole, with_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REGISTRY = Registry(__name__, "paramverify.mechanisms", "mechanism")

Input = tuple[Value, ...]

MAX_NEIGHBOURS = 2_000_000
MAX_CONSIDERED = 1_000_000  # unordered pairs of inputs to which a condition is applied


def declared(kind: str) -> Section | None:
    """Returns what the module of a kind declares as its `SECTION`, with `kind`; None where it does not."""
    section = getattr(REGISTRY.module(kind), "SECTION", None)
    if not section:
        return None
    times = Key("times", whole(1, MAX_TIMES), TIMES, default=1)
    return with_keys(section, Key("kind", one_of(kind), KIND, needed=True), times)


KIND = "What the mechanism is."
TIMES = "How often it answers about the same input, each time with independent noise."
MECHANISM = Variants("[mechanism]", "What is released.", REGISTRY.names, declared, tag="kind", text=KIND)


class Mechanism(Protocol):
    """What a mechanism is applied to, and the model of its releases.

    `queries` are the expressions over the prior's variables whose values it takes (empty where a case
    gives only their number); `answers` lists the possible values of each.
    """

    @property
    def queries(self) -> tuple[Expression, ...]:
        """The expressions that the mechanism is applied to."""

    @property
    def answers(self) -> tuple[tuple[Value, ...], ...]:
        """The possible values of each query."""

    def build(self, inputs: Sequence[Input]) -> tuple[HMM | EnclosedTable, list[InitialDistribution]]:
        """Returns a model that covers the given inputs, and where each of them starts."""

    def neighbours(self, table: Table) -> tuple[HMM | EnclosedTable, list[SecretPair]]:
        """Returns a model, and each unordered pair of neighbouring inputs that `[neighbours]` describes."""


class Drawing(Protocol):
    """A mechanism as it is defined, at one parameter point; plain data that another process can be given."""

    def __call__(self, rng: np.random.Generator, given: tuple[Any, ...], size: int) -> NDArray[Any]:
        """Returns `size` outputs for one input, each a label or a sequence of them."""


@runtime_checkable
class Drawn(Protocol):
    """What a mechanism may offer besides: it is run as it is defined, and not by its formulas."""

    def drawn(self, at_point: Callable[[Noise], Releases]) -> Drawing:
        """Returns the mechanism with its noise at a parameter point."""


@runtime_checkable
class Runnable(Protocol):
    """What a mechanism may offer besides: it is run as it is written, with the parameters as numbers."""

    def run_at(self, values: Mapping[str, Fraction | float]) -> Drawing:
        """Returns the mechanism at a parameter point."""


@runtime_checkable
class Counting(Protocol):
    """What a mechanism at a parameter point may offer besides: it counts its outputs by itself."""

    def counts(self, rng: np.random.Generator, given: tuple[Any, ...], size: int) -> Mapping[str, int]:
        """Returns how often each output came in `size` runs, in the words of the model."""


@runtime_checkable
class Worded(Protocol):
    """What a mechanism may offer besides: each of its outputs is one observation, of several values."""

    @staticmethod
    def word_of(values: Sequence[object], known: Collection[str]) -> str:
        """Returns the observation, one of the known ones if it can be, that an implementation means."""


@runtime_checkable
class InputsChecked(Protocol):
    """What a mechanism may offer besides: it looks for what is wrong with all values of an input."""

    def check(self, values: Sequence[Collection[Value]]) -> None:
        """Checks itself, where each entry of an input has such values.

        Raises:
            InputError: a mistake.
        """


@runtime_checkable
class Several(Protocol):
    """What a mechanism may offer besides: it is made of others."""

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """The mechanisms that it is made of."""


@runtime_checkable
class WorstPair(Protocol):
    """What a mechanism may offer besides: it knows the neighbours with the largest ratio, unformed."""

    @property
    def knows_worst_pair(self) -> bool:
        """Whether it does, with the noise that it has."""

    def worst_pair(self, differ: str, by: int | None) -> tuple[Input, Input]:
        """Returns the neighbours with the largest ratio, for output sequences of every length.

        `differ` is "each" or "one" answer, by at most `by` (None: by anything).

        Raises:
            LimitError: that is too much work.
        """

    def worst_pair_document(self, differ: str, by: int | None, pair: tuple[Input, Input]) -> dict[str, Any]:
        """Returns the statement that a pair has the largest ratio, for `checker.worst_pair_evidence`."""


def compare(mechanism: Mechanism, pairs: Sequence[tuple[Input, Input]]) -> tuple[HMM, list[SecretPair]]:
    """Returns the model that covers the inputs of all pairs, and the pairs as point priors.

    Raises:
        UnsupportedError: the probabilities of the mechanism are enclosed, and have no formulas.
    """
    hmm, found = compared(mechanism, pairs)
    if not isinstance(hmm, HMM):
        raise UnsupportedError(NO_FORMULAS)
    return hmm, found


def compared(
    mechanism: Mechanism, pairs: Sequence[tuple[Input, Input]]
) -> tuple[HMM | EnclosedTable, list[SecretPair]]:
    """Returns what comes out for the inputs of all pairs, and the pairs as point priors."""
    objects = {id(given): given for pair in pairs for given in pair}  # many pairs share their inputs
    inputs = list(dict.fromkeys(objects.values()))
    hmm, starts = mechanism.build(inputs)
    start = dict(zip(inputs, starts, strict=True))
    told = {number: (show_input(given), start[given]) for number, given in objects.items()}

    def secrets(x: Input, y: Input) -> SecretPair:
        (left, pi), (right, tau) = told[id(x)], told[id(y)]
        return SecretPair(left, right, pi, tau, (x, y))

    return hmm, [secrets(x, y) for x, y in pairs]


def read_mechanism(table: Table, checks: Checks) -> Mechanism:
    """Reads `[mechanism]` by the module that its `kind` names.

    Raises:
        InputError: an unknown kind, or a mistake in the table.
    """
    loaders = REGISTRY.loaders()
    kind, kinds = table.text("kind"), sorted(loaders)
    if kind not in kinds:
        near = nearest(kind, kinds)
        hint = f"did you mean {near!r}?" if near else f"known kinds: {', '.join(kinds)}"
        raise CaseError(f"unknown mechanism {kind!r}", mend=hint, key="kind")
    module = loaders[kind]()
    if not callable(getattr(module, "read", None)):
        raise InputError(f"{owner(module.__name__)} has no function read")
    mechanism: Mechanism = module.read(table, checks)
    if not callable(getattr(mechanism, "build", None)):
        raise InputError(f"{owner(module.__name__)} reads no mechanism")
    table.close()
    return mechanism


def are_rows_checked(kind: str) -> bool:
    """Whether the module of a kind says that `read` checks its probabilities; else the case is checked."""
    return bool(getattr(REGISTRY.module(kind), "CHECKED", False))


def files_of(kind: str) -> tuple[str, ...]:
    """Returns the keys of `[mechanism]` that name files, which the module of a kind lists as `FILES`."""
    return tuple(getattr(REGISTRY.module(kind), "FILES", ())) if kind in REGISTRY.loaders() else ()


def tables_of(made: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the table of a mechanism without its parts, and before it those of its parts, by their keys."""
    kind = made.get("kind")
    known = isinstance(kind, str) and kind in REGISTRY.loaders()
    keys: tuple[str, ...] = getattr(REGISTRY.module(str(kind)), "PARTS", ()) if known else ()
    for key in keys:
        held = made.get(key)
        named = {f"{key}[{k}]": part for k, part in enumerate(held)} if isinstance(held, list) else {}
        named |= {f"{key}.{name}": part for name, part in held.items()} if isinstance(held, dict) else {}
        for start, part in named.items():
            for inner, table in tables_of(part) if isinstance(part, dict) else ():
                yield f"{start}{'.' * bool(inner)}{inner}", table
    yield "", {key: value for key, value in made.items() if key not in keys}


def singles(mechanism: Mechanism | None) -> tuple[Mechanism, ...]:
    """Returns the mechanisms that one is made of, or itself."""
    if mechanism is None:
        return ()
    return mechanism.parts if isinstance(mechanism, Several) else (mechanism,)


def read_queries(table: Table) -> tuple[tuple[Expression, ...], int]:
    """Reads `queries`: a list of expressions, or their number where a case only counts them."""
    value = table.need("queries")
    if isinstance(value, list) and value:
        queries = []
        with gathered() as each:
            for k, entry in enumerate(value):
                with each, located(key=f"queries[{k}]"):
                    queries.append(as_expression(entry))
        return tuple(queries), len(queries)
    return (), table.integer("queries", 1, 100)


def read_query(table: Table) -> tuple[Expression, ...]:
    """Reads `query`, one expression, which may be left out where `[neighbours]` gives the inputs."""
    return (table.expression("query"),) if "query" in table else ()


def neighbouring_inputs(
    table: Table,
    answers: Sequence[Sequence[Value]],
    default_by: str = "1",
    shape: Shape | None = None,
) -> list[tuple[Input, Input]]:
    """Reads `[neighbours]` and returns each unordered pair of neighbouring inputs once.

    `differ = "each"`: every answer may differ; `"one"`: one answer only. By at most `by`, a number or
    `"any"`. `pairs = [[x, y], ...]` lists pairs of inputs instead. `related` is a condition over two inputs
    of a shape; a pair of different inputs is in the list if it holds in one direction or in both. With a
    `distance` alone every pair is.

    Raises:
        CaseError: a mistake in the table. LimitError: more than `MAX_NEIGHBOURS` pairs.
    """
    _one_way_to_say(table)
    if "related" in table:
        text = table.text("related")
        with located(key="related"):
            relation = read_condition(text, shape or shape_of(None, answers))
            return _related(relation, answers)
    if "distance" in table and "differ" not in table and "pairs" not in table:
        return _related(None, answers)
    if "pairs" in table:
        return [_listed(pair, k, answers) for k, pair in enumerate(_pairs(table))]
    differ, by = read_differ(table, default_by)
    near = near_answers(answers, differ, by)
    if (count := count_neighbours(near, differ)) > MAX_NEIGHBOURS:
        raise LimitError(
            f"there are {count:,} pairs of neighbouring inputs, but at most {MAX_NEIGHBOURS:,} can be "
            "compared; list fewer values, or select some pairs with pairs = [...]"
        )
    inputs: dict[tuple[int, ...], Input] = {}  # by the places of the answers among their values

    def at(places: tuple[int, ...]) -> Input:
        if places not in inputs:
            inputs[places] = tuple(values[k] for values, k in zip(answers, places, strict=True))
        return inputs[places]

    found: list[tuple[Input, Input]] = []
    for left in product(*(range(len(values)) for values in answers)):
        for right in changes(left, near, differ):
            if left < right:
                found.append((at(left), at(right)))
    return found


def _one_way_to_say(table: Table) -> None:
    """Checks that `[neighbours]` says in one way only which inputs are neighbours."""
    given = [key for key in ("differ", "pairs", "related") if key in table]
    if len(given) > 1:
        raise CaseError(f"give either {given[0]} or {given[1]}, not both", key=given[1])
    if "by" in table and given != ["differ"]:
        raise CaseError('this key needs differ = "each" or "one"; add it, or remove this line', key="by")


def _related(relation: Relation | None, answers: Sequence[Sequence[Value]]) -> list[tuple[Input, Input]]:
    """Returns the pairs of different inputs of which a condition holds, in one direction at least."""
    count = prod(map(len, answers))
    if count * (count - 1) // 2 > MAX_CONSIDERED:
        hint = 'use differ = "one" or "each", which considers only inputs that are near each other'
        raise LimitError(f"there are more than {MAX_CONSIDERED:,} pairs of inputs to consider; {hint}")
    inputs = list(product(*answers))
    if relation is None:
        found = list(combinations(inputs, 2))
    else:
        known = [(given, plain(given)) for given in inputs]
        found = [
            (x, y)
            for (x, a), (y, b) in combinations(known, 2)
            if relation.holds(a, b) or relation.holds(b, a)
        ]
    if not found:
        reason = "no two different inputs satisfy this condition, so there are no neighbours"
        raise CaseError(reason if relation else "there is only one input, so there are no neighbours")
    return found


def read_differ(table: Table, default_by: str = "1") -> tuple[str, int | None]:
    """Reads `differ` and `by`: which answers may differ, and by how much at most (None: by anything)."""
    differ = table.choice("differ", ("each", "one"))
    by = str(default_by if table.get("by") is None else table.get("by"))
    if by != "any" and not re.fullmatch(r"0|[1-9][0-9]{0,5}", by):
        raise CaseError(f'this must be a whole number up to {MAX_BY:,}, or "any"', key="by")
    return differ, None if by == "any" else int(by)


def _pairs(table: Table) -> list[object]:
    pairs = table.get("pairs")
    if not isinstance(pairs, list) or not pairs:
        raise CaseError("this must be a list of pairs of inputs, such as [[0, 1], [1, 2]]", key="pairs")
    return pairs


def _listed(pair: object, k: int, answers: Sequence[Sequence[Value]]) -> tuple[Input, Input]:
    with located(key=f"pairs[{k}]"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise CaseError("this must be a pair of two inputs, such as [0, 1]")
        left, right = (
            known_input([literal(v) for v in (x if isinstance(x, list) else [x])], answers) for x in pair
        )
        if left == right:
            raise CaseError("both inputs of this pair are the same: write two different inputs")
        return left, right


def known_input(given: Sequence[Value], answers: Sequence[Sequence[Value]]) -> Input:
    """Returns the input that values name; see `names.find`.

    Raises:
        CaseError: an answer that the mechanism does not take.
    """
    if len(given) != len(answers):
        raise CaseError(
            f"an input of this mechanism has {len(answers)} values, but this one has {len(given)}"
        )
    found = []
    for k, (value, known) in enumerate(zip(given, answers, strict=True)):
        try:
            found.append(find(value, known))
        except CaseError as error:
            labels = any(isinstance(v, str) for v in (*known, value))
            reason = f"; the mechanism takes {known[0]}..{known[-1]}"
            told = f": {error.reason}" if labels else reason
            raise CaseError(f"value {k + 1} of the input is {value}{told}") from None
    return tuple(found)


def show_input(given: Input) -> str:
    """Returns an input in words: `2`, or `(1, 0, 2)`; different inputs have different words.

    Among others, a label with a comma or a quote stands in quotes.
    """
    return str(given[0]) if len(given) == 1 else f"({', '.join(map(_entry, given))})"


def _entry(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False) if {",", '"'} & {*str(value)} else str(value)
