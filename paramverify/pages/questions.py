"""What was asked, in words: parameters, what the attacker believes, what is compared and released."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from paramverify import printable
from paramverify.algebra.polynomials import RationalFunction
from paramverify.errors import LimitError
from paramverify.models.hmm import HMM
from paramverify.models.mechanisms import singles
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import AnyModel, Model, of_privacy
from paramverify.models.noise import Noise
from paramverify.models.priors import Prior
from paramverify.models.programs.program_syntax import CalledProgram
from paramverify.pages import mathml
from paramverify.pages.graphs import prior_graph
from paramverify.pages.markup import Element, Part, h
from paramverify.pages.parts import Row, facts, folded, left_out, listing, paragraph, section, table
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports import formulas as reports

MOST_ASSIGNMENTS = 64  # rows of a joint prior
FEW = 12  # rows that are not folded
MOST_CELLS = 144  # of a matrix
MOST_PAIRS = 12
MOST_TERMS = 80  # of a formula that is written
LONGEST = 90  # characters of a formula that is set; a longer one is text, which can be broken into lines


def question(case: PrivacyCase, data: Mapping[str, Any]) -> list[Part]:
    """Returns the question of a case about privacy, or an inequality; `data` is what its file has."""
    if case.model.comparisons:
        return [_claim(case.model), parameters(case), _definitions(case.model)]
    model = of_privacy(case.model, "a page", tied=True, densities=True)
    parts: list[Part] = [_privacy(case, model), parameters(case)]
    if case.prior is not None:
        parts.append(_prior(case.prior, model, data))
    return [*parts, _compared(case, model, data), _mechanism(case, model)]


def _privacy(case: PrivacyCase, model: Model) -> Element:
    sides = "two neighbouring inputs" if case.neighbours else "the two secrets of a pair"
    asked = f"Can somebody who sees the output tell {sides} apart by more than the budget allows?"
    return h("div", paragraph(asked), _bound(case, model))


def _bound(case: PrivacyCase, model: Model) -> list[Part]:
    sets = model.measure.share is not None
    who = "every pair of neighbouring inputs, in both directions, and every"
    if not case.neighbours:
        who = "every prior of the family, every pair of secrets in both directions, and every"
    what, sign = ("set of outputs", "S") if sets else ("output", "ω")
    told = paragraph(f"It is private if for {who} {what} ", h("i", sign), ": ", _inequality(sign, sets), ".")
    if model.measure.told:
        who = who.removesuffix(", and every")
        told = paragraph(f"It is private if for {who} {model.measure.told}.")
    return _bounds(case, model, told)


def _bounds(case: PrivacyCase, model: Model, defined: Element) -> list[Part]:
    bounds = [(what, formula(bound, model)) for what, bound in model.measure.named_bounds]
    more = [("about", case.over)] if case.over else []
    found: list[Part] = [defined, facts([("budget", h("code", case.budget)), *bounds, *more])]
    if not model.measure.distances:
        return found
    rows: list[Row] = [
        [str(d), formula(model.ratio_bound(d).ratio, model)] for d in sorted(model.measure.distances)
    ]
    told = paragraph("The bound c depends on the distance of the two inputs.")
    return [*found, told, table("The bound for each distance", ["distance", "c"], rows)]


def _inequality(sign: str, sets: bool) -> Element:
    def probability(given: str) -> list[Element]:
        inner = [
            h("mo", "(", stretchy="false"),
            h("mi", sign),
            h("mo", "|", stretchy="false"),
            h("mi", given),
        ]
        return [h("mi", "Pr"), h("mrow", inner, h("mo", ")", stretchy="false"))]

    parts = [*probability("s"), h("mo", "≤"), h("mi", "c"), h("mo", "⋅"), *probability("t")]
    parts += [h("mo", "+"), h("mi", "δ")] if sets else []
    return mathml.math(parts, f"Pr({sign} | s) ≤ c · Pr({sign} | t){' + δ' if sets else ''}")


def formula(function: RationalFunction, model: AnyModel) -> Element:
    """Returns a function as a formula, or its size in words."""
    count = len(function.numerator) + len(function.denominator)
    if count <= MOST_TERMS:
        with suppress(LimitError):  # a number of too many digits
            text = reports.formula(function, model.domain).factored
            return (
                mathml.function(function, model.domain)
                if len(text) <= LONGEST
                else h("code", text, class_="formula")
            )
    return h("span", f"a quotient of {count:,} terms", class_="left-out")


def parameters(case: PrivacyCase) -> Element:
    """Returns the table of the parameters and their constraints."""
    domain = case.model.domain
    meant = {u.variable: u for u in domain.ring.unbounded}
    rows: list[Row] = []
    for name in domain.ring.parameters:
        role = "to be chosen" if case.design and name in case.design.parameters else ""
        role = role or ("left free" if name in case.free else "all values count")
        if domain.box[name].is_point:
            role = "one value"
        shown = meant[name].name if name in meant else name
        note = f"; the formulas have {name} = {meant[name].meaning}" if name in meant else ""
        symbol = h("math", mathml.name(shown), alttext=shown)
        where = domain.range_of(name).removeprefix(shown).strip().removeprefix("in ")
        rows.append([symbol, h("code", shown), where, role + note])
    if not rows:
        return left_out("Parameters", "the case has none: all its numbers are fixed")
    parts: list[Part] = [table("Parameters", ["symbol", "name", "values", "role"], rows)]
    if domain.constraints:
        texts = [h("code", c.text) for c in domain.constraints]
        parts.append(
            paragraph("Only points with ", [[", " if k else "", t] for k, t in enumerate(texts)], ".")
        )
    return h("div", parts)


def _prior(prior: Prior, model: Model, data: Mapping[str, Any]) -> Element:
    tables = data.get("prior", {})
    rows: list[Row] = [[h("code", name), h("code", _entry(entry))] for name, entry in tables.items()]
    parts: list[Part] = [
        paragraph(
            "This is what the attacker believes before anything is released. Later variables may depend on "
            "earlier ones."
        ),
        prior_graph(tables),
        table("Variables of the prior", ["variable", "distribution"], rows),
    ]
    if prior.weights is None or len(prior.weights) > MOST_ASSIGNMENTS:
        count = "more" if prior.weights is None else f"{len(prior.weights):,}"
        reason = f"{count} assignments are too many for a table"
        return section("Prior", parts, left_out("The joint distribution", reason), level=4)
    joint: list[Row] = [
        [*(str(value) for value in values), formula(weight, model)]
        for values, weight in prior.weights.items()
    ]
    head: list[Part] = [*(h("code", name) for name in prior.names), "probability"]
    shown = table("Joint distribution", head, joint)
    if len(joint) > FEW:
        shown = folded(f"The joint distribution, {len(joint)} assignments", shown)
    return section("Prior", parts, shown, level=4)


def _entry(entry: object) -> str:
    """Returns an entry of a table of the case as one line, much as it is in the file."""
    if isinstance(entry, dict):
        return f"{{ {', '.join(f'{key} = {_entry(value)}' for key, value in entry.items())} }}"
    if isinstance(entry, list):
        return f"[{', '.join(map(_entry, entry))}]"
    return str(entry).lower() if isinstance(entry, bool) else str(entry)


def _compared(case: PrivacyCase, model: Model, data: Mapping[str, Any]) -> Element:
    if case.neighbours:
        given = data.get("neighbours", {})
        parts: list[Part] = [facts([(key, h("code", _entry(value))) for key, value in given.items()])]
        if model.stands_for:
            pair = model.pairs[0]
            parts.append(
                paragraph(
                    f"These are {model.stands_for.pairs:,} pairs. The pair {pair.left} and {pair.right} has "
                    "the largest ratio of all of them, so it stands for all; the checker computes that again."
                )
            )
        else:
            parts.append(_pairs(model, "input"))
        return section("Neighbouring inputs", parts, level=4)
    secrets = data.get("secrets", {})
    rows = [[h("code", key), h("code", _entry(value))] for key, value in secrets.items() if key != "pairs"]
    shown = (
        table("What each secret says", ["secret", "condition on the variables of the prior"], rows)
        if rows
        else None
    )
    return section("Secrets", shown, _pairs(model, "secret"), level=4)


def _pairs(model: Model, what: str) -> Element:
    has_distance = any(pair.distance is not None for pair in model.pairs)
    count = len(model.pairs)
    rows: list[Row] = []
    for pair in model.pairs[:MOST_PAIRS]:
        far = [str(pair.distance)] if has_distance else []
        rows.append([printable.name(pair.left), printable.name(pair.right), *far])
    head = [f"one {what}", f"the other {what}", *(["distance"] if has_distance else [])]
    title = f"The first {MOST_PAIRS} of {count:,} pairs" if count > MOST_PAIRS else "Pairs that are compared"
    return table(title, head, rows)


def _mechanism(case: PrivacyCase, model: Model) -> Element:
    mechanism = case.mechanism
    parts: list[Part] = [facts([("kind", h("code", case.kind)), ("applied to", _queries(case))])]
    for part in singles(mechanism):
        if isinstance(part, ProgramMechanism):
            parts.append(listing(part.program.text, "The program", numbered=True))
            parts += [
                listing(callee.program.text, f"The program {name}({', '.join(callee.inputs)})", numbered=True)
                for name, callee in part.program.calls.items()
                if isinstance(callee, CalledProgram)
            ]
    noise = getattr(mechanism, "noise", None)
    if isinstance(noise, Noise):
        parts.append(_noise(noise, model))
    hmm = (model.whole or model).hmm
    once = all(step.successor == k for k, row in enumerate(hmm.steps) for step in row)
    if not once:
        parts.append(_steps(hmm, model))
    elif not (isinstance(noise, Noise) and _is_noise(hmm, noise)):
        parts.append(_outputs(hmm, model))
    return section("Mechanism", parts, level=4)


def _queries(case: PrivacyCase) -> Part:
    assert case.mechanism is not None
    queries = [h("code", q.text) for q in case.mechanism.queries]
    if not queries:
        count = len(case.mechanism.answers)
        return f"{count} answers" if count > 1 else "one answer"
    return [[", " if k else "", query] for k, query in enumerate(queries)]


def _noise(noise: Noise, model: Model) -> Element:
    size = noise.range + 1
    if size * size > MOST_CELLS:
        return left_out("The matrix of the noise", f"it has {size} rows of {size} entries")
    rows: list[Row] = [[str(f), *(formula(p, model) for p in row)] for f, row in enumerate(noise.rows)]
    head: list[Part] = ["answer", *map(str, range(size))]
    title = "Noise: the probability that an answer (row) is released as a number (column)"
    return table(title, head, rows, first_is_head=True)


def _is_noise(hmm: HMM, noise: Noise) -> bool:
    """Tells whether the outputs for an input are a row of the noise, so that one table says all."""
    rows = {tuple(map(str, row)) for row in noise.rows}
    return all(tuple(map(str, row)) in rows for row in _rows(hmm))


def _rows(hmm: HMM) -> list[list[RationalFunction]]:
    zero = RationalFunction.of(hmm.ring.number(0))
    found = [[zero] * len(hmm.observations) for _ in hmm.states]
    for row, steps in zip(found, hmm.steps, strict=True):
        for step in steps:
            row[step.observation] = RationalFunction.of(step.weight, hmm.denominator)
    return found


def _outputs(hmm: HMM, model: Model) -> Element:
    if len(hmm.states) * len(hmm.observations) > MOST_CELLS:
        reason = f"{len(hmm.states):,} inputs and {len(hmm.observations):,} outputs are too many for a table"
        return left_out("The matrix of the mechanism", reason)
    sides, other = ("input", hmm.states), ("output", hmm.observations)
    entries = _rows(hmm)
    if len(hmm.observations) > len(hmm.states):
        sides, other = other, sides
        entries = [list(column) for column in zip(*entries, strict=True)]
    rows: list[Row] = [
        [printable.name(name), *(formula(p, model) for p in row)]
        for name, row in zip(sides[1], entries, strict=True)
    ]
    what = (
        "density of a place of outputs, up to a common factor,"
        if hmm.densities
        else "probability of an output"
    )
    title = f"Mechanism: the {what} for an input; each row is an {sides[0]}"
    head: list[Part] = [sides[0], *map(printable.name, other[1])]
    shown = table(title, head, rows, first_is_head=True)
    return shown if len(rows) <= FEW else folded(f"The mechanism as a table, {len(rows)} {sides[0]}s", shown)


def _steps(hmm: HMM, model: Model) -> Element:
    count = sum(map(len, hmm.steps))
    if count > MOST_CELLS:
        return left_out("The steps of the mechanism", f"{len(hmm.states):,} states with {count:,} steps")
    rows: list[Row] = [
        [
            printable.name(hmm.states[state]),
            printable.name(hmm.observations[step.observation]),
            printable.name(hmm.states[step.successor]),
            formula(RationalFunction.of(step.weight, hmm.denominator), model),
        ]
        for state, steps in enumerate(hmm.steps)
        for step in steps
    ]
    return table("Steps of the mechanism", ["in state", "output", "next state", "probability"], rows)


def _claim(model: AnyModel) -> Element:
    return h("div", paragraph("Is this true at every point of the parameters?"), _stated(model))


def _stated(model: AnyModel) -> Element:
    texts = dict.fromkeys(c.text for c in model.comparisons)
    return h("ul", [h("li", h("code", text)) for text in texts])


def _definitions(model: AnyModel) -> Element:
    rows = [[h("code", name), formula(f, model)] for name, f in model.definitions.items()]
    if not rows:
        return left_out("Definitions", "the claim needs none")
    return table("Definitions", ["name", "function"], rows)
