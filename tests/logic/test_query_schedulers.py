"""D under query schedulers beyond Prop. 2: equal probabilities, periodic words, families."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from random import Random

import pytest
from flint import fmpq
from logic_models import moves_of, path_sum, random_chain, reached

from paramverify.algebra.domains import Domain
from paramverify.algebra.polynomials import Ring
from paramverify.cli.main import run
from paramverify.logic import scheduler_equivalence
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_grammar import read_property
from paramverify.logic.formula_syntax import Probability, instance
from paramverify.logic.logic_cases import LogicCase, load
from paramverify.logic.probability_comparisons import SchedulerChoice
from paramverify.logic.property_checking import FormulaResult, LogicSession
from paramverify.logic.scheduler_equivalence import Pattern, first_difference
from paramverify.models.chains.markov_chains import Chain
from paramverify.models.chains.state_relations import closed
from paramverify.portfolio.session import Session

Moves = Sequence[Sequence[Sequence[Fraction]]]  # state, action, successor

HEAD = '[model]\nkind = "mdp"\ninitial = ["s"]\n[neighbours]\npairs = [["s", "t"]]\n'
# Both copies move alike: a, then b reaches the goal with 1/3; without the goal's label the second one cannot.
COPIES = """
[states]
s = {{ to = {{ a = {{ s1 = "{p}", s = "1 - {p}" }}, b = {{ dead = "1" }} }} }}
s1 = {{ to = {{ a = {{ dead = "1" }}, b = {{ goal = "1/3", dead = "2/3" }} }} }}
t = {{ to = {{ a = {{ t1 = "{p}", t = "1 - {p}" }}, b = {{ dead = "1" }} }} }}
t1 = {{ to = {{ a = {{ dead = "1" }}, b = {{ end = "{q}", dead = "1 - {q}" }} }} }}
goal = {{ labels = ["goal"] }}
end = {{ labels = {end} }}
dead = {{ }}
"""


def copies(p: str = "1/2", q: str = "1/3", end: str = '["goal"]', extra: str = "") -> str:
    """A file of two copies."""
    return extra + HEAD + COPIES.format(p=p, q=q, end=end)


def check(
    session: Session, text: str, formula: str, tmp_path: Path, method: SchedulerChoice = SchedulerChoice.AUTO
) -> FormulaResult:
    """What the logic says about a formula."""
    path = tmp_path / "case.toml"
    path.write_text(text + f"[formulas]\nf = '{formula}'\n")
    case = load(path)
    return check_property(LogicSession(case, session, method), case.properties["f"])


@pytest.mark.parametrize(
    ("formula", "q", "end", "status"),
    [
        ("D{0, 0}[ F goal ]", "1/3", '["goal"]', "holds"),
        ("D{0, 0}[ G !goal ]", "1/3", '["goal"]', "holds"),
        ("D{0, 0}[ X F goal ]", "1/3", '["goal"]', "holds"),
        ("D{0, 0}[ F goal ]", "1/4", '["goal"]', "violated"),
        ("D{ln(3), 0}[ F goal ]", "1/9", '["goal"]', "unknown"),
        ("D{1, 0}[ F goal ]", "1/3", "[]", "violated"),
        ("D{1, 1/3}[ F goal ]", "1/3", "[]", "holds"),  # the largest probability is 1/3
        ("!D{1, 0}[ F goal ]", "1/3", "[]", "holds"),
        ("forall k: D{0, 0}[ true U=k goal ]", "1/3", '["goal"]', "holds"),
        ("forall k: D{0, 0}[ X (true U[k,k+2] goal) ]", "1/3", '["goal"]', "holds"),
        ("forall k: D{0, 0}[ true U[k,] goal ]", "1/3", '["goal"]', "holds"),
        ("forall k: D{0, 0}[ true U=k goal ]", "1/4", '["goal"]', "violated"),
    ],
)
def test_two_copies(formula: str, q: str, end: str, status: str, session: Session, tmp_path: Path) -> None:
    """Equal copies are equal, others are told apart by a word of actions, and what is open stays unknown."""
    assert check(session, copies(q=q, end=end), formula, tmp_path).status == status


def test_the_word_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The instance of the undecidability theorem: the word a b violates, with 1/6 against nothing."""
    path = tmp_path / "case.toml"
    path.write_text(copies(end="[]") + "[formulas]\nf = 'D{1, 0}[ F goal ]'\n")
    evidence = tmp_path / "evidence.json"
    assert run(["logic", str(path), "--evidence", str(evidence)]) == 1
    told = capsys.readouterr().out
    assert "with the neighbour t under the actions a b, then b again and again:" in told
    assert "1/6 (≈ 0.166667) is more than exp(1) (≈ 2.71828)·0 + 0." in told
    assert json.loads(evidence.read_text())["status"] == "violated"
    assert run(["check", str(evidence)]) == 0
    capsys.readouterr()
    assert run(["logic", str(path), "--json"]) == 1
    witness = json.loads(capsys.readouterr().out)["witness"]
    assert (witness["actions"], witness["repeated"], witness["probabilities"]) == (
        ["a", "b"],
        1,
        ["1/6", "0"],
    )


