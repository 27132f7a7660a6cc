"""The parts of the kernel on automata beside brute force over all samples and shifts."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from automaton_documents import (
    SHIFTS,
    Data,
    comparisons,
    corners,
    machine_of,
    random_machine,
    state,
    step,
    ways,
)
from oracle_tools import put

from paramverify.kernel import automaton_runs
from paramverify.kernel.automaton_costs import (
    _check_link,
    _demand,
    _possible,
    bounded_by_length,
    bounded_by_tables,
)
from paramverify.kernel.automaton_costs import _table as _table_of
from paramverify.kernel.automaton_runs import FIRST, explore, machine, outputs_differ, runs_out, walk
from paramverify.kernel.strict_reading import Rejected


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(2))
@pytest.mark.parametrize("whole", [False, True])
def test_what_is_possible(whole: bool, chunk: int) -> None:
    """After each way the kernel finds the transitions that are possible, and finds where there are two."""
    refused = told = confused = 0
    for seed in range(150 * chunk, 150 * chunk + 150):
        data = random_machine(random.Random(seed), whole)
        read, bad, same = machine(data), False, False
        orders = None
        for steps, following in ways(data, 4):
            order = FIRST
            for number in steps:
                order = walk(read, order, number)
            if following is None:
                bad = True
                with pytest.raises(Rejected):
                    list(read.following(order))
                with pytest.raises(Rejected):
                    explore(read)
                continue
            assert [number for number, _ in read.following(order)] == following
            for number in (-1, *range(len(read.steps) + 1)):
                if number not in following:
                    with pytest.raises(Rejected):
                        walk(read, order, number)
            words = [data["transitions"][n]["output"].rstrip("'") for n in following]
            same = same or len(set(words)) < len(words)
            told += 1
            try:
                orders = explore(read) if orders is None else orders
            except Rejected:  # a longer way
                bad = True
            assert bad or order in (orders or ())
        refused += bad
        if not bad and same:
            confused += 1
            with pytest.raises(Rejected, match="have the same output"):
                outputs_differ(read)
    assert refused > 6
    assert told > 120
    assert confused > 0


ONE = machine_of([state(second=["1/7", "2"]), state()], [step(0, 1, "insample'", stored=[0])])
TWO = machine_of(
    [state(second=["1/7", "2"]), state()],
    [step(0, 1, "a", stored=[0], strict=[]), step(1, 1, "b", below=[0], strict=[0])],
)


def test_machines() -> None:
    """A machine has the numbers of its document."""
    (first, second), whole = machine(ONE).states, machine(TWO)
    assert (first.second, first.second_mean) == (Fraction(1, 7), 2)
    assert (second.second, second.second_mean) == (0, 0)
    assert whole.whole
    assert whole.steps[1].apart == {0}
    for reads in (True, False):
        read = machine(put(ONE, "states", 0, "reads", reads))
        assert read.second_cost(read.steps[0]) == (Fraction(1, 7) if reads else 0)
    with pytest.raises(Rejected, match="transition 1 is possible together with another one"):
        explore(machine(machine_of([state()], [step(0, 0, "a"), step(0, 0, "b")])))


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (data, path)
        for data in (ONE, TWO)
        for path in [
            ("states", 0, "rate", "0"),
            ("states", 1, "rate", "-1"),
            ("states", 0, "second", ["-1", "0"]),
            ("transitions", 0, "source", 2),
            ("transitions", 0, "target", 2),
            ("transitions", 0, "source", -1),
            ("transitions", 0, "target", -1),
            *(("transitions", 0, name, [v]) for name in ("above", "below", "stored") for v in (1, -1)),
            ("states", 1, "name", "q0"),
        ]
    ]
    + [
        (ONE | {"transitions": []}, ("states", [])),
        (ONE, ("transitions", 0, "strict", [])),
        (ONE, ("states", 0, "second", None)),
        (ONE, ("states", [])),
        (TWO, ("transitions", 0, "strict", [0])),
        (TWO, ("states", 0, "mean", "1/2")),
        (TWO, ("states", 0, "second", ["1/7", "1/2"])),
    ],
)
def test_machines_that_are_none(data: Data, path: tuple[Any, ...]) -> None:
    """Rates are positive, and every number of a state or a variable is one of the document."""
    with pytest.raises(Rejected):
        machine(put(data, *path))


def test_what_is_strict_stays_so() -> None:
    """A sample that may be equal to both of two values does not make them equal."""
    steps = [
        step(0, 1, "a", stored=[0], strict=[]),
        step(1, 2, "b", above=[0], stored=[1], strict=[0]),
        step(2, 3, "c", above=[0], below=[1], strict=[]),
        step(3, 3, "d", above=[1], below=[0], strict=[]),
    ]
    for above, first, second in (([], [], []), ([], [], [0]), ([], [], [1]), ([0], [0], []), ([0], [], [])):
        steps[1] |= {"above": above, "strict": first}
        steps[2]["strict"] = second
        data = machine_of([state()] * 4, steps, 2)
        order = walk(machine(data), FIRST, 0, 1, 2)
        told = dict(ways(data, 4))[0, 1, 2]
        assert [number for number, _ in machine(data).following(order)] == told
        assert told == ([] if first or second else [3])
    steps = [step(0, 1, "a", stored=[0, 1], strict=[]), step(1, 1, "b", above=[0], below=[1], strict=[])]
    assert walk(machine(machine_of([state()] * 2, steps, 2)), FIRST, 0).apart == set()


@pytest.mark.parametrize("whole", [False, True])
def test_where_no_guard_is_true(whole: bool) -> None:
    """After two values 1 < 3, a sample is tried below, at, between and above them."""
    sides: list[Any] = [([], [0]), ([0], [1]), ([1], []), ([0], []), ([], [1]), ([], [])]
    for chosen in itertools.chain(*(itertools.combinations(sides, k) for k in range(4))):
        for apart in itertools.product([False, True], repeat=len(chosen) if whole else 0):
            stored = [step(0, 1, "a", stored=[0]), step(1, 2, "b", above=[0], stored=[1])]
            guards = [step(2, 2, "c", above=above, below=below) for above, below in chosen]
            if whole:
                stored[0]["strict"], stored[1]["strict"] = [], [0]
                for guard, strict in zip(guards, apart, strict=True):
                    guard["strict"] = [*guard["above"], *guard["below"]] if strict else []
            true = [
                any(
                    all((1, 3)[v] < x or (x == (1, 3)[v] and not g.get("strict", [])) for v in g["above"])
                    and all(x < (1, 3)[v] or (x == (1, 3)[v] and not g.get("strict", [])) for v in g["below"])
                    for g in guards
                )
                for x in ((0, 1, 2, 3, 4) if whole else (0, 2, 4))
            ]
            read = machine(machine_of([state()] * 3, stored + guards, 2))
            assert runs_out(read, walk(read, FIRST, 0, 1)) != all(true), (chosen, apart)


def test_many_values_at_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many values are compared with a sample, and of more it is said that no guard may be true."""
    pairs = [([0], []), ([], [0, 1]), ([1], [0])]  # above 0; below both; between
    stored = [step(0, 1, "a", stored=[0]), step(1, 2, "b", stored=[1])]
    guards = [step(2, 2, "c", above=above, below=below) for above, below in pairs]
    read = machine(machine_of([state()] * 3, stored + guards, 2))
    for most in (1, 2):
        monkeypatch.setattr(automaton_runs, "MAX_COMPARED", most)
        assert runs_out(read, walk(read, FIRST, 0, 1)) == (most == 1)


