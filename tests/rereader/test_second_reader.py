"""The second reader: it notices a false reading of the first reader, and says what is compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from name_tools import explicit, number_of

from paramverify.algebra import domains
from paramverify.algebra.expressions import Value, evaluate, parse
from paramverify.cli.main import run
from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.models import mechanisms, parameters, priors
from paramverify.models.mechanisms import hmm
from paramverify.privacy.cases import load
from paramverify.reports.case_evidence import check_with_case
from paramverify.rereader import second_reading
from paramverify.rereader.second_evidence import Evidence
from paramverify.rereader.second_numbers import Calculator, Finer
from paramverify.rereader.second_reading import second_look

CASES = Path(__file__).parents[2] / "cases"

LEAKING = explicit(
    ["0", "00", "1", "01"],
    ["x", "y"],
    [[Fraction(k, 100), Fraction(100 - k, 100)] for k in (50, 99, 50, 1)],
    [(1, 3)],
    False,
)
UNLIKE_ROWS = """
[parameters]
p = "[1/10, 9/10]"
[prior]
a = { uniform = ["0", "1"] }
x = { given = "a", table = { 0 = { 0 = "1/3", 1 = "2/3" }, 1 = { 0 = "1-p", 1 = "p" } } }
[mechanism]
kind = "randomized_response"
query = "x"
truth = "3/4"
[secrets]
yes = "a == 1"
no = "a == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = 3
"""


def written(case: Path, evidence: Path) -> dict[str, Any]:
    run(["verify", str(case), "--evidence", str(evidence), "--backends", "built-in"])
    document: dict[str, Any] = json.loads(evidence.read_text())
    return document


def first_of_equals(value: Value, known: Sequence[Value]) -> Value:
    """The first of the names that are equal as numbers, as this package once read."""
    return next(k for k in known if number_of(str(k)) == number_of(str(value)))


def other_row(parts: list[str], names: list[str], known: object) -> tuple[Value, ...]:
    """A row of another value."""
    del names, known
    return tuple(Fraction(1) - Fraction(part) for part in parts)


def reversed_row(entries: Any, columns: Sequence[str], checks: Any) -> dict[str, Any]:
    """A row whose probabilities are those of other names."""
    row = _READ_ROW(entries, columns, checks)
    return dict(zip(row, reversed(row.values()), strict=True))


def narrowed(text: str) -> domains.Interval:
    """An interval without its ends' neighbourhood."""
    found = domains.parse_interval(text)
    width = found.upper - found.lower
    return domains.Interval(found.lower + width / 4, found.upper - width / 4, True, True)


def widened(text: str) -> domains.Interval:
    """An interval that is too long."""
    found = domains.parse_interval(text)
    return domains.Interval(found.lower, found.upper + Fraction(1, 20), True, True)


def nearest_only(table: Any, default_by: str = "1") -> tuple[str, int | None]:
    """Neighbours that differ by one, whatever the case says."""
    table.get("differ"), table.get("by")
    return default_by and "each", 1


def opposite(expression: Any, assignment: Any) -> bool:
    """Secrets that are taken for their opposite where they are about numbers below 1."""
    return evaluate(expression, assignment) == 0


_READ_ROW = hmm.read_row

GEOMETRIC = (CASES / "geometric-contagious-ln4.toml").read_text()

NEAR = (CASES / "geometric-neighbours.toml").read_text().replace('differ = "each"', 'differ = "each"\nby = 2')
MUTANTS: list[tuple[str, Any, str, Callable[..., Any]]] = [
    (LEAKING, mechanisms, "find", first_of_equals),
    (LEAKING, hmm, "read_row", reversed_row),
    (UNLIKE_ROWS, priors, "_condition", other_row),
    (GEOMETRIC, parameters, "parse_interval", narrowed),
    (UNLIKE_ROWS, parameters, "parse_interval", widened),
    (NEAR, mechanisms, "read_differ", nearest_only),
    (GEOMETRIC.replace("john == 0", "john <= 0 and kin == 0"), priors, "truth", opposite),
]


