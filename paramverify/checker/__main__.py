"""`python -m paramverify.checker EVIDENCE`: checks one document; this folder alone is enough for it."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from .documents import check_text, verdict_line

USAGE = "usage: python -m checker EVIDENCE (0: accepted, 1: rejected, 2: no such evidence)"


def main(arguments: list[str]) -> int:
    """Prints what was checked; returns 0 if the evidence is accepted, 1 if not, 2 where it cannot be read."""
    if len(arguments) != 1:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8-sig") as file:
            report = check_text(file.read())
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    for line in (*report.lines, verdict_line(report)):
        print(line)
    return int(not report.accepted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
