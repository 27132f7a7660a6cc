"""Cases that ignore sequences which only one of two secrets allows, and Fig. 3 of [F], which needs that."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest

from paramverify.cli.main import run
from paramverify.encodings import cone, sequences
from paramverify.errors import CaseError, InputError, ModelError
from paramverify.models.model import NOTHING_COMPARED, Model, without_one_sided
from paramverify.privacy.cases import load
from paramverify.privacy.verification import verify
from paramverify.verdicts import Holds, Violated

CASES = Path(__file__).parents[2] / "cases"
FIGURE = CASES / "above-threshold-figure-3.toml"
CONDITION = "output sequences that are impossible under one of the two secrets are ignored"

Table = list[list[Fraction]]

# A secret that is told by its own symbol, x or y, with probability 1/2, and else by a coin of another bias.
OWN_SYMBOL = """
[mechanism]
kind = "hmm"
states = ["s", "t"]
observations = ["a", "b", "x", "y"]
[mechanism.emissions]
s = { a = "1/3", b = "1/6", x = "1/2" }
t = { a = "1/6", b = "1/3", y = "1/2" }
[neighbours]
pairs = [["s", "t"]]
[privacy]
ratio = "RATIO"
length = "1..2"
"""


def written(folder: Path, ratio: str, extra: str = "") -> str:
    path = folder / "case.toml"
    path.write_text(OWN_SYMBOL.replace("RATIO", ratio) + extra, encoding="utf-8")
    return str(path)


def random_table(random: Random, rows: int, columns: int) -> Table:
    """Returns distributions in which about half of the entries are zero."""
    found = []
    for _ in range(rows):
        weights = [random.choice((0, 0, 1, 2, 3)) for _ in range(columns)]
        weights[random.randrange(columns)] += 1
        found.append([Fraction(w, sum(weights)) for w in weights])
    return found


def row_text(names: list[str], row: list[Fraction]) -> str:
    return "{ " + ", ".join(f'{n} = "{p}"' for n, p in zip(names, row, strict=True) if p) + " }"


def chances(word: tuple[int, ...], start: list[Fraction], moves: Table, emissions: Table) -> Fraction:
    """Returns the probability of a sequence: emit, then move, path by path."""
    total = Fraction(0)
    for path in product(range(len(moves)), repeat=len(word)):
        chance = start[path[0]]
        for k, (state, seen) in enumerate(zip(path, word, strict=True)):
            chance *= emissions[state][seen]
            if k + 1 < len(path):
                chance *= moves[state][path[k + 1]]
        total += chance
    return total


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_random_models_are_those_of_brute_force(seed: int, tmp_path: Path) -> None:
    """The largest ratio is that of the sequences with both probabilities positive, path by path."""
    random = Random(seed)
    states, symbols, length = ["q", "r", "s"], ["a", "b", "c"], 3
    moves, emissions = random_table(random, 3, 3), random_table(random, 3, 3)
    left, right = random_table(random, 2, 3)
    best = Fraction(0)
    for size in range(1, length + 1):
        for word in product(range(3), repeat=size):
            one, other = (chances(word, start, moves, emissions) for start in (left, right))
            if one and other:
                best = max(best, one / other, other / one)
    listed = lambda names: json.dumps(names)  # noqa: E731
    text = f"""
