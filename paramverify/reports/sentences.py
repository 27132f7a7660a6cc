"""Numbers, witnesses and verdicts as sentences that a data curator understands, and plain tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

from flint import fmpq_poly, fmpz_poly

from paramverify import printable
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain, in_words
from paramverify.algebra.number_fields import FieldNumber
from paramverify.algebra.polynomials import rational, variables
from paramverify.algebra.rationals import at_least, at_most, decimal_text, relation, rounded
from paramverify.algebra.real_roots import RealRoot
from paramverify.algebra.reals import Real, show_polynomial
from paramverify.algebra.volumes import VolumeShare
from paramverify.answers import Decision, Standing
from paramverify.claims import show_sequence
from paramverify.evidence import certificates
from paramverify.evidence.algebraic_witnesses import AlgebraicCounterexample, AlgebraicWitness, AtAlgebraic
from paramverify.evidence.divergence_witnesses import Contribution, LossWitness, MomentWitness
from paramverify.evidence.enclosed_witnesses import EnclosureWitness, Ends
from paramverify.evidence.interval_witnesses import Chance
from paramverify.evidence.witnesses import AnyWitness, ExactCounterexample, ExactSetWitness, ExactWitness
from paramverify.models.model import AnyModel
from paramverify.printable import escaped
from paramverify.privacy.cases import PrivacyCase


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns the lines of a table with aligned columns, the header underlined."""
    table = [[escaped(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[k]) for row in table) for k in range(len(header))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]


DIGITS = 9  # of a number that is told
MOST_OUTPUTS = 12  # of a set that is told


def told(value: Ends) -> str:
    """Returns a number between two others, behind its relation sign: `≈ 0.672639577`, or `= 1/2`."""
    return f"= {value[0]}" if value[0] == value[1] else around(value)


def around(value: Ends) -> str:
    """Returns a number between two others; a wide range is told by its ends."""
    low, high = value
    if low == high:
        return str(low)
    middle = decimal_text((low + high) / 2, DIGITS)
    if high - low <= abs(low) / 10**DIGITS:
        return f"≈ {middle}"
    return f"between {at_least(low, DIGITS)} and {at_most(high, DIGITS)}"


def certified(value: Ends) -> str:
    """Returns the same with its certified ends."""
    low, high = value
    if low == high:
        return told(value)
    least, most = (word(end, 15) for word, end in ((at_least, low), (at_most, high)))
    middle = around(value)
    return middle if middle.startswith("between") else f"{middle}, certified between {least} and {most}"


def document(value: Ends) -> str | dict[str, str]:
    """Returns a number between two others as JSON data."""
    low, high = value
    return str(low) if low == high else {"lower": at_least(low, 30), "upper": at_most(high, 30)}


def enclosed_outputs(names: Sequence[str]) -> str:
    """Returns a set of outputs in words: the first of them, where there are many."""
    more = len(names) - MOST_OUTPUTS
    shown = (f"({n})" if ", " in n else n for n in map(printable.name, names[:MOST_OUTPUTS]))
    listed = ", ".join(shown)
    return f"{{{listed}{f', ... and {more} more' if more > 0 else ''}}}"


def enclosed_witness_lines(witness: EnclosureWitness) -> list[str]:
    """Returns the sentences that tell a witness: secrets, outputs, probabilities and bounds."""
    left, right = (printable.name(secret) for secret in (witness.left, witness.right))
    far = f" for the distance {witness.distance}" if witness.distance is not None else ""
    if witness.delta is None:
        name = printable.name(witness.outputs[0])
        return [
            f"output {name} is {_times(witness)} under '{right}'; "
            f"that is beyond the bound {around(witness.bound)}{far}.",
            f"Pr({name} | {left}) {certified(witness.probabilities[0])}",
            f"Pr({name} | {right}) {certified(witness.probabilities[1])}",
        ]
    size = len(witness.outputs)
    many = f"the set S of {size} output{'s' * (size != 1)}"
    return [
        f"{many} is too likely under '{left}', compared with '{right}'.",
        f"S = {enclosed_outputs(witness.outputs)}",
        f"Pr(S | {left}) {certified(witness.probabilities[0])}",
        f"Pr(S | {right}) {certified(witness.probabilities[1])}",
        f"Pr(S | {left}) - {around(witness.bound)} times Pr(S | {right}) {told(witness.beyond)}, "
        f"which is more than delta {told(witness.delta)}",
    ]


