"""`kind = "geometric"`: one whole-number answer, released with noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from paramverify.errors import gathered
from paramverify.models.context import Checks
from paramverify.models.mechanisms import Drawing, Mechanism, read_query
from paramverify.models.mechanisms._one_shot import OneShot
from paramverify.models.mechanisms._queries import LABELS, QUERY
from paramverify.models.names import read_labels
from paramverify.models.noise import NOISE, Noise, Releases, read_noise
from paramverify.tables import Key, Section, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOLD = "A whole number f in 0..range is released with noise: Pr(o | f) is the entry of the noise for f and o."

CHECKED = True  # `read` checks the probabilities
SECTION = Section(
    "geometric",
    "A whole number, released with noise.",
    (QUERY, Key("noise", NOISE, "The noise that is added to the answer.", needed=True), LABELS),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Geometric(OneShot):
    """One whole answer with noise."""

    noise: Noise

    def drawn(self, at_point: Callable[[Noise], Releases]) -> Drawing:
        """Returns the mechanism with its noise at a parameter point."""
        return OneAnswer(at_point(self.noise), self.outputs)


@dataclass(frozen=True, eq=False)
class OneAnswer:
    """Draws the noise of one answer."""

    noise: Releases
    outputs: tuple[str, ...]

    def __call__(self, rng: np.random.Generator, given: tuple[Any, ...], size: int) -> NDArray[Any]:
        """Returns `size` outputs."""
        import numpy as np

        return np.array(self.outputs)[self.noise.released(rng, int(given[0]), size)]


def read(table: Table, checks: Checks) -> Mechanism:
    """Reads `query` (an expression with values 0..range) and `noise`."""
    with gathered() as each:
        with each:
            query = read_query(table)
        with each:
            noise = read_noise(table, "noise", checks)
        with each:
            table.get("labels")
            table.close()
    values = tuple(Fraction(v) for v in range(noise.range + 1))
    outputs = read_labels(table, [str(o) for o in range(noise.top + 1)])
    return Geometric(
        checks,
        query,
        (values,),
        outputs,
        lambda given: noise.rows[int(given[0])],
        noise=noise,
    )
