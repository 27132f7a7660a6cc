"""Windows of large priors: never a proof below the largest ratio of all assignments; large cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from random import Random

import pytest
from calling_tools import called

from paramverify import loads
from paramverify.algebra.polynomials import constant_value
from paramverify.encodings.windows import windows_of
from paramverify.models import priors
from paramverify.privacy.cases import PrivacyCase, load

Given = dict[str, int]
Row = list[Fraction]

CHAIN = """
[parameters]
p = "[1/10, 2/5]"
c = "[1/10, 3/10]"
[prior.person]
count = {people}
given = "person[i-1]"
first = {{ bernoulli = "p" }}
table = {{ 0 = {{ 0 = "9/10", 1 = "1/10" }}, 1 = {{ 0 = "1-c", 1 = "c" }} }}
[secrets]
ill = "{secret} == 1"
well = "{secret} == 0"
pairs = [["ill", "well"]]
[mechanism]
kind = "geometric"
query = "sum(person)"
noise = {{ truncated_geometric = "1/2", range = {people} }}
[privacy]
ratio = "{ratio}"
"""


def case_of(text: str, folder: Path) -> PrivacyCase:
    """Returns a case, of whose prior no assignments are listed."""
    path = folder / "case.toml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def row(rng: Random) -> Row:
    weight = Fraction(rng.choice((0, 1, 2, 5, 9)), 10)
    return [1 - weight, weight]


def noise(alpha: Fraction, top: int, at: int, output: int) -> Fraction:
    """Returns the truncated geometric noise, by its definition."""
    edge = 1 if output in (0, top) else 1 - alpha
    result: Fraction = alpha ** abs(output - at) * edge / (1 + alpha)
    return result


def network(rng: Random) -> tuple[str, Fraction] | None:
    """Returns a case with a random network, without its ratio, and the largest ratio by all assignments."""
    count = rng.randint(3, 6)
    parents = [sorted(rng.sample(range(k), min(k, rng.choice((1, 1, 2))))) for k in range(count)]
    tables = [{key: row(rng) for key in product((0, 1), repeat=len(own))} for own in parents]
    lines = ["[prior]"]
    for k, (own, table) in enumerate(zip(parents, tables, strict=True)):
        rows = {key: f'{{ 0 = "{a}", 1 = "{b}" }}' for key, (a, b) in table.items()}
        told = ", ".join(f'"{",".join(map(str, key))}" = {r}' for key, r in rows.items())
        given = ", ".join(f'"v{n}"' for n in own)
        lines.append(f"v{k} = {{ given = [{given}], table = {{ {told} }} }}" if own else f"v{k} = {rows[()]}")
    lines[1] = lines[1].replace("v0 = {", "v0 = { categorical = {") + " }"
    one, two = rng.randrange(count), rng.randrange(count)
    secrets: dict[str, tuple[str, Callable[[tuple[int, ...]], bool]]] = {
        "A": (f"v{one} == 1", lambda a: a[one] == 1),
        "B": (f"v{two} == 0", lambda a: a[two] == 0),
    }
    times = [rng.choice((0, 1, 1, 2)) for _ in range(count - 1)] + [1]
    top, alpha = sum(times), rng.choice((Fraction(1, 2), Fraction(1, 5)))
    shares = {name: [Fraction(0)] * (top + 1) for name in secrets}
    for values in product((0, 1), repeat=count):
        mass = Fraction(1)
        for k, own in enumerate(parents):
            mass *= tables[k][tuple(values[n] for n in own)][values[k]]
        at = sum(t * v for t, v in zip(times, values, strict=True))
        for name, (_, holds) in secrets.items():
            for output in range(top + 1) if holds(values) else ():
                shares[name][output] += mass * noise(alpha, top, at, output)
    if not all(sum(own) for own in shares.values()):
        return None
    left, right = ([x / sum(own) for x in own] for own in shares.values())
    query = " + ".join(f"{t}*v{k}" for k, t in enumerate(times) if t)
    stated = "".join(f'{name} = "{text}"\n' for name, (text, _) in secrets.items())
    text = (
        "\n".join(lines) + f'\n[secrets]\n{stated}pairs = [["A", "B"]]\n[mechanism]\nkind = "geometric"\n'
        f'query = "{query}"\nnoise = {{ truncated_geometric = "{alpha}", range = {top} }}\n[privacy]\n'
        "ratio = "
    )
    return text, max(max(a / b, b / a) for a, b in zip(left, right, strict=True))


def proves(text: str, ratio: Fraction, folder: Path) -> bool:
    """Tells whether the claims of some window, which are numbers here, all hold."""
    case = case_of(f'{text}"{ratio}"\n', folder)
    windows = windows_of(case.model, case.whole)
    assert windows is not None
    found = [windows.claims(case.model.pairs[0], distance) for distance in (1, 2, 3)]
    return any(all(constant_value(c.polynomial) >= 0 for c in own) for own in found if own is not None)


@pytest.mark.slow
def test_no_window_proves_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No window proves a ratio a little below the largest one; many prove twice that."""
    monkeypatch.setattr(priors, "MAX_ASSIGNMENTS", 0)
    made = [found for seed in range(36) if (found := network(Random(seed))) and found[1] > 1]
    assert len(made) > 12
    assert not any(proves(text, ratio * Fraction(9999, 10000), tmp_path) for text, ratio in made)
    assert sum(proves(text, 2 * ratio, tmp_path) for text, ratio in made) > 5


