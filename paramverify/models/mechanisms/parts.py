"""`kind = "parts"`: several mechanisms, each with fresh noise of its own, about the same hidden data.

Given the hidden data the parts are independent, so the probability of a tuple of outputs is the product of
theirs. A mixture over hidden data is formed afterwards, so what one part tells of them changes what the
others tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from paramverify.algebra.expressions import Expression, Value
from paramverify.algebra.polynomials import Polynomial
from paramverify.errors import CaseError, LimitError, ModelError, UnsupportedError, gathered, located
from paramverify.models.context import Checks
from paramverify.models.enclosed_models import NO_FORMULAS
from paramverify.models.hmm import HMM, MAX_TIMES, HmmStep, repeated
from paramverify.models.mechanisms import (
    KIND,
    REGISTRY,
    Input,
    InputsChecked,
    Mechanism,
    are_rows_checked,
    compare,
    declared,
    neighbouring_inputs,
    read_mechanism,
    show_input,
)
from paramverify.models.priors import InitialDistribution, SecretPair
from paramverify.models.relations import Shape, shape_of
from paramverify.tables import Key, Listed, Section, Table, Variants

TOLD = (
    "Several mechanisms answer about the same hidden data, each with independent noise; "
    "an output is a tuple with one output of each part."
)

CHECKED = True  # each part is, by its own module or here
PARTS = ("parts",)  # keys of `[mechanism]` that hold mechanisms

MAX_OUTPUTS = 20_000  # tuples from one input


def _kinds() -> list[str]:
    """Returns the kinds of mechanisms that can be a part: all but this one."""
    return [name for name in REGISTRY.names() if name != __name__.rpartition(".")[2]]


PART = Variants("[[mechanism.parts]]", "One of the mechanisms.", _kinds, declared, tag="kind", text=KIND)
SECTION = Section(
    "parts",
    "Several mechanisms that answer about the same hidden data, with independent noise.",
    (Key("parts", Listed("a list of mechanisms", PART, least=2), "The mechanisms.", needed=True),),
)


@dataclass(frozen=True, eq=False)
class Single:
    """One of the mechanisms, and how many times it answers."""

    mechanism: Mechanism
    times: int
    checked: bool  # its module checks its probabilities


@dataclass(frozen=True, eq=False)
class Independent:
    """Mechanisms that answer about the same hidden data.

    Where the parts have queries, an input has the answers to those of the first part, then of the second,
    and so on. Else it is an input of each of them.
    """

    checks: Checks
    singles: tuple[Single, ...]
    shape: Shape

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """The mechanisms."""
        return tuple(single.mechanism for single in self.singles)

    @property
    def queries(self) -> tuple[Expression, ...]:
        """The queries of all parts, one after the other."""
        return tuple(query for part in self.parts for query in part.queries)

    @property
    def answers(self) -> tuple[tuple[Value, ...], ...]:
        """The possible values of each query, or of the input that all parts have."""
        if not self.queries:
            return self.parts[0].answers
        return tuple(values for part in self.parts for values in part.answers)

    @property
    def default_by(self) -> str:
        """How far neighbours are apart if the case does not say it; with different parts it has to."""
        return str(getattr(self.parts[0], "default_by", "1"))

    def build(self, inputs: Sequence[Input]) -> tuple[HMM, list[InitialDistribution]]:
        """Returns the model with a state for each distinct input, and an observation for each tuple.

        Raises:
            CaseError: what a part does next depends on what it did before, or it puts out numbers without
                ends. LimitError: too many tuples.
            ModelError: two tuples would have one name.
        """
        order = {given: k for k, given in enumerate(dict.fromkeys(inputs))}
        split = [self._split(given) for given in order]
        models: list[HMM] = []
        states: list[list[int]] = []
        for k, single in enumerate(self.singles):
            with located(key=f"mechanism.parts[{k}]", anchored=True):
                model, starts = single.mechanism.build([given[k] for given in split])
                if getattr(single.mechanism, "ranges", None):  # observations that are sets, or densities
                    reason = "this part outputs unbounded numbers, which cannot be listed"
                    mend = "clamp them, or write all parts as one program"
                    raise CaseError(reason, mend=mend)
                if not isinstance(model, HMM):
                    raise UnsupportedError(NO_FORMULAS)
                states.append([_state(model, start) for start in starts])
                if not single.checked:
                    model.check_steps(self.checks)
                models.append(repeated(model, single.times) if single.times > 1 else model)
        rows = list(zip(*states, strict=True))
        hmm = _product(models, [show_input(given) for given in order], rows)
        one = self.checks.ring.number(1)
        return hmm, [InitialDistribution.point(order[given], one) for given in inputs]

    def _split(self, given: Input) -> list[Input]:
        """Returns the input of each part."""
        if not self.queries:
            return [given] * len(self.parts)
        found, start = [], 0
        for part in self.parts:
            found.append(given[start : start + len(part.queries)])
            start += len(part.queries)
        return found

    def check(self, values: Sequence[Collection[Value]]) -> None:
        """Checks each part with the values that the entries of its inputs may have."""
        start = 0
        for k, part in enumerate(self.parts):
            own = values if not self.queries else values[start : start + len(part.queries)]
            start += len(part.queries)
            if isinstance(part, InputsChecked):
                with located(key=f"mechanism.parts[{k}]", anchored=True):
                    part.check(own)

    def neighbours(self, table: Table) -> tuple[HMM, list[SecretPair]]:
        """Returns the model of all neighbouring inputs that the table describes, and the pairs."""
        self.check(self.answers)
        near = dict.fromkeys(getattr(part, "default_by", "1") for part in self.parts)
        if len(near) > 1 and "differ" in table and table.get("by") is None:
            reason = (
                "if `by` is left out, it is 1 for one part and any for another, so state how far "
                "neighbours may be apart"
            )
            raise CaseError(reason, key="by", mend='write by = 1, or by = "any"')
        found = neighbouring_inputs(table, self.answers, self.default_by, self.shape)
        return compare(self, found)

    @staticmethod
    def word_of(values: Sequence[object], known: Collection[str]) -> str:
        """Returns the tuple in the words of the model that an implementation means by its values."""
        told = [str(value) for value in values if value is not None]
        readings = [_tuple(told), *told[: len(told) == 1]]
        return next((word for word in readings if word in known), readings[0])


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `parts`, a list of mechanisms with inputs that fit together.

    Raises:
        InputError: fewer than two parts, a mistake in one, or parts of different inputs.
    """
    listed = table.need("parts")
    if not isinstance(listed, list) or len(listed) < 2 or not all(isinstance(one, dict) for one in listed):
        mend = "write [[mechanism.parts]] once for each mechanism, with its kind and its keys below it"
        reason = "parts needs at least two mechanisms, each in its own table"
        raise CaseError(reason, key="parts", mend=mend)
    singles: list[Single] = []
    with gathered() as each:
        for k, entry in enumerate(listed):
            with each, located(key=f"parts[{k}]"):
                singles.append(_read_part(Table(entry, PART), k, checks))
    shape = _fitting([single.mechanism for single in singles])
    return Independent(checks, tuple(singles), shape)