def test_proof_by_equivalence_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answer names the method, and the checker finds the equality again."""
    path = tmp_path / "case.toml"
    path.write_text(copies() + "[formulas]\nf = 'D{0, 0}[ F goal ]'\n")
    evidence = tmp_path / "evidence.json"
    assert run(["logic", str(path), "--evidence", str(evidence)]) == 0
    assert "equivalence of weighted automata" in capsys.readouterr().out
    assert json.loads(evidence.read_text())["status"] == "holds"
    assert run(["check", str(evidence), "--case", str(path)]) == 0


def test_equality_for_every_parameter(session: Session, tmp_path: Path) -> None:
    """With a parameter: equal as functions, or different at a point, also where they agree at another."""
    extra = '[parameters]\nc = "(0, 1)"\n'
    assert check(session, copies("c", extra=extra), "D{0, 0}[ F goal ]", tmp_path).status == "holds"
    assert (
        check(session, copies("c", extra=extra), "forall k: D{0, 0}[ F=k goal ]", tmp_path).status == "holds"
    )
    assert check(session, copies("exp(-1)"), "D{0, 0}[ F goal ]", tmp_path).status == "holds"
    assert check(session, copies("exp(-1)", "1/4"), "D{0, 0}[ F goal ]", tmp_path).status == "violated"
    result = check(session, copies("c", "c", extra=extra), "D{0, 0}[ F goal ]", tmp_path)
    assert result.counterexample is not None
    assert result.counterexample.parameters["c"] != Fraction(1, 3)


def test_a_delay_is_no_difference(session: Session, tmp_path: Path) -> None:
    """The goal is reached in one step or in two: equal, though finite words tell the states apart."""
    text = HEAD + (
        '[states]\ns = { to = { "*" = { goal = "1" } } }\nt = { to = { "*" = { u = "1" } } }\n'
        'u = { to = { a = { goal = "1" }, b = { v = "1" } } }\nv = { to = { "*" = { goal = "1" } } }\n'
        'goal = { labels = ["goal"] }\n'
    )
    assert check(session, text, "D{0, 0}[ F goal ]", tmp_path).status == "holds"
    assert check(session, text, "forall k: D{0, 0}[ F=k goal ]", tmp_path).status == "violated"


def test_a_coin_against_choices_that_cancel(session: Session, tmp_path: Path) -> None:
    """Schedulers that see the state reach 0 and 1, but every word of actions reaches 1/2, like a coin."""
    text = HEAD + (
        '[states]\ns = { to = { "*" = { u = "1/2", v = "1/2" } } }\n'
        'u = { to = { a = { goal = "1" }, b = { dead = "1" } } }\n'
        'v = { to = { a = { dead = "1" }, b = { goal = "1" } } }\n'
        't = { to = { "*" = { goal = "1/2", dead = "1/2" } } }\ngoal = { labels = ["goal"] }\ndead = { }\n'
    )
    assert check(session, text, "D{0, 0}[ F goal ]", tmp_path).status == "holds"
    assert check(session, text, "D{0, 0}[ F goal ]", tmp_path, SchedulerChoice.SUFFICIENT).status == "unknown"


def test_a_difference_far_out(session: Session, tmp_path: Path) -> None:
    """A family whose members differ first at k = 14 is looked at up to there."""
    lines = [f's{k} = {{ to = {{ "*" = {{ s{k + 1} = "1" }} }} }}' for k in range(1, 14)]
    text = HEAD + "\n".join(
        (
            '[states]\ns = { to = { a = { s1 = "1" }, b = { dead = "1" } } }',
            *lines,
            's14 = { labels = ["goal"] }',
            't = { to = { "*" = { dead = "1" } } }',
            "dead = { }\n",
        )
    )
    result = check(session, text, "forall k: D{0, 0}[ F=k goal ]", tmp_path)
    assert result.counterexample is not None
    assert result.counterexample.index == 14
    chain = load(tmp_path / "case.toml").chain
    s, t = chain.states.index("s"), chain.states.index("t")
    everywhere = frozenset(range(len(chain.states)))
    assert first_difference(chain, Pattern(0, 0, 0, everywhere, chain.labels["goal"]), (s, t), 0) == 14
    assert first_difference(chain, Pattern(1, 2, 1, everywhere, chain.labels["goal"]), (s, t), 3) == 10
    # Until the goal the path has to stay on the left side, also in the last steps.
    almost = everywhere - {chain.states.index("s13")}
    assert first_difference(chain, Pattern(0, 0, 5, everywhere, chain.labels["goal"]), (s, t), 0) == 9
    assert first_difference(chain, Pattern(0, 0, 5, almost, chain.labels["goal"]), (s, t), 0) is None
    assert first_difference(chain, Pattern(0, 0, None, everywhere, chain.labels["goal"]), (s, t), 0) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("formula", "second"), [("D{1, 0}[ F goal ]", "0"), ("D{0, 0}[ F goal ]", "1/3")])
def test_long_words(
    formula: str, second: str, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A goal behind 21 steps with fatal wrong actions: the way there, or the difference, is found."""
    lines = ["[states]"]
    for copy, last in (("s", "1"), ("t", second)):
        names = [copy, *(f"{copy}{k}" for k in range(1, 21))]
        for k, (name, after) in enumerate(pairwise(names)):
            good, bad = ("a", "b") if k % 3 else ("b", "a")
            step = f'{good} = {{ {after} = "1/2", {name} = "1/2" }}, {bad} = {{ dead = "1" }}'
            lines.append(f"{name} = {{ to = {{ {step} }} }}")
        row = f'goal = "{last}", dead = "1 - {last}"'
        lines.append(f'{names[-1]} = {{ to = {{ "*" = {{ {row} }} }} }}')
    text = HEAD + "\n".join([*lines, 'goal = { labels = ["goal"] }', "dead = { }\n"])
    example = check(session, text, formula, tmp_path).counterexample
    assert example is not None
    assert len(example.actions) > 20
    # 19 steps must succeed at once, each with 1/2; the last one is repeated until it does.
    assert example.probabilities is not None
    values = [p.rational for p in example.probabilities]
    assert values == [Fraction(1, 2**19), Fraction(1, 2**19) * Fraction(second)]
    assert along(load(tmp_path / "case.toml").chain, example.actions, example.repeated) == values
    if second == "0":  # also by the graph alone
        monkeypatch.setattr(scheduler_equivalence.Effort.__init__, "__defaults__", (3,))
        assert check(session, text, formula, tmp_path).status == "violated"


