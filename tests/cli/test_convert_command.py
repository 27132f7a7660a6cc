"""`paramverify convert` says nothing less than what was asked."""

import pytest
from calling_tools import called


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("--pure 1 --epsilon-for 1/100", "--epsilon-for"),
        ("--approximate 1,1/100 --order 2", "--order"),
        ("--renyi 2,1 --order 3 --delta-for 1", "--order"),
    ],
)
def test_what_is_not_answered_is_refused(words: str, option: str) -> None:
    """An option that a guarantee says nothing of is an error, also beside one that is answered."""
    found = called("convert", *words.split())
    assert (found.code, found.out) == (2, "")
    assert f"says nothing of {option}" in found.err
