"""All runs of a function on one input: a tree of its random choices, with what it returns at the leaves."""

from __future__ import annotations

import copy
import decimal
import enum
import functools
import math
import random
import secrets
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from paramverify.tracing.calls import MARK, Blocked, World
from paramverify.tracing.draw_laws import UNPREDICTABLE, Source, laws_of
from paramverify.tracing.formulas import Floats, Formula, Real, Refused
from paramverify.tracing.noise_values import LogDraw, Noisy, Symbol, UniformSum
from paramverify.tracing.tracer import Noise, Place, Step, Tracer

MOST_RUNS = 50_000  # of one function
HERE = str(Path(__file__).parent.parent)
DEFAULT = "the default "
_DESCRIPTORS = (property, functools.cached_property)
MOST_PROBES = 100  # runs on ways at random, see `_check_size`
MISTAKE = 1e-9  # probability that a function with few enough runs is refused by them
SMALL = 1e3  # a function whose runs seem fewer by this factor is explored
FEWER = "use fewer inputs or fewer draws, or write it in the language of programs, which joins equal states"
MOST_PLACES = 20  # that are refused and shown
MOST_FURTHER = 300, 2_000  # runs, and random choices in them, behind the first refused one
TWICE = 50  # runs that are repeated, to see whether the function does the same again


@dataclass(eq=False)
class Leaf:
    """The end of a run: the output in the language of programs, and what types it has."""

    text: str
    types: str
    noisy: bool
    plain: str  # the value as Python shows it, for people
    place: Place | None = None  # the statement that ends the run


@dataclass(eq=False)
class Branch:
    """A choice, a test or a draw of noise, with what follows each alternative."""

    step: Step
    after: list[Branch | Leaf | None]


Tree = Branch | Leaf


@dataclass
class Explored:
    """The trees of a function, by input, and what a reader should know of how it was read."""

    trees: dict[tuple[Any, ...], Tree] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    runs: int = 0
    lines: list[Any] = field(default_factory=list)  # of the program, see `residual`
    agreement: Any = None  # with runs of the function, if those were compared
    adoption: Any = None  # the function itself, see `api.adopting`


_FUNCTIONS = {  # of modules, which are no methods of their generators
    "secrets": ("randbelow", "token_bytes", "token_hex", "token_urlsafe"),
    "numpy.random": ("default_rng", "seed", "ranf", "sample"),
}


def _generator_states() -> tuple[Any, ...]:
    """Returns the states of the generators of `random` and `numpy.random`; each draw changes one."""
    import numpy as np

    state: Any = np.random.mtrand._rand.get_state(legacy=False)
    inner = state["state"]
    parts = [part.tobytes() if hasattr(part, "tobytes") else part for part in inner.values()]
    return random._inst.getstate(), parts, state["has_gauss"], state["gauss"]


@contextmanager
def blocked(world: World) -> Iterator[None]:
    """Keeps code that is not traced from drawing by functions of `random`, `secrets` and `numpy.random`."""
    import numpy as np

    places: list[tuple[Any, str, Any]] = []
    for module in (random, secrets, np.random):
        for name, found in list(vars(module).items()):
            owner = getattr(found, "__self__", None)
            drawn = owner is not None and not isinstance(owner, ModuleType) and laws_of(owner) is not None
            if drawn or name in _FUNCTIONS.get(module.__name__, ()):
                places.append((module, name, found))
    try:
        for module, name, found in places:
            setattr(module, name, Blocked(found, world))
        yield
    finally:
        for module, name, found in places:
            setattr(module, name, found)
        world.end()


def with_sources(value: Any, tracer: Tracer) -> Any:
    """Returns a deep copy in which each generator of random numbers is a source of the tracer."""
    memo: dict[int, Any] = {}
    for found in _generators(value, set(), 0):
        laws = laws_of(found)
        assert laws is not None
        tracer.note(UNPREDICTABLE)
        memo[id(found)] = Source(laws, type(found), tracer)
    return copy.deepcopy(value, memo)


def copied(value: Any) -> Any:
    """Returns a deep copy with the same generators of random numbers."""
    return copy.deepcopy(value, {id(found): found for found in _generators(value, set(), 0)})


def _generators(value: Any, seen: set[int], depth: int) -> Iterator[Any]:
    if (
        id(value) in seen
        or depth > 20
        or isinstance(value, (str, int, float, FunctionType, ModuleType, type))
    ):
        return
    seen.add(id(value))
    if laws_of(value) is not None:
        yield value
        return
    inside: list[Any] = []
    if isinstance(value, dict):
        inside = list(value.values())
    elif isinstance(value, (list, tuple, set, frozenset)):
        inside = list(value)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        inside = list(vars(value).values())
    for part in inside:
        yield from _generators(part, seen, depth + 1)


