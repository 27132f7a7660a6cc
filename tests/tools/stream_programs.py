"""Random programs over streams, and what they put out if the stream is written out as a list."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from paramverify.files import standing_in
from paramverify.privacy.cases import PrivacyCase, load

HEADER = 'for x in stream(values="real"):'
EPSILON = 1.25


def random_laplace(generator: random.Random) -> str:
    """A program with one or two thresholds; each branch puts out a word of its own."""
    scales = [generator.choice([1, 2, 4]) for _ in range(3)]
    two = generator.random() < 0.6
    lines = [f"t = laplace({scales[0]} / eps)"]
    lines += [f"u = {generator.choice([0, 1])} + laplace({scales[1]} / eps)"] if two else []
    lines += ["n = 0", HEADER]
    mean = generator.choice(["x", "x + 1", "1 - 2 + x"])
    lines += [f"    y = {mean} + laplace({scales[2]} / eps)"]
    inner = [
        ["    if y >= t:", *_leaf(generator, "a", two), "    else:", *_leaf(generator, "b", two)],
        [
            "    if y < t and y < u:",
            *_leaf(generator, "a", two),
            "    elif t <= y:",
            *_leaf(generator, "b", two),
            "    else:",
            *_leaf(generator, "c", two),
        ],
        [
            "    if not y < u:",
            *_leaf(generator, "a", two),
            "    elif y >= t or n == 1:",
            *_leaf(generator, "b", two),
            "    else:",
            *_leaf(generator, "c", two),
        ],
    ]
    lines += inner[0] if not two else generator.choice(inner[1:])
    return "\n".join([*lines, ""])


def _leaf(generator: random.Random, word: str, two: bool) -> list[str]:
    names = ["t", "u"] if two else ["t"]
    chosen = generator.choice(
        [
            [],
            [],
            ["stop"],
            ["n = 1 - n"],
            ["n += 1", "if n == 2:", "    stop"],
            [f"{generator.choice(names)} = y"],
            [f"{generator.choice(names)} = laplace(2 / eps)"],
        ]
    )
    return [f'        output("{word}")', *(f"        {line}" for line in chosen)]


def random_finite(generator: random.Random) -> str:
    """A program with finite noise and a variable of few values."""
    chance = generator.choice(["1/4", "1/3", "2/3"])
    start = generator.choice(["m = 0", "m = 1 if flip(1/3) else 0", "m = clamp(geometric(1/2), 0, 1)"])
    move = generator.choice(["m = 1 - m if flip(1/4) else m", "m = max(m, x)", "m = x", "pass"])
    told = generator.choice(
        [
            f"output(x if flip({chance}) else m)",
            f"output(clamp(x + geometric({chance}), 0, 1) + m)",
            f'output("yes" if flip({chance}) and m == 1 else [m, flip(1/2)])',
        ]
    )
    end = generator.choice(
        ["", "    if m == 1 and flip(1/2):\n        stop\n", "    if x == 1:\n        break\n"]
    )
    first = generator.choice([True, False])
    lines = [told, move] if first else [move, told]
    body = "\n".join(f"    {line}" for line in lines)
    return f'{start}\nfor x in stream(values="0..1"):\n{body}\n{end}'


def written_out(text: str) -> str:
    """The same program, whose stream is the list q."""
    lines = [line if "stream(" not in line else "for x in q:" for line in text.split("\n")]
    return "\n".join(lines)


def unrolled(text: str, streams: Sequence[Sequence[Fraction]], epsilon: str = "eps") -> PrivacyCase:
    """The case of a program without a stream on two inputs q."""
    values = sorted({v for stream in streams for v in stream})
    listed = ", ".join(f"[{', '.join(map(_quoted, stream))}]" for stream in streams)
    return loaded(
        f'''[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = """
{text}"""
[mechanism.inputs]
q = {{ length = {len(streams[0])}, values = [{", ".join(map(_quoted, values))}] }}
[neighbours]
pairs = [[{listed}]]
[privacy]
epsilon = "{epsilon}"
'''
    )


def loaded(text: str) -> PrivacyCase:
    """A case of this text."""
    path = Path("stream.toml")
    with standing_in(path, text.encode()):
        return load(str(path))


def _quoted(value: Fraction) -> str:
    return f'"{value}"'


def chances(case: PrivacyCase, state: int) -> dict[str, float]:
    """How likely the outputs are from a state of the model, at one epsilon."""
    model = case.model.hmm  # type: ignore[union-attr]
    names = {}
    for found in model.ring.unbounded:
        names = {found.name: EPSILON, found.variable: math.exp(-EPSILON * float(found.step))}

    def at(polynomial: object) -> float:
        return float(eval(str(polynomial).replace("^", "**"), {}, dict(names)))  # our own formula

    below = at(model.denominator)
    found_chances: dict[str, float] = {}
    for step in model.steps[state]:
        word = model.observations[step.observation]
        found_chances[word] = found_chances.get(word, 0.0) + at(step.weight) / below
    return found_chances
