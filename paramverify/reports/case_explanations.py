"""What was understood of a case, before anything is decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramverify import printable
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import RationalFunction, variables
from paramverify.automata.automaton import GEOMETRIC
from paramverify.automata.stored_values import explore
from paramverify.automata.stream_cases import StreamCase
from paramverify.automata.stream_verdicts import never_taken
from paramverify.claims import show_sequence
from paramverify.divergences import Average, PositiveParts
from paramverify.encodings.choice import chosen, claims_of
from paramverify.encodings.output_sums import excesses
from paramverify.encodings.sequences import ENCODING as SEQUENCES
from paramverify.errors import LimitError
from paramverify.interactive.system_cases import InteractiveCase
from paramverify.kernel.strict_reading import counted
from paramverify.logic.formula_syntax import Private, Probability, parts
from paramverify.logic.logic_cases import LogicCase
from paramverify.models.enclosed_models import EnclosedModel
from paramverify.models.mechanisms import REGISTRY as KINDS
from paramverify.models.mechanisms import tables_of
from paramverify.models.model import AnyModel, Model, is_about, of_privacy
from paramverify.models.noise import REGISTRY as NOISES
from paramverify.models.systems.transition_systems import as_function
from paramverify.privacy.cases import PrivacyCase
from paramverify.privacy.idle import never_put_out, unused, warnings_of
from paramverify.reports.stream_reports import budget_of, stream
from paramverify.reports.stream_reports import notes as stream_notes

LISTED = 12  # entries of a long list that are told


@dataclass
class Understood:
    """Facts about a case in the order in which they are told: heading, the same as JSON data, and lines."""

    title: str
    facts: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, name: str, value: Any, *told: str) -> None:
        """Takes one fact; a fact without words is for JSON only."""
        self.facts[name] = value
        self.told += [f"{name}: {told[0]}", *(f"  {line}" for line in told[1:])] if told else []

    def document(self) -> dict[str, Any]:
        """Returns all facts as JSON data."""
        return {"title": self.title, **self.facts, "warnings": self.warnings}


def lines(found: Understood) -> list[str]:
    """Returns what was understood in words."""
    warnings = [f"Warning: {warning}." for warning in found.warnings]
    return [printable.name(found.title or "(without a title)"), *found.told, *warnings]


def parameters(found: Understood, domain: Domain, data: Mapping[str, Any]) -> None:
    """Adds the parameters with their domains, and the constraints."""
    given = data.get("parameters", {})
    domains = {name: _text(value) for name, value in given.items() if name != "constraints"}
    constraints = list(dict.fromkeys(constraint.text for constraint in domain.constraints))
    shown = [
        f"{name} in {value}" if value[:1] in "([" else f"{name} = {value}" for name, value in domains.items()
    ]
    if shown or constraints:
        found.add("parameters", domains, ", ".join([*shown, *constraints]))
        found.facts["constraints"] = constraints
    else:
        found.add("parameters", {}, "none")


def notes(found: Understood, told: Sequence[str]) -> None:
    """Adds what a reader should know of the mechanism."""
    found.add("notes", list(told), *((counted(len(told), "note"), *told) if told else ()))


def _warnings(found: Understood, case: PrivacyCase, data: Mapping[str, Any]) -> None:
    """Adds what nothing depends on, and the other notes of the case."""
    told = warnings_of(case.model, case.mechanism, case.prior, data)
    found.warnings += told
    notes(found, [note for note in case.model.notes if note not in told])


def case_understood(case: PrivacyCase, data: Mapping[str, Any]) -> Understood:
    """Returns what was understood of a case; `data` is its file, for the words that stand there."""
    found = Understood(case.title)
    parameters(found, case.model.domain, data)
    if case.model.comparisons:
        _inequality(found, case.model, case.budget)
        _warnings(found, case, data)
        return found
    model = case.model
    if isinstance(model, EnclosedModel):
        return _enclosed(found, case, model, data)
    model = of_privacy(model, "explain", tied=True, densities=True)
    if named := {name: _text(value) for name, value in data.get("define", {}).items()}:
        found.add("definitions", named, *(f"{name} = {text}" for name, text in named.items()))
    _compared(found, case, model, data)
    _mechanism(found, case, data)
    outputs = _outputs(found, model)
    found.add("budget", case.budget, case.budget)
    _claims(found, model, outputs)
    _obligations(found, model)
    _warnings(found, case, data)
    return found


def _enclosed(
    found: Understood, case: PrivacyCase, model: EnclosedModel, data: Mapping[str, Any]
) -> Understood:
    _compared(found, case, model, data)
    _mechanism(found, case, data)
    names, bits = model.table.observations, model.table.bits
    shown = ", ".join(printable.name(name) for name in names[:LISTED])
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    found.add(
        "outputs", {"names": list(names), "lengths": [1]}, f"{counted(len(names), 'output')}: {shown}{more}"
    )
    found.add("budget", case.budget, case.budget)
    directions = 2 * len(model.pairs)
    told = f"none as polynomials: probabilities are enclosed in intervals, with at most {bits} bits"
    found.add(
        "claims",
        {"count": None, "directions": directions, "bits": bits},
        f"{told}, for {counted(directions, 'direction')}",
    )
    _obligations(found, model)
    _warnings(found, case, data)
    return found


def _inequality(found: Understood, model: AnyModel, claim: str) -> None:
    named = {name: f"({f.numerator})/({f.denominator})" for name, f in model.definitions.items()}
    found.add("question", "inequality", "is the claim true at every point of the parameters?")
    found.add("functions", named, ", ".join(named) or "none")
    found.add("claim", claim, printable.name(claim, 300))
    count = len(claims_of(model))
    links = len(model.comparisons)
    found.add(
        "claims",
        {"count": count, "comparisons": links},
        f"{counted(count, 'claim')} from {counted(links, 'comparison')}",
    )
    _obligations(found, model)


# --- what is compared -------------------------------------------------------------------------------


def _compared(
    found: Understood, case: PrivacyCase, model: Model | EnclosedModel, data: Mapping[str, Any]
) -> None:
    pairs = len(model.pairs)
    if model.stands_for:
        pairs = model.stands_for.pairs // 2
    if case.neighbours:
        found.add(
            "question",
            "neighbours",
            "can outputs distinguish neighbouring inputs by more than the bound allows?",
        )
        entries = {name: _text(value) for name, value in data["neighbours"].items()}
        told = [f"{name} = {value}" for name, value in entries.items()]
        if "differ" in entries and "by" not in entries:
            told.append(f"by = {getattr(case.mechanism, 'default_by', '1')} (the default)")
        found.add("neighbours", entries, ", ".join(told))
    else:
        found.add(
            "question",
            "secrets",
            "can outputs distinguish the secrets of a pair by more than the bound allows, under any prior?",
        )
        prior = {name: _text(value) for name, value in data["prior"].items()}
        found.add(
            "prior", prior, "the attacker's belief", *(f"{name} ~ {text}" for name, text in prior.items())
        )
        if case.prior is not None:
            secrets = {name: _text(text) for name, text in data["secrets"].items() if name != "pairs"}
            told = [f"{printable.name(name)}: {text}" for name, text in secrets.items()]
            found.add("secrets", secrets, counted(len(secrets), "secret"), *told)
    names = [[p.left, p.right] for p in model.pairs]
    shown = [f"{printable.name(a)} against {printable.name(b)}" for a, b in names[:LISTED]]
    more = [f"and {pairs - len(shown):,} more"] if pairs > len(shown) else []
    found.add(
        "pairs", {"count": pairs, "pairs": names}, f"{counted(pairs, 'pair')}, both ways", *shown, *more
    )
    distances = sorted({p.distance for p in model.pairs if p.distance is not None})
    if distances:
        listed = [str(distance) for distance in distances]
        found.add("distances", listed, ", ".join(listed[:LISTED]) + (", ..." if len(listed) > LISTED else ""))


def _mechanism(found: Understood, case: PrivacyCase, data: Mapping[str, Any]) -> None:
    *inner, (_, entries) = tables_of(data["mechanism"])
    document, words = _one_mechanism(entries)
    for start, part in inner:
        own, lines = _one_mechanism(part)
        if start.endswith("]"):
            document.setdefault("parts", []).append(own)
        else:
            document.setdefault("calls", {})[start.removeprefix("calls.")] = own
        words += [f"{start}: {own['kind']}. {own['meaning']}", *(f"  {line}" for line in lines)]
    found.add("mechanism", document, f"{case.kind}. {document['meaning']}", *words)


def _one_mechanism(entries: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Returns what a mechanism is, as data and in words; its parts are told by themselves."""
    told = {name: _text(value) for name, value in entries.items() if name not in ("kind", "source")}
    document = {"kind": entries["kind"], "meaning": _told(KINDS.loaders()[entries["kind"]]()), **told}
    words = [f"{name} = {value}" for name, value in told.items()]
    noise = entries.get("noise")
    kinds = NOISES.loaders()
    for name in (n for n in kinds if isinstance(noise, dict) and n in noise):
        document["noise_formula"] = _told(kinds[name]())
        words.append(f"Pr(o | f), the answer f becoming o: {document['noise_formula']}")
    if isinstance(entries.get("source"), str):
        document["source"] = entries["source"]
        words += map(printable.name, entries["source"].strip().split("\n"))
    return document, words


