"""Each kind of mechanism at one point, as the second reader has it: against a few lines of brute force."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import prod
from typing import Any

import pytest

from paramverify.kernel.strict_reading import UnreadCase
from paramverify.rereader import second_mechanisms, second_processes
from paramverify.rereader.second_reader import SecondReader

F = Fraction
Words = dict[tuple[str, ...], Fraction]
EACH = '[neighbours]\ndiffer = "each"\n'
ANY = '[neighbours]\ndiffer = "each"\nby = "any"\n'
PRIOR = """[prior]
x = { bernoulli = "1/3" }
y = { given = "x", table = { 0 = { 0 = "1/2", 1 = "1/2" }, 1 = { 0 = "1/5", 1 = "4/5" } } }
[secrets]
one = "x == 1"
zero = "x == 0"
pairs = [["one", "zero"]]
"""
CHANCES = {"one": {(1, 0): F(1, 5), (1, 1): F(4, 5)}, "zero": {(0, 0): F(1, 2), (0, 1): F(1, 2)}}


def read(mechanism: str, rest: str = EACH, lengths: Sequence[int] = (1,)) -> dict[str, Words | None]:
    """What the second reader finds."""
    text = f"[mechanism]\n{mechanism}\n{rest}\n[privacy]\nratio = 3\n"
    return dict(SecondReader(text, None).masses({}, F(1), lengths).words)


def gathered(rows: Iterable[tuple[Any, Fraction]]) -> dict[Any, Fraction]:
    """Adds chances with the same key, without those that are zero."""
    found: dict[Any, Fraction] = {}
    for key, chance in rows:
        if chance:
            found[key] = found.get(key, F(0)) + chance
    return found


def mixed(weights: dict[tuple[int, ...], Fraction], words: Callable[..., Words]) -> Words:
    """The mean of what inputs lead to."""
    return gathered((w, p * q) for given, p in weights.items() for w, q in words(*given).items())


@cache
def noisy(value: int, a: Fraction, top: int, least: int = 0) -> dict[int, Fraction]:
    """Geometric noise that is cut off: its sum over all whole numbers, of which the last are known."""
    inner = ((min(max(value + k, least), top), (1 - a) / (1 + a) * a ** abs(k)) for k in range(-20, 21))
    return gathered((*inner, (least, a**21 / (1 + a)), (top, a**21 / (1 + a))))


# --- chains -----------------------------------------------------------------------------------------

MOVES = {"a": {"a": F(1, 3), "b": F(2, 3)}, "b": {"b": F(1, 4), "c": F(3, 4)}, "c": {"c": F(1)}}
SEEN = {"a": {"u": F(1, 5), "v": F(4, 5)}, "b": {"v": F(1)}, "c": {"u": F(3, 7), "w": F(4, 7)}}
FIRST = {"a": F(1, 2), "b": F(1, 2)}


def toml(name: str, rows: dict[str, dict[str, Fraction]]) -> str:
    """A table of tables."""
    return "".join(f"{name}.{s}.{t} = '{p}'\n" for s, row in rows.items() for t, p in row.items())


def walks(length: int) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    """All ways through states, each with its chance after the first state."""
    for way in product("abc", repeat=length):
        yield way, prod((MOVES[s].get(t, F(0)) for s, t in pairwise(way)), start=F(1))


def told(way: Sequence[str], rows: dict[str, dict[str, Fraction]]) -> Words:
    """What states put out."""
    each = product(*(rows[s].items() for s in way))
    return gathered((tuple(o for o, _ in seen), prod((p for _, p in seen), start=F(1))) for seen in each)


@pytest.mark.parametrize("moves", [True, False])
def test_tables(moves: bool) -> None:
    """A hidden Markov model from each state: the sum over all ways; without moves it stays where it is."""
    text = 'kind = "hmm"\nstates = ["a", "b", "c"]\nobservations = ["u", "v", "w"]\n' + toml(
        "emissions", SEEN
    )
    found = read(text + (toml("transitions", MOVES) if moves else ""), lengths=(2, 3))
    for start in "abc":
        ways = [w for n in (2, 3) for w in walks(n) if w[0][0] == start]
        ways = ways if moves else [((start,) * n, F(1)) for n in (2, 3)]
        assert found[start] == gathered((s, p * q) for way, p in ways for s, q in told(way, SEEN).items()), (
            start
        )


@pytest.mark.parametrize("day", [1, 2, 3])
@pytest.mark.parametrize("truth", ["", 'truth = "3/4"'])
def test_days(day: int, truth: str) -> None:
    """A time series under the state of a day is conditioned on it; a state that cannot be is impossible."""
    head = truth or 'observations = ["u", "v", "w"]'
    text = f'kind = "time_series"\nstates = ["a", "b", "c"]\n{head}\n{f"day = {day}" if day > 1 else ""}\n'
    text += toml("transitions", MOVES) + 'initial = { a = "1/2", b = "1/2", c = "0" }\n'
    rows = {s: {t: F(3, 4) if s == t else F(1, 8) for t in "abc"} for s in "abc"} if truth else SEEN
    found = read(text + ("" if truth else toml("emissions", SEEN)), lengths=(1, 3, 4))
    for state in "abc":
        wanted: Words = {}
        mass = F(0)
        for length in (1, 3, 4):
            longest = max(length, day)
            ways = [(w, FIRST.get(w[0], F(0)) * p) for w, p in walks(longest) if w[day - 1] == state]
            mass = sum((p for _, p in ways), F(0))
            if mass:
                wanted |= gathered(
                    (s, p * q / mass) for w, p in ways for s, q in told(w[:length], rows).items()
                )
        assert found[state] == (wanted if mass else None), state


# --- answers ----------------------------------------------------------------------------------------

HALF = 'noise = { truncated_geometric = "1/2", range = 2 }'
A = F(1, 2)


def named(row: dict[Any, Fraction]) -> Words:
    """An output in words."""
    return {(str(o),): p for o, p in row.items()}


def winners(first: bool, *given: int) -> Words:
    """The numbers of the largest noisy answers."""
    rows = []
    for draws in product(*(noisy(v, A, 2).items() for v in given)):
        values = [v for v, _ in draws]
        best = [k for k, v in enumerate(values) if v == max(values)][: 1 if first else None]
        rows += [((str(k + 1),), prod((p for _, p in draws), start=F(1)) / len(best)) for k in best]
    return gathered(rows)


def flipped(size: int, own: Fraction, value: int) -> Words:
    """Randomized response."""
    return {(str(v),): own if v == value else (1 - own) / (size - 1) for v in range(size)}


def times(count: int, words: Words) -> Words:
    """How often each output is there in so many answers."""
    rows = []
    for seen in product(sorted(words), repeat=count):
        counts = [f"{word[0]}:{seen.count(word)}" for word in sorted(words) if word in seen]
        rows.append(((" ".join(counts),), prod((words[word] for word in seen), start=F(1))))
    return gathered(rows)


def both(*rows: Words) -> Words:
    """Several answers of their own, as a tuple; an output with a comma has brackets."""
    names = [{(f"({w})" if ", " in w else w): p for (w,), p in row.items()} for row in rows]
    each = product(*(row.items() for row in names))
    return {(f"({', '.join(w for w, _ in way)})",): prod((p for _, p in way), start=F(1)) for way in each}


TABLE = 'table = { 0 = { no = "1" }, 1 = { yes = "1/4", no = "3/4" }, 2 = { yes = "1" } }'
INPUTS = '{ kind = "release", query = "a*b", inputs = { a = { values = "0..1" }, b = { values = "0..1" } } }'
ANSWERS: list[tuple[str, int, int, Callable[..., Words]]] = [  # inputs of so many answers below a number
    (f'kind = "geometric"\n{HALF}', 1, 3, lambda v: named(noisy(v, A, 2))),
    (
        f'kind = "geometric"\nlabels = {{ 0 = "low", 1 = "mid", 2 = "top" }}\n{HALF}',
        1,
        3,
        lambda v: named({("low", "mid", "top")[o]: p for o, p in noisy(v, A, 2).items()}),
    ),
    (
        'kind = "geometric"\nnoise = { table = [["1/3", "2/3", "0"], ["0", "1/4", "3/4"]] }',
        1,
        2,
        lambda v: named([{0: F(1, 3), 1: F(2, 3)}, {1: F(1, 4), 2: F(3, 4)}][v]),
    ),
    (f'kind = "noisy_max"\nqueries = 2\n{HALF}', 2, 3, lambda *v: winners(False, *v)),
    (f'kind = "noisy_max"\nqueries = 3\nties = "first"\n{HALF}', 3, 3, lambda *v: winners(True, *v)),
    (
        'kind = "randomized_response"\ntruth = "3/4"\nvalues = [0, 1, 2]',
        1,
        3,
        lambda v: flipped(3, F(3, 4), v),
    ),
    ('kind = "randomized_response"\ncoin = "1/5"', 1, 2, lambda v: flipped(2, F(3, 5), v)),
    (
        'kind = "randomized_response"\ntruth = "3/4"\ntimes = 3',
        1,
        2,
        lambda v: times(3, flipped(2, F(3, 4), v)),
    ),
    (
        f'kind = "release"\n{TABLE}',
        1,
        3,
        lambda v: named(gathered([("yes", F((0, 1, 4)[v], 4)), ("no", 1 - F((0, 1, 4)[v], 4))])),
    ),
    (
        f'kind = "release"\nquery = "a*b"\n{HALF}\n'
        'inputs = { a = { values = "0..1" }, b = { values = [0, 1, 2] } }',
        2,
        3,
        lambda a, b: named(noisy(a * b, A, 2)) if a < 2 else {},
    ),
    (
        'kind = "release"\nquery = "a > b"\ninputs = { a = { values = "0..1" }, b = { values = "0..1" } }',
        2,
        2,
        lambda a, b: {(str(int(a > b)),): F(1)},
    ),
    (
        'kind = "program"\nsource = "output(n + uniform(0, 1))"\ninputs = { n = { values = "0..2" } }',
        1,
        3,
        lambda n: named({n: A, n + 1: A}),
    ),
    (
        f'kind = "parts"\nparts = [{{ kind = "geometric", {HALF} }}]',
        1,
        3,
        lambda v: both(named(noisy(v, A, 2))),
    ),
    (
        f'kind = "parts"\nparts = [{{ kind = "noisy_max", queries = 2, {HALF} }}, '
        f'{{ kind = "noisy_max", queries = 2, ties = "first", {HALF} }}]',
        2,
        3,
        lambda *v: both(winners(False, *v), winners(True, *v)),
    ),
    (
        f'kind = "parts"\nparts = [{", ".join(2 * [INPUTS])}]',
        2,
        2,
        lambda a, b: both(*2 * [{(str(a * b),): F(1)}]),
    ),
]


@pytest.mark.parametrize("row", range(len(ANSWERS)))
def test_answers(row: int) -> None:
    """Every input of a mechanism that answers from it leads to the outputs of brute force."""
    mechanism, count, size, words = ANSWERS[row]
    found = read(mechanism, ANY)
    wanted = {given: words(*given) for given in product(range(size), repeat=count) if words(*given)}
    shown = {str(g[0]) if count == 1 else f"({', '.join(map(str, g))})": w for g, w in wanted.items()}
    assert found == shown


def part(*lines: str) -> str:
    return "\n".join(("[[mechanism.parts]]", *lines, ""))


PARTS: list[tuple[str, Callable[..., Words]]] = [  # of x and y under the prior
    (
        'kind = "noisy_max"\nqueries = ["0*x", "0*y"]\nties = "first"\nnoise = { table = [["1/4", "3/4"]] }',
        lambda x, y: {("1",): F(13, 16), ("2",): F(3, 16)},
    ),
    (
        'kind = "parts"\n'
        + part('kind = "release"', 'query = "x"')
        + part('kind = "release"', "query = 1")
        + part('kind = "geometric"', 'query = "y"', HALF)
        + part('kind = "program"', 'source = "output(uniform(1, 2))"', "inputs = {}"),
        lambda x, y: both({(str(x),): F(1)}, {("1",): F(1)}, named(noisy(y, A, 2)), named({1: A, 2: A})),
    ),
    (
        'kind = "parts"\n'
        + part('kind = "noisy_max"', 'queries = ["x + y", "y"]', HALF)
        + part('kind = "geometric"', 'query = "2*x"', HALF),
        lambda x, y: both(winners(False, x + y, y), named(noisy(2 * x, A, 2))),
    ),
    (
        'kind = "parts"\n'
        + part('kind = "release"', 'query = "x - y"')
        + part(
            'kind = "parts"', 'parts = [{ kind = "release", query = "x" }, { kind = "release", query = "y" }]'
        ),
        lambda x, y: both({(str(x - y),): F(1)}, both({(str(x),): F(1)}, {(str(y),): F(1)})),
    ),
]


@pytest.mark.parametrize("row", range(len(PARTS)))
def test_parts(row: int) -> None:
    """Each part answers about its own queries, and what is seen is a tuple."""
    text, words = PARTS[row]
    found = read(text, PRIOR)
    assert found == {name: mixed(weights, words) for name, weights in CHANCES.items()}


@cache
def crossings(level: int, *answers: int) -> Words:
    """Above threshold on fixed answers, until one is above or there are no more."""
    found: Words = {}
    for limit, p in noisy(level, F(1, 4), 2).items():
        for draws in product(*(noisy(v, A, 2).items() for v in answers)):
            signs = ["\u22a4" if v >= limit else "\u22a5" for v, _ in draws]
            above = signs.index("\u22a4") + 1 if "\u22a4" in signs else len(signs)
            word = (*signs[:above], *["end"] * (3 - above))[:3]
            found[word] = found.get(word, F(0)) + p * prod((q for _, q in draws), start=F(1))
    return found


THRESHOLD = f'kind = "above_threshold"\nquery_{HALF}\nthreshold_{HALF.replace("1/2", "1/4")}\n'


def test_thresholds() -> None:
    """Above threshold, with answers that follow from a prior, and with answers that an adversary chooses."""
    found = read(THRESHOLD + 'queries = ["x + y", "y"]\nthreshold = "1 + x"', PRIOR, (3,))
    wanted = {name: mixed(w, lambda x, y: crossings(1 + x, x + y, y)) for name, w in CHANCES.items()}
    assert found == wanted
    found = read(THRESHOLD + "threshold = [1, 2]", EACH, (3,))
    pairs = [(a, b) for a, b in product(range(3), repeat=2) if abs(a - b) <= 1]
    assert len(found) == 4
    for side, level in product(range(2), (1, 2)):
        rows: list[tuple[Any, Fraction]] = []
        for chosen in product(pairs, repeat=3):
            for word, chance in crossings(level, *(pair[side] for pair in chosen)).items():
                above = [s if s == "end" else f"{a}{b}{s}" for (a, b), s in zip(chosen, word, strict=True)]
                rows.append((tuple(above), chance / len(pairs) ** word.count("end")))
        assert found[f"{('left', 'right')[side]} answers, threshold {level}"] == gathered(rows)


# --- streams ----------------------------------------------------------------------------------------

State = Any
Turn = Callable[[State, Any], list[tuple[str, State, Fraction]]]  # None as a state: it has ended


def counting(state: State, x: int) -> list[tuple[str, State, Fraction]]:
    """A turn of the first program."""
    t, n = state
    n += x
    over = n > t
    rows = [(str(n), F(1, 3)), ("", F(2, 3))]
    return [
        (", ".join(filter(None, (w, "" if over else "below"))) or "(no output)", None if over else (t, n), p)
        for w, p in rows
    ]


STREAMS: list[tuple[str, list[Any], str, dict[State, Fraction], Turn]] = [
    (
        """def more(n, x):
    return n + x