def _times(witness: EnclosureWitness) -> str:
    """Returns how much more likely an output is on the left, up to the name of the other side."""
    left = printable.name(witness.left)
    low, high = witness.ratio
    if low is None:
        return f"possible under '{left}' and impossible"
    many = f"at least {at_least(low, DIGITS)}" if high is None else around((low, high))
    return f"{many} times as likely under '{left}' as"


def _ratio_document(low: Fraction | None, high: Fraction | None) -> str | dict[str, str]:
    if low is None:
        return "infinity"
    if high is None:
        return {"lower": at_least(low, 30), "upper": "unknown"}
    return document((low, high))


def witness_document(witness: EnclosureWitness) -> dict[str, Any]:
    """Returns a witness as JSON data; each number that is not known has `lower` and `upper`."""
    found: dict[str, Any] = {
        "parameters": {},
        "secrets": [witness.left, witness.right],
        "probabilities": [document(p) for p in witness.probabilities],
        "bound": document(witness.bound),
        "exceeds": witness.exceeds,
        "bits": witness.bits,
    }
    if witness.distance is not None:
        found["distance"] = str(witness.distance)
    if witness.delta is None:
        return found | {"observations": list(witness.outputs), "ratio": _ratio_document(*witness.ratio)}
    return found | {
        "outputs": [[name] for name in witness.outputs],
        "length": 1,
        "delta": document(witness.delta),
        "beyond": document(witness.beyond),
    }


LONGEST_ALGEBRAIC = 60  # characters of a polynomial, or of a rational, before it is left out
SMALL = 12  # digits of coordinates


def root_number(value: FieldNumber) -> str:
    """Returns a number in words: `3/4 (0.75)`, or `≈ 1.41421 (a root of x^2 - 2)`."""
    if value.rational is None:
        told = _polynomial(value.root.factor)
        return f"≈ {decimal_text(value.middle())}" + (f" (a root of {told})" if told else "")
    exact, decimal = str(rational(value.rational)), rounded(value.rational)
    if len(exact) > LONGEST_ALGEBRAIC:
        return decimal
    return exact if value.rational.denominator == 1 else f"{exact} ({decimal})"


def root_equals(value: FieldNumber) -> str:
    """Returns a number behind its relation sign: `= 1/5`, or `≈ 1.41421 (a root of x^2 - 2)`."""
    told = root_number(value)
    return told if told.startswith("≈") else f"= {told}"


def root_place(witness: AtAlgebraic) -> str:
    """Returns the point of a witness: `x ≈ 2.2360679775, y = 1/2`."""
    return ", ".join(
        f"{name} = {rational(value)}"
        if isinstance(value, Fraction)
        else f"{name} ≈ {decimal_text(value.middle(), SMALL)}"
        for name, value in witness.parameters.items()
    )


def roots(witness: AtAlgebraic) -> list[str]:
    """Returns what the irrational coordinates are: each the only zero of a polynomial in an interval."""
    return [
        f"{name} is the only zero of {_polynomial(value.factor) or _degree(value)} "
        f"between {rational(value.lower)} and {rational(value.upper)}"
        for name, value in witness.parameters.items()
        if not isinstance(value, Fraction)
    ]


def algebraic_witness_lines(witness: AtAlgebraic) -> list[str]:
    """Returns the sentences that tell a witness: the point, and what is false or too large there."""
    if isinstance(witness, AlgebraicCounterexample):
        return [
            f"With {root_place(witness)}: {witness.stated.text} is {'false' if witness.fails else 'true'}.",
            *roots(witness),
            f"left side {root_equals(witness.left)}",
            f"right side {root_equals(witness.right)}",
            f"left - right {root_equals(witness.difference)}, "
            f"which is {'not ' * witness.fails}{witness.relation} 0",
        ]
    return _algebraic_leak(witness)


