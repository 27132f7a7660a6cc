"""Releases as people write them: `KIND:KEY=VALUE,...`, `CASE.toml:KEY=VALUE,...`, and files of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from paramverify.algebra.budgets import read_epsilon as read_budget
from paramverify.algebra.constants import MAX_EXPONENT
from paramverify.algebra.expressions import constant, evaluate, parse
from paramverify.composition.composing import Component, CompositionQuestion, DirectedRelease
from paramverify.composition.release_losses import (
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    Release,
    Response,
    SubsampledRelease,
    Turned,
)
from paramverify.errors import CaseError, InputError, gathered, located
from paramverify.expectations import SOURCE, TITLE
from paramverify.models.settings import Settings, read_settings
from paramverify.spelling import TYPED, nearest
from paramverify.tables import (
    EXPRESSION,
    FILE,
    NAME,
    Key,
    Listed,
    Section,
    Table,
    TomlDocument,
    Variants,
    by_name,
    exactly_one,
    in_case,
    one_of,
    read_document,
    whole,
)

MOST_TIMES = 10**9

SHARED = (
    Key("times", whole(1, MOST_TIMES), "How often this release is made.", default=1),
    Key(
        "subsample",
        EXPRESSION,
        "The probability that a person is in the data of a release: above 0, at most 1.",
    ),
)
SENSITIVITY = Key(
    "sensitivity",
    EXPRESSION,
    "The largest distance of the answers on two neighbouring data sets.",
    default=1,
)
STEPS = Key(
    "sensitivity",
    whole(1, MOST_TIMES),
    "The largest distance of the answers on two neighbouring data sets, a whole number.",
    default=1,
)
SCALE = Key("scale", EXPRESSION, "The scale of the noise.")
EPSILON = Key("epsilon", EXPRESSION, "The epsilon of one release.")


def _noise(name: str, about: str, keys: tuple[Key, ...], one: Sequence[str] = ()) -> Section:
    kind = Key("kind", one_of(name), KIND, needed=True)
    return Section(
        f'[[component]] kind = "{name}"',
        about,
        (kind, *keys, *SHARED),
        rules=(exactly_one(*one),) if one else (),
    )


KIND = "The kind of noise."
SAME = {  # what other libraries call our kinds of noise
    **dict.fromkeys(("gauss", "normal"), "gaussian"),
    **dict.fromkeys(("geometric", "two_sided_geometric", "dlaplace"), "discrete_laplace"),
    **dict.fromkeys(("laplacian", "double_exponential"), "laplace"),
    "discrete_normal": "discrete_gaussian",
}
NOISES = {
    "gaussian": _noise(
        "gaussian",
        "Normal noise.",
        (Key("sigma", EXPRESSION, "The standard deviation.", needed=True), SENSITIVITY),
    ),
    "discrete_gaussian": _noise(
        "discrete_gaussian",
        "Normal noise on whole numbers.",
        (
            Key("sigma", EXPRESSION, "The scale: noise x has weight exp(-x**2/(2*sigma**2)).", needed=True),
            STEPS,
        ),
    ),
    "laplace": _noise("laplace", "Laplace noise.", (SCALE, EPSILON, SENSITIVITY), one=("scale", "epsilon")),
    "discrete_laplace": _noise(
        "discrete_laplace",
        "Two-sided geometric noise.",
        (SCALE, EPSILON, Key("alpha", EXPRESSION, "Noise x has weight alpha**abs(x)."), STEPS),
        one=("scale", "epsilon", "alpha"),
    ),
    "randomized_response": _noise(
        "randomized_response",
        "The truth, or one of the other values with equal probability.",
        (
            Key("truth", EXPRESSION, "The probability of the truth."),
            EPSILON,
            Key("values", whole(2, MOST_TIMES), "The number of values.", default=2),
        ),
        one=("truth", "epsilon"),
    ),
}
SET = by_name("[component.set]", "Values of parameters and definitions of the case.", EXPRESSION, "A value.")
CASE = Section(
    "[[component]] case",
    "A release of a case.",
    (Key("case", FILE, "The case file, relative to this file.", needed=True), Key("set", SET), *SHARED),
    names=NAME,
)
COMPONENT = Variants(
    "[[component]]",
    "A release: a kind of noise or a case.",
    lambda: tuple(NOISES),
    NOISES.get,
    tag="kind",
    text=KIND,
    otherwise=CASE,
)
COMPOSITION = Section(
    "composition",
    "A file of releases for `paramverify compose`.",
    (
        TITLE,
        SOURCE,
        Key("component", Listed("a list of releases", COMPONENT, least=1), "The releases.", needed=True),
    ),
)


NO_NOTES: tuple[str, ...] = ()

ReadCase = Callable[[str, Settings], tuple[DirectedRelease, tuple[str, ...]]]


def read_components(text: str, read_case: ReadCase) -> tuple[Component, ...]:
    """Reads a component as people write it, or the file of several that it names.

    `read_case` reads a case with what is set for its parameters, and gives notes.

    Raises:
        InputError: a mistake in the text or in a file, with the key that it is about.
    """
    what, values = _split(text)
    if what in NOISES:
        with located(key=what):
            return (_read({"kind": what, **values}, text, "", read_case),)
    listed = file_of_releases(what)
    if listed:
        times = _times(values.pop("times", "1"))
        for key in values:
            raise InputError(
                "only times can follow a file of releases; write this key into the file", key=key
            )
        return tuple(repeated(each, times) for each in _read_all(listed, what, read_case))
    own = {key: values.pop(key) for key in [key.name for key in SHARED] if key in values}
    return (_read({"case": what, **own, "set": values}, text, "", read_case),)


def repeated(component: Component, times: int) -> Component:
    """Returns a component that is released so many times as often."""
    return replace(component, times=component.times * times)


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Returns what a component is, and its values."""
    what, colon, rest = text.rpartition(":")
    if not colon or ("=" not in rest and not rest.strip().lstrip("+-").isdigit()):
        what, rest = text, ""
    values: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            key, value = "times", key
        if key in values:
            raise InputError(f"{text!r} sets {key} twice: remove one of them")
        values[key] = value
    what = what.strip()
    if what not in NOISES and "/" not in what and "." not in what:
        raise InputError(f"{what!r} is neither a kind of noise nor a case file", mend=_meant(what))
    return what, values


