"""Programs: probabilities against plain enumeration by Python itself, sums, and integrals."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from program_oracle import Distribution, Maker, Oracle, proved
from strategies import FEW

from paramverify.errors import ProgramError
from paramverify.models.programs import program_running
from paramverify.models.programs import run_states as program_values
from paramverify.models.programs.output_intervals import shown_output
from paramverify.models.programs.run_states import Plain

ALPHA = Fraction(1, 4)
REACH = 8  # noise beyond it has the weight 4 ** -8 or so
INPUTS = ([0, 1], [1, -1], [0, 0], [-1, 2])


def _differ(first: Distribution, second: Distribution) -> Fraction:
    return max(abs(first.get(k, Fraction(0)) - second.get(k, Fraction(0))) for k in {*first, *second})


def _given(seed: int) -> list[list[int]]:
    r = random.Random(seed)
    return [[r.randint(-1, 1), r.randint(-1, 2)] for _ in range(2)]


def _accepted(text: str, inputs: list[list[int]], point: dict[str, Fraction]) -> list[Distribution]:
    """Leaves out the few programs that are refused; Hypothesis complains if they are many."""
    try:
        return proved(text, inputs, point)
    except ProgramError:
        assume(False)
        raise


@pytest.mark.slow
@FEW
@given(st.integers(0, 10**9))
def test_finite_programs_equal_enumeration(seed: int) -> None:
    """Each output of a program with finite choices has exactly the probability that enumeration gives."""
    text, inputs = Maker(seed, noise=False).text(), _given(seed)
    for found, values in zip(_accepted(text, inputs, {}), inputs, strict=True):
        assert found == Oracle(ALPHA, REACH).distribution(text, {"q": values})


@pytest.mark.slow
@settings(max_examples=12, derandomize=True)  # one in hundreds takes minutes to enumerate
@given(st.integers(0, 10**9))
def test_programs_with_noise_equal_truncated_sums(seed: int) -> None:
    """Unbounded geometric noise gives the sums over all values; cutting these off changes next to nothing."""
    text, inputs = Maker(seed, noise=True).text(), _given(seed)[:1]
    (found,) = _accepted(text, inputs, {"a": ALPHA})
    assert sum(found.values()) == 1
    wanted = Oracle(ALPHA, REACH).distribution(text, {"q": inputs[0]})
    assert _differ(found, wanted) <= Fraction(30, 4**REACH)


TEXTS = {
    "integers as in Python": """
