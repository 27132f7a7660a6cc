"""Theorems about programs: what is written, what Coq says of it, and what is told by the model instead."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest
from case_texts import program_case
from tools.theorem_tools import THEORIES, about, case_of, needs_coq, refusals, written

COIN = program_case(
    "{body}", "{inputs}", 'ratio = "{ratio}"', parameters='p = "(1/2, 1)"', near='differ = "one"'
)
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
def test_coq_accepts_a_program(tmp_path: Path) -> None:
    """Coq accepts a program with most words of the language, and rejects others with its evidence."""
    text = told(FEATURES, "q = { length = 1, values = [0, 1] }")
    assert "written_out" not in text
    changes = (
        ('(Where ("x" == 1) (Known p) ', '(Where ("x" == 1) ((Known p) ^ 2) '),  # less random
        ("(max_of [2; 1])", "(max_of [])"),  # an error
        ("While 4 ", "While 3 "),  # a bound that a run passes
        ("* 0)", "* 1)"),  # another output, which tells the input
    )
    changed = [text.replace(old, new) for old, new in changes]
    assert text not in changed
    assert refusals([text, *changed], tmp_path) == ["", *["Qed."] * len(changes)]


VALUES = """
Fixpoint at_q (values : list Q) (e : expression) : Q :=
  match e with
  | Whole z => inject_Z z
  | Param k => nth k values (0 # 1)%Q
  | Plus a b => Qplus (at_q values a) (at_q values b)
  | Minus a b => Qminus (at_q values a) (at_q values b)
  | Times a b => Qmult (at_q values a) (at_q values b)
  | Over a b => Qdiv (at_q values a) (at_q values b)
  | Power a n => Qpower (at_q values a) (Z.of_nat n)
  end.
Set Printing Width 1000000.
Set Printing Depth 1000000.
Definition at_two_thirds :=
  map (fun way : expression * output =>
    let q := Qred (at_q [(2 # 3)%Q] (fst way)) in (Qnum q, Zpos (Qden q), snd way)).
"""


def decoded(code: list[int]) -> tuple[Any, list[int]]:
    """Returns the value that numbers of an output say, and the rest of them."""
    kind, rest = code[0], code[1:]
    if kind in (0, 1):
        return (Fraction(rest[0]) if kind == 0 else bool(rest[0])), rest[1:]
    if kind == 2:
        end = next(k for k in range(0, len(rest), 2) if rest[k] == 0)
        return "".join(map(chr, rest[1:end:2])), rest[end + 1 :]
    if kind == 3:
        return [], rest
    assert kind == 4
    first, rest = decoded(rest)
    more, rest = decoded(rest)
    return [first, *more], rest


def in_coq(text: str, inputs: list[str], folder: Path) -> list[dict[str, Fraction]]:
    """Returns the outputs of the program of a file on inputs, and how likely Coq finds them at 2/3."""
    start = text[: text.index("(* The inputs that are compared")]
    asked = "".join(f"Eval vm_compute in at_two_thirds (outputs_of program (given {x})).\n" for x in inputs)
    (folder / "asked.v").write_text(start + VALUES + asked)
    command = ["coqc", "-Q", str(THEORIES), "Paramverify", "asked.v"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=True)
    found = []
    for answer in done.stdout.split("     = ")[1:]:
        rows: dict[str, Fraction] = {}
        for top, bottom, listed in re.findall(r"\((\S+), (\d+), \[([^\]]*)\]\)", answer):
            code, values = [int(n) for n in listed.split(";")], []
            while code:
                value, code = decoded(code)
                values.append(value)
            rows[repr(values)] = rows.get(repr(values), Fraction(0)) + Fraction(int(top), int(bottom))
        found.append(rows)
    return found


class Stopped(Exception):
    """`stop` in a program that Python runs."""


class OneRun:
    """One run of a program: the first draws end as the script says, and all others in their first way."""

    def __init__(self, script: list[int]) -> None:
        self.script, self.taken, self.told = script, list[int](), list[Any]()
        self.weight = Fraction(1)
        self.others: list[list[int]] = []  # scripts of further runs

    def draw(self, ways: list[tuple[Any, Fraction]]) -> Any:
        """Returns the outcome of a draw."""
        k = 0
        if len(self.taken) < len(self.script):
            k = self.script[len(self.taken)]
        else:
            self.others += [[*self.taken, other] for other in range(1, len(ways))]
        self.taken.append(k)
        self.weight *= ways[k][1]
        return ways[k][0]

    def binomial(self, n: int, p: Fraction) -> Any:
        """Draws how many of n flips are True."""
        return self.draw([(k, comb(n, k) * p**k * (1 - p) ** (n - k)) for k in range(n + 1)])

    @property
    def words(self) -> dict[str, Any]:
        """The words of the language."""
        return {
            "flip": lambda p: self.draw([(True, Fraction(p)), (False, 1 - Fraction(p))]),
            "uniform": lambda a, b: self.draw([(k, Fraction(1, b - a + 1)) for k in range(a, b + 1)]),
            "choice": lambda table: self.draw(list(table.items())),
            "binomial": self.binomial,
            "output": self.told.append,
            **{"Stopped": Stopped, "Fraction": Fraction, "p": Fraction(2, 3)},
        }


def in_python(body: str, inputs: dict[str, Any]) -> dict[str, Fraction]:
    """Returns the outputs of a program with their probabilities: Python runs it once for each way."""
    found: dict[str, Fraction] = {}
    lines = "".join(f"    {line}\n" for line in body.replace("stop", "raise Stopped").splitlines())
    lines = re.sub(r"(\d+)/(\d+)", r"Fraction(\1, \2)", lines)
    pending: list[list[int]] = [[]]
    while pending:
        one = OneRun(pending.pop())
        names = one.words | inputs
        exec(f"def run():\n{lines}", names)
        with suppress(Stopped):
            one.told.append(names["run"]())
        pending += one.others
        key = repr([exact(v) for v in one.told])
        found[key] = found.get(key, Fraction(0)) + one.weight
    return found


def exact(value: Any) -> Any:
    """Returns a value of Python as outputs have it here."""
    if isinstance(value, list):
        return [exact(v) for v in value]
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value


@needs_coq
@pytest.mark.slow
def test_programs_mean_what_they_mean_in_python(tmp_path: Path) -> None:
    """The text in Coq has the outputs that the text in Python has, and as likely."""
    text = told(FEATURES, "q = { length = 2, values = [0, 1] }", "(p / (1 - p))**2")
    found = in_coq(text, ["[0; 0]", "[1; 0]", "[0; 1]"], tmp_path)
    assert found == [in_python(FEATURES, {"q": q}) for q in ([0, 0], [1, 0], [0, 1])]


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
    """Coq accepts a program whose inputs are labels of a prior, and rejects it with other noise.

    Outputs that are equal in Python and are different outputs do not hide each other.
    """
    text = about(case_of(HOUSEHOLD))
    assert '  [("answers"%string, labels_of ["no"%string; "yes"%string] [(ann w); (bob w)])].' in text
    assert "clamp_geometric" in text
    changed = text.replace('clamp_geometric "n" (1 / 2)', 'clamp_geometric "n" (1 / 9)')
    assert changed != text
    alike = told("b = v if flip(p) else 1 - v\nreturn [True, 0] if b == 1 else [1, False]")
    assert "program_private" in alike
    assert refusals([text, changed, alike], tmp_path) == ["", "Qed.", ""]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def f(x):\n    return x\nreturn f(v) if flip(p) else 1 - v", "the program defines functions"),
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
