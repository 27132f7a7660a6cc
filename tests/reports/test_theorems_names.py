"""Names of cases that mean something to Coq: what is written in their place, and what Coq says of it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tools.theorem_tools import THEORIES, about, case_of, needs_coq, refusals

from paramverify.reports.theorems.coq_words import RESERVED, named


@needs_coq
def test_all_words_of_coq(tmp_path: Path) -> None:
    """Each word that the grammar of Coq has may be a name in a case: it is written as none."""

    def answer(text: str) -> str:
        (tmp_path / "words.v").write_text(f"From Paramverify Require Import Theorems.\n{text}")
        command = ["coqc", "-Q", str(THEORIES), "Paramverify", "words.v"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    grammars = ("vernac", "constr", "pattern", "tactic")
    found = re.findall(r'"([A-Za-z_]\w*)"', answer("".join(f"Print Grammar {g}.\n" for g in grammars)))
    words = sorted({*found, *RESERVED})
    assert {"CoFixpoint", "transitivity", "forall"} <= set(found)
    names = named(words)
    defined = (f"Module M{k}.\nDefinition {name} := 0.\nEnd M{k}.\n" for k, name in enumerate(names.values()))
    goal = f"Goal forall {' '.join(names.values())} : R, True.\n"
    one = "".join(f"Goal forall {n} : R, True.\nintros {n}.\nAbort.\n" for n in names.values())
    answer("".join(defined) + f"{goal}Abort.\n" + one)


ODD_NAMES = """
[parameters]
{parameters[0]} = "(0, 1)"
{parameters[1]} = "(0, 1)"
[prior]
{variables[0]} = {{ bernoulli = "{parameters[0]}" }}
{variables[1]} = {{ bernoulli = "{parameters[1]}" }}
[secrets]
{secrets[0]} = "{variables[0]} == 1"
{secrets[1]} = "{variables[0]} == 0"
pairs = [["{secrets[0]}", "{secrets[1]}"]]
[mechanism]
kind = "program"
source = '''
b = a
if c == 1 and flip(1/3):
    b = 1 - a
elif flip({parameters[1]} / 6 + 1/3):
    b = 1 - b
output(b)
'''
[mechanism.inputs]
a = "{variables[0]}"
c = "{variables[1]}"
[privacy]
ratio = "2"
"""


@needs_coq
@pytest.mark.slow
def test_coq_accepts_odd_names(tmp_path: Path) -> None:
    """Coq accepts parameters, variables and secrets with names of keywords, of commands and of theories."""
    files = []
    for parameters, variables, secrets in (
        (("CoFixpoint", "Hypothesis"), ("Axiom", "Record"), ("SProp", "Check")),
        (("symmetry", "Hypotheses"), ("CoInductive", "bool"), ("relation", "Inductive")),
        (("program", "world"), ("evidence", "flip"), ("given", "secret")),
    ):
        text = about(case_of(ODD_NAMES.format(parameters=parameters, variables=variables, secrets=secrets)))
        assert "program_pufferfish" in text
        for name in (*parameters, *variables, *secrets):
            assert f"Definition {name}_ " in text
        files.append(text)
    assert refusals(files, tmp_path) == [""] * len(files)