# --- outputs ----------------------------------------------------------------------------------------


def written(value: Any, tracer: Tracer) -> tuple[str, str, bool]:
    """Returns an output in the language of programs, its types in Python, and whether it has noise.

    Raises:
        Refused: the language has no such value.
    """
    if isinstance(value, enum.Enum):
        return repr(str(value)), f"enum {type(value).__name__}", False
    if value is None:
        return repr("None"), "None", False
    kind = getattr(getattr(value, "dtype", None), "kind", "") if getattr(value, "shape", None) == () else ""
    if isinstance(value, bool) or kind == "b":
        return str(bool(value)), "bool", False
    if isinstance(value, Real):
        number = value.formula.number
        if number is None:
            raise tracer.refuse(
                f"an output is {value.formula.text}, which depends on the parameters: return a number "
                "without them, or a "
                "text"
            )
        return _number(number), "float", False
    if isinstance(value, LogDraw):
        value = value.noise()
    if isinstance(value, Noisy):
        if value.discrete and not value.whole:
            raise tracer.refuse(
                "an output is a float with noise on whole numbers, whose zero may be -0.0: return int(...)"
            )
        return _noisy(value), "int" if value.whole else "real", True
    if isinstance(value, UniformSum):
        raise tracer.refuse(
            "an output is a continuous uniform number, which is not supported: return whether it is below a "
            "number, or int(10 * u)"
        )
    if isinstance(value, Symbol):
        raise tracer.refuse(
            f"an output is {value.what}, which is not supported: compare it, and return the result"
        )
    if isinstance(value, (int, float, str, bytes)):
        _check_shown(value, tracer)
    if isinstance(value, (int, Fraction)) or kind in ("i", "u"):
        return (
            _number(Fraction(value if isinstance(value, Fraction) else int(value))),
            ("Fraction" if isinstance(value, Fraction) else "int"),
            False,
        )
    if isinstance(value, (float, decimal.Decimal)) or kind == "f":
        text = str(value)
        if text in ("inf", "-inf", "nan", "-0.0"):  # a reader sees the sign of zero
            return repr(text), "float", False
        return (
            _number(Fraction(text) if isinstance(value, decimal.Decimal) else Floats.number(float(value))),
            ("Decimal" if isinstance(value, decimal.Decimal) else "float"),
            False,
        )
    if isinstance(value, str):
        return _label(str(value)), "str", False
    if isinstance(value, bytes):
        return _label(repr(value)), "bytes", False
    _check_shown(value, tracer)
    word, parts = _parts(value, tracer)
    found = [written(part, tracer) for part in parts]
    return (
        f"[{', '.join(text for text, _, _ in found)}]",
        f"{word}[{', '.join(types for _, types, _ in found)}]",
        any(noisy for *_, noisy in found),
    )


def _check_shown(value: Any, tracer: Tracer) -> None:
    """Checks that an output has no attributes that its text does not show."""
    known = {f.name for f in fields(value)} if is_dataclass(value) and not isinstance(value, type) else set()
    found = sorted(vars(value).keys() - known) if hasattr(value, "__dict__") else []
    if found and (known or isinstance(value, (int, float, str, bytes, list, tuple, dict, set, frozenset))):
        raise tracer.refuse(
            f"an output of the type {type(value).__name__} has the attribute {found[0]}, which is not one of "
            "its fields: return a tuple"
        )


def _parts(value: Any, tracer: Tracer) -> tuple[str, list[Any]]:
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, [getattr(value, f.name) for f in fields(value)]
    if isinstance(value, dict):
        return type(value).__name__, [[k, v] for k, v in value.items()]
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, sorted(value, key=lambda part: written(part, tracer)[0])
    if isinstance(value, tuple):
        return type(value).__name__, list(value)
    if isinstance(value, list):
        return type(value).__name__, list(value)
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        kind = "float64" if value.dtype.kind in "Of" else value.dtype.name  # exact numbers are floats
        return f"{kind} array of shape {value.shape}", list(value) if value.shape else [value.item()]
    if isinstance(value, (zip, map, filter, enumerate, reversed, range)) or hasattr(value, "__next__"):
        return type(value).__name__, list(value)
    raise tracer.refuse(
        f"an output has the type {type(value).__name__}, which is not supported: return numbers, texts, "
        "lists, tuples or dictionaries"
    )


def _label(text: str) -> str:
    return "'" + text.encode("unicode_escape").decode("ascii").replace("'", "\\'") + "'"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"({value})"


def _noisy(value: Noisy) -> str:
    from paramverify.tracing.noise_values import _sum_text

    value.check_there(value.terms)
    text = _sum_text(value.terms)
    number = value.constant.number
    if number is None:
        return f"{text} + {value.constant.text}"
    return text if number == 0 else f"{_number(number)} + {text}".replace("+ -", "- ")