def _algebraic_leak(witness: AlgebraicWitness) -> list[str]:
    output = " ".join(printable.name(show_sequence([o])) for o in witness.observations)
    left, right = (printable.name(secret) for secret in (witness.left, witness.right))
    far = f" for the distance {witness.distance}" if witness.distance is not None else ""
    what = f"output{'s' * (len(witness.observations) > 1)} {output}"
    verb = "is" if len(witness.observations) == 1 else "are"
    told = f"{root_number(witness.ratio)} times as likely" if witness.ratio else "infinitely more likely"
    than = "as" if witness.ratio else "than"
    return [
        f"With {root_place(witness)}: {what} {verb} {told} under '{left}' {than} '{right}'; "
        f"that is {'beyond' if witness.exceeds else 'within'} the bound {root_number(witness.bound)}{far}.",
        *roots(witness),
        *(
            f"Pr({output} | {secret}) {root_equals(value)}"
            for secret, value in zip((left, right), witness.probabilities, strict=True)
        ),
    ]


def _polynomial(factor: fmpz_poly) -> str:
    """Returns a polynomial in x, or nothing where it is long."""
    told = show_polynomial(factor, "x").replace(" 1*", " ")
    return told if len(told) <= LONGEST_ALGEBRAIC else ""


def _degree(root: RealRoot) -> str:
    return f"a polynomial of degree {root.factor.degree()}"


LONGEST = 40  # characters of an exact number before it is shown as a decimal only

_WITH = f" with {GENERATOR} = "


def number(value: Real) -> str:
    """Returns a number in words: `2`, `24/7 (≈ 3.42857)`, `3/4 (0.75)`; a decimal alone if it is long."""
    exact, decimal = exactly(value), _decimal(value)
    if len(exact) > LONGEST:
        return decimal
    if _WITH in exact:
        return f"{decimal}, exactly {exact}"
    return exact if exact.lstrip("-").isdigit() else f"{exact} ({decimal})"


def factor(value: Real) -> str:
    """Returns a number that stands before "times": a decimal where it has no short name of its own."""
    return _decimal(value) if _WITH in exactly(value) else number(value)


def equals(value: Real) -> str:
    """Returns a number behind its relation sign: `= 1/5 = 0.2`, `= 1/3 ≈ 0.333333`, or `≈ 0.148551`."""
    exact, decimal = exactly(value), _decimal(value)
    decimal = decimal if decimal.startswith("≈") else f"= {decimal}"
    if len(exact) > LONGEST:
        return decimal
    if _WITH in exact:
        return f"{decimal}, exactly {exact}"
    return f"= {exact}" if exact.lstrip("-").isdigit() else f"= {exact} {decimal}"


def _decimal(value: Real) -> str:
    """Returns a number as a decimal, behind `≈` where that is not all of it."""
    middle = value.middle()
    return rounded(middle) if value.rational is not None else f"≈ {decimal_text(middle)}"


def exactly(value: Real) -> str:
    """Returns a number as it is, in `E` with whole coefficients: `(E - 1)/(2*E) with E = exp(1/4)`."""
    told = value.describe()
    if _WITH not in told:
        return told
    top, bottom = value.numerator, value.denominator
    scale = top.denom().lcm(bottom.denom())
    parts = [p * scale for p in (top, bottom)]
    above, below = (show_polynomial(p, GENERATOR) for p in parts)
    if below != "1":
        above = f"({above})" if _terms(parts[0]) > 1 else above
        below = f"({below})" if _terms(parts[1]) > 1 or "*" in below else below
        above = f"{above}/{below}"
    return above + told[told.index(_WITH) :]


def _terms(polynomial: fmpq_poly) -> int:
    return sum(bool(c) for c in polynomial.coeffs())


def percent(share: VolumeShare, digits: int) -> str:
    """Returns a share in percent with so many decimals, or its bounds where they differ in these: `≈ 63.2 %`.

    Neither a little becomes nothing nor almost all becomes all.
    """
    unit = 100 * 10**digits

    def shown(units: int) -> str:
        return f"{Decimal(units).scaleb(-digits):.{digits}f} %"

    if share.exact and share.lower in (0, 1):
        return f"{100 * share.lower} %"
    low, high = round(share.lower * unit), round(share.upper * unit)
    if low == high:
        if low in (0, unit):
            return f"< {shown(1)}" if low == 0 else f"> {shown(unit - 1)}"
        return shown(low) if share.exact and share.lower * unit == low else f"≈ {shown(low)}"
    low, high = floor(share.lower * unit), ceil(share.upper * unit)
    if low == 0:
        return f"at most {shown(high)}" if high < unit else "between 0 % and 100 %"
    return f"at least {shown(low)}" if high == unit else f"between {shown(low)} and {shown(high)}"


