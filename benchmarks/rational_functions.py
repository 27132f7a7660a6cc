"""Rational functions of parametric Markov chains, as `.rat` files: how those in `cases/` were made.

    python benchmarks/rational_functions.py retransmission > cases/retransmission.rat
    python benchmarks/rational_functions.py walk > cases/random-walk.rat

A chain is given by its steps; its states are eliminated one after the other, as a parametric model checker
does, and the probability to reach the goal is written in prefix form.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping

from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Polynomial, RationalFunction, Ring, to_rational_function

State = Hashable
Chain = dict[State, dict[State, RationalFunction]]

RING = Ring(("p", "q"))
GOAL = "goal"


def function(text: str) -> RationalFunction:
    """Returns a rational function of p and q."""
    return to_rational_function(parse(text), RING)


def retransmission(chunks: int = 12, tries: int = 4) -> Chain:
    """Returns a sender that gives up (the goal) if one of the chunks is not acknowledged in so many tries.

    A try succeeds if the message arrives, with probability p, and then its acknowledgement, with q.
    """
    chain: Chain = {}
    for chunk in range(chunks):
        for attempt in range(tries):
            lost = GOAL if attempt == tries - 1 else (chunk, attempt + 1, "send")
            done = "sent" if chunk == chunks - 1 else (chunk + 1, 0, "send")
            send, answer = (chunk, attempt, "send"), (chunk, attempt, "answer")
            chain[send] = {answer: function("p"), lost: function("1 - p")}
            chain[answer] = {done: function("q"), lost: function("1 - q")}
    return chain


def walk(half: int = 24) -> Chain:
    """Returns a walk from the middle of 0..2·half, one up with probability p and one down with q.

    It stays where it is with the rest, and ends at both ends; the goal is the upper one.
    """
    chain: Chain = {}
    order = sorted(range(1, 2 * half), key=lambda s: abs(s - half))
    for place in order:
        up: State = GOAL if place == 2 * half - 1 else place + 1
        down: State = "bottom" if place == 1 else place - 1
        chain[place] = {up: function("p"), down: function("q"), place: function("1 - p - q")}
    return chain


def reach(chain: Chain) -> RationalFunction:
    """Returns the probability to reach the goal from the first state; the last is eliminated first."""
    chain = {state: dict(row) for state, row in chain.items()}
    first, *others = chain
    for state in reversed([first, *others]):
        row = chain[state]
        stay = row.pop(state, None)
        if stay is not None:
            scale = RationalFunction.of(RING.number(1)) - stay
            row = chain[state] = {target: share / scale for target, share in row.items()}
        if state == first:
            return row[GOAL]
        for other in chain.values():
            if state in other and other is not row:
                share = other.pop(state)
                for target, part in row.items():
                    moved = share * part
                    other[target] = other[target] + moved if target in other else moved
        del chain[state]
    raise ValueError("a chain without states")


def prefix(polynomial: Polynomial) -> str:
    """Returns a polynomial in prefix form, powers written out."""
    terms = []
    for exponents, coefficient in polynomial.to_dict().items():
        number = (
            str(abs(coefficient.p)) if coefficient.q == 1 else f"(/ {abs(coefficient.p)} {coefficient.q})"
        )
        parts = [f"(- {number})" if coefficient < 0 else number]
        for name, exponent in zip(RING.names, map(int, exponents), strict=True):
            if exponent:
                parts.append(name if exponent == 1 else f"(* {' '.join([name] * exponent)})")
        terms.append(parts[0] if len(parts) == 1 else f"(* {' '.join(parts)})")
    return terms[0] if len(terms) == 1 else f"(+ {' '.join(terms)})"


def rat_file(found: RationalFunction, box: Mapping[str, str], constraints: tuple[str, ...]) -> str:
    """Returns the text of the file."""
    result = prefix(found.numerator)
    if not found.denominator.is_one():
        result = f"(/ {result} {prefix(found.denominator)})"
    lines = [
        "$Parameters: " + "; ".join(f"{name} {interval}" for name, interval in box.items()),
        f"$Result: {result}",
        "$Well-formed Constraints:",
        *(f"(<= (* (- 1) {name}) 0)" for name in box),
        *(f"(<= (+ {name} (- 1)) 0)" for name in box),
        *constraints,
        "$Graph-preserving Constraints:",
        *(f"(not (= {name} 0))" for name in box),
    ]
    return "\n".join([*lines, ""])


FILES: Mapping[str, Callable[[], str]] = {
    "retransmission": lambda: rat_file(reach(retransmission()), {"p": "(0,1]", "q": "(0,1]"}, ()),
    "walk": lambda: rat_file(reach(walk()), {"p": "(0,1)", "q": "(0,1)"}, ("(<= (+ p q (- 1)) 0)",)),
}


if __name__ == "__main__":
    sys.stdout.write(FILES[sys.argv[1]]())
