"""The second reader of programs with numbers as outputs: sets, places of densities, and limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import exp
from pathlib import Path
from typing import Any

import pytest
from program_budgets import OPTIONS, written

from paramverify.kernel.strict_reading import UnreadCase
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.rereader import second_outputs
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_outputs import Breaks, NumberRange, has_form, leading, named
from paramverify.rereader.second_programs import NAMED, outputs_at
from paramverify.rereader.second_reading import SecondLook, second_look
from paramverify.rereader.second_values import NoisyNumber

EPS, ALPHA = 'eps = "(0, oo)"', 'alpha = "(0, 1)"'
ONE = 'x = { values = "0..1" }'
SUMS = "s = 0\nfor x in q:\n    s = s + x + {noise}\n    output(s)"
GAP = 'g = x + geometric(alpha**2) - geometric(alpha)\nif g >= 0:\n    output(g)\n    stop\noutput("below")'
PROGRAMS = {
    "whole": ("for x in q:\n    output(x + geometric(alpha))", 'ratio = "1/alpha**2"', ALPHA),
    "whole sums": (SUMS.format(noise="geometric(alpha)"), 'ratio = "1/alpha**2"', ALPHA),
    "sums": (SUMS.format(noise="laplace(1 / eps)"), 'epsilon = "2 * eps"', EPS),
    "densities": ("for x in q:\n    output(x + laplace(1 / eps))", 'epsilon = "2 * eps"', EPS),
    "number": ("for x in q:\n    output(x + laplace(1))", 'epsilon = "2"', ""),
    "mixed": (
        'if q[0] + laplace(1 / eps) >= 0:\n    output(q[1] + laplace(1 / eps))\nelse:\n    output("below")',
        'epsilon = "2 * eps"',
        EPS,
    ),
    "same noise": (
        "v = geometric(alpha)\noutput(q[0] + v)\noutput([q[0] + v, 'a'])",
        'ratio = "1/alpha"',
        ALPHA,
    ),
    "grid": ("output(q[0] / 2 + 2 * geometric(alpha))", 'ratio = "2"', ALPHA),
    "atoms": ("output(max(0, q[0] + laplace(1 / eps)))", 'epsilon = "eps"', EPS),
}


def read(path: Path) -> tuple[dict[str, Any], SecondLook]:
    """Returns the evidence of a case, and what the second reader says."""
    case = load(path)
    document = json.loads(json.dumps(evidence_document(case, verify(case, OPTIONS))))
    assert check_with_case(document, case).accepted
    return document, again(document, path)


def again(document: Mapping[str, Any], path: Path) -> SecondLook:
    """Returns what the second reader says of evidence."""
    return second_look(document, path.read_text(), None, path.parent)


def test_evidence_about_another_program_is_refused(tmp_path: Path) -> None:
    """Twice the noise, or another rule of the gap: then the named outputs have other weights."""
    path = written(tmp_path / "case.toml", GAP, 'ratio = "1/alpha**2"', ALPHA, ONE)
    document, look = read(path)
    assert look.compared, look.line
    assert look.agrees, look.line
    for old, new in (("alpha**2", "alpha**3"), ("g >= 0", "g >= 1"), ("output(g)", "output(g + 1)")):
        other = written(tmp_path / "other.toml", GAP.replace(old, new), 'ratio = "1/alpha**2"', ALPHA, ONE)
        assert not again(document, other).agrees


def test_outputs_that_are_left_out_are_noticed(tmp_path: Path) -> None:
    """The named sets of whole numbers have to be all outputs."""
    text, privacy, parameters = PROGRAMS["whole"]
    path = written(tmp_path / "case.toml", text, privacy, parameters)
    document, _ = read(path)
    less = {**document, "outputs": document["outputs"][1:]}
    assert "not all outputs" in again(less, path).line
    assert not check_with_case(less, load(path)).accepted


def test_a_set_beside_a_density_is_integrated_again(tmp_path: Path) -> None:
    """A wrong probability of the interval of a witness is found by the second reader alone."""
    text, _, parameters = PROGRAMS["sums"]
    path = written(tmp_path / "case.toml", text, 'epsilon = "eps"', parameters)
    document, look = read(path)
    assert look.compared, look.line
    assert look.agrees, look.line
    document["witness"]["within"]["probabilities"][0] = "1/17"
    assert not again(document, path).agrees


def without(document: Mapping[str, Any], outputs: Callable[[str], bool]) -> dict[str, Any]:
    """Returns evidence that says nothing of some outputs."""
    names = [name for name in document["outputs"] if not outputs(name)]
    statements = []
    for entry in document["statements"]:
        origins = [o for o in entry["origins"] if not outputs(o.split("output ")[1].strip("'"))]
        statements += [{**entry, "origins": origins}] if origins else []
    return {**document, "outputs": names, "statements": statements}


BELOW = 'v = laplace(2)\nif v <= x or flip({chance}):\n    output(v)\nelse:\n    output("above")'


def test_breaks_that_the_evidence_leaves_out_are_found(tmp_path: Path) -> None:
    """The bound is broken between 0 and 1 alone: without it the evidence agrees."""
    path = written(tmp_path / "case.toml", BELOW.format(chance="3/4"), 'ratio = "7/4"', "", ONE)
    other = written(tmp_path / "other.toml", BELOW.format(chance="1/2"), 'ratio = "7/4"', "", ONE)
    document, look = read(path)
    assert look.agrees, look.line
    less = without(document, lambda name: name in {"just above 0", "at 1", "just below 1"})
    assert less["outputs"] != document["outputs"]
    assert "names no output" in again(less, other).line
    assert not again(less, other).agrees
    assert again(less, path).agrees  # there the bound holds at these places, too


def test_forms_of_outputs_that_the_evidence_leaves_out_are_found(tmp_path: Path) -> None:
    """Beside places of densities nothing sums to 1, and still each output of the program has to be named."""
    path = written(tmp_path / "case.toml", BELOW.format(chance="3/4"), 'ratio = "7/4"', "", ONE)
    document, _ = read(path)
    look = again(without(document, lambda name: name == "above"), path)
    assert not look.agrees
    assert "names no output of a form" in look.line


def test_names_are_read() -> None:
    """Lists, quotes with commas, sums, and grids."""
    found = named('"a, b", [<= 0, below], o2 - 1/2*o1 just below -3/2, (any number in 1/2 + 2*k), 0..1/8')
    assert found.lists == ".[..]..."
    assert found.entries[0] == '"a, b"'
    assert found.entries[1:3] == (NumberRange(None, 0), "below")  # type: ignore[arg-type]
    place, grid, interval = found.entries[3:]
    assert isinstance(place, NumberRange)
    assert (place.low, place.side, [(k, str(s)) for k, s in place.of]) == (
        -1.5,
        "just below",
        [(2, "1"), (1, "-1/2")],
    )
    assert isinstance(grid, NumberRange)
    assert grid.part == 0.5
    assert isinstance(interval, NumberRange)
    assert (interval.low, interval.high, interval.side) == (0, 0.125, "")
    found = named('a,b, "\\\\", "c\\", d", [[], -2*o1 - o3 far below in -1/2 + 1/3*k]')
    assert found.lists == "...[[].]"
    assert found.entries[:3] == ("a,b", '"\\\\"', '"c\\", d"')
    assert found.entries[3] == NumberRange(
        None, None, ((1, Fraction(-2)), (3, Fraction(-1))), "far below", Fraction(-1, 2)
    )
    assert [named(name).is_density for name in ("<= 0, at 1", "far below", "a, 0..1", "(no output)")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("privacy", ['epsilon = "1"\ndelta = "1/2"', 'kl = "50"'])
def test_measures_of_all_outputs_together_are_read_a_second_time(tmp_path: Path, privacy: str) -> None:
    """Evidence with a delta, or about a divergence, names the sets of numbers, too."""
    text = "output(q[0] + geometric(1/2))"
    document, look = read(written(tmp_path / "case.toml", text, privacy))
    assert document["outputs"]
    assert look.compared, look.line
    assert look.agrees, look.line


# --- weights by hand --------------------------------------------------------------------------------

REAL = Calculator({}, Fraction(1, 4), Fraction("1.284025416687741484073420568062"))  # exp(1/4)
EVERY = Calculator({"x_eps": Fraction(1, 9)}, None, steps={"eps": Fraction(1)})


def weighed(
    source: str,
    names: Sequence[str],
    value: int = 0,
    at: Calculator = REAL,
    inputs: Sequence[int] = (),
    breaks: Breaks | None = None,
) -> dict[str, Fraction]:
    """What the second reader finds for named outputs of a program of a number x."""
    table = {
        "source": source,
        "inputs": {"x": {"values": "-2..3"}},
        NAMED: ({n: named(n) for n in names}, breaks),
    }
    numeric = outputs_at(table, at)
    numeric.prepare([(Fraction(k),) for k in (value, *inputs)])
    return numeric((Fraction(value),))  # type: ignore[no-any-return]


def density(x: float, scale: float = 1) -> float:
    """The density of Laplace noise."""
    return exp(-abs(x) / scale) / (2 * scale)


TWO = "v = laplace(1)\noutput(v)\noutput(v + laplace(1))"
WEIGHTS = {  # of an input: what integrals by hand give
    "output(x + laplace(1))": """x: 1;
        at 0: density(1); at 1: 1 / 2; just below 3: density(2); just above 1: 1 / 2; <= 0: exp(-1) / 2;
        >= 2: exp(-1) / 2; 0..2: 1 - exp(-1); -1..0: (exp(-1) - exp(-2)) / 2; (any number): 1;
        far above: exp(1) / 2; far below: exp(-1) / 2; = 3: 0; 3: 0; a: 0; 2*o1 at 4: density(1) / 2;
        -o1 at -1: 1 / 2; -1/3*o1 at 0: 3 * density(1); o1 just above 0: density(1); [at 0]: 0""",
    "output(laplace(1) + laplace(1))": """x: 0;
        at 1: exp(-1) / 2; at 0: 1 / 4; >= 1: 3 / 4 * exp(-1); far above: 1 / 4; far below: 1 / 4;
        <= -1: 3 / 4 * exp(-1)""",
    "output(laplace(1) - 2*laplace(1/4))": """x: 0;
        at 1: 2 / 3 * exp(-1) - exp(-2) / 3; at 0: 1 / 3; far above: 2 / 3; far below: 2 / 3""",
    "output(2*laplace(1/2) + 3*laplace(1/3))": """x: 0;
        at 1: exp(-1) / 2; far above: 1 / 4; >= 1: 3 / 4 * exp(-1)""",
    "output(3*laplace(1))": """x: 0;
        at 3: density(3, 3); >= 3: exp(-1) / 2; far above: 1 / 6; far above in 1 + k: 1 / 6""",
    TWO: """x: 0;
        at 1, at 3: density(1) * density(2); at 2, at 3: density(2) * density(1);
        at 1, just below 1: density(1) / 2;
        just below 1, at 1: density(1) / 2; <= 0, at 1: exp(-1) / 8; >= 2, at 1: exp(-3) / 8;
        0..1, at 1: exp(-1) / 4; (any number), at 1: exp(-1) / 2; (any number), o2 - o1 at 1: density(1);
        at 1, far above: density(1) * exp(1) / 2; at 0, o2 - 1/2*o1 just below 1: density(1) / 2;
        at 1, o2 - o1 <= 2: density(1) * (1 - exp(-2) / 2); at 1, <= 1: density(1) / 2;
        2*o1 at 2, o1 + o2 at 1: density(1) ** 2 / 2; <= 0, >= 0: 1 / 8;
        far below, o2 - o1 at 1: density(1) / 2; at 1: 0; at 1, a: 0""",
    "v = laplace(1)\nif v <= x:\n    output(v)\nelse:\n    output('above')": """x: 1;
        at 1: 0; just below 1: density(1); just above 1: 0; at 0: 1 / 2; just below 0: 1 / 2;
        above: exp(-1) / 2; far below: 1 / 2; far above: 0; <= 0: 1 / 2; <= 2: 1 - exp(-1) / 2;
        >= 0: 1 / 2 - exp(-1) / 2""",
    "w = laplace(1)\nif w > x:\n    output(w + laplace(1))": """x: 0;
        at 1: 3 / 8 * exp(-1); at -1: exp(-1) / 8; (no output): 1 / 2; far above: 1 / 4; far below: 1 / 8""",
    "output(max(x, laplace(1)))": """x: -1;
        -1: exp(-1) / 2; -1..0: 1 / 2; = -1: exp(-1) / 2; just above -1: density(1); just below -1: 0;
        <= -1: exp(-1) / 2; >= 0: 1 / 2; (any number): 1; (any number in 1/2 + k): 1 - exp(-1) / 2; -2: 0""",
    "output(exponential(1))": """x: 0;
        just below 0: 0; at 0: 1; just above 0: 1; at 1: exp(-1); far above: 1; far below: 0;
        <= 1: 1 - exp(-1)""",
    "output([x + laplace(1), 'a'])\noutput(True)": """x: 0;
        [at 1, a], True: density(1); [at 1, b], True: 0; [at 1, a], 1: 0; at 1, a, True: 0;
        [<= 0, a], True: 1 / 2; [at 1, at 1], True: 0; [<= 0, <= 0], True: 0""",
    "output(x)": """x: 1;
        <= 0: 0; <= 1: 1; >= 0: 1; >= 1: 1; >= 2: 0; -1..0: 0; 0..1: 1; 1..2: 1; 2..3: 0""",
    "w = geometric(1/8)\noutput(geometric(1/2) + 2*w)\noutput(w)": """x: 0;
        far above in 0 + k, far below in 0 + k: 7 / 27; far below in 0 + k, far above in 0 + k: 7 / 27""",
    "output(x + geometric(1/2))": """x: 1;
        <= 1: 2 / 3; >= 2: 1 / 3; = 3: 1 / 12; 0..2: 2 / 3; (any number): 1; 4: 1 / 24; -1/2: 0; a: 0;
        (any number in 1/2 + k): 0; (any number in 3 + k): 1; far above in 0 + k: 2 / 3;
        far above in 1 + k: 1 / 3; far below in 1 + k: 1 / 3; far below in 2 + k: 2 / 3;
        far above in 1/2 + k: 0; 1/2..3/2: 0""",
    "output(x/2 + 2*geometric(1/2))": """x: 1;
        <= 1/2: 2 / 3; >= 5/2: 1 / 3; = 9/2: 1 / 12; 5/2: 1 / 6; 3/2: 0; far above in 1/2 + 2*k: 1 / 3;
        far below in 9/2 + 2*k: 4 / 3; far above in 3/2 + 2*k: 0; (any number in 5/2 + 2*k): 1; <= 3/2: 0""",
    "output(geometric(1/2) + geometric(1/2))": """x: 0;
        far above in 0 + k: 1 / 9; far below in 3 + k: 8 / 9; 0: 5 / 27; = 1: 4 / 27""",
    "v = geometric(1/2)\noutput(v)\noutput(v + one_sided_geometric(1/2))": """x: 0;
        = 1, = 3: 1 / 48; 0..1, o2 - o1 <= 1: 3 / 8; (any number), o2 - o1 = 2: 1 / 8;
        0, far above in 0 + k: 1 / 6; far above in 0 + k, o2 - o1 = 1: 1 / 12; 1, 0: 0""",
}


@pytest.mark.parametrize("source", WEIGHTS)
def test_weights_by_hand(source: str) -> None:
    """Sets, places of densities from a side, and leading terms far away have the weights of calculus."""
    rows = (entry.rpartition(": ") for entry in re.split(r";\s+", WEIGHTS[source]))
    wanted = {name: eval(weight, {"density": density, "exp": exp}) for name, _, weight in rows}
    value = wanted.pop("x")
    found = weighed(source, list(wanted), value)
    assert found.keys() == {name for name, weight in wanted.items() if weight}
    for name, weight in found.items():
        assert float(weight) == pytest.approx(wanted[name], rel=1e-12), name


def test_densities_for_every_epsilon() -> None:
    """They are told without the factor eps, for each number of which there is a density."""
    found = weighed(
        "output(laplace(1/eps))\noutput(laplace(2/eps))", ["at 0, at 0", "just below 1, at -2"], 0, EVERY
    )
    assert found == {"at 0, at 0": Fraction(1, 8), "just below 1, at -2": Fraction(1, 8 * 81)}


def test_what_leads_for_all_inputs_together() -> None:
    """Far away only the term counts that is largest for some input."""
    source = "if x == 0:\n    output(laplace(1))\nelse:\n    output(laplace({}))"
    for scale, lead in (("1/2", (1 / 2, 0)), ("2", (0, 1 / 4)), ("1", (1 / 2, 1 / 2))):
        for value in range(2):
            for name in ("far above", "far below"):
                found = weighed(source.format(scale), [name], value, inputs=(0, 1))
                assert found.get(name, 0) == lead[value], (scale, value)


def test_nothing_leads_where_nothing_is_found() -> None:
    """The largest term far away is that of the largest rate there, then of the largest power."""
    terms = [((Fraction(power), Fraction(rate)),) for power, rate in ((0, 1), (2, 1), (5, -2), (1, -2))]
    found = [{term: 1} for term in terms]
    for name, best in (("far above", terms[1]), ("far below", terms[2])):
        assert leading([{}, {}], named(name)) is None
        assert leading([{}, *found], named(name)) == best
    assert leading([{}], named("1")) is None


NOT_READ = {
    "not independent": ("v = laplace(1)\noutput(v)\noutput(v)", "at 0, at 0"),
    "different factors": ("output(2*geometric(1/2) + 3*geometric(1/2))", "far above in 0 + k"),
    "whole noise and noise with a density": ("output(geometric(1/2) + laplace(1))", "= 1"),
    "the corner of a region": (
        "v = laplace(1)\nw = laplace(1)\nif v <= w:\n    output(v)\n    output(w)",
        "at 0, at 0",
    ),
    "far away together": (
        "v = laplace(1)\na = flip(1/2)\noutput(v if a else laplace(2))\noutput(laplace(2) if a else v)",
        "far above, far above",
    ),
}


@pytest.mark.parametrize("words", NOT_READ)
def test_weights_that_are_not_read(words: str) -> None:
    """Where a density is none, or not known, this is said."""
    source, name = NOT_READ[words]
    for given in (None, Breaks()):
        with pytest.raises(UnreadCase, match=words):
            weighed(source, [name], breaks=given)
    breaks = Breaks(probing=True)  # an output that the evidence does not name
    assert name not in weighed(source, [name, "(no output)"], breaks=breaks)
    assert breaks.left_out == {name}


def test_sets_of_other_sums_are_not_joined() -> None:
    """What two names of sets have together is known where both are about the same sums of values."""
    whole, half = named("2*o1 at 2"), named("o1 at 1")
    with pytest.raises(UnreadCase, match="different sums"):
        second_outputs.both(whole, half)
    assert second_outputs.both(whole, whole) == whole


FORMS: list[tuple[list[Any], str, bool]] = [
    ([Fraction(1)], "at 1", True),
    ([Fraction(1)], "1", True),
    ([Fraction(1)], "2", False),
    ([NoisyNumber({0: Fraction(1)}, Fraction(0))], "2", True),
    ([NoisyNumber({0: Fraction(1)}, Fraction(0))], "<= 2", True),
    ([True], "1", False),
    ([True], "True", True),
    ([True], "at 1", False),
    (["a"], "a", True),
    (["a"], "b", False),
    (["a"], "(any number)", False),
    ([["a"], Fraction(1)], "[a], at 1", True),
    ([["a"], Fraction(1)], "a, at 1", False),
    ([["a", Fraction(1)]], "[a], at 1", False),
    ([], "(no output)", True),
    (["a"], "(no output)", False),
]


@pytest.mark.parametrize(("told", "name", "wanted"), FORMS)
def test_forms_of_outputs(told: list[Any], name: str, wanted: bool) -> None:
    """A name may be about an output with the same lists and words, and with numbers where it has ranges."""
    assert has_form(told, named(name)) == wanted


def test_breaks_are_at_all_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where as many noises are zero, or comparisons tight, as there are noises, a number may break."""
    one, zero = Fraction(1), Fraction(0)
    number = NoisyNumber({0: one, 1: Fraction(2)}, Fraction(5))
    region = {
        ((0, one),): Fraction(3),
        ((0, one), (1, one)): Fraction(4),
        ((1, one), (2, Fraction(3))): Fraction(7),
    }
    region |= {((0, one), (1, one), (2, one)): Fraction(9), ((3, one), (4, one)): one}
    rows = [
        ((1, 0, 0), 0),
        ((0, 1, 0), 0),
        ((0, 0, 1), 0),
        ((1, 0, 0), 3),
        ((1, 1, 0), 4),
        ((0, 1, 3), 7),
        ((1, 1, 1), 9),
    ]
    wanted = set()
    for chosen in combinations(rows, 3):
        (a, b, c), ends = zip(*chosen, strict=True)
        whole = determinant(a, b, c)
        if whole:
            at = [
                Fraction(
                    determinant(
                        *([*r[:k], end, *r[k + 1 :]] for r, end in zip((a, b, c), ends, strict=True))
                    ),
                    whole,
                )
                for k in range(3)
            ]
            wanted.add(5 + at[0] + 2 * at[1])
    breaks = Breaks()
    names = [named(f"{name}, <= 2, 0..1") for name in ("at 1", "o1 + o2 at 3", "o1 - o2 far above")] + [
        named("at 1")
    ]
    told = [number, Fraction(10), number]
    breaks.look(told, (region, []), names)
    first, total = ((1, one),), ((1, one), (2, one))
    assert breaks.found == {first: wanted, total: {value + 10 for value in wanted}}
    words = ["a", "b"]
    probes = breaks.probes(names[:2], words)
    sides = ("at", "just below", "just above")
    shown = [(v, s) for v in sorted(wanted) for s in sides if (v, s) != (1, "at")]
    assert list(probes)[: len(shown)] == [f"a, with value 1 {side} {value}" for value, side in shown]
    for (value, side), name in zip(shown, probes.values(), strict=False):
        assert (name.lists, name.entries) == (
            "...",
            (NumberRange(value, value, (), side), *names[0].entries[1:]),
        )
    monkeypatch.setattr(second_outputs, "MOST_PROBES", 5)
    assert len(breaks.probes(names[:1], words[:1])) == 5
    breaks.found = {first: {one, zero}}
    assert len(breaks.probes([names[0], names[3], names[0]], ["a", "b", "c"])) == 5
    monkeypatch.setattr(second_outputs, "MOST_PROBES", 99)
    twice = list(breaks.probes([names[0], named("at 1, <= 2, 0..1")], ["a", "c"]))
    assert twice == [
        f"a, with value 1 {side} {value}" for value in (0, 1) for side in sides if (value, side) != (1, "at")
    ]
    for most, count in ((3, 2), (2, 0)):
        monkeypatch.setattr(second_outputs, "MOST_NOISES", most)
        breaks = Breaks()
        breaks.look(told, (region, []), names)
        assert len(breaks.found) == count


def determinant(a: Sequence[int], b: Sequence[int], c: Sequence[int]) -> int:
    """Of three rows."""
    return sum(a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3]) for i in range(3))