def _read_part(made: Table, place: int, checks: Checks) -> Single:
    kind = made.text("kind")
    if kind in REGISTRY.names() and kind not in _kinds():
        raise CaseError("a part must be a single mechanism: list its parts beside the others", key="kind")
    times = made.integer("times", 1, MAX_TIMES) if "times" in made else 1
    start = f"parts[{place}]."
    own = {name.removeprefix(start): text for name, text in checks.files.items() if name.startswith(start)}
    return Single(read_mechanism(made, replace(checks, files=own)), times, are_rows_checked(kind))


def _fitting(parts: Sequence[Mechanism]) -> Shape:
    """Returns how an input is taken apart that all parts have.

    Raises:
        CaseError: some have queries and others none, or the inputs are different.
    """
    asked = [bool(part.queries) for part in parts]
    if any(asked) != all(asked):
        odd = asked.index(not asked[0])
        given, other = (0, odd) if asked[0] else (odd, 0)
        mend = "give queries to every part (for a case with [prior]) or to none (for [neighbours])"
        reason = f"this part has no queries, but parts[{given}] does"
        raise CaseError(reason, key=f"parts[{other}]", mend=mend)
    if any(asked):
        return shape_of(None, [values for part in parts for values in part.answers])
    for k, part in enumerate(parts):
        if len(part.answers) != len(parts[0].answers):
            reason = f"it takes {_count(part)}, and parts[0] takes {_count(parts[0])}"
            raise _different(k, reason)
        for place, (own, theirs) in enumerate(zip(part.answers, parts[0].answers, strict=True), start=1):
            if set(own) != set(theirs):
                told = f"answer {place} is one of {_listed(own)}, and for parts[0] one of {_listed(theirs)}"
                raise _different(k, told)
    shapes = [shape_of(part, part.answers) for part in parts]
    named = [k for k, shape in enumerate(shapes) if any(piece.name for piece in shape)] or [
        *range(len(shapes))
    ]
    first = named[0]
    for k in named:
        if shapes[k] != shapes[first]:
            reason = f"its inputs are {_parted(shapes[k])}, and those of parts[{first}] are "
            raise _different(k, reason + _parted(shapes[first]))
    return shapes[first]


