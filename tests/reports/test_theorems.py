"""Theorems about cases: what is written, what Coq says of it, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tools.calling_tools import called, strict_json
from tools.theorem_tools import ROOT, THEORIES, about, case_of, needs_coq, refusals, written

from paramverify.algebra.cones import extreme_rays
from paramverify.errors import UnsupportedError
from paramverify.kernel.evidence_polynomials import parse
from paramverify.reports.theorems.coq_certificates import polynomial, proof_numbers
from paramverify.reports.theorems.coq_cones import Along, Zero, covering
from paramverify.reports.theorems.coq_words import RESERVED, comment, named


def test_words_of_example_5() -> None:
    """The file says prior, mechanism, secrets and theorem as the case does."""
    text = written("noisy-max-independent")
    for line in (
        "Definition pB := Param 1.",
        "  fun w => binomial 2 (pC)%case",
        "Definition at_most_one : secret := fun w => (A w <=? 1).",
        "Definition secrets := [(at_least_one, at_most_one)].",
        "noisy_max_uniform (truncated_geometric ((1 / 2))%case 2) [(A w); (B w); (C w)].",
        "  (0 < pA < 1)%R ->",
        "  (pufferfish (at_values [pA; pB; pC]) (worlds_of prior) mechanism (2) secrets)%R.",
        "Print Assumptions private.",
    ):
        assert line in text


@needs_coq
@pytest.mark.slow
def test_coq_accepts(tmp_path: Path) -> None:
    """Coq accepts theorems about one answer, about sequences of all lengths, and about models written out."""
    names = ("noisy-max-independent", "time-series-2-day-3-all", "markov-quilt")
    assert refusals([*map(written, names)], tmp_path) == [""] * len(names)


CONSTRAINED = """
[parameters]
p = "[1/10, 1/5)"
q = "(1/10, 1/5]"
constraints = ["p <= q", "q < 1/6 + p/7"]
[mechanism]
kind = "geometric"
noise = { truncated_geometric = "p", range = 2 }
[neighbours]
differ = "one"
[privacy]
ratio = 20
"""


@needs_coq
@pytest.mark.slow
def test_coq_accepts_constraints(tmp_path: Path) -> None:
    """Coq accepts a domain with several constraints over several parameters, and no wider one."""
    text = about(case_of(CONSTRAINED))
    premises = ("(1 / 10 <= p < 1 / 5)%R", "(0 <= (0 - p + q))%R")
    wider = [text.replace(premise, "(0 <= 1)%R") for premise in premises]
    assert text not in wider
    assert refusals([text, *wider], tmp_path) == ["", "- by_domain.", "- by_domain."]


@needs_coq
@pytest.mark.slow
def test_coq_rejects(tmp_path: Path) -> None:
    """Coq rejects a bound that is too small, also where all definitions agree, and other noise."""
    text = written("geometric-independent")
    smaller = text.replace("(2)%case", "(19 / 10)%case").replace(
        "mechanism (2) secrets", "mechanism (19/10) secrets"
    )
    assert (smaller.count("(19 / 10)%case"), smaller.count("mechanism (19/10) secrets")) == (1, 1)
    other = text.replace("truncated_geometric ((1 / 2))", "truncated_geometric ((1 / 3))")
    assert other != text
    assert refusals([text, smaller, other], tmp_path) == ["", "Qed.", "Qed."]


@needs_coq
@pytest.mark.slow
def test_coq_rejects_another_cone(tmp_path: Path) -> None:
    """A cone on some of the states: Coq rejects other states, other steps to them, and a smaller bound."""
    text = written("survey-memory-all")
    reach = "reach := [[true; true; false; false]; [false; false; true; true]]"
    changes = (
        ("kept := [false; false; true; true]", "kept := [false; false; true; false]"),
        (reach, "reach := [[true; true; false; false]]"),
        (reach, "reach := [[true; false; false; false]; [false; false; true; true]]"),
        (reach, "reach := [[true; true; false; false]; [false; false; true; false]]"),
        ("(t / (0 - t + 1))", "(1)"),
    )
    assert all(part in text for part, _ in changes)
    changed = [text.replace(part, other) for part, other in changes]
    assert refusals([text, *changed], tmp_path) == ["", *["Qed."] * len(changes)]


def read(numbers: Iterator[int], names: list[str]) -> Any:
    """Reads a proof of a few kinds back from its numbers."""
    kind = next(numbers)
    if kind == 0:
        return "constant"
    if kind == 2:
        constant = Fraction(next(numbers), next(numbers))
        factors = []
        for _ in range(next(numbers)):
            factor, times = read_polynomial(numbers, len(names)), next(numbers)
            part = (next(numbers), read(numbers, names)) if next(numbers) else None
            factors.append((factor, times, part))
        return constant, factors
    assert kind == 7
    return read_tree(numbers, names)


def read_tree(numbers: Iterator[int], names: list[str]) -> Any:
    kind = next(numbers)
    if kind == 5:
        name, at = names[next(numbers)], Fraction(next(numbers), next(numbers))
        return name, at, read_tree(numbers, names), read_tree(numbers, names)
    return {0: "+", 1: "outside"}[kind], *([next(numbers)] if kind else [])


def read_polynomial(numbers: Iterator[int], width: int) -> dict[tuple[int, ...], Fraction]:
    scale, count = next(numbers), next(numbers)
    terms = {}
    for _ in range(count):
        c = next(numbers)
        terms[tuple(next(numbers) for _ in range(width))] = Fraction(c, scale)
    return terms


def test_numbers_of_proofs() -> None:
    """A proof is read back from its numbers; nothing is left over."""
    tree = ["cut", "q", "1/3"], "+", ["outside", 2]
    proof = {
        "kind": "factors",
        "constant": "-3/2",
        "factors": [
            {
                "factor": "p - 1/2*q",
                "multiplicity": 1,
                "sign": "-",
                "proof": {"kind": "bernstein", "tree": [*tree]},
            },
            {"factor": "q", "multiplicity": 2},
        ],
    }
    names = ["p", "q"]
    numbers = iter(proof_numbers(proof, names))
    first = {(1, 0): Fraction(1), (0, 1): Fraction(-1, 2)}
    cut = "q", Fraction(1, 3), ("+",), ("outside", 2)
    assert read(numbers, names) == (Fraction(-3, 2), [(first, 1, (0, cut)), ({(0, 1): Fraction(1)}, 2, None)])
    assert next(numbers, None) is None
    text = "3/2*p^2*q - p + 1"
    assert read_polynomial(iter(polynomial(text, names)), 2) == parse(text, names)


def test_solver_is_refused() -> None:
    """A proof that rests on a solver is refused, at any depth."""
    inner = {"kind": "solver", "solver": "z3", "version": "4"}
    with pytest.raises(UnsupportedError, match="the word of a solver"):
        proof_numbers({"kind": "fixed", "variable": "p", "proof": inner}, ["p"])


def dot(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def covers(found: Any, normals: Any, rays: Any, equalities: tuple[Any, ...]) -> bool:
    """Replays a covering, as the theory does."""
    if isinstance(found, Zero):
        size = len(normals[0])
        for sign, rows in ((1, found.at_least), (-1, found.at_most)):
            for k, (ls, ms) in enumerate(rows):
                total = [
                    sum(w * v[j] for w, v in zip((*ls, *ms), (*normals, *equalities), strict=True))
                    for j in range(size)
                ]
                if min(ls) < 0 or total != [sign * found.scale * (j == k) for j in range(size)]:
                    return False
        return found.scale > 0 and len(found.at_least) == len(found.at_most) == size
    assert isinstance(found, Along)
    active = [m for m in normals if dot(m, found.ray) > 0]
    return (
        found.ray in rays
        and all(dot(m, found.ray) >= 0 for m in normals)
        and all(dot(e, found.ray) == 0 for e in equalities)
        and len(active) == len(found.faces) > 0
        and all(covers(f, normals, rays, (m, *equalities)) for m, f in zip(active, found.faces, strict=True))
    )


@pytest.mark.parametrize("seed", range(6))
def test_coverings(seed: int) -> None:
    """Cones of bounded ratios lie in the cone of their rays, by certificates that a second replay accepts."""
    random = Random(seed)
    size = random.choice((2, 3, 3))
    units = [tuple(int(j == k) for j in range(size)) for k in range(size)]
    ratios = [
        tuple(-1 if j == a else random.randint(1, 9) if j == b else 0 for j in range(size))
        for a in range(size)
        for b in range(size)
        if a != b
    ]
    normals = [*units, *ratios]
    rays = [tuple(int(x) for x in ray) for ray in extreme_rays(normals, size)]
    found = covering(normals, rays, size)
    assert covers(found, normals, rays, ())
    with pytest.raises(Exception, match="a face without a ray"):
        covering(normals, rays[1:], size)


def test_command(tmp_path: Path) -> None:
    """`prove` writes what Coq needs, tells of a case that is not private, and refuses others."""
    folder = tmp_path / "out"
    cases = ROOT / "cases"
    done = called("prove", str(cases / "randomized-response.toml"), "-o", str(folder), "--json")
    files = strict_json(done.out)["files"]
    assert done.code == 0
    assert files[0] == str(folder / "case.v")
    assert "Theorem private : forall p t : R" in (folder / "case.v").read_text()
    assert (folder / "_CoqProject").read_text().split() == ["-Q", "theories", "Paramverify"]
    copies = {path.name: path.read_text() for path in (folder / "theories").glob("*.v")}
    assert copies == {name: (THEORIES / name).read_text() for name in copies}
    broken = called("prove", str(cases / "geometric-contagious-ln2.toml"), "-o", str(tmp_path / "none"))
    assert broken.code == 1
    assert "only private cases" in broken.out
    assert not (tmp_path / "none").exists()
    refused = called("prove", str(cases / "divergences" / "geometric-kl.toml"), "-o", str(tmp_path / "none"))
    assert refused.code == 2
    assert "compares all of them together" in refused.err
    assert "`verify --evidence` writes evidence" in refused.err


@pytest.mark.slow
def test_a_theorem_of_another_case_is_not_replaced(tmp_path: Path) -> None:
    """A folder keeps what is not of the case, unless --force is given; the same case is written again."""
    folder, cases = tmp_path / "out", ROOT / "cases"
    first, second = (str(cases / name) for name in ("geometric-independent.toml", "survey-memory.toml"))
    assert "written: " in called("prove", first, "-o", str(folder)).out
    text = (folder / "case.v").read_text()
    refused = called("prove", second, "-o", str(folder))
    assert refused.code == 2
    assert "the theorem of another case" in refused.err
    assert (folder / "case.v").read_text() == text
    again = strict_json(called("prove", first, "-o", str(folder), "--json").out)
    assert again["replaced"] == []
    assert (folder / "case.v").read_text() == text
    (folder / "case.v").write_text(text + "(* changed *)")
    assert f"Overwritten: {folder / 'case.v'}\n" in called("prove", first, "-o", str(folder)).out
    forced = strict_json(called("prove", second, "-o", str(folder), "--force", "--json").out)
    assert forced["replaced"] == [str(folder / "case.v")]
    assert (folder / "case.v").read_text() != text
    other = tmp_path / "other"
    other.mkdir()
    (other / "Makefile").write_text("all:\n")
    assert "this file exists already" in called("prove", first, "-o", str(other)).err
    assert [path.name for path in other.iterdir()] == ["Makefile"]


@pytest.mark.parametrize(
    ("name", "about", "other"),
    [
        ("interactive/slots-2.toml", "interactive systems", "interactive"),
    ],
)
def test_other_questions_are_sent_to_evidence(name: str, about: str, other: str, tmp_path: Path) -> None:
    """`prove` says that there are no theorems about a kind of case, and which command writes evidence."""
    case = str(ROOT / "cases" / name)
    done = called("prove", case, "-o", str(tmp_path / "none"))
    assert done.code == 2
    assert f"there are no theorems about {about}; `paramverify {other} {case} --evidence FILE`" in done.err
    assert not (tmp_path / "none").exists()


PLAIN = """
[mechanism]
kind = "geometric"
noise = { truncated_geometric = "1/2", range = 2 }
[neighbours]
differ = "one"
[privacy]
ratio = 4
"""


@pytest.mark.slow
def test_the_head_says_what_is_trusted(tmp_path: Path) -> None:
    """The head names the bound, the theories and what is trusted, and has no empty parts."""
    head = about(case_of(PLAIN)).partition("*)")[0]
    assert head.startswith("(** The digest of the case: ")
    assert "every output is at most 4 times as likely for an input as for its neighbour.\n" in head
    assert "all values of the parameters" not in head
    assert "Privacy.v" in head
    assert "Hmm.v" not in head
    assert "paramverify is trusted for nothing but this" in head
    assert "The parameters" not in about(case_of(PLAIN))
    delta = written("approximate/geometric-independent").partition("*)")[0]
    assert "every set of outputs is at most 3/2 times as likely under one secret" in delta
    assert "under the other one,\n    plus 1/6." in delta
    program = written("programs/exponential-mechanism").partition("*)")[0]
    assert all(f"{name}.v" in program for name in ("ProgramClaims", "Language"))
    model = written("markov-quilt").partition("*)")[0]
    assert "It computed the model." in model
    assert "nothing but this" not in model
    assert "Hmm.v" in model
    told = called("prove", str(ROOT / "cases" / "markov-quilt.toml"), "-o", str(tmp_path / "out")).out
    assert (
        "The theorem states the case as a model, not in the words of the case: the theories have no words for"
        in told
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "", ""),
        ("[privacy]", "[define]\na = 2\n[privacy]", "it has [define]"),
    ],
)
def test_the_file_says_why_a_model_is_written_out(old: str, new: str, reason: str, tmp_path: Path) -> None:
    """A case that is not told in its own words has a comment with the reason, and no other case has it."""
    text = (ROOT / "cases" / "geometric-independent.toml").read_text().replace(old, new)
    path = tmp_path / "case.toml"
    path.write_text(text)
    found = written(str(path.with_suffix("")))
    assert ("written_out" in found) == bool(reason)
    assert (f"The reason is:\n   {reason}" in found) == bool(reason)


RESPONSE = """
[parameters]
p = "(1/4, 3/4)"
[prior]
A = {{ categorical = {{ {first} = "p", {second} = "1 - p" }} }}
[prior.B]
given = "A"
table = {{ {first} = {{ 0 = "1/2", 1 = "1/2" }}, {second} = {{ 0 = "1/3", 1 = "2/3" }} }}
[mechanism]
kind = "randomized_response"
query = "B"
truth = {truth}
[secrets]
one = "{one}"
other = "not ({one})"
pairs = [["one", "other"]]
[privacy]
ratio = "3"
"""


def response(first: str, second: str, one: str, truth: str = '"2/3"') -> str:
    """Returns the theorem about an answer that depends on a value with one of two names."""
    return about(case_of(RESPONSE.format(first=first, second=second, one=one, truth=truth)))


def test_labels_among_numbers() -> None:
    """A label never gets the number of another value: such a case is told by its model."""
    told = response("0", "none", "A == 'none'")
    assert "Definition prior" not in told
    assert "weights_of" in told


def test_labels_with_blanks() -> None:
    """A row of a table belongs to the label of exactly its spelling."""
    told = response('" a"', '"a"', "A == 'a'")
    rows = "[(0, (1 / 2)%case); (1, (1 / 2)%case)]", "[(0, (1 / 3)%case); (1, (2 / 3)%case)]"
    assert f"row_of [([0], {rows[0]}); ([1], {rows[1]})]" in told
    assert "one : secret := fun w => (A w =? 1)." in told


def test_values_that_are_never_true() -> None:
    """What a mechanism may report has numbers also where the prior never says it, and so have defaults."""
    assert "(2 / 3))%case [0; 1] (B w)" in response("u", "v", "A == 'u'")
    text = RESPONSE.format(first="u", second="v", one="A == 'u'", truth='"1/2"')
    more = text.replace('query = "B"', 'query = "A"\nvalues = ["v", "u", "t"]')
    assert "(1 / 2))%case [2; 1; 0] (A w)" in about(case_of(more))


def test_decimals_are_exact() -> None:
    """A decimal with more digits than a float has keeps them all."""
    assert "(30000000000000000001 / 50000000000000000000)" in response(
        "u", "v", "A == 'u'", "0.60000000000000000002"
    )


@pytest.mark.slow
def test_reserved_words() -> None:
    """No name of a case is one that its file uses, so no definition hides a word of the theories."""
    plain = ("noisy-max-independent", "randomized-response", "time-series-2-all", "markov-quilt")
    programs = ("programs/evenings", "programs/exponential-mechanism", "programs/household-answers")
    for name in (*plain, *programs, "above-threshold-prior", "approximate/noisy-max"):
        text = re.sub(r'\(\*.*?\*\)|"[^"]*"|^Proof\..*', "", written(name), flags=re.DOTALL | re.MULTILINE)
        used = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*(?!\w|\.[a-z])", text))
        own = set(re.findall(r"^Definition (\w+)", text, re.MULTILINE))
        own |= set(re.findall(r"[\w ]+(?= : R,)", text)[0].split()) if " : R," in text else set()
        assert (
            used
            - own
            - RESERVED
            - {"w", "x", "y", "From", "Paramverify", "Require", "Import", "Theorems", "case"}
            == set()
        )


def test_names_and_comments() -> None:
    """Names that mean something to Coq get another spelling, and no text ends a comment."""
    assert named(["forall", "value", "x"]) == {"forall": "forall_", "value": "value_", "x": "x"}
    assert named(["a b", "a_b"]) == {"a b": "a_b", "a_b": "a_b_"}
    assert named(["conditions_of", "SProp"]) == {"conditions_of": "conditions_of_", "SProp": "SProp_"}
    for text in ('*) Axiom x : False. (* "', "(*)", "**)", "**"):
        assert "*)" not in comment(text) + ")"
        assert "(*" not in comment(text)
        assert '"' not in comment(text)
