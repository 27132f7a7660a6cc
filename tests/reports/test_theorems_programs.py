"""Theorems about programs: what is written, what Coq says of it, and what is told by the model instead."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from reports.test_theorems import THEORIES, about, accepts, case_of, needs_coq, written


def refuses(text: str, folder: Path) -> bool:
    """Tells whether Coq reads a file to its end, and refuses the proof there: nothing else is wrong with it."""
    (folder / "case.v").write_text(text)
    command = ["coqc", "-Q", str(THEORIES), "Paramverify", "case.v"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    line = text.splitlines().index("Qed.") + 1
    return done.returncode != 0 and f"line {line}," in done.stderr


COIN = """
[parameters]
p = "(1/2, 1)"
[mechanism]
kind = "program"
source = '''
{body}
'''
[mechanism.inputs]
{inputs}
[neighbours]
differ = "one"
[privacy]
ratio = "{ratio}"
"""
BIT = "v = { values = '0..1' }"


def told(body: str, inputs: str = BIT, ratio: str = "p / (1 - p)") -> str:
    """Returns the theorem about a program."""
    return about(case_of(COIN.format(body=body, inputs=inputs, ratio=ratio)))


def test_words_of_a_program() -> None:
    """The file says the program, its inputs and the pairs nearly as the case does."""
    text = written("programs/evenings")
    for line in (
        '  "told" ::= 0;',
        '  For "evening" "home" [',
        "    If_else (flip (3 / 4)) [",
        '      "told" ::= ("told" + "evening")] [',
        '  Output "told"]%program.',
        '  [("home"%string, numbers_of (part_of x 0 3))].',
        "Definition neighbours := related_pairs (fun x y => at_one_place x y && by_at_most 1 x y)",
        "  (every_input [[0; 1]; [0; 1]; [0; 1]]).",
        "Theorem private : (program_private (at_values []) program given (3) neighbours)%R.",
    ):
        assert line in text


# It does in Coq what it does in Python: else Coq finds other claims, or a run that meets an error.
FEATURES = (
    """
seen = [0, 1, 2][1:]
k = 0
while k < 5:
    k += 1
    if k == 2:
        continue
    if k > 3:
        break
a, b = k, -7 // 2
seen[-1] = a + b
names = {"yes": 1/3, "no": 2/3}
""".replace('names = {"yes": 1/3, "no": 2/3}', 'name = choice({"yes": 1/3, "no": 2/3})')
    + """
if len(seen) == 2 and seen == [1, 0] and not (3 in seen) and -7 % 3 == max(2, 1):
    output(name)
else:
    output(seen)
for x in q:
    if flip(p if x == 1 else 1 - p):
        output([True, x * 0, min([4, 2 ** 2])])
        stop
    output(1 if uniform(1, 3) == 2 or False else 0)
return binomial(2, 1/2)
"""
)


@needs_coq
@pytest.mark.slow
def test_coq_accepts_the_language(tmp_path: Path) -> None:
    """Coq accepts a program with most words of the language, and rejects others with its evidence."""
    text = told(FEATURES, "q = { length = 2, values = [0, 1] }", "(p / (1 - p))**2")
    assert "written_out" not in text
    assert accepts(text, tmp_path)
    for old, new in (
        ('(Where ("x" == 1) (Known p) ', '(Where ("x" == 1) ((Known p) ^ 2) '),  # less random
        ("(max_of [2; 1])", "(max_of [])"),  # an error
        ("While 4 ", "While 3 "),  # a bound that a run passes
        ("* 0)", "* 1)"),  # another output, which tells the input
    ):
        changed = text.replace(old, new)
        assert changed != text
        assert refuses(changed, tmp_path)


HOUSEHOLD = """
[parameters]
p = "(1/10, 9/10)"
[prior]
ann = { categorical = { yes = "p", no = "1 - p" } }
bob = { given = "ann", table = { yes = { yes = "1/2", no = "1/2" }, no = { yes = "1/3", no = "2/3" } } }
[mechanism]
kind = "program"
source = '''
n = 0
for told in answers:
    if told == "yes":
        n += 1
return clamp(n + geometric(1/2), 0, 2)
'''
[mechanism.inputs]
answers = ["ann", "bob"]
[secrets]
yes = "ann == 'yes'"
no = "ann == 'no'"
pairs = [["yes", "no"]]
[privacy]
ratio = "4"
"""


@needs_coq
@pytest.mark.slow
def test_coq_accepts_a_program_under_a_prior(tmp_path: Path) -> None:
    """Coq accepts a program whose inputs are labels of a prior, and rejects it with other noise."""
    text = about(case_of(HOUSEHOLD))
    assert '  [("answers"%string, labels_of ["no"%string; "yes"%string] [(ann w); (bob w)])].' in text
    assert "clamp_geometric" in text
    assert accepts(text, tmp_path)
    changed = text.replace('clamp_geometric "n" (1 / 2)', 'clamp_geometric "n" (1 / 9)')
    assert changed != text
    assert refuses(changed, tmp_path)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def f(x):\n    return x\nreturn f(v) if flip(p) else 1 - v", "functions of its own"),
        ("x = v + geometric(1/2)\nreturn 1 if x >= 1 else 0", "line 1 of the program (geometric)"),
        ("return v / 2 if flip(p) else 1 / 2 - v / 2", "line 1 of the program (an output that"),
        (
            "for a, b in [[v, v]]:\n    return a if flip(p) else 1 - b",
            "line 1 of the program (several names at once)",
        ),
        (
            "if v / 2 == 1 / 2:\n    return flip(p)\nreturn flip(1 - p)",
            "a comparison of numbers in",
        ),
    ],
)
def test_what_is_told_by_the_model(body: str, reason: str) -> None:
    """A program for which there are no words is told by its model, and the file has the reason."""
    text = told(body)
    assert "written_out" in text
    assert "program_private" not in text
    assert reason in " ".join(text.split())


def test_a_parameter_in_exp_only() -> None:
    """exp of a parameter becomes what stands for it; numbers keep all digits."""
    text = written("programs/exponential-mechanism")
    assert 'Assign_at "w" "i" (Known (1 / x_eps)%case)' in text
    assert "(* x_eps stands for exp(-eps/2). *)" in text


def test_pairs_one_by_one() -> None:
    """Neighbours by a condition over two inputs are listed; labels of inputs are numbers there."""
    text = written("programs/public-group")
    assert 'label_at ["large"%string; "small"%string] (entry_of x 0)' in text
    assert "Definition neighbours : list (world * world) :=" in text