[mechanism]
kind = "hmm"
states = {listed(states)}
observations = {listed(symbols)}
[mechanism.emissions]
{chr(10).join(f"{s} = {row_text(symbols, row)}" for s, row in zip(states, emissions, strict=True))}
[mechanism.transitions]
{chr(10).join(f"{s} = {row_text(states, row)}" for s, row in zip(states, moves, strict=True))}
[prior]
left = {row_text(states, left)}
right = {row_text(states, right)}
[secrets]
pairs = [["left", "right"]]
[privacy]
ratio = "2"
length = "1..{length}"
one_sided = "ignored"
"""
    path = tmp_path / "case.toml"
    path.write_text(text, encoding="utf-8")
    model = load(path).model
    assert isinstance(model, Model)
    for encoding in (sequences, cone):
        found = [c.ratio for c in encoding.candidates(model) if c.left and c.right]
        assert max((r for r in found if r is not None), default=Fraction(0)) == best
    report = verify(load(path))
    assert isinstance(report.verdict, Holds if best <= 2 else Violated)


def test_what_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, JSON, evidence and its check tell the side condition; the same case without it is violated."""
    ignored = 'one_sided = "ignored"\n'
    assert run(["verify", written(tmp_path, "4")]) == 1
    capsys.readouterr()
    case = written(tmp_path, "4", ignored)
    evidence = tmp_path / "evidence.json"
    assert run(["verify", case, "--evidence", str(evidence)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("private, on a side condition: ratio = 4")
    assert CONDITION in told.split("\n")[0]
    assert run(["verify", case, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["side_condition"] == CONDITION
    for arguments in (["check", str(evidence)], ["check", str(evidence), "--case", case]):
        assert run(arguments) == 0
        assert f", on a side condition ({CONDITION})" in capsys.readouterr().out
        assert run([*arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["side_condition"] == CONDITION
    assert run(["verify", written(tmp_path, "39/10", ignored)]) == 1  # a a has ratio 4
    assert "a a are 4 times as likely" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("lengths", ['"1..2"', "41"])
def test_evidence_with_another_condition_is_rejected(
    lengths: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Evidence of the weaker statement does not pass for the stronger one, nor the other way round."""
    ignored = 'one_sided = "ignored"\n'
    text = OWN_SYMBOL.replace('"1..2"', lengths).replace("RATIO", str(2**41))
    same = text.replace('x = "1/2"', 'a = "1/3", b = "1/6"').replace('y = "1/2"', 'a = "1/6", b = "1/3"')
    same = same.replace('a = "1/3", b = "1/6", a = "1/3", b = "1/6"', 'a = "2/3", b = "1/3"')
    same = same.replace('a = "1/6", b = "1/3", a = "1/6", b = "1/3"', 'a = "1/3", b = "2/3"')
    for content in (text, same):
        case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
        case.write_text(content + ignored, encoding="utf-8")
        assert run(["verify", str(case), "--evidence", str(evidence)]) == 0
        document = json.loads(evidence.read_text())
        assert document["side_condition"] == CONDITION
        assert run(["check", str(evidence), "--case", str(case)]) == 0
        assert "read a second time" in capsys.readouterr().out
        for changed in (None, "nothing is ignored"):
            forged = {k: v for k, v in document.items() if k != "side_condition"}
            forged |= {"side_condition": changed} if changed else {}
            evidence.write_text(json.dumps(forged))
            assert run(["check", str(evidence), "--case", str(case)]) == 1
        evidence.write_text(json.dumps(document))
        case.write_text(content, encoding="utf-8")
        assert run(["check", str(evidence), "--case", str(case)]) == 1
        capsys.readouterr()


def test_the_second_reader_notices_the_condition(tmp_path: Path) -> None:
    """The second reading alone, without the first one, rejects evidence with another side condition."""
    from paramverify.rereader.second_reading import second_look

    ignored = 'one_sided = "ignored"\n'
    case, evidence = written(tmp_path, "4", ignored), tmp_path / "evidence.json"
    assert run(["verify", case, "--evidence", str(evidence)]) == 0
    document = json.loads(evidence.read_text())
    content = Path(case).read_text(encoding="utf-8")
    assert second_look(document, content).agrees
    assert not second_look(document, content.replace(ignored, "")).agrees
    del document["side_condition"]
    assert not second_look(document, content).agrees
    assert not second_look(document, content.replace(ignored, "")).agrees


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    """Probabilities that vanish at some points only, other words, and sampling are mistakes."""
    with pytest.raises(CaseError, match="one_sided"):
        load(written(tmp_path, "4", 'one_sided = "kept"\n'))
    path = tmp_path / "zero.toml"
    text = OWN_SYMBOL.replace("RATIO", "4") + 'one_sided = "ignored"\n[parameters]\np = "INTERVAL"\n'
    text = text.replace('a = "1/3", b = "1/6"', 'a = "p/2", b = "(1-p)/2"')
    path.write_text(text.replace("INTERVAL", "[0, 1/2]"), encoding="utf-8")
    with pytest.raises(ModelError, match="positive on the whole domain"):
        load(path)
    path.write_text(text.replace("INTERVAL", "(0, 1/2]"), encoding="utf-8")
    model = load(path).model
    assert isinstance(model, Model)
    assert model.side_condition == CONDITION
    assert run(["sample", written(tmp_path, "4", 'one_sided = "ignored"\n')]) == 2
    many = (CASES / "noisy-max-12.toml").read_text(encoding="utf-8")
    path.write_text(many.replace("[privacy]", '[privacy]\none_sided = "ignored"'), encoding="utf-8")
    with pytest.raises(InputError, match="stands for all neighbours"):
        load(path)


THRESHOLD = {0: ("4/5", "3/20", "1/20"), 1: ("1/5", "3/5", "1/5"), 2: ("1/20", "3/20", "4/5")}
QUERY = {0: ("2/3", "1/6", "1/6"), 1: ("1/3", "1/3", "1/3"), 2: ("1/6", "1/6", "2/3")}


def algorithm(threshold: int, answers: list[int], outputs: str) -> Fraction:
    """Returns the probability of the outputs by the lines of Algorithm 4 of [F]."""
    total = Fraction(0)
    for noisy, chance in enumerate(THRESHOLD[threshold]):
        product_ = Fraction(chance)
        for answer, output in zip(answers, outputs, strict=True):
            above = sum((Fraction(p) for r, p in enumerate(QUERY[answer]) if r >= noisy), Fraction(0))
            product_ *= above if output == "⊤" else 1 - above
        total += product_
    return total


def whole_figure() -> Model:
    model = load(FIGURE).model
    assert isinstance(model, Model)
    assert model.whole is not None
    return model.whole


def largest(count: int) -> Fraction:
    """Returns the largest ratio of n outputs of the algorithm, over neighbours and thresholds."""
    near = [(a, b) for a in range(3) for b in range(3) if abs(a - b) <= 1]
    best = Fraction(0)
    for threshold, last in product(range(3), "⊥⊤"):
        outputs = "⊥" * (count - 1) + last
        # Each axis of the product over answers is tried: count is small.
        for pairs in product(near, repeat=count):
            one, other = (algorithm(threshold, [p[side] for p in pairs], outputs) for side in (0, 1))
            if one and other:
                best = max(best, one / other, other / one)
    return best


@pytest.mark.slow
def test_theorem_10_2_the_figure_is_private_iff_the_algorithm_is(tmp_path: Path) -> None:
    """With the side condition, length 2n + 1 holds at the algorithm's largest ratio, and not below."""
    count, best = 2, largest(2)
    assert best == 2**count
    text = FIGURE.read_text(encoding="utf-8").replace('length = "1..11"', f"length = {2 * count + 1}")
    for ratio, verdict in ((best, Holds), (best - Fraction(1, 1000), Violated)):
        path = tmp_path / "figure.toml"
        path.write_text(text.replace('epsilon = "4*ln(2)"', f'ratio = "{ratio}"'), encoding="utf-8")
        assert isinstance(verify(load(path)).verdict, verdict)


def test_the_product_keeps_shared_secrets_apart() -> None:
    """A secret in several pairs loses other sequences in each; all others keep their probabilities."""
    whole = whole_figure()
    model = without_one_sided(whole)
    pairs = {(p.left, p.right): k for k, p in enumerate(model.pairs)}
    for other, kept in (("_t2r0", "10"), ("_t2r1", "11"), ("_t2r2", "12")):
        k = pairs["t2r1", other]
        for seen in ("10", "11", "12"):
            sums = sequences.forward_sum(model, model.pairs[k].pi, ["⌞⌟", seen])
            plain = sequences.forward_sum(whole, whole.pairs[k].pi, ["⌞⌟", seen])
            assert plain
            assert sums == (plain if seen == kept else plain * 0)


# Two secrets that tell themselves at once, or with the second observation; with and without a parameter.
APART = """
[parameters]
p = "[1/4, 3/4]"
[mechanism]
kind = "hmm"
states = ["s", "t", "u", "v"]
observations = ["a", "b", "c"]
[mechanism.emissions]
s = { a = "FIRST", b = "1 - (FIRST)" }
t = { OTHER }
u = { c = 1 }
v = { a = 1 }
[mechanism.transitions]
s = { u = 1 }
t = { v = 1 }
u = { u = 1 }
v = { v = 1 }
[prior.x]
s = 1
[prior.y]
t = 1
[secrets]
pairs = [["x", "y"]]
[privacy]
ratio = 2
length = LENGTH
one_sided = "ignored"
"""
SOON, LATE = "c = 1", 'a = "1/3", b = "2/3"'


@pytest.mark.parametrize("first", ["1/2", pytest.param("p", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("other", "length"),
    [
        pytest.param(SOON, '"all"', marks=pytest.mark.slow),
        (SOON, "1"),
        (LATE, "2"),
        (LATE, '"2..41"'),
    ],
)
def test_that_nothing_is_compared_is_said(
    first: str, other: str, length: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no sequence is possible under both secrets, all commands say so, and evidence is accepted."""
    path, evidence = tmp_path / "case.toml", str(tmp_path / "evidence.json")
    text = APART.replace("FIRST", first).replace("OTHER", other).replace("LENGTH", length)
    path.write_text(text, encoding="utf-8")
    assert run(["verify", str(path), "--evidence", evidence]) == 0
    told = capsys.readouterr().out.split("\n")
    assert told[0].endswith(f"{NOTHING_COMPARED}.")
    assert told[1].startswith("  No claim was left to prove")
    assert run(["verify", str(path), "--json"]) == 0
    assert NOTHING_COMPARED in json.loads(capsys.readouterr().out)["notes"]
    for more in ([], ["--case", str(path)]):
        assert run(["check", evidence, *more]) == 0
    capsys.readouterr()
    assert run(["budget", str(path)]) == 2
    assert f"{NOTHING_COMPARED}, so there is no ratio" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("length", ["1", '"1..2"'])
def test_states_without_a_step_in_formulas(
    length: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The published formulas are written and decided where states have no step left."""
    path = tmp_path / "case.toml"
    text = APART.replace("FIRST", "1/2").replace("OTHER", LATE).replace("LENGTH", length)
    path.write_text(text, encoding="utf-8")
    assert run(["verify", str(path), "--encoding", "monolithic"]) == 0
    assert capsys.readouterr().out.startswith("private, on the word of z3")
    formula = str(tmp_path / "formula.smt2")
    asked = ["--encoding", "monolithic", "--to", "smtlib2", "--claim", "1"]
    assert run(["export", str(path), *asked, "-o", formula]) == 0
    path.write_text(text.replace("1/2", "9/10"), encoding="utf-8")  # 9/10 against 1/3
    assert run(["verify", str(path), "--encoding", "monolithic"]) == 1


def test_evidence_without_claims_needs_a_case_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Evidence that proves nothing is rejected for a case that compares something, and where none is told."""
    case, evidence = written(tmp_path, "4", 'one_sided = "ignored"\n'), tmp_path / "evidence.json"
    assert run(["verify", case, "--evidence", str(evidence)]) == 0
    document = json.loads(evidence.read_text(encoding="utf-8"))
    evidence.write_text(json.dumps({**document, "statements": []}), encoding="utf-8")
    assert run(["check", str(evidence), "--case", case]) == 1
    assert "rejected: a claim of the case has no proof" in capsys.readouterr().out.lower()
    del document["side_condition"]
    evidence.write_text(json.dumps(document), encoding="utf-8")
    assert run(["check", str(evidence)]) == 0
    last = capsys.readouterr().out.strip().split("\n")[-1]
    assert "side condition with the case" in last.partition("not compared (give --case): ")[2]
    evidence.write_text(json.dumps({**document, "statements": []}), encoding="utf-8")
    assert run(["check", str(evidence)]) == 1
    assert "rejected: a claim of the case has no proof" in capsys.readouterr().out.lower()


@pytest.mark.slow
def test_the_condition_is_in_the_first_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A budget, safe values and a comparison say the side condition where they say the verdict."""
    case = written(tmp_path, "4", 'one_sided = "ignored"\n')
    assert run(["budget", case]) == 0
    assert CONDITION in capsys.readouterr().out.split("\n")[0]
    Path(case).write_text(Path(case).read_text(encoding="utf-8").replace('"4"', '"r"'), encoding="utf-8")
    with Path(case).open("a", encoding="utf-8") as file:
        file.write('[parameters]\nr = "[1, 9]"\n')
    assert run(["synthesize", case]) == 0
    assert "private, on a side condition: ratio = r for" in capsys.readouterr().out
    assert run(["synthesize", "--region", case]) == 0
    assert CONDITION in capsys.readouterr().out.split("\n")[0]
    asked = ["compare", written(tmp_path, "4", 'one_sided = "ignored"\n'), "--backends", "bernstein"]
    asked += ["--encodings", "sequences,cone", "-o", str(tmp_path / "results")]
    assert run(asked) == 0
    told = capsys.readouterr().out
    assert told.count("private, on a side condition") == 2
    assert f"On a side condition, case: {CONDITION}." in told
    assert run([*asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {row["side_condition"] for row in document["encodings"]} == {CONDITION}