t = uniform(0, 1)
n = 0
for x in stream(values="0..2"):
    for k in range(3):
        if k == 1:
            break
        n = more(n, x)
    while True:
        break
    if flip(1/3):
        output(n)
    if n > t:
        break
    output("below")
""",
        [0, 1, 2],
        "by = 1",
        {(0, 0): A, (1, 0): A},
        counting,
    ),
    (
        """last = [0, 0]
for x in stream(values=[0, 1/2]):
    last[1] = last[0]
    last[0] = x if flip(3/4) else 1
    output(last[1])
""",
        ["0", "(1/2)"],
        'by = "any"',
        {"0": F(1)},
        lambda last, x: [(last, x.strip("()"), F(3, 4)), (last, "1", F(1, 4))],
    ),
    (
        """a = [0, 1]
b = a
for x in stream(values=["no", "yes"]):
    output(b[1])
    if x == "yes":
        return a[0]
""",
        ["no", "yes"],
        'by = "any"',
        {0: F(1)},
        lambda state, x: [("1, 0", None, F(1))] if x == "yes" else [("1", state, F(1))],
    ),
]


@pytest.mark.parametrize("differ", ["each", "one"])
@pytest.mark.parametrize("row", range(len(STREAMS)))
def test_streams(row: int, differ: str) -> None:
    """Both streams of a program, entry after entry, with all that may be chosen for both of them."""
    source, values, by, first, turn = STREAMS[row]
    found = read(
        f"kind = 'program'\nsource = '''\n{source}'''", f"[neighbours]\ndiffer = '{differ}'\n{by}\n", (1, 3)
    )
    pairs = [(a, b) for a, b in product(values, repeat=2) if by != "by = 1" or abs(a - b) <= 1]
    for side, name in enumerate(("first stream", "second stream")):
        rows: list[tuple[Any, Fraction]] = []
        for length in (1, 3):
            ways: list[Any] = [((), 0, state, chance) for state, chance in first.items()]
            for _ in range(length):
                grown: list[Any] = []
                for word, apart, state, chance in ways:
                    if state is None:
                        grown.append(((*word, "end"), apart, None, chance))
                        continue
                    for pair in pairs:
                        more = apart + (pair[0] != pair[1])
                        if differ == "one" and more > 1:
                            continue
                        for seen, after, p in turn(state, pair[side]):
                            grown.append(((*word, f"{pair[0]}/{pair[1]}: {seen}"), more, after, chance * p))
                ways = grown
            rows += [(word, chance) for word, _, _, chance in ways]
        assert found[name] == gathered(rows)


# --- limits and mistakes ----------------------------------------------------------------------------

STREAM = 'kind = "program"\nsource = "for x in stream(values=[0, 1]):\\n    output(x)"\n'
UNREAD = {
    "noise of the form 'gauss and range'": 'kind = "geometric"\nnoise = { gauss = "1", range = 2 }',
    "mechanisms of kind 'other'": 'kind = "other"',
    "a stream with calls of other mechanisms": STREAM + '[mechanism.calls.f]\nkind = "release"',
    "the last statement is no loop over a stream": STREAM + '[define]\nstream = "range"',
}


@pytest.mark.parametrize("words", UNREAD)
def test_what_is_not_read(words: str) -> None:
    """What the second reader does not know is named."""
    with pytest.raises(UnreadCase, match=words):
        read(UNREAD[words])


MISTAKES = [
    'kind = "hmm"\nstates = ["a", "a"]\nobservations = ["u"]\nemissions.a.u = 1',
    'kind = "hmm"\nstates = ["a", 1]\nobservations = ["u"]\nemissions.a.u = 1\nemissions.1.u = 1',
    'kind = "hmm"\nstates = ["a"]\nobservations = ["u"]\nemissions.a.u = "1/2"',
    'kind = "hmm"\nstates = ["a"]\nobservations = ["u"]\nemissions.a = { u = 1, w = 0 }',
    'kind = "hmm"\nstates = ["a"]\nobservations = ["u", "v"]\nemissions.a = { u = 2, v = -1 }',
    'kind = "geometric"\nnoise = { table = [["1", "0"], ["1"]] }',
    'kind = "geometric"\nnoise = { table = [["1", "0"], ["1/2", "0"]] }',
    'kind = "geometric"\nnoise = { table = [["1", "0"], ["3/2", "-1/2"]] }',
    'kind = "randomized_response"\ntruth = "3/4"\nvalues = [0, 1, "1"]',
    f'kind = "geometric"\nlabels = {{ 0 = "a", 1 = "b", 2 = "a" }}\n{HALF}',
    'kind = "release"\ntable = { 1 = { a = 1 }, "1.0" = { a = 1 } }',
    'kind = "release"\ntable = { 1 = { "1" = "1/2", "1.0" = "1/2" } }',
    'kind = "parts"\n'
    'parts = [{ kind = "release", table = { 0 = { "(a" = "1/2", "a, (k" = "1/2" }, 1 = { a = 1 } } }, '
    '{ kind = "release", table = { 0 = { "k), v" = "1/2", "v)" = "1/2" }, 1 = { a = 1 } } }]',
    'kind = "hmm"\nlabels = { u = "v" }\nstates = ["a"]\nobservations = ["u"]\nemissions.a.u = 1',
]


@pytest.mark.parametrize("mechanism", MISTAKES)
def test_mistakes(mechanism: str) -> None:
    """Names that are not different texts, rows that are no distributions, and labels of two outputs."""
    with pytest.raises(ValueError, match=r"names|distribution|lengths|twice|labels|two (rows|tuples)"):
        read(mechanism)


RESPONSE, GEOMETRIC = (
    'kind = "randomized_response"\ntruth = "3/4"\n',
    f'parts = [{{ {HALF}, kind = "geometric" }}, {{ {HALF}, kind = "geometric" }}]',
)
LIMITS: list[tuple[str, str, str, int, int]] = [  # what there is too much of, and the most that is needed
    ("MAX_WAYS", "noisy max has too many answers", f'kind = "noisy_max"\nqueries = 2\n{HALF}', 1, 9),
    ("MAX_WAYS", "sequences", RESPONSE, 3, 8),
    ("MAX_WORK", "sequences", RESPONSE, 3, 28),
    ("MAX_WAYS", "counts of outputs", f"{RESPONSE}values = [0, 1, 2]\ntimes = 2", 1, 6),
    ("MAX_WORK", "too many", f"{RESPONSE}values = [0, 1, 2]\ntimes = 2", 1, 54),
    ("MAX_WAYS", "tuples of outputs", f'kind = "parts"\n{GEOMETRIC}', 1, 9),
    ("MAX_WORK", "too many", f'kind = "parts"\n{GEOMETRIC}', 1, 63),
]


@pytest.mark.parametrize(("limit", "words", "mechanism", "length", "needed"), LIMITS)
def test_limits(
    limit: str, words: str, mechanism: str, length: int, needed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As much as a limit allows is read, and one more is not."""
    for most in (needed, needed - 1):
        for module in (second_mechanisms, second_processes):
            monkeypatch.setattr(module, limit, most, raising=False)
        if most == needed:
            assert read(mechanism, lengths=(length,))
    with pytest.raises(UnreadCase, match=words):
        read(mechanism, lengths=(length,))


def test_memory_and_one_sequence() -> None:
    """With memory the first answer is repeated; one sequence that is asked for is as likely as among all."""
    for memory, names in product((True, False), (("0", "1"), ("always", "never"))):
        found = read(
            f'{RESPONSE}memory = {str(memory).lower()}\nvalues = ["{names[0]}", "{names[1]}"]', ANY, (1, 3)
        )
        for given in names:
            row = {(name,): F(3, 4) if name == given else F(1, 4) for name in names}
            threes = {a + b + c: row[a] * row[b] * row[c] for a, b, c in product(row, repeat=3)}
            assert found[given] == row | ({3 * word: p for word, p in row.items()} if memory else threes)
    text = '[mechanism]\nkind = "hmm"\nstates = ["a", "b", "c"]\nobservations = ["u", "v", "w"]\n'
    reader = SecondReader(text + toml("emissions", SEEN) + toml("transitions", MOVES) + EACH, None)
    every = reader.masses({}, F(1), [2]).words["a"]
    assert every
    for word in product("uvw", repeat=2):
        only = reader.masses({}, F(1), [2], ["a"], word).words
        assert only == {"a": {word: every[word]} if word in every else {}}
