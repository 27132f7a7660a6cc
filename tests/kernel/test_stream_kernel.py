"""Programs over streams: both readers find the same automaton, and the engine the same probabilities."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from stream_programs import loaded, random_finite, random_laplace, written_out

from paramverify.automata.automaton_evidence import machine
from paramverify.automata.stream_programs import Unit, translate
from paramverify.kernel.strict_reading import Rejected
from paramverify.models.hmm import HMM
from paramverify.models.model import Model
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.stream_loops import stream_of
from paramverify.rereader.second_streams import SideBySide, StreamProgram
from paramverify.rereader.second_values import PowerSum


@pytest.mark.slow
def test_random_programs() -> None:
    """Both readings of random programs give the same automaton; and not that of another program."""
    rejected = 0
    before: Any = None
    for seed in range(60):
        text = random_laplace(random.Random(seed))
        data = machine(translate(stream_of(read_program(text)), {"eps": Unit(Fraction(1))}))
        program = StreamProgram(text, {"eps": PowerSum.variable("eps")})
        assert SideBySide(program, data).compare() > 2
        if before is not None and before != data:
            with pytest.raises(Rejected):
                SideBySide(program, before).compare()
            rejected += 1
        before = data
    assert rejected > 40


def sequences(model: HMM, weights: dict[int, Any], length: int) -> dict[tuple[str, ...], Fraction]:
    """How likely all sequences of a model without parameters are, given what is chosen."""
    below = Fraction(str(model.denominator))
    ways = {((), state): Fraction(str(weight)) for state, weight in weights.items()}
    total = sum(ways.values())
    for _ in range(length):
        grown: dict[Any, Fraction] = {}
        for (word, state), chance in ways.items():
            for step in model.steps[state]:
                key = (*word, model.observations[step.observation]), step.successor
                grown[key] = grown.get(key, Fraction(0)) + chance * Fraction(str(step.weight)) / below
        ways = grown
    found: dict[tuple[str, ...], Fraction] = {}
    for (word, _), chance in ways.items():
        found[word] = found.get(word, Fraction(0)) + chance / total
    return found


CASE = '''[mechanism]
kind = "program"
source = """
{}"""
{}
[neighbours]
differ = "{}"
[privacy]
ratio = 100000
length = {}
'''


@pytest.mark.parametrize("seed", range(3))
def test_finite_programs_beside_the_engine(seed: int) -> None:
    """A sequence of the model is as likely as its outputs are in the program that is written out."""
    generator = random.Random(seed)
    text, differ, length = random_finite(generator), generator.choice(["each", "one"]), 3
    model = loaded(CASE.format(text, "", differ, length)).model
    assert isinstance(model, Model)
    inputs = f'[mechanism.inputs]\nq = {{ length = {length}, values = "0..1" }}'
    plain = loaded(CASE.format(written_out(text), inputs, "one", 1)).model
    assert isinstance(plain, Model)
    rows = {name: chances_of(plain.hmm, k) for k, name in enumerate(plain.hmm.states)}
    pair = model.pairs[0]
    seen = 0
    for side, start in enumerate((pair.pi, pair.tau)):
        for word, chance in sequences(model.hmm, dict(start.weights), length).items():
            entries, outputs = [], []
            for observed in word:
                if observed == "end":
                    entries.append(("0", "0"))
                    continue
                chosen, _, told = observed.partition(": ")
                entries.append(tuple(chosen.split("/")))
                outputs += [told] if told != "(no output)" else []
            assert differ == "each" or sum(x != y for x, y in entries) <= 1
            given = f"({', '.join(entry[side] for entry in entries)})"
            assert rows[given][", ".join(outputs) or "(no output)"] == chance
            seen += 1
    assert seen >= 32


def chances_of(model: HMM, state: int) -> dict[str, Fraction]:
    """How likely the outputs of a model without parameters are."""
    below = Fraction(str(model.denominator))
    return {
        model.observations[step.observation]: Fraction(str(step.weight)) / below
        for step in model.steps[state]
    }