def along(chain: Chain, actions: Sequence[str], repeated: int) -> list[Fraction]:
    """The probabilities of `F goal` from s and t: those of what is repeated, then step by step backwards."""
    moves, word = moves_of(chain), [chain.actions.index(name) for name in actions]
    goal, everything = set(chain.labels["goal"]), set(range(len(chain.states)))
    values = under_word(moves, word[len(word) - repeated :], repeated, everything, goal)
    for action in reversed(word[: len(word) - repeated]):
        values = [
            Fraction(s in goal)
            or sum((p * v for p, v in zip(moves[s][action], values, strict=True)), Fraction(0))
            for s in range(len(moves))
        ]
    return [values[chain.states.index(name)] for name in "st"]


def under_word(
    moves: Moves, word: Sequence[int], repeated: int, stay: set[int], goal: set[int]
) -> list[Fraction]:
    """The probability of `stay U goal` from each state under a word whose last actions go on forever.

    The places of the word are part of the state.
    """
    size, length = len(moves), len(word)
    rows: list[dict[int, Fraction]] = []
    for s in range(size):
        for i in range(length):
            after = i + 1 if i + 1 < length else length - repeated
            rows.append({t * length + after: p for t, p in enumerate(moves[s][word[i]]) if p})

    def places(states: set[int]) -> set[int]:
        return {s * length + i for s in states for i in range(length)}

    return reached(rows, places(goal), places(stay))[::length]


def doubled(chain: Chain, random: Random) -> Chain:
    """A chain with a second copy of each state, in which entries of rows are split between both copies."""
    size = len(chain.states)

    def split(row: tuple[tuple[int, fmpq], ...]) -> tuple[tuple[int, fmpq], ...]:
        found = []
        for t, p in row:
            part = fmpq(random.randint(0, 2), 2)
            found += [(t, p * part), (t + size, p * (1 - part))]
        return tuple((t, p) for t, p in found if p)

    rows = tuple(tuple(map(split, rows)) for rows in (*chain.rows, *chain.rows))
    labels = {name: frozenset({*where, *(s + size for s in where)}) for name, where in chain.labels.items()}
    names = (*chain.states, *(f"{name}'" for name in chain.states))
    return Chain(names, chain.actions, rows, tuple(range(size)), labels, {}, Domain(Ring(), {}))


