"""Evidence from the command line: written by verify, accepted by check, rejected when it does not fit."""

import hashlib
import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paramverify.answers import Decision, Proved
from paramverify.claims import without_enclosure
from paramverify.cli.main import run
from paramverify.encodings.choice import claims_of
from paramverify.evidence import certificates, envelope
from paramverify.exact.branching import decide_exactly
from paramverify.kernel.__main__ import main as kernel
from paramverify.kernel.evidence_shapes import FORMAT, MAP
from paramverify.models.model import Model
from paramverify.privacy.cases import load
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports.case_evidence import check_with_case, evidence_document
from paramverify.synthesis import map_documents
from paramverify.synthesis.maps import RegionMap
from paramverify.synthesis.regions import region_map
from paramverify.verdicts import Holds

CASES = Path(__file__).parents[2] / "cases"


def written(case: Path, tmp_path: Path, *options: str) -> Path:
    path = tmp_path / "evidence.json"
    run(["verify", str(case), "--evidence", str(path), *options])
    return path


def test_evidence_for_another_case_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence is tied to the file by its digest, and to the case by its claims."""
    path = written(CASES / "geometric-contagious-ln4.toml", tmp_path)
    other = CASES / "geometric-independent.toml"
    assert run(["check", str(path), "--case", str(other)]) == 1
    assert "belongs to another case file" in capsys.readouterr().out
    document = json.loads(path.read_text())
    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    document["case"] = {"title": tomllib.loads(other.read_text())["title"], "digest": digest}
    path.write_text(json.dumps(document))
    assert run(["check", str(path), "--case", str(other)]) == 1
    assert "differs from the claims of the case" in capsys.readouterr().out


RESPONSE = CASES / "randomized-response.toml"


def test_an_obligation_beside_claims_is_not_of_the_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a case demands of its model is among its claims: nothing foreign is counted besides."""
    path = written(RESPONSE, tmp_path)
    document = json.loads(path.read_text())
    foreign = {"variables": ["z"], "box": {"z": "(0, 1)"}, "constraints": []}
    for number, domains in ((0, []), (len(document["domains"]), [foreign])):
        own = {"kind": "obligation", "domain": number, "polynomial": "5", "proof": {"kind": "constant"}}
        more = {
            "domains": [*document["domains"], *domains],
            "statements": [*document["statements"], own],
        }
        path.write_text(json.dumps(document | more))
        capsys.readouterr()
        assert run(["check", str(path), "--case", str(RESPONSE)]) == 1
        assert "what a case demands of its model" in capsys.readouterr().out


