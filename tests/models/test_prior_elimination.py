"""Large priors: elimination against enumeration with fractions, arrays, and the errors of both."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import ROOT
from random_networks import POINT, World, world

from paramverify import loads
from paramverify.algebra.domains import Domain, Interval
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, value_at
from paramverify.encodings.sequences import probabilities
from paramverify.errors import InputError, LimitError
from paramverify.models import networks, priors
from paramverify.models.context import Checks
from paramverify.models.priors import PRIOR
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.rereader.second_networks import Walk
from paramverify.rereader.second_numbers import Calculator
from paramverify.rereader.second_reader import SecondReader
from paramverify.tables import Table

CASES = ROOT / "cases"

Shares = dict[str, dict[tuple[Any, ...], Fraction]]


def checks() -> Checks:
    """Returns an empty case with the parameters of the random priors."""
    inside = Interval(Fraction(1, 10), Fraction(9, 10))
    return Checks(Domain(Ring(tuple(POINT)), dict.fromkeys(POINT, inside)))


def eliminated(made: World) -> Shares:
    """Returns the weights of the answers under each secret as the package has them, at the point."""
    found = checks()
    prior = priors.read_prior(Table(made.prior, PRIOR), found)
    found.mistakes.tell()
    conditions = {name: prior.where(parse(text)) for name, text in made.secrets.items()}
    assert prior.weights is None
    answers = prior.answers(conditions, [("queries", parse(query)) for query in made.queries])
    return {
        name: {
            given: value_at(w.numerator, POINT) / value_at(w.denominator, POINT) for given, w in own.items()
        }
        for name, own in answers.items()
    }


def scaled(shares: Shares) -> Shares:
    """Returns weights over the mass of all secrets, without those that are zero."""
    mass = sum((w for own in shares.values() for w in own.values()), Fraction(0))
    return {name: {a: w / mass for a, w in own.items() if w} for name, own in shares.items()}


@pytest.mark.parametrize("seed", range(9))
def test_elimination_is_enumeration(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both secrets of a random network have the answers with the weights that all assignments give."""
    monkeypatch.setattr(priors, "MAX_ASSIGNMENTS", 0)
    monkeypatch.setattr(networks, "LOCAL", (2, 6, 256)[seed % 3])
    made = world(Random(seed))
    assert scaled(eliminated(made)) == scaled(made.expected())


@pytest.mark.parametrize("seed", range(9))
def test_second_way_is_enumeration(seed: int) -> None:
    """The walk of the second reader gives the same shares, secret by secret."""
    made = world(Random(seed))
    here = Calculator(dict(POINT), None, Fraction(1))
    for name, text in made.secrets.items():
        found = {name: Walk(made.prior, here).weights(text, made.queries)}
        assert scaled(found) == scaled({name: made.expected()[name]})


CHAIN = """
[parameters]
p = "[1/10, 2/5]"

[prior.person]
count = {count}
given = "person[i-1]"
first = {{ bernoulli = "p" }}
table = {{ 0 = {{ 0 = "9/10", 1 = "1/10" }}, 1 = {{ 0 = "3/5", 1 = "2/5" }} }}

[secrets]
ill = "{secret} == 1"
well = "{secret} == 0"
pairs = [["ill", "well"]]

[mechanism]
kind = "geometric"
query = "{query}"
noise = {{ truncated_geometric = "1/2", range = {count} }}

[privacy]
ratio = 8
"""


def chain(tmp_path: Path, count: int, secret: str = "person[i]", query: str = "sum(person)") -> PrivacyCase:
    """Returns the case of a row of people."""
    path = tmp_path / "case.toml"
    path.write_text(CHAIN.format(count=count, secret=secret, query=query))
    return load(path)


