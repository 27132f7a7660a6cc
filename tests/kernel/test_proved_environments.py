"""The proved checker: inputs that are not accepted, hidden steps that never end, ratios without limit."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT
from engine_documents import own, told, with_own
from oracle_tools import Json, Runs, points_of
from test_leaks_checker import ZERO, D, Q
from test_leaks_checker import document as growing
from test_unwinding_checker import FAMILY, NEVER, PARTIAL, costs, document, family, witness
from three_checkers import built, by_program, changed

from paramverify.interactive.system_cases import load
from paramverify.interactive.system_certificates import budget_document, evidence_document
from paramverify.interactive.system_verification import tight_budget, verify
from paramverify.kernel.documents import engine_of

NOWHERE = {"ends": [[5, [[-1, "1"]]]], "times": []}


def never(rows: list[Json]) -> list[Json]:
    """Returns evidence about systems in which hidden steps may go on for ever, some of it wrong."""
    both = copy.deepcopy(rows)
    both[1] = both[0]
    same = family("1", both, delta="1", steps=0, levels=[[0, 1, 0]])
    mixed = copy.deepcopy(both)
    mixed[0][1][1] = mixed[1][1][1] = [[2, "1/3"], [5, "2/3"]]
    found = [
        same,
        family("1", mixed, delta="1", steps=0, levels=[[0, 1, 0]]),
        costs("1", both),
        family("9", rows),
    ]
    silent = copy.deepcopy(rows)
    silent[0] = [[D, [[5, "1"]]], [Q, [[2, "1"]]]]
    found += [make("9", silent) for make in (family, costs)]
    closures = [NOWHERE], [{"ends": [[5, [[-1, "1/2"]]]], "times": []}], [{**NOWHERE, "times": [[5, "1"]]}]
    return [with_own(given, closures=each) for given in found for each in closures]


@pytest.fixture(scope="module")
def documents() -> list[Json]:
    """Evidence that is right: of shipped cases and of small systems."""
    cases = {
        name: load(ROOT / "cases" / "interactive" / f"{name}.toml")
        for name in ("slots-2-never-full", "slots-2-keep")
    }
    partial, keeping = cases.values()
    found = [evidence_document(partial, verify(partial)), budget_document(partial, tight_budget(partial))]
    found += [budget_document(keeping, tight_budget(keeping)), growing(), growing(loop=[Q, ZERO, Q, ZERO])]
    found += [
        document(PARTIAL, "2", True, proof=FAMILY),
        witness(rows=PARTIAL, partial=True),
        never(NEVER)[0],
    ]
    whole = growing()
    own(whole)["system"]["partial"] = True
    return [json.loads(json.dumps(each)) for each in [*found, whole]]


class Environment(Runs):
    """As `Runs`, with inputs that are accepted wherever they come."""

    def accepts(self, inputs: tuple[int, ...]) -> bool:
        """Whether no state that waits refuses one of them, in any run."""
        pending, seen = [(self.initial, inputs)], set[tuple[int, tuple[int, ...]]]()
        while pending:
            state, left = pending.pop()
            if (state, left) in seen:
                continue
            seen.add((state, left))
            row = self.rows[state]
            waits = any(action < self.inputs for action in row)
            if waits and left and left[0] not in row:
                return False
            steps = [row[left[0]]] if waits and left else [] if waits else list(row.values())
            pending += [(s, left[waits:]) for step in steps for s, w in step if w]
        return True

    def keeps_the_bound(self) -> bool:
        """Whether inputs of at most four steps that are accepted are within the bound, for short traces."""
        for inputs in (i for n in (1, 2, 3, 4) for i in product(range(self.inputs), repeat=n)):
            for place in (k for k, action in enumerate(inputs) if action < self.data):
                other = inputs[:place] + inputs[place + 1 :]
                if self.accepts(inputs) and self.accepts(other):
                    for trace in product(range(self.data, self.hidden), repeat=min(len(inputs), 3)):
                        one, two = self.seen(inputs, trace), self.seen(other, trace)
                        slack = Fraction(1, 10**12)
                        if one[0] > self.ratio * two[1] + slack or two[0] > self.ratio * one[1] + slack:
                            return False
        return True

    def grows(self, about: Json) -> bool:
        """Whether each of the first loops makes the ratio larger, by the same factor."""
        ratios = []
        for times in range(3):
            chances = []
            for side in ("left", "right"):
                steps = about[side] + times * about["loop"]
                inputs = tuple(a for a in steps if a < self.inputs)
                chances.append(self.seen(inputs, tuple(a for a in steps if a >= self.data))[0])
            ratios.append(chances[0] / chances[1])
        return ratios[0] < ratios[1] and abs(ratios[2] * ratios[0] / ratios[1] ** 2 - 1) < Fraction(1, 10**9)


def test_no_false_evidence_is_accepted(documents: list[Json], tmp_path: Path) -> None:
    """What is accepted of changed evidence is true of short inputs, and loops make ratios grow."""
    small = [d for d in documents if len(own(d)["system"]["rows"]) < 25 and "tight" not in own(d)]
    paths = list[Path]()
    for data in changed(small, 250, 52):
        paths.append(tmp_path / f"{len(paths)}.json")
        paths[-1].write_bytes(data)
    accepted = [p for p, a in zip(paths, by_program(built(), paths), strict=True) if a.word == "accepted"]
    random, seen, kinds = Random(3), set[str](), list[str]()
    for path in accepted:
        document_of = json.loads(path.read_bytes().decode("utf-8-sig"))
        if engine_of(document_of) is None:
            continue
        given = told(document_of)
        about = json.dumps([given.get(name) for name in ("domain", "system", "ratio", "growth", "closures")])
        if about in seen or "witness" in given:
            continue
        seen.add(about)
        if "growth" in given:
            at = {name: Fraction(text) for name, text in given["growth"]["parameters"].items()}
            assert Environment(given, at).grows(given["growth"]), path
            kinds.append("growth")
        else:
            assert all(
                Environment(given, at).keeps_the_bound() for at in points_of(given["domain"], random, 1)
            ), path
            kinds.append("holds")
    assert min(kinds.count(kind) for kind in ("growth", "holds")) > 2, kinds