def _told(module: Any) -> str:
    """Returns the sentence that a module says of itself: its `TOLD`, or the first line of its docstring."""
    return str(getattr(module, "TOLD", "") or (module.__doc__ or "").strip().split("\n")[0])


# --- outputs and claims -----------------------------------------------------------------------------


def _outputs(found: Understood, model: Model) -> int:
    """Adds the outputs and the lengths; returns how many sequences there are, 0 for every length."""
    names, lengths = model.hmm.observations, model.lengths
    shown = [printable.name(show_sequence([name])) for name in names[:LISTED]]
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    told = f"{counted(len(names), 'output')}: {', '.join(shown)}{more}"
    sequences = sum(len(names) ** length for length in lengths)
    if not lengths:
        told += "; sequences of every length"
    elif lengths != (1,):
        ends = "..".join(dict.fromkeys(str(n) for n in (lengths[0], lengths[-1])))
        told += f"; sequences of length {ends}"
    never = never_put_out(model.whole or model)
    found.add("outputs", {"names": list(names), "lengths": list(lengths), "never": never}, told)
    return int(sequences)


def _claims(found: Understood, model: Model, sequences: int) -> None:
    pairs = len(model.pairs)
    if is_about(model, PositiveParts):
        sums = excesses(model)
        directions = sum(len(claim.origins) for claim in sums)
        told = f"{counted(len(sums), 'claim')} about the sum of all outputs"
        told += f", for {counted(directions, 'direction')}"
        found.add("claims", {"count": len(sums), "comparisons": directions}, told)
        return
    if is_about(model, Average):
        directions = 2 * pairs * len(model.lengths)
        told = f"none as polynomials: {counted(directions, 'divergence')}, enclosed in intervals on boxes"
        found.add("claims", {"count": None, "divergences": directions}, told)
        return
    encoding = chosen(model)
    try:
        claims = claims_of(model) if model.lengths else None
    except LimitError as error:
        found.add("claims", {"encoding": encoding.name, "count": None}, f"too many to be formed: {error}")
        return
    if claims is None:
        found.add("claims", {"count": None}, "they are formed one after the other, for every length at once")
        return
    compared = sum(len(claim.origins) for claim in claims)
    document = {"encoding": encoding.name, "count": len(claims), "comparisons": compared}
    told = counted(len(claims), "claim")
    if encoding.name == SEQUENCES.name and sequences:
        product = 2 * sequences * pairs
        factors = (
            f"{counted(sequences, 'output sequence' if model.lengths != (1,) else 'output')} × 2 directions"
        )
        factors += f" × {counted(pairs, 'pair')}"
        document |= {"sequences": sequences, "directions": 2, "pairs": pairs}
        if len(claims) == compared == product:
            told += f" = {factors}"
        else:
            need = f"{compared:,} of these comparisons {'needs' if compared == 1 else 'need'}"
            merged = f"; equal ones are merged into {told}" if len(claims) < compared else f": {told}"
            told = f"{counted(product, 'comparison')} = {factors}; {need} a proof{merged}"
    elif encoding.name != SEQUENCES.name:
        told += f" of the encoding {encoding.name}"
    found.add("claims", document, told)


