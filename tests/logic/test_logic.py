"""dpCTL*: the cases, parameters, budgets, families, neighbours, and what is told about mistakes."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT
from flint import fmpq
from logic_models import path_sum, random_chain

from paramverify.algebra.budgets import read_epsilon
from paramverify.algebra.domains import Domain, Interval, box_domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import RationalFunction, Ring, to_rational_function
from paramverify.errors import InputError, Mistakes, ModelError
from paramverify.logic.formula_budgets import curve, least_delta, least_ratio
from paramverify.logic.formula_families import check_property
from paramverify.logic.formula_grammar import read_predicate, read_property
from paramverify.logic.formula_syntax import Property
from paramverify.logic.logic_cases import LogicCase, LogicOptions, load
from paramverify.logic.probability_comparisons import SchedulerChoice
from paramverify.logic.property_checking import FormulaResult, LogicSession
from paramverify.models.chains.markov_chains import ANY, Chain
from paramverify.models.chains.state_relations import StateRelation, closed, where
from paramverify.portfolio.session import Options, Session
from paramverify.reports.logic_reports import counterexample_lines, witness

FOLDER = ROOT / "cases" / "logic"
CASES = sorted(FOLDER.glob("*.toml"))
EXPECTED = [
    (path, name, expected)
    for path in CASES
    for name, expected in tomllib.loads(path.read_text("utf-8"))["expect"].items()
]
SHOWN = ("above-threshold-two-copies", "too_small")  # by test_the_worst_words in test_above_threshold.py
ALL = [(path, name) for path, name, _ in EXPECTED if (path.stem, name) != SHOWN]
TIGHT = [(path, name) for path, name, told in EXPECTED if told.keys() & {"ratio", "delta", "sufficient"}]
kept = cache(load)


def check(
    session: Session, case: LogicCase, found: Property, method: SchedulerChoice = SchedulerChoice.AUTO
) -> FormulaResult:
    work = LogicSession(case, session, method)
    assert work.prepare() is None
    return check_property(work, found)


def model(text: str, tmp_path: Path, given: LogicOptions | None = None) -> LogicCase:
    path = tmp_path / "case.toml"
    path.write_text(text)
    return load(path, given)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "name"), ALL, ids=lambda v: v.stem if isinstance(v, Path) else v)
def test_expected_verdict(path: Path, name: str, session: Session) -> None:
    """Every formula of the cases has its verdict; violations come with numbers beyond the bound."""
    case = kept(path)
    result = check(session, case, case.properties[name])
    assert result.status == case.expect[name]["status"]
    example = result.counterexample
    if example is not None:
        assert example.probabilities is not None
        assert example.ratio is not None
        assert example.delta is not None
        left, right = example.probabilities
        assert (left - example.ratio * right - example.delta).sign() > 0


@pytest.mark.slow
@pytest.mark.parametrize(("path", "name"), TIGHT, ids=lambda v: v.stem if isinstance(v, Path) else v)
def test_expected_tight_budget(path: Path, name: str, session: Session) -> None:
    """Where a case gives the tight ratio for δ = 0, or the tight δ for the formula's ε, it is the least."""
    case = kept(path)
    expected = case.expect[name]
    work = LogicSession(case, session)
    ring = case.chain.domain.ring
    if "ratio" in expected:
        least = least_ratio(work, case.properties[name], RationalFunction.of(ring.number(0)))
        assert least.value is not None
        assert least.value.rational == Fraction(expected["ratio"])
    if "delta" in expected or "sufficient" in expected:
        epsilon = "ln(2)" if name == "double" else "0"
        ratio = read_epsilon(parse(epsilon)).ratio(ring, lambda e: to_rational_function(e, ring))
        least = least_delta(work, case.properties[name], ratio)
        assert least.value is not None
        assert least.value.rational == Fraction(expected.get("delta") or expected["sufficient"])
        assert least.sufficient == ("sufficient" in expected)


@pytest.mark.slow
def test_subsampling_majority_by_hand(session: Session) -> None:
    """The chain of the subsampling majority has the probabilities that a sum over all draws gives."""
    from paramverify.logic.probability_comparisons import PathEngine
    from paramverify.logic.semantics import real

    case = load(FOLDER / "subsampling-majority.toml")
    ring = case.chain.domain.ring
    formula = read_property("P>=0 [ F out0 ]").formula
    engine = PathEngine(case.chain, lambda f: [s in case.chain.labels[str(f)] for s in range(99)])
    (found,) = engine.of(formula.path, case.chain.initial)  # type: ignore[union-attr]
    half = to_rational_function(parse("exp(-1/2)/2"), ring)
    one = RationalFunction.of(ring.number(1))
    for red, state in enumerate(case.chain.initial):
        total = RationalFunction.of(ring.number(0))
        for draws in product(range(4), repeat=3):
            blue = sum(draw >= red for draw in draws)
            weight = RationalFunction.of(ring.number(Fraction(1, 64)))
            if blue >= 2:
                total = total + weight * (one - half if blue == 3 else half)
        assert (real(found.upper[state], ring) - real(total, ring)).sign() == 0


