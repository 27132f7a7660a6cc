"""A session: built-in procedures first, then solvers, with limits that are never verdicts."""

from fractions import Fraction
from pathlib import Path

import pytest

from paramverify.algebra.constants import ExpConstant
from paramverify.algebra.domains import Interval, box_domain
from paramverify.algebra.expressions import parse
from paramverify.algebra.polynomials import Ring, to_rational_function
from paramverify.answers import Decision, End, Open, Proved, Refuted
from paramverify.backends import discover
from paramverify.claims import Claim
from paramverify.errors import InputError
from paramverify.exact.procedure_outcomes import VERSION
from paramverify.portfolio.backend_order import History
from paramverify.portfolio.session import Options, Session
from paramverify.portfolio.strategies import BUILT_IN, NAMED, Stage, parse_strategy, race_of

UNIT = Interval(Fraction(0), Fraction(1))


def claim(text: str, constant: Fraction | None = None) -> Claim:
    expression = parse(text)
    names = tuple(sorted(n for n in expression.names() if n != "E"))
    ring = Ring(names, ExpConstant(constant) if constant else None)
    return Claim(
        to_rational_function(expression, ring).numerator, box_domain(ring, dict.fromkeys(names, UNIT))
    )


@pytest.mark.slow
@pytest.mark.parametrize("backends", [(BUILT_IN,), ("z3",)])
@pytest.mark.parametrize(
    ("text", "holds"),
    [("p**2 + q**2 - p*q - p/2 - q/2 + 1/4", True), ("p**2 + q**2 - p*q - p/2 - q/2 + 1/4 - 1/10**6", False)],
)
def test_answers_do_not_depend_on_the_backend(backends: tuple[str, ...], text: str, holds: bool) -> None:
    """Touching zeros and near misses are decided alike by every choice of backends."""
    with Session(Options(seconds=60, strategy=race_of(backends))) as session:
        answer = session.decide(claim(text)).answer
    assert isinstance(answer, Proved if holds else Refuted)


def test_time_that_is_over_is_no_verdict() -> None:
    """A solver that gets no time leaves the claim open, as a timeout."""
    with Session(Options(seconds=1e-6, strategy=race_of(("z3",)))) as session:
        answer = session.decide(claim("p**4 + q**4 - p*q + 1/8")).answer
    assert isinstance(answer, Open)
    assert answer.end is End.TIMEOUT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("exp(1) - 2718281828459045/10**15", True),
        ("exp(1) - 2718281828459046/10**15", False),
        ("exp(1)*(p + 1) - p*exp(1) - exp(1)", True),
    ],
)
@pytest.mark.parametrize("backends", [(BUILT_IN,), ("z3",)])
def test_constants_are_the_numbers_they_are(backends: tuple[str, ...], text: str, holds: bool) -> None:
    """Claims about exp(1) that differ from it in the sixteenth digit are decided rightly."""
    expression = parse(text)
    names = tuple(sorted(expression.names()))
    ring = Ring(names, ExpConstant(Fraction(1)))
    domain = box_domain(ring, dict.fromkeys(names, UNIT))
    with Session(Options(seconds=60, strategy=race_of(backends))) as session:
        answer = session.decide(Claim(to_rational_function(expression, ring).numerator, domain)).answer
    assert isinstance(answer, Proved if holds else Refuted)


def test_unknown_backend_is_named() -> None:
    """A backend that does not exist is refused at once, with the names that exist."""
    with pytest.raises(InputError, match="unknown backend 'z4'; choose from bernstein"):
        Session(Options(strategy=race_of(("z4",))))


@pytest.mark.slow
def test_confirmation_by_a_second_backend() -> None:
    """With confirm = 2 a proof needs two different backends; alone it stays open, and says why."""
    hard = claim("p**4 + q**4 - p*q + 1/8 + 1/100")
    with Session(Options(strategy=parse_strategy("built-in; z3,cvc5-cov:60"), confirm=2)) as session:
        decision = session.decide(hard)
        assert isinstance(decision.answer, Proved)
        assert decision.answer.certificate
        assert len(set(decision.backend.split(", "))) >= 2
    with Session(Options(strategy=race_of((BUILT_IN,)), confirm=2)) as session:
        answer = session.decide(hard).answer
    assert isinstance(answer, Open)
    assert "only built-in proved it" in answer.detail
    easy = claim("p*q + 1/7")
    with Session(Options(strategy=parse_strategy("built-in; z3,cvc5-cov:60"), confirm=3)) as session:
        decision = session.decide(easy)
    assert isinstance(decision.answer, Proved)
    assert {"built-in", "z3", "cvc5-cov"} <= set(decision.backend.split(", "))
    versions = {BUILT_IN: VERSION, **{name: discover()[name].version() for name in ("z3", "cvc5-cov")}}
    assert sorted(decision.by.split(" and ")) == sorted(f"{name} {said}" for name, said in versions.items())
    with Session(Options(strategy=parse_strategy("built-in; z3,cvc5-cov:60"), confirm=4)) as session:
        answer = session.decide(easy).answer
    assert isinstance(answer, Open)
    assert "different programs are required" in answer.detail


