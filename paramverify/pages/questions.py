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
from paramverify.models.neighbourhoods import BY
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
    return [*parts, _compared(case, model, data), _mechanism(case, data)]


def formulas_of(case: PrivacyCase) -> list[Part]:
    """Returns the prior and the mechanism as tables of formulas."""
    model = of_privacy(case.model, "a page", tied=True, densities=True)
    parts: list[Part] = [] if case.prior is None else [_joint(case.prior, model)]
    noise = getattr(case.mechanism, "noise", None)
    if isinstance(noise, Noise):
        parts.append(_noise(noise, model))
    hmm = (model.whole or model).hmm
    once = all(step.successor == k for k, row in enumerate(hmm.steps) for step in row)
    if not once:
        parts.append(_steps(hmm, model))
    elif not (isinstance(noise, Noise) and _is_noise(hmm, noise)):
        parts.append(_outputs(hmm, model))
    return parts


def _privacy(case: PrivacyCase, model: Model) -> Element:
    return h("div", _bound(case, model))


def _bound(case: PrivacyCase, model: Model) -> list[Part]:
    has_delta = model.measure.share is not None
    sets = has_delta or (model.whole or model).hmm.densities
    once = tuple(model.lengths) == (1,)
    who = "every pair of neighbouring inputs σ and τ in both directions, and every"
    if not case.neighbours:
        who = "every prior of the case, every pair of secrets σ and τ in both directions, and every"
    what = "output" if once else "sequence of outputs"
    of_sets = "set of outputs" if once else "set of sequences of outputs"
    what, sign = (of_sets, "S") if sets else (what, "ω")
    told = paragraph(
        f"It is private if for {who} {what} ", h("i", sign), ": ", _inequality(sign, has_delta), "."
    )
    if model.measure.told:
        who = who.removesuffix(", and every")
        told = paragraph(f"It is private if, for {who}, {model.measure.told}.")
    return _bounds(case, model, told)


def _bounds(case: PrivacyCase, model: Model, defined: Element) -> list[Part]:
    bounds = [(what, formula(bound, model)) for what, bound in model.measure.named_bounds]
    more = [("inputs", case.over)] if case.over else []
    if model.side_condition:
        defined = h("div", defined, paragraph(f"But {model.side_condition}."))
    found: list[Part] = [defined, facts([("bound", h("code", case.budget)), *bounds, *more])]
    if not model.measure.distances:
        return found
    rows: list[Row] = [
        [str(d), formula(model.ratio_bound(d).ratio, model)] for d in sorted(model.measure.distances)
    ]
    told = paragraph("The bound e^ε depends on the distance of the two inputs.")
    return [*found, told, table("The bound for each distance", ["distance", "e^ε"], rows)]


def _inequality(sign: str, has_delta: bool) -> Element:
    def probability(given: str) -> list[Element]:
        inner = [
            h("mo", "(", stretchy="false"),
            h("mi", sign),
            h("mo", "|", stretchy="false"),
            h("mi", given),
        ]
        return [h("mi", "Pr"), h("mrow", inner, h("mo", ")", stretchy="false"))]

    power = h("msup", h("mi", "e"), h("mi", "ε"))
    parts = [*probability("σ"), h("mo", "≤"), power, h("mo", "⋅"), *probability("τ")]
    parts += [h("mo", "+"), h("mi", "δ")] if has_delta else []
    return mathml.math(parts, f"Pr({sign} | σ) ≤ e^ε · Pr({sign} | τ){' + δ' if has_delta else ''}")


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
        role = "the question is about all its values"
        if case.design and name in case.design.parameters:
            role = "the question is about all its values; paramverify synthesize chooses one"
        elif name in case.free:
            role = "the question is about all its values; the map is over it"
        if domain.box[name].is_point:
            role = "fixed"
        shown = meant[name].name if name in meant else name
        note = f"; the formulas use {name} = {meant[name].meaning}" if name in meant else ""
        symbol = h("math", mathml.name(shown), alttext=shown)
        where = domain.range_of(name).removeprefix(shown).strip().removeprefix("in ")
        where = "> 0" if where == "(0, oo)" else where
        rows.append([symbol, h("code", shown), where, role + note])
    if not rows:
        return paragraph("The case has no parameters: all its numbers are fixed.")
    parts: list[Part] = [table("Parameters", ["symbol", "name", "values", "role"], rows)]
    if domain.constraints:
        texts = [h("code", c.text) for c in domain.constraints]
        parts.append(paragraph("Constraints: ", [[", " if k else "", t] for k, t in enumerate(texts)], "."))
    return h("div", parts)


