"""Evidence of exact intervals: true documents are accepted; what is accepted is true at rational points."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from three_checkers import asked_later
from written_evidence import alone, with_first

from paramverify.algebra.domains import Domain, box_domain, parse_interval
from paramverify.algebra.polynomials import Polynomial, Ring
from paramverify.algebra.signs import parse_constraint
from paramverify.claims import Claim
from paramverify.cli.main import run
from paramverify.kernel import interval_evidence
from paramverify.kernel.strict_reading import Rejected
from paramverify.synthesis.interval_documents import statement
from paramverify.synthesis.projection import project

checked, compared_with_the_proved_checker = asked_later()

Json = dict[str, Any]
P = Ring(("p",))
CASE = """
title = "Two answers"
[parameters]
p = "(0, 1)"
[prior]
one = { bernoulli = "p" }
two = { bernoulli = "p" }
[mechanism]
kind = "geometric"
query = "one*two"
noise = { truncated_geometric = "1/4", range = 1 }
[secrets]
yes = "one == 1"
no = "one + two == 0"
pairs = [["yes", "no"]]
[privacy]
ratio = "2 - p**2"
"""
# Each is an interval, polynomials that are to be at least zero, and constraints.
SAMPLES = [
    ("[0, 2]", ["p**2 - 2"], []),
    ("(0, 2]", ["p**5 - p - 1", "3 - p**2"], []),
    ("[0, 1)", ["(p**2 - 1/2)**2*(p - 1/3)"], []),
    ("[0, 1]", ["-(2*p**2 - 1)**2"], []),
    ("(0, 1)", ["p*(1 - p)*((p - 1/2)**2 + 1/10**4)"], []),
    ("[-1, 1]", ["1 - 2*p**2"], ["p**2 >= 1/9"]),
    ("[-1, 1]", ["p", "p**3"], ["p**2 > 1/3", "p < 3/4"]),
    ("(0, 1]", ["0", "1"], []),
    ("[0, 3]", ["(p**2 - 2)*(p**3 - 3)*(p - 1)"], []),
]


def polynomial(text: str) -> Polynomial:
    value = eval(text.replace("1/", "F(1)/"), {"p": P.variable("p"), "F": fmpq})
    return value if isinstance(value, Polynomial) else P.number(value)


def made(interval: str, claims: list[str], constraints: list[str]) -> Json:
    about: Domain = box_domain(P, {"p": parse_interval(interval)})
    about = replace(about, constraints=tuple(c for t in constraints for c in parse_constraint(t, about)))
    found = project([Claim(polynomial(text), about) for text in claims], about, "p")
    return alone("map", json.loads(json.dumps(statement(found, about))))


def compared(value: str, at: Fraction) -> bool:
    """A comparison of Python expressions at a point, as fractions."""
    names = {"p": at, "F": Fraction}
    return bool(eval(value.replace("1/", "F(1)/").replace("3/4", "F(3)/4"), names))


def inside(interval: str, at: Fraction) -> bool:
    low, high = (Fraction(end) for end in interval[1:-1].split(","))
    return (low < at < high) or (at == low and interval[0] == "[") or (at == high and interval[-1] == "]")


def truth(sample: tuple[str, list[str], list[str]], at: Fraction) -> str:
    _, claims, constraints = sample
    if not all(compared(text, at) for text in constraints):
        return "outside"
    return "safe" if all(compared(f"{text} >= 0", at) for text in claims) else "violating"


def told(line: Json, interval: str, at: Fraction) -> str | None:
    """What a statement says of a rational point; None in the interval of an irrational break."""
    places = [[Fraction(end) for end in b["between"]] for b in line["breaks"]]
    low, high = (Fraction(end) for end in interval[1:-1].split(","))
    places = [[low, low], *places, [high, high]]
    if any(a < b and a <= at <= b for a, b in places):
        return None
    for part in line["parts"]:
        (left, right), (above, below) = (places[k] for k in part["ends"]), part["closed"]
        if (left[1] < at or (above and left[0] == left[1] == at)) and (
            at < right[0] or (below and right[0] == right[1] == at)
        ):
            return str(part["status"])
    return "no part"


def points(line: Json, interval: str) -> Iterator[Fraction]:
    low, high = (Fraction(end) for end in interval[1:-1].split(","))
    ends = [Fraction(end) for b in line["breaks"] for end in b["between"]]
    tiny = (high - low) / 10**6
    every = [low + (high - low) * k / 60 for k in range(61)]
    yield from (at for x in [*every, *ends] for at in (x - tiny, x, x + tiny) if inside(interval, at))


def is_true(document: Json, sample: tuple[str, list[str], list[str]]) -> bool:
    (line,) = document["statements"]
    found = ((at, told(line, sample[0], at)) for at in points(line, sample[0]))
    return all(said is None or said == truth(sample, at) for at, said in found)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: " and ".join(sample[1]))
def test_true_documents_are_accepted_and_agree_with_fractions(sample: Any) -> None:
    document = made(*sample)
    report = checked(json.loads(json.dumps(document)))
    assert report.accepted, report.lines
    assert report.status == "exact intervals"
    assert report.proved == len(document["statements"][0]["parts"]) == len(report.lines)
    assert is_true(document, sample)


ROOT, LINEAR = made("[0, 2]", ["p**2 - 2"], []), made("[0, 2]", ["p - 1"], [])
LONG = [{"status": "violating", "ends": [0, 1], "closed": [True, True]}]
BREAK, (FIRST, SECOND) = ROOT["statements"][0]["breaks"][0], ROOT["statements"][0]["parts"]
PLANE: Json = {"variables": ["p", "q"], "box": {"p": "[0, 1]", "q": "[0, 1]"}, "constraints": []}


def on(domain: Json) -> Json:
    """The first document with another domain."""
    return {**ROOT, "domains": [domain]}


NOT_SHOWN: list[tuple[Json, Json, str]] = [
    *((ROOT, {"breaks": [], "parts": LONG, "cuts": [c]}, "breaks are all roots") for c in ([], ["1/2"])),
    (ROOT, {"breaks": [{"factor": 0, "between": ["1/2", "1"]}]}, "that the breaks are all roots"),
    (ROOT, {"breaks": [BREAK, {"factor": 0, "between": ["7/4"] * 2}]}, "one root at a break"),
    *((ROOT, {"breaks": [BREAK | {"between": at}]}, "not apart") for at in (["0", "3/2"], ["3/2", "5/4"])),
    (ROOT, {"breaks": [BREAK] * 2}, "not apart"),
    *(
        (ROOT, {"breaks": [BREAK | {"factor": k}]}, "a break belongs to a factor that does not exist")
        for k in (1, -1)
    ),
    *((ROOT, {"cuts": [["1/2", cut]]}, "do not ascend") for cut in ("1/3", "1/2")),
    (LINEAR, {"cuts": [["1"]], "breaks": [], "parts": []}, "vanishes at a cut"),
    (
        ROOT,
        {"products": [{"constant": "2", "factors": [[0, 1]]}]},
        "the product of the factors differs from the polynomial",
    ),
    (on(PLANE), {}, "one parameter"),
    (on(PLANE | {"box": {"p": "[0, 1]"}, "ties": {"q": ["p", "1"]}}), {}, "stands for a logarithm"),
    (on({"variables": ["E"], "box": {}, "constraints": [], "constant": "1"}), {}, "and no constant"),
    (
        ROOT,
        {
            "factors": ["p^2 - 2", "0"],
            "breaks": [{"factor": 1, "between": ["1/2"] * 2}, BREAK],
            "cuts": [[], []],
        },
        "one root at a break",
    ),
    (on(ROOT["domains"][0] | {"box": {"p": "[3/2, 3/2]"}}), {"breaks": []}, "not apart"),
    (ROOT, {"parts": [FIRST]}, "differ from what the signs"),
    (ROOT, {"parts": [FIRST, SECOND, SECOND]}, "more parts"),
    (ROOT, {"parts": [FIRST, SECOND | {"closed": [False, True]}]}, "statements[0].parts[1]"),
]


@pytest.mark.parametrize(("given", "change", "reason"), NOT_SHOWN)
def test_what_is_not_shown_is_rejected(given: Json, change: Json, reason: str) -> None:
    """Each line of the argument is needed: roots that are left out, twice there, or not apart."""
    assert reason in checked(with_first(given, **change)).lines[0]


def test_factors_have_a_largest_degree(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the largest degree is taken, and one of a degree above it is not."""
    for most in (2, 1):
        monkeypatch.setattr(interval_evidence, "MAX_DEGREE", most)
        assert ("a too high degree" in checked(ROOT).lines[0]) == (most == 1)