def _different(place: int, reason: str) -> CaseError:
    mend = "give all parts the same inputs; a program need not read all of them"
    return CaseError(f"all parts must have the same inputs: {reason}", key=f"parts[{place}]", mend=mend)


def _count(part: Mechanism) -> str:
    count = len(part.answers)
    return f"{count} answers" if count > 1 else "one answer"


def _listed(values: Iterable[Value]) -> str:
    listed = list(map(str, values))
    return ", ".join(listed[:5]) + (", ..." if len(listed) > 5 else "")


def _parted(shape: Shape) -> str:
    return ", ".join(
        (piece.name or "an unnamed value") + ("" if piece.length is None else f" of length {piece.length}")
        for piece in shape
    )


def _state(model: HMM, start: InitialDistribution) -> int:
    """Returns the state of an input of a mechanism that answers from it with fresh noise each time."""
    stays = all(step.successor == s for s, row in enumerate(model.steps) for step in row)
    if model.chosen or not stays or len(start.weights) != 1:
        reason = (
            "this mechanism keeps a state between its answers, so its outputs cannot be listed in a table"
        )
        raise CaseError(reason, mend="write it as a program that outputs all of its answers")
    (state,) = start.weights
    return state


def _product(models: Sequence[HMM], names: Sequence[str], states: Sequence[tuple[int, ...]]) -> HMM:
    """Returns the model of tuples of outputs; each input has a state of each model."""
    known: dict[str, int] = {}
    meant: dict[str, tuple[int, ...]] = {}
    rows: list[tuple[HmmStep, ...]] = []
    for s, where in enumerate(states):
        single = [_outputs(model, state) for model, state in zip(models, where, strict=True)]
        if (count := prod(map(len, single))) > MAX_OUTPUTS:
            raise LimitError(
                f"the parts together have {count:,} tuples of outputs, but at most {MAX_OUTPUTS:,} "
                "are supported"
            )
        level: list[tuple[tuple[int, ...], Polynomial]] = [((), models[0].ring.number(1))]
        for row in single:
            level = [((*told, o), w * share) for told, w in level for o, share in row.items()]
        row_of: list[HmmStep] = []
        for told, weight in level:
            name = _tuple([model.observations[o] for model, o in zip(models, told, strict=True)])
            if meant.setdefault(name, told) != told:
                reason = (
                    f"two tuples of outputs have the same name, {name}: rename the output that contains "
                    "a comma or a bracket"
                )
                raise ModelError(reason)
            row_of.append(HmmStep(known.setdefault(name, len(known)), s, weight))
        rows.append(tuple(row_of))
    bottom = prod((model.denominator for model in models), start=models[0].ring.number(1))
    found = HMM(models[0].ring, tuple(names), tuple(known), tuple(rows), denominator=bottom)
    return replace(found, densities=any(model.densities for model in models))


def _outputs(model: HMM, state: int) -> Mapping[int, Polynomial]:
    """Returns the weight of each output in a state."""
    found: dict[int, Polynomial] = {}
    for step in model.steps[state]:
        before = found.get(step.observation)
        found[step.observation] = step.weight if before is None else before + step.weight
    return found


def _tuple(names: Iterable[str]) -> str:
    """Returns outputs as the name of their tuple: `(0, yes)`; an output with a comma has brackets."""
    return f"({', '.join(f'({name})' if ', ' in name else name for name in names)})"
