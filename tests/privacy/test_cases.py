"""Mistakes in case files: each gives one message with file, key and reason, and nothing is executed."""

from pathlib import Path

import pytest

from paramverify.cli.main import run
from paramverify.errors import InputError
from paramverify.privacy.cases import load

GOOD = """
[parameters]
p = "(0, 1)"

[prior]
john = { bernoulli = "p" }
kin = { given = "john", table = { 0 = { 0 = "1" }, 1 = { 1 = "1" } } }

[mechanism]
kind = "geometric"
query = "john + kin"
noise = { truncated_geometric = "1/2", range = 2 }

[secrets]
yes = "john == 1"
no = "john == 0"
pairs = [["yes", "no"]]

[privacy]
epsilon = "ln(4)"
"""

HMM = """
[parameters]
p = "(0, 1)"
q = "[0, 1]"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "p", y = "1 - p" }
b = { x = "q", y = "1 - q" }
[neighbours]
differ = "each"
[privacy]
ratio = 2
"""

MISTAKES = [
    ("bernoulli", "bernoulli =", "not TOML"),
    ('epsilon = "ln(4)"', 'epsilon = "ln(4)"\nepsilon = 1', "not TOML"),
    ("[privacy]", "[privacy]\nepsilom = 1", "privacy.epsilom: unknown key; did you mean 'epsilon'?"),
    ("[mechanism]", "[mechansim]", "mechansim: unknown table; did you mean [mechanism]?"),
    (
        "[mechanism]",
        "[tea]\n[mechanism]",
        "tea: unknown table; the tables of such a case are [parameters], [prior]",
    ),
    ('epsilon = "ln(4)"', 'epsilon = "two"', "privacy.epsilon: epsilon must be a sum of numbers and ln(...)"),
    ("[privacy]", "[claim]\n[privacy]", "prior: give either [claim], or [mechanism] and [privacy]"),
    ('"john == 1"', '"jon == 1"', "secrets.yes: unknown name 'jon'; did you mean 'john'?"),
    ('"john == 1"', '"john =="', "secrets.yes: syntax error"),
    ('"john == 1"', '"john == 2"', "secrets: the secret 'yes' has probability zero for every prior"),
    (
        'bernoulli = "p"',
        'bernoulli = "r"',
        (
            "prior.john.bernoulli: unknown name 'r'; to declare a parameter, add r = \"(0, 1)\" "
            "below [parameters]; known here: p"
        ),
    ),
    ('bernoulli = "p"', 'bernoulli = "2*p"', "the probability of 0 is negative at p = 3/4"),
    ('bernoulli = "p"', 'bernoulli = "p**(10**9)"', "an exponent must be at most 10,000"),
    ('bernoulli = "p"', f'bernoulli = "{"(" * 9000}p{")" * 9000}"', "brackets are nested deeper than 200"),
    ('bernoulli = "p"', 'bernoulli = "1/(1 - 2*p)"', "the denominator of 1/(1 - 2*p) is zero at p = 1/2"),
    (
        'bernoulli = "p"',
        'geometric = "p"',
        "prior.john: this variable has no known distribution: give one of",
    ),
    ('bernoulli = "p"', 'categorical = { 0 = "p", 1 = "p" }', "the probabilities sum to 2*p instead of 1"),
    ('given = "john"', 'given = "jack"', "prior.kin.given: 'jack' is not an earlier variable"),
    ("1 = { 1 =", "2 = { 1 =", "prior.kin.table: the table has no row for john = 1; add one"),
    ('p = "(0, 1)"', 'p = "(1, 0)"', "parameters.p: the interval (1, 0) is empty"),
    ('p = "(0, 1)"', 'p = "(1, inf)"', "parameters.p: the interval of a parameter must have finite ends"),
    (
        'p = "(0, 1)"',
        'p = "[1, oo)"',
        'only the interval of all positive numbers, "(0, oo)", is unbounded; '
        'write p = "(0, oo)", and constraints = ["p >= 1"]',
    ),
    ('p = "(0, 1)"', 'p = "[0, oo)"', 'write p = "(0, oo)", and verify the value 0 in a separate case'),
    ('p = "(0, 1)"', 'p = "[0.5, oo)"', 'write p = "(0, oo)", and constraints = ["p >= 0.5"]'),
    ('p = "(0, 1)"', 'and = "(0, 1)"', "parameters.and: this word is reserved in expressions"),
    ('p = "(0, 1)"', 'p = "(0, 1)"\nconstraints = ["p"]', "parameters.constraints[0]: a comparison with"),
    (
        'p = "(0, 1)"',
        'p = "(0, 1)"\nconstraints = 3',
        "parameters.constraints: constraints must be a list of comparisons",
    ),
    ('kind = "geometric"', 'kind = "geometrik"', "unknown mechanism 'geometrik'; did you mean 'geometric'?"),
    (
        "range = 2",
        "range = 1",
        "mechanism.noise.range: the range is 1, but john + kin can be 2; write range = 2",
    ),
    (
        'truncated_geometric = "1/2"',
        'truncated_geometric = "3/2"',
        "1 - alpha of the truncated geometric noise",
    ),
    ('epsilon = "ln(4)"', 'epsilom = "ln(4)"', "privacy.epsilom: unknown key; did you mean 'epsilon'?"),
    ("{ bernoulli =", "{ bernouli =", "prior.john.bernouli: unknown key; did you mean 'bernoulli'?"),
    ('epsilon = "ln(4)"', 'ratio = "p - 1/2"', "privacy.ratio: the ratio bound is zero at p = 1/2"),
    ('epsilon = "ln(4)"', 'ratio = "-3"', "privacy.ratio: the ratio bound e^epsilon must be positive"),
    ('epsilon = "ln(4)"', 'renyi = { order = 3, ratio = "-2" }', "ratio bound e^epsilon must be positive"),
    ('epsilon = "ln(4)"', 'renyi = { order = 3, epsilon = "ln(p-2)" }', "e^epsilon must be positive"),
    ('epsilon = "ln(4)"', 'epsilon = "ln(2)/2"', "the factor of a logarithm must be a whole number, not 1/2"),
    ('epsilon = "ln(4)"', 'ratio = "e"', "write exp(1) for Euler's number; to declare a parameter, add e"),
    ('epsilon = "ln(4)"', 'ratio = "1 bit"', 'syntax error; write epsilon = "1*ln(2)"'),
    ('epsilon = "ln(4)"', 'ratio = "2 nats"', 'syntax error; write epsilon = "2"'),
    ('epsilon = "ln(4)"', 'ratio = "eps = 2"', 'syntax error; write epsilon = "2"'),
    ('epsilon = "ln(4)"', "rho = 0.5", "privacy.rho: unknown key; write zcdp = 0.5"),
    ('epsilon = "ln(4)"', 'rho = "1/2"', 'privacy.rho: unknown key; write zcdp = "1/2"'),
    ('epsilon = "ln(4)"', "epsilon = 1e99999", "a number has too many digits"),
    ('epsilon = "ln(4)"', "epsilon = 1979-05-27", "must be an expression: text or a number"),
    ('epsilon = "ln(4)"', 'epsilon = "ln(4)"\nlength = 0', "privacy.length: a number from 1 to"),
    ('epsilon = "ln(4)"', 'epsilon = "ln(4)"\nlength = "3..2"', "privacy.length: a number from 1 to"),
    (
        'pairs = [["yes", "no"]]',
        'pairs = [["yes", "nay"]]',
        "secrets.pairs[0]: 'nay' is not one of the secrets: yes, no",
    ),
    ('pairs = [["yes", "no"]]', 'pairs = [["yes", "yes"]]', "a secret cannot be compared with itself"),
    ("[privacy]", '[neighbours]\ndiffer = "each"\n[privacy]', "neighbours: give either [neighbours], or"),
]

