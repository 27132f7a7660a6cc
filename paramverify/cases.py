"""The case file, as programs import it: `load` reads one, `Case` is what was read."""

from paramverify.privacy.cases import Case, load

__all__ = ["Case", "load"]
