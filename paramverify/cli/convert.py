"""`paramverify convert`: what one guarantee of privacy implies of another measure, by published theorems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from paramverify.algebra import privacy_conversions
from paramverify.algebra.constants import working_precision
from paramverify.algebra.privacy_conversions import Amount, Implied
from paramverify.algebra.rationals import at_most, relation
from paramverify.cli._common import json_option, print_json, say, whole_timeout_option
from paramverify.cli._exits import Exit
from paramverify.composition.written_releases import read_epsilon
from paramverify.errors import InputError, located
from paramverify.evidence import number_words
from paramverify.evidence.number_words import LONGEST
from paramverify.subjects.written_numbers import number, positive

SIGN_BITS = 4_096  # of balls that tell whether an epsilon is negative

LISTED = (320, "Convert a privacy guarantee into other measures, by published theorems.")

TAKES = {  # beside a guarantee
    "pure": ("delta_for", "order"),
    "zcdp": ("delta_for", "epsilon_for", "order"),
    "renyi": ("delta_for", "epsilon_for"),
    "approximate": (),
}
WORDS = {
    "zcdp": "zCDP with rho {}",
    "renyi": "Rényi privacy of order {order} with epsilon {}",
    "total_variation": "total variation distance {}",
    "delta": "(epsilon, delta) privacy with epsilon = {epsilon} and delta {}",
    "epsilon": "(epsilon, delta) privacy with delta = {delta} and epsilon {}",
}


@dataclass(frozen=True)
class ConversionOptions:
    """What the guarantee is converted to, as texts of the options."""

    delta_for: str | None
    epsilon_for: str | None
    order: str | None


@click.command("convert")
@click.option(
    "--pure", metavar="EPSILON", help="Convert pure privacy with this epsilon, such as 1/2 or ln(2)."
)
@click.option("--zcdp", metavar="RHO", help="Convert zero-concentrated privacy with this rho.")
@click.option("--renyi", metavar="ORDER,EPSILON", help="Convert Rényi privacy of this order, above 1.")
@click.option("--approximate", metavar="EPSILON,DELTA", help="Convert (epsilon, delta) privacy.")
@click.option("--delta-for", metavar="EPSILON", help="Find a delta for this epsilon.")
@click.option("--epsilon-for", metavar="DELTA", help="Find an epsilon for this delta.")
@click.option("--order", metavar="ORDER", help="Find the epsilon of Rényi privacy of this order.")
@json_option
@whole_timeout_option
def command(
    pure: str | None,
    zcdp: str | None,
    renyi: str | None,
    approximate: str | None,
    delta_for: str | None,
    epsilon_for: str | None,
    order: str | None,
    as_json: bool,
) -> int:
    """Convert a privacy guarantee into other measures, by published theorems.

    \b
    Example:
      paramverify convert --zcdp 1/8 --epsilon-for 1e-6

    Give one guarantee. Each result is an upper bound, either exact or rounded up. For a case, use `budget`
    instead: its tight bounds are never larger than the bounds that a guarantee implies.
    """
    given = {"pure": pure, "zcdp": zcdp, "renyi": renyi, "approximate": approximate}
    chosen = {name: text for name, text in given.items() if text is not None}
    if len(chosen) != 1:
        raise click.UsageError("give exactly one guarantee: --pure, --zcdp, --renyi or --approximate")
    ((name, text),) = chosen.items()
    asked = ConversionOptions(delta_for, epsilon_for, order)
    idle = [k for k, value in vars(asked).items() if value is not None and k not in TAKES[name]]
    if idle:
        option = idle[0].replace("_", "-")
        raise click.UsageError(
            f"paramverify knows no conversion from --{name} to --{option}: leave --{option} out"
        )
    found = list(_implied(name, text, asked))
    if not found:
        options = (
            "--delta-for, --epsilon-for or --order" if name == "zcdp" else "--delta-for or --epsilon-for"
        )
        raise click.UsageError(f"say what to find: with --{name}, add {options}")
    if as_json:
        print_json({"given": {name: text}, "implied": [_document(implied, more) for implied, more in found]})
    else:
        say(f"{name} privacy with {text} implies:")
        for implied, more in found:
            word = WORDS[implied.name if implied.kind == "approximate" else implied.kind]
            say(f"  {word.format(_told(implied), **more)}, by {implied.source}")
    return Exit.HOLDS


def _implied(name: str, text: str, asked: ConversionOptions) -> Iterator[tuple[Implied, dict[str, str]]]:
    """Yields what a guarantee implies, each with the texts that were given for it."""
    delta_for = asked.delta_for
    other = _amount(delta_for, "--delta-for") if delta_for is not None else None
    delta = _delta(asked.epsilon_for, "--epsilon-for") if asked.epsilon_for is not None else None
    order = _order(asked.order, "--order") if asked.order is not None else None
    for_delta, for_order = {"epsilon": delta_for or ""}, {"order": asked.order or ""}
    for_epsilon = {"delta": asked.epsilon_for or ""}
    if name == "pure":
        epsilon = _amount(text, "--pure")
        yield from ((implied, {}) for implied in privacy_conversions.of_pure(epsilon))
        if order is not None:
            yield privacy_conversions.pure_to_renyi(epsilon, order), for_order
        if other is not None:
            yield privacy_conversions.pure_to_delta(epsilon, other), for_delta
    elif name == "zcdp":
        rho = positive(text, "--zcdp")
        if order is not None:
            yield privacy_conversions.zcdp_to_renyi(rho, order), for_order
        if other is not None:
            yield privacy_conversions.zcdp_to_delta(rho, other), for_delta
        if delta is not None:
            yield from ((implied, for_epsilon) for implied in privacy_conversions.zcdp_to_epsilon(rho, delta))
    elif name == "renyi":
        first, second = _two(text, "--renyi")
        of, bound = _order(first, "--renyi"), _amount(second, "--renyi")
        if other is not None:
            yield privacy_conversions.renyi_to_delta(of, bound, other), for_delta
        if delta is not None:
            yield from (
                (implied, for_epsilon) for implied in privacy_conversions.renyi_to_epsilon(of, bound, delta)
            )
    else:
        first, second = _two(text, "--approximate")
        own = number(second, "--approximate", lambda value: 0 <= value <= 1, "a delta from 0 to 1")
        yield privacy_conversions.total_variation(_amount(first, "--approximate"), own), {}


def _document(implied: Implied, more: dict[str, str]) -> dict[str, Any]:
    known = {implied.name: number_words.exact(implied.exact)} if implied.exact is not None else {}
    upper = {f"{implied.name}_upper": number_words.exact(_short(implied.upper))} if not known else {}
    given = {f"{name}_given": text for name, text in more.items()}
    return {"measure": implied.kind, **given, **known, **upper, "source": implied.source}


def _told(implied: Implied) -> str:
    """Returns a number behind its relation: a long exact one is rounded, and JSON has all of it."""
    if implied.exact is None:
        return f"at most {at_most(implied.upper, 9)}"
    told = number_words.exact(implied.exact)
    return f"= {told}" if len(told) <= LONGEST else relation(implied.exact, 9)


def _short(value: Fraction) -> Fraction:
    """Returns a number of a few digits that is not smaller."""
    return Fraction(at_most(value, 17))


def _amount(text: str, option: str) -> Amount:
    with located(key=option):
        found = read_epsilon(text)
        with working_precision(SIGN_BITS):
            negative = found.ratio < 1 if not found.rational else found.ball() < 0
        if negative:
            raise InputError(f"epsilon is {text}, but must be at least 0")
        return Amount(found.rational, found.ratio)


def _order(text: str, option: str) -> Fraction:
    return number(text, option, lambda value: value > 1, "an order above 1")


def _delta(text: str, option: str) -> Fraction:
    return number(text, option, lambda value: 0 < value < 1, "a delta between 0 and 1")


def _two(text: str, option: str) -> tuple[str, str]:
    first, comma, second = text.partition(",")
    if not comma:
        example = "4,1/2" if option == "--renyi" else "1,1e-6"
        raise InputError(
            f"{text!r:.80} is not two numbers separated by a comma: write, for example, {example}", key=option
        )
    return first, second