def file_of_releases(path: str) -> TomlDocument | None:
    """Returns a file of releases; a file of another kind is read elsewhere, with its mistakes."""
    try:
        document = read_document(Path(path))
    except CaseError:
        return None
    return document if "component" in document.data else None


def _read_all(document: TomlDocument, path: str, read_case: ReadCase) -> list[Component]:
    """Reads a file of releases."""
    found: list[Component] = []
    with in_case(path, document.text), gathered() as each:
        top = Table(document.data, COMPOSITION)
        top.text("title", "")
        top.text("source", "")
        listed = top.get("component")
        if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
            raise CaseError("must be a list of tables: write [[component]]", key="component")
        with each:
            top.close()
        folder = str(Path(path).parent)
        for k, data in enumerate(listed):
            with each, located(key=f"component[{k}]"):
                found.append(_read(data, None, folder, read_case))
    return found


def _read(data: Mapping[str, Any], text: str | None, folder: str, read_case: ReadCase) -> Component:
    """Reads the table of a component; without a text of its own it has that of the words for it."""
    table = Table(data, COMPONENT)
    if ("kind" in data) == ("case" in data):
        raise CaseError("a component needs exactly one of `kind` (for noise) and `case` (for a case file)")
    values = _ComponentValues(table)
    times = _times(values.take("times") or "1")
    rate = _rate(values.take("subsample"))
    if "kind" in data:
        what = _kind(table.text("kind"))
        way, notes = DirectedRelease.of(KINDS[what](values)), NO_NOTES
    else:
        what = str(Path(folder) / table.path("case")) if folder else table.text("case")
        chosen = _set(table)
        values.close()
        way, notes = _of_case(what, read_settings(chosen), read_case)
    ways = (way,) if rate is None else sampled(way, rate)
    case = what if "case" in data else ""
    return Component(text or _words(what, data), times, ways, notes, case=case)


