"""Systems with any number of slots by the program that is extracted from Coq: the answers of Python."""

from __future__ import annotations

from itertools import chain, combinations, product
from pathlib import Path

from engine_documents import Json, engine_document, own
from three_checkers import agreed, built, by_program

FORMS = ([1], [-1], [1, -1], [1, 1], [1, -1, -1], [])


def stated(shared: bool, drops: bool, deletes: bool, forms: list[list[int]], steps: int) -> Json:
    """Returns what is said of a program: the forms of pairs of slots, and how many of them a query costs."""
    program = {"shared": shared, "drops": drops, "deletes": deletes}
    return engine_document("slots", program=program, forms=forms, steps=steps)


def is_true(document: Json) -> bool:
    """Whether an insertion, and what data points make of a form, are forms; and whether steps are enough."""
    about = own(document)
    program, forms = about["program"], {tuple(sorted(form)) for form in about["forms"]}
    if not program["deletes"] or (program["shared"] and program["drops"]):
        return False
    needed = {(1,)}
    for form in forms if program["drops"] else ():  # where a slot is full, its point is dropped
        if sum(form):
            needed.add(tuple(sorted((*form, -1 if sum(form) > 0 else 1))))
    return needed <= forms and all({*form} <= {1, -1} and len(form) <= about["steps"] for form in forms)


def test_exactly_what_is_true_is_accepted(tmp_path: Path) -> None:
    """All programs with all sets of some forms: what data points make of one is one, and steps suffice."""
    sets = chain.from_iterable(combinations(FORMS, size) for size in range(len(FORMS) + 1))
    made = [
        stated(*program, [*forms], steps)
        for forms in sets
        for program in product((False, True), repeat=3)
        for steps in (1, 2, 3)
    ]
    wanted = [is_true(document) for document in made]
    counts = agreed(made, tmp_path)
    assert counts == {"accepted": wanted.count(True), "rejected": wanted.count(False)}
    answers = by_program(built(), [tmp_path / f"{k}.json" for k in range(len(made))])
    assert [answer.word == "accepted" for answer in answers] == wanted