def test_subsampling_majority_as_printed(session: Session) -> None:
    """Algorithm 1 with n = m = 3, q = 1/12, ε = 1, δ = 1/4 has the probabilities of all samples."""
    from paramverify.logic.probability_comparisons import PathEngine
    from paramverify.logic.semantics import real

    case = load(FOLDER / "subsampling-majority-as-printed.toml")
    ring = case.chain.domain.ring
    keep = Fraction(1, 12)
    for label, wins in (("out1", True), ("out0", False)):
        formula = read_property(f"P>=0 [ F {label} ]").formula
        engine = PathEngine(case.chain, lambda f: [s in case.chain.labels[str(f)] for s in range(99)])
        (found,) = engine.of(formula.path, case.chain.initial)  # type: ignore[union-attr]
        for state in case.chain.initial:
            rows = case.chain.states[state]
            samples: list[tuple[bool, Fraction]] = []
            for kept in product((True, False), repeat=3):
                red = sum(k for k, row in zip(kept, rows, strict=True) if row == "r")
                weight = Fraction(1)
                for k in kept:
                    weight *= keep if k else 1 - keep
                samples.append((2 * red >= sum(kept), weight))
            number, factor = Fraction(0), Fraction(0)  # the probability is number + factor·exp(−2)
            for drawn in product(samples, repeat=3):
                votes = sum(red for red, _ in drawn)
                weight = drawn[0][1] * drawn[1][1] * drawn[2][1]
                if (votes >= 3 - votes) is not wins:
                    continue
                margin = Fraction(abs(2 * votes - 3)) / (4 * 3 * keep) - 1
                # Pr(Lap(1) > ln 4 − r): ln 4 is between 0 and 2, the two values of r.
                assert margin in (0, 2)
                number += weight if margin == 2 else weight * Fraction(1, 4) / 2
                factor -= weight * 4 / 2 if margin == 2 else 0
            expected = to_rational_function(parse(f"({number}) + ({factor})*exp(-2)"), ring)
            assert (real(found.upper[state], ring) - real(expected, ring)).sign() == 0


SURVEY = """
[parameters]
c = "(0, 1)"

[model]
initial = ["plus", "minus"]

[states]
plus = { to = { yes = "(1 + c)/2", no = "(1 - c)/2" } }
minus = { to = { yes = "(1 - c)/2", no = "(1 + c)/2" } }
yes = { labels = ["out1"] }
no = { labels = ["out0"] }

[neighbours]
pairs = [["plus", "minus"]]
"""


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ("D{ln((1 + c)/(1 - c)), 0}[ X out1 ]", "holds"),
        ("D{ln((1 + c)/(1 - c)) , 0}[ F out1 ]", "holds"),
        ("D{0, c}[ X out1 ] & P>=(1 - c)/2 [ X out1 ]", "holds"),
        ("D{0, 0.99*c}[ X out1 ]", "violated"),
        ("!D{0, c/2}[ X out1 ]", "holds"),
        ("D{0, c/2}[ X out1 ] | D{0, c}[ X out0 ]", "holds"),
        ("P>0 [ X out1 ]", "holds"),
        ("P>=1/2 [ X out1 ]", "violated"),
        ("P>=1/2 [ X out1 ] | P>=1/2 [ X out0 ]", "holds"),  # each state satisfies one of both
        ("P>=3/4 [ X out1 ] | P>=1/4 [ X out0 ]", "holds"),  # for each c, by neither side alone
        ("P>3/4 [ X out1 ] | P>1/4 [ X out0 ]", "violated"),
        ("P>3/4 [ X out1 ] => !D{0, 1/2}[ X out1 ]", "holds"),
        ("D{0, 1/2}[ X out1 ] <=> P<=3/4 [ (X (out1 | out0)) & X out1 ]", "violated"),
        ("D{ln(3), 0}[ X out1 ] | !D{0, 1/2}[ X out1 ]", "holds"),
        ("P>0 [ X P>=1 [ X (out1 | out0) ] ]", "holds"),
        ("D{ln(3), 0}[ X out1 ]", "violated"),
        ("D{1, 0}[ X out1 ]", "violated"),
    ],
)
def test_parametric_survey(formula: str, status: str, session: Session, tmp_path: Path) -> None:
    """Formulas in the bias of the coin are proved for every value, or refuted at one, or left open."""
    case = model(SURVEY, tmp_path, LogicOptions((formula,)))
    result = check(session, case, case.properties["property"])
    assert result.status == status
    if status == "violated":
        assert result.counterexample is not None
        point = result.counterexample.parameters
        at = LogicSession(case, session).evaluate(case.properties["property"].formula, point)
        assert at is not None


