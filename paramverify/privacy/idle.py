"""What in a case may be a mistake, as nothing depends on it: each answer about the case has a note."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import Any

from paramverify import printable
from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Polynomial, variables
from paramverify.claims import show_sequence
from paramverify.models.mechanisms import Mechanism, singles, tables_of
from paramverify.models.mechanisms._streams import END, StreamMechanism
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import AnyModel, Model
from paramverify.models.priors import InitialDistribution, Prior
from paramverify.models.programs.static_analysis import never_called, never_read, whole_beside_parts
from paramverify.privacy.secrets import base_name

MAX_PRODUCTS = 20_000  # of polynomials, to see that the outputs depend on nothing
WHOLE = (
    "uniform(lo, hi) is one of the whole numbers from lo to hi, and no real number between them; it is "
    "compared with what may be a fraction in {}; flip(p) is True with probability p"
)
LISTED = 12  # outputs that never happen
WORD = re.compile(r"[A-Za-z_]\w*")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def warnings_of(
    model: AnyModel, mechanism: Mechanism | None, prior: Prior | None, data: Mapping[str, Any]
) -> list[str]:
    """Returns sentences about what nothing depends on; `data` is the case file, for the words there."""
    if model.comparisons:
        return _of_claim(model, data)
    if not isinstance(model, Model):
        return _of_programs(mechanism)
    never = [name for name in never_put_out(model.whole or model) if not _of_stream(mechanism, name)][:LISTED]
    where = " under a secret that is compared" if prior is not None and _not_compared(data) else ""
    found = [f"the output {printable.name(show_sequence([name]))} never happens{where}" for name in never]
    if tells_nothing(model):
        whom = "secrets" if prior else "inputs"
        found.append(f"the outputs do not depend on the {whom}, so they reveal nothing about them")
    found += _of_programs(mechanism)
    found += unused(model.domain, _used(model), data)
    return [*found, *(_idle_names(data) if prior is not None else ())]


def _of_stream(mechanism: Mechanism | None, name: str) -> bool:
    """Tells whether an output is the end of a stream, which no program puts out."""
    return isinstance(mechanism, StreamMechanism) and name == END


def _of_programs(mechanism: Mechanism | None) -> list[str]:
    """Returns what no program reads or calls, and whole numbers that may be taken for real ones."""
    found: list[str] = []
    for program in (part.program for part in singles(mechanism) if isinstance(part, ProgramMechanism)):
        unread = dict.fromkeys(never_read(program))
        found += [f"the variable {name} of the program is never read" for name in unread]
        found += [f"the program never calls {name}" for name in never_called(program)]
        if mixed := whole_beside_parts(program):
            found.append(WHOLE.format(", ".join(f"`{printable.name(line)}`" for line in mixed)))
    return found


def _of_claim(model: AnyModel, data: Mapping[str, Any]) -> list[str]:
    parts = [p for c in model.comparisons for f in (c.left, c.right) for p in (f.numerator, f.denominator)]
    found = unused(model.domain, _names(parts), data)
    mentioned = " ".join(c.text for c in model.comparisons)
    define = data.get("define", {})
    for name in model.definitions:
        others = [_words(value) for other, value in define.items() if other != name]
        if name not in {*WORD.findall(mentioned), *chain.from_iterable(others)}:
            found.append(f"the function {name} is not used: the claim does not name it")
    return found


def tells_nothing(model: Model) -> bool:
    """Tells whether each output of one length has the same probability on both sides of every pair.

    That is looked at for mechanisms that put out once, and are not large; of others it is False.
    """
    if model.lengths != (1,) or model.whole or model.stands_for or model.hmm.chosen:
        return False
    entries = sum(len(start.weights) for pair in model.pairs for start in (pair.pi, pair.tau))
    if entries * len(model.hmm.observations) > MAX_PRODUCTS:
        return False
    rows: dict[int, dict[int, Polynomial]] = {}
    for pair in model.pairs:
        if pair.pi.weights == pair.tau.weights:
            continue
        left, right = (_outputs(model, start, rows) for start in (pair.pi, pair.tau))
        zero = pair.pi.mass - pair.pi.mass
        if any(
            left.get(k, zero) * pair.tau.mass != right.get(k, zero) * pair.pi.mass
            for k in left.keys() | right.keys()
        ):
            return False
    return bool(model.pairs)


def _outputs(
    model: Model, start: InitialDistribution, rows: dict[int, dict[int, Polynomial]]
) -> dict[int, Polynomial]:
    """Returns the probability of each output, times the mass and the denominator of the model."""
    found: dict[int, Polynomial] = {}
    for state, weight in start.weights.items():
        if state not in rows:
            row: dict[int, Polynomial] = {}
            for step in model.hmm.steps[state]:
                known = row.get(step.observation)
                row[step.observation] = step.weight if known is None else known + step.weight
            rows[state] = row
        for k, share in rows[state].items():
            found[k] = found[k] + weight * share if k in found else weight * share
    return found


def unused(domain: Domain, used: Collection[str], data: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each parameter on which nothing depends.

    `used` are those in the polynomials of the model. A parameter with one value may stand in `exp` and so in
    none of them: it is used where a text of the file, or another file, may name it.
    """
    domains = {u.variable: u.name for u in domain.ring.unbounded}
    known = {*used, *(name for c in domain.constraints for name in variables(c.polynomial)), GENERATOR}
    known.update(u.variable for u in domain.ring.tied if u.name in known)
    told = ("parameters", "title", "source", "expect")
    texts = [value for name, value in data.items() if name not in told]
    named = set(_words(texts))
    away = any(map(_names_file, texts))
    idle = [
        domains.get(name, name)
        for name, interval in domain.box.items()
        if name not in known and not (interval.is_point and (name in named or away))
    ]
    return [f"the parameter {name} is not used: nothing depends on it" for name in idle]