@pytest.mark.slow
def test_cutting_the_box_proves_part_by_part() -> None:
    """A strategy with cuts gives one certificate for all parts, which the checker accepts."""
    from paramverify.claims import to_document
    from paramverify.kernel.claim_evidence import check_claim

    hard = claim("p**4 + q**4 - p*q + 1/8 + 1/100")
    with Session(Options(strategy=(Stage(("bernstein",), 60.0, 2),))) as session:
        answer = session.decide(hard).answer
    assert isinstance(answer, Proved)
    assert answer.certificate is not None
    assert '"cut"' in str(answer.certificate).replace("'", '"')
    assert check_claim(to_document(hard), answer.certificate["proof"]) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("BOASTS", "the checker rejects its certificate"),
        ("WITHOUT_PROOF", "a certificate has its proof under the key `proof`"),
        ("NO_JSON", "its certificate cannot be written as JSON"),
        ("NO_OBJECT", "a certificate is a mapping, not ['+']"),
        ("NOTHING", "`decide` gave None, and an answer is Proved, Refuted or Open"),
        ("STRANGER", "has 'stranger', which is not a variable of the claim: p, q"),
    ],
)
def test_a_mistaken_answer_is_no_proof(name: str, reason: str) -> None:
    """A claim stays open where a certificate is rejected or an answer has no form, and the reason is told."""
    hard = claim("p**4 + q**4 - p*q + 1/8 + 1/100")
    with Session(Options(strategy=race_of((f"lying_backends:{name}",)))) as session:
        answer = session.decide(hard).answer
    assert isinstance(answer, Open)
    assert reason in answer.detail


@pytest.mark.slow
def test_an_honest_certificate_is_kept_beside_a_forged_one() -> None:
    """A forged certificate does not end a race; one that the kernel accepts is evidence, without a word."""
    from paramverify.claims import to_document
    from paramverify.kernel.claim_evidence import check_claim

    hard = claim("p**4 + q**4 - p*q + 1/8 + 1/100")
    names = ("lying_backends:FORGES_BESIDE", "lying_backends:HONEST")
    with Session(Options(strategy=race_of(names))) as session:
        decision = session.decide(hard)
        assert not session.words
    assert isinstance(decision.answer, Proved)
    assert check_claim(to_document(hard), decision.proof) == ()


@pytest.mark.slow
def test_a_certificate_that_trusts_is_the_word_of_who_wrote_it() -> None:
    """A certificate that leans on a solver does not hide whose word a proof is."""
    with Session(Options(strategy=race_of(("lying_backends:TRUSTS",)))) as session:
        session.decide(claim("p**4 + q**4 - p*q + 1/8 + 1/100"))
        assert list(session.words) == ["lying_backends:TRUSTS 1.0"]


def test_strategies_are_read_and_mistakes_named() -> None:
    """A strategy is a name or rounds of backends with seconds and cuts."""
    assert parse_strategy("default") == NAMED["default"]
    assert parse_strategy("z3,yices:5; cvc5:inf/3") == (
        Stage(("z3", "yices"), 5.0),
        Stage(("cvc5",), float("inf"), 3),
    )
    for text in ("fast", "z3:;", "z3:5/9", ""):
        with pytest.raises(InputError):
            parse_strategy(text)


def test_the_order_is_learned_from_earlier_attempts(tmp_path: Path) -> None:
    """A backend that decided similar claims comes before one that did not; damaged lines do no harm."""
    log = tmp_path / "log" / "attempts.jsonl"
    history = History.load(log)
    first, other = claim("p**2 + q**2 - p*q"), claim("p")
    timeout = Decision(Open(End.TIMEOUT), "z3", seconds=5.0)
    history.record(first, [timeout, Decision(Proved(), "yices", seconds=0.1)])
    with log.open("a") as file:
        file.write("garbage\n{}\n")
    again = History.load(log)
    assert again.ordered(first, ["z3", "cvc5", "yices"]) == ["yices", "cvc5", "z3"]
    assert again.ordered(other, ["z3", "cvc5", "yices"]) == ["z3", "cvc5", "yices"]