def _prior(prior: Prior, model: Model, data: Mapping[str, Any]) -> Element:
    tables = data.get("prior", {})
    rows: list[Row] = [[h("code", name), distribution(entry)] for name, entry in tables.items()]
    parts: list[Part] = [
        paragraph(
            "The prior is what the attacker believes before anything is released. Later variables may depend "
            "on earlier ones."
        ),
        prior_graph(tables),
        table("Variables of the prior", ["variable", "distribution"], rows),
    ]
    return section("Prior", parts, level=4)


def _joint(prior: Prior, model: Model) -> Element:
    if prior.weights is None or len(prior.weights) > MOST_ASSIGNMENTS:
        count = "too many" if prior.weights is None else f"{len(prior.weights):,}"
        reason = (
            f"its variables have {count} combinations of values, and a table shows at most {MOST_ASSIGNMENTS}"
        )
        return left_out("The joint distribution of the prior is left out", reason)
    joint: list[Row] = [
        [*(str(value) for value in values), formula(weight, model)]
        for values, weight in prior.weights.items()
    ]
    head: list[Part] = [*(h("code", name) for name in prior.names), "probability"]
    shown = table("Joint distribution of the prior", head, joint)
    if len(joint) > FEW:
        shown = folded(f"The joint distribution of the prior, {len(joint)} assignments", shown)
    return shown


def distribution(entry: object) -> Part:
    """Returns an entry of `[prior]` in words."""
    match entry:
        case {"bernoulli": chance, **rest} if not rest:
            return f"1 with probability {chance}, otherwise 0"
        case {"binomial": [count, chance], **rest} if not rest:
            return f"binomial: {count} independent trials with probability {chance} each"
        case {"categorical": dict() as chances, **rest} if not rest:
            return _chances(chances)
        case {"given": given, "table": dict() as rows, **rest} if not rest:
            names = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
            told = [
                (key, _chances(row) if isinstance(row, dict) else _entry(row)) for key, row in rows.items()
            ]
            return [h("div", f"given {names} = {key}: {row}") for key, row in told]
        case str():
            return f"= {entry}"
    return h("code", _entry(entry))


def _chances(row: Mapping[str, object]) -> str:
    """Returns values with their probabilities; a single value without one if that is 1."""
    if len(row) == 1 and str(next(iter(row.values()))) == "1":
        return f"always {next(iter(row))}"
    return ", ".join(f"{value} with probability {_entry(chance)}" for value, chance in row.items())


def _entry(entry: object) -> str:
    """Returns an entry of a table of the case as one line, much as it is in the file."""
    if isinstance(entry, dict):
        return f"{{ {', '.join(f'{key} = {_entry(value)}' for key, value in entry.items())} }}"
    if isinstance(entry, list):
        return f"[{', '.join(map(_entry, entry))}]"
    return str(entry).lower() if isinstance(entry, bool) else str(entry)


def _words(entry: object) -> str:
    """Returns an entry of a table in words: `truncated_geometric 1/2, range 2`."""
    if isinstance(entry, dict):
        return ", ".join(f"{key.replace('_', ' ')} {_words(value)}" for key, value in entry.items())
    return _entry(entry)


_DIFFER = {"each": "every answer may differ", "one": "one answer may differ"}
_STREAM = {"each": "every entry of the stream may differ", "one": "one entry of the stream may differ"}