def test_double_roots_between_rationals_are_no_breaks() -> None:
    """At a double root the polynomial has one sign on both sides: the interval shows no single root."""
    touched = made("[0, 1]", ["-(2*p**2 - 1)**2"], [])
    square = {"factors": ["4*p^4 - 4*p^2 + 1"], "products": [{"constant": "-1", "factors": [[0, 1]]}]}
    assert not checked(with_first(touched, **square)).accepted


def test_cuts_are_needed_near_complex_roots() -> None:
    """Two complex roots near the interval give variations of sign, which cuts take away."""
    for sample in (SAMPLES[4], ("[0, 1]", ["5*p**2 - 5*p + 2"], [])):
        document = made(*sample)
        cuts = document["statements"][0]["cuts"]
        assert any(cuts)
        assert "all roots" in checked(with_first(document, cuts=[[] for _ in cuts])).lines[0]


@pytest.mark.slow
def test_a_case_is_compared_and_read_a_second_time(tmp_path: Any, capsys: Any) -> None:
    """An irrational end; evidence about another bound, and other claims, are rejected."""
    case, other, file = (str(tmp_path / name) for name in ("case.toml", "other.toml", "evidence.json"))
    (tmp_path / "case.toml").write_text(CASE)
    (tmp_path / "other.toml").write_text(CASE.replace("2 - p", "3 - p"))

    def called(*arguments: str) -> tuple[int, str]:
        code = run(list(arguments))
        return code, capsys.readouterr().out

    assert called("synthesize", case, "--exact", "--evidence", file)[0] == 0
    document = json.loads((tmp_path / "evidence.json").read_text())
    assert any(len(set(b["between"])) == 2 for b in document["statements"][0]["breaks"])
    code, said = called("check", file, "--case", case)
    assert code == 0
    assert "read a second time: 4 comparisons of probabilities" in said
    assert "checked: exact intervals for every prior of the case over one, two in {0, 1} with p in" in said
    assert "2 parts shown, 0 trusted to solvers, 0 open" in said
    assert "not compared (give --case)" in called("check", file)[1]
    assert called("check", file, "--case", other)[0] == 1
    called("synthesize", other, "--exact", "--evidence", file)
    document["case"] = json.loads((tmp_path / "evidence.json").read_text())["case"]
    (tmp_path / "evidence.json").write_text(json.dumps(document))
    code, said = called("check", file, "--case", other)
    assert code == 1
    assert "they are about other claims" in said