def test_cycles_need_positive_probabilities(session: Session, tmp_path: Path) -> None:
    """Where a cycle cannot be left at an end of a closed interval, unbounded formulas are not proved."""
    text = """
[parameters]
p = "[0, 1]"
[model]
initial = ["a"]
[states]
a = { to = { b = "1" } }
b = { to = { a = "1 - p", c = "p" } }
c = { labels = ["done"] }
[formulas]
reach = "P>=1 [ F done ]"
soon = "P>=p [ F<=2 done ]"
"""
    case = model(text, tmp_path)
    reach = check(session, case, case.properties["reach"])
    assert reach.status == "violated"  # at p = 0 the model is evaluated by itself
    assert reach.counterexample is not None
    assert reach.counterexample.parameters == {"p": 0}
    assert check(session, case, case.properties["soon"]).status == "holds"
    inside = model(text.replace("[0, 1]", "(0, 1)"), tmp_path)
    assert check(session, inside, inside.properties["reach"]).status == "holds"
    half = model(text.replace("[0, 1]", "[0, 1)").replace("P>=1 [ F", "P>=0 [ F"), tmp_path)
    doubtful = check(session, half, half.properties["reach"])
    assert doubtful.status == "unknown"
    assert "positive on the whole domain" in doubtful.reason


def test_obligations_of_tables(tmp_path: Path) -> None:
    """Rows that are no distributions are refused with the place."""
    with pytest.raises(ModelError, match="sum to"):
        model(SURVEY.replace('yes = "(1 + c)/2"', 'yes = "c"') + "[formulas]\nf = 'D{0,0}[X out1]'", tmp_path)
    text = SURVEY.replace("(1 + c)/2", "3*c - 1").replace("(1 - c)/2", "2 - 3*c")
    with pytest.raises(Mistakes, match=r"9: .* negative at c = (.|\n)*10: .* negative at c"):
        model(text + "[formulas]\nf = 'D{0,0}[X out1]'", tmp_path)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("D{ln(3), 0}[ X out1 ", "line 1, column 20: the text ends too early"),
        ("P>=1/2 [ F & out1 ]", "line 1, column 12: unexpected '&'"),
        ("P>=1/2\n  [ F out1 $ ]", "line 2, column 12: unexpected '$'"),
        ("F out1", "a path formula cannot be checked alone"),
        ("P>=1 [ F out2 ]", "unknown label 'out2'; did you mean 'out1'?"),
        ("P>=1 [ F r = 1 ]", "unknown name 'r'"),
        ("D{0, -1/2}[ X out1 ]", "delta '-1/2': delta is negative"),
        ("D{-1, 0}[ X out1 ]", "epsilon is negative"),
        ("D{q, 0}[ X out1 ]", "a parameter is allowed only inside ln"),
        ("P=1 [ X out1 ]", "compared with <, <=, > or >="),
        ("forall k: D{0, 1}[ X out1 ]", "k is not used"),
        ("forall k in 3..2: D{0, 1}[ F<=k out1 ]", "the range is empty"),
        ("D{0, 1}[ F<=k out1 ]", "write forall k:"),
        ("D{0, 1}[ F[3,2] out1 ]", "an empty range"),
        ("P>=1 [ X out1' ]", "unexpected"),
        ("P>=1 [ X r' = 1 ]", "primes are for neighbourhoods only"),
        ("P>=1 [ X " + "(" * 99 + "out1" + ")" * 99 + "]", "nested deeper"),
        ("", "the text ends too early"),
        ("P[1/3, 1.5] [ X out1 ]", "line 1, column 8: a probability lies in 0..1, not 1.5"),
        ("P[-1, 2] [ X out1 ]", "line 1, column 3: a probability lies in 0..1, not -1"),
        ("P>=2 [ X out1 ]", "line 1, column 4: a probability lies in 0..1, not 2"),
        ("P<=1 + c [ X out1 ]", "0..1, and 1 + c is above 1 for every c in (0, 1)"),
        ("P>=-c/2 [ X out1 ]", "0..1, and -c/2 is below 0 for every c in (0, 1)"),
        ("P(c - 3/2, 1] [ X out1 ]", "0..1, and c - 3/2 is below 0 for every c in (0, 1)"),
        ("P>=exp(1/2) [ X out1 ]", "0..1, and exp(1/2) is above 1"),
        ("P>=1/2 - exp(-1/2) [ X out1 ]", "0..1, and 1/2 - exp(-1/2) is below 0"),
        ("D{ln(2)}[ X out1 ]", "unexpected '}'; D needs epsilon and delta: D{ln(2), 0}[...]"),
        ("P[1/3, 2/3 [ X out1 ]", "] or )"),
        ("P[33%, 1] [ X out1 ]", "unexpected '%'; write 33/100"),
    ],
)
def test_mistakes_in_formulas(text: str, part: str, tmp_path: Path) -> None:
    """Mistakes are told with their place."""
    with pytest.raises(InputError) as found:
        model(SURVEY, tmp_path, LogicOptions((text,)))
    assert part in str(found.value)


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ("[states]", "[stats]", "stats: unknown key; did you mean 'states'?"),
        ("labels =", "label =", "did you mean 'labels'"),
        ("pairs =", "pair =", "give one of pairs, where and labels"),
        ('"minus"]]', '"minos"]]', "is not a pair of states"),
        ('no = "(1 - c)/2"', 'yess = "(1 - c)/2"', "unknown state 'yess'; did you mean 'yes'?"),
        ('initial = ["plus"', 'initial = ["plos"', "did you mean 'plus'"),
        ('pairs = [["plus", "minus"]]', 'where = "abs(r - r) <= 1"', "unknown name 'r'"),
        ('pairs = [["plus", "minus"]]', 'where = "r\' & 1"', "unexpected"),
        ('pairs = [["plus", "minus"]]', 'labels = ["x"]', "no state has the label 'x'"),
        (
            'to = { yes = "(1 + c)/2"',
            'to = { soft = { yes = "1" }, yes = "(1 + c)/2"',
            'actions are allowed only with kind = "mdp"',
        ),
        ("[model]", '[model]\nkind = "mpd"', "must be one of chain, mdp"),
        (
            'initial = ["plus", "minus"]',
            "initial = []",
            "the model has no initial state; mark one as initial",
        ),
    ],
)
def test_mistakes_in_files(before: str, after: str, part: str, tmp_path: Path) -> None:
    """Unknown keys, states and labels name the nearest known ones, with file and key."""
    with pytest.raises(InputError) as found:
        model(SURVEY.replace(before, after, 1), tmp_path, LogicOptions(("D{0, 1}[ X out1 ]",)))
    assert part in str(found.value)
    assert "case.toml" in str(found.value)


