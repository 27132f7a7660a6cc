"""The encodings by name, and which one a model gets.

A module of this folder that exports an `ENCODING` is one, and so is one that a plugin names in the group
`paramverify.encodings`; there is nothing to register.
"""

from __future__ import annotations

from collections.abc import Iterator

from paramverify.claims import Claim
from paramverify.encodings import sequences
from paramverify.encodings.encoding import Candidate, Encoding
from paramverify.errors import InputError
from paramverify.models.kinds import AnyModel
from paramverify.models.model import Model
from paramverify.plugins import Registry, plugins, taken

REGISTRY = Registry("paramverify.encodings", "paramverify.encodings", "encoding")


def encodings() -> dict[str, Encoding]:
    """Returns every encoding by name; those of plugins come last.

    Raises:
        InputError: a plugin fails, or takes a name that exists.
    """
    found = _ours()
    for plugin in plugins(REGISTRY.group):
        encoding = getattr(plugin.load(), "ENCODING", None)
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
    # What others are compared with comes first.
    return {encoding.name: encoding for encoding in (sequences.ENCODING, *found)}


def chosen(model: AnyModel) -> Encoding:
    """Returns the encoding that suits a model best; all its claims hold iff the model is private.

    Raises:
        InputError: a plugin fails.
    """
    return max(encodings().values(), key=lambda encoding: encoding.suits(model))


def claims_of(model: AnyModel) -> tuple[Claim, ...]:
    """Returns claims that all hold iff the model is private, or its inequality holds.

    Raises:
        LimitError: too many vectors or rays.
    """
    encode = chosen(model).claims
    if encode is None:
        raise InputError(f"the encoding {chosen(model).name} suits this model, and has no claims")
    return encode(model)


def is_long(model: AnyModel) -> bool:
    """Whether the claims are about some sequences only, and a proof needs a certificate for all others."""
    return chosen(model).certificate is not None


def listed_claims(model: AnyModel) -> tuple[Claim, ...]:
    """Returns the claims like `claims_of`, of a privacy question always one sequence after the other."""
    assert sequences.ENCODING.claims
    return sequences.ENCODING.claims(model)


def candidates_of(model: Model) -> Iterator[Candidate]:
    """Yields pairs of probabilities, the worst ones among them; see `claims_of`."""
    found = chosen(model).candidates or sequences.ENCODING.candidates
    assert found
    return found(model)
