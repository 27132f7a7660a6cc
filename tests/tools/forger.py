"""One forger for evidence of every kind: each change says something else, and most of that is false.

There is one form of evidence, and `kernel.evidence_shapes` says it key by key. The forger reads a document
beside that form. So it knows of each value what it is (a rational number, a name, the number of a domain, a
list, a proof, a statement) and which other values of the document may stand in its place. What it changes:

numbers      a bit more or less, the sign, the inverse, one more or less, zero, huge digits
polynomials  one coefficient, exponent or variable; a monomial dropped; the sign; a factor; a bit more
names        another name of the document, one that looks the same, one that is longer; two exchanged
domains      wider, narrower, open and closed ends; a constraint dropped or negated; another constant
lists        drop, double, move or exchange entries; turn them round; none at all
trees        drop a leaf, exchange parts, another cut, `+` or the word of a solver in place of a proof
words        another one of those that are allowed there: statuses, kinds, relations
structure    a key dropped or added; a proof, a statement, a witness or a formula of the document, or of
             another one, in place of another
statements   a claim as an obligation, a lemma or a comparison; one of another document, with its domain
together     a polynomial or name changed wherever it stands; a claim that is said to fail at some point

A change is deterministic: it depends on the document, the others, and the random numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from random import Random
from types import FunctionType
from typing import Any

from paramverify.kernel import evidence_shapes
from paramverify.kernel.strict_reading import record

Json = dict[str, Any]
Path = tuple[str | int, ...]
Change = tuple[str, Any]  # in words, and the new value

NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
INTERVAL = re.compile(r"([\[(])([^, ]+), ([^, ]+)([\])])")
NAME = re.compile(r"[A-Za-z_]\w*")
LIKE = str.maketrans("aceopxyABEKMHOPCTX", "асеорхуАВЕКМНОРСТХ")  # letters that look the same
HUGE = f"{10**40 + 1}/{10**40}"
NOBODY = {"kind": "solver", "solver": "nobody", "version": "1"}
PROOFS: tuple[Json, ...] = (
    NOBODY,
    {"kind": "constant"},
    {"kind": "bernstein", "tree": ["+"]},
    {"kind": "squares", "terms": []},
    {"kind": "factors", "constant": "1", "factors": []},
    {"kind": "sum", "parts": []},
    {"kind": "contradiction", "constraints": [0, 0]},
    {"kind": "lemma", "name": "l"},
    {"kind": "exponential"},
)
POLYNOMIALS = {  # keys below which a text is a polynomial, or a quotient of two
    *(
        "polynomial",
        "room",
        "terms",
        "total",
        "outputs",
        "negated",
        "claims",
        "factors",
        "factor",
        "cofactor",
    ),
    *(
        "constraints",
        "probabilities",
        "ratio",
        "weights",
        "mass",
        "steps",
        "rows",
        "ends",
        "times",
        "squares",
    ),
    *("costs", "delta", "multiplier", "formula", "minimal", "coordinates", "root_of", "point", "noise", "by"),
    "bound",
}
MOST = 40  # entries of a list that are changed one by one


# --- the form: which shape each part has --------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A value inside a document: the way to it, what it is, and of which shape."""

    path: Path
    value: Any
    role: str  # the name of its shape: text, rational, whole, flag, one_of, listed, table, record, tagged ...
    about: Mapping[str, Any]  # what the shape consists of

    @property
    def key(self) -> str:
        """The last name on the way: what this value is in words."""
        return next((step for step in reversed(self.path) if isinstance(step, str)), "")

    @property
    def pool(self) -> object:
        """Which parts may stand in the place of each other."""
        kind = self.value.get("kind", "") if isinstance(self.value, dict) and self.role == "record" else ""
        return (self.role, self.key, kind) if self.role != "proof" else "proof"

    @property
    def place(self) -> str:
        """The way without numbers; parts of one place are alike."""
        return ".".join(step for step in self.path if isinstance(step, str))[-60:]


_RECURSIVE = {"proof": "_PROOF", "formula": "_FORMULA", "release": "_RELEASE"}


def _inside(shape: Any) -> tuple[str, dict[str, Any]]:
    """Returns the name of what made a shape, and what it consists of."""
    name = shape.__qualname__.split(".")[0]
    cells = zip(shape.__code__.co_freevars, shape.__closure__ or (), strict=True)
    return name, {variable: cell.cell_contents for variable, cell in cells}