@pytest.mark.slow
@pytest.mark.parametrize("twins", [True, False])
def test_random_processes_against_words(twins: bool, session: Session) -> None:
    """D{0, 0} of unbounded formulas: what holds is kept by all short words, what fails fails at its word."""
    random = Random(17 if twins else 18)
    statuses = []
    for _ in range(12 if twins else 25):
        chain = random_chain(random, 3, ("l", "h"))
        size = len(chain.states)
        if twins:
            chain = doubled(chain, random)
        pair = (0, size) if twins else (0, 1)
        path = random.choice(("a U b", "F b", "G a") if twins else ("a U b",))
        case = LogicCase("", "", "random", chain, closed([pair]), {})
        result = check_property(LogicSession(case, session), read_property(f"D{{0, 0}}[ {path} ]"))
        statuses.append(result.status)
        everything = set(range(len(chain.states)))
        a, b = set(chain.labels["a"]), set(chain.labels["b"])
        stay, goal = {"a U b": (a, b), "F b": (everything, b), "G a": (everything, everything - a)}[path]
        moves = moves_of(chain)
        if result.status == "holds":
            for length in range(1, 4):
                for word in product(range(2), repeat=length):
                    values = under_word(moves, word, random.choice((1, length)), stay, goal)
                    assert values[pair[0]] == values[pair[1]]
        elif result.counterexample is not None:
            example = result.counterexample
            assert example.probabilities is not None
            word = tuple(chain.actions.index(name) for name in example.actions)
            values = under_word(moves, word, example.repeated, stay, goal)
            if path == "G a":
                values = [1 - v for v in values]
            told = [values[chain.states.index(str(name))] for name in (example.state, example.neighbour)]
            assert [p.rational for p in example.probabilities] == told
            assert told[0] > told[1]
    assert statuses.count("unknown") == 0
    assert (statuses.count("violated") == 0) if twins else (statuses.count("violated") > 4)


@pytest.mark.slow
@pytest.mark.parametrize("twins", [True, False])
def test_random_families_against_words(twins: bool, session: Session) -> None:
    """The first k at which some word tells two states apart is the one that trying all words finds."""
    random = Random(23 if twins else 24)
    found = []
    count = 4 if twins else 18
    for _ in range(count):
        chain = random_chain(random, 2 if twins else 3, ("l", "h"))
        size = len(chain.states)
        if twins:
            chain = doubled(chain, random)
        pair = (0, size) if twins else (0, 1)
        a, b = chain.labels["a"], chain.labels["b"]
        before, offset, more = random.choice((0, 1)), random.choice((0, 1)), random.choice((0, 1))
        grows = random.random() < 0.5
        pattern = Pattern(before, offset, more, a, b, grows)
        steps = f"[{offset},k+{offset + more}]" if grows else f"[k+{offset},k+{offset + more}]"
        path = read_property(f"forall k: P>=0 [ {'X ' * before}(a U{steps} b) ]").formula
        assert isinstance(path, Probability)
        first = None
        for k in range(3):
            formula = instance(path.path, {"k": k})
            length = before + k + offset + more
            values = (
                [path_sum(chain, formula, state, (*word, 0)) for state in pair]
                for word in product(range(2), repeat=length)
            )
            if any(x != y for x, y in values):
                first = k
                break
        least = first_difference(chain, pattern, pair, 0)
        assert first == least if first is not None else least is None or least > 2
        found.append(first)
    assert found.count(None) == count if twins else sum(k is not None for k in found) > 6


def test_too_large_spaces_are_unknown(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the spaces of vectors are too large, nothing is said to hold."""
    monkeypatch.setattr(scheduler_equivalence.Effort.__init__, "__defaults__", (3,))
    assert check(session, copies(), "D{0, 0}[ F goal ]", tmp_path).status == "unknown"
    monkeypatch.undo()
    monkeypatch.setattr(scheduler_equivalence, "MAX_NODES", 6)  # of seven
    assert check(session, copies(), "D{0, 0}[ F goal ]", tmp_path).status == "unknown"
    monkeypatch.setattr(scheduler_equivalence, "MAX_NODES", 7)
    assert check(session, copies(), "D{0, 0}[ F goal ]", tmp_path).status == "holds"
