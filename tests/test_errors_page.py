"""The index of errors: each message of `docs/errors.md` is one of the program, and most are produced here."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path

import pytest

from paramverify.cli.main import run
from paramverify.errors import ParamverifyError
from paramverify.privacy.cases import load

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "errors.md"
LEAST_PRODUCED = 60

CASE = """[parameters]
p = "(0, 1)"
[prior]
john = { bernoulli = "p" }
kin = { given = "john", table = { 0 = { 0 = "3/4", 1 = "1/4" }, 1 = { 0 = "1/4", 1 = "3/4" } } }
[secrets]
ill = "john == 1"
well = "john == 0"
pairs = [["ill", "well"]]
[mechanism]
kind = "geometric"
query = "john + kin"
noise = { truncated_geometric = "1/2", range = 2 }
[privacy]
epsilon = "ln(4)"
"""
# What stands in the case, and what is written instead of it.
IN_CASES = [
    ("[privacy]", "[privcy]"),
    ("[secrets]", "[[secrets]"),
    ("epsilon =", "epsilom ="),
    ('epsilon = "ln(4)"', 'epsilon = "ln(4)"\nratio = 4'),
    ('epsilon = "ln(4)"', ""),
    ('epsilon = "ln(4)"', "epsilon = -1"),
    ('kind = "geometric"', 'kind = "geometrc"'),
    ('query = "john + kin"', 'query = "john + kim"'),
    ('query = "john + kin"', 'query = "john + p"'),
    ('query = "john + kin"', 'query = "john +"'),
    ('query = "john + kin"', 'query = "john + kin + 1"'),
    ('ill = "john == 1"', 'ill = "john = 1"'),
    ('ill = "john == 1"', 'ill = "john == 2"'),
    ('pairs = [["ill", "well"]]', 'pairs = [["ill", "healthy"]]'),
    ('pairs = [["ill", "well"]]', 'pairs = ["ill", "well"]'),
    ('pairs = [["ill", "well"]]', ""),
    ('p = "(0, 1)"', 'p = "0..1"'),
    ('p = "(0, 1)"', "p = [0, 1]"),
    ('p = "(0, 1)"', 'p = "(0, 2)"'),
    ('p = "(0, 1)"', 'p = "[0, oo)"'),
    ('p = "(0, 1)"', 'p = "(0, 1)"\nconstraints = ["p > 2"]'),
    ('p = "(0, 1)"', 'p = "(0, 1)"\np = "(0, 1)"'),
    ('p = "(0, 1)"', ""),
    ('{ bernoulli = "p" }', '{ bernouli = "p" }'),
    ('{ bernoulli = "p" }', '{ bernoulli = "q" }'),
    ('{ bernoulli = "p" }', '{ bernoulli = "p / (p - 1/2)" }'),
    ('{ bernoulli = "p" }', '{ bernoulli = "p - 1/2" }'),
    ('{ bernoulli = "p" }', '{ categorical = { 0 = "p", 1 = "p" } }'),
    ('given = "john"', 'given = "jon"'),
    (', 1 = { 0 = "1/4", 1 = "3/4" }', ""),
    ('0 = { 0 = "3/4", 1 = "1/4" }', '0 = { 0 = "3/4", 1 = "1/2" }'),
    ('truncated_geometric = "1/2"', 'truncated_geometric = "2"'),
    ('truncated_geometric = "1/2"', 'laplace = "2"'),
    (", range = 2 }", " }"),
    ("[privacy]", '[neighbours]\ndiffer = "one"\n[privacy]'),
    ('epsilon = "ln(4)"', 'epsilon = "ln(4)"\ndelta = 2'),
    ('epsilon = "ln(4)"', 'epsilon = "exp(p)"'),
    ('epsilon = "ln(4)"', 'epsilon = "e"'),
]
PROGRAM = """[parameters]
a = "(0, 1)"
eps = "(0, oo)"
[mechanism]
kind = "program"
source = '''
SOURCE
'''
[mechanism.inputs]
q = { length = 2, values = "0..1" }
[neighbours]
differ = "one"
[privacy]
epsilon = "eps"
"""
# Programs over the inputs q[0] and q[1], and the parameters a and eps.
IN_PROGRAMS = [
    "print(q)",
    "output(math.floor(q[0]))",
    "import numpy as np\noutput(np.random.laplace(0, 1) > q[0])",
    "import numpy as np\noutput(np.argmax(q))",
    "import random\noutput(random.random() < a)",
    "import json\noutput(1)",
    "output(round(q[0] + laplace(1)))",
    "output(math.sqrt(q[0]))",
    "np.random.seed(1)\noutput(1)",
    "output([x for x in q])",
    "output((lambda x: x)(1))",
    "try:\n    output(1)\nexcept ValueError:\n    output(2)",
    'output(f"{q}")',
    "output({1: 2})",
    "b = []\nb.append(1)\noutput(b)",
    "b = q\nb[0] = 1\noutput(b)",
    "q[0] = 1\noutput(q)",
    "output(q[0] is None)",
    "output(q[2])",
    "output(nosiy)",
    "if flip(1 / 2):\n    x = 1\noutput(x)",
    "output(geometic(a))",
    "output(gaussian(1) > q[0])",
    "output(laplace(scale=1) > q[0])",
    "x = 1",
    "output(q[0] + geometric(2))",
    "output(q[0] + laplace(0) > 1)",
    "output(q[0] + laplace(a) > 1)",
    "output(flip(2))",
    "output(geometric(a) * laplace(1) > 1)",
    "output(q[0] // geometric(a))",
    "if geometric(a):\n    output(1)",
    "if a > 1 / 2:\n    output(1)",
    "output(q[0] + a)",
    'output(q[0] == "1")',
    'output(q[0] == "yes")',
    "while True:\n    x = 1\noutput(1)",
    "while geometric(a) < 0:\n    x = 1\noutput(x)",
    "def f(x):\n    y = f(x)\n    return y\noutput(f(1))",
    "def f(x):\n    output(x)\nf(1)",
    "for x in 3:\n    output(x)",
    "if q[0] = 1:\n    output(1)",
    "output(q[0] && q[1])",
    'output(choice({"a": 1 / 2, "b": 1 / 3}))',
    "len = 1\noutput(len)",
    "output(x := 1)",
    "output(laplace(1 / eps) + laplace(1) > 0)",
    "output(exp(q[0]))",
    "output(q[0] + gauss(1) > 0)",
]
# Lines of [mechanism.inputs] or [neighbours] and what is written instead, of the program output(q[0]).
AROUND_PROGRAMS = [
    ('[mechanism.inputs]\nq = { length = 2, values = "0..1" }\n', ""),
    ('values = "0..1"', "values = []"),
    ('values = "0..1"', 'values = "1..0"'),
    ('values = "0..1"', 'values = "0..100000"'),
    ('values = "0..1"', "values = [0, 10]"),
    ('differ = "one"', 'differ = "one"\npairs = [[[0, 0], [0, 1]]]'),
    ('differ = "one"', 'related = "x[0] = y[0]"'),
    ('[neighbours]\ndiffer = "one"\n', ""),
]

FUNCTIONS = """from paramverify import *
SIZE = 3
COUNT = dict(
    inputs={"n": {"values": "0..2"}}, parameters={"a": "(0, 1)"}, neighbours={"differ": "each"}, ratio="1/a"
)
"""
NOISY = "return clamp(n + geometric(a), 0, 2)"
# The decorated function f(n, a), with its first line, its body, and what is called.
IN_FUNCTIONS = [
    ("def f(n):", NOISY, "f.verify()"),
    ("def f(m, a):", "return m", "f.verify()"),
    ("def f(n, a):", NOISY, "f(1, 0.5, seed=1, rng=2)"),
    ("def f(n, a):", NOISY, "f.verify(timout=3)"),
    ("def f(n, a):", NOISY, "geometric(0.5)"),
]
ON_THE_COMMAND_LINE = [
    ["verify", "none.toml"],
    ["verify", "folder"],
    ["verify", "empty.toml"],
    ["verify", "case.toml", "--backends", "z4"],
    ["verify", "case.toml", "--strategy", "nope"],
    ["verify", "case.toml", "--memory", "1"],
    ["verify", "case.toml", "-D", "q=1"],
    ["verify", "case.toml", "-D", "p"],
    ["verify", "case.toml", "--evidence", "no/where.json"],
    ["verfy", "case.toml"],
    ["verify", "case.toml", "--tmeout", "3"],
    ["check", "case.toml"],
    ["check", "empty.json"],
    ["certify", "case.toml", "--observations", "9", "--at", "p=1/2"],
    ["certify", "case.toml", "--observations", "1", "--at", "p=2"],
    ["export", "case.toml"],
    ["interactive", "case.toml"],
    ["logic", "case.toml"],
    ["cases", "nope"],
    ["new", "nope"],
]


def message_of(text: str, path: Path) -> str:
    """Returns the error of a case, without the name of its file."""
    path.write_text(text, encoding="utf-8")
    try:
        load(path)
    except ParamverifyError as error:
        return str(error).replace(f"{path}:", "")
    raise AssertionError(text)


def changed(text: str, mistake: tuple[str, str]) -> str:
    """Returns a text with a mistake."""
    before, after = mistake
    assert before in text
    return text.replace(before, after, 1)


def in_function(first: str, body: str, call: str, path: Path) -> str:
    """Returns the error of a Python file with a decorated function."""
    path.write_text(f"{FUNCTIONS}@mechanism(**COUNT)\n{first}\n    {body}\n{call}\n", encoding="utf-8")
    try:
        runpy.run_path(str(path))
    except ParamverifyError as error:
        return str(error)
    raise AssertionError(body)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands name."""
    found = tmp_path_factory.mktemp("errors")
    (found / "folder").mkdir()
    for name, text in {"case.toml": CASE, "empty.toml": "", "empty.json": "{}"}.items():
        (found / name).write_text(text, encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def produced(folder: Path) -> list[str]:
    """All messages of the mistakes of this file, but those of the command line."""
    case = folder / "mistake.toml"
    program = PROGRAM.replace("SOURCE", "output(q[0])")
    cases = [changed(CASE, mistake) for mistake in IN_CASES]
    cases += [PROGRAM.replace("SOURCE", text) for text in IN_PROGRAMS]
    cases += [changed(program, mistake) for mistake in AROUND_PROGRAMS]
    functions = [in_function(*parts, folder / f"own{k}.py") for k, parts in enumerate(IN_FUNCTIONS)]
    return [*(message_of(text, case) for text in cases), *functions]


def rows() -> list[str]:
    """Returns the messages of the page; `…` stands for what differs."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    found = (re.match(r"\| (?:``(.*?)``|`(.*?)`) \|", line) for line in lines)
    return [one[1] or one[2] for one in found if one]


@cache
def sources() -> str:
    """Returns the package as one text, in which texts over several lines are joined."""
    texts = (path.read_text(encoding="utf-8") for path in sorted((ROOT / "paramverify").rglob("*.py")))
    return re.sub(r'"\s*\n\s*f?"', "", "\n".join(texts))


def is_produced(message: str, told: list[str]) -> bool:
    """Tells whether a message of the page is one of the messages of the program."""
    pattern = re.compile(".+?".join(map(re.escape, message.split("…"))))
    return any(pattern.search(one) for one in told)


def test_every_message_is_one_of_the_program(
    produced: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message is produced by a small mistake, or its parts stand in the package; most are produced."""
    monkeypatch.chdir(folder)
    told = list(produced)
    for arguments in ON_THE_COMMAND_LINE:
        assert run(arguments) == 2, arguments
        told.append(capsys.readouterr().err)
    messages = rows()
    assert len(messages) == len(set(messages)) >= 100
    others = [message for message in messages if not is_produced(message, told)]
    assert len(messages) - len(others) >= LEAST_PRODUCED
    missing = [
        message
        for message in others
        if not all(part.strip(" ;:,.'") in sources() for part in message.split("…"))
    ]
    assert not missing


def test_every_mistake_is_on_the_page(produced: list[str]) -> None:
    """A mistake that this file makes is one that the page explains."""
    messages = rows()
    assert not [one for one in produced if not any(is_produced(m, [one]) for m in messages)]