def verdict(standing: Standing, model: AnyModel) -> str:
    """Returns the word for a verdict about a model: private or not, and true or false of an inequality."""
    return model.word(standing)


def word(observations: Sequence[str]) -> str:
    """Returns the names of an observation sequence as a terminal may show them; see `show_sequence`."""
    return " ".join(printable.name(show_sequence([o])) for o in observations)


def sequence(observations: Sequence[str]) -> str:
    """Returns an observation sequence in words."""
    shown = word(observations)
    return f"output {shown}" if len(observations) == 1 else f"outputs {shown}"


def priors(domain: Domain, case: PrivacyCase) -> str:
    """Returns what a verdict is about: `for all neighbouring q in {0..4}^2 with eps in (0, oo)`.

    Of a claim these are the points of the domain, such as `for every p in (0, 1)`.
    """
    free = any(not interval.is_point for name, interval in domain.box.items() if name != GENERATOR)
    return case.model.over(domain.told(), case.compared(free))


def constraints(domain: Domain, about: Collection[str] | None = None) -> str:
    """Returns the constraints behind `with`, after a space: all, or those that mention one of these names."""
    told = dict.fromkeys(
        c.text
        for c in domain.constraints
        if about is None or not set(about).isdisjoint(variables(c.polynomial))
    )
    return f" with {', '.join(told)}" if told else ""


def others(domain: Domain, names: Sequence[str]) -> str:
    """Returns where other parameters lie, such as `a in (0, 1), b in (0, 1) with a + b < 1`.

    Those with one value are left out; the text is empty if no other is left. A constraint that mentions one
    of them is part of it.
    """
    ranging = [name for name in names if not domain.box[name].is_point]
    if not ranging:
        return ""
    return ", ".join(domain.range_of(name) for name in ranging) + constraints(domain, ranging)


def witness_lines(witness: AnyWitness) -> list[str]:
    """Returns the sentences that tell a witness: the parameter point, and what is too large there."""
    if isinstance(witness, ExactSetWitness):
        return _set(witness)
    if isinstance(witness, MomentWitness):
        return _moment(witness)
    if isinstance(witness, LossWitness):
        return _loss(witness)
    if isinstance(witness, EnclosureWitness):
        return enclosed_witness_lines(witness)
    if isinstance(witness, ExactCounterexample):
        return _compared(witness)
    return algebraic_witness_lines(witness) if isinstance(witness, AtAlgebraic) else _leak(witness)


def outputs(found: Sequence[Sequence[str]]) -> str:
    """Returns a set of outputs in words: the first of them, where there are many."""
    told = ", ".join(word(output) for output in found[:MOST_OUTPUTS])
    more = len(found) - MOST_OUTPUTS
    return f"{{{told}{f', ... and {more} more' if more > 0 else ''}}}"


def _set(witness: ExactSetWitness) -> list[str]:
    """Returns the sentences that tell a set of outputs: prior, secrets, probabilities and bounds."""
    at = f"With {place(witness)}: " if witness.parameters else ""
    left, right = (f"'{printable.name(secret)}'" for secret in (witness.left, witness.right))
    size = len(witness.outputs)
    many = f"the set S of {size} output{'s' * (size != 1)}"
    return [
        f"{at}{many} is too likely under {left}, compared with {right}."
        if witness.exceeds
        else f"{at}{many} is within the bounds under {left}, compared with {right}.",
        f"S = {outputs(witness.outputs)}",
        f"Pr(S | {printable.name(witness.left)}) {equals(witness.probabilities[0])}",
        f"Pr(S | {printable.name(witness.right)}) {equals(witness.probabilities[1])}",
        f"Pr(S | {printable.name(witness.left)}) - {factor(witness.bound)} times "
        f"Pr(S | {printable.name(witness.right)}) {equals(witness.beyond)}, "
        f"which is {'more' if witness.exceeds else 'not more'} than delta {equals(witness.delta)}",
    ]


