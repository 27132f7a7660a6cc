"""What is said where arrays of a prior are written wrongly, and arrays in `[define]`."""

from __future__ import annotations

import pytest

from paramverify import loads
from paramverify.errors import InputError

CASE = """
[parameters]
p = "[1/10, 2/5]"
{define}
[prior.person]
count = {count}
given = "{given}"
first = {{ bernoulli = "p" }}
table = {{ 0 = {{ 0 = "9/10", 1 = "1/10" }}, 1 = {{ 0 = "3/5", 1 = "2/5" }} }}
[secrets]
ill = "person[1] == 1"
well = "person[1] == 0"
pairs = [["ill", "well"]]
[mechanism]
kind = "geometric"
query = "{query}"
noise = {{ truncated_geometric = "1/2", range = 4 }}
[privacy]
ratio = 5
"""


def case(**changed: str) -> str:
    """Returns the text of a case with some parts changed."""
    parts = {"count": "4", "given": "person[i-1]", "query": "sum(person)", "define": ""}
    return CASE.format(**(parts | changed))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"query": "sum(persons)"}, "sum needs an array of the prior: did you mean person?"),
        ({"query": "sum(3)"}, "such as sum(person)"),
        ({"query": "persn[1]"}, "persn is not an array of the prior: did you mean person?"),
        ({"query": "persons"}, "did you mean 'person'?"),
        ({"query": "zzz"}, "known here: person"),
        ({"query": "person[1] + j"}, "j is the index of an array"),
        ({"given": "persn[i-1]"}, "persn is not an array of the prior; did you mean person?"),
        ({"given": "person[i,j]"}, "person needs one index"),
    ],
)
def test_mistakes_name_the_array(changed: dict[str, str], told: str) -> None:
    """Each mistake names the array that was meant, and lists no entries."""
    with pytest.raises(InputError) as caught:
        loads(case(**changed))
    assert told in str(caught.value)
    assert "person[4]" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "mend"),
    [
        ('first = { bernoulli = "p" }', "move the distribution beside count, or add given"),
        ("outside = 0", "delete this line, or add given"),
    ],
)
def test_keys_of_given_without_given(key: str, mend: str) -> None:
    """What belongs to `given` is refused without it, with what to write instead."""
    text = case().replace('given = "person[i-1]"', "").replace('first = { bernoulli = "p" }', key)
    with pytest.raises(InputError) as caught:
        loads(text)
    assert f"this key has no effect without given; {mend}" in str(caught.value)


def test_a_wrong_count_is_one_mistake() -> None:
    """What follows from a count that is none is not told again."""
    with pytest.raises(InputError) as caught:
        loads(case(count='"x"'))
    assert len(caught.value.parts) == 1


def test_definitions_name_entries() -> None:
    """A definition with an array means what the array itself means."""
    plain = loads(case()).verify().to_dict()["claims"]
    defined = loads(case(define='[define]\nn = "sum(person)"', query="n")).verify().to_dict()["claims"]
    assert [claim["observations"] for claim in plain] == [claim["observations"] for claim in defined]
