"""The files of a theorem: which theorem says what a case says, as people read it and Coq checks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paramverify.algebra.constants import GENERATOR
from paramverify.algebra.polynomials import RationalFunction
from paramverify.divergences import DistanceBound, HockeyStick, MaxDivergence, PositiveParts
from paramverify.errors import UnsupportedError
from paramverify.kernel.documents import CLAIMS, PARTS, kind_of
from paramverify.models.definitions import Inequality
from paramverify.models.mechanisms.program import ProgramMechanism
from paramverify.models.model import Model, is_about
from paramverify.models.settings import with_settings
from paramverify.portfolio.session import Options
from paramverify.privacy.cases import PrivacyCase
from paramverify.reports.theorems import inequality_theorems
from paramverify.reports.theorems.coq_cones import CERTIFICATES
from paramverify.reports.theorems.coq_domains import TheoremDomain
from paramverify.reports.theorems.coq_words import (
    ALIKE,
    NEAR,
    StatedTheorem,
    TheoremNames,
    case_lines,
    comment,
    named,
)
from paramverify.reports.theorems.inequality_theorems import claim_theorem
from paramverify.reports.theorems.model_theorems import (
    KINDS,
    answers_of,
    lengths_in_coq,
    mechanism_of,
    numbered,
    prior_of,
    secrets_of,
    sequences,
    written_out,
)
from paramverify.reports.theorems.program_theorems import told_program
from paramverify.tables import toml_data

Json = Mapping[str, Any]

MEND = "`verify --evidence` writes evidence, which `check` replays"
ONCE = "Privacy.v says what privacy means, Networks.v and Mechanisms.v what priors and mechanisms are."
PLACED = "Privacy.v says what privacy means, Mechanisms.v what mechanisms and neighbours are."
MAX_INPUTS = 250  # of a mechanism whose neighbours are all compared, without parameters
MAX_SYMBOLIC_INPUTS = 150  # with parameters


def statement_of(
    case: PrivacyCase, data: Json, model: Model, place: TheoremDomain, document: Json
) -> StatedTheorem:
    """Returns the theorem about a case: in its own words where the theories have them, else of its model.

    Raises:
        UnsupportedError: the theories have nothing for such a case.
    """
    try:
        if model.hmm.chosen:
            raise UnsupportedError("somebody chooses what is given to the mechanism, step by step")
        if model.side_condition:
            raise UnsupportedError(f"it has a side condition: {model.side_condition}")
        if isinstance(model.measure, DistanceBound):
            raise UnsupportedError("its bound depends on the distance of two inputs")
        if "define" in data:
            raise UnsupportedError("it has [define]: write the expressions in place of the names")
        if data["mechanism"]["kind"] == "time_series":
            return _series(data, model, place, document)
        if isinstance(case.mechanism, ProgramMechanism):
            if is_about(model, PositiveParts):
                raise UnsupportedError("the theorems about programs have no delta")
            return told_program(case, case.mechanism, data, model, place)
        form = _neighbours if "neighbours" in data else _secrets
        return form(data, model, place, document)
    except UnsupportedError as reason:
        return written_out(model, place, document, reason.reason)


def _secrets(data: Json, model: Model, place: TheoremDomain, document: Json) -> StatedTheorem:
    """Returns the theorem about a mechanism that answers once, under a prior."""
    if data["mechanism"]["kind"] not in KINDS:
        raise UnsupportedError(f"the theories have no words for the mechanism {data['mechanism']['kind']}")
    told = prior_of(
        data["prior"],
        place.own,
        data["mechanism"].get("values", ()),
        quotients=not is_about(model, PositiveParts),
    )
    words = told.words
    lengths = list(model.lengths)
    answers = answers_of(data["mechanism"], words)
    experiment = mechanism_of(data["mechanism"], words, answers, max(lengths, default=0))
    several = data["mechanism"]["kind"] == "above_threshold"
    if several and is_about(model, PositiveParts):
        raise UnsupportedError("sets of several outputs have a delta")
    if document.get("rule") in CERTIFICATES:
        raise UnsupportedError("its proof is about many sequences of a hidden Markov model at once")
    if not lengths or (lengths != [1] and not several):
        raise UnsupportedError("its releases are repeated, or many lengths are asked for")
    definitions = (
        *told.lines,
        "",
        "(* What is released. *)",
        f"Definition mechanism (w : world) : distribution output := {experiment}.",
        "",
        "(* The secrets that are compared. *)",
        *secrets_of(data["secrets"], words),
    )
    if several:
        listed = lengths_in_coq(lengths)
        return StatedTheorem(
            definitions,
            f"forall k, In k {listed} ->\n"
            "  pufferfish ({point}) (worlds_of prior) (first_outputs k mechanism) ({ratio}) secrets",
            f"first_outputs_theorem evidence (worlds_of prior) mechanism {listed} secrets ratio",
            f"every sequence of the first k outputs is {ALIKE}",
            ONCE,
        )
    privacy, about, bounds = "pufferfish", "output", "({ratio})"
    if is_about(model, PositiveParts):
        privacy, about, bounds = "approximate_pufferfish", "set of outputs", "({ratio}) ({delta})"
    return StatedTheorem(
        definitions,
        f"{privacy} ({{point}}) (worlds_of prior) mechanism {bounds} secrets",
        _used(model, f"{privacy}_theorem", "(worlds_of prior) mechanism secrets"),
        f"every {about} is {ALIKE}",
        ONCE,
    )


def _used(model: Model, theorem: str, arguments: str) -> str:
    """Returns a theorem with what it is about: with the ratio, or with ratio and delta."""
    if is_about(model, PositiveParts):
        return f"{theorem} evidence sums {arguments} ratio delta"
    return f"{theorem} evidence {arguments} ratio"


def _neighbours(data: Json, model: Model, place: TheoremDomain, document: Json) -> StatedTheorem:
    """Returns the theorem about neighbouring inputs of a mechanism that answers once."""
    made, given = data["mechanism"], data["neighbours"]
    if tuple(model.lengths) != (1,) or not given.keys() <= {"differ", "by"}:
        raise UnsupportedError("the theories have no words for these neighbours")
    if made["kind"] not in ("noisy_max", "geometric") or "range" not in made["noise"]:
        raise UnsupportedError("the theories have no words for neighbours of this mechanism or its noise")
    count, by = made.get("queries", 1), str(given.get("by", 1))
    words = TheoremNames(place.own, {}, {}, quotients=not is_about(model, PositiveParts))
    if not isinstance(count, int) or not by.isdigit():
        raise UnsupportedError("the theories have no words for these neighbours")
    top = made["noise"]["range"]
    if (top + 1) ** count > (MAX_SYMBOLIC_INPUTS if place.free else MAX_INPUTS):
        raise UnsupportedError("it has too many inputs")
    answers = [f"(nth {k} w 0)" for k in range(count)]
    pairs = {"each": "each_differs_by", "one": "one_differs_by"}[given["differ"]]
    experiment = mechanism_of(made, words, answers, 1)
    privacy, theorem = "differentially_private", "differential_privacy_theorem"
    about, bounds = "output", "({ratio})"
    if is_about(model, PositiveParts):
        privacy, theorem = "approximately_private", "approximate_privacy_theorem"
        about, bounds = "set of outputs", "({ratio}) ({delta})"
    return StatedTheorem(
        (
            "(* What is released of the answers w. *)",
            f"Definition mechanism (w : world) : distribution output := {experiment}.",
            "",
            "(* The answers that are compared. *)",
            f"Definition neighbours := {pairs} {by} {count} {top}.",
        ),
        f"{privacy} ({{point}}) mechanism {bounds} neighbours",
        _used(model, theorem, "mechanism neighbours"),
        f"every {about} is {NEAR}",
        PLACED,
    )


def _series(data: Json, model: Model, place: TheoremDomain, document: Json) -> StatedTheorem:
    """Returns the theorem about a chain that is released each day; the secret is its first state."""
    made = data["mechanism"]
    if made.get("day", 1) != 1 or "neighbours" not in data or "observations" in made:
        raise UnsupportedError("its secret is not the state on day 1, or its outputs have other names")
    names = list(made["states"])
    words = TheoremNames(place.own, {}, {})

    def row(entries: Json, columns: list[str]) -> str:
        return "[" + "; ".join(words.probability(entries.get(name, 0)) for name in columns) + "]"

    rows = ";\n   ".join(row(made["transitions"][name], names) for name in names)
    if "truth" in made:
        emissions = f"truthful {len(names)} ({words.probability(made['truth'])})%case"
    else:
        emissions = "[" + ";\n   ".join(row(made["emissions"][name], names) for name in names) + "]%case"
    pairs = "; ".join(
        f"(first_day initial {names.index(p.left)}, first_day initial {names.index(p.right)})"
        for p in model.pairs
    )
    definitions = (
        numbered("States, which are also what is released,", names),
        f"Definition initial : list expression := {row(made['initial'], names)}%case.",
        f"Definition transitions : matrix :=\n  [{rows}]%case.",
        f"Definition emissions : matrix :=\n  {emissions}.",
        "Definition model : hidden_markov := time_series emissions transitions.",
        "",
        "(* The secret is the state on the first day. *)",
        f"Definition secrets : list (weights * weights) := [{pairs}].",
    )
    return sequences(definitions, model, document)


def check_has_theorem(case: PrivacyCase) -> None:
    """Checks that there may be a theorem about a case.

    Raises:
        UnsupportedError: there is none.
    """
    if not isinstance(case.model, Inequality):
        check_is_covered(case.model)


def check_is_covered(model: object) -> Model:
    """Returns the model of a case that theorems may be about.

    Raises:
        UnsupportedError: another question, or another kind of model.
    """
    if not isinstance(model, Model):
        raise UnsupportedError("there are no theorems about cases of this kind", mend=MEND)
    for reason, found in _REFUSED.items():
        if found(model):
            raise UnsupportedError(reason, mend=MEND)
    return model


_REFUSED: Mapping[str, Callable[[Model], bool]] = {
    "the theories compare outputs one by one or in sets, and this case compares all of them together": (
        lambda model: not isinstance(model.measure, (MaxDivergence, DistanceBound, HockeyStick))
    ),
    "it has a delta, and a parameter that can have one value only: write the number in its place": (
        lambda model: is_about(model, PositiveParts) and any(i.is_point for i in model.domain.box.values())
    ),
    "it has a delta, and a parameter beside its own exponential": (
        lambda model: is_about(model, PositiveParts) and bool(model.domain.ring.tied)
    ),
    "its outputs have densities": lambda model: model.hmm.densities,
    "its outputs stand for many": lambda model: bool(model.hmm.spreads),
    "it has a delta, and somebody chooses what is given to the mechanism": (
        lambda model: is_about(model, PositiveParts) and model.hmm.chosen
    ),
    "it has a side condition, and outputs are compared in sets or by distance": (
        lambda model: bool(model.side_condition) and not isinstance(model.measure, MaxDivergence)
    ),
}


FOR_MORE = Options(evidence=2.0)
PROJECT = "-Q theories Paramverify\n"
MAKEFILE = """\
# Builds the theories, and has Coq check case.v.
all: theories/Makefile.coq
	$(MAKE) -C theories -f Makefile.coq
	coqc -Q theories Paramverify case.v

