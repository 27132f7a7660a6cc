"""Values between Python and the exact numbers of a case."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.algebra.exact_numbers import ExactNumber
from paramverify.errors import InputError, located
from paramverify.models.model import Model
from paramverify.models.programs.run_states import Plain

if TYPE_CHECKING:
    import numpy as np

Number = int | float | str | Fraction | ExactNumber


def fraction(value: Any) -> Fraction:
    """Returns a number as it is written: 0.1 is 1/10."""
    try:
        if isinstance(value, ExactNumber):
            return value.fraction
        if isinstance(value, (int, str, Fraction)):
            return Fraction(value)
        return Fraction(repr(float(value)))
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f"a number is needed here, not {value!r}") from None


def point_at(at: Mapping[str, Number] | None) -> dict[str, Fraction]:
    """Returns the numbers that `at` gives to parameters; one that is none is named in the error."""
    found = {}
    for name, value in (at or {}).items():
        with located(key=name):
            found[name] = fraction(value)
    return found


def complete(model: Model, point: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Returns the point with the parameters that are one number."""
    found = {n: i.lower for n, i in model.domain.box.items() if i.is_point} | dict(point)
    ring = model.domain.ring
    named = {u.variable: u.name for u in ring.unbounded}
    missing = [named.get(n, n) for n in ring.parameters if n not in found]
    if missing:
        raise InputError(f"no value for {', '.join(missing)}")
    return found


def generator(seed: int | None, rng: Any) -> np.random.Generator:
    """Returns the generator that a call is given, or one from its seed."""
    try:
        import numpy as np
    except ImportError:
        raise InputError("sampling needs numpy: pip install 'paramverify[stats]'") from None
    if rng is not None and seed is not None:
        raise InputError("give either seed or rng")
    if seed is not None and (not isinstance(seed, (int, np.integer)) or seed < 0):
        raise InputError(f"a whole number that is at least 0 is needed here, not {seed!r}", key="seed")
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise InputError(f"a numpy.random.Generator is needed here, not {rng!r}", key="rng")
    return np.random.default_rng(seed if rng is None else rng)


def python(value: Plain) -> Any:
    """Returns a value as Python has it: whole numbers as `int`, lists as lists."""
    if isinstance(value, tuple):
        return [python(v) for v in value]
    whole = isinstance(value, Fraction) and value.denominator == 1
    return int(value) if whole else value
