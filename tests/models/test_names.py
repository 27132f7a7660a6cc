"""Names and numbers: labels are labels, and no case is read as another one because its names are equal."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from name_tools import ODD, Rows, explicit, largest, number_of, quoted, table

from paramverify.claims import show_sequence
from paramverify.cli.main import run
from paramverify.errors import CaseError, ModelError
from paramverify.models.hmm import HMM
from paramverify.models.model import need_privacy
from paramverify.models.names import as_value, distinct, find
from paramverify.privacy.cases import load
from paramverify.rereader.second_numbers import Calculator

LEAKING: Rows = [
    [Fraction(1, 2), Fraction(1, 2)],
    [Fraction(99, 100), Fraction(1, 100)],
    [Fraction(1, 2), Fraction(1, 2)],
    [Fraction(1, 100), Fraction(99, 100)],
]
NAMES = ("0", "00", "1", "01")

Captured = pytest.CaptureFixture[str]


def answer(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_only_canonical_spellings_are_numbers() -> None:
    """A text is a number if it is spelt as one in ASCII digits; each other text is itself."""
    numbers = {"0": 0, "7": 7, "-3": -3, "0.5": Fraction(1, 2), "1.0": 1, "2/4": Fraction(1, 2), "-0": 0}
    assert {text: as_value(text) for text in numbers} == numbers
    for text in (
        "00",
        "01",
        "+1",
        "1_0",
        " 1",
        "1 ",
        "1e3",
        "1.",
        ".5",
        "1/0",
        "1/02",
        "\u0663",
        "\u00b2",
        "",
        "--1",
    ):
        assert as_value(text) == text
    with pytest.raises(CaseError, match="this must be a number or a label"):
        as_value(True)


@given(st.lists(st.sampled_from(ODD), min_size=2, max_size=6, unique=True))
def test_a_set_keeps_its_members_apart(names: list[str]) -> None:
    """Names of one set are different values that name themselves, or two of them are named as equal."""
    try:
        values = distinct(names)
    except CaseError as error:
        first, second = error.reason.removesuffix(" are the same value; list it once").split(" and ")
        assert number_of(eval_text(first)) == number_of(eval_text(second))
        return
    assert list(values.values()) == names
    assert len({str(value) for value in values}) == len(names)
    for value, name in values.items():
        assert find(name, list(values)) == value
        assert find(name, names) == name


def eval_text(shown: str) -> str:
    return next(name for name in ODD if repr(name) == shown)


@pytest.mark.slow
@pytest.mark.parametrize("start", [False, True])
def test_no_order_of_states_decides_the_verdict(start: bool, tmp_path: Path, capsys: Captured) -> None:
    """States that are equal as numbers stay different, whichever comes first; check agrees."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    for order in list(permutations(range(4)))[::5]:
        states, rows = [NAMES[k] for k in order], [LEAKING[k] for k in order]
        pair = (order.index(1), order.index(3))
        case.write_text(explicit(states, ["x", "y"], rows, [pair], start))
        code, out, _ = answer(capsys, "verify", str(case), "--json", "--evidence", str(evidence))
        assert (code, json.loads(out)["witness"]["ratio"]) == (1, "99")
        code, out, _ = answer(capsys, "check", str(evidence), "--case", str(case))
        assert code == 0
        assert "the probabilities of the witness agree" in out
        case.write_text(explicit(states, ["x", "y"], rows, [(order.index(0), order.index(2))], start))
        assert answer(capsys, "verify", str(case))[0] == 0


def test_numbers_name_states_that_are_spelt_as_them(tmp_path: Path, capsys: Captured) -> None:
    """A TOML number names the only state that is spelt as it; two such states are an error with both."""
    case = tmp_path / "case.toml"
    text = explicit(NAMES, ["x", "y"], LEAKING, [(1, 3)], False)
    case.write_text(text.replace('["00", "01"]', "[0, 1]"))
    assert [(p.left, p.right) for p in need_privacy(load(case).model, "this test").pairs] == [("0", "1")]
    case.write_text(text.replace('["00", "01"]', '["000", "1"]'))
    code, _, err = answer(capsys, "verify", str(case))
    assert code == 2
    assert "'000' is not a possible value; did you mean '00'?" in err
    case.write_text(text.replace('["00", "01"]', "[0, 1]").replace('"00"', '"0.0"'))
    code, _, err = answer(capsys, "verify", str(case))
    assert code == 2
    assert "0 may mean '0' or '0.0': rename one of them" in err