def counted(count: int, person: int, value: int, p: Fraction) -> dict[int, Fraction]:
    """Returns the weights of the number of ill people where one person is ill or well, by going forward."""
    now = {(0, 0): 1 - p, (1, 1): p}
    moves = {0: (Fraction(9, 10), Fraction(1, 10)), 1: (Fraction(3, 5), Fraction(2, 5))}
    for k in range(1, count + 1):
        if k > 1:
            grown: dict[tuple[int, int], Fraction] = {}
            for (x, total), weight in now.items():
                for y, chance in enumerate(moves[x]):
                    grown[y, total + y] = grown.get((y, total + y), Fraction(0)) + weight * chance
            now = grown
        if k == person:
            now = {(x, total): w for (x, total), w in now.items() if x == value}
    found: dict[int, Fraction] = {}
    for (_, total), weight in now.items():
        found[total] = found.get(total, Fraction(0)) + weight
    return found


@pytest.mark.slow
def test_every_person_of_a_row(tmp_path: Path) -> None:
    """Each of 30 people in a row has two secrets, and the counts under each are those of a recursion."""
    case = chain(tmp_path, 30)
    p = Fraction(1, 3)
    assert list(case.inputs) == [f"{name}[{k}]" for k in range(1, 31) for name in ("ill", "well")]
    for k in (1, 17, 30):
        for value, name in ((1, "ill"), (0, "well")):
            found = {
                int(n): value_at(w.numerator, {"p": p}) for (n,), w in case.inputs[f"{name}[{k}]"].items()
            }
            assert found == {n: w for n, w in counted(30, k, value, p).items() if w}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("secret", "query", "told"),
    [
        ("person[31]", "sum(person)", "there is no person[31]: its indices are 1 to 30"),
        ("person[j]", "sum(person)", "j has no value here"),
        ("person", "sum(person)", "person is an array: write person[1]"),
        ("person[1]", "person[1, 2]", "person needs one index"),
        ("person[1]", "2*sum(person)", "the range is 30, but 2*sum(person) can be 60; write range = 60"),
        ("person[1]", "person[2] + other", "unknown name 'other'"),
    ],
)
def test_mistakes_about_arrays(tmp_path: Path, secret: str, query: str, told: str) -> None:
    """What an array has not is an error that says what it has."""
    with pytest.raises(InputError) as error:
        chain(tmp_path, 30, secret, query)
    assert told in str(error.value)


@pytest.mark.parametrize("given", ["person[i+1]", "person[i]", "person"])
def test_an_array_that_needs_itself_is_one_mistake(given: str) -> None:
    """Only the entry of `given` is told, with what to write, and not each place that names the array."""
    source = (CASES / "infection-row.toml").read_text()
    with pytest.raises(InputError) as error:
        loads(source.replace("person[i-1]", given))
    (part,) = error.value.parts
    assert part.key == "prior.person.given"
    assert "is not an earlier variable of the prior; write, for example, person[i-1]" in str(part)


@pytest.mark.parametrize("given", ["ill[i,j+1]", "ill[3-i,j-1]"])
def test_an_array_of_two_sizes_is_ordered_by_rows(given: str) -> None:
    """The form to write has two indices, and the message says which variables are earlier."""
    source = (CASES / "household-weeks.toml").read_text()
    with pytest.raises(InputError) as error:
        loads(source.replace('["ill[i-1,j]", "ill[i-1,3-j]"]', f'"{given}"'))
    assert "write, for example, ill[i-1,j]: variables are ordered row by row" in str(error.value)


@pytest.mark.parametrize("total", ["a + b", "a+b"])
def test_given_accepts_no_sum(total: str) -> None:
    """The message says to name the sum first; then it is accepted."""
    table = {"0": {"0": "1"}, "1": {"0": "1"}, "2": {"1": "1"}}
    prior: dict[str, object] = {"a": {"bernoulli": "p"}, "b": {"bernoulli": "p"}}
    found = checks()
    priors.read_prior(Table({**prior, "d": {"given": total, "table": table}}, PRIOR), found)
    assert f'define s = "{total}" first, and write given = "s"' in str(found.mistakes.found[0])
    priors.read_prior(Table({**prior, "d": {"given": "a[1] + a[2]", "table": table}}, PRIOR), found)
    assert "given names variables: write a list of them" in str(found.mistakes.found[-1])
    named = checks()
    priors.read_prior(Table({**prior, "s": "a + b", "d": {"given": "s", "table": table}}, PRIOR), named)
    assert not named.mistakes.found


