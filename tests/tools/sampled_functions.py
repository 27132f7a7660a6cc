"""Functions that `adopt` reads, compared with samples of the functions themselves, as CPython runs them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import GeneratorType
from typing import Any

from compared_functions import imported
from replayed_functions import Output, encoded, read_name
from scipy import stats

from paramverify.api.adopting import adopt
from paramverify.errors import InputError

TINY = 1e-9  # the p-value below which a frequency is no accident


def float_law(found: Any, given: str) -> dict[Output, float]:
    """Returns the probability of each output of an adopted function; with Gaussian noise, the middle."""
    if "gauss" not in found.to_toml():
        return {read_name(name): float(p) for name, p in found.probabilities()[given].items()}
    rows = [row for row in found.show().document["probabilities"] if row["secret"] == given]
    return {
        read_name(row["observations"][0]): (float(p["lower"]) + float(p["upper"])) / 2
        for row in rows
        for p in [row["probability"]]
    }


def sampled(source: str, folder: Path, values: tuple[int, ...], samples: int, module_name: str) -> str:
    """Returns how the law of the function `f(x)` of a source agrees with samples: "same", or what is wrong.

    Each frequency is compared by an exact binomial test.
    """
    module = imported(source, folder, module_name)
    try:
        found = adopt(module.f, inputs={"x": {"values": list(values)}}, epsilon=1)
        laws = {x: float_law(found, str(x)) for x in values}
    except InputError as error:
        return f"refused: {error}"
    for x, law in laws.items():
        drawn: Counter[Output] = Counter()
        for _ in range(samples):
            value = module.f(x)
            drawn[encoded(list(value) if isinstance(value, GeneratorType) else value)[0]] += 1
        for output in drawn.keys() | law.keys():
            share = min(max(law.get(output, 0.0), 0.0), 1.0)
            if stats.binomtest(drawn[output], samples, share).pvalue < TINY:
                return (
                    f"differs: x = {x}: {output} came {drawn[output]} times instead of {share * samples:.1f}"
                )
    return "same"
