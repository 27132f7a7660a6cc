"""Attempts: one backend on one claim, with options and limits; and answers as JSON documents on their way
back.

Answers as JSON documents, for the way from an attempt's process to the runner.

Rationals are strings such as `"24/7"`; they go through flint, which has no bound on the digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from numbers import Rational
from pkgutil import iter_modules
from typing import Any

from flint import fmpq

from paramverify import backends
from paramverify.algebra.number_fields import point_document, read_point
from paramverify.algebra.polynomials import fraction, rational
from paramverify.answers import Answer, Decision, End, FailsAt, Open, Proved, Refuted
from paramverify.backends import Backend, backend
from paramverify.claims import Claim
from paramverify.errors import InputError

LEAST_MEMORY, MOST_MEMORY = 10**8, 10**15


def read_size(text: str) -> int:
    """Returns a number of bytes, written like `4GiB`, `1.5GB` or `500MB`.

    Raises:
        InputError: another form, or no sensible limit of memory.
    """
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT])(i?)B?\s*", text, re.IGNORECASE)
    if not match:
        raise InputError(f"{text!r} is not a size; write, for example, 4GB or 500MB")
    unit = (1024 if match[3] else 1000) ** (1 + "KMGT".index(match[2].upper()))
    size = int(Fraction(match[1]) * unit)
    if not LEAST_MEMORY <= size <= MOST_MEMORY:
        raise InputError(f"{text!r} is not between 100MB and 1000TB")
    return size


OPTION = re.compile(r"[A-Za-z0-9_.+-]+")
GIBIBYTE = 1 << 30
MEMBERS = ("name", "builtin", "description", "install", "version", "decide")


@dataclass(frozen=True)
class AttemptLimits:
    """What one attempt may use.

    `seconds` is wall-clock time from the start of the attempt's process, or infinity. `memory` is the address
    space, in bytes, that each process of the attempt may take beyond the libraries that are already loaded. A
    process also ends when its own processor time passes `seconds`, rounded up, plus one.
    """

    seconds: float
    memory: int = 2 * GIBIBYTE

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and self.memory > 0):
            raise InputError("limits must be positive")


@dataclass(frozen=True)
class Attempt:
    """One backend on one claim.

    `backend` is the name of a backend of the package, or `module:attribute` for one's own object that
    satisfies the protocol `Backend`; the module must be importable in a fresh process with this one's
    `sys.path`. `options` override the backend's own settings.
    """

    backend: str
    claim: Claim
    options: Mapping[str, str] = field(default_factory=dict)


def split_name(name: str) -> tuple[str, dict[str, str]]:
    """Returns the name of a backend and the options that stand behind it: `z3(random_seed=1)`.

    Raises:
        InputError: the brackets have something else than options.
    """
    base, bracket, inside = name.partition("(")
    if not bracket:
        return name, {}
    parts = [part.partition("=") for part in inside.removesuffix(")").split(",")]
    options = {key.strip(): value.strip() for key, _, value in parts}
    written = all(OPTION.fullmatch(word) for pair in options.items() for word in pair)
    if not inside.endswith(")") or not written or len(options) < len(parts):
        raise InputError(f"options of a backend are written like z3(random_seed=1), not {name!r:.80}")
    return base.strip(), options


def split_names(text: str) -> list[str]:
    """Returns names that are separated by commas, with the options that stand behind them in brackets."""
    return [name.strip() for name in re.split(r",(?![^()]*\))", text) if name.strip()]


def resolve(name: str) -> Backend:
    """Returns the backend of that name, or the object at `module:attribute`.

    Raises:
        InputError: there is none.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        return backend(split_name(name)[0])
    try:
        found: Backend = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError, TypeError, SyntaxError, SystemExit) as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name in (module, module.partition(".")[0])
        mend = "; if its folder is here, put PYTHONPATH=. before the command" if absent else ""
        raise InputError(f"no backend at {name!r}: {error}{mend}") from error
    if isinstance(found, type):
        raise InputError(f"what is at {name!r} is a class: a backend is an object, such as {attribute}()")
    if any(not hasattr(found, member) for member in MEMBERS):
        raise InputError(f"what is at {name!r} is not a backend: a backend has {', '.join(MEMBERS)}")
    return found


def called(name: str) -> str:
    """Returns what people call a backend: for `module:attribute`, the `name` that the object has."""
    return str(resolve(name).name) if ":" in name else name


def settings(found: Backend, options: Mapping[str, str], name: str = "") -> dict[str, str]:
    """Returns a backend's own settings, overridden by the options in its name, and then by options.

    Its own are those of the optional attribute `settings`.
    """
    own: Mapping[str, str] = getattr(found, "settings", {})
    return {**own, **split_name(name)[1], **options}


