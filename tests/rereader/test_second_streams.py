"""Programs over streams, read a second time: what each turn does, by hand, and what no automaton does."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paramverify.automata.automaton_evidence import machine
from paramverify.automata.stream_cases import load
from paramverify.automata.stream_programs import Unit, translate
from paramverify.automata.stream_verdicts import decide
from paramverify.errors import ProgramError
from paramverify.kernel.strict_reading import Rejected, UnreadCase
from paramverify.models.programs.program_reading import read_program
from paramverify.models.programs.stream_loops import stream_of
from paramverify.portfolio.session import Options
from paramverify.reports.stream_reports import stream_evidence_document
from paramverify.rereader import second_stream_programs, second_streams
from paramverify.rereader.second_reading import MISTAKES, second_look
from paramverify.rereader.second_stream_programs import NoisyEntry, ProgramTurn, StreamProgram, TurnSegment
from paramverify.rereader.second_streams import SideBySide, claimed, compare_stream, divided, spoken
from paramverify.rereader.second_values import PowerSum

START = "t = laplace(2 / eps)\nu = 1 + laplace(1 / eps)\nn = 0\n"
CONSTANTS = {"eps": PowerSum.variable("eps"), "c": Fraction(3)}


def program(body: str, start: str = START) -> StreamProgram:
    """A program whose loop has these lines."""
    return StreamProgram(source(body, start), CONSTANTS)


def source(body: str, start: str = START) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f'{start}for x in stream(values="real"):\n{lines}'


def automaton(body: str, start: str = START) -> dict[str, Any]:
    """What the first reader finds."""
    numbers: Any = {"eps": Unit(Fraction(1)), "c": Fraction(3)}
    return machine(translate(stream_of(read_program(source(body, start))), numbers))


def drawn(kind: NoisyEntry) -> str:
    return f"{kind.number}{'+x' * kind.entry}~{' '.join(map(str, kind.rates))}"


def shown(segment: TurnSegment) -> str:
    """A segment in words: the draw, its names, the comparisons, the outputs, and a second noise."""
    names = "".join(f" ={name}" for name in sorted(segment.stored))
    guards = "".join(f" {'>' if above else '<'}{name}" for name, above in segment.guards)
    told = "".join(f" :{word}" for word in segment.told)
    again = f" again {drawn(segment.second)}" if segment.second else ""
    return f"{drawn(segment.kind) if segment.kind else ''}{names}{guards}{told}{again}".strip()


def turns(own: StreamProgram) -> list[str]:
    """All turns after the first statements, in words; one that ends the run has a full stop."""
    start = ProgramTurn(own, None, ()).go().after()
    return [
        " | ".join(map(shown, turn.segments)).removeprefix(" | ") + "." * turn.over
        for turn in own.turns(start, ())
    ]


TOLD = {
    'y = x + laplace(4 / eps)\nif y >= t:\n    output("a")\n    stop\noutput("b")': [
        "0+x~1/4 =y >t :a.",
        "0+x~1/4 =y <t :b",
    ],
    "if 2 - 1 + x - 1/2 + laplace(c / eps) < t:\n    output(True)": ["1/2+x~1/3 >t", "1/2+x~1/3 <t :True"],
    "y = x - laplace(1 / eps)\nif t < y and not u <= y or y > t:\n    output([1, n])": [
        "0+x~1 =y >t >u :[1, 0]",
        "0+x~1 =y >t <u :[1, 0]",
        "0+x~1 =y <t",
    ],
    "if laplace(1 / eps) > t and u > x + laplace(2 / eps):\n    output(1/2)": [
        "0~1 >t | 0+x~1/2 >u",
        "0~1 >t | 0+x~1/2 <u :1/2",
        "0~1 <t | 0+x~1",
    ],
    "t = laplace(1 / eps)\nif t <= x + laplace(5 / eps):\n    output(n)\n    n = 1": [
        "0~1 =t | 0+x~1/5 >t :0",
        "0~1 =t | 0+x~1/5 <t",
    ],
    "output(x + laplace(4 / eps))\noutput(1 + x + laplace(3 / eps))\nt = 2 + laplace(1 / eps)": [
        "0+x~1/4 :insample :insample' again 1+x~1/3 | 2~1 =t"
    ],
    "y = x + laplace(4 / eps)\noutput(x + laplace(3 / eps))\noutput(x + laplace(3 / eps))\noutput(y)": [
        "0+x~1/4 =y :insample' :insample' :insample again 0+x~1/3"
    ],
    "y = x + laplace(4 / eps)\noutput(laplace(3 / eps))": ["0+x~1/4 =y | 0~1/3 :insample"],
    "y = laplace(3 / eps)\noutput(x + laplace(4 / eps))": ["0~1/3 =y | 0+x~1/4 :insample"],
    "y = laplace(1 / eps)\nif x + laplace(2 / eps) > t:\n    output(1)": [
        *("0~1 =y | 0+x~1/2 >t :1", "0~1 =y | 0+x~1/2 <t")
    ],
    "b = [1]\na = [b, 2]\na[0] = 5\noutput([a, b])": [":[[5, 2], [1]] | 0+x~1"],
    "a = [laplace(1 / eps), 2, [n, laplace(3 / eps)]]\na[2][0] = 5\na[1] = 7\noutput([a[1], a[2][0]])": [
        "0~1 =a[0] | 0~1/3 =a[2][1] :[7, 5] | 0+x~1"
    ],
    "a = laplace(1 / eps)\nb = a\noutput(a)": ["0~1 =a =b :insample | 0+x~1"],
    "for k in [0, 1, 2]:\n    if k == 1:\n        continue\n    output(k)\nreturn 5": [":0 :2 :5."],
    "stop": ["."],
    "break": ["."],
    "a = [x, 1]\nn += 1\noutput(n)": [":1 | 0+x~1"],
    'output("insample")\noutput("True")\noutput("a_1")\noutput(["a b", True])': [
        ':"insample" :"True" :a_1 :["a b", True] | 0+x~1'
    ],
    "if 1 + n > 0 and not c < 3:\n    output(2 ** 3 // 3)": [":2 | 0+x~1"],
    "a, b = [laplace(1 / eps), 1], laplace(2 / eps)\na = 4 if b > a[0] else 3\noutput(a)": [
        "0~1 =a[0] | 0~1/2 =b >a[0] :4 | 0+x~1",
        "0~1 =a[0] | 0~1/2 =b <a[0] :3 | 0+x~1",
    ],
    "n += 1\nif n == 1 and c > 2:\n    output(sum([n, c]))": [":4 | 0+x~1"],
}


@pytest.mark.parametrize("body", TOLD)
def test_what_a_turn_does(body: str) -> None:
    """Draws, names, comparisons and outputs are those of the text; what no draw can change is told too."""
    assert turns(program(body)) == TOLD[body]


def test_a_name_of_the_entry_before_the_loop() -> None:
    """It is a variable as others are, of which the loop sees nothing; a text may begin with its title."""
    own = program("output(n)", '"""A title."""\nx = 4\nx += 1\nn = x\nt = laplace(1 / eps)\n')
    assert turns(own) == [":5 | 0+x~1"]
    assert shown(ProgramTurn(own, None, ()).go().segments[1]) == "0~1 =t"
    kept = program("output(a)\na = x + 1\nb = [0, x]\nn = 2")
    after = ProgramTurn(kept, {"a": Fraction(1), "n": Fraction(0)}, ()).go().after()
    assert after == {"n": 2}  # what depends on an entry is not kept


REFUSED = [
    *("if t > u:\n    output(1)", "if x > t:\n    output(1)", "if x > 1:\n    output(1)"),
    *("if n > laplace(1 / eps):\n    output(1)", "if laplace(1 / eps) > laplace(2 / eps):\n    output(1)"),
    *("if laplace(1 / eps) == t:\n    output(1)", "if laplace(1 / eps) != t:\n    output(1)"),
    *("if t < laplace(1 / eps) < u:\n    output(1)", "t = max(laplace(1 / eps), t)", "t = min(t, u)"),
    *("t = max([laplace(1 / eps), t]) + 1", "t = max(x + laplace(1 / eps), t) - 1"),
    *("a = [laplace(1 / eps)] * 2\nif a[0] > t:\n    output(1)", "a = 2 * [x + laplace(1 / eps)]"),
    *("y = 2 * laplace(1 / eps)", "y = laplace(1 / eps) / 2", "y = t + 1", "y = 1 - u", "y = t + u"),
    *("y = 1 - x + laplace(1 / eps)", "y = laplace(1 / eps) - x", "y = x + x + laplace(1 / eps)"),
    *("y = x + laplace(1 / eps) + laplace(1 / eps)", "y = laplace(1 / eps) - laplace(1 / eps)"),
    *("y = laplace(1)", "y = laplace(1 / eps, 2)", "y = abs(t)"),
    *("y = x + laplace(1 / eps)\nz = x + laplace(1 / eps)", "if x + laplace(1 / eps) > t - 1:\n    pass"),
    *("y = t", "a = [t]", "n = t\n", "output(t)", "output([laplace(1 / eps)])", "output(x)", "output(eps)"),
    *("c = 1", "x = 1", "x += 1", "eps = 2", "for c in [1]:\n    pass", "output(v)", "v += 1"),
    *(
        "if n:\n    output(1)",
        "if t:\n    output(1)",
        "while n:\n    pass",
        "output(not n)",
        "output(n or 1)",
    ),
    *("if [n, t] == [0, t]:\n    output(1)", "if [t, n] != [n]:\n    output(1)", "output(1 in [t])"),
    *(
        "if [0] == [n, t]:\n    output(1)",
        "if eps + 1 > eps:\n    pass",
        "if eps > 1:\n    pass",
        "if 1 < eps:\n    output(1)",
    ),
    *("a, b = [1]", "a, b = 1, 2, 3", "output(x + laplace(1 / eps))\noutput(x)"),
    *("y = x + laplace(1 / eps)\nt = laplace(1 / eps)\noutput(x + laplace(1 / eps))", "if 1 > t:\n    pass"),
    "output(x + laplace(1 / eps) + laplace(1 / eps))",
    "output(x + laplace(1 / eps))\noutput(x + laplace(2 / eps))\noutput(x + laplace(3 / eps))",
    "y = x + laplace(1 / eps)\noutput(x + laplace(2 / eps) + laplace(3 / eps))",
]
UNREAD = [
    *("y = laplace(-1 / eps)", "y = laplace(eps)", "f(1)", "a, b = 1", "[1][0] = 2", "n.a = 1"),
    *("output(1, 2)", "laplace(1 / eps)", "a = [[1]]\nb = a[0]\nb[0] = 2", "a = [laplace(1 / eps)]\nb = a"),
    "a = [[[1]]]\nb = a[0][0]\na[0][0][0] = 2",
    *("for a in range(200):\n    for b in range(200):\n        pass", "a = [1, 2]\na[0], a[1] = 2, 1"),
    "a = laplace(1 / eps)\nb = a\nif x + laplace(4 / eps) > a:\n    output(1)",
]


def test_what_no_automaton_does() -> None:
    """Both readers refuse what entries and noise cannot do; so no evidence can be about such a program."""
    for body in REFUSED:
        with pytest.raises((Rejected, *MISTAKES)):
            turns(program(body))
        with pytest.raises((ProgramError, KeyError)):
            automaton(f'{body}\noutput("z")')


def test_what_is_not_read() -> None:
    """Where one thing has two names, or a text has another form, the second reader says so."""
    for body in UNREAD:
        with pytest.raises(UnreadCase):
            turns(program(body))


@pytest.mark.parametrize(
    "text",
    [
        *(
            'stream(values="real")',
            "for x in [1]:\n    pass",
            'for x in stream("real"):\n    pass',
            "",
            "'a'",
        ),
        *('for x, y in stream(values="real"):\n    pass', 'for x in stream(value="real"):\n    pass'),
    ],
)
def test_a_stream_is_at_the_end(text: str) -> None:
    """What has no loop over a stream at its end is none."""
    with pytest.raises((Rejected, UnreadCase)):
        StreamProgram(text, CONSTANTS)


SVT = 'if x + laplace(4 / eps) >= t:\n    output("a")\n    stop\noutput("b")'
QUIET = 'y = x + laplace(4 / eps)\nif y >= t or y >= u:\n    output("a")\n    stop\noutput("b")'
LATE = {
    SVT: False,
    QUIET: False,
    'output("w")\n' + SVT: True,
    "if n > 0:\n    stop\nn = 1\nif x + laplace(4 / eps) > t:\n    output(1)\nelse:\n    output(2)": False,
    "t = laplace(2 / eps)\n" + SVT: True,
    'if x + laplace(4 / eps) >= t:\n    t = laplace(2 / eps)\n    output("a")\nelse:\n    output("b")': False,
    "n += 1\nif n > 2:\n    stop\noutput(n)": True,
    "y = x + laplace(4 / eps)\noutput(1 + x + laplace(3 / eps))\nif n == 0:\n    stop": False,
}


@pytest.mark.parametrize("body", LATE)
def test_an_automaton_beside_its_program(body: str) -> None:
    """The same one agrees; one that is late where the program is not, or has another part, does not."""
    data = automaton(body)
    assert data.get("late", False) is LATE[body]
    assert SideBySide(program(body), data).compare() >= 3
    text = json.dumps(data)
    for old, new in (
        *(('"output": "', '"output": "z'), ('"mean": "0"', '"mean": "1"'), ('"source": 0', '"source": 1')),
        *(('"reads": true', '"reads": false'), ('"second": null', '"second": ["7", "0"]')),
        *(('"above": [0]', '"above": []'), ('"stored": [0]', '"stored": []'), ('"rate": "', '"rate": "1')),
    ):
        changed = json.loads(text.replace(old, new, 1))
        if changed != data:
            with pytest.raises((Rejected, *MISTAKES)):
                SideBySide(program(body), changed).compare()
    with pytest.raises(Rejected, match="before it reads"):
        SideBySide(program(body), data | {"late": not LATE[body]}).compare()


def test_a_place_has_one_second_noise() -> None:
    """A state puts out one second noise: no automaton is a program whose branches have different ones."""
    text = 'y = x + laplace(4 / eps)\nif y >= t:\n    output("a")\n    output(x + laplace({} / eps))\nelse:\n'
    text += '    output("b")\n    output(x + laplace({} / eps))'
    for scale in "23":
        data = automaton(text.format(scale, scale))
        assert SideBySide(program(text.format(scale, scale)), data).compare() >= 2
        with pytest.raises(Rejected):
            SideBySide(program(text.format("2", "3")), data).compare()


def test_nothing_is_drawn_before_the_loop() -> None:
    """The first draw is that of the first turn then, and what is put out before belongs to it."""
    for body, start in (
        ("t = laplace(1 / eps)\n" + SVT, 'n = 0\noutput("w")\n'),
        ("y = x + laplace(1 / eps)\noutput(n)\nif n == 1 and y > t:\n    stop\nn = 1\nt = y", "n = 0\n"),
    ):
        assert SideBySide(program(body, start), automaton(body, start)).compare() >= 2


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many statements of a turn, and as many places, as may be are read, and one more is not."""
    loop, data = program("for k in [0, 1]:\n    n += 1\n    pass\noutput(n)"), automaton(SVT)
    count = SideBySide(program(SVT), data).compare()
    monkeypatch.setattr(second_stream_programs, "MAX_STEPS", 6)
    monkeypatch.setattr(second_streams, "MAX_PAIRS", count)
    assert turns(loop) == [":2 | 0+x~1"]
    assert SideBySide(program(SVT), data).compare() == count
    monkeypatch.setattr(second_stream_programs, "MAX_STEPS", 5)
    monkeypatch.setattr(second_streams, "MAX_PAIRS", count - 1)
    with pytest.raises(UnreadCase, match="too long"):
        turns(loop)
    with pytest.raises(UnreadCase, match="too many states"):
        SideBySide(program(SVT), data).compare()


