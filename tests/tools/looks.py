"""What is looked at in the run of a shipped case: all that is said of it has to say the same."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO
from typing import Any

from calling_tools import called, strict_json
from json_shapes import mistakes
from kept_cases import kept
from paper_rows import missing
from rounded_texts import suspects
from shipped_runs import CODES, NO_LIMIT, SHIPPED, Run, between, kind_of, witnesses

from paramverify.divergences import MaxDivergence
from paramverify.encodings.sequences import candidates
from paramverify.errors import InputError
from paramverify.kernel.__main__ import main as kernel
from paramverify.kernel.documents import check_text, engine_of
from paramverify.models.definitions import Inequality
from paramverify.models.mechanisms.program import explains_outputs
from paramverify.models.model import Model
from paramverify.privacy.idle import warnings_of
from paramverify.privacy.verification import PrivacyReport
from paramverify.reports import case_explanations, verdict_reports
from paramverify.reports.evidence_checks import program
from paramverify.verdicts import Holds

WORDS = {
    ("holds", False): "private",
    ("violated", False): "not private",
    ("holds", True): "true",
    ("violated", True): "false",
}
PRIVACY = ("plain", "programs", "approximate", "divergences")
MOST = 100_000  # sequences of all pairs that are compared one by one
RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
UNREAD = {  # the shipped cases that are never read a second time, by the reason
    "more neighbours than it lists": {"noisy-max-10", "noisy-max-naive-10", "noisy-max-symbolic-10"},
    "noisy max has too many answers": {"noisy-max-12"},
    "an output with noise or with a parameter": {  # such as one between two breaks, with a variable for it
        *("numeric-laplace-parallel", "numeric-noisy-max-value-allowed"),
        *("numeric-noisy-max-value-geometric", "numeric-noisy-max-value-laplace"),
        *("numeric-sparse-vector-3-4-parallel", "numeric-sparse-vector-adaptive-value"),
        *("numeric-sparse-vector-adaptive", "numeric-sparse-vector-gap-laplace"),
        *("numeric-sparse-vector-value-laplace", "numeric-sparse-vector-value-more-noise"),
    },
}
SHORT = 30  # digits of a number that is told in full


def is_private(run: Run) -> bool:
    """Whether a case is about privacy, with a model of a mechanism."""
    return kind_of(run.path) in PRIVACY and "claim" not in run.content


# --- verdict and exit code --------------------------------------------------------------------------


def at_the_verdict(run: Run, status: str) -> None:
    """The verdict is the expected one, with its words and its exit code, in JSON and in words."""
    claimed = "claim" in run.content or run.command == "logic"
    assert run.document["status"] == status
    assert run.document["verdict"] == WORDS[status, claimed]
    assert run.data.code == run.words.code == CODES[status]
    assert (run.data.err, run.words.err) == ("", "")
    if run.command == "logic":
        at_the_formulas(run)
    else:
        assert re.match(rf"{WORDS[status, claimed]}\b[^:]*: ", run.text)


def at_the_formulas(run: Run) -> None:
    """Each formula has its own verdict; those of all formulas are in JSON and in words."""
    for name, expected in run.expected.items():
        if name in ("status", "verdict"):
            continue
        told = run.document["properties"][name]
        assert told["status"] == expected["status"]
        assert f"{WORDS[expected['status'], True]}: {name}: " in run.text


def at_the_keys(run: Run) -> None:
    """Every key of the JSON is on the page about it, with its type."""
    shape = "verify of a stream" if kind_of(run.path) == "stream" else run.command
    assert list(mistakes(run.document, shape, shape)) == []


# --- words ------------------------------------------------------------------------------------------


def at_the_words(run: Run) -> None:
    """What the JSON says is in the text: notes, numbers of claims and of witnesses; no decimal is bare."""
    assert suspects(run.text) == []
    first = run.text.split("\n", 1)[0]
    holds = run.command == "verify" and run.document["status"] == "holds"
    nameless = holds and is_private(run) and "larger" not in run.document
    for note in run.document.get("notes", ()):
        if nameless and explains_outputs(note):
            continue  # no output is named
        assert f"Note: {note}." in run.text or note in first or note.partition(":")[0] in first, note
    if run.command != "logic" and kind_of(run.path) != "stream":
        told = re.findall(r"^ *Note: (.*)\.$", run.text, re.MULTILINE)
        assert set(told) <= set(run.document["notes"])
    if run.document["status"] == "holds" and run.document.get("claims") and is_private(run):
        count, merged = len(run.document["claims"]), sum(c["merged"] for c in run.document["claims"])
        assert f"{count} claim{'s' * (count != 1)}" in run.text
        assert merged <= count or f"merged from {merged} comparisons" in run.text
        assert run.document["evidence"]["decided_by"] in run.text
    if "states" in run.document:
        assert f"{run.document['states']:,} state" in run.text
    decimals = {Fraction(told) for told in re.findall(r"(?<![\w./])-?\d+\.\d+(?![\w/.])", run.text)}
    for number in told_numbers(run.document):
        alone = re.search(rf"(?<![\w./]){re.escape(number)}(?![\w/]|\.\d)", run.text)
        assert alone or Fraction(number.rpartition(" ")[2]) in decimals, number


def told_numbers(document: dict[str, Any]) -> Iterator[str]:
    """Yields the exact numbers of all witnesses that are short enough to be told in full."""
    for witness in witnesses(document):
        shown = witness.get("within", witness)
        for key in ("probabilities", "ratio", "bound", "left", "right", "difference"):
            value = (shown if key in ("probabilities", "ratio") else witness).get(key)
            for number in value if isinstance(value, list) else [value]:
                if isinstance(number, str) and re.fullmatch(r"-?\d+(/\d+)?", number) and len(number) <= SHORT:
                    yield number
        for name, number in witness["parameters"].items():
            if "within" in witness or name in witness.get("meaning", {}):
                continue  # one number of a set is meant, or another name is told
            if isinstance(number, str) and len(number) <= SHORT:
                yield f"{name} = {number}"


# --- inputs -----------------------------------------------------------------------------------------


def at_the_inputs(run: Run) -> None:
    """Where a case lists inputs, "private" names each with its values; they are read here from the file."""
    if not is_private(run):
        return
    case, data = kept(run.path), run.content
    report = PrivacyReport(Holds(()), (), (), case.model.domain, (), 0.0)
    told, document = verdict_reports.lines(report, case)[0], verdict_reports.document(report, case)
    if run.document["status"] == "holds":
        assert told == run.text.split("\n", 1)[0]
    assert document.get("inputs") == run.document.get("inputs")
    listed = dict(data["mechanism"].get("inputs", {})) if "neighbours" in data else {}
    for name, given in listed.items():
        power = f"^{given['length']}" if "length" in given else ""
        (values,) = re.findall(rf"\b{name}\b[^{{]*({{[^}}]*}})", told)
        assert f"{values}{power}" in told
        assert document["inputs"] in told
        assert members(values) == {str(v) for v in values_of(given["values"])}, told
    if "neighbours" in data:
        assert "for all neighbouring " in told or " listed pair" in told
        assert " in {" in told
    elif case.prior is not None and not isinstance(case.model, Inequality):
        assert "prior of the case over " in told
        assert all(name in told for name in list(case.prior.names)[:2])


def members(told: str) -> set[str]:
    """Returns what a set in words consists of."""
    if span := re.fullmatch(r"{(-?\d+)\.\.(-?\d+)}", told):
        return {str(k) for k in range(int(span[1]), int(span[2]) + 1)}
    return {entry.strip("'") for entry in told.strip("{}").split(", ")}


def values_of(given: object) -> list[object]:
    """Returns the values that an entry of `[mechanism.inputs]` lists."""
    if isinstance(given, str):
        low, high = map(int, given.split(".."))
        return list(range(low, high + 1))
    assert isinstance(given, list)
    return given


# --- numbers ----------------------------------------------------------------------------------------


def at_the_numbers(run: Run) -> None:
    """A violation comes with numbers that are beyond the bound; a tight ratio is the expected one."""
    found = list(witnesses(run.document))
    assert bool(found) == (run.document["status"] == "violated")
    for witness in found:
        assert exceeds(witness if run.command != "interactive" else at_its_point(witness, run)), witness
    if found and is_private(run) and "ratio" in run.expected and not found[0]["parameters"]:
        assert Fraction(found[0]["ratio"]) == Fraction(run.expected["ratio"])


def engine(run: Run) -> dict[str, Any]:
    """Returns the statement of the engine in the evidence."""
    return dict(engine_of(json.loads(run.evidence.read_text(encoding="utf-8"))) or {})


def at_its_point(witness: dict[str, Any], run: Run) -> dict[str, Any]:
    """Returns the witness of a system with numbers, where it has formulas with parameters or with `E`.

    Its bound is that of the evidence.
    """
    names: dict[str, Any] = {name: Fraction(value) for name, value in witness["parameters"].items()}
    if "constant" in run.document:
        names["E"] = math.exp(Fraction(run.document["constant"].partition("exp(")[2].rstrip(")")))

    def valued(text: str) -> str:
        if not re.search("[a-zA-Z]", text):
            return text
        return str(Fraction(eval(text.replace("^", "**"), {"__builtins__": {}}, names)))

    bound = engine(run)["ratio"]
    values = [valued(p) for p in witness["probabilities"]]
    shown = bound if isinstance(bound, str) else "({})/({})".format(*bound)
    return {"probabilities": values, "bound": valued(shown)}


def exceeds(witness: dict[str, Any]) -> bool:
    """Whether the numbers of a witness alone show that a bound does not hold."""
    if "relation" in witness:
        left, right = (between(witness[side]) for side in ("left", "right"))
        strict = [RELATIONS[witness["relation"]](x, y) for x in left for y in right]
        return not any(strict) and witness["fails"] is True
    if "moment" in witness:
        unbounded = witness["moment"] == "infinity"
        return unbounded or between(witness["moment"])[0] > between(witness["bound"])[1]
    if "value" in witness:
        return witness["value"] == "infinity" or between(witness["value"])[0] > between(witness["bound"])[1]
    left, right = (between(p) for p in witness["probabilities"])
    delta = between(witness.get("delta", 0))[1]
    told = witness.get("ratio", "undefined")
    if isinstance(told, str) and re.fullmatch(r"[\d/]+", told) and right[0] == right[1]:
        assert Fraction(told) == left[0] / right[0]
    return left[0] - between(witness["bound"])[1] * right[1] > delta and witness.get("exceeds", True) is True


def at_the_largest_ratio(run: Run) -> None:
    """Where all ratios are numbers, the largest is the expected tight one, and it decides the case."""
    model = kept(run.path).model if kind_of(run.path) == "plain" else None
    if not isinstance(model, Model) or not model.lengths or "ratio" not in run.expected:
        return
    if len(model.pairs) * len(model.hmm.observations) ** max(model.lengths) > MOST:
        return
    found = [c.ratio for c in candidates(model)]
    ratios = [r for r in found if r is not None]
    if len(ratios) == len(found):
        assert max(ratios) == Fraction(run.expected["ratio"])


# --- evidence ---------------------------------------------------------------------------------------


def at_the_evidence(run: Run) -> None:
    """The evidence is accepted by the kernel alone, with the case, read a second time, and as proved in Coq.

    Nothing of it rests on the word of a solver, and each form of `check` says so.
    """
    with redirect_stdout(StringIO()) as said:
        assert kernel([str(run.evidence)]) == 0
    assert said.getvalue()
    code, alone, words = run.checked()
    assert (code, alone["status"], alone["trusted"], alone["open"]) == (0, "accepted", 0, 0)
    assert "\nchecked as far as it can be without the case: " in f"\n{words}" or not alone["not_compared"]
    assert all(what in words.splitlines()[-1] for what in alone["not_compared"])
    code, told, words = run.checked("--case", str(run.path))
    assert (code, told["status"], told["trusted"], told["open"]) == (0, "accepted", 0, 0)
    assert told["not_compared"] == []
    assert list(mistakes(told, "check", "check")) == []
    assert told["shown"] == run.document["status"]
    if "seconds" in run.document and run.command != "logic":
        assert told["verdict"] in (run.document["verdict"], alone["verdict"])
    assert words.splitlines()[-1].startswith("checked: ")
    at_the_second_reading(run, told["second_reading"], words)
    at_the_proved_checker(run, alone)
    if is_private(run) and run.document["status"] == "holds":
        over = run.document.get("inputs")
        assert told.get("inputs") == over
        at_the_headlines(run.text.splitlines()[0], words.splitlines()[-1])
    assert set(told.get("notes", ())) <= set(run.document.get("notes", ()))


HEADLINE = re.compile(
    r"[^:]*: (?P<bound>.*?),? (?P<where>for (?:all|every|the) .*?)(?:; but .*| \(.* s\))?\."
)


def at_the_headlines(decided: str, checked: str) -> None:
    """The last line of `check` has the bound and the parameters that the first line of a verdict names."""
    if found := HEADLINE.fullmatch(decided):
        assert f" {found['where']}" in checked
        assert f"({found['bound']})" in checked


def at_the_second_reading(run: Run, look: dict[str, Any], words: str) -> None:
    """A second reader finds in the case what is proved or refuted; what it does not read is known."""
    assert look["agrees"] is True
    assert look["words"] in words
    reasons = [reason for reason, names in UNREAD.items() if run.path.stem in names]
    if look["compared"]:
        assert look["words"].startswith("read a second time: ")
        assert reasons == []
        return
    assert [look["words"]] == [f"not read a second time: {reason}" for reason in reasons]


def at_the_proved_checker(run: Run, ours: dict[str, Any]) -> None:
    """The checker that is proved in Coq accepts the same evidence, or says what it does not know."""
    try:
        program()
    except InputError:
        return
    done = called("check", str(run.evidence), "--verified", "--json", *NO_LIMIT)
    told = strict_json(done.out)
    assert done.code == (0 if told["proved_checker"]["knows"] else 3), told
    if done.code == 0:
        assert told["status"] == "accepted"
        assert (told["proved"], told["trusted"]) == (ours["proved"], ours["trusted"])
    else:
        assert told["proved_checker"]["not_known"]


def at_another_bound(run: Run) -> None:
    """Evidence of an interactive system is about its bound: with a smaller one it is refused."""
    document, own = json.loads(run.evidence.read_text(encoding="utf-8")), engine(run)
    others = [statement for statement in document["statements"] if statement != own]
    holds = run.document["status"] == "holds"
    leaks = next(witnesses(run.document), {"probabilities": ["1", "1"]})["probabilities"][1] != "0"
    if holds or leaks:
        tight = {**own, "ratio": "1" if holds else "1000000"}
        accepted = check_text(json.dumps({**document, "statements": [*others, tight]})).accepted
        assert accepted == (own["ratio"] == "1")  # nothing leaks: 1 is proved


# --- what was understood ----------------------------------------------------------------------------


def at_what_was_understood(run: Run) -> None:
    """`explain` warns of nothing, counts the claims that were decided, and says the same in words."""
    data, words = (called("explain", str(run.path), *more, *NO_LIMIT) for more in (["--json"], []))
    document = strict_json(data.out)
    assert (data.code, words.code, data.err, words.err) == (0, 0, "", "")
    assert list(mistakes(document, "explain", "explain")) == []
    assert document["warnings"] == []
    assert "Warning: " not in words.out
    assert suspects(words.out) == []
    assert not document["title"] or document["title"] in words.out
    if is_private(run) or "claim" in run.content:
        case = kept(run.path)
        assert warnings_of(case.model, case.mechanism, case.prior, run.content) == []
        count = document.get("claims", {}).get("count")
        pure = isinstance(case.model, Model) and isinstance(case.model.measure, MaxDivergence)
        if count is not None and pure and run.document.get("claims"):
            claims = case_explanations.claims_of(case.model)
            assert count == len(claims)
            if run.content["mechanism"].get("kind") != "noisy_max":  # one pair may stand for all
                assert count == len(run.document["claims"])
            assert document["claims"]["comparisons"] == sum(len(claim.origins) for claim in claims)
            assert f"{count} claim{'s' * (count != 1)}" in words.out


# --- questions --------------------------------------------------------------------------------------


def at_the_papers(run: Run) -> None:
    """A number of a paper is printed, where its table names this command."""
    command = f"paramverify {run.command} {run.path.relative_to(SHIPPED.parent).as_posix()}"
    assert missing(command, run.text) == []


def at_the_budget(run: Run) -> None:
    """The tight budget is that of the case, and it decides it."""
    told, expected = run.document, run.expected
    assert (run.data.code, run.words.code, run.text.count("\n") > 0) == (0, 0, True)
    assert list(mistakes(told, "budget", "budget")) == []
    assert suspects(run.text) == []
    if "ratio" in expected:
        assert told["ratio"] == expected["ratio"] == told["proved_upper"]
        assert run.text.startswith(f"tight budget: ratio {expected['ratio']}")
        assert told["attained"] is expected.get("attained", told["attained"])
    if re.fullmatch(r"[\d/]+", str(told.get("ratio"))):
        assert math.isclose(told["epsilon"], math.log(Fraction(told["ratio"])), rel_tol=1e-12)
        bounds = {w["bound"] for w in witnesses(told) if isinstance(w.get("bound"), str)}
        for bound in bounds if "claim" not in run.content else ():
            assert (Fraction(told["ratio"]) <= Fraction(bound)) == (expected["status"] == "holds")
    for note in told.get("notes", ()):
        assert f"Note: {note}." in run.text


def at_the_evidence_of_the_budget(run: Run) -> None:
    """Both readers and the proved checker accept the evidence of the budget."""
    code, checked, words = run.checked("--case", str(run.path))
    assert (code, checked["status"], checked["trusted"], checked["open"]) == (0, "accepted", 0, 0)
    boundless = run.document["ratio"] == "infinity" and kind_of(run.path) == "interactive"
    assert checked["shown"] == ("violated" if boundless else "budget")
    assert words.splitlines()[-1].startswith("checked: a violation" if boundless else "checked: a budget")
    at_the_second_reading(run, checked["second_reading"], words)
    at_the_proved_checker(run, run.checked()[1])
