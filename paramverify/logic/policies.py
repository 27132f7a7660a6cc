"""Probabilities of a path formula under every memoryless policy of its product, for parametric processes.

A scheduler may choose by the whole history. In the product of the model with the automaton of the formula the
largest and the smallest probability to reach a goal are those of policies that choose by the node only
([Puterman94] theorem 7.1.9, at each parameter point). They are finitely many, and each is a Markov chain with
its probability as a function of the parameters. So a bound that all these functions keep at every point is
kept by every scheduler, and a policy that breaks it is a scheduler that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from paramverify.errors import SizeError
from paramverify.logic.normal_forms import Node
from paramverify.logic.products import Product, product
from paramverify.logic.reachability import Guard, solve
from paramverify.models.chains.chain import Chain, Row, Value
from paramverify.models.chains.flat import flat

MAX_POLICIES = 5_000  # for one start


def policies(
    chain: Chain, formula: Node, signatures: Sequence[int], starts: Iterable[int], guard: Guard | None
) -> Iterator[dict[int, Value]]:
    """Yields the different probabilities of a formula without unbounded R, start by start, over all policies.

    Raises:
        SizeError: too many policies.
        UnsupportedError: by `guard`.
    """
    made = product(chain, formula, signatures, starts)
    for state, node in made.starts.items():
        seen: set[str] = set()
        for rows in _chains(made, node):
            value = solve(flat(rows), made.known, chain.zero, chain.one, guard)[node]
            if str(value) not in seen:
                seen.add(str(value))
                yield {state: value}


def _chains(made: Product, start: int) -> Iterator[list[Row]]:
    """Yields the Markov chains of all policies, which choose only where they can get to from a start."""
    count = 0
    pending: list[tuple[dict[int, Row], list[int]]] = [({}, [start])]
    while pending:
        chosen, ahead = pending.pop()
        while ahead and (ahead[-1] in chosen or ahead[-1] in made.known):
            ahead.pop()
        if not ahead:
            count += 1
            if count > MAX_POLICIES:
                raise SizeError(f"more than {MAX_POLICIES:,} memoryless policies of the model and formula")
            yield [chosen.get(node, ()) for node in range(len(made.choices))]
            continue
        node = ahead.pop()
        for row in {tuple((t, str(v)) for t, v in row): row for row in made.choices[node]}.values():
            pending.append(({**chosen, node: row}, [*ahead, *(successor for successor, _ in row)]))
