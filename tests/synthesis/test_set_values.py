"""Where cases with a delta are private: intervals, maps, witnesses, by brute force over sets of outputs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any

import pytest
from set_oracle import Drawn, Point, drawn, points, value
from written_evidence import Json, evidence, with_first

from paramverify.algebra.domains import Constraint
from paramverify.algebra.polynomials import RationalFunction, value_at
from paramverify.divergences import HockeyStick, MaxDivergence
from paramverify.encodings.choice import claims_of
from paramverify.encodings.output_sums import excesses
from paramverify.encodings.sets import set_claims
from paramverify.errors import LimitError, UnsupportedError
from paramverify.evidence.witnesses import ExactSetWitness
from paramverify.kernel.documents import check_document
from paramverify.kernel.ledger import Demanded
from paramverify.models.model import Model
from paramverify.portfolio.session import Options, Session
from paramverify.reports.pictures.ratio_curves import curve_of
from paramverify.synthesis.map_documents import statement
from paramverify.synthesis.maps import RegionMap, Status
from paramverify.synthesis.projection import exact_parts, project
from paramverify.synthesis.questions import region_claims, witness_in_map
from paramverify.synthesis.regions import region_map
from paramverify.synthesis.violating import Objective, violating_prior

RATIOS = [Fraction(1), Fraction(5, 4), Fraction(3, 2), Fraction(2)]


def case(seed: int, parameters: int) -> tuple[Drawn, Fraction, Fraction, Model]:
    """A random mechanism with a delta that is enough at some points only, and its model."""
    random = Random(seed)
    found = drawn(random, parameters)
    ratio, share = random.choice(RATIOS), random.choice((Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)))
    known = [needed(found, ratio, at) for at in points(found.names, 16)]
    delta = (min(known) + (max(known) - min(known)) * share).limit_denominator(60)
    return found, ratio, delta, found.model(ratio, delta)


def needed(found: Drawn, ratio: Fraction, point: Point) -> Fraction:
    """The least delta of both directions at a point, over all sets of outputs."""
    return found.largest_delta(ratio, point)


@pytest.mark.parametrize("seed", range(600, 604))
def test_one_of_the_claims_is_the_sum_at_every_point(seed: int) -> None:
    """At each point the smallest f_S is room − Σ max(0, t): no worst set is missing, and none is made up."""
    found, _, _, model = case(seed, 1 + seed % 2)
    sums = excesses(model)
    claims = set_claims(model).claims
    for point in points(found.names, 25):
        least = min(
            value_at(e.room, point) - sum(max(Fraction(0), value_at(t, point)) for t in e.terms) for e in sums
        )
        own = [value_at(claim.polynomial, point) for claim in claims]
        assert min(own) == least
        assert (min(own) < 0) == (needed(found, *bounds(model, point), point) > delta_of(model, point))


def bounds(model: Model, point: Point) -> tuple[Fraction]:
    """The ratio at a point."""
    assert isinstance(model.measure, HockeyStick)
    ratio = model.measure.ratio
    return (value_at(ratio.numerator, point) / value_at(ratio.denominator, point),)


def delta_of(model: Model, point: Point) -> Fraction:
    """The delta at a point."""
    assert isinstance(model.measure, HockeyStick)
    delta = model.measure.delta
    return value_at(delta.numerator, point) / value_at(delta.denominator, point)


@pytest.mark.parametrize("seed", range(700, 704))
def test_exact_intervals_of_one_parameter(seed: int) -> None:
    """Each of 50 points, and each rational end, has the status that brute force gives it."""
    found, ratio, delta, model = case(seed, 1)
    claims = region_claims(model)
    partition = exact_parts(claims, model.domain, "p")
    ends = [r.lower for part in partition.parts for r in (part.lower, part.upper) if r.is_rational]
    samples = [part.sample for part in partition.parts if part.sample is not None]
    for place in {*(at["p"] for at in points(("p",))), *ends, *samples}:
        broken = needed(found, ratio, {"p": place}) > delta
        assert partition.status_at(place) is (Status.VIOLATING if broken else Status.SAFE), place


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(800, 802))
def test_maps_of_two_parameters(seed: int) -> None:
    """At corners and inside of each cell brute force agrees; the kernel replays the map and its trees."""
    found, ratio, delta, model = case(seed, 2)
    made = a_map(model, ("p", "q"))
    random = Random(seed)
    for cell in random.sample(made.cells, min(12, len(made.cells))):
        for weights in product((0, Fraction(1, 3), 1), repeat=2):
            values = [low + (high - low) * w for (low, high), w in zip(cell.box, weights, strict=True)]
            point = dict(zip(made.parameters, values, strict=True))
            broken = needed(found, ratio, point) > delta
            assert cell.status is not Status.SAFE or not broken
            assert cell.status is not Status.VIOLATING or broken
    report = check_document(document(made, model))
    assert report.accepted, report.lines


@pytest.mark.parametrize("seed", range(750, 752))
def test_sequences_of_two_lengths(seed: int) -> None:
    """Sets of sequences of each length: the parts are those by all single outputs and all pairs of them."""
    found, ratio, delta, _ = case(seed, 1)
    model = replace(found.model(ratio, delta), lengths=(1, 2))
    partition = exact_parts(region_claims(model), model.domain, "p")
    for at in points(("p",), 20):
        sums = []
        priors = [[value(entry, at) for entry in prior] for prior in found.priors]
        rows = [[value(entry, at) for entry in row] for row in found.emissions]
        for length in (1, 2):
            # The transitions of `Drawn.model` keep the input, so both outputs come from one row.
            words = list(product(range(len(rows[0])), repeat=length))
            one, other = (
                [
                    sum(w * prod(row[o] for o in word) for w, row in zip(prior, rows, strict=True))
                    for word in words
                ]
                for prior in priors
            )
            for a, b in ((one, other), (other, one)):
                sums.append(sum(max(Fraction(0), x - ratio * y) for x, y in zip(a, b, strict=True)))
        broken = max(sums) > delta
        assert partition.status_at(at["p"]) is (Status.VIOLATING if broken else Status.SAFE)


@pytest.mark.parametrize("seed", range(770, 772))
def test_the_curve_of_the_needed_delta(seed: int) -> None:
    """The curve above the intervals is the least delta at each place, rounded, and its bound the delta."""
    found, ratio, delta, model = case(seed, 1)
    curve = curve_of(model, "p")
    assert curve
    for at in points(("p",), 9):
        assert curve.value(at["p"]) == pytest.approx(float(needed(found, ratio, at)), abs=1e-12)
        assert curve.bound(at["p"]) == float(delta)


def test_the_curve_with_other_parameters() -> None:
    """It is the largest one over values of the others, some of them next to the ends of their intervals."""
    found, ratio, _, model = case(804, 2)
    curve = curve_of(model, "p")
    assert curve
    for k in range(5):
        at = {"p": Fraction(k, 4)}
        least = max(needed(found, ratio, {**at, "q": Fraction(end)}) for end in (0, 1))
        assert curve.value(at["p"]) >= float(least) - 1e-3


def test_constraints_are_kept() -> None:
    """A map is about the part of the box where the constraints hold; the kernel replays it."""
    found, ratio, delta, plain = case(804, 2)
    below = Constraint(plain.domain.ring.parse("p - q"), False, "p >= q")
    model = replace(plain, domain=replace(plain.domain, constraints=(below,)))
    made = a_map(model, ("p", "q"))
    assert Status.SAFE in {cell.status for cell in made.cells}
    for cell in made.cells:
        middle = {n: (a + b) / 2 for n, (a, b) in zip(made.parameters, cell.box, strict=True)}
        broken = needed(found, ratio, middle) > delta
        inside = middle["p"] >= middle["q"]
        assert cell.status is not Status.SAFE or not (broken and inside)
        assert cell.status is not Status.VIOLATING or broken or not inside
    assert check_document(document(made, model)).accepted


@pytest.mark.parametrize("seed", range(820, 822))
def test_maps_for_all_values_of_a_parameter(seed: int) -> None:
    """A private cell is private for every q; a violating one has a q at which it is not."""
    found, ratio, delta, model = case(seed, 2)
    made = a_map(model, ("p",))
    for cell in made.cells[:20]:
        for w in (Fraction(0), Fraction(2, 5), Fraction(1)):
            ((low, high),) = cell.box
            p = low + (high - low) * w
            broken = [needed(found, ratio, {"p": p, "q": Fraction(k, 8)}) > delta for k in range(9)]
            assert cell.status is not Status.SAFE or not any(broken)
            if cell.status is Status.VIOLATING:
                assert needed(found, ratio, {"p": p, **dict(cell.at)}) > delta
    assert check_document(document(made, model)).accepted


def a_map(model: Model, free: tuple[str, ...]) -> RegionMap:
    """A small map."""
    used = [name for name in free if not model.domain.box[name].is_point]
    return region_map(region_claims(model), model.domain, used, Fraction(1, 8))


def document(made: RegionMap, model: Model) -> Json:
    """A map as evidence, and the sums that its claims come from beside it."""
    own = statement(made, model.domain)
    sums = [{"kind": "parts", "domain": 0, **cover.document()} for cover in set_claims(model).covers]
    return evidence("map", [own["domain"]], {**own, "domain": 0}, *sums)


@pytest.mark.slow
def test_forged_maps_are_rejected() -> None:
    """A map without a sum, with another leaf, another claim, or a sign that is not so, shows nothing."""
    seed = next(k for k in range(800, 900) if len(set_claims(case(k, 2)[3]).claims) > 3)
    model = case(seed, 2)[3]
    good = document(a_map(model, ("p", "q")), model)
    assert check_document(good).accepted
    (domain,), (cells, first, *others) = good["domains"], good["statements"]
    leaves = [k for k, token in enumerate(first["tree"]) if token[0] == "claim"]
    signs = [k for k, token in enumerate(first["tree"]) if token[0] in "+-"]

    def having(*sums: Json) -> Json:
        return {**good, "statements": [cells, *sums]}

    def changed(k: int, token: Any) -> Json:
        tree = list(first["tree"])
        tree[k : k + 1] = token
        return having({**first, "tree": tree}, *others)

    other = (first["tree"][leaves[0]][1] + 1) % len(cells["claims"])
    sign = first["tree"][signs[0]]
    elsewhere = having({**first, "domain": 1}, *others)
    forged = [
        having(*others),
        having(first, *others, first),
        changed(leaves[0], [["claim", other]]),
        changed(leaves[0], [["claim", len(cells["claims"])]]),
        changed(leaves[0], []),
        changed(leaves[0], [["free"]]),
        changed(leaves[0], [{"kind": "constant"}]),
        changed(signs[0], [["-" if sign[0] == "+" else "+", *sign[1:]]]),
        changed(signs[0], []),
        changed(signs[0], [["<", sign[1], "1", {"kind": "constant"}, {"kind": "constant"}]]),  # no estimate
        having({**first, "room": "1"}, *others),
        {**elsewhere, "domains": [domain, {**domain, "box": {**domain["box"], "p": "[0, 1/2]"}}]},
    ]
    for k, document_of in enumerate(forged):
        assert not check_document(document_of).accepted, k
    expected = [{**s, "domain": domain, "origins": [o]} for s in (first, *others) for o in s["origins"]]
    stated = [{**domain, "polynomial": text} for text in cells["claims"]]
    demanded = Demanded(stated=stated, directions=expected)
    assert check_document(good, demanded).accepted
    assert not check_document(good, Demanded(stated=stated)).accepted
    assert not check_document(having(), demanded).accepted
    other_sum = [{**expected[0], "terms": expected[0]["terms"][1:]}, *expected[1:]]
    assert not check_document(good, Demanded(stated=stated, directions=other_sum)).accepted


def test_maps_with_another_meaning_are_rejected() -> None:
    """A cell that says something else, that is missing or has another end, or a cut that is moved."""
    model = case(800, 2)[3]
    good = document(a_map(model, ("p", "q")), model)
    assert check_document(good).accepted
    own, first, *others = good["statements"]
    cells, tree = own["cells"], first["tree"]
    at = next(cell["at"] for cell in cells if cell["status"] == "violating")
    said: dict[str, Any] = {
        "safe": {"cuts": {}, "proofs": {}},
        "outside": {"cuts": {}},
        "violating": {"claim": 0, "at": at},
    }
    forged = []
    known = [(k, cell) for k, cell in enumerate(cells) if cell["status"] != "undecided"]
    for k, cell in known[:: max(1, len(known) // 6)]:
        wrong = [
            {"box": cell["box"], "status": word, **said[word]} for word in said if word != cell["status"]
        ]
        (low, high), *rest = cell["box"]
        moved = [str(Fraction(low) + Fraction(1, 64)), high], [low, str(Fraction(high) + Fraction(1, 10**9))]
        wrong += [{**cell, "box": [ends, *rest]} for ends in moved]
        forged += [with_first(good, cells=[*cells[:k], other, *cells[k + 1 :]]) for other in wrong]
        forged.append(with_first(good, cells=[*cells[:k], *cells[k + 1 :]]))
    for k, token in enumerate(tree):
        if token[0] == "sign":
            other_sign = [*tree[:k], ["sign", "p - 1/2"], *tree[k + 1 :]]
            forged.append({**good, "statements": [own, {**first, "tree": other_sign}, *others]})
    assert len(forged) > 12
    for k, document_of in enumerate(forged):
        assert not check_document(document_of).accepted, k


@pytest.mark.parametrize("seed", range(840, 845))
def test_violating_priors(seed: int) -> None:
    """The simplest one, and the one that is nearest to a point, are what brute force says."""
    found, ratio, delta, model = case(seed, 1 + seed % 2)
    near = dict.fromkeys(found.names, Fraction(1, 3))
    with Session(Options(seconds=20)) as session:
        simple = violating_prior(model, session)
        close = violating_prior(model, session, Objective.NEAREST, near, Fraction(1, 100))
    grid = [at for at in points(found.names, 49) if needed(found, ratio, at) > delta]
    if simple.witness is None:
        assert simple.complete
        assert close.witness is None
        assert not grid
        return
    for witness in (simple.witness, close.witness):
        assert isinstance(witness, ExactSetWitness)
        assert witness.exceeds
        assert witness.beyond.enclosure()[0] == needed(found, ratio, witness.parameters) > delta
    assert close.nearer is not None
    assert close.distance is not None
    for at in grid:
        assert max(abs(at[n] - near[n]) for n in found.names) >= close.nearer


def test_a_witness_in_a_map() -> None:
    """A violating cell gives a set of outputs that is too likely, exactly."""
    for seed in range(860, 900):
        found, ratio, delta, model = case(seed, 2)
        made = a_map(model, ("p", "q"))
        if made.shares[Status.VIOLATING].lower:
            with Session(Options(seconds=20)) as session:
                witness = witness_in_map(model, session, made)
            assert isinstance(witness, ExactSetWitness)
            assert needed(found, ratio, witness.parameters) > delta
            return
    pytest.fail("no violating cell in any case")


@pytest.mark.parametrize("seed", range(900, 903))
def test_delta_zero_is_pure(seed: int) -> None:
    """With a delta of 0 the parts are those of pure privacy, end by end."""
    _, ratio, _, model = case(seed, 1)
    ring = model.domain.ring
    bound = RationalFunction.of(ring.number(2 * ratio))
    none = RationalFunction.of(ring.number(0))
    by_sets = replace(model, measure=HockeyStick(bound, none))
    one_by_one = replace(model, measure=MaxDivergence(bound))
    parts = [project(region_claims(m), m.domain, "p").parts for m in (by_sets, one_by_one)]
    ends = [[(p.status, p.lower_closed, p.upper_closed) for p in each] for each in parts]
    assert ends[0] == ends[1]
    for a, b in zip(*parts, strict=True):
        for left, right in ((a.lower, b.lower), (a.upper, b.upper)):
            assert left.lower <= right.upper
            assert right.lower <= left.upper
            assert left.is_rational == right.is_rational


def test_too_many_sets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """More sets than the limit are no answer, and models without a delta have no sets."""
    model = next(m for k in range(600, 700) if len(claims_of(m := case(k, 1)[3])) > 1)
    monkeypatch.setattr("paramverify.encodings.sets.MAX_SETS", 1)
    with pytest.raises(LimitError, match="more than 1 sets"):
        claims_of(model)
    with pytest.raises(UnsupportedError, match="no delta"):
        set_claims(replace(model, measure=MaxDivergence.number(model.domain.ring, 2)))