for x in [-7, -3, 0, 3, 7]:
    for y in [-3, -2, 2, 3]:
        output([x // y, x % y, x * y, -x // y])
""",
    "True is 1, and is told as True": """
output(True + True)
output(abs(True))
output(+True)
output(-True)
output(max(True, 1))
output(max(1, True))
output(sum([True, True]))
output(True == 1)
output([True] == [1])
output(True)
output(1)
""",
    "and, or give the part that decides": """
output(2 and 3)
output(0 and 3)
output(0 or 5)
output("" or "x")
output(2 or 3)
output(q[0] == 0 and q[1])
output([] or 7)
""",
    "chains": """
n = uniform(-1, 2)
output(0 <= n < 2 <= 2)
output(0 < n == 1)
output(n in [0, 1] == True)
""",
    "indices and parts": """
r = [1, 2, 3, 4]
k = uniform(0, 3)
output([r[-1], r[-4], r[k], r[-k]])
output(r[1:])
output(r[:-1])
output(r[k:3])
output(r[-2:-1])
output(r[5:])
output([[1, 2], [3]][k // 2][0])
""",
    "lists that are changed": """
r = [0, 0, 0]
for k in range(len(r)):
    r[k] = r[k - 1] + k
    r[k] += 1
b = [[1, 2], [3, 4]]
b[0][1] = 7
b[-1][0] -= 2
c = r + []
c[0] = 9
output([r, b, c])
output(r == c)
output(3 in r)
output([3, 2] in b)
output("x" not in r)
""",
    "loops": """
n = 0
for k in range(5, -5, -2):
    if k == 1:
        continue
    if k < -2:
        break
    n += k
while n < 20:
    n = n * 2 + 1
    if flip(1/2):
        break
else_ = k
output([n, else_])
for x, y in [[1, 2], [3, 4]]:
    output(x * y)
for x in []:
    output("never")
""",
    "functions": """
def total(values):
    s = 0
    for v in values:
        if v < 0:
            return "negative"
        s = s + v
    return s
def pair(x):
    if flip(1/4):
        return x, 1
    return 0, x
s = total(q)
c, d = pair(s)
c, d = d, c
output([c, d, s])
""",
    "noise that is compared entry by entry": """
x = uniform(0, 1) + one_sided_geometric(a)
output([x, 0] == [1, 0])
output([1, 1] != [x, 1])
output(x in [0, 2])
y = min([x, 2, q[1] + 1])
output(clamp(y, -1, 2))
""",
    "entries of lists are swapped": """
def both(x):
    return x + 1, x
r = [1, 2, 3, one_sided_geometric(a)]
j = uniform(0, 1)
r[j], r[j + 1] = r[j + 1], r[j]
output(r[:3])
j, r[j], c = 2, 8, 7
r[j], r[0] = both(r[0])
output(r[:3])
b = [[1, 2], [3, 4]]
b[0][1], b[1][0], r[-1] = b[1][0], b[0][1], clamp(r[3], 0, 2)
output([b, c, r[3]])
""",
    "values of choice are calculated": """
output(choice({1/2: 1/4, -1/2: 1/4, 3 * 2 - 1: 1/4, -(1 + 1) / 4 + 1/4: 1/4}))
""",
    "differences of noise are released": """
x = one_sided_geometric(a)
y = one_sided_geometric(a)
output(clamp(q[0] + x - y, -1, 1))
if x - y > 0 and x <= y + 3:
    output(2 * x - 2 * y)
""",
    "halves of differences of noise are released": """
x = one_sided_geometric(a)
y = one_sided_geometric(a)
output(clamp((y - x) / 2 + 1/4, -1, 2))
""",
    "half numbers with noise are released": """
x = one_sided_geometric(a)
output(clamp(x / 2, 0, 1))
y = clamp(x / 2 + 1/4, 0, 1)
output(y if y >= q[0] else [clamp(1/2 - x / 4, -1/2, 1/2)])
""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_meaning_is_that_of_python(name: str) -> None:
    """The same text gives the same outputs as Python, each with its probability."""
    for values in INPUTS:
        (found,) = proved(TEXTS[name], [values], {"a": ALPHA})
        wanted = Oracle(ALPHA, 14).distribution(TEXTS[name], {"q": values})
        bound = Fraction(3, 4**14) if "geometric" in TEXTS[name] else 0
        assert _differ(found, wanted) <= bound


@pytest.mark.slow
def test_what_is_forgotten_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs have the same result where no variable is ever forgotten."""
    texts = [Maker(seed, noise=seed % 3 == 0).text() for seed in range(12)]
    usual = [proved(text, INPUTS[:1], {"a": ALPHA}) for text in texts]

    for module in (program_running, program_values):
        monkeypatch.setattr(module, "forgotten", lambda known, live: dict(known))
    assert usual == [proved(text, INPUTS[:1], {"a": ALPHA}) for text in texts]


VALUES: st.SearchStrategy[Plain] = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-3, 3).map(Fraction),
        st.fractions(max_denominator=3),
        st.text(max_size=4),
        st.sampled_from(["1", "True", "[1]", "a, b", "(no output)", "no output", "1/2", " a", "a ", '"']),
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)


@FEW
@given(st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3))
def test_outputs_are_told_apart(first: list[Plain], second: list[Plain]) -> None:
    """Different outputs have different names: a label "1" is not the number, nor is True."""
    assert (shown_output(first) == shown_output(second)) == (repr(first) == repr(second))


MEETINGS = (
    "a >= b",
    "a + b <= 0",
    "c > a",
    "abs(a - b) <= 1",
    "max(a, c) == b",
    "b + c >= a",
    "a - b + c > 0",
)


@pytest.mark.slow
def test_noise_that_meets_in_several_ways() -> None:
    """Three noises that are compared in pairs, and their sums: the answer is right, or it is a refusal.

    A comparison that stayed behind with the number of a noise that was replaced once spoke of another noise.
    """
    r = random.Random(4)
    answered = 0
    for _ in range(12):
        chosen = r.sample(MEETINGS, 3)
        lines = ["a = geometric(1/4)", "b = 2 * q[0] + geometric(1/4)", "c = geometric(1/4)"]
        lines += [f"k{i} = {test}" for i, test in enumerate(chosen)]
        text = "\n".join([*lines, *(f"output(k{i})" for i in r.sample(range(3), 3))])
        try:
            (found,) = proved(text, [[1, 0]], {})
        except ProgramError:
            continue
        answered += 1
        if answered > 3:
            break
        wanted = Oracle(ALPHA, REACH).distribution(text, {"q": [1, 0]})
        assert _differ(found, wanted) < Fraction(1, 2**12), text
    assert answered


@pytest.mark.parametrize("other", ["q[0]", "geometric(1/2)"])
def test_labels_that_look_like_numbers(other: str) -> None:
    """A number is never compared with the label that looks like it: both answers would surprise somebody."""
    with pytest.raises(ProgramError, match='the label "1", which never equals it: write 1 without quotes'):
        proved(f'x = {other}\noutput(x == "1")', [[1, 0]], {})
    (found,) = proved('output(q[0] == "one")', [[1, 0]], {})
    assert found == Oracle(ALPHA, REACH).distribution('output(q[0] == "one")', {"q": [1, 0]})