theories/Makefile.coq: Makefile
	cd theories && coq_makefile -Q . Paramverify {theories} -o Makefile.coq
"""
REQUIRE = "From Paramverify Require Import Theorems."
REQUIRED = re.compile(r"From\s+Paramverify\s+Require\s+(?:Import\s|Export\s)?([\w\s]+)\.")
HEADER = """\
(** {title}{digest}

    Coq checks this file if you run `make` in its folder. If a folder T already has the theories built, run:

      coqc -Q T Paramverify case.v

    What is proved is the theorem [private] at the end{always}{over}:
    {told}.
{empty}    The definitions below say what the case is. Read them: they must be what you mean.
    Their words are defined in the theories.
    {words}

    The numbers of [evidence] need not be read. Coq derives polynomial claims from the definitions, and looks
    for a proof of each of them there. With wrong numbers Coq proves nothing false: it rejects the file, or
    it did not need them.

    Trusted are Coq and the axioms of its real numbers. The last line of the file has Coq print them.
    No solver is trusted. The folder theories is as good as its source: if you have doubts, take it from a
    release that you downloaded yourself. {trusted} *)
"""
EMPTY = """\
    But {reason}.
    So the theorem is true, and it says nothing about this case.
"""
DEFINED = """\
paramverify is trusted for nothing but this: that the definitions
    are those of the case file."""
MODELLED = """\
paramverify is trusted for this: that the model below is that of
    the case file. It computed the model. The definitions are not those of the case file, because
    {reason}."""


@dataclass(frozen=True)
class Theorem:
    """A file for Coq; `as_model` is the reason why it tells a model of the case, if it does."""

    text: str
    as_model: str


def required(case: PrivacyCase) -> str:
    """Returns the line of the theorem about a case that loads the theories."""
    return inequality_theorems.REQUIRE if isinstance(case.model, Inequality) else REQUIRE


def theorem_files(text: str, theories: Path) -> dict[str, str]:
    """Returns the files with which Coq checks a theorem, by their names, with the theories it needs."""
    needed: dict[str, str] = {}
    pending = [text]
    while pending:
        for names in REQUIRED.findall(pending.pop()):
            for name in set(names.split()) - needed.keys():
                needed[name] = (theories / f"{name}.v").read_text(encoding="utf-8")
                pending.append(needed[name])
    makefile = MAKEFILE.format(theories=" ".join(f"{name}.v" for name in sorted(needed)))
    copies = {f"theories/{name}.v": needed[name] for name in sorted(needed)}
    return {"case.v": text, "Makefile": makefile, "_CoqProject": PROJECT, **copies}


def _read(document: Json) -> Json:
    """Returns evidence as theorems need it: its kind, its claims with their domains, sums, and the engine."""

    def of(*kinds: str) -> list[Json]:
        found = (statement for statement in document["statements"] if statement["kind"] in kinds)
        return [{**each, "domain": document["domains"][each["domain"]]} for each in found]

    about: Json = {"kind": kind_of(document), "claims": of("claim", "comparison"), "sums": of("parts")}
    return {**next(iter(of("cone")), {}), **about}


def theorem_of(case: PrivacyCase, document: Json, options: Options = FOR_MORE) -> Theorem:
    """Returns a file for Coq with the theorem that a case is private, or that its own claim is true.

    `document` is the evidence for it. The options are for what Coq must know besides of denominators.

    Raises:
        UnsupportedError: the theories do not cover the case, or a proof rests on a solver.
    """
    document = _read(document)
    if isinstance(case.model, Inequality):
        return Theorem(claim_theorem(case, case.model, document, options), "")
    model = check_is_covered(case.model)
    data = with_settings(toml_data(case.text), case.settings)
    place = TheoremDomain.of(model.domain)
    if document["kind"] not in (CLAIMS, PARTS, "cone") or document.get("rule") == "loop":
        raise UnsupportedError("its evidence has no claims")
    found = statement_of(case, data, model, place, document)
    ratio, delta = _bounds(model)
    evidence = place.evidence(document["claims"] if delta is None else [])
    plus = ""
    bounds = []
    if ratio is not None:
        bounds.append(f"Definition ratio : expression := ({place.words.quotient(ratio)})%case.")
    if delta is not None:
        plus = f",\n    plus {_shown(delta, place)}"
        bounds.append(f"Definition delta : expression := ({place.words.quotient(delta)})%case.")
        evidence += ["", *place.sums(document["sums"])]
    parts = [
        HEADER.format(
            title=f"{comment(case.title)}\n\n    " if case.title else "",
            digest=case_lines(case.digest, case.settings),
            always=", for all values of the parameters" if place.free else "",
            over=f",\n    {comment(_over(case))}" if case.over else "",
            told=found.told.format(times=ratio and _shown(ratio, place), plus=plus),
            empty=EMPTY.format(reason=_empty(model)) if _empty(model) else "",
            words=found.words,
            trusted=MODELLED.format(reason=found.as_model) if found.as_model else DEFINED,
        ),
        REQUIRE,
        "",
        *(["(* The parameters. *)", *place.definitions, ""] if place.definitions else []),
        *found.definitions,
        "",
        f"(* How much more likely: {comment(case.budget)}. *)",
        *bounds,
        "",
        "(* Proofs of polynomial claims, as numbers. *)",
        *evidence,
        "",
        *_theorem(found, model, place),
        "",
        "Print Assumptions private.",
    ]
    return Theorem("\n".join(parts) + "\n", found.as_model)


def _empty(model: Model) -> str:
    """Returns why nothing is compared; "" where something is."""
    sides = [(pair.pi, pair.tau) for pair in model.pairs]
    same = all(one.weights == other.weights and one.mass == other.mass for one, other in sides)
    return model.nothing_compared or ("the two secrets of each pair are the same" if same else "")


def _over(case: PrivacyCase) -> str:
    """Returns the inputs that the theorem is about."""
    return f"for {case.compared(free=False)}"


def _shown(bound: RationalFunction, place: TheoremDomain) -> str:
    """Returns a bound as people write it."""
    constant = place.domain.constant
    top, bottom = str(bound.numerator), str(bound.denominator)
    if bottom == "1":
        text = top
    else:
        text = f"({top})/" if " " in top else f"{top}/"
        text += f"({bottom})" if " " in bottom or "*" in bottom else bottom
    if constant is not None:
        text = re.sub(rf"\b{GENERATOR}\b", f"exp({constant.exponent})", text)
    return comment(text)


def _bounds(model: Model) -> tuple[RationalFunction | None, RationalFunction | None]:
    """Returns the ratio of a case, and its delta if it has one; no ratio where it depends on a distance."""
    if isinstance(model.measure, DistanceBound):
        return None, None
    if isinstance(model.measure, HockeyStick):
        return model.measure.ratio, model.measure.delta
    return model.ratio_bound().ratio, None


def _theorem(found: StatedTheorem, model: Model, place: TheoremDomain) -> list[str]:
    ratio, delta = ("" if f is None else place.reals.quotient(f) for f in _bounds(model))
    claim = found.claim.format(point=place.point, ratio=ratio, delta=delta)
    names = named([f"domain{k}" for k in range(len(place.hypotheses))], frozenset(place.free)).values()
    free = f"forall {' '.join(place.free)} : R,\n  " if place.free else ""
    premises = "".join(f"({text})%R ->\n  " for text in place.hypotheses)
    return [
        f"Theorem private : {free}{premises}({claim})%R.",
        "Proof.",
        *([f"  intros {' '.join([*place.free, *names])}."] if names else []),
        f"  refine ({found.uses} _ {place.values}%R _).",
        "  - vm_cast_no_check (eq_refl true).",
        "  - by_domain.",
        "Qed.",
    ]