_WITNESS = _inside(  # keys of witnesses about claims, which those of budgets have, too
    _inside(evidence_shapes.WITNESS)[1]["kinds"]["claim"]
)[1]["known"]


def parts(value: Any, shape: Any = evidence_shapes.ENVELOPE, path: Path = ()) -> Iterator[Part]:
    """Yields every value of a document with its shape; what is not of the form has none."""
    name, about = _inside(shape) if isinstance(shape, FunctionType) else ("", {})
    if name == "maybe":
        if value is None:
            yield Part(path, value, "null", about)
            return
        yield from parts(value, about["shape"], path)
        return
    if name == "by_type":
        yield from parts(value, about["shapes"].get(type(value)), path)
        return
    if name == "_of_budget":
        given = {"parameters": evidence_shapes.POINT}
        yield from parts(value, record(given, {k: v for k, v in _WITNESS.items() if k not in given}), path)
        return
    if name == "_pair":
        shape = evidence_shapes.STANDING if "domain" in value else evidence_shapes.LARGEST
        yield from parts(value, shape, path)
        return
    if name in _RECURSIVE:
        yield Part(path, value, name, about)
        inner = list(parts(value, getattr(evidence_shapes, _RECURSIVE[name]), path))
        yield from inner[1:]
        return
    yield Part(path, value, name, about)
    for step, entry in _items(value):
        yield from parts(entry, _shape_of(name, about, value, step), (*path, step))


def _items(value: Any) -> Iterator[tuple[str | int, Any]]:
    return iter(
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )


def _keys(about: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Returns the keys that an object of one of some kinds may have, and those that it must have."""
    kind = about["kinds"].get(value.get(about["key"]))
    if kind is None:
        return {}
    name, inner = _inside(kind)
    return _keys(inner, value) if name == "tagged" else inner


def _shape_of(name: str, about: Mapping[str, Any], value: Any, step: Any) -> Any:
    """Returns the shape of an entry."""
    if name in ("listed", "table"):
        return about["shape"]
    if name == "names":
        return evidence_shapes.text
    if name == "record":
        return about["known"].get(step)
    if name == "row":
        return about["shapes"][step] if step < len(about["shapes"]) else None
    if name == "tagged":
        return _keys(about, value).get("known", {}).get(step)
    if name == "tagged_row":
        shapes = about["kinds"].get(value[0] if value and isinstance(value[0], str) else "", ())
        return evidence_shapes.text if step == 0 else shapes[step - 1] if step <= len(shapes) else None
    return None


# --- one value --------------------------------------------------------------------------------------


def _texts(part: Part, pools: Mapping[object, Sequence[Any]], names: Sequence[str]) -> Iterator[Change]:
    text: str = part.value
    if part.role == "one_of" or (part.role == "text" and part.key in ("kind", "status", "rule")):
        for word in part.about.get("values", ()):
            if word != text:
                yield f"say {word}", word
        if part.key == "tree":
            yield from (("a proof in place of a leaf", proof) for proof in PROOFS[:3])
        return
    if NUMBER.fullmatch(text) and not text.endswith("/0"):
        yield from ((what, str(number)) for what, number in numbers(Fraction(text)))
    elif match := INTERVAL.fullmatch(text):
        yield from intervals(*match.groups())
    elif NAME.fullmatch(text) and part.key not in POLYNOMIALS:
        yield from ((f"name {name}", name) for name in pools.get(part.pool, ())[:4] if name != text)
        yield from ((f"another name {name}", name) for name in names[:3] if name != text)
        yield "a name that looks the same", text.translate(LIKE)
        yield "a longer name", f"{text} x"
    elif part.key in POLYNOMIALS or set(part.path) & POLYNOMIALS:
        yield from polynomials(text, names)
    else:
        yield "a text that looks the same", text.translate(LIKE)
        yield "a longer text", f"{text}\x1b[31m"
    yield from (("one of the same kind", other) for other in pools.get(part.pool, ())[:6] if other != text)


def numbers(value: Fraction) -> Iterator[tuple[str, Fraction]]:
    """Yields other numbers that are near, opposite, or far away."""
    tiny = Fraction(1, 1000)
    found = {
        "a bit more": value + tiny,
        "a bit less": value - tiny,
        "hardly more": value + Fraction(1, 10**30),
        "hardly less": value - Fraction(1, 10**30),
        "one more": value + 1,
        "one less": value - 1,
        "half": value / 2,
        "twice": value * 2,
        "negative": -value,
        "inverse": 1 / value if value else Fraction(1),
        "zero": Fraction(0),
        "another with huge digits": value * Fraction(10**40 + 1, 10**40) + Fraction(1, 10**90),
    }
    yield from ((what, new) for what, new in found.items() if new != value)


def intervals(left: str, low: str, high: str, right: str) -> Iterator[tuple[str, str]]:
    """Yields other intervals: other ends, open ones for closed ones, wider ones, narrower ones."""
    yield "other end below", f"{'(' if left == '[' else '['}{low}, {high}{right}"
    yield "other end above", f"{left}{low}, {high}{')' if right == ']' else ']'}"
    if NUMBER.fullmatch(low) and NUMBER.fullmatch(high):
        below, above = Fraction(low), Fraction(high)
        yield "wider below", f"{left}{below - 1}, {high}{right}"
        yield "wider above", f"{left}{low}, {above + Fraction(1, 7)}{right}"
        yield "hardly wider", f"{left}{below - Fraction(1, 10**9)}, {above + Fraction(1, 10**9)}{right}"
        yield "narrower", f"{left}{low}, {(below + above) / 2}{right}"
        yield "the upper half", f"{left}{(below + above) / 2}, {high}{right}"
        yield "a point", f"[{low}, {low}]"
        yield "turned round", f"{left}{high}, {low}{right}"
        yield "moved", f"{left}{above}, {2 * above - below}{right}"


def polynomials(text: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yields other polynomials: a coefficient, an exponent, a variable, a monomial, the sign, a factor."""
    yield "one more", f"{text} + 1"
    yield "one less", f"{text} - 1"
    yield "hardly less", f"{text} - 1/1000000000"
    yield "hardly more", f"{text} + 1/1000000000"
    yield "less", f"{text} - 1/1000"
    signed = re.findall(r"(?:^-?| [+-] )[^ ]+", text)
    if "".join(signed) != text:
        return
    flipped = [
        f" - {t[3:]}" if t.startswith(" + ") else f" + {t[3:]}" if t[:3] == " - " else t for t in signed
    ]
    first = signed[0][1:] if signed[0].startswith("-") else f"-{signed[0]}"
    yield "the sign", "".join([first, *flipped[1:]])
    yield "a factor of two", "".join(f"{t}*2" for t in signed)
    yield "a factor of a half", "".join(f"{t}*1/2" for t in signed)
    for k, term in list(enumerate(signed))[:MOST]:
        rest = signed[:k] + (
            [*signed[k + 1 :]] if k else [re.sub(r"^ \+ |^ - ", "", t) for t in signed[1:2]] + signed[2:]
        )
        if len(signed) > 1:
            yield f"without the term {k}", "".join(rest)
            yield (
                f"the sign of the term {k}",
                "".join([*signed[:k], first if k == 0 else flipped[k], *signed[k + 1 :]]),
            )
        for match in re.finditer(r"(?<![\w^/])[0-9]+(/[0-9]+)?", term):
            new = Fraction(match[0]) + Fraction(1, 997)
            yield (
                f"a coefficient of the term {k}",
                _with(signed, k, term[: match.start()] + str(new) + term[match.end() :]),
            )
        for match in re.finditer(r"\^([0-9]+)", term):
            new = f"^{int(match[1]) + 1}"
            yield (
                f"an exponent of the term {k}",
                _with(signed, k, term[: match.start()] + new + term[match.end() :]),
            )
        for match in list(re.finditer(r"[A-Za-z_]\w*", term))[:2]:
            yield f"a square in the term {k}", _with(signed, k, f"{term}*{match[0]}")
            for name in [name for name in names[:3] if name != match[0]]:
                new = term[: match.start()] + name + term[match.end() :]
                yield f"a variable of the term {k}", _with(signed, k, new)


def _with(terms: Sequence[str], k: int, term: str) -> str:
    return "".join([*terms[:k], term, *terms[k + 1 :]])


def _lists(part: Part, random: Random) -> Iterator[Change]:
    value: list[Any] = part.value
    if value:
        yield "empty", []
        yield "turned round", value[::-1]
    if len(value) > 2:
        yield "in another order", random.sample(value, len(value))
    chosen = range(len(value)) if len(value) <= MOST else sorted(random.sample(range(len(value)), MOST))
    for k in chosen:
        yield f"drop {k}", value[:k] + value[k + 1 :]
        yield f"double {k}", [*value[: k + 1], *value[k:]]
        other = random.randrange(len(value))
        if value[other] != value[k]:
            swapped = list(value)
            swapped[k], swapped[other] = swapped[other], swapped[k]
            yield f"exchange {k} and {other}", swapped
            moved = value[:k] + value[k + 1 :]
            moved.insert(other, value[k])
            yield f"move {k} to {other}", moved
    if part.key == "constraints" and part.role == "listed":
        yield "a constraint that nothing meets", [*value, ["-1", ">="]]
        for k, (text, relation) in enumerate(v for v in value if isinstance(v, list) and len(v) == 2):
            yield (
                f"the constraint {k} negated",
                [*value[:k], [next(_sign_of(text)), relation], *value[k + 1 :]],
            )
    if part.key == "tree":
        for k in chosen:
            yield f"a plus at {k}", [*value[:k], "+", *value[k + 1 :]]
            yield f"a plus before {k}", [*value[:k], "+", *value[k:]]
            yield f"a solver at {k}", [*value[:k], NOBODY, *value[k + 1 :]]


def _sign_of(text: str) -> Iterator[str]:
    yield from (new for what, new in polynomials(text, ()) if what == "the sign")
    yield f"{text} - 1"


def _objects(part: Part, pools: Mapping[object, Sequence[Any]]) -> Iterator[Change]:
    value: Json = part.value
    must = part.about.get("required", {})
    for name in value:
        if part.role != "record" or name not in must:
            yield f"drop {name}", {k: v for k, v in value.items() if k != name}
    known = part.about.get("known", {})
    if part.role == "tagged":
        known = _keys(part.about, value).get("known", {})
    for name in sorted(known.keys() - value.keys()):
        for new in pools.get(("key", name), ())[:3]:
            yield f"add {name}", {**value, name: new}
    if part.role == "table" and len(value) > 1:
        names = list(value)
        turned = [*names[1:], names[0]]
        yield "values exchanged", {name: value[other] for name, other in zip(names, turned, strict=True)}
        yield "another order of names", {name: value[name] for name in turned}
    if part.role == "table" and value:
        first = next(iter(value))
        yield (
            "a name that looks the same",
            {first.translate(LIKE) if k == first else k: v for k, v in value.items()},
        )
        yield "one more name", {**value, f"{first}1": value[first]}


def changes(
    part: Part, pools: Mapping[object, Sequence[Any]], names: Sequence[str], random: Random
) -> Iterator[Change]:
    """Yields what may stand in the place of a value, with what is changed in words."""
    value = part.value
    if isinstance(value, bool):
        yield "the other one", not value
    elif isinstance(value, int):
        yield "one more", value + 1
        yield "one less", value - 1
        yield "out of range", 10**9
        yield from (
            ("one of the same kind", other) for other in pools.get(part.pool, ())[:6] if other != value
        )
    elif isinstance(value, str):
        yield from _texts(part, pools, names)
    elif isinstance(value, list):
        yield from _lists(part, random)
    elif isinstance(value, dict):
        yield from _objects(part, pools)
    elif value is None:
        yield from (("something for null", other) for other in pools.get(("key", part.key), ())[:4])
    if part.role == "proof":
        yield from (("a proof of another kind", proof) for proof in PROOFS if proof != value)
        inner = [p.value for p in parts(value, evidence_shapes.proof) if p.role == "proof" and p.path]
        yield from (("a part of the proof alone", proof) for proof in inner[:4])
        yield "no proof", None
    if isinstance(value, dict | list):
        others = [other for other in pools.get(part.pool, ()) if other != value]
        for other in random.sample(others, min(3, len(others))):
            yield "one of the same kind", other


# --- the whole ----------------------------------------------------------------------------------------


def put(value: Any, path: Path, new: Any) -> Any:
    """Returns a copy with another value at a place; what is not on the way is shared."""
    if not path:
        return new
    step, *rest = path
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[step] = put(value[step], tuple(rest), new)  # type: ignore[call-overload]
    return copied


def everywhere(value: Any, change: Callable[[str], str]) -> Any:
    """Returns a copy in which every text is changed, names of keys as well."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(k): everywhere(v, change) for k, v in value.items()}
    return [everywhere(v, change) for v in value] if isinstance(value, list) else value


SIGNS = ("obligation", "lemma", "claim", "comparison")


def whole(document: Json, others: Sequence[Json], random: Random) -> Iterator[tuple[str, Json]]:
    """Yields changes that keep several places of a document consistent with each other."""
    statements, domains = document["statements"], document["domains"]
    for k, statement in enumerate(statements):
        if statement["kind"] in SIGNS:
            for kind in SIGNS:
                if kind != statement["kind"]:
                    yield f"statement {k} as {kind}", _with_statements(document, k, _as(statement, kind))
            yield from _violated(document, k, random)
            yield from _changed_everywhere(
                document, statement["polynomial"], f"the polynomial of statement {k}"
            )
        if statement.get("proof", "") not in ("", None) and document["status"] == "holds":
            without = _with_statements(document, k, {**statement, "proof": None})
            yield f"statement {k} open, and unknown", {**without, "status": "unknown"}
        rest = {**document, "statements": statements[:k] + statements[k + 1 :]}
        yield f"statement {k} dropped, and unknown", {**rest, "status": "unknown"}
    for k, domain in enumerate(domains):
        alone = {name: v for name, v in domain.items() if name not in ("constant", "ties")}
        for what, new in (
            ("without constraints", {**domain, "constraints": []}),
            ("without a constant", alone),
            ("again", domain),
        ):
            added = {**document, "domains": [*domains, new]}
            yield (
                f"domain {k} {what}, for all",
                {**document, "domains": [*domains[:k], new, *domains[k + 1 :]]},
            )
            for n, statement in enumerate(statements):
                if statement.get("domain") == k:
                    about = {**statement, "domain": len(domains)}
                    yield f"statement {n} on domain {k} {what}", _with_statements(added, n, about)
    names = sorted({name for domain in domains for name in domain["variables"]})
    for one, other in pairwise(names):
        yield f"{one} and {other} exchanged", everywhere(document, _exchange(one, other))
    for secrets in {
        tuple(s["secrets"]) for s in _objects_with(document, "secrets") if len(s["secrets"]) == 2
    }:
        yield "the secrets exchanged", everywhere(document, _exchange(*map(str, secrets)))
    for origins in [s["origins"] for s in statements if s.get("origins")][:3]:
        if isinstance(origins[0], list):
            left, right, _ = origins[0]
            yield "left and right exchanged", everywhere(document, _exchange(left, right))
    if "witness" in document:
        rest = {name: value for name, value in document.items() if name != "witness"}
        yield "no witness, and it holds", {**rest, "status": "holds"}
        yield "no witness, and unknown", {**rest, "status": "unknown"}
        for name in ("bound", "ratio", "delta"):
            if isinstance(document["witness"].get(name), str) and NUMBER.fullmatch(document["witness"][name]):
                text = document["witness"][name]
                yield from _changed_everywhere(document, text, f"the {name} of the witness")
    for key in ("side_condition", "windows", "budget", "points", "reduction", "case", "outputs"):
        if key in document:
            yield f"without {key}", {name: value for name, value in document.items() if name != key}
    yield "a side condition", {**document, "side_condition": evidence_shapes.SIDE_CONDITION}
    yield (
        "windows",
        {**document, "windows": {"statement": evidence_shapes.WINDOWED, "pairs": [["a", "b", 1]]}},
    )
    yield "outputs", {**document, "outputs": ["o"]}
    for other in random.sample(list(others), min(3, len(others))):
        for what, new in _of_another(document, other, random):
            yield what, new


def _objects_with(value: Any, key: str) -> Iterator[Json]:
    for _, entry in _items(value):
        if isinstance(entry, dict) and isinstance(entry.get(key), list):
            yield entry
        yield from _objects_with(entry, key)


def _with_statements(document: Json, k: int, statement: Json) -> Json:
    found = document["statements"]
    return {**document, "statements": [*found[:k], statement, *found[k + 1 :]]}


def _as(statement: Json, kind: str) -> Json:
    """Returns a statement about a sign as one of another kind."""
    kept = {name: statement[name] for name in ("domain", "polynomial", "proof")}
    more = {"lemma": {"name": "l"}, "comparison": {"strict": False}}.get(kind, {})
    return {"kind": kind, **kept, **more}


def _violated(document: Json, k: int, random: Random) -> Iterator[tuple[str, Json]]:
    """Yields that a claim is false at a point of its domain."""
    statement = document["statements"][k]
    if statement["domain"] >= len(document["domains"]):
        return
    box = document["domains"][statement["domain"]]["box"]
    point = {}
    for name, text in box.items():
        match = INTERVAL.fullmatch(text)
        if name != "E" and match and NUMBER.fullmatch(match[2]) and NUMBER.fullmatch(match[3]):
            low, high = Fraction(match[2]), Fraction(match[3])
            point[name] = str(low + (high - low) * random.choice((Fraction(0), Fraction(1, 3), Fraction(1))))
    claim = {name: statement[name] for name in ("domain", "polynomial")}
    witness = {"kind": "claim", "claim": claim, "parameters": point}
    found = {**document, "status": "violated", "witness": witness}
    yield f"statement {k} is violated", found
    yield (
        f"statement {k} is violated alone",
        {**found, "statements": [s for s in document["statements"] if s["kind"] == "obligation"]},
    )


def _changed_everywhere(document: Json, text: str, what: str) -> Iterator[tuple[str, Json]]:
    made = (
        ((w, str(n)) for w, n in numbers(Fraction(text))) if NUMBER.fullmatch(text) else polynomials(text, ())
    )
    for how, new in list(made)[:6]:
        yield (
            f"{what}, wherever it stands: {how}",
            everywhere(document, lambda t, n=new: n if t == text else t),
        )


def _exchange(one: str, other: str) -> Callable[[str], str]:
    """Returns what exchanges two names in texts."""
    pattern = re.compile(rf"(?<!\w)({re.escape(one)}|{re.escape(other)})(?!\w)")
    return lambda text: pattern.sub(lambda m: other if m[1] == one else one, text)


def _of_another(document: Json, other: Json, random: Random) -> Iterator[tuple[str, Json]]:
    """Yields a document with a statement, with the domain, or with what is said besides, of another one."""
    if other["statements"]:
        statement = random.choice(other["statements"])
        domains = document["domains"]
        if "domain" in statement:
            about = other["domains"][statement["domain"]]
            place = domains.index(about) if about in domains else len(domains)
            domains = domains if about in domains else [*domains, about]
            statement = {**statement, "domain": place}
        beside = {**document, "domains": domains, "statements": [*document["statements"], statement]}
        yield f"beside it {statement['kind']} of another document", beside
        if document["statements"]:
            k = random.randrange(len(document["statements"]))
            yield (
                f"in its place {statement['kind']} of another document",
                {
                    **_with_statements(document, k, statement),
                    "domains": domains,
                },
            )
        yield "its statements", {**document, "statements": other["statements"], "domains": other["domains"]}
    for key in ("witness", "budget", "reduction", "case", "status", "domains", "points"):
        if key in other and other[key] != document.get(key):
            yield f"{key} of another document", {**document, key: other[key]}


# --- forgeries ----------------------------------------------------------------------------------------


def pools_of(documents: Sequence[Json]) -> dict[object, list[Any]]:
    """Returns the different values of each kind, and those of each key."""
    found: dict[object, dict[str, Any]] = {}
    for document in documents:
        for part in parts(document):
            text = json.dumps(part.value, sort_keys=True)
            found.setdefault(part.pool, {}).setdefault(text, part.value)
            if part.path and isinstance(part.path[-1], str):
                found.setdefault(("key", part.path[-1]), {}).setdefault(text, part.value)
    return {pool: list(values.values()) for pool, values in found.items()}


def names_of(document: Json) -> list[str]:
    """Returns the variables of all domains, or names that stand in lists."""
    return sorted({name for domain in document["domains"] for name in domain["variables"]})


class Forger:
    """Changes of one document; values of `others` may be put in."""

    def __init__(self, document: Json, random: Random, others: Sequence[Json] = ()) -> None:
        self.document, self.random, self.others = document, random, others
        self.pools = pools_of([document])
        for pool, values in pools_of(random.sample(list(others), min(4, len(others)))).items():
            known = self.pools.setdefault(pool, [])
            known += [value for value in values[:3] if value not in known]
        self.names = names_of(document)
        self.parts = list(parts(document))

    def of_part(self, part: Part) -> Iterator[tuple[str, Json]]:
        """Yields what becomes of the document where one part is changed."""
        place = ".".join(map(str, part.path))
        for what, new in changes(part, self.pools, self.names, self.random):
            yield f"{place}: {what}", put(self.document, part.path, new)

    def all(self) -> Iterator[tuple[str, Json]]:
        """Yields all changes, one place after the other."""
        yield from whole(self.document, self.others, self.random)
        yield from chain.from_iterable(map(self.of_part, self.parts))

    def __iter__(self) -> Iterator[tuple[str, Json]]:
        """Yields changes in turn of what is changed together, and of parts that are alike, some twice."""
        random = self.random
        together = list(whole(self.document, self.others, random))
        random.shuffle(together)
        alike: dict[str, list[Part]] = {}
        for part in self.parts:
            alike.setdefault(part.place, []).append(part)
        waiting: dict[str, Iterator[tuple[str, Json]]] = {
            place: self._mixed(found) for place, found in alike.items()
        }
        before: tuple[str, Json] | None = None
        while waiting or together:
            for _ in range(min(len(together), 1 + len(waiting) // 6)):
                yield together.pop()
            for place in random.sample(list(waiting), len(waiting)):
                made = next(waiting[place], None)
                if made is None:
                    del waiting[place]
                    continue
                yield made
                if before is not None and random.random() < 0.1:
                    both = _both(self.document, before[1], made[1])
                    if both is not None:
                        yield f"{before[0]}; {made[0]}", both
                before = made

    def _mixed(self, found: list[Part]) -> Iterator[tuple[str, Json]]:
        """Yields changes of parts that are alike in any order: some of each one after the other."""
        open_: list[tuple[Part, list[Change]]] = []
        rest = self.random.sample(found, len(found))
        while rest or open_:
            if rest and (not open_ or self.random.random() < 0.3):
                part = rest.pop()
                made = list(changes(part, self.pools, self.names, self.random))
                self.random.shuffle(made)
                if made:
                    open_.append((part, made))
                continue
            k = self.random.randrange(len(open_))
            part, made = open_[k]
            what, new = made.pop()
            if not made:
                del open_[k]
            yield f"{'.'.join(map(str, part.path))}: {what}", put(self.document, part.path, new)


def _both(document: Any, one: Any, other: Any) -> Any:
    """Returns a value with what was changed in two copies; None where both changed one place."""
    if one is document or one == document:
        return other
    if other is document or other == document:
        return one
    alike = all(isinstance(value, dict) for value in (document, one, other))
    if alike and one.keys() == other.keys() == document.keys():
        found = {name: _both(document[name], one[name], other[name]) for name in document}
        return None if any(v is None and document[k] is not None for k, v in found.items()) else found
    same = isinstance(document, list) and isinstance(one, list) and isinstance(other, list)
    if same and len(one) == len(other) == len(document):
        made = [_both(d, a, b) for d, a, b in zip(document, one, other, strict=True)]
        return None if any(v is None and d is not None for v, d in zip(made, document, strict=True)) else made
    return None


def forgeries(document: Json, random: Random, others: Sequence[Json] = ()) -> Iterator[tuple[str, Json]]:
    """Yields changed documents with what was changed; each of them once, and none that is the same."""
    seen = {json.dumps(document, sort_keys=True)}
    for what, changed in Forger(document, random, others):
        text = json.dumps(changed, sort_keys=True)
        if text not in seen:
            seen.add(text)
            yield what, changed


def every(document: Json, random: Random, others: Sequence[Json] = ()) -> Iterator[tuple[str, Json]]:
    """Yields all changes of a small document, place after place."""
    seen = {json.dumps(document)}
    for what, changed in Forger(document, random, others).all():
        text = json.dumps(changed)
        if text not in seen:
            seen.add(text)
            yield what, changed