SPOKEN = "a|b=a|b a|a=?|? a|=?|? a+c|a+b|b=a+c|a+b|b a|b|a+c=?|?|? a+x|b+y=x|y a+x|b=x|b x|b=x|b = x=x"
SPOKEN += " x+a|y+b|w+c=x|y|w+c x+y=! a+x+x|b=! x|x=! x|=! a+x|a=!"
GUARDS = "= t|-t= t|-t+u|-t+-u= ! t=! |t=! t|-u=! t|t=! t|-t+u=! t+u|-t+-u=!"


def test_branches_are_told_apart() -> None:
    """Outputs tell it if none begins with another, numbers need that, and one guard fits each outcome."""
    words = {"x": "insample", "y": "insample'", "?": "(not distinguished)", "": "(nothing)"}
    for row in SPOKEN.split(" "):
        told, wanted = ([part.split("+") for part in side.split("|")] for side in row.split("="))
        given = [[words.get(w, w) for w in part if w] for part in told]
        if wanted == [["!"]]:
            with pytest.raises(Rejected, match="do not determine the branch"):
                spoken(given)
        else:
            assert spoken(given) == [", ".join(words.get(w, w) for w in part) for part in wanted]
    for row in GUARDS.split(" "):
        told = [part.split("+") for part in row.partition("=")[0].split("|")] if row not in ("!", "") else []
        guards = [{name[-1]: "-" not in name for name in part if name} for part in told]
        if row.endswith("="):
            divided(guards, "q")
        else:
            with pytest.raises(Rejected):
                divided(guards, "q")


