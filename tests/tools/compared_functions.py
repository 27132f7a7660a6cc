"""Functions that `adopt` reads, compared with a plain enumeration of their outcomes."""

from __future__ import annotations

import importlib.util
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

from replayed_functions import Law, Output, TooManyRunsError, law_of, read_name

from paramverify.api.adopting import adopt
from paramverify.errors import InputError

REFUSED = "refused"  # the first word of an answer
NO_OUTPUTS = (
    "AssertionError",
    "AttributeError",
    "NameError",
    "RecursionError",
    "TypeError",
    "UnboundLocalError",
)


def imported(source: str, folder: Path, name: str) -> ModuleType:
    """Returns a source as an imported module, whose functions have their sources in a file."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def adopted_law(
    function: Any, inputs: Mapping[str, Any], **options: Any
) -> dict[str, dict[Output, Fraction]]:
    """Returns the probability of each output under each input, as paramverify has them."""
    found = adopt(function, inputs=inputs, epsilon=1, **options).probabilities()
    return {
        given: {read_name(name): Fraction(str(share)) for name, share in law.items()}
        for given, law in found.items()
    }


def compared(
    source: str, folder: Path, values: Sequence[int], rng: str = "", module_name: str = "adopted_source"
) -> str:
    """Returns how the law of the function `f(x)` of a source compares: "same", or "differs: " and how.

    If the function is refused, this is "refused: " and the reason, or "due: " if some outcome of the
    function is no output.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            laws = {str(x): law_of(source, "f", {"x": x}, rng) for x in values}
        except TooManyRunsError:
            return "skipped: too many outcomes"
        module = imported(source, folder, module_name)
        try:
            found = adopted_law(
                module.f, {"x": {"values": list(values)}}, neighbours={"differ": "one", "by": "any"}
            )
        except InputError as error:
            return _of_refusal(str(error), laws)
        except Exception as error:
            return f"differs: {type(error).__name__}: {error}"
    due = _no_output(laws)
    if due:
        return f"differs: accepted, but {due}"
    for given, law in laws.items():
        expected: dict[Output, Fraction] = {}
        for (output, _), share in law.items():
            expected[output] = expected.get(output, Fraction(0)) + share
        if found[given] != expected:
            return f"differs: x = {given}: {_told(found[given])} instead of {_told(expected)}"
    return "same"


def _told(law: Mapping[Output, Fraction]) -> str:
    return ", ".join(f"{output!r}: {share}" for output, share in sorted(law.items(), key=repr))


def _no_output(laws: Mapping[str, Law]) -> str:
    """Returns why a function has no law: a mistake, or outputs that only types tell apart."""
    kinds: dict[Output, set[str]] = {}
    for law in laws.values():
        for output, types in law:
            if types.startswith("raise ") and types.removeprefix("raise ") in NO_OUTPUTS:
                return f"some outcome {output[1]}"
            kinds.setdefault(output, set()).add(types)
    mixed = next((types for types in kinds.values() if len(types) > 1), None)
    return f"equal outputs have the types {sorted(mixed)}" if mixed else ""


def _of_refusal(reason: str, laws: Mapping[str, Law]) -> str:
    reason = re.sub(r"\s+", " ", re.sub(r"^.*?(error|refused)?: /\S+?: ?", "", reason))
    due = _no_output(laws)
    if due:
        return f"due: {reason}"
    if re.search(
        r"\b\w+(Error|Exception|Iteration|Warning): |assertion fails|equal outputs have different", reason
    ):
        return f"differs: {reason}"
    return f"{REFUSED}: {reason}"


def refusal(source: str, folder: Path, module_name: str) -> str:
    """Returns why the function `f(x)` of a source is refused; "" if it is accepted."""
    module = imported(source, folder, module_name)
    try:
        adopt(module.f, inputs={"x": {"values": [0, 1]}}, epsilon=1)
    except InputError as error:
        return str(error)
    return ""
