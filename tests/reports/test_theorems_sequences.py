"""Theorems about many sequences, about what an adversary chooses, and about bounds by distance."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from tools.theorem_tools import ROOT, THEORIES, about, case_of, needs_coq, refusals

from paramverify.kernel.claim_evidence import check_claim
from paramverify.reports.theorems.coq_certificates import with_wider_logarithms
from paramverify.tables import toml_data

CASES = {
    "above-threshold-prior-all": "closed_theorem evidence model invariant secrets ratio",
    "time-series-2-40-days": "levels_theorem evidence model [1; 2; 3;",
    "programs/stream-first-answer": "every_length_theorem evidence model invariant secrets ratio",
    "programs/geometric-metric": "distances_theorem evidence model [1]%nat bounds",
    "two noises": "lengths_theorem evidence model [1]%nat secrets ratio",
}
TWO_NOISES = """
[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
source = '''
output("above" if x + laplace(2 / eps) + laplace(2 / eps) >= 1 else "below")
'''
[mechanism.inputs]
x = { values = "0..1" }
[neighbours]
differ = "each"
[privacy]
epsilon = "eps"
"""


def text_of(name: str) -> str:
    """Returns the text of a shipped case, of one with fewer days, or of one whose claims have a logarithm."""
    if name == "two noises":
        return TWO_NOISES
    return (ROOT / "cases" / f"{name}.toml").read_text().replace('"1..40"', '"1..20"')


@cache
def file_about(name: str) -> str:
    """Returns the file about a shipped case."""
    return about(case_of(text_of(name)))


@needs_coq
@pytest.mark.slow
def test_coq_accepts_and_rejects(tmp_path: Path) -> None:
    """Coq accepts theorems by the certificates of the verdicts, but no length more and no other logarithm.

    A parameter beside its own exponential is the logarithm that the certificate means.
    """
    files = {name: file_about(name) for name in CASES}
    for name, text in files.items():
        assert CASES[name] in text
    more = files["time-series-2-40-days"].replace("20]%nat", "20; 21]%nat")
    text = files["two noises"]
    step = re.search(r"- ln x_eps / \((.*?)\)", text)
    assert step
    assert (
        f"x_eps stands for exp(-eps{'' if step[1] == '1' else step[1].lstrip('1 ').replace(' ', '')})" in text
    )
    smaller = text.replace("(1 / (x_eps", "(9 / 10 / (x_eps")
    assert smaller.count("9 / 10") == 2
    other = text.replace(f"- ln x_eps / ({step[1]})", "- ln x_eps / (1 / 64)")
    wider = re.sub(r"Goal\.Log 1 0 \(.*?\)", "Goal.Log 1 0 (1 # 64)", text)
    assert text not in (other, wider)
    found = refusals([*files.values(), more, smaller, other, wider], tmp_path)
    assert found == [*[""] * len(files), "Qed.", "Qed.", "- by_domain.", "- by_domain."]


# --- what Coq says of other definitions with the same certificate --------------------------------------


def asked(name: str, tests: Mapping[str, tuple[Callable[[str], str], bool]], tmp_path: Path) -> None:
    """Has Coq say whether changed files show their theorems: all of them in one process.

    Each test has a change of the file and what Coq must answer.
    """
    own = file_about(name).partition("Theorem private")[0]
    head, _, body = own.partition("From Paramverify Require Import Theorems.\n")
    found = re.search(r"refine \((\w+)_theorem evidence (.*) _ \[", file_about(name))
    assert head
    assert found
    words = found[2].replace(" secrets ratio", " ratio secrets")
    call = {
        "closed": f"keeps_closed evidence {words}",
        "levels": f"keeps_levels evidence {words}",
        "every_length": f"certified evidence (fun K => keeps_every_length K {words})",
        "lengths": f"certified evidence (fun K => keeps_lengths K {words})",
        "distances": "certified evidence (fun K => forallb (fun b => keeps_lengths K "
        f"{words.removesuffix(' bounds')} (fst b) (snd b)) bounds)",
    }[found[1]]
    lines = ["From Paramverify Require Import Theorems."]
    for k, (what, (change, shown)) in enumerate(tests.items()):
        changed = change(body)
        assert (changed == body) == (what == "nothing"), what
        answer = str(shown).lower()
        goal = f"Goal {call} = {answer}. vm_cast_no_check (eq_refl {answer}). Qed."
        lines += [f"Module M{k}. (* {what} *)", changed, goal, f"End M{k}."]
    (tmp_path / "asked.v").write_text("\n".join(lines))
    command = ["coqc", "-Q", str(THEORIES), "Paramverify", "asked.v"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def changing(old: str, new: str) -> Callable[[str], str]:
    """Returns the change of the first place of a text."""
    return lambda text: text.replace(old, new, 1)


def a_number(text: str) -> str:
    """Changes the first number of a certificate that is not a count: an entry of the first vector."""
    return re.sub(r'(of \d+ \["\d+ )(\d+)', lambda m: f"{m[1]}{int(m[2]) + 1}", text, count=1)


SAME = (lambda text: text, True)


@needs_coq
@pytest.mark.slow
def test_coq_rejects_other_rays(tmp_path: Path) -> None:
    """Neither a smaller bound, other steps, other secrets, a wider domain nor other rays are shown."""
    asked(
        "above-threshold-prior-all",
        {
            "nothing": SAME,
            "a bound beyond": (changing("expression := (8)", "expression := (91 / 20)"), False),
            "a step": (changing("(0, 3, 1, ((5 / 6))", "(0, 3, 1, ((1 / 100))"), False),
            "a step that is negative": (changing("(0, 3, 1, ((5 / 6))", "(0, 3, 1, ((0 - 5 / 6))"), False),
            "a step with a parameter": (changing("(0, 3, 1, ((5 / 6))", "(0, 3, 1, (p)"), False),
            "a symbol": (changing("symbols := 3", "symbols := 2"), True),  # then less is said
            "the domain": (changing("(1 # 4)%Q (3 # 4)%Q", "(0 # 4)%Q (9 # 4)%Q"), False),
            "rays": (a_number, False),
            "no rays": (lambda text: re.sub(r'rays_of 17 \["\d+', 'rays_of 17 ["3', text), False),
        },
        tmp_path,
    )


@needs_coq
@pytest.mark.slow
def test_coq_rejects_other_vectors(tmp_path: Path) -> None:
    """Neither a smaller bound, other steps, nor other vectors are shown; and no length more."""
    asked(
        "time-series-2-40-days",
        {
            "nothing": SAME,
            "a bound beyond": (changing("expression := (6)", "expression := (379 / 100)"), False),
            "transitions": (changing("[(3 / 5); (2 / 5)]", "[(9 / 10); (1 / 10)]"), False),
            "emissions": (changing("truthful 2 ((3 / 4))", "truthful 2 ((4 / 5))"), False),
            "vectors": (a_number, False),
        },
        tmp_path,
    )


@needs_coq
@pytest.mark.slow
def test_coq_rejects_other_bounds_by_distance(tmp_path: Path) -> None:
    """A pair with the bound of a smaller distance is not shown."""
    pair = "(weights_of [(0%nat, (1)%case)], weights_of [(2%nat, (1)%case)])"
    other = "(weights_of [(0%nat, (1)%case)], weights_of [(3%nat, (1)%case)])"
    first = "(weights_of [(0%nat, (1)%case)], weights_of [(1%nat, (1)%case)])"
    assert all(words in file_about("geometric-metric") for words in (pair, other, first))
    asked(
        "geometric-metric",
        {
            "nothing": SAME,
            "a pair that is further away": (changing(first, pair), False),
            "a pair that is nearer": (changing(pair, first), True),
            "a smaller bound": (changing("((2)%case", "((19 / 10)%case"), False),
        },
        tmp_path,
    )


def test_wider_enclosures_are_of_the_same_claim() -> None:
    """Enclosures are widened only where the claim is shown with them."""
    domain = {
        "variables": ["x", "eps"],
        "box": {"x": "[1/2, 1)"},
        "constraints": [],
        "ties": {"eps": ["x", "1"]},
    }
    fine = str(Fraction(1, 2**80))
    cell = {"terms": 20, "enclosure": ["0", fine], "proof": {"kind": "bernstein", "tree": ["+"]}}
    proof = {"kind": "logarithm", "variable": "eps", "cuts": [], "parts": [cell]}
    polynomial = "eps - 1 + x"
    check_claim({**domain, "polynomial": polynomial}, proof)
    found = with_wider_logarithms({"domain": domain, "polynomial": polynomial}, proof)
    assert found["parts"][0]["enclosure"] == ["0", str(Fraction(1, 2**24))]
    check_claim({**domain, "polynomial": polynomial}, found)
    tight = f"1 - x + {Fraction(1, 2**60)} - eps + 10*(1-x)^2"
    assert with_wider_logarithms({"domain": domain, "polynomial": tight}, proof) == proof


# --- what files say, and what the cases say ------------------------------------------------------------


def number(text: str, point: Mapping[str, Fraction]) -> Fraction:
    """Returns the value of an expression of a file."""
    plain = text.replace("%case", "").replace("%nat", "").replace("^", "**")
    return Fraction(eval(re.sub(r"\b(\d+)\b", r"F(\1)", plain), {"F": Fraction, **point}))


def steps_of(text: str, point: Mapping[str, Fraction]) -> dict[tuple[int, int], dict[int, Fraction]]:
    """Returns the steps of a model that is written out: next states by symbol and state."""
    found: dict[tuple[int, int], dict[int, Fraction]] = {}
    for line in re.findall(r"^   ?\[?\((\d+, \d+, \d+, .*)\)%nat", text, re.MULTILINE):
        symbol, state, after, weight = line.split(", ", 3)
        found.setdefault((int(symbol), int(state)), {})[int(after)] = number(weight, point)
    return found


def starts_of(text: str, point: Mapping[str, Fraction]) -> Iterator[dict[int, Fraction]]:
    """Yields the weights of the states, secret by secret."""
    for listed in re.findall(r"weights_of \[(.*?)\]", text):
        entries = re.findall(r"\((\d+)%nat, (.*?)%case\)(?:; |$)", listed)
        yield {int(state): number(weight, point) for state, weight in entries}


def symbols_of(text: str) -> list[str]:
    """Returns the names of the symbols."""
    told = re.search(r"Symbols have numbers \(0: (.*)\)\. \*\)", text)
    assert told
    return re.split(r", \d+: ", told[1])


def chance(
    steps: Mapping[tuple[int, int], Mapping[int, Fraction]], start: Mapping[int, Fraction], word: list[int]
) -> Fraction:
    """Returns the probability of a word."""
    mass = sum(start.values())
    now = dict(start)
    for symbol in word:
        after: dict[int, Fraction] = {}
        for state, weight in now.items():
            for successor, share in steps.get((symbol, state), {}).items():
                after[successor] = after.get(successor, Fraction(0)) + weight * share
        now = after
    return sum(now.values()) / mass


@pytest.mark.slow
@pytest.mark.parametrize("first_only", [True, False])
def test_chosen_streams_are_those_of_the_program(first_only: bool) -> None:
    """The model gives outputs the probabilities of the program, for the entries that symbols say."""
    text = file_about("programs/stream-first-answer" if first_only else "programs/stream-fresh-answers")
    assert "An adversary chooses the inputs of the mechanism" in text
    p = Fraction(4, 5) if first_only else Fraction(3, 4)
    steps = steps_of(text, {"p": p})
    places = {name: k for k, name in enumerate(symbols_of(text))}
    sides = list(starts_of(text, {}))

    def by_program(stream: tuple[int, ...], outputs: tuple[int, ...]) -> Fraction:
        if first_only:
            told = p if outputs[0] == stream[0] else 1 - p
            return told if len(set(outputs)) == 1 else Fraction(0)
        found = Fraction(1)
        for x, y in zip(stream, outputs, strict=True):
            found *= p if x == y else 1 - p
        return found

    seen = 0
    for left, right, outputs in product(product((0, 1), repeat=2), repeat=3):
        names = [f"{a}/{b}: {y}" for a, b, y in zip(left, right, outputs, strict=True)]
        if first_only or sum(a != b for a, b in zip(left, right, strict=True)) <= 1:
            word = [places[name] for name in names]
            assert chance(steps, sides[0], word) == by_program(left, outputs)
            assert chance(steps, sides[1], word) == by_program(right, outputs)
            seen += 1
    assert seen == (64 if first_only else 48)


def truncated(alpha: Fraction, top: int, f: int) -> dict[int, Fraction]:
    """Truncated geometric noise on 0..top."""
    return {
        o: (1 if o in (0, top) else 1 - alpha) * alpha ** abs(o - f) / (1 + alpha) for o in range(top + 1)
    }


@pytest.mark.slow
def test_sequences_of_above_threshold_are_those_of_the_mechanism() -> None:
    """The model with states that behave alike as one gives sequences the probabilities of the mechanism."""
    text = file_about("above-threshold-prior-all")
    assert "States that behave alike are one state here." in text
    point = {"p": Fraction(1, 3), "q": Fraction(2, 5), "t": Fraction(3, 4)}
    steps, sides = steps_of(text, point), list(starts_of(text, point))
    assert symbols_of(text) == ["⊥", "⊤", "end"]

    def answers(john: int, word: tuple[int, ...]) -> Fraction:
        total = Fraction(0)
        for other, high in product((0, 1), repeat=2):
            weight = (point["q"] if other else 1 - point["q"]) * (point["t"] if high else 1 - point["t"])
            for threshold, share in truncated(Fraction(1, 4), 2, 1 + high).items():
                chance_here, stopped = weight * share, False
                for k, symbol in enumerate(word):
                    if stopped or k >= 3:
                        chance_here *= symbol == 2
                        continue
                    query = john + other if k < 2 else john
                    noisy = truncated(Fraction(1, 2), 2, query)
                    over = sum((w for o, w in noisy.items() if o >= threshold), Fraction(0))
                    chance_here *= {0: 1 - over, 1: over, 2: Fraction(0)}[symbol]
                    stopped = symbol == 1
                total += chance_here
        return total

    for word in product(range(3), repeat=4):
        assert [chance(steps, side, list(word)) for side in sides] == [answers(1, word), answers(0, word)]


ONE_SIDED = """
[mechanism]
kind = "hmm"
states = ["a", "b", "c"]
observations = ["x", "y", "z"]
[mechanism.emissions]
a = { x = "1/2", y = "1/2" }
b = { x = "2/3", z = "1/3" }
c = { x = "1/4", y = "1/4", z = "1/2" }
[mechanism.transitions]
a = { a = "1/2", c = "1/2" }
b = { b = "1/3", c = "2/3" }
c = { c = "1" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
ratio = "40"
length = "1..3"
one_sided = "ignored"
"""


def test_sequences_of_one_side_are_left_out() -> None:
    """With a side condition, what one secret makes impossible is left out, and nothing else."""
    case = case_of(ONE_SIDED)
    text = about(case)
    assert "every sequence of 1, 2 or 3 outputs that both secrets of a pair allow" in text
    assert "A sequence that is impossible under one secret of a pair is left out under both" in text
    data = toml_data(ONE_SIDED)["mechanism"]
    names, outputs = data["states"], data["observations"]
    own = {
        (o, s): {
            t: Fraction(data["emissions"][name].get(output, 0))
            * Fraction(data["transitions"][name].get(to, 0))
            for t, to in enumerate(names)
        }
        for s, name in enumerate(names)
        for o, output in enumerate(outputs)
    }
    steps, sides = steps_of(text, {}), list(starts_of(text, {}))
    assert symbols_of(text) == outputs
    left_out = 0
    for length in (1, 2, 3):
        for word in product(range(3), repeat=length):
            expected = [chance(own, {start: Fraction(1)}, list(word)) for start in (0, 1)]
            if not all(expected):
                left_out += any(expected)
                expected = [Fraction(0), Fraction(0)]
            assert [chance(steps, side, list(word)) for side in sides] == expected
    assert left_out
    assert "nothing is compared" not in text


@pytest.mark.parametrize("length", ["1", '"2..3"', '"all"'])
def test_a_theorem_about_nothing_says_so(length: str) -> None:
    """Where every sequence is one of one side only, the head says that nothing is compared."""
    disjoint = ONE_SIDED.replace('a = { x = "1/2", y = "1/2" }', 'a = { y = "1" }')
    text = about(case_of(disjoint.replace('"1..3"', length)))
    head = text.partition("*)")[0]
    assert "But no output sequence is possible under both secrets of a pair, so nothing is compared." in head
    assert "it says nothing about this case" in head
    steps = steps_of(text, {})
    assert all(chance(steps, side, [word]) == 0 for side in starts_of(text, {}) for word in range(3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "there"),
    [
        ("above-threshold-prior-all", 'q = "[1/4, 3/4]"', 'q = "[1/4, 1/2]"', "(1 / 4 <= q <= 1 / 2)%R"),
        ("time-series-2-40-days", 'length = "1..20"', 'length = "1..19"', "[1; 2; 3;"),
        ("programs/stream-fresh-answers", "flip(3/4)", "flip(2/3)", "((2 / 3))%case)%nat"),
        ("geometric-metric", '"abs(x - y)"', '"2 * abs(x - y)"', "(* Distance 12: *)"),
        ("geometric-metric", "ln(2) * distance", "ln(3) * distance", "((729)%case,"),
        ("two noises", "laplace(2 /", "laplace(3 /", "exp(-eps/3)"),
    ],
)
def test_another_case_has_another_file(name: str, old: str, new: str, there: str) -> None:
    """What is changed in a case is changed in the file."""
    text = text_of(name)
    assert old in text
    text = text.replace("ill", "sick") if "sick" in new else text.replace(old, new)
    own, other = (found.partition("Require Import")[2] for found in (file_about(name), about(case_of(text))))
    assert there in other
    assert own != other
