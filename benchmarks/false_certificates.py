"""Changed evidence to three checkers, and claims that are false by a little: nothing false may be accepted.

    python benchmarks/false_certificates.py [--documents 20000] [--claims 1000] [--seed 1] [--folder FOLDER]

Evidence of all kinds of statements is changed by the forger of the tests, of shipped cases and of small ones.
The kernel in Python checks each document alone and with its case, and so does the proved checker, where it is
built and knows the form. What is accepted is compared with an oracle at points, paths and samples, and what
is accepted with the case with the true evidence. Prints how many are accepted and true, accepted and FALSE,
rejected, and about which the checkers disagree; ends with code 1 if there is one of those. With `--coq` Coq
itself is asked, too, by `vm_compute`, all that the program asks the functions that are extracted, each
question once. Documents with which something is wrong are kept in the folder.

Besides, `--claims` tries draw squares with a common zero, or a form with a Gram matrix that has a kernel; a
box; and perhaps a side or a constraint that is zero there, too. Their sum f is at least zero on the domain.
Then f is lowered by a small number, so that the new claim is false at the zero, which is evaluated here with
fractions. Nothing may prove it: not the exact procedures, not the backend `sos`, which is asked in one of
`--asked` tries; and the kernel may accept neither the certificate of f nor one that the forger makes of it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "tools"))

import pytest
from asked_in_coq import LATE, UNREAD, Said, answers
from cone_documents import cone_kinds
from evidence_orders import CASES, ORDERS, Json, Order, read, write
from forger import forgeries
from kept_cases import kept
from three_checkers import NOT_KNOWN, Answer, about_a_script, by_program, every_kind, standing_pair
from truth_oracle import contradiction, of_another_case

from paramverify.algebra.domains import Constraint, Domain, Interval
from paramverify.algebra.polynomials import Polynomial, Ring
from paramverify.answers import Proved
from paramverify.backends.sos import Sos
from paramverify.claims import Claim
from paramverify.errors import InputError, ParamverifyError
from paramverify.evidence import envelope
from paramverify.exact.branching import decide_exactly
from paramverify.exact.procedure_outcomes import RemainingWork
from paramverify.kernel.documents import check_document, check_text
from paramverify.kernel.ledger import KernelReport
from paramverify.reports.evidence_checks import checked, program

LARGE = 30_000  # characters of a document of which fewer changes are tried
TOLD = {True: "the same", False: "ANOTHER ANSWER", LATE: "none in time", UNREAD: "too large"}
FORGERIES = 6  # of each certificate of a drawn claim
Square = tuple[Fraction, Polynomial]  # a coefficient that is not negative, and what is squared


# --- documents --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A true document, the file of its case if it has one, and how many changes of it are tried."""

    name: str
    document: Json
    case: str
    tries: int