def _obligations(found: Understood, model: AnyModel) -> None:
    once = {o.claim.text(): f"{o.key}: {o.message}".removeprefix(": ") for o in reversed(model.obligations)}
    messages = list(reversed(once.values()))  # each claim is proved once
    doubts = [*model.maybe_impossible, *([model.maybe_empty] if model.maybe_empty else [])]
    told = f"{len(messages)} to be proved first" if messages else "none"
    found.add("obligations", messages, told, *(f"it must be ruled out that: {m}" for m in messages[:LISTED]))
    for doubt in doubts:
        found.warnings.append(f"still to be excluded: {doubt.message}")


def _text(value: Any) -> str:
    """Returns a value of a case file as it may be written there, on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_text(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return printable.name(str(value), 200)


def stream_understood(case: StreamCase, data: Mapping[str, Any]) -> Understood:
    """Returns what was understood of a case about streams; `data` is its file.

    Raises:
        InputError: a guard reads what has no value, or two guards are true at once.
        LimitError: the automaton is too large.
    """
    found, automaton = Understood(case.title), case.automaton
    given = {name: printable.name(str(value)) for name, value in data["parameters"].items()}
    shown = [f"{n} in {v}" if n == case.parameter else f"{n} = {v}" for n, v in given.items()]
    found.add("parameters", given, ", ".join(shown))
    question = "can outputs distinguish neighbouring streams by more than the bound allows, at any length?"
    found.add("question", "streams", question)
    _neighbours(found, case)
    graph = explore(automaton)
    kind = "from a file" if case.in_file else "made from the program"
    sizes = {
        "states": len(automaton.states),
        "variables": len(automaton.variables),
        "transitions": len(automaton.transitions),
    }
    told = ", ".join(counted(n, name.removesuffix("s")) for name, n in sizes.items())
    never = list(never_taken(automaton, graph))
    found.add("automaton", sizes | {"noise": automaton.noise, "never": never}, f"{kind}: {told}")
    found.add("budget", f"epsilon = {budget_of(case)}", f"epsilon = {budget_of(case)}")
    claims = f"none as polynomials: the automaton decides every {case.parameter} > 0 and every length"
    found.add("claims", {"count": None}, claims)
    if case.in_file:
        found.warnings += [
            line.strip().removeprefix("Note: ").rstrip(".")
            for line in stream_notes(automaton, graph)
            if line.strip().startswith("Note: ")
        ]
    return found


def _neighbours(found: Understood, case: StreamCase) -> None:
    """Adds which streams are neighbours, and what their entries are."""
    by = "any" if case.by is None else str(case.by)
    told: dict[str, Any] = {"differ": "one" if case.one else "each", "by": by}
    who = "one entry differs" if case.one else "each entry may differ"
    words = [f"{who}, {'by anything' if case.by is None else f'by {by} at most'}"]
    if case.values is None:
        whole = "whole " if case.automaton.noise == GEOMETRIC else ""
        words.append(f"entries are any {whole}numbers")
    else:
        told["values"] = [str(value) for value in case.values]
        words.append(f"entries are of {stream(case.values)}")
    found.add("neighbours", told, *words)


def system_understood(case: InteractiveCase, data: Mapping[str, Any]) -> Understood:
    """Returns what was understood of an interactive system; `data` is its file."""
    found, system = Understood(case.title), case.system
    parameters(found, case.domain, data)
    question = (
        "can an observer distinguish inputs that differ in one data point by more than the bound allows?"
    )
    found.add("question", "interactive", question)
    kinds = Counter(system.kind(state).value for state in range(len(system.states)))
    told = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    found.add(
        "states", {"count": len(system.states), **kinds}, f"{counted(len(system.states), 'state')}: {told}"
    )
    actions = system.actions
    for name, names in (
        ("data points", actions.data),
        ("queries", actions.queries),
        ("responses", actions.responses),
    ):
        more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
        found.add(name, list(names), f"{', '.join(map(printable.name, names[:LISTED])) or 'none'}{more}")
    environment = "sends only inputs that a state accepts" if system.partial else "may send every input"
    found.add("environment", "accepted" if system.partial else "any", f"it {environment}")
    if case.bounded:
        found.add("budget", case.budget, case.budget)
    if case.given:
        found.add("unwinding", True, "the case gives an unwinding family, which is checked first")
    if case.subroutines:
        replaced = [s.state for s in case.subroutines]
        found.add("subroutines", replaced, ", ".join(map(printable.name, replaced)))
    messages = list(dict.fromkeys(obligation.message for obligation in case.checks.obligations))
    found.add("obligations", messages, f"{len(messages)} to be proved first" if messages else "none")
    weights = [w for row in system.rows for step in row.values() for _, w in step]
    functions = [as_function(w, case.domain.ring) for w in {id(w): w for w in weights}.values()]
    functions += [case.ratio, *([case.step] if case.step else [])]
    found.warnings += unused(case.domain, _names(functions), data)
    notes(found, case.checks.notes)
    return found


def logic_understood(case: LogicCase, data: Mapping[str, Any]) -> Understood:
    """Returns what was understood of a chain or decision process and its formulas; `data` is its file."""
    found, chain = Understood(case.title), case.chain
    parameters(found, case.domain, data)
    found.add("question", "logic", "are the formulas true in every initial state?")
    what = "Markov decision process" if chain.is_decision_process else "Markov chain"
    model = {"kind": what, "states": len(chain.states), "initial": len(chain.initial)}
    told = (
        f"a {what} with {counted(len(chain.states), 'state')}, {counted(len(chain.initial), 'initial state')}"
    )
    if chain.unscheduled:
        told += f"; formulas with P only: {chain.unscheduled}"
    elif chain.is_decision_process:
        model["actions"] = len(chain.actions)
        told += f" and {counted(len(chain.actions), 'action')}"
    found.add("model", model, told)
    labels = {name: len(states) for name, states in chain.labels.items()}
    listed = [f"{printable.name(name)} in {counted(count, 'state')}" for name, count in labels.items()]
    found.add("labels", labels, ", ".join(listed) or "none")
    pairs = case.relation.size // 2
    found.add("neighbours", {"pairs": pairs}, f"{counted(pairs, 'pair')} of different states, both ways")
    formulas = {name: formula.text for name, formula in case.properties.items()}
    words = [f"{printable.name(name)}: {text}" for name, text in formulas.items()]
    found.add("formulas", formulas, counted(len(formulas), "formula"), *words)
    messages = list(dict.fromkeys(obligation.message for obligation in chain.obligations))
    found.add("obligations", messages, f"{len(messages)} to be proved first" if messages else "none")
    used = {name for states in chain.rows for row in states for _, p in row for name in _names([p])}
    named = " ".join(formulas.values())
    warnings = unused(case.domain, used, data)
    found.warnings += [
        w for w in warnings if w.split()[2] not in named.replace("(", " ").replace(")", " ").split()
    ]
    for name, count in labels.items():
        if not count:
            found.warnings.append(f"the label {printable.name(name)} is in no state")
    asked = [part for formula in case.properties.values() for part in parts(formula.formula)]
    if not pairs and any(isinstance(part, Private) for part in asked):
        found.warnings.append("a formula is about neighbours, and no state has another one as its neighbour")
    found.facts["operators"] = sum(isinstance(part, (Private, Probability)) for part in asked)
    return found


def _names(values: list[Any]) -> set[str]:
    functions = [value for value in values if isinstance(value, RationalFunction)]
    return {name for f in functions for part in (f.numerator, f.denominator) for name in variables(part)}
