"""Evidence of compositions: the kernel computes bounds again, and refuses smaller ones and other releases."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from itertools import product
from math import exp, prod
from pathlib import Path

import pytest
from document_changes import Change, Document, put
from engine_documents import own

from paramverify.cli.main import run
from paramverify.composition.case_releases import read_case
from paramverify.composition.composing import Composition, CompositionAnswer, ask
from paramverify.composition.written_releases import read_components, read_question
from paramverify.errors import InputError
from paramverify.kernel.documents import check_text
from paramverify.portfolio.session import Options, Session
from paramverify.reports.composition_reports import composition_document
from paramverify.reports.evidence_checks import checked

CASES = Path(__file__).parents[2] / "cases" / "divergences"
SURVEY, SHUFFLED = CASES / "survey-zcdp.toml", CASES / "shuffled-renyi.toml"
WIDTH = Fraction(1, 10)


def composed(
    text: str, delta_for: str | None = None, epsilon_for: str | None = None
) -> tuple[CompositionAnswer, Document]:
    """What is found of components, and its evidence."""
    with Session(Options(seconds=30)) as session:
        every = [
            read_components(part, lambda path, own: read_case(session, path, own)) for part in text.split()
        ]
    composition = Composition(tuple(each for parts in every for each in parts))
    question = read_question(delta_for, epsilon_for, ("delta", "epsilon"))
    found = ask(composition, [question], WIDTH)[0]
    document: Document = json.loads(json.dumps(composition_document(composition, found, question)))
    return found, document


def delta_of(outputs: list[tuple[Fraction, Fraction]], times: int, ratio: Fraction) -> Fraction:
    """δ for a ratio, over all sequences of outputs."""
    total = Fraction(0)
    for chosen in product(outputs, repeat=times):
        total += max(
            Fraction(0), prod((p for p, _ in chosen), start=Fraction(1)) - ratio * prod(q for _, q in chosen)
        )
    return total


RESPONSE = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]


def test_exact_numbers_are_those_of_all_sequences() -> None:
    """The exact δ and the exact ratio are replayed, and brute force over all sequences gives the same."""
    _, document = composed("randomized_response:truth=3/4,times=4", delta_for="ln(2)")
    assert check_text(json.dumps(document)).accepted
    assert Fraction(own(document)["exact"]) == delta_of(RESPONSE, 4, Fraction(2))
    _, document = composed("randomized_response:truth=3/4,times=4", epsilon_for="1/10")
    assert check_text(json.dumps(document)).accepted
    assert delta_of(RESPONSE, 4, Fraction(own(document)["exact"])) == Fraction(1, 10)
    _, document = composed("randomized_response:truth=3/4,times=4", epsilon_for="0")
    assert own(document)["exact"] == "81"


ASKED = [
    ("randomized_response:truth=3/4,times=4", "1", None),
    ("randomized_response:epsilon=1/10,times=9", None, "0"),
    ("discrete_gaussian:sigma=2,times=3", "1", None),
    ("laplace:scale=2,times=2", "1/2", None),
    ("gaussian:sigma=2", "1/2", None),
    ("gaussian:sigma=2", None, "1/100"),
    ("laplace:scale=2,subsample=1/4", "1/10", None),
]


@pytest.mark.parametrize(("text", "delta_for", "epsilon_for"), ASKED)
def test_bounds_are_computed_again(text: str, delta_for: str | None, epsilon_for: str | None) -> None:
    """The kernel's own bounds are near those that were found, and contain the number: intervals meet."""
    found, document = composed(text, delta_for, epsilon_for)
    report = check_text(json.dumps(document))
    assert report.accepted, report.lines
    assert report.not_compared == ()
    if own(document)["exact"] is not None:
        assert Fraction(own(document)["exact"]) == found.exact
        return
    low, high = Fraction(own(document)["lower"]), Fraction(own(document)["upper"])
    assert found.between.upper is not None
    assert low <= found.between.upper
    assert found.between.lower <= high
    assert high - low <= 2 * WIDTH * high