def test_guards_of_two_steps() -> None:
    """Two guards may be true at once iff they are for whole numbers, in each order of two values."""
    points = [(*values, x) for values in ((2, 2), (2, 4), (4, 2)) for x in range(1, 6)]
    guards = []
    for sides in itertools.product(itertools.product(((), (1,), (-1,), (1, -1)), (False, True)), repeat=2):
        above, below = (frozenset(v for v in (0, 1) if sign in sides[v][0]) for sign in (1, -1))
        apart = frozenset(v for v in (0, 1) if sides[v][1])
        asked = [(v, sign, sides[v][1]) for v in (0, 1) for sign in sides[v][0]]
        true = {p for p in points if all((p[2] - p[v]) * sign >= strict for v, sign, strict in asked)}
        guards.append((automaton_runs.RunTransition(0, 0, "", above, below, frozenset(), apart), true))
    for known, strict in (([], False), ([(0, 1)], False), ([(0, 1)], True)):
        order = automaton_runs.Order(
            0, frozenset({0, 1}), frozenset(known), frozenset(known if strict else ())
        )
        left = {p for p in points if not known or p[1] - p[0] >= strict}
        for (one, first), (other, second) in itertools.combinations_with_replacement(guards, 2):
            assert automaton_runs.fits([one, other], order) == bool(first & second & left)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_what_is_compared_much_later(first: int) -> None:
    """A value is known until it is compared for the last time, in whichever order transitions are written."""
    steps = [step(0, 1, "a", stored=[0]), step(1, 2, "b"), step(2, 3, "c"), step(3, 0, "d", below=[0])]
    read = machine(machine_of([state()] * 4, steps[first:] + steps[:first]))
    orders = {order.state: order.known for order in explore(read)}
    assert orders == {0: set(), 1: {0}, 2: {0}, 3: {0}}


