"""One new module for each registry, as somebody else would write it; and a case that uses them."""

from __future__ import annotations

from pathlib import Path

BACKEND = '''"""A solver of its own: it says what the exact procedures say, without their certificates."""

from paramverify.answers import Open, Proved
from paramverify.backends import DECIDES
from paramverify.exact.branching import decide_exactly


class Parrot:
    name = "parrot"
    builtin = False
    description = "says what the exact procedures say"
    install = "it is there"
    abilities = DECIDES
    place = 5

    def version(self):
        return "7.1"

    def decide(self, claim, options):
        answer = decide_exactly(claim)
        return Proved(transcript="parroted") if isinstance(answer, Proved) else answer

    def run_script(self, text):
        return "unknown"


BACKENDS = (Parrot(),)
'''

ENCODING = '''"""The sequences in reverse order."""

from paramverify.encodings import sequences
from paramverify.encodings.encoding import Encoding

ENCODING = Encoding(
    "reversed",
    "the claims of sequences, the least telling first",
    claims=lambda model: sequences.ENCODING.claims(model)[::-1],
    suits=lambda model: 3,
    candidates=sequences.candidates,
    again=sequences.ENCODING.again,
)
'''

MECHANISM = '''"""`kind = "flipped"`: one whole answer with noise, counted from above."""

from dataclasses import dataclass
from fractions import Fraction

from paramverify.tables import Key, Section
from paramverify.models.mechanisms import read_query
from paramverify.models.mechanisms._queries import QUERY
from paramverify.models.mechanisms._one_shot import OneShot
from paramverify.models.noise import NOISE, Noise, read_noise

SECTION = Section(
    "flipped", "One answer from above.", (QUERY, Key("noise", NOISE, "The noise.", needed=True))
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Flipped(OneShot):
    noise: Noise

    def drawn(self, at_point):
        return Drawing(at_point(self.noise), self.noise.range)


@dataclass(frozen=True, eq=False)
class Drawing:
    noise: object
    top: int

    def __call__(self, rng, given, size):
        return self.top - self.noise.released(rng, int(given[0]), size)


def read(table, checks):
    noise = read_noise(table, "noise", checks)
    values = tuple(Fraction(v) for v in range(noise.range + 1))
    outputs = tuple(str(v) for v in values)
    return Flipped(
        checks, read_query(table), (values,), outputs, lambda x: noise.rows[int(x[0])][::-1], noise=noise
    )
'''

NOISE = '''"""`{ blurred = q, range = n }`: with probability q any answer, otherwise the true one."""

from fractions import Fraction

from paramverify.algebra.polynomials import RationalFunction
from paramverify.models.noise import Noise, NoiseKind


def read(table, checks, given):
    blur, size = checks.function(table.expression("blurred")), given.limit + 1
    one = RationalFunction.of(checks.ring.number(1))
    share = blur * RationalFunction.of(checks.ring.number(Fraction(1, size)))
    rows = [[share + (one - blur) if o == f else share for o in range(size)] for f in range(size)]
    for row in rows:
        checks.distribution({str(o): p for o, p in enumerate(row)}, "the blurred noise")
    return Noise(rows)


NOISE = NoiseKind("blurred = q", read, ranged=True)
'''

COMMAND = '''"""`paramverify greet`: a greeting."""

import click

LISTED = (225, "Print a greeting.")


@click.command("greet")
def command():
    """Print a greeting."""
    click.echo("hello")
    return 0
'''

CASE = """
title = "One answer, blurred and counted from above"

[parameters]
q = "[1/4, 1/2]"

[mechanism]
kind = "flipped"
noise = { blurred = "q", range = 1 }

[neighbours]
differ = "each"

[privacy]
ratio = "RATIO"
"""

# By the folder in the package, or the group of entry points; each with the name of its module.
FILES = {
    ("backends", "parrot"): BACKEND,
    ("encodings", "reversed"): ENCODING,
    ("models/mechanisms", "flipped"): MECHANISM,
    ("models/noise", "blurred"): NOISE,
}
GROUPS = {"backends": "backends", "encodings": "encodings"} | {
    "models/mechanisms": "mechanisms",
    "models/noise": "noise",
}


def add_files(package: Path) -> None:
    """Adds one file for each registry, and one command, to a copy of the package."""
    for (folder, name), text in FILES.items():
        (package / folder / f"{name}.py").write_text(text)
    (package / "cli" / "greet.py").write_text(COMMAND)


def add_plugin(site: Path) -> None:
    """Puts an installed package with the same modules into a folder: its files, and its entry points."""
    package, info = site / "additions", site / "additions-1.5.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("")
    points: list[str] = []
    for (folder, name), text in FILES.items():
        (package / f"{name}.py").write_text(text)
        points += [f"[paramverify.{GROUPS[folder]}]", f"{name} = additions.{name}"]
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: additions\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("\n".join(points) + "\n")