def test_time_series_keep_their_states_apart(tmp_path: Path, capsys: Captured) -> None:
    """Days of a series whose states are equal as numbers are those of different states."""
    stay = '{ "0" = "1/4", "00" = "1/4", "1" = "1/4", "01" = "1/4" }'
    moves = [{other: "97/100" if other == name else "1/100" for other in NAMES} for name in NAMES]
    rows = "\n".join(f"{quoted(name)} = {table(row)}" for name, row in zip(NAMES, moves, strict=True))
    case = tmp_path / "case.toml"
    text = (
        f'[mechanism]\nkind = "time_series"\nstates = {list(NAMES)}\ninitial = {stay}\ntruth = "9/10"\n'
        f"[mechanism.transitions]\n{rows}\n"
        '[neighbours]\npairs = [["00", "0"]]\n[privacy]\nratio = 28\n'
    )
    case.write_text(text)
    code, out, _ = answer(capsys, "budget", str(case), "--json")
    assert (code, json.loads(out)["ratio"]) == (0, "27")  # (9/10) / (1/30)
    code, out, _ = answer(capsys, "show", str(case))
    assert "00" in out.split()


PRIOR = """
[parameters]
p = "(0, 1)"
[prior]
a = { bernoulli = "1/2" }
b = { bernoulli = "1/3" }
x = { given = GIVEN, table = { ROWS } }
[mechanism]
kind = "randomized_response"
query = "x"
truth = "3/4"
[secrets]
yes = "x == 1"
no = "x == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = 3
"""
LOW, HIGH = '{ 0 = "1" }', '{ 0 = "1/2", 1 = "1/2" }'


@pytest.mark.parametrize(
    ("given", "rows", "names"),
    [
        ('"a"', f'"0" = {LOW}, "0.0" = {HIGH}, 1 = {HIGH}', ("'0'", "'0.0'")),
        (
            '["a", "b"]',
            f'"0,1" = {LOW}, "0, 1" = {HIGH}, "0,0" = {LOW}, "1,0" = {LOW}, "1,1" = {LOW}',
            ("'0,1'", "'0, 1'"),
        ),
        ('"a"', f'0 = {LOW}, 1 = {HIGH}, "01" = {LOW}', ("never '01'", "did you mean 1")),
        ('"a"', f'0 = {LOW}, 1 = {{ "1" = "1/2", "1.0" = "1/2" }}', ("'1'", "'1.0'")),
    ],
)
def test_rows_that_are_equal_are_errors(
    given: str, rows: str, names: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    """Two rows or values that are the same are an error that names both; so is a row that no value has."""
    case = tmp_path / "case.toml"
    case.write_text(PRIOR.replace("GIVEN", given).replace("ROWS", rows))
    code, _, err = answer(capsys, "verify", str(case))
    assert code == 2
    assert all(name in err for name in names)


@pytest.mark.parametrize(
    "values", ['[0, "0"]', '["1.0", 1]', "[1.0, 1]", '["0.5", "1/2"]', '["a", "a"]', "[]"]
)
@pytest.mark.parametrize("where", ["values", "uniform"])
def test_equal_values_are_errors(values: str, where: str, tmp_path: Path, capsys: Captured) -> None:
    """Equal values in one list are an error in a prior and in a mechanism."""
    case = tmp_path / "case.toml"
    text = PRIOR.replace("GIVEN", '"a"').replace("ROWS", f"0 = {LOW}, 1 = {HIGH}")
    if where == "values":
        text = text.replace('query = "x"', f'query = "x"\nvalues = {values}')
    else:
        text = text.replace('a = { bernoulli = "1/2" }', f"a = {{ uniform = {values} }}")
    case.write_text(text)
    code, _, err = answer(capsys, "verify", str(case))
    assert code == 2
    assert f".{where}" in err or f"{where}:" in err


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('query = "x"', "query = \"x == 'yes'\"", "x is compared with 'yes', which is not one of its values"),
        ('yes = "x == 1"', "yes = \"x == '1'\"", "write 1 without quotes"),
        (
            'yes = "x == 1"',
            "yes = \"x + 0 == '1'\"",
            "a number is compared with the label '1', which it never equals",
        ),
        (
            'a = { bernoulli = "1/2" }\n',
            'a = { bernoulli = "1/2" }\nd = { uniform = ["00", "01"] }\ne = "d == 1"\n',
            "d is compared with a number, but its values are labels",
        ),
    ],
)
def test_comparisons_that_are_never_true_are_errors(
    old: str, new: str, reason: str, tmp_path: Path, capsys: Captured
) -> None:
    """A label is compared only with what may be it, in secrets, in queries and in derived variables."""
    case = tmp_path / "case.toml"
    text = PRIOR.replace("GIVEN", '"a"').replace("ROWS", f"0 = {LOW}, 1 = {HIGH}")
    assert old in text
    case.write_text(text.replace(old, new))
    code, _, err = answer(capsys, "verify", str(case))
    assert code == 2
    assert reason in err


