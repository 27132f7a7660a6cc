"""Small documents about formulas, written by hand: each forgery breaks one check and no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import pytest
from engine_documents import NO_PARAMETERS, Json, comparison, engine_document, own
from three_checkers import asked_later

from paramverify.kernel.claim_evidence import MALFORMED
from paramverify.kernel.formula_evidence import stated, words
from paramverify.kernel.ledger import Demanded

checked, compared_with_the_proved_checker = asked_later()

Change = Callable[[Json], Any]
TRUE, FALSE = ["true"], ["false"]
P, Q = ["label", "p"], ["label", "q"]
AT_P = ["next", P]  # s reaches p with 1/4, and t with 1/2
TIGHT = ["D", "2", "0", AT_P]
UNTIL = ["until", TRUE, P, 0, None]

COIN: Json = {
    "states": ["s", "t", "yes", "no"],
    "actions": ["*"],
    "scheduled": True,
    "initial": [0],
    "steps": [[[2, "1/4"], [3, "3/4"]], [[2, "1/2"], [3, "1/2"]], [[2, "1"]], [[3, "1"]]],
    "rows": [[0], [1], [2], [3]],
    "labels": {"p": [2], "q": [3]},
    "neighbours": [[0, 1]],
}
# Under a both states are like s above, under b the second one is certain to reach p.
PROCESS: Json = {
    **COIN,
    "actions": ["a", "b"],
    "rows": [[0, 0], [0, 2], [2, 2], [3, 3]],
}
# A decision process without D: two choices in the first state, one in the others.
CHOICES: Json = {**COIN, "scheduled": False, "rows": [[1, 0], [1], [2], [3]]}
# While the walk goes on with 1/2 for s and with 1/3 for t, it stays in q.
WALK: Json = {
    **COIN,
    "steps": [[[0, "1/2"], [2, "1/2"]], [[1, "1/3"], [2, "2/3"]], [[2, "1"]], [[3, "1"]]],
    "labels": {"p": [2], "q": [0, 1]},
}


def later(low: int, high: int | None = None) -> Any:
    """Returns the formula that p comes after k + low steps in q, at most k + high if a number is given."""
    return ["until", Q, P, {"more": low}, None if high is None else {"more": high}]


def document(model: Json, *entries: Json, domain: Json = NO_PARAMETERS, beside: Sequence[Json] = ()) -> Json:
    """Returns a document about formulas: entries have a formula, and what is said of it."""
    named = [{"name": f"f{k}", "text": f"text {k}", **entry} for k, entry in enumerate(entries)]
    words = [entry["status"] for entry in named]
    status = next(word for word in ("violated", "unknown", "holds") if word in words)
    return engine_document("formulas", status, domain, beside, model=model, formulas=named)


def holds(formula: Any, **more: Any) -> Json:
    return {"formula": formula, "status": "holds", **more}


def broken(formula: Any, **more: Any) -> Json:
    return {"formula": formula, "status": "violated", "parameters": {}, "state": 0, **more}


def unknown(formula: Any, **more: Any) -> Json:
    return {"formula": formula, "status": "unknown", **more}


def first(**changes: Any) -> Change:
    """Changes what the first entry says."""
    return lambda d: own(d)["formulas"][0].update(changes)


def without(name: str) -> Change:
    return lambda d: own(d)["formulas"][0].pop(name)


def model(**changes: Any) -> Change:
    return lambda d: own(d)["model"].update(changes)


def rejected(found: Json, words: str) -> None:
    """Asserts that a document is rejected, and for this reason."""
    report = checked(found)
    assert not report.accepted
    assert len(report.lines) == 1
    assert words in report.lines[0]


def ends(first_: int, last: int | None) -> dict[str, Any]:
    return {"family": {"first": first_, "last": last}}


PLAIN = document(COIN, holds(TRUE))
SEVERAL = document(WALK, holds(["D", "2", "0", later(0)], **ends(1, 2)))
TAIL = document(WALK, holds(["D", "1", "1/2", later(0)], **ends(1, None), until=2, argument="tail"))
LIKE = {**WALK, "steps": [WALK["steps"][0], [[0, "1/2"], [2, "1/2"]], *WALK["steps"][2:]]}
EQUAL = document(LIKE, holds(["D", "1", "0", later(0, 1)], **ends(1, None), until=1, argument="equality"))
BROKEN = document(COIN, broken(["D", "3/2", "0", AT_P]))
MEMBER = document(WALK, broken(["D", "1", "1/10", later(0)], **ends(2, 3), index=2))
ENDLESS = document(WALK, broken(["D", "1", "1/10", later(0)], **ends(1, None), index=2))
WORD = document(PROCESS, broken(["D", "2", "0", UNTIL], actions=["b"], repeated=1))
POINTS = {
    **document(
        {**COIN, "steps": [[[2, "c"], [3, "-c + 1"]], *COIN["steps"][1:]]},
        holds(TRUE),
        domain={"variables": ["c"], "box": {"c": "(0, 1]"}, "constraints": [["-c + 3/4", ">="]]},
        beside=[comparison(f, {"kind": "bernstein", "tree": ["+"]}) for f in ("c", "-c + 1")],
    ),
    "points": [{"c": "1/4"}, {"c": "3/4"}],
}

OBLIGATION = {"kind": "obligation", "domain": 0, "polynomial": "1", "proof": {"kind": "constant"}}

DOCUMENTS: dict[str, tuple[Json, str, Change]] = {
    # the document
    "no formulas": (PLAIN, "must have different names", lambda d: own(d).update(formulas=[])),
    "one name twice": (
        document(COIN, holds(TRUE), holds(TRUE)),
        "must have different names",
        lambda d: own(d)["formulas"][1].update(name="f0"),
    ),
    "another form": (PLAIN, "must be a list of 1", first(formula=["true", "p"])),
    "a negative step": (PLAIN, "must not be negative", first(formula=["until", TRUE, P, -1, None])),
    "other words together": (
        PLAIN,
        "rejected: status: the formulas together are 'holds'",
        lambda d: d.update(status="unknown"),
    ),
    "a point outside": (POINTS, "points[1]", lambda d: d["points"][1].update(c="7/8")),
    "a point at the open end": (POINTS, "points[0]", lambda d: d["points"][0].update(c="0")),
    "a sign without a proof": (POINTS, "not shown to be nonnegative", lambda d: d["statements"].pop(1)),
    "a needless negative": (POINTS, "must use a strict", lambda d: d["statements"][0].update(negated="-c")),
    "an obligation": (
        PLAIN,
        "rejected: statements[0]: this does not belong",
        lambda d: d["statements"].insert(0, OBLIGATION),
    ),
    # what goes with what is said
    "a reason of what holds": (PLAIN, "this key is unknown", first(reason="none")),
    "a state of what holds": (PLAIN, "this key is unknown", first(state=0)),
    "an argument of what is violated": (
        ENDLESS,
        "this key is unknown",
        first(argument="tail", until=3),
    ),
    "k without a family": (SEVERAL, "where there is none", without("family")),
    "an index without a family": (BROKEN, "where there is none", first(index=1)),
    "an argument without a family": (PLAIN, "where there is none", first(argument="tail", until=1)),
    "a family of none": (SEVERAL, "a family without a member", first(**ends(2, 1))),
    "an endless family without an argument": (
        SEVERAL,
        "an argument is required for a family without a last member",
        first(**ends(1, None)),
    ),
    "an argument of a finite family": (
        TAIL,
        "an argument is required for a family without a last member",
        first(**ends(1, 2)),
    ),
    "an argument from nowhere on": (
        TAIL,
        "an argument is required for a family without a last member",
        without("until"),
    ),
    "from somewhere on, without an argument": (
        TAIL,
        "an argument is required for a family without a last member",
        without("argument"),
    ),
    "from somewhere on, in a finite family": (
        SEVERAL,
        "an argument is required for a family without a last member",
        first(until=1),
    ),
    "no point": (BROKEN, "is missing", without("parameters")),
    "no state": (BROKEN, "is missing", without("state")),
    "no member": (MEMBER, "is missing", without("index")),
    "actions that do not go on": (WORD, "actions come with", without("repeated")),
    "a number of actions without them": (BROKEN, "actions come with", first(repeated=1)),
    # formulas that are true
    "false in a member": (SEVERAL, "not shown that the formula is true", first(**ends(1, 3))),
    "an argument before the first member": (TAIL, "before the first member", first(until=0)),
    "a tail that is not small yet": (
        TAIL,
        "the argument for larger members does not hold",
        first(formula=["D", "1", "1/3", later(0)], until=1),
    ),
    "false with a good argument": (
        TAIL,
        "not shown that the formula is true",
        first(formula=["D", "1", "1/10", later(0)], until=5),
    ),
    "false with an argument that fails": (
        TAIL,
        "not shown that the formula is true",
        first(formula=["D", "1", "1/10", later(0)]),
    ),
    "a label that is none": (PLAIN, "no label 'r'", first(formula=["label", "r"])),
    # formulas that are false
    "a point that gives too much": (BROKEN, "a point must give", first(parameters={"c": "1"})),
    "no action": (WORD, "no action of the model", first(actions=["b", "c"], repeated=1)),
    "no action repeated": (WORD, "are repeated", first(repeated=0)),
    "more actions repeated than there are": (WORD, "are repeated", first(repeated=2)),
    "a word without a difference": (WORD, "not shown that the formula is false", first(actions=["a"])),
    "a member before the first one": (MEMBER, "no member of the family", first(**ends(3, 3))),
    "a member after the last one": (MEMBER, "no member of the family", first(**ends(1, 1))),
    "a member before an endless family": (ENDLESS, "no member of the family", first(**ends(3, None))),
    "a state where it does not start": (BROKEN, "not an initial state", first(state=1)),
    "a formula that is true": (BROKEN, "not shown that the formula is false", first(formula=TIGHT)),
    # the model
    "a state twice": (
        PLAIN,
        "model.states[1]: the name 's' is listed twice",
        model(states=["s", "s", "y", "n"]),
    ),
    "an action twice": (
        document(PROCESS, holds(TRUE)),
        "model.actions[1]: the name 'a' is listed twice",
        model(actions=["a", "a"]),
    ),
    "no action at all": (PLAIN, "model.actions: the model must have at least one", model(actions=[])),
    "no state at all": (PLAIN, "model.states: the model must have at least one", model(states=[], rows=[])),
    "no initial state": (PLAIN, "the model has no initial state", model(initial=[])),
    "an action without a step": (
        document(PROCESS, holds(TRUE)),
        "there must be one step for each action",
        model(rows=[[0, 0], [0], [2, 2], [3, 3]]),
    ),
    "a step without an action": (
        PLAIN,
        "there must be one step for each action",
        model(rows=[[0, 1], [1], [2], [3]]),
    ),
    "no choice": (
        document(CHOICES, holds(TRUE)),
        "there must be one step for each action",
        model(rows=[[1, 0], [], [2], [3]]),
    ),
    "no such step": (PLAIN, "the model has no such step", model(rows=[[4], [1], [2], [3]])),
    "no such second step": (
        document(CHOICES, holds(TRUE)),
        "the model has no such step",
        model(rows=[[0, 4], [1], [2], [3]]),
    ),
    "a step to no state": (PLAIN, "a successor is not a state", model(steps=[[[2, "1/4"], [4, "3/4"]]] * 4)),
    "probabilities of more than one": (PLAIN, "do not sum to one", model(steps=[[[2, "1"], [3, "1"]]] * 4)),
    "probabilities of less than one": (PLAIN, "do not sum to one", model(steps=[[[2, "1/2"]]] * 4)),
    "a negative probability": (
        PLAIN,
        "not shown to be nonnegative",
        model(steps=[[[2, "3/2"], [3, "-1/2"]]] * 4),
    ),
    "a denominator of zero": (PLAIN, "not shown to be positive", model(steps=[[[2, ["1", "0"]]]] * 4)),
    "a negative denominator": (PLAIN, "not shown to be positive", model(steps=[[[2, ["-1", "-1"]]]] * 4)),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_one_check_is_violated(name: str) -> None:
    """A true document is accepted; with one change it is rejected by the check that is about it."""
    true, words, change = DOCUMENTS[name]
    report = checked(true)
    assert report.accepted, report.lines
    false = deepcopy(true)
    change(false)
    rejected(false, words)


ACCEPTED: dict[str, Json] = {
    "a family of one member": document(WALK, holds(["D", "2", "0", later(0)], **ends(1, 1))),
    "the first member": MEMBER,
    "the last member": document(WALK, broken(["D", "1", "1/10", later(0)], **ends(2, 3), index=3)),
    "one that is far in an endless family": document(
        WALK, broken(["D", "1", "0", later(0)], **ends(0, None), index=7)
    ),
    "an argument from the first member on": document(
        WALK, holds(["D", "1", "1/2", later(0)], **ends(2, None), until=2, argument="tail")
    ),
    "equality": EQUAL,
    "a word that is repeated as a whole": document(
        PROCESS, broken(["D", "2", "0", UNTIL], actions=["b", "a"], repeated=2)
    ),
    "no word, where there is no choice": document(COIN, broken(["D", "3/2", "0", UNTIL])),
    "an empty word": document(COIN, broken(["D", "3/2", "0", UNTIL], actions=[], repeated=0)),
    "the smallest over all choices": document(CHOICES, holds(["P", ">=", "1/4", AT_P])),
    "the largest over all choices": document(CHOICES, holds(["P", "<=", "1/2", AT_P])),
    "larger for one of all choices": document(CHOICES, broken(["P", "<", "1/2", AT_P])),
    "an action that is called differently": document({**COIN, "actions": ["go"]}, holds(TIGHT)),
    "a formula of which nothing is said": document(COIN, unknown(later(0), **ends(2, 1), reason="so")),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_true_documents(name: str) -> None:
    """What is true and shown is accepted."""
    report = checked(ACCEPTED[name])
    assert report.accepted, report.lines


UNSHOWN: dict[str, tuple[Json, str]] = {
    "more than the smallest over all choices": (
        document(CHOICES, holds(["P", ">", "1/4", AT_P])),
        "not shown that the formula is true",
    ),
    "less than the largest over all choices": (
        document(CHOICES, holds(["P", "<=", "1/4", AT_P])),
        "not shown that the formula is true",
    ),
    "D where choices are no queries": (document(CHOICES, holds(TIGHT)), "the model declares no scheduler"),
    "D without neighbours, where choices are no queries": (
        document({**CHOICES, "neighbours": []}, holds(TIGHT)),
        "the model declares no scheduler",
    ),
    "a path formula": (document(COIN, holds(AT_P)), "a path formula stands"),
}


@pytest.mark.parametrize("name", UNSHOWN)
def test_what_is_not_shown(name: str) -> None:
    """What is false, and what has no meaning, is rejected."""
    rejected(*UNSHOWN[name])


PAIR = (P, ["not", Q])
TOLD: list[tuple[Any, str]] = [
    (["label", 'a "b"'], "\"a 'b'\""),
    (["not", ["next", FALSE]], "!X false"),
    *((["and", list(PAIR[:n])], text) for n, text in enumerate(("true", '("p")', '("p" & !"q")'))),
    *((["or", list(PAIR[:n])], text) for n, text in enumerate(("false", '("p")', '("p" | !"q")'))),
    (["until", TRUE, P, 0, None], 'F "p"'),
    (["until", FALSE, P, 2, None], '(false U>=2 "p")'),
    (["release", FALSE, P, 2, 2], 'G=2 "p"'),
    (["release", TRUE, P, 0, 3], '(true R<=3 "p")'),
    (later(0), '("q" U>=k "p")'),
    (later(-2, 1), '("q" U[k-2, k+1] "p")'),
    (later(1, 1), '("q" U=k+1 "p")'),
    (["P", "<", "1/2", AT_P], 'P<1/2 [ X "p" ]'),
    (["P", ">=", ["c", "c + 1"], Q], 'P>=(c)/(c + 1) [ "q" ]'),
    (["D", "1", "1/3", Q], 'D{0, 1/3}[ "q" ]'),
]


@pytest.mark.parametrize(("formula", "text"), TOLD, ids=str)
def test_formulas_in_words(formula: Any, text: str) -> None:
    """Each operator has its sign, and a family says for which numbers."""
    assert words(formula) == stated({"formula": formula}) == text
    for last, end in ((None, ""), (0, "0"), (3, "3")):
        told = stated({"formula": formula, "family": {"first": 2, "last": last}})
        assert told == f"forall k in 2..{end}: {text}"


def test_what_a_report_says() -> None:
    """One line for each formula; proved, open and trusted ones are counted, and solvers are named."""
    found = document(COIN, holds(TIGHT), broken(["D", "1", "0", AT_P]), unknown(TRUE), holds(TRUE))
    report = checked(found)
    shown = [
        'formula 1: true: D{ln(2), 0}[ X "p" ]',
        'formula 2: false: D{0, 0}[ X "p" ]',
        "formula 3: undecided: true",
        "formula 4: true: true",
    ]
    assert list(report.lines) == shown
    named = ["f0: true: text 0", "f1: false: text 1", "f2: undecided: text 2", "f3: true: text 3"]
    assert list(checked(found, Demanded()).lines) == named
    assert (report.proved, report.trusted, report.open, report.status) == (3, 0, 1, "violated")
    assert (report.solvers, report.unit) == ((), "formula")
    trusted = {"kind": "solver", "solver": "z3", "version": "4"}
    found["domains"] = [{"variables": ["c"], "box": {"c": "(0, 1)"}, "constraints": [["c", ">"]]}]
    own(found)["formulas"][1]["parameters"] = {"c": "1/2"}
    found["statements"].insert(0, comparison("c", trusted))
    report = checked(found)
    assert list(report.lines) == [*shown, "trusted to 'z3 4'"]
    # A formula that is false at its point rests on no solver.
    assert (report.proved, report.trusted, report.open, report.solvers) == (1, 2, 1, ("z3 4",))


def test_signs_that_are_asked_for() -> None:
    """Somebody else may decide signs in place of the comparisons, and then none has to be there."""
    assert not checked(POINTS, ask=lambda poly, strict: False).accepted
    found = {**POINTS, "statements": [own(POINTS)]}
    assert not checked(found).accepted
    assert checked(found, ask=lambda poly, strict: True).accepted
    assert not checked(found, ask=lambda poly, strict: False).accepted


@pytest.mark.parametrize("error", MALFORMED)
def test_errors_are_no_evidence(error: type[Exception]) -> None:
    """Whatever malformed evidence makes of a computation, it is not accepted."""

    def ask(poly: Any, strict: bool) -> bool:
        raise error

    report = checked(POINTS, ask=ask)
    assert not report.accepted
    assert "malformed document" in report.lines[0]
