"""The pair of secrets that two names stand for."""

from __future__ import annotations

from paramverify import printable
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.models.priors import InitialDistribution, SecretPair


def directed(model: Model, left: str, right: str) -> tuple[InitialDistribution, InitialDistribution]:
    """Returns the conditioned priors of two secrets that the model compares; see `pair_of`."""
    pair = pair_of(model, left, right)
    return pair.pi, pair.tau


def pair_of(model: Model, left: str, right: str) -> SecretPair:
    """Returns the pair of two secrets that the model compares, in this direction.

    Where no pair has exactly these names, blanks do not count.

    Raises:
        InputError: the model does not compare them.
    """
    for plain in (str, _without_blanks):
        wanted = plain(left), plain(right)
        found = {}
        for pair in model.pairs:
            known = plain(pair.left), plain(pair.right)
            if known == wanted:
                found[pair.left, pair.right] = pair
            elif known == wanted[::-1]:
                found[pair.right, pair.left] = pair.turned
        if len(found) > 1:
            raise InputError(
                f"{left!r} against {right!r} may be several pairs: write the blanks as in the case"
            )
        if found:
            return next(iter(found.values()))
    shown = [(printable.name(p.left), printable.name(p.right)) for p in model.pairs[:5]]
    names = ", ".join(f"{a} / {b}" for a, b in shown)
    more = f" and {len(model.pairs) - 5} more" if len(model.pairs) > 5 else ""
    raise InputError(f"no such secret pair: {left!r} against {right!r}; the case compares {names}{more}")


def _without_blanks(name: str) -> str:
    return name.replace(" ", "")
