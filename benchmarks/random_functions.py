"""Random functions: their laws as `adopt` reads them, against an enumeration of their outcomes by CPython.

    python benchmarks/random_functions.py [--count 5000] [--seed 0] [--keep DIRECTORY]

Prints each difference, the refusals by their reasons, counts, and how often each construct of Python and each
function occurs in functions whose laws were compared. The exit status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "tools"))

from compared_functions import compared
from construct_rows import PREAMBLE
from function_texts import random_function

SMALL = (ast.expr_context, ast.Name, ast.Constant, ast.Expr, ast.Load, ast.Module, ast.arg, ast.arguments)


def constructs(source: str) -> set[str]:
    """Returns the kinds of nodes in the function of a source, and the names of what it calls."""
    found = set()
    for node in ast.walk(ast.parse(source.removeprefix(PREAMBLE))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
            base, _, method = name.rpartition(".")
            known = base in ("", "np", "np.random", "random", "secrets", "math") or base[:3] == "rng"
            known = known or base in (
                "itertools",
                "functools",
                "operator",
                "collections",
                "statistics",
                "bisect",
            )
            if not re.search(r"\d", name):
                found.add(f"{name}()" if known else f".{method}()")
            elif method and method != name:
                found.add(f".{method}()")
        elif not isinstance(node, SMALL):
            found.add(type(node).__name__)
    return found


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--keep", type=Path, help="write the sources of differences and refusals here")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    example: dict[str, int] = {}
    occurs: Counter[str] = Counter()
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            source, rng = random_function(seed)
            answer = compared(source, Path(folder), [0, 3], rng)
            word = answer.partition(":")[0]
            counts[word] += 1
            if word == "same":
                occurs.update(constructs(source))
            if word == "differs":
                print(f"seed {seed} {answer}"[:900], flush=True)
            elif word != "same":
                reason = re.sub(r"'[^']*'|\b\d+\b", "_", answer)[:150]
                reasons[reason] += 1
                example.setdefault(reason, seed)
            if options.keep and word not in ("same", "due"):
                options.keep.mkdir(exist_ok=True)
                (options.keep / f"{word}{seed}.py").write_text(f"# {answer!r}\n{source}")
    print("| answer | functions |\n| --- | --- |")
    for word, number in counts.most_common():
        print(f"| {word} | {number} |")
    print()
    for reason, number in reasons.most_common():
        print(f"{number:5} {reason} (seed {example[reason]})")
    print()
    for times in sorted(set(occurs.values()), reverse=True):
        print(f"{times:5} {', '.join(sorted(name for name, count in occurs.items() if count == times))}")
    print(f"\n{time.process_time() - started:.0f} s of processor time")
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