CASE = """[parameters]
eps = "(0, oo)"
[mechanism]
kind = "program"
file = "own.py"
[neighbours]
differ = "each"
[privacy]
epsilon = "eps"
length = "all"
"""


@pytest.mark.parametrize("kind", ["program", "automaton"])
def test_a_text_in_a_file(kind: str, tmp_path: Path) -> None:
    """A program and an automaton are read from the folder of the case, with or without the mark of UTF-8."""
    content, own = CASE, source(SVT).replace('"real"', '"-1..1"')
    if kind == "automaton":
        content = CASE.replace('[mechanism]\nkind = "program"', "[automaton]").replace("own.py", "own.dipa")
        own = "(q1:non-input, 1/2, 0): x := insample; output oa; goto q2\n"
        own += "(q2, 1/4, 0): if (insample < x) then output ob; goto q2"
    path, file = tmp_path / "case.toml", tmp_path / ("own.py" if kind == "program" else "own.dipa")
    path.write_text(content)
    for mark in ("", "\ufeff"):
        file.write_text(mark + own, encoding="utf-8")
        document: Any = stream_evidence_document(decide(load(path), Options(seconds=20)))
        assert compare_stream(document, content.replace("[mech", 'c = "3"\n[mech'), tmp_path)
        assert second_look(document, content, None, tmp_path).compared
    with pytest.raises(UnreadCase, match="a parameter that is not a number"):
        compare_stream(document, content.replace('(0, oo)"', '(0, oo)"\nc = "[1, 2]"'), tmp_path)
    if kind == "program":
        file.write_text(own.replace('"-1..1"', '["a", 1]'))
        with pytest.raises(UnreadCase, match="values of a stream"):
            compare_stream(document, content, tmp_path)
    file.write_text(own.replace("4", "5"))
    with pytest.raises(Rejected):
        compare_stream(document, content, tmp_path)


@pytest.mark.parametrize(
    ("epsilon", "neighbours", "wanted"),
    [
        ("2*eps", {"differ": "each"}, {"multiple": "2", "differ": "each"}),
        ("eps/2 + 3", {"differ": "one", "by": 1}, {"multiple": "1/2", "plus": "3", "differ": "one"}),
        ("c*eps - eps", {"differ": "each", "by": "1/2"}, {"multiple": "2", "differ": "each", "by": "1/2"}),
        ("5", {"differ": "each", "by": 2}, {"multiple": "0", "plus": "5", "differ": "each", "by": "2"}),
        ("eps + ln(2)", {"differ": "each"}, None),
    ],
)
def test_what_a_case_claims(epsilon: str, neighbours: dict[str, Any], wanted: dict[str, str] | None) -> None:
    """A budget is a multiple of the parameter and a number; neighbours differ by 1 if nothing is said."""
    data = {"privacy": {"epsilon": epsilon}, "neighbours": neighbours}
    if wanted is None:
        with pytest.raises(UnreadCase):
            claimed(data, CONSTANTS)
    else:
        assert claimed(data, CONSTANTS) == wanted
        with pytest.raises(UnreadCase):
            claimed(data, {**CONSTANTS, "d": PowerSum.variable("d")})