@pytest.mark.parametrize("between", [["1", "3/2"], ["5/4", "7/4"], ["1/2", "7/4"]])
def test_a_break_is_one_root_and_no_end_of_it(between: list[str]) -> None:
    """The factor has the roots 1, √2 and 5/3: an end may be none of them, and not all be in one place."""
    document = made("[0, 2]", ["(p - 1)*(p**2 - 2)*(3*p - 5)"], [])
    changes = {
        "factors": ["3*p^4 - 8*p^3 - p^2 + 16*p - 10"],
        "products": [{"constant": "1", "factors": [[0, 1]]}],
        "cuts": [[]],
        "breaks": [{"factor": 0, "between": between}],
    }
    assert "root" in checked(with_first(document, **changes)).lines[0]


def test_parts_in_words() -> None:
    """A part of one point is told as an equation, another one with both of its ends."""
    report = checked(made("[0, 2]", ["-(p - 1)**2"], []))
    assert report.accepted
    assert [line.partition(":")[0] for line in report.lines] == ["0 <= p < 1", "p = 1", "1 < p <= 2"]


@pytest.mark.parametrize("ends", [(0, 2), (-1, 1), (-1, 2)])
def test_one_root_strictly_inside(ends: tuple[int, int]) -> None:
    """Of the roots 0 and 1 of p² − p not just one is between the ends, or another one is an end."""
    here, poly = interval_evidence.Break(*map(Fraction, ends)), {(2,): Fraction(1), (1,): Fraction(-1)}
    with pytest.raises(Rejected, match="one root at a break"):
        interval_evidence._check_roots(poly, (Fraction(-2), Fraction(3)), [here], [])