def test_one_gaussian_by_its_formula() -> None:
    """δ of one Gaussian release is Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), computed here with floats."""
    from statistics import NormalDist

    _, document = composed("gaussian:sigma=2", delta_for="1/2")
    mean, epsilon = 0.5, 0.5
    normal = NormalDist()
    exact = normal.cdf(mean / 2 - epsilon / mean) - exp(epsilon) * normal.cdf(-mean / 2 - epsilon / mean)
    assert float(Fraction(own(document)["lower"])) < exact < float(Fraction(own(document)["upper"]))


@pytest.fixture(scope="module")
def laplace() -> Document:
    """Evidence with a grid and a density."""
    return composed("laplace:scale=2,times=2 randomized_response:truth=2/3", delta_for="1/2")[1]


@pytest.fixture(scope="module")
def sampled() -> Document:
    """Evidence with two directions."""
    return composed("laplace:scale=2,subsample=1/4", delta_for="1/10")[1]


@pytest.fixture(scope="module")
def several() -> Document:
    """Evidence of a case with pairs of which none is the worst."""
    return composed(f"{SHUFFLED}:r=2/3,times=2", epsilon_for="1/10")[1]


def refused(document: Document, forge: Change, path: Path | None = None) -> bool:
    """Tells whether a changed document is refused."""
    changed = copy.deepcopy(document)
    forge(own(changed))
    assert changed != document
    return not checked(json.dumps(changed), str(path) if path else None).report.accepted


def scaled(name: str, factor: Fraction) -> Change:
    """Returns what multiplies a bound."""

    def change(about: Document) -> None:
        about[name] = str(Fraction(about[name]) * factor)

    return change


DIRECTION = ("directions", 0)
FORGED: list[Change] = [
    scaled("upper", Fraction(99, 100)),
    scaled("lower", Fraction(101, 100)),
    put("lower", value=None),
    put("exact", value="1/10"),
    put("components", 0, "times", value=3),
    put("components", 0, "ways", 0, "dominating", "scale", value="1"),
    put("components", 1, "ways", 0, "dominating", "step", value=["0", "1/2"]),
    put("question", "epsilon", value=["1/4", "1"]),
    put(*DIRECTION, "spans", 0, value=[0, 1]),
    put(*DIRECTION, "grid", "step", value=["1", "1"]),
    put(*DIRECTION, "grid", "tail", value=2),
]


@pytest.mark.parametrize("forge", FORGED)
def test_forged_bounds_are_refused(laplace: Document, forge: Change) -> None:
    """A smaller upper bound, other releases, and grids on which the bounds are not so near are refused."""
    assert refused(laplace, forge)


def test_true_evidence_is_accepted(laplace: Document, sampled: Document) -> None:
    """What is forged below is accepted as it is written."""
    for document in (laplace, sampled):
        assert check_text(json.dumps(document)).accepted


WAYS = ("components", 0, "ways")


def only_first(about: Document) -> None:
    """Leaves the second direction out."""
    about["components"][0]["ways"].pop()
    about["directions"].pop()


SAMPLED: list[Change] = [
    only_first,
    put(*WAYS, 1, "dominating", "of", "rate", value="1/100"),
    put(*WAYS, 1, "dominating", value={"kind": "gaussian", "sigma": "100", "sensitivity": "1"}),
    put(*WAYS, 0, "dominating", "rate", value="1/2"),
    put(*WAYS, 0, "dominating", value={"kind": "laplace", "scale": "2", "sensitivity": "1"}),
]


@pytest.mark.parametrize("forge", SAMPLED)
def test_forged_samples_are_refused(sampled: Document, forge: Change) -> None:
    """Both directions of a sample have to be there, of one rate."""
    assert refused(sampled, forge)


