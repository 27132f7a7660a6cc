"""Which observations a user names, as `--observations` has them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from paramverify import printable
from paramverify.errors import InputError

MOST_NAMED = 20  # observations that an error names


def read_observations(given: Sequence[str], known: Sequence[str], alone: bool = False) -> tuple[str, ...]:
    """Returns the observations that the texts of `--observations` name, each one or several with commas.

    Blanks around a name, and around a comma in a name, do not count, unless several observations differ in
    these only. Where an observation is `alone`, because it is all that a program tells, a text that names it
    means it, also where its parts are names too.

    Raises:
        InputError: an unknown observation, none at all, or a text with more than one meaning.
    """
    names = frozenset(known)
    word: list[str] = []
    joined: dict[str, list[str]] = {}
    for name in known:
        joined.setdefault(_joined(name), []).append(name)
    for text_given in given:
        same = joined.get(_joined(text_given), []) if "," in text_given else []
        entry = same[0] if len(same) == 1 else text_given
        parts = [part if part in names else part.strip() for part in entry.split(",")]
        for part in parts if len(parts) > 1 else ():
            if part != part.strip() and part.strip() in names:
                raise InputError(f"{part!r} and {part.strip()!r} are both observations: rename one of them")
        listed = [part for part in parts if part in names or part]
        if entry in names and listed != [entry]:
            if all(part in names for part in listed) and listed and not alone:
                raise InputError(f"{entry!r} may be one observation or {len(listed)}: rename one of them")
            listed = [entry]
        if alone and not names.issuperset(listed):
            listed = [text_given]  # the name of one output, with a mistake
        for part in listed:
            if part not in names:
                near = get_close_matches(part, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; the mechanism has {_listed(known)}"
                raise InputError(f"unknown observation {part!r}{hint}")
        word += listed
    if not word:
        raise InputError("no observations are given")
    return tuple(word)


def _joined(name: str) -> str:
    """Returns a name without the blanks around its commas."""
    return ",".join(part.strip() for part in name.split(","))


def _listed(known: Sequence[str]) -> str:
    """Returns the first names of observations, in quotes where one has commas or blanks."""
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    quote = "'" if any("," in name or " " in name for name in known) else ""
    return ", ".join(f"{quote}{printable.name(name)}{quote}" for name in known[:MOST_NAMED]) + more