SPELT = """
[prior]
A = {{ categorical = {{ {one} = "1/3", {other} = "1/3", c = "1/3" }} }}
[mechanism]
kind = "hmm"
states = [{one}, {other}, "c"]
observations = ["x", "y"]
start = "A"
[mechanism.emissions]
{one} = {{ x = "9/10", y = "1/10" }}
{other} = {{ x = "1/2", y = "1/2" }}
c = {{ x = "1/2", y = "1/2" }}
[secrets]
first = {condition}
third = "A == 'c'"
pairs = [["first", "third"]]
[privacy]
ratio = 2
"""


@pytest.mark.parametrize(
    ("label", "other", "written"),
    [
        ("\t", " ", "'\t'"),
        ("\\t", "\t", "'\\t'"),
        ("\\x62", "b", "'\\x62'"),
        ("\\\\", "\\", "'\\\\'"),
        ("a\nb", "a b", "'a\nb'"),
        ("''b''", "b", "'''b'''"),
    ],
)
def test_a_label_in_a_condition_is_read_as_it_is_written(
    label: str, other: str, written: str, tmp_path: Path, capsys: Captured
) -> None:
    """What is in quotes means itself: blanks and backslashes in it never make it another label."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    names = {"one": json.dumps(label), "other": json.dumps(other)}
    case.write_text(SPELT.format(**names, condition=json.dumps(f"A == {written}")))
    code, out, err = answer(capsys, "verify", str(case), "--evidence", str(evidence))
    if code == 2:
        assert "backslash" in err or "syntax error" in err
        with pytest.raises(ValueError, match=r"label|not an expression"):
            Calculator({"A": label}, None, Fraction(1)).value(f"A == {written}")
        return
    assert code == 1  # 1/2 against 1/10 for output y
    assert "is 5 times" in out
    assert answer(capsys, "check", str(evidence), "--case", str(case))[0] == 0
    assert Calculator({"A": label}, None, Fraction(1)).value(f"A == {written}") == 1
    assert Calculator({"A": other}, None, Fraction(1)).value(f"A == {written}") == 0


def test_observations_are_looked_up_by_their_text(tmp_path: Path, capsys: Captured) -> None:
    """certify takes the observation that is written, also one with commas, and names what is unclear."""
    case = tmp_path / "case.toml"
    seen = ["0", "00", "a", "b", "a,b", " a"]
    rows = [[Fraction(k + 1, 21) for k in range(6)], [Fraction(6 - k, 21) for k in range(6)]]
    case.write_text(explicit(["s", "t"], seen, rows, [(0, 1)], False))

    def certified(*given: str) -> tuple[int, str]:
        arguments = [part for text in given for part in ("--observations", text)]
        code, out, err = answer(capsys, "certify", str(case), "--secrets", "s", "t", *arguments, "--json")
        if code == 2:
            return code, err
        one = next(found for found in json.loads(out)["directions"] if found["secrets"] == ["s", "t"])
        return code, one["probabilities"][0]

    assert certified("0")[1] == "1/21"
    assert certified("00")[1] == "2/21"
    assert certified(" a")[1] == "2/7"
    for text, words in (
        ("a,b", "may be one observation or 2"),
        ("000", "did you mean '00'"),
        ("b, a", "both"),
    ):
        code, told = certified(text)
        assert code == 2
        assert words in told


def test_sequences_are_shown_differently() -> None:
    """Different sequences of names with blanks, commas and quotes are never shown alike."""
    sequences = [
        ["a b"],
        ["a", "b"],
        ["'a", "b'"],
        ["a b", ""],
        ["a", "b", ""],
        ["a,b"],
        ["'a b'"],
        ['"a b"'],
    ]
    assert len({show_sequence(names) for names in sequences}) == len(sequences)


def test_observations_of_a_step_function_have_different_names() -> None:
    """Two outputs that are shown alike are an error, not one output."""
    with pytest.raises(ModelError, match="two observations have the same name"):
        HMM.from_function(["s"], lambda state: [(1, state, "1/2"), ("1", state, "1/2")])


@st.composite
def models(draw: st.DrawFn) -> tuple[list[str], list[str], Rows, list[tuple[int, int]], bool]:
    states = draw(st.lists(st.sampled_from(ODD), min_size=2, max_size=5, unique=True))
    seen = draw(st.lists(st.sampled_from(ODD), min_size=2, max_size=3, unique=True))
    weights = [draw(st.lists(st.integers(1, 9), min_size=len(seen), max_size=len(seen))) for _ in states]
    rows = [[Fraction(w, sum(row)) for w in row] for row in weights]
    numbers = range(len(states))
    pairs = draw(
        st.lists(
            st.tuples(st.sampled_from(numbers), st.sampled_from(numbers)).filter(lambda p: p[0] < p[1]),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    return states, seen, rows, pairs, draw(st.booleans())


@pytest.mark.slow
@settings(max_examples=16, deadline=None)
@given(models())
def test_odd_names_change_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    model: tuple[list[str], list[str], Rows, list[tuple[int, int]], bool],
) -> None:
    """A case with odd names has the verdict and claims of the same case with plain names, and those of brute
    force; or the error names two names that are equal as numbers."""
    states, seen, rows, pairs, start = model
    folder = tmp_path_factory.mktemp("names")
    found = []
    plain = [f"s{k}" for k in range(len(states))], [f"o{k}" for k in range(len(seen))]
    for names, outputs in (plain, (states, seen)):
        case, evidence = folder / "case.toml", folder / "evidence.json"
        case.write_text(explicit(names, outputs, rows, pairs, start))
        try:
            load(case)
        except CaseError as error:
            told = [name for name in states if repr(name) in str(error)]
            assert len({number_of(name) for name in told}) < len(told)
            return
        code = run(["verify", str(case), "--evidence", str(evidence), "--backends", "built-in"])
        assert code == int(largest(rows, pairs) > 3)
        assert run(["check", str(evidence), "--case", str(case)]) == 0
        document = json.loads(evidence.read_text())
        claims = sorted(statement["polynomial"] for statement in document["statements"])
        witness = document.get("witness", {})
        assert witness.get("ratio", str(largest(rows, pairs))) == str(largest(rows, pairs))
        found.append((document["status"], claims, witness.get("probabilities"), witness.get("ratio")))
    assert found[0] == found[1]


@pytest.mark.parametrize("output", ["'0'", "'a b'", "a'b", "'a\\b'", "'é'", "\\"])
def test_both_readers_write_outputs_alike(output: str, tmp_path: Path) -> None:
    """Evidence of a case whose outputs have quotes in their names is read a second time, and accepted."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    rows = [[Fraction(1, 4), Fraction(3, 4)], [Fraction(1, 3), Fraction(2, 3)]]
    case.write_text(explicit(["x", "y"], ["plain", output], rows, [(0, 1)], True))
    assert run(["verify", str(case), "--evidence", str(evidence), "--backends", "built-in"]) == 0
    assert run(["check", str(evidence), "--case", str(case)]) == 0