def _moment(witness: MomentWitness) -> list[str]:
    """Returns the sentences that tell a divergence: prior, secrets, the sum, its bound, its largest parts."""
    at = f"With {place(witness)}: " if witness.parameters else ""
    left, right = (printable.name(secret) for secret in (witness.left, witness.right))
    far = "more" if witness.exceeds else "not more"
    head = f"{at}'{left}' is {'too far from' if witness.exceeds else 'within the bound of'} '{right}'."
    return [
        head,
        f"{witness.measure.sum_told(left, right, witness.length)} "
        f"{equals(witness.moment) if witness.moment else 'is infinite'}, "
        f"which is {far} than the bound {equals(witness.bound)}",
        witness.measure.value_told(witness.moment),
        *(_share(witness, share) for share in witness.largest),
    ]


def _loss(witness: LossWitness) -> list[str]:
    """Returns the sentences that tell a loss: prior, secrets, the divergence and its bound."""
    at = f"With {place(witness)}: " if witness.parameters else ""
    left, right = (printable.name(secret) for secret in (witness.left, witness.right))
    far = "more" if witness.exceeds else "not more" if witness.value else "perhaps more"
    value = between(witness.value) if witness.value else "is infinite"
    what = "the Kullback-Leibler divergence" if witness.order is None else "the Renyi divergence"
    of = "" if witness.order is None else f" of order {witness.order}"
    bound = "the bound" if witness.order is None else "rho times the order"
    return [
        f"{at}'{left}' is {'too far from' if witness.exceeds else 'within the bound of'} '{right}'.",
        f"{what}{of} {value}, which is {far} than {bound} {between(witness.bound)}",
        *(_share(witness, share) for share in witness.largest),
    ]


def between(ends: tuple[Fraction, Fraction]) -> str:
    """Returns a number that lies between two others, rounded; behind its relation sign."""
    low, high = ends
    return relation(low, 9) if low == high else f"≈ {decimal_text((low + high) / 2, 9)}"


def _share(witness: MomentWitness | LossWitness, share: Contribution) -> str:
    told, (p, q) = word(share.output), share.probabilities
    left, right = (printable.name(secret) for secret in (witness.left, witness.right))
    return f"Pr({told} | {left}) {equals(p)}, Pr({told} | {right}) {equals(q)}"


def _compared(witness: ExactCounterexample) -> list[str]:
    at = f"With {place(witness)}: " if witness.parameters else ""
    return [
        f"{at}{witness.stated.text} is {'false' if witness.fails else 'true'}.",
        f"left side {equals(witness.left)}",
        f"right side {equals(witness.right)}",
        f"left - right {_against_zero(witness)}, which is {'not ' * witness.fails}{witness.relation} 0",
    ]


def _against_zero(witness: ExactCounterexample) -> str:
    """Returns left - right in words that tell its sign, however small it is."""
    told, sign = equals(witness.difference), witness.difference.sign()
    small = told.endswith("≈ 0")
    return f"{told} (in truth {'above' if sign > 0 else 'below'} 0)" if sign and small else told


def _leak(witness: ExactWitness) -> list[str]:
    """Returns the sentences that tell a candidate: prior, secrets, output, probabilities, ratio and bound."""
    at = f"With {place(witness)}: " if witness.parameters else ""
    return [f"{at}{comparison(witness)}", *probability_lines(witness)]


def probability_lines(witness: ExactWitness) -> list[str]:
    """Returns the two probabilities of a candidate; of sets beside it, where it is about densities."""
    found = witness.within
    told = found or witness
    name = "density" if witness.densities and not found else "Pr"
    outputs = word(told.observations)
    lines = [
        f"{name}({outputs} | {printable.name(secret)}) {_chance(value)}"
        for secret, value in zip((witness.left, witness.right), told.probabilities, strict=True)
    ]
    if not found:
        return lines
    limit = any(map(_is_limit, witness.observations))
    ratio = factor(witness.ratio) if witness.ratio else "infinity" if limit else "infinite"
    verb = "tends to" if limit else "is"
    what = "the ratio" if limit else "the ratio of the densities"
    return [*lines, f"At {word(witness.observations)} {what} {verb} {ratio}"]


def _chance(value: Chance) -> str:
    return between(value) if isinstance(value, tuple) else equals(value)


