"""Shipped programs with mistakes: each has a meaning, or one error with its place, and never a traceback."""

from __future__ import annotations

import io
import random
import tokenize
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from kept_cases import kept

from paramverify.automata import stream_programs
from paramverify.automata.stream_programs import Unit
from paramverify.errors import CaseError, FinerError, LimitError, ProgramError
from paramverify.models.enclosed_models import EnclosedModel
from paramverify.models.mechanisms import _streams
from paramverify.models.mechanisms._streams import StreamMechanism
from paramverify.models.mechanisms.program import ProgramMechanism, plain_input
from paramverify.models.model import Model
from paramverify.models.programs import program_running
from paramverify.models.programs.expression_values import is_enclosed
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import enclosed_outputs_of, outputs_of
from paramverify.models.programs.stream_loops import stream_of
from paramverify.tables import Table

EVERY = sorted(path for folder in ("programs", "automata") for path in Path("cases", folder).glob("*.toml"))
STREAMS = [path for path in EVERY if " in stream(" in path.read_text()]
CASES = [path for path in EVERY if path.parent.name == "programs" and path not in STREAMS]
EACH = 22  # mutants of every fourth program


def tokens(text: str) -> list[str]:
    """Returns the tokens of a program with the blanks before them: together they are the text."""
    lines = text.split("\n")
    found, last = [], (1, 0)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (row, column), (end_row, end) = token.start, token.end
        if row > len(lines):
            continue
        before = lines[row - 1][last[1] : column] if row == last[0] else lines[row - 1][:column]
        found.append(before + token.string)
        last = (end_row, end)
    return found


def mutants(text: str, seed: int) -> Iterator[str]:
    """Yields programs in which tokens are deleted, doubled, swapped, or replaced."""
    r, known = random.Random(seed), tokens(text)
    for _ in range(EACH):
        parts = list(known)
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            k, j = r.randrange(len(parts)), r.randrange(len(parts))
            kind = r.randrange(5)
            if kind == 0:
                parts[k] = ""
            elif kind == 1:
                parts[k] += parts[k]
            elif kind == 2:
                parts[k], parts[j] = parts[j], parts[k]
            elif kind == 3:
                parts[k] = parts[j]
            else:
                number = r.choice(["0", "-1", "1/2", "7", "1000", '"x"', "True", "[]", "q"])
                parts[k] = " " + number if parts[k].strip()[:1].isdigit() else parts[k] + number
        yield "".join(parts)


def test_tokens_make_up_the_text() -> None:
    """Nothing is lost where a program is taken apart."""
    text = "for x in q:\n    if x + 1 >= 2:  # why\n        output('a')\n"
    assert "".join(tokens(text)) == text


def check_place(error: ProgramError, text: str) -> None:
    """Checks that an error has a reason, a line of the program, and a caret inside of that line."""
    told, _, caret = str(error).split("\n")[-3:]
    assert error.reason
    assert f"line {error.line}: {error.reason}" in told
    lines = text.split("\n")
    assert 1 <= error.line <= len(lines)
    assert 0 <= error.column <= len(lines[error.line - 1])
    assert caret.strip() == "^"


@pytest.mark.parametrize("path", [pytest.param(p, marks=pytest.mark.slow, id=p.stem) for p in CASES[::18]])
def test_mutants_are_refused_with_their_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every error of a mutant has its place; what is too large is said to be."""
    case = kept(path)
    mechanism, model = case.mechanism, case.model
    assert isinstance(mechanism, ProgramMechanism)
    assert isinstance(model, Model | EnclosedModel)
    given = (model.table if isinstance(model, EnclosedModel) else model.hmm).inputs[0]
    monkeypatch.setattr(program_running, "MAX_STATES", 500)  # some have very many outputs
    refused = 0
    for text in mutants(mechanism.program.text, len(path.stem)):
        try:
            program = read_program(text)
            run = enclosed_outputs_of if is_enclosed(program) else outputs_of
            run(program, mechanism.names(), [plain_input(given)], mechanism.checks)
        except ProgramError as error:
            refused += 1
            check_place(error, text)
        except (LimitError, FinerError):
            refused += 1
    assert refused >= EACH // 4


def assert_about_neighbours(error: CaseError) -> None:
    """A mutant may leave one value of entries, so that no stream has a neighbour."""
    assert "neighbour" in str(error)
    assert error.key.endswith("differ")


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_mutants_of_streams(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for programs over streams, with finite and with Laplace noise."""
    monkeypatch.setattr(_streams, "MAX_STATES", 50)  # some count without end
    monkeypatch.setattr(stream_programs, "MAX_HEADS", 50)
    data = tomllib.loads(path.read_text())
    domains = {n: Fraction(v) for n, v in data.get("parameters", {}).items() if "(" not in v}
    refused = 0
    for text in mutants(data["mechanism"]["source"], len(path.stem)):
        try:
            stream = stream_of(read_program(text))
            if path.parent.name == "automata":
                stream_programs.translate(stream, {"eps": Unit(Fraction(1)), **domains})
            else:
                mechanism = kept(path).mechanism
                assert isinstance(mechanism, StreamMechanism)
                StreamMechanism(mechanism.checks, stream, mechanism.key).neighbours(
                    Table(data["neighbours"] | {"by": 1})
                )
        except ProgramError as error:
            refused += 1
            check_place(error, text)
        except LimitError:
            refused += 1
        except CaseError as error:
            refused += 1
            assert_about_neighbours(error)
    assert refused >= EACH // 4
