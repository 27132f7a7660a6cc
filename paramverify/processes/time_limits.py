"""A time limit that ends work of this process wherever it is: one alarm, which may stand inside of another.

Sessions keep their own limits and end first. An alarm is for what happens before, between and after them:
reading a case, running a program on its inputs, deriving claims.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from paramverify.errors import DisagreementError, TimeLimitError

IMPORTS = 5.0  # seconds that an import may take longer than the time limit
AGAIN = 0.01  # seconds after which an alarm that was held back or lost comes again
EARLY = 0.001  # seconds by which a timer may ring before the clock shows its end

Lift = Callable[[], None]


def _never() -> bool:
    return False


def can_ring() -> bool:
    """Tells whether an alarm goes off here: there are POSIX timers, and this is the main thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def alarm(seconds: float, left: float, held: Callable[[], bool] = _never) -> Iterator[Lift]:
    """Raises a TimeLimitError of `seconds` after `left` seconds; gives what lifts it.

    Where an alarm is set already, the earlier of the two goes off, and the outer one goes on afterwards. The
    alarm waits while `held` returns True, and while a module is imported. Without POSIX timers, or outside of
    the main thread, nothing happens. A single call of a C library is not interrupted: the alarm goes off when
    it returns.

    The alarm may go off inside a library, which may make another error of it or swallow it: whatever error
    ends the work after the alarm is the time limit.
    """
    if not can_ring():
        yield lambda: None
        return
    set_one = _Alarm(seconds, left, held)
    ignoring = sys.unraisablehook

    def ignored(found: sys.UnraisableHookArgs) -> None:
        """Sets the alarm again where it went off in code that cannot raise errors, such as a `__del__`."""
        if found.exc_type is TimeLimitError:
            set_one.again()
        else:
            ignoring(found)

    try:
        sys.unraisablehook = ignored
        set_one.start()
        yield set_one.lift
    except Exception as error:
        if set_one.rung and not isinstance(error, (TimeLimitError, DisagreementError)):
            raise TimeLimitError(seconds) from error
        raise
    finally:
        sys.unraisablehook = ignoring
        set_one.restore()


class _Alarm:
    """An alarm that is set, and the one that was set before it, which it keeps going."""

    def __init__(self, seconds: float, left: float, held: Callable[[], bool]) -> None:
        self.seconds = seconds
        self.held = held
        self.rung = self.lifted = False
        self.standing = self.restoring = False
        now = time.monotonic()
        self.end = now + left
        self.latest = self.end + IMPORTS
        already, self.interval = signal.getitimer(signal.ITIMER_REAL)
        self.outer = now + already if already > 0 else None
        self.before = signal.getsignal(signal.SIGALRM)

    def start(self) -> None:
        """Takes the place of the alarm before; from here on `restore` is needed."""
        self.standing = True
        signal.signal(signal.SIGALRM, self.ring)
        self.arm()

    def arm(self) -> None:
        """Sets the timer to the end that comes first."""
        ends = [end for end in (None if self.lifted else self.end, self.outer) if end is not None]
        signal.setitimer(signal.ITIMER_REAL, max(min(ends) - time.monotonic(), AGAIN) if ends else 0)

    def lift(self) -> None:
        """Takes the limit away."""
        self.rung, self.lifted = False, True
        self.arm()

    def again(self) -> None:
        """Lets an alarm that was lost go off once more."""
        signal.signal(signal.SIGALRM, self.ring)
        self.standing = True
        signal.setitimer(signal.ITIMER_REAL, AGAIN)

    def restore(self) -> None:
        """Lets the alarm that was set before go on, once."""
        if self.standing:
            self.restoring = True  # an alarm that goes off in these lines is late, and says nothing
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before)
            self.standing = self.restoring = False
            rest = 0 if self.outer is None else max(self.outer - time.monotonic(), AGAIN)
            signal.setitimer(signal.ITIMER_REAL, rest, self.interval if rest else 0)

    def ring(self, number: int, frame: FrameType | None) -> None:
        """Raises the error, if the time is over; first that of the alarm before, if its time is."""
        now = time.monotonic()
        if self.restoring:
            return
        if self.outer is not None and now >= self.outer - EARLY:
            self.ring_outer(number, frame)
            self.arm()
        elif self.lifted or now < self.end - EARLY:
            self.arm()
        elif self.held() or (_importing(frame) and now < self.latest):
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            self.rung = True
            self.restore()  # before the error, which may be raised anywhere, even in what would restore it
            raise TimeLimitError(self.seconds)

    def ring_outer(self, number: int, frame: FrameType | None) -> None:
        """Lets the alarm before go off; it may raise an error, be held back, or be one of the user's own."""
        self.outer = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        self.standing = False  # an error of the alarm before leaves what that alarm restored
        if callable(self.before):
            self.before(number, frame)
        else:
            signal.raise_signal(number)
        again = signal.getitimer(signal.ITIMER_REAL)[0] or self.interval
        self.outer = time.monotonic() + again if again else None
        self.standing = True
        signal.signal(signal.SIGALRM, self.ring)


def _importing(frame: FrameType | None) -> bool:
    """Tells whether a module is being imported: half a module would stay broken for the whole process."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