def test_width_is_told_before_the_work() -> None:
    """Variables that all depend on each other are an error that names them."""
    found = checks()
    prior = priors.read_prior(Table({f"x{k}": {"bernoulli": "p"} for k in range(18)}, PRIOR), found)
    pairs = [f"x{j}*x{k}" for k in range(18) for j in range(k)]
    with pytest.raises(LimitError) as error:
        prior.answers({"all": prior.where(parse("x0 == 1"))}, [("query", parse(" + ".join(pairs)))])
    assert "18 variables must be considered together, and they have 262,144 combinations" in str(error.value)
    assert ": x0, x1, x2" in str(error.value)


def test_a_missing_row_matters_only_where_it_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row for values that variables never have together may be left out; another one may not."""
    monkeypatch.setattr(priors, "MAX_ASSIGNMENTS", 0)
    prior = {
        "a": {"bernoulli": "p"},
        "b": "1 - a",
        "c": {"given": ["a", "b"], "table": {"0,1": {"0": "q", "1": "1-q"}, "1,0": {"1": "1"}}},
    }
    found = checks()
    priors.read_prior(Table(prior, PRIOR), found)
    assert not found.mistakes.found
    del prior["c"]["table"]["1,0"]  # type: ignore[attr-defined]
    priors.read_prior(Table(prior, PRIOR), found)
    assert [str(e) for e in found.mistakes.found] == [
        "c.table: the table has no row for a = 1, b = 0; add one"
    ]


def test_published_clique() -> None:
    """The numbers of ill people of [Song17]'s clique of four, given that a person is ill or well."""
    case = load(CASES / "flu-clique.toml")
    published = {
        "none": ("0.2", "0.225", "0.5", "0.075", "0"),
        "flu": ("0", "0.075", "0.5", "0.225", "0.2"),
    }
    for name, row in published.items():
        weights = {int(n): Fraction(str(w)) for (n,), w in case.inputs[name].items()}
        mass = sum(weights.values())
        assert [weights.get(n, Fraction(0)) / mass for n in range(5)] == [Fraction(v) for v in row]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "secret"),
    [("infection-tree", "ill"), ("infection-grid", "well"), ("infection-households", "ill[3]")],
)
def test_second_reader_of_arrays(name: str, secret: str) -> None:
    """The second reader finds the weights of a tree and of a grid with a border that the first one finds."""
    case = load(CASES / f"{name}.toml")
    point = {"p": Fraction(1, 5), "c": Fraction(3, 10)}
    reader = SecondReader((CASES / f"{name}.toml").read_text(), None)
    found = reader.masses(point, Fraction(1), [1], only=[secret]).words
    first = {
        word: value_at(share.numerator, point) / value_at(share.denominator, point)
        for word, other, share in probabilities(case.model)
        if other == secret
    }
    assert found == {secret: first}


NOISY = """
[prior]
person = { count = 6, bernoulli = "1/3" }
seen = { count = 6, truncated_geometric = "1/2", range = 1, around = "person[i]" }
pairs = "sum(seen[i] * person[i])"

[secrets]
some = "any(seen == 1) and person[2] == 1"
none = "not any(seen == 1) and person[2] == 1"
pairs = [["some", "none"]]

[mechanism]
kind = "release"
query = "pairs"

[privacy]
ratio = 8
"""


