"""What was understood of a case about privacy or of an inequality, before anything is decided."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paramverify import printable
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, variables
from paramverify.checker.strict import counted
from paramverify.claims import show_sequence
from paramverify.encodings.choice import chosen, claims_of
from paramverify.encodings.excesses import excesses
from paramverify.encodings.sequences import ENCODING as SEQUENCES
from paramverify.errors import LimitError
from paramverify.models.inequality import Inequality
from paramverify.models.measures import Approximate
from paramverify.models.mechanisms import REGISTRY as KINDS
from paramverify.models.model import Model
from paramverify.models.noise import REGISTRY as NOISES
from paramverify.privacy.cases import Case

LISTED = 12  # entries of a long list that are told
WORD = re.compile(r"[A-Za-z_]\w*")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


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


def unused(domain: Domain, used: Collection[str], data: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each parameter on which nothing depends.

    `used` are those in the polynomials of the model. A parameter with one value may stand in `exp` and so in
    none of them: it is used where a text of the file, or another file, may name it.
    """
    domains = {u.variable: u.name for u in domain.ring.unbounded}
    known = {*used, *(name for c in domain.constraints for name in variables(c.polynomial)), GENERATOR}
    told = ("parameters", "title", "source", "expect")
    texts = [value for name, value in data.items() if name not in told]
    named = set(_words(texts))
    away = any(isinstance(table, dict) and "file" in table for table in texts)
    idle = [
        domains.get(name, name)
        for name, interval in domain.box.items()
        if name not in known and not (interval.is_point and (name in named or away))
    ]
    return [f"the parameter {name} is not used: nothing depends on it" for name in idle]


def case_understood(case: Case, data: Mapping[str, Any]) -> Understood:
    """Returns what was understood of a case; `data` is its file, for the words that stand there."""
    found = Understood(case.title)
    parameters(found, case.model.domain, data)
    if isinstance(case.model, Inequality):
        _inequality(found, case.model, data)
        return found
    model = case.model
    if named := {name: _text(value) for name, value in data.get("define", {}).items()}:
        found.add("definitions", named, *(f"{name} = {text}" for name, text in named.items()))
    _compared(found, case, model, data)
    _mechanism(found, case, data)
    outputs = _outputs(found, model)
    found.add("budget", case.budget, case.budget)
    _claims(found, model, outputs)
    _obligations(found, model)
    found.warnings += [*unused(model.domain, _used(model), data), *_idle_names(case, data)]
    notes(found, model.notes)
    return found


def _inequality(found: Understood, model: Inequality, data: Mapping[str, Any]) -> None:
    named = {name: f"({f.numerator})/({f.denominator})" for name, f in model.definitions.items()}
    found.add("question", "inequality", "is the claim true at every point of the parameters?")
    found.add("functions", named, ", ".join(named) or "none")
    found.add("claim", model.text, printable.name(model.text, 300))
    count = len(claims_of(model))
    links = len(model.comparisons)
    found.add(
        "claims",
        {"count": count, "comparisons": links},
        f"{counted(count, 'claim')} from {counted(links, 'comparison')}",
    )
    _obligations(found, model)
    parts = [p for c in model.comparisons for f in (c.left, c.right) for p in (f.numerator, f.denominator)]
    found.warnings += unused(model.domain, _names(parts), data)
    mentioned = " ".join(c.text for c in model.comparisons)
    texts = {name: _text(value) for name, value in data.get("define", {}).items()}
    for name in named:
        others = " ".join(text for other, text in texts.items() if other != name)
        if name not in WORD.findall(f"{mentioned} {others}"):
            found.warnings.append(f"the function {name} is not used: the claim does not name it")
    notes(found, model.notes)


# --- what is compared -------------------------------------------------------------------------------


def _compared(found: Understood, case: Case, model: Model, data: Mapping[str, Any]) -> None:
    pairs = model.stands_for.pairs // 2 if model.stands_for else len(model.pairs)
    if case.neighbours:
        found.add("question", "neighbours", "can neighbouring inputs be told apart by what is put out?")
        entries = {name: _text(value) for name, value in data["neighbours"].items()}
        found.add("neighbours", entries, ", ".join(f"{name} = {value}" for name, value in entries.items()))
    else:
        found.add("question", "secrets", "can secrets be told apart by what is put out, for every prior?")
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


