"""What the objects that names of a Python function mean are called in their libraries."""

from __future__ import annotations

import sys
from types import ModuleType

from paramverify import language
from paramverify.models.programs.program_reading import RESERVED
from paramverify.models.programs.python_libraries import LIBRARIES, TABLE


def library_name(found: object) -> str | None:
    """Returns the name of a module, a function or a class in its library; None if it is in none."""
    if isinstance(found, ModuleType):
        return found.__name__ if found.__name__.partition(".")[0] in LIBRARIES else None
    if found is None or not (callable(found) or hasattr(found, "rvs")):
        return None
    for word in RESERVED:
        if found is getattr(language, word, language):
            return f"{language.__name__}.{word}"
    for name in TABLE:
        for full in (name, name.rpartition(".")[0]):  # of a module, or of something in one
            place, _, last = full.rpartition(".")
            if place in sys.modules and vars(sys.modules[place]).get(last) is found:
                return full
    named = f"{getattr(found, '__module__', '')}.{getattr(found, '__name__', '')}"
    return named if named.partition(".")[0] in LIBRARIES else None
