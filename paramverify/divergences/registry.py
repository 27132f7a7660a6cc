"""The divergences that `[privacy]` may bound beside the ratio and delta, by their keys.

Those of this package are listed here. A package that is installed beside it states others in the group
`paramverify.divergences`: the name of an entry point is the key, and it names a module with a `DIVERGENCE`.
"""

from __future__ import annotations

from collections.abc import Mapping

from paramverify.divergences.chi_squared import ChiSquared
from paramverify.divergences.keys import KL, RENYI, TOTAL_VARIATION, ZCDP
from paramverify.divergences.reading import DivergenceKind, sum_kind
from paramverify.errors import InputError
from paramverify.plugins import PREFIX, plugins, taken

GROUP = f"{PREFIX}divergences"
CHI_SQUARED = sum_kind(ChiSquared, "The bound of the chi-squared divergence: a number of at least 0.")
OURS = {kind.key.name: kind for kind in (RENYI, CHI_SQUARED, TOTAL_VARIATION, KL, ZCDP)}
RATIO = ("epsilon", "ratio", "delta")  # the max divergence, and beside delta the hockey-stick divergence
OTHERS = ("length", "one_sided")  # keys of [privacy] that are no bounds


def names() -> tuple[str, ...]:
    """Returns the keys of all divergences but the ratio; no plugin is imported."""
    return (*OURS, *(plugin.name for plugin in plugins(GROUP) if plugin.name not in OURS))


def measures() -> tuple[str, ...]:
    """Returns the keys of all bounds."""
    return (*RATIO, *names())


def kinds() -> Mapping[str, DivergenceKind]:
    """Returns every divergence by its key; those of plugins come last.

    Raises:
        InputError: a plugin fails, or takes a name that exists.
    """
    found = dict(OURS)
    for plugin in plugins(GROUP):
        if plugin.name in (*found, *RATIO, *OTHERS):
            raise taken(plugin, "key", plugin.name)
        kind = plugin.offer("DIVERGENCE")
        if not isinstance(kind, DivergenceKind) or kind.key.name != plugin.name:
            raise InputError(f"{plugin.told()} must export DIVERGENCE, with a key of this name, but does not")
        found[plugin.name] = kind
    return found


def foreign(key: str) -> str:
    """Returns the package that a divergence comes from, in words; "" for one of this package."""
    return next((plugin.told() for plugin in plugins(GROUP) if plugin.name == key), "")
