"""`[define]` in cases about privacy: names for expressions, and what is wrong with some."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.algebra.expressions import parse
from paramverify.errors import InputError
from paramverify.models.model import Model
from paramverify.models.model_evaluation import Numbers
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.rereader.second_reader import SecondReader

CASE = """
[parameters]
q = "(0, 1)"
DEFINE
[prior]
x = { bernoulli = "q" }
y = { bernoulli = "1/2" }

[mechanism]
kind = "geometric"
query = "QUERY"
noise = { truncated_geometric = "ALPHA", range = 2 }

[secrets]
one = "x == 1"
zero = "x == 0"
pairs = [["one", "zero"]]

[privacy]
epsilon = "EPSILON"
"""


def read(
    tmp_path: Path, define: str, *, query: str = "x + y", alpha: str = "1/3", epsilon: str = "2"
) -> PrivacyCase:
    """Reads a case with these definitions."""
    text = CASE.replace("DEFINE", f"[define]\n{define}" if define else "").replace("QUERY", query)
    path = tmp_path / "case.toml"
    path.write_text(text.replace("ALPHA", alpha).replace("EPSILON", epsilon))
    return load(path)


def shown(case: PrivacyCase) -> list[str]:
    """The steps and the bound of the model of a case, as texts."""
    assert isinstance(case.model, Model)
    steps = [str(step.weight) for row in case.model.hmm.steps for step in row]
    return [*steps, str(case.model.hmm.denominator), str(case.model.measure), str(case.model.domain.constant)]


@pytest.mark.parametrize(
    ("define", "used", "written"),
    [
        ('c = "1/3"', {"alpha": "c"}, {}),
        ("c = 0.5", {"alpha": "c"}, {"alpha": "0.5"}),
        ('c = "1/3"\nd = "c/2 + 1/6"', {"alpha": "d"}, {}),
        ('n = 2\nc = "1/3"', {"alpha": "c**n"}, {"alpha": "1/9"}),
        ('s = "x + y"', {"query": "s"}, {}),
        ('s = "x + y"\nt = "s"', {"query": "min(t, 2)"}, {}),
        ('e = "ln(4)"', {"epsilon": "e"}, {"epsilon": "ln(4)"}),
        ('e = "1/2"', {"epsilon": "4*e", "alpha": "exp(-e)"}, {"alpha": "exp(-1/2)"}),
        ('e = "exp(-1/3)"', {"alpha": "e", "epsilon": "2/3"}, {"alpha": "exp(-1/3)", "epsilon": "2/3"}),
        ('a = "1 + 1"', {"alpha": "1/a"}, {"alpha": "1/2"}),  # brackets are not needed: trees, no text
        ('c = "1/4"', {"alpha": "-c + 1/2"}, {"alpha": "1/4"}),
    ],
)
def test_a_definition_is_what_it_stands_for(
    define: str, used: dict[str, str], written: dict[str, str], tmp_path: Path
) -> None:
    """The model is that of the case in which everything is written out."""
    found = read(tmp_path, define, **used)
    assert shown(found) == shown(read(tmp_path, "", **written))
    assert found.model.notes == read(tmp_path, "", **written).model.notes


def test_unused_definitions_are_named(tmp_path: Path) -> None:
    """A note names what nothing uses; what another definition needs is used, and labels are no names."""
    found = read(tmp_path, 'c = "1/3"\nd = "c + 0"\nspare = "c"\nextra = 4', alpha="d")
    assert found.model.notes == ("these definitions of [define] are never used: spare, extra",)


def test_definitions_are_in_force_for_their_case_only(tmp_path: Path) -> None:
    """After a case was read, well or not, its names mean nothing."""
    read(tmp_path, 'c = "1/3"', alpha="c")
    with pytest.raises(InputError):
        read(tmp_path, 'c = "1/3"', alpha="c + d")
    assert "c" in parse("c + 1").names()


@pytest.mark.parametrize(
    ("define", "words"),
    [
        ('c = "c"', "define.c: c needs c: a definition must not depend on itself"),
        (
            'b = "c"\nc = "1 + d"\nd = "b"',
            "define.b: b needs c needs d needs b: a definition must not depend on itself",
        ),
        ('b = "c"\nc = "1"', "define.b: c is defined further below: move its line above this one"),
        ('q = "1"', "define.q: this name is already used by a parameter: choose another name"),
        ('x = "1"', "define.x: this name is already used by a variable of the prior"),
        ('E = "1"', "define.E: this name is already used by the constant exp(...)"),
        ('ln = "1"', "define.ln: this word is reserved in expressions"),
        ('c = "qq + 1"', "define.c: unknown name 'qq'; did you mean 'q'?"),
        (
            'c = { file = "a.rat" }',
            (
                "define.c: a definition must be an expression here; files are allowed only in cases "
                "with a [claim]"
            ),
        ),
        ("c = [1]", "define.c: must be an expression: text or a number"),
        ('c = "1 +"', "define.c: syntax error"),
    ],
)
def test_mistakes_in_definitions(define: str, words: str, tmp_path: Path) -> None:
    """Circles, shadows and unknown names are errors that name the entry, and how to mend it."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, define)
    assert words in str(caught.value)