# --- exploring --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Explorer:
    """Runs a function on inputs, again and again."""

    start: Callable[[Tracer, tuple[Any, ...]], tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]
    signs: Callable[[Formula], int]
    world: World
    found: Explored = field(default_factory=Explored)
    volumes: dict[Any, Formula] = field(default_factory=dict)  # see `Tracer`
    refused: list[Refused] = field(default_factory=list)  # by distinct places
    further: list[int] = field(default_factory=list)  # the random choices of each run after the first refusal

    def all(self, inputs: Sequence[tuple[Any, ...]]) -> Explored:
        """Returns the trees of all inputs.

        Raises:
            Refused: the function does something that is not supported. `refused` has the places that runs of
                other inputs and outcomes found.
        """
        with blocked(self.world):
            self._check_size(inputs)
            for given in inputs:
                tree = self._tree(given)
                if tree is not None:
                    self.found.trees[given] = tree
        if self.refused:
            raise self.refused[0]
        return self.found

    def _check_size(self, inputs: Sequence[tuple[Any, ...]]) -> None:
        """Refuses a function with far too many runs at once.

        On a way at random, the product of the numbers of alternatives has the number of runs as its mean
        (Knuth). If there were at most `MOST_RUNS`, these products, divided by it and multiplied with each
        other, would exceed 1 / MISTAKE with at most the probability MISTAKE, whenever one stops (Ville).

        Raises:
            Refused: there are too many runs.
        """
        generator = random.Random(0)
        self._probe(inputs[0], lambda count: count - 1)  # where a loop without a bound goes on for ever
        total = 0.0
        for _ in range(MOST_PROBES):
            tracer = self._probe(generator.choice(inputs), generator.randrange)
            if tracer is None:
                return
            choices = [step for step in tracer.path if not isinstance(step, Noise)]
            total += math.log(len(inputs) / MOST_RUNS) + sum(math.log(step.count) for step in choices)
            if total > -math.log(MISTAKE):
                ((place, count),) = Counter(step.place for step in choices).most_common(1)
                raise Refused(
                    f"the function has more than {MOST_RUNS:,} runs, because one run makes {len(choices):,} "
                    f"choices, {count:,} of them here: {FEWER}",
                    place.file,
                    place.line,
                )
            if total < -math.log(SMALL):
                return

    def _probe(self, given: tuple[Any, ...], beyond: Callable[[int], int]) -> Tracer | None:
        """Returns how a run took these alternatives; None if it is refused, which is kept."""
        try:
            return self._run(given, (), beyond)[0]
        except Refused as error:
            self._keep(error)
            return None

    def _keep(self, error: Refused) -> None:
        """Keeps a refusal if its place is a new one.

        Raises:
            Refused: other runs would show no further places: the refusal has no line, because it is about the
                whole function, or the run, which ended too early, has left something changed.
        """
        if (error.file, error.line) not in {(one.file, one.line) for one in self.refused}:
            self.refused.append(error)
        if not error.line:
            raise error
        self.world.state.check()

    def _is_enough(self, tracer: Tracer) -> bool:
        """Counts a run behind the first refused one, and tells whether it was the last one."""
        self.further.append(len(tracer.path))
        runs, choices = MOST_FURTHER
        is_last = len(self.further) >= runs or sum(self.further) >= choices
        return is_last or len(self.refused) >= MOST_PLACES

    def _tree(self, given: tuple[Any, ...]) -> Tree | None:
        """Returns the tree of an input; None if a run is refused."""
        root: list[Branch | Leaf | None] = [None]
        pending: list[tuple[int, ...]] = [()]
        repeated = 0
        while pending:
            prescribed = pending.pop()
            self.found.runs += 1
            if self.found.runs > MOST_RUNS:
                raise Refused(f"the function has more than {MOST_RUNS:,} runs: {FEWER}")
            try:
                tracer, leaf = self._run(given, prescribed)
            except Refused as error:
                self._keep(error)
                tracer = self.world.inserted.tracer
            self._branch(pending, prescribed, tracer)
            if self.refused:
                if self._is_enough(tracer):
                    raise self.refused[0]
                continue
            taken = tracer.taken
            if repeated < TWICE:
                repeated += 1
                again, other = self._run(given, tuple(taken))
                if [s.key for s in again.path] != [s.key for s in tracer.path] or other.text != leaf.text:
                    raise Refused(
                        "the function behaves differently when it is run again with the same draws: it may "
                        "have a source of randomness or a state that paramverify does not see"
                    )
            self._insert(root, tracer, leaf)
        assert self.refused or root[0] is not None
        return None if self.refused else root[0]

    @staticmethod
    def _branch(pending: list[tuple[int, ...]], prescribed: Sequence[int], tracer: Tracer) -> None:
        """Adds the other alternatives of the choices that a run met beyond the prescribed ones."""
        branching = [step for step in tracer.path if not isinstance(step, Noise)]
        for k in range(len(prescribed), len(tracer.taken)):
            pending += [(*tracer.taken[:k], other) for other in range(1, branching[k].count)]

    def _run(
        self,
        given: tuple[Any, ...],
        prescribed: Sequence[int],
        beyond: Callable[[int], int] = lambda count: 0,
    ) -> tuple[Tracer, Leaf]:
        tracer = Tracer(self.signs, prescribed, volumes=self.volumes, beyond=beyond)
        self.world.begin(tracer)
        function, arguments, named = self.start(tracer, given)
        self.world.state.check()
        states = _generator_states()
        Refused.first = None
        end: Place | None = None
        try:
            value = self.world.inserted.call(function, *arguments, **named)
            if Refused.first is not None:
                raise Refused.first
            if isinstance(value, types.GeneratorType):
                value = list(value)
            text, kinds, noisy = written(value, tracer)
            plain = repr(value) if not noisy else text
            end = tracer.returned
        except Refused as error:
            found = Refused.first or error
            place = self._place_of(found)
            found.file, found.line = found.file or place.file, found.line or place.line
            raise found from None
        except AssertionError as error:
            if Refused.first is not None:
                raise Refused.first from None
            place = self._place_of(error)
            reason = f"the assertion fails for the input {_shown(given)}; an assertion must hold in every run"
            raise Refused(reason, place.file, place.line) from None
        except Exception as error:
            if Refused.first is not None:
                raise Refused.first from None
            text, kinds, noisy = _label(_raised(error)), f"raise {type(error).__name__}", False
            plain = f"raises {type(error).__name__}"
            end = place = self._place_of(error)
            if isinstance(error, (TypeError, AttributeError, NameError, RecursionError)) or _is_ours(error):
                reason = f"{type(error).__name__}: {error}"
                if isinstance(error, RecursionError):
                    reason = (
                        "the recursion here has no bound: recursion must end after a bounded number of calls"
                    )
                raise Refused(reason, place.file, place.line) from None
            self._note(
                f"the function raises {type(error).__name__} for some inputs or draws ({place}); "
                "the exception, with its text, is an output"
            )
        self.world.inserted.check()
        self.world.state.check()
        if _generator_states() != states:
            raise Refused(
                "the function calls code that draws random numbers and that paramverify cannot follow: "
                "draw them in the function itself"
            )
        for note in tracer.reads:
            self._note(note)
        return tracer, Leaf(text, kinds, noisy, plain, end)

    def _note(self, text: str) -> None:
        if text not in self.found.notes:
            self.found.notes.append(text)

    @staticmethod
    def _place_of(error: BaseException) -> Place:
        from paramverify.tracing.tracer import TRACED

        found, trace = Place("", 0, ""), error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename.startswith(TRACED):
                found = Place(code.co_filename.removeprefix(TRACED), trace.tb_lineno, code.co_name)
            trace = trace.tb_next
        return found

    @staticmethod
    def _steps(tracer: Tracer) -> Iterator[tuple[Step, int]]:
        taken = iter(tracer.taken)
        for step in tracer.path:
            yield step, -1 if isinstance(step, Noise) else next(taken)

    @classmethod
    def _insert(cls, root: list[Branch | Leaf | None], tracer: Tracer, leaf: Leaf) -> None:
        places, k = root, 0
        for step, chosen in cls._steps(tracer):
            found = places[k]
            if found is None:
                found = places[k] = Branch(step, [None] * step.count)
            if not isinstance(found, Branch) or found.step.key != step.key:
                raise Refused("the function behaves differently when it is run again with the same draws")
            places, k = found.after, max(chosen, 0)
        places[k] = leaf


def _raised(error: Exception) -> str:
    """Returns an exception as an output: what a caller sees of it.

    Raises:
        Refused: it carries more than its type, its arguments and its cause.
    """
    more = [*sorted(vars(error).keys() - {MARK}), *getattr(error, "__notes__", ())]
    if more or isinstance(error, BaseExceptionGroup):
        raise Refused(
            f"the exception {type(error).__name__} carries more than its text, which a caller sees: raise it "
            "with one text"
        )
    text = f"raises {type(error).__name__}: {error}"
    if type(error).__str__ not in (Exception.__str__, KeyError.__str__, OSError.__str__):
        text += f" {error.args!r}"
    cause = error.__cause__
    return text if cause is None else f"{text} from {type(cause).__name__}: {cause}"


def _is_ours(error: Exception) -> bool:
    """Tells whether an exception comes from the code of this package, where Python itself may raise none."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename if trace else ""
    return file.startswith(HERE) and not getattr(error, MARK, False)


def _shown(given: tuple[Any, ...]) -> str:
    return ", ".join(map(repr, given))