def test_actions_must_be_enabled_everywhere(tmp_path: Path) -> None:
    """A query scheduler does not see the state, so each action must be possible in each."""
    text = '[model]\nkind = "mdp"\n[states]\n'
    text += "a = { to = { L = { b = 1 }, H = { a = 1 } } }\nb = { to = { L = { a = 1 } } }\n"
    with pytest.raises(ModelError, match="in state 'b' the action 'H' is not enabled"):
        model(text, tmp_path, LogicOptions(("P>=1 [ X true ] & D{1, 0}[ X true ]",)))
    assert model(text, tmp_path, LogicOptions(("P>=0 [ X true ]",))).chain.is_decision_process


@pytest.mark.slow
def test_how_formulas_bind() -> None:
    """X, F and G bind strongest, then U, then & and |; W and bounds are read as they are defined."""
    for text, meaning in (
        ("P>=1 [ (F a) & (b U c) | (X !d) => e ]", "P>=1 [ (!(((F a) & (b U c)) | X !d) | e) ]"),
        ("P>=1 [ a U b U c ]", "P>=1 [ (a U (b U c)) ]"),
        ("P>=1 [ a W b ]", "P>=1 [ (b R (a | b)) ]"),
        ("P>=1 [ (G<=3 a) & (F[1,2] b) & (a U=4 b) ]", "P>=1 [ ((G<=3 a) & (F[1,2] b) & (a U=4 b)) ]"),
        ("P>=1 [ Far U Xa ]", "P>=1 [ (Far U Xa) ]"),
        ('!D{ln(3), 1/2}[ X "a b" ]', '!D{ln(3), 1/2}[ X "a b" ]'),
    ):
        assert str(read_property(text).formula) == meaning
        assert str(read_property(meaning).formula) == meaning