@pytest.mark.slow
def test_cases_are_derived_again(several: Document) -> None:
    """With a case its pairs are derived again; the second reader computes them by brute force."""
    found = checked(json.dumps(several), str(SHUFFLED))
    assert found.report.accepted, found.report.lines
    assert found.look is not None
    assert found.look.line == "read a second time: 24 pairs of distributions agree with the components"
    assert found.report.not_compared == ()
    assert check_text(json.dumps(several)).not_compared == ("releases of cases with their files",)
    assert not checked(json.dumps(several), str(SURVEY)).report.accepted


CASE: list[Change] = [
    put("components", 0, "case", "set", "r", value="3/4"),
    put("components", 0, "case", "digest", value="0" * 64),
    put(*WAYS, 0, "pairs", value=[]),
    put(*WAYS, 0, "pairs", 0, value={"kind": "table", "outputs": [["1", "1"]]}),
    put(*WAYS, 0, "dominating", value={"kind": "table", "outputs": [["1", "1"]]}),
]


@pytest.mark.slow
@pytest.mark.parametrize("forge", CASE)
def test_releases_of_another_case_are_refused(several: Document, forge: Change) -> None:
    """The dominating pair has to dominate, and all is compared with the case."""
    assert refused(several, forge, SHUFFLED)


def test_what_has_no_evidence_is_told() -> None:
    """Where no ε is enough, and where a mass is too small for the kernel, the reason is told."""
    with pytest.raises(InputError, match="no epsilon is enough"):
        composed("gaussian:sigma=1", epsilon_for="0")
    with pytest.raises(InputError, match="so small a delta"):
        composed("laplace:scale=1,times=2", epsilon_for="1e-40")


def test_components_of_cases_with_other_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of two cases is compared with its own component, and both with the file of releases."""
    text = (CASES.parent / "randomized-response.toml").read_text(encoding="utf-8")
    one, other, listed = tmp_path / "one.toml", tmp_path / "other.toml", tmp_path / "listed.toml"
    one.write_text(text)
    other.write_text(text.replace("t = ", "s = ").replace('"t"', '"s"').replace("t/(1 - t)", "s/(1 - s)"))
    first = '{ case = "one.toml", set = { p = "1/2", t = "2/3" }, times = 2 }'
    second = '{ case = "other.toml", set = { p = "1/2", s = "3/4" } }'
    listed.write_text(f"component = [{first}, {second}]")
    evidence = tmp_path / "evidence.json"
    assert run(["compose", str(listed), "--delta-for", "1", "--evidence", str(evidence)]) == 0
    capsys.readouterr()
    for case in (one, other):
        assert run(["check", str(evidence), "--case", str(case)]) == 0
        out = capsys.readouterr().out
        assert "1 component derived from the case again\nread a second time: 2 pairs" in out
        assert out.rstrip().endswith("not compared (give --case): releases of cases with their files")
    assert run(["check", str(evidence), "--case", str(listed)]) == 0
    out = capsys.readouterr().out
    assert "2 components derived from the file of releases again\n" in out
    assert out.count("read a second time: 2 pairs") == 2
    assert "not compared" not in out
    for less in (
        f"component = [{first}]",
        f"component = [{second}, {first}]",
        listed.read_text().replace("2/3", "3/5"),
    ):
        (tmp_path / "less.toml").write_text(less)
        assert run(["check", str(evidence), "--case", str(tmp_path / "less.toml")]) == 1
        assert "the components differ from those of the file" in capsys.readouterr().out
    assert run(["compose", f"{listed}:times=3", "--delta-for", "1", "--evidence", str(evidence)]) == 0
    assert run(["check", str(evidence), "--case", str(listed)]) == 1
    assert "those of the file, each 3 times as often" in capsys.readouterr().out
    other.write_text(other.read_text() + "# changed\n")
    assert run(["check", str(evidence), "--case", str(other)]) == 1
    assert "no component belongs to this case file, or the file was changed" in capsys.readouterr().out
    other.write_text("x = [")
    assert run(["check", str(evidence), "--case", str(other)]) == 2