@pytest.mark.parametrize(("text", "module", "name", "mutant"), MUTANTS, ids=[m[3].__name__ for m in MUTANTS])
def test_a_wrong_first_reader_is_noticed(
    text: str,
    module: Any,
    name: str,
    mutant: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Evidence about what the first reader read wrongly is rejected because of the second reader."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(text)
    written(case, evidence)
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    monkeypatch.setattr(module, name, mutant)
    written(case, evidence)
    assert check_with_case(json.loads(evidence.read_text()), load(case)).accepted
    capsys.readouterr()
    assert run(["check", str(evidence), "--case", str(case)]) == 1
    assert "second reading" in capsys.readouterr().out
    assert run(["check", str(evidence), "--case", str(case), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["second_reading"]["agrees"]) == ("rejected", False)


@given(
    st.sampled_from(
        [
            "a - b/3 - 2*-a",
            "(a + b)**3/(1 + a*a)",
            "not a < b <= 1",
            "a == 'x' or b > 1/2 and true",
            "max(a, b, 1/7) - min(a, 2*b) + abs(a - b)",
            "0.125*a**-2 + 1.5",
            "a != b",
        ]
    ),
    st.fractions(Fraction(1, 9), 2, max_denominator=9),
    st.fractions(0, 2, max_denominator=9),
)
def test_expressions_have_the_same_value_in_both_readers(text: str, a: Fraction, b: Fraction) -> None:
    """Two evaluators that share no code give the same numbers."""
    values: dict[str, Value] = {"a": a, "b": b}
    first = evaluate(parse(text), values)
    assert Fraction(first) == Calculator({"a": a, "b": b}, None, Fraction(1)).value(text)


LOOP = """
[parameters]
p = "[0, 1]"
q = "[0, 1]"
constraints = ["p <= q"]
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "(1+2*(q-p))/4", y = "1-((1+2*(q-p))/4)" }
b = { x = "1/2", y = "1/2" }
[mechanism.transitions]
a = { a = "1-q+p", b = "q-p" }
b = { b = "1" }
[neighbours]
differ = "each"
[privacy]
ratio = 2
length = "all"
"""


def test_a_loop_is_compared_at_its_point(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The model of a loop is that of the case at one point: other numbers, and other points, are noticed."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(LOOP)
    assert run(["budget", str(case), "--evidence", str(evidence)]) == 0
    capsys.readouterr()
    assert run(["check", str(evidence), "--case", str(case)]) == 0
    told = "read a second time: the probabilities up to length 6 agree at 1 point"
    assert told in capsys.readouterr().out.splitlines()
    text = evidence.read_text()
    for old, new, words in (
        ('[0, 0, 0, "1/4"], [0, 1, 0, "3/4"]', '[0, 0, 0, "1/2"], [0, 1, 0, "1/2"]', "other probabilities"),
        ('"point": {"p": "1/2", "q": "1/2"}', '"point": {"p": "1/4", "q": "1/2"}', "other probabilities"),
        ('"point": {"p": "1/2", "q": "1/2"}', '"point": {"p": "1/2", "q": "1/4"}', "outside the domain"),
        ('"pairs": [["a", "b", ', '"pairs": [["a", "c", ', "other secrets are compared"),
    ):
        assert text.count(old) == 1
        look = second_look(json.loads(text.replace(old, new)), LOOP, ("2", "1"))
        assert (look.agrees, words in look.line) == (False, True), look.line


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "randomized-response",
            "up to a positive factor for each pair (for 1 pair this compares signs only)",
        ),
        (
            "noisy-max-naive-3-ln8",
            "have the signs of the claims at a point, and their values are not compared",
        ),
        ("noisy-max-independent", "each pair (estimated chance of missing a difference: "),
    ],
)
def test_what_is_compared_of_values_is_said(name: str, words: str, tmp_path: Path) -> None:
    """A factor hides a function that stands alone; then no chance of missing a difference is named."""
    case = CASES / f"{name}.toml"
    good = written(case, tmp_path / "evidence.json")
    look = second_look(good, case.read_text())
    assert look.agrees
    assert words in look.line
    if "signs only" in look.line:  # another truth, with a bound that leaves the same signs
        text = (
            case.read_text().replace('truth = "t"', 'truth = "(1 + t)/2"').replace("t/(1 - t)", "(1+t)/(1-t)")
        )
        assert text.count("1+t") + text.count("1 + t") > 1
        other = second_look(good, text)
        assert not other.agrees or "chance" not in other.line


POWERS = """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "geometric"
noise = { truncated_geometric = "exp(-eps/2)", range = 3 }
[neighbours]
differ = "each"
[privacy]
epsilon = "eps"
"""