def variables_chain(random: Random, size: int) -> Chain:
    r = tuple(random.choice((None, 0, 1, 2, 3, 4)) for _ in range(size))
    t = tuple(random.choice((0, 1, 2)) for _ in range(size))
    rows = tuple((((k, fmpq(1)),),) for k in range(size))
    names = tuple(f"s{k}" for k in range(size))
    return Chain(names, (ANY,), rows, (0,), {}, {"r": r, "t": t}, Domain(Ring(), {}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("abs(r - r') <= 1 & t = t'", lambda r, t, q, u: abs(r - q) <= 1 and t == u),
        ("abs(r' - r) < 2", lambda r, t, q, u: abs(r - q) < 2),
        ("r = t'", lambda r, t, q, u: r == u),
        ("r' = r + 1 & t <= t'", lambda r, t, q, u: q == r + 1 and t <= u),
        (
            "abs(r - r') <= 1.5 & abs(t - t') <= 1 & r + t > 2",
            lambda r, t, q, u: abs(r - q) <= 1.5 and abs(t - u) <= 1 and r + t > 2,
        ),
        ("r = r' | !(t = t') & min(r, t) = 0", lambda r, t, q, u: r == q or (t != u and min(r, t) == 0)),
        ("t = 1 & t' = 2", lambda r, t, q, u: t == 1 and u == 2),
    ],
)
def test_neighbours_by_predicate(text: str, holds: object, session: Session) -> None:
    """Joins by key and window find the pairs that trying all pairs finds."""
    random = Random(5)
    for _ in range(4):
        chain = variables_chain(random, 25)
        r, t = chain.variables["r"], chain.variables["t"]
        names = read_predicate(text).names()
        found = set(where(chain, read_predicate(text)))
        brute = {
            (s, u)
            for s in range(25)
            for u in range(25)
            if s != u
            and (r[s] is not None or "r" not in names)
            and (r[u] is not None or "r'" not in names)
            and holds(r[s] or 0, t[s], r[u] or 0, t[u])  # type: ignore[operator]
        }
        assert found == brute


def test_closure_is_told() -> None:
    """The symmetric closure says how many pairs it added."""
    assert "1 of its 2 pairs was added" in closed([(0, 1)]).notes[0]
    assert "symmetric as given" in closed([(0, 1), (1, 0)]).notes[0]
    assert closed([(0, 1), (2, 1)])[1] == (0, 2)
    assert closed([(3, 3)]).size == 0


def random_case(random: Random, actions: tuple[str, ...] = (ANY,)) -> LogicCase:
    chain = random_chain(random, 4, actions)
    pairs = [(s, t) for s in range(len(chain.states)) for t in range(s) if random.random() < 0.7]
    return LogicCase("", "", "random", chain, closed([*pairs, (1, 0)]), {})


@pytest.mark.slow
def test_random_formulas_against_definition(session: Session) -> None:
    """D on random chains and decision processes is what its definition says, word by word."""
    random = Random(21)
    verdicts = []
    for number in range(30):
        actions = ("l", "h") if number % 2 else (ANY,)
        case = random_case(random, actions)
        delta = random.choice(("0", "1/10", "1/3"))
        text = random.choice(("X a", "X (a & X b)", "a U<=2 b", "X (a | F<=2 b)"))
        found = read_property(f"D{{ln(2), {delta}}}[ {text} ]")
        path = found.formula.path  # type: ignore[union-attr]
        brute = all(
            path_sum(case.chain, path, s, word) <= 2 * path_sum(case.chain, path, t, word) + Fraction(delta)
            for word in product(range(len(actions)), repeat=3)
            for s in range(len(case.chain.states))
            for t in case.relation[s]
        )
        result = check(session, case, found)
        assert result.status == ("holds" if brute else "violated")
        verdicts.append(brute)
    assert 5 < sum(verdicts) < 25


@pytest.mark.slow
def test_budgets_are_thresholds(session: Session) -> None:
    """On random chains a formula holds with the least δ, and not with less; the same for ε."""
    random = Random(22)
    done = 0
    while done < 8:
        case = random_case(random)
        text = random.choice(("X a", "X (a & X b)", "a U b", "G a"))
        ring = case.chain.domain.ring
        found = read_property(f"D{{0, 1}}[ {text} ]")
        least = least_delta(LogicSession(case, session), found, RationalFunction.of(ring.number(2)))
        assert least.value is not None
        value = least.value.rational
        assert value is not None
        for delta, status in ((value, "holds"), (value - Fraction(1, 1000), "violated")):
            if delta >= 0:
                tried = read_property(f"D{{ln(2), {delta}}}[ {text} ]")
                assert check(session, case, tried).status == status
        ratio = least_ratio(
            LogicSession(case, session), found, RationalFunction.of(ring.number(Fraction(1, 10)))
        )
        if ratio.infinite:
            continue
        assert ratio.value is not None
        least_value = ratio.value.rational
        assert least_value is not None
        for c, status in ((least_value, "holds"), (least_value - Fraction(1, 1000), "violated")):
            if c >= 1:
                assert check(session, case, read_property(f"D{{ln({c}), 0.1}}[ {text} ]")).status == status
        done += 1


