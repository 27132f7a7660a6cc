"""The encodings by name, and which one a model gets.

A module of this folder that exports an `ENCODING` is one, and so is one that a plugin names in the group
`paramverify.encodings`; there is nothing to register.
"""

from __future__ import annotations

from collections.abc import Iterator

from paramverify.claims import Claim
from paramverify.divergences import Average, Event, PositiveParts
from paramverify.encodings import sequences
from paramverify.encodings.encoding import Candidate, Encoding
from paramverify.errors import InputError
from paramverify.models.enclosed_models import EnclosedModel
from paramverify.models.model import AnyModel, Model, is_about
from paramverify.plugins import Registry, plugins, taken

REGISTRY = Registry("paramverify.encodings", "paramverify.encodings", "encoding")


def encodings() -> dict[str, Encoding]:
    """Returns every encoding by name; those of plugins come last.

    Raises:
        InputError: a plugin fails, or takes a name that exists.
    """
    found = _ours()
    for plugin in plugins(REGISTRY.group):
        encoding = plugin.offer("ENCODING")
        if not isinstance(encoding, Encoding) or encoding.name != plugin.name:
            raise InputError(f"{plugin.told()} exports no ENCODING of this name")
        if encoding.name in found:
            raise taken(plugin, REGISTRY.what, encoding.name)
        found[encoding.name] = encoding
    return found


def names() -> tuple[str, ...]:
    """Returns the names of all encodings; no plugin is imported."""
    return (*_ours(), *(plugin.name for plugin in plugins(REGISTRY.group) if plugin.name not in _ours()))


def _ours() -> dict[str, Encoding]:
    modules = (REGISTRY.own_module(name) for name in REGISTRY.own())
    found = [module.ENCODING for module in modules if hasattr(module, "ENCODING")]
    named = {sequences.ENCODING.name: sequences.ENCODING}  # what others are compared with comes first
    for encoding in found:
        if named.setdefault(encoding.name, encoding) is not encoding:
            raise InputError(f"there are two encodings called {encoding.name!r}")
    return named


def chosen(model: AnyModel) -> Encoding:
    """Returns the encoding that suits a model best; all its claims hold iff the model is private.

    Raises:
        InputError: a plugin fails, or an encoding that suits the model lacks what evidence needs.
    """
    if is_about(model, Average):
        raise model.measure.refused()
    found = max(encodings().values(), key=lambda encoding: _suitability(encoding, model))
    if found.claims is None or (found.again is None and found.certificate is None):
        needs = "claims, and again or certificate, so that evidence can be checked"
        raise InputError(f"{_told(found)} suits this model best; then it needs {needs}")
    return found


def foreign(model: AnyModel) -> str:
    """Returns in words whose encoding makes the claims of a model; "" for ours."""
    if isinstance(model, EnclosedModel) or is_about(model, PositiveParts, Average):
        return ""
    found = chosen(model)
    return "" if found.name in _ours() else f"the claims are those of {_told(found)}"


def _suitability(encoding: Encoding, model: AnyModel) -> int:
    if encoding.form is not None and not is_about(model, encoding.form):
        return 0
    value = encoding.suits(model)
    if not isinstance(value, int):
        raise InputError(f"{_told(encoding)} must say by a whole number how well it suits a model")
    return value


def _told(encoding: Encoding) -> str:
    stated = (plugin.told() for plugin in plugins(REGISTRY.group) if plugin.name == encoding.name)
    return next(stated, f"the encoding {encoding.name!r}")


def claims_of(model: AnyModel) -> tuple[Claim, ...]:
    """Returns claims that all hold iff the model is private, or its inequality holds.

    Raises:
        LimitError: too many vectors or rays.
    """
    encode = chosen(model).claims
    assert encode is not None
    return encode(model)


def is_long(model: AnyModel) -> bool:
    """Whether the claims are about some sequences only, and a proof needs a certificate for all others."""
    return chosen(model).certificate is not None


def listing(model: AnyModel) -> Encoding:
    """Returns the encoding that lists all that is compared: sequences, sets of them, or all together."""
    return chosen(model) if model.event in (Event.SET, Event.ALL) else sequences.ENCODING


def listed_claims(model: AnyModel) -> tuple[Claim, ...]:
    """Returns the claims like `claims_of`, of sequences always one after the other; see `listing`."""
    encode = listing(model).claims
    assert encode is not None
    return encode(model)


def candidates_of(model: Model) -> Iterator[Candidate]:
    """Yields pairs of probabilities, the worst ones among them; see `claims_of`."""
    found = chosen(model).candidates or sequences.ENCODING.candidates
    assert found
    return found(model)