LEVEL = '[prior]\nlevel = { bernoulli = "p" }\n[secrets]\npairs = [["a", "b"]]'
HMM_MISTAKES = [
    ('y = "1 - p"', 'y = "p"', "mechanism.emissions.a: this row: the probabilities sum to 2*p instead of 1"),
    ('x = "p", y = "1 - p"', 'x = "2*p - 1", y = "2 - 2*p"', "the probability of x is negative at p = 1/4"),
    ("b = {", "c = {", "mechanism.emissions: the key 'b' is missing"),
    ('y = "1 - q"', 'z = "1 - q"', "mechanism.emissions.b.z: unknown key"),
    ('differ = "each"', 'pairs = [["a", "c"]]', "neighbours.pairs[0]: value 1 of the input is c"),
    (
        'q = "[0, 1]"',
        'q = "[0, 1]"\nconstraints = ["p > 2"]',
        "the parameter domain is empty",
    ),
    ('[neighbours]\ndiffer = "each"', LEVEL, "prior.level: start is missing"),
    ('"[0, 1]"', "[0, 1]", "parameters.q: an interval must be text such as"),
    ("ratio = 2", 'ratio = 2\none_sided = "ignore"', 'privacy.one_sided: must be "ignored"; not'),
]


def check(tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "case.toml"
    path.write_text(text)
    assert run(["verify", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {path}:")
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert not (tmp_path / "PWNED").exists()


def test_the_unchanged_cases_are_good(tmp_path: Path) -> None:
    """The texts that the mistakes are made in are good themselves."""
    for text in (GOOD, HMM):
        (tmp_path / "case.toml").write_text(text)
        load(tmp_path / "case.toml")


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes(
    old: str,
    new: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 2, one message that names file, key and reason, no traceback, nothing executed."""
    monkeypatch.chdir(tmp_path)
    assert old in GOOD
    check(tmp_path, GOOD.replace(old, new, 1), message, capsys)


@pytest.mark.parametrize(("old", "new", "message"), HMM_MISTAKES)
def test_mistakes_in_explicit_models(
    old: str, new: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows and names of explicit tables are checked, and the message names the row and a point."""
    assert old in HMM
    check(tmp_path, HMM.replace(old, new, 1), message, capsys)


def test_files_that_are_no_case_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory, a missing file, a non-UTF-8 file, an empty file and deep nesting are refused by name."""
    (tmp_path / "latin.toml").write_bytes('title = "Grüße"'.encode("latin-1"))
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000)
    (tmp_path / "digits.toml").write_text(f"a = {'9' * 5000}")
    for name, message in [
        (".", "there is no case file"),
        ("missing.toml", "No such file or directory"),
        ("latin.toml", "not UTF-8 text (byte 11)"),
        ("empty.toml", "the key 'privacy' is missing"),
        ("deep.toml", "nested deeper than 50"),
        ("digits.toml", "too many digits"),
    ]:
        assert run(["verify", str(tmp_path / name)]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert "Traceback" not in error


def test_a_file_of_100_megabytes(tmp_path: Path) -> None:
    """A huge file is refused by its size, without being read."""
    path = tmp_path / "huge.toml"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(InputError, match="100,000,000 bytes; a case file has at most"):
        load(path)


def test_constraints_on_one_parameter_are_ends_of_its_interval(tmp_path: Path) -> None:
    """Linear constraints on one parameter tighten its interval, exactly; others stay as they are."""
    path = tmp_path / "case.toml"
    path.write_text(
        """
        [parameters]
        p = "[0, 1]"
        q = "(0, 1)"
        r = "[0, 1]"
        constraints = ["p > 1/10", "3*p <= 2", "q >= 0", "1/3 == r", "p < q", "p*p < 1/2"]
        [claim]
        holds = "p <= 1"
        """
    )
    domain = load(path).model.domain
    assert {name: str(interval) for name, interval in domain.box.items()} == {
        "p": "(1/10, 2/3]",
        "q": "(0, 1)",
        "r": "[1/3, 1/3]",
    }
    assert [c.text for c in domain.constraints] == ["p < q", "p*p < 1/2"]