@pytest.mark.slow
def test_curve(session: Session) -> None:
    """The curve's corners are least δ, and between two corners δ is linear in the ratio."""
    random = Random(23)
    for _ in range(10):
        case = random_case(random)
        found = read_property("D{0, 1}[ X (a & X b) ] & D{0, 1}[ X b ]")
        corners = list(curve(LogicSession(case, session), found))
        ring = case.chain.domain.ring
        assert corners[0].ratio == 1
        for first, second in pairwise(corners):
            middle = (first.ratio + second.ratio) / 2
            for ratio, delta in (
                (first.ratio, first.delta),
                (second.ratio, second.delta),
                (middle, (first.delta + second.delta) / 2),
            ):
                least = least_delta(
                    LogicSession(case, session), found, RationalFunction.of(ring.number(ratio))
                )
                assert least.value is not None
                assert least.value.rational == delta


@pytest.mark.slow
def test_sampled_curve(session: Session, tmp_path: Path) -> None:
    """With constants exp(...) or parameters, the curve is told by upper bounds that hold as δ."""
    majority = load(FOLDER / "subsampling-majority.toml", LogicOptions(("D{0, 1}[ F out0 ]",)))
    coin = model(SURVEY.replace("(0, 1)", "[1/4, 1/2]"), tmp_path, LogicOptions(("D{0, 1}[ X out1 ]",)))
    for case in (majority, coin):
        points = list(curve(LogicSession(case, session), case.properties["property"]))
        assert points[0].ratio == 1
        assert all(a.delta >= b.delta for a, b in pairwise(points))
        path = str(case.properties["property"].formula.path)  # type: ignore[union-attr]
        for point in (points[0], points[8], points[-1]):
            for delta, status in ((point.delta, "holds"), (point.delta - Fraction(1, 1000), "violated")):
                if delta >= 0:
                    tried = read_property(f"D{{ln({point.ratio}), {delta}}}[ {path} ]")
                    assert check(session, case, tried).status == status


def test_parametric_budgets(session: Session, tmp_path: Path) -> None:
    """With the coin between 1/4 and 1/2 the survey needs ratio 3, and δ = 1/2 for ε = 0."""
    text = SURVEY.replace("(0, 1)", "[1/4, 1/2]")
    case = model(text, tmp_path, LogicOptions(("D{0, 1}[ X out1 ]",)))
    found = case.properties["property"]
    ring = case.chain.domain.ring
    work = LogicSession(case, session)

    def number(value: Fraction | int) -> RationalFunction:
        return RationalFunction.of(ring.number(value))

    ratio = least_ratio(work, found, number(0))
    assert ratio.value is not None
    assert ratio.value.rational == 3
    for c, expected in ((Fraction(1), Fraction(1, 2)), (Fraction(3, 2), Fraction(3, 8)), (Fraction(4), None)):
        least = least_delta(work, found, number(c))
        if expected is None:
            assert least.lower <= 0
        else:
            assert least.value is not None
            assert least.value.rational == expected


PARTS = ("X a", "X (a & X b)", "a U b", "F b", "G a", "F<=2 b", "X (a | F b)", "F (a & X b)")


def random_property(random: Random) -> str:
    """A state formula with parameters in its bounds."""
    kind, path = random.choice("DDDP!&|N"), random.choice(PARTS)
    if kind == "D":
        epsilon, delta = random.choice(("0", "ln(2)", "ln(1 + q)")), random.choice(("0", "1/2", "p", "q/2"))
        return f"D{{{epsilon}, {delta}}}[ {path} ]"
    if kind == "P":
        return f"P{random.choice(('>=', '>', '<=', '<'))}{random.choice(('1/2', 'p', '0', 'p*q'))} [ {path} ]"
    if kind == "!":
        return f"!({random_property(random)})"
    if kind == "N":
        return f"P>={random.choice(('1/4', 'p/2'))} [ X ({random_property(random)}) ]"
    return f"({random_property(random)} {kind} {random_property(random)})"