def preloads(name: str, found: Backend) -> list[str]:
    """Returns the modules to import before attempts of a backend are forked.

    A backend names them in an optional attribute `preload`: only modules that are safe to import once and
    share, such as a solver's bindings. The light modules of all backends come first, because finding one by
    name imports them. For a backend outside the package nothing is shared.
    """
    if ":" in name:
        module = name.partition(":")[0]
        return [module] if module.startswith("paramverify.") else []
    wanted: tuple[str, ...] = getattr(found, "preload", ())
    return [f"{backends.__name__}.{module.name}" for module in iter_modules(backends.__path__)] + [*wanted]


def answer_to_document(answer: Answer) -> dict[str, Any]:
    """Returns an answer as JSON data."""
    if isinstance(answer, Proved):
        certificate = None if answer.certificate is None else dict(answer.certificate)
        return {"answer": "proved", "certificate": certificate, "transcript": answer.transcript}
    if isinstance(answer, Refuted):
        point = {name: str(rational(Fraction(value))) for name, value in answer.point.items()}
        return {"answer": "refuted", "point": point, "transcript": answer.transcript}
    place = {"at": point_document(answer.at)} if isinstance(answer, FailsAt) else {}
    return {
        "answer": "open",
        **place,
        "end": answer.end.value,
        "detail": answer.detail,
        "transcript": answer.transcript,
        "denies": answer.denies,
    }


def decision_to_document(decision: Decision) -> dict[str, Any]:
    """Returns a decision as JSON data."""
    return {
        "answer": answer_to_document(decision.answer),
        "backend": decision.backend,
        "version": decision.version,
        "options": dict(decision.options),
        "seconds": decision.seconds,
    }


def decision_from_document(document: Mapping[str, Any]) -> Decision:
    """Returns the decision that `decision_to_document` wrote.

    Raises:
        ValueError: the document is something else.
    """
    try:
        options = {_text(name): _text(value) for name, value in document["options"].items()}
        return Decision(
            answer_from_document(document["answer"]),
            _text(document["backend"]),
            _text(document["version"]),
            options,
            float(document["seconds"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a decision: {error!r}") from error


def formed(said: object, claim: Claim) -> Answer:
    """Returns what `decide` gave if it is an answer about the claim; else `Open` with the mistake."""
    if isinstance(said, Open):
        mistake = _no_end(said)
    elif isinstance(said, Proved):
        mistake = _no_json(said.certificate)
    elif isinstance(said, Refuted):
        mistake = _no_point(said.point, claim.domain.ring.names)
    else:
        mistake = f"`decide` gave {said!r:.80}, and an answer is Proved, Refuted or Open"
    if isinstance(said, Proved | Refuted | Open):
        mistake = mistake or _no_transcript(said.transcript)
        if not mistake:
            return said
    return Open(End.CRASHED, f"a mistake in this backend: {mistake}")


def _no_transcript(text: object) -> str:
    return "" if isinstance(text, str) else f"the transcript of an answer is a text, not {text!r:.80}"


def _no_end(said: Open) -> str:
    right = isinstance(said.end, End) and isinstance(said.detail, str)
    return "" if right else "`Open` needs an `End`, such as End.GAVE_UP, and a text"


def _no_json(certificate: object) -> str:
    if certificate is None:
        return ""
    if not isinstance(certificate, Mapping):
        return f"a certificate is a mapping, not {certificate!r:.80}"
    try:
        json.dumps(dict(certificate))
    except (TypeError, ValueError, RecursionError) as error:
        return f"its certificate cannot be written as JSON: {error}"
    return ""


def _no_point(point: object, names: Sequence[str]) -> str:
    if not isinstance(point, Mapping):
        return f"the point of a refutation is a mapping from names to fractions, not {point!r:.80}"
    for name, value in point.items():
        if name not in names:
            known = ", ".join(names)
            return (
                f"the point of a refutation has {name!r:.80}, which is not a variable of the claim: {known}"
            )
        if not isinstance(value, Rational):
            return f"the value of {name} is {value!r:.80}, but must be a fraction"
    return ""


def answer_from_document(document: Mapping[str, Any]) -> Answer:
    """Returns the answer that `answer_to_document` wrote.

    Raises:
        ValueError: the document is something else.
    """
    try:
        transcript = _text(document["transcript"])
        match document["answer"]:
            case "proved":
                certificate = document["certificate"]
                if not (certificate is None or isinstance(certificate, dict)):
                    raise ValueError("the certificate is not an object")
                return Proved(certificate, transcript)
            case "refuted":
                point = {_text(k): _rational(_text(v)) for k, v in document["point"].items()}
                return Refuted(point, transcript)
            case "open":
                end, detail = End(document["end"]), _text(document["detail"])
                if "at" in document:
                    return FailsAt(end, detail, transcript, at=read_point(document["at"]))
                return Open(end, detail, transcript, document["denies"] is True)
            case other:
                raise ValueError(f"unknown kind of answer: {other!r}")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not an answer: {error!r}") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"not a string: {value!r}")
    return value


def _rational(text: str) -> Fraction:
    try:
        return fraction(fmpq(text))
    except ZeroDivisionError as error:
        raise ValueError(f"not a rational: {text!r}") from error