@pytest.mark.parametrize("count", [1, 2])
def test_claims_of_a_case_say_where_they_come_from(
    count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without that, no claim could be read a second time; obligations come from no comparison."""
    path = written(RESPONSE, tmp_path)
    document = json.loads(path.read_text())
    first, second = (statement["origins"] for statement in document["statements"][:2])
    turned = [{**s, "origins": o} for s, o in zip(document["statements"], (second, first), strict=False)]
    path.write_text(json.dumps({**document, "statements": turned}))
    capsys.readouterr()
    assert run(["check", str(path), "--case", str(RESPONSE)]) == 1
    assert "statements[0].origins[0]: the case makes another claim there" in capsys.readouterr().out
    for statement in document["statements"][:count]:
        del statement["origins"]
    path.write_text(json.dumps(document))
    capsys.readouterr()
    assert run(["check", str(path), "--case", str(RESPONSE)]) == 1
    assert "statements[0]: nothing says where this claim comes from" in capsys.readouterr().out
    mean = CASES / "exponential-mean.toml"
    path = written(mean, tmp_path)
    assert any(not each["origins"] for each in json.loads(path.read_text())["statements"])
    assert run(["check", str(path), "--case", str(mean)]) == 0


# --- what is said follows from what was checked ------------------------------------------------------


def checked(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any], str]:
    """Returns exit code, JSON and text of a check."""
    capsys.readouterr()
    code = run(["check", str(path), *options, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert run(["check", str(path), *options]) == code
    return code, found, capsys.readouterr().out


def case_file(folder: Path, text: str) -> str:
    path = folder / "case.toml"
    path.write_text(text)
    return str(path)


NEGATIVE = """
[parameters]
p = "(0, 1)"
[mechanism]
kind = "hmm"
states = ["a", "b"]
observations = ["x", "y"]
[mechanism.emissions]
a = { x = "1/2 + ((p - 5/23)**2 - 1/10**6)/9 - p/40", y = "1/2 - ((p - 5/23)**2 - 1/10**6)/9 + p/40" }
b = { x = "(p - 5/23)**2 - 1/10**9", y = "1 - (p - 5/23)**2 + 1/10**9" }
[neighbours]
pairs = [["a", "b"]]
[privacy]
ratio = "2"
"""


def mapped(found: RegionMap, model: Model, *beside: Any) -> dict[str, Any]:
    """Returns the evidence of a map, with statements beside it."""
    own = envelope.statements(*beside, map_documents.statement(found, model.domain))
    return envelope.document(MAP, own)


def test_a_map_needs_the_obligations_of_its_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row that is negative near one point only, which sampling misses: no map of the case is accepted."""
    name = case_file(tmp_path, NEGATIVE)
    case = load(name)
    assert isinstance(case.model, Model)
    assert case.model.obligations
    found = region_map(claims_of(case.model), case.model.domain, ("p",), Fraction(1, 4))
    path = tmp_path / "map.json"
    wanted = [without_enclosure(o.claim) for o in case.model.obligations]
    for proof in (None, certificates.POSITIVE, Decision(Proved(), "nobody", "1").proof):
        own = [certificates.entry(claim, proof, "obligation") for claim in wanted if proof]
        own = envelope.distinct(own)
        document = mapped(found, case.model, *own)
        path.write_text(json.dumps(document))
        code, told, out = checked(path, capsys, "--case", name)
        if proof and proof["kind"] == "solver":
            assert code == 0
            assert told["trusted"] == len(own) > 0
            assert told["solvers"] == ["nobody 1"]
            assert "trusted to solvers ('nobody 1')" in out
        else:
            assert code == 1
            assert "obligation" in out
    document["statements"].append(document["statements"][0])
    path.write_text(json.dumps(document))
    assert checked(path, capsys, "--case", name)[0] == 1


def test_a_status_is_computed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A map says so, and a loop shows a violation: another word in the document is rejected."""
    case = load(CASES / "noisy-max-independent.toml")
    found = region_map(claims_of(case.model), case.model.domain, ("pA", "pB"), Fraction(1, 2), seconds=0)
    path = tmp_path / "map.json"
    document = mapped(found, case.model)
    path.write_text(json.dumps(document))
    assert checked(path, capsys)[1]["verdict"] == "region map"
    path.write_text(json.dumps({**document, "status": "holds"}))
    for options in ((), ("--case", str(CASES / "noisy-max-independent.toml"))):
        code, told, out = checked(path, capsys, *options)
        assert code == 1
        assert "rejected: status: must be 'map' in a document about cells" in out.lower()
        assert "verdict" not in told
    text = (CASES / "above-threshold-all.toml").read_text()
    loop = Path(case_file(tmp_path, text.replace("4*ln(2)", "100*ln(2)")))
    document = json.loads(written(loop, tmp_path).read_text())
    assert document["statements"][-1]["rule"] == "loop"
    for status in ("holds", "unknown"):
        path.write_text(json.dumps({**document, "status": status}))
        for options in ((), ("--case", str(loop))):
            code, _, out = checked(path, capsys, *options)
            assert code == 1
            assert "rejected: status: a certificate of this kind can only show 'violated'" in out.lower()


def test_what_was_not_compared_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the case the verdict line says what is open; the numbers of a witness must agree at least."""
    case = CASES / "noisy-max-contagious.toml"
    path = written(case, tmp_path)
    document = json.loads(path.read_text())
    code, told, out = checked(path, capsys)
    assert code == 0
    assert told["not_compared"]
    assert "checked as far as it can be without the case: a violation" in out.splitlines()[-1]
    assert all(what in out.splitlines()[-1] for what in told["not_compared"])
    code, told, out = checked(path, capsys, "--case", str(case))
    assert (code, told["not_compared"], told["verdict"]) == (0, [], "not private")
    assert out.splitlines()[-1].startswith("checked: a violation")
    for name, value, where in (
        ("probabilities", ["1/2", "1/7"], "witness.ratio"),
        ("probabilities", ["3/2", "1/7"], "witness.probabilities[0]"),
        ("ratio", "infinity", "witness.ratio"),
        ("bound", "77", "witness"),
        ("exceeds", False, "witness"),
        ("parameters", {"pA": "1/2"}, "a point must give"),
    ):
        path.write_text(json.dumps({**document, "witness": {**document["witness"], name: value}}))
        code, _, out = checked(path, capsys)
        assert code == 1
        assert f"rejected: {where}" in out.lower()


def test_solvers_of_obligations_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An obligation of a cone that rests on a solver nobody knows is trusted, and its name is told."""
    text = (CASES / "survey-memory-all.toml").read_text()
    path = written(CASES / "survey-memory-all.toml", tmp_path)
    document = json.loads(path.read_text())
    word = Decision(Proved(), "a solver\x1b[2J that does not exist").proof
    first, *others = document["statements"]
    entry = {
        "kind": "obligation",
        "domain": first["domain"],
        "polynomial": first["polynomial"],
        "proof": word,
    }
    path.write_text(json.dumps({**document, "statements": [entry, first, *others]}))
    code, told, out = checked(path, capsys)
    assert code == 0
    assert told["trusted"] == 1
    assert "1 trusted to solvers ('a solver\\x1b[2J that does not exist')" in out
    code, _, out = checked(path, capsys, "--case", case_file(tmp_path, text))
    assert code == 1
    assert "obligations of the model differ from those of the case" in out


POSSIBLE = """
[parameters]
p = "(0, 1)"
constraints = ["p*p == 1/2"]
[prior]
x = { bernoulli = "(p*p - 1/2)**2" }
[mechanism]
kind = "geometric"
query = "x"
noise = { truncated_geometric = "1/2", range = 1 }
[secrets]
one = "x == 1"
none = "x == 0"
pairs = [["one", "none"]]
[privacy]
ratio = "2"
"""

THIN = """
[parameters]
p = "(0, 1)"
constraints = ["(p - 5/23)**2 <= 1/10**6"]
[define]
f = "p"
[claim]
holds = "f >= 1/10"
"""


def test_points_of_the_domain_are_part_of_the_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no simple point is in the domain, evidence gives one; without it, nothing holds in the case."""
    name = case_file(tmp_path, THIN)
    path = written(Path(name), tmp_path)
    document = json.loads(path.read_text())
    (point,) = document["points"]
    assert abs(Fraction(point["p"]) - Fraction(5, 23)) <= Fraction(1, 1000)
    assert checked(path, capsys, "--case", name)[0] == 0
    for points in ([], [{"p": "1/2"}], [{}], [{**point, "q": "1/2"}]):
        path.write_text(json.dumps({**document, "points": points}))
        assert checked(path, capsys, "--case", name)[0] == 1
        assert (checked(path, capsys)[0] == 0) == (not points)


@pytest.mark.slow
def test_a_secret_must_be_possible(tmp_path: Path) -> None:
    """Where a secret is impossible for every prior, evidence that the case holds is rejected."""
    case = load(case_file(tmp_path, POSSIBLE))
    model = case.model
    assert isinstance(model, Model)
    claims = claims_of(model)
    own = [o.claim for o in model.obligations]
    decisions = [Decision(decide_exactly(claim), "built-in") for claim in (*claims, *own)]
    settled = tuple(zip(own, decisions[len(claims) :], strict=True))
    done = tuple(decisions[: len(claims)])
    report = PrivacyReport(Holds(done), claims, done, model.domain, (), 0.0, settled)
    document = evidence_document(case, report)
    told = check_with_case(document, case)
    assert not told.accepted
    assert told.lines == ("rejected: it is not shown that the secret 'one' is possible",)


# --- strict reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{} x", "not JSON"),
        ("<html>", "not JSON"),
        ("[]", "it must be an object, not a list"),
        ("{}", "it has no `format`"),
        ('{"format": "other"}', "it has no `format`"),
        ('{"format": ["paramverify-cone"]}', "it has no `format`"),
        ('{"\\u001b[2J": 1}', "it has no `format`"),
    ],
)
def test_what_is_no_evidence_is_not_judged(
    text: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another file in the place of evidence is bad input, and no rejected proof; both checkers say so."""
    path = tmp_path / "evidence.json"
    path.write_text(text)
    for options in ([], ["--case", str(CASES / "noisy-max-independent.toml")]):
        assert run(["check", str(path), *options]) == 2
        assert f"this is not evidence: {reason}" in capsys.readouterr().err
    assert kernel([str(path)]) == 2
    told = capsys.readouterr()
    assert f"this is not evidence: {reason}" in told.err
    assert not told.out


START = f'"format": "{FORMAT}", "version": 2, "status": "holds"'
HEAD = "{" + START + ', "domains": [], "statements": [], "points": %s}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            HEAD % '[{"p": "0"}, {"c": "1", "c": "2"}]',
            "points[1]: must be an object, not one with the key 'c' twice",
        ),
        (HEAD % "NaN", "points: must be a list, not nan"),
        (HEAD % '[{"b": -Infinity}]', "points[0].b: must be a string, not -inf"),
        (HEAD % '[{"b": 1e400}]', "points[0].b: must be a string, not inf"),
        (HEAD % '[{"b": 1.0}]', "points[0].b: must be a string, not 1.0"),
        (HEAD % f"{'9' * 5000}", "points: must be a list, not 999999999999999999..., which is too long"),
        (HEAD % '[{"b": "\\ud800"}]', "points[0].b: this is not text: half of a character"),
        (HEAD % '[{"\\ud800": "1"}]', "this is not text: half of a character"),
        (HEAD % f"{'[' * 300}{']' * 300}", "nested deeper than 200 levels"),
        ("[" * 100_000, "nested deeper"),
        (
            '{"format": "paramverify-cone", "version": 1}',
            f"format: must be {FORMAT!r}, not 'paramverify-cone'",
        ),
        (f'{{"format": "{FORMAT}", "version": 1, "claims": []}}', "version: must be 2, not 1"),
        (f'{{"format": "{FORMAT}", "claims": []}}', "the document: the key 'version' is missing"),
    ],
)
def test_only_plain_json_is_read(
    text: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What two readers may read in two ways is refused by one line that names the place."""
    path = tmp_path / "evidence.json"
    path.write_text(text)
    for options in ((), ("--case", str(CASES / "noisy-max-independent.toml"))):
        code, told, _ = checked(path, capsys, *options)
        assert code == 1
        assert len(told["lines"]) == 1
        assert told["lines"][0].startswith("rejected: ")
        assert reason in told["lines"][0]
        assert len(told["lines"][0]) < 300
        assert told["lines"][0].isprintable()


@pytest.mark.parametrize("relation", ["<", "<="])
def test_points_of_a_domain_and_strict_claims(
    relation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A strict claim says that a part of the domain is empty: no point has to be in that part."""
    case, evidence = tmp_path / "case.toml", tmp_path / "evidence.json"
    case.write_text(
        f"""
[parameters]
p = "[0, 1]"
constraints = ["(2*p**2 - 1)*(3*p - 1) == 0"]
[define]
f = "p"
[claim]
holds = "f {relation} 2"
"""
    )
    assert run(["verify", str(case), "--evidence", str(evidence)]) == 0
    document = json.loads(evidence.read_text())
    assert document["points"] == [{"p": "1/3"}]
    for options in ([], ["--case", str(case)]):
        assert run(["check", str(evidence), *options]) == 0, capsys.readouterr().out
    evidence.write_text(json.dumps(document | {"points": [{"p": "1/2"}]}))
    assert run(["check", str(evidence), "--case", str(case)]) == 1