@pytest.mark.slow
@pytest.mark.parametrize("closed_ends", [False, True])
def test_random_parametric_formulas(closed_ends: bool, session: Session) -> None:
    """What is proved for every parameter point is true at random ones, the ends of the domain included."""
    random = Random(31 + closed_ends)
    ring = Ring(("p", "q"))
    side = Interval(Fraction(0), Fraction(1), closed_ends, closed_ends)
    pairs = (("p", "1 - p"), ("(1 + q)/2", "(1 - q)/2"), ("p*q", "1 - p*q"), ("1/3", "2/3"))
    rows = [[to_rational_function(parse(text), ring) for text in texts] for texts in pairs]
    statuses: list[str] = []
    for _ in range(25):
        size = random.randint(2, 4)
        table = tuple(
            (tuple(zip(random.sample(range(size), 2), random.choice(rows), strict=True)),)
            for _ in range(size)
        )
        labels = {x: frozenset(s for s in range(size) if random.random() < 0.5) for x in "ab"}
        names, domain = tuple(f"s{k}" for k in range(size)), box_domain(ring, {"p": side, "q": side})
        chain = Chain(names, (ANY,), table, tuple(range(size)), labels, {}, domain)
        neighbours = closed([(s, t) for s in range(size) for t in range(s) if random.random() < 0.5])
        case = LogicCase("", "", "", chain, neighbours, {})
        formula = read_property(random_property(random)).formula
        result = LogicSession(case, session).check(formula)
        statuses.append(result.status)
        if result.status == "holds":
            for _ in range(5):
                low = 0 if closed_ends else 1
                point = {name: Fraction(random.randint(low, 4 - low), 4) for name in "pq"}
                assert LogicSession(case, session).evaluate(formula, point) is None
    assert statuses.count("holds") > 6
    assert statuses.count("violated") > 6


def test_no_relation(session: Session) -> None:
    """Without neighbours D holds, and the note says that no neighbourhood is given."""
    random = Random(3)
    case = LogicCase("", "", "", random_chain(random), StateRelation({}), {})
    assert check(session, case, read_property("D{0, 0}[ X a ]")).status == "holds"


VANISHING = """
parameters = { c = "[0, 1]" }
model = { initial = ["p", "m"] }
neighbours = { pairs = [["p", "m"]] }
[states]
p = { to = { yes = "1/2", no = "1/2" } }
m = { to = { yes = "MINUS", no = "1 - (MINUS)" } }
yes = { labels = ["yes"] }
no = { labels = ["no"] }
apart = { labels = ["apart"] }
[formulas]
found = "D{0, 0}[ X LABEL ]"
"""


@pytest.mark.parametrize(
    ("minus", "label", "given", "delta", "ratio"),
    [
        ("1/2 - c/10", "yes", ("ln(3)", "1/4"), 0, 1),  # p − 3q and (p − 1/4)/q are at most −7/10 and 5/8
        ("1/2 - c/10", "yes", ("0", "0"), Fraction(1, 10), Fraction(5, 4)),
        ("1/2 - c/10", "apart", ("0", "0"), 0, 1),  # both probabilities are zero
        ("1 - c", "yes", ("0", "1/4"), Fraction(1, 2), None),  # q vanishes at c = 1
        ("1 - c", "yes", ("0", "1/2"), Fraction(1, 2), 1),
        ("0", "yes", ("0", "1/4"), Fraction(1, 2), None),
        ("0", "yes", ("0", "1/2"), Fraction(1, 2), 1),
    ],
)
def test_parametric_budgets_at_their_ends(
    minus: str,
    label: str,
    given: tuple[str, str],
    delta: Fraction,
    ratio: Fraction | None,
    session: Session,
    tmp_path: Path,
) -> None:
    """With parameters no delta is below 0 and no ratio below 1; where q vanishes none may be enough."""
    case = model(VANISHING.replace("MINUS", minus).replace("LABEL", label), tmp_path)
    work, ring = LogicSession(case, session), case.chain.domain.ring
    epsilon = read_epsilon(parse(given[0])).ratio(ring, lambda e: to_rational_function(e, ring))
    least = least_delta(work, case.properties["found"], epsilon)
    assert (least.lower, least.upper) == (delta, delta)
    least = least_ratio(work, case.properties["found"], to_rational_function(parse(given[1]), ring))
    assert least.infinite == (ratio is None)
    assert ratio is None or (least.lower, least.upper) == (ratio, ratio)


@pytest.mark.parametrize(
    "given", [LogicOptions(epsilons=("-1",)), LogicOptions(deltas=("-1/2",))], ids=["epsilon", "delta"]
)
def test_budgets_are_asked_for_nonnegative_numbers(given: LogicOptions) -> None:
    """A least delta for a negative epsilon is refused, and the other way around."""
    with pytest.raises(InputError, match="is negative at every point"):
        load(FOLDER / "survey.toml", given)


@pytest.mark.slow
def test_small_members_of_a_family_may_have_no_steps(session: Session) -> None:
    """Of F[3,k] and G[3,k] the members k < 3 are false and true: no path has a step in that range."""
    case = load(FOLDER / "double-survey.toml")
    for k, low, high in ((2, 0, 1), (3, Fraction(1, 4), Fraction(3, 4))):
        member = f"forall k in {k}..{k}: P<=" + "{} [ F[3,k] out1 ]"
        assert check(session, case, read_property(member.format(high if k > 2 else low))).status == "holds"
    always = read_property("forall k in 0..2: P>=1 [ G[3,k] out1 ]")
    assert check(session, case, always).status == "holds"