def test_powers_of_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims about all x say the same of some powers of x; and how many steps are tried is limited."""
    case, good = tmp_path / "case.toml", dict[str, Any]()
    for of, power in product(("eps", "2*eps/3"), (1, 2, 3, 4, 6, 5, 7)):
        if power == 1:
            case.write_text(POWERS.replace('"eps"', f'"{of}"'))
            good[of] = written(case, tmp_path / "evidence.json")
        other = json.loads(json.dumps(good[of]))
        for entry in other["statements"]:
            raised = re.sub(
                r"x_eps(?:\^(\d+))?", lambda m, n=power: f"x_eps^{n * int(m[1] or 1)}", entry["polynomial"]
            )
            entry["polynomial"] = raised
        look = second_look(other, case.read_text())
        assert (look.compared, look.agrees) == (True, power not in (5, 7)), (power, of, look.line)
    for steps, compared in ((3, True), (1, False)):
        monkeypatch.setattr(second_reading, "MAX_STEPS", steps)
        look = second_look(good[of], case.read_text())
        assert look.compared == compared
        assert ("too small a common divisor" in look.line) != compared


def test_what_stands_in_the_way_is_told(tmp_path: Path) -> None:
    """A mistake in the case, another measure, or one not known for the evidence: none of them agrees."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(GEOMETRIC)
    claims = written(case, evidence)
    case.write_text(LOOP)
    assert run(["budget", str(case), "--evidence", str(evidence)]) == 0
    loop = json.loads(evidence.read_text())
    ratio = re.search(r"\n(ratio|epsilon) = .*", GEOMETRIC)
    assert ratio
    renyi = "\nrenyi = { order = 2, ratio = 2 }"
    for document, text, compared, words in (
        (claims, "x = ", True, "the second reading finds a mistake: Invalid value"),
        (claims, GEOMETRIC.replace("kind =", "kin ="), True, "the second reading finds a mistake: 'kind'"),
        (
            claims,
            GEOMETRIC.replace(ratio[0], '\nkl = "1"'),
            True,
            "differs: the case is about a divergence, and",
        ),
        (claims, GEOMETRIC.replace(ratio[0], renyi), True, "the second reading differs"),
        (
            loop,
            LOOP.replace("\nratio = 2", renyi),
            False,
            "not read a second time: no second reader knows evidence",
        ),
    ):
        look = second_look(document, text)
        assert (look.compared, look.agrees, words in look.line) == (compared, not compared, True), look.line


COMPARED = [  # the kind of evidence, what else it has, and what compares it
    *(
        ("slots", [], "compare_slots"),
        ("unwinding", [], "SystemComparison"),
        ("paths", [], "compare_enclosed"),
    ),
    *(("composition", [], "second_compositions"), ("formulas", [], "ChainLook")),
    *(("automaton", ["automaton"], "second_streams"), ("automaton", ["streams"], "compare_stream")),
    *(("automaton", ["claim"], "compare_stream"), ("paths", ["claim", "streams"], "compare_enclosed")),
]


@pytest.mark.parametrize(("kind", "keys", "compared"), COMPARED)
def test_each_kind_of_engine_is_compared(
    kind: str, keys: list[str], compared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One comparison gets it, with the text of the case and its folder; another kind is not read."""
    monkeypatch.setattr(second_reading, "_with_steps", lambda look: look)
    for name in dict.fromkeys(each for _, _, each in COMPARED):
        own = name.startswith("second_")
        target = (getattr(second_reading, name), "compare") if own else (second_reading, name)
        monkeypatch.setattr(*target, lambda *asked, name=name: (name, asked))
    document: Any = {"status": "holds", "domains": [], "statements": [{"kind": kind, **dict.fromkeys(keys)}]}
    for folder in (None, Path("cases")):
        name, asked = cast(Any, second_reading)._compared(Evidence(document), "the case", None, folder, {})
        assert (name, "the case" in asked) == (compared, True)
        if compared == "compare_stream":
            assert asked[-1] == (folder or Path())
    document["statements"] = [{"kind": "other"}]
    assert second_look(document, "").line.endswith("no second reader knows evidence of the kind other")


@pytest.mark.parametrize(
    ("good", "finer", "tried", "words"),
    [(6, 0, 5, ""), (5, 0, 5, "differs"), (1, 49, 1, ""), (1, 50, 1, "divisor"), (None, 0, 1, "differs")],
)
def test_parts_of_the_largest_step(good: int | None, finer: int, tried: int, words: str) -> None:
    """Parts are tried until one agrees, if there is a step at all; a step is made smaller up to 49 times."""
    taken, refined = list[int](), list[tuple[str, Fraction]]()

    def compare() -> str:
        if len(refined) < finer:
            raise Finer("eps", Fraction(1, 2))
        if taken[-1] != good:
            raise Rejected("it differs")
        return "it agrees"

    reader = SimpleNamespace(steps=["eps"] if good else [], take_part=taken.append)
    look: Any = SimpleNamespace(reader=reader, compare=compare, refine=lambda *each: refined.append(each))
    with pytest.raises((Rejected, UnreadCase), match=words) if words else nullcontext():
        assert second_reading._with_steps(look) == "it agrees"
    assert (taken, refined) == ([1, 2, 3, 4, 6][:tried], [("eps", Fraction(1, 2))] * finer)