def _of_case(path: str, settings: Settings, read_case: ReadCase) -> tuple[DirectedRelease, tuple[str, ...]]:
    """Reads a case; its mistakes have the places of its own file."""
    try:
        with located(file=path):
            return read_case(path, settings)
    except InputError as error:
        for part in error.parts:
            part.anchored = True
        raise


def _kind(given: str) -> str:
    if given not in NOISES:
        raise CaseError(f"{given!r} is not a kind of noise", key="kind", mend=_meant(given))
    return given


def _meant(kind: str) -> str:
    """Returns the kind of noise that was meant, with the same distribution; else all kinds."""
    near = SAME.get(kind.casefold()) or nearest(kind, NOISES, TYPED)
    return f"did you mean {near!r}?" if near else f"the kinds are {', '.join(NOISES)}"


def _set(table: Table) -> list[str]:
    """Returns what `set` gives to parameters, as `-D` has it."""
    if "set" not in table:
        return []
    with table.within("set") as inner:
        given = _ComponentValues(inner)
        return [f"{name}={given.take(name)}" for name in inner]


def _words(what: str, data: Mapping[str, Any]) -> str:
    """Returns a component in the words of the command."""
    inner = data.get("set", {})
    values = [*inner.items(), *((k, v) for k, v in data.items() if k not in ("kind", "case", "set"))]
    listed = ",".join(f"{key}={value}" for key, value in values)
    return f"{what}:{listed}" if listed else what


def _times(text: str) -> int:
    with located(key="times"):
        value = constant(text)
        if value.denominator != 1 or not 1 <= value <= MOST_TIMES:
            raise InputError(f"must be a whole number from 1 to {MOST_TIMES}, but it is {text!r}")
        return int(value)


def _rate(text: str | None) -> Fraction | None:
    if text is None:
        return None
    with located(key="subsample"):
        value = constant(text)
        if not 0 < value <= 1:
            raise InputError(f"must be a probability above 0 and at most 1, but it is {text!r}")
        return value if value < 1 else None


def sampled(way: DirectedRelease, rate: Fraction) -> tuple[DirectedRelease, DirectedRelease]:
    """Returns both directions: with the person against without, and the other way around.

    Each pair may be that of (with, without), and the pairs are those of both directions. So what dominates
    them dominates the pairs (without, with) too, and is its own mirror image where it is one of them.
    """
    pairs = tuple(SubsampledRelease(pair, rate) for pair in way.pairs)
    turned = Turned(SubsampledRelease(way.dominating if way.single else Turned(way.dominating), rate))
    both = (SubsampledRelease(way.dominating, rate), pairs), (turned, tuple(Turned(pair) for pair in pairs))
    return DirectedRelease(*both[0], tight=way.tight, about=way.about), DirectedRelease(
        *both[1], tight=way.tight
    )