@pytest.mark.parametrize("steps", ["[k,]", "[k,k+2]", "[k+1,k+3]"])
def test_families_of_ranges_settle(steps: str, session: Session, tmp_path: Path) -> None:
    """a U[k, ...] b is k steps in a and then a fixed formula, so its vectors settle like those of a U=k b."""
    text = """
    neighbours = { pairs = [["p", "m"]] }
    [states]
    p = { labels = ["a"], to = { p = "1/2", yes = "1/4", no = "1/4" } }
    m = { labels = ["a"], to = { m = "1/2", yes = "1/8", no = "3/8" } }
    yes = { labels = ["b"] }
    no = { }
    [formulas]
    holds = "forall k: D{ln(2), 0}[ a UK b ]"
    fails = "forall k: D{ln(3/2), 0}[ a UK b ]"
    """
    case = model(text.replace("K", steps), tmp_path)
    proved = check(session, case, case.properties["holds"])
    assert proved.status == "holds"
    assert "is a combination of earlier ones" in proved.reason
    assert check(session, case, case.properties["fails"]).status == "violated"


def test_failing_state_is_an_initial_one(session: Session) -> None:
    """The one initial state is named as violating, also where its neighbour has the larger probability."""
    case = load(FOLDER / "survey.toml", LogicOptions(("D{0, 0}[ X out0 ]",)))
    case = replace(case, chain=replace(case.chain, initial=(case.chain.states.index("plus"),)))
    found = case.properties["property"]
    example = check(session, case, found).counterexample
    assert example is not None
    assert (example.state, example.neighbour, example.turned) == ("minus", "plus", True)
    assert (
        "false in state plus with the neighbour minus, seen from there:"
        in counterexample_lines(example, found)[0]
    )


def test_violation_behind_an_open_member(session: Session, tmp_path: Path) -> None:
    """A family is refuted by a member that fails, also where an earlier one stays open."""
    text = """
    parameters = { c = "(0, 1]" }
    model = { initial = ["p"] }
    neighbours = { pairs = [["p", "q"]] }
    [states]
    p = { labels = ["a"], to = { p = "1 - c", q = "c" } }
    q = { labels = ["b"], to = { p = "c", q = "1 - c" } }
    [formulas]
    family = "forall k: D{0, 0}[ F (b & X b) ] & P>=1 [ G<=k a ]"
    """
    case = model(text, tmp_path)
    only = read_property("forall k in 0..0: D{0, 0}[ F (b & X b) ] & P>=1 [ G<=k a ]")
    assert check(session, case, only).status == "unknown"
    result = check(session, case, case.properties["family"])
    assert result.status == "violated"
    assert result.counterexample is not None
    assert result.counterexample.index == 1


def test_bounds_of_p_beyond_its_range_somewhere(session: Session, tmp_path: Path) -> None:
    """A bound that leaves 0..1 for some parameters is what it says: no probability is below 0 or above 1."""
    for text, status in (("P>=2*c - 1 [ X out1 ]", "violated"), ("P>=c - 1/2 [ X true ]", "holds")):
        case = model(SURVEY, tmp_path, LogicOptions((text,)))
        assert check(session, case, case.properties["property"]).status == status


@pytest.mark.parametrize("formula", ["r >= 0 => P>=3/4 [ X out1 ]", "r > 5 | (r = 0 & P>=3/4 [ X out1 ])"])
def test_why_an_implication_fails(tmp_path: Path, formula: str) -> None:
    """Where a P in an implication or disjunction fails, its probability is told, in words and JSON."""
    path = tmp_path / "case.toml"
    path.write_text(SURVEY.replace("= { to", "= { set = { r = 0 }, to"))
    case = load(path, LogicOptions((formula,)))
    with Session(Options(seconds=60)) as session:
        result = check(session, case, case.properties["property"])
    found = result.counterexample
    assert found is not None
    assert found.because is not None
    assert found.because.probabilities is not None
    value, bound = (p.rational for p in found.because.probabilities)
    c = found.parameters["c"]
    assert value == {"plus": (1 + c) / 2, "minus": (1 - c) / 2}[found.state]
    assert value is not None
    assert bound == Fraction(3, 4) > value
    words = counterexample_lines(found, case.properties["property"])
    assert words[0].endswith(f"is false in state {found.state}.")
    assert words[1].startswith(
        f"P>=3/4 [ X out1 ] is false in state {found.state}: the probability is {value}"
    )
    assert witness(found)["because"]["probabilities"] == [str(value), "3/4"]