@pytest.mark.parametrize("side", ["above", "below"])
def test_values_that_are_not_there(side: str) -> None:
    """A guard that may be reached compares values that were stored, whatever was stored beside them."""
    for variable, stored in itertools.product((0, 1), ([], [0], [1], [0, 1])):
        steps = [step(0, 1, "a", stored=stored), step(1, 1, "b", **{side: [variable]})]
        read = machine(machine_of([state(), state()], steps, 2))
        if variable in stored:
            assert len(explore(read)) == 2
            continue
        with pytest.raises(Rejected, match="transition 1 compares a variable that has no value"):
            explore(read)


def test_too_many_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many orders are explored, and not one more."""
    read = machine(machine_of([state(), state()], [step(0, 1, "a"), step(1, 0, "b")]))
    monkeypatch.setattr(automaton_runs, "MAX_ORDERS", 2)
    assert len(explore(read)) == 2
    monkeypatch.setattr(automaton_runs, "MAX_ORDERS", 1)
    with pytest.raises(Rejected, match="too many"):
        explore(read)


def random_demand(generator: random.Random, weight: Fraction, variables: int = 2) -> Data:
    """A demand as data: some bounds and some pairs."""
    bounds = [
        [v, *sorted(generator.choices(SHIFTS, k=2))] for v in range(variables) if generator.random() < 0.5
    ]
    pairs = [[x, y] for x, y in itertools.permutations(range(variables), 2) if generator.random() < 0.35]
    return {"class": 0, "bounds": bounds, "pairs": pairs, "weight": str(weight)}


def points(data: Data, variables: int) -> list[tuple[int, ...]]:
    """All shifts of a demand."""
    return [
        p
        for p in itertools.product(SHIFTS, repeat=variables)
        if all(low <= p[v] <= high for v, low, high in data["bounds"])
        and all(p[x] <= p[y] for x, y in data["pairs"])
    ]


def closed(data: Data, variables: int) -> Data:
    """The same shifts with all that is known of them."""
    found = points(data, variables)
    return data | {
        "bounds": [[v, min(p[v] for p in found), max(p[v] for p in found)] for v in range(variables)],
        "pairs": [
            [x, y] for x, y in itertools.permutations(range(variables), 2) if all(p[x] <= p[y] for p in found)
        ],
    }


def test_demands_with_shifts() -> None:
    """A demand has shifts iff some are in its bounds and pairs."""
    for seed in range(1500):
        data = random_demand(random.Random(seed), Fraction(0), 3)
        assert _possible(_demand(data, 3, 1)) == bool(points(data, 3)), data


def test_what_a_demand_says_of_shifts() -> None:
    """What a demand says is so for all its shifts, and one that is written in full says all that is so."""
    shifts: list[Any] = [0, 1, 2, *((shift,) for shift in SHIFTS)]
    for seed in range(200):
        data = random_demand(random.Random(seed), Fraction(0), 3)
        found = points(data, 3)
        demands = (_demand(data, 3, 1), _demand(closed(data, 3), 3, 1)) if found else ()
        for one, other in itertools.product(shifts, repeat=2):
            values = [[p[x] if isinstance(x, int) else x[0] for x in (one, other)] for p in found]
            true = all(low <= high for low, high in values)
            assert [demand.at_most(one, other) <= true for demand in demands] == [True] * len(demands)
            assert not demands or demands[1].at_most(one, other) == true


BAD_DEMANDS = [
    {"class": 1},
    {"class": -1},
    {"weight": "-1/9"},
    {"bounds": [[2, 0, 0]]},
    {"bounds": [[-1, 0, 0]]},
    {"bounds": [[0, 0, 0], [0, 0, 0]]},
    {"bounds": [[0, 1, 0]]},
    {"bounds": [[0, -2, 0]]},
    {"bounds": [[0, 0, 2]]},
    {"pairs": [[0, 2]]},
    {"pairs": [[-1, 0]]},
]


@pytest.mark.parametrize("change", BAD_DEMANDS)
def test_demands_that_are_none(change: Data) -> None:
    """Bounds, variables, classes and weights are of their form."""
    right = {"class": 0, "bounds": [[0, -1, 1], [1, 0, 0]], "pairs": [[0, 1]], "weight": "0"}
    assert _demand(right, 2, 1).weight == 0
    with pytest.raises(Rejected):
        _demand(right | change, 2, 1)


def accepted_link(data: Data, now: Any, later: Any, level: int) -> bool:
    """Whether the kernel accepts a link along the only edge."""
    read = machine(data)
    try:
        _check_link(read, _demand(now, 2, 2), _demand(later, 2, 2), (0, 1, 0), level)
    except Rejected:
        return False
    return True


def right_link(data: Data, now: Data, later: Data, level: int) -> bool:
    """Whether from all shifts, and for each difference, some shift of the sample leads on at this cost."""
    chosen, source = data["transitions"][0], data["states"][0]
    signs = (-1, 1) if source["reads"] else (0,)
    paid = Fraction(source["rate"]) * level
    if chosen["output"] == "insample'" and source["reads"]:
        paid += Fraction(source["second"][0])
    if (now["class"], later["class"]) != (0, 1) or not 0 <= level <= 1 + source["reads"]:
        return False
    ends = set(points(later, 2))

    def leads(p: tuple[int, ...], sign: int, shift: int) -> bool:
        after = tuple(shift if v in chosen["stored"] else p[v] for v in range(2))
        kept = all(p[v] <= shift for v in chosen["above"]) and all(shift <= p[v] for v in chosen["below"])
        return kept and abs(shift - sign) <= level and after in ends

    shifts = (0,) if chosen["output"] == "insample" else SHIFTS
    moved = all(any(leads(p, d, s) for s in shifts) for p in points(now, 2) for d in signs)
    return moved and Fraction(now["weight"]) >= paid + Fraction(later["weight"])


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(2))
def test_links(chunk: int) -> None:
    """A link is accepted iff brute force over all shifts accepts it; demands say all that follows."""
    counts = {True: 0, False: 0}
    for seed in range(1500 * chunk, 1500 * chunk + 1500):
        generator = random.Random(seed)
        source = state(generator.random() < 0.6, "1/2", second=["1/3", "0"])
        sides = {n: [v for v in (0, 1) if generator.random() < 0.3] for n in ("above", "below", "stored")}
        output = generator.choice(["a", "a", "insample", "insample'"])
        data = machine_of([source, state()], [step(0, 1, output, **sides)], 2)
        later = random_demand(generator, generator.choice([Fraction(0), Fraction(1, 7)]))
        now = random_demand(
            generator, generator.choice([Fraction(k, 42) for k in (0, 6, 14, 20, 21, 35, 42, 62)])
        )
        if not points(now, 2) or not points(later, 2):
            continue
        now, later = closed(now, 2), later | {"class": generator.choice([1, 1, 1, 1, 0])}
        now["class"] = generator.choice([0, 0, 0, 0, 1])
        level = generator.choice([-1, 0, 0, 1, 1, 1, 2, 2, 3])
        right = right_link(data, now, later, level)
        assert accepted_link(data, now, later, level) == right, (data, now, later, level)
        counts[right] += 1
    assert min(counts.values()) > 20


def tree_of_tables(data: Data, most: int) -> tuple[Data, dict[int, Fraction], int]:
    """All ways of fewer than `most` steps, each a class, with the largest exact costs for all shifts."""
    nodes = [steps for steps, _ in ways(data, most)]
    places = {steps: k for k, steps in enumerate(nodes)}
    tables, edges = [], []
    needed: dict[int, Fraction] = {}
    for steps in nodes:
        if steps:
            edges.append([places[steps[:-1]], places[steps], steps[-1]])
        held: dict[int, int] = {}
        for place, number in enumerate(steps):
            held |= dict.fromkeys(data["transitions"][number]["stored"], place)
        names = sorted(held)
        found = {
            tuple(_table(data, steps, signs, [held[v] for v in names])) for signs in corners(data, steps)
        }
        largest = [t for t in found if not any(t != other and _above(other, t) for other in found)]
        count = sum(data["states"][data["transitions"][n]["source"]]["reads"] for n in steps)
        for table in largest:
            signs = map("".join, itertools.product("-0+", repeat=len(names)))
            costs = {word: str(c) for word, c in zip(signs, table, strict=True) if c is not None}
            tables.append({"class": places[steps], "variables": names, "costs": costs, "read": count})
            needed[count] = max(needed.get(count, Fraction(0)), min(c for c in table if c is not None))
    parts = {"classes": [0] * len(nodes), "edges": edges, "tables": tables}
    return parts, needed, len(nodes)


def _above(one: Any, other: Any) -> bool:
    return all(a is None or (b is not None and a >= b) for a, b in zip(one, other, strict=True))


def _table(data: Data, steps: Any, signs: Any, holders: list[int]) -> list[Fraction | None]:
    known = [data["transitions"][n] for n in steps]
    order, found = comparisons(data, steps), dict[tuple[int, ...], Fraction]()
    for shifts in itertools.product(*[(0,) if s["output"] == "insample" else SHIFTS for s in known]):
        if all(shifts[low] <= shifts[high] for low, high, _ in order):
            key, paid = tuple(shifts[k] for k in holders), Fraction(0)
            for chosen, s, d in zip(known, shifts, signs, strict=True):
                source = data["states"][chosen["source"]]
                paid += Fraction(source["rate"]) * abs(s - d)
                paid += Fraction(source["second"][0]) * abs(d) if chosen["output"] == "insample'" else 0
            found[key] = min(found.get(key, paid), paid)
    return [found.get(key) for key in itertools.product(SHIFTS, repeat=len(holders))]


def bounded(data: Data, proof: Data, lengths: bool) -> bool:
    """Whether the kernel accepts tables."""
    try:
        edges = [tuple(edge) for edge in proof["edges"]]
        if lengths:
            bounded_by_length(machine(data), proof, edges, None, one=False)
        else:
            tables = [{k: v for k, v in table.items() if k != "read"} for table in proof["tables"]]
            bounded_by_tables(machine(data), proof | {"tables": tables}, edges)
    except Rejected:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(1))
def test_tables(chunk: int) -> None:
    """Exact tables of all short ways are accepted; one smaller number, or one table less, is not."""
    smaller = tried = 0
    for seed in range(10 * chunk, 10 * chunk + 10):
        generator = random.Random(seed)
        data = random_machine(generator, bool(seed % 2))
        if any(following is None for _, following in ways(data, 4)):
            continue
        proof, needed, size = tree_of_tables(data, 4)
        if size > 8:
            continue
        tried += 1
        budgets = [
            {"length": n, "multiple": str(max(c for k, c in needed.items() if k <= n))}
            for n in range(max(needed) + 1)
            if any(k <= n for k in needed)
        ]
        whole = {**proof, "multiple": str(max(needed.values())), "budgets": budgets}
        for lengths in (False, True):
            assert bounded(data, whole, lengths)
        less = Fraction(whole["multiple"]) - Fraction(1, 9)
        assert not bounded(data, whole | {"multiple": str(less)}, False)
        for k, budget in enumerate(budgets):
            changed = [
                *budgets[:k],
                budget | {"multiple": str(Fraction(budget["multiple"]) - Fraction(1, 9))},
            ]
            assert not bounded(data, whole | {"budgets": changed + budgets[k + 1 :]}, True)
        for k, table in enumerate(proof["tables"]):
            others = proof["tables"][:k], proof["tables"][k + 1 :]
            changes = [[], [table | {"variables": [*table["variables"], 0]}]]
            for signs, number in table["costs"].items():
                costs = table["costs"] | {signs: str(Fraction(number) - Fraction(1, 9))}
                changes.append([table | {"costs": costs}])
            changes.append([table | {"read": table["read"] - 10}])
            changes.append([table | {"costs": {signs + "0": c for signs, c in table["costs"].items()}}])
            changes.append([table | {"costs": {}}])
            for number, change in enumerate(changes):
                forged = whole | {"tables": [*others[0], *change, *others[1]]}
                assert not bounded(data, forged, True), (data, table, change)
                if number != len(changes) - 3:
                    assert not bounded(data, forged, False)
                smaller += 1
    assert tried > 0
    assert smaller > 10


BAD_TABLES = [
    {"variables": [0, 0], "costs": {"00": "0"}},
    {"costs": {"": "0"}},
    {"costs": {"0": "0", "00": "0"}},
    {"costs": {"x": "0"}},
    {"read": -1},
]


@pytest.mark.parametrize("change", BAD_TABLES)
def test_tables_that_are_none(change: Data) -> None:
    """A cost of a table has one sign for each of its variables."""
    right = {"class": 0, "variables": [0], "costs": {"-": "0", "+": "1"}, "read": 0}
    assert _table_of(right).costs == {(-1,): 0, (1,): 1}
    with pytest.raises(Rejected):
        _table_of(right | change)