@pytest.mark.slow
def test_people_in_a_row(tmp_path: Path) -> None:
    """All people are proved by few windows: those in the middle have the same claims."""
    report = loads(CHAIN.format(people=12, secret="person[i]", ratio="5")).verify()
    assert report.status == "holds"
    assert any("the proof is a bound: what is 3 steps away" in note for note in report.notes)
    longer = loads(CHAIN.format(people=14, secret="person[i]", ratio="5")).verify()
    assert len(longer.to_dict()["claims"]) == len(report.to_dict()["claims"])


@pytest.mark.slow
def test_evidence_is_about_the_windows(tmp_path: Path) -> None:
    """With --evidence the claims are those of the windows, and their proofs are accepted."""
    path, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    text = CHAIN.format(people=10, secret="person[1]", ratio="5").replace('"[1/10, 3/10]"', '"1/5"')
    path.write_text(text, encoding="utf-8")
    told = called("verify", str(path), "--evidence", str(evidence))
    assert told.code == 0
    assert "the proof is a bound" in told.out
    assert json.loads(evidence.read_text())["windows"]["pairs"] == [["ill", "well", 1]]
    assert called("check", str(evidence)).code == 0


@pytest.mark.slow
def test_violations_are_found_at_points(tmp_path: Path) -> None:
    """A ratio that is too small is refuted at a point, where enumeration with fractions agrees."""
    people = 11
    report = loads(CHAIN.format(people=people, secret="person[5]", ratio="2")).verify()
    assert report.status == "violated"
    witness = report.to_dict()["witness"]
    p, c = (Fraction(witness["parameters"][name]) for name in ("p", "c"))
    rows = {0: [Fraction(9, 10), Fraction(1, 10)], 1: [1 - c, c]}
    shares = [Fraction(0), Fraction(0)]
    masses = [Fraction(0), Fraction(0)]
    for values in product((0, 1), repeat=people):
        mass = (1 - p, p)[values[0]]
        for before, now in pairwise(values):
            mass *= rows[before][now]
        masses[values[4]] += mass
        shares[values[4]] += mass * noise(
            Fraction(1, 2), people, sum(values), int(witness["observations"][0])
        )
    ratio = shares[1] / masses[1] / (shares[0] / masses[0])
    assert max(ratio, 1 / ratio) > 2


def test_noise_with_a_parameter(tmp_path: Path) -> None:
    """Windows prove a case for all values of the noise, too."""
    text = CHAIN.format(people=14, secret="person[7]", ratio="exp(5*eps/2)")
    text = text.replace('"1/2", range', '"exp(-eps/2)", range').replace(
        "[parameters]", '[parameters]\neps = "(0, oo)"'
    )
    report = loads(text.replace('c = "[1/10, 3/10]"', 'c = "1/10"')).verify()
    assert report.status == "holds"
