"""Whole noise on numbers that are not whole: other grids are other outputs; limits that are zero."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from paramverify import loads
from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.polynomials import Ring
from paramverify.models.context import Checks
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.program_running import outputs_of
from paramverify.models.programs.run_states import OutputInterval, Outputs, Unread, holds

NUMBERS = [Fraction(n, 6) for n in (0, 2, 3, 6, 9, 14)]
REACH = 4


def rows_of(text: str, numbers: list[Fraction]) -> list[dict[str, Outputs]]:
    """Returns for each input the observations that are possible, by their names."""
    checks = Checks(box_domain(Ring(), dict[str, Interval]()))
    rows = outputs_of(read_program(text), {"n": Unread(0)}, [(n,) for n in numbers], checks)
    return [{shown_output(outputs): outputs for outputs, _ in row} for row in rows]


FORMS = {
    "output(n + geometric(1/4))": lambda n, v, w: (n + v,),
    "output(1/3 - 2*geometric(1/4) - n)": lambda n, v, w: (Fraction(1, 3) - 2 * v - n,),
    "z = n + geometric(1/4)\noutput(z)\noutput(z + n/2 + geometric(1/4))": lambda n, v, w: (
        n + v,
        n + v + n / 2 + w,
    ),
    "z = geometric(1/4)\noutput(n + z)\noutput(n - z)": lambda n, v, w: (n + v, n - v),
    "output([n + geometric(1/4), 1/2])": lambda n, v, w: ((n + v, Fraction(1, 2)),),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", FORMS)
def test_outputs_are_in_one_set_of_their_own_input(text: str) -> None:
    rows = rows_of(text, NUMBERS)
    for number, row in zip(NUMBERS, rows, strict=True):
        for v, w in product(range(-REACH, REACH + 1), repeat=2):
            outputs = FORMS[text](number, Fraction(v), Fraction(w))
            inside = {
                name for known in rows for name, observation in known.items() if holds(observation, outputs)
            }
            assert [name in row for name in inside] == [True], (number, outputs, inside)


@pytest.mark.parametrize("step", [1, 2])
def test_inputs_share_names_where_they_share_outputs(step: int) -> None:
    rows = rows_of(f"output(n + {step}*geometric(1/4))", NUMBERS)
    for (x, mine), (y, theirs) in product(zip(NUMBERS, rows, strict=True), repeat=2):
        assert bool(mine.keys() & theirs.keys()) == ((x - y) % step == 0), (x, y)


@pytest.mark.parametrize("rates", [("1/4", "1/16"), ("1/16", "1/4"), ("1/3", "1/5")])
def test_a_limit_may_be_zero_under_one_input(rates: tuple[str, str]) -> None:
    text = f"if n > 0:\n    output(n + geometric({rates[0]}))\nelse:\n    output(n + geometric({rates[1]}))"
    without, with_one = rows_of(text, [Fraction(0), Fraction(1)])
    slow = with_one if Fraction(rates[0]) > Fraction(rates[1]) else without
    fast = without if slow is with_one else with_one
    assert {"far above", "far below"} <= slow.keys() - fast.keys()


PLACES = [
    OutputInterval(low, low, of, side)
    for of in ((), ((1, Fraction(-1)), (2, Fraction(1))))
    for low, sides in ((None, ("far below", "far above")), (Fraction(-3), ("at", "just below", "just above")))
    for side in sides
]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_labels_do_not_look_like_places(place: OutputInterval) -> None:
    assert shown_output((str(place),)) == f'"{place}"' != shown_output((place,))


def test_a_label_is_told_apart_from_a_limit() -> None:
    text = 'if n > 0 and flip(1/2):\n    output("far above")\n    stop\n'
    text += "output(n + geometric(1/4) - geometric(1/4))"
    zero, one = rows_of(text, [Fraction(0), Fraction(1)])
    assert {"far above"} <= zero.keys() & one.keys()
    assert '"far above"' in one.keys() - zero.keys()


def test_a_limit_that_is_zero_is_not_called_impossible() -> None:
    source = "if n > 0:\n    output(n + geometric(1/16))\nelse:\n    output(n + geometric(1/4))"
    found = loads(
        f'[mechanism]\nkind = "program"\nsource = """\n{source}\n"""\n[mechanism.inputs]\n'
        'n = { values = "0..1" }\n[neighbours]\ndiffer = "one"\n[privacy]\nratio = "1000"\n'
    ).verify()
    assert str(found).startswith("not private")
    assert "output 8 is 69632/25 (2785.28) times as likely under '0' as under '1'" in str(found)
    assert "At 'far above' the ratio tends to infinity" in str(found)
    assert "impossible" not in str(found)
    assert "impossible" not in str(found)
