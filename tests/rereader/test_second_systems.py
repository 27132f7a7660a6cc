"""Interactive systems, read a second time: every shipped one agrees, and another one does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from calling_tools import called
from engine_documents import engine_document

from paramverify.evidence import envelope
from paramverify.interactive.system_cases import load
from paramverify.interactive.system_certificates import subject
from paramverify.rereader.second_reading import SecondLook, second_look
from paramverify.rereader.second_systems import SlotSystem

FOLDER = Path(__file__).parents[2] / "cases" / "interactive"
Json = dict[str, Any]


def document_of(path: Path) -> Json:
    """Returns the system and the bound of a case as evidence has them."""
    own = {"kind": "unwinding", **subject(load(path))}
    return json.loads(json.dumps(envelope.document("holds", envelope.statements(own))))  # type: ignore[no-any-return]


def own(document: Json) -> Json:
    """Returns the statement about the system."""
    return next(s for s in document["statements"] if s["kind"] in ("unwinding", "slots"))  # type: ignore[no-any-return]


def looked(document: Json, path: Path) -> SecondLook:
    """Returns what the second reader says."""
    return second_look(document, path.read_text())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda p: p.stem)
def test_every_shipped_system_is_read_a_second_time(path: Path) -> None:
    """States, steps, probabilities and bounds of all shipped systems agree."""
    document = document_of(path)
    look = looked(document, path)
    assert (look.compared, look.agrees) == (True, True), look.line
    assert look.line.startswith(f"read a second time: {len(own(document)['system']['states']):,} states")


def weight(document: Json) -> None:
    """Two probabilities of one step, exchanged."""
    step = next(
        s for row in own(document)["system"]["rows"] for _, s in row if len({str(w) for _, w in s}) > 1
    )
    other = next(k for k, (_, w) in enumerate(step) if w != step[0][1])
    step[0][1], step[other][1] = step[other][1], step[0][1]


def target(document: Json) -> None:
    """A data point that leads to another state."""
    rows = own(document)["system"]["rows"]
    action, step = rows[0][0]
    assert action == 0
    rows[0][0] = [action, [[(step[0][0] + 1) % len(rows), "1"]]]


def fewer(document: Json) -> None:
    own(document)["system"]["rows"][0].pop()


def bound(document: Json) -> None:
    given = own(document)["ratio"]
    own(document)["ratio"] = f"2*{given}" if isinstance(given, str) else [f"2*{given[0]}", given[1]]


def named(document: Json) -> None:
    own(document)["system"]["states"][1] += "'"


def exchanged(document: Json) -> None:
    """Two names of responses."""
    names = own(document)["system"]["responses"]
    names[0], names[1] = names[1], names[0]


def data_as_queries(document: Json) -> None:
    own(document)["system"]["queries"].insert(0, own(document)["system"]["data"].pop())


def assumed(document: Json) -> None:
    own(document)["system"]["partial"] = not own(document)["system"]["partial"]


def begun(document: Json) -> None:
    own(document)["system"]["initial"] = 1


def boxed(document: Json) -> None:
    document["domains"][0]["box"]["p"] = "(0, 1/2)"


FORGED = [weight, target, fewer, bound, named, exchanged, data_as_queries, assumed, begun, boxed]


@pytest.mark.parametrize("name", ["survey-subroutines", "slots-2-symbolic"])
@pytest.mark.parametrize("forge", FORGED)
def test_a_forged_system_is_noticed(name: str, forge: Callable[[Json], None]) -> None:
    """Another probability, step, name, action, start, bound or domain is not that of the case."""
    path = FOLDER / f"{name}.toml"
    document = document_of(path)
    forge(document)
    look = looked(document, path)
    assert (look.compared, look.agrees) == (True, False), look.line


def test_another_case_is_noticed(tmp_path: Path) -> None:
    """Other noise, memory, ranges, points or subroutines make another system."""
    for name, old, new in (
        ("slots-2-symbolic", '"p"', '"p**2"'),
        ("slots-2", "points = 1", "points = 2"),
        ("slots-2", "range = 2", "range = 3"),
        ("slots-2", "[-1, 1]", "[1, -1]"),
        ("slots-2", "slots = 2\n", 'slots = 2\nfull = "never"\n'),
        ("slots-2", "slots = 2\n", 'slots = 2\nmemory = "shared"\n'),
        ("slots-2", "slots = 2\n", "slots = 2\ndelete = false\n"),
        ("slots-2", '["count", "sum"]', '["sum", "count"]'),
        ("sample-n", 'sampled = "p"', 'sampled = "p", line_06 = "printed"'),
        ("survey", '"1-p"', '"1-p/2"'),
        ("survey-subroutines", 'ends = { mine = "say less"', 'ends = { mine = "say more"'),
        ("survey-subroutines", 'start = "first"', 'start = "second"'),
        ("survey", '"1/(1-p)"', '"2/(1-p)"'),
    ):
        path, other = FOLDER / f"{name}.toml", tmp_path / "other.toml"
        text = path.read_text()
        assert old in text
        other.write_text(text.replace(old, new))
        look = looked(document_of(path), other)
        assert (look.compared, look.agrees) == (True, False), (name, new, look.line)


def test_states_of_subroutines_have_names_of_their_own(tmp_path: Path) -> None:
    """Where a name is taken, by the system or by a state of the subroutine, both readers add the same."""
    path = tmp_path / "case.toml"
    text = (FOLDER / "survey-subroutines.toml").read_text().replace("say more", "find none: first")
    path.write_text(text.replace("second = ", '"first\'" = '))
    document = document_of(path)
    names = own(document)["system"]["states"]
    assert {"find none: first", "find none: first'", "find none: first''", "find one: first'"} <= {*names}
    assert looked(document, path).agrees, looked(document, path).line


def test_a_budget_has_a_bound_of_its_own(tmp_path: Path) -> None:
    """The evidence of a least bound is read a second time, but its bound is not that of the case."""
    path, evidence = FOLDER / "slots-2-symbolic.toml", tmp_path / "evidence.json"
    text = path.read_text().replace("-4*ln(p)", "-5*ln(p)")
    case = tmp_path / "case.toml"
    case.write_text(text)
    assert called("budget", str(case), "--evidence", str(evidence)).code == 0
    document = json.loads(evidence.read_text())
    assert "and the bound" not in looked(document, case).line
    assert looked(document, case).compared
    del own(document)["tight"]
    assert not looked(document, case).agrees


def test_every_number_of_slots(tmp_path: Path) -> None:
    """What slots do with data points is compared for evidence about every number of them."""
    path, evidence = FOLDER / "slots-2.toml", tmp_path / "evidence.json"
    assert called("interactive", str(path), "--every", "--evidence", str(evidence)).code == 0
    document = json.loads(evidence.read_text())
    assert looked(document, path).line == "read a second time: what slots do with data points agrees"
    program = own(document)["program"]
    for key in program:
        program[key] = not program[key]
        assert not looked(document, path).agrees, key
        program[key] = not program[key]


@pytest.mark.parametrize(("drops", "shared", "deletes"), list(product((True, False), repeat=3)))
def test_what_slots_do(drops: bool, shared: bool, deletes: bool) -> None:
    """Each of three things is that of the case, which is about slots."""
    program = {"drops": drops, "shared": shared, "deletes": deletes}
    document = engine_document("slots", program=program)
    for more in product(
        ("", 'full = "drop"', 'full = "never"'), ("", 'memory = "shared"'), ("", "delete = false")
    ):
        same = [drops, shared, deletes] == ["never" not in more[0], bool(more[1]), not more[2]]
        for kind in ("slots", "table"):
            text = "\n".join(("[system]", f'kind = "{kind}"', *more))
            assert second_look(document, text).agrees is (same and kind == "slots"), text


@pytest.mark.parametrize(("answer", "printed"), list(product(range(-1, 5), (False, True))))
def test_coins_end_with_the_noise(answer: int, printed: bool) -> None:
    """Coins add truncated geometric noise; with line 06 as printed only where its loop never runs."""
    noise = {"sampled": "1/3"} | ({"line_06": "printed"} if printed else {})
    entries: Any = {"kind": "slots", "slots": 1, "points": 1, "data": [1]}
    entries["queries"] = {"count": {"range": "-1..4", "noise": noise}}
    at: Any = SimpleNamespace(number=Fraction)
    system, p = SlotSystem({"system": entries}, at), Fraction(1, 3)
    found, pending = dict.fromkeys(range(-1, 5), Fraction(0)), [(f"- count {answer}: line 02", Fraction(1))]
    for state, chance in pending:
        if " answers " in state:
            found[int(state.split()[-1])] += chance
        else:
            steps = system.rows(state)["flip"]
            assert all(steps.values())
            pending += [(after, chance * w) for after, w in steps.items()]
    share = {o: p ** abs(o - answer) * (1 if o in (-1, 4) else 1 - p) / (1 + p) for o in found}
    assert (found == share) == (not printed or answer <= 1)