class _ComponentValues:
    """The values of a component, each a number or a text of one; `close` refuses what nobody asked for."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def positive(self, name: str, default: Fraction | None = None) -> Fraction:
        """Returns a positive number."""
        text = self.take(name)
        if text is None and default is not None:
            return default
        with located(key=name):
            if text is None:
                raise InputError(f"missing: write {name}=2 or another number")
            value = constant(text)
            if value <= 0:
                raise InputError(f"must be a number above 0, but it is {text!r}")
            return value

    def whole(self, name: str, default: int, least: int = 1) -> int:
        """Returns a whole number."""
        text = self.take(name)
        with located(key=name):
            value = constant(text) if text is not None else Fraction(default)
            if value.denominator != 1 or value < least:
                raise InputError(f"must be a whole number of at least {least}, but it is {text!r}")
            return int(value)

    def epsilon(self, name: str) -> Loss:
        """Returns a positive ε."""
        text = self.take(name)
        assert text is not None
        with located(key=name):
            found = read_epsilon(text)
            if found.ball() <= 0:
                raise InputError(f"must be above 0, but it is {text!r}")
            return found

    def one_of(self, *names: str) -> str:
        """Returns which one of several keys is given."""
        found = [name for name in names if name in self.table]
        if len(found) != 1:
            raise InputError(f"exactly one of {', '.join(names)} is needed")
        return found[0]

    def close(self) -> None:
        """Raises an InputError where a value is left that nobody asked for."""
        declared = [key.name for key in self.table.section.keys] if self.table.section else []
        known = [name for name in declared if name not in ("kind", "case")]
        for name in self.table.data:
            if name not in declared:
                near = nearest(name, known)
                hint = f"did you mean {near!r}?" if near else f"the keys are {', '.join(known)}"
                raise InputError("unknown key", mend=hint, key=name)

    def take(self, name: str) -> str | None:
        """Returns a value as the text of a number, None where there is none."""
        value = self.table.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise CaseError("must be a number", key=name)
        return str(value)


def read_epsilon(text: str) -> Loss:
    """Reads an ε such as `1`, `0.5` or `ln(3/2)`, exactly.

    Raises:
        InputError: something else, or one beyond the bounds of `exp`.
    """
    budget = read_budget(parse(text))
    found = Loss(budget.rational)
    for factor, argument in budget.logarithms:
        value = evaluate(argument)
        if not isinstance(value, Fraction) or value <= 0:
            raise InputError("the argument of ln must be positive")
        found = found.plus(Loss(ratio=value).times(factor))
    if abs(found.rational) > MAX_EXPONENT:
        raise InputError(f"epsilon must be at most {MAX_EXPONENT:,}")
    return found


def read_question(
    delta_for: str | None, epsilon_for: str | None, keys: tuple[str, str]
) -> CompositionQuestion:
    """Reads what is asked: one of both is given; `keys` names them in mistakes.

    Raises:
        InputError: an ε below 0, or a δ outside of [0, 1].
    """
    if delta_for is not None:
        with located(key=keys[0]):
            epsilon = read_epsilon(delta_for)
            if epsilon.ball() < 0:
                raise InputError(f"epsilon must be at least 0, but it is {delta_for!r}")
            return CompositionQuestion(epsilon=epsilon)
    assert epsilon_for is not None
    with located(key=keys[1]):
        delta = constant(epsilon_for)
        if not 0 <= delta <= 1:
            raise InputError(f"delta must be from 0 to 1, but it is {epsilon_for!r}")
        return CompositionQuestion(delta=delta)


def _gaussian(values: _ComponentValues) -> Release:
    found = Gaussian(values.positive("sigma"), values.positive("sensitivity", Fraction(1)))
    values.close()
    return found


def _discrete_gaussian(values: _ComponentValues) -> Release:
    found = DiscreteGaussian(values.positive("sigma"), values.whole("sensitivity", 1))
    values.close()
    return found


def _laplace(values: _ComponentValues) -> Release:
    sensitivity = values.positive("sensitivity", Fraction(1))
    name = values.one_of("scale", "epsilon")
    given = values.positive(name)
    values.close()
    return Laplace(given if name == "scale" else sensitivity / given, sensitivity)


def _discrete_laplace(values: _ComponentValues) -> Release:
    sensitivity = values.whole("sensitivity", 1)
    name = values.one_of("scale", "epsilon", "alpha")
    given = values.positive(name)
    values.close()
    if name == "alpha":
        if given >= 1:
            raise InputError("must be below 1", key="alpha")
        return DiscreteLaplace(Loss(ratio=1 / given), sensitivity)
    return DiscreteLaplace(Loss(1 / given if name == "scale" else given / sensitivity), sensitivity)


def _response(values: _ComponentValues) -> Release:
    count = values.whole("values", 2, least=2)
    name = values.one_of("truth", "epsilon")
    if name == "epsilon":
        step = values.epsilon(name)
    else:
        truth = values.positive(name)
        if not Fraction(1, count) <= truth < 1:
            raise InputError(f"the probability of the truth must be at least 1/{count} and below 1", key=name)
        step = Loss(ratio=truth * (count - 1) / (1 - truth))
    values.close()
    return Response(step, count)


KINDS: Mapping[str, Callable[[_ComponentValues], Release]] = {
    "gaussian": _gaussian,
    "discrete_gaussian": _discrete_gaussian,
    "laplace": _laplace,
    "discrete_laplace": _discrete_laplace,
    "randomized_response": _response,
}