@pytest.mark.slow
def test_definitions_cannot_blow_up(tmp_path: Path) -> None:
    """Forty lines that double each other are an error, and soon."""
    lines = ['d0 = "q"', *(f'd{k} = "d{k - 1} + d{k - 1}"' for k in range(1, 41))]
    with pytest.raises(InputError, match="too long or nested too deeply after d"):
        read(tmp_path, "\n".join(lines))


PROGRAM = """
[parameters]
eps = "(0, oo)"
p = "1/2"

[define]
scale = "2/eps"
times = "p * 4"
name = "'some'"

[mechanism]
kind = "program"
source = '''
for i in range(times):
    if n + laplace(scale) > 0:
        output(name)
    else:
        output("none")
'''

[mechanism.inputs]
n = { values = "0..1" }

[neighbours]
differ = "one"

[privacy]
epsilon = "eps"
"""


def test_programs_have_definitions(tmp_path: Path) -> None:
    """A program reads them like parameters: numbers, labels, and expressions in eps."""
    path, plain = tmp_path / "case.toml", tmp_path / "plain.toml"
    path.write_text(PROGRAM)
    source = PROGRAM.replace("laplace(scale)", "laplace(2/eps)").replace("range(times)", "range(2)")
    source = source.replace("output(name)", 'output("some")')
    plain.write_text(source.replace(source[source.index("[define]") : source.index("[mechanism]")], ""))
    assert shown(load(path)) == shown(load(plain))


@pytest.mark.parametrize("line", ["times = 1", "for times in range(2):\n    pass"])
def test_programs_do_not_change_definitions(line: str, tmp_path: Path) -> None:
    """An assignment to a definition is an error with its line."""
    path = tmp_path / "case.toml"
    path.write_text(PROGRAM.replace("for i in", f"{line}\nfor i in"))
    with pytest.raises(InputError, match="times is already a parameter or a definition of the case"):
        load(path)


def test_conditions_over_inputs_have_none(tmp_path: Path) -> None:
    """In `related` a definition would look like an index, so it is refused."""
    path = tmp_path / "case.toml"
    path.write_text(PROGRAM.replace('differ = "one"', 'related = "abs(x - y) <= times"'))
    with pytest.raises(InputError, match="which cannot be used here: write out its expression"):
        load(path)


LABELS = """
[define]
wanted = "'a  b'"
likely = "1/4"
ends = "1/2"

[parameters]
p = "(0, 1 - ends/5]"
constraints = ["p >= likely/2"]

[prior]
x = { categorical = { "a  b" = "p", "a b" = "1 - p" } }
y = { given = "x", table = { "a  b" = { wanted = "likely", no = "1 - likely" }, "a b" = { wanted = "1" } } }

[mechanism]
kind = "release"
query = "y == 'wanted'"

[secrets]
left = "x == wanted"
right = "x != wanted"
pairs = [["left", "right"]]

[privacy]
ratio = "1/likely"
"""


def test_labels_stay_what_they_are(tmp_path: Path) -> None:
    """Blanks in a label count, and a label that is spelt as a definition is none; for both readers."""
    path = tmp_path / "case.toml"
    path.write_text(LABELS)
    case = load(path)
    point = {"p": Fraction(1, 3)}
    found = SecondReader(LABELS, None).masses(point, Fraction(1), [1])
    assert isinstance(case.model, Model)
    numbers, pair = Numbers(case.model, point), case.model.pairs[0]
    for name, start in ((pair.left, pair.pi), (pair.right, pair.tau)):
        row = found.words[name]
        assert row is not None
        for k, output in enumerate(case.model.hmm.observations):
            assert numbers.probability(start, (k,)).rational == row.get((output,), Fraction(0))
    assert found.words["left"] == {("1",): Fraction(1, 4), ("0",): Fraction(3, 4)}
    assert found.words["right"] == {("1",): Fraction(1)}


@pytest.mark.parametrize(("p", "inside"), [("1/9", False), ("1/8", True), ("9/10", True), ("10/11", False)])
def test_domains_have_definitions(p: str, inside: bool, tmp_path: Path) -> None:
    """Ends of intervals and constraints mean the same to both readers."""
    path = tmp_path / "case.toml"
    path.write_text(LABELS)
    point = {"p": Fraction(p)}
    assert (point in load(path).model.domain) == inside
    assert SecondReader(LABELS, None).has(point, Fraction(1)) == inside


def test_the_budget_tells_its_definitions(tmp_path: Path) -> None:
    """Whoever reads a verdict sees what the names in its bound stand for, those of other definitions too."""
    found = read(tmp_path, 'c = "1/4"\nd = "2*c"\nunused = 3\ne = "ln(4)"', alpha="c", epsilon="e + d")
    assert found.budget == "epsilon = e + d (c = 1/4, d = 2*c, e = ln(4))"
    assert read(tmp_path, "", epsilon="ln(4)").budget == "epsilon = ln(4)"