def _names_file(data: object) -> bool:
    """Tells whether a table names a file, or one inside of it does."""
    return isinstance(data, dict) and ("file" in data or any(map(_names_file, data.values())))


def never_put_out(model: Model) -> list[str]:
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


def _names(polynomials: Collection[Polynomial]) -> set[str]:
    return {name for polynomial in polynomials for name in variables(polynomial)}


def _used(model: Model) -> set[str]:
    """Returns the parameters on which a probability or the bound depends: all, or those that were found."""
    hmm = model.hmm
    wanted = set(model.domain.box)
    found = set(model.measure.variables)
    starts = {id(start): start for pair in model.pairs for start in (pair.pi, pair.tau)}.values()
    polynomials = chain(
        [hmm.denominator],
        {id(step.weight): step.weight for row in hmm.steps for step in row}.values(),
        (p for start in starts for p in (start.mass, *start.weights.values())),
    )
    for polynomial in polynomials:
        if wanted <= found:
            break
        found.update(variables(polynomial))
    return found


def _idle_names(data: Mapping[str, Any]) -> Iterator[str]:
    """Yields warnings for secrets in no pair, and for variables of the prior that nothing reads."""
    secrets, prior, define = data["secrets"], data["prior"], data.get("define", {})
    for name in _not_compared(data):
        yield f"the secret {printable.name(name)} is in no pair: it is not compared"
    asked = _compared(data)
    read: set[str] = set()
    pending = [secrets[name] for name in asked]
    for _, table in tables_of(data["mechanism"]):
        pending += [value for name, value in table.items() if name != "source"]
    while pending:
        for name in _words(pending.pop()):
            if name in (*prior, *define) and name not in read:
                read.add(name)
                pending.append(prior[name] if name in prior else define[name])
    for name in prior:
        if name not in read:
            unread = "is read by no secret that is compared, nor by the mechanism"
            yield f"the variable {name} of the prior {unread}"


def _compared(data: Mapping[str, Any]) -> set[str]:
    """Returns the secrets in pairs; a copy for one index is its secret."""
    return {base_name(name) for pair in data["secrets"]["pairs"] for name in pair}


def _not_compared(data: Mapping[str, Any]) -> list[str]:
    """Returns the secrets in no pair."""
    return [name for name in data["secrets"] if name != "pairs" and name not in _compared(data)]


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _words(part)
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
    elif isinstance(value, str):
        yield from WORD.findall(QUOTED.sub(" ", value))
