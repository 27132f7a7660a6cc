"""Violating priors, exact intervals, conditions, regions and designs: by the command and by the functions."""

from __future__ import annotations

import json
import random
import time
from fractions import Fraction
from math import exp, isclose
from pathlib import Path
from typing import Any

import pytest

from paramverify.claims import Origin
from paramverify.cli.main import run
from paramverify.encodings.choice import claims_of
from paramverify.errors import InputError, UnsupportedError
from paramverify.evidence.witnesses import ExactWitness, evaluate
from paramverify.models.model import Model
from paramverify.models.parameters import Sense
from paramverify.portfolio.session import Session
from paramverify.privacy.cases import PrivacyCase, load
from paramverify.privacy.verification import verify
from paramverify.reports.algebraic_numbers import minimal_polynomial
from paramverify.synthesis.intervals import Partition
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.projection import exact_parts
from paramverify.synthesis.questions import axes_of, region_claims
from paramverify.synthesis.regions import region_map
from paramverify.synthesis.safe_values import optimum_of_map, optimum_of_parts
from paramverify.synthesis.violating import nearest, simplest, worst
from paramverify.verdicts import Holds, Violated

CASES = Path(__file__).parents[2] / "cases"


def variant(tmp_path: Path, name: str, *changes: tuple[str, str]) -> PrivacyCase:
    text = (CASES / f"{name}.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "case.toml"
    path.write_text(text)
    return load(path)


def model_of(case: PrivacyCase) -> Model:
    assert isinstance(case.model, Model)
    return case.model


def parts_of(case: PrivacyCase, name: str) -> Partition:
    return exact_parts(claims_of(case.model), case.model.domain, name)


def largest_ratio(model: Model, point: dict[str, Fraction]) -> Fraction:
    """Returns the largest ratio at a point, output by output from the model."""
    ratios = []
    for output in model.hmm.observations:
        for pair in model.pairs:
            for left, right in ((pair.left, pair.right), (pair.right, pair.left)):
                origin = Origin(left, right, (output,))
                ratio = evaluate(model, origin, point).ratio
                assert ratio is not None
                assert ratio.rational is not None
                ratios.append(ratio.rational)
    return max(ratios)


def document(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code = run(["synthesize", *map(str, arguments), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


# --- the papers' examples ----------------------------------------------------------------------------


@pytest.mark.slow
def test_example_4_just_below(tmp_path: Path) -> None:
    """Below ratio 2 the violating priors are an interval (0, r): checked against the published formulas.

    By the published probabilities, output 0 has the ratio (p²-4p+4)(12-6p) / (6 (4-3p)), which falls from 2,
    so r is where it is 199/100.
    """
    case = variant(tmp_path, "geometric-independent", ('epsilon = "ln(2)"', 'ratio = "199/100"'))
    found = parts_of(case, "p")
    assert [p.status for p in found.parts] == [Status.VIOLATING, Status.SAFE]
    assert found.parts[1].lower_closed
    root = found.parts[1].lower.refined(Fraction(1, 10**20))

    def ratio(p: Fraction) -> Fraction:
        return (p * p - 4 * p + 4) * (12 - 6 * p) / (6 * (4 - 3 * p))

    assert ratio(root.lower) > Fraction(199, 100) > ratio(root.upper)
    for k in range(1, 300):
        p = Fraction(k, 300)
        violated = largest_ratio(model_of(case), {"p": p}) > Fraction(199, 100)
        assert found.status_at(p) is (Status.VIOLATING if violated else Status.SAFE)


# --- violating priors --------------------------------------------------------------------------------


def test_simplest_violating_prior(tmp_path: Path) -> None:
    """No prior with a smaller denominator violates the case, by trying all of them."""
    case = variant(tmp_path, "geometric-independent", ('epsilon = "ln(2)"', 'ratio = "199/100"'))
    with Session() as session:
        found = simplest(case.model, session)
    assert isinstance(found.witness, ExactWitness)
    value = found.witness.parameters["p"]
    assert value == Fraction(1, 150)
    assert found.witness.exceeds
    parts = parts_of(case, "p")
    for bottom in range(1, value.denominator):
        assert parts.status_at(Fraction(1, bottom)) is not Status.VIOLATING


def test_worst_prior_next_to_one_that_is_excluded(tmp_path: Path) -> None:
    """Where the supremum 2 belongs to p = 0, which the box has and a secret excludes, priors approach it."""
    changes = ('epsilon = "ln(2)"', 'ratio = "3/2"'), ('p = "(0, 1)"', 'p = "[0, 1]"')
    case = variant(tmp_path, "geometric-independent", *changes)
    with Session() as session:
        found = worst(model_of(case), session, Fraction(1, 10**3))
    assert isinstance(found.witness, ExactWitness)
    assert found.complete
    assert found.supremum is not None
    assert found.supremum.attained is False
    ratio = found.witness.ratio
    assert ratio is not None
    assert ratio.rational == largest_ratio(model_of(case), dict(found.witness.parameters))
    assert 2 * (1 - Fraction(1, 10**3)) <= ratio.rational < 2


@pytest.mark.slow
def test_worst_prior_of_a_private_case() -> None:
    """Where even the worst prior is within the bound, all claims are proved, and the supremum is told."""
    with Session() as session:
        found = worst(model_of(load(CASES / "geometric-independent.toml")), session)
    assert found.witness is None
    assert found.complete
    assert found.decisions
    assert found.supremum is not None
    assert found.supremum.lower == 2


def test_worst_prior_relative_to_a_bound_with_parameters() -> None:
    """With a bound that has parameters, the ratio over the bound counts; here it grows without limit."""
    with Session() as session:
        found = worst(model_of(load(CASES / "survey-fresh.toml")), session)
    assert found.relative
    assert found.supremum is not None
    assert found.supremum.infinite
    assert isinstance(found.witness, ExactWitness)
    assert found.witness.exceeds


def test_nearest_prior_in_one_parameter(tmp_path: Path) -> None:
    """The certified distances enclose the exact one: from 1/2 to the end of the violating interval."""
    case = variant(tmp_path, "geometric-independent", ('epsilon = "ln(2)"', 'ratio = "199/100"'))
    with Session() as session:
        found = nearest(case.model, session, {"p": Fraction(1, 2)}, Fraction(1, 10**5))
    assert found.complete
    assert found.nearer is not None
    assert found.distance is not None
    assert isinstance(found.witness, ExactWitness)
    root = parts_of(case, "p").parts[0].upper.refined(Fraction(1, 10**12))
    assert found.nearer <= Fraction(1, 2) - root.lower
    assert Fraction(1, 2) - root.upper <= found.distance == Fraction(1, 2) - found.witness.parameters["p"]
    assert found.distance - found.nearer <= found.distance / 10**5


@pytest.mark.slow
def test_nearest_prior_in_three_parameters(tmp_path: Path) -> None:
    """With three parameters, no random prior nearer than the lower bound violates the case."""
    case = variant(tmp_path, "noisy-max-independent", ('epsilon = "ln(2)"', "epsilon = 0.6"))
    start = {"pA": Fraction(1, 5), "pB": Fraction(4, 5), "pC": Fraction(4, 5)}
    with Session() as session:
        found = nearest(case.model, session, start, Fraction(1, 50))
    assert found.complete
    assert isinstance(found.witness, ExactWitness)
    assert found.nearer is not None
    distances = [abs(found.witness.parameters[n] - v) for n, v in start.items()]
    assert max(distances) == found.distance
    draws = random.Random(3)
    model = model_of(case)
    origins = [claim.origins[0] for claim in claims_of(model)]
    for _ in range(40):
        near = {
            n: v + found.nearer * draws.choice((-1, 1)) * Fraction(draws.randint(1, 99), 100)
            for n, v in start.items()
        }
        if all(0 < v < 1 for v in near.values()):
            assert not any(evaluate(model, o, near).exceeds for o in origins)


def test_nearest_prior_where_the_point_itself_violates() -> None:
    """A violating prior has distance 0 to itself."""
    case = load(CASES / "geometric-contagious-ln2.toml")
    with Session() as session:
        found = nearest(case.model, session, {"p": Fraction(1, 3)})
        assert found.distance == found.nearer == 0
        with pytest.raises(InputError, match="there is no parameter 'q'"):
            nearest(case.model, session, {"q": Fraction(1, 3)})
    with Session() as session, pytest.raises(InputError, match="no value for pB, pC"):
        nearest(load(CASES / "noisy-max-independent.toml").model, session, {"pA": Fraction(1, 3)})


def test_strict_comparisons() -> None:
    """A strict comparison has violating points, but no regions: it is no claim on the whole domain."""
    case = load(CASES / "blood-test.toml")
    with Session() as session:
        assert simplest(case.model, session).witness is not None
        start = {n: i.simplest() for n, i in case.model.domain.box.items()}
        found = nearest(case.model, session, start, Fraction(1, 100))
    assert found.witness is not None
    with pytest.raises(UnsupportedError, match="intervals and maps require <= or >="):
        region_claims(case.model)


# --- design ------------------------------------------------------------------------------------------


def test_design_of_a_contagious_pair(capsys: pytest.CaptureFixture[str]) -> None:
    """The count is 0 or 2, so output 0 has ratio 1/alpha², and alpha ≥ 1/√2 is needed, exactly."""
    code, found = document(capsys, CASES / "design-geometric-contagious.toml")
    assert code == 0
    value = found["optimum"]["value"]
    assert found["optimum"]["attained"]
    assert value["exact"] == "sqrt(2)/2"
    assert value["minimal_polynomial"] == "2*x^2 - 1"
    assert Fraction(value["lower"]) ** 2 < Fraction(1, 2) < Fraction(value["upper"]) ** 2
    assert [p["status"] for p in found["parts"]] == ["violating", "safe"]
    assert found["quantified"] == ["p"]


def test_design_of_randomised_response() -> None:
    """By hand: answer 0 has the largest ratio, for p = 1/10 it is ((1-t)/10 + 9t/10)/(1-t), which is e."""
    case = load(CASES / "design-randomized-response.toml")
    best = optimum_of_parts(parts_of(case, "truth"), Sense.MAXIMISE)
    assert best is not None
    assert best.attained
    assert best.value is not None
    assert minimal_polynomial(best.value) == "10*x*E + 8*x - 10*E + 1"
    e = exp(1)
    assert isclose(float(best.value.refined(Fraction(1, 10**15)).lower), (10 * e - 1) / (10 * e + 8))


@pytest.mark.slow
def test_design_of_noisy_max(tmp_path: Path) -> None:
    """The smallest alpha is exact, private itself by verification, and any smaller one is violated."""
    case = load(CASES / "design-noisy-max.toml")
    best = optimum_of_parts(parts_of(case, "alpha"), Sense.MINIMISE)
    assert best is not None
    assert best.attained
    assert best.value is not None
    assert minimal_polynomial(best.value) == "2*x^4 - 2*x^3 - 6*x^2 + x + 1"
    root = best.value.refined(Fraction(1, 10**6))
    marked = 'alpha = { in = "[1/10, 9/10]", design = true }'
    for value, verdict in ((root.upper, Holds), (root.lower, Violated)):
        changes = ((marked, f'alpha = "{value}"'), ('[design]\nminimise = "alpha"\n', ""))
        assert isinstance(verify(variant(tmp_path, "design-noisy-max", *changes)).verdict, verdict)
    bounds = region_map(claims_of(case.model), case.model.domain, ("alpha",), Fraction(1, 1000))
    certified = optimum_of_map(bounds, "alpha", Sense.MINIMISE)
    assert certified is not None
    assert certified.lower is not None
    assert certified.upper is not None
    assert certified.lower <= root.lower < root.upper <= certified.upper
    assert certified.upper - certified.lower <= Fraction(1, 1000)


def test_two_design_parameters(tmp_path: Path) -> None:
    """Two design parameters get a map with certified bounds of the objective."""
    case = variant(
        tmp_path,
        "design-randomized-response",
        ('p = "[1/10, 1/2]"', 'p = "[1/10, 1/2]"\ns = { in = "[0, 1]", design = true }'),
        ('1 = { 0 = "(1 - p)**2", 1 = "2*p - p**2" }', '1 = { 0 = "s", 1 = "1 - s" }'),
    )
    claims = region_claims(case.model)
    assert axes_of(case, claims) == ("truth", "s")
    found = region_map(claims, case.model.domain, axes_of(case, claims))
    best = optimum_of_map(found, "truth", Sense.MAXIMISE)
    assert best is not None
    assert best.lower is not None
    assert best.upper is not None
    assert best.lower < Fraction(745, 1000)
    assert best.upper > Fraction(744, 1000)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("design = true", "design = 1", "parameters.alpha.design: must be true or false"),
        ("design = true", "desing = true", "parameters.alpha.desing: unknown key; did you mean 'design'?"),
        ('in = "(0, 1)", ', "", "parameters.alpha: the key 'in' is missing"),
        ('minimise = "alpha"', 'minimise = "p"', "design.minimise: 'p' is not a design parameter"),
        (
            'minimise = "alpha"',
            'minimize = "alpha"',
            "design.minimize: unknown key; did you mean 'minimise'?",
        ),
        (
            '"alpha"\n\n[prior]',
            '"alpha"\nmaximise = "alpha"\n\n[prior]',
            "give either maximise or minimise, not both",
        ),
        ("design = true", "design = false", "design: no parameter is marked"),
        (
            "[prior]",
            '[quantify]\nforall = ["p"]\n\n[prior]',
            "quantify: parameters that are not marked for design are universally quantified already",
        ),
    ],
)
def test_mistakes_in_designs(
    old: str, new: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mistakes in a design are named."""
    text = (CASES / "design-geometric-contagious.toml").read_text()
    path = tmp_path / "case.toml"
    path.write_text(text.replace(old, new, 1))
    assert run(["synthesize", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_verify_is_about_all_design_values(capsys: pytest.CaptureFixture[str]) -> None:
    """`verify` quantifies over the design parameters too, and points at `synthesize`."""
    assert run(["verify", str(CASES / "design-geometric-contagious.toml")]) == 1
    assert "Design: the verdict is about every alpha" in capsys.readouterr().out


# --- the command -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_region_with_state_and_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A map goes on where a coarser one stopped, and its evidence is accepted for its case only."""
    case = variant(tmp_path, "noisy-max-independent", ('epsilon = "ln(2)"', "epsilon = 0.6"))
    state, evidence = tmp_path / "cells", tmp_path / "evidence.json"
    first = ["--parameters", "pA,pB", "--state", state]
    code, coarse = document(capsys, case.path, *first, "--coverage", "0.2")
    assert code == 0
    lines = state.read_text().splitlines()
    code, fine = document(capsys, case.path, *first, "--region", "--evidence", evidence)
    assert code == 0
    assert state.read_text().splitlines()[: len(lines)] == lines
    assert len(fine["cells"]) > len(coarse["cells"])
    assert Fraction(fine["shares"]["undecided"]) <= Fraction(1, 100)
    assert run(["check", str(evidence), "--case", case.path]) == 0
    assert run(["check", str(evidence), "--case", str(CASES / "noisy-max-independent.toml")]) == 1


@pytest.mark.slow
def test_a_map_is_drawn_after_the_time_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture that takes longer than the time limit leaves is drawn, and the map is told."""
    drawn: list[RegionMap] = []

    def slow(found: RegionMap, path: Path, *_: Any, **__: Any) -> None:
        time.sleep(1.5)
        drawn.append(found)

    monkeypatch.setattr("paramverify.cli.synthesize.draw", slow)
    case = variant(tmp_path, "noisy-max-independent", ('epsilon = "ln(2)"', "epsilon = 0.6"))
    limits = ["--region", "--coverage", "0.0001", "--timeout", "6"]
    code, found = document(capsys, case.path, *limits, "--plot", tmp_path / "x.png")
    assert code == 3
    assert found["interrupted"]
    assert len(found["cells"]) == sum(cell.status is not Status.MIRRORED for cell in drawn[0].cells)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--witness", "--exact"], "--witness, --region and --exact exclude each other"),
        (["--near", "p=1/2", "--region"], "choose a violating prior: use them with --witness"),
        (["--objective", "nearest"], "--objective nearest needs a prior: add --near"),
        (["--state", "x", "--exact"], "--state is only for maps: use it with --region"),
        (
            ["--plot", "x.svg", "--witness"],
            "--plot has no picture of one prior: use it with --region or --exact",
        ),
        (["--plot", "x.jpg"], "pictures are written as .svg, .png or .pdf"),
        (["--coverage", "1"], "--coverage: a number between 0 and 1 is needed"),
        (["--parameters", "q"], "there is no parameter 'q'; choose from p"),
        (["--near", "p"], "write parameter=value"),
        (["--witness", "--coverage", "0.1"], "--coverage applies only to maps: use it with --region"),
        (
            ["--region", "--precision", "0.1"],
            "--precision has no effect here: use it with --objective ratio or --near",
        ),
        (["--parameters", ""], "--parameters names nothing: give at least one name"),
    ],
)
def test_mistakes(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Options that do not go together, and values that make no sense, are named."""
    assert run(["synthesize", str(CASES / "geometric-independent.toml"), *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("geometric-neighbours", "the claims of this case contain no parameter"),
        ("time-series-2-all", 'intervals and maps do not support length = "all"'),
        ("blood-test", "intervals and maps require <= or >= instead of < or >"),
    ],
)
def test_cases_without_regions(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Cases that have no regions say why."""
    assert run(["synthesize", str(CASES / f"{name}.toml")]) == 2
    assert message in capsys.readouterr().err


def inequality(tmp_path: Path, ranges: str, holds: str) -> Path:
    path = tmp_path / "inequality.toml"
    path.write_text(f'[parameters]\n{ranges}\n[define]\nf = "{holds}"\n[claim]\nholds = "f >= 0"\n')
    return path


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (
            'p = "1/2"\nq = "[1, 1]"',
            "every parameter has only one value (p, q): use `verify` to decide the case",
        ),
        ('p = "[0, 1]"\nq = "[0, 1]"\nconstraints = ["p == q"]', "interior, but p == q leaves none"),
        ('p = "[0, 1]"\nq = "[0, 1]"\nconstraints = ["p + q >= 2"]', "interior, but p + q >= 2 leaves none"),
    ],
)
def test_domains_without_a_map(
    ranges: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A domain that is one point, or that constraints make flat, is named at once."""
    assert run(["synthesize", str(inequality(tmp_path, ranges, "p*q - 1"))]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_constraints_of_a_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A map says under which constraints, and its example satisfies them: simplest points of cells do not."""
    ranges = 'p = "(0, 1)"\nq = "(0, 1)"\nconstraints = ["p + q <= 1", "p >= 17*q"]'
    path = inequality(tmp_path, ranges, "3*q - 1")
    run(["synthesize", str(path), "--coverage", "0.1"])
    assert "over (p, q) with p + q <= 1, p >= 17*q" in capsys.readouterr().out
    _, found = document(capsys, path, "--coverage", "0.1")
    point = {name: Fraction(value) for name, value in found["witness"]["parameters"].items()}
    assert point["p"] + point["q"] <= 1
    assert point["p"] >= 17 * point["q"]


def test_ends_that_are_close(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An inequality is true or false on its intervals, and ends that agree in six digits are told apart."""
    path = tmp_path / "case.toml"
    path.write_text(
        '[parameters]\np = "[0, 1]"\n[define]\nf = "(p**2 - 1/2)*(p**2 - 500000001/1000000000)"\n'
        '[claim]\nholds = "f >= 0"\n'
    )
    assert run(["synthesize", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "true: f >= 0 for p in [0, ≈ 0.707106781]"
    assert lines[1] == "false: f >= 0 for p in (≈ 0.707106781, ≈ 0.707106782)"
    assert "≈ 0.707106781 stands for sqrt(2)/2, a root of 2*x^2 - 1" in lines