def _differences(given: Mapping[str, Any], is_stream: bool, is_near: bool) -> list[tuple[str, Part]]:
    """Returns in words which inputs are neighbours; `is_near` if values differ by at most 1 by default."""
    rows: list[tuple[str, Part]] = []
    for key, value in given.items():
        match key, value:
            case "differ", "each" | "one":
                rows.append(("difference", (_STREAM if is_stream else _DIFFER)[value]))
            case "by", "any":
                rows.append(("size of a difference", "any"))
            case "by", int():
                rows.append(("size of a difference", f"at most {value}"))
            case "pairs", _:
                rows.append(("pairs", "listed one by one"))
            case _:
                rows.append((key, h("code", _entry(value))))
    if is_near:
        rows.append(("size of a difference", "at most 1, because the case says nothing else"))
    return rows


def _compared(case: PrivacyCase, model: Model, data: Mapping[str, Any]) -> Element:
    if case.neighbours:
        given = data.get("neighbours", {})
        parts: list[Part] = [facts(_differences(given, not model.lengths, BY in model.notes))]
        if model.stands_for:
            pair = model.pairs[0]
            parts.append(
                paragraph(
                    f"These are {model.stands_for.pairs:,} pairs. Of all pairs, {pair.left} and {pair.right} "
                    "have the largest ratio, so a proof about this pair covers all of them; the checker "
                    "recomputes which pair it is."
                )
            )
        else:
            parts.append(_pairs(model, "input"))
        return section("Neighbouring inputs", parts, level=4)
    secrets = data.get("secrets", {})
    rows = [[h("code", key), h("code", _entry(value))] for key, value in secrets.items() if key != "pairs"]
    shown = (
        table("Definitions of the secrets", ["secret", "condition on the variables of the prior"], rows)
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


_LONG = (
    "source",
    "states",
    "observations",
    "emissions",
    "steps",
    "transitions",
    "kind",
    "query",
    "queries",
    "inputs",
    "calls",
    "file",
)  # shown otherwise, or in the file
LONGEST_ENTRY = 80  # characters


def _mechanism(case: PrivacyCase, data: Mapping[str, Any]) -> Element:
    mechanism = case.mechanism
    rows: list[tuple[str, Part]] = [("kind", case.kind.replace("_", " "))]
    listed = data.get("mechanism", {})
    programs = [part for part in singles(mechanism) if isinstance(part, ProgramMechanism)]
    source = listed.get("source") if not programs and isinstance(listed, dict) else None
    if not programs and not isinstance(source, str):
        rows.append(("applied to", _queries(case)))
    for key, value in listed.items() if isinstance(listed, dict) else ():
        text = _words(value)
        if key not in _LONG and len(text) <= LONGEST_ENTRY:
            rows.append((key.replace("_", " "), text))
    parts: list[Part] = [facts(rows)]
    if isinstance(source, str):
        parts.append(listing(source.strip("\n"), "The program", numbered=True))
    for part in programs:
        parts.append(listing(part.program.text, "The program", numbered=True))
        parts += [
            listing(callee.program.text, f"The program {name}({', '.join(callee.inputs)})", numbered=True)
            for name, callee in part.program.calls.items()
            if isinstance(callee, CalledProgram)
        ]
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
        return left_out("The matrix of the noise is left out", f"it has {size} rows of {size} entries")
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
        return left_out("The matrix of the mechanism is left out", reason)
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
        "density of the outputs at a place, up to a common factor,"
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
        reason = f"{len(hmm.states):,} states with {count:,} steps are too many for a table"
        return left_out("The steps of the mechanism are left out", reason)
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
    shown = table("Steps of the mechanism", ["in state", "output", "next state", "probability"], rows)
    return shown if count <= FEW else folded(f"The steps of the mechanism, {count}", shown)


def _claim(model: AnyModel) -> Element:
    return h("div", paragraph("At every point of the domain:"), _stated(model))


def _stated(model: AnyModel) -> Element:
    texts = dict.fromkeys(c.text for c in model.comparisons)
    return h("ul", [h("li", h("code", text)) for text in texts])


def _definitions(model: AnyModel) -> Element:
    rows = [[h("code", name), formula(f, model)] for name, f in model.definitions.items()]
    if not rows:
        return paragraph("The claim uses no definitions.")
    return table("Definitions", ["name", "function"], rows)
