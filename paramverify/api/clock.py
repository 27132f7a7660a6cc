"""One clock for a call of the package: reading, building, and all searches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from paramverify.portfolio.session import Options
from paramverify.processes.time_limits import alarm

GRACE = 0.25  # seconds that a session may need to end its processes

Left = Callable[[], Options]


@contextmanager
def clock(options: Options) -> Iterator[Left]:
    """Ends what is done inside when the time of a call is over, see `alarm`; gives the options with the rest.

    Raises:
        TimeLimitError: the time is over.
    """
    until = time.monotonic() + options.seconds

    def left() -> Options:
        return replace(options, seconds=max(0.01, until - time.monotonic()))

    with alarm(options.limit or options.seconds, options.seconds + GRACE):
        yield left