@pytest.mark.slow
def test_noise_and_conditions_of_arrays(tmp_path: Path) -> None:
    """Noise around each entry, and conditions over all entries, mean the same to both readers and by hand."""
    path = tmp_path / "case.toml"
    path.write_text(NOISY)
    case = load(path)
    none = {tuple(map(int, given)): Fraction(str(w)) for given, w in case.inputs["none"].items()}
    # Somebody well is not seen with 2/3, and somebody ill with 1/3.
    assert none == {(0,): Fraction(1, 9) * (Fraction(2, 3) * Fraction(2, 3) + Fraction(1, 9)) ** 5}
    some = {int(given[0]): Fraction(str(w)) for given, w in case.inputs["some"].items()}
    assert sum(some.values()) == Fraction(1, 3) - sum(none.values())
    found = SecondReader(NOISY, None).masses({}, Fraction(1), [1], only=["some"]).words["some"]
    assert found == {(str(k),): w / sum(some.values()) for k, w in some.items()}


SPELT = """
[prior]
person = { count = 3, bernoulli = "1/3" }
other = { count = 2, bernoulli = "1/5" }
alike = { like = "person[2]" }
[prior.seen]
count = 3
given = ["seen[i-1]", "person[4-i]", "person[i]"]
outside = 1
table = { TABLE }
[secrets]
one = "seen[i] == 1"
zero = "seen[i] == 0"
there = "other[i] == 1"
pairs = PAIRS
[mechanism]
kind = "release"
query = "person[1] + alike"
[privacy]
epsilon = "ln(2)"
"""


def spelt(pairs: str, separator: str) -> str:
    """Returns a case with the keys of a table, and the pairs, as they are spelt."""
    keys = (separator.join(key) for key in ("000", "001", "010", "011", "100", "101", "110", "111"))
    rows = ", ".join(f'"{key}" = {{ 0 = "{k + 1}/10", 1 = "{9 - k}/10" }}' for k, key in enumerate(keys))
    return SPELT.replace("TABLE", rows).replace("PAIRS", pairs)


@pytest.mark.slow
@pytest.mark.parametrize(("most", "separator"), [(0, ", "), (1_000, " , ")])
def test_spellings_of_one_case_mean_the_same(
    most: int, separator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blanks in keys at an edge, copies in pairs, entries that are named twice: by hand, to both readers."""
    monkeypatch.setattr(priors, "MAX_ASSIGNMENTS", most)
    pairs = '[["one[1]", "zero[1]"], ["one[2]", "zero[2]"]]'
    row = [Fraction(k + 1, 10) for k in range(8)]
    text = spelt(pairs, separator)
    path = tmp_path / "case.toml"
    path.write_text(text)
    model = load(path).model
    for name, places in (("zero[1]", 1), ("zero[2]", 2)):
        expected = {n: Fraction(0) for n in range(3)}
        for x in product((0, 1), repeat=4):  # three people, and the one who is alike
            mass = prod(Fraction(1, 3) if v else Fraction(2, 3) for v in x)
            well = row[4 + 2 * x[2] + x[0]]
            if places == 2:
                well = well * row[3 * x[1]] + (1 - well) * row[4 + 3 * x[1]]
            expected[x[0] + x[3]] += mass * well
        total = sum(expected.values())
        found = SecondReader(text, None).masses({}, Fraction(1), [1], only=[name]).words[name]
        assert found == {(str(n),): w / total for n, w in expected.items()}
        first = {word: share for word, other, share in probabilities(model) if other == name}
        assert found == {w: value_at(s.numerator, {}) / value_at(s.denominator, {}) for w, s in first.items()}


@pytest.mark.parametrize("pair", ['["one", "there"]', '["there", "one"]'])
def test_secrets_with_other_indices_are_no_pair(pair: str) -> None:
    """No copy is left out silently, whichever secret stands first."""
    with pytest.raises(InputError, match="each needs a partner; name the pairs, such as"):
        loads(spelt(f"[{pair}]", ","))