@dataclass
class Found:
    """What was found of the changes of one document."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[str, str]] = field(default_factory=list)  # what is wrong in words, and the document
    questions: list[str] = field(default_factory=list)
    digest: str = ""


def subjects(folder: Path, count: int) -> list[Subject]:
    """Returns true documents of all kinds, so that about `count` changes are tried of all together."""
    found: list[tuple[str, Json, str]] = []
    for order in ORDERS:
        path = write(order, folder)
        if path is None:
            print(f"no evidence of {order.name}", flush=True)
            continue
        found.append((order.name, read(path), _case_of(order, folder)))
    made = {**every_kind(), "script of every kind": about_a_script(), "standing pair": standing_pair()}
    made |= {name: document for name, document in cone_kinds().items() if document["version"] == 2}
    found += [(name, document, "") for name, document in made.items()]
    weights = [1 if len(json.dumps(document)) > LARGE else 4 for _, document, _ in found]
    return [
        Subject(*each, count * weight // sum(weights) + 1)
        for each, weight in zip(found, weights, strict=True)
    ]


def _case_of(order: Order, folder: Path) -> str:
    """Returns the file with which evidence is compared, if there is one."""
    if order.command == "compose":
        return str(CASES / order.case.partition(":")[0]) if ".toml" in order.case else ""
    return order.about(folder)


class Checkers:
    """The kernel alone, with the case, and the proved checker where it knows the form."""

    def __init__(self, folder: Path, with_case: bool, proved: str, seed: int, coq: bool = False) -> None:
        self.folder, self.with_case, self.proved, self.seed, self.coq = folder, with_case, proved, seed, coq

    def tried(self, subject: Subject, others: Sequence[Json]) -> Found:
        """Returns what is found of changes of a document."""
        warnings.simplefilter("ignore")  # of divisions in the oracle
        patch = pytest.MonkeyPatch()
        patch.setattr("paramverify.privacy.cases.load", kept)
        found, digest = Found(), hashlib.sha256()
        random = Random(f"{self.seed} {subject.name}")
        changes = list(islice(forgeries(subject.document, random, others), subject.tries))
        texts = [json.dumps(document) for _, document in changes]
        program_says = self._by_program(texts, found) if self.proved else [None] * len(texts)
        for (what, document), text, answer in zip(changes, texts, program_says, strict=True):
            digest.update(text.encode())
            report = check_text(text)
            wrong = self._wrong(subject, what, document, report, answer, document in others)
            found.counts[
                "rejected" if not report.accepted else "accepted and FALSE" if wrong else "accepted and true"
            ] += 1
            found.counts["disagreements"] += "disagree" in wrong
            if wrong:
                found.wrong.append((f"{subject.name}: {what}: {wrong}", text))
        patch.undo()
        found.digest = digest.hexdigest()
        return found

    def _wrong(
        self,
        subject: Subject,
        what: str,
        document: Json,
        report: KernelReport,
        answer: Answer | None,
        another: bool,
    ) -> str:
        """Returns what is wrong with the answers to a document, which may be `another` that is true."""
        if answer is not None and answer.word != NOT_KNOWN:
            said = Answer(
                "accepted" if report.accepted else "rejected", report.proved, report.trusted, report.open
            )
            if answer.word != said.word or (report.accepted and answer != said):
                return f"the checkers disagree: Python says {said}, the program {answer}"
        if report.accepted:
            try:
                if bad := contradiction(document, report, Random(what)):
                    return bad
            except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
                return f"the oracle fails: {error!r:.200}"
        if not (self.with_case and subject.case):
            return ""
        try:
            compared = checked(json.dumps(document), subject.case).report
        except ParamverifyError:
            return ""  # an input error is no acceptance
        except Exception as error:
            return f"the check with the case ends with {error!r:.200}"
        if compared.accepted and not report.accepted:
            return "the checkers disagree: accepted with the case, and rejected alone"
        if compared.accepted and not another and (bad := of_another_case(document, subject.document)):
            return f"accepted with the case: {bad}"
        return ""

    def _by_program(self, texts: Sequence[str], found: Found) -> list[Answer]:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        paths = [folder / f"{k}.json" for k in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        given = list(by_program(self.proved, paths, folder / "asked" if self.coq else None))
        for path, answer in zip(paths, given, strict=True):
            path.unlink()
            found.counts[f"the proved checker: {answer.word}"] += 1
            found.questions += answer.asked
        return given


def knows_the_form(folder: Path) -> str:
    """Returns the path of the proved checker; "" if it is not built, or knows another version only."""
    try:
        path = program()
    except InputError:
        return ""
    document = folder / "form.json"
    document.write_text(json.dumps(next(iter(every_kind().values()))))
    (answer,) = by_program(path, [document])
    return path if answer.word == "accepted" else ""


# --- Coq --------------------------------------------------------------------------------------------


def ask_coq(questions: Sequence[str]) -> int:
    """Asks Coq all that the program asked; prints the counts, and returns how often the answer is another."""
    different = [*dict.fromkeys(questions)]
    counts: Counter[tuple[str, Said]] = Counter()
    wrong = 0
    for question, said in zip(different, answers(different), strict=True):
        counts[question.partition(" ")[0], said] += 1
        wrong += said is False
        if said is False:
            print(f"Coq says {TOLD[said]}: {question:.2000}", flush=True)
    print(f"Coq was asked {len(different):,} different questions of {len(questions):,}")
    for (about, said), count in sorted(counts.items(), key=str):
        print(f"{about}: Coq says {TOLD[said]}: {count:,}")
    return wrong


# --- claims that are false by a little ------------------------------------------------------------------


@dataclass(frozen=True)
class Try:
    """A claim that is true, with a proof; the same lowered, which is false, and a point at which it is."""

    true: Claim
    proof: Mapping[str, Any]
    false: Claim
    zero: Mapping[str, Fraction]
    lowered: Fraction


def drawn(draw: Random) -> Try:
    """Returns a try; all numbers are rational."""
    names = ("x", "y", "z")[: draw.choice([1, 2, 2, 3])]
    ring = Ring(names)
    zero = {n: Fraction(draw.randrange(-8, 9), draw.choice([1, 2, 4, 7])) for n in names}
    at_end = draw.choice([None, None, names[0]])
    box = {}
    for name in names:
        low = zero[name] - (0 if name == at_end else Fraction(draw.randrange(1, 8), 2))
        box[name] = Interval(low, zero[name] + Fraction(draw.randrange(1, 8), 2), True, draw.random() < 0.7)
    squares: list[Square] = []
    if draw.random() < 0.5:
        for _ in range(draw.randrange(1, len(names) + 2)):
            g = _polynomial(draw, ring, 2)
            squares.append((Fraction(draw.randrange(1, 30), draw.randrange(1, 12)), _lowered(g, zero)))
    else:
        squares = list(_gram(draw, ring, zero))
    terms = [_term(squares)]
    f = sum((ring.number(c) * g * g for c, g in squares), ring.number(0))
    if at_end:
        g, side = _polynomial(draw, ring, 1), ring.variable(at_end) - ring.number(zero[at_end])
        f += side * g * g
        terms.append(_term([(Fraction(1), g)], ["low", at_end, str(zero[at_end])]))
    constraints: tuple[Constraint, ...] = ()
    if draw.random() < 0.3:
        h, c = _lowered(_polynomial(draw, ring, 2), zero), Fraction(draw.randrange(1, 9), 4)
        constraints = (Constraint(h, False, "as drawn"),)
        f += ring.number(c) * h
        terms.append(_term([(c, ring.number(1))], ["constraint", 0]))
    domain = Domain(ring, box, constraints)
    step = Fraction(1, 10 ** draw.randrange(15))
    g = _polynomial(draw, ring, 1)
    shape = ring.number(1) if draw.random() < 0.5 or not _value(g, zero) else g * g
    false = Claim(f - ring.number(step) * shape, domain)
    return Try(Claim(f, domain), {"kind": "squares", "terms": terms}, false, zero, step)


def _gram(draw: Random, ring: Ring, zero: Mapping[str, Fraction]) -> Iterator[Square]:
    """Yields the squares of a random Gram matrix L·D·Lᵀ over the forms that vanish at the zero."""
    away = [ring.variable(n) - ring.number(zero[n]) for n in ring.names]
    basis = [a * b for k, a in enumerate(away) for b in away[k:]] + away
    draw.shuffle(basis)
    for k in range(min(len(basis), draw.randrange(1, 5))):
        row = basis[k]
        for other in basis[k + 1 :]:
            row += ring.number(Fraction(draw.randrange(-9, 10), draw.randrange(1, 7))) * other
        yield Fraction(draw.randrange(1, 30), draw.randrange(1, 12)), row


def _term(squares: Sequence[Square], *product: Sequence[str | int]) -> dict[str, Any]:
    return {"product": [list(side) for side in product], "squares": [[str(c), str(g)] for c, g in squares]}


def _lowered(f: Polynomial, zero: Mapping[str, Fraction]) -> Polynomial:
    """Returns the polynomial minus its value at a point."""
    return f - Ring(tuple(map(str, f.context().names()))).number(_value(f, zero))


def _polynomial(draw: Random, ring: Ring, degree: int) -> Polynomial:
    found = ring.number(0)
    for _ in range(draw.randrange(1, 5)):
        term = ring.number(Fraction(draw.choice([-1, 1]) * draw.randrange(1, 20), draw.randrange(1, 9)))
        for _ in range(draw.randrange(degree + 1)):
            term *= ring.variable(draw.choice(ring.names))
        found += term
    return found


def _value(f: Polynomial, at: Mapping[str, Fraction]) -> Fraction:
    """Returns the value at a point, term by term."""
    names = [str(n) for n in f.context().names()]
    total = Fraction(0)
    for powers, coefficient in f.to_dict().items():
        term = Fraction(int(coefficient.p), int(coefficient.q))
        for name, power in zip(names, powers, strict=True):
            term *= at[name] ** int(power)
        total += term
    return total


def is_false(claim: Claim, at: Mapping[str, Fraction]) -> bool:
    """Tells whether a point of the domain shows that the claim is false."""
    for name, interval in claim.domain.box.items():
        if not interval.lower <= at[name] <= interval.upper:
            return False
    inside = all(_value(c.polynomial, at) >= 0 for c in claim.domain.constraints)
    return inside and _value(claim.polynomial, at) < 0


def written(claim: Claim, proof: Any) -> Json:
    """Returns evidence of a claim."""
    statement = {"kind": "claim", **envelope.sign(claim), "proof": proof}
    found: Json = json.loads(json.dumps(envelope.document("holds", envelope.statements(statement))))
    return found


def forged(made: Try, draw: Random) -> Iterator[Json]:
    """Yields evidence of a false claim: with the proof of the true one, and with changes of that."""
    false = written(made.false, made.proof)
    about = ("domains", "status", "witness")
    yield false
    for sign in ("-", ""):
        more = json.loads(json.dumps(made.proof))
        more["terms"].append({"product": [], "squares": [[f"{sign}{made.lowered}", "1"]]})
        yield written(made.false, more)
    count = 0
    for _, document in forgeries(false, draw):
        statements = document["statements"]
        same = all(document.get(name) == false.get(name) for name in about) and len(statements) == 1
        if same and all(
            statements[0].get(k) == false["statements"][0][k] for k in ("kind", "domain", "polynomial")
        ):
            yield document
            count += 1
        if count == FORGERIES:
            return


def accepted(document: Json) -> bool:
    """Tells whether the kernel accepts evidence and trusts nobody."""
    report = check_document(document)
    return report.accepted and not report.trusted and report.proved > 0


def tried(seed: int, ask: bool) -> Sequence[str]:
    """Returns what happened, in words that are counted; `ask` says whether `sos` is asked, too.

    Raises:
        AssertionError: there is a false certificate.
    """
    draw = Random(seed)
    made = drawn(draw)
    false = made.false
    assert is_false(false, made.zero), seed
    told = ["claims that are false"]
    given = {"exact procedures": decide_exactly(false, RemainingWork(boxes=100))}
    if ask:
        given["sos"] = Sos().decide(false, {})
    for name, answer in given.items():
        assert not isinstance(answer, Proved), (seed, name)
        told.append(f"{name}: {type(answer).__name__.lower()}")
    assert accepted(written(made.true, made.proof)), seed
    told.append("claims that are true, with a certificate")
    for other in forged(made, draw):
        assert not accepted(other), (seed, other)
        told.append("forged certificates of false claims, all rejected")
    return told


# --- all ----------------------------------------------------------------------------------------------


def main() -> None:
    """Tries and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--documents", type=int, default=20_000, help="changed documents of all kinds together"
    )
    parser.add_argument("--claims", type=int, default=1_000, help="claims that are false by a little")
    parser.add_argument("--asked", type=int, default=10, help="sos is asked in one of so many claims")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the names of documents")
    parser.add_argument("--no-case", action="store_true", help="do not check documents with their cases")
    parser.add_argument("--coq", action="store_true", help="ask Coq itself, too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where evidence is kept, and what is wrong")
    options = parser.parse_args()
    folder = (options.folder or Path(tempfile.mkdtemp())).resolve()
    folder.mkdir(exist_ok=True, parents=True)
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.claims):
        counts.update(tried(seed, seed % options.asked == 0))
    for what, number in counts.items():
        print(f"{what}: {number:,}")
    chosen = subjects(folder, options.documents) if options.documents else []
    proved = knows_the_form(folder)
    if not proved:
        print("the proved checker is not built, or does not know this form: it is left out")
    checkers = Checkers(folder, not options.no_case, proved, options.seed, options.coq)
    wanted = [s for s in chosen if any(part in s.name for part in options.only)]
    started = time.monotonic()
    total, questions, wrong = Counter[str](), list[str](), 0
    digest = hashlib.sha256()
    others = [subject.document for subject in chosen]
    with multiprocessing.Pool(options.jobs) as pool:
        made = [pool.apply_async(checkers.tried, (subject, others)) for subject in wanted]
        for subject, waiting in zip(wanted, made, strict=True):
            found = waiting.get()
            total.update(found.counts)
            questions += found.questions
            digest.update(found.digest.encode())
            told = ", ".join(f"{count} {what}" for what, count in sorted(found.counts.items()) if count)
            print(f"{subject.name}: {told}", flush=True)
            for words, text in found.wrong:
                wrong += 1
                path = folder / f"wrong-{options.seed}-{wrong}.json"
                path.write_text(text)
                print(f"WRONG: {words} ({path})", flush=True)
    if options.coq:
        wrong += ask_coq(questions)
    print("\n| what | documents |\n| --- | --- |")
    for what, count in sorted(total.items()):
        print(f"| {what} | {count:,} |")
    print(
        f"\n{wrong} wrong; {time.monotonic() - started:.0f} s; SHA-256 of all documents: {digest.hexdigest()}"
    )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