def _mechanism(found: Understood, case: Case, data: Mapping[str, Any]) -> None:
    entries = data["mechanism"]
    told = {name: _text(value) for name, value in entries.items() if name not in ("kind", "source")}
    meaning = _told(KINDS.loaders()[case.kind]())
    document = {"kind": case.kind, "meaning": meaning, **told}
    words = [f"{name} = {value}" for name, value in told.items()]
    noise = entries.get("noise")
    kinds = NOISES.loaders()
    for name in (n for n in kinds if isinstance(noise, dict) and n in noise):
        document["noise_formula"] = _told(kinds[name]())
        words.append(f"Pr(o | f), the answer f becoming o: {document['noise_formula']}")
    if isinstance(entries.get("source"), str):
        document["source"] = entries["source"]
        words += map(printable.name, entries["source"].strip().split("\n"))
    found.add("mechanism", document, f"{case.kind}. {meaning}", *words)


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
    never = _never(model.whole or model)
    found.add("outputs", {"names": list(names), "lengths": list(lengths), "never": never}, told)
    for name in never[:LISTED]:
        found.warnings.append(f"the output {printable.name(show_sequence([name]))} never happens")
    return int(sequences)


def _never(model: Model) -> list[str]:
    """Returns the observations that have probability zero under all that is compared, for all parameters."""
    hmm, longest = model.hmm, max(model.lengths, default=len(model.hmm.states))
    reached = {
        s for pair in model.pairs for start in (pair.pi, pair.tau) for s, w in start.weights.items() if w
    }
    seen: set[int] = set()
    known: set[int] = set()
    for _ in range(longest):
        fresh = reached - known
        if not fresh:
            break
        known |= fresh
        seen |= {step.observation for s in fresh for step in hmm.steps[s] if step.weight}
        reached = {step.successor for s in fresh for step in hmm.steps[s] if step.weight}
    return [name for k, name in enumerate(hmm.observations) if k not in seen]


def _claims(found: Understood, model: Model, sequences: int) -> None:
    pairs = len(model.pairs)
    if isinstance(model.measure, Approximate):
        sums = excesses(model)
        directions = sum(len(claim.origins) for claim in sums)
        told = f"{counted(len(sums), 'claim')} about the sum of all outputs"
        told += f", for {counted(directions, 'direction')}"
        found.add("claims", {"count": len(sums), "comparisons": directions}, told)
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
            told += f" for {counted(product, 'comparison')} = {factors}"
            told += f"; {compared:,} of them need a proof, and equal claims are merged"
    elif encoding.name != SEQUENCES.name:
        told += f" of the encoding {encoding.name}"
    found.add("claims", document, told)


def _obligations(found: Understood, model: Model | Inequality) -> None:
    messages = list(dict.fromkeys(obligation.message for obligation in model.obligations))
    doubts = [*getattr(model, "maybe_impossible", ()), *([model.maybe_empty] if model.maybe_empty else [])]
    told = f"{len(messages)} to be proved first" if messages else "none"
    found.add("obligations", messages, told, *(f"excluded must be: {m}" for m in messages[:LISTED]))
    for doubt in doubts:
        found.warnings.append(f"still to be excluded: {doubt.message}")


# --- what is not used -------------------------------------------------------------------------------


def _names(polynomials: Collection[Polynomial]) -> set[str]:
    return {name for polynomial in polynomials for name in variables(polynomial)}


def _used(model: Model) -> set[str]:
    """Returns the parameters on which a probability or the bound depends."""
    hmm = model.hmm
    parts = {id(step.weight): step.weight for row in hmm.steps for step in row}
    starts = {id(start): start for pair in model.pairs for start in (pair.pi, pair.tau)}
    polynomials = [hmm.denominator, *parts.values()]
    for start in starts.values():
        polynomials += [start.mass, *start.weights.values()]
    return _names(polynomials) | model.measure.variables


def _idle_names(case: Case, data: Mapping[str, Any]) -> Iterator[str]:
    """Yields warnings for secrets in no pair, and for variables of the prior that nothing reads."""
    if case.prior is None:
        return
    secrets, prior, define = data["secrets"], data["prior"], data.get("define", {})
    asked = {name for pair in secrets["pairs"] for name in pair}
    for name in secrets:
        if name != "pairs" and name not in asked:
            yield f"the secret {printable.name(name)} is in no pair: it is not compared"
    read: set[str] = set()
    pending = [secrets[name] for name in asked]
    pending += [value for name, value in data["mechanism"].items() if name != "source"]
    while pending:
        for name in _words(pending.pop()):
            if name in (*prior, *define) and name not in read:
                read.add(name)
                pending.append(prior[name] if name in prior else define[name])
    for name in prior:
        if name not in read:
            yield f"the variable {name} of the prior is not read, neither by a secret nor by the mechanism"


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _words(part)
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
    elif isinstance(value, str):
        yield from WORD.findall(QUOTED.sub(" ", value))


def _text(value: Any) -> str:
    """Returns a value of a case file as it may be written there, on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_text(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return printable.name(str(value), 200)
