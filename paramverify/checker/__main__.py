"""`python -m paramverify.checker EVIDENCE`: the kernel as a program, under the name that people know."""

from __future__ import annotations

import sys

from ..kernel.__main__ import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