def place(witness: AnyWitness) -> str:
    """Returns the point of a witness; unbounded parameters are told for their variables too."""
    if isinstance(witness, AtAlgebraic):
        return root_place(witness)
    unread = witness.unread if isinstance(witness, ExactWitness) else ()
    parameters = {name: value for name, value in witness.parameters.items() if name not in unread}
    told = [in_words(parameters), *(_meant(name, value) for name, value in witness.meant.items())]
    return ", ".join(filter(None, told))


def _meant(name: str, value: str) -> str:
    return f"{name} {value}" if value.startswith("≈") else f"{name} = {value}"


def comparison(witness: ExactWitness) -> str:
    """Returns the sentence that compares both probabilities of a candidate with each other and the bound."""
    found = witness.within or witness
    left, ratio = found.probabilities[0], found.ratio
    outcome = sequence(found.observations)
    verb = "is" if len(witness.observations) == 1 else "are"
    secrets = [f"under '{printable.name(secret)}'" for secret in (witness.left, witness.right)]
    possible = isinstance(left, tuple) or left.sign() > 0
    if ratio:
        times = between(ratio) if isinstance(ratio, tuple) else factor(ratio)
        told = f"{outcome} {verb} {times} times as likely {secrets[0]} as {secrets[1]}"
    elif possible and any(map(_is_limit, found.observations)):
        told = f"{outcome} {verb} infinitely more likely {secrets[0]} than {secrets[1]}"
    elif possible:
        told = f"{outcome} {verb} possible {secrets[0]} and impossible {secrets[1]}"
    else:
        told = f"{outcome} {verb} impossible {' and '.join(secrets)}"
    verdict = "beyond" if witness.exceeds else "within"
    return f"{told}; that is {verdict} the bound {bound(witness)}."


def _is_limit(observation: str) -> bool:
    """Tells whether an output is a limit of numbers: a zero there does not say that any is impossible."""
    return "far above" in observation or "far below" in observation


def bound(witness: ExactWitness) -> str:
    """Returns the bound of a candidate, with the distance of its inputs where it depends on that."""
    far = f" for the distance {witness.distance}" if witness.distance is not None else ""
    return f"{number(witness.bound)}{far}"


def on_word(decisions: Sequence[Decision]) -> str:
    """Returns on whose word proofs rest, behind the word of a verdict; nothing if all have certificates."""
    names = dict.fromkeys(name for d in decisions for name in certificates.words(d))
    return f", on the word of {', '.join(names)} (no certificate)" if names else ""


def on_condition(model: AnyModel) -> str:
    """Returns that a verdict has a side condition, as an addition to the word of a verdict; see `but`."""
    return ", on a side condition" if model.side_condition else ""


def but(model: AnyModel) -> str:
    """Returns the side condition of a verdict about the model, as an addition to its sentence."""
    if not model.side_condition:
        return ""
    nothing = f"; {model.nothing_compared}" if model.nothing_compared else ""
    return f"; but {model.side_condition}{nothing}"


def notes(told: Sequence[str], said: str) -> list[str]:
    """Returns the notes as lines, without those that a sentence says already."""
    return [f"Note: {note}." for note in told if note not in said]


def words(decisions: Sequence[Decision]) -> dict[str, Any]:
    """Returns the same as JSON data: the programs, and the number of proofs."""
    found = [certificates.words(d) for d in decisions]
    names = dict.fromkeys(name for part in found for name in part)
    return {"on_the_word_of": list(names), "without_certificate": sum(map(bool, found))}


def session_words(names: Iterable[str]) -> tuple[list[str], dict[str, Any]]:
    """Returns the same of all that a session proved, as lines and as JSON data; nothing for certificates."""
    found = list(names)
    if not found:
        return [], {}
    line = f"On the word of {', '.join(found)}: parts of this were proved without a certificate."
    return [line], {"on_the_word_of": found}


def backends_used(decisions: Sequence[Decision]) -> str:
    """Returns who decided how many claims, such as `5 by bernstein, 1 by z3 5.4.0`."""
    counts = Counter(f"{d.backend} {d.version}".strip() for d in decisions)
    return ", ".join(f"{count} by {name}" for name, count in counts.most_common())
